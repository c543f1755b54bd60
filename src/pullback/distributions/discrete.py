"""Distributions of integers, and of categories."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self, overload

import numpy as np

from .. import (
    Size,
    arange,
    bernoulli,
    binomial,
    eye,
    finfo,
    full,
    lgamma,
    logsumexp,
    multinomial,
    no_grad,
    poisson,
    rand,
    where,
    xlogy,
)
from ..extend import holds, restoring
from ..nn import functional
from .constraints import (
    Constraint,
    boolean,
    dependent_property,
    integer_interval,
    nonnegative,
    nonnegative_integer,
    one_hot,
    real,
    real_vector,
    simplex,
    unit_interval,
)
from .distribution import Distribution, ExponentialFamily, alias, broadcast_all, clamped, derived

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.shapes import Shape
    from .._core.typing import Tensor


class OfOdds(Distribution):
    """The base of families with a probability as parameter, given as such or by its log-odds."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {"probs": unit_interval, "logits": real}
    _param: Tensor

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, value = _given(probs, logits)
        (self._param,) = broadcast_all(value)
        self.__dict__[name] = self._param
        super().__init__(self._param.shape, validate_args=validate_args)

    @derived
    def logits(self) -> Tensor:
        """The log-odds."""
        probs = clamped(self.__dict__["probs"])
        return probs.log() - (-probs).log1p()

    @derived
    def probs(self) -> Tensor:
        """The probabilities."""
        return self.__dict__["logits"].sigmoid()

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._batch_shape


@overload
def _given(probs: Tensor | None, logits: Tensor | None) -> tuple[str, Tensor]: ...
@overload
def _given(probs: Tensor | float | None, logits: Tensor | float | None) -> tuple[str, Tensor | float]: ...
def _given(probs: Tensor | float | None, logits: Tensor | float | None) -> tuple[str, Tensor | float]:
    """The name and the value of that of the two parameters that is not None."""
    if probs is not None and logits is None:
        return "probs", probs
    if logits is not None and probs is None:
        return "logits", logits
    raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class _Counted(OfOdds):
    """The base of such families with a number of trials, or of failures."""

    total_count: Tensor

    def __init__(
        self,
        total_count: Tensor | float,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, value = _given(probs, logits)
        total, self._param = broadcast_all(total_count, value)
        self.__dict__[name] = self._param
        self.total_count = total.type_as(self._param)
        Distribution.__init__(self, self._param.shape, validate_args=validate_args)


class Bernoulli(OfOdds, ExponentialFamily):
    """The distribution of 1 with probability `probs`, and of 0 otherwise.

    >>> import pullback
    >>> from pullback.distributions import Bernoulli
    >>> Bernoulli(0.25).log_prob(pullback.tensor(1.0)).exp()
    tensor(0.2500)
    """

    has_enumerate_support = True
    support: Constraint = boolean

    mean = alias("probs", "The mean.")

    @property
    def mode(self) -> Tensor:
        """The most probable value; NaN if both are equally probable."""
        probs = self.probs
        return where(probs == 0.5, float("nan"), (probs >= 0.5).to(probs.dtype))

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.probs * (1 - self.probs)

    @restoring
    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples."""
        with no_grad():
            return bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def _log_prob(self, value: Tensor) -> Tensor:
        logits, value = broadcast_all(self.logits, value)
        return -functional.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        return functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """0 and 1, along a new first axis."""
        values = arange(2, dtype=self._param.dtype).view(-1, *(1 for _ in self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class Geometric(OfOdds):
    """The distribution of the number of failures before a success of probability `probs`.

    >>> import pullback
    >>> from pullback.distributions import Geometric
    >>> Geometric(0.5).log_prob(pullback.tensor(2.0)).exp()
    tensor(0.1250)
    """

    support: Constraint = nonnegative_integer

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if "probs" in self.__dict__ and not holds(self.probs > 0):
            raise ValueError(
                f"Expected parameter probs of distribution {self!r} to be positive but found invalid values: {self.probs}"
            )

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return 1 / self.probs - 1

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        return self.probs * 0

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return (1 / self.probs - 1) / self.probs

    @restoring
    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples."""
        with no_grad():
            u = rand(self._extended_shape(sample_shape), dtype=self._param.dtype)
            return (u.clamp(min=float(finfo(u.dtype).tiny)).log() / (-self.probs).log1p()).floor()

    def _log_prob(self, value: Tensor) -> Tensor:
        value, probs = broadcast_all(value, self.probs)
        return xlogy(value, 1 - probs) + probs.log()

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        loss: Tensor = functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")
        return loss / self.probs


class Poisson(ExponentialFamily):
    """The distribution of the number of events that happen `rate` times on average.

    >>> import pullback
    >>> from pullback.distributions import Poisson
    >>> Poisson(3.0).log_prob(pullback.tensor(2.0))
    tensor(-1.4959)
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {"rate": nonnegative}
    support: Constraint = nonnegative_integer
    rate: Tensor

    def __init__(self, rate: Tensor | float, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    mean = alias("rate", "The mean.")

    variance = mean

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        return self.rate.floor()

    @restoring
    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples."""
        with no_grad():
            return poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def _log_prob(self, value: Tensor) -> Tensor:
        rate, value = broadcast_all(self.rate, value)
        return xlogy(value, rate) - rate - lgamma(value + 1)


class Binomial(_Counted):
    """The distribution of the number of successes, of probability `probs`, in `total_count` trials.

    >>> import pullback
    >>> from pullback.distributions import Binomial
    >>> Binomial(2, 0.5).log_prob(pullback.tensor(1.0)).exp()
    tensor(0.5000)
    """

    has_enumerate_support = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"total_count": nonnegative_integer, **OfOdds.arg_constraints}

    def __init__(
        self,
        total_count: Tensor | float = 1,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__(total_count, probs, logits, validate_args)

    @dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Constraint:
        """The set of possible values."""
        return integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.total_count * self.probs * (1 - self.probs)

    @restoring
    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def _log_prob(self, value: Tensor) -> Tensor:
        n, logits = self.total_count, self.logits
        ways = lgamma(n + 1) - lgamma(value + 1) - lgamma(n - value + 1)
        return ways + value * logits - n * functional.softplus(logits)

    def _count(self, asked: str) -> int:
        """The number of trials, if it is the same for the whole batch."""
        most = int(self.total_count.max())
        if int(self.total_count.min()) != most:
            raise NotImplementedError(
                f"Inhomogeneous total count not supported by `{asked}`: counts are from {self.total_count.min()} to {most}"
            )
        return most

    def entropy(self) -> Tensor:
        """The entropy, in nats: a sum over all values."""
        self._count("entropy")
        found = self.log_prob(self.enumerate_support(expand=False))
        return -(found.exp() * found).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """0 to `total_count`, along a new first axis."""
        count = self._count("enumerate_support")
        values = arange(1 + count, dtype=self._param.dtype).view(-1, *(1 for _ in self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class OfChoices(Distribution):
    """The base of families over categories, with probabilities `probs` or softmax of `logits`, along the last axis.

    Raises
    ------
    ValueError
        If both are given or neither, or if a parameter has no axis.
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {"probs": simplex, "logits": real_vector}
    _param: Tensor

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        name, value = _given(probs, logits)
        if not value.ndim:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        self.__dict__[name] = value / value.sum(-1, True) if logits is None else value - logsumexp(value, -1, True)
        self._param = self.__dict__[name]
        super().__init__(self._param.shape[:-1], self._one_value(), validate_args=validate_args)

    def _one_value(self) -> Shape:
        """The shape of one value: a vector over the categories."""
        return self._param.shape[-1:]

    @derived
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return clamped(self.__dict__["probs"]).log()

    @derived
    def probs(self) -> Tensor:
        """The probabilities."""
        return functional.softmax(self.__dict__["logits"], -1)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Self:
        """The same distribution with its parameters broadcast to another batch shape."""
        made = super().expand(batch_shape)
        made._param = made.__dict__["probs" if "probs" in made.__dict__ else "logits"]
        return made

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return Size(self._param.shape)

    @property
    def _num_events(self) -> int:
        return int(self._param.shape[-1])

    @restoring
    def _drawn(self, sample_shape: Sequence[int]) -> Tensor:
        """Random category indices."""
        shape = Size(sample_shape)
        with no_grad():
            table = self.probs.reshape(-1, self._num_events)
            drawn = multinomial(table, shape.numel(), True)
            return drawn.t().reshape(shape + self._batch_shape)

    def _log_prob_at(self, places: Tensor) -> Tensor:
        """The log-probability of category indices."""
        shape = Size(np.broadcast_shapes(tuple(places.shape), tuple(self._batch_shape)))
        table = self.logits.expand((*shape, self._num_events))
        return table.gather(-1, places.expand(shape).unsqueeze(-1)).squeeze(-1)

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        logits = self.logits.clamp(min=float(finfo(self._param.dtype).min))
        return -(logits * self.probs).sum(-1)


class Categorical(OfChoices):
    """The distribution of indices 0 to K - 1, with probabilities `probs`, or softmax of `logits`, along the last axis.

    Raises
    ------
    ValueError
        If both are given or neither, or if a parameter has no axis.

    >>> import pullback
    >>> from pullback.distributions import Categorical
    >>> choice = Categorical(pullback.tensor([1.0, 1.0, 2.0]))
    >>> choice.probs, choice.log_prob(pullback.tensor(2)).exp()
    (tensor([0.2500, 0.2500, 0.5000]), tensor(0.5000))
    """

    has_enumerate_support = True

    def _one_value(self) -> Shape:
        return ()

    @dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Constraint:
        """The set of possible values."""
        return integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        """NaN: category indices have no mean."""
        return full(self._batch_shape, float("nan"), dtype=self._param.dtype)

    variance = mean

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        return self.probs.argmax(-1)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples."""
        return self._drawn(sample_shape)

    def _log_prob(self, value: Tensor) -> Tensor:
        return self._log_prob_at(value.long())

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All category indices, along a new first axis."""
        values = arange(self._num_events).view(-1, *(1 for _ in self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class OneHotCategorical(OfChoices):
    """One of K categories, as a one-hot vector; parameters as for `Categorical`.

    >>> import pullback
    >>> from pullback.distributions import OneHotCategorical
    >>> OneHotCategorical(pullback.tensor([0.0, 1.0])).sample()
    tensor([0., 1.])
    """

    has_enumerate_support = True
    support: Constraint = one_hot

    mean = alias("probs", "The mean.")

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        return self._one_hot(self.probs.argmax(-1))

    @property
    def variance(self) -> Tensor:
        """The variance of each entry."""
        return self.probs * (1 - self.probs)

    def _one_hot(self, places: Tensor) -> Tensor:
        return functional.one_hot(places, self._num_events).to(self._param.dtype)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples."""
        return self._one_hot(self._drawn(sample_shape))

    def _log_prob(self, value: Tensor) -> Tensor:
        return self._log_prob_at(value.argmax(-1))

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values, along a new first axis."""
        n = self._num_events
        values = eye(n, dtype=self._param.dtype).view(n, *(1 for _ in self._batch_shape), n)
        return values.expand(n, *self._batch_shape, n) if expand else values
