"""Sparse derivatives: never an entry too few, none too many where structure is plain, few passes, the right numbers."""

import itertools

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import pullback
from pullback import ops, sparse_hessian, sparse_jacobian
from pullback.autograd import grad
from pullback.sparsity.coloring import apart, best, star

from .. import samples
from ..rows import each_row

TABLES = ops.tables()
SMALL = 1500  # elements of a Jacobian that is computed densely


def vector(n, seed=0, dtype=np.float64):
    return pullback.from_numpy(np.random.default_rng(seed).uniform(0.4, 1.6, n).astype(dtype))


def dense(y, x):
    """The Jacobian of a tensor, a row for each output."""
    rows = []
    for place in range(y.numel()):
        v = np.zeros(y.numel(), y.dtype.numpy)
        v[place] = 1
        (g,) = grad(y, x, v.reshape(y.shape), retain_graph=True, materialize_grads=True)
        rows.append(g.detach().numpy().reshape(-1))
    return np.array(rows).reshape(y.numel(), x.numel())


def dense_jacobian(f, x):
    x = x.detach().clone().requires_grad_()
    return dense(f(x), x)


def dense_hessian(f, x):
    x = x.detach().clone().requires_grad_()
    (g,) = grad(f(x), x, create_graph=True)
    return dense(g, x)


def pattern(matrix):
    found = np.zeros(matrix.shape, bool)
    found[matrix.rows, matrix.cols] = True
    return found


def check(f, x, **options):
    """The sparse Jacobian has the numbers of the dense one, and each place once."""
    matrix = sparse_jacobian(f, x, **options)
    np.testing.assert_allclose(matrix.toarray(), dense_jacobian(f, x), rtol=1e-12, atol=1e-12)
    assert len({*zip(matrix.rows.tolist(), matrix.cols.tolist(), strict=True)}) == matrix.nnz
    return matrix


# 1. Numbers and passes on structures


def tridiagonal(x):
    padded = pullback.nn.functional.pad(x, (1, 1))
    return x**2 - padded[:-2] * x + padded[2:].sin()


def laplacian(u):
    padded = pullback.nn.functional.pad(u, (1, 1, 1, 1))
    return 4 * u - padded[:-2, 1:-1] - padded[2:, 1:-1] - padded[1:-1, :-2] - padded[1:-1, 2:] + u.exp()


def arrow(x):
    """A full row, a full column, and the diagonal."""
    y = x**2 + x[0]
    return pullback.cat([y.sum().reshape(1), y[1:]])


def blocks(x):
    return (x.reshape(-1, 3, 1) * x.reshape(-1, 1, 3)).sum(2)


def chain(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def bands(n, *offsets):
    return sum(np.eye(n, k=k) for k in offsets) != 0


def test_a_tridiagonal_jacobian_of_ten_thousand_rows_takes_three_passes():
    n = 10_000
    x = vector(n)
    matrix = sparse_jacobian(tridiagonal, x)
    assert (matrix.shape, matrix.nnz, matrix.passes) == ((n, n), 3 * n - 2, 3)
    a = x.numpy()
    left, right = np.concatenate(([0], a[:-1])), a[1:]
    expected = {0: 2 * a - left, -1: -a[1:], 1: np.cos(right)}
    for offset, diagonal in expected.items():
        there = matrix.cols - matrix.rows == offset
        assert there.sum() == n - abs(offset)
        np.testing.assert_allclose(matrix.data[there], diagonal, rtol=1e-12)


def test_the_number_of_calls_of_the_function_is_one():
    calls = []

    def f(x):
        calls.append(1)
        return tridiagonal(x)

    sparse_jacobian(f, vector(50))
    sparse_hessian(lambda x: f(x).sum(), vector(50))
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("f", "shape", "expected", "passes"),
    [
        (tridiagonal, 12, bands(12, -1, 0, 1), 3),
        (lambda x: x[1:] * x[:-1], 9, bands(9, 0, 1)[:8], 2),
        (blocks, 12, np.kron(np.eye(4), np.ones((3, 3))) != 0, 3),
        (lambda x: x.exp(), (3, 4), bands(12, 0), 1),
        (lambda x: x.sum(), 30, np.ones((1, 30), bool), 1),
        (lambda x: x[0] * pullback.ones(30, dtype=pullback.float64), 3, np.eye(1, 3) * np.ones((30, 1)) != 0, 1),
        (lambda x: x.cumsum(0), 5, np.tri(5) != 0, 5),
        (lambda x: x.flip(0), 6, np.eye(6)[::-1] != 0, 1),
        (lambda x: x.reshape(2, 3).t().reshape(-1), 6, None, 1),
        (lambda x: x.reshape(3, 2).max(1).values, 6, None, 1),
        (lambda x: x.sort().values, 7, None, 1),
        (lambda x: x.reshape(4, 3).softmax(1), 12, np.kron(np.eye(4), np.ones((3, 3))) != 0, 3),
        (lambda x: pullback.zeros_like(x) * x.floor() + x[:1], 4, np.eye(1, 4) * np.ones((4, 1)) != 0, 1),
    ],
)
def test_plain_structures_are_exact(f, shape, expected, passes):
    x = vector(shape)
    matrix = check(f, x)
    assert matrix.passes == passes
    expected = dense_jacobian(f, x) != 0 if expected is None else expected
    np.testing.assert_array_equal(pattern(matrix), expected)


def test_the_stencil_of_a_grid():
    matrix = check(laplacian, vector((7, 9)))
    rows, cols = np.divmod(matrix.rows, 9), np.divmod(matrix.cols, 9)
    distances = abs(rows[0] - cols[0]) + abs(rows[1] - cols[1])
    assert distances.max() == 1 and matrix.nnz == 63 + 2 * (6 * 9 + 7 * 8)
    assert matrix.passes <= 9


def test_a_full_row_and_a_full_column_are_left_to_passes_of_their_own():
    matrix = check(arrow, vector(40))
    assert matrix.nnz == 3 * 40 - 2
    assert matrix.passes <= 4
    with_sum = check(lambda x: pullback.cat([x**2, x.sum().reshape(1)]), vector(40))
    assert (with_sum.nnz, with_sum.passes) == (80, 2)
    with_first = check(lambda x: x[:1] * x[1:], vector(40))
    assert (with_first.nnz, with_first.passes) == (78, 2)


def test_columns_are_taken_where_they_are_fewer():
    wide = check(lambda x: pullback.cat([x[:1] * x[1:], x[:1] ** 2, x[1:] * 2]), vector(20))
    assert wide.passes == 2
    assert (wide.coloring.columns >= 0).any()


def test_single_precision():
    matrix = sparse_jacobian(tridiagonal, vector(20, dtype=np.float32))
    assert matrix.data.dtype == np.float32
    np.testing.assert_allclose(
        matrix.toarray(), dense_jacobian(tridiagonal, vector(20, dtype=np.float32)), rtol=1e-6, atol=1e-6
    )


# 2. Hessians


@pytest.mark.parametrize(
    ("f", "shape", "nnz", "passes"),
    [
        (chain, 40, 3 * 40 - 2, 3),
        (lambda x: (x[0] * x[1:]).sum() + (x**3).sum(), 50, 3 * 50 - 2, 2),
        (lambda x: x[0] * x[1], 4, 2, 1),
        (lambda x: (x**4).sum(), (3, 5), 15, 1),
        (lambda x: (laplacian(x) ** 2).sum(), (6, 6), None, 20),
        (lambda x: (blocks(x) ** 2).sum(), 12, 36, 3),
        (lambda x: x.sum() ** 3, 6, 36, 6),
        (lambda x: (x[0] * x[1:]).exp().prod(), 6, 36, 6),
        (lambda x: (x.reshape(4, 3).softmax(1) ** 2).sum(), 12, 36, 3),
    ],
)
def test_hessians(f, shape, nnz, passes):
    x = vector(shape)
    matrix = sparse_hessian(f, x)
    np.testing.assert_allclose(matrix.toarray(), dense_hessian(f, x), rtol=1e-11, atol=1e-11)
    np.testing.assert_array_equal(pattern(matrix), pattern(matrix).T)
    assert matrix.passes <= passes
    assert nnz is None or matrix.nnz == nnz


def test_the_hessian_of_a_long_chain():
    n = 10_000
    matrix = sparse_hessian(chain, vector(n))
    assert (matrix.nnz, matrix.passes) == (3 * n - 2, 3)
    a = vector(n).numpy()
    off = matrix.cols - matrix.rows == 1
    np.testing.assert_allclose(matrix.data[off], -400 * a[:-1], rtol=1e-12)
    diagonal = matrix.data[matrix.cols == matrix.rows]
    inner = 1200 * a[:-1] ** 2 - 400 * a[1:] + 2
    np.testing.assert_allclose(diagonal, np.append(inner, 0) + np.append(0, np.full(n - 1, 200)), rtol=1e-12)


def test_a_linear_function_has_a_hessian_without_entries():
    for f in (lambda x: x.sum(), lambda x: (3 * x)[1]):
        matrix = sparse_hessian(f, vector(4))
        assert (matrix.nnz, matrix.passes, matrix.shape) == (0, 0, (4, 4))


# 3. Never an entry too few


def arguments(makers):
    rng = np.random.default_rng(5)
    return [np.asarray(make(rng)) for make in makers]


def outputs(result):
    pieces = result if isinstance(result, tuple) else (result,)
    return [p for p in pieces if pullback.is_tensor(p) and p.requires_grad]


def touched(y, x):
    """Where a unit cotangent of y reaches x at all: also by NaN, and, of complex y, in either part."""
    units = np.eye(y.numel(), dtype=y.dtype.numpy).reshape(y.numel(), *y.shape)
    found = np.zeros((y.numel(), x.numel()), bool)
    for v in (units, units * 1j) if y.is_complex() else (units,):
        if v.size:
            cotangents = pullback.from_numpy(v)
            (g,) = grad(y, x, cotangents, retain_graph=True, is_grads_batched=True, materialize_grads=True)
            found |= g.detach().numpy().reshape(found.shape) != 0
    return found


def assert_covered(y, x):
    from pullback.sparsity.tracing import dependence

    if y.numel() * x.numel() <= SMALL:
        there = touched(y, x)
        for local in (False, True):
            covered = np.zeros_like(there)
            covered[dependence(y, x, local=local)] = True
            assert not (there & ~covered).any()


@each_row(samples.rows())
def test_the_pattern_of_every_operation_covers_its_derivative_and_the_second(name, makers, params):
    arrays = arguments(makers)
    args = [pullback.from_numpy(a).requires_grad_() if a.dtype.kind in "fc" else a for a in arrays]
    leaves = [arg for arg in args if pullback.is_tensor(arg)]
    if sum(leaf.numel() for leaf in leaves) > 200:
        return  # a sample for speed, whose dense derivative is too large
    results = outputs(TABLES[name](*args, **params))
    for y, x in itertools.product(results, leaves):
        assert_covered(y, x)
    cotangents = [pullback.ones_like(y).requires_grad_() for y in results]
    pulled = grad(results, leaves, cotangents, create_graph=True, materialize_grads=True)
    for g, x in itertools.product(pulled, [*leaves, *cotangents]):
        if g.requires_grad:
            assert_covered(g, x)


def elementary():
    """Steps of a program on a vector of at least two elements, each with its own numbers."""
    number = st.integers(0, 1000)
    return st.tuples(st.sampled_from(sorted(STEPS)), number)


def window(x, k):
    return x.unfold(0, 2, 1).sum(1)


def filtered(x, k):
    weight = pullback.from_numpy(np.array([[[1.0, 0.0, -1.0]]]))
    return pullback.nn.functional.conv1d(x.reshape(1, 1, -1), weight, padding=1).reshape(-1)


def mixed(x, k):
    a = np.random.default_rng(k).standard_normal((x.numel(), x.numel())) * (
        np.random.default_rng(k).random(x.numel()) < 0.4
    )
    return pullback.from_numpy(a) @ x


def written(x, k):
    y = x * 1
    y[:: 2 + k % 2] = y[0] * y[-1]
    return y


STEPS = {
    "shift": lambda x, k: x[1:] * x[:-1] if x.numel() > 3 else x.sin(),
    "slice": lambda x, k: pullback.cat([x[:: 1 + k % 2], x[k % x.numel()].reshape(1)]),
    "where": lambda x, k: pullback.where(x > 0, x.flip(0), x * 2),
    "relu": lambda x, k: x.relu() + x[k % x.numel()] * 0.1,
    "sum": lambda x, k: pullback.cat([x, x.sum().reshape(1)]),
    "mean": lambda x, k: x - x[: 1 + k % x.numel()].mean(),
    "cumsum": lambda x, k: x[: 1 + k % 3].cumsum(0).sum() + x,
    "matmul": mixed,
    "window": lambda x, k: window(x, k) if x.numel() > 2 else x.exp().tanh(),
    "convolution": filtered,
    "gather": lambda x, k: x[np.random.default_rng(k).integers(0, x.numel(), 5)],
    "scatter": lambda x, k: x.index_add(0, pullback.tensor([0, k % x.numel()]), x[:2]),
    "write": written,
    "roll": lambda x, k: x.roll(k) * x,
    "max": lambda x, k: x.clamp(min=-1.0) + x.max(),
    "sort": lambda x, k: x.sort().values,
    "norm": lambda x, k: x / (1 + x[:2].norm()),
    "outer": lambda x, k: pullback.outer(x[:2], x[-2:]).reshape(-1),
    "einsum": lambda x, k: pullback.einsum("i,j->i", x, x[:2]),
    "constant": lambda x, k: pullback.cat([x[:2], pullback.ones(2, dtype=pullback.float64)]),
    "detached": lambda x, k: x * x.detach().flip(0),
}


def program(steps):
    def f(x):
        for name, k in steps:
            x = STEPS[name](x, k)
        return x

    return f


@hypothesis.given(st.lists(elementary(), min_size=1, max_size=5), st.integers(0, 1000))
@hypothesis.settings(max_examples=50)
def test_random_programs(steps, seed):
    """The numbers of the dense derivatives to 1e-12, and the pattern holds at other points of the same way."""
    f = program(steps)
    x = pullback.from_numpy(np.random.default_rng(seed).uniform(-1.5, 1.5, 6))
    for local in (False, True):
        matrix = sparse_jacobian(f, x, local=local)
        expected = dense_jacobian(f, x)
        scale = max(1, np.abs(expected).max())
        np.testing.assert_allclose(matrix.toarray(), expected, rtol=1e-12, atol=1e-12 * scale)
        assert matrix.passes <= min(matrix.shape)
        hess = sparse_hessian(lambda x: (f(x) ** 2).sum(), x, local=local)
        expected = dense_hessian(lambda x: (f(x) ** 2).sum(), x)
        scale = max(1, np.abs(expected).max())
        np.testing.assert_allclose(hess.toarray(), expected, rtol=1e-10, atol=1e-11 * scale)


@hypothesis.given(st.lists(elementary(), min_size=1, max_size=4), st.integers(0, 1000))
@hypothesis.settings(max_examples=40)
def test_a_pattern_holds_wherever_no_index_changes(steps, seed):
    steps = [step for step in steps if step[0] != "sort"]
    f = program(steps)
    first, second = (np.random.default_rng(seed + i).uniform(-1.5, 1.5, 6) for i in (0, 1))
    expected = dense_jacobian(f, pullback.from_numpy(second))
    hypothesis.assume(np.abs(expected).max() > 1e-9)  # of a derivative that cancels, rounding has the pattern
    earlier = sparse_jacobian(f, pullback.from_numpy(first))
    later = sparse_jacobian(f, pullback.from_numpy(second), like=earlier)
    np.testing.assert_allclose(later.toarray(), expected, rtol=1e-12, atol=1e-12 * max(1, np.abs(expected).max()))
    assert later.passes == earlier.passes


# 4. Colours


def places(draw, rows, columns):
    count = draw(st.integers(0, rows * columns))
    numbers = draw(st.permutations(range(rows * columns)))[:count]
    return np.divmod(np.sort(np.array(numbers, np.int64)), columns)


@hypothesis.given(st.data(), st.integers(1, 7), st.integers(1, 7), st.booleans(), st.booleans())
def test_lines_of_one_colour_never_cross_at_one_place(data, rows, columns, full_row, full_column):
    r, c = places(data.draw, rows, columns)
    colors = apart(r, c, rows, columns)
    assert ((colors >= 0) == (np.bincount(r.astype(np.intp), minlength=rows) > 0)).all()
    assert len({*zip(colors[r].tolist(), c.tolist(), strict=True)}) == r.size
    there = np.zeros((rows, columns), bool)
    there[r, c] = True
    there[0] |= full_row
    there[:, -1] |= full_column
    r, c = np.nonzero(there)
    coloring = best(r, c, (rows, columns))
    forward = coloring.by_columns(r, c)
    for chosen, colors, lines, crossings in ((~forward, coloring.rows, r, c), (forward, coloring.columns, c, r)):
        own = colors[lines[chosen]]
        assert (own >= 0).all()
        assert {*own.tolist()} == {*range(colors.max(initial=-1) + 1)}
        for color, line, crossing in zip(own, lines[chosen], crossings[chosen], strict=True):
            at_crossing = lines[(crossings == crossing) & (colors[lines] == color)]
            assert at_crossing.tolist() == [line]
    assert coloring.passes <= min(rows, columns)


@hypothesis.given(st.data(), st.integers(1, 8))
def test_a_star_colouring_tells_every_entry(data, n):
    r, c = places(data.draw, n, n)
    full = np.zeros((n, n), bool)
    full[r, c] = full[c, r] = True
    r, c = np.nonzero(full)
    colors = star(r, c, n)
    assert ((colors >= 0) == full.any(1)).all()
    for i, j in zip(r, c, strict=True):
        line, crossing = (i, j) if colors[i] <= colors[j] else (j, i)
        assert np.flatnonzero(full[:, crossing] & (colors == colors[line])).tolist() == [line]


# 5. What is asked


def test_a_factor_of_zero_counts_only_at_the_point():
    x = pullback.tensor([0.0, -1.0, 2.0], dtype=pullback.float64)
    a = pullback.from_numpy(np.diag([1.0, 2.0], -1)[:, :3] + np.eye(3))
    for f, nnz in ((lambda x: x * x, 2), (lambda x: x.relu(), 1), (lambda x: a @ x, 5), (lambda x: x @ a, 5)):
        everywhere, here = check(f, x), check(f, x, local=True)
        assert here.nnz == nnz
        assert everywhere.nnz > here.nnz
    assert check(lambda x: pullback.where(x > 0, x, x.flip(0)), x).nnz == 5
    assert check(lambda x: pullback.where(x > 0, x, x.flip(0)), x, local=True).nnz == 3


@pytest.mark.parametrize("odd", [np.inf, -np.inf, np.nan])
def test_an_infinite_entry_hides_no_other_branch(odd):
    factor = pullback.tensor([odd, 2.0, 3.0], dtype=pullback.float64)
    x = pullback.tensor([1.0, 2.0, 4.0], dtype=pullback.float64)
    like = sparse_jacobian(lambda x: x * factor, x)
    np.testing.assert_array_equal(sparse_jacobian(lambda x: x * factor, x, like=like).data, [odd, 2, 3])
    with pytest.raises(ValueError, match="other entries in column 2: "):
        sparse_jacobian(lambda x: x * factor + pullback.cat([x[2:], x[:1] * 0, x[:1] * 0]), x, like=like)


def test_a_lent_pattern_is_checked():
    x = vector(6)
    small = sparse_jacobian(lambda x: x**2, x)
    again = sparse_jacobian(lambda x: x**3, x, like=small)
    np.testing.assert_allclose(again.toarray(), np.diag(3 * x.numpy() ** 2))
    with pytest.raises(ValueError, match="other entries in column"):
        sparse_jacobian(lambda x: x**2 + x.flip(0), x, like=small)
    with pytest.raises(ValueError, match="like has shape"):
        sparse_jacobian(lambda x: x[:3], x, like=small)
    with pytest.raises(TypeError, match="like must be an earlier result"):
        sparse_jacobian(lambda x: x, x, like=np.eye(6))
    first = sparse_hessian(chain, x)
    np.testing.assert_allclose(sparse_hessian(chain, x + 1, like=first).toarray(), dense_hessian(chain, x + 1))
    with pytest.raises(ValueError, match="other entries in column"):
        sparse_hessian(lambda x: chain(x) + x[0] * x[5], x, like=first)


def test_tensors_that_exist():
    x = vector(8).requires_grad_()
    h = x * 2
    y = tridiagonal(h)
    np.testing.assert_allclose(sparse_jacobian(y, x).toarray(), dense(y, x), rtol=1e-12)
    np.testing.assert_allclose(sparse_jacobian(y, h).toarray(), dense(y, x) / 2, rtol=1e-12)
    total = (y**2).sum()
    expected = dense_hessian(lambda x: (tridiagonal(2 * x) ** 2).sum(), x)
    np.testing.assert_allclose(sparse_hessian(total, x).toarray(), expected, rtol=1e-11, atol=1e-11)
    assert x.grad is None
    total.backward()
    assert x.grad is not None


def test_arrays_and_lists_are_inputs_too():
    np.testing.assert_array_equal(sparse_jacobian(lambda x: x * x, np.array([1.0, 2.0])).data, [2, 4])
    np.testing.assert_array_equal(sparse_jacobian(lambda x: x * x, [1.0, 2.0]).data, [2, 4])
    with pullback.no_grad():
        np.testing.assert_array_equal(sparse_jacobian(lambda x: x * x, np.array([1.0, 2.0])).data, [2, 4])
        np.testing.assert_array_equal(sparse_hessian(lambda x: (x**3).sum(), np.array([1.0, 2.0])).data, [6, 12])


def test_the_input_is_left_alone():
    x = vector(4)

    def f(x):
        y = x * 1
        y[0] = 5
        return y

    before = x.numpy().copy()
    check(f, x)
    np.testing.assert_array_equal(x.numpy(), before)
    assert not x.requires_grad and x.grad is None


@pytest.mark.parametrize("shape", [0, (), (2, 0), (3, 1)])
def test_empty_and_single_arrays(shape):
    x = vector(shape)
    matrix = sparse_jacobian(lambda x: x * 2, x)
    np.testing.assert_array_equal(matrix.toarray(), 2 * np.eye(x.numel()))
    np.testing.assert_array_equal(sparse_hessian(lambda x: (x**2).sum(), x).toarray(), 2 * np.eye(x.numel()))


def test_the_result():
    matrix = sparse_jacobian(lambda x: x[[0, 2]] * x[1], pullback.tensor([1.0, 2.0, 3.0]))
    data, rows, cols = matrix
    assert (rows.tolist(), cols.tolist(), data.tolist()) == ([0, 0, 1, 1], [0, 1, 1, 2], [2.0, 1.0, 3.0, 2.0])
    assert matrix.shape == (2, 3) and matrix.nnz == 4
    assert repr(matrix) == "SparseMatrix(shape=(2, 3), nnz=4, dtype=float32, passes=2)"
    sparse = pytest.importorskip("scipy.sparse")
    for found in (matrix.tocoo(), matrix.tocsr()):
        assert sparse.issparse(found) and found.shape == (2, 3)
        np.testing.assert_array_equal(found.toarray(), matrix.toarray())


@pytest.mark.parametrize("function", [sparse_jacobian, sparse_hessian])
@pytest.mark.parametrize(
    ("f", "x", "error", "text"),
    [
        (lambda x: x.sum(), pullback.tensor([1, 2]), RuntimeError, "Tensors of floating point dtype"),
        (lambda x: x.sum(), pullback.tensor([1j]), RuntimeError, "real numbers"),
        (lambda x: (x * 1j).sum(), [1.0, 2.0], RuntimeError, "the output is a complex64"),
        (lambda x: None, [1.0], TypeError, "must return one Tensor, not None"),
        (lambda x: "text", [1.0], TypeError, "must return one Tensor, not a str"),
        (lambda x: (x, x), [1.0], TypeError, "must return one Tensor, not a tuple"),
        (lambda x: x, (pullback.ones(1), pullback.ones(1)), TypeError, "takes one tensor"),
        (lambda x: x, {"a": pullback.ones(1)}, TypeError, "takes one tensor"),
        (lambda x: x, None, TypeError, "not None"),
        (3, [1.0], TypeError, "f must be a function of one tensor"),
        (pullback.ones(1), [1.0], TypeError, "x must be the tensor"),
        (pullback.ones(1), pullback.ones(1), RuntimeError, "does not require grad"),
        (lambda x: pullback.ones(()), [1.0], RuntimeError, "does not require grad"),
        (lambda x: x.detach().sum(), [1.0], RuntimeError, "cut off by detach"),
    ],
)
def test_bad_input_is_named(function, f, x, error, text):
    with pytest.raises(error, match=text):
        function(f, x)


def test_an_unused_input_is_refused_unless_allowed():
    x, other = vector(3).requires_grad_(), vector(3).requires_grad_()
    for function in (sparse_jacobian, sparse_hessian):
        with pytest.raises(RuntimeError, match="not have been used in the graph"):
            function((other * 2).sum(), x)
        assert function((other * 2).sum(), x, allow_unused=True).nnz == 0
        assert function(lambda x: pullback.ones(()), x, allow_unused=True).nnz == 0


def test_a_hessian_is_of_one_element():
    with pytest.raises(RuntimeError, match="should contain a single element"):
        sparse_hessian(lambda x: x**2, vector(2))


def test_inside_another_transform_it_is_refused():
    with pytest.raises(NotImplementedError, match="cannot be part of another transform"):
        pullback.func.grad(lambda x: pullback.tensor(sparse_jacobian(lambda x: x * x, x).data.sum()))(vector(3))


def test_what_the_function_raises_passes_through():
    def f(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        sparse_jacobian(f, vector(2))


def test_a_graph_that_has_been_freed_is_refused():
    x = vector(3).requires_grad_()
    y = x.exp()
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        sparse_jacobian(y, x)


def test_a_hook_takes_part():
    x = vector(3).requires_grad_()
    h = x * 1
    h.register_hook(lambda g: g.flip(0))
    y = h * h
    np.testing.assert_allclose(sparse_jacobian(y, x).toarray(), np.diag(2 * x.detach().numpy())[:, ::-1])


@pytest.mark.parametrize(
    "hook",
    [
        lambda g: g.tolist(),
        lambda g: bool(g[0] > 0),
        lambda g: g.numpy(),
        np.asarray,
        lambda g: g[0].item(),
    ],
)
def test_a_hook_that_asks_for_numbers_is_told_that_there_are_none(hook):
    x = vector(3).requires_grad_()
    h = x * 1
    h.register_hook(hook)
    with pytest.raises(RuntimeError, match=r"this is the pattern of one|belongs to a transform"):
        sparse_jacobian(h * h, x)


def test_a_hook_may_print_and_mask():
    shown = []
    x = vector(3).requires_grad_()
    h = x * 1
    h.register_hook(lambda g: shown.append(repr(g)))
    h.register_hook(lambda g: pullback.where(g > 1.0, g, g * 0.5))
    assert sparse_jacobian(h * h, x).nnz == 3
    assert shown[0] == "pattern(shape=(3,), entries=3)"


class Doubled(pullback.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x[1:] * x[:-1]

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        nothing = pullback.zeros(1, dtype=g.dtype)
        return pullback.cat([nothing, g * x[:-1]]) + pullback.cat([g * x[1:], nothing])


def test_derivatives_of_the_users_own():
    x = vector(8)
    assert check(Doubled.apply, x).passes == 2
    np.testing.assert_allclose(
        sparse_hessian(lambda x: (Doubled.apply(x) ** 2).sum(), x).toarray(),
        dense_hessian(lambda x: ((x[1:] * x[:-1]) ** 2).sum(), x),
        rtol=1e-12,
        atol=1e-12,
    )
