"""Short-time Fourier transforms: signals split into overlapping frames, and reconstructed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core import xp as _xp
from .._core.bfloat import finfo
from .._core.primitives import Carrier
from .._core.values import every, require_operand, require_tensor
from .._tape.views import view
from . import arithmetic, shapes
from .promotion import cast

if TYPE_CHECKING:
    from .._core.typing import Array, Tensor


def _refusal(name: str, input: Tensor, text: str) -> RuntimeError:
    return RuntimeError(f"{name}(pullback.{input._type_name}Tensor{list(input.shape)}): {text}")


def _frames(count: int, length: int, hop: int) -> Array:
    """The indices of the elements of each frame in the signal."""
    return np.arange(count)[:, None] * hop + np.arange(length)


def _last(input: Tensor) -> tuple[Any, ...]:
    """The metadata of an index of the last axis by an array."""
    return (*[slice(None)] * (input.ndim - 1), _xp.array)


def _window(name: str, input: Tensor, window: Tensor | Array | None, win_length: int, n_fft: int) -> Tensor | Array:
    """The window, padded to the middle of a frame; by default all ones, in the signal's dtype."""
    if window is None:
        window = np.ones(win_length, finfo(input._dtype).dtype)
    else:
        require_operand(name, "window", window, 5)
    if tuple(window.shape) != (win_length,):
        raise _refusal(
            name,
            input,
            f"expected a 1D window tensor of size equal to win_length={win_length}, but got window with size "
            f"{list(window.shape)}: Invalid window shape. window has to be 1D and length of `win_length`",
        )
    left = (n_fft - win_length) // 2
    if win_length == n_fft:
        return window
    return ops.scatter_slice(window, shape=(n_fft,), index=(slice(left, left + win_length),))


def _is_complex(value: Tensor | Array) -> bool:
    return bool(value.is_complex() if isinstance(value, Carrier) else np.iscomplexobj(value))


def _padded(input: Tensor, count: int, mode: str) -> Tensor:
    """A signal padded with `count` elements on both sides."""
    length = input.shape[-1]
    if mode == "constant":
        shape = (*input.shape[:-1], length + 2 * count)
        return ops.scatter_slice(input, shape=shape, index=(..., slice(count, count + length)))
    places = np.arange(-count, length + count)
    if mode == "reflect":
        if count >= length:
            raise RuntimeError(
                "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding "
                f"({count}, {count}) at dimension {input.ndim - 1} of input {list(input.shape)}"
            )
        places = np.abs((places + length - 1) % max(2 * length - 2, 1) - (length - 1))
    elif mode == "replicate":
        places = places.clip(0, length - 1)
    elif mode == "circular":
        places = places % length
    else:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    return ops.index(input, places, spec=_last(input))


def _checked(name: str, input: Tensor, n_fft: int, hop_length: int | None, win_length: int | None) -> tuple[int, int]:
    """The hop and the window length, checked, with defaults."""
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    if hop <= 0:
        raise _refusal(name, input, f"expected hop_length > 0, but got hop_length={hop}")
    if not 0 < width <= n_fft:
        raise _refusal(name, input, f"expected 0 < win_length <= n_fft, but got win_length={width}")
    return hop, width


def _check_signal(input: Tensor) -> None:
    require_tensor("stft", "input", input)
    if input._dtype.kind not in "fc":
        raise _refusal("stft", input, "expected a tensor of floating point or complex values")
    if input.ndim not in (1, 2):
        raise _refusal("stft", input, "expected a 1D or 2D tensor")


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """The Fourier transforms of overlapping frames of signals, of shape (..., frequency, frame).

    A frame has n_fft elements, and the next one starts `hop_length` later. With `center` the first frame is centered on
    the start of the signal. For a real signal half of the spectrum is returned, unless `onesided` is False.

    >>> import pullback
    >>> signal = pullback.ones(16)
    >>> pullback.stft(signal, 8, return_complex=True).shape
    pullback.Size([5, 9])
    """
    _check_signal(input)
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    is_complex = input._dtype.kind == "c" or (window is not None and _is_complex(window))
    if return_complex is None and not is_complex:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs: return_complex=True gives complex "
            "numbers, False pairs of real ones"
        )
    if center:
        input = _padded(input, n_fft // 2, pad_mode)
    elif align_to_window and win_length is not None:
        input = _padded(input, (n_fft - win_length) // 2, "constant")
    length = input.shape[-1]
    if not 0 < n_fft <= length:
        raise _refusal("stft", input, f"expected 0 < n_fft < {length}, but got n_fft={n_fft}")
    hop, width = _checked("stft", input, n_fft, hop_length, win_length)
    places = _frames(1 + (length - n_fft) // hop, n_fft, hop)
    along_first = ops.index(shapes.movedim(input, -1, 0), places, spec=(_xp.array,))
    frames = shapes.movedim(along_first, (0, 1), (-2, -1))  # signals are innermost in memory: sums over them come first
    if window is not None or width < n_fft:
        frames = arithmetic.mul(frames, _window("stft", input, window, width, n_fft))
    spectrum = _spectrum(frames, n_fft, not is_complex if onesided is None else onesided, normalized)
    result = shapes.transpose(spectrum, -2, -1)
    return result if return_complex is not False else view(ops.view_as_real, result)


def _spectrum(frames: Tensor, n_fft: int, onesided: bool, normalized: bool) -> Tensor:
    scale = n_fft**-0.5 if normalized else 1.0
    axis = frames.ndim - 1
    if not onesided:
        numbers = cast(frames, np.result_type(frames._dtype, np.complex64))
        return ops.fft(numbers, axes=(axis,), inverse=False, scale=scale)
    if frames._dtype.kind == "c":
        raise RuntimeError("Cannot have onesided output if window or input is complex: pass onesided=False")
    return ops.rfft(frames, axis=axis, scale=scale)


def _check_spectra(input: Tensor) -> None:
    require_tensor("istft", "input", input)
    if input._dtype.kind != "c":
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    if input.numel() == 0:
        raise _refusal("istft", input, "input tensor cannot be empty.")
    if input.ndim not in (2, 3):
        raise _refusal("istft", input, "expected a tensor of shape (frequency, frame) or (batch, frequency, frame)")


def _is_half(input: Tensor, n_fft: int, onesided: bool | None) -> bool:
    """True if spectra are halves, of real signals."""
    rows = input.shape[-2]
    onesided = rows != n_fft if onesided is None else onesided
    if rows != (n_fft // 2 + 1 if onesided else n_fft):
        raise _refusal(
            "istft",
            input,
            "expected the frequency dimension (3rd to the last) of the input tensor to match "
            f"{'n_fft / 2 + 1' if onesided else 'n_fft'} when onesided={onesided}, but got {rows}",
        )
    return onesided


def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The inverse of `stft`: the signals whose frames have these spectra, in the least-squares sense.

    Parameters
    ----------
    length
        The length of the signal; None for the one that follows.

    >>> import pullback
    >>> signal = pullback.arange(16.0)
    >>> spectra = pullback.stft(signal, 8, return_complex=True)
    >>> pullback.allclose(pullback.istft(spectra, 8), signal, atol=1e-5)
    True
    """
    _check_spectra(input)
    hop, width = _checked("istft", input, n_fft, hop_length, win_length)
    if hop > width:
        raise _refusal("istft", input, f"expected 0 < hop_length <= win_length, but got {hop} and {width}")
    onesided = _is_half(input, n_fft, onesided)
    frame_window = _window("istft", input, window, width, n_fft)
    if _is_complex(frame_window) and not return_complex:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    frames = arithmetic.mul(_signals(input, n_fft, onesided, return_complex, normalized), frame_window)
    total = n_fft + hop * (input.shape[-1] - 1)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - start
    return _joined(input, frames, frame_window, hop, slice(start, min(end, total)), end)


def _signals(input: Tensor, n_fft: int, onesided: bool, return_complex: bool, normalized: bool) -> Tensor:
    """The frames with the given spectra, as rows."""
    spectra = shapes.transpose(input, -2, -1)
    scale = n_fft**-0.5 if normalized else 1 / n_fft
    axis = spectra.ndim - 1
    if return_complex:
        if onesided:
            raise RuntimeError("Cannot have onesided output if window or input is complex")
        return ops.fft(spectra, axes=(axis,), inverse=True, scale=scale)
    half = view(ops.getitem, spectra, index=(..., slice(0, n_fft // 2 + 1)))
    return ops.irfft(half, n=n_fft, axis=axis, scale=scale)


def _joined(input: Tensor, frames: Tensor, window: Tensor | Array, hop: int, part: slice, end: int) -> Tensor:
    """Overlapping frames added, and divided by the sum of the squared windows."""
    count, n_fft = frames.shape[-2:]
    places = _frames(count, n_fft, hop)
    total = n_fft + hop * (count - 1)
    before = (slice(None),) * (frames.ndim - 2)
    spec = (*before, _xp.array)
    signals = ops.index_add(frames, places, spec=spec, shape=(*frames.shape[:-2], total))
    squares = ops.broadcast_to(window * window, shape=(count, n_fft))
    envelope = ops.index_add(squares, places, spec=(_xp.array,), shape=(total,))
    signals, envelope = ops.getitem(signals, index=(..., part)), ops.getitem(envelope, index=(part,))
    heights = np.abs(every(envelope))
    if not (heights > 1e-11).all():
        raise _refusal(
            "istft",
            input,
            f"window overlap add min: {heights.min()}: some element is in no window, so choose a smaller hop",
        )
    signals = arithmetic.div(signals, envelope)
    missing = end - part.stop
    if missing <= 0:
        return signals
    have = signals.shape[-1]
    return ops.scatter_slice(signals, shape=(*signals.shape[:-1], have + missing), index=(..., slice(0, have)))
