"""Making tensors: from data, from shapes, from ranges, and at random.

Python floats become the default dtype (float32 unless `set_default_dtype` says otherwise), Python ints int64; NumPy
arrays keep their dtype.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _dtypes, _refusals
from ._core import Carrier
from ._memory import storage_of
from ._modes import quiet
from ._promotion import common
from ._shapes import parse_sizes
from ._tensor import Tensor


def _made(array: Any, requires_grad: bool) -> Tensor:
    made: Tensor = Tensor.interpreter.wrap(array, None)
    if not isinstance(requires_grad, bool):
        raise TypeError(f"argument 'requires_grad' must be bool, not {type(requires_grad).__name__}")
    if requires_grad:
        if made._dtype.kind not in "fc":
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients: this one would be "
                f"{made.dtype}. Write floats (1. instead of 1), or pass dtype=pullback.float32"
            )
        made.requires_grad = True
    return made


def _flag_dtype(dtype: Any) -> np.dtype[Any]:
    """The dtype asked for, or the default one."""
    return _dtypes.default_numpy() if dtype is None else _dtypes.as_dtype(dtype).numpy


def _first(data: Any) -> Any:
    """The first element of nested sequences, which decides between Python's and NumPy's dtypes."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return data


def _without_tensors(data: Any) -> Any:
    """Nested sequences with arrays in the place of tensors."""
    if isinstance(data, Carrier):
        if data._node is not None:
            warnings.warn(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
                "Consider using tensor.detach() first. To keep the gradient, join tensors with pullback.stack.",
                UserWarning,
                stacklevel=4,
            )
        return data._array
    if isinstance(data, (list, tuple)):
        return [_without_tensors(item) for item in data]
    return data


def _check_regular(data: Any, depth: int = 0) -> None:
    """Refuse ragged sequences and entries that are no numbers, in torch's words."""
    if not isinstance(data, (list, tuple)):
        if isinstance(data, (str, bytes)):
            raise ValueError(f"too many dimensions '{type(data).__name__}': a tensor holds numbers, not {data!r}")
        return
    lengths = [len(item) if isinstance(item, (list, tuple)) else None for item in data]
    for length, item in zip(lengths, data, strict=True):
        if length != lengths[0]:
            got = f"{length}" if length is not None else type(item).__name__
            raise ValueError(
                f"expected sequence of length {lengths[0]} at dim {depth + 1} (got {got}): the rows of a tensor have one "
                "length"
            )
        _check_regular(item, depth + 1)


def _as(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    converted: np.ndarray[Any, Any] = quiet.run(array.astype, dtype, copy=False)
    return converted


def _array(data: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """A new array from Python data, by torch's rules for its dtype."""
    if isinstance(data, (list, tuple)):
        data = _without_tensors(data)
        _check_regular(data)
    first = _first(data)
    array = np.array(data)
    if array.dtype.kind not in "buifc":
        name = first.dtype.name if isinstance(first, (np.ndarray, np.generic)) else type(first).__name__
        raise (TypeError if isinstance(data, np.ndarray) else RuntimeError)(
            f"Could not infer dtype of {name}: a tensor holds numbers, and cannot be made from {type(data).__name__} with "
            f"elements of type {name}"
        )
    if dtype is not None:
        if array.dtype.kind == "c" and not _dtypes.as_dtype(dtype).is_complex:
            raise RuntimeError(f"value cannot be converted to type {dtype} without overflow: it is complex")
        _check_range(array, _dtypes.as_dtype(dtype).numpy)
        return _as(array, _dtypes.as_dtype(dtype).numpy)
    if isinstance(first, (np.ndarray, np.generic)):
        _dtypes.from_numpy(array.dtype)
        return array
    wanted = {"f": _dtypes.default_numpy(), "c": _dtypes.default_complex().numpy}.get(array.dtype.kind)
    wanted = wanted or (_dtypes.default_numpy() if array.size == 0 else array.dtype)
    return _as(array, wanted)


def _check_range(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> None:
    """Refuse integers that an integer dtype cannot hold."""
    if array.dtype.kind in "iu" and dtype.kind in "iu" and array.size:
        info = np.iinfo(dtype)
        for value in (int(array.min()), int(array.max())):
            if not info.min <= value <= info.max:
                raise RuntimeError(
                    f"value cannot be converted to type {dtype} without overflow: {value} is outside {info.min}..{info.max}"
                )


def _check_device(device: Any) -> None:
    if device is not None and str(device).partition(":")[0] != "cpu":
        raise RuntimeError(f"pullback computes on the CPU: there is no device {device!r}")


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A new leaf tensor with a copy of the data: numbers, nested sequences, or an array.

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
    _check_device(device)
    if isinstance(data, Carrier):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than pullback.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
        data = data._array.copy()
    return _made(_array(data, dtype), requires_grad)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Any:
    """The data as a tensor, without a copy where that is possible: a tensor stays itself, an array is shared.

    >>> import numpy
    >>> import pullback
    >>> pullback.as_tensor(numpy.ones(2))
    tensor([1., 1.], dtype=pullback.float64)
    """
    if isinstance(data, Carrier):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray) and (dtype is None or _dtypes.as_dtype(dtype).numpy == data.dtype):
        return from_numpy(data)
    return tensor(data, dtype=dtype)


asarray = as_tensor


def from_numpy(array: np.ndarray[Any, Any]) -> Tensor:
    """A tensor that shares the memory of a NumPy array: writes to either are seen by both.

    Raises
    ------
    TypeError
        If the argument is no array, or one of a dtype that tensors do not have.

    >>> import numpy
    >>> import pullback
    >>> a = numpy.zeros(2)
    >>> t = pullback.from_numpy(a)
    >>> a[0] = 5
    >>> t
    tensor([5., 0.], dtype=pullback.float64)
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__}): use pullback.tensor or as_tensor")
    _dtypes.from_numpy(array.dtype)
    made = _made(array.view(np.ndarray), False)
    storage_of(made)
    return made


def _from_shape(fill: Callable[[tuple[int, ...], np.dtype[Any]], Any], text: str) -> Callable[..., Any]:
    def function(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
        _check_device(device)
        shape = parse_sizes(size)
        if any(length < 0 for length in shape):
            raise RuntimeError(f"Dimension size must be non-negative: got the sizes {list(shape)}")
        return _made(fill(shape, _flag_dtype(dtype)), requires_grad)

    function.__doc__ = text
    return function


def _named(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    return function


zeros = _named(
    "zeros",
    _from_shape(
        np.zeros,
        """Zeros of a shape.

    >>> import pullback
    >>> pullback.zeros(2, 2)
    tensor([[0., 0.],
            [0., 0.]])
    """,
    ),
)
ones = _named(
    "ones",
    _from_shape(
        np.ones,
        """Ones of a shape.

    >>> import pullback
    >>> pullback.ones(3)
    tensor([1., 1., 1.])
    """,
    ),
)
empty = _named(
    "empty",
    _from_shape(
        np.empty,
        """A tensor of a shape whose elements are whatever the memory held.

    >>> import pullback
    >>> pullback.empty(2, 3).shape
    pullback.Size([2, 3])
    """,
    ),
)


def full(size: Sequence[int], fill_value: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """One value everywhere; its type decides the dtype unless one is given.

    >>> import pullback
    >>> pullback.full((2,), 7)
    tensor([7, 7])
    """
    value = _array(fill_value.item() if isinstance(fill_value, Carrier) else fill_value, dtype)
    return _made(np.full(parse_sizes((size,)), value, value.dtype), requires_grad)


def eye(n: int, m: int | None = None, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones on the diagonal, zeros elsewhere.

    >>> import pullback
    >>> pullback.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    if n < 0 or (m is not None and m < 0):
        raise RuntimeError(f"n must be greater or equal to 0, got {n if n < 0 else m}")
    return _made(np.eye(n, m, dtype=_flag_dtype(dtype)), requires_grad)


def arange(start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Numbers from start up to, not including, end; ints give int64.

    >>> import pullback
    >>> pullback.arange(3)
    tensor([0, 1, 2])
    """
    if end is None:
        start, end = 0, start
    start, end, step = (value.item() if isinstance(value, Carrier) else value for value in (start, end, step))
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError(f"upper bound and lower bound inconsistent with step sign: arange({start}, {end}, {step})")
    whole = all(isinstance(value, (int, np.integer)) for value in (start, end, step))
    chosen = np.dtype(np.int64) if dtype is None and whole else _flag_dtype(dtype)
    return _made(np.arange(start, end, step).astype(chosen, copy=False), requires_grad)


def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """`steps` numbers evenly spaced from start to end, both included.

    >>> import pullback
    >>> pullback.linspace(0, 1, 3)
    tensor([0.0000, 0.5000, 1.0000])
    """
    if steps < 0:
        raise RuntimeError(f"number of steps must be non-negative, got {steps}")
    return _made(np.linspace(float(start), float(end), steps).astype(_flag_dtype(dtype)), requires_grad)


class _Source(threading.local):
    """The random numbers of a thread; each starts from its own fresh entropy."""

    seeded: np.random.Generator | None = None

    @property
    def generator(self) -> np.random.Generator:
        """The thread's generator, made at its first use: importing numpy.random takes 13 ms."""
        if self.seeded is None:
            self.seeded = np.random.default_rng()
        return self.seeded


_source = _Source()


def manual_seed(seed: int) -> np.random.Generator:
    """Start this thread's random numbers from a seed; the generator, which is NumPy's, is returned.

    The numbers are not those of torch for the same seed.

    >>> import pullback
    >>> _ = pullback.manual_seed(0)
    >>> a = pullback.randn(2)
    >>> _ = pullback.manual_seed(0)
    >>> bool((a == pullback.randn(2)).all())
    True
    """
    _source.seeded = np.random.default_rng(int(seed) % 2**64)
    return _source.seeded


def _random(size: tuple[int, ...], dtype: np.dtype[Any], draw: str) -> Any:
    if dtype.kind not in "fc":
        raise RuntimeError(f"random numbers are real or complex: {_dtypes.from_numpy(dtype)} is neither; use randint")
    if dtype.kind == "c":
        real, imaginary = (_random(size, np.zeros(0, dtype).real.dtype, draw) for _ in range(2))
        scale = 2**-0.5 if draw == "standard_normal" else 1
        return ((real + 1j * imaginary) * scale).astype(dtype)
    method = getattr(_source.generator, draw)
    if dtype in (np.dtype(np.float32), np.dtype(np.float64)):
        return np.asarray(method(size, dtype))
    return np.asarray(method(size)).astype(dtype)


rand = _named(
    "rand",
    _from_shape(
        lambda size, dtype: _random(size, dtype, "random"),
        """Numbers drawn evenly from [0, 1).

    >>> import pullback
    >>> pullback.rand(2, 2).shape
    pullback.Size([2, 2])
    """,
    ),
)
randn = _named(
    "randn",
    _from_shape(
        lambda size, dtype: _random(size, dtype, "standard_normal"),
        """Numbers drawn from the
    normal distribution with mean 0 and variance 1.

    >>> import pullback
    >>> pullback.randn(3).dtype
    pullback.float32
    """,
    ),
)


def randint(low: int, high: Any = None, size: Any = None, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Whole numbers drawn evenly from [low, high); `randint(high, size)` starts at 0.

    >>> import pullback
    >>> pullback.randint(0, 5, (2,)).dtype
    pullback.int64
    """
    if size is None:
        low, high, size = 0, low, high
    if high <= low:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    drawn = _source.generator.integers(low, high, parse_sizes((size,)))
    return _made(drawn.astype(np.int64 if dtype is None else _flag_dtype(dtype)), requires_grad)


def _require_tensor(name: str, input: Any) -> None:
    if not isinstance(input, Carrier):
        raise _refusals.no_tensor(name, "input", 1, input)


def _alike(name: str, make: Callable[..., Any], text: str) -> Callable[..., Any]:
    """`name_like`: the same, with the shape and dtype of another tensor."""

    def function(input: Any, *args: Any, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Any:
        _require_tensor(name, input)
        chosen = input.dtype if dtype is None else dtype
        return make(tuple(input.shape), *args, dtype=chosen, requires_grad=requires_grad)

    function.__doc__ = f"""{text} in the shape and dtype of another tensor.

    >>> import pullback
    >>> pullback.{name}(pullback.ones(2, 3){", 1" if name == "full_like" else ""}).shape
    pullback.Size([2, 3])
    """
    return _named(name, function)


zeros_like = _alike("zeros_like", zeros, "Zeros")
ones_like = _alike("ones_like", ones, "Ones")
empty_like = _alike("empty_like", empty, "Unset elements")
full_like = _alike("full_like", full, "One value everywhere")
rand_like = _alike("rand_like", rand, "Numbers drawn evenly from [0, 1)")
randn_like = _alike("randn_like", randn, "Normally distributed numbers")


def randint_like(input: Any, low: int, high: int | None = None, **options: Any) -> Tensor:
    """Whole numbers drawn evenly from [low, high), in the shape and dtype of another tensor.

    >>> import pullback
    >>> pullback.randint_like(pullback.ones(2), 5).shape
    pullback.Size([2])
    """
    _require_tensor("randint_like", input)
    low, high = (0, low) if high is None else (low, high)
    return randint(low, high, tuple(input.shape), **{"dtype": input.dtype, **options})


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor.

    >>> import pullback
    >>> pullback.is_tensor([1.0])
    False
    """
    return isinstance(value, Tensor)


def result_type(tensor: Any, other: Any) -> _dtypes.dtype:
    """The dtype that an operation on two tensors or numbers is computed in.

    >>> import pullback
    >>> pullback.result_type(pullback.tensor([1]), 1.5)
    pullback.float32
    """
    return _dtypes.from_numpy(common(tensor, other))


def _typed(name: str, dtype: _dtypes.dtype) -> Callable[..., Tensor]:
    """torch's old constructor of one dtype: from nested lists, an array or a tensor, or unset elements of some sizes."""

    def make(*data: Any) -> Tensor:
        if len(data) == 1 and not isinstance(data[0], int):
            return _made(_array(data[0]._array if isinstance(data[0], Carrier) else data[0], dtype), False)
        return empty(*data or (0,), dtype=dtype)  # type: ignore[no-any-return]  # makes tensors

    make.__doc__ = f"""torch's old constructor of {dtype}: from nested lists or an array, or of some sizes.

    >>> import pullback
    >>> pullback.{name}([[1, 2]]).shape
    pullback.Size([1, 2])
    """
    return _named(name, make)


FloatTensor = _typed("FloatTensor", _dtypes.float32)
DoubleTensor = _typed("DoubleTensor", _dtypes.float64)
LongTensor = _typed("LongTensor", _dtypes.int64)
