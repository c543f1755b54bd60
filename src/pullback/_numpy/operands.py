"""Conversion of the arguments of NumPy calls: to tensors, to arrays, or to values that carry no gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast as as_type

import numpy as np

from .._core import errors
from .._core.modes import FieldBlock
from .._core.primitives import Carrier
from .._tensor.tensor import Tensor
from ..vocabulary import shapes
from ..vocabulary.promotion import cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._core.typing import Array, ArrayLike

    class _OnTensors(Protocol):
        @property
        def linalg(self) -> _OnTensors: ...
        def __getattr__(self, name: str) -> Callable[..., Tensor]: ...


on_tensors: _OnTensors = as_type("_OnTensors", np)
"""NumPy, whose functions give tensors for tensors (NEP 18)."""
UNKNOWN = "pullback has no such operation"


def operand(value: ArrayLike) -> Any:
    """A list as an array; tensors, arrays and numbers unchanged."""
    return np.asarray(value) if isinstance(value, (list, tuple)) else value


def tensors(*values: ArrayLike) -> list[Tensor]:
    """Values as tensors: of the interpreter of the first tensor among them, or plain ones."""
    interpreter = next((value.interpreter for value in values if isinstance(value, Carrier)), Tensor.interpreter)
    wrap = interpreter.wrap
    found: list[Any] = [value if isinstance(value, Carrier) else wrap(np.asarray(value), None) for value in values]
    return found


def numeric(value: object) -> bool:
    """True if a value is a tensor, or can be one; objects and texts cannot."""
    return isinstance(value, Carrier) or holds_tensor(value) or np.asarray(value).dtype.kind in "biufc"


def concrete(value: ArrayLike, name: str = "") -> Array:
    """The values of a tensor, tracked or not, as a read-only array, for results of a function that have no derivative."""
    if not isinstance(value, Carrier):
        return np.asarray(value)
    array = (value._concrete(name) if name else value._concrete()).view()
    array.flags.writeable = False
    return array


def unwatched(value: ArrayLike) -> Array:
    """The values of a tensor, for a rule that knows how its result depends on it: whoever watches for numbers is not told."""
    with FieldBlock(watcher=None):
        return concrete(value)


def holds_tensor(value: object) -> bool:
    """True if a value is a tensor, or a list or tuple that contains one."""
    return isinstance(value, Carrier) or (isinstance(value, (list, tuple)) and any(map(holds_tensor, value)))


def joined(value: Any) -> Any:
    """Nested sequences as one tensor, if they hold one."""
    if not isinstance(value, (list, tuple)) or not holds_tensor(value):
        return value
    parts = [part if isinstance(part, Carrier) else np.asarray(part) for part in map(joined, value)]
    kind = np.result_type(*[part._dtype if isinstance(part, Carrier) else part.dtype for part in parts])
    return shapes.stack([cast(part, kind) for part in parts])


def is_plain(tensor: Carrier) -> bool:
    """True if a tensor is equivalent to an array: not tracked, and of no interpreter."""
    return tensor._node is None and not tensor.level and isinstance(tensor._array, np.ndarray)


def constants(name: str, value: Any, *, why: str = UNKNOWN, tracked: bool = False) -> Any:
    """Arguments with tensors replaced by read-only arrays; refused if a derivative would be lost.

    With `tracked` tracked tensors are accepted too: the function has no derivative to lose.
    """
    if isinstance(value, Carrier):
        if not tracked and not is_plain(value):
            raise TypeError(
                f"{name} has no derivative here: {why}, and its argument is a {errors.kind(value)} whose gradient "
                "would be lost. Compose it from available operations, or pass t.detach().numpy() if the gradient is "
                "not wanted."
            )
        return concrete(value, name)
    if isinstance(value, (list, tuple)):
        entries = [constants(name, entry, why=why, tracked=tracked) for entry in value]
        return type(value)(*entries) if hasattr(value, "_fields") else type(value)(entries)
    if isinstance(value, dict):
        return {key: constants(name, entry, why=why, tracked=tracked) for key, entry in value.items()}
    return value
