"""Sizes, axes, broadcasting and reshaping, held against NumPy, and against torch's answers and texts where it is."""

import copy
import itertools
import json
import math
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import pullback
from pullback._core.shapes import (
    CallableInt,
    Size,
    broadcast_shapes,
    expand_shape,
    infer_shape,
    normalize_axes,
    normalize_axis,
    parse_sizes,
    size_of,
    sum_to_axes,
)

shapes = st.lists(st.integers(0, 3), max_size=4).map(tuple)


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="torch is not installed: its answers cannot be compared with ours")


def small(sizes: range, most: int) -> list[tuple[int, ...]]:
    """Every shape with up to that many axes, of those sizes."""
    return [shape for ndim in range(most + 1) for shape in itertools.product(sizes, repeat=ndim)]


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """What a call returns, or the error it raises."""
    try:
        return function(*args)
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        return error


def same_refusal(ours: Any, theirs: Exception) -> bool:
    """Whether an error of ours is of the same type as torch's, and says what that says."""
    return type(ours) is type(theirs) and str(theirs).removesuffix(".") in str(ours)


# Size


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Size([2, 3])", [2, 3]),
        ("Size()", []),
        ("Size(range(3))", [0, 1, 2]),
        ("Size(Size([2]))", [2]),
        ("Size([True, 2])", [1, 2]),
        ("Size([np.int64(3), np.array(2)])", [3, 2]),
        ("Size([2, 3]) + (4,)", [2, 3, 4]),
        ("(1,) + Size([2, 3])", [1, 2, 3]),
        ("Size([2]) + Size([3])", [2, 3]),
        ("Size([2, 3]) * 2", [2, 3, 2, 3]),
        ("2 * Size([2])", [2, 2]),
        ("Size([2, 3])[:1]", [2]),
        ("Size([2, 3, 4])[::-2]", [4, 2]),
        ("Size([2, 3])[2:]", []),
    ],
)
def test_what_is_a_size(text: str, expected: list[int]) -> None:
    size = eval(text)
    assert type(size) is Size
    assert size == tuple(expected) and hash(size) == hash(tuple(expected))
    assert [type(entry) for entry in size] == [int] * len(expected)
    assert repr(size) == str(size) == f"pullback.Size({expected})"
    assert size.numel() == math.prod(expected)


def test_a_size_is_a_tuple_otherwise() -> None:
    size = Size([2, 3, 3])
    assert (size[0], size[-1], size.index(3), size.count(3), len(size), 2 in size) == (2, 3, 1, 2, 3, True)
    first, *rest = size
    assert (first, rest) == (2, [3, 3])
    assert isinstance(size, tuple) and np.zeros(size).shape == size
    assert type(size[1]) is int


def test_sizes_of_trusted_ints() -> None:
    assert repr(size_of(np.zeros((2, 3)).shape)) == "pullback.Size([2, 3])"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_size_survives_copies(protocol: int) -> None:
    size = Size([2, 3])
    for twin in (pickle.loads(pickle.dumps(size, protocol)), copy.copy(size), copy.deepcopy(size)):
        assert type(twin) is Size and twin == size
    assert b"_shapes" not in pickle.dumps(size, protocol)


@pytest.mark.parametrize(
    "text", ["Size([2.0])", "Size(['a'])", "Size([1, None])", "Size(2)", "Size(2, 3)", "Size(sizes=[1])"]
)
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(TypeError):
        eval(text)


def test_a_bad_entry_is_named() -> None:
    with pytest.raises(TypeError, match=re.escape("Size() takes an iterable of 'int' (item 1 is 'float')")):
        Size([1, 2.0])  # type: ignore[list-item]
    for bad in ("Size([2]) + [1]", "[1] + Size([2])", "Size([2]) + 1", "Size([2]) * 1.5", "Size([2]) + ('a',)"):
        with pytest.raises(TypeError):
            eval(bad)


def test_sizes_are_torchs(torch: Any) -> None:
    for text in [
        *("Size([2, 3])", "Size()", "Size([2]) + (4,)", "(1,) + Size([2])", "2 * Size([2, 3])", "Size([2, 3])[1:]"),
        *("Size([2, 3])[1]", "Size([2, 3]).numel()", "Size([]).numel()", "Size([True])", "Size([-1])"),
        *("Size([2.0])", "Size([1, 'a'])", "[1] + Size([2])", "Size([2]) + [1]", "Size([2]) + ('a',)", "Size(2)"),
    ]:
        ours, theirs = (outcome(eval, text, {"Size": kind}) for kind in (Size, torch.Size))
        if isinstance(theirs, Exception):
            assert type(ours) is type(theirs), text
        else:
            assert repr(ours) == repr(theirs).replace("torch", "pullback"), text


# The number of elements that can be called


@given(shapes)
def test_a_callable_int_is_both(shape: tuple[int, ...]) -> None:
    size = CallableInt(shape)
    assert size == np.zeros(shape).size and isinstance(size, int)
    assert (repr(size), str(size), f"{size:d}") == (str(math.prod(shape)),) * 3
    assert type(size + 1) is int and size + 1 == math.prod(shape) + 1
    assert hash(size) == hash(math.prod(shape)) and bool(size) == bool(math.prod(shape))
    assert size() == size(None) == shape and type(size()) is Size
    for dim in range(len(shape)):
        assert size(dim) == size(dim=dim) == shape[dim]
        assert size(dim - len(shape)) == shape[dim]


def test_a_callable_int_is_an_int_to_others() -> None:
    size = CallableInt((2, 3))
    assert json.dumps([size]) == "[6]"
    assert np.zeros(size).shape == (6,) and list(range(size)) == [0, 1, 2, 3, 4, 5]
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        for twin in (pickle.loads(pickle.dumps(size, protocol)), copy.copy(size), copy.deepcopy(size)):
            assert twin == 6 and twin() == (2, 3) and twin(1) == 3


def test_sizes_that_are_not_there() -> None:
    with pytest.raises(
        IndexError, match=re.escape("size(): Dimension out of range (expected to be in range of [-2, 1]")
    ):
        CallableInt((2, 3))(2)
    with pytest.raises(IndexError, match="Dimension specified as -1 but tensor has no dimensions"):
        CallableInt(())(-1)
    for bad in (1.0, True, (0, 1), "0"):
        with pytest.raises(TypeError, match=f"argument 'dim' must be int, not {type(bad).__name__}"):
            CallableInt((2, 3))(bad)  # type: ignore[call-overload]


# Axes


@given(st.integers(-6, 6), st.integers(0, 4))
def test_an_axis_is_numpys(dim: int, ndim: int) -> None:
    array = np.zeros(tuple(range(2, 2 + ndim)))
    ours = outcome(normalize_axis, dim, ndim)
    if ndim == 0 and dim in (0, -1):
        assert ours == 0
    elif -ndim <= dim < ndim:
        assert type(ours) is int and 0 <= ours < ndim and array.shape[dim] == array.shape[ours]
    else:
        assert type(ours) is IndexError


def test_axes_are_torchs(torch: Any) -> None:
    for ndim in range(4):
        tensor = torch.zeros((1,) * ndim)
        for dim in range(-5, 6):
            theirs = outcome(tensor.sum, dim)
            ours = outcome(normalize_axis, dim, ndim)
            assert same_refusal(ours, theirs) if isinstance(theirs, Exception) else ours in range(max(ndim, 1))
        for dims in itertools.product(range(-3, 3), repeat=2):
            theirs = outcome(tensor.sum, dims)
            ours = outcome(normalize_axes, dims, ndim)
            if isinstance(theirs, Exception):
                assert same_refusal(ours, theirs), (ndim, dims)
            else:
                assert tensor.permute(ours + tuple(set(range(ndim)) - set(ours))).ndim == ndim


@pytest.mark.parametrize(
    ("dims", "ndim", "axes"),
    [
        (None, 3, (0, 1, 2)),
        (None, 0, ()),
        (1, 3, (1,)),
        (-1, 3, (2,)),
        ((2, 0), 3, (2, 0)),
        ([-1, -3], 3, (2, 0)),
        (range(2), 3, (0, 1)),
        (np.array([2, 0]), 3, (2, 0)),
        (np.int64(-1), 3, (2,)),
        (np.array(1), 3, (1,)),
        ((np.int64(1), 0), 3, (1, 0)),
        ((), 3, ()),
        (0, 0, ()),
        (-1, 0, ()),
        ((-1,), 0, ()),
        (CallableInt((2,)), 3, (2,)),
    ],
)
def test_normalize_axes(dims: Any, ndim: int, axes: tuple[int, ...]) -> None:
    found = normalize_axes(dims, ndim)
    assert found == axes and type(found) is tuple and {type(axis) for axis in found} <= {int}


@pytest.mark.parametrize(
    ("dims", "ndim", "kind", "text"),
    [
        (3, 1, IndexError, "Dimension out of range (expected to be in range of [-1, 0], but got 3)"),
        ((0, -3), 2, IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got -3)"),
        (1, 0, IndexError, "Dimension out of range (expected to be in range of [-1, 0], but got 1)"),
        ((0, 0), 2, RuntimeError, "dim 0 appears multiple times in the list of dims"),
        ((0, 1, -1), 2, RuntimeError, "dim 1 appears multiple times in the list of dims"),
        ((0, -1), 0, RuntimeError, "dim 0 appears multiple times in the list of dims"),
        (0.5, 2, TypeError, "argument 'dim' must be int, not float"),
        ((0, 0.5), 2, TypeError, "argument 'dim' must be int, not float"),
        ("a", 2, TypeError, "argument 'dim' must be int, not str"),
        (True, 2, TypeError, "argument 'dim' must be int, not bool"),
        ([None], 2, TypeError, "argument 'dim' must be int, not NoneType"),
        (np.array([0.5]), 2, TypeError, "argument 'dim' must be int, not float"),
        ({0: 1}, 2, TypeError, "argument 'dim' must be int, not dict"),
        (((0,),), 2, TypeError, "argument 'dim' must be int, not tuple"),
    ],
)
def test_axes_that_cannot_be(dims: Any, ndim: int, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match="^" + re.escape(f"sum(): {text}")):
        normalize_axes(dims, ndim, "sum")
    with pytest.raises(kind, match="^" + re.escape(text)):
        normalize_axes(dims, ndim)


# Sizes as arguments


@pytest.mark.parametrize(
    ("args", "sizes"),
    [
        ((2, 3), (2, 3)),
        (((2, 3),), (2, 3)),
        (([2, 3],), (2, 3)),
        ((Size([2, 3]),), (2, 3)),
        ((range(3),), (0, 1, 2)),
        ((5,), (5,)),
        ((-1,), (-1,)),
        ((), ()),
        (((),), ()),
        (([],), ()),
        ((np.int64(2),), (2,)),
        ((np.int64(2), np.array(3)), (2, 3)),
        (((np.uint8(2), 3),), (2, 3)),
        ((np.array([2, 3]),), (2, 3)),
        ((CallableInt((2, 3)),), (6,)),
        ((CallableInt((2, 3)), 1), (6, 1)),
    ],
)
def test_parse_sizes(args: tuple[Any, ...], sizes: tuple[int, ...]) -> None:
    found = parse_sizes(args)
    assert found == sizes and type(found) is tuple and {type(size) for size in found} <= {int}


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ((2.0,), "argument 'shape' (position 1) must be tuple of ints, not float"),
        (("ab",), "argument 'shape' (position 1) must be tuple of ints, not str"),
        ((None,), "argument 'shape' (position 1) must be tuple of ints, not NoneType"),
        (({2: 3},), "argument 'shape' (position 1) must be tuple of ints, not dict"),
        ((True,), "argument 'shape' (position 1) must be tuple of ints, not bool"),
        ((np.zeros((1, 1), int),), "argument 'shape' (position 1) must be tuple of ints, not ndarray"),
        ((np.array(2.0),), "argument 'shape' (position 1) must be tuple of ints, not ndarray"),
        ((2, 3.0), 'at pos 2 with error "type must be tuple of ints,but got float"'),
        (((2, 3.0),), 'at pos 2 with error "type must be tuple of ints,but got float"'),
        ((np.array([2.0, 3.0]),), 'at pos 1 with error "type must be tuple of ints,but got float"'),
        (((2, 3), 4), 'at pos 1 with error "type must be tuple of ints,but got tuple"'),
        (((2, 3), (4,)), 'at pos 1 with error "type must be tuple of ints,but got tuple"'),
        ((2, "a"), 'at pos 2 with error "type must be tuple of ints,but got str"'),
        ((2, False), 'at pos 2 with error "type must be tuple of ints,but got bool"'),
        ((2, np.array([3, 4])), 'at pos 2 with error "type must be tuple of ints,but got ndarray"'),
        ((2, np.array(3.0)), 'at pos 2 with error "type must be tuple of ints,but got ndarray"'),
    ],
)
def test_sizes_that_cannot_be(args: tuple[Any, ...], text: str) -> None:
    with pytest.raises(TypeError, match=re.escape(text)) as error:
        parse_sizes(args, "reshape", "shape")
    assert str(error.value).startswith("reshape(): argument 'shape' ")


def test_arguments_are_torchs(torch: Any) -> None:
    for args in [
        *[(2, 3), ((2, 3),), ([2, 3],), (5,), ((),), (np.int64(2),), (2, np.int64(3)), (torch.Size([2, 3]),)],
        *[(torch.tensor(2), 3), (2.0,), (2, 3.0), ([2, 3.0],), ("ab",), (None,), (2, "a")],
    ]:
        theirs, ours = outcome(torch.zeros, *args), outcome(parse_sizes, args, "zeros")
        assert same_refusal(ours, theirs) if isinstance(theirs, Exception) else ours == theirs.shape, args


# Broadcasting


@given(st.lists(shapes, max_size=3))
def test_broadcasting_is_numpys(given_shapes: list[tuple[int, ...]]) -> None:
    try:
        expected = np.broadcast_shapes(*given_shapes)
    except ValueError:
        with pytest.raises(RuntimeError, match="must match the size of tensor b"):
            broadcast_shapes(*given_shapes)
    else:
        found = broadcast_shapes(*given_shapes)
        assert found == expected and type(found) is Size


def test_broadcasting_takes_what_torchs_does() -> None:
    assert pullback.broadcast_shapes(2, (3, 1), [1], Size([1, 1])) == (3, 2)
    assert pullback.broadcast_shapes() == ()
    assert pullback.broadcast_shapes(np.int64(3), 1) == (3,)


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        ((2,), (3,), "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0"),
        ((4, 2), (3, 1), "The size of tensor a (4) must match the size of tensor b (3) at non-singleton dimension 0"),
        ((4, 2), (3,), "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 1"),
        ((0,), (2,), "The size of tensor a (0) must match the size of tensor b (2) at non-singleton dimension 0"),
    ],
)
def test_shapes_that_do_not_fit(a: tuple[int, ...], b: tuple[int, ...], text: str) -> None:
    with pytest.raises(RuntimeError, match=re.escape(text)) as caught:
        broadcast_shapes(a, b)
    assert f"shapes {a} and {b} do not fit at axis -" in str(caught.value)
    assert "test_shapes.py:" in str(caught.value)


def test_no_outer_product_is_proposed_for_vectors() -> None:
    with pytest.raises(RuntimeError, match=r"do not fit at axis -1, 3 against 4") as caught:
        broadcast_shapes((3,), (4,))
    assert "reshape" not in str(caught.value)


@pytest.mark.parametrize(
    ("a", "b", "way"),
    [
        ((4, 2), (4,), "b.reshape(4, 1), of shape (4, 1), fits (4, 2)"),
        ((4,), (4, 2), "a.reshape(4, 1), of shape (4, 1), fits (4, 2)"),
        ((5, 4, 3), (5,), "b.reshape(5, 1, 1), of shape (5, 1, 1), fits (5, 4, 3)"),
        ((2, 3), (3, 2), "b.mT, of shape (2, 3), fits (2, 3)"),
    ],
)
def test_the_error_shows_how_to_line_up(a: tuple[int, ...], b: tuple[int, ...], way: str) -> None:
    with pytest.raises(RuntimeError, match=re.escape(way)):
        broadcast_shapes(a, b)


@given(shapes, shapes)
def test_what_the_error_proposes_works(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    error = outcome(broadcast_shapes, a, b)
    if isinstance(error, RuntimeError) and (
        way := re.search(r"1\. (\w\..+), of shape (.+), fits (.+): together (.+)\.", str(error))
    ):
        call, shape, other, together = way.groups()
        arrays = {"a": np.zeros(a), "b": np.zeros(b)}
        done = eval(call.replace(".mT", ".swapaxes(-1, -2)"), arrays)
        assert done.shape == eval(shape)
        assert eval(other) in (a, b)
        assert (done + np.zeros(eval(other))).shape == eval(together)


@pytest.mark.parametrize(("args", "kind"), [(((-1,), (2,)), ValueError), (((2.0,),), TypeError), (("a",), TypeError)])
def test_what_is_no_shape(args: tuple[Any, ...], kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"negative length! The shape is \(-1,\)|broadcast_shapes\(\): argument 'shapes'"):
        broadcast_shapes(*args)


def test_broadcasting_is_torchs(torch: Any) -> None:
    for a, b in itertools.product(small(range(4), 2), repeat=2):
        theirs, ours = outcome(torch.Tensor.add, torch.zeros(a), torch.zeros(b)), outcome(broadcast_shapes, a, b)
        assert same_refusal(ours, theirs) if isinstance(theirs, Exception) else ours == theirs.shape, (a, b)


# Reshaping


@given(st.lists(st.integers(-1, 4), max_size=4).map(tuple), st.integers(0, 12))
def test_reshaping_is_numpys(shape: tuple[int, ...], numel: int) -> None:
    theirs, ours = outcome(np.zeros(numel).reshape, shape), outcome(infer_shape, shape, numel)
    if isinstance(theirs, ValueError):
        assert type(ours) is RuntimeError
    else:
        assert ours == theirs.shape and type(ours) is tuple


@pytest.mark.parametrize(
    ("shape", "numel", "text"),
    [
        ((3,), 2, "shape '[3]' is invalid for input of size 2: its sizes multiply to 3"),
        ((), 2, "shape '[]' is invalid for input of size 2: its sizes multiply to 1"),
        ((-1, 3), 2, "shape '[-1, 3]' is invalid for input of size 2: no size in the place of -1 makes 3 times it 2"),
        ((-1, 0), 2, "shape '[-1, 0]' is invalid for input of size 2"),
        ((-1, -1), 2, "only one dimension can be inferred"),
        ((2, -2), 2, "invalid shape dimension -2 at index 1 of shape [2, -2]"),
        (
            (0, -1),
            0,
            "cannot reshape tensor of 0 elements into shape [0, -1] because the unspecified dimension size -1 can be "
            "any value and is ambiguous",
        ),
    ],
)
def test_shapes_that_are_refused(shape: tuple[int, ...], numel: int, text: str) -> None:
    with pytest.raises(RuntimeError, match="^" + re.escape(f"view(): {text}")):
        infer_shape(shape, numel, "view")
    with pytest.raises(RuntimeError, match="^" + re.escape(text)):
        infer_shape(shape, numel)


def test_reshaping_is_torchs(torch: Any) -> None:
    for shape, numel in itertools.product(small(range(-2, 4), 3), range(7)):
        theirs, ours = outcome(torch.zeros(numel).reshape, shape), outcome(infer_shape, shape, numel)
        assert same_refusal(ours, theirs) if isinstance(theirs, Exception) else ours == theirs.shape, (shape, numel)


# Expanding


@given(shapes, shapes)
def test_expanding_is_numpys_broadcasting(shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    theirs, ours = outcome(np.broadcast_to, np.zeros(shape), target), outcome(expand_shape, shape, target)
    if isinstance(theirs, ValueError):
        assert type(ours) is RuntimeError
    else:
        assert ours == target and type(ours) is tuple


@given(shapes, st.data())
def test_minus_one_keeps_a_size(shape: tuple[int, ...], data: st.DataObject) -> None:
    lead = data.draw(st.lists(st.integers(0, 3), max_size=2).map(tuple))
    target = lead + tuple(data.draw(st.sampled_from([-1, size])) for size in shape)
    assert expand_shape(shape, target) == lead + shape


@pytest.mark.parametrize(
    ("shape", "target", "text"),
    [
        (
            (2,),
            (3,),
            "The expanded size of the tensor (3) must match the existing size (2) at non-singleton dimension 0.  "
            "Target sizes: [3].  Tensor sizes: [2]",
        ),
        ((2,), (-1, 2), "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension 0"),
        ((), (-1,), "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension 0"),
        ((1,), (-2,), "The expanded size of the tensor (-2) isn't allowed in dimension 0"),
        (
            (2, 3),
            (3,),
            "the number of sizes provided (1) must be greater or equal to the number of dimensions in the tensor (2)",
        ),
    ],
)
def test_expansions_that_are_refused(shape: tuple[int, ...], target: tuple[int, ...], text: str) -> None:
    with pytest.raises(RuntimeError, match=re.escape(text)) as error:
        expand_shape(shape, target)
    assert str(error.value).startswith("expand(")


def test_expanding_is_torchs(torch: Any) -> None:
    for shape, target in itertools.product(small(range(4), 2), small(range(-1, 4), 3)):
        theirs, ours = outcome(torch.zeros(shape).expand, target), outcome(expand_shape, shape, target)
        if shape == () and -1 in target:  # torch makes tensors with a negative size, or reports an overflow
            assert type(ours) is RuntimeError
        elif isinstance(theirs, Exception):
            text = str(theirs).replace("torch.FloatTensor", "tensor")
            assert same_refusal(ours, type(theirs)(text)), (shape, target)
        else:
            assert ours == theirs.shape, (shape, target)


# Undoing a broadcast


@given(shapes, st.data())
def test_a_gradient_is_summed_back(target: tuple[int, ...], data: st.DataObject) -> None:
    lead = data.draw(st.lists(st.integers(0, 3), max_size=2).map(tuple))
    shape = lead + tuple(data.draw(st.integers(0, 3)) if size == 1 else size for size in target)
    array = np.arange(math.prod(shape)).reshape(shape)
    source = np.broadcast_to(np.arange(math.prod(target)).reshape(target), shape)
    expected = np.bincount(source.ravel(), array.ravel(), math.prod(target)).reshape(target)

    axes, reshaped = sum_to_axes(shape, target)
    found = array.sum(axis=axes)
    assert reshaped == (found.shape != target)
    assert np.array_equal(found.reshape(target), expected)
    assert array.sum(axis=axes, keepdims=True).reshape(target).shape == target


@pytest.mark.parametrize(
    ("shape", "target", "answer"),
    [
        ((2, 3), (2, 3), ((), False)),
        ((5, 2, 3), (3,), ((0, 1), False)),
        ((2, 3), (), ((0, 1), False)),
        ((2, 3), (2, 1), ((1,), True)),
        ((1, 3), (3,), ((), True)),
        ((0, 3), (1, 3), ((0,), True)),
    ],
)
def test_no_axis_is_summed_in_vain(shape: tuple[int, ...], target: tuple[int, ...], answer: Any) -> None:
    assert sum_to_axes(shape, target) == answer


@given(shapes, shapes)
def test_only_a_broadcast_can_be_undone(shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    ours = outcome(sum_to_axes, shape, target)
    if isinstance(outcome(np.broadcast_to, np.zeros(target), shape), ValueError):
        assert type(ours) is RuntimeError
        assert f"got {list(shape)} but expected shape compatible with {list(target)}" in str(ours)
    else:
        assert isinstance(ours, tuple)


@pytest.mark.parametrize(
    ("dtype", "name", "values"),
    [
        (pullback.float32, "float", [1e300, -(10.0**39)]),
        (pullback.float16, "c10::Half", [1e6]),
        (pullback.int8, "int8_t", [300, -129, 1e300, float("nan")]),
        (pullback.uint8, "uint8_t", [300, -256, float("inf")]),
        (pullback.int32, "int", [1 << 31]),
        (pullback.int64, "int64_t", [1e300]),
    ],
)
def test_a_number_that_the_dtype_cannot_hold_is_not_written(dtype, name, values):
    x = pullback.ones(3, dtype=dtype)
    mask = pullback.tensor([False, True, False])
    for value in values:
        for write in (lambda v: x.__setitem__(1, v), lambda v: x.masked_fill_(mask, v)):
            with pytest.raises(RuntimeError, match=f"value cannot be converted to type {name} without overflow"):
                write(value)
    assert x.tolist() == [1, 1, 1]


def test_numbers_that_are_written_as_torch_writes_them():
    x = pullback.zeros(3)
    x[0], x[1] = float("inf"), float("nan")
    assert x[0] == float("inf")
    assert x[1].isnan()
    bytes_ = pullback.zeros(2, dtype=pullback.uint8)
    bytes_[0], bytes_[1] = -1, 2.7
    assert bytes_.tolist() == [255, 2]


def test_batches_of_gradients_may_be_lists():
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    (found,) = pullback.autograd.grad(x * x, x, [[1.0, 0.0], [0.0, 1.0]], is_grads_batched=True)
    assert found.tolist() == [[2, 0], [0, 4]]
    with pytest.raises(TypeError, match="gradient must be a tensor"):
        pullback.autograd.grad(x * x, x, "a", is_grads_batched=True)
