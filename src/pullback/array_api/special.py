"""SciPy's special functions on tensors, by SciPy's names, with gradients.

SciPy's own functions find them here: with SCIPY_ARRAY_API=1 set, `scipy.special.gammainc(a, x)` of tensors calls
`gammainc(a, x)` of this namespace. Those that pullback does not compute itself need SciPy, the extra `pullback[special]`.

>>> from pullback import array_api as xp
>>> x = xp.asarray([0.5, 1.5]).requires_grad_()
>>> xp.special.gamma(x)
tensor([1.7725, 0.8862], dtype=pullback.float64, grad_fn=<GammaBackward0>)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import special as _special
from .._core.sites import named as _named
from .._numpy.scipy_names import FUNCTIONS as _FUNCTIONS
from .creation import asarray as _asarray
from .operands import of_tensors as _of_tensors, together as _together

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._core.typing import Array, Tensor, TensorLike

_where = _of_tensors(np.where)


def multigammaln(a: Tensor, d: int, /) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension d.

    >>> from pullback import array_api as xp
    >>> xp.special.multigammaln(xp.asarray([2.0]), 1)
    tensor([0.], dtype=pullback.float64)
    """
    return _special.multigammaln(a, d)


def polygamma(n: int, x: Tensor, /) -> Tensor:
    """The n-th derivative of the digamma function.

    >>> from pullback import array_api as xp
    >>> xp.special.polygamma(1, xp.asarray([1.0]))
    tensor([1.6449], dtype=pullback.float64)
    """
    return _special.polygamma(n, x)


def stdtr(df: TensorLike, t: TensorLike, /) -> Tensor:
    """The cumulative distribution function of Student's t, with df degrees of freedom.

    >>> from pullback import array_api as xp
    >>> xp.special.stdtr(xp.asarray([3.0]), xp.asarray([0.0, 1.0]))
    tensor([0.5000, 0.8045], dtype=pullback.float64)
    """
    df, t = _together("stdtr", df, t)
    half = np.asarray(0.5, df.dtype)
    small, still = abs(t) < 1, t == 0
    inner, outer = _where(small & ~still, t, half), _where(small, 1, t)  # each formula where it is exact and smooth
    middle = half + np.sign(t) * _FUNCTIONS["betainc"](half, df / 2, inner * inner / (df + inner * inner)) / 2
    tail = _FUNCTIONS["betainc"](df / 2, half, df / (df + outer * outer)) / 2
    found = _where(small, middle, _where(t < 0, tail, 1 - tail))
    return _where(still, half + t * _density(df), found)


def stdtrit(df: TensorLike, p: TensorLike, /) -> Tensor:
    """The quantile of Student's t, with df degrees of freedom, for the probability p: the inverse of `stdtr` by t.

    >>> from pullback import array_api as xp
    >>> xp.special.stdtrit(xp.asarray([3.0]), xp.asarray([0.5, 0.75]))
    tensor([0.0000, 0.7649], dtype=pullback.float64)
    """
    df, p = _together("stdtrit", df, p)
    half = np.asarray(0.5, df.dtype)
    least, still = _where(p < half, p, 1 - p), p == half
    outside = least < half / 2
    x = _FUNCTIONS["betaincinv"](df / 2, half, _where(outside, 2 * least, half))
    y = _FUNCTIONS["betaincinv"](half, df / 2, _where(outside | still, half, 1 - 2 * least))
    size = np.sqrt(df * _where(outside, (1 - x) / x, y / (1 - y)))
    return _where(still, (p - half) / _density(df), _where(p < half, -size, size))


def _density(df: Tensor | Array) -> Tensor:
    """The density of Student's t at 0, where the formulas have no slope."""
    return 1 / (np.sqrt(df) * _FUNCTIONS["beta"](_asarray(df / 2), np.asarray(0.5, df.dtype)))


def rgamma(x: Tensor, /) -> Tensor:
    """The reciprocal of the gamma function.

    >>> from pullback import array_api as xp
    >>> xp.special.rgamma(xp.asarray([3.0]))
    tensor([0.5000], dtype=pullback.float64)
    """
    return 1 / _FUNCTIONS["gamma"](x)


_OTHERS = ("logsumexp", "log_softmax", "sinc", "softmax")
_OWN = ("multigammaln", "polygamma", "rgamma", "stdtr", "stdtrit")
__all__ = [*_OWN, *_OTHERS, *_FUNCTIONS]  # noqa: PLE0604  # strings, of the tables


def __getattr__(name: str) -> Callable[..., Tensor]:
    if name in _OTHERS:
        return getattr(_special, name)
    if name not in _FUNCTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _named(name, _FUNCTIONS[name], f"`scipy.special.{name}` of tensors, with gradients.")


def __dir__() -> list[str]:
    return [*__all__]
