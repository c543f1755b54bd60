"""Arrays, floats and lists of numbers where transforms take tensors; value_and_grad, which speaks NumPy."""

import math
import warnings

import numpy as np
import pytest

import pullback as pb
from pullback import func
from pullback.autograd import functional

scipy = pytest.importorskip("scipy")
scipy.integrate = pytest.importorskip("scipy.integrate")

VALUES = {
    "array": np.array([1.0, 2.0]),
    "array of float32": np.array([1.0, 2.0], np.float32),
    "list": [1.0, 2.0],
    "mixed list": [1, 2.0],
    "list of NumPy's numbers": [np.float64(1.0), np.float64(2.0)],
}


def cubes(x):
    return (x**3).sum()


def triples(x):
    return x**3


FORMS = {
    "grad": func.grad(cubes),
    "grad_and_value": func.grad_and_value(cubes),
    "vjp": lambda x: func.vjp(cubes, x)[0],
    "pull": lambda x: func.vjp(triples, x)[1](x),
    "jvp": lambda x: func.jvp(triples, (x,), (x,)),
    "linearize": lambda x: func.linearize(triples, x)[1](x),
    "jacrev": func.jacrev(triples),
    "jacfwd": func.jacfwd(triples),
    "hessian": func.hessian(cubes),
    "vmap": func.vmap(triples),
    "functional.jacobian": lambda x: functional.jacobian(triples, x),
    "functional.hessian": lambda x: functional.hessian(cubes, x),
    "functional.vjp": lambda x: functional.vjp(triples, x, x),
    "functional.jvp": lambda x: functional.jvp(triples, x, x),
    "functional.hvp": lambda x: functional.hvp(cubes, x, x),
    "functional.vhp": lambda x: functional.vhp(cubes, (x,), (x,)),
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_what_stands_for_a_tensor_gives_what_the_tensor_gives(form, value):
    def parts(result):
        return [part for each in result for part in parts(each)] if isinstance(result, tuple) else [result]

    for found, expected in zip(parts(form(value)), parts(form(pb.tensor(value))), strict=True):
        assert type(found) is pb.Tensor
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found.numpy(), expected.numpy())


def test_containers_keep_their_structure():
    params = {"w": np.ones(2), "b": 2.0, "rows": [[1.0, 2.0], [3.0, 4.0]], "parts": [np.ones(1), pb.ones(1)]}
    gradient = func.grad(lambda p: p["w"].sum() * p["b"] + p["rows"].sum() + 3 * p["parts"][1].sum())(params)
    assert gradient["w"].tolist() == [2.0, 2.0]
    assert (gradient["b"].item(), gradient["b"].dtype) == (2.0, pb.float32)
    assert gradient["rows"].tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert [part.tolist() for part in gradient["parts"]] == [[0.0], [3.0]]


def test_the_array_is_not_shared():
    x = np.array([1.0, 2.0])
    _, pull = func.vjp(lambda t: t * t, x)
    x[:] = 100.0
    assert pull(np.ones(2))[0].tolist() == [2.0, 4.0]
    assert func.vmap(lambda t: t.mul_(2))(x).tolist() == [200.0, 200.0]
    assert x.tolist() == [100.0, 100.0]


def test_vmap_converts_only_what_has_a_batch_axis():
    rows = np.arange(6.0).reshape(3, 2)
    assert func.vmap(lambda x, dims: x.sum(dims), (0, None))(rows, [0]).tolist() == [1.0, 5.0, 9.0]
    assert func.vmap(lambda x, c: x.sum() * c[1], (0, [None, None]))(rows, [2, 3]).tolist() == [3.0, 15.0, 27.0]
    assert func.vmap(lambda i: i + 1)([1, 2]).tolist() == [2, 3]


@pytest.mark.parametrize("value", [3, [1, 2], np.array([1, 2]), np.int64(3), True, pb.tensor([1, 2])])
def test_integers_are_refused_with_what_to_write(value):
    for refused in (
        lambda: func.grad(cubes)(value),
        lambda: func.vjp(cubes, value),
        lambda: func.jacrev(cubes)(value),
        lambda: func.jacfwd(cubes)(value),
        lambda: func.jvp(cubes, (value,), (value,)),
        lambda: pb.value_and_grad(cubes)(value),
    ):
        with pytest.raises((RuntimeError, ValueError), match=r"floating point.*Write 1\.0 for 1; x\.astype\(float\)"):
            refused()


@pytest.mark.parametrize("value", ["text", None, {1, 2}, object()])
def test_other_things_are_refused_by_type(value):
    with pytest.raises(ValueError, match="must be Tensor, got <class"):
        func.grad(cubes)(value)


def test_value_and_grad_gives_numpy():
    value, gradient = pb.value_and_grad(cubes)(np.array([1.0, 2.0]))
    assert type(value) is float
    assert type(gradient) is np.ndarray
    assert (value, gradient.tolist(), gradient.dtype) == (9.0, [3.0, 12.0], np.float64)
    assert pb.value_and_grad(cubes)(np.ones(2, np.float32))[1].dtype == np.float32
    assert pb.value_and_grad(lambda x: x**3)(0.1) == pytest.approx((0.1**3, 3 * 0.1**2), rel=1e-15)
    assert pb.value_and_grad(cubes)([0.1, 0.2])[1].dtype == np.float64
    assert func.value_and_grad is pb.value_and_grad


def test_value_and_grad_of_a_compiled_function_is_one_program(capsys):
    def f(x, k, data):
        print("recorded")
        return (k * x * data).sin().sum()

    data = pb.tensor(np.arange(3.0))
    compiled = pb.value_and_grad(pb.compile(f))
    for x in (np.ones(3), [0.5, 1.0, 2.0], np.linspace(-1, 1, 3)):
        value, gradient = compiled(x, 2.0, data)
        angles = 2 * np.asarray(x) * np.arange(3.0)
        assert type(value) is float
        assert type(gradient) is np.ndarray
        assert value == pytest.approx(np.sin(angles).sum(), abs=1e-14)
        assert gradient == pytest.approx(2 * np.arange(3) * np.cos(angles), abs=1e-14)
    assert capsys.readouterr().out == "recorded\n"
    with pytest.raises(RuntimeError, match="does not depend on the arguments"):
        pb.value_and_grad(pb.compile(lambda x: pb.ones(())))(np.ones(2))
    assert pb.value_and_grad(pb.compile(lambda x: x**3))(2.0) == (8.0, 12.0)


def test_value_and_grad_of_several_and_of_nested_arguments():
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    value, (by_y, by_x) = pb.value_and_grad(lambda x, k, y: (x * y * k).sum(), (2, 0))(x, 10, y)
    assert (value, by_y.tolist(), by_x.tolist()) == (110.0, [10.0, 20.0], [30.0, 40.0])
    value, gradient = pb.value_and_grad(lambda p, data: (p["w"] @ data).sum() + p["b"])(
        {"w": x, "b": 0.5}, data=np.eye(2)
    )
    assert (value, gradient["w"].tolist(), gradient["b"]) == (3.5, [1.0, 1.0], 1.0)
    # not to depend on one of them is no mistake
    assert pb.value_and_grad(lambda x, y: x.sum(), (0, 1))(x, y)[1][1].tolist() == [0.0, 0.0]


def test_scipy_minimizes_it():
    from scipy.optimize import minimize, rosen, rosen_der

    def rosenbrock(x, a):
        return ((1 - x[:-1]) ** 2 + a * (x[1:] - x[:-1] ** 2) ** 2).sum()

    found = minimize(pb.value_and_grad(rosenbrock), [0, 0, 0], args=(100.0,), jac=True)
    assert found.success
    np.testing.assert_allclose(found.x, 1, atol=1e-5)
    x = np.array([0.3, -1.2, 2.0])
    value, gradient = pb.value_and_grad(rosenbrock)(x, 100.0)
    np.testing.assert_allclose(value, rosen(x), rtol=1e-14)
    np.testing.assert_allclose(gradient, rosen_der(x), rtol=1e-13)


def test_a_constant_is_refused():
    w = pb.ones(2, requires_grad=True)
    for f, reason in {
        lambda x: 3.0: "to return a Tensor, got <class 'float'>. Leave out",
        lambda x: np.sum(np.ones(2)): "to return a Tensor, got <class 'numpy.float64'>. Leave out",
        lambda x: x.detach().sum(): "does not depend on the arguments to differentiate: it was cut off by detach",
        lambda x: pb.ones(2).sum(): "does not depend on the arguments to differentiate: it was computed from constants",
        lambda x: w.sum(): "does not depend on the arguments to differentiate: it was computed without them",
    }.items():
        with pytest.raises(RuntimeError) as refused:
            pb.value_and_grad(f)(np.ones(2))
        assert reason in str(refused.value)


def test_inside_another_transform_it_is_refused():
    inside = pb.value_and_grad(lambda x, a: (a * x).sum())
    with pytest.raises(NotImplementedError, match="use grad_and_value inside of it"):
        func.vmap(lambda a: inside(np.ones(2), a)[1])(np.ones(3))
    with pytest.raises(NotImplementedError, match="use grad_and_value inside of it"):
        func.grad(lambda a: inside(np.ones(2), a)[0])(2.0)


ESCAPES = {
    "math.exp": lambda t: math.exp(t[0]) * t[1],
    "item": lambda t: t[0].item() * t[1],
    "float": lambda t: float(t[0]) * t[1],
    "int": lambda t: int(t[0]) * t[1],
    "write": lambda t: into_array(t[0]) * t[1],
    "initial": lambda t: np.sum(np.ones(2), initial=t[0]) * t[1],
    "left": lambda t: np.interp(-1.0, [0.0, 1.0], [0.0, 1.0], left=t[0]) * t[1],
    "quad": lambda t: scipy.integrate.quad(lambda s: s * t[0], 0, 1)[0] * t[1],
}


def into_array(number):
    a = np.zeros(1)
    a[0] = number
    return a[0]


@pytest.mark.parametrize("f", ESCAPES.values(), ids=ESCAPES)
def test_a_number_that_leaves_is_an_error_with_its_line(f):
    x = np.array([1.5, 2.5])
    for name, function in (("value_and_grad", pb.value_and_grad(f)), ("flatten_problem", pb.flatten_problem(f, x).fun)):
        with pytest.raises(RuntimeError, match=f"^{name}: .* its gradient would be lost") as refused:
            function(x)
        assert ".py:" in str(refused.value)
    if f is ESCAPES["math.exp"]:
        assert "math.exp at test_arrays_as_arguments.py" in str(refused.value)
        assert "write pullback.exp for math.exp" in str(refused.value)
    if f in (ESCAPES["math.exp"], ESCAPES["float"]):
        for function in (
            pb.value_and_grad(f, allow_escapes=True),
            pb.flatten_problem(f, x, allow_escapes=True).fun,
        ):
            with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True"):
                assert function(x)[1][0] == 0


def test_numbers_that_are_let_go_without_a_word():
    """What the docs of allow_escapes say: conversions that Python asks for warn, `item` and `tolist` do not."""
    for f in (ESCAPES["item"], lambda t: t.tolist()[0] * t[1]):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert pb.value_and_grad(f, allow_escapes=True)(np.array([1.5, 2.5]))[1][0] == 0
    with pytest.raises(RuntimeError) as refused:
        pb.value_and_grad(ESCAPES["item"])(np.array([1.5, 2.5]))
    assert str(refused.value).endswith("; allow_escapes=True lets it go")


def test_questions_leave_a_function_as_they_are():
    def f(t):
        if t[0] > 0 and not math.isnan(t[1]) and math.floor(t[0]) == 1:
            return t[int(t.argmax())] * t[0]
        return t.sum()

    assert pb.value_and_grad(f)(np.array([1.5, 2.5]))[1].tolist() == [2.5, 1.5]


def test_an_integral_of_vectors_has_the_right_gradient():
    x = pb.tensor([1.0, 2.0], dtype=pb.float64, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scipy.integrate.quad_vec(lambda t: np.exp(-x * t), 0.0, 1.0)[0].sum().backward()
    right = (np.exp(-x.detach().numpy()) * (x.detach().numpy() + 1) - 1) / x.detach().numpy() ** 2
    np.testing.assert_allclose(x.grad, right, rtol=1e-9)
