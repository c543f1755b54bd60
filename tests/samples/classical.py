"""Samples of the primitives of `ops.classical`."""

from __future__ import annotations

import numpy as np

from .makers import Maker, Row, fractions, positive, reals


def _orders(*numbers: int) -> Maker:
    """Orders of Bessel functions and the like, which have no derivative."""
    return lambda rng: np.array(numbers)


LINE = (
    "dawsn erfi expi sine_of_sici sine_of_shichi sine_of_fresnel cosine_of_fresnel wrightomega cosm1 sindg cosdg tandg cotdg"
).split()

# fmt: off
ROWS: list[Row] = [
    *((name, [make], {}) for name in LINE for make in (reals(3, 2), reals())),
    *((name, [make], {}) for name in "gamma exp1 cosine_of_sici cosine_of_shichi".split() for make in (positive(3, 2), positive())),
    *((name, [fractions(3, 2)], {}) for name in "erfcinv ellipk ellipe ellipd".split()),
    *((name, [positive(3, 2), positive(2)], {}) for name in "beta betaln poch owens_t rel_entr kl_div pseudo_huber powm1".split()),
    ("binom", [lambda rng: rng.uniform(3, 5, (3, 2)), positive(2)], {}),
    ("expn", [_orders(0, 1, 3), positive(3)], {}),
    ("betaincc", [lambda rng: rng.uniform(0.4, 3, (3, 1)), positive(2), fractions(3, 2)], {}),
    *((name, [lambda rng: rng.uniform(0.4, 3, (3, 1)), fractions(2)], {}) for name in ("gammaincinv", "gammainccinv")),
    ("betaincinv", [lambda rng: rng.uniform(0.6, 3, (3, 1)), positive(2), fractions(3, 2)], {}),
    *((name, [_orders(-1, 0, 1, 2), positive(2, 4)], {}) for name in "jv yv iv kv ive kve".split()),
    ("lambertw", [lambda rng: 1 + rng.uniform(1, 2, (3, 2)) * 1j, _orders(0, -1)], {"tol": 1e-12}),
    ("hyp0f1", [_orders(3, 2), reals(3, 2)], {}),
    ("hyp1f1", [_orders(3, -2), _orders(1, 4), reals(3, 2)], {}),
    ("hyp2f1", [_orders(3, 2), _orders(1, -2), _orders(1, 4), fractions(3, 2)], {}),
    *((name, [positive(3, 2), _orders(0, 2)], {}) for name in "boxcox boxcox1p inv_boxcox inv_boxcox1p".split()),
]
# fmt: on
