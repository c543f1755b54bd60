"""Random loops: as machine code they give what their steps give, written one after another."""

from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

pytest.importorskip("llvmlite", reason="machine code is made by llvmlite, which is not installed")

from pullback import ops
from pullback.compile.loops import SCAN, Scan
from pullback.compile.machine import executable as machine, fusion
from pullback.compile.machine.stepping import with_loops
from pullback.compile.passes import simplify
from pullback.compile.program import Equation, Program, Value, check

from .near import DivisionByZeroError, assert_near, slack
from .programs import FAMILIES, FLOATS, Growing, grow

INTEGERS = [np.dtype(letter + size) for letter in "iu" for size in "1248"]
SHAPES = [(), (1,), (3,), (4,), (3, 4), (1, 4), (3, 1)]


def random_body(rng):
    """What a step may compute, of floats and integers, and what may be given to the next."""
    growing = Growing(rng, special=False)
    dtype, whole = rng.choice(FLOATS), rng.choice(INTEGERS)
    for shape in [rng.choice(SHAPES) for _ in range(rng.randrange(1, 5))]:
        growing.input(shape, dtype)
    for _ in range(rng.randrange(3)):
        value = growing.keep(np.array([rng.randrange(100) for _ in range(3)], whole))
        growing.inputs.append(value)
        for name in rng.choices(["add", "multiply", "subtract", "maximum"], k=rng.randrange(3)):
            (value,) = growing.do(name, value, growing.inputs[-1])
    for family in rng.choices([*FAMILIES], [*FAMILIES.values()], k=rng.randrange(12)):
        grow(growing, family)
    return growing


def random_loop(rng):
    """A loop around a random body, and arrays for its inputs: states may swap, be kept or be dropped."""
    growing = random_body(rng)
    made, inputs = [*growing.held], [*growing.inputs]
    rng.shuffle(inputs)
    following = {}
    for value in inputs:
        if rng.random() < 0.6:
            fitting = [other for other in made if (other.shape, other.dtype) == (value.shape, value.dtype)]
            following[value] = rng.choice(fitting[:1] + fitting[-4:])
    others = [value for value in inputs if value not in following]
    columns = others[: rng.randrange(len(others) + 1)]
    body = Program(
        (*following, *others),
        tuple(growing.equations),
        (*following.values(), *[rng.choice(made) for _ in range(rng.randrange(not following, 4))]),
        growing.constants,
    )
    length = rng.choice([1, 2, 3, 4])
    loop = Scan(check(body), len(following), len(columns), length, rng.random() < 0.4)
    rows = [
        np.stack([(growing.held[value] * number).astype(value.dtype) for number in range(1, length + 1)])
        for value in columns
    ]
    return loop, [*map(growing.held.get, following), *rows, *map(growing.held.get, others[len(columns) :])]


def as_loop(loop, inputs):
    outputs = loop.body.outputs
    states = [value.like() for value in outputs[: loop.carries]]
    stacks = [Value((loop.length, *value.shape), value.dtype) for value in outputs[loop.carries :]]
    results = (*states, *stacks)
    return check(Program(inputs, (Equation(SCAN, inputs, {"loop": loop}, results),), results))


def unrolled(loop, inputs):
    """The same with the equations of each step."""
    body, equations = loop.body, []

    def place(primitive, given, params, outputs):
        equations.append(Equation(primitive, tuple(given), params, outputs))
        return outputs

    last = loop.carries + loop.columns
    states, kept = inputs[: loop.carries], {}
    for step in sorted(range(loop.length), reverse=loop.reverse):
        here = dict(zip(body.inputs[: loop.carries], states, strict=True))
        here |= zip(body.inputs[last:], inputs[last:], strict=True)
        for value, column in zip(body.inputs[loop.carries : last], inputs[loop.carries : last], strict=True):
            (here[value],) = place(ops.getitem, [column], {"index": (step, ...)}, (value.like(),))
        for e in body.equations:
            outputs = tuple([value.like() for value in e.outputs])
            here |= zip(e.outputs, outputs, strict=True)
            place(e.primitive, [here.get(value, value) for value in e.inputs], e.params, outputs)
        results = [here.get(value, value) for value in body.outputs]
        states, kept[step] = results[: loop.carries], results[loop.carries :]
    for number, value in enumerate(body.outputs[loop.carries :]):
        rows = [kept[step][number] for step in range(loop.length)]
        states = [*states, *place(ops.stack, rows, {"axis": 0}, (Value((loop.length, *value.shape), value.dtype),))]
    return check(Program(inputs, tuple(equations), tuple(states), body.constants))


@pytest.mark.parametrize("registers", [True, False])
@settings(max_examples=25)
@given(st.randoms(use_true_random=False))
def test_random_loops(registers, rng):
    loop, arrays = random_loop(Random(rng.getrandbits(32)))
    assume(all(equation.name != "gelu" for equation in loop.body.equations))  # eager's erf is not 1 far out
    inputs = tuple([Value(array.shape, array.dtype) for array in arrays])
    try:
        allowed = slack(unrolled(loop, inputs), arrays)
    except DivisionByZeroError:
        assume(False)
    program = as_loop(loop, inputs)
    with pytest.MonkeyPatch.context() as patch:
        if not registers:
            patch.setattr(fusion, "MOST_ELEMENTS", 0)
        for each in (program, simplify(program)):
            assert_near(machine.build(with_loops(each))(*arrays), allowed)
