"""Distributions of counts: of successes before a number of failures, and of several categories."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from .. import arange, lgamma, no_grad, poisson
from ..extend import restoring, sampled
from ..nn import functional
from . import constraints
from .constraints import Constraint
from .discrete import Binomial, OfChoices, _Counted
from .distribution import broadcast_all
from .gamma import Gamma

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.shapes import Shape
    from .._core.typing import Array, Tensor


class NegativeBinomial(_Counted):
    """The distribution of the number of successes, of probability `probs`, before `total_count` failures.

    The count may be any nonnegative number: samples are Poisson-distributed with a gamma-distributed rate.

    >>> import pullback
    >>> from pullback.distributions import NegativeBinomial
    >>> NegativeBinomial(1, 0.5).log_prob(pullback.tensor(2.0)).exp()
    tensor(0.1250)
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support: Constraint = constraints.nonnegative_integer

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.mean / (-self.logits).sigmoid()

    @restoring
    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples."""
        with no_grad():
            rates = Gamma(self.total_count, (-self.logits).exp(), validate_args=False).sample(sample_shape)
            return poisson(rates)

    def _log_prob(self, value: Tensor) -> Tensor:
        n, logits = self.total_count, self.logits
        ways = lgamma(n + value) - lgamma(1 + value) - lgamma(n)
        chances = n * functional.logsigmoid(-logits) + value * functional.logsigmoid(logits)
        return chances + ways.masked_fill(n + value == 0, 0.0)


class Multinomial(OfChoices):
    """The distribution of the counts of K categories in `total_count` trials of a `Categorical`.

    Raises
    ------
    NotImplementedError
        If `total_count` is not an int.
    ValueError
        As for a `Categorical`.

    >>> import pullback
    >>> from pullback.distributions import Multinomial
    >>> Multinomial(2, pullback.tensor([1.0, 1.0])).log_prob(pullback.tensor([1.0, 1.0])).exp()
    tensor(0.5000)
    """

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError(
                f"inhomogeneous total_count is not supported: it is one int, not {type(total_count).__name__}"
            )
        self.total_count = total_count
        super().__init__(probs, logits, validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Constraint:
        """The set of possible values."""
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        """The variance of each entry."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples."""
        n = self.total_count

        def multinomial(rng: np.random.Generator, shape: Shape, probs: Array) -> Array:
            chances = probs.astype(np.float64)
            chances = chances / chances.sum(-1, keepdims=True)
            return np.asarray(rng.multinomial(n, chances, shape[:-1])).astype(probs.dtype)

        return sampled(multinomial, tuple(self._extended_shape(sample_shape)), self.probs)

    def _log_prob(self, value: Tensor) -> Tensor:
        logits, value = broadcast_all(self.logits, value)
        chances = (logits.masked_fill((value == 0) & (logits == -float("inf")), 0.0) * value).sum(-1)
        return lgamma(value.sum(-1) + 1) - lgamma(value + 1).sum(-1) + chances

    def entropy(self) -> Tensor:
        """The entropy, in nats: a sum over the possible values of each entry."""
        n = self.total_count
        values = arange(n + 1, dtype=self._param.dtype).view(-1, *(1 for _ in self._param.shape))
        chances = Binomial(n, self.probs, validate_args=False).log_prob(values).exp()
        repeats = (chances * lgamma(values + 1)).sum((0, -1))
        return n * super().entropy() - math.lgamma(n + 1) + repeats
