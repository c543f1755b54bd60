"""When a compiled function is recorded again, why, and how many records it keeps."""

import enum
import gc
import re
import warnings

import numpy as np
import pytest

import pullback
from pullback.compile import Compiled, compiled as module
from pullback.testing import RecompiledError, no_recompiles


def reasons(compiled):
    """The reasons of all recordings."""
    return [reason for _, reason in compiled.report().records]


def test_an_int_that_counts_is_an_input_after_its_second_value():
    decayed = pullback.compile(lambda x, step: x * (1 - 0.9**step) + step)
    x = pullback.ones(3)
    for step in range(500):
        np.testing.assert_allclose(decayed(x, step).numpy(), np.float32(1 - 0.9**step) + step, rtol=1e-6)
    assert sum(count for count, _ in decayed.report().records) == 2
    assert reasons(decayed)[1].startswith("step is an int that changes from call to call")


def test_an_int_and_a_float_of_the_same_value_are_two():
    typed = pullback.compile(lambda x, n: (x * n, n / 2, n // 2))
    for n in (1, 2, 3, 3.0, 5):
        _, half, whole = typed(pullback.ones(1), n)
        assert (half, whole) == (n / 2, n // 2)
        assert (type(half), type(whole)) == (float, type(n // 2))


@pytest.mark.parametrize("n", [2**31, 2**31 + 1, 2**53 + 1, 2**63, 10**30, -(2**31) - 1])
def test_large_ints_are_exact(n):
    grown = pullback.compile(lambda x, n: (x + 1, n + 1, n * n, n % 7))
    for value in (1, 2, n, 3, n, -n):
        assert grown(pullback.ones(1), value)[1:] == (value + 1, value * value, value % 7)


def test_ints_that_are_asked_for_have_programs_of_their_own():
    summed = pullback.compile(lambda x, n: sum([x] * n, x))
    for n in (1, 3, 2, 3, 1):
        assert summed(pullback.ones(1), n).item() == n + 1
    assert sum(count for count, _ in summed.report().records) == 3


def test_a_function_that_asks_for_an_int_that_counts_says_so_once_and_runs_as_it_is():
    counted = pullback.compile(lambda x, n: x * len(range(n)))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for n in range(60):
            assert counted(pullback.ones(1), n).item() == n
    assert [str(each.message).partition(":")[0] for each in told] == ["compile"]
    assert "values of an int argument" in str(told[0].message)
    recorded = sum(count for count, _ in counted.report().records)
    assert recorded <= 20
    for n in range(12):  # those that have a program keep it
        assert counted(pullback.ones(1), n).item() == n
    assert sum(count for count, _ in counted.report().records) == recorded


def test_numbers_that_are_returned_are_results():
    both = pullback.compile(lambda x, rate, n: (x * rate, rate * 0.5, {"next": n + 1}))
    for n in range(6):
        scaled, half, after = both(pullback.ones(2), 0.25 * n, n)
        assert (scaled.tolist(), half, after) == ([0.25 * n] * 2, 0.125 * n, {"next": n + 1})
        assert (type(half), type(after["next"])) == (float, int)
    assert sum(count for count, _ in both.report().records) == 2


def test_what_ints_have_not_their_stand_ins_have_not():
    scaled = pullback.compile(lambda x, n: x * getattr(n, "weight", n))
    named = pullback.compile(lambda x, n: x * n.weight)
    for n in (1, 2, 3):
        assert scaled(pullback.ones(1), n).item() == n
        with pytest.raises(AttributeError, match="'int' object has no attribute 'weight'"):
            named(pullback.ones(1), n)


CHANGES = {
    "another shape": (lambda f, x: f(pullback.ones(3), x), "x has shape (3,) instead of (2,)"),
    "another dtype": (lambda f, x: f(x.double(), x), "x has dtype float64 instead of float32"),
    "a leaf": (lambda f, x: f(x.clone().requires_grad_(), x), "x has requires_grad=True instead of requires_grad=False"),
    "a history": (lambda f, x: f(x.clone().requires_grad_() * 1, x), "x has a history instead of requires_grad=False"),
    "a number": (lambda f, x: f(2.0, x), "x is 2.0"),
    "a text": (lambda f, x: f(x, "one"), "y is 'one'"),
    "a list": (lambda f, x: f(x, [x]), "the arguments are others, or nested otherwise"),
    "one tensor twice": (lambda f, x: f(x, x), "two arguments are one tensor, or are no more"),
    "another mode": (lambda f, x: pullback.no_grad()(f)(x, x.clone()), "it is called in another mode: grad"),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_the_reason_says_what_is_other_than_before(change):
    call, reason = CHANGES[change]

    def pair(x, y):
        return x * 2, y

    compiled = Compiled(pair)
    x = pullback.ones(2)
    compiled(x, x.clone())
    call(compiled, x)
    assert reasons(compiled) == ["a first call", reason]


class Settings:
    """Something that a function reads."""

    order = "C"

    def __init__(self):
        self.scale = 2.0


SCALES = [1.0, 2.0]
READ = {
    "an attribute": (lambda own: setattr(own, "scale", 3), "settings.scale is 3 instead of 2.0"),
    "a new attribute": (lambda own: setattr(own, "order", "F"), "settings.order is new"),
    "an item": (lambda own: SCALES.__setitem__(1, 5.0), "SCALES[1] is 5.0 instead of 2.0"),
    "a new item": (lambda own: SCALES.append(5.0), "SCALES has 3 items instead of 2"),
}


@pytest.mark.parametrize("change", READ)
def test_the_reason_names_what_the_function_reads(change, monkeypatch):
    monkeypatch.setitem(globals(), "SCALES", [1.0, 2.0])
    act, reason = READ[change]
    settings = Settings()

    def scaled(x):
        return x * settings.scale * SCALES[1] if settings.order == "C" else x

    compiled = Compiled(scaled)
    compiled(pullback.ones(1))
    act(settings)
    compiled(pullback.ones(1))
    assert reasons(compiled)[1] == reason


class Net(pullback.nn.Module):
    """A module with what modules hold, and more."""

    def __init__(self):
        super().__init__()
        self.lin, self.scale, self.opts, self.sizes = pullback.nn.Linear(2, 2), 2.0, {"a": 1}, [1, 2]

    def forward(self, x):
        return self.lin(x) * self.scale * self.opts["a"] * self.sizes[0]


class Counter:
    """An object of the program's, with slots."""

    __slots__ = ("steps",)
    size = 2

    def __init__(self):
        self.steps = 1

    def run(self, x):
        return x * self.steps * self.size


def of_module(change):
    net = Net()
    return pullback.compile(net), lambda: change(net)


def of_step(change):
    net = Net()
    opt = pullback.optim.SGD(net.parameters(), lr=0.1)

    def step(x):
        opt.zero_grad()
        net(x).sum().backward()
        opt.step()

    return pullback.compile(step), lambda: change(net, opt)


def of_method(change):
    counter = Counter()
    return pullback.compile(counter.run), lambda: change(counter)


def of_function(value, change):
    def scaled(x):
        return x * len(value) if isinstance(value, set) else x * np.sum(value)

    return pullback.compile(scaled), lambda: change(value)


def of_variable():
    k = 1

    def scaled(x):
        return x * k

    def change():
        nonlocal k
        k = 2

    return pullback.compile(scaled), change


WORDS = {
    "Net would be recorded again: self.scale is 3.0 instead of 2.0": lambda: of_module(
        lambda net: setattr(net, "scale", 3.0)
    ),
    "Net would be recorded again: self.opts['a'] is 2 instead of 1": lambda: of_module(
        lambda net: net.opts.update(a=2)
    ),
    "Net would be recorded again: self.sizes[0] is 5 instead of 1": lambda: of_module(
        lambda net: net.sizes.__setitem__(0, 5)
    ),
    "Net would be recorded again: self.lin is another Linear": lambda: of_module(
        lambda net: setattr(net, "lin", pullback.nn.Linear(2, 2))
    ),
    "Net would be recorded again: self.training is False instead of True": lambda: of_module(lambda net: net.eval()),
    "step would be recorded again: opt.param_groups[0]['momentum'] is 0.9 instead of 0": lambda: of_step(
        lambda _, opt: opt.param_groups[0].update(momentum=0.9)
    ),
    "step would be recorded again: net.scale is 3.0 instead of 2.0": lambda: of_step(
        lambda net, _: setattr(net, "scale", 3.0)
    ),
    "Counter.run would be recorded again: self.steps is 2 instead of 1": lambda: of_method(
        lambda counter: setattr(counter, "steps", 2)
    ),
    "scaled would be recorded again: value has 3 items instead of 2": lambda: of_function(
        {1, 2}, lambda held: held.add(3)
    ),
    "scaled would be recorded again: value has other numbers": lambda: of_function(
        np.ones(2), lambda held: held.__setitem__(0, 5.0)
    ),
    "scaled would be recorded again: k is 2 instead of 1": of_variable,
}


@pytest.mark.parametrize("words", WORDS)
def test_a_reason_is_told_in_the_words_of_the_program(words):
    compiled, change = WORDS[words]()
    x = pullback.ones(3, 2)
    for _ in range(3):
        compiled(x)
    change()
    with pytest.raises(RecompiledError, match=re.escape(words)), no_recompiles():
        compiled(x)


def test_what_moves_at_each_call_is_no_reason():
    class Cell:
        def __init__(self):
            self.hidden, self.scale = pullback.zeros(2), 2.0

        def step(self, x):
            self.hidden = self.hidden + x * self.scale
            return self.hidden * 1

    cell = Cell()
    compiled = Compiled(cell.step)
    for _ in range(3):
        compiled(pullback.ones(2))
    cell.scale = 3.0
    assert compiled(pullback.ones(2)).tolist() == [9.0, 9.0]
    assert reasons(compiled) == ["a first call", "self.scale is 3.0 instead of 2.0"]


def test_arguments_are_called_as_they_are_reached():
    def scaled(params, *others, scale):
        return params["w"] * others[1]["x"] * scale

    compiled = Compiled(scaled)
    for n in (2, 3):
        compiled({"b": pullback.ones(1), "w": pullback.ones(2)}, 3, {"x": pullback.ones(2)}, scale=float(n))
    assert "def scaled(params_w, others_1_x, scale):" in compiled.source
    compiled({"b": pullback.ones(1), "w": pullback.ones(1)}, 3, {"x": pullback.ones(2)}, scale=1.0)
    assert reasons(compiled)[-1] == "params['w'] has shape (1,) instead of (2,)"


def test_the_reason_names_the_line_that_asks():
    def switched(x, rate):
        if rate > 0.5:
            return x * rate
        return x

    compiled = Compiled(switched)
    for rate in (0.1, 0.2, 0.7):
        compiled(pullback.ones(1), rate)
    (last,) = reasons(compiled)[1:]
    assert last.startswith("a question about values has another answer than before, at test_again.py:")
    assert last.endswith("if rate > 0.5:")


def test_the_reason_names_an_argument_that_is_asked_for():
    compiled = Compiled(lambda x, rate: x * float(rate))
    compiled(pullback.ones(1), 1.0)
    compiled(pullback.ones(1), 2.0)
    assert reasons(compiled)[1] == "rate is 2.0 instead of 1.0, and the function asks for its value"


def test_no_recompiles_raises_and_says_why():
    doubled = pullback.compile(lambda x: x * 2)
    x = pullback.ones(2)
    with no_recompiles():
        assert doubled(x).tolist() == [2.0, 2.0]
        assert doubled(x + 1).tolist() == [4.0, 4.0]
        with pytest.raises(RecompiledError, match=r"would be recorded again: x has shape \(3,\) instead of \(2,\)"):
            doubled(pullback.ones(3))
    assert sum(count for count, _ in doubled.report().records) == 1
    assert doubled(pullback.ones(3)).tolist() == [2.0, 2.0, 2.0]


def test_no_recompiles_can_refuse_first_recordings():
    x = pullback.ones(2)
    with no_recompiles(new=False), pytest.raises(RecompiledError, match="would be recorded: a first call"):
        pullback.compile(lambda x: x * 2)(x)


def test_many_sizes_are_kept_within_bounds(monkeypatch):
    monkeypatch.setattr(module, "RECORDS", 8)
    doubled = Compiled(lambda x: x * 2)
    frequent = pullback.ones(40)
    for n in range(1, 40):
        for _ in range(3):
            assert doubled(pullback.ones(n)).tolist() == [2.0] * n
            assert doubled(frequent).tolist() == [2.0] * 40
    assert sum(map(len, doubled.records.values())) <= 8
    gc.collect()
    counts = {reason: count for count, reason in doubled.report().records}
    assert sum(counts.values()) == 40  # the one that is used at each call has stayed
    with no_recompiles():
        doubled(frequent)
        doubled(pullback.ones(39))


@pytest.mark.parametrize("sizes", [[3], [3, 5], [3, 5, 0, 1, 7, 9, 11]])
def test_calls_of_several_sizes_in_turn(sizes):
    def summed(x, y):
        return (x * y).sum(), x + 1

    compiled = Compiled(summed)
    for _ in range(5):
        for n in sizes:
            x, y = pullback.arange(float(n)), pullback.arange(float(n)) + 1
            total, more = compiled(x, y)
            assert (total.item(), more.tolist()) == (sum(i * (i + 1) for i in range(n)), [i + 1.0 for i in range(n)])
    assert sum(count for count, _ in compiled.report().records) == len(sizes)


BOOL = f"numpy.{np.bool_.__name__}"


def test_what_python_answers_for_numbers_is_answered():
    def asked(a, b, k, mask):
        try:
            both = divmod(a, b)
        except TypeError:
            both = None
        try:
            turned = k - mask
        except RuntimeError:
            turned = None
        kinds = [
            f"{type(value).__module__}.{type(value).__name__}"
            for value in (k < np.float64(2), a < np.float64(2), np.float32(2) - a)
        ]
        return both, kinds, turned

    compiled, mask = pullback.compile(asked), pullback.tensor([True, False])
    for a, b, k in ((1.5, 2.5, 1), (2.5, 0.5, 2), (3.25, -2.5, 3), (7.5, 2.0, 4)):
        assert compiled(a, b, k, mask) == asked(a, b, k, mask) == (divmod(a, b), [BOOL, BOOL, "numpy.float32"], None)


@pytest.mark.parametrize("positive", [True, False])
def test_a_branch_or_a_step_that_writes_to_a_tensor_from_outside_runs_uncompiled(positive):
    def branches(seen, x):
        return pullback.cond(x.sum() > 0, lambda: seen.fill_(1) + x, lambda: seen.mul_(2) - x)

    def steps(seen, x):
        def step(carry, _):
            carry = carry + seen
            seen.fill_(1)
            return carry, None

        return pullback.scan(step, x, length=3)[0]

    x = pullback.full((3,), 1.0 if positive else -1.0)
    for function in (branches, steps):
        compiled, ours, theirs = pullback.compile(function), pullback.full((3,), 5.0), pullback.full((3,), 5.0)
        with pytest.warns(UserWarning, match="a loop or a branch changes what lies outside of it"):
            result = compiled(ours, x)
        assert result.tolist() == function(theirs, x).tolist()
        assert compiled(ours, x).tolist() == function(theirs, x).tolist()
        assert ours.tolist() == theirs.tolist()


class Size(enum.IntEnum):
    TWO = 2


def test_a_power_by_an_int_of_a_subclass_keeps_the_dtype():
    x = pullback.tensor([1.5, -2.0])
    for function in (lambda k: x**k, pullback.compile(lambda k: x**k)):
        for k in (1, Size.TWO, 3, Size.TWO, 2):
            assert function(k).dtype == pullback.float32
            assert function(k).tolist() == [1.5**k, (-2.0) ** k]


def test_records_that_are_all_in_use_give_way_at_the_second_look(monkeypatch):
    monkeypatch.setattr(module, "RECORDS", 4)
    cut = pullback.compile(lambda x, k: x[:k] * 2)
    for length in (20, 21, 22, 20):
        for k in (*range(1, 9), 1):
            for _ in range(3):
                assert cut(pullback.ones(length), k).tolist() == [2.0] * k
    assert sum(map(len, cut.records.values())) <= 5
