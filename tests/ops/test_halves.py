"""Half precision: operations compute in single precision and round once, in every order of derivatives.

The truth is the same operation in double precision, on the same numbers: no element may be further from it than one unit
in the last place of a half, whatever the number of elements. 65 504 is the largest half: a count of more elements, or a
sum of squares of a few hundred, is no half.
"""

import numpy as np
import pytest

import pullback
from pullback import nn
from pullback.autograd import grad

DOUBLE, HALF = pullback.float64, pullback.float16
functional = nn.functional

ROWS = {
    "sum": lambda x: x.sum(1),
    "sum of columns": lambda x: x.sum(0),
    "mean": lambda x: x.mean(),
    "mean of rows": lambda x: x.mean(1),
    "nanmean": lambda x: x.nanmean(),
    "var": lambda x: x.var(),
    "var of rows": lambda x: x.var(1),
    "var of columns": lambda x: x.var(0, correction=0),
    "std": lambda x: x.std(),
    "std of rows": lambda x: x.std(1),
    "var_mean": lambda x: pullback.var_mean(x)[0],
    "norm": lambda x: x.norm(),
    "norm of order 3": lambda x: pullback.linalg.vector_norm(x, 3, dim=1),
    "norm of order 1": lambda x: x.norm(p=1, dim=1),
    "logsumexp": lambda x: x.logsumexp(1),
    "logcumsumexp": lambda x: x.logcumsumexp(1),
    "cumsum": lambda x: x.cumsum(1),
    "layer_norm": lambda x: functional.layer_norm(x, x.shape[1:]),
    "group_norm": lambda x: functional.group_norm(x.reshape(1, *x.shape), 2),
    "instance_norm": lambda x: functional.instance_norm(x.reshape(1, *x.shape)),
    "batch_norm": lambda x: functional.batch_norm(x.T, None, None, training=True),
    "rms_norm": lambda x: functional.rms_norm(x, x.shape[1:]),
    "cross_entropy": lambda x: functional.cross_entropy(x.reshape(-1, 5), pullback.arange(x.numel() // 5) % 5),
    "adaptive_avg_pool": lambda x: functional.adaptive_avg_pool1d(x, 1),
    "matmul": lambda x: x @ x.detach().T,
    "einsum": lambda x: pullback.einsum("ij,kj->ik", x, x.detach()),
}


def numbers(size, kind):
    x = np.random.default_rng(size).standard_normal((2, size // 2)) + 0.5
    return pullback.tensor(x.astype(np.float16)).to(kind).requires_grad_()


def weights(like):
    return np.cos(np.arange(like.numel())).astype(np.float16).reshape(like.shape)


def derivatives(function, x, order):
    """A function's value, its pullback of fixed numbers, and that of the pullback."""
    found = [function(x)]
    for _ in range(order):
        y = found[-1]
        if not y.requires_grad:
            break
        found += grad(y, x, pullback.tensor(weights(y)).to(y.dtype), create_graph=True)
    return [each.detach().numpy() for each in found]


def units(found, true):
    """The greatest distance from the truth, in units in the last place of the half that is nearest to it.

    A difference that is all but zero has the rounding error, in single precision, of what it is a difference of.
    """
    unit = np.spacing(np.abs(true).astype(np.float16)).astype(np.float64)
    assert np.isfinite(unit).all()
    return np.max(np.abs(found.astype(np.float64) - true) / (unit + 2.0**-20 * np.max(np.abs(true))))


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("size", [10, 1000, 70_000, 200_000])
def test_halves_are_rounded_once(name, size):
    if name in ("matmul", "einsum", "norm of order 1") and size > 1000:
        size = 1000  # their slopes are those of other arrays; a norm of more than 65 504 ones is infinite
    order = 2 if size <= 1000 else 1
    results = derivatives(ROWS[name], numbers(size, HALF), order)
    truths = derivatives(ROWS[name], numbers(size, DOUBLE), order)
    for found, true in zip(results, truths, strict=False):
        assert found.dtype == np.float16
        if np.isfinite(true.astype(np.float16)).all():
            assert units(found, true) <= 1


@pytest.mark.parametrize("name", ["mean", "var of rows", "std", "norm", "logsumexp", "cross_entropy", "einsum"])
def test_tangents_and_batches_of_halves_are_rounded_once(name):
    def pushed(kind):
        x = numbers(1000, kind).detach()
        return pullback.func.jvp(ROWS[name], (x,), (pullback.tensor(weights(x)).to(kind),))[1].numpy()

    def mapped(kind):
        x = pullback.stack([numbers(1000, kind).detach()] * 2)
        return pullback.func.vmap(pullback.func.grad(lambda row: ROWS[name](row).sum()))(x).numpy()

    for computed in (pushed, mapped):
        assert computed(HALF).dtype == np.float16
        assert units(computed(HALF), computed(DOUBLE)) <= 1


@pytest.mark.parametrize("name", ["mean", "var of rows", "std", "norm", "logsumexp", "layer_norm", "cross_entropy"])
def test_compiled_halves_are_rounded_once(name):
    def step(x, weight):
        return grad((ROWS[name](x) * weight).sum(), x)[0]

    compiled = pullback.compile(step)
    x, precise = numbers(1000, HALF), numbers(1000, DOUBLE)
    weight = pullback.tensor(weights(ROWS[name](precise)))
    true = step(precise, weight.to(DOUBLE)).numpy()
    for _ in range(3):
        assert compiled(x, weight).dtype is HALF
        assert units(compiled(x, weight).numpy(), true) <= 1


def test_squares_beyond_the_largest_half():
    x = pullback.tensor([300.0, -300.0, 100.0], dtype=HALF, requires_grad=True)
    assert x.std().item() == np.float16(np.std([300, -300, 100], ddof=1))
    assert x.norm().item() == np.float16(np.sqrt(190_000))
    (slope,) = grad(x.std(), x)
    centred = np.array([300, -300, 100]) - 100 / 3
    np.testing.assert_array_equal(slope.numpy(), (centred / 2 / np.std(centred, ddof=1)).astype(np.float16))
    mean, var = pullback.zeros(1, dtype=HALF), pullback.zeros(1, dtype=HALF)
    functional.batch_norm(x.reshape(3, 1) / 2, mean, var, training=True)
    assert var.item() == np.float16(0.1 * np.var([150, -150, 50], ddof=1))


def test_counts_beyond_the_largest_half():
    x = pullback.ones(70_000, dtype=HALF, requires_grad=True)
    places = pullback.zeros(70_000, dtype=pullback.int64)
    start = pullback.ones(1, dtype=HALF)
    for result in (
        x.mean(),
        x.nanmean(),
        start.scatter_reduce(0, places, x, "mean", include_self=False),
        functional.embedding_bag(places[None], x[:1, None], mode="mean"),
        functional.l1_loss(x, x * 0),
    ):
        assert result.item() == 1
    (slope,) = grad(x.mean(), x)
    np.testing.assert_array_equal(slope.numpy(), np.full(70_000, 1 / 70_000).astype(np.float16))
