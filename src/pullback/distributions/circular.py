"""Distributions of angles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..extend import sampled
from ..special import i0e, i1e
from . import constraints
from .constraints import Constraint
from .distribution import Distribution, alias, broadcast_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.shapes import Shape
    from .._core.typing import Array, Tensor


class VonMises(Distribution):
    """The distribution of angles with density proportional to exp(concentration * cos(angle - loc)).

    >>> import pullback
    >>> from pullback.distributions import VonMises
    >>> VonMises(0.0, 1.0).log_prob(pullback.tensor(0.0))
    tensor(-1.0738)
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {"loc": constraints.real, "concentration": constraints.positive}
    support: Constraint = constraints.real
    loc: Tensor
    concentration: Tensor

    def __init__(self, loc: Tensor | float, concentration: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    mean = alias("loc", "The mean direction.")

    mode = mean

    @property
    def variance(self) -> Tensor:
        """The circular variance: 1 minus the mean of cos(angle - loc)."""
        return 1 - i1e(self.concentration) / i0e(self.concentration)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random angles from -pi to pi."""

        def von_mises(rng: np.random.Generator, shape: Shape, loc: Array, concentration: Array) -> Array:
            found = np.remainder(rng.vonmises(0.0, concentration, shape) + loc + np.pi, 2 * np.pi) - np.pi
            return np.asarray(found).astype(loc.dtype)

        shape = self._extended_shape(sample_shape)
        return sampled(von_mises, tuple(shape), self.loc, self.concentration)

    def _log_prob(self, value: Tensor) -> Tensor:
        scale = i0e(self.concentration).log() + math.log(2 * math.pi)
        return self.concentration * ((value - self.loc).cos() - 1) - scale
