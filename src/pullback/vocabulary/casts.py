"""Conversions named after dtypes, in their own module because names like `float` and `int` hide the builtins."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .._core import dtypes
from .._core.sites import named

if TYPE_CHECKING:
    from .._core.typing import Tensor


def _cast(name: str, dtype: dtypes.dtype) -> Callable[..., Tensor]:
    def function(input: Tensor, memory_format: object = None) -> Tensor:
        return input.to(dtype, memory_format=memory_format)

    text = f"""This tensor in {dtype.name}; itself if it has that dtype.

    >>> import pullback
    >>> pullback.tensor([0, 1], dtype="uint8").{name}().dtype
    pullback.{dtype.name}
    """
    return named(name, function, text)


def bfloat16(input: Tensor, memory_format: object = None) -> Tensor:
    """This tensor in bfloat16; itself if it has that dtype.

    Raises
    ------
    ImportError
        If the package ml_dtypes, which stores such numbers, is not installed.

    >>> import pullback
    >>> pullback.tensor([1.0, 3.14159]).bfloat16()
    tensor([1.0000, 3.1406], dtype=pullback.bfloat16)
    """
    return input.to(dtypes.bfloat(), memory_format=memory_format)


bool = _cast("bool", dtypes.bool_)
byte = _cast("byte", dtypes.uint8)
cdouble = _cast("cdouble", dtypes.complex128)
cfloat = _cast("cfloat", dtypes.complex64)
char = _cast("char", dtypes.int8)
double = _cast("double", dtypes.float64)
float = _cast("float", dtypes.float32)
half = _cast("half", dtypes.float16)
int = _cast("int", dtypes.int32)
long = _cast("long", dtypes.int64)
short = _cast("short", dtypes.int16)
