"""Scalar operations as machine code: NumPy's bits where IEEE 754 defines them, else a bound on the error."""

import platform
import re

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="machine code is made by llvmlite, which is not installed")
pytest.importorskip("mpmath", reason="true values come from mpmath, which is not installed")

from pullback.compile import scalars
from pullback.compile.machine import elements
from pullback.compile.machine.contexts import EmitContext
from pullback.compile.machine.llvm import host
from pullback.compile.mathematics import trigonometry
from pullback.compile.mathematics.arithmetic import cast
from pullback.compile.mathematics.lanes import IRValue

from .measuring import (
    COUNTS,
    NUMPY,
    TRUE,
    Loop,
    arguments,
    distance,
    loop_of,
    loop_of_few,
    specials,
    split,
    true_values,
    wider_values,
    words,
)


def exact_dtypes(name, dtype):
    """The dtypes of the operands of a primitive and of its result; None where there is no code for these."""
    inputs = tuple(np.dtype(NUMPY[each]) for each in [dtype] * COUNTS.get(name, 1))
    if name == "where":
        inputs = (np.dtype(bool), *inputs[1:])
    try:
        with np.errstate(all="ignore"):
            out = numpys(name, [np.ones(1, each) for each in inputs]).dtype
    except TypeError:
        return None
    return (inputs, out) if elements.lowers(name, inputs, out, {}) else None


def exact_loop(name, dtype, width):
    """The loop over a primitive whose results are NumPy's bit for bit."""
    if name in REMAINDERS:
        return loop_of(name, dtype, width=width)
    inputs, out = exact_dtypes(name, dtype)
    kinds = [elements.KINDS[each] for each in inputs]

    def body(builder, *operands):
        ctx = EmitContext(builder, host(), width)
        words = [IRValue(ctx, kind, operand) for kind, operand in zip(kinds, operands, strict=True)]
        return elements.apply(name, words, inputs, out, {}).value

    return Loop(body, kinds, elements.KINDS[out], width=width)


def numpys(name, arrays):
    with np.errstate(all="ignore"):
        if name == "rsqrt":
            return 1 / np.sqrt(*arrays)
        if name == "sign" and arrays[0].dtype.kind == "f":
            return np.where(np.isnan(*arrays), 0, np.sign(*arrays)).astype(arrays[0].dtype)  # torch's
        return getattr(np, name)(*arrays)


REMAINDERS = ("fmod", "remainder", "floor_divide")
INTEL = platform.machine().lower() in {"x86_64", "amd64", "i386", "i686"}
BOUND = {"f": 2, "d": 4}
REALS = ("f", "d")
UFUNCS = """
    add subtract multiply divide negative abs sign square reciprocal sqrt rsqrt maximum minimum fmax fmin floor ceil trunc rint
    copysign isnan isinf isfinite signbit where greater greater_equal less less_equal equal not_equal logical_and logical_or
    logical_xor logical_not bitwise_and bitwise_or bitwise_xor
"""
EXACT = [(name, dtype) for name in UFUNCS.split() for dtype in NUMPY if exact_dtypes(name, dtype) is not None]
EXACT += [(name, dtype) for name in ("fmod", "remainder", "floor_divide") for dtype in ("f", "d")]
MODERATE_TRIGONOMETRY = ("sin", "cos", "tan")

with_and_without_fma = pytest.mark.parametrize("fma", [True, False], ids=["fma", "no fma"])
of_reals = pytest.mark.parametrize("dtype", REALS)


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def operands(dtype, rng, count=2000):
    """Two arrays of a dtype: at random, then every pair of special values; a multiple of 8 long."""
    if dtype in REALS:
        special, random = specials(dtype), [arguments(dtype, count, rng) for _ in range(2)]
        rng.shuffle(random[1])
    elif dtype == "b1":
        special, random = np.array([False, True]), rng.integers(0, 2, (2, count)).astype(bool)
    else:
        info = np.iinfo(NUMPY[dtype])
        special = [0, 1, 2, 3, 7, 8, 9, 15, 16, 31, 32, 33, 63, 64, 100, info.max, info.max - 1, info.min, info.min + 1]
        special = np.array(special + ([-1, -2, -3, -7, -8, -64] if info.min else []), NUMPY[dtype])
        random = rng.integers(info.min, info.max, (2, count), NUMPY[dtype], endpoint=True)
        random = np.concatenate([random, rng.integers(max(-50, info.min), 50, (2, count)).astype(NUMPY[dtype])], axis=1)
    pairs = np.meshgrid(special, special)
    both = [np.concatenate([random[i], pairs[i].ravel()]) for i in range(2)]
    return [x[: x.size // 8 * 8] for x in both]


def assert_same_bits(found, expected):
    """Equal, zeros with their sign; a NaN is a NaN."""
    assert found.dtype == expected.dtype
    same = found == expected
    if found.dtype.kind == "f":
        same &= np.signbit(found) == np.signbit(expected)
        same |= np.isnan(found) & np.isnan(expected)
    wrong = np.flatnonzero(~same)
    assert not wrong.size, (wrong.size, wrong[:5], found[wrong[:5]], expected[wrong[:5]])


@pytest.mark.parametrize("width", [None, 8])
@pytest.mark.parametrize(("name", "dtype"), EXACT)
def test_what_is_exact_has_numpys_bits(name, dtype, width, rng):
    arrays = operands(dtype, rng)[: COUNTS.get(name, 1)]
    if name == "where":
        arrays = [operands("b1", rng)[0][:2000], *(x[:2000] for x in operands(dtype, rng))]
    if name in {"fmax", "fmin", *(() if INTEL else ("maximum", "minimum"))} and dtype in REALS:
        # Which zero is the larger one is not the same in all of NumPy's loops, nor whether a signaling NaN is missing.
        arrays = [np.where(np.isnan(x), x.dtype.type(np.nan), np.where(x == 0, x.dtype.type(1), x)) for x in arrays]
    expected = numpys(name, arrays)
    assert_same_bits(exact_loop(name, dtype, width)(*arrays), expected)


@with_and_without_fma
@of_reals
@pytest.mark.parametrize("name", REMAINDERS)
def test_short_remainders_are_exact_where_they_say(name, dtype, fma, rng):
    a, b = operands(dtype, rng)
    beyond = Loop(lambda builder, *xs: scalars.beyond(name, *words(builder, dtype, xs)).value, [dtype] * 2, "b1")(a, b)
    assert 0.2 < beyond.mean() < 0.8
    a, b = a[~beyond], b[~beyond]
    assert_same_bits(loop_of(name, dtype, near=True, fma=fma)(a, b), numpys(name, (a, b)))


@pytest.mark.parametrize("width", [None, 8])
@pytest.mark.parametrize("destination", NUMPY)
@pytest.mark.parametrize("source", NUMPY)
def test_casts_are_numpys(source, destination, width, rng):
    x = operands(source, rng)[0]
    if source in REALS:
        x[:1000] = rng.uniform(-1.5, 1.5, 1000) * np.repeat([2.0**7, 2.0**15, 2.0**31, 2.0**63], 250)
    with np.errstate(all="ignore"):
        if source in REALS and destination not in {*REALS, "b1"}:
            # What does not fit is undefined in C: here it is what x86 has, whatever the machine.
            wide = np.int64 if destination in {"i64", "u32", "u64"} else np.int32
            above = (x >= 2.0**63) & (destination == "u64")  # an unsigned one has its upper half beside
            rest = np.where(above, x - x.dtype.type(2.0**63), x)
            fits = np.abs(np.trunc(rest).astype(np.float64)) < -float(np.iinfo(wide).min)  # no NaN does
            x_as_integer = np.where(fits, rest.astype(wide), np.iinfo(wide).min)
            x_as_integer = np.where(above, x_as_integer ^ np.iinfo(wide).min, x_as_integer)
            expected = x_as_integer.astype(NUMPY[destination])
        else:
            expected = x.astype(NUMPY[destination])

    def body(builder, operand):
        return cast(IRValue(EmitContext(builder, host(), width), source, operand), destination).value

    assert_same_bits(Loop(body, [source], destination, width=width)(x), expected)


def assert_within(name, dtype, x, y, truth):
    units = distance(y, truth, dtype)
    worst = units.argmax()
    assert units[worst] <= BOUND[dtype], (name, units[worst], x[worst], y[worst], truth[worst])


def positive_only(name, x):
    """lgamma and digamma are relative to their value on one side only: their zeros on the other have no formula."""
    return x[(x > 0) | np.isnan(x)] if name in {"lgamma", "digamma"} else x


@pytest.mark.parametrize("name", TRUE)
def test_floats_are_within_two_units(name, rng):
    x = positive_only(name, arguments("f", 40_000, rng))
    truth = wider_values(name, x)
    for fma in (True, False):
        assert_within(name, "f", x, loop_of(name, "f", fma=fma)(x), truth)


@pytest.mark.parametrize("name", TRUE)
def test_doubles_are_within_four_units(name, rng):
    x = positive_only(name, arguments("d", 300, rng))
    truth = true_values(name, x)
    for fma in (True, False):
        assert_within(name, "d", x, loop_of(name, "d", fma=fma)(x), truth)


@of_reals
@pytest.mark.parametrize("name", MODERATE_TRIGONOMETRY)
def test_the_short_reduction_is_as_good_where_it_says(name, dtype, rng):
    x = arguments(dtype, 400, rng)
    multiples = (rng.integers(1, 5000, 1000) * (np.pi / 2)).astype(NUMPY[dtype])
    x = np.concatenate([x, multiples, np.nextafter(multiples, NUMPY[dtype](0))])
    beyond = Loop(lambda builder, y: scalars.beyond(name, *words(builder, dtype, [y])).value, [dtype], "b1")(x)
    assert 0.05 < beyond.mean() < 0.5
    x = x[~beyond]
    truth = true_values(name, x)
    for fma in (True, False):
        assert_within(name, dtype, x, loop_of(name, dtype, near=True, fma=fma)(x), truth)


@of_reals
@pytest.mark.parametrize("name", [*MODERATE_TRIGONOMETRY, *REMAINDERS, "exp"])
def test_by_case_is_one_form_or_the_other(name, dtype, rng):
    arrays = [x[: x.size // 16 * 16] for x in operands(dtype, rng, 400)[: COUNTS.get(name, 1)]]
    arrays[0][:800] = rng.uniform(-20, 20, 800)

    def body(builder, *xs):
        return scalars.emit_by_case(name, *words(builder, dtype, xs)).value

    whole = loop_of(name, dtype)(*arrays)
    near = loop_of(name, dtype, near=True)(*arrays) if name in MODERATE_TRIGONOMETRY else whole
    for width in (None, 4, 16):
        by_case = Loop(body, [dtype] * len(arrays), dtype, width=width)(*arrays)
        assert (by_case[:800] == near[:800]).all() or name not in MODERATE_TRIGONOMETRY
        assert_same_bits(by_case, np.where(by_case == near, near, whole))


@of_reals
@pytest.mark.parametrize("near", [False, True])
@pytest.mark.parametrize("name", ["sin", "cos"])
def test_the_form_for_few_numbers_is_as_good(name, near, dtype, rng):
    x = arguments(dtype, 400, rng)
    multiples = (rng.integers(1, 5000, 1000) * (np.pi / 2)).astype(NUMPY[dtype])
    x = np.concatenate([x, multiples, np.nextafter(multiples, NUMPY[dtype](0)), [0.0, -0.0]]).astype(NUMPY[dtype])
    if near:
        x = x[np.abs(x) <= trigonometry.NEAR[dtype]]
    truth = true_values(name, x)
    for fma in (True, False):
        found = loop_of_few(name, dtype, near=near, fma=fma)(x)
        assert_within(name, dtype, x, found, truth)
        assert_same_kind(found, loop_of(name, dtype, near=near, fma=fma)(x))


def test_the_worst_case_of_reduction():
    """The double nearest to a multiple of pi / 2, by J.-M. Muller's "Elementary functions", and its neighbours."""
    x = 6381956970095103.0 * 2.0**797
    x = np.array([x, -x, np.nextafter(x, 0), np.nextafter(x, np.inf)])
    for name in MODERATE_TRIGONOMETRY:
        assert_within(name, "d", x, loop_of(name, "d")(x), true_values(name, x))


VECTORS = "exp exp2 expm1 sinh cosh sigmoid log sin cos tanh erf erfc arctan cbrt lgamma fmod power".split()


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("width", [8, 16])  # a whole register of AVX-512 for floats, two for doubles
@of_reals
def test_vectors_are_what_scalars_are(name, dtype, width, rng):
    arrays = [x[: x.size // width * width] for x in operands(dtype, rng, 400)[: COUNTS.get(name, 1)]]
    assert_same_bits(loop_of(name, dtype, width=width)(*arrays), loop_of(name, dtype)(*arrays))


def assert_same_kind(found, expected):
    """NaN, infinity and zero in the same places, with the same signs."""
    assert_same_bits(np.isnan(found), np.isnan(expected))
    for x in (found, expected):
        x[np.isnan(x)] = 1
    assert_same_bits(np.sign(found), np.sign(expected))
    assert_same_bits(np.isinf(found), np.isinf(expected))


@of_reals
@pytest.mark.parametrize("name", ["power", "arctan2", "hypot", "logaddexp"])
def test_special_values_of_two_operands(name, dtype):
    x, y = (z.ravel() for z in np.meshgrid(specials(dtype), specials(dtype)))
    assert_same_kind(loop_of(name, dtype)(x, y), numpys(name, (x, y)))


@of_reals
@pytest.mark.parametrize("name", ["power", "arctan2", "hypot"])
def test_two_operands_within_the_bound(name, dtype, rng):
    import mpmath

    count, real = 1500, NUMPY[dtype]
    x, y = (np.exp(rng.uniform(-60, 60, count)).astype(real) for _ in range(2))
    if name == "power":  # results over the whole range, from bases far away and close to 1
        x[::2] = 1 + rng.choice([-1, 1], x[::2].size) * np.exp2(rng.uniform(-20, -1, x[::2].size))
        size = np.log(float(np.finfo(real).max))
        x = x[x != 1]
        y = (rng.uniform(-1.1, 1, x.size) * size / np.log(x.astype(float))).astype(real)
    true = {"power": mpmath.power, "arctan2": mpmath.atan2, "hypot": mpmath.hypot}[name]
    truth = np.array([split(true(mpmath.mpf(a), mpmath.mpf(b))) for a, b in zip(x.tolist(), y.tolist(), strict=True)])
    for fma in (True, False):
        assert_within(name, dtype, x, loop_of(name, dtype, fma=fma)(x, y), truth)


@of_reals
def test_logaddexp_is_as_good_as_its_larger_part(dtype, rng):
    a, b = (rng.uniform(-30, 30, 20_000).astype(NUMPY[dtype]) for _ in range(2))
    a[::2] = b[::2] + rng.uniform(-1, 1, a[::2].size)
    found = loop_of("logaddexp", dtype)(a, b)
    true = np.logaddexp(a.astype(np.longdouble), b.astype(np.longdouble))
    scale = np.spacing(np.maximum(np.maximum(np.abs(a), np.abs(b)), np.abs(found)))
    assert (np.abs(found - true) <= BOUND[dtype] * scale).all()


@of_reals
@pytest.mark.parametrize("name", ["lgamma", "digamma"])
def test_gamma_of_negative_numbers(name, dtype, rng):
    """Good to some units of the larger of 1 and the result; the poles are where they should be."""
    x = np.concatenate([rng.uniform(-40, 0, 1000), -np.exp(rng.uniform(-50, 0, 200))]).astype(NUMPY[dtype])
    head, _, power = true_values(name, x).T
    true = np.ldexp(head, power.astype(int))
    error = np.abs(loop_of(name, dtype)(x) - true) / np.maximum(1, np.abs(true))
    assert error.max() < 16 * np.finfo(NUMPY[dtype]).eps
    poles = loop_of(name, dtype)(np.array([-1, -2, -100, -1e10, -np.inf], NUMPY[dtype]))
    assert np.isposinf(poles).all() if name == "lgamma" else np.isnan(poles).all()
    zeros = loop_of(name, dtype)(np.array([0.0, -0.0], NUMPY[dtype]))
    assert zeros.tolist() == ([np.inf, np.inf] if name == "lgamma" else [-np.inf, np.inf])


VECTORISED = [
    "exp",
    "log",
    "tanh",
    "sigmoid",
    "sin",
    "cos",
    "erf",
    "power",
    "expm1",
    "log1p",
    "lgamma",
    "arctan2",
    "cbrt",
]


@of_reals
@pytest.mark.parametrize("name", VECTORISED)
def test_loops_become_vector_code(name, dtype):
    code = loop_of(name, dtype, near=True).ir
    assert re.search(r"<\d+ x (float|double)>", code)
    assert not re.search(r"call (?!.*@llvm\.)", code), "a call that is no intrinsic"
