"""Values that must not be differentiated, and views that must not be written to: errors instead of wrong gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._core import errors
from .._core.primitives import Primitive
from .node import Node, make
from .recording import Obstacle, Tape

if TYPE_CHECKING:
    from .._core.typing import Tensor


class Refused(Obstacle):
    """Takes the place of the derivative of a value whose history is lost."""

    def __init__(self, text: str) -> None:
        self.text = text

    def error(self, node: Node, order: Sequence[Node] = ()) -> Exception:
        """The error: what was lost, and where."""
        return RuntimeError(self.text)


class RefusedNode(Node):
    """The node of a value that must not be differentiated."""

    __slots__ = ()

    title = "Error"
    primitive = Primitive("refused", "custom", tuple, ("*tensors",))


def refused(tape: Tape, value: Tensor, edges: Sequence[Node], text: str) -> Tensor:
    """A value that raises an error if it is differentiated by the tensors that the edges lead to."""
    held = value._array if value.level == tape.level else value
    node = make(RefusedNode, tuple(dict.fromkeys(edges)), Refused(text), None, tuple(value.shape))
    return tape.wrap(held, node)


class MarkedView:
    """Marks a view whose history would be wrong after a write; `refusal` is the error of such a write."""

    def __init__(self, refusal: str) -> None:
        self.refusal = refusal

    def spoiled(self, view: Tensor, base: Node | None) -> Node | None:
        """The node of a view whose base, with this node from now on, is written to: it refuses to be differentiated."""
        edges = [node for node in (view._node, base) if node is not None]
        if not edges:
            return None
        text = self.refusal.replace("is being", "its base or another view of its base has been")
        return refused(view.interpreter, view, edges, text)._node


class WithoutHistory(MarkedView):
    """Marks a view that was made where nothing is recorded: a write is an error only if anything of it is tracked."""


UNTRACKED = WithoutHistory(errors.UNTRACKED_VIEW_WRITTEN)
"""The mark of views that were made under no_grad."""
OF_INFERENCE = WithoutHistory(errors.INFERENCE_VIEW_WRITTEN)
"""The mark of views of ordinary tensors that were made in inference mode."""
