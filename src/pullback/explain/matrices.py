"""Arrays as text that fits: with all digits, with three, or as shape and norm, whichever the width allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .arrays import Kept, Summary
from .layout import columns, cut
from .numbers import DIGITS, grid, nested, row, rows, short
from .trace import Call, Leaf

SHOWN = 12
"""The number of elements up to which arrays are shown by their numbers."""
FEW = 3
"""The number of digits where all of them do not fit."""
MOST_LINES = 8
"""The number of rows up to which a Jacobian is drawn."""


def shape_text(shape: Sequence[int]) -> str:
    """A shape: `2x3`, and `scalar` for a number."""
    return "x".join(map(str, shape)) or "scalar"


def value_text(value: Kept | None, *, brief: bool = False) -> str:
    """A value in the notation of data, or a description: shape and range, or, with `brief`, the shape."""
    if value is None:
        return "not kept"
    if isinstance(value, Summary):
        stats = value.stats
        if stats is None:
            return f"{value.dtype} {shape_text(value.shape)}"
        known = stats.min is not None and stats.max is not None and not brief
        ends = f", {short(stats.min)} to {short(stats.max)}" if known else ""
        wrong = "".join(f", {n} {word}" for n, word in ((stats.nans, "nan"), (stats.infs, "inf")) if n)
        return f"{shape_text(value.shape)}{ends}{wrong}"
    small = value.size <= SHOWN and value.ndim <= 2
    return nested(value) if small else value_text(Summary(value), brief=brief)


def vector_text(value: Kept | None, *, brief: bool = False) -> str:
    """A vector in the notation of gradients; a long one by shape and norm, or, with `brief`, the norm."""
    if value is None:
        return "nothing"
    if not isinstance(value, Summary) and value.size <= SHOWN:
        return row(value)
    what = norm_text(value)
    return what if brief and what else ", ".join(filter(None, (shape_text(value.shape), what)))


def norm_text(value: Kept) -> str:
    """The norm of an array, or that it has NaN or inf; empty if it is not known."""
    stats = value.stats if isinstance(value, Summary) else Summary(value).stats
    if stats is None:
        return ""
    return "has nan" if stats.nans else "has inf" if stats.infs else f"norm {short(stats.norm, FEW)}"


def size_text(value: Kept) -> str:
    """A number with three digits, or an array's norm."""
    if not isinstance(value, Summary) and value.size == 1:
        return short(value.reshape(-1)[0], FEW)
    return norm_text(value).removeprefix("norm ")


def forms(value: Kept | None, *, scalars: bool = False) -> Iterator[str]:
    """An array in the forms from the longest to the shortest; with `scalars`, a number has no brackets."""
    if value is None:
        yield "not kept"
        return
    if not isinstance(value, Summary) and value.size <= SHOWN and value.ndim <= 2:
        for digits in (DIGITS, FEW):
            if scalars and value.ndim == 0:
                yield short(value[()], digits)
            else:
                yield rows(value, digits) if value.ndim == 2 else row(value, digits)
        if value.ndim == 0:
            return
    shape, norm = shape_text(value.shape), norm_text(value)
    if norm and shape != "scalar":
        yield f"{shape}, {norm}"
    yield norm or shape
    if norm.startswith("norm "):
        yield f"|{norm.removeprefix('norm ')}|"


def fit(value: Kept | None, room: int, *, scalars: bool = True) -> str:
    """An array in the first of its forms that fits."""
    text = ""
    for text in forms(value, scalars=scalars):
        if columns(text) <= room:
            return text
    return cut(text, room)


def matrix_text(matrix: np.ndarray, digits: int = DIGITS) -> str:
    """A Jacobian on one line; of a diagonal one the diagonal."""
    square = matrix.shape[0] == matrix.shape[1] > 1
    if square and not matrix[~np.eye(len(matrix), dtype=bool)].any():
        return f"diag{row(np.diagonal(matrix), digits)}"
    return rows(matrix, digits)


def product(call: Call, leaf: Leaf, width: int) -> list[str]:
    """`v @ J = x.grad` as small matrices, or, where they do not fit, their shapes and norms; nothing without J."""
    matrix, name = leaf.J, f"{leaf.tensor.name}.grad"
    if matrix is None or len(call.outputs) > 1 or not matrix.size:
        return []
    v, grad = call.outputs[0].gradient, leaf.grad
    whole = not isinstance(v, Summary) and not isinstance(grad, Summary)
    for digits in (DIGITS, FEW) if whole and len(matrix) <= MOST_LINES else ():
        lines = _drawn(row(v, digits), grid(matrix, digits), row(grad, digits), name)
        if max(map(columns, lines)) <= width:
            return lines
    shape = f"{matrix.shape[0]}x{matrix.shape[1]}"
    sizes = [norm_text(each) for each in (v, matrix, grad)]
    heads = [f"v ({matrix.shape[0]})", f"J ({shape})", f"{name} ({matrix.shape[1]})"]
    wide = [max(columns(a), columns(b)) for a, b in zip(heads, sizes, strict=True)]
    lines = ["", ""]
    for mark, head, size, room in zip(("", "  @  ", "  =  "), heads, sizes, wide, strict=True):
        lines[0] += f"{' ' * len(mark)}{head.ljust(room)}"
        lines[1] += f"{mark}{size.ljust(room)}"
    return [f"    {line}".rstrip() for line in lines]


def _drawn(v: str, matrix: list[str], grad: str, name: str) -> list[str]:
    middle, wide = (len(matrix) - 1) // 2, max(map(len, matrix))
    lines = [f"    {'v'.center(len(v))}     {'J'.center(wide)}     {name}".rstrip()]
    for index, text in enumerate(matrix):
        if index == middle:
            lines.append(f"    {v}  @  {text.ljust(wide)}  =  {grad}")
        else:
            lines.append(f"    {' ' * len(v)}     {text}")
    return lines
