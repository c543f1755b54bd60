"""The steps of a call as an animated SVG: one file without script, for slides and web pages.

Each part is shown during a span of frames. A style sheet moves from frame to frame; where nothing may move, or nothing can,
the last frame is seen.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .layout import columns, cut
from .matrices import fit, matrix_text
from .sources import text_of
from .stops import reached
from .story import StoryWriter
from .terminal import Paper
from .trace import Call, Step, Term, Traced

SECONDS = 2.4
"""How long a frame is shown; the last twice."""
MOST_FRAMES, MOST_LINES, MOST_TERMS, MOST_NAMES = 40, 24, 4, 3
"""What is drawn at most: the rest of a longer call is told in words."""
WIDTH, LINE, MARGIN = 860, 25, 18
CODE, VALUE, GRAD = 44, 24, 20
"""The columns of the program, of values and of gradients, in characters."""
CHAR = 8.45
"""The width of a character, in the units of the drawing."""

STYLE = """
:root{--back:#fff;--card:#f4f6f9;--ink:#17202b;--muted:#546173;--rule:#d8dee6;--mark:#fff3d1;--edge:#c79212;--value:#0b5fa6;--grad:#b3420a;--done:#0a7350}
@media (prefers-color-scheme:dark){:root{--back:#0e141b;--card:#18212b;--ink:#e9eef4;--muted:#a3b1c1;--rule:#2e3a48;--mark:#3c330f;--edge:#d7a926;--value:#6db7ff;--grad:#ff9d5c;--done:#4ed6a0}}
text{font:14px ui-monospace,"JetBrains Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:var(--ink);white-space:pre}
.s{font-family:Inter,"Segoe UI",system-ui,"Liberation Sans","DejaVu Sans",sans-serif}.m{fill:var(--muted)}.v{fill:var(--value)}.g{fill:var(--grad);font-weight:600}.d{fill:var(--done);font-weight:700}.h{font-size:17px;font-weight:700}
"""


class _Part(NamedTuple):
    """Something that is drawn from a frame until before another one."""

    since: int
    until: int
    drawn: str


class _Frame(NamedTuple):
    """The steps of one line, which are one frame."""

    line: tuple[str, int] | None
    steps: list[Step]


def animation(call: Call) -> str:
    """The backward steps of a call as an animated SVG.

    Raises
    ------
    RuntimeError
        If the call has no backward steps.
    """
    if not call.steps:
        raise RuntimeError("there are no backward steps to show: the recording has no backward() call")
    return _Drawing(call).svg()


def _frames(call: Call) -> list[_Frame]:
    """The steps by the lines of the program."""
    found = ((steps[0].place, steps) for steps in reached(call))
    frames = [_Frame(None if place is None else (place.file, place.line), steps) for place, steps in found]
    if len(frames) <= MOST_FRAMES:
        return frames
    rest = [step for frame in frames[MOST_FRAMES - 1 :] for step in frame.steps]
    return [*frames[: MOST_FRAMES - 1], _Frame(None, rest)]


class _Drawing:
    """One call, drawn from the top to the bottom."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.frames = _frames(call)
        self.count = len(self.frames) + 1
        """The first frame is before all steps."""
        self.parts: list[_Part] = []
        self.top = 34.0

    def svg(self) -> str:
        """The whole drawing."""
        did = StoryWriter(Paper(100, ascii=False, color=False)).did(self.call)
        title = cut(f"{self.call.text} {did}".strip(), 92)
        self.text(MARGIN, self.top, title, "s h")
        self.top += 18
        self.program()
        self.card()
        height = round(self.top + MARGIN)
        drawn = "".join(self.shown(part) for part in self.parts)
        label = html.escape(title, quote=True)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            f'role="img" aria-label="{label}"><title>{label}</title><style>{STYLE}{self.motion()}</style>'
            f'<rect width="{WIDTH}" height="{height}" rx="12" fill="var(--back)"/>{drawn}</svg>\n'
        )

    # Parts and their frames

    def add(self, drawn: str, since: int = 0, until: int | None = None) -> None:
        self.parts.append(_Part(since, self.count if until is None else until, drawn))

    def text(self, x: float, y: float, text: str, kind: str = "", since: int = 0, until: int | None = None) -> None:
        self.add(f'<text x="{x:g}" y="{y:g}" class="{kind}">{html.escape(_visible(text))}</text>', since, until)

    def shown(self, part: _Part) -> str:
        """A part, with the class of its frames; what is always there has none."""
        if part[:2] == (0, self.count):
            return part.drawn
        hidden = "" if part.until == self.count else ' visibility="hidden"'
        return f'<g class="{_name(part)}"{hidden}>{part.drawn}</g>'

    def motion(self) -> str:
        """The rules that move: none of them where the reader wants no motion."""
        whole = (self.count + 1) * SECONDS
        rules = []
        for part in sorted({part._replace(drawn="") for part in self.parts} - {_Part(0, self.count, "")}):
            since, until = (100 * at / (self.count + 1) for at in part[:2])
            off, on = "visibility:hidden", "visibility:visible"
            end = "" if part.until == self.count else f"{until:.3f}%{{{off}}}"
            start = f"0%{{{off}}}{since:.3f}%{{{on}}}" if part.since else f"0%{{{on}}}"
            name = _name(part)
            rules.append(f"@keyframes {name}{{{start}{end}}}.{name}{{animation:{name} {whole:g}s step-end infinite}}")
        return f"@media (prefers-reduced-motion:no-preference){{{''.join(rules)}}}"

    # The program

    def program(self) -> None:
        """The lines of the program, with values, and gradients from when they are known."""
        lines = self.lines()
        x = [MARGIN + 44, MARGIN + 44 + CODE * CHAR, MARGIN + 44 + (CODE + VALUE) * CHAR]
        for at, name in zip(x[1:], ("value", "grad"), strict=True):
            self.text(at, self.top + 14, name, "s m")
        self.top += 20
        for line in lines:
            y = self.top + 18
            for since, frame in enumerate(self.frames, 1):
                if frame.line == line:
                    mark = f'<rect x="{MARGIN}" y="{self.top + 1:g}" width="{WIDTH - 2 * MARGIN}" height="{LINE - 2}" rx="5" fill="var(--mark)"/>'
                    edge = f'<rect x="{MARGIN}" y="{self.top + 1:g}" width="4" height="{LINE - 2}" fill="var(--edge)"/>'
                    self.add(mark + edge, since, since + 1)
            file, number = line
            code = text_of(file).lines[number - 1 : number]
            self.text(MARGIN + 10, y, str(number).rjust(3), "m")
            self.text(x[0], y, cut(code[0].replace("\t", "    ") if code else "", CODE - 2))
            made = self.made(line)
            values = "  ".join(fit(each.data, (VALUE - 2) // len(made)) for each in made)
            self.text(x[1], y, cut(values, VALUE - 2), "v")
            self.gradients(x[2], y, made)
            self.top += LINE
        self.leaves(x, lines)

    def lines(self) -> list[tuple[str, int]]:
        """The lines that are drawn: those of the steps, and those that give leaves a name."""
        found = {frame.line for frame in self.frames if frame.line is not None}
        found |= {line for leaf in self.call.leaves if (line := self.home(leaf.tensor.name)) is not None}
        return sorted(found, key=lambda line: (line[0] != self.file, line))[:MOST_LINES]

    @property
    def file(self) -> str:
        return next((step.place.file for step in self.call.steps if step.place is not None), "")

    def home(self, name: str) -> tuple[str, int] | None:
        """The line that gives a name, where there is one."""
        wanted = re.compile(rf"\s*{re.escape(name)}\s*(:[^=]+)?=[^=]")
        lines = text_of(self.file).lines if self.file else []
        return next(((self.file, number) for number, line in enumerate(lines, 1) if wanted.match(line)), None)

    def made(self, line: tuple[str, int]) -> list[Traced]:
        """What a line gives names to, or else the last that it makes."""
        found = [
            each for each in self.call.tensors if each.place is not None and (each.place.file, each.place.line) == line
        ]
        names = {each.name: each for each in found if each.name.isidentifier()}
        names |= {leaf.tensor.name: leaf.tensor for leaf in self.call.leaves if self.home(leaf.tensor.name) == line}
        return [*names.values()][-MOST_NAMES:] or found[-1:]

    def gradients(self, x: float, y: float, made: Sequence[Traced]) -> None:
        """The gradients of what a line makes: what their steps were given, or, of a leaf, what it has so far."""
        now: dict[Traced, str] = {}
        known: list[tuple[int, str]] = []
        room = GRAD // max(1, len(made))
        for since, frame in enumerate(self.frames, 1):
            for step in frame.steps:
                now |= {out: fit(v, room) for out, v in zip(step.outputs, step.vs, strict=False) if out in made}
                now |= {term.to: fit(term.after, room) for term in step.terms if term.to in made and term.to.is_leaf}
            said = "  ".join(now[each] for each in made if each in now)
            if said and (not known or known[-1][1] != said):
                known.append((since, said))
        leaf = any(each.is_leaf for each in made)
        for (since, said), (until, _) in itertools.zip_longest(known, known[1:], fillvalue=(self.count, "")):
            self.text(x, y, cut(said, GRAD), "d" if until == self.count and leaf else "g", since, until)

    def leaves(self, x: Sequence[float], lines: Sequence[tuple[str, int]]) -> None:
        """The leaves that no drawn line names, as parameters of modules."""
        rest = [leaf for leaf in self.call.leaves if self.home(leaf.tensor.name) not in lines]
        for leaf in rest[:MOST_LINES]:
            y = self.top + 18
            self.text(x[0], y, cut(leaf.tensor.name, CODE - 2), "m")
            self.text(x[1], y, fit(leaf.tensor.data, VALUE - 2), "v")
            ends = [
                since
                for since, f in enumerate(self.frames, 1)
                if any(t.to is leaf.tensor for s in f.steps for t in s.terms)
            ]
            if ends:
                self.text(
                    x[2], y, fit(leaf.grad_after if leaf.grad_after is not None else leaf.grad, GRAD), "d", ends[-1]
                )
            self.top += LINE
        if len(rest) > MOST_LINES:
            self.text(x[0], self.top + 18, f"and {len(rest) - MOST_LINES} more", "s m")
            self.top += LINE

    # The step

    def card(self) -> None:
        """What the steps of each frame do, below the program."""
        self.top += 8
        rows = max(len(self.said(frame)) for frame in self.frames)
        height = 24 + rows * LINE
        self.add(
            f'<rect x="{MARGIN}" y="{self.top:g}" width="{WIDTH - 2 * MARGIN}" height="{height}" rx="10" '
            'fill="var(--card)" stroke="var(--rule)"/>'
        )
        first = (
            [("s", f"backward begins with v = {fit(self.call.outputs[0].gradient, 60)}")] if self.call.outputs else []
        )
        for since, said in enumerate([first, *map(self.said, self.frames)]):
            for row, (kind, text) in enumerate(said):
                self.text(MARGIN + 14, self.top + 26 + row * LINE, cut(text, 94), kind, since, since + 1)
        self.top += height + 16
        room = WIDTH - 2 * MARGIN
        self.add(f'<rect x="{MARGIN}" y="{self.top:g}" width="{room}" height="4" rx="2" fill="var(--rule)"/>')
        for since in range(1, self.count):
            wide = room * since / (self.count - 1)
            self.add(
                f'<rect x="{MARGIN}" y="{self.top:g}" width="{wide:g}" height="4" rx="2" fill="var(--edge)"/>',
                since,
                since + 1,
            )
        self.top += 4

    def said(self, frame: _Frame) -> list[tuple[str, str]]:
        """The steps of a frame, line by line."""
        terms = [(step, term) for step in frame.steps for term in step.terms]
        names = dict.fromkeys(step.op for step in frame.steps if step.op is not None)
        what = ", ".join([*names][:4]) + (" ..." if len(names) > 4 else "")
        head = f"line {frame.line[1]}: {what}" if frame.line is not None else f"{len(frame.steps)} more steps: {what}"
        rows = [("s", head), *(("", _equation(step, term)) for step, term in terms[:MOST_TERMS])]
        return [*rows, *[("s m", f"and {len(terms) - MOST_TERMS} more")] * (len(terms) > MOST_TERMS)]


def _equation(step: Step, term: Term) -> str:
    """`to x: v @ J = out`, with J where it is small."""
    out = fit(term.out, 26)
    known = [each for each in term.jacobians if each is not None]
    if len(known) == 1 == len(step.vs):
        matrix = matrix_text(known[0].dense())
        if columns(matrix) <= 34:
            return f"to {cut(term.to.name, 14)}:  {fit(step.vs[0], 22)} @ {matrix} = {out}"
    return f"to {cut(term.to.name, 24)}:  {out}"


def _name(part: _Part) -> str:
    return f"f{part.since}-{part.until}"


def _visible(text: str) -> str:
    return "".join(_signs(text))


def _signs(text: str) -> Iterator[str]:
    for sign in text:
        yield sign if sign.isprintable() else f"\\u{ord(sign):04x}"
