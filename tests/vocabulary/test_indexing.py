"""Indices with an ellipsis: what they stand for, beside NumPy, and what is out of bounds, in torch's words."""

import numpy as np
import pytest

import pullback

ELLIPSES = [
    (..., 0), (..., -1), (0, ...), (0, ..., 1), (..., None), (None, ..., 2), (..., None, 1), (1, None, ..., None, 2), (...,),
    (..., slice(1, None)), (slice(None), ..., 1, None), (..., 4, 2), (4, ..., 2), (None, ..., None), (..., 0, slice(None)),
]  # fmt: skip


@pytest.mark.parametrize("index", ELLIPSES, ids=repr)
def test_an_ellipsis_stands_for_the_axes_that_are_left(index):
    values = np.arange(15.0).reshape(5, 3)
    x = pullback.tensor(values, requires_grad=True)
    part = x[index]
    np.testing.assert_array_equal(part.detach().numpy(), values[index])
    part.sum().backward()
    wanted = np.zeros_like(values)
    wanted[index] = 1
    np.testing.assert_array_equal(x.grad.numpy(), wanted)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ((..., 4), "index 4 is out of bounds for dimension 1 with size 3"),
        ((5, ...), "index 5 is out of bounds for dimension 0 with size 5"),
        ((..., -6, 0), "index -6 is out of bounds for dimension 0 with size 5"),
        ((..., 0, 0, 0), "too many indices for tensor of dimension 2"),
        ((0, 0, ..., 0), "too many indices for tensor of dimension 2"),
    ],
)
def test_what_is_out_of_bounds_beside_an_ellipsis(index, message):
    with pytest.raises(IndexError, match=message):
        pullback.zeros(5, 3)[index]


AT = pullback.tensor([0, 2, 0, 2])
WRITES = {
    "x[i] = v": lambda x, v: x.__setitem__(AT, v) or x,
    "x[[...]] = v": lambda x, v: x.__setitem__([0, -1, -3, 2], v) or x,
    "index_put_": lambda x, v: x.index_put_((AT,), v),
    "index_copy": lambda x, v: x.index_copy(0, AT, v),
    "scatter": lambda x, v: x.scatter(0, AT, v),
    "put_": lambda x, v: x.put_(AT, v),
    "np.put": lambda x, v: np.put(x, AT.numpy(), v) or x,
    "max_unpool1d": lambda x, v: (
        x * 0 + pullback.nn.functional.max_unpool1d(v[None], AT[None], 1, output_size=(4,))[0, :3]
    ),
}


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_what_a_later_value_replaced_has_no_gradient(write, compiled):
    x, v = (pullback.arange(float(n), dtype=pullback.float64).requires_grad_() for n in (3, 4))

    def f(x, v):
        return write(x * 1, v) * pullback.tensor([5.0, 7.0, 9.0], dtype=pullback.float64)

    if compiled and write is not WRITES["np.put"]:
        f = pullback.compile(f)
    f(x, v).sum().backward()
    assert v.grad.tolist() == [0, 0, 5, 9]
    assert pullback.func.jacfwd(f, argnums=1)(x.detach(), v.detach()).sum(0).tolist() == [0, 0, 5, 9]
    assert pullback.autograd.gradcheck(f, (x, v))


def test_one_value_for_a_place_that_occurs_twice_counts_once():
    v = pullback.tensor(2.0, requires_grad=True)
    y = pullback.zeros(3)
    y[[0, 0]] = v
    y.sum().backward()
    assert v.grad.item() == 1


def test_elements_of_a_view_that_share_memory_have_the_gradient_of_what_was_written():
    v = pullback.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = pullback.zeros(3)
    y.as_strided((2, 2), (1, 1)).copy_(v)
    y.sum().backward()
    assert v.grad.sum().item() == 3  # of the two in the middle one
    assert (v.grad * v).sum().item() == y.sum().item()


class Column:
    """What a column of a table has in common with those of pandas and polars."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self.values


@pytest.mark.parametrize("values", [[0, 2], [True, False, True], [[0], [1]]])
def test_columns_of_tables_are_indices(values):
    x = pullback.arange(6.0).reshape(3, 2)
    assert x[Column(values)].tolist() == x[np.asarray(values)].tolist()
    assert x[:, Column([1, 0])].tolist() == x[:, [1, 0]].tolist()
    x[Column(values)] = 9.0
    assert x[np.asarray(values)].tolist() == pullback.full_like(x[np.asarray(values)], 9.0).tolist()
    with pytest.raises(IndexError, match="must be long, int, byte or bool"):
        x[Column([0.5])]


def test_max_unpool_refuses_places_of_another_shape():
    v = pullback.ones(1, 4)
    with pytest.raises(RuntimeError, match=r"indices to be same as that of the input tensor \(\[1, 4, 1\]\)"):
        pullback.nn.functional.max_unpool1d(v, pullback.zeros(1, 3, dtype=pullback.int64), 2)
