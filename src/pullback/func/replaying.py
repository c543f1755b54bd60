"""Functions written down as they run at one point, with the tensors that they read from outside as arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import ops
from .._core.modes import FieldBlock, changed, mode
from .._core.primitives import Carrier, Primitive
from .._tape.cuts import flat
from .._tape.memory import Cell, cell_of
from .._tape.observers import Looking
from .._tensor.tensor import Tensor
from ..interpreters import Interpreter
from .forward import as_arrays
from .levels import Following, inner, tensor_of

if TYPE_CHECKING:
    from typing import TypeAlias

    from .._core.typing import Array, Params, Result, Value

    Operand: TypeAlias = int | Cell | list[int]


def _wrapped(y: Value, x: Value, *others: Value, **params: Any) -> Value:
    """How many whole divisors were taken off."""
    divisor = others[0] if others else np.asarray(params.get("divisor", 1.0))
    return ops.rint(ops.divide(ops.subtract(x, y), divisor))


def _cut(y: Value, x: Value, **params: Any) -> Value:
    return ops.equal(y, x)


def _turned(y: Value, *args: Value, **params: Any) -> Value:
    """In which quarter an angle is: from the second to the third it jumps by a whole turn."""
    return ops.floor(ops.divide(y, np.asarray(np.pi / 2)))


def _negative(value: Any) -> Value:
    moves = isinstance(value, Carrier) and value._dtype.kind == "f"  # plain arrays are constants
    return ops.less(value, np.asarray(0.0)) if moves else np.asarray(False)


def _sign(y: Value, *args: Value, **params: Any) -> Value:
    return _negative(y)


def _quadrant(x: Value, y: Value) -> Value:
    """The signs of two numbers, whose length has a kink where both are 0."""
    return ops.add(ops.sign(x), ops.multiply(np.asarray(3.0), ops.sign(y)))


def _side(y: Value, x: Any) -> Value:
    """On which side of a kink at 0 an operand is."""
    return _quadrant(ops.real(x), ops.imag(x)) if x._dtype.kind == "c" else _negative(x)


STEPS: dict[str, Callable[..., Value]] = {
    **dict.fromkeys(("remainder", "fmod", "modulo", "frac"), _wrapped),
    **dict.fromkeys(("hardshrink", "threshold"), _cut),
    **dict.fromkeys(("atan2", "angle"), _turned),
    **dict.fromkeys(("abs", "relu"), _side),
    "prelu": lambda y, x, *weights, **params: _negative(x),
    "hypot": lambda y, *operands: _quadrant(*operands),
    "copysign": lambda y, x, sign: _negative(sign),
    **dict.fromkeys(("divide", "reciprocal"), _sign),
    "power": lambda y, x, exponent: _negative(x) if exponent < 0 else np.asarray(False),
    "tan": lambda y, x: _negative(ops.cos(x)),
}
"""What changes where an operation or its slope may jump, by its name: a function of its result, its operands and parameters."""


class ReadTensor(Following):
    """A value of a function that is written down; it has no place if it does not depend on the argument."""

    __slots__ = ()

    place: int | None
    _held = (*Following._held, "place")
    _follows = "place"


class ReadStep(NamedTuple):
    """One operation: an operand is the number of a value, a cell with one, or the number of a tensor from outside in a list."""

    primitive: Primitive
    operands: list[Operand]
    params: Params


class Reading(Interpreter):
    """The interpreter that writes down what depends on an argument, and with which tensors from outside.

    What is made under `no_grad` depends on nothing, as what is detached, in forward mode, too; unless all is read under it.
    """

    carrier = ReadTensor
    cuts = True

    def __init__(self) -> None:
        super().__init__()
        self._graded = self.cuts and mode.get().grad
        self.steps: list[ReadStep] = []
        self.outside: list[Tensor] = []
        self._count = 0
        self._numbers: dict[int, int] = {}

    def box(self, value: object) -> Any:
        """A value that does not depend on the argument."""
        boxed = super().box(value)
        for piece in boxed if type(boxed) is tuple else (boxed,):
            piece.place = None
        return boxed

    def placed(self, value: object) -> Any:
        """A value that does; for tuples, element by element."""
        boxed = self.box(value)
        for piece in boxed if type(boxed) is tuple else (boxed,):
            piece.place = self._count
            self._count += 1
        return boxed

    def adopt(self, made: Tensor) -> Tensor:
        """A tensor of this level, so that a value that depends on the argument can be written to it."""
        return self.box(inner(made))

    def process(self, primitive: Primitive, args: Sequence[Value], params: Params) -> Result:
        """The operation on the values, which is written down if one of them depends on the argument."""
        y = as_arrays(primitive(*[arg._array if self.holds(arg) else inner(arg) for arg in args], **params))
        if self._graded and not mode.get().grad:
            return self.box(tuple(map(_constant, y)) if isinstance(y, tuple) else _constant(y))
        if all(not self.holds(arg) or arg.place is None for arg in args):
            return self.box(y)
        self.steps.append(ReadStep(primitive, [self.operand(arg) for arg in args], params))
        return self.placed(y)

    def operand(self, value: Value) -> Operand:
        """What stands for an operand in a step."""
        if self.holds(value):
            if value.place is not None:
                return value.place
            value = value._array
        if not isinstance(value, Tensor):
            return _cell(value)
        if type(value) is Tensor and value._node is None and isinstance(value._array, np.ndarray):
            return cell_of(value)
        number = self._numbers.setdefault(id(value), len(self.outside))
        if number == len(self.outside):
            self.outside.append(value)
        return [number]


class SwitchTensor(ReadTensor):
    """A value that may become a number: the argument is one wherever the function is not looked at."""

    __slots__ = ()

    _followed = False


class Switches(Reading):
    """What also notes the values of steps, such as comparisons, that change at places which tensors with gradients decide.

    And whether the function takes numbers of what such tensors move, as by `int`: what it does with them is not seen.
    With `every` all steps are noted, also those that stay where they are.
    """

    carrier = SwitchTensor
    cuts = False  # a step under no_grad moves as well

    def __init__(self, every: bool) -> None:
        super().__init__()
        self.every = every
        self.moving: set[int] = set()
        self.poles: set[int] = set()
        self.named: list[tuple[Callable[..., Value], Value, Sequence[Value], Params]] = []
        self.found: list[Any] = []
        self.looked = False

    def process(self, primitive: Primitive, args: Sequence[Value], params: Params) -> Result:
        """The operation, of which it is noted whether it is a step function of what depends on both."""
        count = len(self.steps)
        y: Any = super().process(primitive, args, params)
        if len(self.steps) > count and any(self._moves(arg) for arg in args):
            smooth = primitive.kind == "custom" or not flat(primitive)
            for piece in y if isinstance(y, tuple) else (y,):
                if smooth and piece._dtype.kind in "fc":
                    self.moving.add(piece.place)
                else:
                    self.found.append(piece)
            if (rule := STEPS.get(primitive.short_name)) is not None:
                self.named.append((rule, y, args, params))
            if self._infinite(primitive.short_name, args, params):
                self.poles.add(y.place)
                self.named.append((_sign, y, args, params))
        return y

    def _infinite(self, name: str, args: Sequence[Value], params: Params) -> bool:
        """Whether an operation gives a power that is infinite at 0, or a multiple: its sign changes where a root's slope does."""
        if name == "multiply":
            return any(self.holds(arg) and arg.place in self.poles for arg in args)
        return name == "rsqrt" or (name == "power" and params["exponent"] < 0)

    def _values(self) -> dict[Any, Any]:
        values = super()._values()
        return {**values, mode: changed(values[mode], watcher=Looking(values[mode], self._looks))}

    def _looks(self, tensor: Value) -> None:
        while isinstance(tensor, Carrier) and tensor.level > self.level:  # of a transform inside the function
            tensor = tensor._array
        self.looked = self.looked or self._moves(tensor)

    def _moves(self, value: Value) -> bool:
        if self.holds(value) and value.place is not None:
            return self.every or value.place in self.moving
        value = self.unbox(value)
        return isinstance(value, Tensor) and (value.requires_grad or value._followed or value.level > 0)


class Switched(NamedTuple):
    """How a function runs at one place: the values of its steps, whether it takes numbers of what moves, and what it gives."""

    steps: bytes
    looked: bool
    found: list[Array]


def switched(function: Callable[[Tensor], Sequence[Tensor]], place: float, every: bool) -> Switched:
    """How a function runs at one place of a line, with the steps that change where tensors with gradients say, or with all."""
    with Switches(every) as seen:
        found = function(seen.placed(np.asarray(place)))
        steps = [*seen.found, *[rule(y, *args, **params) for rule, y, args, params in seen.named]]
    with FieldBlock(watcher=None):
        values = [np.asarray(each._concrete()).tobytes() for each in steps if isinstance(each, Carrier)]
        return Switched(b"".join(values), seen.looked, [np.asarray(each._concrete()) for each in found])


def cutting(function: Callable[..., Sequence[Tensor]]) -> Callable[..., list[Tensor]]:
    """A function of tensors whose values under `no_grad` are constant, in forward mode, too."""

    def cut(*leaves: Tensor) -> list[Tensor]:
        with Reading() as reading:
            found = function(*[reading.placed(inner(leaf)) for leaf in leaves])
        return [tensor_of(reading.unbox(each)) for each in found]

    return cut


def _constant(value: Value) -> Value:
    return value.detach() if isinstance(value, Carrier) else value


def _cell(value: object) -> Cell:
    cell = Cell()
    cell.array = value
    return cell


def replayed(
    function: Callable[[Tensor], Tensor], argument: Tensor
) -> tuple[Callable[..., Tensor], list[Tensor], Tensor]:
    """A function as it runs for one argument, as a function of that and of the tensors from outside; these; and the result."""
    with Reading() as reading:
        result = function(reading.placed(inner(argument)))
        operand, value = reading.operand(result), reading.unbox(result)

    def again(argument: Tensor, *outside: Tensor) -> Any:
        values: list[Value] = [argument]

        def of(operand: Operand) -> Value:
            if isinstance(operand, Cell):
                return operand.array
            return outside[operand[0]] if isinstance(operand, list) else values[operand]

        for primitive, operands, params in reading.steps:
            own = {word: copy(each) if word == "call" else each for word, each in params.items()}
            y = primitive(*map(of, operands), **own)
            values.extend(y if isinstance(y, tuple) else (y,))
        return of(operand)

    return again, reading.outside, value
