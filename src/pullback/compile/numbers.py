"""Python numbers that are other ones at each call: a learning rate, a count.

A `Number` stands in the place of a float while a program is recorded. Arithmetic with it is written down, in double
precision as Python's is, or in that of a NumPy scalar it stands for; beside a tensor it is as weak as a Python float. Whoever needs the number itself gets it, and
the program holds only where it is the same.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import ops
from .._core.dtypes import default_numpy
from .._core.primitives import Carrier
from .._tensor.tensor import Tensor

DOUBLE = np.dtype(np.float64)


class Number:
    """A float of a recorded program."""

    __slots__ = ("_recorder", "_held", "_weak")

    def __init__(self, recorder: Any, held: Any, *, weak: bool = True) -> None:
        self._recorder = recorder
        self._held = held
        self._weak = weak  # a Python number; else a scalar of an array, whose dtype counts

    @property  # type: ignore[misc]  # for isinstance(rate, float)
    def __class__(self) -> Any:
        return float

    def within(self, dtype: np.dtype[Any]) -> Any:
        """A tensor without axes, of a dtype."""
        return Tensor.interpreter.wrap(self.held_as(dtype), None)

    def held_as(self, dtype: np.dtype[Any]) -> Any:
        """The recorded value in a dtype."""
        source = self._held._dtype
        return self._held if dtype == source else ops.astype(self._held, dtype=dtype, source=source)

    def item(self) -> Number:
        """The number as Python has it, in double precision."""
        return Number(self._recorder, self.held_as(DOUBLE))

    def _pair(self, other: Any) -> tuple[Any, Any]:
        """Both operands in one dtype: a Python number takes that of an array's scalar."""
        dtype = self._held._dtype
        if type(other) is not Number:
            return self._held, np.asarray(other, dtype)
        if self._weak == other._weak:
            dtype = np.result_type(dtype, other._held._dtype)
        elif self._weak:
            dtype = other._held._dtype
        return self.held_as(dtype), other.held_as(dtype)

    def beside(self, tensor: Any) -> Any:
        """A tensor without axes, as weak as a Python float beside a tensor."""
        dtype = tensor._dtype if tensor._dtype.kind in "fc" else default_numpy()
        return self.within(dtype)

    def _with(self, operation: Callable[[Any, Any], Any], primitive: Any, other: Any, *, swapped: bool = False) -> Any:
        if isinstance(other, Carrier):
            operands = (self.beside(other), other)
            return operation(*(operands[::-1] if swapped else operands))
        if not isinstance(other, (Number, int, float)):
            return NotImplemented
        operands = self._pair(other)
        weak = self._weak and (type(other) is not Number or other._weak)
        return Number(self._recorder, primitive(*(operands[::-1] if swapped else operands)), weak=weak)

    def _asked(self) -> float:
        return float(self._recorder.guarded(self._held))

    def __float__(self) -> float:
        return self._asked()

    def __int__(self) -> int:
        return int(self._asked())

    def __bool__(self) -> bool:
        return bool(self._asked())

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return repr(self._asked())

    def __format__(self, spec: str) -> str:
        return format(self._asked(), spec)

    def __neg__(self) -> Number:
        return Number(self._recorder, ops.negative(self._held), weak=self._weak)

    def __pos__(self) -> Number:
        return self

    def __abs__(self) -> Number:
        return Number(self._recorder, ops.abs(self._held), weak=self._weak)


def _arithmetic(name: str, primitive: Any) -> None:
    operation = getattr(operator, name)
    setattr(Number, f"__{name}__", lambda self, other: self._with(operation, primitive, other))
    setattr(Number, f"__r{name}__", lambda self, other: self._with(operation, primitive, other, swapped=True))


def _comparison(name: str, primitive: Any) -> None:
    operation = getattr(operator, name)

    def compare(self: Number, other: Any) -> Any:
        if isinstance(other, Carrier):
            return operation(self.beside(other), other)
        if not isinstance(other, (Number, int, float)):
            return NotImplemented
        return bool(self._recorder.guarded(primitive(*self._pair(other))))

    setattr(Number, f"__{name}__", compare)


for _name, _primitive in {
    "add": ops.add,
    "sub": ops.subtract,
    "mul": ops.multiply,
    "truediv": ops.divide,
    "floordiv": ops.floor_quotient,
    "mod": ops.remainder,
    "pow": ops.pow,
}.items():
    _arithmetic(_name, _primitive)

for _name, _primitive in {
    "eq": ops.equal,
    "ne": ops.not_equal,
    "lt": ops.less,
    "le": ops.less_equal,
    "gt": ops.greater,
    "ge": ops.greater_equal,
}.items():
    _comparison(_name, _primitive)
