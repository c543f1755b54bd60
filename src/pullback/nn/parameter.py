"""Parameter and Buffer: tensors that a module registers when they are assigned to it.

Both are roles. `Parameter(t)` is a plain tensor with a role attribute, so that operations on parameters take the same
fast path as other tensors; `isinstance(p, Parameter)` tests the role. A user's subclass is a real class, whose tensors
have its methods and take the general path.
"""

from __future__ import annotations

from typing import Any, Self, SupportsIndex, TypeVar

import numpy as np

from .._core import errors
from .._core.package import package
from .._core.primitives import Carrier
from .._tensor.creation import empty
from .._tensor.flags import DIFFERENTIABLE
from .._tensor.tensor import Tensor

Role = TypeVar("Role", bound="_Marked")


class _Role(type):
    """The metaclass of roles: a tensor is an instance of the role it has."""

    def __instancecheck__(cls, instance: object) -> bool:
        role = instance._role if isinstance(instance, Carrier) else None
        return role is not None and issubclass(role, cls)


class _Marked(Tensor, metaclass=_Role):
    """A tensor with a role."""

    _bequeaths = False
    heading = ""
    """The name printed above the tensor."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._role = cls  # for tensors of the class itself, however they were created

    @classmethod
    def mark(cls, tensor: Any) -> Self:
        """Give a tensor this role, and its class if this is a user's subclass."""
        tensor._role = cls
        if cls.__module__ != __name__:
            tensor.__class__ = cls
        return tensor

    def detach(self) -> Tensor:  # type: ignore[override]  # the result is not a parameter
        """A plain tensor with the same memory and without the history: the results of operations are not parameters."""
        found: Any = super().detach()
        found.__class__ = Tensor
        return found


def _of(role: type[Role], data: object, requires_grad: bool | None) -> Role:
    """A tensor with a role that shares the memory of another; an empty one without data."""
    if data is None:
        data = empty(0)
    if not isinstance(data, Carrier):
        kind = type(data).__name__
        raise AttributeError(
            f"{kind!r} object has no attribute 'detach': {role.__name__} takes a tensor, make one with {package}.tensor"
        )
    if requires_grad and data._dtype.kind not in "fc":
        raise RuntimeError(
            f"Only {DIFFERENTIABLE}: this is a {errors.kind(data)}, and a Parameter requires grad unless told otherwise"
        )
    made = data.detach()
    made._cut, made._place = None, data._place
    made.requires_grad = data.requires_grad if requires_grad is None else requires_grad
    return role.mark(made)


class Parameter(_Marked):
    """A tensor that a module registers as one of its parameters when it is assigned to it.

    It shares the memory of `data` (by default an empty tensor), and is a leaf that requires grad by default. `type(p)`
    is `Tensor`; `isinstance(p, Parameter)` is true.

    Parameters
    ----------
    data
        The tensor whose numbers it has; None for one without elements.
    requires_grad
        Whether operations on it are recorded for gradients.

    Raises
    ------
    RuntimeError
        If it is to require grad and is not of floating point or complex dtype.

    >>> import pullback
    >>> from pullback import nn
    >>> p = nn.Parameter(pullback.ones(2))
    >>> p
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    >>> isinstance(p, nn.Parameter), isinstance(p * 2, nn.Parameter)
    (True, False)
    """

    heading = "Parameter containing:\n"

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Self:
        """A parameter of the values of a tensor, or an empty one."""
        return _of(cls, data, requires_grad)


def allocate(*sizes: int, **options: Any) -> Parameter:
    """A parameter with memory of its own, to be initialized by a module; the options are those of `empty`.

    >>> from pullback.nn.parameter import allocate
    >>> allocate(2, 3, dtype="float64").shape
    pullback.Size([2, 3])
    """
    return Parameter.mark(empty(*sizes, requires_grad=True, **options))


def check_sizes(layer: object, least: float = 0, **sizes: object) -> None:
    """Refuse sizes of a layer, each an integer or a sequence of these, that are no integers or too small.

    >>> import pullback
    >>> from pullback.nn.parameter import check_sizes
    >>> check_sizes(pullback.nn.Identity(), in_features=3.5)
    Traceback (most recent call last):
    TypeError: Identity: in_features must be an int, not a float: 3.5
    """
    for name, value in sizes.items():
        several = isinstance(value, (tuple, list))
        what = f"{type(layer).__name__}: {name} must be {'ints' if several else 'an int'}"
        for each in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(each, (bool, np.bool_)) or not isinstance(each, SupportsIndex):
                raise TypeError(f"{what}, not a {type(each).__name__}: {value!r}")
            if each.__index__() < least:
                raise RuntimeError(f"{what} of at least {least}: {value!r}")


class Buffer(_Marked):
    """A tensor that a module registers as one of its buffers when it is assigned to it: state without a gradient.

    With `persistent=False` it is left out of the module's `state_dict`.

    Parameters
    ----------
    data
        The tensor whose numbers it has; None for one without elements.
    persistent
        Whether it is part of the state of its module.

    >>> import pullback
    >>> from pullback import nn
    >>> m = nn.Module()
    >>> m.steps = nn.Buffer(pullback.tensor(0))
    >>> dict(m.state_dict())
    {'steps': tensor(0)}
    """

    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Self:
        """A buffer of the values of a tensor, or an empty one."""
        made = _of(cls, data, None)
        made.persistent = persistent
        return made
