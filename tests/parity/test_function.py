"""autograd.Function: calls, what is saved, gradients, marks, writes, views, both derivatives, transforms, and refusals."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

import importlib  # noqa: E402

from .compare import leaf, parity, raises, warns  # noqa: E402


def module(t, name):
    return importlib.import_module(f"{t.__name__}.{name}")


def function(t, forward, backward=None, setup_context=None, **members):
    """A Function of some library with these methods."""
    methods = {"forward": forward, "backward": backward, "setup_context": setup_context, **members}
    written = {name: staticmethod(method) if callable(method) else method for name, method in methods.items() if method}
    return type("F", (t.autograd.Function,), written)


def double(ctx, x):
    return x * 2


def answering(t, answer):
    """A Function of a tensor and something else, whose backward returns what `answer` gives."""

    def forward(ctx, x, other):
        return x * 2

    return function(t, forward, lambda ctx, g: answer(g))


# What a call is


@parity
def test_a_call(t):
    x, w = leaf(t, 1, 2), leaf(t, 3, 4)
    seen = []

    def forward(ctx, a, k, b, s=2):
        seen.append([a is x, t.is_grad_enabled(), ctx.needs_input_grad, a.requires_grad, ctx.saved_tensors, k, s])
        ctx.save_for_backward(a, b)
        ctx.k = k
        return a * b, 5, (a * 2).long(), "s"

    def backward(ctx, *g):
        seen.append([g, ctx.needs_input_grad, t.is_grad_enabled(), ctx.saved_tensors[0] is x, ctx.saved_tensors, ctx.k])
        return g[0] * ctx.saved_tensors[1], None, None, None, None, None

    y = function(t, forward, backward).apply(x, 3, w * 1)
    node = y[0].grad_fn
    edges = [(type(edge).__name__, number) for edge, number in node.next_functions]
    facts = [node.name(), type(node).__name__, edges, y[0].output_nr, node.k, node.saved_tensors, node.metadata]
    gradient = t.autograd.grad(y[0].sum(), x, retain_graph=True)
    return y, facts, gradient, node.needs_input_grad, t.autograd.grad((y[0] ** 2).sum(), x), seen


@parity
def test_the_class_of_a_node_knows_its_function(t):
    f = function(t, double, lambda ctx, g: g * 2)
    node = f.apply(leaf(t, 1)).grad_fn
    return node._forward_cls is f, isinstance(node, f._backward_cls), isinstance(node, t.autograd.graph.Node)


@parity
@pytest.mark.parametrize("output", ["list", "tuple of one", "none", "dict", "number"])
def test_outputs_that_are_no_tensors(t, output):
    made = {
        "list": lambda x: [x * 2],
        "tuple of one": lambda x: (x * 2,),
        "none": lambda x: None,
        "dict": lambda x: {"y": x * 2},
        "number": lambda x: 3,
    }
    return function(t, lambda ctx, x: made[output](x), lambda ctx, g: g).apply(leaf(t, 1, 2))


@parity
def test_nothing_is_recorded_where_nothing_is_tracked(t):
    f = function(t, double, lambda ctx, g: g * 2)
    with t.no_grad():
        y = f.apply(leaf(t, 1, 2))
    return y, f.apply(t.tensor([1.0])), f.apply(3)


@parity
def test_keyword_arguments_and_defaults(t):
    def forward(x, k=3):
        return x**k

    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.k = inputs[1]

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return ctx.k * x ** (ctx.k - 1) * g, None

    f = function(t, forward, backward, setup_context)
    x = leaf(t, 1, 2)
    for call in (f.apply, lambda: f.apply(x, bad=3)):
        with pytest.raises(TypeError):
            call()
    old = function(t, lambda ctx, a, k=2, b=None: a * k, lambda ctx, g: (g, None, None))
    return f.apply(x), f.apply(x=x, k=2), t.autograd.grad(f.apply(x, k=4).sum(), x), old.apply(x, k=5)


@parity
def test_setup_context_sees_inputs_and_outputs(t):
    seen = []
    x = leaf(t, 1, 2)

    def setup_context(ctx, inputs, output):
        seen.append([inputs, output, t.is_grad_enabled(), ctx.needs_input_grad, inputs[0] is x])
        ctx.save_for_backward(output[0])

    f = function(
        t, lambda x, n: (x.exp(), x * n), lambda ctx, g, h: (g * ctx.saved_tensors[0] + h, None), setup_context
    )
    y = f.apply(x, 7)
    return y, seen, t.autograd.grad(y[0].sum() + y[1].sum(), x)


@parity
def test_one_tensor_twice(t):
    x = leaf(t, 1, 2)
    f = function(t, lambda ctx, a, b: a * 2 + b * 3, lambda ctx, g: (g * 2, g * 3))
    return t.autograd.grad(f.apply(x, x).sum(), x)


@parity
def test_several_outputs_of_different_dtypes(t):
    x = leaf(t, 1, 2)
    seen = []

    def backward(ctx, *g):
        seen.append(g)
        return sum(each.real.float().sum() for each in g) * x

    f = function(t, lambda ctx, x: (x * 2, (x * 3).double(), (x * 3).int(), x * 1j), backward)
    for number in (0, 1, 3):
        (f.apply(x)[number] * 2).abs().sum().backward()
    return seen, x.grad


@parity
def test_enable_grad_inside_forward_leaves_no_trace(t):
    def forward(ctx, x):
        with t.enable_grad():
            return x * 5

    x = leaf(t, 1, 2)
    return t.autograd.grad(function(t, forward, lambda ctx, g: g * 2).apply(x).sum(), x)


@parity
def test_a_gradient_made_with_grad_inside_backward(t):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with t.enable_grad():
            return t.autograd.grad(x.exp(), x, g)[0]

    x = leaf(t, 1, 2)
    return t.autograd.grad(function(t, forward, backward).apply(x).sum(), x)


# What is saved


@parity
def test_saving_again_replaces_and_none_is_kept(t):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_backward(x * 3, None)
        return x * 2

    y = function(t, forward, lambda ctx, g: g).apply(leaf(t, 1, 2))
    return y.grad_fn.saved_tensors


@parity
def test_saved_tensors_are_freed(t):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    y = function(t, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(leaf(t, 1, 2))
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    raises(RuntimeError, "Trying to backward through the graph a second time", lambda: y.sum().backward())
    raises(RuntimeError, "directly access saved tensors after they have already", lambda: y.grad_fn.saved_tensors)
    free = function(t, double, lambda ctx, g: g * 2).apply(leaf(t, 1, 2))
    free.sum().backward()
    free.sum().backward()


@parity
@pytest.mark.parametrize("saved", [(3,), (None, "a")])
def test_only_tensors_are_saved(t, saved):
    def forward(ctx, x):
        ctx.save_for_backward(*saved)
        return x * 2

    f = function(t, forward, lambda ctx, g: g)
    kind = type(saved[-1]).__name__
    wording = f"save_for_backward can only save variables, but argument {len(saved) - 1} is of type {kind}"
    raises(TypeError, wording, lambda: f.apply(leaf(t, 1)))
    return f.apply(t.tensor([1.0]))  # nothing is saved: not recorded


@parity
def test_saved_tensors_go_through_hooks(t):
    seen = []

    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(x, y)
        return y

    def pack(tensor):
        seen.append(tensor.detach().clone())
        return tensor * 10

    x = leaf(t, 1, 2)
    with t.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor / 10):
        y = function(t, forward, lambda ctx, g: g * ctx.saved_tensors[0] * ctx.saved_tensors[1]).apply(x)
    return seen, t.autograd.grad(y.sum(), x)


# What backward returns


@parity
@pytest.mark.parametrize(
    "answer",
    [
        lambda g: (g * 3, None),
        lambda g: (g * 3, None, None, None),
        lambda g: (g.double(), None),
        lambda g: (g.long(), None),
        lambda g: (g.expand(5, 2), None),
        lambda g: (None, None),
    ],
    ids=["tensor", "more of None", "double", "long", "larger", "none"],
)
def test_gradients_that_fit(t, answer):
    x = leaf(t, 1, 2)
    return t.autograd.grad(answering(t, answer).apply(x, 3).sum(), x, allow_unused=True)


WRONG = {
    "too few": (lambda g: g, "function FBackward returned an incorrect number of gradients (expected 2, got 1)"),
    "too many": (
        lambda g: (g, None, g),
        "function FBackward returned an incorrect number of gradients (expected 2, got 3)",
    ),
    "nothing": (lambda g: (), "function FBackward returned an incorrect number of gradients (expected 2, got 0)"),
    "none": (lambda g: None, "function FBackward returned an incorrect number of gradients (expected 2, got 1)"),
    "list": (lambda g: [g, None], "function FBackward returned an incorrect number of gradients (expected 2, got 1)"),
    "float": (lambda g: (1.0, None), "expected Variable or None (got float)"),
    "for a number": (
        lambda g: (g, g),
        "function FBackward returned a gradient different than None at position 2, but the corresponding forward input was "
        "not a Variable",
    ),
    "short": (
        lambda g: (g[:1], None),
        "Function FBackward returned an invalid gradient at index 0 - got [1] but expected shape compatible with [2]",
    ),
    "scalar": (
        lambda g: (g.sum(), None),
        "Function FBackward returned an invalid gradient at index 0 - got [] but expected shape compatible with [2]",
    ),
    "matrix": (
        lambda g: (g.expand(3, 2).t(), None),
        "Function FBackward returned an invalid gradient at index 0 - got [2, 3] but expected shape compatible with [2]",
    ),
    "complex": (lambda g: (g * 1j, None), "Expected isFloatingType(grad.scalar_type()) || (input_is_complex =="),
}


@parity
@pytest.mark.parametrize("case", WRONG)
def test_gradients_that_do_not_fit(t, case):
    answer, wording = WRONG[case]
    raises(RuntimeError, wording, lambda: answering(t, answer).apply(leaf(t, 1, 2), 3).sum().backward())


@parity
def test_the_index_in_a_refusal_counts_tensors(t):
    def backward(ctx, g):
        return None, g, g.sum()

    f = function(t, lambda ctx, k, a, b: a * 2, backward)
    raises(
        RuntimeError, "invalid gradient at index 1", lambda: f.apply(1, leaf(t, 1, 2), leaf(t, 1, 2)).sum().backward()
    )
    f.apply(1, leaf(t, 1, 2), t.ones(2)).sum().backward()  # nobody wants that one


@parity
def test_no_gradient_at_all_is_an_unused_input(t):
    x = leaf(t, 1, 2)
    y = function(t, double, lambda ctx, g: None).apply(x)
    y.sum().backward()
    wording = "The differentiated Tensor at index 0 appears to not have been used in the graph"
    raises(RuntimeError, wording, lambda: t.autograd.grad(y.sum(), x))
    return x.grad, t.autograd.grad(y.sum(), x, materialize_grads=True)


@parity
def test_an_error_in_backward_comes_out_as_it_is(t):
    f = function(t, double, lambda ctx, g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        f.apply(leaf(t, 1)).backward()


@parity
def test_methods_that_are_missing(t):
    x = leaf(t, 1, 2)
    no_forward = "You must implement the forward function for custom autograd.Function."
    raises(NotImplementedError, no_forward, lambda: t.autograd.Function.apply(x))
    y = function(t, double).apply(x)
    no_backward = "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD."
    raises(NotImplementedError, no_backward, lambda: y.sum().backward())
    both = function(t, double, lambda ctx, g: g, vjp=lambda ctx, g: g)
    wording = "Implementing both 'backward' and 'vjp' for a custom Function is not allowed."
    raises(RuntimeError, wording, lambda: both.apply(x).sum().backward())
    return t.autograd.grad(function(t, double, vjp=lambda ctx, g: g * 7).apply(x).sum(), x)


@parity
def test_instances(t):
    f = function(t, double, lambda ctx, g: g)
    made = warns(DeprecationWarning, "should not be instantiated. Methods on autograd functions are all static", f)
    raises(
        RuntimeError, "Legacy autograd function with non-static forward method is deprecated", lambda: made(leaf(t, 1))
    )


# Marks


@parity
@pytest.mark.parametrize("materialize", [True, False])
def test_outputs_without_a_derivative(t, materialize):
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(materialize)
        y, z = x * 2, x * 3
        ctx.mark_non_differentiable(z, x)
        return y, z, x * 4, (x * 5).int()

    def backward(ctx, *g):
        seen.append(g)
        return g[0] * 2

    x = leaf(t, 1, 2)
    y = function(t, forward, backward).apply(x)
    return y, t.autograd.grad(y[0].sum(), x), seen


@parity
def test_an_input_without_a_derivative_returned_as_it_is(t):
    def forward(ctx, x):
        ctx.mark_non_differentiable(x)
        return x

    return function(t, forward, lambda ctx, g: g).apply(leaf(t, 1, 2) * 1)


@parity
def test_marks_take_tensors(t):
    def marking(mark):
        def forward(ctx, x):
            getattr(ctx, mark)(3)
            return x * 2

        return lambda: function(t, forward, lambda ctx, g: g).apply(leaf(t, 1, 2) * 1)

    raises(RuntimeError, "mark_dirty can only accept variables, but argument", marking("mark_dirty"))
    wording = "mark_non_differentiable only accepts variable arguments, but got"
    raises(RuntimeError, wording, marking("mark_non_differentiable"))


# Writes


def tripled(t):
    def forward(ctx, x):
        x.mul_(3)
        ctx.mark_dirty(x)
        return x

    return function(t, forward, lambda ctx, g: g * 3)


@parity
def test_a_write_to_an_input(t):
    x = leaf(t, 1, 2)
    h = x * 1
    y = tripled(t).apply(h)
    return y is h, h, h._version, t.autograd.grad((h * h).sum(), x)


@parity
def test_a_write_where_nothing_is_tracked(t):
    x = t.tensor([1.0, 2.0])
    y = tripled(t).apply(x)
    return y is x, x, x._version


@parity
def test_a_write_to_a_view_and_to_its_base(t):
    x = leaf(t, 1, 2)
    h = x * 1
    part = h[:1]
    y = tripled(t).apply(part)
    first = t.autograd.grad(h.sum(), x)
    h = x * 1
    part = h[:1]
    tripled(t).apply(h)
    return y is part, h, part, first, t.autograd.grad(part.sum(), x)


@parity
def test_a_write_among_several_outputs(t):
    def forward(ctx, a, b):
        a.mul_(b)
        ctx.mark_dirty(a)
        return a, b * 2

    f = function(t, forward, lambda ctx, g, h: (g * 5, h * 7))
    h, w = leaf(t, 1, 2).detach(), leaf(t, 2)
    y = f.apply(h, w)
    return y[0] is h, y, t.autograd.grad(h.sum() + y[1].sum(), w)


@parity
def test_writes_that_are_refused(t):
    wording = "a leaf Variable that requires grad has been used in an in-place operation."
    raises(RuntimeError, wording, lambda: tripled(t).apply(leaf(t, 1, 2)))

    def forward(ctx, x):
        x.mul_(3)
        ctx.mark_dirty(x)
        return x * 2

    wording = (
        "Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified "
        "inplace must all be outputs of the Function."
    )
    raises(RuntimeError, wording, lambda: function(t, forward, lambda ctx, g: g).apply(leaf(t, 1, 2) * 1))


@parity
def test_a_mark_on_what_is_no_input(t):
    def forward(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    wording = "ctx.mark_dirty() received a tensor that was not an input."
    f = function(t, forward, lambda ctx, g: g * 2)
    if t is torch:
        torch.set_warn_always(True)
    return warns(UserWarning, wording, lambda: f.apply(leaf(t, 1, 2)))


# Views


VIEW = (
    "Output {} of F is a view and is being modified inplace. This view was created inside a custom Function (or because an "
    "input was returned as-is)"
)


@parity
def test_an_input_returned_as_it_is(t):
    x = leaf(t, 1, 2)
    h = x * 1
    y = function(t, lambda ctx, a: a, lambda ctx, g: g * 10).apply(h)
    raises(RuntimeError, VIEW.format(0), lambda: y.mul_(2))
    same = y is h, y._is_view(), y._base is h, y.data_ptr() == h.data_ptr()
    constant = t.tensor([1.0])
    z = function(t, lambda ctx, a: a).apply(constant)
    z.mul_(2)
    return same, y, t.autograd.grad(y.sum(), x), z is constant, constant


@parity
def test_a_view_of_an_input(t):
    x = leaf(t, 1, 2)
    h = x * 1
    y = function(t, lambda ctx, a: a.view(2, 1), lambda ctx, g: g.view(2) * 10).apply(h)
    raises(RuntimeError, VIEW.format(0), lambda: y.mul_(2))
    return y, y._is_view(), t.autograd.grad(y.sum(), x)


@parity
def test_a_view_whose_base_is_written_has_no_derivative(t):
    h = leaf(t, 1, 2) * 1
    y = function(t, lambda ctx, a: a.view(2, 1), lambda ctx, g: g.view(2) * 10).apply(h)
    h.mul_(2)
    wording = "Output 0 of F is a view and its base or another view of its base has been modified inplace."
    raises(RuntimeError, wording, lambda: y.sum().backward())


# Derivatives of derivatives


def cube(t):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    return function(t, forward, lambda ctx, g: 3 * ctx.saved_tensors[0] ** 2 * g)


@parity
def test_three_times(t):
    x = leaf(t, 2, 3)
    y = cube(t).apply(x)
    found = []
    for _ in range(3):
        (y,) = t.autograd.grad(y.sum(), x, create_graph=True)
        found.append(y.detach())
    return found


@parity
def test_through_a_saved_output(t):
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    f = function(t, forward, lambda ctx, g: g * ctx.saved_tensors[0])
    x = leaf(t, 1, 2)
    (g,) = t.autograd.grad((f.apply(x) ** 2).sum(), x, create_graph=True)
    return t.autograd.grad(g.sum(), x)


@parity
def test_a_linear_function_has_a_constant_gradient(t):
    x = leaf(t, 1, 2)
    f = function(t, double, lambda ctx, g: g * 2)
    (g,) = t.autograd.grad(f.apply(x).sum(), x, create_graph=True)
    (h,) = t.autograd.grad((f.apply(x) ** 2).sum(), x, create_graph=True)
    raises(RuntimeError, "does not require grad and does not have a grad_fn", lambda: g.sum().backward())
    return g, t.autograd.grad(h.sum(), x)


@parity
def test_once_differentiable(t):
    once = module(t, "autograd.function").once_differentiable
    seen = []

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @once
    def backward(ctx, g):
        seen.append(t.is_grad_enabled())
        return 2 * ctx.saved_tensors[0] * g

    f = function(t, forward, backward)
    x = leaf(t, 1, 2)
    (g,) = t.autograd.grad((f.apply(x) ** 2).sum(), x, create_graph=True)
    wording = "trying to differentiate twice a function that was marked with @once_differentiable"
    raises(RuntimeError, wording, lambda: g.sum().backward())
    return t.autograd.grad(f.apply(x).sum(), x), g.requires_grad, seen


@parity
def test_backward_with_create_graph(t):
    x = leaf(t, 1, 2)
    cube(t).apply(x).sum().backward(create_graph=True)
    return x.grad.detach(), t.autograd.grad(x.grad.sum(), x)


# Hooks, edges, other ways to ask


@parity
def test_hooks_on_its_node(t):
    seen = []
    x = leaf(t, 1, 2)
    f = function(t, lambda ctx, x: (x * 2, x * 3), lambda ctx, g, h: g * 2 + h * 3)
    y, z = f.apply(x)
    y.register_hook(seen.append)
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append([inputs, outputs]))
    y.grad_fn.register_prehook(seen.append)
    return t.autograd.grad(y.sum() * 2 + z.sum(), x), seen


@parity
def test_gradients_of_its_outputs(t):
    x = leaf(t, 1, 2)
    y = cube(t).apply(x)
    y.retain_grad()
    y.backward(t.tensor([1.0, 10.0]))
    kept = y.grad
    y = cube(t).apply(x)
    edge = t.autograd.graph.get_gradient_edge(y)
    batched = t.autograd.grad(y, x, t.tensor([[1.0, 0.0], [0.0, 1.0]]), is_grads_batched=True)
    return kept, x.grad, edge.node is y.grad_fn, edge.output_nr, batched


# Transforms


def product(t, **members):
    """x * w and k times that, with all three rules."""

    def forward(x, w, k):
        return x * w, x * w * k

    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], inputs[1])
        ctx.save_for_forward(inputs[0], inputs[1])
        ctx.k = inputs[2]

    def backward(ctx, g, h):
        x, w = ctx.saved_tensors
        return (g + h * ctx.k) * w, (g + h * ctx.k) * x, None

    def jvp(ctx, moved, turned, _):
        x, w = ctx.saved_tensors
        tangent = moved * w + x * turned
        return tangent, tangent * ctx.k

    members = {"generate_vmap_rule": True, **members}
    return function(t, forward, backward, setup_context, jvp=jvp, **members)


TRANSFORMED = {
    "grad": lambda f, F, x, w: F.grad(lambda x, w: f(x, w).sum(), (0, 1))(x, w),
    "grad grad": lambda f, F, x, w: F.grad(lambda x: F.grad(lambda x: (f(x, x) * x).sum())(x).sum())(x),
    "vjp": lambda f, F, x, w: F.vjp(f, x, w)[1](x),
    "vmap": lambda f, F, x, w: F.vmap(f, (0, None))(x, w),
    "vmap of columns": lambda f, F, x, w: F.vmap(f, (1, 0), 1)(x, w),
    "vmap vmap": lambda f, F, x, w: F.vmap(F.vmap(f))(x, x),
    "vmap grad": lambda f, F, x, w: F.vmap(F.grad(lambda x, w: f(x, w).sum(), (0, 1)), (0, None))(x, w),
    "grad vmap": lambda f, F, x, w: F.grad(lambda x, w: (F.vmap(f, (0, None))(x, w) ** 2).sum(), (0, 1))(x, w),
    "jvp": lambda f, F, x, w: F.jvp(f, (x, w), (x, w)),
    "jvp of one": lambda f, F, x, w: F.jvp(lambda x: f(x, w), (x,), (x,)),
    "jvp grad": lambda f, F, x, w: F.jvp(F.grad(lambda x: (f(x, w) ** 2).sum()), (x,), (x,)),
    "grad jvp": lambda f, F, x, w: F.grad(lambda x: (F.jvp(lambda x: f(x, x) * x, (x,), (x,))[1]).sum())(x),
    "jacrev": lambda f, F, x, w: F.jacrev(f, (0, 1))(x, w),
}


@parity
@pytest.mark.parametrize("case", TRANSFORMED)
def test_transforms(t, case):
    x = t.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=t.float64)
    w = t.tensor([0.5, -1.5], dtype=t.float64)
    f = product(t)
    return TRANSFORMED[case](lambda x, w: f.apply(x, w, 3.0)[1], module(t, "func"), x, w)


@parity
def test_transforms_leave_the_tape_beneath(t):
    w = leaf(t, 0.5, -1.5)
    x = t.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    f = product(t)
    y = module(t, "func").vmap(lambda x, w: f.apply(x, w, 3.0)[1], (0, None))(x, w)
    return y.detach(), y.requires_grad, t.autograd.grad((y**2).sum(), w)


@parity
def test_a_vmap_of_ones_own(t):
    seen = []

    def vmap(info, in_dims, x, w, k):
        seen.append([info.batch_size, info.randomness, in_dims, x, w, k])
        y = x * w
        return (y, (y * k).t()), (0, 1)

    f = product(t, generate_vmap_rule=False, vmap=vmap)
    x = t.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    w = t.tensor([0.5, -1.5])
    return module(t, "func").vmap(lambda x, w: f.apply(x, w, 3.0), (0, None))(x, w), seen


@parity
def test_missing_rules_of_a_transform(t):
    F = module(t, "func")
    x = t.tensor([1.0, 2.0])
    old = function(t, double, lambda ctx, g: g * 2)
    wording = (
        "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override the "
        "setup_context staticmethod."
    )
    for call in (
        lambda: F.grad(lambda x: old.apply(x).sum())(x),
        lambda: F.vmap(old.apply)(x),
        lambda: F.jvp(old.apply, (x,), (x,)),
    ):
        raises(RuntimeError, wording, call)
    bare = function(t, lambda x: x * 2, lambda ctx, g: g * 2, lambda ctx, inputs, output: None)
    wording = (
        "You tried to vmap over F, but it does not have vmap support. Please override and implement the vmap staticmethod or "
        "set generate_vmap_rule=True."
    )
    raises(RuntimeError, wording, lambda: F.vmap(bare.apply)(x))
    wording = "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
    raises(NotImplementedError, wording, lambda: F.jvp(bare.apply, (x,), (x,)))
    both = product(t, vmap=lambda info, in_dims, *args: None)
    wording = "You tried to vmap over F, but it has both generate_vmap_rule=True and an overridden vmap staticmethod."
    raises(RuntimeError, wording, lambda: F.vmap(lambda x: both.apply(x, x, 1.0))(x))


@parity
@pytest.mark.parametrize(
    ("answer", "wording"),
    [
        (lambda x: None, "Expected the vmap staticmethod to have two returns"),
        (lambda x: (x, 0, 0), "Got 3 returns instead"),
        (
            lambda x: (x, (0, 0)),
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims)",
        ),
    ],
)
def test_wrong_answers_of_a_vmap(t, answer, wording):
    def context(ctx, inputs, output):
        pass

    f = function(t, lambda x: x * 2, None, context, vmap=lambda info, in_dims, x: answer(x))
    raises(RuntimeError, wording, lambda: module(t, "func").vmap(f.apply)(t.tensor([1.0, 2.0])))


@parity
def test_a_write_under_transforms(t):
    def forward(x):
        x.mul_(2)
        return x

    def setup_context(ctx, inputs, output):
        ctx.mark_dirty(inputs[0])

    def jvp(ctx, tangent):
        return tangent.mul_(2)

    f = function(t, forward, lambda ctx, g: g * 2, setup_context, jvp=jvp)
    F = module(t, "func")

    def square(x):
        y = x.clone()
        f.apply(y)
        return (y * y).sum()

    x = t.tensor([1.0, 2.0])
    return F.grad(square)(x), F.jvp(square, (x,), (x,)), x


# Forward mode


@parity
def test_dual_tensors(t):
    forward_ad = module(t, "autograd.forward_ad")
    seen = []

    def forward(ctx, x, w, k):
        ctx.save_for_forward(x, w)
        return x * w, 3, (x * 2).int(), x * 1

    def jvp(ctx, *tangents):
        seen.append([tangents, ctx.saved_tensors, ctx.saved_for_forward, t.is_grad_enabled()])
        return tangents[0] * ctx.saved_tensors[1], None, None, tangents[0]

    f = function(t, forward, lambda ctx, *g: (g[0], None, None), jvp=jvp)
    w = leaf(t, 3, 4)
    with forward_ad.dual_level():
        x = forward_ad.make_dual(t.tensor([1.0, 2.0]), t.tensor([1.0, 10.0]))
        y = f.apply(x, w, 7)
        tangents = [forward_ad.unpack_dual(y[place]).tangent for place in (0, 2, 3)]
    return tangents, seen, t.autograd.grad(tangents[0].sum(), w)


TANGENTS = {
    "too few": (lambda m: m, "Function's jvp returned an invalid number of forward gradients (expected 3 but got 1)"),
    "too many": (
        lambda m: (m,) * 4,
        "Function's jvp returned an invalid number of forward gradients (expected 3 but got 4)",
    ),
    "float": (lambda m: (1.0, None, None), "expected Variable or None (got float) for grad output 0."),
    "shape": (
        lambda m: (m[:1], None, None),
        "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported.",
    ),
    "integers": (
        lambda m: (m, None, m),
        "Function's jvp returned a gradient at position 2, but  the corresponding forward output is not a differentiable "
        "Tensor.You should return None at that position instead.",
    ),
}


@parity
@pytest.mark.parametrize("case", TANGENTS)
def test_wrong_tangents(t, case):
    answer, wording = TANGENTS[case]
    forward_ad = module(t, "autograd.forward_ad")
    f = function(t, lambda ctx, x: (x * 2, 3, (x * 2).int()), jvp=lambda ctx, moved: answer(moved))
    with forward_ad.dual_level():
        x = forward_ad.make_dual(t.tensor([1.0, 2.0]), t.tensor([1.0, 10.0]))
        raises(RuntimeError, wording, lambda: f.apply(x))


@parity
def test_the_save_for_forward_of_no_tensor(t):
    def forward(ctx, x):
        ctx.save_for_forward(3)
        return x * 2

    with pytest.raises(AssertionError, match="save_for_forward expects all arguments to be tensors"):
        function(t, forward).apply(leaf(t, 1))


@parity
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_checks_pass(t, dtype):
    x = t.tensor(np.array([1.5, -0.5]), dtype=getattr(t, dtype), requires_grad=True)
    (g,) = t.autograd.grad(cube(t).apply(x).sum().abs(), x)
    return g


@parity
def test_one_tensor_as_two_outputs_is_one_tensor(t):
    def forward(ctx, x):
        y = x * 2
        return y, y

    x = leaf(t, 1, 2)
    a, b = function(t, forward, lambda ctx, g, h: g * 2 + h * 3).apply(x)
    (a + 5 * b).sum().backward()
    return a is b, a.output_nr, x.grad


@parity
def test_a_backward_that_passes_its_gradient_through_such_a_function(t):
    class Through(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return Through.apply(g) * 2

    x = leaf(t, 1, 2)
    (g,) = t.autograd.grad((Through.apply(x) ** 3).sum(), x, create_graph=True)
    return g.detach(), t.autograd.grad(g.sum(), x)


@parity
def test_saved_variables_warns(t):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx, g):
        with pytest.warns(DeprecationWarning, match="'saved_variables' is deprecated; use 'saved_tensors'"):
            (x,) = ctx.saved_variables
        return 2 * x * g

    x = leaf(t, 1, 2)
    return t.autograd.grad(function(t, forward, backward).apply(x).sum(), x)


@parity
def test_inplace_function_is_a_function(t):
    InplaceFunction = module(t, "autograd.function").InplaceFunction

    class Step(InplaceFunction):
        @staticmethod
        def forward(ctx, x):
            return x.round()

        @staticmethod
        def backward(ctx, g):
            return g

    x = leaf(t, 1.2, 2.7)
    return t.autograd.grad(Step.apply(x).sum(), x)


@parity
def test_a_tolerance_for_chance_holds_for_both_derivatives(t):
    class Shaken(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, size):
            ctx.size = size
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return Shaken.apply(g, ctx.size) * (1 + t.rand_like(g) * ctx.size), None

    x = leaf(t, 1, 2, dtype="float64")
    check = t.autograd.gradgradcheck
    with pytest.raises(RuntimeError, match="Backward is not reentrant"):
        check(lambda x: Shaken.apply(x, 1e-12), x)
    return check(lambda x: Shaken.apply(x, 1e-12), x, nondet_tol=1e-5)
