"""Kinds of calls: which calls of a compiled function the same records serve.

A kind is what decides which program runs, besides what the function reads by itself: how the arguments are nested, shapes and
dtypes of tensors, values of other arguments, modes. Floats are inputs of the program. An int is a part of the kind until a
second value has been seen in its place: then it is an input as well, unless the function asks for its value, as `range` does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import Tensor
from .._core import dtypes
from .._core.package import package
from .holders import Passed, meaning, passed
from .numbers import FLOATS, LARGEST
from .records import signature

if TYPE_CHECKING:
    from .._core.modes import Mode
    from .._core.trees import Structure
    from .._core.typing import Threshold
    from .prepared import Prepared

IDLE: Threshold = (
    16  # records for values of ints or arrays, of which none served a second call, before no more are made
)
INTS_REASON = (
    f"it was recorded for {IDLE} values of an int argument in turn, none of which came twice: where it asks for the value, "
    "as range, an index or a shape does, each has a program of its own"
)
ARRAYS_REASON = (
    f"it was recorded for {IDLE} arrays in turn, none of which came twice: the numbers of a NumPy array are a part of the "
    f"program, those of a tensor are read at each call, so pass {package}.tensor(array)"
)
PLACES: Threshold = 256  # kinds whose ints are remembered


class Kind(NamedTuple):
    """What calls have in common that the same records serve."""

    structure: Structure
    leaves: tuple[Hashable, ...]
    aliases: tuple[int, ...] | None
    mode: Mode
    rules: Hashable

    @property
    def inputs(self) -> frozenset[int]:
        """The arguments that are ints and inputs of the program."""
        return frozenset(i for i, leaf in enumerate(self.leaves) if leaf is int)


class _Ints:
    """The ints among the arguments of calls that agree in all else."""

    def __init__(self, values: dict[int, int]) -> None:
        self._first = values
        self._inputs: set[int] = set()
        self._asked: set[int] = set()
        self.latest: deque[Prepared] = deque(maxlen=IDLE)

    def inputs(self, values: dict[int, int]) -> set[int]:
        """The arguments that are inputs of the program for such values: those that have been others before."""
        self._inputs |= {i for i, value in values.items() if i not in self._asked and value != self._first[i]}
        return {i for i in self._inputs if -LARGEST <= values[i] <= LARGEST}

    def ask(self, arguments: frozenset[int]) -> None:
        """Have arguments be a part of the kind from now on."""
        self._asked |= arguments
        self._inputs -= arguments


class Kinds:
    """The kinds of calls of one function, and what is known of ints among its arguments."""

    def __init__(self) -> None:
        self._ints: dict[Kind, _Ints] = {}

    def of(self, leaves: Sequence[object], structure: Structure, mode: Mode) -> Kind:
        """The kind of a call."""
        kind = Kind(_typed(structure), tuple(map(_kind, leaves)), _aliases(leaves), mode, dtypes.rules())
        return self._with_inputs(kind, leaves)

    def ask(self, kind: Kind, leaves: Sequence[object], asked: frozenset[int]) -> Kind:
        """The kind of a call whose function has asked for the values of some ints."""
        self._known(kind, leaves, _ints(leaves)).ask(asked)
        return self._with_inputs(kind._replace(leaves=tuple(map(_kind, leaves))), leaves)

    def note(self, kind: Kind, leaves: Sequence[object], prepared: Prepared) -> None:
        """Note a record that was made for the values of ints, or for arrays."""
        changing = _changing(leaves)
        if len(changing) > len(kind.inputs):
            self._known(kind, leaves, changing).latest.append(prepared)

    def forget(self) -> None:
        """Forget what is known of the ints of calls with arguments that are gone."""
        for kind in [*self._ints]:
            if any(type(leaf) is Passed and leaf.value() is None for leaf in kind.leaves):
                self._ints.pop(kind, None)

    def idle(self, kind: Kind, leaves: Sequence[object]) -> str:
        """What to say if the latest records for other values of ints, or other arrays, have not served a second call."""
        changing = _changing(leaves)
        if len(changing) == len(kind.inputs):
            return ""
        latest = self._known(kind, leaves, changing).latest
        if len(latest) < IDLE or any(prepared.reused for prepared in latest):
            return ""
        return ARRAYS_REASON if any(isinstance(leaves[i], np.ndarray) for i in changing) else INTS_REASON

    def _with_inputs(self, kind: Kind, leaves: Sequence[object]) -> Kind:
        values = _ints(leaves)
        return _replaced(kind, leaves, self._known(kind, leaves, values).inputs(values)) if values else kind

    def _known(self, kind: Kind, leaves: Sequence[object], places: Container[int]) -> _Ints:
        """What is known of the ints of calls that differ from this one in nothing else than some arguments."""
        general = _replaced(kind, leaves, places)
        found = self._ints.get(general)
        if found is None:
            while len(self._ints) >= PLACES:
                del self._ints[next(iter(self._ints))]
            found = self._ints.setdefault(general, _Ints(_ints(leaves)))
        return found


def _ints(leaves: Sequence[object]) -> dict[int, int]:
    """The arguments that are ints, by their numbers."""
    return {i: leaf for i, leaf in enumerate(leaves) if type(leaf) is int}


def _changing(leaves: Sequence[object]) -> list[int]:
    """The numbers of the arguments that are ints or arrays, whose values may be a part of the program."""
    return [i for i, leaf in enumerate(leaves) if type(leaf) is int or isinstance(leaf, np.ndarray)]


def _replaced(kind: Kind, leaves: Sequence[object], places: Container[int]) -> Kind:
    """A kind in which the classes of some arguments, as of ints that are inputs, stand for their values."""
    classes: list[Hashable] = [*map(type, leaves)]
    return kind._replace(leaves=tuple(classes[i] if i in places else leaf for i, leaf in enumerate(kind.leaves)))


def _kind(leaf: object) -> Hashable:
    """What of an argument decides which record holds."""
    if isinstance(leaf, Tensor):
        return signature(leaf)
    if type(leaf) in FLOATS:
        return (type(leaf),)
    return Passed(leaf) if passed(leaf) else meaning(leaf)


def _typed(structure: Structure) -> Structure:
    """A structure whose keys are compared by what they mean: 1, 1.0 and True are three."""
    children = tuple(map(_typed, structure.children))
    return structure._replace(keys=tuple(map(meaning, structure.keys)), children=children)


def _aliases(leaves: Sequence[object]) -> tuple[int, ...] | None:
    """Which arguments are one tensor; None if all are others."""
    tensors = [id(leaf) for leaf in leaves if isinstance(leaf, Tensor)]
    return None if len(set(tensors)) == len(tensors) else tuple(map(tensors.index, tensors))
