"""The report: costs that follow from shapes, and a text that can be read."""

import re
from random import Random

import numpy as np
import pytest

from pullback import ops
from pullback.compile import store
from pullback.compile.costs import Work, flops, moved, peak, works
from pullback.compile.program import Equation, Program, Value
from pullback.compile.report import Machine, Report, amount, duration, machine

from .. import samples
from .programs import of_row, one_equation, random_program
from .test_bodies import CASES


@pytest.fixture(autouse=True)
def no_store(monkeypatch):
    monkeypatch.setenv(store.VARIABLE, "off")


def equation(name, *shapes, **params):
    (found,) = one_equation(name, [np.ones(shape) for shape in shapes], params).equations
    return found


@pytest.mark.parametrize(
    ("found", "count"),
    [
        (equation("add", (3, 4), (4,)), 12),
        (equation("exp", (3, 4)), 12 * 16),
        (equation("reshape", (3, 4), shape=(12,)), 0),
        (equation("sum", (3, 4), axis=(0,), keepdims=False), 12),
        (equation("matmul", (3, 4), (4, 5)), 2 * 3 * 4 * 5),
        (equation("matmul", (7, 3, 4), (4, 5)), 7 * 2 * 3 * 4 * 5),
        (equation("matmul", (4,), (4,)), 8),
        (equation("einsum", (3, 4), (5, 4), equation="ij,kj->ik"), 2 * 3 * 4 * 5),
        (equation("einsum", (3, 4), (4, 5), (5, 6), equation="ij,jk,kl->il"), 3 * 3 * 4 * 5 * 6),
        (equation("affine", (3, 4), (5, 4), (5,)), 2 * 3 * 4 * 5 + 15),
        (equation("less", (3, 4), (4,)), 12),
        (CASES["scan"][0].equations[0], 4 * (3 * 16 + 3 * 6)),
        (CASES["branch"][0].equations[0], 3 * 34),
    ],
)
def test_flops(found, count):
    assert flops(found) == count


def test_flops_of_convolutions():
    """Each element of the result is a product over the channels and the kernel; so is each of what leads back."""
    rng = np.random.default_rng(1)
    rows = [row for row in samples.rows() if row[0] in {"convolve", "convolve_weight", "convolve_transpose"}]
    assert len(rows) > 20
    for name, makers, params in rows:
        a, b = [np.asarray(make(rng)) for make in makers]
        program = one_equation(name, [a, b], params)
        out = program.outputs[0].shape
        window = {"convolve": b.shape[1:], "convolve_transpose": b.shape[1:], "convolve_weight": out[1:]}[name]
        result = {"convolve": out, "convolve_transpose": a.shape, "convolve_weight": b.shape}[name]
        assert flops(program.equations[0]) == 2 * np.prod(result) * np.prod(window)


def test_bytes_moved():
    assert moved(equation("add", (3, 4), (4,))) == ((12 + 4) * 8, 12 * 8)
    assert moved(equation("permute_dims", (3, 4), axes=(1, 0))) == (0, 0)
    x = Value((5,), np.dtype(np.float32))
    assert moved(Equation(ops.multiply, (x, x), {}, (x.like(),))) == (20, 20)


def test_every_operation_has_a_cost():
    for row in samples.rows()[::7]:
        (found,) = of_row(row)[0].equations
        assert flops(found) >= 0
        assert min(moved(found)) >= 0


def test_peak_memory_is_what_is_alive_at_once():
    x = Value((100,), np.dtype(np.float64))
    a, b, c, d, total = (x.like() for _ in range(5))
    view = Value((10, 10), x.dtype)
    equations = (
        Equation(ops.exp, (x,), {}, (a,)),
        Equation(ops.reshape, (a,), {"shape": (10, 10)}, (view,)),
        Equation(ops.exp, (x,), {}, (b,)),
        Equation(ops.add, (b, b), {}, (c,)),
        Equation(ops.reshape, (view,), {"shape": (100,)}, (d,)),
        Equation(ops.add, (c, d), {}, (total,)),
    )
    assert peak(Program((x,), equations, (total,))) == 3 * 800
    assert peak(Program((x,), equations[:1], (a,))) == 0
    assert peak(Program((x,), (), ())) == 0


def test_this_machine_can_do_something():
    found = machine()
    assert found is machine()
    assert min(found) > 0


def test_the_limit_is_the_tighter_one():
    box = Machine(memory=1e9, cached=1e10, flops=1e11)
    assert box.limit(0, 10**9, 10**9) == 1
    assert box.limit(0, 10**4, 10**4) == 1e-6
    assert box.limit(10**11, 10**4, 10**4) == 1


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.00 kB"),
        (12345, "12.3 kB"),
        (999499, "999 kB"),
        (999600, "1.00 MB"),
        (2.5e9, "2.50 GB"),
    ],
)
def test_amounts(number, text):
    assert amount(number, "B") == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 ns"),
        (4.4e-8, "44 ns"),
        (1.234e-5, "12.3 us"),
        (9.996e-4, "1.00 ms"),
        (0.25, "250 ms"),
        (12.345, "12.3 s"),
    ],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def report(kernels, **parts):
    return Report("step", kernels, 12, 9, 2048, 4096, **parts)


KERNELS = [
    Work("nest_0", ("multiply", "tanh", "multiply", "sum"), 5_000_000, 8_000_000, 4, True),
    Work("product_1", ("matmul",), 2 * 512**3, 2_000_000, 1_000_000),
]


def test_the_text_of_a_report():
    text = str(report(KERNELS, records=[(1, "a first call"), (2, "x has shape (5,), and had (4,)")], notes=["a note"]))
    for line in (
        "step",
        "  program  12 equations recorded, 9 after passes, 2 kernels",
        "  work     273 Mflop, 11.0 MB moved, 25 flops to a byte",
        "  memory   4.10 kB in and out, 2.05 kB beside",
        "  cache    off (environment variable PULLBACK_CACHE)",
        "recorded 3 times:",
        "    2 x  x has shape (5,), and had (4,)",
        "note: a note",
    ):
        assert line in text.splitlines()
    assert re.search(r"^  nest_0 +5.00 M  8.00 MB +4 B +[\d.]+ [mun]s  multiply x2, tanh, sum$", text, re.MULTILINE)
    assert "time" not in text.replace("times", "")
    assert "the kernels took" not in text


def test_times_are_told_where_there_are_some():
    timed = [kernel._replace(seconds=seconds) for kernel, seconds in zip(KERNELS, (1e-3, 3e-3), strict=True)]
    text = str(report(timed))
    assert "the kernels took 4.00 ms" in text
    assert re.search(r"product_1 .* 3.00 ms +75%  matmul", text)


def test_long_reports_stay_short():
    rng = Random(1)
    kernels = [
        Work(
            f"a_kernel_with_a_rather_long_name_{i}", tuple(rng.choices(["multiply", "exp", "where"], k=40)) * 3, i, i, i
        )
        for i in range(200)
    ]
    text = str(report(kernels, records=[(1, "word " * 100)]))
    assert max(map(len, text.splitlines())) <= 100
    assert len(text.splitlines()) < 45
    assert "176 more" in text
    assert "long_name_199" not in text.split("more")[1]


def test_a_program_without_machine_code_is_its_own_work():
    program, _ = random_program(Random(8), 20)
    found = works(program)
    assert 0 < len(found) <= len(program.equations)
    assert sum(work.flops for work in found) == sum(map(flops, program.equations))
    assert str(report(found))


def test_an_empty_report():
    text = str(report([]))
    assert "0 flop, 0 B moved" in text
    assert "kernel  " not in text
