"""Sparse Jacobians and Hessians of random programs: compiled beside uncompiled, entry by entry, and beside dense ones.

A program is a few steps on a vector, with branches on values, loops, masks, kinks, indices and products with data, of which
some is infinite or NaN. Numbers are few halves, and operations are exact on them, so that no order of a sum changes a bit:
entries must be equal. A third of the programs has a sine or an exponential, and room for the last digits.
"""

import warnings

import numpy as np

import pullback as pb
from pullback.func import hessian, jacrev

FEW = 3
SIZES = 1, 2, 5, 9, 16, 40
LARGE = 700
ODD = np.inf, -np.inf, np.nan


def data(rng, shape, odd):
    """Small halves; some of them, where asked for, are no finite numbers."""
    found = rng.integers(-3, 4, shape) / 2
    if odd:
        found[rng.random(shape) < 0.1] = ODD[rng.integers(3)]
    return pb.from_numpy(found)


def folded(x):
    """Numbers small enough that further products of them are exact: a kink where they are too large."""
    return x.clamp(-4, 4)


def step(rng, n, odd):
    """A function of a vector of n elements that gives one as long."""
    c, d = data(rng, n, odd), data(rng, n, False)
    places = pb.from_numpy(rng.integers(0, n, n))
    few = pb.from_numpy(rng.permutation(n)[: max(1, n // 3)].copy())
    mask = pb.from_numpy(rng.random(n) < 0.5)
    matrix = pb.from_numpy(rng.integers(-2, 3, (n, n)) * (rng.random((n, n)) < 2 / n) * 1.0) if n < LARGE else None
    bound, times = float(rng.integers(-2, 3)) / 2, int(rng.integers(1, 4))

    def turn(x):
        for number in range(times):
            x = folded(x + x.roll(number + 1) * d)
        return x

    def into(x):
        y = x * 1
        y[few] = x[few] * x[0]
        return y

    def branch(x):
        return pb.cond(x[0] > bound, lambda x: x * c, lambda x: x.flip(0) * d, (x,))

    def padded(x):
        wide = pb.nn.functional.pad(x, (1, 1))
        return wide[2:] * x - wide[:-2] + c

    kinds = {
        "scale": lambda x: x * c,
        "square": lambda x: x * x + d,
        "neighbours": padded,
        "where": lambda x: pb.where(x > bound, x * c, x * x),
        "where mask": lambda x: pb.where(mask, x * d, x.flip(0)),
        "clamp": lambda x: x.clamp(-abs(bound) - 0.5, 1.5) * c,
        "abs": lambda x: (x - bound).abs() * x,
        "relu": lambda x: (x + d).relu() * x,
        "maximum": lambda x: pb.maximum(x, d) * pb.minimum(x.flip(0), c),
        "taken": lambda x: x[places] * x,
        "put": into,
        "masked": lambda x: x.masked_fill(mask, bound) + x[places],
        "turn": turn,
        "branch": branch,
        "halves": lambda x: pb.cat([x[n // 2 :] * x[-1], x[: n // 2]]),
        "total": lambda x: x + x.sum() / 4,
        "largest": lambda x: x * x.amax(),
        "sorted": lambda x: x.sort().values * d,
        "windows": lambda x: x * pb.nn.functional.max_pool1d(pb.nn.functional.pad(x, (1, 1))[None, None], 3, 1)[0, 0],
        "scattered": lambda x: pb.zeros_like(x).index_add(0, places, x * c) + x,
        "running": lambda x: x.cumsum(0) * d,
        "matrix": (lambda x: matrix @ x) if matrix is not None else (lambda x: x - d),
        "grid": lambda x: (x.reshape(-1, 1) * x.reshape(1, -1)[:, :1] + c[0]).reshape(-1),
        "rounded": lambda x: x * 2,
        "loop": lambda x: loop(x, d, times),
    }
    name = [*kinds][rng.integers(len(kinds))]
    return name, kinds[name]


def loop(x, d, times):
    """A loop over rows that are added one by one."""
    rows = []
    y = x
    for _ in range(times):
        y = folded(y * 0.5 + d)
        rows.append(y * x)
    return sum(rows)


def program(rng):
    """A program with the names of its steps, and whether its numbers are exact."""
    n = int(SIZES[rng.integers(len(SIZES))]) if rng.random() < 0.9 else LARGE
    smooth = rng.random() < 1 / 3
    odd = not smooth and rng.random() < 0.6  # beside overflow the check of a lent pattern may see rounding
    steps = [step(rng, n, odd) for _ in range(rng.integers(1, 4))]
    waves = (lambda y: y.sin(), lambda y: y.exp(), lambda y: y.tanh())[rng.integers(3)]

    def f(x):
        for _, each in steps:
            x = each(x)
            if smooth:
                x = waves(x)
        return x

    names = [name for name, _ in steps]
    return n, f, names, not smooth and "largest" not in names  # equal maxima share a gradient


def answer(function, *given):
    """The matrix, or the name of what is raised."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "compile: .* runs as it is")  # a pattern of indices that depend on values
        try:
            return function(*given)
        except (ValueError, IndexError, RuntimeError) as error:
            return type(error).__name__


def same(found, expected, exact, say):
    """Assert that two matrices have the same entries."""
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected, f"{say}: {found} where uncompiled gives {expected}"
        return 1
    np.testing.assert_array_equal([found.rows, found.cols], [expected.rows, expected.cols], err_msg=say)
    room = 0 if exact else 1e-12 * np.abs(expected.data[np.isfinite(expected.data)]).max(initial=1)
    np.testing.assert_allclose(found.data, expected.data, rtol=1e-12 * (not exact), atol=room, err_msg=say)
    return 1 + len(found.data)


def covers(matrix, dense, say):
    """Assert that all nonzeros of a dense matrix are in the pattern."""
    outside = np.ones(dense.shape, bool)
    outside[matrix.rows, matrix.cols] = False
    wrong = np.nan_to_num(dense[outside], posinf=0, neginf=0).any()
    assert not wrong, f"{say}: a nonzero outside of the pattern"
    return 1


def check(rng):
    """Draw a program, and compare its Jacobian and the Hessian of its sum, at points that take other branches."""
    n, f, names, exact = program(rng)
    points = [data(rng, n, False) for _ in range(3)]
    if rng.random() < 0.2:
        points[1] = data(rng, n, True)
    compared = 0
    cases = [(pb.sparse_jacobian, f, jacrev(f))]
    cases += [(pb.sparse_hessian, lambda x: f(x).sum(), hessian(lambda x: f(x).sum()))] if n < LARGE else []
    for function, of, dense in cases:
        like = answer(function, of, points[0]) if rng.random() < 0.5 else None
        like = None if isinstance(like, str) else like

        def made(x, function=function, of=of, like=like):
            return function(of, x, like=like)

        compiled = pb.compile(made)
        for number, x in enumerate((*points, points[0])):
            say = f"{function.__name__} of {names} of {n} at point {number}, {'like' if like else 'alone'}"
            expected = answer(made, x)
            compared += same(answer(compiled, x), expected, exact, say)
            if number == 0 and n <= max(SIZES) and not isinstance(expected, str):
                compared += covers(expected, dense(x).numpy(), say)
    return compared
