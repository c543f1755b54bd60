"""Functions with loops, writes and state, called with what changes: compiled, they give what they give eagerly.

A case draws a function of tensors, an int and a float: loops of Python, whose number of steps is an int, a size or a number of
its closure, scans, branches, views, writes in place, modules and derivatives. Between calls the arguments change in size,
dtype, memory order and in what they share, and the closure, the modules and their parameters change, too. Two worlds made from
one seed, one for the compiled function, must show the same results and the same state after each call.
"""

import copy
import warnings

import numpy as np

import pullback
from pullback import func, nn
from pullback.compile import Compiled

FEW, CALLS, WIDTH = 6, 9, 3

UNARY = "sin cos tanh sigmoid relu square neg abs exp softplus gelu erf silu".split()
BINARY = ("add", "mul", "sub", "maximum", "minimum", "atan2", "hypot")


class Net(nn.Module):
    """A module with parameters, a buffer, numbers and a list of layers."""

    def __init__(self, numbers):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in range(2)])
        self.gain = nn.Parameter(pullback.ones(WIDTH))
        self.register_buffer("seen", pullback.zeros(WIDTH))
        self.power, self.active = 1.0, "tanh"
        for each in self.parameters():
            each.data.copy_(pullback.tensor(numbers.uniform(-1, 1, tuple(each.shape))))
        self.double() if numbers.random() < 0.8 else self.float()

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = getattr(pullback, self.active)(layer(x)) * (self.power + i)
        if self.training:
            self.seen.mul_(0.9).add_(x.detach().reshape(-1, WIDTH).mean(0) * 0.1)
        return x * self.gain + self.seen


class World:
    """What a function closes over, which changes between calls."""

    def __init__(self, numbers):
        self.net, self.scale, self.steps, self.flag = Net(numbers), 0.5, 3, True
        self.table = {"rate": 0.25, "held": pullback.tensor(numbers.uniform(-1, 1, WIDTH))}
        self.kept, self.functions = [pullback.tensor(numbers.uniform(-1, 1, (2, WIDTH)))], [pullback.sin, pullback.cos]
        self.bias = nn.Parameter(pullback.tensor(numbers.uniform(-1, 1, WIDTH), dtype=self.net.gain.dtype))

    def shown(self):
        """All of its state, as tensors and numbers."""
        return [
            *self.net.state_dict().values(), *[p.grad for p in self.net.parameters()], self.table["held"], *self.kept, self.bias,
            self.bias.grad, self.scale, self.steps, self.flag, len(self.table), self.table["rate"],
        ]  # fmt: skip


# Statements: each is drawn with a number of its own, and maps what there is, the arguments and the world to one tensor more


def bounded(x):
    """A value near zero, so that long programs stay finite."""
    return x / (1 + x.abs())


def unary(c, pool, t, f, world):
    x = c.pick(pool)
    name = c.choice(UNARY)
    return getattr(pullback, name)(x) if hasattr(pullback, name) else getattr(nn.functional, name)(x)


def binary(c, pool, t, f, world):
    return getattr(pullback, c.choice(BINARY))(c.pick(pool), c.pick(pool) + 0.1)


def numbered(c, pool, t, f, world):
    x = c.pick(pool)
    return c.choice([
        lambda: x * t * 0.1, lambda: x + t % 3, lambda: x / (abs(t) + 1), lambda: x * 0.9**abs(t), lambda: bounded(x * f),
        lambda: x - f * world.scale, lambda: x if t % 2 else x * 2, lambda: x * (t // 2 > 1), lambda: x[t % len(x)] + x if len(x) else x,
        lambda: x[: t % 4 + 1].sum(0) + x, lambda: x.roll(t, 0), lambda: x * float(t) / 7, lambda: (x.abs() + 0.5) ** (t % 4),
        lambda: x + pullback.full((WIDTH,), t * 0.01, dtype=x.dtype), lambda: x * (f if f > 0.5 else 1.0), lambda: x * min(t, 2) + max(f, 0.1),
        lambda: x + pullback.arange(WIDTH, dtype=x.dtype) * t * 0.01, lambda: x.clamp(max=f), lambda: x.narrow(0, 0, min(t, len(x))).sum() + x,
    ])()  # fmt: skip


def sized(c, pool, t, f, world):
    x = c.pick(pool)
    n = len(x)
    return c.choice([
        lambda: x / max(n, 1), lambda: x if n > 4 else x * 2, lambda: (x.T @ x / (n + 1)).sum(0) + x, lambda: x.flip(0) - x.mean() if n else x,
        lambda: x.cumsum(0) / (n + 1), lambda: pullback.cat([x[1:], x[:1]]), lambda: x + x.sum(0, keepdim=True) / (n + 1),
        lambda: x.reshape(-1)[: n * WIDTH : 2].sum() * 0.1 + x, lambda: pullback.stack([x, x * 2]).mean(0),
        lambda: x.softmax(-1), lambda: x - (x.amax(0) if n else 0), lambda: (x[: n // 2].sum() if n > 1 else x.sum()) + x,
        lambda: sum(row.sum() for row in x[:5]) * 0.1 + x, lambda: pullback.zeros(n, WIDTH, dtype=x.dtype) + x * 0.5,
    ])()  # fmt: skip


def looped(c, pool, t, f, world):
    x, y = c.pick(pool), c.pick(pool)
    count = c.choice(
        [lambda: 4, lambda: abs(t) % 6, lambda: world.steps, lambda: min(len(x), 7), lambda: 20, lambda: 40]
    )()
    step = c.choice([
        lambda x, i: bounded(x + y * 0.1), lambda x, i: (x * 0.9 + i * 0.01).sin(), lambda x, i: x * world.scale + y.mean() * i * 0.1,
        lambda x, i: world.functions[i % len(world.functions)](x), lambda x, i: x + y if i == t else x * 0.5 + y * 0.1,
        lambda x, i: x.flip(-1) * 0.5 + x.roll(1, -1) * 0.4, lambda x, i: bounded(x * x + world.table["held"]),
        lambda x, i: x * 0.7 + y[i % len(y)] * 0.1 if len(y) else x, lambda x, i: (x @ world.net.layers[0].weight.to(x.dtype)).tanh(),
    ])  # fmt: skip
    kept = []
    for i in range(count):
        x = step(x, i)
        kept.append(x)
    return x if c.random() < 0.6 or not kept else sum(kept) / len(kept)


def controlled(c, pool, t, f, world):
    x, y = c.pick(pool), c.pick(pool).detach()
    w = world.table["held"].to(x.dtype)

    def scan():
        last, all_ = pullback.scan(
            lambda s, row: (bounded(s * 0.5 + row * f), (s * w).sum()), x.sum(0) * 0.1, x, reverse=bool(t % 2)
        )
        return x + last + all_.sum() * 0.01 if len(x) else x + last

    def fori():
        return pullback.fori_loop(0, abs(t) % 4, lambda i, s: (s * w).sin() + i * 0.1, x)

    def whiles():
        return (
            pullback.while_loop(lambda i, s: i < t % 5, lambda i, s: (i + 1, bounded(s + w)), (pullback.tensor(0), y))[
                1
            ]
            + x
        )

    def cond():
        return pullback.cond(x.sum() * 0 + t > 1, lambda x: x * world.scale, lambda x: (x * w).cos(), (x,))

    def mapped():
        return func.vmap(
            lambda row: pullback.cond(row.sum() * 0 + f > 0.5, lambda r: r * w, lambda r: r.sin() + t, (row,))
        )(x)

    return c.choice([scan, fori, whiles, cond, mapped])() if len(x) else x


def derived(c, pool, t, f, world):
    x = c.pick(pool).detach()

    def loss(v):
        for i in range(world.steps % 4):
            v = bounded(v * (1 + i * f))
        return (v * v * (t % 3 + 1)).sum() * world.scale

    return c.choice([
        lambda: func.grad(loss)(x), lambda: func.jvp(loss, (x,), (x * 0.5,))[1] + x, lambda: func.vmap(func.grad(loss))(x) if len(x) else x,
        lambda: func.hessian(lambda r: loss(r))(x.sum(0)).sum(0) + x, lambda: pullback.autograd.grad(loss(v := x.clone().requires_grad_()), v)[0],
        lambda: func.vjp(loss, x)[1](pullback.tensor(0.5, dtype=x.dtype))[0],
    ])()  # fmt: skip


def written(c, pool, t, f, world):
    x, y = c.pick(pool).clone() if c.random() < 0.7 else c.pick(pool) * 1.0, c.pick(pool)
    view = c.choice([
        lambda: x, lambda: x[:, 0], lambda: x[1:], lambda: x.T, lambda: x.view(-1) if x.is_contiguous() else x, lambda: x[::2], lambda: x[..., 1:],
        lambda: x.transpose(0, 1)[t % WIDTH], lambda: x.unsqueeze(0), lambda: x[-1:],
    ])()  # fmt: skip
    c.choice([
        lambda: view.mul_(0.5), lambda: view.add_(f), lambda: view.sub_(t), lambda: view.tanh_(), lambda: view.__setitem__(..., f), lambda: view.copy_(view * 2 - 1),
        lambda: view.neg_().add_(view), lambda: view.masked_fill_(view.detach() > 10, f), lambda: x.add_(y.detach().mean() * 0.1), lambda: view.zero_(),
        lambda: view.__setitem__(slice(0, 1), view[-1:] * 2), lambda: x.__iadd__(y.to(x.dtype)) if y.dtype == x.dtype else x.add_(1),
    ])()  # fmt: skip
    return view.sum() * 0.1 + x if c.random() < 0.5 else x


def of_module(c, pool, t, f, world):
    x = c.pick(pool)
    found = world.net(x.to(world.net.gain.dtype))
    return found * world.bias.to(found.dtype) if c.random() < 0.4 else found


def remembered(c, pool, t, f, world):
    """State that the function changes: tensors in place, entries that are replaced, numbers."""
    x = c.pick(pool).detach()
    held = world.table["held"]
    c.choice([
        lambda: held.mul_(0.5).add_(x.sum(0).to(held.dtype) * 0.01), lambda: world.kept[0].add_(0.1), lambda: world.table.update(held=held * 0.5 + 0.1),
        lambda: setattr(world, "scale", world.scale * 0.5 + 0.2), lambda: world.kept.__setitem__(0, world.kept[0] * 0.9), lambda: None,
        lambda: setattr(world, "steps", world.steps % 5 + 1), lambda: world.kept[0][t % 2].mul_(f),
    ])()  # fmt: skip
    return x * world.kept[0].mean().to(x.dtype) + world.table["held"].to(x.dtype)


def of_closure(c, pool, t, f, world):
    x = c.pick(pool)
    return c.choice([
        lambda: x * world.scale, lambda: x * world.table["rate"], lambda: world.functions[0](x), lambda: x if world.flag else -x,
        lambda: x + sum(kept.to(x.dtype).sum() for kept in world.kept) * 0.1, lambda: x * len(world.functions), lambda: x + world.bias.to(x.dtype),
        lambda: x * sum(world.table[key] for key in world.table if key != "held"), lambda: pullback.stack([g(x) for g in world.functions]).mean(0),
    ])()  # fmt: skip


STATEMENTS = (
    unary,
    binary,
    numbered,
    sized,
    looped,
    controlled,
    derived,
    written,
    of_module,
    remembered,
    of_closure,
    numbered,
    looped,
    written,
)


class Choices:
    """Decisions of one statement, the same whenever it runs."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def choice(self, options):
        return options[int(self.rng.integers(len(options)))]

    def random(self):
        return self.rng.random()

    def pick(self, pool):
        return pool[-1] if self.rng.random() < 0.5 else pool[int(self.rng.integers(len(pool)))]


class Written:
    """A function that is drawn once; `of` is the function of a world."""

    def __init__(self, rng):
        self.plan = [
            (STATEMENTS[i], int(rng.integers(1 << 30))) for i in rng.integers(len(STATEMENTS), size=rng.integers(2, 9))
        ]
        self.on_argument = rng.random() < 0.3
        self.backward = rng.random() < 0.5
        self.results = int(rng.integers(1 << 30))

    def of(self, world):
        def function(x, y, t, f=0.75):
            pool = [x, y]
            if self.on_argument:
                with pullback.no_grad():
                    y.mul_(0.5).add_(t)
            for statement, number in self.plan:
                made = statement(Choices(number), pool, t, f, world)
                pool.append(bounded(made.expand_as(x) if made.shape != x.shape and made.numel() == 1 else made))
            total = sum(each.double().mean() for each in pool if each.numel())
            if self.backward and isinstance(total, pullback.Tensor) and total.requires_grad:
                total.backward(retain_graph=True)
            return self.result(pool, total, t, f)

        return function

    def result(self, pool, total, t, f):
        c = Choices(self.results)
        some = [c.choice(pool) for _ in range(2)]
        return c.choice([
            lambda: pool[-1], lambda: (total, *some), lambda: {"a": some[0], "b": [t, some[1].T]}, lambda: [some[0][:1], f * 2, pool[-1].detach()],
            lambda: (pool[-1], t + 1, f, None, str(t)), lambda: [pool[0], pool[-1][..., 0]], lambda: (total, tuple(pool)),
        ])()  # fmt: skip


# What changes between calls


def changed(rng, world):
    """One change of the world, or none."""
    net = world.net
    number, values = float(rng.uniform(0.1, 0.9)), pullback.tensor(rng.uniform(-1, 1, WIDTH))
    changes = [
        lambda: None, lambda: None, lambda: None,
        lambda: setattr(world, "scale", number), lambda: setattr(world, "steps", int(rng.integers(1, 9))), lambda: setattr(world, "flag", not world.flag),
        lambda: world.table.update(rate=number), lambda: world.table.update(held=values), lambda: world.table.__setitem__(f"new{len(world.table) % 3}", number),
        lambda: world.kept.append(pullback.ones(2, WIDTH) * number), lambda: world.kept.reverse(), lambda: world.functions.reverse(),
        lambda: world.functions.append(pullback.tanh) if len(world.functions) < 4 else world.functions.pop(),
        lambda: net.train(not net.training), lambda: setattr(net, "power", number), lambda: setattr(net, "active", ["sin", "tanh", "sigmoid"][int(rng.integers(3))]),
        lambda: setattr(net, "gain", nn.Parameter(values.to(net.gain.dtype))), lambda: net.gain.data.mul_(number), lambda: net.layers.append(copy.deepcopy(net.layers[0])) if len(net.layers) < 4 else None,
        lambda: net.layers[0].weight.requires_grad_(bool(rng.integers(2))), lambda: net.double() if rng.random() < 0.5 else net.float(),
        lambda: net.zero_grad(set_to_none=bool(rng.integers(2))), lambda: net.register_buffer("seen", pullback.ones(WIDTH, dtype=net.gain.dtype) * number),
        lambda: setattr(net.layers[-1], "bias", None), lambda: world.table.update(held=world.table["held"].double()), lambda: setattr(world, "scale", int(rng.integers(1, 3))),
        lambda: setattr(world.bias, "data", world.bias.data * number), lambda: setattr(world.bias, "grad", None),
    ]  # fmt: skip
    changes[int(rng.integers(len(changes)))]()


def arguments(rng, state):
    """The arguments of a call, which differ from those before in some ways: a function makes them anew for each world."""
    if rng.random() < 0.3:
        state["size"] = int(rng.choice([0, 1, 2, 3, 4, 5, 8, 9, 17, 40]))
    if rng.random() < 0.2:
        state["dtype"] = str(rng.choice(["float32", "float64", "float64"]))
    if rng.random() < 0.2:
        state["order"] = str(rng.choice(["rows", "columns", "strided"]))
    if rng.random() < 0.2:
        state["tracked"] = bool(rng.integers(2))
    if rng.random() < 0.15:
        state["shared"] = str(rng.choice(["no", "no", "same", "view"]))
    state["t"] = state["t"] + 1 if rng.random() < 0.5 else int(rng.choice([0, 1, 2, 3, 7, -2, 100]))
    numbers = rng.uniform(-1, 1, (2, state["size"], WIDTH))
    f, kind, named = float(rng.choice([0.75, 0.25, rng.uniform(0, 1)])), dict(state), rng.random() < 0.3

    def make():
        def tensor(values):
            values = np.array(values, kind["dtype"])
            wide = np.repeat(values, 2, axis=0)[::2]
            held = {"rows": values.copy(), "columns": np.asfortranarray(values), "strided": wide}[kind["order"]]
            return pullback.from_numpy(held)

        x, y = tensor(numbers[0]), tensor(numbers[1])
        y = {"no": y, "same": x, "view": x[:]}[kind["shared"]]
        if kind["tracked"]:
            x.requires_grad_() if kind["shared"] == "no" else None
        return [x, y], ((x, y, kind["t"]), {"f": f} if named else {}) if named else ((x, y, kind["t"], f), {})

    return make


def shown(value):
    """The leaves of a result."""
    if isinstance(value, dict):
        return [each for key, one in value.items() for each in (key, *shown(one))]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *[each for one in value for each in shown(one)]]
    return [value]


def called(function, world, make):
    """What a call gives and leaves behind: results, arguments, their gradients, the state; or the class of its error."""
    tensors, (args, options) = make()
    try:
        with np.errstate(all="ignore"):
            found = function(*args, **options)
    except Exception as error:  # that of the function
        return type(error).__name__, error
    results = shown(found)
    shared = [
        (i, j) for i, one in enumerate(results) for j, other in enumerate([*results, *tensors])
        if i < j and all(isinstance(each, pullback.Tensor) and each.numel() for each in (one, other)) and np.shares_memory(one.detach().numpy(), other.detach().numpy())
    ]  # fmt: skip
    return [*results, shared, *tensors, *[x.grad for x in tensors], *world.shown()], None


def near(one, other, single, where):
    """Compare two leaves, bit for bit but for rounding, of single precision where anything was in that."""
    assert type(one) is type(other), f"{where}: {one!r} for {other!r}"
    if not isinstance(one, pullback.Tensor):
        assert one == other or (isinstance(one, float) and abs(one - other) < 1e-12), f"{where}: {one!r} for {other!r}"
        return 1
    facts = [(x.dtype, x.shape, x.requires_grad, x.is_leaf, [a for a, n in zip(x.stride(), x.shape, strict=True) if n > 1] if x.numel() else None)
             for x in (one, other)]  # fmt: skip
    assert facts[0] == facts[1], f"{where}: {facts[0]} for {facts[1]}"
    a, b = one.detach().double().numpy(), other.detach().double().numpy()
    rtol, atol = (2e-3, 1e-4) if single else (1e-8, 1e-10)
    np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg=where)
    return one.numel()


def check(rng):
    """Draw one function, and call it some times in two worlds, one of them compiled."""
    seed, plan = int(rng.integers(1 << 30)), Written(rng)
    worlds = [World(np.random.default_rng(seed)) for _ in range(2)]
    eager, compiled = plan.of(worlds[0]), pullback.compile(plan.of(worlds[1]))
    state = {"size": 3, "dtype": "float64", "order": "rows", "tracked": False, "shared": "no", "t": 0}
    compared, single = 0, False  # what was rounded once stays so in the state
    told = [(each.__name__, number) for each, number in plan.plan]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Compiled.Warning if hasattr(Compiled, "Warning") else UserWarning)
        for number in range(CALLS):
            if number > 1:
                change = int(rng.integers(1 << 30))
                for world in worlds:
                    changed(np.random.default_rng(change), world)
            make = arguments(rng, state)
            expected, error = called(eager, worlds[0], make)
            found, other = called(compiled, worlds[1], make)
            where = f"call {number}, {state}, {told}"
            if error is not None or other is not None:
                assert expected == found, f"{where}: {other!r} for {error!r}"
                return compared + 1
            assert len(found) == len(expected), where
            single = single or any(isinstance(x, pullback.Tensor) and x.dtype == pullback.float32 for x in expected)
            compared += sum(
                near(one, two, single, f"{where}, leaf {i}")
                for i, (one, two) in enumerate(zip(found, expected, strict=True))
            )
    return compared
