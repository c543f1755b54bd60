"""The text of tensors: literals that torch 2.13 printed, and torch itself beside us wherever it is installed."""

import contextlib
import math
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from pullback._numerics import printing
from pullback._numerics.printing import format_tensor, get_printoptions, set_printoptions

DEFAULTS = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}


@pytest.fixture(autouse=True)
def default_options() -> Iterator[None]:
    yield
    set_printoptions(profile="default")


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="torch is not installed: its own repr cannot be compared with ours")


def f(*values: Any) -> np.ndarray:
    return np.array(*values, dtype=np.float32)


LITERALS = {
    "scalar": (f(3.14159), [], "tensor(3.1416)"),
    "whole scalar": (f(1), ["requires_grad=True"], "tensor(1., requires_grad=True)"),
    "whole floats": (f([[1, 2]]), ["requires_grad=True"], "tensor([[1., 2.]], requires_grad=True)"),
    "mixed": (
        f([[1.5, -2], [0, math.nan]]),
        [],
        "tensor([[ 1.5000, -2.0000],\n        [ 0.0000,     nan]])",
    ),
    "wide range": (f([1e-5, 1, 2e6]), [], "tensor([1.0000e-05, 1.0000e+00, 2.0000e+06])"),
    "large": (f([1e9]), [], "tensor([1.0000e+09])"),
    "infinity among whole floats": (f([1, math.inf, -0.0]), [], "tensor([1., inf, -0.])"),
    "nothing to measure": (f([0.0, -0.0, math.nan]), [], "tensor([0., -0., nan])"),
    "bool": (np.array([True, False]), [], "tensor([ True, False])"),
    "integers": (np.array([-10, 5, 100]), [], "tensor([-10,   5, 100])"),
    "largest integer": (
        np.array(2**64 - 1, np.uint64),
        ["dtype=torch.uint64"],
        "tensor(18446744073709551615, dtype=torch.uint64)",
    ),
    "complex": (
        np.array([1 + 2j, -1.5 - 0.25j], np.complex64),
        [],
        "tensor([ 1.0000+2.0000j, -1.5000-0.2500j])",
    ),
    "complex scalar": (np.array(2, np.complex64), [], "tensor(2.+0.j)"),
    "empty": (f([]), [], "tensor([])"),
    "empty matrix": (np.zeros((0, 3), np.float32), [], "tensor([], size=(0, 3))"),
    "empty with dtype": (
        np.zeros((2, 0), np.int64),
        ["dtype=torch.int64"],
        "tensor([], size=(2, 0), dtype=torch.int64)",
    ),
    "three axes": (
        np.arange(8, dtype=np.float32).reshape(2, 2, 2),
        [],
        "tensor([[[0., 1.],\n         [2., 3.]],\n\n        [[4., 5.],\n         [6., 7.]]])",
    ),
    "summarised": (np.arange(1001), [], "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    "summarised, the wide values unseen": (
        np.where(np.arange(2002) == 500, 123456, 7).reshape(2, 1001),
        [],
        "tensor([[7, 7, 7,  ..., 7, 7, 7],\n        [7, 7, 7,  ..., 7, 7, 7]])",
    ),
    "suffix on the last line": (
        np.arange(18, dtype=np.float32),
        ["grad_fn=<MulBackward0>"],
        "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n"
        "        14., 15., 16., 17.], grad_fn=<MulBackward0>)",
    ),
    "suffix on its own line": (
        np.arange(18, dtype=np.float32) / 2,
        ["grad_fn=<MulBackward0>"],
        "tensor([0.0000, 0.5000, 1.0000, 1.5000, 2.0000, 2.5000, 3.0000, 3.5000, 4.0000,\n"
        "        4.5000, 5.0000, 5.5000, 6.0000, 6.5000, 7.0000, 7.5000, 8.0000, 8.5000],\n"
        "       grad_fn=<MulBackward0>)",
    ),
}


@pytest.mark.parametrize(("array", "suffixes", "text"), LITERALS.values(), ids=LITERALS.keys())
def test_literals(array: np.ndarray, suffixes: list[str], text: str) -> None:
    assert format_tensor(array, suffixes=suffixes) == text


@pytest.mark.parametrize(("array", "suffixes", "text"), LITERALS.values(), ids=LITERALS.keys())
def test_the_literals_are_what_torch_prints(torch: Any, array: np.ndarray, suffixes: list[str], text: str) -> None:
    tensor = torch.from_numpy(array)
    if suffixes == ["requires_grad=True"]:
        tensor.requires_grad_()
    if suffixes == ["grad_fn=<MulBackward0>"]:
        tensor = tensor.requires_grad_() * 1
    assert repr(tensor) == text


def test_a_prefix_sets_the_indentation() -> None:
    text = format_tensor(f([[1], [2]]), prefix="Point(", suffixes=["x" * 80])
    assert text == f"Point([[1.],\n       [2.]],\n      {'x' * 80})"


def test_a_numpy_scalar_is_a_tensor_without_axes() -> None:
    assert format_tensor(np.float32(2.5)) == "tensor(2.5000)"


def test_strided_and_byte_swapped_arrays_print_their_values() -> None:
    array = np.arange(24, dtype=np.float64).reshape(2, 3, 4) / 3
    view = array.transpose(2, 0, 1)[::-1]
    assert format_tensor(view) == format_tensor(np.ascontiguousarray(view))
    assert format_tensor(array.astype(array.dtype.newbyteorder())) == format_tensor(array)


def test_a_summary_of_many_elements_reads_only_the_edges() -> None:
    array = np.broadcast_to(np.int64(1), (10**9, 10**6) if sys.maxsize > 1 << 32 else (10**4, 10**4))
    text = format_tensor(array)
    assert text.startswith("tensor([[1, 1, 1,  ..., 1, 1, 1],\n")
    assert text.count("1") == 36


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"precision": 2}, "tensor([0.12, 2.00])"),
        ({"precision": 0}, "tensor([0, 2])"),
        ({"sci_mode": True}, "tensor([1.2346e-01, 2.0000e+00])"),
        ({"threshold": 1, "edgeitems": 0}, "tensor([...], size=(2,))"),
        ({"threshold": 2, "edgeitems": 0}, "tensor([0.1235, 2.0000], size=(2,))"),
        ({"linewidth": 8}, "tensor([0.1235,\n        2.0000])"),
        ({"profile": "short"}, "tensor([0.12, 2.00])"),
        ({"profile": "short", "precision": 3}, "tensor([0.123, 2.000])"),
    ],
)
def test_options_take_effect(options: dict[str, Any], text: str) -> None:
    set_printoptions(**options)
    assert format_tensor(f([0.123456, 2])) == text


def test_sci_mode_off_keeps_fixed_notation() -> None:
    set_printoptions(sci_mode=False)
    assert format_tensor(f([0.5, 2e6])) == "tensor([      0.5000, 2000000.0000])"


def test_profiles() -> None:
    set_printoptions(profile="full")
    assert get_printoptions() == DEFAULTS | {"threshold": math.inf}
    assert "..." not in format_tensor(np.arange(5000))
    set_printoptions(profile="short")
    assert get_printoptions() == DEFAULTS | {"precision": 2, "edgeitems": 2}
    set_printoptions(profile="default")
    assert get_printoptions() == DEFAULTS


def test_unnamed_options_stay_but_sci_mode_is_set_by_every_call() -> None:
    set_printoptions(precision=7, sci_mode=True)
    set_printoptions(linewidth=100)
    assert get_printoptions() == DEFAULTS | {"precision": 7, "linewidth": 100}


def test_options_round_trip_and_cannot_be_changed_through_the_dictionary() -> None:
    set_printoptions(precision=np.int64(1), threshold=5.5, edgeitems=2, linewidth=40, sci_mode=False)
    saved = get_printoptions()
    set_printoptions(profile="default")
    set_printoptions(**saved)
    assert get_printoptions() == saved
    saved["precision"] = 9
    assert get_printoptions()["precision"] == 1


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"precision": -1}, ValueError, r"set_printoptions\(\): precision must be at least 0, got -1"),
        ({"precision": 2.5}, TypeError, r"precision must be an integer, got 2\.5 \(float\)"),
        ({"precision": True}, TypeError, r"precision must be an integer, got True \(bool\)"),
        ({"threshold": math.nan}, ValueError, r"threshold must be at least 0, got nan"),
        ({"threshold": "many"}, TypeError, r"threshold must be a number, got 'many' \(str\)"),
        ({"edgeitems": -3}, ValueError, r"edgeitems must be at least 0, got -3"),
        ({"edgeitems": math.inf}, TypeError, r"edgeitems must be an integer, got inf"),
        ({"linewidth": 0}, ValueError, r"linewidth must be at least 1, got 0"),
        ({"sci_mode": "yes"}, TypeError, r"sci_mode must be True, False or None, got 'yes'"),
        ({"sci_mode": 1}, TypeError, r"sci_mode must be True, False or None, got 1"),
        ({"profile": "tiny"}, ValueError, r"profile must be one of default, short, full, got 'tiny'"),
        ({"profile": ["full"]}, ValueError, r"profile must be one of default, short, full"),
    ],
)
def test_a_refused_option_changes_nothing(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        set_printoptions(**{"precision": 1, "linewidth": 33, **options})
    assert get_printoptions() == DEFAULTS


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Switches threads so often that a torn read shows."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("hasty_threads")
def test_a_call_sees_one_set_of_options_while_threads_change_them() -> None:
    array = np.arange(40, dtype=np.float32) / 8
    profiles: list[dict[str, Any]] = [{"precision": 1, "linewidth": 20}, {"precision": 6, "linewidth": 200}]
    whole = set()
    for options in profiles:
        set_printoptions(**options)
        whole.add(format_tensor(array))
    finished = threading.Event()

    def change() -> None:
        while not finished.is_set():
            for options in profiles:
                set_printoptions(**options)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        assert {format_tensor(array) for _ in range(200)} <= whole
    finally:
        finished.set()
        thread.join()


SPECIAL = st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -0.0])
BOUNDARIES = st.sampled_from([1e-4, 9.9e-5, 1e8, 1.0001e8, 1000.0, 1001.0, 1.0, 999.5, 0.99999, 9.99995])
SIGN = st.sampled_from([1.0, -1.0])
MAGNITUDES = st.builds(lambda sign, exponent: sign * 10.0**exponent, SIGN, st.floats(-30, 30))
NEAR_ONE = st.floats(-100, 100)
WHOLE = st.integers(-2000, 2000).map(float)
# One kind of number per array, or a mixture of all: a mixture alone would nearly always print scientifically.
FLOATS = st.sampled_from([SPECIAL, BOUNDARIES, MAGNITUDES, NEAR_ONE, WHOLE]).map(lambda kind: st.one_of(kind, SPECIAL))
FLOATS |= st.sampled_from([MAGNITUDES, NEAR_ONE, WHOLE, st.floats()])
FLOATS |= st.just(SPECIAL | BOUNDARIES | MAGNITUDES | NEAR_ONE | WHOLE | st.floats())
DTYPES = st.sampled_from(
    ["?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f4", "f4", "f8", "c8", "c16"]
)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5) | hnp.array_shapes(max_dims=1, max_side=60)


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    dtype = np.dtype(draw(DTYPES))
    shape = draw(SHAPES)
    if dtype.kind not in "fc":
        return draw(hnp.arrays(dtype, shape)).copy()
    array = np.empty(shape, dtype)
    parts = [array.real, array.imag] if dtype.kind == "c" else [array]
    for part in parts:
        with np.errstate(over="ignore"):
            part[...] = draw(hnp.arrays(np.float64, shape, elements=draw(FLOATS)))
    return array


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "precision": st.integers(0, 9),
        "threshold": st.integers(0, 40) | st.just(math.inf),
        "edgeitems": st.integers(0, 4),
        "linewidth": st.integers(1, 160),
        "profile": st.sampled_from(["default", "short", "full"]),
        "sci_mode": st.sampled_from([None, True, False]),
    },
)


@contextlib.contextmanager
def options_of_both(torch: Any, options: dict[str, Any]) -> Iterator[None]:
    for module in (torch, printing):
        module.set_printoptions(**options)
    try:
        yield
    finally:
        for module in (torch, printing):
            module.set_printoptions(profile="default")


def dtype_suffixes(tensor: Any, torch: Any) -> list[str]:
    """The dtype, where torch names it: the default ones only of an empty tensor, whose values cannot show them."""
    silent = {torch.float32} if tensor.numel() == 0 else {torch.float32, torch.complex64, torch.int64, torch.bool}
    return [] if tensor.dtype in silent else [f"dtype={tensor.dtype}"]


@settings(max_examples=400, deadline=None)
@given(array=arrays(), options=OPTIONS | st.just({}), history=st.sampled_from(["none", "leaf", "result"]))
@example(array=np.array([1e-308, 1e308]), options={}, history="none")
@example(array=np.array([5e-324, 2.0]), options={}, history="leaf")
@example(array=np.ones((1, 1, 1)), options={"threshold": 0, "edgeitems": 0}, history="none")
@example(array=np.arange(7.0), options={"threshold": 7, "edgeitems": 3}, history="none")
@example(array=np.arange(7.0), options={"threshold": 6, "edgeitems": 3}, history="result")
def test_torch_prints_the_same(torch: Any, array: np.ndarray, options: dict[str, Any], history: str) -> None:
    tensor = torch.from_numpy(array)
    suffixes = dtype_suffixes(tensor, torch)
    if array.dtype.kind in "fc" and history != "none":
        tensor.requires_grad_()
        suffixes.append("requires_grad=True")
        if history == "result":
            tensor = tensor.clone()
            suffixes[-1] = "grad_fn=<CloneBackward0>"
    with options_of_both(torch, options):
        assert format_tensor(array, suffixes=suffixes) == repr(tensor)
        assert printing.get_printoptions() == torch._tensor_str.get_printoptions()


@settings(max_examples=60, deadline=None)
@given(array=arrays(), name=st.text("abcdefgh", min_size=1, max_size=70))
def test_torch_indents_a_subclass_the_same(torch: Any, array: np.ndarray, name: str) -> None:
    tensor = torch.from_numpy(array).as_subclass(type(name, (torch.Tensor,), {}))
    assert format_tensor(array, suffixes=dtype_suffixes(tensor, torch), prefix=f"{name}(") == repr(tensor)
