"""Made by scripts/stubs: the types of what is imported when it is first asked for."""

from collections.abc import Callable as _Callable
from collections.abc import Iterable as _Iterable
from collections.abc import Mapping as _Mapping
from typing import Any as _Any
from typing import Concatenate as _Concatenate
from typing import Literal as _Literal
from typing import ParamSpec as _ParamSpec
from typing import Self as _Self
from typing import TypeVar as _TypeVar
from typing import overload as _overload

import numpy as _np

from pullback._tensor.tensor import Tensor as _Tensor

_A = _TypeVar("_A")
_B = _TypeVar("_B")
_P = _ParamSpec("_P")
_R = _TypeVar("_R")
_T = _TypeVar("_T")
_V = _TypeVar("_V", bound=_Tensor)
_Numbers = _np.ndarray[_Any, _Any] | _np.generic | complex | list[_Any]
_TensorLike = _Tensor | _Numbers
_First = _Callable[_Concatenate[_A, _P], _R]
_Second = _Callable[_Concatenate[_A, _B, _P], _R]
from typing import Self as _Self
import contextvars
import functools
import inspect
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
import numpy as np
from .._core import xp as _xp
from .._core.errors import kind, modified
from .._core.modes import FieldBlock, Mode, mode, running, under
from .._core.primitives import Carrier, general, linear
from .._core.sites import caller
from .._core.trees import flatten, paths, unflatten
from .._numerics.random import Moment, sources
from .._tape.memory import version
from .._tape.node import AccumulateGrad, Node, count, hooks_of, leaf
from .._tape.recording import Freed, Tape
from .._tape.views import alias
from .._tape.walk import Pass
from .checkpointing import CheckpointError, Kept

def reach(places: int, times: int) -> int:
    ...

def least_times(length: int, places: int) -> int:
    ...

def least_runs(length: int, places: int) -> int:
    ...

def next_stored(length: int, places: int) -> int:
    ...

class State(NamedTuple):
    ...
    position: int
    leaves: Sequence[Any]
    tracked: Sequence[bool]

class Stored(NamedTuple):
    ...
    position: int
    leaves: Sequence[Any]
    tracked: Sequence[bool]
    moment: Moment

    def state(self) -> State:
        ...

class Taken(NamedTuple):
    ...
    position: int
    leaves: Sequence[Any]
    starts: Sequence[Node | None]
    since: int

    def state(self) -> State:
        ...

    def graph(self) -> tuple[list[Node], list[Node]]:
        ...

def _age(node: Node) -> int:
    ...
_STATE = linear('checkpointed_state', lambda xp, g: g, forward=lambda x: x, title='CheckpointLoopState')

class Nested(Exception):
    ...
UNHOOKED = functools.partial(FieldBlock, pack=None, unpack=None)

class Loop:
    ...

    def __init__(self, step: Callable[..., Any], x: Any, n: int, slots: int, preserve_rng_state: bool) -> None:
        ...

    def whole(self, leaves: Sequence[Any]) -> Sequence[Any]:
        ...

    def call(self, leaves: Sequence[Any], position: int) -> list[Any]:
        ...

    def take(self, state: State) -> Taken:
        ...

    def store(self, state: State, hooks: Mode) -> Stored:
        ...

    def reach(self, stored: list[Stored], end: int, hooks: Mode, *, first: bool=False) -> Taken:
        ...

    def notice(self, taken: Taken) -> None:
        ...

    def recorded(self) -> Any:
        ...

    def pull(self, xp: Any, cotangents: Sequence[Any]) -> list[Any]:
        ...

    def pull_steps(self, stored: list[Stored], cotangents: Sequence[Any], pending: dict[Node, Any], around: tuple[Any, bool, Mode]) -> None:
        ...

    def unhooked(self, leaves: Sequence[Any]) -> Sequence[Any]:
        ...

    def part(self, around: Pass | None, *, raw: bool=False, recorded: bool=False) -> Pass:
        ...

    def back(self, walker: Pass, taken: Taken, cotangents: Sequence[Any], pending: dict[Node, Any]) -> list[Any]:
        ...
    began: _Any
    context: _Any
    indexed: _Any
    last: _Any
    leaves: _Any
    n: int
    outside: _Any
    slots: int
    sources: _Any
    start: _Any
    step: Callable[..., Any]
    stored: _Any
    structure: _Any
    tape: _Any

def _walked(walker: Pass, order: Any, pending: dict[Any, Any]) -> None:
    ...

def _leaf(node: Node) -> Any:
    ...

def _takes_the_index(step: Callable[..., Any]) -> bool:
    ...

def _pull_loop(xp: Any, g: Any, loop: Loop, *, given: Sequence[bool]) -> list[Any]:
    ...
_LOOP = general('checkpoint_loop', forward=lambda loop, *outside: loop, inputs=('loop', '*outside'), joint=_pull_loop, halves='as written', title='CheckpointLoopBackward', complex='as written')

def checkpoint_loop(step: _Callable[..., _T], x: _T, n: int, slots: int, *, preserve_rng_state: bool=True) -> _T:
    ...

def _number(name: str, value: Any, least: int) -> int:
    ...
