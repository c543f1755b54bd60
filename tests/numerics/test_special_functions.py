"""The special functions: their values against 40 digits of mpmath, their derivatives by shapes, and SciPy's absence."""

import subprocess
import sys

import numpy as np
import pytest

import pullback
from pullback import special
from pullback.autograd import grad

# (argument, value) with the value rounded from 40 digits
ONE = {
    "erf": [
        (1e-300, 1.1283791670955126e-300), (-0.3, -0.3286267594591274), (0.46875, 0.49261347321793797),
        (0.5, 0.5204998778130465), (1.5, 0.9661051464753108), (3.9, 0.9999999652077514), (-4.5, -0.9999999998033839),
        (6.5, 1.0), (np.inf, 1.0), (np.nan, np.nan),
    ],
    "erfc": [
        (-3.0, 1.9999779095030015), (0.2, 0.7772974107895215), (0.6, 0.3961439091520741), (3.5, 7.430983723414128e-07),
        (7.0, 4.183825607779414e-23), (26.0, 5.663192408856143e-296), (np.inf, 0.0), (-np.inf, 2.0),
    ],
    "erfinv": [
        (1e-200, 8.86226925452758e-201), (-0.4, -0.37080715859355795), (0.9, 1.1630871536766743),
        (-0.999, -2.3267537655135246), (0.9999999999999991, 5.686128441310391), (1.0, np.inf), (1.5, np.nan),
    ],
    "erfcx": [
        (-5.0, 144009798674.66104), (-0.2, 1.2726020284831958), (0.3, 0.7345993345676551), (2.0, 0.25539567631050575),
        (30.0, 0.01879588886141675), (1e9, 5.641895835477563e-10),
    ],
    "ndtri": [
        (1e-300, -37.0470962993612), (1e-10, -6.361340902404057), (0.05, -1.6448536269514726),
        (0.4, -0.2533471031357997), (0.97, 1.8807936081512506), (0.0, -np.inf), (1.0, np.inf),
    ],
    "ndtr": [
        (-10.0, 7.619853024160525e-24), (-1.0, 0.15865525393145705), (0.3, 0.6179114221889527),
        (5.0, 0.9999997133484281),
    ],
    "log_ndtr": [
        (-40.0, -804.6084420137538), (-2.0, -3.783184333682032), (0.5, -0.3689464152886564),
        (8.0, -6.220960574271786e-16),
    ],
    "gammaln": [
        (1e-300, 690.7755278982137), (0.3, 1.0957979948180756), (0.999, 0.0005780385328913802),
        (1.0001, -5.771334222047127e-05), (1.5, -0.12078223763524522), (2.000001, 4.2278465762452923e-07),
        (3.7, 1.428072326665388), (9.99, 12.779315214350193), (10.0, 12.801827480081469), (123.4, 469.3360974421906),
        (1e300, 6.897755278982137e302), (-0.5, 1.2655121234846454), (-7.3, -7.779101629826852), (-3.0, np.inf),
        (0.0, np.inf),
    ],
    "digamma": [
        (1e-10, -10000000000.577215), (0.3, -3.502524222200133), (1.0, -0.5772156649015329), (1.5, 0.03648997397857652),
        (9.99, 2.250700372831201), (10.0, 2.251752589066721), (1e10, 23.025850929890456), (-0.7, -2.073952793628704),
        (-7.3, 4.33730730551005), (0.0, -np.inf), (-2.0, np.nan),
    ],
}  # fmt: skip
ULPS = {"ndtr": 60, "log_ndtr": 60, "digamma": 40}  # they round their argument first, or cancel near their root

POLYGAMMA = {
    1: [101.43329915079275, 1.6449340668482264, 0.08690187287176838, 14.725912160961292],
    2: [-2001.8614573783436, -2.4041138063191885, -0.007547205368998912, 68.71379252927031],
    5: [120000069.30751093, 122.0811674381339, 0.00011820829051081491, 165660.05361165272],
}

# (s, q, zeta, its derivative by s)
ZETA = [
    (1.5, 1.0, 2.612375348685488, -3.9322397374311016), (2.0, 0.3, 12.245364546107732, 12.34193068888522),
    (4.0, 25.0, 2.2647439418045616e-05, -8.00018898035042e-05), (30.0, 2.0, 9.313274324196682e-10, -6.45548953880003e-10),
]  # fmt: skip

# (a, x, the first and the second derivative of gammainc by a)
GAMMAINC = [
    (0.5, 0.1, -0.8229360969795988, 1.6586313062993034), (0.5, 4.0, -0.016565975346630367, -0.035713803454631945),
    (3.0, 2.0, -0.2318486720439896, 0.09884154888754006), (3.0, 5.0, -0.11369283868778592, -0.05866136487195219),
    (1000.0, 990.0, -0.012057749285283054, 0.00012119553495750247),
    (1000.0, 1010.0, -0.011945731337225441, -0.00011887289008597825),
]  # fmt: skip

# (a, b, x, the derivatives of betainc by a and b)
BETAINC = [
    (0.5, 2.0, 0.1, -0.771199953615557, 0.11323389562236229), (0.5, 2.0, 0.9, -0.010083119747446544, 0.009769840395091852),
    (3.0, 2.0, 0.6, -0.15634433641359877, 0.24086937608755657),
    (100.0, 200.0, 0.3, -0.01579154131969264, 0.007306944329466244),
    (100.0, 200.0, 0.4, -0.0017382206692621053, 0.0010035718577312458),
    (2.0, 0.01, 0.75, -0.004087082622867923, 0.6377883748985775),
]  # fmt: skip


def columns(table):
    return [np.array(column) for column in zip(*table, strict=True)]


def tensors(*arrays):
    return [pullback.from_numpy(array).requires_grad_() for array in arrays]


@pytest.mark.parametrize("name", ONE)
def test_values_to_some_units_in_the_last_place(name):
    x, expected = columns(ONE[name])
    found = getattr(special, name)(pullback.from_numpy(x)).numpy()
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(found[~finite], expected[~finite])
    most = ULPS.get(name, 5) * np.spacing(abs(expected[finite]))
    np.testing.assert_array_less(abs(found[finite] - expected[finite]), most)


@pytest.mark.parametrize("n", POLYGAMMA)
def test_polygamma(n):
    x = pullback.tensor([0.1, 1.0, 12.0, -2.3], dtype=pullback.float64)
    np.testing.assert_allclose(special.polygamma(n, x).numpy(), POLYGAMMA[n], rtol=4e-15)


def test_zeta_and_its_derivative_by_the_exponent():
    s, q, expected, slope = columns(ZETA)
    s, q = tensors(s, q)
    found = special.zeta(s, q)
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-15)
    np.testing.assert_allclose(grad(found.sum(), s)[0].numpy(), slope, rtol=2e-15)


def test_float16_and_float32_are_rounded_once():
    x = np.linspace(-3, 3, 50)
    for dtype in (np.float16, np.float32):
        near = x.astype(dtype)
        found = special.erfc(pullback.from_numpy(near))
        assert found.dtype.numpy == dtype
        np.testing.assert_array_equal(
            found.numpy(), special.erfc(pullback.from_numpy(near.astype(float))).numpy().astype(dtype)
        )


def test_erf_of_float32_has_its_own_quotient():
    x = np.concatenate([np.linspace(-5, 5, 4001), [1e-30, 1e10, np.inf, np.nan]]).astype(np.float32)
    found = special.erf(pullback.from_numpy(x))
    exact = special.erf(pullback.from_numpy(x.astype(float))).numpy()
    assert found.dtype == pullback.float32
    np.testing.assert_allclose(found.numpy(), exact, rtol=5e-7)
    assert found.numpy()[:-1].max() == 1
    np.testing.assert_array_equal(special.erf(pullback.tensor(0.5, dtype=pullback.float16)).numpy(), np.float16(0.5205))


@pytest.mark.parametrize(("name", "low", "most"), [("erfc", -11, 1), ("gammaln", -5, 2), ("digamma", -5, 1)])
def test_functions_of_float32_have_formulas_of_their_own(name, low, most):
    """They agree with those of float64 to some units in the last place of float32, also next to roots and poles."""
    near = [-np.inf, -3.0, -0.0, 0.0, 1e-30, 1 - 2**-24, 1 + 2**-23, 2 - 2**-23, 1e5, 1e31, np.inf, np.nan]
    x = np.concatenate([np.linspace(low, 11, 4001), near]).astype(np.float32)
    found, exact = (getattr(special, name)(pullback.from_numpy(each)).numpy() for each in (x, x.astype(float)))
    expected = exact.astype(np.float32)
    assert found.dtype == np.float32
    plain = np.isfinite(expected)
    np.testing.assert_array_equal(found[~plain], expected[~plain])
    assert np.max(abs(found[plain] - exact[plain]) / np.spacing(abs(expected[plain]))) <= most


def test_lgamma_of_float32_is_zero_at_one_and_two():
    np.testing.assert_array_equal(pullback.lgamma(pullback.tensor([1.0, 2.0])).numpy(), 0)


def test_the_derivatives_of_the_incomplete_gamma_function_by_its_shape():
    a, x, first, second = columns(GAMMAINC)
    a, x = tensors(a, x)
    (slope,) = grad(pullback.igamma(a, x).sum(), a, create_graph=True)
    np.testing.assert_allclose(slope.detach().numpy(), first, rtol=1e-13)
    np.testing.assert_allclose(grad(slope.sum(), a)[0].numpy(), second, rtol=2e-12)
    np.testing.assert_allclose(grad(pullback.igammac(a, x).sum(), a)[0].numpy(), -first, rtol=1e-13)


def test_the_derivatives_of_the_incomplete_beta_function_by_its_shapes():
    a, b, x, by_a, by_b = columns(BETAINC)
    a, b, x = tensors(a, b, x)
    slopes = grad(special.betainc(a, b, x).sum(), [a, b])
    np.testing.assert_allclose(slopes[0].numpy(), by_a, rtol=1e-12)
    np.testing.assert_allclose(slopes[1].numpy(), by_b, rtol=1e-12)


def test_the_shapes_have_no_influence_at_the_ends():
    a, b = tensors(np.array([0.5, 2.0]), np.array([3.0, 0.5]))
    x = pullback.tensor([0.0, 1.0], dtype=pullback.float64)
    for slope in grad(special.betainc(a, b, x).sum(), [a, b]):
        np.testing.assert_array_equal(slope.numpy(), 0)
    np.testing.assert_array_equal(grad(pullback.igamma(a, x * 0).sum(), a)[0].numpy(), 0)


def test_a_polynomial_has_a_slope_at_the_ends_of_its_interval():
    """T_n' is n * n at 1, where n * U_(n-1) / sin is 0 / 0."""
    (x,) = tensors(np.array([1.0, 1.0, -1.0]))
    n = pullback.tensor([3, 40, 4])
    (slope,) = grad(special.chebyshev_polynomial_t(x, n).sum(), x)
    np.testing.assert_array_equal(slope.numpy(), [9, 1600, -16])


def test_what_special_functions_refuse():
    x = pullback.ones(2)
    for wrong, error, text in (
        (lambda: pullback.polygamma(-1, x), RuntimeError, "negative n"),
        (lambda: pullback.polygamma(1.5, x), TypeError, "must be int"),
        (lambda: pullback.mvlgamma(x, 0), RuntimeError, "p has to be greater than or equal to 1"),
        (lambda: pullback.igamma(x, 2.0), TypeError, "must be Tensor"),
        (lambda: pullback.igamma(x.long(), x.long()), NotImplementedError, "not implemented for"),
        (lambda: special.zeta(2, 2), TypeError, "must be Tensor"),
        (lambda: pullback.erf(x + 1j), NotImplementedError, "complex"),
        (lambda: special.xlog1py(x, pullback.ones(3)), RuntimeError, "must match the size"),
    ):
        with pytest.raises(error, match=text):
            wrong()


WITHOUT_SCIPY = """
import sys
sys.modules["scipy"] = None
import pullback as pb
x = pb.tensor([0.3, 0.7], requires_grad=True)
for f in (pb.erf, pb.erfc, pb.erfinv, pb.lgamma, pb.digamma, pb.special.ndtri, lambda t: pb.special.zeta(t + 2, t)):
    f(x).sum().backward()
pb.special.legendre_polynomial_p(x, 3), pb.kaiser_window(5), pb.polygamma(2, x)
try:
    pb.special.bessel_j0(x)
except ModuleNotFoundError as error:
    print(error)
"""


def test_without_scipy_the_error_names_the_extra():
    result = subprocess.run([sys.executable, "-c", WITHOUT_SCIPY], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "python -m pip install 'pullback[special]'" in result.stdout


@pytest.mark.parametrize("name", ["hann", "hamming", "blackman", "nuttall", "bartlett", "cosine", "gaussian", "kaiser"])
def test_a_periodic_window_is_a_symmetric_one_without_its_end(name):
    window = getattr(pullback.signal.windows, name)
    for length in (2, 5, 8):
        longer = window(length + 1, dtype=pullback.float64)
        np.testing.assert_allclose(
            window(length, sym=False, dtype=pullback.float64).numpy(), longer[:-1].numpy(), atol=1e-15
        )
    assert window(0).shape == (0,)
    assert window(1).tolist() == [1.0]


def test_what_windows_refuse():
    windows = pullback.signal.windows
    for wrong, error, text in (
        (lambda: windows.hann(-1), ValueError, "non-negative window length"),
        (lambda: windows.hann(3, dtype=pullback.int64), ValueError, "float32 or float64"),
        (lambda: windows.gaussian(3, std=0.0), ValueError, "Standard deviation must be positive"),
        (lambda: windows.exponential(3, center=1.0), ValueError, "Center must be None"),
        (lambda: windows.general_cosine(3, a=[]), ValueError, "Coefficients cannot be empty"),
        (lambda: pullback.hann_window(-1), RuntimeError, "non-negative window_length"),
        (lambda: pullback.hann_window(3, dtype=pullback.int64), RuntimeError, "floating point dtypes"),
        (lambda: pullback.kaiser_window(3.5), TypeError, "must be int"),
    ):
        with pytest.raises(error, match=text):
            wrong()
