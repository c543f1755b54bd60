"""What a call did, in a sentence and as `v @ J`; and what went wrong: where, why, and what helps."""

from __future__ import annotations

from collections.abc import Sequence

from .arrays import Kept
from .gradients import folded, is_model, rows, sentence
from .layout import cut
from .matrices import fit, product
from .numbers import counted, short
from .sources import Place, text_of
from .terminal import Paper
from .trace import Call, Failure, Finding, Leaf

FEW_LEAVES = 2
"""The number of leaves up to which the sentence has their gradients."""
MOST_LEAVES = 12
"""The number of rows up to which gradients are listed."""
MOST_PARTS = 12
"""The number of rows above which those in the middle are left out."""
NARROW, ROOMY = 52, 64
"""The widths from which gradients have bars, and all columns."""
WORST = 3
"""The number of findings of NaN and inf that are told."""


class StoryWriter:
    """Writes the beginning of a text."""

    def __init__(self, paper: Paper) -> None:
        self.paper = paper

    # What it did

    def write(self, call: Call) -> list[str]:
        """The sentence, and the product or the gradients that it is about."""
        if not call.outputs:
            what = counted(len(call.forward), "operation")
            return [self.paper.bold(f"no backward() ran; {what} recorded"), ""]
        text, where = cut(self.paper.clean(call.text), self.paper.width // 2), at(call.place)
        did = f"{text} {self.did(call)}"
        head, *rest = self.paper.wrap(f"{where}  {did}" if where else did)
        lines = [self.paper.bold(head), *map(self.paper.bold, rest), ""]
        if is_model(call):
            return [*lines, *self.paper.wrap(sentence(call)), "", *self.parameters(call)]
        if len(call.leaves) > FEW_LEAVES:
            return [*lines, *self.leaves(call), ""]
        for leaf in call.leaves:
            drawn = product(call, leaf, self.paper.width)
            lines += [*map(self.paper.clean, drawn), *([""] if drawn else [])]
        return lines

    def did(self, call: Call) -> str:
        """What a call put where."""
        if is_model(call):
            return ""
        if not call.leaves:
            return "reached no leaf"
        writes = "backward(" in call.text
        if len(call.leaves) > FEW_LEAVES:
            what = f"gradients into {len(call.leaves)} leaves"
            return (
                f"put {what}"
                if writes and call.kind == "backward"
                else f"would put {what}"
                if writes
                else f"gave {what}"
            )
        texts = [self.put(call, leaf, writes=writes) for leaf in call.leaves]
        return " and ".join(texts)

    def put(self, call: Call, leaf: Leaf, *, writes: bool) -> str:
        """What it put into the gradient of one leaf."""
        name = f"{leaf.tensor.name}.grad"
        value = self.value(leaf.grad)
        if not writes:
            return f"gave {value} for {leaf.tensor.name}"
        if call.kind != "backward":
            return f"would add {value} to {name}"
        if leaf.grad_before is None or leaf.grad_after is None:
            return f"put {value} into {name}"
        return f"added {value} to {name}, now {self.value(leaf.grad_after)}"

    def value(self, value: Kept) -> str:
        """A gradient in a sentence."""
        return fit(value, self.paper.width // 2, scalars=False)

    def leaves(self, call: Call) -> list[str]:
        """The gradients of several leaves."""
        added = any(leaf.grad_before is not None for leaf in call.leaves)
        body = [["leaf", "v @ J", *(["grad before", "grad now"] if added else [])]]
        room = (self.paper.width - 16) // (3 if added else 1)
        for leaf in call.leaves[:MOST_LEAVES]:
            grads = [leaf.grad, *([leaf.grad_before, leaf.grad_after] if added else [])]
            body.append([leaf.tensor.name, *("None" if each is None else fit(each, room) for each in grads)])
        lines = self.paper.table(body, frozenset(), [12] * len(body[0]))
        more = len(call.leaves) - MOST_LEAVES
        return [*lines, *([f"and {more} more"] if more > 0 else [])]

    def parameters(self, call: Call) -> list[str]:
        """The sizes of a network's gradients, its deepest modules folded."""
        found = folded(rows(call.leaves), MOST_PARTS)
        found = found if len(found) > 1 else folded(rows(call.leaves))
        half = MOST_PARTS // 2
        hidden = len(found) - 2 * half + 1 if len(found) > MOST_PARTS else 0
        most = max((one.norm for one in found if one.norm < float("inf")), default=0.0)
        body = [["gradient of", "norm", "", "to weight", "zeros", ""]]
        for one in [*found[: half - 1], *found[-half:]] if hidden else found:
            ratio = short(one.ratio, 2) if one.weight > 0 else ""
            several = f"{one.leaves} parameters" if one.leaves > 1 else ""
            body.append([one.name, short(one.norm, 3), one.bar(most), ratio, f"{one.zeros:.0%}", several])
        least, barred = [16, 8, 8, 8, 5, 0], self.paper.width >= NARROW
        if self.paper.width < ROOMY:
            body = [[name, norm, *([bar] if barred else []), ratio] for name, norm, bar, ratio, _, _ in body]
            least = [10, 6, 16, 6] if barred else [10, 6, 6]
        lines = self.paper.table(body, frozenset({1, 3, 4} if barred else {1, 2}), least)
        if hidden:
            lines.insert(half, f"... {hidden} more")
        return [*lines, *(["log scale: half a bar is 1/100"] if barred else []), ""]

    # What went wrong

    def failure(self, failure: Failure) -> list[str]:
        """The line that failed, and why."""
        lines = self._wrong(failure.place, f"raised {failure.type}")
        said = [] if failure.overwritten is None else [str(failure.overwritten)]
        for index, line in enumerate((*said, *failure.message.splitlines())):
            lines += self.paper.section("" if index else "cause", line)
        return [*lines, ""]

    def invalid(self, findings: Sequence[Finding]) -> list[str]:
        """NaN and inf: the line where each was born, why, on which way it spread, and what helps."""
        lines: list[str] = []
        bad = [finding for finding in findings if finding.kind in {"nan", "inf"}]
        for finding in bad[:WORST]:
            lines += self._wrong(finding.place, f"made {finding.kind}")
            lines += self.paper.section("cause", finding.why)
            if finding.path:
                lines += self.paper.section(
                    "way", " -> ".join(f"{_place(step.place)}{step.op or step.node}" for step in finding.path)
                )
            if finding.fix:
                lines += self.paper.section("fix", finding.fix)
            lines.append("")
        more = len(bad) - WORST
        return [*lines, *([f"and {more} more findings of nan and inf", ""] if more > 0 else [])]

    def _wrong(self, place: Place | None, what: str) -> list[str]:
        where, source = at(place), source_at(place)
        text = f"{where}  {cut(self.paper.clean(source), max(12, self.paper.width - len(where) - len(what) - 4))}"
        return [self.paper.red(line) for line in self.paper.wrap(f"{text}  {what}" if where else what)]


def at(place: Place | None) -> str:
    """A place as text: `train.py:41`."""
    return "" if place is None else place.where


def _place(place: Place | None) -> str:
    return "" if place is None else f"{place.line} "


def source_at(place: Place | None) -> str:
    """The line of the program at a place."""
    lines = [] if place is None else text_of(place.file).lines
    return lines[place.line - 1].strip() if place is not None and 0 < place.line <= len(lines) else ""
