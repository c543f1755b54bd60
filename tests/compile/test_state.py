"""No answer is stale: whatever changes between the calls of a compiled function, it gives what the function gives."""

import collections
import contextlib
import contextvars
import functools
import sys
import threading
import types
import warnings
import weakref

import numpy as np
import pytest

import pullback

from .beside import follows, plain, same

F = pullback.nn.functional


class Held:
    """Attributes, in a dictionary."""

    factor = 2

    def __init__(self, **given):
        self.__dict__.update(given)


class Other(Held):
    factor = 7


class Private:
    __slots__ = ("__factor",)

    def __init__(self, factor):
        self.__factor = factor

    def change(self, factor):
        self.__factor = factor

    def times(self, x):
        return x * self.__factor


def rebindings():
    """Functions, with what changes them in ways that no assignment to a variable shows."""

    def scaled(x, k=2, *, j=1):
        return x * k * j

    def other(x, k=2, *, j=1):
        return x + k + j

    scaled.rate = 2
    yield (
        lambda x: scaled(x) * 1,
        [
            lambda: setattr(scaled, "__defaults__", (3,)),
            lambda: setattr(scaled, "__kwdefaults__", {"j": 3}),
            lambda: setattr(scaled, "__code__", other.__code__),
        ],
    )
    yield lambda x: x * scaled.rate, [lambda: setattr(scaled, "rate", 3)]

    class Child(Held):
        pass

    child, weak = Child(), weakref.ref(Child)
    yield (
        lambda x: x * child.factor * weak().factor,
        [
            lambda: setattr(Child, "factor", 3),
            lambda: delattr(Child, "factor"),
            lambda: setattr(child, "__class__", type("Other", (), {"factor": 5})),
        ],
    )
    marked = type("Marked", (Held,), {"__mark__": 1})

    def exchange():
        del marked.__mark__  # it has as many members as before
        marked.factor = 3

    yield lambda x: x * marked.factor, [exchange]
    based = type("Based", (Held,), {})
    yield lambda x: x * based.factor, [lambda: setattr(based, "__bases__", (Other,))]
    private = Private(2)
    yield private.times, [lambda: private.change(3)]
    listed = type("Listed", (list,), {"factor": 2})([1, 2])
    yield lambda x: x * listed.factor, [lambda: setattr(listed, "factor", 3), lambda: setattr(type(listed), "more", 1)]
    wrapped, chained = collections.UserDict(k=2), collections.ChainMap({}, {"k": 2})
    seen, octets = types.MappingProxyType(chained.maps[1]), bytearray(b"\1\2")
    yield (
        lambda x: x * wrapped["k"] + chained["k"] * seen["k"] - octets[0],
        [
            lambda: wrapped.update(k=3),
            lambda: chained.maps[1].update(k=3),
            lambda: octets.extend(b"\3"),
            lambda: octets.__setitem__(0, 9),
        ],
    )
    space, here, objects = contextvars.ContextVar("space", default=2), threading.local(), np.array([2, 3], object)
    here.k = 2
    yield (
        lambda x: x * space.get() * here.k * objects[0],
        [lambda: space.set(3), lambda: setattr(here, "k", 3), lambda: objects.__setitem__(0, 5)],
    )
    module, below = types.ModuleType("settings_of_a_user"), types.ModuleType("settings_of_a_user.below")
    module.below, module.k, below.k = below, 2, 2
    sys.modules[module.__name__] = module

    def imports(x):
        import settings_of_a_user
        from settings_of_a_user import k

        return x * k * settings_of_a_user.below.k

    yield imports, [lambda: setattr(module, "k", 3), lambda: setattr(below, "k", 3)]
    at = Held(module=module)
    yield lambda x: x * at.module.k, [lambda: setattr(module, "k", 7)]
    numbers = [2]
    remembered = functools.lru_cache(lambda: numbers[0])
    yield lambda x: x * remembered(), [lambda: numbers.__setitem__(0, 3), remembered.cache_clear]
    names = {"__name__": "of_a_user"}
    exec("def shadowed(x):\n    return x * max(2, 1)", names)
    yield names["shadowed"], [lambda: names.update(max=lambda *_: 7)]
    tensor, meta = pullback.ones(2), type("Meta", (type,), {"factor": 2})
    tensor.rate, made = 2, meta("Made", (), {})
    yield (
        lambda x: x * tensor.rate * made.factor,
        [
            lambda: setattr(tensor, "rate", 3),
            lambda: setattr(meta, "factor", 3),
        ],
    )
    weight = pullback.zeros(3, 3)
    yield (
        lambda x: x * weight.shape[0] + weight.is_contiguous(),
        [
            lambda: setattr(weight, "data", pullback.zeros(3, 4).t()),
            lambda: setattr(weight, "data", pullback.zeros(5)),
        ],
    )


@pytest.mark.parametrize(("function", "changes"), list(rebindings()))
@pytest.mark.filterwarnings("ignore:compile")
def test_what_is_rebound_in_other_ways(function, changes):
    follows(function, changes)


def with_hook(x, factor):
    x.register_hook(lambda g: g * factor)
    return x


def kinds_of_arguments():
    """Functions that look at more than the numbers of an argument, and arguments of two kinds."""
    shared = pullback.ones(3)
    grid = pullback.arange(9.0).reshape(3, 3)
    leaf = functools.partial(pullback.ones, 3, requires_grad=True)
    yield lambda x: pullback.ones(x.shape[0]) * x.dim(), [pullback.ones(2), pullback.ones(3), pullback.ones(2, 3)]
    yield lambda x: x * 2 if x.is_contiguous() else x * 3, [grid, grid.t(), grid, grid.t()]
    yield lambda x: x * 2 if x is shared else x * 3, [pullback.ones(3), shared, pullback.ones(3)]
    yield lambda w: pullback.autograd.grad((w * w).sum(), w)[0], [with_hook(leaf(), 2), with_hook(leaf(), 3)]
    given = [pullback.ones(3), pullback.ones(3)]
    given[0].rate, given[1].rate = 2, 3
    yield lambda x: x * x.rate, given


@pytest.mark.parametrize(("function", "given"), list(kinds_of_arguments()))
@pytest.mark.filterwarnings("ignore:compile")
def test_what_else_a_function_sees_of_its_arguments(function, given):
    compiled = plain(function)
    for x in given:
        for _ in range(2):
            same(function(x), compiled(x))


def test_memory_that_tensors_come_to_share():
    def written(a, b):
        a.add_(1)
        return b * 2

    compiled = plain(written)
    a, b = pullback.ones(3), pullback.zeros(3)
    for _ in range(2):
        same(compiled(a, b), pullback.zeros(3))
    for other in (a.detach(), a[:], a.data):
        before = a.clone()
        same(compiled(a, other), (before + 1) * 2)
    w, v = (pullback.ones(3, requires_grad=True) for _ in range(2))
    step = plain(lambda: ((w * 2).sum().backward(), (v * 3).sum().backward()))
    step(), step()
    w.grad = v.grad = pullback.zeros(3)
    step()
    assert w.grad is v.grad
    same(w.grad, pullback.full((3,), 5.0))


def effects():
    """Functions with effects, each with a look at what became of them."""

    def append(held, x, given):
        given["list"].append(x * 2)
        given["y"] = x

    def toggle(held, x, given):
        held.w.requires_grad_(not held.w.requires_grad)

    def exchange(held, x, given):
        held.w.data = held.w.data * 2 + x

    def mode(held, x, given):
        pullback.set_grad_enabled(False)

    def seeded(held, x, given):
        pullback.manual_seed(7)
        held.t = pullback.rand(3) + x

    def buffer(held, x, given):
        held.t.mul_(held.w)

    def queue(held, x, given):
        held.queue.append(x * 2)

    def one_of_two(held, x, given):
        held.t = held.t + x

    def stores(held, x, given):
        global STORED  # noqa: PLW0603  # what is tested
        STORED = x * 3

    return [append, toggle, exchange, mode, seeded, buffer, queue, one_of_two, stores]


STORED = None


@pytest.mark.parametrize("effect", effects(), ids=lambda effect: effect.__name__)
@pytest.mark.filterwarnings("ignore:compile")
def test_effects_on_what_is_reached(effect):
    def seen(wrap):
        pullback.manual_seed(0)
        same_twice = pullback.ones(3)
        held = Held(w=pullback.ones(3, requires_grad=True), t=same_twice, u=same_twice)
        held.queue = collections.deque([same_twice] * 3, maxlen=3)
        function = wrap(lambda x, given: effect(held, x, given))
        found = []
        for i in range(4):
            given = {"list": []}
            function(pullback.arange(3.0) * i, given)
            found.append((held.w.detach().clone(), held.t.detach().clone(), held.u.clone(), sum(held.queue), STORED))
            found.append((held.w.requires_grad, held.t.requires_grad, pullback.is_grad_enabled(), len(given)))
            found.append((*given["list"], pullback.rand(2)))
            pullback.set_grad_enabled(True)
            held.w.requires_grad_(i % 2 == 0)
            held.t = held.t.detach()
        return found

    for expected, found in zip(seen(lambda function: function), seen(plain), strict=True):
        assert len(expected) == len(found)
        for one, other in zip(expected, found, strict=True):
            if isinstance(one, pullback.Tensor):
                same(one, other)
            else:
                assert one == other


@pytest.mark.filterwarnings("ignore:compile")
def test_new_objects_are_made_at_each_call():
    def generated(x):
        yield x * 2

    def inference(x):
        with pullback.inference_mode():
            return x * 2

    generated, inference = plain(generated), plain(inference)
    kept, leaf = plain(lambda x: lambda: x * 2), plain(lambda x: (x * 2).requires_grad_())
    twice = plain(lambda x: [x * 2] * 2)
    for i in range(3):
        x = pullback.full((2,), float(i))
        same(next(generated(x)), x * 2)
        same(kept(x)(), x * 2)
        assert inference(x).is_inference()
        assert leaf(x).is_leaf
        first, second = twice(x)
        assert first is second


def test_random_layers_are_recorded():
    """Sampling takes no tensors: a program of it is made, and nothing is told to run as it is."""
    compiled = plain(lambda x: F.dropout(x, 0.5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(10):
            compiled(pullback.ones(4))
    assert "draw" in compiled.ir


def test_saved_tensors_hooks():
    w = pullback.ones(3, requires_grad=True)
    hooks = functools.partial(pullback.autograd.graph.saved_tensors_hooks, lambda t: t * 2, lambda t: t)

    def inside(x):
        with hooks():
            return pullback.autograd.grad((w * w * x).sum(), w)[0]

    def around(x):
        return (w * w * x).sum()

    compiled, outside, x = plain(inside), plain(around), pullback.arange(3.0)
    for _ in range(3):
        same(inside(x), compiled(x))
    for context in (hooks, contextlib.nullcontext, hooks):
        with context():
            same(*[pullback.autograd.grad(f(x), w)[0] for f in (around, outside)])


def test_averages_of_a_model_are_updated_within_a_compiled_step():
    """The first update copies; afterwards the program is another one."""

    def trained(compiled):
        model = pullback.nn.Linear(2, 1)
        with pullback.no_grad():
            model.weight.fill_(0.5)
            model.bias.fill_(0.1)
        average = pullback.optim.swa_utils.AveragedModel(model)
        optimizer = pullback.optim.SGD(model.parameters(), lr=0.1)

        def step(x):
            optimizer.zero_grad()
            model(x).square().sum().backward()
            optimizer.step()
            average.update_parameters(model)

        run = pullback.compile(step, fullgraph=True) if compiled else step
        for i in range(4):
            run(pullback.tensor([[1.0, i]]))
        return [*average.parameters(), average.n_averaged]

    for mine, theirs in zip(trained(True), trained(False), strict=True):
        np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), rtol=1e-6)


def test_a_function_of_the_user_under_a_name_of_numpy_is_looked_into(monkeypatch):
    scale = 2.0

    def scaled(x):
        return x * scale

    monkeypatch.setattr(np, "scaled", scaled, raising=False)
    compiled = pullback.compile(lambda x: np.scaled(x) + 0)
    assert [compiled(pullback.ones(1)).item() for _ in range(3)] == [2.0, 2.0, 2.0]
    scale = 5.0
    assert compiled(pullback.ones(1)).item() == 5.0
