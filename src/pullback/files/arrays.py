"""Arrays of NumPy in pickles: made from a dtype's name, a shape and bytes, never by NumPy's own unpickling.

NumPy's `dtype.__setstate__` believes what it is told, so that a pickle could have it read and write any memory. Here its
state is read as data: the dtype is made by name, and an array only of as many bytes as its shape needs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import dtypes
from .._core.bfloat import BFloatArray, held
from .builders import BYTES, NONE, SIZES, TEXT, Builder, Marker, Takes
from .errors import FileError

if TYPE_CHECKING:
    from typing import Literal

    from .._core import typing
    from .._core.typing import NumpyType

_CODE = re.compile(r"[biufc]\d{1,2}|[SUV]\d{1,9}|[mM]8|O8?")
_UNITS = {b"Y", b"M", b"W", b"D", b"h", b"m", b"s", b"ms", b"us", b"ns", b"ps", b"fs", b"as", b"generic"}
_LARGEST_CHARACTER = 0x10FFFF
KINDS = {np.ndarray, BFloatArray}
_Charge = Callable[[int], None]
Content = bytes | bytearray | list[object]


class Unbuilt(Marker):
    """An object whose state follows in the pickle: what is built then takes its place."""

    __slots__ = ("places",)

    def __init__(self) -> None:
        self.places: list[int] = []  # in the memo

    def built(self, state: object, charge: _Charge) -> object:
        """The value; `charge` is told how many items are copied for it."""
        raise NotImplementedError


def _bfloat() -> type[np.generic] | None:
    """The scalar type of bfloat16, if there is one."""
    known = dtypes.known()[-1]
    return np.dtype(known).type if known.name == "bfloat16" else None


class _Dtype(Unbuilt):
    """A dtype by its code, before its byte order and its fields are known."""

    __slots__ = ("code",)

    def __init__(self, code: object, align: object = False, copy: object = True) -> None:
        super().__init__()
        self.code: Any = code

    def built(self, state: object, charge: _Charge) -> object:
        """The dtype."""
        if type(state) is not tuple or len(state) not in {8, 9} or state[1] not in {"<", ">", "|", "="}:
            raise FileError("holds an invalid dtype: its state is malformed")
        _, order, part, names, fields, size, *_ = state
        if self.code is _bfloat():
            return np.dtype(self.code)
        if self.code is not np.record and (type(self.code) is not str or _CODE.fullmatch(self.code) is None):
            raise FileError("holds an invalid dtype: its name is unknown")
        if part is not None:
            return np.dtype(_pair(part))
        if names is not None:
            charge(len(names))
            return self._structured(names, fields, size)
        return np.dtype(f"{order}{self.code}{_unit(state[-1]) if self.code in {'m8', 'M8'} else ''}")

    def _structured(self, names: object, fields: object, size: Any) -> NumpyType:
        if type(names) is not tuple or type(fields) is not dict or {*map(type, names)} - {str} or {*names} != {*fields}:
            raise FileError("holds an invalid dtype: its fields have no names")
        if not all(type(fields[name]) is tuple and len(fields[name]) == 2 for name in names):
            raise FileError("holds an invalid dtype: a field is not a pair of dtype and offset")
        kinds, offsets = [_simple(fields[name][0]) for name in names], [fields[name][1] for name in names]
        if not all(type(each) is int and 0 <= each < 2**31 for each in (size, *offsets)):
            raise FileError("holds an invalid dtype: an offset or its size is not a number")
        made = np.dtype({"names": [*names], "formats": kinds, "offsets": offsets, "itemsize": size})
        return np.dtype((np.record, made)) if self.code is np.record else made


def _pair(part: object) -> tuple[NumpyType, tuple[int, ...]]:
    """The dtype and the shape of an array within a dtype."""
    if type(part) is not tuple or len(part) != 2 or SIZES.problem(part[1]):
        raise FileError("holds an invalid dtype: it repeats no dtype by a shape")
    return _simple(part[0]), part[1]


def _simple(dtype: object) -> NumpyType:
    """A dtype that may be part of another: one without fields and objects."""
    if not isinstance(dtype, np.dtype) or dtype.names is not None or dtype.hasobject:
        raise FileError("holds an invalid dtype: a part of it is not a plain dtype")
    return dtype


def _unit(state: object) -> str:
    """The unit of a date or a span of time, such as `[25s]`."""
    match state:
        case (_, (bytes() as unit, int() as count, *_)) if unit in _UNITS and 0 < count < 2**31:
            return "" if unit == b"generic" else f"[{count}{unit.decode()}]"
    raise FileError("holds an invalid dtype: its unit of time is unknown")


class Array(Unbuilt):
    """An array, before its shape, dtype and bytes are known."""

    __slots__ = ("kind",)

    def __init__(self, kind: object, shape: object = None, code: object = None) -> None:
        super().__init__()
        if kind not in KINDS:
            raise ValueError("an array of another class")
        self.kind = kind

    def built(self, state: Any, charge: _Charge) -> object:
        """The array."""
        match state:
            case (int(), shape, np.dtype() as dtype, int() as turned, (bytes() | bytearray() | list()) as content):
                charge(len(content))
                return made(content, dtype, shape, "F" if turned else "C")
        raise FileError("holds an invalid array: its state is not a shape, a dtype and content")


def made(
    content: Content, dtype: NumpyType, shape: tuple[int, ...], order: Literal["C", "F"] = "C", axes: object = None
) -> typing.Array:
    """An array with memory of its own, of as many bytes, or objects, as its shape needs."""
    if problem := SIZES.problem(shape):
        raise FileError(f"holds an invalid array: its shape is {problem}")
    if order not in {"C", "F"} or axes is not None:
        raise FileError("holds an invalid array: the order of its elements is unknown")
    count = math.prod(shape)
    if dtype.hasobject:
        return _of_objects(content, dtype, count).reshape(shape, order=order)
    if isinstance(content, list) or not dtype.itemsize or len(content) != count * dtype.itemsize:
        raise FileError(f"holds an invalid array: {len(content)} bytes are not {count} elements of {dtype.itemsize}")
    flat = np.frombuffer(bytearray(content), np.uint8)
    if dtype.kind == "b" and flat.size and flat.max() > 1:
        raise FileError("holds an invalid array: it is bool, and has bytes that are neither 0 nor 1")
    if dtype.kind == "U" and flat.size and flat.view(f"{dtype.byteorder}u4").max() > _LARGEST_CHARACTER:
        raise FileError("holds an invalid array: it has characters that do not exist")
    array: typing.Array = held(flat.view(dtype).reshape(shape, order=order))
    return array


def _of_objects(content: Content, dtype: NumpyType, count: int) -> typing.Array:
    if type(content) is not list or dtype.names is not None or len(content) != count:
        raise FileError(f"holds an invalid array: {len(content)} objects where {count} are needed")
    array = np.empty(count, dtype)
    for place, each in enumerate(content):
        array[place] = each
    return array


def _scalar(dtype: NumpyType, content: bytes) -> object:
    return made(content, dtype, ())[()]


def names() -> dict[str, object]:
    """The builder or value for each name that pickles of arrays have."""
    flag, dtype = Takes((bool, int)), Takes((np.dtype,))
    array = Builder("array", Array, Takes((type,)), SIZES, Takes((bytes, str), 1))
    scalar = Builder("number", _scalar, dtype, BYTES)
    whole = Builder("array", made, BYTES, dtype, SIZES, TEXT, Takes((NONE,)), least=4)
    return {
        "numpy.ndarray": np.ndarray,
        **({} if _bfloat() is None else {"ml_dtypes.bfloat16": _bfloat()}),
        "pullback._core.bfloat.BFloatArray": BFloatArray,
        "numpy.dtype": Builder("dtype", _Dtype, Takes((str, type)), flag, flag, least=1),
        **{
            name: builder
            for core in ("numpy.core", "numpy._core")
            for name, builder in (
                (f"{core}.multiarray._reconstruct", array),
                (f"{core}.multiarray.scalar", scalar),
                (f"{core}.numeric._frombuffer", whole),
            )
        },
    }
