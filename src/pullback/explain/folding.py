"""Folding of long graphs: loops by their first and last iteration, then calls of modules and functions.

Steps keep their order, and steps of different scopes are never merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .trace import Scope, Step

LONGEST_ROUND = 24
"""The maximal number of steps per iteration for which loops are detected."""


@dataclass(eq=False, slots=True)
class Folded:
    """Several steps shown as one line."""

    label: str
    steps: list[Step] = field(repr=False)


Items = list[Step | Folded]


def folded(steps: Sequence[Step], most: int) -> Items:
    """Steps and folds, about `most` in all; no more is folded than necessary."""
    items: Items = list(steps)
    if len(items) <= most:
        return items
    items = _loops(steps)
    depth = max((_depth(step) for step in steps), default=0)
    while len(items) > most and depth > 0:
        items = _by_scope(items, depth)
        depth -= 1
    if len(items) > most:
        half = most // 2
        hidden = [step for item in items[half:-half] for step in (item.steps if isinstance(item, Folded) else [item])]
        items = [*items[:half], Folded(f"{len(hidden)} steps", hidden), *items[-half:]]
    return items


def _depth(step: Step) -> int:
    return 0 if step.scope is None else len(step.scope.path)


# Loops


def _loops(steps: Sequence[Step]) -> Items:
    """Steps with repetitions folded: of three or more iterations, the first and the last remain."""
    numbers: dict[tuple[object, ...], int] = {}
    keys = [numbers.setdefault(_key(step), len(numbers)) for step in steps]
    items: Items = []
    place = 0
    while place < len(steps):
        length, rounds = repeats(keys, place)
        if rounds < 3 or length * rounds < 6:
            items.append(steps[place])
            place += 1
            continue
        middle = list(steps[place + length : place + length * (rounds - 1)])
        label = f"{rounds - 2} more rounds of {'this step' if length == 1 else f'these {length} steps'}"
        items += [*steps[place : place + length], Folded(label, middle)]
        items += steps[place + length * (rounds - 1) : place + length * rounds]
        place += length * rounds
    return items


def _key(step: Step) -> tuple[object, ...]:
    names = () if step.scope is None else tuple(scope.name for scope in step.scope.path)
    return step.node, step.place, names


def repeats(keys: list[int], place: int) -> tuple[int, int]:
    """The length of the iteration that starts here, and its count; most steps win, then the shortest iteration."""
    best = (1, 1)
    for length in range(1, min(LONGEST_ROUND, (len(keys) - place) // 3) + 1):
        if keys[place] != keys[place + length]:
            continue
        count = 0
        while place + length + count < len(keys) and keys[place + count] == keys[place + length + count]:
            count += 1
        rounds = count // length + 1
        if rounds >= 3 and length * rounds > best[0] * best[1]:
            best = length, rounds
    return best


# Scopes


def _by_scope(items: Items, depth: int) -> Items:
    """Neighbouring steps in the same scope of a given depth, merged into one fold."""
    found: Items = []
    current: Scope | None = None
    for item in items:
        scope = _scope_at(item, depth)
        last = found[-1] if found else None
        if scope is not None and scope is current and last is not None:
            steps = [*(last.steps if isinstance(last, Folded) else [last]), *_steps(item)]
            found[-1] = Folded(f"{scope}, {len(steps)} steps", steps)
        else:
            found.append(item)
        current = scope
    return found


def _steps(item: Step | Folded) -> list[Step]:
    return item.steps if isinstance(item, Folded) else [item]


def _scope_at(item: Step | Folded, depth: int) -> Scope | None:
    """The scope of a given depth that contains the whole item."""
    scopes = {step.scope.path[depth - 1] if _depth(step) >= depth and step.scope else None for step in _steps(item)}
    return scopes.pop() if len(scopes) == 1 else None
