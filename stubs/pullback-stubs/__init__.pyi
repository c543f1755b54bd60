"""Made by scripts/stubs: the types of what is imported when it is first asked for."""

from types import EllipsisType as _EllipsisType
import builtins as _builtins
from collections.abc import Callable as _Callable
from collections.abc import Iterable as _Iterable
from collections.abc import Iterator as _Iterator
from collections.abc import Sequence as _Sequence
from typing import Any as _Any
from typing import Literal as _Literal
from typing import SupportsIndex as _SupportsIndex
from typing import TypeGuard as _TypeGuard
from typing import overload as _overload
import numpy as _np
from pullback._core.dtypes import dtype as _dtype
from pullback._numerics.random import Generator as _Generator
from pullback._core.placement import device as _device
from pullback._core.placement import memory_format as _memory_format
from pullback._core.shapes import Size as _Size
from pullback.compile import LoweringError as _LoweringError
from pullback.compile.compiled import Compiled as _Compiled
from pullback.compile.refusals import CaptureError as _CaptureError
from pullback.explain.arrays import Limits as _Limits
from pullback.explain.arrays import Stats as _Stats
from pullback.explain.arrays import Summary as _Summary
from pullback.explain.asking import _Asked as __Asked
from pullback.explain.asking import last_error as _last_error
from pullback.explain.asking import record as _record
from pullback.explain.cancellation import Digits as _Digits
from pullback.explain.cancellation import Loss as _Loss
from pullback.explain.cancellation import digits as _digits
from pullback.explain.differing import Comparison as _Comparison
from pullback.explain.differing import Difference as _Difference
from pullback.explain.differing import first_difference as _first_difference
from pullback.explain.document import schema as _schema
from pullback.explain.explanation import Explanation as _Explanation
from pullback.explain.recording import Recording as _Recording
from pullback.explain.runs import Run as _Run
from pullback.explain.runs import read_run as _read_run
from pullback.explain.shares import Example as _Example
from pullback.explain.shares import Examples as _Examples
from pullback.explain.shares import examples as _examples
from pullback.explain.trace import Call as _Call
from pullback.explain.trace import Finding as _Finding
from pullback.explain.trace import Leaf as _Leaf
from pullback.explain.trace import Scope as _Scope
from pullback.explain.trace import Step as _Step
from pullback.explain.trace import Term as _Term
from pullback.explain.trace import Traced as _Traced
from pullback.explain.trailing import trail as _trail
from pullback.explain.trails import Trail as _Trail
from pullback.explain.trails import TrailEntry as _TrailEntry
from pullback.explain.trails import read_trail as _read_trail
from pullback.explain.training import Training as _Training
from pullback.vocabulary.decompositions import LUFactorExResult as _LUFactorExResult
from pullback.vocabulary.decompositions import LUFactorResult as _LUFactorResult
from pullback.vocabulary.decompositions import LUResult as _LUResult
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

from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from . import array_api as array_api
from . import autograd as autograd
from . import distributed as distributed
from . import distributions as distributions
from . import extend as extend
from . import fft as fft
from . import files as files
from . import func as func
from . import interop as interop
from . import interpreters as interpreters
from . import linalg as linalg
from . import masked as masked
from . import nn as nn
from . import observe as observe
from . import optim as optim
from . import program as program
from . import signal as signal
from . import special as special
from . import testing as testing
from . import utils as utils
from ._numpy.programs import numpy_programs as numpy_programs
from ._tape.checking import check as check
from ._tape.reasons import why as why
from .autograd.anomaly_mode import detect_anomaly as detect_anomaly
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from .autograd.anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
from .autograd.revolve import checkpoint_loop as checkpoint_loop
from .compile.export import export as export
from .files import load as load
from .files import save as save
from .func.control import cond as cond
from .func.control import fori_loop as fori_loop
from .func.control import scan as scan
from .func.control import while_loop as while_loop
from .func.custom_rules import custom_jvp as custom_jvp
from .func.custom_rules import custom_vjp as custom_vjp
from .func.flattening import flatten_problem as flatten_problem
from .func.live import grad as grad
from .func.live import hessian as hessian
from .func.live import jacobian as jacobian
from .func.live import value_grad_hessian as value_grad_hessian
from .func.mapping import vmap as vmap
from .func.reverse import value_and_grad as value_and_grad
from .signal.windows import bartlett_window as bartlett_window
from .signal.windows import blackman_window as blackman_window
from .signal.windows import hamming_window as hamming_window
from .signal.windows import hann_window as hann_window
from .signal.windows import kaiser_window as kaiser_window
from .sparsity import sparse_hessian as sparse_hessian
from .sparsity import sparse_jacobian as sparse_jacobian
from collections.abc import Callable as _Callable
from collections.abc import Iterable as _Iterable
from collections.abc import Mapping as _Mapping
from typing import Any as _Any
from typing import Concatenate as _Concatenate
from typing import Literal as _Literal
from typing import ParamSpec as _ParamSpec
from typing import Self as _Self
from typing import TypeVar as _TypeVar
from typing import overload as _overload

import numpy as _np

from pullback._tensor.tensor import Tensor as _Tensor

_A = _TypeVar("_A")
_B = _TypeVar("_B")
_P = _ParamSpec("_P")
_R = _TypeVar("_R")
_T = _TypeVar("_T")
_V = _TypeVar("_V", bound=_Tensor)
_F = _TypeVar("_F", bound=_Callable[..., _Any])
_Numbers = _np.ndarray[_Any, _Any] | _np.generic | complex | list[_Any]
_TensorLike = _Tensor | _Numbers
_First = _Callable[_Concatenate[_A, _P], _R]
_Second = _Callable[_Concatenate[_A, _B, _P], _R]
class _Compile:
    @_overload
    def __call__(self, model: _F, *, fullgraph: bool=False, dynamic: bool | None=None, backend: object=None, mode: str | None=None, options: _Mapping[str, object] | None=None, disable: bool=False, fuse: bool=True, lenient: bool=False) -> _F:
        ...
    @_overload
    def __call__(self, model: None=None, *, fullgraph: bool=False, dynamic: bool | None=None, backend: object=None, mode: str | None=None, options: _Mapping[str, object] | None=None, disable: bool=False, fuse: bool=True, lenient: bool=False) -> _Callable[[_F], _F]:
        ...
    Compiled = _Compiled
    LoweringError = _LoweringError
    CaptureError = _CaptureError
compile: _Compile
class _Explain:
    def __call__(self, target: object, *args: object, gradient: object=None, inputs: _Iterable[Tensor] | Tensor | None=None, values: _builtins.int=64, jacobian: _builtins.int=1024, max_nodes: _builtins.int=20000, lines: _builtins.bool=True, timing: _builtins.bool=False, redact: _builtins.bool=False) -> _Explanation:
        ...
    Limits = _Limits
    Stats = _Stats
    Summary = _Summary
    last_error = staticmethod(_last_error)
    record = staticmethod(_record)
    Digits = _Digits
    Loss = _Loss
    digits = staticmethod(_digits)
    Comparison = _Comparison
    Difference = _Difference
    first_difference = staticmethod(_first_difference)
    schema = staticmethod(_schema)
    Explanation = _Explanation
    Recording = _Recording
    Run = _Run
    read_run = staticmethod(_read_run)
    Example = _Example
    Examples = _Examples
    examples = staticmethod(_examples)
    Call = _Call
    Finding = _Finding
    Leaf = _Leaf
    Scope = _Scope
    Step = _Step
    Term = _Term
    Traced = _Traced
    trail = staticmethod(_trail)
    Trail = _Trail
    TrailEntry = _TrailEntry
    read_trail = staticmethod(_read_trail)
    Training = _Training
explain: _Explain

__version__: str

from pullback._tensor.typed import BoolTensor as BoolTensor
from pullback._tensor.typed import ByteTensor as ByteTensor
from pullback._tensor.typed import CharTensor as CharTensor
from pullback._tensor.typed import DoubleTensor as DoubleTensor
from pullback._tensor.typed import FloatTensor as FloatTensor
from pullback._numerics.random import Generator as Generator
from pullback._tensor.typed import HalfTensor as HalfTensor
from pullback._tensor.typed import IntTensor as IntTensor
from pullback._tensor.typed import LongTensor as LongTensor
from pullback._tensor.typed import ShortTensor as ShortTensor
from pullback._core.shapes import Size as Size
from pullback._tensor.tensor import Tensor as Tensor
from pullback._tensor.storages import TypedStorage as TypedStorage
from pullback._tensor.storages import UntypedStorage as UntypedStorage
def abs(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The absolute value, elementwise; its slope at 0 is 0."""
def abs_(input: Tensor) -> Tensor:
    """The absolute value, elementwise; its slope at 0 is 0."""
def absolute(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The absolute value, elementwise; its slope at 0 is 0."""
def absolute_(input: Tensor) -> Tensor:
    """The absolute value, elementwise; its slope at 0 is 0."""
def acos(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse cosine, elementwise; NaN outside [-1, 1]."""
def acos_(input: Tensor) -> Tensor:
    """The inverse cosine, elementwise; NaN outside [-1, 1]."""
def acosh(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse hyperbolic cosine, elementwise; NaN below 1."""
def acosh_(input: Tensor) -> Tensor:
    """The inverse hyperbolic cosine, elementwise; NaN below 1."""
def adaptive_avg_pool1d(input: Tensor, output_size: _builtins.int | _Sequence[_builtins.int]) -> Tensor:
    """The means over `output_size` regions that cover the signals; arguments as for `nn.AdaptiveAvgPool1d`."""
def add(input: Tensor, other: _TensorLike, *rest: _Any, alpha: _Number = 1, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input + alpha * other, with broadcasting."""
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """beta * input + alpha * the sum of the products of two batches of matrices; the input is broadcast."""
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: _builtins.float = 1, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input + value * tensor1 / tensor2."""
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: _builtins.float = 1, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input + value * tensor1 * tensor2."""
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2) for matrices; the input is broadcast."""
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """beta * input + alpha * (mat @ vec) for a matrix and a vector; the input is broadcast."""
def addmv_(input: Tensor, mat: Tensor, vec: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
    """beta * input + alpha * (mat @ vec) for a matrix and a vector; the input is broadcast."""
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """beta * input + alpha * outer(vec1, vec2); the input is broadcast."""
def adjoint(input: Tensor) -> Tensor:
    """The last two axes exchanged, and complex elements conjugated."""
def all(input: Tensor, dim: _builtins.int | _Sequence[_builtins.int] | None = None, keepdim: _builtins.bool = False, *, axis: _builtins.int | _Sequence[_builtins.int] | None = None, keepdims: _builtins.bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """True if every element is nonzero, of all or along axes; with dim=(), elementwise."""
def allclose(input: Tensor, other: _TensorLike, rtol: _builtins.float = 1e-05, atol: _builtins.float = 1e-08, equal_nan: _builtins.bool = False) -> _builtins.bool:
    """True if two tensors agree within atol + rtol * abs(other), everywhere."""
def alpha_dropout(input: Tensor, p: _builtins.float, train: _builtins.bool) -> Tensor:
    """Dropout that preserves the mean and variance of the outputs of selu; arguments as for `nn.Dropout`."""
def alpha_dropout_(input: Tensor, p: _builtins.float, train: _builtins.bool) -> Tensor:
    """In place: Dropout that preserves the mean and variance of the outputs of selu; arguments as for `nn."""
def amax(input: Tensor, dim: _builtins.int | _Sequence[_builtins.int] | None = None, keepdim: _builtins.bool = False, *, axis: _builtins.int | _Sequence[_builtins.int] | None = None, keepdims: _builtins.bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The largest element along axes; ties share the gradient."""
def amin(input: Tensor, dim: _builtins.int | _Sequence[_builtins.int] | None = None, keepdim: _builtins.bool = False, *, axis: _builtins.int | _Sequence[_builtins.int] | None = None, keepdims: _builtins.bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The smallest element along axes; ties share the gradient."""
@_overload
def aminmax(input: Tensor, *, dim: _builtins.int | None = None, keepdim: _builtins.bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> _LeastAndLargest:
    """The smallest and the largest element, of all or along an axis; ties share the gradient."""
@_overload
def aminmax(input: Tensor, *, axis: _builtins.int | None = None, keepdims: _builtins.bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> _LeastAndLargest:
    """The smallest and the largest element, of all or along an axis; ties share the gradient."""
def angle(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The angle of complex numbers; pi for negative real ones, 0 for others."""
def any(input: Tensor, dim: _builtins.int | _Sequence[_builtins.int] | None = None, keepdim: _builtins.bool = False, *, axis: _builtins.int | _Sequence[_builtins.int] | None = None, keepdims: _builtins.bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """True if some element is nonzero, of all or along axes; with dim=(), elementwise."""
def arange(start: _builtins.float | Tensor, end: _builtins.float | Tensor | None = None, step: _builtins.float | Tensor = 1, *, dtype: _DType | None = None, requires_grad: _builtins.bool = False, device: _device | str | _builtins.int | None = None, layout: object = None, pin_memory: _builtins.bool | None = None) -> Tensor:
    """Numbers from start up to, but not including, end; integers give int64."""
def arccos(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse cosine, elementwise; NaN outside [-1, 1]."""
def arccos_(input: Tensor) -> Tensor:
    """The inverse cosine, elementwise; NaN outside [-1, 1]."""
def arccosh(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse hyperbolic cosine, elementwise; NaN below 1."""
def arccosh_(input: Tensor) -> Tensor:
    """The inverse hyperbolic cosine, elementwise; NaN below 1."""
def arcsin(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse sine, elementwise; NaN outside [-1, 1]."""
def arcsin_(input: Tensor) -> Tensor:
    """The inverse sine, elementwise; NaN outside [-1, 1]."""
def arcsinh(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse hyperbolic sine, elementwise."""
def arcsinh_(input: Tensor) -> Tensor:
    """The inverse hyperbolic sine, elementwise."""
def arctan(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse tangent, elementwise."""
def arctan2(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The angle of the point (other, input), from -pi to pi."""
def arctan_(input: Tensor) -> Tensor:
    """The inverse tangent, elementwise."""
def arctanh(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse hyperbolic tangent, elementwise; NaN outside [-1, 1]."""
def arctanh_(input: Tensor) -> Tensor:
    """The inverse hyperbolic tangent, elementwise; NaN outside [-1, 1]."""
@_overload
def argmax(input: Tensor, dim: _builtins.int | None = None, keepdim: _builtins.bool = False, *, axis: _builtins.int | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The index of the largest element, in the flattened tensor or along a dim; the first if there are several."""
@_overload
def argmax(input: Tensor, dim: _builtins.int | None = None, keepdims: _builtins.bool = False, *, axis: _builtins.int | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The index of the largest element, in the flattened tensor or along a dim; the first if there are several."""
@_overload
def argmin(input: Tensor, dim: _builtins.int | None = None, keepdim: _builtins.bool = False, *, axis: _builtins.int | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The index of the smallest element, in the flattened tensor or along a dim; the first if there are several."""
@_overload
def argmin(input: Tensor, dim: _builtins.int | None = None, keepdims: _builtins.bool = False, *, axis: _builtins.int | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The index of the smallest element, in the flattened tensor or along a dim; the first if there are several."""
@_overload
def argsort(input: Tensor, dim: _builtins.int = -1, descending: _builtins.bool = False, *, stable: _builtins.bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The indices that sort the input along a dim; equal elements keep their order, NaN counts as the largest."""
@_overload
def argsort(input: Tensor, axis: _builtins.int = -1, descending: _builtins.bool = False, *, stable: _builtins.bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The indices that sort the input along a dim; equal elements keep their order, NaN counts as the largest."""
def argwhere(input: Tensor) -> Tensor:
    """The indices of the nonzero elements, one per row."""
def as_strided(input: Tensor, size: _builtins.int | _Sequence[_builtins.int], stride: _builtins.int | _Sequence[_builtins.int], storage_offset: _builtins.int | None = None) -> Tensor:
    """A view of the tensor's memory with another size and strides, counted in elements."""
def as_strided_(self: Tensor, *args: _Any, **options: _Any) -> Tensor:
    """In place: A view of the tensor's memory with another size and strides, counted in elements."""
def as_strided_scatter(input: Tensor, src: Tensor, size: _builtins.int | _Sequence[_builtins.int], stride: _builtins.int | _Sequence[_builtins.int], storage_offset: _builtins.int | None = None) -> Tensor:
    """A copy of a contiguous tensor in which the elements of an `as_strided` view are those of `src`."""
def as_tensor(data: object, dtype: _DType | None = None, device: _device | str | _builtins.int | None = None) -> Tensor:
    """The data as a tensor, without a copy if possible: a tensor is returned itself, an array's memory is shared."""
def asarray(obj: object, *, dtype: _DType | None = None, device: _device | str | _builtins.int | None = None, copy: _builtins.bool | None = None, requires_grad: _builtins.bool | None = None) -> Tensor:
    """A tensor with the elements of a tensor, an array, a buffer of bytes, or numbers; it shares memory if it can."""
def asin(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse sine, elementwise; NaN outside [-1, 1]."""
def asin_(input: Tensor) -> Tensor:
    """The inverse sine, elementwise; NaN outside [-1, 1]."""
def asinh(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse hyperbolic sine, elementwise."""
def asinh_(input: Tensor) -> Tensor:
    """The inverse hyperbolic sine, elementwise."""
def atan(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse tangent, elementwise."""
def atan2(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The angle of the point (other, input), from -pi to pi."""
def atan_(input: Tensor) -> Tensor:
    """The inverse tangent, elementwise."""
def atanh(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse hyperbolic tangent, elementwise; NaN outside [-1, 1]."""
def atanh_(input: Tensor) -> Tensor:
    """The inverse hyperbolic tangent, elementwise; NaN outside [-1, 1]."""
@_overload
def atleast_1d(input: Tensor, /) -> Tensor:
    """A tensor with one axis if it had none; of several tensors, or a list of them, a tuple."""
@_overload
def atleast_1d(*tensors: Tensor | _Sequence[Tensor]) -> tuple[Tensor, ...]:
    """A tensor with one axis if it had none; of several tensors, or a list of them, a tuple."""
@_overload
def atleast_2d(input: Tensor, /) -> Tensor:
    """A tensor with two axes, the first of them new, if it had fewer; of several tensors, or a list, a tuple."""
@_overload
def atleast_2d(*tensors: Tensor | _Sequence[Tensor]) -> tuple[Tensor, ...]:
    """A tensor with two axes, the first of them new, if it had fewer; of several tensors, or a list, a tuple."""
@_overload
def atleast_3d(input: Tensor, /) -> Tensor:
    """A tensor with three axes, the first and last of them new as needed; of several tensors, or a list, a tuple."""
@_overload
def atleast_3d(*tensors: Tensor | _Sequence[Tensor]) -> tuple[Tensor, ...]:
    """A tensor with three axes, the first and last of them new as needed; of several tensors, or a list, a tuple."""
def avg_pool1d(input: Tensor, kernel_size: _builtins.int | _Sequence[_builtins.int], stride: _builtins.int | _Sequence[_builtins.int] | None = None, padding: _builtins.int | _Sequence[_builtins.int] = 0, ceil_mode: _builtins.bool = False, count_include_pad: _builtins.bool = True) -> Tensor:
    """The means over windows of signals, (batch, channels, length); arguments as for `nn.AvgPool1d`."""
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """beta * input + alpha * (batch1 @ batch2) for batches of matrices; the input is broadcast."""
def batch_norm(*args: _Any, **options: _Any) -> Tensor:
    """Each channel (axis 1) minus its mean, divided by its standard deviation, times a weight plus a bias. Arguments: input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled."""
def bernoulli(input: Tensor, p: _builtins.float | None = None, *, generator: _Generator | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """1 with the probability given by each element, or with probability p, else 0."""
from pullback._core.dtypes import bfloat16 as bfloat16
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input1 @ weight[k] @ input2 for each k, plus a bias, over the last axes of the inputs."""
def binary_cross_entropy_with_logits(*args: _Any, **options: _Any) -> Tensor:
    """The negative log-probability of targets in [0, 1], from scores whose sigmoid is the probability. Arguments: input, target, weight, pos_weight, reduction."""
def bincount(input: Tensor, weights: Tensor | None = None, minlength: _builtins.int = 0) -> Tensor:
    """The number of occurrences of each of the numbers 0, 1, 2, ..., or the sum of its weights."""
def binomial(count: Tensor, prob: Tensor, generator: _Generator | None = None) -> Tensor:
    """Samples of binomial distributions: the number of successes in `count` trials with probability `prob`."""
def bitwise_and(input: _TensorLike, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The bitwise and of integers or bools."""
def bitwise_left_shift(input: _TensorLike, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input * 2**other."""
def bitwise_not(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The bitwise complement of integers; the logical one of bools."""
def bitwise_or(input: _TensorLike, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The bitwise or of integers or bools."""
def bitwise_right_shift(input: _TensorLike, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The floor of input / 2**other."""
def bitwise_xor(input: _TensorLike, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The bitwise exclusive or of integers or bools."""
def block_diag(*tensors: Tensor | _Sequence[Tensor]) -> Tensor:
    """A matrix with matrices on its diagonal, and zeros elsewhere; vectors count as rows."""
def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The products of two batches of matrices."""
from pullback._core.dtypes import bool_ as bool
def broadcast_shapes(*shapes: _SupportsIndex | _Iterable[_SupportsIndex]) -> _Size:
    """The common shape to which the given shapes broadcast: aligned from the right, sizes are equal or 1."""
def broadcast_tensors(*tensors: Tensor | _Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of tensors broadcast to their common shape."""
def broadcast_to(input: Tensor, size: _Sequence[_builtins.int]) -> Tensor:
    """input.expand(size)."""
def bucketize(input: Tensor, boundaries: Tensor, *, out_int32: _builtins.bool = False, right: _builtins.bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The index of the bucket between sorted boundaries in which each value lies."""
def can_cast(from_: _DType, to: _DType) -> _builtins.bool:
    """Whether a result of one dtype may be stored in another: any but one of a lower kind."""
def cartesian_prod(*tensors: Tensor | _Sequence[Tensor]) -> Tensor:
    """All combinations of one element of each vector, one per row; a single vector is returned unchanged."""
def cat(tensors: Tensor | _Sequence[Tensor | _np.ndarray[_Any, _np.dtype[_Any]]], dim: _builtins.int = 0, *, axis: _builtins.int | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Tensors joined along an existing axis; their other axes must agree."""
def cdist(x1: Tensor, x2: Tensor, p: _builtins.float = 2.0, compute_mode: str | None = None) -> Tensor:
    """The distance in the p-norm between each row of x1 and each row of x2, in stacks of matrices."""
from pullback._core.dtypes import cdouble as cdouble
def ceil(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The smallest integer not below, elementwise; its gradient is 0."""
def ceil_(input: Tensor) -> Tensor:
    """The smallest integer not below, elementwise; its gradient is 0."""
def celu(input: Tensor, alpha: _builtins.float = 1.0, inplace: _builtins.bool = False) -> Tensor:
    """The input above 0, alpha * (exp(input / alpha) - 1) elsewhere; arguments as for `nn.CELU`."""
def celu_(input: Tensor, alpha: _builtins.float = 1.0) -> Tensor:
    """In place: The input above 0, alpha * (exp(input / alpha) - 1) elsewhere; arguments as for `nn.CELU`."""
from pullback._core.dtypes import cfloat as cfloat
def chain_matmul(*matrices: Tensor, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """`linalg.multi_dot` under its older name, with the matrices as separate arguments."""
def channel_shuffle(input: Tensor, groups: _builtins.int) -> Tensor:
    """The channels interleaved: the first of each group, then the second of each, and so on."""
from pullback._core.placement import channels_last as channels_last
from pullback._core.placement import channels_last_3d as channels_last_3d
def cholesky(input: Tensor, upper: _builtins.bool = False, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The lower triangular L with input = L @ L.mH, for a Hermitian positive-definite input; with `upper`, L.mH."""
def cholesky_inverse(L: Tensor, upper: _builtins.bool = False, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse of L @ L.mH, or of L.mH @ L with `upper`; LinAlgError for a zero on the diagonal."""
def cholesky_solve(input: Tensor, L: Tensor, upper: _builtins.bool = False, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The X with A @ X = input, where A = L @ L.mH, or L.mH @ L with `upper`."""
@_overload
def chunk(input: Tensor, chunks: _builtins.int, dim: _builtins.int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` consecutive parts of one size along an axis; the last may be smaller."""
@_overload
def chunk(input: Tensor, chunks: _builtins.int, axis: _builtins.int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` consecutive parts of one size along an axis; the last may be smaller."""
def clamp(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], min: _TensorLike | None = None, max: _TensorLike | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input limited to [min, max]; the gradient passes inside and at the bounds."""
def clamp_(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], min: _TensorLike | None = None, max: _TensorLike | None = None) -> Tensor:
    """input limited to [min, max]; the gradient passes inside and at the bounds."""
def clamp_max(input: Tensor, max: _TensorLike | None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The minimum of input and max, a number or a tensor."""
def clamp_max_(input: Tensor, max: _TensorLike | None) -> Tensor:
    """The minimum of input and max, a number or a tensor."""
def clamp_min(input: Tensor, min: _TensorLike | None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The maximum of input and min, a number or a tensor."""
def clamp_min_(input: Tensor, min: _TensorLike | None) -> Tensor:
    """The maximum of input and min, a number or a tensor."""
def clip(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], min: _TensorLike | None = None, max: _TensorLike | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input limited to [min, max]; the gradient passes inside and at the bounds."""
def clip_(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], min: _TensorLike | None = None, max: _TensorLike | None = None) -> Tensor:
    """input limited to [min, max]; the gradient passes inside and at the bounds."""
def clone(self: Tensor, *, memory_format: _memory_format | None = None) -> Tensor:
    """A recorded copy; inside a transform, the transform's values can be written to it."""
def column_stack(tensors: Tensor | _Sequence[Tensor], *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Tensors joined along their second axis, those with fewer than two axes as columns."""
def combinations(input: Tensor, r: _builtins.int = 2, with_replacement: _builtins.bool = False) -> Tensor:
    """All choices of r elements of a vector, in order, one per row; with replacement, an element may be repeated."""
def complex(real: Tensor, imag: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The complex numbers with these real and imaginary parts."""
from pullback._core.dtypes import complex128 as complex128
from pullback._core.dtypes import complex64 as complex64
def concat(tensors: Tensor | _Sequence[Tensor | _np.ndarray[_Any, _np.dtype[_Any]]], dim: _builtins.int = 0, *, axis: _builtins.int | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Tensors joined along an existing axis; their other axes must agree."""
def concatenate(tensors: Tensor | _Sequence[Tensor | _np.ndarray[_Any, _np.dtype[_Any]]], dim: _builtins.int = 0, *, axis: _builtins.int | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Tensors joined along an existing axis; their other axes must agree."""
def conj(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The complex conjugate; a real tensor is returned unchanged."""
def conj_physical(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The complex conjugate; a real tensor is returned unchanged."""
def conj_physical_(input: Tensor) -> Tensor:
    """The complex conjugate; a real tensor is returned unchanged."""
def constant_pad_nd(input: Tensor, pad: _Sequence[_builtins.int], value: _Number = 0) -> Tensor:
    """An input padded with a value: `pad` is (before, after) of the last axis, then of the one before it, and so on."""
from pullback._core.placement import contiguous_format as contiguous_format
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _builtins.int | _Sequence[_builtins.int] = 1, padding: _builtins.int | _Sequence[_builtins.int] | str = 0, dilation: _builtins.int | _Sequence[_builtins.int] = 1, groups: _builtins.int = 1) -> Tensor:
    """The cross-correlation of signals, (batch, channels, length), with a weight, (results, channels / groups, size)."""
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _builtins.int | _Sequence[_builtins.int] = 1, padding: _builtins.int | _Sequence[_builtins.int] | str = 0, dilation: _builtins.int | _Sequence[_builtins.int] = 1, groups: _builtins.int = 1) -> Tensor:
    """The cross-correlation of images, (batch, channels, height, width), with a weight, (results, channels / groups, *)."""
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _builtins.int | _Sequence[_builtins.int] = 1, padding: _builtins.int | _Sequence[_builtins.int] | str = 0, dilation: _builtins.int | _Sequence[_builtins.int] = 1, groups: _builtins.int = 1) -> Tensor:
    """The cross-correlation of volumes, (batch, channels, *size), with a weight, (results, channels / groups, *kernel)."""
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: _builtins.int = 0) -> Tensor:
    """The cross-correlation of signals, (length, batch, channels), with a weight, (size, channels, results)."""
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _builtins.int | _Sequence[_builtins.int] = 1, padding: _builtins.int | _Sequence[_builtins.int] = 0, output_padding: _builtins.int | _Sequence[_builtins.int] = 0, groups: _builtins.int = 1, dilation: _builtins.int | _Sequence[_builtins.int] = 1) -> Tensor:
    """The transpose of conv1d, its vector-Jacobian product; the weight is (channels, results / groups, size)."""
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _builtins.int | _Sequence[_builtins.int] = 1, padding: _builtins.int | _Sequence[_builtins.int] = 0, output_padding: _builtins.int | _Sequence[_builtins.int] = 0, groups: _builtins.int = 1, dilation: _builtins.int | _Sequence[_builtins.int] = 1) -> Tensor:
    """The transpose of conv2d, its vector-Jacobian product; the weight is (channels, results / groups, *kernel)."""
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _builtins.int | _Sequence[_builtins.int] = 1, padding: _builtins.int | _Sequence[_builtins.int] = 0, output_padding: _builtins.int | _Sequence[_builtins.int] = 0, groups: _builtins.int = 1, dilation: _builtins.int | _Sequence[_builtins.int] = 1) -> Tensor:
    """The transpose of conv3d, its vector-Jacobian product; the weight is (channels, results / groups, *kernel)."""
def copysign(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The size of input with the sign of other."""
def corrcoef(input: Tensor) -> Tensor:
    """The correlation matrix of variables, the rows of the input, over observations, its columns: from -1 to 1."""
def cos(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The cosine, elementwise."""
def cos_(input: Tensor) -> Tensor:
    """The cosine, elementwise."""
def cosh(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The hyperbolic cosine, elementwise."""
def cosh_(input: Tensor) -> Tensor:
    """The hyperbolic cosine, elementwise."""
def cosine_embedding_loss(*args: _Any, **options: _Any) -> Tensor:
    """For vectors along the last axis, 1 - cosine where the target is 1, max(0, cosine - margin) where it is -1. Arguments: input1, input2, target, margin, reduction."""
@_overload
def cosine_similarity(x1: Tensor, x2: Tensor, dim: _builtins.int = 1, eps: _builtins.float = 1e-08) -> Tensor:
    """The cosine of the angle between vectors along a dim; norms below eps are replaced by eps."""
@_overload
def cosine_similarity(x1: Tensor, x2: Tensor, axis: _builtins.int = 1, eps: _builtins.float = 1e-08) -> Tensor:
    """The cosine of the angle between vectors along a dim; norms below eps are replaced by eps."""
@_overload
def count_nonzero(input: Tensor, dim: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
    """The number of nonzero elements, of all or along axes."""
@_overload
def count_nonzero(input: Tensor, axis: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
    """The number of nonzero elements, of all or along axes."""
def cov(input: Tensor, *, correction: _builtins.int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    """The covariance matrix of variables, the rows of the input, over observations, its columns."""
@_overload
def cross(input: Tensor, other: Tensor, dim: _builtins.int | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The vector product along an axis of length 3: the first such axis, unless one is given."""
@_overload
def cross(input: Tensor, other: Tensor, axis: _builtins.int | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The vector product along an axis of length 3: the first such axis, unless one is given."""
def ctc_loss(*args: _Any, **options: _Any) -> Tensor:
    """The negative log-probability of label sequences, over all their alignments with log-probabilities (T, N, C). Arguments: log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity."""
@_overload
def cummax(input: Tensor, dim: _builtins.int, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _Selection:
    """The cumulative maximum along a dim and its index, the last of equal ones: (values, indices)."""
@_overload
def cummax(input: Tensor, axis: _builtins.int, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _Selection:
    """The cumulative maximum along a dim and its index, the last of equal ones: (values, indices)."""
@_overload
def cummin(input: Tensor, dim: _builtins.int, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _Selection:
    """The cumulative minimum along a dim and its index, the last of equal ones: (values, indices)."""
@_overload
def cummin(input: Tensor, axis: _builtins.int, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _Selection:
    """The cumulative minimum along a dim and its index, the last of equal ones: (values, indices)."""
@_overload
def cumprod(input: Tensor, dim: _builtins.int, *, dtype: _DType | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The cumulative product along a dim; of integers and bools in int64."""
@_overload
def cumprod(input: Tensor, axis: _builtins.int, *, dtype: _DType | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The cumulative product along a dim; of integers and bools in int64."""
@_overload
def cumsum(input: Tensor, dim: _builtins.int, *, dtype: _DType | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The cumulative sum along a dim; of integers and bools in int64."""
@_overload
def cumsum(input: Tensor, axis: _builtins.int, *, dtype: _DType | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The cumulative sum along a dim; of integers and bools in int64."""
@_overload
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: _builtins.float = 1, dim: _builtins.int = -1) -> Tensor:
    """The cumulative integral along a dim by the trapezoidal rule; arguments as for `trapezoid`."""
@_overload
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: _builtins.float = 1, axis: _builtins.int = -1) -> Tensor:
    """The cumulative integral along a dim by the trapezoidal rule; arguments as for `trapezoid`."""
def deg2rad(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Degrees as radians."""
def deg2rad_(input: Tensor) -> Tensor:
    """Degrees as radians."""
def det(A: Tensor) -> Tensor:
    """The determinant; its derivative is the cofactor matrix, also where the determinant is 0."""
def detach(input: Tensor) -> Tensor:
    """A tensor with the same memory and without the history."""
def detach_(self: Tensor) -> Tensor:
    """Drop this tensor's history, in place; in inference mode, nothing changes."""
from pullback._core.placement import device as device
def diag(input: Tensor, diagonal: _builtins.int = 0, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The diagonal of a matrix, or the matrix with a vector on its diagonal."""
def diag_embed(input: Tensor, offset: _builtins.int = 0, dim1: _builtins.int = -2, dim2: _builtins.int = -1) -> Tensor:
    """Zeros whose diagonal of two new axes is the last axis of the input."""
def diagflat(input: Tensor, offset: _builtins.int = 0) -> Tensor:
    """The matrix with all elements of the input on its diagonal."""
def diagonal(input: Tensor, offset: _builtins.int = 0, dim1: _builtins.int = 0, dim2: _builtins.int = 1) -> Tensor:
    """The diagonal of two axes, as the last axis: a view; `offset` counts columns to the right of the main one."""
def diagonal_scatter(input: Tensor, src: Tensor, offset: _builtins.int = 0, dim1: _builtins.int = 0, dim2: _builtins.int = 1) -> Tensor:
    """A copy whose diagonal of two axes is `src`."""
@_overload
def diff(input: Tensor, n: _builtins.int = 1, dim: _builtins.int = -1, prepend: Tensor | None = None, append: Tensor | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The differences of neighbors along a dim, n times; `prepend` and `append` are first joined to the input."""
@_overload
def diff(input: Tensor, n: _builtins.int = 1, axis: _builtins.int = -1, prepend: Tensor | None = None, append: Tensor | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The differences of neighbors along a dim, n times; `prepend` and `append` are first joined to the input."""
def digamma(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The derivative of lgamma."""
def dist(input: Tensor, other: _TensorLike, p: _builtins.float = 2) -> Tensor:
    """The p-norm of input - other."""
def div(input: Tensor, other: _TensorLike, *, rounding_mode: str | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input / other; integers give the default dtype; `rounding_mode` is None, 'trunc' or 'floor'."""
def divide(input: Tensor, other: _TensorLike, *, rounding_mode: str | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input / other; integers give the default dtype; `rounding_mode` is None, 'trunc' or 'floor'."""
def dot(input: Tensor, tensor: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The sum of the products of two vectors."""
from pullback._core.dtypes import double as double
def dropout(input: Tensor, p: _builtins.float, train: _builtins.bool) -> Tensor:
    """While training, zeros with probability p; the other elements are divided by 1 - p; arguments as for `nn.Dropout`."""
def dropout_(input: Tensor, p: _builtins.float, train: _builtins.bool) -> Tensor:
    """In place: While training, zeros with probability p; the other elements are divided by 1 - p; argumen"""
def dsplit(input: Tensor, indices_or_sections: _builtins.int | _Sequence[_builtins.int] | Tensor) -> tuple[Tensor, ...]:
    """Parts along the third axis, as views: a number of equal parts, or those between given indices."""
def dstack(tensors: Tensor | _Sequence[Tensor], *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Tensors joined along their third axis, which is added if necessary."""
from pullback._core.dtypes import dtype as dtype
@_overload
def einsum(equation: str, *operands: _TensorLike | _Sequence[Tensor]) -> Tensor:
    """A sum of products over labeled axes, as `einsum('ij,jk->ik', a, b)`; '...' represents batch axes."""
@_overload
def einsum(operand: _TensorLike, labels: _Sequence[_builtins.int | _EllipsisType], /, *others: _TensorLike | _Sequence[_builtins.int | _EllipsisType]) -> Tensor:
    """A sum of products over labeled axes, as `einsum('ij,jk->ik', a, b)`; '...' represents batch axes."""
def embedding(weight: Tensor, indices: Tensor, padding_idx: _builtins.int = -1, scale_grad_by_freq: _builtins.bool = False, sparse: _builtins.bool = False) -> Tensor:
    """The rows of `weight` selected by the indices; a negative `padding_idx` means none."""
def empty(*sizes: _builtins.int | _Sequence[_builtins.int], size: _builtins.int | _Sequence[_builtins.int] | None = None, dtype: _DType | None = None, requires_grad: _builtins.bool = False, device: _device | str | _builtins.int | None = None, layout: object = None, pin_memory: _builtins.bool | None = None) -> Tensor:
    """A tensor of a shape whose elements are whatever the memory held."""
def empty_like(input: Tensor, *args: _Any, dtype: _DType | None = None, out: Tensor | tuple[Tensor, ...] | None = None, **options: _Any) -> Tensor:
    """Unset elements in the shape and dtype of another tensor, with its order of axes in memory."""
def empty_permuted(size: _builtins.int | _Sequence[_builtins.int], physical_layout: _builtins.int | _Sequence[_builtins.int], *, dtype: _DType | None = None, requires_grad: _builtins.bool = False, device: _device | str | _builtins.int | None = None, layout: object = None, pin_memory: _builtins.bool | None = None) -> Tensor:
    """A tensor of a given shape whose axes are ordered in memory as `physical_layout` says, outermost first."""
def empty_strided(size: _builtins.int | _Sequence[_builtins.int], stride: _builtins.int | _Sequence[_builtins.int], *, dtype: _DType | None = None, requires_grad: _builtins.bool = False, device: _device | str | _builtins.int | None = None, layout: object = None, pin_memory: _builtins.bool | None = None) -> Tensor:
    """A tensor with uninitialized elements of a given shape, with strides counted in elements."""
from pullback._core.modes import enable_grad as enable_grad
def eq(input: Tensor, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Where input == other."""
def equal(input: Tensor, other: Tensor) -> _builtins.bool:
    """True if two tensors have the same shape and elements."""
def erf(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The error function, twice the integral of exp(-t * t) from 0 to input over the square root of pi."""
def erf_(input: Tensor) -> Tensor:
    """The error function, twice the integral of exp(-t * t) from 0 to input over the square root of pi."""
def erfc(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """1 - erf(input), exact where that is nearly 0."""
def erfc_(input: Tensor) -> Tensor:
    """1 - erf(input), exact where that is nearly 0."""
def erfinv(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The number whose error function is input; inf at 1, NaN beyond."""
def exp(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """e to the input, elementwise."""
def exp2(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """2 to the input, elementwise."""
def exp2_(input: Tensor) -> Tensor:
    """2 to the input, elementwise."""
def exp_(input: Tensor) -> Tensor:
    """e to the input, elementwise."""
def expm1(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """exp(input) - 1, exact for small inputs."""
def expm1_(input: Tensor) -> Tensor:
    """exp(input) - 1, exact for small inputs."""
def eye(n: _builtins.int, m: _builtins.int | None = None, *, dtype: _DType | None = None, requires_grad: _builtins.bool = False, device: _device | str | _builtins.int | None = None, layout: object = None, pin_memory: _builtins.bool | None = None) -> Tensor:
    """A matrix with ones on the diagonal and zeros elsewhere."""
def feature_alpha_dropout(input: Tensor, p: _builtins.float, train: _builtins.bool) -> Tensor:
    """`alpha_dropout` of whole channels; arguments as for `nn.Dropout`."""
def feature_alpha_dropout_(input: Tensor, p: _builtins.float, train: _builtins.bool) -> Tensor:
    """In place: `alpha_dropout` of whole channels; arguments as for `nn.Dropout`."""
def feature_dropout(input: Tensor, p: _builtins.float, train: _builtins.bool) -> Tensor:
    """Dropout of whole channels (axis 1); arguments as for `nn.Dropout`."""
def feature_dropout_(input: Tensor, p: _builtins.float, train: _builtins.bool) -> Tensor:
    """In place: Dropout of whole channels (axis 1); arguments as for `nn.Dropout`."""
def fill(input: Tensor, value: _Number | Tensor) -> Tensor:
    """A tensor of this shape filled with one value: a number, or a 0-d tensor, which gets the sum of the gradients."""
def fill_(self: Tensor, value: _Number | Tensor) -> Tensor:
    """Set all elements to one value, a number or a 0-d tensor, in place."""
from pullback._core.dtypes import finfo as finfo
def fix(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The integer towards zero, elementwise; its gradient is 0."""
def fix_(input: Tensor) -> Tensor:
    """The integer towards zero, elementwise; its gradient is 0."""
def flatten(input: Tensor, start_dim: _builtins.int = 0, end_dim: _builtins.int = -1) -> Tensor:
    """The axes from start_dim to end_dim flattened into one."""
def flip(input: Tensor, *axes: _builtins.int | _Sequence[_builtins.int], dims: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
    """A copy with the elements reversed along axes."""
def fliplr(input: Tensor) -> Tensor:
    """A copy with the elements reversed along the second axis."""
def flipud(input: Tensor) -> Tensor:
    """A copy with the elements reversed along the first axis."""
from pullback._core.dtypes import float_ as float
from pullback._core.dtypes import float16 as float16
from pullback._core.dtypes import float32 as float32
from pullback._core.dtypes import float64 as float64
def float_power(input: Tensor, exponent: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input ** exponent in float64, or in complex128 if one of them is complex."""
def floor(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The largest integer not above, elementwise; its gradient is 0."""
def floor_(input: Tensor) -> Tensor:
    """The largest integer not above, elementwise; its gradient is 0."""
def floor_divide(input: Tensor, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The floor of input / other; it has no derivative."""
def fmax(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The larger of two tensors, elementwise; NaN counts as missing, ties go to input."""
def fmin(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The smaller of two tensors, elementwise; NaN counts as missing, ties go to input."""
def fmod(input: Tensor, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The remainder of truncated division by other; it has the sign of input."""
def fork_rng(devices: _Any = None, enabled: _builtins.bool = True, **options: _Any) -> _Iterator[None]:
    """A block after which this thread's random state is restored; not if `enabled` is False."""
def frac(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The fractional part, with the input's sign."""
def frac_(input: Tensor) -> Tensor:
    """The fractional part, with the input's sign."""
def frexp(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _Frexp:
    """The mantissa, from 0.5 to 1, and the exponent of 2 whose product is the input."""
def from_dlpack(ext_tensor: object, *, device: _device | str | _builtins.int | None = None, copy: _builtins.bool | None = None) -> Tensor:
    """A tensor that shares the memory of an array of any library with `__dlpack__`."""
def from_numpy(array: _np.ndarray[_Any, _np.dtype[_Any]]) -> Tensor:
    """A tensor that shares the memory of a NumPy array: writes to either are seen by both."""
def frombuffer(buffer: _Any, *, dtype: _DType, count: _builtins.int = -1, offset: _builtins.int = 0, requires_grad: _builtins.bool = False) -> Tensor:
    """A 1-d tensor that shares the memory of a buffer: `count` elements from a byte `offset` on, -1 for all."""
def full(size: _Sequence[_builtins.int], fill_value: _Number | Tensor, *, dtype: _DType | None = None, requires_grad: _builtins.bool = False, device: _device | str | _builtins.int | None = None, layout: object = None, pin_memory: _builtins.bool | None = None) -> Tensor:
    """A tensor filled with one value, whose type decides the dtype unless one is given."""
def full_like(input: Tensor, *args: _Any, dtype: _DType | None = None, out: Tensor | tuple[Tensor, ...] | None = None, **options: _Any) -> Tensor:
    """One value everywhere in the shape and dtype of another tensor, with its order of axes in memory."""
@_overload
def gather(input: Tensor, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], *, sparse_grad: _builtins.bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The elements along a dim selected by `index`; the result has the shape of `index`."""
@_overload
def gather(input: Tensor, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], *, sparse_grad: _builtins.bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The elements along a dim selected by `index`; the result has the shape of `index`."""
def gcd(input: _TensorLike, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The greatest common divisor of integers."""
def gcd_(input: _TensorLike, other: _TensorLike) -> Tensor:
    """The greatest common divisor of integers."""
def ge(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Where input >= other."""
def geqrf(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _GeqrfResult:
    """R, with below it the reflections whose product is Q, and their factors; it has no derivative."""
def ger(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], vec2: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """All products of an element of one vector with an element of another."""
def get_default_dtype() -> _dtype:
    """The dtype of tensors made from Python floats: float32 at first."""
def get_device(input: Tensor) -> _builtins.int:
    """The index of the tensor's device: -1 for the CPU."""
def get_machine_code() -> str:
    """When operations outside of compiled functions are computed by machine code: "auto", "always" or "never"."""
def get_num_threads() -> _builtins.int:
    """The number of threads that work on large arrays."""
def get_printoptions() -> dict[str, _Any]:
    """The current print options, as a new dictionary of keyword arguments for `set_printoptions`."""
def get_promotion() -> str:
    """The rule of type promotion in this process: 'torch' or 'standard'."""
def get_rng_state() -> dict[str, _Any]:
    """The current state of this thread's default generator, for `set_rng_state`."""
@_overload
def gradient(input: Tensor, *, spacing: _Any = 1, dim: _builtins.int | _Sequence[_builtins.int] | None = None, edge_order: _builtins.int = 1) -> tuple[Tensor, ...]:
    """Estimates of the derivative along each dim, by central differences inside and one-sided ones at the edges."""
@_overload
def gradient(input: Tensor, *, spacing: _Any = 1, axis: _builtins.int | _Sequence[_builtins.int] | None = None, edge_order: _builtins.int = 1) -> tuple[Tensor, ...]:
    """Estimates of the derivative along each dim, by central differences inside and one-sided ones at the edges."""
def greater(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Where input > other."""
def greater_equal(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Where input >= other."""
def group_norm(*args: _Any, **options: _Any) -> Tensor:
    """Groups of channels of each sample with mean 0 and variance 1, times a weight plus a bias per channel. Arguments: input, num_groups, weight, bias, eps, cudnn_enabled."""
def gru(*args: _Any, **options: _Any) -> tuple[Tensor, ...]:
    """Layers of gated recurrent units over sequences; arguments as for `rnn_tanh`."""
def gru_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """One step of a gated recurrent unit: the next state."""
def gt(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Where input > other."""
from pullback._core.dtypes import half as half
def hardshrink(input: Tensor, lambd: _builtins.float = 0.5, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """0 within `lambd` of 0, the input elsewhere; arguments as for `nn.Hardshrink`."""
def heaviside(input: Tensor, values: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """0 where input is negative, 1 where it is positive, and values where it is 0; it has no derivative."""
def hinge_embedding_loss(*args: _Any, **options: _Any) -> Tensor:
    """The input where the target is 1, max(0, margin - input) where it is -1; arguments as for `nn.HingeEmbeddingLoss`. Arguments: input, target, margin, reduction."""
def histc(input: Tensor, bins: _builtins.int = 100, min: _builtins.float = 0, max: _builtins.float = 0, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The number of elements in each of several bins of equal width from min to max, or over their range if both are 0."""
def histogram(input: Tensor, bins: Tensor | _builtins.int = 100, *, range: tuple[_builtins.float, _builtins.float] | None = None, weight: Tensor | None = None, density: _builtins.bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> _Histogram:
    """The number of elements in each of several bins: (hist, bin_edges)."""
def histogramdd(input: Tensor, bins: _builtins.int | _Sequence[_builtins.int] | _Sequence[Tensor], *, range: _Sequence[_builtins.float] | None = None, weight: Tensor | None = None, density: _builtins.bool = False) -> _Histogram:
    """The number of points, the rows along the last axis, in each cell of a grid: (hist, bin_edges), edges per dim."""
def hsplit(input: Tensor, indices_or_sections: _builtins.int | _Sequence[_builtins.int] | Tensor) -> tuple[Tensor, ...]:
    """Parts along the second axis, or the only one, as views: a number of equal parts, or those between given indices."""
def hstack(tensors: Tensor | _Sequence[Tensor], *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Tensors joined along their second axis, or along the only one."""
def hypot(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """sqrt(input**2 + other**2), without overflow."""
def i0(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0. It needs SciPy."""
def i0_(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind of order 0. It needs SciPy."""
def igamma(input: Tensor, other: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The regularized lower incomplete gamma function: how much of a gamma distribution of shape input lies below other."""
def igammac(input: Tensor, other: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The regularized upper incomplete gamma function, 1 - igamma(input, other), with the same derivatives."""
from pullback._core.dtypes import iinfo as iinfo
def imag(input: Tensor) -> Tensor:
    """The imaginary part of a complex tensor, as a view."""
@_overload
def index_add(input: Tensor, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], source: Tensor, *, alpha: _builtins.float = 1, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """A copy in which alpha times the slices of `source` are added to the slices along a dim selected by `index`."""
@_overload
def index_add(input: Tensor, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], source: Tensor, *, alpha: _builtins.float = 1, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """A copy in which alpha times the slices of `source` are added to the slices along a dim selected by `index`."""
@_overload
def index_copy(input: Tensor, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], source: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """A copy in which the slices along a dim selected by `index` are those of `source`."""
@_overload
def index_copy(input: Tensor, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], source: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """A copy in which the slices along a dim selected by `index` are those of `source`."""
@_overload
def index_fill(input: Tensor, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], value: _TensorLike) -> Tensor:
    """A copy in which the slices along a dim selected by `index` are filled with a number or a 0-d tensor."""
@_overload
def index_fill(input: Tensor, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], value: _TensorLike) -> Tensor:
    """A copy in which the slices along a dim selected by `index` are filled with a number or a 0-d tensor."""
def index_put(input: Tensor, indices: _Sequence[Tensor | _np.ndarray[_Any, _np.dtype[_Any]]], values: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], accumulate: _builtins.bool = False) -> Tensor:
    """A copy with values written, or added, at an index: a tuple with an integer or bool tensor for each axis."""
def index_put_(input: Tensor, indices: _Sequence[Tensor | _np.ndarray[_Any, _np.dtype[_Any]]], values: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], accumulate: _builtins.bool = False) -> Tensor:
    """A copy with values written, or added, at an index: a tuple with an integer or bool tensor for each axis."""
@_overload
def index_reduce(input: Tensor, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], source: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], reduce: str, *, include_self: _builtins.bool = True, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """A copy with the prod, mean, amax or amin of the slices of `source` that `index` assigns to each position."""
@_overload
def index_reduce(input: Tensor, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], source: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], reduce: str, *, include_self: _builtins.bool = True, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """A copy with the prod, mean, amax or amin of the slices of `source` that `index` assigns to each position."""
@_overload
def index_select(input: Tensor, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The slices along a dim selected by `index`, a vector."""
@_overload
def index_select(input: Tensor, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The slices along a dim selected by `index`, a vector."""
from pullback._core.modes import inference_mode as inference_mode
def initial_seed() -> _builtins.int:
    """The seed that this thread's default generator was last reset to."""
def inner(input: Tensor, other: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The sums of products along the last axes of two tensors, for all pairs; with a number, the product."""
def instance_norm(*args: _Any, **options: _Any) -> Tensor:
    """Each channel of each sample, less its mean, over its standard deviation, times a weight plus a bias. Arguments: input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled."""
from pullback._core.dtypes import int_ as int
from pullback._core.dtypes import int16 as int16
from pullback._core.dtypes import int32 as int32
from pullback._core.dtypes import int64 as int64
from pullback._core.dtypes import int8 as int8
def inverse(A: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse of square matrices; LinAlgError for one that has none."""
def is_complex(self: Tensor) -> _builtins.bool:
    """True if the dtype is complex."""
def is_conj(input: Tensor) -> _builtins.bool:
    """False: conjugation is never lazy here."""
def is_floating_point(self: Tensor) -> _builtins.bool:
    """True if the dtype is a real floating-point dtype."""
def is_grad_enabled() -> _builtins.bool:
    """Whether operations on tensors that require grad are recorded in this thread."""
def is_inference_mode_enabled() -> _builtins.bool:
    """Whether this thread is inside `inference_mode`."""
def is_neg(input: Tensor) -> _builtins.bool:
    """False: negation is never lazy here."""
def is_nonzero(input: Tensor) -> _builtins.bool:
    """True if the only element is not zero."""
def is_same_size(input: Tensor, other: Tensor) -> _builtins.bool:
    """True if two tensors have the same shape."""
def is_signed(input: Tensor) -> _builtins.bool:
    """True if the dtype has negative numbers."""
def is_storage(obj: object) -> _builtins.bool:
    """True if an object is a storage."""
def is_tensor(value: object) -> _TypeGuard[Tensor]:
    """True if a value is a tensor."""
def isclose(input: Tensor, other: _TensorLike, rtol: _builtins.float = 1e-05, atol: _builtins.float = 1e-08, equal_nan: _builtins.bool = False) -> Tensor:
    """True where abs(input - other) is at most atol + rtol * abs(other); both must have one dtype."""
def isfinite(input: Tensor) -> Tensor:
    """Where the input is neither NaN nor infinite."""
def isin(elements: _TensorLike, test_elements: _TensorLike, *, assume_unique: _builtins.bool = False, invert: _builtins.bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """True where the elements are among the test elements, or with `invert` are not; one of the two may be a number."""
def isinf(input: Tensor) -> Tensor:
    """Where the input is inf or -inf."""
def isnan(input: Tensor) -> Tensor:
    """Where the input is NaN."""
def isneginf(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Where the input is -inf."""
def isposinf(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Where the input is inf."""
def isreal(input: Tensor) -> Tensor:
    """True where the imaginary part is 0: everywhere in a real tensor."""
def istft(input: Tensor, n_fft: _builtins.int, hop_length: _builtins.int | None = None, win_length: _builtins.int | None = None, window: Tensor | None = None, center: _builtins.bool = True, normalized: _builtins.bool = False, onesided: _builtins.bool | None = None, length: _builtins.int | None = None, return_complex: _builtins.bool = False) -> Tensor:
    """The inverse of `stft`: the signals whose frames have these spectra, in the least-squares sense."""
def kl_div(*args: _Any, **options: _Any) -> Tensor:
    """The Kullback-Leibler divergence target * (log(target) - input), where input is a log-probability. Arguments: input, target, reduction, log_target."""
def kron(input: Tensor, other: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The Kronecker product: all products of an element of one tensor with one of the other, as blocks."""
@_overload
def kthvalue(input: Tensor, k: _builtins.int, dim: _builtins.int = -1, keepdim: _builtins.bool = False, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _Selection:
    """The k-th smallest element along a dim, k from 1, and its index: (values, indices)."""
@_overload
def kthvalue(input: Tensor, k: _builtins.int, axis: _builtins.int = -1, keepdims: _builtins.bool = False, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _Selection:
    """The k-th smallest element along a dim, k from 1, and its index: (values, indices)."""
def layer_norm(*args: _Any, **options: _Any) -> Tensor:
    """The input with mean 0 and variance 1 over its last axes, times a weight plus a bias. Arguments: input, normalized_shape, weight, bias, eps, cudnn_enabled."""
from pullback._core.placement import layout as layout
def lcm(input: _TensorLike, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The least common multiple of integers."""
def lcm_(input: _TensorLike, other: _TensorLike) -> Tensor:
    """The least common multiple of integers."""
def ldexp(input: Tensor, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input * 2**other."""
def ldexp_(input: Tensor, other: _TensorLike) -> Tensor:
    """input * 2**other."""
def le(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Where input <= other."""
def lerp(input: Tensor, end: _TensorLike, weight: Tensor | _builtins.float, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input + weight * (end - input): the input at weight 0, the end at weight 1."""
def less(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Where input < other."""
def less_equal(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Where input <= other."""
def lgamma(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function."""
def linspace(start: _Number | Tensor, end: _Number | Tensor, steps: _builtins.int, *, dtype: _DType | None = None, requires_grad: _builtins.bool = False, device: _device | str | _builtins.int | None = None, layout: object = None, pin_memory: _builtins.bool | None = None) -> Tensor:
    """`steps` numbers evenly spaced from start to end, both included."""
def log(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The natural logarithm, elementwise; -inf at 0, NaN below."""
def log10(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The logarithm to base 10, elementwise."""
def log10_(input: Tensor) -> Tensor:
    """The logarithm to base 10, elementwise."""
def log1p(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """log(1 + input), exact for small inputs."""
def log1p_(input: Tensor) -> Tensor:
    """log(1 + input), exact for small inputs."""
def log2(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The logarithm to base 2, elementwise."""
def log2_(input: Tensor) -> Tensor:
    """The logarithm to base 2, elementwise."""
def log_(input: Tensor) -> Tensor:
    """The natural logarithm, elementwise; -inf at 0, NaN below."""
def log_softmax(input: Tensor, dim: _builtins.int | None = None, dtype: _DType | None = None, *, axis: _builtins.int | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The logarithm of softmax along a dim, without overflow."""
def logaddexp(input: Tensor, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """log(exp(input) + exp(other)), without overflow."""
def logaddexp2(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """log2(2**input + 2**other), without overflow."""
@_overload
def logcumsumexp(input: Tensor, dim: _builtins.int, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """log(cumsum(exp(input))) along a dim, without overflow."""
@_overload
def logcumsumexp(input: Tensor, axis: _builtins.int, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """log(cumsum(exp(input))) along a dim, without overflow."""
def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant; NaN where it is negative, -inf where it is 0."""
def logical_and(input: Tensor, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Where both inputs are nonzero."""
def logical_not(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Where the input is zero."""
def logical_or(input: Tensor, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Where an input is nonzero."""
def logical_xor(input: Tensor, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Where exactly one input is nonzero."""
def logit(input: Tensor, eps: _builtins.float | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """log(input / (1 - input)), the inverse of sigmoid; `eps` clamps the input to [eps, 1 - eps]."""
def logit_(input: Tensor, eps: _builtins.float | None = None) -> Tensor:
    """log(input / (1 - input)), the inverse of sigmoid; `eps` clamps the input to [eps, 1 - eps]."""
def logspace(start: _Number | Tensor, end: _Number | Tensor, steps: _builtins.int, base: _builtins.float = 10.0, *, dtype: _DType | None = None, requires_grad: _builtins.bool = False, device: _device | str | _builtins.int | None = None, layout: object = None, pin_memory: _builtins.bool | None = None) -> Tensor:
    """`steps` powers of a base, with exponents evenly spaced from start to end, both included."""
@_overload
def logsumexp(input: Tensor, dim: _builtins.int | _Sequence[_builtins.int] | None, keepdim: _builtins.bool = False, *, keepdims: _builtins.bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """log(sum(exp(input))) along axes, without overflow."""
@_overload
def logsumexp(input: Tensor, axis: _builtins.int | _Sequence[_builtins.int] | None, keepdim: _builtins.bool = False, *, keepdims: _builtins.bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """log(sum(exp(input))) along axes, without overflow."""
from pullback._core.dtypes import long as long
def lstm(*args: _Any, **options: _Any) -> tuple[Tensor, ...]:
    """Layers of long short-term memory over sequences; arguments as for `rnn_tanh`, with `hx` of states and cells."""
def lstm_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> tuple[Tensor, ...]:
    """One step of long short-term memory: the next state and cell."""
def lt(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Where input < other."""
def lu(A: Tensor, pivot: _builtins.bool = True, get_infos: _builtins.bool = False, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _LUFactorResult | _LUFactorExResult:
    """L and U in one matrix, and the pivots; with `get_infos`, also which pivots are zero."""
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The X with A @ X = input from the result of `lu` for A."""
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: _builtins.bool = True, unpack_pivots: _builtins.bool = True, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _LUResult:
    """P, L and U from the result of `linalg.lu_factor`; those not requested are empty; arguments as for `lu_solve`."""
def manual_seed(seed: _builtins.int) -> _Generator:
    """Reset this thread's default generator to a seed; the generator is returned."""
def margin_ranking_loss(*args: _Any, **options: _Any) -> Tensor:
    """max(0, margin - target * (input1 - input2)), where target 1 ranks input1 higher, and -1 input2. Arguments: input1, input2, target, margin, reduction."""
def masked_fill(input: Tensor, mask: Tensor, value: _TensorLike) -> Tensor:
    """A copy with a number, or a 0-d tensor, written where the mask is True."""
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy with the elements of `source`, in order, written where the mask is True."""
def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The elements where the mask is True, along a single axis."""
def matmul(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], other: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input @ other: matrices, vectors, and batches of them, with broadcasting of the batch axes."""
def matrix_exp(A: Tensor) -> Tensor:
    """The exponential of square matrices: the sum of A^k / k! over k."""
def matrix_power(A: Tensor, n: _builtins.int, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """A square matrix multiplied by itself n times, or its inverse -n times."""
@_overload
def max(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The largest element; with a dim, (values, indices) along it; with a tensor, the elementwise maximum."""
@_overload
def max(input: Tensor, dim: _builtins.int, keepdim: _builtins.bool=False, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _Selection:
    """The largest element; with a dim, (values, indices) along it; with a tensor, the elementwise maximum."""
@_overload
def max(input: Tensor, axis: _builtins.int, keepdims: _builtins.bool=False, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _Selection:
    """The largest element; with a dim, (values, indices) along it; with a tensor, the elementwise maximum."""
@_overload
def max(input: Tensor, other: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The largest element; with a dim, (values, indices) along it; with a tensor, the elementwise maximum."""
def max_pool1d(input: Tensor, kernel_size: _builtins.int | _Sequence[_builtins.int], stride: _builtins.int | _Sequence[_builtins.int] | None = None, padding: _builtins.int | _Sequence[_builtins.int] = 0, dilation: _builtins.int | _Sequence[_builtins.int] = 1, ceil_mode: _builtins.bool = False, return_indices: _builtins.bool = False) -> Tensor:
    """The maxima over windows of signals, (batch, channels, length); arguments as for `nn.MaxPool1d`."""
def max_pool2d(input: Tensor, kernel_size: _builtins.int | _Sequence[_builtins.int], stride: _builtins.int | _Sequence[_builtins.int] | None = None, padding: _builtins.int | _Sequence[_builtins.int] = 0, dilation: _builtins.int | _Sequence[_builtins.int] = 1, ceil_mode: _builtins.bool = False, return_indices: _builtins.bool = False) -> Tensor:
    """The maxima over windows of images, (batch, channels, height, width); arguments as for `nn.MaxPool2d`."""
def max_pool3d(input: Tensor, kernel_size: _builtins.int | _Sequence[_builtins.int], stride: _builtins.int | _Sequence[_builtins.int] | None = None, padding: _builtins.int | _Sequence[_builtins.int] = 0, dilation: _builtins.int | _Sequence[_builtins.int] = 1, ceil_mode: _builtins.bool = False, return_indices: _builtins.bool = False) -> Tensor:
    """The maxima over windows of volumes; arguments as for `nn.MaxPool3d`."""
def maximum(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The larger of two tensors, elementwise; NaN wins, ties share the gradient."""
def mean(input: Tensor, dim: _builtins.int | _Sequence[_builtins.int] | None = None, keepdim: _builtins.bool = False, *, dtype: _DType | None = None, axis: _builtins.int | _Sequence[_builtins.int] | None = None, keepdims: _builtins.bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The mean of all elements, or along axes; of floating or complex tensors only."""
@_overload
def median(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The median, the lower one of an even number of elements; along a dim, (values, indices). NaN if any is NaN."""
@_overload
def median(input: Tensor, dim: _builtins.int, keepdim: _builtins.bool=False, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _Selection:
    """The median, the lower one of an even number of elements; along a dim, (values, indices). NaN if any is NaN."""
@_overload
def median(input: Tensor, axis: _builtins.int, keepdims: _builtins.bool=False, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _Selection:
    """The median, the lower one of an even number of elements; along a dim, (values, indices). NaN if any is NaN."""
from pullback._core.placement import memory_format as memory_format
def meshgrid(*tensors: Tensor | _Sequence[Tensor], indexing: str = 'ij') -> tuple[Tensor, ...]:
    """For each vector a view of it broadcast over the grid they span; indexing="xy" exchanges the first two axes."""
@_overload
def min(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The smallest element; with a dim, (values, indices) along it; with a tensor, the elementwise minimum."""
@_overload
def min(input: Tensor, dim: _builtins.int, keepdim: _builtins.bool=False, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _Selection:
    """The smallest element; with a dim, (values, indices) along it; with a tensor, the elementwise minimum."""
@_overload
def min(input: Tensor, axis: _builtins.int, keepdims: _builtins.bool=False, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _Selection:
    """The smallest element; with a dim, (values, indices) along it; with a tensor, the elementwise minimum."""
@_overload
def min(input: Tensor, other: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The smallest element; with a dim, (values, indices) along it; with a tensor, the elementwise minimum."""
def minimum(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The smaller of two tensors, elementwise; NaN wins, ties share the gradient."""
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The product of two matrices."""
@_overload
def mode(input: Tensor, dim: _builtins.int = -1, keepdim: _builtins.bool = False, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _Selection:
    """The most frequent element along a dim, the smallest of several, and its index: (values, indices)."""
@_overload
def mode(input: Tensor, axis: _builtins.int = -1, keepdims: _builtins.bool = False, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _Selection:
    """The most frequent element along a dim, the smallest of several, and its index: (values, indices)."""
def moveaxis(input: Tensor, source: _builtins.int | _Sequence[_builtins.int], destination: _builtins.int | _Sequence[_builtins.int]) -> Tensor:
    """Axes moved to other positions; the others keep their order."""
def movedim(input: Tensor, source: _builtins.int | _Sequence[_builtins.int], destination: _builtins.int | _Sequence[_builtins.int]) -> Tensor:
    """Axes moved to other positions; the others keep their order; arguments as for `moveaxis`."""
def msort(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The elements sorted along the first dim."""
def mul(input: Tensor, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input * other, with broadcasting."""
def multinomial(input: Tensor, num_samples: _builtins.int, replacement: _builtins.bool = False, *, generator: _Generator | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Indices drawn from each row of weights, with probabilities proportional to the weights."""
def multiply(input: Tensor, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input * other, with broadcasting."""
def mv(input: Tensor, vec: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The product of a matrix and a vector."""
def mvlgamma(input: Tensor, p: _builtins.int, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p."""
def nan_to_num(input: Tensor, nan: _builtins.float | None = None, posinf: _builtins.float | None = None, neginf: _builtins.float | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The input with NaN replaced by 0, and inf and -inf by the largest and smallest number, without gradient."""
def nan_to_num_(input: Tensor, nan: _builtins.float | None = None, posinf: _builtins.float | None = None, neginf: _builtins.float | None = None) -> Tensor:
    """The input with NaN replaced by 0, and inf and -inf by the largest and smallest number, without gradient."""
@_overload
def nanmean(input: Tensor, dim: _builtins.int | _Sequence[_builtins.int] | None = None, keepdim: _builtins.bool = False, *, dtype: _DType | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The mean of all elements that are not NaN, or along axes; of floating or complex tensors only."""
@_overload
def nanmean(input: Tensor, axis: _builtins.int | _Sequence[_builtins.int] | None = None, keepdims: _builtins.bool = False, *, dtype: _DType | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The mean of all elements that are not NaN, or along axes; of floating or complex tensors only."""
@_overload
def nanmedian(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The median of the elements that are not NaN; arguments and results as those of `median`."""
@_overload
def nanmedian(input: Tensor, dim: _builtins.int, keepdim: _builtins.bool=False, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _Selection:
    """The median of the elements that are not NaN; arguments and results as those of `median`."""
@_overload
def nanmedian(input: Tensor, axis: _builtins.int, keepdims: _builtins.bool=False, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _Selection:
    """The median of the elements that are not NaN; arguments and results as those of `median`."""
@_overload
def nanquantile(input: Tensor, q: Tensor | _builtins.float, dim: _builtins.int | None = None, keepdim: _builtins.bool = False, *, interpolation: str = 'linear', out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The quantiles of the elements that are not NaN; arguments and results as those of `quantile`."""
@_overload
def nanquantile(input: Tensor, q: Tensor | _builtins.float, axis: _builtins.int | None = None, keepdims: _builtins.bool = False, *, interpolation: str = 'linear', out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The quantiles of the elements that are not NaN; arguments and results as those of `quantile`."""
@_overload
def nansum(input: Tensor, dim: _builtins.int | _Sequence[_builtins.int] | None = None, keepdim: _builtins.bool = False, *, dtype: _DType | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The sum of all elements that are not NaN, or along axes."""
@_overload
def nansum(input: Tensor, axis: _builtins.int | _Sequence[_builtins.int] | None = None, keepdims: _builtins.bool = False, *, dtype: _DType | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The sum of all elements that are not NaN, or along axes."""
@_overload
def narrow(input: Tensor, dim: _builtins.int, start: _builtins.int | Tensor, length: _builtins.int) -> Tensor:
    """`length` slices of a tensor from a start index along a dim: a view."""
@_overload
def narrow(input: Tensor, axis: _builtins.int, start: _builtins.int | Tensor, length: _builtins.int) -> Tensor:
    """`length` slices of a tensor from a start index along a dim: a view."""
def native_channel_shuffle(input: Tensor, groups: _builtins.int) -> Tensor:
    """The channels interleaved: the first of each group, then the second of each, and so on."""
def native_group_norm(input: Tensor, weight: Tensor, bias: Tensor | None, N: _builtins.int, C: _builtins.int, HxW: _builtins.int, group: _builtins.int, eps: _builtins.float) -> tuple[Tensor, Tensor, Tensor]:
    """`group_norm`, and the means and reciprocal standard deviations of the groups, of shape (N, group)."""
def ne(input: Tensor, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Where input != other."""
def neg(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """-input."""
def neg_(input: Tensor) -> Tensor:
    """-input."""
def negative(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """-input."""
def negative_(input: Tensor) -> Tensor:
    """-input."""
def nextafter(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The next number after input in the direction of other."""
from pullback._core.modes import no_escapes as no_escapes
from pullback._core.modes import no_grad as no_grad
@_overload
def nonzero(input: Tensor, *, as_tuple: _Literal[False]=False, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The indices of the nonzero elements: one row each, or one tensor per axis with `as_tuple`."""
@_overload
def nonzero(input: Tensor, *, as_tuple: _Literal[True], out: Tensor | tuple[Tensor, ...] | None = None) -> tuple[Tensor, ...]:
    """The indices of the nonzero elements: one row each, or one tensor per axis with `as_tuple`."""
def nonzero_static(input: Tensor, *, size: _builtins.int, fill_value: _builtins.int = -1, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The indices of the first `size` nonzero elements, one per row; missing ones are filled with `fill_value`."""
@_overload
def norm(input: Tensor, p: _builtins.float | str | None = 2, dim: _builtins.int | _Sequence[_builtins.int] | None = None, keepdim: _builtins.bool = False, *, dtype: _DType | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The p-norm of all elements or along axes: p a number, inf, -inf or 'fro' (2); its slope at 0 is 0."""
@_overload
def norm(input: Tensor, p: _builtins.float | str | None = 2, axis: _builtins.int | _Sequence[_builtins.int] | None = None, keepdims: _builtins.bool = False, *, dtype: _DType | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The p-norm of all elements or along axes: p a number, inf, -inf or 'fro' (2); its slope at 0 is 0."""
def normal(mean: _builtins.float | Tensor = 0.0, std: _builtins.float | Tensor = 1.0, size: _builtins.int | _Sequence[_builtins.int] | None = None, *, generator: _Generator | None = None, dtype: _DType | None = None, requires_grad: _builtins.bool = False, device: _device | str | _builtins.int | None = None, layout: object = None, pin_memory: _builtins.bool | None = None) -> Tensor:
    """Normally distributed numbers: of a given size, or one for each element of a tensor of means or deviations."""
def not_equal(input: Tensor, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Where input != other."""
@_overload
def nuclear_norm(input: Tensor, dim: _builtins.int | _Sequence[_builtins.int] = ..., keepdim: _builtins.bool = False) -> Tensor:
    """The sum of the singular values of matrices: the older name of `linalg.matrix_norm(input, "nuc")`."""
@_overload
def nuclear_norm(input: Tensor, axis: _builtins.int | _Sequence[_builtins.int] = ..., keepdims: _builtins.bool = False) -> Tensor:
    """The sum of the singular values of matrices: the older name of `linalg.matrix_norm(input, "nuc")`."""
def numel(self: Tensor) -> _builtins.int:
    """The number of elements."""
def ones(*sizes: _builtins.int | _Sequence[_builtins.int], size: _builtins.int | _Sequence[_builtins.int] | None = None, dtype: _DType | None = None, requires_grad: _builtins.bool = False, device: _device | str | _builtins.int | None = None, layout: object = None, pin_memory: _builtins.bool | None = None) -> Tensor:
    """Ones of a shape."""
def ones_like(input: Tensor, *args: _Any, dtype: _DType | None = None, out: Tensor | tuple[Tensor, ...] | None = None, **options: _Any) -> Tensor:
    """Ones in the shape and dtype of another tensor, with its order of axes in memory."""
def orgqr(input: Tensor, tau: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The leading columns of a product of Householder reflections: Q, from the result of `geqrf`."""
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: _builtins.bool = True, transpose: _builtins.bool = False, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Q @ other for the square Q of `geqrf`; other @ Q if not `left`; with Q.mH instead of Q if `transpose`."""
def outer(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], vec2: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """All products of an element of one vector with an element of another."""
@_overload
def pairwise_distance(x1: Tensor, x2: Tensor, p: _builtins.float = 2.0, eps: _builtins.float = 1e-06, keepdim: _builtins.bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last axis; arguments as for `nn.PairwiseDistance`."""
@_overload
def pairwise_distance(x1: Tensor, x2: Tensor, p: _builtins.float = 2.0, eps: _builtins.float = 1e-06, keepdims: _builtins.bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last axis; arguments as for `nn.PairwiseDistance`."""
def pca_lowrank(A: Tensor, q: _builtins.int | None = None, center: _builtins.bool = True, niter: _builtins.int = 2) -> _SingularResult:
    """`svd_lowrank` of a matrix whose columns are shifted to mean 0, unless `center` is False."""
def pdist(input: Tensor, p: _builtins.float = 2) -> Tensor:
    """The p-norm distances between the rows of a matrix, each pair once."""
def permute(input: Tensor, *axes: _builtins.int | _Sequence[_builtins.int], dims: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
    """The axes in another order."""
def pinverse(input: Tensor, rcond: _builtins.float = 1e-15) -> Tensor:
    """The pseudoinverse; singular values up to rcond times the largest count as zero."""
def pixel_shuffle(input: Tensor, upscale_factor: _builtins.int) -> Tensor:
    """Images of r times the height and width, from r * r times as many channels; arguments as for `nn.PixelShuffle`."""
def pixel_unshuffle(input: Tensor, downscale_factor: _builtins.int) -> Tensor:
    """The inverse of `pixel_shuffle`: images of an r-th of the height and width, with r * r times as many channels."""
def poisson(input: Tensor, generator: _Generator | None = None) -> Tensor:
    """Samples of Poisson distributions, with each element as the rate."""
def poisson_nll_loss(*args: _Any, **options: _Any) -> Tensor:
    """The negative log-probability of counts, from the rate of their Poisson distribution or its logarithm. Arguments: input, target, log_input, full, eps, reduction."""
def polar(abs: Tensor, angle: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The complex numbers with these absolute values and angles."""
def polygamma(n: _builtins.int, input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The n-th derivative of digamma, n >= 0."""
def positive(input: Tensor) -> Tensor:
    """The input itself."""
def pow(input: _TensorLike, exponent: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input ** exponent, elementwise."""
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """The input above 0, elsewhere weight times it; a weight for all elements or for each channel (axis 1)."""
from pullback._core.placement import preserve_format as preserve_format
def prod(input: Tensor, dim: _builtins.int | None = None, keepdim: _builtins.bool = False, *, dtype: _DType | None = None, axis: _builtins.int | None = None, keepdims: _builtins.bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The product of all elements, or along an axis; integers and bools are multiplied as int64."""
def promote_types(type1: _DType, type2: _DType) -> _dtype:
    """The smallest dtype to which tensors of both dtypes are converted when they meet."""
def put(input: Tensor, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], source: Tensor, accumulate: _builtins.bool = False) -> Tensor:
    """A copy in which the elements of `source` replace, or are added to, those of the flattened tensor at `index`."""
def qr(input: Tensor, some: _builtins.bool = True, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _QRResult:
    """Q and R with input = Q @ R; Q is square unless `some`."""
@_overload
def quantile(input: Tensor, q: Tensor | _builtins.float, dim: _builtins.int | None = None, keepdim: _builtins.bool = False, *, interpolation: str = 'linear', out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The quantiles for fractions q, of all elements or along a dim; NaN if any element is."""
@_overload
def quantile(input: Tensor, q: Tensor | _builtins.float, axis: _builtins.int | None = None, keepdims: _builtins.bool = False, *, interpolation: str = 'linear', out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The quantiles for fractions q, of all elements or along a dim; NaN if any element is."""
def rad2deg(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Radians as degrees."""
def rad2deg_(input: Tensor) -> Tensor:
    """Radians as degrees."""
def rand(*sizes: _builtins.int | _Sequence[_builtins.int], size: _builtins.int | _Sequence[_builtins.int] | None = None, generator: _Generator | None = None, dtype: _DType | None = None, requires_grad: _builtins.bool = False, device: _device | str | _builtins.int | None = None, layout: object = None, pin_memory: _builtins.bool | None = None) -> Tensor:
    """Numbers drawn evenly from [0, 1)."""
def rand_like(input: Tensor, *args: _Any, dtype: _DType | None = None, **options: _Any) -> Tensor:
    """Numbers drawn evenly from [0, 1) in the shape and dtype of another tensor, with its order of axes in memory."""
def randint(low: _builtins.int = 0, high: _builtins.int | _Sequence[_builtins.int] | None = None, size: _builtins.int | _Sequence[_builtins.int] | None = None, *, generator: _Generator | None = None, dtype: _DType | None = None, requires_grad: _builtins.bool = False, device: _device | str | _builtins.int | None = None, layout: object = None, pin_memory: _builtins.bool | None = None) -> Tensor:
    """Random integers, uniform in [low, high); `randint(high, size)` starts at 0."""
def randint_like(input: Tensor, low: _builtins.int = 0, high: _builtins.int | None = None, **options: _Any) -> Tensor:
    """Random integers, uniform in [low, high), with the shape and dtype of another tensor; arguments as for `randint`."""
def randn(*sizes: _builtins.int | _Sequence[_builtins.int], size: _builtins.int | _Sequence[_builtins.int] | None = None, generator: _Generator | None = None, dtype: _DType | None = None, requires_grad: _builtins.bool = False, device: _device | str | _builtins.int | None = None, layout: object = None, pin_memory: _builtins.bool | None = None) -> Tensor:
    """Numbers drawn from the normal distribution with mean 0 and variance 1."""
def randn_like(input: Tensor, *args: _Any, dtype: _DType | None = None, **options: _Any) -> Tensor:
    """Normally distributed numbers in the shape and dtype of another tensor, with its order of axes in memory."""
def randperm(n: _builtins.int, *, generator: _Generator | None = None, dtype: _DType | None = None, requires_grad: _builtins.bool = False, device: _device | str | _builtins.int | None = None, layout: object = None, pin_memory: _builtins.bool | None = None) -> Tensor:
    """A random permutation of the integers from 0 to n - 1."""
def range(start: _builtins.float | Tensor, end: _builtins.float | Tensor | None = None, step: _builtins.float | Tensor = 1, *, dtype: _DType | None = None, requires_grad: _builtins.bool = False, device: _device | str | _builtins.int | None = None, layout: object = None, pin_memory: _builtins.bool | None = None) -> Tensor:
    """Numbers from start to end, both included, of the default dtype; `arange` has replaced it."""
def ravel(input: Tensor, order: str = 'C') -> Tensor:
    """All elements along one axis, contiguous in memory; with order 'F' the first index changes fastest, as in NumPy."""
def real(input: Tensor) -> Tensor:
    """The real part, as a view; a real tensor itself."""
def reciprocal(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """1 / input, elementwise."""
def reciprocal_(input: Tensor) -> Tensor:
    """1 / input, elementwise."""
def relu(input: Tensor) -> Tensor:
    """max(input, 0), elementwise; its slope at 0 is 0."""
def relu_(input: Tensor) -> Tensor:
    """In place: max(input, 0), elementwise; its slope at 0 is 0."""
def remainder(input: _TensorLike, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The remainder of floor division by other; it has the sign of other."""
@_overload
def renorm(input: Tensor, p: _builtins.float, dim: _builtins.int, maxnorm: _builtins.float, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The input with slices along a dim scaled down to the p-norm maxnorm if theirs is larger."""
@_overload
def renorm(input: Tensor, p: _builtins.float, axis: _builtins.int, maxnorm: _builtins.float, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The input with slices along a dim scaled down to the p-norm maxnorm if theirs is larger."""
@_overload
def repeat_interleave(input: Tensor, repeats: Tensor | _builtins.int | None = None, dim: _builtins.int | None = None, *, output_size: _builtins.int | None = None) -> Tensor:
    """Each element repeated along an axis, or in flat order if none is given, as often as `repeats` says."""
@_overload
def repeat_interleave(input: Tensor, repeats: Tensor | _builtins.int | None = None, axis: _builtins.int | None = None, *, output_size: _builtins.int | None = None) -> Tensor:
    """Each element repeated along an axis, or in flat order if none is given, as often as `repeats` says."""
def reshape(input: Tensor, *sizes: _builtins.int | _Sequence[_builtins.int], shape: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
    """The same elements in another shape, one entry of which may be -1; a view if the strides allow it."""
def resize_as_(self: Tensor, the_template: Tensor, *, memory_format: object = None) -> Tensor:
    """In place: `resize_` to the shape of another tensor."""
def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself: conjugation is never lazy here."""
def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: negation is never lazy here."""
def result_type(tensor: _TensorLike, other: _TensorLike) -> _dtype:
    """The dtype of the result of an operation on two tensors or numbers, by type promotion."""
def rms_norm(input: Tensor, normalized_shape: _builtins.int | _Sequence[_builtins.int], weight: Tensor | None = None, eps: _builtins.float | None = None) -> Tensor:
    """The input divided by its root mean square over its last axes, times a weight; arguments as for `nn.RMSNorm`."""
def rnn_relu(*args: _Any, **options: _Any) -> tuple[Tensor, ...]:
    """Layers of h' = relu(W x + b + V h + c) over sequences; arguments as for `rnn_tanh`."""
def rnn_relu_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """relu(w_ih @ x + b_ih + w_hh @ h + b_hh): one step of a simple recurrent network."""
def rnn_tanh(*args: _Any, **options: _Any) -> tuple[Tensor, ...]:
    """Layers of h' = tanh(W x + b + V h + c) over sequences: the last layer's states, and each layer's final states."""
def rnn_tanh_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """tanh(w_ih @ x + b_ih + w_hh @ h + b_hh): one step of a simple recurrent network."""
@_overload
def roll(input: Tensor, shifts: _builtins.int | _Sequence[_builtins.int], dims: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
    """A copy with the elements rolled along axes, from the end to the beginning; without axes, in flat order."""
@_overload
def roll(input: Tensor, shifts: _builtins.int | _Sequence[_builtins.int], axes: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
    """A copy with the elements rolled along axes, from the end to the beginning; without axes, in flat order."""
@_overload
def rot90(input: Tensor, k: _builtins.int = 1, dims: _Sequence[_builtins.int] = ...) -> Tensor:
    """A copy rotated k times by 90 degrees, from the first of two axes towards the second."""
@_overload
def rot90(input: Tensor, k: _builtins.int = 1, axes: _Sequence[_builtins.int] = ...) -> Tensor:
    """A copy rotated k times by 90 degrees, from the first of two axes towards the second."""
def round(input: Tensor, *, decimals: _builtins.int = 0, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The nearest integer, halves to even, or the nearest number with `decimals` decimals; its gradient is 0."""
def round_(input: Tensor, *, decimals: _builtins.int = 0) -> Tensor:
    """The nearest integer, halves to even, or the nearest number with `decimals` decimals; its gradient is 0."""
def row_stack(tensors: Tensor | _Sequence[Tensor], *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Tensors joined along their first axis, those with fewer than two axes as rows."""
def rrelu(input: Tensor, lower: _builtins.float = 0.125, upper: _builtins.float = 0.3333333333333333, training: _builtins.bool = False, inplace: _builtins.bool = False) -> Tensor:
    """A leaky relu whose slope is random for each element while training, and otherwise the mean of its bounds."""
def rrelu_(input: Tensor, lower: _builtins.float = 0.125, upper: _builtins.float = 0.3333333333333333, training: _builtins.bool = False) -> Tensor:
    """In place: A leaky relu whose slope is random for each element while training, and otherwise the mean"""
def rsqrt(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """1 / sqrt(input), elementwise; -inf slope at 0."""
def rsqrt_(input: Tensor) -> Tensor:
    """1 / sqrt(input), elementwise; -inf slope at 0."""
def rsub(input: Tensor, other: _TensorLike, *, alpha: _builtins.float = 1) -> Tensor:
    """other - alpha * input."""
def scalar_tensor(s: _Number, *, dtype: _DType | None = None, requires_grad: _builtins.bool = False, device: _device | str | _builtins.int | None = None, layout: object = None, pin_memory: _builtins.bool | None = None) -> Tensor:
    """A 0-d tensor that holds a number, of the default dtype unless another is given."""
@_overload
def scatter(input: Tensor, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], src: Tensor | _Number | None = None, *, value: _Number | None = None, reduce: str | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """A copy in which the elements along a dim selected by `index` are those of `src`, or one number."""
@_overload
def scatter(input: Tensor, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], src: Tensor | _Number | None = None, *, value: _Number | None = None, reduce: str | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """A copy in which the elements along a dim selected by `index` are those of `src`, or one number."""
@_overload
def scatter_add(input: Tensor, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], src: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """A copy in which the elements of `src` are added to those along a dim selected by `index`."""
@_overload
def scatter_add(input: Tensor, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], src: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """A copy in which the elements of `src` are added to those along a dim selected by `index`."""
@_overload
def scatter_reduce(input: Tensor, dim: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], src: Tensor, reduce: str, *, include_self: _builtins.bool = True, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """A copy with the sum, prod, mean, amax or amin of the elements of `src` that `index` assigns to each position."""
@_overload
def scatter_reduce(input: Tensor, axis: _builtins.int, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], src: Tensor, reduce: str, *, include_self: _builtins.bool = True, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """A copy with the sum, prod, mean, amax or amin of the elements of `src` that `index` assigns to each position."""
def searchsorted(sorted_sequence: Tensor, input: _TensorLike, *, out_int32: _builtins.bool = False, right: _builtins.bool = False, side: str | None = None, sorter: Tensor | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The indices at which values would be inserted into a sorted sequence, or into each row of several."""
def seed() -> _builtins.int:
    """Reset this thread's default generator to a seed drawn by the operating system; the seed is returned."""
def segment_reduce(data: Tensor, reduce: str, *, lengths: Tensor | None = None, indices: Tensor | None = None, offsets: Tensor | None = None, axis: _builtins.int = 0, unsafe: _builtins.bool = False, initial: _builtins.float | Tensor | None = None) -> Tensor:
    """The sums, means, maxima, minima or products of segments: consecutive parts of an axis."""
@_overload
def select(input: Tensor, dim: _builtins.int, index: _builtins.int) -> Tensor:
    """The slice of a tensor at an index along a dim: a view."""
@_overload
def select(input: Tensor, axis: _builtins.int, index: _builtins.int) -> Tensor:
    """The slice of a tensor at an index along a dim: a view."""
@_overload
def select_scatter(input: Tensor, src: Tensor, dim: _builtins.int, index: _builtins.int) -> Tensor:
    """A copy whose slice at an index along a dim is `src`."""
@_overload
def select_scatter(input: Tensor, src: Tensor, axis: _builtins.int, index: _builtins.int) -> Tensor:
    """A copy whose slice at an index along a dim is `src`."""
def selu(input: Tensor, inplace: _builtins.bool = False) -> Tensor:
    """The elu that preserves mean 0 and variance 1 from layer to layer."""
def selu_(input: Tensor) -> Tensor:
    """In place: The elu that preserves mean 0 and variance 1 from layer to layer."""
def set_default_dtype(d: _DType, /) -> None:
    """Makes a floating dtype the one of tensors made from Python floats, in this process."""
from pullback._core.modes import set_grad_enabled as set_grad_enabled
def set_machine_code(mode: str, /) -> None:
    """Choose when operations outside of compiled functions are computed by machine code, if llvmlite is installed."""
def set_num_threads(number: _builtins.int, /) -> None:
    """Set the number of threads that work on large arrays; results do not depend on it."""
def set_printoptions(precision: _builtins.int | None = None, threshold: _builtins.float | None = None, edgeitems: _builtins.int | None = None, linewidth: _builtins.int | None = None, profile: _Literal['default', 'short', 'full'] | None = None, sci_mode: _builtins.bool | None = None) -> None:
    """Choose how tensors are printed from now on, in every thread."""
def set_promotion(rule: str, /) -> None:
    """Choose the rule of type promotion in this process: torch's, which is the default, or the array API standard's."""
def set_rng_state(state: dict[str, _Any]) -> None:
    """Set this thread's default generator to a state returned by `get_rng_state`."""
def sgn(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input / abs(input), for complex numbers too; 0 at 0."""
from pullback._core.dtypes import short as short
def sigmoid(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """1 / (1 + exp(-input)), elementwise."""
def sigmoid_(input: Tensor) -> Tensor:
    """1 / (1 + exp(-input)), elementwise."""
def sign(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """-1, 0 or 1, elementwise; its gradient is 0."""
def signbit(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Where the sign bit is set: negative numbers and -0."""
def sin(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The sine, elementwise."""
def sin_(input: Tensor) -> Tensor:
    """The sine, elementwise."""
def sinc(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """sin(pi * input) / (pi * input), elementwise; 1 at 0."""
def sinc_(input: Tensor) -> Tensor:
    """sin(pi * input) / (pi * input), elementwise; 1 at 0."""
def sinh(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The hyperbolic sine, elementwise."""
def sinh_(input: Tensor) -> Tensor:
    """The hyperbolic sine, elementwise."""
@_overload
def slice_scatter(input: Tensor, src: Tensor, dim: _builtins.int = 0, start: _builtins.int | None = None, end: _builtins.int | None = None, step: _builtins.int = 1) -> Tensor:
    """A copy whose slices from `start` to `end` along a dim are those of `src`."""
@_overload
def slice_scatter(input: Tensor, src: Tensor, axis: _builtins.int = 0, start: _builtins.int | None = None, end: _builtins.int | None = None, step: _builtins.int = 1) -> Tensor:
    """A copy whose slices from `start` to `end` along a dim are those of `src`."""
def slogdet(A: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _SlogdetResult:
    """The sign of the determinant, or its phase if it is complex, and the logarithm of its absolute value."""
def softmax(input: Tensor, dim: _builtins.int | None = None, dtype: _DType | None = None, *, axis: _builtins.int | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """exp(input) divided by its sum along a dim."""
@_overload
def sort(input: Tensor, dim: _builtins.int = -1, descending: _builtins.bool = False, stable: _builtins.bool = False, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _Selection:
    """The sorted elements along a dim, and their original indices: (values, indices); indices as from `argsort`."""
@_overload
def sort(input: Tensor, axis: _builtins.int = -1, descending: _builtins.bool = False, stable: _builtins.bool = False, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _Selection:
    """The sorted elements along a dim, and their original indices: (values, indices); indices as from `argsort`."""
@_overload
def split(input: Tensor, split_size_or_sections: _builtins.int | _Sequence[_builtins.int] | None = None, dim: _builtins.int = 0, *, split_size: _builtins.int | _Sequence[_builtins.int] | None = None) -> tuple[Tensor, ...]:
    """Consecutive parts along an axis: of one size (the last may be smaller), or of the given sizes."""
@_overload
def split(input: Tensor, split_size_or_sections: _builtins.int | _Sequence[_builtins.int] | None = None, axis: _builtins.int = 0, *, split_size: _builtins.int | _Sequence[_builtins.int] | None = None) -> tuple[Tensor, ...]:
    """Consecutive parts along an axis: of one size (the last may be smaller), or of the given sizes."""
@_overload
def split_with_sizes(input: Tensor, split_sizes: _Sequence[_builtins.int], dim: _builtins.int = 0) -> tuple[Tensor, ...]:
    """Consecutive pieces of given sizes along an axis, as views."""
@_overload
def split_with_sizes(input: Tensor, split_sizes: _Sequence[_builtins.int], axis: _builtins.int = 0) -> tuple[Tensor, ...]:
    """Consecutive pieces of given sizes along an axis, as views."""
def sqrt(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The square root, elementwise; its slope at 0 is inf."""
def sqrt_(input: Tensor) -> Tensor:
    """The square root, elementwise; its slope at 0 is inf."""
def square(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input * input."""
def square_(input: Tensor) -> Tensor:
    """input * input."""
def squeeze(input: Tensor, dim: _builtins.int | _Sequence[_builtins.int] | None = None, *, axis: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
    """A view without its axes of length 1, or without those of the given axes that have length 1."""
def stack(tensors: Tensor | _Sequence[Tensor | _np.ndarray[_Any, _np.dtype[_Any]]], dim: _builtins.int = 0, *, axis: _builtins.int | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Tensors of one shape joined along a new axis."""
@_overload
def std(input: Tensor, dim: _builtins.int | _Sequence[_builtins.int] | None | _builtins.bool = None, unbiased: _builtins.bool | None = None, keepdim: _builtins.bool = False, *, out: Tensor | tuple[Tensor, ...] | None = None, **options: _Any) -> Tensor:
    """The standard deviation: the square root of `var`, with its arguments; the slope at 0 is 0."""
@_overload
def std(input: Tensor, axis: _builtins.int | _Sequence[_builtins.int] | None | _builtins.bool = None, unbiased: _builtins.bool | None = None, keepdims: _builtins.bool = False, *, out: Tensor | tuple[Tensor, ...] | None = None, **options: _Any) -> Tensor:
    """The standard deviation: the square root of `var`, with its arguments; the slope at 0 is 0."""
@_overload
def std_mean(input: Tensor, dim: _builtins.int | _Sequence[_builtins.int] | None | _builtins.bool = None, unbiased: _builtins.bool | None = None, keepdim: _builtins.bool = False, **options: _Any) -> tuple[Tensor, Tensor]:
    """`std` and `mean` along the same axes, as a pair."""
@_overload
def std_mean(input: Tensor, axis: _builtins.int | _Sequence[_builtins.int] | None | _builtins.bool = None, unbiased: _builtins.bool | None = None, keepdims: _builtins.bool = False, **options: _Any) -> tuple[Tensor, Tensor]:
    """`std` and `mean` along the same axes, as a pair."""
def stft(input: Tensor, n_fft: _builtins.int, hop_length: _builtins.int | None = None, win_length: _builtins.int | None = None, window: Tensor | None = None, center: _builtins.bool = True, pad_mode: str = 'reflect', normalized: _builtins.bool = False, onesided: _builtins.bool | None = None, return_complex: _builtins.bool | None = None, align_to_window: _builtins.bool | None = None) -> Tensor:
    """The Fourier transforms of overlapping frames of signals, of shape (..., frequency, frame)."""
from pullback._core.placement import strided as strided
from pullback._core.modes import strong_zeros as strong_zeros
def sub(input: Tensor, other: _TensorLike, *rest: _Any, alpha: _Number = 1, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input - alpha * other, with broadcasting."""
def subtract(input: Tensor, other: _TensorLike, *rest: _Any, alpha: _Number = 1, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input - alpha * other, with broadcasting."""
def sum(input: Tensor, dim: _builtins.int | _Sequence[_builtins.int] | None = None, keepdim: _builtins.bool = False, *, dtype: _DType | None = None, axis: _builtins.int | _Sequence[_builtins.int] | None = None, keepdims: _builtins.bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The sum of all elements, or along axes; integers and bools are summed as int64."""
def svd(input: Tensor, some: _builtins.bool = True, compute_uv: _builtins.bool = True, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _SingularResult:
    """U, the singular values S, descending, and V, with input = U @ diag(S) @ V.mH; square U and V unless `some`."""
def svd_lowrank(A: Tensor, q: _builtins.int = 6, niter: _builtins.int | None = 2, M: Tensor | None = None) -> _SingularResult:
    """An approximation of the q largest singular values and their vectors, by random projections, of A, or of A - M."""
def swapaxes(input: Tensor, axis0: _builtins.int, axis1: _builtins.int) -> Tensor:
    """Two axes exchanged."""
def swapdims(input: Tensor, dim0: _builtins.int, dim1: _builtins.int) -> Tensor:
    """Two axes exchanged."""
def t(input: Tensor) -> Tensor:
    """The transpose of a matrix; a tensor with fewer axes is returned unchanged."""
def take(input: Tensor, index: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The elements of the flattened tensor selected by `index`, in the shape of `index`."""
def take_along_dim(input: Tensor, indices: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], dim: _builtins.int | None = None, *, axis: _builtins.int | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The elements along a dim selected by `indices`, with other axes broadcast; of the flattened tensor without a dim."""
def tan(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The tangent, elementwise."""
def tan_(input: Tensor) -> Tensor:
    """The tangent, elementwise."""
def tanh(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The hyperbolic tangent, elementwise."""
def tanh_(input: Tensor) -> Tensor:
    """The hyperbolic tangent, elementwise."""
def tensor(data: object, *, dtype: _DType | None = None, requires_grad: _builtins.bool = False, device: _device | str | _builtins.int | None = None, layout: object = None, pin_memory: _builtins.bool | None = None) -> Tensor:
    """A new leaf tensor with a copy of the data: numbers, nested sequences, or an array."""
@_overload
def tensor_split(input: Tensor, indices_or_sections: _builtins.int | _Sequence[_builtins.int] | Tensor | None = None, dim: _builtins.int = 0, *, indices: _Sequence[_builtins.int] | Tensor | None = None) -> tuple[Tensor, ...]:
    """Parts along an axis, as views: a number of parts of nearly equal size, or those between given indices."""
@_overload
def tensor_split(input: Tensor, indices_or_sections: _builtins.int | _Sequence[_builtins.int] | Tensor | None = None, axis: _builtins.int = 0, *, indices: _Sequence[_builtins.int] | Tensor | None = None) -> tuple[Tensor, ...]:
    """Parts along an axis, as views: a number of parts of nearly equal size, or those between given indices."""
@_overload
def tensordot(a: Tensor, b: Tensor, dims: _builtins.int | _Sequence[_builtins.int] | _Sequence[_Sequence[_builtins.int]] | Tensor = 2, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The sum of products over the last `dims` axes of a and the first of b, or over axes given as two lists."""
@_overload
def tensordot(a: Tensor, b: Tensor, axes: _builtins.int | _Sequence[_builtins.int] | _Sequence[_Sequence[_builtins.int]] | Tensor = 2, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The sum of products over the last `dims` axes of a and the first of b, or over axes given as two lists."""
def threshold(input: Tensor, threshold: _builtins.float, value: _builtins.float, inplace: _builtins.bool = False, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The input above the threshold, the value elsewhere; arguments as for `nn.Threshold`."""
def threshold_(input: Tensor, threshold: _builtins.float, value: _builtins.float) -> Tensor:
    """In place: The input above the threshold, the value elsewhere; arguments as for `nn.Threshold`."""
@_overload
def tile(input: Tensor, *counts: _builtins.int | _Sequence[_builtins.int], dims: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
    """Copies side by side, a number for each of the last axes, one along the axes before."""
@_overload
def tile(input: Tensor, *counts: _builtins.int | _Sequence[_builtins.int], axes: _builtins.int | _Sequence[_builtins.int] | None = None) -> Tensor:
    """Copies side by side, a number for each of the last axes, one along the axes before."""
@_overload
def topk(input: Tensor, k: _builtins.int, dim: _builtins.int = -1, largest: _builtins.bool = True, sorted: _builtins.bool = True, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _Selection:
    """The k largest (or smallest) elements along a dim, in order, and their indices: (values, indices)."""
@_overload
def topk(input: Tensor, k: _builtins.int, axis: _builtins.int = -1, largest: _builtins.bool = True, sorted: _builtins.bool = True, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _Selection:
    """The k largest (or smallest) elements along a dim, in order, and their indices: (values, indices)."""
def trace(input: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix."""
def transpose(input: Tensor, *dims: _builtins.int, dim0: _builtins.int | None = None, dim1: _builtins.int | None = None) -> Tensor:
    """Two axes exchanged; with no axes, or all of them, NumPy's transpose."""
@_overload
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: _builtins.float = 1, dim: _builtins.int = -1) -> Tensor:
    """The integral along a dim by the trapezoidal rule, for points at coordinates x or at a distance dx."""
@_overload
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: _builtins.float = 1, axis: _builtins.int = -1) -> Tensor:
    """The integral along a dim by the trapezoidal rule, for points at coordinates x or at a distance dx."""
@_overload
def trapz(y: Tensor, x: Tensor | None = None, *, dx: _builtins.float = 1, dim: _builtins.int = -1) -> Tensor:
    """The integral along a dim by the trapezoidal rule, for points at coordinates x or at a distance dx."""
@_overload
def trapz(y: Tensor, x: Tensor | None = None, *, dx: _builtins.float = 1, axis: _builtins.int = -1) -> Tensor:
    """The integral along a dim by the trapezoidal rule, for points at coordinates x or at a distance dx."""
def triangular_solve(input: Tensor, A: Tensor, upper: _builtins.bool = True, transpose: _builtins.bool = False, unitriangular: _builtins.bool = False, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _TriangularSolveResult:
    """The X with A @ X = input for a triangular A, or A.mT @ X = input with `transpose`, and a copy of A."""
def tril(input: Tensor, diagonal: _builtins.int = 0, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The lower triangle of matrices, up to a diagonal; zeros elsewhere."""
def tril_indices(row: _builtins.int, col: _builtins.int, offset: _builtins.int = 0, *, dtype: _DType | None = None, device: _device | str | _builtins.int | None = None, layout: object = None, pin_memory: _builtins.bool | None = None) -> Tensor:
    """The places on and below the diagonal of a matrix: a row of row numbers over a row of column numbers."""
def triplet_margin_loss(*args: _Any, **options: _Any) -> Tensor:
    """max(0, margin + distance to the positive - distance to the negative), with p-norm distances. Arguments: anchor, positive, negative, margin, p, eps, swap, reduction."""
def triu(input: Tensor, diagonal: _builtins.int = 0, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The upper triangle of matrices, from a diagonal on; zeros elsewhere."""
def triu_indices(row: _builtins.int, col: _builtins.int, offset: _builtins.int = 0, *, dtype: _DType | None = None, device: _device | str | _builtins.int | None = None, layout: object = None, pin_memory: _builtins.bool | None = None) -> Tensor:
    """The places on and above the diagonal of a matrix: a row of row numbers over a row of column numbers."""
def true_divide(input: Tensor, other: _TensorLike, *, rounding_mode: str | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input / other; integers give the default dtype; `rounding_mode` is None, 'trunc' or 'floor'."""
def trunc(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The integer towards zero, elementwise; its gradient is 0."""
def trunc_(input: Tensor) -> Tensor:
    """The integer towards zero, elementwise; its gradient is 0."""
from pullback._core.dtypes import uint16 as uint16
from pullback._core.dtypes import uint32 as uint32
from pullback._core.dtypes import uint64 as uint64
from pullback._core.dtypes import uint8 as uint8
@_overload
def unbind(input: Tensor, dim: _builtins.int = 0) -> tuple[Tensor, ...]:
    """The slices along an axis, as views with a common node."""
@_overload
def unbind(input: Tensor, axis: _builtins.int = 0) -> tuple[Tensor, ...]:
    """The slices along an axis, as views with a common node."""
@_overload
def unflatten(input: Tensor, dim: _builtins.int, sizes: _builtins.int | _Sequence[_builtins.int]) -> Tensor:
    """An axis divided into several, one of whose sizes may be -1."""
@_overload
def unflatten(input: Tensor, axis: _builtins.int, sizes: _builtins.int | _Sequence[_builtins.int]) -> Tensor:
    """An axis divided into several, one of whose sizes may be -1."""
@_overload
def unique(input: Tensor, sorted: _builtins.bool=True, *, dim: _builtins.int | None=None) -> Tensor:
    """The sorted distinct elements, or slices along a dim."""
@_overload
def unique(input: Tensor, sorted: _builtins.bool=True, *, return_inverse: _Literal[True], return_counts: _Literal[False]=False, dim: _builtins.int | None=None) -> tuple[Tensor, Tensor]:
    """The sorted distinct elements, or slices along a dim."""
@_overload
def unique(input: Tensor, sorted: _builtins.bool=True, *, return_inverse: _Literal[True], return_counts: _Literal[False]=False, axis: _builtins.int | None=None) -> tuple[Tensor, Tensor]:
    """The sorted distinct elements, or slices along a dim."""
@_overload
def unique(input: Tensor, sorted: _builtins.bool=True, *, return_inverse: _Literal[False]=False, return_counts: _Literal[True], dim: _builtins.int | None=None) -> tuple[Tensor, Tensor]:
    """The sorted distinct elements, or slices along a dim."""
@_overload
def unique(input: Tensor, sorted: _builtins.bool=True, *, return_inverse: _Literal[False]=False, return_counts: _Literal[True], axis: _builtins.int | None=None) -> tuple[Tensor, Tensor]:
    """The sorted distinct elements, or slices along a dim."""
@_overload
def unique(input: Tensor, sorted: _builtins.bool=True, *, return_inverse: _Literal[True], return_counts: _Literal[True], dim: _builtins.int | None=None) -> tuple[Tensor, Tensor, Tensor]:
    """The sorted distinct elements, or slices along a dim."""
@_overload
def unique(input: Tensor, sorted: _builtins.bool=True, *, return_inverse: _Literal[True], return_counts: _Literal[True], axis: _builtins.int | None=None) -> tuple[Tensor, Tensor, Tensor]:
    """The sorted distinct elements, or slices along a dim."""
@_overload
def unique(input: Tensor, sorted: _builtins.bool=True, return_inverse: _builtins.bool=False, return_counts: _builtins.bool=False, dim: _builtins.int | None=None) -> _Any:
    """The sorted distinct elements, or slices along a dim."""
@_overload
def unique(input: Tensor, sorted: _builtins.bool=True, return_inverse: _builtins.bool=False, return_counts: _builtins.bool=False, axis: _builtins.int | None=None) -> _Any:
    """The sorted distinct elements, or slices along a dim."""
@_overload
def unique_consecutive(input: Tensor, *, dim: _builtins.int | None=None) -> Tensor:
    """The elements, or slices along a dim, without those equal to the previous one; results as those of `unique`."""
@_overload
def unique_consecutive(input: Tensor, *, return_inverse: _Literal[True], return_counts: _Literal[False]=False, dim: _builtins.int | None=None) -> tuple[Tensor, Tensor]:
    """The elements, or slices along a dim, without those equal to the previous one; results as those of `unique`."""
@_overload
def unique_consecutive(input: Tensor, *, return_inverse: _Literal[True], return_counts: _Literal[False]=False, axis: _builtins.int | None=None) -> tuple[Tensor, Tensor]:
    """The elements, or slices along a dim, without those equal to the previous one; results as those of `unique`."""
@_overload
def unique_consecutive(input: Tensor, *, return_inverse: _Literal[False]=False, return_counts: _Literal[True], dim: _builtins.int | None=None) -> tuple[Tensor, Tensor]:
    """The elements, or slices along a dim, without those equal to the previous one; results as those of `unique`."""
@_overload
def unique_consecutive(input: Tensor, *, return_inverse: _Literal[False]=False, return_counts: _Literal[True], axis: _builtins.int | None=None) -> tuple[Tensor, Tensor]:
    """The elements, or slices along a dim, without those equal to the previous one; results as those of `unique`."""
@_overload
def unique_consecutive(input: Tensor, *, return_inverse: _Literal[True], return_counts: _Literal[True], dim: _builtins.int | None=None) -> tuple[Tensor, Tensor, Tensor]:
    """The elements, or slices along a dim, without those equal to the previous one; results as those of `unique`."""
@_overload
def unique_consecutive(input: Tensor, *, return_inverse: _Literal[True], return_counts: _Literal[True], axis: _builtins.int | None=None) -> tuple[Tensor, Tensor, Tensor]:
    """The elements, or slices along a dim, without those equal to the previous one; results as those of `unique`."""
@_overload
def unique_consecutive(input: Tensor, return_inverse: _builtins.bool=False, return_counts: _builtins.bool=False, dim: _builtins.int | None=None) -> _Any:
    """The elements, or slices along a dim, without those equal to the previous one; results as those of `unique`."""
@_overload
def unique_consecutive(input: Tensor, return_inverse: _builtins.bool=False, return_counts: _builtins.bool=False, axis: _builtins.int | None=None) -> _Any:
    """The elements, or slices along a dim, without those equal to the previous one; results as those of `unique`."""
def unravel_index(indices: Tensor, shape: _builtins.int | _Sequence[_builtins.int]) -> tuple[Tensor, ...]:
    """The index along each axis of a shape, from indices into the flattened tensor."""
@_overload
def unsafe_chunk(input: Tensor, chunks: _builtins.int, dim: _builtins.int = 0) -> tuple[Tensor, ...]:
    """`chunk`, with the checks that torch leaves out."""
@_overload
def unsafe_chunk(input: Tensor, chunks: _builtins.int, axis: _builtins.int = 0) -> tuple[Tensor, ...]:
    """`chunk`, with the checks that torch leaves out."""
@_overload
def unsafe_split(input: Tensor, split_size: _builtins.int | _Sequence[_builtins.int], dim: _builtins.int = 0) -> tuple[Tensor, ...]:
    """`split`, with the checks that torch leaves out."""
@_overload
def unsafe_split(input: Tensor, split_size: _builtins.int | _Sequence[_builtins.int], axis: _builtins.int = 0) -> tuple[Tensor, ...]:
    """`split`, with the checks that torch leaves out."""
@_overload
def unsafe_split_with_sizes(input: Tensor, split_sizes: _Sequence[_builtins.int], dim: _builtins.int = 0) -> tuple[Tensor, ...]:
    """`split_with_sizes`, with the checks that torch leaves out."""
@_overload
def unsafe_split_with_sizes(input: Tensor, split_sizes: _Sequence[_builtins.int], axis: _builtins.int = 0) -> tuple[Tensor, ...]:
    """`split_with_sizes`, with the checks that torch leaves out."""
@_overload
def unsqueeze(input: Tensor, dim: _builtins.int) -> Tensor:
    """A view with a new axis of length 1."""
@_overload
def unsqueeze(input: Tensor, axis: _builtins.int) -> Tensor:
    """A view with a new axis of length 1."""
def vander(x: Tensor, N: _builtins.int | None = None, increasing: _builtins.bool = False) -> Tensor:
    """The powers of a vector's elements, one row per element, highest first; those of `linalg.vander` begin with 1."""
@_overload
def var(input: Tensor, dim: _builtins.int | _Sequence[_builtins.int] | None | _builtins.bool = None, unbiased: _builtins.bool | None = None, keepdim: _builtins.bool = False, *, out: Tensor | tuple[Tensor, ...] | None = None, **options: _Any) -> Tensor:
    """The variance over all elements or along axes, divided by count - correction (1 unless given)."""
@_overload
def var(input: Tensor, axis: _builtins.int | _Sequence[_builtins.int] | None | _builtins.bool = None, unbiased: _builtins.bool | None = None, keepdims: _builtins.bool = False, *, out: Tensor | tuple[Tensor, ...] | None = None, **options: _Any) -> Tensor:
    """The variance over all elements or along axes, divided by count - correction (1 unless given)."""
@_overload
def var_mean(input: Tensor, dim: _builtins.int | _Sequence[_builtins.int] | None | _builtins.bool = None, unbiased: _builtins.bool | None = None, keepdim: _builtins.bool = False, **options: _Any) -> tuple[Tensor, Tensor]:
    """`var` and `mean` along the same axes, as a pair."""
@_overload
def var_mean(input: Tensor, axis: _builtins.int | _Sequence[_builtins.int] | None | _builtins.bool = None, unbiased: _builtins.bool | None = None, keepdims: _builtins.bool = False, **options: _Any) -> tuple[Tensor, Tensor]:
    """`var` and `mean` along the same axes, as a pair."""
def vdot(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The sum of the products of two vectors, the first one conjugated."""
def view_as_complex(input: Tensor) -> Tensor:
    """A complex view of a real tensor whose last axis holds pairs of real and imaginary parts."""
def view_as_real(input: Tensor) -> Tensor:
    """A real view of a complex tensor, with real and imaginary parts along a new last axis."""
def vsplit(input: Tensor, indices_or_sections: _builtins.int | _Sequence[_builtins.int] | Tensor) -> tuple[Tensor, ...]:
    """Parts along the first axis, as views: a number of equal parts, or those between given indices."""
def vstack(tensors: Tensor | _Sequence[Tensor], *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Tensors joined along their first axis, those with fewer than two axes as rows."""
@_overload
def where(condition: Tensor) -> tuple[Tensor, ...]: ...
@_overload
def where(condition: Tensor, input: _TensorLike | _Callable[..., Tensor] | None, other: _TensorLike | _Callable[..., Tensor] | None, *operands: _TensorLike, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input where the condition is True, other elsewhere; the gradient goes to the selected side."""
def xlogy(input: Tensor, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input * log(other); 0 where input is 0."""
def xlogy_(input: Tensor, other: _TensorLike) -> Tensor:
    """input * log(other); 0 where input is 0."""
def zero_(self: Tensor) -> Tensor:
    """Set all elements to zero, in place."""
def zeros(*sizes: _builtins.int | _Sequence[_builtins.int], size: _builtins.int | _Sequence[_builtins.int] | None = None, dtype: _DType | None = None, requires_grad: _builtins.bool = False, device: _device | str | _builtins.int | None = None, layout: object = None, pin_memory: _builtins.bool | None = None) -> Tensor:
    """Zeros of a shape."""
def zeros_like(input: Tensor, *args: _Any, dtype: _DType | None = None, out: Tensor | tuple[Tensor, ...] | None = None, **options: _Any) -> Tensor:
    """Zeros in the shape and dtype of another tensor, with its order of axes in memory."""
