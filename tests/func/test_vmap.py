"""vmap: every primitive on a batch is the loop over its examples; branches, randomness, writes, refusals."""

import copy
import dataclasses
import itertools
import pickle
import warnings

import numpy as np
import pytest

import pullback
from pullback import ops
from pullback.func import grad, jvp, vjp, vmap

from .. import samples
from ..rows import each_row
from ..samples.makers import distinct, mask, reals, whole

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
    ("index_counts", [whole(4, 3, 2)], {}),
    ("geqrf", [reals(4, 3)], {}),
    ("permutation", [lambda rng: np.array([2, 3, 3]), reals(3, 3)], {}),
    ("pivot_info", [reals(3, 3), reals(3, 3)], {}),
    ("minor_info", [reals(3, 3), reals(3, 3)], {"upper": False}),
    ("ldl_factor", [reals(3, 3)], {"hermitian": False}),
    ("ldl_solve", [reals(3, 3), lambda rng: np.array([1, 3, 3]), reals(3, 2)], {"hermitian": False}),
]  # fmt: skip
ROWS = [*samples.rows(), *EXTRA]
PRIMITIVES = ops.tables()
BATCH = 3

each_sample = each_row(ROWS)


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


FIRST = {name: (name, makers, params) for name, makers, params in reversed(ROWS)}  # one row of each primitive

each_primitive = each_row(FIRST.values())
each_differentiable = each_row(row for name, row in FIRST.items() if PRIMITIVES[name].differentiable)
differentiable = each_row(row for row in ROWS if PRIMITIVES[row[0]].differentiable)


@differentiable
def test_pullbacks_of_the_examples(name, makers, params):
    args, in_dims = tensors_of(name, makers)
    build = on_floats(name, params, args)

    def pulled(*xs):
        function, primals = build(*xs)
        outputs, pull = vjp(function, *primals)
        return pull(tuple(y * 0.5 + 1 for y in outputs))

    assert_alike(vmap(pulled, in_dims)(*args), looped(pulled, args, in_dims))


@each_differentiable
def test_pushforwards_of_the_examples(name, makers, params):
    args, in_dims = tensors_of(name, makers)
    build = on_floats(name, params, args)

    def pushed(*xs):
        function, primals = build(*xs)
        return jvp(function, tuple(primals), tuple(x * 0.5 + 1 for x in primals))[1]

    assert_alike(vmap(pushed, in_dims)(*args), looped(pushed, args, in_dims))


@each_primitive
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


@each_differentiable
def test_the_derivative_of_a_batch(name, makers, params):
    args, in_dims = tensors_of(name, makers)
    build = on_floats(name, params, args)
    _, primals = build(*args)
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


# Functions of several operations


def draw(*shape, seed=0):
    return pullback.from_numpy(np.random.default_rng(seed).standard_normal(shape))


def check(function, *args, in_dims=0):
    """A batch against the loop, and both derivatives of it."""
    dims = in_dims if isinstance(in_dims, tuple) else (in_dims,) * len(args)
    size = next(x.shape[d] for x, d in zip(args, dims, strict=True) if d is not None)

    def one(k):
        return [x if d is None else x.select(d, k) for x, d in zip(args, dims, strict=True)]

    found = vmap(function, in_dims)(*args)
    assert_alike(found, [np.stack([function(*one(k)).numpy() for k in range(size)])])

    def slope(*xs):
        return grad(lambda *ys: function(*ys).sum())(*xs)

    expected = np.stack([slope(*one(k)).numpy() for k in range(size)])
    assert_alike(vmap(slope, in_dims)(*args), [expected])


F = pullback.nn.functional
LABELS = pullback.tensor([[0, 3], [1, 1], [2, 0]])


@pytest.mark.parametrize(
    ("function", "args", "in_dims"),
    [
        (F.cross_entropy, (draw(3, 2, 4), LABELS), 0),
        (F.cross_entropy, (draw(3, 2, 4), LABELS[0]), (0, None)),
        (F.cross_entropy, (draw(2, 4), LABELS), (None, 0)),
        (F.cross_entropy, (draw(3, 4), LABELS[:, 0]), 0),
        (lambda x, t, w: F.cross_entropy(x, t, w, label_smoothing=0.1), (draw(3, 2, 4), LABELS, draw(3, 4).abs()), 0),
        (lambda x, t: F.cross_entropy(x, t, ignore_index=1, reduction="sum"), (draw(3, 2, 4), LABELS), 0),
        (lambda x, t: F.nll_loss(x, t, reduction="none"), (draw(3, 2, 4), LABELS), 0),
        (lambda w, i: F.embedding(i, w, padding_idx=1), (draw(4, 5), LABELS), (None, 0)),
        (lambda w, i: F.embedding(i, w, padding_idx=1), (draw(3, 4, 5), LABELS), 0),
        (lambda x, i: x * F.one_hot(i, 4), (draw(3, 2, 4), LABELS), 0),
        (lambda x, w: F.layer_norm(x, (4,), w), (draw(3, 2, 4), draw(3, 4)), 0),
        (lambda x, w: F.layer_norm(x, (4,), w), (draw(2, 4), draw(3, 4)), (None, 0)),
        (lambda x, w: F.batch_norm(x, None, None, w, w, training=True), (draw(3, 5, 4), draw(3, 4)), 0),
        (lambda x, m: F.batch_norm(x, m, m.abs()), (draw(3, 5, 4), draw(4)), (0, None)),
        (lambda x, m: F.scaled_dot_product_attention(x, x, x, m > 0), (draw(3, 2, 5, 4), draw(3, 5, 5)), 0),
        (F.scaled_dot_product_attention, (draw(3, 5, 4), draw(5, 4), draw(5, 4)), (0, None, None)),
        (F.scaled_dot_product_attention, (draw(5, 4), draw(3, 5, 4), draw(5, 4)), (None, 0, None)),
        (F.scaled_dot_product_attention, (draw(5, 4), draw(5, 4), draw(3, 5, 4)), (None, None, 0)),
        (lambda x, m: F.scaled_dot_product_attention(x, x, x, m), (draw(5, 4), draw(3, 5, 5)), (None, 0)),
        (lambda x, y, m: F.scaled_dot_product_attention(x, x, y, m), (draw(5, 4), draw(3, 5, 4), draw(5, 5)), (None, 0, None)),
        (lambda x, w, b: F.conv2d(x, w, b, padding=1), (draw(3, 2, 4, 5, 5), draw(3, 6, 4, 3, 3), draw(3, 6)), 0),
        (F.conv2d, (draw(3, 4, 5, 5), draw(6, 4, 3, 3), draw(6)), (0, None, None)),
        (lambda w, x: F.conv2d(x, w, groups=2), (draw(3, 6, 2, 3, 3), draw(1, 4, 5, 5)), (0, None)),
        (pullback.linalg.solve, (draw(3, 4, 4), draw(4, 3)), (0, 1)),
        (lambda x, i: x[:, i, 1], (draw(3, 4, 5, 2), LABELS), 0),
        (lambda x, i: x[i, :, i], (draw(3, 4, 5, 4), LABELS), 0),
        (lambda x, i: x[:, i], (draw(2, 4, 5), LABELS), (None, 0)),
        (lambda x, i: x[i], (draw(3, 4, 5), LABELS[:, 0]), 0),
        (lambda x, m: x[m > 0], (draw(3, 4, 5), draw(4, 5)), (0, None)),
        (lambda x, w: pullback.where(x > 0, x.t().exp(), w), (draw(4, 4, 3), draw(4)), (-1, None)),
    ],
)  # fmt: skip
def test_functions_on_a_batch(function, args, in_dims):
    check(function, *args, in_dims=in_dims)


def test_the_tangent_of_attention_over_a_batch_of_values_alone():
    """Weights that all examples share have one tangent, by which each example's values are multiplied."""
    x, values, tangent = draw(5, 4), draw(3, 5, 4), draw(5, 4, seed=1)

    def attended(x):
        return vmap(lambda value: F.scaled_dot_product_attention(x, x, value))(values)

    step = 1e-5
    quotient = (attended(x + step * tangent) - attended(x - step * tangent)) / (2 * step)
    np.testing.assert_allclose(jvp(attended, (x,), (tangent,))[1], quotient, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (F.scaled_dot_product_attention, (draw(2, 3, 4), draw(2, 5, 4), draw(2, 5, 4))),
        (lambda q, k, m: F.scaled_dot_product_attention(q, k, k, m), (draw(2, 3, 4), draw(2, 5, 4), draw(3, 5))),
        (lambda x: F.softmax(x, -1), (draw(4, 5),)),
        (lambda x: F.cross_entropy(x, LABELS[0], reduction="none"), (draw(2, 4),)),
        (lambda x, w: F.layer_norm(x, (4,), w), (draw(3, 4), draw(4))),
        (lambda x, w: F.conv2d(x, w, padding=1), (draw(2, 3, 4, 4), draw(2, 3, 3, 3))),
        (lambda x: F.max_pool2d(x, 2), (draw(2, 3, 4, 4),)),
    ],
    ids=["attention", "masked attention", "softmax", "cross_entropy", "layer_norm", "conv2d", "max_pool2d"],
)
def test_a_batch_of_cotangents_is_one_after_another(function, args):
    args = [arg.detach().requires_grad_() for arg in args]
    result = function(*args)
    cotangents = draw(3, *result.shape)
    found = pullback.autograd.grad(result, args, cotangents, is_grads_batched=True, retain_graph=True)
    for number, cotangent in enumerate(cotangents):
        alone = pullback.autograd.grad(result, args, cotangent, retain_graph=True)
        for batch, one in zip(found, alone, strict=True):
            np.testing.assert_allclose(batch[number].numpy(), one.numpy(), rtol=1e-12, atol=1e-14)


def rows_written(x, b):
    y = x.clone()
    y[1] = b
    y[:, 0] += 1
    y[y > 1] = -3.0
    view = y[2]
    view.mul_(2)
    view[0] = b.sum()
    return y


def zeros_written(x, b):
    y = pullback.zeros(4, 3, dtype=pullback.float64)
    y.view(12)[5:8] = b
    y.t()[1] = x[:, 0] * 2
    y += 1
    return y


@pytest.mark.parametrize("function", [rows_written, zeros_written])
def test_writes_inside(function):
    check(function, draw(5, 4, 3), draw(5, 3, seed=1))


def test_writes_through_indices_that_differ():
    def function(x, i, b):
        y = x.clone()
        y[i] = b
        y[:, i] += b
        return y.index_put((i,), b * 2)

    check(function, draw(3, 4, 4), pullback.tensor([[0, 1], [3, 2], [2, 0]]), draw(3, 1))


@pytest.mark.parametrize("transform", [vmap, lambda f: lambda x: jvp(f, (x,), (x,)), lambda f: lambda x: vjp(f, x)])
@pytest.mark.parametrize(
    "write",
    [
        lambda x, t: t.copy_(x.sum() * t),
        lambda x, t: t.add_(x.sum()),
        lambda x, t: t.__setitem__(0, x.sum()),
        lambda x, t: t.__setitem__(slice(None), x.sum()),
        lambda x, t: t[1:].mul_(x.sum()),
        lambda x, t: t.__setitem__((x > 0).reshape(-1)[:1].expand(2), 5.0),
    ],
)
def test_a_captured_tensor_is_not_written_to(write, transform):
    outside = pullback.zeros(2)
    with pytest.raises(RuntimeError, match="mutate a captured Tensor"):
        transform(lambda x: write(x, outside) or x)(pullback.ones(3, 2))
    assert outside.tolist() == [0.0, 0.0]


@dataclasses.dataclass
class Pair:
    left: object
    right: object


def test_containers():
    def function(pair, both, table):
        return {"sum": pair.left + both[0], "rest": [table["a"] * pair.right, Pair(pair.left, both[1])]}

    x, y = draw(3, 2), draw(2, 3)
    found = vmap(function, (Pair(0, 1), (0, None), {"a": 0}), {"sum": 1, "rest": [0, Pair(0, None)]})(
        Pair(x, y), (x, y), {"a": x}
    )
    assert_alike(found["sum"], [(x + x).t().numpy()])
    assert_alike(found["rest"][0], [(x * y.t()).numpy()])
    assert_alike((found["rest"][1].left, found["rest"][1].right), [x.numpy(), y.numpy()])


def test_keyword_arguments_are_shared():
    x, b = draw(3, 2), draw(3, 2)
    assert vmap(lambda x, b: x + b)(x, b=b).shape == (3, 3, 2)


@pytest.mark.parametrize("size", [0, 1])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.sum(), lambda x: x @ x, pullback.linalg.inv, lambda x: x[0], lambda x: x.sort()[0],
        lambda x: pullback.linalg.eigh(x @ x.mT)[0], lambda x: x.reshape(-1), lambda x: x.as_strided((2,), (1,)),
        lambda x: F.conv1d(x, x[None]), lambda x: F.max_pool1d(x, 2), lambda x: x.median(), lambda x: x.argmax(),
    ],
)  # fmt: skip
def test_batches_of_none_and_of_one(function, size):
    x = draw(size, 3, 3)
    found = vmap(function)(x)
    expected = function(draw(3, 3))
    assert found.shape == (size, *expected.shape)
    assert found.dtype == expected.dtype
    if size:
        assert_alike(found[0], [function(x[0]).numpy()])


def test_no_examples_have_no_gradient():
    x = draw(0, 3).requires_grad_()
    vmap(lambda x: x.exp().sum())(x).sum().backward()
    assert x.grad.shape == (0, 3)


@pytest.mark.parametrize("chunk", [1, 2, 3, 10])
def test_chunks(chunk):
    x = draw(5, 3)
    for out_dims in (0, 1, -1):
        found = vmap(lambda x: x.exp(), out_dims=out_dims, chunk_size=chunk)(x)
        assert_alike(found, [x.exp().movedim(0, out_dims).numpy()])


# Branches


def halved(x):
    n = 0
    while x.abs() > 1:
        x = x / 2
        n += 1
    if n > 2:
        return x * n
    return x if x > 0 else pullback.sin(x)


def split(x):
    return pullback.stack([halved(value) for value in x.reshape(-1)]).reshape(x.shape)


STEEP = pullback.tensor([0.5, -0.3, 7.0, -11.0, 1.5, 0.2, 30.0, -2.5], dtype=pullback.float64)


@pytest.mark.parametrize("chunk", [None, 3])
def test_branches_are_split(chunk):
    found = vmap(halved, on_branch="split", chunk_size=chunk)(STEEP)
    assert_alike(found, [split(STEEP).numpy()])


def test_split_branches_are_differentiable():
    expected = pullback.stack([grad(halved)(x) for x in STEEP]).numpy()
    assert_alike(vmap(grad(halved), on_branch="split")(STEEP), [expected])
    assert_alike(grad(lambda x: vmap(halved, on_branch="split")(x).sum())(STEEP), [expected])
    tangent = jvp(vmap(halved, on_branch="split"), (STEEP,), (pullback.ones_like(STEEP),))[1]
    assert_alike(tangent, [expected])


def test_split_batches_of_batches():
    x = STEEP.reshape(2, 4)
    inner = vmap(halved, on_branch="split")
    assert_alike(vmap(inner, on_branch="split")(x), [split(x).numpy()])
    with pytest.raises(RuntimeError, match="data-dependent control flow"):
        vmap(inner)(x)


def test_each_side_runs_once_on_its_part():
    seen = []

    def function(x):
        if x > 0:
            seen.append(("above", vmap_size(x)))
            return x
        seen.append(("below", vmap_size(x)))
        return -x

    def vmap_size(x):
        return x._array.shape[0]

    vmap(function, on_branch="split")(pullback.tensor([1.0, -1.0, 2.0]))
    assert sorted(seen) == [("above", 2), ("below", 1)]


def test_split_random_numbers_stay_the_example_s():
    def function(x):
        number = pullback.rand(())
        return number if number > 0.5 else number - 1

    pullback.manual_seed(0)
    found = vmap(function, randomness="different", on_branch="split")(pullback.zeros(200))
    assert ((found > 0.5) | ((found > -1) & (found <= -0.5))).all()
    assert len(set(found.tolist())) == 200


def test_what_the_sides_of_a_branch_return_must_agree():
    x = pullback.tensor([1.0, -1.0])
    with pytest.raises(ValueError, match=r"sides of a branch return different shapes for output: \(\) and \(2,\)"):
        vmap(lambda x: x if x > 0 else pullback.stack([x, x]), on_branch="split")(x)
    with pytest.raises(ValueError, match="sides of a branch return different structures"):
        vmap(lambda x: x if x > 0 else (x, x), on_branch="split")(x)
    with pytest.raises(ValueError, match="out_dims is None for output"):
        vmap(lambda x: pullback.ones(1) if x > 0 else pullback.zeros(1), out_dims=None, on_branch="split")(x)


def test_shared_conditions_are_no_branches():
    flag = pullback.tensor(True)
    assert vmap(lambda x: x if flag else -x)(pullback.ones(2)).tolist() == [1.0, 1.0]
    assert vmap(lambda x, y: x if y > 0 else -x, (0, None))(pullback.ones(2), pullback.tensor(-1.0)).tolist() == [
        -1,
        -1,
    ]


# Random numbers

DRAWS = {
    "rand": lambda x: pullback.rand(4),
    "randn": lambda x: pullback.randn(4),
    "rand_like": lambda x: pullback.rand_like(pullback.ones(4)),
    "randint": lambda x: pullback.randint(0, 10**9, (4,)),
    "randperm": lambda x: pullback.randperm(50),
    "normal": lambda x: pullback.normal(0.0, pullback.ones(4)),
    "normal of numbers": lambda x: pullback.normal(0.0, 2.0, (4,)),
    "bernoulli": lambda x: pullback.bernoulli(pullback.full((99,), 0.5)),
    "poisson": lambda x: pullback.poisson(pullback.full((20,), 1e6)),
    "binomial": lambda x: pullback.binomial(pullback.full((20,), 1e6), pullback.full((20,), 0.5)),
    "multinomial": lambda x: pullback.multinomial(pullback.ones(1000), 9),
    "multinomial with replacement": lambda x: pullback.multinomial(pullback.ones(2, 1000), 9, replacement=True),
    "dropout": lambda x: F.dropout(pullback.ones(99)),
    "alpha_dropout": lambda x: F.alpha_dropout(pullback.ones(99), training=True),
    "dropout2d": lambda x: F.dropout2d(pullback.ones(2, 60, 2, 2)),
    "rrelu": lambda x: F.rrelu(-pullback.ones(9), training=True),
    "gumbel_softmax": lambda x: F.gumbel_softmax(pullback.ones(9)),
    "normal_": lambda x: pullback.zeros(4).normal_(),
    "uniform_": lambda x: pullback.zeros(4).uniform_(),
    "exponential_": lambda x: pullback.zeros(4).exponential_(),
    "cauchy_": lambda x: pullback.zeros(4).cauchy_(),
    "geometric_": lambda x: pullback.zeros(9).geometric_(0.001),
    "log_normal_": lambda x: pullback.zeros(4).log_normal_(),
    "bernoulli_": lambda x: pullback.zeros(99).bernoulli_(0.5),
    "random_": lambda x: pullback.zeros(4).random_(0, 10**6),
    "in grad": lambda x: grad(lambda y: (pullback.rand(4) * y).sum())(pullback.ones(4)),
    "in jvp": lambda x: jvp(lambda y: pullback.rand(4) * y, (pullback.ones(4),), (pullback.ones(4),))[1],
}
each_draw = pytest.mark.parametrize("draws", DRAWS.values(), ids=DRAWS)


@each_draw
def test_random_numbers(draws):
    x = pullback.zeros(3)
    same = vmap(draws, randomness="same")(x)
    assert same.shape == (3, *draws(x[0]).shape)
    assert (same == same[0]).all()
    different = vmap(draws, randomness="different")(x)
    assert different.dtype == same.dtype == draws(x[0]).dtype
    assert not any((different[i] == different[j]).all() for i, j in ((0, 1), (0, 2), (1, 2)))
    with pytest.raises(RuntimeError, match=r"called random operation while in randomness error mode.*\n.*test_vmap.py"):
        vmap(draws)(x)


def test_random_numbers_of_parameters_that_differ():
    chances = pullback.tensor([[0.0], [0.5], [1.0]]).expand(3, 50)
    for randomness in ("same", "different"):
        found = vmap(pullback.bernoulli, randomness=randomness)(chances)
        assert found[0].sum() == 0
        assert found[2].sum() == 50
    alike = vmap(pullback.bernoulli, randomness="same")(pullback.full((3, 50), 0.5))
    assert (alike == alike[0]).all()
    places = vmap(lambda w: pullback.multinomial(w, 4, replacement=True), randomness="different")(pullback.eye(3))
    assert (places == pullback.arange(3)[:, None]).all()


def test_random_numbers_of_batches_of_batches():
    def nested(inner, outer):
        return vmap(vmap(lambda x: pullback.rand(()), randomness=inner), randomness=outer)(pullback.zeros(2, 3))

    assert len(set(nested("different", "different").reshape(-1).tolist())) == 6
    rows = nested("different", "same")
    assert (rows[0] == rows[1]).all()
    assert len(set(rows[0].tolist())) == 3
    columns = nested("same", "different")
    assert (columns[:, 0] == columns[:, 2]).all()
    assert columns[0, 0] != columns[1, 0]


def test_a_generator_goes_on():
    g = pullback.Generator().manual_seed(3)
    found = vmap(lambda x: pullback.rand(2, generator=g), randomness="different")(pullback.zeros(3))
    assert (found == pullback.rand(3, 2, generator=g.manual_seed(3))).all()


# What is refused

X = pullback.ones(3, 2)


@pytest.mark.parametrize(
    ("error", "wording", "call"),
    [
        (ValueError, r"same size in the mapped dimension, got sizes \[3, 4\] .*args\[0\] has 3, args\[1\]\['b'\] has 4",
         lambda: vmap(lambda x, y: x)(X, {"b": pullback.ones(4)})),
        (ValueError, "expected `in_dims` to be int or a .potentially nested. tuple .* got: <class 'NoneType'>",
         lambda: vmap(lambda x: x, None)(X)),
        (ValueError, "expected `in_dims` to be int or a .* got: <class 'list'>", lambda: vmap(lambda x: x, [0])(X)),
        (ValueError, "Expected at least one Tensor to vmap over", lambda: vmap(lambda x: x, (None,))(X)),
        (ValueError, r"in_dims is not compatible with the structure of `inputs`", lambda: vmap(lambda x: x, (0, 0))(X)),
        (ValueError, r"Got in_dim=x for args\[0\]: an in_dim must be either", lambda: vmap(lambda x: x, ("x",))(X)),
        (ValueError, r"Got in_dim=2 for some input, but that input is a Tensor of dimensionality 2 so expected in_dim to "
         r"satisfy -2 <= in_dim < 2: it is args\[0\]", lambda: vmap(lambda x: x, 2)(X)),
        (ValueError, "dimensionality 0 so expected", lambda: vmap(lambda x: x)(pullback.tensor(1.0))),
        (ValueError, r"input is of type <class 'float'>\. We cannot vmap over non-Tensor arguments.*args\[1\]",
         lambda: vmap(lambda x, y: x)(X, 2.0)),
        (ValueError, "got no inputs", vmap(lambda: X)),
        (ValueError, "must only return Tensors, got type <class 'NoneType'>", lambda: vmap(lambda x: None)(X)),
        (ValueError, r"must only return Tensors, got type <class 'str'>.*output\['a'\]",
         lambda: vmap(lambda x: {"a": "text"})(X)),
        (ValueError, "can not return a BatchedTensor when out_dim is None", lambda: vmap(lambda x: x, out_dims=None)(X)),
        (ValueError, "out_dims is not compatible with the structure of `outputs`",
         lambda: vmap(lambda x: x, out_dims=(0, 0))(X)),
        (ValueError, "`out_dims` must be an int, None or a python collection", lambda: vmap(lambda x: x, out_dims="x")(X)),
        (IndexError, r"expected to be in range of \[-2, 1\], but got 5", lambda: vmap(lambda x: x, out_dims=5)(X)),
        (RuntimeError, "Only allowed values for randomness", lambda: vmap(lambda x: x, randomness="x")),
        (RuntimeError, "Only allowed values for on_branch", lambda: vmap(lambda x: x, on_branch="x")),
        (ValueError, "chunk_size should be None or greater than 0", lambda: vmap(lambda x: x, chunk_size=0)),
        (RuntimeError, r"data-dependent control flow(.|\n)*test_vmap.py",
         lambda: vmap(lambda x: x if x.sum() > 0 else -x)(X)),
        (RuntimeError, r"calling \.item\(\) on a Tensor(.|\n)*test_vmap.py", lambda: vmap(lambda x: x.sum().item())(X)),
        (RuntimeError, r"calling \.item\(\) on a Tensor", lambda: vmap(lambda x: float(x.sum()))(X)),
        (RuntimeError, r"calling \.item\(\) on a Tensor", lambda: vmap(lambda x: [1, 2][x[0].long()])(X)),
        (RuntimeError, "Cannot access data pointer", lambda: vmap(np.asarray)(X)),
        (RuntimeError, "dynamic shape. Attempted to vmap over aten::nonzero", lambda: vmap(lambda x: x.nonzero())(X)),
        (RuntimeError, "dynamic shape. Attempted to vmap over aten::bincount",
         lambda: vmap(lambda x: x.long().bincount(minlength=5))(X)),
        (RuntimeError, "dynamic shape. Attempted to vmap over aten::_unique2", lambda: vmap(lambda x: x.unique())(X)),
        (RuntimeError, "indexing with a boolean mask", lambda: vmap(lambda x: x[x > 0])(X)),
        (RuntimeError, "indexing with a boolean mask", lambda: vmap(lambda x: x.masked_select(x > 0))(X)),
        (RuntimeError, r"requires_grad_\(\) .* inside of a function being transformed",
         lambda: vmap(lambda x: pullback.rand(2, requires_grad=True), randomness="same")(X)),
        (IndexError, "index 2 is out of bounds for dimension 0 with size 2", lambda: vmap(lambda x: x[2])(X)),
        (IndexError, "Target 7 is out of bounds", lambda: vmap(F.cross_entropy)(X, pullback.tensor([0, 7, 1]))),
    ],
)  # fmt: skip
def test_refusals(error, wording, call):
    with pytest.raises(error, match=wording):
        call()


def test_a_tensor_that_leaks_is_refused():
    kept = []
    vmap(lambda x: kept.append(x) or x)(X)
    with pytest.raises(RuntimeError, match="leaked from vmap"):
        kept[0] + 1


def test_no_examples_take_no_branch():
    assert vmap(lambda x: x if x > 0 else -x, on_branch="split")(pullback.zeros(0)).shape == (0,)


def test_copies_inside():
    x = draw(3, 2)
    for copied in (copy.copy, copy.deepcopy, lambda x: pullback.tensor(x, dtype=pullback.float32).double()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of pullback.tensor(tensor)
            found = vmap(copied)(x)
        assert_alike(
            found, [x.numpy() if copied in (copy.copy, copy.deepcopy) else x.numpy().astype(np.float32).astype(float)]
        )
    with pytest.raises(RuntimeError, match="aten::tensor"):
        vmap(lambda x: pullback.tensor([x[0], x[1]]))(x)
    with pytest.raises(RuntimeError, match="cannot be pickled"):
        vmap(lambda x: pickle.dumps(x) and x)(x)


def of_each(high, *shape, last=None):
    """Whole numbers for each example, and the last of each row another one."""
    drawn = np.random.default_rng(1).integers(0, high, (BATCH, *shape))
    if last is not None:
        drawn[..., -1] = last
    return pullback.tensor(drawn)


LAYERS = {
    "smoothed": (
        lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1),
        (draw(BATCH, 4, 5), of_each(5, 4, last=-100)),
    ),
    "labels": (F.multilabel_margin_loss, (draw(BATCH, 4, 5), pullback.tensor([[[1, -1, 3, 0, 2]] * 4] * BATCH))),
    **{
        f"bags, {mode}": (
            lambda i, w, o, mode=mode: F.embedding_bag(i, w, o, mode=mode, padding_idx=1),
            (of_each(6, 8), draw(BATCH, 6, 2), pullback.tensor([[0, 2, 5], [0, 0, 3], [0, 8, 8]])),
        )
        for mode in ("sum", "mean", "max")
    },
    "sequences": (
        lambda x, *rest: F.ctc_loss(x.log_softmax(2), *rest),
        (draw(BATCH, 6, 2, 5), 1 + of_each(4, 2, 3), 3 + of_each(4, 2), of_each(3, 2)),
    ),
}


@pytest.mark.parametrize("name", LAYERS)
def test_labels_bags_and_lengths_may_differ_between_examples(name):
    layer, arguments = LAYERS[name]
    found = vmap(layer)(*arguments)
    expected = pullback.stack([layer(*(argument[i] for argument in arguments)) for i in range(BATCH)])
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-10)


def test_sizes_are_those_of_one_example():
    seen = []
    x = pullback.zeros(4, 2, 3)
    pullback.func.vmap(lambda row: (seen.append((row.size(), row.size(0), int(row.size), row.shape)), row)[1])(x)
    assert seen == [((2, 3), 2, 6, (2, 3))]


def test_counts_in_bins_are_those_of_each_example():
    x = pullback.tensor([[1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 3.5]])
    given = pullback.tensor([[0.0, 1.0, 1.0, 2.0], [3.0, 0.0, 0.0, 1.0]])
    counted = lambda row: pullback.histc(row, 4, 0.0, 4.0)
    assert vmap(counted)(x).tolist() == given.tolist()
    assert vmap(lambda row: row.histc(3))(x).tolist() == [x[0].histc(3).tolist(), x[1].histc(3).tolist()]
    assert vmap(vmap(counted))(pullback.stack([x, x])).tolist() == [given.tolist()] * 2
    assert vmap(grad(lambda row: (counted(row) * row).sum()))(x).tolist() == given.tolist()
    assert grad(lambda x: (vmap(counted)(x) * x).sum())(x).tolist() == given.tolist()
    assert vmap(lambda row: vmap(counted)(x))(x).tolist() == [given.tolist()] * 2
    assert vmap(counted)(pullback.zeros(0, 4)).shape == (0, 4)
