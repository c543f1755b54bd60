"""What stays alive: nothing after a pass, only what rules need before it, and one copy of what is written meanwhile."""

import gc
import tracemalloc

import numpy as np
import pytest

import pullback
from pullback._core.primitives import elementwise
from pullback._tape.cuts import recent
from pullback.autograd import grad

BIG = 1000  # elements: an array of this size outweighs what Python allocates beside it
ARRAY = BIG * 8


@pytest.fixture(autouse=True, scope="module")
def nothing_else():
    """All that other tests have left out of the collector's sight: in the whole suite a look at it takes a second."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def no_collector(nothing_else):
    """The collector switched off: only reference counts free anything."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def traced():
    tracemalloc.start()
    yield
    tracemalloc.stop()


def alive():
    """How many tensors and nodes the process holds, by type; the log of the latest cuts, of bounded length, is emptied."""
    recent.clear()
    counts = {}
    for thing in gc.get_objects():
        kind = type(thing)
        ours = issubclass(kind, (pullback.Tensor, pullback.autograd.graph.Node))
        if ours or str(kind.__module__).startswith("pullback"):
            counts[kind] = counts.get(kind, 0) + 1
    return counts


def array_bytes():
    """How many bytes NumPy holds for the elements of arrays."""
    snapshot = tracemalloc.take_snapshot()
    domain = tracemalloc.DomainFilter(inclusive=True, domain=np.lib.tracemalloc_domain)
    return sum(trace.size for trace in snapshot.filter_traces([domain]).traces)


def leaf(size=BIG, start=0.5, end=1.5):
    return pullback.linspace(start, end, size, dtype=float).requires_grad_()


def chain():
    x = leaf()
    y = x
    for _ in range(20):
        y = (y * x + 1).tanh() / 2 - x
    y.sum().backward()


def saved_outputs():
    x = leaf()
    y = x.exp().tanh().sigmoid().sqrt().reciprocal().reshape(10, 100)
    z = y.softmax(1).log_softmax(0).logsumexp(1).exp().relu().std()
    z.backward()


def reductions():
    x = leaf().reshape(10, 100)
    total = x.max() + x.min(1).values.sum() + x.amax(0).sum() + x.var() + x.norm() + x.mean(0).norm(3)
    total.backward()


def products():
    x, w = leaf().reshape(10, 100), leaf().reshape(100, 10)
    (x @ w).mm(x).sum().backward()
    pullback.einsum("ij,jk->", x, w).backward()
    (x[0] @ w @ w.T @ x[1]).backward()


def views_and_writes():
    x = leaf().reshape(10, 100)
    y = x * 2
    y[0] = y[1] * y[2]
    rows = y.T.reshape(100, 10).unsqueeze(0).expand(2, 100, 10)
    y[:, 3] += 1
    view = y[2:4]
    view.mul_(3).exp_()
    y[y > 1] = 0
    y[[0, 0, 1]] = x[:3]
    y.add_(1).tanh_()
    (y.sum() * rows.sum()).backward()


def pieces():
    x = leaf().reshape(10, 100)
    first, *rest = x
    parts = [first * 2, *rest, *(x * 2).split(3), *x.exp().chunk(2)]
    pullback.cat([part.flatten() for part in parts]).sum().backward()
    pullback.stack(x.unbind(1)[:3]).sum().backward()


def indices():
    x = leaf()
    (x[[0, 0, 1]].sum() + x[x > 1].sum() + pullback.where(x > 1, x, 2 * x).sum() + x.clamp(0.6, 1).sum()).backward()


def hooks():
    x = leaf()
    y = x * x
    seen = []
    y.register_hook(lambda g: seen.append(g.shape))
    y.grad_fn.register_prehook(lambda gs: tuple(g + 1 for g in gs))
    y.grad_fn.register_hook(lambda gs, outs: None)
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.shape))
    y.sum().backward()
    assert len(seen) == 2


def retained():
    x = leaf()
    y = x * 2
    y.retain_grad()
    z = y * y
    z.retain_grad()
    z.sum().backward()
    assert y.grad is not None


def kept_graph_dropped():
    x = leaf()
    y = (x * x).exp().sum()
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)


def never_run_backward():
    x = leaf()
    y = x.exp() * x
    y[0] = 1
    first, *_ = y.reshape(10, 100)
    first.register_hook(lambda g: None)
    y.retain_grad()


def grad_only():
    x = leaf()
    grad((x * x).exp().sum(), x)


def unpacked():
    x = leaf()
    with pullback.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(force=True).copy(), pullback.from_numpy):
        y = x.exp() * x
    y.sum().backward()


def untracked():
    x = leaf()
    with pullback.no_grad():
        y = x * 2
        y[0] = 1
    with pullback.inference_mode():
        y = x * 2
        y[0] = y[1:3].sum()


def refused():
    x = leaf()
    for call in ((x * 2).backward, lambda: x.add_(1), lambda: x[BIG], lambda: x.reshape(7), lambda: x @ x[1:]):
        with pytest.raises((RuntimeError, IndexError)):
            call()


PROGRAMS = [
    chain, saved_outputs, reductions, products, views_and_writes, pieces, indices, hooks, retained, kept_graph_dropped,
    never_run_backward, grad_only, unpacked, untracked, refused,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_reference_counts_alone_free_everything(program, traced):
    for _ in range(2):  # what is made once and kept: node classes, composed rules, caches of shapes
        program()
    gc.collect()
    tensors, elements = alive(), array_bytes()
    program()
    assert alive() == tensors
    assert array_bytes() <= elements + 64  # a 0-d array in an exception or a cache


def second_derivative():
    x = leaf()
    y = (x.exp() * x).tanh().sum()
    y.backward(create_graph=True)
    x.grad.sum().backward(create_graph=True)


def gradient_of_a_gradient():
    x = leaf().reshape(10, 100)
    (first,) = grad((x.softmax(1) * x[0]).sum(), x, create_graph=True)
    grad((first * first).sum(), x, create_graph=True)


def hooks_on_recorded_gradients():
    x = leaf()
    y = x * x
    y.retain_grad()
    y.register_hook(lambda g: g * x)
    y.sum().backward(create_graph=True)


@pytest.mark.parametrize("program", [second_derivative, gradient_of_a_gradient, hooks_on_recorded_gradients])
def test_one_collection_frees_recorded_gradients(program, traced):
    for _ in range(2):
        program()
    gc.collect()
    tensors, elements = alive(), array_bytes()
    program()
    gc.collect()
    assert alive() == tensors
    assert array_bytes() <= elements + 64


KEPT = {
    "exp": (lambda h, c: h.exp(), 1),  # its output, which the caller holds
    "log": (lambda h, c: h.log(), 2),
    "sin": (lambda h, c: h.sin(), 2),
    "add": (lambda h, c: h + c, 1),
    "mul by a constant": (lambda h, c: h * c, 1),
    "constant by mul": (lambda h, c: c * h, 1),
    "mul by a number": (lambda h, c: h * 3, 1),
    "div by a constant": (lambda h, c: h / c, 1),
    "constant by div": (lambda h, c: c / h, 2),
    "square": (lambda h, c: h * h, 2),
    "neg": (lambda h, c: -h, 1),
    "sqrt": (lambda h, c: h.sqrt(), 1),
    "relu": (lambda h, c: h.relu(), 1),
    "softmax": (lambda h, c: h.softmax(0), 1),
    "add_": (lambda h, c: h.add_(1), 1),
    "sum": (lambda h, c: h.sum(), 0),
    "view": (lambda h, c: h.reshape(10, 100), 1),
    "matmul by a constant": (lambda h, c: h.reshape(10, 100) @ c.reshape(100, 10), 0.1),
}


@pytest.mark.parametrize("name", KEPT)
def test_a_graph_keeps_what_its_rules_need(name, traced):
    """An intermediate value that no rule of a tracked input names goes away with its tensor."""
    operation, arrays = KEPT[name]
    x, c = leaf(), leaf().detach()
    operation(x * 1, c).sum().backward()
    before = array_bytes()
    h = x * 1
    y = operation(h, c)
    del h
    assert array_bytes() - before == pytest.approx(arrays * ARRAY, abs=500)
    del y
    assert array_bytes() - before == pytest.approx(0, abs=500)


@pytest.mark.parametrize("retain", [False, True])
def test_backward_frees_what_was_saved_unless_asked_not_to(retain, traced):
    x = leaf()
    before = array_bytes()
    y = (x * 1).sin().exp().cos().sum()
    saved = 2 * ARRAY  # what sin was given; what exp gave, which is what cos was given
    assert array_bytes() - before == pytest.approx(saved, abs=500)
    y.backward(retain_graph=retain)
    gradient = ARRAY
    assert array_bytes() - before == pytest.approx(gradient + saved * retain, abs=500)


WALKS = {
    "a chain": (lambda x: chain_of(x, 40), 1),
    "a ladder": (lambda x: ladder(x, 20), 2),
    "a fan": (lambda x: sum((x * float(i)).sin() for i in range(12)), 12),
}


def chain_of(x, length):
    for _ in range(length):
        x = x.sin()
    return x


def ladder(x, length):
    """Two values that each step mixes: two cotangents are alive."""
    a, b = x.sin(), x.cos()
    for _ in range(length):
        a, b = (a * b).sin(), (a + b).cos()
    return a * b


@pytest.mark.parametrize("name", WALKS)
def test_a_pass_needs_one_cotangent_for_each_live_edge(name, traced):
    """At its peak, beside what was saved: the cotangents on their way, and a few arrays of the rule that runs."""
    program, live = WALKS[name]
    x = leaf()
    program(x).sum().backward()
    x.grad = None
    loss = program(x).sum()
    before = array_bytes()
    tracemalloc.reset_peak()
    start = tracemalloc.get_traced_memory()[0]
    loss.backward()
    peak = tracemalloc.get_traced_memory()[1] - start
    assert peak <= (live + 4) * ARRAY
    assert array_bytes() <= before + ARRAY


# None of these saves anything itself.
WRITES = {
    "mul_": lambda y: y.mul_(3),
    "+=": lambda y: y.__iadd__(1),
    "zero_": lambda y: y.zero_(),
    "copy_": lambda y: y.copy_(pullback.zeros(BIG)),
    "y[0] = 1": lambda y: y.__setitem__(0, 1),
    "y[2:4] *= 2": lambda y: y[2:4].mul_(2),
    "y[y > 1] = 0": lambda y: y.__setitem__(y > 1, 0),
    "y[[1, 2]] = 0": lambda y: y.__setitem__([1, 2], 0),
    "detach": lambda y: y.detach().mul_(2),
    "data": lambda y: y.data.fill_(2),
    "no_grad": lambda y: pullback.no_grad()(y.fill_)(2),
    "numpy view of a row": lambda y: y.reshape(10, 100).detach()[3].zero_(),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("shared", [False, True], ids=["alone", "seen by a view"])
def test_a_saved_value_that_is_written_is_copied_once(write, shared, traced):
    WRITES[write]((leaf() * 1).clone())
    x = leaf()
    y = x * 1
    view = y.view(-1) if shared else None
    z = y * y
    before = array_bytes()
    WRITES[write](y)
    once = array_bytes()
    assert once - before == pytest.approx(ARRAY, abs=1500)
    WRITES[write](y)
    assert array_bytes() - once == pytest.approx(0, abs=1500), "a second write copies nothing"
    (gradient,) = grad(z.sum(), x)
    np.testing.assert_array_equal(gradient.numpy(), 2 * x.detach().numpy())
    assert view is None or view.data_ptr() == y.data_ptr()


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("name", ["add", "released", "passed"])
def test_a_write_copies_nothing_that_no_graph_needs(write, name, traced):
    WRITES[write]((leaf() * 1).clone())
    x = leaf()
    y = x * 1
    z = y + 1 if name == "add" else y * y
    if name == "released":
        del z
    if name == "passed":
        z.sum().backward()
    before = array_bytes()
    WRITES[write](y)
    assert array_bytes() - before == pytest.approx(0, abs=1500)


def test_values_saved_at_several_times_each_keep_their_own():
    x = leaf(3)
    y = x * 1
    shared = y.detach()
    terms = []
    for factor in (2, 3, 5):
        terms.append(y * y)
        y.mul_(factor)
    terms.append(y * y)
    sum(terms).sum().backward()
    weights = 1 + 2**2 + 6**2 + 30**2
    np.testing.assert_allclose(x.grad.numpy(), 2 * weights * x.detach().numpy(), rtol=1e-12)
    np.testing.assert_array_equal(shared.numpy(), y.detach().numpy())
    assert np.shares_memory(shared.numpy(), y.detach().numpy())


@pytest.mark.parametrize("name", ["exp", "tanh", "sigmoid", "sqrt", "reciprocal", "relu", "softmax"])
def test_a_saved_output_that_is_written_keeps_its_old_value(name):
    x, weights = leaf(3), pullback.tensor([1.0, 2.0, 3.0], dtype=float)
    options = {"dim": 0} if name == "softmax" else {}
    (expected,) = grad((getattr(x, name)(**options) * weights).sum(), x)
    y = getattr(x, name)(**options)
    z = (y * weights).sum()
    y[1:].zero_()
    (found,) = grad(z, x)
    np.testing.assert_array_equal(found.numpy(), expected.numpy())


def squared(view):
    return (view * view).sum()


DROPPED = {
    "view": lambda x: (x[1:] * x[1:].detach()).sum() * 2,
    "square of a view": lambda x: squared(x[1:]),
    "view of a view": lambda x: squared(x.reshape(3, 1)[1:]),
    "row": lambda x: sum((row * row for row in x[1:]), pullback.tensor(0.0)),
    "detached": lambda x: (x * x.detach()).sum() * 2,
}


@pytest.mark.parametrize("name", DROPPED)
@pytest.mark.parametrize("leaf_written", [False, True])
def test_a_saved_value_is_kept_although_its_tensor_is_gone(name, leaf_written):
    """The graph is the only one left that knows of the view whose memory is written."""
    x = leaf(3)
    source = x if leaf_written else x * 1
    total = DROPPED[name](source)
    (expected,) = grad(total, x, retain_graph=True)
    with pullback.no_grad():
        source.mul_(10)
    (found,) = grad(total, x)
    np.testing.assert_array_equal(found.numpy(), expected.numpy())


def test_a_saved_output_is_kept_although_its_tensor_is_gone():
    x = leaf(3)
    y = x.exp()
    alias, total = y.detach(), y.sum()
    del y
    alias.zero_()
    total.backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.exp(x.detach().numpy()))


@pytest.mark.parametrize("write", [lambda y: y[:1].mul_(2), lambda y: y[1:].zero_(), lambda y: y.mul_(y.detach())])
def test_what_an_operation_in_place_has_saved_outlives_the_next_write(write):
    """exp_ keeps its result, whose array has become the tensor's own: a write through a view must leave it that."""
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    y.exp_()
    before = y.detach().clone()
    write(y)
    factor = (y.detach() / before).clone()
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), (before * factor).numpy(), rtol=1e-6)


def test_a_saved_value_is_kept_when_its_tensor_has_moved_elsewhere():
    x = leaf(3)
    alias, total = x.detach(), (x * x).sum()
    old = alias.clone()
    x.data = pullback.zeros(3, dtype=float)
    alias.zero_()
    total.backward()
    np.testing.assert_array_equal(x.grad.numpy(), 2 * old.numpy())


def test_what_runs_inside_an_operation_may_use_tensors():
    """A forward function, or a finalizer that runs in the middle of one."""

    class Finalized:
        def __del__(self):
            seen.append((pullback.ones(2) * 3).sum().item())

    def forward(x):
        Finalized()
        return (pullback.from_numpy(x) * 2).numpy()

    seen = []
    doubled = elementwise("doubled", lambda xp, g: 2 * g, forward=forward)
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    doubled(x).sum().backward()
    assert seen == [6.0]
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("turn", [lambda y: y.t_(), lambda y: y.transpose_(0, 1), lambda y: y.swapaxes_(0, -1)])
@pytest.mark.parametrize("block", [pullback.no_grad, pullback.inference_mode])
def test_axes_changed_in_place_outside_of_graphs_keep_the_history(turn, block):
    """The values are the same, so the gradient is, with the axes that they have now."""
    for shape in ((2, 3), (3, 3)):
        weights = np.random.default_rng(0).normal(size=shape)
        x = pullback.ones(shape, dtype=pullback.float64).requires_grad_()
        y = 2 * x
        with block():
            turn(y)
        assert y.requires_grad
        (y * pullback.tensor(weights.T.copy())).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), 2 * weights)


def test_axes_added_in_place_without_a_graph_keep_the_history_of_a_view():
    x = pullback.ones(2, 3).requires_grad_()
    y = 2 * x
    row = y[0]
    with pullback.no_grad():
        row.unsqueeze_(0)
        row.mul_(3)  # which no_grad hides, as for every write
    assert row.shape == (1, 3)
    (row * 5).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[10, 10, 10], [0, 0, 0]])


@pytest.mark.parametrize("name", "eq_ ne_ lt_ le_ gt_ ge_ logical_and_ logical_or_ logical_xor_".split())
def test_comparisons_in_place_stay_tracked_with_a_derivative_of_zero(name):
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    getattr(y, name)(pullback.tensor([2.0, 0.0]))
    assert y.requires_grad
    (y + x).sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_backward_to_a_result_retains_its_gradient():
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    loss = (y * y).sum()
    loss.backward(inputs=[y], retain_graph=True)
    assert y.retains_grad
    loss.backward()
    assert y.grad.tolist() == [8, 16]  # of both passes


@pytest.mark.parametrize("tracked", [False, True])
@pytest.mark.parametrize(
    "name", ["zero_", "mul_", "sub_", "lerp_", "normal_", "tril_", "index_fill_", "masked_fill_", "cumsum_"]
)
def test_a_write_keeps_the_order_of_axes_in_memory(name, tracked):
    """As in torch: what has columns side by side still has them, whatever the order of what is written."""
    rows, first = pullback.arange(6.0).reshape(3, 2), pullback.tensor([0])
    args = {"mul_": (rows,), "sub_": (rows,), "lerp_": (rows, 0.5), "index_fill_": (0, first, 2.0), "masked_fill_": (rows > 2, 1.0),
            "cumsum_": (0,)}  # fmt: skip
    x = pullback.ones(2, 3).T.requires_grad_(tracked).clone()
    assert x.stride() == (1, 3)
    getattr(x, name)(*args.get(name, ()))
    assert x.stride() == (1, 3)
    if tracked:
        y = pullback.ones(3, 2, requires_grad=True)
        z = y.clone()
        getattr(z, name)(*args.get(name, ()))
        leaf = pullback.ones(2, 3, requires_grad=True)
        w = leaf.T.clone()
        getattr(w, name)(*args.get(name, ()))
        for each in (z, w):
            (each * rows).sum().backward()
        assert pullback.equal(leaf.grad.T, y.grad)
