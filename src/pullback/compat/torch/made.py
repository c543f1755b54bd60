"""torch.testing.make_tensor: tensors of random numbers for tests."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import Tensor, as_tensor, dtype as Kind, empty, finfo
from ..._core.placement import accept
from ...extend import sampled

if TYPE_CHECKING:
    from ..._core.typing import Array, Device, DType, MemoryFormat, Sizes


def make_tensor(
    *shape: Sizes,
    dtype: DType,
    device: Device,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """Random numbers of a dtype, uniform in [low, high): by default about -9 to 9.

    By default integers are at most 9, unsigned ones at least 0, and bools are any. Bounds outside the range of the
    dtype are clamped to it. `noncontiguous` leaves a gap after every element; `exclude_zero` replaces zeros by ones, or
    by the smallest normal number for floating-point dtypes. ValueError if `low` is not below `high`.

    >>> import pullback
    >>> from pullback.compat.torch.made import make_tensor
    >>> t = make_tensor(2, 3, dtype=pullback.float32, device="cpu", low=0, noncontiguous=True)
    >>> t.shape, t.is_contiguous(), bool((t >= 0).all())
    (pullback.Size([2, 3]), False, True)
    """
    kind = Kind(dtype)
    accept("make_tensor", {"device": device, "memory_format": memory_format})
    sizes = tuple(empty(*shape, dtype="bool").shape)
    whole = not (kind.is_floating_point or kind.is_complex)
    if requires_grad and whole:
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype={kind}")
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"{noncontiguous=} and {memory_format=}"
        )
    lowest, highest = _bounds(kind, low, high)
    if kind.is_complex:
        parts = (_fractions(sizes, kind.numpy.type(0).real.dtype, lowest, highest) for _ in range(2))
        values = (next(parts) + 1j * next(parts)).astype(kind.numpy)
    elif whole:
        values = _drawn(lambda rng, size: rng.integers(lowest, highest, size, np.int64), sizes).astype(kind.numpy)
    else:
        values = _fractions(sizes, kind.numpy, lowest, highest)
    if exclude_zero:
        tiny = 1 if whole else finfo(kind).tiny
        values = np.where(values == 0, tiny * (1 + 1j) if kind.is_complex else tiny, values).astype(kind.numpy)
    if noncontiguous and values.size > 1:
        values = np.repeat(values, 2, axis=-1)[..., ::2]
    made: Tensor = as_tensor(values).requires_grad_(requires_grad)
    return made


def _bounds(kind: Kind, low: float | None, high: float | None) -> tuple[float, float]:
    """The lower and the exclusive upper bound; integers for integer dtypes."""
    letter = kind.numpy.kind
    if letter in "fc":
        limits = finfo(kind)
        least, most, usual = float(limits.min), float(limits.max), (-9, 9)
    elif letter == "b":
        least, most, usual = 0, 1, (0, 2)
    else:
        span = np.iinfo(kind.numpy)
        least, most, usual = span.min, min(span.max, 2**63 - 2), (0 if letter == "u" else -9, 10)
    low, high = usual[0] if low is None else low, usual[1] if high is None else high
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low > high or (low == high and letter not in "fc"):
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    lowest, highest = (min(max(bound, least), most if letter in "fc" else most + 1) for bound in (low, high))
    if letter in "fc":
        return lowest, highest
    lowest, highest = math.ceil(lowest), math.ceil(highest)
    if lowest >= highest:
        raise ValueError(f"`low` must be less than `high`: no whole number is at least {low} and less than {high}")
    return lowest, highest


def _drawn(draw: Callable[..., Any], sizes: tuple[int, ...]) -> Array:
    """An array of random numbers."""
    return sampled(draw, sizes).numpy()


def _fractions(sizes: tuple[int, ...], kind: np.dtype, lowest: float, highest: float) -> Array:
    """Numbers in [lowest, highest), without overflow of their difference, and without rounding beyond the bounds."""
    parts = _drawn(lambda rng, size: rng.random(size), sizes)
    values = np.asarray(lowest * (1 - parts) + highest * parts).astype(kind)
    below = np.nextafter(kind.type(highest), kind.type(lowest))
    return np.clip(values, kind.type(lowest), below)
