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
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple
import numpy as np
from .._core.modes import FieldBlock
from .._core.package import package
from .._core.primitives import Carrier, Function
from .._core.trees import LEAF, Structure, flatten, paths, unflatten
from .._tensor.creation import arange, as_tensor, zeros
from .._tensor.custom import Meta
from .._tensor.tensor import Tensor
from ..vocabulary.arithmetic import ne, where
from ..vocabulary.reductions import argmax
from ..vocabulary.shapes import movedim, reshape, stack, unbind
if TYPE_CHECKING:
    from collections.abc import Callable
    from .._core.typing import Array, Number
    from .batching import Batch
Leaves = list[Any]

def _taken(tree: object, name: str, message: str) -> tuple[Leaves, Structure]:
    ...

def _described(meta: Meta | None) -> str:
    ...

class Pattern(NamedTuple):
    ...
    structure: Structure
    names: list[str]
    metas: list[Meta | None]

    @classmethod
    def of(cls, name: str, leaves: Leaves, structure: Structure) -> Pattern:
        ...

    def require(self, leaves: Leaves, structure: Structure, nesting: str, change: str, fix: str) -> None:
        ...

class Side:
    ...

    def __init__(self, function: Function, name: str, structure: Structure) -> None:
        ...

    def __call__(self, operands: Leaves) -> Leaves:
        ...

    def agree(self, other: Side, leaves: Leaves) -> None:
        ...
    function: Function
    name: str
    nesting: Structure
    pattern: _Any

class LoopStep:
    ...

    def __init__(self, who: str, function: Function, carry: Pattern, *, spread: bool=False) -> None:
        ...

    def __call__(self, carry: Leaves) -> Leaves:
        ...

    def unwritten(self, leaves: Leaves, *args: Any) -> Any:
        ...

    def next(self, tree: object) -> Leaves:
        ...
    carry: Pattern
    function: Function
    spread: bool
    who: str

class ScanStep(LoopStep):
    ...

    def __init__(self, who: str, function: Function, carry: Pattern, slices: Structure) -> None:
        ...

    def __call__(self, carry: Leaves, operands: Sequence[Tensor | None]=()) -> Any:
        ...
    output: _Any
    slices: Structure

def _bared(value: Any) -> tuple[list[Batch], Any]:
    ...

class Mask(NamedTuple):
    ...
    condition: Tensor
    batches: list[Batch]
    holds: Tensor

    def stand_in(self, leaf: Tensor, side: bool) -> Tensor:
        ...

    def kept(self, leaves: Leaves, side: bool) -> Leaves:
        ...

    def chosen(self, leaves: Leaves, others: Leaves) -> Leaves:
        ...

class Runner:
    ...

    def decided(self, predicate: Any) -> bool | Mask:
        ...

    def cond(self, predicate: Any, first: Side, second: Side, operands: Leaves) -> Leaves:
        ...

    def while_loop(self, test: Function, step: LoopStep, carry: Leaves) -> Leaves:
        ...

    def scan(self, step: ScanStep, carry: Leaves, columns: Leaves, count: int, reverse: bool) -> tuple[Leaves, Leaves]:
        ...

    def _outputs_of_no_steps(self, step: ScanStep, carry: Leaves, columns: Leaves) -> Leaves:
        ...
runner: ContextVar[Runner] = ContextVar('pullback.runner', default=Runner())

@_overload
def cond(pred: _Any, true_fn: _Callable[..., _Tensor | complex], false_fn: _Callable[..., _Tensor | complex], operands: _Any=()) -> _Tensor:
    ...

@_overload
def cond(pred: _Any, true_fn: _Callable[..., _Any], false_fn: _Callable[..., _Any], operands: _Any=()) -> _Any:
    ...

def _require_decisive(pred: object) -> None:
    ...

@_overload
def while_loop(cond_fn: _Callable[..., _Tensor | bool], body_fn: _Callable[..., _Any], carried_inputs: complex) -> _Tensor:
    ...

@_overload
def while_loop(cond_fn: _Callable[..., _Tensor | bool], body_fn: _Callable[..., _Any], carried_inputs: _T) -> _T:
    ...

def _truth(answer: object) -> Tensor | bool:
    ...

@_overload
def scan(combine_fn: _Callable[[_Any, _Any], tuple[_Tensor, _Tensor]], init: _Tensor | complex, xs: _Any=None, length: int | None=None, reverse: bool=False, *, dim: int=0) -> tuple[_Tensor, _Tensor]:
    ...

@_overload
def scan(combine_fn: _Callable[[_Any, _Any], tuple[_Any, _Any]], init: _Any, xs: _Any=None, length: int | None=None, reverse: bool=False, *, dim: int=0) -> tuple[_Any, _Any]:
    ...

def _step_count(columns: Leaves, names: list[str], length: object, dim: object) -> int:
    ...

@_overload
def fori_loop(lower: _Any, upper: _Any, body_fun: _Callable[[_Any, _Any], _Any], init_val: _Tensor | complex) -> _Tensor:
    ...

@_overload
def fori_loop(lower: _Any, upper: _Any, body_fun: _Callable[[_Any, _Any], _Any], init_val: _Any) -> _Any:
    ...
