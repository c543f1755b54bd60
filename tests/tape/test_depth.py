"""Long chains: a hundred thousand operations are a normal graph, a million a large one, and nothing recurses."""

import copy
import gc
import inspect
import os
import pickle
import sys
import threading
import weakref

import numpy as np
import pytest

import pullback
from pullback.autograd import grad

HEAVY = [100_000, 1_000_000] if os.environ.get("PULLBACK_HEAVY") == "1" else []
SHORT = 20_000  # far more than the stacks below could hold, or Python 3.13's own recursion
FRAMES = 60  # what is left of Python's stack for the library
STACK = (1024 if sys.version_info[:2] == (3, 13) else 512) * 1024
"""Bytes of C stack: freeing a chain by recursion would need tens of times as much. Python 3.13 itself frees up to ten
thousand objects, of any class, by recursion, for which 512 kB are too few."""

long = pytest.mark.parametrize("length", HEAVY or [SHORT])


@pytest.fixture
def shallow():
    """Python's stack all but used up."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + FRAMES)
    yield
    sys.setrecursionlimit(limit)


def on_a_small_stack(program):
    """Run a program in a thread with little C stack; what it raises is raised here."""
    failures = []

    def run():
        try:
            program()
        except BaseException as error:  # noqa: BLE001  # handed to the test
            failures.append(error)

    before = threading.stack_size(STACK)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    if failures:
        raise failures[0]


def leaf(value=1.0):
    return pullback.tensor(value, dtype=float, requires_grad=True)


def scaled(x, length):
    """x * 2 ** length / 2 ** length, one operation at a time."""
    y = x
    for i in range(length):
        y = y * 2 if i % 2 else y / 2
    return y


@pytest.mark.parametrize("length", HEAVY or [100_000])
def test_forward_and_backward(length, shallow):
    x = leaf(3.0)
    y = scaled(x, length)
    assert y.item() == 3.0
    y.backward()
    assert x.grad.item() == 1.0


@long
def test_a_chain_that_saves_every_value(length, shallow):
    x = leaf(0.5)
    y = x
    for _ in range(length):
        y = y.sin()
    expected, value = 1.0, 0.5
    for _ in range(length):
        expected *= np.cos(value)
        value = np.sin(value)
    (found,) = grad(y, x)
    np.testing.assert_allclose([y.item(), found.item()], [value, expected], rtol=1e-9)


@long
def test_the_second_derivative_of_a_power_by_repeated_products(length, shallow):
    x = leaf(1.0)
    y = x
    for _ in range(length):
        y = y * x
    power = length + 1
    (first,) = grad(y, x, create_graph=True)
    assert first.item() == power
    (second,) = grad(first, x)
    assert second.item() == power * (power - 1)


@long
def test_a_leaf_used_everywhere(length, shallow):
    x = leaf(2.0)
    total = x * 0
    for _ in range(length):
        total = total + x
    total.backward()
    assert x.grad.item() == length


@long
def test_accumulation_without_leaving_the_leaf(length, shallow):
    """As many graphs as a chain has operations, each freed before the next."""
    x = leaf(2.0)
    for _ in range(length // 10):
        (x * 3).backward()
    assert x.grad.item() == 3 * (length // 10)


@long
def test_release_by_reference_counts(length, shallow):
    def program():
        gc.disable()
        try:
            x = leaf(1.0)
            y = scaled(x, length)
            first = weakref.ref(x)
            last = weakref.ref(y.grad_fn)
            del x, y
            assert (first(), last()) == (None, None)
        finally:
            gc.enable()

    on_a_small_stack(program)


@long
def test_release_after_backward_and_of_recorded_gradients(length, shallow):
    def program():
        x = leaf(1.0)
        y = scaled(x, length)
        y.backward(create_graph=True)
        recorded = weakref.ref(x.grad)
        last = weakref.ref(y.grad_fn)
        del x, y
        gc.collect()
        assert (recorded(), last()) == (None, None)

    on_a_small_stack(program)


@long
def test_release_of_what_each_operation_saved(length, shallow):
    def program():
        x = leaf(1.0)
        y = x
        for _ in range(length):
            y = y.tanh() + x
        y.backward(retain_graph=True)
        last = weakref.ref(y.grad_fn)
        del y
        gc.collect()
        assert last() is None

    on_a_small_stack(program)


@long
def test_copies_of_a_result(length, shallow):
    x = leaf(3.0)
    y = scaled(x, length)
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(y)
    assert copy.deepcopy({"y": y.detach()})["y"].item() == 3.0
    assert copy.copy(y).item() == 3.0
    assert pickle.loads(pickle.dumps(y)).item() == 3.0
    assert "3." in repr(y)


@long
def test_writes_one_after_another(length, shallow):
    x = leaf([1.0, 2.0])
    y = x * 1
    for i in range(length):
        y.mul_(2 if i % 2 else 0.5)
    y.sum().backward()
    assert (y._version, x.grad.tolist()) == (length, [1.0, 1.0])


@long
def test_writes_through_a_view(length, shallow):
    x = leaf([1.0, 2.0])
    y = x * 1
    for _ in range(length // 10):
        y[0] += x[1]
    y.sum().backward()
    assert y.tolist() == [1.0 + 2.0 * (length // 10), 2.0]
    assert x.grad.tolist() == [1.0, 1.0 + length // 10]


@long
def test_views_of_views(length, shallow):
    x = leaf([1.0, 2.0])
    y = x * 1
    for _ in range(length // 20):
        y = y[:]
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


@long
def test_a_write_through_a_view_of_views(length, shallow):
    x = leaf([1.0, 2.0])
    base = x * 1
    y = base
    for _ in range(length // 100):
        y = y[:]
    y[0] = 0
    base.sum().backward()
    assert x.grad.tolist() == [0.0, 1.0]


@long
def test_nodes_with_several_outputs(length, shallow):
    x = leaf([1.0, 2.0])
    y = x
    for _ in range(length // 10):
        a, b = y
        y = pullback.stack([b, a])
    assert y.tolist() == [1.0, 2.0]
    (y * pullback.tensor([3.0, 5.0], dtype=float)).sum().backward()
    assert x.grad.tolist() == [3.0, 5.0]


@long
def test_a_chain_with_hooks_and_retained_gradients(length, shallow):
    x = leaf(1.0)
    y = x
    calls = 0

    def count(_):
        nonlocal calls
        calls += 1

    for i in range(length):
        y = y * 1
        if i % 10 == 0:
            y.register_hook(count)
    y.backward()
    assert (calls, x.grad.item()) == (length // 10, 1.0)


@long
def test_a_graph_can_be_followed_by_hand(length, shallow):
    node = scaled(leaf(1.0), length).grad_fn
    steps = 0
    while node.next_functions and node.next_functions[0][0] is not None:
        node = node.next_functions[0][0]
        steps += 1
    assert steps == length


@long
def test_errors_in_a_long_graph_are_ordinary_errors(length, shallow):
    x = leaf(1.0)
    y = scaled(x, length).exp()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    unused = leaf()
    with pytest.raises(RuntimeError, match="not have been used"):
        grad(scaled(x, length), unused)
    assert x.grad.item() == pytest.approx(np.e)


@long
def test_only_the_way_to_an_input_is_walked(length, shallow):
    x = leaf(1.0)
    middle = scaled(x, length)
    y = scaled(middle, 10)
    (found,) = grad(y, middle, retain_graph=True)
    assert found.item() == 1.0
    y.backward(inputs=[x])
    assert x.grad.item() == 1.0


@pytest.mark.parametrize("sharing", ["squares", "sums"])
def test_a_graph_with_exponentially_many_paths(sharing, shallow):
    """Sixty steps have two to the sixtieth paths; each node runs once."""
    x = leaf(1.0)
    y = x
    for _ in range(60):
        y = y * y if sharing == "squares" else y + y
    y.backward()
    assert x.grad.item() == 2.0**60
