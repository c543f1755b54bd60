"""Functions that round to integers, or to a number of decimals."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .. import ops
from .._core.primitives import Function, Primitive
from .._core.sites import named
from .._tape.shortcuts import is_primitive
from .arithmetic import require_numbers
from .promotion import category

if TYPE_CHECKING:
    from .._core.typing import Tensor


def whole(primitive: Primitive) -> Callable[[Function], Function]:
    """The function of one tensor that rounds to integers; integers are returned as they are."""

    def made(like: Function) -> Function:
        def function(input: Tensor) -> Tensor:
            kind = category(input)[0].kind
            if kind == "c":
                raise NotImplementedError(
                    f"{like.__name__} is not supported for complex inputs: apply it to the parts, .real and .imag"
                )
            return primitive(input) if kind == "f" else ops.clone(input)

        is_primitive(primitive)(function)
        return named(like.__name__, function, like.__doc__ or "")

    return made


@whole(ops.floor)
def floor(input: Tensor) -> Tensor:
    """The largest integer not above, elementwise; its gradient is 0.

    >>> import pullback
    >>> pullback.floor(pullback.tensor([1.5, -1.5]))
    tensor([ 1., -2.])
    """


@whole(ops.ceil)
def ceil(input: Tensor) -> Tensor:
    """The smallest integer not below, elementwise; its gradient is 0.

    >>> import pullback
    >>> pullback.ceil(pullback.tensor([1.5, -1.5]))
    tensor([ 2., -1.])
    """


@whole(ops.trunc)
def trunc(input: Tensor) -> Tensor:
    """The integer towards zero, elementwise; its gradient is 0.

    >>> import pullback
    >>> pullback.trunc(pullback.tensor([1.5, -1.5]))
    tensor([ 1., -1.])
    """


@is_primitive(ops.rint)
def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """The nearest integer, halves to even, or the nearest number with `decimals` decimals; its gradient is 0.

    Parameters
    ----------
    decimals
        The number of decimals; negative ones round to tens and so on.

    >>> import pullback
    >>> pullback.round(pullback.tensor([0.5, 1.25, 17.5]), decimals=1)
    tensor([ 0.5000,  1.2000, 17.5000])
    """
    require_numbers("round", decimals=decimals)
    if not decimals:
        return _nearest(input)
    if category(input)[0].kind != "f":
        raise NotImplementedError(
            f"round to {decimals} decimals is not implemented for {input.dtype}: convert to float first"
        )
    return ops.round_to(input, decimals=decimals)


_nearest = whole(ops.rint)(round)
