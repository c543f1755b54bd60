"""What went wrong, as text: the line, the module or operation, the cause, the way of a NaN, and changes that help."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterator, Sequence

from .edits import changed
from .layout import columns, cut
from .matrices import shape_text
from .sources import Place, text_of
from .terminal import HEAD, Paper
from .trace import Argument, Change, Failure, Finding, Fix, Hop

WORST = 3
"""The number of findings of NaN and inf that are told."""
MESSAGE = 4
"""The number of lines of a message, where it is said in a sentence what failed."""
SEVERAL = 12
"""The number of places of a way above which those in the middle are left out."""


class ProblemWriter:
    """Writes errors, NaN and inf in one form."""

    def __init__(self, paper: Paper) -> None:
        self.paper = paper
        self.told: set[object] = set()

    def failure(self, failure: Failure) -> list[str]:
        """The line that failed, and why."""
        lines = self.title(failure.place, f"raised {failure.type}")
        said = [failure.said] if failure.said else []
        said += [str(failure.overwritten)] if failure.overwritten is not None else []
        lines += self.sections("cause", said)
        lines += self.sections("in", [_called(failure)] if failure.op or failure.scope else [])
        if failure.made is not None:
            lines += self.sections("made", [f"{failure.made.where}  {failure.made.code}"])
        if len(failure.stages) > 1:
            ran = (
                f"{stage.scope} {'' if stage.shape is None else shape_text(stage.shape)}" for stage in failure.stages
            )
            lines += self.sections("ran", [" -> ".join(map(str.strip, ran))])
        lines += self.fixes("fix", failure.shown_fixes)
        message = self.sections("error", failure.message.splitlines())
        if said and len(message) > MESSAGE:
            last = message[MESSAGE - 1]
            while columns(last) > self.paper.width - 3:
                last = last.rpartition(" ")[0]
            message = [*message[: MESSAGE - 1], f"{last} .."]
        return [*lines, *message, ""]

    def invalid(self, findings: Sequence[Finding]) -> list[str]:
        """NaN and inf: the line where each began, why, on which way it spread, and what helps."""
        bad = [finding for finding in findings if not finding.kinds.isdisjoint({"nan", "inf"})]
        lines = [line for finding in bad[:WORST] for line in [*self.finding(finding), ""]]
        more = len(bad) - WORST
        return [*lines, *([f"and {more} more findings of nan and inf", ""] if more > 0 else [])]

    def finding(self, finding: Finding) -> Iterator[str]:
        """One finding."""
        did = "had" if finding.step is None and finding.phase == "forward" else "made"  # from before the call
        yield from self.title(finding.place, f"{did} {', then '.join(filter(None, (finding.began, finding.kind)))}")
        yield from self.sections("cause", [finding.told or finding.why])
        yield from self.sections("way", [_way(finding.way)] if len(finding.way) > 1 else [])
        yield from self.sections("reached", [finding.extent] if self.new(finding.extent) else [])
        fixes = finding.shown_fixes
        yield from self.fixes("fix", fixes) if fixes else self.sections("fix", [finding.fix] if finding.fix else [])
        yield from self.fixes("no help", finding.vain)

    def new(self, text: object) -> bool:
        """Whether something has not been said of another finding."""
        known = not text or text in self.told
        self.told.add(text)
        return not known

    def title(self, place: Place | None, what: str) -> list[str]:
        """A line of the program and what happened there."""
        where = at(place)
        if not where:
            return [self.paper.red(line) for line in self.paper.wrap(what)]
        room = max(12, self.paper.width - columns(where) - columns(what) - 4)
        code = "" if place is None else place.code
        text = f"{where}  {cut(self.paper.clean(code), room)}  {what}"
        return [self.paper.red(line) for line in self.paper.wrap(text)]

    def sections(self, title: str, texts: Sequence[str]) -> list[str]:
        """Texts below each other, the first beside a title."""
        found: list[str] = []
        for text in texts:
            found += self.paper.section("" if found else title, text)
        return found

    def fixes(self, title: str, fixes: Sequence[Fix]) -> list[str]:
        """Changes of the program, each with what happened when it was run with them."""
        lines: list[str] = []
        for fix in fixes:
            if not self.new((fix.why, *fix.changes)):
                continue
            tried = f" Tried: {fix.tried}." if fix.tried else ""
            lines += self.paper.section(title, f"{fix.why}{tried}")
            lines += [
                cut(f"{' ' * HEAD}{self.paper.clean(line)}", self.paper.width) for line in difference(fix.changes)
            ]
        return lines


def difference(changes: Sequence[Change]) -> Iterator[str]:
    """The lines that are changed, before and after."""
    for file in dict.fromkeys(change.place.file for change in changes):
        lines = text_of(file).lines
        if lines:
            new = changed(lines, [change for change in changes if change.place.file == file])
            for old_start, old_end, start, end in _edits(lines, new):
                yield from (f"- {line.strip()}" for line in lines[old_start:old_end])
                yield from (f"+ {line.strip()}" for line in new[start:end])


def _edits(lines: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """The ranges of lines in which two texts differ: by number if there are as many, since a matcher confuses equal lines."""
    if len(lines) != len(new):
        matched = difflib.SequenceMatcher(None, lines, new, autojunk=False)
        yield from ((a, b, c, d) for tag, a, b, c, d in matched.get_opcodes() if tag != "equal")
        return
    start = None
    for i, same in enumerate([*map(operator.eq, lines, new), True]):
        if not same and start is None:
            start = i
        elif same and start is not None:
            yield start, i, start, i
            start = None


def _called(failure: Failure) -> str:
    """The module or operation that failed, and what it was given."""
    given = ", ".join(filter(None, map(_argument, failure.arguments)))
    called = f"{failure.op}({given})" if failure.op else given
    scope = failure.scope
    if scope is None:
        return called
    name = scope.name if scope.name == scope.type else f"{scope.name} ({scope.type})"
    return f"{name}: {called}" if called else name


def _argument(argument: Argument) -> str:
    if argument.shape is None:
        return argument.name if argument.text is None else f"{argument.name} = {argument.text}"
    return f"{argument.name} {shape_text(argument.shape)}"


def _way(way: Sequence[Hop]) -> str:
    texts = [hop.said for hop in way]
    if len(texts) > SEVERAL:
        half = SEVERAL // 2
        texts = [*texts[:half], f"{len(texts) - 2 * half} more", *texts[-half:]]
    return " -> ".join(texts)


def at(place: Place | None) -> str:
    """A place as text: `train.py:41`."""
    return "" if place is None else place.where
