"""Made by scripts/stubs: the types of what is imported when it is first asked for."""

from collections.abc import Sequence as _Sequence
from typing import Any as _Any
from pullback._core.dtypes import dtype as _dtype
from pullback._tensor.tensor import Tensor
from pullback._core.placement import device as _device
import numpy as _np

_Number = bool | int | float | complex
_DType = _dtype | _np.dtype[_Any] | type[_Any] | str

def fft(a: Tensor, n: _Number | None = None, axis: int | _Sequence[int] | None = -1, norm: _Any = None, out: _Any = None) -> Tensor:
    """The Fourier transform along a axis, truncated or padded with zeros to n points."""
def fftfreq(n: int, /, *, d: float = 1.0, dtype: _DType | None = None, device: _device | str | int | None = None) -> Tensor:
    """The frequencies of the entries of `fft` for n samples with spacing d; negative ones in the second half."""
def fftn(a: Tensor, s: int | _Sequence[int] | None = None, axes: int | _Sequence[int] | None = None, norm: _Any = None, out: _Any = None) -> Tensor:
    """The Fourier transform along several axiss, by default all, truncated or padded with zeros to the sizes s."""
def fftshift(x: Tensor, axes: int | _Sequence[int] | None = None) -> Tensor:
    """A copy with the frequency 0 in the middle of each axis."""
def hfft(a: Tensor, n: _Number | None = None, axis: int | _Sequence[int] | None = -1, norm: _Any = None, out: _Any = None) -> Tensor:
    """The Fourier transform, n real numbers, of a signal given by its first half; the other half is its conjugate."""
def ifft(a: Tensor, n: _Number | None = None, axis: int | _Sequence[int] | None = -1, norm: _Any = None, out: _Any = None) -> Tensor:
    """The inverse of `fft`."""
def ifftn(a: Tensor, s: int | _Sequence[int] | None = None, axes: int | _Sequence[int] | None = None, norm: _Any = None, out: _Any = None) -> Tensor:
    """The inverse of `fftn`."""
def ifftshift(x: Tensor, axes: int | _Sequence[int] | None = None) -> Tensor:
    """The inverse of `fftshift`."""
def ihfft(a: Tensor, n: _Number | None = None, axis: int | _Sequence[int] | None = -1, norm: _Any = None, out: _Any = None) -> Tensor:
    """The inverse of `hfft`."""
def irfft(a: Tensor, n: _Number | None = None, axis: int | _Sequence[int] | None = -1, norm: _Any = None, out: _Any = None) -> Tensor:
    """The inverse of `rfft`: n real numbers, an even number of them unless n is given."""
def irfftn(a: Tensor, s: int | _Sequence[int] | None = None, axes: int | _Sequence[int] | None = None, norm: _Any = None, out: _Any = None) -> Tensor:
    """The inverse of `rfftn`: real numbers, an even number of them along the last axis unless s is given."""
def rfft(a: Tensor, n: _Number | None = None, axis: int | _Sequence[int] | None = -1, norm: _Any = None, out: _Any = None) -> Tensor:
    """The first n // 2 + 1 of n points of the Fourier transform of real numbers; the others are their conjugates."""
def rfftfreq(n: int, /, *, d: float = 1.0, dtype: _DType | None = None, device: _device | str | int | None = None) -> Tensor:
    """The frequencies of the entries of `rfft` for n samples with spacing d."""
def rfftn(a: Tensor, s: int | _Sequence[int] | None = None, axes: int | _Sequence[int] | None = None, norm: _Any = None, out: _Any = None) -> Tensor:
    """The Fourier transform of real numbers along several axiss: half of it along the last."""
