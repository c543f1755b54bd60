"""Modules, optimizers and other objects among the arguments of compiled functions: they are not kept alive."""

import functools
import gc
import weakref

import numpy as np
import pytest

import pullback
from pullback import func, nn


class Scale:
    """An object with a tensor."""

    def __init__(self, factor):
        self.weight = pullback.tensor([factor, 2.0])

    def __call__(self, x):
        return x * self.weight


class Slotted:
    """An object without a dictionary."""

    __slots__ = ("weight", "__weakref__")

    def __init__(self, factor):
        self.weight = pullback.tensor([factor, 2.0])

    def __call__(self, x):
        return x * self.weight


def linear(factor):
    made = nn.Linear(2, 2)
    with pullback.no_grad():
        made.weight.fill_(factor)
    return made


class Own(nn.Module):
    """A module of a user's class, one within another."""

    def __init__(self, factor):
        super().__init__()
        self.inner = linear(factor)

    def forward(self, x):
        return self.inner(x).tanh()


MAKERS = {"object": Scale, "slots": Slotted, "module": linear, "own module": Own}


@pytest.mark.parametrize("calls", [1, 2, 7])
@pytest.mark.parametrize("kind", MAKERS)
def test_an_argument_is_freed_with_all_that_was_made_for_it(kind, calls):
    compiled = pullback.compile(lambda thing, x: thing(x).sum())
    x, seen = pullback.tensor([1.0, -1.0]), []
    for number in range(12):
        thing = MAKERS[kind](float(number))
        tensors = [thing.weight] if hasattr(thing, "weight") else [*thing.parameters()]
        expected = thing(x).sum()
        for _ in range(calls):
            assert compiled(thing, x).item() == pytest.approx(expected.item(), rel=1e-4, abs=1e-6)
        seen += [weakref.ref(thing), *map(weakref.ref, tensors)]
        del thing, tensors, expected
    gc.collect()
    assert [each() for each in seen] == [None] * len(seen)
    assert not compiled.records


def closure(weight):
    return lambda x: x * weight


FORMS = {
    "function": closure,
    "function in a function": lambda weight: closure(closure(weight)(weight)),
    "method": lambda weight: Scale(weight[0].item()).__call__,
    "partial": lambda weight: functools.partial(pullback.mul, weight),
    "gradient": lambda weight: func.grad(lambda x: (x * weight).sum()),
    "list of functions": lambda weight: [closure(weight), closure(weight)],
}


@pytest.mark.parametrize("form", FORMS)
def test_functions_that_are_arguments_are_freed_with_what_they_close_over(form):
    compiled = pullback.compile(lambda thing, x: (thing[0] if isinstance(thing, list) else thing)(x).sum())
    x, seen = pullback.tensor([1.0, -1.0]), []
    for number in range(8):
        weight = pullback.tensor([float(number), 2.0])
        thing = FORMS[form](weight)
        for _ in range(3):
            assert compiled(thing, x).item() == (thing[0] if isinstance(thing, list) else thing)(x).sum().item()
        seen += map(weakref.ref, [weight, *(thing if isinstance(thing, list) else [thing])])
        del thing, weight
    gc.collect()
    assert [each() for each in seen] == [None] * len(seen)
    assert not compiled.records


def test_records_of_arguments_that_live_are_kept():
    compiled = pullback.compile(lambda thing, x: thing(x).sum())
    x, kept = pullback.tensor([1.0, -1.0]), Scale(3.0)
    for number in range(6):
        thing = Scale(float(number))
        assert compiled(thing, x).item() == number - 2.0
        assert compiled(kept, x).item() == 1.0
    del thing
    gc.collect()
    assert len(compiled.records) == 1
    assert sum(compiled.reasons.values()) == 7
    kept.weight = pullback.tensor([5.0, 1.0])
    assert compiled(kept, x).item() == 4.0


def test_an_object_in_the_place_of_one_that_is_gone_is_another_one():
    compiled = pullback.compile(lambda thing, x: thing(x).sum())
    x = pullback.tensor([1.0, 1.0])
    for number in range(40):  # addresses come again
        thing = Scale(float(number))
        for _ in range(3):
            assert compiled(thing, x).item() == number + 2.0


def test_optimizers_and_models_are_freed():
    @pullback.compile
    def step(model, optimizer, x):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    seen = []
    for _ in range(3):
        model = nn.Linear(2, 1)
        optimizer = pullback.optim.SGD(model.parameters(), lr=0.1)
        losses = [step(model, optimizer, pullback.ones(4, 2)).item() for _ in range(4)]
        assert losses[-1] < losses[0]
        seen += [weakref.ref(model), weakref.ref(optimizer), weakref.ref(model.weight)]
    del model, optimizer
    gc.collect()
    assert [each() for each in seen] == [None] * len(seen)


def test_what_was_refused_is_freed_too():
    compiled = pullback.compile(lambda thing, x: (thing.step(), x)[1])

    class Counter:
        def __init__(self):
            self.rows = iter([1, 2, 3])

        def step(self):
            return next(self.rows)

    thing = Counter()
    with pytest.warns(UserWarning, match="runs as it is"):
        compiled(thing, pullback.ones(2))
    seen = weakref.ref(thing)
    del thing
    gc.collect()
    assert seen() is None
    assert not compiled.refused


def test_arrays_that_never_come_twice_are_given_up():
    """As ints are: a record that serves one call costs more than it saves."""
    compiled = pullback.compile(lambda y, k: pullback.tensor(y) * k)
    rows = [np.array([i, 1.0]) for i in range(40)]
    with pytest.warns(UserWarning, match=r"pass pullback\.tensor\(array\)"):
        found = [compiled(row, 2.0) for row in rows]
    np.testing.assert_array_equal(found, 2 * np.array(rows))
    assert sum(count for count, _ in compiled.report().records) <= 20
    same = pullback.compile(lambda y, k: pullback.tensor(y) * k)
    with pullback.testing.no_recompiles():
        for k in range(40):
            assert np.array_equal(same(rows[3], float(k)), k * rows[3])
