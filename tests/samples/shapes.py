"""Samples of the primitives of `ops.shapes`."""

from __future__ import annotations

import numpy as np

from pullback import ops
from pullback._core import xp as _xp

from .makers import Row, mask, reals, whole

ARRAY = _xp.array  # in an index's metadata: here stands an array
PIECE = ((ops.getitem, {"index": (slice(1, 3), ...)}),)
FLAT = ((ops.reshape, {"shape": (12,)}), (ops.getitem, {"index": (slice(2, 7), ...)}))
REPEATED = ((ops.broadcast_to, {"shape": (2, 4, 3)}),)
TURNED = ((ops.permute_dims, {"axes": (1, 0)}), (ops.getitem, {"index": (0, ...)}))

# fmt: off
ROWS: list[Row] = [
    ("take_rows", [reals(4, 3), whole(3, 4)], {}),
    ("put_rows", [reals(4), whole(3, 4)], {"shape": (4, 3)}),
    ("put_rows", [reals(), whole(3, 4)], {"shape": (4, 3)}),
    ("reshape", [reals(3, 4)], {"shape": (2, 6)}),
    ("reshape", [reals(1)], {"shape": ()}),
    ("broadcast_to", [reals(3, 1)], {"shape": (2, 3, 4)}),
    ("permute_dims", [reals(2, 3, 4)], {"axes": (2, 0, 1)}),
    ("matrix_transpose", [reals(2, 3, 4)], {}),
    ("expand_dims", [reals(2, 3)], {"axis": 1}),
    ("squeeze", [reals(1, 3, 1)], {"axis": (0, 2), "given": True}),
    ("flip", [reals(3, 2)], {"axis": (0,)}),
    ("flip", [reals(3, 2)], {"axis": (0, 1)}),
    ("roll", [reals(3, 4)], {"shifts": (1, -2), "axes": (0, 1)}),
    ("roll", [reals(5)], {"shifts": (7,), "axes": (0,)}),
    ("tile", [reals(2, 3)], {"repeats": (2, 1, 3)}),
    ("tile", [reals()], {"repeats": (2,)}),
    ("tile", [reals(2)], {"repeats": (0,)}),
    *((name, [reals(*shape)], {"axis": 1, "size": 3, "step": step, **more}) for step in (1, 2, 4) for name, shape, more in [
        ("windows", (2, 9, 2), {}), ("fold_windows", (2, 6 // step + 1, 2, 3), {"shape": (2, 9, 2)})]),
    *((name, [reals(*shape)], {"size": (2, 3), "stride": (1, 2), "offset": 1, **more}) for name, shape, more in [
        ("as_strided", (3, 3), {}), ("add_strided", (2, 3), {"shape": (3, 3)})]),
    ("as_strided", [reals(4)], {"size": (0, 3), "stride": (1, 2), "offset": 1}),
    ("drawn", [reals(2, 3), reals(3)], {"label": "NormalBackward0"}),
    ("drawn", [reals(2, 3), reals(3), reals(2, 1)], {"label": "NormalBackward0"}),
    *(("getitem", [reals(4, 3)], {"index": index}) for index in [
        (1, ...), (slice(1, 3), ...), (slice(None, None, -2), ...), (..., None, 0), (1, 2, ...), (slice(0, 0), ...)]),
    ("scatter_slice", [reals(2, 3)], {"shape": (4, 3), "index": (slice(1, 3), ...)}),
    ("index", [reals(4, 3), whole(4, 5)], {"spec": (ARRAY,)}),
    ("index", [reals(4, 3), whole(4, 5), whole(3, 5)], {"spec": (ARRAY, ARRAY)}),
    ("index", [reals(4, 3), whole(3, 2)], {"spec": (slice(1, 3), ARRAY)}),
    ("index", [reals(4, 3), mask(4, 3)], {"spec": (ARRAY,)}),
    ("index", [reals(4, 3), mask(4)], {"spec": (ARRAY, slice(0, 2))}),
    ("index_add", [reals(5, 3), whole(4, 5)], {"spec": (ARRAY,), "shape": (4, 3)}),
    ("index_add", [reals(80, 5), whole(9, 80)], {"spec": (ARRAY,), "shape": (9, 5)}),
    ("index_add", [reals(4), mask(6)], {"spec": (ARRAY,), "shape": (6,)}),
    ("index_put", [reals(4, 3), reals(2, 3), lambda rng: rng.permutation(4)[:2]], {"spec": (ARRAY,)}),
    ("index_put", [reals(4, 3), reals(), mask(4, 3)], {"spec": (ARRAY,)}),
    ("index_put", [reals(4, 3), reals(3), mask(4)], {"spec": (ARRAY,)}),
    ("take_along_axis", [reals(4, 3), whole(4, 2, 3)], {"axis": 0}),
    ("select_along", [reals(4, 3), whole(4, 1, 3)], {"axis": 0, "keepdims": False, "label": "MaxBackward0"}),
    ("select_along", [reals(4, 3), whole(3, 4, 1)], {"axis": 1, "keepdims": True, "label": "MaxBackward0"}),
    ("select_along", [reals(4, 3), whole(3, 4)], {"axis": 1, "keepdims": False, "label": "MaxBackward0"}),
    ("put_along_axis", [reals(1, 3), whole(4, 1, 3)], {"axis": 0, "shape": (4, 3)}),
    ("diagonal", [reals(3, 4, 3)], {"axes": (0, 2)}),
    ("scatter_diagonal", [reals(4, 3)], {"axes": (0, 2), "shape": (3, 4, 3)}),
    ("concat", [reals(2, 3), reals(1, 3), reals(3, 3)], {"axis": 0, "sizes": (2, 1, 3)}),
    ("stack", [reals(2, 3), reals(2, 3)], {"axis": 1}),
    ("unbind", [reals(2, 3)], {"axis": 1}),
    ("split", [reals(5, 2)], {"axis": 0, "sizes": (2, 0, 3)}),
    ("astype", [reals(3)], {"dtype": np.dtype("complex128"), "source": np.dtype("float64")}),
    ("copy", [reals(3, 2), reals(2)], {}),
    ("fill", [reals(3, 2), reals()], {}),
    ("overwrite", [reals(4, 3), reals(2, 3)], {"path": PIECE}),
    ("overwrite", [reals(4, 3), reals(3)], {"path": PIECE}),
    ("overwrite", [reals(4, 3), reals(4)], {"path": TURNED}),
    ("overwrite", [reals(4, 3), reals(5)], {"path": FLAT}),
    ("replay", [reals(4, 3)], {"path": PIECE}),
    ("replay", [reals(4, 3)], {"path": FLAT}),
    ("replay", [reals(4, 3)], {"path": REPEATED}),
    ("replay", [reals(4, 3)], {"path": TURNED}),
    *(("clone", [make], {}) for make in (reals(3, 2), reals())),
]
# fmt: on
