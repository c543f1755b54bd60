"""The normal distribution of vectors whose covariance is a diagonal plus a matrix of low rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from .. import broadcast_tensors, diag_embed, eye, linalg, randn
from . import constraints
from .constraints import Constraint
from .distribution import LOG_ROOT_TAU, Distribution, alias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Tensor


class LowRankMultivariateNormal(Distribution):
    """The normal distribution of vectors with the covariance W W^T + D: W is `cov_factor`, `cov_diag` the diagonal D.

    What is decomposed is the matrix 1 + W^T D^-1 W, which is small where W has few columns (the identity of Woodbury,
    1950).

    Raises
    ------
    ValueError
        If the shapes do not fit together.

    >>> import pullback
    >>> from pullback.distributions import LowRankMultivariateNormal
    >>> narrow = LowRankMultivariateNormal(pullback.zeros(2), pullback.tensor([[1.0], [0.0]]), pullback.ones(2))
    >>> narrow.covariance_matrix
    tensor([[2., 0.],
            [0., 1.]])
    """

    has_rsample = True
    support: Constraint = constraints.real_vector
    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    loc: Tensor
    cov_factor: Tensor
    cov_diag: Tensor

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = loc.shape[-1:]
        if cov_factor.ndim < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != event:
            raise ValueError(
                f"cov_factor must be a batch of matrices with shape {event[0]} x m, not {tuple(cov_factor.shape)}"
            )
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}, not {tuple(cov_diag.shape)}")
        try:
            wide_loc, self.cov_factor, wide_diag = broadcast_tensors(
                loc.unsqueeze(-1), cov_factor, cov_diag.unsqueeze(-1)
            )
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from error
        self.loc, self.cov_diag = wide_loc[..., 0], wide_diag[..., 0]
        super().__init__(self.loc.shape[:-1], event, validate_args)
        self._narrow, self._diagonal = cov_factor, cov_diag
        self._weighed = cov_factor.mT / cov_diag.unsqueeze(-2)
        small = eye(cov_factor.shape[-1], dtype=cov_factor.dtype) + self._weighed @ cov_factor
        self._capacitance_tril = linalg.cholesky(small)

    mean = alias("loc", "The mean.")

    mode = mean

    def _repeated(self, value: Tensor, axes: int) -> Tensor:
        """A vector or matrix of all variables, expanded over the batch."""
        return value.expand(self._batch_shape + self._event_shape * axes)

    @property
    def variance(self) -> Tensor:
        """The variance of each entry."""
        return self._repeated(self._narrow.pow(2).sum(-1) + self._diagonal, 1)

    @property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        return self._repeated(self._narrow @ self._narrow.mT + diag_embed(self._diagonal), 2)

    @property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        part = linalg.solve_triangular(self._capacitance_tril, self._weighed, upper=False)
        return self._repeated(diag_embed(self._diagonal.reciprocal()) - part.mT @ part, 2)

    @property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance, by that of D^-1/2 (W W^T + D) D^-1/2, which is well conditioned."""
        root = self._diagonal.sqrt().unsqueeze(-1)
        scaled = self._narrow / root
        inner = linalg.cholesky(scaled @ scaled.mT + eye(scaled.shape[-2], dtype=scaled.dtype))
        return self._repeated(root * inner, 2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples, as differentiable functions of the parameters."""
        shape = self._extended_shape(sample_shape)
        along = randn(shape[:-1] + self.cov_factor.shape[-1:], dtype=self.loc.dtype)
        own = randn(shape, dtype=self.loc.dtype)
        return self.loc + (self._narrow @ along.unsqueeze(-1)).squeeze(-1) + self._diagonal.sqrt() * own

    def _mahalanobis(self, difference: Tensor) -> Tensor:
        """The squared Mahalanobis distance of vectors from 0."""
        along = linalg.solve_triangular(
            self._capacitance_tril, self._weighed @ difference.unsqueeze(-1), upper=False
        ).squeeze(-1)
        return (difference.pow(2) / self._diagonal).sum(-1) - along.pow(2).sum(-1)

    def _half_log_det(self) -> Tensor:
        return self._capacitance_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1) + self._diagonal.log().sum(-1) / 2

    def _log_prob(self, value: Tensor) -> Tensor:
        constant = self._event_shape[0] * LOG_ROOT_TAU
        return -0.5 * self._mahalanobis(value - self.loc) - self._half_log_det() - constant

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        found = self._half_log_det() + self._event_shape[0] * (LOG_ROOT_TAU + 0.5)
        return found.expand(self._batch_shape) if self._batch_shape else found
