"""SciPy's special functions on tensors: SciPy's values, the gradients of finite differences, refusals by name."""

import numpy as np
import pytest

import pullback
from pullback._numpy.scipy_names import FUNCTIONS

from ..differences import check

special = pytest.importorskip("scipy.special", reason="these are SciPy's functions")

REAL = np.array([[0.31, -0.72, 1.93], [-1.24, 0.85, 2.36]])
POSITIVE, SHAPES = np.abs(REAL), np.array([0.7, 1.4, 2.6])
FRACTIONS = POSITIVE / 3
WHOLE = np.array([0.0, 1.0, 4.0])

OF_ONE = {
    "erf": REAL, "erfc": REAL, "erfcx": REAL, "erfinv": FRACTIONS, "entr": POSITIVE, "exp2": REAL, "expit": REAL,
    "expm1": REAL, "gammaln": REAL, "i0": REAL, "i0e": REAL, "i1": REAL, "i1e": REAL, "log1p": POSITIVE, "log_ndtr": REAL,
    "logit": FRACTIONS, "ndtr": REAL, "ndtri": FRACTIONS, "psi": REAL, "digamma": REAL, "round": REAL, "j0": REAL, "j1": REAL,
    "y0": POSITIVE, "y1": POSITIVE, "k0": POSITIVE, "k1": POSITIVE, "k0e": POSITIVE, "k1e": POSITIVE, "cbrt": REAL,
    "exp10": REAL, "log_expit": REAL, "loggamma": POSITIVE, "gamma": REAL, "dawsn": REAL, "erfi": REAL, "erfcinv": FRACTIONS,
    "expi": REAL, "exp1": POSITIVE, "ellipk": FRACTIONS, "ellipe": FRACTIONS, "wrightomega": REAL, "cosm1": REAL,
    "sindg": REAL, "cosdg": REAL, "tandg": REAL, "cotdg": REAL, "sici": POSITIVE, "shichi": POSITIVE, "fresnel": REAL,
}  # fmt: skip
OF_SEVERAL = {
    "betainc": (SHAPES, 1.3, FRACTIONS), "betaincc": (SHAPES, 1.3, FRACTIONS), "gammainc": (SHAPES, POSITIVE),
    "gammaincc": (SHAPES, POSITIVE), "xlogy": (REAL, SHAPES), "xlog1py": (REAL, SHAPES), "zeta": (SHAPES + 1.5, POSITIVE),
    "beta": (SHAPES, POSITIVE), "betaln": (SHAPES, POSITIVE), "binom": (SHAPES + 3, POSITIVE), "poch": (SHAPES, POSITIVE),
    "owens_t": (REAL, SHAPES), "gammaincinv": (SHAPES, FRACTIONS), "gammainccinv": (SHAPES, FRACTIONS),
    "betaincinv": (SHAPES, 1.3, FRACTIONS), "rel_entr": (SHAPES, POSITIVE), "kl_div": (SHAPES, POSITIVE),
    "pseudo_huber": (SHAPES, REAL), "huber": (SHAPES, REAL), "powm1": (POSITIVE, SHAPES), "chdtr": (SHAPES, POSITIVE),
    "chdtrc": (SHAPES, POSITIVE), "gdtr": (SHAPES, 1.3, POSITIVE), "gdtrc": (SHAPES, 1.3, POSITIVE),
    "fdtr": (SHAPES, 1.3, POSITIVE), "fdtrc": (SHAPES, 1.3, POSITIVE), "stdtr": (SHAPES, REAL),
}  # fmt: skip
OF_ORDER = {
    "jv": SHAPES, "yv": SHAPES, "iv": SHAPES, "kv": SHAPES, "ive": SHAPES, "kve": SHAPES, "hyp0f1": SHAPES, "expn": WHOLE,
    "pdtr": WHOLE, "pdtrc": WHOLE, "eval_chebyt": 3, "eval_chebyu": 3, "eval_hermite": 3, "eval_hermitenorm": 3,
    "eval_laguerre": 3, "eval_legendre": WHOLE, "eval_sh_chebyt": 3, "eval_sh_chebyu": 3,
}  # fmt: skip
EVENTS = {"bdtr": (2.0, 5), "bdtrc": (WHOLE[:, None], 5), "nbdtr": (2, 5), "nbdtrc": (WHOLE[:, None], 5)}
BEHIND = {"boxcox": SHAPES, "boxcox1p": SHAPES, "inv_boxcox": SHAPES, "inv_boxcox1p": SHAPES}

present = [name for name in FUNCTIONS if hasattr(special, name)]


def test_every_function_is_tried():
    tried = {*OF_ONE, *OF_SEVERAL, *OF_ORDER, *BEHIND, *EVENTS, "hyp1f1", "hyp2f1", "lambertw"}
    assert tried - {"digamma"} == FUNCTIONS.keys()


@pytest.mark.parametrize("name", OF_ONE)
def test_functions_of_one_tensor(name):
    check(getattr(special, name), OF_ONE[name])


@pytest.mark.parametrize("name", OF_SEVERAL)
def test_functions_of_several_tensors(name):
    if not hasattr(special, name):
        pytest.skip(f"this SciPy has no {name}")
    arrays = [array for array in OF_SEVERAL[name] if isinstance(array, np.ndarray)]

    def function(*given):
        rest = iter(given)
        return getattr(special, name)(*(next(rest) if isinstance(a, np.ndarray) else a for a in OF_SEVERAL[name]))

    check(function, *arrays)
    check(lambda x: function(x, *arrays[1:]), arrays[0])
    check(lambda x: function(arrays[0], x), arrays[1])


@pytest.mark.parametrize("name", OF_ORDER)
def test_orders_stand_first(name):
    function, order = getattr(special, name), OF_ORDER[name]
    check(lambda x: function(order, x), POSITIVE)
    tracked = pullback.tensor(np.asarray(order, float), requires_grad=True)
    with pytest.raises(TypeError, match=r"^scipy\.special\.\w+ has no derivative here: "):
        function(tracked, pullback.tensor(POSITIVE))
    np.testing.assert_allclose(function(pullback.tensor(np.asarray(order)), POSITIVE), function(order, POSITIVE))


@pytest.mark.parametrize("name", EVENTS)
def test_numbers_of_events(name):
    function, numbers = getattr(special, name), EVENTS[name]
    check(lambda p: function(*numbers, p), FRACTIONS[0])
    with pytest.raises(TypeError, match=r"^scipy\.special\.\w+ has no derivative here: numbers of events are whole"):
        function(pullback.tensor(2.0, requires_grad=True), 5, FRACTIONS)


@pytest.mark.parametrize("branch", [0, -1])
def test_branches_of_lamberts_function(branch):
    """Of exp(w) * w, by the function itself: w -> z -> w is the identity, with derivatives to the fourth order."""
    w = pullback.tensor([0.4, 1.3] if branch == 0 else [-1.5, -2.4], dtype=pullback.float64, requires_grad=True)
    z = w * w.exp()
    again = special.lambertw(z, branch).real
    np.testing.assert_allclose(again.detach().numpy(), w.detach().numpy())
    for expected in (1, 0, 0, 0):
        (again,) = pullback.autograd.grad(again.sum(), w, create_graph=True)
        np.testing.assert_allclose(again.detach().numpy(), expected, atol=1e-8)


@pytest.mark.parametrize(("branch", "sign"), [(0, 1), (-1, -1)])
def test_lamberts_function_where_its_branches_meet(branch, sign):
    """Near -1/e, where y + 1 is a series in p = sqrt(2 (e x + 1)); SciPy's values of branch -1 have none of its digits there."""
    x = -float(np.exp(-1)) + np.array([1e-13, 1e-10, 1e-7, 1e-5])
    p = sign * np.sqrt(2 * np.e * ((x + 0.36787944117144233) - 1.2428753672788363e-17))
    place = pullback.tensor(x, requires_grad=True)
    y = special.lambertw(place, branch).real
    (slope,) = pullback.autograd.grad(y.sum(), place)
    np.testing.assert_allclose(y.detach().numpy() + 1, p - p**2 / 3 + 11 / 72 * p**3 - 43 / 540 * p**4, rtol=1e-7)
    np.testing.assert_allclose(slope.numpy(), np.e * (1 / p - 2 / 3 + 11 / 24 * p - 43 / 135 * p**2), rtol=1e-7)


@pytest.mark.parametrize("name", BEHIND)
def test_parameters_stand_behind(name):
    check(lambda x: getattr(special, name)(x, BEHIND[name]), POSITIVE)
    with pytest.raises(TypeError, match=f"^scipy.special.{name} has no derivative here: "):
        getattr(special, name)(POSITIVE, pullback.tensor(SHAPES, requires_grad=True))


LEAST, MOST = 5e-324, 1.7976931348623157e308
AT_THE_ENDS = [
    ("rel_entr", 1e-10, LEAST, 7.214142209914407e-08),  # the quotient overflows, or is 0, or near 1
    ("rel_entr", LEAST, 50.0, -3.696e-321),
    ("rel_entr", 1.0, 1 + 2**-30, -(2**-30) + 2**-61),
    ("kl_div", -1e-10, -np.inf, np.inf),
    ("kl_div", np.inf, 2.0, np.inf),
    ("kl_div", 1e-10, LEAST, 7.204142209914408e-08),
    ("kl_div", LEAST, 2.0, 2.0),
    ("pseudo_huber", -1e10, 0.0, np.inf),
    ("pseudo_huber", 0.0, 3.0, 0.0),
    ("pseudo_huber", np.inf, 0.0, 0.0),
    ("pseudo_huber", 1.0, 1e-10, 5e-21),
    ("powm1", 1e-10, -1e4, np.inf),
    ("powm1", -1e-10, -10001.0, -np.inf),
    ("powm1", -1e10, np.inf, np.inf),
    ("powm1", -2.0, -np.inf, -1.0),
    ("powm1", 3.0, 1e-300, np.log(3) * 1e-300),
    ("powm1", np.inf, 0.0, 0.0),
    ("boxcox", 4.0, LEAST, np.log(4)),
    ("boxcox", 0.0, 1e-30, -1e30),
    ("boxcox", np.inf, LEAST, np.inf),
    ("boxcox", 1e20, 15.42, 1e308 / 15.42 * 10**0.4),  # where x^p overflows
    ("boxcox1p", 1e-30, LEAST, 1e-30),
    ("boxcox1p", np.expm1(2.0), 0.0, 2.0),
    ("inv_boxcox", 0.25, LEAST, np.exp(0.25)),
    ("inv_boxcox", MOST, 1.5, 4.173860014291727e205),  # where p x overflows
    ("inv_boxcox1p", 0.25, LEAST, np.expm1(0.25)),
    ("inv_boxcox1p", -1e4, 1e-200, -1.0),
]


@pytest.mark.parametrize("form", [lambda f: f, pullback.compile], ids=["eager", "compiled"])
@pytest.mark.parametrize(("name", "a", "b", "expected"), AT_THE_ENDS)
def test_values_at_the_ends_of_the_numbers(name, a, b, expected, form):
    """Those of the formula, where SciPy's own are wrong, as its powm1(0.5, -2000.0), which is 0."""
    with np.errstate(all="ignore"):
        found = form(getattr(special, name))(*(pullback.tensor([x], dtype=pullback.float64) for x in (a, b)))
    np.testing.assert_allclose(found.numpy(), [expected], rtol=1e-12)


def test_hypergeometric_functions():
    check(lambda x: special.hyp1f1(0.7, SHAPES, x), REAL)
    check(lambda x: special.hyp2f1(0.7, -1.3, SHAPES, x), FRACTIONS)
    with pytest.raises(TypeError, match=r"^scipy\.special\.hyp2f1 has no derivative here: "):
        special.hyp2f1(pullback.tensor(0.7, requires_grad=True), 1.0, 2.0, 0.5)


@pytest.mark.parametrize("name", [n for n in dir(special) if isinstance(getattr(special, n), np.ufunc)])
def test_the_others_are_refused_by_name(name):
    ufunc = getattr(special, name)
    if ufunc.__name__ not in FUNCTIONS and ufunc not in (np.exp2, np.log1p):
        x = pullback.tensor(0.5, requires_grad=True)
        with pytest.raises(TypeError, match=r"^(scipy\.special|numpy)\.\w+ has no derivative here: "):
            ufunc(*[x] * ufunc.nin)


def test_values_of_tensors_that_are_not_tracked():
    assert special.erf(pullback.tensor(REAL)).tolist() == pullback.erf(pullback.tensor(REAL)).tolist()
    np.testing.assert_array_equal(special.struve(1, pullback.tensor(REAL)), special.struve(1, REAL))


def test_results_are_written_and_reduced_like_those_of_numpy():
    out = pullback.zeros(2, 3, dtype=pullback.float64)
    x = pullback.tensor(POSITIVE, requires_grad=True)
    assert special.gammaln(x, out=out) is out
    out.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), special.psi(POSITIVE))
    check(lambda a: special.xlogy.outer(SHAPES, a), POSITIVE)


def test_single_precision_stays():
    x = pullback.tensor(np.float32(POSITIVE), requires_grad=True)
    for function in (special.gamma, special.erf, lambda x: special.jv(1.5, x), lambda x: special.beta(x, 2.0)):
        assert function(x).dtype == pullback.float32
        function(x).sum().backward()
    assert x.grad.dtype == pullback.float32


def test_functions_that_are_no_ufuncs_refuse_what_is_tracked():
    """SciPy writes these in Python, on arrays: pullback has logsumexp, softmax and polygamma itself."""
    x = pullback.tensor(REAL, requires_grad=True)
    for function in (special.logsumexp, special.softmax, lambda t: special.polygamma(1, t)):
        with pytest.raises(RuntimeError, match="requires grad"):
            function(x)
