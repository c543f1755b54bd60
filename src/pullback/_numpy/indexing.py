"""NumPy's functions of indices, diagonals and spectra on tensors, with NumPy's parameters.

`names` registers them. The modules they use are imported on first call.
"""

from __future__ import annotations

# ruff: noqa: PLW0108  # the signatures of the lambdas have NumPy's parameter names
from typing import TYPE_CHECKING

import numpy as np

from .._core.primitives import Carrier, Function
from .._core.shapes import normalize_axis
from ..vocabulary import indexing, later, reductions, shapes
from ..vocabulary.promotion import cast
from .operands import concrete, tensors

if TYPE_CHECKING:
    from .._core.typing import ArrayLike, DType, Tensor

_diagonal, _diag, _diagflat, _tril, _triu = (
    later("vocabulary.diagonals", name) for name in ("diagonal", "diag", "diagflat", "tril", "triu")
)
_take_along_dim = later("vocabulary.scatter", "take_along_dim")


def _long(indices: ArrayLike) -> Tensor:
    """Indices converted to int64, as an array or tensor."""
    return cast(indices if isinstance(indices, Carrier) else np.asarray(indices), np.dtype(np.int64))


def _take(a: ArrayLike, indices: ArrayLike, axis: int | None = None, out: object = None, mode: str = "raise") -> Tensor:
    a, indices = tensors(a, indices)
    place = 0 if axis is None else normalize_axis(axis, a.ndim, "take")
    a = shapes.ravel(a) if axis is None else a
    if mode != "raise":
        size = a.shape[place]
        indices = np.clip(concrete(indices), 0, size - 1) if mode == "clip" else concrete(indices) % size
    return indexing.getitem(a, (*[slice(None)] * place, indices))


def _compress(condition: ArrayLike, a: ArrayLike, axis: int | None = None, out: object = None) -> Tensor:
    return _take(tensors(a, condition)[0], np.flatnonzero(concrete(condition)), axis)


def _triangle(function: Function) -> Function:
    """tril and triu, for which a vector is repeated as the rows of a matrix."""
    return lambda m, k=0: function(shapes.expand(m, *m.shape, *m.shape) if m.ndim == 1 else m, k)


def _trace(
    a: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DType | None = None, out: object = None
) -> Tensor:
    return reductions.sum(_diagonal(a, offset, axis1, axis2), -1, dtype=dtype)


# fmt: off
FUNCTIONS: dict[Function, Function] = {
    np.take: _take, np.compress: _compress, np.extract: lambda condition, arr: _compress(condition, arr),
    np.take_along_axis: lambda arr, indices, axis=-1: _take_along_dim(*tensors(arr, _long(indices)), axis),
    np.diag: lambda v, k=0: _diag(v, k), np.diagflat: lambda v, k=0: _diagflat(v, k),
    np.diagonal: lambda a, offset=0, axis1=0, axis2=1: _diagonal(a, offset, axis1, axis2),
    np.tril: _triangle(_tril), np.triu: _triangle(_triu), np.trace: _trace,
}


def _along_axis(name: str) -> Function:
    transform = later("fft", name)
    return lambda a, n=None, axis=-1, norm=None, out=None: transform(a, n, axis, norm)


def _along_axes(name: str, default: tuple[int, int] | None) -> Function:
    transform = later("fft", name)
    return lambda a, s=None, axes=default, norm=None, out=None: transform(a, s, axes, norm)


def _shifted(name: str) -> Function:
    shift = later("fft", name)
    return lambda x, axes=None: shift(x, axes)


# By name, since NumPy imports its fft module only on first use.
SPECTRA: dict[str, Function] = {
    **{f"numpy.fft.{name}": _along_axis(name) for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{f"numpy.fft.{name}n": _along_axes(f"{name}n", None) for name in ("fft", "ifft", "rfft", "irfft")},
    **{f"numpy.fft.{name}2": _along_axes(f"{name}2", (-2, -1)) for name in ("fft", "ifft", "rfft", "irfft")},
    **{f"numpy.fft.{name}": _shifted(name) for name in ("fftshift", "ifftshift")},
}
# fmt: on
