"""torch.overrides: whether an argument takes a call for itself, by a method `__torch_function__`.

pullback's own functions do not ask for it. Programs that copy one of torch's functions do, and get their answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..._core.primitives import Carrier


def _overloaded(arguments: Iterable[Any]) -> list[Any]:
    """Those with `__torch_function__`, one of each type, those of derived types before those of their bases."""
    found: list[Any] = []
    for argument in arguments:
        kind = type(argument)
        if not hasattr(kind, "__torch_function__") or any(type(each) is kind for each in found):
            continue
        place = next((i for i, each in enumerate(found) if issubclass(kind, type(each))), len(found))
        found.insert(place, argument)
    return found


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of the arguments has a method `__torch_function__`.

    >>> from pullback.compat.torch.overrides import has_torch_function
    >>> has_torch_function((1, "a"))
    False
    """
    return bool(_overloaded(relevant_args))


def has_torch_function_unary(obj: Any) -> bool:
    """`has_torch_function` of one argument."""
    return has_torch_function((obj,))


def has_torch_function_variadic(*objs: Any) -> bool:
    """`has_torch_function` of the arguments that are given."""
    return has_torch_function(objs)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], /, *args: Any, **kwargs: Any
) -> Any:
    """What the first of the arguments' `__torch_function__` answers to a call of `public_api`.

    Raises
    ------
    TypeError
        If none answers.
    """
    overloaded = _overloaded(relevant_args)
    types = tuple(map(type, overloaded))
    for argument in overloaded:
        answer = argument.__torch_function__(public_api, types, args, kwargs)
        if answer is not NotImplemented:
            return answer
    name = f"{public_api.__module__}.{public_api.__name__}"
    raise TypeError(f"no implementation found for '{name}' on types that implement __torch_function__: {list(types)}")


def is_tensor_like(inp: Any) -> bool:
    """Whether it is a tensor, or has a method `__torch_function__`."""
    return isinstance(inp, Carrier) or hasattr(inp, "__torch_function__")
