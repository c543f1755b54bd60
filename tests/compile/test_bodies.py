"""Programs within programs, the bodies of loops and branches: passes reach them, and their text is Python's own."""

import numpy as np
import pytest

from pullback.compile.loops import BRANCH, REPEAT, SCAN, Scan
from pullback.compile.passes import simplify
from pullback.compile.program import Equation, Program, Value, check, run
from pullback.compile.source import compile_source, write

from .programs import Growing, assert_same
from .test_source import called

DOUBLE = np.dtype(float)


def body_of(shapes, make):
    """A program on inputs of shapes, whose outputs `make(growing, *inputs)` gives."""
    growing = Growing(None)
    for shape in shapes:
        value = growing.keep(np.ones(shape))
        growing.inputs.append(value)
    outputs = make(growing, *growing.inputs)
    return Program(tuple(growing.inputs), tuple(growing.equations), tuple(outputs), growing.constants)


def wasteful(g, x):
    """-(-x), and something nobody needs."""
    g.do("log", x)
    return g.do("negative", *g.do("negative", x))[0]


def scanning(reverse):
    """carry, y = carry * w + row, carry - row, over four rows."""

    def make(g, carry, row, w):
        (product,) = g.do("multiply", wasteful(g, carry), w)
        (after,) = g.do("add", product, g.constant(np.array(0.5)))
        return [*g.do("add", after, row), *g.do("subtract", carry, row)]

    loop = Scan(body_of([(3,), (3,), ()], make), 1, 1, 4, reverse)
    x, rows, w = (Value(shape, DOUBLE) for shape in [(3,), (4, 3), ()])
    outputs = Value((3,), DOUBLE), Value((4, 3), DOUBLE)
    program = Program((x, rows, w), (Equation(SCAN, (x, rows, w), {"loop": loop}, outputs),), outputs)
    rng = np.random.default_rng(2)
    return program, [rng.standard_normal(3), rng.standard_normal((4, 3)), np.array(0.3)]


def branching(positive):
    bodies = (
        body_of([(3,)], lambda g, x: g.do("exp", wasteful(g, x))),
        body_of([(3,)], lambda g, x: [x]),
    )
    p, x, y = Value((), np.dtype(bool)), Value((3,), DOUBLE), Value((3,), DOUBLE)
    program = Program((p, x), (Equation(BRANCH, (p, x), {"bodies": bodies}, (y,)),), (y,))
    return program, [np.array(positive), np.arange(3.0)]


def repeating():
    """Doubles x until it is no longer less than a limit; the count of steps beside it."""

    def below(g, x, n, limit):
        return g.do("less", x, limit)

    def step(g, x, n):
        return [*g.do("add", x, wasteful(g, x)), *g.do("add", n, g.constant(np.array(1.0)))]

    params = {"test": body_of([(), (), ()], below), "body": body_of([(), ()], step), "carries": 2, "tested": 1}
    x, n, limit = (Value((), DOUBLE) for _ in range(3))
    outputs = Value((), DOUBLE), Value((), DOUBLE)
    program = Program((x, n, limit), (Equation(REPEAT, (x, n, limit), params, outputs),), outputs)
    return program, [np.array(1.0), np.array(0.0), np.array(50.0)]


CASES = {
    "scan": scanning(False), "scan in reverse": scanning(True), "branch": branching(True), "other branch": branching(False),
    "repeat": repeating(),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("fuse", [False, True])
def test_passes_reach_what_is_within(name, fuse):
    program, arrays = CASES[name]
    simple = simplify(program, fuse=fuse)
    assert_same(run(check(simple), arrays), run(program, arrays))
    params = simple.equations[0].params
    inside = [*params.get("bodies", ()), params.get("body"), getattr(params.get("loop"), "body", None)]
    names = [e.name for each in inside if each is not None for e in check(each).equations]
    assert names
    assert "log" not in names
    assert "negative" not in names or not fuse


@pytest.mark.parametrize("name", CASES)
def test_the_text_of_a_loop(name):
    program, arrays = CASES[name]
    expected = run(program, arrays)
    assert_same(called(write(program), program, arrays), expected)
    assert_same(compile_source(program)(*arrays), expected)
    assert {"scan": "for i in range(4):", "repeat": "while test("}.get(name, "def ") in write(program).text


def test_a_constant_of_a_body_is_handed_over():
    weights = np.arange(20.0).reshape(20)
    bodies = tuple(
        body_of([(20,)], lambda g, x, name=name: g.do(name, x, g.constant(weights))) for name in ("add", "multiply")
    )
    p, x, y = Value((), np.dtype(bool)), Value((20,), DOUBLE), Value((20,), DOUBLE)
    program = Program((p, x), (Equation(BRANCH, (p, x), {"bodies": bodies}, (y,)),), (y,))
    for positive in (True, False):
        arrays = [np.array(positive), np.ones(20)]
        assert_same(called(write(program), program, arrays), run(program, arrays))
        assert_same(compile_source(program)(*arrays), run(program, arrays))


def test_an_effect_within_is_an_effect():
    class Dice:
        name, kind, definition = "dice", "effect", None

        @staticmethod
        def forward():
            return np.ones(())

    inner = Value((), DOUBLE)
    body = Program((), (Equation(Dice, (), {}, (inner,)),), (inner,))
    p = Value((), np.dtype(bool))
    rolls = [Equation(BRANCH, (p,), {"bodies": (body, body)}, (Value((), DOUBLE),)) for _ in range(3)]
    program = Program((p,), tuple(rolls), (rolls[0].output, rolls[1].output))
    assert [e.name for e in simplify(program).equations] == ["branch"] * 3
