"""Hooks on the node at which a leaf's gradient is added."""

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
