"""Buffers that are filled row by row, and arrays that grow: put together once, with the numbers of every version that is read."""

import functools

import numpy as np
import pytest

import pullback
from pullback.compile import Compiled
from pullback.compile.passes import buffers, rolling, simplify
from pullback.compile.program import check, run


def record(function, *tensors):
    """The recorded program of a call, and what it is given."""
    compiled = Compiled(function)
    compiled(*tensors)
    return compiled._newest().machinery.recorded, [tensor.detach().numpy() for tensor in tensors]


def same(program, arrays):
    """The program after the pass, which gives what it gave."""
    after = check(buffers.put_together(program))
    for one, other in zip(run(program, arrays), run(after, arrays), strict=True):
        np.testing.assert_array_equal(one, other)
    return after


def filled(rows, w):
    out, h = pullback.zeros(rows, 3), w
    for t in range(rows):
        h = (h * w).tanh()
        out[t] = h
    return out


def recursion(rows, w):
    out = pullback.zeros(rows)
    out[0] = w[0]
    for t in range(1, rows):
        out[t] = out[t - 1] * w[1] + w[2]
    return out


def lagged(rows, w):
    out = pullback.ones(rows, 3)
    for t in range(3, rows):
        out[t] = 0.5 * out[t - 1] - 0.2 * out[t - 3] * w
    return out


def columns(rows, w):
    out, h = pullback.zeros(3, rows), w
    for t in range(rows):
        h = h * w
        out[:, t] = h
    return out


def table(rows, w):
    n = int(rows**0.5) + 1
    out = pullback.ones(n, n)
    for i in range(1, n):
        for j in range(1, n):
            out[i, j] = out[i - 1, j] * w[0] + out[i, j - 1] * w[1] + out[i - 1, j - 1] * w[2]
    return out


def grown(rows, w):
    out = w[:1]
    for _ in range(rows):
        out = pullback.cat([out, (out[-1:] * w[1:2]).sin()])
    return out


def accumulated(rows, w):
    out = pullback.zeros(7)
    for t in range(rows):
        out[t % 7] += w[0] * w[1]
    return out


def backwards(rows, w):
    out, h = pullback.zeros(rows, 3), w
    for t in reversed(range(rows)):
        h = h * w
        out[t - rows] = h
    return out


LOOPS = [filled, recursion, lagged, columns, table, grown, accumulated, backwards]


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
@pytest.mark.parametrize("gradient", [False, True])
def test_loops_over_rows_become_loops_of_the_program(loop, gradient, monkeypatch):
    monkeypatch.setattr(rolling, "FEWEST", 32)
    rows = 80
    function = functools.partial(loop, rows)
    if gradient:
        function = pullback.func.grad(lambda w: loop(rows, w).sum())
    w = pullback.tensor([0.5, 0.3, 0.9])
    program, arrays = record(function, w)
    after = same(program, arrays)
    assert all(e.name != "overwrite" for e in after.equations)
    if not (gradient and loop in (grown, lagged)):  # steps back of other lengths, and sums of several steps
        assert len(simplify(program).equations) < len(program.equations) / 5
    found = Compiled(function)(w)
    np.testing.assert_allclose(found.numpy(), function(w).numpy(), rtol=2e-5, atol=1e-6)


def test_versions_that_are_read_as_a_whole_are_made():
    def function(w):
        out, total = pullback.zeros(40, 3), pullback.zeros(3)
        for t in range(40):
            out[t] = w * t
            if t % 13 == 0:
                total = total + out.sum(0)
        return out, total

    program, arrays = record(function, pullback.ones(3))
    same(program, arrays)


def test_a_version_that_is_written_on_twice_is_two_buffers():
    def function(w):
        first = pullback.zeros(40, 3)
        for t in range(36):
            first[t] = w * t
        other = first.clone()
        first[3], other[3] = -w, 7 * w
        other[39], first[38] = w, w
        return first, other, first[3] + other[3]

    same(*record(function, pullback.ones(3)))


class Steps:
    """Random statements on two buffers and some vectors."""

    def __init__(self, rng, rows):
        self.rng, self.rows = rng, rows
        self.plan = [
            (int(rng.integers(11)), *(int(n) for n in rng.integers(rows, size=2)), float(rng.normal()))
            for _ in range(90)
        ]

    def __call__(self, w):
        a, b = pullback.zeros(self.rows, 3), pullback.ones(3, self.rows) * w[:, None]
        vectors, grown = [w, w * 2], w[:2]
        for kind, i, j, c in self.plan:
            v, u = vectors[i % len(vectors)], vectors[j % len(vectors)]
            match kind:
                case 0 | 1:
                    a[i] = v * c
                case 2:
                    b[:, j] = v + u
                case 3:
                    a[i - self.rows] += v
                case 4:
                    vectors.append(a[j] * 0.5 + v)
                case 5:
                    vectors.append(b[:, i] * 0.1)
                case 6:
                    a[i, j % 3] = c
                case 7:
                    grown = pullback.cat([grown, v[: 1 + j % 3]])
                case 8:
                    vectors.append(v * grown[-1:] * 0.3 + grown[i % len(grown)])
                case 9:
                    a[i : i + 2] = v
                case 10:
                    vectors.append(u + (a.sum(0) if c > 1 else a[i : i + 1, :].sum(0)) * 0.01)
        return a, b, grown, sum(vectors[-3:])


@pytest.mark.parametrize("seed", range(12))
def test_random_statements(seed, monkeypatch):
    monkeypatch.setattr(buffers, "FEWEST", 2)
    function = Steps(np.random.default_rng(seed), 6)
    w = pullback.tensor([0.5, 0.3, 0.9], dtype=pullback.float64)
    same(*record(function, w))
    slope = pullback.func.grad(lambda w: sum(each.sum() for each in function(w)))
    program, arrays = record(slope, w)
    after = check(buffers.put_together(program))
    for one, other in zip(run(program, arrays), run(after, arrays), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(Compiled(slope)(w).numpy(), slope(w).numpy(), rtol=1e-9)
