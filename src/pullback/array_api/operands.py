"""The operands of functions of the standard: checked, and converted to their common dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core import dtypes, errors
from .._core.primitives import Carrier, Function
from ..vocabulary.promotion import cast, category

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._core.typing import Array, Tensor, TensorLike


def array(function: str, x: TensorLike) -> Tensor:
    """An argument that must be a tensor."""
    if not isinstance(x, Carrier):
        raise errors.no_tensor(function, "x", 1, x)
    return x


def _weighed(operand: TensorLike | dtypes.dtype) -> tuple[dtypes.NumpyType, str]:
    """The dtype of an operand, or a dtype itself, and its strength in promotion: that of 0-d tensors is not lower."""
    if isinstance(operand, dtypes.dtype):
        return operand.numpy, "dim"
    dtype, strength = category(operand)
    return dtype, "scalar" if strength == "scalar" else "dim"


def of_tensors(function: Function) -> Callable[..., Tensor]:
    """One of NumPy's functions, which gives a tensor for tensors (NEP 18)."""
    return function


def common(*operands: TensorLike | dtypes.dtype) -> dtypes.NumpyType:
    """The dtype to which the standard promotes tensors, dtypes and Python numbers."""
    return dtypes.result_dtype([_weighed(operand) for operand in operands])


def together(function: str, *operands: TensorLike) -> list[Tensor | Array]:
    """Tensors, and Python numbers beside them, converted to their common dtype."""
    if not any(isinstance(operand, Carrier) for operand in operands):
        raise errors.no_tensor(function, "x1", 1, operands[0])
    dtype = common(*operands)
    return [cast(operand, dtype) for operand in operands]
