"""Tensors of user-defined classes: `as_subclass`, and its older form, which creates a leaf.

They have the methods of the class, and so have the results of operations on them, as in torch.
"""

from __future__ import annotations

from typing import Any, TypeVar

from .flags import DIFFERENTIABLE
from .tensor import Tensor

Derived = TypeVar("Derived", bound=Tensor)


def _checked(name: str, cls: object) -> None:
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(f"{name}(): expected a subclass of Tensor, got {cls!r}")


def as_subclass(self: Tensor, cls: type[Derived]) -> Derived:
    """The tensor as an instance of a class derived from Tensor, with the same memory and history.

    Parameters
    ----------
    cls
        The class.

    Raises
    ------
    TypeError
        If the class is not derived from Tensor.

    >>> import pullback
    >>> class Price(pullback.Tensor):
    ...     def rounded(self):
    ...         return self.round(decimals=2)
    >>> pullback.tensor([1.006]).as_subclass(Price).rounded()
    Price([1.0100])
    """
    _checked("as_subclass", cls)
    made = self.view_as(self)
    made.__class__ = cls
    return made


def _make_subclass(cls: type[Derived], data: Tensor, require_grad: bool = False) -> Derived:
    """A leaf of a class derived from Tensor, with a tensor's memory; called as `Tensor._make_subclass(cls, data)`."""
    _checked("_make_subclass", cls)
    made: Any = data.detach()
    if require_grad and made._dtype.kind not in "fc":
        raise RuntimeError(f"Only {DIFFERENTIABLE}: this is a {made.dtype} tensor")
    made.__class__ = cls
    made.requires_grad = bool(require_grad)
    return made
