"""Creation of tensors by the standard: float64, complex128 and int64 unless a dtype is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .. import ops
from .._core import dtypes, xp as _xp
from .._core.modes import quiet
from .._core.placement import accept
from .._core.primitives import Carrier
from .._core.sites import named
from .._tensor.creation import from_numpy, made
from ..vocabulary import shapes
from . import kinds
from .operands import array, of_tensors, together

if TYPE_CHECKING:
    from .._core.typing import Array, Device, DType, Number, Sizes, SupportsDLPack, Tensor, TensorLike


def _numpy(dtype: DType | None) -> np.dtype[Any] | None:
    return None if dtype is None else dtypes.as_dtype(dtype).numpy


def _array(values: object, wanted: np.dtype[Any] | None = None) -> Array:
    """Python numbers and sequences as an array: Python ints become int64, also where NumPy's default is int32."""
    found = np.asarray(values, wanted)
    own = wanted is None and isinstance(values, (int, list, tuple)) and found.dtype == np.dtype(int)
    return _xp.long(found) if own else found


def _joined(values: Any) -> Any:
    """Nested sequences as an array, or, if there are tensors in them, as one tensor that is computed from these."""
    if not isinstance(values, (list, tuple)):
        return values
    parts = [_joined(value) for value in values]
    if not any(isinstance(part, Carrier) for part in parts):
        return _array(values)
    wrapped = [made(part if isinstance(part, Carrier) else _array(part), False) for part in parts]
    return shapes.stack(together("asarray", *wrapped))


def asarray(
    obj: object, /, *, dtype: DType | None = None, device: Device | None = None, copy: bool | None = None
) -> Tensor:
    """A tensor with the elements of a tensor, an array, a buffer, a number, or nested sequences of these.

    Memory is shared if possible; with `copy=True` never, with `copy=False` always. Tensors in sequences keep their
    histories, as with `stack`.

    Raises
    ------
    ValueError
        If `copy` is False and a copy is unavoidable: for Python numbers, or another dtype.

    >>> import pullback
    >>> from pullback import array_api as xp
    >>> x = pullback.tensor(2.0, requires_grad=True)
    >>> xp.asarray([x, x * x]).sum().backward()
    >>> x.grad
    tensor(5.)
    """
    accept("asarray", {"device": device})
    wanted = _numpy(dtype)
    given: Tensor | Array = _joined(obj)
    if not isinstance(given, Carrier):
        foreign = hasattr(given, "__dlpack__") and not hasattr(given, "__array__")
        given = np.from_dlpack(given) if foreign else _array(given, wanted if _is_python(given) else None)
    own = given._dtype if isinstance(given, Carrier) else given.dtype
    if copy is False and (_is_python(obj) or wanted not in (None, own)):
        raise ValueError(f"asarray with copy=False: there is no tensor of dtype {wanted or own} in the data's memory")
    if isinstance(given, Carrier):
        return kinds.astype(given, given.dtype if dtype is None else dtype, copy=bool(copy) and given is obj)
    converted = quiet.run(given.astype, own if wanted is None else wanted, copy=bool(copy))
    return from_numpy(converted)


def _is_python(obj: object) -> bool:
    """True for Python numbers and sequences, whose memory cannot be shared."""
    return isinstance(obj, (bool, int, float, complex, list, tuple, np.generic))


def _filled(name: str, fill: Callable[..., Array], value: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The functions `zeros` and `zeros_like`, and those of other values."""

    def of_shape(shape: Sizes, *, dtype: DType | None = None, device: Device | None = None) -> Tensor:
        accept(name, {"device": device})
        return made(fill(shape, np.float64 if dtype is None else _numpy(dtype)), False)

    def like(x: Tensor, /, *, dtype: DType | None = None, device: Device | None = None) -> Tensor:
        x = array(f"{name}_like", x)
        return of_shape(tuple(x.shape), dtype=x.dtype if dtype is None else dtype, device=device)

    example = """

    >>> from pullback import array_api as xp
    >>> xp.{}.shape, xp.{}.dtype
    (pullback.Size([2, 3]), pullback.{})
    """
    made_like = example.format(call := f"{name}_like(xp.asarray([[1, 2, 3], [4, 5, 6]]))", call, "int64")
    of_given = example.format(call := f"{name}((2, 3))", call, "float64")
    return (
        named(name, of_shape, f"A tensor of a shape, {value}; float64 unless a dtype is given.{of_given}"),
        named(f"{name}_like", like, f"A tensor of the shape and dtype of another, {value}.{made_like}"),
    )


zeros, zeros_like = _filled("zeros", np.zeros, "filled with zeros")
ones, ones_like = _filled("ones", np.ones, "filled with ones")
empty, empty_like = _filled("empty", np.empty, "whose elements are not set")


def full(shape: Sizes, fill_value: TensorLike, *, dtype: DType | None = None, device: Device | None = None) -> Tensor:
    """A tensor of a shape, filled with one value, whose type decides the dtype unless one is given.

    The value may be a 0-d tensor, to which gradients flow.

    >>> from pullback import array_api as xp
    >>> xp.full((2,), 0.5)
    tensor([0.5000, 0.5000], dtype=pullback.float64)
    """
    value = asarray(fill_value, dtype=dtype, device=device)
    return ops.clone(shapes.broadcast_to(value, (shape,) if isinstance(shape, int) else tuple(shape)))


def full_like(
    x: Tensor, /, fill_value: TensorLike, *, dtype: DType | None = None, device: Device | None = None
) -> Tensor:
    """A tensor of the shape and dtype of another, filled with one value.

    >>> from pullback import array_api as xp
    >>> xp.full_like(xp.asarray([1, 2]), 7)
    tensor([7, 7])
    """
    x = array("full_like", x)
    return full(tuple(x.shape), fill_value, dtype=x.dtype if dtype is None else dtype, device=device)


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Tensor:
    """Numbers from start up to, but not including, stop; int64 if all of these are integers, else float64.

    >>> from pullback import array_api as xp
    >>> xp.arange(1, 2, 0.25)
    tensor([1.0000, 1.2500, 1.5000, 1.7500], dtype=pullback.float64)
    """
    start, stop = (0, start) if stop is None else (start, stop)
    numbers: Callable[..., Array] = np.arange
    found = numbers(start, stop, step, _numpy(dtype))
    return asarray(_xp.long(found) if dtype is None and found.dtype.kind == "i" else found, device=device)


def linspace(
    start: Number | Tensor,
    stop: Number | Tensor,
    /,
    num: int,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    endpoint: bool = True,
) -> Tensor:
    """`num` numbers evenly spaced from start to stop, which is included unless `endpoint` is False.

    The bounds may be 0-d tensors, to which gradients flow.

    >>> from pullback import array_api as xp
    >>> xp.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000], dtype=pullback.float64)
    """
    return asarray(of_tensors(np.linspace)(start, stop, num, endpoint=endpoint), dtype=dtype, device=device)


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: DType | None = None, device: Device | None = None
) -> Tensor:
    """A matrix with ones on the k-th diagonal and zeros elsewhere.

    >>> from pullback import array_api as xp
    >>> xp.eye(2, 3, k=1)
    tensor([[0., 1., 0.],
            [0., 0., 1.]], dtype=pullback.float64)
    """
    return asarray(np.eye(n_rows, n_cols, k, np.float64 if dtype is None else _numpy(dtype)), device=device)


def meshgrid(*arrays: Tensor, indexing: Literal["xy", "ij"] = "xy") -> tuple[Tensor, ...]:
    """The coordinates of the points of a grid, from the coordinates along each of its axes.

    >>> from pullback import array_api as xp
    >>> xp.meshgrid(xp.asarray([1, 2]), xp.asarray([3, 4]))
    (tensor([[1, 2],
            [1, 2]]), tensor([[3, 3],
            [4, 4]]))
    """
    return tuple(of_tensors(np.meshgrid)(*arrays, indexing=indexing))


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Matrices with zeros above the k-th diagonal.

    >>> from pullback import array_api as xp
    >>> xp.tril(xp.ones((2, 2)))
    tensor([[1., 0.],
            [1., 1.]], dtype=pullback.float64)
    """
    return array("tril", x).tril(k)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Matrices with zeros below the k-th diagonal.

    >>> from pullback import array_api as xp
    >>> xp.triu(xp.ones((2, 2)))
    tensor([[1., 1.],
            [0., 1.]], dtype=pullback.float64)
    """
    return array("triu", x).triu(k)


def from_dlpack(x: Tensor | SupportsDLPack, /, *, device: Device | None = None, copy: bool | None = None) -> Tensor:
    """A tensor that shares the memory of an object of another library that offers it by DLPack.

    >>> import numpy as np
    >>> from pullback import array_api as xp
    >>> xp.from_dlpack(np.ones(2))
    tensor([1., 1.], dtype=pullback.float64)
    """
    return asarray(x if isinstance(x, Carrier) else np.from_dlpack(x), device=device, copy=copy)
