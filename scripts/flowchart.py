"""Draws a flowchart, written for Mermaid, as SVG: subgraphs are rows, from the bottom to the top; arrows lead down.

It knows what scripts/rooms writes: `subgraph name["title"]`, boxes `name["label"]`, and arrows `upper --> lower`. GitHub
draws the same text by itself. An arrow that passes rows on its way has a place of its own in each of them, so that it runs
between boxes, not behind them. The places in a row are chosen by the mean of their neighbours' (barycentres).
"""

import html
import itertools
import re

HIGH, DEEP, GAP, THIN, LETTER, EDGE = 28, 58, 14, 8, 8.2, 30
"""In pixels: height of a box, distance of rows and of boxes, width of a passing arrow's place, of a letter and of titles."""

Place = tuple[int, str]
"""A row, and what is there: a box, or `upper lower` for an arrow that passes."""


def drawing(text: str) -> str:
    """The flowchart as one line of SVG, which takes its colours from the page."""
    parts = [part.partition("\n") for part in text.split("subgraph ")[1:]]
    titles = [re.sub(r'.*\["(.*)"\]', r"\1", head) for head, _, _ in parts]
    rows = [dict(re.findall(r'^\s*(\w+)\["(.*)"\]$', body, re.MULTILINE)) for _, _, body in parts]
    labels = {name: label for row in rows for name, label in row.items()}
    floors = {name: floor for floor, row in enumerate(rows) for name in row}
    arrows = [tuple(arrow) for arrow in re.findall(r"^\s*(\w+) --> (\w+)$", text, re.MULTILINE)]
    paths = [passed(floors[upper], floors[lower], upper, lower) for upper, lower in arrows]
    order = arranged([[(floor, name) for name in row] for floor, row in enumerate(rows)], paths)
    widths = {(floors[name], name): len(label) * LETTER + 20 for name, label in labels.items()}
    centres, wide = spread(order, widths)
    high = DEEP * len(rows) - DEEP + HIGH + 4

    def level(floor: int) -> float:
        return high - 2 - HIGH / 2 - DEEP * floor

    def at(place: Place) -> tuple[float, float]:
        return centres[place], level(place[0])

    lines = [f'<path d="{curve([at(place) for place in path])}"/>' for path in paths]
    boxes = [box(*at((floors[name], name)), widths[floors[name], name], label) for name, label in labels.items()]
    numbers = [f'<text x="{EDGE / 2}" y="{level(floor) + 5:.0f}">{title}</text>' for floor, title in enumerate(titles)]
    described = "; ".join(f"{labels[upper]} to {labels[lower]}" for upper, lower in arrows)
    return (
        f'<div class="drawing" role="region" aria-label="Drawing" tabindex="0"><svg role="img" viewBox="0 0 {wide:.0f} '
        f'{high:.0f}" width="{wide:.0f}" aria-label="{html.escape(f"Boxes and arrows: {described}")}">'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0L8 4L0 8z"/></marker></defs><g class="arrows">{"".join(lines)}</g>{"".join(numbers + boxes)}</svg></div>'
    )


def passed(top: int, bottom: int, upper: str, lower: str) -> list[Place]:
    """The places of an arrow, from the box that it leaves to the one at its tip."""
    return [(top, upper), *((floor, f"{upper} {lower}") for floor in range(top - 1, bottom, -1)), (bottom, lower)]


def arranged(rows: list[list[Place]], paths: list[list[Place]]) -> list[list[Place]]:
    """The rows with the places of arrows that pass, each row in the order of its neighbours' means."""
    near: dict[Place, list[Place]] = {}
    for path in paths:
        for place in path[1:-1]:
            rows[place[0]].append(place)
        for one, other in itertools.pairwise(path):
            near.setdefault(one, []).append(other)
            near.setdefault(other, []).append(one)
    rank = {place: (index + 0.5) / len(row) for row in rows for index, place in enumerate(row)}
    for sweep in range(24):
        above = sweep % 2 == 1
        for row in reversed(rows) if above else rows:
            row.sort(key=lambda place, above=above: mean(place, near, rank, above=above))
            rank |= {place: (index + 0.5) / len(row) for index, place in enumerate(row)}
    return rows


def mean(place: Place, near: dict[Place, list[Place]], rank: dict[Place, float], *, above: bool) -> float:
    """The mean rank of a place's neighbours on one side; its own, if it has none there."""
    ranks = [rank[each] for each in near.get(place, []) if (each[0] > place[0]) == above]
    return sum(ranks) / len(ranks) if ranks else rank[place]


def spread(rows: list[list[Place]], widths: dict[Place, float]) -> tuple[dict[Place, float], float]:
    """The middle of each place, with every row in the middle of the drawing, and the width of the drawing."""
    lengths = [sum(widths.get(place, THIN) + GAP for place in row) - GAP for row in rows]
    wide = max(lengths) + EDGE + 2
    centres = {}
    for row, length in zip(rows, lengths, strict=True):
        slack = (wide - EDGE - 2 - length) / (len(row) + 1)
        left = EDGE + slack
        for place in row:
            width = widths.get(place, THIN)
            centres[place] = left + width / 2
            left += width + GAP + slack
    return centres, wide


def curve(points: list[tuple[float, float]]) -> str:
    """A smooth line down through the points, from the lower edge of the first box to the upper edge of the last."""
    (first, top), *between, (last, bottom) = points
    stops = [(first, top + HIGH / 2), *between, (last, bottom - HIGH / 2 - 1)]
    parts = [f"M{first:.0f} {stops[0][1]:.0f}"]
    for (x, y), (to, below) in itertools.pairwise(stops):
        half = (y + below) / 2
        parts.append(f"C{x:.0f} {half:.0f} {to:.0f} {half:.0f} {to:.0f} {below:.0f}")
    return "".join(parts)


def box(x: float, y: float, width: float, label: str) -> str:
    """A box with its label."""
    return (
        f'<rect x="{x - width / 2:.0f}" y="{y - HIGH / 2:.0f}" width="{width:.0f}" height="{HIGH}" rx="5"/>'
        f'<text x="{x:.0f}" y="{y + 5:.0f}">{html.escape(label)}</text>'
    )
