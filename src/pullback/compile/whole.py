"""One operation for a whole piece of a program, whose way back is known as a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import Tensor
from .._core.modes import mode
from ..extend import general
from ..observe import node, value

if TYPE_CHECKING:
    from .._core.typing import Array, Namespace
    from .._tape.recording import Tape

Again = Callable[[Any], list[Any] | None]
Back = Callable[[Any, Sequence[Any]], list[Any]]


def _pulled(
    xp: Namespace, g: Sequence[Any], arrays: Sequence[Any], *, back: Back, strong: bool, again: Again | None = None
) -> list[Any]:
    if strong is not mode.get().strong_zeros:
        found = None if again is None else again([each and Tensor.interpreter.wrap(each, None) for each in g])
        if found is None:
            raise RuntimeError(
                "the program of a compiled function was recorded inside strong_zeros, and its backward pass runs outside, or "
                "the other way round: compute the loss and its gradient in one block"
            )
        return [None if each is None else value(each) for each in found]
    if any(isinstance(each, Tensor) and each.level >= 0 for each in (*g, *arrays)):
        found = None if again is None else again(g)
        if found is None:
            raise RuntimeError(
                "the gradient of a compiled function, or of a loop in one, has no derivative here: compile the function "
                "that takes the derivatives, or leave this one uncompiled where create_graph=True or a transform is used"
            )
        return found
    return back(g, arrays)


def _nothing(*arrays: Array) -> None:
    raise AssertionError("what a piece of a program computes is computed before it is recorded")


COMPILED = general("compiled_function", forward=_nothing, inputs=("*arrays",), joint=_pulled, outputs=2)


def recorded(args: Sequence[Any], outputs: Sequence[Any], back: Back, again: Again | None = None) -> tuple[Tensor, ...]:
    """Outputs, arrays or what stands for them, as the results of one operation on the tape.

    `back` gives the gradients of `args`, None for those that have none, from the cotangents and what `args` were; `again`
    the same from the cotangents as tensors with a history, or None where it cannot.
    """
    edges = [node(arg) if isinstance(arg, Tensor) else None for arg in args]
    tape: Tape = Tensor.interpreter
    params = {"back": back, "strong": mode.get().strong_zeros} | ({} if again is None else {"again": again})
    results: Any = tape.record(COMPILED, args, edges, tuple(outputs), params, conjugated=False)
    return results
