"""Rules of derivatives for the native core: each is called once with symbols, which note what it does with them.

So no rule is written again in C. A rule that does more than call a few functions of arrays stays Python's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .._core import xp as _xp
from .._core.composing import signature, worth_of
from .._core.primitives import Function

if TYPE_CHECKING:
    from .._core.primitives import Rule
    from .node import Node

Told = tuple[tuple[float, ...], tuple[tuple[Any, tuple[int, ...]], ...]]
"""The constants of a rule, and its steps: functions with the places of their arguments.

Places count the cotangent, the saved values, the constants, and then what each step gives.
"""
STEPS = 8
NUMBERS = {int, float}


class _UntoldError(Exception):
    """Raised where a rule asks a symbol for more than to be computed with."""


class _Notes:
    """What a rule has done so far."""

    def __init__(self) -> None:
        self.constants: list[float] = []
        self.steps: list[tuple[Function, list[Symbol]]] = []

    def step(self, function: Function, *args: object) -> Symbol:
        """The symbol of what a function gives."""
        self.steps.append((function, [each if isinstance(each, Symbol) else self._constant(each) for each in args]))
        return Symbol(self, "step", len(self.steps) - 1)

    def _constant(self, value: object) -> Symbol:
        if not isinstance(value, (int, float)) or type(value) not in NUMBERS:
            raise _UntoldError
        self.constants.append(value)
        return Symbol(self, "constant", len(self.constants) - 1)

    def told(self, given: int) -> Told:
        """What was done, in places, where so many values are given."""
        before = {"given": 0, "constant": given, "step": given + len(self.constants)}
        steps = [(function, tuple([before[x.kind] + x.index for x in args])) for function, args in self.steps]
        return tuple(self.constants), tuple(steps)


class Symbol:
    """A value of which is noted what is computed from it; anything else that is done with it raises."""

    __slots__ = ("notes", "kind", "index")

    def __init__(self, notes: _Notes, kind: str, index: int) -> None:
        self.notes, self.kind, self.index = notes, kind, index

    def __bool__(self) -> bool:
        raise _UntoldError

    def __getattr__(self, name: str) -> NoReturn:
        raise _UntoldError


def _operator(function: Function, *, swapped: bool = False) -> Callable[..., Symbol]:
    def method(self: Symbol, *others: object) -> Symbol:
        return self.notes.step(function, *others, self) if swapped else self.notes.step(function, self, *others)

    return method


ARITHMETIC: dict[str, Function] = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide}
OTHERS: dict[str, Function] = {
    "neg": np.negative, "and": np.bitwise_and, "or": np.bitwise_or, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal,
}  # fmt: skip
for _name, _function in (ARITHMETIC | OTHERS).items():
    setattr(Symbol, f"__{_name}__", _operator(_function))
for _name, _function in ARITHMETIC.items():
    setattr(Symbol, f"__r{_name}__", _operator(_function, swapped=True))


class _Namespace:
    """The functions that a rule may call, of arrays and numbers by position alone."""

    def __init__(self, notes: _Notes) -> None:
        self._notes = notes

    def __getattr__(self, name: str) -> Callable[..., Symbol]:
        function = getattr(_xp, name)
        if not callable(function):
            raise _UntoldError

        def noted(*args: object) -> Symbol:
            return self._notes.step(function, *args)

        return noted


def _told(rule: Rule, places: dict[str, int]) -> Told | None:
    """What one rule does; None if it cannot be told."""
    names, metadata = signature(rule)
    if metadata or any(name not in places for name in names):
        return None
    notes = _Notes()
    try:
        result = rule(_Namespace(notes), Symbol(notes, "given", 0), *[Symbol(notes, "given", places[n]) for n in names])
    except (_UntoldError, TypeError):  # TypeError: a symbol is no number, has no length, and no function takes keywords
        return None
    last = ("step", len(notes.steps) - 1) if notes.steps else ("given", 0)
    if not isinstance(result, Symbol) or (result.kind, result.index) != last:
        return None
    longest = max([len(args) for _, args in notes.steps], default=0)
    given = 1 + len(places)
    fits = len(notes.steps) <= STEPS and longest <= 3 and given + len(notes.constants) + len(notes.steps) <= 2 * STEPS
    return notes.told(given) if fits else None


def traced(cls: type[Node]) -> tuple[int, int, tuple[Told | None, ...]] | None:
    """What the core is told of the rules of a class of nodes: how many values these save, the size from which machine code may
    apply them, and each of them; None where they stay Python's.
    """
    primitive = getattr(cls, "primitive", None)
    if primitive is None or primitive.of_user or primitive.joint is not None or primitive.variadic:
        return None
    if primitive.outputs > 1 or primitive.halves == "as singles" or cls.pull is not primitive.pull:
        return None
    if not 0 < len(primitive.rules) <= 3 or any(primitive.starred(name) != name for name in primitive.saved):
        return None
    places = {name: place for place, name in enumerate(primitive.saved, 1)}
    told = [None if rule is None else _told(rule, places) for rule in primitive.rules]
    if len(places) > 3 or any(
        made is None for made, rule in zip(told, primitive.rules, strict=True) if rule is not None
    ):
        return None
    large = worth_of(primitive) if primitive.kind == "elementwise" and primitive.saved else sys.maxsize
    return len(places), large, tuple(told)
