"""Hooks on tensors, leaves, nodes and groups of tensors."""

import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

from .compare import leaf, parity, raises  # noqa: E402

NO_HOOK = "cannot register a hook on a tensor that doesn't require gradient"


@parity
def test_a_hook_sees_the_gradient(t):
    x = leaf(t, 1, 2)
    y = x * 2
    seen = []
    x.register_hook(seen.append)
    y.register_hook(seen.append)
    (y * y).sum().backward()
    return seen, x.grad


@parity
def test_a_hook_may_replace_the_gradient(t):
    x = leaf(t, 1, 2)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g + 1)
    y.sum().backward(retain_graph=True)
    return x.grad, t.autograd.grad(y.sum(), x)


@parity
def test_hooks_run_in_order(t):
    x = leaf(t, 1, 2)
    x.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: None)
    x.sum().backward()
    return x.grad


@parity
def test_a_hook_sees_the_whole_gradient_once(t):
    x = leaf(t, 1, 2)
    y = x * 2
    seen = []
    y.register_hook(seen.append)
    (y * 3 + y.exp() * 0 + y).sum().backward()
    return seen


@parity
def test_a_hook_can_be_removed(t):
    x = leaf(t, 1, 2)
    handle = x.register_hook(lambda g: g * 10)
    x.sum().backward()
    handle.remove()
    handle.remove()
    x.sum().backward()
    with x.register_hook(lambda g: g * 100):
        x.sum().backward()
    x.sum().backward()
    return x.grad


@parity
def test_hooks_run_for_grad_too(t):
    x = leaf(t, 1, 2)
    seen = []
    x.register_hook(seen.append)
    gradient = t.autograd.grad((x * 3).sum(), x)
    return seen, gradient, x.grad


@parity
def test_a_hook_runs_only_if_its_gradient_is_needed(t):
    x, y = leaf(t, 1, 2), leaf(t, 3, 4)
    seen = []
    x.register_hook(lambda g: seen.append("x"))
    y.register_hook(lambda g: seen.append("y"))
    t.autograd.grad((x * y).sum(), x)
    return seen


@parity
def test_hooks_that_cannot_be_registered(t):
    raises(RuntimeError, NO_HOOK, lambda: t.ones(2).register_hook(print))
    raises(RuntimeError, NO_HOOK, lambda: t.ones(2).register_post_accumulate_grad_hook(print))
    wording = "post accumulate grad hooks cannot be registered on non-leaf tensors"
    raises(RuntimeError, wording, lambda: (leaf(t, 1) * 2).register_post_accumulate_grad_hook(print))
    return 0


@pytest.mark.parametrize(
    ("result", "error", "wording"),
    [
        (lambda t: 3, TypeError, "expected Variable, but hook returned 'int'"),
        (lambda t: t.ones(3), RuntimeError, "has changed the size of value"),
        (lambda t: t.ones(2, dtype=t.float64), RuntimeError, "has changed the type of value"),
    ],
)
@parity
def test_results_that_hooks_must_not_return(t, result, error, wording):
    x = leaf(t, 1, 2)
    y = x * 2
    y.register_hook(lambda g: result(t))
    raises(error, wording, y.sum().backward)
    return x.grad


@parity
def test_a_hook_that_is_not_callable(t):
    x = leaf(t, 1, 2)
    raises(TypeError, "'int' object is not callable", lambda: (x.register_hook(3), x.sum().backward()))
    return x.grad


@parity
def test_a_hook_stays_with_the_value_before_a_write(t):
    x = leaf(t, 1, 2)
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append(("before", g.tolist())))
    y.mul_(3)
    y.register_hook(lambda g: seen.append(("after", g.tolist())))
    y.sum().backward()
    return seen, x.grad


@parity
def test_the_order_of_hooks_on_a_result(t):
    x = leaf(t, 1, 2)
    y = x * 2
    seen = []
    y.retain_grad()
    y.register_hook(lambda g: (seen.append("tensor"), g * 2)[1])
    y.register_hook(lambda g: (seen.append("tensor again"), g * 5)[1])
    y.grad_fn.register_prehook(lambda gs: seen.append(("prehook", gs[0].tolist())))
    y.grad_fn.register_hook(lambda ins, outs: seen.append(("hook", ins[0].tolist(), outs[0].tolist())))
    x.register_hook(lambda g: seen.append("leaf"))
    x.register_post_accumulate_grad_hook(lambda p: seen.append(("post", p.grad.tolist())))
    y.sum().backward()
    return seen, y.grad, x.grad


@parity
def test_post_accumulate_hooks(t):
    x = leaf(t, 1, 2)
    seen = []
    x.register_post_accumulate_grad_hook(lambda p: seen.append((p is x, p.grad.tolist())))
    y = (x * x).sum()
    y.backward(retain_graph=True)
    t.autograd.grad(y, x, retain_graph=True)
    y.backward()
    return seen, x.grad


@parity
def test_an_optimizer_in_the_pass(t):
    x = leaf(t, 1, 2)

    def step(p):
        with t.no_grad():
            p -= 0.1 * p.grad
        p.grad = None

    handle = x.register_post_accumulate_grad_hook(step)
    (x * x).sum().backward()
    handle.remove()
    return x, x.grad


@pytest.mark.parametrize("create_graph", [False, True])
@parity
def test_grad_mode_inside_a_hook_is_create_graph(t, create_graph):
    x = leaf(t, 1, 2)
    seen = []
    x.register_hook(lambda g: seen.append((t.is_grad_enabled(), g.requires_grad)))
    (x * x).sum().backward(create_graph=create_graph)
    return seen


@parity
def test_a_hook_can_be_differentiated_through(t):
    x = leaf(t, 1, 2)
    x.register_hook(lambda g: g * x)
    (g,) = t.autograd.grad((x * x).sum(), x, create_graph=True)
    return g.detach()


@parity
def test_a_pass_inside_a_hook(t):
    x, w = leaf(t, 1, 2), leaf(t, 3, 4)

    def hook(g):
        with t.enable_grad():
            (w * w).sum().backward()
        return g * w.grad

    x.register_hook(hook)
    (x * 2).sum().backward()
    return x.grad, w.grad


@parity
def test_a_node_prehook_replaces_what_comes_in(t):
    x = leaf(t, 1, 2)
    y = x * 2
    handle = y.grad_fn.register_prehook(lambda gs: (gs[0] * 10,))
    y.sum().backward(retain_graph=True)
    first = x.grad.clone()
    handle.remove()
    y.sum().backward()
    return first, x.grad


@parity
def test_a_node_hook_replaces_what_goes_out(t):
    x, w = leaf(t, 1, 2), leaf(t, 3, 4)
    y = x * w
    y.grad_fn.register_hook(lambda ins, outs: (ins[0] * 10, ins[1] + outs[0]))
    y.sum().backward()
    return x.grad, w.grad


@parity
def test_what_node_hooks_must_not_return(t):
    def spoiled(register, hook):
        x, w = leaf(t, 1, 2), leaf(t, 3, 4)
        y = x * w
        getattr(y.grad_fn, register)(hook)
        return y.sum().backward

    raises(TypeError, "expected tuple, but hook returned 'int'", spoiled("register_prehook", lambda gs: 3))
    raises(TypeError, "expected tuple, but hook returned 'Tensor'", spoiled("register_hook", lambda i, o: i[0]))
    wording = "has returned an incorrect number of values (got 1, but expected 2)"
    raises(RuntimeError, wording, spoiled("register_hook", lambda i, o: (i[0],)))
    return 0


@parity
def test_a_hook_on_a_multi_output_node(t):
    x = leaf(t, 1, 2, 3)
    a, b, _ = x.unbind()
    seen = []
    a.grad_fn.register_prehook(lambda gs: seen.append([g is None or g.tolist() for g in gs]))
    (a * 2 + b * 3).backward()
    return x.grad, len(seen)


@parity
def test_a_multi_grad_hook_for_all(t):
    x, y, z = leaf(t, 1, 2), leaf(t, 3, 4), leaf(t, 5, 6)
    seen = []
    handle = t.autograd.graph.register_multi_grad_hook(
        [x, y, z], lambda gs: seen.append([g and g.sum().item() if g is None else g.tolist() for g in gs])
    )
    (x * y).sum().backward()
    (x * z).sum().backward()
    handle.remove()
    (x * y).sum().backward()
    return seen, x.grad


@parity
def test_a_multi_grad_hook_for_any(t):
    x, y = leaf(t, 1, 2), leaf(t, 3, 4)
    seen = []
    t.autograd.graph.register_multi_grad_hook([x, y], lambda g: seen.append(g.sum().item()), mode="any")
    (x * 5).sum().backward()
    (y * 7).sum().backward()
    (x * 2 + y * 2).sum().backward()
    return seen


@parity
def test_refused_multi_grad_hooks(t):
    hook = t.autograd.graph.register_multi_grad_hook
    raises(
        ValueError, "Expects mode to be one of ('all', 'any') but got x", lambda: hook([leaf(t, 1)], print, mode="x")
    )
    raises(AssertionError, "Expected gradient function to be set", lambda: hook([t.ones(2)], print))
    return 0


@parity
def test_a_root_has_hooks_too(t):
    x = leaf(t, 1, 2)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    y.backward(t.ones(2))
    x.register_hook(lambda g: g * 3)
    x.backward(t.ones(2))
    return x.grad
