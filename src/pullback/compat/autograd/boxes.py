"""Boxes: the traced values of programs written for autograd, which behave like the arrays in them.

A box has a tensor of some transform and NumPy's interface: the methods, operators and attributes of an array, and
NumPy's functions accept it. Results that depend on traced values are boxes, all others plain arrays and numbers.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ... import Tensor, complex128, float64
from ...interpreters import constant
from ...observe import node, value as inside

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Literal, NoReturn, TypeAlias

    from ..._core.typing import Array, DType, Function, Sizes

    Order: TypeAlias = Literal["C", "A", "F"]


# Piecewise constant functions, which in autograd have no derivative and return plain values.
STEPS = {np.floor, np.ceil, np.rint, np.trunc, np.sign, np.floor_divide, np.fix, np.round, np.around}

CONSTANT = (np.ndarray, np.generic, bool, int, float, complex, list, tuple, range)


def seen(value: object) -> Any:
    """A value as the program gets it: a box if it is traced, else an array, a number, or the value itself."""
    if type(value) is Tensor and node(value) is not None:  # of the outermost trace: the most frequent ones
        return ArrayBox(value)
    while isinstance(value, Tensor):
        if node(value) is not None or getattr(value, "batched", False) or getattr(value, "tangent", None) is not None:
            return ArrayBox(value)
        value = inside(value)
    if isinstance(value, np.ndarray):
        return value[()] if value.ndim == 0 and value.dtype != object else value
    if isinstance(value, (list, tuple)):
        parts = map(seen, value)
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


def opened(value: object) -> Any:
    """A value with boxes replaced by tensors, also in lists and tuples."""
    if isinstance(value, Box):
        return value.tensor
    if isinstance(value, (list, tuple)) and holds_box(value):
        parts = map(opened, value)
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


def _opened_each(values: Iterable[object]) -> tuple[Any, ...]:
    """Arguments with boxes replaced by tensors."""
    return tuple([value.tensor if type(value) is Box else opened(value) for value in values])


def holds_box(value: object) -> bool:
    """True if a value is a box, or a list or tuple that contains one."""
    return isinstance(value, Box) or (isinstance(value, (list, tuple)) and any(map(holds_box, value)))


def isbox(value: object) -> bool:
    """True if a value is traced.

    >>> from pullback.compat import autograd
    >>> from pullback.compat.autograd.boxes import isbox
    >>> float(autograd.grad(lambda x: x if isbox(x) else 2 * x)(3.0))
    1.0
    """
    return isinstance(value, Box)


def getval(value: object) -> Any:
    """The plain value of a box; any other value as it is.

    >>> from pullback.compat import autograd
    >>> from pullback.compat.autograd.boxes import getval
    >>> float(autograd.grad(lambda x: x * getval(x))(3.0))
    3.0
    """
    while isinstance(value, Box):
        value = value._value
    return value


def arrayed(value: Any) -> Any:
    """A box as it is, any other value as an array."""
    return value if isinstance(value, Box) else np.asarray(value)


def _operation(function: Function) -> Function:
    """An operator of two operands, the first of which is a box."""

    def forward(self: Box, other: object) -> Any:
        if type(other) is Box:
            return seen(function(self.tensor, other.tensor))
        if type(other) in USUAL and (quick := _beside(other, self)) is not None:
            return seen(function(self.tensor, quick))
        if not isinstance(other, KNOWN):
            return NotImplemented
        return seen(function(*_operands(self, other)))

    return forward


def _reflected(function: Function) -> Function:
    """The operator with exchanged operands."""

    def backward(self: Box, other: object) -> Any:
        if type(other) in USUAL and (quick := _beside(other, self)) is not None:
            return seen(function(quick, self.tensor))
        if not isinstance(other, CONSTANT):
            return NotImplemented
        left, right = _operands(other, self)
        return seen(function(_constant(left), right))

    return backward


WIDEST = {kind: kind.numpy for kind in (float64, complex128)}
DOUBLES = set(WIDEST.values())
"""The real and complex dtypes of doubles: those of tensors with those of their arrays, and these."""
USUAL = {float, int, complex, np.float64, np.ndarray}
"""The types of most constant operands."""


def _beside(value: Any, box: Box) -> Any:
    """One of USUAL as the operand of a tensor: a number, or an array in the dtype of doubles; None for arrays that may be converted."""
    if type(value) is not np.ndarray:
        return float(value) if type(value) is np.float64 else value
    own, kind = value.dtype, WIDEST.get(box.tensor.dtype)
    if kind is None:
        return None
    if own is not kind and own.kind in "biuf" and own.itemsize <= 8:
        value = value.astype(kind)
    return constant(value) if value.dtype in DOUBLES else None


def _operands(*values: Any) -> list[Any]:
    """The operands of an operation; arrays get the dtype in which NumPy would compute with a traced scalar."""
    given, arrays = [], False
    for value in values:
        if type(value) is Box:
            given.append(value.tensor)
            continue
        given.append(np.asarray(value) if isinstance(value, (list, tuple, range)) else value)
        arrays = arrays or isinstance(given[-1], np.ndarray)
    if arrays:
        for box in values:
            if isinstance(box, Box) and not box.ndim:
                given = [_widened(value, box.dtype) if isinstance(value, np.ndarray) else value for value in given]
    return given


def _widened(array: Array, dtype: np.dtype) -> Array:
    return array.astype(np.result_type(array.dtype, dtype), copy=False) if array.dtype.kind in "fc" else array


def _constant(value: object) -> object:
    """A constant left operand: an array as a tensor, whose operator is then called."""
    return constant(value) if isinstance(value, np.ndarray) else value


class ArrayBox:
    """A traced array or number.

    >>> from pullback.compat import autograd
    >>> autograd.elementwise_grad(lambda x: x.reshape(2, 2).T.dot(x[:2]))(np.array([1.0, 2.0, 3.0, 4.0]))
    array([4., 8., 2., 2.])
    """

    __slots__ = ("tensor",)
    __array_priority__ = 100.0

    tensor: Any

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    @property
    def _value(self) -> Any:
        return seen(inside(self.tensor))

    @property
    def _node(self) -> object:
        return node(self.tensor)

    @property
    def _trace(self) -> int:
        return int(self.tensor.level)

    def __bool__(self) -> bool:
        return bool(self.tensor)

    def __str__(self) -> str:
        return f"Autograd {type(self).__name__} with value {self._value!s}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._value!r})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    # The protocols of NumPy

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **options: object) -> Any:
        if not options and method == "__call__" and (quick := DIRECT.get(ufunc)) is not None:
            first, *rest = inputs
            if not rest:
                return seen(quick(self.tensor))
            if type(first) is Box and (type(rest[0]) is Box or type(rest[0]) in USUAL):
                return quick(first, rest[0])
            if type(first) in USUAL:
                return getattr(self, REFLECTED[ufunc])(first)
        for value in inputs:
            if not isinstance(value, KNOWN):
                return NotImplemented
        if "out" in options:
            raise TypeError(
                f"numpy.{ufunc.__name__} would write a traced value to an array, which cannot hold its history: write "
                "a = a + b instead of a += b, and leave out= away"
            )
        if ufunc in STEPS:
            return getattr(ufunc, method)(*map(getval, inputs), **options)
        if options:
            options = {key: opened(value) for key, value in options.items()}
        return seen(self.tensor.__array_ufunc__(ufunc, method, *_operands(*inputs), **options))

    def __array_function__(
        self, function: Function, types: Iterable[type], args: Sequence[object], kwargs: dict[str, object]
    ) -> Any:
        for kind in types:
            if kind is not Box and not issubclass(kind, np.ndarray):
                return NotImplemented
        if function in STEPS:
            return function(*map(getval, args), **kwargs)
        if kwargs:
            kwargs = {key: opened(value) for key, value in kwargs.items()}
        return seen(self.tensor.__array_function__(function, (), _opened_each(args), kwargs))

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NoReturn:
        raise TypeError(
            "a traced value cannot become a plain NumPy array: its gradient would be lost. Use autograd.numpy.array for "
            "lists of traced values, np.concatenate or np.stack, and autograd.tracer.getval where no gradient is wanted"
        )

    def _number(self, *_: object) -> NoReturn:
        raise TypeError(
            "only plain numbers can be converted by float(), int() and complex(): this value is traced, and its gradient "
            "would be lost. Use autograd.tracer.getval where no gradient is wanted. (Writing a traced value into an array, "
            "a[i] = x, converts it, too: build the array with autograd.numpy.array instead.)"
        )

    __float__ = __int__ = __complex__ = __index__ = _number

    def __setitem__(self, index: object, value: object) -> None:
        raise TypeError(
            "'ArrayBox' object does not support item assignment: autograd's arrays are values. Build the array from its "
            "parts, with np.concatenate, np.stack or np.where"
        )

    # Attributes of arrays

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return tuple(self.tensor.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        ndim: int = self.tensor.ndim
        return ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(self.tensor.numel())

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype of the elements."""
        dtype: np.dtype[Any] = self.tensor.dtype.numpy
        return dtype

    @property
    def T(self) -> Array:  # noqa: N802  # NumPy's name
        """The array with its axes in reverse order."""
        return seen(self.tensor.permute(tuple(range(self.tensor.ndim))[::-1]))

    @property
    def real(self) -> Array:
        """The real part."""
        return np.real(self)

    @property
    def imag(self) -> Array:
        """The imaginary part."""
        return np.imag(self)

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("object of type 'ArrayBox' has no len(): it is a single number")
        return self.shape[0]

    def __iter__(self) -> Iterator[Array]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array: this box is a single number")
        return (self[place] for place in range(len(self)))

    def __getitem__(self, index: object) -> Array:
        return seen(self.tensor[index if type(index) is int else opened(_indices(index))])

    def __hash__(self) -> int:
        return id(self)

    # Methods whose arguments differ from those of the function

    def astype(self, dtype: DType, *_: object, **options: object) -> Array:
        """The array in another dtype; its gradient is converted back."""
        return seen(self.tensor.to(np.dtype(dtype)))

    def copy(self, order: str = "C") -> Self:
        """The box itself: boxes cannot be written to."""
        return self

    def dot(self, other: Array) -> Array:
        """The product with another array."""
        return self.__array_function__(np.dot, (), (self, other), {})

    def flatten(self, order: Order = "C") -> Array:
        """All elements along one axis."""
        return self.__array_function__(np.ravel, (), (self, order), {})

    def item(self, *index: int) -> Array:
        """One element, which is still traced."""
        return self.flatten()[index[0] if index else 0] if len(index) < 2 else self[index]

    def reshape(self, *shape: Sizes, order: Order = "C") -> Array:
        """The elements in another shape."""
        return self.__array_function__(np.reshape, (), (self, _several(shape), order), {})

    def transpose(self, *axes: Sizes | None) -> Array:
        """The array with its axes in another order."""
        return self.__array_function__(np.transpose, (), (self, _several(axes) or None), {})

    def __matmul__(self, other: Array) -> Array:
        return np.matmul(self, other)

    def __rmatmul__(self, other: Array) -> Array:
        return np.matmul(other, self)

    def __abs__(self) -> Array:
        return seen(abs(self.tensor))

    def __floordiv__(self, other: Array) -> Array:
        return np.floor_divide(self, other)

    def __rfloordiv__(self, other: Array) -> Array:
        return np.floor_divide(other, self)

    def __neg__(self) -> Array:
        return seen(-self.tensor)

    def __pos__(self) -> Self:
        return self


def _indices(index: object) -> object:
    """An index by NumPy's rules: next to an array an integer is an array too, which determines the order of axes."""
    if not isinstance(index, tuple):
        return _listed(index)
    parts = [list(part) if isinstance(part, tuple) else _listed(part) for part in index]
    if any(np.ndim(part) for part in parts if isinstance(part, (list, np.ndarray))):
        parts = [[part] if isinstance(part, (int, np.integer)) and type(part) is not bool else part for part in parts]
    return tuple(parts)


def _listed(index: object) -> object:
    """An index as it is; columns of data frames and the like as arrays."""
    return np.asarray(index) if hasattr(index, "__array__") and not isinstance(index, (np.generic, Box)) else index


def _several(given: Sequence[Sizes | None]) -> Any:
    """Numbers passed separately, or as one tuple."""
    return given[0] if len(given) == 1 and (given[0] is None or not isinstance(given[0], int)) else given


Box = ArrayBox  # the only kind
KNOWN = (Box, *CONSTANT)


def _method(function: Function) -> Function:
    """A method by NumPy's function, which need not find out that the array is a box."""

    def method(self: Box, *args: object, **kwargs: object) -> Any:
        return self.__array_function__(function, (), (self, *args), kwargs)

    return functools.update_wrapper(method, function)


DIRECT: dict[np.ufunc, Function] = {
    getattr(np, name): getattr(Tensor, name)
    for name in "exp log sin cos tan sinh cosh tanh sqrt square expm1 log1p".split()
}
"""Ufuncs by what computes them: of one tensor, or of a box and what stands beside it."""
REFLECTED: dict[np.ufunc, str] = {}
"""Methods for boxes that stand on the right of an operator."""

for _name in ("add", "sub", "mul", "truediv", "mod", "pow"):
    setattr(ArrayBox, f"__{_name}__", _operation(getattr(operator, _name)))
    setattr(ArrayBox, f"__r{_name}__", _reflected(getattr(operator, _name)))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(ArrayBox, f"__{_name}__", _operation(getattr(operator, _name)))
for _ufunc, _name in (
    (np.add, "add"), (np.subtract, "sub"), (np.multiply, "mul"), (np.divide, "truediv"), (np.power, "pow"),
):  # fmt: skip
    DIRECT[_ufunc], REFLECTED[_ufunc] = getattr(ArrayBox, f"__{_name}__"), f"__r{_name}__"
for _name in (
    "all any argmax argmin argpartition argsort clip compress cumprod cumsum diagonal max mean min "
    "nonzero prod ravel repeat round searchsorted squeeze std sum swapaxes take trace var"
).split():
    setattr(ArrayBox, _name, _method(getattr(np, _name)))
for _name in ("conj", "conjugate"):
    setattr(ArrayBox, _name, functools.partialmethod(np.conjugate))  # a ufunc
ArrayBox.ptp = _method(np.ptp)  # type: ignore[attr-defined]  # a method until NumPy 2
