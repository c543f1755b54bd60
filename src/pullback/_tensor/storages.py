"""The memory behind tensors, as torch's storages: `x.untyped_storage()`, bytes, and `x.storage()`, elements.

Views of one tensor have one memory, so that its address tells which tensors share theirs. Libraries that write tensors
to files ask for that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from .._core import dtypes, placement
from .._core.errors import no_tensor
from .._core.shapes import parse_sizes
from .._tape.views import check_writable
from . import sharing
from .creation import from_numpy
from .tensor import Tensor

Array = np.ndarray[Any, np.dtype[Any]]


def _whole(array: Array) -> Array:
    """All of the array that this one is a part of, as one row."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    order = array if array.flags.c_contiguous else array.T
    if not order.flags.c_contiguous:
        raise NotImplementedError(
            f"the memory of an array of strides {array.strides}, made outside of pullback, has gaps: x.contiguous() has none"
        )
    return order.reshape(-1)


class _Storage:
    """Memory as a row of numbers, which are read and written where they lie."""

    __slots__ = ("_row",)
    _row: Array

    def __len__(self) -> int:
        return int(self._row.size)

    def size(self) -> int:
        """How many numbers there are."""
        return len(self)

    def nbytes(self) -> int:
        """How many bytes they take."""
        return int(self._row.nbytes)

    def element_size(self) -> int:
        """How many bytes one takes."""
        return int(self._row.itemsize)

    def __sizeof__(self) -> int:
        return super().__sizeof__() + int(self._row.nbytes)  # as torch: what sys.getsizeof says has the memory in it

    def data_ptr(self) -> int:
        """The address of the first; 0 if there are none."""
        return int(self._row.__array_interface__["data"][0]) if self._row.size else 0

    def tolist(self) -> list[Any]:
        """The numbers as a list."""
        return list(self._row.tolist())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __setitem__(self, place: Any, value: Any) -> None:
        self._row[place] = value._row if isinstance(value, _Storage) else value

    @property
    def device(self) -> Any:
        """The CPU."""
        return placement.CPU

    is_cuda = is_sparse = False

    def is_shared(self) -> bool:
        """Whether processes share the memory."""
        return bool(sharing.is_shared(from_numpy(self._row)))

    def cpu(self) -> Self:
        """Itself: there is one device."""
        return self

    def _of(self, row: Array) -> Self:
        made = object.__new__(type(self))
        made._row = row
        return made

    def clone(self) -> Self:
        """The same numbers on new memory."""
        return self._of(self._row.copy())

    def copy_(self, source: Any, non_blocking: bool | None = None) -> Self:
        """Write another's numbers here."""
        self._row[...] = source._row
        return self

    def fill_(self, value: Any) -> Self:
        """Write one number everywhere."""
        self._row[...] = value
        return self


class UntypedStorage(_Storage):
    """Memory as bytes: of a number of bytes, or of a list of them.

    >>> import pullback
    >>> storage = pullback.ones(2, 3).t()[1:].untyped_storage()
    >>> storage.nbytes(), storage.data_ptr() == pullback.ones(2, 3).untyped_storage().data_ptr()
    (24, False)
    """

    __slots__ = ()

    def __init__(self, content: Any = 0, *, device: Any = None) -> None:
        placement.accept("UntypedStorage", {"device": device})
        self._row = np.empty(content, np.uint8) if isinstance(content, int) else np.array(content, np.uint8)

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The bytes of a file, read when they are used; what is written here is written there only if `shared`."""
        made = cls()
        made._row = np.memmap(filename, np.uint8, "r+" if shared else "c", shape=(nbytes,)) if nbytes else made._row
        return made

    def untyped(self) -> UntypedStorage:
        """Itself."""
        return self

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            if place.step not in {None, 1}:
                raise RuntimeError(f"Trying to slice with a step of {place.step}, but only a step of 1 is supported")
            return self._of(self._row[place])
        return int(self._row[place])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy:
            return self._row.astype(dtype or np.uint8)
        return self._row if dtype is None else self._row.astype(dtype, copy=False)

    def __repr__(self) -> str:
        return f"[torch.storage.UntypedStorage(device=cpu) of size {len(self)}]"


class TypedStorage(_Storage):
    """Memory as numbers of a dtype.

    >>> import pullback
    >>> pullback.arange(6).reshape(2, 3)[1].storage().tolist()
    [0, 1, 2, 3, 4, 5]
    """

    __slots__ = ()

    def __init__(
        self, *, wrap_storage: UntypedStorage, dtype: Any, device: Any = None, _internal: bool = False
    ) -> None:
        self._row = wrap_storage._row.view(dtypes.as_dtype(dtype).numpy)

    @property
    def dtype(self) -> Any:
        """The dtype of the numbers."""
        return dtypes.from_numpy(self._row.dtype)

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return _bytes(self._row)

    def __getitem__(self, place: Any) -> Any:
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
    """The memory that the tensor, and those that are views of the same one, lie in, as bytes.

    >>> import pullback
    >>> x = pullback.zeros(4)
    >>> x[2:].untyped_storage().data_ptr() == x.data_ptr()
    True
    """
    return _bytes(_whole(self._concrete("untyped_storage")))


def storage(self: Tensor) -> TypedStorage:
    """The memory that the tensor, and those that are views of the same one, lie in, as its elements.

    >>> import pullback
    >>> pullback.arange(3)[1:].storage().tolist()
    [0, 1, 2]
    """
    return TypedStorage(wrap_storage=untyped_storage(self), dtype=self.dtype)


def is_storage(obj: Any) -> bool:
    """Whether an object is a storage.

    >>> import pullback
    >>> pullback.is_storage(pullback.ones(2).untyped_storage()), pullback.is_storage(pullback.ones(2))
    (True, False)
    """
    return isinstance(obj, _Storage)


def _typed(tensor: Tensor) -> str:
    return str(tensor._type_name).lower()


def set_(self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None) -> Tensor:
    """Let the tensor lie in the memory of another, or of a storage, from an element on; in no memory without one.

    Raises
    ------
    RuntimeError
        If the other has another dtype, or the tensor is a leaf that requires grad, which is not to be written to.

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
        source = from_numpy(row)
        size = (len(row) - storage_offset,) if size is None else size
    elif source is None:
        source = self.new_empty(0)
    elif not isinstance(source, Tensor):
        raise no_tensor("set_", "source", 1, source)
    if source._dtype != self._dtype:
        raise RuntimeError(
            f"Could not set tensor of type {_typed(source)} to a tensor of type {_typed(self)}: convert it first"
        )
    if size is not None:
        sizes = parse_sizes((size,))
        dense = [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
        source = source.as_strided(sizes, dense if stride is None else stride, storage_offset)
    self.data = source.detach()
    return self
