"""What stands in a call of NumPy's: tensors, arrays and lists, as tensors, as arrays, or as values that carry no gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core import errors
from .._core.primitives import Carrier

UNKNOWN = "pullback has no such operation"


def operand(value: Any) -> Any:
    """A list as an array; tensors, arrays and numbers as they are."""
    return np.asarray(value) if isinstance(value, (list, tuple)) else value


def tensors(*values: Any) -> list[Any]:
    """Values as tensors, at least one of which is one already."""
    wrap = next(value for value in values if isinstance(value, Carrier)).interpreter.wrap
    return [value if isinstance(value, Carrier) else wrap(np.asarray(value), None) for value in values]


def concrete(value: Any) -> Any:
    """The values of a tensor as a read-only array, tracked or not, for what follows from them and has no slope."""
    if not isinstance(value, Carrier):
        return np.asarray(value)
    array = value._concrete().view()
    array.flags.writeable = False
    return array


def holds_tensor(value: Any) -> bool:
    """Whether a value is a tensor, or a list or tuple with one in it."""
    return isinstance(value, Carrier) or (isinstance(value, (list, tuple)) and any(map(holds_tensor, value)))


def is_plain(tensor: Any) -> bool:
    """Whether a tensor is no more than an array: not tracked, and of no interpreter."""
    return tensor._node is None and not tensor.level and isinstance(tensor._array, np.ndarray)


def constants(name: str, value: Any, *, why: str = UNKNOWN, tracked: bool = False) -> Any:
    """Arguments with read-only arrays in the place of tensors; refused where a derivative would be lost.

    With `tracked` there is none to lose: the function answers about the values.
    """
    if isinstance(value, Carrier):
        if not tracked and not is_plain(value):
            raise TypeError(
                f"{name} has no derivative here: {why}, and its argument is a {errors.kind(value)} whose gradient "
                "would be lost. Compose it from operations that there are, or pass t.detach().numpy() if the gradient is "
                "not wanted."
            )
        return concrete(value)
    if isinstance(value, (list, tuple)):
        entries = [constants(name, entry, why=why, tracked=tracked) for entry in value]
        return type(value)(*entries) if hasattr(value, "_fields") else type(value)(entries)
    if isinstance(value, dict):
        return {key: constants(name, entry, why=why, tracked=tracked) for key, entry in value.items()}
    return value
