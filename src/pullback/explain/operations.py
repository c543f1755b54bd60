"""The operations of a call as tables: one row for each, forward and backward."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .arrays import Kept, Summary
from .folding import Folded, folded
from .layout import pad
from .matrices import value_text, vector_text
from .numbers import counted, row, rows, size
from .rules import Jacobian
from .terminal import HEAD, Paper
from .trace import Call, Leaf, Step, Term, Traced

SMALL = 6
"""The number of rows and columns up to which local Jacobians are printed."""
CELL = 28
"""The number of characters above which local Jacobians are described by their size."""
MOST_ROWS = 60
"""The number of operations above which some are folded."""
ROOMY = 96
"""The width from which names and ranges are printed whole."""


class OperationTables:
    """Writes the operations of a call."""

    def __init__(self, paper: Paper) -> None:
        self.paper = paper
        self.narrow = paper.width < ROOMY

    def write(self, call: Call) -> list[str]:
        """Both tables."""
        lines = self.forward(call)
        if call.steps:
            lines += [f"{pad('backward', HEAD)}{counted(len(call.steps), 'step')}, newest operation first", ""]
            lines += [*self.backward(folded(call.steps, MOST_ROWS), call.leaves), ""]
        return lines

    def forward(self, call: Call) -> list[str]:
        """The operations, oldest first."""
        kept = f"{size(call.kept_bytes)} kept for backward"
        lines = [f"{pad('forward', HEAD)}{counted(len(call.forward), 'operation')}, {kept}", ""]
        if not call.forward:
            return lines
        body: list[list[str]] = [["#", "line", "operation", "value", "grad_fn", "keeps"]]
        for item in folded(call.forward, MOST_ROWS):
            if isinstance(item, Folded):
                body.append(["", "", f"... {item.label}"])
                continue
            first = item.outputs[0]
            cells = [
                str(item.index),
                _line(call, item),
                self.operation(first),
                _data(item, brief=self.narrow),
                self.node(item),
                _keeps(first),
            ]
            body.append(cells)
        least = 8 if self.narrow else 22
        return [*lines, *self.paper.table(body, frozenset({0, 1}), [3, 4, 16, least, 12, 8]), ""]

    def operation(self, tensor: Traced) -> str:
        """An operation and its result; only the name if it contains the operation."""
        if tensor.op in tensor.name.split():
            return tensor.name
        named = tensor.expr is None or tensor.op == "setitem" or tensor.name == tensor.expr
        return f"{tensor.op} {self.name(tensor) if named else f'{tensor.name} = {tensor.expr}'}"

    def name(self, tensor: Traced) -> str:
        """A tensor's name, shortened if lines are narrow."""
        return tensor.name.replace(" after line ", ", line ") if self.narrow else tensor.name

    def node(self, step: Step) -> str:
        """A node's title, without its suffix if lines are narrow."""
        return step.node.removesuffix("Backward0") if self.narrow else step.node

    def backward(self, items: Sequence[Step | Folded], leaves: Sequence[Leaf]) -> list[str]:
        """The backward steps, a row for each vector-Jacobian product."""
        body: list[list[str]] = [["#", "line", "node", "v in", "@ local J", "= v out", "to"]]
        for item in items:
            if isinstance(item, Folded):
                body.append(["", "", f"... {item.label}"])
            elif item.terms:
                body += [self.term(item, term) for term in item.terms]
            elif item.op is None:
                body.append([str(item.index), "", item.node, summed(item, leaves)])
            else:
                body.append([str(item.index), _own_line(item), self.node(item), self.vector(item.v), "", "", "nothing"])
        least = 12 if self.narrow else 18
        return self.paper.table(body, frozenset({0, 1}), [3, 4, 10, least, 21, least, 9])

    def term(self, step: Step, term: Term) -> list[str]:
        """What a step sends to one input, as a row."""
        first = term is step.terms[0]
        arrived = " and ".join(self.vector(v) for v in step.vs[:2])
        head = [str(step.index), _own_line(step), self.node(step), arrived] if first else [""] * 4
        to = self.name(term.to)
        if term.of > 1:
            to += f"  {term.nth}/{term.of}" + ("" if self.narrow else f", sum {vector_text(term.after)}")
        return [*head, _jacobian(step, term), self.vector(term.out), to]

    def vector(self, value: Kept | None) -> str:
        """A vector as a table cell."""
        return vector_text(value, brief=self.narrow)


def _data(step: Step, *, brief: bool) -> str:
    texts = [value_text(tensor.data, brief=brief) for tensor in step.outputs[:2]]
    return " and ".join(texts) + (" ..." if len(step.outputs) > 2 else "")


def _line(call: Call, step: Step) -> str:
    if step.place is None:
        return ""
    return str(step.place.line) if call.place is None or step.place.file == call.place.file else step.place.where


def _own_line(step: Step) -> str:
    return "" if step.line is None else str(step.line)


def _keeps(tensor: Traced) -> str:
    kept = [
        f"{saved.name} = {saved.text}" if saved.value is not None else f"{saved.name} {saved.text}"
        for saved in tensor.saved
    ]
    return ", ".join(kept) or "nothing"


def _jacobian(step: Step, term: Term) -> str:
    texts = [_one_jacobian(local, of.shape, term) for local, of in zip(term.jacobians, step.outputs, strict=True)]
    return " and ".join(texts) if len(texts) < 3 else f"{len(texts)} of them"


def _one_jacobian(local: Jacobian | None, shape: tuple[int, ...], term: Term) -> str:
    """A small matrix in full; a larger one, computed or not, by its size."""
    sizes = f"{math.prod(shape)}x{math.prod(term.to.shape)}"
    if local is None:
        return sizes if term.missing is not None and "elements" in term.missing else "not computed"
    diagonal = local.form == "diagonal"
    text = "" if max(local.rows, local.cols) > SMALL else f"diag{row(local.data)}" if diagonal else rows(local.dense())
    return text if 0 < len(text) <= CELL else f"diagonal, {sizes}" if diagonal else sizes


def summed(step: Step, leaves: Sequence[Leaf]) -> str:
    """The last step at a leaf: the sum of its contributions."""
    target = f"{vector_text(step.v)} -> {step.outputs[0].name}.grad"
    parts = next((leaf.contributions for leaf in leaves if leaf.tensor is step.outputs[0]), [])
    small = all(not isinstance(term.out, Summary) and term.out.size <= SMALL for _, term in parts)
    if not 1 < len(parts) <= SMALL or not small:
        return f"{len(parts)} contributions, {target}" if len(parts) > 1 else target
    return f"{' + '.join(vector_text(term.out) for _, term in parts)} = {target}"
