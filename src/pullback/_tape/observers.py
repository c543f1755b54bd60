"""Observers: who looks at each operation of a block after it has been computed, and at each pass before it is walked.

Observers stack: each hands on to the one that was there before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._core.modes import Mode, quiet, running
from .._core.primitives import Primitive


class Observer:
    """Sees every operation of its block: define `sees`, and `begins` for passes."""

    unseen: frozenset[Primitive] = frozenset()
    """Operations whose results it need not see."""
    copy: Callable[[], Any] = quiet.copy
    """A copy of the context in which operations are computed."""

    def __init__(self, before: Mode) -> None:
        self.computes = before.compute
        self.before = before.watcher
        self.alone = self.computes is None and self.before is None

    def fields(self) -> dict[str, Any]:
        """The fields of a mode in which this observer looks."""
        return {"compute": self.compute, "watcher": self, "observer": self if self.alone else None}

    def compute(
        self,
        tape: Any,
        primitive: Primitive,
        args: Sequence[Any],
        edges: Sequence[Any],
        values: Sequence[Any],
        params: dict[str, Any],
        tracked: bool,
    ) -> Any:
        """The result of an operation, as the tape boxes it."""
        if self.computes is not None:
            out = self.computes(tape, primitive, args, edges, values, params, tracked)
        else:
            result = self.copy().run(primitive.forward, *values, **params)
            out = tape.finish(primitive, args, edges, result, params, tracked)
        if primitive not in self.unseen:
            self.sees(primitive, params, values, out)
        return out

    def sees(self, primitive: Primitive, params: dict[str, Any], values: Sequence[Any], out: Any) -> None:
        """An operation on arrays has given a tensor, or a tuple of them; in a recorded pass too, see `passing`."""
        raise NotImplementedError

    def begins(self, walker: Any, order: Any, roots: Any, needed: Any) -> Callable[..., None]:
        """A pass is about to walk: the function that walks, which is the pass's own or calls it."""
        walk: Callable[..., None] = walker.walk
        return walk if self.before is None else self.before.begins(walker, order, roots, needed)

    def ends(self, walker: Any) -> None:
        """A pass has written its gradients."""
        if self.before is not None:
            self.before.ends(walker)

    def wrote(self, tensor: Any, recorded: bool) -> None:
        """A tensor has been written."""
        if self.before is not None:
            self.before.wrote(tensor, recorded)


def passing() -> bool:
    """Whether a pass is on its way, which is looked at as a whole."""
    return running.get(None) is not None


def pieces(out: Any) -> tuple[Any, ...]:
    """The tensors that an operation gave."""
    return out if type(out) is tuple else (out,)
