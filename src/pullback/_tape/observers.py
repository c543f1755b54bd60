"""Observers: objects that see each operation of a block after it has been computed, and each pass before it runs.

Observers stack: each hands on to the one that was there before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._core.modes import Mode, quiet, running
from .._core.primitives import Carrier, Primitive
from .recording import TapeOperation


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

    def compute(self, operation: TapeOperation) -> Any:
        """Compute an operation, box its result as the tape does, and look at it."""
        out, values = operation.seen(self.computes, self.copy), operation.values
        if operation.primitive not in self.unseen and not any(isinstance(value, Carrier) for value in values):
            self.sees(operation.primitive, operation.params, values, out)
        return out

    def sees(self, primitive: Primitive, params: dict[str, Any], values: Sequence[Any], out: Any) -> None:
        """Called after an operation on arrays with its result, a tensor or a tuple; also during a recorded pass, see `passing`."""
        raise NotImplementedError

    def begins(self, walker: Any, order: Any, roots: Any, needed: Any) -> Callable[..., None]:
        """Called before a pass runs; returns the function that walks the graph, which may wrap the pass's own."""
        walk: Callable[..., None] = walker.walk
        return walk if self.before is None else self.before.begins(walker, order, roots, needed)

    def ends(self, walker: Any) -> None:
        """Called after a pass has written its gradients."""
        if self.before is not None:
            self.before.ends(walker)

    def wrote(self, tensor: Any, recorded: bool) -> None:
        """Called after a tensor has been written in place."""
        if self.before is not None:
            self.before.wrote(tensor, recorded)


def passing() -> bool:
    """True while a pass is running: observers look at a pass as a whole."""
    return running.get(None) is not None


def pieces(out: Any) -> tuple[Any, ...]:
    """The tensors in the result of an operation."""
    return out if type(out) is tuple else (out,)
