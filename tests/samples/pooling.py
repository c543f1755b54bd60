"""Samples of the primitives of `ops.pooling`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback import ops
from pullback.ops.convolution import Window

from .makers import Maker, Row, distinct, reals

Sizes = tuple[int, ...]

# The shape of an image, of a window, how it moves, and the lengths of the result; the last one hangs over the edge.
CASES: list[tuple[Sizes, Sizes, Window, Sizes]] = [
    ((2, 3, 7), (2,), Window((2,), (0,), (1,)), (3,)),
    ((2, 2, 6), (3,), Window((1,), (1,), (1,)), (6,)),
    ((2, 1, 4, 6), (2, 3), Window((2, 3), (0, 0), (1, 1)), (2, 2)),
    ((1, 2, 5, 6), (3, 2), Window((2, 1), (1, 1), (1, 1)), (3, 7)),
    ((1, 2, 4, 3, 5), (2, 2, 3), Window((2, 1, 2), (1, 0, 1), (1, 1, 1)), (3, 2, 3)),
    ((2, 2, 6), (2,), Window((4,), (1,), (1,)), (2,)),
    ((1, 1, 5, 5), (2, 2), Window((2, 2), (0, 0), (1, 1)), (3, 3)),
]
SPREAD_OUT = ((2, 2, 7, 6), (2, 3), Window((2, 1), (0, 1), (3, 2)), (2, 4))
DIVISORS: list[tuple[int | None, bool]] = [(None, False), (None, True), (3, False)]


def columns(high: int, *shape: int) -> Maker:
    """Indices along the last axis, of which no row holds one twice."""
    rows = int(np.prod(shape[:-1]))
    return lambda rng: np.stack([rng.permutation(high)[: shape[-1]] for _ in range(rows)]).reshape(shape)


def _ties(image: Sizes, kernel: Sizes, window: Window, lengths: Sizes) -> Row:
    """What `max_spread` takes: cotangents, an image of whole numbers with ties, and its maxima."""
    count = int(np.prod(image))
    x = (np.arange(count) * 7 % count // 3).reshape(image)
    y = ops.max_pool.forward(x, kernel=kernel, window=window, lengths=lengths)
    params = {"kernel": kernel, "window": window}
    return "max_spread", [reals(*image[:2], *lengths), lambda _: x.copy(), lambda _: y.copy()], params


def _means(image: Sizes, kernel: Sizes, window: Window, lengths: Sizes, divisor: int | None, inside: bool) -> list[Row]:
    params: dict[str, Any] = {"kernel": kernel, "window": window, "divisor": divisor, "inside": inside}
    return [
        ("window_mean", [reals(*image)], {"lengths": lengths, **params}),
        ("window_spread", [reals(*image[:2], *lengths)], {"size": image[2:], **params}),
    ]


ROWS: list[Row] = [
    *(row for case in CASES for way in DIVISORS for row in _means(*case, *way)),
    *(
        ("max_pool", [distinct(*image)], {"kernel": kernel, "window": window, "lengths": lengths})
        for image, kernel, window, lengths in (*CASES, SPREAD_OUT)
    ),
    *(_ties(*case) for case in (*CASES, SPREAD_OUT)),
    ("gather", [reals(2, 3, 5), columns(5, 2, 3, 4)], {}),
    ("gather", [reals(2, 3, 5), columns(5, 2, 1, 4)], {}),
    ("gather", [reals(2, 1, 5), lambda rng: rng.integers(0, 5, (2, 1, 9))], {}),
    ("accumulate", [reals(2, 3, 4), columns(5, 2, 3, 4)], {"size": 5, "apart": True}),
    ("accumulate", [reals(2, 3, 4), columns(5, 2, 1, 4)], {"size": 5, "apart": False}),
    ("accumulate", [reals(2, 2, 9), lambda rng: rng.integers(0, 5, (2, 2, 9))], {"size": 5, "apart": False}),
    ("put", [reals(2, 3, 4), columns(7, 2, 3, 4)], {"size": 7}),
]
