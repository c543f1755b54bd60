"""What changes the history of a tensor from outside: its flag, an alias without one, and a gradient that is assigned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core import dtypes, errors
from .._core.modes import mode
from .._core.primitives import Carrier
from .._tape.cuts import cut_off
from .._tape.memory import cell_of
from .._tape.node import AccumulateGrad, leaf
from .._tape.views import COUNTED, alias, exchange

if TYPE_CHECKING:
    from .._core.typing import Aliased
    from .attributes import Attributes, Autograd


DIFFERENTIABLE = "Tensors of floating point and complex dtype can require gradients"


def set_flag(tensor: Attributes, value: bool) -> None:
    """Make a leaf accumulate gradients, or stop; `.grad` is unchanged."""
    if value and tensor._dtype.kind not in "fc":
        raise RuntimeError(f"only {DIFFERENTIABLE}: this is a {errors.kind(tensor)}; write x = x.float() first")
    if value and tensor._inference and not mode.get().inference:
        raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
    if value == (tensor._node is not None):
        return
    if value and tensor._leaf is not None:
        tensor._node = tensor._leaf  # the same leaf node as before, so that older graphs still reach it
        exchange(tensor, tensor._array)
    elif value:
        # Threads may share a leaf: its cell is created before any of them saves the value.
        if not tensor._inference:
            tensor._cell = tensor._cell or cell_of(tensor)
        node = leaf(tensor, tensor._array)
        node.grad = tensor._kept_grad
        tensor._node = node
    else:
        assert isinstance(tensor._node, AccumulateGrad)
        tensor._leaf = tensor._node
        tensor._node = None


def untracked_alias(tensor: Aliased, reason: str) -> Aliased:
    """A tensor with the same memory and without the history; `reason` is 'detach' or 'data'."""
    result = tensor._shallow_copy()
    result._cut_off(reason)
    if tensor._inference:
        result._inference = True if mode.get().inference else COUNTED
    if tensor.level:
        result._origin = (tensor, ()) if tensor._base is None else (tensor._base, tensor._path)
    if tensor._node is not None:
        result._cut = cut_off(reason, (tensor,), asked=3)
    elif tensor._cut is not None:
        result._cut = tensor._cut
    return alias(tensor, result, counted=reason != "data" and tensor._inference is not True)


def check_assigned_grad(tensor: Autograd, value: object) -> None:
    """Raise for what cannot be the gradient of a tensor."""
    if not isinstance(value, Carrier):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}")
    if value is tensor:
        raise RuntimeError("can't assign Variable as its own grad: assign a clone")
    if value.shape != tensor.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size '{list(tensor.shape)}'. "
            "Please ensure that the gradient and the tensor are the same size"
        )
    wanted = tensor.grad_dtype
    if wanted is not None and value.dtype != wanted:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{value._type_name.lower()}' to a tensor with grad_dtype "
            f"'{dtypes.type_name(wanted)}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's "
            "dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype."
        )
