"""Dtypes by the standard: their kinds and limits, what they promote to, and conversions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import ops
from .._core import dtypes, placement
from .._core.primitives import Carrier
from ..vocabulary.promotion import cast
from .operands import array, common

if TYPE_CHECKING:
    from .._core.typing import Device, DType, Tensor, TensorLike

dtype = dtypes.dtype
KINDS = {
    "bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f",
    "complex floating": "c", "numeric": "iufc",
}  # fmt: skip
"""The standard's kinds of dtypes, as NumPy's characters for kinds."""


class FloatLimits(NamedTuple):
    """The limits of a floating dtype, or of the parts of a complex one."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: dtype


class IntegerLimits(NamedTuple):
    """The limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: dtype


def _dtype_of(value: Tensor | DType) -> dtype:
    return value.dtype if isinstance(value, Carrier) else dtypes.as_dtype(value)


def finfo(type: Tensor | DType, /) -> FloatLimits:
    """The limits of a floating dtype, given by itself or by a tensor; for a complex dtype, those of its parts.

    >>> from pullback import array_api as xp
    >>> xp.finfo(xp.complex64).dtype, xp.finfo(xp.ones(2)).eps
    (pullback.float32, 2.220446049250313e-16)
    """
    given = _dtype_of(type)
    limits = dtypes.finfo(given)
    return FloatLimits(limits.bits, limits.eps, limits.max, limits.min, limits.smallest_normal, given.to_real())


def iinfo(type: Tensor | DType, /) -> IntegerLimits:
    """The limits of an integer dtype, given by itself or by a tensor.

    >>> from pullback import array_api as xp
    >>> xp.iinfo(xp.int8)
    IntegerLimits(bits=8, max=127, min=-128, dtype=pullback.int8)
    """
    given = _dtype_of(type)
    limits = dtypes.iinfo(given)
    return IntegerLimits(limits.bits, limits.max, limits.min, given)


def isdtype(dtype: DType, kind: DType | tuple[DType, ...]) -> bool:
    """True if a dtype is of a kind, is a given dtype, or fits one of several of these.

    The kinds are 'bool', 'signed integer', 'unsigned integer', 'integral', 'real floating', 'complex floating' and
    'numeric'.

    >>> from pullback import array_api as xp
    >>> xp.isdtype(xp.float32, "real floating"), xp.isdtype(xp.int8, ("bool", xp.int16))
    (True, False)
    """
    given = dtypes.as_dtype(dtype)
    for each in kind if isinstance(kind, tuple) else (kind,):
        if isinstance(each, str) and each not in KINDS:
            raise ValueError(f"there is no kind of dtypes {each!r}: the kinds are {', '.join(map(repr, KINDS))}")
        if given.numpy.kind in KINDS[each] if isinstance(each, str) else given is dtypes.as_dtype(each):
            return True
    return False


def can_cast(from_: Tensor | DType, to: DType, /) -> bool:
    """True if promotion may convert a dtype, or a tensor's, to another: no value is lost.

    >>> from pullback import array_api as xp
    >>> xp.can_cast(xp.int8, xp.int16), xp.can_cast(xp.float64, xp.float32)
    (True, False)
    """
    return bool(np.can_cast(_dtype_of(from_).numpy, dtypes.as_dtype(to).numpy))


def result_type(*arrays_and_dtypes: TensorLike | DType) -> dtype:
    """The dtype to which tensors, dtypes, their names and Python numbers are promoted; of a number only the kind counts.

    >>> from pullback import array_api as xp
    >>> xp.result_type(xp.ones(2, dtype=xp.float32), xp.float64, 1)
    pullback.float64
    """
    if not arrays_and_dtypes:
        raise ValueError("result_type needs at least one tensor or dtype")
    named = [dtypes.as_dtype(each) if isinstance(each, (str, np.dtype, type)) else each for each in arrays_and_dtypes]
    return dtypes.from_numpy(common(*named))


def astype(x: Tensor, dtype: DType, /, *, copy: bool = True, device: Device | None = None) -> Tensor:
    """A tensor converted to a dtype; a copy even if it has that dtype already, unless `copy` is False.

    >>> from pullback import array_api as xp
    >>> xp.astype(xp.asarray([1.5, 2.5]), xp.int64)
    tensor([1, 2])
    """
    placement.accept("astype", {"device": device})
    result = cast(array("astype", x), dtypes.as_dtype(dtype).numpy)
    return ops.clone(x) if copy and result is x else result
