"""Reductions: sums, means, extremes, norms, and the softmax family."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import ops
from .._core import dtypes
from .._core.shapes import normalize_axes, normalize_axis
from . import arithmetic, in_both_spellings, load, of_tensor, shapes
from .promotion import cast, inexact, sizes

if TYPE_CHECKING:
    from .._core.primitives import Primitive
    from .._core.typing import Dim, DType, Tensor, TensorLike


class Extremes(NamedTuple):
    """The result of max(dim) and min(dim): the values and their indices."""

    values: Tensor
    indices: Tensor


def _one_of(name: str, torch_name: str, dim: Any, axis: Any) -> Any:
    """The value of an argument that torch and NumPy spell differently."""
    if axis is None or axis is False:
        return dim
    if dim is not None and dim is not False:
        raise TypeError(f"{name}() got both '{torch_name}' and NumPy's spelling of it: pass one")
    return axis


def _axes(name: str, input: Tensor, dim: Dim, axis: Dim) -> tuple[int, ...]:
    if axis is not None:
        dim = _one_of(name, "dim", dim, axis)
    ndim = input.ndim
    if type(dim) is int and -ndim <= dim < ndim:
        return (dim + ndim if dim < 0 else dim,)
    return normalize_axes(_or_all(dim), ndim, name)


def _or_all(dim: Dim) -> Dim:
    """The given axes; the empty tuple () means all axes in most of torch's reductions."""
    return None if isinstance(dim, tuple | list) and not dim else dim


def _converted(input: Tensor, dtype: DType | None) -> Tensor:
    return input if dtype is None else cast(input, dtypes.as_dtype(dtype).numpy)


def _summable(input: Tensor, dtype: DType | None) -> Tensor:
    """The operand of a sum or product, in the requested dtype, else with integers and bools converted to int64."""
    if dtype is None and input._dtype.kind in "bui":
        return cast(input, np.dtype(np.int64))
    return _converted(input, dtype)


def scanned(name: str, input: Tensor, dtype: DType | None) -> Tensor:
    """The operand of a cumulative sum or product."""
    if dtype is not None and dtypes.as_dtype(dtype) is dtypes.bool_:
        raise NotImplementedError(f"\"{name}_out_cpu\" not implemented for 'Bool': convert the result, y.bool()")
    return _summable(input, dtype)


def sum(
    input: Tensor,
    dim: Dim = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    axis: Dim = None,
    keepdims: bool = False,
) -> Tensor:
    """The sum of all elements, or along axes; integers and bools are summed as int64.

    >>> import pullback
    >>> pullback.sum(pullback.tensor([[1, 2], [3, 4]])), pullback.sum(pullback.tensor([[1, 2], [3, 4]]), dim=0)
    (tensor(10), tensor([4, 6]))
    """
    if dtype is not None or input._dtype.kind != "f":
        input = _summable(input, dtype)
    given = dim is not None or axis is not None
    return ops.sum(input, axis=_axes("sum", input, dim, axis), keepdims=keepdim or keepdims, given=given)


def nansum(input: Tensor, dim: Dim = None, keepdim: bool = False, *, dtype: DType | None = None) -> Tensor:
    """The sum of all elements that are not NaN, or along axes.

    >>> import pullback
    >>> pullback.nansum(pullback.tensor([1.0, float("nan"), 3.0]))
    tensor(4.)
    """
    return sum(_without_nan(input), dim, keepdim, dtype=dtype)


def _without_nan(input: Tensor) -> Tensor:
    """A copy with 0 in place of each NaN."""
    return ops.where(ops.isnan(input), np.zeros((), input._dtype), input) if input._dtype.kind in "fc" else input


def prod(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    axis: int | None = None,
    keepdims: bool = False,
) -> Tensor:
    """The product of all elements, or along an axis; integers and bools are multiplied as int64.

    >>> import pullback
    >>> x = pullback.tensor([2.0, 3.0, 4.0], requires_grad=True)
    >>> x.prod().backward()
    >>> x.grad
    tensor([12.,  8.,  6.])
    """
    dim = _one_of("prod", "dim", dim, axis)
    input = _summable(input, dtype)
    if dim is None or not input.ndim:
        if dim is not None:
            normalize_axis(dim, 0, "prod")
        return ops.prod(input if input.ndim == 1 else shapes.reshape(input, -1), axis=0, keepdims=False)
    return ops.prod(input, axis=normalize_axis(dim, input.ndim, "prod"), keepdims=keepdim or keepdims)


def mean(
    input: Tensor,
    dim: Dim = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    axis: Dim = None,
    keepdims: bool = False,
) -> Tensor:
    """The mean of all elements, or along axes; of floating or complex tensors only.

    >>> import pullback
    >>> x = pullback.tensor([1.0, 2.0, 6.0], requires_grad=True)
    >>> x.mean().backward()
    >>> x.mean().item(), x.grad
    (3.0, tensor([0.3333, 0.3333, 0.3333]))
    """
    if dtype is not None:
        input = _converted(input, dtype)
    if input._dtype.kind not in "fc":
        which = "Input" if dtype is None else "Optional"
        raise RuntimeError(
            f"mean(): could not infer output dtype. {which} dtype must be either a floating point or complex dtype. "
            f"Got: {input._type_name}. Convert first: x.float().mean()"
        )
    given = dim is not None or axis is not None
    return ops.mean(input, axis=_axes("mean", input, dim, axis), keepdims=keepdim or keepdims, given=given)


def nanmean(input: Tensor, dim: Dim = None, keepdim: bool = False, *, dtype: DType | None = None) -> Tensor:
    """The mean of all elements that are not NaN, or along axes; of floating or complex tensors only.

    >>> import pullback
    >>> pullback.nanmean(pullback.tensor([1.0, float("nan"), 3.0]))
    tensor(2.)
    """
    input = _converted(input, dtype)
    if input._dtype.kind not in "fc":
        raise RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got {input.dtype}")
    if input._dtype.char in "eE":  # halves cannot represent large counts
        return cast(nanmean(cast(input, np.dtype(np.float32)), dim, keepdim), input._dtype)
    total = sum(_without_nan(input), dim, keepdim)
    return ops.divide(total, cast(sum(ops.logical_not(ops.isnan(input)), dim, keepdim), total._dtype))


def count_nonzero(input: Tensor, dim: Dim = None) -> Tensor:
    """The number of nonzero elements, of all or along axes.

    >>> import pullback
    >>> pullback.count_nonzero(pullback.tensor([[1, 0], [2, 3]]), dim=1)
    tensor([1, 2])
    """
    return sum(ops.not_equal(input, np.zeros((), input._dtype)), dim)


def trace(input: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix.

    >>> import pullback
    >>> pullback.trace(pullback.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor(5.)
    """
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got a tensor of shape {tuple(input.shape)}")
    return sum(ops.diagonal(input, axes=(0, 1)))


def _spread(
    primitive: Primitive,
    input: Tensor,
    dim: Dim | bool,
    unbiased: bool | None,
    keepdim: bool,
    *,
    correction: float | None = None,
    ddof: float | None = None,
    axis: Dim = None,
    keepdims: bool = False,
) -> Tensor:
    """The implementation of var and std, which have the same arguments."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    correction = _one_of(primitive.name, "correction", correction, ddof)
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    if input._dtype.kind not in "fc":
        raise RuntimeError(f"std and var only support floating point and complex dtypes, not {input.dtype}")
    axes = _axes(primitive.name, input, dim, axis)
    return primitive(input, axis=axes, correction=correction, keepdims=keepdim or keepdims)


def var(
    input: Tensor, dim: Dim | bool = None, unbiased: bool | None = None, keepdim: bool = False, **options: Any
) -> Tensor:
    """The variance over all elements or along axes, divided by count - correction (1 unless given).

    >>> import pullback
    >>> pullback.var(pullback.tensor([1.0, 3.0, 5.0])), pullback.var(pullback.tensor([1.0, 3.0]), correction=0)
    (tensor(4.), tensor(1.))
    """
    return _spread(ops.var, input, dim, unbiased, keepdim, **options)


def std(
    input: Tensor, dim: Dim | bool = None, unbiased: bool | None = None, keepdim: bool = False, **options: Any
) -> Tensor:
    """The standard deviation: the square root of `var`, with its arguments; the slope at 0 is 0.

    >>> import pullback
    >>> pullback.std(pullback.tensor([1.0, 3.0, 5.0])), pullback.std(pullback.tensor([1.0, 3.0]), correction=0)
    (tensor(2.), tensor(1.))
    """
    return _spread(ops.std, input, dim, unbiased, keepdim, **options)


@of_tensor
def var_mean(
    input: Tensor, dim: Dim | bool = None, unbiased: bool | None = None, keepdim: bool = False, **options: Any
) -> tuple[Tensor, Tensor]:
    """`var` and `mean` along the same axes, as a pair.

    >>> import pullback
    >>> pullback.var_mean(pullback.tensor([1.0, 3.0, 5.0]))
    (tensor(4.), tensor(3.))
    """
    return _with_mean(var, input, dim, unbiased, keepdim, options)


@of_tensor
def std_mean(
    input: Tensor, dim: Dim | bool = None, unbiased: bool | None = None, keepdim: bool = False, **options: Any
) -> tuple[Tensor, Tensor]:
    """`std` and `mean` along the same axes, as a pair.

    >>> import pullback
    >>> pullback.std_mean(pullback.tensor([1.0, 3.0, 5.0]))
    (tensor(2.), tensor(3.))
    """
    return _with_mean(std, input, dim, unbiased, keepdim, options)


def _with_mean(function: Any, input: Tensor, dim: Any, unbiased: Any, keepdim: bool, options: dict[str, Any]) -> Any:
    spread = function(input, dim, unbiased, keepdim, **options)
    return spread, mean(input, None if isinstance(dim, bool) else dim, keepdim, axis=options.get("axis"))


def _extreme(name: str, input: Tensor, dim: Any, keepdim: bool, axis: Any, keepdims: bool) -> Any:
    """max and min: over all elements, along an axis with indices, or elementwise with another tensor."""
    if axis is not None:
        dim = _one_of(name, "dim", dim, axis)
    if dim is not None and not isinstance(dim, (int, np.integer)):
        return (arithmetic.maximum if name == "max" else arithmetic.minimum)(input, dim)
    arithmetic.refuse_unordered(name, input._dtype)
    reduce, locate = (ops.largest, ops.argmax) if name == "max" else (ops.smallest, ops.argmin)
    if dim is None:
        if input.numel() == 0:
            raise _no_dim(name)
        return reduce(input, axis=tuple(range(input.ndim)), keepdims=False)
    place = normalize_axis(dim, input.ndim)
    if input.ndim == 0:
        return Extremes(input.clone(), locate(input, axis=None))
    _refuse_empty(name, input, place)
    keepdim = keepdim or keepdims
    indices = locate(input, axis=place, keepdims=keepdim)
    label = "MaxBackward0" if name == "max" else "MinBackward0"
    values = ops.select_along(input, indices, axis=place, keepdims=keepdim, label=label)
    return Extremes(values, indices)


def _refuse_empty(name: str, input: Tensor, axis: int) -> None:
    if input.shape[axis] == 0:
        raise IndexError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")


def _second(name: str, dim: Any, other: Any) -> Any:
    """The second argument: a dim or another tensor."""
    if dim is not None and other is not None:
        raise TypeError(f"{name}() received an invalid combination of arguments: both dim and other, pass one")
    return dim if other is None else other


def max(
    input: Tensor,
    dim: int | Tensor | None = None,
    keepdim: bool = False,
    *,
    other: TensorLike | None = None,
    axis: int | None = None,
    keepdims: bool = False,
) -> Tensor:
    """The largest element; with a dim, (values, indices) along it; with a tensor, the elementwise maximum.

    Over all elements, ties share the gradient; along a dim, the first of them gets it.

    >>> import pullback
    >>> a = pullback.tensor([[1, 5], [7, 2]])
    >>> a.max(), a.max(dim=1).indices
    (tensor(7), tensor([1, 0]))
    >>> pullback.max(pullback.tensor([1, 5]), pullback.tensor([3, 3]))
    tensor([3, 5])
    """
    return _extreme("max", input, _second("max", dim, other), keepdim, axis, keepdims)


def min(
    input: Tensor,
    dim: int | Tensor | None = None,
    keepdim: bool = False,
    *,
    other: TensorLike | None = None,
    axis: int | None = None,
    keepdims: bool = False,
) -> Tensor:
    """The smallest element; with a dim, (values, indices) along it; with a tensor, the elementwise minimum.

    >>> import pullback
    >>> a = pullback.tensor([[1, 5], [7, 2]])
    >>> a.min(), a.min(dim=1).indices
    (tensor(1), tensor([0, 1]))
    >>> pullback.min(pullback.tensor([1, 5]), pullback.tensor([3, 3]))
    tensor([1, 3])
    """
    return _extreme("min", input, _second("min", dim, other), keepdim, axis, keepdims)


def amax(input: Tensor, dim: Dim = None, keepdim: bool = False, *, axis: Dim = None, keepdims: bool = False) -> Tensor:
    """The largest element along axes; ties share the gradient.

    >>> import pullback
    >>> x = pullback.tensor([1.0, 3.0, 3.0], requires_grad=True)
    >>> pullback.amax(x).backward()
    >>> x.grad
    tensor([0.0000, 0.5000, 0.5000])
    """
    return ops.amax(input, axis=_nonempty_axes("amax", input, dim, axis), keepdims=keepdim or keepdims)


def amin(input: Tensor, dim: Dim = None, keepdim: bool = False, *, axis: Dim = None, keepdims: bool = False) -> Tensor:
    """The smallest element along axes; ties share the gradient.

    >>> import pullback
    >>> pullback.amin(pullback.tensor([[1.0, 3.0], [4.0, 2.0]]), dim=1)
    tensor([1., 2.])
    """
    return ops.amin(input, axis=_nonempty_axes("amin", input, dim, axis), keepdims=keepdim or keepdims)


def _nonempty_axes(name: str, input: Tensor, dim: Dim, axis: Dim) -> tuple[int, ...]:
    axes = _axes(name, input, dim, axis)
    arithmetic.refuse_unordered(name, input._dtype)
    if 0 in input.shape:
        if _or_all(dim) is None and _or_all(axis) is None:
            raise _no_dim(name)
        for place in axes:
            _refuse_empty(name, input, place)
    return axes


def _no_dim(name: str) -> RuntimeError:
    return RuntimeError(
        f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
        "'dim' argument."
    )


class LeastAndLargest(NamedTuple):
    """The result of aminmax."""

    min: Tensor
    max: Tensor


def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> LeastAndLargest:
    """The smallest and the largest element, of all or along an axis; ties share the gradient.

    >>> import pullback
    >>> pullback.aminmax(pullback.tensor([3.0, 1.0, 2.0]))
    LeastAndLargest(min=tensor(1.), max=tensor(3.))
    """
    if dim is not None and not isinstance(dim, (int, np.integer)):
        raise TypeError(f"aminmax(): argument 'dim' must be int, not {type(dim).__name__}")
    if input.numel() == 0 and dim is None:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity. Specify the "
            "reduction dim with the 'dim' argument."
        )
    return LeastAndLargest(amin(input, dim, keepdim), amax(input, dim, keepdim))


def _locate(name: str, primitive: Primitive, input: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    arithmetic.refuse_unordered(name, input._dtype)
    if dim is None:
        if input.numel() == 0:
            raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        return primitive(input, axis=None, keepdims=keepdim)
    place = normalize_axis(dim, input.ndim)
    if input.ndim == 0:
        return primitive(input, axis=None)
    _refuse_empty(name, input, place)
    return primitive(input, axis=place, keepdims=keepdim)


@in_both_spellings
def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False, *, axis: int | None = None) -> Tensor:
    """The index of the largest element, in the flattened tensor or along a dim; the first if there are several.

    >>> from pullback import argmax, tensor
    >>> argmax(tensor([[1, 5], [5, 2]])), argmax(tensor([[1, 5], [5, 2]]), dim=1)
    (tensor(1), tensor([1, 0]))
    """
    return _locate("argmax", ops.argmax, input, _one_of("argmax", "dim", dim, axis), keepdim)


@in_both_spellings
def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False, *, axis: int | None = None) -> Tensor:
    """The index of the smallest element, in the flattened tensor or along a dim; the first if there are several.

    >>> from pullback import argmin, tensor
    >>> argmin(tensor([[4, 1], [1, 2]])), argmin(tensor([[4, 1], [1, 2]]), dim=1)
    (tensor(1), tensor([1, 0]))
    """
    return _locate("argmin", ops.argmin, input, _one_of("argmin", "dim", dim, axis), keepdim)


def all(input: Tensor, dim: Dim = None, keepdim: bool = False, *, axis: Dim = None, keepdims: bool = False) -> Tensor:
    """True if every element is nonzero, of all or along axes; with dim=(), elementwise.

    >>> import pullback
    >>> pullback.all(pullback.tensor([[1, 1], [1, 0]]), dim=1)
    tensor([ True, False])
    """
    return _truth(ops.all, input, _one_of("all", "dim", dim, axis), keepdim or keepdims)


def any(input: Tensor, dim: Dim = None, keepdim: bool = False, *, axis: Dim = None, keepdims: bool = False) -> Tensor:
    """True if some element is nonzero, of all or along axes; with dim=(), elementwise.

    >>> import pullback
    >>> pullback.any(pullback.tensor([[0, 0], [1, 0]]), dim=1)
    tensor([False,  True])
    """
    return _truth(ops.any, input, _one_of("any", "dim", dim, axis), keepdim or keepdims)


def _truth(primitive: Primitive, input: Tensor, dim: Dim, keepdims: bool) -> Tensor:
    """A result of `all` or `any`: bool, but uint8 for uint8, as in torch."""
    result = primitive(input, axis=normalize_axes(dim, input.ndim, primitive.name), keepdims=keepdims)
    return cast(result, input._dtype) if input._dtype == np.uint8 else result


def norm(
    input: Tensor, p: float | str | None = 2, dim: Dim = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Tensor:
    """The p-norm of all elements or along axes: p a number, inf, -inf or 'fro' (2); its slope at 0 is 0.

    With p = 'nuc', the sum of the singular values of a matrix, or of each matrix in the plane of two axes.

    Parameters
    ----------
    p
        The exponent of the norm, 'fro' or 'nuc'.

    >>> import pullback
    >>> pullback.norm(pullback.tensor([3.0, -4.0])), pullback.norm(pullback.tensor([3.0, -4.0]), p=1)
    (tensor(5.), tensor(7.))
    """
    input = _converted(input, dtype)
    if input._dtype.kind not in "fc":
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {input._type_name}"
        )
    dim = _or_all(dim)
    axes = normalize_axes(dim, input.ndim)
    p = 2 if p is None else p
    if isinstance(p, str):
        _check_matrix_norm(p, input.ndim, axes, given=dim is not None)
        if p == "nuc":
            return load("vocabulary.norms", "matrix_norm")(input, p, axes, keepdim)
        p = 2
    if isinstance(p, complex):
        raise RuntimeError(f"linalg.vector_norm: Expected a non-complex scalar as the order of norm. Got {p}")
    if input.numel() == 0 and (p < 0 or p == math.inf) and math.prod(input.shape[i] for i in axes) == 0:
        raise RuntimeError(f"linalg.vector_norm cannot compute the {p} norm on an empty tensor: it has no identity")
    return ops.vector_norm(sizes(input, float(p)), order=float(p), axis=axes, keepdims=keepdim)


def _check_matrix_norm(order: str, ndim: int, axes: tuple[int, ...], *, given: bool) -> None:
    """Raise for unknown names of norms; 'fro' over all axes or one axis is the norm of a vector."""
    if order not in ("fro", "nuc"):
        raise RuntimeError(
            f"linalg.matrix_norm: Order {order} not supported. p is a number, math.inf, -math.inf, 'fro' or 'nuc'"
        )
    if order == "nuc" and ndim < 2:
        raise RuntimeError(f"linalg.matrix_norm: The input tensor A must have at least 2 dimensions, and has {ndim}")
    if len(axes) != 2 and (order == "nuc" or (given and len(axes) > 2)):
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, axes))}")


def dist(input: Tensor, other: TensorLike, p: float = 2) -> Tensor:
    """The p-norm of input - other.

    Parameters
    ----------
    p
        The exponent of the norm.

    >>> import pullback
    >>> pullback.dist(pullback.tensor([1.0, 1.0]), pullback.tensor([4.0, 5.0]))
    tensor(5.)
    """
    return norm(inexact(arithmetic.sub(input, other)), p)


def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """The input with slices along a dim scaled down to the p-norm maxnorm if theirs is larger.

    Parameters
    ----------
    p
        The exponent of the norm.
    maxnorm
        The largest norm.

    >>> import pullback
    >>> pullback.renorm(pullback.tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0)
    tensor([[0.6000, 0.8000],
            [0.3000, 0.4000]])
    """
    if input.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions")
    if p <= 0 or maxnorm < 0:
        raise RuntimeError(
            f"renorm: non-positive-norm not supported and expected maxnorm to be >= 0 but got p {p} and maxnorm {maxnorm}"
        )
    place = normalize_axis(dim, input.ndim, "renorm")
    sizes = norm(input, p, [i for i in range(input.ndim) if i != place], True)
    factor = arithmetic.where(arithmetic.gt(sizes, maxnorm), arithmetic.div(maxnorm, arithmetic.add(sizes, 1e-7)), 1.0)
    return arithmetic.mul(input, factor).contiguous()


@in_both_spellings
def logsumexp(input: Tensor, dim: Dim, keepdim: bool = False, *, keepdims: bool = False) -> Tensor:
    """log(sum(exp(input))) along axes, without overflow.

    >>> import pullback
    >>> pullback.logsumexp(pullback.tensor([1000.0, 1000.0]), dim=0)  # 1000 + log(2)
    tensor(1000.6932)
    """
    axes = normalize_axes(_or_all(dim), input.ndim)
    return ops.logsumexp(inexact(input), axis=axes, keepdims=keepdim or keepdims)


def softmax(input: Tensor, dim: int | None = None, dtype: DType | None = None, *, axis: int | None = None) -> Tensor:
    """exp(input) divided by its sum along a dim."""
    return _along("softmax", ops.softmax, input, dim, dtype, axis)


def log_softmax(
    input: Tensor, dim: int | None = None, dtype: DType | None = None, *, axis: int | None = None
) -> Tensor:
    """The logarithm of softmax along a dim, without overflow."""
    return _along("log_softmax", ops.log_softmax, input, dim, dtype, axis)


def _along(
    name: str, primitive: Primitive, input: Tensor, dim: int | None, dtype: DType | None, axis: int | None
) -> Tensor:
    if axis is not None:
        dim = _one_of(name, "dim", dim, axis)
    if dim is None:
        raise TypeError(f"{name}() missing 1 required positional argument: 'dim', the axis that sums to one")
    if dtype is not None:
        input = _converted(input, dtype)
    if input._dtype.kind != "f":
        raise NotImplementedError(
            f'"{name}" not implemented for {input._type_name!r}: it is for real numbers, x.float()'
        )
    ndim = input.ndim
    place = dim if type(dim) is int and 0 <= dim < ndim else normalize_axis(dim, ndim)
    if ndim:
        return primitive(input, axis=place)
    return ops.reshape(primitive(ops.reshape(input, shape=(1,)), axis=0), shape=())


@in_both_spellings
def cumsum(input: Tensor, dim: int, *, dtype: DType | None = None) -> Tensor:
    """The cumulative sum along a dim; of integers and bools in int64.

    >>> import pullback
    >>> pullback.cumsum(pullback.tensor([1.0, 2.0, 3.0]), dim=0)
    tensor([1., 3., 6.])
    """
    input = scanned("cumsum", input, dtype)
    place = normalize_axis(dim, input.ndim)
    return ops.cumsum(input, axis=place) if input.ndim else input.clone()
