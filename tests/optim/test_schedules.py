"""Schedules of learning rates: the rates of their formulas, also after a state was saved and loaded."""

import math

import pytest

import pullback
from pullback.optim import SGD, Adam, lr_scheduler as s
from pullback.optim.swa_utils import SWALR

STEPS = 20
FIRST, SECOND = 0.1, 0.3


class Falling:
    """A function whose rate is part of a schedule's state."""

    def __init__(self, rate):
        self.rate = rate

    def __call__(self, k):
        return self.rate**k


def line(start, end, t):
    return start + (end - start) * t


def wave(start, end, t):
    return start + (end - start) * (1 - math.cos(math.pi * t)) / 2


def restarted(k):
    """How far a cosine of cycles of 3, 6, 12, ... epochs is in its cycle."""
    length = 3
    while k >= length:
        k, length = k - length, 2 * length
    return k / length


def triangle(k, up, down):
    """The cycle of a step, and the height in it, from 0 to 1 in `up` steps and back in `down`."""
    cycle, place = divmod(k, up + down)
    return cycle + 1, place / up if place <= up else (up + down - place) / down


def one_cycle(k, highest):
    """20 steps: five up from a 25th of the highest rate, 14 down to a 10 000th of that."""
    return wave(highest / 25, highest, k / 5) if k <= 5 else wave(highest, highest / 25e4, (k - 5) / 14)


def three_phases(k, highest):
    """The same by lines: five up, as many down again, and the rest to the end."""
    low = highest / 25
    if k <= 5:
        return line(low, highest, k / 5)
    return line(highest, low, (k - 5) / 5) if k <= 10 else line(low, low / 1e4, (k - 10) / 9)


def segments(k, base):
    if k < 3:
        return base * 0.1
    return base * 0.9 ** (k - 3) if k < 8 else wave(base, 0, (k - 8) / 5)


# By name: the schedule, and the rate of a group after k steps by its first rate.
SCHEDULES = {
    "lambda": (lambda o: s.LambdaLR(o, [lambda k: 0.95**k, lambda k: 1 / (1 + k)]), lambda k, b: b * (0.95**k if b == FIRST else 1 / (1 + k))),
    "lambda of an object": (lambda o: s.LambdaLR(o, Falling(0.9)), lambda k, b: b * 0.9**k),
    "multiplicative": (lambda o: s.MultiplicativeLR(o, lambda k: k / (k + 1)), lambda k, b: b / (k + 1)),
    "step": (lambda o: s.StepLR(o, 3, 0.5), lambda k, b: b * 0.5 ** (k // 3)),
    "milestones": (lambda o: s.MultiStepLR(o, [2, 5, 5], 0.1), lambda k, b: b * 0.1 ** ((k >= 2) + 2 * (k >= 5))),
    "constant": (lambda o: s.ConstantLR(o, 0.4, 6), lambda k, b: b * (0.4 if k < 6 else 1)),
    "linear": (lambda o: s.LinearLR(o, 0.2, 0.9, 7), lambda k, b: b * line(0.2, 0.9, min(k, 7) / 7)),
    "exponential": (lambda o: s.ExponentialLR(o, 0.93), lambda k, b: b * 0.93**k),
    "polynomial": (lambda o: s.PolynomialLR(o, 8, 2.0), lambda k, b: b * (1 - min(k, 8) / 8) ** 2),
    "cosine": (lambda o: s.CosineAnnealingLR(o, 6, 0.01), lambda k, b: wave(b, 0.01, k / 6)),
    "restarts": (lambda o: s.CosineAnnealingWarmRestarts(o, 3, 2, 0.01), lambda k, b: wave(b, 0.01, restarted(k))),
    "sequential": (lambda o: s.SequentialLR(o, [s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.9), s.CosineAnnealingLR(o, 5)], [3, 8]), segments),
    "chained": (lambda o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 4), s.ExponentialLR(o, 0.9)]), lambda k, b: b * 0.9**k * (0.1 if k < 4 else 1)),
    "cyclic": (lambda o: s.CyclicLR(o, 0.01, [0.1, 0.5], 4, 3), lambda k, b: line(0.01, 0.1 if b == FIRST else 0.5, triangle(k, 4, 3)[1])),
    "falling cycles": (lambda o: s.CyclicLR(o, 0.01, 0.1, 4, mode="triangular2"), lambda k, b: line(0.01, 0.1, triangle(k, 4, 4)[1] / 2 ** (triangle(k, 4, 4)[0] - 1))),
    "shrinking cycles": (lambda o: s.CyclicLR(o, 0.01, 0.1, 4, mode="exp_range", gamma=0.97), lambda k, b: line(0.01, 0.1, triangle(k, 4, 4)[1] * 0.97**k)),
    "own cycles": (lambda o: s.CyclicLR(o, 0.01, 0.1, 4, scale_fn=Falling(0.5)), lambda k, b: line(0.01, 0.1, triangle(k, 4, 4)[1] * 0.5 ** triangle(k, 4, 4)[0])),
    "own iterations": (lambda o: s.CyclicLR(o, 0.01, 0.1, 4, scale_fn=Falling(0.9), scale_mode="iterations"), lambda k, b: line(0.01, 0.1, triangle(k, 4, 4)[1] * 0.9**k)),
    "one cycle": (lambda o: s.OneCycleLR(o, [0.4, 0.2], total_steps=STEPS), lambda k, b: one_cycle(k, 0.4 if b == FIRST else 0.2)),
    "three phases": (lambda o: s.OneCycleLR(o, 0.4, epochs=4, steps_per_epoch=5, three_phase=True, anneal_strategy="linear"), lambda k, b: three_phases(k, 0.4)),
    "averaging": (lambda o: SWALR(o, 0.05, anneal_epochs=5), lambda k, b: wave(b, 0.05, min(k / 5, 1))),
    "linear averaging": (lambda o: SWALR(o, [0.05, 0.01], anneal_epochs=4, anneal_strategy="linear"), lambda k, b: line(b, 0.05 if b == FIRST else 0.01, min(k / 4, 1))),
}  # fmt: skip
each_schedule = pytest.mark.parametrize(("make", "formula"), SCHEDULES.values(), ids=SCHEDULES)


def optimizer_of(kind=SGD):
    first, second = pullback.ones(2, requires_grad=True), pullback.ones(2, requires_grad=True)
    options = {"momentum": 0.9} if kind is SGD else {}
    return kind([{"params": [first]}, {"params": [second], "lr": SECOND}], lr=FIRST, **options)


def followed(schedule, optimizer, steps):
    found = [schedule.get_last_lr()]
    for _ in range(steps):
        optimizer.step()
        schedule.step()
        assert [group["lr"] for group in optimizer.param_groups] == schedule.get_last_lr()
        found.append(schedule.get_last_lr())
    return found


def expected(formula, steps):
    return [pytest.approx([formula(k, FIRST), formula(k, SECOND)], abs=1e-9) for k in steps]


@each_schedule
@pytest.mark.parametrize("kind", [SGD, Adam])
def test_rates_are_those_of_the_formula(make, formula, kind):
    optimizer = optimizer_of(kind)
    last = STEPS - 1
    assert followed(make(optimizer), optimizer, last) == expected(formula, range(last + 1))


@pytest.mark.filterwarnings("ignore:The epoch parameter")
@pytest.mark.parametrize("name", "step milestones constant linear exponential polynomial cosine".split())
def test_a_step_to_an_epoch_sets_the_rate_that_the_formula_has_there(name):
    make, formula = SCHEDULES[name]
    optimizer = optimizer_of()
    schedule = make(optimizer)
    for epoch in (5, 2, 7, 0, 11):
        optimizer.step()
        schedule.step(epoch)
        assert [schedule.get_last_lr()] == expected(formula, [epoch])


@each_schedule
def test_a_state_goes_on_where_it_was(make, formula):
    optimizer = optimizer_of()
    schedule = make(optimizer)
    followed(schedule, optimizer, 6)
    again = optimizer_of()
    restored = make(again)
    restored.load_state_dict(schedule.state_dict())
    again.load_state_dict(optimizer.state_dict())
    assert followed(restored, again, STEPS - 7) == expected(formula, range(6, STEPS))


def test_attributes_of_functions_are_part_of_the_state():
    for make in (
        lambda rate: s.LambdaLR(optimizer_of(), Falling(rate)),
        lambda rate: s.MultiplicativeLR(optimizer_of(), Falling(rate)),
        lambda rate: s.CyclicLR(optimizer_of(), 0.01, 0.1, 4, scale_fn=Falling(rate)),
    ):
        other = make(0.25)
        other.load_state_dict(make(0.5).state_dict())
        kept = getattr(other, "_scale_fn_custom", None) or other.lr_lambdas[0]
        assert kept.rate == 0.5


@pytest.mark.parametrize("kind", [SGD, Adam])
def test_momentum_falls_while_the_rate_rises(kind):
    for make, share in (
        (lambda o: s.CyclicLR(o, 0.01, 0.1, 4, base_momentum=0.7, max_momentum=0.9), lambda k: triangle(k, 4, 4)[1]),
        (lambda o: s.OneCycleLR(o, 0.4, total_steps=STEPS, base_momentum=0.7, max_momentum=0.9), lambda k: wave(0, 1, k / 5 if k <= 5 else 1 - (k - 5) / 14)),
    ):  # fmt: skip
        optimizer = optimizer_of(kind)
        schedule = make(optimizer)
        for k in range(STEPS):
            group = optimizer.param_groups[1]
            momentum = group["momentum"] if kind is SGD else group["betas"][0]
            assert momentum == pytest.approx(line(0.9, 0.7, share(k)))
            optimizer.step()
            if k < STEPS - 1:
                schedule.step()


def plateau(values, **options):
    """The first rate after each value."""
    optimizer = optimizer_of()
    schedule = s.ReduceLROnPlateau(optimizer, factor=0.5, **options)
    found = []
    for value in values:
        schedule.step(value)
        found.append(optimizer.param_groups[0]["lr"] / FIRST)
    return found


def test_plateau():
    assert plateau([3, 2, 2, 2, 2, 2, 2], patience=1) == [1, 1, 1, 0.5, 0.5, 0.25, 0.25]
    assert plateau([3, 2, 2, 2, 2, 2, 2], patience=1, cooldown=2) == [1, 1, 1, 0.5, 0.5, 0.5, 0.5]
    assert plateau([1, 2, 3, 3, 3], patience=0, mode="max") == [1, 1, 1, 0.5, 0.25]
    assert plateau([1.0, 0.95, 0.85, 0.8], patience=0, threshold=0.1) == [1, 0.5, 0.5, 0.25]
    assert plateau([1.0, 0.95, 0.85, 0.8], patience=0, threshold=0.1, threshold_mode="abs") == [1, 0.5, 0.5, 0.25]
    assert plateau([1] * 5, patience=0, min_lr=0.03) == pytest.approx([1, 0.5, 0.3, 0.3, 0.3])


@pytest.mark.parametrize("times", [1, 2, 3])
def test_restarts_go_to_any_epoch(times):
    """Also to one within a step, and to the first of a cycle."""
    schedule = s.CosineAnnealingWarmRestarts(optimizer_of(), 3, times, 0.01)
    stepped = s.CosineAnnealingWarmRestarts(optimizer_of(), 3, times, 0.01)
    for epoch in range(1, 30):
        stepped.step()
        schedule.step(epoch)
        assert schedule.get_last_lr() == pytest.approx(stepped.get_last_lr())
        schedule.step(epoch + 0.5)
        assert schedule.get_last_lr() != pytest.approx(stepped.get_last_lr())
