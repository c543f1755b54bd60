"""Discrete Fourier transforms by the standard, with gradients.

>>> from pullback import array_api as xp
>>> x = xp.asarray([1.0, 0.0, 0.0, 0.0]).requires_grad_()
>>> xp.fft.rfft(x).detach()
tensor([1.+0.j, 1.+0.j, 1.+0.j], dtype=pullback.complex128)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import fft as _fft
from .._numpy.indexing import SPECTRA as _SPECTRA
from .creation import asarray as _asarray
from .derived import derived as _derived, described as _described

if TYPE_CHECKING:
    from .._core.typing import Device, DType, Tensor

_NAMES = "fft fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftn".split()
__all__ = ["fftfreq", "rfftfreq", *_NAMES]  # noqa: PLE0604  # strings, of the table
globals().update(
    {
        name: _derived(
            __name__, name, _SPECTRA[f"numpy.fft.{name}"], _described(getattr(_fft, name), f"pullback.fft.{name}")
        )
        for name in _NAMES
    }
)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: DType | None = None, device: Device | None = None) -> Tensor:
    """The frequencies of the entries of `fft` for n samples with spacing d; negative ones in the second half.

    >>> from pullback import array_api as xp
    >>> xp.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500], dtype=pullback.float64)
    """
    return _asarray(np.fft.fftfreq(n, d), dtype=dtype, device=device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: DType | None = None, device: Device | None = None) -> Tensor:
    """The frequencies of the entries of `rfft` for n samples with spacing d.

    >>> from pullback import array_api as xp
    >>> xp.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000], dtype=pullback.float64)
    """
    return _asarray(np.fft.rfftfreq(n, d), dtype=dtype, device=device)
