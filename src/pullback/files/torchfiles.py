"""Files of torch.save: zip archives, and the format before torch 1.6, read without running code.

An archive contains a pickle, which refers to storages by key, and one member with the bytes of each storage. The older
format is a sequence of pickles followed by the storages' bytes.
"""

from __future__ import annotations

import io
import math
import posixpath
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import dtypes
from .._core.bfloat import CHAR
from .._tensor.creation import from_numpy
from .._tensor.tensor import Tensor
from .builders import COUNT, FLAG, NONE, SIZES, Builder, Marker, Takes
from .errors import FileError, UnsafeFileError
from .opening import Input, filled
from .pickles import Machine
from .safetensors import Order, bfloats, typed

if TYPE_CHECKING:
    from .._core.typing import Array, NumpyType
    from .opening import Bytes

_MAGIC = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001
# zipfile's exceptions for invalid archives.
_DAMAGES = (zipfile.BadZipFile, struct.error, NotImplementedError, ValueError, OverflowError, EOFError, OSError)
_BFLOAT = "BFloat16"
_BYTES = "Untyped"

_KINDS: dict[str, NumpyType | None] = {
    **{dtype._legacy: dtype.numpy for dtype in dtypes.DTYPES},
    _BYTES: np.dtype(np.uint8),
    _BFLOAT: None,  # of ml_dtypes where that is installed, else converted to float32
}


class StorageKind(Marker):
    """The meaning of a storage type's name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


_TENSOR = Takes((Tensor,))
_HOOKS = Takes((OrderedDict, dict, NONE))
_METADATA = Takes((dict, NONE), 8)
_LAYOUT = (_TENSOR, COUNT, SIZES, SIZES)
_WEIGHT = 16  # bytes that a pickle has at least for each tensor: its storage, sizes and strides
_MOST_DERIVED = 4  # times the bytes of all storages: conjugates, negatives, and elements of other dtypes


class Contents:
    """The names allowed in a torch file, and the storages that its pickle refers to."""

    def __init__(self, storage: Callable[[str, str, int], Array], order: Order) -> None:
        self.storage = storage
        self.order = order
        self.storages: dict[str, tuple[tuple[str, int], Tensor]] = {}
        self.narrowed = False
        self._referred: dict[int, object] = {}  # the storages and parts of them, by identity: no other tensor is one
        self._derived: dict[object, Array] = {}
        self._bytes = self._bytes_derived = 0

    def names(self) -> dict[str, object]:
        """The builder or value for each name."""
        more, dtype = (FLAG, _HOOKS), Takes((dtypes.dtype,))
        old = Builder("tensor", self.tensor, *_LAYOUT, weight=_WEIGHT)
        new = Builder("tensor", self.tensor, *_LAYOUT, *more, _METADATA, least=4, weight=_WEIGHT)
        typed = Builder("tensor", self.typed_tensor, *_LAYOUT, *more, dtype, _METADATA, least=7, weight=_WEIGHT)
        return {
            **{f"torch.{kind}Storage": StorageKind(kind) for kind in _KINDS},
            **{f"torch.cuda.{kind}Storage": StorageKind(kind) for kind in _KINDS},
            "torch.storage.UntypedStorage": StorageKind(_BYTES),
            **{f"torch.{dtype.name}": dtype for dtype in dtypes.known()},
            "torch._utils._rebuild_tensor": old,
            "torch._utils._rebuild_tensor_v2": new,
            "torch._utils._rebuild_tensor_v3": typed,
            "torch._utils._rebuild_parameter": Builder("parameter", _parameter, _TENSOR, FLAG, _HOOKS),
        }

    def refer(self, reference: object) -> Tensor:
        """The storage that a pickle refers to, as a 1-d tensor."""
        match reference:
            case ("storage", StorageKind() as kind, str() as key, _, int() as count, *rest) if 0 <= count < 2**62:
                what = (kind.name, count)
            case _:
                raise UnsafeFileError("Weights only load failed: its pickle refers to something that is not a storage")
        known = self.storages.get(key)
        if known is None:
            elements = self.storage(key, kind.name, count)
            self.narrowed |= kind.name == _BFLOAT and elements.dtype.char != CHAR
            self._bytes += elements.nbytes
            known = self.storages[key] = (what, self._one(from_numpy(elements)))
        if known[0] != what:
            raise FileError(
                f"refers to storage {key!r} as {count} elements of {kind.name}, and as {known[0]} elsewhere"
            )
        return known[1] if not rest or rest[0] is None else self._one(_part(known[1], rest[0]))

    def _one(self, storage: Tensor) -> Tensor:
        """The storage, from now on known as one."""
        self._referred[id(storage)] = storage
        return storage

    def typed_tensor(
        self,
        storage: Tensor,
        offset: int,
        size: tuple[int, ...],
        stride: tuple[int, ...],
        requires_grad: bool,
        hooks: object,
        dtype: dtypes.dtype,
        metadata: dict[str, object] | None = None,
    ) -> Tensor:
        """A tensor on an untyped storage, whose dtype is given separately."""
        return self.tensor(storage, offset, size, stride, requires_grad, hooks, metadata, dtype)

    def tensor(
        self,
        storage: Tensor,
        offset: int,
        size: tuple[int, ...],
        stride: tuple[int, ...],
        requires_grad: bool = False,
        hooks: object = None,
        metadata: dict[str, object] | None = None,
        dtype: dtypes.dtype | None = None,
    ) -> Tensor:
        """A tensor on part of a storage."""
        if id(storage) not in self._referred:
            raise FileError("holds a tensor whose storage is another tensor")
        flags = metadata or {}
        elements = self._elements(storage, dtype, flags.get("conj") is True, flags.get("neg") is True)
        return from_numpy(strided(elements, offset, size, stride)).requires_grad_(requires_grad)

    def _elements(self, storage: Tensor, dtype: dtypes.dtype | None, conjugate: bool, negative: bool) -> Array:
        """The elements of a storage as they are, of another dtype, conjugated or negated: computed once."""
        array: Array = storage._array
        if dtype is None and not conjugate and not negative:
            return array
        key = (id(storage), dtype, conjugate, negative)
        if key not in self._derived:
            self._bytes_derived += array.nbytes
            if self._bytes_derived > _MOST_DERIVED * self._bytes:
                raise FileError("holds tensors that would convert its storages again and again")
            if dtype is not None:
                array = _retyped(array, dtype, self.order)
            array = np.conj(array) if conjugate else array
            self._derived[key] = np.negative(array) if negative else array
        return self._derived[key]


def _retyped(array: Array, dtype: dtypes.dtype, order: Order) -> Array:
    if array.dtype != np.uint8 or dtype.numpy.char == CHAR:
        raise ValueError("its dtype or its storage is invalid")
    return typed(array[: array.size // dtype.itemsize * dtype.itemsize], dtype.numpy, order, "a storage")


def _parameter(data: Tensor, requires_grad: bool, hooks: object) -> Tensor:
    """A parameter, as a plain tensor."""
    return data.requires_grad_(requires_grad)


def _part(storage: Tensor, view: Any) -> Tensor:
    """A part of a storage, as in the older format: a key of its own, its offset, and its length."""
    if type(view) not in {tuple, list} or len(view) != 3:
        raise FileError("refers to a part of a storage without a key, offset and length")
    _, offset, count = view
    return from_numpy(strided(storage._array, offset, (count,), (1,)))


def strided(storage: Array, offset: int, size: tuple[int, ...], stride: tuple[int, ...]) -> Array:
    """The elements of a storage given by offset, sizes and strides, all of which must be inside it."""
    numbers = (offset, *size, *stride)
    if not all(type(each) is int and -(2**64) < each < 2**64 for each in numbers):
        raise FileError("holds a tensor with an invalid layout: its offset, sizes and strides are not valid numbers")
    if len(size) != len(stride) or not all(0 <= each < 2**62 for each in numbers):
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


def _elements(raw: Array, kind: str, order: Order, what: str) -> Array:
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

    def read(self, name: str) -> Bytes:
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


def read_archive(source: Input) -> tuple[object, bool]:
    """The value of a zip archive of torch.save, and whether some of its tensors were bfloat16."""
    archive = Archive(source)
    order = archive.order()

    def storage(key: str, kind: str, count: int) -> Array:
        raw = archive.read(f"data/{key}")
        if raw.size != count * _itemsize(kind):
            raise FileError(f"has a storage {key!r} of {raw.size} bytes, which are not {count} elements of {kind}")
        return _elements(raw, kind, order, f"storage {key!r}")

    contents = Contents(storage, order)
    pickled = io.BytesIO(archive.read("data.pkl").data)
    return Machine(contents.names(), contents.refer).run(pickled), contents.narrowed


def read_legacy(source: Input) -> tuple[object, bool]:
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

    def storage(key: str, kind: str, count: int) -> Array:
        nonlocal claimed
        claimed += count * _itemsize(kind)
        if claimed > source.left:
            raise FileError(f"is truncated: its storages have {claimed} bytes, {source.left} follow")
        raw = np.zeros(count * _itemsize(kind), np.uint8)  # a placeholder for the storage behind the pickle
        return _elements(raw, kind, order, "a storage")

    contents = Contents(storage, order)
    begin = source.tell()
    Machine(contents.names(), contents.refer).run(source)
    keys = _plain(source)
    if not isinstance(keys, list) or not all(type(key) is str for key in keys):
        raise FileError("holds a list of storages that are no texts")
    if {*keys} != contents.storages.keys() or len({*keys}) != len(keys):
        raise FileError("holds other storages than its pickle refers to")
    loaded = {key: _behind(source, key, contents.storages[key][0], order) for key in keys}
    end = source.tell()
    source.stream.seek(begin)
    contents = Contents(lambda key, *_: loaded[key], order)
    value = Machine(contents.names(), contents.refer).run(source)
    source.stream.seek(end)
    return value, contents.narrowed


def _behind(source: Input, key: str, what: tuple[str, int], order: Order) -> Array:
    """The elements of the next storage behind the pickle, which are preceded by their number."""
    kind, count = what
    name = f"storage {key!r}"
    if int.from_bytes(source.exact(8, name), order) != count:
        raise FileError(f"has a {name} without the {count} elements that its pickle declares")
    return _elements(source.array(count * _itemsize(kind), name), kind, order, name)


def _plain(source: Input) -> object:
    """The value of the next pickle, which must not refer to storages."""
    return Machine({}).run(source)
