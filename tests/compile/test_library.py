"""Functions of mathematics in programs: written out where they run often, called where they do not, plain code for lines."""

import os
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="machine code is made by llvmlite, which is not installed")

import pullback
from pullback.compile.machine import executable as machine
from pullback.compile.program import run

from .programs import FLOATS, assert_same
from .test_machine import Writing, agrees, numbers

ONE = """exp expm1 exp2 log log1p log2 log10 sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh sigmoid cbrt erf erfc
    lgamma digamma""".split()
TWO = "pow hypot atan2 logaddexp fmod remainder floor_quotient".split()
FEW, MANY = (5,), (3000,)
FROM = {"acosh": 2.0, "log": 1.5, "log2": 1.5, "log10": 1.5, "log1p": 1.5, "lgamma": 1.5, "digamma": 1.5, "pow": 1.5}
"""What is added to numbers from -1 to 1, so that functions are defined there, and have no zero."""


def given(name, shape, dtype):
    count = 2 if name in TWO else 1
    arrays = [np.tanh(each) * 0.9 + FROM.get(name, 0.0) for each in numbers(*[shape] * count, dtype=dtype)]
    if name in ("sin", "cos", "tan"):
        arrays[0].reshape(-1)[-1:] = 1e6  # far out, where it takes longer
    return [np.asarray(array, dtype) for array in arrays]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape", [(), FEW, MANY], ids=str)
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_one_number_few_and_many(name, shape, dtype):
    w, arrays = Writing(), given(name, shape, dtype)
    inputs = [w.input(*shape, dtype=dtype) for _ in arrays]
    agrees(w.program(getattr(w, name)(*inputs)), arrays)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 9, 16, 17, 100])
def test_large_angles_among_small_ones(size, dtype):
    """Each lane has its own reduction: the numbers stand at every place of a register, between others of all kinds."""
    angles = np.array([0.5, 1e6, -2.0, -3e5, np.inf, 8193.0, -0.0, np.nan, 2.0**20, -1e10, 7000.0, 1e30], dtype)
    w = Writing()
    x = w.input(size, dtype=dtype)
    program = w.program(w.sin(x), w.cos(x), w.tan(x), w.sin(w.negative(x)))
    built = machine.build(program)
    for start in range(len(angles)):
        given = np.resize(np.roll(angles, start), size)
        with np.errstate(invalid="ignore"):
            exact = [f(given.astype(np.longdouble)) for f in (np.sin, np.cos, np.tan, lambda x: -np.sin(x))]
        for found, wanted in zip(built(given), exact, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("shape", [(), FEW, MANY], ids=str)
def test_many_functions_in_one_program(shape):
    w = Writing()
    x = w.input(*shape)
    parts = [
        w.multiply(getattr(w, name)(x), getattr(w, name)(w.negative(x))) for name in ("sin", "cos", "exp", "tanh")
    ] * 3
    total = parts[0]
    for part in parts[1:]:
        total = w.sin(w.add(total, part))
    agrees(w.program(total), numbers(shape))


def test_a_long_line_of_single_numbers():
    w = Writing()
    x, k = w.input(), w.input()
    values = [x]
    for number in range(150):
        y = values[-1]
        values.append(w.add(w.multiply(y, w.constant(np.float32(0.5))), w.sin(w.multiply(y, k)) if number % 2 else k))
    program = w.program(*values[-3:])
    for pair in ((0.3, 1.5), (1e30, 0.0), (-0.0, 0.0)):
        agrees(program, [np.array(each, np.float32) for each in pair])
    built = machine.build(program)
    for special in (np.nan, np.inf, -np.inf):
        arrays = [np.array(special, np.float32), np.array(1.0, np.float32)]
        with np.errstate(all="ignore"):
            assert_same(built(*arrays), run(program, arrays))


def test_code_from_the_disk_knows_what_it_calls():
    w = Writing()
    x, a = w.input(4), w.input(4, 4)
    program = w.program(w.exp(w.matmul(a, w.sin(x))), w.tanh(x))
    arrays = numbers(4, (4, 4))
    built = machine.build(program)
    again = machine.Executable(program, built.fresh)
    assert_same(again(*arrays), built(*arrays))


SECOND = """
import pullback
from pullback.compile.machine import native
made = []
native.compiled, compiled = lambda text, **options: made.append(text) or compiled(text, **options), native.compiled
f = pullback.compile(lambda x: (x * 3).NAME().exp().sum())
value = f(pullback.linspace(0, 1, 7)).item()
print(len(made), value)
"""


def called(store, name):
    """How many modules a process compiles for that program, and its value."""
    environment = {**os.environ, "PULLBACK_CACHE": str(store)}
    command = [sys.executable, "-c", SECOND.replace("NAME", name)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout.split()


def test_a_process_compiles_what_others_have_not(tmp_path):
    """The functions of a program are compiled together; each is found by itself."""
    alone = {name: called(tmp_path / name, name) for name in ("sin", "cos")}
    assert called(tmp_path / "sin", "cos") == alone["cos"]
    assert called(tmp_path / "sin", "sin") == ["0", alone["sin"][1]]
    assert called(tmp_path / "sin", "cos") == ["0", alone["cos"][1]]


def test_a_second_process_compiles_no_function_again(tmp_path):
    (first, value), (second, same) = (called(tmp_path / "store", "sin") for _ in range(2))
    assert int(first) > 1
    assert int(second) == 0
    assert value == same


@pytest.mark.parametrize("size", [1, 7, 15, 16, 17, 33, 63, 64, 65, 79, 130])
def test_rows_of_any_length(size):
    w = Writing()
    x = w.input(3, size)
    highest = w.amax(x, axis=(1,), keepdims=True)
    powers = w.exp(w.subtract(x, highest))
    total = w.sum(powers, axis=(1,), keepdims=True)
    agrees(w.program(w.divide(powers, total), w.sum(x, axis=(0,), keepdims=False)), numbers((3, size)))


@pytest.mark.parametrize("factor", [0.5, -1.0, 1.0, 2.0, -3.0])
def test_a_scaled_term_in_a_loop_overflows_as_a_product_does(factor):
    """A product and a sum may be one operation only where that makes no infinite number finite."""
    ends = [np.inf, -np.inf, np.nan, 3e38, -3e38, 0.0, -0.0, 1.5, -2.0]
    x, y = (pullback.tensor(each, dtype=pullback.float32) for each in (ends * len(ends), np.repeat(ends, len(ends))))
    for start in range(0, len(x), 27):
        a, b = x[start : start + 27], y[start : start + 27]
        found = pullback.compile(lambda s, u: pullback.scan(lambda s, _: (s + u * factor, None), s, length=1)[0])(a, b)
        np.testing.assert_array_equal(found.numpy(), (a + b * factor).numpy())
