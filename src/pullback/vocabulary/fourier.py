"""Discrete Fourier transforms, differentiable for real and complex tensors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core import errors
from .._core.primitives import Carrier
from .._core.shapes import normalize_axes, normalize_axis
from .._core.values import require_tensor
from .._tape.views import view
from . import rearranging
from .promotion import cast, inexact

if TYPE_CHECKING:
    from .._core.typing import Dim, Sizes, Tensor


# Arguments


def _scale(norm: str | None, count: int, inverse: bool) -> float:
    """The factor by which a transform of `count` points is multiplied."""
    if norm == "ortho":
        return float(count**-0.5)
    if norm not in (None, "backward", "forward"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}": use "backward", "forward" or "ortho"')
    return 1 / count if (norm == "forward") != inverse else 1.0


def _operand(name: str, input: Tensor, *, real: bool = False) -> Tensor:
    """A tensor of floating-point numbers: real ones if the function requires it, else complex ones."""
    if not isinstance(input, Carrier):
        raise errors.no_tensor(f"fft_{name}", "input", 1, input)
    input = inexact(input).contiguous()  # NumPy would preserve the memory order
    if input._dtype.char in "eE":
        raise RuntimeError(f"Unsupported dtype {input._type_name}: convert the input of {name} first, as in x.float()")
    if not real:
        return cast(input, np.result_type(input._dtype, np.complex64))
    if input._dtype.kind == "c":
        raise RuntimeError(
            f"{name} expects a real{'-valued' if name.endswith('n') else ''} input tensor, but got {input._type_name}: it "
            "only supports floating-point dtypes"
        )
    return input


def _axis(input: Tensor, dim: int) -> int:
    if not input.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions: a transform needs an axis")
    return normalize_axis(dim, input.ndim)


def _check_points(n: Any) -> int:
    if isinstance(n, bool) or not hasattr(n, "__index__"):
        raise TypeError(f"argument 'n' must be int, not {type(n).__name__}")
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({int(n)}) specified: a transform has at least one")
    return int(n)


def _plane(name: str, input: Tensor, s: Sizes | None, dim: Dim) -> tuple[list[int | None], tuple[int, ...]]:
    """The requested sizes, None where there is none, and the axes of a transform of several."""
    sizes = None if s is None else [s] if isinstance(s, int) else list(s)
    if dim is not None:
        dims = (dim,) if isinstance(dim, int) else tuple(dim)
        for each in dims:
            _axis(input, each)
        if len({each % input.ndim for each in dims}) < len(dims):
            raise RuntimeError(f"FFT dims must be unique: {name} got {list(dims)}")
        axes = normalize_axes(dims, input.ndim)
    elif sizes is None:
        axes = tuple(range(input.ndim))
    else:
        if len(sizes) > input.ndim:
            raise RuntimeError(f"Got shape with {len(sizes)} values but input tensor only has {input.ndim} dimensions.")
        axes = tuple(range(input.ndim - len(sizes), input.ndim))
    if sizes is None:
        return [None] * len(axes), axes
    if len(sizes) != len(axes):
        raise RuntimeError(
            f"When given, dim and shape arguments must have the same length: {name} got {sizes} and {list(axes)}"
        )
    return [None if size == -1 else _check_points(size) for size in sizes], axes


def resized(input: Tensor, axis: int, n: int) -> Tensor:
    """The first n slices along an axis, with zeros after them if there are fewer."""
    length = input.shape[axis]
    if length > n:
        return view(ops.getitem, input, index=(*[slice(None)] * axis, slice(0, n), ...))
    if length < n:
        shape = (*input.shape[:axis], n, *input.shape[axis + 1 :])
        return ops.scatter_slice(input, shape=shape, index=(*[slice(None)] * axis, slice(0, length), ...))
    return input


# The three kinds of transforms along axes; `rfft` transforms the last axis first, and `irfft` last


def _complex(
    input: Tensor,
    sizes: Iterable[int | None],
    axes: tuple[int, ...],
    norm: str | None,
    *,
    inverse: bool,
    positive: bool | None = None,
) -> Tensor:
    """The complex transform; `inverse` selects the scale, and the sign of the exponent unless `positive` does."""
    count = 1
    for axis, size in zip(axes, sizes, strict=True):
        points = _check_points(input.shape[axis] if size is None else size)
        input = resized(input, axis, points)
        count *= points
    scale = _scale(norm, count, inverse)
    return ops.fft(input, axes=axes, inverse=inverse if positive is None else positive, scale=scale)


def _halved(
    input: Tensor, sizes: list[int | None], axes: tuple[int, ...], norm: str | None, *, inverse: bool = False
) -> Tensor:
    """The transform from real numbers to half a spectrum; `inverse` only selects the scale."""
    *others, last = axes
    size = _check_points(input.shape[last] if sizes[-1] is None else sizes[-1])
    half = ops.rfft(resized(input, last, size), axis=last, scale=_scale(norm, size, inverse))
    return _complex(half, sizes[:-1], tuple(others), norm, inverse=inverse, positive=False) if others else half


def _whole(
    input: Tensor, sizes: list[int | None], axes: tuple[int, ...], norm: str | None, *, inverse: bool = True
) -> Tensor:
    """The transform from half a spectrum to real numbers; `inverse` only selects the scale."""
    *others, last = axes
    size = _check_points(2 * (input.shape[last] - 1) if sizes[-1] is None else sizes[-1])
    if others:
        input = _complex(input, sizes[:-1], tuple(others), norm, inverse=inverse, positive=True)
    half = resized(input, last, size // 2 + 1)
    return ops.irfft(half, n=size, axis=last, scale=_scale(norm, size, inverse))


# One axis


def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The Fourier transform along a dim, truncated or padded with zeros to n points.

    `norm` says which direction is divided by the number of points: "forward", "backward" (the default: only the
    inverse), or "ortho" for both, by its square root.

    >>> import pullback
    >>> pullback.fft.fft(pullback.tensor([1.0, 0.0, 0.0, 0.0]))
    tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    input = _operand("fft", input)
    return _complex(input, [n], (_axis(input, dim),), norm, inverse=False)


def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `fft`.

    >>> import pullback
    >>> pullback.fft.ifft(pullback.fft.fft(pullback.tensor([1.0, 2.0, 3.0, 4.0]))).real
    tensor([1., 2., 3., 4.])
    """
    input = _operand("ifft", input)
    return _complex(input, [n], (_axis(input, dim),), norm, inverse=True)


def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The first n // 2 + 1 of n points of the Fourier transform of real numbers; the others are their conjugates.

    >>> import pullback
    >>> pullback.fft.rfft(pullback.tensor([1.0, 0.0, 0.0, 0.0]))
    tensor([1.+0.j, 1.+0.j, 1.+0.j])
    """
    input = _operand("rfft", input, real=True)
    return _halved(input, [n], (_axis(input, dim),), norm)


def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `rfft`: n real numbers, an even number of them unless n is given.

    >>> import pullback
    >>> half = pullback.fft.rfft(pullback.zeros(5))
    >>> pullback.fft.irfft(half).shape, pullback.fft.irfft(half, n=5).shape
    (pullback.Size([4]), pullback.Size([5]))
    """
    input = _operand("irfft", input)
    return _whole(input, [n], (_axis(input, dim),), norm)


def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The Fourier transform, n real numbers, of a signal given by its first half; the other half is its conjugate.

    >>> import pullback
    >>> pullback.fft.hfft(pullback.tensor([1.0, 0.0, 0.0]))
    tensor([1., 1., 1., 1.])
    """
    input = _operand("hfft", input)
    return _whole(ops.conj(input), [n], (_axis(input, dim),), norm, inverse=False)


def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `hfft`.

    >>> import pullback
    >>> pullback.fft.ihfft(pullback.tensor([1.0, 0.0, 0.0, 0.0])).real
    tensor([0.2500, 0.2500, 0.2500])
    """
    input = _operand("ihfft", input, real=True)
    return ops.conj(_halved(input, [n], (_axis(input, dim),), norm, inverse=True))


# Several axes


def fftn(input: Tensor, s: Sizes | None = None, dim: Dim = None, norm: str | None = None) -> Tensor:
    """The Fourier transform along several dims, by default all, truncated or padded with zeros to the sizes s.

    >>> import pullback
    >>> pullback.fft.fftn(pullback.ones(2, 2))  # all is at frequency 0
    tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])
    """
    input = _operand("fftn", input)
    return _complex(input, *_plane("fftn", input, s, dim), norm, inverse=False)


def ifftn(input: Tensor, s: Sizes | None = None, dim: Dim = None, norm: str | None = None) -> Tensor:
    """The inverse of `fftn`.

    >>> import pullback
    >>> pullback.fft.ifftn(pullback.fft.fftn(pullback.tensor([[1.0, 2.0], [3.0, 4.0]]))).real
    tensor([[1., 2.],
            [3., 4.]])
    """
    input = _operand("ifftn", input)
    return _complex(input, *_plane("ifftn", input, s, dim), norm, inverse=True)


def _some(name: str, input: Tensor, s: Sizes | None, dim: Dim) -> tuple[list[int | None], tuple[int, ...]]:
    sizes, axes = _plane(name, input, s, dim)
    if not axes:
        raise RuntimeError(f"{name} must transform at least one axis")
    return sizes, axes


def rfftn(input: Tensor, s: Sizes | None = None, dim: Dim = None, norm: str | None = None) -> Tensor:
    """The Fourier transform of real numbers along several dims: half of it along the last.

    >>> import pullback
    >>> pullback.fft.rfftn(pullback.ones(2, 4)).real
    tensor([[8., 0., 0.],
            [0., 0., 0.]])
    """
    input = _operand("rfftn", input, real=True)
    return _halved(input, *_some("rfftn", input, s, dim), norm)


def irfftn(input: Tensor, s: Sizes | None = None, dim: Dim = None, norm: str | None = None) -> Tensor:
    """The inverse of `rfftn`: real numbers, an even number of them along the last dim unless s is given.

    >>> import pullback
    >>> half = pullback.fft.rfftn(pullback.zeros(2, 5))
    >>> pullback.fft.irfftn(half).shape, pullback.fft.irfftn(half, s=(2, 5)).shape
    (pullback.Size([2, 4]), pullback.Size([2, 5]))
    """
    input = _operand("irfftn", input)
    return _whole(input, *_some("irfftn", input, s, dim), norm)


def hfftn(input: Tensor, s: Sizes | None = None, dim: Dim = None, norm: str | None = None) -> Tensor:
    """The Fourier transform, real numbers, of a signal given by its first half along the last dim.

    >>> import pullback
    >>> pullback.fft.hfftn(pullback.tensor([1 + 0j, 2 + 0j, 3 + 0j])).shape  # 2 * (3 - 1)
    pullback.Size([4])
    """
    input = _operand("hfftn", input)
    return _whole(ops.conj(input), *_some("hfftn", input, s, dim), norm, inverse=False)


def ihfftn(input: Tensor, s: Sizes | None = None, dim: Dim = None, norm: str | None = None) -> Tensor:
    """The inverse of `hfftn`.

    >>> import pullback
    >>> pullback.fft.ihfftn(pullback.ones(2, 4)).real
    tensor([[1., 0., 0.],
            [0., 0., 0.]])
    """
    input = _operand("ihfftn", input, real=True)
    return ops.conj(_halved(input, *_some("ihfftn", input, s, dim), norm, inverse=True))


def fft2(input: Tensor, s: Sizes | None = None, dim: Dim = (-2, -1), norm: str | None = None) -> Tensor:
    """`fftn` along the last two dims.

    >>> import pullback
    >>> pullback.fft.fft2(pullback.ones(2, 2))
    tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])
    """
    return fftn(input, s, dim, norm)


def ifft2(input: Tensor, s: Sizes | None = None, dim: Dim = (-2, -1), norm: str | None = None) -> Tensor:
    """`ifftn` along the last two dims.

    >>> import pullback
    >>> pullback.fft.ifft2(pullback.tensor([[4.0, 0.0], [0.0, 0.0]])).real
    tensor([[1., 1.],
            [1., 1.]])
    """
    return ifftn(input, s, dim, norm)


def rfft2(input: Tensor, s: Sizes | None = None, dim: Dim = (-2, -1), norm: str | None = None) -> Tensor:
    """`rfftn` along the last two dims.

    >>> import pullback
    >>> pullback.fft.rfft2(pullback.ones(2, 4)).shape  # 4 // 2 + 1 frequencies along the last
    pullback.Size([2, 3])
    """
    return rfftn(input, s, dim, norm)


def irfft2(input: Tensor, s: Sizes | None = None, dim: Dim = (-2, -1), norm: str | None = None) -> Tensor:
    """`irfftn` along the last two dims.

    >>> import pullback
    >>> pullback.fft.irfft2(pullback.fft.rfft2(pullback.tensor([[1.0, 2.0], [3.0, 4.0]])))
    tensor([[1., 2.],
            [3., 4.]])
    """
    return irfftn(input, s, dim, norm)


def hfft2(input: Tensor, s: Sizes | None = None, dim: Dim = (-2, -1), norm: str | None = None) -> Tensor:
    """`hfftn` along the last two dims.

    >>> import pullback
    >>> pullback.fft.hfft2(pullback.tensor([[1 + 0j, 0j], [0j, 0j]]))
    tensor([[1., 1.],
            [1., 1.]])
    """
    return hfftn(input, s, dim, norm)


def ihfft2(input: Tensor, s: Sizes | None = None, dim: Dim = (-2, -1), norm: str | None = None) -> Tensor:
    """`ihfftn` along the last two dims.

    >>> import pullback
    >>> pullback.fft.ihfft2(pullback.ones(2, 4)).shape
    pullback.Size([2, 3])
    """
    return ihfftn(input, s, dim, norm)


# The order of frequencies


def fftshift(input: Tensor, dim: Dim = None) -> Tensor:
    """A copy with the frequency 0 in the middle of each dim.

    >>> import pullback
    >>> pullback.fft.fftshift(pullback.fft.fftfreq(4))
    tensor([-0.5000, -0.2500,  0.0000,  0.2500])
    """
    require_tensor("fft_fftshift", "input", input)
    axes = normalize_axes(dim, input.ndim)
    return rearranging.roll(input, tuple([input.shape[axis] // 2 for axis in axes]), axes)


def ifftshift(input: Tensor, dim: Dim = None) -> Tensor:
    """The inverse of `fftshift`.

    >>> import pullback
    >>> pullback.fft.ifftshift(pullback.fft.fftshift(pullback.arange(5)))
    tensor([0, 1, 2, 3, 4])
    """
    require_tensor("fft_ifftshift", "input", input)
    axes = normalize_axes(dim, input.ndim)
    return rearranging.roll(input, tuple([(input.shape[axis] + 1) // 2 for axis in axes]), axes)
