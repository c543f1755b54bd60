"""Definitions, read as equations: what a primitive says it computes, placed by a builder.

A definition is called with values that know the operators of arrays, and with a namespace that has the functions of rules.
Both place equations; numbers take the dtype of what they are combined with, and operands of several dtypes the common one,
as NumPy has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import ops
from .._core.primitives import Primitive
from .inference import infer
from .program import Equation, Value

OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "mod": "remainder", "and": "logical_and",
    "or": "logical_or", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal",
    "ne": "not_equal",
}  # fmt: skip
"""Python's operators, and the primitives that they mean. Of masks, & and | are those of logic."""
SINGLE = np.dtype(np.float32)


class Symbol:
    """A value of a program in the making, with the operators of an array."""

    __slots__ = ("build", "value")
    __hash__ = None  # type: ignore[assignment]  # == is elementwise

    def __init__(self, build: Any, value: Value) -> None:
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
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements."""
        return self.value.dtype

    def __neg__(self) -> Any:
        return _placed(self.build, ops.negative, (self,), {})

    def __abs__(self) -> Any:
        return _placed(self.build, ops.abs, (self,), {})

    def __invert__(self) -> Any:
        return _placed(self.build, ops.logical_not, (self,), {})

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, Symbol):
            return _placed(self.build, ops.pow, (self, exponent), {})
        return _placed(self.build, ops.power, (self,), {"exponent": exponent})

    def __matmul__(self, other: Any) -> Any:
        return _placed(self.build, ops.matmul, (self, other), {})

    def __getitem__(self, index: Any) -> Any:
        return _placed(self.build, ops.getitem, (self,), {"index": index if isinstance(index, tuple) else (index,)})

    def __array_ufunc__(self, function: Any, *_: Any, **__: Any) -> Any:
        raise TypeError(f"a definition calls numpy.{function.__name__}: it must use the functions of xp")

    def __array_function__(self, function: Any, *_: Any) -> Any:
        raise TypeError(f"a definition calls numpy.{function.__name__}: it must use the functions of xp")


def _operator(primitive: Primitive, *, swapped: bool) -> Callable[[Symbol, Any], Any]:
    def method(self: Symbol, other: Any) -> Any:
        return _placed(self.build, primitive, (other, self) if swapped else (self, other), {})

    return method


for _name, _word in OPERATORS.items():
    setattr(Symbol, f"__{_name}__", _operator(getattr(ops, _word), swapped=False))
    if _name[0] not in "lgen":  # comparisons have no swapped form
        setattr(Symbol, f"__r{_name}__", _operator(getattr(ops, _word), swapped=True))


class Namespace:
    """The `xp` of a definition whose values are symbols."""

    def __init__(self, build: Any) -> None:
        self._build = build

    def __getattr__(self, name: str) -> Any:
        found = getattr(ops, name)
        if not isinstance(found, Primitive):
            return found

        def function(*operands: Any, **params: Any) -> Any:
            return _placed(self._build, found, operands, params)

        setattr(self, name, function)
        return function

    def constant(self, value: Any, dtype: Any) -> Any:
        """A number in a dtype."""
        return Symbol(self._build, self._build.scalar(value, dtype))

    def asarray(self, array: Any) -> Any:
        """An array that is the same for all operands."""
        return Symbol(self._build, self._build.constant(np.asarray(array)))


def _placed(build: Any, primitive: Primitive, operands: Sequence[Any], params: dict[str, Any]) -> Any:
    """What a primitive gives for symbols, arrays and numbers."""
    values = [each.value if isinstance(each, Symbol) else each for each in operands]
    first = int(primitive.inputs[0] == "condition")
    if first and isinstance(values[0], Value) and values[0].dtype.kind != "b":
        values[0] = build.not_equal(values[0], 0)
    if len(values) - first > 1 or not all(isinstance(each, Value) for each in values):
        values[first:] = _in_common(build, values[first:], alike=primitive.kind != "linear")
    made = build.apply(primitive, tuple(values), params)
    return Symbol(build, made[0]) if len(made) == 1 else tuple([Symbol(build, each) for each in made])


def _in_common(build: Any, values: Sequence[Any], *, alike: bool) -> list[Value]:
    """Operands as values; of one dtype, if they are to be alike."""
    dtypes = {value.dtype for value in values if isinstance(value, (Value, np.ndarray))}
    numbers = [value for value in values if not isinstance(value, (Value, np.ndarray))]
    if not alike or (len(dtypes) == 1 and not numbers):
        return [build.constant(value) if isinstance(value, np.ndarray) else value for value in values]
    common = np.result_type(*dtypes, *numbers)
    return [_as(build, value, common) for value in values]


def _as(build: Any, value: Any, dtype: np.dtype[Any]) -> Value:
    if not isinstance(value, (Value, np.ndarray)):
        return build.scalar(value, dtype)  # type: ignore[no-any-return]  # a value
    known: Value = build.constant(value) if isinstance(value, np.ndarray) else value
    return known if known.dtype == dtype else build.astype(known, dtype=dtype, source=known.dtype)


class Parts:
    """The least that a definition needs of a builder: the equations, as they come."""

    def __init__(self) -> None:
        self.equations: list[Equation] = []

    def apply(self, primitive: Primitive, values: tuple[Value, ...], params: dict[str, Any]) -> tuple[Value, ...]:
        """The outputs of a new equation."""
        outputs = tuple([Value(shape, dtype) for shape, dtype in infer(primitive, values, params)])
        self.equations.append(Equation(primitive, values, params, outputs))
        return outputs

    def constant(self, array: Any) -> Value:
        """An array that is known."""
        return Value(array.shape, array.dtype)

    def scalar(self, number: Any, dtype: np.dtype[Any]) -> Value:
        """A number that is known."""
        return Value((), dtype)

    def astype(self, value: Value, **params: Any) -> Value:
        """A value in another dtype."""
        return self.apply(ops.astype, (value,), params)[0]

    def not_equal(self, value: Value, number: Any) -> Value:
        """Where a value is not a number."""
        return self.apply(ops.not_equal, (value, self.scalar(number, value.dtype)), {})[0]


def read(build: Any, e: Equation) -> tuple[Value, ...] | None:
    """The outputs of an equation by the definition of its primitive; None for a case that is left as it is.

    Those are arrays without elements, complex numbers where a forward function has a way of its own, and what the definition
    returns NotImplemented for. A primitive that computes with halves in single precision does so here; sums of halves are left
    to its forward function.
    """
    kinds = "fiubc" if e.primitive.defined and e.primitive.complex != "refused" else "fiub"
    if any(value.dtype.kind not in kinds or not value.size for value in e.inputs):
        return None
    half = any(value.dtype.char == "e" for value in e.inputs)
    wide = half and e.primitive.halves == "as singles"
    if half and not wide and e.primitive.kind != "elementwise":
        return None
    values = [_as(build, each, SINGLE) if wide and each.dtype.char == "e" else each for each in e.inputs]
    found = e.primitive.definition(Namespace(build), *[Symbol(build, value) for value in values], **e.params)
    made = [each.value for each in (found if isinstance(found, tuple) else (found,)) if isinstance(each, Symbol)]
    if wide:
        made = [_as(build, each, out.dtype) for each, out in zip(made, e.outputs, strict=False)]
    # NumPy 1 widens arrays without axes.
    alike = len(made) == len(e.outputs) and all(
        (a.shape, a.dtype) == (b.shape, b.dtype) for a, b in zip(made, e.outputs, strict=True)
    )
    return tuple(made) if alike else None
