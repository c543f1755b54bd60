"""NumPy's polynomials with tensors as coefficients, roots or points, highest power first.

They are written with NumPy's own functions, which accept tensors like arrays. `names` registers them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.bfloat import finfo
from .._core.primitives import Function
from ..vocabulary import shapes
from ..vocabulary.promotion import inexact, together
from .operands import concrete, on_tensors, operand, tensors

if TYPE_CHECKING:
    from .._core.typing import Array, ArrayLike, Tensor


def _coefficients(*values: ArrayLike) -> list[Tensor]:
    """Vectors of coefficients, as tensors of their promoted dtype."""
    given = [np.asarray(value.coeffs) if isinstance(value, np.poly1d) else operand(value) for value in values]
    return [on_tensors.atleast_1d(tensor) for tensor in tensors(*together(*given))]


def _polyval(p: ArrayLike, x: ArrayLike) -> Tensor:
    if isinstance(x, np.poly1d):
        raise TypeError("numpy.polyval of a poly1d at a poly1d has no derivative here: multiply with np.polymul")
    p, x = tensors(*together(*(np.asarray(v.coeffs) if isinstance(v, np.poly1d) else operand(v) for v in (p, x))))
    result = on_tensors.zeros_like(x)
    for coefficient in p:
        result = result * x + coefficient
    return result


def _of_one_length(a1: ArrayLike, a2: ArrayLike) -> list[Tensor]:
    """The coefficients of two polynomials, with leading zeros before those of the shorter one."""
    given = _coefficients(a1, a2)
    length = max(p.shape[0] for p in given)
    return [on_tensors.concatenate([np.zeros(length - p.shape[0], p._dtype), p]) for p in given]


def _polyadd(a1: ArrayLike, a2: ArrayLike) -> Tensor:
    p, q = _of_one_length(a1, a2)
    return p + q


def _polysub(a1: ArrayLike, a2: ArrayLike) -> Tensor:
    p, q = _of_one_length(a1, a2)
    return p - q


def _without_leading_zeros(p: Tensor) -> Tensor:
    return np.trim_zeros(p, "f") if concrete(p).any() else p[:1]


def _polymul(a1: ArrayLike, a2: ArrayLike) -> Tensor:
    return on_tensors.convolve(*map(_without_leading_zeros, _coefficients(a1, a2)))


def _polydiv(u: ArrayLike, v: ArrayLike) -> tuple[Tensor, Tensor]:
    rest, v = map(inexact, _coefficients(u, v))
    size = v.shape[0]
    quotient = []
    for _ in range(rest.shape[0] - size + 1):
        factor = rest[:1] / v[:1]
        quotient.append(factor)
        rest = on_tensors.concatenate([(rest[:size] - factor * v)[1:], rest[size:]])
    if not quotient:
        return on_tensors.zeros_like(rest[:1]), rest
    rest = rest if rest.shape[0] else on_tensors.zeros_like(v[:1])
    while rest.shape[0] > 1 and abs(concrete(rest)[0]) <= 1e-8:
        rest = rest[1:]
    return on_tensors.concatenate(quotient), rest


def _polyder(p: ArrayLike, m: int = 1) -> Tensor:
    if m < 0:
        raise ValueError(f"Order of derivative must be positive (see polyint), not {m}")
    (found,) = _coefficients(p)
    for _ in range(int(m)):
        found = found[:-1] * np.arange(found.shape[0] - 1, 0, -1)
    return found


def _polyint(p: ArrayLike, m: int = 1, k: ArrayLike | None = None) -> Tensor:
    if m < 0:
        raise ValueError(f"Order of integral must be positive (see polyder), not {m}")
    p, constants = tensors(*together(operand(p), np.zeros(1) if k is None else operand(k)))
    p, constants = on_tensors.atleast_1d(inexact(p)), on_tensors.atleast_1d(inexact(constants))
    if constants.shape[0] not in (1, m):
        raise ValueError(
            f"k must be a scalar or a rank-1 array of length 1 or >m: it has {constants.shape[0]}, m is {m}"
        )
    for i in range(int(m)):
        j = i if constants.shape[0] > 1 else 0
        p = on_tensors.concatenate([p / np.arange(p.shape[0], 0, -1), constants[j : j + 1]])
    return p


def _poly(seq_of_zeros: ArrayLike) -> Tensor:
    (zeros,) = tensors(operand(seq_of_zeros))
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1]:
        (zeros,) = tensors(np.linalg.eigvals(zeros))
    elif zeros.ndim > 1:
        raise ValueError(f"input must be 1d or non-empty square 2d array, not of shape {tuple(zeros.shape)}")
    zeros = inexact(np.atleast_1d(zeros))
    found: Tensor | Array = np.ones(1, zeros._dtype)
    for place in range(zeros.shape[0]):
        found = on_tensors.convolve(
            found, on_tensors.concatenate([np.ones(1, zeros._dtype), -zeros[place : place + 1]])
        )
    values = concrete(zeros)
    paired = values.dtype.kind == "c" and np.array_equal(np.sort(values), np.sort(values.conj()))
    return on_tensors.real(found) if paired else tensors(found, zeros)[0]


def _roots(p: ArrayLike) -> Tensor:
    (p,) = _coefficients(p)
    if p.ndim != 1:
        raise ValueError(f"Input must be a rank-1 array, not of shape {tuple(p.shape)}")
    inside = inexact(np.trim_zeros(p))
    places = np.flatnonzero(concrete(p))
    behind = p.shape[0] - 1 - int(places[-1]) if places.size else 0
    degree = inside.shape[0] - 1
    if degree < 1:
        return on_tensors.zeros_like(inside, shape=behind if places.size else 0)
    shifted = np.eye(degree - 1, degree, dtype=inside._dtype)
    found: Any = np.linalg.eigvals(np.concatenate([-(inside[1:] / inside[0])[None], shifted]))
    return on_tensors.concatenate([found, np.zeros(behind, found._dtype)])


def _polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: ArrayLike | None = None,
    cov: bool | str = False,
) -> Tensor | tuple[Tensor, Tensor]:
    x, y = map(inexact, tensors(*together(operand(x), operand(y))))
    if full:
        raise TypeError("numpy.polyfit has no derivative here with full=True: leave it out, or use np.linalg.lstsq")
    if deg < 0 or x.ndim != 1 or x.shape[0] == 0 or y.ndim not in (1, 2) or x.shape[0] != y.shape[0]:
        raise ValueError(
            f"polyfit fits a degree >= 0 to vectors x and y (or columns of y) of one length, not {deg} to shapes "
            f"{tuple(x.shape)} and {tuple(y.shape)}"
        )
    weight: Any = 1.0 if w is None else operand(w)[:, None]
    left, right = np.vander(x, deg + 1) * weight, shapes.reshape(y, y.shape[0], -1) * weight
    scale = np.sqrt(np.sum(left * left, axis=0))
    rcond = x.shape[0] * float(finfo(x._dtype).eps) if rcond is None else rcond
    found = np.linalg.lstsq(left / scale, right, rcond)[0]
    found = shapes.reshape(found, -1, *y.shape[1:]) / (scale if y.ndim == 1 else scale[:, None])
    if not cov:
        return found
    inner: Any = np.linalg.inv(np.transpose(left / scale) @ (left / scale)) / np.outer(scale, scale)
    if cov != "unscaled":
        if x.shape[0] <= deg + 1:
            raise ValueError("the number of data points must exceed order to scale the covariance matrix")
        inner = inner[..., None] if y.ndim == 2 else inner
        errors = right - left @ shapes.reshape(found, deg + 1, -1)
        inner = inner * (np.sum(np.square(np.abs(errors)), axis=0) / (x.shape[0] - deg - 1))
    elif y.ndim == 2:
        inner = np.repeat(inner[..., None], y.shape[1], -1)
    return found, inner


POLYNOMIALS: dict[str, Function] = {
    "polyval": _polyval,
    "polyadd": _polyadd,
    "polysub": _polysub,
    "polymul": _polymul,
    "polydiv": _polydiv,
    "polyder": _polyder,
    "polyint": _polyint,
    "poly": _poly,
    "roots": _roots,
    "polyfit": _polyfit,
}
