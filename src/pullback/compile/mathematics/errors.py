"""The error function and its inverse."""

from __future__ import annotations

import math

from ..._numerics.formulas import FORMULAS
from .coefficients import ERF, LOG_ERFC
from .exponentials import exp_of_moderate
from .lanes import IRValue
from .operations import IR

SINGLES_ERF_IS_ONE = 4.0


def erf(x: IRValue) -> IRValue:
    """The error function; of floats in floats: a polynomial up to 1, then 1 - erfc, whose logarithm is a polynomial."""
    if x.kind == "d":
        found: IRValue = FORMULAS["erf"].doubles(x, IR)
        return found
    near = x.mad((x * x).polynomial(ERF["f"]), x)
    rest = exp_of_moderate(abs(x).at_most(SINGLES_ERF_IS_ONE).polynomial(LOG_ERFC["f"]))
    return (abs(x) < 1).select(near, (1 - rest).copysign(x))


def erfinv(x: IRValue) -> IRValue:
    """The inverse of erf; NaN beyond 1. Doubles are improved by a step of Newton's method."""
    y: IRValue = FORMULAS["erfinv"].doubles(x.to("d"), IR).to(x.kind)
    if x.kind == "f":
        return y
    size = abs(y)
    near, beyond = FORMULAS["erf_near"].doubles(size, IR), FORMULAS["erfc_beyond"].doubles(size, IR)
    error = (size < 1).select(near - abs(x), (1 - abs(x)) - beyond)
    better = size - error * (math.sqrt(math.pi) / 2) * exp_of_moderate(size * size)
    return (size == math.inf).select(y, better.copysign(x))
