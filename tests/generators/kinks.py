"""Second derivatives at the points where a first derivative is a convention: right, or NaN, and never another number.

Each row is a function that is smooth where a norm or a standard deviation in it is 0, with its second derivative there in
closed form. The four ways to it, forward and reverse mode over each other, may give it or NaN, alone and compiled.
"""

import numpy as np

import pullback
from pullback import autograd, func, linalg
from pullback.nn import functional

FEW = 2


def square(t):
    return t * t


# An even function of a norm, and twice its derivative by the square of the norm at 0.
EVEN = [
    (square, 2.0),
    (lambda t: t**2, 2.0),
    (lambda t: pullback.exp(-square(t)), -2.0),
    (pullback.cos, -1.0),
    (pullback.cosh, 1.0),
    (lambda t: 1 / (1 + square(t)), -2.0),
    (lambda t: pullback.log1p(3 * square(t)), 6.0),
    (lambda t: t**4, 0.0),
    (lambda t: pullback.clamp(t, min=0.5), 0.0),
]

# A norm of x, whose square is x^T M x for the matrix M of so many rows.
NORMS = {
    "norm": (lambda x: x.norm(), np.eye),
    "vector_norm": (lambda x: linalg.vector_norm(x, dim=0), np.eye),
    "matrix_norm": (lambda x: linalg.matrix_norm(x[:, None]), np.eye),
    "dist": (lambda x: pullback.dist(x, pullback.zeros_like(x)), np.eye),
    "cdist": (lambda x: pullback.cdist(x[None], pullback.zeros(1, len(x), dtype=x.dtype))[0, 0], np.eye),
    "of a difference": (lambda x: (2 * x - x * 5).norm(), lambda n: 9 * np.eye(n)),
    "std": (lambda x: x.std(), lambda n: (np.eye(n) - 1 / n) / (n - 1)),
    "std, biased": (lambda x: x.std(correction=0), lambda n: (np.eye(n) - 1 / n) / n),
    "itself": (lambda x: pullback.cdist(x[:, None], x[:, None])[0, 0], lambda n: np.zeros((n, n))),
    "normalized": (lambda x: functional.normalize(x, dim=0, eps=1.0).norm(), np.eye),
}


def reverse_twice(f):
    return lambda x: autograd.functional.hessian(f, x)


WAYS = {
    "forward over reverse": func.hessian,
    "reverse over reverse": lambda f: func.jacrev(func.jacrev(f)),
    "forward over forward": lambda f: func.jacfwd(func.jacfwd(f)),
    "reverse over forward": lambda f: func.jacrev(func.jacfwd(f)),
    "on the tape": reverse_twice,
}


def check(rng):
    """One function of one norm, at 0 and at ordinary numbers; there beside differences of its gradient."""
    name = sorted(NORMS)[rng.integers(len(NORMS))]
    norm, matrix = NORMS[name]
    f, factor = EVEN[rng.integers(len(EVEN))]
    size = int(rng.integers(2, 5))
    base = np.full(size, float(rng.integers(-2, 3))) if name.startswith("std") or name == "itself" else np.zeros(size)
    single = bool(rng.random() < 0.3)
    ways = {**WAYS, "compiled": lambda f: pullback.compile(func.hessian(f))} if rng.random() < 0.04 else WAYS
    count = 0
    for at_zero in (True, False):
        x = base if at_zero else rng.standard_normal(size) * 2
        given = pullback.tensor(x, dtype=pullback.float32 if single else pullback.float64)

        def loss(x):
            return f(norm(x))

        if at_zero:
            expected = factor * matrix(size)
            (slopes,) = autograd.grad(loss(leaf := given.clone().requires_grad_()), leaf)
            assert not slopes.numpy().any(), f"{name}: the gradient at 0 is {slopes.tolist()}"
        else:
            expected = np.array([differences(loss, x, i) for i in range(size)])
        for way, hessian in ways.items():
            found = hessian(loss)(given).numpy()
            near = np.abs(found - expected) <= (2e-3 if single else 2e-5) * (1 + abs(expected).max())
            assert (near | (at_zero & np.isnan(found))).all(), (
                f"{name}, {EVEN.index((f, factor))}, {way}, at {x.tolist()}: {found.tolist()} for {expected.tolist()}"
            )
            count += found.size
    return count


def differences(loss, x, i):
    """A row of the second derivative, by a central difference of gradients in float64."""
    step = 1e-6 * np.eye(len(x))[i]
    above, below = (func.grad(loss)(pullback.tensor(x + sign * step)).numpy() for sign in (1, -1))
    return (above - below) / 2e-6
