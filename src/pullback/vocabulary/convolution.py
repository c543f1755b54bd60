"""Convolutions in one, two and three dimensions, their transposes, and unfold and fold (im2col and col2im)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import ops
from .._core import errors
from .._core.shapes import parse_sizes
from .._core.values import require_tensor, require_tensors
from ..ops.convolution import Window
from .promotion import together

if TYPE_CHECKING:
    from .._core.typing import Sizes, Tensor


# C++'s names of dtypes, which occur in torch's errors for mixed convolutions
_NAMES = {
    "uint8": "unsigned char", "int8": "signed char", "int16": "short int", "int32": "int", "int64": "long int",
    "bfloat16": "c10::BFloat16", "float16": "c10::Half", "float32": "float", "float64": "double", "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>", "bool": "bool",
}  # fmt: skip


def per_axis(name: str, value: object, dims: int, argument: str) -> tuple[int, ...]:
    """One int for all axes of a window, or one for each axis, as a tuple with one for each."""
    sizes = parse_sizes((value,), name, argument)
    if len(sizes) == 1:
        return tuple(sizes) * dims
    if len(sizes) != dims:
        raise RuntimeError(
            f"expected {argument} to be a single integer value or a list of {dims} values to match the {name} dimensions, "
            f"but got {argument}={list(sizes)}"
        )
    return tuple(sizes)


def batched(name: str, input: Tensor, dims: int) -> Tensor:
    """The input of a function of images, with a batch axis added to a single image."""
    if input.ndim == dims + 2:
        return input
    if input.ndim == dims + 1:
        return ops.reshape(input, shape=(1, *input.shape))
    raise RuntimeError(
        f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {name}, but got input of size: "
        f"{list(input.shape)}"
    )


def unbatched(result: Tensor, input: Tensor) -> Tensor:
    """A result without the batch axis that was added to its input."""
    return result if result.ndim == input.ndim else ops.reshape(result, shape=tuple(result.shape[1:]))


def _check_operands(input: Tensor, weight: Tensor, bias: Tensor | None, window: Window) -> None:
    """Check the operands of a convolution, in torch's order of errors."""
    for what, value in (("weight", weight), ("bias", bias)):
        if value is not None and value._dtype != input._dtype:
            have, other = (_NAMES[dtype.name] for dtype in (input._dtype, value._dtype))
            words = f"Input type ({have}) and {what} type ({other}) should be the same"
            raise errors.mixed("convolution", f"the input and the {what}", input, value, words)
    if weight.ndim < 3:
        raise RuntimeError(
            f"weight should have at least three dimensions: (results, channels, *kernel), not {list(weight.shape)}"
        )
    if window.groups <= 0:
        raise RuntimeError(f"non-positive groups is not supported: got groups={window.groups}")
    if min(window.padding, default=0) < 0:
        raise RuntimeError(f"negative padding is not supported: got padding={list(window.padding)}")
    if min(window.stride, default=1) <= 0:
        raise RuntimeError(f"non-positive stride is not supported: got stride={list(window.stride)}")
    if min(window.dilation, default=1) <= 0:
        raise RuntimeError(f"dilation should be greater than zero: got dilation={list(window.dilation)}")
    if weight.ndim != len(window.stride) + 2:
        raise RuntimeError(
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight {list(weight.shape)}, but got "
            f"{input.ndim}-dimensional input of size {list(input.shape)} instead"
        )
    groups, first = window.groups, weight.shape[0]
    if first < groups or first % groups:
        need = f"at least {groups}" if first < groups else f"divisible by {groups}"
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be {need} at dimension 0, but got weight of size "
            f"{list(weight.shape)} instead"
        )


def _check_channels(
    given: str, input: Tensor, weight: Tensor, bias: Tensor | None, channels: int, results: int
) -> None:
    size = list(weight.shape)
    if input.shape[1] != channels:
        order = (0, input.ndim - 1, *range(1, input.ndim - 1))
        last = f". They are on the last axis here: write x.permute{order}" if input.shape[-1] == channels else ""
        raise RuntimeError(
            f"{given}, weight of size {size}, expected input{list(input.shape)} to have {channels} channels, but got "
            f"{input.shape[1]} channels instead: axis 1 of a batch holds them, and the layer is made for {channels}{last}"
        )
    if bias is not None and tuple(bias.shape) != (results,):
        raise RuntimeError(
            f"{given}, weight of size {size}, expected bias to be 1-dimensional with {results} elements, but got bias of "
            f"size {list(bias.shape)} instead"
        )


def _same(
    input: Tensor, weight: Tensor, stride: tuple[int, ...], dilation: tuple[int, ...]
) -> tuple[Tensor, tuple[int, ...]]:
    """The input and the padding for which the output has the size of the image: half of it on each side."""
    if any(step != 1 for step in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions: give the padding in numbers")
    total = [d * (k - 1) for k, d in zip(weight.shape[2:], dilation, strict=False)]
    if any(n % 2 for n in total):  # an odd padding has the extra element at the end
        shape = (*input.shape[:2], *(n + t % 2 for n, t in zip(input.shape[2:], total, strict=True)))
        inside = (..., *(slice(n) for n in input.shape[2:]))
        input = ops.scatter_slice(input, shape=shape, index=inside)
    return input, tuple(n // 2 for n in total)


def _convolve(
    dims: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sizes,
    padding: Sizes | str,
    dilation: Sizes,
    groups: int,
) -> Tensor:
    name = f"conv{dims}d"
    require_tensors(name, input=input, weight=weight, **({} if bias is None else {"bias": bias}))
    images = batched(name, input, dims)
    steps, spread = per_axis(name, stride, dims, "stride"), per_axis(name, dilation, dims, "dilation")
    if isinstance(padding, str) and padding not in ("same", "valid"):
        raise RuntimeError(f"Invalid padding string: '{padding}': use 'same', 'valid' or numbers")
    around = (0,) * dims if isinstance(padding, str) else per_axis(name, padding, dims, "padding")
    window = Window(steps, around, spread, groups)
    _check_operands(images, weight, bias, window)
    given = f"Given groups={groups}"
    _check_channels(given, images, weight, bias, weight.shape[1] * groups, weight.shape[0])
    if padding == "same":
        images, around = _same(images, weight, steps, spread)
        window = window._replace(padding=around)
    lengths = window.lengths(tuple(images.shape[2:]), tuple(weight.shape[2:]))
    if min(lengths) < 1:
        sizes = (
            [n + 2 * p for n, p in zip(images.shape[2:], window.padding, strict=True)],
            [d * (k - 1) + 1 for k, d in zip(weight.shape[2:], spread, strict=True)],
        )
        have, need = (" x ".join(map(str, size)) for size in sizes)
        raise RuntimeError(
            f"Calculated padded input size per channel: ({have}). Kernel size: ({need}). Kernel size can't be greater than "
            "actual input size"
        )
    result = ops.convolve(images, weight, window=window)
    return unbatched(result if bias is None else ops.biased(result, bias), input)


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """The cross-correlation of signals, (batch, channels, length), with a weight, (results, channels / groups, size).

    Arguments as for `nn.Conv1d`.

    Parameters
    ----------
    weight
        The kernels, one for each channel of the result.
    bias
        What is added to the channels of the result, a number for each; None for nothing.

    >>> import pullback
    >>> x = pullback.tensor([[[1.0, 2.0, 4.0, 7.0]]])
    >>> pullback.nn.functional.conv1d(x, pullback.tensor([[[-1.0, 1.0]]]))
    tensor([[[1., 2., 3.]]])
    """
    return _convolve(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """The cross-correlation of images, (batch, channels, height, width), with a weight, (results, channels / groups, *).

    Arguments as for `conv1d`.

    >>> import pullback
    >>> x = pullback.ones(1, 1, 3, 3)
    >>> pullback.nn.functional.conv2d(x, pullback.ones(1, 1, 3, 3), padding="same")
    tensor([[[[4., 6., 4.],
              [6., 9., 6.],
              [4., 6., 4.]]]])
    """
    return _convolve(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """The cross-correlation of volumes, (batch, channels, *size), with a weight, (results, channels / groups, *kernel).

    Arguments as for `conv1d`.

    >>> import pullback
    >>> pullback.conv3d(pullback.ones(1, 2, 4, 4, 4), pullback.ones(3, 2, 2, 2, 2)).shape
    pullback.Size([1, 3, 3, 3, 3])
    """
    return _convolve(3, input, weight, bias, stride, padding, dilation, groups)


def _transposed(
    dims: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    window: tuple[Sizes, Sizes, Sizes, int],
    output_padding: Sizes,
) -> Tensor:
    name = f"conv_transpose{dims}d"
    require_tensors(name, input=input, weight=weight, **({} if bias is None else {"bias": bias}))
    images = batched(name, input, dims)
    *sizes, groups = window
    stride, padding, dilation = map(per_axis, [name] * 3, sizes, [dims] * 3, ("stride", "padding", "dilation"))
    how = Window(stride, padding, dilation, groups)
    extra = per_axis(name, output_padding, dims, "output_padding")
    _check_operands(images, weight, bias, how)
    _check_channels("Given transposed=1", images, weight, bias, weight.shape[0], weight.shape[1] * groups)
    if min(extra) < 0:
        raise RuntimeError(f"negative output_padding is not supported: got output_padding={list(extra)}")
    if any(n >= max(s, d) for n, s, d in zip(extra, how.stride, how.dilation, strict=True)):
        raise RuntimeError(
            f"output padding must be smaller than either stride or dilation, but got output_padding={list(extra)}, "
            f"stride={list(how.stride)} and dilation={list(how.dilation)}"
        )
    axes = zip(images.shape[2:], weight.shape[2:], how.stride, how.padding, how.dilation, extra, strict=True)
    size = tuple((n - 1) * s - 2 * p + d * (k - 1) + e + 1 for n, k, s, p, d, e in axes)
    if min(size) < 1:
        raise RuntimeError(
            f"Given input size per channel: {list(images.shape[2:])}. Calculated output size per channel: {list(size)}. "
            "Output size is too small"
        )
    result = ops.convolve_transpose(images, weight, size=size, window=how)
    return unbatched(result if bias is None else ops.biased(result, bias), input)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """The cross-correlation of signals, (length, batch, channels), with a weight, (size, channels, results).

    Parameters
    ----------
    weight
        The kernels.
    pad
        How many zeros are put at both ends of the signals.

    >>> import pullback
    >>> x = pullback.tensor([1.0, 2.0, 4.0]).reshape(3, 1, 1)
    >>> weight = pullback.tensor([-1.0, 1.0]).reshape(2, 1, 1)
    >>> pullback.nn.functional.conv_tbc(x, weight, pullback.zeros(1)).flatten()
    tensor([1., 2.])
    """
    require_tensors("conv_tbc", input=input, weight=weight, bias=bias)
    for value, axes, text in (
        (input, 3, "Input must have 3 dims: time, batch, in_channel"),
        (weight, 3, "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels"),
        (bias, 1, "Bias must be 1-D"),
    ):
        if value.ndim != axes:
            raise RuntimeError(f"{text}. conv_tbc() got shape {tuple(value.shape)}")
    signals, kernel = input.permute(1, 2, 0), weight.permute(2, 1, 0)
    return conv1d(signals, kernel, bias, padding=pad).permute(2, 0, 1)


def conv_transpose1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1, padding: Sizes = 0, output_padding: Sizes = 0,
    groups: int = 1, dilation: Sizes = 1,
) -> Tensor:  # fmt: skip
    """The transpose of conv1d, its vector-Jacobian product; the weight is (channels, results / groups, size).

    Arguments as for `nn.ConvTranspose1d`.

    Parameters
    ----------
    weight
        The kernels of the convolution whose transpose this is.
    bias
        What is added to the channels of the result, a number for each; None for nothing.

    >>> import pullback
    >>> x = pullback.tensor([[[1.0, 2.0]]])
    >>> pullback.nn.functional.conv_transpose1d(x, pullback.tensor([[[1.0, 10.0]]]), stride=2)
    tensor([[[ 1., 10.,  2., 20.]]])
    """
    return _transposed(1, input, weight, bias, (stride, padding, dilation, groups), output_padding)


def conv_transpose2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1, padding: Sizes = 0, output_padding: Sizes = 0,
    groups: int = 1, dilation: Sizes = 1,
) -> Tensor:  # fmt: skip
    """The transpose of conv2d, its vector-Jacobian product; the weight is (channels, results / groups, *kernel).

    Arguments as for `conv_transpose1d`.

    >>> import pullback
    >>> pullback.conv_transpose2d(pullback.tensor([[[[1.0, 10.0]]]]), pullback.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[ 1., 12., 20.]]]])
    """
    return _transposed(2, input, weight, bias, (stride, padding, dilation, groups), output_padding)


def conv_transpose3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1, padding: Sizes = 0, output_padding: Sizes = 0,
    groups: int = 1, dilation: Sizes = 1,
) -> Tensor:  # fmt: skip
    """The transpose of conv3d, its vector-Jacobian product; the weight is (channels, results / groups, *kernel).

    Arguments as for `conv_transpose1d`.

    >>> import pullback
    >>> pullback.conv_transpose3d(pullback.ones(1, 3, 2, 2, 2), pullback.ones(3, 1, 2, 2, 2), stride=2).shape
    pullback.Size([1, 1, 4, 4, 4])
    """
    return _transposed(3, input, weight, bias, (stride, padding, dilation, groups), output_padding)


def _folding(
    name: str, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes
) -> tuple[tuple[int, ...], Window]:
    kernel = per_axis(name, kernel_size, 2, "kernel_size")
    given = {"stride": stride, "padding": padding, "dilation": dilation}
    stride, padding, dilation = (per_axis(name, value, 2, what) for what, value in given.items())
    for what, sizes in (("kernel size", kernel), ("dilation", dilation), ("stride", stride)):
        if min(sizes) < 1:
            raise RuntimeError(f"{what} should be greater than zero, but got {what}={list(sizes)}")
    if min(padding) < 0:
        raise RuntimeError(f"padding should be non-negative, but got padding={list(padding)}")
    return kernel, Window(stride, padding, dilation)


def unfold(input: Tensor, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1) -> Tensor:
    """The windows of images as columns: (batch, channels * height * width of a window, number of windows).

    Arguments as for `nn.Unfold`.

    >>> import pullback
    >>> x = pullback.arange(6.0).reshape(1, 1, 2, 3)
    >>> pullback.nn.functional.unfold(x, (2, 2))
    tensor([[[0., 1.],
             [1., 2.],
             [3., 4.],
             [4., 5.]]])
    """
    require_tensor("unfold", "input", input)
    kernel, window = _folding("unfold", kernel_size, dilation, padding, stride)
    if input.ndim not in (3, 4) or 0 in input.shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but "
            f"got: {list(input.shape)}"
        )
    images = batched("unfold", input, 2)
    lengths = window.lengths(tuple(images.shape[2:]), kernel)
    if min(lengths) < 1:
        raise RuntimeError(
            f"Given input with spatial size {list(images.shape[2:])}, kernel_size={list(kernel)}, "
            f"dilation={list(window.dilation)}, padding={list(window.padding)}, calculated shape of the array of sliding "
            f"blocks as {list(lengths)}, but its components must be at least one"
        )
    result = ops.window_columns(images, kernel=kernel, window=window)
    return result if input.ndim == 4 else ops.reshape(result, shape=tuple(result.shape[1:]))


def fold(
    input: Tensor, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
) -> Tensor:
    """The sum of columns at their window positions in an image of a given size: the transpose of `unfold`.

    Arguments as for `nn.Fold`.

    >>> import pullback
    >>> columns = pullback.ones(1, 4, 2)
    >>> pullback.nn.functional.fold(columns, (2, 3), (2, 2))
    tensor([[[[1., 2., 1.],
              [1., 2., 1.]]]])
    """
    require_tensor("fold", "input", input)
    size = per_axis("fold", output_size, 2, "output_size")
    kernel, window = _folding("fold", kernel_size, dilation, padding, stride)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size, but got: {list(input.shape)}"
        )
    columns = input if input.ndim == 3 else ops.reshape(input, shape=(1, *input.shape))
    depth, count = math.prod(kernel), math.prod(window.lengths(size, kernel))
    if columns.shape[1] % depth:
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={columns.shape[1]} and kernel_size={list(kernel)}"
        )
    if columns.shape[2] != count or min(window.lengths(size, kernel)) < 1:
        raise RuntimeError(
            f"Given output_size={list(size)}, kernel_size={list(kernel)}, dilation={list(window.dilation)}, "
            f"padding={list(window.padding)}, stride={list(window.stride)}, expected size of input's dimension 2 to match "
            f"the calculated number of sliding blocks {list(window.lengths(size, kernel))}, but got "
            f"input.size(2)={columns.shape[2]}"
        )
    result = ops.window_overlay(columns, size=size, kernel=kernel, window=window)
    return result if input.ndim == 3 else ops.reshape(result, shape=tuple(result.shape[1:]))


def sequences(a: Any, v: Any, mode: str, *, mirrored: bool) -> Any:
    """NumPy's convolve (`mirrored`) or correlate of two sequences, in one of the modes 'full', 'same' and 'valid'."""
    a, v = together(a, v)
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError("object too deep for desired array: convolve and correlate take sequences")
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    size, width = a.shape[0], v.shape[0]
    if not size or not width:
        raise ValueError(f"{'v' if size else 'a'} cannot be empty: convolve and correlate take at least one element")
    kernel = ops.flip(v, axis=(0,)) if mirrored else ops.conj(v)
    images = ops.reshape(a, shape=(1, 1, size)), ops.reshape(kernel, shape=(1, 1, width))
    result = ops.convolve(*images, window=Window((1,), (width - 1,), (1,)))
    long, short = max(size, width), min(size, width)
    start, length = {
        "full": (0, size + width - 1),
        "same": (short // 2 if width > size and not mirrored else (short - 1) // 2, long),
        "valid": (short - 1, long - short + 1),
    }[mode]
    return ops.getitem(result, index=(0, 0, slice(start, start + length)))
