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
from typing import Any
import numpy as np
from .. import ops
from .._core.primitives import Carrier, Primitive
from .._core.trees import Structure, flatten, mapped, paths, unflatten
from ..interpreters import Boxed, Interpreter
from .levels import INTEGERS, Level, beside, inner, output_leaves, rewritten, tensor_of, tensors
from .pushforwards import dtype_of, pushforward
from .reverse import split, tracked
Function = Callable[..., Any]

class DualTensor(Boxed):
    """A value with its tangent; the tangent is None if the value does not depend on the primals."""
    __slots__ = ('tangent',)
    tangent: Any
    _held = (*Boxed._held, 'tangent')
    _histories = ('tangent',)
    _transparent = True

    def __repr__(self) -> str:
        ...

    def _cut_off(self, reason: str) -> None:
        ...

class Forward(Interpreter):
    """The interpreter that pushes tangents forwards through every operation, whatever the grad mode."""
    carrier = DualTensor

    def dual(self, primal: Any, tangent: Any) -> Any:
        """A value with a tangent; for tuples, element by element."""

    def box(self, value: Any) -> Any:
        """A value without a tangent."""

    def adopt(self, made: Any) -> Any:
        """A tensor of this level without a tangent, so that a value with one can be written to it."""

    def tangent(self, value: Any) -> Any:
        """The tangent of a value; None for a value of another level."""

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """The operation on the values, and its derivative on their tangents."""

def _arrays(value: Any) -> Any:
    """A value whose NumPy scalars are replaced by arrays."""

def _moves(y: Any) -> bool:
    """True if a result's dtype is real or complex floating point, so that it can have a tangent."""

@_overload
def jvp(f: _Callable[..., _R], primals: _Any, tangents: _Any, *, strict: bool=False, has_aux: _Literal[False]=False) -> tuple[_R, _R]:
    ...

@_overload
def jvp(f: _Callable[..., tuple[_R, _T]], primals: _Any, tangents: _Any, *, strict: bool=False, has_aux: _Literal[True]) -> tuple[_R, _R, _T]:
    ...

def linearize(f: _Callable[..., _R], *primals: _Any) -> tuple[_R, _Callable[..., _R]]:
    ...

def require_primals(leaves: Sequence[Any], structure: Structure, name: str) -> None:
    """Refuse leaves that cannot be differentiated; the error names their paths."""

def _fitting(name: str, primals: Any, tangents: Any) -> tuple[list[Any], list[Any], Any]:
    """The leaves of the primals and of their tangents, checked against each other, and their structure."""
