"""Window functions, by torch's names: weights that taper a segment of a signal towards its ends.

`M` is the length. A symmetric window (`sym`, for filters) has its two ends alike; a periodic one (for spectra) is a
symmetric window that is longer by one, without its last element.

>>> import pullback
>>> pullback.signal.windows.hann(5)
tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
>>> pullback.signal.windows.hann(4, sym=False)
tensor([0.0000, 0.5000, 1.0000, 0.5000])
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

import numpy as np

from .._core import dtypes
from .._tensor.creation import tensor
from .._tensor.tensor import Tensor

if TYPE_CHECKING:
    from .._core.typing import Device, DType

Array = np.ndarray[Any, np.dtype[Any]]

HANN = (0.5, 0.5)
HAMMING = (0.54, 0.46)
BLACKMAN = (0.42, 0.5, 0.08)
NUTTALL = (0.3635819, 0.4891775, 0.1365995, 0.0106411)


def _positions(length: int, periodic: bool) -> tuple[Array, int]:
    """The positions 0, 1, ... of the elements, and the position at which the period of the window ends."""
    return np.arange(float(length)), length if periodic and length > 1 else length - 1


def _cosines(length: int, periodic: bool, weights: Iterable[float]) -> Array:
    """Cosines of 0, 1, 2, ... periods with weights of alternating signs."""
    if length < 2:
        return np.ones(length)
    positions, end = _positions(length, periodic)
    angles = positions * (2 * math.pi / end)
    return sum(((-1) ** i * weight * np.cos(i * angles) for i, weight in enumerate(weights)), np.zeros(length))


def _triangle(length: int, periodic: bool) -> Array:
    if length < 2:
        return np.ones(length)
    positions, end = _positions(length, periodic)
    return 1 - np.abs(2 * positions / end - 1)


def _kaiser(length: int, periodic: bool, beta: float) -> Array:
    if length < 2:
        return np.ones(length)
    positions, end = _positions(length, periodic)
    across = 2 * positions / end - 1
    with np.errstate(over="ignore", invalid="ignore"):  # above 700 the quotient is of infinities, NaN as torch's
        weights: Array = np.i0(beta * np.sqrt(np.maximum(1 - across * across, 0))) / np.i0(beta)
    return weights


def _sine(length: int, periodic: bool) -> Array:
    positions, _ = _positions(length, periodic)
    return np.sin((positions + 0.5) * (math.pi / max(length + (periodic and length > 1), 1)))


def _exponential(length: int, periodic: bool, center: float | None, tau: float) -> Array:
    positions, end = _positions(length, periodic)
    return np.exp(-np.abs(positions - (end / 2 if center is None else center)) / tau)


def _gaussian(length: int, periodic: bool, std: float) -> Array:
    positions, end = _positions(length, periodic)
    return np.exp(-0.5 * ((positions - end / 2) / std) ** 2)


class Options(TypedDict, total=False):
    """The arguments that all windows share: the dtype (by default that of floats), and how the tensor is made."""

    dtype: DType | None
    layout: object
    device: Device | None
    requires_grad: bool


def _checked(
    name: str,
    *,
    dtype: DType | None = None,
    layout: object | None = None,
    device: Device | None = None,
    requires_grad: bool = False,
    **unknown: object,
) -> dict[str, Any]:
    """The options of a window as `tensor` takes them, after the checks that all windows share."""
    if unknown:
        raise TypeError(f"{name}() got an unexpected keyword argument {next(iter(unknown))!r}")
    if layout is not None and not str(layout).endswith("strided"):
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    dtype = dtypes.get_default_dtype() if dtype is None else dtype
    return {"dtype": dtype, "device": device, "requires_grad": requires_grad}


_SHARED = [each for each in inspect.signature(_checked).parameters.values() if each.kind is each.KEYWORD_ONLY]
Function = TypeVar("Function", bound=Callable[..., Tensor])


def _window(function: Function) -> Function:
    """A decorator that lists the shared options one by one in the signature that `help` and `inspect` show."""
    signature = inspect.signature(function)
    *own, _ = signature.parameters.values()
    function.__signature__ = signature.replace(parameters=[*own, *_SHARED])  # type: ignore[attr-defined]  # any has it
    return function


# torch.signal.windows: symmetric unless `sym` is False


def _made(name: str, formula: Callable[..., Array], arguments: tuple[Any, ...], options: Options) -> Tensor:
    """A window of torch.signal.windows, after its checks; the first argument of its formula is the length."""
    if arguments[0] < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={arguments[0]}")
    checked = _checked(name, **options)
    if dtypes.as_dtype(checked["dtype"]) not in {dtypes.float32, dtypes.float64}:
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {checked['dtype']}")
    return tensor(formula(*arguments), **checked)


@_window
def general_cosine(M: int, *, a: Iterable[float], sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """A sum of cosines of 0, 1, 2, ... periods with the weights `a`, whose signs alternate.

    >>> import pullback
    >>> pullback.signal.windows.general_cosine(5, a=[0.5, 0.5])
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    weights = list(a)
    if not weights:
        raise ValueError("Coefficients cannot be empty: pass a=[...], the weights of the cosines")
    return _made("general_cosine", _cosines, (M, not sym, weights), options)


@_window
def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """alpha - (1 - alpha) * cos, one period of it.

    >>> import pullback
    >>> pullback.signal.windows.general_hamming(5, alpha=0.6)
    tensor([0.2000, 0.6000, 1.0000, 0.6000, 0.2000])
    """
    return _made("general_hamming", _cosines, (M, not sym, (alpha, 1 - alpha)), options)


@_window
def hann(M: int, *, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """Hann's window, a raised cosine: 0.5 - 0.5 * cos.

    >>> import pullback
    >>> pullback.signal.windows.hann(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return _made("hann", _cosines, (M, not sym, HANN), options)


@_window
def hamming(M: int, *, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """Hamming's window: 0.54 - 0.46 * cos, whose first side lobe is low.

    >>> import pullback
    >>> pullback.signal.windows.hamming(5)
    tensor([0.0800, 0.5400, 1.0000, 0.5400, 0.0800])
    """
    return _made("hamming", _cosines, (M, not sym, HAMMING), options)


@_window
def blackman(M: int, *, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """Blackman's window, of three cosines.

    >>> import pullback
    >>> pullback.signal.windows.blackman(5)[1:4]
    tensor([0.3400, 1.0000, 0.3400])
    """
    return _made("blackman", _cosines, (M, not sym, BLACKMAN), options)


@_window
def nuttall(M: int, *, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """Nuttall's window, of four cosines.

    >>> import pullback
    >>> pullback.signal.windows.nuttall(5)
    tensor([3.6280e-04, 2.2698e-01, 1.0000e+00, 2.2698e-01, 3.6280e-04])
    """
    return _made("nuttall", _cosines, (M, not sym, NUTTALL), options)


@_window
def bartlett(M: int, *, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """Bartlett's window, a triangle from 0 to 1 and back.

    >>> import pullback
    >>> pullback.signal.windows.bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return _made("bartlett", _triangle, (M, not sym), options)


@_window
def cosine(M: int, *, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """Half a period of the sine.

    >>> import pullback
    >>> pullback.signal.windows.cosine(3)
    tensor([0.5000, 1.0000, 0.5000])
    """
    return _made("cosine", _sine, (M, not sym), options)


@_window
def exponential(
    M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, **options: Unpack[Options]
) -> Tensor:
    """exp(-distance / tau) on both sides of the center, which a periodic window may have anywhere.

    >>> import pullback
    >>> pullback.signal.windows.exponential(3, tau=1.0)
    tensor([0.3679, 1.0000, 0.3679])
    """
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows: leave it out, or pass sym=False")
    return _made("exponential", _exponential, (M, not sym, center, tau), options)


@_window
def gaussian(M: int, *, std: float = 1.0, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """The normal density of standard deviation `std`, 1 at the middle.

    >>> import pullback
    >>> pullback.signal.windows.gaussian(3, std=1.0)
    tensor([0.6065, 1.0000, 0.6065])
    """
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _made("gaussian", _gaussian, (M, not sym, std), options)


@_window
def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, **options: Unpack[Options]) -> Tensor:
    """Kaiser's window; the larger `beta`, the narrower it is and the lower its side lobes.

    >>> import pullback
    >>> pullback.signal.windows.kaiser(5, beta=2.0)
    tensor([0.4387, 0.8348, 1.0000, 0.8348, 0.4387])
    """
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return _made("kaiser", _kaiser, (M, not sym, beta), options)


# torch's older windows: periodic unless `periodic` is False


def _older(name: str, formula: Callable[..., Array], arguments: tuple[Any, ...], options: Options) -> Tensor:
    """A window of torch itself, after its checks, whose messages are others."""
    length = arguments[0]
    if not isinstance(length, (int, np.integer)):
        raise TypeError(f"{name}(): argument 'window_length' (position 1) must be int, not {type(length).__name__}")
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    checked = _checked(name, **options)
    if not dtypes.as_dtype(checked["dtype"]).is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {checked['dtype']}")
    return tensor(formula(*arguments), **checked)


@_window
def hann_window(window_length: int, periodic: bool = True, **options: Unpack[Options]) -> Tensor:
    """Hann's window, a raised cosine.

    >>> import pullback
    >>> pullback.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _older("hann_window", _cosines, (window_length, periodic, HANN), options)


@_window
def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, **options: Unpack[Options]
) -> Tensor:
    """alpha - beta * cos, one period of it.

    Parameters
    ----------
    alpha
        The constant.
    beta
        The factor of the cosine.

    >>> import pullback
    >>> pullback.hamming_window(4)
    tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """
    return _older("hamming_window", _cosines, (window_length, periodic, (alpha, beta)), options)


@_window
def blackman_window(window_length: int, periodic: bool = True, **options: Unpack[Options]) -> Tensor:
    """Blackman's window, of three cosines."""
    return _older("blackman_window", _cosines, (window_length, periodic, BLACKMAN), options)


@_window
def bartlett_window(window_length: int, periodic: bool = True, **options: Unpack[Options]) -> Tensor:
    """Bartlett's window, a triangle from 0 to 1 and back."""
    return _older("bartlett_window", _triangle, (window_length, periodic), options)


@_window
def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, **options: Unpack[Options]) -> Tensor:
    """Kaiser's window; the larger `beta`, the narrower it is.

    Parameters
    ----------
    beta
        The shape: the larger, the narrower.

    >>> import pullback
    >>> pullback.kaiser_window(4, beta=2.0)
    tensor([0.4387, 0.8348, 1.0000, 0.8348])
    """
    return _older("kaiser_window", _kaiser, (window_length, periodic, beta), options)
