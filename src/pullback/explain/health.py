"""Numerical problems: where NaN, inf and zero gradients first appear, and where they propagate."""

from __future__ import annotations

import numpy as np

from .arrays import Kept, Marks, Summary
from .numbers import short
from .trace import Call, Finding, Step, Term, Traced

TINY, HUGE = 1e-8, 1e8
"""A leaf is reported if no element of its gradient exceeds the first number, or if one exceeds the second."""

GATES = {"relu", "relu6", "threshold", "clamp", "hardtanh", "leaky_relu", "sigmoid", "tanh", "hardsigmoid", "hardswish"}
"""Activations with zero gradient where they are flat."""


def findings(call: Call) -> list[Finding]:
    """All numerical problems of a call, in chronological order."""
    return [*_forward(call), *_backward(call), *_zeros(call), *_sizes(call)]


# 1. Forward


def _forward(call: Call) -> list[Finding]:
    """NaN and inf among the values; they first appear where no input has one."""
    found: list[Finding] = []
    births: dict[Traced, Finding] = {}
    steps = {tensor: step for step in call.forward for tensor in step.outputs}
    for tensor in call.tensors:
        bad = tensor.marks.bad
        carried = next((births[each] for each in tensor.inputs if each in births), None)
        if bad is None:
            if tensor.data is None and carried is not None:
                births[tensor] = carried  # its value is not stored: assume that it passes the problem on
            continue
        step = steps.get(tensor)
        worse = carried is not None and bad == "nan" and carried.kind == "inf"
        if carried is not None and not worse:
            births[tensor] = carried
            if step is not None and step not in carried.path:
                carried.path.append(step)
            continue
        finding = Finding(bad, "forward", step, tensor, tensor.marks.element, _born_forward(tensor, step, bad))
        births[tensor] = finding
        found.append(finding)
    return found


def _born_forward(tensor: Traced, step: Step | None, bad: str) -> str:
    if step is None:
        return f"{tensor.name} has {bad}{_at(tensor.marks)} before anything was computed"
    inputs = [
        f"{each.name} = {_element(each.data, tensor.marks, each.shape == tensor.shape)}" for each in tensor.inputs
    ]
    limit = np.finfo(tensor.dtype).max if tensor.dtype.kind in "fc" else 0
    finite = all(each.marks.bad is None for each in tensor.inputs)
    over = bad == "inf" and finite and _large(tensor)
    why = f": more than {tensor.dtype} can hold ({short(limit)})" if over else ""
    met = f", where {', '.join(inputs)}" if inputs else ""
    return f"{tensor.op} gives {bad}{_at(tensor.marks)}{met}{why}"


def _large(tensor: Traced) -> bool:
    """True if inf is an overflow: an input is large, or the operation can produce large numbers."""
    if tensor.op in {"exp", "expm1", "cosh", "sinh", "exp2"}:
        return True
    return tensor.op in {"mul", "pow", "add", "sub", "sum", "mm", "addmm", "bmm", "prod", "square"}


# 2. Backward


def _backward(call: Call) -> list[Finding]:
    """NaN and inf among the gradients: from a step whose incoming gradient had none, or from v."""
    found: list[Finding] = []
    births: dict[Traced, Finding] = {}
    for output in call.outputs:
        marks = next((step.marks for step in call.steps if output.tensor in step.outputs), None)
        if marks is not None and marks.bad is not None and _bad(output.gradient) is not None:
            why = f"the gradient that backward was given has {marks.bad}{_at(marks)}"
            births[output.tensor] = finding = Finding(marks.bad, "backward", None, output.tensor, marks.element, why)
            found.append(finding)
    for step in call.steps:
        carried = next((births[each] for each in step.outputs if each in births), None)
        for term in step.terms:
            bad = term.marks.bad
            if bad is None:
                continue
            if carried is not None and carried.kind in {bad, "nan"}:
                births.setdefault(term.to, carried)
                if step not in carried.path:
                    carried.path.append(step)
                continue
            finding = Finding(bad, "backward", step, term.to, term.marks.element, _born_backward(step, term, bad))
            births[term.to] = finding
            found.append(finding)
    return found


def _born_backward(step: Step, term: Term, bad: str) -> str:
    """The operands at the first bad element: v and the local factor."""
    text = f"{step.node} sends {bad} to {term.to.name}{_at(term.marks)}"
    factor = _factor(step, term)
    return text if factor is None else f"{text}: v = {factor[0]} times J = {factor[1]}"


def _factor(step: Step, term: Term) -> tuple[str, str] | None:
    local, v = term.jacobians[0], step.v
    if local is None or len(term.jacobians) > 1 or not isinstance(v, np.ndarray) or term.marks.element is None:
        return None
    column = int(np.ravel_multi_index(term.marks.element, term.to.shape)) if term.to.shape else 0
    column_of = local.dense()[:, column]
    flat = v.reshape(-1)
    wrong = [
        i for i, (a, b) in enumerate(zip(flat, column_of, strict=True)) if not np.isfinite(b) or not np.isfinite(a)
    ]
    row = wrong[0] if wrong else int(np.argmax(np.abs(column_of)))
    return short(flat[row]), short(column_of[row])


# 3. Zero


def _zeros(call: Call) -> list[Finding]:
    """Gradients that become exactly zero although a nonzero gradient arrives, and all zero gradients that follow.

    The gradient of a selected part is rightly zero elsewhere, so only a gradient that is zero everywhere counts, and
    only if no other path contributes.
    """
    found: list[Finding] = []
    totals: dict[Traced, list[Term]] = {}
    for step in call.steps:
        for term in step.terms:
            totals.setdefault(term.to, []).append(term)
    dead = {tensor for tensor, terms in totals.items() if all(term.marks.zero for term in terms)}
    births: dict[Traced, Finding] = {}
    for step in call.steps:
        carried = next((births[each] for each in step.outputs if each in births), None)
        for term in step.terms:
            if term.to not in dead:
                continue
            if carried is not None and step.marks.zero:
                births.setdefault(term.to, carried)
                if step not in carried.path:
                    carried.path.append(step)
            elif not step.marks.zero and term.to not in births:
                kind = "dead" if step.op in GATES else "zero"
                births[term.to] = finding = Finding(kind, "backward", step, term.to, None, _stopped(step, term, kind))
                found.append(finding)
    return found


def _stopped(step: Step, term: Term, kind: str) -> str:
    if kind == "dead":
        return f"{step.node} passes nothing to {term.to.name}: every element lies where {step.op} is flat"
    return f"{step.node} sends exactly zero to {term.to.name}: the local factor is 0 wherever v is not"


# 4. Sizes


def _sizes(call: Call) -> list[Finding]:
    """Leaves whose gradients are very small or very large."""
    found: list[Finding] = []
    last = {step.outputs[0]: step for step in call.steps if not step.terms}
    for leaf in call.leaves:
        most = _largest(leaf.grad)
        if most is None or not np.isfinite(most) or most == 0:
            continue
        kind = "tiny" if most < TINY else "huge" if most > HUGE else None
        if kind is not None:
            why = f"the largest element of the gradient of {leaf.tensor.name} is {short(most)}"
            found.append(Finding(kind, "backward", last.get(leaf.tensor), leaf.tensor, None, why))
    return found


def _largest(value: Kept) -> float | None:
    if isinstance(value, Summary):
        stats = value.stats
        if stats is None or stats.min is None or stats.max is None or stats.nans or stats.infs:
            return None
        return max(abs(stats.min), abs(stats.max))
    return float(np.abs(value).max()) if value.size else None


# Parts of the sentences


def _at(marks: Marks) -> str:
    return f" at [{', '.join(map(str, marks.element))}]" if marks.element else ""


def _element(value: Kept | None, marks: Marks, same: bool) -> str:
    """The element of an input at the position of the first bad element, or the input's range."""
    if value is None:
        return "not kept"
    if isinstance(value, Summary):
        stats = value.stats
        if stats is None or stats.min is None or stats.max is None:
            return "not kept"
        return f"{short(stats.min)} to {short(stats.max)}"
    if same and marks.element is not None:
        return short(value[marks.element])
    return short(value.reshape(-1)[0]) if value.size == 1 else f"{short(value.min())} to {short(value.max())}"


def _bad(value: Kept) -> str | None:
    if isinstance(value, Summary):
        stats = value.stats
        return None if stats is None else "nan" if stats.nans else "inf" if stats.infs else None
    return None if np.isfinite(value).all() else "nan" if np.isnan(value).any() else "inf"
