"""The numbers in tensors and arrays, for what looks at them: each of these says what becomes of a transform's tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import errors
from .primitives import Carrier

ndarray = np.ndarray


def data(value: Any) -> Any:
    """What an operation takes without a derivative: the array of a plain tensor; a transform's tensor stays itself."""
    return value._array if isinstance(value, Carrier) and not value.level else value


def shared(value: Any) -> Any:
    """The array beneath all levels, where each holds just the numbers that it stands for; None where there is no such."""
    while isinstance(value, Carrier) and value.level >= 0 and value._transparent:
        value = value._array
    return value if type(value) is ndarray else None


def every(value: Any) -> Any:
    """An array with all elements, of all examples of a batch too: for checks that must hold for each of them."""
    return value._elements() if isinstance(value, Carrier) else value


def require_tensor(function: str, argument: str, value: Any, position: int = 1) -> None:
    """Refuse an argument of a function, at a position, that is no tensor."""
    if not isinstance(value, Carrier):
        raise errors.no_tensor(function, argument, position, value)


def require_tensors(function: str, **arguments: Any) -> None:
    """Refuse the first arguments of a function, in their order, if one is no tensor."""
    for position, (argument, value) in enumerate(arguments.items(), 1):
        if not isinstance(value, Carrier):
            require_tensor(function, argument, value, position)


def require_operand(function: str, argument: str, value: Any, position: int = 1) -> None:
    """Refuse an argument that is neither a tensor nor a NumPy array, which will do beside a tensor."""
    if not isinstance(value, (Carrier, ndarray)):
        raise errors.no_tensor(function, argument, position, value)


def require_operands(function: str, **arguments: Any) -> None:
    """The same for the first arguments of a function, in their order."""
    for position, (argument, value) in enumerate(arguments.items(), 1):
        require_operand(function, argument, value, position)


def untracked(function: str, value: Any) -> Any:
    """A value by which a function has no derivative; TypeError for a tensor that requires grad, which would get none."""
    if isinstance(value, Carrier) and value._node is not None:
        raise errors.tracked_number(function, value)
    return value


def holds(condition: Any) -> bool:
    """Whether every element of a tensor of truths is true: for checks of arguments, which a compiled program makes, too."""
    return bool(every(condition).all())


def concrete(value: Any, operation: str) -> Any:
    """The elements as an array, for an operation whose result's shape depends on them: refused if examples differ."""
    return value._concrete(operation) if isinstance(value, Carrier) else value
