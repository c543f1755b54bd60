"""Half precision: primitives that compute with float16 in float32 and round their results once; rules with bfloat16.

NumPy rounds every intermediate result to the dtype of its operands. A sum of squares in float16 overflows at 65 504, and
a count of more elements than that is infinite. A primitive that is declared with `halves="as singles"` never sees float16
arrays: its forward function and its rules are called with float32 arrays, and their results are rounded.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from . import xp as _xp

if TYPE_CHECKING:
    from .dtypes import NumpyType
    from .primitives import Function, Primitive
    from .typing import Array, Namespace, Params, Value


SINGLE = np.dtype(np.float32)


def _dtype_of(x: object) -> NumpyType | None:
    return x._dtype if hasattr(x, "_dtype") else getattr(x, "dtype", None)


def char_of(x: object) -> str:
    """NumPy's letter for the dtype of an array or a carrier: "E" is bfloat16."""
    return getattr(_dtype_of(x), "char", "")


def as_singles(forward: Function) -> Function:
    """A forward function that is called with float32 arrays instead of float16 ones; its result is rounded to float16."""

    @functools.wraps(forward)
    def computed(x: Array, *others: Array, **metadata: Any) -> Array:
        if x.dtype.char != "e":
            return forward(x, *others, **metadata)
        singles = [each.astype(SINGLE) if each.dtype == _xp.HALF else each for each in (x, *others)]
        return np.asarray(forward(*singles, **metadata)).astype(_xp.HALF)

    return computed


class _Single:
    """A saved value as float32, with the attribute that rules read."""

    __slots__ = ("array",)

    def __init__(self, xp: Namespace, x: Value) -> None:
        self.array = xp.astype(x, dtype=SINGLE, source=_dtype_of(x)) if char_of(x) in {"e", "E"} else x


def pulled_as_singles(primitive: Primitive, pull: Function) -> Function:
    """The composed rules of a primitive, called with float32 arrays instead of float16 ones; results are rounded to float16.

    If all inputs are saved, the output is recomputed in float32: the saved one is rounded, which would cost accuracy.
    """

    def rounded(
        xp: Namespace, g: Value, edges: Sequence[object], saved: Sequence[Any], params: Params
    ) -> Sequence[Value | None]:
        if (g.dtype.char if type(g) is ndarray else char_of(g)) != "e":
            return pull(xp, g, edges, saved, params)
        singles = [cell and _Single(xp, cell.array) for cell in saved]
        if [*primitive.saved] == ["y", *primitive.inputs] and None not in singles:
            run = primitive.forward if xp is _xp else primitive
            singles[0] = _Single(xp, run(*[each.array for each in singles[1:]], **params))
        pulled = pull(xp, _Single(xp, g).array, edges, singles, params)
        return tuple([None if x is None else xp.astype(x, dtype=_xp.HALF, source=SINGLE) for x in pulled])

    return rounded


def pulled_in_bfloat(
    primitive: Primitive,
    xp: Namespace,
    g: Value | list[Value],
    edges: Sequence[object],
    saved: Sequence[Any],
    params: Params,
) -> Sequence[Value | None]:
    """The rules of a primitive for results in bfloat16: computed in float32, and rounded to bfloat16 once."""
    if primitive.halves == "as written":
        return primitive.pull(xp, g, edges, saved, params)
    several, pieces = isinstance(g, list), g if isinstance(g, list) else [g]
    dtype = _dtype_of(pieces[0])
    wide = [_Single(xp, each).array for each in pieces]
    singles = [cell and _Single(xp, cell.array) for cell in saved]
    pulled = primitive.pull(xp, wide if several else wide[0], edges, singles, params)
    return tuple(
        [xp.astype(x, dtype=dtype, source=SINGLE) if x is not None and _dtype_of(x) == SINGLE else x for x in pulled]
    )
