"""Discrete Fourier transforms times a scale, along axes whose lengths do not change.

`fft` maps complex numbers to complex numbers. `rfft` maps real numbers to the first half of their spectrum, whose other
half is its conjugate, and `irfft` maps such a half to real numbers. All follow torch's convention of complex gradients:
the pullback is the conjugate transpose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._core.primitives import linear

if TYPE_CHECKING:
    from .._core.typing import Array, NumpyType, Operations, Tensor


def _fft_forward(x: Array, *, axes: tuple[int, ...], inverse: bool, scale: float) -> Array:
    if len(axes) == 1:  # NumPy's function for a single axis has less overhead
        out = np.fft.ifft(x, None, axes[0], "forward") if inverse else np.fft.fft(x, None, axes[0])
    elif axes:
        out = np.fft.ifftn(x, None, axes, "forward") if inverse else np.fft.fftn(x, None, axes)
    else:
        out = x.copy()
    return _scaled(out, scale, x.dtype)


def _rfft_forward(x: Array, *, axis: int, scale: float) -> Array:
    return _scaled(np.fft.rfft(x, axis=axis), scale, np.result_type(x.dtype, np.complex64))


def _irfft_forward(x: Array, *, n: int, axis: int, scale: float) -> Array:
    return _scaled(np.fft.irfft(x, n, axis, norm="forward"), scale, x.real.dtype)


def _scaled(out: Array, scale: float, dtype: NumpyType) -> Array:
    """A transform, scaled and cast to the precision of its input: NumPy 1 computes all in double precision."""
    if scale != 1:
        out = out * scale
    return out.astype(dtype, copy=False)


def _halves(n: int, ndim: int, axis: int, inner: float) -> Array:
    """Factors along half a spectrum: 1 for frequencies that are their own conjugates, `inner` for the others."""
    factors = np.full((n // 2 + 1, *[1] * (ndim - axis - 1)), inner, np.float32)
    factors[0] = 1
    if n % 2 == 0:
        factors[-1] = 1
    return factors


def _rfft(xp: Operations, g: Tensor, x_shape: tuple[int, ...], *, axis: int, scale: float) -> Tensor:
    n = x_shape[axis]
    return xp.irfft(g * xp.asarray(_halves(n, len(x_shape), axis, 0.5)), n=n, axis=axis, scale=scale)


def _irfft(xp: Operations, g: Tensor, x_shape: tuple[int, ...], *, n: int, axis: int, scale: float) -> Tensor:
    return xp.rfft(g, axis=axis, scale=scale) * xp.asarray(_halves(n, len(x_shape), axis, 2))


# fmt: off
fft   = linear("fft",   lambda xp, g, *, axes, inverse, scale: xp.fft(g, axes=axes, inverse=not inverse, scale=scale),
               forward=_fft_forward,   title="FftC2CBackward0", complex="as written", cost=20)
rfft  = linear("rfft",  _rfft,  forward=_rfft_forward,  title="FftR2CBackward0", complex="as written", cost=20)
irfft = linear("irfft", _irfft, forward=_irfft_forward, title="FftC2RBackward0", complex="as written", cost=20)
# fmt: on
