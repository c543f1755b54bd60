"""What a call did, in a sentence and as `v @ J`."""

from __future__ import annotations

import numpy as np

from .arrays import Kept
from .gradients import folded, is_model, rows, sentence
from .layout import cut
from .matrices import fit, product
from .numbers import counted, short
from .problems import at
from .terminal import Paper
from .trace import Call, Leaf

FEW_LEAVES = 2
"""The number of leaves up to which the sentence has their gradients."""
MOST_LEAVES = 12
"""The number of rows up to which gradients are listed."""
MOST_PARTS = 12
"""The number of rows above which those in the middle are left out."""
NARROW, ROOMY = 52, 64
"""The widths from which gradients have bars, and all columns."""


class StoryWriter:
    """Writes the beginning of a text."""

    def __init__(self, paper: Paper) -> None:
        self.paper = paper

    def write(self, call: Call) -> list[str]:
        """The sentence, and the product or the gradients that it is about."""
        if not call.outputs:
            what = counted(len(call.forward), "operation")
            return [self.paper.bold(f"no backward() ran; {what} recorded"), ""]
        text, where = cut(self.paper.clean(call.text), self.paper.width // 2), at(call.place)
        did = f"{text} {self.did(call)}".rstrip(",")
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
        verb = "gave" if not writes else "would add" if call.kind != "backward" else ""
        if len(call.leaves) > FEW_LEAVES:
            return f"{verb or 'put'} gradients {'into' if writes else 'for'} {len(call.leaves)} leaves"
        texts: list[str] = []
        for leaf in call.leaves:
            first, rest = self.put(leaf, verb)
            said = texts and texts[-1].startswith(f"{first} ")
            texts.append(rest if said else f"{first} {rest}")
        return " and ".join(texts)

    def put(self, leaf: Leaf, verb: str) -> tuple[str, str]:
        """What it put into the gradient of one leaf: the verb, and the rest."""
        name, value = leaf.tensor.name, self.value(leaf.grad)
        if verb:
            return verb, f"{value} for {name}" if verb == "gave" else f"{value} to {name}.grad"
        now = "" if leaf.grad_after is None else f", now {self.value(leaf.grad_after)},"
        if leaf.grad_before is not None:
            return "added", f"{value} to {name}.grad{now}"
        return "put", f"{value} into {name}.grad{now if _changed(leaf) else ''}"

    def value(self, value: Kept) -> str:
        """A gradient in a sentence."""
        return fit(value, self.paper.width // 2)

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


def _changed(leaf: Leaf) -> bool:
    """True if a hook has changed `.grad` after the pass had written it."""
    put, now = leaf.grad, leaf.grad_after
    whole = isinstance(put, np.ndarray) and isinstance(now, np.ndarray)
    return whole and not np.array_equal(np.asarray(put), np.asarray(now), equal_nan=True)
