"""Leaves and flags: what a tensor keeps when it stops and starts to require grad, and when its history is cut."""

import copy

import numpy as np
import pytest

import pullback
from pullback._core.sites import describe


def test_a_leaf_that_is_switched_off_and_on_is_the_same_leaf():
    x = pullback.tensor([5.0, 7.0], requires_grad=True)
    y = (x * x).sum()
    x.requires_grad_(False)
    y.backward(retain_graph=True)
    assert x.grad is None
    x.requires_grad_(True)
    y.backward()
    np.testing.assert_array_equal(x.grad.numpy(), [10, 14])
    np.testing.assert_array_equal(copy.deepcopy(x).grad.numpy(), [10, 14])


def test_a_leaf_written_while_it_is_off_differentiates_at_its_new_value():
    x = pullback.tensor([5.0, 7.0], requires_grad=True)
    x.requires_grad = False
    x.mul_(2)
    x.requires_grad = True
    (x * x).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [20, 28])
    assert x.grad_fn is None
    np.testing.assert_array_equal((x * 1).grad_fn.next_functions[0][0].variable.detach().numpy(), [10, 14])


def test_a_leaf_that_becomes_a_result_has_no_gradient_of_its_own():
    x = pullback.tensor([5.0, 7.0], requires_grad=True)
    (x * x).sum().backward()
    w = pullback.tensor(3.0, requires_grad=True)
    x.requires_grad = False
    x[0] = w
    assert not x.is_leaf
    with pytest.warns(UserWarning, match="not a leaf Tensor"):
        assert x.grad is None


def test_a_write_without_a_derivative_cuts_the_history():
    x = pullback.tensor([5.0, 7.0], requires_grad=True)
    y = x * 2
    view = y[:1]
    y //= 4
    assert not y.requires_grad
    assert not view.requires_grad
    with pytest.raises(RuntimeError, match="floor_divide"):
        y.sum().backward()
    assert x.grad is None


def test_what_a_node_kept_of_several_inputs_and_outputs():
    x, y = pullback.eye(2, requires_grad=True), pullback.ones(2, 2, requires_grad=True)
    kept = pullback.einsum("ij,jk->ik", x, 2 * y).grad_fn._saved_arrays
    assert [value.tolist() for value in kept] == [x.tolist(), [[2.0, 2.0], [2.0, 2.0]]]
    sign, logarithm = pullback.linalg.slogdet(x)
    node = (logarithm + sign).grad_fn.next_functions[0][0]
    assert node.name() == "LinalgSlogdetBackward0"
    assert node._saved_self is x


def test_what_a_node_kept_is_listed_and_nothing_else_is_there():
    x = pullback.ones(2, requires_grad=True)
    power, total = (x**3).grad_fn, x.sum(0).grad_fn
    assert {"_saved_self", "_raw_saved_self", "_saved_exponent"} <= {*dir(power)}
    assert (power._saved_exponent, total._saved_axis, total._saved_keepdims) == (3, (0,), False)
    for node in (power, total, x.grad_fn or (x * 1).grad_fn.next_functions[0][0]):
        with pytest.raises(AttributeError, match="has no attribute '_saved_other'"):
            _ = node._saved_other


def line(node):
    return describe(node.site)


def test_lines_of_what_a_recorded_pass_leaves():
    """Each operation of a pass is the line's that asked for the pass, and a hook's own operations are the hook's line's."""
    x = pullback.ones(2, requires_grad=True)
    (g,) = pullback.autograd.grad((x.tanh() * x).sum(), x, create_graph=True)  # ASKS
    seen, waiting = set(), [g.grad_fn]
    while waiting:
        node = waiting.pop()
        seen.add(line(node)[-6:])
        waiting += [edge for edge, _ in node.next_functions if edge is not None and edge.next_functions]
    assert "# ASKS" in line(g.grad_fn)
    assert len(seen) == 1
    y = x * 2
    y.register_hook(lambda g: pullback.add(g, g * 3))  # HOOKS
    (g,) = pullback.autograd.grad((y * y).sum(), x, create_graph=True)  # ASKS AGAIN
    assert line(g.grad_fn).endswith("# ASKS AGAIN")
    assert line(g.grad_fn.next_functions[0][0]).endswith("# HOOKS")


VIEWS = {
    "t": lambda x: x.t(),
    "index": lambda x: x[0],
    "slice": lambda x: x[:, ::2],
    "view": lambda x: x.view(12),
    "reshape": lambda x: x.reshape(12),
    "expand": lambda x: x.expand(2, 3, 4),
    "unbind": lambda x: x.unbind()[0],
    "split": lambda x: x.split(1)[0],
    "diagonal": lambda x: x.diagonal(),
    "unfold": lambda x: x.unfold(0, 2, 1),
    "as_strided": lambda x: x.as_strided((2,), (1,)),
    "view of a view": lambda x: x.t()[0],
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_made_under_no_grad_tells_whether_its_base_requires_grad(name):
    """As in torch 2.13: it requires grad as its base does, is a leaf, and what is computed from it is not recorded."""
    leaf = pullback.ones(3, 4, requires_grad=True)
    for base, wanted in [(leaf, True), (leaf * 2, True), (pullback.ones(3, 4), False), (leaf.detach(), False)]:
        with pullback.no_grad():
            view = VIEWS[name](base)
            assert (view.requires_grad, view.is_leaf, view.grad_fn) == (wanted, True, None)
            assert not (view * 2).requires_grad
        assert not (view * 2).requires_grad
        assert not view.requires_grad_(False).requires_grad or wanted
        assert ("requires_grad=True" in repr(view)) == wanted
        assert copy.deepcopy(view).requires_grad == wanted


def test_a_view_made_under_no_grad_follows_its_base():
    base = pullback.ones(3)
    with pullback.no_grad():
        view, copied = base[:2], pullback.ones(3, requires_grad=True)[[0, 1]]
    assert not view.requires_grad and not copied.requires_grad
    base.requires_grad_()
    assert view.requires_grad
    view.retain_grad()
    assert not view.retains_grad


TRACKED_WRITES = {
    "in place": lambda view, w: view.mul_(w),
    "an element": lambda view, w: view.__setitem__(0, w[0]),
    "out": lambda view, w: view.copy_(w),
    "requires grad itself": lambda view, w: view.requires_grad_().add_(1),
}


@pytest.mark.parametrize("name", TRACKED_WRITES)
def test_a_view_made_under_no_grad_is_not_written_by_what_is_tracked(name):
    base, w = pullback.ones(3, 2), pullback.ones(2, requires_grad=True)
    with pullback.no_grad():
        view = base[0]
    view.mul_(2)
    view[1] = 5.0
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being modified inplace"):
        TRACKED_WRITES[name](view, w)
    assert base.tolist() == [[2.0, 5.0], [1.0, 1.0], [1.0, 1.0]]
    assert base._version == 2


@pytest.mark.parametrize("made", [lambda w: pullback.ones(3, 2), lambda w: w * pullback.ones(3, 1)])
def test_a_view_made_under_no_grad_has_no_gradient_after_its_base_was_written_by_what_is_tracked(made):
    w = pullback.ones(2, requires_grad=True)
    base = made(w)
    with pullback.no_grad():
        view = base[0]
    base.mul_(w)
    loss = (view * base).sum()
    with pytest.raises(RuntimeError, match="no_grad mode and its base or another view of its base has been modified"):
        loss.backward()
    assert w.grad is None


@pytest.mark.parametrize(
    "total", [lambda v: v.sum(), lambda v: v.mean() * 3, lambda v: v.t().sum(), lambda v: v.reshape(-1).sum()]
)
def test_a_gradient_with_a_history_has_memory_of_its_own(total):
    v = pullback.tensor([1.0, 2.0, 3.0], requires_grad=True)
    total(v).backward(create_graph=True)
    (v * v).sum().backward()
    assert v.grad.tolist() == [3, 5, 7]
    v.grad = None
    total(v).backward(create_graph=True)
    v.grad.mul_(2)
    assert v.grad.tolist() == [2, 2, 2]


def test_a_gradient_with_a_history_is_no_view_of_what_was_given():
    given, x = pullback.ones(2, 3), pullback.ones(3, 2, requires_grad=True)
    x.t().backward(given, create_graph=True)
    x.sum().backward()
    assert x.grad.tolist() == [[2, 2]] * 3
    assert given.tolist() == [[1] * 3] * 2
