"""Writes: to tensors, through views and aliases, and what graphs make of them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

import pullback  # noqa: E402

from .compare import describe, leaf, parity, raises, same  # noqa: E402

LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
LEAF_VIEW = "a view of a leaf Variable that requires grad is being used in an in-place operation."


WRITES = {
    "add_": lambda h, t: h.add_(2),
    "sub_": lambda h, t: h.sub_(t.tensor([1.0, 2.0])),
    "mul_": lambda h, t: h.mul_(3),
    "div_": lambda h, t: h.div_(2),
    "pow_": lambda h, t: h.pow_(2),
    "neg_": lambda h, t: h.neg_(),
    "exp_": lambda h, t: h.exp_(),
    "log_": lambda h, t: h.log_(),
    "sqrt_": lambda h, t: h.sqrt_(),
    "abs_": lambda h, t: h.abs_(),
    "sin_": lambda h, t: h.sin_(),
    "cos_": lambda h, t: h.cos_(),
    "tanh_": lambda h, t: h.tanh_(),
    "sigmoid_": lambda h, t: h.sigmoid_(),
    "relu_": lambda h, t: h.relu_(),
    "clamp_": lambda h, t: h.clamp_(0, 3),
    "zero_": lambda h, t: h.zero_(),
    "fill_": lambda h, t: h.fill_(3),
    "copy_": lambda h, t: h.copy_(t.tensor([5.0, 6.0])),
}


@pytest.mark.parametrize("name", WRITES)
@parity
def test_a_write_to_a_result_becomes_its_history(t, name):
    x = leaf(t, 1, 2)
    h = x * 2
    same_object = WRITES[name](h, t) is h
    h.sum().backward()
    return same_object, h, h._version, x.grad, h.grad_fn.next_functions[0][0]


@pytest.mark.parametrize("name", WRITES)
@parity
def test_a_leaf_that_requires_grad_is_not_written(t, name):
    x = leaf(t, 1, 2)
    raises(RuntimeError, LEAF, lambda: WRITES[name](x, t))
    raises(RuntimeError, LEAF_VIEW, lambda: WRITES[name](x[:], t))
    untouched = x.detach().clone()
    with t.no_grad():
        WRITES[name](x, t)
    return untouched, x, x._version


@pytest.mark.parametrize("symbol", ["+=", "-=", "*=", "/=", "**="])
@parity
def test_augmented_assignment(t, symbol):
    x, y = leaf(t, 1, 2), leaf(t, 3, 4)
    h = x * 2
    names = {"h": h, "y": y}
    exec(f"h {symbol} y", names)
    h.sum().backward()
    return names["h"] is h, h, x.grad, y.grad, h._version


@parity
def test_assignment_to_a_leaf(t):
    x = leaf(t, 1, 2)
    raises(RuntimeError, LEAF_VIEW, lambda: x.__setitem__(0, 5.0))
    raises(RuntimeError, LEAF_VIEW, lambda: x.view(2, 1).mul_(2))
    with t.no_grad():
        x[0] = 5.0
    (x * x).sum().backward()
    return x, x._version, x.grad


@pytest.mark.parametrize(
    "index",
    [
        0, -1, slice(1, 3), slice(None, None, 2), Ellipsis, (slice(None), 1), (Ellipsis, 0), (None, 1), (1, slice(0, 2)),
        [0, 2], [2, 0], (0, 2), ([0, 1], [1, 2]), ([0, 1], slice(1, None)), (slice(None), [0, 2]),
    ],
    ids=str,
)  # fmt: skip
@parity
def test_assignment_through_an_index(t, index):
    x, value = t.arange(9.0).reshape(3, 3).requires_grad_(), t.tensor(10.0, requires_grad=True)
    y = x * 2
    y[index] = value * value
    (y * t.arange(9.0).reshape(3, 3)).sum().backward()
    return y.detach(), y.requires_grad, y._version, x.grad, value.grad


@pytest.mark.parametrize(
    "index",
    [(..., 0, ...), (0, ..., ...), (..., ...), (0, ..., 0, ..., 0), (0, 1, ..., 0, ...), (..., None, ...)],
    ids=str,
)
@parity
def test_a_second_ellipsis_stands_for_nothing(t, index):
    x = t.arange(24.0).reshape(2, 3, 4)
    y = x.clone()
    y[index] = -1.0
    return x[index], y, x[..., t.tensor([0, 2]), ...]


@parity
def test_axes_that_are_turned_in_place_make_no_view(t):
    x = t.arange(6.0).reshape(2, 3).requires_grad_()
    turned = x * 2
    turned.t_()
    first = turned._base, turned.shape
    row = turned[0]
    row.mul_(2)
    seen = row._base is turned
    del row
    turned.unsqueeze_(0).squeeze_()
    (turned * turned).sum().backward()
    turned.detach_()
    under = x * 3
    column = under[:, 0]
    under.transpose_(0, 1)
    under[0] = 5.0
    return first, seen, turned, x.grad, under.detach(), column


@parity
def test_a_write_to_a_base_that_has_lost_its_history(t):
    """Its views have the values of the write, and no gradient of what was there before."""
    x, y = leaf(t, 1, 2), leaf(t, 3, 4)
    h = x * 2
    view = h[:]
    h.detach_()
    h.mul_(3)
    (view * y).sum().backward()
    return h, view.detach(), x.grad, y.grad


@parity
def test_a_slope_of_what_is_not_a_number(t):
    x = t.tensor([float("nan"), 0.05, 0.5], requires_grad=True)
    x.logit(0.1).sum().backward()
    return x.grad


@parity
def test_complex_numbers_are_copied_to_real_ones(t):
    """The index of a copy: what is written through arrays is refused."""
    x = t.zeros(2, 2)
    x[0] = t.tensor(2 + 1j)
    x[1, 1:] = t.tensor([3 + 1j])
    return x, t.zeros(2).fill_(t.tensor(4 + 1j))


@pytest.mark.parametrize("mask", ["y > 5", "y > 100", "y > -1", "(y > 5)[:, 0]"])
@parity
def test_assignment_through_a_mask(t, mask):
    x, value = t.arange(9.0).reshape(3, 3).requires_grad_(), t.tensor(10.0, requires_grad=True)
    y = x * 2
    y[eval(mask)] = value * 3
    (y * y).sum().backward()
    return y, x.grad, value.grad


@parity
def test_assignment_of_rows_and_of_constants(t):
    x, row = t.ones(3, 2, requires_grad=True), leaf(t, 5, 6)
    y = x * 2
    y[1] = row
    y[2, 1] = 7
    y[0] = t.tensor([1, 2])
    y.sum().backward()
    return y, x.grad, row.grad


@parity
def test_a_buffer_becomes_tracked_when_it_is_filled(t):
    x = leaf(t, 1, 2, 3)
    y = t.empty(3)
    before = y.requires_grad, y.is_leaf
    for i in range(3):
        y[i] = x[i] ** (i + 1)
    y.sum().backward()
    return before, y, x.grad, y._version


@parity
def test_a_seed_fills_outputs_one_by_one(t):
    x = leaf(t, 2, 3)
    y = t.zeros(2)
    y[0] = 3 * x[0] ** 2
    y[1] = x[0] * x[1]
    y.backward(t.tensor([1.0, 10.0]))
    return y, x.grad


@parity
def test_a_write_through_a_view_reaches_the_base(t):
    x = leaf(t, 1, 2, 3, 4)
    y = x * 2
    view = y[1:3]
    view.mul_(10)
    (y * y).sum().backward()
    return y, view.detach(), view.requires_grad, view.grad_fn, y._version, view._version, x.grad


@parity
def test_a_write_through_a_view_of_a_view(t):
    x = t.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 2
    y.t()[1:].view(2, 2)[0].mul_(10) if y.t()[1:].is_contiguous() else y.t()[1:][0].mul_(10)
    y.unsqueeze(0)[0, :, 2].exp_()
    y.sum().backward()
    return y, x.grad


@parity
def test_a_write_to_the_base_reaches_the_view(t):
    x = leaf(t, 1, 2, 3)
    y = x * 2
    view, other = y[0:2], y.view(3, 1)
    y.mul_(3)
    (view * view).sum().backward(retain_graph=True)
    first = x.grad.clone()
    other.sum().backward()
    return view.detach(), view.grad_fn, other.detach(), first, x.grad


@parity
def test_a_write_through_one_view_reaches_the_others(t):
    x = leaf(t, 1, 2, 3)
    y = x * 2
    left, right = y[0:2], y[1:3]
    left.mul_(10)
    right.sum().backward()
    return right.detach(), x.grad


@parity
def test_two_views_written_in_turn(t):
    x = leaf(t, 1, 2, 3)
    y = x.clone()
    left, right = y[0:2], y[1:3]
    left.mul_(2)
    right.mul_(3)
    left.add_(1)
    (y * t.tensor([1.0, 10.0, 100.0])).sum().backward()
    return y, x.grad


@pytest.mark.parametrize(
    "view",
    [
        lambda y: y[1], lambda y: y[:, 1:], lambda y: y.t(), lambda y: y.transpose(0, 1)[0], lambda y: y.view(-1)[2:4],
        lambda y: y.reshape(3, 2)[0], lambda y: y.unsqueeze(1), lambda y: y[None].squeeze(0), lambda y: y.permute(1, 0),
        lambda y: y.flatten()[::2], lambda y: y[..., 0], lambda y: y.T[1], lambda y: y.detach(), lambda y: y[:],
    ],
)  # fmt: skip
@parity
def test_views_are_aliases(t, view):
    y = t.arange(6.0).reshape(2, 3)
    seen = view(y)
    seen += 100
    before = y.clone()
    y.mul_(2)
    return before, seen, seen._version, y._version, seen.stride()


@pytest.mark.parametrize(
    "view",
    [
        lambda y: y[1], lambda y: y[:, 1:], lambda y: y.t(), lambda y: y.transpose(0, 1)[0], lambda y: y.view(-1)[2:4],
        lambda y: y.unsqueeze(1), lambda y: y[None].squeeze(0), lambda y: y.permute(1, 0), lambda y: y.view(3, 2)[1:],
    ],
)  # fmt: skip
@parity
def test_gradients_of_a_write_through_a_view(t, view):
    x, factor = t.arange(6.0).reshape(2, 3).requires_grad_(), t.tensor(3.0, requires_grad=True)
    y = x + 1
    view(y).mul_(factor)
    (y * y).sum().backward()
    return y, x.grad, factor.grad


@parity
def test_data_writes_keep_the_history(t):
    x = leaf(t, 1, 2)
    y = x * 2
    y.data.mul_(10)
    (y * 3).sum().backward()
    return y, x.grad, y._version


@parity
def test_a_view_made_under_no_grad_is_not_written_outside(t):
    x = leaf(t, 1, 2)
    y = x * 2
    with t.no_grad():
        view = y[0:1]
        view.mul_(2)
    wording = "A view was created in no_grad mode and is being modified inplace with grad mode enabled."
    raises(RuntimeError, wording, lambda: view.mul_(2))
    return y.detach(), view.tolist()


@parity
def test_expanded_memory_is_not_written(t):
    y = t.ones(1, requires_grad=True).clone().expand(3)
    wording = "more than one element of the written-to tensor refers to a single memory location."
    raises(RuntimeError, wording, lambda: y.mul_(2))
    raises(RuntimeError, wording, lambda: t.ones(1).expand(3).add_(1))
    return y.detach(), y.stride()


OVERLAPPING_FILLS = {
    "zero_": lambda y, t: y.zero_(),
    "fill_": lambda y, t: y.fill_(5),
    "tril_": lambda y, t: y.tril_(),
    "triu_ from a diagonal": lambda y, t: y.triu_(-1),
    "fill_diagonal_": lambda y, t: y[:, :2].fill_diagonal_(5),
}
DEPRECATED_FILLS = {
    "masked_fill_": lambda y, t: y.masked_fill_(t.tensor([[True, False, False]]), 5),
    "masked_fill_ in one copy": lambda y, t: y.masked_fill_(y.new_ones(3, 3).tril(-2) > 0, t.tensor(5.0)),
    "index_fill_": lambda y, t: y.index_fill_(1, t.tensor([0, -1]), 5),
    "index_fill_ along the copies": lambda y, t: y.index_fill_(0, t.tensor([1]), 5),
    "index_put_": lambda y, t: y.index_put_((t.tensor([0, 1]), t.tensor([2, 2])), t.tensor(5.0)),
    "a mask": lambda y, t: y.__setitem__(y > 2, 5),
    "indices": lambda y, t: y.__setitem__((slice(None), [0, 2]), 5),
}


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("name", OVERLAPPING_FILLS)
@parity
def test_a_fill_of_expanded_memory(t, name, rows):
    base = t.arange(1.0, 4.0)
    y = base.expand(3, 3)[rows:]
    same_object = OVERLAPPING_FILLS[name](y, t)
    return same_object.data_ptr() == y.data_ptr(), y, base, y.stride()


@pytest.mark.parametrize("name", DEPRECATED_FILLS)
def test_a_fill_of_expanded_memory_that_torch_means_to_end(name):
    torch.set_warn_always(True)
    bases = []
    for t in (torch, pullback):
        base = t.arange(1.0, 4.0)
        with pytest.warns(UserWarning, match="on expanded tensors is deprecated. Please clone") as record:
            DEPRECATED_FILLS[name](base.expand(3, 3), t)
        bases.append(base)
    assert len(record) == 1
    assert bases[1].tolist() == bases[0].tolist()


@pytest.mark.filterwarnings("ignore:Use of .* on expanded tensors")
@pytest.mark.parametrize("mask", [[[True], [False]], [[True], [True]]], ids=["one copy", "both"])
def test_a_fill_of_expanded_memory_differentiates_where_torch_fails(mask):
    """The places are written once, however many elements lead to them: the value's gradient is that of the places."""
    x, value = leaf(pullback, 1, 2, 3), pullback.tensor(7.0, requires_grad=True)
    base = x * 2
    view = base.expand(2, 3)
    view[:, 1:].masked_fill_(pullback.tensor(mask), value)
    assert view.tolist() == [[2.0, 7.0, 7.0]] * 2
    (base * pullback.tensor([1.0, 10.0, 100.0])).sum().backward(retain_graph=True)
    assert (x.grad.tolist(), value.grad.item()) == ([2.0, 0.0, 0.0], 110.0)
    view.sum().backward()
    assert (x.grad.tolist(), value.grad.item()) == ([6.0, 0.0, 0.0], 114.0)


def test_a_fill_without_a_history_to_write_is_refused():
    """The base itself has elements that share memory: what one of them becomes cannot be said of the others."""
    y = pullback.ones(3).expand(2, 3).detach()
    with pytest.warns(UserWarning, match="expanded"):
        y.masked_fill_(y > 0, 2.0)
    assert y.tolist() == [[2.0] * 3] * 2
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        y.masked_fill_(y > 0, pullback.tensor(1.0, requires_grad=True))


@parity
def test_a_tensor_or_several_values_do_not_fill_expanded_memory(t):
    wording = "more than one element of the written-to tensor refers to a single memory location."
    y = t.ones(3).expand(2, 3)
    raises(RuntimeError, wording, lambda: y.fill_(t.tensor(2.0)))
    raises(RuntimeError, wording, lambda: y.__setitem__((slice(None), 1), 2.0))
    raises(RuntimeError, wording, lambda: y.__setitem__(..., 2.0))
    with pytest.raises(TypeError):
        y[t.tensor([0])] = [2.0]
    return y


@parity
def test_the_target_keeps_its_dtype(t):
    x = t.ones(2)
    x.add_(t.tensor([1, 2]))
    x.mul_(t.tensor([1.5, 2.5], dtype=t.float64))
    n = t.tensor([1, 2])
    raises(RuntimeError, "result type Float can't be cast to the desired output type Long", lambda: n.add_(1.5))
    raises(RuntimeError, "result type Float can't be cast to the desired output type Long", lambda: n.div_(2))
    raises(RuntimeError, "result type Long can't be cast to the desired output type Bool", lambda: (n > 0).add_(n))
    n.copy_(t.tensor([2.7, -2.7]))
    return x, n, n._version


@parity
def test_the_target_keeps_its_shape(t):
    x = t.ones(1)
    raises(RuntimeError, "output with shape [1] doesn't match the broadcast shape [2]", lambda: x.add_(t.ones(2)))
    y = t.ones(2)
    wording = "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0"
    raises(RuntimeError, wording, lambda: y.copy_(t.ones(3)))
    wording = (
        "The expanded size of the tensor (2) must match the existing size (3) at non-singleton dimension 0.  "
        "Target sizes: [2].  Tensor sizes: [3]"
    )
    raises(RuntimeError, wording, lambda: y.__setitem__(slice(None), t.ones(3)))
    y[:] = t.tensor([[5.0, 6.0]])
    return x, x._version, y, y._version


@parity
def test_values_are_converted_when_written(t):
    x, n = leaf(t, 1, 2, dtype="float64"), t.tensor([1, 2, 3])
    y = t.zeros(2)
    y[:] = x
    y.sum().backward()
    n[0] = 2.9
    n[1:] = t.tensor([7.5, -7.5])
    return y.detach(), x.grad, n


@parity
def test_copying_a_tracked_tensor(t):
    x, y = leaf(t, 1, 2), leaf(t, 5, 6, dtype="float64")
    h = x * 2
    h.copy_(y)
    h.sum().backward()
    return h, x.grad, y.grad


@parity
def test_filling_with_a_tracked_number(t):
    x, value = leaf(t, 1, 2), t.tensor(3.0, requires_grad=True)
    h = x * 2
    h.fill_(value)
    h.sum().backward()
    return h, x.grad, value.grad


@parity
def test_a_retained_gradient_moves_to_the_new_value(t):
    x = leaf(t, 1, 2)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    (y * y).sum().backward()
    return y.grad, x.grad, y.retains_grad


@parity
def test_an_unsaved_value_may_be_written(t):
    x = leaf(t, 1, 2)
    h = x + 1
    z = h * 2
    h.mul_(5)
    z.sum().backward()
    return h, z, x.grad


@parity
def test_a_value_with_a_leading_axis_of_length_one_can_be_assigned(t):
    x, y, z = leaf(t, 2), t.zeros(2), t.zeros(2, 3)
    y[0] = x * 3
    z[1] = t.ones(1, 3) * x
    (y.sum() + z.sum()).backward()
    return y, z, x.grad


@parity
def test_a_write_to_the_base_of_an_expanded_view(t):
    x = leaf(t, 1, 2)
    y = x * 2
    wide = y.expand(3, 2)
    y.mul_(5)
    wide.sum().backward()
    return wide.detach(), wide.requires_grad, x.grad


@parity
def test_a_part_of_an_expanded_tensor_that_does_not_overlap_may_be_written(t):
    x = leaf(t, 1, 2)
    y = x * 2
    y.expand(3, 2)[0].mul_(5)
    y.unsqueeze(0).expand(1, 2).mul_(2)
    y.sum().backward()
    return y, x.grad


@parity
def test_an_update_step(t):
    w = leaf(t, 1, 2)
    for _ in range(3):
        (w * w).sum().backward()
        with t.no_grad():
            w -= 0.1 * w.grad
        w.grad.zero_()
    return w, w._version, w.grad


@parity
def test_a_write_under_no_grad_leaves_the_history(t):
    x = leaf(t, 1, 2)
    y = x * 2
    with t.no_grad():
        y.mul_(10)
    y.sum().backward()
    return y, x.grad, y._version


def test_a_saved_value_that_is_written_counts_as_it_was_saved():
    """torch refuses these at backward; written out of place they are the same mathematics."""

    def out_of_place(t, x):
        h = x * 2
        z = h * h + h.exp()
        return z, h + 100

    def in_place(t, x):
        h = x * 2
        z = h * h + h.exp()
        h.add_(100)
        return z, h

    x, y = leaf(torch, 1, 2), leaf(pullback, 1, 2)
    (a, b), (c, d) = out_of_place(torch, x), in_place(pullback, y)
    (a * b).sum().backward()
    (c * d).sum().backward()
    same(describe([c.detach(), d.detach(), y.grad]), describe([a.detach(), b.detach(), x.grad]), "the answer")
    z, _ = in_place(torch, leaf(torch, 1, 2))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


SPOILED = {
    "an output": lambda h: (h.exp(), lambda y: y.mul_(3)),
    "a tanh output through a view": lambda h: (h.tanh(), lambda y: y[0:1].zero_()),
    "a sigmoid output by an index": lambda h: (h.sigmoid(), lambda y: y.__setitem__(0, 9.0)),
    "a root": lambda h: (h.sqrt(), lambda y: y.add_(1)),
}


@pytest.mark.parametrize("case", SPOILED)
def test_a_saved_output_that_is_written_counts_as_it_was_saved(case):
    def run(t, in_place):
        x = leaf(t, 1, 2)
        y, spoil = SPOILED[case](x * 1)
        kept = y * 1
        if in_place:
            spoil(y)
        kept.sum().backward()
        return kept, x.grad

    same(describe(run(pullback, True)), describe(run(torch, False)), "the answer")


def test_a_saved_leaf_may_be_updated_before_the_pass():
    def run(t, update):
        w, x = leaf(t, 1, 2), leaf(t, 3, 4)
        y = (w * x * w).sum()
        if update:
            with t.no_grad():
                w.add_(10)
        y.backward()
        return w.grad, x.grad

    same(describe(run(pullback, True)), describe(run(torch, False)), "the answer")


def test_a_saved_value_written_through_an_alias_counts_as_it_was_saved():
    def run(t, write):
        x = leaf(t, 1, 2)
        h = x * 2
        y = (h * h).sum()
        write(h)
        y.backward()
        return x.grad

    expected = describe(run(torch, lambda h: None))
    for write in (lambda h: h.detach().zero_(), lambda h: h.data.zero_(), lambda h: h[0:1].fill_(5)):
        same(describe(run(pullback, write)), expected, "the answer")


def test_outputs_of_unbind_and_split_may_be_written():
    def run(t, in_place):
        x = t.arange(6.0).reshape(3, 2).requires_grad_()
        h = x * 2
        if in_place:
            h.unbind()[0].mul_(3)
            h.split(2)[1].exp_()
        else:
            h = t.cat([h[0:1] * 3, h[1:2], h[2:3].exp()])
        h.sum().backward()
        return h.detach(), x.grad

    same(describe(run(pullback, True)), describe(run(torch, False)), "the answer")


def test_arrays_of_the_caller_are_written_only_on_request():
    array = np.ones(3, np.float32)
    for t in (torch, pullback):
        y = t.from_numpy(array) * 2
        y.mul_(5)
        copied = t.tensor(array)
        copied.zero_()
        assert array.tolist() == [1, 1, 1]
    for t in (torch, pullback):
        t.from_numpy(array).add_(1)
    assert array.tolist() == [3, 3, 3]
