"""Each special function has one formula: as NumPy computes it and as machine code, next to true values and to each other."""

import inspect
import re

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="machine code is made by llvmlite, which is not installed")
pytest.importorskip("mpmath", reason="true values come from mpmath, which is not installed")

import mpmath

from pullback._numerics import arrays, error_functions, gamma_functions
from pullback.compile import scalars
from pullback.compile.machine.llvm import host
from pullback.compile.mathematics import operations as lanes
from pullback.ops import special

from .measuring import NUMPY, TRUE, Loop, Target, distance, loop_of, specials, split, words

SHARED = {
    "erf": ({"f": 4, "d": 2}, {"f": 2, "d": 2}),
    "erfc": ({"f": 1, "d": 4}, {"f": 1, "d": 4}),
    "erfinv": ({"f": 1, "d": 6}, {"f": 1, "d": 3}),
    "lgamma": ({"f": 2, "d": 4}, {"f": 2, "d": 4}),
    "digamma": ({"f": 1, "d": 4}, {"f": 1, "d": 4}),
    "polygamma 1": ({"f": 1, "d": 4}, {"f": 1, "d": 4}),
    "polygamma 2": ({"f": 1, "d": 5}, {"f": 1, "d": 5}),
    "polygamma 5": ({"f": 1, "d": 7}, {"f": 1, "d": 7}),
}
"""Bounds in units in the last place, of NumPy and of machine code; for the gamma functions above 0.

Two formulas are NumPy's own for speed: erf of floats, and erfinv of doubles without its step of Newton's method.
"""
NUMPYS = {"erfcx": {"f": 1, "d": 5}, "ndtri": {"f": 1, "d": 6}, "ndtr": {"f": 1, "d": 5}, "log_ndtr": {"f": 1, "d": 5}}
ROUNDED = {"ndtr", "log_ndtr"}  # they round their argument x: that makes 2 * x * x units
FORMULAS = error_functions, gamma_functions
GAMMA = [name for name in SHARED if "gamma" in name]
of_reals = pytest.mark.parametrize("dtype", ["f", "d"])


def _erfcx(x):
    if x < -30:
        return mpmath.inf
    return mpmath.exp(x * x) * mpmath.erfc(x) if x < 1e15 else 1 / (x * mpmath.sqrt(mpmath.pi))


def _ndtr(x):
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2 if abs(x) < 60 else mpmath.mpf(x > 0)


def _log_ndtr(x):
    if x < -1e4:
        return -x * x / 2 - mpmath.log(-x * mpmath.sqrt(2 * mpmath.pi)) if x > -mpmath.inf else x
    return mpmath.log1p(-_ndtr(-x)) if x > 0 else mpmath.log(mpmath.erfc(-x / mpmath.sqrt(2)) / 2)


def _ndtri(p):
    if p in {0, 1}:
        return mpmath.inf * (2 * p - 1)
    tail = min(p, 1 - p)
    if tail < 0:
        raise ValueError(p)
    if tail > mpmath.mpf(1) / 5:
        return mpmath.sqrt(2) * TRUE["erfinv"](2 * p - 1)
    x = mpmath.sqrt(-2 * mpmath.log(tail))
    for _ in range(60):  # Halley's method
        error = (tail - _ndtr(-x)) / (mpmath.exp(-x * x / 2) / mpmath.sqrt(2 * mpmath.pi))
        x -= (step := error / (1 + x * error / 2))
        if abs(step) < x * mpmath.mpf(2) ** -100:
            break
    return x if p > tail else -x


def _polygamma(n):
    def value(x):
        if x <= 0 and x == mpmath.floor(x):
            return mpmath.inf if n % 2 else -mpmath.inf
        return mpmath.polygamma(n, x) if x < 1e30 else -mpmath.factorial(n - 1) / (-x) ** n

    return value


EXACT = {
    **{name: TRUE[name] for name in SHARED if name in TRUE},
    **{f"polygamma {n}": _polygamma(n) for n in (1, 2, 5)},
    "erfcx": _erfcx,
    "ndtr": _ndtr,
    "log_ndtr": _log_ndtr,
    "ndtri": _ndtri,
}


def truth_of(name, x):
    """The function at each element, as rows of `split`."""
    out = np.empty((x.size, 3))
    for row, value in zip(out, x.tolist(), strict=True):
        try:
            row[:] = split(EXACT[name](mpmath.mpf(value))) if value == value else (np.nan, 0, 0)
        except (ValueError, ZeroDivisionError):
            row[:] = np.nan, 0, 0
    return out


def grid(name, dtype):
    """Numbers in which the function is interesting: in its intervals and beside their ends, its zeros and its poles."""
    rng = np.random.default_rng(3)
    sign, near = rng.choice([-1, 1], 120), np.exp2(rng.uniform(-50, -2, 120))
    if name in {"erfinv", "ndtri"}:
        x = [rng.uniform(0, 1, 200), near, 1 - near / 2, np.exp2(rng.uniform(-1000, 0, 60)), 0.5 + sign * near]
    elif name in GAMMA:
        ends = [c * (1 + sign * near) for c in (1, 1.4616321449683622, 2, 2.5, 6, 10)]
        x = [rng.uniform(0, 12, 300), np.exp2(rng.uniform(-60, 60, 200)), *ends]
    else:
        ends = [c * (1 + near / 64) for c in (0.6, -0.6, 1, 4, 6)]
        x = [
            rng.uniform(-7, 7, 200),
            rng.uniform(0, 27, 300),
            sign * near * 8,
            np.exp2(rng.uniform(-900, 900, 60)),
            *ends,
        ]
    with np.errstate(over="ignore"):
        return np.concatenate(x).astype(NUMPY[dtype])


def below(dtype):
    """Negative numbers, also close to poles of the gamma functions."""
    rng = np.random.default_rng(5)
    poles = -rng.integers(1, 30, 100) + rng.choice([-1, 1], 100) * np.exp2(rng.uniform(-20, -2, 100))
    return np.concatenate([rng.uniform(-40, 0, 400), -np.exp(rng.uniform(-50, 0, 100)), poles]).astype(NUMPY[dtype])


def of_numpy(name, x):
    name, _, n = name.partition(" ")
    with np.errstate(all="ignore"):
        return np.asarray(getattr(special, name).forward(x, **({"n": int(n)} if n else {})))


def of_machine(name, x, fma):
    name, _, n = name.partition(" ")
    kind, target = x.dtype.char, host() if fma else Target(fma=False)
    if not n:
        return loop_of(name, kind, fma=fma)(x)

    def body(builder, operand):
        return scalars.polygamma(*words(builder, kind, [operand], target), n=int(n)).value

    return Loop(body, [kind], kind, fma=target.fma)(x)


def assert_within(bound, x, found, truth, allowed=0):
    units = distance(found, truth, x.dtype.char) - allowed
    worst = units.argmax()
    assert units[worst] <= bound, (units[worst], x[worst], found[worst], truth[worst])


@of_reals
@pytest.mark.parametrize("name", SHARED)
def test_numpy_and_machine_code_are_within_their_bounds(name, dtype):
    x = grid(name, dtype)
    truth, (numpys, machines) = truth_of(name, x), SHARED[name]
    assert_within(numpys[dtype], x, of_numpy(name, x), truth)
    for fma in (True, False):
        assert_within(machines[dtype], x, of_machine(name, x, fma), truth)


@of_reals
@pytest.mark.parametrize("name", NUMPYS)
def test_what_only_numpy_computes_is_within_its_bound(name, dtype):
    x = np.concatenate([grid(name, dtype), specials(dtype)])
    with np.errstate(over="ignore", invalid="ignore"):
        allowed = np.nan_to_num(np.where(np.abs(x) < 40, 2 * x.astype(float) ** 2, 0)) if name in ROUNDED else 0
    assert_within(NUMPYS[name][dtype], x, of_numpy(name, x), truth_of(name, x), allowed)


@of_reals
@pytest.mark.parametrize("name", GAMMA)
def test_gamma_functions_of_negative_numbers(name, dtype):
    """Good to some units of the larger of 1 and the result."""
    x = below(dtype)
    head, _, power = truth_of(name, x).T
    true = np.ldexp(head, power.astype(int))
    finite = np.abs(true) < np.finfo(NUMPY[dtype]).max
    for found in (of_numpy(name, x), of_machine(name, x, True), of_machine(name, x, False)):
        error = np.abs(found - true)[finite] / np.maximum(1, np.abs(true[finite]))
        assert error.max() < 16 * np.finfo(NUMPY[dtype]).eps


@of_reals
@pytest.mark.parametrize("name", SHARED)
def test_special_values_are_the_same(name, dtype):
    """NaN, infinities and zeros with their signs: in both where they are in the other."""
    x = specials(dtype)
    x = x[np.abs(x) != np.finfo(x.dtype).smallest_subnormal]  # the half of which NumPy's erfinv rounds to 0
    expected = of_numpy(name, x)
    for fma in (True, False):
        found = of_machine(name, x, fma)
        np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
        there = ~np.isnan(expected)
        np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))
        np.testing.assert_array_equal(np.sign(found[there]), np.sign(expected[there]))
        np.testing.assert_array_equal(np.signbit(found[there]), np.signbit(expected[there]))


@pytest.mark.parametrize("name", [name for name in SHARED if name.startswith("polygamma")])
def test_without_fused_multiply_add_bits_are_the_same(name):
    """Where neither exp nor log, which NumPy has of its own, is in the formula."""
    x = np.concatenate([grid(name, "d"), below("d"), specials("d")])
    np.testing.assert_array_equal(of_machine(name, x, False), of_numpy(name, x))


def test_ir_values_have_the_functions_of_arrays():
    """What formulas find in `xp`."""
    used = set(re.findall(r"\bxp\.(\w+)", "".join(map(inspect.getsource, FORMULAS))))
    assert used >= {"exp", "log", "choose", "polynomial"}
    for xp in (arrays, lanes):
        assert {name for name in used if not callable(getattr(xp, name, None))} == set()
