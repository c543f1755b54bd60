"""vmap's interpreter: it runs a function once for all examples of a batch.

A value that differs between examples stores them along a first axis that the function does not see. An operation on
such values is the same operation with that axis carried along: `batching_rules` says how for each primitive. Primitives
without a rule are computed example by example.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .. import ops
from .._core import errors, xp as _xp
from .._core.package import package
from .._core.primitives import Carrier, Primitive
from .._core.shapes import Size, size_of
from .._core.sites import caller, describe
from .._core.values import each
from .._numerics.random import Moment, sampled_within
from ..interpreters import Boxed, Interpreter
from .arguments import Argument, raised, whole
from .batched_indexing import DYNAMIC
from .batching_rules import batched_result
from .levels import inner, tensor_of

if TYPE_CHECKING:
    from .._core.typing import Array, Converted, Generator, MemoryFormat, Params, Result, Tensor, Value
    from .._numerics.random import Draw

Answer = TypeVar("Answer")
CONTROL = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that "
    "yet, unless you pass on_branch='split': the examples of a batch may disagree. Write {package}.where(condition, a, b) "
    "instead of if, or call vmap(f, on_branch='split')"
)
ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor: "
    "each example has its own number. Compute with the tensor itself, or move .item() out of the function"
)
RANDOM = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness "
    "flags on vmap or perform the randomness operation out of vmap"
)


def _here(text: str) -> RuntimeError:
    """An error that names the line of the user's code it is about."""
    return RuntimeError(f"{text}.\n  It happened at {describe(caller(3))}")


class BatchedTensor(Boxed):
    """The view of a value by a single example: the batch axis is hidden; `batched` is False for a shared value."""

    __slots__ = ()

    batched: bool
    _held = (*Boxed._held, "batched")

    @property
    def shape(self) -> Size:
        """The length of each axis of one example."""
        shape = self._array.shape
        return size_of(shape[1:] if self.batched else shape)

    @property
    def ndim(self) -> int:
        """The number of axes of one example."""
        return len(self._array.shape) - self.batched

    def dim(self) -> int:
        """The number of axes of one example."""
        return self.ndim

    def _marks(self) -> dict[str, object]:
        return {"bdim": 0 if self.batched else None}

    def is_contiguous(self, memory_format: MemoryFormat | None = None) -> bool:
        """True if the elements of an example are contiguous in the given memory format."""
        shape = self.shape
        if 0 in shape:
            return True
        dense = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
        return all(n == 1 or step == wanted for n, step, wanted in zip(shape, self.stride(), dense, strict=True))

    def storage_offset(self) -> int:
        """The number of elements in the storage before the first element of the first example."""
        return int(tensor_of(self._array).storage_offset())

    def stride(self, dim: int | None = None) -> Any:
        """The number of elements between neighbors along each axis of an example."""
        strides = tuple(tensor_of(self._array).stride())[1 if self.batched else 0 :]
        return strides if dim is None else strides[dim]

    def _concrete(self, operation: str = "nonzero") -> Array:
        if self.batched:
            raise _here(DYNAMIC.format(name=operation, package=package))
        return super()._concrete(operation)

    def _each(self, function: Callable[[Array], Array], operation: str) -> Tensor:
        """What a function makes of each example, see `values.each`."""
        if not self.batched:
            return each(tensor_of(self._array), function, operation)

        def rows(array: Array) -> Array:
            if not len(array):
                return function(np.ones(array.shape[1:], array.dtype))[None][:0]
            return np.stack([function(row) for row in array])

        examples = tensor_of(self.interpreter.spread(self)._array)
        return self.interpreter.box(inner(each(examples, rows, operation)))

    def item(self) -> Any:
        """The value of a shared scalar; refused if the value differs between the examples."""
        return self._unless_batched(super().item)

    def tolist(self) -> Any:
        """The value of a shared tensor as a list; refused if the value differs between the examples."""
        return self._unless_batched(super().tolist)

    def __index__(self) -> int:
        return self._unless_batched(super().__index__)

    def _scalar(self, convert: type[Converted]) -> Converted:
        return self._unless_batched(lambda: super(BatchedTensor, self)._scalar(convert))

    def __bool__(self) -> bool:
        if self.batched and self.numel() == 1:
            return bool(self.interpreter.branch(self))
        return super().__bool__()

    def _unless_batched(self, answer: Callable[[], Answer]) -> Answer:
        if self.batched:
            raise _here(ITEM)
        return answer()


class Split(BaseException):
    """Raised at a branch on which the examples of a batch disagree, with each example's answer."""

    def __init__(self, batch: Batch, answers: Array) -> None:
        super().__init__("a branch that the examples disagree about")
        self.batch = batch
        self.answers = answers


class Drawn(tuple[Any, bool]):
    """Random numbers that a run has drawn, and whether each example has its own."""

    __slots__ = ()


class Batch(Interpreter):
    """The interpreter that computes all `size` examples at once.

    `past` lists the branches taken and the random numbers drawn by an earlier run of these examples; they are repeated
    in this run, which appends its own. Without a list, data-dependent branches are refused.
    """

    carrier = BatchedTensor

    def __init__(self, size: int, randomness: str = "error", past: list[bool | Drawn] | None = None) -> None:
        super().__init__()
        self.size = size
        self.randomness = randomness
        self.past = past
        self._place = 0

    def box(self, value: object, batched: bool = True) -> Any:
        """A value with one example per row, or a shared one, as a tensor of this level; a tuple element by element."""
        if type(value) is tuple:
            return tuple([self.box(piece, batched) for piece in value])
        boxed = super().box(value)
        boxed.batched = batched
        return boxed

    def adopt(self, made: Tensor) -> Tensor:
        """A tensor that all examples share, until a value that differs between them is written to it."""
        return self.box(inner(made), batched=False)

    def spread(self, arg: Value) -> Value:
        """The argument with its batch axis; a diagonal batch in `diagonal` becomes dense here."""
        return arg

    def process(self, primitive: Primitive, args: Sequence[Value], params: Params) -> Result:
        """The operation on all examples."""
        if not self._around:
            raise RuntimeError(errors.leaked(primitive.short_name))
        given = []
        batched = False
        for arg in args:
            if isinstance(arg, Carrier) and arg.interpreter is self:
                batched = batched or arg.batched
                given.append(Argument(arg._array, arg.batched))
            else:
                given.append(Argument(arg, False))
        if batched:
            return self.box(batched_result(self.size, primitive, given, params))
        return self.box(primitive(*[argument.value for argument in given], **params), batched=False)

    def _argument(self, arg: Value) -> Argument:
        return Argument(arg._array, arg.batched) if self.holds(arg) else Argument(arg, False)

    # Branches

    def branch(self, condition: Tensor) -> bool:
        """The branch that all examples take at an `if`; if they disagree, the run ends with a `Split`."""
        if self.past is None:
            raise _here(CONTROL.format(package=package))
        if (known := self._remembered()) is not None:
            return bool(known)
        answers = self._answers(condition._array)
        if answers.any() and not answers.all():
            raise Split(self, answers)
        self.past.append(bool(answers.any()))
        self._place += 1
        return bool(answers.any())

    def _answers(self, value: Value) -> Array:
        """The condition's answer for each example; inside nested batches, by branching on the outer level."""
        inner = value
        while isinstance(inner, Carrier):
            if getattr(inner, "batched", False):
                return np.array([bool(ops.getitem(value, index=(i, ...))) for i in range(self.size)])
            inner = inner._array
        return np.asarray(inner, np.bool_).reshape(self.size)

    def _remembered(self) -> bool | Drawn | None:
        """The branch or the draw recorded at this point by an earlier run; None if this run has gone further."""
        if self.past is None or self._place == len(self.past):
            return None
        self._place += 1
        return self.past[self._place - 1]

    def past_of(self, rows: Array) -> list[bool | Drawn]:
        """The recorded past for some of the examples."""
        assert self.past is not None
        return [
            Drawn((ops.index(event[0], rows, spec=(_xp.array,)), True)) if type(event) is Drawn and event[1] else event
            for event in self.past
        ]

    # Random numbers

    def sampled(
        self, draw: Draw, shape: tuple[int, ...], parameters: Sequence[Value], generator: Generator | None
    ) -> Tensor:
        """Random numbers: different for each example, the same for all, or refused, as `randomness` says."""
        if self.randomness == "error":
            raise _here(RANDOM)
        known = self._remembered()
        if not isinstance(known, Drawn):
            known = Drawn(self._drawn(draw, shape, [self._argument(p) for p in parameters], generator))
            if self.past is not None:
                self.past.append(known)
                self._place += 1
        value, batched = known
        return self.box(value, batched)

    def _drawn(
        self, draw: Draw, shape: tuple[int, ...], given: Sequence[Argument], generator: Generator | None
    ) -> tuple[Value, bool]:
        around = self.around
        if self.randomness == "different" or not self.size:
            values = [raised(arg, len(shape)) for arg in given]
            return sampled_within(around, draw, (self.size, *shape), values, generator), True
        if not any(arg.batched for arg in given):
            return sampled_within(around, draw, shape, [arg.value for arg in given], generator), False
        moment = Moment([generator])  # the same numbers, of which each example makes its own
        rows = []
        for i in range(self.size):
            moment.restore()
            own = [ops.getitem(whole(self.size, arg), index=(i, ...)) for arg in given]
            rows.append(sampled_within(around, draw, shape, own, generator))
        return ops.stack(*rows, axis=0), True
