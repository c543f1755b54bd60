"""Python numbers that are other ones at each call: a float argument, a learning rate, an int that counts.

A `Number` stands in the place of a float while a program is recorded. Arithmetic with it is written down, in double
precision as Python's is, or in that of a NumPy scalar it stands for; beside a tensor it is as weak as a Python float.
An `Integer` stands in the place of an int that is not too large; it is an int64 that cannot overflow. Whoever asks for its value (a comparison, `math.sqrt`, a hash, a text) gets it, and the program holds only where the
answer is the same. Where neither is possible, because one would be metadata of an operation that has no form with an
operand in its place (`parameters`), or would be left in an object of the user, the run is given up with `Escaped`, and
made anew with the plain floats that the number was computed from.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from .. import Tensor, get_default_dtype, ops

if TYPE_CHECKING:
    from .._core.primitives import Primitive
    from .._core.typing import Array, DType, NumpyType
    from .recorder import Recorded, Recorder

DOUBLE = np.dtype(np.float64)
INT = np.dtype(np.int64)
FLOATS = (float, np.float64)
"""The types of the arguments that are inputs of a program as numbers of double precision."""
LARGEST = 2**31
"""The largest size of an int argument that is an input of a program."""
EXACT, FITTING = 2**53, 2**63
"""The sizes up to which ints are exact as doubles, and below which they fit into an int64."""
PARTIAL = {"truediv", "floordiv", "mod"}
"""Operations that Python refuses for a divisor of zero."""
Root = tuple[str, int]
"""What a number comes from: an argument by its number, or the learning rate of a dictionary by its id."""


class Escaped(BaseException):
    """A number cannot be traced where it goes: what it comes from is to be part of the program.

    It is no Exception, so that no handler of the user takes it for an error of theirs.
    """

    def __init__(self, roots: Iterable[Root]) -> None:
        super().__init__()
        self.roots = frozenset(roots)


class Number:
    """A float of a recorded program."""

    _stands_for: type = float

    __slots__ = ("_recorder", "held", "_weak", "roots", "__weakref__")

    def __init__(
        self, recorder: Recorder, held: Recorded, *, weak: bool = True, roots: frozenset[Root] = frozenset()
    ) -> None:
        self._recorder = recorder
        self.held = held
        self._weak = weak  # a Python number; else a scalar of an array, whose dtype counts
        self.roots = roots
        recorder.numbers.append(ref(self))

    @property  # type: ignore[misc]  # for isinstance(rate, float)
    def __class__(self) -> Any:
        return type(self)._stands_for if self._weak else self.held.form.dtype.type

    def within(self, dtype: NumpyType) -> Tensor:
        """A tensor without axes, of a dtype."""
        return Tensor.interpreter.wrap(self.held_as(dtype), None)

    def held_as(self, dtype: NumpyType) -> Recorded:
        """The recorded value in a dtype."""
        source = self.held.form.dtype
        return self.held if dtype == source else ops.astype(self.held, dtype=dtype, source=source)

    def item(self) -> Number:
        """The number as Python has it, in double precision."""
        return Number(self._recorder, self.held_as(DOUBLE), roots=self.roots)

    def returned(self) -> Recorded:
        """The recorded value of a number that a function returns; Escaped for a scalar of NumPy."""
        if not self._weak:
            raise Escaped(self.roots)
        return self.held

    def _pair(self, other: Number | float | np.generic) -> tuple[Recorded, Recorded | Array]:
        """Both operands in one dtype: a Python number takes that of an array's scalar."""
        if type(other) is Integer:
            other = other.item()
        dtype = self.held.form.dtype
        if type(other) is not Number:
            return self.held, np.asarray(other, dtype)
        if self._weak == other._weak:
            dtype = np.result_type(dtype, other.held.form.dtype)
        elif self._weak:
            dtype = other.held.form.dtype
        return self.held_as(dtype), other.held_as(dtype)

    def beside(self, tensor: Tensor) -> Tensor:
        """A tensor without axes, as weak as a Python float beside a tensor."""
        dtype = (tensor.dtype if tensor.dtype.kind in "fc" else get_default_dtype()).numpy
        return self.within(dtype)

    def _with(self, name: str, primitive: Primitive, other: Any, *, swapped: bool = False) -> Any:
        operation = getattr(operator, name)
        if isinstance(other, Tensor):
            if name == "sub" and not swapped and other.dtype.kind == "b":
                return 0 - other  # an error, where two tensors would have a difference
            return operation(other, self.beside(other)) if swapped else operation(self.beside(other), other)
        if type(other) is Integer:
            other = other.item()
        if self._weak and type(other) not in (Number, int, float, bool):
            if not isinstance(other, (int, float, np.generic)):
                return NotImplemented
            return operation(other, self._asked()) if swapped else operation(self._asked(), other)
        left, right = (other, self) if swapped else (self, other)
        if self._weak and not _defined(name, left, right):
            return operation(float(left), float(right))
        operands = self._pair(other)
        weak = self._weak and (type(other) is not Number or other._weak)
        made = primitive(*(operands[::-1] if swapped else operands))
        roots = self.roots | other.roots if type(other) is Number else self.roots
        return Number(self._recorder, made, weak=weak, roots=roots)

    def _asked(self) -> float:
        return float(self._recorder.guarded(self.held))

    def __hash__(self) -> int:
        return hash(self._asked()) if self._weak or self.roots else id(self)

    def __neg__(self) -> Number:
        return Number(self._recorder, ops.negative(self.held), weak=self._weak, roots=self.roots)

    def __pos__(self) -> Number:
        return self

    def __abs__(self) -> Number:
        return Number(self._recorder, ops.abs(self.held), weak=self._weak, roots=self.roots)

    def __copy__(self) -> Number:
        return self

    def __deepcopy__(self, memo: object) -> Number:
        return self

    def __reduce__(self) -> tuple[type[float], tuple[float]]:
        return float, (self._asked(),)

    def __array__(self, dtype: DType | None = None, copy: bool | None = None) -> Array:
        return np.asarray(self._asked(), dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Beside arrays, and scalars of them, a number is as weak as Python's."""
        return getattr(ufunc, method)(*map(_asked, inputs), **{name: _asked(value) for name, value in kwargs.items()})

    def __getattr__(self, name: str) -> Any:
        if not self._weak:  # of its attributes, the dtype is known
            return self.held.form.dtype if name == "dtype" else getattr(_asked(self), name)
        if name in FLOAT:
            return getattr(self._asked(), name)
        raise AttributeError(f"'float' object has no attribute '{name}'")


class Integer(Number):
    """An int of a recorded program: an int64 of at most some size, so that arithmetic with it cannot overflow.

    Whoever asks for its value makes it a part of the program: it is an index, a shape or a number of steps.
    """

    _stands_for = int
    __slots__ = ("_size",)

    def __init__(self, recorder: Recorder, held: Recorded, size: int, roots: frozenset[Root]) -> None:
        super().__init__(recorder, held, roots=roots)
        self._size = size

    def within(self, dtype: NumpyType) -> Tensor:
        """A tensor without axes, of a dtype that holds the number as exactly as Python's int is converted to it."""
        if dtype == INT or (dtype.kind in "fc" and self._size <= EXACT):
            return super().within(dtype)
        return self._asked()

    def beside(self, tensor: Tensor) -> Tensor:
        """A tensor without axes, as weak as a Python int beside a tensor."""
        return self.within(tensor.dtype.numpy if tensor.dtype.kind in "fciu" else INT)

    def item(self) -> Number:
        """The number as a float."""
        return super().item() if self._size <= EXACT else self._asked()

    def _sized(self, other: object) -> int:
        """The largest size of another operand, if that is an int; else -1."""
        if type(other) is Integer:
            return other._size
        return abs(other) if isinstance(other, int) and type(other) in (int, bool) else -1

    def _pair(self, other: Number | float | np.generic) -> tuple[Recorded, Recorded | Array]:
        size = self._sized(other)
        if size < 0:
            return self.item()._pair(other)
        if size >= FITTING:
            return self._asked()
        return self.held, other.held if type(other) is Integer else np.asarray(other, INT)

    def _with(self, name: str, primitive: Primitive, other: Any, *, swapped: bool = False) -> Any:
        if isinstance(other, Tensor):
            return super()._with(name, primitive, other, swapped=swapped)
        size = self._sized(other)
        if size < 0 and isinstance(other, (int, float, np.generic)) and type(other) not in (float, Number):
            return self._asked()
        if name == "pow" and size >= 0 and (swapped or type(other) is Integer or other >= 0):
            return self._power(other, swapped=swapped)
        if size < 0 or name in ("truediv", "pow"):
            return self._asked() if size > EXACT else self.item()._with(name, primitive, other, swapped=swapped)
        left, right = (other, self) if swapped else (self, other)
        if name in PARTIAL and right == 0:
            return getattr(operator, name)(int(left), int(right))
        made = {"add": self._size + size, "sub": self._size + size, "mul": self._size * size}.get(
            name, max(self._size, size)
        )
        if max(made, size) >= FITTING:
            return self._asked()
        operands = self._pair(other)
        roots = self.roots | other.roots if type(other) is Integer else self.roots
        return Integer(self._recorder, primitive(*(operands[::-1] if swapped else operands)), made, roots)

    def _power(self, other: Any, *, swapped: bool) -> Any:
        """A small power as products; any other is asked for."""
        if swapped or type(other) is Integer or other > SMALL:
            return self._asked()
        made: Any = 1
        for _ in range(other):
            made = self * made
        return made

    def _asked(self) -> Any:
        raise Escaped(self.roots)

    def __bool__(self) -> bool:
        return bool(operator.ne(self, 0))

    def __neg__(self) -> Integer:
        return Integer(self._recorder, ops.negative(self.held), self._size, self.roots)

    def __abs__(self) -> Integer:
        return Integer(self._recorder, ops.abs(self.held), self._size, self.roots)

    def __round__(self, digits: int | None = None) -> Any:
        return self if digits is None or digits >= 0 else self._asked()

    def __trunc__(self) -> Integer:
        return self

    __floor__ = __ceil__ = __trunc__

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __reduce__(self) -> Any:
        return self._asked()

    def __getattr__(self, name: str) -> Any:
        if hasattr(int, name):
            return self._asked()
        raise AttributeError(f"'int' object has no attribute '{name}'")


SMALL = 4
"""The largest power of an int that is written as products."""


def _defined(name: str, left: Any, right: Any) -> bool:
    """Whether an operation on floats has a result that is a float, which the program then checks; else Python is asked."""
    traced = [operand for operand in (left, right) if type(operand) is Number and operand.roots]
    if not traced:
        return True
    if name in PARTIAL:
        return bool(right != 0)
    if name == "pow" and type(right) is not Number:  # neither complex, nor too large, nor a division by zero
        return bool(abs(right) <= 8 and 1e-30 <= left <= 1e30)
    if name == "pow":
        return type(left) is not Number and bool(
            right <= 100 if 1 <= left <= 100 else 0.01 <= left < 1 and right >= -100
        )
    return True


FLOAT = {name for name in dir(float) if not name.startswith("__")}


def _arithmetic(name: str, primitive: Primitive) -> None:
    setattr(Number, f"__{name}__", lambda self, other: self._with(name, primitive, other))
    setattr(Number, f"__r{name}__", lambda self, other: self._with(name, primitive, other, swapped=True))


def _comparison(name: str, primitive: Primitive) -> None:
    operation: Callable[[Any, Any], Any] = getattr(operator, name)

    def compare(self: Number, other: Any) -> Any:
        if isinstance(other, Tensor):
            return operation(self.beside(other), other)
        if not isinstance(other, (Number, int, float)):
            return operation(self._asked(), other)
        answer = bool(self._recorder.guarded(primitive(*self._pair(other))))
        return np.bool_(answer) if _of_numpy(self) or _of_numpy(other) else answer

    setattr(Number, f"__{name}__", compare)


def _asked(operand: Any) -> Any:
    """The value of a number, and any other operand as it is."""
    if type(operand) not in (Number, Integer):
        return operand
    return operand.held.form.dtype.type(operand._asked()) if _of_numpy(operand) else operand._asked()


def _of_numpy(operand: Any) -> bool:
    """Whether an operand is a scalar of NumPy, whose comparisons answer with one."""
    return not operand._weak if type(operand) in (Number, Integer) else isinstance(operand, np.generic)


def _question(name: str, cls: type[Number] = Number) -> None:
    def answer(self: Number, *args: Any) -> Any:
        return getattr(_asked(self), name)(*map(_asked, args))

    setattr(cls, name, answer)


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

for _name in (
    *("__float__", "__int__", "__bool__", "__repr__", "__str__", "__format__", "__round__", "__trunc__", "__floor__"),
    *("__ceil__", "__divmod__", "__rdivmod__"),
):
    _question(_name)

for _name in (
    "index",
    "invert",
    *[each + name for each in ("", "r") for name in ("and", "or", "xor", "lshift", "rshift")],
):
    _question(f"__{_name}__", Integer)
