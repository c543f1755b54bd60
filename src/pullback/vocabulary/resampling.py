"""Resampling of images: interpolation, sampling at grid points, and pixels moved between channels and positions."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core.shapes import parse_sizes
from .._core.sites import warn
from .._core.values import require_tensor, require_tensors
from ..ops.resampling import Taps
from . import arithmetic, bits, rounding, shapes
from .pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from .promotion import cast

if TYPE_CHECKING:
    from .._core.typing import Sizes, Tensor

Array = np.ndarray[Any, np.dtype[Any]]

# 1. Interpolation: for each output element along an axis, the input elements and their weights


def _source(length: int, size: int, scale: float | None, corners: bool) -> Array:
    """The positions of the output elements along an axis, in units of input elements."""
    places = np.arange(length)
    if corners:
        return places * ((size - 1) / (length - 1) if length > 1 else 0.0)
    return (places + 0.5) * (1 / scale if scale else size / length) - 0.5


def _nearest(size: int, length: int, scale: float | None, corners: bool, *, centre: float = 0.0) -> Taps:
    step = np.float32(1 / scale if scale else size / length)  # torch computes these positions in float32
    columns = np.floor((np.arange(length, dtype=np.float32) + np.float32(centre)) * step).astype(np.int64)
    return Taps(np.arange(length), np.minimum(columns, size - 1), None, length, size)


def _linear(size: int, length: int, scale: float | None, corners: bool) -> Taps:
    source = np.arange(length) if length == size else np.maximum(_source(length, size, scale, corners), 0)
    first = np.minimum(source.astype(np.int64), size - 1)
    share = np.clip(source - first, 0, 1)
    columns = np.stack([first, np.minimum(first + 1, size - 1)])
    return Taps(np.tile(np.arange(length), 2), columns.reshape(-1), np.concatenate([1 - share, share]), length, size)


def cubic_weights(t: Any, slope: float = -0.75) -> tuple[Any, ...]:
    """The weights of four neighbors at -1, 0, 1 and 2, of a point at t between 0 and 1.

    They are those of cubic convolution (Keys, IEEE Trans. ASSP 29, 1981), whose `slope` torch takes to be -0.75.
    """

    def near(d: Any) -> Any:
        return ((slope + 2) * d - (slope + 3)) * d * d + 1

    def far(d: Any) -> Any:
        return ((slope * d - 5 * slope) * d + 8 * slope) * d - 4 * slope

    return far(t + 1), near(t), near(1 - t), far(2 - t)


def _cubic(size: int, length: int, scale: float | None, corners: bool) -> Taps:
    source = _source(length, size, scale, corners)
    first = np.floor(source).astype(np.int64)
    columns = np.clip(np.stack([first + i for i in range(-1, 3)]), 0, size - 1)
    weights = np.concatenate(cubic_weights(source - first))
    return Taps(np.tile(np.arange(length), 4), columns.reshape(-1), weights, length, size)


def _triangle(x: Array) -> Array:
    return np.maximum(1 - np.abs(x), 0)


def _keys(x: Array) -> Array:
    far, near, _, _ = cubic_weights(np.abs(x) - np.floor(np.abs(x)), -0.5)
    return np.where(np.abs(x) < 1, near, np.where(np.abs(x) < 2, far, 0))


def _lanczos(x: Array) -> Array:
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


FILTERS: dict[str, tuple[Callable[[Array], Any], int]] = {
    "bilinear": (_triangle, 1),
    "bicubic": (_keys, 2),
    "lanczos": (_lanczos, 3),
}


def _smoothed(size: int, length: int, scale: float | None, corners: bool, *, mode: str) -> Taps:
    """A filter as wide as the spacing of the output elements, which prevents aliasing."""
    function, reach = FILTERS[mode]
    step = 1 / scale if scale else size / length
    if corners:
        step = (size - 1) / (length - 1) if length > 1 else 0.0
    width = max(step, 1.0)
    centre = step * (np.arange(length) + 0.5)
    start = np.maximum((centre - reach * width + 0.5).astype(np.int64), 0)
    end = np.minimum((centre + reach * width + 0.5).astype(np.int64), size)
    columns = start[:, None] + np.arange(int((end - start).max(initial=0)))
    inside = columns < end[:, None]
    weights = np.where(inside, function((columns - centre[:, None] + 0.5) / width), 0)
    weights /= weights.sum(1, keepdims=True)
    rows = np.broadcast_to(np.arange(length)[:, None], columns.shape)
    return Taps(rows[inside], columns[inside], weights[inside], length, size)


METHODS: dict[str, tuple[Callable[..., Taps], int | None]] = {  # and the number of axes, if only one is supported
    "nearest": (_nearest, None),
    "nearest-exact": (functools.partial(_nearest, centre=0.5), None),
    "linear": (_linear, 1),
    "bilinear": (_linear, 2),
    "trilinear": (_linear, 3),
    "bicubic": (_cubic, 2),
}


@functools.lru_cache(maxsize=256)
def _taps(mode: str, smooth: bool, size: int, length: int, scale: float | None, corners: bool) -> Taps:
    if smooth:
        return _smoothed(size, length, scale, corners, mode=mode)
    return METHODS[mode][0](size, length, scale, corners)


MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"
BYTES = ("nearest", "nearest-exact", "bilinear", "bicubic", "lanczos")
"""The modes that accept images of uint8."""
AREAS = {1: adaptive_avg_pool1d, 2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}


def _check_mode(input: Tensor, mode: str, align_corners: bool | None, antialias: bool) -> None:
    if mode not in MODES.split(" | ") or input.ndim not in (3, 4, 5):
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.ndim}D) for the modes: {MODES} (got {mode})"
        )
    if align_corners is not None and mode not in ("linear", "bilinear", "bicubic", "trilinear"):
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    if (antialias and not (mode in FILTERS and input.ndim == 4)) or (mode == "lanczos" and not antialias):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input; "
            f"lanczos requires it: got mode {mode!r}, antialias={antialias} and {input.ndim} dimensions"
        )
    axes = METHODS[mode][1] if mode in METHODS else None
    if axes is not None and input.ndim != axes + 2:
        raise NotImplementedError(f"Got {input.ndim}D input, but {mode} mode needs {axes + 2}D input")
    if input._dtype.kind != "f" and not (input._dtype == np.uint8 and mode in BYTES):
        name = f"compute_indices_weights_{mode}"
        raise NotImplementedError(f'"{name}" not implemented for {input._type_name!r}: convert first, x.float()')


def _sized(input: Tensor, size: Any, scale_factor: Any, recompute: bool | None) -> tuple[list[int], list[float | None]]:
    """The lengths of the output, and the scale factors that determine its positions, if they do."""
    have = list(input.shape[2:])
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if size is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        lengths = list(parse_sizes((size,), "interpolate", "size"))
        if not isinstance(size, (tuple, list)):
            lengths = lengths * len(have)
        if len(lengths) != len(have):
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of "
                f"{have} and output size of {size}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and output "
                "size in (o1, o2, ...,oK) format."
            )
        return lengths, [None] * len(have)
    factors = list(scale_factor) if isinstance(scale_factor, (tuple, list)) else [scale_factor] * len(have)
    if len(factors) != len(have):
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial dimensions "
            f"of {have} and scale_factor of shape {scale_factor}. Please provide input tensor in (N, C, d1, d2, ...,dK) "
            "format and scale_factor in (s1, s2, ...,sK) format."
        )
    if not all(abs(n * float(factor)) < 1 << 63 for n, factor in zip(have, factors, strict=True)):
        raise RuntimeError(
            f"value cannot be converted to type int64_t without overflow: scale_factor is {scale_factor}"
        )
    lengths = [math.floor(n * float(factor)) for n, factor in zip(have, factors, strict=True)]
    return lengths, [None] * len(have) if recompute else [float(factor) for factor in factors]


def interpolate(
    input: Tensor, size: Sizes | None = None, scale_factor: float | Sequence[float] | None = None, mode: str = "nearest", align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> Tensor:  # fmt: skip
    """Signals, images or volumes, (batch, channels, *lengths), interpolated to another size.

    Arguments as for `nn.Upsample`.

    Parameters
    ----------
    mode
        'nearest', 'nearest-exact', 'linear', 'bilinear', 'bicubic', 'trilinear', 'lanczos' (with `antialias`) or
        'area'.
    align_corners
        Whether the centers of the first and last elements stay in place; otherwise their outer edges do.
    antialias
        Smooth images that shrink, so that no new patterns arise.

    >>> import pullback
    >>> x = pullback.tensor([[[0.0, 4.0]]])
    >>> pullback.nn.functional.interpolate(x, size=5, mode="linear", align_corners=True)
    tensor([[[0., 1., 2., 3., 4.]]])
    """
    require_tensor("interpolate", "input", input)
    _check_mode(input, mode, align_corners, antialias)
    lengths, factors = _sized(input, size, scale_factor, recompute_scale_factor)
    if min(*lengths, *input.shape[2:]) < 1:
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input {list(input.shape[2:])} and output {lengths}"
        )
    if mode == "area":
        return AREAS[input.ndim - 2](input, lengths)
    axes = list(zip(range(2, input.ndim), lengths, factors, strict=True))
    bytes_ = input._dtype == np.uint8 and mode in FILTERS
    if bytes_:  # rounded after every axis, so their order matters; as in torch
        axes.reverse()
    if bytes_ or antialias:  # as in torch, an axis that keeps its length stays as it is, whatever its factor
        axes = [(axis, length, factor) for axis, length, factor in axes if length != input.shape[axis]]
    result = input if axes else ops.clone(input)
    for axis, length, factor in axes:
        taps = _taps(mode, antialias, input.shape[axis], length, factor, bool(align_corners))
        result = ops.resample(result, axis=axis, taps=taps)
    return result


def upsample(
    input: Tensor,
    size: Sizes | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """`interpolate` under its older name; arguments as for `interpolate`."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(
    input: Tensor, size: Sizes | None = None, scale_factor: float | Sequence[float] | None = None
) -> Tensor:
    """`interpolate` with mode 'nearest'; arguments as for `interpolate`.

    >>> import pullback
    >>> pullback.nn.functional.upsample_nearest(pullback.tensor([[[[1.0, 2.0]]]]), scale_factor=2)
    tensor([[[[1., 1., 2., 2.],
              [1., 1., 2., 2.]]]])
    """
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(
    input: Tensor, size: Sizes | None = None, scale_factor: float | Sequence[float] | None = None
) -> Tensor:
    """`interpolate` with mode 'bilinear' and aligned corners; arguments as for `interpolate`.

    >>> import pullback
    >>> pullback.nn.functional.upsample_bilinear(pullback.tensor([[[[0.0, 2.0]]]]), size=(1, 3))
    tensor([[[[0., 1., 2.]]]])
    """
    return interpolate(input, size, scale_factor, "bilinear", align_corners=True)


# 2. Samples of images at the points of a grid


def _clipped(place: Tensor, size: int) -> Tensor:
    """Positions clamped to the image; clamped ones get no gradient, as in torch."""
    known = place.detach()
    return arithmetic.where((known > 0) & (known < size - 1), place, arithmetic.clamp(known, 0, size - 1))


def _reflected(place: Tensor, size: int, corners: bool) -> Tensor:
    """Positions outside reflected at the centers (corners) or the outer edges of the first and last elements."""
    low, span = (0.0, size - 1.0) if corners else (-0.5, float(size))
    if span == 0:
        return place * 0
    known = place.detach() - low
    sign = 1 - 2 * cast(known < 0, known._dtype)
    turns = rounding.floor(known * sign / span)
    inward = (place - low) * sign - turns * span
    return arithmetic.where(turns % 2 == 0, inward, span - inward) + low


def _inside(place: Tensor, size: int, padding_mode: str, corners: bool) -> Tensor:
    if padding_mode == "zeros":
        return place
    return _clipped(_reflected(place, size, corners) if padding_mode == "reflection" else place, size)


def _neighbours(point: Any, size: int, mode: str, padding_mode: str, corners: bool) -> list[tuple[Any, Any, Any]]:
    """For points along an axis, from -1 to 1: each neighbor's index, whether it is inside, and its weight."""
    place = (point + 1) * ((size - 1) / 2) if corners else ((point + 1) * size - 1) / 2
    if mode != "bicubic":
        place = _inside(place, size, padding_mode, corners)
    known = place.detach()
    if mode == "nearest":
        found = [
            (
                rounding.round(known),
                ops.attached(known.interpreter.wrap(np.ones(known.shape, known._dtype), None), place),
            )
        ]
    else:
        first = rounding.floor(known)
        share = place - first
        if mode == "bilinear":
            found = [(first, 1 - share), (first + 1, share)]
        else:
            found = [(first + i, weight) for i, weight in zip(range(-1, 3), cubic_weights(share), strict=True)]
            found = [(_inside(at, size, padding_mode, corners), weight) for at, weight in found]
    last = size - 1
    return [
        (
            cast(arithmetic.where(at >= 0, arithmetic.clamp(at, 0, last), 0), np.dtype(np.int64)),  # NaN becomes 0
            (at >= 0) & (at <= last),
            weight,
        )
        for at, weight in found
    ]


def _check_grid(input: Tensor, grid: Tensor, mode: str, padding_mode: str) -> None:
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    have = f"input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
    if input.ndim not in (4, 5) or grid.ndim != input.ndim:
        axes = input.ndim - 2
        if grid.ndim and grid.shape[-1] != axes:
            raise RuntimeError(
                f"grid_sampler(): expected grid to have size {axes} in last dimension, but got grid with sizes "
                f"{list(grid.shape)}"
            )
        raise RuntimeError(
            f"grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got {have}"
        )
    if input.shape[0] != grid.shape[0]:
        raise RuntimeError(f"grid_sampler(): expected grid and input to have same batch size, but got {have}")
    if grid.shape[-1] != input.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {input.ndim - 2} in last dimension, but got grid with sizes "
            f"{list(grid.shape)}"
        )
    if 0 in input.shape[2:]:
        raise RuntimeError(
            "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
            f"{list(input.shape)} with dimension {list(input.shape).index(0, 2)} being empty"
        )
    if mode == "bicubic" and input.ndim != 4:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if input._dtype != grid._dtype:
        raise RuntimeError(f"expected scalar type {input._type_name} but found {grid._type_name}: convert the grid")


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """Images, (batch, channels, height, width), sampled at the points (x, y) of a grid, (batch, height, width, 2).

    A point's coordinates run from -1 to 1. Volumes are sampled at points (x, y, z).

    Parameters
    ----------
    grid
        The points.
    mode
        How values between elements are found: 'bilinear', 'nearest' or, of images, 'bicubic'.
    padding_mode
        What lies outside: 'zeros', 'border' (the nearest element) or 'reflection'.
    align_corners
        Whether -1 and 1 are the centers of the outermost elements, rather than their outer edges.

    >>> import pullback
    >>> x = pullback.tensor([[[[0.0, 1.0], [2.0, 3.0]]]])
    >>> grid = pullback.tensor([[[[0.0, 0.0], [1.0, -1.0]]]])
    >>> pullback.nn.functional.grid_sample(x, grid, align_corners=True)
    tensor([[[[1.5000, 1.0000]]]])
    """
    require_tensors("grid_sample", input=input, grid=grid)
    _check_grid(input, grid, mode, padding_mode)
    if align_corners is None:
        _warn_of_corners("grid_sample")
    batch, channels, *size = input.shape
    axes = [
        _neighbours(ops.getitem(grid, index=(..., -1 - i)), n, mode, padding_mode, bool(align_corners))
        for i, n in enumerate(size)
    ]
    steps = [math.prod(size[i + 1 :]) for i in range(len(size))]
    row = (batch, 1, math.prod(grid.shape[1:-1]))
    planes = ops.reshape(input, shape=(batch, channels, math.prod(size)))
    total: Any = None
    for corner in itertools.product(*axes):
        index = functools.reduce(arithmetic.add, (at * step for (at, _, _), step in zip(corner, steps, strict=True)))
        part = ops.gather(planes, ops.reshape(index, shape=row))
        weights = [weight for _, _, weight in corner]
        if padding_mode == "zeros":  # outside, neither factor may be infinite: the other one's slope would be NaN
            there = functools.reduce(bits.logical_and, (there for _, there, _ in corner))
            weights = [arithmetic.where(there, weight, 0) for weight in weights]
            part = arithmetic.where(ops.reshape(there, shape=row), part, 0)
        part = part * ops.reshape(functools.reduce(arithmetic.mul, weights), shape=row)
        total = part if total is None else total + part
    return ops.reshape(total, shape=(batch, channels, *grid.shape[1:-1]))


def _warn_of_corners(name: str) -> None:
    warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
        f"align_corners=True if the old behavior is desired. See the documentation of {name} for details."
    )


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The grid for `grid_sample` of an image size transformed by affine maps, (batch, 2, 3) or (batch, 3, 4).

    Arguments as for `grid_sample`.

    Parameters
    ----------
    theta, size
        A matrix for each image, and their size, (batch, channels, height, width) or (batch, channels, depth, height, width).

    >>> import pullback
    >>> turn = pullback.tensor([[[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]])
    >>> pullback.nn.functional.affine_grid(turn, (1, 1, 2, 2), align_corners=True)[0, 0]
    tensor([[-1.,  1.],
            [-1., -1.]])
    """
    require_tensor("affine_grid", "theta", theta)
    shape = tuple(parse_sizes((size,), "affine_grid", "size"))
    if theta._dtype.kind != "f":
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(shape) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{shape}."
        )
    axes = len(shape) - 2
    if theta.ndim != 3 or tuple(theta.shape[1:]) != (axes, axes + 1):
        raise ValueError(
            f"Expected a batch of {axes}D affine matrices of shape Nx{axes}x{axes + 1} for size {shape}. Got "
            f"{list(theta.shape)}."
        )
    if min(shape) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {list(shape)}")
    if theta.shape[0] != shape[0]:
        raise RuntimeError(f"Expected a matrix for each of the {shape[0]} images of size {shape}, got {theta.shape[0]}")
    if align_corners is None:
        _warn_of_corners("affine_grid")
    elif align_corners and min(shape[2:]) == 1:
        warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This is "
            "not an intended use case of affine_grid. See the documentation of affine_grid for details."
        )
    lines = []
    for n in reversed(shape[2:]):
        line = np.linspace(-1, 1, n) if align_corners and n > 1 else (2 * np.arange(n) + 1) / n - 1
        lines.append(np.zeros(n) if n == 1 else line)
    points = np.meshgrid(*reversed(lines), indexing="ij")[::-1]
    base = np.stack([*points, np.ones(shape[2:])], -1).reshape(-1, axes + 1).astype(theta._dtype)
    grid = ops.matmul(base, ops.matrix_transpose(theta))
    return ops.reshape(grid, shape=(shape[0], *shape[2:], axes))


# 3. Pixels moved between channels and positions


def _images(name: str, input: Tensor) -> tuple[tuple[int, ...], tuple[int, int, int]]:
    """The batch axes of images, and their channels, height and width."""
    require_tensor(name, "input", input)
    if input.ndim < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {input.ndim} dimension(s)"
        )
    *batch, channels, height, width = input.shape
    return tuple(batch), (channels, height, width)


def _exchanged(input: Tensor, batch: tuple[int, ...], parts: tuple[int, ...], order: tuple[int, ...]) -> Tensor:
    """A copy with the axes after the batch split into parts, and these permuted."""
    split = shapes.reshape(input, (*batch, *parts))
    exchanged = shapes.permute(split, (*range(len(batch)), *(len(batch) + i for i in order)))
    return ops.clone(exchanged, order="C")


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Images of r times the height and width, from r * r times as many channels; arguments as for `nn.PixelShuffle`.

    >>> import pullback
    >>> pullback.pixel_shuffle(pullback.arange(4.0).reshape(4, 1, 1), 2)
    tensor([[[0., 1.],
             [2., 3.]]])
    """
    batch, (channels, height, width) = _images("pixel_shuffle", input)
    r = operator.index(upscale_factor)
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
            f"input.size(-3)={channels} is not divisible by {r * r}"
        )
    c = channels // (r * r)
    spread = _exchanged(input, batch, (c, r, r, height, width), (0, 3, 1, 4, 2))
    return shapes.reshape(spread, (*batch, c, height * r, width * r))


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """The inverse of `pixel_shuffle`: images of an r-th of the height and width, with r * r times as many channels.

    Arguments as for `nn.PixelUnshuffle`.

    >>> import pullback
    >>> pullback.pixel_unshuffle(pullback.ones(1, 1, 4, 6), 2).shape
    pullback.Size([1, 4, 2, 3])
    """
    batch, (channels, height, width) = _images("pixel_unshuffle", input)
    r = operator.index(downscale_factor)
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    for what, place, n in (("height", -2, height), ("width", -1, width)):
        if n % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {what} to be divisible by downscale_factor, but input.size({place})={n} is not "
                f"divisible by {r}"
            )
    gathered = _exchanged(input, batch, (channels, height // r, r, width // r, r), (0, 2, 4, 1, 3))
    return shapes.reshape(gathered, (*batch, channels * r * r, height // r, width // r))


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """The channels interleaved: the first of each group, then the second of each, and so on.

    Arguments as for `nn.ChannelShuffle`.

    >>> import pullback
    >>> pullback.channel_shuffle(pullback.arange(4.0).reshape(1, 4, 1), 2).flatten()
    tensor([0., 2., 1., 3.])
    """
    require_tensor("channel_shuffle", "input", input)
    if input.ndim < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}")
    if (groups := operator.index(groups)) <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    batch, channels, *size = input.shape
    if channels % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {channels} channels and {groups} groups."
        )
    dealt = _exchanged(input, (batch,), (groups, channels // groups, *size), (1, 0, *range(2, 2 + len(size))))
    return shapes.reshape(dealt, (batch, channels, *size))
