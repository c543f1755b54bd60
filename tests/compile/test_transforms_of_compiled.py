"""Transforms of compiled functions: the values that they have of the functions themselves, by one program."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import pullback
from pullback import compile, func, tensor, value_and_grad
from pullback.compile import CaptureError, Compiled


def scalar(x, w):
    """A number of two vectors."""
    return ((x * w).tanh() ** 2).sum() + (x**3).sum()


def vector(x, w):
    """As many numbers as there are in a vector."""
    return (x * w).sin() * x.sum()


def with_aux(x, w):
    return scalar(x, w), x * w


TRANSFORMS = {
    "grad": (func.grad, scalar),
    "grad by both": (functools.partial(func.grad, argnums=(0, 1)), scalar),
    "grad with aux": (functools.partial(func.grad, has_aux=True), with_aux),
    "grad_and_value": (func.grad_and_value, scalar),
    "jacrev": (func.jacrev, vector),
    "jacrev in chunks": (functools.partial(func.jacrev, chunk_size=2), vector),
    "jacfwd": (func.jacfwd, vector),
    "jacfwd by the second": (functools.partial(func.jacfwd, argnums=1), vector),
    "hessian": (func.hessian, scalar),
    "laplacian": (func.laplacian, scalar),
    "vmap": (func.vmap, scalar),
    "vmap of one": (functools.partial(func.vmap, in_dims=(0, None), out_dims=0), vector),
    "vmap of grad": (lambda f: func.vmap(func.grad(f)), scalar),
    "grad of grad": (lambda f: func.grad(lambda x, w: func.grad(f)(x, w).sum()), scalar),
    "value_and_grad": (value_and_grad, scalar),
}


def given(name):
    batched = name.startswith("vmap")
    x = tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]]).double() if batched else tensor([0.5, -1.0, 2.0]).double()
    w = x * 2 + 1
    return (x, w[0]) if name == "vmap of one" else (x, w)


def numbers(result):
    """The numbers in a result, which may be nested in tuples."""
    if isinstance(result, tuple):
        return [each for part in result for each in numbers(part)]
    return [np.asarray(result)]


@pytest.mark.parametrize("name", TRANSFORMS)
def test_values(name):
    transform, function = TRANSFORMS[name]
    args = given(name)
    derived, expected = transform(compile(function)), transform(function)(*args)
    for _ in range(4):
        found = derived(*args)
        for one, other in zip(numbers(found), numbers(expected), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


PLACES = {"grad by both": (0, 1), "jacfwd by the second": (1,), "vmap": (0, 1), "vmap of grad": (0, 1)}
"""The arguments of which arrays and lists stand for tensors, where that is not the first alone."""


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("kind", [np.asarray, lambda x: np.asarray(x).tolist()], ids=["arrays", "lists"])
def test_values_for_what_stands_for_tensors(name, kind):
    transform, function = TRANSFORMS[name]
    derived, plain, args = transform(compile(function)), transform(function), given(name)
    for scale in (1, 1, 2, 3):
        scaled = [arg * scale for arg in args]
        for place in PLACES.get(name, (0,)):
            scaled[place] = kind(scaled[place])
        for one, other in zip(numbers(derived(*scaled)), numbers(plain(*scaled)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)


def test_one_program_for_a_transform_that_is_written_at_each_call():
    compiled = compile(scalar)
    args = given("grad")
    for _ in range(5):
        func.grad(compiled)(*args)
        func.vmap(compiled, in_dims=(0, None))(tensor([[1.0, 2.0, 3.0]]), args[1])
    assert func.grad(compiled) is func.grad(compiled)
    assert func.grad(compiled) is not func.grad(compiled, argnums=1)
    assert isinstance(func.grad(compiled), Compiled)
    assert sum(count for count, _ in func.grad(compiled).report().records) == 1


def test_options_that_are_equal_and_mean_something_else():
    compiled = compile(scalar)
    args = given("grad")
    func.grad(compiled, argnums=1)(*args)
    with pytest.raises(RuntimeError, match="argnums must be int"):
        func.grad(compiled, argnums=True)(*args)


def test_options_that_can_change():
    compiled = compile(lambda a, b: a["x"] * b)
    dims = {"x": 0}
    batch = {"x": tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])}
    assert func.vmap(compiled, in_dims=(dims, None))(batch, 2.0).shape == (3, 2)
    dims["x"] = 1
    assert func.vmap(compiled, in_dims=(dims, None))(batch, 2.0).shape == (2, 3)


def test_a_derivative_that_is_tracked_outside():
    args = [each.requires_grad_() for each in given("grad")]
    second = []
    for function in (scalar, compile(scalar)):
        gradient = func.grad(function)(*args)
        (gradient**2).sum().backward()
        second.append([each.grad.clone() for each in args])
        for each in args:
            each.grad = None
    for one, other in zip(*second, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-12)


def test_inside_other_transforms_and_functions():
    compiled = compile(scalar)
    x, w = given("grad")
    outer = compile(lambda x, w: func.grad(compiled)(x, w) * 2)
    expected = 2 * func.grad(scalar)(x, w)
    for _ in range(3):
        np.testing.assert_allclose(outer(x, w).numpy(), expected.numpy(), rtol=1e-12)
    twice = func.jacfwd(lambda x: func.grad(compiled)(x, w))(x)
    np.testing.assert_allclose(twice.numpy(), func.hessian(scalar)(x, w).numpy(), rtol=1e-12)


def test_state_is_read_anew():
    scale = {"by": tensor(2.0)}
    gradient = func.grad(compile(lambda x: (x * x * scale["by"]).sum()))
    x = tensor([1.0, 2.0])
    for by in (2.0, 3.0, 3.0, 4.0):
        scale["by"] = tensor(by)
        assert gradient(x).tolist() == [2 * by, 4 * by]


def test_refusals_are_those_of_the_transform():
    compiled = compile(vector)
    with pytest.raises(RuntimeError, match=r"Expected f.* to return a scalar"):
        func.grad(compiled)(*given("grad"))
    with pullback.no_grad():
        assert func.jacrev(compiled)(*given("jacrev")).shape == (3, 3)


@pytest.mark.filterwarnings("ignore:compile", "ignore:Converting")
@pytest.mark.parametrize(
    "transform", [func.grad, func.jacrev, func.jacfwd, func.hessian, func.laplacian, func.grad_and_value]
)
def test_a_function_that_asks_for_values_is_transformed_uncompiled(transform):
    def function(x):
        return (x**2).sum() * x.sum().item() if float(x.sum()) > 0 else (x**3).sum()

    compiled = compile(function)
    for numbers in ([1.0, 2.0], [-1.0, -2.0], [1.0, 2.0]):
        x = pullback.tensor(numbers)
        assert str(transform(compiled)(x)) == str(transform(function)(x))
    with pytest.raises(CaptureError):
        compiled(x)
    with pytest.raises(CaptureError, match="fullgraph"):
        transform(compile(function, fullgraph=True))(x)
