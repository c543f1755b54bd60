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
_F = _TypeVar("_F", bound=_Callable[..., _Any])
_Numbers = _np.ndarray[_Any, _Any] | _np.generic | complex | list[_Any]
_TensorLike = _Tensor | _Numbers
_First = _Callable[_Concatenate[_A, _P], _R]
_Second = _Callable[_Concatenate[_A, _B, _P], _R]
from typing import Self as _Self
import functools
import sys
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any
import numpy as np
from .. import Tensor
from .._core import dtypes as _dtypes
from .._core.errors import UncompiledError
from .._core.forks import exchanging, give_way, swapping
from .._core.lazy import provider
from .._core.modes import FieldBlock, innermost, mode
from .._core.sites import warn
from .._core.xp import replay
from .._numerics.random import Moment
from .._tape.memory import owner, protect, storage_of, written
from .._tape.recording import Obstacle
from .._tape.views import alias, view
from .._tape.walk import pull_back
from ..nn.modules.module import Module
from ..observe import Snapshot, node as node_of, version
from ..utils.trees import LEAF, flatten, unflatten
from .capture import CapturedRun
from .costs import peak, works
from .holders import meaning
from .layouts import clash, order, overlaps
from .machinery import Machinery
from .numbers import Escaped, Root
from .program import DepartedError, Program, has_effect
from .quick import GIVEN_UP, quick
from .recorder import CaptureError, RefusedError
from .records import Record, Way, signature
from .report import Report
from .source import write
from .whole import recorded
if TYPE_CHECKING:
    from .._core.trees import Structure
    from .._core.typing import Array
    from .._numerics.random import Place as Random
    from .._tape.node import Node
    from .._tape.recording import Tape
    from .costs import Work
    from .placed import Placed
ndarray = np.ndarray
REST = 64
QUICK = 4
PATIENCE = 8
KINDS = 256

class Prepared:
    ...

    def __init__(self, record: Record, made: Callable[[Program], Machinery], function: Callable[[Sequence[Any]], Any]) -> None:
        ...

    def arrays(self, leaves: Sequence[Any]) -> list[Array] | None:
        ...

    def clashes(self, leaves: Sequence[Any], arrays: list[Array]) -> bool:
        ...

    def run(self, leaves: Sequence[Any], arrays: list[Array]) -> Any:
        ...

    def _made(self, leaves: Sequence[Any], results: list[Array]) -> list[Tensor]:
        ...

    def _recorded(self, way: Way, leaves: Sequence[Any], results: list[Array], arrays: list[Array]) -> dict[int, Tensor]:
        ...

    def _tensors(self, leaves: Sequence[object]) -> list[Tensor]:
        ...

    def _again(self, leaves: Sequence[Any], args: list[Tensor | Array], versions: list[int], g: Sequence[Any]) -> list[Tensor | None] | None:
        ...

    def _pull(self, g: Sequence[Any], arrays: Sequence[Any]) -> list[Array | None]:
        ...
    back: _Any
    execute: _Any
    function: Callable[[Sequence[Any]], Any]
    machinery: _Any
    quickened: _Any
    record: Record

def _undone(execute: Callable[..., list[Array]], drawn: Sequence[Random], *arrays: Array) -> list[Array]:
    ...

def _answer(kind: str, what: Any, leaves: Sequence[Any], made: Sequence[Tensor], answers: list[Any]) -> Any:
    ...

def _guard(tensors: Sequence[Tensor], node: Node) -> None:
    ...

class _Spent(Obstacle):
    ...

    def error(self, node: Node, order: Any=()) -> Exception:
        ...

def _never(g: Sequence[Any], arrays: Sequence[Any]) -> list[Array | None]:
    ...

def _spent(array: Array) -> Tensor:
    ...

class Compiled:
    ...

    def __init__(self, function: Callable[..., Any], *, fullgraph: bool=False, fuse: bool=True, lenient: bool=False) -> None:
        ...

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        ...

    def _known(self, key: Hashable, leaves: list[Any], structure: Structure) -> Any:
        ...

    def __get__(self, instance: Any, owner: type | None=None) -> Any:
        ...

    def __reduce__(self) -> Any:
        ...

    def _run(self, prepared: Prepared, key: Hashable, leaves: list[Any], structure: Structure) -> Any:
        ...

    def _plainly(self, leaves: Sequence[Any], structure: Structure) -> Any:
        ...

    def _uncompiled(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        ...

    def _record(self, key: Hashable, leaves: list[Any], structure: Structure) -> Any:
        ...

    def _prepared(self, record: Record, function: Callable[[Sequence[Any]], Any]) -> Prepared:
        ...

    def _made(self, key: Hashable | None, leaves: list[Any], structure: Structure) -> tuple[Any, Record | None, str]:
        ...

    def recorded(self, leaves: list[Any], structure: Structure) -> tuple[Record | None, str]:
        ...

    def on(self, engine: object) -> Placed:
        ...

    def _newest(self) -> Prepared:
        ...

    @property
    def ir(self) -> str:
        ...

    @property
    def source(self) -> str:
        ...

    @property
    def llvm(self) -> str:
        ...

    def report(self) -> Report:
        ...

    def _make_quick(self, prepared: Prepared, leaves: list[Any], structure: Structure) -> None:
        ...

    @property
    def _name(self) -> str:
        ...

    def _refuse(self, key: Hashable, reason: str) -> None:
        ...
    _constant: _Any
    _quick: _Any
    _rest: _Any
    _told: _Any
    _tries: _Any
    fullgraph: bool
    function: Callable[..., Any]
    fuse: bool
    lenient: bool
    reasons: _Any
    records: _Any
    refused: _Any

@_overload
def compile(model: _F, *, fullgraph: bool=False, dynamic: bool | None=None, backend: object=None, mode: str | None=None, options: _Mapping[str, object] | None=None, disable: bool=False, fuse: bool=True, lenient: bool=False) -> _F:
    ...

@_overload
def compile(model: None=None, *, fullgraph: bool=False, dynamic: bool | None=None, backend: object=None, mode: str | None=None, options: _Mapping[str, object] | None=None, disable: bool=False, fuse: bool=True, lenient: bool=False) -> _Callable[[_F], _F]:
    ...

class CompiledModule(Module):
    ...

    def __init__(self, module: Module, **how: bool) -> None:
        ...

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        ...

    def on(self, engine: object) -> Placed:
        ...

    def __getattr__(self, name: str) -> Any:
        ...
    _orig_mod: Module

def _kind(leaf: object) -> Hashable:
    ...

def _typed(structure: Structure) -> Structure:
    ...

def _aliases(leaves: Sequence[object]) -> tuple[int, ...] | None:
    ...
