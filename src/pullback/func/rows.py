"""Several cotangents in one pass: a batch of them, or the unit vectors of an output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.bfloat import held
from .._core.modes import restoring
from .diagonal import Rows
from .levels import inner, tensor_of

if TYPE_CHECKING:
    from .._core.typing import Tensor


Pull = Callable[..., Sequence[Any]]


@restoring
def together(pull: Pull, batches: Sequence[Tensor], size: int) -> list[Tensor | None]:
    """The results of a pullback for a batch of cotangents of each output, along a first axis."""
    with Rows(size) as rows:
        return _seen(rows, pull(*[rows.box(inner(batch)) for batch in batches]))


@restoring
def of_units(pull: Pull, output: Tensor) -> list[Tensor | None]:
    """The results of a pullback for the unit vectors of an output, along a first axis."""
    size = output.numel()
    if not output.ndim:
        start = tensor_of(np.ones((), output._dtype))
        return [None if g is None else tensor_of(inner(g)).unsqueeze(0) for g in pull(start)]
    with Rows(size) as rows:
        if output.ndim == 1:
            return _seen(rows, pull(rows.box(held(np.ones(size, output._dtype)), axis=0)))
        units = np.eye(size, dtype=output._dtype).reshape(size, *output.shape)
        return _seen(rows, pull(rows.box(held(units))))


def of_some_units(pull: Pull, output: Tensor, start: int, stop: int) -> list[Tensor | None]:
    """The same for the elements with indices from `start` to `stop`."""
    units = np.eye(stop - start, output.numel(), start, dtype=output._dtype)
    return together(pull, [tensor_of(units.reshape(stop - start, *output.shape))], stop - start)


def _seen(rows: Rows, pulled: Sequence[Tensor | None]) -> list[Tensor | None]:
    """The results outside the batch."""
    return [None if g is None else tensor_of(rows.rows(g)) for g in pulled]
