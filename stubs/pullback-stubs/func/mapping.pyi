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
import functools
from collections.abc import Sequence
from typing import Any, NamedTuple
import numpy as np
from .._core.modes import restoring
from .._core.primitives import Carrier, Function
from .._core.trees import Structure, flatten, paths, spread, unflatten
from .._numerics.random import Moment
from .._tape.views import steps, view
from ..vocabulary.shapes import cat
from .batched_indexing import has_rules, lifted
from .batching import Batch, Split
from .levels import beside, inner, is_row, rewritten, tensor_of, tensors
ALONE = flatten(0)[1]

def vmap(f: _Callable[_P, _R], in_dims: _Any=0, out_dims: _Any=0, randomness: str='error', *, chunk_size: int | None=None, on_branch: str='error') -> _Callable[_P, _R]:
    ...

class _Asked(NamedTuple):
    ...
    f: Function
    in_dims: Any
    out_dims: Any
    randomness: str
    chunk_size: int | None
    on_branch: str

def _check(randomness: Any, chunk_size: Any, on_branch: Any) -> None:
    ...

def _mapped(asked: _Asked, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    ...

def _batches(in_dims: Any, args: tuple[Any, ...]) -> tuple[list[Any], Structure]:
    ...

class _Call(NamedTuple):
    ...
    f: Function
    structure: Structure
    dims: Sequence[int | None]
    kwargs: dict[str, Any]
    out_dims: Any
    randomness: str

    def part(self, leaves: Sequence[Any], rows: Any) -> list[Any]:
        ...

class _Results(NamedTuple):
    ...
    values: list[Any]
    structure: Structure
    places: list[Any]
    written: Sequence[int] = ()

    def tree(self, unmoved: dict[tuple[int, Any], Any]) -> Any:
        ...

@restoring
def _at_once(call: _Call, leaves: Sequence[Any], size: int, past: list[Any] | None=None) -> _Results:
    ...

def _ran(batch: Batch, call: _Call, leaves: Sequence[Any]) -> _Results:
    ...

def _seen(batch: Batch, y: Any, arguments: dict[int, Any], value: Any) -> Any:
    ...

@restoring
def _in_parts(call: _Call, leaves: Sequence[Any], size: int) -> _Results:
    ...

def _placed(f: Function, batch: Batch, y: Any, place: int | None) -> Any:
    ...

def _joined(call: _Call, parts: Sequence[_Results], what: str) -> _Results:
    ...

def _input_dims(f: Function, in_dims: Any, leaves: Sequence[Any], structure: Structure) -> list[Any]:
    ...

def _where(f: Function, in_dims: Any) -> str:
    ...

def _input_dim(f: Function, in_dims: Any, structure: Structure, number: int, leaf: Any, dim: Any) -> int:
    ...

def _batch_size(leaves: Sequence[Any], dims: Sequence[Any], structure: Structure) -> int:
    ...

def _output_dims(f: Function, out_dims: Any, results: Sequence[Any], nested: Structure) -> list[Any]:
    ...

def name_of(f: Function) -> str:
    ...
