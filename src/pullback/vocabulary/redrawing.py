"""Samples in the shape of a tensor, to be written to it: `x.normal_()` and its kin. The tensor gets gradients of zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _random, ops
from .._core import Carrier
from .._modes import quiet


def _check(name: str, self: Any, kinds: str = "f") -> None:
    if self._dtype.kind not in kinds:
        raise NotImplementedError(f'"{name}" not implemented for {self._type_name!r}: convert first, x.float()')


def _written(self: Any, values: Any, label: str) -> Any:
    values = np.asarray(values)
    if values.dtype.kind == "c" and self._dtype.kind != "c":
        raise TypeError(f"{label}: the parameters must be real numbers, as {self.dtype} is")
    return ops.drawn(quiet.run(values.astype, self._dtype, copy=False), self, label=f"{label}Backward0")


def normal(self: Any, mean: float = 0, std: float = 1, *, generator: Any = None) -> Any:
    """Normally distributed numbers."""
    _check("normal_kernel_cpu", self, "fc")
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    return _written(self, _random.normal(tuple(self.shape), self._dtype, generator) * std + mean, "Normal")


def log_normal(self: Any, mean: float = 1, std: float = 2, *, generator: Any = None) -> Any:
    """Numbers whose logarithms are normally distributed."""
    _check("log_normal", self)
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    noise = _random.normal(tuple(self.shape), self._dtype, generator)
    return _written(self, quiet.run(np.exp, noise * std + mean), "LogNormal")


def uniform(self: Any, start: float = 0, to: float = 1, *, generator: Any = None, **options: Any) -> Any:
    """Numbers drawn evenly from one bound to another, which torch calls `from` and `to`."""
    _check("check_uniform_bounds", self, "fc")
    start = options.pop("from", start)
    if options:
        raise TypeError(f"uniform_() got an unexpected keyword argument {next(iter(options))!r}")
    if start > to:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={start} > to={to}")
    corner = 1 + 1j if self._dtype.kind == "c" else 1
    values = _random.uniform(tuple(self.shape), self._dtype, generator)
    return _written(self, values * (to - start) + start * corner, "Uniform")


def exponential(self: Any, lambd: float = 1, *, generator: Any = None) -> Any:
    """Numbers drawn from the exponential distribution of a rate."""
    _check("exponential", self)
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return _written(self, _random.source(generator).standard_exponential(tuple(self.shape)) / lambd, "Exponential")


def cauchy(self: Any, median: float = 0, sigma: float = 1, *, generator: Any = None) -> Any:
    """Numbers drawn from the Cauchy distribution of a median and a scale."""
    _check("cauchy", self)
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    values = _random.source(generator).standard_cauchy(tuple(self.shape))
    return _written(self, values * sigma + median, "Cauchy")


def geometric(self: Any, p: float, *, generator: Any = None) -> Any:
    """How many trials it takes until one succeeds, each with probability p."""
    _check("geometric", self, "fiu")
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    return _written(self, _random.source(generator).geometric(p, tuple(self.shape)), "Geometric")


def bernoulli(self: Any, p: Any = 0.5, *, generator: Any = None) -> Any:
    """1 with probability p, a number or one for each element, else 0."""
    chances = np.asarray(p._array if isinstance(p, Carrier) else p)
    if not (np.all(chances >= 0) and np.all(chances <= 1)):
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    return _written(self, _random.source(generator).random(tuple(self.shape)) < chances, "Bernoulli")


def random(self: Any, start: Any = None, to: Any = None, *, generator: Any = None) -> Any:
    """Whole numbers drawn evenly from [start, to), from [0, to), or from all that the dtype can hold without gaps."""
    _check("random_", self, "biuf")
    dtype = self._dtype
    if start is not None and to is None:
        start, to = 0, start
    if to is None:
        start = 0
        gapless = 2 ** (np.finfo(dtype).nmant + 1) if dtype.kind == "f" else 2 if dtype.kind == "b" else None
        to = gapless or min(int(np.iinfo(dtype).max), 2**63 - 2) + 1
    if start >= to:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={start} >= to={to}")
    return _written(self, _random.source(generator).integers(start, to, tuple(self.shape)), "Random")
