"""Samples of the primitives of `ops.functions`."""

from __future__ import annotations

from .makers import Row, between, fractions, positive, reals, whole

PAIRS = "atan2 hypot copysign fmax fmin logaddexp logaddexp2 nextafter".split()

# fmt: off
ROWS: list[Row] = [
    *((name, [reals(*shape)], {})
      for name in ("asinh", "atan", "exp2", "deg2rad", "rad2deg", "cbrt", "sinc", "nan_to_num") for shape in ((3, 2), ())),
    *((name, [fractions(*shape)], {}) for name in ("acos", "asin", "atanh") for shape in ((3, 2), ())),
    *((name, [positive(*shape)], {}) for name in ("log2", "log10") for shape in ((3, 2), ())),
    ("acosh", [lambda rng: 1 + positive(3, 2)(rng)], {}),
    *((name, [between(4)], {}) for name in ("frac",)),
    *(("round_to", [between(4)], {"decimals": decimals}) for decimals in (0, -1)),
    ("logit", [fractions(3, 2)], {"eps": None}),
    ("logit", [fractions(6)], {"eps": 0.23}),
    *((name, [reals(*a), reals(*b)], {})
      for name in PAIRS for a, b in [((3, 2), (3, 2)), ((3, 1), (2,)), ((), (3,)), ((2, 1), (1, 3))]),
    *(("hypot_slope", [reals(3, 1), reals(2)], {"place": place}) for place in (0, 1)),
    *((name, [between(3, 2), positive(2)], {}) for name in ("fmod", "floor_quotient", "trunc_quotient", "whole_quotient")),
    ("xlogy", [reals(3, 2), positive(2)], {}),
    ("xlogy", [reals(), positive(3)], {}),
    *(("lerp", [reals(3, 2), reals(*b), reals(*w)], {}) for b, w in [((3, 2), ()), ((2,), (3, 1)), ((), (3, 2))]),
    ("ldexp", [reals(3, 2), whole(5, 3, 2)], {}),
]
# fmt: on
