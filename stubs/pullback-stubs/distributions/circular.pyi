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
import math
from typing import TYPE_CHECKING, ClassVar
import numpy as np
from ..extend import sampled
from ..special import i0e, i1e
from . import constraints
from .constraints import Constraint
from .distribution import Distribution, alias, broadcast_all
if TYPE_CHECKING:
    from collections.abc import Sequence
    from .._core.shapes import Shape
    from .._core.typing import Array, Tensor

class VonMises(Distribution):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'loc': constraints.real, 'concentration': constraints.positive}
    support = constraints.real
    loc: Tensor
    concentration: Tensor

    def __init__(self, loc: Tensor | float, concentration: Tensor | float, validate_args: bool | None=None) -> None:
        ...
    mean = alias('loc', 'The mean direction.')
    mode = mean

    @property
    def variance(self) -> Tensor:
        ...

    def sample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...
