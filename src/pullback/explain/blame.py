"""A NaN or inf as one number: which it is, why, and its way from where it began, one element of each tensor."""

from __future__ import annotations

import math

import numpy as np

from ..observe import pole_of
from .arrays import Kept, Marks, marks_of, stats_of
from .nonfinite import Product, product, touched
from .numbers import counted, short
from .trace import Call, Finding, Hop, Leaf, Step, Term, Traced

LONGEST = 60
"""The number of steps after which a way is told no further."""
LOOKED_AT = 16
"""The number of elements of a gradient of which that with the way of a finding is looked for."""
Element = tuple[int, ...] | None


def tell(finding: Finding, call: Call) -> None:
    """Fill in the sentence, the extent and the way of a finding about NaN or inf."""
    leaf = _worst(finding, call)
    if leaf is not None:
        marks = _grad_marks(leaf, call)
        elements = sorted(_elements(leaf, marks), key=lambda element: element != finding.element)
        ways = [(element, _backward(finding, call, leaf.tensor, element)) for element in elements]
        element, finding.way = next((pair for pair in ways if _from_birth(pair[1], finding)), ways[0])
        subject, kind = f"{leaf.tensor.name}.grad{_at(element)}", _kind_at(leaf.grad, element) or marks.bad
    else:
        end = next((out.tensor for out in call.outputs if out.tensor.marks.bad), finding.tensor)
        finding.way = _forward(finding, call, end, end.marks.element)
        subject, kind = f"{end.name}{_at(end.marks.element)}", end.marks.bad
    finding.told = f"{subject} is {kind or finding.kind}, because {_because(finding)}"
    finding.extent = _extent(call)


def _elements(leaf: Leaf, marks: Marks) -> list[Element]:
    """The elements of a gradient whose ways are looked at: some of those that are NaN or inf."""
    if not isinstance(leaf.grad, np.ndarray):
        return [marks.element]
    return [tuple(map(int, place)) for place in np.argwhere(~np.isfinite(leaf.grad))[:LOOKED_AT]] or [marks.element]


def _from_birth(way: list[Hop], finding: Finding) -> bool:
    """True if a way begins in the element with which the finding began."""
    return bool(way) and way[0].step is finding.step and finding.element in {None, way[0].element}


def _kind_at(value: Kept, element: Element) -> str | None:
    return None if element is None or not isinstance(value, np.ndarray) else marks_of(value[element][None]).bad


def _because(finding: Finding) -> str:
    """The pole that was met, or else what gave the number."""
    step = finding.step
    pole = None if step is None else pole_of(step.op or "")
    if step is None or pole is None:
        return finding.why
    point = touched(step, finding.element)
    line = "" if step.line is None else f" on line {step.line}"
    return finding.why if point is None else f"{step.op}{line} {pole.told.format(short(point))}"


def _extent(call: Call) -> str:
    """Whether the result has it, and how much of the gradients."""
    parts = []
    if len(call.outputs) == 1 and call.steps:
        parts.append(_result(call.outputs[0].tensor))
    hit = [(leaf, count) for leaf in call.leaves if (count := _bad_count(leaf))]
    if hit:
        (first, count), *others = hit
        size = counted(math.prod(first.tensor.shape), "element")
        more = f", and some in {len(others)} more {'leaf' if len(others) == 1 else 'leaves'}" if others else ""
        parts.append(f"{count} of {size} of {first.tensor.name}.grad {'is' if count == 1 else 'are'} nan or inf{more}")
    return "".join(f"{part}. " for part in parts).rstrip()


def _result(tensor: Traced) -> str:
    single = isinstance(tensor.data, np.ndarray) and tensor.data.size == 1
    value = f", {short(tensor.data.reshape(-1)[0])}," if isinstance(tensor.data, np.ndarray) and single else ""
    if tensor.marks.bad:
        return (
            f"The value of {tensor.name}{value} has it too" if not single else f"{tensor.name} is {value[2:-1]} itself"
        )
    return f"{tensor.name} itself{value} is finite: the number begins on the way back"


def _bad_count(leaf: Leaf) -> int:
    stats = stats_of(leaf.grad)
    return 0 if stats is None else stats.nans + stats.infs


def _worst(finding: Finding, call: Call) -> Leaf | None:
    """The first leaf on the finding's way whose gradient has what it became."""
    sent = {term.to for step in (finding.step, *finding.path) if step is not None for term in step.terms}
    given = {finding.tensor} if finding.step is None else set()
    reached = [leaf for leaf in call.leaves if leaf.tensor in sent | given and _bad_count(leaf)]
    return next((leaf for leaf in reached if marks_of(leaf.grad).bad == finding.kind), next(iter(reached), None))


def _grad_marks(leaf: Leaf, call: Call) -> Marks:
    """Where the gradient of a leaf is NaN or inf."""
    marks = marks_of(leaf.grad)
    if marks.element is None:
        marks = next((step.marks for step in call.steps if not step.terms and leaf.tensor in step.outputs), marks)
    return marks


# The way, from its end to its beginning


def _backward(finding: Finding, call: Call, tensor: Traced, element: Element) -> list[Hop]:
    """The way of an element of a gradient; where the backward pass begins with finite numbers, that of the value it met."""
    found: list[Hop] = []
    mine = {finding.step, *finding.path}
    while len(found) < LONGEST:
        sender = _sender(call, mine, tensor, element)
        if sender is None:
            break
        step, term = sender
        factors = product(step, term, element)
        said = f"{_multiplied(term, factors, element)}{_added(call, term, element)}"
        found.append(Hop(step, tensor, element, said))
        if step.marks.bad is None or step is finding.step:
            begun = _forward(finding, call, *_met(finding, step)) if finding.phase == "forward" else []
            return [*begun, *reversed(found)]
        tensor, element = step.outputs[0], _same(step, term, element)
        if factors is not None:
            tensor, element = step.outputs[factors.output], factors.element
    return found[::-1]


def _sender(call: Call, mine: set[Step | None], tensor: Traced, element: Element) -> tuple[Step, Term] | None:
    """The step on the way that sent a number to an element; a NaN, whatever else is added to it, before an inf."""
    senders = [
        (step, term)
        for step in call.steps
        for term in step.terms
        if term.to is tensor and term.marks.bad and step in mine
    ]
    return max(senders, key=lambda pair: _badness(pair[1], element), default=None)


def _badness(term: Term, element: Element) -> int:
    """2 for NaN at an element, 1 for inf there, 0 for neither."""
    if element is None or not isinstance(term.out, np.ndarray):
        return 0 if term.marks.element != element else 2 if term.marks.bad == "nan" else 1
    out = term.out[element]
    return 2 if np.isnan(out) else 0 if np.isfinite(out) else 1


def _added(call: Call, term: Term, element: Element) -> str:
    """What is added to an inf and makes it NaN: an inf of the other sign."""
    sent = [(each, each.out) for step in call.steps for each in step.terms if each.to is term.to]
    numbers = [(each, out[element]) for each, out in sent if isinstance(out, np.ndarray) and element is not None]
    with np.errstate(all="ignore"):
        rest = sum(number for each, number in numbers if each is not term)
        own = next((number for each, number in numbers if each is term), 0.0)
        total = own + rest
    return f" + {short(rest)} = {short(total)}" if np.isinf(own) and np.isnan(total) else ""


def _same(step: Step, term: Term, element: Element) -> Element:
    """The element of v where J is not stored: the same one, if the shapes agree, or else the first bad one."""
    return element if step.outputs[0].shape == term.to.shape else step.marks.element


def _multiplied(term: Term, factors: Product | None, element: Element) -> str:
    """The numbers of one element: v @ J = out. In a matrix that was built of unit vectors, 0 times inf hides the factor."""
    out = short(term.out[element]) if isinstance(term.out, np.ndarray) and element is not None else str(term.marks.bad)
    hidden = factors is not None and np.isnan(factors.local) and factors.summands > 1
    if factors is None or hidden:
        return out
    more = "" if factors.summands < 2 else f", one of {factors.summands} summands"
    return f"{short(factors.v)} @ {short(factors.local)} = {short(factors.part)}{more}"


def _met(finding: Finding, step: Step) -> tuple[Traced, Element]:
    """The value of the forward pass that a step met: one that the finding has come to."""
    passed = {tensor for each in (finding.step, *finding.path) if each is not None for tensor in each.outputs}
    tensors = [each for each in (*step.outputs, *step.outputs[0].inputs) if each.marks.bad and each in passed]
    tensor = tensors[0] if tensors else finding.tensor
    return tensor, tensor.marks.element


def _forward(finding: Finding, call: Call, tensor: Traced, element: Element) -> list[Hop]:
    """The way of an element of a value, from the operation in which it began."""
    steps = {output: step for step in call.forward for output in step.outputs}
    passed = {output for step in (finding.step, *finding.path) if step is not None for output in step.outputs}
    found: list[Hop] = []
    while tensor in steps and len(found) < LONGEST:
        found.append(Hop(steps[tensor], tensor, element, _computed(tensor, element)))
        before = next((each for each in tensor.inputs if each.marks.bad and each in passed), None)
        if tensor is finding.tensor or before is None:
            break
        tensor, element = before, before.marks.element
    return found[::-1]


def _computed(tensor: Traced, element: Element) -> str:
    """An operation with the numbers of one element: log(0) = -inf."""
    value = tensor.data
    out = short(value[element]) if isinstance(value, np.ndarray) and element is not None else tensor.marks.bad
    given = [each.data for each in tensor.inputs]
    same = [
        each for each in given if isinstance(each, np.ndarray) and each.shape == tensor.shape and element is not None
    ]
    if len(same) == len(given) and given:
        return f"{tensor.op}({', '.join(short(each[element]) for each in same)}) = {out}"
    return f"{tensor.op} = {out}"


def _at(element: Element) -> str:
    return f"[{', '.join(map(str, element))}]" if element else ""
