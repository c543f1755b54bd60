"""What goes into a transform and what comes out of it lie in the same memory, as in torch; and graphs are protected."""

import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: there is nothing to compare with")

import pullback  # noqa: E402

from .compare import parity, raises  # noqa: E402

VIEWS = {
    "the argument": lambda a: a,
    "a slice": lambda a: a[1:],
    "a transpose": lambda a: a.t(),
    "a diagonal": lambda a: a.diagonal(),
    "a view of a view": lambda a: a[:, 1:].unsqueeze(0).expand(2, 3, 2)[0],
    "the written argument": lambda a: a.mul_(2),
    "a view of the written argument": lambda a: a.mul_(2)[1],
    "a view that was written": lambda a: a[1].mul_(2),
}
WAYS = {
    "vmap": lambda t, f: t.func.vmap(f),
    "vmap along another axis": lambda t, f: t.func.vmap(f, in_dims=2, out_dims=-1),
    "vmap of vmap": lambda t, f: lambda x: t.func.vmap(t.func.vmap(f))(x.unsqueeze(0)),
}


def table(t):
    return t.arange(27.0, dtype=t.float64).reshape(3, 3, 3)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("view", VIEWS)
@parity
def test_a_view_of_an_argument_is_one_outside(t, view, way):
    x = table(t)
    y = WAYS[way](t, VIEWS[view])(x)
    seen = y.clone()
    x.mul_(10)
    if 0 in y.stride():
        return seen, y
    y.add_(1)
    return seen, y, x


@pytest.mark.parametrize("view", VIEWS)
@parity
def test_writes_reach_the_history_of_the_argument(t, view):
    x = table(t)
    y = t.func.vmap(VIEWS[view])(x)
    w = t.ones(y.shape, dtype=t.float64, requires_grad=True)
    if 0 in y.stride():
        return None
    y.mul_(w)
    return t.autograd.grad((x * x).sum(), w)


USES = {
    "vmap": lambda f, x, w: f.vmap(lambda a, b: a * b)(x, w),
    "vmap of a view": lambda f, x, w: f.vmap(lambda a: a.t())(x).mT * w,
    "vmap of detach": lambda f, x, w: f.vmap(lambda a: a.detach())(x) * w,
    "jvp": lambda f, x, w: f.jvp(lambda a: a * w, (x,), (x.clone(),))[0],
    "the tangent of jvp": lambda f, x, w: f.jvp(lambda a: a * w, (x.clone(),), (x,))[1],
    "the tangent itself": lambda f, x, w: f.jvp(lambda a: a.mT, (x.clone(),), (x,))[1].mT * w,
    "vjp": lambda f, x, w: f.vjp(lambda a: a * w, x)[0],
    "vjp of a view": lambda f, x, w: f.vjp(lambda a: a.mT, x)[0].mT * w,
    "the pullback of vjp": lambda f, x, w: f.vjp(lambda a: a * w, x.clone())[1](x)[0],
    "the cotangent itself": lambda f, x, w: f.vjp(lambda a: a.mT, x.mT.clone())[1](x)[0].mT * w,
    "linearize": lambda f, x, w: f.linearize(lambda a: a.mT, x)[0].mT * w,
    "the tangent of linearize": lambda f, x, w: f.linearize(lambda a: a.mT, x.clone())[1](x).mT * w,
    "what grad takes along": lambda f, x, w: f.grad(lambda a: (a.sum(), a.mT), has_aux=True)(x)[1].mT * w,
    "grad": lambda f, x, w: f.grad(lambda a: (a * a * w).sum() / 2)(x),
    "a captured tensor": lambda f, x, w: f.vjp(lambda a: a * w * x, (x * 0 + 1))[0],
}


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("use", USES)
def test_a_write_to_an_argument_leaves_graphs_what_they_keep(use, shared):
    memory = table(pullback)
    x = memory[:] if shared else memory
    w = pullback.ones(3, 3, 3, dtype=pullback.float64, requires_grad=True)
    loss = USES[use](pullback.func, x, w).sum()
    before = x.clone()
    x.mul_(10)
    loss.backward()
    assert w.grad.tolist() == before.tolist()


def layouts(t):
    def numbers(*shape):
        count = 1
        for n in shape:
            count *= n
        return t.arange(float(count)).reshape(shape)

    return [
        numbers(5, 2, 3),
        numbers(5, 3, 2).transpose(1, 2),
        numbers(3, 2, 5).movedim(-1, 0).transpose(1, 2),
        numbers(2, 5, 2, 3)[1],
        numbers(2, 3, 5).movedim(2, 0),
        numbers(3, 2, 5).movedim(2, 0).mT,
    ]


@pytest.mark.parametrize("layout", range(6))
@parity
def test_strides_are_those_of_the_memory(t, layout):
    x = layouts(t)[layout]
    seen = []

    def f(a):
        seen.append((a.stride(), a.storage_offset(), a.is_contiguous()))
        return a

    t.func.vmap(f)(x)
    t.func.vmap(f, in_dims=1)(x)
    t.func.vmap(t.func.vmap(f))(x)
    return [tuple(map(str, entry)) for entry in seen]


@pytest.mark.parametrize("layout", range(6))
@parity
def test_strided_views_count_the_elements_of_the_memory(t, layout):
    x = layouts(t)[layout]
    (down, along), start = x.stride()[1:], x.storage_offset()
    strided = [
        ([5, 2, 3], [0, down, along], start),
        ([3, 2], [along, down], start),
        ([2], [down], start + along),
        ([2], [down + along], start),
        ([2], [2 * along], None),
    ]
    return [t.func.vmap(lambda a, args=args: a.as_strided(*args))(x) for args in strided]


@pytest.mark.parametrize("layout", range(6))
@parity
def test_what_is_written_to_a_strided_view(t, layout):
    x = layouts(t)[layout]
    down, along = x.stride()[1:]

    def f(a):
        b = a.as_strided([3, 2], [along, down])
        b.mul_(2)
        b[0].add_(1)
        a.mul_(3)
        return b + a.t()

    return t.func.vmap(f)(x), x


def test_a_strided_view_that_leaves_the_example_is_refused():
    x = pullback.arange(30.0).reshape(5, 2, 3).transpose(1, 2)
    with pytest.raises(RuntimeError, match="not supported inside of vmap"):
        pullback.func.vmap(lambda a: a.as_strided((2,), (6,), 0))(x)
    with pytest.raises(RuntimeError, match="not supported inside of vmap"):
        pullback.func.vmap(lambda a: a.as_strided((2,), (1,), 0), in_dims=1)(pullback.arange(6.0).reshape(3, 2))


def through_the_whole(a):
    a = a * 1
    a.detach().add_(1)
    return a * a


def through_a_row(a):
    a = a * 1
    a.detach()[0] = 5.0
    return a * a


def seen_from_before(a):
    a = a * 1
    before = a.detach()
    a.mul_(3)
    return a * before


def through_a_view(a):
    a = a * 1
    a[1:].detach().mul_(2)
    return a * a


def seen_from_a_view(a):
    a = a * 1
    part = a[1:]
    a.detach().mul_(2)
    return part * part


def detached_twice(a):
    a = a * 1
    first = a.detach()
    first.detach().add_(1)
    return a * first


DETACHED = [
    through_the_whole, through_a_row, seen_from_before, through_a_view, seen_from_a_view, detached_twice,
]  # fmt: skip
TRANSFORMED = {
    "itself": lambda f, t, x: f(x),
    "vjp": lambda f, t, x: t.func.vjp(f, x)[0],
    "grad": lambda f, t, x: t.func.grad(lambda a: f(a).sum())(x),
    "jvp": lambda f, t, x: t.func.jvp(f, (x,), (t.ones(3),)),
    "vmap": lambda f, t, x: t.func.vmap(f)(t.stack([x, x * 2])),
    "grad of grad": lambda f, t, x: t.func.grad(lambda b: t.func.grad(lambda a: f(a).sum())(b).sum())(x),
    "vmap of grad": lambda f, t, x: t.func.vmap(t.func.grad(lambda a: f(a).sum()))(t.stack([x, x * 2])),
    "grad of vmap": lambda f, t, x: t.func.grad(lambda b: t.func.vmap(f)(b).sum())(t.stack([x, x * 2])),
    "jvp of grad": lambda f, t, x: t.func.jvp(t.func.grad(lambda a: f(a).sum()), (x,), (t.ones(3),)),
}


@pytest.mark.parametrize("transform", TRANSFORMED)
@pytest.mark.parametrize("f", DETACHED, ids=lambda f: f.__name__)
@parity
def test_writes_through_what_was_detached(t, f, transform):
    """One memory, here as outside of transforms: the values change, the histories stay."""
    found = TRANSFORMED[transform](f, t, t.tensor([1.0, 2.0, 3.0]))
    return [part.detach() for part in found] if isinstance(found, tuple) else found.detach()


@pytest.mark.parametrize("f", DETACHED, ids=lambda f: f.__name__)
@parity
def test_writes_through_what_was_detached_and_a_graph_around(t, f):
    x = t.tensor([1.0, 2.0, 3.0], requires_grad=True)
    t.func.vmap(f)(t.stack([x, x * 2])).sum().backward()
    return x.grad


EXPANDED = {
    "fill_": lambda t, y: y.fill_(5.0),
    "zero_ of the last axis": lambda t, y: y.t().zero_(),
    "masked_fill_": lambda t, y: y.masked_fill_(t.tensor([True, False, False]), 5.0),
    "index_fill_": lambda t, y: y.index_fill_(1, t.tensor([0]), 5.0),
    "an index": lambda t, y: y.__setitem__(t.tensor([0]), 5.0),
    "a row": lambda t, y: y.__setitem__(0, 5.0),
    "a row in place": lambda t, y: y[1].mul_(3),
}


@pytest.mark.filterwarnings("ignore:Use of .* on expanded tensors")
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("name", EXPANDED)
@parity
def test_an_expanded_tensor_is_filled_inside_vmap(t, name, depth):
    def f(x):
        base = x * 1
        view = base.expand(4, 3)
        EXPANDED[name](t, view)
        return base, view

    x = t.arange(1.0, 31.0).reshape(2, 5, 1, 3)
    return t.func.vmap(t.func.vmap(f))(x) if depth == 2 else t.func.vmap(f)(x[0])


@parity
def test_a_row_of_an_expanded_tensor_is_written_under_grad(t):
    def f(x):
        y = (x * 1).expand(4, 3)
        y[0] = 5.0 * x[0, 0]
        return (y * x).sum()

    return t.func.grad(f)(t.ones(1, 3))


@pytest.mark.parametrize("write", [lambda t, y: y.add_(1), lambda t, y: y.__setitem__((slice(None), 0), 1.0)])
@pytest.mark.parametrize("transform", ["vmap", "grad"])
@parity
def test_an_expanded_tensor_takes_no_other_values_inside_transforms(t, transform, write):
    def f(x):
        y = (x * 1).expand(4, 3)
        write(t, y)
        return y.sum()

    wording = "more than one element of the written-to tensor refers to a single memory location."
    raises(RuntimeError, wording, lambda: getattr(t.func, transform)(f)(t.ones(1, 3)))


def test_values_whose_order_would_count_are_refused_inside_transforms():
    def f(x):
        y = (x * 1).expand(4, 3)
        y[pullback.tensor([0])] = pullback.tensor([1.0, 2.0, 3.0])
        return y.sum()

    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        pullback.func.grad(f)(pullback.ones(1, 3))
