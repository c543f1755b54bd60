"""The gamma distribution and its relatives, whose samples are differentiated implicitly."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from .. import as_tensor, digamma, finfo, igamma, lgamma, log1p, ops, randn, stack, where, xlogy
from ..autograd.function import Function, FunctionCtx
from ..extend import sampled
from ..nn.functional import one_hot
from .constraints import Constraint, independent, nonnegative, positive, real, simplex, unit_interval
from .distribution import Distribution, ExponentialFamily, alias, broadcast_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._core.shapes import Shape
    from .._core.typing import Array, Tensor


class _Moving(Function):
    """The identity of given samples, whose derivative by the parameter follows from the distribution function."""

    generate_vmap_rule = True

    @staticmethod
    def forward(parameter: Tensor, samples: Tensor) -> Tensor:
        """The samples."""
        return samples.clone()

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        """Save the parameter and the samples."""
        ctx.save_for_backward(inputs[0], output)


class _MovingGamma(_Moving):
    """Gamma samples of rate 1, differentiated by the shape such that F(sample; shape) is constant.

    M. Figurnov, S. Mohamed, A. Mnih, Implicit reparameterization gradients, 2018.
    """

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor, None]:
        """Minus the derivative of the distribution function by the shape, divided by the density."""
        a, x = (saved.double() for saved in ctx.saved_tensors)
        density = (xlogy(a - 1, x) - x - lgamma(a)).exp()
        return gradient * -(ops.gammainc_by_shape(a, x, order=1) / density).to(gradient.dtype), None


class _MovingDirichlet(_Moving):
    """Dirichlet samples: vectors of gamma samples divided by their sums.

    As one concentration changes, its entry changes such that the entry's own (beta) distribution function is constant,
    and the others are rescaled proportionally. M. Jankowiak and F. Obermeyer, Pathwise derivatives beyond the
    reparameterization trick, 2018.
    """

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor, None]:
        """Minus the derivative of each entry's distribution function, over its density times the sum of the others."""
        a, x = (saved.double() for saved in ctx.saved_tensors)
        others = a.sum(-1, True) - a
        b = where(others > 0, others, 1.0)
        logarithm = (a - 1) * x.log() + b * log1p(-x) - (lgamma(a) + lgamma(b) - lgamma(a + b))
        slope = where(others > 0, -ops.betainc_by_shapes(a, b, x, order=(1, 0)) / logarithm.exp(), 0.0)
        g = gradient.double()
        return (slope * (g - (x * g).sum(-1, True))).to(gradient.dtype), None


def _gammas(rng: np.random.Generator, size: Shape, shapes: Array) -> Array:
    """Gamma samples of rate 1, at least the smallest positive number of the dtype."""
    return np.maximum(rng.standard_gamma(shapes, size), finfo(shapes.dtype).tiny).astype(shapes.dtype)


def _portions(rng: np.random.Generator, size: Shape, concentration: Array) -> Array:
    """Samples of the Dirichlet distribution, with all entries strictly between 0 and 1.

    Logarithms are drawn, because gamma samples of small shapes underflow: those of shape + 1, times u ** (1 / shape).
    """
    shapes, dtype = concentration.astype(np.float64), concentration.dtype
    drawn = np.log(rng.standard_gamma(shapes + 1, size)) - rng.standard_exponential(size) / shapes
    parts = np.exp(drawn - drawn.max(-1, keepdims=True))
    value = (parts / parts.sum(-1, keepdims=True)).astype(dtype)
    return value.clip(finfo(dtype).tiny, np.nextafter(dtype.type(1), 0))


def _moving(family: type[_Moving], draw: Callable[..., Array], parameter: Tensor) -> Tensor:
    return family.apply(parameter, sampled(draw, tuple(parameter.shape), parameter.detach()))


def _standard_gamma(concentration: Tensor) -> Tensor:
    return _moving(_MovingGamma, _gammas, concentration)


class Gamma(ExponentialFamily):
    """The gamma distribution, with a shape `concentration` and a `rate`.

    >>> import pullback
    >>> from pullback.distributions import Gamma
    >>> Gamma(2.0, 1.0).log_prob(pullback.tensor(1.0))
    tensor(-1.)
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"concentration": positive, "rate": positive}
    support: Constraint = nonnegative
    concentration: Tensor
    rate: Tensor

    def __init__(self, concentration: Tensor | float, rate: Tensor | float, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples, as differentiable functions of the parameters."""
        shape = self._extended_shape(sample_shape)
        return _standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density at a value."""
        value = as_tensor(value, dtype=self.rate.dtype)
        self._validate_sample(value)
        a, rate = self.concentration, self.rate
        return xlogy(a, rate) + xlogy(a - 1, value) - rate * value - lgamma(a)

    def _cdf(self, value: Tensor) -> Tensor:
        return igamma(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        a = self.concentration
        return a - self.rate.log() + lgamma(a) + (1 - a) * digamma(a)


class Chi2(Gamma):
    """The distribution of the sum of the squares of `df` standard normal numbers.

    >>> from pullback.distributions import Chi2
    >>> Chi2(3.0).mean
    tensor(3.)
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {"df": positive}
    df: Tensor

    def __init__(self, df: Tensor | float, validate_args: bool | None = None) -> None:
        (self.df,) = broadcast_all(df)
        super().__init__(0.5 * self.df, 0.5, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Self:
        """The same distribution with its parameters broadcast to another batch shape."""
        made = super().expand(batch_shape, _instance)
        made.concentration, made.rate = self.concentration.expand(batch_shape), self.rate.expand(batch_shape)
        return made


class Dirichlet(ExponentialFamily):
    """The distribution of probability vectors p with density proportional to prod(p ** (concentration - 1)).

    >>> import pullback
    >>> from pullback.distributions import Dirichlet
    >>> Dirichlet(pullback.ones(3)).log_prob(pullback.tensor([0.25, 0.25, 0.5]))
    tensor(0.6931)
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"concentration": independent(positive, 1)}
    support: Constraint = simplex

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.ndim < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        """The most probable value: a corner if all concentrations are below 1."""
        above = (self.concentration - 1).clamp(min=0)
        corner = one_hot(self.concentration.argmax(-1), self.concentration.shape[-1]).to(above.dtype)
        return where((self.concentration < 1).all(-1, True), corner, above / above.sum(-1, True))

    @property
    def variance(self) -> Tensor:
        """The variance of each entry."""
        total, mean = self.concentration.sum(-1, True), self.mean
        return mean * (1 - mean) / (total + 1)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples, as differentiable functions of the parameters."""
        return _moving(_MovingDirichlet, _portions, self.concentration.expand(self._extended_shape(sample_shape)))

    def _log_prob(self, value: Tensor) -> Tensor:
        a = self.concentration
        return xlogy(a - 1, value).sum(-1) + lgamma(a.sum(-1)) - lgamma(a).sum(-1)

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        a = self.concentration
        total = a.sum(-1)
        count = a.shape[-1]
        return lgamma(a).sum(-1) - lgamma(total) - (count - total) * digamma(total) - ((a - 1) * digamma(a)).sum(-1)


class Beta(ExponentialFamily):
    """The distribution on (0, 1) with density proportional to x ** (a - 1) * (1 - x) ** (b - 1).

    >>> import pullback
    >>> from pullback.distributions import Beta
    >>> Beta(2.0, 2.0).log_prob(pullback.tensor(0.5)).exp()
    tensor(1.5000)
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"concentration1": positive, "concentration0": positive}
    support: Constraint = unit_interval
    concentration1: Tensor
    concentration0: Tensor

    def __init__(
        self, concentration1: Tensor | float, concentration0: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        super().__init__(self.concentration1.shape, validate_args=validate_args)

    def _both(self) -> Dirichlet:
        return Dirichlet(stack([self.concentration1, self.concentration0], -1), validate_args=False)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        return self._both().mode.select(-1, 0)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples, as differentiable functions of the parameters."""
        return self._both().rsample(sample_shape).select(-1, 0)

    def _log_prob(self, value: Tensor) -> Tensor:
        return self._both().log_prob(stack([value, 1 - value], -1))

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        return self._both().entropy()


class StudentT(Distribution):
    """Student's distribution with `df` degrees of freedom, shifted by `loc` and scaled by `scale`.

    >>> import pullback
    >>> from pullback.distributions import StudentT
    >>> StudentT(1.0).log_prob(pullback.tensor(0.0))
    tensor(-1.1447)
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"df": positive, "loc": real, "scale": positive}
    support: Constraint = real
    df: Tensor
    loc: Tensor
    scale: Tensor

    def __init__(
        self,
        df: Tensor | float,
        loc: Tensor | float = 0.0,
        scale: Tensor | float = 1.0,
        validate_args: bool | None = None,
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean; NaN if it does not exist."""
        return self.loc.masked_fill(self.df <= 1, float("nan"))

    mode = alias("loc", "The most probable value.")

    @property
    def variance(self) -> Tensor:
        """The variance; infinite or NaN if it does not exist."""
        found = self.scale.pow(2) * self.df / (self.df - 2)
        return found.masked_fill(self.df <= 2, float("inf")).masked_fill(self.df <= 1, float("nan"))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples, as differentiable functions of the parameters."""
        shape = self._extended_shape(sample_shape)
        z = randn(shape, dtype=self.df.dtype)
        chi = 2 * _standard_gamma((self.df / 2).expand(shape))
        return self.loc + self.scale * z * (self.df / chi).sqrt()

    def _log_prob(self, value: Tensor) -> Tensor:
        y, n = (value - self.loc) / self.scale, self.df
        constant = self.scale.log() + 0.5 * n.log() + 0.5 * np.log(np.pi) + lgamma(n / 2) - lgamma((n + 1) / 2)
        return -0.5 * (n + 1) * log1p(y**2 / n) - constant

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        half, more = self.df / 2, (self.df + 1) / 2
        beta = lgamma(half) + math.lgamma(0.5) - lgamma(more)
        return self.scale.log() + more * (digamma(more) - digamma(half)) + 0.5 * self.df.log() + beta


class FisherSnedecor(Distribution):
    """The F-distribution: of the ratio of the means of `df1` and of `df2` squared standard normal numbers.

    >>> import pullback
    >>> from pullback.distributions import FisherSnedecor
    >>> FisherSnedecor(2.0, 4.0).mean
    tensor(2.)
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"df1": positive, "df2": positive}
    support: Constraint = positive
    df1: Tensor
    df2: Tensor

    def __init__(self, df1: Tensor | float, df2: Tensor | float, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        super().__init__(self.df1.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean; NaN if it does not exist."""
        return (self.df2 / (self.df2 - 2)).masked_fill(self.df2 <= 2, float("nan"))

    @property
    def mode(self) -> Tensor:
        """The most probable value; NaN if it does not exist."""
        found = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return found.masked_fill(self.df1 <= 2, float("nan"))

    @property
    def variance(self) -> Tensor:
        """The variance; NaN if it does not exist."""
        n, m = self.df1, self.df2
        found = 2 * m**2 * (n + m - 2) / (n * (m - 2) ** 2 * (m - 4))
        return found.masked_fill(m <= 4, float("nan"))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples, as differentiable functions of the parameters."""
        shape = self._extended_shape(sample_shape)
        means = [_standard_gamma((df / 2).expand(shape)) / (df / 2) for df in (self.df1, self.df2)]
        tiny = float(finfo(self.df1.dtype).tiny)
        return (means[0] / means[1].clamp(min=tiny)).clamp(min=tiny)

    def _log_prob(self, value: Tensor) -> Tensor:
        a, b = self.df1 / 2, self.df2 / 2
        ratio = self.df1 / self.df2
        constant = lgamma(a + b) - lgamma(a) - lgamma(b) + a * ratio.log()
        return constant + (a - 1) * value.log() - (a + b) * log1p(ratio * value)
