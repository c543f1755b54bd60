"""Views that lack the history of their base, and tensors whose axes are changed in place, as in torch 2.13."""

import pytest

import pullback

TURNS = {
    "t_": lambda x: x.t_(),
    "transpose_": lambda x: x.transpose_(0, -1),
    "swapaxes_": lambda x: x.swapaxes_(0, 1),
    "unsqueeze_": lambda x: x.unsqueeze_(0),
    "squeeze_": lambda x: x[None].squeeze_(0),
}
SHAPES = {"t_": (3, 2), "transpose_": (3, 2), "swapaxes_": (3, 2), "unsqueeze_": (1, 2, 3)}
OUT_OF_PLACE = {name: lambda x, name=name: TURNS[name](x.clone()) for name in SHAPES}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("again", [False, True])
def test_a_leaf_whose_axes_are_changed_gets_gradients_of_what_was_computed_before(name, again):
    x = pullback.arange(6.0).reshape(2, 3).requires_grad_()
    factors = pullback.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    before = (x * factors).sum()
    with pullback.no_grad():
        TURNS[name](x)
    assert x.is_leaf and tuple(x.shape) == SHAPES[name]
    if again:
        (x * 10).sum().backward()
    before.backward()
    assert pullback.equal(x.grad, OUT_OF_PLACE[name](factors) + 10 * again)


def test_a_square_leaf_gets_a_gradient_with_its_axes_of_today():
    x = pullback.ones(2, 2, requires_grad=True)
    before = (x * pullback.tensor([[1.0, 2.0], [3.0, 4.0]])).sum()
    with pullback.no_grad():
        x.t_()
        x.unsqueeze_(0)
    (g,) = pullback.autograd.grad(before, x, retain_graph=True)
    assert g.tolist() == [[[1.0, 3.0], [2.0, 4.0]]]
    seen = []
    x.register_hook(lambda g: seen.append(tuple(g.shape)))
    before.backward()
    assert x.grad.tolist() == g.tolist() and seen == [(1, 2, 2)]


def test_a_gradient_of_other_axes_is_refused_in_words():
    x = pullback.ones(2, 3, requires_grad=True)
    (x * x).sum().backward()
    with pullback.no_grad():
        x.t_()
    with pytest.raises(RuntimeError, match=r"gradient that arrives, \(3, 2\), must match that of .grad, \(2, 3\)"):
        (x * x).sum().backward()


@pytest.mark.parametrize("name", SHAPES)
def test_a_base_whose_axes_are_changed_stays_the_base(name):
    w = pullback.tensor(2.0, requires_grad=True)
    x = w * pullback.arange(6.0).reshape(2, 3)
    row = x[1]
    TURNS[name](x)
    assert not x._is_view() and row._is_view()
    row.mul_(w)
    wanted = OUT_OF_PLACE[name](pullback.tensor([[0.0, 2.0, 4.0], [12.0, 16.0, 20.0]]))
    assert pullback.equal(x, wanted)
    x.sum().backward()
    assert w.grad == 3 + 12 * 4
    x.detach_()


def test_a_gradient_is_kept_where_axes_are_changed():
    x = pullback.ones(2, 2, requires_grad=True)
    (x * 3).sum().backward()
    x.requires_grad_(False)
    x.t_()
    assert x.grad.tolist() == [[3.0, 3.0], [3.0, 3.0]]


@pytest.mark.parametrize("write", [lambda x, v: x.add_(1), lambda x, v: v.add_(1), lambda x, v: x.__setitem__(0, 2.0),
                                   lambda x, v: x.__setitem__([0], 2.0), lambda x, v: v.mul_(2), lambda x, v: v.zero_().add_(2)])  # fmt: skip
def test_a_view_from_before_the_base_required_grad_follows_it_after_a_write(write):
    x = pullback.ones(2, 3)
    view = x[0]
    assert not view.requires_grad
    x.requires_grad_()
    assert view.requires_grad and view.is_leaf and view.grad_fn is None
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        view.add_(1)
    with pullback.no_grad():
        write(x, view)
    assert view.tolist() == [2.0, 2.0, 2.0]
    assert view.requires_grad and not view.is_leaf
    (view * 3).sum().backward()
    assert x.grad.tolist() == [[3.0, 3.0, 3.0], [0.0, 0.0, 0.0]]


BLOCKS = {
    "no_grad": (pullback.no_grad, "A view was created in no_grad mode and"),
    "inference": (pullback.inference_mode, "A view was created in inference mode and"),
}


@pytest.mark.parametrize("block", BLOCKS)
def test_a_view_made_and_written_in_a_block_refuses_to_be_differentiated(block):
    mode, words = BLOCKS[block]
    x = pullback.ones(2, 3, requires_grad=True)
    with mode():
        view = x[0]
        view.add_(1)
    assert view.requires_grad and x._version == view._version == 1
    with pytest.raises(RuntimeError, match=f"{words} its base or another view of its base"):
        (view * x).sum().backward()


@pytest.mark.parametrize("block", BLOCKS)
def test_a_view_made_in_a_block_is_no_inference_tensor_and_is_written_where_nothing_is_tracked(block):
    mode, words = BLOCKS[block]
    base, w = pullback.ones(2, 3), pullback.ones(3, requires_grad=True)
    with mode():
        view = base[0]
    assert not view.is_inference() and view._is_view()
    view.add_(1)
    assert base.tolist() == [[2.0, 2.0, 2.0], [1.0, 1.0, 1.0]] and view._version == base._version == 1
    (view * w).sum().backward()
    assert w.grad.tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(RuntimeError, match=f"{words} is being modified inplace"):
        view.mul_(w)


def test_a_view_of_an_inference_tensor_is_one_and_no_view_and_keeps_its_axes():
    with pullback.inference_mode():
        x = pullback.ones(2, 3)
    view = x[0]
    assert view.is_inference() and not view._is_view()
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        x.t_()
    assert tuple(x.shape) == (2, 3)


def test_a_view_that_requires_grad_itself_is_not_written():
    base = pullback.ones(2, 3)
    view = base[0].requires_grad_()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        view[1:].mul_(2)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        view.unsqueeze_(0)
    assert base.tolist() == [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]


NO_VIEWS = {
    "index_select": lambda x: x.index_select(0, pullback.tensor([0])),
    "index_fill": lambda x: x.index_fill(0, pullback.tensor([0]), 2.0),
    "gather": lambda x: x.gather(0, pullback.tensor(0)),
    "put": lambda x: x.put(pullback.tensor([0]), pullback.tensor([2.0])),
    "roll": lambda x: x.roll(1),
    "quantile": lambda x: x.quantile(0.5),
    "index_add": lambda x: x.index_add(0, pullback.tensor([0]), x[None]),
}


@pytest.mark.parametrize("name", NO_VIEWS)
@pytest.mark.parametrize("tracked", [False, True])
def test_what_is_computed_from_a_number_is_no_view(name, tracked):
    x = pullback.tensor(3.0, requires_grad=tracked)
    y = NO_VIEWS[name](x)
    assert y.shape == () and not y._is_view() and y._base is None
    y.add_(1)
    assert x.item() == 3


@pytest.mark.filterwarnings("ignore:Tensor:UserWarning", "ignore:.*deprecated:UserWarning")
def test_what_has_nothing_to_turn_or_broadcast_is_the_tensor_itself():
    x, m = pullback.tensor(3.0, requires_grad=True), pullback.ones(2, 3)
    assert x.H is x and x.mT is x and x.adjoint() is x
    assert pullback.broadcast_tensors(m, pullback.ones(3))[0] is m


def test_a_number_has_no_parts():
    with pytest.raises(RuntimeError, match="split expects at least a 1-dimensional tensor"):
        pullback.tensor(2.0).split(1)
    with pytest.raises(RuntimeError, match="chunk expects at least a 1-dimensional tensor"):
        pullback.tensor(2.0).chunk(2)


def test_resize_takes_elements_in_the_order_of_memory():
    x = pullback.arange(1.0, 7.0).reshape(2, 3)
    x.t_().resize_(2)
    assert x.tolist() == [1.0, 2.0]
    y = pullback.arange(3.0)
    with pullback.no_grad():
        assert y.add_(1).resize_(5).tolist()[:3] == [1.0, 2.0, 3.0]
    assert y._version == 2


def test_set_counts_as_a_write():
    x = pullback.zeros(2)
    x.set_(pullback.ones(3))
    assert x._version == 1


@pytest.mark.parametrize("seen", ["h.detach().max()", "h[1:].sum()", "h.detach().numpy()", "h.t()"])
@pytest.mark.parametrize("write", ["h[h > 1] = 1.0", "h[0] = pullback.tensor(1.0)", "h[[0, 1, 2]] = 1.0", "h[:] = 1.0"])
def test_writes_that_are_not_recorded_leave_no_record_after_views_have_gone(seen, write):
    x = pullback.ones(3, requires_grad=True)
    h = x * 2
    eval(seen, {"h": h})
    with pullback.no_grad():
        exec(write, {"h": h, "pullback": pullback})
    h.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize(
    "write",
    [
        "t[0] = pullback.tensor([7.0, 8.0])",
        "t[0] = 0.0",
        "t[[0]] = 0.0",
        "t[t > 3] = 0.0",
        "t[0].mul_(2)",
        "t += 1",
        "t += 1.0",
    ],
)
def test_views_of_what_was_detached_in_place_lose_their_history_by_a_write(write, grad):
    a = pullback.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    t = a * 1
    v = t.view_as(t)
    t.detach_()
    assert v.requires_grad
    with pullback.set_grad_enabled(grad):
        exec(write, {"t": t, "pullback": pullback})
    assert not v.requires_grad
    assert v.tolist() == t.tolist()


@pytest.mark.parametrize("write", ["w[0] = 0.0", "w[[0]] = 0.0", "w[w > 1] = 0.0", "w += 1.0", "w.mul_(2)"])
def test_they_do_so_by_a_write_without_a_record_to_one_of_them(write):
    a = pullback.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    t = a * 1
    v, w = t.view_as(t), t[0]
    t.detach_()
    with pullback.no_grad():
        exec(write, {"w": w})
    assert not v.requires_grad
    assert not w.requires_grad
    assert w.tolist() == t[0].tolist() == v[0].tolist()


def test_views_that_follow_a_write_have_their_own_part_of_the_gradient():
    x = pullback.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = pullback.tensor([5.0, 6.0], requires_grad=True)
    h = x * 1
    v, w = h[1], h.T
    old = (v * v).sum()
    h[1] = y
    h[0, 0] = 7.0
    (old + (v * w[0]).sum()).backward()
    assert v.tolist() == [5, 6]
    assert w.tolist() == [[7, 5], [2, 6]]
    assert x.grad.tolist() == [[0, 0], [6, 8]]
    assert y.grad.tolist() == [13, 5]
