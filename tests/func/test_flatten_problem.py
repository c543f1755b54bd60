"""flatten_problem: nested parameters as one vector, against SciPy's optimizers and against derivatives by hand."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import pytest

import pullback
from pullback import flatten_problem


@dataclasses.dataclass
class Layer:
    weight: Any
    bias: Any


class Pair(NamedTuple):
    first: Any
    second: Any


def params():
    """Every container and every kind of leaf."""
    rng = np.random.default_rng(0)
    return {
        "layer": [Layer(pullback.from_numpy(rng.standard_normal((2, 3))), None), Layer(rng.standard_normal(3), 0.5)],
        "pair": Pair(np.float32(1.5), pullback.tensor([0.25, -2.0])),
        "none": pullback.zeros(0, 3),
    }


def loss(p):
    """A sum of one term for each leaf, and of products of leaves."""
    first, second = p["layer"]
    assert first.bias is None
    h = (first.weight @ second.weight + second.bias).tanh()
    return (h * p["pair"].second).sum() + (p["pair"].first ** 4 + second.weight.exp().sum()) + p["none"].sum()


def numeric(function, x, step=1e-6):
    columns = [(function(x + step * e) - function(x - step * e)) / (2 * step) for e in np.eye(x.size)]
    return np.stack(columns, -1)


def doubled(p):
    """The same parameters in double precision, for finite differences."""
    pair = Pair(np.float64(p["pair"].first), p["pair"].second.to(pullback.float64))
    return {**p, "pair": pair}


def test_the_vector_holds_the_leaves_in_order():
    p = params()
    _, x0, _ = flatten_problem(loss, p)
    first, second = p["layer"]
    expected = [*first.weight.numpy().ravel(), *second.weight, 0.5, 1.5, 0.25, -2.0]
    assert x0.dtype == np.float64
    np.testing.assert_array_equal(x0, expected)


def test_unflatten_gives_each_leaf_its_kind_and_dtype_again():
    p = params()
    _, x0, unflatten = flatten_problem(loss, p)
    found = unflatten(x0 + 1)
    assert list(found) == list(p)
    assert (type(found["layer"]), type(found["layer"][0]), type(found["pair"])) == (list, Layer, Pair)
    first, second = found["layer"]
    assert first.bias is None
    assert type(second.bias) is float and second.bias == 1.5
    assert pullback.is_tensor(first.weight) and first.weight.dtype == pullback.float64
    assert type(second.weight) is np.ndarray
    assert type(found["pair"].first) is np.float32
    assert found["pair"].second.dtype == pullback.float32
    assert tuple(found["none"].shape) == (0, 3)
    np.testing.assert_array_equal(first.weight.numpy(), p["layer"][0].weight.numpy() + 1)
    assert not first.weight.requires_grad


def test_unflatten_gives_memory_of_its_own():
    _, x0, unflatten = flatten_problem(lambda p: p[0].sum(), [np.zeros(3)])
    unflatten(x0)[0][:] = 7
    np.testing.assert_array_equal(x0, 0)


def test_values_and_derivatives():
    p = doubled(params())
    fun, x0, _ = flatten_problem(loss, p)
    value, gradient = fun(x0)
    assert type(value) is float and gradient.dtype == np.float64
    assert value == fun.value(x0)
    first, second = p["layer"]
    h = np.tanh(first.weight.numpy() @ second.weight + second.bias)
    np.testing.assert_allclose(value, h @ p["pair"].second.numpy() + 1.5**4 + np.exp(second.weight).sum(), rtol=1e-14)
    np.testing.assert_allclose(gradient, numeric(fun.value, x0), rtol=1e-7, atol=1e-8)
    np.testing.assert_array_equal(fun.grad(x0), gradient)
    hess = fun.hess(x0)
    np.testing.assert_allclose(hess, numeric(fun.grad, x0), rtol=1e-6, atol=1e-7)
    v = np.random.default_rng(1).standard_normal(x0.size)
    np.testing.assert_allclose(fun.hessp(x0, v), hess @ v, rtol=1e-12, atol=1e-13)


def test_single_precision_leaves_are_computed_in_single_precision():
    seen = []

    def f(p):
        seen.append(p.dtype)
        return (p * p).sum()

    fun, x0, _ = flatten_problem(f, pullback.tensor([0.1, 0.2]))
    value, gradient = fun(x0)
    assert seen == [pullback.float32]
    a = np.array([0.1, 0.2], np.float32)
    assert value == float((a * a).sum())
    assert gradient.dtype == np.float64


def test_hessp_follows_x_and_further_arguments():
    fun, x0, _ = flatten_problem(lambda p, scale: scale * (p**3).sum(), np.array([1.0, 2.0]))
    one = np.ones(2)
    for x in (x0, x0 + 1, x0):
        for scale in (1.0, 2.0):
            np.testing.assert_allclose(fun.hessp(x, one, scale), scale * 6 * x)
    x = x0.copy()
    fun.hessp(x, one, 1.0)
    x += 5
    np.testing.assert_allclose(fun.hessp(x, one, 1.0), 6 * x)


def test_hessp_computes_the_function_once_for_one_x_and_anew_after_each_call():
    calls = []

    def f(p):
        calls.append(1)
        return (p**3).sum()

    fun, x0, _ = flatten_problem(f, np.array([1.0, 2.0]))
    for p in np.eye(2):
        fun.hessp(x0, p)
    assert len(calls) == 1
    fun(x0)
    fun.hessp(x0, np.ones(2))
    assert len(calls) == 3


def test_a_linear_function_has_a_hessian_of_zeros():
    fun, x0, _ = flatten_problem(lambda p: 3 * p[0] + p[1].sum(), (1.0, np.ones(2)))
    np.testing.assert_array_equal(fun.hess(x0), np.zeros((3, 3)))
    np.testing.assert_array_equal(fun.hessp(x0, np.ones(3)), np.zeros(3))
    np.testing.assert_array_equal(fun.grad(x0), [3, 1, 1])


def test_derivatives_are_there_inside_no_grad():
    fun, x0, _ = flatten_problem(lambda p: (p**2).sum(), np.arange(3.0))
    with pullback.no_grad():
        np.testing.assert_array_equal(fun(x0)[1], 2 * x0)
        np.testing.assert_array_equal(fun.hess(x0), 2 * np.eye(3))
        np.testing.assert_array_equal(fun.hessp(x0, np.ones(3)), [2, 2, 2])


def rosenbrock(p):
    x = pullback.cat([p["head"].reshape(1), p["tail"]])
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "Newton-CG", "trust-krylov", "trust-ncg", "trust-exact"])
def test_scipy_minimises(method):
    optimize = pytest.importorskip("scipy.optimize")
    fun, x0, unflatten = flatten_problem(rosenbrock, {"head": 1.3, "tail": np.array([0.7, 0.8, 1.9])})
    second = {"hess": fun.hess} if method == "trust-exact" else {"hessp": fun.hessp} if "BFGS" not in method else {}
    result = optimize.minimize(fun, x0, jac=True, method=method, options={"maxiter": 500}, **second)
    assert result.success, result.message
    found = unflatten(result.x)
    np.testing.assert_allclose([found["head"], *found["tail"]], 1, atol=1e-4)


def test_scipy_solves_least_squares():
    optimize = pytest.importorskip("scipy.optimize")
    t = np.linspace(0, 1, 20)

    def residuals(p):
        return p["height"] * pullback.exp(-p["rate"] * pullback.from_numpy(t)) - pullback.from_numpy(3 * np.exp(-2 * t))

    fun, x0, unflatten = flatten_problem(residuals, {"height": 1.0, "rate": 1.0})
    np.testing.assert_allclose(fun.jacobian(x0), numeric(fun.residuals, x0), rtol=1e-7, atol=1e-8)
    result = optimize.least_squares(fun.residuals, x0, jac=fun.jacobian)
    found = unflatten(result.x)
    np.testing.assert_allclose([found["height"], found["rate"]], [3, 2], rtol=1e-8)


def test_what_the_function_raises_passes_through():
    class StoppedError(Exception):
        pass

    def f(p):
        raise StoppedError("enough")

    fun, x0, _ = flatten_problem(f, 1.0)
    for call in (fun, fun.value, fun.grad, fun.hess, fun.residuals, fun.jacobian):
        with pytest.raises(StoppedError, match="enough"):
            call(x0)


@pytest.mark.parametrize(
    ("given", "path", "error"),
    [
        ({"layer": [np.arange(3)]}, r"params\['layer'\]\[0\]", TypeError),
        ((1.0, 2), r"params\[1\]", TypeError),
        ({"a": "text"}, r"params\['a'\] is .*: parameters are tensors, arrays and floats", TypeError),
        ({"a": True}, r"params\['a'\]", TypeError),
        ([Layer(pullback.tensor([1, 2]), None)], r"params\[0\]\.weight", TypeError),
        ([1 + 2j], r"params\[0\]", TypeError),
        ([np.array([1 + 2j])], r"params\[0\]", TypeError),
        ([np.array([1.0, np.nan])], r"params\[0\] is NaN", FloatingPointError),
        ([], "no parameters", ValueError),
        ({"a": None}, "no parameters", ValueError),
    ],
)
def test_bad_parameters_are_named(given, path, error):
    with pytest.raises(error, match=path):
        flatten_problem(lambda p: p, given)


@pytest.mark.parametrize("call", ["__call__", "value", "grad", "hess"])
@pytest.mark.parametrize(
    ("f", "error", "text"),
    [
        (lambda p: None, TypeError, "must return a Tensor, not None"),
        (lambda p: 1.0, TypeError, "must return a Tensor, not a float"),
        (lambda p: p * 2, RuntimeError, "should contain a single element"),
        (lambda p: (p * 2).sum().long(), TypeError, "floating point"),
    ],
)
def test_bad_results_are_named(f, error, text, call):
    fun, x0, _ = flatten_problem(f, np.ones(2))
    with pytest.raises(error, match=text):
        getattr(fun, call)(x0)


def test_a_function_of_no_parameter_is_refused():
    fun, x0, _ = flatten_problem(lambda p: pullback.tensor(1.0), np.ones(2))
    for call in (fun, fun.grad, fun.hess, fun.jacobian):
        with pytest.raises(RuntimeError, match="does not require grad"):
            call(x0)
    fun, x0, _ = flatten_problem(lambda p: p.detach().sum(), np.ones(2))
    with pytest.raises(RuntimeError, match="cut off by detach"):
        fun(x0)


def test_nan_is_refused_with_the_leaf_or_handed_over():
    def f(p):
        return p["good"].sum() + (p["bad"][0].sqrt() * 0).sum()

    given = {"good": np.ones(3), "bad": [np.array([1.0, 4.0])]}
    fun, x0, _ = flatten_problem(f, given)
    x = x0.copy()
    x[-1] = -1
    with pytest.raises(FloatingPointError, match="the value is NaN"):
        fun.value(x)
    x[-1] = 0
    with pytest.raises(FloatingPointError, match=r"the gradient is NaN at params\['bad'\]\[0\]\[1\]"):
        fun(x)
    fun, x0, _ = flatten_problem(f, given, allow_nan=True)
    np.testing.assert_array_equal(fun(x)[1], [1, 1, 1, 0, np.nan])


def test_infinities_are_handed_over():
    fun, _, _ = flatten_problem(lambda p: -p.log(), 1.0)
    assert fun.value(np.zeros(1)) == np.inf


@pytest.mark.parametrize("x", [np.zeros(3), np.zeros((2, 1)), 1.0])
def test_a_vector_of_another_length_is_refused(x):
    fun, x0, unflatten = flatten_problem(lambda p: p.sum(), np.ones(2))
    for call in (fun, fun.value, fun.hess, unflatten):
        with pytest.raises(ValueError, match="2 elements"):
            call(x)
    with pytest.raises(ValueError, match="p has shape"):
        fun.hessp(x0, x)


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match="f must be a function"):
        flatten_problem(3, 1.0)
