"""Pickles as data: an interpreter for pickle opcodes that builds plain containers, and runs no code named in a file.

Python's `pickle` calls whatever function a file names. Here the opcodes are read one by one; a name is mapped to one of
our builders, or refused, and only builders are called. Objects that cannot be built here are refused by name.
"""

from __future__ import annotations

import pickletools
import struct
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from .._core.shapes import Size
from .builders import MOST_LEVELS, Builder, Marker, plain
from .errors import FileError, UnsafeFileError
from .keys import Keys

if TYPE_CHECKING:
    from io import BytesIO

    from .opening import Input

_MOST_DIGITS = 4300  # of a number that is written as text: Python's own limit, since it takes quadratic time
_REFUSED = "Weights only load failed: "
MAPPINGS = {dict, OrderedDict, Counter}
_NESTING = {tuple, list, set, frozenset, Size, np.ndarray} | MAPPINGS


class Machine:
    """An interpreter of pickle opcodes, limited to those that build data."""

    steps: ClassVar[Mapping[bytes, Callable[[Any], object]]] = {}

    def __init__(self, names: Mapping[str, object], persistent: Callable[[object], object] | None = None) -> None:
        self.keys = Keys()
        self.names = {**plain(self.keys), **names}
        self.persistent = persistent
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []  # what lies below each mark
        self.memo: dict[int, Any] = {}
        self.copied = 0  # items, by builders

    def run(self, source: Input | BytesIO) -> object:
        """The value of the pickle at the position of a source, which is then after the pickle."""
        self.source, self.begin = source, source.tell()
        try:
            while (code := source.read(1)) != b".":
                step = self.steps.get(code)
                if step is None:
                    raise self.unknown(code)
                step(self)
            [value] = self.stack
            if self.below:
                raise ValueError("a mark is left")
        except FileError:
            raise
        except DAMAGES as error:
            self.fail(error)
        return checked(value)

    def fail(self, error: Exception) -> NoReturn:
        """Raise the FileError for a pickle that could not be read to its end."""
        raise FileError(f"holds a damaged pickle: {error}") from error

    def unknown(self, code: bytes) -> FileError:
        """The exception for an opcode that builds no data."""
        if not code:
            return FileError("holds a pickle without an end")
        known = next((each.name for each in pickletools.opcodes if each.code == code.decode("latin1")), None)
        if known is None:
            return FileError(f"holds a damaged pickle: {code!r} is not an opcode")
        return UnsafeFileError(f"{_REFUSED}its pickle uses the opcode {known}, which builds objects")

    def exact(self, count: int) -> bytes:
        """The next bytes; refused if there are fewer."""
        found: bytes = self.source.read(count)
        if len(found) != count:
            raise FileError(f"holds a damaged pickle: it ends after {len(found)} of {count} bytes")
        return found

    def line(self) -> bytes:
        """The bytes up to the end of a line, without it."""
        found: bytes = self.source.readline()
        if not found.endswith(b"\n"):
            raise FileError("holds a damaged pickle: it ends within a line")
        return found[:-1]

    def pop(self) -> Any:
        """The value on top of the stack, removed from it."""
        return self.stack.pop()

    def push(self, value: object) -> None:
        """Put a value on top of the stack."""
        self.stack.append(value)

    def marked(self) -> list[Any]:
        """The values above the last mark, removed from the stack with it."""
        values = self.stack
        self.stack = self.below.pop()
        return values

    def named(self, module: object, name: object) -> object:
        """The builder or value that a name is mapped to."""
        if type(module) is not str or type(name) is not str:
            raise FileError("holds a damaged pickle: a name is not text")
        full = f"{module}.{name}"
        return self.names[full] if full in self.names else self.absent(module, name)

    def absent(self, module: str, name: str) -> object:
        """Refuse a name that is mapped to nothing."""
        raise UnsafeFileError(
            f"{_REFUSED}Unsupported global: GLOBAL {module[:200]}.{name[:200]} was not an allowed global. pullback reads "
            "tensors and plain containers, and never runs what a file names: save the state_dict() instead, or open "
            "the file with torch and save what it holds"
        )

    def reduce(self) -> None:
        """Call a builder."""
        arguments, builder = self.pop(), self.pop()
        if type(arguments) is not tuple:
            raise UnsafeFileError(f"{_REFUSED}its pickle calls something with a {type(arguments).__name__}")
        self.push(self.call(builder, arguments))

    def new(self) -> None:
        """Create an object: here, by calling a builder."""
        self.reduce()

    def call(self, builder: object, arguments: tuple[object, ...]) -> object:
        """What a builder makes of arguments, once these are checked."""
        if not isinstance(builder, Builder):
            raise UnsafeFileError(f"{_REFUSED}its pickle calls a {type(builder).__name__}")
        self.charge(builder.check(arguments))
        try:
            return builder.build(*arguments)
        except (TypeError, ValueError, OverflowError, AttributeError, RuntimeError) as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"holds an invalid {builder.name}: {error}") from error

    def charge(self, items: int) -> None:
        """Count items that are built or copied; refused if there are more than there are bytes so far."""
        self.copied += items
        if self.copied > self.source.tell() - self.begin:
            raise FileError("holds a pickle that copies values again and again")

    def set_state(self) -> None:
        """Set the attribute that torch's state dicts have, the modules' versions, on an OrderedDict."""
        state, value = self.pop(), self.stack[-1]
        versions = state.get("_metadata", {}) if type(state) is dict and len(state) <= 1 else None
        if type(value) is not OrderedDict or type(versions) not in MAPPINGS or state.keys() - {"_metadata"}:
            raise UnsafeFileError(f"{_REFUSED}its pickle sets attributes of a {type(value).__name__}")
        if state:
            value._metadata = versions  # type: ignore[attr-defined]  # as in torch

    def refer(self) -> None:
        """Push an object that the file stores outside the pickle."""
        if self.persistent is None:
            raise UnsafeFileError(f"{_REFUSED}a pickle refers to a storage where none is allowed")
        self.push(self.persistent(self.pop()))

    def remember(self, place: int) -> None:
        """Keep the value on top of the stack at a place."""
        self.memo[place] = self.stack[-1]

    def append(self, values: list[object]) -> None:
        """Add values to the list on top of the stack."""
        self._top(list).extend(values)

    def set_items(self, values: list[object]) -> None:
        """Add keys and values to the dict on top of the stack."""
        self.keys.pairs(self._top(*MAPPINGS), paired(values))

    def add(self, values: list[object]) -> None:
        """Add elements to the set on top of the stack."""
        self.keys.elements(self._top(set), values)

    def _top(self, *kinds: type) -> Any:
        value = self.stack[-1]
        if type(value) not in kinds:
            raise UnsafeFileError(f"{_REFUSED}its pickle writes into a {type(value).__name__}")
        return value


DAMAGES = (IndexError, KeyError, TypeError, ValueError, AttributeError, OverflowError, RuntimeError, struct.error)
"""What is raised where a pickle's opcodes do not fit each other."""


def paired(values: list[object]) -> list[tuple[object, object]]:
    """Keys and values, which alternate, as pairs."""
    return [*zip(values[::2], values[1::2], strict=True)]


def checked(value: object) -> object:
    """A value that was built, if it is nested no deeper than allowed, and all in it are values."""
    levels: dict[int, int] = {}  # how many levels each container has; 0 within itself
    inner = _nested(value)
    path = [(value, inner, iter(inner))]
    while path:
        here, inner, left = path[-1]
        for below in left:
            if id(below) not in levels:
                levels[id(below)] = 1
                if within := _nested(below):
                    levels[id(below)] = 0
                    path.append((below, within, iter(within)))
                    break
        else:
            levels[id(here)] = 1 + max([levels.get(id(each), 0) for each in inner], default=0)
            path.pop()
        if len(path) > MOST_LEVELS or levels.get(id(here), 0) > MOST_LEVELS:
            raise FileError(f"holds values that are nested more than {MOST_LEVELS} levels deep")
    return value


def _nested(value: Any) -> list[object]:
    """The containers in a container; refused is what is no value."""
    kind = type(value)
    if isinstance(value, Marker):
        raise UnsafeFileError(f"{_REFUSED}its pickle keeps a function or a class alone")
    items: Any = value if kind in _NESTING else ()
    if kind in MAPPINGS:
        items = [*value.keys(), *value.values(), *getattr(value, "__dict__", {}).values()]
    elif kind is np.ndarray:
        items = value.ravel() if value.dtype.hasobject else ()
    if not len(items):
        return []
    nesting = {kind for kind in {*map(type, items)} if kind in _NESTING or issubclass(kind, Marker)}
    return [each for each in items if type(each) in nesting] if nesting else []


# The opcodes, by their bytes


def _number(size: int, *, signed: bool = False) -> Callable[[Machine], int]:
    return lambda machine: int.from_bytes(machine.exact(size), "little", signed=signed)


_BYTE, _SHORT, _INT, _LONG = (_number(size) for size in (1, 2, 4, 8))


def _digits(machine: Machine) -> bytes:
    text = machine.line()
    if len(text) > _MOST_DIGITS:
        raise FileError(f"holds a number of {len(text)} digits, of {_MOST_DIGITS} allowed")
    return text


def _integer(machine: Machine) -> int:
    text = _digits(machine)
    return {b"00": False, b"01": True}[text] if text in {b"00", b"01"} else int(text.removesuffix(b"L"))


def _quoted(machine: Machine) -> str:
    """Text of Python 2, as it is written in programs; none with escapes."""
    text = machine.line().strip()
    if len(text) < 2 or text[:1] != text[-1:] or text[:1] not in {b"'", b'"'} or b"\\" in text:
        raise FileError("holds a damaged pickle: a text has no quotes, or escapes")
    return text[1:-1].decode("ascii")


def _bytes(count: Callable[[Machine], int]) -> Callable[[Machine], bytes]:
    return lambda machine: machine.exact(count(machine))


def _text(count: Callable[[Machine], int], encoding: str = "utf-8") -> Callable[[Machine], str]:
    return lambda machine: str(machine.exact(count(machine)), encoding, "surrogatepass")


def _whole(count: Callable[[Machine], int]) -> Callable[[Machine], int]:
    return lambda machine: int.from_bytes(machine.exact(count(machine)), "little", signed=True)


def _pushes(read: Callable[[Machine], object]) -> Callable[[Machine], None]:
    def step(machine: Machine) -> None:
        value = read(machine)  # which may leave another stack
        machine.stack.append(value)

    return step


def _tuple(count: int) -> Callable[[Machine], object]:
    return lambda machine: tuple([machine.pop() for _ in range(count)][::-1])


def _mark(machine: Machine) -> None:
    machine.below.append(machine.stack)
    machine.stack = []


def _two(machine: Machine) -> list[object]:
    value, key = machine.pop(), machine.pop()
    return [key, value]


def _global(machine: Machine) -> object:
    return machine.named(machine.line().decode(), machine.line().decode())


def _stack_global(machine: Machine) -> object:
    name, module = machine.pop(), machine.pop()
    return machine.named(module, name)


_VALUES: dict[bytes, Callable[[Machine], object]] = {
    b"N": lambda _: None,
    b"\x88": lambda _: True,
    b"\x89": lambda _: False,
    b"I": _integer,
    b"L": _integer,
    b"J": _number(4, signed=True),
    b"K": _BYTE,
    b"M": _SHORT,
    b"\x8a": _whole(_BYTE),
    b"\x8b": _whole(_INT),
    b"F": lambda machine: float(_digits(machine)),
    b"G": lambda machine: struct.unpack(">d", machine.exact(8))[0],
    b"S": _quoted,
    b"T": _text(_INT, "latin1"),
    b"U": _text(_BYTE, "latin1"),
    b"V": lambda machine: str(machine.line(), "raw-unicode-escape"),
    b"\x8c": _text(_BYTE),
    b"X": _text(_INT),
    b"\x8d": _text(_LONG),
    b"C": _bytes(_BYTE),
    b"B": _bytes(_INT),
    b"\x8e": _bytes(_LONG),
    b"\x96": lambda machine: bytearray(machine.exact(_LONG(machine))),
    b")": lambda _: (),
    b"]": lambda _: [],
    b"}": lambda _: {},
    b"\x8f": lambda _: set(),
    b"t": lambda machine: tuple(machine.marked()),
    b"l": lambda machine: machine.marked(),
    b"d": lambda machine: machine.keys.pairs({}, paired(machine.marked())),
    b"\x91": lambda machine: frozenset(machine.keys.elements(set(), machine.marked())),
    b"\x85": _tuple(1),
    b"\x86": _tuple(2),
    b"\x87": _tuple(3),
    b"2": lambda machine: machine.stack[-1],
    b"g": lambda machine: machine.memo[_integer(machine)],
    b"h": lambda machine: machine.memo[_BYTE(machine)],
    b"j": lambda machine: machine.memo[_INT(machine)],
    b"c": _global,
    b"\x93": _stack_global,
}
Machine.steps = {
    **{code: _pushes(read) for code, read in _VALUES.items()},
    b"\x80": _BYTE,
    b"\x95": _LONG,
    b"(": _mark,
    b"0": Machine.pop,
    b"1": Machine.marked,
    b"a": lambda machine: machine.append([machine.pop()]),
    b"e": lambda machine: machine.append(machine.marked()),
    b"s": lambda machine: machine.set_items(_two(machine)),
    b"u": lambda machine: machine.set_items(machine.marked()),
    b"\x90": lambda machine: machine.add(machine.marked()),
    b"p": lambda machine: machine.remember(_integer(machine)),
    b"q": lambda machine: machine.remember(_BYTE(machine)),
    b"r": lambda machine: machine.remember(_INT(machine)),
    b"\x94": lambda machine: machine.remember(len(machine.memo)),
    b"R": lambda machine: machine.reduce(),
    b"\x81": lambda machine: machine.new(),
    b"b": lambda machine: machine.set_state(),
    b"Q": lambda machine: machine.refer(),
}
