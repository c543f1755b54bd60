"""Elementwise functions where conventions show: at NaN, infinities, zeros and ties, on integers, and through views of parts."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

import pullback  # noqa: E402

from .compare import parity, raises  # noqa: E402

INF, NAN = float("inf"), float("nan")
SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.5]
ONE = (
    "acos acosh angle asin asinh atan atanh ceil cos cosh deg2rad exp exp2 expm1 floor frac log log10 log1p log2 logit "
    "nan_to_num positive rad2deg reciprocal round rsqrt sgn sigmoid sign sin sinc sinh sqrt square tan tanh trunc"
).split()
TWO = "atan2 copysign fmax fmin fmod hypot logaddexp logaddexp2 maximum minimum pow remainder xlogy".split()


def slopes(t, function, *arrays, dtype="float64"):
    """The values and the gradients of a function, all of them for a cotangent of ones."""
    xs = [t.tensor(array, dtype=getattr(t, dtype), requires_grad=True) for array in arrays]
    y = function(*xs)
    return y.detach(), [g.detach() for g in t.autograd.grad(y, xs, t.ones_like(y), materialize_grads=True)]


@pytest.mark.parametrize("name", ONE)
@parity
def test_one_tensor_at_special_values(t, name):
    """One value at a time: of several, torch computes some by registers, in which it has other signs, as of logit at -0.0."""
    return [slopes(t, getattr(t, name), [value]) for value in SPECIAL]


@pytest.mark.parametrize("name", TWO)
@parity
def test_two_tensors_at_special_values(t, name):
    pairs = np.array(np.meshgrid(SPECIAL, SPECIAL)).reshape(2, -1)
    return slopes(t, getattr(t, name), *pairs)


@parity
def test_three_tensors_at_special_values(t):
    a, b, c = np.array(np.meshgrid([-INF, 0.0, 1.5, NAN], [0.0, 2.0, INF], [0.0, 0.25, 0.5, 1.0])).reshape(3, -1)
    functions = [t.lerp, t.addcmul, t.addcdiv, lambda a, b, c: t.addcmul(a, b, c, value=-2)]
    return [slopes(t, function, a, b, c) for function in functions]


@pytest.mark.parametrize("eps", [None, 0.1])
@parity
def test_logit(t, eps):
    return slopes(t, lambda x: t.logit(x, eps), [-0.5, 0.0, 0.05, 0.1, 0.4, 0.9, 1.0, 1.5])


@pytest.mark.parametrize("decimals", [0, 1, 3, -1, -2])
@parity
def test_decimals(t, decimals):
    return slopes(t, lambda x: t.round(x, decimals=decimals), [0.05, 0.15, 1.25, 14.9996, 155.0, -2.5, INF, NAN])


@pytest.mark.parametrize("rounding", [None, "trunc", "floor"])
@parity
def test_rounded_division(t, rounding):
    pairs = np.array(np.meshgrid([-7.0, -0.0, 3.5, INF], [2.0, -0.5, 0.0, 3.0])).reshape(2, -1)
    return slopes(t, lambda a, b: t.div(a, b, rounding_mode=rounding), *pairs)


@parity
def test_rounded_division_of_integers(t):
    a, b = t.tensor([7, -7, 7, -7, 0, 2**62 + 1]), t.tensor([2, 2, -2, -2, 3, 3])
    return [t.div(a, b, rounding_mode=rounding) for rounding in (None, "trunc", "floor")], a // b, a % b


@parity
def test_integers(t):
    a, b = t.tensor([12, -18, 7, 0, -1]), t.tensor([2, 3, 1, 5, 4])
    answers = [
        getattr(t, name)(a, b) for name in "gcd lcm bitwise_left_shift bitwise_right_shift fmod float_power".split()
    ]
    answers += [
        getattr(t, name)(a) for name in "floor ceil trunc round frac sgn square atan sinc".split() if name != "frac"
    ]
    return answers, a << 1, 2 << b, a >> b, t.pow(a, -b.abs()), t.ldexp(b, a // 6), t.heaviside(a, b), t.clamp_min(a, 0)


@parity
def test_bools(t):
    x = t.tensor([True, False])
    return (
        x.sign(),
        x.square(),
        x.sgn(),
        t.signbit(x),
        t.isposinf(x),
        t.nan_to_num(x),
        t.angle(x),
    )


@parity
def test_questions(t):
    x = t.tensor([1.0, NAN, INF, -INF, -0.0])
    z = t.tensor([1 + 0j, 2 - 1j])
    near = [t.isclose(x, x + 1e-6, equal_nan=equal) for equal in (False, True)]
    among = [t.isin(x, t.tensor([1.0, 2.0])), t.isin(x, 1.0, invert=True), t.isin(1, t.tensor([1, 2]))]
    parts = [t.isreal(z), t.isreal(x), t.signbit(x), t.isposinf(x), t.isneginf(x), t.is_conj(z), t.is_signed(x)]
    return near, among, parts, t.allclose(x, x), t.allclose(x, x, equal_nan=True), x.equal(x)


@parity
def test_refusals(t):
    x, z, n = t.ones(2), t.tensor([1j, 2.0]), t.tensor([1, 2])
    raises(RuntimeError, "did not match", lambda: t.isclose(x, x.double()))
    raises(RuntimeError, "rtol must be greater than or equal to zero", lambda: t.isclose(x, x, rtol=-1.0))
    raises(TypeError, "must be Tensor, not int", lambda: t.hypot(x, 2))
    raises(TypeError, "must be Tensor, not int", lambda: t.atan2(2, x))
    raises(RuntimeError, "Integer division with addcdiv is no longer supported", lambda: t.addcdiv(n, n, n))
    raises(RuntimeError, "only supports floating-point dtypes", lambda: t.frexp(n))
    raises(RuntimeError, "is not yet implemented for tensors with different dtypes", lambda: t.heaviside(x, n))
    raises(RuntimeError, "ZeroDivisionError", lambda: t.fmod(n, t.tensor([0, 1])))
    raises(RuntimeError, "imag is not implemented for tensors with non-complex dtypes", lambda: t.imag(x))
    raises(RuntimeError, "only supported for complex tensors", lambda: t.view_as_real(x))
    raises(RuntimeError, "Tensor must have a last dimension of size 2", lambda: t.view_as_complex(t.ones(3)))
    raises(RuntimeError, "Tensor must have a last dimension with stride 1", lambda: t.view_as_complex(t.ones(2, 2).t()))
    raises(RuntimeError, "Expected object of scalar type Float", lambda: t.complex(x, x.double()))
    raises(NotImplementedError, "not implemented for", lambda: x << 1)
    raises(NotImplementedError, "complex", lambda: t.sign(z))
    raises(NotImplementedError, "is not supported for complex", lambda: t.floor(z))
    raises(RuntimeError, "does not support complex inputs", lambda: t.isposinf(z))
    return True


def parts_written(t, w, v):
    w.real[...] = v
    w.imag.mul_(v)
    return w * w


def pairs_written(t, w, v):
    t.view_as_real(w)[:, 1] = v[:, :2]
    t.view_as_real(w).view(3, -1)[:, 1:3].mul_(v[:, 2:])
    return w * w * 1j


def transposed_written(t, w, v):
    row = w.t().imag
    row[1] = 2.0
    return w * w * row.t() * v


def elsewhere_written(t, w, v):
    w = w.t().clone()  # in memory w.t() is contiguous, and has a flat view
    w.t().reshape(-1).imag.mul_(v.reshape(-1))
    t.view_as_real(w.t().reshape(-1))[3:] += 1
    return w * w


def numbers_from_pairs(t, w, v):
    pairs = t.stack([v * 1.5, v], -1)
    t.view_as_complex(pairs).mul_(w)
    return pairs.sum(-1) * w


def parts_assigned(t, w, v):
    w.real = v
    w.imag = v * v
    return w * w.conj() * w.angle() * t.sgn(w)


@pytest.mark.parametrize(
    "program",
    [parts_written, pairs_written, transposed_written, elsewhere_written, numbers_from_pairs, parts_assigned],
)
@parity
def test_views_of_complex_numbers(t, program):
    rng = np.random.default_rng(3)
    parts = rng.standard_normal((3, 3, 4))
    z = t.tensor(parts[0] + 1j * parts[1], requires_grad=True)
    v = t.tensor(parts[2], requires_grad=True)
    y = program(t, z * (1 + 2j), v)
    first = t.autograd.grad((y * (2 - 1j)).abs().sum(), [z, v], create_graph=True)
    second = t.autograd.grad(sum((g * g.conj()).real.sum() for g in first), [z, v])
    return [value.detach() for value in (y, *first, *second)]


CASTS = "bool byte cdouble cfloat char double float half int long short".split()


@pytest.mark.parametrize("name", CASTS)
@parity
def test_casts(t, name):
    x = t.tensor([0.0, 1.75, -3.0], dtype=t.float64, requires_grad=True)
    y = getattr(x, name)()
    found = [
        y.detach(),
        y.requires_grad,
        getattr(x, name)(memory_format=t.preserve_format).detach(),
        x.type_as(y).detach(),
    ]
    if y.requires_grad:
        found.append(t.autograd.grad(y.abs().sum(), x)[0])
    return found


NAMES = [
    *("absolute arccos arccosh arcsin arcsinh arctan arctan2 arctanh clip conj_physical divide fix greater greater_equal "
      "less less_equal multiply negative not_equal subtract true_divide").split(),
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_other_names(name):
    assert callable(getattr(pullback, name))
    assert callable(getattr(pullback.Tensor, name))
    if hasattr(torch.Tensor, f"{name}_"):
        assert callable(getattr(pullback.Tensor, f"{name}_"))


@parity
def test_in_place_functions(t):
    x = t.tensor([0.1, 0.2])
    t.exp_(x)
    t.clamp_(x, max=1.2)
    t.arctan_(x)
    return x, t.round_(x, decimals=1) is x


@parity
def test_slopes_of_angles_next_to_the_origin(t):
    """Where squares of distances are too small for the dtype, torch gives 0: see tests/vocabulary/test_range.py."""
    a = t.tensor([0.0, 1e-15, -1e-16, 0.0], requires_grad=True)
    b = t.tensor([0.0, 1e-15, 1e-10, 1e-15], requires_grad=True)
    return list(t.autograd.grad(t.atan2(a, b).sum(), (a, b)))
