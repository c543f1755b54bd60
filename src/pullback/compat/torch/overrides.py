"""torch.overrides: dispatch to arguments with a method `__torch_function__`.

pullback's own functions do not dispatch to it. Programs that reimplement a function of torch can.
"""

from collections.abc import Callable, Iterable
from typing import Any

from ..._core.primitives import Carrier


def _overloaded(arguments: Iterable[Any]) -> list[Any]:
    """The arguments with `__torch_function__`, one of each type, subclasses before their bases."""
    found: list[Any] = []
    for argument in arguments:
        kind = type(argument)
        if not hasattr(kind, "__torch_function__") or any(type(each) is kind for each in found):
            continue
        place = next((i for i, each in enumerate(found) if issubclass(kind, type(each))), len(found))
        found.insert(place, argument)
    return found


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """True if one of the arguments has a method `__torch_function__`.

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
    """The result of the first `__torch_function__` of the arguments that implements `public_api`.

    Raises
    ------
    TypeError
        If none does.
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
    """True if it is a tensor, or has a method `__torch_function__`."""
    return isinstance(inp, Carrier) or hasattr(inp, "__torch_function__")
