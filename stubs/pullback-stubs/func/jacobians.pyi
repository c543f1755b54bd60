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
import itertools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
import numpy as np
from .._core.modes import restoring
from .._core.trees import Structure, flatten, mapped, unflatten
from .._tensor.tensor import Tensor
from .forward import jvp, require_primals
from .levels import Level, chosen, compiled_around, output_leaves, require_numbers, require_real
from .mapping import vmap
from .reverse import regrouped, split, tracked
from .rows import of_units
if TYPE_CHECKING:
    from .._core.typing import Given
Numbers = int | tuple[int, ...]

@_overload
def jacrev(f: _First[_V, _P, _Tensor], argnums: _Literal[0]=0, *, has_aux: _Literal[False]=False, chunk_size: int | None=None) -> _First[_V | _Numbers, _P, _V]:
    ...

@_overload
def jacrev(f: _First[_TensorLike, _P, _Tensor], argnums: _Literal[0]=0, *, has_aux: _Literal[False]=False, chunk_size: int | None=None) -> _First[_TensorLike, _P, _Tensor]:
    ...

@_overload
def jacrev(f: _First[_A, _P, _Tensor], argnums: _Literal[0]=0, *, has_aux: _Literal[False]=False, chunk_size: int | None=None) -> _First[_A, _P, _A]:
    ...

@_overload
def jacrev(f: _Second[_A, _B, _P, _Tensor], argnums: _Literal[1], *, has_aux: _Literal[False]=False, chunk_size: int | None=None) -> _Second[_A, _B, _P, _B]:
    ...

@_overload
def jacrev(f: _First[_A, _P, _Tensor], argnums: tuple[_Literal[0]], *, has_aux: _Literal[False]=False, chunk_size: int | None=None) -> _First[_A, _P, tuple[_A]]:
    ...

@_overload
def jacrev(f: _Second[_A, _B, _P, _Tensor], argnums: tuple[_Literal[0], _Literal[1]], *, has_aux: _Literal[False]=False, chunk_size: int | None=None) -> _Second[_A, _B, _P, tuple[_A, _B]]:
    ...

@_overload
def jacrev(f: _Callable[_P, _Tensor], argnums: tuple[int, ...], *, has_aux: _Literal[False]=False, chunk_size: int | None=None) -> _Callable[_P, tuple[_Any, ...]]:
    ...

@_overload
def jacrev(f: _First[_A, _P, tuple[_Tensor, _T]], argnums: _Literal[0]=0, *, has_aux: _Literal[True], chunk_size: int | None=None) -> _First[_A, _P, tuple[_A, _T]]:
    ...

@_overload
def jacrev(f: _Callable[_P, _Any], argnums: int | tuple[int, ...]=0, *, has_aux: bool=False, chunk_size: int | None=None) -> _Any:
    ...

def _inputs(args: Sequence[object], places: Sequence[int]) -> tuple[list[Tensor], Structure]:
    ...

def _rows(level: Level, outputs: Sequence[Tensor], variables: Sequence[Tensor], chunk_size: int | None) -> list[Any]:
    ...

def identity(tensors: Sequence[Tensor]) -> list[Tensor]:
    ...

def _parts(rows: Sequence[Tensor], outputs: Sequence[Tensor], variables: Sequence[Tensor], structures: Sequence[Structure], single: bool) -> list[Any]:
    ...

def _pieces(tensors: Sequence[Tensor]) -> list[tuple[Tensor, slice]]:
    ...

def _with_leaves(f: Callable[..., Any], taken: Sequence[Any], places: Sequence[int], structures: Sequence[Any], kwargs: dict[str, Any], *leaves: Tensor) -> Any:
    ...

@_overload
def jacfwd(f: _First[_V, _P, _Tensor], argnums: _Literal[0]=0, has_aux: _Literal[False]=False, *, randomness: str='error', chunk_size: int | None=None) -> _First[_V | _Numbers, _P, _V]:
    ...

@_overload
def jacfwd(f: _First[_TensorLike, _P, _Tensor], argnums: _Literal[0]=0, has_aux: _Literal[False]=False, *, randomness: str='error', chunk_size: int | None=None) -> _First[_TensorLike, _P, _Tensor]:
    ...

@_overload
def jacfwd(f: _First[_A, _P, _Tensor], argnums: _Literal[0]=0, has_aux: _Literal[False]=False, *, randomness: str='error', chunk_size: int | None=None) -> _First[_A, _P, _A]:
    ...

@_overload
def jacfwd(f: _Second[_A, _B, _P, _Tensor], argnums: _Literal[1], has_aux: _Literal[False]=False, *, randomness: str='error', chunk_size: int | None=None) -> _Second[_A, _B, _P, _B]:
    ...

@_overload
def jacfwd(f: _First[_A, _P, _Tensor], argnums: tuple[_Literal[0]], has_aux: _Literal[False]=False, *, randomness: str='error', chunk_size: int | None=None) -> _First[_A, _P, tuple[_A]]:
    ...

@_overload
def jacfwd(f: _Second[_A, _B, _P, _Tensor], argnums: tuple[_Literal[0], _Literal[1]], has_aux: _Literal[False]=False, *, randomness: str='error', chunk_size: int | None=None) -> _Second[_A, _B, _P, tuple[_A, _B]]:
    ...

@_overload
def jacfwd(f: _Callable[_P, _Tensor], argnums: tuple[int, ...], has_aux: _Literal[False]=False, *, randomness: str='error', chunk_size: int | None=None) -> _Callable[_P, tuple[_Any, ...]]:
    ...

@_overload
def jacfwd(f: _First[_A, _P, tuple[_Tensor, _T]], argnums: _Literal[0]=0, *, has_aux: _Literal[True], randomness: str='error', chunk_size: int | None=None) -> _First[_A, _P, tuple[_A, _T]]:
    ...

@_overload
def jacfwd(f: _Callable[_P, _Any], argnums: int | tuple[int, ...]=0, has_aux: bool=False, *, randomness: str='error', chunk_size: int | None=None) -> _Any:
    ...

def _columns(columns: Sequence[Tensor], inputs: Sequence[Tensor], structures: Sequence[Structure], single: bool) -> list[Any]:
    ...

@_overload
def hessian(f: _First[_V, _P, _Tensor], argnums: _Literal[0]=0) -> _First[_V | _Numbers, _P, _V]:
    ...

@_overload
def hessian(f: _First[_TensorLike, _P, _Tensor], argnums: _Literal[0]=0) -> _First[_TensorLike, _P, _Tensor]:
    ...

@_overload
def hessian(f: _Second[_Tensor, _Tensor, _P, _Tensor], argnums: tuple[_Literal[0], _Literal[1]]) -> _Second[_Tensor, _Tensor, _P, tuple[tuple[_Tensor, _Tensor], tuple[_Tensor, _Tensor]]]:
    ...

@_overload
def hessian(f: _Callable[_P, _Any], argnums: int | tuple[int, ...]=0) -> _Any:
    ...
