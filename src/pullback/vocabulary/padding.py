"""Padding: elements added to or removed from the ends of axes; constants, or copies of existing elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core.shapes import parse_sizes
from .._core.values import require_tensor
from ..ops.resampling import Taps
from .promotion import held

if TYPE_CHECKING:
    from .._core.typing import Array, Number, Tensor

Widths = Sequence[tuple[int, int]]


def repeated(input: Tensor, axis: int, columns: Array) -> Tensor:
    """The elements at given indices along an axis, which may occur repeatedly."""
    taps = Taps(np.arange(len(columns)), columns, None, len(columns), input.shape[axis])
    return ops.resample(input, axis=axis, taps=taps)


def surrounded(input: Tensor, widths: Widths, value: Number) -> Tensor:
    """An input with constant elements added before and after each axis; negative numbers remove elements."""
    if any(min(pair) < 0 for pair in widths):
        input = _cropped(input, widths)
        widths = [(max(left, 0), max(right, 0)) for left, right in widths]
    shape, index = [], []
    for n, (left, right) in zip(tuple(input.shape), widths, strict=True):
        shape.append(left + n + right)
        index.append(slice(left, left + n))
    place = (..., *index)
    if not value:
        return ops.scatter_slice(input, shape=tuple(shape), index=place)
    return ops.overwrite(np.full(shape, held(value, input._dtype)), input, path=((ops.getitem, {"index": place}),))


def _cropped(input: Tensor, widths: Widths) -> Tensor:
    """An input without the elements that negative widths remove."""
    kept = [(max(-left, 0), n - max(-right, 0)) for n, (left, right) in zip(input.shape, widths, strict=True)]
    for n, (left, right), (start, end) in zip(input.shape, widths, kept, strict=True):
        if n + left + right < 0 or end < start:
            raise RuntimeError(
                f"narrow(): length must be non-negative: the padding {(left, right)} takes more than the {n} elements of its "
                f"axis; the input has shape {list(input.shape)}"
            )
    return ops.getitem(input, index=(..., *(slice(start, end) for start, end in kept)))


def _widths(pad: Sequence[int], ndim: int) -> Widths:
    """torch's list of widths, which starts with the last axis, as a pair for each axis."""
    pairs = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    return [(0, 0)] * (ndim - len(pairs)) + pairs[::-1]


def _require_pairs(sizes: Sequence[int], dims: int) -> None:
    """Raise unless there is a pair of widths for each of the last axes."""
    if len(sizes) % 2:
        raise RuntimeError(f"Padding length must be divisible by 2: a pair for each axis, not {list(sizes)}")
    if len(sizes) > 2 * dims:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(sizes)} and input of dimension {dims}"
        )


def constant_pad_nd(input: Tensor, pad: Sequence[int], value: Number = 0) -> Tensor:
    """An input padded with a value: `pad` is (before, after) of the last axis, then of the one before it, and so on.

    Arguments as for `pad`.

    >>> import pullback
    >>> pullback.constant_pad_nd(pullback.ones(2), (1, 2), 7.0)
    tensor([7., 1., 1., 7., 7.])
    """
    require_tensor("constant_pad_nd", "input", input)
    sizes = parse_sizes((pad,), "constant_pad_nd", "pad")
    _require_pairs(sizes, input.ndim)
    return surrounded(input, _widths(sizes, input.ndim), value)


def _reflected(n: int, left: int, right: int) -> Array:
    places = np.arange(-left, n + right)
    return (n - 1) - np.abs((n - 1) - np.abs(places))


def _replicated(n: int, left: int, right: int) -> Array:
    return np.clip(np.arange(-left, n + right), 0, n - 1)


def _circular(n: int, left: int, right: int) -> Array:
    start, end = max(-left, 0), n - max(-right, 0)  # removed elements do not wrap around
    return start + np.arange(-max(left, 0), end - start + max(right, 0)) % (end - start)


MODES: dict[str, Callable[[int, int, int], Any]] = {
    "reflect": _reflected,
    "replicate": _replicated,
    "circular": _circular,
}


def _check_width(mode: str, pair: tuple[int, int], axis: int, shape: list[int]) -> None:
    n = shape[axis]
    if n + sum(pair) < 1:
        raise RuntimeError(
            f"input (size {n} in dimension {axis}) is too small. Calculated output size: {n + sum(pair)}; padding {pair}"
        )
    if mode == "reflect" and max(pair) >= n:
        raise RuntimeError(
            f"Argument #{4 + 2 * (len(shape) - 1 - axis)}: Padding size should be less than the corresponding input "
            f"dimension, but got: padding {pair} at dimension {axis} of input {shape}"
        )
    if mode == "circular" and max(pair) > n:
        raise RuntimeError(
            f"Padding value causes wrapping around more than once: padding {pair} at dimension {axis} of input {shape}"
        )


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """An input with its last axes padded or, by negative widths, cropped: `pad` is (before, after) of the last, then others.

    Parameters
    ----------
    pad
        How many elements are added before and after the last axis, then the one before it, and so on; negative numbers
        remove elements.
    mode
        'constant', 'reflect', 'replicate' or 'circular'; all but the first pad images, with or without a batch.
    value
        What constant elements are; None for 0.

    >>> import pullback
    >>> x = pullback.tensor([[1.0, 2.0, 3.0]])
    >>> pullback.nn.functional.pad(x, (2, 1), mode="reflect")
    tensor([[3., 2., 1., 2., 3., 2.]])
    """
    require_tensor("pad", "input", input)
    sizes = parse_sizes((pad,), "pad", "pad")
    if mode == "constant":
        return constant_pad_nd(input, sizes, 0 if value is None else value)
    _require_pairs(sizes, input.ndim)
    if value:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument: leave value out')
    if mode not in MODES:
        raise NotImplementedError(
            f"Unrecognised padding mode {mode}: use 'constant', 'reflect', 'replicate' or 'circular'"
        )
    padded = len(sizes) // 2
    if not 1 <= padded <= 3 or input.ndim not in (padded + 1, padded + 2):
        raise NotImplementedError(
            f"Padding size {len(sizes)} is not supported for {input.ndim}D input tensor. Only 2D, 3D, 4D, 5D padding with "
            "non-constant padding are supported for now"
        )
    shape = list(input.shape)
    if 0 in shape[1 if input.ndim == padded + 2 else 0 :]:
        raise RuntimeError(
            f"Expected {padded + 1}D or {padded + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {shape}"
        )
    widths = _widths(sizes, input.ndim)
    for axis, pair in list(enumerate(widths))[-padded:]:
        _check_width(mode, pair, axis, shape)
    result = input
    for axis, (n, pair) in enumerate(zip(shape, widths, strict=True)):
        if any(pair):
            result = repeated(result, axis, MODES[mode](n, *pair))
    return result if result is not input else ops.clone(input)


def numpy_pad(array: Any, pad_width: Any, mode: Any = "constant", constant_values: Any = 0) -> Any:
    """NumPy's pad, in the modes that move elements without computing with them."""
    pairs = [tuple(pair) for pair in np.broadcast_to(np.asarray(pad_width), (array.ndim, 2)).tolist()]
    if mode == "constant":
        values = np.broadcast_to(np.asarray(constant_values), (array.ndim, 2)).tolist()
        for axis, ((left, right), (before, after)) in enumerate(zip(pairs, values, strict=True)):
            around = [[(0, 0)] * array.ndim for _ in range(2)]
            around[0][axis], around[1][axis] = (left, 0), (0, right)
            if before == after:
                around[0][axis], around[1][axis] = (left, right), (0, 0)
            for widths, value in zip(around, (before, after), strict=True):
                array = surrounded(array, widths, value) if any(widths[axis]) else array
        return array
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise TypeError(
            f"numpy.pad has no derivative here with mode={mode!r}: use 'constant', 'edge', 'reflect', 'symmetric', "
            "'wrap', 'linear_ramp', 'maximum', 'minimum', 'mean' or 'median'"
        )
    for axis, pair in enumerate(pairs):
        if any(pair):
            array = repeated(array, axis, np.pad(np.arange(array.shape[axis]), pair, mode))
    return array
