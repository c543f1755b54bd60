"""Reasons: why a function is recorded again, in a sentence for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import Tensor
from ..observe import describe
from .holders import MISSING, Closure, Content, Holder
from .paths import entry, path_to
from .records import Argument, difference, leaf_names, signature

if TYPE_CHECKING:
    from .._core.trees import Structure
    from .kinds import Kind
    from .prepared import Prepared

FIRST = "a first call"
LONGEST = 40  # characters of a value


def why(
    function: Callable[..., Any],
    kind: Kind,
    leaves: Sequence[object],
    structure: Structure,
    records: dict[Kind, list[Prepared]],
) -> str:
    """Why no record holds for a call."""
    if not any(records.values()):
        return FIRST
    names = leaf_names(function, structure)
    if found := records.get(kind):
        return _changed(found[0], leaves, names, function)
    nearest = max(records, key=lambda other: _agreement(kind, other))
    return _other_kind(kind, nearest, leaves, names)


# 1. Records of this kind


def _changed(prepared: Prepared, leaves: Sequence[Any], names: Sequence[str], function: Callable[..., Any]) -> str:
    """What is not as a record of this kind of call has it."""
    record = prepared.record
    for i, number in record.numbers:
        if leaves[i].hex() != number:
            return f"{names[i]} is {leaves[i]} instead of {float.fromhex(number)}, and it is a part of the program"
    for holder in record.state.holders:
        if not holder.same():
            return _state(holder, function)
    if record.meets(leaves) != record.met:
        return "an argument is a tensor that the function also reaches by itself, or is no more"
    for place, expected in record.fixed:
        tensor = place.tensor(leaves)
        found = signature(tensor)
        if found != expected:
            return f"{path_to(tensor, function) or 'a tensor that it reads'} has {difference(found, expected)}"
    if prepared.departed is not None:
        return _departed(prepared, leaves, names)
    return "arrays lie in memory in another order than before"


def _state(holder: Holder, function: Callable[..., Any]) -> str:
    """Which value of what a function reads is another one."""
    now, before = holder.entries(), dict(holder.named()) or holder.before
    whole = path_to(holder.held, function) or _kind_of(holder)
    if isinstance(holder, Content):
        return f"{whole} has other numbers"
    if holder.numbered and len(now) != len(before):
        return f"{whole} has {len(now)} items instead of {len(before)}"
    for key, old in before.items():
        new = now.get(key, now.get("cell_contents", MISSING))
        if new is MISSING:
            return f"{_entry(holder, key, function)} is gone"
        if not holder.stays(key, old, new):
            given, usual = _shown(new), _shown(old)
            same = given if given.startswith("another ") else f"another one, {given} as well"
            return f"{_entry(holder, key, function)} is {same if given == usual else f'{given} instead of {usual}'}"
    if new := [key for key in now if key not in holder.before]:
        return f"{_entry(holder, new[0], function)} is new"
    return f"{whole} has other keys, or another order of them"


def _entry(holder: Holder, key: object, function: Callable[..., Any]) -> str:
    """What a holder has under a key, as the program writes it, if that is found."""
    if isinstance(holder, Closure):
        return str(key)
    return entry(holder.held, key, function) or f"{key} of {_kind_of(holder)}"


def _kind_of(holder: Holder) -> str:
    """What a holder holds, in words."""
    held = holder.held
    if isinstance(held, dict) and "__name__" in held:
        return f"module {held['__name__']}"
    return f"a {held.__name__ if isinstance(held, type) else type(held).__name__}"


def _shown(value: object) -> str:
    """A value in a few characters."""
    if isinstance(value, (Tensor, np.ndarray)):
        return f"{'a tensor' if isinstance(value, Tensor) else 'an array'} of shape {tuple(value.shape)}"
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        text = repr(value)
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
    return f"another {type(value).__name__}"


def _departed(prepared: Prepared, leaves: Sequence[Any], names: Sequence[str]) -> str:
    """Which question about values has another answer."""
    program, guard = prepared.machinery.program, prepared.departed
    makers = {value: equation for equation in program.equations for value in equation.outputs}
    guards = program.guards if guard is None or guard < 0 else program.guards[guard : guard + 1]
    for place, value in zip(prepared.record.places, program.inputs, strict=True):
        for asked, expected in guards:
            if asked is value and isinstance(place, Argument) and leaves[place.number] != expected:
                number = place.number
                return f"{names[number]} is {leaves[number]} instead of {expected}, and the function asks for its value"
    sites = dict.fromkeys(describe(makers[value].site) for value, _ in guards if value in makers)
    if not sites:
        return "a question about values has another answer than before"
    first, *others = sites
    rest = f", or at {len(others)} other {'lines' if len(others) > 1 else 'line'}" if others else ""
    return f"a question about values has another answer than before, at {first}{rest}"


# 2. Records of other kinds


def _agreement(one: Kind, other: Kind) -> int:
    """How much two kinds of calls have in common."""
    same = 100 * (one.structure == other.structure) + (one.mode == other.mode) + (one.rules == other.rules)
    if one.structure == other.structure:
        same += sum(a == b for a, b in zip(one.leaves, other.leaves, strict=True))
    return same


def _other_kind(kind: Kind, known: Kind, leaves: Sequence[object], names: Sequence[str]) -> str:
    """The first thing in which a call differs from those that have a program."""
    if kind.structure != known.structure:
        return "the arguments are others, or nested otherwise"
    for name, leaf, found, expected in zip(names, leaves, kind.leaves, known.leaves, strict=True):
        if found != expected:
            return f"{name} {_argument(leaf, found, expected)}"
    if kind.aliases != known.aliases:
        return "two arguments are one tensor, or are no more"
    if kind.mode != known.mode:
        fields = [name for name in kind.mode._fields if getattr(kind.mode, name) != getattr(known.mode, name)]
        return f"it is called in another mode: {', '.join(fields)}"
    return "the default dtype, or the rule of promotion, is another one"


def _argument(leaf: object, found: Any, expected: Any) -> str:
    """In what an argument differs."""
    if isinstance(leaf, Tensor):
        ours = isinstance(expected, tuple) and isinstance(expected[0], type) and issubclass(expected[0], Tensor)
        return f"has {difference(found, expected)}" if ours else "is a tensor, and was none"
    if found is int:
        return "is an int that changes from call to call: it is an input of the program from now on"
    before = f" instead of {_shown(expected[1])}" if isinstance(expected, tuple) and expected[0] is type(leaf) else ""
    return f"is {_shown(leaf)}{before}"
