"""Parameters and buffers whose shape is not known yet: those of lazy modules before their first input.

Such a tensor has a dtype and a role, and raises in any operation that needs elements. `materialize` gives it a shape in
place, so that optimizers and modules that refer to it stay valid.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Self, SupportsIndex, TypeGuard

from .._core import dtypes
from .._core.errors import AbsentError
from .._tensor.attributes import Attributes
from .._tensor.creation import empty
from .._tensor.tensor import Tensor
from .parameter import Buffer, Parameter, _Marked, _of

if TYPE_CHECKING:
    from .._core.shapes import Size
    from .._core.typing import Device, DType

_slot: Any = Attributes.__dict__["_array"]
"""The attribute in which a tensor stores its array: an uninitialized one stores an empty array there, for its dtype."""


class UninitializedError(AbsentError, ValueError):
    """The error for using the shape (in torch a RuntimeError) or the elements of a parameter or buffer without a shape."""


class UninitializedTensorMixin(_Marked):
    """The common base of parameters and buffers without a shape."""

    becomes: type[_Marked]

    @property
    def _array(self) -> NoReturn:
        raise UninitializedError(self._why())

    @property
    def shape(self) -> Size:
        """Raises: there is no shape yet."""
        raise UninitializedError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` to "
            f"initialize the parameters before accessing their attributes. {self._why()}"
        )

    def _why(self) -> str:
        return (
            f"Attempted to use an uninitialized {self.becomes.__name__.lower()}: it has no shape before the lazy module that "
            "it belongs to has seen an input. Call `forward` with a dummy batch to initialize the parameters before using "
            "them, or give it a shape with materialize(shape)"
        )

    @property
    def _dtype(self) -> Any:
        return _slot.__get__(self).dtype

    @property  # type: ignore[override]  # an initialized one
    def data(self) -> Tensor:
        """An empty tensor of the dtype; assigning a tensor sets the dtype."""
        return empty(0, dtype=self.dtype)

    @data.setter
    def data(self, value: Tensor) -> None:
        _slot.__set__(self, value._array)

    def materialize(self, shape: Sequence[int], device: Device | None = None, dtype: DType | None = None) -> None:
        """Give this parameter or buffer, in place, a shape and uninitialized memory.

        >>> from pullback import nn
        >>> p = nn.UninitializedParameter()
        >>> p.materialize((2, 3))
        >>> p.shape, isinstance(p, nn.UninitializedParameter), isinstance(p, nn.Parameter)
        (pullback.Size([2, 3]), False, True)
        """
        made = empty(tuple(shape), dtype=self.dtype if dtype is None else dtypes.as_dtype(dtype), device=device)
        self._role = self.becomes
        self.__class__ = Tensor  # type: ignore[assignment]  # the slots are the same
        self.data = made

    def detach(self) -> Self:
        """The tensor itself: it has neither elements nor a history."""
        return self

    def share_memory_(self) -> NoReturn:
        """Raises: there is no memory yet."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`."
        )

    def __repr__(self, *, tensor_contents: object | None = None) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            kind: Any = type(self)
            memo[id(self)] = kind(requires_grad=self.requires_grad, dtype=self.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        return type(self), (self.requires_grad, None, self.dtype)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter without a shape, which `materialize` gives it.

    Everything that needs its shape or its elements raises `UninitializedError` until then.

    Parameters
    ----------
    requires_grad
        Whether operations on it are recorded for gradients.
    device
        Where it lies; there is only the CPU.
    dtype
        The dtype; None for the default.

    >>> from pullback import nn
    >>> p = nn.UninitializedParameter()
    >>> p
    <UninitializedParameter>
    >>> p.dtype, p.requires_grad
    (pullback.float32, True)
    """

    becomes = Parameter

    def __new__(cls, requires_grad: bool = True, device: Device | None = None, dtype: DType | None = None) -> Self:
        """A parameter of a dtype, without a shape."""
        return _of(cls, empty(0, device=device, dtype=dtype), requires_grad)


class UninitializedBuffer(UninitializedTensorMixin, Buffer):
    """A buffer without a shape, which `materialize` gives it; it raises as `UninitializedParameter` does.

    Arguments as for `UninitializedParameter`.

    Parameters
    ----------
    persistent
        Whether it is part of the state of its module.

    >>> from pullback import nn
    >>> nn.UninitializedBuffer()
    <UninitializedBuffer>
    """

    becomes = Buffer

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Device | None = None,
        dtype: DType | None = None,
        persistent: bool = True,
    ) -> Self:
        """A buffer of a dtype, without a shape."""
        made = _of(cls, empty(0, device=device, dtype=dtype), requires_grad)
        made.persistent = persistent
        return made


def is_lazy(param: object) -> TypeGuard[UninitializedTensorMixin]:
    """True if a parameter or buffer has no shape yet.

    >>> from pullback import nn
    >>> is_lazy(nn.UninitializedParameter()), is_lazy(nn.Parameter())
    (True, False)
    """
    return isinstance(param, UninitializedTensorMixin)
