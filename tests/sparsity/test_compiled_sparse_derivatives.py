"""Sparse derivatives in compiled functions: the bits of uncompiled ones, recorded once, and never a stale pattern."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import pullback
from pullback import sparse_hessian, sparse_jacobian
from pullback.program import CaptureError

from .test_sparse_derivatives import arrow, blocks, chain, elementary, laplacian, program, tridiagonal, vector


def products(x):
    padded = pullback.nn.functional.pad(x, (1, 1))
    return x**2 - padded[:-2] * x + padded[2:] * 3


def softmax(x):
    return x.reshape(4, 3).softmax(1)


def squares(x):
    return (laplacian(x) ** 2).sum()


def product(x):
    return (x[0] * x[1:]).exp().prod()


ROUNDED = {tridiagonal, laplacian, softmax, squares, product}
JACOBIANS = {
    "rows": (products, 12),
    "sines": (tridiagonal, 12),
    "columns": (lambda x: pullback.cat([x[:1] * x[1:], x[:1] ** 2, x[1:] * 2]), 20),
    "rows and a column": (arrow, 40),
    "columns and a row": (lambda x: pullback.cat([x**2, x.sum().reshape(1)]), 40),
    "a grid": (laplacian, (7, 9)),
    "blocks": (blocks, 12),
    "one output": (lambda x: x.square().sum(), 30),
    "one input": (lambda x: x * x, 1),
    "no entry": (lambda x: x[:0] * 2, 3),
    "no input": (lambda x: x * 2, 0),
    "a scalar": (lambda x: x.exp(), ()),
    "softmax": (softmax, 12),
    "constant indices": (lambda x: x[[3, 0, 0, 5]] * x[1], 6),
    "a matrix of data": (lambda x: pullback.from_numpy(np.tri(6)).to(x.dtype) @ x, 6),
    "large": (products, 3000),
    "large with a full column": (lambda x: products(x) * x[0], 3000),
}
HESSIANS = {
    "a chain": (chain, 40),
    "an arrow": (lambda x: (x[0] * x[1:]).sum() + (x**3).sum(), 50),
    "a grid": (squares, (6, 6)),
    "full": (product, 6),
}


def assert_same(found, expected, ulps=0):
    """The same entries: to the last bit, unless the program rounds otherwise than NumPy, as sums and exp do."""
    assert type(found) is type(expected)
    np.testing.assert_array_equal([found.rows, found.cols], [expected.rows, expected.cols])
    room = ulps * np.finfo(expected.data.dtype).eps
    np.testing.assert_allclose(found.data, expected.data, rtol=room, atol=room * abs(expected.data).max(initial=0))
    assert (found.shape, found.passes, found.data.dtype) == (expected.shape, expected.passes, expected.data.dtype)


def cases():
    for function, table in ((sparse_jacobian, JACOBIANS), (sparse_hessian, HESSIANS)):
        for name, (f, shape) in table.items():
            yield pytest.param(function, f, shape, id=f"{function.__name__} {name}")


def recorded(compiled):
    """How many times."""
    return sum(count for count, _ in compiled.report().records)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("lent", [True, False])
@pytest.mark.parametrize(("function", "f", "shape"), [*cases()])
def test_entries_are_those_of_the_function_to_the_last_bit(function, f, shape, lent, dtype):
    x, other = vector(shape, dtype=dtype), vector(shape, 1, dtype)
    like = function(f, x) if lent else None
    compiled = pullback.compile(lambda x: function(f, x, like=like), fullgraph=True)
    for point in (x, other, x):
        assert_same(compiled(point), function(f, point, like=like), ulps=32 * (f in ROUNDED))
    assert recorded(compiled) == 1


@hypothesis.given(st.lists(elementary(), min_size=1, max_size=4), st.integers(0, 1000))
@hypothesis.settings(max_examples=25)
def test_random_programs(steps, seed):
    f = program([step for step in steps if step[0] != "sort"])
    first, second = (pullback.from_numpy(np.random.default_rng(seed + i).uniform(-1.5, 1.5, 6)) for i in (0, 1))
    like = sparse_jacobian(f, first)
    compiled = pullback.compile(lambda x: sparse_jacobian(f, x, like=like))
    for x in (first, second):
        expected = sparse_jacobian(f, x, like=like)
        np.testing.assert_allclose(
            compiled(x).data, expected.data, rtol=1e-13, atol=1e-13 * abs(expected.data).max(initial=1)
        )


def test_entries_are_a_tensor_to_compute_with():
    x = vector(30)
    like = sparse_jacobian(tridiagonal, x)

    @pullback.compile(fullgraph=True)
    def product(x, v):
        matrix = sparse_jacobian(tridiagonal, x, like=like)
        rows, columns = map(pullback.from_numpy, (matrix.rows, matrix.cols))
        return pullback.zeros(30, dtype=v.dtype).index_add(0, rows, matrix.entries * v[columns])

    v = vector(30, 2)
    for point in (x, x + 1):
        expected = sparse_jacobian(tridiagonal, point).toarray() @ v.numpy()
        np.testing.assert_allclose(product(point, v).numpy(), expected, rtol=1e-12)


def test_a_pattern_may_be_an_argument():
    x = vector(9)
    compiled = pullback.compile(lambda x, like: sparse_jacobian(tridiagonal, x, like=like), fullgraph=True)
    like = sparse_jacobian(tridiagonal, x)
    for _ in range(3):
        like = compiled(x, like)
        assert_same(like, sparse_jacobian(tridiagonal, x))
    assert recorded(compiled) == 1


def test_another_branch_raises():
    branch = {"flipped": False}

    def f(x):
        return x**2 + x.flip(0) if branch["flipped"] else x**2

    x = vector(6)
    like = sparse_jacobian(f, x)
    compiled = pullback.compile(lambda x: sparse_jacobian(f, x, like=like), fullgraph=True)
    for flipped in (False, True, True, False):
        branch["flipped"] = flipped
        if flipped:
            with pytest.raises(ValueError, match="other entries in column 0 and 5 others"):
                compiled(x)
        else:
            np.testing.assert_array_equal(compiled(x).data, 2 * x.numpy())


def test_a_branch_of_the_program_is_checked_at_each_call():
    def f(x):
        return pullback.cond(x[0] > 1, lambda x: x**2 + x.flip(0), lambda x: x**2, (x,))

    x = pullback.full((6,), 0.5, dtype=pullback.float64)
    like = sparse_jacobian(f, x)
    compiled = pullback.compile(lambda x: sparse_jacobian(f, x, like=like))
    assert_same(compiled(x), like)
    with pytest.raises(ValueError, match="other entries in column 0"):
        compiled(x + 1)
    assert_same(compiled(x), like)


@pytest.mark.parametrize(
    ("f", "move"),
    [
        (lambda x: x.sort().values, lambda x: x.flip(0)),
        (lambda x: x[x.argmax() : x.argmax() + 1] if x.ndim > 1 else x.take_along_dim(x.argmax(keepdim=True), 0), lambda x: x.flip(0)),
        (lambda x: x.reshape(2, 3).max(1).values, lambda x: x.flip(0)),
        (lambda x: pullback.nn.functional.max_pool1d(x.reshape(1, 1, 6), 2), lambda x: x.flip(0)),
    ],
)  # fmt: skip
def test_a_pattern_that_values_choose_is_checked_at_each_call(f, move):
    x = pullback.arange(1.0, 7.0, dtype=pullback.float64) ** 2
    like = sparse_jacobian(f, x)
    compiled = pullback.compile(lambda x: sparse_jacobian(f, x, like=like))
    for factor in (1, 2, 3):
        assert_same(compiled(x * factor), like)
    for _ in range(2):
        with pytest.raises(ValueError, match="other entries in column"):
            compiled(move(x))
    assert_same(compiled(x), like)
    with pytest.raises(CaptureError, match="sparse_jacobian depends on values"):
        pullback.compile(lambda x: sparse_jacobian(f, x), fullgraph=True)(x)


def test_a_pattern_of_one_point_is_checked_at_each_call():
    x = pullback.tensor([1.0, -1.0, 2.0], dtype=pullback.float64)
    like = sparse_jacobian(lambda x: x.relu(), x, local=True)
    compiled = pullback.compile(lambda x: sparse_jacobian(lambda x: x.relu(), x, like=like))
    assert_same(compiled(x), like)
    assert_same(compiled(2 * x), like)
    with pytest.raises(ValueError, match="other entries in column 1"):
        compiled(-x)
    with pytest.raises(CaptureError, match="sparse_jacobian depends on values"):
        pullback.compile(lambda x: sparse_jacobian(lambda x: x.relu(), x, local=True), fullgraph=True)(x)


@pytest.mark.parametrize(
    ("like", "error", "text"),
    [
        (sparse_jacobian(lambda x: x**2, vector(5)), ValueError, "like has shape"),
        (np.eye(6), TypeError, "like must be an earlier result"),
        (sparse_jacobian(lambda x: x**2, vector(6)), ValueError, "other entries in column"),
    ],
)
def test_a_pattern_that_does_not_fit(like, error, text):
    compiled = pullback.compile(lambda x: sparse_jacobian(tridiagonal, x, like=like))
    for _ in range(2):
        with pytest.raises(error, match=text):
            compiled(vector(6))


def test_many_colours_are_computed_in_pieces(monkeypatch):
    f, x = (lambda x: x.cumsum(0) ** 2), vector(17)
    expected = sparse_jacobian(f, x)
    monkeypatch.setattr("pullback.sparsity.passes.TOGETHER", 3 * 17)
    assert_same(sparse_jacobian(f, x), expected)
    np.testing.assert_array_equal(
        sparse_jacobian(arrow, vector(40), like=sparse_jacobian(arrow, vector(40))).rows[:2], 0
    )


def test_a_matrix_is_a_container():
    matrix = sparse_jacobian(tridiagonal, vector(5))
    doubled = pullback.utils.trees.mapped(lambda entries: entries * 2, {"a": matrix})["a"]
    np.testing.assert_array_equal(doubled.toarray(), 2 * matrix.toarray())
