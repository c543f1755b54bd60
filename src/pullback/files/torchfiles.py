"""Files of torch.save: zip archives, and the format before torch 1.6, read without running code.

An archive contains a pickle, which refers to storages by key, and one member with the bytes of each storage. The older
format is a sequence of pickles followed by the storages' bytes.
"""

import math
import posixpath
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

from .._core import dtypes
from .._tensor.creation import from_numpy
from .errors import FileError, UnsafeFileError
from .opening import Input, filled
from .pickles import Builder, Constant, Machine
from .safetensors import Order, bfloats, typed

_MAGIC = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001
# zipfile's exceptions for invalid archives.
_DAMAGES = (zipfile.BadZipFile, struct.error, NotImplementedError, ValueError, OverflowError, EOFError, OSError)
_BFLOAT = "BFloat16"
_BYTES = "Untyped"

_KINDS: dict[str, np.dtype[Any] | None] = {
    **{dtype._legacy: dtype.numpy for dtype in dtypes.DTYPES},
    _BYTES: np.dtype(np.uint8),
    _BFLOAT: None,  # of ml_dtypes where that is installed, else converted to float32
}


class Contents:
    """The names allowed in a torch file, and the storages that its pickle refers to."""

    def __init__(self, storage: Callable[[str, str, int], Any], order: Order) -> None:
        self.storage = storage
        self.order = order
        self.storages: dict[str, tuple[tuple[str, int], Any]] = {}
        self.narrowed = False

    def names(self) -> dict[str, Builder | Constant]:
        """The builder or constant for each name."""
        return {
            **{f"torch.{kind}Storage": Constant(StorageKind(kind)) for kind in _KINDS},
            **{f"torch.cuda.{kind}Storage": Constant(StorageKind(kind)) for kind in _KINDS},
            "torch.storage.UntypedStorage": Constant(StorageKind(_BYTES)),
            **{f"torch.{dtype.name}": Constant(dtype) for dtype in dtypes.known()},
            "torch._utils._rebuild_tensor": Builder("tensor", self.tensor),
            "torch._utils._rebuild_tensor_v2": Builder("tensor", self.tensor),
            "torch._utils._rebuild_tensor_v3": Builder("tensor", self.typed_tensor),
            "torch._utils._rebuild_parameter": Builder("parameter", _parameter),
        }

    def refer(self, reference: Any) -> Any:
        """The storage that a pickle refers to, as a 1-d tensor."""
        match reference:
            case ("storage", StorageKind() as kind, str() as key, _, int() as count, *rest) if count >= 0:
                what = (kind.name, count)
            case _:
                raise UnsafeFileError("Weights only load failed: its pickle refers to something that is no storage")
        known = self.storages.get(key)
        if known is None:
            elements = self.storage(key, kind.name, count)
            self.narrowed |= kind.name == _BFLOAT and elements.dtype.char != "E"
            known = self.storages[key] = (what, from_numpy(elements))
        if known[0] != what:
            raise FileError(
                f"refers to storage {key!r} as {count} elements of {kind.name}, and as {known[0]} elsewhere"
            )
        return known[1] if not rest or rest[0] is None else _part(known[1], rest[0])

    def typed_tensor(self, storage: Any, *layout: Any) -> Any:
        """A tensor on an untyped storage, whose dtype is given separately."""
        *layout_alone, dtype = layout[:6]
        if not isinstance(dtype, dtypes.dtype) or storage._array.dtype != np.uint8:
            raise ValueError("its dtype or its storage is invalid")
        count = storage._array.size // dtype.itemsize * dtype.itemsize
        elements = typed(storage._array[:count], dtype.numpy, self.order, "a storage")
        return self.tensor(from_numpy(elements), *layout_alone, *layout[6:])

    def tensor(
        self,
        storage: Any,
        offset: int,
        size: tuple[int, ...],
        stride: tuple[int, ...],
        requires_grad: bool = False,
        hooks: Any = None,
        metadata: Any = None,
    ) -> Any:
        """A tensor on part of a storage."""
        array = strided(storage._array, offset, tuple(size), tuple(stride))
        if metadata:
            array = np.conj(array) if metadata.get("conj") else array
            array = np.negative(array) if metadata.get("neg") else array
        return from_numpy(array).requires_grad_(bool(requires_grad))


class StorageKind:
    """The meaning of a storage type's name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


def _parameter(data: Any, requires_grad: bool, hooks: Any) -> Any:
    """A parameter, as a plain tensor."""
    return data.requires_grad_(bool(requires_grad))


def _part(storage: Any, view: Any) -> Any:
    """A part of a storage, as in the older format: a key of its own, its offset, and its length."""
    _, offset, count = view
    return from_numpy(strided(storage._array, offset, (count,), (1,)))


def strided(storage: Any, offset: int, size: tuple[int, ...], stride: tuple[int, ...]) -> Any:
    """The elements of a storage given by offset, sizes and strides, all of which must be inside it."""
    numbers = (offset, *size, *stride)
    if len(size) != len(stride) or not all(type(each) is int and 0 <= each < 2**62 for each in numbers):
        raise FileError(f"holds a tensor with an invalid layout: offset {offset}, size {size}, stride {stride}")
    last = offset + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
    if 0 in size:
        last = -1
    if last >= storage.size:
        raise FileError(
            f"holds a tensor that reaches beyond its storage: offset {offset}, size {size}, stride {stride} in "
            f"{storage.size} elements"
        )
    if 0 in size:
        return np.empty(size, storage.dtype)
    if math.prod(size) * storage.itemsize >= 2**62:
        raise FileError(f"holds a tensor of size {size}, which is too large for memory")
    steps = tuple(step * storage.itemsize for step in stride)
    return np.lib.stride_tricks.as_strided(storage[offset:], size, steps)


def _elements(raw: Any, kind: str, order: Order, what: str) -> Any:
    """The elements of a storage from its bytes."""
    dtype = _KINDS[kind]
    return bfloats(raw, order) if dtype is None else typed(raw, dtype, order, what)


def _itemsize(kind: str) -> int:
    dtype = _KINDS[kind]
    return 2 if dtype is None else dtype.itemsize


class Archive:
    """A zip archive; only members requested by name are read."""

    def __init__(self, source: Input) -> None:
        self.size = source.left
        try:
            self.zip = zipfile.ZipFile(source.stream)
        except _DAMAGES as error:
            raise FileError(f"is a damaged zip archive: {error}") from error
        members = self.zip.infolist()
        self.members = {member.filename: member for member in members}
        if len(self.members) != len(members):
            raise FileError("is a zip archive with two members of one name")
        for name in self.members:
            if name.startswith("/") or "\\" in name or ".." in name.split("/"):
                raise FileError(f"is a zip archive with a member that leads out of it, {name!r}")
        if sum(member.file_size for member in members) > self.size:
            raise FileError("is a zip archive whose members are larger than it: torch stores them as they are")
        self.root = self._root()

    def _root(self) -> str:
        pickles = [name for name in self.members if posixpath.basename(name) == "data.pkl"]
        roots = [posixpath.dirname(name) for name in pickles]
        if any(f"{root}/constants.pkl" in self.members for root in roots):
            raise UnsafeFileError("is a TorchScript archive, which holds programs: save the state_dict() instead")
        if len(roots) != 1:
            raise FileError("is a zip archive, but not of torch.save: it has no single data.pkl")
        return roots[0]

    def read(self, name: str) -> Any:
        """The bytes of a member, in a new array."""
        path = posixpath.join(self.root, name)
        member = self.members.get(path)
        if member is None:
            raise FileError(f"lacks the member {path!r}")
        if member.compress_type != zipfile.ZIP_STORED:
            raise FileError(f"has a compressed member, {path!r}: torch stores them as they are")
        try:
            with self.zip.open(member) as stream:
                found = filled(stream, member.file_size, f"member {path!r}")
                stream.read(1)  # at the end, the checksum is verified
                return found
        except FileError:
            raise
        except (*_DAMAGES, RuntimeError) as error:  # RuntimeError: the member is encrypted
            raise FileError(f"has a damaged member, {path!r}: {error}") from error

    def order(self) -> Order:
        """The byte order of the numbers; old archives do not specify it."""
        told = bytes(self.read("byteorder")) if f"{self.root}/byteorder" in self.members else b"little"
        if told not in {b"little", b"big"}:
            raise FileError(f"has the unknown byte order {told[:20]!r}")
        return "little" if told == b"little" else "big"


def read_archive(source: Input) -> tuple[Any, bool]:
    """The value of a zip archive of torch.save, and whether some of its tensors were bfloat16."""
    archive = Archive(source)
    order = archive.order()

    def storage(key: str, kind: str, count: int) -> Any:
        raw = archive.read(f"data/{key}")
        if raw.size != count * _itemsize(kind):
            raise FileError(f"has a storage {key!r} of {raw.size} bytes, which are not {count} elements of {kind}")
        return _elements(raw, kind, order, f"storage {key!r}")

    contents = Contents(storage, order)
    pickled = bytes(archive.read("data.pkl"))
    return Machine(contents.names(), contents.refer).run(pickled), contents.narrowed


def read_legacy(source: Input) -> tuple[Any, bool]:
    """The value of a file in torch's older format, and whether some of its tensors were bfloat16.

    Its pickle, which precedes the storages, is run twice: first to learn their dtypes and sizes, then to build the
    value.
    """
    numbers = [_plain(source), _plain(source)]
    if numbers != [_MAGIC, _PROTOCOL]:
        raise UnsafeFileError("is a pickle, but not of torch.save: pullback reads no others, since they may run code")
    system = _plain(source)
    order: Order = "little" if isinstance(system, dict) and system.get("little_endian", True) else "big"
    claimed = 0

    def storage(key: str, kind: str, count: int) -> Any:
        nonlocal claimed
        claimed += count * _itemsize(kind)
        if claimed > source.left:
            raise FileError(f"is truncated: its storages have {claimed} bytes, {source.left} follow")
        raw = np.zeros(count * _itemsize(kind), np.uint8)  # a placeholder for the storage behind the pickle
        return _elements(raw, kind, order, "a storage")

    contents = Contents(storage, order)
    begin = source.stream.tell()
    Machine(contents.names(), contents.refer).run(source)
    keys = _plain(source)
    if not isinstance(keys, list) or set(map(str, keys)) != contents.storages.keys() or len(set(keys)) != len(keys):
        raise FileError("holds other storages than its pickle refers to")
    for key in keys:
        (kind, count), _ = contents.storages[key]
        what = f"storage {key!r}"
        if int.from_bytes(source.exact(8, what), order) != count:
            raise FileError(f"has a {what} without the {count} elements that its pickle declares")
        elements = _elements(source.array(count * _itemsize(kind), what), kind, order, what)
        contents.storages[key] = ((kind, count), from_numpy(elements))
    end = source.stream.tell()
    source.stream.seek(begin)
    value = Machine(contents.names(), contents.refer).run(source)
    source.stream.seek(end)
    return value, contents.narrowed


def _plain(source: Input) -> Any:
    """The value of the next pickle, which must not refer to storages."""

    def refuse(_: Any) -> Any:
        raise UnsafeFileError("Weights only load failed: a pickle refers to a storage where none is allowed")

    return Machine({}, refuse).run(source)
