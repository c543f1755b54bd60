"""torch.func, torch.autograd.functional and forward_ad, side by side: values, structures, errors."""

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: parity is checked where it is")

import pullback  # noqa: E402

pytestmark = [  # torch's own, of what it uses inside
    pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node:UserWarning"),
]

SIZE = 3
TRANSFORMS = ("grad", "jvp", "vmap", "jacrev", "jacfwd", "hessian")


def function(lib, weights):
    """A vector function of a vector, whose derivatives of every order are dense."""

    def f(x):
        inner = lib.tanh(weights @ x) * x
        return inner.exp() + (x * x).sum() * x.sin()

    return f


def transformed(lib, name, f):
    """A function of a vector to tensors, from one, by one transform."""
    func = lib.func

    def scalar(x):
        y = f(x)
        return y.sum() if y.ndim else y * 1

    def direction(x):
        return lib.ones_like(x) * 0.5 + x.detach() * 0

    if name == "grad":
        return func.grad(scalar)
    if name == "jvp":
        return lambda x: func.jvp(f, (x,), (direction(x),))[1]
    if name == "vmap":
        return lambda x: func.vmap(lambda scale: f(x * scale))(lib.linspace(0.5, 1.5, 2, dtype=x.dtype))
    if name == "hessian":
        return func.hessian(scalar)
    return getattr(func, name)(f)


def close(mine, theirs, tolerance=1e-12):
    theirs = np.asarray(theirs.detach())
    scale = max(1.0, np.abs(theirs).max(initial=0))
    assert tuple(mine.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(np.asarray(mine.detach()), theirs, rtol=0, atol=tolerance * scale)


def pair(f, *names):
    """What both libraries make of a function after several transforms, the innermost first."""
    rng = np.random.default_rng(0)
    weights, point = rng.normal(size=(SIZE, SIZE)), rng.normal(size=SIZE)
    answers = []
    for lib in (pullback, torch):
        g = f(lib, lib.tensor(weights))
        for name in names:
            g = transformed(lib, name, g)
        answers.append(g(lib.tensor(point)))
    return answers


@pytest.mark.parametrize(("inner", "outer"), list(itertools.product(TRANSFORMS, TRANSFORMS)))
def test_two_transforms(inner, outer):
    close(*pair(function, inner, outer))


@pytest.mark.parametrize("names", [("grad",) * 3, ("jacrev", "grad", "jvp"), ("grad", "vmap", "jacfwd"), ("jvp",) * 3])
def test_three_transforms(names):
    close(*pair(function, *names))


@pytest.mark.parametrize("names", [("jacrev", "jacfwd"), ("grad", "vmap"), ("jvp", "hessian")])
def test_transforms_on_tracked_tensors(names):
    """What comes out is tracked where the arguments are."""
    gradients = []
    for lib in (pullback, torch):
        g = function(lib, lib.arange(9, dtype=lib.float64).reshape(3, 3) / 10)
        for name in names:
            g = transformed(lib, name, g)
        x = lib.tensor([0.1, -0.2, 0.3], dtype=lib.float64, requires_grad=True)
        g(x).sum().backward()
        gradients.append(x.grad)
    close(*gradients)


def nested_perturbation(lib):
    one = lib.tensor(1.0, dtype=lib.float64)
    two = lib.tensor(2.0, dtype=lib.float64)
    f = lib.func
    return [
        f.grad(lambda x: x * f.grad(lambda y: x + y)(one))(two),
        f.grad(lambda x: x * f.jvp(lambda y: x * y * y, (one,), (x,))[1])(two),
        f.jvp(lambda x: x * f.jvp(lambda y: x + y, (one,), (one,))[1], (two,), (one,))[1],
        f.jvp(lambda x: f.grad(lambda y: (x * y).sin() * y)(x), (two,), (one,))[1],
        f.grad(lambda x: f.grad(lambda y: f.grad(lambda z: x * y * z * z)(y) * x)(x))(two),
        f.grad(lambda x: f.vmap(lambda y: x * y * x)(lib.stack([one, two])).sum())(two),
    ]


def test_nested_perturbations_stay_apart():
    for mine, theirs in zip(nested_perturbation(pullback), nested_perturbation(torch), strict=True):
        close(mine, theirs)


def structured(lib):
    """Results for nested arguments and outputs."""
    a = lib.tensor([1.0, 2.0], dtype=lib.float64)
    b = lib.tensor(3.0, dtype=lib.float64)
    f = lib.func

    def g(tree, scale):
        return {"u": tree["a"] * scale, "v": (tree["b"][0] * tree["a"].sum(), scale * scale)}

    def loss(tree, scale):
        out = g(tree, scale)
        return (out["u"] ** 2).sum() + out["v"][0] * out["v"][1]

    tree = {"a": a, "b": [b]}
    ones = lib.ones_like
    y, pull = f.vjp(g, tree, b)
    return [
        f.grad(loss)(tree, b),
        f.grad(loss, argnums=(0, 1))(tree, b),
        f.grad(loss, argnums=-1)(tree, b),
        f.grad_and_value(loss)(tree, b),
        f.grad(lambda x: ((x * x).sum(), {"twice": x * 2}), has_aux=True)(a),
        f.grad_and_value(lambda x: ((x * x).sum(), (x * 2,)), has_aux=True)(a),
        (y, pull({"u": ones(a), "v": (ones(b), ones(b))})),
        f.vjp(lambda x: (x * x, x + 1), a, has_aux=True)[::2],
        f.jvp(g, (tree, b), ({"a": ones(a), "b": [ones(b)]}, ones(b))),
        f.jvp(lambda x: (x * x, x + 1), (a,), (ones(a),), has_aux=True),
        f.jacrev(g)(tree, b),
        f.jacrev(g, argnums=(0, 1))(tree, b),
        f.jacrev(lambda x: (x * x, x + 1), has_aux=True)(a),
        f.jacrev(lambda x: x * x.sum(), chunk_size=1)(a),
        f.jacfwd(lambda x: (x * x, x + 1), has_aux=True)(a),
        f.jacfwd(lambda x, y: x * y, argnums=(0, 1))(a, b),
        f.hessian(lambda x, y: (x * x * y).sum(), argnums=(0, 1))(a, b),
        f.hessian(lambda x: x**3)(a),
        f.grad(lambda x, y: x.sum())(a, b),
        f.grad(lambda x: lib.ones(2).sum() * 1.0)(a),
        f.linearize(lambda x: x.sin() * x, a)[1](ones(a)),
        f.vmap(lambda x, t: (x * t["b"][0], x), in_dims=(0, None), out_dims=(0, 0))(a, tree),
        f.vmap(f.grad(lambda x, y: x * y), in_dims=(0, None))(a, b),
    ]


def leaves(tree):
    """The tensors of a nested structure with the way to each."""
    if isinstance(tree, dict):
        return [(f"{key}.{path}", leaf) for key, value in tree.items() for path, leaf in leaves(value)]
    if isinstance(tree, (tuple, list)):
        return [(f"{i}.{path}", leaf) for i, value in enumerate(tree) for path, leaf in leaves(value)]
    return [("", tree)]


def test_nested_arguments_and_outputs():
    for case, (mine, theirs) in enumerate(zip(structured(pullback), structured(torch), strict=True)):
        assert [path for path, _ in leaves(mine)] == [path for path, _ in leaves(theirs)], case
        for (_, a), (_, b) in zip(leaves(mine), leaves(theirs), strict=True):
            close(a, b)


def vector(lib):
    return lib.tensor([1.0, 2.0])


def write_captured(lib, captured):
    def f(x):
        captured.copy_(x)
        return captured.sum()

    return lib.func.grad(f)(vector(lib))


REFUSED = {
    "grad of a vector": lambda lib: lib.func.grad(lambda x: x)(vector(lib)),
    "grad of shape (1,)": lambda lib: lib.func.grad(lambda x: x[:1])(vector(lib)),
    "grad of a float": lambda lib: lib.func.grad(lambda x: 1.0)(vector(lib)),
    "grad by a text": lambda lib: lib.func.grad(lambda x: x)("x"),
    "grad by integers": lambda lib: lib.func.grad(lambda x: x.sum())(lib.tensor([1, 2])),
    "argnum too large": lambda lib: lib.func.grad(lambda x: x.sum(), argnums=3)(vector(lib)),
    "no argnum": lambda lib: lib.func.grad(lambda x: x.sum(), argnums=())(vector(lib)),
    "an argnum twice": lambda lib: lib.func.grad(lambda x: x.sum(), argnums=(0, 0))(vector(lib)),
    "argnum no int": lambda lib: lib.func.grad(lambda x: x.sum(), argnums=0.0)(vector(lib)),
    "no aux": lambda lib: lib.func.grad(lambda x: x.sum(), has_aux=True)(vector(lib)),
    "aux no tensor": lambda lib: lib.func.grad(lambda x: (x.sum(), "a"), has_aux=True)(vector(lib)),
    "cotangents nested otherwise": lambda lib: lib.func.vjp(lambda x: x, vector(lib))[1]((vector(lib), vector(lib))),
    "jvp without tuples": lambda lib: lib.func.jvp(lambda x: x, vector(lib), vector(lib)),
    "jvp of other structure": lambda lib: lib.func.jvp(lambda x: x, (vector(lib),), (vector(lib), vector(lib))),
    "jvp of nothing": lambda lib: lib.func.jvp(lambda: 1, (), ()),
    "jvp of another shape": lambda lib: lib.func.jvp(lambda x: x, (vector(lib),), (lib.ones(1),)),
    "strict jvp": lambda lib: lib.func.jvp(lambda x: lib.ones(2), (vector(lib),), (vector(lib),), strict=True),
    "jacrev of a number": lambda lib: lib.func.jacrev(lambda x: 1)(vector(lib)),
    "jacrev in chunks of 0": lambda lib: lib.func.jacrev(lambda x: x, chunk_size=0),
    "jacrev of nothing": lambda lib: lib.func.jacrev(lambda x: ())(vector(lib)),
    "jacrev to integers": lambda lib: lib.func.jacrev(lambda x: x.long())(vector(lib)),
    "jacrev to complex numbers": lambda lib: lib.func.jacrev(lambda x: x * 1j)(vector(lib)),
    "jacfwd to complex numbers": lambda lib: lib.func.jacfwd(lambda x: x * 1j)(vector(lib)),
    "jacrev by complex numbers": lambda lib: lib.func.jacrev(lambda x: x.abs())(vector(lib) * 1j),
    "jacfwd by complex numbers": lambda lib: lib.func.jacfwd(lambda x: x.abs())(vector(lib) * 1j),
    "hessian by complex numbers": lambda lib: lib.func.hessian(lambda x: x.abs().sum())(vector(lib) * 1j),
    "vjp to integers": lambda lib: lib.func.vjp(lambda x: x.long(), vector(lib)),
    "jvp of integers": lambda lib: lib.func.jvp(lambda x: x * 2, (lib.tensor([1, 2]),), (vector(lib),)),
    "jvp with integers": lambda lib: lib.func.jvp(lambda x: x * 2, (vector(lib),), (lib.tensor([1, 2]),)),
    "functional inside vmap": lambda lib: lib.func.vmap(lambda x: lib.autograd.functional.jacobian(lambda y: y**3, x))(
        lib.ones(2, 3)
    ),
    "functional inside jvp": lambda lib: lib.func.jvp(
        lambda x: lib.autograd.functional.jacobian(lambda y: y**3, x), (vector(lib),), (vector(lib),)
    ),
    "backward inside": lambda lib: lib.func.grad(lambda x: (x.sum().backward(), x.sum())[1])(vector(lib)),
    "numpy inside": lambda lib: lib.func.grad(lambda x: lib.tensor(x.numpy()).sum())(vector(lib)),
    "argument written": lambda lib: lib.func.grad(lambda x: x.mul_(2).sum())(vector(lib)),
    "captured written": lambda lib: write_captured(lib, lib.ones(2)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    with pytest.raises(Exception) as theirs:  # which one is torch's to say
        REFUSED[name](torch)
    with pytest.raises(type(theirs.value)) as mine:
        REFUSED[name](pullback)
    opening = str(theirs.value)[:20].replace("torch", "pullback")
    if name not in {"grad of a float", "backward inside"}:
        assert opening.split("(")[0][:12] in str(mine.value).replace("torch", "pullback")


def copied(lib, constant, y):
    """A product in which a copy of a constant holds an argument."""
    copy = constant.clone()
    copy[0] = y
    return (copy * copy * lib.arange(3.0)).sum() + copy[0] ** 3


def added(x):
    """An argument written to, and a view of it."""
    x.add_(1)
    x[0].mul_(2)
    return x * x


def normalized(lib):
    """The statistics of an ensemble of normalizations after a step, and those of one without them."""
    layer, x = lib.nn.BatchNorm1d(2), lib.arange(8.0).reshape(4, 2)
    parameters, buffers = lib.func.stack_module_state([lib.nn.BatchNorm1d(2) for _ in range(3)])
    lib.func.vmap(lambda p, b: lib.func.functional_call(layer, (p, b), (x,)))(parameters, buffers)
    without = lib.func.replace_all_batch_norm_modules_(lib.nn.Sequential(lib.nn.BatchNorm1d(2)))
    each = lib.func.vmap(without)(lib.stack([x, x + 1]))
    return buffers["running_mean"], buffers["running_var"], buffers["num_batches_tracked"], each.detach()


def written_arguments(lib, transform):
    x = lib.arange(6.0).reshape(2, 3)
    return transform(x), x


WRITES = {
    "copy in grad": lambda lib: lib.func.grad(lambda y: copied(lib, lib.ones(3), y))(lib.tensor(2.0)),
    "copy in jvp": lambda lib: lib.func.jvp(
        lambda y: copied(lib, lib.ones(3), y), (lib.tensor(2.0),), (lib.tensor(1.0),)
    ),
    "copy of an example in grad": lambda lib: lib.func.vmap(lambda x, y: lib.func.grad(lambda y: copied(lib, x, y))(y))(
        lib.arange(6.0).reshape(2, 3), lib.tensor([2.0, 3.0])
    ),
    "copy of an example in jvp": lambda lib: lib.func.vmap(
        lambda x, y: lib.func.jvp(lambda y: copied(lib, x, y), (y,), (y * 2,))
    )(lib.arange(6.0).reshape(2, 3), lib.tensor([2.0, 3.0])),
    "argument of vmap": lambda lib: written_arguments(lib, lib.func.vmap(added)),
    "argument of vmap over columns": lambda lib: written_arguments(lib, lib.func.vmap(added, in_dims=1)),
    "argument of vmap in chunks": lambda lib: written_arguments(lib, lib.func.vmap(added, in_dims=1, chunk_size=2)),
    "argument of vmap in vmap": lambda lib: written_arguments(
        lib, lib.func.vmap(lib.func.vmap(lambda x: x.add_(1)), in_dims=1)
    ),
    "argument of jvp": lambda lib: written_arguments(lib, lambda x: lib.func.jvp(added, (x,), (lib.ones(2, 3),))),
    "argument of jvp in vmap": lambda lib: written_arguments(
        lib, lib.func.vmap(lambda x: lib.func.jvp(lambda x: x.add_(1) * x, (x,), (x * 2,)))
    ),
    "running statistics": normalized,
    "out_dims in a tuple": lambda lib: lib.func.vmap(lambda x: x, out_dims=(1,))(lib.ones(2, 3)),
}


@pytest.mark.parametrize("name", WRITES)
def test_writes_inside_transforms(name):
    theirs, mine = flat(WRITES[name](torch)), flat(WRITES[name](pullback))
    assert len(theirs) == len(mine)
    for a, b in zip(theirs, mine, strict=True):
        np.testing.assert_allclose(np.asarray(b), a.numpy(), rtol=1e-5, atol=1e-6)


def flat(value):
    return [leaf for each in value for leaf in flat(each)] if isinstance(value, tuple) else [value.detach()]


def test_writes_reach_the_arguments_of_a_vmap_that_splits():
    def step(x):
        if x.sum() > 3:
            x.mul_(10)
        return x * 1

    x = pullback.arange(6.0).reshape(3, 2)
    y = pullback.func.vmap(step, on_branch="split")(x)
    assert x.tolist() == y.tolist() == [[0.0, 1.0], [20.0, 30.0], [40.0, 50.0]]


@pytest.mark.parametrize("name", ["vmap", "grad", "nested"])
def test_what_tensors_of_a_transform_print_as(name):
    def shown(lib):
        seen = []

        def f(x):
            seen.append(repr(x))
            return x.sum()

        transforms = {
            "vmap": lambda: lib.func.vmap(f)(lib.ones(2, 3)),
            "grad": lambda: lib.func.grad(f)(lib.ones(3)),
            "nested": lambda: lib.func.vmap(lib.func.grad(f))(lib.ones(2, 3)),
        }
        transforms[name]()
        return seen

    assert shown(pullback) == shown(torch)


def test_chunks_share_the_numbers_that_are_the_same_for_all():
    draw = pullback.func.vmap(lambda x: x + pullback.rand(2), randomness="same", chunk_size=2)
    drawn = draw(pullback.zeros(5, 2)).numpy()
    assert (drawn == drawn[0]).all()
