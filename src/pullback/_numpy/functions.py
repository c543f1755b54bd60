"""NumPy's elementwise functions on tensors, whose operations are imported on first call.

`names` registers them.
"""

from __future__ import annotations

# ruff: noqa: PLW0108  # the signatures of the lambdas have NumPy's parameter names
import math
from typing import TYPE_CHECKING

import numpy as np

from .. import ops
from .._core.bfloat import finfo
from .._core.primitives import Carrier, Function
from .._core.shapes import normalize_axis
from .._tape.views import write
from ..vocabulary import arithmetic, later, rounding
from ..vocabulary.promotion import fractional, inexact
from .operands import concrete

if TYPE_CHECKING:
    from .._core.typing import ArrayLike, Tensor, TensorLike

_complex = {name: later("vocabulary.complexes", name) for name in ("angle", "real", "imag", "sgn")}
_rad2deg, _sinc, _nan_to_num, _step = (
    later("vocabulary.functions", name) for name in ("rad2deg", "sinc", "nan_to_num", "heaviside")
)
_bessel = later("vocabulary.special", "i0")


def _modf(x: Tensor) -> tuple[Tensor, Tensor]:
    x = inexact(x)
    rest = later("vocabulary.functions", "frac")(x)
    return arithmetic.where(ops.isinf(x), 0, rest), rounding.trunc(x)


def _sign(x: Tensor) -> Tensor:
    """The sign; of NaN it is NaN, where torch has 0."""
    sign = _complex["sgn"](x)
    return arithmetic.where(ops.isnan(x), np.nan, sign) if x._dtype.kind == "f" else sign


def _angle(z: Tensor, deg: bool = False) -> Tensor:
    found = _complex["angle"](z)
    return _rad2deg(found) if deg else found


def _imag(val: Tensor) -> Tensor:
    return _complex["imag"](val) if val.is_complex() else ops.zeros_like(val)


def _heaviside(x1: Tensor, x2: TensorLike) -> Tensor:
    x1, x2 = fractional(x1, x2)
    x1 = arithmetic.add(x1, ops.zeros_like(x2)) if isinstance(x2, Carrier) else x1  # x1 may be a number
    steps = arithmetic.where(ops.isnan(x1), np.nan, _step(x1, x2))
    return arithmetic.where(arithmetic.eq(x1, 0), x2, steps)


def _unwrap(p: Tensor, discont: float | None = None, axis: int = -1, *, period: float = 2 * np.pi) -> Tensor:
    whole = not hasattr(period, "dtype") and isinstance(period, int) and p._dtype.kind in "iu"
    p = p if whole else inexact(p)
    half = period // 2 if whole else period / 2
    steps = np.diff(p, axis=axis)
    small = np.remainder(steps + half, period) - half
    edge = np.equal(small, -half) & np.greater(steps, 0) if not (whole and period % 2) else np.zeros(1, bool)
    moves = np.where(edge, half, small) - steps
    moves = np.where(np.less(np.abs(steps), half if discont is None else discont), 0, moves)
    place = normalize_axis(axis, p.ndim, "unwrap")
    first = [slice(0, 1) if place == i else slice(None) for i in range(p.ndim)]
    return p + np.concatenate([np.zeros_like(p[tuple(first)]), np.cumsum(moves, axis=place)], place)


def _real_if_close(a: Tensor, tol: float = 100) -> Tensor:
    if not a.is_complex():
        return a
    bound = tol * finfo(a._dtype).eps if tol > 1 else tol
    return _complex["real"](a) if (np.abs(concrete(a).imag) < bound).all() else a


def _finite(
    x: Tensor, copy: bool = True, nan: ArrayLike = 0.0, posinf: ArrayLike | None = None, neginf: ArrayLike | None = None
) -> Tensor:
    result = _nan_to_num(x, nan, posinf, neginf)
    return result if copy else write(x, result, "nan_to_num")


def _wider(x: Tensor, least: float, greatest: float) -> Tensor:
    """The argument of a function of numpy.lib.scimath: complex where an element lies outside the real domain."""
    values = concrete(x)
    outside = values.dtype.kind != "c" and bool(((values < least) | (values > greatest)).any())
    return arithmetic.add(x, 0j) if outside else x


def _on_wider(name: str, least: float, greatest: float) -> Function:
    """The function of numpy.lib.scimath that is NumPy's function of a name on the real domain."""
    return lambda x: vars(np)[name](_wider(x, least, greatest))


# fmt: off
UFUNCS: dict[np.ufunc, Function] = {
    np.arccos: later("vocabulary.functions", "acos"), np.arccosh: later("vocabulary.functions", "acosh"), np.arcsin: later("vocabulary.functions", "asin"),
    np.arcsinh: later("vocabulary.functions", "asinh"), np.arctan: later("vocabulary.functions", "atan"), np.arctanh: later("vocabulary.functions", "atanh"),
    np.arctan2: later("vocabulary.functions", "atan2"), np.hypot: later("vocabulary.functions", "hypot"), np.cbrt: later("vocabulary.functions", "cbrt"),
    np.exp2: later("vocabulary.functions", "exp2"), np.log2: later("vocabulary.functions", "log2"), np.log10: later("vocabulary.functions", "log10"),
    np.logaddexp: later("vocabulary.functions", "logaddexp"), np.logaddexp2: later("vocabulary.functions", "logaddexp2"),
    np.deg2rad: later("vocabulary.functions", "deg2rad"), np.radians: later("vocabulary.functions", "deg2rad"),
    np.rad2deg: _rad2deg, np.degrees: _rad2deg, np.copysign: later("vocabulary.functions", "copysign"),
    np.fmax: later("vocabulary.functions", "fmax"), np.fmin: later("vocabulary.functions", "fmin"), np.fmod: later("vocabulary.functions", "fmod"),
    np.float_power: later("vocabulary.functions", "float_power"), np.nextafter: later("vocabulary.functions", "nextafter"),
    np.ldexp: later("vocabulary.functions", "ldexp"), np.frexp: later("vocabulary.functions", "frexp"), np.modf: _modf,
    np.divmod: lambda a, b: (arithmetic.floor_divide(a, b), arithmetic.remainder(a, b)),
    np.heaviside: _heaviside, np.fabs: lambda x: arithmetic.abs(inexact(x)), np.sign: _sign,
    np.gcd: later("vocabulary.bits", "gcd"), np.lcm: later("vocabulary.bits", "lcm"), np.signbit: later("vocabulary.bits", "signbit"),
    np.left_shift: arithmetic.bitwise_left_shift, np.right_shift: arithmetic.bitwise_right_shift,
}

FUNCTIONS: dict[Function, Function] = {
    np.sinc: lambda x: _sinc(x), np.fix: lambda x, out=None: rounding.trunc(x),
    np.nan_to_num: _finite,
    np.unwrap: _unwrap, np.i0: lambda x: _bessel(x), np.real_if_close: _real_if_close,
    **{vars(np.emath)[name]: _on_wider(name, 0.0, math.inf) for name in ("sqrt", "log", "log2", "log10")},
    **{vars(np.emath)[name]: _on_wider(name, -1.0, 1.0) for name in ("arcsin", "arccos", "arctanh")},
    np.emath.power: lambda x, p: np.power(_wider(x, 0.0, math.inf), p),
    np.emath.logn: lambda n, x: np.log(_wider(x, 0.0, math.inf)) / np.log(_wider(n, 0.0, math.inf)),
    np.angle: _angle, np.real: lambda val: _complex["real"](val), np.imag: _imag,
}

# fmt: on
