"""Indices in compiled functions: places that are constant are known when it is compiled, and all is machine code."""

import numpy as np
import pytest

import pullback
from pullback.compile import store


@pytest.fixture(autouse=True)
def no_store(monkeypatch):
    monkeypatch.setenv(store.VARIABLE, "off")


I, J, AGAIN = np.array([3, -3, 0]), np.array([0, 4, -2]), np.array([[1, 1], [2, 0]])  # noqa: E741
ALL, REST = slice(None), Ellipsis
TAKEN = {
    "leading": (AGAIN,), "after": (ALL, I), "pairs after": (ALL, I, J), "last": (REST, J), "matrix": (ALL, AGAIN),
    "before the rest": (ALL, I, REST), "nothing": (ALL, np.array([], int)), "apart": (I % 3, ALL, J), "within": (slice(1, None), I),
}  # fmt: skip
PUT = {
    "pairs": ((ALL, I, J), (3, 3)), "rows": ((np.array([2, 0]),), (2, 4, 5)), "last": ((REST, J), (4, 3)), "number": ((ALL, I), ()),
    "again": ((ALL, AGAIN), (3, 2, 2, 5)), "spread": ((ALL, I, J), (1,)), "nothing": ((ALL, np.array([], int)), ()),
    "apart": ((I % 3, ALL, J), (3, 4)),
}  # fmt: skip


def numbers(*shape):
    return pullback.tensor(np.random.default_rng(len(shape)).normal(size=shape))


def as_without(function, *given, python=False):
    """The compiled function gives what the function does, as machine code alone unless `python`."""
    compiled = pullback.compile(function, fullgraph=True)
    expected = pullback.utils.trees.flatten(function(*given))[0]
    for _ in range(3):
        for found, other in zip(pullback.utils.trees.flatten(compiled(*given))[0], expected, strict=True):
            np.testing.assert_allclose(found.numpy(), other.numpy(), rtol=1e-13, strict=True)
    kernels = {name for kernel in compiled.report().kernels for name in kernel.equations}
    assert python or not kernels & {"index", "index_add", "index_put"}


@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.parametrize("traced", [False, True])
def test_what_is_taken_and_its_gradient(name, traced):
    """By constant indices, and by those that are tensors, which may be others at each call."""
    x, index = numbers(4, 4, 5), TAKEN[name]
    python = name in {"nothing", "apart", "within"}

    def taken(x, *given):
        left = iter(given)
        return x[tuple(next(left) if traced and isinstance(entry, np.ndarray) else entry for entry in index)].sin()

    given = [pullback.tensor(entry) for entry in index if isinstance(entry, np.ndarray)] if traced else []
    as_without(taken, x, *given, python=python)
    as_without(lambda x, *given: pullback.func.grad(lambda x: taken(x, *given).sum())(x), x, *given, python=python)


@pytest.mark.parametrize("index", [4, -5])
def test_an_index_out_of_range_after_others_is_an_error(index):
    compiled = pullback.compile(lambda x, i: x[:, i])
    x = numbers(3, 4)
    assert compiled(x, pullback.tensor([3, -4])).tolist() == x.numpy()[:, [3, -4]].tolist()
    with pytest.raises(IndexError):
        compiled(x, pullback.tensor([0, index]))


@pytest.mark.parametrize("name", PUT)
def test_what_is_put_at_constant_places_and_its_gradients(name):
    index, shape = PUT[name]

    def put(x, value):
        y = x.clone()
        y[index] = value
        return y * x

    x, value = numbers(3, 4, 5), numbers(*shape)
    python = name in {"apart", "nothing"}
    as_without(put, x, value, python=python)
    as_without(pullback.func.grad(lambda x, v: put(x, v).sin().sum(), (0, 1)), x, value, python=python)


def repeated(counts):
    return lambda x: pullback.repeat_interleave(x, counts())


def counted():
    counts = pullback.zeros(3, dtype=pullback.int64)
    counts[1] = 2
    counts[2] = counts[1] + 1
    return counts


@pytest.mark.parametrize(
    "counts",
    [
        lambda: pullback.arange(3, 0, -1),
        lambda: pullback.tensor([1, 0, 2]) * 2,
        lambda: pullback.cat([pullback.arange(1, 3), pullback.zeros(1, dtype=pullback.int64)]),
        counted,
    ],
)
def test_numbers_that_follow_from_constants_are_known_while_recording(counts):
    x = pullback.tensor([1.0, 2.0, 3.0])
    as_without(repeated(counts), x)
    as_without(pullback.func.grad(lambda x: (repeated(counts)(x) ** 3).sum()), x)


@pytest.mark.parametrize(
    "counts",
    [lambda x: x.long(), lambda x: pullback.randint(1, 3, (3,)), lambda x: pullback.arange(3) + x.long().sum()],
)
def test_numbers_that_do_not_are_not(counts):
    compiled = pullback.compile(lambda x: pullback.repeat_interleave(x, counts(x)).sum())
    with pytest.warns(UserWarning, match="shape of the result of repeat_interleave depends on values"):
        compiled(pullback.tensor([1.0, 2.0, 3.0]))
    assert compiled(pullback.tensor([2.0, 0.0, 1.0])).shape == ()
    assert not compiled.records
