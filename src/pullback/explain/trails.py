"""A trail: what each operation of a run gave, in order, as a file that another run is compared with.

The file is packed by gzip and has one JSON object a line: what it is first, then an entry each. Elements are numbers in bytes,
written as base64. Nothing in it is run, and what does not follow the format is refused.
"""

from __future__ import annotations

import base64
import functools
import gzip
import json
import math
import weakref
import zlib
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..files.opening import writing
from .arrays import Array, numeric
from .damage import DAMAGES, FormatError, called, readable, why
from .schemas import problem
from .sources import Place

if TYPE_CHECKING:
    from os import PathLike

VALUES = 1024
"""The number of elements up to which an array is kept whole; of a larger one so many, evenly spread."""
BYTES = 64_000_000
"""The number of bytes of elements after which only statistics are kept."""
MOST = 200_000
"""The number of entries after which a trail ends."""
LONGEST_LINE = 2**24
"""The number of bytes of a line of a file above which it is refused: an array of a million elements."""
LARGEST_FILE = 2**28
"""The number of bytes of an unpacked file above which it is refused: what `BYTES` and `MOST` come to is less."""
BLOCK, PERIOD = 2**14, 2**18
"""The number of elements that are counted at once, and after which the signs of a sum repeat."""
FORMAT, VERSION = "pullback trail", 1
FORWARD, BACKWARD, SENT, LEAF, WRITE, GIVEN = PHASES = ("forward", "backward", "sent", "leaf", "write", "given")
"""What an entry is of: a result, the gradient that arrived at one, what a rule sent, what arrived at a leaf, a write, an operand."""
KEPT = frozenset("b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split())
"""The types of values in a file, as NumPy writes them."""


class Totals(NamedTuple):
    """Of all elements: how many are NaN or infinite; of the others the largest, the norm, and a sum with signs by place."""

    bad: int
    largest: float
    norm: float
    signed: float


class What(NamedTuple):
    """What an entry is of: the phase, the operation, and a name."""

    phase: str
    operation: str
    name: str = ""


class Where(NamedTuple):
    """The line of the program, and the path of the module that is running."""

    place: Place | None
    module: str = ""


class TrailEntry(NamedTuple):
    """What one operation gave, or what one gradient was.

    >>> import pullback
    >>> with pullback.explain.trail() as trail:
    ...     y = pullback.tensor([1.0, 2.0]) * 3
    >>> trail.entries[-1].operation, trail.entries[-1].values
    ('multiply', array([3., 6.], dtype=float32))
    """

    phase: str
    operation: str
    name: str
    """Of a parameter or a variable its name; of one of several results its number."""
    module: str
    """The path of the module that is running, inside of the outermost one."""
    place: Place | None
    code: str
    """The text of the line."""
    shape: tuple[int, ...]
    dtype: str
    statistics: Totals
    values: Array
    """The elements, or, of more than are kept, some of them, evenly spread."""
    makers: tuple[int, ...]
    """The entries of the operands."""

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def element(self, at: int) -> tuple[int, ...]:
        """The index in the array of one of the values."""
        where = int(_spread(self.size, len(self.values))[at]) if len(self.values) < self.size else at
        return tuple(map(int, np.unravel_index(where, self.shape))) if self.shape else ()


class Trail:
    """What the operations of a run gave, in order: what `explain.trail` records and `explain.read_trail` reads.

    >>> import pullback
    >>> with pullback.explain.trail() as trail:
    ...     x = pullback.tensor([1.0, 2.0], requires_grad=True)
    ...     (x * x).sum().backward()
    >>> [(entry.phase, entry.operation) for entry in trail.entries[:3]]
    [('given', 'multiply'), ('forward', 'multiply'), ('forward', 'sum')]
    """

    def __init__(self, source: str = "pullback", values: int = VALUES) -> None:
        self.source = source
        """Whose operations they are: 'pullback' or 'torch'."""
        self.entries: list[TrailEntry] = []
        self.values = values
        self.whole = True
        """False if the run was longer than what is kept."""
        self._bytes = 0

    def add(self, what: What, array: Array, where: Where, makers: Sequence[int] = (), dtype: str = "") -> int | None:
        """Add an entry, and return its number; None where nothing more is kept."""
        if len(self.entries) >= MOST:
            self.whole = False
            return None
        array = numeric(array)
        place, module = where
        phase, operation, name = what
        room = self.values if self._bytes < BYTES else 0
        values = _some(array, room)
        self._bytes += values.nbytes
        code = "" if place is None else place.code or f"line {place.line}"
        given = tuple(map(int, array.shape)), dtype or str(array.dtype), _statistics(array), values, tuple(makers)
        self.entries.append(TrailEntry(phase, operation, name, module, place, code, *given))
        return len(self.entries) - 1

    def save(self, path: str | PathLike[str]) -> None:
        """Write the trail to a file, which has its old content until all of the new is written."""
        head = {"format": FORMAT, "version": VERSION, "source": self.source, "values": self.values, "whole": self.whole}
        with writing(path) as stream, gzip.GzipFile(fileobj=stream, mode="wb", mtime=0, compresslevel=4) as packed:
            for line in (head, *map(_plain, self.entries)):
                packed.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def __str__(self) -> str:
        last = "" if self.whole else ", then it was cut"
        return f"{len(self.entries)} entries of a run of {self.source}{last}"


def read_trail(path: str | PathLike[str]) -> Trail:
    """The trail in a file.

    Raises
    ------
    ValueError
        If the file is not that of a trail.
    """
    file = readable(path)
    trail = Trail()
    number = 0
    try:
        with gzip.open(file, "rb") as stream:
            _require_few(stream)
        with gzip.open(file, "rb") as stream:  # anew: a stream that found damage cannot go back
            for number, line in enumerate(iter(partial(stream.readline, LONGEST_LINE), b""), 1):
                _read(trail, json.loads(line), number)
    except DAMAGES as error:
        place = f", line {number}" if number else ""
        raise ValueError(f"{called(path)}{place}: not the file of a trail ({why(error)})") from None
    if not number:
        raise ValueError(f"{called(path)}: not the file of a trail (it is empty)")
    return trail


class Known:
    """The entries by the tensors that they describe, which are not kept alive."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[weakref.ref[Any], int, int]] = {}

    def add(self, tensor: Any, version: int, entry: int | None) -> None:
        """Note the entry of a tensor that has been written so often."""
        if entry is not None:
            key = id(tensor)
            self._entries[key] = weakref.ref(tensor, lambda _: self._entries.pop(key, None)), version, entry

    def find(self, tensor: Any, version: int) -> int | None:
        """The entry of a tensor as it is now."""
        reference, then, entry = self._entries.get(id(tensor), (None, -1, None))
        return entry if reference is not None and reference() is tensor and then == version else None


def module_path(frame: FrameType | None, call: CodeType) -> tuple[Any, str]:
    """The innermost module that is running, and its path in the outermost one; `call` is the code that calls modules."""
    running: list[Any] = []
    while frame is not None:
        if frame.f_code is call and (not running or running[-1] is not frame.f_locals["self"]):
            running.append(frame.f_locals["self"])
        frame = frame.f_back
    if not running:
        return None, ""
    inner, outer = running[0], running[-1]
    found = next((path for path, each in outer.named_modules() if each is inner), "")
    return inner, ".".join(filter(None, [type(outer).__name__, found]))


def _spread(size: int, count: int) -> Array:
    return np.linspace(0, size - 1, count).astype(np.int64)


def _some(array: Array, most: int) -> Array:
    flat = array.reshape(-1)
    return flat.copy() if flat.size <= most else flat[_spread(flat.size, most)]


def _statistics(array: Array) -> Totals:
    """Totals in which a difference of few elements is seen, too; a block at a time, which stays in the cache."""
    flat, signs = array.reshape(-1), _signs()
    bad, largest, squares, signed = 0, 0.0, 0.0, 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, flat.size, BLOCK):
            part = flat[start : start + BLOCK]
            part = np.abs(part) if part.dtype.kind == "c" else part.astype(np.float64)
            those = signs[start % PERIOD :][: part.size]
            if not math.isfinite(total := float(part @ those)):
                good = np.isfinite(part)
                bad += int(good.size - good.sum())
                part = np.where(good, part, 0.0)
                total = float(part @ those)
            largest = max(largest, float(part.max()), -float(part.min()))
            squares, signed = squares + float(part @ part), signed + total
    return Totals(bad, largest, math.sqrt(squares), signed)


@functools.cache
def _signs() -> Array:
    """1 or -1 by place: a bit of a multiple of the place, which repeats."""
    places = np.arange(PERIOD, dtype=np.uint32) * np.uint32(2654435761)
    return np.where(places & np.uint32(PERIOD >> 1), 1.0, -1.0)


# The file


def _rows(**properties: object) -> dict[str, Any]:
    return {"type": "object", "required": [*properties], "properties": properties}


_TEXT, _COUNT = {"type": "string"}, {"type": "integer", "minimum": 0}
_PLACE = {"type": ["array", "null"], "minItems": 5, "maxItems": 5, "items": {"type": ["string", "integer", "null"]}}
_HEAD = _rows(
    format={"const": FORMAT}, version={"const": VERSION}, source={"enum": ["pullback", "torch"]}, values=_COUNT,
    whole={"type": "boolean"},
)  # fmt: skip
_ENTRY = _rows(
    phase={"enum": list(PHASES)}, operation=_TEXT, name=_TEXT, module=_TEXT, place=_PLACE, code=_TEXT,
    shape={"type": "array", "items": _COUNT}, dtype=_TEXT,
    statistics={"type": "array", "minItems": 4, "maxItems": 4, "items": {"type": ["number", "string"]}},
    kept=_TEXT, values=_TEXT, makers={"type": "array", "items": _COUNT},
)  # fmt: skip


def _plain(entry: TrailEntry) -> dict[str, object]:
    """An entry for JSON."""
    values = entry.values.astype(entry.values.dtype.newbyteorder("<"))
    place = None if entry.place is None else [*entry.place]
    kept = {"kept": values.dtype.str[1:], "values": base64.b64encode(values.tobytes()).decode("ascii")}
    numbers = [each if math.isfinite(each) else repr(each) for each in entry.statistics]
    return entry._asdict() | {"place": place, "statistics": numbers} | kept


def _require_few(stream: gzip.GzipFile) -> None:
    """Refuse a file with more entries, or more bytes, than a trail can have, before any of it is read as one."""
    size = lines = 0
    with suppress(EOFError, OSError, zlib.error):  # damage is told with its line, when that is read
        while part := stream.read(LONGEST_LINE):
            size, lines = size + len(part), lines + part.count(b"\n")
            if size > LARGEST_FILE:
                raise FormatError(f"it unpacks to more than {LARGEST_FILE} bytes")
            if lines > MOST + 1:
                raise FormatError(f"there are more than {MOST} entries")


def _read(trail: Trail, row: Any, number: int) -> None:
    """Add what a line of a file says."""
    if wrong := problem(row, _HEAD if number == 1 else _ENTRY):
        raise FormatError(wrong)
    if number == 1:
        trail.source, trail.values, trail.whole = row["source"], row["values"], row["whole"]
        return
    kept, shape, place = row.pop("kept"), tuple(row["shape"]), row["place"]
    if kept not in KEPT:
        raise FormatError(f"values are {kept[:20]}")
    values = np.frombuffer(base64.b64decode(row["values"], validate=True), np.dtype(f"<{kept}"))
    if len(values) > math.prod(shape) or not np.isfinite(float(math.prod(shape))):
        raise FormatError(f"{len(values)} values of an array of {math.prod(shape)}")
    if any(maker >= number - 2 for maker in row["makers"]):
        raise FormatError("an operand that comes later")
    if place is not None:
        if type(place[0]) is not str or type(place[1]) is not int or str in map(type, place[1:]):
            raise FormatError("a place that is none")
        place = Place(*place)
    numbers = [float(each) for each in row["statistics"]]
    statistics = Totals(int(numbers[0]), *numbers[1:])
    read = {"place": place, "shape": shape, "values": values, "statistics": statistics, "makers": tuple(row["makers"])}
    trail.entries.append(TrailEntry(**(row | read)))
