"""Writes at places that may repeat: forward mode, reverse mode and compiled code against differences of what was written.

A write is linear in the target and in the values, so that a difference is the derivative, up to rounding: the values that
a later one replaced have none.
"""

import warnings

import numpy as np

import pullback as pb

FEW = 6


def repeated(rng, size, shape, *, negative=True):
    """Random numbers of places along an axis, many of which repeat."""
    return pb.tensor(rng.integers(-size if negative else 0, size, shape))


def assigned(index, shape, tensors=True):
    """A write by `x[index] = value`, and the shape of a value."""

    def write(x, v):
        x[index] = v
        return x

    return write, shape


def by_index(rng):
    """An assignment of one of many kinds of index to a tensor of shape (4, 3, 2)."""
    k = int(rng.integers(1, 6))
    i, j, m = (repeated(rng, size, k) for size in (4, 3, 2))
    grid = repeated(rng, 4, (2, k))
    mask = pb.tensor(rng.random((4, 3)) < 0.5)
    chosen = int(mask.sum())
    kinds = [
        (i, (k, 3, 2)), ([*i.tolist()], (k, 3, 2)), (grid, (2, k, 3, 2)), ((i, j), (k, 2)), ((i, j, m), (k,)),
        ((i, slice(None), m), (k, 3)), ((slice(1, 3), j), (2, k, 2)), ((..., m), (4, 3, k)), ((i, 1), (k, 2)),
        ((2, j), (k, 2)), ((i[:, None], j), (k, k, 2)), (mask, (chosen, 2)), ((slice(None, None, 2), None, j), (2, 1, k, 2)),
        ((i.numpy(), slice(0, 2)), (k, 2, 2)), ((mask[:, 0], 0), (int(mask[:, 0].sum()), 2)),
    ]  # fmt: skip
    index, shape = kinds[int(rng.integers(len(kinds)))]
    if rng.random() < 0.3:  # one value for all, along some axes
        shape = [1 if rng.random() < 0.5 else size for size in shape][int(rng.integers(len(shape) + 1)) :]
    return assigned(index, tuple(shape))


def drawn(rng):
    """A random write to a tensor of shape (4, 3, 2), and the shape of its values."""
    k = int(rng.integers(1, 6))
    axis = int(rng.integers(3))
    size = (4, 3, 2)[axis]
    line = repeated(rng, size, k, negative=False)
    slices = tuple(k if place == axis else n for place, n in enumerate((4, 3, 2)))
    every = repeated(rng, size, slices, negative=False)
    flat = repeated(rng, 24, (2, k))
    size = (int(rng.integers(1, 5)), int(rng.integers(1, 5)))
    stride = tuple(int(step) for step in rng.integers(1, 4, 2))
    start = int(rng.integers(3))
    width = int(rng.integers(1, 4))
    wide = (4 - width + 1, 3, 2, width)
    planes = repeated(rng, 12, (4, 3, 2), negative=False)
    numbers, along = flat.numpy(), every.numpy()
    some = (
        lambda: by_index(rng),
        lambda: (lambda x, v: x.index_put((flat % 4, flat % 3), v), (2, k, 2)),
        lambda: (lambda x, v: x.index_put_((flat % 4,), v), (2, k, 3, 2)),
        lambda: (lambda x, v: x.index_copy(axis, line, v), slices),
        lambda: (lambda x, v: x.index_copy_(axis, line, v), slices),
        lambda: (lambda x, v: x.scatter(axis, every, v), slices),
        lambda: (lambda x, v: x.scatter_(axis, every, v), slices),
        lambda: (lambda x, v: x.put(flat, v), (2, k)),
        lambda: (lambda x, v: x.put_(flat, v), (2, k)),
        lambda: (lambda x, v: x.index_fill(axis, line, v), ()),
        lambda: (lambda x, v: x.scatter(axis, every, v.expand(slices)), ()),
        lambda: (lambda x, v: (x.as_strided(size, stride, start).copy_(v), x)[1], size),
        lambda: (lambda x, v: (x.unfold(0, width, 1).copy_(v), x)[1], wide),
        lambda: (lambda x, v: x + pb.nn.functional.max_unpool1d(v, planes, 6)[..., :2], (4, 3, 2)),
        lambda: (lambda x, v: (np.put(x, numbers, v), x)[1], (k,)),
        lambda: (lambda x, v: (np.put_along_axis(x, along, v, axis), x)[1], slices),
    )
    return some[int(rng.integers(len(some)))]()


def differences(f, arguments):
    """The derivative of a linear function by each element of its arguments, with the derivatives first."""
    start = f(*arguments).numpy()
    found = []
    for place, x in enumerate(arguments):
        rows = []
        for number in range(x.numel()):
            moved = x.clone().reshape(-1)
            moved[number] += 1
            rows.append(f(*arguments[:place], moved.reshape(x.shape), *arguments[place + 1 :]).numpy() - start)
        found.append(np.reshape(rows, (*x.shape, *start.shape)))
    return found


def same(found, right, what):
    """Compare two lists of arrays."""
    for place, (one, other) in enumerate(zip(found, right, strict=True)):
        one = np.asarray(one.detach() if isinstance(one, pb.Tensor) else one)
        if not np.allclose(one, other, rtol=1e-9, atol=1e-9):
            raise AssertionError(f"{what}, by argument {place}: {one.tolist()} for {other.tolist()}")
    return len(right)


def check(rng):
    write, shape = drawn(rng)

    def f(x, v):
        return write(x * 1, v)

    arguments = pb.tensor(rng.normal(size=(4, 3, 2))), pb.tensor(rng.normal(size=shape))
    slopes = differences(f, arguments)
    weights = pb.tensor(rng.normal(size=(4, 3, 2)))
    right = [np.sum(slope * weights.numpy(), (-1, -2, -3)) for slope in slopes]
    compared = 0

    def total(x, v):
        return (f(x, v) * weights).sum()

    def backward(function):
        leaves = [x.clone().requires_grad_() for x in arguments]
        return pb.autograd.grad(function(*leaves), leaves)

    compared += same(backward(total), right, "the tape")
    compared += same(pb.func.grad(total, argnums=(0, 1))(*arguments), right, "func.grad")
    moves = [pb.tensor(rng.normal(size=x.shape)) for x in arguments]
    pushed = sum(np.tensordot(move.numpy(), slope, move.ndim) for move, slope in zip(moves, slopes, strict=True))
    compared += same([pb.func.jvp(f, arguments, tuple(moves))[1]], [pushed], "jvp")
    alone = pb.func.jvp(lambda v: f(arguments[0], v), arguments[1:], tuple(moves[1:]))[1]
    compared += same([alone], [np.tensordot(moves[1].numpy(), slopes[1], moves[1].ndim)], "jvp by the values alone")

    # the square has the Hessian 2 J J^T in all directions
    (curved,) = pb.func.jvp(pb.func.grad(lambda v: (f(arguments[0], v) ** 2).sum()), arguments[1:], tuple(moves[1:]))[
        1:
    ]
    twice = 2 * np.tensordot(slopes[1], np.tensordot(moves[1].numpy(), slopes[1], moves[1].ndim), 3)
    compared += same([curved], [twice], "forward over reverse")
    leaf = arguments[1].clone().requires_grad_()
    (slope,) = pb.autograd.grad((f(arguments[0], leaf) ** 2).sum(), leaf, create_graph=True)
    compared += same(pb.autograd.grad((slope * moves[1]).sum(), leaf), [twice], "reverse over reverse")

    batch = [pb.stack([x, x + 1]) for x in arguments]
    try:
        several = pb.vmap(pb.func.grad(total, argnums=(0, 1)))(*batch)
    except RuntimeError as refusal:  # NumPy's writes, and masks, inside vmap
        assert "vmap" in str(refusal), refusal
    else:
        compared += same(several, [np.stack([slope, slope]) for slope in right], "vmap")
    if rng.random() < 0.3:
        with (
            warnings.catch_warnings()
        ):  # of writes to memory that lies in one place more than once, which run as they are
            warnings.simplefilter("ignore")
            compared += same(backward(pb.compile(total)), right, "compiled")
    return compared
