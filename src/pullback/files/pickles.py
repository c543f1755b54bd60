"""Pickles as data: an interpreter for pickle opcodes that builds plain containers, and runs no code named in a file.

Python's `pickle` calls whatever function a file names. Here the opcodes are read one by one; a name is mapped to one of
our builders, or refused, and only builders are called. Objects that cannot be built here are refused by name.
"""

import pickletools
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from .._core.placement import device
from .._core.shapes import Size
from .errors import FileError, UnsafeFileError

_MOST_AXES = 64  # in a Size: NumPy's limit


class Builder:
    """The meaning of a function's or class's name in a pickle: the function of ours that is called instead."""

    __slots__ = ("name", "build")

    def __init__(self, name: str, build: Callable[..., Any]) -> None:
        self.name = name
        self.build = build


class Constant:
    """The meaning of a value's name in a pickle."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _mapping(kind: Callable[[dict[Any, Any]], Any]) -> Callable[..., Any]:
    def build(items: Any = ()) -> Any:
        return kind(dict(items))

    return build


def _size(sizes: Any) -> Size:
    if len(sizes) > _MOST_AXES:
        raise ValueError(f"a Size of {len(sizes)} axes")
    return Size(sizes)


def _encoded(text: str, encoding: str) -> bytes:
    """Bytes in the form of old protocols: a string, each character of which is a byte."""
    if encoding != "latin1":
        raise ValueError(f"bytes in the encoding {encoding!r}")
    return text.encode("latin1")


_PLAIN: dict[str, Callable[..., Any]] = {
    "collections.OrderedDict": _mapping(OrderedDict),
    "collections.Counter": _mapping(Counter),
    "_codecs.encode": _encoded,
    "torch.Size": _size,
    "torch.device": device,
    **{f"{module}.set": lambda items=(): set(items) for module in ("builtins", "__builtin__")},
    **{f"{module}.frozenset": lambda items=(): frozenset(items) for module in ("builtins", "__builtin__")},
    **{f"{module}.complex": complex for module in ("builtins", "__builtin__")},
    **{f"{module}.bytearray": lambda content=b"": bytearray(bytes(content)) for module in ("builtins", "__builtin__")},
}
PLAIN = {name: Builder(name, build) for name, build in _PLAIN.items()}

_MARK = object()
_VALUES = set(
    "INT BININT BININT1 BININT2 LONG LONG1 LONG4 STRING BINSTRING SHORT_BINSTRING BINBYTES SHORT_BINBYTES BINBYTES8 "
    "BYTEARRAY8 UNICODE SHORT_BINUNICODE BINUNICODE BINUNICODE8 FLOAT BINFLOAT".split()
)


class Machine:
    """An interpreter of pickle opcodes, limited to those that build data."""

    def __init__(self, names: Mapping[str, Builder | Constant], persistent: Callable[[Any], Any]) -> None:
        self.names = {**PLAIN, **names}
        self.persistent = persistent
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self, stream: Any) -> Any:
        """The value of the pickle at a stream's position, which is then after the pickle."""
        try:
            for opcode, argument, _ in pickletools.genops(stream):
                if opcode.name == "STOP":
                    return self._result()
                self._step(opcode.name, argument)
        except FileError:
            raise
        except (IndexError, KeyError, TypeError, ValueError, AttributeError, OverflowError, RuntimeError) as error:
            raise FileError(f"holds a damaged pickle: {error}") from error
        raise FileError("holds a pickle without an end")

    def _result(self) -> Any:
        [value] = self.stack
        if isinstance(value, (Builder, Constant)) or value is _MARK:
            raise FileError("holds a pickle of a name alone")
        return value

    def _step(self, name: str, argument: Any) -> None:
        if name in _VALUES:
            self.stack.append(argument)
        elif name in _STEPS:
            _STEPS[name](self, argument)
        elif name not in {"PROTO", "FRAME"}:
            raise UnsafeFileError(f"Weights only load failed: its pickle uses the opcode {name}, which builds objects")

    def pop(self) -> Any:
        """The value on top of the stack, removed from it."""
        value = self.stack.pop()
        if value is _MARK:
            raise ValueError("a mark where a value should be")
        return value

    def marked(self) -> list[Any]:
        """The values above the last mark, removed from the stack with it."""
        place = len(self.stack) - 1
        while self.stack[place] is not _MARK:
            place -= 1
            if place < 0:
                raise ValueError("no mark on the stack")
        values = self.stack[place + 1 :]
        del self.stack[place:]
        return values

    def named(self, name: str) -> Any:
        """The builder or constant that a name is mapped to."""
        found = self.names.get(name)
        if found is None:
            raise UnsafeFileError(
                f"Weights only load failed: Unsupported global: GLOBAL {name} was not an allowed global. pullback reads "
                "tensors and plain containers, and never runs what a file names: save the state_dict() instead, or open "
                "the file with torch and save what it holds"
            )
        return found.value if isinstance(found, Constant) else found

    def reduce(self) -> None:
        """Call a builder."""
        arguments, builder = self.pop(), self.pop()
        if not isinstance(builder, Builder) or not isinstance(arguments, tuple):
            raise UnsafeFileError(f"Weights only load failed: its pickle calls a {type(builder).__name__}")
        try:
            self.stack.append(builder.build(*arguments))
        except (TypeError, ValueError, OverflowError, AttributeError) as error:
            raise FileError(f"holds an invalid {builder.name}: {error}") from error

    def set_state(self) -> None:
        """Set the attribute that torch's state dicts have, the modules' versions, on an OrderedDict."""
        state, value = self.pop(), self.stack[-1]
        if type(value) is not OrderedDict or not isinstance(state, dict) or state.keys() - {"_metadata"}:
            raise UnsafeFileError(f"Weights only load failed: its pickle sets attributes of a {type(value).__name__}")
        if "_metadata" in state:
            value._metadata = state["_metadata"]  # type: ignore[attr-defined]  # as in torch

    def refer(self) -> None:
        """Push an object that the file stores outside the pickle."""
        self.stack.append(self.persistent(self.pop()))

    def gather(self, kind: Callable[[list[Any]], Any], count: int | None = None) -> None:
        """Create a container of the values above the last mark, or of the topmost `count` values."""
        values = self.marked() if count is None else [self.pop() for _ in range(count)][::-1]
        self.stack.append(kind(values))

    def extend(self, values: list[Any], kinds: tuple[type, ...], write: Callable[[Any, list[Any]], Any]) -> None:
        """Add values to the container on top of the stack."""
        if not isinstance(self.stack[-1], kinds):
            raise UnsafeFileError(f"Weights only load failed: its pickle writes into a {type(self.stack[-1]).__name__}")
        if any(isinstance(value, Builder) for value in values):
            raise UnsafeFileError("Weights only load failed: its pickle keeps a function or a class")
        write(self.stack[-1], values)


def _pairs(values: list[Any]) -> dict[Any, Any]:
    return dict(zip(values[::2], values[1::2], strict=True))


def _two(machine: Machine) -> list[Any]:
    value, key = machine.pop(), machine.pop()
    return [key, value]


def _stack_global(machine: Machine) -> Any:
    name, module = machine.pop(), machine.pop()
    return machine.named(f"{module}.{name}")


def _remember(machine: Machine, place: int | None) -> None:
    machine.memo[len(machine.memo) if place is None else int(place)] = machine.stack[-1]


def _constant(value: Any) -> Callable[[Machine, Any], None]:
    return lambda machine, _: machine.stack.append(value)


def _made(make: Callable[[], Any]) -> Callable[[Machine, Any], None]:
    return lambda machine, _: machine.stack.append(make())


def _gathers(kind: Callable[[list[Any]], Any], count: int | None = None) -> Callable[[Machine, Any], None]:
    return lambda machine, _: machine.gather(kind, count)


_STEPS: dict[str, Callable[[Machine, Any], Any]] = {
    "MARK": _constant(_MARK),
    "NONE": _constant(None),
    "NEWTRUE": _constant(True),
    "NEWFALSE": _constant(False),
    "EMPTY_TUPLE": _constant(()),
    "EMPTY_LIST": _made(list),
    "EMPTY_DICT": _made(dict),
    "EMPTY_SET": _made(set),
    "TUPLE": _gathers(tuple),
    "LIST": _gathers(list),
    "DICT": _gathers(_pairs),
    "FROZENSET": _gathers(frozenset),
    **{f"TUPLE{count}": _gathers(tuple, count) for count in (1, 2, 3)},
    "POP": lambda machine, _: machine.pop(),
    "POP_MARK": lambda machine, _: machine.marked(),
    "DUP": lambda machine, _: machine.stack.append(machine.stack[-1]),
    "APPEND": lambda machine, _: machine.extend([machine.pop()], (list,), list.extend),
    "APPENDS": lambda machine, _: machine.extend(machine.marked(), (list,), list.extend),
    "SETITEM": lambda machine, _: machine.extend(_two(machine), (dict,), lambda d, values: d.update(_pairs(values))),
    "SETITEMS": lambda machine, _: machine.extend(
        machine.marked(), (dict,), lambda d, values: d.update(_pairs(values))
    ),
    "ADDITEMS": lambda machine, _: machine.extend(machine.marked(), (set,), set.update),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"), _remember),
    **dict.fromkeys(
        ("GET", "BINGET", "LONG_BINGET"), lambda machine, place: machine.stack.append(machine.memo[int(place)])
    ),
    "GLOBAL": lambda machine, name: machine.stack.append(machine.named(name.replace(" ", ".", 1))),
    "STACK_GLOBAL": lambda machine, _: machine.stack.append(_stack_global(machine)),
    "REDUCE": lambda machine, _: machine.reduce(),
    "NEWOBJ": lambda machine, _: machine.reduce(),
    "BUILD": lambda machine, _: machine.set_state(),
    "BINPERSID": lambda machine, _: machine.refer(),
}
