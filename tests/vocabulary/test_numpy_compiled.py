"""NumPy's functions of arrays inside compiled functions: compiled, or refused with a way out."""

import re
from collections import Counter

import numpy as np
import pytest

import pullback
from pullback import func
from pullback.program import CaptureError

from ..differences import listed
from . import numpy_calls, test_numpy_linalg, test_numpy_namespace, test_numpy_shapes, test_numpy_statistics


def calls():
    """Each call of the tables, with the arrays that it takes."""
    for table in (numpy_calls.CALLS, numpy_calls.WITHOUT_SLOPE):
        for case in test_numpy_namespace.cases(table):
            yield case.id, case.values[0], test_numpy_namespace.arguments(case.values[0])
    for case in test_numpy_linalg.CASES:
        (call,) = case.values
        yield case.id, call, [test_numpy_linalg.A, test_numpy_linalg.B][: call.__code__.co_argcount]
    for name, call in test_numpy_shapes.CALLS:
        yield name, call, [test_numpy_shapes.A, test_numpy_shapes.B][: call.__code__.co_argcount]
    for name, several in test_numpy_statistics.CALLS.items():
        for call in several if hasattr(np, name) else ():
            yield name, call, [test_numpy_statistics.A, test_numpy_statistics.B][: call.__code__.co_argcount]


def total(results):
    """A sum of all results with weights, which has a gradient."""
    parts = [part for y in listed(results) for part in ((y.real, y.imag) if y.is_complex() else (y,))]
    return sum((part * pullback.arange(1.0, part.numel() + 1).cos().reshape(part.shape)).sum() for part in parts)


def forms(call, arrays):
    """Functions that make the call, each with what it is given."""
    tensors = [*map(pullback.tensor, arrays)]
    yield "tensors", call, tensors
    yield "gradient", func.grad(lambda *given: total(call(*given))), tensors
    yield (
        "of a transform",
        func.vmap(lambda *given: total(call(*given))),
        [pullback.stack([x, x * 1.25]) for x in tensors],
    )
    if len(arrays) == 2:
        first, second = arrays
        yield "an array of the closure first", lambda x: call(first, x), tensors[1:]
        yield "an array of the closure second", lambda x: call(x, second), tensors[:1]
        yield "an argument that is an array", call, [first, tensors[1]]
        yield "an array that is made inside", lambda x: call(np.array(first.tolist()), x), tensors[1:]
        yield "its gradient", func.grad(lambda x: total(call(first, x))), tensors[1:]


def same(found, expected):
    for one, other in zip(listed(found), listed(expected), strict=True):
        assert type(one) is type(other)
        assert one.dtype == other.dtype
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-10, atol=1e-12)


BY_VALUES = {
    "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values", "union1d", "intersect1d", "setdiff1d",
    "setxor1d", "nonzero", "trim_zeros", "piecewise", "partition", "histogram", "histogram_bin_edges", "sort_complex", "place",
    "copyto", "geomspace", "poly", "polydiv", "polymul", "roots", "sqrt", "log", "log2", "log10", "power", "arccos", "arcsin",
    "arctanh", "real_if_close",
}  # fmt: skip
"""Functions that ask for the numbers of their tensors: for a shape, for a dtype, for an order."""
OF_ARRAYS = {"fill_diagonal", "pad", "polyint"}
"""Functions that NumPy computes with the numbers of a tensor where an array is written, or padded."""


def cases():
    """A call of each function, its gradient and its transform, and in turn one of the forms for arrays; then another call."""
    seen = Counter()
    for place, (label, call, arrays) in enumerate(calls()):
        name, _, _ = label.partition(" ")
        seen[name] += 1
        found = list(forms(call, arrays))
        chosen = {1: found[:3] + found[3:][place % 5 :][:1], 2: [found[place % len(found)]]}
        for form, function, given in chosen.get(seen[name], []):
            yield pytest.param(name, function, given, id=f"{name} {place}: {form}")


@pytest.mark.parametrize(("name", "function", "given"), list(cases()))
def test_calls(name, function, given):
    try:
        expected = function(*given)
    except (RuntimeError, TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            pullback.compile(function, fullgraph=True)(*given)
        return
    try:
        found = pullback.compile(function, fullgraph=True)(*given)
    except CaptureError as refused:
        ways = ["depends on values.*: compute it outside and pass it in", "values are unavailable.* convert it outside"]
        ways.append("values of a tensor.*: use the function of that name .* or compute it outside and pass it in")
        if name in BY_VALUES | OF_ARRAYS and any(re.search(way, str(refused)) for way in ways):
            return
        raise
    same(found, expected)


def choices():
    places = np.array([2, 0, 1, 0])
    yield "indices", lambda x: np.choose(places, [x, x * 2, x**2])
    yield "a mask", lambda x: x[places > 0] * 2
    yield "a mask of a tensor", lambda x: x[pullback.from_numpy(places) > 0].square()
    yield "a function for each mask", lambda x: np.piecewise(x, [places > 0], [np.exp, lambda part: part * 3])
    yield "counts", lambda x: np.repeat(x, places)
    yield "places", lambda x: x[np.nonzero(places)]
    yield "places of a tensor", lambda x: x[pullback.arange(4).remainder(3).nonzero().ravel()]
    yield "a mask that is written at", lambda x: pullback.where(x > 0, x, 0).masked_fill(pullback.arange(4) > 2, 1.5)


@pytest.mark.parametrize(("name", "function"), list(choices()))
def test_what_only_depends_on_constants_is_known(name, function):
    x = pullback.from_numpy(np.array([0.3, -0.8, 1.7, 0.4]))
    for f in (function, func.grad(lambda x: function(x).square().sum()), func.jacfwd(function)):
        compiled = pullback.compile(f, fullgraph=True)
        for given in (x, -x):
            same(compiled(given), f(given))


def test_what_does_not_only_depend_on_constants_is_not_known():
    x = pullback.from_numpy(np.array([0.3, -0.8, 1.7, 0.4]))
    drawn = lambda x: x[pullback.rand(4) > 0.5]
    for function in (lambda x: x[x > 0], lambda x: x[(x * 0 + pullback.arange(4)).long() > 1], drawn):
        with pytest.raises(CaptureError, match="the shape of the result of index depends on values"):
            pullback.compile(function, fullgraph=True)(x)


@pytest.mark.parametrize("name", ["argsort", "searchsorted", "digitize"])
def test_a_function_that_gives_an_array_says_what_gives_a_tensor(name):
    rest = () if name == "argsort" else (np.arange(3.0),) if name == "digitize" else (1.0,)
    say = rf"numpy\.{name} computes an array from the values of a tensor, at .*: use the function of that name or meaning in pullback"
    with pytest.raises(CaptureError, match=say):
        pullback.compile(lambda x: getattr(np, name)(x, *rest), fullgraph=True)(pullback.ones(3))


def test_a_function_of_arrays_alone_is_told_to_take_tensors():
    a, b = np.array([[2.0, 1.0], [0.5, 3.0]]), np.array([1.0, 2.0])
    with pytest.raises(CaptureError, match=r"a new ndarray.*so pass pullback.tensor\(array\)$"):
        pullback.compile(np.linalg.solve, fullgraph=True)(a, b)
    with pytest.warns(UserWarning, match=r"so pass pullback.tensor\(array\)$"):
        np.testing.assert_array_equal(pullback.compile(np.linalg.solve)(a, b), np.linalg.solve(a, b))
    same(
        pullback.compile(np.linalg.solve, fullgraph=True)(a, pullback.tensor(b)),
        pullback.tensor(np.linalg.solve(a, b)),
    )
