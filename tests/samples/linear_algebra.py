"""Samples of the primitives of `ops.linear_algebra`."""

from __future__ import annotations

from .makers import Row, reals

PRODUCTS: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3,)), ((3,), (5, 3, 2)),
    ((5, 2, 3), (5, 3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((5, 1, 2, 3), (4, 3, 2)),
]  # fmt: skip
SUMS: list[tuple[str, list[tuple[int, ...]]]] = [
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij->ji", [(2, 3)]), ("ij->", [(2, 3)]), ("ij->j", [(2, 3)]),
    ("i,i->", [(3,), (3,)]), ("i,j->ij", [(2,), (3,)]), ("bij,bjk->bik", [(2, 2, 3), (2, 3, 2)]),
    ("ij,j,i->", [(2, 3), (3,), (2,)]), ("ij,jk,kl->il", [(2, 3), (3, 2), (2, 4)]), ("ij,ik->i", [(2, 3), (2, 4)]),
    ("i,->i", [(3,), ()]), ("ij,kj->ik", [(2, 1), (3, 4)]),
]  # fmt: skip
ROWS: list[Row] = [
    *(("matmul", [reals(*a), reals(*b)], {}) for a, b in PRODUCTS),
    ("outer", [reals(2, 1), reals(3)], {}),
    ("times_transpose", [reals(2, 3), reals(4, 3)], {}),
    ("transpose_times", [reals(3, 2), reals(3, 4)], {}),
    *(
        ("cross", [reals(*a), reals(*b)], {"axis": axis})
        for a, b, axis in (((3,), (3,), -1), ((2, 3), (2, 3), -1), ((3, 1), (3, 2), -2), ((2, 3, 2), (1, 3, 2), -2))
    ),
    *(("einsum", [reals(*shape) for shape in shapes], {"equation": equation}) for equation, shapes in SUMS),
]
