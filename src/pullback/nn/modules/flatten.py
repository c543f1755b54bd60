"""Axes flattened into one, and split again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .module import Module

if TYPE_CHECKING:
    from ..._core.typing import Tensor


class Flatten(Module):
    """The axes from start_dim to end_dim flattened into one; by default all but the first.

    Parameters
    ----------
    start_dim
        The first axis.
    end_dim
        The last axis.

    >>> import pullback
    >>> pullback.nn.Flatten()(pullback.zeros(2, 3, 4)).shape
    pullback.Size([2, 12])
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """An axis split into several, of sizes that multiply to its own.

    Parameters
    ----------
    dim
        The axis.
    unflattened_size
        The lengths of the axes that it becomes.

    Raises
    ------
    TypeError
        If the sizes are not a tuple or list of integers.

    >>> import pullback
    >>> pullback.nn.Unflatten(1, (3, 4))(pullback.zeros(2, 12)).shape
    pullback.Size([2, 3, 4])
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError(
                f"unflattened_size must be a tuple of ints, but found type {type(unflattened_size).__name__}"
            )
        for place, size in enumerate(unflattened_size):
            if not isinstance(size, int | np.integer):
                raise TypeError(
                    f"unflattened_size must be tuple of ints, but found element of type {type(size).__name__} at pos "
                    f"{place}"
                )
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
