"""NumPy's elementwise functions of tensors by the operations of the vocabulary that are imported when one is called.

`numpy_names` has them in its tables.
"""

# ruff: noqa: PLW0108  # the signature of a lambda gives the parameters their names in NumPy

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import ops
from .._promotion import inexact
from . import arithmetic, load

Function = Callable[..., Any]


def _of(module: str, name: str) -> Function:
    """A function of the vocabulary by its module and name."""
    return lambda *args, **options: load(f"vocabulary.{module}", name)(*args, **options)


_complex = {name: _of("complexes", name) for name in ("angle", "real", "imag", "sgn")}
_rad2deg, _sinc, _nan_to_num = (_of("functions", name) for name in ("rad2deg", "sinc", "nan_to_num"))


def _modf(x: Any) -> Any:
    return _of("functions", "frac")(inexact(x)), arithmetic.trunc(x)


def _angle(z: Any, deg: bool = False) -> Any:
    found = _complex["angle"](z)
    return _rad2deg(found) if deg else found


def _imag(val: Any) -> Any:
    return _complex["imag"](val) if val.is_complex() else ops.zeros_like(val)


# fmt: off
UFUNCS: dict[np.ufunc, Function] = {
    np.arccos: _of("functions", "acos"), np.arccosh: _of("functions", "acosh"), np.arcsin: _of("functions", "asin"),
    np.arcsinh: _of("functions", "asinh"), np.arctan: _of("functions", "atan"), np.arctanh: _of("functions", "atanh"),
    np.arctan2: _of("functions", "atan2"), np.hypot: _of("functions", "hypot"), np.cbrt: _of("functions", "cbrt"),
    np.exp2: _of("functions", "exp2"), np.log2: _of("functions", "log2"), np.log10: _of("functions", "log10"),
    np.logaddexp: _of("functions", "logaddexp"), np.logaddexp2: _of("functions", "logaddexp2"),
    np.deg2rad: _of("functions", "deg2rad"), np.radians: _of("functions", "deg2rad"),
    np.rad2deg: _rad2deg, np.degrees: _rad2deg, np.copysign: _of("functions", "copysign"),
    np.fmax: _of("functions", "fmax"), np.fmin: _of("functions", "fmin"), np.fmod: _of("functions", "fmod"),
    np.float_power: _of("functions", "float_power"), np.nextafter: _of("functions", "nextafter"),
    np.ldexp: _of("functions", "ldexp"), np.frexp: _of("functions", "frexp"), np.modf: _modf,
    np.divmod: lambda a, b: (arithmetic.floor_divide(a, b), arithmetic.remainder(a, b)),
    np.fabs: lambda x: arithmetic.abs(inexact(x)), np.sign: _complex["sgn"],
    np.gcd: _of("bits", "gcd"), np.lcm: _of("bits", "lcm"), np.signbit: _of("bits", "signbit"),
    np.left_shift: arithmetic.bitwise_left_shift, np.right_shift: arithmetic.bitwise_right_shift,
}

FUNCTIONS: dict[Function, Function] = {
    np.sinc: lambda x: _sinc(x), np.fix: lambda x, out=None: arithmetic.trunc(x),
    np.nan_to_num: lambda x, copy=True, nan=0.0, posinf=None, neginf=None: _nan_to_num(x, nan, posinf, neginf),
    np.angle: _angle, np.real: lambda val: _complex["real"](val), np.imag: _imag,
}

VALUES_ONLY: set[Function] = {np.isin, np.isposinf, np.isneginf, np.isreal, np.iscomplex}
# fmt: on
