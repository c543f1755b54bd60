"""Pooling: means, maxima and norms over windows, in one, two and three dimensions."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core.shapes import parse_sizes
from .._core.values import outside, require_tensor, require_tensors
from .._numerics import random
from .._tape.views import beside
from ..ops.convolution import Window
from ..ops.pooling import adaptive_spans, lowest
from ..ops.resampling import Taps
from . import arithmetic, load
from .promotion import cast

if TYPE_CHECKING:
    from .._core.typing import Sizes, Tensor

NUMBERS = {1: "one int", 2: "two ints", 3: "three ints"}


def _sizes(name: str, value: object, dims: int, argument: str) -> tuple[int, ...]:
    if type(value) is int:
        return (value,) * dims
    sizes = tuple(parse_sizes((value,), name, argument))
    if len(sizes) not in (1, dims):
        one = f"should contain one int (got {len(sizes)})"
        many = f"must either be a single int, or a tuple of {NUMBERS[dims]}: got {list(sizes)}"
        raise RuntimeError(f"{name}() argument '{argument}' {one}" if dims == 1 else f"{name}: {argument} {many}")
    return sizes * (dims // len(sizes))


def _images(name: str, input: Tensor, dims: int) -> Tensor:
    """The input with a batch axis, checked: only the batch may be empty."""
    require_tensor(name, "input", input)
    shape = list(input.shape)
    if len(shape) not in (dims + 1, dims + 2):
        if dims == 1:
            raise RuntimeError(
                f"{name}: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:{shape}: "
                "Expected 2 to 3 dimensions"
            )
        raise RuntimeError(
            f"non-empty {dims + 1}D or {dims + 2}D (batch mode) tensor expected for input: {name} got shape {shape}"
        )
    inner = shape[len(shape) - dims - 1 :] if len(shape) == dims + 2 else shape
    if 0 in inner:
        if dims == 3:
            place = (1 if len(shape) == 5 else 0) + inner.index(0)
            raise RuntimeError(
                f"{name}: Expected input's non-batch dimensions to have positive length, but input has a shape of {shape} "
                f"and non-batch dimension {place} has length zero!"
            )
        begun = f"{name}: " if dims == 1 else ""
        raise RuntimeError(
            f"{begun}Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with optional 0 dim batch size for input, but "
            f"got:{shape}"
        )
    return input if len(shape) == dims + 2 else ops.reshape(input, shape=(1, *shape))


def _like(result: Tensor, input: Tensor) -> Tensor:
    """A result without the batch axis that was added to its input."""
    return result if result.ndim == input.ndim else beside(ops.reshape, result, shape=tuple(result.shape[1:]))


def _window(
    name: str, dims: int, kernel_size: Sizes, stride: Sizes | None, padding: Sizes, dilation: Sizes = 1
) -> tuple[tuple[int, ...], Window]:
    kernel = _sizes(name, kernel_size, dims, "kernel_size")
    missing = stride is None or stride in ([], ())
    steps = kernel if missing else _sizes(name, stride, dims, "stride")
    around, spread = _sizes(name, padding, dims, "padding"), _sizes(name, dilation, dims, "dilation")
    return kernel, _checked_window(name, kernel, steps, around, spread)


@functools.lru_cache(maxsize=256)
def _checked_window(
    name: str, kernel: tuple[int, ...], steps: tuple[int, ...], around: tuple[int, ...], spread: tuple[int, ...]
) -> Window:
    dims = len(kernel)
    for what, values in (("kernel_size", kernel), ("stride", steps), ("dilation", spread)):
        if min(values) <= 0:
            wrong = next(value for value in values if value <= 0)
            text = f"{name}() {what} must be greater than zero, but got {wrong}"
            raise RuntimeError(text if dims == 1 else f"{what} should not be zero: {text}")
    for k, p, d in zip(kernel, around, spread, strict=True):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > ((k - 1) * d + 1) // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation={d}"
            )
    return Window(steps, around, spread)


def _lengths(name: str, images: Tensor, kernel: tuple[int, ...], window: Window, ceil_mode: bool) -> tuple[int, ...]:
    """The number of windows along each axis; with ceil_mode the last may end outside, but must start inside."""
    channels, *size = images.shape[1:]
    return _counted(name, channels, tuple(size), kernel, window, ceil_mode)


@functools.lru_cache(maxsize=256)
def _counted(
    name: str, channels: int, size: tuple[int, ...], kernel: tuple[int, ...], window: Window, ceil_mode: bool
) -> tuple[int, ...]:
    lengths = []
    for n, k, s, p, d in zip(size, kernel, window.stride, window.padding, window.dilation, strict=True):
        room = n + 2 * p - d * (k - 1) - 1
        length = (room + s - 1 if ceil_mode else room) // s + 1
        lengths.append(length - 1 if ceil_mode and (length - 1) * s >= n + p else length)
    if min(lengths) < 1:
        if len(size) == 1:
            raise RuntimeError(f"{name}() Invalid computed output size: {lengths[0]}")
        have, want = ("x".join(map(str, (channels, *sizes))) for sizes in (size, lengths))
        raise RuntimeError(f"Given input size: ({have}). Calculated output size: ({want}). Output size is too small")
    return tuple(lengths)


def _numeric(name: str, input: Tensor) -> None:
    if input._dtype.kind not in "iuf":
        raise NotImplementedError(f'"{name}" not implemented for {input._type_name!r}: convert first, x.float()')


def _avg_pool(
    dims: int,
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    ceil_mode: bool,
    inside: bool,
    divisor: int | None,
) -> Tensor:
    name = f"avg_pool{dims}d"
    kernel, window = _window(name, dims, kernel_size, stride, padding)
    images = _images(name, input, dims)
    _numeric(name, images)
    if divisor == 0:
        raise RuntimeError("divisor must be not zero: leave divisor_override out, or give the number to divide by")
    lengths = _lengths(name, images, kernel, window, ceil_mode)
    result = ops.window_mean(images, kernel=kernel, window=window, lengths=lengths, divisor=divisor, inside=inside)
    return _like(result, input)


def avg_pool1d(
    input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """The means over windows of signals, (batch, channels, length); arguments as for `nn.AvgPool1d`.

    >>> import pullback
    >>> pullback.nn.functional.avg_pool1d(pullback.tensor([[1.0, 3.0, 5.0, 9.0]]), 2)
    tensor([[2., 7.]])
    """
    return _avg_pool(1, input, kernel_size, stride, padding, ceil_mode, not count_include_pad, None)


def avg_pool2d(
    input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """The means over windows of images, (batch, channels, height, width); arguments as for `nn.AvgPool2d`.

    >>> import pullback
    >>> pullback.nn.functional.avg_pool2d(pullback.arange(8.0).reshape(1, 2, 4), 2)
    tensor([[[2.5000, 4.5000]]])
    """
    return _avg_pool(2, input, kernel_size, stride, padding, ceil_mode, not count_include_pad, divisor_override)


def avg_pool3d(
    input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """The means over windows of volumes, (batch, channels, depth, height, width); arguments as for `nn.AvgPool3d`.

    >>> import pullback
    >>> pullback.nn.functional.avg_pool3d(pullback.ones(1, 2, 4, 4, 4), 2).shape
    pullback.Size([1, 2, 2, 2, 2])
    """
    return _avg_pool(3, input, kernel_size, stride, padding, ceil_mode, not count_include_pad, divisor_override)


@functools.lru_cache(maxsize=256)
def _misses(size: tuple[int, ...], lengths: tuple[int, ...], kernel: tuple[int, ...], window: Window) -> bool:
    """True if a window may lie completely in the padding, on either side of the image."""
    axes = zip(size, lengths, kernel, window.stride, window.padding, window.dilation, strict=True)
    return any(
        d > n and any(all(not 0 <= i * s - p + j * d < n for j in range(k)) for i in range(length))
        for n, length, k, s, p, d in axes
    )


def _around(window: Window) -> list[int]:
    """The padding of a window as an argument of `pad`."""
    return [p for p in reversed(window.padding) for _ in range(2)]


def _max_pool(
    dims: int,
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    dilation: Sizes,
    ceil_mode: bool,
    indices: bool,
) -> Any:
    name = f"max_pool{dims}d"
    kernel, window = _window(name, dims, kernel_size, stride, padding, dilation)
    images = _images(name, input, dims)
    _numeric(name, images)
    lengths = _lengths(name, images, kernel, window, ceil_mode)
    if _misses(tuple(images.shape[2:]), lengths, kernel, window):
        if indices and images.numel():
            raise RuntimeError(
                f"{name}(): return_indices=True where a window has no element of the image: its maximum, -inf, stands "
                f"nowhere. dilation={window.dilation} spreads a window of size {kernel} over the padding on both sides"
            )
        images = load("vocabulary.padding", "pad")(images, _around(window), value=lowest(images._dtype))
        window = window._replace(padding=(0,) * dims)
    values = ops.max_pool(images, kernel=kernel, window=window, lengths=lengths)
    if not indices:
        return _like(values, input)
    return _like(values, input), _like(ops.max_places(images, values, kernel=kernel, window=window), input)


def max_pool1d(
    input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, dilation: Sizes = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:  # fmt: skip
    """The maxima over windows of signals, (batch, channels, length); arguments as for `nn.MaxPool1d`.

    >>> import pullback
    >>> pullback.nn.functional.max_pool1d(pullback.tensor([[1.0, 3.0, 9.0, 5.0]]), 2, return_indices=True)
    (tensor([[3., 9.]]), tensor([[1, 2]]))
    """
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool2d(
    input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, dilation: Sizes = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:  # fmt: skip
    """The maxima over windows of images, (batch, channels, height, width); arguments as for `nn.MaxPool2d`.

    >>> import pullback
    >>> x = pullback.arange(8.0).reshape(1, 2, 4).requires_grad_()
    >>> pullback.nn.functional.max_pool2d(x, 2).sum().backward()
    >>> x.grad
    tensor([[[0., 0., 0., 0.],
             [0., 1., 0., 1.]]])
    """
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(
    input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, dilation: Sizes = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:  # fmt: skip
    """The maxima over windows of volumes; arguments as for `nn.MaxPool3d`.

    >>> import pullback
    >>> pullback.nn.functional.max_pool3d(pullback.arange(8.0).reshape(1, 2, 2, 2), 2)
    tensor([[[[7.]]]])
    """
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def _places(images: Tensor, places: Tensor) -> Tensor:
    """The elements of images at indices into their flattened last axes."""
    shape = tuple(places.shape)
    rows = (*shape[:2], math.prod(shape[2:]))
    planes = ops.reshape(images, shape=(*images.shape[:2], math.prod(images.shape[2:])))
    return ops.reshape(ops.gather(planes, beside(ops.reshape, places, shape=rows)), shape=shape)


def _adaptive(
    kind: str, dims: int, input: Tensor, output_size: int | Sequence[int | None] | None
) -> tuple[Tensor, tuple[int, ...]]:
    """The images and the lengths of an adaptive pool."""
    name = f"adaptive_{kind}_pool{dims}d"
    require_tensor(name, "input", input)
    if input.ndim not in (dims + 1, dims + 2):
        least = f"Input dimension should be at least {dims + 1}: {name} got shape {list(input.shape)}"
        if input.ndim < dims + 1 and dims > 1:
            raise ValueError(least)
        raise RuntimeError(
            f"Expected {dims + 1} to {dims + 2} dimensions, but got {input.ndim}-dimensional tensor for argument #1 'self' "
            f"(while checking arguments for {name})"
        )
    images = input if input.ndim == dims + 2 else ops.reshape(input, shape=(1, *input.shape))
    _numeric(name, images)
    listed = [output_size] if output_size is None else output_size
    if isinstance(listed, (tuple, list)):
        if len(listed) == 1:
            listed = list(listed) * dims
        if len(listed) != dims:
            text = (
                f"output_size must be {dims}" if kind == "avg" else f"internal error: output_size.size() must be {dims}"
            )
            one = f"{name}() argument 'output_size' should contain one int (got {len(listed)})"
            raise RuntimeError(one if dims == 1 else f"{name}: {text}, got {list(listed)}: {name}(): {text}")
        kept = zip(listed, images.shape[2:], strict=True)
        lengths = tuple(parse_sizes(([n if size is None else size for size, n in kept],), name, "output_size"))
    else:
        lengths = tuple(parse_sizes((listed,), name, "output_size")) * dims
    if min(lengths) < 0:
        shown = ", ".join(map(str, lengths))
        shape = [*images.shape[:2], *lengths]
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received {{{shown}}}: Trying to create "
            f"tensor with negative dimension {min(lengths)}: {shape}: adaptive_{kind}_pool2d: elements of output_size must "
            f"be greater than or equal to 0 but received {{{shown}}}"
        )
    if 0 in images.shape[2:]:
        place = input.ndim - dims + list(images.shape[2:]).index(0)
        raise RuntimeError(
            f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes "
            f"{list(input.shape)} with dimension {place} being empty"
        )
    return images, lengths


def _adaptive_mean(dims: int, input: Tensor, output_size: int | Sequence[int | None] | None) -> Tensor:
    images, lengths = _adaptive("avg", dims, input, output_size)
    if images._dtype.kind in "iu":
        raise NotImplementedError(
            f'"adaptive_avg_pool{dims}d" not implemented for {images._type_name!r}: convert first, x.float()'
        )
    size = tuple(images.shape[2:])
    if all(length and n % length == 0 for n, length in zip(size, lengths, strict=True)):
        kernel = tuple(n // length for n, length in zip(size, lengths, strict=True))
        window = Window(kernel, (0,) * dims, (1,) * dims)
        mean = ops.window_mean(images, kernel=kernel, window=window, lengths=lengths, divisor=None, inside=False)
        return _like(mean, input)
    for i, (n, length) in enumerate(zip(images.shape[2:], lengths, strict=True)):
        images = ops.resample(images, axis=i + 2, taps=mean_taps(n, length))
    return _like(images, input)


def mean_taps(size: int, length: int) -> Taps:
    """The sparse matrix of means over regions of nearly equal size that cover an axis."""
    start, end = adaptive_spans(size, length)
    widths = end - start
    rows = np.repeat(np.arange(length), widths)
    columns = np.arange(len(rows)) - np.repeat(np.cumsum(widths) - widths - start, widths)
    return Taps(rows, columns, np.repeat(1 / widths, widths), length, size)


def adaptive_avg_pool1d(input: Tensor, output_size: Sizes) -> Tensor:
    """The means over `output_size` regions that cover the signals; arguments as for `nn.AdaptiveAvgPool1d`.

    >>> import pullback
    >>> pullback.nn.functional.adaptive_avg_pool1d(pullback.tensor([[1.0, 2.0, 3.0, 4.0, 5.0]]), 2)
    tensor([[2., 4.]])
    """
    return _adaptive_mean(1, input, output_size)


def adaptive_avg_pool2d(input: Tensor, output_size: int | Sequence[int | None] | None) -> Tensor:
    """The means over `output_size` regions that cover the images; arguments as for `nn.AdaptiveAvgPool2d`.

    >>> import pullback
    >>> pullback.nn.functional.adaptive_avg_pool2d(pullback.arange(8.0).reshape(1, 2, 4), (1, 2))
    tensor([[[2.5000, 4.5000]]])
    """
    return _adaptive_mean(2, input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: int | Sequence[int | None] | None) -> Tensor:
    """The means over `output_size` regions that cover the volumes; arguments as for `nn.AdaptiveAvgPool3d`.

    >>> import pullback
    >>> pullback.nn.functional.adaptive_avg_pool3d(pullback.ones(1, 2, 4, 6, 8), (2, None, 1)).shape
    pullback.Size([1, 2, 2, 6, 1])
    """
    return _adaptive_mean(3, input, output_size)


def _adaptive_max(dims: int, input: Tensor, output_size: Any, return_indices: bool) -> Any:
    images, lengths = _adaptive("max", dims, input, output_size)
    places = ops.adaptive_places(images, lengths=lengths)
    values = _like(_places(images, places), input)
    return (values, _like(places, input)) if return_indices else values


def adaptive_max_pool1d(input: Tensor, output_size: Sizes, return_indices: bool = False) -> Tensor:
    """The maxima over `output_size` regions that cover the signals; arguments as for `nn.AdaptiveMaxPool1d`.

    >>> import pullback
    >>> pullback.nn.functional.adaptive_max_pool1d(pullback.tensor([[1.0, 4.0, 2.0, 3.0]]), 2)
    tensor([[4., 3.]])
    """
    return _adaptive_max(1, input, output_size, return_indices)


def adaptive_max_pool2d(
    input: Tensor, output_size: int | Sequence[int | None] | None, return_indices: bool = False
) -> Tensor:
    """The maxima over `output_size` regions that cover the images; arguments as for `nn.AdaptiveMaxPool2d`.

    >>> import pullback
    >>> pullback.nn.functional.adaptive_max_pool2d(pullback.arange(8.0).reshape(1, 2, 4), (1, 2))
    tensor([[[5., 7.]]])
    """
    return _adaptive_max(2, input, output_size, return_indices)


def adaptive_max_pool3d(
    input: Tensor, output_size: int | Sequence[int | None] | None, return_indices: bool = False
) -> Tensor:
    """The maxima over `output_size` regions that cover the volumes; arguments as for `nn.AdaptiveMaxPool3d`.

    >>> import pullback
    >>> pullback.nn.functional.adaptive_max_pool3d(pullback.ones(1, 2, 4, 6, 8), (2, None, 1)).shape
    pullback.Size([1, 2, 2, 6, 1])
    """
    return _adaptive_max(3, input, output_size, return_indices)


def _of_each_axis(name: str, value: Any, dims: int, argument: str) -> tuple[Any, ...]:
    """One value for each axis, from a single value or a sequence with one for each."""
    if not isinstance(value, (tuple, list)):
        return (value,) * dims
    if len(value) != dims:
        many = "Ints" if dims == 2 else "three Ints"
        raise RuntimeError(f"{name}: {argument} must either be a single Int or tuple of {many}, got {list(value)}")
    return tuple(value)


def _checked_samples(images: Tensor, samples: Tensor) -> Tensor:
    """Given random samples, checked: one for each axis of each channel, for at least as many images as there are."""
    dims = images.ndim - 2
    if samples._dtype != images._dtype:
        raise RuntimeError(
            f"Expect _random_samples to have the same dtype as input: they have {samples.dtype} and {images.dtype}"
        )
    if samples.ndim != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {samples.ndim}")
    batch, channels, axes = samples.shape
    if batch < images.shape[0]:
        raise RuntimeError(
            f"Expect _random_samples.size(0) no less then input batch size: got {batch} for {images.shape[0]}"
        )
    if channels != images.shape[1]:
        raise RuntimeError(
            f"Expect _random_samples.size(1) equals to input channel size: got {channels} for {images.shape[1]}"
        )
    if axes != dims:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {dims}; got {axes}.")
    return samples.detach()[: images.shape[0]]


def _fractional(
    dims: int, input: Tensor, kernel_size: Any, output_size: Any, output_ratio: Any, indices: bool, samples: Any
) -> Any:
    name = f"fractional_max_pool{dims}d"
    kernel = _of_each_axis(name, kernel_size, dims, "kernel_size")
    images = _images(name, input, dims)
    _numeric(name, images)
    size = tuple(images.shape[2:])
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is None:
        ratios = _of_each_axis(name, output_ratio, dims, "output_ratio")
        lengths = tuple(int(n * ratio) for n, ratio in zip(size, ratios, strict=True))
    else:
        lengths = _of_each_axis(name, output_size, dims, "output_size")
    for what, n, k, length in zip(("time", "height", "width")[3 - dims :], size, kernel, lengths, strict=True):
        if length < 0 or length + k - 1 > n:
            raise RuntimeError(
                f"{name}(): pool {what} {k} too large relative to input {what} {n}: {length} windows do not fit in"
            )
    if samples is None:
        samples = random.uniform((*images.shape[:2], dims), images._dtype)
    else:
        samples = _checked_samples(images, samples)
    if dims == 2:  # torch's samples start with the width in two dimensions, but with the depth in three
        samples = samples[..., ::-1]
    places = ops.fractional_places(images, samples, kernel=kernel, lengths=lengths)
    values = _like(_places(images, places), input)
    return (values, _like(places, input)) if indices else values


def fractional_max_pool2d(
    input: Tensor, kernel_size: Sizes, output_size: Sizes | None = None, output_ratio: float | Sequence[float] | None = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The maxima over windows of images at random positions; arguments as for `nn.FractionalMaxPool2d`.

    >>> from pullback import arange, nn
    >>> nn.functional.fractional_max_pool2d(arange(25.0).reshape(1, 5, 5), 2, output_size=3).shape
    pullback.Size([1, 3, 3])
    """
    return _fractional(2, input, kernel_size, output_size, output_ratio, return_indices, _random_samples)


def fractional_max_pool3d(
    input: Tensor, kernel_size: Sizes, output_size: Sizes | None = None, output_ratio: float | Sequence[float] | None = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The maxima over windows of volumes at random positions; arguments as for `nn.FractionalMaxPool3d`.

    >>> import pullback
    >>> pullback.nn.functional.fractional_max_pool3d(pullback.ones(1, 5, 5, 5), 2, output_ratio=0.6).shape
    pullback.Size([1, 3, 3, 3])
    """
    return _fractional(3, input, kernel_size, output_size, output_ratio, return_indices, _random_samples)


def _max_unpool(
    dims: int,
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    output_size: Sequence[int] | None,
) -> Tensor:
    name = f"max_unpool{dims}d"
    require_tensors(name, input=input, indices=indices)
    kernel = _sizes(name, kernel_size, dims, "kernel_size")
    steps = kernel if stride is None else _sizes(name, stride, dims, "stride")
    around = _sizes(name, padding, dims, "padding")
    if indices._dtype != np.int64:
        raise RuntimeError(f"elements in indices should be type int64 but got: {indices._type_name}")
    if tuple(indices.shape) != tuple(input.shape):
        extra = [1] if dims == 1 else []
        raise RuntimeError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({[*input.shape, *extra]}) but got indices tensor with shape: {[*indices.shape, *extra]}"
        )
    images, places = _images(name, input, dims), _images(name, indices, dims)
    axes = zip(images.shape[2:], kernel, steps, around, strict=True)
    usual = tuple((n - 1) * s + k - 2 * p for n, k, s, p in axes)
    size = usual if output_size is None else _unpooled(tuple(output_size), usual, steps)
    rows = (*images.shape[:2], math.prod(images.shape[2:]))
    flat = ops.reshape(places, shape=rows)
    if (wrong := outside(flat, math.prod(size))) is not None:
        raise RuntimeError(
            f"Found an invalid max index: {wrong} (output volumes are of size {'x'.join(map(str, size))})"
        )
    result = ops.put(ops.reshape(images, shape=rows), flat, size=math.prod(size))
    return _like(ops.reshape(result, shape=(*images.shape[:2], *size)), input)


def _unpooled(given: tuple[int, ...], usual: tuple[int, ...], stride: tuple[int, ...]) -> tuple[int, ...]:
    """The requested size of an unpooled image, which must be one from which pooling gives the input's size."""
    size = given[2:] if len(given) == len(usual) + 2 else given
    if len(size) != len(usual):
        raise ValueError(
            f"output_size should be a sequence containing {len(usual)} or {len(usual) + 2} elements, but it has a length of "
            f"'{len(size)}'"
        )
    for i, (n, middle, step) in enumerate(zip(size, usual, stride, strict=True)):
        if not middle - step < n < middle + step:
            raise ValueError(
                f'invalid output_size "{size}" (dim {i} must be between {middle - step} and {middle + step})'
            )
    return size


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """The inverse of max_pool1d: maxima at their indices, zeros elsewhere; arguments as for `nn.MaxUnpool1d`.

    Parameters
    ----------
    indices
        Where the maxima were.
    output_size
        The lengths of the result, if pooling gives the input from several.

    >>> import pullback
    >>> F = pullback.nn.functional
    >>> pooled, places = F.max_pool1d(pullback.tensor([[1.0, 3.0, 9.0, 5.0]]), 2, return_indices=True)
    >>> F.max_unpool1d(pooled, places, 2)
    tensor([[0., 3., 9., 0.]])
    """
    return _max_unpool(1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """The inverse of max_pool2d: maxima at their indices, zeros elsewhere; arguments as for `max_unpool1d`.

    >>> from pullback import nn, tensor
    >>> values, places = nn.functional.max_pool2d(tensor([[[1.0, 3.0], [2.0, 0.0]]]), 2, return_indices=True)
    >>> nn.functional.max_unpool2d(values, places, 2)
    tensor([[[0., 3.],
             [0., 0.]]])
    """
    return _max_unpool(2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """The inverse of max_pool3d: maxima at their indices, zeros elsewhere; arguments as for `max_unpool1d`.

    >>> from pullback import arange, nn
    >>> values, places = nn.functional.max_pool3d(arange(8.0).reshape(1, 2, 2, 2), 2, return_indices=True)
    >>> nn.functional.max_unpool3d(values, places, 2).flatten()
    tensor([0., 0., 0., 0., 0., 0., 0., 7.])
    """
    return _max_unpool(3, input, indices, kernel_size, stride, padding, output_size)


def _lp_pool(
    dims: int, input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None, ceil_mode: bool
) -> Tensor:
    if abs(norm_type) == math.inf:
        sign = 1 if norm_type > 0 else -1
        return _max_pool(dims, input.abs() * sign, kernel_size, stride, 0, 1, ceil_mode, indices=False) * sign
    if input._dtype.kind == "f" and input._dtype.itemsize < 8:  # powers of single precision may be out of its range
        wide = cast(input, np.dtype(np.float64))
        return cast(_lp_pool(dims, wide, norm_type, kernel_size, stride, ceil_mode), input._dtype)
    powers = arithmetic.pow(input, norm_type)
    mean = _avg_pool(dims, powers, kernel_size, stride, 0, ceil_mode, inside=False, divisor=None)
    count = math.prod(_sizes(f"lp_pool{dims}d", kernel_size, dims, "kernel_size"))
    total = arithmetic.sign(mean) * arithmetic.relu(arithmetic.abs(mean)) * count
    return arithmetic.pow(total, 1 / norm_type)


def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
) -> Tensor:
    """The roots of sums of powers over windows of signals, without absolute values; arguments as for `nn.LPPool1d`.

    >>> import pullback
    >>> pullback.nn.functional.lp_pool1d(pullback.tensor([[3.0, 4.0, 6.0, 8.0]]), 2, 2)
    tensor([[ 5., 10.]])
    """
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norms over windows of images, without absolute values; arguments as for `nn.LPPool2d`.

    >>> import pullback
    >>> pullback.nn.functional.lp_pool2d(pullback.tensor([[[3.0, 4.0], [0.0, 0.0]]]), 2, 2)
    tensor([[[5.]]])
    """
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norms over windows of volumes, without absolute values; arguments as for `nn.LPPool3d`.

    >>> import pullback
    >>> pullback.nn.functional.lp_pool3d(pullback.ones(1, 2, 2, 2), 1, 2)
    tensor([[[[8.]]]])
    """
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)
