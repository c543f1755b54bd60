"""Custom functions: the argument in every refusal, histories that are lost, and rules on trees under all transforms."""

import gc
import re
import weakref
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import pullback
from pullback import func
from pullback.autograd import Function
from pullback.autograd.function import once_differentiable

from ..tensors import double_leaf as leaf

DOUBLE = pullback.float64


def function(backward, forward=None, **members):
    """A Function that squares its input, unless told otherwise."""

    def square(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    methods = {"forward": forward or square, "backward": backward, **members}
    return type("Square", (Function,), {name: staticmethod(method) for name, method in methods.items()})


def saved(ctx):
    return ctx.saved_tensors[0]


# Refusals name the argument


class Product(Function):
    answer: Any = None

    @staticmethod
    def forward(ctx, weights, scale, *rest):
        return weights * scale

    @staticmethod
    def backward(ctx, g):
        return Product.answer(g)


REFUSED = {
    "count": (lambda g: g, "(grad of weights, grad of scale, grad of rest[0], grad of rest[1])"),
    "type": (
        lambda g: ("g", None, None, None),
        "the gradient of 'weights' that ProductBackward returned must be a tensor",
    ),
    "shape": (lambda g: (None, None, g.sum(), None), "the gradient of 'rest[0]' has shape (), and 'rest[0]' had (3,)"),
    "number": (lambda g: (None, g, None, None), "'scale' was no tensor, so return None in its place"),
    "complex": (lambda g: (g * 1j, None, None, None), "'weights' is real. Return its real part, grad.real"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_wrong_gradient_is_reported_by_name_and_line(case):
    Product.answer, wording = REFUSED[case]
    y = Product.apply(leaf(1, 2, 3), 2.0, leaf(1, 2, 3), leaf(1, 2, 3))
    with pytest.raises(RuntimeError, match=re.escape(wording)) as caught:
        y.sum().backward()
    assert "Called at test_function.py" in str(caught.value)


def test_a_refused_gradient_changes_nothing():
    x, w = leaf(1, 2, 3), leaf(1, 2, 3)
    Product.answer = lambda g: (g.sum(), None)
    with pytest.raises(RuntimeError, match="invalid gradient"):
        (Product.apply(x * w, 2.0) + w).sum().backward()
    assert x.grad is None and w.grad is None


def test_a_gradient_may_be_an_array():
    x = leaf(1, 2)
    (g,) = pullback.autograd.grad(function(lambda ctx, g: np.array([3, 4])).apply(x).sum(), x)
    assert g.tolist() == [3.0, 4.0] and g.dtype == DOUBLE


def test_forward_must_not_lose_its_result_to_numpy():
    f = function(lambda ctx, g: g, lambda ctx, x: np.exp(x.detach().numpy()))
    with pytest.raises(TypeError, match=r"forward of Square returned a NumPy array .* return pullback.from_numpy"):
        f.apply(leaf(1, 2))
    assert isinstance(f.apply(pullback.ones(2)), np.ndarray)


def test_a_leaf_is_refused_before_it_is_written():
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    x = leaf(1, 2)
    for target in (x, x[:1]):
        with pytest.raises(
            RuntimeError, match="leaf Variable that requires grad has been used in an in-place operation"
        ):
            function(lambda ctx, g: g, forward).apply(target)
    assert x.tolist() == [1.0, 2.0]


# What belongs to whom


@pytest.mark.parametrize("create_graph", [False, True])
def test_what_backward_returns_does_not_become_somebodys_grad(create_graph):
    x = leaf(1, 2)
    function(lambda ctx, g: saved(ctx)).apply(x).backward(pullback.ones(2, dtype=DOUBLE), create_graph=create_graph)
    assert x.grad is not x
    with pullback.no_grad():
        x.mul_(10)
    assert x.grad.tolist() == [1.0, 2.0]


def test_one_array_for_two_leaves():
    x, w = leaf(1, 2), leaf(3, 4)
    f = function(lambda ctx, g: (g, g), lambda ctx, x, w: x + w)
    for _ in range(2):
        f.apply(x, w).sum().backward()
    assert x.grad.tolist() == w.grad.tolist() == [2.0, 2.0]


def test_a_saved_tensor_keeps_its_value():
    x = leaf(1, 2)
    h = x * 1
    y = function(lambda ctx, g: 2 * saved(ctx) * g).apply(h)
    h.mul_(100)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_attributes_may_have_any_name():
    def forward(ctx, x):
        ctx.shape, ctx.saved, ctx.edges, ctx.params, ctx.seq, ctx.hooks = 1, 2, 3, 4, 5, 6
        return x.sum()

    def backward(ctx, g):
        return (
            g * (ctx.shape + ctx.saved + ctx.edges + ctx.params + ctx.seq + ctx.hooks) * pullback.ones(2, dtype=DOUBLE)
        )

    x = leaf(1, 2)
    function(backward, forward).apply(x).backward()
    assert x.grad.tolist() == [21.0, 21.0]


def test_the_arguments_die_with_the_program():
    f = function(lambda ctx, g: (g * 2, None), lambda ctx, x, note: x * 2)
    h = leaf(1, 2) * 1
    note = type("Note", (), {})()
    gone = [weakref.ref(h), weakref.ref(note)]
    y = f.apply(h, note)
    del h, note
    gc.collect()
    assert [reference() for reference in gone] == [None, None]
    y.sum().backward()


def test_a_long_chain():
    f = function(lambda ctx, g: g, lambda ctx, x: x + 1)
    x = y = leaf(0)
    for _ in range(2000):
        y = f.apply(y)
    y.backward()
    assert x.grad.item() == 1.0


def test_an_output_shares_no_history_with_what_forward_found():
    w = leaf(1, 2)
    y = function(lambda ctx, g: g * 5, lambda ctx, x: w).apply(leaf(1, 2))
    assert w.is_leaf and y is not w
    with pytest.raises(RuntimeError, match="Output 0 of Square is a view"):
        y.mul_(2)


def test_two_outputs_on_one_memory():
    def forward(ctx, x):
        y = x * 2
        return y, y, y[:1]

    x = leaf(1, 2)
    f = function(lambda ctx, g, h, k: g + 10 * h + 100 * k.sum(), forward)
    one, other, part = f.apply(x)
    assert other is one
    (one.sum() + other.sum() + part.sum()).backward()  # all that reaches it counts for the place it has last
    assert x.grad.tolist() == [120.0, 120.0]
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        part.mul_(2)
    one.mul_(2)
    with pytest.raises(RuntimeError, match="its base or another view of its base has been modified"):
        part.sum().backward()


# Histories that are lost


def second(f, flowing):
    """The gradient of the gradient of a sum, or of a sum of squares, which gives f's backward a tracked gradient."""
    x = leaf(1, -2)
    y = f.apply(x)
    (g,) = pullback.autograd.grad(((y * y) if flowing else y).sum(), x, create_graph=True)
    return pullback.autograd.grad((g * x).sum(), x)[0].tolist()


def without_grad(ctx, g):
    with pullback.no_grad():
        factor = 2 * saved(ctx)
    return factor * g


LOST = {
    "detach": lambda ctx, g: 2 * saved(ctx).detach() * g,
    "data": lambda ctx, g: 2 * saved(ctx).data * g,
    "no_grad": without_grad,
    "numpy": lambda ctx, g: pullback.from_numpy(2 * saved(ctx).detach().numpy() * g.detach().numpy()),
    "force": lambda ctx, g: pullback.from_numpy(2 * saved(ctx).numpy(force=True)) * g,
    "array": lambda ctx, g: 2 * saved(ctx).detach().numpy() * g.detach().numpy(),
    "once": once_differentiable(lambda ctx, g: 2 * saved(ctx) * g),
}

every_lost = pytest.mark.parametrize("case", LOST)
flowing_or_not = pytest.mark.parametrize("flowing", [False, True])


@every_lost
@flowing_or_not
def test_a_lost_history_is_refused(case, flowing):
    with pytest.raises(RuntimeError, match="trying to differentiate twice"):
        second(function(LOST[case]), flowing)


@every_lost
def test_a_lost_history_is_no_trouble_otherwise(case):
    f = function(LOST[case])
    x, w = leaf(1, -2), leaf(3, 4)
    (once,) = pullback.autograd.grad(f.apply(x).sum(), x)
    assert once.tolist() == [2.0, -4.0]
    g, h = pullback.autograd.grad(f.apply(x).sum() + (w**3).sum(), (x, w), create_graph=True)
    assert g.tolist() == [2.0, -4.0]
    assert pullback.autograd.grad((g.sum() + h.sum()), w)[0].tolist() == [18.0, 24.0]
    with pytest.raises(RuntimeError, match="trying to differentiate twice"):
        g.sum().backward()


def test_the_line_that_loses_it_is_named():
    def backward(ctx, g):
        x = saved(ctx).detach()  # here
        return 2 * x * g

    with pytest.raises(RuntimeError, match=r"detach\(\) was called at test_function.py:[0-9]+: x = .* # here"):
        second(function(backward), flowing=False)


def test_a_constant_is_no_function_of_the_gradient():
    f = function(lambda ctx, g: pullback.ones(2, dtype=DOUBLE))
    with pytest.raises(
        RuntimeError, match="returned a value with no history, although the gradient it was given has one"
    ):
        second(f, flowing=True)


def through_numpy(ctx, x):
    y = np.exp(x.detach().numpy())
    ctx.save_for_backward(pullback.from_numpy(y))
    return pullback.from_numpy(y.copy())


def on_the_way(ctx, x):
    y = x.exp()
    ctx.save_for_backward(y)
    return y * 1


@pytest.mark.parametrize("forward", [through_numpy, on_the_way])
@flowing_or_not
def test_a_value_saved_on_the_way_has_no_history(forward, flowing):
    f = function(lambda ctx, g: g * saved(ctx), forward)
    x = leaf(1, -2)
    np.testing.assert_allclose(pullback.autograd.grad(f.apply(x).sum(), x)[0].numpy(), np.exp([1, -2]))
    with pytest.raises(RuntimeError, match="forward had computed on the way and saved, neither an input nor an output"):
        second(f, flowing)


def save(make):
    def forward(ctx, x):
        ctx.save_for_backward(make(x))
        return x * 3

    return forward


def marked(ctx, x):
    ctx.factor = x.detach() * 0 + 3
    return x * 3


def written(ctx, g):
    out = pullback.zeros(2, dtype=DOUBLE)
    out[:] = 3 * g
    return out


def normed(ctx, g):
    """Keeping the running mean, instance_norm detaches its input, which loses nothing."""
    x, running = saved(ctx).reshape(1, 1, 2), pullback.zeros(1, dtype=DOUBLE)
    return g * (3 + 0 * pullback.nn.functional.instance_norm(x, running, running + 1).reshape(2))


# y = 3 x: the sum of gradient times x has gradient 3; with a sum of squares it is 18 x^2.
KEPT = {
    "constant times gradient": (lambda ctx, g: 3 * g, None),
    "written": (written, None),
    "operator of the gradient": (lambda ctx, g: g.flip(0).flip(0) * 3, None),
    "saved constant": (lambda ctx, g: g * saved(ctx), save(lambda x: pullback.full((2,), 3.0, dtype=DOUBLE))),
    "saved comparison": (lambda ctx, g: g * 3 * saved(ctx), save(lambda x: x * 2 < 100)),
    "saved float mask": (lambda ctx, g: g * 3 * saved(ctx), save(lambda x: (x * 2 < 100).to(DOUBLE))),
    "saved sign": (lambda ctx, g: g * 3 * saved(ctx) ** 2, save(lambda x: (2 * x).sign())),
    "comparison": (lambda ctx, g: g * 3 * (saved(ctx) < 100), save(lambda x: x)),
    "what cuts off for itself": (normed, save(lambda x: x)),
    "attribute": (lambda ctx, g: g * ctx.factor, marked),
}


@pytest.mark.parametrize("case", KEPT)
@flowing_or_not
def test_a_true_derivative_is_kept(case, flowing):
    backward, forward = KEPT[case]
    f = function(backward, forward or (lambda ctx, x: x * 3))
    assert second(f, flowing) == ([36.0, -72.0] if flowing else [3.0, 3.0])


def test_zero_gradients_are_right_without_history():
    f = function(lambda ctx, g: pullback.zeros(2, dtype=DOUBLE), lambda ctx, x: x.detach() * 0)
    x = leaf(1, -2)
    (g,) = pullback.autograd.grad((f.apply(x) ** 2).sum() + (x**2).sum(), x, create_graph=True)
    assert pullback.autograd.grad(g.sum(), x)[0].tolist() == [2.0, 2.0]


def test_a_lost_history_is_refused_beneath_a_transform():
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    f = function(LOST["detach"], lambda x: x * x, setup_context=setup_context)
    x = pullback.tensor(2.0)
    assert func.grad(f.apply)(x).item() == 4.0
    with pytest.raises(RuntimeError, match="trying to differentiate twice"):
        func.grad(func.grad(f.apply))(x)
    y = leaf(1, -2)
    gradient = func.grad(lambda x: f.apply(x).sum())(y)
    assert gradient.tolist() == [2.0, -4.0]
    with pytest.raises(RuntimeError, match="trying to differentiate twice"):
        gradient.sum().backward()


# Derivatives of functions, checked against numbers


class Wave(Function):
    """sin(x) w and sin(x) + w^2, by hand."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, w):
        sine = x.sin()
        return sine * w, sine + w * w

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, g, h):
        x, w = ctx.saved_tensors
        return (g * w + h) * x.cos(), g * x.sin() + 2 * h * w

    @staticmethod
    def jvp(ctx, t, u):
        x, w = ctx.saved_tensors
        moved = t * x.cos()
        return moved * w + u * x.sin(), moved + 2 * u * w


def test_gradcheck():
    inputs = leaf(0.3, -1.2), leaf(0.7, 2.0)
    assert pullback.autograd.gradcheck(Wave.apply, inputs)
    assert pullback.autograd.gradgradcheck(Wave.apply, inputs)


def plain(x, w):
    return x.sin() * w, x.sin() + w * w


@pullback.custom_vjp
def by_vjp(x, w):
    return x.sin() * w, x.sin() + w * w


def forwards(x, w):
    return by_vjp(x, w), {"cosine": x.cos(), "rest": (x.sin(), w)}


def backwards(residuals, cotangents):
    sine, w = residuals["rest"]
    g, h = cotangents
    return (g * w + h) * residuals["cosine"], g * sine + 2 * h * w


by_vjp.defvjp(forwards, backwards)


@pullback.custom_jvp
def by_jvp(x, w):
    return x.sin() * w, x.sin() + w * w


@by_jvp.defjvp
def moved(primals, tangents):
    (x, w), (t, u) = primals, tangents
    return by_jvp(x, w), (t * x.cos() * w + u * x.sin(), t * x.cos() + 2 * u * w)


def value(f):
    """A scalar function of two vectors that uses both outputs."""

    def scalar(x, w):
        y, z = f(x, w)
        return (y * z * x).sum()

    return scalar


DERIVATIVES = {
    "grad": lambda f, x, w: func.grad(value(f), (0, 1))(x, w),
    "jvp": lambda f, x, w: func.jvp(f, (x, w), (w, x)),
    "jacrev": lambda f, x, w: func.jacrev(f, (0, 1))(x, w),
    "jacfwd": lambda f, x, w: func.jacfwd(f, (0, 1))(x, w),
    "hessian": lambda f, x, w: func.hessian(value(f), (0, 1))(x, w),
    "vmap": lambda f, x, w: func.vmap(f, (0, None))(x, w[0]),
}


def per_example(f, derivative, x, w):
    return func.vmap(lambda x, w: derivative(f, x, w), (None, 0))(
        x, w * pullback.tensor([[1.0], [2.0], [0.5]], dtype=DOUBLE)
    )


def summed(f, derivative, x, w):
    leaves = [entry for part in derivative(f, x, w) for entry in (part if isinstance(part, tuple) else (part,))]
    return sum((entry * entry).sum() for entry in leaves)


OUTER = {
    "alone": lambda f, derivative, x, w: derivative(f, x, w),
    "in grad": lambda f, derivative, x, w: func.grad(lambda x, w: summed(f, derivative, x, w), (0, 1))(x, w),
    "in jvp": lambda f, derivative, x, w: func.jvp(lambda x, w: derivative(f, x, w), (x, w), (w, x)),
    "in vmap": per_example,
}


def numbers(tree):
    return (
        [n for part in tree for n in numbers(part)]
        if isinstance(tree, tuple)
        else tree.detach().numpy().ravel().tolist()
    )


@pytest.mark.parametrize("custom", [Wave.apply, by_vjp, by_jvp], ids=["Function", "custom_vjp", "custom_jvp"])
@pytest.mark.parametrize("outer", OUTER)
@pytest.mark.parametrize("case", DERIVATIVES)
def test_every_derivative_is_that_of_the_plain_function(custom, outer, case):
    x = pullback.tensor([0.3, -1.2], dtype=DOUBLE)
    w = pullback.tensor([0.7, 2.0], dtype=DOUBLE)
    found = OUTER[outer](custom, DERIVATIVES[case], x, w)
    expected = OUTER[outer](plain, DERIVATIVES[case], x, w)
    np.testing.assert_allclose(numbers(found), numbers(expected), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("custom", [Wave.apply, by_vjp, by_jvp], ids=["Function", "custom_vjp", "custom_jvp"])
def test_on_live_tensors(custom):
    x, w = leaf(0.3, -1.2), leaf(0.7, 2.0)
    results = []
    for f in (custom, plain):
        (g,) = pullback.autograd.grad(value(f)(x, w), x, create_graph=True)
        (g * g).sum().backward()
        results.append([pullback.jacobian(f(x, w)[0], x), pullback.hessian(value(f)(x, w), x), x.grad, w.grad])
        x.grad = w.grad = None
    for found, expected in zip(*results, strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-12, atol=1e-14)


@pullback.custom_vjp
def stretched(x, w):
    return x * w


stretched.defvjp(
    lambda x, w: (x * w, (x, w)), lambda kept, g: (g * kept[1], g * kept[0])
)  # of the shape of x, for w, too


def test_a_cotangent_that_was_broadcast_is_summed_for_each_example():
    x, w = pullback.rand(4, 3, dtype=DOUBLE), pullback.rand(4, dtype=DOUBLE)
    expected = x.numpy().sum(1)
    inside = func.vmap(func.grad(lambda x, w: stretched(x, w).sum(), argnums=1))(x, w)
    outside = func.grad(lambda w: func.vmap(stretched)(x, w).sum())(w)
    shared = func.grad(lambda w: func.vmap(stretched, in_dims=(0, None))(x, w).sum())(w[0])
    np.testing.assert_allclose(inside.numpy(), expected, rtol=1e-15)
    np.testing.assert_allclose(outside.numpy(), expected, rtol=1e-15)
    np.testing.assert_allclose(shared.numpy(), expected.sum(), rtol=1e-15)


@settings(max_examples=10)
@given(st.permutations(["grad", "vmap", "grad", "vmap"]), st.integers(0, 2))
def test_grads_and_vmaps_in_any_order(order, which):
    """Rules of every kind under four transforms, against the function that is written out."""
    x = pullback.tensor([[0.1, 0.2], [0.3, 0.4]], dtype=DOUBLE)
    results = []
    for f in ((Wave.apply, by_vjp, by_jvp)[which], plain):
        g = lambda x, f=f: sum(f(x, x * x)[0].reshape(-1)) if x.ndim else f(x, x * x)[0]
        for name in order:
            inner = g
            g = func.vmap(inner) if name == "vmap" else func.grad(lambda x, inner=inner: inner(x).sum())
        results.append(g(x).numpy())
    np.testing.assert_allclose(*results, rtol=1e-11, atol=1e-12)


# Trees


class Point(NamedTuple):
    x: Any
    y: Any


@pullback.custom_vjp
def norm(point, options, power=2):
    """The sum of powers of a point's coordinates."""
    return {"sum": (point.x**power + point.y**power).sum(), "note": options["note"]}


norm.defvjp(
    lambda point, options, power: (norm(point, options, power), (point, power)),
    lambda kept, g: (Point(*(g["sum"] * kept[1] * each ** (kept[1] - 1) for each in kept[0])), None, None),
)


def test_trees_of_arguments_and_results():
    point = Point(leaf(1, 2), leaf(3, 4))
    result = norm(point, options={"note": "text"})
    assert result["note"] == "text" and result["sum"].grad_fn.name() == "NormBackward"
    (first,) = pullback.autograd.grad(result["sum"], point.x, create_graph=True)
    assert first.tolist() == [2.0, 4.0]
    assert pullback.autograd.grad(first.sum(), point.x)[0].tolist() == [2.0, 2.0]
    assert norm.__doc__ == "The sum of powers of a point's coordinates."


def test_arguments_without_a_derivative_come_first():
    @pullback.custom_vjp(nondiff_argnums=(0, -1))
    def apply(f, x, times):
        return f(x) * times

    apply.defvjp(lambda f, x, times: (f(x) * times, x), lambda f, times, x, g: (g * x.cos() * times,))
    x = leaf(1, 2)
    (g,) = pullback.autograd.grad(apply(pullback.sin, x, 3).sum(), x)
    np.testing.assert_allclose(g.numpy(), 3 * np.cos([1, 2]))
    with pytest.raises(TypeError, match="times is among nondiff_argnums, and holds a float64 tensor"):
        apply(pullback.sin, x, leaf(3))

    @pullback.custom_jvp(nondiff_argnums=0)
    def power(n, x):
        return x**n

    power.defjvp(lambda n, primals, tangents: (power(n, *primals), n * primals[0] ** (n - 1) * tangents[0]))
    assert pullback.autograd.grad(power(3, x).sum(), x)[0].tolist() == [3.0, 12.0]


def test_a_rule_for_each_argument():
    @pullback.custom_jvp
    def f(x, w, n):
        return x.sin() * w * n

    f.defjvps(lambda t, y, x, w, n: t * x.cos() * w * n, lambda t, y, x, w, n: y / w * t, None)
    x, w = leaf(1, 2), leaf(3, 4)
    g, h = pullback.autograd.grad(f(x, w, 2).sum(), (x, w))
    np.testing.assert_allclose(g.numpy(), 2 * np.cos([1, 2]) * [3, 4])
    np.testing.assert_allclose(h.numpy(), 2 * np.sin([1, 2]))
    with pytest.raises(TypeError, match="with nondiff_argnums only defjvp can be used"):
        pullback.custom_jvp(nondiff_argnums=0)(lambda n, x: x).defjvps(None, None)


def test_rules_of_methods():
    class Model:
        scale = 3.0

        @pullback.custom_vjp
        def run(self, x):
            return x * self.scale

        run.defvjp(lambda self, x: (x * self.scale, self), lambda self, g: (None, g * self.scale))

    x = leaf(1, 2)
    assert pullback.autograd.grad(Model().run(x).sum(), x)[0].tolist() == [3.0, 3.0]


def ruled(fwd=None, bwd=None):
    f = pullback.custom_vjp(lambda x, w: x * w["a"])
    f.__name__ = f._primitive.label = "product"
    f.defvjp(fwd or (lambda x, w: (x * w["a"], None)), bwd)
    return f


WRONG_RULES = {
    "no pair": (
        lambda x, w: x,
        None,
        TypeError,
        r"must return a pair \(output, residuals\), and returned a tensor of shape",
    ),
    "no tuple": (
        None,
        lambda kept, g: g,
        TypeError,
        r"one gradient for each of its arguments \(x, w\).* a tensor of shape",
    ),
    "too few": (None, lambda kept, g: (g,), TypeError, "and returned a tuple of 1"),
    "other tree": (
        None,
        lambda kept, g: (g, g),
        TypeError,
        r"gradient for 'w' that nests as \*, and 'w' nests as {'a': \*}",
    ),
    "shape": (None, lambda kept, g: (g, {"a": g.sum()}), RuntimeError, r"the gradient of \"w\['a'\]\" has shape \(\)"),
    "type": (None, lambda kept, g: (g, {"a": 3}), RuntimeError, r"expected Variable or None \(got int\)"),
}


@pytest.mark.parametrize("case", WRONG_RULES)
def test_answers_of_rules_that_do_not_fit(case):
    fwd, bwd, error, wording = WRONG_RULES[case]
    x = leaf(1, 2)
    with pytest.raises(error, match=wording):
        ruled(fwd, bwd or (lambda kept, g: (g, None)))(x, {"a": leaf(1, 2)}).sum().backward()
    assert x.grad is None


@pytest.mark.parametrize(
    ("rule", "wording"),
    [
        (lambda primals, tangents: primals[0], "must return a pair"),
        (lambda primals, tangents: (primals[0], (tangents[0],)), "tangents that nest as .*, and outputs that nest as"),
        (lambda primals, tangents: (primals[0], tangents[0].sum()), r"a tensor of shape \(\) as the tangent of output"),
        (lambda primals, tangents: (3, tangents[0]), "a tangent for output, which is not a tensor"),
    ],
)
def test_answers_of_a_pushforward_that_do_not_fit(rule, wording):
    f = pullback.custom_jvp(lambda x: x * 2)
    f.defjvp(rule)
    with pytest.raises(TypeError, match=wording):
        f(leaf(1, 2)).sum().backward()


def test_rules_are_given_before_the_call():
    with pytest.raises(AttributeError, match="No VJP defined for custom_vjp function f using defvjp"):
        pullback.custom_vjp(f := lambda x: x).__class__.__call__(named(pullback.custom_vjp(f), "f"), leaf(1))
    with pytest.raises(AttributeError, match="No JVP defined for custom_jvp function f using defjvp"):
        named(pullback.custom_jvp(f), "f")(leaf(1))
    with pytest.raises(TypeError, match="bwd must be a function, not a int"):
        pullback.custom_vjp(f).defvjp(f, 3)


def named(decorated, name):
    decorated.__name__ = name
    return decorated


def test_a_tensor_that_is_no_argument_is_refused():
    hidden = leaf(3, 4)
    f = pullback.custom_vjp(lambda x: x * hidden)
    f.defvjp(lambda x: (x * hidden, None), lambda kept, g: (g * hidden,))
    with pytest.raises(RuntimeError, match="that requires grad and is not an argument: its gradient would be lost"):
        f(leaf(1, 2))


def test_what_a_rule_keeps_stays_as_it_was():
    f = pullback.custom_vjp(lambda x: x * x)
    f.defvjp(lambda x: (x * x, x[:]), lambda x, g: (2 * g * x,))
    x = leaf(1, 2)
    h = x * 1
    y = f(h)
    h.mul_(100)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    identity = pullback.custom_vjp(lambda x: x)
    identity.defvjp(lambda x: (x, None), lambda kept, g: (g,))
    h = x * 1
    y = identity(h)
    h.mul_(100)
    assert y.tolist() == [1.0, 2.0]


def test_an_interpreter_sees_one_operation():
    names = []

    class Names(pullback.interpreters.Interpreter):
        def process(self, primitive, args, params):
            names.append((primitive.kind, primitive.name))
            return self.box(primitive(*map(self.unbox, args), **params))

    with Names() as interpreter:
        boxed = [interpreter.box(leaf(1, 2)) for _ in range(2)]
        for f in (Wave.apply, by_vjp, by_jvp, function(LOST["numpy"]).apply):
            result = f(*boxed[: 1 if f not in (Wave.apply, by_vjp, by_jvp) else 2])
            first = interpreter.unbox(result[0] if isinstance(result, tuple) else result)
            assert first.requires_grad
    assert names == [("custom", f"custom.{name}") for name in ("Wave", "by_vjp", "by_jvp", "Square")]


def test_the_value_of_a_pushforward_moves_by_it_at_every_level() -> None:
    """Also where the code itself, run beneath a transform, would have another derivative, or none."""

    @pullback.custom_jvp
    def softplus(x):
        return (1 + x.exp()).log()

    @softplus.defjvp
    def rule(primals, tangents):
        (x,), (t,) = primals, tangents
        return softplus(x), t * x.sigmoid()

    f = lambda x: softplus(x).minimum(x * 0 + 2.0) * softplus(x - 999.0) ** 2
    x = pullback.tensor(1000.0, dtype=pullback.float64)
    grad, jacfwd = pullback.func.grad, pullback.func.jacfwd
    expected = jacfwd(jacfwd(f))(x)
    assert pullback.isfinite(expected)
    for second in (grad(grad(f)), jacfwd(grad(f)), grad(jacfwd(f))):
        assert second(x).item() == pytest.approx(expected.item(), rel=1e-12)


def test_an_input_that_is_marked_and_not_returned_is_named_though_another_is():
    def forward(ctx, a, b):
        a.add_(1)
        b.add_(1)
        ctx.mark_dirty(a, b)
        return a

    both = function(lambda ctx, g: (g, None), forward)
    with pytest.raises(RuntimeError, match="'b'"):
        both.apply(leaf(1.0) * 1, leaf(2.0) * 1)
