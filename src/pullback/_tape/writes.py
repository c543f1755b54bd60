"""What the short ways of in-place methods compute from arrays and numbers: see `shortcuts.computed`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops

if TYPE_CHECKING:
    from .._core.primitives import Function
    from .._core.typing import Array, Number


def _filled(x: Array, value: Number | None) -> Array | None:
    if value is None:
        return None
    x.fill(value)
    return x


def _zeroed(x: Array) -> Array:
    x.fill(0)
    return x


def _copied(x: Array, other: Array) -> Array:
    x[...] = other
    return x


def _clamped(x: Array, min: float | None = None, max: float | None = None) -> Any:
    return None if min is max is None else ops.clip.forward(x, lower=min, upper=max)


def _lerped(x: Array, end: Array, weight: Number | None) -> Any:
    return None if weight is None or x.dtype.kind not in "fc" else ops.lerp.forward(x, end, np.array(weight, x.dtype))


def _added(term: np.ufunc) -> Function:
    """The function that adds a term of two arrays, times a number."""

    def added(x: Array, tensor1: Array, tensor2: Array, *, value: Number | None = 1) -> Array | None:
        if value is None:
            return None
        factor = tensor1 if value == 1 else tensor1 * x.dtype.type(value)
        return np.add(x, term(factor, tensor2), x)

    return added


COMPUTED: dict[str, tuple[Function, int]] = {
    "fill": (_filled, 0), "zero": (_zeroed, 0), "copy": (_copied, 1), "clamp": (_clamped, 0), "lerp": (_lerped, 1), "addcmul": (_added(np.multiply), 2),
    "addcdiv": (_added(np.divide), 2),
}  # fmt: skip
"""By the name of a function: what computes, and how many tensors it takes beside the first."""
METHODS = "fill", "copy", "zero"
"""Those that are not functions, but methods of tensors."""
