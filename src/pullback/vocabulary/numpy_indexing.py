"""NumPy's functions of places, diagonals and spectra, of tensors, in NumPy's parameters.

`numpy_names` has them in its tables. The modules behind them are imported when one is called.
"""

# ruff: noqa: PLW0108  # the signature of a lambda gives the parameters their names in NumPy

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _xp
from .._core import Carrier
from .._promotion import cast
from .._shapes import normalize_axis
from . import indexing, load, reductions, shapes
from .numpy_statistics import tensors

Function = Callable[..., Any]


def _of(module: str, name: str) -> Function:
    """A function of pullback by its module and name, which is imported when it is called."""
    return lambda *args, **options: load(module, name)(*args, **options)


_diagonal, _diag, _diagflat, _tril, _triu = (
    _of("vocabulary.diagonals", name) for name in ("diagonal", "diag", "diagflat", "tril", "triu")
)
_take_along_dim = _of("vocabulary.scatter", "take_along_dim")


def _long(indices: Any) -> Any:
    """Indices as int64, in an array or tensor."""
    return cast(indices if isinstance(indices, Carrier) else np.asarray(indices), np.dtype(np.int64))


def _take(a: Any, indices: Any, axis: int | None = None, out: Any = None) -> Any:
    a, indices = tensors(a, indices)
    if axis is None:
        return indexing.getitem(shapes.ravel(a), indices)
    return indexing.getitem(a, (*[slice(None)] * normalize_axis(axis, a.ndim), indices))


def _compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> Any:
    condition, a = tensors(condition, a)
    return _take(a, np.flatnonzero(condition._array), axis)


def _triangle(function: Function) -> Function:
    """tril and triu, which make a vector the rows of a matrix."""
    return lambda m, k=0: function(shapes.expand(m, *m.shape, *m.shape) if m.ndim == 1 else m, k)


def _trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    return reductions.sum(_diagonal(a, offset, axis1, axis2), -1, dtype=dtype)


# Those that write


def _target(name: str, array: Any) -> Any:
    """The tensor that is written to."""
    if not isinstance(array, Carrier):
        raise TypeError(
            f"numpy.{name} would write a tensor to a NumPy array, which cannot hold its history: write to a tensor, or pass "
            "t.detach().numpy()"
        )
    return array


def _plain(indices: Any) -> Any:
    return indices._array if isinstance(indices, Carrier) else np.asarray(indices)


def _value(values: Any) -> Any:
    return values if isinstance(values, Carrier) else np.asarray(values)


def _put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    target = _target("put_along_axis", arr)
    if axis is None:
        _put(target, indices, values)
    else:
        indexing.setitem(target, _xp.along(_plain(indices), normalize_axis(axis, target.ndim)), _value(values))


def _put(a: Any, ind: Any, v: Any) -> None:
    target, places, values = _target("put", a), _plain(ind).reshape(-1), _value(v)
    count = target.numel()
    if places.size and not -count <= places.min() <= places.max() < count:
        raise IndexError(f"numpy.put: index out of bounds for a tensor of {count} elements: {places.tolist()}")
    if values.ndim:  # too few are repeated
        values = values.reshape(-1)[np.arange(places.size) % values.size]
    indexing.setitem(target, np.unravel_index(places % count, tuple(target.shape)), values)


# fmt: off
FUNCTIONS: dict[Function, Function] = {
    np.take: _take, np.compress: _compress, np.extract: lambda condition, arr: _compress(condition, arr),
    np.take_along_axis: lambda arr, indices, axis=-1: _take_along_dim(*tensors(arr, _long(indices)), axis),
    np.put_along_axis: _put_along_axis, np.put: _put,
    np.diag: lambda v, k=0: _diag(v, k), np.diagflat: lambda v, k=0: _diagflat(v, k),
    np.diagonal: lambda a, offset=0, axis1=0, axis2=1: _diagonal(a, offset, axis1, axis2),
    np.tril: _triangle(_tril), np.triu: _triangle(_triu), np.trace: _trace,
}


def _along_axis(name: str) -> Function:
    transform = _of("fft", name)
    return lambda a, n=None, axis=-1, norm=None, out=None: transform(a, n, axis, norm)


def _along_axes(name: str, default: tuple[int, int] | None) -> Function:
    transform = _of("fft", name)
    return lambda a, s=None, axes=default, norm=None, out=None: transform(a, s, axes, norm)


def _shifted(name: str) -> Function:
    shift = _of("fft", name)
    return lambda x, axes=None: shift(x, axes)


# By name, since NumPy imports its module of transforms only when it is asked for.
SPECTRA: dict[str, Function] = {
    **{f"numpy.fft.{name}": _along_axis(name) for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{f"numpy.fft.{name}n": _along_axes(f"{name}n", None) for name in ("fft", "ifft", "rfft", "irfft")},
    **{f"numpy.fft.{name}2": _along_axes(f"{name}2", (-2, -1)) for name in ("fft", "ifft", "rfft", "irfft")},
    **{f"numpy.fft.{name}": _shifted(name) for name in ("fftshift", "ifftshift")},
}
# fmt: on
