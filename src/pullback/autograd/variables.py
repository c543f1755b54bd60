"""torch's old names for a tensor that takes part in automatic differentiation."""

from __future__ import annotations

import warnings
from typing import Any

from .._core.package import package
from .._core.primitives import Carrier
from .._tensor.tensor import Tensor


class _VariableType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableType):
    """torch's old name for a tensor that takes part in automatic differentiation.

    `Variable(t, requires_grad=True)` is a tensor that shares t's memory; every tensor is an instance.

    >>> import pullback
    >>> x = pullback.autograd.Variable(pullback.FloatTensor([[2, 1]]), requires_grad=True)
    >>> x
    tensor([[2., 1.]], requires_grad=True)
    """

    def __new__(cls, data: Tensor, requires_grad: bool = False, volatile: object = None) -> Any:
        """A leaf with the memory of a tensor."""
        if not isinstance(data, Carrier):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}: use {package}.tensor")
        if volatile is not None:
            warnings.warn(
                f"volatile was removed and now has no effect. Use `with {package}.no_grad():` instead.", stacklevel=2
            )
        made: Tensor = data.detach()
        made._cut = None
        made.requires_grad = requires_grad
        return made


def variable(*args: object, **options: object) -> None:
    """torch's oldest name for a constructor, which raises an error.

    Raises
    ------
    RuntimeError
        Always, naming `pullback.tensor`.

    >>> import pullback
    >>> pullback.autograd.variable(1.0)
    Traceback (most recent call last):
        ...
    RuntimeError: pullback.autograd.variable(...) is deprecated, use pullback.tensor(...) instead
    """
    raise RuntimeError(f"{package}.autograd.variable(...) is deprecated, use {package}.tensor(...) instead")
