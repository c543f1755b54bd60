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
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
import numpy as np
from .._core.modes import restoring
from .._core.primitives import Carrier, Function
from .._core.trees import Structure, flatten, mapped, paths, unflatten
from .._tape import reasons
from .._tape.cuts import strictly
from .._tape.seeds import cotangent
from .levels import Level, beside, chosen, compiled_around, is_row, output_leaves, require_numbers, require_tensors, tensor_of, tensors
if TYPE_CHECKING:
    from collections.abc import Callable
    from .._core.typing import Given, Tensor, Value

@_overload
def grad(f: _First[_V, _P, _Tensor], argnums: _Literal[0]=0, has_aux: _Literal[False]=False) -> _First[_V | _Numbers, _P, _V]:
    ...

@_overload
def grad(f: _First[_TensorLike, _P, _Tensor], argnums: _Literal[0]=0, has_aux: _Literal[False]=False) -> _First[_TensorLike, _P, _Tensor]:
    ...

@_overload
def grad(f: _First[_A, _P, _Tensor], argnums: _Literal[0]=0, has_aux: _Literal[False]=False) -> _First[_A, _P, _A]:
    ...

@_overload
def grad(f: _Second[_A, _B, _P, _Tensor], argnums: _Literal[1], has_aux: _Literal[False]=False) -> _Second[_A, _B, _P, _B]:
    ...

@_overload
def grad(f: _First[_A, _P, _Tensor], argnums: tuple[_Literal[0]], has_aux: _Literal[False]=False) -> _First[_A, _P, tuple[_A]]:
    ...

@_overload
def grad(f: _Second[_A, _B, _P, _Tensor], argnums: tuple[_Literal[0], _Literal[1]], has_aux: _Literal[False]=False) -> _Second[_A, _B, _P, tuple[_A, _B]]:
    ...

@_overload
def grad(f: _Callable[_P, _Tensor], argnums: tuple[int, ...], has_aux: _Literal[False]=False) -> _Callable[_P, tuple[_Any, ...]]:
    ...

@_overload
def grad(f: _First[_A, _P, tuple[_Tensor, _T]], argnums: _Literal[0]=0, *, has_aux: _Literal[True]) -> _First[_A, _P, tuple[_A, _T]]:
    ...

@_overload
def grad(f: _Callable[_P, _Any], argnums: int | tuple[int, ...]=0, has_aux: bool=False) -> _Any:
    ...

@_overload
def grad_and_value(f: _First[_V, _P, _Tensor], argnums: _Literal[0]=0, has_aux: _Literal[False]=False) -> _First[_V | _Numbers, _P, tuple[_V, _Tensor]]:
    ...

@_overload
def grad_and_value(f: _First[_TensorLike, _P, _Tensor], argnums: _Literal[0]=0, has_aux: _Literal[False]=False) -> _First[_TensorLike, _P, tuple[_Tensor, _Tensor]]:
    ...

@_overload
def grad_and_value(f: _First[_A, _P, _Tensor], argnums: _Literal[0]=0, has_aux: _Literal[False]=False) -> _First[_A, _P, tuple[_A, _Tensor]]:
    ...

@_overload
def grad_and_value(f: _Second[_A, _B, _P, _Tensor], argnums: _Literal[1], has_aux: _Literal[False]=False) -> _Second[_A, _B, _P, tuple[_B, _Tensor]]:
    ...

@_overload
def grad_and_value(f: _First[_A, _P, _Tensor], argnums: tuple[_Literal[0]], has_aux: _Literal[False]=False) -> _First[_A, _P, tuple[tuple[_A], _Tensor]]:
    ...

@_overload
def grad_and_value(f: _Second[_A, _B, _P, _Tensor], argnums: tuple[_Literal[0], _Literal[1]], has_aux: _Literal[False]=False) -> _Second[_A, _B, _P, tuple[tuple[_A, _B], _Tensor]]:
    ...

@_overload
def grad_and_value(f: _Callable[_P, _Tensor], argnums: tuple[int, ...], has_aux: _Literal[False]=False) -> _Callable[_P, tuple[tuple[_Any, ...], _Tensor]]:
    ...

@_overload
def grad_and_value(f: _First[_A, _P, tuple[_Tensor, _T]], argnums: _Literal[0]=0, *, has_aux: _Literal[True]) -> _First[_A, _P, tuple[_A, tuple[_Tensor, _T]]]:
    ...

@_overload
def grad_and_value(f: _Callable[_P, _Any], argnums: int | tuple[int, ...]=0, has_aux: bool=False) -> _Any:
    ...

def value_and_grad(f: Callable[..., Tensor], argnums: int | tuple[int, ...]=0, *, allow_escapes: bool=False) -> Callable[..., tuple[float, Any]]:
    ...

def _doubles(tree: object) -> Any:
    ...

@compiled_around
def _derivative(f: Function, argnums: int | tuple[int, ...], has_aux: bool, strict: str='', *, connected: bool=False) -> Function:
    ...

@_overload
def vjp(f: _Callable[..., _R], *primals: _Any, has_aux: _Literal[False]=False) -> tuple[_R, _Callable[..., tuple[_Any, ...]]]:
    ...

@_overload
def vjp(f: _Callable[..., tuple[_R, _T]], *primals: _Any, has_aux: _Literal[True]) -> tuple[_R, _Callable[..., tuple[_Any, ...]], _T]:
    ...

def tracked(level: Level, args: Sequence[object], places: Sequence[int]) -> tuple[list[Any], list[Tensor], list[Structure]]:
    ...

def regrouped(flat: Sequence[Tensor], structures: Sequence[Structure]) -> list[Any]:
    ...

def split(result: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    ...

def _require_scalar(value: object, name: str='grad_and_value') -> None:
    ...

def _fitting(level: Level, cotangents: object, outputs: Sequence[Tensor], structure: Structure) -> list[Value | None]:
    ...
