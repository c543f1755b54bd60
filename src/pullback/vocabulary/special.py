"""Special functions that tensors have as methods: the error function, the gamma function, and the incomplete ones."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core import errors
from .._core.primitives import Carrier, Function, Primitive
from .._core.sites import named
from .._core.values import require_tensor, require_tensors
from .._tape.shortcuts import is_primitive
from .promotion import broadcast, category, common, fractional, inexact, together

if TYPE_CHECKING:
    from .._core.typing import Tensor, TensorLike, Threshold

MOST_TERMS: Threshold = 1 << 27
"""The largest number of terms that `mvlgamma` adds."""


def of_one(primitive: Primitive, **params: Any) -> Callable[[Function], Function]:
    """A function of one real tensor, made of a declaration and a primitive."""

    def made(like: Function) -> Function:
        def function(input: Tensor) -> Tensor:
            require_tensor(like.__name__, "input", input)
            _refuse_complex(like.__name__, input)
            return primitive(inexact(input), **params)

        is_primitive(primitive, **params)(function)
        return named(like.__name__, function, like.__doc__ or "")

    return made


def of_two(primitive: Primitive, **params: Any) -> Callable[[Function], Function]:
    """A function of two real operands, at least one a tensor, made of a declaration and a primitive."""

    def made(like: Function) -> Function:
        def function(input: Tensor, other: TensorLike) -> Tensor:
            return of_several(primitive, like.__name__, input, other, **params)

        return named(like.__name__, function, like.__doc__ or "")

    return made


def of_several(primitive: Primitive, name: str, *operands: Any, **params: Any) -> Tensor:
    """A primitive of real operands, at least one a tensor, promoted and broadcast."""
    if not any(isinstance(operand, Carrier) for operand in operands):
        raise errors.no_tensor(name, "input", 1, operands[0])
    _refuse_complex(name, *operands)
    return broadcast(functools.partial(primitive, **params), *fractional(*operands))


def _refuse_complex(name: str, *operands: TensorLike) -> None:
    if any(category(operand)[0].kind == "c" for operand in operands):
        raise NotImplementedError(
            f'"{name}" not implemented for complex tensors: it is a function of real numbers here'
        )


@of_one(ops.erf)
def erf(input: Tensor) -> Tensor:
    """The error function, twice the integral of exp(-t * t) from 0 to input over the square root of pi.

    >>> import pullback
    >>> pullback.erf(pullback.tensor([0.0, 0.5, 1.0]))
    tensor([0.0000, 0.5205, 0.8427])
    """


@of_one(ops.erfc)
def erfc(input: Tensor) -> Tensor:
    """1 - erf(input), exact where that is nearly 0.

    >>> import pullback
    >>> pullback.erfc(pullback.tensor([0.0, 3.0]))
    tensor([1.0000e+00, 2.2090e-05])
    """


@of_one(ops.erfinv)
def erfinv(input: Tensor) -> Tensor:
    """The number whose error function is input; inf at 1, NaN beyond.

    >>> import pullback
    >>> pullback.erfinv(pullback.tensor([0.0, 0.5, 1.0]))
    tensor([0.0000, 0.4769,    inf])
    """


@of_one(ops.lgamma)
def lgamma(input: Tensor) -> Tensor:
    """The logarithm of the absolute value of the gamma function.

    >>> import pullback
    >>> pullback.lgamma(pullback.tensor([1.0, 4.0]))
    tensor([0.0000, 1.7918])
    """


@of_one(ops.digamma)
def digamma(input: Tensor) -> Tensor:
    """The derivative of lgamma.

    >>> import pullback
    >>> pullback.digamma(pullback.tensor([1.0, 2.0]))
    tensor([-0.5772,  0.4228])
    """


@of_one(ops.bessel_i, order=0)
def i0(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind of order 0. It needs SciPy.

    >>> import pullback
    >>> pullback.i0(pullback.tensor([0.0, 1.0]))
    tensor([1.0000, 1.2661])
    """


def polygamma(input: Tensor, n: int) -> Tensor:
    """The n-th derivative of digamma, n >= 0.

    The function, as opposed to this method, has the order first, as in torch.

    Parameters
    ----------
    n
        The order of the derivative.

    >>> import pullback
    >>> pullback.polygamma(1, pullback.tensor([1.0]))  # pi * pi / 6
    tensor([1.6449])
    """
    if type(n) is not int:
        raise TypeError(f"polygamma(): argument 'n' must be int, not {type(n).__name__}")
    if n < 0:
        raise RuntimeError(f"polygamma(n, x) does not support negative n: it is {n}")
    if n == 0:
        return digamma(input)
    _refuse_complex("polygamma", input)
    return ops.polygamma(inexact(input), n=n)


def polygamma_of_order(n: int, input: Tensor) -> Tensor:
    """The n-th derivative of digamma, n >= 0.

    Parameters
    ----------
    n
        Which derivative, from 0.

    >>> import pullback
    >>> pullback.special.polygamma(2, pullback.tensor([1.0]))
    tensor([-2.4041])
    """
    require_tensor("polygamma", "input", input)
    return polygamma(input, n)


polygamma_of_order.__name__ = "polygamma"


def mvlgamma(input: Tensor, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p.

    Parameters
    ----------
    p
        The number of dimensions.

    >>> import pullback
    >>> pullback.mvlgamma(pullback.tensor([2.0]), 1) == pullback.lgamma(pullback.tensor([2.0]))
    tensor([True])
    """
    if p < 1:
        raise RuntimeError(f"p has to be greater than or equal to 1: it is {p}")
    if p >= 2**63:
        raise RuntimeError(f"Overflow when unpacking long long: mvlgamma has p = {p} terms to add")
    _refuse_complex("mvlgamma", input)
    input = inexact(input)
    count = math.prod(input.shape)
    if count * p > MOST_TERMS:
        raise RuntimeError(
            f"mvlgamma: not enough memory for {count} elements with p = {p} terms each: the dimension of a matrix is meant"
        )
    total: Any = p * (p - 1) / 4 * math.log(math.pi)
    some = max(1, (1 << 16) // max(count, 1))
    column = ops.reshape(input, shape=(*input.shape, 1))
    for start in range(0, p, some):
        halves = (np.arange(start, min(start + some, p)) / 2).astype(input._dtype)
        total = total + ops.lgamma(column - halves).sum(-1)
    return total


def _incomplete(primitive: Primitive) -> Callable[[Function], Function]:
    """A function of two real tensors, the first of which is a shape parameter."""

    def made(like: Function) -> Function:
        def function(input: Tensor, other: Tensor) -> Tensor:
            name = like.__name__
            require_tensors(name, input=input, other=other)
            if common(input, other).kind != "f":
                kinds = f"{input.dtype} and {other.dtype}"
                raise NotImplementedError(
                    f'"{name}" not implemented for {kinds}: convert to floats first, as in a.double()'
                )
            return broadcast(primitive, *together(input, other))

        return named(like.__name__, function, like.__doc__ or "")

    return made


@_incomplete(ops.gammainc)
def igamma(input: Tensor, other: TensorLike) -> Tensor:
    """The regularized lower incomplete gamma function: how much of a gamma distribution of shape input lies below other.

    Both arguments have derivatives, of which torch has that of the second alone. That by the shape is a
    quadrature in float64; in comparison with 40 digits, for shapes from 1e-6 to 1e6, its error was below 2e-12 of it,
    and that of the second derivative below 1e-10. It needs SciPy.

    >>> import pullback
    >>> pullback.igamma(pullback.tensor([1.0, 2.0]), pullback.tensor([1.0, 1.0]))
    tensor([0.6321, 0.2642])
    """


@_incomplete(ops.gammaincc)
def igammac(input: Tensor, other: TensorLike) -> Tensor:
    """The regularized upper incomplete gamma function, 1 - igamma(input, other), with the same derivatives.

    >>> import pullback
    >>> pullback.igammac(pullback.tensor([1.0, 2.0]), pullback.tensor([1.0, 1.0]))
    tensor([0.3679, 0.7358])
    """
