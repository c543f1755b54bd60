"""The page computes calls anew after a change: its numbers are pullback's, or it says why it has none.

Programs are run twice, with numbers before and after a change. What the page makes of the first trace and the change is
compared with the second trace.
"""

import json
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

import pullback
from pullback.explain import statements

from .node import Node, needed

F = pullback.nn.functional
needed()


class Page(Node):
    """The page's computing, in a process of Node."""

    def __init__(self, folder):
        super().__init__("recompute", folder)
        self.words = self.line()

    def recomputed(self, trace, changes, call=0):
        """What the page shows after changes of the values at places."""
        return self.answer(
            {"trace": trace, "call": call, "changes": {str(place): data for place, data in changes.items()}}
        )


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    page = Page(tmp_path_factory.mktemp("page"))
    yield page
    page.process.communicate()


def traced(program, *arguments):
    """The trace of a program of leaves."""
    with pullback.explain.record(timing=False) as ex:
        program(*arguments)
    return json.loads(json.dumps(ex.to_dict()))


def leaf(data, dtype=pullback.float32):
    return pullback.tensor(data, dtype=dtype, requires_grad=True)


def place_of(trace, value, call=0):
    """The place of the only constant that has a value."""
    call = trace["calls"][call]
    found = [
        len(call["tensors"]) + i
        for i, each in enumerate(call["account"]["constants"])
        if each["given"] and each["value"]["data"] == [value]
    ]
    return found[0] if len(found) == 1 else None


def numbers(array):
    return np.array([float(each) for each in array["data"]])


def close(found, expected, scale=0.0):
    """Whether numbers are the same, but for 1e-6, or that of the largest."""
    one, other = numbers(found), numbers(expected)
    finite = np.abs(other[np.isfinite(other)])
    most = 1e-6 * max(1, finite.max(initial=0), scale if math.isfinite(scale) else 0)
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-6, atol=most, equal_nan=True)


def differences(answer, call):
    """Numbers that the page shows and pullback does not give, of tensors, gradients, terms and Jacobians; and how many it shows."""
    wrong, shown = [], 0
    found = answer["call"]

    def compare(name, one, other, scale=0.0):
        nonlocal shown
        if one is None or other is None or "data" not in one or "data" not in other:
            return
        shown += 1
        if not close(one, other, scale):
            wrong.append((name, one["data"], other["data"]))

    for one, other in zip(found["tensors"], call["tensors"], strict=True):
        compare(one["name"], one["data"], other["data"])
    for one, other in zip(found["steps"], call["steps"], strict=True):
        for a, b in zip(one["v"], other["v"], strict=True):
            compare(f"v of {one['node']}", a, b)
        for a, b in zip(one["terms"], other["terms"], strict=True):
            size = max(map(abs, numbers(b["out"])), default=0) if "data" in b["out"] else 0
            for name in ("out", "before", "after"):
                compare(f"{name} of {one['node']}", a[name], b[name], size)
            for c, d in zip(a["jacobians"], b["jacobians"], strict=True):
                compare(f"J of {one['node']}", c, d)
    for one, other in zip(found["leaves"], call["leaves"], strict=True):
        largest = max(
            (
                max(map(abs, numbers(call["steps"][each["step"]]["terms"][each["term"]]["out"])), default=0)
                for each in other["contributions"]
            ),
            default=0,
        )
        compare("grad", one["grad"], other["grad"], largest)
        for c, d in zip(one["jacobians"], other["jacobians"], strict=True):
            compare("J of a leaf", c, d)
    return wrong, shown


def check(page, program, before, after, changes=None):
    """What the page says instead of numbers, after the numbers that it shows have been compared."""
    trace = traced(program, *before)
    if changes is None:
        tensors = [each["data"]["data"] for each in trace["calls"][0]["tensors"]]
        changes = {}
        for old, new in zip(before, after, strict=True):
            flat = [*np.asarray(new.detach()).reshape(-1).tolist()]
            same = [i for i, data in enumerate(tensors) if data == [*np.asarray(old.detach()).reshape(-1).tolist()]]
            if data_of(old) != data_of(new):
                changes[same[0]] = [
                    float(each) if math.isfinite(each) else str(each).replace("inf", "Infinity").replace("nan", "NaN")
                    for each in flat
                ]
    answer = page.recomputed(trace, changes)
    if "why" in answer:
        return [answer["why"]]
    expected = traced(program, *after)["calls"][0]
    wrong, _ = differences(answer, expected)
    assert not wrong, wrong[:3]
    return [*dict.fromkeys(answer["unknown"].values())]


def data_of(tensor):
    return np.asarray(tensor.detach()).tolist()


# Particular programs


def test_the_page_knows_the_words_that_python_writes(page):
    assert set(page.words) == statements.WORDS


def plane(x):
    a, b = x
    p = a * b
    q = a**2 + b
    pullback.stack([p, q]).backward(pullback.tensor([1.0, 2.0]))


def test_values_gradients_and_jacobians_follow_x(page):
    answer = page.recomputed(traced(plane, leaf([2.0, 1.0])), {0: [3, -1]})
    assert answer["unknown"] == {}
    assert answer["call"]["tensors"][-1]["data"]["data"] == [-3, 8]
    assert answer["call"]["leaves"][0]["grad"]["data"] == [11, 5]
    assert answer["call"]["leaves"][0]["jacobians"][0]["data"] == [-1, 3, 6, 1]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (lambda x: (3 * x).backward(), 15),
        (lambda x: (x * 3).backward(), 15),
        (lambda x: (x - 3).backward(), 2),
        (lambda x: (3 - x).backward(), -2),
        (lambda x: (3 / x).backward(), 0.6),
        (lambda x: (x / 3).backward(), 5 / 3),
    ],
)
def test_constants_stand_at_their_places(page, program, expected):
    answer = page.recomputed(traced(program, leaf(2.0)), {0: [5]})
    assert answer["call"]["tensors"][-1]["data"]["data"] == [pytest.approx(expected)]


def test_a_constant_can_be_changed(page):
    trace = traced(lambda x: (7 * x - 1).backward(), leaf(2.0))
    answer = page.recomputed(trace, {place_of(trace, 7): [10]})
    assert answer["call"]["tensors"][-1]["data"]["data"] == [19]
    assert answer["call"]["leaves"][0]["grad"]["data"] == [10]


def test_one_tensor_is_one_constant(page):
    def program(x):
        c = pullback.tensor(7.0)
        (x * c + c).backward()

    trace = traced(program, leaf(2.0))
    answer = page.recomputed(trace, {place_of(trace, 7): [10]})
    assert answer["call"]["tensors"][-1]["data"]["data"] == [30]


ONE, OTHER = [[2.0, -1.0, 0.5]], [[-3.0, 4.0, 0.25]]


def detached(x):
    (x * x.detach()).sum().backward()


def detached_result(x):
    c = (x * 2).detach()
    (x * (c + 1)).sum().backward()


def masked(x):
    pullback.where(x > 0, x * x, -x).sum().backward()


def ranked(x):
    (x.gather(0, x.argmax(0, keepdim=True)) * x.sort().values).sum().backward()


def written(x):
    y = x * 1
    y[0] = 5.0
    y[1:] *= 2
    (y * y).sum().backward()


def filled(x):
    y = pullback.zeros(3)
    y[0] = x[1] * x[2]
    y[1] = x[0]
    (y * y).sum().backward()


def filled_with_detached(x):
    y = x * 1
    y[0] = x.detach()[1]
    (y * y).sum().backward()


def views(x):
    y = x * 1
    z = y[1:]
    y.mul_(3)
    (z * z).sum().backward()


def branch_that_stays(x):
    y = x * 2 if x[2] > 0 else x * 3
    y.sum().backward()


def seed_follows(x):
    y = x * x
    y.backward(y.detach())


def accumulated(x):
    mask = (x > 0).float()
    total = mask * 0
    for _ in range(3):
        total = total + mask
    (x * total).sum().backward()


@pytest.mark.parametrize(
    "program",
    [detached, detached_result, masked, ranked, written, filled, filled_with_detached, views, branch_that_stays, seed_follows, accumulated],
)  # fmt: skip
def test_what_follows_from_x_follows(page, program):
    assert check(page, program, [leaf(*ONE)], [leaf(*OTHER)]) == []


def branch(x):
    y = x * 2 if x[0] > 0 else x * 3
    y.sum().backward()


def item(x):
    (x * x[0].item()).sum().backward()


def array(x):
    (x * pullback.tensor(x.detach().numpy() * 2)).sum().backward()


def largest(x):
    (x[x.argmax()] * 2).backward()


def drawn(x):
    (pullback.normal(x.detach(), 1.0) * x).sum().backward()


def chosen(x):
    pullback.cond(x[0] > 0, lambda x: x * 2, lambda x: x * 3, (x,)).sum().backward()


def index(x):
    x[int(x[0].item() > 0) :].sum().backward()


def mask_index(x):
    x[x > 0].sum().backward()


def transform(x):
    (x * pullback.func.grad(lambda t: (t**3).sum())(x.detach())).sum().backward()


def parameter(x):
    w = pullback.nn.Parameter(x.detach() * 2)
    (w * x).sum().backward()


def own(x):
    class Double(pullback.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    Double.apply(x).sum().backward()


def hooked(x):
    y = x * x
    y.register_hook(lambda g: g * (2 if g.numel() else 1))
    y.sum().backward()


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (branch, "the program asks for a number"),
        (item, "the program asks for a number"),
        (array, "the program asks for a number"),
        (index, "the program asks for a number"),
        (largest, "the program asks for a number"),
        (drawn, "random numbers"),
        (chosen, "the program asks for a number"),
        (mask_index, "a mask"),
        (transform, "a transform"),
        (parameter, "it was made from a result"),
        (own, "the program's own"),
        (hooked, ""),
    ],
)
def test_what_is_not_known_is_said_and_nothing_stale_is_shown(page, program, said):
    trace = traced(program, leaf(*ONE))
    answer = page.recomputed(trace, {0: OTHER[0]})
    last = answer["call"]["leaves"][0]["grad"]
    assert "data" not in last
    assert said in last["unknown"]


def test_what_comes_before_is_known(page):
    answer = page.recomputed(traced(item, leaf(*ONE)), {0: OTHER[0]})
    first = next(each for each in answer["call"]["tensors"] if each["op"] is None)
    assert first["data"]["data"] == OTHER[0]


def test_complex_numbers_and_halves_are_refused(page):
    for dtype, said in ((pullback.complex64, "complex"), (pullback.float16, "float16")):
        x = leaf([1.0, 2.0])
        trace = traced(lambda x: (x.to(dtype) * x.to(dtype)).abs().sum().backward(), x)  # noqa: B023
        answer = page.recomputed(trace, {0: [3, 4]})
        assert said in answer["call"]["leaves"][0]["grad"]["unknown"]


def test_sentences_about_numbers_do_not_outlive_them(page):
    def program(x, w):
        F.cross_entropy(x @ w, pullback.tensor([0, 1])).backward()

    trace = traced(program, leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([[0.5, -1.0], [1.0, 2.0]]))
    assert trace["calls"][0]["loss"] is not None
    answer = page.recomputed(trace, {0: [1, 2, 3, 5]})
    assert answer["call"]["said"] is answer["call"]["loss"] is None
    assert answer["call"]["findings"] == []
    assert all(step["note"] is None for step in answer["call"]["steps"] if step["phase"] == "backward")


def test_without_a_recording_nothing_is_computed(page):
    ex = pullback.explain(leaf(2.0) * 3)
    answer = page.recomputed(json.loads(json.dumps(ex.to_dict())), {0: [5]})
    assert "not recorded" in answer["why"]


def test_large_programs_are_refused_and_cost_nothing(page):
    trace = traced(lambda x: (x * 2).sum().backward(), pullback.ones(2000, requires_grad=True))
    assert "2000" not in trace["calls"][0]["account"]["why"] and trace["statements"] == []
    answer = page.recomputed(trace, {0: [1] * 2000})
    assert "4001 elements" in answer["why"]


def test_nan_and_inf_travel(page):
    def program(x):
        (x.log() * pullback.tensor([1.0, math.inf, 0.0])).sum().backward()

    assert check(page, program, [leaf([1.0, 2.0, 3.0])], [leaf([0.0, -1.0, math.inf])]) == []


def test_a_second_call_starts_from_its_own_leaves(page):
    def program(x):
        for _ in range(2):
            (x * x).sum().backward()
            with pullback.no_grad():
                x -= 0.1 * x.grad
                x.grad = None

    trace = traced(program, leaf([1.0, 2.0]))
    answer = page.recomputed(trace, {0: [5, 7]}, call=1)
    assert answer["unknown"] == {}
    assert answer["call"]["leaves"][0]["grad"]["data"] == [10, 14]


# Random programs

UNARY = {
    "sin": lambda x: x.sin(), "tanh": lambda x: x.tanh(), "sigmoid": lambda x: x.sigmoid(), "relu": lambda x: x.relu(),
    "exp": lambda x: x.clamp(-2, 2).exp(), "square": lambda x: x.square(), "abs": lambda x: x.abs(), "neg": lambda x: -x,
    "sqrt": lambda x: (x * x + 1).sqrt(), "log": lambda x: (x.abs() + 0.5).log(), "cube": lambda x: x**3,
    "softplus": F.softplus, "silu": F.silu, "gelu": F.gelu, "leaky": lambda x: F.leaky_relu(x, 0.1), "elu": F.elu,
    "reciprocal": lambda x: (x * x + 1).reciprocal(), "log1p": lambda x: x.abs().log1p(), "atan": lambda x: x.atan(),
    "tan_gelu": lambda x: F.gelu(x, approximate="tanh"), "expm1": lambda x: x.clamp(-1, 1).expm1(), "floor": lambda x: x.floor() + x,
    "power": lambda x: (x.abs() + 0.5) ** 1.5, "base": lambda x: 2 ** x.clamp(-3, 3), "clone": lambda x: x.clone(),
    "double": lambda x: x.double(), "single": lambda x: x.float(), "erf": lambda x: x.erf(), "rsqrt": lambda x: (x * x + 1).rsqrt(),
}  # fmt: skip
CONSTANT = {
    "x + c": lambda x, c: x + c, "c + x": lambda x, c: c + x, "x - c": lambda x, c: x - c, "c - x": lambda x, c: c - x,
    "x * c": lambda x, c: x * c, "c * x": lambda x, c: c * x, "x / c": lambda x, c: x / c, "c / x": lambda x, c: c / (x * x + 1),
    "max c": lambda x, c: pullback.maximum(x, pullback.as_tensor(c, dtype=x.dtype)),
}  # fmt: skip
BINARY = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / (b * b + 1),
    "max": pullback.maximum, "where": lambda a, b: pullback.where(a > b, a * b, a - b),
    "atan2": lambda a, b: pullback.atan2(a, b * b + 1), "hypot": lambda a, b: pullback.hypot(a, b + 3),
    "detached": lambda a, b: a * b.detach(), "lerp": lambda a, b: pullback.lerp(a, b, 0.3),
}  # fmt: skip
REDUCTION = {
    "sum": lambda x, d: x.sum(d), "mean": lambda x, d: x.mean(d), "amax": lambda x, d: x.amax(d), "max": lambda x, d: x.max(d).values,
    "logsumexp": lambda x, d: x.logsumexp(d), "norm": lambda x, d: (x + 3).norm(dim=d), "prod": lambda x, d: x.prod(d), "var": lambda x, d: x.var(d, correction=0),
    "softmax": lambda x, d: x.softmax(d), "log_softmax": lambda x, d: x.log_softmax(d), "cumsum": lambda x, d: x.cumsum(d),
    "sort": lambda x, d: x.sort(d).values, "flip": lambda x, d: x.flip(d), "keep": lambda x, d: x - x.mean(d, keepdim=True),
    "first": lambda x, d: x.select(d, 0), "tail": lambda x, d: x.narrow(d, x.shape[d] - 1, 1), "unsqueeze": lambda x, d: x.unsqueeze(d),
    "index": lambda x, d: x.index_select(d, pullback.tensor([0, x.shape[d] - 1, 0])), "roll": lambda x, d: x.roll(1, d), "twice": lambda x, d: pullback.cat([x, 2 * x], d),
    "norm1": lambda x, d: x.norm(1, d), "cumprod": lambda x, d: x.cumprod(d), "argmax": lambda x, d: x.gather(d, x.argmax(d, keepdim=True)), "layer": lambda x, d: F.layer_norm(x, x.shape[-1:]),
}  # fmt: skip
MATRIX = {
    "x @ x.T": lambda x: x @ x.mT, "transpose": lambda x: x.mT, "flatten": lambda x: x.reshape(-1), "diagonal": lambda x: x.diagonal(),
    "tril": lambda x: x.tril(), "x @ row": lambda x: x @ x[0], "row @ x.T": lambda x: x[0] @ x.mT, "batch": lambda x: x[None] @ x.mT, "trace": lambda x: x.diagonal().sum(),
    "cross": lambda x: F.cross_entropy(x, pullback.arange(len(x)) % x.shape[1]), "cross none": lambda x: F.cross_entropy(x, pullback.zeros(len(x), dtype=pullback.int64), reduction="none"),
    "pick": lambda x: x[[0, -1], [0, 0]], "linear": lambda x: F.linear(x, x, x[:, 0]), "einsum": lambda x: pullback.einsum("ij,kj->ik", x, x), "outer": lambda x: pullback.outer(x[0], x[:, 0]),
}  # fmt: skip
LOSS = {
    "mse": F.mse_loss, "l1": F.l1_loss, "huber": F.huber_loss, "smooth": F.smooth_l1_loss, "bce": lambda a, b: F.binary_cross_entropy_with_logits(a, b.detach().sigmoid()),
}  # fmt: skip
INPLACE = {
    "mul_": lambda x, c: x.clone().mul_(c), "fill first": lambda x, c: set_first(x.clone(), c), "add to first": lambda x, c: add_first(x.clone(), c),
    "own first": lambda x, c: set_first(x.clone(), x.reshape(-1)[0] * c), "iadd": lambda x, c: iadd(x * 1, c), "zeros": lambda x, c: set_first(pullback.zeros_like(x), c) * x,
}  # fmt: skip
LOOK = {
    "if": lambda x, c: x * c if x.sum() > 0 else x + c, "item": lambda x, c: x * (c + float(x.detach().reshape(-1)[0])),
    "print": lambda x, c: (str(x), x * c)[1], "dropout": lambda x, c: F.dropout(x, 0.5) * c,
}  # fmt: skip


def set_first(x, value):
    x.reshape(-1)[0] = value
    return x


def add_first(x, value):
    x[..., :1] += value
    return x


def iadd(x, value):
    x += value
    return x


KINDS = [(UNARY, 5), (CONSTANT, 4), (BINARY, 4), (REDUCTION, 4), (MATRIX, 2), (LOSS, 1), (INPLACE, 1), (LOOK, 1)]
KIND = [kind for kind, weight in KINDS for _ in range(weight)]
VALUES = st.floats(-2, 2, width=16).map(lambda x: round(x, 3))


@st.composite
def programs(draw):
    """A program: operations, each with places of its operands and a constant; shapes of leaves, numbers, and what is changed."""
    shapes = draw(
        st.lists(st.sampled_from([(), (2,), (3,), (1, 3), (2, 3), (2, 1), (2, 2), (3, 1)]), min_size=1, max_size=2)
    )
    steps = []
    for _ in range(draw(st.integers(1, 5))):
        kind = draw(st.integers(0, len(KIND) - 1))
        name = draw(st.sampled_from(sorted(KIND[kind])))
        constant = draw(st.integers(1, 400).filter(lambda n: n != 128)) / 128 + 0.001953125 * len(steps)
        steps.append((kind, name, draw(st.integers(0, 5)), draw(st.integers(0, 5)), constant, draw(st.booleans())))
    before, after = (
        [draw(st.lists(VALUES, min_size=math.prod(s), max_size=math.prod(s))) for s in shapes] for _ in range(2)
    )
    return (
        shapes,
        steps,
        before,
        after,
        draw(st.booleans()),
        draw(st.sampled_from(["leaf", "constant", "both"])),
        draw(st.booleans()),
    )


def run(shapes, steps, data, double, seeded):
    """Run a program; operations that its shapes do not allow are left out."""
    dtype = pullback.float64 if double else pullback.float32
    pullback.manual_seed(0)
    values = [leaf(np.array(d).reshape(s).tolist(), dtype) for s, d in zip(shapes, data, strict=True)]
    for kind, name, first, second, constant, wrapped in steps:
        function, table = KIND[kind][name], KIND[kind]
        a, b = values[-1 - first % len(values)], values[second % len(values)]
        c = pullback.tensor(constant, dtype=dtype) if wrapped else constant
        if (
            (table is REDUCTION and not a.ndim)
            or (table is MATRIX and a.ndim != 2)
            or (table is INPLACE and not a.ndim)
        ):
            continue
        if ((table in (BINARY, LOSS)) and not broadcastable(a, b)) or (table is LOSS and a.shape != b.shape):
            continue
        operands = {id(UNARY): (a,), id(MATRIX): (a,), id(BINARY): (a, b), id(LOSS): (a, b)}.get(id(table))
        operands = operands or ((a, second % a.ndim) if table is REDUCTION else (a, c))
        made = function(*operands)
        if made.numel() > 60 or made.ndim > 3:
            continue
        values.append(made)
    y = values[-1] * 1 + sum(each.sum() for each in values[len(shapes) : -1])
    y.backward(pullback.linspace(1, 2, y.numel(), dtype=y.dtype).reshape(y.shape) if seeded else pullback.ones_like(y))


def broadcastable(a, b):
    return all(m == n or 1 in (m, n) for m, n in zip(reversed(a.shape), reversed(b.shape), strict=False))


COUNTED = {"recomputed": 0, "refused": {}, "numbers": 0}


@settings(max_examples=60, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_random_programs(page, program):
    shapes, steps, before, after, double, changed, seeded = program
    assume(len({tuple(each) for each in before}) == len(before))  # else it would not be known which leaf is which
    trace = traced(run, shapes, steps, before, double, seeded)
    changes, new, others = {}, [list(each) for each in before], list(steps)
    tensors = trace["calls"][0]["tensors"]
    leaves = [i for i, each in enumerate(tensors) if each["op"] is None and each["role"] == "leaf"]
    if changed != "leaf":
        for k, (kind, name, *rest, constant, wrapped) in enumerate(steps):
            if (place := place_of(trace, constant)) is not None:
                changes[place] = [constant + 0.5]
                others[k] = (kind, name, *rest, constant + 0.5, wrapped)
                break
    kind = np.float64 if double else np.float32
    if changed != "constant" or not changes:
        for place in leaves:
            held = numbers(tensors[place]["data"]).astype(kind)
            k = next(k for k, data in enumerate(before) if np.array_equal(np.asarray(data, kind), held))
            new[k] = after[k]
            changes[place] = after[k]
    answer = page.recomputed(trace, changes)
    assert "why" not in answer, answer["why"]
    said = [*dict.fromkeys(answer["unknown"].values())]
    expected = traced(run, shapes, others, new, double, seeded)["calls"][0]
    if [each["op"] for each in expected["tensors"]] != [each["op"] for each in tensors]:
        assert any("asks for a number" in each for each in said)
        COUNTED["refused"]["another way"] = COUNTED["refused"].get("another way", 0) + 1
        return
    wrong, shown = differences(answer, expected)
    assert not wrong, (said, wrong[:3])
    if said:
        COUNTED["refused"][said[0]] = COUNTED["refused"].get(said[0], 0) + 1
    else:
        COUNTED["recomputed"] += 1
        COUNTED["numbers"] += shown


def test_most_random_programs_are_recomputed():
    if not COUNTED["numbers"]:
        pytest.skip("the random programs have not run")
    assert COUNTED["recomputed"] > 30


REFUSALS = {
    "an index by an array": lambda write, x, i: x[i],
    "what depends on values": lambda write, x, i: bool(x),
    "numbers of dtype complex64": lambda write, x, i: write.word("add", [x, x], np.zeros(3, np.complex64)),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_what_has_no_words_is_named(reason):
    write = statements.Writer()
    x, i = (write.input(kind) for kind in (((3,), np.dtype(np.float64)), ((2,), np.dtype(np.int64))))
    with pytest.raises(NotImplementedError, match=reason):
        REFUSALS[reason](write, x, i)
