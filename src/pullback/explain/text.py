"""An explanation as text: the result first, then the operations, the gradients of each, health and cost.

Screen readers, and programs that read the output, get the same text.
"""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._core.texts import printable
from .arrays import Kept, Summary
from .derivations import told
from .folding import Folded, folded
from .gradients import folded as folded_rows, is_network, rows as rows_of, sentence
from .layout import columns, cut, pad, table, wrapped
from .numbers import counted, duration, grid, nested, row, rows, short, size
from .rules import Jacobian
from .trace import Call, Finding, Leaf, Step, Term, Traced

if TYPE_CHECKING:
    from .._core.typing import Array
    from .explanation import Explanation


SMALL = 6
"""The number of rows and columns up to which matrices are printed."""
CELL = 28
"""The number of characters above which local Jacobians are described by their size."""
SHOWN = 12
"""The number of elements up to which arrays are shown by their numbers."""
MOST_ROWS = 60
"""The number of steps above which some are folded."""
MOST_CALLS = 6
TOLD = 3
"""The number of findings of a kind that are printed."""
HEAD = 12
"""The width of the column before a section's text."""
NARROWEST, ROOMY = 60, 96

BOLD, RED, PLAIN = "\x1b[1m", "\x1b[31m", "\x1b[0m"


def to_text(ex: Explanation, *, width: int = 100, ascii: bool = False, color: bool = False, program: str = "") -> str:
    """An explanation in lines of at most `width` characters; on the command line `program` is what was run."""
    writer = _TextWriter(max(width, NARROWEST), ascii=ascii, color=color, program=program)
    calls = list(ex.all_calls)
    lines: list[str] = []
    if not calls:
        lines += ["nothing was recorded: no backward() ran, and no operation on a tensor that requires grad", ""]
    else:
        lines += writer.call(ex.call)
    if len(calls) > 1:
        lines += wrapped(pad("calls", HEAD), [f"{word} " for word in writer.calls(calls, ex.primary)], writer.width)
    if ex.failure is not None:
        where = "" if ex.failure.place is None else f" at {ex.failure.place.where}"
        lines.append(writer.red(f"{pad('failed', HEAD)}{ex.failure.type}{where}"))
        said = [] if ex.failure.overwritten is None else [str(ex.failure.overwritten)]
        for line in (*said, *ex.failure.message.splitlines()):
            lines += wrapped(" " * HEAD, [f"{word} " for word in writer.clean(line).split(" ")], writer.width)
    lines += [writer.clean(f"{pad('note', HEAD)}{note}") for note in dict.fromkeys(ex.notes)]
    within = (line if line.startswith("\x1b") else cut(line, writer.width) for line in lines)
    return "\n".join(line.rstrip() for line in within).rstrip() + "\n"


def step_text(ex: Explanation, number: int, *, width: int = 100, ascii: bool = False) -> str:
    """One backward step as text, with the derivation of its rule."""
    writer = _TextWriter(max(width, NARROWEST), ascii=ascii, color=False)
    step = ex.steps[number - 1]
    head = f"backward step {number} of {len(ex.steps)}: {step.node} of {step.outputs[0].name}"
    where = "" if step.place is None else f", {step.place.where}"
    ran = [] if step.ran is None else ["", f"ran     {step.ran}"]
    why = [line for text in told(step) for line in _broken(writer.clean(text), writer.width)]
    parts = [writer.clean(head + where), "", *writer.backward([step], ex.leaves), *map(writer.clean, ran)]
    return "\n".join([*parts, *(["", "why this rule", *why] if why else [])]) + "\n"


def _broken(text: str, width: int) -> list[str]:
    """A line of text as lines that fit, indented as it is."""
    space = " " * (len(text) - len(text.lstrip()))
    return textwrap.wrap(text, width, initial_indent="  ", subsequent_indent=f"  {space}")


class _TextWriter:
    def __init__(self, width: int, *, ascii: bool, color: bool, program: str = "") -> None:
        self.width, self.ascii, self.color, self.program = width, ascii, color, program
        self.narrow = width < ROOMY

    def clean(self, text: str) -> str:
        return printable(text, ascii=self.ascii)

    def bold(self, text: str) -> str:
        return f"{BOLD}{self.clean(text)}{PLAIN}" if self.color else self.clean(text)

    def red(self, text: str) -> str:
        return f"{RED}{cut(self.clean(text), self.width)}{PLAIN}" if self.color else self.clean(text)

    # Sections

    def calls(self, calls: Sequence[Call], shown: int) -> list[str]:
        """The list of calls, and which one is shown."""
        texts = [f"{number} {self.clean(call.text)}" for number, call in enumerate(calls[:MOST_CALLS], 1)]
        if len(calls) > MOST_CALLS:
            texts.append(f"and {len(calls) - MOST_CALLS} more")
        return [*(f"{text}," for text in texts[:-1]), f"{texts[-1]};", f"this is number {shown + 1} of {len(calls)}"]

    def call(self, call: Call) -> list[str]:
        where = "" if call.place is None else call.place.where
        head = cut(self.clean(call.text), self.width - len(where) - 2)
        room = max(columns(head) + 2, min(72, self.width) - len(where))
        lines = [self.bold(pad(head, room)) + where, ""]
        if call.outputs:
            lines += self.answer(call)
        lines += self.forward(call)
        if call.steps:
            lines += [f"{pad('backward', HEAD)}{counted(len(call.steps), 'step')}, newest operation first", ""]
            lines += [*self.backward(folded(call.steps, MOST_ROWS), call.leaves), ""]
        lines += self.health(call)
        return [*lines, *self.cost(call), *wrapped(pad("more", HEAD), _more(call, self.program), self.width)]

    def answer(self, call: Call) -> list[str]:
        """`v @ J = x.grad` with its values, for leaves that are small enough."""
        if not call.leaves:
            return ["no gradient reached a leaf", ""]
        if is_network(call):
            return self.parameters(call)
        if len(call.leaves) > 2:
            return self.leaves(call)
        return [line for leaf in call.leaves for line in self.leaf(call, leaf)]

    def leaves(self, call: Call) -> list[str]:
        """One line for each leaf, if there are many."""
        had = any(leaf.grad_before is not None for leaf in call.leaves)
        body = [["", "v @ J", *(["was", "is now"] if had else [])]]
        for leaf in call.leaves[:MOST_ROWS]:
            grads = [leaf.grad, *([leaf.grad_before, leaf.grad_after] if had else [])]
            values = ["None" if grad is None else vector_text(grad) for grad in grads]
            body.append([f"{leaf.tensor.name}.grad", *values])
        verb = "was" if call.kind == "backward" else "would be"
        head = f"v @ J for {len(call.leaves)} leaves; no J {verb} built"
        lines = [head, "", *self.table(body, frozenset(), [12] * len(body[0]))]
        if len(call.leaves) > MOST_ROWS:
            lines.append(f"and {len(call.leaves) - MOST_ROWS} more: ex.leaves")
        return [*lines, ""]

    def parameters(self, call: Call) -> list[str]:
        """The sizes of a network's gradients, largest modules of its own names folded."""
        given = rows_of(call.leaves)
        found = folded_rows(given)
        most = max((one.norm for one in found if np.isfinite(one.norm)), default=0.0)
        body = [["gradient of", "norm", "", "to weight", "zeros", ""]]
        for one in found:
            ratio = short(one.ratio, 2) if one.weight > 0 else ""
            several = f"{one.leaves} parameters" if one.leaves > 1 else ""
            body.append([one.name, short(one.norm, 3), one.bar(most), ratio, f"{one.zeros:.0%}", several])
        lines = self.table(body, frozenset({1, 3, 4}), [16, 8, 8, 8, 5, 0])
        return [*self._wrap(sentence(call)), "", *lines, "bars are logarithmic: half is a hundredth", ""]

    def leaf(self, call: Call, leaf: Leaf) -> list[str]:
        name = f"{leaf.tensor.name}.grad"
        several = len(call.outputs) > 1
        sizes = [int(np.prod(out.tensor.shape)) for out in call.outputs]
        count, entries = sum(sizes), int(np.prod(leaf.tensor.shape))
        verb = "is" if call.kind == "backward" else "would get"
        equals = f"{name} = v @ J" if call.kind == "backward" else f"{name} would get v @ J"
        shape = f"{count}x{entries}"
        if several or leaf.J is None or count > SMALL or entries > SMALL or isinstance(leaf.grad, Summary):
            text = f"{equals}, where J would be {shape}: {name} {verb} {value_text(leaf.grad)}"
            return [*self._wrap(text), *self.accumulated(leaf), ""]
        head = f"{equals}, and J ({shape}) was never built" if call.kind == "backward" else f"{equals}; J is {shape}"
        flat = (
            "" if leaf.tensor.shape in {(), (entries,)} else f" ({name} is {_shape(leaf.tensor.shape)}, flattened here)"
        )
        more = [*self._rows(leaf.J), *self.accumulated(leaf)]
        return [self.clean(head + flat), "", *self._product(call, leaf, name), "", *more, *([""] if more else [])]

    def _wrap(self, text: str) -> list[str]:
        return wrapped("", [f"{self.clean(word)} " for word in text.split(" ")], self.width)

    def _product(self, call: Call, leaf: Leaf, name: str) -> list[str]:
        assert leaf.J is not None
        matrix = grid(leaf.J) or ["[]"]
        v, grad = row(call.outputs[0].gradient), row(leaf.grad)
        middle = (len(matrix) - 1) // 2
        wide = max(map(len, matrix), default=1)
        lines = [f"    {'v'.center(len(v))}     {'J'.center(wide)}     {self.clean(name)}"]
        for index, text in enumerate(matrix):
            if index == middle:
                lines.append(f"    {v}  @  {text.ljust(wide)}  =  {grad}")
            else:
                lines.append(f"    {' ' * len(v)}     {text}")
        return lines

    def _rows(self, matrix: Array) -> list[str]:
        if len(matrix) < 2:
            return []
        units = np.eye(len(matrix))
        pairs = [f"{row(unit)} -> {row(each)}   " for unit, each in zip(units, matrix, strict=True)]
        return wrapped(pad("row by row", HEAD), pairs, self.width)

    def accumulated(self, leaf: Leaf) -> list[str]:
        if leaf.grad_before is None or leaf.grad_after is None or leaf.grad_after is leaf.grad_before:
            return []
        name = f"{leaf.tensor.name}.grad"
        return [
            self.clean(
                f"{name} was {value_text(leaf.grad_before)}, and is now {value_text(leaf.grad_after)}: backward adds"
            )
        ]

    def forward(self, call: Call) -> list[str]:
        kept = f"{size(call.kept_bytes)} kept for backward"
        lines = [f"{pad('forward', HEAD)}{counted(len(call.forward), 'operation')} recorded, {kept}", ""]
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
        return [*lines, *self.table(body, frozenset({0, 1}), [3, 4, 16, least, 12, 8]), ""]

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
        body: list[list[str]] = [["#", "line", "node", "v in", "@ local J", "= v out", "to"]]
        for item in items:
            if isinstance(item, Folded):
                body.append(["", "", f"... {item.label}"])
            elif item.terms:
                body += [self.term(item, term) for term in item.terms]
            elif item.op is None:
                body.append([str(item.index), "", item.node, _summed(item, leaves)])
            else:
                body.append([str(item.index), _own_line(item), self.node(item), self.vector(item.v), "", "", "nothing"])
        least = 12 if self.narrow else 18
        return self.table(body, frozenset({0, 1}), [3, 4, 10, least, 21, least, 9])

    def term(self, step: Step, term: Term) -> list[str]:
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

    def table(self, body: Sequence[Sequence[str]], right: frozenset[int], least: Sequence[int]) -> list[str]:
        return table([[self.clean(cell) for cell in line] for line in body], self.width, right=right, least=least)

    def health(self, call: Call) -> list[str]:
        found = call.findings
        bad = [each for each in found if each.kind in {"nan", "inf"}]
        zero = [each for each in found if each.kind in {"zero", "dead"}]
        good = [text for text, some in (("no NaN or inf", bad), ("no zero gradients", zero)) if not some]
        if not call.steps:
            good = good[:1]
        lines = [f"{pad('health', HEAD)}{'; '.join(good)}".rstrip()] if good else []
        counts = Counter(finding.kind for finding in found)
        told: Counter[str] = Counter()
        for finding in found:
            told[finding.kind] += 1
            if told[finding.kind] <= TOLD:
                head = pad("" if lines else "health", HEAD)
                words = [f"{word} " for word in _finding(finding).split(" ")]
                lines += [self.red(line) for line in wrapped(head, words, self.width)]
        rest = [f"{count - TOLD} more {kind}" for kind, count in counts.items() if count > TOLD]
        return [*lines, *([f"{' ' * HEAD}and {', '.join(rest)}: ex.health"] if rest else [])]

    def cost(self, call: Call) -> list[str]:
        times = [(phase, call.seconds(phase)) for phase in ("forward", "backward")]
        parts = [f"{phase} {duration(seconds)}" for phase, seconds in times if seconds is not None]
        if call.estimated and parts:
            parts[-1] += " (explain's own run)"
        return [f"{pad('cost', HEAD)}{', '.join([*parts, f'peak {size(call.peak_bytes)}'])}"]


# Cells


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def value_text(value: Kept | None, *, brief: bool = False) -> str:
    """A value in the notation of data, or a description: shape and range, or, with `brief`, the shape."""
    if value is None:
        return "not kept"
    if isinstance(value, Summary):
        stats = value.stats
        if stats is None:
            return f"{value.dtype} {_shape(value.shape)}"
        known = stats.min is not None and stats.max is not None and not brief
        ends = f", {short(stats.min)} to {short(stats.max)}" if known else ""
        wrong = "".join(f", {n} {word}" for n, word in ((stats.nans, "nan"), (stats.infs, "inf")) if n)
        return f"{_shape(value.shape)}{ends}{wrong}"
    small = value.size <= SHOWN and value.ndim <= 2
    return nested(value) if small else value_text(Summary(value), brief=brief)


def vector_text(value: Kept | None, *, brief: bool = False) -> str:
    """A vector in the notation of gradients; a long one by shape and norm, or, with `brief`, the norm."""
    if value is None:
        return "nothing"
    if not isinstance(value, Summary) and value.size <= SHOWN:
        return row(value)
    stats = value.stats if isinstance(value, Summary) else Summary(value).stats
    if stats is None:
        return _shape(value.shape)
    what = "has nan" if stats.nans else "has inf" if stats.infs else f"norm {short(stats.norm, 3)}"
    return what if brief else f"{_shape(value.shape)}, {what}"


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
        return sizes if term.missing is not None and "elements" in term.missing else "not built"
    diagonal = local.form == "diagonal"
    text = "" if max(local.rows, local.cols) > SMALL else f"diag{row(local.data)}" if diagonal else rows(local.dense())
    return text if 0 < len(text) <= CELL else f"diagonal, {sizes}" if diagonal else sizes


def _summed(step: Step, leaves: Sequence[Leaf]) -> str:
    """The last step at a leaf: the sum of its contributions."""
    target = f"{vector_text(step.v)} -> {step.outputs[0].name}.grad"
    parts = next((leaf.contributions for leaf in leaves if leaf.tensor is step.outputs[0]), [])
    small = all(not isinstance(term.out, Summary) and term.out.size <= SMALL for _, term in parts)
    if not 1 < len(parts) <= SMALL or not small:
        return f"{len(parts)} contributions, {target}" if len(parts) > 1 else target
    return f"{' + '.join(vector_text(term.out) for _, term in parts)} = {target}"


def _finding(finding: Finding) -> str:
    where = "" if finding.place is None else f", {finding.place.where}"
    step = "" if finding.step is None else f" step {finding.step.index}"
    carried = f"; carried through {counted(len(finding.path), 'step')}" if finding.path else ""
    fix = f". Fix: {finding.fix}" if finding.fix else ""
    return f"{finding.kind}, {finding.phase}{step}{where}: {finding.why}{carried}{fix}"


def _more(call: Call, program: str) -> list[str]:
    parts = [
        f"pullback explain -o step.html {program} for the page" if program else 'ex.save("step.html") for the page'
    ]
    if call.steps:
        step = min(7, len(call.steps) - 1)
        parts.append(f"--step {step + 1} for one step" if program else f"ex.steps[{step}] for one step")
    if len(call.leaves) == 1:
        parts.append("--jacobian" if program else "ex.jacobian()")
    return [*(f"{part}, " for part in parts[:-1]), parts[-1]]
