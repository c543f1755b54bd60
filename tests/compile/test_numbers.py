"""Floats that are other ones at each call: traced where they can be, else part of the program; never left in an object."""

import copy
import decimal
import fractions
import json
import math
import pickle

import numpy as np
import pytest

import pullback
from pullback import func, nn
from pullback.nn import functional

VALUES = [0.7, 2.0, 3.0, 0.7, 1.5, 2.5]
"""Values of a float argument in turn; an exponent of 2, a slope above 1, an odd power are special to rules."""

TRACED = {
    "power": lambda x, s: x.abs() ** s,
    "negative bases": lambda x, s: x ** (2 * s),
    "powers of it": lambda x, s: s**x,
    "decays": lambda x, s: x / (1 - 0.9**s) + 1.5**-s + 2**s,
    "float_power": lambda x, s: pullback.float_power(x.abs(), s),
    "focal loss": lambda x, s: -((1 - pullback.sigmoid(x)) ** s) * functional.logsigmoid(x),
    "leaky_relu": functional.leaky_relu,
    "leaky_relu, negative": lambda x, s: functional.leaky_relu(x, -s),
    "elu": functional.elu,
    "celu": functional.celu,
    "softshrink": functional.softshrink,
    "hardshrink": functional.hardshrink,
    "hardtanh": lambda x, s: functional.hardtanh(x, -s, s),
    "threshold": lambda x, s: functional.threshold(x, s, -s),
    "clamp": lambda x, s: x.clamp(-s, s),
    "clamp below": lambda x, s: x.clamp(min=s),
    "remainder": lambda x, s: x % s,
    "std": lambda x, s: x.std(correction=s),
    "var": lambda x, s: x.var(correction=s),
    "lp_pool1d": lambda x, s: functional.lp_pool1d(x.abs()[None], s, 2),
    "huber_loss": lambda x, s: functional.huber_loss(x, x.detach() + 2, delta=s),
    "smooth_l1_loss": lambda x, s: functional.smooth_l1_loss(x, x.detach() + 1, beta=s),
    "margin": lambda x, s: functional.margin_ranking_loss(x, x.detach() * 2, pullback.ones(4), margin=s),
    "lerp": lambda x, s: pullback.lerp(x, x * 2, s),
    "addcmul": lambda x, s: pullback.addcmul(x, x, x, value=s),
    "alpha": lambda x, s: pullback.add(x, x, alpha=s),
    "where": lambda x, s: pullback.where(x > s, x, s * x),
    "arithmetic": lambda x, s: x * (2 * s - 1) + abs(-s) / 3,
}
CONSTANT = {
    "softplus": functional.softplus,
    "vector norm": lambda x, s: x.norm(s),
    "label smoothing": lambda x, s: functional.cross_entropy(x, pullback.tensor(1), label_smoothing=s / 10),
    "layer_norm": lambda x, s: functional.layer_norm(x * x, (4,), eps=s),
    "full": lambda x, s: x * pullback.full((4,), s),
    "tensor": lambda x, s: x * pullback.tensor(s),
    "masked_fill": lambda x, s: x.masked_fill(x > 0, s),
    "math": lambda x, s: x * (math.sqrt(s) + math.floor(s) + round(s) + round(s, 1)),
    "NumPy": lambda x, s: x * float(np.sqrt(s) * np.float64(2) * s + np.array([s, 1.0]).sum()),
    "methods": lambda x, s: x * (s.is_integer() + len(s.hex()) + s.real),
    "text": lambda x, s: x * len(f"{s:.3f}{s!r}{s}{[s]}"),
    "JSON": lambda x, s: x * len(json.dumps({"a": s})),
    "fraction": lambda x, s: x * float(fractions.Fraction(s)),
    "decimal": lambda x, s: x * float(decimal.Decimal(s)),
    "copies": lambda x, s: x * copy.deepcopy([s])[0] * copy.copy(s) * pickle.loads(pickle.dumps(s)),
    "key of a dict": lambda x, s: x * {2.0: 5.0, 3.0: 7.0}.get(s, 0.5),
    "member of a set": lambda x, s: x * (2.0 if s in {0.7, 1.5} else 3.0),
    "branches": lambda x, s: x * s if s > 1 else x - s,
    "range": lambda x, s: x * sum(range(int(s) + 2)),
    "complex": lambda x, s: x * abs(s * 1j),
    "divmod": lambda x, s: x * (divmod(s, 0.4)[1] + s // 0.4 + s % 0.4 + 7 % s + 7 // s),
    "type": lambda x, s: x * 2 if type(s) is float else x * 3,
}
X = pullback.tensor([-2.2, -0.5, 0.3, 2.1])


def near(found, expected):
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=2e-5, atol=1e-6)


def values_and_gradients(function, *, fuse):
    def gradient(x, s):
        return func.grad(lambda x: function(x, s).sum())(x)

    compiled = pullback.compile(function, fuse=fuse), pullback.compile(gradient, fuse=fuse)
    for s in VALUES:
        near(compiled[0](X, s), function(X, s))
        near(compiled[1](X, s), gradient(X, s))
    return compiled


@pytest.mark.parametrize("name", TRACED)
def test_elementwise_parameters_are_inputs_of_the_program(name):
    for compiled in values_and_gradients(TRACED[name], fuse=True):
        assert sum(count for count, _ in compiled.report().records) == 1, str(compiled.report())


@pytest.mark.parametrize("name", CONSTANT)
def test_other_floats_are_part_of_the_program(name):
    values_and_gradients(CONSTANT[name], fuse=False)  # a program for each value, whose machine code would take seconds


def test_the_gradient_of_a_power():
    gradient = pullback.compile(lambda x, s: func.grad(lambda x: (x**s).sum())(x))
    for s in (2.0, 3.0, 0.0, 2.0):
        expected = s * np.arange(1.0, 4) ** (s - 1)
        np.testing.assert_allclose(gradient(pullback.arange(3.0) + 1, s).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", [pullback.float64, pullback.float32, pullback.float16, pullback.complex128])
@pytest.mark.parametrize("place", [lambda k: ((k,), {}), lambda k: ((), {"k": k})], ids=["positional", "keyword"])
def test_backward_outside_of_a_function_with_a_number(dtype, place):
    compiled = pullback.compile(lambda x, k: (x * k, (x * k + k).real.sum() * k))
    for k in (0.5, -2.0, 3.0):
        x = pullback.tensor([1.0, 2.0], dtype=dtype, requires_grad=True)
        args, named = place(k)
        first, second = compiled(x, *args, **named)
        (first.real.sum() + second).backward()
        assert x.grad.dtype == dtype
        np.testing.assert_allclose(x.grad.numpy(), [k + k * k] * 2, rtol=1e-12)


def test_backward_outside_of_a_function_with_a_learning_rate():
    optimizer = pullback.optim.SGD([pullback.zeros(2, requires_grad=True)], lr=0.1)

    @pullback.compile
    def scaled(x):
        return (x * x * optimizer.param_groups[0]["lr"]).sum()

    for rate in (0.1, 0.5):
        optimizer.param_groups[0]["lr"] = rate
        x = pullback.tensor([1.0, 2.0], dtype=pullback.float64, requires_grad=True)
        scaled(x).backward()
        np.testing.assert_allclose(x.grad.numpy(), [2 * rate, 4 * rate], rtol=1e-15)


@pytest.mark.parametrize("level", [func.vmap, func.jacrev, func.jacfwd], ids=lambda level: level.__name__)
def test_numbers_inside_transforms(level):
    def function(x, s):
        return level(lambda x: functional.leaky_relu(x, s) ** s)(x)

    compiled = pullback.compile(function)
    for s in (2.0, 4.0):
        near(compiled(X, s), function(X, s))


# What Python refuses


@pytest.mark.parametrize(
    "function",
    [lambda x, s: x * (1 / s), lambda x, s: x * (2.0**s), lambda x, s: x * (3 % s), lambda x, s: x * (3 // s)],
    ids=["division", "overflow", "remainder", "floor"],
)
def test_errors_of_floats_are_raised(function):
    compiled = pullback.compile(function)
    for s in (1.0, 2.0, 0.0, 5000.0, 3.0):
        try:
            expected = function(X, s)
        except ArithmeticError as error:
            with pytest.raises(type(error)):
                compiled(X, s)
        else:
            near(compiled(X, s), expected)


# Nothing is left behind


class Trainer:
    def __init__(self):
        self.t, self.log, self.held = 1.0, [], {}


def scaled(held, x, s):
    held.t = held.t * s
    return x * held.t


def listed(held, x, s):
    held.log.append(s * 2)
    return x * s


def keyed(held, x, s):
    held.held[s] = len(held.held)
    return x * len(held.held)


def nested(held, x, s):
    held.held = {"a": [s, (s, s + 1)]}
    return x * s


def closed_over(held, x, s):
    held.held["later"] = lambda: s
    return x + s


def made(held, x, s):
    held.held["trainer"] = inner = Trainer()
    inner.t = s
    return x * inner.t


def attached(held, x, s):
    held.held["iterator"] = iter([s, s])
    return x + s


EFFECTS = [scaled, listed, keyed, nested, closed_over, made, attached]


def plain(value):
    """A value as text, with types, which no stand-in has."""
    if callable(value):
        value = value()
    if isinstance(value, dict):
        return [(plain(key), plain(each)) for key, each in value.items()]
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, Trainer):
        return plain(vars(value))
    if hasattr(value, "__next__"):
        return plain(list(copy.copy(value)))
    return type(value), repr(value)


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize("effect", EFFECTS, ids=lambda effect: effect.__name__)
def test_state_holds_plain_floats(effect):
    held, beside = Trainer(), Trainer()
    compiled = pullback.compile(lambda x, s: effect(held, x, s))
    for s in [1.0, 1.5, 2.0, 0.5] * 3:
        near(compiled(X, s), effect(beside, X, s))
        assert plain(held) == plain(beside)


@pytest.mark.parametrize("result", [lambda s: s, lambda s: [s * 2], lambda s: {"a": (s, 1)}, lambda s: -s])
def test_floats_are_returned_as_floats(result):
    compiled = pullback.compile(lambda x, s: (x * s, result(s)))
    for s in (1.0, 2.0, 2.0):
        assert plain(compiled(X, s)[1]) == plain(result(s))


SCHEDULES = {
    "step": lambda optimizer: pullback.optim.lr_scheduler.StepLR(optimizer, 2),
    "cosine": lambda optimizer: pullback.optim.lr_scheduler.CosineAnnealingLR(optimizer, 5),
    "exponential": lambda optimizer: pullback.optim.lr_scheduler.ExponentialLR(optimizer, 0.5),
    "lambda": lambda optimizer: pullback.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.9**epoch),
    "linear": pullback.optim.lr_scheduler.LinearLR,
    "one cycle": lambda optimizer: pullback.optim.lr_scheduler.OneCycleLR(optimizer, 0.2, total_steps=30),
}


def trained(wrap, schedule=None, factor=None):
    """The losses and learning rates of some steps, and the learning rate's type."""
    pullback.manual_seed(0)
    model = nn.Linear(2, 1)
    optimizer = pullback.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = schedule(optimizer) if schedule else None

    def step(x):
        optimizer.zero_grad()
        loss = (model(x) ** 2).sum()
        loss.backward()
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        for group in optimizer.param_groups:
            if factor is not None:
                group["lr"] *= factor
        return loss.detach()

    step, found = wrap(step), []
    for _ in range(12):
        loss = step(pullback.ones(2)).item()
        found.append((loss, optimizer.param_groups[0]["lr"]))
        repr(optimizer), repr(optimizer.state_dict())
        assert type(found[-1][1]) is float
    return np.array(found)


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_inside(name):
    expected = trained(lambda step: step, SCHEDULES[name])
    np.testing.assert_allclose(trained(pullback.compile, SCHEDULES[name]), expected, rtol=1e-5)


@pytest.mark.filterwarnings("ignore:compile")
def test_learning_rates_that_the_step_changes():
    expected = trained(lambda step: step, factor=0.5)
    np.testing.assert_allclose(trained(pullback.compile, factor=0.5), expected, rtol=1e-5)


@pytest.mark.parametrize("optimizer", ["AdamW", "SGD", "Adam", "Adagrad", "RMSprop"])
def test_learning_rates_that_are_tensors(optimizer):
    def run(wrap):
        pullback.manual_seed(0)
        model, rate = nn.Linear(2, 1), pullback.tensor(0.1)
        moves = getattr(pullback.optim, optimizer)(model.parameters(), lr=rate)

        @wrap
        def step(x):
            moves.zero_grad()
            loss = (model(x) ** 2).sum()
            loss.backward()
            moves.step()
            return loss.detach()

        found = []
        for _ in range(5):
            found.append(step(pullback.ones(2)).item())
            rate.mul_(0.5)
        return found, step

    expected, _ = run(lambda step: step)
    found, step = run(pullback.compile)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert len(step.report().records) <= 2


def test_numbers_that_are_only_looked_at_are_recorded_once():
    compiled = pullback.compile(lambda x, s: x * s if s > 1 else x - s)
    for s in (1.5, 2.0, 3.0, 0.5, 0.25, 5.0, 0.1):
        near(compiled(X, s), X * s if s > 1 else X - s)
    assert sum(count for count, _ in compiled.report().records) == 2


@pytest.mark.parametrize("fuse", [True, False])
def test_a_program_that_does_not_hold_draws_no_random_numbers(fuse):
    def function(x, s):
        return x * pullback.rand(4) * math.sqrt(s)

    compiled = pullback.compile(function, fuse=fuse)
    for s in (1.0, 2.0, 1.0, 3.0, 2.0):
        found = []
        for each in (function, compiled):
            pullback.manual_seed(1)
            found.append((each(X, s), pullback.rand(1)))
        for one, other in zip(*found, strict=True):
            near(other, one)


SCALARS = {
    "product": lambda t, y: y * t, "sum": lambda t, y: t + y, "root": lambda t, y: t**-0.5 * y, "sine": lambda t, y: np.sin(t) * y,
    "its dtype": lambda t, y: y * (2 if t.dtype == np.float64 else 3), "its item": lambda t, y: y * t.item(),
    "a branch": lambda t, y: y if t > 0.25 else y * 2, "a result": lambda t, y: (t * 2, float(t)),
    "a tensor": lambda t, y: pullback.tensor([t, t * 2]) * pullback.tensor(t), "an array": lambda t, y: np.arange(3) * t * y,
    "its type": lambda t, y: y * isinstance(t, float) * (3 if isinstance(t, np.floating) else 5) * (1 if type(t) is float else 2),
    "a fill": lambda t, y: pullback.full((2,), t), "a choice": lambda t, y: pullback.where(y > t, y, t),
    "another dtype": lambda t, y: y * t.astype(np.float32) * (np.float32(3) * t), "rounded": lambda t, y: y * round(t, 1),
    "a key": lambda t, y: y * {0.05: 3.0, 0.15: 4.0}.get(t, 5.0), "a text": lambda t, y: y * len(f"{t:.2f}"),
    "a quotient": lambda t, y: (t // 0.1) * y + t % 0.1, "a gradient": lambda t, y: func.grad(lambda y: (y * t * y).sum())(y),
}  # fmt: skip


@pytest.mark.parametrize("name", SCALARS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_scalars_of_numpy_are_inputs(name, dtype):
    """Solvers of SciPy pass the time as one."""
    f = SCALARS[name]
    y = pullback.tensor([1.0, 2.0, 3.0]).to(getattr(pullback, dtype))
    if name == "a gradient" and dtype == "int64":
        return
    compiled = pullback.compile(f)
    for step in range(4):
        t = np.float64(0.1 * step + 0.05)
        for mine, theirs in zip(flat(compiled(t, y)), flat(f(t, y)), strict=True):
            assert type(mine) is type(theirs)
            assert getattr(mine, "dtype", None) == getattr(theirs, "dtype", None)
            np.testing.assert_allclose(np.asarray(mine), np.asarray(theirs), rtol=1e-6)


def flat(result):
    """The results of a function in a tuple."""
    return result if isinstance(result, tuple) else (result,)


def test_a_scalar_of_numpy_that_changes_is_recorded_once():
    compiled = pullback.compile(lambda t, y: y * t + t)
    y = pullback.ones(3)
    for step in range(5):
        compiled(np.float64(step), y)
    assert "recorded 1 time" in str(compiled.report())
