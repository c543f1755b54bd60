"""Access to the values of tensors, and checks of arguments: each function says what it does with tensors of a transform."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import errors
from .primitives import Carrier

if TYPE_CHECKING:
    from .dtypes import NumpyType
    from .typing import Array, TensorLike, Value


ndarray = np.ndarray


def data(value: Value) -> Any:
    """The value for an operand that is not differentiated: the array of a plain tensor; a tensor of a transform as it is."""
    return value._array if isinstance(value, Carrier) and not value.level else value


def shared(value: object) -> Array | None:
    """The array inside all levels of boxes, if no level transforms its values (as a batch does); otherwise None."""
    while isinstance(value, Carrier) and value.level >= 0 and value._transparent:
        value = value._array
    return value if isinstance(value, ndarray) else None


def every(value: TensorLike) -> Any:
    """An array with all elements, including those of all examples of a batch: for checks that must hold for each of them."""
    return value._elements() if isinstance(value, Carrier) else value


UNSIGNED: dict[NumpyType, NumpyType] = {
    np.dtype(np.int64): np.dtype(np.uint64),
    np.dtype(np.int32): np.dtype(np.uint32),
}


def outside(index: Value, size: int, *, from_end: bool = False) -> int | None:
    """An element of an index that is out of range for an axis of a length, negative unless `from_end`; None if there is none.

    It looks at all examples of a batch; compiled programs look again at each call.
    """
    numbers = every(index)
    if not numbers.size:
        return None
    begin = -size if from_end else 0
    if isinstance(numbers, ndarray):
        if not from_end and numbers.dtype in UNSIGNED:
            if np.maximum.reduce(numbers.view(UNSIGNED[numbers.dtype]), None) < size:
                return None  # read as unsigned, negative numbers are large ones
        elif begin <= np.minimum.reduce(numbers, None) and np.maximum.reduce(numbers, None) < size:
            return None
    elif ((numbers >= begin) & (numbers < size)).all():
        return None
    least, most = int(numbers.min()), int(numbers.max())
    return least if least < begin else most


def require_tensor(function: str, argument: str, value: object, position: int = 1) -> None:
    """Raise TypeError if an argument of a function is not a tensor; `position` counts arguments from 1."""
    if not isinstance(value, Carrier):
        raise errors.no_tensor(function, argument, position, value)


def require_tensors(function: str, **arguments: object) -> None:
    """Raise TypeError if one of the first arguments of a function, given in order, is not a tensor."""
    for position, (argument, value) in enumerate(arguments.items(), 1):
        if not isinstance(value, Carrier):
            require_tensor(function, argument, value, position)


def require_operand(function: str, argument: str, value: object, position: int = 1) -> None:
    """Raise TypeError if an argument is neither a tensor nor a NumPy array (accepted where another operand is a tensor)."""
    if not isinstance(value, (Carrier, ndarray)):
        raise errors.no_tensor(function, argument, position, value)


def require_operands(function: str, **arguments: object) -> None:
    """Call `require_operand` for the first arguments of a function, given in order."""
    for position, (argument, value) in enumerate(arguments.items(), 1):
        require_operand(function, argument, value, position)


def require_hook(function: str, hook: Any, taken: str) -> None:
    """Raise TypeError if a hook, written in Python, cannot be called with so many arguments as `taken` names."""
    if not callable(hook):
        raise TypeError(
            f"{type(hook).__name__!r} object is not callable: {function} takes a hook, which is called as hook({taken})"
        )
    code = getattr(hook, "__code__", None)
    if code is None:
        return
    bound = hasattr(hook, "__self__")
    given, most = taken.count(",") + 1, code.co_argcount - bound
    if not most - len(hook.__defaults__ or ()) <= given or (given > most and not code.co_flags & inspect.CO_VARARGS):
        own = ", ".join(code.co_varnames[bound : bound + most])
        raise TypeError(f"{function}: a hook is called as hook({taken}), and {hook.__qualname__} takes ({own})")


def untracked(function: str, value: Any) -> Any:
    """The value of a parameter that is not differentiated; raises TypeError for a tensor that requires grad."""
    if isinstance(value, Carrier) and value._node is not None:
        raise errors.tracked_number(function, value)
    return value


def followed(value: object) -> bool:
    """True if a derivative by a tensor is taken: it is tracked or has a tangent, at some level of the transforms it is in."""
    while isinstance(value, Carrier):
        if value.requires_grad or value._followed:
            return True
        value = value._array
    return False


def holds(condition: Value) -> bool:
    """True if all elements of a bool tensor are True: for checks of arguments that compiled programs repeat at each call."""
    return bool(every(condition).all())


def concrete(value: Any, operation: str) -> Any:
    """The elements as an array, for an operation whose output shape depends on values; raises where examples of a batch differ."""
    return value._concrete(operation) if isinstance(value, Carrier) else value


def each(value: Any, function: Callable[[Array], Array], operation: str) -> Any:
    """What a function without a derivative makes of the elements, an array of a known shape: under vmap of each example's."""
    own = getattr(value, "_each", None)
    if own is not None:
        return own(function, operation)
    if isinstance(value._array, Carrier):
        return each(value._array, function, operation)
    return value.interpreter.wrap(function(concrete(value, operation)), None)
