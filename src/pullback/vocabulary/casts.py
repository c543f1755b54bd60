"""Conversions named after dtypes; apart, since their names hide Python's in the module that holds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._core import dtypes as _dtypes
from .arithmetic import named


def _cast(name: str, dtype: _dtypes.dtype) -> Callable[..., Any]:
    def function(input: Any, memory_format: Any = None) -> Any:
        return input.to(dtype, memory_format=memory_format)

    return named(name, function, f"This tensor in {dtype.name}; itself if it has that dtype.")


bool = _cast("bool", _dtypes.bool_)
byte = _cast("byte", _dtypes.uint8)
cdouble = _cast("cdouble", _dtypes.complex128)
cfloat = _cast("cfloat", _dtypes.complex64)
char = _cast("char", _dtypes.int8)
double = _cast("double", _dtypes.float64)
float = _cast("float", _dtypes.float32)
half = _cast("half", _dtypes.float16)
int = _cast("int", _dtypes.int32)
long = _cast("long", _dtypes.int64)
short = _cast("short", _dtypes.int16)
