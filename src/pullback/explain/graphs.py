"""The graph of a call as boxes and arrows, for all renderers: an operation and its output are one box."""

from __future__ import annotations

from dataclasses import dataclass

from .._core.texts import printable
from .arrays import Kept
from .folding import Folded, folded
from .matrices import value_text, vector_text
from .sources import shortened
from .trace import Call, Step, Traced

MOST_BOXES = 150
ROOM = 48
"""The length above which a text in a box is shortened."""


@dataclass(eq=False, slots=True)
class Box:
    """A tensor with the operation that computed it, or several folded into one."""

    name: str
    role: str
    tensor: Traced | None
    lines: list[str]
    rows: list[tuple[str, str]]


@dataclass(eq=False, slots=True)
class Arrow:
    """The use of a tensor by an operation: the source box, the target box, and the gradient that flows back, if any."""

    start: int
    end: int
    text: str
    zero: bool
    back: bool = False


def boxes(call: Call, most: int = MOST_BOXES) -> tuple[list[Box], list[Arrow]]:
    """The boxes of a call, about `most` besides the leaves, and the arrows between them."""
    found: list[Box] = []
    place: dict[Traced, int] = {}
    grads = {leaf.tensor: leaf.grad for leaf in call.leaves}
    for tensor in call.tensors:
        if tensor.is_leaf:
            place[tensor] = len(found)
            found.append(_box(tensor, grads.get(tensor), call))
    for item in folded(call.forward, most):
        for tensor in _tensors(item):
            place[tensor] = len(found)
            if not isinstance(item, Folded):
                found.append(_box(tensor, grads.get(tensor), call))
        if isinstance(item, Folded):
            found.append(Box(_clean(item.label), "fold", None, [_clean(item.label)], []))
    return found, _arrows(call, place)


def _tensors(item: Step | Folded) -> list[Traced]:
    steps = item.steps if isinstance(item, Folded) else [item]
    return [tensor for step in steps for tensor in step.outputs]


def _arrows(call: Call, place: dict[Traced, int]) -> list[Arrow]:
    """An arrow for each use; between two folds a single one."""
    sent = {(tensor, term.to): term for step in call.steps for term in step.terms for tensor in step.outputs}
    arrows: dict[tuple[int, int], Arrow] = {}
    for tensor in call.tensors:
        for source in tensor.inputs:
            start, end = place[source], place[tensor]
            if start == end:
                continue
            term = sent.get((tensor, source))
            text = "" if term is None else vector_text(term.out)
            zero = term is not None and term.marks.zero
            known = arrows.get((start, end))
            if known is None:
                arrows[start, end] = Arrow(start, end, text, zero, term is not None)
            else:
                known.text, known.zero = "", known.zero and zero
                known.back = known.back or term is not None
    return list(arrows.values())


def _box(tensor: Traced, grad: Kept | None, call: Call) -> Box:
    name = _clean(tensor.name)
    value = _clean(value_text(tensor.data))
    lines = [name, value] if tensor.is_leaf else [name, value, _clean(tensor.grad_fn or "")]
    wrote = grad is not None and call.kind == "backward"
    rows = [
        ("data", value),
        ("grad", _clean(value_text(grad)) if wrote else "None"),
        ("grad_fn", _clean(tensor.grad_fn or "None")),
        ("is_leaf", str(tensor.is_leaf)),
        ("requires_grad", str(tensor.requires_grad)),
    ]
    return Box(name, tensor.role, tensor, lines, rows)


def _clean(text: str) -> str:
    return shortened(printable(text), ROOM)
