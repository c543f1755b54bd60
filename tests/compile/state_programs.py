"""Random programs over Python state: a step that reads and changes objects of many kinds, compiled and as it is.

A kind of object is a class here: made from random numbers, it is read inside the step (and changed there, by kinds with an
effect) and changed between calls. A program is some kinds, made twice from one seed; the same changes are made to both.
"""

import array
import collections
import contextvars
import ctypes
import dataclasses
import enum
import functools
import itertools
import math
import random
import sys
import threading
import types
import warnings
import weakref

import numpy as np

import pullback
from pullback.compile import Compiled

CALLS = 6
KINDS, EFFECTS, OPAQUE = {}, {}, {}
SHARE_OF_EFFECTS, SHARE_OF_OPAQUE = 0.06, 0.03
MODULE = types.ModuleType("pullback_state_programs")
sys.modules[MODULE.__name__] = MODULE
SETTING = 1.0
VALUES = [1, 1.0, True, 0.0, -0.0, 2, 2.5, -1.5, 3.0, np.float32(2), np.float64(2), 2 + 0j, 7]


def kind(cls):
    KINDS[cls.__name__] = cls
    return cls


def effect(cls):
    EFFECTS[cls.__name__] = cls
    return cls


def opaque(cls):
    OPAQUE[cls.__name__] = cls
    return cls


def number(value):
    """A float that tells values apart that are equal."""
    plain = value.real if isinstance(value, complex) else value
    return float(plain) + len(type(value).__name__) / 8 + math.copysign(0.25, plain)


class Kind:
    def __init__(self, rng):
        self.make(rng)

    def make(self, rng):
        self.change(rng)

    def shown(self):
        return vars(self)


class Plain:
    pass


@dataclasses.dataclass
class Point:
    x: object
    rest: list


class Slotted:
    __slots__ = ("value", "more")


class Text(str):  # noqa: SLOT000  # for the attributes that it can have
    pass


class Scaled(float):
    pass


class Color(enum.IntEnum):
    RED = 1


class Counted:
    shared = 1.0

    def __init__(self):
        self._value = 1.0

    @property
    def value(self):
        return self._value * self.shared

    def method(self):
        return self._value + 1

    def __getattr__(self, name):
        if name == "other":
            return self._value * 3
        raise AttributeError(name)


# Containers


@kind
class NestedDict(Kind):
    def make(self, rng):
        self.held = {"a": {"b": [1.0, {"c": 2.0}]}, "d": 3}

    def read(self, x, s):
        return x * number(self.held["a"]["b"][1]["c"]) + len(self.held)

    def change(self, rng):
        self.held["a"]["b"][1]["c"] = rng.choice(VALUES)
        if rng.random() < 0.3:
            self.held[rng.choice("efg")] = rng.random()


@kind
class List(Kind):
    def make(self, rng):
        self.held = [rng.random() for _ in range(3)]

    def read(self, x, s):
        return x * sum(self.held) + self.held[0]

    def change(self, rng):
        rng.choice([self.held.reverse, lambda: self.held.append(rng.random()), lambda: self.held.__setitem__(0, 5.0)])()


@kind
class TypedKeys(Kind):
    def change(self, rng):
        self.held = {rng.choice(VALUES): 1, "k": 2}

    def read(self, x, s):
        return x * number(next(iter(self.held)))


@kind
class ChangedKeys(Kind):
    def make(self, rng):
        self.held = {0.0: 1}

    def change(self, rng):
        self.held.clear()
        self.held[rng.choice(VALUES)] = 1

    def read(self, x, s):
        return x + number(next(iter(self.held)))


@kind
class TensorKeys(Kind):
    def make(self, rng):
        self.held = {pullback.ones(2): 1.0}

    def change(self, rng):
        (old,) = self.held
        self.held[pullback.ones(2)] = self.held.pop(old) + 1

    def read(self, x, s):
        return x * sum(self.held.values())

    def shown(self):
        return [*self.held.values()]


@kind
class Tuples(Kind):
    def change(self, rng):
        self.held = (rng.choice(VALUES), (rng.choice(VALUES), "a"))

    def read(self, x, s):
        return x * number(self.held[1][0]) - number(self.held[0])


@kind
class Deque(Kind):
    def make(self, rng):
        self.held = collections.deque([1.0, 2.0], maxlen=3)

    def change(self, rng):
        self.held.append(rng.random())

    def read(self, x, s):
        return x * self.held[-1] + len(self.held)


@kind
class Set(Kind):
    def make(self, rng):
        self.held = {1, "a"}

    def change(self, rng):
        self.held.symmetric_difference_update({rng.choice([1, 2.5, "a", (1,)])})

    def read(self, x, s):
        return x * len(self.held) if 2.5 in self.held else x + len(self.held)


@kind
class Ordered(Kind):
    def make(self, rng):
        self.held = collections.OrderedDict(a=1.0, b=2.0, c=3.0)

    def change(self, rng):
        self.held.move_to_end(rng.choice("abc"))

    def read(self, x, s):
        return x * next(iter(self.held.values()))


@kind
class Default(Kind):
    def make(self, rng):
        self.held = collections.defaultdict(float, a=1.0)

    def change(self, rng):
        self.held["a"] = rng.choice(VALUES)

    def read(self, x, s):
        return x * number(self.held["a"])


@kind
class Layers(Kind):
    def make(self, rng):
        self.inner = {"a": 1.0}
        self.held = collections.ChainMap({}, self.inner)
        self.user = collections.UserDict(a=1.0)

    def change(self, rng):
        (self.inner if rng.random() < 0.5 else self.user)["a"] = rng.random()

    def read(self, x, s):
        return x * self.held["a"] + self.user["a"]

    def shown(self):
        return [self.held["a"], self.user["a"]]


@kind
class Ranges(Kind):
    def change(self, rng):
        self.held, self.cut = range(0, rng.choice([3, 4]), 2), slice(0, rng.choice([1, 2]))

    def read(self, x, s):
        return x[self.cut].sum() * self.held.stop + x


@kind
class Bytes(Kind):
    def make(self, rng):
        self.held, self.more, self.number = bytearray(b"ab"), array.array("d", [1.0]), ctypes.c_double(1.0)

    def change(self, rng):
        self.held[0], self.more[0], self.number.value = rng.randrange(9), rng.random(), rng.random()

    def read(self, x, s):
        return x * self.held[0] + self.more[0] * self.number.value

    def shown(self):
        return [*self.held, *self.more, self.number.value]


@kind
class Arrays(Kind):
    def make(self, rng):
        self.held, self.mixed = np.arange(3.0), np.array([1.0, "a"], dtype=object)

    def change(self, rng):
        self.held[rng.randrange(3)] = rng.random()
        self.mixed[0] = rng.random()

    def read(self, x, s):
        return x * float(self.held.sum()) + self.mixed[0]


@kind
class MethodsAndViews(Kind):
    def make(self, rng):
        self.held = {"a": 1.0}
        self.get, self.values = self.held.get, self.held.values()

    def change(self, rng):
        self.held["a"] = rng.choice(VALUES)

    def read(self, x, s):
        return x * number(self.get("a")) + number(next(iter(self.values)))

    def shown(self):
        return self.held


# Objects and names


@kind
class Objects(Kind):
    def make(self, rng):
        self.point, self.slotted, self.space = Point(1.0, [2.0]), Slotted(), types.SimpleNamespace(a=1.0)
        self.slotted.value = 1.0

    def change(self, rng):
        value = rng.choice(VALUES)
        held, name = rng.choice([(self.point, "x"), (self.slotted, "value"), (self.space, "a")])
        setattr(held, name, value)
        self.point.rest[0] = rng.random()

    def read(self, x, s):
        return x * number(self.point.x) * self.point.rest[0] + number(self.slotted.value) * number(self.space.a)

    def shown(self):
        return [self.point.x, self.point.rest, self.slotted.value, self.space.a]


@kind
class Subclasses(Kind):
    def make(self, rng):
        self.text, self.scaled = Text("a"), Scaled(2.0)
        self.change(rng)

    def change(self, rng):
        self.text.weight, self.scaled.weight = rng.random(), rng.random()
        if rng.random() < 0.3:
            self.scaled = Scaled(2.0)
            self.scaled.weight = rng.random()

    def read(self, x, s):
        return x * self.text.weight + self.scaled * self.scaled.weight


@kind
class Properties(Kind):
    def make(self, rng):
        self.held = type("Made", (Counted,), {})()

    def change(self, rng):
        choice = rng.randrange(4)
        if choice == 0:
            self.held._value = rng.random()
        elif choice == 1:
            type(self.held).shared = rng.random()
        elif choice == 2:
            type(self.held).method = lambda held: held._value * 7
        else:
            self.held.__dict__["other"] = rng.random()

    def read(self, x, s):
        return x * self.held.value + self.held.method() * self.held.other

    def shown(self):
        return [self.held.value, self.held.method(), self.held.other]


@kind
class ModuleNames(Kind):
    def make(self, rng):
        MODULE.scale, MODULE.other, self.name = 1.0, 2.0, "other"

    def change(self, rng):
        MODULE.scale, MODULE.other = rng.random(), rng.random()

    def read(self, x, s):
        return x * MODULE.scale + getattr(MODULE, self.name)


@kind
class Globals(Kind):
    def make(self, rng):
        global SETTING  # noqa: PLW0603  # what is tested
        SETTING = 1.0

    def change(self, rng):
        global SETTING  # noqa: PLW0603  # as above
        SETTING = rng.choice(VALUES)

    def read(self, x, s):
        return x * number(SETTING)


@kind
class Closures(Kind):
    def make(self, rng):
        value = 1.0

        def get():
            return value

        def put(new):
            nonlocal value
            value = new

        self.get, self.put = get, put

    def change(self, rng):
        self.put(rng.choice(VALUES))

    def read(self, x, s):
        return x * number(self.get())

    def shown(self):
        return self.get()


@kind
class Functions(Kind):
    def make(self, rng):
        def scaled(x, factor=2.0, *, more=1.0):
            return x * factor + more

        self.function = scaled
        self.partial = functools.partial(scaled, more=3.0)

    def change(self, rng):
        choice = rng.randrange(4)
        if choice == 0:
            self.function.__defaults__ = (rng.random(),)
        elif choice == 1:
            self.function.__kwdefaults__ = {"more": rng.random()}
        elif choice == 2:
            self.partial.keywords["more"] = rng.random()
        else:
            self.function = lambda x, *, more=5.0: x * more

    def read(self, x, s):
        return self.function(x) + self.partial(x)

    def shown(self):
        return []


@kind
class Cached(Kind):
    def make(self, rng):
        self.source = source = {"a": 1.0}
        self.function = functools.lru_cache(lambda key: source[key])

    def change(self, rng):
        self.source["a"] = rng.random()
        if rng.random() < 0.5:
            self.function.cache_clear()

    def read(self, x, s):
        return x * self.function("a")

    def shown(self):
        return self.source


@kind
class Contexts(Kind):
    def make(self, rng):
        self.variable, self.local = contextvars.ContextVar("variable"), threading.local()
        self.change(rng)

    def change(self, rng):
        self.variable.set(rng.random())
        self.local.value = rng.random()

    def read(self, x, s):
        return x * self.variable.get() + self.local.value

    def shown(self):
        return [self.variable.get(), self.local.value]


@kind
class Enums(Kind):
    def make(self, rng):
        self.kinds = enum.Enum("Kinds", "A B")
        self.which = self.kinds.A
        self.change(rng)

    def change(self, rng):
        Color.RED.weight, self.kinds.A.weight, self.kinds.B.weight = rng.random(), rng.random(), rng.random()
        self.which = rng.choice([*self.kinds])

    def read(self, x, s):
        return x * Color.RED.weight + self.which.weight

    def shown(self):
        return [Color.RED.weight, self.which.weight, self.which.name]


# Tensors


@kind
class Tensors(Kind):
    def make(self, rng):
        self.held, self.more = pullback.ones(3), [pullback.ones(3)]

    def change(self, rng):
        if rng.random() < 0.5:
            self.held = pullback.tensor([rng.random() for _ in range(3)])
        else:
            self.more[0].add_(rng.random())

    def read(self, x, s):
        return x * self.held + self.more[0]


@kind
class Buffer(Kind):
    def make(self, rng):
        self.held, self.average = pullback.zeros(3), pullback.zeros(3)

    def change(self, rng):
        self.held.mul_(rng.random())

    def read(self, x, s):
        self.held.add_(x.detach())
        self.average = self.average * 0.9 + x.detach() * s
        return x * self.held + self.average


@kind
class Views(Kind):
    def make(self, rng):
        self.base = pullback.zeros(4, 3)
        self.row = self.base[1]

    def change(self, rng):
        self.row = self.base[rng.randrange(4)]
        if rng.random() < 0.5:
            self.base = self.base.clone()

    def read(self, x, s):
        return x * (1 + self.row.sum()) + self.base.sum(0)


@kind
class Floats(Kind):
    def change(self, rng):
        self.exponent = rng.choice([1, 2, 3])

    def read(self, x, s):
        return (x.abs() + 0.1) ** s * self.exponent + pullback.nn.functional.leaky_relu(x, s) * math.sqrt(s + 1)


@kind
class Random(Kind):
    def make(self, rng):
        self.p = 0.5

    def change(self, rng):
        self.p = rng.choice([0.25, 0.5])
        pullback.manual_seed(rng.randrange(99))

    def read(self, x, s):
        return x * pullback.rand(3) + pullback.nn.functional.dropout(x, self.p)


@kind
class Layer(Kind):
    def make(self, rng):
        self.layer = pullback.nn.Sequential(pullback.nn.Linear(3, 3), pullback.nn.Tanh())
        with pullback.no_grad():
            for parameter in self.layer.parameters():
                parameter.fill_(rng.random())
        self.handle = None

    def change(self, rng):
        choice = rng.randrange(4)
        if choice == 0:
            self.layer.train(not self.layer.training)
        elif choice == 1:
            with pullback.no_grad():
                self.layer[0].weight.mul_(rng.random())
        elif choice == 2:
            self.layer[0].bias = pullback.nn.Parameter(pullback.full((3,), rng.random()))
        elif self.handle is None:
            self.handle = self.layer.register_forward_hook(lambda module, args, out: out * 2)

    def read(self, x, s):
        return self.layer(x) * (2.0 if self.layer.training else 1.0)

    def shown(self):
        return [parameter.detach() for parameter in self.layer.parameters()]


@kind
class Optimizer(Kind):
    def make(self, rng):
        self.weight = pullback.ones(3, requires_grad=True)
        self.optimizer = getattr(pullback.optim, rng.choice(["SGD", "Adam", "RMSprop"]))([self.weight], lr=0.1)

    def change(self, rng):
        self.optimizer.param_groups[0]["lr"] = rng.random() / 10

    def read(self, x, s):
        self.optimizer.zero_grad()
        loss = ((self.weight * x.detach() - 1) ** 2).sum()
        loss.backward()
        self.optimizer.step()
        return x + loss.detach()

    def shown(self):
        group = self.optimizer.param_groups[0]
        return [self.weight.detach(), group["lr"], self.weight.grad]


# Effects: the step changes Python values


@effect
class Counter(Kind):
    def make(self, rng):
        self.count, self.product = 0, 1.0

    def change(self, rng):
        self.count = 0

    def read(self, x, s):
        self.count += 1
        self.product = self.product * s
        return x * self.count + self.product


@effect
class Log(Kind):
    def make(self, rng):
        self.log, self.kept = [], {}

    def change(self, rng):
        self.log.clear()

    def read(self, x, s):
        self.log.append(s * 2)
        self.kept[len(self.log)] = (s, [s + 1])
        return x * len(self.log)


@effect
class Schedule(Optimizer):
    def make(self, rng):
        super().make(rng)
        made = [
            lambda o: pullback.optim.lr_scheduler.StepLR(o, 2),
            lambda o: pullback.optim.lr_scheduler.CosineAnnealingLR(o, 5),
            lambda o: pullback.optim.lr_scheduler.ExponentialLR(o, 0.9),
        ]
        self.schedule = rng.choice(made)(self.optimizer)

    def change(self, rng):
        pass

    def read(self, x, s):
        made = super().read(x, s)
        self.schedule.step()
        self.optimizer.param_groups[0]["lr"] *= 0.99
        return made

    def shown(self):
        return [*super().shown(), self.schedule.get_last_lr(), self.schedule.last_epoch]


@effect
class Turns(Kind):
    def make(self, rng):
        self.n = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.n += 1
        return self.n

    def change(self, rng):
        pass

    def read(self, x, s):
        return x * next(self)


# What does not show what is inside it


@opaque
class Iterator(Kind):
    def make(self, rng):
        items = [rng.random() for _ in range(50)]
        self.items = rng.choice(
            [
                lambda: iter(items), lambda: (item for item in items), lambda: map(float, items), lambda: itertools.count(1.0),
                lambda: itertools.cycle(items), lambda: itertools.chain(items), lambda: np.array(items).flat,
                lambda: map(sum, enumerate(items)), lambda: map(pullback.tensor, items),
            ]
        )()  # fmt: skip

    def change(self, rng):
        pass

    def read(self, x, s):
        return x * next(self.items)

    def shown(self):
        return []


@opaque
class WeakButHeld(Kind):
    def make(self, rng):
        self.owner = Plain()
        self.owner.value = 1.0
        self.found, self.keyed = weakref.ref(self.owner), weakref.WeakKeyDictionary({self.owner: 2.0})

    def change(self, rng):
        self.owner.value, self.keyed[self.owner] = rng.random(), rng.random()

    def read(self, x, s):
        return x * self.found().value + self.keyed[self.owner]

    def shown(self):
        return [self.owner.value, self.keyed[self.owner]]


@opaque
class WeakAlone(Kind):
    def make(self, rng):
        self.keep = weakref.WeakValueDictionary()
        KEPT[id(self)] = [Plain()]
        self.keep["a"] = KEPT[id(self)][0]

    def change(self, rng):
        if rng.random() < 0.3:
            KEPT[id(self)].clear()

    def read(self, x, s):
        return x * (1 + len(self.keep))

    def shown(self):
        return []


@opaque
class Computed(Kind):
    def make(self, rng):
        global SETTING  # noqa: PLW0603  # what is tested
        SETTING = 1.0

    def change(self, rng):
        global SETTING  # noqa: PLW0603  # as above
        SETTING = rng.random()

    def read(self, x, s):
        return x * globals()["SETTING"] + random.random() * 0

    def shown(self):
        return []


KEPT = {}


# Programs


class World:
    """The objects of one program, and its step."""

    def __init__(self, seed):
        rng = random.Random(seed)
        pullback.manual_seed(seed)
        names = rng.sample(sorted(KINDS), rng.randint(1, 4))
        if rng.random() < SHARE_OF_EFFECTS:
            names.append(rng.choice(sorted(EFFECTS)))
        if rng.random() < SHARE_OF_OPAQUE:
            names.append(rng.choice(sorted(OPAQUE)))
        if {"Globals", "Computed"} <= {*names}:
            names.remove("Globals")
        self.names = names
        self.objects = [(KINDS | EFFECTS | OPAQUE)[name](rng) for name in names]
        self.gradient = rng.random() < 0.3
        self.rng = rng
        self.step = self.made()

    def made(self):
        objects, gradient = self.objects, self.gradient

        def forward(x, s):
            total = x
            for each in objects:
                total = each.read(x, s) + total * 0.5
            return total

        if not gradient:
            return forward

        def step(x, s):
            x = x.detach().requires_grad_()
            loss = forward(x, s).sum()
            (found,) = pullback.autograd.grad(loss, x)
            return loss.detach(), found

        return step

    def change(self):
        if self.rng.random() < 0.6:
            self.rng.choice(self.objects).change(self.rng)
        return [self.rng.gauss(0, 1) for _ in range(3)], self.rng.choice([0.5, 1.5, 2.0])


def plain(value, depth=0):
    """A value with the types of all that is in it, as far as it can differ."""
    if isinstance(value, pullback.Tensor):
        return value.detach().numpy().tolist()
    if isinstance(value, dict):
        return [(plain(key, depth + 1), plain(each, depth + 1)) for key, each in value.items()]
    if isinstance(value, list | tuple | set | collections.deque):
        return [type(value).__name__, *[plain(each, depth + 1) for each in value]]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        return [type(value), repr(value)]
    return type(value)


def has_stand_in(value):
    """Whether a value is, or holds, an object of a recording."""
    if isinstance(value, list | tuple | set | collections.deque):
        return any(map(has_stand_in, value))
    if isinstance(value, dict):
        return any(map(has_stand_in, (*value, *value.values())))
    return type(value).__module__.startswith("pullback.compile")


def close(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(close, a, b))
    if type(a) is float and type(b) is float:
        return a == b or (a != a and b != b) or abs(a - b) <= 2e-4 * max(1.0, abs(a), abs(b))
    return a == b


@dataclasses.dataclass
class Outcome:
    """What became of a program: how many stale and wrong answers, other states, stand-ins, and why it ran as it is."""

    names: list
    stale: int = 0
    wrong: int = 0
    state: int = 0
    stand_ins: int = 0
    reasons: list = dataclasses.field(default_factory=list)

    @property
    def right(self):
        return not (self.stale or self.wrong or self.state or self.stand_ins)


def outcome(seed, *, fuse=False):
    """Run a program, compiled and as it is, with the same changes."""
    worlds, answers, ends = [], [], []
    for wrap in (lambda step: step, lambda step: Compiled(step, fuse=fuse)):
        random.seed(seed)
        world = World(seed)
        world.step = wrap(world.step)
        found, shown = [], []
        for _ in range(CALLS):
            numbers, s = world.change()
            pullback.manual_seed(seed)
            try:
                answer = plain(world.step(pullback.tensor(numbers), s))
            except (ArithmeticError, StopIteration, AttributeError, TypeError, RuntimeError) as error:
                answer = [type(error).__name__]
            found.append(answer)
            shown.append([plain(each.shown()) for each in world.objects])
        worlds.append(world)
        answers.append(found)
        ends.append(shown)
    made = Outcome(worlds[0].names)
    for i, (expected, found) in enumerate(zip(*answers, strict=True)):
        if not close(expected, found):
            earlier = any(close(found, each) for each in answers[0][:i])
            made.stale += earlier
            made.wrong += not earlier
    made.state = sum(not close(*pair) for pair in zip(*ends, strict=True))
    made.stand_ins = sum(has_stand_in(each.shown()) for each in worlds[1].objects)
    step = worlds[1].step
    if not any(step.records.values()):
        made.reasons = [*step.refused.values(), *step.reasons][:1]
    return made


def main(count, first):
    """Run programs, one in a hundred with machine code, and say what became of them."""
    warnings.simplefilter("ignore")
    totals, reasons = collections.Counter(), collections.Counter()
    for seed in range(first, first + count):
        made = outcome(seed, fuse=seed % 100 == 0)
        totals += collections.Counter(stale=made.stale, wrong=made.wrong, state=made.state, stand_ins=made.stand_ins)
        if not made.right:
            print(f"program {seed}: {made}", flush=True)
        reasons.update(made.reasons)
    compiled = count - sum(reasons.values())
    print(f"{count} programs of {CALLS} calls, {compiled} compiled ({100 * compiled / count:.1f}%)")
    print(", ".join(f"{totals[name]} {name}" for name in ("stale", "wrong", "state", "stand_ins")))
    for reason, times in reasons.most_common():
        print(f"{times:>6} ran as they are: {reason}")
    return int(bool(sum(totals.values())))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
