"""Made by scripts/stubs: the types of what is imported when it is first asked for."""

from collections.abc import Sequence as _Sequence
from typing import overload as _overload
from pullback._core.dtypes import dtype as _dtype
from pullback._tensor.tensor import Tensor
from typing import Any as _Any
import numpy as _np

_DType = _dtype | _np.dtype[_Any] | type[_Any] | str

@_overload
def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The Fourier transform along a dim, truncated or padded with zeros to n points."""
@_overload
def fft(input: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The Fourier transform along a dim, truncated or padded with zeros to n points."""
@_overload
def fft2(input: Tensor, s: int | _Sequence[int] | None = None, dim: int | _Sequence[int] | None = ..., norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """`fftn` along the last two dims."""
@_overload
def fft2(input: Tensor, s: int | _Sequence[int] | None = None, axis: int | _Sequence[int] | None = ..., norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """`fftn` along the last two dims."""
def fftfreq(n: int, d: float = 1.0, *, dtype: _DType | None = None, requires_grad: bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The frequencies of the entries of `fft` for n samples with spacing d; negative ones in the second half."""
@_overload
def fftn(input: Tensor, s: int | _Sequence[int] | None = None, dim: int | _Sequence[int] | None = None, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The Fourier transform along several dims, by default all, truncated or padded with zeros to the sizes s."""
@_overload
def fftn(input: Tensor, s: int | _Sequence[int] | None = None, axis: int | _Sequence[int] | None = None, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The Fourier transform along several dims, by default all, truncated or padded with zeros to the sizes s."""
@_overload
def fftshift(input: Tensor, dim: int | _Sequence[int] | None = None) -> Tensor:
    """A copy with the frequency 0 in the middle of each dim."""
@_overload
def fftshift(input: Tensor, axis: int | _Sequence[int] | None = None) -> Tensor:
    """A copy with the frequency 0 in the middle of each dim."""
@_overload
def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The Fourier transform, n real numbers, of a signal given by its first half; the other half is its conjugate."""
@_overload
def hfft(input: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The Fourier transform, n real numbers, of a signal given by its first half; the other half is its conjugate."""
@_overload
def hfft2(input: Tensor, s: int | _Sequence[int] | None = None, dim: int | _Sequence[int] | None = ..., norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """`hfftn` along the last two dims."""
@_overload
def hfft2(input: Tensor, s: int | _Sequence[int] | None = None, axis: int | _Sequence[int] | None = ..., norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """`hfftn` along the last two dims."""
@_overload
def hfftn(input: Tensor, s: int | _Sequence[int] | None = None, dim: int | _Sequence[int] | None = None, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The Fourier transform, real numbers, of a signal given by its first half along the last dim."""
@_overload
def hfftn(input: Tensor, s: int | _Sequence[int] | None = None, axis: int | _Sequence[int] | None = None, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The Fourier transform, real numbers, of a signal given by its first half along the last dim."""
@_overload
def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse of `fft`."""
@_overload
def ifft(input: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse of `fft`."""
@_overload
def ifft2(input: Tensor, s: int | _Sequence[int] | None = None, dim: int | _Sequence[int] | None = ..., norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """`ifftn` along the last two dims."""
@_overload
def ifft2(input: Tensor, s: int | _Sequence[int] | None = None, axis: int | _Sequence[int] | None = ..., norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """`ifftn` along the last two dims."""
@_overload
def ifftn(input: Tensor, s: int | _Sequence[int] | None = None, dim: int | _Sequence[int] | None = None, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse of `fftn`."""
@_overload
def ifftn(input: Tensor, s: int | _Sequence[int] | None = None, axis: int | _Sequence[int] | None = None, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse of `fftn`."""
@_overload
def ifftshift(input: Tensor, dim: int | _Sequence[int] | None = None) -> Tensor:
    """The inverse of `fftshift`."""
@_overload
def ifftshift(input: Tensor, axis: int | _Sequence[int] | None = None) -> Tensor:
    """The inverse of `fftshift`."""
@_overload
def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse of `hfft`."""
@_overload
def ihfft(input: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse of `hfft`."""
@_overload
def ihfft2(input: Tensor, s: int | _Sequence[int] | None = None, dim: int | _Sequence[int] | None = ..., norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """`ihfftn` along the last two dims."""
@_overload
def ihfft2(input: Tensor, s: int | _Sequence[int] | None = None, axis: int | _Sequence[int] | None = ..., norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """`ihfftn` along the last two dims."""
@_overload
def ihfftn(input: Tensor, s: int | _Sequence[int] | None = None, dim: int | _Sequence[int] | None = None, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse of `hfftn`."""
@_overload
def ihfftn(input: Tensor, s: int | _Sequence[int] | None = None, axis: int | _Sequence[int] | None = None, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse of `hfftn`."""
@_overload
def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse of `rfft`: n real numbers, an even number of them unless n is given."""
@_overload
def irfft(input: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse of `rfft`: n real numbers, an even number of them unless n is given."""
@_overload
def irfft2(input: Tensor, s: int | _Sequence[int] | None = None, dim: int | _Sequence[int] | None = ..., norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """`irfftn` along the last two dims."""
@_overload
def irfft2(input: Tensor, s: int | _Sequence[int] | None = None, axis: int | _Sequence[int] | None = ..., norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """`irfftn` along the last two dims."""
@_overload
def irfftn(input: Tensor, s: int | _Sequence[int] | None = None, dim: int | _Sequence[int] | None = None, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse of `rfftn`: real numbers, an even number of them along the last dim unless s is given."""
@_overload
def irfftn(input: Tensor, s: int | _Sequence[int] | None = None, axis: int | _Sequence[int] | None = None, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse of `rfftn`: real numbers, an even number of them along the last dim unless s is given."""
@_overload
def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The first n // 2 + 1 of n points of the Fourier transform of real numbers; the others are their conjugates."""
@_overload
def rfft(input: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The first n // 2 + 1 of n points of the Fourier transform of real numbers; the others are their conjugates."""
@_overload
def rfft2(input: Tensor, s: int | _Sequence[int] | None = None, dim: int | _Sequence[int] | None = ..., norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """`rfftn` along the last two dims."""
@_overload
def rfft2(input: Tensor, s: int | _Sequence[int] | None = None, axis: int | _Sequence[int] | None = ..., norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """`rfftn` along the last two dims."""
def rfftfreq(n: int, d: float = 1.0, *, dtype: _DType | None = None, requires_grad: bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The frequencies of the entries of `rfft` for n samples with spacing d."""
@_overload
def rfftn(input: Tensor, s: int | _Sequence[int] | None = None, dim: int | _Sequence[int] | None = None, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The Fourier transform of real numbers along several dims: half of it along the last."""
@_overload
def rfftn(input: Tensor, s: int | _Sequence[int] | None = None, axis: int | _Sequence[int] | None = None, norm: str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The Fourier transform of real numbers along several dims: half of it along the last."""
