"""Indices that are too large, too small or right, in every operation that takes some: eager beside vmap and compiled code.

A compiled function raises what the eager one raises, or returns the same, whatever the indices were that it was recorded
with; with machine code and without.
"""

import warnings

import numpy as np

import pullback as pb
from pullback.nn import functional as F

FEW = 3
LENGTH = 4

long = pb.int64


def table():
    return pb.arange(12.0, dtype=pb.float64).reshape(LENGTH, 3) + 1


def written(method):
    """A write in place to a copy."""

    def write(x, i):
        y = x * 1
        method(y, i)
        return y

    return write


def rows(i):
    return i[:, None].expand(len(i), 3)


def values(i, *shape):
    return pb.ones(len(i), *shape, dtype=pb.float64)


OPERATIONS = {
    "x[i]": lambda x, i: x[i],
    "x[i, 0]": lambda x, i: x[i, 0],
    "x[:, i]": lambda x, i: x.T[:, i],
    "x[i, i]": lambda x, i: x[i, i % 3],
    "x[i] = v": written(lambda y, i: y.__setitem__(i, 0.5)),
    "x[:, i] = v": written(lambda y, i: y.T.__setitem__((slice(None), i), 0.5)),
    "gather": lambda x, i: x.gather(0, rows(i)),
    "take_along_dim": lambda x, i: x.take_along_dim(rows(i), 0),
    "index_select": lambda x, i: x.index_select(0, i),
    "take": lambda x, i: x[:, 0].take(i),
    "put": lambda x, i: x[:, 0].put(i, values(i)),
    "index_put": lambda x, i: x.index_put((i,), values(i, 3)),
    "index_put, added": lambda x, i: x.index_put((i,), values(i, 3), accumulate=True),
    "index_add": lambda x, i: x.index_add(0, i, values(i, 3)),
    "index_copy": lambda x, i: x.index_copy(0, i, values(i, 3)),
    "index_fill": lambda x, i: x.index_fill(0, i, 0.5),
    "index_reduce": lambda x, i: x.index_reduce(0, i, values(i, 3), "prod"),
    "scatter": lambda x, i: x.scatter(0, rows(i), values(i, 3)),
    "scatter of a number": lambda x, i: x.scatter(0, rows(i), 0.5),
    "scatter_add": lambda x, i: x.scatter_add(0, rows(i), values(i, 3)),
    "scatter_reduce": lambda x, i: x.scatter_reduce(0, rows(i), values(i, 3), "amax"),
    "scatter_": written(lambda y, i: y.scatter_(0, rows(i), values(i, 3))),
    "index_add_": written(lambda y, i: y.index_add_(0, i, values(i, 3))),
    "index_copy_": written(lambda y, i: y.index_copy_(0, i, values(i, 3))),
    "index_fill_": written(lambda y, i: y.index_fill_(0, i, 0.5)),
    "put_": written(lambda y, i: y.put_(i, values(i))),
    "embedding": lambda x, i: F.embedding(i, x),
    "embedding_bag": lambda x, i: F.embedding_bag(i[None], x),
    "one_hot": lambda x, i: F.one_hot(i, LENGTH),
    "nll_loss": lambda x, i: F.nll_loss(x.T[:1].expand(len(i), LENGTH), i),
    "cross_entropy": lambda x, i: F.cross_entropy(x.T[:1].expand(len(i), LENGTH), i),
    "multi_margin_loss": lambda x, i: F.multi_margin_loss(x.T[:1].expand(len(i), LENGTH), i),
    "max_unpool1d": lambda x, i: (
        F.max_unpool1d(values(i)[None, None], i[None, None], 1, output_size=(LENGTH,)) if len(i) == LENGTH else x
    ),
    "np.take": lambda x, i: np.take(x, i, axis=0),
    "np.take_along_axis": lambda x, i: np.take_along_axis(x, rows(i), 0),
}
WITHOUT = {"embedding_bag", "max_unpool1d", "multi_margin_loss", "np.take", "np.take_along_axis", "one_hot"}
"""Not by vmap: refused there, or of another rank."""


def outcome(function, *args):
    """What a function returns, or the kind of error that it raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args).detach().numpy()
    except (IndexError, RuntimeError, ValueError) as error:
        assert (
            "bound" in str(error) or "range" in str(error) or "index" in str(error) or "Class values" in str(error)
        ), error
        return type(error)


def same(found, right, what):
    if isinstance(right, type) or isinstance(found, type):
        assert found is right, f"{what}: {found} for {right}"
    else:
        np.testing.assert_allclose(found, right, rtol=1e-12, err_msg=what)
    return 1


def indices(rng, count):
    low, high = [(0, LENGTH), (-LENGTH, LENGTH), (-1, LENGTH), (0, LENGTH + 1), (-LENGTH - 2, LENGTH + 2)][
        rng.integers(5)
    ]
    return pb.tensor(rng.integers(low, high, count))


def check(rng):
    compared = 0
    names = rng.permutation([*OPERATIONS])[:2]
    options = [{}, {"fuse": False}][int(rng.integers(2))]
    machine = str(rng.choice(["always", "auto", "never"], p=[0.05, 0.05, 0.9]))
    count = LENGTH if rng.random() < 0.5 else int(rng.integers(1, 7))
    x, constant = table(), indices(rng, count)
    before = pb.get_machine_code()
    pb.set_machine_code(machine)
    try:
        for name in map(str, names):
            f = OPERATIONS[name]
            compiled = {
                "compiled": pb.compile(f, **options),
                "compiled, of a computed index": pb.compile(lambda x, i, f=f: f(x, i * 2 - i), **options),
            }
            for _ in range(6):
                i = indices(rng, count)
                right = outcome(f, x, i)
                where = f"{name} at {i.tolist()}, {machine}, {options}"
                for what, function in compiled.items():
                    compared += same(outcome(function, x, i), right, f"{what}: {where}")
                if name not in WITHOUT:
                    both = outcome(pb.vmap(f), pb.stack([x, x]), pb.stack([i, i]))
                    compared += same(
                        both, right if isinstance(right, type) else np.stack([right, right]), f"vmap {where}"
                    )
            fixed = pb.compile(lambda x, f=f: f(x, constant), **options)
            compared += same(
                outcome(fixed, x), outcome(f, x, constant), f"compiled, constant: {name} at {constant.tolist()}"
            )
    finally:
        pb.set_machine_code(before)
    return compared
