"""First and second derivatives of elementwise functions beside mpmath, from the middle of each domain to its ends.

The error allowed is some units in the last place times 1 + abs(x d'/d), what rounding x alone would cause. The first
derivative of each function is written in a form that does not cancel; mpmath differentiates it once more.
"""

import mpmath
import numpy as np

import pullback
from pullback import special
from pullback.nn import functional

FEW = 4
UNITS = 1000
BY_RESULT = {  # where rules compute 1 - y from a result y, the error allowed is that of 1; from which derivative on
    **dict.fromkeys(("sigmoid", "tanh", "glu", "gelu", "softmax", "softmax, other", "cross entropy"), 0),
    **dict.fromkeys(("log_softmax", "log_softmax, other"), 0), "logsumexp": 1, "tanhshrink": 1,
}  # fmt: skip

mp = mpmath


def sigmoid(x):
    return 1 / (1 + mp.exp(-x))


def density(x):
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def below(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def sech(x):
    return 1 / mp.cosh(x)


def mish(x):
    soft = mp.log1p(mp.exp(x))
    return mp.tanh(soft) + x * sigmoid(x) * sech(soft) ** 2


def gelu_by_tanh(x):
    inner = mp.sqrt(2 / mp.pi) * (x + mp.mpf(0.044715) * x**3)
    slope = mp.sqrt(2 / mp.pi) * (1 + 3 * mp.mpf(0.044715) * x * x)
    return sigmoid(2 * inner) + x * sech(inner) ** 2 * slope / 2


def inverse_erf(x):
    """erfinv in full precision, from a start near it."""
    start = float(np.clip(float(mp.erfinv(x)), -30, 30))
    return mp.findroot(lambda y: (mp.erf(y) - x) if abs(x) < 0.5 else mp.erfc(abs(y)) - (1 - abs(x)), start)


def quantile(p):
    if p <= 0.5:
        start = -mp.sqrt(-2 * mp.log(p)) if p < 0.01 else -mp.sqrt(2) * mp.erfinv(1 - 2 * p)
        return mp.findroot(lambda y: mp.log(below(y)) - mp.log(p), start)
    return mp.findroot(lambda y: below(y) - p, mp.sqrt(2) * mp.erfinv(2 * p - 1))


LINE = "line"  # small, moderate and large numbers of both signs
POSITIVE = "positive"  # from near 0 to large
UNIT = "unit"  # between 0 and 1, near both
BALL = "ball"  # between -1 and 1, near both and near 0
ABOVE_ONE = "above one"

# name: (function, its first derivative, domain, bound of abs(x), options)
FUNCTIONS = {
    "sigmoid": (pullback.sigmoid, lambda x: sigmoid(x) * sigmoid(-x), LINE, 600),
    "logsigmoid": (functional.logsigmoid, lambda x: sigmoid(-x), LINE, 600),
    "softplus": (lambda x: functional.softplus(x, threshold=1000), sigmoid, LINE, 600),
    "tanh": (pullback.tanh, lambda x: sech(x) ** 2, LINE, 300),
    "silu": (functional.silu, lambda x: sigmoid(x) * (1 + x * sigmoid(-x)), LINE, 600),
    "mish": (functional.mish, mish, LINE, 300),
    "gelu": (functional.gelu, lambda x: below(x) + x * density(x), LINE, 35),
    "gelu by tanh": (lambda x: functional.gelu(x, "tanh"), gelu_by_tanh, LINE, 18),
    "cross entropy of logits, 0": (
        lambda x: functional.binary_cross_entropy_with_logits(x, pullback.zeros_like(x), reduction="none"), sigmoid, LINE, 600),
    "cross entropy of logits, 1": (
        lambda x: functional.binary_cross_entropy_with_logits(x, pullback.ones_like(x), reduction="none"),
        lambda x: -sigmoid(-x), LINE, 600),
    "soft margin loss": (
        lambda x: functional.soft_margin_loss(x, pullback.ones_like(x), reduction="none"), lambda x: -sigmoid(-x), LINE, 600),
    "erf": (pullback.erf, lambda x: 2 * mp.exp(-x * x) / mp.sqrt(mp.pi), LINE, 25),
    "erfc": (pullback.erfc, lambda x: -2 * mp.exp(-x * x) / mp.sqrt(mp.pi), LINE, 25),
    "erfcx": (special.erfcx, lambda x: 2 * x * mp.exp(x * x) * mp.erfc(x) - 2 / mp.sqrt(mp.pi), LINE, 20),
    "ndtr": (special.ndtr, density, LINE, 35),
    "log_ndtr": (special.log_ndtr, lambda x: density(x) / below(x), LINE, 35),
    "erfinv": (pullback.erfinv, lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(inverse_erf(x) ** 2), BALL, 1),
    "ndtri": (special.ndtri, lambda p: 1 / density(quantile(p)), UNIT, 1),
    "logit": (pullback.logit, lambda x: 1 / (x * (1 - x)), UNIT, 1),
    "expm1": (pullback.expm1, mp.exp, LINE, 600),
    "log1p": (pullback.log1p, lambda x: 1 / (1 + x), BALL, 1),
    "log": (pullback.log, lambda x: 1 / x, POSITIVE, 1e6),
    "exp": (pullback.exp, mp.exp, LINE, 600),
    "exp2": (pullback.exp2, lambda x: mp.mpf(2) ** x * mp.log(2), LINE, 600),
    "sinh": (pullback.sinh, mp.cosh, LINE, 600),
    "cosh": (pullback.cosh, mp.sinh, LINE, 600),
    "asinh": (pullback.asinh, lambda x: 1 / mp.sqrt(1 + x * x), LINE, 1e6),
    "acosh": (pullback.acosh, lambda x: 1 / mp.sqrt((x - 1) * (x + 1)), ABOVE_ONE, 1e6),
    "atanh": (pullback.atanh, lambda x: 1 / ((1 - x) * (1 + x)), BALL, 1),
    "asin": (pullback.asin, lambda x: 1 / mp.sqrt((1 - x) * (1 + x)), BALL, 1),
    "acos": (pullback.acos, lambda x: -1 / mp.sqrt((1 - x) * (1 + x)), BALL, 1),
    "atan": (pullback.atan, lambda x: 1 / (1 + x * x), LINE, 1e6),
    "sqrt": (pullback.sqrt, lambda x: 1 / (2 * mp.sqrt(x)), POSITIVE, 1e6),
    "rsqrt": (pullback.rsqrt, lambda x: -1 / (2 * x * mp.sqrt(x)), POSITIVE, 1e6),
    "reciprocal": (pullback.reciprocal, lambda x: -1 / x**2, POSITIVE, 1e6),
    "sinc": (pullback.sinc, lambda x: mp.diff(mp.sincpi, x), LINE, 3),
    "entr": (special.entr, lambda x: -1 - mp.log(x), POSITIVE, 1e6),
    "xlogy": (lambda x: special.xlogy(x, x), lambda x: 1 + mp.log(x), POSITIVE, 1e6),
    "xlog1py": (lambda x: special.xlog1py(x, x), lambda x: mp.log1p(x) + x / (1 + x), BALL, 1),
    "softsign": (functional.softsign, lambda x: 1 / (1 + abs(x)) ** 2, LINE, 1e6),
    "tanhshrink": (functional.tanhshrink, lambda x: mp.tanh(x) ** 2, LINE, 300),
    "elu": (functional.elu, lambda x: mp.exp(min(x, 0)), LINE, 600),
    "logaddexp": (lambda x: pullback.logaddexp(x, pullback.zeros_like(x)), sigmoid, LINE, 600),
    "logaddexp, 2": (lambda x: pullback.logaddexp(pullback.zeros_like(x), -x), lambda x: -sigmoid(-x), LINE, 600),
    "logaddexp2": (lambda x: pullback.logaddexp2(x, pullback.zeros_like(x)), lambda x: sigmoid(x * mp.log(2)), LINE, 600),
    "logsumexp": (
        lambda x: pullback.logsumexp(pullback.stack([x, pullback.zeros_like(x)]), 0), sigmoid, LINE, 600),
    "softmax": (
        lambda x: pullback.softmax(pullback.stack([x, pullback.zeros_like(x)]), 0)[0],
        lambda x: sigmoid(x) * sigmoid(-x), LINE, 600),
    "softmax, other": (
        lambda x: pullback.softmax(pullback.stack([x, pullback.zeros_like(x)]), 0)[1],
        lambda x: -sigmoid(x) * sigmoid(-x), LINE, 600),
    "log_softmax": (
        lambda x: pullback.log_softmax(pullback.stack([x, pullback.zeros_like(x)]), 0)[0],
        lambda x: sigmoid(-x), LINE, 600),
    "log_softmax, other": (
        lambda x: pullback.log_softmax(pullback.stack([x, pullback.zeros_like(x)]), 0)[1],
        lambda x: -sigmoid(x), LINE, 600),
    "cross entropy": (
        lambda x: functional.cross_entropy(
            pullback.stack([x, pullback.zeros_like(x)], 1), pullback.zeros(x.shape, dtype=pullback.int64), reduction="none"),
        lambda x: -sigmoid(-x), LINE, 600),
    "glu": (lambda x: functional.glu(pullback.stack([pullback.ones_like(x), x], -1), -1)[..., 0],
            lambda x: sigmoid(x) * sigmoid(-x), LINE, 600),
}  # fmt: skip


def numbers(rng, domain, bound, count):
    """Numbers of a domain: half of them near its ends, on a logarithmic scale."""
    small = 10.0 ** rng.uniform(-7, 0, count)
    half = rng.random(count) < 0.5
    if domain == UNIT:
        return np.where(half, np.where(rng.random(count) < 0.5, small, 1 - small), rng.uniform(0.01, 0.99, count))
    sign = rng.choice([-1, 1], count)
    if domain == BALL:
        ends = np.where(rng.random(count) < 0.7, 1 - small, small)
        return sign * np.where(half, ends, rng.uniform(0.01, 0.99, count))
    size = np.where(half, 10.0 ** rng.uniform(-4, np.log10(bound), count), rng.uniform(0.01, min(bound, 30), count))
    return 1 + size if domain == ABOVE_ONE else size if domain == POSITIVE else sign * size


def derivatives(function, x):
    """The first and the second derivative, by reverse mode twice."""
    x = pullback.tensor(x, requires_grad=True)
    (first,) = pullback.autograd.grad(function(x).sum(), x, create_graph=True)
    (second,) = pullback.autograd.grad(first.sum(), x, allow_unused=True)
    return first.detach().numpy(), np.zeros(len(x)) if second is None else second.numpy()


def expected(slope, x):
    """The first, second and third derivative, as numbers of mpmath."""
    x = mp.mpf(float(x))
    with mp.workdps(40 + (int(2 * x * x) if slope is gelu_by_tanh else int(abs(x)) if abs(x) < 700 else 0)):
        return slope(x), mp.diff(slope, x), mp.diff(slope, x, 2)


def check(rng):
    """One function at some numbers, in one dtype; now and then as a large array, which machine code computes."""
    name = sorted(FUNCTIONS)[rng.integers(len(FUNCTIONS))]
    function, slope, domain, bound = FUNCTIONS[name]
    single = bool(rng.random() < 0.5)
    dtype = np.float32 if single else np.float64
    x = numbers(rng, domain, min(bound, 80 if bound == 600 else bound) if single else bound, 8).astype(dtype)
    if domain in {UNIT, BALL}:
        x = x[(abs(x) < 1) & (x != 0)]
    given = np.resize(x, 5000) if rng.random() < 0.2 else x
    found = [part[: len(x)] for part in derivatives(function, given)]
    eps, tiny = float(np.finfo(dtype).eps), float(np.finfo(dtype).tiny)
    for place, number in enumerate(x):
        right = expected(slope, number)
        for order in (0, 1):
            value, rise = right[order], right[order + 1]
            allowed = UNITS * eps * ((BY_RESULT.get(name, 2) <= order) + abs(value) + abs(number * rise)) + 1000 * tiny
            got = float(found[order][place])
            if abs(value) < float(np.finfo(dtype).max):
                assert abs(mp.mpf(got) - value) <= allowed, (
                    f"{name}, {dtype.__name__}, derivative {order + 1} at {float(number)!r}: {got}, right is {float(value)}"
                )
    return 2 * len(x)
