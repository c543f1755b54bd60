"""In-place random sampling: `x.normal_()` and the like. The gradient of the overwritten tensor is zero."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core import xp as _xp
from .._core.bfloat import finfo
from .._core.primitives import Carrier
from .._numerics import random as _random

if TYPE_CHECKING:
    from .._core.typing import Array, Generator, Number, Tensor


def _check(name: str, self: Tensor, kinds: str = "f") -> None:
    if self._dtype.kind not in kinds:
        raise NotImplementedError(f'"{name}" not implemented for {self._type_name!r}: convert first, x.float()')


def _written(self: Tensor, draw: Any, label: str, generator: Generator | None, *parameters: Any) -> Tensor:
    """The tensor overwritten by samples of its shape and dtype, from `draw(rng, shape, *parameters)`."""
    kind = self._dtype

    def cast(xp: Any, values: Any) -> Any:
        if values.dtype.kind == "c" and kind.kind != "c":
            raise TypeError(f"{label}: the parameters must be real numbers, as {self.dtype} is")
        return values if values.dtype == kind else xp.astype(values, dtype=kind, source=values.dtype)

    def cast_draw(rng: np.random.Generator, shape: tuple[int, ...], *arrays: Any) -> Array:
        return np.asarray(cast(_xp, np.asarray(draw(rng, shape, *arrays))))

    cast_draw.__name__ = label.lower()
    chosen = draw.then(label.lower(), cast) if isinstance(draw, _random.Elementwise) else cast_draw
    values = _random.sampled(chosen, tuple(self.shape), *parameters, generator=generator)
    return ops.drawn(values, self, label=f"{label}Backward0")


def normal(self: Tensor, mean: float = 0, std: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Samples of a normal distribution.

    Parameters
    ----------
    mean
        The mean, of the logarithm in `log_normal_`.
    std
        The standard deviation, of the same.

    >>> import pullback
    >>> pullback.zeros(1000).normal_(mean=50.0).mean().round(decimals=-1)
    tensor(50.)
    """
    _check("normal_kernel_cpu", self, "fc")
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    kind = self._dtype

    draw = _random.Elementwise("normal", "standard_normal", kind, lambda xp, x: x * std + mean)
    return _written(self, draw, "Normal", generator)


def log_normal(self: Tensor, mean: float = 1, std: float = 2, *, generator: Generator | None = None) -> Tensor:
    """Samples of a log-normal distribution, whose logarithms have this mean and standard deviation.

    Parameters
    ----------
    mean
        The mean, of the logarithm in `log_normal_`.
    std
        The standard deviation, of the same.

    >>> import pullback
    >>> pullback.zeros(1000).log_normal_().min() > 0
    tensor(True)
    """
    _check("log_normal", self)
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    kind = self._dtype

    draw = _random.Elementwise("log_normal", "standard_normal", kind, lambda xp, x: xp.exp(x * std + mean))
    return _written(self, draw, "LogNormal", generator)


def uniform(
    self: Tensor, start: float = 0, to: float = 1, *, generator: Generator | None = None, **options: float
) -> Tensor:
    """Samples of the uniform distribution on [start, to), where torch calls `start` `from`.

    Parameters
    ----------
    start
        The least number.
    to
        The bound.

    >>> import pullback
    >>> x = pullback.zeros(1000).uniform_(2, 4)
    >>> x.min() >= 2, x.max() < 4
    (tensor(True), tensor(True))
    """
    _check("check_uniform_bounds", self, "fc")
    start = options.pop("from", start)
    if options:
        raise TypeError(f"uniform_() got an unexpected keyword argument {next(iter(options))!r}")
    low, high = float(start), float(to)
    if low > high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={start} > to={to}")
    kind = self._dtype
    corner = 1 + 1j if kind.kind == "c" else 1

    draw = _random.Elementwise("uniform", "random", kind, lambda xp, x: x * (high - low) + low * corner)
    return _written(self, draw, "Uniform", generator)


def exponential(self: Tensor, lambd: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Samples of the exponential distribution with rate `lambd`.

    Parameters
    ----------
    lambd
        The rate: 1 / the mean.

    >>> import pullback
    >>> pullback.zeros(1000).exponential_(lambd=2.0).min() >= 0
    tensor(True)
    """
    _check("exponential", self)
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    draw = _random.Elementwise("exponential", "standard_exponential", np.dtype(float), lambda xp, x: x / lambd)
    return _written(self, draw, "Exponential", generator)


def cauchy(self: Tensor, median: float = 0, sigma: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Samples of the Cauchy distribution with a median and a scale.

    Parameters
    ----------
    median
        The median.
    sigma
        Half the width at half the height.

    >>> import pullback
    >>> pullback.zeros(2, 3).cauchy_(median=1.0).shape
    pullback.Size([2, 3])
    """
    _check("cauchy", self)
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    return _written(self, lambda rng, shape: rng.standard_cauchy(shape) * sigma + median, "Cauchy", generator)


def geometric(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Samples of the geometric distribution: the number of trials until the first success, each with probability p.

    Parameters
    ----------
    p
        The probability of success at each trial.

    >>> import pullback
    >>> pullback.zeros(1000).geometric_(0.5).min()
    tensor(1.)
    """
    _check("geometric", self, "fiu")
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    return _written(self, lambda rng, shape: rng.geometric(p, shape), "Geometric", generator)


def bernoulli(self: Tensor, p: Tensor | float = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Samples of 1 with probability p, else 0; p is a number or a tensor with one for each element.

    Parameters
    ----------
    p
        The probability of 1, a number or a tensor.

    >>> import pullback
    >>> pullback.zeros(3).bernoulli_(pullback.tensor([0.0, 1.0, 0.0]))
    tensor([0., 1., 0.])
    """
    draw = _random.chance("bernoulli", lambda _: f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    return _written(self, draw, "Bernoulli", generator, p if isinstance(p, Carrier) else np.asarray(p))


def _whole(name: str, bound: Any) -> int:
    try:
        return operator.index(bound)
    except TypeError:
        raise TypeError(f"random_(): argument '{name}' must be an int, but got {type(bound).__name__}") from None


def random(self: Tensor, start: Number | None = None, to: Any = ..., *, generator: Generator | None = None) -> Tensor:
    """Uniformly distributed integers in [start, to), [0, to), or the range of consecutive integers of the dtype.

    A single argument is `to`; with `to=None` it is `start`, and the range extends to the largest integer.

    Parameters
    ----------
    start
        The least number; alone, the bound.
    to
        The bound, which is not drawn; None for the largest number of the dtype.

    >>> import pullback
    >>> pullback.zeros(1000).random_(3, 6).unique()
    tensor([3., 4., 5.])
    """
    _check("random_", self, "biuf")
    dtype = self._dtype
    if to is ... and start is not None:
        start, to = 0, start
    start = 0 if start is None else _whole("from", start)
    if to is None or to is ...:
        gapless = 2 ** (finfo(dtype).nmant + 1) if dtype.kind == "f" else 2 if dtype.kind == "b" else None
        to = gapless or min(int(np.iinfo(dtype).max), 2**63 - 2) + 1
    to = _whole("to", to)
    if start >= to:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={start} >= to={to}")
    draw = _random.Elementwise("random", "integers", np.dtype(np.int64), bounds=(start, to))
    return _written(self, draw, "Random", generator)
