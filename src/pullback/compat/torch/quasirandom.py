"""torch.quasirandom: sequences of points that fill a cube evenly, by SciPy."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Self

from ... import as_tensor, get_default_dtype

if TYPE_CHECKING:
    from ... import dtype
    from ..._core.typing import Tensor


class SobolEngine:
    """Sobol's sequence of points in the unit cube; its directions are those of torch, and of SciPy, which it needs.

    With `scramble` the points are shifted and mixed at random, by numbers that are not torch's.

    >>> from pullback.compat.torch.quasirandom import SobolEngine
    >>> SobolEngine(2).draw(4)
    tensor([[0.0000, 0.0000],
            [0.5000, 0.5000],
            [0.7500, 0.2500],
            [0.2500, 0.7500]])
    """

    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        self.reset()

    @property
    def num_generated(self) -> int:
        """The number of points that were drawn."""
        return int(self._points.num_generated)

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: dtype | None = None) -> Tensor:
        """The next points, one in each row."""
        kind = dtype or get_default_dtype()
        drawn = as_tensor(self._points.random(n).astype(kind.numpy))
        return drawn if out is None else out.resize_as_(drawn).copy_(drawn)

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: dtype | None = None) -> Tensor:
        """The next 2**m points."""
        return self.draw(2**m, out, dtype)

    def reset(self) -> Self:
        """Begin again with the first point."""
        self._points = importlib.import_module("scipy.stats").qmc.Sobol(
            self.dimension, scramble=self.scramble, rng=self.seed
        )
        return self

    def fast_forward(self, n: int) -> Self:
        """Leave points out."""
        self._points.fast_forward(n)
        return self

    def __repr__(self) -> str:
        return f"SobolEngine(dimension={self.dimension}" + f", scramble=True, seed={self.seed}" * self.scramble + ")"
