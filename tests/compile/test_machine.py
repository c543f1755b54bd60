"""Machine code: programs give what their equations say, in as few passes over memory as can be."""

import gc
import sys
import threading

import numpy as np
import pytest
from hypothesis import assume, given, settings

pytest.importorskip("llvmlite", reason="machine code is made by llvmlite, which is not installed")

from llvmlite.binding.executionengine import ExecutionEngine

import pullback
from pullback import ops
from pullback._core import xp as _xp
from pullback._core.modes import quiet
from pullback.compile.machine import elements, executable as machine, modules
from pullback.compile.machinery import Machinery
from pullback.compile.passes import simplify
from pullback.compile.program import DepartedError, Equation, Program, Value, check, run

from .. import samples
from ..rows import each_row
from .near import DivisionByZeroError, assert_near, slack
from .programs import FLOATS, assert_same, of_row, programs

SINGLE, DOUBLE = FLOATS
ROWS = [row for row in samples.rows() if row[0] in elements.ELEMENTS or ops.tables()[row[0]].kind != "general"]


class Writing:
    """A program in the making, for tests that need a certain one: `w.add(x, y)` places an equation."""

    def __init__(self):
        self.inputs, self.equations, self.constants = [], [], {}

    def input(self, *shape, dtype=SINGLE):
        self.inputs.append(Value(shape, np.dtype(dtype)))
        return self.inputs[-1]

    def constant(self, array):
        array = np.asarray(array)
        value = Value(array.shape, array.dtype)
        self.constants[value] = array
        return value

    def __getattr__(self, name):
        def place(*values, **params):
            primitive = getattr(ops, name)
            arrays = [self.constants.get(v, np.ones(v.shape, v.dtype)) for v in values]
            made = quiet.run(primitive.forward, *arrays, **params)
            outputs = [np.asarray(x) for x in (made if type(made) is tuple else (made,))]
            new = tuple(Value(x.shape, x.dtype) for x in outputs)
            self.equations.append(Equation(primitive, values, params, new))
            return new if type(made) is tuple else new[0]

        return place

    def program(self, *outputs, writes=(), guards=()):
        parts = tuple(self.inputs), tuple(self.equations), outputs, self.constants, tuple(writes), tuple(guards)
        return check(Program(*parts))


def numbers(*shapes, dtype=SINGLE, seed=3):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


def agrees(program, arrays, built=None):
    """Outputs and written inputs are what the equations say, within what rounding allows; a first call and others are alike."""
    allowed, found = slack(program, arrays), []
    built = built or machine.Executable(program, None)
    for _ in range(2):
        given = [np.array(array) for array in arrays]
        outputs = built(*given)
        found.append([*outputs, *[given[place] for place, _ in program.writes]])
        assert_near(found[-1], allowed)
    assert_same(*found)


# 1. Every operation, and programs of them


@each_row(ROWS)
def test_operations(*row):
    for dtype in FLOATS:
        program, arrays = of_row(row, dtype)
        agrees(program, arrays)


@settings(max_examples=60)
@given(programs(special=False))
def test_random_programs(made):
    program, arrays = made
    program = program.changed(guards=())  # rounding may change what a guard sees
    assume(all(equation.name != "gelu" for equation in program.equations))  # eager's erf is not 1 far out
    try:
        agrees(program, arrays)
        agrees(simplify(program), arrays)
    except DivisionByZeroError:
        pass


@settings(max_examples=40)
@given(programs(length=6))
def test_without_fusion_it_is_the_program_bit_for_bit(made):
    program, arrays = made
    expected = [np.array(array) for array in run(program, arrays)]
    copies = [np.array(array) for array in arrays]
    outputs = Machinery(program, fuse=False).execute(*copies)
    assert_same([*outputs, *[copies[place] for place, _ in program.writes]], expected)


SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 1e-40, 3e38, -3e38, 20.5, -100.0, 1e-8, 7.0]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    "name",
    "relu abs sign floor ceil rint trunc sqrt reciprocal exp log tanh sigmoid silu softplus square isnan isfinite".split(),
)
def test_special_numbers_go_where_eager_sends_them(name, dtype):
    w = Writing()
    x = w.input(len(SPECIAL), dtype=dtype)
    params = {"beta": 1, "threshold": 20} if name == "softplus" else {}
    program = w.program(getattr(w, name)(x, **params))
    with np.errstate(all="ignore"):
        array = np.array(SPECIAL, dtype)
    (found,), (expected,) = machine.build(program)(array), run(program, [array])
    tiny = np.finfo(dtype).tiny  # where eager has 0 for want of range
    np.testing.assert_allclose(found, expected, rtol=1e-6 if dtype == SINGLE else 1e-14, atol=tiny)


@pytest.mark.parametrize(
    "name", ["maximum", "minimum", "where", "fmax", "copysign", "remainder", "floor_quotient", "pow"]
)
def test_pairs_of_special_numbers(name):
    w = Writing()
    a, b = w.input(len(SPECIAL), 1, dtype=DOUBLE), w.input(len(SPECIAL), dtype=DOUBLE)
    out = w.where(w.greater(a, b), a, b) if name == "where" else getattr(w, name)(a, b)
    array = np.array(SPECIAL)
    program = w.program(out)
    (found,), (expected,) = machine.build(program)(array[:, None], array), run(program, [array[:, None], array])
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=0)


INTEGERS = [np.dtype(letter + size) for letter in "iu" for size in "1248"]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize(
    "name", ["add", "subtract", "multiply", "maximum", "less", "floor_quotient", "remainder", "divide"]
)
def test_pairs_of_integers(name, dtype):
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    array = np.array([0, 1, 2, 3, 100, most // 3, most - 1, most, least, least + 1], dtype)
    w = Writing()
    a, b = w.input(len(array), 1, dtype=dtype), w.input(len(array), dtype=dtype)
    program = w.program(getattr(w, name)(a, b))
    arrays = [array[:, None], array]
    (found,), (expected,) = machine.build(program)(*arrays), run(program, arrays)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("source", [*INTEGERS, *FLOATS], ids=str)
@pytest.mark.parametrize("target", [*INTEGERS, *FLOATS], ids=str)
def test_casts(source, target):
    """Of floats to integers those that fit."""
    if source.kind == "f" and target.kind != "f":
        ends = np.iinfo(target)
        array = np.linspace(float(ends.min) * 0.99, float(ends.max) * 0.99, 21).astype(source)
    elif source.kind == "f":
        array = np.array([0, 0.1, -2.5, 1e30, np.inf, np.nan], source)
    else:
        least, most = map(int, (np.iinfo(source).min, np.iinfo(source).max))
        array = np.array([least + (most - least) * k // 20 for k in range(21)], source)
    w = Writing()
    program = w.program(w.astype(w.input(len(array), dtype=source), dtype=target, source=source))
    (found,), (expected,) = machine.build(program)(array), run(program, [array])
    np.testing.assert_array_equal(found, expected)


# 2. How many passes


NEVER = 1 << 30


def bits(array):
    """The bytes of numbers; all NaN are one, since IEEE 754 leaves the sign of one that is computed to the processor."""
    return (
        np.where(array != array, np.array(np.nan, array.dtype), array).tobytes()
        if array.dtype.kind in "fc"
        else array.tobytes()
    )


def of_alike(program, count, arrays, **sizes):
    """The outputs and what is written, with code shared by so many nests that are alike, and other sizes of a module."""
    with pytest.MonkeyPatch.context() as patch:
        for name, size in ({"ALIKE": count} | sizes).items():
            patch.setattr(modules, name, size)
        built, given = machine.build(program), [np.array(array) for array in arrays]
        return built, [np.array(x) for x in (*built(*given), *given)]


@settings(max_examples=60)
@given(programs(length=30, special=False))
def test_nests_that_share_their_code_compute_the_same(made):
    """To the bit: it is the same code, for other addresses."""
    program, arrays = made
    program = program.changed(guards=())
    for mine, plain in zip(of_alike(program, 1, arrays)[1], of_alike(program, NEVER, arrays)[1], strict=True):
        assert bits(mine) == bits(plain)


@pytest.mark.parametrize("least", [1, 2, NEVER])
@settings(max_examples=40)
@given(programs(length=30, special=False))
def test_long_programs_in_sequences_and_parts_compute_the_same(least, made):
    """To the bit, with steps as rows of a table, or as functions of one step each."""
    program, arrays = made
    program = program.changed(guards=())
    _, plain = of_alike(program, NEVER, arrays)
    for mine, expected in zip(of_alike(program, 1, arrays, PART=1, LEAST=least)[1], plain, strict=True):
        assert bits(mine) == bits(expected)


@pytest.mark.parametrize("least", [1, NEVER])
@pytest.mark.parametrize("changed", [0, 7, 19])
def test_a_long_program_checks_its_guards_between_its_steps(least, changed):
    w = Writing()
    x, weight, flags = w.input(4, 4), w.input(4, 4), [w.input(dtype=bool) for _ in range(20)]
    guards = []
    for flag in flags:
        x = w.tanh(w.matmul(x, weight))
        guards.append((w.logical_not(flag), True))
    program = w.program(x, writes=[(0, x)], guards=guards)
    given = [*numbers((4, 4), (4, 4)), *np.zeros((20, 1), bool).reshape(20)]
    given = [np.array(array) for array in given]
    built, found = of_alike(program, 1, given, PART=1, LEAST=least)
    np.testing.assert_array_equal(found[0], of_alike(program, NEVER, given)[1][0])
    given[2 + changed] = np.array(True)
    before = given[0].copy()
    with pytest.raises(DepartedError):
        built(*given)
    np.testing.assert_array_equal(given[0], before)


@pytest.mark.parametrize("steps", [10, 400])
def test_the_code_of_steps_that_repeat_does_not_grow_with_them(steps):
    """A row of the table each, which holds where they read and write; they read one row of the inputs each."""
    w = Writing()
    rows, weight, x = w.input(400, 4, 8), w.input(8, 8), w.input(4, 8)
    outputs = []
    for number in range(steps):
        x = w.tanh(w.add(w.matmul(x, weight), w.getitem(rows, index=number)))
        outputs.append(x)
    program, arrays = w.program(x, *outputs[::10]), numbers((400, 4, 8), (8, 8), (4, 8))
    built = machine.build(program)
    agrees(program, arrays, built)
    assert len(built.llvm.splitlines()) < 400


def test_a_value_that_later_nests_need_is_computed_once():
    """Of a chain between products, as in steps of LSTM cells: the work grows with the steps, and not with their square."""

    def work(steps):
        w = Writing()
        x, weight, state = w.input(8, 8), w.input(8, 8), w.input(8, 8)
        for _ in range(steps):
            state = w.add(w.multiply(state, w.sigmoid(x)), x)
            x = w.matmul(w.tanh(state), weight)
        program = w.program(x)
        built = machine.build(program)
        agrees(program, numbers((8, 8), (8, 8), (8, 8)), built)
        return sum(kernel.flops for kernel in built.kernels)

    assert work(40) < 2.2 * work(20)


def test_many_sums_are_several_nests():
    """A loop with hundreds of sums would keep none of them in registers."""
    w = Writing()
    x, total = w.input(400, 8, dtype=DOUBLE), w.constant(np.float64(0))
    for number in range(400):
        total = w.add(total, w.sum(w.exp(w.getitem(x, index=number)), axis=(0,), keepdims=False))
    program = w.program(total)
    built = machine.build(program)
    agrees(program, numbers((400, 8), dtype=DOUBLE), built)
    assert 2 < len(built.kernels) < 50


@pytest.mark.parametrize("count", [modules.ALIKE - 1, 8 * modules.ALIKE])
def test_steps_that_are_alike_share_their_code(count):
    """Some of which only look alike: sums over another axis, other operands, another number, other lengths."""
    w = Writing()
    x, bias = w.input(6, 10), w.input(10)
    outputs, weight = [], w.input(10, 10)
    for number in range(count):
        step = w.matmul(x, weight)
        powers = w.exp(w.subtract(step, w.amax(step, axis=(1,), keepdims=True)))
        x = w.divide(powers, w.sum(powers, axis=(1,), keepdims=True))
        x = w.multiply(
            w.subtract(x, bias) if number % 2 else w.subtract(bias, x), w.constant(np.float32(2 + number % 3))
        )
        outputs.append(w.sum(w.multiply(x, step), axis=(number % 2,), keepdims=False))
    program, arrays = w.program(x, *outputs), numbers((6, 10), 10, (10, 10))
    agrees(program, arrays)
    shared, found = of_alike(program, modules.ALIKE, arrays)
    apart, expected = of_alike(program, NEVER, arrays)
    for mine, plain in zip(found, expected, strict=True):
        assert mine.tobytes() == plain.tobytes()
    text, less = shared.llvm, count > modules.ALIKE
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(modules, "ALIKE", NEVER)
        assert (len(text) < len(apart.llvm)) == less


def test_a_function_and_its_gradients_are_one_kernel():
    w = Writing()
    x, v = w.input(1000), w.input(1000)
    y, s = w.tanh(w.multiply(x, v)), w.sigmoid(v)
    total = w.sum(w.add(y, w.multiply(w.exp(w.negative(w.multiply(x, x))), s)), axis=(0,), keepdims=False)
    slope = w.subtract(w.constant(np.float32(1)), w.multiply(y, y))
    program = w.program(total, w.multiply(slope, v), w.multiply(slope, x))
    built = machine.build(program)
    assert len(built.kernels) == 1
    assert (built.kernels[0].read, built.kernels[0].written, built.peak) == (8000, 8004, 0)
    agrees(program, numbers(1000, 1000), built)


@pytest.mark.parametrize("shape", [(7, 33), (3, 5, 16), (2, 4), (40, 1000)])
@pytest.mark.parametrize("axis", [0, -1])
def test_softmax_reads_its_rows_once(shape, axis):
    w = Writing()
    axes = (axis % len(shape),)
    x = w.input(*shape)
    powers = w.exp(w.subtract(x, w.amax(x, axis=axes, keepdims=True)))
    program = w.program(w.divide(powers, w.sum(powers, axis=axes, keepdims=True)))
    built = machine.build(program)
    assert len(built.kernels) == 1
    agrees(program, numbers(shape), built)


def test_normalised_rows_and_what_is_summed_over_them():
    w = Writing()
    x, gain = w.input(50, 24, dtype=DOUBLE), w.input(24, dtype=DOUBLE)
    count = w.constant(np.float64(24))
    centred = w.subtract(x, w.divide(w.sum(x, axis=(1,), keepdims=True), count))
    variance = w.divide(w.sum(w.square(centred), axis=(1,), keepdims=True), count)
    normal = w.multiply(centred, w.rsqrt(variance))
    out = w.multiply(normal, gain)
    program = w.program(out, w.sum(w.multiply(normal, out), axis=(0,), keepdims=False), variance)
    built = machine.build(program)
    assert len(built.kernels) == 1
    agrees(program, numbers((50, 24), 24, dtype=DOUBLE), built)


@pytest.mark.parametrize("axis", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("name", ["sum", "amax", "smallest", "prod", "all", "any"])
def test_reductions(name, axis):
    w = Writing()
    x = w.input(5, 67, 9, dtype=DOUBLE)
    source = w.greater(x, w.constant(0.0)) if name in {"all", "any"} else x
    if name == "prod":
        axis = axis[0]
    program = w.program(getattr(w, name)(source, axis=axis, keepdims=False))
    agrees(program, numbers((5, 67, 9), dtype=DOUBLE))


@pytest.mark.parametrize("name", ["amax", "amin"])
def test_extremes_pass_on_nan(name):
    w = Writing()
    x = w.input(3, 40)
    program = w.program(getattr(w, name)(x, axis=(1,), keepdims=False))
    (array,) = numbers((3, 40))
    array[1, 17] = np.nan
    assert_same(machine.build(program)(array), run(program, [array]))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape", [(300_000,), (3000, 100)])
def test_long_sums_keep_their_digits(shape, dtype):
    w = Writing()
    x = w.input(*shape, dtype=dtype)
    program = w.program(w.sum(x, axis=tuple(range(len(shape))), keepdims=False), w.sum(x, axis=(0,), keepdims=False))
    (array,) = numbers(shape, dtype=dtype)
    array += 100
    whole, columns = machine.build(program)(array)
    exact = array.astype(np.longdouble)
    unit = np.finfo(dtype).eps
    assert abs(whole - exact.sum()) <= unit * abs(exact.sum())
    assert np.all(np.abs(columns - exact.sum(0)) <= 8 * unit * np.abs(exact.sum(0)))


@pytest.mark.parametrize("shapes", [((2, 3), (3, 4)), ((16, 32), (32, 32)), ((5, 7), (7,)), ((7,), (7, 5)), ((9,), (9,)),
                                    ((4, 2, 3), (3, 5)), ((2, 1, 6, 3), (4, 3, 2)), ((65, 70), (70, 129)), ((1, 300), (300, 1))])  # fmt: skip
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_products(shapes, turned):
    w = Writing()
    values, given = [], []
    for shape, turn in zip(shapes, turned, strict=True):
        axes = (*range(len(shape) - 2), *reversed(range(len(shape))[-2:]))
        value = w.input(*(shape[axis] for axis in axes) if turn else shape, dtype=DOUBLE)
        given.append(value.shape)
        values.append(w.permute_dims(value, axes=axes) if turn else value)
    agrees(w.program(w.matmul(*values)), numbers(*given, dtype=DOUBLE))


@pytest.mark.parametrize("index", [(slice(None, None, 2), slice(None, None, 3)), (slice(None, None, -1), slice(None)),
                                   (slice(None), slice(None, None, -1)), (slice(3, 90), slice(1, 91))])  # fmt: skip
def test_factors_that_are_parts_of_arrays(index):
    w = Writing()
    x, y = w.input(120, 110, dtype=DOUBLE), w.input(64, 64, dtype=DOUBLE)
    part = w.getitem(x, index=index)
    row = w.broadcast_to(w.getitem(y, index=(slice(0, 1), slice(0, 1))), shape=(1, part.shape[0]))
    outs = w.matmul(part, w.permute_dims(part, axes=(1, 0))), w.matmul(row, part)
    agrees(w.program(*outs), numbers((120, 110), (64, 64), dtype=DOUBLE))


# 3. Memory


def test_a_written_input_is_written_where_it_lies():
    w = Writing()
    x, g, rate = w.input(100), w.input(100), w.input()
    program = w.program(writes=[(0, w.subtract(x, w.multiply(g, rate)))])
    built = machine.build(program)
    assert built.peak == 0
    agrees(program, [*numbers(100, 100), np.array(0.1, np.float32)], built)


def test_writes_see_the_old_values():
    w = Writing()
    x, y = w.input(50), w.input(50)
    program = w.program(w.add(x, y), x, writes=[(0, y), (1, w.multiply(x, y))])
    agrees(program, numbers(50, 50))


def test_arguments_that_share_memory_are_written_as_if_they_did_not():
    w = Writing()
    x, y = w.input(6), w.input(6)
    program = w.program(w.negative(y), writes=[(0, w.add(x, y))])
    memory = np.arange(9, dtype=np.float32)
    old = memory.copy()
    (out,) = machine.build(program)(memory[:6], memory[3:])
    np.testing.assert_array_equal(out, -old[3:])
    np.testing.assert_array_equal(memory[:6], old[:6] + old[3:])


def test_arguments_of_any_layout():
    w = Writing()
    x, y = w.input(4, 6), w.input(4, 6)
    program = w.program(w.multiply(x, y), writes=[(1, w.add(x, y))])
    built = machine.build(program)
    a, b = numbers((4, 6), (4, 6))
    expected = run(program, [a, b])
    unaligned = np.frombuffer(b"\0" + a.tobytes(), np.uint8)[1:].view(np.float32).reshape(4, 6)
    for first in (np.asfortranarray(a), unaligned, np.repeat(a, 2, 1)[:, ::2], np.broadcast_to(a, (4, 6))):
        second = np.asfortranarray(b)
        assert_same([*built(first, second), second], expected)


def test_an_argument_of_another_shape_is_refused():
    w = Writing()
    program = w.program(w.negative(w.input(3)))
    built = machine.build(program)
    for array in (np.zeros(4, np.float32), np.zeros(3), np.zeros((3, 1), np.float32)):
        with pytest.raises(ValueError, match=r"input 0 of the program is float32\[3\]"):
            built(array)
    with pytest.raises(ValueError, match="takes 1 arrays, but got 2"):
        built(*numbers(3, 3))


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (1, 1, 1)])
def test_small_arrays(shape):
    w = Writing()
    x = w.input(*shape)
    program = w.program(w.exp(x), w.sum(x, axis=tuple(range(len(shape))), keepdims=False), w.clone(x))
    agrees(program, numbers(shape))


def test_results_are_fresh_at_each_call():
    w = Writing()
    x = w.input(8)
    built = machine.build(w.program(w.square(x), x))
    (array,) = numbers(8)
    first, again = built(array), built(array)
    for results in (first, again):
        assert all(result.flags.owndata for result in results)
    assert not any(np.shares_memory(a, b) for a in first for b in [*again, array])


def test_references_are_counted():
    w = Writing()
    x = w.input(300)
    total = w.sum(w.exp(x), axis=(0,), keepdims=True)
    built = machine.build(
        w.program(w.matmul(w.reshape(x, shape=(1, 300)), w.reshape(w.multiply(x, total), shape=(300, 1))))
    )
    (array,) = numbers(300)
    for _ in range(100):
        built(array)
    gc.collect()
    count = len(gc.get_objects())
    for _ in range(1000):
        built(array)
    gc.collect()
    assert len(gc.get_objects()) - count < 100


# 4. Guards and errors


def test_where_a_guard_differs_nothing_is_written():
    w = Writing()
    x = w.input(4)
    positive = w.all(w.greater(x, w.constant(np.float32(0))), axis=(0,), keepdims=False)
    program = w.program(w.negative(x), writes=[(0, w.add(x, x))], guards=[(positive, True)])
    built = machine.build(program)
    array = np.array([1, 2, 3, 4], np.float32)
    assert_same([*built(array), array], [-np.array([1, 2, 3, 4], np.float32), np.array([2, 4, 6, 8], np.float32)])
    array[2] = -1
    before = array.copy()
    with pytest.raises(DepartedError, match="not True any more"):
        built(array)
    np.testing.assert_array_equal(array, before)


@pytest.mark.parametrize("bad", [5, -6])
@pytest.mark.parametrize("name", ["take_rows", "put_rows", "embedding", "scatter_rows"])
def test_an_index_outside_is_an_error_and_nothing_is_written(name, bad):
    w = Writing()
    x, weight, chosen = w.input(4, 5), w.input(5, 3), w.input(4, dtype=np.int64)
    if name == "put_rows":
        taken = w.put_rows(w.sum(x, axis=(1,), keepdims=False), chosen, shape=(4, 5))
    elif name == "scatter_rows":
        taken = w.scatter_rows(x, chosen, rows=5)
    else:
        taken = w.embedding(weight, chosen) if name == "embedding" else w.take_rows(x, chosen)
    program = w.program(taken, writes=[(0, w.negative(x))])
    built = machine.build(program)
    arrays = [*numbers((4, 5), (5, 3)), np.array([0, -5, 4, -1])]
    agrees(program, arrays, built)
    arrays[2][1] = bad
    before = arrays[0].copy()
    with pytest.raises(IndexError):
        built(*arrays)
    np.testing.assert_array_equal(arrays[0], before)


@pytest.mark.parametrize("computed", [False, True])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_one_element_along_an_axis(axis, computed):
    shape = (2, 5, 3)
    short = tuple(1 if place == axis else size for place, size in enumerate(shape))
    w = Writing()
    x, chosen, g, place = w.input(*shape), *[w.input(*short, dtype=kind) for kind in (np.int64, SINGLE, np.int64)]
    source = w.multiply(x, x) if computed else x
    made = [w.select_along(source, place, axis=axis, keepdims=keep, label="") for keep in (False, True)]
    made.append(w.put_along_axis(g, chosen, axis=axis, shape=shape))
    if axis == 2:
        made.append(w.take_along_axis(source, chosen, axis=axis))
    program = w.program(*made)
    built = machine.build(program)
    assert not any({"take_along_axis", "put_along_axis", "select_along"} & {*each.equations} for each in built.kernels)
    size = shape[axis]
    count = np.arange(30 // size).reshape(short)
    arrays = [*numbers(shape), count % (2 * size) - size, *numbers(short), count % size]
    agrees(program, arrays, built)
    for bad in (size, -size - 1):
        arrays[1].flat[2] = bad
        with pytest.raises(IndexError):
            built(*arrays)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("axis", [None, 0, 1, 2])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_places_of_extremes(name, axis, dtype):
    """The first of equal ones, and the first NaN if there is any, of values that are read and that are computed."""
    (array,) = numbers((4, 37, 9), dtype=DOUBLE)
    array = np.round(2 * array).clip(0 if dtype in {"uint8", "bool"} else None).astype(dtype)
    if array.dtype.kind == "f":
        array[1, 3:6, 2] = array[3, 36, 8] = np.nan
        array[2, 5] = np.inf
        array[2, 6, :4] = -np.inf
        array[0] = -0.0
    w = Writing()
    x = w.input(*array.shape, dtype=dtype)
    computed = w.maximum(w.permute_dims(x, axes=(1, 2, 0)), w.constant(np.array(0, dtype)))
    program = w.program(
        *[getattr(w, name)(x, axis=axis, keepdims=keep) for keep in (False, True)],
        getattr(w, name)(computed, axis=axis, keepdims=False),
    )
    built = machine.build(program)
    assert not any(name in kernel.equations for kernel in built.kernels)
    assert_same(built(array), run(program, [array]))
    assert_same(built(np.zeros_like(array)), run(program, [np.zeros_like(array)]))


@pytest.mark.parametrize("shape", [(513, 255), (513, 256), (512, 256), (140_000,)])
def test_places_of_extremes_in_long_rows(shape):
    w = Writing()
    x = w.input(*shape)
    program = w.program(w.argmax(x, axis=len(shape) - 1, keepdims=False))
    (array,) = numbers(shape)
    assert_same(machine.build(program)(array), run(program, [array]))


@pytest.mark.parametrize("length", [3, 130])
def test_machine_code_between_steps_of_python(length):
    """Stages of a few steps and of many, guards that are known in each of them, and nothing written where one differs."""
    w = Writing()
    x, factor = w.input(6, 6, dtype=DOUBLE), w.input(6, 6, dtype=DOUBLE)
    y, guards = x, []
    for _ in range(3):
        for _ in range(length):
            y = w.tanh(w.matmul(y, factor))
        guards += [(w.all(w.less(y, w.constant(2.0)), axis=(0, 1), keepdims=False), True)]
        y = w.cumsum(y, axis=0)
        guards += [(w.any(w.isnan(y), axis=(0, 1), keepdims=False), False)]
    program = w.program(w.negative(y), writes=[(0, w.add(y, y))], guards=guards)
    built = machine.build(program)
    assert built.builtin is None  # some steps are left to Python
    arrays = numbers((6, 6), (6, 6), dtype=DOUBLE)
    agrees(program, arrays, built)
    for number in range(len(guards)):
        other = program.changed(
            guards=[(value, told != (place == number)) for place, (value, told) in enumerate(guards)]
        )
        given = [array.copy() for array in arrays]
        with pytest.raises(DepartedError):
            machine.build(other)(*given)
        assert_same(given, arrays)


@pytest.mark.parametrize("columns", [1, 5])
@pytest.mark.parametrize("unitriangular", [False, True])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_triangular_systems(dtype, upper, unitriangular, columns):
    """They have the bits of eager ones, and infinities where a diagonal has zeros; one triangle is read."""
    w = Writing()
    a, b = w.input(33, 33, dtype=dtype), w.input(33, columns, dtype=dtype)
    turned, options = w.permute_dims(a, axes=(1, 0)), {"unitriangular": unitriangular}
    solved = w.solve_triangular(a, b, upper=upper, **options)
    found = [solved, w.solve_triangular(turned, w.add(b, b), upper=not upper, **options)]
    if not unitriangular:
        found.append(w.solve(a, b, triangle="upper" if upper else "lower"))
    program = w.program(*found, writes=[(1, w.negative(solved))])
    built = machine.build(program)
    assert built.builtin is not None  # no step is left to Python
    arrays = numbers((33, 33), (33, columns), dtype=dtype)
    arrays[0] += 9 * np.eye(33, dtype=dtype)
    for singular in (False, True):
        arrays[0][7, 7] *= not singular
        given = [array.copy() for array in arrays]
        with np.errstate(all="ignore"):
            expected = [np.array(array) for array in run(program, arrays)]
            outputs = built(*given)
        assert np.isfinite(outputs[0]).all() == (unitriangular or not singular)
        assert_same([*outputs, given[1]], expected)
        np.testing.assert_array_equal(given[0], arrays[0])


@pytest.mark.parametrize("shapes", [((2, 4, 4), (2, 4, 3)), ((4, 4), (2, 4, 3)), ((4, 4), (4, 0))])
def test_triangular_systems_that_are_left_to_numpy(shapes):
    w = Writing()
    a, b = (w.input(*shape, dtype=DOUBLE) for shape in shapes)
    program = w.program(w.solve_triangular(a, b, upper=True), w.solve(a, b, triangle="lower"))
    first, second = numbers(*shapes, dtype=DOUBLE)
    arrays = [first + 5 * np.eye(4), second]
    assert_same(machine.build(program)(*arrays), run(program, arrays))


@pytest.mark.parametrize("whole", ["int64", "int8", "int32"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(2, 5, 3), (2, 5, 9), (1, 4, 3), (2, 1, 3)])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_elements_along_an_axis(axis, shape, dtype, whole):
    """Some places occur several times, some are counted from the end, and some may be outside."""
    w, given, size = Writing(), (2, 5, 3), (2, 5, 3)[axis]
    if any(chosen > size for i, (chosen, size) in enumerate(zip(shape, given, strict=True)) if i != axis):
        return
    x, chosen, g = w.input(*given, dtype=dtype), w.input(*shape, dtype=whole), w.input(*shape, dtype=dtype)
    taken = w.take_along_axis(x, chosen, axis=axis)
    program = w.program(w.exp(taken), w.put_along_axis(w.exp(g), chosen, axis=axis, shape=given))
    built = machine.build(program)
    assert not any({"take_along_axis", "put_along_axis"} & {*kernel.equations} for kernel in built.kernels)
    places = (np.arange(np.prod(shape)).reshape(shape) * 7 % (2 * size) - size).astype(whole)
    arrays = [*numbers(given, dtype=dtype), places, *numbers(shape, dtype=dtype)]
    agrees(program, arrays, built)
    for bad in (size, -size - 1):
        arrays[1][0, 0, 0] = bad
        with pytest.raises(IndexError):
            built(*arrays)


INDICES = {
    "a row": ((4,), [(3,)], ()),
    "elements": ((4, 5), [(7,), (7,)], ()),
    "pairs of axes": ((4, 5), [(7, 1), (3,)], (Ellipsis,)),
    "rows of pairs": ((4, 5, 9), [(2, 3), (3,)], (slice(None),)),
    "one place": ((4, 5, 3), [(), ()], ()),
    "more places than int8 has": ((300, 5), [(6,), (6,)], ()),
    "all axes": ((4, 5, 3), [(6,), (1,), (2, 6)], ()),
}


@pytest.mark.parametrize("whole", ["int64", "int8", "int32", "uint64"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("case", INDICES)
def test_indices_of_the_first_axes(case, dtype, whole):
    shape, places, others = INDICES[case]
    w, spec = Writing(), (*[_xp.array] * len(places), *others)
    x, chosen = w.input(*shape, dtype=dtype), [w.input(*place, dtype=whole) for place in places]
    taken = w.index(x, *chosen, spec=spec)
    g = w.input(*taken.shape, dtype=dtype)
    program = w.program(taken, w.index_add(w.add(g, g), *chosen, spec=spec, shape=shape), writes=[(0, w.negative(x))])
    built = machine.build(program)
    assert not any({"index", "index_add"} & {*kernel.equations} for kernel in built.kernels)
    rng = np.random.default_rng(3)
    arrays = [
        rng.integers(-9, 9, shape).astype(dtype),
        *[
            rng.integers(0 if whole == "uint64" else -min(size, 9), min(size, 9), place).astype(whole)
            for size, place in zip(shape, places, strict=False)
        ],
        rng.integers(-9, 9, taken.shape).astype(dtype),
    ]
    agrees(program, arrays, built)
    for number, size in enumerate(shape[: len(places)]):
        for bad in (size, -size - 1) if size < 100 else ():
            wrong = [array.copy() for array in arrays]
            wrong[1 + number][(0,) * len(places[number])] = np.array(bad).astype(whole)
            with pytest.raises((IndexError, OverflowError)):  # NumPy has the second for uint64
                built(*wrong)
            np.testing.assert_array_equal(wrong[0], arrays[0])


@pytest.mark.parametrize("columns", [1, 7, 16, 45])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("whole", ["int64", "int8", "uint16"])
def test_rows_are_added_up_where_indices_say(columns, dtype, whole):
    w = Writing()
    rows, chosen = w.input(2, 9, columns, dtype=dtype), w.input(2, 9, dtype=whole)
    built = machine.build(w.program(w.scatter_rows(rows, chosen, rows=6)))
    assert [kernel.equations for kernel in built.kernels if "scatter_rows" in kernel.equations]
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-9, 9, (2, 9, columns)).astype(dtype), rng.integers(0, 6, (2, 9)).astype(whole)]
    if whole != "uint16":
        arrays[1][0, :4] -= 6
    expected = np.zeros((6, columns), dtype)
    np.add.at(expected, arrays[1].astype(int), arrays[0])
    for _ in range(2):
        np.testing.assert_array_equal(built(*arrays)[0], expected)


def test_inputs_that_share_memory_are_read_before_they_are_written():
    w = Writing()
    x, y, z = w.input(6), w.input(6), w.input(3)
    built = machine.build(
        w.program(w.multiply(y, y), writes=[(0, w.add(w.add(x, y), w.sum(z, axis=(0,), keepdims=True)))])
    )
    memory = np.arange(12, dtype=np.float32)
    first, second, third = memory[:6], memory[3:9], memory[9:]
    expected = first + second + third.sum(), second * second
    np.testing.assert_array_equal(built(first, second, third)[0], expected[1])
    np.testing.assert_array_equal(first, expected[0])


def test_a_product_reads_a_value_through_reshapes_and_transposes():
    """What a product reads is stored once, in the order in which it is made, though a reshape cuts an axis of it."""
    w = Writing()
    x, y, z = w.input(6, 4, 5), w.input(24, 3), w.input(24, 5)
    made = w.tanh(w.multiply(x, x))
    turned = w.permute_dims(w.reshape(made, shape=(24, 5)), axes=(1, 0))
    pieces = w.permute_dims(w.reshape(made, shape=(2, 12, 5)), axes=(0, 2, 1))
    back = w.reshape(w.permute_dims(made, axes=(1, 0, 2)), shape=(24, 5))
    program = w.program(
        w.matmul(turned, y), w.sum(w.multiply(w.reshape(made, shape=(24, 5)), z), axis=(0,), keepdims=False),
        w.matmul(pieces, w.reshape(y, shape=(2, 12, 3))), w.matmul(w.permute_dims(back, axes=(1, 0)), y),
    )  # fmt: skip
    agrees(program, numbers((6, 4, 5), (24, 3), (24, 5)))
    built = machine.build(program)
    assert sum("tanh" in kernel.equations for kernel in built.kernels) == 1


def test_an_error_in_a_step_of_python_leaves_all_inputs_as_they_were():
    w = Writing()
    x, y, chosen = w.input(3), w.input(3), w.input(3, dtype=np.int64)
    taken = w.index(w.add(x, y), chosen, spec=(_xp.array,))
    program = w.program(writes=[(1, w.add(y, y)), (0, taken)])
    built = machine.build(program)
    arrays = [*numbers(3, 3), np.array([2, 0, 1])]
    agrees(program, arrays, built)
    arrays[2][1] = 3
    before = [array.copy() for array in arrays]
    with pytest.raises(IndexError, match="out of bounds"):
        built(*arrays)
    assert_same(arrays, before)


# 5. Threads, and code that is kept


def large():
    w = Writing()
    x, y = w.input(700, 1000), w.input(1000)
    z = w.tanh(w.multiply(x, y))
    rows = w.sum(z, axis=(1,), keepdims=True)
    return w.program(
        w.divide(z, rows), w.sum(z, axis=(0,), keepdims=False), w.sum(z, axis=(0, 1), keepdims=False), rows
    ), numbers((700, 1000), 1000)


def test_results_do_not_depend_on_the_number_of_threads():
    program, arrays = large()
    built = machine.build(program)
    assert any(kernel.threads for kernel in built.kernels)
    before = pullback.get_num_threads()
    results = []
    try:
        for count in (1, 2, 3):
            pullback.set_num_threads(count)
            results.append(built(*arrays))
    finally:
        pullback.set_num_threads(before)
    assert_same(results[1], results[0])
    assert_same(results[2], results[0])
    np.testing.assert_allclose(results[0][2], run(program, arrays)[2], rtol=1e-5)


def test_many_threads_may_call():
    w = Writing()
    x = w.input(64, 64)
    built = machine.build(w.program(w.matmul(w.exp(w.matmul(x, x)), x)))
    arrays = [numbers((64, 64), seed=seed)[0] / 64 for seed in range(4)]
    expected = [built(array)[0] for array in arrays]
    wrong = []

    def work(number):
        wrong.extend(True for _ in range(50) if not np.array_equal(built(arrays[number])[0], expected[number]))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_garbage_collection_frees_no_code():
    """It may run at any moment, and what a signal handler raises within a destructor is lost: code is freed at the next load."""

    def called(number):
        compiled = pullback.compile(lambda x: (x * number).sin() + number)
        return [compiled(pullback.ones(3)) for _ in range(3)]

    def live():
        return sum(isinstance(each, ExecutionEngine) and not each.closed for each in gc.get_objects())

    seen = []
    called(1)
    gc.collect()
    called(2)
    gc.collect()
    before = live()
    for number in (3, 4, 5):
        called(number)
    sys.setprofile(lambda frame, event, _: seen.append(frame.f_code.co_filename) if event == "call" else None)
    try:
        gc.collect()
    finally:
        sys.setprofile(None)
    assert not [name for name in seen if "llvmlite" in name]
    called(6)
    gc.collect()
    assert live() <= before + 1


def test_code_can_be_kept_and_loaded():
    program, arrays = large()
    built = machine.build(program)
    again = machine.Executable(program, built.fresh)
    assert_same(again(*arrays), built(*arrays))
    assert "define" in built.llvm


def test_steps_are_timed_when_asked_for():
    program, arrays = large()
    built = machine.build(program)
    assert all(kernel.seconds is None for kernel in built.kernels)
    before = [array.copy() for array in arrays]
    timed = built.profile(*arrays)
    assert all(kernel.seconds > 0 for kernel in timed)
    assert [kernel._replace(seconds=None) for kernel in timed] == built.kernels
    assert_same(arrays, before)


@pytest.mark.parametrize("n", [300, 2499, 40_002])
def test_counts_beside_long_sums_and_costly_functions(n):
    x = np.tile([4.0, 1.0, -4.0], n // 3)

    def function(x):
        places = pullback.where(x > 0, 1.0, 0.0)
        return (
            places.sum(),
            (x > 0).double().sum(),
            (x * places).sum(),
            pullback.where(x == 1, x, 0.5).sum(),
            (x * 0).exp().sum(),
        )

    found = [each.item() for each in pullback.compile(function)(pullback.tensor(x))]
    assert found == [n * 2 / 3, n * 2 / 3, n * 5 / 3, n * 2 / 3, n]
