"""Files of torch.save, written: zip archives of a pickle, which refers to storages by key, and of the storages' bytes.

Every opcode is written here, in protocol 2: values, and the names of the few constructors that `torch.load` accepts with
`weights_only=True`. Of the program's own classes and functions nothing is named. Tensors that share memory share a
storage, which holds the part of the memory between them.
"""

from __future__ import annotations

import struct
import sys
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import dtypes
from .._core.placement import device
from .._core.primitives import Carrier
from .._core.shapes import Size
from .._tape.memory import bounds, owner
from .._tensor.tensor import Tensor
from .structures import array_of, refusal

if TYPE_CHECKING:
    from typing import BinaryIO

    from .._core.typing import Array

_ALIGNMENT = 64  # of storages in the file, which torch.load can map into memory
_UNTYPED = {dtypes.uint16, dtypes.uint32, dtypes.uint64}  # torch has no class of storages for these


class Name(str):
    """The name of a constructor or constant in a pickle: of its module, and in it."""

    __slots__ = ()


class Writer:
    """Writes a value as opcodes; numbers that depend on all tensors of a storage are filled in at the end."""

    def __init__(self) -> None:
        self.parts: list[bytes | Callable[[list[tuple[int, int]]], int]] = [b"\x80\x02"]
        self._storages: dict[object, tuple[int, list[Array]]] = {}  # the number of each, and the arrays in it
        self._memo: dict[object, tuple[int, object]] = {}
        self._within: set[int] = set()  # the containers that are being written

    def finished(self) -> tuple[bytes, list[memoryview]]:
        """The pickle of all that was written, and the bytes of the storages."""
        places = [[(bounds(array), array) for array in arrays] for _, arrays in self._storages.values()]
        spans = [(min(place[0] for place, _ in held), max(place[1] for place, _ in held)) for held in places]
        pickled = b"".join(part if isinstance(part, bytes) else _integer(part(spans)) for part in self.parts) + b"."
        firsts = [min(held, key=lambda one: one[0][0])[1] for held in places]
        return pickled, [_memory(first, end - start) for first, (start, end) in zip(firsts, spans, strict=True)]

    def write(self, value: object, path: tuple[object, ...] = ()) -> None:
        """Write a value; `path` is the keys that lead to it."""
        kind = type(value)
        if kind in _PLAIN:
            self.parts.append(_PLAIN[kind](value))
        elif kind in _CALLS:
            self._call(*_CALLS[kind](value))
        elif isinstance(value, dtypes.dtype):
            self.write(Name(f"torch {value.name}"))
        elif (known := self._memo.get(value if kind is Name else id(value))) is not None:
            self.parts.append(b"j" + struct.pack("<I", known[0]))
        else:
            self._write_new(value, path)
            place, _ = self._memo[value if kind is Name else id(value)] = len(self._memo), value  # held: ids are reused
            self.parts.append(b"r" + struct.pack("<I", place))

    def _write_new(self, value: object, path: tuple[object, ...]) -> None:
        if type(value) is Name:
            self.parts.append(b"c" + value.replace(" ", "\n").encode() + b"\n")
        elif isinstance(value, Carrier) and (value._role or value.level or type(value) is Tensor):
            self._tensor(value, array_of(value, path))
        elif type(value) in _CONTAINERS and id(value) not in self._within:
            self._within.add(id(value))
            self._container(value, path)
            self._within.remove(id(value))
        else:
            raise refusal(value, path)

    def _call(self, name: str, *arguments: object) -> None:
        self.write(Name(name))
        self.write(arguments)
        self.parts.append(b"R")

    def _container(self, value: Any, path: tuple[object, ...]) -> None:
        """A container; an OrderedDict of a module's state has the versions of modules as an attribute."""
        name, opening, closing = _CONTAINERS[type(value)]
        if name:
            self.write(Name(name))
        self.parts.append(opening)
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(value, dict):
                self.write(key, (*path, key))
            self.write(item, (*path, key))
        self.parts.append(closing)
        if hasattr(value, "_metadata"):
            self.write({"_metadata": value._metadata}, path)
            self.parts.append(b"b")

    def _tensor(self, tensor: Carrier, array: Array) -> None:
        """A tensor: its storage, its place there, whether it requires grad, and its hooks, which are none."""
        size = array.itemsize
        if not array.size or any(step < 0 or step % size for step in array.strides) or not array.dtype.isnative:
            array = np.array(array, array.dtype.newbyteorder("="), order="C")  # torch has no tensors of this layout
        where = id(owner(array)), array.dtype, bounds(array)[0] % size
        number, arrays = self._storages.setdefault(where, (len(self._storages), []))
        arrays.append(array)
        untyped = tensor.dtype in _UNTYPED
        kind = Name("torch.storage UntypedStorage" if untyped else f"torch {tensor.dtype._legacy}Storage")
        self.write(Name(f"torch._utils _rebuild_tensor_{'v3' if untyped else 'v2'}"))
        self.parts.append(b"((")
        for part in ("storage", kind, str(number), "cpu"):
            self.write(part)
        self.parts += [lambda spans: (spans[number][1] - spans[number][0]) // (1 if untyped else size), b"tQ"]
        self.parts.append(lambda spans: (bounds(array)[0] - spans[number][0]) // size)
        parts: list[object] = [
            array.shape,
            tuple(step // size for step in array.strides),
            bool(tensor.requires_grad),
            OrderedDict(),
        ]
        for each in [*parts, tensor.dtype] if untyped else parts:
            self.write(each)
        self.parts.append(b"tR")


def _integer(value: int) -> bytes:
    if -(2**31) <= value < 2**31:
        return b"J" + struct.pack("<i", value)
    digits = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8a" + bytes([len(digits)]) + digits


def _text(value: str) -> bytes:
    content = value.encode("utf-8", "surrogatepass")
    return b"X" + struct.pack("<I", len(content)) + content


_PLAIN: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda _: b"N",
    bool: lambda value: b"\x88" if value else b"\x89",
    int: _integer,
    float: lambda value: b"G" + struct.pack(">d", value),
    str: _text,
}
_CALLS: dict[type, Callable[[Any], tuple[str, *tuple[object, ...]]]] = {
    complex: lambda value: ("__builtin__ complex", value.real, value.imag),
    bytes: lambda value: ("_codecs encode", value.decode("latin1"), "latin1"),
    device: lambda value: ("torch device", str(value)),
}
# The constructor's name, and the opcodes before and after the items
_CONTAINERS: dict[type, tuple[str, bytes, bytes]] = {
    tuple: ("", b"(", b"t"),
    list: ("", b"](", b"e"),
    dict: ("", b"}(", b"u"),
    OrderedDict: ("collections OrderedDict", b")R(", b"u"),
    Counter: ("collections Counter", b"(}(", b"utR"),
    set: ("__builtin__ set", b"(](", b"etR"),
    frozenset: ("__builtin__ frozenset", b"(](", b"etR"),
    Size: ("torch Size", b"((", b"ttR"),
}


def _memory(first: Array, size: int) -> memoryview:
    """The bytes from the first element of an array on."""
    elements = np.lib.stride_tricks.as_strided(first, (size // first.itemsize,), (first.itemsize,), writeable=False)
    return elements.view(np.uint8).data


def write(stream: BinaryIO, writer: Writer) -> None:
    """Write the archive of what a writer has been given."""
    pickled, storages = writer.finished()
    members: dict[str, bytes | memoryview] = {
        "data.pkl": pickled,
        ".format_version": b"1",
        "byteorder": sys.byteorder.encode(),
        "version": b"3\n",
    }
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in {**members, **{f"data/{key}": raw for key, raw in enumerate(storages)}}.items():
            entry = zipfile.ZipInfo(f"archive/{name}")
            entry.file_size = len(content)
            gap = -(archive.start_dir + 34 + len(entry.filename)) % _ALIGNMENT  # behind the header and the extra's own
            entry.extra = struct.pack("<HH", 0x4246, gap) + bytes(gap)
            with archive.open(entry, "w") as file:
                file.write(content)
