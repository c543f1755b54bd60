"""An explanation as text: what the call did, then the program line by line, health and cost.

Screen readers, and programs that read the output, get the same text.
"""

from __future__ import annotations

import itertools
import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .costs import RECORDED
from .derivations import told
from .layout import cut, pad
from .numbers import counted, duration, size
from .operations import OperationTables
from .problems import ProblemWriter, at
from .rows import ProgramTable
from .story import StoryWriter
from .terminal import WIDTH, Paper
from .trace import Call, Failure, Finding

if TYPE_CHECKING:
    from .explanation import Explanation


MOST_CALLS = 6
"""The number of calls that are listed."""
TOLD = 3
"""The number of findings of a kind that are printed."""


def to_text(
    ex: Explanation,
    *,
    width: int = WIDTH,
    ascii: bool = False,
    color: bool = False,
    program: str = "",
    operations: bool = False,
) -> str:
    """An explanation in lines of at most `width` characters; on the command line `program` is what was run.

    It has a row for each line of the program, or, with `operations`, for each operation.
    """
    writer = _TextWriter(Paper(width, ascii=ascii, color=color), program)
    lines: list[str] = []
    if ex.failure is not None:
        lines += writer.problems.failure(ex.failure)
    if ex.all_calls:
        lines += writer.call(ex.call, ex.failure, operations=operations)
        lines += writer.calls(list(ex.all_calls), ex.primary)
    elif ex.failure is None:
        lines += writer.paper.wrap("nothing was recorded: no backward() ran, and no tensor that requires grad was used")
    lines += [line for note in dict.fromkeys(ex.notes) for line in writer.paper.section("note", note)]
    within = (line if line.startswith("\x1b") else cut(line, writer.paper.width) for line in lines)
    return "\n".join(line.rstrip() for line in within).rstrip() + "\n"


def step_text(ex: Explanation, number: int, *, width: int = WIDTH, ascii: bool = False) -> str:
    """One backward step as text, with the derivation of its rule."""
    paper = Paper(width, ascii=ascii, color=False)
    step = ex.steps[number - 1]
    head = f"backward step {number} of {len(ex.steps)}: {step.node} of {step.outputs[0].name}"
    where = "" if step.place is None else f", {step.place.where}"
    ran = [] if step.ran is None else ["", *paper.wrap(step.ran, pad("ran", 8))]
    why = [line for text in told(step) for line in _broken(paper.clean(text), paper.width)]
    parts = [*paper.wrap(head + where), "", *OperationTables(paper).backward([step], ex.leaves), *ran]
    return "\n".join([*parts, *(["", "why this rule", *why] if why else [])]) + "\n"


def _broken(text: str, width: int) -> list[str]:
    """A line of text as lines that fit, indented as it is."""
    space = " " * (len(text) - len(text.lstrip()))
    return textwrap.wrap(text, width, initial_indent="  ", subsequent_indent=f"  {space}")


class _TextWriter:
    def __init__(self, paper: Paper, program: str) -> None:
        self.paper, self.program = paper, program
        self.story, self.problems = StoryWriter(paper), ProblemWriter(paper)

    def call(self, call: Call, failure: Failure | None, *, operations: bool) -> list[str]:
        table = OperationTables(self.paper) if operations else ProgramTable(self.paper, call, failure)
        rows = table.write(call) if isinstance(table, OperationTables) else table.write()
        told = self.story.write(call) if call.outputs or failure is None else []
        lines = [*told, *self.problems.invalid(call.findings), *rows]
        return [*lines, *self.health(call), *self.cost(call), *self.more(call)]

    # The end

    def calls(self, calls: Sequence[Call], shown: int) -> list[str]:
        """The list of calls, those of one text together, and which one is shown."""
        if len(calls) < 2:
            return []
        texts, first = [], 1
        for text, same in itertools.groupby(self.paper.clean(call.text) for call in calls):
            last = first + len(list(same)) - 1
            texts.append(f"{first} {text}" if first == last else f"{first}-{last} {text}")
            first = last + 1
        if len(texts) > MOST_CALLS:
            texts[MOST_CALLS:] = [f"and {len(texts) - MOST_CALLS} more"]
        return self.paper.section("calls", f"{', '.join(texts)}; this is {shown + 1} of {len(calls)}")

    def health(self, call: Call) -> list[str]:
        """What was found, apart from NaN and inf, of which the story tells."""
        found = [each for each in call.findings if each.kinds.isdisjoint({"nan", "inf"})]
        bad = len(found) < len(call.findings)
        zero = any(each.kind in {"zero", "dead"} for each in found)
        good = [text for text, some in (("no NaN or inf", bad), ("no zero gradients", zero)) if not some]
        good = good if call.steps else good[:1]
        lines = self.paper.section("health", "; ".join(good)) if good else []
        counts = Counter(finding.kind for finding in found)
        seen: Counter[str] = Counter()
        for finding in found:
            seen[finding.kind] += 1
            if seen[finding.kind] <= TOLD:
                texts = self.paper.section("" if lines else "health", _finding(finding))
                lines += [self.paper.red(line) for line in texts]
        rest = [f"{count - TOLD} more {kind}" for kind, count in counts.items() if count > TOLD]
        where = "--health" if self.program else "ex.health"
        return [*lines, *(self.paper.section("", f"and {', '.join(rest)}: {where}") if rest else [])]

    def cost(self, call: Call) -> list[str]:
        """Time and memory."""
        times = [(phase, call.seconds(phase)) for phase in ("forward", "backward")]
        parts = [f"{phase} {duration(seconds)}" for phase, seconds in times if seconds is not None]
        if parts:
            parts[-1] += " (explain's own run)" if call.estimated else f" {RECORDED}"
        return self.paper.section("cost", ", ".join([*parts, f"peak {size(call.peak_bytes)}"]))

    def more(self, call: Call) -> list[str]:
        """What else can be shown."""
        own = self.program
        page = f"pullback explain -o step.html {own}" if own else 'ex.save("step.html")'
        parts = [f"the page: {page}", f"each operation: {'--operations' if own else 'ex.to_text(operations=True)'}"]
        if call.steps:
            number = min(7, len(call.steps) - 1)
            parts.append(f"one step: {f'--step {number + 1}' if own else f'ex.steps[{number}]'}")
        if len(call.leaves) == 1:
            parts.append(f"J: {'--jacobian' if own else 'ex.jacobian()'}")
        return self.paper.section("more", "; ".join(parts))


def _finding(finding: Finding) -> str:
    where = "" if finding.place is None else f", {at(finding.place)}"
    step = "" if finding.step is None else f" step {finding.step.index}"
    carried = f"; carried through {counted(len(finding.path), 'step')}" if finding.path else ""
    fix = f". Fix: {finding.fix}" if finding.fix else ""
    return f"{finding.kind}, {finding.phase}{step}{where}: {finding.why}{carried}{fix}"
