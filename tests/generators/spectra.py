"""Matrices with planted equal and zero eigenvalues and singular values: derivatives are those of the exact factors, or NaN.

A function f of a Hermitian matrix Q diag(w) Q^H has the derivative Q (D * (Q^H E Q)) Q^H in a direction E, where D holds
the divided differences (f(w_i) - f(w_j)) / (w_i - w_j), and f'(w_i) where w_i = w_j (Daleckii and Krein, 1965). For an odd
f of the singular values of a matrix, embed it in [[0, A], [A^H, 0]]. Functions of the values alone are never NaN.
"""

import math

import numpy as np

import pullback
from pullback import func, linalg

FEW = 8

FUNCTIONS = [  # as a function of tensors, of numbers, its derivative, and whether it is odd
    (lambda w: w, lambda w: w, lambda w: w * 0 + 1, True),
    (lambda w: w**3, lambda w: w**3, lambda w: 3 * w**2, True),
    (lambda w: w**2, lambda w: w**2, lambda w: 2 * w, False),
    (pullback.sin, np.sin, np.cos, True),
    (pullback.exp, np.exp, np.exp, False),
    (pullback.cos, np.cos, lambda w: -np.sin(w), False),
    (pullback.atan, np.arctan, lambda w: 1 / (1 + w * w), True),
    (lambda w: 0 * w + 1, lambda w: w * 0 + 1, lambda w: w * 0, False),
]


def adjoint(x):
    return x.conj().swapaxes(-1, -2)


def unitary(rng, size, complex_, exact):
    """A random unitary matrix; an exact one only permutes and changes signs."""
    if exact:
        return np.eye(size)[rng.permutation(size)] * rng.choice([-1, 1], size) + (0j if complex_ else 0)
    x = rng.standard_normal((size, size))
    return np.linalg.qr(x + 1j * rng.standard_normal((size, size)) if complex_ else x)[0]


def draw(rng, *shape, complex_):
    x = rng.standard_normal(shape)
    return x + 1j * rng.standard_normal(shape) if complex_ else x


def derivative(q, w, function, slope, direction):
    """The derivative of a matrix function, by divided differences of the planted values."""
    gaps = w[:, None] - w
    same = gaps == 0
    rises = function(w)[:, None] - function(w)
    divided = np.where(same, slope(w)[:, None], rises / np.where(same, 1, gaps))
    return q @ (divided * (adjoint(q) @ direction @ q)) @ adjoint(q)


def embedded(a):
    m, n = a.shape
    return np.block([[np.zeros((m, m)), a], [adjoint(a), np.zeros((n, n))]])


def same(found, expected, single, what, *, finite=False):
    """Compare numbers: all right, or all but NaN if they need not be finite."""
    found, expected = np.asarray(found), np.asarray(expected)
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    wrong = ~(np.abs(found - expected) <= scale * (2e-2 if single else 1e-4))
    wrong &= finite | np.isfinite(found)
    assert not wrong.any(), f"{what}: {found[wrong][:3]} for {expected[wrong][:3]}"
    return found.size


def inner(a, b):
    return float(np.sum(a * b.conj()).real)


def matrix_functions(rng, complex_, single, exact):
    """V diag(f(w)) V^H by eigh and eig, U diag(f(s)) V^H by svd: gradients, and derivatives in a direction."""
    f, function, slope, odd = FUNCTIONS[rng.integers(len(FUNCTIONS))]
    kinds = ["eigh", "eig", "svd", "svd"] if odd else ["eigh", "eig"]
    kind, size = rng.choice(kinds), int(rng.integers(1, 6))
    rows = size + int(rng.integers(0, 3)) if kind == "svd" else size
    w = rng.choice([0.0, 0.0, 1.0, 1.0, 2.0, 0.5, 3.0], size)
    w = w if kind == "svd" else w * rng.choice([-1, 1], size)
    q, p = unitary(rng, rows, complex_, exact), unitary(rng, size, complex_, exact)
    a = (q[:, :size] * w) @ adjoint(p) if kind == "svd" else (q * w) @ adjoint(q)
    a = a if kind == "svd" else (a + adjoint(a)) / 2
    if kind == "svd" and rng.random() < 0.5:
        a, q, p = adjoint(a), p, q
    full = bool(rng.random() < 0.5)
    e, c = draw(rng, *a.shape, complex_=complex_), draw(rng, *a.shape, complex_=complex_)
    if kind != "svd":
        e, c = (x + adjoint(x) for x in (e, c))
    dtype = np.result_type(a.dtype, np.complex64) if complex_ else a.dtype
    if single:
        dtype = np.complex64 if complex_ else np.float32
    x, weights, direction = (pullback.tensor(np.ascontiguousarray(each).astype(dtype)) for each in (a, c, e))

    def whole(x):
        if kind == "svd":
            u, s, vh = linalg.svd(x, full_matrices=full)
            k = s.shape[-1]
            return u[:, :k] * f(s) @ vh[:k]
        if kind == "eigh":
            w, v = linalg.eigh(x)
            return v * f(w) @ v.mH
        w, v = linalg.eig(x)
        return v * f(w) @ linalg.inv(v)

    if kind == "svd":
        values, vectors = np.linalg.eigh(embedded(a))
        values = np.round(values * 2) / 2  # what has been planted
        expected = derivative(vectors, values, function, slope, embedded(e))[: a.shape[0], a.shape[0] :]
    else:
        expected = derivative(q, w, function, slope, e)

    def loss(x):
        return (whole(x) * weights.conj()).sum().real

    what = f"{kind} of {a.tolist()}, full {full}"
    x.requires_grad_()
    try:
        value = loss(x)
        (slopes,) = pullback.autograd.grad(value, x, create_graph=bool(rng.random() < 0.3))
    except RuntimeError as failure:  # of a phase, which is NaN; or vectors that cannot be inverted
        if "phi" in str(failure) or "singular" in str(failure):
            return 1
        raise
    count = same(inner(slopes.detach().numpy(), e), inner(expected, c), single, f"gradient, {what}")
    if kind != "eig":
        moved = func.jvp(whole, (x.detach(),), (direction,))[1]
        count += same(moved.numpy(), expected, single, f"jvp, {what}")
    return count


def values_alone(rng, complex_, single, exact):
    """Sums of f(w) and f(s): first and second derivatives, in all four ways; they are never NaN."""
    size = int(rng.integers(1, 6))
    f, _, slope, _ = FUNCTIONS[[1, 2, 3, 4, 5][rng.integers(5)]]
    singular = bool(rng.random() < 0.4)
    w = rng.choice([1.0, 1.0, 2.0, 0.5, 3.0], size) * (1 if singular else rng.choice([-1, 1], size))
    if not singular:
        w *= rng.choice([0, 1, 1], size)
    q, p = unitary(rng, size, complex_, exact), unitary(rng, size, complex_, exact)
    a = (q * w) @ adjoint(p if singular else q)
    e = draw(rng, size, size, complex_=complex_)
    if singular:  # f of a symmetric matrix with eigenvalues +-s is twice the even part
        f = FUNCTIONS[2][0]
        first, second = inner(2 * a, e), inner(2 * e, e)
    else:
        a, e = (a + adjoint(a)) / 2, e + adjoint(e)
        first = inner((q * slope(w)) @ adjoint(q), e)
        bend = {1: lambda w: 6 * w, 2: lambda w: w * 0 + 2, 3: lambda w: -np.sin(w), 4: np.exp, 5: lambda w: -np.cos(w)}
        place = next(i for i, row in enumerate(FUNCTIONS) if row[0] is f)
        second = inner(derivative(q, w, slope, bend[place], e), e)
    dtype = (np.complex64 if complex_ else np.float32) if single else a.dtype
    x, v = pullback.tensor(a.astype(dtype)), pullback.tensor(e.astype(dtype))
    values = linalg.svdvals if singular else linalg.eigvalsh

    def total(x):
        return f(values(x)).sum()

    gradient = func.grad(total)
    ways = [
        inner(func.jvp(gradient, (x,), (v,))[1].numpy(), e),
        inner(func.grad(lambda x: func.jvp(total, (x,), (v,))[1])(x).numpy(), e),
        func.jvp(lambda x: func.jvp(total, (x,), (v,))[1], (x,), (v,))[1].item(),
    ]
    y = x.clone().requires_grad_()
    (slopes,) = pullback.autograd.grad(total(y), y, create_graph=True)
    ways.append(inner(pullback.autograd.grad(slopes, y, v)[0].numpy(), e))
    what = f"{values.__name__} of {a.tolist()}"
    same(slopes.detach().numpy().shape, a.shape, single, what)
    count = same(inner(gradient(x).numpy(), e), first, single, f"first, {what}", finite=True)
    return count + same(ways, [second] * 4, single, f"second, {what}", finite=True)


def of_rank(rng, complex_, single, exact):
    """The pseudoinverse and least squares among matrices of one rank: differences along X a Y, which keeps it."""
    m, n = (int(size) for size in rng.integers(1, 6, 2))
    rank = int(rng.integers(1, min(m, n) + 1))
    q, p = unitary(rng, m, complex_, exact), unitary(rng, n, complex_, exact)
    a = (q[:, :rank] * rng.choice([1.0, 1.0, 2.0], rank)) @ adjoint(p[:, :rank])
    left, right = draw(rng, m, m, complex_=complex_), draw(rng, n, n, complex_=complex_)
    b, c = draw(rng, m, 2, complex_=complex_), draw(rng, n, 2, complex_=complex_)
    step = 1e-5
    moved = [((np.eye(m) + t * left) @ a @ (np.eye(n) + t * right)) for t in (step, -step)]
    expected = inner(
        sum(s * np.linalg.pinv(x, rcond=1e-9) for s, x in zip((1, -1), moved, strict=True)) @ b / (2 * step), c
    )
    direction = left @ a + a @ right
    x = pullback.tensor(a, requires_grad=True)
    weights = pullback.tensor(c)
    count = 0
    for name, solved in (
        ("pinv", lambda: linalg.pinv(x, rtol=1e-9) @ pullback.tensor(b)),
        ("lstsq", lambda: linalg.lstsq(x, pullback.tensor(b), rcond=1e-9).solution),
    ):
        (slopes,) = pullback.autograd.grad((solved() * weights.conj()).sum().real, x)
        found = inner(slopes.numpy(), direction)
        assert math.isclose(found, expected, rel_tol=1e-4, abs_tol=1e-4), f"{name} of {a.tolist()}: {found}, {expected}"
        count += 1
    return count


def check(rng):
    """Several matrices of one kind."""
    part = [matrix_functions, matrix_functions, values_alone, of_rank][rng.integers(4)]
    complex_, single, exact = bool(rng.random() < 0.4), bool(rng.random() < 0.25), bool(rng.random() < 0.5)
    return sum(part(rng, complex_, single, exact) for _ in range(3))
