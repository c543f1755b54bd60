"""What a line of the program sends backward: the steps of its operations taken together, `v @ J = out`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .arrays import Array, Kept, Summary
from .gradients import norm_of
from .layout import columns, cut
from .matrices import FEW, SHOWN, matrix_text, norm_text, size_text, vector_text
from .notes import hooked
from .numbers import DIGITS, counted, row, short
from .stops import Stop
from .terminal import Paper
from .trace import Call, Hooked, Leaf, Step, Term, Traced

SMALL = 6
"""The number of elements up to which Jacobians of a line are multiplied."""
LONGEST_NAME = 24
"""The most columns of a name beside what is sent to it."""
RANGES = 2
"""The number of ranges of steps that are listed."""
FEW_OPERATIONS = 4
"""The number of operations above which they are counted."""


class Sent(NamedTuple):
    """What a line sends to one value outside of it: `v @ J = out`, and what that had before and after."""

    to: Traced
    v: Kept | None
    J: Array | None
    out: Kept | None
    before: Kept | None
    after: Kept | None
    parts: int


def sent(stop: Stop) -> list[Sent]:
    """What a stop sends, in the order of its steps."""
    made = {tensor for step in stop.forward for tensor in step.outputs}
    terms: dict[Traced, list[Term]] = {}
    for step in stop.steps:
        for term in step.terms:
            if term.to not in made:
                terms.setdefault(term.to, []).append(term)
    v, matrices = _chain(stop, made)
    return [_joined(to, v, matrices.get(to), several) for to, several in terms.items()]


def _joined(to: Traced, v: Kept | None, matrix: Array | None, terms: Sequence[Term]) -> Sent:
    first, last = terms[0], terms[-1]
    contiguous = last.nth - first.nth == len(terms) - 1
    outs = [term.out for term in terms if isinstance(term.out, np.ndarray)]
    out: Kept | None = first.out if len(terms) == 1 else None
    if len(terms) > 1 and len(outs) == len(terms):
        with np.errstate(all="ignore"):
            out = np.add.reduce(outs)
    if len(terms) > 1 and first.before is None and contiguous:
        out = last.after
    if not _agree(v, matrix, out):
        matrix = None
    return Sent(
        to, v, matrix, out, first.before if contiguous else None, last.after if contiguous else None, len(terms)
    )


def _agree(v: Kept | None, matrix: Array | None, out: Kept | None) -> bool:
    """False if v @ J is not what was sent: a hook has changed it, or a zero beside a diagonal has met an inf."""
    if matrix is None or not isinstance(v, np.ndarray) or not isinstance(out, np.ndarray):
        return True
    with np.errstate(all="ignore"):
        return np.allclose(v.reshape(-1) @ matrix, out.reshape(-1), 1e-2, 1e-6, equal_nan=True)


def _chain(stop: Stop, made: set[Traced]) -> tuple[Kept | None, dict[Traced, Array | None]]:
    """v at the line's only result, and its Jacobian by each value, where all factors are known and small."""
    starts = [step for step in stop.steps if step.outputs[0] in stop.results]
    if len(starts) != 1 or len(starts[0].outputs) > 1 or starts[0].v is None:
        return None, {}
    v, start = starts[0].v, starts[0].outputs[0]
    if isinstance(v, Summary) or v.size > SMALL or v.dtype.kind == "c":
        return None, {}
    found: dict[Traced, Array | None] = {start: np.eye(v.size)}
    for step in stop.steps:
        above = found.get(step.outputs[0]) if len(step.outputs) == 1 else None
        for term in step.terms:
            found[term.to] = _product(above, term.J, found.get(term.to, 0.0))
    return v, {to: matrix for to, matrix in found.items() if to not in made}


def _product(above: Array | None, local: Array | None, before: Array | float | None) -> Array | None:
    if above is None or local is None or before is None or max(local.shape) > SMALL:
        return None
    with np.errstate(all="ignore"):
        if np.array_equal(above, np.eye(len(above))):
            product: Array = local + before
        else:
            product = above @ local + before
    return product


def received(call: Call) -> dict[Traced, Kept]:
    """The gradient of each value that has one."""
    found: dict[Traced, Kept] = {}
    for step in call.steps:
        found |= {tensor: v for tensor, v in zip(step.outputs, step.vs, strict=False) if v is not None}
    return found | {leaf.tensor: leaf.grad for leaf in call.leaves}


def numbered(steps: Sequence[Step]) -> str:
    """The numbers of backward steps: `2-4, 7`; of many ranges the first and the last number."""
    ranges: list[list[int]] = []
    for index in sorted(step.index for step in steps):
        if ranges and ranges[-1][1] == index - 1:
            ranges[-1][1] = index
        else:
            ranges.append([index, index])
    if len(ranges) > RANGES:
        ranges = [[ranges[0][0], ranges[-1][1]]]
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in ranges)


class Sending:
    """Writes what lines and modules send."""

    def __init__(self, paper: Paper, call: Call, found: Sequence[Stop], *, norms: bool) -> None:
        self.paper, self.norms = paper, norms
        self.backward = bool(call.steps)
        self.grads = received(call)
        self.leaves = {leaf.tensor: leaf for leaf in call.leaves}
        self.owner = {tensor: stop for stop in found if stop.scope for step in stop.forward for tensor in step.outputs}
        self.stops = {tensor: len(stop.leaves) + len(stop.forward) for stop in found for tensor in stop.leaves}
        self.sent = {stop: sent(stop) for stop in found}
        self.sums: dict[Traced, list[Sent]] = {}
        for stop in sorted(found, key=lambda stop: min((step.index for step in stop.steps), default=0)):
            for each in self.sent[stop]:
                self.sums.setdefault(each.to, []).append(each)

    def parts(self, stop: Stop, room: int) -> tuple[str, list[list[str]]]:
        """The operations of a stop, and each thing that it sends, in its forms from the longest to the shortest."""
        hooks = [[*_hooked(step.hooked)] for step in stop.steps if step.hooked is not None]
        if self.norms:
            return self.module(stop, room), hooks
        count = len(stop.operations)
        names = listed(stop.operations)
        names = f"{count} operations: {names}" if count > FEW_OPERATIONS else names
        sends = [list(_forms(each, cut(self.name(each.to), LONGEST_NAME))) for each in self.sent[stop]]
        sums = [list(self.sum(tensor)) for tensor in stop.leaves if len(self.sums.get(tensor, [])) > 1]
        return names if count > 1 or not self.backward else "", [*hooks, *sends, *sums]

    def name(self, tensor: Traced) -> str:
        """A value's name, or its module's."""
        stop = self.owner.get(tensor)
        return self.paper.clean(tensor.name if stop is None or tensor.is_leaf else str(stop))

    def sum(self, tensor: Traced) -> Iterator[str]:
        """What arrived at a leaf from several lines."""
        leaf = self.leaves.get(tensor)
        count = 0 if leaf is None else len(leaf.contributions)
        parts = [each.out for each in self.sums[tensor]]
        many = self.stops[tensor] > 1
        name = f"{self.paper.clean(cut(tensor.name, LONGEST_NAME))}: " if many else ""
        whole = sum(each.parts for each in self.sums[tensor]) == count
        if whole and all(part is not None and not isinstance(part, Summary) and part.size <= SMALL for part in parts):
            yield f"{name}{' + '.join(map(vector_text, parts))} = {vector_text(self.grads.get(tensor))}"
        yield f"{name}sum of {counted(count, 'contribution')}"

    def module(self, stop: Stop, room: int) -> str:
        """What a line or a module of a network sends, and its parameters' gradients, as norms on one line."""
        count = counted(len(stop.operations), "operation")
        kinds = listed(stop.operations)
        heads = [count] if len(stop.operations) > FEW_OPERATIONS else [kinds]
        own = [self.leaves[tensor] for tensor in stop.leaves if tensor in self.leaves]
        flows = [each for each in self.sent[stop] if each.to not in stop.leaves]
        names = list(dict.fromkeys(cut(self.name(each.to), LONGEST_NAME) for each in flows))
        to = f"-> {', '.join(names)}" if names else ""
        if len(flows) == 1 and flows[0].out is not None:
            to = f"{size_text(flows[0].out)} {to}".lstrip()
        each, together = _each(own, f"{stop}."), _together(own)
        forms = [[*heads, to, each], [to, each], [*heads, to, together], [to, together], [to or together]]
        texts = ["   ".join(filter(None, form)) for form in forms]
        return next((text for text in texts if columns(text) <= room), cut(texts[-1], room))


def listed(names: Sequence[str]) -> str:
    """Operations with their counts: `mul, select x3`."""
    return ", ".join(name if count == 1 else f"{name} x{count}" for name, count in Counter(names).items())


def _hooked(found: Hooked) -> Iterator[str]:
    """What a hook did, from the longest form to the shortest."""
    yield hooked(found)
    yield f"{found} changed {vector_text(found.before)} to {vector_text(found.after)}"
    yield f"{found} changed {size_text(found.before)} to {size_text(found.after)}"
    yield f"{found}"


def _forms(each: Sent, name: str) -> Iterator[str]:
    """What is sent, from the longest form to the shortest."""
    for digits in (DIGITS, FEW):
        out, added = _digits(each.out, digits), _added(each, digits)
        if each.v is not None and each.J is not None:
            yield f"{row(each.v, digits)}@{matrix_text(each.J, digits)}={out} -> {name}{added}"
        if each.out is not None and added:
            yield f"{out} -> {name}{added}"
        yield f"{out} -> {name}"
    if each.out is not None:
        yield f"{norm_text(each.out)} -> {name}".lstrip()
    yield f"-> {name}"


def _digits(value: Kept | None, digits: int) -> str:
    if value is None:
        return "several contributions"
    return vector_text(value) if isinstance(value, Summary) or value.size > SHOWN else row(value, digits)


def _added(each: Sent, digits: int) -> str:
    """The sum with what had arrived before: `, 8+1=9`."""
    parts = [part for part in (each.before, each.out, each.after) if isinstance(part, np.ndarray)]
    if len(parts) < 3 or parts[0].size > SMALL:
        return ""
    if parts[0].size > 1:
        return f", sum {row(each.after, digits)}"
    before, out, after = (short(part.reshape(-1)[0], digits) for part in parts)
    return f", {before}+{out}={after}".replace("+-", "-")


def _each(leaves: Sequence[Leaf], prefix: str) -> str:
    return ", ".join(f"{leaf.tensor.name.removeprefix(prefix)} {short(norm_of(leaf.grad), FEW)}" for leaf in leaves)


def _together(leaves: Sequence[Leaf]) -> str:
    total = math.hypot(*(norm_of(leaf.grad) for leaf in leaves))
    return f"{counted(len(leaves), 'parameter')} {short(total, FEW)}" if leaves else ""
