"""Samples of the primitives of `ops.activations`."""

from __future__ import annotations

from .makers import Row, reals

# fmt: off
ROWS: list[Row] = [
    *((name, [make], {}) for name in
      ("silu", "mish", "gelu", "gelu_by_tanh", "logistic", "softsign", "tanhshrink", "logsigmoid", "hardsigmoid", "hardswish") for make in (reals(3, 2), reals())),
    *(("leaky_relu", [reals(3, 2)], {"slope": slope}) for slope in (0.01, 0, -0.5, 2)),
    *(("prelu", [reals(3, 2), reals(*shape)], {}) for shape in ((2,), (), (3, 2))),
    *(("prelu_pullback", [reals(3, 2), reals(3, 2), reals(*shape)], {}) for shape in ((2,), (), (3, 2))),
    *(("elu", [reals(3, 2)], {"alpha": alpha, "scale": scale, "input_scale": slope})
      for alpha, scale, slope in ((1.0, 1.0, 1.0), (0.7, 1.2, 0.4), (-0.5, 1.0, 2.0))),
    *(("softplus", [reals(3, 2)], {"beta": beta, "threshold": limit}) for beta, limit in ((1, 20), (2.5, 20), (1, 0.5))),
    *(("hardtanh", [reals(6)], {"lower": lower, "upper": upper}) for lower, upper in ((-1.01, 0.99), (0, 6))),
    *((name, [reals(6)], {"bound": bound}) for name in ("hardshrink", "softshrink") for bound in (0.99, 0)),
    ("leaky_factor", [reals(6)], {"slope": 0.2}),
    ("above", [reals(6)], {"bound": 0.99}),
    ("within", [reals(6)], {"lower": -1.01, "upper": 0.99}),
    ("beyond", [reals(6)], {"bound": 0.99}),
    ("not_clipped", [reals(6)], {"lower": -1.01, "upper": 0.99}),
    ("threshold", [reals(6)], {"bound": 0.99, "value": 20}),
]
# fmt: on
