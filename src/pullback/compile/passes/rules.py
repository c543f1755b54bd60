"""Tables of rules: which primitives a rule is about."""

from __future__ import annotations

from collections.abc import Callable

from .building import Rule, Table


class Rules:
    """A table that grows by a decorator: `@rules("add", "subtract")` above each rule."""

    def __init__(self) -> None:
        self.table: Table = {}

    def __call__(self, *names: str) -> Callable[[Rule], Rule]:
        """The decorator that makes a rule one about the primitives of those names."""

        def register(rule: Rule) -> Rule:
            for name in names:
                self.table[name] = (*self.table.get(name, ()), rule)
            return rule

        return register


def joined(*tables: Table) -> Table:
    """One table of several, each rule in its order."""
    found: Table = {}
    for table in tables:
        for name, rules in table.items():
            found[name] = (*found.get(name, ()), *rules)
    return found
