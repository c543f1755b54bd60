"""The report: costs that follow from shapes, and a text that can be read."""

import importlib
import re
from random import Random

import numpy as np
import pytest

from pullback import ops
from pullback.compile import store
from pullback.compile.costs import Work, flops, moved, peak, works
from pullback.compile.program import Equation, Program, Value
from pullback.compile.rates import SIZES, Machine, machine
from pullback.compile.report import Report, amount, duration

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


def test_every_operation_that_works_has_a_cost():
    """Views alone cost nothing; what moves numbers costs bytes, and what computes costs flops, too."""
    free = set()
    for row in samples.rows():
        (found,) = of_row(row)[0].equations
        if all(value.size for value in (*found.inputs, *found.outputs)):
            assert found.primitive.view or sum(moved(found)) > 0
            free |= set() if flops(found) else {found.name}
    assert not free & {"exp", "solve", "fft", "argsort", "lgamma", "embedding_bag", "scatter_add", "cholesky", "sum"}
    assert free <= MOVING | {name for name in free if getattr(ops, name, ops.exp).view}


MOVING = set(
    """
    astype bend broadcast_to clone concat copy diagonal embedding fill flip gather getitem index index_put overwrite put put_rows
    roll scatter_diagonal scatter_slice select_along stack take_along_axis take_rows tile tied attached unbind split
    window_columns zeros_like replay real imag view_as_real view_as_complex as_strided windows
    """.split()
)


SQUARE = np.eye(6) + np.zeros((3, 1, 1))
TRIANGULAR = {"upper": False, "unitriangular": False}


@pytest.mark.parametrize(
    ("name", "arrays", "params", "count"),
    [
        ("solve", [SQUARE[0], np.ones((6, 2))], {}, 2 * 6**3 // 3 + 2 * 36 * 2),
        ("solve_triangular", [SQUARE[0], np.ones((6, 2))], TRIANGULAR, 36 * 2),
        ("cholesky", [SQUARE], {}, 3 * 6**3 // 3),
        ("inv", [SQUARE], {}, 3 * 2 * 6**3),
        ("argsort", [np.ones((4, 8))], {"axis": 1, "descending": False}, 32 * 3),
        ("fft", [np.ones((4, 8), complex)], {"axes": (1,), "inverse": False, "scale": 1.0}, 5 * 32 * 3),
        ("rfft", [np.ones((4, 8))], {"axis": 1, "scale": 1.0}, 5 * 32 * 3 // 2),
    ],
)
def test_flops_of_factorizations_and_transforms(name, arrays, params, count):
    (found,) = one_equation(name, arrays, params).equations
    assert flops(found) == count


def test_every_kernel_that_works_has_a_cost():
    """Whatever machine code makes of an operation: nests, products, loops, or a call of the operation itself."""
    assembly = pytest.importorskip("pullback.compile.machine.assembly", reason="llvmlite is not installed")
    lowered = importlib.import_module("pullback.compile.machine.lowering").lowered
    kernels = importlib.import_module("pullback.compile.machine.works").works
    for row in samples.rows():
        program = of_row(row)[0]
        for kernel in kernels(assembly.Assembly(lowered(program)), {}):
            assert kernel.moved > 0 or not any(value.size for value in program.outputs), (row[0], kernel)


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
    assert min(found.rates) > 0
    assert found.flops > 0


BOX = Machine(rates=(1e11, 5e10, 2e10, 2e10, 1e10, 1e9), flops=1e11)


def test_the_limit_is_the_tighter_one():
    assert BOX.limit(Work("", (), 0, 10**9, 0)) == 1
    assert BOX.limit(Work("", (), 0, 5000, 5000)) == 1e-7
    assert BOX.limit(Work("", (), 10**11, 5000, 5000)) == 1


def test_the_limit_of_a_loop_is_by_the_memory_that_it_moves_again_and_again():
    assert BOX.limit(Work("", (), 0, 10**9, 0, among=10**4)) == 1e-2


@pytest.mark.parametrize("size", [0, 1, 16383, 16384, 300_000, 1 << 26, 1 << 30])
def test_a_rate_is_that_of_the_next_smaller_memory(size):
    expected = [rate for each, rate in zip(SIZES, BOX.rates, strict=True) if each <= size]
    assert BOX.rate(size) == (expected or BOX.rates)[-1 if expected else 0]


def test_rates_are_not_below_what_was_measured():
    """Bytes that moved faster in larger memory say that they can in smaller memory, too, and nothing of larger."""
    quick = Work("", (), 4 * 10**8, 3 * 10**5, 10**5, seconds=2e-6)
    found = BOX.raised([quick])
    assert found.flops == 2e14
    assert found.rates == (2e11, 2e11, 2e10, 2e10, 1e10, 1e9)
    assert BOX.raised([quick._replace(seconds=1e-7)]) == BOX
    assert BOX.raised([quick._replace(seconds=None)]) == BOX


def test_no_limit_is_above_the_time_that_was_measured():
    kernels = [Work("", ("exp",), 10**7, 10**6, 10**6, seconds=seconds) for seconds in (1e-9, 2e-6, 1.0)]
    found = report(kernels)
    assert all(0 < limit <= kernel.seconds for limit, kernel in zip(found.limits, kernels, strict=True))


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
    assert re.search(r"^  nest_0 +5.00 M  8.00 MB +4 B +[\d.]+ [mun]s +multiply x2, tanh, sum$", text, re.MULTILINE)
    assert "time" not in text.replace("times", "")
    assert "they took" not in text


def test_times_are_told_where_there_are_some():
    timed = [kernel._replace(seconds=seconds) for kernel, seconds in zip(KERNELS, (1e-3, 3e-3), strict=True)]
    text = str(report(timed))
    assert "they took 4.00 ms" in text
    assert re.search(r"product_1 .* 3.00 ms +75% +matmul", text)


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
