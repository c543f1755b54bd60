"""NaN and inf of a call: in which operation they begin, and on which steps they then go.

What is a fault is decided as in anomaly mode: `_tape.faults` has the rule. Whatever a NaN or inf turns into on its way, inf into NaN
above all, is one finding with the cause at which it began, as is what the backward pass makes of an inf of the forward pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from .. import finfo
from ..observe import begins, masks, pole_of
from .arrays import Kept, Marks, Summary, marks_of, ranged
from .numbers import short
from .trace import Call, Finding, Step, Term, Traced

Origins = dict[Traced, list[Finding]]
"""The findings that have come to a tensor: forward to its value, backward to its gradient."""

DOMAINS = {
    "log": "log of a negative number is nan: clamp its argument above 0",
    "sqrt": "sqrt of a negative number is nan: clamp its argument at 0",
    "exp": "exp overflows: subtract the largest first, or use softmax, logsumexp or softplus",
    "softmax": "all of a row is -inf: the mask has to leave one position of each row, and may be the wrong way round",
}
"""What helps where an operation gives NaN or inf at other numbers than its poles."""
LARGE = {*"exp expm1 cosh sinh exp2 mul pow add sub sum mm addmm bmm prod square".split()}
"""Operations whose inf is an overflow, if their inputs are finite."""
NORMALIZED = {"softmax", "log_softmax", "logsumexp"}
"""Operations that take the -inf of a mask, as long as not all of a row is."""


def births(call: Call) -> list[Finding]:
    """NaN and inf that reach a result or the gradient of a leaf, in chronological order."""
    values: Origins = {}
    forward = _forward(call, values)
    kept = _kept(forward, values, [output.tensor for output in call.outputs]) if call.outputs else {*forward}
    gradients: Origins = {}
    backward = _backward(call, values, gradients)
    ends = {each for leaf in call.leaves for each in gradients.get(leaf.tensor, ())}
    forward = [each for each in forward if each in kept or each in ends]
    backward = [each for each in backward if each in ends or not call.leaves]
    return [*forward, *(each for each in backward if not _joined(each, forward))]


def _joined(finding: Finding, forward: Sequence[Finding]) -> bool:
    """Join a finding of the backward pass to that of the same operation's value, if there is one of the same element."""
    made = [] if finding.step is None else finding.step.outputs
    same = [each for each in forward if each.tensor in made and _meet(finding, each)]
    for each in same:
        for step in (finding.step, *finding.path):
            _pass([each], finding.kind, step)
    return bool(same)


def _meet(gradient: Finding, value: Finding) -> bool:
    """True if a gradient's and a value's may come of one number: the same pole, or the same element, as far as that is known."""
    pole = gradient.fix == value.fix != ""
    return pole or gradient.element == value.element or gradient.tensor.shape != value.tensor.shape


# 1. Forward


def _forward(call: Call, origins: Origins) -> list[Finding]:
    """NaN and inf among the values; they begin where no input has one."""
    found: list[Finding] = []
    steps = {tensor: step for step in call.forward for tensor in step.outputs}
    for tensor in call.tensors:
        bad, step = tensor.marks.bad, steps.get(tensor)
        carried = _united(origins, tensor.inputs)
        if bad is None:
            if tensor.data is None and carried:
                origins[tensor] = carried  # its value is not stored: assume that it passes the problem on
            continue
        if not _starts(tensor, bad, carried):
            _pass(carried, bad, step)
            origins[tensor] = carried
            continue
        finding = Finding(bad, "forward", step, tensor, tensor.marks.element, _born_forward(tensor, step, bad))
        finding.fix = _helps(finding, step)
        origins[tensor] = [finding]
        found.append(finding)
    return found


def _starts(tensor: Traced, bad: str, carried: Sequence[Finding]) -> bool:
    """True if NaN or inf begins in a value: no operand has one, or only the -inf of a mask, which it may have."""
    before = [each.marks.bad for each in tensor.inputs] + [each.kind for each in carried]
    excused = tensor.op in NORMALIZED or all(map(_masked, carried))
    return begins(bad, before) if excused else not any(before)


def _kept(found: list[Finding], origins: Origins, ends: Iterable[Traced]) -> set[Finding]:
    """The findings that reach a result, and those from which they came; inf of a mask only if it is the loss."""
    arrived = ((end, each) for end in ends for each in origins.get(end, ()))
    waiting = [each for end, each in arrived if not end.shape or not _masked(each)]
    reached: set[Finding] = set()
    while waiting:
        finding = waiting.pop()
        if finding not in reached:
            reached.add(finding)
            waiting += [each for each in _united(origins, finding.tensor.inputs) if not _masked(each)]
    return reached.intersection(found)


def _masked(finding: Finding) -> bool:
    return finding.kind == "inf" and masks(finding.tensor.op or "")


def _united(origins: Origins, tensors: Iterable[Traced]) -> list[Finding]:
    return [*dict.fromkeys(each for tensor in tensors for each in origins.get(tensor, ()))]


def _pass(carried: Iterable[Finding], bad: str, step: Step | None) -> None:
    """Take findings through a step, in which inf may become NaN."""
    for each in carried:
        each.through(step)
        if bad != each.kind == "inf":
            each.began, each.kind = each.kind, bad


def _born_forward(tensor: Traced, step: Step | None, bad: str) -> str:
    if step is None:
        return f"{tensor.name} has {bad}{_at(tensor.marks)} before this call computed anything"
    inputs = [
        f"{each.name} = {_element(each.data, tensor.marks, each.shape == tensor.shape)}" for each in tensor.inputs
    ]
    given = [each for each in tensor.saved if each.tensor is None and len(step.outputs) == 1]
    constant = next((marks for each in given if each.value is not None and (marks := marks_of(each.value)).bad), None)
    if constant is not None and all(each.marks.bad is None for each in tensor.inputs):
        return f"{tensor.op} was given {constant.bad}{_at(constant)} of a tensor that needs no gradient"
    limit = finfo(tensor.dtype).max if tensor.dtype.kind in "fc" else 0
    finite = all(each.marks.bad is None for each in tensor.inputs)
    over = bad == "inf" and finite and tensor.op in LARGE and not touched(step)
    why = f": more than {tensor.dtype} can hold ({short(limit)})" if over else ""
    met = f", where {', '.join(inputs)}" if inputs else ""
    return f"{tensor.op} gives {bad}{_at(tensor.marks)}{met}{why}"


# 2. Backward


def _backward(call: Call, values: Origins, origins: Origins) -> list[Finding]:
    """NaN and inf among the gradients: from a step whose incoming gradient had none, or from v."""
    found = _given(call, origins)
    for step in call.steps:
        carried = _united(origins, step.outputs)
        if step.marks.bad is not None:
            _pass(carried, step.marks.bad, None)
        for term in step.terms:
            bad = term.marks.bad
            if bad is None:
                continue
            causes = carried or _causes(step, values)
            _pass(causes, bad, step)
            place = term.marks.element if not causes else _fresh(step, term)
            twin = next((each for each in found if each.step is step and each.element == place), None)
            if twin is not None:  # of a number that is both operands
                causes = [*causes, twin]
            elif place is not None or not causes:
                finding = Finding(bad, "backward", step, term.to, place, _born_backward(step, term, place))
                finding.fix = _helps(finding, step)
                found.append(finding)
                causes = [*causes, finding]
            origins[term.to] = [*dict.fromkeys([*origins.get(term.to, ()), *causes])]
    return found


def _given(call: Call, origins: Origins) -> list[Finding]:
    """The NaN and inf that the program passed to backward itself."""
    found = []
    for output in call.outputs:
        marks = next((step.marks for step in call.steps if output.tensor in step.outputs), None)
        if marks is not None and marks.bad is not None and marks_of(output.gradient).bad is not None:
            why = f"the gradient that backward was given has {marks.bad}{_at(marks)}"
            finding = Finding(marks.bad, "backward", None, output.tensor, marks.element, why)
            origins[output.tensor] = [finding]
            found.append(finding)
    return found


def _causes(step: Step, values: Origins) -> list[Finding]:
    """The findings of the forward pass that a step multiplies by; where they began, it is the slope that counts."""
    tensors = [*step.outputs, *step.outputs[0].inputs]
    return [each for each in _united(values, tensors) if not _masked(each) and each.tensor not in step.outputs]


def _fresh(step: Step, term: Term) -> tuple[int, ...] | None:
    """The first element at which NaN or inf begins although other elements of the incoming gradient have one already."""
    local = term.jacobians[0]
    v, out = step.v, term.out
    if step.marks.bad is None or not isinstance(v, np.ndarray) or not isinstance(out, np.ndarray):
        return None
    if v.shape != out.shape or local is None or local.form != "diagonal":
        return None
    begun = np.argwhere(~np.isfinite(out) & np.isfinite(v))
    return tuple(map(int, begun[0])) if len(begun) else None


def _born_backward(step: Step, term: Term, place: tuple[int, ...] | None) -> str:
    """The operands at the first bad element: v and the local factor."""
    text = f"{step.node} sends {term.marks.bad} to {term.to.name}{_at(term.marks._replace(element=place))}"
    factor = product(step, term, place)
    return text if factor is None else f"{text}: v = {short(factor.v)} times J = {short(factor.local)}"


class Product(NamedTuple):
    """The summand of v @ J that makes an element of it NaN or inf: which element of v it is of, and its factors."""

    output: int
    element: tuple[int, ...]
    v: float
    local: float
    part: float
    summands: int


def product(step: Step, term: Term, element: tuple[int, ...] | None) -> Product | None:
    """That summand at an element of what a step sends; None if the factors are not stored."""
    column = 0 if not element else int(np.ravel_multi_index(element, term.to.shape))
    found: Product | None = None
    for place, local in enumerate(term.jacobians):
        v = step.vs[place]
        if local is None or not isinstance(v, np.ndarray) or element is None:
            continue
        factors, flat = local.dense()[:, column], v.reshape(-1)
        with np.errstate(all="ignore"):
            parts = flat * factors
        bad = ~np.isfinite(parts)
        carried = bad & ~np.isfinite(flat)
        row = int(np.argmax(carried if carried.any() else bad if bad.any() else np.abs(factors)))
        if found is None or bad.any():
            at = tuple(map(int, np.unravel_index(row, step.outputs[place].shape)))
            found = Product(place, at, flat[row], factors[row], parts[row], int(np.count_nonzero(factors)))
    return found


# 3. Poles


def touched(step: Step, element: tuple[int, ...] | None = None) -> float | None:
    """The pole that an operation's operand is at, among its elements if it is not known at which; None if at none."""
    pole, tensor = pole_of(step.op or ""), step.outputs[0]
    if pole is None:
        return None
    names = {1: "other"}.get(pole.operand, "self")
    values = [saved.value for saved in tensor.saved if saved.name == names and saved.value is not None]
    values += [each.data for each in tensor.inputs[pole.operand :][:1] if each.data is not None]
    values += [each.data for each in tensor.inputs[-1:] if each.data is not None and pole.operand]
    return next((point for value in values for point in pole.points if _has(value, point, element)), None)


def _has(value: Kept, point: float, element: tuple[int, ...] | None) -> bool:
    """True if a value is at a point: at an element, if its place is known, or else anywhere."""
    if isinstance(value, Summary):
        stats = value.stats
        return stats is not None and (point in {stats.min, stats.max} or (not point and stats.zeros > 0))
    if element is not None and len(element) == value.ndim and all(map(int.__lt__, element, value.shape)):
        return bool(value[element] == point)
    return bool((value == point).any())


def _helps(finding: Finding, step: Step | None) -> str:
    """What helps: at a pole what the table of poles says."""
    if step is None:
        return ""
    pole = pole_of(step.op or "")
    return (
        str(pole) if pole is not None and touched(step, finding.element) is not None else DOMAINS.get(step.op or "", "")
    )


# Parts of the sentences


def _at(marks: Marks) -> str:
    return f" at [{', '.join(map(str, marks.element))}]" if marks.element else ""


def _element(value: Kept | None, marks: Marks, same: bool) -> str:
    """The element of an input at the position of the first bad element, or the input's range."""
    if same and marks.element is not None and isinstance(value, np.ndarray):
        return short(value[marks.element])
    return ranged(value) or "not kept"
