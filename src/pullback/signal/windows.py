"""Window functions, by torch's names: weights that fade a stretch of a signal out at its ends.

`M` is the length. A symmetric window (`sym`, for filters) has its two ends alike; a periodic one (for spectra) is a
symmetric window that is longer by one, without its last element.

>>> import pullback
>>> pullback.signal.windows.hann(5)
tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
>>> pullback.signal.windows.hann(4, sym=False)
tensor([0.0000, 0.5000, 1.0000, 0.5000])
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._core import dtypes
from .._tensor.creation import tensor
from .._tensor.tensor import Tensor

Array = np.ndarray[Any, np.dtype[Any]]

BLACKMAN = (0.42, 0.5, 0.08)
NUTTALL = (0.3635819, 0.4891775, 0.1365995, 0.0106411)


def _places(length: int, periodic: bool) -> tuple[Array, int]:
    """The places 0, 1, ... of the elements, and the place where the window would be back at its start."""
    return np.arange(float(length)), length if periodic and length > 1 else length - 1


def _cosines(length: int, periodic: bool, weights: Iterable[float]) -> Array:
    """Cosines of 0, 1, 2, ... periods with weights of alternating signs."""
    if length < 2:
        return np.ones(length)
    places, end = _places(length, periodic)
    angles = places * (2 * math.pi / end)
    return sum(((-1) ** i * weight * np.cos(i * angles) for i, weight in enumerate(weights)), np.zeros(length))


def _triangle(length: int, periodic: bool) -> Array:
    if length < 2:
        return np.ones(length)
    places, end = _places(length, periodic)
    return 1 - np.abs(2 * places / end - 1)


def _kaiser(length: int, periodic: bool, beta: float) -> Array:
    if length < 2:
        return np.ones(length)
    places, end = _places(length, periodic)
    across = 2 * places / end - 1
    with np.errstate(over="ignore", invalid="ignore"):  # above 700 the quotient is of infinities, NaN as torch's
        weights: Array = np.i0(beta * np.sqrt(np.maximum(1 - across * across, 0))) / np.i0(beta)
    return weights


def _sine(length: int, periodic: bool) -> Array:
    places, _ = _places(length, periodic)
    return np.sin((places + 0.5) * (math.pi / max(length + (periodic and length > 1), 1)))


def _exponential(length: int, periodic: bool, center: float | None, tau: float) -> Array:
    places, end = _places(length, periodic)
    return np.exp(-np.abs(places - (end / 2 if center is None else center)) / tau)


def _gaussian(length: int, periodic: bool, std: float) -> Array:
    places, end = _places(length, periodic)
    return np.exp(-0.5 * ((places - end / 2) / std) ** 2)


def _window(
    name: str,
    formula: Callable[..., Array],
    arguments: tuple[Any, ...],
    dtype: Any,
    layout: Any,
    device: Any,
    requires_grad: bool,
) -> Tensor:
    """A window of torch.signal.windows, after its checks; the first argument of its formula is the length."""
    if arguments[0] < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={arguments[0]}")
    _check_layout(name, layout)
    dtype = dtypes.get_default_dtype() if dtype is None else dtype
    if dtypes.as_dtype(dtype) not in {dtypes.float32, dtypes.float64}:
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    return tensor(formula(*arguments), dtype=dtype, device=device, requires_grad=requires_grad)


def _check_layout(name: str, layout: Any) -> None:
    if layout is not None and not str(layout).endswith("strided"):
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")


def general_cosine(
    M: int,
    *,
    a: Iterable[float],
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A sum of cosines of 0, 1, 2, ... periods with the weights `a`, whose signs alternate."""
    weights = list(a)
    if not weights:
        raise ValueError("Coefficients cannot be empty: pass a=[...], the weights of the cosines")
    return _window("general_cosine", _cosines, (M, not sym, weights), dtype, layout, device, requires_grad)


def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """alpha - (1 - alpha) * cos, one period of it."""
    weights = (alpha, 1 - alpha)
    return _window("general_hamming", _cosines, (M, not sym, weights), dtype, layout, device, requires_grad)


def _of_weights(name: str, weights: tuple[float, ...], text: str) -> Callable[..., Tensor]:
    def function(
        M: int,
        *,
        sym: bool = True,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
    ) -> Tensor:
        return _window(name, _cosines, (M, not sym, weights), dtype, layout, device, requires_grad)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


hann = _of_weights("hann", (0.5, 0.5), "Hann's window, a raised cosine: 0.5 - 0.5 * cos.")
hamming = _of_weights("hamming", (0.54, 0.46), "Hamming's window: 0.54 - 0.46 * cos, whose first side lobe is low.")
blackman = _of_weights("blackman", BLACKMAN, "Blackman's window, of three cosines.")
nuttall = _of_weights("nuttall", NUTTALL, "Nuttall's window, of four cosines.")


def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Bartlett's window, a triangle from 0 to 1 and back."""
    return _window("bartlett", _triangle, (M, not sym), dtype, layout, device, requires_grad)


def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Half a period of the sine."""
    return _window("cosine", _sine, (M, not sym), dtype, layout, device, requires_grad)


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """exp(-distance / tau) on both sides of the centre, which a periodic window may have anywhere."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows: leave it out, or pass sym=False")

    return _window("exponential", _exponential, (M, not sym, center, tau), dtype, layout, device, requires_grad)


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The normal density of standard deviation `std`, 1 at the middle."""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")

    return _window("gaussian", _gaussian, (M, not sym, std), dtype, layout, device, requires_grad)


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Kaiser's window; the larger `beta`, the narrower it is and the lower its side lobes."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return _window("kaiser", _kaiser, (M, not sym, beta), dtype, layout, device, requires_grad)


# torch's older windows, periodic unless they are told otherwise


def _older(
    name: str,
    formula: Callable[..., Array],
    arguments: tuple[Any, ...],
    dtype: Any,
    layout: Any,
    device: Any,
    requires_grad: bool,
) -> Tensor:
    """A window of the package itself, after its checks, which have words of their own."""
    length = arguments[0]
    if not isinstance(length, (int, np.integer)):
        raise TypeError(f"{name}(): argument 'window_length' (position 1) must be int, not {type(length).__name__}")
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    _check_layout(name, layout)
    dtype = dtypes.get_default_dtype() if dtype is None else dtype
    if not dtypes.as_dtype(dtype).is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    return tensor(formula(*arguments), dtype=dtype, device=device, requires_grad=requires_grad)


def hann_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Hann's window, a raised cosine.

    >>> import pullback
    >>> pullback.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _older("hann_window", _cosines, (window_length, periodic, (0.5, 0.5)), dtype, layout, device, requires_grad)


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """alpha - beta * cos, one period of it."""
    return _older(
        "hamming_window", _cosines, (window_length, periodic, (alpha, beta)), dtype, layout, device, requires_grad
    )


def blackman_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Blackman's window, of three cosines."""
    return _older(
        "blackman_window", _cosines, (window_length, periodic, BLACKMAN), dtype, layout, device, requires_grad
    )


def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Bartlett's window, a triangle from 0 to 1 and back."""
    return _older("bartlett_window", _triangle, (window_length, periodic), dtype, layout, device, requires_grad)


def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Kaiser's window; the larger `beta`, the narrower it is."""
    return _older("kaiser_window", _kaiser, (window_length, periodic, beta), dtype, layout, device, requires_grad)
