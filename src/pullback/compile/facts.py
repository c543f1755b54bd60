"""Facts: what must still be so for a record to hold, of things that are always the same objects.

A fact can be asked in Python, by the expression that says it, or by machine code that looks at the same things in memory
(`machine.watching`); so it says what it wants of its object, and nothing of how it is looked up.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .state import Closure, Facets, Holder, Mapping, Members, Named, Sequence

Naming = Callable[[Any], str]
MISSING = object()
GONE = (AttributeError, KeyError, ValueError)
"""What is raised where something is there no more, a closure's variable for one."""


class Fact:
    """Something that must still be so."""

    held: Any

    def expression(self, name: Naming) -> str:
        """The Python expression that is true as long as it is so; `name` gives names to objects."""
        raise NotImplementedError

    def renewed(self) -> Fact:
        """The same of what is there now, which has been found to mean the same."""
        return self


@dataclass(frozen=True, slots=True, eq=False)
class Attribute(Fact):
    """An attribute is this object."""

    held: Any
    attribute: str
    value: Any

    def expression(self, name: Naming) -> str:
        """`held.attribute is value`."""
        return f"{name(self.held)}.{self.attribute} is {name(self.value)}"

    def renewed(self) -> Fact:
        """The same of what is there now."""
        return Attribute(self.held, self.attribute, getattr(self.held, self.attribute))


@dataclass(frozen=True, slots=True, eq=False)
class Entry(Fact):
    """A dictionary has this object under a key."""

    held: dict[Any, Any]
    key: Any
    value: Any

    def expression(self, name: Naming) -> str:
        """`held.get(key) is value`, where None is not what stands for a missing key."""
        missing = f", {name(MISSING)}" if self.value is None else ""
        return f"{name(self.held)}.get({name(self.key)}{missing}) is {name(self.value)}"

    def renewed(self) -> Fact:
        """The same of what is there now."""
        return Entry(self.held, self.key, self.held[self.key])


@dataclass(frozen=True, slots=True, eq=False)
class Absent(Fact):
    """A dictionary has nothing under a key."""

    held: dict[Any, Any]
    key: Any

    def expression(self, name: Naming) -> str:
        """`key not in held`."""
        return f"{name(self.key)} not in {name(self.held)}"


@dataclass(frozen=True, slots=True, eq=False)
class Entries(Fact):
    """A dictionary has these entries and no others, in this order; under the keys of `floats` it has any floats."""

    held: Any
    entries: dict[Any, Any]
    floats: frozenset[Any] = frozenset()

    def expression(self, name: Naming) -> str:
        """Of keys and values, by their identities; where floats may change, one by one."""
        held = name(self.held)
        if not self.entries:
            return f"not {held}"
        keys = f"tuple({held}) == {name(tuple(self.entries))}"
        if not self.floats:
            return f"tuple(map(id, {held}.values())) == {name(tuple(map(id, self.entries.values())))} and {keys}"
        floats = [f"type({held}[{name(key)}]) is float" for key in self.floats]
        others = [
            f"{held}[{name(key)}] is {name(value)}" for key, value in self.entries.items() if key not in self.floats
        ]
        return " and ".join([keys, *floats, *others])

    def renewed(self) -> Fact:
        """The same of what is there now."""
        return Entries(self.held, dict(self.held), self.floats)


@dataclass(frozen=True, slots=True, eq=False)
class Items(Fact):
    """A list, deque or set has these items, in this order."""

    held: Any
    items: tuple[Any, ...]

    def expression(self, name: Naming) -> str:
        """By their identities."""
        held = name(self.held)
        return f"tuple(map(id, {held})) == {name(tuple(map(id, self.items)))}" if self.items else f"not {held}"

    def renewed(self) -> Fact:
        """The same of what is there now."""
        return Items(self.held, tuple(self.held))


@dataclass(frozen=True, slots=True, eq=False)
class Told(Fact):
    """A holder of the state says itself whether it is what it was."""

    held: Holder

    def expression(self, name: Naming) -> str:
        """`holder.same()`."""
        return f"{name(self.held)}.same()"


def facts(holder: Holder) -> list[Fact]:
    """The facts that say that a holder of the state is what it was; none for one that cannot change."""
    held, before = holder.held, holder.before
    if isinstance(holder, Members):
        (members,) = gc.get_referents(vars(held))  # the dictionary that the class shows read-only
        return [Entries(members, dict(members) if holder.same() else before)]
    if isinstance(holder, Facets):
        return [Attribute(held, name, value) for name, value in before.items()]
    if isinstance(holder, Mapping):
        if any(type(before[key]) is not float for key in holder.moving):
            return [Told(holder)]
        return [Entries(held, before, frozenset(holder.moving))]
    if isinstance(holder, Sequence):
        if isinstance(held, tuple | frozenset):
            return []
        return [Items(held, tuple(before.values()))]
    if isinstance(holder, Closure) and before:
        return [Attribute(held, "cell_contents", before["contents"])]
    if isinstance(holder, Named) and type(held) is dict:
        return [*[Entry(held, *entry) for entry in before.items()], *[Absent(held, name) for name in holder.absent]]
    return [Told(holder)]
