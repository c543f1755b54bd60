"""What is wrong with the numbers of a call: where NaN, inf and zero gradients begin, and gradients that cannot train.

Which NaN and inf are findings is decided as in anomaly mode: `_tape.faults` has the rule.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .. import finfo
from .._tape.diagnosis import POLES
from .._tape.faults import MASKS
from ..observe import begins
from .arrays import Kept, Marks, marks_of, ranged
from .bounds import FIXES, FLAT, TINY, Extreme, sizes
from .numbers import short
from .trace import Call, Finding, Step, Term, Traced

MOVED = {
    *"alias as_strided clamp clone contiguous diagonal expand flip gather index index_select masked_select nan_to_num "
    "permute repeat reshape roll select slice sort split split_with_sizes squeeze t take to_copy topk transpose unbind "
    "unfold unsafe_view unsqueeze view".split()
}
"""Operations whose elements are elements of what they are given, in other places, dtypes or bounds."""
TWICE = {
    "nll_loss": {"softmax", "sigmoid"},
    "log_softmax": {"softmax", "sigmoid"},
    "softmax": {"softmax", "log_softmax"},
    "logsigmoid": {"sigmoid", "softmax"},
    "binary_cross_entropy_with_logits": {"sigmoid", "softmax"},
}
"""Operations that expect logits or their logarithms, and what they must not be given."""
BIRTHS = {
    "log": "log of 0 is -inf, and of less nan: add a small number, or use log_softmax, log1p or xlogy where they fit",
    "sqrt": "sqrt of a negative number is nan: clamp its argument at 0",
    "div": str(POLES["divide"]),
    "reciprocal": str(POLES["reciprocal"]),
    "exp": "exp overflows: subtract the largest first, or use softmax, logsumexp or softplus",
    "softmax": "all of a row is -inf: the mask has to leave one position of each row, and may be the wrong way round",
}

LARGE = {*"exp expm1 cosh sinh exp2 mul pow add sub sum mm addmm bmm prod square".split()}
"""Operations whose inf is an overflow, if their inputs are finite."""
VECTORS = {"mul", "mv", "dot"}
PRODUCTS = VECTORS | {"mm", "bmm", "addmm", "baddbmm", "convolution", "einsum", "matmul", "linear"}
"""Products, and those of them in which a vector is a factor: in the others it is what is added."""
GATES = {"relu", "relu6", "threshold", "clamp", "hardtanh", "leaky_relu", "sigmoid", "tanh", "hardsigmoid", "hardswish"}
"""Activations with zero gradient where they are flat."""


def findings(call: Call) -> list[Finding]:
    """All numerical problems of a call, in chronological order."""
    flat = _flat(call)
    known = {finding.tensor for finding in flat}
    return [*_forward(call), *_twice(call), *flat, *_backward(call), *_zeros(call, known), *_sizes(call)]


def _kept(found: list[Finding], origins: dict[Traced, Finding], ends: Iterable[Traced]) -> list[Finding]:
    """The findings that reach a result, and those from which they came; inf of a mask only if it is the loss."""
    waiting = [origins[end] for end in ends if end in origins and (not end.shape or not _masked(origins[end]))]
    reached: set[Finding] = set()
    while waiting:
        finding = waiting.pop()
        if finding not in reached:
            reached.add(finding)
            waiting += [
                origins[each] for each in finding.tensor.inputs if each in origins and not _masked(origins[each])
            ]
    return [finding for finding in found if finding in reached]


def _masked(finding: Finding) -> bool:
    return finding.kind == "inf" and finding.tensor.op in MASKS


# 1. Forward


def _forward(call: Call) -> list[Finding]:
    """NaN and inf among the values; they first appear where no input has one."""
    found: list[Finding] = []
    origins: dict[Traced, Finding] = {}
    steps = {tensor: step for step in call.forward for tensor in step.outputs}
    for tensor in call.tensors:
        bad = tensor.marks.bad
        carried = next((origins[each] for each in tensor.inputs if each in origins), None)
        if bad is None:
            if tensor.data is None and carried is not None:
                origins[tensor] = carried  # its value is not stored: assume that it passes the problem on
            continue
        step = steps.get(tensor)
        before = [origins[each].kind if each in origins else each.marks.bad for each in tensor.inputs]
        if not begins(bad, before):
            if carried is not None:
                origins[tensor] = carried
                carried.through(step)
            continue
        finding = Finding(bad, "forward", step, tensor, tensor.marks.element, _born_forward(tensor, step, bad))
        finding.fix = BIRTHS.get(tensor.op or "", "")
        origins[tensor] = finding
        found.append(finding)
    return _kept(found, origins, [output.tensor for output in call.outputs]) if call.outputs else found


def _born_forward(tensor: Traced, step: Step | None, bad: str) -> str:
    if step is None:
        return f"{tensor.name} has {bad}{_at(tensor.marks)} before anything was computed"
    inputs = [
        f"{each.name} = {_element(each.data, tensor.marks, each.shape == tensor.shape)}" for each in tensor.inputs
    ]
    limit = finfo(tensor.dtype).max if tensor.dtype.kind in "fc" else 0
    finite = all(each.marks.bad is None for each in tensor.inputs)
    over = bad == "inf" and finite and tensor.op in LARGE
    why = f": more than {tensor.dtype} can hold ({short(limit)})" if over else ""
    met = f", where {', '.join(inputs)}" if inputs else ""
    return f"{tensor.op} gives {bad}{_at(tensor.marks)}{met}{why}"


# 2. Backward


def _backward(call: Call) -> list[Finding]:
    """NaN and inf among the gradients: from a step whose incoming gradient had none, or from v."""
    found: list[Finding] = []
    origins: dict[Traced, Finding] = {}
    for output in call.outputs:
        marks = next((step.marks for step in call.steps if output.tensor in step.outputs), None)
        if marks is not None and marks.bad is not None and marks_of(output.gradient).bad is not None:
            why = f"the gradient that backward was given has {marks.bad}{_at(marks)}"
            origins[output.tensor] = finding = Finding(marks.bad, "backward", None, output.tensor, marks.element, why)
            found.append(finding)
    for step in call.steps:
        carried = next((origins[each] for each in step.outputs if each in origins), None)
        for term in step.terms:
            bad = term.marks.bad
            if bad is None:
                continue
            if carried is not None and not begins(bad, [carried.kind]):
                origins.setdefault(term.to, carried)
                carried.through(step)
                continue
            finding = Finding(bad, "backward", step, term.to, term.marks.element, _born_backward(step, term, bad))
            if step.outputs[0].marks.bad is None:
                finding.fix = str(POLES.get("divide" if step.op == "div" else step.op or "", ""))
            origins[term.to] = finding
            found.append(finding)
    ends = {origins[leaf.tensor] for leaf in call.leaves if leaf.tensor in origins}
    return [finding for finding in found if finding in ends or not call.leaves]


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
    bad = ~(np.isfinite(flat) & np.isfinite(column_of))
    row = int(np.argmax(bad if bad.any() else np.abs(column_of)))
    return short(flat[row]), short(column_of[row])


# 3. Zero


def _zeros(call: Call, known: set[Traced]) -> list[Finding]:
    """Gradients that become exactly zero although a nonzero gradient arrives, and all zero gradients that follow.

    The gradient of a selected part is rightly zero elsewhere, so only a gradient that is zero everywhere counts, only
    if no other path contributes, and, but for activations, only if a leaf gets zeros, or NaN from them. Activations that are known need no second
    finding.
    """
    found: list[Finding] = []
    totals: dict[Traced, list[Term]] = {}
    for step in call.steps:
        for term in step.terms:
            totals.setdefault(term.to, []).append(term)
    dead = {tensor for tensor, terms in totals.items() if all(term.marks.zero for term in terms)}
    learning = _learning(call)
    origins: dict[Traced, Finding] = {}
    for step in call.steps:
        carried = next((origins[each] for each in step.outputs if each in origins), None)
        for term in step.terms:
            if term.to not in dead or 0 in step.outputs[0].shape:
                continue
            if carried is not None and step.marks.zero:
                origins.setdefault(term.to, carried)
                carried.through(step)
            elif not step.marks.zero and term.to not in origins and not _starts(step, term, learning):
                kind = "dead" if step.op in GATES else "zero"
                origins[term.to] = finding = Finding(kind, "backward", step, term.to, None, _stopped(step, term, kind))
                found.append(finding)
    bad = [each for step in call.steps if any(term.marks.bad for term in step.terms) for each in step.outputs]
    ends = {origins[each] for each in (*bad, *(leaf.tensor for leaf in call.leaves)) if each in origins}
    kept = [each for each in found if each in ends or each.kind == "dead"]
    return [each for each in kept if known.isdisjoint(each.step.outputs if each.step else ())]


def _learning(call: Call) -> set[Traced]:
    """The tensors from whose gradient a leaf gets something."""
    found: set[Traced] = set()
    for step in reversed(call.steps):
        leaf = step.outputs[0].is_leaf and not step.marks.zero
        if leaf or any(term.to in found and not term.marks.zero for term in step.terms):
            found.update(step.outputs)
    return found


def _starts(step: Step, term: Term, learning: set[Traced]) -> bool:
    """True if a factor that is zero, and learns, makes the gradient of the other one zero: so a layer of zeros starts."""
    factors = [each for each in step.outputs[0].inputs if each is not term.to and each in learning and each.marks.zero]
    return step.op in PRODUCTS and any(len(each.shape) != 1 or step.op in VECTORS for each in factors)


def _stopped(step: Step, term: Term, kind: str) -> str:
    if kind == "dead":
        return f"{step.node} passes nothing to {term.to.name}: every element lies where {step.op} is flat"
    return f"{step.node} sends exactly zero to {term.to.name}: the local factor is 0 wherever v is not"


# 4. Sizes


def _sizes(call: Call) -> list[Finding]:
    """The leaf whose gradient is very large, or, against the others or by itself, very small."""
    flows = [
        (each.tensor, each.flow) for each in call.leaves if each.flow is not None and 0 < each.flow.largest < np.inf
    ]
    tensors = [tensor for tensor, _ in flows]
    found = sizes([each.name for each in tensors], [each.shape for each in tensors], [flow.norm for _, flow in flows])
    if not found and flows:
        most, i = max((flow.largest, i) for i, (_, flow) in enumerate(flows))
        why = f"the largest element of all gradients, in that of {tensors[i].name}, is {short(most)}"
        found = [Extreme("tiny", i, why)] if most < TINY else []
    if not found:
        return []
    kind, i, why = found[0]
    more = sum(each.kind == kind for each in found) - 1
    step = next((step for step in call.steps if not step.terms and step.outputs[0] is tensors[i]), None)
    why += f"; {more} more do so" if more else ""
    return [Finding(kind, "backward", step, tensors[i], None, why, fix=FIXES[kind])]


# 5. Activations


def _flat(call: Call) -> list[Finding]:
    """Activations most of which lie where they have no slope."""
    found = []
    for step in call.forward:
        for tensor in step.outputs:
            flat = tensor.flat
            if flat is None or flat.number < FLAT[flat.what] * flat.of:
                continue
            if flat.what == "units":
                kind, text = "dead", "of its {} units are 0 for every example, and get no gradient"
            else:
                text = f"of its {{}} {flat.what} are saturated, and pass less than 0.001 of the gradient"
                kind = "saturated"
            why = f"{step.op} of {tensor.name}: {flat.number} {text.format(flat.of)}"
            found.append(Finding(kind, "forward", step, tensor, None, why, fix=FIXES[kind]))
    return found


def _twice(call: Call) -> list[Finding]:
    """Probabilities passed to a function that expects logits."""
    found = []
    for step in call.forward:
        given = step.outputs[0].inputs[0] if step.outputs[0].inputs else None
        while given is not None and given.op in MOVED and given.inputs:
            given = given.inputs[0]
        if given is not None and given.op in TWICE.get(step.op or "", ()):
            why = f"{given.name} comes from {given.op}, and is passed to {step.op}, which expects logits"
            fix = f"pass the input of {given.op} itself"
            found.append(Finding("double", "forward", step, step.outputs[0], None, why, fix=fix))
    return found


# Parts of the sentences


def _at(marks: Marks) -> str:
    return f" at [{', '.join(map(str, marks.element))}]" if marks.element else ""


def _element(value: Kept | None, marks: Marks, same: bool) -> str:
    """The element of an input at the position of the first bad element, or the input's range."""
    if same and marks.element is not None and isinstance(value, np.ndarray):
        return short(value[marks.element])
    return ranged(value) or "not kept"
