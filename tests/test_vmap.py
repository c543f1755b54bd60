"""vmap: every primitive on a batch is the loop over its examples; branches, randomness, writes, refusals."""

import itertools

import numpy as np
import pytest

import pullback
from pullback import ops
from pullback.func import grad, jvp, vjp, vmap
from pullback.testing import samples
from pullback.testing.samples import distinct, fractions, mask, positive, reals, whole

# Samples of what has no derivative, and so no row of its own.
EXTRA = [
    *((name, [reals(3, 4)], {}) for name in ("isnan", "isinf", "isfinite", "signbit", "isposinf", "isneginf", "exponent")),
    *((name, [reals(3, 4), reals(4)], {}) for name in ("equal", "less", "greater_equal", "floor_divide", "heaviside", "isclose")),
    *((name, [mask(3, 4), mask(4)], {}) for name in ("logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_xor")),
    *((name, [whole(9, 3, 4), whole(9, 4)], {}) for name in ("gcd", "lcm", "left_shift", "bitwise_or")),
    *((name, [mask(3, 4)], {"axis": axis, "keepdims": False}) for name in ("all", "any") for axis in ((0,), (0, 1))),
    *((name, [distinct(3, 4)], {"axis": 1, "keepdims": keep}) for name in ("argmax", "argmin") for keep in (True, False)),
    ("isin", [whole(9, 3, 4), whole(9, 5)], {}),
    *(("argsort", [distinct(3, 4)], {"axis": 1, "descending": down}) for down in (True, False)),
    ("arglast", [distinct(3, 4)], {"axis": 0, "largest": True}),
    ("argtop", [distinct(3, 8)], {"axis": 1, "k": 2, "largest": True}),
    ("argkth", [distinct(3, 8)], {"axis": 1, "k": 2}),
    ("argmedian", [distinct(3, 8)], {"axis": 1, "skip": False}),
    ("argmode", [whole(3, 3, 8)], {"axis": 1}),
    *(("searchsorted", [lambda rng: np.sort(reals(6)(rng)), reals(*shape)], {"right": True}) for shape in ((), (3,), (2, 3))),
    ("searchsorted", [lambda rng: np.sort(reals(2, 6)(rng)), reals(2, 3)], {"right": False}),
    ("index_shares", [whole(4, 3, 2)], {"padding": 1, "by_frequency": False}),
    ("index_shares", [whole(4, 3, 2)], {"padding": None, "by_frequency": True}),
    ("geqrf", [reals(4, 3)], {}),
]  # fmt: skip
ROWS = [*samples.rows(), *EXTRA]
PRIMITIVES = ops.tables()
BATCH = 3

each_sample = pytest.mark.parametrize(
    ("name", "makers", "params"), ROWS, ids=[f"{r[0]}-{i}" for i, r in enumerate(ROWS)]
)


def examples(makers):
    """For each argument, an array for each of the examples; masks, which samples do not draw, are rolled."""
    drawn = [[np.asarray(make(np.random.default_rng(5 + i))) for make in makers] for i in range(BATCH)]
    return [
        [np.roll(x, i).reshape(x.shape) if x.dtype == np.bool_ else x for i, x in enumerate(column)]
        for column in zip(*drawn, strict=True)
    ]


def is_mask_of_index(name, array):
    return name in {"index", "index_add", "index_put"} and array.dtype == np.bool_


def listed(result):
    return list(result) if isinstance(result, tuple) else [result]


def arrays_of(result):
    return [np.asarray(piece.detach().numpy() if pullback.is_tensor(piece) else piece) for piece in listed(result)]


def subsets(name, columns):
    """Which arguments are batched: each alone, and all of them."""
    free = [i for i, column in enumerate(columns) if not is_mask_of_index(name, column[0])]
    free = [i for i in free if len({x.shape for x in columns[i]}) == 1]
    return [s for n in range(1, len(free) + 1) for s in itertools.combinations(free, n)][:15]


@each_sample
def test_a_batch_is_the_loop_over_its_examples(name, makers, params):
    primitive = PRIMITIVES[name]
    columns = examples(makers)
    for batched in subsets(name, columns):
        args = [np.stack(c) if i in batched else c[0] for i, c in enumerate(columns)]
        in_dims = tuple(0 if i in batched else None for i in range(len(columns)))
        found = vmap(lambda *xs: primitive(*xs, **params), in_dims)(*map(pullback.from_numpy, args))
        loop = [
            arrays_of(primitive(*[c[k] if i in batched else c[0] for i, c in enumerate(columns)], **params))
            for k in range(BATCH)
        ]
        for piece, expected in zip(arrays_of(found), zip(*loop, strict=True), strict=True):
            assert piece.dtype == expected[0].dtype
            np.testing.assert_allclose(piece, np.stack(expected), rtol=1e-12, atol=1e-13, err_msg=str(batched))


def tensors_of(name, makers):
    """All arguments as tensors with the batch in front, and which of them have it: masks of an index are shared."""
    columns = examples(makers)
    shared = [is_mask_of_index(name, c[0]) or len({x.shape for x in c}) > 1 for c in columns]
    args = [pullback.from_numpy(c[0] if alone else np.stack(c)) for c, alone in zip(columns, shared, strict=True)]
    return args, tuple(None if alone else 0 for alone in shared)


def looped(function, args, in_dims):
    """The results of a function on each example, stacked."""
    found = [
        arrays_of(function(*[x if d is None else x[k] for x, d in zip(args, in_dims, strict=True)]))
        for k in range(BATCH)
    ]
    return [np.stack(column) for column in zip(*found, strict=True)]


def assert_alike(found, expected):
    for one, other in zip(arrays_of(found), expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


def on_floats(name, params, args):
    """The primitive as a function of its differentiable arguments alone, of those outputs that have a derivative."""
    floats = [i for i, x in enumerate(args) if x.dtype.is_floating_point or x.dtype.is_complex]

    def build(*xs):
        def function(*moving):
            values = list(xs)
            for i, value in zip(floats, moving, strict=True):
                values[i] = value
            results = listed(PRIMITIVES[name](*values, **params))
            return tuple(y for y in results if y._dtype.kind in "fc")

        return function, [xs[i] for i in floats]

    return build


differentiable = pytest.mark.parametrize(
    ("name", "makers", "params"),
    [row for row in ROWS if PRIMITIVES[row[0]].differentiable],
    ids=[f"{r[0]}-{i}" for i, r in enumerate(ROWS) if PRIMITIVES[r[0]].differentiable],
)


@differentiable
def test_pullbacks_of_the_examples(name, makers, params):
    args, in_dims = tensors_of(name, makers)
    build = on_floats(name, params, args)

    def pulled(*xs):
        function, primals = build(*xs)
        outputs, pull = vjp(function, *primals)
        return pull(tuple(y * 0.5 + 1 for y in outputs))

    assert_alike(vmap(pulled, in_dims)(*args), looped(pulled, args, in_dims))


@differentiable
def test_pushforwards_of_the_examples(name, makers, params):
    args, in_dims = tensors_of(name, makers)
    build = on_floats(name, params, args)

    def pushed(*xs):
        function, primals = build(*xs)
        return jvp(function, tuple(primals), tuple(x * 0.5 + 1 for x in primals))[1]

    assert_alike(vmap(pushed, in_dims)(*args), looped(pushed, args, in_dims))


@each_sample
def test_batches_of_batches(name, makers, params):
    args, in_dims = tensors_of(name, makers)
    twice = [x if d is None else pullback.stack([x, x.flip(0)]) for x, d in zip(args, in_dims, strict=True)]

    def function(*xs):
        return PRIMITIVES[name](*xs, **params)

    found = vmap(vmap(function, in_dims), in_dims)(*twice)
    first, second = (
        looped(function, [x if d is None else x[k] for x, d in zip(twice, in_dims, strict=True)], in_dims)
        for k in range(2)
    )
    assert_alike(found, [np.stack(pair) for pair in zip(first, second, strict=True)])


@differentiable
def test_the_derivative_of_a_batch(name, makers, params):
    args, in_dims = tensors_of(name, makers)
    build = on_floats(name, params, args)
    function, primals = build(*args)
    floats = [d for x, d in zip(args, in_dims, strict=True) if x.dtype.is_floating_point or x.dtype.is_complex]

    def examples_of(*moving):
        others = list(args)
        places = [i for i, x in enumerate(args) if x.dtype.is_floating_point or x.dtype.is_complex]
        for i, value in zip(places, moving, strict=True):
            others[i] = value
        return vmap(lambda *xs: build(*xs)[0](*build(*xs)[1]), in_dims)(*others)

    outputs, pull = vjp(examples_of, *primals)
    found = pull(tuple(y * 0.5 + 1 for y in outputs))

    def pulled(*xs):
        own, inputs = build(*xs)
        results, back = vjp(own, *inputs)
        return back(tuple(y * 0.5 + 1 for y in results))

    expected = looped(pulled, args, in_dims)
    expected = [x if d == 0 else x.sum(0) for x, d in zip(expected, floats, strict=True)]
    assert_alike(found, expected)
