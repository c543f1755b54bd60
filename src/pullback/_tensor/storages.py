"""The memory of tensors as torch's storages: `x.untyped_storage()`, bytes, and `x.storage()`, elements.

All views of a tensor have the same storage, so its address shows which tensors share memory. Libraries that write
tensors to files depend on that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._core import dtypes, placement
from .._core.errors import no_tensor
from .._core.shapes import parse_sizes
from .._tape.memory import written
from .._tape.views import check_writable
from . import sharing
from .creation import from_numpy
from .tensor import Tensor

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import DTypeLike

    from .._core.typing import Device, DType, Number, Sizes


Array = np.ndarray[Any, np.dtype[Any]]


def _whole(array: Array) -> Array:
    """The whole array that this one is a view of, as a 1-d array."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    order = array if array.flags.c_contiguous else array.T
    if not order.flags.c_contiguous:
        raise NotImplementedError(
            f"the memory of an array of strides {array.strides}, created outside of pullback, has gaps: use x.contiguous()"
        )
    return order.reshape(-1)


class _Storage:
    """Memory as a 1-d sequence of numbers, which are read and written in place."""

    __slots__ = ("_row",)
    _row: Array

    def __len__(self) -> int:
        return int(self._row.size)

    def size(self) -> int:
        """The number of elements."""
        return len(self)

    def nbytes(self) -> int:
        """The number of bytes of all elements."""
        return int(self._row.nbytes)

    def element_size(self) -> int:
        """The number of bytes of one element."""
        return int(self._row.itemsize)

    def __sizeof__(self) -> int:
        return super().__sizeof__() + int(self._row.nbytes)  # as in torch, sys.getsizeof includes the memory

    def data_ptr(self) -> int:
        """The address of the first element; 0 if there is none."""
        return int(self._row.__array_interface__["data"][0]) if self._row.size else 0

    def tolist(self) -> list[Number]:
        """The elements as a list."""
        return list(self._row.tolist())

    def __iter__(self) -> Iterator[Number]:
        return iter(self.tolist())

    def __setitem__(self, place: int | slice, value: _Storage | Number | Sequence[int]) -> None:
        self._row[place] = value._row if isinstance(value, _Storage) else value

    @property
    def device(self) -> placement.device:
        """The CPU."""
        return placement.CPU

    is_cuda = is_sparse = False

    def is_shared(self) -> bool:
        """True if the memory is shared between processes."""
        return bool(sharing.is_shared(from_numpy(self._row)))

    def cpu(self) -> Self:
        """This storage: the CPU is the only device."""
        return self

    def _of(self, row: Array) -> Self:
        made = object.__new__(type(self))
        made._row = row
        return made

    def clone(self) -> Self:
        """A storage with the same values in new memory."""
        return self._of(self._row.copy())

    def copy_(self, source: _Storage, non_blocking: bool | None = None) -> Self:
        """Copy another storage's elements to this one."""
        self._row[...] = source._row
        return self

    def fill_(self, value: Number) -> Self:
        """Set all elements to one value."""
        self._row[...] = value
        return self


class UntypedStorage(_Storage):
    """Memory as bytes: a given number of uninitialized bytes, or a list of byte values.

    Parameters
    ----------
    content
        How many bytes, or the bytes.
    device
        Where they lie; there is only the CPU.

    >>> import pullback
    >>> storage = pullback.ones(2, 3).t()[1:].untyped_storage()
    >>> storage.nbytes(), storage.data_ptr() == pullback.ones(2, 3).untyped_storage().data_ptr()
    (24, False)
    """

    __slots__ = ()

    def __init__(self, content: int | Sequence[int] = 0, *, device: Device | None = None) -> None:
        placement.accept("UntypedStorage", {"device": device})
        self._row = np.empty(content, np.uint8) if isinstance(content, int) else np.array(content, np.uint8)

    @classmethod
    def from_file(cls, filename: str | os.PathLike[str], shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The bytes of a file, read on access; writes change the file only if `shared` is true."""
        made = cls()
        made._row = np.memmap(filename, np.uint8, "r+" if shared else "c", shape=(nbytes,)) if nbytes else made._row
        return made

    def untyped(self) -> UntypedStorage:
        """This storage."""
        return self

    def __getitem__(self, place: int | slice) -> int | Self:
        if isinstance(place, slice):
            if place.step not in {None, 1}:
                raise RuntimeError(f"Trying to slice with a step of {place.step}, but only a step of 1 is supported")
            return self._of(self._row[place])
        return int(self._row[place])

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        if copy:
            return self._row.astype(dtype or np.uint8)
        return self._row if dtype is None else self._row.astype(dtype, copy=False)

    def __repr__(self) -> str:
        return f"[torch.storage.UntypedStorage(device=cpu) of size {len(self)}]"


class TypedStorage(_Storage):
    """Memory as elements of a dtype.

    Parameters
    ----------
    wrap_storage
        The bytes that are read as elements.
    dtype
        The dtype of the elements.
    device
        Where they lie; there is only the CPU.

    >>> import pullback
    >>> pullback.arange(6).reshape(2, 3)[1].storage().tolist()
    [0, 1, 2, 3, 4, 5]
    """

    __slots__ = ()

    def __init__(
        self, *, wrap_storage: UntypedStorage, dtype: DType, device: Device | None = None, _internal: bool = False
    ) -> None:
        self._row = wrap_storage._row.view(dtypes.as_dtype(dtype).numpy)

    @property
    def dtype(self) -> dtypes.dtype:
        """The dtype of the elements."""
        return dtypes.from_numpy(self._row.dtype)

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return _bytes(self._row)

    def __getitem__(self, place: int | slice) -> Number:
        if isinstance(place, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return self._row[place].item()

    def __repr__(self) -> str:
        lines = "".join(f" {number}\n" for number in self.tolist())
        return f"{lines}[torch.storage.TypedStorage(dtype={self.dtype}, device=cpu) of size {len(self)}]"


def _bytes(row: Array) -> UntypedStorage:
    made = UntypedStorage()
    made._row = row.view(np.uint8)
    return made


def untyped_storage(self: Tensor) -> UntypedStorage:
    """The memory of the tensor, shared by all views of the same base, as bytes.

    >>> import pullback
    >>> x = pullback.zeros(4)
    >>> x[2:].untyped_storage().data_ptr() == x.data_ptr()
    True
    """
    return _bytes(_whole(self._concrete("untyped_storage")))


def storage(self: Tensor) -> TypedStorage:
    """The memory of the tensor, shared by all views of the same base, as elements.

    >>> import pullback
    >>> pullback.arange(3)[1:].storage().tolist()
    [0, 1, 2]
    """
    return TypedStorage(wrap_storage=untyped_storage(self), dtype=self.dtype)


def is_storage(obj: object) -> bool:
    """True if an object is a storage.

    Parameters
    ----------
    obj
        What may be one.

    >>> import pullback
    >>> pullback.is_storage(pullback.ones(2).untyped_storage()), pullback.is_storage(pullback.ones(2))
    (True, False)
    """
    return isinstance(obj, _Storage)


def _typed(tensor: Tensor) -> str:
    return str(tensor._type_name).lower()


def set_(
    self: Tensor,
    source: UntypedStorage | TypedStorage | Tensor | None = None,
    storage_offset: int = 0,
    size: Sizes | None = None,
    stride: Sizes | None = None,
) -> Tensor:
    """Make the tensor use the memory of another tensor or a storage, from an element on; without a source, no memory.

    Parameters
    ----------
    source
        A tensor, or a storage, whose memory is used.

    Raises
    ------
    RuntimeError
        If the source has another dtype, or the tensor is a leaf that requires grad, which must not be written to.

    >>> import pullback
    >>> x, y = pullback.zeros(2), pullback.arange(3.0)
    >>> x.set_(y)
    tensor([0., 1., 2.])
    >>> x.data_ptr() == y.data_ptr()
    True
    """
    check_writable(self, "set_")
    if isinstance(source, _Storage):
        row = source._row.view(self._dtype) if isinstance(source, UntypedStorage) else source._row
        found = from_numpy(row)
        size = (len(row) - storage_offset,) if size is None else size
    elif source is None:
        found = self.new_empty(0)
    elif isinstance(source, Tensor):
        found = source
    else:
        raise no_tensor("set_", "source", 1, source)
    if found._dtype != self._dtype:
        raise RuntimeError(
            f"Could not set tensor of type {_typed(found)} to a tensor of type {_typed(self)}: convert it first"
        )
    if size is not None:
        sizes = parse_sizes((size,))
        dense = [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
        found = found.as_strided(sizes, dense if stride is None else stride, storage_offset)
    written(self)
    self.data = found.detach()
    return self
