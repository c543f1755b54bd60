"""What notebooks show of a tensor: tables whose numbers are those of the tensor."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import pullback
from pullback import nn


def tables(tensor):
    """The caption and the rows of each table."""
    root = ET.fromstring(f"<div>{tensor._repr_html_()}</div>")
    return [
        (table.find("caption").text, [[cell.text for cell in row] for row in table.findall("tr")])
        for table in root.findall("table")
    ]


def test_a_matrix_is_a_table_with_shape_dtype_and_history():
    x = pullback.tensor([[1.0, 2.5], [-3.0, 4.0]], requires_grad=True)
    numbers = [["1.0000", "2.5000"], ["-3.0000", "4.0000"]]
    assert tables(x) == [("float32, shape (2, 2), requires_grad=True", numbers)]
    ((caption, _),) = tables(x * 2)
    assert caption == "float32, shape (2, 2), grad_fn=<MulBackward0>"
    assert tables(nn.Parameter(x.detach()))[0][1] == numbers


@pytest.mark.parametrize(
    "shape", [(), (1,), (5,), (12,), (13,), (40,), (3, 40), (40, 3), (13, 13), (2, 3, 4), (9, 2, 2), (2, 3, 2, 2)]
)
def test_cells_are_elements(shape):
    x = pullback.arange(float(np.prod(shape, dtype=int))).reshape(shape)
    shown = tables(x)
    of_each = np.atleast_2d(x.numpy().reshape(-1, *shape[-2:]) if len(shape) > 2 else x.numpy())
    expected = of_each.reshape(-1, *of_each.shape[-2:])
    if len(expected) > 8:
        expected = np.concatenate([expected[:4], expected[-4:]])
    assert len(shown) == len(expected)
    for (caption, rows), matrix in zip(shown, expected, strict=True):
        assert f"shape {tuple(shape)}" in caption
        for axis, length in enumerate(matrix.shape):
            assert (len(rows) if axis == 0 else len(rows[0])) == (length if length <= 12 else 11)
        numbers = [[float(cell) for cell in row if cell not in "…⋮"] for row in rows]
        kept = [[*range(5), *range(n - 5, n)] if n > 12 else [*range(n)] for n in matrix.shape]
        assert [row for row in numbers if row] == matrix[np.ix_(*kept)].tolist()


def test_of_many_tables_it_is_said_how_many_are_left_out():
    assert "<p>2 more</p>" in pullback.ones(10, 2, 2)._repr_html_()


@pytest.mark.parametrize("dtype", ["int64", "bool", "complex64", "bfloat16", "float16"])
def test_all_dtypes(dtype):
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    dtype = getattr(pullback, dtype)
    ((caption, rows),) = tables(pullback.ones(2, dtype=dtype))
    assert caption.startswith(str(dtype).rpartition(".")[2].rstrip("_"))
    assert rows == [
        re.findall(r"[^\s,\[\]()]+", str(pullback.ones(2, dtype=dtype)).partition("[")[2].partition("]")[0])
    ]


def test_an_empty_tensor_says_so():
    assert pullback.zeros(0, 3)._repr_html_() == "<p>float32, shape (0, 3): no elements</p>"


def test_tensors_of_transforms_and_of_users_have_their_text():
    class Own(pullback.Tensor):
        pass

    shown = []
    pullback.func.vmap(lambda x: (shown.append(x._repr_html_()), x)[1])(pullback.ones(2))
    shown.append(pullback.ones(2).as_subclass(Own)._repr_html_())
    assert shown == [None, None]
