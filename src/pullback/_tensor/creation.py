"""Constructors of tensors: from data, from shapes, and from ranges.

Python floats get the default dtype (float32 unless `set_default_dtype` changes it), Python ints int64; NumPy arrays
keep their dtype.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from .._core import dtypes, errors
from .._core.bfloat import is_bfloat
from .._core.modes import innermost, quiet
from .._core.package import package
from .._core.placement import accept, preserve_format
from .._core.primitives import Carrier
from .._core.shapes import Shape, parse_sizes
from .._core.sites import named, warn
from .._core.values import require_tensor, untracked
from .._tape.cuts import escape
from .._tape.memory import storage_of
from ..vocabulary.promotion import common, limits, overflow
from .nested import is_nested, numbers, read
from .tensor import Tensor

if TYPE_CHECKING:
    from .._core.dtypes import NumpyType
    from .._core.typing import Device, DType, Number, Sizes, TensorLike, Value


Array = np.ndarray[Any, np.dtype[Any]]


def made(array: Value, requires_grad: bool) -> Tensor:
    """A leaf with an array's memory, tracked if `requires_grad`; a tensor of a transform is returned as it is."""
    if isinstance(array, Carrier):
        if requires_grad:
            raise RuntimeError(errors.FLAG_INSIDE)
        return array
    tensor: Tensor = Tensor.interpreter.wrap(array, None)
    if not isinstance(requires_grad, bool):
        raise TypeError(f"argument 'requires_grad' must be bool, not {type(requires_grad).__name__}")
    if requires_grad:
        if tensor._dtype.kind not in "fc":
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients: this one would be "
                f"{tensor.dtype}. Write floats (1. instead of 1), or pass dtype={package}.float32"
            )
        tensor.requires_grad = True
    elif (interpreter := innermost.get()) is not None:
        tensor = interpreter.adopt(tensor)
    return tensor


def chosen_dtype(dtype: DType | None) -> NumpyType:
    """The NumPy dtype for a `dtype` argument, or the default one."""
    return dtypes.default_numpy() if dtype is None else dtypes.as_dtype(dtype).numpy


def _as(array: Array, dtype: NumpyType) -> Array:
    converted: Array = quiet.run(array.astype, dtype, copy=False)
    return converted


def as_array(data: object, dtype: DType | None) -> Array:
    """A new array from Python data, by torch's rules for its dtype."""
    target = None if dtype is None else dtypes.as_dtype(dtype).numpy
    if is_nested(data):
        array, inferred = read(data, target)
    else:
        array = numbers(data, {int}, target) if type(data) is int else np.array(data)
        inferred = _inferred(data, array)
    if target is not None and array.dtype.kind == "c" and target.kind != "c":
        raise RuntimeError(f"value cannot be converted to type {dtype} without overflow: it is complex")
    wanted = inferred if target is None else target
    _check_range(array, wanted)
    return _as(array, wanted)


def _inferred(data: object, array: Array) -> NumpyType:
    """The dtype of a number or an array, or of the array that NumPy created from the data."""
    if is_bfloat(array):
        return dtypes.bfloat().numpy
    if array.dtype.kind not in "buifc":
        several = isinstance(data, np.ndarray)
        name = data.dtype.name if isinstance(data, (np.ndarray, np.generic)) else type(data).__name__
        if isinstance(data, (str, bytes)):
            raise ValueError(f"too many dimensions '{name}': a tensor holds numbers, not {data!r}")
        raise (TypeError if several else RuntimeError)(
            f"Could not infer dtype of {name}: a tensor holds numbers{errors.strange(data)}"
        )
    if hasattr(data, "__array__") and not hasattr(
        data, "within"
    ):  # arrays, NumPy's numbers, columns; not recorded numbers
        dtypes.from_numpy(array.dtype)  # refuses dtypes that tensors do not have
        return array.dtype
    own = {"f": dtypes.default_numpy(), "c": dtypes.default_complex().numpy, "b": array.dtype}
    return own.get(array.dtype.kind, np.dtype(np.int64))


def _check_range(array: Array, dtype: NumpyType) -> None:
    """Refuse integers that are out of range for an integer dtype."""
    if array.dtype.kind in "iu" and dtype.kind in "iu" and array.size:
        least, largest = limits(dtype)
        for value in (int(array.min()), int(array.max())):
            if not least <= value <= largest:
                raise overflow(value, dtype)


def tensor(data: object, *, dtype: DType | None = None, requires_grad: bool = False, **placement: object) -> Tensor:
    """A new leaf tensor with a copy of the data: numbers, nested sequences, or an array.

    Parameters
    ----------
    data
        Numbers, nested sequences of them, arrays or tensors.

    Raises
    ------
    ValueError
        If nested sequences have different lengths.
    TypeError
        If the data are not numbers.
    RuntimeError
        If `requires_grad` is set for integers or bools.

    >>> import pullback
    >>> pullback.tensor([[1.0, 2.0], [3.0, 4.0]])
    tensor([[1., 2.],
            [3., 4.]])
    """
    accept("tensor", placement)
    if isinstance(data, Carrier):
        lost = escape("tensor", data, "tensor()")
        warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            f"sourceTensor.detach().clone().requires_grad_(True), rather than {package}.tensor(sourceTensor)."
        )
        if data.level:
            same: Tensor = data.detach().clone()
            return same if dtype is None else same.to(dtype)
        copied = made(as_array(data._array.copy(), dtype), requires_grad)
        copied._cut = None if requires_grad else lost
        return copied
    return made(as_array(data, dtype), requires_grad)


def as_tensor(data: object, dtype: DType | None = None, device: Device | None = None) -> Tensor:
    """The data as a tensor, without a copy if possible: a tensor is returned itself, an array's memory is shared.

    Parameters
    ----------
    data
        Numbers, nested sequences of them, arrays or tensors.

    >>> import numpy
    >>> import pullback
    >>> pullback.as_tensor(numpy.ones(2))
    tensor([1., 1.], dtype=pullback.float64)
    """
    accept("as_tensor", {"device": device})
    if isinstance(data, Carrier):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray) and (dtype is None or dtypes.as_dtype(dtype).numpy == data.dtype):
        return from_numpy(data)
    return tensor(data, dtype=dtype)


def from_numpy(array: Array) -> Tensor:
    """A tensor that shares the memory of a NumPy array: writes to either are seen by both.

    Parameters
    ----------
    array
        The array, whose memory is shared.

    Raises
    ------
    TypeError
        If the argument is not an array, or its dtype is not one that tensors have.

    >>> import numpy
    >>> import pullback
    >>> a = numpy.zeros(2)
    >>> t = pullback.from_numpy(a)
    >>> a[0] = 5
    >>> t
    tensor([5., 0.], dtype=pullback.float64)
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__}): use {package}.tensor or as_tensor")
    if array.dtype == object:
        raise TypeError(
            f"can't convert np.ndarray of type numpy.object_: a tensor holds numbers{errors.strange(array)}"
        )
    dtypes.from_numpy(array.dtype)
    shared = made(array.view(np.ndarray), False)
    storage_of(shared)
    return shared


def sizes_of(function: str, sizes: tuple[Sizes | None, ...], size: Sizes | None = None) -> Shape:
    """The shape passed to a call, as separate numbers, as one sequence, or as the keyword `size`."""
    shape = parse_sizes(sizes if size is None else (size,), function)
    if any(length < 0 for length in shape):
        raise RuntimeError(f"Dimension size must be non-negative: got the sizes {list(shape)}")
    if math.prod(shape) >= 1 << 59:  # with 16-byte elements, the size in bytes overflows 64 bits
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}")
    return shape


def _from_shape(name: str, fill: Callable[[Shape, NumpyType], Array], text: str) -> Callable[..., Tensor]:
    def function(
        *sizes: int | Sequence[int],
        size: Sizes | None = None,
        dtype: DType | None = None,
        requires_grad: bool = False,
        **placement: object,
    ) -> Tensor:
        if placement:
            accept(name, placement)
        return made(fill(sizes_of(name, sizes, size), chosen_dtype(dtype)), requires_grad)

    return public(name, function, text)


def public(name: str, function: Callable[..., Tensor], text: str) -> Callable[..., Tensor]:
    """A function with its public name, by which it is pickled, and its docstring."""
    function.__module__ = "pullback"
    return named(name, function, text)


zeros = _from_shape(
    "zeros",
    np.zeros,
    """Zeros of a shape.

    >>> import pullback
    >>> pullback.zeros(2, 2)
    tensor([[0., 0.],
            [0., 0.]])
    """,
)
ones = _from_shape(
    "ones",
    np.ones,
    """Ones of a shape.

    >>> import pullback
    >>> pullback.ones(3)
    tensor([1., 1., 1.])
    """,
)
empty = _from_shape(
    "empty",
    np.empty,
    """A tensor of a shape whose elements are whatever the memory held.

    >>> import pullback
    >>> pullback.empty(2, 3).shape
    pullback.Size([2, 3])
    """,
)


def full(
    size: Sequence[int],
    fill_value: Number | Tensor,
    *,
    dtype: DType | None = None,
    requires_grad: bool = False,
    **placement: object,
) -> Tensor:
    """A tensor filled with one value, whose type decides the dtype unless one is given.

    Parameters
    ----------
    fill_value
        The number.

    >>> import pullback
    >>> pullback.full((2,), 7)
    tensor([7, 7])
    """
    if placement:
        accept("full", placement)
    number = untracked("full", fill_value).item() if isinstance(fill_value, Carrier | np.generic) else fill_value
    if type(number) is float and dtype is None:
        array = np.empty(sizes_of("full", (size,)), dtypes.default_numpy())
        quiet.run(array.fill, number)
        return made(array, requires_grad)
    value = as_array(number, dtype)
    return made(np.full(sizes_of("full", (size,)), value, value.dtype), requires_grad)


def eye(
    n: int, m: int | None = None, *, dtype: DType | None = None, requires_grad: bool = False, **placement: object
) -> Tensor:
    """A matrix with ones on the diagonal and zeros elsewhere.

    Parameters
    ----------
    n
        The number of rows.
    m
        The number of columns; None for as many.

    >>> import pullback
    >>> pullback.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    accept("eye", placement)
    if n < 0 or (m is not None and m < 0):
        raise RuntimeError(f"n must be greater or equal to 0, got {n if n < 0 else m}")
    return made(np.eye(n, m, dtype=chosen_dtype(dtype)), requires_grad)


def bound(function: str, value: TensorLike) -> Number:
    """The bound of a range as a number: a number, or the element of a 0-d tensor or array."""
    if isinstance(value, (bool, int, float, complex)):
        return value
    if not isinstance(value, (Carrier, np.ndarray, np.generic)):
        raise TypeError(f"{function}(): a bound must be Number or Tensor, not {type(value).__name__}")
    if value.ndim:
        raise RuntimeError(
            f"{function} only supports 0-dimensional start and end tensors, but got {value.ndim} dimension(s)"
        )
    return untracked(function, value).item()


def real_bound(function: str, value: TensorLike) -> float:
    """The bound of a range as a real number."""
    number = bound(function, value)
    if isinstance(number, complex):
        raise TypeError(f"{function}(): a bound must be a real number, not {number}")
    return number


def arange(
    start: float | Tensor,
    end: float | Tensor | None = None,
    step: float | Tensor = 1,
    *,
    dtype: DType | None = None,
    requires_grad: bool = False,
    **placement: object,
) -> Tensor:
    """Numbers from start up to, but not including, end; integers give int64.

    >>> import pullback
    >>> pullback.arange(3)
    tensor([0, 1, 2])
    """
    accept("arange", placement)
    if end is None:
        start, end = 0, start
    start, end, step = (real_bound("arange", value) for value in (start, end, step))
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    whole = all(isinstance(value, (int, np.integer)) for value in (start, end, step))
    chosen = np.dtype(np.int64) if dtype is None and whole else chosen_dtype(dtype)
    if chosen.kind in "iu":
        start, end, step = int(start), int(end), int(step)
    if step == 0:
        raise RuntimeError("step must be nonzero: it is 0, and the range would not end")
    if (end - start) * step < 0:
        raise RuntimeError(f"upper bound and lower bound inconsistent with step sign: arange({start}, {end}, {step})")
    return made(np.arange(start, end, step).astype(chosen, copy=False), requires_grad)


def _evenly(
    function: str, bounds: tuple[Number | Tensor, Number | Tensor], steps: int, dtype: DType | None
) -> tuple[Array, NumpyType]:
    """Evenly spaced numbers, and their dtype; for integer dtypes the bounds are truncated first."""
    start, end = (bound(function, value) for value in bounds)
    if steps < 0:
        raise RuntimeError(f"number of steps must be non-negative, got {steps}")
    kind = chosen_dtype(dtype)
    if isinstance(start, complex) or isinstance(end, complex):
        if dtype is None:
            kind = dtypes.default_complex().numpy
        elif kind.kind != "c":
            raise RuntimeError(
                f"torch.{function}(): inferred dtype {dtypes.default_complex()} can't be safely cast to passed dtype "
                f"{dtypes.as_dtype(dtype)}"
            )
    elif kind.kind in "iub":
        start, end = int(start), int(end)
    return quiet.run(np.linspace, start, end, steps), kind


def linspace(
    start: Number | Tensor,
    end: Number | Tensor,
    steps: int,
    *,
    dtype: DType | None = None,
    requires_grad: bool = False,
    **placement: object,
) -> Tensor:
    """`steps` numbers evenly spaced from start to end, both included.

    Parameters
    ----------
    steps
        How many numbers.

    >>> import pullback
    >>> pullback.linspace(0, 1, 3)
    tensor([0.0000, 0.5000, 1.0000])
    """
    accept("linspace", placement)
    values, kind = _evenly("linspace", (start, end), steps, dtype)
    return made(quiet.run(values.astype, kind), requires_grad)


def logspace(
    start: Number | Tensor,
    end: Number | Tensor,
    steps: int,
    base: float = 10.0,
    *,
    dtype: DType | None = None,
    requires_grad: bool = False,
    **placement: object,
) -> Tensor:
    """`steps` powers of a base, with exponents evenly spaced from start to end, both included.

    Parameters
    ----------
    start
        The exponent of the first number.
    end
        The exponent of the last number.
    steps
        How many numbers.
    base
        The base.

    >>> import pullback
    >>> pullback.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    accept("logspace", placement)
    exponents, kind = _evenly("logspace", (start, end), steps, dtype)
    powers = quiet.run(np.power, np.asarray(base, np.result_type(exponents, type(base))), exponents)
    return made(quiet.run(powers.astype, kind), requires_grad)


def scalar_tensor(s: Number, *, dtype: DType | None = None, requires_grad: bool = False, **placement: object) -> Tensor:
    """A 0-d tensor that holds a number, of the default dtype unless another is given.

    Parameters
    ----------
    s
        The number.

    >>> import pullback
    >>> pullback.scalar_tensor(2)
    tensor(2.)
    """
    accept("scalar_tensor", placement)
    return made(as_array(s, dtypes.get_default_dtype() if dtype is None else dtype), requires_grad)


def _triangle(
    function: str, places: Callable[[int, int, int], tuple[Array, ...]], where: str, example: str
) -> Callable[..., Tensor]:
    def indices(row: int, col: int, offset: int = 0, *, dtype: DType | None = None, **placement: object) -> Tensor:
        accept(function, placement)
        for place, (name, number) in enumerate((("row", row), ("col", col), ("offset", offset)), 1):
            if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
                found = type(number).__name__
                raise TypeError(f"{function}(): argument '{name}' (position {place}) must be int, not {found}")
        for name, count in (("row", row), ("col", col)):
            if count < 0:
                raise RuntimeError(f"{name} must be non-negative, got{count}")
        rows = np.stack(places(row, offset, col))
        return made(rows.astype(np.int64 if dtype is None else chosen_dtype(dtype)), False)

    text = f"""The places {where} of a matrix: a row of row numbers over a row of column numbers.

    >>> import pullback
    >>> pullback.{function}(2, 2)
    tensor({example})
    """
    return public(function, indices, text)


tril_indices = _triangle(
    "tril_indices", np.tril_indices, "on and below the diagonal", "[[0, 1, 1],\n            [0, 0, 1]]"
)
triu_indices = _triangle(
    "triu_indices", np.triu_indices, "on and above the diagonal", "[[0, 0, 1],\n            [0, 1, 1]]"
)


def empty_strided(
    size: Sizes, stride: Sizes, *, dtype: DType | None = None, requires_grad: bool = False, **placement: object
) -> Tensor:
    """A tensor with uninitialized elements of a given shape, with strides counted in elements.

    >>> import pullback
    >>> pullback.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    accept("empty_strided", placement)
    shape, steps = sizes_of("empty_strided", (size,)), parse_sizes((stride,), "empty_strided", "stride")
    if len(shape) != len(steps):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(steps)}): {list(shape)} and "
            f"{list(steps)}"
        )
    if any(step < 0 for step in steps):
        raise RuntimeError(f"empty_strided: strides are not negative, got {list(steps)}")
    kind = chosen_dtype(dtype)
    count = 0 if 0 in shape else sum((length - 1) * step for length, step in zip(shape, steps, strict=True)) + 1
    if not count:
        return made(np.empty(shape, kind), requires_grad)
    strides = [step * kind.itemsize for step in steps]
    return made(np.ndarray(shape, kind, np.empty(count, kind), 0, strides), requires_grad)


def empty_permuted(
    size: Sizes, physical_layout: Sizes, *, dtype: DType | None = None, requires_grad: bool = False, **placement: object
) -> Tensor:
    """A tensor of a given shape whose axes are ordered in memory as `physical_layout` says, outermost first.

    Parameters
    ----------
    physical_layout
        The axes in the order of memory, the outermost first.

    >>> import pullback
    >>> pullback.empty_permuted((2, 3), (1, 0)).stride()
    (1, 2)
    """
    accept("empty_permuted", placement)
    shape = sizes_of("empty_permuted", (size,))
    order = parse_sizes((physical_layout,), "empty_permuted", "physical_layout")
    if len(order) != len(shape):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = "
            f"{len(shape)} is not equal to len(physical_layout) = {len(order)}"
        )
    if sorted(order) != list(range(len(shape))):
        raise RuntimeError(f"Duplicate dim not allowed, nor one that does not exist: physical_layout is {list(order)}")
    laid_out = np.empty([shape[axis] for axis in order], chosen_dtype(dtype))
    return made(laid_out.transpose(np.argsort(order)), requires_grad)


def alike(name: str, make: Callable[..., Tensor], text: str) -> Callable[..., Tensor]:
    """The function `<name>_like`, which takes the shape and dtype from another tensor."""

    def function(input: Tensor, *args: Any, dtype: DType | None = None, **options: Any) -> Tensor:
        require_tensor(name, "input", input)
        result = make(tuple(input.shape), *args, dtype=input.dtype if dtype is None else dtype, **options)
        laid_out, inner = getattr(input._array, "form", input._array), innermost.get()  # of what is recorded, its form
        if type(laid_out) is not np.ndarray or laid_out.flags.c_contiguous or 0 in laid_out.strides:
            return result
        if inner is not getattr(input._array, "interpreter", None) or options.get("memory_format") not in (
            None,
            preserve_format,
        ):
            return result
        array = np.empty_like(laid_out, dtype=result._array.dtype)
        np.copyto(array, getattr(result._array, "_array", result._array))
        return made(array, result.requires_grad)

    text = f"""{text} in the shape and dtype of another tensor, with its order of axes in memory.

    >>> import pullback
    >>> pullback.{name}(pullback.ones(2, 3){", 1" if name == "full_like" else ""}).shape
    pullback.Size([2, 3])
    """
    return public(name, function, text)


zeros_like = alike("zeros_like", zeros, "Zeros")
ones_like = alike("ones_like", ones, "Ones")
empty_like = alike("empty_like", empty, "Unset elements")
full_like = alike("full_like", full, "One value everywhere")


def is_tensor(value: object) -> TypeGuard[Tensor]:
    """True if a value is a tensor.

    Parameters
    ----------
    value
        What may be one.

    >>> import pullback
    >>> pullback.is_tensor([1.0])
    False
    """
    return isinstance(value, Tensor)


def result_type(tensor: TensorLike, other: TensorLike) -> dtypes.dtype:
    """The dtype of the result of an operation on two tensors or numbers, by type promotion.

    Parameters
    ----------
    tensor
        A tensor or a number.
    other
        Another one.

    >>> import pullback
    >>> pullback.result_type(pullback.tensor([1]), 1.5)
    pullback.float32
    """
    return dtypes.from_numpy(common(tensor, other))


def fftfreq(n: int, d: float = 1.0, *, dtype: DType | None = None, requires_grad: bool = False) -> Tensor:
    """The frequencies of the entries of `fft` for n samples with spacing d; negative ones in the second half.

    >>> import pullback
    >>> pullback.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    return _frequencies(np.fft.fftfreq(n, d), dtype, requires_grad)


def rfftfreq(n: int, d: float = 1.0, *, dtype: DType | None = None, requires_grad: bool = False) -> Tensor:
    """The frequencies of the entries of `rfft` for n samples with spacing d.

    >>> import pullback
    >>> pullback.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """
    return _frequencies(np.fft.rfftfreq(n, d), dtype, requires_grad)


def _frequencies(values: Array, dtype: DType | None, requires_grad: bool) -> Tensor:
    kind = chosen_dtype(dtype)
    return from_numpy(values.astype(kind)).requires_grad_(requires_grad)
