"""Samples of the primitives of `ops.elementwise`."""

from __future__ import annotations

import numpy as np

from .makers import Row, between, mask, positive, reals

UNARY = "negative square abs exp expm1 sin cos tan sinh cosh tanh sigmoid relu zeros_like reciprocal conj".split()

# fmt: off
ROWS: list[Row] = [
    *((name, [reals(3, 2)], {}) for name in UNARY),
    *((name, [reals()], {}) for name in UNARY),
    *((name, [positive(3, 2)], {}) for name in ("sqrt", "rsqrt", "log", "log1p")),
    *((name, [between(4)], {}) for name in ("floor", "ceil", "rint", "trunc", "sign")),
    *(
        (name, [reals(*a), reals(*b)], {})
        for name in ("add", "subtract", "rsub", "multiply", "divide", "maximum", "minimum")
        for a, b in [((3, 2), (3, 2)), ((3, 1), (2,)), ((), (3,)), ((2, 1), (1, 3))]
    ),
    *(
        (name, [reals(*a), reals(*b)], {})
        for name in ("tanh_pullback", "sigmoid_pullback")
        for a, b in [((3, 2), (3, 2)), ((), ()), ((2, 3), (3,))]
    ),
    ("remainder", [between(3, 2), positive(2)], {}),
    *(("modulo", [between(3, 2)], {"divisor": divisor}) for divisor in (1, 2.5, -3)),
    *(("exponential", [reals(3)], {"base": base}) for base in (2.0, 0.5, 1.0)),
    ("pow", [positive(3, 2), reals(2)], {}),
    ("pow", [positive(), reals(3)], {}),
    *(("power", [positive(3)], {"exponent": p}) for p in (0, 1, 2, 3, -1, 0.5, -0.5, 2.7)),
    *(("power", [reals(3)], {"exponent": p}) for p in (2, 3, -2)),
    ("where", [mask(3, 2), reals(3, 2), reals(2)], {}),
    ("where", [mask(3), reals(), reals(3)], {}),
    ("select", [mask(3, 2), reals(3, 2)], {}),
    ("bend", [reals(3, 2), lambda rng: np.zeros((3, 2), bool)], {}),
    ("select", [mask(40, 50), reals(40, 50)], {}),
    ("clip", [reals(6)], {"lower": -1.01, "upper": 0.99}),
    ("clip", [reals(6)], {"lower": None, "upper": 0.99}),
    ("clip", [reals(6)], {"lower": -1.01, "upper": None}),
    ("clip_by", [reals(6), reals(1), reals(6)], {}),
]
# fmt: on
