"""Elementwise functions and reductions at special values: compiled beside eager, with their gradients, in all modes.

Each primitive of the samples that computes element by element, or reduces, meets zeros of both signs, infinities, NaN,
denormals, the ends of its dtype, whole numbers and small numbers of both signs, on both sides of the sizes from which on
machine code computes single operations.
"""

import functools
import itertools

import numpy as np
from tests.samples import rows

import pullback
from pullback import ops
from pullback.compile import Compiled

FEW = 2
SIZES = 1, 3, 17, 70, 257, 4200
MODES = "never", "auto", "always"
REDUCING = set(
    "sum mean prod amax amin logsumexp softmax log_softmax var std vector_norm cumsum cumprod logcumsumexp cummax".split()
)
APART = {"hurwitz", "complex_of"}
"""Which take parameters of their own, or give complex numbers, which no sum makes a gradient of."""
FAR = {"pow", "power", "zeta", "polygamma", "orthogonal_polynomial", "bessel_j"}
"""Whose last digits depend on how large powers are computed."""
CANCELLING = {"softmax", "log_softmax", "sigmoid", "tanh", "gelu_by_tanh"}
"""In which, or in whose gradients, numbers of the size of 1 cancel: what is left is rounding."""
SUMMING = {"sum", "mean", "cumsum", "var", "std"}
"""Where numbers of both signs cancel; var and std are of another size, but overflow with the mean."""
DIGAMMAS = {
    "beta": lambda a, b: (a, b, a + b),
    "betaln": lambda a, b: (a, b, a + b),
    "poch": lambda z, m: (z, z + m),
    "binom": lambda n, k: (n + 1, k + 1, n - k + 1),
}
"""In whose gradients values of digamma cancel: where."""


@functools.cache
def table():
    """The rows whose operands are real arrays of one shape."""
    rng = np.random.default_rng(0)
    found = []
    for name, makers, params in rows():
        primitive = getattr(ops, name)
        arrays = [make(rng) for make in makers]
        if not all(isinstance(array, np.ndarray) and array.dtype == float for array in arrays):
            continue
        if (primitive.kind in ("elementwise", "zero") and len(arrays) < 4 and name not in APART) or name in REDUCING:
            found.append((name, arrays[0].ndim, len(arrays), params))
    return found


def special(dtype):
    """Values at which formulas go wrong."""
    info = np.finfo(dtype)
    sizes = [0, info.smallest_subnormal, info.tiny / 8, info.tiny, 1e-30, 1e-20, 1e-10, float(info.eps) / 4, 1e-3]
    sizes += [
        0.25,
        0.5,
        1,
        1.5,
        2,
        3,
        7,
        20,
        50,
        90,
        200,
        1e4,
        2.0**30,
        1e10,
        1e20,
        float(info.max) / 4,
        info.max,
        np.inf,
    ]
    return np.array([*sizes, *[-size for size in sizes], np.nan], dtype)


def drawn(rng, dtype, count):
    """Arguments of several parameters: special values in all combinations, as far as there is room, and others between."""
    values = special(dtype)
    pairs = list(itertools.islice(itertools.cycle(rng.permutation(len(values))), count))
    found = [values[pairs]]
    found += [values[rng.integers(len(values), size=count)] for _ in range(2)]
    ordinary = rng.random(count) < 0.2
    return [np.where(ordinary, rng.normal(size=count) * 3, each).astype(dtype) for each in found]


def cancelled(name, params, arrays, y):
    """The size of the numbers that cancel; infinite where their order decides whether a sum overflows."""
    if name in SUMMING:
        size = np.abs(arrays[0]).sum(params["axis"], keepdims=True)
        return np.where(np.isfinite(size) & (name in {"var", "std"}), 0, size).astype(float)
    if name in DIGAMMAS:
        places = map(pullback.from_numpy, DIGAMMAS[name](*arrays))
        size = sum(np.nan_to_num(abs(place.digamma().numpy()), posinf=0) for place in places)
        return np.nan_to_num((1 if name == "betaln" else abs(y)) * size.astype(float), posinf=0)
    return float(name in CANCELLING)


def near(got, expected, dtype, name, cancels):
    """Where results differ by more than rounding; where one is infinite, the other may be just below."""
    info = np.finfo(dtype)
    with np.errstate(all="ignore"):
        got, expected = np.asarray(got, float), np.asarray(expected, float)
        size = np.maximum(abs(got), abs(expected))
        tolerance = 2000 * float(info.eps) * (50 if name in FAR else 1)
        slack = 4 * float(info.eps) * cancels + 50 * float(info.tiny)
        close = abs(got - expected) <= tolerance * np.where(np.isinf(size), 0, size) + slack
        edge = (np.minimum(abs(got), abs(expected)) > 0.99 * float(info.max)) & (np.sign(got) == np.sign(expected))
    wrong = ~((got == expected) | (np.isnan(got) & np.isnan(expected)) | close | edge | np.isinf(slack))
    return np.argwhere(wrong)


def program(primitive, params, axes):
    """A function of arrays: the result, and the gradient with respect to each."""

    def function(*arrays):
        leaves = [array.detach().requires_grad_() for array in arrays]
        result = primitive(*leaves, **params)
        if type(result) is tuple or not result.requires_grad:
            return result
        found = pullback.autograd.grad(result.sum(), leaves, allow_unused=True)
        return result.detach(), *[each for each in found if each is not None]

    return function


def check(rng):
    name, ndim, count, params = table()[rng.integers(len(table()))]
    dtype = rng.choice([np.float32, np.float64])
    size = SIZES[rng.integers(len(SIZES))]
    arrays = drawn(rng, dtype, size)[:count]
    if ndim > 1 or name in REDUCING:
        width = int(rng.choice([width for width in (1, 2, 3, 17, 70, 4200) if size % width == 0]))
        shape = (*(1,) * max(ndim - 2, 0), size // width, width)
        arrays = [array.reshape(shape[-max(ndim, 1) :] if ndim > 1 else -1) for array in arrays]
    function = program(getattr(ops, name), params, ndim)
    before, compared = pullback.get_machine_code(), 0
    try:
        pullback.set_machine_code("never")
        with np.errstate(all="ignore"):
            expected = function(*map(pullback.from_numpy, arrays))
        for mode, fuse in itertools.product(MODES, (True, False)):
            pullback.set_machine_code(mode)
            compiled = Compiled(function, fuse=fuse)
            got = compiled(*map(pullback.from_numpy, arrays))
            ways = {f"compiled, fuse={fuse}": got} | (
                {} if fuse else {"eager": function(*map(pullback.from_numpy, arrays))}
            )
            for way, results in ways.items():
                compared += compare(name, params, arrays, results, expected, f"{way}, {mode}", dtype)
    finally:
        pullback.set_machine_code(before)
    return compared


def compare(name, params, arrays, got, expected, way, dtype):
    got, expected = (x if isinstance(x, tuple) else (x,) for x in (got, expected))
    assert len(got) == len(expected)
    compared = 0
    with np.errstate(all="ignore"):
        cancels = cancelled(name, params, arrays, expected[0].detach().numpy())
    for number, (one, other) in enumerate(zip(got, expected, strict=True)):
        one, other = one.detach().numpy(), other.detach().numpy()
        assert (one.shape, one.dtype) == (other.shape, other.dtype), (name, params, way)
        wrong = near(
            one, other, dtype, name, np.reshape(cancels, one.shape) if np.size(cancels) == one.size else cancels
        )
        if len(wrong):
            at = tuple(wrong[0])
            there = [array[at] if array.shape == one.shape else array.ravel()[:8] for array in arrays]
            raise AssertionError(
                f"{name} {params} {dtype.__name__}{list(arrays[0].shape)}, {way}, result {number}: "
                f"{one[at]!r} instead of {other[at]!r} at {there}, {len(wrong)} wrong"
            )
        compared += one.size
    return compared
