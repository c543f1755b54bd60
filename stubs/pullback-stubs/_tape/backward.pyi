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
import importlib
import warnings
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
import numpy as np
from .. import ops
from .._core import errors
from .._core.lazy import provider
from .._core.primitives import Carrier
from .._core.sites import caller
from .cuts import Cut
from .node import AccumulateGrad, Node, hooks_of, tape_of
from .recording import Tape
from .seeds import GradientEdge, as_carrier, cotangent, place_of
from .walk import Pass, commit, pull_back
if TYPE_CHECKING:
    from types import ModuleType
    from .._core.typing import Target, Targets, Tensor, Value
    from .._tensor.attributes import Attributes
ndarray = np.ndarray

def _reasons() -> ModuleType:
    ...

def check_output(index: int, output: object) -> None:
    ...

def _roots(outputs: Sequence[Target], gradients: Sequence[object], create_graph: bool) -> tuple[Any, list[Any]]:
    ...

def _listed(name: str, function: str, values: object, *, single: tuple[type, ...]) -> list[Any]:
    ...

def backward(tensors: Targets, gradients: object=None, *, retain_graph: bool | None=None, create_graph: bool=False, inputs: Targets | None=None) -> None:
    ...

def _write(outcome: Pass, roots: Sequence[tuple[Node, Value]], create_graph: bool) -> None:
    ...

def _note_constants(gradients: Sequence[Tensor | None], others: Sequence[object]) -> None:
    ...

def _gradients(gradients: Any, outputs: Sequence[Target], tensors: object) -> list[Any]:
    ...

@_overload
def grad(outputs: _Any, inputs: dict[_T, _Any], grad_outputs: _Any=None, retain_graph: bool | None=None, create_graph: bool=False, only_inputs: bool=True, allow_unused: _Literal[False] | None=None, is_grads_batched: bool=False, materialize_grads: bool=False) -> dict[_T, _Tensor]:
    ...

@_overload
def grad(outputs: _Any, inputs: _Tensor | GradientEdge | _Iterable[_Tensor | GradientEdge], grad_outputs: _Any=None, retain_graph: bool | None=None, create_graph: bool=False, only_inputs: bool=True, allow_unused: _Literal[False] | None=None, is_grads_batched: bool=False, materialize_grads: bool=False) -> tuple[_Tensor, ...]:
    ...

@_overload
def grad(outputs: _Any, inputs: dict[_T, _Any], grad_outputs: _Any=None, retain_graph: bool | None=None, create_graph: bool=False, only_inputs: bool=True, *, allow_unused: bool | None, is_grads_batched: bool=False, materialize_grads: bool=False) -> dict[_T, _Tensor | None]:
    ...

@_overload
def grad(outputs: _Any, inputs: _Tensor | GradientEdge | _Iterable[_Tensor | GradientEdge], grad_outputs: _Any=None, retain_graph: bool | None=None, create_graph: bool=False, only_inputs: bool=True, *, allow_unused: bool | None, is_grads_batched: bool=False, materialize_grads: bool=False) -> tuple[_Tensor | None, ...]:
    ...

def _warn_of_only_inputs() -> None:
    ...

def check_inputs(targets: Sequence[object], materialize: bool, allow_unused: bool | None) -> list[Node]:
    ...

def _grad_once(outputs: Sequence[Target], targets: Sequence[Target], places: Sequence[Node], gradients: Sequence[object], retain_graph: bool, create_graph: bool, allow_unused: bool | None) -> list[Tensor | None]:
    ...

def _laid_out(g: Tensor, target: Target) -> Tensor:
    ...

def _batched(outputs: Sequence[Target], targets: Sequence[Target], places: Sequence[Node], gradients: Sequence[Any], *options: Any) -> list[Tensor | None]:
    ...

def _fill(targets: Sequence[Tensor], answers: list[Tensor | None], batch: tuple[int, ...], create_graph: bool) -> None:
    ...

def retain_grad(tensor: Attributes) -> None:
    ...
