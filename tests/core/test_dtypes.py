"""dtypes: identity, what stands for them, what two become together, limits; torch beside us where it is installed."""

import copy
import io
import itertools
import math
import pickle
import pickletools
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import pullback
from pullback._core.dtypes import (
    DTYPES as OURS,
    as_dtype,
    default_complex,
    default_numpy,
    from_numpy,
    result_dtype,
    type_name,
)

NAMES = [
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]
DTYPES = [getattr(pullback, name) for name in NAMES]
KINDS = dict(zip(NAMES, "biiiiiiiifffcc", strict=True))
STRENGTHS = ["dim", "zero", "scalar"]
NUMBERS = {"bool": True, "int64": 1, "float64": 1.0, "complex128": 1j}

every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=NAMES)
dtypes = st.sampled_from(DTYPES)


@pytest.fixture(autouse=True)
def default_again() -> Iterator[None]:
    yield
    pullback.set_default_dtype(pullback.float32)


@pytest.fixture(scope="module")
def torch() -> Iterator[Any]:
    torch = pytest.importorskip("torch", reason="torch is not installed: its answers cannot be compared with ours")
    yield torch
    torch.set_default_dtype(torch.float32)


def ours(theirs: Any) -> pullback.dtype:
    """Our dtype for one of torch's; NumPy has no complex dtype with float16 parts."""
    return getattr(pullback, str(theirs).removeprefix("torch.").replace("complex32", "complex64"))


# Identity


def test_all_dtypes_are_tried() -> None:
    assert [dtype.name for dtype in OURS] == NAMES, "write it into NAMES, and its kind into KINDS"


@every_dtype
def test_a_dtype_is_one_object_everywhere(dtype: pullback.dtype) -> None:
    assert copy.copy(dtype) is dtype
    assert copy.deepcopy([dtype])[0] is dtype
    assert pullback.dtype(dtype) is dtype
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(dtype, protocol)) is dtype


@every_dtype
def test_unpickling_looks_up_a_public_name_and_runs_nothing(dtype: pullback.dtype) -> None:
    asked = []

    class Loader(pickle.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            asked.append((module, name))
            return super().find_class(module, name)

    text = pickle.dumps(dtype)
    assert Loader(io.BytesIO(text)).load() is dtype
    assert asked == [("pullback", dtype.name)]
    operations = {operation.name for operation, _, _ in pickletools.genops(text)}
    assert not operations & {"REDUCE", "NEWOBJ", "NEWOBJ_EX", "BUILD", "INST", "OBJ"}


def test_aliases_are_the_same_objects() -> None:
    assert pullback.float is pullback.float32
    assert pullback.half is pullback.float16
    assert pullback.double is pullback.float64
    assert pullback.short is pullback.int16
    assert pullback.int is pullback.int32
    assert pullback.long is pullback.int64
    assert pullback.cfloat is pullback.complex64
    assert pullback.cdouble is pullback.complex128


@pytest.mark.parametrize("name", NAMES)
def test_repr_is_the_public_name(name: str) -> None:
    dtype = getattr(pullback, name)
    assert (repr(dtype), str(dtype), f"{dtype}") == (f"pullback.{name}",) * 3
    assert eval(repr(dtype)) is dtype


@pytest.mark.parametrize("name", ["itemsize", "name", "numpy", "dtype", "other"])
def test_dtypes_are_read_only(name: str) -> None:
    with pytest.raises(AttributeError, match=f"attribute '{name}' of 'pullback.dtype' objects is not writable"):
        setattr(pullback.float32, name, 3)
    with pytest.raises(AttributeError):
        delattr(pullback.float32, name)
    assert (pullback.float32.itemsize, pullback.float32.numpy) == (4, np.dtype("float32"))


@every_dtype
def test_attributes_are_those_of_the_numbers(dtype: pullback.dtype) -> None:
    assert dtype.numpy == np.dtype(dtype.name)
    assert dtype.itemsize == np.zeros(1, dtype.name).nbytes
    assert dtype.is_floating_point == issubclass(dtype.numpy.type, np.floating)
    assert dtype.is_complex == issubclass(dtype.numpy.type, np.complexfloating)
    assert dtype.is_signed == (dtype.name != "bool" and np.ones(1, dtype.name).__neg__()[0].real < 0)


def test_attributes_are_torchs(torch: Any) -> None:
    for name in NAMES:
        dtype, theirs = getattr(pullback, name), getattr(torch, name)
        for attribute in ("is_floating_point", "is_complex", "is_signed", "itemsize"):
            assert getattr(dtype, attribute) == getattr(theirs, attribute)
        assert dtype.to_real() is ours(theirs.to_real())
        if dtype.is_complex or dtype.is_floating_point:
            assert dtype.to_complex() is ours(theirs.to_complex())
        else:
            with pytest.raises(RuntimeError) as error:
                theirs.to_complex()
            with pytest.raises(RuntimeError, match=str(error.value)):
                dtype.to_complex()


def test_complex_and_real_partners() -> None:
    assert pullback.float16.to_complex() is pullback.float32.to_complex() is pullback.complex64
    assert pullback.float64.to_complex() is pullback.complex128.to_complex() is pullback.complex128
    assert pullback.complex64.to_real() is pullback.float32
    assert pullback.complex128.to_real() is pullback.float64
    assert pullback.bool.to_real() is pullback.bool
    with pytest.raises(RuntimeError, match=r"Unknown Complex ScalarType for Long: pullback\.int64"):
        pullback.int64.to_complex()


# What stands for a dtype


@every_dtype
def test_numpy_reads_ours(dtype: pullback.dtype) -> None:
    assert np.dtype(dtype) == np.dtype(dtype.name)
    assert np.zeros(2, dtype=dtype).dtype == np.dtype(dtype.name)
    assert np.zeros(2, np.int64).astype(dtype).dtype == np.dtype(dtype.name)


@every_dtype
def test_a_dtype_equals_what_stands_for_it_and_nothing_else(dtype: pullback.dtype) -> None:
    same = [dtype.numpy, dtype.numpy.type, dtype.name, dtype.numpy.str, np.dtype(dtype.numpy.char)]
    for value in same:
        assert dtype == value and value == dtype
    for other in DTYPES:
        assert (dtype == other) == (dtype is other)
        assert (dtype == other.numpy) == (other.numpy == dtype) == (dtype is other)
    for other in [
        None,
        1,
        "float31",
        np.dtype(object),
        object(),
        dtype.numpy.newbyteorder() if dtype.itemsize > 1 else (),
    ]:
        assert dtype != other


@every_dtype
def test_equal_means_equal_hashes(dtype: pullback.dtype) -> None:
    assert hash(dtype) == hash(dtype.numpy)
    assert {dtype.numpy: "found"}[dtype] == "found"
    assert {dtype: "found"}[dtype.numpy] == "found"
    assert len({*DTYPES, *(other.numpy for other in DTYPES)}) == len(DTYPES)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (float, "float64"),
        (int, "int64"),
        (bool, "bool"),
        (complex, "complex128"),
        (np.float16, "float16"),
        (np.bool_, "bool"),
        (np.intc, "int32"),
        (np.longlong, "int64"),
        (np.ulonglong, "uint64"),
        (np.dtype("q"), "int64"),
        ("f4", "float32"),
        ("=i2", "int16"),
        ("half", "float16"),
        ("double", "float64"),
        ("?", "bool"),
    ],
)
def test_as_dtype(value: Any, name: str) -> None:
    assert as_dtype(value) is pullback.dtype(value) is getattr(pullback, name)


@pytest.mark.parametrize("name", NAMES)
def test_every_spelling_of_numpy_is_taken(name: str) -> None:
    dtype, numpy = getattr(pullback, name), np.dtype(name)
    for value in (numpy, numpy.type, name, numpy.str, numpy.char, np.str_(name)):
        assert as_dtype(value) is dtype
    assert from_numpy(np.zeros(1, numpy).dtype) is dtype


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (object, "no type of number"),
        (np.dtype(object), "not a type of number"),
        (str, "no type of number"),
        ("U3", "not a type of number"),
        ("datetime64[s]", "not a type of number"),
        (np.dtype([("a", "f4")]), "not a type of number"),
        (np.floating, "no type of number"),
        (np.dtype("float32").newbyteorder(), "bytes are in the other order"),
        ("float", r"means pullback\.float32 here"),
        ("int", r"means pullback\.int32 here"),
        ("long", r"means pullback\.int64 here"),
        ("cfloat", r"means pullback\.complex64 here"),
        ("float31", "no such name"),
        ("pullback.float32", "no such name"),
        (np.zeros(2), r"pass its \.dtype"),
        (None, "of type NoneType"),
        ([1], "of type list"),
        (3, "of type int"),
    ],
)
def test_as_dtype_refuses_by_name(value: Any, reason: str) -> None:
    with pytest.raises(TypeError, match=reason) as error:
        as_dtype(value)
    assert repr(value) in str(error.value)
    assert all(repr(dtype) in str(error.value) for dtype in DTYPES)


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="this machine's longdouble is float64")
def test_longdouble_is_refused() -> None:
    for value in (np.longdouble, np.clongdouble, np.dtype(np.longdouble), "longdouble"):
        with pytest.raises(TypeError, match="its size depends on the machine"):
            as_dtype(value)
    with pytest.raises(TypeError, match="its size depends on the machine"):
        result_dtype([(np.dtype(np.longdouble), "dim"), (np.dtype("float32"), "dim")])


@given(st.text() | st.from_regex(r"[<>=|]?[a-zA-Z?,]{1,3}[0-9]{0,3}(\[[a-z]+\])?", fullmatch=True))
def test_any_text_is_a_dtype_or_a_type_error(text: str) -> None:
    try:
        found = as_dtype(text)
    except TypeError:
        assert pullback.float32 != text
    else:
        assert found in DTYPES and found == text and np.dtype(text) == found.numpy


def test_from_numpy_refuses_what_tensors_cannot_have() -> None:
    for name in ("O", "U3", ">f4" if sys.byteorder == "little" else "<f4", "V8"):
        with pytest.raises(TypeError, match="is not a dtype of pullback"):
            from_numpy(np.dtype(name))


LEGACY = "Bool Byte UInt16 UInt32 UInt64 Char Short Int Long Half Float Double ComplexFloat ComplexDouble"


def test_type_name() -> None:
    assert [type_name(dtype) for dtype in DTYPES] == [type_name(np.dtype(name)) for name in NAMES] == LEGACY.split()


def test_type_name_is_torchs(torch: Any) -> None:
    for name in NAMES:
        assert torch.zeros(1, dtype=getattr(torch, name)).type() == f"torch.{type_name(name)}Tensor"


# The default


def test_the_default_dtype() -> None:
    assert pullback.get_default_dtype() is pullback.float32
    for given_dtype, name, partner in [
        (pullback.float64, "float64", pullback.complex128),
        (np.float16, "float16", pullback.complex64),
        ("float32", "float32", pullback.complex64),
        (float, "float64", pullback.complex128),
    ]:
        pullback.set_default_dtype(given_dtype)
        assert pullback.get_default_dtype() is getattr(pullback, name)
        assert default_numpy() == np.dtype(name)
        assert default_complex() is partner


@pytest.mark.parametrize("value", [pullback.int64, pullback.complex64, pullback.bool, "int32", "float31", None, int])
def test_the_default_is_floating(value: Any) -> None:
    with pytest.raises(TypeError, match="only floating-point types are supported as the default type") as error:
        pullback.set_default_dtype(value)
    assert repr(value) in str(error.value)
    assert pullback.get_default_dtype() is pullback.float32


# Promotion

# What torch 2.13 promotes to; -- where it refuses.
TABLE = """
    b1 | b1 u1 -- -- -- i1 i2 i4 i8 f2 f4 f8 c8 cx
    u1 | u1 u1 -- -- -- i2 i2 i4 i8 f2 f4 f8 c8 cx
    u2 | -- -- u2 -- -- -- -- -- -- f2 f4 f8 -- --
    u4 | -- -- -- u4 -- -- -- -- -- f2 f4 f8 -- --
    u8 | -- -- -- -- u8 -- -- -- -- f2 f4 f8 -- --
    i1 | i1 i2 -- -- -- i1 i2 i4 i8 f2 f4 f8 c8 cx
    i2 | i2 i2 -- -- -- i2 i2 i4 i8 f2 f4 f8 c8 cx
    i4 | i4 i4 -- -- -- i4 i4 i4 i8 f2 f4 f8 c8 cx
    i8 | i8 i8 -- -- -- i8 i8 i8 i8 f2 f4 f8 c8 cx
    f2 | f2 f2 f2 f2 f2 f2 f2 f2 f2 f2 f4 f8 c8 cx
    f4 | f4 f4 f4 f4 f4 f4 f4 f4 f4 f4 f4 f8 c8 cx
    f8 | f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 cx cx
    c8 | c8 c8 -- -- -- c8 c8 c8 c8 c8 c8 cx c8 cx
    cx | cx cx -- -- -- cx cx cx cx cx cx cx cx cx
"""
CODES = dict(zip("b1 u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8 c8 cx".split(), NAMES, strict=True))
PROMOTED = {
    (CODES[row[0]], name): CODES.get(code)
    for row in map(str.split, TABLE.strip().splitlines())
    for name, code in zip(NAMES, row[2:], strict=True)
}


def test_the_table_is_torchs(torch: Any) -> None:
    for (a, b), name in PROMOTED.items():
        if name is not None:
            assert torch.promote_types(getattr(torch, a), getattr(torch, b)) == getattr(torch, name)
        else:
            with pytest.raises(RuntimeError, match="Promotion for uint16, uint32, uint64 types is not supported"):
                torch.promote_types(getattr(torch, a), getattr(torch, b))


def test_promote_types() -> None:
    for (a, b), name in PROMOTED.items():
        if name is not None:
            assert pullback.promote_types(getattr(pullback, a), getattr(pullback, b)) is getattr(pullback, name), (a, b)


@pytest.mark.parametrize(
    ("a", "b", "name"),
    [
        ("bool", "uint16", "uint16"),
        ("uint8", "uint32", "uint32"),
        ("uint16", "uint64", "uint64"),
        ("int8", "uint16", "int32"),
        ("uint32", "int8", "int64"),
        ("int64", "uint32", "int64"),
        ("uint64", "complex64", "complex64"),
    ],
)
def test_unsigned_integers_that_torch_does_not_promote(a: str, b: str, name: str) -> None:
    assert PROMOTED[a, b] is None
    assert pullback.promote_types(a, b) is pullback.promote_types(b, a) is getattr(pullback, name)


@pytest.mark.parametrize(
    ("name", "legacy"), [("int8", "Char"), ("int16", "Short"), ("int32", "Int"), ("int64", "Long")]
)
def test_no_integer_holds_both(name: str, legacy: str) -> None:
    text = "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
    with pytest.raises(RuntimeError, match=f"{text}UInt64 and {legacy}: no integer dtype holds both"):
        pullback.promote_types(pullback.uint64, name)
    with pytest.raises(RuntimeError, match=f"{text}{legacy} and UInt64"):
        pullback.promote_types(name, pullback.uint64)


@given(dtypes, dtypes)
def test_promotion_is_a_bound_from_above(a: pullback.dtype, b: pullback.dtype) -> None:
    try:
        both = pullback.promote_types(a, b)
    except RuntimeError:
        assert pullback.uint64 in (a, b)
        return
    assert pullback.promote_types(b, a) is both
    assert pullback.promote_types(a, both) is pullback.promote_types(both, b) is both
    assert pullback.can_cast(a, both) and pullback.can_cast(b, both)
    assert KINDS[both.name] == max(KINDS[a.name], KINDS[b.name], key="bifc".index)
    if KINDS[a.name] == KINDS[b.name]:
        assert np.can_cast(a.numpy, both.numpy, "safe") and np.can_cast(b.numpy, both.numpy, "safe")


@given(dtypes, dtypes)
def test_can_cast_keeps_or_raises_the_kind(a: pullback.dtype, b: pullback.dtype) -> None:
    assert pullback.can_cast(a, b) == ("bifc".index(KINDS[a.name]) <= "bifc".index(KINDS[b.name]))


def test_can_cast_is_torchs(torch: Any) -> None:
    for a, b in itertools.product(NAMES, repeat=2):
        assert pullback.can_cast(getattr(pullback, a), getattr(pullback, b)) == torch.can_cast(
            getattr(torch, a), getattr(torch, b)
        )


def result(*operands: tuple[str, str]) -> str:
    """The name of result_dtype for operands given as a dtype's name and a strength."""
    return result_dtype([(np.dtype(name), strength) for name, strength in operands]).name


@pytest.mark.parametrize(
    ("operands", "name"),
    [
        ([("float32", "dim"), ("float64", "dim")], "float64"),
        ([("float32", "dim"), ("float64", "zero")], "float32"),
        ([("float32", "dim"), ("float64", "scalar")], "float32"),
        ([("float64", "scalar"), ("float32", "dim")], "float32"),
        ([("int64", "dim"), ("float64", "scalar")], "float32"),
        ([("int64", "dim"), ("float16", "zero")], "float16"),
        ([("int8", "dim"), ("int64", "zero")], "int8"),
        ([("int8", "zero"), ("int64", "scalar")], "int8"),
        ([("bool", "dim"), ("int64", "scalar")], "int64"),
        ([("bool", "dim"), ("uint8", "zero")], "uint8"),
        ([("float32", "dim"), ("complex128", "zero")], "complex64"),
        ([("float64", "dim"), ("complex64", "zero")], "complex128"),
        ([("float16", "dim"), ("complex128", "scalar")], "complex64"),
        ([("int32", "dim"), ("complex128", "scalar")], "complex64"),
        ([("int32", "dim"), ("complex128", "zero")], "complex128"),
        ([("float64", "scalar")], "float32"),
        ([("complex128", "scalar")], "complex64"),
        ([("float64", "scalar"), ("float64", "scalar")], "float32"),
        ([("int64", "scalar"), ("bool", "scalar")], "int64"),
        ([("int64", "dim"), ("float64", "zero"), ("complex128", "scalar")], "complex128"),
        ([("int64", "dim"), ("float32", "dim"), ("float64", "zero")], "float32"),
        ([("int8", "dim"), ("uint64", "dim"), ("float32", "dim")], "float32"),
    ],
)
def test_result_dtype(operands: list[tuple[str, str]], name: str) -> None:
    assert result(*operands) == name
    assert result(*reversed(operands)) == name


@pytest.mark.parametrize(("default", "partner"), [("float16", "complex64"), ("float64", "complex128")])
def test_numbers_have_the_default_dtype(default: str, partner: str) -> None:
    assert result(("int64", "dim"), ("float64", "scalar")) == "float32"
    pullback.set_default_dtype(default)
    assert result(("int64", "dim"), ("float64", "scalar")) == default
    assert result(("int64", "dim"), ("complex128", "scalar")) == partner
    assert result(("float32", "dim"), ("complex128", "scalar")) == "complex64"
    assert result(("float64", "scalar"), ("float64", "scalar")) == default


def pairs() -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Every two dtypes in every two strengths; of Python numbers there are four."""
    one = [(name, strength) for strength in STRENGTHS for name in (NUMBERS if strength == "scalar" else NAMES)]
    return itertools.product(one, repeat=2)


@pytest.mark.parametrize("default", ["float16", "float32", "float64"])
def test_result_dtype_is_torchs(torch: Any, default: str) -> None:
    pullback.set_default_dtype(default)
    torch.set_default_dtype(getattr(torch, default))

    def operand(name: str, strength: str) -> Any:
        if strength == "scalar":
            return NUMBERS[name]
        return torch.ones((1,) if strength == "dim" else (), dtype=getattr(torch, name))

    compared = 0
    for a, b in pairs():
        try:
            theirs = torch.result_type(operand(*a), operand(*b))
        except RuntimeError:
            assert {a[0], b[0]} & {"uint16", "uint32", "uint64"}
            continue
        assert result(a, b) == ours(theirs).name, (a, b)
        compared += 1
    assert compared > 850


def test_three_operands_are_torchs(torch: Any) -> None:
    names = ["bool", "int8", "int64", "float16", "float32", "float64", "complex64", "complex128"]
    tensors = {
        (name, strength): torch.ones((1,) if strength == "dim" else (), dtype=getattr(torch, name))
        for name, strength in itertools.product(names, ["dim", "zero"])
    }
    for operands in itertools.product(tensors, repeat=3):
        if {name for name, _ in operands} == {"bool"}:
            continue  # addcmul does not compute with bools alone
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "ComplexHalf support is experimental")
            theirs = torch.addcmul(*(tensors[operand] for operand in operands))
        assert result(*operands) == ours(theirs.dtype).name, operands


@given(
    st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(STRENGTHS)), min_size=1, max_size=5).flatmap(
        lambda operands: st.tuples(st.just(operands), st.permutations(operands))
    )
)
def test_the_order_of_operands_does_not_matter(orders: tuple[list[tuple[str, str]], list[tuple[str, str]]]) -> None:
    def answer(operands: list[tuple[str, str]]) -> str:
        try:
            return result(*operands)
        except RuntimeError:
            return "refused"

    assert answer(orders[0]) == answer(orders[1])
    assert answer(orders[0]) != "refused" or "uint64" in {name for name, _ in orders[0]}


# Limits


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_finfo_is_what_arithmetic_says(name: str) -> None:
    info, kind = pullback.finfo(getattr(pullback, name)), np.dtype(name).type
    assert info.bits == np.dtype(name).itemsize * 8
    assert kind(1) + kind(info.eps) > 1 and kind(1) + kind(info.eps / 2) == 1
    assert math.isfinite(kind(info.max)) and kind(info.max) == info.max == -info.min
    with np.errstate(over="ignore"):
        assert np.nextafter(kind(info.max), kind(math.inf)) == math.inf
    assert info.tiny == info.smallest_normal == kind(info.tiny) > 0
    assert (math.frexp(info.tiny)[0], math.frexp(info.eps)[0]) == (0.5, 0.5)
    assert info.dtype == name
    assert all(type(getattr(info, part)) is float for part in ("eps", "max", "min", "tiny", "resolution"))


@pytest.mark.parametrize("name", [name for name in NAMES if "int" in name])
def test_iinfo_is_what_arithmetic_says(name: str) -> None:
    info, bits = pullback.iinfo(getattr(pullback, name)), np.dtype(name).itemsize * 8
    signed = name.startswith("int")
    assert (info.bits, info.max) == (bits, 2 ** (bits - signed) - 1)
    assert info.min == (-(2 ** (bits - 1)) if signed else 0)
    assert info.dtype == name


def test_limits_are_torchs(torch: Any) -> None:
    for name in NAMES[1:]:
        kind = "iinfo" if "int" in name else "finfo"
        info, theirs = getattr(pullback, kind)(getattr(pullback, name)), getattr(torch, kind)(getattr(torch, name))
        parts = ("bits", "max", "min", "dtype") + ("eps", "tiny", "smallest_normal", "resolution") * (kind == "finfo")
        assert {part: getattr(info, part) for part in parts} == {part: getattr(theirs, part) for part in parts}
        assert repr(info) == repr(theirs)


def test_limits_take_what_stands_for_a_dtype() -> None:
    assert pullback.finfo() == pullback.finfo(np.float32) == pullback.finfo("complex64") != pullback.finfo(float)
    assert pullback.iinfo(int) == pullback.iinfo("int64") != pullback.iinfo("int32")
    assert len({pullback.finfo(), pullback.finfo(np.float32), pullback.iinfo(int)}) == 2
    pullback.set_default_dtype(pullback.float64)
    assert pullback.finfo().dtype == "float64"


def test_limits_refuse_other_kinds() -> None:
    with pytest.raises(
        TypeError, match=r"finfo\(\) requires a floating point input type. Use pullback.iinfo .* pullback.int8"
    ):
        pullback.finfo(pullback.int8)
    with pytest.raises(
        TypeError, match=r"iinfo\(\) requires an integer input type. Use pullback.finfo .* pullback.float16"
    ):
        pullback.iinfo(pullback.float16)
    with pytest.raises(TypeError, match=r"pullback\.bool is not supported by pullback\.iinfo"):
        pullback.iinfo(bool)


def test_where_warns_of_a_condition_of_bytes():
    with pytest.warns(UserWarning, match="where received a uint8 condition tensor"):
        assert pullback.where(pullback.tensor(2, dtype=pullback.uint8), 1.0, 2.0).item() == 1.0


@pytest.mark.parametrize("number", [2**31, 2**63, -(2**70)])
@pytest.mark.parametrize("function", ["pow", "fmod", "remainder"])
def test_large_integers_beside_floats_widen_nothing(function, number):
    """NumPy 1 answers doubles, or objects, where a number does not fit into its own integers."""
    for size in (0, 2):
        x = pullback.ones(size, requires_grad=True)
        for call in (getattr(pullback, function), getattr(pullback.Tensor, function)):
            y = call(x, number)
            assert y.dtype is pullback.float32
            y.sum().backward()
        assert x.grad.dtype is pullback.float32


@pytest.mark.parametrize(
    ("dtype", "exponent"), [(pullback.int8, 128), (pullback.uint8, 2**31), (pullback.int32, 2**31)]
)
def test_integers_have_no_powers_beyond_their_dtype(dtype, exponent):
    x = pullback.ones(2, dtype=dtype)
    assert (x ** (exponent - 1 if exponent < 2**31 else 7)).dtype is dtype
    with pytest.raises(RuntimeError, match=r"value cannot be converted to type .* without overflow"):
        x**exponent
    with pytest.raises(OverflowError):
        x ** (10**400)
