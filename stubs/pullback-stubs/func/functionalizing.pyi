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
from typing import Any
import numpy as np
from .._core.errors import kind
from .._core.modes import restoring
from .._core.primitives import Carrier, Function, Primitive
from .._core.trees import flatten, mapped, unflatten
from .._tape.views import steps, view
from ..interpreters import Boxed, Interpreter
from .levels import inner, rewritten, tensor_of
from .mapping import name_of
REMOVALS = ('mutations', 'mutations_and_views')

class FunctionalTensor(Boxed):
    ...
    __slots__ = ()
    _transparent = True
    _takes_out = True

class Functional(Interpreter):
    ...
    carrier = FunctionalTensor

    def adopt(self, made: Any) -> Any:
        ...

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        ...

def functionalize(func: _Callable[_P, _R], *, remove: str='mutations') -> _Callable[_P, _R]:
    ...

@restoring
def _run(func: Function, args: Any, kwargs: Any, *, views: bool) -> Any:
    ...

def _lowered(interpreter: Functional, value: Any, unwritten: dict[int, Any], views: bool) -> Any:
    ...
