"""Observers: objects that see each operation of a block after it has been computed, and each pass before it runs.

Observers stack: each hands on to the one that was there before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .._core.modes import Mode, quiet, running
from .._core.primitives import Carrier, Primitive
from .recording import TapeOperation

if TYPE_CHECKING:
    from .._core.typing import Params, Tensor, Tensors, Value
    from .node import Node
    from .walk import Pass


class ResultObserver:
    """A base class for observers of all operations in a block: define `sees`, and `begins` for passes."""

    unseen: frozenset[Primitive] = frozenset()
    """Names of operations whose results are skipped."""
    copy: Callable[[], Any] = quiet.copy
    """A copy of the context in which operations are computed."""

    def __init__(self, before: Mode) -> None:
        self.computes = before.compute
        self.before = before.watcher
        self.alone = self.computes is None and self.before is None

    def fields(self) -> dict[str, Any]:
        """The fields of a mode in which this observer is active."""
        return {"compute": self.compute, "watcher": self, "observer": self if self.alone else None}

    def compute(self, operation: TapeOperation) -> Tensors:
        """Compute an operation, box its result as the tape does, and look at it."""
        out, values = operation.seen(self.computes, self.copy), operation.values
        if operation.primitive not in self.unseen and not any(isinstance(value, Carrier) for value in values):
            self.sees(operation.primitive, operation.params, values, out)
        return out

    def sees(self, primitive: Primitive, params: Params, values: Sequence[Value], out: Tensors) -> None:
        """Called after an operation on arrays with its result, a tensor or a tuple; also during a recorded pass, see `passing`."""
        raise NotImplementedError

    def begins(
        self, walker: Pass, order: list[Node], roots: Sequence[tuple[Node, Value]], needed: set[Node] | None
    ) -> Callable[..., None]:
        """Called before a pass runs; returns the function that walks the graph, which may wrap the pass's own."""
        walk: Callable[..., None] = walker.walk
        return walk if self.before is None else self.before.begins(walker, order, roots, needed)

    def ends(self, walker: Pass) -> None:
        """Called after a pass has written its gradients."""
        if self.before is not None:
            self.before.ends(walker)

    def looked(self, tensor: Tensor) -> None:
        """Called when the program asks a tensor for its numbers."""
        if self.before is not None:
            self.before.looked(tensor)

    def wrote(self, tensor: Tensor, recorded: bool, value: Value | None) -> None:
        """Called after a tensor has been written in place."""
        if self.before is not None:
            self.before.wrote(tensor, recorded, value)


class Looking(ResultObserver):
    """An observer that is told when the program asks a tensor for its numbers, and of nothing else."""

    def __init__(self, before: Mode, told: Callable[[Tensor], None]) -> None:
        super().__init__(before)
        self.told = told

    def looked(self, tensor: Tensor) -> None:
        """Tell of a look at numbers."""
        super().looked(tensor)
        self.told(tensor)


def passing() -> bool:
    """True while a pass is running: observers look at a pass as a whole."""
    return running.get(None) is not None


def pieces(out: Tensors) -> tuple[Tensor, ...]:
    """The tensors in the result of an operation."""
    return out if isinstance(out, tuple) else (out,)
