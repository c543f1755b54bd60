"""Calls of a function that has quick calls, with arguments of other kinds: it gives what it gives uncompiled."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pullback
from pullback import compile, nn, tensor


def with_grad():
    """A tensor without a history that has a gradient nevertheless."""
    x = tensor([1.0, 2.0])
    x.grad = tensor([10.0, 20.0])
    return x


def of_inference():
    with pullback.inference_mode():
        return tensor([1.0, 2.0])


def kept_grad():
    """A result that keeps its gradient, and has lost its history."""
    x = tensor([1.0, 2.0], requires_grad=True) * 1
    x.retain_grad()
    x.sum().backward()
    return x.detach_()


class Derived(pullback.Tensor):
    """A class of tensors."""


KINDS = {
    "a tensor": lambda: tensor([1.0, 2.0]),
    "of another shape": lambda: tensor([[1.0, 2.0]]),
    "of another dtype": lambda: tensor([1, 2]),
    "a leaf": lambda: tensor([1.0, 2.0], requires_grad=True),
    "a result": lambda: tensor([1.0, 2.0], requires_grad=True) * 1,
    "a parameter": lambda: nn.Parameter(tensor([1.0, 2.0])),
    "of a class": lambda: tensor([1.0, 2.0]).as_subclass(Derived),
    "with a gradient": with_grad,
    "with a kept gradient": kept_grad,
    "of inference": of_inference,
    "not contiguous": lambda: tensor([[1.0, 5.0], [2.0, 6.0]])[:, 0],
    "an array": lambda: np.array([1.0, 2.0]),
    "a float": lambda: 1.5,
    "a scalar of NumPy": lambda: np.float64(1.5),
    "a narrow scalar of NumPy": lambda: np.float32(1.5),
    "an int": lambda: 3,
    "a bool": lambda: True,
}
"""Arguments, each of a kind of its own."""


def scaled(x):
    """What asks an argument for all that is looked at in calls."""
    if isinstance(x, pullback.Tensor):
        return x * x.grad if x.is_leaf and x.grad is not None else x * 2
    return x * 3.0 if isinstance(x, float) else x + 1


def shown(result):
    """What a result is."""
    if isinstance(result, pullback.Tensor):
        return type(result), result.dtype, tuple(result.shape), result.requires_grad, result.tolist()
    return type(result), np.asarray(result).tolist()


@pytest.mark.filterwarnings("ignore:compile. scaled runs as it is")
@pytest.mark.parametrize(("first", "second"), [*itertools.permutations(KINDS, 2)])
def test_an_argument_of_another_kind(first, second):
    compiled = compile(scaled)
    for kind in (first, first, first, second, second, second, first):
        given = KINDS[kind]()
        assert shown(compiled(given)) == shown(scaled(given))


@pytest.mark.parametrize("wrong", [(), (1,), (1, 2, 3)])
def test_another_number_of_arguments(wrong):
    compiled = compile(lambda x, y=2.0: x * y)
    x = tensor([1.0, 2.0])
    for _ in range(4):
        assert compiled(x, 3.0).tolist() == [3.0, 6.0]
    if len(wrong) == 1:
        assert compiled(*wrong) == 2.0
    else:
        with pytest.raises(TypeError):
            compiled(*wrong)
    assert compiled(x).tolist() == [2.0, 4.0]


@pytest.mark.parametrize("count", [2, 3, 7])
def test_arguments_that_are_one_tensor(count):
    def written(*tensors):
        for number, each in enumerate(tensors):
            each.add_(number + 1.0)
        return sum(each.sum() for each in tensors)

    compiled = compile(written)
    for _ in range(4):
        compiled(*[tensor([1.0]) for _ in range(count)])
    for one, other in itertools.combinations(range(count), 2):
        results = []
        for function in (written, compiled):
            tensors = [tensor([float(i)]) for i in range(count)]
            tensors[other] = tensors[one]
            results.append([function(*tensors).item(), *[each.item() for each in tensors]])
        assert results[0] == results[1]


def test_floats_of_every_value():
    compiled = compile(lambda x, a, b: x * a + b)
    x = tensor([1.0, -2.0], dtype=pullback.float64)
    for a, b in itertools.product([0.0, -0.0, 1.5, 1e308, -1e-310, float("inf"), float("nan")], repeat=2):
        for _ in range(2):
            with np.errstate(all="ignore"):
                expected = x.numpy() * a + b
            np.testing.assert_array_equal(compiled(x, a, b).numpy(), expected)


def test_a_float_that_is_written_nowhere_stays():
    compiled = compile(lambda x, a: x.mul_(a))
    value = 1.5
    for _ in range(4):
        compiled(tensor([2.0]), value)
    assert value == 1.5
    assert value.hex() == (3.0 / 2).hex()
