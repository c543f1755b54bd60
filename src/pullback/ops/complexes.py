"""Complex numbers and their parts.

These rules are written for complex numbers: the cotangent of a real input is the real part of the output's cotangent
that belongs to it, and nothing else is conjugated.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .._core.primitives import elementwise, linear
from .elementwise import bent, pushed_at_zero

if TYPE_CHECKING:
    from .._core.typing import Array, NumpyType, OfComplex, Operations, Tensor


def _complex_of(real: Array, imag: Array) -> Array:
    out = np.empty(np.broadcast(real, imag).shape, np.result_type(real.dtype, np.complex64))
    out.real, out.imag = real, imag
    return out


def _view_as_real(x: Array, *, source: NumpyType | None = None) -> Array:
    """Real and imaginary parts along a new last axis: a view, whatever the strides of x."""
    return x[..., None].view(x.real.dtype)


def _view_as_complex(x: Array, *, source: NumpyType | None = None) -> Array:
    """Pairs along the last axis as complex numbers: a view if the pairs are adjacent in memory, else a copy."""
    if x.strides[-1] != x.itemsize:
        x = np.ascontiguousarray(x)
    return x.view(np.result_type(x.dtype, np.complex64))[..., 0]


def _angle(x: Array) -> Array:
    return np.angle(x) if x.dtype.kind == "c" else np.where(np.isnan(x), x, (x < 0) * x.dtype.type(math.pi))


def _angle_pullback(xp: Operations, g: Tensor, x: Tensor) -> Tensor:
    if not xp.is_complex(x):
        return xp.zeros_like(g)
    length = xp.where(x == 0, 1, xp.abs(x))  # no NaN behind a mask: forward mode would propagate it
    slopes = xp.where(x == 0, 0, g * (x / length * 1j) / length)
    return bent(xp, slopes, x, x == 0)


def _sgn_pullback(xp: Operations, g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """The part of g that changes the phase of x; the sign of a real number has derivative 0."""
    if not xp.is_complex(x):
        return xp.zeros_like(g)
    return xp.where(y == 0, 0, (g - xp.real(g * xp.conj(y)) * y) / xp.where(y == 0, 1, xp.abs(x)))


WRITTEN: OfComplex = {"complex": "as written"}

# fmt: off
#                              name              pullback per input
real            = linear("real",            lambda xp, g: xp.complex_of(g, xp.zeros_like(g)),
                         forward=lambda x, *, source=None: x.real,          title="SelectBackward0", view=True, **WRITTEN)
imag            = linear("imag",            lambda xp, g: xp.complex_of(xp.zeros_like(g), g),
                         forward=lambda x, *, source=None: x.imag,          title="SelectBackward0", view=True, **WRITTEN)
view_as_real    = linear("view_as_real",    lambda xp, g: xp.view_as_complex(g), forward=_view_as_real, view=True, **WRITTEN)
view_as_complex = linear("view_as_complex", lambda xp, g: xp.view_as_real(g), forward=_view_as_complex, view=True, **WRITTEN)
complex_of      = elementwise("complex_of", lambda xp, g: xp.real(g),
                                            lambda xp, g: xp.imag(g),
                              forward=_complex_of, inputs=("a", "b"),       title="ComplexBackward0", **WRITTEN)
angle           = elementwise("angle",      _angle_pullback, forward=_angle, push=pushed_at_zero(_angle_pullback), **WRITTEN)
sgn             = elementwise("sgn",        _sgn_pullback,   definition=lambda xp, x: xp.sign(x), **WRITTEN)
# fmt: on
