"""vmap's interpreter: one run of a function on all examples of a batch at once.

A value that differs between examples holds them along a first axis which the function does not see. An operation on
such values is the same operation with that axis carried along: `axes` says how for each primitive, and where it says
nothing the examples are computed one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._core import Primitive
from .._shapes import Size, size_of
from ..interpreters import Boxed, Interpreter
from .axes import Argument, batched_result

CONTROL = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that "
    "yet, unless you pass on_branch='split': the examples of a batch may disagree. Write pullback.where(condition, a, b) "
    "instead of if, or call vmap(f, on_branch='split')"
)
ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor: "
    "each example has its own number. Compute with the tensor itself, or move .item() out of the function"
)


class BatchedTensor(Boxed):
    """One example's view of a value: the axis of the batch is hidden; `batched` is False for a value they share."""

    __slots__ = ("batched",)

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

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Whether the elements of an example lie in memory in the order of the axes: as good as always."""
        return True

    def _concrete(self) -> Any:
        if self.batched:
            raise RuntimeError(
                "vmap: We do not support batching operators that can output dynamic shape, or depend on the values: each "
                "example would have a result of its own. Compute it outside of vmap and pass it in"
            )
        return super()._concrete()

    def item(self) -> Any:
        """Refused, but for a value that all examples share."""
        return self._unless_batched(ITEM, super().item)

    def tolist(self) -> Any:
        """Refused, but for a value that all examples share."""
        return self._unless_batched(ITEM, super().tolist)

    def __index__(self) -> int:
        return self._unless_batched(ITEM, super().__index__)  # type: ignore[no-any-return]  # an int

    def _scalar(self, convert: Callable[[Any], Any]) -> Any:
        return self._unless_batched(ITEM, lambda: super(BatchedTensor, self)._scalar(convert))

    def __bool__(self) -> bool:
        if self.batched and self.ndim == 0:
            return self.interpreter.branch(self)  # type: ignore[no-any-return]  # a duck-typed interpreter
        return super().__bool__()

    def _unless_batched(self, refusal: str, answer: Callable[[], Any]) -> Any:
        if self.batched:
            raise RuntimeError(refusal)
        return answer()


class Batch(Interpreter):
    """The interpreter that computes all `size` examples at once."""

    carrier = BatchedTensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def box(self, value: Any, batched: bool = True) -> Any:
        """A value with an example along each row, or one they share; a tuple element by element."""
        if type(value) is tuple:
            return tuple([self.box(piece, batched) for piece in value])
        boxed = super().box(value)
        boxed.batched = batched
        return boxed

    def adopt(self, made: Any) -> Any:
        """A value that all examples share, until one of theirs is written to it."""
        return self.box(made._array, batched=False)

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """The operation on all examples."""
        if not self.entered:
            raise RuntimeError(
                f"{primitive.name} was called on a tensor that has leaked from vmap: it was kept somewhere while the "
                "function ran. Return it from the function instead"
            )
        given = [self._argument(arg) for arg in args]
        if any(argument.batched for argument in given):
            return self.box(batched_result(self.size, primitive, given, params))
        return self.box(primitive(*[argument.value for argument in given], **params), batched=False)

    def _argument(self, arg: Any) -> Argument:
        return Argument(arg._array, arg.batched) if self.holds(arg) else Argument(arg, False)

    def branch(self, condition: Any) -> bool:
        """Which way the examples go at an `if`: refused, where they may go different ways."""
        raise RuntimeError(CONTROL)
