"""Rules are written in the array API standard's words, and a declared list of others.

Every rule is run with arrays that refuse whatever the standard does not promise: no mixing of integers with floats, no
methods but the standard's, no functions of NumPy on them, no fancy indexing, no results whose shapes depend on values.
The numbers must be those of the same rule on NumPy arrays.
"""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import pullback
from pullback import ops
from pullback._core import xp as _xp

from .. import samples
from ..rows import each_row

strict = pytest.importorskip(
    "array_api_strict", reason="array-api-strict is not installed: no arrays to be strict with"
)

# What rules may call, in three lists: functions of the standard under its own names and arguments,
STANDARD = set(
    """
    abs broadcast_to conj cos cosh equal exp expand_dims expm1 flip hypot imag isfinite isinf isnan log log1p logical_not
    matmul matrix_transpose maximum mean minimum not_equal pow prod real reciprocal remainder reshape sign sin sinh sqrt sum
    tanh tril triu trunc where zeros_like
    """.split()
)


def taken_along(x, indices, *, axis, **_):
    """Of indices for a part of the other axes, too, as torch's gather has it."""
    part = tuple(slice(None) if i == axis else slice(size) for i, size in enumerate(indices.shape))
    return strict.take_along_axis(x[part], indices, axis=axis)


def part(x, *, index):
    """Of slices that end beyond an axis, too, as Python has them."""
    rest = x.ndim - sum(entry is not None and entry is not Ellipsis for entry in index)
    whole = [slice(None)] * rest
    place = next((i for i, entry in enumerate(index) if entry is Ellipsis), len(index))
    full = [*index[:place], *whole, *index[place + 1 :]]
    sizes = iter(x.shape)
    return x[tuple(entry if entry is None else within(entry, next(sizes)) for entry in full)]


def within(entry, size):
    if not isinstance(entry, slice):
        return entry
    start, stop, step = entry.indices(size)
    return slice(start, stop, step) if stop >= 0 else slice(start, None, step)


def converted(x, *, dtype, source=None):
    if is_complex(x) and np.dtype(dtype).kind != "c":
        x = strict.real(x)
    return strict.astype(x, getattr(strict, np.dtype(dtype).name))


def is_complex(x):
    return strict.isdtype(x.dtype, "complex floating")


def boxed(value):
    """Arrays of NumPy as strict ones, in their containers."""
    if type(value) in {list, tuple}:
        return type(value)(map(boxed, value))
    return strict.asarray(np.array(value)) if isinstance(value, (np.ndarray, np.generic)) else value


def unboxed(value):
    """The reverse of `boxed`."""
    if type(value) in {list, tuple}:
        return type(value)(map(unboxed, value))
    return np.asarray(value._array) if isinstance(value, type(strict.zeros(()))) else value


# functions of the standard in our spelling,
SPELLED = {
    "amax": lambda x, *, axis, keepdims: strict.max(x, axis=axis, keepdims=keepdims),
    "amin": lambda x, *, axis, keepdims: strict.min(x, axis=axis, keepdims=keepdims),
    "asarray": boxed,
    "astype": converted,
    "clip": lambda x, *, lower, upper: strict.clip(x, lower, upper),
    "constant": lambda value, dtype: strict.asarray(value, dtype=dtype),
    "concat": lambda *arrays, axis, sizes: strict.concat(arrays, axis=axis),
    "cumsum": lambda x, *, axis: strict.cumulative_sum(x, axis=axis),
    "getitem": part,
    "is_complex": is_complex,
    "permute_dims": lambda x, *, axes, **_: strict.permute_dims(x, axes),
    "power": lambda x, *, exponent: strict.pow(x, exponent),
    "roll": lambda x, *, shifts, axes: strict.roll(x, shifts, axis=axes),
    "stack": lambda *arrays, axis: strict.stack(arrays, axis=axis),
    "take_along_axis": taken_along,
    "unbind": lambda x, *, axis: strict.unstack(x, axis=axis),
    "zeros": lambda shape, *, like: strict.zeros(shape, dtype=like.dtype),
}
# and the extras, which the standard has not: transposes of indexing, `select`, special functions, fused pullbacks. Here
# they are computed by NumPy on copies.
EXTRAS = set(
    """
    above accumulate add_strided airy airy_slope as_strided attached attention_pullback bend betainc_by_shapes beyond
    check_phase cofactor cofactor_slope complex_of convolve convolve_transpose convolve_weight cosdg
    cross cross_entropy_pullback cumprod det diagonal digamma einsum ellipd ellipk embedding erf erfcx erfcx_slope
    expn fft fmod frames floor_quotient fold_windows gammainc_by_shape gather hardsigmoid hyp0f1 hyp1f1 hyp2f1 hypot_slope index index_add index_counts
    index_put inv irfft lattice ldexp leaky_factor lgamma log_softmax_pullback project logistic logsigmoid masked_attention_pullback matrix_exp
    max_places max_spread not_clipped orthogonal_polynomial overwrite permutation polygamma prelu_pullback product_of_others
    put_along_axis put_rows rel_entr relu repeats replay resample rfft rint rsqrt scatter scatter_add scatter_diagonal
    scatter_prod scatter_rows scatter_slice select sgn sigmoid sigmoid_pullback sinc sindg softmax softmax_pullback softplus solve
    solve_triangular spectral_gradient spectral_slopes spherical_bessel_j split standardize_pullback take_rows
    tanh_pullback tied tied_values times_transpose total transpose_times trunc_quotient view_as_complex view_as_real whole_quotient
    window_columns window_mean window_overlay window_spread windows within xlog1py xlogy zeta
    """.split()
)

# Bessel functions, whose rules name their neighbours by `getattr`
FAMILIES = set("bessel_i bessel_j bessel_k bessel_y scaled_bessel_i scaled_bessel_k iv ive jv kv kve yv".split())

# Numbers among the arguments that have no derivative: whole in the samples, so that nothing tracks them, floats in
# programs, where promotion has made them so.
NUMBERS = {
    "boxcox": (1,), "boxcox1p": (1,), "inv_boxcox": (1,), "inv_boxcox1p": (1,), "ctc": (2, 3, 4), "expn": (0,),
    "hyp0f1": (0,), "hyp1f1": (0, 1), "hyp2f1": (0, 1, 2), "weighed_nll": (2,),
}  # fmt: skip

# At most one for 20 operations.
EXCLUSIONS: dict[str, str] = {}

ROWS = [row for row in samples.rows() if row[0] not in EXCLUSIONS]
PRIMITIVES = {name: primitive for name, primitive in ops.tables().items() if primitive.differentiable}


FILE = "tests/ops/test_rules_by_array_standard.py"


class Strict:
    """The namespace of strict arrays, with nothing in it that is not declared."""

    def __getattr__(self, name):
        if name in SPELLED:
            return SPELLED[name]
        if name in STANDARD:
            return getattr(strict, name)
        if name not in EXTRAS | FAMILIES:
            raise AttributeError(
                f"no rule used xp.{name} before: write it into STANDARD, if the standard has it, or EXTRAS of {FILE}"
            )
        function = getattr(_xp, name)
        return lambda *args, **params: boxed(
            function(*unboxed(args), **dict(zip(params, unboxed([*params.values()]), strict=True)))
        )


@pytest.fixture(autouse=True)
def no_shapes_from_values():
    strict.set_array_api_strict_flags(boolean_indexing=False, data_dependent_shapes=False)
    yield
    strict.reset_array_api_strict_flags()


def kept(primitive, args, outputs, box):
    """What a node would keep for the rules, all of it."""
    for place in primitive.saved.values():
        values = outputs if place is None else [args[place]] if isinstance(place, int) else args[place]
        yield from (SimpleNamespace(array=box(value)) for value in values)


def pulled(primitive, xp, box, args, outputs, cotangents, params):
    several = primitive.outputs > 1 or len(outputs) > 1
    edges = [SimpleNamespace(shape=arg.shape) if arg.dtype.kind in "fc" else None for arg in args]
    g = tuple(map(box, cotangents)) if several else box(cotangents[0])
    return primitive.pull(xp, g, edges, kept(primitive, args, outputs, box), params)


@each_row(ROWS)
def test_a_rule_needs_no_more_than_the_standard_and_the_extras(name, makers, params):
    primitive = PRIMITIVES[name]
    rng = np.random.default_rng(5)
    args = [np.asarray(make(rng)) for make in makers]
    args = [arg.astype(float) if i in NUMBERS.get(name, ()) else arg for i, arg in enumerate(args)]
    with np.errstate(all="ignore"):
        result = primitive.forward(*args, **params)
    outputs = list(map(np.asarray, result if isinstance(result, tuple) else [result]))
    noise = [rng.standard_normal(y.shape) + 1j * rng.standard_normal(y.shape) for y in outputs]
    cotangents = [
        np.asarray(v if y.dtype.kind == "c" else v.real, y.dtype) if y.dtype.kind in "fc" else None
        for v, y in zip(noise, outputs, strict=True)
    ]
    with np.errstate(all="ignore"):
        raw = pulled(primitive, _xp, lambda value: value, args, outputs, cotangents, params)
        found = pulled(primitive, Strict(), boxed, args, outputs, cotangents, params)
    for mine, plain in zip(found, raw, strict=True):
        assert (mine is None) == (plain is None)
        if plain is not None:
            assert isinstance(mine, type(strict.zeros(()))), f"a rule of {name} gave {type(mine)}"
            np.testing.assert_allclose(unboxed(mine), plain, rtol=1e-12, atol=1e-12, strict=True)


# Definitions that ask for more of a dtype than the standard has: they are compared on NumPy's arrays.
BY_DTYPE = set(
    """boxcox boxcox1p copy fill inv_boxcox inv_boxcox1p kl_div logsumexp mean nan_to_num powm1 prod pseudo_huber rel_entr std
    vector_norm""".split()
)
DEFINED = {name: primitive for name, primitive in ops.tables().items() if primitive.definition is not None}


@each_row([row for row in ROWS if row[0] in DEFINED])
def test_a_definition_says_what_is_computed_and_needs_no_more_either(name, makers, params):
    primitive, rng = DEFINED[name], np.random.default_rng(5)
    args = [np.asarray(make(rng)) for make in makers]
    args = [arg.astype(float) if i in NUMBERS.get(name, ()) else arg for i, arg in enumerate(args)]
    with np.errstate(all="ignore"):
        xp, box = (_xp, np.asarray) if name in BY_DTYPE else (Strict(), boxed)
        found = primitive.definition(xp, *map(box, args), **params)
        if found is NotImplemented or (args[0].dtype.kind == "c" and not primitive.defined):
            return
        known = primitive.forward(*args, **params)
    many = isinstance(known, (tuple, list))
    for mine, plain in zip(found if many else [found], known if many else [known], strict=True):
        assert xp is _xp or isinstance(mine, type(strict.zeros(()))), f"the definition of {name} gave {type(mine)}"
        np.testing.assert_allclose(unboxed(mine), plain, rtol=1e-12, atol=1e-12, strict=True)


ENDS = np.array([0, 5e-324, 2e-308, 1e-20, 1e-10, 0.4, 0.5, 1, 1.5, 2, 20, 90, 1e4, 1e20, 1e200, 1.7e308, np.inf])
BY_ELEMENT = [row for row in ROWS if row[0] in DEFINED and DEFINED[row[0]].kind == "elementwise"]


@each_row([row for row in BY_ELEMENT if not DEFINED[row[0]].defined])
def test_a_definition_says_what_is_computed_at_the_ends_of_the_numbers(name, makers, params):
    primitive, kinds = DEFINED[name], {make: make(np.random.default_rng(0)).dtype.kind for make in makers}
    if "c" in kinds.values():
        return
    for dtype in (np.float32, np.float64):
        with np.errstate(all="ignore"):
            numbers = np.append([ENDS, -ENDS], np.nan).astype(dtype)
            given = [numbers if kinds[make] == "f" else np.array([True, False]) for make in makers]
            args = [each.ravel() for each in np.meshgrid(*given)]
            found, known = primitive.definition(_xp, *args, **params), primitive.forward(*args, **params)
        info = np.finfo(dtype)
        np.testing.assert_allclose(found, known, rtol=1000 * float(info.eps), atol=float(info.tiny), strict=True)


def named_in_rules():
    """Every name that the tables take from a namespace."""
    for path in (Path(pullback.__file__).parent / "ops").glob("*.py"):
        yield from re.findall(r"(?<![\w.])xp\.(\w+)", path.read_text(encoding="utf-8"))


def test_what_is_declared_is_what_rules_name():
    declared = STANDARD | SPELLED.keys() | EXTRAS
    named = {*named_in_rules()}
    new, gone = sorted(named - declared), sorted(declared - named)
    assert not new, f"write {new} into STANDARD, if the standard has it so, or EXTRAS"
    assert not gone, f"no rule names {gone}: take it out of STANDARD, SPELLED or EXTRAS"
    extras = sorted(name for name in STANDARD if not hasattr(strict, name))
    assert not extras, f"the standard has no {extras}: write it into EXTRAS, not STANDARD"
    standard = sorted(name for name in EXTRAS if hasattr(strict, name) and name != "fft")  # there a module
    assert not standard, f"the standard has {standard}: write it into STANDARD, or SPELLED, not EXTRAS"


def test_exclusions_are_few():
    assert len(EXCLUSIONS) <= len(PRIMITIVES) / 20
    assert EXCLUSIONS.keys() <= PRIMITIVES.keys()
