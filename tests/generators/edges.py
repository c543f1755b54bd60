"""Single precision near the ends of its range, beside the same function in double precision.

Numbers are from 1e-38 to 3e38, powers of ten and of two, 0, infinities and NaN. A double holds the powers, sums and products
on the way, so that its result, rounded, is right wherever it is in the range of single precision; a few functions are also
compared with mpmath, in both. What overflows by itself, and what is denormal, is left out.
"""

import warnings

import mpmath
import numpy as np

import pullback
from pullback.nn import functional as F  # as everyone calls it

FEW = 20
SIZES = [
    1e-37,
    1e-30,
    1e-25,
    1e-20,
    1e-10,
    1e-5,
    0.1,
    1.0,
    3.0,
    50.0,
    1e3,
    1e5,
    2.0**20,
    2.0**30,
    1e10,
    1e18,
    1e19,
    1e20,
    1e25,
    1e30,
    3e38,
]
LARGEST, TINY = float(np.finfo(np.float32).max), float(np.finfo(np.float32).tiny)
ELEMENTWISE = {
    "abs acos acosh asin asinh atan atanh ceil cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 floor frac lgamma "
    "log log10 log1p log2 logit neg positive rad2deg reciprocal relu round rsqrt sgn sigmoid sign sin sinh sqrt square tan "
    "tanh trunc": pullback,
    "relu6 hardtanh hardsigmoid hardswish hardshrink softshrink leaky_relu elu celu selu softplus logsigmoid gelu silu mish "
    "softsign": F,
    "entr erfcx expit i0 i0e i1 i1e log_ndtr ndtr ndtri": pullback.special,
    "cbrt": np,
}
PAIRS = {
    "add sub mul div maximum minimum fmax fmin atan2 hypot copysign logaddexp logaddexp2 xlogy fmod remainder": pullback,
    "xlog1py": pullback.special,
    "l1_loss smooth_l1_loss huber_loss soft_margin_loss": F,
}
ROWS = {
    "norm": lambda x: x.norm(dim=-1),
    "norm of order 3": lambda x: x.norm(3, dim=-1),
    "norm of order -2": lambda x: x.norm(-2, dim=-1),
    "largest": lambda x: x.norm(float("inf"), dim=-1),
    "matrix norm": lambda x: pullback.linalg.matrix_norm(x.reshape(-1, 2, 2)),
    "normalize": F.normalize,
    "std": lambda x: x.std(-1),
    "prod": lambda x: x.prod(-1),
    "logsumexp": lambda x: x.logsumexp(-1),
    "softmax": lambda x: x.softmax(-1),
    "log_softmax": lambda x: x.log_softmax(-1),
    "amax": lambda x: x.amax(-1),
    "sum of squares": lambda x: x.norm(dim=-1).log(),
    "lp_pool1d": lambda x: F.lp_pool1d(x[:, None], 2, 4)[:, 0, 0],
    "angle": lambda x: pullback.view_as_complex(x.reshape(-1, 2, 2)).angle(),
    "complex abs": lambda x: pullback.view_as_complex(x.reshape(-1, 2, 2)).abs(),
}
TWO_ROWS = {
    "cosine_similarity": lambda x, y: F.cosine_similarity(x, y, -1),
    "pairwise_distance": lambda x, y: F.pairwise_distance(x, y, eps=0.0),
    "cdist": lambda x, y: pullback.cdist(x[:, None], y[:, None])[:, 0, 0],
    "cosine_embedding_loss": lambda x, y: F.cosine_embedding_loss(x, y, pullback.ones(len(x)), reduction="none"),
}
LOOSE = {"softmax": 1e-3, "log_softmax": 1e-3, "logsumexp": 1e-3, "lgamma": 1e-4, "normalize": 1e-4}
LEAST = {"cosine_similarity": 1.0, "cosine_embedding_loss": 1.0, "softmax": 1.0, "log_softmax": 1.0}
LEAST_VALUE = {"sum of squares": 1.0, "logsumexp": 1.0}  # logarithms of what may be near 1, which is rounded
# Their rules compute 1 - y from a result y, as torch's: the error of the derivative is that of 1.
VALUES_ONLY = {"sigmoid", "expit"}
IN_DOUBLE = {  # name -> value and derivative by mpmath
    "asinh": (mpmath.asinh, lambda x: 1 / mpmath.sqrt(1 + x * x)),
    "acosh": (mpmath.acosh, lambda x: 1 / mpmath.sqrt(x * x - 1)),
    "log10": (mpmath.log10, lambda x: 1 / (x * mpmath.log(10))),
    "i0e": (lambda x: _scaled(0, x), lambda x: _scaled(1, x) - _scaled(0, x)),
    "i1e": (lambda x: _scaled(1, x), lambda x: (_scaled(0, x) + _scaled(2, x)) / 2 - _scaled(1, x)),
}


def _scaled(order, x):
    return mpmath.besseli(order, x) * mpmath.exp(-x)


def pulled(function, arrays, dtype):
    """The value of a function of arrays in a dtype, and the gradients for a cotangent whose elements differ."""
    leaves = [pullback.from_numpy(x.astype(dtype)).requires_grad_() for x in arrays]
    y = function(*leaves)
    weights = pullback.arange(y.numel(), dtype=y.dtype).reshape(y.shape) % 4 + 1
    grads = pullback.autograd.grad(y, leaves, weights) if y.requires_grad else []
    return [x.detach().numpy() for x in (y, *grads)]


def numbers(rng, shape):
    """Numbers near the ends of the range, with few special ones."""
    x = rng.choice(SIZES, shape) * rng.choice([1.0, 1.0, -1.0], shape) * rng.choice([1.0, 0.7], shape)
    special = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan], shape)
    return np.where(rng.random(shape) < 0.05, special, x).astype(np.float32)


def rows(rng):
    """Rows of numbers of one size each, or of any."""
    size = rng.choice(SIZES[1:-1], (24, 1))
    near = size * rng.choice([1.0, -2.0, 0.5, 3.0, 0.0, -1.0], (24, 4))
    mixed = numbers(rng, (24, 4))
    mixed = np.where(np.isfinite(mixed), np.clip(mixed, -1e37, 1e37), mixed)  # whose norm does not overflow
    return np.where(rng.random((24, 1)) < 0.7, near, mixed).astype(np.float32)


def compare(name, arrays, single, double, tolerance, elementwise):
    """Compare what single and double precision give, wherever the result is a normal number of single precision."""
    compared = 0
    with np.errstate(all="ignore"):
        usual = np.abs(double[0]) <= LARGEST  # else the value itself overflows
        usual = usual | ~np.isfinite(double[0])
        for place, (found, wide) in enumerate(zip(single, double, strict=True)):
            want = wide.astype(np.float32)
            counts = usual if found.shape == usual.shape else usual.reshape(len(usual), -1).all(1, keepdims=True)
            counts = np.broadcast_to(counts, found.shape) & (
                (np.abs(wide) <= LARGEST / 2) | np.isinf(wide) | np.isnan(wide)
            )
            size = (
                np.abs(wide)
                if elementwise or wide.ndim < 2
                else np.nanmax(np.where(np.isfinite(wide), np.abs(wide), 0), -1, keepdims=True)
            )
            same = (found == want) | (np.isnan(found) & np.isnan(want))
            least = LEAST.get(name, 0 if place else LEAST_VALUE.get(name, 0))
            close = np.abs(found.astype(np.float64) - wide) <= tolerance * np.maximum(size, least) + 4 * TINY
            for index in np.argwhere(counts & ~same & ~close)[:1]:
                at = tuple(index)
                inputs = [x[at if elementwise else at[:1]].tolist() for x in arrays]
                what = "value" if not place else f"gradient {place}"
                raise AssertionError(
                    f"{name}: the {what} at {inputs} is {found[at]!r}, in double precision {wide[at]!r}"
                )
            compared += int(counts.sum())
    return compared


def drawn(rng, tables):
    """A function of a table of names and the namespaces that have them."""
    found = {name: getattr(place, name) for names, place in tables.items() for name in names.split()}
    name = str(rng.choice(sorted(found)))
    return name, found[name]


def check_elements(rng):
    pair = rng.random() < 0.4
    name, function = drawn(rng, PAIRS if pair else ELEMENTWISE)
    arrays = [numbers(rng, 120) for _ in range(1 + pair)]
    if pair and name.endswith("_loss"):
        loss = function

        def function(x, y):
            return loss(x, y, reduction="none")

    single, double = pulled(function, arrays, np.float32), pulled(function, arrays, np.float64)
    keep = 1 if name in VALUES_ONLY else None
    compared = compare(name, arrays, single[:keep], double[:keep], LOOSE.get(name, 2e-5), elementwise=True)
    if rng.random() < 0.05:
        compared += check_compiled(name, function, arrays, single)
    return compared


def check_rows(rng):
    table = ROWS if rng.random() < 0.6 else TWO_ROWS
    name = str(rng.choice(list(table)))
    function = table[name]
    arrays = [rows(rng) for _ in range(1 if table is ROWS else 2)]
    single, double = pulled(function, arrays, np.float32), pulled(function, arrays, np.float64)
    compared = compare(name, arrays, single[:1], double[:1], LOOSE.get(name, 2e-5), elementwise=False)
    if name not in VALUES_ONLY:
        compared += compare(name, arrays, single, double, LOOSE.get(name, 2e-4), elementwise=False)
    if rng.random() < 0.05:
        compared += check_compiled(name, function, arrays, single)
    return compared


def check_compiled(name, function, arrays, eager):
    found = pulled(pullback.compile(function), arrays, np.float32)
    compared = 0
    for place, (a, b) in enumerate(zip(found, eager, strict=True)):
        with np.errstate(all="ignore"):
            row = 0 if a.ndim < 2 else np.nanmax(np.where(np.isfinite(b), np.abs(b), 0), -1, keepdims=True)
            size = np.maximum(LEAST.get(name, 0), row)  # the gradient of a row may cancel in one place
            allowed = 4 * TINY + 1e-5 * size
            close = (np.abs(a - b) <= allowed + 1e-3 * np.abs(b)) | (a == b) | (np.isnan(a) & np.isnan(b))
            close |= np.abs(b) > LARGEST / 2
        assert close.all(), f"{name}, compiled: {a[~close][:3]} in place {place} where eager has {b[~close][:3]}"
        compared += a.size
    return compared


def check_doubles(rng):
    """Double precision beside mpmath."""
    name = str(rng.choice(list(IN_DOUBLE)))
    value, slope = IN_DOUBLE[name]
    function = getattr(pullback, name, None) or getattr(pullback.special, name)
    points = 10.0 ** rng.uniform(0.1, 14 if name.endswith("e") else 150, 6)
    y, grads = pulled(function, [points], np.float64)
    grads /= np.arange(6) % 4 + 1
    with mpmath.workdps(60):
        want = [[float(f(mpmath.mpf(float(x)))) for x in points] for f in (value, slope)]
    for found, right in zip((y, grads), want, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-9, err_msg=f"{name} at {points}")
    return 12


def check(rng):
    """Draw one function and its arguments, and return how many numbers were compared."""
    draw = rng.random()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return check_doubles(rng) if draw < 0.03 else check_elements(rng) if draw < 0.5 else check_rows(rng)
