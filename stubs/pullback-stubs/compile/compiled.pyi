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
import os
import sys
from collections import Counter, deque
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import ref
from .._core.errors import UncompiledError
from .._core.forks import exchanging, give_way, swapping
from .._core.lazy import provider
from .._core.modes import innermost, mode
from .._core.recompiling import allow
from ..extend import warn
from ..nn.modules.module import Module
from ..utils.trees import LEAF, flatten, unflatten
from .capture import CapturedRun
from .costs import peak, works
from .holders import Passed, meaning
from .kinds import Kind, Kinds
from .machinery import Machinery
from .numbers import Escaped, Root
from .paths import title
from .prepared import Prepared, spent
from .profiling import profiled
from .program import DepartedError
from .quick import GIVEN_UP, QuickCalls, quick
from .reasons import FIRST, why
from .records import Record
from .refusals import CaptureError, RefusedError
from .report import Report
from .source import write
if TYPE_CHECKING:
    from pathlib import Path
    from .._core.trees import Structure
    from .._core.typing import Threshold
    from .placed import Placed
REST = 64
QUICK = 4
PATIENCE = 8
RECORDS: Threshold = 1024
REASONS: Threshold = 64
KINDS: Threshold = 256

class Compiled:
    ...

    def __init__(self, function: Callable[..., Any], *, fullgraph: bool=False, fuse: bool=True, lenient: bool=False) -> None:
        ...

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        ...

    def _looked_up(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        ...

    def _known(self, key: Kind, leaves: list[Any], structure: Structure) -> Any:
        ...

    def __get__(self, instance: Any, owner: type | None=None) -> Any:
        ...

    def __reduce__(self) -> Any:
        ...

    def _run(self, prepared: Prepared, key: Kind, leaves: list[Any], structure: Structure) -> Any:
        ...

    def _plainly(self, leaves: Sequence[Any], structure: Structure) -> Any:
        ...

    def _uncompiled(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        ...

    def _record(self, key: Kind, leaves: list[Any], structure: Structure) -> Any:
        ...

    def _mark(self, key: Kind) -> None:
        ...

    def _bury(self) -> None:
        ...

    def _drop(self, key: Kind) -> None:
        ...

    def _count(self, reason: str) -> None:
        ...

    def _make_room(self) -> None:
        ...

    def _prepared(self, record: Record, function: Callable[[Sequence[Any]], Any]) -> Prepared:
        ...

    def _made(self, key: Kind | None, leaves: list[Any], structure: Structure) -> tuple[Any, Record | None, str]:
        ...

    def recorded(self, leaves: list[Any], structure: Structure) -> tuple[Record | None, str]:
        ...

    def around(self, transform: Callable[..., Any], *args: Any, unless: Callable[[object], bool] | None=None, **options: Any) -> Callable[..., Any]:
        ...

    def on(self, engine: object) -> Placed:
        ...

    def export(self, folder: str | os.PathLike[str], /, *args: Any, name: str | None=None, math: str='own', fma: bool=False, products: str='loops', work: str='argument', parameters: str='passed', abi: str='plain', **kwargs: Any) -> Path:
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

    def report(self, *args: Any, profile: bool=False, **kwargs: Any) -> Report:
        ...

    def _of_call(self, leaves: list[Any], structure: Structure) -> Prepared:
        ...

    def _make_quick(self, prepared: Prepared, leaves: list[Any], structure: Structure) -> None:
        ...

    @property
    def _name(self) -> str:
        ...

    def _refuse(self, key: Kind, reason: str) -> None:
        ...

    def _say(self, reason: str) -> None:
        ...
    _alive: _Any
    _alone: _Any
    _around: _Any
    _busy: _Any
    _constant: _Any
    _gone: _Any
    _kinds: _Any
    _quick: _Any
    _rest: _Any
    _told: _Any
    _tries: _Any
    _unless: _Any
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

    def export(self, folder: str | os.PathLike[str], /, *args: Any, **kwargs: Any) -> Path:
        ...

    def on(self, engine: object) -> Placed:
        ...

    def __getattr__(self, name: str) -> Any:
        ...
    _orig_mod: Module
