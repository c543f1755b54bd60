"""Equal and nearly equal eigenvalues and singular values: second derivatives beside differences with 60 digits.

A function that is symmetric in the values is smooth where they are equal. Its second difference in a direction, divided
by the step squared, is computed with mpmath; the four ways to the second derivative, forward and reverse mode over each
other, must agree with it.
"""

import mpmath
import numpy as np
import pytest

import pullback
from pullback import func, linalg
from pullback.autograd import grad, gradcheck, gradgradcheck

DIGITS, STEP = 60, "1e-15"

# One function of values, as tensors and as numbers of mpmath; of several, and not a sum.
SYMMETRIC = {
    "exponentials": (lambda v: v.exp().sum(), lambda v: mpmath.fsum(map(mpmath.exp, v))),
    "squares": (lambda v: v.pow(2).sum(), lambda v: mpmath.fsum(x**2 for x in v)),
    "logsumexp": (lambda v: v.logsumexp(-1), lambda v: mpmath.log(mpmath.fsum(map(mpmath.exp, v)))),
    "variance": (
        lambda v: v.var(correction=0),
        lambda v: mpmath.fsum(x**2 for x in v) / len(v) - (mpmath.fsum(v) / len(v)) ** 2,
    ),
}
EVEN = {
    "fourth powers": (lambda v: v.pow(4).sum(), lambda v: mpmath.fsum(x**4 for x in v)),
    "logarithms": (lambda v: v.square().log1p().sum(), lambda v: mpmath.fsum(mpmath.log(1 + x * x) for x in v)),
    "squared norm": (lambda v: v.norm() ** 2, lambda v: mpmath.fsum(x * x for x in v)),
}
SPECTRA = [(1, 1, 1), (1, 1, 2), (-2, 1, 1, 1), (1, 1, 3, 3), (1, 1 + 1e-8, 3), (1, 1 + 1e-14, 3), (1, 2, 4), (0, 0, 1)]
SINGULAR = [(1, 1, 1), (2, 1, 1), (2, 2, 1), (1 + 1e-8, 1, 0.5), (1 + 1e-14, 1, 0.5), (3, 2, 1)]


def draw(rng, kind, *shape):
    x = rng.standard_normal(shape)
    return x + 1j * rng.standard_normal(shape) if kind == "complex" else x


def unitary(rng, kind, size):
    return np.linalg.qr(draw(rng, kind, size, size))[0]


def adjoint(x):
    return x.conj().swapaxes(-1, -2)


def high_precision(a, direction, values, function):
    """The second derivative at 0 of a function of the values of a + t * direction."""
    with mpmath.workdps(DIGITS):
        base, move, step = mpmath.matrix(a.tolist()), mpmath.matrix(direction.tolist()), mpmath.mpf(STEP)
        found = [function(list(values(base + t * step * move))) for t in (1, 0, -1)]
        return float((found[0] - 2 * found[1] + found[2]) / step**2)


def hermitian_values(a):
    return mpmath.eighe(a, eigvals_only=True)


def singular_values(a):
    return [mpmath.sqrt(abs(x)) for x in mpmath.eighe(a.H * a, eigvals_only=True)]


def reverse_over_reverse(f, x, v):
    x = x.clone().requires_grad_()
    (slopes,) = grad(f(x), x, create_graph=True)
    return inner(grad(slopes, x, v)[0], v)


def forward_over_reverse(f, x, v):
    return inner(func.jvp(func.grad(f), (x,), (v,))[1], v)


def reverse_over_forward(f, x, v):
    return inner(func.grad(lambda x: func.jvp(f, (x,), (v,))[1])(x), v)


def forward_over_forward(f, x, v):
    return func.jvp(lambda x: func.jvp(f, (x,), (v,))[1], (x,), (v,))[1].item()


def inner(a, b):
    return float(np.sum(a.numpy() * b.numpy().conj()).real)


WAYS = [reverse_over_reverse, forward_over_reverse, reverse_over_forward, forward_over_forward]


def agrees(f, a, v, expected, rtol=1e-6):
    for way in WAYS:
        np.testing.assert_allclose(
            way(f, pullback.tensor(a), pullback.tensor(v)), expected, rtol=rtol, atol=rtol, err_msg=way.__name__
        )


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("turned", [False, True], ids=["exact", "rounded"])
@pytest.mark.parametrize("name", SYMMETRIC)
@pytest.mark.parametrize("spectrum", SPECTRA, ids=str)
def test_eigenvalues_to_second_order(spectrum, name, turned, kind):
    """Of a diagonal matrix ties are exact; of a turned one they are what rounding leaves of them."""
    rng = np.random.default_rng(len(name))
    q = unitary(rng, kind, len(spectrum)) if turned else np.eye(len(spectrum)).astype(kind.replace("real", "float"))
    a = q * np.array(spectrum) @ adjoint(q)
    a = (a + adjoint(a)) / 2
    v = draw(rng, kind, *a.shape)
    v = v + adjoint(v)
    function, precise = SYMMETRIC[name]
    expected = high_precision(a, v, hermitian_values, precise)
    agrees(lambda x: function(linalg.eigvalsh(x, "L")), a, v, expected)
    agrees(lambda x: function(linalg.eigvalsh(x, "U")), a, v, expected)


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (3, 4)], ids=str)
@pytest.mark.parametrize("name", EVEN)
@pytest.mark.parametrize("values", [*SINGULAR, (2, 1, 0)], ids=str)
def test_singular_values_to_second_order(values, name, shape, kind):
    rng = np.random.default_rng(len(name))
    left, right = (unitary(rng, kind, size)[:, :3] for size in shape)
    a = left * np.array(values) @ adjoint(right)
    v = draw(rng, kind, *shape)
    function, precise = EVEN[name]
    tall = (lambda x: x) if shape[0] >= shape[1] else adjoint
    expected = high_precision(tall(a), tall(v), singular_values, precise)
    agrees(lambda x: function(linalg.svdvals(x)), a, v, expected)


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("values", SINGULAR, ids=str)
def test_the_nuclear_norm_to_second_order(values, kind):
    rng = np.random.default_rng(7)
    a = unitary(rng, kind, 3) * np.array(values) @ unitary(rng, kind, 3)
    v = draw(rng, kind, 3, 3)
    expected = high_precision(a, v, singular_values, mpmath.fsum)
    agrees(lambda x: linalg.matrix_norm(x, "nuc"), a, v, expected)


@pytest.mark.parametrize("values", [linalg.eigvalsh, linalg.svdvals])
def test_hessians_of_stacks_at_the_identity(values):
    stack = pullback.stack([pullback.eye(3), 2 * pullback.eye(3), pullback.diag(pullback.arange(1.0, 4.0))]).double()
    for hessian in (func.hessian, lambda f: func.jacrev(func.jacrev(f)), lambda f: func.jacfwd(func.jacfwd(f))):
        if hessian is not func.hessian and values is linalg.svdvals:
            stack = stack[:2]
        whole = func.hessian(lambda x: values(x).pow(2).sum())(stack).numpy()
        for i in range(len(stack)):
            symmetric = np.eye(9).reshape(3, 3, 3, 3)
            if values is linalg.eigvalsh:
                symmetric = (symmetric + symmetric.swapaxes(0, 1)) / 2
            np.testing.assert_allclose(whole[i, :, :, i], 2 * symmetric, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_single_precision_at_ties(dtype):
    x = pullback.tensor(np.eye(3, dtype=dtype), requires_grad=True)
    v = draw(np.random.default_rng(0), "complex" if dtype is np.complex64 else "real", 3, 3).astype(dtype)
    for values, expected in ((linalg.eigvalsh, v + adjoint(v)), (linalg.svdvals, 2 * v)):
        (slopes,) = grad(values(x).pow(2).sum(), x, create_graph=True)
        np.testing.assert_allclose(grad(slopes, x, pullback.tensor(v))[0].numpy(), expected, atol=1e-5)
        for way in (forward_over_reverse, reverse_over_forward):
            np.testing.assert_allclose(
                way(lambda x, values=values: values(x).pow(2).sum(), x.detach(), pullback.tensor(v)),
                np.sum(expected * v.conj()).real,
                rtol=1e-5,
            )
        if dtype is np.float32:
            hessian = func.hessian(lambda x, values=values: values(x).pow(2).sum())(x.detach())
            assert hessian.dtype is pullback.float32


def test_third_derivatives_of_different_values():
    a = pullback.tensor([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.0]]).double()
    thirds = [
        lambda f: func.jacrev(func.jacrev(func.jacrev(f))),
        lambda f: func.jacfwd(func.jacrev(func.jacfwd(f))),
        lambda f: func.jacfwd(func.jacfwd(func.jacrev(f))),
    ]
    pairs = [
        (
            lambda x: linalg.eigvalsh((x + x.T) / 2).pow(3).sum(),
            lambda x: linalg.matrix_power((x + x.T) / 2, 3).trace(),
        ),
        (lambda x: linalg.svdvals(x).pow(4).sum(), lambda x: linalg.matrix_power(x.T @ x, 2).trace()),
    ]
    for third in thirds:
        for by_values, plain in pairs:
            np.testing.assert_allclose(third(by_values)(a).numpy(), third(plain)(a).numpy(), atol=1e-11)


@pytest.mark.parametrize("dtype", [pullback.float64, pullback.complex128])
def test_derivatives_beside_differences(dtype):
    pullback.manual_seed(0)
    for shape in ((2, 3, 3), (4, 3), (3, 5)):
        x = pullback.randn(*shape, dtype=dtype, requires_grad=True)
        assert gradcheck(linalg.svdvals, x, check_forward_ad=True, check_batched_grad=True)
        assert gradgradcheck(linalg.svdvals, x, check_fwd_over_rev=True)
    x = pullback.randn(2, 3, 3, dtype=dtype, requires_grad=True)
    assert gradcheck(lambda x: linalg.eigvalsh(x + x.mH), x, check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(lambda x: linalg.eigvalsh(x + x.mH), x, check_fwd_over_rev=True)


def test_the_slopes_of_equal_eigenvalues_in_a_direction():
    """One eigenvalue alone has no gradient there, but it moves in every direction: as the block of the direction says."""
    v = np.array([[1.0, 2.0, 5.0], [2.0, -1.0, 3.0], [5.0, 3.0, 7.0]])
    a = pullback.tensor(np.diag([1.0, 1.0, 4.0]))
    _, moved = func.jvp(linalg.eigvalsh, (a,), (pullback.tensor(v),))
    np.testing.assert_allclose(moved.numpy(), [*np.linalg.eigvalsh(v[:2, :2]), 7], atol=1e-14)


EYE = np.eye(3)
NOWHERE = {
    "the smallest eigenvalue": lambda x: linalg.eigvalsh(x)[0],
    "the largest singular value": lambda x: linalg.svdvals(x)[0],
    "values of eigh": lambda x: linalg.eigh(x).eigenvalues.pow(2).sum(),
    "values of eigvals": lambda x: linalg.eigvals(x).pow(2).sum().real,
    "values of svd": lambda x: linalg.svd(x).S.pow(2).sum(),
    "the condition": linalg.cond,
}


@pytest.mark.parametrize("name", NOWHERE)
@pytest.mark.parametrize("scale", [0, 1])
def test_what_has_no_second_derivative_has_nan(name, scale):
    x = pullback.tensor(EYE * scale, requires_grad=True)
    (slopes,) = grad(NOWHERE[name](x), x, create_graph=True)
    assert np.isnan(grad(slopes, x, pullback.ones_like(x))[0].numpy()).any()
    if name != "the condition":
        assert np.isnan(func.hessian(NOWHERE[name])(x.detach()).numpy()).any()


VECTORS = {
    "eigh": lambda x: linalg.eigh(x).eigenvectors,
    "eig": lambda x: linalg.eig(x).eigenvectors.real,
    "svd, left": lambda x: linalg.svd(x).U,
    "svd, right": lambda x: linalg.svd(x).Vh,
}


@pytest.mark.parametrize("name", VECTORS)
def test_vectors_of_equal_values_have_no_derivative(name):
    x = pullback.tensor(EYE, requires_grad=True)
    for loss in ((VECTORS[name](x) ** 4).sum(), (VECTORS[name](x) * pullback.ones(3, 3)).sum()):
        (slopes,) = grad(loss, x)
        assert not np.isfinite(slopes.numpy()).all()
    _, moved = func.jvp(VECTORS[name], (x.detach(),), (pullback.ones(3, 3).double(),))
    assert not np.isfinite(moved.numpy()).all()


def test_values_alone_need_no_gap():
    x = pullback.tensor(np.diag([1.0, 1.0, 2.0]), requires_grad=True)
    for values in (linalg.eigh(x).eigenvalues, linalg.svd(x).S, linalg.eig(x).eigenvalues.real):
        np.testing.assert_allclose(grad(values.sum(), x)[0].numpy(), EYE, atol=1e-15)


# Functions whose cotangents of the vectors vanish where those of a matrix function f(A) do: at an eigenvalue 0, say. Their
# derivative with respect to the elements that mix equal values is not in these cotangents.
def by_eigh(a, f):
    w, v = linalg.eigh(a)
    return v * f(w) @ v.mH


def by_eig(a, f):
    w, v = linalg.eig(a)
    return (v * f(w) @ linalg.inv(v)).real


def by_svd(a, f, *, full=False):
    u, s, vh = linalg.svd(a, full_matrices=full)
    return u[:, : len(s)] * f(s) @ vh[: len(s)]


MATRIX_FUNCTIONS = {
    "eigh": by_eigh,
    "eig": by_eig,
    "svd": by_svd,
    "all of svd": lambda a, f: by_svd(a, f, full=True),
}
FUNCTIONS = {"itself": lambda w: w, "cube": lambda w: w**3, "sine": pullback.sin}
PADDED = [(2.0, 1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), (2.0, 2.0, 1.0, 0.5)]


@pytest.mark.parametrize("name", MATRIX_FUNCTIONS)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("spectrum", PADDED, ids=str)
def test_a_matrix_function_is_not_differentiated_wrongly_at_ties(name, function, spectrum):
    """NaN, or the derivative in the direction of an element that mixes two equal values: the divided difference f'."""
    a = pullback.tensor(np.diag(spectrum), requires_grad=True)
    rows, columns = (3, 2) if spectrum[-1] == spectrum[-2] else (1, 0)
    loss = MATRIX_FUNCTIONS[name](a, FUNCTIONS[function])
    (slopes,) = grad(loss[rows, columns] + loss[columns, rows], a)
    at = pullback.tensor(spectrum[columns], dtype=pullback.float64, requires_grad=True)
    expected = grad(FUNCTIONS[function](at), at)[0].item()
    found = slopes.numpy()[rows, columns]
    assert np.isnan(found) or found == pytest.approx(expected)


def test_one_singular_value_of_zero():
    """Of a square matrix it is an ordinary one; the span of a tall one has no derivative there."""
    a = np.diag([2.0, 1.0, 0.0])
    weights = np.arange(9.0).reshape(3, 3)
    for shape, finite in (((3, 3), True), ((4, 3), False), ((3, 4), False)):
        x = pullback.tensor(np.pad(a, [(0, size - 3) for size in shape]), requires_grad=True)
        u, s, vh = linalg.svd(x, full_matrices=False)
        (slopes,) = grad(((u * s @ vh)[:3, :3] * pullback.tensor(weights)).sum(), x)
        if finite:
            np.testing.assert_allclose(slopes.numpy(), weights, atol=1e-14)
        else:
            assert np.isnan(slopes.numpy()).any()


def test_two_gradients_that_choose_different_vectors():
    """Their pullbacks are right alone, and NaN together."""
    x = pullback.tensor(EYE, requires_grad=True)
    values = linalg.eigvalsh(x)
    first, second = (grad(loss, x, create_graph=True)[0] for loss in (values.pow(2).sum(), values.exp().sum()))
    a, b = np.diag([1.0, 2.0, 3.0]), np.ones((3, 3))
    for slopes, v, factor in ((first, a, 2), (first, b, 2), (second, b, np.e)):
        found = grad((slopes * pullback.tensor(v)).sum(), x, retain_graph=True)[0]
        np.testing.assert_allclose(found.numpy(), factor * v, atol=1e-12)
    both = (first * pullback.tensor(a + b)).sum() + (second * pullback.tensor(b)).sum()
    assert np.isnan(grad(both, x)[0].numpy()).any()


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)])
@pytest.mark.parametrize("name", ["eigh", "eig", "svd"])
def test_matrices_without_elements(name, shape):
    x = pullback.zeros(shape, dtype=pullback.float64, requires_grad=True)
    sum(abs(part).sum() for part in getattr(pullback.linalg, name)(x)).backward()
    assert x.grad.shape == shape
