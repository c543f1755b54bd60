"""The graph in the language of Mermaid, which GitHub and notebooks draw."""

from __future__ import annotations

from .graphs import MOST_BOXES, Arrow, Box, boxes
from .trace import Call

STYLES = {
    "leaf": "fill:#e1f5ea,stroke:#0a7a45",
    "output": "fill:#e3f0fb,stroke:#0b62a8",
    "fold": "fill:#eef1f5,stroke:#66717d",
}


LEGEND = "thin, down: values, forward<br/>thick, up: gradients, backward<br/>dotted: a gradient of zero"


def to_mermaid(call: Call, max_edges: int = 450) -> str:
    """A flow chart of at most `max_edges` arrows; Mermaid itself refuses more than 500.

    Raises
    ------
    ValueError
        If the leaves alone need more arrows.
    """
    if max_edges < 1:
        raise ValueError(f"max_edges={max_edges}: expected a positive number")
    most = MOST_BOXES
    found, arrows = boxes(call, most)
    while _count(arrows) > max_edges and most > 4:
        most //= 2
        found, arrows = boxes(call, most)
    lines = ["flowchart TD", *(f"  {_box(i, box)}" for i, box in enumerate(found))]
    forward = [f"  n{arrow.start} --> n{arrow.end}" for arrow in arrows]
    back = [f"  {_arrow(arrow)}" for arrow in arrows if arrow.back]
    every = [*forward, *back]
    lines += every[:max_edges]
    if len(every) > max_edges:
        lines.append(f"  %% {len(every) - max_edges} arrows are left out")
    if forward:
        lines.append(f'  legend["{LEGEND}"]')
    lines += [f"  classDef {role} {style}" for role, style in STYLES.items()]
    for role in STYLES:
        members = ",".join(f"n{i}" for i, box in enumerate(found) if box.role == role)
        if members:
            lines.append(f"  class {members} {role}")
    return "\n".join(lines) + "\n"


def _box(number: int, box: Box) -> str:
    return f'n{number}["{"<br/>".join(_escaped(line) for line in box.lines if line)}"]'


def _arrow(arrow: Arrow) -> str:
    line = "-.->" if arrow.zero else "==>"
    label = f'|"{_escaped(arrow.text)}"|' if arrow.text else ""
    return f"n{arrow.end} {line}{label} n{arrow.start}"


def _count(arrows: list[Arrow]) -> int:
    """The number of lines that the arrows need: one forward, and one for a gradient."""
    return len(arrows) + sum(arrow.back for arrow in arrows)


def _escaped(text: str) -> str:
    """A text escaped for Mermaid and HTML: all characters except letters, digits and blanks as codes."""
    return "".join(char if char.isalnum() or char in " .,_" else f"#{ord(char)};" for char in text)
