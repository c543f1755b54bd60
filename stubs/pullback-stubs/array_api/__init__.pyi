"""Made by scripts/stubs: the types of what is imported when it is first asked for."""

import builtins as _builtins
from collections.abc import Sequence as _Sequence
from typing import Literal as _Literal
import numpy as _np
from pullback._core.dtypes import dtype as _dtype
from pullback._tensor.tensor import Tensor
from pullback._core.placement import device as _device
from pullback._core.typing import SupportsDLPack as _SupportsDLPack
from pullback.array_api.inspection import Inspection as _Inspection
from pullback.array_api.kinds import FloatLimits as _FloatLimits
from pullback.array_api.kinds import IntegerLimits as _IntegerLimits
from pullback.array_api.searching import AllOfUnique as _AllOfUnique
from pullback.array_api.searching import CountsOfUnique as _CountsOfUnique
from pullback.array_api.searching import InverseOfUnique as _InverseOfUnique
from typing import Any as _Any

_Number = _builtins.bool | _builtins.int | _builtins.float | _builtins.complex
_TensorLike = Tensor | _np.ndarray[_Any, _Any] | _np.generic | _Number
_DType = _dtype | _np.dtype[_Any] | type[_Any] | str

def __array_namespace_info__() -> _Inspection:
    """An object that says which dtypes, devices and abilities the namespace has."""
from pullback import abs as abs
from pullback import acos as acos
from pullback import acosh as acosh
def add(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """x1 + x2."""
def all(x: Tensor, /, *, axis: int | _Sequence[int] | None = None, keepdims: _builtins.bool = False) -> Tensor:
    """True where all elements along axes are nonzero, by default all of the tensor."""
def any(x: Tensor, /, *, axis: int | _Sequence[int] | None = None, keepdims: _builtins.bool = False) -> Tensor:
    """True where an element along axes is nonzero, by default one of the tensor."""
def arange(start: float, /, stop: float | None = None, step: float = 1, *, dtype: _DType | None = None, device: _device | str | int | None = None) -> Tensor:
    """Numbers from start up to, but not including, stop; int64 if all of these are integers, else float64."""
def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: _builtins.bool = False) -> Tensor:
    """The index of the largest element along an axis, or of the flattened tensor."""
def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: _builtins.bool = False) -> Tensor:
    """The index of the smallest element along an axis, or of the flattened tensor."""
def argsort(x: Tensor, /, *, axis: int = -1, descending: _builtins.bool = False, stable: _builtins.bool = True) -> Tensor:
    """The indices that sort the elements along an axis; equal ones keep their order."""
def asarray(obj: object, /, *, dtype: _DType | None = None, device: _device | str | int | None = None, copy: _builtins.bool | None = None) -> Tensor:
    """A tensor with the elements of a tensor, an array, a buffer, a number, or nested sequences of these."""
from pullback import asin as asin
from pullback import asinh as asinh
def astype(x: Tensor, dtype: _DType, /, *, copy: _builtins.bool = True, device: _device | str | int | None = None) -> Tensor:
    """A tensor converted to a dtype; a copy even if it has that dtype already, unless `copy` is False."""
from pullback import atan as atan
def atan2(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """The angle of the point (x2, x1), from -pi to pi."""
from pullback import atanh as atanh
def bitwise_and(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """The bitwise and of integers or bools."""
def bitwise_invert(x: Tensor, /) -> Tensor:
    """The bitwise complement of integers, and the logical one of bools."""
def bitwise_left_shift(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """x1 * 2**x2, for integers."""
def bitwise_or(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """The bitwise or of integers or bools."""
def bitwise_right_shift(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """The floor of x1 / 2**x2, for integers."""
def bitwise_xor(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """The bitwise exclusive or of integers or bools."""
from pullback import bool as bool
def broadcast_arrays(*arrays: Tensor) -> tuple[Tensor, ...]:
    """Tensors broadcast to their common shape."""
def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which tensors of several shapes are broadcast together; ValueError if there is none."""
def broadcast_to(x: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    """A tensor broadcast to a shape."""
def can_cast(from_: Tensor | _DType, to: _DType, /) -> _builtins.bool:
    """True if promotion may convert a dtype, or a tensor's, to another: no value is lost."""
from pullback import ceil as ceil
def clip(x: Tensor, /, min: _TensorLike | None = None, max: _TensorLike | None = None) -> Tensor:
    """Elements limited to the range from min to max, in their dtype; bounds are numbers or tensors, or None."""
from pullback import complex128 as complex128
from pullback import complex64 as complex64
def concat(arrays: _Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Tensors joined along an axis; flattened first if that is None."""
from pullback import conj as conj
def copysign(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """The size of x1 with the sign of x2."""
from pullback import cos as cos
from pullback import cosh as cosh
def count_nonzero(x: Tensor, /, *, axis: int | _Sequence[int] | None = None, keepdims: _builtins.bool = False) -> Tensor:
    """The number of elements along axes, by default of all, that are not zero."""
def cumulative_prod(x: Tensor, /, *, axis: int | None = None, dtype: _DType | None = None, include_initial: _builtins.bool = False) -> Tensor:
    """The products of the elements up to each along an axis; with `include_initial` a one comes first."""
def cumulative_sum(x: Tensor, /, *, axis: int | None = None, dtype: _DType | None = None, include_initial: _builtins.bool = False) -> Tensor:
    """The sums of the elements up to each along an axis; with `include_initial` a zero comes first."""
def diff(x: Tensor, /, *, axis: int = -1, n: int = 1, prepend: _TensorLike | None = None, append: _TensorLike | None = None) -> Tensor:
    """The n-th differences of neighbors along an axis, with elements prepended and appended first."""
def divide(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """x1 / x2."""
e: float
def empty(shape: int | _Sequence[int], *, dtype: _DType | None = None, device: _device | str | int | None = None) -> Tensor:
    """A tensor of a shape, whose elements are not set; float64 unless a dtype is given."""
def empty_like(x: Tensor, /, *, dtype: _DType | None = None, device: _device | str | int | None = None) -> Tensor:
    """A tensor of the shape and dtype of another, whose elements are not set."""
def equal(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """True where x1 == x2."""
from pullback import exp as exp
def expand_dims(x: Tensor, /, axis: int | _Sequence[int]) -> Tensor:
    """A tensor with new axes of length 1 at the given positions of the result."""
def expm1(x: Tensor, /) -> Tensor:
    """exp(x) - 1, exact for small numbers."""
def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: _DType | None = None, device: _device | str | int | None = None) -> Tensor:
    """A matrix with ones on the k-th diagonal and zeros elsewhere."""
from . import fft as fft
def finfo(type: Tensor | _DType, /) -> _FloatLimits:
    """The limits of a floating dtype, given by itself or by a tensor; for a complex dtype, those of its parts."""
def flip(x: Tensor, /, *, axis: int | _Sequence[int] | None = None) -> Tensor:
    """A tensor with the elements reversed along axes, by default along all."""
from pullback import float32 as float32
from pullback import float64 as float64
from pullback import floor as floor
def floor_divide(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """The floor of x1 / x2; it has no derivative."""
def from_dlpack(x: Tensor | _SupportsDLPack, /, *, device: _device | str | int | None = None, copy: _builtins.bool | None = None) -> Tensor:
    """A tensor that shares the memory of an object of another library that offers it by DLPack."""
def full(shape: int | _Sequence[int], fill_value: _TensorLike, *, dtype: _DType | None = None, device: _device | str | int | None = None) -> Tensor:
    """A tensor of a shape, filled with one value, whose type decides the dtype unless one is given."""
def full_like(x: Tensor, /, fill_value: _TensorLike, *, dtype: _DType | None = None, device: _device | str | int | None = None) -> Tensor:
    """A tensor of the shape and dtype of another, filled with one value."""
def greater(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """True where x1 > x2."""
def greater_equal(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """True where x1 >= x2."""
def hypot(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """sqrt(x1**2 + x2**2), without overflow."""
def iinfo(type: Tensor | _DType, /) -> _IntegerLimits:
    """The limits of an integer dtype, given by itself or by a tensor."""
from pullback import imag as imag
inf: float
from pullback import int16 as int16
from pullback import int32 as int32
from pullback import int64 as int64
from pullback import int8 as int8
def isdtype(dtype: _DType, kind: _DType | tuple[_DType, ...]) -> _builtins.bool:
    """True if a dtype is of a kind, is a given dtype, or fits one of several of these."""
from pullback import isfinite as isfinite
def isin(x1: _TensorLike, x2: _TensorLike, /, *, invert: _builtins.bool = False) -> Tensor:
    """True where the elements of x1 are among those of x2, or with `invert` are not."""
from pullback import isinf as isinf
from pullback import isnan as isnan
def less(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """True where x1 < x2."""
def less_equal(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """True where x1 <= x2."""
from . import linalg as linalg
def linspace(start: _Number | Tensor, stop: _Number | Tensor, /, num: int, *, dtype: _DType | None = None, device: _device | str | int | None = None, endpoint: _builtins.bool = True) -> Tensor:
    """`num` numbers evenly spaced from start to stop, which is included unless `endpoint` is False."""
from pullback import log as log
from pullback import log10 as log10
from pullback import log1p as log1p
from pullback import log2 as log2
def logaddexp(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """log(exp(x1) + exp(x2)), without overflow."""
def logical_and(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """True where x1 and x2 are True."""
from pullback import logical_not as logical_not
def logical_or(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """True where x1 or x2 is True."""
def logical_xor(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """True where one of x1 and x2 is True, and not both."""
def matmul(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """x1 @ x2: matrices, vectors, and batches of them, with broadcasting of the batch axes."""
def matrix_transpose(x: Tensor, /) -> Tensor:
    """Matrices with rows and columns exchanged."""
def max(x: Tensor, /, *, axis: int | _Sequence[int] | None = None, keepdims: _builtins.bool = False) -> Tensor:
    """The largest element along axes, by default of all; NaN if there is one."""
def maximum(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """The larger of x1 and x2; NaN if one is NaN, and equal ones share the gradient."""
def mean(x: Tensor, /, *, axis: int | _Sequence[int] | None = None, keepdims: _builtins.bool = False) -> Tensor:
    """The mean along axes, by default of all elements."""
def meshgrid(*arrays: Tensor, indexing: _Literal['xy', 'ij'] = 'xy') -> tuple[Tensor, ...]:
    """The coordinates of the points of a grid, from the coordinates along each of its axes."""
def min(x: Tensor, /, *, axis: int | _Sequence[int] | None = None, keepdims: _builtins.bool = False) -> Tensor:
    """The smallest element along axes, by default of all; NaN if there is one."""
def minimum(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """The smaller of x1 and x2; NaN if one is NaN, and equal ones share the gradient."""
def moveaxis(x: Tensor, source: int | _Sequence[int], destination: int | _Sequence[int], /) -> Tensor:
    """A tensor with axes moved to other positions."""
def multiply(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """x1 * x2."""
nan: float
from pullback import negative as negative
newaxis: None
def nextafter(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """The next number after x1 in the direction of x2."""
def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """The indices of the elements that are not zero, for each axis."""
def not_equal(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """True where x1 != x2."""
def ones(shape: int | _Sequence[int], *, dtype: _DType | None = None, device: _device | str | int | None = None) -> Tensor:
    """A tensor of a shape, filled with ones; float64 unless a dtype is given."""
def ones_like(x: Tensor, /, *, dtype: _DType | None = None, device: _device | str | int | None = None) -> Tensor:
    """A tensor of the shape and dtype of another, filled with ones."""
def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """A tensor with the axes in another order."""
pi: float
from pullback import positive as positive
def pow(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """x1 ** x2."""
def prod(x: Tensor, /, *, axis: int | _Sequence[int] | None = None, dtype: _DType | None = None, keepdims: _builtins.bool = False) -> Tensor:
    """The product along axes, by default of all elements; of integers as for `sum`."""
from pullback import real as real
from pullback import reciprocal as reciprocal
def remainder(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """The remainder of the floor division of x1 by x2, with the sign of x2."""
def repeat(x: Tensor, repeats: _TensorLike, /, *, axis: int | None = None) -> Tensor:
    """A tensor with each element, or each slice along an axis, repeated."""
def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: _builtins.bool | None = None) -> Tensor:
    """A tensor with the same elements in another shape; with `copy=True` always a copy, with `copy=False` never."""
def result_type(*arrays_and_dtypes: _TensorLike | _DType) -> _dtype:
    """The dtype to which tensors, dtypes, their names and Python numbers are promoted; of a number only the kind counts."""
def roll(x: Tensor, /, shift: int | _Sequence[int], *, axis: int | _Sequence[int] | None = None) -> Tensor:
    """A tensor with the elements rolled along axes, from the end to the beginning; without axes, in flat order."""
def round(x: Tensor, /) -> Tensor:
    """The nearest integers, of complex numbers for each part; halves are rounded to the even one."""
def searchsorted(x1: _TensorLike, x2: _TensorLike, /, *, side: str = 'left', sorter: Tensor | None = None) -> Tensor:
    """The indices at which values would be inserted into a sorted vector, before or after equal elements."""
def sign(x: Tensor, /) -> Tensor:
    """-1, 0 or 1, or for complex numbers x / abs(x); NaN for NaN."""
from pullback import signbit as signbit
from pullback import sin as sin
from pullback import sinh as sinh
def sort(x: Tensor, /, *, axis: int = -1, descending: _builtins.bool = False, stable: _builtins.bool = True) -> Tensor:
    """The elements sorted along an axis."""
from . import special as special
from pullback import sqrt as sqrt
from pullback import square as square
def squeeze(x: Tensor, /, axis: int | _Sequence[int]) -> Tensor:
    """A tensor without the given axes, which must have length 1."""
def stack(arrays: _Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    """Tensors of one shape joined along a new axis."""
def std(x: Tensor, /, *, axis: int | _Sequence[int] | None = None, correction: float = 0.0, keepdims: _builtins.bool = False) -> Tensor:
    """The standard deviation along axes: the square root of `var`."""
def subtract(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """x1 - x2."""
def sum(x: Tensor, /, *, axis: int | _Sequence[int] | None = None, dtype: _DType | None = None, keepdims: _builtins.bool = False) -> Tensor:
    """The sum along axes, by default of all elements; of integers in int64, or uint64, unless a dtype is given."""
def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """The elements, or the slices along an axis, at indices."""
def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """The elements at indices along an axis, each in its own row."""
from pullback import tan as tan
def tanh(x: Tensor, /) -> Tensor:
    """The hyperbolic tangent."""
def tensordot(x1: _TensorLike, x2: _TensorLike, /, *, axes: int | _Sequence[int] = 2) -> Tensor:
    """The sum of products over the last `axes` axes of x1 and the first of x2, or over two lists of axes."""
def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    """A tensor repeated along each axis."""
def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Matrices with zeros above the k-th diagonal."""
def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Matrices with zeros below the k-th diagonal."""
from pullback import trunc as trunc
from pullback import uint16 as uint16
from pullback import uint32 as uint32
from pullback import uint64 as uint64
from pullback import uint8 as uint8
def unique_all(x: Tensor, /) -> _AllOfUnique:
    """The distinct elements, their first indices, the index of each element among them, and how often each occurs."""
def unique_counts(x: Tensor, /) -> _CountsOfUnique:
    """The distinct elements, and how often each occurs."""
def unique_inverse(x: Tensor, /) -> _InverseOfUnique:
    """The distinct elements, and the index of each element of the tensor among them."""
def unique_values(x: Tensor, /) -> Tensor:
    """The distinct elements."""
def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices of a tensor along an axis."""
def var(x: Tensor, /, *, axis: int | _Sequence[int] | None = None, correction: float = 0.0, keepdims: _builtins.bool = False) -> Tensor:
    """The variance along axes: the sum of squared deviations, divided by count - correction."""
def vecdot(x1: _TensorLike, x2: _TensorLike, /, *, axis: int = -1) -> Tensor:
    """The sum of conj(x1) * x2 along an axis, which has one length in both; the other axes broadcast."""
def where(condition: Tensor, x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """The elements of x1 where the condition is True, and those of x2 elsewhere."""
def zeros(shape: int | _Sequence[int], *, dtype: _DType | None = None, device: _device | str | int | None = None) -> Tensor:
    """A tensor of a shape, filled with zeros; float64 unless a dtype is given."""
def zeros_like(x: Tensor, /, *, dtype: _DType | None = None, device: _device | str | int | None = None) -> Tensor:
    """A tensor of the shape and dtype of another, filled with zeros."""
