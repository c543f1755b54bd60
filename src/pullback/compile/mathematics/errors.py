"""The error function and its inverse."""

from __future__ import annotations

import math

from ..._numerics import error_functions
from ..._numerics.coefficients import ERF, LOG_ERFC
from ..._numerics.error_functions import NORMAL, NORMAL_FAR, NORMAL_MIDDLE, ROOT_HALF
from . import words
from .exponentials import exp_of_moderate
from .lanes import IRValue

SINGLES_ERF_IS_ONE = 4.0


def erf(x: IRValue) -> IRValue:
    """The error function; of floats in floats: a polynomial up to 1, then 1 - erfc, whose logarithm is a polynomial."""
    if x.kind == "d":
        return error_functions.erf(x, words)  # type: ignore[no-any-return]  # a word
    near = x.mad((x * x).polynomial(ERF["f"]), x)
    rest = exp_of_moderate(abs(x).at_most(SINGLES_ERF_IS_ONE).polynomial(LOG_ERFC["f"]))
    return (abs(x) < 1).select(near, (1 - rest).copysign(x))


def _quantile(x: IRValue) -> IRValue:
    """The inverse of erf, of doubles, to some units in the last place: Wichura's quotients, see `_error_functions`."""
    half = 0.5 * x
    inner, root = abs(half) <= 0.425, (-words.log(0.5 - abs(half))).sqrt()
    middle = root <= 5
    place = 0.180625 - half * half, root - 1.6, root - 5
    over, under = (
        [y.polynomial(parts[i]) for y, parts in zip(place, (NORMAL, NORMAL_MIDDLE, NORMAL_FAR), strict=True)]
        for i in (0, 1)
    )
    above = inner.select(half * over[0], middle.select(over[1], over[2]).copysign(x))
    return ROOT_HALF * above / inner.select(under[0], middle.select(under[1], under[2]))


def erfinv(x: IRValue) -> IRValue:
    """The inverse of erf; NaN beyond 1. Doubles are improved by a step of Newton's method."""
    ends = abs(x) == 1
    if x.kind == "f":
        return ends.select(x * math.inf, _quantile(x.to("d")).to("f"))
    y = _quantile(x)
    size = abs(y)
    near, beyond = error_functions.erf_near(size, words), error_functions.erfc_beyond(size, words)
    error = (size < 1).select(near - abs(x), (1 - abs(x)) - beyond)
    better = size - error * (math.sqrt(math.pi) / 2) * exp_of_moderate(size * size)
    return ends.select(x * math.inf, better.copysign(x))
