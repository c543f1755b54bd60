"""Constructors like another tensor: `x.new_zeros(...)` and its relatives, with the dtype of x unless one is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import ops
from .._core.primitives import Carrier
from .._core.values import require_tensor
from ..vocabulary.promotion import cast, category
from . import creation
from .creation import public

if TYPE_CHECKING:
    from .._core.typing import DType, Number, Tensor


def _new(name: str, make: Callable[..., Tensor], text: str, example: str) -> Callable[..., Tensor]:
    def method(self: Tensor, *args: Any, dtype: DType | None = None, **options: Any) -> Tensor:
        return make(*args, dtype=self.dtype if dtype is None else dtype, **options)

    text = f"""{text}, in the dtype of this tensor.

    >>> import pullback
    >>> pullback.arange(2).{name}({example}).dtype
    pullback.int64
    """
    return public(name, method, text)


new_zeros = _new("new_zeros", creation.zeros, "Zeros of a shape", "2, 3")
new_ones = _new("new_ones", creation.ones, "Ones of a shape", "2, 3")
new_empty = _new("new_empty", creation.empty, "Unset elements of a shape", "2, 3")
new_full = _new("new_full", creation.full, "One value in a shape", "(2, 3), 1")
new_tensor = _new("new_tensor", creation.tensor, "A new leaf tensor with a copy of data", "[1, 2]")
new_empty_strided = _new(
    "new_empty_strided", creation.empty_strided, "Unset elements of a shape and strides", "(2, 3), (3, 1)"
)


def fill(input: Tensor, value: Number | Tensor) -> Tensor:
    """A tensor of this shape filled with one value: a number, or a 0-d tensor, which gets the sum of the gradients.

    Parameters
    ----------
    value
        The number, or a tensor without axes.

    >>> import pullback
    >>> pullback.fill(pullback.ones(2), 5)
    tensor([5., 5.])
    """
    require_tensor("fill", "input", input)
    if isinstance(value, Carrier) and value.ndim:
        raise RuntimeError(
            f"fill only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions: use copy_"
        )
    if category(value)[0].kind == "c" and not input.is_complex():
        raise RuntimeError(f"value cannot be converted to type {input.dtype} without overflow: it is complex")
    return ops.fill(input, cast(value, input._dtype))
