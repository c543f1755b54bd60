"""scipy.fft, scipy.signal and scipy.ndimage on tensors, where they are compiled: most are linear, and follow from their matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.primitives import Function
from .._core.shapes import normalize_axis
from ..vocabulary import load
from .linear_maps import along, loaded, of_each_axis, one_axis, require_small, selected, whole
from .operands import constants, on_tensors, tensors

if TYPE_CHECKING:
    from .._core.typing import Array, Dim, Params, Sizes, Tensor

PADDING = {"reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect", "nearest": "edge"}
PADDING |= {"wrap": "wrap", "grid-wrap": "wrap", "constant": "constant", "grid-constant": "constant"}
"""The modes of scipy.ndimage, as np.pad calls them."""


def _product(a: Tensor, b: Tensor, mode: str) -> Tensor:
    """The convolution of two tensors."""
    return loaded("signal.fftconvolve")(*tensors(a, b), mode)


def _transformed(name: str) -> Function:
    """A transform along several axes: that along one, one after another."""

    def rule(
        x: Tensor,
        type: int = 2,
        s: Dim = None,
        axes: Dim = None,
        norm: str | None = None,
        orthogonalize: bool | None = None,
    ) -> Tensor:
        sizes, places = ([each] if isinstance(each, int) else each for each in (s, axes))
        if places is None:
            places = range(x.ndim) if sizes is None else range(-len(sizes), 0)
        one = loaded(f"fft.{name}")
        for place, size in zip(places, [None] * len(places) if sizes is None else sizes, strict=True):
            x = along("x")(
                one, f"scipy.fft.{name}", x=x, type=type, n=size, axis=place, norm=norm, orthogonalize=orthogonalize
            )
        return x

    return rule


def _recursive(b: Tensor, a: Tensor, x: Tensor, axis: int = -1) -> Tensor:
    """A digital filter: a banded matrix of b, and the inverse of one of a, which are triangular."""
    b, a, x = tensors(b, a, x)
    place = normalize_axis(axis, x.ndim, "lfilter")
    count = x.shape[place]
    require_small("scipy.signal.lfilter", count)
    moved = on_tensors.moveaxis(x, place, 0)
    columns = moved.reshape(count, -1)
    kind = np.result_type(b._dtype, a._dtype, x._dtype)

    def matrix(taps: Tensor) -> Tensor:
        behind = np.arange(count)[:, None] - np.arange(count)
        inside = (behind >= 0) & (behind < taps.shape[0])
        return on_tensors.where(inside, taps.to(kind)[np.where(inside, behind, 0)], 0.0).to(kind)

    result = matrix(b) @ columns.to(kind)
    result = load("linalg", "solve_triangular")(matrix(a), result, upper=False) if a.shape[0] > 1 else result / a[0]
    return on_tensors.moveaxis(result.reshape(tuple(moved.shape)), 0, place)


def _upfirdn(h: Tensor, x: Tensor, up: int = 1, down: int = 1) -> Tensor:
    if x.ndim != 1:
        raise TypeError("scipy.signal.upfirdn has no derivative here but for one axis: call it for each row")
    h, x = tensors(h, x)
    place = np.arange((x.shape[0] - 1) * up + 1)
    return _product(on_tensors.where(place % up == 0, x[place // up], 0.0), h, "full")[::down]


def _correlated(turned: bool) -> Function:
    """scipy.ndimage.correlate, or convolve, whose kernel is turned round."""

    def rule(input: Tensor, weights: Tensor, mode: str = "reflect", cval: float = 0.0, origin: Sizes = 0) -> Tensor:
        input, weights = tensors(input, weights)
        origins = [origin] * input.ndim if isinstance(origin, int) else list(origin)
        middles = [size // 2 + shift for size, shift in zip(weights.shape, origins, strict=True)]
        if turned:
            middles = [size - 1 - (size // 2 + shift) for size, shift in zip(weights.shape, origins, strict=True)]
        around = [(middle, size - 1 - middle) for middle, size in zip(middles, weights.shape, strict=True)]
        more = {"constant_values": cval} if PADDING[mode] == "constant" else {}
        padded = on_tensors.pad(input, around, mode=PADDING[mode], **more)
        return _product(padded, weights if turned else on_tensors.flip(weights), "valid")

    return rule


def _correlated_along(turned: bool) -> Function:
    def rule(
        input: Tensor, weights: Tensor, axis: int = -1, mode: str = "reflect", cval: float = 0.0, origin: int = 0
    ) -> Tensor:
        input, weights = tensors(input, weights)
        place = normalize_axis(axis, input.ndim, "correlate1d")
        shape = [weights.shape[0] if each == place else 1 for each in range(input.ndim)]
        origins = [origin if each == place else 0 for each in range(input.ndim)]
        return _correlated(turned)(input, weights.reshape(shape), mode, cval, origins)

    return rule


def _slope(smoothing: list[float]) -> Function:
    """A difference along one axis, smoothed along the others."""

    def rule(input: Tensor, axis: int = -1, mode: str = "reflect", cval: float = 0.0) -> Tensor:
        one = _correlated_along(False)
        place = normalize_axis(axis, input.ndim, "sobel")
        result = one(input, np.array([-1.0, 0.0, 1.0]), place, mode, cval)
        for other in set(range(input.ndim)) - {place}:
            result = one(result, np.array(smoothing), other, mode, cval)
        return result

    return rule


def _laplace(input: Tensor, mode: str = "reflect", cval: float = 0.0) -> Tensor:
    one, taps = _correlated_along(False), np.array([1.0, -2.0, 1.0])
    return sum(one(input, taps, axis, mode, cval) for axis in range(input.ndim))


def _by_one(name: str) -> Function:
    """A filter along several axes: that along one."""
    return of_each_axis(lambda real, settings: one_axis(loaded(f"ndimage.{name}"), f"scipy.ndimage.{name}", **settings))


def _by_vectors(word: str) -> Function:
    """A map that takes a number for each axis and is one of vectors along each, also where the number changes nothing.

    A matrix is no way to apply it to many vectors: splines near the ends of its other axis are not exact.
    """

    def of_vectors(real: Function, settings: Params) -> Function:
        own = settings.pop(word)

        def vectors(values: Array, **rest: object) -> Array:
            return np.apply_along_axis(lambda vector: real(vector, own, **rest), -1, values)

        return one_axis(vectors, f"scipy.ndimage.{real.__name__}", **settings)

    return of_each_axis(of_vectors)


def _of_windows(real: Function, name: str, input: Tensor, function: Function, **given: Any) -> Tensor:
    """A filter by a function of the elements around each place: applied to their places, it tells which these are."""
    settings, more = constants(name, given), (given.pop("extra_arguments", ()), given.pop("extra_keywords", {}) or {})
    places: list[Array] = []
    settings |= {"cval": -1.0, "extra_arguments": (), "extra_keywords": None}

    def place(window: Array) -> float:
        places.append(window.astype(int))
        return 0.0

    shape = tuple(input.shape)
    real(np.arange(float(np.prod(shape))).reshape(shape), place, **settings)
    values = on_tensors.append(input.ravel(), np.full(1, given.get("cval", 0.0)))
    return on_tensors.stack([function(values[each], *more[0], **more[1]) for each in places]).reshape(shape)


def _factor(real: Function, name: str, input: Tensor, **given: object) -> Tensor:
    """A filter that multiplies by numbers of its own."""
    return input * real(np.ones(input.shape, complex), **constants(name, given))


def _fourier(name: str) -> Function:
    """A transform that NumPy has, too."""

    def rule(x: Tensor, **given: object) -> Tensor:
        return getattr(np.fft, name)(x, **given)

    return rule


# fmt: off
FILTERS: dict[str, Function] = {
    **{f"fft.{name}": _fourier(name) for name in (
        "fft ifft rfft irfft hfft ihfft fftn ifftn rfftn irfftn fft2 ifft2 rfft2 irfft2").split()},
    **{f"fft.{name}": along("x") for name in "dct idct dst idst".split()},
    **{f"fft.{name}n": _transformed(name) for name in "dct idct dst idst".split()},
    **{f"signal.{name}": lambda real, in1, in2, mode="full", method="auto": real(*tensors(in1, in2), mode, "fft")
       for name in ("convolve", "correlate")},
    "signal.lfilter": _recursive,
    "signal.upfirdn": _upfirdn,
    **{f"signal.{name}": along("x") for name in "sosfilt sosfiltfilt filtfilt decimate savgol_filter stft".split()},
    "signal.detrend": along("data"),
    "signal.resample_poly": along("x", default=0),
    "signal.medfilt": selected("volume", None), "signal.medfilt2d": selected("input", None),
    **{f"ndimage.{name}": along("input") for name in "gaussian_filter1d uniform_filter1d spline_filter1d".split()},
    **{f"ndimage.{name}": _by_one(f"{name}1d") for name in "gaussian_filter uniform_filter spline_filter".split()},
    "ndimage.convolve": _correlated(True), "ndimage.convolve1d": _correlated_along(True),
    "ndimage.correlate": _correlated(False), "ndimage.correlate1d": _correlated_along(False),
    "ndimage.sobel": _slope([1.0, 2.0, 1.0]), "ndimage.prewitt": _slope([1.0, 1.0, 1.0]),
    "ndimage.laplace": _laplace, "ndimage.generic_filter": _of_windows,
    "ndimage.zoom": _by_vectors("zoom"), "ndimage.shift": _by_vectors("shift"),
    **{f"ndimage.{name}": whole() for name in "rotate affine_transform map_coordinates".split()},
    **{f"ndimage.{name}": _factor for name in "fourier_gaussian fourier_uniform fourier_shift fourier_ellipsoid".split()},
    **{f"ndimage.{name}": selected() for name in
       "median_filter maximum_filter minimum_filter percentile_filter rank_filter maximum_filter1d minimum_filter1d".split()},
}
# fmt: on
