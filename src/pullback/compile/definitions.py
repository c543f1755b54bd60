"""Definitions, read as equations: what a primitive says it computes, placed by a builder.

A definition is called with values that know the operators of arrays, and with a namespace that has the functions of rules.
Both place equations; numbers take the dtype of what they are combined with, and operands of several dtypes the common one,
as NumPy has it. What only arrays can do, such as an `if` on their values, leaves the operation to its forward function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core.modes import quiet
from ..extend import ArrayFunctions, Primitive
from .inference import REDUCED, infer
from .program import Equation, Value

if TYPE_CHECKING:
    from typing import NoReturn, Protocol, TypeAlias

    from .._core.typing import Array, Index, Number, NumpyType, Params, Shaped, TensorLike

    Operand: TypeAlias = "Symbol | Array | np.generic | Number"
    Placed: TypeAlias = "Symbol | tuple[Symbol, ...]"

    class Building(Protocol):
        """What definitions place equations with: a pass, or a list of equations."""

        unread: list[tuple[Primitive, Exception]]

        def apply(self, primitive: Primitive, values: tuple[Value, ...], params: Params) -> tuple[Value, ...]:
            """The outputs of a new equation."""

        def constant(self, array: Array) -> Value:
            """An array that is known."""

        def scalar(self, number: Number, dtype: NumpyType) -> Value:
            """A number that is known."""

        def astype(self, value: Value, *, dtype: NumpyType, source: NumpyType) -> Value:
            """A value in another dtype."""

        def not_equal(self, value: Value, number: Number) -> Value:
            """Where a value is not a number."""


ARITHMETIC = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide", "mod": "remainder",
    "pow": "pow", "matmul": "matmul", "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
COMPARISONS = {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
}  # fmt: skip
MASKS = ("and", "or", "xor")
"""Python's operators, and the primitives that they mean; the last are logical_and or bitwise_and, and so on, by dtype."""
SINGLE, BOOL = np.dtype(np.float32), np.dtype(bool)


class LeftError(Exception):
    """A definition does what only arrays can: the operation is left as it is."""


def _only_arrays(what: str) -> Callable[..., NoReturn]:
    def refused(*_: Any, **__: Any) -> NoReturn:
        raise LeftError(f"it {what}")

    return refused


class Symbol:
    """A value of a program in the making, with the operators of an array."""

    __slots__ = ("build", "value")
    __hash__ = None  # type: ignore[assignment]  # == is elementwise

    def __init__(self, build: Building, value: Value) -> None:
        self.build, self.value = build, value

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self.value.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.value.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.value.size

    @property
    def dtype(self) -> NumpyType:
        """The dtype of the elements."""
        return self.value.dtype

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"it asks an array for .{name}: use operators and functions, such as xp.sum(x) for x.sum()"
        )

    def __pos__(self) -> Symbol:
        return self

    def __neg__(self) -> Placed:
        return _placed(self.build, ops.negative, (self,), {})

    def __abs__(self) -> Placed:
        return _placed(self.build, ops.abs, (self,), {})

    def __invert__(self) -> Placed:
        if self.dtype == BOOL:
            return _placed(self.build, ops.logical_not, (self,), {})
        return _placed(self.build, ops.bitwise_xor, (self, np.asarray(-1).astype(self.dtype)), {})

    def __pow__(self, exponent: Operand) -> Placed:
        if isinstance(exponent, (int, float)):
            return _placed(self.build, ops.power, (self,), {"exponent": exponent})
        return _placed(self.build, ops.pow, (self, exponent), {})

    def __getitem__(self, index: Index) -> Placed:
        entries = index if isinstance(index, tuple) else (index,)
        if not all(each is None or each is Ellipsis or isinstance(each, (int, slice)) for each in entries):
            raise LeftError("it takes elements by an array")
        return _placed(self.build, ops.getitem, (self,), {"index": entries})

    def __array_ufunc__(self, function: np.ufunc, method: str, *operands: Operand, **options: Any) -> Placed:
        primitive = getattr(ops, function.__name__, None)
        if method != "__call__" or options or primitive is None:
            raise LeftError(f"it calls numpy.{function.__name__}")
        return _placed(self.build, primitive, operands, {})

    def __array_function__(self, function: Callable[..., Any], *_: Any) -> NoReturn:
        raise LeftError(f"it calls numpy.{function.__name__}")

    __bool__ = __int__ = __float__ = __index__ = __complex__ = _only_arrays("asks for the value of an array")
    __len__ = __iter__ = __contains__ = _only_arrays("goes through the elements of an array")
    __setitem__ = _only_arrays("writes to an array")


def _operator(name: str, *, swapped: bool) -> Callable[[Symbol, Operand], Placed]:
    primitive = getattr(ops, name)

    def method(self: Symbol, other: Operand) -> Placed:
        return _placed(self.build, primitive, (other, self) if swapped else (self, other), {})

    return method


def _masking(word: str) -> Callable[[Symbol, Operand], Placed]:
    def method(self: Symbol, other: Operand) -> Placed:
        masks = self.dtype == BOOL and (isinstance(other, bool) or getattr(other, "dtype", None) == BOOL)
        return _placed(self.build, getattr(ops, f"{'logical' if masks else 'bitwise'}_{word}"), (self, other), {})

    return method


for _name, _word in ARITHMETIC.items():
    setattr(Symbol, f"__r{_name}__", _operator(_word, swapped=True))
    setattr(Symbol, f"__i{_name}__", _only_arrays("writes to an array"))
    if _name != "pow":
        setattr(Symbol, f"__{_name}__", _operator(_word, swapped=False))
for _name, _word in COMPARISONS.items():
    setattr(Symbol, f"__{_name}__", _operator(_word, swapped=False))
for _name in MASKS:
    setattr(Symbol, f"__{_name}__", _masking(_name))
    setattr(Symbol, f"__r{_name}__", _masking(_name))


class Namespace:
    """The `xp` of a definition whose values are symbols."""

    def __init__(self, build: Building) -> None:
        self._build = build

    def __getattr__(self, name: str) -> Any:
        found = getattr(ops, name)
        if not isinstance(found, Primitive):
            return found

        def function(*operands: Operand, **params: Any) -> Placed:
            return _placed(self._build, found, operands, params)

        setattr(self, name, function)
        return function

    def constant(self, value: Number, dtype: NumpyType) -> Symbol:
        """A number in a dtype."""
        return Symbol(self._build, self._build.scalar(value, dtype))

    def asarray(self, array: TensorLike) -> Symbol:
        """An array that is the same for all operands."""
        return Symbol(self._build, self._build.constant(np.asarray(array)))


def _placed(build: Building, primitive: Primitive, operands: Sequence[Operand], params: Params) -> Placed:
    """What a primitive gives for symbols, arrays and numbers."""
    values: list[Any] = [each.value if isinstance(each, Symbol) else each for each in operands]
    values = [np.asarray(each) if isinstance(each, np.generic) else each for each in values]
    first = int(primitive.inputs[0] == "condition")
    if first and isinstance(values[0], Value) and values[0].dtype != BOOL:
        values[0] = build.not_equal(values[0], 0)
    alike = primitive.kind in ALIKE or primitive.name in JOINED
    if alike or not all(isinstance(each, Value) for each in values):
        values[first:] = _in_common(build, primitive, values[first:], params, alike=alike)
    if primitive.name in REDUCED and values[0].dtype.kind in "iub":
        values[0] = _as(
            build, values[0], _result(primitive, [np.zeros((1,), values[0].dtype)], {"axis": (0,), "keepdims": True})
        )
    if primitive.name in {"amax", "amin"} and not values[0].size:
        raise LeftError("it looks for the largest or smallest of no elements")
    made = build.apply(primitive, tuple(values), counted(primitive, values[0], params))
    return Symbol(build, made[0]) if len(made) == 1 else tuple([Symbol(build, each) for each in made])


ALIKE, JOINED = {"elementwise", "zero", "multilinear"}, {"concat", "stack"}
"""Kinds of primitives whose operands are cast to one dtype, and others."""


def _result(primitive: Primitive, arrays: Sequence[Array], params: Params) -> NumpyType:
    """The dtype that a primitive gives for small arrays."""
    return np.asarray(quiet.run(primitive.forward, *arrays, **params)).dtype


def counted(primitive: Primitive, first: Shaped, params: Params) -> Params:
    """Parameters for operands of which that is the first, as programs have them: axes counted from the front, tuples for lists."""
    axis = params.get("axis")
    if axis is None or primitive.name == "cross":  # counted from the end
        return params
    rank = len(first.shape) + (primitive.name in {"stack", "expand_dims"})
    several = isinstance(axis, (tuple, list))
    axes = tuple(axis) if several else (axis,)
    if not all(isinstance(each, int) and -rank <= each < rank for each in axes):
        return params
    made = tuple([each % rank for each in axes])
    return {**params, "axis": made if several or primitive.name in REDUCED else made[0]}


def _in_common(
    build: Building,
    primitive: Primitive,
    values: Sequence[Value | Array | Number],
    params: Params,
    *,
    alike: bool,
) -> list[Value]:
    """Operands as values; of one dtype, if they are to be alike: that in which NumPy computes."""
    dtypes = [value.dtype for value in values if isinstance(value, (Value, np.ndarray))]
    numbers = [value for value in values if not isinstance(value, (Value, np.ndarray))]
    if not all(isinstance(number, (bool, int, float, complex)) for number in numbers):
        raise LeftError(f"it passes something that is not an array to {primitive.short_name}")
    common = np.result_type(*dtypes, *numbers)
    if not alike:
        return [
            _as(build, value, value.dtype if isinstance(value, (Value, np.ndarray)) else common) for value in values
        ]
    if primitive.kind == "elementwise" and primitive.inputs[0] != "condition" and common.kind in "iub":
        made = _result(primitive, [np.ones((1,), common)] * len(values), params)
        common = made if made.kind == "f" else common
    return [_as(build, value, common) for value in values]


def _as(build: Building, value: Value | Array | Number, dtype: NumpyType) -> Value:
    if not isinstance(value, (Value, np.ndarray)):
        if dtype.kind in "iu" and (
            isinstance(value, complex) or not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max
        ):
            raise LeftError(f"{value} is no {dtype}")
        value = build.scalar(value, dtype)
    known: Value = build.constant(value) if isinstance(value, np.ndarray) else value
    return known if known.dtype == dtype else build.astype(known, dtype=dtype, source=known.dtype)


class EquationList:
    """The least that a definition needs of a builder: the equations, as they come."""

    def __init__(self) -> None:
        self.equations: list[Equation] = []
        self.unread: list[tuple[Primitive, Exception]] = []

    def apply(self, primitive: Primitive, values: tuple[Value, ...], params: Params) -> tuple[Value, ...]:
        """The outputs of a new equation."""
        outputs = tuple([Value(shape, dtype) for shape, dtype in infer(primitive, values, params)])
        self.equations.append(Equation(primitive, values, params, outputs))
        return outputs

    def constant(self, array: Array) -> Value:
        """An array that is known."""
        return Value(array.shape, array.dtype)

    def scalar(self, number: Number, dtype: NumpyType) -> Value:
        """A number that is known."""
        return Value((), dtype)

    def astype(self, value: Value, **params: Any) -> Value:
        """A value in another dtype."""
        return self.apply(ops.astype, (value,), params)[0]

    def not_equal(self, value: Value, number: Number) -> Value:
        """Where a value is not a number."""
        return self.apply(ops.not_equal, (value, self.scalar(number, value.dtype)), {})[0]


def read(build: Building, e: Equation) -> tuple[Value, ...] | None:
    """The outputs of an equation by the definition of its primitive; None for a case that is left as it is.

    Those are the largest of no elements, complex numbers where a forward function has a way of its own, and what the definition
    returns NotImplemented for. A primitive that computes with halves in single precision does so here; sums of halves are left
    to its forward function.
    """
    kinds = "fiubc" if e.primitive.defined and e.primitive.complex != "refused" else "fiub"
    if any(value.dtype.kind not in kinds for value in e.inputs):
        return None
    half = any(value.dtype.char == "e" for value in e.inputs)
    wide = half and e.primitive.halves == "as singles"
    if half and not wide and e.primitive.kind != "elementwise":
        return None
    values = [_as(build, each, SINGLE) if wide and each.dtype.char == "e" else each for each in e.inputs]
    try:
        namespace = ArrayFunctions(Namespace(build)) if e.primitive.of_user else Namespace(build)
        assert e.primitive.definition is not None
        found = e.primitive.definition(namespace, *[Symbol(build, value) for value in values], **e.params)
    except Exception as error:  # noqa: BLE001  # whatever it does, arrays may know how
        build.unread.append((e.primitive, error))
        return None
    made = [
        each.value for each in (found if isinstance(found, (tuple, list)) else (found,)) if isinstance(each, Symbol)
    ]
    if wide:
        made = [_as(build, each, out.dtype) for each, out in zip(made, e.outputs, strict=False)]
    # NumPy 1 widens arrays without axes.
    alike = len(made) == len(e.outputs) and all(
        (a.shape, a.dtype) == (b.shape, b.dtype) for a, b in zip(made, e.outputs, strict=True)
    )
    return tuple(made) if alike else None
