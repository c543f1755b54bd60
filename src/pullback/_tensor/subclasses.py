"""Tensors of user-defined classes: `as_subclass`, and its older form, which creates a leaf.

They have the methods of the class, and so have the results of operations on them, as in torch.
"""

from typing import Any

from .attributes import DIFFERENTIABLE
from .tensor import Tensor


def _checked(name: str, cls: Any) -> None:
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(f"{name}(): expected a subclass of Tensor, got {cls!r}")


def as_subclass(self: Tensor, cls: Any) -> Any:
    """The tensor as an instance of a class derived from Tensor, with the same memory and history.

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


def _make_subclass(cls: Any, data: Tensor, require_grad: bool = False) -> Any:
    """A leaf of a class derived from Tensor, with a tensor's memory; called as `Tensor._make_subclass(cls, data)`."""
    _checked("_make_subclass", cls)
    made = data.detach()
    if require_grad and made._dtype.kind not in "fc":
        raise RuntimeError(f"Only {DIFFERENTIABLE}: this is a {made.dtype} tensor")
    made.__class__ = cls
    made.requires_grad = bool(require_grad)
    return made
