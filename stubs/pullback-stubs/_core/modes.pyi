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
import contextvars
import functools
import importlib
import itertools
from collections import deque
from collections.abc import Callable
from operator import call
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar
import numpy as np
if TYPE_CHECKING:
    from .primitives import Primitive
    from .typing import Tensor, Tensors
Function = TypeVar('Function', bound=Callable[..., Any])
Result = TypeVar('Result')

class Mode(NamedTuple):
    ...
    grad: bool = True
    inference: bool = False
    enabled: bool = False
    pack: Callable[[Any], Any] | None = None
    unpack: Callable[[Any], Any] | None = None
    hooks_refused: str | None = None
    compute: Callable[..., Any] | None = None
    created: Callable[[Any], None] | None = None
    watcher: Any = None
    observer: Any = None
    escapes_refused: str = ''
    strong_zeros: bool = False
    programs: frozenset[str] = frozenset()
    alone: Callable[..., Any] | None = None
    copied: Callable[[Any], None] | None = None
    early_stop: bool | None = None
    debugging: bool | None = None
RECORD = Mode()
NO_GRAD = Mode(grad=False)
mode: contextvars.ContextVar[Mode] = contextvars.ContextVar('pullback.mode', default=RECORD)
running: contextvars.ContextVar[Any] = contextvars.ContextVar('pullback.pass', default=None)
innermost: contextvars.ContextVar[Any] = contextvars.ContextVar('pullback.innermost', default=None)
asking: contextvars.ContextVar[FrameType | None] = contextvars.ContextVar('pullback.asking', default=None)
losses: contextvars.ContextVar[list[Any] | None] = contextvars.ContextVar('pullback.losses', default=None)
refusals: contextvars.ContextVar[list[Exception] | None] = contextvars.ContextVar('pullback.refusals', default=None)
dual: contextvars.ContextVar[Any] = contextvars.ContextVar('pullback.dual', default=None)
state_asked: contextvars.ContextVar[Callable[[], object] | None] = contextvars.ContextVar('pullback.state_asked', default=None)
entered = itertools.count(1)
_STATE: tuple[contextvars.ContextVar[Any], ...] = (mode, innermost, running, asking, losses, refusals, dual, state_asked)
_ASK, _SET = (tuple((each.get for each in _STATE)), tuple((each.set for each in _STATE)))

def like(function: Function) -> Callable[[Callable[..., Any]], Function]:
    ...

def restoring(function: Function) -> Function:
    ...

def under(variable: contextvars.ContextVar[Any], value: Any, function: Callable[..., Result], *args: Any) -> Result:
    ...

def set_all(values: dict[contextvars.ContextVar[Any], Any]) -> None:
    ...

class ValuesBlock:
    ...

    def __init__(self) -> None:
        ...

    def _values(self) -> dict[Any, Any]:
        ...

    def __enter__(self) -> Self:
        ...

    def __exit__(self, *exc: object) -> None:
        ...
    _around: _Any

def changed(current: Mode | None=None, /, **fields: Any) -> Mode:
    ...

def _observer(new: Mode) -> Any:
    ...

def is_grad_enabled() -> bool:
    ...

def _switched(enabled: bool) -> dict[str, object]:
    ...

def is_inference_mode_enabled() -> bool:
    ...

class ModeBlock:
    ...

    def __init__(self) -> None:
        ...

    def _fields(self) -> dict[str, object]:
        ...

    def _fresh(self) -> ModeBlock:
        ...

    def __enter__(self) -> Self:
        ...

    def __exit__(self, *exc: object) -> None:
        ...
    _left: Callable[[object], None] | None = None

    def __call__(self, function: Function) -> Function:
        ...
    _around: _Any

def _wrap_generator(block: ModeBlock, function: Function) -> Function:
    ...

class _Switch(ModeBlock):
    ...
    _field: str
    _value: object = True

    def _fields(self) -> dict[str, object]:
        ...

    @_overload
    def __new__(cls, function: None=None) -> _Self:
        ...

    @_overload
    def __new__(cls, function: _F) -> _F:
        ...

    def __init__(self, function: None=None) -> None:
        ...

class no_grad(_Switch):
    ...

    def _fields(self) -> dict[str, object]:
        ...

class enable_grad(_Switch):
    ...

    def _fields(self) -> dict[str, object]:
        ...

class no_escapes(_Switch):
    ...
    _field, _value = ('escapes_refused', 'no_escapes')

class strong_zeros(_Switch):
    ...
    _field = 'strong_zeros'

def _require_bool(name: str, argument: str, value: object) -> bool:
    ...

class set_grad_enabled(ModeBlock):
    ...

    def __init__(self, enabled: bool) -> None:
        ...

    def _fields(self) -> dict[str, object]:
        ...

    def _fresh(self) -> ModeBlock:
        ...

    def __enter__(self) -> Self:
        ...

    def __call__(self, function: Function) -> Function:
        ...
    _before: _Any
    _enabled: _Any

class inference_mode(ModeBlock):
    ...

    @_overload
    def __new__(cls, mode: bool=True) -> _Self:
        ...

    @_overload
    def __new__(cls, mode: _F) -> _F:
        ...

    def __init__(self, mode: bool=True) -> None:
        ...

    def _fields(self) -> dict[str, object]:
        ...

    def _fresh(self) -> ModeBlock:
        ...
    _enabled: _Any

class FieldBlock(ModeBlock):
    ...

    def __init__(self, **fields: Any) -> None:
        ...

    def _fields(self) -> dict[str, object]:
        ...

    def _fresh(self) -> ModeBlock:
        ...
    _values: _Any

class _Errstate:
    ...

    def __init__(self, states: dict[str, Any], told: Callable[[str, int], None] | None) -> None:
        ...

    def copy(self) -> _Errstate:
        ...

    def run(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        ...
    _get: _Any
    _set: _Any
    _state: _Any

class Computing:
    ...

    def __init__(self, told: Callable[[str, int], None] | None=None) -> None:
        ...

    def run(self, function: Callable[..., Result], *args: Any, **options: Any) -> Result:
        ...
    copy: _Any
quiet = Computing()

class _Creation:
    ...
    copy = quiet.copy
    unseen = ()

    def __init__(self, before: Callable[[Any], None] | None=None) -> None:
        ...

    def __call__(self, tensor: Tensor) -> None:
        ...

    def sees(self, primitive: Primitive, params: object, arrays: object, tensor: Tensors) -> None:
        ...
    before: Callable[[Any], None] | None

def observed() -> bool:
    ...
WITHIN_NO_GRAD = Mode(grad=False, created=_Creation())
WITHIN = Mode(created=WITHIN_NO_GRAD.created, observer=WITHIN_NO_GRAD.created)

def within() -> Mode:
    ...
