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
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
import numpy as np
from .. import ops
from .._core.modes import restoring
from .._core.primitives import Carrier, Function, Primitive
from .._core.trees import Structure, flatten, mapped, paths, unflatten
from ..interpreters import Interpreter
from .levels import INTEGERS, Following, Level, beside, inner, output_leaves, rewritten, tensor_of, tensors
from .pushforwards import dtype_of, pushforward
from .reverse import split, tracked
if TYPE_CHECKING:
    from collections.abc import Callable
    from .._core.typing import Params, Result, Returned, Tensor, Value

class DualTensor(Following):
    ...
    __slots__ = ()
    tangent: Value | None
    _held = (*Following._held, 'tangent')
    _follows = 'tangent'
    _histories = ('tangent',)

    def __repr__(self) -> str:
        ...

class Forward(Interpreter):
    ...
    carrier = DualTensor

    def dual(self, primal: Result, tangent: Any) -> Any:
        ...

    def box(self, value: object) -> Any:
        ...

    def adopt(self, made: Tensor) -> Tensor:
        ...

    def tangent(self, value: object) -> Value | None:
        ...

    def process(self, primitive: Primitive, args: Sequence[Value], params: Params) -> Result:
        ...

def as_arrays(value: Any) -> Any:
    ...

def is_moving(y: Result) -> bool:
    ...

@restoring
def _tangent_of(forward: Forward, result: Tensor, strict: bool) -> Tensor:
    ...

@_overload
def jvp(f: _Callable[..., _R], primals: _Any, tangents: _Any, *, strict: bool=False, has_aux: _Literal[False]=False) -> tuple[_R, _R]:
    ...

@_overload
def jvp(f: _Callable[..., tuple[_R, _T]], primals: _Any, tangents: _Any, *, strict: bool=False, has_aux: _Literal[True]) -> tuple[_R, _R, _T]:
    ...

def applied(interpreter: Interpreter, boxes: Callable[[], Iterable[Tensor]], call: Callable[[list[Tensor]], tuple[Returned, object]], leaves: Sequence[Tensor], given: Sequence[Tensor]) -> tuple[Returned, object, Callable[[object], Any]]:
    ...

@restoring
def linearize(f: Callable[..., Returned], *primals: object) -> tuple[Returned, Callable[..., Returned]]:
    ...

def require_primals(leaves: Sequence[object], structure: Structure, name: str) -> None:
    ...

def fitting(name: str, primals: object, tangents: object) -> tuple[list[Tensor], list[Tensor], Structure]:
    ...
