"""The formulas of special functions, of one element: what NumPy computes arrays by, and machine code values of its own.

This is what other rooms take from here: see `arrays` for the words in which a formula is written, its `xp`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from . import error_functions, gamma_functions


class Formula(NamedTuple):
    """A function of an element, as `doubles(x, xp=...)`; for results in float32 a shorter one, if there is one."""

    doubles: Callable[..., Any]
    singles: Callable[..., Any] | None = None


FORMULAS = {
    "erf": Formula(error_functions.erf),
    "erf_near": Formula(error_functions.erf_near),
    "erfc": Formula(error_functions.erfc, error_functions.erfc_of_singles),
    "erfc_beyond": Formula(error_functions.erfc_beyond),
    "erfinv": Formula(error_functions.erfinv),
    "lgamma": Formula(gamma_functions.lgamma, gamma_functions.lgamma_of_singles),
    "digamma": Formula(gamma_functions.digamma, gamma_functions.digamma_of_singles),
    "polygamma": Formula(gamma_functions.polygamma),
}
"""By the names of primitives; erf near 0 and erfc beyond 1 are parts that more accurate ones are made of."""
