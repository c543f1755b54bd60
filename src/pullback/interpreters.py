"""Interpreters: the public hook for giving a program's operations another meaning.

An interpreter boxes values, receives every operation on them, and decides what to do. Entering one starts the next
level, so interpreters nest, with each other and with the tape. `examples/printing_tracer.py` is an example of a dozen
lines.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeGuard

import numpy as np

from ._core import errors, xp as arrays
from ._core.modes import entered, innermost, mode, within
from ._core.package import package
from ._core.primitives import BaseInterpreter, Carrier, Primitive as Primitive
from ._numerics.random import sampled_within
from ._tape.memory import cell_with
from ._tape.node import new
from ._tape.recording import Tape
from ._tensor.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._core.typing import Array, DType, Generator, MemoryFormat, Value
    from ._numerics.random import Draw
    from ._tape.node import Node


class Boxed(Tensor):
    """A tensor that belongs to an interpreter, which receives the operations on it."""

    __slots__ = ()  # so that a tensor can become one: see `_tape.views.enlist`

    level: int
    interpreter: Any
    _bequeaths = False
    _held: tuple[str, ...] = ("interpreter", "level")
    _transparent = False  # unknown for other people's interpreters

    @property
    def requires_grad(self) -> bool:
        """True if operations on this tensor are recorded, at this level or a lower one."""
        return self._node is not None or (isinstance(self._array, Carrier) and self._array.requires_grad)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if isinstance(self.interpreter, Tape):
            Tensor.requires_grad.__set__(self, value)  # type: ignore[attr-defined]  # a property
        else:
            self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Start (or stop) recording operations on this leaf, in place; raises if nothing would be recorded."""
        if isinstance(self.interpreter, Tape):
            return super().requires_grad_(requires_grad)
        if requires_grad is not self.requires_grad:
            raise RuntimeError(errors.FLAG_INSIDE)
        return self

    def __repr__(self) -> str:
        inner = self._array if isinstance(self._array, Carrier) else Tensor.interpreter.wrap(self._array, None)
        marks = "".join(f", {name}={value}" for name, value in self._marks().items())
        return f"{type(self).__name__}(lvl={self.level}{marks}, value=\n{textwrap.indent(repr(inner), '    ')}\n)"

    def _marks(self) -> dict[str, object]:
        """The text printed with a tensor besides its level and its value."""
        return {}

    def numpy(self, *, force: bool = False) -> Array:
        """Raises: the memory belongs to the interpreter."""
        if self._node is not None:
            raise errors.tracked_numpy(self, "numpy()")
        raise RuntimeError(
            "Cannot access data pointer of Tensor that doesn't have storage: this tensor belongs to a transform (level "
            f"{self.level}). NumPy functions work on it directly; np.asarray and .numpy() would hide what they do from it."
        )

    def __array__(self, dtype: DType | None = None, copy: bool | None = None) -> Array:
        return self.numpy()

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        memo[id(self)] = copied = self.clone()
        vars(copied).update(sys.modules["copy"].deepcopy(self._given_attributes(), memo))  # which has called this
        return copied

    def __reduce__(self) -> NoReturn:
        raise RuntimeError(
            f"a tensor of a transform (level {self.level}) cannot be pickled: it means something only while the function "
            "that is transformed runs. Return it from the function instead"
        )

    def __bool__(self) -> bool:
        if isinstance(self._array, Carrier) and self.numel() == 1:
            return bool(self._array)  # the lower level knows whether the value is unique
        return super().__bool__()

    def is_contiguous(self, memory_format: MemoryFormat | None = None) -> bool:
        """True if the elements are in row-major order in memory."""
        inner = self._array
        return (
            inner.is_contiguous(memory_format) if isinstance(inner, Carrier) else super().is_contiguous(memory_format)
        )

    def storage_offset(self) -> int:
        """The index in memory of the tensor's first element."""
        return self._array.storage_offset() if isinstance(self._array, Carrier) else super().storage_offset()

    def stride(self, dim: int | None = None) -> Any:
        """The distance in memory, in elements, of neighbors along each axis, or along one."""
        return self._array.stride(dim) if isinstance(self._array, Carrier) else super().stride(dim)

    def backward(self, *args: object, **options: object) -> None:
        """Raises: only `autograd.grad` works inside a transform."""
        raise RuntimeError(
            f"backward() called inside a functorch transform. This is not supported, please use {package}.func.grad or "
            f"vjp instead, or {package}.autograd.grad, or call backward() outside of the transform."
        )


class Interpreter(BaseInterpreter):
    """An interpretation of a program, entered with `with`; subclasses define `process(primitive, args, params)`.

    `args` are the operation's arrays, some of them boxed here; `params` is its metadata. Calling `primitive(*args,
    **params)` with unboxed values computes the operation one level further in.

    >>> import pullback
    >>> class Names(pullback.interpreters.Interpreter):
    ...     def process(self, primitive, args, params):
    ...         print(primitive.name)
    ...         return self.box(primitive(*map(self.unbox, args), **params))
    >>> with Names() as names:
    ...     x = names.box(pullback.tensor([1.0, 2.0]))
    ...     y = names.unbox((x * x).sum())
    multiply
    sum
    >>> y
    tensor(5.)
    """

    carrier: type[Boxed] = Boxed
    """The class of the tensors of this interpreter."""
    since = 0
    """Larger than that of each interpreter whose block was entered before; 0 outside of blocks."""

    def enlist(self, tensor: Tensor) -> Tensor:
        """What a tensor made inside this interpreter's block becomes when a value of this interpreter is written to it."""
        return self.adopt(tensor)

    def _values(self) -> dict[Any, Any]:
        self.since = next(entered)
        return {**super()._values(), mode: within()}

    def box(self, value: Any) -> Any:
        """A value as a tensor of this interpreter; a tuple element by element.

        A value is an array, or whatever else has a shape and a dtype that stand for one.
        """
        if isinstance(value, tuple):
            return tuple(map(self.box, value))
        boxed: Boxed = new(self.carrier)
        whole = isinstance(value, (np.ndarray, Carrier)) or (hasattr(value, "dtype") and not np.isscalar(value))
        boxed._array = value if whole else np.asarray(value)
        boxed._node = boxed._cell = None
        boxed.interpreter = self
        boxed.level = self.level
        if (around := innermost.get()) is not self and around is not None:
            boxed._since = getattr(around, "since", 0)
        return boxed

    def wrap(self, value: Value, node: Node | None) -> Tensor:
        """A constant as a tensor of this interpreter."""
        return Tensor.interpreter.wrap(value, None)

    @property
    def entered(self) -> bool:
        """True inside this interpreter's `with` block."""
        return bool(self._around)

    def holds(self, value: object) -> TypeGuard[Tensor]:
        """True if a value is a tensor of this interpreter."""
        return isinstance(value, Carrier) and value.interpreter is self

    def unbox(self, value: object) -> Any:
        """The value in a tensor of this interpreter; any other value as it is."""
        return value._array if self.holds(value) else value

    @property
    def around(self) -> BaseInterpreter | None:
        """The interpreter in whose block this one was entered; None for the outermost."""
        return self._around[-1][innermost]

    def sampled(
        self, draw: Draw, shape: tuple[int, ...], parameters: Sequence[Value], generator: Generator | None
    ) -> Tensor:
        """Random numbers as a tensor of this interpreter, drawn one level further in."""
        values = [self.unbox(parameter) for parameter in parameters]
        return self.box(sampled_within(self.around, draw, shape, values, generator))


def constant(value: Any) -> Any:
    """A value as a tensor without a derivative: an array with its memory; a tensor as it is.

    >>> import numpy
    >>> from pullback.interpreters import constant
    >>> constant(numpy.arange(3.0))
    tensor([0., 1., 2.], dtype=pullback.float64)
    """
    return value if isinstance(value, Carrier) else Tensor.interpreter.wrap(value, None)


def entered_last() -> BaseInterpreter | None:
    """The interpreter, or transform, whose block has been entered last; None outside of blocks.

    >>> from pullback.interpreters import Interpreter, entered_last
    >>> with Interpreter() as around:
    ...     entered_last() is around
    True
    """
    found: BaseInterpreter | None = innermost.get()
    return found


def pull(
    primitive: Primitive,
    xp: Any,
    g: Any,
    args: Sequence[Any],
    result: Any,
    params: dict[str, Any],
    wanted: Sequence[bool],
) -> Sequence[Any]:
    """The cotangents of an operation's operands, by its rules: what an interpreter of backward passes needs of a primitive.

    Parameters
    ----------
    primitive, args, params, result
        The operation, its operands, its metadata, and what it gave.
    xp
        The functions that the rules compute with: `pullback.ops`, or others of the same names; None for those on arrays.
    g
        The cotangent of the result; of several results a list.
    wanted
        For each operand, whether its cotangent is asked for; of others it is None. A cotangent may still have to be summed to
        the shape of an operand that was broadcast.

    >>> import pullback
    >>> from pullback.interpreters import pull
    >>> a, b = pullback.tensor(2.0), pullback.tensor(5.0)
    >>> pull(pullback.ops.multiply, pullback.ops, pullback.tensor(1.0), (a, b), a * b, {}, (True, False))
    (tensor(5.), None)
    """
    edges = [SimpleNamespace(shape=np.shape(arg)) if want else None for arg, want in zip(args, wanted, strict=True)]
    saved: list[Any] = []
    results = result if isinstance(result, tuple) else (result,)
    for place, _ in primitive.keeps:
        kept = results if place is None else args[place] if isinstance(place, slice) else [args[place]]
        saved.extend(map(cell_with, kept))
    found: Sequence[Any] = primitive.pull(arrays if xp is None else xp, g, edges, saved, params)
    return found
