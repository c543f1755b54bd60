"""What a compiled function gives is what the function gives: for every operation, for its effects, and after any change."""

import gc
import types
import warnings
import weakref

import numpy as np
import pytest

import pullback
from pullback import ops
from pullback.compile import CaptureError, Compiled

from ..rows import each_row
from ..samples import rows
from .beside import follows, plain, same

F = pullback.nn.functional


@each_row(rows())
def test_every_operation_and_its_gradient(name, makers, params):
    primitive = getattr(ops, name)

    def function(*tensors):
        result = primitive(*tensors, **params)
        pieces = [piece for piece in (result if isinstance(result, tuple) else (result,)) if piece.requires_grad]
        leaves = [tensor for tensor in tensors if tensor.requires_grad]
        grads = (
            pullback.autograd.grad(pieces, leaves, [p.detach() * 0 + 1 for p in pieces], allow_unused=True)
            if pieces
            else ()
        )
        return [piece.detach() for piece in (result if isinstance(result, tuple) else (result,))], list(grads)

    compiled = plain(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # told below
        for seed in range(2):
            rng = np.random.default_rng(seed)
            tensors = [pullback.tensor(np.asarray(make(rng))) for make in makers]
            tensors = [t.requires_grad_() if t.is_floating_point() or t.is_complex() else t for t in tensors]
            same(function(*tensors), compiled(*tensors))
    assert all("depends on values" in reason for reason in compiled.refused.values()), compiled.refused
    assert compiled.records or compiled.refused


# Effects


def network():
    pullback.manual_seed(0)
    return pullback.nn.Sequential(pullback.nn.Linear(4, 5), pullback.nn.Tanh(), pullback.nn.Linear(5, 3))


@pytest.mark.parametrize(
    "make",
    [
        lambda p: pullback.optim.SGD(p, lr=0.1),
        lambda p: pullback.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
        lambda p: pullback.optim.Adam(p, lr=0.01),
        lambda p: pullback.optim.AdamW(p, lr=0.01, weight_decay=0.1),
        lambda p: pullback.optim.RMSprop(p, lr=0.01, momentum=0.5),
        lambda p: pullback.optim.Adagrad(p, lr=0.01, lr_decay=0.1),
        pullback.optim.Adadelta,
        pullback.optim.Adamax,
        lambda p: pullback.optim.RAdam(p, lr=0.01),
        lambda p: pullback.optim.NAdam(p, lr=0.01),
        lambda p: pullback.optim.ASGD(p, lr=0.01),
        lambda p: pullback.optim.Rprop(p, lr=0.01),
        lambda p: pullback.optim.Adafactor(p, lr=0.01, weight_decay=0.1),
        lambda p: pullback.optim.Muon([each for each in p if each.ndim == 2], lr=0.01),
    ],
)
@pytest.mark.filterwarnings("ignore:compile")
def test_a_training_step(make):
    def training(compiled):
        model = network().double()
        optimizer = make(model.parameters())

        def step(x, target):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), target)
            loss.backward()
            optimizer.step()
            return loss.detach()

        step = plain(step) if compiled else step
        rng = np.random.default_rng(0)
        losses = []
        for _ in range(8):
            x, target = pullback.tensor(rng.standard_normal((6, 4))), pullback.tensor(rng.integers(0, 3, 6))
            losses.append(step(x, target).item())
        if compiled:
            exec(step.source, {})
        return losses, [p.detach().numpy() for p in model.parameters()]

    losses, values = training(compiled=False)
    others, found = training(compiled=True)
    np.testing.assert_allclose(losses, others, rtol=1e-12)
    for a, b in zip(values, found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-14)


def test_a_schedule_records_nothing_anew():
    def training(compiled):
        model = network().double()
        optimizer = pullback.optim.Adam(model.parameters(), lr=0.1)
        schedule = pullback.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)

        def step(x):
            optimizer.zero_grad()
            (model(x) ** 2).sum().backward()
            optimizer.step()

        step = plain(step) if compiled else step
        for i in range(12):
            pullback.manual_seed(i)
            step(pullback.randn(3, 4, dtype=pullback.float64))
            schedule.step()
        return [p.detach().numpy() for p in model.parameters()], step

    (expected, _), (found, step) = training(compiled=False), training(compiled=True)
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-14)
    assert len(step.reasons) < 4


def test_embeddings():
    def function(table, places):
        return pullback.autograd.grad((F.embedding(places, table) ** 2).sum(), table)[0]

    compiled = plain(function)
    for seed in range(3):
        pullback.manual_seed(seed)
        table, places = pullback.randn(5, 3, requires_grad=True), pullback.randint(0, 5, (4,))
        same(function(table, places), compiled(table, places))
    assert compiled.records


def test_gradients_accumulate_and_are_forgotten():
    w = pullback.ones(3, requires_grad=True)

    @plain
    def step(x, reset):
        if reset:
            w.grad = None
        (w * x).sum().backward()

    for i in range(5):
        step(pullback.full((3,), float(i)), False)
        assert w.grad.tolist() == [sum(range(i + 1))] * 3
    step(pullback.ones(3), True)
    assert w.grad.tolist() == [1.0] * 3


def test_random_numbers_are_drawn_anew():
    step = plain(lambda x: F.dropout(x, 0.5))
    x = pullback.ones(64)
    drawn = [tuple(step(x).tolist()) for _ in range(4)]
    assert len(set(drawn)) == 4
    pullback.manual_seed(7)
    expected = [F.dropout(x, 0.5).tolist() for _ in range(3)]
    pullback.manual_seed(7)
    assert [step(x).tolist() for _ in range(3)] == expected


def test_writes_and_views_inside():
    def function(x):
        y = x.clone()
        y[1:] *= 2
        y[0] = x[1] + y[2]
        z = y.view(2, 2)
        z[:, 0] += 1
        w = z.t()
        w.zero_() if x.shape[0] == 3 else w.mul_(3)
        return y, z, w.contiguous()

    compiled = plain(function)
    for seed in range(3):
        pullback.manual_seed(seed)
        x = pullback.randn(4)
        same(function(x), compiled(x))


def test_a_written_argument():
    def function(x, y):
        x += y
        x[0] = 5.0
        return (x * 2).sum()

    compiled = plain(function)
    for _ in range(3):
        a, b, y = pullback.ones(3), pullback.ones(3), pullback.arange(3.0)
        same(function(a, y), compiled(b, y))
        same(a, b)
        assert a._version == b._version


@pytest.mark.filterwarnings("ignore:compile")
def test_arguments_that_share_memory():
    def function(x, y):
        x += 1
        return x + y

    compiled = plain(function)
    for _ in range(3):
        base, other = pullback.arange(6.0), pullback.arange(6.0)
        same(function(base[:4], base[2:]), compiled(other[:4], other[2:]))
        same(base, other)
        x, y = pullback.ones(2), pullback.ones(2)
        same(function(x, x), compiled(y, y))


def test_a_compiled_function_in_the_middle_of_a_graph():
    model = network()
    compiled = plain(model.__call__)
    for seed in range(3):
        pullback.manual_seed(seed)
        x = pullback.randn(2, 4)
        grads = []
        for function in (model, compiled):
            h = x.clone().requires_grad_()
            model.zero_grad()
            (function(h * 2) ** 2).sum().backward()
            grads.append([h.grad, *[p.grad for p in model.parameters()]])
        same(*grads)
    x = pullback.randn(2, 4, requires_grad=True)
    compiled(x)
    parameters = list(model.parameters())
    twice = [pullback.autograd.grad(f(x).sum(), parameters, create_graph=True) for f in (model, compiled)]
    same(*twice)


@pytest.mark.parametrize("last", [pullback.Tensor.sum, pullback.Tensor.mean, lambda t: -t.exp().mean().reshape(1)[0]])
def test_a_graph_that_was_freed_inside(last):
    """Whether or not its last operations have kept anything."""
    w = pullback.ones(2, requires_grad=True)

    def function(x):
        w.grad = None
        loss = last(w * w * x)
        loss.backward()
        return loss

    compiled = plain(function)
    for _ in range(4):
        loss = compiled(pullback.ones(2))
        assert loss.requires_grad
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
            loss.backward()


@pytest.mark.parametrize(
    "function",
    [
        pullback.func.grad(lambda t: (t**3).sum()),
        pullback.func.hessian(lambda t: t.tanh().sum() ** 2),
        pullback.func.jacrev(lambda t: t.sin() * t.sum()),
        pullback.func.jacfwd(lambda t: t.sin() * t.sum()),
        pullback.func.vmap(lambda t: t.exp() / t),
        lambda x: pullback.func.jvp(lambda t: t.exp() * t, (x,), (pullback.ones_like(x),)),
    ],
)
def test_transforms_inside(function):
    compiled = plain(function)
    for seed in range(3):
        pullback.manual_seed(seed)
        x = pullback.randn(4, dtype=pullback.float64)
        same(function(x), compiled(x))
    assert compiled.records


MATRIX, VECTOR, GRID = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([1.5, -2.0]), np.array([-5.0, 0.0, 5.0])
OF_NUMPY = {
    "solve": lambda x: np.linalg.solve(MATRIX, x * x),
    "interp": lambda x: np.interp(x * x, GRID, GRID**2),
    "kron": lambda x: np.kron(VECTOR, x * x),
    "lstsq": lambda x: np.linalg.lstsq(MATRIX, x * x)[0],
    "inner": lambda x: np.inner(VECTOR, x * x),
    "tensordot": lambda x: np.tensordot(MATRIX, x.sin(), 1),
    "cov": lambda x: np.cov(VECTOR, x),
    "gradient": lambda x: np.gradient(x.exp(), VECTOR),
    "average": lambda x: np.average(x**3, weights=VECTOR),
    "multi_dot": lambda x: np.linalg.multi_dot([MATRIX, MATRIX, x.exp()]),
    "insert": lambda x: np.insert(x * x, 1, VECTOR),
    "take": lambda x: np.take(x * x, np.array([0, 1, 1])),
}


@pytest.mark.parametrize(
    "transform",
    [
        pullback.func.grad,
        pullback.func.hessian,
        lambda total: lambda x: pullback.func.jvp(total, (x,), (x,))[1],
        lambda total: lambda x: pullback.func.vmap(pullback.func.grad(total))(pullback.stack([x, 2 * x])),
    ],
    ids=["grad", "hessian", "jvp", "vmap of grad"],
)
@pytest.mark.parametrize("name", OF_NUMPY)
def test_constants_of_numpy_in_transforms(name, transform):
    function = transform(lambda x: OF_NUMPY[name](x).sum())
    compiled = Compiled(function, fullgraph=True, fuse=False)
    for x in (
        pullback.tensor([0.5, 1.5], dtype=pullback.float64),
        pullback.tensor([-1.0, 0.2], dtype=pullback.float64),
    ):
        same(function(x), compiled(x))


def test_second_derivatives_inside():
    def function(x):
        (g,) = pullback.autograd.grad((x**4).sum(), x, create_graph=True)
        return pullback.autograd.grad((g * g).sum(), x)[0]

    compiled = plain(function)
    for _ in range(3):
        x = pullback.randn(3, requires_grad=True)
        same(function(x), compiled(x))
    assert compiled.records


# Floats


def test_a_float_argument_stays_an_input():
    compiled = plain(lambda x, rate: (x * rate + (1 - rate**2) / 3, x.add(x, alpha=rate)))
    x = pullback.arange(4.0)
    for rate in (0.1, 0.25, -3.0):
        same((x * rate + (1 - rate**2) / 3, x.add(x, alpha=rate)), compiled(x, rate))


def test_a_float_that_python_looks_at():
    import math

    def function(x, rate):
        return x * math.sqrt(rate) if rate > 1 else x / rate

    compiled = plain(function)
    x = pullback.arange(4.0)
    for rate in (0.5, 4.0, 0.25, 9.0, 4.0):
        same(function(x, rate), compiled(x, rate))


QUESTIONS = [
    lambda x: 1 if x.sum() > 0 else 2,
    lambda x: int(x.sum()),
    lambda x: float(x.sum()),
    lambda x: x.sum().item(),
    lambda x: x.tolist(),
    lambda x: x.numpy(),
    np.asarray,
]


@pytest.mark.parametrize("ask", QUESTIONS)
def test_questions_about_numbers_are_refused_with_the_line(ask):
    compiled = plain(lambda x: ask(x) and x)
    with pytest.raises(CaptureError, match=r"test_capture\.py:\d+.*program serves them all"):
        compiled(pullback.ones(3))


def catching(ask):
    """A function that goes on where the question has no answer."""

    def function(x):
        try:
            ask(x)
        except Exception:  # noqa: BLE001  # as users write it
            return x - x
        return 2 * x

    return function


@pytest.mark.parametrize("ask", QUESTIONS)
def test_they_are_refused_where_the_function_catches_what_is_raised(ask):
    with pytest.raises(CaptureError, match="program serves them all"):
        plain(catching(ask))(pullback.ones(3))
    with pytest.warns(UserWarning, match="program serves them all"):
        same(Compiled(catching(ask), lenient=True)(pullback.ones(3)), 2 * pullback.ones(3))


def test_a_gradient_asks_no_questions_in_secret():
    slope = pullback.func.grad(lambda x: catching(lambda y: y.item())(x.sum()))
    with pytest.raises(CaptureError, match="program serves them all"):
        plain(slope)(pullback.ones(3))


@pytest.mark.parametrize(
    "act", [lambda x: x[x > 0], lambda x: pullback.from_numpy(x.detach().numpy()), pullback.unique]
)
def test_what_cannot_be_recorded_runs_uncompiled_where_the_function_catches_that(act):
    compiled = Compiled(catching(act), lenient=True)
    with pytest.warns(UserWarning, match="uncompiled"):
        same(compiled(pullback.ones(3)), 2 * pullback.ones(3))


# Stale answers: whatever changes between calls, a compiled function gives what the function gives

SCALE = 2.0
TENSOR = pullback.ones(3)
SETTINGS = {"power": 2, "names": ["sin"], "shift": pullback.zeros(3)}


class Config:
    factor = 3


class Thing:
    __slots__ = ("weight",)

    def __init__(self):
        self.weight = pullback.ones(3)


def global_number(x):
    return x * SCALE


def global_tensor(x):
    return x * TENSOR


def settings(x):
    y = x ** SETTINGS["power"] + SETTINGS["shift"]
    return getattr(y, SETTINGS["names"][0])()


def through_a_class(x):
    return x * Config.factor


def inner(x):
    return global_number(x) + 1


def changes_of_globals():
    def set_global(name, value):
        globals()[name] = value

    yield (
        global_number,
        [lambda: set_global("SCALE", 5.0), lambda: set_global("SCALE", 7), lambda: set_global("SCALE", 2.0)],
    )
    yield inner, [lambda: set_global("SCALE", 5.0), lambda: set_global("SCALE", 2.0)]
    yield (
        global_tensor,
        [
            lambda: TENSOR.mul_(2),
            lambda: set_global("TENSOR", pullback.full((3,), 4.0)),
            lambda: set_global("TENSOR", pullback.full((1,), 4.0)),
            lambda: set_global("TENSOR", pullback.full((3,), 2, dtype=pullback.float64)),
            lambda: set_global("TENSOR", 3),
            lambda: set_global("TENSOR", pullback.ones(3)),
        ],
    )
    yield (
        settings,
        [
            lambda: SETTINGS.update(power=3),
            lambda: SETTINGS["names"].__setitem__(0, "cos"),
            lambda: SETTINGS["shift"].add_(1),
            lambda: SETTINGS.update(shift=pullback.ones(1)),
            lambda: SETTINGS.update(power=2, names=["sin"], shift=pullback.zeros(3)),
        ],
    )
    yield through_a_class, [lambda: setattr(Config, "factor", 5), lambda: setattr(Config, "factor", 3)]


@pytest.mark.parametrize(("function", "changes"), list(changes_of_globals()))
def test_changed_globals(function, changes):
    follows(function, changes)


@pytest.mark.filterwarnings("ignore:compile")
def test_changed_closures_defaults_and_attributes():
    weight, thing, model, array = pullback.ones(3), Thing(), network(), np.ones(3, "f")
    space = types.SimpleNamespace(rate=1, deep=types.SimpleNamespace(flag=True))

    def function(x, *, power=weight):
        y = x * weight * thing.weight + power * space.rate + array
        return y * 2 if space.deep.flag else y + model(pullback.ones(1, 4)).sum().detach() * model.training

    compiled = plain(function)
    x = pullback.arange(3.0)

    def rebind():
        nonlocal weight
        weight = pullback.full((3,), 9.0)

    changes = [
        lambda: weight.add_(1),
        rebind,
        lambda: setattr(thing, "weight", pullback.zeros(3)),
        lambda: setattr(space, "rate", 4),
        lambda: setattr(space, "rate", 4.5),
        lambda: setattr(space.deep, "flag", False),
        model.eval,
        lambda: model[0].weight.data.mul_(2),
        lambda: setattr(model, "2", pullback.nn.Linear(5, 7)),
        lambda: array.__setitem__(0, 7),
        lambda: setattr(weight, "data", pullback.full((3,), 2.5)),
        lambda: function.__kwdefaults__.update(power=pullback.ones(1)),
        lambda: setattr(space, "deep", types.SimpleNamespace(flag=True)),
        lambda: space.__dict__.pop("rate") and setattr(space, "rate", 2),
    ]
    for change in (lambda: None, *changes):
        change()
        for _ in range(2):
            same(function(x), compiled(x))


def test_changed_flags_modes_and_dtypes():
    w = pullback.ones(3, requires_grad=True)

    def function(x):
        return x * w * pullback.tensor(1.5)

    compiled = plain(function)
    x = pullback.arange(3.0)
    same(function(x), compiled(x))
    for context in (pullback.no_grad, pullback.inference_mode, pullback.enable_grad):
        with context():
            for _ in range(2):
                same(function(x), compiled(x))
    w.requires_grad_(False)
    same(function(x), compiled(x))
    w.requires_grad_(True)
    same(function(x), compiled(x))
    try:
        pullback.set_default_dtype(pullback.float64)
        for _ in range(2):
            same(function(x), compiled(x))
    finally:
        pullback.set_default_dtype(pullback.float32)
    for dtype in (pullback.float64, pullback.int64, pullback.float16):
        for shape in ((3,), (2, 3), (1,), (0, 3)):
            y = pullback.ones(shape, dtype=dtype)
            for _ in range(2):
                same(function(y), compiled(y))


def test_hooks_registered_later():
    w = pullback.ones(3, requires_grad=True)

    def function(x):
        return pullback.autograd.grad((w * x).sum(), w)[0]

    compiled = plain(function)
    x = pullback.arange(3.0)
    for _ in range(2):
        same(function(x), compiled(x))
    handle = w.register_hook(lambda g: g * 10)
    for _ in range(2):
        same(function(x), compiled(x))
    handle.remove()
    for _ in range(2):
        same(function(x), compiled(x))


def doubled(x):
    x.register_hook(lambda g: g * 2)


def reached_together(x, w):
    pullback.autograd.graph.register_multi_grad_hook((x, w), lambda grads: seen.append([g.tolist() for g in grads]))


seen: list[object] = []


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("hooked", [lambda x, w: doubled(x), lambda x, w: doubled(w), reached_together])
def test_hooks_on_tensors_run_once_in_a_backward_outside(hooked, again):
    w = pullback.tensor([3.0, 5.0], requires_grad=True)
    hooked_x = pullback.tensor([1.0, 2.0], requires_grad=True)
    hooked(hooked_x, w)

    def function(x):
        return x * x * w

    def found(f):
        seen.clear()
        grads = pullback.autograd.grad(f(hooked_x).sum(), (hooked_x, w), create_graph=again)
        second = pullback.autograd.grad(grads[0].sum(), (hooked_x, w)) if again else ()
        return [g.tolist() for g in (*grads, *second)], [*seen]

    compiled = plain(function)
    for _ in range(3):
        assert found(compiled) == found(function)


@pytest.mark.filterwarnings("ignore:compile")
def test_a_backward_inside_goes_on_into_the_history_of_an_argument():
    compiled = pullback.compile(lambda y: (y * y).sum().backward())
    for _ in range(3):
        x = pullback.tensor([1.0, 2.0], requires_grad=True)
        compiled(x * 3)
        assert x.grad.tolist() == [18.0, 36.0]


def test_hooks_on_parameters_of_compiled_modules():
    module = pullback.nn.Linear(2, 1, bias=False)
    module.weight.register_hook(lambda g: g * 2)
    for _ in range(2):
        module.zero_grad()
        pullback.compile(module)(pullback.tensor([[1.0, 2.0]])).sum().backward()
        assert module.weight.grad.tolist() == [[2.0, 4.0]]


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize(
    "use",
    [
        lambda x, w: x * w,
        lambda x, w: x * w.flip(0)[None],
        lambda x, w: pullback.func.grad(lambda w: (w * w * x).sum())(w),
        lambda x, w: pullback.func.grad(lambda x: (w[None] * x * x).sum())(x),
        lambda x, w: pullback.func.jvp(lambda w: w[None] * w * x, (w,), (x,))[1],
        pullback.func.vmap(lambda x, w: w[None] * x),
    ],
)
def test_a_tensor_that_cannot_be_found(use):
    registry = {"w": pullback.ones(3)}
    function = eval("lambda x: use(x, hidden()['w'])", {"hidden": [lambda: registry][0], "use": use})
    compiled = plain(function)
    x = pullback.arange(3.0)
    for change in (lambda: None, lambda: registry["w"].add_(1), lambda: registry.update(w=pullback.zeros(3))):
        change()
        for _ in range(2):
            same(function(x), compiled(x))


# Errors and refusals


def test_an_exception_inside_changes_nothing_that_the_function_would_not():
    w = pullback.ones(3, requires_grad=True)
    log = []

    def function(x):
        with pullback.no_grad():
            w.add_(1)
        log.append(1) if len(log) > 99 else None
        return x[5]

    compiled = plain(function)
    for i in range(3):
        with pytest.raises(IndexError):
            compiled(pullback.ones(3))
        assert w.tolist() == [2.0 + i] * 3
        assert w._version == i + 1


def test_what_cannot_be_recorded_runs_as_it_is_and_says_so_once():
    compiled = plain(lambda x: x[x > 0])
    x = pullback.tensor([1.0, -1.0, 2.0])
    with pytest.warns(UserWarning, match=r"runs as it is, uncompiled.*depends on values"):
        assert compiled(x).tolist() == [1.0, 2.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled(-x).tolist() == [1.0]


def test_python_values_that_change_at_each_call():
    class Counter:
        def __init__(self):
            self.count = 0

        def __call__(self, x):
            self.count += 1
            return x * self.count

    eager, counter = Counter(), Counter()
    compiled = plain(counter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for _ in range(12):
            same(eager(pullback.ones(2)), compiled(pullback.ones(2)))
    assert counter.count == eager.count


def test_kinds_of_calls_without_end_are_forgotten(monkeypatch):
    for limit in ("compiled.KINDS", "compiled.RECORDS", "kinds.PLACES"):
        monkeypatch.setattr(f"pullback.compile.{limit}", 4)
    compiled, modules, x = plain(lambda module, x, count: module(x) * count), [], pullback.ones(2)
    for count in range(12):
        module = pullback.nn.Linear(2, 2)
        modules.append(weakref.ref(module))
        for each in (x, 2 * x):
            same(module(each) * count, compiled(module, each, count))
    del module
    gc.collect()
    assert sum(each() is not None for each in modules) <= 4 + 4  # with those whose ints are remembered


def test_nothing_recorded_stays_behind():
    kept = []
    w = pullback.ones(3, requires_grad=True)

    def function(x):
        y = x * w
        kept.append((y, y.detach(), y[1:]))
        return y.detach()

    compiled = plain(function)
    for _ in range(2):
        compiled(pullback.arange(3.0))
    for y, detached, part in kept:
        assert type(y._array) is type(detached._array) is type(part._array) is np.ndarray
        y.sum().backward()
    assert w.grad.tolist() == [0.0, 2.0, 4.0]


def first_row(x):
    x[0] = 7.0
    return x * 2


def a_column_through_a_view(x):
    x[..., :1].add_(1)
    return x * 2


def a_row_of_unbind(x):
    x.unbind(0)[1].mul_(3)
    return x.sum(0)


class Calls:
    count = 0


def counted(function):
    """The function, and an effect that no program has: what the first call gives is what its recording has made."""

    def counting(x):
        Calls.count = Calls.count + 1
        return function(x)

    return counting


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize("effect", [lambda function: function, counted])
@pytest.mark.parametrize("write", [first_row, a_column_through_a_view, a_row_of_unbind])
@pytest.mark.parametrize(
    "lie",
    [
        lambda a: a[:3].expand(2, 3),
        lambda a: a[:2, None].expand(2, 3),
        lambda a: a.unfold(0, 3, 1),
        lambda a: a.as_strided((3, 2), (1, 1)),
        lambda a: a.as_strided((2, 2), (3, 1)),
    ],
)
def test_writes_to_arguments_whose_elements_lie_in_one_place(write, lie, effect):
    def answers(function):
        found = []
        for _ in range(3):
            a = pullback.arange(6.0)
            x = lie(a)
            try:
                found.append(function(x).tolist())
            except RuntimeError as refusal:
                found.append(str(refusal)[:50])
            found += [x.tolist(), a.tolist()]
        return found

    assert answers(pullback.compile(effect(write))) == answers(write)


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize(
    "result",
    [
        lambda x: x,
        lambda x: x[:1],
        lambda x: x.detach(),
        lambda x: (x.mT, x + 1),
        lambda x: [setattr(Calls, "kept", x[:1]), x.sum()],
    ],
)
@pytest.mark.parametrize("lie", [lambda a: a, lambda a: a[:2], lambda a: a.mT, lambda a: a[:, 1:]])
def test_what_a_recording_returns_lies_in_the_memory_of_an_argument_that_is_written(lie, result):
    def answers(function):
        a = pullback.arange(9.0).reshape(3, 3)
        x = lie(a)
        results = function(x)
        given = results if isinstance(results, (list, tuple)) else [results]
        tensors = [*(t for t in given if t is not None), x, a, vars(Calls).get("kept", a)]
        found = [t.tolist() for t in tensors]
        a.add_(1)
        found += [t.tolist() for t in tensors]
        x.mul_(3)
        return [*found, *(t.tolist() for t in tensors)]

    def function(x):
        Calls.count = Calls.count + 1
        x.mul_(2)
        return result(x)

    expected = answers(function)
    compiled = pullback.compile(function)
    for _ in range(3):
        assert answers(compiled) == expected


def untracked(write):
    with pullback.no_grad():
        write()


@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, w: [x * w, x.mul_(0.5)],
        lambda x, w: [(x * w).exp() * x, x.add_(1), x * w, x.mul_(0.5), x * w * w],
        lambda x, w: [x * w, x[:2].zero_(), x * w],
        lambda x, w: [x * w * w, untracked(lambda: w.mul_(0.5))],
        lambda x, w: [x * w * w, untracked(lambda: w.mul_(0.5)), w * w * x],
        lambda x, w: [(x * w).sin(), untracked(lambda: w.mul_(0.5)), x.zero_()],
    ],
)
def test_gradients_are_those_of_numbers_that_the_function_overwrites(function, fuse):
    def answers(run):
        x, w = pullback.tensor([1.0, 2.0, 3.0]), pullback.tensor([2.0, 0.5, 1.0], requires_grad=True)
        found = []
        for _ in range(3):
            results = run(x, w)
            sum(each.sum() for each in results if each is not None and each.requires_grad).backward()
            found += [each.detach().numpy().copy() for each in (x, w, w.grad)]
        return found

    for ours, expected in zip(answers(Compiled(function, fuse=fuse)), answers(function), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-5)


@pytest.mark.parametrize(
    "lie", [lambda a: a[:, ::2], lambda a: a[:, :1], lambda a: a.mT[1:], lambda a: a.mT, lambda a: a[1:]]
)
def test_arguments_keep_their_layout_when_they_are_written(lie):
    def function(x):
        x.mul_(2)
        return x * (1 if x.is_contiguous() else 100) + x.stride(0) + 10 * x[0].stride(-1)

    compiled = pullback.compile(function)
    for _ in range(3):
        x, y = (lie(pullback.arange(9.0).reshape(3, 3)) for _ in range(2))
        same(compiled(x), function(y))
        same(x, y)
