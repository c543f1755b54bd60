"""Samples of the primitives of `ops.special`."""

from __future__ import annotations

import numpy as np

from pullback._numerics.polynomials import RECURRENCES

from .makers import Maker, Row, between, fractions, positive, reals, whole

LINE = "erf erfc erfcx erfcx_slope ndtr log_ndtr airy airy_slope".split()
EVEN = "bessel_j bessel_i scaled_bessel_i spherical_bessel_j".split()
ABOVE_ZERO = "bessel_y bessel_k scaled_bessel_k".split()


def _from(low: float, high: float, *shape: int) -> Maker:
    """Numbers in an interval."""
    return lambda rng: rng.uniform(low, high, shape)


def _degrees(*shape: int) -> Maker:
    return lambda rng: np.arange(np.prod(shape, dtype=int)).reshape(shape)


# fmt: off
ROWS: list[Row] = [
    *((name, [make], {}) for name in LINE for make in (reals(3, 2), reals(), _from(-5, 5, 6))),
    *((name, [make], {}) for name in ("erfinv", "ndtri") for make in (fractions(3, 2), fractions())),
    ("entr", [positive(3, 2)], {}),
    ("xlog1py", [reals(3, 2), positive(2)], {}),
    *((name, [make], {}) for name in ("lgamma", "digamma") for make in (positive(3), positive(), between(2, 3), _from(2, 15, 5))),
    *(("polygamma", [make], {"n": n}) for n in (0, 1, 3) for make in (positive(3), between(2, 2), _from(2, 15, 5))),
    *(("zeta", [_from(1.5, 5, 3, 2), positive(2)], {"order": order}) for order in (0, 1)),
    *((name, [reals(3, 2)], {"order": order}) for name in EVEN for order in (0, 1, 2)),
    *((name, [positive(3, 2)], {"order": order}) for name in ABOVE_ZERO for order in (0, 1, 2)),
    *((name, [_from(0.4, 3, 3, 2), _from(0.3, 4, 2)], {}) for name in ("gammainc", "gammaincc")),
    *(("gammainc_by_shape", [_from(0.4, 3, 3, 2), _from(0.3, 4, 2)], {"order": order}) for order in (1, 2)),
    ("betainc", [_from(0.4, 3, 3, 1), _from(0.4, 3, 2), fractions(3, 2)], {}),
    *(
        ("betainc_by_shapes", [_from(0.4, 3, 3, 1), _from(0.4, 3, 2), fractions(3, 2)], {"order": order})
        for order in ((1, 0), (0, 1), (1, 1))
    ),
    *(("orthogonal_polynomial", [reals(2, 1), whole(6, 5)], {"family": family, "order": 0}) for family in RECURRENCES),
    ("orthogonal_polynomial", [reals(), _degrees(6)], {"family": "legendre_p", "order": 1}),
]
# fmt: on
