"""Distributions of vectors, and distributions composed of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from .. import Size, linalg, logsumexp, randn
from . import constraints
from .constraints import Constraint
from .discrete import Categorical
from .distribution import LOG_ROOT_TAU, Distribution, alias, derived, summed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Tensor


def given_matrix(
    covariance_matrix: Tensor | None, precision_matrix: Tensor | None, scale_tril: Tensor | None, error: type[Exception]
) -> tuple[str, Tensor]:
    """The name of the one matrix that is given, and the matrix; an error unless there is exactly one."""
    matrices = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
    found = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
    if len(found) != 1:
        raise error("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
    return found[0]


class _Factored(Distribution):
    """The base of families with a covariance given by itself, its inverse, or its Cholesky factor."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }

    _unbroadcasted_scale_tril: Tensor  # torch's name, for subclasses by users

    def _begun_with(self, name: str, matrix: Tensor, batch: Size, event: Size, validate_args: bool | None) -> None:
        """Initialize with one of the three matrices."""
        self.__dict__[name] = matrix.expand(batch + matrix.shape[-2:])
        Distribution.__init__(self, batch, event, validate_args)
        factor = matrix if name == "scale_tril" else _factor(matrix, inverse=name == "precision_matrix")
        self._unbroadcasted_scale_tril = factor

    @derived
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance."""
        return self._of_batch(self._unbroadcasted_scale_tril)

    @derived
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        factor = self._unbroadcasted_scale_tril
        return self._of_batch(factor @ factor.mT)

    @derived
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        factor = self._unbroadcasted_scale_tril
        return self._of_batch(linalg.inv(factor @ factor.mT))

    def _of_batch(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + matrix.shape[-2:])

    def _half_log_det(self) -> Tensor:
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)


class MultivariateNormal(_Factored):
    """The normal distribution of vectors with mean `loc` and a covariance, or its inverse, or its Cholesky factor.

    Raises
    ------
    ValueError
        If not exactly one of the three matrices is given.

    >>> import pullback
    >>> from pullback.distributions import MultivariateNormal
    >>> MultivariateNormal(pullback.zeros(2), pullback.eye(2)).log_prob(pullback.zeros(2))
    tensor(-1.8379)
    """

    has_rsample = True
    support: Constraint = constraints.real_vector
    arg_constraints: ClassVar[dict[str, Constraint]] = {"loc": constraints.real_vector, **_Factored.arg_constraints}
    loc: Tensor

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = given_matrix(covariance_matrix, precision_matrix, scale_tril, ValueError)
        if matrix.ndim < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        batch = Size(np.broadcast_shapes(tuple(matrix.shape[:-2]), tuple(loc.shape[:-1])))
        self.loc = loc.expand(batch + loc.shape[-1:])
        self._begun_with(name, matrix, batch, loc.shape[-1:], validate_args)

    mean = alias("loc", "The mean.")

    mode = mean

    @property
    def variance(self) -> Tensor:
        """The variance of each entry."""
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples, as differentiable functions of the parameters."""
        z = randn(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self.loc + (self._unbroadcasted_scale_tril @ z.unsqueeze(-1)).squeeze(-1)

    def _log_prob(self, value: Tensor) -> Tensor:
        return (
            -0.5 * mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
            - self._half_log_det()
            - self._constant()
        )

    def _constant(self) -> float:
        return self._event_shape[0] * LOG_ROOT_TAU

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        found = self._half_log_det() + self._constant() + 0.5 * self._event_shape[0]
        return found.expand(self._batch_shape) if self._batch_shape else found


def _factor(matrix: Tensor, *, inverse: bool) -> Tensor:
    """The Cholesky factor of a covariance, which may be given by its inverse."""
    return linalg.cholesky(linalg.inv(matrix) if inverse else matrix)


def mahalanobis(factor: Tensor, difference: Tensor) -> Tensor:
    """The squared Mahalanobis distance of two vectors, for a covariance with this Cholesky factor."""
    solved = linalg.solve_triangular(factor, difference.unsqueeze(-1), upper=False)
    return solved.squeeze(-1).pow(2).sum(-1)


class Independent(Distribution):
    """Another distribution whose last batch axes become part of one value: their log-probabilities are added.

    Raises
    ------
    ValueError
        If the batch has fewer axes.

    >>> import pullback
    >>> from pullback.distributions import Independent, Normal
    >>> diagonal = Independent(Normal(pullback.zeros(3), pullback.ones(3)), 1)
    >>> diagonal.event_shape, diagonal.log_prob(pullback.zeros(3))
    (pullback.Size([3]), tensor(-2.7568))
    """

    def __init__(
        self, base_distribution: Distribution, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {len(batch)}"
            )
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        cut = len(batch) - reinterpreted_batch_ndims
        super().__init__(batch[:cut], batch[cut:] + base_distribution.event_shape, validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Self:
        """The same distribution with its parameters broadcast to another batch shape."""
        made = super().expand(batch_shape)
        made.base_dist = self.base_dist.expand(made._batch_shape + self._event_shape[: self.reinterpreted_batch_ndims])
        return made

    @derived
    def has_rsample(self) -> bool:
        """Whether samples can be differentiated by the parameters."""
        return self.base_dist.has_rsample

    @derived
    def has_enumerate_support(self) -> bool:
        """True if all values can be enumerated, which requires that no batch axes are joined."""
        return self.base_dist.has_enumerate_support and not self.reinterpreted_batch_ndims

    mean = alias("base_dist.mean", "The mean.")
    mode = alias("base_dist.mode", "The most probable value.")
    variance = alias("base_dist.variance", "The variance of each entry.")

    @constraints.dependent_property
    def support(self) -> Constraint | None:
        """The set of possible values; None if that of the other distribution is not known."""
        support, axes = self.base_dist.support, self.reinterpreted_batch_ndims
        return constraints.independent(support, axes) if support is not None and axes else support

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples, as differentiable functions of the parameters."""
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """The log-probability, or log-density, of a value."""
        return summed(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        return summed(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values, along a new first axis; NotImplementedError if batch axes are joined."""
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamily(Distribution):
    """A mixture of the distributions along the last batch axis, selected by a `Categorical`.

    Raises
    ------
    ValueError
        If the two do not fit together.

    >>> import pullback
    >>> from pullback.distributions import Categorical, MixtureSameFamily, Normal
    >>> two = MixtureSameFamily(Categorical(pullback.ones(2)), Normal(pullback.tensor([-1.0, 1.0]), 1.0))
    >>> two.log_prob(pullback.tensor(0.0))
    tensor(-1.4189)
    """

    def __init__(
        self, mixture_distribution: Categorical, component_distribution: Distribution, validate_args: bool | None = None
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        batch, components = component_distribution.batch_shape[:-1], component_distribution.batch_shape[-1]
        if mixture_distribution._num_events != components:
            raise ValueError(
                f"`mixture_distribution component` ({mixture_distribution._num_events}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({components})"
            )
        self.mixture_distribution, self.component_distribution = mixture_distribution, component_distribution
        self._event_axes = len(component_distribution.event_shape)
        super().__init__(batch, component_distribution.event_shape, validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Self:
        """The same distribution with its parameters broadcast to another batch shape."""
        made = super().expand(batch_shape)
        components = self.component_distribution.batch_shape[-1:]
        made.component_distribution = self.component_distribution.expand(made._batch_shape + components)
        made.mixture_distribution = self.mixture_distribution.expand(made._batch_shape)
        return made

    @constraints.dependent_property
    def support(self) -> Constraint | None:
        """The set of possible values; None if that of the components is not known."""
        support = self.component_distribution.support
        return None if support is None else constraints.MixtureSameFamilyConstraint(support)

    def _weights(self) -> Tensor:
        probs = self.mixture_distribution.probs
        return probs.reshape(probs.shape + (1,) * self._event_axes)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return (self._weights() * self.component_distribution.mean).sum(-1 - self._event_axes)

    @property
    def variance(self) -> Tensor:
        """The variance of each entry."""
        axis, parts = -1 - self._event_axes, self.component_distribution
        between = (parts.mean - self.mean.unsqueeze(axis)).pow(2)
        return (self._weights() * (parts.variance + between)).sum(axis)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples."""
        axis = -1 - self._event_axes
        values = self.component_distribution.sample(sample_shape)
        chosen = self.mixture_distribution.expand(self._batch_shape).sample(sample_shape)
        chosen = chosen.reshape(chosen.shape + (1,) * (self._event_axes + 1))
        index = chosen.expand((*values.shape[:axis], 1, *values.shape[values.ndim + axis + 1 :]))
        return values.gather(values.ndim + axis, index).squeeze(axis)

    def _log_prob(self, value: Tensor) -> Tensor:
        parts = self.component_distribution.log_prob(value.unsqueeze(-1 - self._event_axes))
        return logsumexp(parts + self.mixture_distribution.logits, -1)

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of values up to this one."""
        parts = self.component_distribution.cdf(value.unsqueeze(-1))
        return (parts * self.mixture_distribution.probs).sum(-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
