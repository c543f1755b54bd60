"""Samples of the primitives of `ops.convolution`."""

from __future__ import annotations

from typing import Any

from pullback.ops.convolution import Window

from .makers import Row, reals

Sizes = tuple[int, ...]

# Shapes of an image and of a weight, and how the window moves.
CASES: list[tuple[Sizes, Sizes, Window]] = [
    ((2, 3, 5), (4, 3, 2), Window((1,), (0,), (1,))),
    ((2, 2, 7), (4, 1, 3), Window((2,), (1,), (2,), 2)),
    ((2, 2, 4, 5), (3, 2, 3, 2), Window((1, 1), (1, 0), (1, 2))),
    ((1, 4, 4, 3), (2, 2, 1, 1), Window((1, 1), (0, 0), (1, 1), 2)),
    ((2, 2, 5, 6), (2, 1, 2, 3), Window((2, 3), (1, 2), (2, 1), 2)),
    ((1, 2, 3, 4, 3), (2, 2, 2, 2, 2), Window((1, 1, 1), (0, 1, 0), (1, 1, 1))),
    ((1, 2, 5, 4, 3), (2, 2, 2, 1, 2), Window((2, 1, 1), (0, 0, 1), (1, 1, 2))),
    ((0, 2, 4), (3, 2, 2), Window((1,), (0,), (1,))),
]


def _result(image: Sizes, weight: Sizes, window: Window) -> Sizes:
    return (image[0], weight[0], *window.lengths(image[2:], weight[2:]))


def _both(image: Sizes, weight: Sizes, window: Window) -> list[Row]:
    """The rows of the family for one convolution."""
    result = _result(image, weight, window)
    shared: dict[str, Any] = {"window": window}
    return [
        ("convolve", [reals(*image), reals(*weight)], shared),
        ("convolve_transpose", [reals(*result), reals(*weight)], {"size": image[2:], **shared}),
        ("convolve_weight", [reals(*image), reals(*result)], {"kernel": weight[2:], **shared}),
    ]


def _folds(image: Sizes, kernel: Sizes, window: Window) -> list[Row]:
    """The rows of columns and their overlay."""
    depth, count = image[1], 1
    for n, length in zip(kernel, window.lengths(image[2:], kernel), strict=True):
        depth, count = depth * n, count * length
    params: dict[str, Any] = {"kernel": kernel, "window": window}
    return [
        ("window_columns", [reals(*image)], params),
        ("window_overlay", [reals(image[0], depth, count)], {"size": image[2:], **params}),
    ]


ROWS: list[Row] = [
    *(row for case in CASES for row in _both(*case)),
    *(row for image, weight, window in CASES for row in _folds(image, weight[2:], window)),
    # A transpose whose padding of the output makes room for one more window
    ("convolve_transpose", [reals(2, 2, 3), reals(2, 3, 2)], {"size": (7,), "window": Window((1,), (0,), (3,))}),
    ("convolve_weight", [reals(2, 3, 7), reals(2, 2, 3)], {"kernel": (2,), "window": Window((1,), (0,), (3,))}),
    ("attached", [reals(2, 3), reals(2, 3)], {}),
    ("biased", [reals(2, 3, 4), reals(3)], {}),
    ("biased", [reals(2, 3, 2, 2), reals(3)], {}),
]
