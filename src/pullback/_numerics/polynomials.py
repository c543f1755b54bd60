"""Orthogonal polynomials and their derivatives, by the three-term recurrences that define them.

The recurrences are table 18.9.1 of the NIST Digital Library of Mathematical Functions, p(k+1) = (a x + b) p(k) - c p(k-1)
from p(-1) = 0 and p(0) = 1. The derivative of order d of such a recurrence is one of the same kind,
p_d(k+1) = (a x + b) p_d(k) + d a p_(d-1)(k) - c p_d(k-1): exact everywhere, including the ends of the interval.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .._core.typing import Array

# For each family a, b and c of step k; in some families the first step differs.
RECURRENCES: dict[str, Callable[[int], tuple[float, float, float]]] = {
    "chebyshev_t": lambda k: (2 if k else 1, 0, 1),
    "chebyshev_u": lambda k: (2, 0, 1),
    "chebyshev_v": lambda k: (2, 0 if k else -1, 1),
    "chebyshev_w": lambda k: (2, 0 if k else 1, 1),
    "shifted_chebyshev_t": lambda k: (4 if k else 2, -2 if k else -1, 1),
    "shifted_chebyshev_u": lambda k: (4, -2, 1),
    "shifted_chebyshev_v": lambda k: (4, -2 if k else -3, 1),
    "shifted_chebyshev_w": lambda k: (4, -2 if k else -1, 1),
    "hermite_h": lambda k: (2, 0, 2 * k),
    "hermite_he": lambda k: (1, 0, k),
    "laguerre_l": lambda k: (-1 / (k + 1), (2 * k + 1) / (k + 1), k / (k + 1)),
    "legendre_p": lambda k: ((2 * k + 1) / (k + 1), 0, k / (k + 1)),
}


def orthogonal_polynomial(x: Array, n: Array, *, family: str, order: int = 0) -> Array:
    """The `order`-th derivative at x of the polynomial of integer degree n; 0 for n < 0 or not finite, as in torch."""
    x, n = np.broadcast_arrays(x, n)
    recurrence = RECURRENCES[family]
    degree = np.trunc(n)
    highest = max((d for d in degree.ravel().tolist() if d < np.inf), default=-1)
    zeros = np.zeros(x.shape)
    now = [zeros + 1, *[zeros] * order]
    before = [zeros] * (order + 1)
    out = np.where(degree == 0, now[order], 0)
    for k in range(int(highest)):
        a, b, c = recurrence(k)
        slope = a * x + b
        following = [
            slope * p + (d * a * now[d - 1] if d else 0) - c * q
            for d, (p, q) in enumerate(zip(now, before, strict=True))
        ]
        now, before = following, now
        reached = degree == k + 1
        if reached.any():
            out = np.where(reached, now[order], out)
    return out
