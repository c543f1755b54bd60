"""Distributions of matrices: of covariances, and of Cholesky factors of correlation matrices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from .. import Size, Tensor, arange, diag_embed, digamma, finfo, linalg, mvlgamma, no_grad, randn, scalar_tensor
from ..extend import holds, restoring, warn
from ..nn.functional import pad
from . import constraints
from .constraints import Constraint
from .distribution import Distribution, ExponentialFamily, broadcast_all
from .gamma import Beta, Chi2
from .multivariate import _Factored, given_matrix

if TYPE_CHECKING:
    from collections.abc import Sequence


LOG_TWO = math.log(2)


def mvdigamma(x: Tensor, p: int) -> Tensor:
    """The derivative of mvlgamma."""
    return digamma(x.unsqueeze(-1) - arange(p, dtype=x.dtype) / 2).sum(-1)


class Wishart(_Factored, ExponentialFamily):
    """The distribution of the sum of the outer products of `df` normal vectors with themselves; `df` need not be whole.

    The scale, the covariance of the vectors, is given as a matrix, by its inverse, or by its Cholesky factor. Samples
    are drawn by the decomposition of Bartlett, On the theory of statistical regression, 1933.

    Raises
    ------
    AssertionError
        If not exactly one of the three matrices is given.
    ValueError
        If `df` is not greater than the number of rows minus 1.

    >>> import pullback
    >>> from pullback.distributions import Wishart
    >>> Wishart(3.0, pullback.eye(2)).mean
    tensor([[3., 0.],
            [0., 3.]])
    """

    has_rsample = True
    support: Constraint = constraints.positive_definite
    df: Tensor

    @property
    def arg_constraints(self) -> dict[str, Constraint]:  # type: ignore[override]  # what df may be depends on the size
        """The constraints on the parameters."""
        return {**_Factored.arg_constraints, "df": constraints.greater_than(self._event_shape[-1] - 1)}

    def __init__(
        self,
        df: Tensor | float,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, matrix = given_matrix(covariance_matrix, precision_matrix, scale_tril, AssertionError)
        if matrix.ndim < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        degrees = df if isinstance(df, Tensor) else scalar_tensor(df, dtype=matrix.dtype)
        batch = Size(np.broadcast_shapes(tuple(matrix.shape[:-2]), tuple(degrees.shape)))
        size = matrix.shape[-1]
        if not holds(degrees > size - 1):
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {size - 1}.")
        if not holds(degrees >= size):
            warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.")
        self.df = degrees.expand(batch)
        self._begun_with(name, matrix, batch, matrix.shape[-2:], validate_args)

    def _per_matrix(self, value: Tensor) -> Tensor:
        return value.unsqueeze(-1).unsqueeze(-1)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self._per_matrix(self.df) * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        """The most probable value; NaN if it does not exist."""
        factor = self.df - self._event_shape[-1] - 1
        return self._per_matrix(factor.masked_fill(factor <= 0, float("nan"))) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        """The variance of each entry."""
        scale = self.covariance_matrix
        own = scale.diagonal(dim1=-2, dim2=-1)
        return self._per_matrix(self.df) * (scale.pow(2) + own.unsqueeze(-1) * own.unsqueeze(-2))

    def rsample(self, sample_shape: Sequence[int] = (), max_try_correction: int | None = None) -> Tensor:
        """Random samples, as differentiable functions of the parameters; `max_try_correction` has no effect."""
        size = self._event_shape[-1]
        freedom = self.df.unsqueeze(-1) - arange(size, dtype=self.df.dtype)
        lengths = Chi2(freedom, validate_args=False).rsample(sample_shape).sqrt()
        lengths = lengths.clamp(min=float(finfo(lengths.dtype).eps))
        noise = randn(self._extended_shape(sample_shape), dtype=lengths.dtype).tril(-1) + diag_embed(lengths)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def _log_prob(self, value: Tensor) -> Tensor:
        nu, p = self.df, self._event_shape[-1]
        scaled = linalg.solve_triangular(self._unbroadcasted_scale_tril, value, upper=False)
        trace = (
            linalg.solve_triangular(self._unbroadcasted_scale_tril.mT, scaled, upper=True)
            .diagonal(dim1=-2, dim2=-1)
            .sum(-1)
        )
        spread = nu * (p * LOG_TWO / 2 + self._half_log_det()) + mvlgamma(nu / 2, p)
        return (nu - p - 1) / 2 * linalg.slogdet(value).logabsdet - trace / 2 - spread

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        nu, p = self.df, self._event_shape[-1]
        scale = (p + 1) * (p * LOG_TWO / 2 + self._half_log_det())
        return scale + mvlgamma(nu / 2, p) - (nu - p - 1) / 2 * mvdigamma(nu / 2, p) + nu * p / 2


class LKJCholesky(Distribution):
    """The distribution of the Cholesky factors of correlations with density det ** (concentration - 1), up to a factor.

    Lewandowski, Kurowicka and Joe, Generating random correlation matrices based on vines and extended onion method,
    2009. Samples are made row by row, by their onion method: the square of the length of a row of k entries below the
    diagonal is drawn from a beta distribution whose first parameter is k / 2. (torch 2.13 has k - 1/2 there, which fits
    its own log_prob for dim = 2 only.)

    Raises
    ------
    ValueError
        If `dim` is less than 2.

    >>> import pullback
    >>> from pullback.distributions import LKJCholesky
    >>> LKJCholesky(2, 1.0).log_prob(pullback.eye(2)).exp()
    tensor(0.5000)
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {"concentration": constraints.positive}
    support: Constraint = constraints.corr_cholesky
    concentration: Tensor

    def __init__(self, dim: int, concentration: Tensor | float = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.shape, (dim, dim), validate_args)

    @restoring
    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples: each row is a random direction and a length, and the diagonal follows."""
        with no_grad():
            dtype = self.concentration.dtype
            below = arange(1, self.dim, dtype=dtype)
            share = Beta(below / 2, self.concentration.unsqueeze(-1) + (self.dim - 1 - below) / 2)
            lengths = share.sample(sample_shape).unsqueeze(-1)
            directions = randn(self._extended_shape(sample_shape), dtype=dtype).tril(-1)[..., 1:, :]
            rows = lengths.sqrt() * directions / directions.norm(dim=-1, keepdim=True)
            tiny = float(finfo(rows.dtype).tiny)
            own = (1 - rows.pow(2).sum(-1)).clamp(min=tiny).sqrt()
            factor = diag_embed(pad(own, (1, 0), value=1.0))
            factor[..., 1:, :] += rows
            return factor

    def _log_prob(self, value: Tensor) -> Tensor:
        count = self.dim - 1
        powers = 2 * (self.concentration - 1).unsqueeze(-1) + arange(count - 1, -1, -1, dtype=self.concentration.dtype)
        density = (powers * value.diagonal(dim1=-2, dim2=-1)[..., 1:].log()).sum(-1)
        alpha = self.concentration + 0.5 * count
        return density - 0.5 * count * math.log(math.pi) - mvlgamma(alpha - 0.5, count) + alpha.lgamma() * count
