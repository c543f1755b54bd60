"""Continuous relaxations of discrete distributions, differentiable; they approach them as `temperature` falls.

Maddison, Mnih and Teh, The concrete distribution, 2017; Jang, Gu and Poole, Categorical reparameterization with
Gumbel-softmax, 2017.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from .. import lgamma, logsumexp
from . import constraints
from .constraints import Constraint
from .discrete import OfChoices, OfOdds, OneHotCategorical
from .distribution import alias, broadcast_all, clamped, drawn_evenly
from .transformed import TransformedDistribution
from .transforms import ExpTransform, SigmoidTransform

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Tensor


class LogitRelaxedBernoulli(OfOdds):
    """The log-odds of a `RelaxedBernoulli`."""

    has_rsample = True
    support: Constraint = constraints.real

    def __init__(
        self,
        temperature: Tensor | float,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples, as differentiable functions of the parameters."""
        shape = self._extended_shape(sample_shape)
        chance, even = clamped(self.probs.expand(shape)), drawn_evenly(shape, self._param.dtype)
        return (even.log() - (-even).log1p() + chance.log() - (-chance).log1p()) / self.temperature

    def _log_prob(self, value: Tensor) -> Tensor:
        logits, value = broadcast_all(self.logits, value)
        distance = logits - value * self.temperature
        return _log(self.temperature) + distance - 2 * distance.exp().log1p()


def _log(value: Tensor | float) -> Tensor | float:
    return math.log(value) if isinstance(value, (int, float)) else value.log()


class _Relaxed(TransformedDistribution):
    """The common base of both families, with the parameters of the underlying distribution."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {}

    temperature = alias("base_dist.temperature", "How far values are from choices.")
    logits = alias("base_dist.logits", "The logarithms of the odds, or of the probabilities.")
    probs = alias("base_dist.probs", "The probabilities.")


class RelaxedBernoulli(_Relaxed):
    """A relaxed `Bernoulli`: a number in (0, 1).

    >>> import pullback
    >>> from pullback.distributions import RelaxedBernoulli
    >>> chance = pullback.tensor(0.3, requires_grad=True)
    >>> RelaxedBernoulli(0.5, probs=chance).rsample().requires_grad
    True
    """

    support: Constraint = constraints.unit_interval

    def __init__(
        self,
        temperature: Tensor | float,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits, validate_args)
        super().__init__(base, SigmoidTransform(), validate_args)


class ExpRelaxedCategorical(OfChoices):
    """The logarithms of a `RelaxedOneHotCategorical`."""

    has_rsample = True
    support: Constraint = constraints.real_vector

    def __init__(
        self,
        temperature: Tensor | float,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples, as differentiable functions of the parameters."""
        even = drawn_evenly(self._extended_shape(sample_shape), self._param.dtype)
        scores = (self.logits - (-even.log()).log()) / self.temperature
        return scores - logsumexp(scores, -1, True)

    def _log_prob(self, value: Tensor) -> Tensor:
        count = self._num_events
        logits, value = broadcast_all(self.logits, value)
        scores = logits - value * self.temperature
        scale = lgamma(value.new_tensor(float(count))) + (count - 1) * _log(self.temperature)
        return (scores - logsumexp(scores, -1, True)).sum(-1) + scale


class RelaxedOneHotCategorical(_Relaxed):
    """A relaxed `OneHotCategorical`: a vector of probabilities.

    >>> import pullback
    >>> from pullback.distributions import RelaxedOneHotCategorical
    >>> RelaxedOneHotCategorical(0.5, logits=pullback.zeros(3)).sample().shape
    pullback.Size([3])
    """

    support: Constraint = constraints.simplex

    def __init__(
        self,
        temperature: Tensor | float,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args)
        super().__init__(base, ExpTransform(), validate_args)


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """A `OneHotCategorical` whose samples have the gradients of the probabilities.

    Bengio, Leonard and Courville, Estimating or propagating gradients through stochastic neurons, 2013.

    >>> import pullback
    >>> from pullback.distributions import OneHotCategoricalStraightThrough
    >>> OneHotCategoricalStraightThrough(pullback.tensor([0.0, 1.0], requires_grad=True)).rsample().detach()
    tensor([0., 1.])
    """

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples, with the gradients of the probabilities."""
        return self.sample(sample_shape) + (self.probs - self.probs.detach())
