"""The safetensors format: named arrays and strings, and no code.

A file consists of the length of its header (8 bytes, little-endian); the header (JSON: dtype, shape and byte range by
name, and `__metadata__`, strings by name); and the arrays' bytes, in C order and little-endian, without gaps.
The format is published at https://github.com/huggingface/safetensors.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple, NoReturn

import numpy as np

from .._core import dtypes
from .._core.bfloat import CHAR, held
from .builders import MOST_AXES, MOST_LEVELS
from .errors import FileError
from .opening import Input

if TYPE_CHECKING:
    from typing import Any, BinaryIO, TypeAlias

    from .._core.typing import Array, NumpyType

    Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None

Order = Literal["little", "big"]

METADATA = "__metadata__"
BFLOAT = "BF16"
MOST_HEADER = 100_000_000  # bytes, as the format specifies
_UNLIMITED = 10_000  # the recursion limit of a program that has raised it, beyond which Python's reader of JSON crashes
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}]', re.DOTALL)
_MOST_DIGITS = 4300  # of an integer: Python's own limit, since it takes quadratic time

_CODES = "BOOL U8 I8 U16 I16 F16 U32 I32 F32 U64 I64 F64 C64".split()
_KINDS = "bool uint8 int8 uint16 int16 float16 uint32 int32 float32 uint64 int64 float64 complex64".split()
DTYPES = {code: np.dtype(kind) for code, kind in zip(_CODES, _KINDS, strict=True)}
_NAMES = {dtype: name for name, dtype in DTYPES.items()}


class _Entry(NamedTuple):
    """The header's entry for an array."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def write(stream: BinaryIO, arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> None:
    """Write arrays and metadata strings."""
    header: dict[str, Json] = {METADATA: dict(metadata)} if metadata else {}
    begin = 0
    # The widest dtypes first, so that every array's offset is a multiple of its element size.
    order = sorted(arrays, key=lambda name: -arrays[name].dtype.itemsize)
    for name in order:
        array = arrays[name]
        span: list[Json] = [begin, begin + array.nbytes]
        header[name] = {
            "dtype": BFLOAT if array.dtype.char == CHAR else _NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": span,
        }
        begin += array.nbytes
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > MOST_HEADER:
        raise ValueError(f"the names and texts take {len(text)} bytes, of which the format allows {MOST_HEADER}")
    stream.write(len(text).to_bytes(8, "little"))
    stream.write(text)
    for name in order:
        array = arrays[name].view(np.uint16) if arrays[name].dtype.char == CHAR else arrays[name]
        array = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        if array.size:
            stream.write(array.reshape(-1).view(np.uint8).data)


def looks_like(start: bytes) -> bool:
    """True if the first bytes may be those of a safetensors file."""
    return len(start) >= 9 and start[8:9] == b"{" and int.from_bytes(start[:8], "little") <= MOST_HEADER


def read_header(source: Input) -> tuple[list[_Entry], dict[str, str]]:
    """The header's entries in the order of their bytes, and the metadata strings."""
    length = int.from_bytes(source.exact(8, "the header's length"), "little")
    if length > min(source.left, MOST_HEADER):
        raise FileError(f"declares a header of {length} bytes, but {source.left} bytes follow")
    content = source.exact(length, "the header")
    try:
        header = parsed(content.decode(), object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        raise FileError(f"has a header that is not JSON: {error}") from error
    if not isinstance(header, dict):
        raise FileError(f"has a header that is not a JSON object, but {_shown(header)}")
    metadata = header.pop(METADATA, {})
    texts = (
        {key: value for key, value in metadata.items() if isinstance(value, str)} if isinstance(metadata, dict) else {}
    )
    if not isinstance(metadata, dict) or len(texts) != len(metadata):
        raise FileError(f"has in its header a {METADATA} that is not an object of strings")
    entries = sorted((_entry(*item) for item in header.items()), key=lambda entry: (entry.begin, entry.end))
    end = 0
    for entry in entries:
        if entry.begin != end:
            how = "overlaps another" if entry.begin < end else "leaves a gap"
            raise FileError(f"tensor {entry.name!r} {how}: its bytes begin at {entry.begin}, not at {end}")
        end = entry.end
    if end != source.left:
        which = "is truncated" if end > source.left else "has bytes that do not belong to a tensor"
        raise FileError(f"{which}: the header declares {end} bytes of tensors, {source.left} follow")
    return entries, texts


def read(source: Input) -> tuple[dict[str, Array], dict[str, str], bool]:
    """The arrays by name, the metadata strings, and whether some arrays are of bfloat16, and became float32."""
    entries, metadata = read_header(source)
    arrays = {entry.name: _array(entry, source) for entry in entries}
    return arrays, metadata, any(entry.dtype == BFLOAT and arrays[entry.name].dtype.char != CHAR for entry in entries)


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the name {name!r} is there twice")
        found[name] = value
    return found


def parsed(text: str, **options: Any) -> Json:
    """The value of JSON text: numbers of few digits, no NaN, and lists and objects no deeper than allowed."""
    if sys.getrecursionlimit() > _UNLIMITED and _levels(text) > MOST_LEVELS:
        raise ValueError(f"it is nested more than {MOST_LEVELS} levels deep")
    found: Json = json.loads(text, parse_constant=_not_finite, parse_int=_integer, **options)
    return found


def _levels(text: str) -> int:
    """How deeply JSON text is nested."""
    marks = (1 if found[0] in "[{" else -1 for found in _BRACKETS.finditer(text) if found[0][0] != '"')
    return max(itertools.accumulate(marks), default=0)


def _integer(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"a number has {len(text)} digits, of {_MOST_DIGITS} allowed")
    return int(text)


def _not_finite(text: str) -> NoReturn:
    """Refuse NaN and infinities, which Python parses as JSON numbers although JSON does not have them."""
    raise ValueError(f"{text} is no JSON number")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _entry(name: str, value: object) -> _Entry:
    if not isinstance(value, dict) or value.keys() != {"dtype", "shape", "data_offsets"}:
        raise FileError(f"tensor {name!r} needs dtype, shape and data_offsets, and has {_shown(value)}")
    dtype, shape, span = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(dtype, str) or (dtype not in DTYPES and dtype != BFLOAT):
        raise FileError(f"tensor {name!r} has the dtype {_shown(dtype)}: pullback has {', '.join(DTYPES)}")
    if not _naturals(shape):
        raise FileError(f"tensor {name!r} has the shape {_shown(shape)}, which is not a list of sizes")
    if len(shape) > MOST_AXES:
        raise FileError(f"tensor {name!r} has a shape that arrays cannot have, of {len(shape)} axes")
    if not _naturals(span) or len(span) != 2 or span[0] > span[1]:
        raise FileError(f"tensor {name!r} has the data_offsets {_shown(span)}, which are not a range")
    itemsize = 2 if dtype == BFLOAT else DTYPES[dtype].itemsize
    size = math.prod(shape) * itemsize
    if size != span[1] - span[0]:
        raise FileError(f"tensor {name!r} of dtype {dtype} and shape {shape} has {span[1] - span[0]} bytes, not {size}")
    return _Entry(name, dtype, tuple(shape), *span)


def _naturals(value: object) -> bool:
    return isinstance(value, list) and all(type(each) is int and 0 <= each < 2**63 for each in value)


def _array(entry: _Entry, source: Input) -> Array:
    what = f"tensor {entry.name!r}"
    raw = source.array(entry.end - entry.begin, what)
    flat = bfloats(raw, "little") if entry.dtype == BFLOAT else typed(raw, DTYPES[entry.dtype], "little", what)
    return shaped(flat, entry.shape, what)


def typed(raw: Array, dtype: NumpyType, order: Order, what: str) -> Array:
    """Bytes as elements of a dtype, converted in place to the machine's byte order."""
    if dtype.kind == "b" and raw.size and raw.max() > 1:
        raise FileError(f"{what} is bool, and has bytes that are neither 0 nor 1")
    array = raw.view(dtype.newbyteorder(order))
    return array.astype(dtype, copy=False)


def bfloats(raw: Array, order: Order) -> Array:
    """Bytes as bfloat16 numbers; where ml_dtypes is not installed, as float32, whose lower halves are zero."""
    halves = raw.view("<u2" if order == "little" else ">u2")
    if (dtype := dtypes.known()[-1]).name == "bfloat16":
        numbers: Array = held(halves.astype(np.uint16, copy=False).view(np.dtype(dtype)))
        return numbers
    return (halves.astype(np.uint32) << 16).view(np.float32)


def shaped(flat: Array, shape: tuple[int, ...], what: str) -> Array:
    """An array in another shape; refused if NumPy allows neither the number of axes nor the sizes."""
    try:
        return flat.reshape(shape)
    except (ValueError, OverflowError) as error:
        raise FileError(f"{what} has a shape that arrays cannot have, {_shown(list(shape))}: {error}") from error
