"""Tensors that functions make of sizes and bounds: NumPy's values, at 0 and 1 as well, and what is refused."""

import itertools

import numpy as np
import pytest

import pullback as pb

SIZES = [0, 1, 2, 5]


def same(ours, theirs):
    assert tuple(ours.shape) == np.shape(theirs)
    np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-6)


@pytest.mark.parametrize(("n", "m"), [*itertools.product(SIZES, [None, *SIZES])])
def test_eye(n, m):
    same(pb.eye(n) if m is None else pb.eye(n, m), np.eye(n, m))


@pytest.mark.parametrize("steps", SIZES)
def test_equal_steps(steps):
    same(pb.linspace(-2, 3, steps), np.linspace(-2, 3, steps))
    same(pb.linspace(3, 3, steps), np.linspace(3, 3, steps))
    same(pb.logspace(-1, 2, steps), np.logspace(-1, 2, steps))
    same(pb.logspace(-1, 2, steps, base=2.0), np.logspace(-1, 2, steps, base=2))


@pytest.mark.parametrize(
    "bounds", [(0,), (1,), (4,), (2, 2), (2, 5), (5, 2, -1), (0, 1, 0.25), (1, 0, -0.3), (-1, 1, 3)]
)
def test_arange(bounds):
    same(pb.arange(*bounds), np.arange(*bounds))


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (1, 3)])
def test_constants(shape):
    same(pb.zeros(shape), np.zeros(shape))
    same(pb.ones(shape), np.ones(shape))
    same(pb.full(shape, 3.0), np.full(shape, 3.0))
    assert tuple(pb.empty(shape).shape) == shape
    x = pb.full(shape, 2.0)
    for like, value in ((pb.zeros_like, 0), (pb.ones_like, 1), (lambda t: pb.full_like(t, 7), 7)):
        same(like(x), np.full(shape, value))


@pytest.mark.parametrize(("rows", "columns", "offset"), [*itertools.product(SIZES, SIZES, [-3, -1, 0, 1, 3])])
def test_indices_of_triangles(rows, columns, offset):
    same(pb.tril_indices(rows, columns, offset), np.array(np.tril_indices(rows, offset, columns)))
    same(pb.triu_indices(rows, columns, offset), np.array(np.triu_indices(rows, offset, columns)))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pb.eye(-1), "n must be greater or equal to 0, got -1"),
        (lambda: pb.eye(2, -3), "got -3"),
        (lambda: pb.linspace(0, 1, -1), "number of steps must be non-negative"),
        (lambda: pb.logspace(0, 1, -1), "number of steps must be non-negative"),
        (lambda: pb.arange(0, 3, -1), "upper bound and lower bound inconsistent with step sign"),
        (lambda: pb.arange(0, 3, 0), "step must be nonzero"),
        (lambda: pb.zeros(-1), "must be non-negative"),
        (lambda: pb.full((2, -1), 3.0), "must be non-negative"),
        (lambda: pb.tril_indices(-1, 2), "row must be non-negative, got-1"),
        (lambda: pb.triu_indices(2, -1), "col must be non-negative, got-1"),
    ],
)
def test_sizes_and_bounds_that_are_none(call, said):
    with pytest.raises((RuntimeError, ValueError), match=said):
        call()


def test_the_old_constructor_takes_sizes_or_data():
    assert pb.Tensor(2, 3).shape == (2, 3) and pb.Tensor(3).shape == (3,) and pb.Tensor().shape == (0,)
    assert pb.Tensor([1, 2]).tolist() == [1.0, 2.0] and pb.Tensor(pb.Size([2, 1])).shape == (2, 1)
    assert pb.Tensor(size=(2,)).shape == (2,)


class Column:
    """Data that is an array by NumPy's protocol alone, as a column of a data frame is."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array

    def __len__(self):
        return len(self.array)

    def __getitem__(self, place):
        return self.array[place]


def test_columns_keep_their_dtypes_and_buffers_are_read_as_numbers():
    for dtype in ("float64", "float32", "int32", "bool"):
        made = pb.tensor(Column(np.ones(2, dtype)))
        assert (made.tolist(), made.dtype) == ([1, 1], getattr(pb, dtype))
    assert pb.tensor(memoryview(b"ab")).dtype == pb.int64
    assert pb.tensor(memoryview(b"ab")).tolist() == [97, 98]
    assert pb.tensor(memoryview(np.ones(2))).dtype == pb.get_default_dtype()
    assert pb.tensor([np.float64(1)]).dtype == pb.float64


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.bool_])
@pytest.mark.parametrize(
    "make", [lambda rows: rows, lambda rows: [rows, rows], lambda rows: [rows[0], rows[1].array.tolist()]]
)
def test_rows_that_are_columns_of_data_frames(dtype, make):
    rows = [Column(np.array(row, dtype)) for row in ((1, 0, 2), (0, 1, 3))]
    want = np.array([row.array for row in rows])
    got = pb.tensor(make(rows))
    np.testing.assert_array_equal(got, np.broadcast_to(want, got.shape))
    assert type(make(rows)[1]) is list or got.numpy().dtype == dtype
    with pytest.raises(ValueError, match="expected sequence of length 3 at dim 1"):
        pb.tensor([rows[0], Column(np.ones(1))])
