"""Half precision: primitives that compute with float16 in float32 and round their results once; rules with bfloat16.

NumPy rounds every intermediate result to the dtype of its operands. A sum of squares in float16 overflows at 65 504, and
a count of more elements than that is infinite. A primitive that is declared with `halves="as singles"` never sees float16
arrays: its forward function and its rules are called with float32 arrays, and their results are rounded.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from . import xp as _xp

SINGLE = np.dtype(np.float32)


def _dtype_of(x: Any) -> Any:
    return x._dtype if hasattr(x, "_dtype") else getattr(x, "dtype", None)


def char_of(x: Any) -> str:
    """NumPy's letter for the dtype of an array or a carrier: "E" is bfloat16."""
    return getattr(_dtype_of(x), "char", "")


def as_singles(forward: Callable[..., Any]) -> Callable[..., Any]:
    """A forward function that is called with float32 arrays instead of float16 ones; its result is rounded to float16."""

    @functools.wraps(forward)
    def computed(x: Any, *others: Any, **metadata: Any) -> Any:
        if x.dtype.char != "e":
            return forward(x, *others, **metadata)
        singles = [each.astype(SINGLE) if each.dtype == _xp.HALF else each for each in (x, *others)]
        return np.asarray(forward(*singles, **metadata)).astype(_xp.HALF)

    return computed


class _Single:
    """A saved value as float32, with the attribute that rules read."""

    __slots__ = ("array",)

    def __init__(self, xp: Any, x: Any) -> None:
        self.array = xp.astype(x, dtype=SINGLE, source=_dtype_of(x)) if char_of(x) in {"e", "E"} else x


def pulled_as_singles(primitive: Any, pull: Callable[..., Any]) -> Callable[..., Any]:
    """The composed rules of a primitive, called with float32 arrays instead of float16 ones; results are rounded to float16.

    If all inputs are saved, the output is recomputed in float32: the saved one is rounded, which would cost accuracy.
    """

    def rounded(xp: Any, g: Any, edges: Sequence[Any], saved: Sequence[Any], params: dict[str, Any]) -> Any:
        if (g.dtype.char if type(g) is ndarray else char_of(g)) != "e":
            return pull(xp, g, edges, saved, params)
        singles = [cell and _Single(xp, cell.array) for cell in saved]
        if [*primitive.saved] == ["y", *primitive.inputs] and None not in singles:
            run = primitive.forward if xp is _xp else primitive
            singles[0] = _Single(xp, run(*[each.array for each in singles[1:]], **params))
        pulled = pull(xp, _Single(xp, g).array, edges, singles, params)
        return tuple([None if x is None else xp.astype(x, dtype=_xp.HALF, source=SINGLE) for x in pulled])

    return rounded


def pulled_in_bfloat(primitive: Any, xp: Any, g: Any, edges: Any, saved: Sequence[Any], params: dict[str, Any]) -> Any:
    """The rules of a primitive for results in bfloat16: computed in float32, and rounded to bfloat16 once."""
    if primitive.halves == "as written":
        return primitive.pull(xp, g, edges, saved, params)
    several = type(g) is list
    dtype = _dtype_of(g[0] if several else g)
    wide = [_Single(xp, each).array for each in (g if several else [g])]
    singles = [cell and _Single(xp, cell.array) for cell in saved]
    pulled = primitive.pull(xp, wide if several else wide[0], edges, singles, params)
    return tuple(
        [xp.astype(x, dtype=dtype, source=SINGLE) if x is not None and _dtype_of(x) == SINGLE else x for x in pulled]
    )
