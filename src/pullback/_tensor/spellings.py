"""NumPy's attributes and methods of arrays that torch's tensors lack, on tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .. import ops
from .._core import dtypes
from ..vocabulary import shapes
from ..vocabulary.promotion import cast

if TYPE_CHECKING:
    from .._core.typing import DType, Number, Tensor, TensorLike


def astype(
    self: Tensor,
    dtype: DType,
    order: str = "K",
    casting: Literal["no", "equiv", "safe", "same_kind", "unsafe"] = "unsafe",
    subok: bool = True,
    copy: bool = True,
) -> Tensor:
    """This tensor converted to a dtype; a copy even if it has that dtype already, unless `copy` is False.

    Parameters
    ----------
    order
        Accepted, and changes nothing.
    casting
        What conversions are allowed, by NumPy's names.
    subok
        Accepted, and changes nothing.
    copy
        False for the tensor itself where it has the dtype.

    >>> import pullback
    >>> pullback.tensor([1.5, 2.5]).astype("int64")
    tensor([1, 2])
    """
    target = dtypes.as_dtype(dtype).numpy
    if not np.can_cast(self._dtype, target, casting):
        raise TypeError(f"astype: {self._dtype} cannot be cast to {target} by the rule {casting!r}")
    result = cast(self, target)
    return ops.clone(self) if copy and result is self else result


def copy(self: Tensor, order: str = "C") -> Tensor:
    """A recorded copy, as `clone`.

    Parameters
    ----------
    order
        'C' for the order of the axes, else that of the tensor.

    >>> import pullback
    >>> x = pullback.tensor([1.0], requires_grad=True)
    >>> (x.copy() * 3).backward()
    >>> x.grad
    tensor([3.])
    """
    return ops.clone(self, order="C" if order == "C" else "K")


def fill(self: Tensor, value: Number | Tensor) -> None:
    """Set all elements to one value, a number or a 0-d tensor; as in NumPy the result is None, that of `fill_` the tensor.

    Parameters
    ----------
    value
        The number, or a tensor without axes.

    >>> import pullback
    >>> x = pullback.zeros(2)
    >>> x.fill(7.0)
    >>> x
    tensor([7., 7.])
    """
    self.fill_(value)


class Flat:
    """The elements of a tensor in order: to iterate over, to index, and to assign to."""

    def __init__(self, tensor: Tensor) -> None:
        self.base: Any = tensor  # NumPy has no type for tensors, which `put` takes

    def __len__(self) -> int:
        return int(self.base.numel())

    def __iter__(self) -> Iterator[Tensor]:
        return iter(shapes.ravel(self.base))

    def __getitem__(self, index: Any) -> Tensor:
        return shapes.ravel(self.base)[index]

    def __setitem__(self, index: Any, values: TensorLike) -> None:
        places = np.arange(len(self))[index]
        if np.size(places):
            np.put(self.base, np.ravel(places), values)


def _flat(self: Tensor) -> Flat:
    """The elements in order: to iterate over, to index, and to assign to.

    >>> import pullback
    >>> x = pullback.zeros(2, 2)
    >>> x.flat[1:3] = 5.0
    >>> x
    tensor([[0., 5.],
            [5., 0.]])
    """
    return Flat(self)


def _flags(self: Tensor) -> Any:
    """What NumPy says of the memory: whether it is contiguous, and writeable.

    >>> import pullback
    >>> pullback.zeros(2, 3).T.flags.f_contiguous
    True
    """
    array = self._array
    return array.view().flags if isinstance(array, np.ndarray) else array.flags


def _strides(self: Tensor) -> tuple[int, ...]:
    """The number of bytes between neighbors along each axis; `stride()` counts elements.

    >>> import pullback
    >>> pullback.zeros(2, 3).strides
    (12, 4)
    """
    return tuple(self._array.strides)


flat, flags, strides = (property(each, doc=each.__doc__) for each in (_flat, _flags, _strides))
