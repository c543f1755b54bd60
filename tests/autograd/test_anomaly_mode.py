"""Anomaly mode: what is an alarm, when it is raised, and what it says."""

import asyncio
import gc
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given, strategies as st

import pullback
from pullback.autograd.anomaly_mode import AnomalyError

from ..tensors import double_leaf as leaf

inf = float("inf")
nan = float("nan")


def alarm(program, **options):
    """The error of a program in anomaly mode."""
    with pytest.raises(AnomalyError) as caught, pullback.detect_anomaly(**options):
        program()
    return caught.value


def quiet(program, **options):
    """The result of a program that is no alarm."""
    with pullback.detect_anomaly(**options):
        return program()


# Forward


@pytest.mark.parametrize(
    ("operation", "program", "index", "value", "words"),
    [
        ("log", lambda: leaf(1.0, 0.0).log(), (1,), -inf, "from x = 0"),
        ("log", lambda: leaf(1.0, -1.0).log(), (1,), nan, "from x = -1"),
        ("sqrt", lambda: pullback.tensor([[4.0, -1.0]]).sqrt(), (0, 1), nan, "from x = -1"),
        ("div", lambda: leaf(1.0) / leaf(0.0), (0,), inf, "from a = 1, b = 0"),
        ("div", lambda: leaf(0.0) / leaf(0.0), (0,), nan, "from a = 0, b = 0"),
        ("exp", lambda: leaf(1.0, 100.0, dtype=pullback.float32).exp(), (1,), inf, "from x = 100"),
        ("mul", lambda: leaf(1e200) * leaf(1e200), (0,), inf, "a = 1e+200"),
        ("pow", lambda: leaf(0.0) ** -1, (0,), inf, "= 0"),
        ("sum", lambda: leaf(1e308, 1e308).sum(), (), inf, "between 1e+308 and 1e+308"),
        ("mm", lambda: leaf(1e200)[None] @ leaf(1e200)[:, None], (0, 0), inf, "between"),
        ("sub", lambda: pullback.tensor(inf) - inf, (), nan, "from a = inf, b = inf"),
    ],
)
def test_a_number_that_is_not_finite_is_an_error_at_its_operation(operation, program, index, value, words):
    error = alarm(program)
    assert (error.phase, error.operation, error.index) == ("forward", operation, index)
    assert np.array_equal(error.value, value, equal_nan=True)
    assert "test_anomaly_mode.py" in error.site
    assert words in str(error)


def test_the_line_is_that_of_the_first_operation():
    x = leaf(1.0, -1.0)

    def program():
        root = x.sqrt()  # FIRST
        scaled = 2 * root
        return (scaled + 1).mean()

    error = alarm(program)
    assert error.site.endswith("# FIRST")
    assert error.operation == "sqrt"
    assert str(error).endswith("nothing has masked it since")


def test_a_loss_that_is_nan_is_an_error_before_anything_has_changed():
    x = leaf(1.0, -1.0)
    with pytest.raises(AnomalyError, match=r"log at .* gave nan at index \(1,\)"), pullback.detect_anomaly():
        loss = x.log()[1]
        loss.backward()
    assert x.grad is None


def test_a_result_that_is_dropped_is_an_error_at_the_end_of_the_block():
    with pytest.raises(AnomalyError, match="nothing has masked it since"), pullback.detect_anomaly():
        pullback.tensor(-1.0).log()


@pytest.mark.parametrize("add", [lambda y: y.sum(), lambda y: y.mean(), lambda y: y.cumsum(0), lambda y: y @ y])
def test_nan_that_has_been_added_up_is_an_alarm_unless_it_is_left_out(add):
    x = leaf(1.0, -1.0)
    assert alarm(lambda: add(x.log()).sum().backward()).operation == "log"
    quiet(lambda: add(x.detach().log()).nan_to_num().sum())


def test_an_error_of_the_program_comes_first():
    with pytest.raises(KeyError), pullback.detect_anomaly():
        pullback.tensor(-1.0).log()
        raise KeyError


@pytest.mark.parametrize(
    "program",
    [
        lambda x: pullback.where(x > 0, x.log(), 0.0).sum(),
        lambda x: pullback.where(x > 0, x * x.log(), 0.0).sum(),
        lambda x: x.log().masked_fill(x == 0, 0.0).sum(),
        lambda x: x.log()[1:].sum(),
        lambda x: x.log().exp().sum(),
        lambda x: x.log().softmax(0).sum(),
        lambda x: x.log().clamp(-5, 5).sum(),
        lambda x: x.log().nan_to_num().sum(),
        lambda x: (1 / x).reciprocal().sum(),
        lambda x: x.masked_fill(x == 0, -inf).softmax(0).sum(),
        lambda x: pullback.full((2,), inf).minimum(x).sum(),
        lambda x: pullback.where((y := x.log()).isinf(), 0.0, y).sum(),
        lambda x: x.sum() if x.log().sum().isinf() else x,
    ],
    ids=range(13),
)
def test_what_is_masked_is_no_alarm(program):
    x = pullback.tensor([0.0, 2.0])
    assert np.isfinite(quiet(lambda: program(x)).item())


def test_what_the_user_put_in_is_no_alarm():
    assert quiet(lambda: pullback.tensor([inf, nan]) * 2)[0] == inf
    x = leaf(1.0, 2.0)
    quiet(lambda: x.masked_fill(x > 1, -inf).backward([1.0, 0.0]))
    assert x.grad.tolist() == [1, 0]


def test_a_loss_of_numbers_that_the_program_put_in_is_an_alarm():
    x = leaf(1.0, 2.0)
    error = alarm(lambda: (x.masked_fill(x.detach() > 1, -inf) * 2).sum().backward())
    assert (error.operation, error.value, x.grad) == ("masked_fill", -inf, None)


def test_a_mask_that_was_computed_matters_in_the_loss_only():
    x = leaf(1.0, 2.0)
    with pullback.detect_anomaly():
        mask = pullback.full((2, 2), -inf).triu(1)
        (x + mask).softmax(-1).square().sum().backward()
        assert np.isfinite(x.grad).all()
        with pytest.raises(AnomalyError, match=r"gave -inf .*, and backward starts from it"):
            (x + mask).sum().backward()


def test_a_row_of_a_mask_is_born_in_softmax():
    x = leaf(1.0, 2.0)
    error = alarm(lambda: x.masked_fill(x.detach() > 0, -inf).softmax(0).sum().backward())
    assert (error.operation, error.phase) == ("softmax", "forward")


def test_what_was_masked_in_one_place_and_not_in_another_is_an_alarm():
    x = pullback.tensor([0.0, 2.0])

    def program():
        y = x.log()
        pullback.where(x > 0, y, 0.0).sum()
        return y * 2

    assert alarm(program).operation == "log"


# Backward


def test_the_root_of_zero():
    x = leaf(0.0, 4.0)

    def program():
        y = x.sqrt()  # HERE
        (3 * y).sum().backward()

    error = alarm(program)
    assert str(error).startswith("Function 'SqrtBackward0' returned inf values in its 0th output.\n  sqrt at ")
    assert (error.phase, error.operation, error.index) == ("backward", "sqrt", (0,))
    assert (error.gradient, error.factor, error.value, error.masked_by) == (3, inf, inf, None)
    assert error.site.endswith("# HERE")
    assert x.grad is None


def test_the_second_of_two_roots_is_not_blamed():
    """pytorch#160016: torch blames the last operation of the kind."""
    a, b = leaf(0.0), leaf(4.0)

    def program():
        first = a.sqrt()  # GUILTY
        second = b.sqrt()
        (first + second).sum().backward()

    assert alarm(program).site.endswith("# GUILTY")


@pytest.mark.parametrize("side", ["input", "other"])
def test_the_trap_of_where(side):
    x = leaf(0.0, 4.0)

    def program():
        root = x.sqrt() * 2
        mask = x.detach() > 0
        chosen = pullback.where(mask, root, 0.0) if side == "input" else pullback.where(~mask, 0.0, root)  # WHERE
        chosen.sum().backward()

    error = alarm(program)
    assert (error.index, error.gradient, error.factor) == ((0,), 0, inf)
    assert np.isnan(error.value)
    assert error.masked_by.endswith("# WHERE")
    assert f"0 × inf: the gradient of the branch of where() at {error.masked_by}" in str(error)
    assert f"not selected at index (0,) (the argument '{side}')" in str(error)
    assert "pullback.where(condition, f, g, x)" in str(error)


@pytest.mark.parametrize(
    "mask",
    [
        lambda root, x: root.masked_fill(x == 0, 0.0),  # MASK
        lambda root, x: root * (x > 0),  # MASK
    ],
)
def test_other_masks_that_come_too_late(mask):
    x = leaf(0.0, 4.0)
    error = alarm(lambda: mask(x.sqrt(), x.detach()).sum().backward())
    assert error.masked_by.endswith("# MASK")
    assert "had masked this value out at index (0,)" in str(error)


def test_the_trap_behind_a_reduction():
    x = pullback.tensor([[0.0, 0.0], [3.0, 4.0]], requires_grad=True)

    def program():
        lengths = x.square().sum(1).sqrt()
        pullback.where(lengths.detach() > 0, lengths, 1.0).sum().backward()  # WHERE

    error = alarm(program)
    assert (error.operation, error.index) == ("sqrt", (0,))
    assert error.masked_by.endswith("# WHERE")


def test_a_mask_before_the_pole_is_no_alarm():
    x = leaf(0.0, 4.0)

    def program():
        safe = pullback.where(x.detach() > 0, x, 1.0)
        pullback.where(x.detach() > 0, safe.sqrt(), 0.0).sum().backward()

    quiet(program)
    assert x.grad.tolist() == [0, 0.25]


def test_a_gradient_that_where_masks_on_its_way_back_is_no_alarm():
    x = leaf(0.0, 4.0)

    def program():
        safe = pullback.where(x.detach() > 0, x, 0.0)  # the root of 0 gives NaN, which this masks
        pullback.where(x.detach() > 0, safe.sqrt(), 0.0).sum().backward()

    quiet(program)
    assert x.grad.tolist() == [0, 0.25]


def test_functions_for_the_sides_avoid_the_trap():
    x = leaf(0.0, 4.0)
    quiet(lambda: pullback.where(x > 0, pullback.sqrt, lambda t: 0 * t, x).sum().backward())
    assert x.grad.tolist() == [0, 0.25]


def test_a_refused_pass_leaves_the_graph_and_other_gradients_alone():
    x, w = leaf(0.0, 4.0), leaf(1.0, 1.0)
    y = (x.sqrt() * w).sum()
    alarm(y.backward)
    assert x.grad is None
    assert w.grad is None
    y.backward()
    assert x.grad.tolist() == [inf, 0.25]
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


@pytest.mark.parametrize("create_graph", [False, True])
def test_autograd_grad_is_watched_too(create_graph):
    x = leaf(0.0, 4.0)
    y = x.sqrt().sum()
    error = alarm(lambda: pullback.autograd.grad(y, x, create_graph=create_graph))
    assert (error.operation, error.index, error.factor) == ("sqrt", (0,), inf)


def test_a_second_derivative():
    x = leaf(0.0)

    def program():
        (slope,) = pullback.autograd.grad((x**1.5).sum(), x, create_graph=True)
        slope.sum().backward()

    error = alarm(program)
    assert error.phase == "backward"
    assert error.operation == "pow"


def test_a_gradient_passed_to_backward():
    x = leaf(1.0, 2.0)
    error = alarm(lambda: (x * 2).backward([1.0, nan]))
    assert "the gradient that was passed to backward" in str(error)
    assert error.index == (1,)


def test_a_sum_of_gradients_that_overflows():
    x = leaf(0.1)
    error = alarm(lambda: (x * 1e308 + x * 1e308).sum().backward())
    assert "their sum is not" in str(error)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("layout", ["one", "row", "strided", "rows", "columns", "parts"])
def test_gradients_are_looked_at_in_every_layout(layout, dtype):
    block = np.full((4, 6, 2), LARGEST[dtype], dtype)
    given, index = {
        "one": (block[0, 0, :1], (0,)),
        "row": (block.ravel(), (17,)),
        "strided": (block.ravel()[::3], (5,)),
        "rows": (block, (3, 4, 1)),
        "columns": (block.T, (1, 4, 3)),
        "parts": (block[::2, 1:], (1, 4, 0)),
    }[layout]
    x = pullback.from_numpy(np.ones_like(given))
    x.requires_grad = True
    quiet(lambda: pullback.clone(x).backward(pullback.from_numpy(given)))
    assert np.array_equal(x.grad, given)
    given[index] = inf
    assert f"not finite at index {index}" in str(alarm(lambda: pullback.clone(x).backward(pullback.from_numpy(given))))


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("axes", [(0, 1), 0, 1])
def test_gradients_that_are_spread_are_looked_at(axes, step):
    x = pullback.ones(3, 3, requires_grad=True, dtype=pullback.float64)
    given = np.ones(3 * step)[::step] if axes in (0, 1) else np.ones(())
    quiet(lambda: x.sum(axes).backward(pullback.from_numpy(given)))
    assert np.array_equal(x.grad, np.ones((3, 3)))
    given[...] = inf
    assert "not finite" in str(alarm(lambda: x.sum(axes).backward(pullback.from_numpy(given))))


class Broken(pullback.autograd.Function):
    calls = 0

    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        Broken.calls += 1
        return g * nan


def test_a_function_of_the_user_is_named_and_runs_once():
    x = leaf(1.0)
    Broken.calls = 0
    error = alarm(lambda: Broken.apply(x).sum().backward())
    assert "Function 'BrokenBackward' returned nan values in its 0th output." in str(error)
    assert Broken.calls == 1


def test_hooks_run_once():
    x = leaf(0.0)
    calls = []
    h = x * 1
    h.register_hook(calls.append)
    alarm(lambda: h.sqrt().sum().backward())
    assert len(calls) == 1


def test_a_graph_recorded_outside_the_block():
    x = leaf(0.0)
    y = x.sqrt().sum()
    assert alarm(y.backward).operation == "sqrt"


@pytest.mark.parametrize("retain_graph", [False, True])
def test_a_pass_leaves_no_garbage(retain_graph):
    x = leaf(1.0, 2.0)
    gc.collect()
    gc.disable()
    try:
        with pullback.detect_anomaly():
            y = x * x
            node = weakref.ref(y.grad_fn)
            y.sum().backward(retain_graph=retain_graph)
            del y
        assert node() is None
    finally:
        gc.enable()


# The mode


@pytest.mark.parametrize(("policy", "raised"), [("nan", [True, False]), ("inf", [False, True]), ("both", [True, True])])
def test_policies(policy, raised):
    programs = [lambda: leaf(-1.0).log(), lambda: leaf(0.0).log()]
    for program, expected in zip(programs, raised, strict=True):
        if expected:
            alarm(program, policy=policy)
        else:
            quiet(program, policy=policy)


def test_check_nan_off_looks_at_nothing():
    x = leaf(0.0)

    def program():
        assert pullback.is_anomaly_enabled()
        assert not pullback.is_anomaly_check_nan_enabled()
        x.sqrt().sum().backward()

    quiet(program, check_nan=False)
    assert x.grad.tolist() == [inf]


def test_blocks_nest_and_end():
    assert not pullback.is_anomaly_enabled()
    with pullback.detect_anomaly():
        with pullback.detect_anomaly(check_nan=False):
            assert pullback.is_anomaly_enabled()
        assert pullback.is_anomaly_check_nan_enabled()
        with pullback.autograd.set_detect_anomaly(False):
            assert not pullback.is_anomaly_enabled()
            pullback.tensor(-1.0).log()
        assert pullback.is_anomaly_enabled()
    assert not pullback.is_anomaly_enabled()


def test_it_is_switched_on_and_off():
    pullback.autograd.set_detect_anomaly(True)
    try:
        assert pullback.is_anomaly_enabled()
        with pytest.raises(AnomalyError):
            leaf(0.0).sqrt().sum().backward()
    finally:
        pullback.autograd.set_detect_anomaly(False)
    assert not pullback.is_anomaly_enabled()
    leaf(0.0).sqrt().sum().backward()


def test_it_decorates_functions():
    @pullback.detect_anomaly()
    def step(x):
        return x.log()

    assert step(leaf(1.0)).tolist() == [0]
    with pytest.raises(AnomalyError):
        step(leaf(0.0))


def test_the_mode_belongs_to_the_thread_and_the_task():
    found = []

    async def task():
        found.append(pullback.is_anomaly_enabled())
        await asyncio.sleep(0)

    with pullback.detect_anomaly():
        thread = threading.Thread(target=lambda: found.append(pullback.is_anomaly_enabled()))
        thread.start()
        thread.join()
    asyncio.run(task())
    assert found == [False, False]


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (TypeError, lambda: pullback.autograd.set_detect_anomaly(1)),
        (TypeError, lambda: pullback.detect_anomaly("yes")),
        (ValueError, lambda: pullback.detect_anomaly(policy="zero")),
        (ValueError, lambda: pullback.autograd.set_detect_anomaly(True, policy="zero")),
    ],
)
def test_bad_arguments(error, call):
    with pytest.raises(error):
        call()
    assert not pullback.is_anomaly_enabled()


def test_modes_inside_the_block_keep_their_meaning():
    x = leaf(1.0, 2.0)
    with pullback.detect_anomaly():
        with pullback.no_grad():
            assert not (x * 2).requires_grad
            x -= 0.5 * x
        y = x * 2
        with pullback.inference_mode():
            assert (x.detach() * 2).is_inference()
        with pullback.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), pullback.tensor):
            z = y * y
        z.sum().backward()
    assert x.grad.tolist() == [4, 8]


OPERATIONS = [
    lambda a, b: a * b,
    lambda a, b: a + b,
    lambda a, b: a - b,
    pullback.maximum,
    lambda a, b: (a * 0.1).exp(),
    lambda a, b: a.tanh(),
    lambda a, b: (a * a + 1).log(),
    lambda a, b: a[: len(b)].flip(0) + b,
    lambda a, b: pullback.where(a > b, a, b),
]


@given(st.lists(st.sampled_from(OPERATIONS), min_size=1, max_size=8))
def test_a_finite_program_computes_the_same_in_the_mode(operations):
    def program():
        a, b = leaf(0.5, -1.0, 2.0), leaf(1.5, 0.25, -0.5)
        value = a
        for operation in operations:
            value = operation(value, b)
        total = value.sum() + b.sum() * 0
        total.backward()
        return value.tolist(), None if a.grad is None else a.grad.tolist(), b.grad.tolist()

    assert quiet(program) == program()


# The operations that are left to the processor's flags

LARGEST = {"float16": 65504.0, "float32": 3e38, "float64": 1.5e308, "complex64": 3e38, "complex128": 1.5e308}
ARITHMETIC = {
    "add": lambda x, big: x + big,
    "sub": lambda x, big: -x - big,
    "mul": lambda x, big: x * big,
    "div": lambda x, big: big / (x - big),
    "pow": lambda x, big: x.square(),
    "reciprocal": lambda x, big: (x - big).reciprocal(),
    "sqrt": lambda x, big: (1 - x).sqrt(),
    "rsqrt": lambda x, big: (big - x).rsqrt(),
    "exp": lambda x, big: x.exp(),
    "expm1": lambda x, big: x.expm1(),
    "log": lambda x, big: (big - x).log(),
    "log1p": lambda x, big: (big - x - 1).log1p(),
    "sum": lambda x, big: pullback.stack([x, x]).sum(0),
    "mean": lambda x, big: pullback.stack([x, x]).mean(0),
}


# A negative complex number has roots; the mean of float16 is computed in float32, where it does not overflow.
DEFINED = {(name, dtype) for name in ("sqrt", "rsqrt") for dtype in ("complex64", "complex128")} | {("mean", "float16")}


@pytest.mark.parametrize(
    ("operation", "dtype"), [(name, dtype) for name in ARITHMETIC for dtype in LARGEST if (name, dtype) not in DEFINED]
)
@pytest.mark.parametrize(("size", "step"), [(1, 1), (3, 1), (37, 2), (1000, 1), (70_000, 1)])
def test_no_number_that_arithmetic_makes_is_missed(operation, dtype, size, step):
    values = np.ones(size * step, dtype)[::step]
    values[-1] = LARGEST[dtype]
    x = pullback.from_numpy(values)
    x.requires_grad = True
    error = alarm(lambda: ARITHMETIC[operation](x, x.detach()[-1]))
    assert (error.phase, error.operation, error.index) == ("forward", operation, (size - 1,))


def test_a_flag_without_a_number_is_no_alarm():
    """The processor tells of an overflow inside: the result is finite."""
    x = leaf(1e200, 3e200)
    assert np.isfinite(quiet(lambda: pullback.hypot(x, x)).detach()).all()
    assert quiet(lambda: (x * 1e-200).sum().item()) == 4.0


@pytest.mark.parametrize("operation", ARITHMETIC)
def test_a_flag_is_told_beneath_another_watcher(operation):
    x = leaf(1.0, 1.5e308)
    with pytest.raises(AnomalyError), pullback.detect_anomaly(), pullback.detect_anomaly():
        ARITHMETIC[operation](x, x.detach()[-1])


def test_the_error_state_of_numpy_is_left_alone():
    x, told = leaf(0.0, 4.0), []
    with np.errstate(all="raise", call=lambda *given: told.append(given)):
        before = np.geterr(), np.geterrcall()
        quiet(lambda: pullback.where(x > 0, 1 / x, 0.0).sum())
        alarm(lambda: (1 / x).log() + x.log())
        assert (np.geterr(), np.geterrcall()) == before
        with pytest.raises(FloatingPointError):
            np.ones(1) / np.zeros(1)
    assert not told


def test_a_flag_in_one_thread_is_seen_in_it():
    """Each thread is told of its own, whatever the others compute meanwhile."""
    found = []

    def work(start, divisor):
        start.wait(10)
        try:
            for _ in range(200):
                with pullback.detect_anomaly():
                    (leaf(1.0, 2.0) / divisor).sum()
            found.append(None)
        except AnomalyError as error:
            found.append(error.index)

    start = threading.Barrier(3)
    threads = [threading.Thread(target=work, args=(start, leaf(1.0, last))) for last in (1.0, 0.0, 2.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found, key=str) == [(1,), None, None]


def test_an_error_that_the_program_catches_is_told_once():
    x = pullback.ones(2, requires_grad=True)
    with pullback.autograd.detect_anomaly():
        with pytest.raises(RuntimeError, match="sqrt"):
            (x - 2).sqrt().sum().backward()
        x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match=r"log.*nothing has masked it"), pullback.autograd.detect_anomaly():
        with pytest.raises(RuntimeError, match="sqrt"):
            (x - 2).sqrt().sum().backward()
        lost = (x - 2).log()  # noqa: F841  # another one, which the end of the block tells
