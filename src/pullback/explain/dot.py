"""The graph in the language of Graphviz."""

from __future__ import annotations

import html

from .graphs import Arrow, Box, boxes
from .trace import Call

FULL = 12
"""The number of boxes up to which all attributes are shown with detail='auto'."""

COLORS = {"leaf": "#e1f5ea", "output": "#e3f0fb", "inner": "#ffffff", "fold": "#eef1f5"}
LEGEND = "\ngrey, down: values, forward. Orange, up: gradients, backward; dashed: zero"
DETAILS = ("auto", "full", "compact")


def to_dot(call: Call, detail: str = "auto") -> str:
    """A directed graph: values flow down along thin arrows, and gradients, with their numbers, up along thick ones.

    Raises
    ------
    ValueError
        If `detail` is none of 'auto', 'full' and 'compact'.
    """
    if detail not in DETAILS:
        raise ValueError(f"detail={detail!r}: expected one of {', '.join(map(repr, DETAILS))}")
    found, arrows = boxes(call)
    full = detail == "full" or (detail == "auto" and len(found) <= FULL)
    ends = {"leaf", "output"} if detail == "auto" else set()
    lines = [
        "digraph backward {",
        f'  label={_quoted(call.text + LEGEND)}; labelloc=t; fontname="monospace"; fontsize=12;',
        '  node [shape=plain, fontname="monospace", fontsize=10];',
        '  edge [fontname="monospace", fontsize=10, color="#66717d", fontcolor="#8f3d00"];',
        *(f"  n{i} [label=<{_label(box, full or box.role in ends)}>];" for i, box in enumerate(found)),
        *map(_arrow, arrows),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _label(box: Box, full: bool) -> str:
    """An HTML table: the name, then the attributes."""
    table = f'<table border="1" cellborder="0" cellspacing="0" cellpadding="3" bgcolor="{COLORS[box.role]}">'
    name, *rest = box.lines
    head = f'<tr><td align="left" colspan="2"><b>{_escaped(name)}</b></td></tr>'
    if full and box.rows:
        rows = [
            f'<tr><td align="left">{_escaped(key)}</td><td align="left">{_escaped(value)}</td></tr>'
            for key, value in box.rows
        ]
    else:
        rows = [f'<tr><td align="left" colspan="2">{_escaped(line)}</td></tr>' for line in rest if line]
    return f"{table}{head}{''.join(rows)}</table>"


def _arrow(arrow: Arrow) -> str:
    forward = f"  n{arrow.start} -> n{arrow.end};"
    if not arrow.back:
        return forward
    style = 'style=dashed, color="#9aa3ad", fontcolor="#5f6b76"' if arrow.zero else 'color="#b3420a", penwidth=2'
    return f"{forward}\n  n{arrow.end} -> n{arrow.start} [constraint=false, label={_quoted(arrow.text)}, {style}];"


def _escaped(text: str) -> str:
    return html.escape(text, quote=True) or " "


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
