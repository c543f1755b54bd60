"""NumPy's elementwise functions on tensors: the values NumPy has, the gradients finite differences have."""

import numpy as np
import pytest

import pullback

from ..differences import check

A = np.array([[0.3, -0.7, 1.9], [-1.2, 0.8, 2.3]])
B = np.array([[0.9, 1.4, -0.6], [0.5, -2.1, 1.1]])
FRACTIONS = np.abs(A) / 3 + 0.05
COMPLEX = A + 1j * B

ONE = {
    "arcsinh": A, "arctan": A, "cbrt": A, "deg2rad": A, "radians": A, "rad2deg": A, "degrees": A, "exp2": A, "fabs": A,
    "sinc": A, "fix": A, "modf": A, "sign": A, "real": A, "nan_to_num": A, "arccos": FRACTIONS, "arcsin": FRACTIONS,
    "arctanh": FRACTIONS, "log2": FRACTIONS, "log10": FRACTIONS, "arccosh": FRACTIONS + 1,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated")  # by NumPy 2.5, which still has it
@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_tensor(name):
    check(getattr(np, name), ONE[name])


@pytest.mark.parametrize(
    "name", ["arctan2", "hypot", "logaddexp", "logaddexp2", "copysign", "fmax", "fmin", "fmod", "nextafter"]
)
@pytest.mark.parametrize("second", [B, B[0], B[:, :1]], ids=["same", "row", "column"])
def test_functions_of_two_tensors(name, second):
    check(getattr(np, name), A, second)
    check(lambda x: getattr(np, name)(x, second), A)
    check(lambda x: getattr(np, name)(A, x), second)
    check(lambda x: getattr(np, name)(x, 2.5), A)
    check(lambda x: getattr(np, name)(2.5, x), A)


def test_powers_and_exponents():
    check(np.float_power, FRACTIONS, B)
    check(lambda x: np.ldexp(x, np.array([1, -2, 3])), A)
    t = pullback.tensor(A, requires_grad=True)
    mantissa, exponent = np.frexp(t)
    assert (mantissa.tolist(), exponent.tolist()) == tuple(part.tolist() for part in np.frexp(A))
    assert mantissa.requires_grad
    quotient, rest = np.divmod(t, 0.75)
    assert (quotient.tolist(), rest.tolist()) == tuple(part.tolist() for part in np.divmod(A, 0.75))
    assert rest.requires_grad


def test_decimals():
    check(lambda x: np.round(x * 1.01, 1), A)
    check(lambda x: np.around(x * 101, -1), A)


@pytest.mark.parametrize("function", [np.angle, np.real, np.imag, np.sign, lambda z: np.angle(z, deg=True)])
def test_parts_of_complex_numbers(function):
    t = pullback.tensor(COMPLEX, requires_grad=True)
    np.testing.assert_allclose(
        function(t).detach().numpy(), COMPLEX / np.abs(COMPLEX) if function is np.sign else function(COMPLEX)
    )
    assert function(t).requires_grad


def test_the_imaginary_part_of_real_numbers_is_zero():
    assert np.imag(pullback.tensor(A)).tolist() == np.imag(A).tolist()


def test_numbers_for_what_is_not_finite():
    values = np.array([1.0, np.nan, np.inf, -np.inf])
    t = pullback.tensor(values, requires_grad=True)
    for options in ({}, {"nan": -1.0}, {"posinf": 7.0, "neginf": -7.0}):
        assert np.nan_to_num(t, **options).tolist() == np.nan_to_num(values, **options).tolist()


def test_integers():
    a, b = np.array([12, -18, 7]), np.array([2, 3, 1])
    for ufunc in (np.gcd, np.lcm, np.left_shift, np.right_shift):
        assert ufunc(pullback.tensor(a), pullback.tensor(b)).tolist() == ufunc(a, b).tolist()
    assert np.signbit(pullback.tensor(a)).tolist() == np.signbit(a).tolist()


def test_questions_about_values():
    t = pullback.tensor(A, requires_grad=True)
    for ask in (np.isposinf, np.isneginf, np.isreal, np.iscomplex, lambda x: np.isin(x, [0.3, 2.3])):
        assert ask(t).tolist() == ask(A).tolist()


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("function", [np.convolve, np.correlate])
def test_convolution_of_sequences(function, mode):
    check(lambda a, v: function(a, v, mode), np.array([1.0, -2.0, 0.5, 3.0]), np.array([0.5, 1.5]))


@pytest.mark.parametrize("period", [4, 5, 360, 4.0])
@pytest.mark.parametrize("dtype", ["int64", "float32", "float64"])
def test_unwrapped_integers_stay_whole_where_the_period_is(period, dtype):
    a = np.array([-2, 0, 3, -1, 6, 197, 0, 2]).astype(dtype)
    wanted = np.unwrap(a, period=period)
    found = np.unwrap(pullback.tensor(a), period=period)
    assert (found.tolist(), found.numpy().dtype.kind) == (wanted.tolist(), wanted.dtype.kind)
