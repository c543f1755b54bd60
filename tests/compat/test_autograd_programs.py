"""The stand-in for HIPS autograd: its operators, its NumPy, its rules for functions of one's own, on plain arrays."""

import os
import subprocess
import sys
import warnings

import numpy as onp  # noqa: ICN001  # autograd's np is the one under test
import pytest

from pullback.compat import autograd
from pullback.compat.autograd import facade

np = facade.module("autograd.numpy")
extend = facade.module("autograd.extend")
tracer = facade.module("autograd.tracer")
misc = facade.module("autograd.misc")
check_grads = facade.module("autograd.test_util").check_grads
combo_check = facade.module("autograd.test_util").combo_check

VECTOR = onp.array([0.3, -0.8, 1.7])
MATRIX = onp.array([[0.5, -1.0, 0.2], [1.5, 0.1, -0.7]])


@pytest.fixture(autouse=True)
def _seeded():
    onp.random.seed(0)


def close(got, want, **tolerance):
    onp.testing.assert_allclose(got, want, **{"rtol": 1e-10, "atol": 1e-12} | tolerance)


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


# What comes in and goes out


def test_gradients_are_plain_float64():
    g = autograd.grad(lambda x: np.sum(np.sin(x) * x))(VECTOR)
    assert type(g) is onp.ndarray
    assert g.dtype == onp.float64
    close(g, onp.sin(VECTOR) + VECTOR * onp.cos(VECTOR))
    scalar = autograd.grad(lambda x: x**3)(2.0)
    assert type(scalar) is onp.float64
    assert scalar == 12


@pytest.mark.parametrize(
    ("a", "b", "close"),
    [
        (0.0, 0.9e-6, True),  # less than 1e-6
        (0.0, 1.1e-6, False),
        (1.0, 1.0 + 1.9e-6, True),  # less than 1e-6 of their sum
        (1.0, 1.0 + 2.1e-6, False),
        (-3e5, -3e5 - 0.5, True),
        (-3e5, -3e5 - 0.7, False),
        (float("nan"), 0.0, False),
    ],
)
def test_numbers_that_checks_take_for_equal(a, b, close):
    scalar_close = facade.module("autograd.test_util").scalar_close
    assert scalar_close(a, b) is scalar_close(b, a) is close


def test_gradients_belong_to_the_caller():
    constant = onp.ones(3)
    g = autograd.grad(lambda x: np.sum(x * constant) + np.sum(x))(VECTOR)
    g += 1
    assert constant.tolist() == [1, 1, 1]
    close(g, [3, 3, 3])


@pytest.mark.parametrize("dtype", [onp.float16, onp.float32, onp.float64, onp.complex64, onp.complex128])
def test_gradients_have_the_dtype_of_the_argument(dtype):
    g = autograd.grad(lambda x: np.real(np.sum(x * x)))(VECTOR.astype(dtype))
    assert g.dtype == dtype


def test_what_does_not_vary_is_plain_inside_the_function():
    def f(x):
        assert isinstance(x > 0, onp.ndarray)
        assert type(np.argmax(x)) is onp.int64
        assert isinstance(np.floor(x), onp.ndarray)
        assert x.shape == (3,)
        assert x.dtype == onp.float64
        assert (x.ndim, x.size, len(x)) == (1, 3, 3)
        assert tracer.isbox(x)
        assert not tracer.isbox(tracer.getval(x))
        return np.sum(np.where(x > 0, x, 0) * np.floor(x))

    close(autograd.grad(f)(VECTOR), onp.where(VECTOR > 0, onp.floor(VECTOR), 0))


def test_containers_are_arguments():
    def f(p):
        assert autograd.isinstance(p, dict)
        return np.sum(p["w"] @ p["layers"][0]) * p["b"] + sum(np.sum(x) for x in p["layers"])

    p = {"w": MATRIX, "layers": [VECTOR, onp.ones(2)], "b": 2.0}
    g = autograd.grad(f)(p)
    close(g["w"], 2 * onp.tile(VECTOR, (2, 1)))
    close(g["layers"][0], 2 * MATRIX.sum(0) + 1)
    close(g["layers"][1], onp.ones(2))
    close(g["b"], (MATRIX @ VECTOR).sum())
    assert list(g) == list(p)
    check_grads(f)(p)


def test_integers_count_as_floats():
    close(autograd.grad(lambda x: np.sum(x**2))(onp.array([1, 2])), [2.0, 4.0])


@pytest.mark.parametrize("value", ["text", None, True, onp.array(["a"]), onp.array([True])])
def test_what_cannot_be_differentiated_by(value):
    with pytest.raises(TypeError, match=r"Can.t differentiate w\.r\.t"):
        autograd.grad(lambda x: x)(value)


def test_a_leaf_that_cannot_be_is_named():
    with pytest.raises(TypeError, match=r"class 'str'.*x\['name'\]"):
        autograd.grad(lambda p: p["x"])({"x": 1.0, "name": "a"})


def test_transposes_and_products_of_several_matrices():
    linalg, several = facade.module("autograd.numpy.linalg"), onp.arange(12.0).reshape(2, 2, 3)
    close(linalg.T(several), several.transpose(0, 2, 1))
    close(autograd.grad(lambda x: np.sum(linalg.T(x)[:, 2]))(several), onp.broadcast_to([0.0, 0.0, 1.0], (2, 2, 3)))
    close(linalg._dot(several, linalg.T(several)), several @ several.transpose(0, 2, 1))


def test_an_output_that_does_not_depend_on_the_input_warns():
    with pytest.warns(UserWarning, match="Output seems independent of input"):
        assert autograd.grad(lambda x: 1.0)(2.0) == 0


# Operators


def test_argnum():
    f = lambda x, y, z=1.0: x * y**2 * z
    assert autograd.grad(f, 1)(3.0, 2.0, z=10.0) == 120
    assert autograd.grad(f, (0, 1))(3.0, 2.0) == (4.0, 12.0)
    assert autograd.grad(f, [1, 0])(3.0, 2.0) == (12.0, 4.0)
    assert autograd.grad_named(f, "y")(3.0, 2.0) == 12
    assert autograd.grad(f, 1).__name__ == "grad_of_<lambda>_wrt_argnum_1"
    with pytest.raises(TypeError, match="by argument number 3, and the call has 2 positional arguments"):
        autograd.grad(f, 3)(3.0, 2.0)
    with pytest.raises(TypeError, match="argnum must be an int"):
        autograd.grad(f, "x")
    with pytest.raises(TypeError, match="takes a function first"):
        autograd.grad(3.0)
    with pytest.raises(ValueError, match="has no argument 'w'"):
        autograd.grad_named(f, "w")


def test_value_and_grad():
    value, g = autograd.value_and_grad(rosenbrock)(onp.array([0.5, 0.5]))
    assert (type(value), value) == (onp.float64, 6.5)
    close(g, [-51.0, 50.0])


@pytest.mark.parametrize("operator", [autograd.grad, autograd.value_and_grad])
@pytest.mark.parametrize("f", [lambda x: x * 2, lambda x: np.sum(x) * 1j, lambda x: (x[0], x[1])])
def test_gradients_of_real_numbers_alone(operator, f):
    with pytest.raises(TypeError, match=r"scalar-output functions\. Try jacobian"):
        operator(f)(VECTOR)


def test_jacobians_and_hessians():
    f = lambda x: np.array([x[0] * x[1], np.sin(x[2]), 3.0, x @ x])
    x = VECTOR
    want = [[x[1], x[0], 0], [0, 0, onp.cos(x[2])], [0, 0, 0], 2 * x]
    close(autograd.jacobian(f)(x), want)
    close(autograd.hessian(rosenbrock)(onp.array([0.5, 0.5])), [[102.0, -200.0], [-200.0, 200.0]])
    assert autograd.jacobian(lambda x: np.outer(x, x))(x).shape == (3, 3, 3)
    assert autograd.hessian(lambda m: np.sum(m**3))(MATRIX).shape == (2, 3, 2, 3)
    assert autograd.jacobian(lambda x: x[:0])(x).shape == (0, 3)
    close(autograd.jacobian(lambda x: x**2)(3.0), 6.0)
    with pytest.raises(TypeError, match="functions of one array to one array"):
        autograd.jacobian(lambda p: p["x"])({"x": 1.0})


def test_products_with_jacobians_and_hessians():
    f = lambda x: np.tanh(MATRIX @ x)
    J = autograd.jacobian(f)(VECTOR)
    loss = lambda x: np.sum(f(x) ** 2) + np.sum(x**4)
    H = autograd.hessian(loss)(VECTOR)
    v, w = onp.array([1.0, -2.0, 0.5]), onp.array([3.0, -1.0])
    pull, value = autograd.make_vjp(f)(VECTOR)
    close(value, f(VECTOR))
    close(pull(w), w @ J)
    close(autograd.make_jvp(f)(VECTOR)(v)[1], J @ v)
    close(autograd.vector_jacobian_product(f)(VECTOR, w), w @ J)
    close(autograd.hessian_vector_product(loss)(VECTOR, v), H @ v)
    product, gradient = autograd.make_hvp(loss)(VECTOR)
    close(product(v), H @ v)
    close(gradient, autograd.grad(loss)(VECTOR))
    close(autograd.make_ggnvp(f)(VECTOR)(v), J.T @ (J @ v))
    close(facade.module("autograd.differential_operators").make_jvp_reversemode(f)(VECTOR)(v), J @ v)
    close(autograd.elementwise_grad(np.tanh)(VECTOR), 1 - onp.tanh(VECTOR) ** 2)
    close(autograd.deriv(np.tanh)(0.5), 1 - onp.tanh(0.5) ** 2)


def test_grad_and_aux_and_multigrad_dict():
    g, aux = autograd.grad_and_aux(lambda x: (np.sum(x**2), x + 1))(VECTOR)
    close(g, 2 * VECTOR)
    close(aux, VECTOR + 1)
    f = lambda x, y=2.0, *rest, scale=3.0, **more: x * y * scale + sum(rest) + more.get("extra", 0.0)
    g = autograd.multigrad_dict(f)(1.0, 5.0, 7.0, extra=1.0)
    assert g == {"x": 15.0, "y": 3.0, "rest": (1.0,), "scale": 5.0, "more": {"extra": 1.0}}


def test_operators_nest():
    f = lambda x: x**5
    assert autograd.grad(autograd.grad(autograd.grad(f)))(2.0) == 240
    assert autograd.deriv(autograd.grad(autograd.deriv(f)))(2.0) == 240
    assert autograd.grad(lambda x: x * autograd.grad(lambda y: x + y)(1.0))(3.0) == 1  # no confusion of x and y
    assert autograd.grad(lambda x: x * autograd.grad(lambda y: x * y * y)(2.0))(3.0) == 24
    close(autograd.jacobian(lambda x: autograd.grad(lambda z: np.sum(z**3 * x))(x))(VECTOR), onp.diag(9 * VECTOR**2))
    value = autograd.grad(lambda x: autograd.value_and_grad(f)(x)[0])(2.0)
    assert value == 80


def test_complex_numbers_are_conjugated_as_autograd_has_it():
    z = 1.0 + 2.0j
    assert autograd.grad(lambda z: np.real(z**2))(z) == 2 * z  # du/dx - i du/dy
    assert autograd.grad(lambda z: np.abs(z) ** 2)(z) == 2 - 4j
    assert autograd.holomorphic_grad(lambda z: z**3)(z) == pytest.approx(3 * z**2)
    with pytest.warns(UserWarning, match="not complex"):
        autograd.holomorphic_grad(lambda z: z**3)(2.0)
    check_grads(lambda z: np.exp(z) * np.conj(z))(onp.array([z, -z]))
    x = onp.array([0.3, -1.2])
    assert onp.allclose(autograd.jacobian(lambda x: x**2 * (1 + 2j))(x), onp.diag(2 * x * (1 + 2j)))
    assert onp.allclose(autograd.grad(lambda x: (x * 1j).conj().imag.sum() + x.conjugate().sum())(x), 0)


# NumPy


def as_objects(values):
    made = onp.empty(len(values), object)
    for place, value in enumerate(values):
        made[place] = value
    return made


PROGRAMS = {
    "array": lambda x: np.array([[x[0], 1.0], [x[1] * x[2], x[0]]]),
    "array of dtype": lambda x: np.array([x[0], 2], dtype=float),
    "asarray": lambda x: np.asarray([x, 2 * x]),
    "object array": lambda x: np.array(as_objects([x[0], x[1]])).astype(float),
    "full": lambda x: np.full((2, 2), x[0]) * x[1],
    "r_": lambda x: np.r_[x[0], 1.0, x, 0:2],
    "c_": lambda x: np.c_[x, 2 * x],
    "list to mean": lambda x: np.mean([x[0], x[1] ** 2]),
    "list to sum": lambda x: np.sum([x, x**2], axis=0),
    "stack of a dict's values": lambda x: np.stack({"a": x, "b": x**2}.values(), axis=1),
    "append": lambda x: np.append([x[0], x[1]], x[2] ** 2),
    "where": lambda x: np.where(x > 0, x**2, -x),
    "where of lists": lambda x: np.where([True, False, True], [x[0], x[1], x[2]], 1.0),
    "vectorize": np.vectorize(lambda a: a**2 if a > 0 else -a),
    "index beside array": lambda x: np.outer(x, x).reshape(3, 3, 1)[0, :, [0]],
    "tuples as indices": lambda x: np.outer(x, x)[(0, 1), (2, 2)],
    "mask": lambda x: x[x > 0] ** 2,
    "methods": lambda x: x.reshape(3, 1).T.dot(x.reshape((-1, 1))).flatten().sum() * x.max().clip(0, 5) + x.mean(axis=0),
    "operators": lambda x: (2 - x) ** 2 / (1 + x * x) - (-x) + 2**x + x % 2 + abs(x) + x // 5 + [1.0, 2.0, 3.0] @ x,
    "iteration": lambda x: sum(a * i for i, a in enumerate(x)),
    "einsum": lambda x: np.einsum("i,j->ij", x, x),
    "eigh reads one triangle": lambda x: np.linalg.eigvalsh(np.outer(x, onp.arange(3.0)) + 3 * np.eye(3)),
    "linalg": lambda x: np.linalg.inv(np.outer(x, x) + np.eye(3)) @ np.linalg.solve(np.eye(3) + np.diag(x), x),
    "fft": lambda x: np.abs(np.fft.fft(x)) ** 2,
    "make_diagonal": np.make_diagonal,
    "mixed dtypes": lambda x: np.dot(np.outer(x, x), (x + 1j * x)) + np.matmul(x, 1j * np.outer(x, x)),
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_programs_on_numpy(program):
    plain, traced = program(VECTOR), autograd.make_vjp(program)(VECTOR)[1]
    close(traced, plain)
    assert onp.shape(traced) == onp.shape(plain)
    check_grads(program)(VECTOR)


def test_numpy_is_numpys():
    assert np.ndarray is onp.ndarray
    assert np.float64 is onp.float64
    assert np.pi == onp.pi
    assert np.zeros((2, 2)).shape == (2, 2)
    assert np.array([1, 2]).dtype == onp.array([1, 2]).dtype
    assert np.int64(3) == 3
    assert np.where(True, 1, 2) == 1
    assert np.random is facade.module("autograd.numpy.random")
    assert "einsum" in dir(np)
    with pytest.raises(AttributeError):
        _ = np.no_such_function
    with pytest.raises(ValueError, match="either both or neither"):
        np.where(True, 1)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (onp.asarray, "cannot become a plain NumPy array"),
        (lambda x: float(x[0]), r"float\(\), int\(\) and complex\(\)"),
        (lambda x: onp.add(onp.ones(3), x, out=onp.ones(3)), "a = a"),
        (lambda x: x.__setitem__(0, 1.0), "does not support item assignment"),
        (lambda x: len(x[0]), "has no len"),
        (lambda x: list(x[0]), "iteration over a 0-d array"),
    ],
)
def test_no_gradient_is_lost_silently(call, text):
    with pytest.raises(TypeError, match=text):
        autograd.grad(lambda x: call(x) or np.sum(x))(VECTOR)


def test_an_array_takes_no_traced_value():
    with pytest.raises((TypeError, ValueError)):
        autograd.grad(lambda x: onp.ones(3).__setitem__(0, x[0]))(VECTOR)


def test_single_numbers_widen_arrays_as_in_numpy():
    data = onp.array([0.1, 0.2], onp.float32)
    for f in (lambda s: data * s, lambda s: s * data, lambda s: np.multiply(data, s), lambda s: s + data):
        assert autograd.make_vjp(f)(2.0)[1].dtype == onp.float64
    assert autograd.make_vjp(lambda x: x * 2.0)(data)[1].dtype == onp.float32
    assert autograd.grad(lambda s: np.sum(data * s))(2.0) == float(data[0]) + float(data[1])


CONSTANTS = [
    2, 0.5, 1j, onp.float64(2), onp.float32(0.5), onp.complex128(1j), VECTOR, VECTOR * 1j, onp.float32(VECTOR),
    onp.complex64(VECTOR * 1j), onp.arange(1, 4), onp.array([True, False, True]), onp.array(0.5), onp.array(1j),
]  # fmt: skip


@pytest.mark.parametrize(
    "constant", CONSTANTS, ids=lambda each: f"{type(each).__name__}-{onp.result_type(each)}-{onp.shape(each)}"
)
@pytest.mark.parametrize(
    "x",
    [onp.float64(0.7), VECTOR, onp.complex128(0.3 + 0.2j), VECTOR * (1 + 0.5j)],
    ids=["number", "array", "complex", "complexes"],
)
def test_constants_beside_traced_values(x, constant):
    for f in (lambda x: x * constant, lambda x: constant * x, lambda x: x + constant, lambda x: x / (constant + 2)):
        seen = []
        value = tracer.getval(autograd.make_vjp(lambda x, f=f, seen=seen: seen.append(f(x)) or seen[0])(x)[1])
        assert isinstance(seen[0], tracer.Box)
        assert onp.result_type(value) == onp.result_type(f(x))
        close(value, f(x))
        size = lambda x, f=f: np.sum(np.abs(f(x)) ** 2)
        for way in [1e-6, 1e-6j] if onp.iscomplexobj(x) else [1e-6]:
            slope = (size(x + way) - size(x - way)) / 2e-6
            pulled = onp.sum(autograd.grad(size)(x))
            close(slope, onp.real(pulled) if onp.isreal(way) else -onp.imag(pulled), rtol=1e-6, atol=1e-8)


def test_cotangents_fit():
    pull, _ = autograd.make_vjp(lambda x: np.outer(x, x))(VECTOR)
    close(pull(1.0), pull(onp.ones((3, 3))))
    with pytest.raises((ValueError, RuntimeError)):
        pull(onp.ones((3, 2)))
    with pytest.raises((ValueError, RuntimeError)):
        pull(onp.ones(9))
    with pytest.raises(TypeError, match="nests as"):
        pull((onp.ones((3, 3)),))


# Functions of one's own


def test_a_primitive_is_given_plain_values_and_its_rules_are_differentiated():
    seen = []

    @extend.primitive
    def logsumexp(x, shift=0.0):
        seen.append(type(x))
        top = x.max()
        return top + onp.log(onp.sum(onp.exp(x - top))) + shift

    extend.defvjp(logsumexp, lambda ans, x, shift=0.0: lambda g: g * np.exp(x - ans + shift))
    assert autograd.primitive is extend.primitive
    g = autograd.grad(logsumexp)(VECTOR)
    soft = onp.exp(VECTOR) / onp.exp(VECTOR).sum()
    close(g, soft)
    close(autograd.hessian(logsumexp)(VECTOR), onp.diag(soft) - onp.outer(soft, soft))
    check_grads(lambda x: logsumexp(x, shift=2.0))(VECTOR)
    check_grads(lambda x: logsumexp(x * logsumexp(x)))(VECTOR)
    assert set(seen) == {onp.ndarray}


def test_rules_by_argument_and_forwards():
    @extend.primitive
    def scaled(n, x, y):
        return n * x * y

    extend.defvjp(
        scaled, lambda ans, n, x, y: lambda g: g * n * y, lambda ans, n, x, y: lambda g: g * n * x, argnums=(1, 2)
    )
    extend.defjvp(scaled, lambda t, ans, n, x, y: n * t * y, "same", argnums=(1, 2))
    check_grads(scaled, (1, 2))(3, 2.0, VECTOR[0])
    with pytest.raises(NotImplementedError, match="VJP of scaled wrt argnum 0 not defined"):
        autograd.grad(scaled)(3.0, 2.0, 1.0)
    with pytest.raises(NotImplementedError, match="JVP of scaled wrt argnum 0 not defined"):
        autograd.deriv(scaled)(3.0, 2.0, 1.0)


def test_rules_for_all_arguments_at_once():
    @extend.primitive
    def product(*xs):
        return onp.prod(xs)

    extend.defvjp_argnums(product, lambda argnums, ans, args, kwargs: lambda g: [g * ans / args[n] for n in argnums])
    assert autograd.grad(lambda x, y: product(x, 2.0, y), (0, 1))(3.0, 4.0) == (8.0, 6.0)
    check_grads(lambda x, y: product(x, y, x), (0, 1))(3.0, 4.0)


def test_primitives_of_containers():
    @extend.primitive
    def total(p):
        return p["a"].sum() + 2 * p["b"]

    extend.defvjp(total, lambda ans, p: lambda g: {"a": g * np.ones(np.shape(p["a"])), "b": 2 * g})
    g = autograd.grad(lambda p: total(p) ** 2)({"a": VECTOR, "b": 1.0})
    close(g["a"], 2 * (VECTOR.sum() + 2) * onp.ones(3))
    close(g["b"], 4 * (VECTOR.sum() + 2))


def test_a_primitive_that_does_not_depend():
    @extend.primitive
    def rounded(x):
        return onp.round(x)

    extend.defvjp(rounded, None)
    assert autograd.grad(lambda x: rounded(x) * x)(2.3) == 2
    plain = extend.notrace_primitive(lambda x: x * 1)
    assert autograd.grad(lambda x: plain(x) * x)(3.0) == 3


def test_primitives_without_rules_say_so():
    f = extend.primitive(lambda x: x * 2)
    for operator in (autograd.grad, autograd.deriv):
        with pytest.raises(NotImplementedError, match="not defined"):
            operator(f)(1.0)
    assert f(2.0) == 4
    with pytest.raises(TypeError, match="Bad VJP"):
        extend.defvjp(f, "same")
    with pytest.raises(TypeError, match="passed by keyword"):
        autograd.grad(lambda x: f(x, other=x))(1.0)


def test_a_cotangent_of_another_shape_is_refused():
    f = extend.primitive(lambda x: x * 2)
    extend.defvjp(f, lambda ans, x: lambda g: g[:2])
    for text in (
        r"got \[2\] but expected shape compatible with \[3\]",
        r"returned shape \(2,\), and the argument has \(3,\)",
    ):
        with pytest.raises(RuntimeError, match=text):  # the second call is a short one
            autograd.grad(lambda x: np.sum(f(x)))(VECTOR)


def test_jacobians_of_primitives_take_one_row_at_a_time():
    @extend.primitive
    def doubled(x):
        return 2 * x

    def rule(ans, x):
        def pull(g):
            assert g.shape == (3,)
            out = onp.zeros(3)
            out[:] = 2 * g
            return out

        return pull

    extend.defvjp(doubled, rule)
    close(autograd.jacobian(doubled)(VECTOR), 2 * onp.eye(3))


def test_checkpoint_runs_again():
    runs = []

    def f(x, p):
        runs.append(1)
        return np.tanh(x * p["a"])

    wrapped = autograd.checkpoint(f)
    loss = lambda x, p: np.sum(wrapped(wrapped(x, p), p) ** 2)
    plain = lambda x, p: np.sum(f(f(x, p), p) ** 2)
    for argnum in (0, 1):
        got, want = (autograd.grad(g, argnum)(VECTOR, {"a": 1.3}) for g in (loss, plain))
        close(got["a"] if argnum else got, want["a"] if argnum else want)
    runs.clear()
    autograd.grad(loss)(VECTOR, {"a": 1.3})
    assert len(runs) == 4
    close(autograd.hessian(loss)(VECTOR, {"a": 1.3}), autograd.hessian(plain)(VECTOR, {"a": 1.3}))


def test_check_grads_finds_wrong_rules():
    @extend.primitive
    def f(x):
        return x * 2.0

    extend.defvjp(f, lambda ans, x: lambda g: g * 2.001)
    with pytest.raises(AssertionError, match=r"\(VJP\) check of f failed"):
        check_grads(f, modes=["rev"])(1.0)
    with pytest.raises(ValueError, match="modes are 'fwd' and 'rev'"):
        check_grads(f, modes=["both"])(1.0)


# misc


def test_flatten_goes_there_and_back():
    tree = {"b": [VECTOR, 2.0], "a": (MATRIX, ())}
    flat, unflatten = misc.flatten(tree)
    close(flat, [*MATRIX.ravel(), *VECTOR, 2.0])
    again = unflatten(flat)
    assert list(again) == ["b", "a"]
    close(again["a"][0], MATRIX)
    assert again["b"][1] == 2
    close(autograd.grad(lambda t: np.sum(misc.flatten(t)[0] ** 2))(tree)["b"][0], 2 * VECTOR)
    close(autograd.grad(lambda f: np.sum(unflatten(f)["b"][0]))(flat), [0] * 6 + [1] * 3 + [0])
    with pytest.raises(ValueError, match="a vector of 10 elements"):
        unflatten(flat[1:])


@pytest.mark.parametrize("name", ["sgd", "rmsprop", "adam"])
def test_optimizers_descend(name):
    optimize = getattr(facade.module("autograd.misc.optimizers"), name)
    seen = []
    gradient = autograd.grad(lambda p, i: np.sum((p["x"] - 1) ** 2) + (p["y"] + 2) ** 2)
    start = {"x": onp.zeros(2), "y": 0.0}
    found = optimize(gradient, start, lambda p, i, g: seen.append((i, p["y"])), num_iters=400, step_size=0.05)
    close(found["x"], [1, 1], atol=1e-3)
    close(found["y"], -2, atol=1e-3)
    assert [i for i, _ in seen] == list(range(400))
    assert start["y"] == 0


def test_the_first_steps_of_adam():
    adam = facade.module("autograd.misc.optimizers").adam
    found = adam(lambda x, i: onp.array([1.0, -3.0]), onp.zeros(2), num_iters=3, step_size=0.1)
    close(found, [-0.3, 0.3], atol=1e-6)


def test_fixed_points_are_differentiated_at_the_point():
    fixed_point = facade.module("autograd.misc.fixed_points").fixed_point

    def root(a):
        return fixed_point(
            lambda a: lambda x: (x + a / x) / 2, a, np.ones(2), lambda x, y: np.max(np.abs(x - y)), 1e-14
        )

    a = onp.array([2.0, 9.0])
    close(autograd.jacobian(root)(a), onp.diag(0.5 / onp.sqrt(a)))
    close(autograd.elementwise_grad(autograd.elementwise_grad(root))(a), -0.25 * a**-1.5, rtol=1e-6)


def test_vector_spaces():
    space = extend.vspace({"a": 1.0, "b": onp.ones(2) * 1j})
    assert (space.size, space.iscomplex) == (5, True)
    assert len(list(space.standard_basis())) == 5
    assert space == extend.vspace(space.randn())
    assert space != extend.vspace(1.0)
    assert space.inner_prod(space.ones(), space.ones()) == 5
    with pytest.raises(TypeError, match="Can't find vector space"):
        extend.vspace("text")


# SciPy


def test_special_functions():
    pytest.importorskip("scipy")
    special = facade.module("autograd.scipy.special")
    positive = onp.array([0.4, 1.3, 2.6])
    for name in "gammaln psi gamma rgamma erf erfc expit j0 i1".split():
        check_grads(getattr(special, name), modes=["rev"])(positive)
    check_grads(special.erf, modes=["rev"])(0.3 + 0.4j)
    combo_check(special.logsumexp, (0,))([MATRIX], axis=[None, 0, (0, 1)], keepdims=[True, False], b=[1.0, MATRIX**2])
    check_grads(lambda x: special.softmax(x, axis=0))(MATRIX)
    check_grads(lambda x: special.multigammaln(x, 3), modes=["rev"])(positive + 2)
    for n in (0, 1, 3):
        check_grads(lambda x, n=n: special.polygamma(n, x), modes=["rev"])(positive)
    check_grads(lambda x: special.yn(2, x), modes=["rev"])(positive)
    assert special.gammasgn(-0.5) == -1
    close(special.logsumexp(onp.array([-onp.inf, -onp.inf])), -onp.inf)


POINTS = {
    "norm": ([0.3], {"loc": 0.1, "scale": 1.7}),
    "t": ([0.3, 4.5], {"loc": 0.1, "scale": 1.7}),
    "gamma": ([0.9, 2.5], {"loc": 0.1, "scale": 1.7}),
    "beta": ([0.3, 2.5, 1.4], {"loc": 0.1, "scale": 1.7}),
    "chi2": ([1.3, 3.5], {"loc": 0.1, "scale": 1.7}),
}
WITHOUT_A_RULE = {("t", "cdf"): 1, ("t", "sf"): 1, ("t", "logcdf"): 1, ("t", "logsf"): 1}  # by degrees of freedom


@pytest.mark.parametrize("function", ["pdf", "logpdf", "cdf", "sf", "logcdf", "logsf"])
@pytest.mark.parametrize("name", POINTS)
def test_distributions(name, function):
    stats = pytest.importorskip("scipy.stats")
    ours = getattr(facade.module(f"autograd.scipy.stats.{name}"), function)
    args, kwargs = POINTS[name]
    given = [*args, *kwargs.values()]
    assert autograd.make_vjp(ours)(*given)[1] == pytest.approx(
        getattr(getattr(stats, name), function)(*given), rel=1e-12
    )
    places = [place for place in range(len(given)) if place != WITHOUT_A_RULE.get((name, function))]
    check_grads(ours, places, modes=["rev"])(*given)
    by_keyword = lambda x, scale: ours(x, *args[1:], loc=0.1, scale=scale)
    check_grads(by_keyword, (0, 1), modes=["rev"], order=1)(args[0], 1.7)


def test_outside_their_support_densities_vanish_and_have_no_slope():
    stats = pytest.importorskip("scipy.stats")
    for name in ("gamma", "beta", "chi2"):
        ours = facade.module(f"autograd.scipy.stats.{name}")
        shapes = POINTS[name][0][1:]
        value, g = autograd.value_and_grad(lambda x, m=ours, s=shapes: m.pdf(x, *s))(-0.5)
        assert (value, g) == (0.0, 0.0)
        value, g = autograd.value_and_grad(lambda x, m=ours, s=shapes: m.cdf(x, *s))(-0.5)
        assert (value, g) == (0.0, 0.0)
        assert ours.logpdf(-0.5, *shapes) == getattr(stats, name).logpdf(-0.5, *shapes)


def test_discrete_and_multivariate_distributions():
    stats = pytest.importorskip("scipy.stats")
    ours = facade.module("autograd.scipy.stats")
    k = onp.array([0, 3, 7])
    for function in ("pmf", "logpmf", "cdf", "sf"):
        check_grads(lambda mu, f=function: getattr(ours.poisson, f)(k, mu), modes=["rev"])(2.5)
        traced = autograd.make_vjp(lambda mu, f=function: getattr(ours.poisson, f)(k, mu))(2.5)[1]
        close(traced, getattr(stats.poisson, function)(k, 2.5), rtol=1e-9)
    x, alpha = onp.array([0.2, 0.3, 0.5]), onp.array([1.5, 2.0, 0.7])
    check_grads(ours.dirichlet.logpdf, 1, modes=["rev"])(x, alpha)
    close(autograd.make_vjp(ours.dirichlet.pdf, 1)(x[:2], alpha)[1], stats.dirichlet.pdf(x, alpha))
    cov = onp.array([[2.0, 0.3, 0.1], [0.3, 1.0, 0.2], [0.1, 0.2, 0.5]])
    points = onp.stack([VECTOR, 2 * VECTOR])
    for given in ((), (0.5,), ([0.5], 2.0), (None, 2.0), (None, [[2.0]])):
        for at in (VECTOR, VECTOR[:1], VECTOR[0], VECTOR[:, None]):
            traced = autograd.make_vjp(lambda x, given=given: ours.multivariate_normal.logpdf(x, *given))(at)[1]
            wanted = stats.multivariate_normal.logpdf(at, *given)
            close(traced, wanted)
            assert onp.shape(traced) == onp.shape(wanted)
    symmetric = lambda x, mean, c: ours.multivariate_normal.logpdf(x, mean, (c + c.T) / 2)
    check_grads(symmetric, (0, 1, 2), modes=["rev"])(points, 0.5 * VECTOR, cov)
    close(autograd.make_vjp(symmetric)(points, VECTOR, cov)[1], stats.multivariate_normal.logpdf(points, VECTOR, cov))
    check_grads(lambda c: ours.multivariate_normal.entropy(VECTOR, (c + c.T) / 2), modes=["rev"])(cov)
    flat = onp.diag([1.0, 2.0, 0.0])
    with pytest.raises(onp.linalg.LinAlgError, match="has rank 2"):
        autograd.grad(ours.multivariate_normal.logpdf)(VECTOR, VECTOR, flat)
    _value, g = autograd.value_and_grad(lambda x: ours.multivariate_normal.logpdf(x, 0 * VECTOR, flat, True))(VECTOR)
    close(g, [-0.3, 0.4, 0.0])


def test_matrix_functions():
    pytest.importorskip("scipy")
    linalg = facade.module("autograd.scipy.linalg")
    a = onp.array([[2.0, 0.3, 0.1], [0.4, 1.5, 0.2], [0.1, -0.2, 1.2]])
    check_grads(linalg.sqrtm)(a)
    check_grads(linalg.solve_sylvester, (0, 1, 2))(a, a.T + 1, MATRIX.T @ MATRIX)
    for b in (VECTOR, MATRIX.T):
        check_grads(lambda a, b: linalg.solve_triangular(a, b, lower=True), (0, 1))(a, b)
        check_grads(lambda a, b: linalg.solve_triangular(a, b, trans="T"), (0, 1))(a, b)
        close(
            autograd.make_vjp(lambda b: linalg.solve_triangular(a, b, trans=1))(b)[1],
            linalg.solve_triangular(a, b, trans=1),
        )
        banded = onp.array([[0.0, 0.3, 0.2], [2.0, 3.0, 2.5], [0.1, 0.4, 0.0]])
        check_grads(lambda ab, b: linalg.solve_banded((1, 1), ab, b), (0, 1), modes=["rev"], order=1)(banded, b)


def test_convolution():
    signal = pytest.importorskip("scipy.signal")
    ours = facade.module("autograd.scipy.signal").convolve
    a, b = onp.random.randn(6, 5), onp.random.randn(3, 2)
    for mode in ("full", "valid", "same"):
        close(ours(a, b, mode=mode), signal.convolve(a, b, mode))
        close(ours(b, a, mode=mode), signal.convolve(b, a, mode))
    combo_check(ours, (0, 1), order=1)([a], [b], mode=["full", "valid", "same"])
    images, kernels = onp.random.randn(2, 3, 6, 5), onp.random.randn(3, 4, 2, 2)
    out = ours(images, kernels, axes=([2, 3], [2, 3]), dot_axes=([1], [0]), mode="valid")
    assert out.shape == (2, 4, 5, 4)
    close(out[1, 2], sum(signal.convolve(images[1, c], kernels[c, 2], "valid") for c in range(3)))
    close(ours(kernels, images, ([2, 3], [2, 3]), ([0], [1]), "valid"), onp.moveaxis(out, 0, 1))
    with pytest.raises(ValueError, match="larger than the other"):
        ours(onp.ones((3, 1)), onp.ones((1, 3)), mode="valid")
    with pytest.raises(ValueError, match="mode is"):
        ours(a, b, mode="wrap")


def test_differential_equations():
    pytest.importorskip("scipy")
    odeint = facade.module("autograd.scipy.integrate").odeint

    def decay(y, t, rate, drive):
        return -rate * y + drive * np.sin(t)

    def end(y0, t, rate, drive):
        return np.sum(odeint(decay, y0, t, (rate, drive), rtol=1e-10, atol=1e-10) * onp.array([1.0, 2.0]))

    t = onp.array([0.0, 0.3, 0.8])
    check_grads(end, (0, 1, 2, 3), modes=["rev"], order=1)(onp.array([1.0, -0.5]), t, 0.7, VECTOR[:2])


# Importing


PROGRAM = """
from pullback.compat import autograd
autograd.install()
import autograd
import autograd.numpy as np
import autograd.numpy.random as npr
from autograd import grad, jacobian
from autograd.extend import primitive, defvjp
from autograd.misc.flatten import flatten
from autograd.misc.optimizers import adam
from autograd.numpy.numpy_vjps import unbroadcast_f
from autograd.tracer import getval
assert autograd.misc.flatten is flatten
assert autograd.numpy is np
assert float(grad(lambda x: np.sum(x**2))(np.ones(2))[0]) == 2.0
try:
    import autograd.nowhere
except ModuleNotFoundError as error:
    assert "stands in for autograd" in str(error)
try:
    autograd.nothing
except AttributeError as error:
    print(error)
autograd_module = autograd
from pullback.compat.autograd import uninstall
uninstall()
import sys
assert not any(name.partition(".")[0] == "autograd" for name in sys.modules)
"""


def test_a_process_imports_it_as_autograd():
    result = subprocess.run([sys.executable, "-W", "error", "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("autograd.nothing is not in pullback")


def test_it_does_not_mix_with_the_real_one():
    program = (
        "import sys, types; sys.modules['autograd'] = types.ModuleType('autograd')\n"
        "from pullback.compat import autograd; autograd.install()"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "autograd is already imported" in result.stderr


def test_a_training_loop():
    """A network with two layers, as autograd's tutorial writes one, learns exclusive or."""
    inputs = onp.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    targets = onp.array([0.0, 1.0, 1.0, 0.0])

    def predict(params, x):
        for w, b in params:
            out = np.dot(x, w) + b
            x = np.tanh(out)
        return out[:, 0]

    def loss(params, i):
        return np.mean((predict(params, inputs) - targets) ** 2)

    params = [(onp.random.randn(m, n), onp.random.randn(n)) for m, n in [(2, 8), (8, 1)]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        params = facade.module("autograd.misc.optimizers").adam(
            autograd.grad(loss), params, step_size=0.05, num_iters=300
        )
    assert loss(params, 0) < 1e-3


SCRIPT = """
import sys
import autograd.numpy as np
from autograd import grad
print(grad(lambda x: np.sum(np.tanh(x)))(np.zeros(2)).tolist(), sys.argv[1:])
"""
SAID = "pullback run: autograd is not installed: `import autograd` gives pullback's\n"


@pytest.mark.parametrize("options", [[], ["--autograd"]])
def test_pullback_run_stands_in_for_it(options, tmp_path):
    (tmp_path / "fit.py").write_text(SCRIPT)
    command = [sys.executable, "-W", "error", "-m", "pullback", "run", *options, "fit.py", "-v", "1"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "[1.0, 1.0] ['-v', '1']\n")
    assert ended.stderr == ("" if options else SAID)


@pytest.mark.parametrize("place", ["installed", "beside the script"])
def test_pullback_run_takes_an_autograd_that_is_there_unless_told(place, tmp_path):
    folder = tmp_path / "packages" if place == "installed" else tmp_path
    (folder / "autograd").mkdir(parents=True)
    (folder / "autograd" / "__init__.py").write_text("grad = 'of HIPS'")
    (tmp_path / "fit.py").write_text("from autograd import grad\nprint(grad)")
    paths = {"PYTHONPATH": os.pathsep.join([str(tmp_path / "packages"), os.environ.get("PYTHONPATH", "")])}
    for options, printed in (([], "of HIPS"), (["--autograd"], "<function grad")):
        command = [sys.executable, "-m", "pullback", "run", *options, "fit.py"]
        ended = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=False, env=os.environ | paths
        )
        assert ended.stdout.startswith(printed), ended.stderr
        assert not ended.stderr


# Calls of single arrays, which are recorded in a shorter way from the second one on


def _cubed():
    cube = extend.primitive(lambda x: x**3)
    extend.defvjp(cube, lambda ans, x: lambda g: g * 3 * x**2)
    return cube, lambda x: x**3


def _scaled():
    scaled = extend.primitive(lambda x, c, power=1: x * c**power)
    extend.defvjp(
        scaled,
        lambda ans, x, c, power=1: lambda g: g * c**power,  # larger than x, if c is: summed
        lambda ans, x, c, power=1: lambda g: np.sum(g * x * power * c ** (power - 1)),
    )
    return (
        lambda x: scaled(x, np.sum(x), power=2) + scaled(2.0, np.sum(x * x)),
        lambda x: x * np.sum(x) ** 2 + 2.0 * np.sum(x * x),
    )


def _real_of_complex():
    size = extend.primitive(lambda z: onp.abs(z) ** 2)
    extend.defvjp(size, lambda ans, z: lambda g: 2 * g * np.conj(z))
    turned = extend.primitive(lambda x: x * (1 + 2j))
    extend.defvjp(turned, lambda ans, x: lambda g: g * (1 + 2j))  # complex, of a real argument
    return lambda x: size(turned(x) ** 2), lambda x: np.abs((x * (1 + 2j)) ** 2) ** 2


def _constant_argument():
    shifted = extend.primitive(lambda x, y: x * onp.floor(y))
    extend.defvjp(shifted, lambda ans, x, y: lambda g: g * np.floor(y), None)
    return lambda x: shifted(x * x, 4.5 + 0 * x), lambda x: 4 * x * x


@pytest.mark.parametrize("made", [_cubed, _scaled, _real_of_complex, _constant_argument])
@pytest.mark.parametrize("x", [VECTOR, MATRIX, onp.array([0.5]), onp.float32([0.5, 2.0])], ids=["3", "2x3", "1", "f32"])
def test_primitives_called_again_have_the_same_derivatives(made, x):
    by_hand, plain = made()
    tolerance = {"rtol": 1e-4} if x.dtype == onp.float32 else {}
    for _ in range(3):
        for operator in (
            autograd.jacobian,
            autograd.elementwise_grad,
            lambda f: autograd.hessian(lambda x: np.sum(f(x))),
        ):
            got, want = operator(by_hand)(x), operator(plain)(x)
            assert got.dtype == want.dtype
            close(got, want, **tolerance)


def test_a_primitive_called_again_may_return_something_else():
    parts = []
    either = extend.primitive(lambda x: (x, 2 * x) if parts else 3 * x)
    extend.defvjp(either, lambda ans, x: lambda g: g[0] + 2 * g[1] if parts else 3 * g)
    close([autograd.grad(either)(1.0) for _ in range(2)], [3, 3])
    parts.append(1)
    close(autograd.grad(lambda x: either(x)[1])(1.0), 2)


def test_the_shape_of_a_cotangent_is_checked_in_each_call():
    total = extend.primitive(onp.sum)
    extend.defvjp(total, lambda ans, x: lambda g: g * np.ones(2))
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"shape"):
            autograd.grad(total)(VECTOR)


# Functions without gradients in autograd, of the list in its issue 788

SQUARE = onp.array([[3.0, 0.4, -0.2], [0.1, 2.0, 0.5], [-0.3, 0.6, 4.0]])
POSITIVE = onp.array([0.4, 1.3, 2.2])
HOLES = onp.array([0.0, onp.nan, 0.0])
LACKING = {
    **{
        name: (lambda x, name=name: getattr(np, name)(x + HOLES), VECTOR)
        for name in "nansum nanprod nanmean nanvar nanstd nanmax nanmin nanmedian nancumsum nancumprod".split()
    },
    **{
        name: (lambda x, name=name: getattr(np, name)(x), VECTOR)
        for name in (
            "ptp median cumprod cumulative_sum cumulative_prod positive i0 copy vander poly diagflat ediff1d trapezoid polyint "
            "polyder asfortranarray require asarray_chkfinite asanyarray unwrap"
        ).split()
        if hasattr(onp, name)
    },
    **{
        name: (lambda x, name=name: getattr(np.linalg, name)(x), SQUARE)
        for name in "cond svdvals matrix_norm vector_norm matrix_transpose trace diagonal".split()
        if hasattr(onp.linalg, name)
    },
    "block": (lambda x: np.block([[x, x], [x, 2 * x]]), VECTOR),
    "bincount": (lambda x: np.bincount([0, 2, 2], weights=x), VECTOR),
    "choose": (lambda x: np.choose([0, 1, 0], [x, 2 * x]), VECTOR),
    "compress": (lambda x: np.compress([True, False, True], x), VECTOR),
    "convolve": (lambda x: np.convolve(x, x[:2], mode="same"), VECTOR),
    "correlate": (lambda x: np.correlate(x, x[1:], mode="full"), VECTOR),
    "cov": (np.cov, MATRIX),
    "corrcoef": (np.corrcoef, MATRIX),
    "delete": (lambda x: np.delete(x, 1), VECTOR),
    "emath.sqrt": (lambda x: np.imag(np.emath.sqrt(-x)), POSITIVE),
    "emath.arccos": (lambda x: np.imag(np.emath.arccos(2 + x)), POSITIVE),
    "float_power": (lambda x: np.float_power(x, x), POSITIVE),
    "geomspace": (lambda x: np.geomspace(x[0], x[1], 4), POSITIVE),
    "insert": (lambda x: np.insert(x, [1, 2], x[:2]), VECTOR),
    "interp": (lambda x: np.interp(x[0], onp.arange(3.0), x), POSITIVE),
    "lstsq": (lambda x: np.linalg.lstsq(x, VECTOR, rcond=None)[0], MATRIX.T.copy()),
    "matrix_power": (lambda x: np.linalg.matrix_power(x, -2), SQUARE),
    "multi_dot": (lambda x: np.linalg.multi_dot([x, x, x]), SQUARE),
    "piecewise": (lambda x: np.piecewise(x, [x < 0, x >= 0], [lambda x: -2 * x, lambda x: x**2]), VECTOR),
    "polyfit": (lambda x: np.polyfit(onp.arange(3.0), x, 1), VECTOR),
    "polyval": (lambda x: np.polyval(x, x), VECTOR),
    "qr": (lambda x: np.linalg.qr(x)[1], SQUARE),
    "quantile": (lambda x: np.quantile(x, 0.3), VECTOR),
    "resize": (lambda x: np.resize(x, (2, 4)), VECTOR),
    "take_along_axis": (lambda x: np.take_along_axis(x, onp.array([[0, 0], [2, 1]]), 1), MATRIX),
    "tensorsolve": (lambda x: np.linalg.tensorsolve(x, VECTOR), SQUARE),
    "hfft": (np.fft.hfft, VECTOR),
    "ihfft": (lambda x: np.real(np.fft.ihfft(x)), VECTOR),
    "scipy.linalg.expm": (lambda x: facade.module("autograd.scipy.linalg").expm(x / 4), SQUARE),
    "scipy.linalg.block_diag": (lambda x: facade.module("autograd.scipy.linalg").block_diag(x, 2.0, x[:2]), MATRIX),
    "scipy.linalg.cholesky": (
        lambda x: facade.module("autograd.scipy.linalg").cholesky(np.dot(x, x.T), lower=True),
        SQUARE,
    ),
}


@pytest.mark.parametrize("name", LACKING)
def test_functions_that_autograd_lacks_have_derivatives(name):
    function, x = LACKING[name]
    check_grads(function, order=2)(x)
