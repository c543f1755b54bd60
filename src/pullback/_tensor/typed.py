"""torch's old tensor types, one for each dtype: constructors that `isinstance` and `Tensor.type` recognize."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core import dtypes
from .._core.placement import accept
from .._core.values import concrete
from .creation import as_array, empty, made
from .nested import sizes_of_old
from .tensor import Tensor

if TYPE_CHECKING:
    from .._core.typing import Sizes


class TensorType(type):
    """The metaclass of the old tensor types: each type has a dtype, and the tensors of that dtype are its instances."""

    dtype: dtypes.dtype

    def __call__(cls, *data: object, size: Sizes | None = None, **placement: object) -> Tensor:
        """A tensor from nested lists, an array or a tensor, or an uninitialized one of given sizes."""
        accept("tensor", placement)
        sizes = sizes_of_old(data, size)
        if sizes is None:
            return made(as_array(concrete(data[0], "tensor"), cls.dtype), False)
        return empty(sizes, dtype=cls.dtype)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and instance.dtype == cls.dtype


def _named(name: str, dtype: dtypes.dtype) -> TensorType:
    text = f"""torch's old type of {dtype} tensors: a constructor, from nested lists or an array, or of some sizes.

    >>> import pullback
    >>> pullback.{name}([[1, 2]]).shape
    pullback.Size([1, 2])
    >>> isinstance(pullback.ones(2, dtype={dtype}), pullback.{name})
    True
    """
    return TensorType(name, (), {"dtype": dtype, "__doc__": text, "__module__": "pullback"})


BoolTensor = _named("BoolTensor", dtypes.bool_)
ByteTensor = _named("ByteTensor", dtypes.uint8)
CharTensor = _named("CharTensor", dtypes.int8)
ShortTensor = _named("ShortTensor", dtypes.int16)
IntTensor = _named("IntTensor", dtypes.int32)
LongTensor = _named("LongTensor", dtypes.int64)
HalfTensor = _named("HalfTensor", dtypes.float16)
FloatTensor = _named("FloatTensor", dtypes.float32)
DoubleTensor = _named("DoubleTensor", dtypes.float64)
