"""Profiles: times of kernels, the lines and equations they are of, and the trace that other programs open."""

import json
from random import Random

import numpy as np
import pytest

import pullback
from pullback.compile import store


@pytest.fixture(autouse=True)
def no_store(monkeypatch):
    monkeypatch.setenv(store.VARIABLE, "off")


def training():
    """A compiled step, called twice, and its arguments."""
    pullback.manual_seed(0)
    model = pullback.nn.Sequential(pullback.nn.Linear(6, 40), pullback.nn.Tanh(), pullback.nn.Linear(40, 3))
    optimizer = pullback.optim.Adam(model.parameters())

    @pullback.compile
    def step(x, target):
        optimizer.zero_grad()
        loss = pullback.nn.functional.cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()
        return loss.detach()

    given = pullback.randn(20, 6), pullback.randint(0, 3, (20,))
    for _ in range(3):
        step(*given)
    return step, given, model


@pytest.mark.parametrize("arguments", [True, False])
@pytest.mark.parametrize("fuse", [True, False])
def test_a_profile_has_times_limits_lines_and_equations_of_each_kernel(arguments, fuse):
    @pullback.compile(fuse=fuse)
    def f(a, b):
        c = a @ b
        return c.exp().sum(0)

    given = pullback.rand(12, 7), pullback.rand(7, 9)
    f(*given)
    f(*given)
    plain, found = f.report(), f.report(*(given if arguments else ()), profile=True)
    assert all(kernel.seconds is None for kernel in plain.kernels)
    assert [kernel._replace(seconds=None) for kernel in found.kernels] == list(plain.kernels)
    assert all(0 < limit <= kernel.seconds for limit, kernel in zip(found.limits, found.kernels, strict=True))
    assert found.seconds == pytest.approx(sum(kernel.seconds for kernel in found.kernels))
    line = f.function.__code__.co_firstlineno + 2
    (product,) = [kernel for kernel in found.kernels if "matmul" in kernel.equations]
    assert (product.flops, product.moved) == (2 * 12 * 7 * 9, 4 * (12 * 7 + 7 * 9 + 12 * 9))
    assert product.lines == (f"test_profile.py:{line}",)
    (summed,) = [kernel for kernel in found.kernels if "sum" in kernel.equations]
    assert summed.lines == (f"test_profile.py:{line + 1}",)
    assert all(f"test_profile.py:{each}" in str(found) for each in (line, line + 1))


def test_a_profile_changes_nothing():
    """Neither parameters and moments, nor arguments, nor random numbers, nor what a call runs."""
    step, given, model = training()
    record = step._newest()
    before = [value.tolist() for value in (*model.parameters(), *given)], record.machinery.executable, record.execute
    state = str(pullback.get_rng_state())
    step.report(profile=True)
    step.report(*given, profile=True)
    assert str(pullback.get_rng_state()) == state
    after = [value.tolist() for value in (*model.parameters(), *given)], record.machinery.executable, record.execute
    assert after == before
    assert step._newest() is record
    twin, _, _ = training()
    assert step(*given).item() == twin(*given).item()


def test_random_numbers_of_a_profile_are_not_used_up():
    f = pullback.compile(lambda x: x + pullback.randn(5))
    f(pullback.ones(5))
    pullback.manual_seed(3)
    expected = f(pullback.ones(5)).tolist()
    pullback.manual_seed(3)
    f.report(profile=True)
    assert f(pullback.ones(5)).tolist() == expected


def test_a_report_of_a_call_is_of_its_program():
    f = pullback.compile(lambda x: x @ x)
    for size in (3, 5):
        f(pullback.ones(size, size))
    assert f.report().flops == 2 * 5**3
    assert f.report(pullback.ones(3, 3)).flops == 2 * 3**3
    with pytest.raises(RuntimeError, match="no program for these arguments: call it with them first"):
        f.report(pullback.ones(4, 4))


def test_a_profile_of_a_loop_whose_length_depends_on_values():
    @pullback.compile
    def f(x):
        return pullback.while_loop(lambda state: state < x, lambda state: state * 2, x / x)

    x = pullback.tensor(20.0)
    assert f(x).item() == 32
    assert f.report(x, profile=True).seconds > 0


@pytest.mark.parametrize("length", [3, 200])
def test_a_loop_costs_what_its_steps_do(length):
    def work(steps):
        weight = pullback.rand(40, 40)
        f = pullback.compile(lambda x: pullback.scan(lambda s, _: ((weight @ s).tanh(), None), x, length=steps)[0])
        f(pullback.rand(40))
        return f.report()

    one, many = work(length), work(2 * length)
    assert many.flops == pytest.approx(2 * one.flops, rel=0.1)
    assert one.flops >= length * 2 * 40 * 40


def test_many_steps_are_timed_one_by_one():
    steps = [
        lambda x: x @ x,
        lambda x: x / x.sum(),
        lambda x: x.T @ x.exp(),
        lambda x: x @ x.softmax(0),
        lambda x: x / x.amax(),
    ]

    def f(x):
        order = Random(1)  # which does not repeat, so no loop is made of it
        for _ in range(300):
            x = order.choice(steps)(x)
        return x

    compiled = pullback.compile(f)
    compiled(pullback.rand(9, 9))
    found = compiled.report(profile=True)
    assert len(found.kernels) > 96
    assert all(kernel.seconds > 0 for kernel in found.kernels)


def test_a_trace_is_one_that_perfetto_opens(tmp_path):
    """The JSON form of Chrome's trace events: complete events one after another, and names of process and thread."""
    step, _, _ = training()
    found = step.report(profile=True)
    path = tmp_path / "trace.json"
    found.save_perfetto(path)
    trace = json.loads(path.read_text(encoding="utf-8"))
    assert set(trace) == {"traceEvents", "displayTimeUnit"}
    assert trace["displayTimeUnit"] in {"ms", "ns"}
    names = {event["name"]: event["args"]["name"] for event in trace["traceEvents"] if event["ph"] == "M"}
    assert set(names) == {"process_name", "thread_name"}
    assert "step" in names["process_name"]
    kernels = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert len(kernels) + 2 == len(trace["traceEvents"])
    assert {(type(event["pid"]), type(event["tid"])) for event in kernels} == {(int, int)}
    ends = 0.0
    for event, kernel in zip(kernels, found.kernels, strict=True):
        assert event["ts"] == pytest.approx(ends)
        assert event["dur"] == pytest.approx(kernel.seconds * 1e6)
        ends = event["ts"] + event["dur"]
        assert event["args"]["flops"] == kernel.flops
        assert "test_profile.py:" in event["args"]["lines"]
    assert {"tanh", "matmul"} <= {word.split()[0] for event in kernels for word in event["name"].split(", ")}


def test_a_trace_needs_times(tmp_path):
    f = pullback.compile(lambda x: x.exp())
    f(pullback.ones(3))
    with pytest.raises(ValueError, match=r"no times; take the report with report\(profile=True\)"):
        f.report().save_perfetto(tmp_path / "trace.json")
    assert not list(tmp_path.iterdir())


def test_a_profile_of_an_operation_of_numpy():
    """An operation without machine code, between those that have it."""
    f = pullback.compile(lambda x: pullback.linalg.cholesky(x @ x.T + pullback.eye(8)).exp().sum())
    x = pullback.tensor(np.random.default_rng(0).normal(size=(8, 8)))
    f(x)
    found = f.report(x, profile=True)
    assert all(kernel.seconds > 0 for kernel in found.kernels)
    (factor,) = [kernel for kernel in found.kernels if kernel.equations == ("cholesky",)]
    assert factor.flops == -(-(8**3) // 3)
