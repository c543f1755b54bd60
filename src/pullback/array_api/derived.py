"""Functions of the standard that are NumPy's functions on tensors, under their own names."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from .._core.primitives import Function
from .._core.sites import named
from ..vocabulary import published
from .operands import array, together

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._core.typing import Tensor


def derived(module: str, name: str, function: Function, text: str, pair: bool = False) -> Callable[..., Tensor]:
    """One of NumPy's functions on tensors as a function of the standard, which refuses anything else; a pair of operands is promoted."""

    @functools.wraps(function)
    def checked(x: Tensor, /, *others: Any, **options: Any) -> Tensor:
        operands = together(name, x, *others) if pair else (array(name, x), *others)
        return function(*operands, **options)

    return published(named(name, checked, text), module, name)


def described(like: Function, path: str) -> str:
    """The docstring of a function that is another one with the standard's arguments."""
    first = (like.__doc__ or "").partition("\n")[0].replace(" dim", " axis").replace(" or, if `hermitian`,", " or")
    return f"{first}\n\n    `{path}` has the details, and an example."
