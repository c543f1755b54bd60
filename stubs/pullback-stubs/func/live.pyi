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
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
import numpy as np
from .._core import errors
from .._core.modes import enable_grad, restoring
from .._core.primitives import Carrier, Function
from .._core.trees import flatten, paths, unflatten
from .._tape import backward
from .._tape.walk import youngest_first
from ..vocabulary.shapes import cat
from .levels import Level, tensor_of
from .rows import of_some_units, of_units
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable
    from .._core.typing import Targets, Tensor
MEMORY = 1 << 28

class Plan(NamedTuple):
    ...
    mode: str
    passes: int
    chunk_size: int

@_overload
def jacobian(y: _Tensor, x: _Tensor, *, mode: str | None=None, chunk_size: int | None=None, memory: int=MEMORY, create_graph: bool=False, allow_unused: bool=False, plan: _Literal[False]=False) -> _Tensor:
    ...

@_overload
def jacobian(y: _Tensor, x: _Tensor, *, mode: str | None=None, chunk_size: int | None=None, memory: int=MEMORY, create_graph: bool=False, allow_unused: bool=False, plan: _Literal[True]) -> tuple[_Tensor, Plan]:
    ...

@_overload
def jacobian(y: _Tensor, x: _Iterable[_Tensor], *, mode: str | None=None, chunk_size: int | None=None, memory: int=MEMORY, create_graph: bool=False, allow_unused: bool=False, plan: _Literal[False]=False) -> tuple[_Tensor, ...]:
    ...

@_overload
def jacobian(y: _Tensor, x: _Iterable[_Tensor], *, mode: str | None=None, chunk_size: int | None=None, memory: int=MEMORY, create_graph: bool=False, allow_unused: bool=False, plan: _Literal[True]) -> tuple[tuple[_Tensor, ...], Plan]:
    ...

def _plan(y: Tensor, inputs: Sequence[Tensor], mode: str | None, chunk_size: int | None, memory: int) -> Plan:
    ...

def _by_rows(y: Tensor, inputs: Sequence[Tensor], chunk_size: int, create_graph: bool, allow_unused: bool) -> list[Tensor]:
    ...

@restoring
def _by_columns(y: Tensor, inputs: Sequence[Tensor], chunk_size: int, create_graph: bool, allow_unused: bool) -> list[Tensor]:
    ...

def _pulled(y: Tensor, inputs: Sequence[Tensor], g: Tensor, create_graph: bool, allow_unused: bool) -> Any:
    ...

def _chunked(pull: Function, y: Tensor, chunk_size: int) -> list[Tensor | None]:
    ...

def _filled(rows: Tensor | None, shape: tuple[int, ...], like: Tensor) -> Tensor:
    ...

@_overload
def hessian(loss: _Tensor, x: _Tensor, *, chunk_size: int | None=None, memory: int=MEMORY, create_graph: bool=False, allow_unused: bool=False) -> _Tensor:
    ...

@_overload
def hessian(loss: _Tensor, x: _Iterable[_Tensor], *, chunk_size: int | None=None, memory: int=MEMORY, create_graph: bool=False, allow_unused: bool=False) -> tuple[tuple[_Tensor, ...], ...]:
    ...

def second(g: Tensor | None, a: Tensor, inputs: Sequence[Tensor], **options: Any) -> tuple[Tensor, ...]:
    ...

@_overload
def grad(outputs: _Any, inputs: dict[_T, _Any], grad_outputs: _Any=None, *, batched: bool=False, retain_graph: bool | None=None, create_graph: bool=False, allow_unused: _Literal[False] | None=None) -> dict[_T, _Tensor]:
    ...

@_overload
def grad(outputs: _Any, inputs: _Tensor | _Iterable[_Any], grad_outputs: _Any=None, *, batched: bool=False, retain_graph: bool | None=None, create_graph: bool=False, allow_unused: _Literal[False] | None=None) -> tuple[_Tensor, ...]:
    ...

@_overload
def grad(outputs: _Any, inputs: dict[_T, _Any], grad_outputs: _Any=None, *, batched: bool=False, retain_graph: bool | None=None, create_graph: bool=False, allow_unused: bool | None) -> dict[_T, _Tensor | None]:
    ...

@_overload
def grad(outputs: _Any, inputs: _Tensor | _Iterable[_Any], grad_outputs: _Any=None, *, batched: bool=False, retain_graph: bool | None=None, create_graph: bool=False, allow_unused: bool | None) -> tuple[_Tensor | None, ...]:
    ...

@_overload
def value_grad_hessian(f: _Callable[[_Tensor], _Tensor], *params: _Tensor) -> tuple[_Tensor, _Tensor, _Tensor]:
    ...

@_overload
def value_grad_hessian(f: _Callable[[_A], _Tensor], *params: _A) -> tuple[_Tensor, _A, _Any]:
    ...

@_overload
def value_grad_hessian(f: _Callable[..., _Tensor], *params: _Any) -> tuple[_Tensor, _Any, _Any]:
    ...
