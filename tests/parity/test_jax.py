"""Transforms of transforms, against JAX: shapes, and values to 1e-12, for programs that both libraries can be given."""

import math

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="jax is not installed: transforms are compared with it where it is")

import jax.numpy as jnp  # noqa: E402

import pullback  # noqa: E402

WEIGHTS = np.random.default_rng(0).normal(size=(3, 3))
POINT = np.array([0.7, -0.4, 1.3])


@pytest.fixture(autouse=True)
def double_precision():
    """JAX computes in single precision unless it is told otherwise, and only by a setting of the process."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


class Library:
    """What the programs use: the functions of a module, and those that are elsewhere or called otherwise."""

    def __init__(self, module, **others):
        self.module = module
        self.__dict__.update(others)

    def __getattr__(self, name):
        return getattr(self.module, name)


def written(x, index, value):
    y = x.clone()
    y[index] = value
    return y


OURS = Library(
    pullback,
    array=pullback.from_numpy,
    cond=lambda predicate, one, other, *operands: pullback.cond(predicate, one, other, operands),
    put=written,
    maximum_of=lambda x: x.max(0).values,
    sorted=lambda x: x.sort(0).values,
)
THEIRS = Library(
    jnp,
    func=jax,
    custom_vjp=jax.custom_vjp,
    custom_jvp=jax.custom_jvp,
    scan=jax.lax.scan,
    cond=jax.lax.cond,
    fori_loop=jax.lax.fori_loop,
    while_loop=jax.lax.while_loop,
    logsumexp=jax.nn.logsumexp,
    softmax=jax.nn.softmax,
    array=jnp.asarray,
    put=lambda x, index, value: x.at[index].set(value),
    maximum_of=lambda x: x.max(0),
    sorted=jnp.sort,
)


# 1. Programs: a function of a vector of three numbers in one library


def small(lib):
    return lambda x: x * x[::-1] + x**3 / 3


def elementwise(lib):
    return lambda x: lib.tanh(x) * lib.exp(-x / 2) + x**3 / (1 + x * x) + lib.arctan2(x, 2 - x)


def products(lib):
    weights = lib.array(WEIGHTS)

    def f(x):
        gram = x[:, None] * x + weights
        return (gram @ gram.mT) @ x + lib.einsum("ij,j,ki->k", weights, x, gram)

    return f


def solving(lib):
    weights = lib.array(WEIGHTS @ WEIGHTS.T + 3 * np.eye(3))
    return lambda x: lib.linalg.solve(weights + x[:, None] * x, x) * lib.linalg.det(weights * x)


def indexing(lib):
    places = lib.array(np.array([2, 0, 2, 1]))

    def f(x):
        y = lib.put(x * x, slice(1, None), x[:-1] * x[2])
        return lib.concatenate([y[places] * lib.sin(x[1]), x[::-1] * y])

    return f


def reductions(lib):
    def f(x):
        table = x[:, None] * lib.cumsum(x, 0) + 2
        parts = [lib.logsumexp(table, 0), lib.prod(table, 1), table.mean(1), lib.maximum_of(table)]
        return lib.stack(parts) * lib.sorted(x)[0]

    return f


def choices(lib):
    return lambda x: lib.where(x > 0, lib.sqrt(lib.abs(x)), x * x) * lib.softmax(x, 0) * lib.maximum(x, -x)[1]


def branch(lib):
    def f(x):
        y = lib.cond(x.sum() > 0, lambda x: lib.sin(x) * x[0], lambda x: x * x * x, x)
        return lib.cond(y[0] > 10, lambda y, x: y, lambda y, x: y * lib.cos(x), y, x)

    return f


def scanning(lib):
    weights = lib.array(WEIGHTS)

    def f(x):
        def step(state, drive):
            state = lib.tanh(weights @ state + drive * x)
            return state, state[0] * drive

        last, seen = lib.scan(step, x, lib.array(np.array([0.5, -1.0])))
        return lib.concatenate([last, seen])

    return f


def counting(lib):
    return lambda x: lib.fori_loop(0, 3, lambda i, y: y * lib.cos(y * x) + i * x, x)


def with_pushforward(lib):
    """The rule is not the derivative of the code, so that it shows which of the two was taken."""

    @lib.custom_jvp
    def wave(x, y):
        return lib.sin(x) * y

    @wave.defjvp
    def rule(primals, tangents):
        (x, y), (t, s) = primals, tangents
        return wave(x, y), 2 * lib.cos(x) * y * t + x * lib.sin(x) * s

    return lambda x: wave(x * x, lib.exp(x)) * x[0]


def with_pullback(lib):
    @lib.custom_vjp
    def wave(x, y):
        return lib.sin(x) * y

    def forward(x, y):
        return wave(x, y), (lib.cos(x), x, y)

    def backward(kept, g):
        slope, x, y = kept
        return 2 * slope * y * g, wave(x, g) * x

    wave.defvjp(forward, backward)
    return lambda x: wave(x * x, lib.exp(x)) * x[0]


PROGRAMS = {
    each.__name__: each
    for each in (
        elementwise, products, solving, indexing, reductions, choices, branch, scanning, counting, with_pushforward
    )
}  # fmt: skip
TRANSFORMS = ("grad", "vjp", "jvp", "linearize", "jacrev", "jacfwd", "hessian", "vmap")
BACKWARD = ("grad", "vjp", "jacrev", "vmap")  # JAX has no forward mode of a custom_vjp


# 2. Transforms of them


def weighed(lib, y):
    """A scalar that tells the places of an array apart."""
    weights = lib.array(1 / np.arange(1.0, 1 + math.prod(y.shape)))
    return (lib.sin(y) * weights.reshape(y.shape)).sum()


def transformed(lib, name, f):
    """A function of a vector, from one, by one transform; cotangents and tangents depend on the vector, too."""
    func = lib.func
    if name in {"grad", "hessian"}:
        return getattr(func, name)(lambda x: weighed(lib, f(x)))
    if name == "vjp":

        def pulled(x):
            y, pull = func.vjp(f, x)
            return pull(y * 0.5 + 1)[0]

        return pulled
    if name == "jvp":
        return lambda x: func.jvp(f, (x,), (x * 0.5 + 1,))[1]
    if name == "linearize":
        return lambda x: func.linearize(f, x)[1](x * 0.5 + 1)
    if name == "vmap":
        scales = np.array([[0.9], [1.1]])
        return lambda x: func.vmap(f, 1, -1)((lib.array(scales) * x).mT)
    return getattr(func, name)(f)


def answers(program, chains):
    """What both libraries make of a program by several chains of transforms, the innermost first."""

    def compute(lib, x):
        found = []
        for names in chains:
            f = program(lib)
            for name in names:
                f = transformed(lib, name, f)
            found.append(f(x))
        return found

    return compute(OURS, OURS.array(POINT)), jax.jit(lambda x: compute(THEIRS, x))(POINT)


def close(mine, theirs, what):
    theirs = np.asarray(theirs)
    assert tuple(mine.shape) == theirs.shape, what
    assert np.isfinite(theirs).all(), what
    scale = max(1.0, np.abs(theirs).max(initial=0))
    np.testing.assert_allclose(mine.numpy(), theirs, rtol=0, atol=1e-12 * scale, err_msg=str(what))


def compare(program, chains):
    for names, mine, theirs in zip(chains, *answers(program, chains), strict=True):
        close(mine, theirs, names)


# 3. Nestings
#
# JAX compiles every nesting anew, which takes its time: the smallest program goes through all pairs, the others through
# a few.

PAIRS = [("grad", "jacfwd"), ("linearize", "vjp"), ("vmap", "grad")]


@pytest.mark.parametrize("outer", TRANSFORMS)
def test_every_two_transforms(outer):
    compare(small, [(inner, outer) for inner in TRANSFORMS])


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_through_two_transforms(name):
    compare(PROGRAMS[name], PAIRS)


def test_three_transforms():
    count = len(TRANSFORMS)
    compare(
        small, [tuple(TRANSFORMS[(i + k) % count] for k in (0, 3, 5)) for i in range(0, count, 2)] + [("grad",) * 3]
    )


def test_pullbacks_of_ones_own_under_transforms():
    compare(with_pullback, [(one, other) for one in BACKWARD for other in BACKWARD])


# 4. Perturbations that must stay apart


def nested_perturbations(lib, x):
    """Derivatives inside derivatives, of what both depend on: Siskind and Pearlmutter, 2005, and others like it."""
    f, one = lib.func, lib.array(np.array(1.0))
    return [
        f.grad(lambda x: x * f.grad(lambda y: x + y)(one))(x),
        f.grad(lambda x: x * f.jvp(lambda y: x * y * y, (one,), (x,))[1])(x),
        f.jvp(lambda x: x * f.jvp(lambda y: x + y, (one,), (one,))[1], (x,), (one,))[1],
        f.jvp(lambda x: f.grad(lambda y: lib.sin(x * y) * y)(x), (x,), (one,))[1],
        f.grad(lambda x: f.grad(lambda y: f.grad(lambda z: x * y * z * z)(y) * x)(x))(x),
        f.grad(lambda x: f.vmap(lambda y: x * y * x)(lib.stack([one, x])).sum())(x),
        f.grad(lambda x: f.linearize(lambda y: lib.sin(x * y), x)[1](x))(x),
        f.grad(lambda x: f.vjp(lambda y: lib.exp(x * y) * y, x)[1](x * x)[0])(x),
        f.jacfwd(lambda x: f.jacrev(lambda y: lib.stack([x * y, y * y, x * x]))(x))(x),
        f.hessian(lambda x: x * f.hessian(lambda y: x * x * y**3)(x))(x),
        f.vmap(f.grad(lambda y: f.vmap(f.grad(lambda z: lib.sin(y * z) * x))(lib.stack([x, y])).sum()))(
            lib.stack([x, one])
        ),
        f.grad(lambda x: lib.fori_loop(0, 3, lambda i, y: y + f.grad(lambda z: z * z * y)(x), x))(x),
        f.grad(lambda x: lib.cond(x > 0, f.grad(lambda z: z**3 * x), lambda y: y, x))(x),
    ]


def test_nested_perturbations_stay_apart():
    point = np.array(2.0)
    theirs = jax.jit(lambda x: nested_perturbations(THEIRS, x))(point)
    for number, pair in enumerate(zip(nested_perturbations(OURS, OURS.array(point)), theirs, strict=True)):
        close(*pair, number)


# 5. What is told apart by the way a derivative is asked for


def test_a_derivative_of_a_derivative_is_by_the_rule():
    """The value of a function with a pushforward depends on its arguments by that rule, however it is asked for."""

    def program(lib):
        @lib.custom_jvp
        def wave(x):
            return lib.sin(x)

        @wave.defjvp
        def rule(primals, tangents):
            return wave(primals[0]), 2 * lib.cos(primals[0]) * tangents[0]

        return lambda x: lib.exp(wave(x) * wave(x * x))

    compare(program, [(one, other) for one in ("grad", "jvp") for other in ("grad", "jacfwd", "vmap")])


def test_structures_of_results():
    """Trees of arguments and results nest, and have shapes, as in JAX."""

    def compute(lib, x):
        f = lib.func

        def g(tree, scale):
            return {"u": tree["a"] * scale, "v": (tree["b"][0] * tree["a"].sum(), scale * scale)}

        tree, scale = {"a": x, "b": [x[0]]}, x[1]
        y, pull = f.vjp(g, tree, scale)
        return [
            f.grad(lambda tree: g(tree, scale)["v"][0])(tree),
            f.jacrev(g)(tree, scale),
            f.jacfwd(g, (0, 1))(tree, scale),
            f.hessian(lambda tree: g(tree, tree["b"][0])["v"][0])(tree),
            f.jvp(g, (tree, scale), (tree, scale)),
            pull(y),
            f.linearize(g, tree, scale)[1](tree, scale),
            f.vmap(g, ({"a": None, "b": [0]}, 0), {"u": 1, "v": (0, 0)})({"a": x, "b": [x]}, x),
        ]

    theirs = jax.jit(lambda x: compute(THEIRS, x))(POINT)
    ours = compute(OURS, OURS.array(POINT))
    places, nesting = jax.tree_util.tree_flatten_with_path(theirs)
    leaves, nested = jax.tree_util.tree_flatten(ours)
    assert nested == nesting
    for (place, one), other in zip(places, leaves, strict=True):
        close(other, one, place)
