"""Views with other strides, windows, and tensors that change their own axes: the same programs in torch and here."""

import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

from .compare import parity  # noqa: E402


def leaf(t, *values):
    return t.tensor([float(value) for value in values], requires_grad=True)


VIEWS = {
    "as_strided": lambda y: y.as_strided((2, 2), (1, 2), 1),
    "as_strided of a view": lambda y: y[1].as_strided((2,), (2,)),
    "as_strided of a transpose": lambda y: y.t().as_strided((2, 2), (1, 3)),
    "unfold": lambda y: y.unfold(1, 2, 1)[:, 1],
    "unflatten": lambda y: y.view(-1).unflatten(0, (3, 2)),
    "swapaxes": lambda y: y.swapaxes(0, 1),
    "moveaxis": lambda y: y.moveaxis(0, 1),
    "H": lambda y: y.H,
    "tensor_split": lambda y: y.tensor_split(2, dim=1)[0],
    "hsplit": lambda y: y.hsplit([1])[1],
}
each_view = pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)


@each_view
@parity
def test_a_write_to_a_view_reaches_its_base(t, view):
    x = leaf(t, *range(6))
    y = x.view(2, 3) * 2
    seen = view(y)
    seen.mul_(3)
    (y * y).sum().backward()
    return y.detach(), seen.detach(), x.grad


@each_view
@parity
def test_a_write_to_the_base_reaches_a_view(t, view):
    x = leaf(t, *range(6))
    y = x.view(2, 3) * 2
    seen = view(y)
    y.mul_(4)
    (seen * seen).sum().backward()
    return seen.detach(), x.grad


@parity
def test_overlapping_windows_collect_gradients(t):
    x = leaf(t, *range(5))
    rows = x.unfold(0, 3, 1) * t.tensor([1.0, 10.0, 100.0])
    rows.sum().backward()
    return rows.detach(), x.grad


TURNS = {
    "t_": lambda y: y.t_(),
    "transpose_": lambda y: y.transpose_(0, 1),
    "swapaxes_": lambda y: y.swapaxes_(0, 1),
    "unsqueeze_": lambda y: y.unsqueeze_(1),
    "squeeze_": lambda y: y.squeeze_(),
}


@pytest.mark.parametrize("turn", TURNS.values(), ids=TURNS)
@parity
def test_older_views_outlive_a_turn(t, turn):
    x = leaf(t, *range(6))
    y = x.view(2, 3) * 2
    row, flat = y[0], y.view(-1)
    assert turn(y) is y
    row.mul_(3)
    y.add_(1)
    flat[0] = 7
    ((y * y).sum() + (row * row).sum() + flat.sum()).backward()
    return y.detach(), y.stride(), row.detach(), flat.detach(), x.grad


@pytest.mark.parametrize("turn", TURNS.values(), ids=TURNS)
@parity
def test_a_leaf_does_not_turn(t, turn):
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        turn(t.ones(2, 3, requires_grad=True))


@parity
def test_resize(t):
    x = t.arange(6)
    smaller = x.clone().resize_(2, 2)
    same = x.clone().resize_as_(t.zeros(3, 2))
    return smaller, same, x.clone().resize_(8).shape
