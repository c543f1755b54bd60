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
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple
import numpy as np
from .._core.modes import FieldBlock
from .._core.primitives import Carrier
from .._core.trees import LEAF, Structure, flatten, paths, unflatten
from .._tensor.creation import arange, as_tensor, zeros
from .._tensor.custom import Meta, tensor_of
from ..vocabulary.arithmetic import ne, where
from ..vocabulary.shapes import movedim, reshape, stack, unbind
Function = Callable[..., Any]
Leaves = list[Any]

def _taken(tree: Any, name: str, message: str) -> tuple[Leaves, Structure]:
    """The leaves of a tree as tensors, and their structure; anything else is refused, and its path is named."""

def _described(meta: Meta | None) -> str:
    ...

class Pattern(NamedTuple):
    """The required form of leaves: their structure, and the name, shape and dtype of each."""
    structure: Structure
    names: list[str]
    metas: list[Meta | None]

    @classmethod
    def of(cls, name: str, leaves: Leaves, structure: Structure) -> Pattern:
        """The pattern of some leaves; `name` names the whole tree."""

    def require(self, leaves: Leaves, structure: Structure, nesting: str, change: str, fix: str) -> None:
        """Refuse leaves that differ; the texts describe a structural difference, a leaf's, and the remedy."""

class Side:
    """One side of a branch, a function from leaves to leaves; it remembers the pattern of its last result."""

    def __init__(self, function: Function, name: str, structure: Structure) -> None:
        ...

    def __call__(self, operands: Leaves) -> Leaves:
        """The leaves of the function's result."""

    def agree(self, other: Side, leaves: Leaves) -> None:
        """Refuse leaves of the other side that do not match this side's pattern."""
    function: _Any
    name: _Any
    nesting: _Any
    pattern: _Any

class Step:
    """One step of a loop, from the leaves of its carry to those of the next carry."""

    def __init__(self, who: str, function: Function, carry: Pattern, *, spread: bool=False) -> None:
        ...

    def __call__(self, carry: Leaves) -> Leaves:
        """The leaves of the next carry."""

    def unwritten(self, leaves: Leaves, *args: Any) -> Any:
        """The function's result; refused if the function wrote to its arguments."""

    def next(self, tree: Any) -> Leaves:
        """The leaves of the next carry, checked against the pattern of the one before."""
    carry: _Any
    function: _Any
    spread: _Any
    who: _Any

class ScanStep(Step):
    """One step of a scan: from the leaves of the carry and of a slice to those of the next carry and of an output."""

    def __init__(self, who: str, function: Function, carry: Pattern, slices: Structure) -> None:
        ...

    def __call__(self, carry: Leaves, operands: Sequence[Any]=()) -> Any:
        """The leaves of the next carry and of the output, whose pattern must match the first output's."""
    output: _Any
    slices: _Any

def _bared(value: Any) -> tuple[list[Any], Any]:
    """The batch levels that a value varies in, in the order of their axes, and the underlying array."""

class Mask(NamedTuple):
    """A condition on which the examples of one or more batches disagree."""
    condition: Any
    batches: list[Any]
    values: Any

    def stand_in(self, leaf: Any, side: bool) -> Any:
        """A leaf's value for one example that takes `side`, as a constant; a shared leaf unchanged."""

    def kept(self, leaves: Leaves, side: bool) -> Leaves:
        """The leaves for one side, with constant values for the examples that do not take it."""

    def chosen(self, leaves: Leaves, others: Leaves) -> Leaves:
        """Per example, the first leaves where the condition holds, else the others."""

def _decided(predicate: Any) -> bool | Mask:
    """The predicate as a bool, or as a `Mask` if the examples disagree."""

class Runner:
    """The implementation of branches and loops: here step by step, on whatever tapes and transforms are active."""

    def cond(self, predicate: Any, first: Side, second: Side, operands: Leaves) -> Leaves:
        """The leaves of the first side if the predicate holds, else of the second."""

    def while_loop(self, test: Function, step: Step, carry: Leaves) -> Leaves:
        """The leaves of the first carry for which the test no longer holds."""

    def scan(self, step: ScanStep, carry: Leaves, columns: Leaves, count: int, reverse: bool) -> tuple[Leaves, Leaves]:
        """The last carry and the stacked outputs of all steps; `columns` hold the slices along axis 0."""

    def _outputs_of_no_steps(self, step: ScanStep, carry: Leaves, columns: Leaves) -> Leaves:
        """Outputs of length 0, with the shapes that a step on zeros gives."""
runner: ContextVar[Runner] = ContextVar('runner', default=Runner())

@_overload
def cond(pred: _Any, true_fn: _Callable[..., _Tensor | complex], false_fn: _Callable[..., _Tensor | complex], operands: _Any=()) -> _Tensor:
    ...

@_overload
def cond(pred: _Any, true_fn: _Callable[..., _Any], false_fn: _Callable[..., _Any], operands: _Any=()) -> _Any:
    ...

def while_loop(cond_fn: Any, body_fn: Any, carried_inputs: Any) -> Any:
    """The first values in the sequence carried_inputs, body_fn(*carried_inputs), ... for which cond_fn does not hold."""

def _truth(answer: Any) -> Any:
    """The result of a condition, checked: a bool, or a boolean tensor of one element."""

@_overload
def scan(combine_fn: _Callable[[_Any, _Any], tuple[_Tensor, _Tensor]], init: _Tensor | complex, xs: _Any=None, length: int | None=None, reverse: bool=False, *, dim: int=0) -> tuple[_Tensor, _Tensor]:
    ...

@_overload
def scan(combine_fn: _Callable[[_Any, _Any], tuple[_Any, _Any]], init: _Any, xs: _Any=None, length: int | None=None, reverse: bool=False, *, dim: int=0) -> tuple[_Any, _Any]:
    ...

def _step_count(columns: Leaves, names: list[str], length: Any, dim: Any) -> int:
    """The number of steps of a scan; refused if its sources disagree."""

@_overload
def fori_loop(lower: _Any, upper: _Any, body_fun: _Callable[[_Any, _Any], _Any], init_val: _Tensor | complex) -> _Tensor:
    ...

@_overload
def fori_loop(lower: _Any, upper: _Any, body_fun: _Callable[[_Any, _Any], _Any], init_val: _Any) -> _Any:
    ...
