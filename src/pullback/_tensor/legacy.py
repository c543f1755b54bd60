"""torch's older forms of functions, and methods about other devices."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import vocabulary
from .._core import dtypes, placement as _placement
from .._core.placement import accept
from .._core.primitives import Carrier
from .._core.shapes import Shape, parse_sizes
from .._core.sites import warn
from .._core.values import require_tensor, require_tensors
from .._tape.views import write
from . import creation
from .creation import as_tensor, chosen_dtype, from_numpy, made, real_bound, tensor
from .nested import sizes_of_old

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Device, DType, MemoryFormat, Number, Sizes, Tensor


def range(
    start: float | Tensor,
    end: float | Tensor | None = None,
    step: float | Tensor = 1,
    *,
    dtype: DType | None = None,
    requires_grad: bool = False,
    **placement: object,
) -> Tensor:
    """Numbers from start to end, both included, of the default dtype; `arange` has replaced it.

    Raises
    ------
    RuntimeError
        If the step is zero, or leads away from the end.

    >>> import pullback
    >>> pullback.range(1, 3)
    tensor([1., 2., 3.])
    """
    accept("range", placement)
    if end is None:
        start, end = 0, start
    start, end, step = (real_bound("range", value) for value in (start, end, step))
    if not abs(step) > 0:  # 0 or NaN
        raise RuntimeError("step must be nonzero: it is 0, and the range would not end")
    if (end - start) * step < 0:
        raise RuntimeError(f"upper bound and lower bound inconsistent with step sign: range({start}, {end}, {step})")
    count = int((end - start) / step + 1)
    with np.errstate(invalid="ignore"):  # an infinite step, 0 times
        values = (start + step * np.arange(count)).astype(chosen_dtype(dtype))
    return made(values, requires_grad)


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of a vector's elements, one row per element, highest first; those of `linalg.vander` begin with 1.

    Parameters
    ----------
    x
        A sequence.
    N
        The number of columns; None for as many as rows.
    increasing
        Powers grow from left to right.

    >>> import pullback
    >>> pullback.vander(pullback.tensor([2, 3]))
    tensor([[2, 1],
            [3, 1]])
    """
    require_tensor("vander", "x", x)
    if x.ndim != 1:
        raise RuntimeError(f"x must be a one-dimensional tensor, got the shape {tuple(x.shape)}: see linalg.vander")
    if N is not None and N < 0:
        raise RuntimeError(f"N must be non-negative, got {N}")
    count = x.shape[0] if N is None else N
    powers = vocabulary.load("vocabulary.contractions", "vander")(x, N=max(count, 2))[:, :count]
    return powers if increasing else powers.flip(1)


def frombuffer(buffer: Any, *, dtype: DType, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A 1-d tensor that shares the memory of a buffer: `count` elements from a byte `offset` on, -1 for all.

    Parameters
    ----------
    buffer
        What has the bytes.
    count
        The number of elements; -1 for all.
    offset
        The byte at which they begin.

    Raises
    ------
    ValueError
        If the buffer is too short, or its length is not a multiple of the element size.

    >>> import pullback
    >>> pullback.frombuffer(bytearray([1, 0, 2, 0]), dtype=pullback.int16)
    tensor([1, 2], dtype=pullback.int16)
    """
    wanted = dtypes.as_dtype(dtype).numpy
    try:
        length = memoryview(buffer).nbytes
    except TypeError:
        raise ValueError(f"object does not implement Python buffer protocol: it is a {type(buffer).__name__}") from None
    if not length or not count:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) minus 1"
        )
    if count > 0 and offset + count * wanted.itemsize > length:
        raise ValueError(
            f"requested buffer length ({count} * {wanted.itemsize} bytes) after offset ({offset} bytes) must not be greater "
            f"than actual buffer length ({length} bytes)"
        )
    if count < 0 and (length - offset) % wanted.itemsize:
        raise ValueError(
            f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of element size "
            f"({wanted.itemsize})"
        )
    found = np.frombuffer(buffer, wanted, max(count, -1), offset)
    shared = from_numpy(found if found.flags.writeable else found.copy())
    return shared.requires_grad_() if requires_grad else shared


def asarray(
    obj: object,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """A tensor with the elements of a tensor, an array, a buffer of bytes, or numbers; it shares memory if it can.

    The bytes of a buffer are interpreted as numbers of `dtype`, or of the default dtype.

    Raises
    ------
    ValueError
        If `copy` is False and a copy is unavoidable: for Python numbers, or another dtype.

    >>> import numpy
    >>> import pullback
    >>> a = numpy.zeros(2)
    >>> pullback.asarray(a, copy=False).add_(1)
    tensor([1., 1.], dtype=pullback.float64)
    >>> a
    array([1., 1.])
    """
    accept("asarray", {"device": device})
    if isinstance(obj, np.generic) and copy is False:
        raise RuntimeError("can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray.")
    if isinstance(obj, Carrier):
        shared = obj
    elif isinstance(obj, np.ndarray):
        shared = from_numpy(obj)
    elif isinstance(obj, (bytes, bytearray, memoryview, array)):
        shared = frombuffer(obj, dtype=dtypes.get_default_dtype() if dtype is None else dtype)
    elif hasattr(obj, "__dlpack__"):
        shared = from_dlpack(obj)
    elif copy is False:
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    else:
        shared, copy = tensor(obj, dtype=dtype), None
    if dtype is not None and shared.dtype != dtypes.as_dtype(dtype):
        if copy is False:
            names = [dtypes.type_name(dtypes.as_dtype(kind)) for kind in (shared.dtype, dtype)]
            raise ValueError(f"can't alias tensor with dtype '{names[0]}' into dtype '{names[1]}'.")
        shared, copy = shared.to(dtype), None
    result = shared.clone() if copy else shared
    if requires_grad is None or bool(requires_grad) == result.requires_grad:
        return result
    return result.requires_grad_() if requires_grad else result.detach()


def from_dlpack(ext_tensor: object, *, device: Device | None = None, copy: bool | None = None) -> Tensor:
    """A tensor that shares the memory of an array of any library with `__dlpack__`.

    Parameters
    ----------
    ext_tensor
        What has `__dlpack__`.
    copy
        True for a copy, False for an error if one would be needed, None for as few as possible.

    Raises
    ------
    TypeError
        If the object has no `__dlpack__`.

    >>> import numpy
    >>> import pullback
    >>> pullback.from_dlpack(numpy.ones(2))
    tensor([1., 1.], dtype=pullback.float64)
    """
    accept("from_dlpack", {"device": device})
    if not hasattr(ext_tensor, "__dlpack__"):
        raise TypeError(f"from_dlpack() takes an object with __dlpack__, not {type(ext_tensor).__name__}")
    found = np.from_dlpack(ext_tensor)
    return from_numpy(found.copy() if copy or not found.flags.writeable else found)


def detach(input: Tensor) -> Tensor:
    """A tensor with the same memory and without the history.

    >>> import pullback
    >>> pullback.detach(pullback.ones(2, requires_grad=True)).requires_grad
    False
    """
    require_tensor("detach", "input", input)
    return input.detach()


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """True if two tensors have the same shape.

    >>> import pullback
    >>> pullback.ones(2).is_same_size(pullback.zeros(2))
    True
    """
    require_tensors("is_same_size", input=input, other=other)
    return bool(input.shape == other.shape)


def new(self: Tensor, *args: object, size: Sizes | None = None, device: Device | None = None) -> Tensor:
    """A tensor in the dtype of this one: of sizes, with unset elements, or with the elements of a list, array or tensor.

    >>> import pullback
    >>> pullback.arange(2).new([1, 2, 3])
    tensor([1, 2, 3])
    """
    accept("new", {"device": device})
    sizes = sizes_of_old(args, size)
    if sizes is not None:
        return creation.empty(sizes, dtype=self.dtype)
    source = args[0]
    return source.detach().to(self.dtype) if isinstance(source, Carrier) else as_tensor(source, self.dtype)


def _elementwise(name: str, function: Callable[..., object], operands: tuple[Tensor, ...]) -> Tensor:
    """Apply a Python function elementwise to tensors; the result is written to the first, which must not be tracked."""
    if any(operand.requires_grad for operand in operands):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")
    if not callable(function):
        raise TypeError(f"{name}(): a function is needed, not {type(function).__name__}")
    first, *others = (operand.numpy() for operand in operands)
    columns = [np.broadcast_to(each, first.shape).ravel().tolist() for each in (first, *others)]
    found = [function(*values) for values in zip(*columns, strict=True)]
    return write(operands[0], made(np.array(found, first.dtype).reshape(first.shape), False), name)


def apply_(self: Tensor, callable: Callable[[Any], Number]) -> Tensor:
    """Apply a Python function to each element, in place; slow.

    Parameters
    ----------
    callable
        Called with each element; gives the new one.

    >>> import pullback
    >>> pullback.arange(3).apply_(lambda x: x * 10)
    tensor([ 0, 10, 20])
    """
    return _elementwise("apply_", callable, (self,))


def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Number]) -> Tensor:
    """Apply a Python function to each pair of elements of this tensor and another, in place; slow.

    Parameters
    ----------
    tensor
        The second tensor.
    callable
        Called with an element of each; gives the new one.

    >>> import pullback
    >>> pullback.arange(3).map_(pullback.arange(3), lambda a, b: a * b)
    tensor([0, 1, 4])
    """
    require_tensor("map_", "tensor", tensor)
    return _elementwise("map_", callable, (self, tensor))


def cuda(
    self: Tensor, device: Device | None = None, non_blocking: bool = False, memory_format: MemoryFormat | None = None
) -> Tensor:
    """Refused: the CPU is the only device.

    Parameters
    ----------
    non_blocking
        Accepted, and changes nothing.
    """
    place = _placement.device("cuda" if device is None else device)
    if place.type != "cuda":
        raise RuntimeError(f"Invalid device, must be cuda device: this is {str(place)!r}, for which there is x.to")
    _placement.here(place)
    return self


def pin_memory(self: Tensor, device: Device | None = None) -> Tensor:
    """Refused: there is no device for which memory could be pinned."""
    accept("pin_memory", {"pin_memory": True})
    return self


def get_device(input: Tensor) -> int:
    """The index of the tensor's device: -1 for the CPU.

    >>> import pullback
    >>> pullback.ones(2).get_device()
    -1
    """
    return -1


def is_pinned(self: Tensor, device: Device | None = None) -> bool:
    """False: there is no device for which memory could be pinned.

    >>> import pullback
    >>> pullback.ones(2).is_pinned()
    False
    """
    return False


def resize(self: Tensor, *sizes: int | Sequence[int]) -> Tensor:
    """The elements in another shape, with a warning: the old name of `reshape`, for the same number of elements.

    >>> import warnings
    >>> import pullback
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     pullback.arange(4).resize(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    return _resized("resize", self, parse_sizes(sizes, "resize"))


def resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """The elements in the shape of another tensor, with a warning: the old name of `reshape_as`.

    Parameters
    ----------
    tensor
        The tensor whose shape is taken.
    """
    require_tensor("resize_as", "tensor", tensor)
    return _resized("resize_as", self, tuple(tensor.shape))


def _resized(name: str, self: Tensor, shape: Shape) -> Tensor:
    warn(f"non-inplace {name} is deprecated: use {name.replace('size', 'shape')}")
    if math.prod(shape) != self.numel():
        raise RuntimeError(
            f"requested resize to {'x'.join(map(str, shape))} ({math.prod(shape)} elements in total), but the given tensor "
            f"has a size of {'x'.join(map(str, self.shape))} ({self.numel()} elements). autograd's resize can only change "
            "the shape of a given tensor, while preserving the number of elements."
        )
    return self.reshape(shape)
