"""The table of lowerings: what a primitive is in the functions of the array API standard.

`LOWERINGS` has, by the name of a primitive, a function of the engine, the equation, the arrays and the metadata. A function of
the standard that has a primitive's name means that primitive, and needs no entry. Most composed operations need none,
either: the passes of the compiler have decomposed them before.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Protocol, TypeAlias

    from ..._core.typing import Array, Index

    Foreign: TypeAlias = Array
    """An array of an engine's library. NumPy's annotations have what the standard has; what is a library's own, they have not."""

    Made: TypeAlias = Foreign | tuple[Foreign, ...]

    class StandardNames(Protocol):
        """The functions of the standard, or of a library, by their names."""

        linalg: StandardNames
        fft: StandardNames

        def __getattr__(self, name: str) -> Callable[..., Any]: ...


Lowering = Callable[..., Any]
LOWERINGS: dict[str, Lowering] = {}

STANDARD = set(
    """abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_or bitwise_xor ceil conj copysign cos cosh divide
    equal exp expm1 floor floor_divide greater greater_equal hypot isfinite isinf isnan less less_equal log log10 log1p log2
    logical_and logical_not logical_or logical_xor matmul matrix_transpose maximum minimum multiply negative nextafter
    not_equal pow reciprocal remainder signbit sin sinh sqrt square subtract tan tanh trunc where zeros_like""".split()
)
"""Primitives that are functions of the standard, by the same name and with the same arguments."""

SILENT = {"label", "given", "source", "known", "nans"}
"""Metadata that have no part in what a primitive computes from arrays."""


class LoweringError(NotImplementedError):
    """The error for an operation that an engine has no lowering for; it names the operation's primitive."""

    __module__ = "pullback.compile"


def missing(x: Foreign) -> Foreign:
    """Where an array is NaN, by an operator that the arrays of every library and every dtype have."""
    return operator.ne(x, x)


def part(x: Foreign, axis: int, start: int, stop: int) -> Foreign:
    """The elements of an array from `start` to `stop` along an axis."""
    index: Index = (*[slice(None)] * axis, slice(start, stop), ...)
    return x[index]


def lowering(*names: str) -> Callable[[Lowering], Lowering]:
    """The decorator that makes a function the lowering of primitives."""

    def register(function: Lowering) -> Lowering:
        LOWERINGS.update(dict.fromkeys(names, function))
        return function

    return register
