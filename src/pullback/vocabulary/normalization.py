"""Normalization over batches, layers, groups and instances, by torch's names."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core import errors
from .._core.bfloat import finfo
from .._core.modes import no_grad, quiet, restoring
from .._core.primitives import Carrier
from .._core.shapes import parse_sizes
from .._core.values import data, require_operand, require_tensor
from .._tape.views import write
from ..ops.normalization import Known, count, statistics
from . import arithmetic, reductions, shapes
from .activations import of_kind
from .promotion import cast

if TYPE_CHECKING:
    from .._core.typing import Array, Dim, Sizes, Tensor

HALF, SINGLE = np.dtype(np.float16), np.dtype(np.float32)


def _statistics(input: Tensor, axis: tuple[int, ...], eps: float) -> Known | None:
    """The saved statistics of a tensor's elements over axes, if it is a plain tensor with an array; else None."""
    array = data(input)
    if type(array) is np.ndarray and array.dtype == HALF:
        array = array.astype(SINGLE)
    return quiet.copy().run(statistics, array, axis, eps) if type(array) is np.ndarray else None


def _standardized(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    shape: tuple[int, ...],
    axis: tuple[int, ...],
    eps: float,
    known: Known | None = None,
) -> Tensor:
    """(input - mean) / deviation over axes, times a weight plus a bias, both reshaped to `shape`."""
    dtype = input._dtype
    if dtype == HALF:
        return cast(_standardized(cast(input, SINGLE), weight, bias, shape, axis, eps), HALF)
    known = known or _statistics(input, axis, eps)
    if weight is None and bias is None:
        return ops.standardize(input, axis=axis, eps=eps, known=known)
    parts: list[Tensor | Array] = []
    for part, neutral in ((weight, np.ones), (bias, np.zeros)):
        if part is None:
            parts.append(neutral(shape, dtype))
        else:
            same = cast(part, dtype)
            parts.append(same if same.shape == shape else ops.reshape(same, shape=shape))
    return ops.standardize_affine(input, *parts, axis=axis, eps=eps, known=known)


def _normalized_axes(
    input: Tensor, normalized_shape: Sizes, **parts: Tensor | None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The last axes, which must have the given shape, and that shape."""
    shape = tuple(parse_sizes((normalized_shape,), "layer_norm", "normalized_shape"))
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element"
        )
    for place, (name, part) in enumerate(parts.items(), 3):
        if part is None:
            continue
        require_operand("layer_norm", name, part, place)
        if tuple(part.shape) != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape {list(part.shape)} "
                f"and normalized_shape = {list(shape)}"
            )
    sizes = tuple(input.shape)
    first = len(sizes) - len(shape)
    if sizes[first:] != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, {', '.join(map(str, shape))}], but got "
            f"input of size{list(sizes)}"
        )
    return tuple(range(first, len(sizes))), shape


def layer_norm(
    input: Tensor, normalized_shape: Sizes, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """The input with mean 0 and variance 1 over its last axes, times a weight plus a bias.

    Arguments as for `nn.LayerNorm`.

    Parameters
    ----------
    weight, bias
        Factors, and what is added, both of the shape `normalized_shape`; None for 1 and 0.

    >>> import pullback
    >>> pullback.nn.functional.layer_norm(pullback.tensor([[1.0, 3.0]]), (2,))
    tensor([[-1.0000,  1.0000]])
    """
    axes, shape = _normalized_axes(of_kind("layer_norm", input), normalized_shape, weight=weight, bias=bias)
    return _standardized(input, weight, bias, shape, axes, eps)


def rms_norm(input: Tensor, normalized_shape: Sizes, weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """The input divided by its root mean square over its last axes, times a weight; arguments as for `nn.RMSNorm`.

    Parameters
    ----------
    weight
        The factors, of the shape `normalized_shape`; None for 1.

    >>> import pullback
    >>> pullback.nn.functional.rms_norm(pullback.tensor([3.0, 4.0]), (2,))
    tensor([0.8485, 1.1314])
    """
    axes, _ = _normalized_axes(of_kind("rms_norm", input, "fc"), normalized_shape, weight=weight)
    dtype = input._dtype
    values = cast(input, SINGLE) if dtype == HALF else input
    result = ops.rms_normalize(values, axis=axes, eps=float(finfo(values._dtype).eps) if eps is None else eps)
    result = cast(result, dtype)
    return result if weight is None else result * weight


# Channels


def _check_channels(name: str, channels: int, **parts: Tensor | None) -> None:
    """Raise unless there is one element for each channel."""
    for place, (part, value) in enumerate(parts.items(), 2):
        if value is None:
            continue
        require_tensor(name, part, value, place)
        if value.numel() != channels:
            raise RuntimeError(
                f"{part} should contain {channels} elements not {value.numel()}: {name} has one a channel"
            )


def _column(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape in which one value per channel broadcasts against an input."""
    return sizes[1], *(1,) * (len(sizes) - 2)


def batch_norm(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None,
    bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Each channel (axis 1) minus its mean, divided by its standard deviation, times a weight plus a bias.

    Parameters
    ----------
    running_mean, running_var
        A number for each channel; None, in training, to keep none.
    weight, bias
        A factor for each channel, and what is added; None for 1 and 0.
    training
        Take the statistics of the batch, and move the running ones, which are taken otherwise, towards them in place.
    momentum, eps
        The share of the batch in the running statistics, and a small number added to the variance.

    >>> import pullback
    >>> x = pullback.tensor([[1.0], [3.0]])
    >>> mean, var = pullback.zeros(1), pullback.ones(1)
    >>> pullback.nn.functional.batch_norm(x, mean, var, training=True)
    tensor([[-1.0000],
            [ 1.0000]])
    >>> mean, var
    (tensor([0.2000]), tensor([1.1000]))
    """
    sizes = tuple(of_kind("batch_norm", input).shape)
    if len(sizes) < 2:
        if 0 in sizes:
            return ops.clone(input)
        raise RuntimeError(f"batch_norm expects at least 2 dimensions, batch and channels, but got {len(sizes)}")
    if eps <= 0 if training else eps < 0:
        raise ValueError(
            f"batch_norm eps must be {'positive during training' if training else 'non-negative'}, but got {eps}"
        )
    _check_channels(
        "batch_norm", sizes[1], weight=weight, bias=bias, running_mean=running_mean, running_var=running_var
    )
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError("Expected running_mean and running_var to be defined in evaluation mode")
        return _by_running(input, running_mean, running_var, weight, bias, eps)
    axes = (0, *range(2, len(sizes)))
    number = count(sizes, axes)
    if number == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {errors.size(sizes)}")
    known = _statistics(input, axes, eps)
    if number and (running_mean is not None or running_var is not None):
        _move_running(input, running_mean, running_var, axes, known, momentum)
    return _standardized(input, weight, bias, _column(sizes), axes, eps, known)


def _by_running(
    input: Tensor, running_mean: Tensor, running_var: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
) -> Tensor:
    """Channels normalized by given statistics."""
    shape = _column(tuple(input.shape))
    scale = arithmetic.rsqrt(running_var + eps)
    scale = scale if weight is None else scale * weight
    shift = -running_mean * scale
    shift = shift if bias is None else shift + bias
    dtype = input._dtype
    parts = [ops.reshape(cast(part, dtype), shape=shape) for part in (scale, shift)]
    return ops.scale_and_shift(input, *parts)


@restoring
def _move_running(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    axes: tuple[int, ...],
    known: Known | None,
    momentum: float,
) -> None:
    """Update running statistics with those of a batch; the variance is the unbiased one."""
    with no_grad():
        found: tuple[Any, ...] | None = known
        if found is None:
            values = input.detach()
            found = reductions.mean(values, axes, True), reductions.var(values, axes, correction=0, keepdim=True)
        number = count(tuple(input.shape), axes)
        factors = 1.0, number / max(number - 1, 1)
        for running, value, factor in zip((running_mean, running_var), found[:2], factors, strict=True):
            if running is not None:
                share = value.reshape(-1) * (factor * momentum)
                share = share if isinstance(share, Carrier) else input.interpreter.wrap(share, None)
                write(running, cast(running * (1 - momentum) + share, running._dtype), "batch_norm")


@restoring
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Each channel of each sample, less its mean, over its standard deviation, times a weight plus a bias.

    Arguments as for `batch_norm`.

    Parameters
    ----------
    use_input_stats
        Take the statistics of each sample, not the running ones.

    >>> import pullback
    >>> pullback.nn.functional.instance_norm(pullback.tensor([[[1.0, 3.0], [10.0, 30.0]]]))
    tensor([[[-1.0000,  1.0000],
             [-1.0000,  1.0000]]])
    """
    sizes = tuple(of_kind("instance_norm", input).shape)
    if len(sizes) < 3:
        raise RuntimeError(f"instance_norm expects samples with channels and elements, not shape {sizes}")
    _check_channels(
        "instance_norm", sizes[1], weight=weight, bias=bias, running_mean=running_mean, running_var=running_var
    )
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
        return _by_running(input, running_mean, running_var, weight, bias, eps)
    axes = tuple(range(2, len(sizes)))
    if count(sizes, axes) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {errors.size(sizes)}")
    if running_mean is not None or running_var is not None:
        values = input.detach()
        means = reductions.mean(reductions.mean(values, axes), 0)
        variances = reductions.mean(reductions.var(values, axes), 0)
        with no_grad():
            for running, value in ((running_mean, means), (running_var, variances)):
                if running is not None:
                    write(running, running * (1 - momentum) + value * momentum, "instance_norm")
    return _standardized(input, weight, bias, _column(sizes), axes, eps)


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Groups of channels of each sample with mean 0 and variance 1, times a weight plus a bias per channel.

    Arguments as for `nn.GroupNorm`.

    Parameters
    ----------
    weight, bias
        A factor for each channel, and what is added; None for 1 and 0.

    >>> import pullback
    >>> pullback.nn.functional.group_norm(pullback.tensor([[1.0, 3.0, 10.0, 30.0]]), 2)
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    if of_kind("group_norm", input).ndim < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.ndim}")
    channels = input.shape[1]
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    for place, (name, part) in enumerate((("weight", weight), ("bias", bias)), 3):
        if part is None:
            continue
        require_operand("group_norm", name, part, place)
        if tuple(part.shape) != (channels,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of "
                f"shape {list(part.shape)} and input of shape {list(input.shape)}"
            )
    shape = tuple(input.shape)
    grouped = (shape[0], num_groups, channels // num_groups, math.prod(shape[2:]))
    if input.numel() == num_groups:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {errors.size(shape)}: each of "
            f"the {num_groups} groups is one number"
        )
    values = ops.reshape(input, shape=grouped)
    return ops.reshape(_standardized(values, weight, bias, (*grouped[1:3], 1), (2, 3), eps), shape=shape)


def native_group_norm(
    input: Tensor, weight: Tensor, bias: Tensor | None, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """`group_norm`, and the means and reciprocal standard deviations of the groups, of shape (N, group).

    Parameters
    ----------
    weight
        What each channel is multiplied by; None for nothing.
    N, C, HxW
        The number of examples, of channels, and of elements of a channel.
    group
        The number of groups of channels.
    eps
        Added to the variances, so that none is 0.

    >>> import pullback
    >>> pullback.native_group_norm(pullback.tensor([[1.0, 3.0]]), None, None, 1, 2, 1, 1, 0.0)[1:]
    (tensor([[2.]]), tensor([[1.]]))
    """
    result = group_norm(input, group, weight, bias, eps)
    values = ops.reshape(input, shape=(N, group, C // group * HxW))
    mean, variance = reductions.mean(values, 2), reductions.var(values, 2, correction=0)
    return result, mean, arithmetic.rsqrt(variance + eps)


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """The input divided by (k + alpha * the mean square of `size` neighboring channels) ** beta.

    Arguments as for `nn.LocalResponseNorm`.

    >>> from pullback import nn, ones
    >>> nn.functional.local_response_norm(ones(1, 2, 1), size=2, alpha=2.0, beta=1.0)  # 1 / (1 + 2 / 2)
    tensor([[[0.5000],
             [0.3333]]])
    """
    if of_kind("local_response_norm", input, "fiu").ndim < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions)")
    if input.numel() == 0:
        return input
    channels = input.shape[1]
    before, after = size // 2, (size - 1) // 2
    edges = [np.zeros((input.shape[0], width, *input.shape[2:]), input._dtype) for width in (before, after)]
    squares = ops.concat(edges[0], arithmetic.square(input), edges[1], axis=1, sizes=(before, channels, after))
    total = squares[:, :channels]
    for shift in range(1, size):
        total = total + squares[:, shift : shift + channels]
    return input / (total * (alpha / size) + k) ** beta


def normalize(input: Tensor, p: float = 2.0, dim: Dim = 1, eps: float = 1e-12) -> Tensor:
    """The input divided by its p-norm along a dim; norms below eps are replaced by eps.

    Parameters
    ----------
    p
        The exponent of the norm.
    eps
        The least norm that is divided by.

    >>> import pullback
    >>> pullback.nn.functional.normalize(pullback.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    require_tensor("normalize", "input", input)
    length = arithmetic.clamp(reductions.norm(input, p, dim, keepdim=True), min=eps)
    return input / shapes.expand_as(length, input)
