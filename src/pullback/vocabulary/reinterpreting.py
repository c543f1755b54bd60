"""Views of a tensor's bytes as another dtype: `x.view(dtype)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import dtypes
from .._tape.views import alias

if TYPE_CHECKING:
    from .._core.typing import Tensor


def reinterpreted(input: Tensor, dtype: object) -> Tensor:
    """A view of the elements' bytes as another dtype; the size of the last axis changes with the itemsize.

    It shares the memory of the tensor, and has no gradient.
    """
    array = input._concrete("view")
    wanted = dtypes.as_dtype(dtype)
    kind = wanted.numpy
    old, new = array.dtype.itemsize, kind.itemsize
    names = f"to view {input._type_name} as {dtypes.type_name(wanted)} (different element sizes)"
    if old != new:
        if not array.ndim:
            raise RuntimeError(f"self.dim() cannot be 0 {names}")
        if array.size and input.stride(-1) != 1:
            raise RuntimeError(f"self.stride(-1) must be 1 {names}, but got {input.stride(-1)}")
    ratio = new // old
    if ratio > 1:
        placed = {"size(-1)": array.shape[-1], "storage_offset()": input.storage_offset()}
        placed |= {f"stride({axis})": step for axis, step in enumerate(input.stride()[:-1])}
        for name, value in placed.items():
            if value % ratio:
                raise RuntimeError(f"self.{name} must be divisible by {ratio} {names}, but got {value}")
    moved: np.ndarray[Any, Any] = array.view(kind)
    return alias(input, input.interpreter.wrap(moved, None))
