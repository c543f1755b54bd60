"""`functionalize`: the same values and gradients as torch's, and what is written when."""

import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

import pullback  # noqa: E402
from pullback.interpreters import Interpreter  # noqa: E402

from .compare import parity, raises  # noqa: E402


def through_a_view(t, a):
    b = a + 1
    b.view(-1).mul_(3)
    b[0] = a[1] * 5
    return b


def slices_and_masks(t, a):
    b = a * 2
    b[:, 0].mul_(3)
    b[b > 3] = 0.0
    c = b.t()
    c.add_(a)
    return b, c.sum(0)


def out_and_fills(t, a):
    b = t.zeros(2, 2)
    t.mul(a.detach(), 2, out=b)
    return b.tril_() + a, t.empty(2).fill_(3)


def nested(t, a):
    return {"y": [a * 2, (a.clone().zero_(), 3)], "name": "z", "none": None}


PROGRAMS = {f.__name__: f for f in (through_a_view, slices_and_masks, out_and_fills, nested)}
REMOVALS = ["mutations", "mutations_and_views"]


def operand(t):
    return t.tensor([[0.5, -1.0], [2.0, 0.25]])


def values(tree):
    """The tensors of a tree without their nodes, which tell how they were computed."""
    if isinstance(tree, (tuple, list)):
        return [values(entry) for entry in tree]
    if isinstance(tree, dict):
        return {key: values(entry) for key, entry in tree.items()}
    return tree.detach() if hasattr(tree, "detach") else tree


@pytest.mark.parametrize("remove", REMOVALS)
@pytest.mark.parametrize("name", PROGRAMS)
@parity
def test_values(t, name, remove):
    program = PROGRAMS[name]
    return values(t.func.functionalize(lambda a: program(t, a), remove=remove)(operand(t)))


@pytest.mark.parametrize("name", ["through_a_view", "slices_and_masks"])
@parity
def test_gradients_and_other_transforms(t, name):
    """Those of the function itself, which torch is asked for: of some copies it has no derivative."""
    functionalize = t.func.functionalize if t is pullback else lambda f: f
    f = functionalize(lambda a: PROGRAMS[name](t, a))

    def total(a):
        y = f(a)
        return (y[0] if isinstance(y, tuple) else y).square().sum()

    x = operand(t).requires_grad_()
    total(x).backward()
    plain = operand(t)
    inside = functionalize(t.func.grad(total))(plain)
    moved = t.func.jvp(total, (plain,), (t.ones(2, 2),))
    return x.grad, t.func.grad(total)(plain), inside, moved, t.func.hessian(total)(plain)


@parity
def test_examples(t):
    rows = t.arange(6.0).reshape(3, 2)

    def f(a):
        b = a.clone()
        b[0] = 7.0
        return b.add_(a)

    return t.func.vmap(t.func.functionalize(f))(rows), t.func.functionalize(t.func.vmap(f))(rows)


@parity
def test_an_argument_is_written_when_all_is_done(t):
    x, seen = operand(t), []

    def f(a, *, b):
        a.add_(1)
        a.view(-1)[0] = b.sum()
        seen.append(x.tolist())
        return a * 2

    y = t.func.functionalize(f)(x, b=t.ones(3))
    return y, x, x._version, seen


@parity
def test_an_exception_leaves_arguments_as_they_were(t):
    x = operand(t)

    def f(a):
        a.zero_()
        raise KeyError("stop")

    with pytest.raises(KeyError):
        t.func.functionalize(f)(x)
    return x, x._version


@parity
def test_what_has_not_been_written_comes_back(t):
    x = operand(t)
    f = t.func.functionalize(lambda a: (a, a[0], 5))
    same, part, five = f(x)
    part.mul_(10)
    copied = t.func.functionalize(lambda a: a[0], remove="mutations_and_views")(x)
    copied.mul_(10)
    return same is x, x, five, t.func.functionalize(lambda n: n + 1)(3), t.func.functionalize(lambda: None)()


@parity
def test_results_do_not_lie_in_an_argument_that_was_written(t):
    x = operand(t)
    y, row = t.func.functionalize(lambda a: (a.mul_(2), a[0]))(x)
    y.zero_()
    row.zero_()
    return x


@parity
def test_what_is_closed_over_is_differentiated(t):
    w = t.ones(2, requires_grad=True)
    y = t.func.functionalize(lambda a: (a * w).mul_(3))(t.tensor([1.0, 2.0]))
    y.sum().backward()
    return w.grad


@parity
def test_misuse(t):
    wording = "functionalize(f, remove='mutations'): received invalid argument for remove=views. Valid options are:"
    raises(RuntimeError, wording, lambda: t.func.functionalize(lambda a: a, remove="views"))
    call = t.func.functionalize(lambda a: (a * a).sum().backward())
    raises(RuntimeError, "backward() called inside a functorch transform.", lambda: call(t.ones(2, requires_grad=True)))
    leaf = t.ones(2, requires_grad=True)
    wording = "a leaf Variable that requires grad is being used in an in-place operation."
    raises(RuntimeError, wording, lambda: t.func.functionalize(lambda a: a.add_(1))(leaf))
    captured = t.ones(2)
    with pytest.raises(RuntimeError):
        t.func.functionalize(captured.add_)(t.ones(2))
    return leaf, captured


def test_the_axes_of_an_argument_stay():
    x = pullback.ones(2, 3)
    with pytest.raises(RuntimeError, match="has changed the axes of an argument in place"):
        pullback.func.functionalize(lambda a: a.t_())(x)
    assert x.shape == (2, 3)


def test_the_gradient_of_an_argument_that_was_written():
    """torch's copy comes between a value and its use."""
    x = pullback.ones(2, requires_grad=True)
    h = x * 2
    y = pullback.func.functionalize(lambda a: (a.mul_(a), a * 3)[1])(h)
    (y.sum() + h.sum()).backward()
    assert (h.tolist(), y.tolist(), x.grad.tolist()) == ([4, 4], [12, 12], [32, 32])


def test_a_tensor_that_is_given_twice_is_one():
    """As in the function itself; torch writes the second copy over the first."""
    x = pullback.ones(2)
    pullback.func.functionalize(lambda a, b: (a.add_(1), b.mul_(5)))(x, x)
    assert x.tolist() == [10, 10]


def test_an_interpreter_around_sees_no_writes():
    names = []

    class Names(Interpreter):
        def process(self, primitive, args, params):
            names.append(primitive.name)
            return self.box(primitive(*map(self.unbox, args), **params))

    with Names() as interpreter:
        x = interpreter.box(pullback.ones(2))
        y = interpreter.unbox(pullback.func.functionalize(lambda a: (a + 1).view(-1).add_(2))(x))
    assert (names[:2], y.tolist()) == (["add", "reshape"], [4, 4])
