"""Samples of the primitives of `ops.dot_product_attention`."""

from __future__ import annotations

from .makers import Row, reals

OPTIONS = {"scale": 0.6, "known": None}
SHAPES = (((4,), (5,), (4, 5)), ((2, 1, 4), (2, 1, 5), (2, 1, 1, 5)), ((1,), (1,), (1,)))

# fmt: off
ROWS: list[Row] = [
    *((name, [*([reals(*q, 2)] if "pullback" in name else []), reals(*q, 3), reals(*k, 3), reals(*k, 2),
              *([reals(*mask)] if "masked" in name else [])], OPTIONS)
      for name in ("attention", "masked_attention", "attention_pullback", "masked_attention_pullback")
      for q, k, mask in SHAPES),
]
# fmt: on
