"""Views with other strides, windows, and tensors that change their own axes: the same programs in torch and here."""

import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

from .compare import leaf, parity  # noqa: E402

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


@pytest.mark.filterwarnings("ignore:non-inplace resize")
@parity
def test_resize_of_old(t):
    x = leaf(t, *range(6))
    y = x.resize(2, 3)
    z = y.resize_as(t.ones(3, 2))
    (z * t.arange(6.0).reshape(3, 2)).sum().backward()
    with pytest.raises(RuntimeError, match=r"requested resize to 4x2 \(8 elements in total\)"):
        x.resize(4, 2)
    return y.detach(), z.shape, x.grad


@pytest.mark.parametrize("shape", [(0, 5), (3, 0, 5), (2, 0), (0,), (2, 0, 3, 0)])
@parity
def test_strides_of_nothing(t, shape):
    return t.empty(shape).stride(), t.zeros(shape).is_contiguous()


@parity
def test_what_lies_apart_in_an_expanded_tensor_may_be_written(t):
    row, value = leaf(t, 1, 2, 3), leaf(t, 5)
    whole = (row * 2).expand(4, 3)
    whole[1:2, 2] = value * 3
    whole[0] = whole[0] * 1
    (whole * t.arange(12.0).reshape(4, 3)).sum().backward()
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        whole[:2, 0] = 1
    return whole.detach(), row.grad, value.grad


LISTS = {
    "numbers": lambda t: [1, 0],
    "a slice": lambda t: [slice(None), [1, 2]],
    "ints and a slice": lambda t: [1, slice(None), 2],
    "None": lambda t: [None, 1],
    "an ellipsis": lambda t: [Ellipsis, 1],
    "several lengths": lambda t: [[0, 1, 1], [0]],
    "a number and a list": lambda t: [0, [1]],
    "tensors": lambda t: [t.tensor([1, 0]), t.tensor([2, 1])],
    "numbers as tensors": lambda t: list(t.tensor([1, 2])),
    "a tensor": lambda t: [t.tensor([1, 0])],
    "a tuple within": lambda t: ((0, 1), slice(1)),
    "bools": lambda t: [True, False],
}


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
@pytest.mark.parametrize("index", LISTS.values(), ids=LISTS)
@parity
def test_lists_as_indices(t, index):
    x = leaf(t, *range(24))
    picked = x.reshape(2, 3, 4)[index(t)]
    written = x.detach().clone().reshape(2, 3, 4)
    written[index(t)] = -1
    (picked * picked).sum().backward()
    return picked.detach(), written, x.grad


@parity
def test_nothing_beside_matrices_has_a_gradient(t):
    nothing, matrix = leaf(t), leaf(t, 1, 2, 3, 4)
    joined = t.cat([nothing, matrix.reshape(2, 2), nothing * 1], dim=1)
    joined.sum().backward()
    return joined.detach(), nothing.grad, matrix.grad


@parity
def test_data_cannot_be_deleted(t):
    x = leaf(t, 1)
    with pytest.raises(RuntimeError, match="Deleting tensor data is not allowed"):
        del x.data
    return x.detach()


@pytest.mark.parametrize("index", [(3, True), (True, 1), (-4, False)])
@parity
def test_one_element_and_a_bool(t, index):
    x = leaf(t, 1, 2, 3, 4)
    h = x * 1
    h[index] += 3
    h[index] = h[index] * 2
    (h * h).sum().backward()
    return h.detach(), x.grad


FLAT = {
    "a list": lambda t, x: x[:, [2, 0]],
    "a mask": lambda t, x: x[:, t.tensor([True, False, True])],
    "two lists": lambda t, x: x[:, [2, 0], [1, 3]],
    "a table after dots": lambda t, x: x[..., t.tensor([[2, 0], [1, 3]])],
    "an int and a list": lambda t, x: x[0, :, [2, 0]],
    "index_select": lambda t, x: x.index_select(2, t.tensor([2, 0, -1 % 4])),
    "cat of transposed": lambda t, x: t.cat([x.mT, x.mT], 1),
    "stack of transposed": lambda t, x: t.stack([x.mT, x.mT]),
}


@pytest.mark.parametrize("found", FLAT.values(), ids=FLAT)
@parity
def test_what_is_copied_has_a_flat_view(t, found):
    x = leaf(t, *range(24))
    y = found(t, x.reshape(2, 3, 4))
    (y.view(-1) ** 2).sum().backward()
    return y.detach(), y.stride(), x.grad


IN_ORDER = {
    "sum": lambda t, x: x.sum(0),
    "mean": lambda t, x: x.mean(1),
    "prod": lambda t, x: x.prod(0),
    "var": lambda t, x: x.var(0),
    "std": lambda t, x: x.std(1, keepdim=True),
    "amax": lambda t, x: x.amax(0),
    "norm": lambda t, x: x.norm(float("inf"), dim=0),
    "logsumexp": lambda t, x: x.logsumexp(0),
    "any": lambda t, x: x.any(0),
    "any along no axes": lambda t, x: x[0].any(dim=()),
    "nonzero": lambda t, x: x.nonzero(as_tuple=True)[1],
    "cumsum": lambda t, x: x.cumsum(1),
    "cumprod": lambda t, x: x.cumprod(0),
    "cummax": lambda t, x: x.cummax(1).indices,
    "logcumsumexp": lambda t, x: x.logcumsumexp(1),
    "renorm": lambda t, x: x.renorm(2, 0, 1.0),
    "roll": lambda t, x: x.roll((1, 1), (0, 2)),
    "tril": lambda t, x: x.tril(),
    "masked_fill": lambda t, x: x.masked_fill(x > 3, 0),
    "masked_scatter": lambda t, x: x.masked_scatter(x > 100, x),
    "scatter": lambda t, x: x.scatter(0, (x > 3).long(), 1.0),
    "gather": lambda t, x: x.gather(0, (x > 3).long()),
    "index_copy": lambda t, x: x.index_copy(0, t.tensor([1]), x[:1]),
    "einsum": lambda t, x: t.einsum("ijk,ijl->ilk", x, x),
    "matmul": lambda t, x: x @ x.mT,
    "layer_norm": lambda t, x: t.nn.functional.layer_norm(x, x.shape[-1:]),
    "group_norm": lambda t, x: t.nn.functional.group_norm(x, 1),
    "batch_norm": lambda t, x: t.nn.functional.batch_norm(x, None, None, training=True),
    "rms_norm": lambda t, x: t.nn.functional.rms_norm(x, x.shape[-1:]),
    "one_hot": lambda t, x: t.nn.functional.one_hot(x.long(), 25),
    "descending": lambda t, x: x.argsort(descending=True).contiguous(),
    "topk": lambda t, x: x.contiguous().topk(1).indices,
}


@pytest.mark.parametrize("result", IN_ORDER.values(), ids=IN_ORDER)
@pytest.mark.parametrize("axes", [(2, 1, 0), (0, 2, 1), (1, 0, 2)])
@parity
def test_what_is_no_elementwise_function_has_a_flat_view(t, axes, result):
    y = result(t, t.arange(24.0).reshape(2, 3, 4).permute(axes))
    return y.view(-1), y.is_contiguous()


@parity
def test_places_in_descending_order_lie_in_order(t):
    x = t.tensor([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])
    places = [x.argsort(descending=True), x.sort(0, descending=True).indices, x.topk(2).indices]
    return [(place, place.stride(), place.is_contiguous()) for place in places]


@parity
def test_copies_of_what_is_expanded(t):
    row = t.tensor([1.0, 0.0, 2.0]).expand(4, 3)
    drawn = t.multinomial(t.ones(3, 10), 4)
    return [copy.view(-1) for copy in (row.clone(), row.bool(), row.double())], drawn.is_contiguous()


@parity
def test_a_conversion_with_a_memory_format(t):
    x = t.arange(6.0).reshape(2, 3).mT
    options = {"memory_format": t.contiguous_format}
    return [y.stride() for y in (x.double(), x.double(**options), x.to(t.int64, **options), x.float(**options))]


@parity
def test_results_that_share_no_memory(t):
    images, edges = t.arange(4.0).reshape(1, 4, 1, 1), t.tensor([0.0, 1.0, 2.0])
    functional = t.nn.functional
    found = [
        functional.pixel_shuffle(images, 1),
        functional.pixel_shuffle(images, 2),
        t.histogram(edges, edges).bin_edges,
    ]
    for result in found:
        result.zero_()
    return images, edges


FLAT_GRADIENTS = {
    "a product": lambda t, x, w: x @ w.T,
    "flip": lambda t, x, w: (w * x[:, :1]).flip(0, 1),
    "cumsum": lambda t, x, w: (w * x[:, :1]).cumsum(0) + w.cumsum(1),
    "a piece": lambda t, x, w: t.nn.functional.pad(w * x[0], (1, 1)) ** 2,
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("result", FLAT_GRADIENTS.values(), ids=FLAT_GRADIENTS)
@parity
def test_gradients_have_flat_views(t, result, create_graph):
    w = leaf(t, *range(1, 13))
    x, w = t.arange(12.0).reshape(4, 3), w.detach().reshape(4, 3).requires_grad_()
    (g,) = t.autograd.grad((result(t, x, w) ** 2).sum(), w, create_graph=create_graph)
    return g.detach().view(-1)


@parity
def test_gradients_of_leaves_with_gaps(t):
    gradients = []
    for base in (t.zeros(3, 6)[:, ::2], t.zeros(4, 5)[:, :3].mT, t.zeros(1, 3).expand(4, 3), t.zeros(4, 3).mT):
        x = base.detach().requires_grad_()
        (x.mT * t.ones(x.shape[::-1])).sum().backward()
        gradients.append((x.grad, x.grad.stride()))
    return gradients
