"""Linear algebra: what is refused and how, what is told about singular matrices, and the corners of the gradients."""

import numpy as np
import pytest

import pullback
from pullback import linalg
from pullback.autograd import grad

A = np.array([[2.1, -0.4, 0.3], [0.5, 3.2, -0.7], [-0.2, 0.6, 4.4]])
SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])


def tracked(array):
    return pullback.tensor(array, requires_grad=True)


REFUSED = {
    "linalg.inv: A must be batches of square matrices, but they are 2 by 3": lambda: linalg.inv(pullback.ones(2, 3)),
    "linalg.inv: The input tensor A must have at least 2 dimensions": lambda: linalg.inv(pullback.ones(3)),
    "linalg.inv: Expected a floating point or complex tensor as input. Got Long": lambda: linalg.inv(
        pullback.ones(2, 2, dtype=pullback.int64)
    ),
    "linalg.inv: Low precision dtypes not supported. Got Half": lambda: linalg.inv(pullback.ones(2, 2).half()),
    "Incompatible shapes of A and B for the equation AX = B (2x2 and 3x2)": lambda: linalg.solve(
        pullback.eye(2), pullback.ones(3, 2)
    ),
    "found A of type Float and B of type Double instead": lambda: linalg.solve(
        pullback.eye(2), pullback.ones(2, dtype=pullback.float64)
    ),
    "The size of tensor a (2) must match the size of tensor b (3)": lambda: linalg.solve(
        pullback.ones(2, 4, 4), pullback.ones(3, 4, 1)
    ),
    "Expected UPLO argument to be 'L' or 'U', but got X": lambda: linalg.eigh(pullback.eye(2), "X"),
    "qr received unrecognized mode 'X'": lambda: linalg.qr(pullback.eye(2), "X"),
    "input tensor should not contain infs or NaNs": lambda: linalg.eig(pullback.full((2, 2), np.nan)),
    "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D": lambda: linalg.norm(
        pullback.ones(2, 2, 2), 1
    ),
    "linalg.cross: inputs dimension -1 must have length 3. Got 2 and 2": lambda: linalg.cross(
        pullback.ones(2), pullback.ones(2)
    ),
    "argument alpha must not be a floating point number": lambda: pullback.addmm(
        *[pullback.ones(2, 2, dtype=pullback.int64)] * 3, alpha=0.5
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_makes_no_sense_is_refused(text):
    with pytest.raises(RuntimeError) as caught:
        REFUSED[text]()
    assert text in str(caught.value)


FAILED = {
    "linalg.inv: The diagonal element 2 is zero": lambda: linalg.inv(pullback.tensor(SINGULAR)),
    "linalg.inv: (Batch element 1): The diagonal element 2 is zero": lambda: linalg.inv(
        pullback.tensor(np.stack([np.eye(2), SINGULAR]))
    ),
    "torch.linalg.solve: The solver failed because the input matrix is singular": lambda: linalg.solve(
        pullback.tensor(SINGULAR), pullback.tensor(SINGULAR)
    ),
    "the leading minor of order 2 is not positive-definite": lambda: linalg.cholesky(
        pullback.tensor([[1.0, 2.0], [2.0, 1.0]])
    ),
    "U[2,2] is zero": lambda: linalg.lu_factor(pullback.tensor(SINGULAR)),
    "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values": lambda: (
        linalg.svd(pullback.full((2, 2), np.nan))
    ),
}


@pytest.mark.parametrize("text", FAILED)
def test_matrices_that_cannot_be_factorised_are_told_apart(text):
    with pytest.raises(linalg.LinAlgError) as caught:
        FAILED[text]()
    assert text in str(caught.value)


def test_the_forms_without_errors_say_which_matrix_failed():
    stack = pullback.tensor(np.stack([np.eye(2), SINGULAR]))
    inverse, info = linalg.inv_ex(stack)
    assert info.tolist() == [0, 2]
    assert inverse[0].tolist() == np.eye(2).tolist()
    assert not np.isfinite(inverse[1].numpy()).any()
    assert linalg.solve_ex(stack, stack).info.tolist() == [0, 2]
    assert linalg.lu_factor_ex(stack).info.tolist() == [0, 2]
    factor, info = linalg.cholesky_ex(pullback.tensor(np.stack([np.eye(2), -SINGULAR, [[1.0, 2], [2, 1]]])))
    assert info.tolist() == [0, 1, 2]
    assert factor[0].tolist() == np.eye(2).tolist()
    assert np.isnan(factor[1:].numpy()).all()


OF_SINGULAR_VALUES = {
    "svd": linalg.svd,
    "svdvals": linalg.svdvals,
    "pinv": linalg.pinv,
    "matrix_rank": linalg.matrix_rank,
    "cond": linalg.cond,
    "matrix_norm": lambda x: linalg.matrix_norm(x, "nuc"),
    "lstsq": lambda x: linalg.lstsq(x, x),
}


@pytest.mark.parametrize("size", [1, 2, 3, 40])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", OF_SINGULAR_VALUES)
def test_singular_values_of_numbers_that_are_not_finite_are_refused(name, bad, size):
    """LAPACK may iterate forever if one of them is infinite."""
    x = np.stack([np.eye(size), np.eye(size)])
    x[1, 0, -1] = bad
    with pytest.raises(linalg.LinAlgError, match=r"linalg.svd: \(Batch element 1\): .* contained non-finite values"):
        OF_SINGULAR_VALUES[name](pullback.tensor(x, requires_grad=True))


def test_cholesky_refuses_nan_as_it_refuses_what_is_indefinite():
    x = np.stack([np.eye(3), np.eye(3)])
    x[1, 1, 1] = np.nan
    with pytest.raises(
        linalg.LinAlgError, match=r"Batch element 1\): .*leading minor of order 2 is not positive-definite"
    ):
        linalg.cholesky(pullback.tensor(x))
    factor, info = linalg.cholesky_ex(pullback.tensor(x))
    assert info.tolist() == [0, 2]
    assert np.isfinite(factor[0].numpy()).all() and np.isnan(factor[1].numpy()).any()


def test_the_determinant_has_a_slope_where_it_is_zero():
    x = tracked(SINGULAR)
    linalg.det(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), [[4, -2], [-2, 1]], atol=1e-12)
    z = tracked(SINGULAR * (1 + 1j))
    (g,) = grad(linalg.det(z), z, pullback.tensor(1 + 0j, dtype=pullback.complex128))
    np.testing.assert_allclose(g.numpy(), np.conj(np.array([[4, -2], [-2, 1]]) * (1 + 1j)), atol=1e-12)
    zeros = tracked(np.zeros((3, 3)))
    linalg.det(zeros).backward()
    assert not zeros.grad.any()


def test_equal_values_have_slopes_where_only_the_values_matter():
    x = tracked(np.eye(3))
    linalg.svdvals(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.eye(3), atol=1e-12)
    y = tracked(np.eye(3))
    linalg.eigvalsh(y).sum().backward()
    np.testing.assert_allclose(y.grad.numpy(), np.eye(3), atol=1e-12)
    z = tracked(np.eye(3))
    (linalg.eigh(z).eigenvectors * pullback.tensor(A)).sum().backward()
    assert np.isnan(z.grad.numpy()).any() or np.isinf(z.grad.numpy()).any()


def test_a_loss_that_depends_on_a_phase_is_refused():
    z = tracked(A + A.T + 1j * (A - A.T))
    for vectors in (linalg.eigh(z).eigenvectors, linalg.eig(z).eigenvectors, linalg.svd(z).U):
        with pytest.raises(RuntimeError, match="up to multiplication by e"):
            pullback.real(vectors * pullback.tensor(1j * A)).sum().backward()


def test_a_complete_qr_of_a_tall_matrix_has_no_derivative():
    q, _ = linalg.qr(tracked(A[:, :2]), mode="complete")
    with pytest.raises(RuntimeError, match="not differentiable when mode='complete' and nrows > ncols"):
        q.sum().backward()


def test_outputs_may_be_overwritten_before_backward():
    x, y = tracked(A), tracked(A)
    u, s, vh = linalg.svd(x)
    loss = (u[:, 0] * vh[0]).sum() * s.sum()
    s.mul_(100)
    loss.backward()
    u, s, vh = linalg.svd(y)
    ((u[:, 0] * vh[0]).sum() * s.sum()).backward()
    np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-12)


def test_several_outputs_go_through_saved_tensor_hooks():
    seen = []
    x = tracked(A)
    with pullback.autograd.graph.saved_tensors_hooks(lambda t: seen.append(t) or t, lambda t: t):
        values, vectors = linalg.eigh(x)
    assert len(seen) == 2
    (values[0] + (vectors**4).sum()).backward()
    y = tracked(A)
    values, vectors = linalg.eigh(y)
    (values[0] + (vectors**4).sum()).backward()
    np.testing.assert_array_equal(x.grad.numpy(), y.grad.numpy())


def test_whole_numbers_among_the_outputs_are_not_tracked():
    factors, pivots = linalg.lu_factor(tracked(A))
    assert factors.requires_grad
    assert not pivots.requires_grad
    assert pivots.dtype is pullback.int32


@pytest.mark.parametrize("n", [1, 40, 150])
def test_large_matrices_go_by_blocks(n):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, n))
    p, lower, upper = linalg.lu(pullback.tensor(x))
    np.testing.assert_allclose((p @ lower @ upper).numpy(), x, atol=1e-12 * n)
    b = rng.standard_normal((n, 2))
    for matrix, is_upper in ((np.triu(x) + n * np.eye(n), True), (np.tril(x) + n * np.eye(n), False)):
        solution = linalg.solve_triangular(pullback.tensor(matrix), pullback.tensor(b), upper=is_upper)
        np.testing.assert_allclose(matrix @ solution.numpy(), b, atol=1e-11)
    factors, pivots = linalg.ldl_factor(pullback.tensor(x + x.T))
    solution = linalg.ldl_solve(factors, pivots, pullback.tensor(b))
    np.testing.assert_allclose((x + x.T) @ solution.numpy(), b, atol=1e-8)


def test_a_zero_on_the_diagonal_of_a_triangle_gives_infinities():
    a = pullback.tensor([[1.0, 2.0], [0.0, 0.0]])
    x = linalg.solve_triangular(a, pullback.ones(2, 1), upper=True)
    assert np.isinf(x.numpy()).all()


@pytest.mark.parametrize("size", [1e-3, 0.1, 0.5, 1.5, 4.0, 30.0])
def test_the_exponential_of_matrices_of_all_sizes(size):
    """Against the eigenvalues of a symmetric matrix; a stack takes each of its matrices at its own scale."""
    x = (A + A.T) * size / 10
    values, vectors = np.linalg.eigh(x)
    expected = (vectors * np.exp(values)) @ vectors.T
    found = linalg.matrix_exp(pullback.tensor(np.stack([x, x / 100])))
    np.testing.assert_allclose(found[0].numpy(), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found[1].numpy(), linalg.matrix_exp(pullback.tensor(x / 100)).numpy(), rtol=1e-13)
    single = linalg.matrix_exp(pullback.tensor(x.astype(np.float32)))
    assert single.dtype is pullback.float32
    np.testing.assert_allclose(single.numpy(), expected, rtol=2e-5)


def test_unread_triangles_do_not_matter():
    lower = np.linalg.cholesky(A @ A.T)
    for junk in (0, 7):
        x = tracked(lower + junk * np.triu(np.ones((3, 3)), 1))
        found = pullback.cholesky_inverse(x)
        np.testing.assert_allclose(found.detach().numpy(), np.linalg.inv(A @ A.T), rtol=1e-10)
    (g,) = grad(found.sum(), x)
    assert not np.triu(g.numpy(), 1).any()


def test_einsum_takes_numbers_for_labels():
    a, b = pullback.ones(2, 3), pullback.ones(3, 4)
    assert pullback.einsum(a, [0, 1], b, [1, 2], [0, 2]).tolist() == (a @ b).tolist()
    assert pullback.einsum(a, [..., 7], [7, ...]).shape == (3, 2)
    with pytest.raises(ValueError, match="a label is a number"):
        pullback.einsum(a, [0, "j"])


@pytest.mark.parametrize("special", [np.nan, np.inf])
@pytest.mark.parametrize("dtype", [pullback.float32, pullback.float64, pullback.complex64])
@pytest.mark.parametrize(
    "sizes", [(1, 1, 1), (1, 1, 4), (4, 1, 1), (4, 1, 4), (1, 2, 1), (3, 2, 1), (60, 1, 60), (9_000, 1, 1)]
)
def test_zero_times_what_is_not_finite_is_nan(sizes, dtype, special):
    """`numpy.dot` scales by an operand of one element, and scaling by zero makes zeros of NaNs."""
    rows, inner, columns = sizes
    for values in ((0.0, special), (special, 0.0)):
        a = pullback.full((rows, inner), values[0], dtype=dtype, requires_grad=True)
        b = pullback.full((inner, columns), values[1], dtype=dtype, requires_grad=True)
        results = [a @ b, a[0] @ b, a @ b[:, 0], a[None] @ b[None], pullback.einsum("ij,jk->ik", a, b)]
        for product in [*results, pullback.nn.functional.linear(a, b.t())]:
            assert product.isnan().all()
        gradients = grad(results[0], (a, b), pullback.zeros_like(results[0]))
        for gradient, other in zip(gradients, (b, a), strict=True):
            assert gradient.isnan().all() == (not other.isfinite().all())


def test_products_in_the_order_that_is_cheapest():
    rng = np.random.default_rng(3)
    arrays = [rng.standard_normal(shape) for shape in ((5,), (5, 40), (40, 2), (2, 30), (30,))]
    found = linalg.multi_dot([pullback.tensor(array) for array in arrays])
    np.testing.assert_allclose(found.numpy(), np.linalg.multi_dot(arrays))
    with pytest.raises(RuntimeError, match="tensors 0 and 1 with shapes"):
        linalg.multi_dot([pullback.ones(2, 3), pullback.ones(2, 3)])


def test_low_rank_factors_are_near():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 20))
    for shape in (x, x.T):
        u, s, v = pullback.svd_lowrank(pullback.tensor(shape), q=3)
        np.testing.assert_allclose((u * s @ v.T).numpy(), shape, atol=1e-10)
    u, s, v = pullback.pca_lowrank(pullback.tensor(x), q=3)
    np.testing.assert_allclose((u * s @ v.T).numpy(), x - x.mean(0), atol=1e-10)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("addmm", ((1, 3), (2, 4), (4, 3))),
        ("addmv", ((2,), (2, 4), (4,))),
        ("baddbmm", ((5, 2, 3), (5, 2, 4), (5, 4, 3))),
        ("addbmm", ((2, 1), (5, 2, 4), (5, 4, 3))),
        ("addr", ((2, 3), (2,), (3,))),
    ],
)
def test_what_is_added_times_zero_has_a_gradient_of_zeros(name, shapes, compiled):
    """With beta 0 the input is in the graph, and its NaNs are neither in the result nor in a gradient."""
    function = getattr(pullback, name)
    added, a, b = (tracked(np.ones(shape)) for shape in shapes)
    with pullback.no_grad():
        added.fill_(np.nan)

    def product(*operands):
        return function(*operands, beta=0)

    run = pullback.compile(product) if compiled else product
    for _ in range(3):
        y = run(added, a, b)
        slopes = grad(y.sum(), (added, a))
        assert (slopes[0] == 0).all()
        assert slopes[0].shape == added.shape
        assert not y.isnan().any()
        assert not slopes[1].isnan().any()
    _, tangent = pullback.func.jvp(lambda x: product(x, a, b), (added,), (added,))
    assert (tangent == 0).all()


def test_least_squares_takes_small_singular_values_for_zero_by_the_size_of_a_matrix_not_of_the_batch():
    """By default those below eps max(m, n) times the largest: here 1e-13, above 2 eps, and below 5 000 eps."""
    A = np.broadcast_to(np.diag([1.0, 1e-13]), (5000, 2, 2)).copy()
    b = np.broadcast_to(np.array([[1.0], [1e-13]]), (5000, 2, 1)).copy()
    found = linalg.lstsq(pullback.from_numpy(A), pullback.from_numpy(b))
    np.testing.assert_allclose(found.solution.numpy(), 1.0, rtol=1e-9)


def test_functions_of_linalg_take_numpys_spelling_too():
    x = pullback.arange(6.0).reshape(2, 3)
    assert linalg.vector_norm(x, axis=1, keepdims=True).shape == (2, 1)
    assert linalg.vector_norm(x, dim=1, keepdim=True).equal(linalg.vector_norm(x, axis=1, keepdims=True))


@pytest.mark.parametrize("single", [3, [pullback.ones(2, 2), pullback.ones(2, 2)]])
def test_chain_matmul_of_something_that_is_no_matrix(single):
    with pytest.raises(TypeError, match=r"chain_matmul\(\): argument 'matrices' \(position 1\) must be Tensor"):
        pullback.chain_matmul(single)
