"""Hooks on the node at which a leaf's gradient is added."""

import pytest

import pullback


def test_hooks_of_a_leafs_node_run_after_its_gradient_is_added():
    x = pullback.ones(2, requires_grad=True)
    node = x.view_as(x).grad_fn.next_functions[0][0]
    order = []
    x.register_post_accumulate_grad_hook(lambda leaf: order.append(("leaf", leaf.grad.tolist())))
    handle = node.register_hook(lambda inputs, outputs: order.append((inputs, outputs[0].tolist(), x.grad.tolist())))
    (3 * x).sum().backward()
    (3 * x).sum().backward()
    assert order == [("leaf", [3, 3]), ((), [3, 3], [3, 3]), ("leaf", [6, 6]), ((), [3, 3], [6, 6])]
    handle.remove()
    (3 * x).sum().backward()
    assert order[4:] == [("leaf", [9, 9])]


def test_hooks_of_a_leafs_node_do_not_run_without_accumulation():
    x = pullback.ones(2, requires_grad=True)
    node = x.view_as(x).grad_fn.next_functions[0][0]
    seen = []
    node.register_hook(lambda inputs, outputs: seen.append(outputs))
    pullback.autograd.grad((3 * x).sum(), x)
    assert seen == []


@pytest.mark.parametrize("through", ["grad", "grad of both", "backward", "backward to inputs"])
def test_hooks_before_a_node_see_only_what_enters_it(through):
    """As in torch 2.13: a gradient that is asked for is the one before them, and a node that does not run has none."""
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    loss = (y * y).sum()
    seen = []
    y.grad_fn.register_prehook(lambda gs: (seen.append("y"), (gs[0] * 10,))[1])
    leaf = y.grad_fn.next_functions[0][0]
    leaf.register_prehook(lambda gs: (seen.append("x"), (gs[0] + 1,))[1])
    if through == "grad":
        assert pullback.autograd.grad(loss, y)[0].tolist() == [6.0, 12.0]
        assert seen == []
    elif through == "grad of both":
        found = pullback.autograd.grad(loss, [x, y])
        assert [g.tolist() for g in found] == [[180.0, 360.0], [6.0, 12.0]]
        assert seen == ["y"]
    else:
        loss.backward(inputs=[x] if "inputs" in through else None)
        assert x.grad.tolist() == [181.0, 361.0]
        assert seen == ["y", "x"]


def test_an_error_in_a_hook_before_a_leaf_changes_no_gradient():
    x, w = (pullback.ones(2, requires_grad=True) for _ in range(2))
    x.view_as(x).grad_fn.next_functions[0][0].register_prehook(lambda gs: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        (x * w).sum().backward()
    assert x.grad is w.grad is None
