"""Made by scripts/stubs: the types of what is imported when it is first asked for."""

from __future__ import annotations
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
import functools
import inspect
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any
import numpy as np
from .._core import dtypes as _dtypes
from .._core.forks import give_way
from .._core.modes import FieldBlock, innermost, mode
from .._core.primitives import Carrier
from .._core.sites import depth
from .._core.trees import LEAF, flatten, unflatten
from .._numerics.random import Moment
from .._tape.memory import protect, version, written
from .._tape.recording import Obstacle
from .._tape.views import view
from .._tape.walk import pull_back
from .._tensor.tensor import Tensor
from ..nn.modules.module import Module
from .capture import Run, turn
from .costs import peak, works
from .holders import meaning
from .machinery import Machinery
from .numbers import Escaped, Root
from .program import DepartedError, acts
from .quick import GIVEN_UP, quick
from .recorder import CaptureError, RefusedError, clash, overlaps
from .records import Argument, Gradient, Place, Rate, Record, signature
from .report import Report
from .source import write
from .whole import recorded
ndarray = np.ndarray
REST = 64
QUICK = 4
PATIENCE = 8

class Prepared:
    """A record, and what runs its program."""

    def __init__(self, record: Record, fuse: bool, function: Callable[[Sequence[Any]], Any]) -> None:
        ...

    def arrays(self, leaves: Sequence[Any]) -> list[Any] | None:
        """The arrays for the program, if the record holds for this call."""

    def names(self, function: Callable[..., Any]) -> list[str]:
        """What the inputs are called where the function was written."""

    def _name(self, place: Place, parameters: list[str]) -> str:
        ...

    def clashes(self, leaves: Sequence[Any], arrays: list[Any]) -> bool:
        """Whether memory that is written cannot be, or is that of another input: then the function runs as it is."""

    def run(self, leaves: Sequence[Any], arrays: list[Any]) -> Any:
        """Run the program, and do what the function did with its results."""

    def _recorded(self, leaves: Sequence[Any], results: list[Any]) -> dict[int, Any]:
        """The outputs that require grad, as results of one operation on the tape."""

    def _tensors(self, leaves: Sequence[Any]) -> list[Any]:
        """All tensors that the function can reach."""

    def _again(self, leaves: Sequence[Any], args: list[Any], versions: list[int], g: Any) -> list[Any] | None:
        """The gradients with a history of their own: of the function itself, if a second run of it does the same again."""

    def _pull(self, g: Any, arrays: Any) -> list[Any]:
        """The gradients, by the program of the way back."""
    back: _Any
    execute: _Any
    function: _Any
    machinery: _Any
    quickened: _Any
    record: _Any

def _undone(execute: Callable[..., Any], drawn: Sequence[Any], *arrays: Any) -> Any:
    """What a program gives; where it departs, no random numbers have been drawn."""

def _seen_through(tensor: Any, steps: Sequence[Any]) -> Any:
    """A tensor's memory, seen through views, without history."""

class _Spent(Obstacle):
    """Stands for a graph that was walked, and freed, inside a compiled function."""

    def error(self, node: Any) -> Exception:
        """torch's error for a second backward."""

def _never(g: Any, arrays: Any) -> list[Any]:
    ...

def _spent(array: Any) -> Any:
    """A tensor that requires grad and whose graph is gone."""

class Compiled:
    """A function that is recorded when it is first called, and then run as a program: what `compile` returns."""

    def __init__(self, function: Callable[..., Any], *, fullgraph: bool=False, fuse: bool=True, lenient: bool=False) -> None:
        ...

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives."""

    def __get__(self, instance: Any, owner: Any=None) -> Any:
        ...

    def __reduce__(self) -> Any:
        """The function, by its name if that leads here; records belong to this process, and to what they were made of."""

    def _run(self, prepared: Prepared, key: Any, leaves: list[Any], structure: Any) -> Any:
        """What a program gives, or the function where that is to run as it is; GIVEN_UP where the record does not hold."""

    def _plainly(self, leaves: Sequence[Any], structure: Any) -> Any:
        """What the function itself gives."""

    def _record(self, key: Any, leaves: list[Any], structure: Any) -> Any:
        """Run the function, and keep a record of the run; its result where it cannot be kept, GIVEN_UP where it cannot be recorded."""

    def _made(self, key: Any, leaves: list[Any], structure: Any) -> Any:
        """A run of the function, with floats that are constant where they cannot be traced."""

    def _newest(self) -> Prepared:
        """The record that was made last."""

    @property
    def ir(self) -> str:
        """The program of the newest record, simplified: one equation a line."""

    @property
    def source(self) -> str:
        """The program as a function of NumPy calls that needs nothing else, with the lines it came from as comments."""

    @property
    def llvm(self) -> str:
        """The machine code of the newest record as LLVM's text; empty without llvmlite."""

    def report(self) -> Report:
        """What the program does, what that must cost on this machine, and why the function was recorded anew."""

    def _make_quick(self, prepared: Prepared, leaves: list[Any], structure: Any) -> None:
        """Write down the quick way of a record, for calls whose arguments are not nested."""

    @property
    def _name(self) -> str:
        ...

    def _refuse(self, key: Any, reason: str) -> None:
        ...
    _constant: _Any
    _quick: _Any
    _rest: _Any
    _told: _Any
    _tries: _Any
    fullgraph: _Any
    function: _Any
    fuse: _Any
    lenient: _Any
    reasons: _Any
    records: _Any
    refused: _Any

@_overload
def compile(model: _T, *, fullgraph: bool=False, dynamic: bool | None=None, backend: object=None, mode: str | None=None, options: _Mapping[str, object] | None=None, disable: bool=False, fuse: bool=True, lenient: bool=False) -> _T:
    ...

@_overload
def compile(model: None=None, *, fullgraph: bool=False, dynamic: bool | None=None, backend: object=None, mode: str | None=None, options: _Mapping[str, object] | None=None, disable: bool=False, fuse: bool=True, lenient: bool=False) -> _Callable[[_T], _T]:
    ...

class CompiledModule(Module):
    """A module whose calls are compiled; parameters and all else are those of the module it was made of."""

    def __init__(self, module: Module, **how: bool) -> None:
        ...

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module gives."""

    def __getattr__(self, name: str) -> Any:
        ...
    _orig_mod: _Any

def _kind(leaf: Any) -> Any:
    """What of an argument decides which record holds."""

def _typed(structure: Any) -> Any:
    """A structure whose keys are compared by what they mean: 1, 1.0 and True are three."""

def _aliases(leaves: Sequence[Any]) -> tuple[int, ...] | None:
    """Which arguments are one tensor; None if all are others."""
