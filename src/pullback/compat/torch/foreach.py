"""torch._foreach_add_ and similar functions, one operation for each tensor of lists, used by external optimizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pullback

if TYPE_CHECKING:
    from ..._core.typing import Tensor, TensorLike


_NAMES = frozenset(
    "abs acos add addcdiv addcmul asin atan ceil clamp_max clamp_min cos cosh div erf erfc exp expm1 floor frac lerp lgamma "
    "log log10 log1p log2 maximum minimum mul neg pow reciprocal round rsqrt sigmoid sign sin sinh sqrt sub tan tanh "
    "trunc".split()
)
_OTHERWISE: dict[str, Callable[..., Any]] = {
    "norm": lambda x, ord=2, dtype=None: pullback.linalg.vector_norm(x, ord, dtype=dtype),
    "max": pullback.max,
    "clone": lambda x: x.clone(),
}
_IN_PLACE: dict[str, Callable[..., Any]] = {
    "copy": lambda x, source, non_blocking=False: x.copy_(source),
    "zero": lambda x: x.zero_(),
    "maximum": lambda x, other: x.copy_(_least(pullback.maximum, x, other)),
    "minimum": lambda x, other: x.copy_(_least(pullback.minimum, x, other)),
}


def _least(function: Callable[..., Any], x: Tensor, other: TensorLike) -> Tensor:
    return function(x, pullback.as_tensor(other, dtype=x.dtype))


def _one(name: str) -> Callable[..., Any] | None:
    """The operation on one tensor for a name, without the prefix `_foreach_`."""
    if name.endswith("_"):
        bare = name[:-1]
        return _IN_PLACE.get(bare) or (getattr(pullback.Tensor, name) if bare in _NAMES else None)
    if name in {"maximum", "minimum"}:
        return lambda x, other: _least(getattr(pullback, name), x, other)
    return _OTHERWISE.get(name) or (getattr(pullback, name) if name in _NAMES else None)


def foreach(name: str) -> Callable[..., Any]:
    """The function `torch._foreach_...` of a name: applied to the elements of lists, with other arguments in common.

    >>> import pullback
    >>> from pullback.compat.torch.foreach import foreach
    >>> foreach("_foreach_add")([pullback.ones(1), pullback.zeros(1)], [1.0, 2.0])
    [tensor([2.]), tensor([2.])]
    """
    one = _one(name.removeprefix("_foreach_"))
    if one is None:
        raise AttributeError(f"torch.{name} is not in pullback")

    def function(*args: object, **options: object) -> list[Any]:
        given = [*args, *options.values()]
        lists = [value for value in given if isinstance(value, (list, tuple))]
        count = len(lists[0]) if lists else 0
        if not count:
            raise RuntimeError("Tensor list must have at least one tensor.")
        if any(len(each) != count for each in lists):
            lengths = [len(each) for each in lists]
            raise RuntimeError(f"Tensor lists must have the same number of tensors, got {lengths[0]} and {lengths[1:]}")

        def at(value: object, place: int) -> object:
            return value[place] if isinstance(value, (list, tuple)) else value

        return [
            one(*(at(value, i) for value in args), **{key: at(value, i) for key, value in options.items()})
            for i in range(count)
        ]

    function.__name__ = function.__qualname__ = name
    return function
