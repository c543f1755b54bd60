"""What is wrong with the numbers of a call: NaN and inf, zero gradients, and gradients that cannot train."""

from __future__ import annotations

import numpy as np

from .blame import tell
from .bounds import FIXES, FLAT, TINY, Extreme, sizes
from .mending import mends
from .nonfinite import MOVED, births
from .numbers import short
from .trace import Call, Finding, Step, Term, Traced

KEPT = MOVED | {
    *"clamp masked_select nan_to_num repeat roll sort split split_with_sizes topk unfold unsafe_view".split()
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
VECTORS = {"mul", "mv", "dot"}
PRODUCTS = VECTORS | {"mm", "bmm", "addmm", "baddbmm", "convolution", "einsum", "matmul", "linear"}
"""Products, and those of them in which a vector is a factor: in the others it is what is added."""
GATES = {"relu", "relu6", "threshold", "clamp", "hardtanh", "leaky_relu", "sigmoid", "tanh", "hardsigmoid", "hardswish"}
"""Activations with zero gradient where they are flat."""


def findings(call: Call) -> list[Finding]:
    """All numerical problems of a call, in chronological order."""
    flat = _flat(call)
    known = {finding.tensor for finding in flat}
    bad = births(call)
    for finding in bad:
        tell(finding, call)
        finding.fixes = [*mends(finding)]
    forward = [each for each in bad if each.phase == "forward"]
    backward = [each for each in bad if each.phase == "backward"]
    return [*forward, *_twice(call), *flat, *backward, *_zeros(call, known), *_sizes(call)]


# 1. Zero


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


# 2. Sizes


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


# 3. Activations


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
        while given is not None and given.op in KEPT and given.inputs:
            given = given.inputs[0]
        if given is not None and given.op in TWICE.get(step.op or "", ()):
            why = f"{given.name} comes from {given.op}, and is passed to {step.op}, which expects logits"
            fix = f"pass the input of {given.op} itself"
            found.append(Finding("double", "forward", step, step.outputs[0], None, why, fix=fix))
    return found
