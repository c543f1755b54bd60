"""The operands of functions of the standard: checked, and converted to their common dtype."""

from typing import Any

from .._core import dtypes, errors
from .._core.primitives import Carrier
from ..vocabulary.promotion import cast, category


def array(function: str, x: Any) -> Any:
    """An argument that must be a tensor."""
    if not isinstance(x, Carrier):
        raise errors.no_tensor(function, "x", 1, x)
    return x


def _weighed(operand: Any) -> tuple[dtypes.NumpyType, str]:
    """The dtype of an operand, or a dtype itself, and its strength in promotion: that of 0-d tensors is not lower."""
    if isinstance(operand, dtypes.dtype):
        return operand.numpy, "dim"
    dtype, strength = category(operand)
    return dtype, "scalar" if strength == "scalar" else "dim"


def common(*operands: Any) -> dtypes.NumpyType:
    """The dtype to which the standard promotes tensors, dtypes and Python numbers."""
    return dtypes.result_dtype([_weighed(operand) for operand in operands])


def together(function: str, *operands: Any) -> list[Any]:
    """Tensors, and Python numbers beside them, converted to their common dtype."""
    if not any(isinstance(operand, Carrier) for operand in operands):
        raise errors.no_tensor(function, "x1", 1, operands[0])
    dtype = common(*operands)
    return [cast(operand, dtype) for operand in operands]
