"""The whole namespace of NumPy on tensors: each function differentiates, answers about values, or is refused by name.

The names are those of the NumPy that is installed. One that it has and pullback does not know of is refused by name.
"""

import functools
import inspect
import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import pullback
from pullback._numpy.names import BY_NAME, FUNCTIONS, REFUSED, UFUNCS, VALUES_ONLY
from pullback._numpy.scipy_names import FUNCTIONS as OF_SCIPY

from ..differences import check, listed
from . import test_numpy_linalg, test_numpy_shapes, test_numpy_statistics
from .numpy_calls import ANSWERS, CALLS, FEW, WITHOUT_SLOPE

SECOND = np.array([[0.94, 1.43, -0.65], [0.56, -2.17, 1.17]])
MODULES = {"numpy": np, "numpy.linalg": np.linalg, "numpy.fft": np.fft}


def public(module):
    """The functions of a module that ask their arguments, its ufuncs first; deprecated names give no warning."""
    found = {name: value for name, value in vars(module).items() if not name.startswith("_") and callable(value)}
    ufuncs = {name: value for name, value in found.items() if isinstance(value, np.ufunc)}
    functions = {name: value for name, value in found.items() if hasattr(value, "_implementation")}
    return ufuncs, functions


UFUNCS_OF_NUMPY, FUNCTIONS_OF_NUMPY = {}, {}
for _module in MODULES.values():
    for _table, _found in zip((UFUNCS_OF_NUMPY, FUNCTIONS_OF_NUMPY), public(_module), strict=True):
        _table.update({value: name for name, value in _found.items()})
ASKED = {f"{function.__module__}.{function.__name__}": function for function in FUNCTIONS_OF_NUMPY}


def leaf(array=FEW):
    return pullback.tensor(array, requires_grad=True)


# Everything has its place


def test_the_namespace_is_found():
    assert len(UFUNCS_OF_NUMPY) > 80
    assert len(FUNCTIONS_OF_NUMPY) > 240


def tables_of(function, name):
    """The table that a function is in, as a set: of one, or of none."""
    tables = {"FUNCTIONS": FUNCTIONS, "VALUES_ONLY": VALUES_ONLY, "UFUNCS": UFUNCS}
    places = {place for place, table in tables.items() if function in table}
    places |= {place for place, table in {"BY_NAME": BY_NAME, "REFUSED": REFUSED}.items() if name in table}
    assert len(places) <= 1, f"{name} stands in {' and in '.join(sorted(places))}: take it out of all but one"
    return places


@pytest.mark.parametrize("name", ASKED)
def test_a_function_is_in_one_table_or_refused_by_name(name):
    function = ASKED[name]
    if tables_of(function, name) <= {"REFUSED"}:
        x = leaf()
        with pytest.raises(TypeError, match=f"^{name} has no derivative here: "):
            x.__array_function__(function, (pullback.Tensor,), (x,), {})


@pytest.mark.parametrize("ufunc", UFUNCS_OF_NUMPY, ids=lambda ufunc: ufunc.__name__)
def test_a_ufunc_is_in_the_table_or_refused_by_name(ufunc):
    if tables_of(ufunc, f"numpy.{ufunc.__name__}") <= {"REFUSED"}:
        with pytest.raises(TypeError, match=f"^numpy.{ufunc.__name__} has no derivative here: "):
            ufunc(*[leaf()] * ufunc.nin)


def test_what_another_numpy_brings_is_refused_by_name():
    def brand_new(array): ...

    brand_new.__module__ = "numpy"
    with pytest.raises(TypeError, match=r"^numpy.brand_new has no derivative here: "):
        leaf().__array_function__(brand_new, (pullback.Tensor,), (leaf(),), {})


def test_every_table_entry_is_tried():
    tried = {*CALLS, *WITHOUT_SLOPE, *ANSWERS, *test_numpy_statistics.CALLS, *test_numpy_linalg.LINALG}
    tried |= {*test_numpy_linalg.PRODUCTS, *test_numpy_shapes.OF_ONE, *test_numpy_shapes.OF_TWO}
    old = {"alltrue", "sometrue", "product", "cumproduct", "msort", "in1d", "round_", "trapz", "i0"}
    entries = {function.__name__ for function in (*FUNCTIONS, *VALUES_ONLY)}
    untried = sorted((entries - old | {name.rpartition(".")[2] for name in BY_NAME}) - tried)
    assert not untried, f"write calls of {untried} into tests/vocabulary/numpy_calls.py"


def test_parameters_stand_where_numpy_has_them():
    """In NumPy's order, with its names: what is left out comes behind what is there, or is refused by its name."""
    renamed = {"newshape": "shape"}
    free = {
        "alltrue",
        "sometrue",
        "product",
        "cumproduct",
        "einsum",
        "gradient",
        "trim_zeros",
        "empty_like",
        "multi_dot",
    }
    for function, translation in FUNCTIONS.items():
        try:
            theirs = inspect.signature(function).parameters.values()
        except ValueError:  # NumPy before 2.4 does not tell those of functions in C
            continue
        named = [renamed.get(p.name, p.name) for p in theirs if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        ours = inspect.signature(translation).parameters.values()
        positional = [p.name for p in ours if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        assert function.__name__ in free or positional == named[: len(positional)], function


# Values and gradients


def cases(table):
    present = {*vars(np), *vars(np.linalg), *vars(np.fft)}
    return [
        pytest.param(call, id=f"{name} {place}")
        for name, calls in table.items()
        if name in present
        for place, call in enumerate(calls)
    ]


def arguments(call):
    names = inspect.signature(call).parameters.values()
    return [FEW, SECOND][: sum(p.default is p.empty for p in names)]


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated")  # by NumPy 2.5, which still has it
@pytest.mark.parametrize("call", cases(CALLS))
def test_values_and_gradients(call):
    arrays = arguments(call)
    if any(np.iscomplexobj(part) for part in listed(call(*arrays))):
        check(lambda *given: [part for y in listed(call(*given)) for part in (np.real(y), np.imag(y))], *arrays)
        return
    check(call, *arrays)


@pytest.mark.parametrize("call", cases(WITHOUT_SLOPE))
def test_what_has_no_slope(call):
    for want, got in zip(listed(call(FEW)), listed(call(leaf())), strict=True):
        assert isinstance(got, pullback.Tensor)
        assert not got.requires_grad
        np.testing.assert_array_equal(got.numpy(), want)


@pytest.mark.parametrize("call", cases(ANSWERS))
def test_answers_are_those_of_numpy(call):
    want, got = call(FEW), call(leaf())
    assert type(got) is type(want)
    np.testing.assert_equal(got, want)


# Ufuncs, and their methods

UNIT = np.array([[0.33, 0.74, 0.13], [0.24, 0.88, 0.57]])
RANGES = dict.fromkeys(
    ("arccos", "arcsin", "arctanh", "log", "log1p", "log2", "log10", "sqrt", "float_power", "power", "pow"), UNIT
)
RANGES |= {"arccosh": UNIT + 1, "acos": UNIT, "asin": UNIT, "atanh": UNIT, "acosh": UNIT + 1}
OF_INTEGERS = {
    "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "bitwise_not", "bitwise_invert", "left_shift", "right_shift",
    "bitwise_left_shift", "bitwise_right_shift", "gcd", "lcm", "ldexp",
}  # fmt: skip
STEPS = {
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor",
    "logical_not", "isnan", "isinf", "isfinite", "signbit", "floor_divide",
}  # fmt: skip
SMOOTH = [u for u in UFUNCS if u.__name__ not in STEPS | OF_INTEGERS | {"heaviside"} and u.signature is None]
PARTLY = {"divmod", "frexp", "modf"}


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)
def test_ufuncs(ufunc):
    name = ufunc.__name__
    if ufunc.signature is not None:
        first = FEW if name != "vecmat" else FEW[0]
        second = SECOND if name == "vecdot" else SECOND.T if name == "matmul" else SECOND[0]
        second = SECOND.T @ SECOND if name == "vecmat" else second
        check(ufunc, first, second)
    elif name in OF_INTEGERS - {"ldexp"}:
        integers = [np.array([12, 18, 7]), np.array([2, 3, 1])][: ufunc.nin]
        np.testing.assert_array_equal(ufunc(*map(pullback.tensor, integers)).numpy(), ufunc(*integers))
    elif name in STEPS | PARTLY | {"ldexp", "heaviside"}:
        given = [FEW, np.array([1, -2, 3]) if name == "ldexp" else SECOND][: ufunc.nin]
        results = listed(ufunc(leaf(given[0]), *given[1:]))
        for want, got in zip(listed(ufunc(*given)), results, strict=True):
            np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-14)
        assert any(result.requires_grad for result in results) == (name not in STEPS | {"heaviside"})
    else:
        check(ufunc, *[RANGES.get(name, FEW), SECOND][: ufunc.nin])


def by_steps(ufunc, array):
    """ufunc.reduce along axis 1. NumPy's own, with vector instructions, is wrong for power and arctan2 (2.4.6)."""
    return functools.reduce(ufunc, np.moveaxis(array, 1, 0))[:, None]


BINARY = [u for u in SMOOTH if u.nin == 2 and u.nout == 1]
METHODS = {
    "reduce": lambda u, a: u.reduce(a),
    "reduce an axis": lambda u, a: by_steps(u, a) if isinstance(a, np.ndarray) else u.reduce(a, axis=1, keepdims=True),
    "accumulate": lambda u, a: u.accumulate(a),
    "accumulate an axis": lambda u, a: u.accumulate(a, axis=1),
    "outer": lambda u, a: u.outer(a, SECOND[0]),
    "outer on the left": lambda u, a: u.outer(UNIT[0], a),
    "reduceat": lambda u, a: u.reduceat(a, [0, 2, 1], axis=1),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("ufunc", BINARY, ids=lambda ufunc: ufunc.__name__)
def test_methods_of_ufuncs(ufunc, method):
    check(lambda a: METHODS[method](ufunc, a), RANGES.get(ufunc.__name__, FEW))


@pytest.mark.parametrize("ufunc", [u for u in UFUNCS if u.__name__ in STEPS and u.nin == 2], ids=lambda u: u.__name__)
def test_methods_of_ufuncs_that_are_steps(ufunc):
    calls = [lambda a: ufunc.outer(a, SECOND), lambda a: ufunc.reduce(a, axis=1), ufunc.accumulate]
    for call in calls:
        try:
            want = call(FEW)
        except TypeError:  # a comparison, whose results are no operands
            with pytest.raises(TypeError):
                call(leaf())
            continue
        got = call(leaf()).detach().numpy()
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def test_the_value_of_a_step():
    x, y = leaf(np.array([-1.0, 0.0, 2.0])), leaf(np.array([5.0, 6.0, 7.0]))
    assert np.heaviside(x, y).tolist() == [0, 6, 1]
    np.heaviside(x, y).sum().backward()
    assert y.grad.tolist() == [0, 1, 0]
    for number in (-1, 0, 2.5, np.nan):
        np.testing.assert_array_equal(np.heaviside(number, y).detach(), np.heaviside(number, [5.0, 6.0, 7.0]))


def test_reductions_over_several_axes_and_none():
    check(lambda a: np.hypot.reduce(a, axis=(0, 1)), FEW)
    check(lambda a: np.logaddexp.reduce(a, axis=None, keepdims=True), FEW)
    check(lambda a: np.add.reduce(a, axis=None, initial=3.0, where=FEW > 0), FEW)
    check(lambda a: np.subtract.reduce(a, initial=1.0), FEW)
    with pytest.raises(ValueError, match="reorderable"):
        np.subtract.reduce(leaf(), axis=(0, 1))
    with pytest.raises(ValueError, match="identity"):
        np.fmax.reduce(pullback.zeros(0, requires_grad=True))
    assert np.logaddexp.reduce(pullback.zeros(0, requires_grad=True)).item() == -np.inf
    with pytest.raises(IndexError, match="out-of-bounds"):
        np.add.reduceat(leaf(), [5])


def test_additions_at_places():
    for ufunc, places in itertools.product((np.add, np.subtract), ([0, 1, 0], (slice(None), [0, 0, 2]), FEW > 0, 1)):

        def added(a, b, ufunc=ufunc, places=places):
            copy = a * 1
            ufunc.at(copy, places, b)
            return copy

        shape = FEW[np.asarray(places) if isinstance(places, list) else places].shape
        check(added, FEW, np.resize(SECOND, shape))
    with pytest.raises(RuntimeError, match="leaf"):
        np.add.at(leaf(), 0, 1.0)
    with pytest.raises(TypeError, match=r"^numpy\.multiply\.at "):
        np.multiply.at(leaf() * 1, 0, 2.0)
    with pytest.raises(TypeError, match=r"^numpy\.add\.at .*cannot hold a history"):
        np.add.at(FEW.copy(), 0, leaf()[0])
    array = FEW.copy()
    np.add.at(array, [0, 0], pullback.tensor([1.0, 2.0, 3.0]))
    assert array[0].tolist() == (FEW[0] + [2.0, 4.0, 6.0]).tolist()


# The options of a call


def test_a_masked_result_goes_into_a_tensor():
    x, mask = leaf(), FEW > 0

    def logs(a):
        out = a * 2
        assert np.log(a, where=mask, out=out) is out
        return out

    with np.errstate(all="ignore"):
        want = np.where(mask, np.log(np.abs(FEW)), 2 * FEW)
    np.testing.assert_allclose(logs(x).detach().numpy(), want)
    logs(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.where(mask, 1 / FEW, 2))
    out = np.zeros((2, 3))
    np.add(pullback.tensor(FEW), 1, out=out, where=mask)
    assert out.tolist() == np.where(mask, FEW + 1, 0).tolist()
    with pytest.raises(TypeError, match=r"numpy\.add .*NumPy array"):
        np.add(x, 1, out=out, where=mask)
    with pytest.raises(TypeError, match=r"numpy\.add .*where=.*np\.where"):
        np.add(x, 1, where=mask)
    with pytest.raises(TypeError, match=r"numpy\.add gives float64, which can't be cast"):
        np.add(x, 1, where=mask, out=pullback.zeros(2, 3, dtype=pullback.int64))


def test_options_count_where_only_the_output_is_a_tensor():
    out = pullback.zeros(2, 2, dtype=pullback.float64)
    np.matmul(FEW, SECOND, axes=[(0, 1), (1, 0), (1, 0)], out=out)
    assert out.tolist() == (FEW @ SECOND.T).T.tolist()
    np.add(FEW[:, :2], 1, dtype=np.float32, out=out)
    assert out.tolist() == np.add(FEW[:, :2], 1, dtype=np.float32).tolist()
    np.add.reduce(np.stack([FEW, SECOND])[..., :2], axis=0, initial=1.0, out=out)
    assert out.tolist() == np.add.reduce(np.stack([FEW, SECOND])[..., :2], axis=0, initial=1.0).tolist()


def test_several_outputs_go_into_tensors():
    x = leaf()
    parts = pullback.zeros(2, 3, dtype=pullback.float64), pullback.zeros(2, 3, dtype=pullback.float64)
    assert np.modf(x, out=parts) is not None
    assert [part.tolist() for part in parts] == [part.tolist() for part in np.modf(FEW)]
    parts[0].sum().backward()
    assert x.grad.tolist() == np.ones((2, 3)).tolist()


def test_a_sum_written_to_a_tensor_is_a_recorded_write():
    for add in (lambda t, u, w: np.add(t, u, out=w), lambda t, u, w: w.copy_(t + u)):
        t, u, w = leaf(), leaf(SECOND), leaf(FEW * 0)
        target = w * 1
        view = target[0]
        add(t, u, target)
        (view * view).sum().backward()
        assert t.grad[0].tolist() == u.grad[0].tolist() == (2 * (FEW + SECOND)[0]).tolist()
        assert w.grad is None or not w.grad.any()
    plain = np.zeros((2, 3))
    assert np.add(t.detach(), u.detach(), out=plain) is plain
    with pytest.raises(TypeError, match=r"^numpy\.add would write .*t\.detach\(\)"):
        np.add(t, u, out=plain)


def test_dtypes_of_ufuncs():
    single = np.float32(FEW)
    for want, got in (
        (np.add(FEW, 1, dtype=np.float32), np.add(leaf(), 1, dtype=np.float32)),
        (np.sqrt(single**2, dtype=np.float64), np.sqrt(leaf(single) ** 2, dtype=np.float64)),
        (np.multiply(FEW, 2, dtype=complex), np.multiply(leaf(), 2, dtype=complex)),
        (np.add.accumulate(single, dtype=np.float64), np.add.accumulate(leaf(single), dtype=np.float64)),
    ):
        assert got.requires_grad
        assert got.detach().numpy().dtype == want.dtype
        np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-6)
    for refused in (
        lambda: np.add(leaf(), 1, dtype=int),
        lambda: np.absolute(leaf() + 1j, dtype=float),
        lambda: np.less(leaf(), 1, dtype=float),
        lambda: np.sin(leaf(), signature="d->d"),
    ):
        with pytest.raises(TypeError, match=r"^numpy\.(add|absolute|less|sin) "):
            refused()


def test_axes_of_generalised_ufuncs():
    stack = np.stack([FEW, SECOND, FEW * SECOND])
    check(lambda a, b: np.matmul(a, b, axes=[(0, 1), (1, 0), (1, 0)]), FEW, SECOND)
    check(lambda a, b: np.matmul(a, b, axes=[(0, 2), (-2, -1), (0, 1)]), stack, SECOND.T @ SECOND)
    if hasattr(np, "vecdot"):
        check(lambda a, b: np.vecdot(a, b, axis=0), FEW, SECOND)
        check(lambda a, b: np.vecdot(a, b, keepdims=True), FEW, SECOND)
        check(lambda a, b: np.vecdot(a, b, axes=[0, 0]), FEW, SECOND)
    with pytest.raises(TypeError, match="keepdims"):
        np.matmul(leaf(), leaf().T, keepdims=True)


# What is refused


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.polyfit(np.arange(3.0), x[0], 1, full=True),
        lambda x: np.pad(x, 1, "empty"),
        lambda x: np.reshape(x, 6, order="A"),
        lambda x: np.nansum(x, where=FEW > 0),
        lambda x: np.histogram2d(x[0], x[1]),
        np.spacing,
        lambda x: np.save("nowhere", x),
        lambda x: np.copyto(np.zeros((2, 3)), x),
        lambda x: np.place(np.zeros((2, 3)), FEW > 0, x),
    ],
)
def test_refusals_name_the_function(call):
    with pytest.raises(TypeError, match=r"^numpy\.\w+"):
        call(leaf())


def test_bad_calls_change_nothing():
    x = leaf() * 1
    for call in (
        lambda: np.choose([2, 0, 0], [x, x]),
        lambda: np.select([FEW > 0], [x, x]),
        lambda: np.select([], []),
        lambda: np.geomspace(x[0, 0], 0.0),
        lambda: np.linspace(x[0, 0], 1.0, -1),
        lambda: np.piecewise(x, [FEW > 0], [1, 2, 3]),
        lambda: np.block([[x], x]),
        lambda: np.place(x, FEW > 0, []),
        lambda: np.putmask(x, FEW[0] > 0, 1.0),
        lambda: np.fill_diagonal(x[0], 1.0),
        lambda: np.polyint(x[0], -1),
        lambda: np.max(x, where=FEW > 0),
        lambda: np.bincount([0, 1], x[0]),
    ):
        with pytest.raises(ValueError, match=r"\w"):
            call()
    with pytest.raises(TypeError, match="boolean"):
        np.select([x], [x])
    with pytest.raises(TypeError, match="cannot cast"):
        np.copyto(pullback.zeros(3, dtype=pullback.int64), x[0])
    assert x.tolist() == FEW.tolist()


def test_arrays_take_what_is_not_tracked():
    t = pullback.tensor(SECOND)
    for write in (
        np.copyto,
        lambda a, b: np.put(a, [0, 1], b),
        lambda a, b: np.place(a, FEW > 0, b),
        lambda a, b: np.fill_diagonal(a, b[0]),
    ):
        ours, theirs = FEW.copy(), FEW.copy()
        write(ours, t)
        write(theirs, SECOND)
        assert ours.tolist() == theirs.tolist()


def test_a_bessel_function():
    pytest.importorskip("scipy", reason="the modified Bessel functions are SciPy's")
    check(np.i0, FEW)


# The page


def listed_on_the_page():
    """The names on the page about NumPy, by its sections."""
    text = (Path(__file__).parents[2] / "docs" / "reference" / "numpy.md").read_text(encoding="utf-8")
    sections = dict(part.split("\n", 1) for part in text.split("\n## ")[1:])
    return {title: set(re.findall(r"`(\w+)`", section)) for title, section in sections.items()}


def test_the_page_lists_the_namespace():
    page = listed_on_the_page()
    answers = {name for function, name in FUNCTIONS_OF_NUMPY.items() if function in VALUES_ONLY}
    translated = {name for name in ASKED if ASKED[name] in FUNCTIONS or name in BY_NAME}
    differentiable = {name.rpartition(".")[2] for name in translated} | {u.__name__ for u in UFUNCS}
    refused = {name.rpartition(".")[2] for name in ASKED if name not in translated and ASKED[name] not in VALUES_ONLY}
    refused |= {ufunc.__name__ for ufunc in UFUNCS_OF_NUMPY if ufunc not in UFUNCS}
    assert sorted(differentiable - page["Differentiable"]) == [], "docs/reference/numpy.md, Differentiable, lacks these"
    assert sorted(answers - page["Answers about values"]) == [], "docs/reference/numpy.md, Answers about values, too"
    assert sorted(refused - page["Refused"]) == [], "they are in no table of _numpy, and the page has them elsewhere"
    assert sorted(page["Differentiable"] & (answers | refused)) == [], "take these out of Differentiable"
    assert sorted(OF_SCIPY.keys() - page["Functions of SciPy"]) == [], (
        "docs/reference/numpy.md, Functions of SciPy, too"
    )
    old = sorted(page["Refused"] & (differentiable | answers))
    assert old == [], "docs/reference/numpy.md, Refused, still has these: take them out of its row"
    assert sorted({name.rpartition(".")[2] for name in REFUSED} - page["Refused"]) == [], "Refused lacks these"
