"""A backward call as source code, and the analysis that needs the complete call."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from types import FrameType

from ..observe import Node
from .arrays import Array, described, kept
from .health import findings
from .numbers import nested
from .rules import Jacobian
from .sources import Place, excerpt_at, shortened
from .trace import Call
from .tracing import CallTracer, Nodes

LONGEST = 100
GRADIENTS = ("gradient", "gradients", "grad_tensors")


def call_text(
    tape: Nodes, roots: Sequence[tuple[Node, Array]], entry: FrameType, place: Place | None
) -> tuple[str, bool]:
    """A call with its values, `y.backward([1., 10.])`, and whether the gradient was left out.

    A call of another function than backward, such as `autograd.grad`, is quoted from the source code.
    """
    name = entry.f_code.co_name
    if name != "backward":
        quoted = excerpt_at(place).expr
        return (quoted or f"{name}({tape.traced[roots[0][0]].name})"), False
    given = [entry.f_locals[each] for each in GRADIENTS if each in entry.f_locals]
    implicit = bool(given) and all(each is None for each in given)
    return backward_text(tape, roots, implicit=implicit), implicit


def backward_text(tape: Nodes, roots: Sequence[tuple[Node, Array]], *, implicit: bool) -> str:
    """The source code of a `backward` call: the receiver and the gradient."""
    names = [tape.traced[node].name for node, _ in roots]
    values = "" if implicit else ", ".join(_numbers(v, tape) for _, v in roots)
    if len(roots) == 1:
        return f"{_receiver(names[0])}.backward({values})"
    return f"backward(({', '.join(map(shortened, names))}){', ' if values else ''}{f'({values})' if values else ''})"


def _numbers(v: Array, tape: Nodes) -> str:
    value = kept(v, tape.limits)
    text = nested(v) if isinstance(value, type(v)) else ""
    return text if 0 < len(text) <= LONGEST else f"<{described(value)}>"


def _receiver(name: str) -> str:
    """A name, or an expression in parentheses if a method call would not apply to all of it."""
    try:
        whole = isinstance(ast.parse(name, mode="eval").body, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        whole = name.isidentifier()
    return shortened(name, LONGEST) if whole else f"({shortened(name, LONGEST)})"


def finished(
    call: Call, tracer: CallTracer, jacobians: Mapping[Node, list[Jacobian | None]], missing: str | None
) -> Call:
    """A call completed with the Jacobians of its leaves and its findings."""
    ends = [node for node in tracer.ends if node in tracer.arrivals and node in tracer.tape.traced]
    for leaf, node in zip(call.leaves, ends, strict=True):
        leaf.jacobians = jacobians.get(node, [None] * len(call.outputs))
        leaf.missing = missing if any(each is None for each in leaf.jacobians) else None
    call.findings = findings(call)
    return call
