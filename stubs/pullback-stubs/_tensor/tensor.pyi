"""Made by scripts/stubs: the types of what is imported when it is first asked for."""

from types import EllipsisType as _EllipsisType
import builtins as _builtins
from collections.abc import Callable as _Callable
from collections.abc import Iterable as _Iterable
from collections.abc import Iterator as _Iterator
from collections.abc import Sequence as _Sequence
from typing import Any as _Any
from typing import Self as _Self
from typing import Literal as _Literal
from typing import SupportsIndex as _SupportsIndex
from typing import TypeVar as _TypeVar
from typing import overload as _overload
import numpy as _np
from pullback._core.dtypes import dtype as _dtype
from pullback._numerics.random import Generator as _Generator
from pullback._tape.node import Node as _Node
from pullback._core.placement import device as _device
from pullback._core.placement import layout as _layout
from pullback._core.placement import memory_format as _memory_format
from pullback._core.shapes import CallableInt as _CallableInt
from pullback._core.shapes import Size as _Size
from pullback._tape.node import RemovableHandle as _RemovableHandle
from pullback._tape.seeds import GradientEdge as _GradientEdge
from pullback._tensor.spellings import Flat as _Flat
from pullback._tensor.storages import TypedStorage as _TypedStorage
from pullback._tensor.storages import UntypedStorage as _UntypedStorage
from pullback.vocabulary.decompositions import LUFactorExResult as _LUFactorExResult
from pullback.vocabulary.decompositions import LUFactorResult as _LUFactorResult
from pullback.vocabulary.decompositions import QRResult as _QRResult
from pullback.vocabulary.decompositions import SlogdetResult as _SlogdetResult
from pullback.vocabulary.functions import Frexp as _Frexp
from pullback.vocabulary.linear_algebra import GeqrfResult as _GeqrfResult
from pullback.vocabulary.linear_algebra import SingularResult as _SingularResult
from pullback.vocabulary.linear_algebra import TriangularSolveResult as _TriangularSolveResult
from pullback.vocabulary.reductions import LeastAndLargest as _LeastAndLargest
from pullback.vocabulary.sorting import Selection as _Selection
from pullback.vocabulary.statistics import Histogram as _Histogram

_Number = _builtins.bool | _builtins.int | _builtins.float | _builtins.complex
_TensorLike = Tensor | _np.ndarray[_Any, _Any] | _np.generic | _Number
_DType = _dtype | _np.dtype[_Any] | type[_Any] | str
_Derived = _TypeVar("_Derived", bound="Tensor")

class Tensor:
    """An array of numbers that records operations if it, or a tensor it was computed from, requires grad."""
    def __init__(self, *data: object, size: object = None, **placement: object) -> None: ...
    def __add__(self, other: _TensorLike, /) -> Tensor: ...
    def __radd__(self, other: _TensorLike, /) -> Tensor: ...
    def __sub__(self, other: _TensorLike, /) -> Tensor: ...
    def __rsub__(self, other: _TensorLike, /) -> Tensor: ...
    def __mul__(self, other: _TensorLike, /) -> Tensor: ...
    def __rmul__(self, other: _TensorLike, /) -> Tensor: ...
    def __truediv__(self, other: _TensorLike, /) -> Tensor: ...
    def __rtruediv__(self, other: _TensorLike, /) -> Tensor: ...
    def __floordiv__(self, other: _TensorLike, /) -> Tensor: ...
    def __rfloordiv__(self, other: _TensorLike, /) -> Tensor: ...
    def __mod__(self, other: _TensorLike, /) -> Tensor: ...
    def __rmod__(self, other: _TensorLike, /) -> Tensor: ...
    def __pow__(self, other: _TensorLike, /) -> Tensor: ...
    def __rpow__(self, other: _TensorLike, /) -> Tensor: ...
    def __and__(self, other: _TensorLike, /) -> Tensor: ...
    def __rand__(self, other: _TensorLike, /) -> Tensor: ...
    def __or__(self, other: _TensorLike, /) -> Tensor: ...
    def __ror__(self, other: _TensorLike, /) -> Tensor: ...
    def __xor__(self, other: _TensorLike, /) -> Tensor: ...
    def __rxor__(self, other: _TensorLike, /) -> Tensor: ...
    def __lshift__(self, other: _TensorLike, /) -> Tensor: ...
    def __rlshift__(self, other: _TensorLike, /) -> Tensor: ...
    def __rshift__(self, other: _TensorLike, /) -> Tensor: ...
    def __rrshift__(self, other: _TensorLike, /) -> Tensor: ...
    def __iadd__(self, other: _TensorLike, /) -> Tensor: ...
    def __isub__(self, other: _TensorLike, /) -> Tensor: ...
    def __imul__(self, other: _TensorLike, /) -> Tensor: ...
    def __itruediv__(self, other: _TensorLike, /) -> Tensor: ...
    def __ifloordiv__(self, other: _TensorLike, /) -> Tensor: ...
    def __imod__(self, other: _TensorLike, /) -> Tensor: ...
    def __ipow__(self, other: _TensorLike, /) -> Tensor: ...
    def __iand__(self, other: _TensorLike, /) -> Tensor: ...
    def __ior__(self, other: _TensorLike, /) -> Tensor: ...
    def __ixor__(self, other: _TensorLike, /) -> Tensor: ...
    def __ilshift__(self, other: _TensorLike, /) -> Tensor: ...
    def __irshift__(self, other: _TensorLike, /) -> Tensor: ...
    def __lt__(self, other: _TensorLike, /) -> Tensor: ...
    def __le__(self, other: _TensorLike, /) -> Tensor: ...
    def __gt__(self, other: _TensorLike, /) -> Tensor: ...
    def __ge__(self, other: _TensorLike, /) -> Tensor: ...
    def __matmul__(self, other: Tensor | _np.ndarray[_Any, _Any], /) -> Tensor: ...
    def __rmatmul__(self, other: Tensor | _np.ndarray[_Any, _Any], /) -> Tensor: ...
    def __eq__(self, other: object, /) -> Tensor: ...  # type: ignore[override]
    def __ne__(self, other: object, /) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __abs__(self) -> Tensor: ...
    def __invert__(self) -> Tensor: ...
    def __float__(self) -> _builtins.float: ...
    def __int__(self) -> _builtins.int: ...
    def __complex__(self) -> _builtins.complex: ...
    def __bool__(self) -> _builtins.bool: ...
    def __index__(self) -> _builtins.int: ...
    def __len__(self) -> _builtins.int: ...
    def __hash__(self) -> _builtins.int: ...
    def __iter__(self) -> _Iterator[Tensor]: ...
    def __reversed__(self) -> Tensor: ...
    def __contains__(self, element: object, /) -> _builtins.bool: ...
    def __getitem__(self, index: _SupportsIndex | slice | _EllipsisType | Tensor | _np.ndarray[_Any, _Any] | _np.generic | range | list[_Any] | tuple[_Any, ...] | None, /) -> Tensor: ...
    def __setitem__(self, index: _SupportsIndex | slice | _EllipsisType | Tensor | _np.ndarray[_Any, _Any] | _np.generic | range | list[_Any] | tuple[_Any, ...] | None, value: _Any, /) -> None: ...
    def __array__(self, dtype: _Any = None, copy: _builtins.bool | None = None) -> _np.ndarray[_Any, _Any]: ...
    def __dlpack__(self, **options: _Any) -> _Any: ...
    def __dlpack_device__(self) -> tuple[_builtins.int, _builtins.int]: ...
    def __format__(self, spec: _builtins.str, /) -> _builtins.str: ...
    def __deepcopy__(self, memo: dict[_builtins.int, _Any], /) -> Tensor: ...
    def abs(self) -> Tensor:
        """The absolute value, elementwise; its slope at 0 is 0."""
    def abs_(self) -> Tensor:
        """The absolute value, elementwise; its slope at 0 is 0."""
    def absolute(self) -> Tensor:
        """The absolute value, elementwise; its slope at 0 is 0."""
    def absolute_(self) -> Tensor:
        """The absolute value, elementwise; its slope at 0 is 0."""
    def acos(self) -> Tensor:
        """The inverse cosine, elementwise; NaN outside [-1, 1]."""
    def acos_(self) -> Tensor:
        """The inverse cosine, elementwise; NaN outside [-1, 1]."""
    def acosh(self) -> Tensor:
        """The inverse hyperbolic cosine, elementwise; NaN below 1."""
    def acosh_(self) -> Tensor:
        """The inverse hyperbolic cosine, elementwise; NaN below 1."""
    def add(self, other: _TensorLike, *rest: _Any, alpha: _Number = 1) -> Tensor:
        """input + alpha * other, with broadcasting."""
    def add_(self, other: _TensorLike, *rest: _Any, alpha: _Number = 1) -> Tensor:
        """input + alpha * other, with broadcasting."""
    def addbmm(self, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * input + alpha * the sum of the products of two batches of matrices; the input is broadcast."""
    def addbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * input + alpha * the sum of the products of two batches of matrices; the input is broadcast."""
    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *, value: _builtins.float = 1) -> Tensor:
        """input + value * tensor1 / tensor2."""
    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: _builtins.float = 1) -> Tensor:
        """input + value * tensor1 / tensor2."""
    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *, value: _builtins.float = 1) -> Tensor:
        """input + value * tensor1 * tensor2."""
    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: _builtins.float = 1) -> Tensor:
        """input + value * tensor1 * tensor2."""
    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * input + alpha * (mat1 @ mat2) for matrices; the input is broadcast."""
    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * input + alpha * (mat1 @ mat2) for matrices; the input is broadcast."""
    def addmv(self, mat: Tensor, vec: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * input + alpha * (mat @ vec) for a matrix and a vector; the input is broadcast."""
    def addmv_(self, mat: Tensor, vec: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * input + alpha * (mat @ vec) for a matrix and a vector; the input is broadcast."""
    def addr(self, vec1: Tensor, vec2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * input + alpha * outer(vec1, vec2); the input is broadcast."""
    def addr_(self, vec1: Tensor, vec2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * input + alpha * outer(vec1, vec2); the input is broadcast."""
    def adjoint(self) -> Tensor:
        """The last two axes exchanged, and complex elements conjugated."""
    def all(self, dim: _builtins.int | _Sequence[_builtins.int] | None = None, keepdim: _builtins.bool = False, *, axis: _builtins.int | _Sequence[_builtins.int] | None = None, keepdims: _builtins.bool = False) -> Tensor:
        """True if every element is nonzero, of all or along axes; with dim=(), elementwise."""
    def allclose(self, other: _TensorLike, rtol: _builtins.float = 1e-05, atol: _builtins.float = 1e-08, equal_nan: _builtins.bool = False) -> _builtins.bool:
        """True if two tensors agree within atol + rtol * abs(other), everywhere."""
    def amax(self, dim: _builtins.int | _Sequence[_builtins.int] | None = None, keepdim: _builtins.bool = False, *, axis: _builtins.int | _Sequence[_builtins.int] | None = None, keepdims: _builtins.bool = False) -> Tensor:
        """The largest element along axes; ties share the gradient."""
    def amin(self, dim: _builtins.int | _Sequence[_builtins.int] | None = None, keepdim: _builtins.bool = False, *, axis: _builtins.int | _Sequence[_builtins.int] | None = None, keepdims: _builtins.bool = False) -> Tensor:
        """The smallest element along axes; ties share the gradient."""
    @_overload
    def aminmax(self, *, dim: _builtins.int | None = None, keepdim: _builtins.bool = False) -> _LeastAndLargest:
        """The smallest and the largest element, of all or along an axis; ties share the gradient."""
    @_overload
    def aminmax(self, *, axis: _builtins.int | None = None, keepdims: _builtins.bool = False) -> _LeastAndLargest:
        """The smallest and the largest element, of all or along an axis; ties share the gradient."""
    def angle(self) -> Tensor:
        """The angle of complex numbers; pi for negative real ones, 0 for others."""
    def any(self, dim: _builtins.int | _Sequence[_builtins.int] | None = None, keepdim: _builtins.bool = False, *, axis: _builtins.int | _Sequence[_builtins.int] | None = None, keepdims: _builtins.bool = False) -> Tensor:
        """True if some element is nonzero, of all or along axes; with dim=(), elementwise."""
    def apply_(self, callable: _Callable[[_Any], _Number]) -> Tensor:
        """Apply a Python function to each element, in place; slow."""
    def arccos(self) -> Tensor:
        """The inverse cosine, elementwise; NaN outside [-1, 1]."""
    def arccos_(self) -> Tensor:
        """The inverse cosine, elementwise; NaN outside [-1, 1]."""
    def arccosh(self) -> Tensor:
        """The inverse hyperbolic cosine, elementwise; NaN below 1."""
    def arccosh_(self) -> Tensor:
        """The inverse hyperbolic cosine, elementwise; NaN below 1."""
    def arcsin(self) -> Tensor:
        """The inverse sine, elementwise; NaN outside [-1, 1]."""
    def arcsin_(self) -> Tensor:
        """The inverse sine, elementwise; NaN outside [-1, 1]."""
    def arcsinh(self) -> Tensor:
        """The inverse hyperbolic sine, elementwise."""
    def arcsinh_(self) -> Tensor:
        """The inverse hyperbolic sine, elementwise."""
    def arctan(self) -> Tensor:
        """The inverse tangent, elementwise."""
    def arctan2(self, other: _TensorLike) -> Tensor:
        """The angle of the point (other, input), from -pi to pi."""
    def arctan2_(self, other: _TensorLike) -> Tensor:
        """The angle of the point (other, input), from -pi to pi."""
    def arctan_(self) -> Tensor:
        """The inverse tangent, elementwise."""
    def arctanh(self) -> Tensor:
        """The inverse hyperbolic tangent, elementwise; NaN outside [-1, 1]."""
    def arctanh_(self) -> Tensor:
        """The inverse hyperbolic tangent, elementwise; NaN outside [-1, 1]."""
    @_overload
    def argmax(self, dim: _builtins.int | None = None, keepdim: _builtins.bool = False, *, axis: _builtins.int | None = None) -> Tensor:
        """The index of the largest element, in the flattened tensor or along a dim; the first if there are several."""
    @_overload
    def argmax(self, dim: _builtins.int | None = None, keepdims: _builtins.bool = False, *, axis: _builtins.int | None = None) -> Tensor:
        """The index of the largest element, in the flattened tensor or along a dim; the first if there are several."""
    @_overload
    def argmin(self, dim: _builtins.int | None = None, keepdim: _builtins.bool = False, *, axis: _builtins.int | None = None) -> Tensor:
        """The index of the smallest element, in the flattened tensor or along a dim; the first if there are several."""
    @_overload
    def argmin(self, dim: _builtins.int | None = None, keepdims: _builtins.bool = False, *, axis: _builtins.int | None = None) -> Tensor:
        """The index of the smallest element, in the flattened tensor or along a dim; the first if there are several."""
    @_overload
    def argsort(self, dim: _builtins.int = -1, descending: _builtins.bool = False, *, stable: _builtins.bool = False) -> Tensor:
        """The indices that sort the input along a dim; equal elements keep their order, NaN counts as the largest."""
    @_overload
    def argsort(self, axis: _builtins.int = -1, descending: _builtins.bool = False, *, stable: _builtins.bool = False) -> Tensor:
        """The indices that sort the input along a dim; equal elements keep their order, NaN counts as the largest."""
    def argwhere(self) -> Tensor:
        """The indices of the nonzero elements, one per row."""
    def as_strided(self, size: _builtins.int | _Sequence[_builtins.int], stride: _builtins.int | _Sequence[_builtins.int], storage_offset: _builtins.int | None = None) -> Tensor:
        """A view of the tensor's memory with another size and strides, counted in elements."""
    def as_strided_(self, *args: _Any, **options: _Any) -> Tensor:
        """In place: A view of the tensor's memory with another size and strides, counted in elements."""
    def as_strided_scatter(self, src: Tensor, size: _builtins.int | _Sequence[_builtins.int], stride: _builtins.int | _Sequence[_builtins.int], storage_offset: _builtins.int | None = None) -> Tensor:
        """A copy of a contiguous tensor in which the elements of an `as_strided` view are those of `src`."""
    def as_subclass(self, cls: _builtins.type[_Derived]) -> _Derived:
        """The tensor as an instance of a class derived from Tensor, with the same memory and history."""
    def asin(self) -> Tensor:
        """The inverse sine, elementwise; NaN outside [-1, 1]."""
    def asin_(self) -> Tensor:
        """The inverse sine, elementwise; NaN outside [-1, 1]."""
    def asinh(self) -> Tensor:
        """The inverse hyperbolic sine, elementwise."""
    def asinh_(self) -> Tensor:
        """The inverse hyperbolic sine, elementwise."""
    def astype(self, dtype: _DType, order: str = 'K', casting: _Literal['no', 'equiv', 'safe', 'same_kind', 'unsafe'] = 'unsafe', subok: _builtins.bool = True, copy: _builtins.bool = True) -> Tensor:
        """This tensor converted to a dtype; a copy even if it has that dtype already, unless `copy` is False."""
    def atan(self) -> Tensor:
        """The inverse tangent, elementwise."""
    def atan2(self, other: _TensorLike) -> Tensor:
        """The angle of the point (other, input), from -pi to pi."""
    def atan2_(self, other: _TensorLike) -> Tensor:
        """The angle of the point (other, input), from -pi to pi."""
    def atan_(self) -> Tensor:
        """The inverse tangent, elementwise."""
    def atanh(self) -> Tensor:
        """The inverse hyperbolic tangent, elementwise; NaN outside [-1, 1]."""
    def atanh_(self) -> Tensor:
        """The inverse hyperbolic tangent, elementwise; NaN outside [-1, 1]."""
    def backward(self, gradient: _TensorLike | _Sequence[object] | None = None, retain_graph: _builtins.bool | None = None, create_graph: _builtins.bool = False, inputs: Tensor | _GradientEdge | _Iterable[Tensor | _GradientEdge] | None = None, *, retain_variables: _builtins.bool | None = None) -> None:
        """Accumulate the vector-Jacobian product of `gradient` into the `.grad` of the leaves."""
    def baddbmm(self, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * input + alpha * (batch1 @ batch2) for batches of matrices; the input is broadcast."""
    def baddbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * input + alpha * (batch1 @ batch2) for batches of matrices; the input is broadcast."""
    def bernoulli(self, p: _builtins.float | None = None, *, generator: _Generator | None = None) -> Tensor:
        """1 with the probability given by each element, or with probability p, else 0."""
    def bernoulli_(self, p: Tensor | _builtins.float = 0.5, *, generator: _Generator | None = None) -> Tensor:
        """Samples of 1 with probability p, else 0; p is a number or a tensor with one for each element."""
    def bfloat16(self, memory_format: object = None) -> Tensor:
        """This tensor in bfloat16; itself if it has that dtype."""
    def bincount(self, weights: Tensor | None = None, minlength: _builtins.int = 0) -> Tensor:
        """The number of occurrences of each of the numbers 0, 1, 2, ..., or the sum of its weights."""
    def binomial(self, prob: Tensor, generator: _Generator | None = None) -> Tensor:
        """Samples of binomial distributions: the number of successes in `count` trials with probability `prob`."""
    def bitwise_and(self, other: _TensorLike) -> Tensor:
        """The bitwise and of integers or bools."""
    def bitwise_and_(self, other: _TensorLike) -> Tensor:
        """The bitwise and of integers or bools."""
    def bitwise_left_shift(self, other: _TensorLike) -> Tensor:
        """input * 2**other."""
    def bitwise_left_shift_(self, other: _TensorLike) -> Tensor:
        """input * 2**other."""
    def bitwise_not(self) -> Tensor:
        """The bitwise complement of integers; the logical one of bools."""
    def bitwise_not_(self) -> Tensor:
        """The bitwise complement of integers; the logical one of bools."""
    def bitwise_or(self, other: _TensorLike) -> Tensor:
        """The bitwise or of integers or bools."""
    def bitwise_or_(self, other: _TensorLike) -> Tensor:
        """The bitwise or of integers or bools."""
    def bitwise_right_shift(self, other: _TensorLike) -> Tensor:
        """The floor of input / 2**other."""
    def bitwise_right_shift_(self, other: _TensorLike) -> Tensor:
        """The floor of input / 2**other."""
    def bitwise_xor(self, other: _TensorLike) -> Tensor:
        """The bitwise exclusive or of integers or bools."""
    def bitwise_xor_(self, other: _TensorLike) -> Tensor:
        """The bitwise exclusive or of integers or bools."""
    def bmm(self, mat2: Tensor) -> Tensor:
        """The products of two batches of matrices."""
    def bool(self, memory_format: object = None) -> Tensor:
        """This tensor in bool; itself if it has that dtype."""
    def broadcast_to(self, size: _Sequence[_builtins.int]) -> Tensor:
        """input.expand(size)."""
    def byte(self, memory_format: object = None) -> Tensor:
        """This tensor in uint8; itself if it has that dtype."""
    def cauchy_(self, median: _builtins.float = 0, sigma: _builtins.float = 1, *, generator: _Generator | None = None) -> Tensor:
        """Samples of the Cauchy distribution with a median and a scale."""
    def cdouble(self, memory_format: object = None) -> Tensor:
        """This tensor in complex128; itself if it has that dtype."""
    def ceil(self) -> Tensor:
        """The smallest integer not below, elementwise; its gradient is 0."""
    def ceil_(self) -> Tensor:
        """The smallest integer not below, elementwise; its gradient is 0."""
    def cfloat(self, memory_format: object = None) -> Tensor:
        """This tensor in complex64; itself if it has that dtype."""
    def char(self, memory_format: object = None) -> Tensor:
        """This tensor in int8; itself if it has that dtype."""
    def cholesky(self, upper: _builtins.bool = False) -> Tensor:
        """The lower triangular L with input = L @ L.mH, for a Hermitian positive-definite input; with `upper`, L.mH."""
    def cholesky_inverse(self, upper: _builtins.bool = False) -> Tensor:
        """The inverse of L @ L.mH, or of L.mH @ L with `upper`; LinAlgError for a zero on the diagonal."""
    def cholesky_solve(self, L: Tensor, upper: _builtins.bool = False) -> Tensor:
        """The X with A @ X = input, where A = L @ L.mH, or L.mH @ L with `upper`."""
    @_overload
    def chunk(self, chunks: _builtins.int, dim: _builtins.int = 0) -> tuple[Tensor, ...]:
        """At most `chunks` consecutive parts of one size along an axis; the last may be smaller."""
    @_overload
    def chunk(self, chunks: _builtins.int, axis: _builtins.int = 0) -> tuple[Tensor, ...]:
        """At most `chunks` consecutive parts of one size along an axis; the last may be smaller."""
    def clamp(self, min: _TensorLike | None = None, max: _TensorLike | None = None) -> Tensor:
        """input limited to [min, max]; the gradient passes inside and at the bounds."""
    def clamp_(self, min: _TensorLike | None = None, max: _TensorLike | None = None) -> Tensor:
        """input limited to [min, max]; the gradient passes inside and at the bounds."""
    def clamp_max(self, max: _TensorLike | None) -> Tensor:
        """The minimum of input and max, a number or a tensor."""
    def clamp_max_(self, max: _TensorLike | None) -> Tensor:
        """The minimum of input and max, a number or a tensor."""
    def clamp_min(self, min: _TensorLike | None) -> Tensor:
        """The maximum of input and min, a number or a tensor."""
    def clamp_min_(self, min: _TensorLike | None) -> Tensor:
        """The maximum of input and min, a number or a tensor."""
    def clip(self, min: _TensorLike | None = None, max: _TensorLike | None = None) -> Tensor:
        """input limited to [min, max]; the gradient passes inside and at the bounds."""
    def clip_(self, min: _TensorLike | None = None, max: _TensorLike | None = None) -> Tensor:
        """input limited to [min, max]; the gradient passes inside and at the bounds."""
    def clone(self, *, memory_format: _memory_format | None = None) -> _Self:
        """A recorded copy; inside a transform, the transform's values can be written to it."""
    def coalesce(self) -> Tensor:
        """This tensor: a dense tensor has one value per index, in order."""
    def conj(self) -> Tensor:
        """The complex conjugate; a real tensor is returned unchanged."""
    def conj_(self) -> Tensor:
        """The complex conjugate; a real tensor is returned unchanged."""
    def conj_physical(self) -> Tensor:
        """The complex conjugate; a real tensor is returned unchanged."""
    def conj_physical_(self) -> Tensor:
        """The complex conjugate; a real tensor is returned unchanged."""
    def contiguous(self, memory_format: _memory_format | None = None) -> _Self:
        """This tensor, or a contiguous copy of it."""
    def copy(self, order: str = 'C') -> Tensor:
        """A recorded copy, as `clone`."""
    def copy_(self, other: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], non_blocking: _builtins.bool = False) -> Tensor:
        """Copy the elements of another tensor or array to this one, broadcast and converted, in place."""
    def copysign(self, other: _TensorLike) -> Tensor:
        """The size of input with the sign of other."""
    def copysign_(self, other: _TensorLike) -> Tensor:
        """The size of input with the sign of other."""
    def corrcoef(self) -> Tensor:
        """The correlation matrix of variables, the rows of the input, over observations, its columns: from -1 to 1."""
    def cos(self) -> Tensor:
        """The cosine, elementwise."""
    def cos_(self) -> Tensor:
        """The cosine, elementwise."""
    def cosh(self) -> Tensor:
        """The hyperbolic cosine, elementwise."""
    def cosh_(self) -> Tensor:
        """The hyperbolic cosine, elementwise."""
    @_overload
    def count_nonzero(self, dim: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
        """The number of nonzero elements, of all or along axes."""
    @_overload
    def count_nonzero(self, axis: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
        """The number of nonzero elements, of all or along axes."""
    def cov(self, *, correction: _builtins.int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
        """The covariance matrix of variables, the rows of the input, over observations, its columns."""
    def cpu(self, memory_format: _memory_format | None = None) -> _Self:
        """This tensor, which is on the CPU already; NotImplementedError for one that tells 'meta'."""
    @_overload
    def cross(self, other: Tensor, dim: _builtins.int | None = None) -> Tensor:
        """The vector product along an axis of length 3: the first such axis, unless one is given."""
    @_overload
    def cross(self, other: Tensor, axis: _builtins.int | None = None) -> Tensor:
        """The vector product along an axis of length 3: the first such axis, unless one is given."""
    def cuda(self, device: _device | str | _builtins.int | None = None, non_blocking: _builtins.bool = False, memory_format: _memory_format | None = None) -> Tensor:
        """Refused: the CPU is the only device."""
    @_overload
    def cummax(self, dim: _builtins.int) -> _Selection:
        """The cumulative maximum along a dim and its index, the last of equal ones: (values, indices)."""
    @_overload
    def cummax(self, axis: _builtins.int) -> _Selection:
        """The cumulative maximum along a dim and its index, the last of equal ones: (values, indices)."""
    @_overload
    def cummin(self, dim: _builtins.int) -> _Selection:
        """The cumulative minimum along a dim and its index, the last of equal ones: (values, indices)."""
    @_overload
    def cummin(self, axis: _builtins.int) -> _Selection:
        """The cumulative minimum along a dim and its index, the last of equal ones: (values, indices)."""
    @_overload
    def cumprod(self, dim: _builtins.int, *, dtype: _DType | None = None) -> Tensor:
        """The cumulative product along a dim; of integers and bools in int64."""
    @_overload
    def cumprod(self, axis: _builtins.int, *, dtype: _DType | None = None) -> Tensor:
        """The cumulative product along a dim; of integers and bools in int64."""
    @_overload
    def cumprod_(self, dim: _builtins.int, *, dtype: _DType | None = None) -> Tensor:
        """The cumulative product along a dim; of integers and bools in int64."""
    @_overload
    def cumprod_(self, axis: _builtins.int, *, dtype: _DType | None = None) -> Tensor:
        """The cumulative product along a dim; of integers and bools in int64."""
    @_overload
    def cumsum(self, dim: _builtins.int, *, dtype: _DType | None = None) -> Tensor:
        """The cumulative sum along a dim; of integers and bools in int64."""
    @_overload
    def cumsum(self, axis: _builtins.int, *, dtype: _DType | None = None) -> Tensor:
        """The cumulative sum along a dim; of integers and bools in int64."""
    @_overload
    def cumsum_(self, dim: _builtins.int, *, dtype: _DType | None = None) -> Tensor:
        """The cumulative sum along a dim; of integers and bools in int64."""
    @_overload
    def cumsum_(self, axis: _builtins.int, *, dtype: _DType | None = None) -> Tensor:
        """The cumulative sum along a dim; of integers and bools in int64."""
    def data_ptr(self) -> _builtins.int:
        """The address of the first element."""
    def deg2rad(self) -> Tensor:
        """Degrees as radians."""
    def deg2rad_(self) -> Tensor:
        """Degrees as radians."""
    def det(self) -> Tensor:
        """The determinant; its derivative is the cofactor matrix, also where the determinant is 0."""
    def detach(self) -> _Self:
        """A tensor with the same memory and without the history."""
    def detach_(self) -> Tensor:
        """Drop this tensor's history, in place; in inference mode, nothing changes."""
    def diag(self, diagonal: _builtins.int = 0) -> Tensor:
        """The diagonal of a matrix, or the matrix with a vector on its diagonal."""
    def diag_embed(self, offset: _builtins.int = 0, dim1: _builtins.int = -2, dim2: _builtins.int = -1) -> Tensor:
        """Zeros whose diagonal of two new axes is the last axis of the input."""
    def diagflat(self, offset: _builtins.int = 0) -> Tensor:
        """The matrix with all elements of the input on its diagonal."""
    def diagonal(self, offset: _builtins.int = 0, dim1: _builtins.int = 0, dim2: _builtins.int = 1) -> Tensor:
        """The diagonal of two axes, as the last axis: a view; `offset` counts columns to the right of the main one."""
    def diagonal_scatter(self, src: Tensor, offset: _builtins.int = 0, dim1: _builtins.int = 0, dim2: _builtins.int = 1) -> Tensor:
        """A copy whose diagonal of two axes is `src`."""
    @_overload
    def diff(self, n: _builtins.int = 1, dim: _builtins.int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
        """The differences of neighbors along a dim, n times; `prepend` and `append` are first joined to the input."""
    @_overload
    def diff(self, n: _builtins.int = 1, axis: _builtins.int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
        """The differences of neighbors along a dim, n times; `prepend` and `append` are first joined to the input."""
    def digamma(self) -> Tensor:
        """The derivative of lgamma."""
    def digamma_(self) -> Tensor:
        """The derivative of lgamma."""
    def dim(self) -> _builtins.int:
        """The number of axes."""
    def dist(self, other: _TensorLike, p: _builtins.float = 2) -> Tensor:
        """The p-norm of input - other."""
    def div(self, other: _TensorLike, *, rounding_mode: str | None = None) -> Tensor:
        """input / other; integers give the default dtype; `rounding_mode` is None, 'trunc' or 'floor'."""
    def div_(self, other: _TensorLike, *, rounding_mode: str | None = None) -> Tensor:
        """input / other; integers give the default dtype; `rounding_mode` is None, 'trunc' or 'floor'."""
    def divide(self, other: _TensorLike, *, rounding_mode: str | None = None) -> Tensor:
        """input / other; integers give the default dtype; `rounding_mode` is None, 'trunc' or 'floor'."""
    def divide_(self, other: _TensorLike, *, rounding_mode: str | None = None) -> Tensor:
        """input / other; integers give the default dtype; `rounding_mode` is None, 'trunc' or 'floor'."""
    def dot(self, tensor: Tensor) -> Tensor:
        """The sum of the products of two vectors."""
    def double(self, memory_format: object = None) -> Tensor:
        """This tensor in float64; itself if it has that dtype."""
    def dsplit(self, indices_or_sections: _builtins.int | _Sequence[_builtins.int] | Tensor) -> tuple[Tensor, ...]:
        """Parts along the third axis, as views: a number of equal parts, or those between given indices."""
    def element_size(self) -> _builtins.int:
        """The number of bytes of one element."""
    def eq(self, other: _TensorLike) -> Tensor:
        """Where input == other."""
    def eq_(self, other: _TensorLike) -> Tensor:
        """Where input == other."""
    def equal(self, other: Tensor) -> _builtins.bool:
        """True if two tensors have the same shape and elements."""
    def erf(self) -> Tensor:
        """The error function, twice the integral of exp(-t * t) from 0 to input over the square root of pi."""
    def erf_(self) -> Tensor:
        """The error function, twice the integral of exp(-t * t) from 0 to input over the square root of pi."""
    def erfc(self) -> Tensor:
        """1 - erf(input), exact where that is nearly 0."""
    def erfc_(self) -> Tensor:
        """1 - erf(input), exact where that is nearly 0."""
    def erfinv(self) -> Tensor:
        """The number whose error function is input; inf at 1, NaN beyond."""
    def erfinv_(self) -> Tensor:
        """The number whose error function is input; inf at 1, NaN beyond."""
    def exp(self) -> Tensor:
        """e to the input, elementwise."""
    def exp2(self) -> Tensor:
        """2 to the input, elementwise."""
    def exp2_(self) -> Tensor:
        """2 to the input, elementwise."""
    def exp_(self) -> Tensor:
        """e to the input, elementwise."""
    def expand(self, *sizes: _builtins.int | _Sequence[_builtins.int], size: _builtins.int | _Sequence[_builtins.int] | None = None, implicit: _builtins.bool = False) -> Tensor:
        """A view in which axes of length 1, and new ones in front, are repeated; -1 keeps a size."""
    def expand_as(self, other: Tensor) -> Tensor:
        """input.expand(other.shape)."""
    def expm1(self) -> Tensor:
        """exp(input) - 1, exact for small inputs."""
    def expm1_(self) -> Tensor:
        """exp(input) - 1, exact for small inputs."""
    def exponential_(self, lambd: _builtins.float = 1, *, generator: _Generator | None = None) -> Tensor:
        """Samples of the exponential distribution with rate `lambd`."""
    def fill(self, value: _Number | Tensor) -> None:
        """Set all elements to one value, a number or a 0-d tensor; as in NumPy the result is None, that of `fill_` the tensor."""
    def fill_(self, value: _Number | Tensor) -> Tensor:
        """Set all elements to one value, a number or a 0-d tensor, in place."""
    def fill_diagonal_(self, fill_value: _Number, wrap: _builtins.bool = False) -> Tensor:
        """In place: the main diagonal, along which all indices are equal, filled with a number."""
    def fix(self) -> Tensor:
        """The integer towards zero, elementwise; its gradient is 0."""
    def fix_(self) -> Tensor:
        """The integer towards zero, elementwise; its gradient is 0."""
    def flatten(self, start_dim: _builtins.int = 0, end_dim: _builtins.int = -1) -> Tensor:
        """The axes from start_dim to end_dim flattened into one."""
    def flip(self, *axes: _builtins.int | _Sequence[_builtins.int], dims: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
        """A copy with the elements reversed along axes."""
    def fliplr(self) -> Tensor:
        """A copy with the elements reversed along the second axis."""
    def flipud(self) -> Tensor:
        """A copy with the elements reversed along the first axis."""
    def float(self, memory_format: object = None) -> Tensor:
        """This tensor in float32; itself if it has that dtype."""
    def float_power(self, exponent: _TensorLike) -> Tensor:
        """input ** exponent in float64, or in complex128 if one of them is complex."""
    def float_power_(self, exponent: _TensorLike) -> Tensor:
        """In place: `float_power` of a tensor of dtype float64 or complex128, the dtype of the result."""
    def floor(self) -> Tensor:
        """The largest integer not above, elementwise; its gradient is 0."""
    def floor_(self) -> Tensor:
        """The largest integer not above, elementwise; its gradient is 0."""
    def floor_divide(self, other: _TensorLike) -> Tensor:
        """The floor of input / other; it has no derivative."""
    def floor_divide_(self, other: _TensorLike) -> Tensor:
        """The floor of input / other; it has no derivative."""
    def fmax(self, other: _TensorLike) -> Tensor:
        """The larger of two tensors, elementwise; NaN counts as missing, ties go to input."""
    def fmin(self, other: _TensorLike) -> Tensor:
        """The smaller of two tensors, elementwise; NaN counts as missing, ties go to input."""
    def fmod(self, other: _TensorLike) -> Tensor:
        """The remainder of truncated division by other; it has the sign of input."""
    def fmod_(self, other: _TensorLike) -> Tensor:
        """The remainder of truncated division by other; it has the sign of input."""
    def frac(self) -> Tensor:
        """The fractional part, with the input's sign."""
    def frac_(self) -> Tensor:
        """The fractional part, with the input's sign."""
    def frexp(self) -> _Frexp:
        """The mantissa, from 0.5 to 1, and the exponent of 2 whose product is the input."""
    @_overload
    def gather(self, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], *, sparse_grad: _builtins.bool = False) -> Tensor:
        """The elements along a dim selected by `index`; the result has the shape of `index`."""
    @_overload
    def gather(self, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], *, sparse_grad: _builtins.bool = False) -> Tensor:
        """The elements along a dim selected by `index`; the result has the shape of `index`."""
    def gcd(self, other: _TensorLike) -> Tensor:
        """The greatest common divisor of integers."""
    def gcd_(self, other: _TensorLike) -> Tensor:
        """The greatest common divisor of integers."""
    def ge(self, other: _TensorLike) -> Tensor:
        """Where input >= other."""
    def ge_(self, other: _TensorLike) -> Tensor:
        """Where input >= other."""
    def geometric_(self, p: _builtins.float, *, generator: _Generator | None = None) -> Tensor:
        """Samples of the geometric distribution: the number of trials until the first success, each with probability p."""
    def geqrf(self) -> _GeqrfResult:
        """R, with below it the reflections whose product is Q, and their factors; it has no derivative."""
    def ger(self, vec2: Tensor | _np.ndarray[_Any, _np.dtype[_Any]]) -> Tensor:
        """All products of an element of one vector with an element of another."""
    def get_device(self) -> _builtins.int:
        """The index of the tensor's device: -1 for the CPU."""
    def greater(self, other: _TensorLike) -> Tensor:
        """Where input > other."""
    def greater_(self, other: _TensorLike) -> Tensor:
        """Where input > other."""
    def greater_equal(self, other: _TensorLike) -> Tensor:
        """Where input >= other."""
    def greater_equal_(self, other: _TensorLike) -> Tensor:
        """Where input >= other."""
    def gt(self, other: _TensorLike) -> Tensor:
        """Where input > other."""
    def gt_(self, other: _TensorLike) -> Tensor:
        """Where input > other."""
    def half(self, memory_format: object = None) -> Tensor:
        """This tensor in float16; itself if it has that dtype."""
    def hardshrink(self, lambd: _builtins.float = 0.5) -> Tensor:
        """0 within `lambd` of 0, the input elsewhere; arguments as for `nn.Hardshrink`."""
    def heaviside(self, values: _TensorLike) -> Tensor:
        """0 where input is negative, 1 where it is positive, and values where it is 0; it has no derivative."""
    def heaviside_(self, values: _TensorLike) -> Tensor:
        """0 where input is negative, 1 where it is positive, and values where it is 0; it has no derivative."""
    def histc(self, bins: _builtins.int = 100, min: _builtins.float = 0, max: _builtins.float = 0) -> Tensor:
        """The number of elements in each of several bins of equal width from min to max, or over their range if both are 0."""
    def histogram(self, bins: Tensor | _builtins.int = 100, *, range: tuple[_builtins.float, _builtins.float] | None = None, weight: Tensor | None = None, density: _builtins.bool = False) -> _Histogram:
        """The number of elements in each of several bins: (hist, bin_edges)."""
    def hsplit(self, indices_or_sections: _builtins.int | _Sequence[_builtins.int] | Tensor) -> tuple[Tensor, ...]:
        """Parts along the second axis, or the only one, as views: a number of equal parts, or those between given indices."""
    def hypot(self, other: _TensorLike) -> Tensor:
        """sqrt(input**2 + other**2), without overflow."""
    def hypot_(self, other: _TensorLike) -> Tensor:
        """sqrt(input**2 + other**2), without overflow."""
    def i0(self) -> Tensor:
        """The modified Bessel function of the first kind of order 0. It needs SciPy."""
    def i0_(self) -> Tensor:
        """The modified Bessel function of the first kind of order 0. It needs SciPy."""
    def igamma(self, other: Tensor) -> Tensor:
        """The regularized lower incomplete gamma function: how much of a gamma distribution of shape input lies below other."""
    def igamma_(self, other: Tensor) -> Tensor:
        """The regularized lower incomplete gamma function: how much of a gamma distribution of shape input lies below other."""
    def igammac(self, other: Tensor) -> Tensor:
        """The regularized upper incomplete gamma function, 1 - igamma(input, other), with the same derivatives."""
    def igammac_(self, other: Tensor) -> Tensor:
        """The regularized upper incomplete gamma function, 1 - igamma(input, other), with the same derivatives."""
    @_overload
    def index_add(self, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], source: Tensor, *, alpha: _builtins.float = 1) -> Tensor:
        """A copy in which alpha times the slices of `source` are added to the slices along a dim selected by `index`."""
    @_overload
    def index_add(self, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], source: Tensor, *, alpha: _builtins.float = 1) -> Tensor:
        """A copy in which alpha times the slices of `source` are added to the slices along a dim selected by `index`."""
    @_overload
    def index_add_(self, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], source: Tensor, *, alpha: _builtins.float = 1) -> Tensor:
        """A copy in which alpha times the slices of `source` are added to the slices along a dim selected by `index`."""
    @_overload
    def index_add_(self, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], source: Tensor, *, alpha: _builtins.float = 1) -> Tensor:
        """A copy in which alpha times the slices of `source` are added to the slices along a dim selected by `index`."""
    @_overload
    def index_copy(self, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], source: Tensor) -> Tensor:
        """A copy in which the slices along a dim selected by `index` are those of `source`."""
    @_overload
    def index_copy(self, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], source: Tensor) -> Tensor:
        """A copy in which the slices along a dim selected by `index` are those of `source`."""
    @_overload
    def index_copy_(self, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], source: Tensor) -> Tensor:
        """A copy in which the slices along a dim selected by `index` are those of `source`."""
    @_overload
    def index_copy_(self, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], source: Tensor) -> Tensor:
        """A copy in which the slices along a dim selected by `index` are those of `source`."""
    @_overload
    def index_fill(self, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], value: _TensorLike) -> Tensor:
        """A copy in which the slices along a dim selected by `index` are filled with a number or a 0-d tensor."""
    @_overload
    def index_fill(self, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], value: _TensorLike) -> Tensor:
        """A copy in which the slices along a dim selected by `index` are filled with a number or a 0-d tensor."""
    @_overload
    def index_fill_(self, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], value: _TensorLike) -> Tensor:
        """A copy in which the slices along a dim selected by `index` are filled with a number or a 0-d tensor."""
    @_overload
    def index_fill_(self, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], value: _TensorLike) -> Tensor:
        """A copy in which the slices along a dim selected by `index` are filled with a number or a 0-d tensor."""
    def index_put(self, indices: _Sequence[Tensor | _np.ndarray[_Any, _np.dtype[_Any]]], values: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], accumulate: _builtins.bool = False) -> Tensor:
        """A copy with values written, or added, at an index: a tuple with an integer or bool tensor for each axis."""
    def index_put_(self, indices: _Sequence[Tensor | _np.ndarray[_Any, _np.dtype[_Any]]], values: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], accumulate: _builtins.bool = False) -> Tensor:
        """A copy with values written, or added, at an index: a tuple with an integer or bool tensor for each axis."""
    @_overload
    def index_reduce(self, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], source: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], reduce: str, *, include_self: _builtins.bool = True) -> Tensor:
        """A copy with the prod, mean, amax or amin of the slices of `source` that `index` assigns to each position."""
    @_overload
    def index_reduce(self, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], source: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], reduce: str, *, include_self: _builtins.bool = True) -> Tensor:
        """A copy with the prod, mean, amax or amin of the slices of `source` that `index` assigns to each position."""
    @_overload
    def index_reduce_(self, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], source: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], reduce: str, *, include_self: _builtins.bool = True) -> Tensor:
        """A copy with the prod, mean, amax or amin of the slices of `source` that `index` assigns to each position."""
    @_overload
    def index_reduce_(self, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], source: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], reduce: str, *, include_self: _builtins.bool = True) -> Tensor:
        """A copy with the prod, mean, amax or amin of the slices of `source` that `index` assigns to each position."""
    @_overload
    def index_select(self, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]]) -> Tensor:
        """The slices along a dim selected by `index`, a vector."""
    @_overload
    def index_select(self, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]]) -> Tensor:
        """The slices along a dim selected by `index`, a vector."""
    def indices(self) -> Tensor:
        """The indices of the nonzero elements, one per column; for a tensor created from indices, those."""
    def inner(self, other: Tensor) -> Tensor:
        """The sums of products along the last axes of two tensors, for all pairs; with a number, the product."""
    def int(self, memory_format: object = None) -> Tensor:
        """This tensor in int32; itself if it has that dtype."""
    interpreter: _Any
    def inverse(self) -> Tensor:
        """The inverse of square matrices; LinAlgError for one that has none."""
    def is_coalesced(self) -> _builtins.bool:
        """True: a dense tensor has one value per index, in order."""
    def is_complex(self) -> _builtins.bool:
        """True if the dtype is complex."""
    def is_conj(self) -> _builtins.bool:
        """False: conjugation is never lazy here."""
    def is_contiguous(self, memory_format: _memory_format | None = None) -> _builtins.bool:
        """True if the elements are contiguous in the given memory format."""
    is_cpu: _builtins.bool
    is_cuda: _builtins.bool
    def is_floating_point(self) -> _builtins.bool:
        """True if the dtype is a real floating-point dtype."""
    def is_inference(self) -> _builtins.bool:
        """True if the tensor was created under inference_mode."""
    is_mkldnn: _builtins.bool
    is_mps: _builtins.bool
    def is_neg(self) -> _builtins.bool:
        """False: negation is never lazy here."""
    is_nested: _builtins.bool
    def is_nonzero(self) -> _builtins.bool:
        """True if the only element is not zero."""
    def is_pinned(self, device: _device | str | _builtins.int | None = None) -> _builtins.bool:
        """False: there is no device for which memory could be pinned."""
    is_quantized: _builtins.bool
    def is_same_size(self, other: Tensor) -> _builtins.bool:
        """True if two tensors have the same shape."""
    def is_shared(self) -> _builtins.bool:
        """True if the elements are in memory created by `share_memory_`."""
    def is_signed(self) -> _builtins.bool:
        """True if the dtype has negative numbers."""
    is_sparse: _builtins.bool
    is_xpu: _builtins.bool
    def isclose(self, other: _TensorLike, rtol: _builtins.float = 1e-05, atol: _builtins.float = 1e-08, equal_nan: _builtins.bool = False) -> Tensor:
        """True where abs(input - other) is at most atol + rtol * abs(other); both must have one dtype."""
    def isfinite(self) -> Tensor:
        """Where the input is neither NaN nor infinite."""
    def isin(self, test_elements: _TensorLike, *, assume_unique: _builtins.bool = False, invert: _builtins.bool = False) -> Tensor:
        """True where the elements are among the test elements, or with `invert` are not; one of the two may be a number."""
    def isinf(self) -> Tensor:
        """Where the input is inf or -inf."""
    def isnan(self) -> Tensor:
        """Where the input is NaN."""
    def isneginf(self) -> Tensor:
        """Where the input is -inf."""
    def isposinf(self) -> Tensor:
        """Where the input is inf."""
    def isreal(self) -> Tensor:
        """True where the imaginary part is 0: everywhere in a real tensor."""
    def istft(self, n_fft: _builtins.int, hop_length: _builtins.int | None = None, win_length: _builtins.int | None = None, window: Tensor | None = None, center: _builtins.bool = True, normalized: _builtins.bool = False, onesided: _builtins.bool | None = None, length: _builtins.int | None = None, return_complex: _builtins.bool = False) -> Tensor:
        """The inverse of `stft`: the signals whose frames have these spectra, in the least-squares sense."""
    def item(self) -> _builtins.int | _builtins.float:
        """The only element, as a Python number."""
    def kron(self, other: Tensor) -> Tensor:
        """The Kronecker product: all products of an element of one tensor with one of the other, as blocks."""
    @_overload
    def kthvalue(self, k: _builtins.int, dim: _builtins.int = -1, keepdim: _builtins.bool = False) -> _Selection:
        """The k-th smallest element along a dim, k from 1, and its index: (values, indices)."""
    @_overload
    def kthvalue(self, k: _builtins.int, axis: _builtins.int = -1, keepdims: _builtins.bool = False) -> _Selection:
        """The k-th smallest element along a dim, k from 1, and its index: (values, indices)."""
    def lcm(self, other: _TensorLike) -> Tensor:
        """The least common multiple of integers."""
    def lcm_(self, other: _TensorLike) -> Tensor:
        """The least common multiple of integers."""
    def ldexp(self, other: _TensorLike) -> Tensor:
        """input * 2**other."""
    def ldexp_(self, other: _TensorLike) -> Tensor:
        """input * 2**other."""
    def le(self, other: _TensorLike) -> Tensor:
        """Where input <= other."""
    def le_(self, other: _TensorLike) -> Tensor:
        """Where input <= other."""
    def lerp(self, end: _TensorLike, weight: Tensor | _builtins.float) -> Tensor:
        """input + weight * (end - input): the input at weight 0, the end at weight 1."""
    def lerp_(self, end: _TensorLike, weight: Tensor | _builtins.float) -> Tensor:
        """input + weight * (end - input): the input at weight 0, the end at weight 1."""
    def less(self, other: _TensorLike) -> Tensor:
        """Where input < other."""
    def less_(self, other: _TensorLike) -> Tensor:
        """Where input < other."""
    def less_equal(self, other: _TensorLike) -> Tensor:
        """Where input <= other."""
    def less_equal_(self, other: _TensorLike) -> Tensor:
        """Where input <= other."""
    level: _builtins.int
    def lgamma(self) -> Tensor:
        """The logarithm of the absolute value of the gamma function."""
    def lgamma_(self) -> Tensor:
        """The logarithm of the absolute value of the gamma function."""
    def log(self) -> Tensor:
        """The natural logarithm, elementwise; -inf at 0, NaN below."""
    def log10(self) -> Tensor:
        """The logarithm to base 10, elementwise."""
    def log10_(self) -> Tensor:
        """The logarithm to base 10, elementwise."""
    def log1p(self) -> Tensor:
        """log(1 + input), exact for small inputs."""
    def log1p_(self) -> Tensor:
        """log(1 + input), exact for small inputs."""
    def log2(self) -> Tensor:
        """The logarithm to base 2, elementwise."""
    def log2_(self) -> Tensor:
        """The logarithm to base 2, elementwise."""
    def log_(self) -> Tensor:
        """The natural logarithm, elementwise; -inf at 0, NaN below."""
    def log_normal_(self, mean: _builtins.float = 1, std: _builtins.float = 2, *, generator: _Generator | None = None) -> Tensor:
        """Samples of a log-normal distribution, whose logarithms have this mean and standard deviation."""
    def log_softmax(self, dim: _builtins.int | None = None, dtype: _DType | None = None, *, axis: _builtins.int | None = None) -> Tensor:
        """The logarithm of softmax along a dim, without overflow."""
    def logaddexp(self, other: _TensorLike) -> Tensor:
        """log(exp(input) + exp(other)), without overflow."""
    def logaddexp2(self, other: _TensorLike) -> Tensor:
        """log2(2**input + 2**other), without overflow."""
    @_overload
    def logcumsumexp(self, dim: _builtins.int) -> Tensor:
        """log(cumsum(exp(input))) along a dim, without overflow."""
    @_overload
    def logcumsumexp(self, axis: _builtins.int) -> Tensor:
        """log(cumsum(exp(input))) along a dim, without overflow."""
    def logdet(self) -> Tensor:
        """The logarithm of the determinant; NaN where it is negative, -inf where it is 0."""
    def logical_and(self, other: _TensorLike) -> Tensor:
        """Where both inputs are nonzero."""
    def logical_and_(self, other: _TensorLike) -> Tensor:
        """Where both inputs are nonzero."""
    def logical_not(self) -> Tensor:
        """Where the input is zero."""
    def logical_not_(self) -> Tensor:
        """Where the input is zero."""
    def logical_or(self, other: _TensorLike) -> Tensor:
        """Where an input is nonzero."""
    def logical_or_(self, other: _TensorLike) -> Tensor:
        """Where an input is nonzero."""
    def logical_xor(self, other: _TensorLike) -> Tensor:
        """Where exactly one input is nonzero."""
    def logical_xor_(self, other: _TensorLike) -> Tensor:
        """Where exactly one input is nonzero."""
    def logit(self, eps: _builtins.float | None = None) -> Tensor:
        """log(input / (1 - input)), the inverse of sigmoid; `eps` clamps the input to [eps, 1 - eps]."""
    def logit_(self, eps: _builtins.float | None = None) -> Tensor:
        """log(input / (1 - input)), the inverse of sigmoid; `eps` clamps the input to [eps, 1 - eps]."""
    @_overload
    def logsumexp(self, dim: _builtins.int | _Sequence[_builtins.int] | None, keepdim: _builtins.bool = False, *, keepdims: _builtins.bool = False) -> Tensor:
        """log(sum(exp(input))) along axes, without overflow."""
    @_overload
    def logsumexp(self, axis: _builtins.int | _Sequence[_builtins.int] | None, keepdim: _builtins.bool = False, *, keepdims: _builtins.bool = False) -> Tensor:
        """log(sum(exp(input))) along axes, without overflow."""
    def long(self, memory_format: object = None) -> Tensor:
        """This tensor in int64; itself if it has that dtype."""
    def lt(self, other: _TensorLike) -> Tensor:
        """Where input < other."""
    def lt_(self, other: _TensorLike) -> Tensor:
        """Where input < other."""
    def lu(self, pivot: _builtins.bool = True, get_infos: _builtins.bool = False) -> _LUFactorResult | _LUFactorExResult:
        """L and U in one matrix, and the pivots; with `get_infos`, also which pivots are zero."""
    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
        """The X with A @ X = input from the result of `lu` for A."""
    def map_(self, tensor: Tensor, callable: _Callable[[_Any, _Any], _Number]) -> Tensor:
        """Apply a Python function to each pair of elements of this tensor and another, in place; slow."""
    def masked_fill(self, mask: Tensor, value: _TensorLike) -> Tensor:
        """A copy with a number, or a 0-d tensor, written where the mask is True."""
    def masked_fill_(self, mask: Tensor, value: _TensorLike) -> Tensor:
        """A copy with a number, or a 0-d tensor, written where the mask is True."""
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """A copy with the elements of `source`, in order, written where the mask is True."""
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Tensor:
        """A copy with the elements of `source`, in order, written where the mask is True."""
    def masked_select(self, mask: Tensor) -> Tensor:
        """The elements where the mask is True, along a single axis."""
    def matmul(self, other: Tensor | _np.ndarray[_Any, _np.dtype[_Any]]) -> Tensor:
        """input @ other: matrices, vectors, and batches of them, with broadcasting of the batch axes."""
    def matrix_exp(self) -> Tensor:
        """The exponential of square matrices: the sum of A^k / k! over k."""
    def matrix_power(self, n: _builtins.int) -> Tensor:
        """A square matrix multiplied by itself n times, or its inverse -n times."""
    @_overload
    def max(self) -> Tensor:
        """The largest element; with a dim, (values, indices) along it; with a tensor, the elementwise maximum."""
    @_overload
    def max(self, dim: _builtins.int, keepdim: _builtins.bool=False) -> _Selection:
        """The largest element; with a dim, (values, indices) along it; with a tensor, the elementwise maximum."""
    @_overload
    def max(self, axis: _builtins.int, keepdims: _builtins.bool=False) -> _Selection:
        """The largest element; with a dim, (values, indices) along it; with a tensor, the elementwise maximum."""
    @_overload
    def max(self, other: Tensor) -> Tensor:
        """The largest element; with a dim, (values, indices) along it; with a tensor, the elementwise maximum."""
    def maximum(self, other: _TensorLike) -> Tensor:
        """The larger of two tensors, elementwise; NaN wins, ties share the gradient."""
    def mean(self, dim: _builtins.int | _Sequence[_builtins.int] | None = None, keepdim: _builtins.bool = False, *, dtype: _DType | None = None, axis: _builtins.int | _Sequence[_builtins.int] | None = None, keepdims: _builtins.bool = False) -> Tensor:
        """The mean of all elements, or along axes; of floating or complex tensors only."""
    @_overload
    def median(self) -> Tensor:
        """The median, the lower one of an even number of elements; along a dim, (values, indices). NaN if any is NaN."""
    @_overload
    def median(self, dim: _builtins.int, keepdim: _builtins.bool=False) -> _Selection:
        """The median, the lower one of an even number of elements; along a dim, (values, indices). NaN if any is NaN."""
    @_overload
    def median(self, axis: _builtins.int, keepdims: _builtins.bool=False) -> _Selection:
        """The median, the lower one of an even number of elements; along a dim, (values, indices). NaN if any is NaN."""
    @_overload
    def min(self) -> Tensor:
        """The smallest element; with a dim, (values, indices) along it; with a tensor, the elementwise minimum."""
    @_overload
    def min(self, dim: _builtins.int, keepdim: _builtins.bool=False) -> _Selection:
        """The smallest element; with a dim, (values, indices) along it; with a tensor, the elementwise minimum."""
    @_overload
    def min(self, axis: _builtins.int, keepdims: _builtins.bool=False) -> _Selection:
        """The smallest element; with a dim, (values, indices) along it; with a tensor, the elementwise minimum."""
    @_overload
    def min(self, other: Tensor) -> Tensor:
        """The smallest element; with a dim, (values, indices) along it; with a tensor, the elementwise minimum."""
    def minimum(self, other: _TensorLike) -> Tensor:
        """The smaller of two tensors, elementwise; NaN wins, ties share the gradient."""
    def mm(self, mat2: Tensor) -> Tensor:
        """The product of two matrices."""
    @_overload
    def mode(self, dim: _builtins.int = -1, keepdim: _builtins.bool = False) -> _Selection:
        """The most frequent element along a dim, the smallest of several, and its index: (values, indices)."""
    @_overload
    def mode(self, axis: _builtins.int = -1, keepdims: _builtins.bool = False) -> _Selection:
        """The most frequent element along a dim, the smallest of several, and its index: (values, indices)."""
    def moveaxis(self, source: _builtins.int | _Sequence[_builtins.int], destination: _builtins.int | _Sequence[_builtins.int]) -> Tensor:
        """Axes moved to other positions; the others keep their order."""
    def movedim(self, source: _builtins.int | _Sequence[_builtins.int], destination: _builtins.int | _Sequence[_builtins.int]) -> Tensor:
        """Axes moved to other positions; the others keep their order; arguments as for `moveaxis`."""
    def msort(self) -> Tensor:
        """The elements sorted along the first dim."""
    def mul(self, other: _TensorLike) -> Tensor:
        """input * other, with broadcasting."""
    def mul_(self, other: _TensorLike) -> Tensor:
        """input * other, with broadcasting."""
    def multinomial(self, num_samples: _builtins.int, replacement: _builtins.bool = False, *, generator: _Generator | None = None) -> Tensor:
        """Indices drawn from each row of weights, with probabilities proportional to the weights."""
    def multiply(self, other: _TensorLike) -> Tensor:
        """input * other, with broadcasting."""
    def multiply_(self, other: _TensorLike) -> Tensor:
        """input * other, with broadcasting."""
    def mv(self, vec: Tensor) -> Tensor:
        """The product of a matrix and a vector."""
    def mvlgamma(self, p: _builtins.int) -> Tensor:
        """The logarithm of the multivariate gamma function of dimension p."""
    def mvlgamma_(self, p: _builtins.int) -> Tensor:
        """The logarithm of the multivariate gamma function of dimension p."""
    def nan_to_num(self, nan: _builtins.float | None = None, posinf: _builtins.float | None = None, neginf: _builtins.float | None = None) -> Tensor:
        """The input with NaN replaced by 0, and inf and -inf by the largest and smallest number, without gradient."""
    def nan_to_num_(self, nan: _builtins.float | None = None, posinf: _builtins.float | None = None, neginf: _builtins.float | None = None) -> Tensor:
        """The input with NaN replaced by 0, and inf and -inf by the largest and smallest number, without gradient."""
    @_overload
    def nanmean(self, dim: _builtins.int | _Sequence[_builtins.int] | None = None, keepdim: _builtins.bool = False, *, dtype: _DType | None = None) -> Tensor:
        """The mean of all elements that are not NaN, or along axes; of floating or complex tensors only."""
    @_overload
    def nanmean(self, axis: _builtins.int | _Sequence[_builtins.int] | None = None, keepdims: _builtins.bool = False, *, dtype: _DType | None = None) -> Tensor:
        """The mean of all elements that are not NaN, or along axes; of floating or complex tensors only."""
    @_overload
    def nanmedian(self) -> Tensor:
        """The median of the elements that are not NaN; arguments and results as those of `median`."""
    @_overload
    def nanmedian(self, dim: _builtins.int, keepdim: _builtins.bool=False) -> _Selection:
        """The median of the elements that are not NaN; arguments and results as those of `median`."""
    @_overload
    def nanmedian(self, axis: _builtins.int, keepdims: _builtins.bool=False) -> _Selection:
        """The median of the elements that are not NaN; arguments and results as those of `median`."""
    @_overload
    def nanquantile(self, q: Tensor | _builtins.float, dim: _builtins.int | None = None, keepdim: _builtins.bool = False, *, interpolation: str = 'linear') -> Tensor:
        """The quantiles of the elements that are not NaN; arguments and results as those of `quantile`."""
    @_overload
    def nanquantile(self, q: Tensor | _builtins.float, axis: _builtins.int | None = None, keepdims: _builtins.bool = False, *, interpolation: str = 'linear') -> Tensor:
        """The quantiles of the elements that are not NaN; arguments and results as those of `quantile`."""
    @_overload
    def nansum(self, dim: _builtins.int | _Sequence[_builtins.int] | None = None, keepdim: _builtins.bool = False, *, dtype: _DType | None = None) -> Tensor:
        """The sum of all elements that are not NaN, or along axes."""
    @_overload
    def nansum(self, axis: _builtins.int | _Sequence[_builtins.int] | None = None, keepdims: _builtins.bool = False, *, dtype: _DType | None = None) -> Tensor:
        """The sum of all elements that are not NaN, or along axes."""
    @_overload
    def narrow(self, dim: _builtins.int, start: _builtins.int | Tensor, length: _builtins.int) -> Tensor:
        """`length` slices of a tensor from a start index along a dim: a view."""
    @_overload
    def narrow(self, axis: _builtins.int, start: _builtins.int | Tensor, length: _builtins.int) -> Tensor:
        """`length` slices of a tensor from a start index along a dim: a view."""
    def ndimension(self) -> _builtins.int:
        """The number of axes."""
    def ne(self, other: _TensorLike) -> Tensor:
        """Where input != other."""
    def ne_(self, other: _TensorLike) -> Tensor:
        """Where input != other."""
    def neg(self) -> Tensor:
        """-input."""
    def neg_(self) -> Tensor:
        """-input."""
    def negative(self) -> Tensor:
        """-input."""
    def negative_(self) -> Tensor:
        """-input."""
    def nelement(self) -> _builtins.int:
        """The number of elements."""
    def new(self, *args: object, size: _builtins.int | _Sequence[_builtins.int] | None = None, device: _device | str | _builtins.int | None = None) -> Tensor:
        """A tensor in the dtype of this one: of sizes, with unset elements, or with the elements of a list, array or tensor."""
    def new_empty(self, *args: _Any, dtype: _DType | None = None, **options: _Any) -> Tensor:
        """Unset elements of a shape, in the dtype of this tensor."""
    def new_empty_strided(self, *args: _Any, dtype: _DType | None = None, **options: _Any) -> Tensor:
        """Unset elements of a shape and strides, in the dtype of this tensor."""
    def new_full(self, *args: _Any, dtype: _DType | None = None, **options: _Any) -> Tensor:
        """One value in a shape, in the dtype of this tensor."""
    def new_ones(self, *args: _Any, dtype: _DType | None = None, **options: _Any) -> Tensor:
        """Ones of a shape, in the dtype of this tensor."""
    def new_tensor(self, *args: _Any, dtype: _DType | None = None, **options: _Any) -> Tensor:
        """A new leaf tensor with a copy of data, in the dtype of this tensor."""
    def new_zeros(self, *args: _Any, dtype: _DType | None = None, **options: _Any) -> Tensor:
        """Zeros of a shape, in the dtype of this tensor."""
    def nextafter(self, other: _TensorLike) -> Tensor:
        """The next number after input in the direction of other."""
    def nextafter_(self, other: _TensorLike) -> Tensor:
        """The next number after input in the direction of other."""
    @_overload
    def nonzero(self, *, as_tuple: _Literal[False]=False) -> Tensor:
        """The indices of the nonzero elements: one row each, or one tensor per axis with `as_tuple`."""
    @_overload
    def nonzero(self, *, as_tuple: _Literal[True]) -> tuple[Tensor, ...]:
        """The indices of the nonzero elements: one row each, or one tensor per axis with `as_tuple`."""
    def nonzero_static(self, *, size: _builtins.int, fill_value: _builtins.int = -1) -> Tensor:
        """The indices of the first `size` nonzero elements, one per row; missing ones are filled with `fill_value`."""
    @_overload
    def norm(self, p: _builtins.float | str | None = 2, dim: _builtins.int | _Sequence[_builtins.int] | None = None, keepdim: _builtins.bool = False, *, dtype: _DType | None = None) -> Tensor:
        """The p-norm of all elements or along axes: p a number, inf, -inf or 'fro' (2); its slope at 0 is 0."""
    @_overload
    def norm(self, p: _builtins.float | str | None = 2, axis: _builtins.int | _Sequence[_builtins.int] | None = None, keepdims: _builtins.bool = False, *, dtype: _DType | None = None) -> Tensor:
        """The p-norm of all elements or along axes: p a number, inf, -inf or 'fro' (2); its slope at 0 is 0."""
    def normal_(self, mean: _builtins.float = 0, std: _builtins.float = 1, *, generator: _Generator | None = None) -> Tensor:
        """Samples of a normal distribution."""
    def not_equal(self, other: _TensorLike) -> Tensor:
        """Where input != other."""
    def not_equal_(self, other: _TensorLike) -> Tensor:
        """Where input != other."""
    def numel(self) -> _builtins.int:
        """The number of elements."""
    def numpy(self, *, force: _builtins.bool = False) -> _np.ndarray[_Any, _np.dtype[_Any]]:
        """The tensor's NumPy array, which shares its memory."""
    def orgqr(self, tau: Tensor) -> Tensor:
        """The leading columns of a product of Householder reflections: Q, from the result of `geqrf`."""
    def ormqr(self, tau: Tensor, other: Tensor, left: _builtins.bool = True, transpose: _builtins.bool = False) -> Tensor:
        """Q @ other for the square Q of `geqrf`; other @ Q if not `left`; with Q.mH instead of Q if `transpose`."""
    def outer(self, vec2: Tensor | _np.ndarray[_Any, _np.dtype[_Any]]) -> Tensor:
        """All products of an element of one vector with an element of another."""
    def permute(self, *axes: _builtins.int | _Sequence[_builtins.int], dims: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
        """The axes in another order."""
    def pin_memory(self, device: _device | str | _builtins.int | None = None) -> Tensor:
        """Refused: there is no device for which memory could be pinned."""
    def pinverse(self, rcond: _builtins.float = 1e-15) -> Tensor:
        """The pseudoinverse; singular values up to rcond times the largest count as zero."""
    def poisson(self, generator: _Generator | None = None) -> Tensor:
        """Samples of Poisson distributions, with each element as the rate."""
    def polygamma(self, n: _builtins.int) -> Tensor:
        """The n-th derivative of digamma, n >= 0."""
    def polygamma_(self, n: _builtins.int) -> Tensor:
        """The n-th derivative of digamma, n >= 0."""
    def positive(self) -> Tensor:
        """The input itself."""
    def pow(self, exponent: _TensorLike) -> Tensor:
        """input ** exponent, elementwise."""
    def pow_(self, exponent: _TensorLike) -> Tensor:
        """input ** exponent, elementwise."""
    def prelu(self, weight: Tensor) -> Tensor:
        """The input above 0, elsewhere weight times it; a weight for all elements or for each channel (axis 1)."""
    def prod(self, dim: _builtins.int | None = None, keepdim: _builtins.bool = False, *, dtype: _DType | None = None, axis: _builtins.int | None = None, keepdims: _builtins.bool = False) -> Tensor:
        """The product of all elements, or along an axis; integers and bools are multiplied as int64."""
    def put(self, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], source: Tensor, accumulate: _builtins.bool = False) -> Tensor:
        """A copy in which the elements of `source` replace, or are added to, those of the flattened tensor at `index`."""
    def put_(self, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], source: Tensor, accumulate: _builtins.bool = False) -> Tensor:
        """A copy in which the elements of `source` replace, or are added to, those of the flattened tensor at `index`."""
    def qr(self, some: _builtins.bool = True) -> _QRResult:
        """Q and R with input = Q @ R; Q is square unless `some`."""
    @_overload
    def quantile(self, q: Tensor | _builtins.float, dim: _builtins.int | None = None, keepdim: _builtins.bool = False, *, interpolation: str = 'linear') -> Tensor:
        """The quantiles for fractions q, of all elements or along a dim; NaN if any element is."""
    @_overload
    def quantile(self, q: Tensor | _builtins.float, axis: _builtins.int | None = None, keepdims: _builtins.bool = False, *, interpolation: str = 'linear') -> Tensor:
        """The quantiles for fractions q, of all elements or along a dim; NaN if any element is."""
    def rad2deg(self) -> Tensor:
        """Radians as degrees."""
    def rad2deg_(self) -> Tensor:
        """Radians as degrees."""
    def random_(self, start: _Number | None = None, to: _Any = ..., *, generator: _Generator | None = None) -> Tensor:
        """Uniformly distributed integers in [start, to), [0, to), or the range of consecutive integers of the dtype."""
    def ravel(self, order: str = 'C') -> Tensor:
        """All elements along one axis, contiguous in memory; with order 'F' the first index changes fastest, as in NumPy."""
    def reciprocal(self) -> Tensor:
        """1 / input, elementwise."""
    def reciprocal_(self) -> Tensor:
        """1 / input, elementwise."""
    def register_hook(self, hook: _Callable[[Tensor], Tensor | None]) -> _RemovableHandle:
        """Call `hook(grad)` when this tensor's gradient is computed; a tensor that it returns replaces the gradient."""
    def register_post_accumulate_grad_hook(self, hook: _Callable[[Tensor], object]) -> _RemovableHandle:
        """Call `hook(tensor)` after a pass has updated this leaf's `.grad`."""
    def relu(self) -> Tensor:
        """max(input, 0), elementwise; its slope at 0 is 0."""
    def relu_(self) -> Tensor:
        """max(input, 0), elementwise; its slope at 0 is 0."""
    def remainder(self, other: _TensorLike) -> Tensor:
        """The remainder of floor division by other; it has the sign of other."""
    def remainder_(self, other: _TensorLike) -> Tensor:
        """The remainder of floor division by other; it has the sign of other."""
    @_overload
    def renorm(self, p: _builtins.float, dim: _builtins.int, maxnorm: _builtins.float) -> Tensor:
        """The input with slices along a dim scaled down to the p-norm maxnorm if theirs is larger."""
    @_overload
    def renorm(self, p: _builtins.float, axis: _builtins.int, maxnorm: _builtins.float) -> Tensor:
        """The input with slices along a dim scaled down to the p-norm maxnorm if theirs is larger."""
    @_overload
    def renorm_(self, p: _builtins.float, dim: _builtins.int, maxnorm: _builtins.float) -> Tensor:
        """The input with slices along a dim scaled down to the p-norm maxnorm if theirs is larger."""
    @_overload
    def renorm_(self, p: _builtins.float, axis: _builtins.int, maxnorm: _builtins.float) -> Tensor:
        """The input with slices along a dim scaled down to the p-norm maxnorm if theirs is larger."""
    def repeat(self, *times: _builtins.int | _Sequence[_builtins.int], repeats: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
        """Copies side by side, a number for each axis; axes are added in front if there are more numbers."""
    @_overload
    def repeat_interleave(self, repeats: Tensor | _builtins.int | None = None, dim: _builtins.int | None = None, *, output_size: _builtins.int | None = None) -> Tensor:
        """Each element repeated along an axis, or in flat order if none is given, as often as `repeats` says."""
    @_overload
    def repeat_interleave(self, repeats: Tensor | _builtins.int | None = None, axis: _builtins.int | None = None, *, output_size: _builtins.int | None = None) -> Tensor:
        """Each element repeated along an axis, or in flat order if none is given, as often as `repeats` says."""
    def requires_grad_(self, requires_grad: _builtins.bool = True) -> Tensor:
        """Start (or stop) recording operations on this leaf, in place."""
    def reshape(self, *sizes: _builtins.int | _Sequence[_builtins.int], shape: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
        """The same elements in another shape, one entry of which may be -1; a view if the strides allow it."""
    def reshape_as(self, other: Tensor) -> Tensor:
        """input.reshape(other.shape)."""
    def resize(self, *sizes: _builtins.int | _Sequence[_builtins.int]) -> Tensor:
        """The elements in another shape, with a warning: the old name of `reshape`, for the same number of elements."""
    def resize_(self, *sizes: _builtins.int | _Sequence[_builtins.int], size: _builtins.int | _Sequence[_builtins.int] | None = None, memory_format: object = None) -> Tensor:
        """In place: another shape for the elements, in memory order; elements that are added are not initializ"""
    def resize_as(self, tensor: Tensor) -> Tensor:
        """The elements in the shape of another tensor, with a warning: the old name of `reshape_as`."""
    def resize_as_(self, the_template: Tensor, *, memory_format: object = None) -> Tensor:
        """In place: `resize_` to the shape of another tensor."""
    def resolve_conj(self) -> Tensor:
        """The tensor itself: conjugation is never lazy here."""
    def resolve_neg(self) -> Tensor:
        """The tensor itself: negation is never lazy here."""
    def retain_grad(self) -> None:
        """Make passes store this tensor's gradient in `.grad`, although it is not a leaf."""
    @_overload
    def roll(self, shifts: _builtins.int | _Sequence[_builtins.int], dims: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
        """A copy with the elements rolled along axes, from the end to the beginning; without axes, in flat order."""
    @_overload
    def roll(self, shifts: _builtins.int | _Sequence[_builtins.int], axes: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
        """A copy with the elements rolled along axes, from the end to the beginning; without axes, in flat order."""
    @_overload
    def rot90(self, k: _builtins.int = 1, dims: _Sequence[_builtins.int] = ...) -> Tensor:
        """A copy rotated k times by 90 degrees, from the first of two axes towards the second."""
    @_overload
    def rot90(self, k: _builtins.int = 1, axes: _Sequence[_builtins.int] = ...) -> Tensor:
        """A copy rotated k times by 90 degrees, from the first of two axes towards the second."""
    def round(self, *, decimals: _builtins.int = 0) -> Tensor:
        """The nearest integer, halves to even, or the nearest number with `decimals` decimals; its gradient is 0."""
    def round_(self, *, decimals: _builtins.int = 0) -> Tensor:
        """The nearest integer, halves to even, or the nearest number with `decimals` decimals; its gradient is 0."""
    def rsqrt(self) -> Tensor:
        """1 / sqrt(input), elementwise; -inf slope at 0."""
    def rsqrt_(self) -> Tensor:
        """1 / sqrt(input), elementwise; -inf slope at 0."""
    @_overload
    def scatter(self, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], src: Tensor | _Number | None = None, *, value: _Number | None = None, reduce: str | None = None) -> Tensor:
        """A copy in which the elements along a dim selected by `index` are those of `src`, or one number."""
    @_overload
    def scatter(self, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], src: Tensor | _Number | None = None, *, value: _Number | None = None, reduce: str | None = None) -> Tensor:
        """A copy in which the elements along a dim selected by `index` are those of `src`, or one number."""
    @_overload
    def scatter_(self, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], src: Tensor | _Number | None = None, *, value: _Number | None = None, reduce: str | None = None) -> Tensor:
        """A copy in which the elements along a dim selected by `index` are those of `src`, or one number."""
    @_overload
    def scatter_(self, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], src: Tensor | _Number | None = None, *, value: _Number | None = None, reduce: str | None = None) -> Tensor:
        """A copy in which the elements along a dim selected by `index` are those of `src`, or one number."""
    @_overload
    def scatter_add(self, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], src: Tensor) -> Tensor:
        """A copy in which the elements of `src` are added to those along a dim selected by `index`."""
    @_overload
    def scatter_add(self, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], src: Tensor) -> Tensor:
        """A copy in which the elements of `src` are added to those along a dim selected by `index`."""
    @_overload
    def scatter_add_(self, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], src: Tensor) -> Tensor:
        """A copy in which the elements of `src` are added to those along a dim selected by `index`."""
    @_overload
    def scatter_add_(self, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], src: Tensor) -> Tensor:
        """A copy in which the elements of `src` are added to those along a dim selected by `index`."""
    @_overload
    def scatter_reduce(self, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], src: Tensor, reduce: str, *, include_self: _builtins.bool = True) -> Tensor:
        """A copy with the sum, prod, mean, amax or amin of the elements of `src` that `index` assigns to each position."""
    @_overload
    def scatter_reduce(self, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], src: Tensor, reduce: str, *, include_self: _builtins.bool = True) -> Tensor:
        """A copy with the sum, prod, mean, amax or amin of the elements of `src` that `index` assigns to each position."""
    @_overload
    def scatter_reduce_(self, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], src: Tensor, reduce: str, *, include_self: _builtins.bool = True) -> Tensor:
        """A copy with the sum, prod, mean, amax or amin of the elements of `src` that `index` assigns to each position."""
    @_overload
    def scatter_reduce_(self, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], src: Tensor, reduce: str, *, include_self: _builtins.bool = True) -> Tensor:
        """A copy with the sum, prod, mean, amax or amin of the elements of `src` that `index` assigns to each position."""
    @_overload
    def select(self, dim: _builtins.int, index: _builtins.int) -> Tensor:
        """The slice of a tensor at an index along a dim: a view."""
    @_overload
    def select(self, axis: _builtins.int, index: _builtins.int) -> Tensor:
        """The slice of a tensor at an index along a dim: a view."""
    @_overload
    def select_scatter(self, src: Tensor, dim: _builtins.int, index: _builtins.int) -> Tensor:
        """A copy whose slice at an index along a dim is `src`."""
    @_overload
    def select_scatter(self, src: Tensor, axis: _builtins.int, index: _builtins.int) -> Tensor:
        """A copy whose slice at an index along a dim is `src`."""
    def set_(self, source: _UntypedStorage | _TypedStorage | Tensor | None = None, storage_offset: _builtins.int = 0, size: _builtins.int | _Sequence[_builtins.int] | None = None, stride: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
        """Make the tensor use the memory of another tensor or a storage, from an element on; without a source, no memory."""
    def sgn(self) -> Tensor:
        """input / abs(input), for complex numbers too; 0 at 0."""
    def sgn_(self) -> Tensor:
        """input / abs(input), for complex numbers too; 0 at 0."""
    def share_memory_(self) -> Tensor:
        """Move the elements, in place, to memory shared with the processes that are started with this tensor."""
    def short(self, memory_format: object = None) -> Tensor:
        """This tensor in int16; itself if it has that dtype."""
    def sigmoid(self) -> Tensor:
        """1 / (1 + exp(-input)), elementwise."""
    def sigmoid_(self) -> Tensor:
        """1 / (1 + exp(-input)), elementwise."""
    def sign(self) -> Tensor:
        """-1, 0 or 1, elementwise; its gradient is 0."""
    def sign_(self) -> Tensor:
        """-1, 0 or 1, elementwise; its gradient is 0."""
    def signbit(self) -> Tensor:
        """Where the sign bit is set: negative numbers and -0."""
    def sin(self) -> Tensor:
        """The sine, elementwise."""
    def sin_(self) -> Tensor:
        """The sine, elementwise."""
    def sinc(self) -> Tensor:
        """sin(pi * input) / (pi * input), elementwise; 1 at 0."""
    def sinc_(self) -> Tensor:
        """sin(pi * input) / (pi * input), elementwise; 1 at 0."""
    def sinh(self) -> Tensor:
        """The hyperbolic sine, elementwise."""
    def sinh_(self) -> Tensor:
        """The hyperbolic sine, elementwise."""
    @_overload
    def slice_scatter(self, src: Tensor, dim: _builtins.int = 0, start: _builtins.int | None = None, end: _builtins.int | None = None, step: _builtins.int = 1) -> Tensor:
        """A copy whose slices from `start` to `end` along a dim are those of `src`."""
    @_overload
    def slice_scatter(self, src: Tensor, axis: _builtins.int = 0, start: _builtins.int | None = None, end: _builtins.int | None = None, step: _builtins.int = 1) -> Tensor:
        """A copy whose slices from `start` to `end` along a dim are those of `src`."""
    def slogdet(self) -> _SlogdetResult:
        """The sign of the determinant, or its phase if it is complex, and the logarithm of its absolute value."""
    def softmax(self, dim: _builtins.int | None = None, dtype: _DType | None = None, *, axis: _builtins.int | None = None) -> Tensor:
        """exp(input) divided by its sum along a dim."""
    @_overload
    def sort(self, dim: _builtins.int = -1, descending: _builtins.bool = False, stable: _builtins.bool = False) -> _Selection:
        """The sorted elements along a dim, and their original indices: (values, indices); indices as from `argsort`."""
    @_overload
    def sort(self, axis: _builtins.int = -1, descending: _builtins.bool = False, stable: _builtins.bool = False) -> _Selection:
        """The sorted elements along a dim, and their original indices: (values, indices); indices as from `argsort`."""
    def sparse_mask(self, mask: Tensor) -> Tensor:
        """This tensor where `mask` has elements, and zero elsewhere."""
    @_overload
    def split(self, split_size_or_sections: _builtins.int | _Sequence[_builtins.int] | None = None, dim: _builtins.int = 0, *, split_size: _builtins.int | _Sequence[_builtins.int] | None = None) -> tuple[Tensor, ...]:
        """Consecutive parts along an axis: of one size (the last may be smaller), or of the given sizes."""
    @_overload
    def split(self, split_size_or_sections: _builtins.int | _Sequence[_builtins.int] | None = None, axis: _builtins.int = 0, *, split_size: _builtins.int | _Sequence[_builtins.int] | None = None) -> tuple[Tensor, ...]:
        """Consecutive parts along an axis: of one size (the last may be smaller), or of the given sizes."""
    @_overload
    def split_with_sizes(self, split_sizes: _Sequence[_builtins.int], dim: _builtins.int = 0) -> tuple[Tensor, ...]:
        """Consecutive pieces of given sizes along an axis, as views."""
    @_overload
    def split_with_sizes(self, split_sizes: _Sequence[_builtins.int], axis: _builtins.int = 0) -> tuple[Tensor, ...]:
        """Consecutive pieces of given sizes along an axis, as views."""
    def sqrt(self) -> Tensor:
        """The square root, elementwise; its slope at 0 is inf."""
    def sqrt_(self) -> Tensor:
        """The square root, elementwise; its slope at 0 is inf."""
    def square(self) -> Tensor:
        """input * input."""
    def square_(self) -> Tensor:
        """input * input."""
    def squeeze(self, dim: _builtins.int | _Sequence[_builtins.int] | None = None, *, axis: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
        """A view without its axes of length 1, or without those of the given axes that have length 1."""
    def squeeze_(self, *args: _Any, **options: _Any) -> Tensor:
        """In place: A view without its axes of length 1, or without those of the given axes that have length 1"""
    @_overload
    def std(self, dim: _builtins.int | _Sequence[_builtins.int] | None | _builtins.bool = None, unbiased: _builtins.bool | None = None, keepdim: _builtins.bool = False, **options: _Any) -> Tensor:
        """The standard deviation: the square root of `var`, with its arguments; the slope at 0 is 0."""
    @_overload
    def std(self, axis: _builtins.int | _Sequence[_builtins.int] | None | _builtins.bool = None, unbiased: _builtins.bool | None = None, keepdims: _builtins.bool = False, **options: _Any) -> Tensor:
        """The standard deviation: the square root of `var`, with its arguments; the slope at 0 is 0."""
    def stft(self, n_fft: _builtins.int, hop_length: _builtins.int | None = None, win_length: _builtins.int | None = None, window: Tensor | None = None, center: _builtins.bool = True, pad_mode: str = 'reflect', normalized: _builtins.bool = False, onesided: _builtins.bool | None = None, return_complex: _builtins.bool | None = None, align_to_window: _builtins.bool | None = None) -> Tensor:
        """The Fourier transforms of overlapping frames of signals, of shape (..., frequency, frame)."""
    def storage(self) -> _TypedStorage:
        """The memory of the tensor, shared by all views of the same base, as elements."""
    def storage_offset(self) -> _builtins.int:
        """The index of this tensor's first element in its storage."""
    @_overload
    def stride(self) -> tuple[_builtins.int, ...]:
        """The number of elements between neighbors along each axis, or along one."""
    @_overload
    def stride(self, dim: _builtins.int) -> _builtins.int:
        """The number of elements between neighbors along each axis, or along one."""
    @_overload
    def stride(self, axis: _builtins.int) -> _builtins.int:
        """The number of elements between neighbors along each axis, or along one."""
    def sub(self, other: _TensorLike, *rest: _Any, alpha: _Number = 1) -> Tensor:
        """input - alpha * other, with broadcasting."""
    def sub_(self, other: _TensorLike, *rest: _Any, alpha: _Number = 1) -> Tensor:
        """input - alpha * other, with broadcasting."""
    def subtract(self, other: _TensorLike, *rest: _Any, alpha: _Number = 1) -> Tensor:
        """input - alpha * other, with broadcasting."""
    def subtract_(self, other: _TensorLike, *rest: _Any, alpha: _Number = 1) -> Tensor:
        """input - alpha * other, with broadcasting."""
    def sum(self, dim: _builtins.int | _Sequence[_builtins.int] | None = None, keepdim: _builtins.bool = False, *, dtype: _DType | None = None, axis: _builtins.int | _Sequence[_builtins.int] | None = None, keepdims: _builtins.bool = False) -> Tensor:
        """The sum of all elements, or along axes; integers and bools are summed as int64."""
    def sum_to_size(self, *sizes: _builtins.int | _Sequence[_builtins.int], size: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
        """The sum over broadcast axes: the transpose of expanding from a size to the input's."""
    def svd(self, some: _builtins.bool = True, compute_uv: _builtins.bool = True) -> _SingularResult:
        """U, the singular values S, descending, and V, with input = U @ diag(S) @ V.mH; square U and V unless `some`."""
    def swapaxes(self, axis0: _builtins.int, axis1: _builtins.int) -> Tensor:
        """Two axes exchanged."""
    def swapaxes_(self, *args: _Any, **options: _Any) -> Tensor:
        """In place: Two axes exchanged."""
    def swapdims(self, dim0: _builtins.int, dim1: _builtins.int) -> Tensor:
        """Two axes exchanged."""
    def swapdims_(self, *args: _Any, **options: _Any) -> Tensor:
        """In place: Two axes exchanged."""
    def t(self) -> Tensor:
        """The transpose of a matrix; a tensor with fewer axes is returned unchanged."""
    def t_(self, *args: _Any, **options: _Any) -> Tensor:
        """In place: The transpose of a matrix; a tensor with fewer axes is returned unchanged."""
    def take(self, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]]) -> Tensor:
        """The elements of the flattened tensor selected by `index`, in the shape of `index`."""
    def take_along_dim(self, indices: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], dim: _builtins.int | None = None, *, axis: _builtins.int | None = None) -> Tensor:
        """The elements along a dim selected by `indices`, with other axes broadcast; of the flattened tensor without a dim."""
    def tan(self) -> Tensor:
        """The tangent, elementwise."""
    def tan_(self) -> Tensor:
        """The tangent, elementwise."""
    def tanh(self) -> Tensor:
        """The hyperbolic tangent, elementwise."""
    def tanh_(self) -> Tensor:
        """The hyperbolic tangent, elementwise."""
    @_overload
    def tensor_split(self, indices_or_sections: _builtins.int | _Sequence[_builtins.int] | Tensor | None = None, dim: _builtins.int = 0, *, indices: _Sequence[_builtins.int] | Tensor | None = None) -> tuple[Tensor, ...]:
        """Parts along an axis, as views: a number of parts of nearly equal size, or those between given indices."""
    @_overload
    def tensor_split(self, indices_or_sections: _builtins.int | _Sequence[_builtins.int] | Tensor | None = None, axis: _builtins.int = 0, *, indices: _Sequence[_builtins.int] | Tensor | None = None) -> tuple[Tensor, ...]:
        """Parts along an axis, as views: a number of parts of nearly equal size, or those between given indices."""
    @_overload
    def tile(self, *counts: _builtins.int | _Sequence[_builtins.int], dims: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
        """Copies side by side, a number for each of the last axes, one along the axes before."""
    @_overload
    def tile(self, *counts: _builtins.int | _Sequence[_builtins.int], axes: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
        """Copies side by side, a number for each of the last axes, one along the axes before."""
    def to(self, *args: _DType | Tensor | (_device | str | _builtins.int) | None, dtype: _DType | None = None, copy: _builtins.bool = False, **options: object) -> _Self:
        """This tensor converted to another dtype (or to another tensor's dtype); itself if nothing changes."""
    def to_dense(self, dtype: _DType | None = None, *, masked_grad: object = None) -> Tensor:
        """This tensor, converted to another dtype if one is given: all tensors are dense."""
    def to_device(self, device: _device | str | _builtins.int, /, *, stream: None = None) -> _Self:
        """This tensor, which is on the CPU already; other devices raise RuntimeError."""
    def to_sparse(self, sparse_dim: object = None, *, layout: object = None, blocksize: object = None, dense_dim: object = None) -> Tensor:
        """This tensor, which stays dense; its zeros get no gradient, as in torch for unspecified elements."""
    def to_sparse_coo(self, dense_dim: object = None) -> Tensor:
        """This tensor, which stays dense; the same as `to_sparse`."""
    def to_sparse_csc(self, dense_dim: object = None) -> Tensor:
        """This tensor, which stays dense; the same as `to_sparse`."""
    def to_sparse_csr(self, dense_dim: object = None) -> Tensor:
        """This tensor, which stays dense; the same as `to_sparse`."""
    def tolist(self) -> _Any:
        """The elements as nested lists of Python numbers; a number for a 0-d tensor."""
    @_overload
    def topk(self, k: _builtins.int, dim: _builtins.int = -1, largest: _builtins.bool = True, sorted: _builtins.bool = True) -> _Selection:
        """The k largest (or smallest) elements along a dim, in order, and their indices: (values, indices)."""
    @_overload
    def topk(self, k: _builtins.int, axis: _builtins.int = -1, largest: _builtins.bool = True, sorted: _builtins.bool = True) -> _Selection:
        """The k largest (or smallest) elements along a dim, in order, and their indices: (values, indices)."""
    def trace(self) -> Tensor:
        """The sum of the diagonal of a matrix."""
    def transpose(self, *dims: _builtins.int, dim0: _builtins.int | None = None, dim1: _builtins.int | None = None) -> Tensor:
        """Two axes exchanged; with no axes, or all of them, NumPy's transpose."""
    def transpose_(self, *args: _Any, **options: _Any) -> Tensor:
        """In place: Two axes exchanged; with no axes, or all of them, NumPy's transpose."""
    def triangular_solve(self, A: Tensor, upper: _builtins.bool = True, transpose: _builtins.bool = False, unitriangular: _builtins.bool = False) -> _TriangularSolveResult:
        """The X with A @ X = input for a triangular A, or A.mT @ X = input with `transpose`, and a copy of A."""
    def tril(self, diagonal: _builtins.int = 0) -> Tensor:
        """The lower triangle of matrices, up to a diagonal; zeros elsewhere."""
    def tril_(self, diagonal: _builtins.int = 0) -> Tensor:
        """The lower triangle of matrices, up to a diagonal; zeros elsewhere."""
    def triu(self, diagonal: _builtins.int = 0) -> Tensor:
        """The upper triangle of matrices, from a diagonal on; zeros elsewhere."""
    def triu_(self, diagonal: _builtins.int = 0) -> Tensor:
        """The upper triangle of matrices, from a diagonal on; zeros elsewhere."""
    def true_divide(self, other: _TensorLike, *, rounding_mode: str | None = None) -> Tensor:
        """input / other; integers give the default dtype; `rounding_mode` is None, 'trunc' or 'floor'."""
    def true_divide_(self, other: _TensorLike, *, rounding_mode: str | None = None) -> Tensor:
        """input / other; integers give the default dtype; `rounding_mode` is None, 'trunc' or 'floor'."""
    def trunc(self) -> Tensor:
        """The integer towards zero, elementwise; its gradient is 0."""
    def trunc_(self) -> Tensor:
        """The integer towards zero, elementwise; its gradient is 0."""
    @_overload
    def type(self) -> str:
        """The name of this tensor's type, or the tensor converted to another dtype or old tensor type."""
    @_overload
    def type(self, dtype: _DType | _builtins.type[Tensor], non_blocking: _builtins.bool=False) -> Tensor:
        """The name of this tensor's type, or the tensor converted to another dtype or old tensor type."""
    def type_as(self, other: Tensor) -> _Self:
        """This tensor in the dtype of another."""
    @_overload
    def unbind(self, dim: _builtins.int = 0) -> tuple[Tensor, ...]:
        """The slices along an axis, as views with a common node."""
    @_overload
    def unbind(self, axis: _builtins.int = 0) -> tuple[Tensor, ...]:
        """The slices along an axis, as views with a common node."""
    @_overload
    def unflatten(self, dim: _builtins.int, sizes: _builtins.int | _Sequence[_builtins.int]) -> Tensor:
        """An axis divided into several, one of whose sizes may be -1."""
    @_overload
    def unflatten(self, axis: _builtins.int, sizes: _builtins.int | _Sequence[_builtins.int]) -> Tensor:
        """An axis divided into several, one of whose sizes may be -1."""
    def unfold(self, dimension: _builtins.int, size: _builtins.int, step: _builtins.int) -> Tensor:
        """A view of windows along an axis, one every `step` elements, with their elements along a new last axis."""
    def uniform_(self, start: _builtins.float = 0, to: _builtins.float = 1, *, generator: _Generator | None = None, **options: _builtins.float) -> Tensor:
        """Samples of the uniform distribution on [start, to), where torch calls `start` `from`."""
    @_overload
    def unique(self, sorted: _builtins.bool=True, *, dim: _builtins.int | None=None) -> Tensor:
        """The sorted distinct elements, or slices along a dim."""
    @_overload
    def unique(self, sorted: _builtins.bool=True, *, return_inverse: _Literal[True], return_counts: _Literal[False]=False, dim: _builtins.int | None=None) -> tuple[Tensor, Tensor]:
        """The sorted distinct elements, or slices along a dim."""
    @_overload
    def unique(self, sorted: _builtins.bool=True, *, return_inverse: _Literal[True], return_counts: _Literal[False]=False, axis: _builtins.int | None=None) -> tuple[Tensor, Tensor]:
        """The sorted distinct elements, or slices along a dim."""
    @_overload
    def unique(self, sorted: _builtins.bool=True, *, return_inverse: _Literal[False]=False, return_counts: _Literal[True], dim: _builtins.int | None=None) -> tuple[Tensor, Tensor]:
        """The sorted distinct elements, or slices along a dim."""
    @_overload
    def unique(self, sorted: _builtins.bool=True, *, return_inverse: _Literal[False]=False, return_counts: _Literal[True], axis: _builtins.int | None=None) -> tuple[Tensor, Tensor]:
        """The sorted distinct elements, or slices along a dim."""
    @_overload
    def unique(self, sorted: _builtins.bool=True, *, return_inverse: _Literal[True], return_counts: _Literal[True], dim: _builtins.int | None=None) -> tuple[Tensor, Tensor, Tensor]:
        """The sorted distinct elements, or slices along a dim."""
    @_overload
    def unique(self, sorted: _builtins.bool=True, *, return_inverse: _Literal[True], return_counts: _Literal[True], axis: _builtins.int | None=None) -> tuple[Tensor, Tensor, Tensor]:
        """The sorted distinct elements, or slices along a dim."""
    @_overload
    def unique(self, sorted: _builtins.bool=True, return_inverse: _builtins.bool=False, return_counts: _builtins.bool=False, dim: _builtins.int | None=None) -> _Any:
        """The sorted distinct elements, or slices along a dim."""
    @_overload
    def unique(self, sorted: _builtins.bool=True, return_inverse: _builtins.bool=False, return_counts: _builtins.bool=False, axis: _builtins.int | None=None) -> _Any:
        """The sorted distinct elements, or slices along a dim."""
    @_overload
    def unique_consecutive(self, *, dim: _builtins.int | None=None) -> Tensor:
        """The elements, or slices along a dim, without those equal to the previous one; results as those of `unique`."""
    @_overload
    def unique_consecutive(self, *, return_inverse: _Literal[True], return_counts: _Literal[False]=False, dim: _builtins.int | None=None) -> tuple[Tensor, Tensor]:
        """The elements, or slices along a dim, without those equal to the previous one; results as those of `unique`."""
    @_overload
    def unique_consecutive(self, *, return_inverse: _Literal[True], return_counts: _Literal[False]=False, axis: _builtins.int | None=None) -> tuple[Tensor, Tensor]:
        """The elements, or slices along a dim, without those equal to the previous one; results as those of `unique`."""
    @_overload
    def unique_consecutive(self, *, return_inverse: _Literal[False]=False, return_counts: _Literal[True], dim: _builtins.int | None=None) -> tuple[Tensor, Tensor]:
        """The elements, or slices along a dim, without those equal to the previous one; results as those of `unique`."""
    @_overload
    def unique_consecutive(self, *, return_inverse: _Literal[False]=False, return_counts: _Literal[True], axis: _builtins.int | None=None) -> tuple[Tensor, Tensor]:
        """The elements, or slices along a dim, without those equal to the previous one; results as those of `unique`."""
    @_overload
    def unique_consecutive(self, *, return_inverse: _Literal[True], return_counts: _Literal[True], dim: _builtins.int | None=None) -> tuple[Tensor, Tensor, Tensor]:
        """The elements, or slices along a dim, without those equal to the previous one; results as those of `unique`."""
    @_overload
    def unique_consecutive(self, *, return_inverse: _Literal[True], return_counts: _Literal[True], axis: _builtins.int | None=None) -> tuple[Tensor, Tensor, Tensor]:
        """The elements, or slices along a dim, without those equal to the previous one; results as those of `unique`."""
    @_overload
    def unique_consecutive(self, return_inverse: _builtins.bool=False, return_counts: _builtins.bool=False, dim: _builtins.int | None=None) -> _Any:
        """The elements, or slices along a dim, without those equal to the previous one; results as those of `unique`."""
    @_overload
    def unique_consecutive(self, return_inverse: _builtins.bool=False, return_counts: _builtins.bool=False, axis: _builtins.int | None=None) -> _Any:
        """The elements, or slices along a dim, without those equal to the previous one; results as those of `unique`."""
    @_overload
    def unsafe_chunk(self, chunks: _builtins.int, dim: _builtins.int = 0) -> tuple[Tensor, ...]:
        """`chunk`, with the checks that torch leaves out."""
    @_overload
    def unsafe_chunk(self, chunks: _builtins.int, axis: _builtins.int = 0) -> tuple[Tensor, ...]:
        """`chunk`, with the checks that torch leaves out."""
    @_overload
    def unsafe_split(self, split_size: _builtins.int | _Sequence[_builtins.int], dim: _builtins.int = 0) -> tuple[Tensor, ...]:
        """`split`, with the checks that torch leaves out."""
    @_overload
    def unsafe_split(self, split_size: _builtins.int | _Sequence[_builtins.int], axis: _builtins.int = 0) -> tuple[Tensor, ...]:
        """`split`, with the checks that torch leaves out."""
    @_overload
    def unsafe_split_with_sizes(self, split_sizes: _Sequence[_builtins.int], dim: _builtins.int = 0) -> tuple[Tensor, ...]:
        """`split_with_sizes`, with the checks that torch leaves out."""
    @_overload
    def unsafe_split_with_sizes(self, split_sizes: _Sequence[_builtins.int], axis: _builtins.int = 0) -> tuple[Tensor, ...]:
        """`split_with_sizes`, with the checks that torch leaves out."""
    @_overload
    def unsqueeze(self, dim: _builtins.int) -> Tensor:
        """A view with a new axis of length 1."""
    @_overload
    def unsqueeze(self, axis: _builtins.int) -> Tensor:
        """A view with a new axis of length 1."""
    def unsqueeze_(self, *args: _Any, **options: _Any) -> Tensor:
        """In place: A view with a new axis of length 1."""
    def untyped_storage(self) -> _UntypedStorage:
        """The memory of the tensor, shared by all views of the same base, as bytes."""
    def values(self) -> Tensor:
        """The elements at `indices`."""
    @_overload
    def var(self, dim: _builtins.int | _Sequence[_builtins.int] | None | _builtins.bool = None, unbiased: _builtins.bool | None = None, keepdim: _builtins.bool = False, **options: _Any) -> Tensor:
        """The variance over all elements or along axes, divided by count - correction (1 unless given)."""
    @_overload
    def var(self, axis: _builtins.int | _Sequence[_builtins.int] | None | _builtins.bool = None, unbiased: _builtins.bool | None = None, keepdims: _builtins.bool = False, **options: _Any) -> Tensor:
        """The variance over all elements or along axes, divided by count - correction (1 unless given)."""
    def vdot(self, other: _TensorLike) -> Tensor:
        """The sum of the products of two vectors, the first one conjugated."""
    def view(self, *shape: _builtins.int | _Sequence[_builtins.int] | _DType, size: _builtins.int | _Sequence[_builtins.int] | None = None, dtype: _DType | None = None) -> Tensor:
        """A view with another shape, an error if that would require a copy; with a dtype, the bytes as that dtype."""
    def view_as(self, other: Tensor) -> Tensor:
        """input.view(other.shape)."""
    def vsplit(self, indices_or_sections: _builtins.int | _Sequence[_builtins.int] | Tensor) -> tuple[Tensor, ...]:
        """Parts along the first axis, as views: a number of equal parts, or those between given indices."""
    def where(self, condition: Tensor, other: _TensorLike) -> Tensor:
        """This tensor where the condition holds, other elsewhere."""
    def xlogy(self, other: _TensorLike) -> Tensor:
        """input * log(other); 0 where input is 0."""
    def xlogy_(self, other: _TensorLike) -> Tensor:
        """input * log(other); 0 where input is 0."""
    def zero_(self) -> Tensor:
        """Set all elements to zero, in place."""
    @_builtins.property
    def H(self) -> Tensor:
        """The conjugate transpose of a matrix."""
    @_builtins.property
    def T(self) -> Tensor:
        """The axes in reverse order."""
    @_builtins.property
    def data(self) -> _Self:
        """A tensor with the same memory and without the history; assigning replaces the values."""
    @data.setter
    def data(self, value: _Any, /) -> None: ...
    @_builtins.property
    def device(self) -> _device:
        """The device of the elements: 'cpu', or 'meta' for tensors made in a block of that device."""
    @_builtins.property
    def dtype(self) -> _dtype:
        """The dtype of the elements, one of pullback's own dtype objects."""
    @_builtins.property
    def flags(self) -> _Any:
        """What NumPy says of the memory: whether it is contiguous, and writeable."""
    @_builtins.property
    def flat(self) -> _Flat:
        """The elements in order: to iterate over, to index, and to assign to."""
    @_builtins.property
    def grad(self) -> Tensor | None:
        """The gradient accumulated by backward passes: None before the first; settable."""
    @grad.setter
    def grad(self, value: _Any, /) -> None: ...
    @_builtins.property
    def grad_dtype(self) -> _dtype | None:
        """The dtype that `.grad` must have: the tensor's own by default; None allows any."""
    @grad_dtype.setter
    def grad_dtype(self, value: _Any, /) -> None: ...
    @_builtins.property
    def grad_fn(self) -> _Node | None:
        """The node of the operation that computed this tensor; None for a leaf."""
    @_builtins.property
    def imag(self) -> Tensor:
        """The imaginary part of a complex tensor, as a view; assigning writes to it. That of a real one is zero, as in NumPy."""
    @imag.setter
    def imag(self, value: _Any, /) -> None: ...
    @_builtins.property
    def is_leaf(self) -> _builtins.bool:
        """True if no recorded operation computed this tensor."""
    @_builtins.property
    def is_meta(self) -> _builtins.bool:
        """True for a tensor made in a block of `device("meta")`."""
    @_builtins.property
    def itemsize(self) -> _builtins.int:
        """The number of bytes of one element."""
    @_builtins.property
    def layout(self) -> _layout:
        """The memory layout: always `strided`."""
    @_builtins.property
    def mH(self) -> Tensor:
        """The last two axes exchanged, and complex elements conjugated."""
    @_builtins.property
    def mT(self) -> Tensor:
        """The last two axes exchanged."""
    @_builtins.property
    def nbytes(self) -> _builtins.int:
        """The number of bytes of all elements."""
    @_builtins.property
    def ndim(self) -> _builtins.int:
        """The number of axes."""
    @_builtins.property
    def output_nr(self) -> _builtins.int:
        """The index of this tensor among the outputs of its operation."""
    @_builtins.property
    def real(self) -> Tensor:
        """The real part, as a view; assigning writes to it."""
    @real.setter
    def real(self, value: _Any, /) -> None: ...
    @_builtins.property
    def requires_grad(self) -> _builtins.bool:
        """True if operations on this tensor are recorded; settable on leaves. A view without a history says its base's."""
    @requires_grad.setter
    def requires_grad(self, value: _Any, /) -> None: ...
    @_builtins.property
    def retains_grad(self) -> _builtins.bool:
        """True if `retain_grad()` has been called on this non-leaf."""
    @_builtins.property
    def shape(self) -> _Size:
        """The length of each axis."""
    @_builtins.property
    def size(self) -> _CallableInt:
        """The number of elements, as in NumPy; if called, the shape or the length of one axis, as in torch."""
    @_builtins.property
    def strides(self) -> tuple[_builtins.int, ...]:
        """The number of bytes between neighbors along each axis; `stride()` counts elements."""
