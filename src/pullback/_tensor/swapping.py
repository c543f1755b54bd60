"""torch.utils.swap_tensors: two tensors exchange what they are, and whoever holds one finds the other in it."""

from typing import Any, NoReturn

from .._core.modes import no_grad, restoring
from .._tape.node import hooks_of
from .tensor import Tensor


def _require_alone(tensor: Tensor, name: str) -> None:
    if tensor.level or not tensor.is_leaf or tensor._base is not None:
        raise RuntimeError(
            f"Expected use_count of {name} to be 1: it is a view or the result of an operation, whose history holds it too; "
            "swap leaves, or detached tensors"
        )


def _poisoned(_: object) -> NoReturn:
    raise RuntimeError(
        "Trying to execute AccumulateGrad node that was poisoned by swap_tensors: a tensor was swapped after the forward pass: "
        "swap before it, or after backward()"
    )


@restoring
def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchange two leaves: their values, dtypes, flags, gradients, attributes and classes.

    Parameters
    ----------
    t1, t2
        Leaves that are no views.

    Raises
    ------
    RuntimeError
        If one is a view or has a history; then nothing has changed. So does a backward pass through what was computed before.

    >>> import pullback
    >>> from pullback._tensor.swapping import swap_tensors
    >>> a, b = pullback.ones(2), pullback.nn.Parameter(pullback.zeros(3))
    >>> swap_tensors(a, b)
    >>> a, b
    (Parameter containing:
    tensor([0., 0., 0.], requires_grad=True), tensor([1., 1.]))
    """
    pair: tuple[Any, Any] = t1, t2
    for tensor, name in zip(pair, ("t1", "t2"), strict=True):
        _require_alone(tensor, name)
    kept = [
        (each.data, each.requires_grad, each.grad, type(each), each._role, each._given_attributes()) for each in pair
    ]
    for tensor, (*_, attributes) in zip(pair, kept, strict=True):
        tensor.grad = None
        if tensor._node is not None:  # it is left to what has been computed
            hooks_of(tensor._node).add("tensor", _poisoned)
        tensor._node = tensor._leaf = None
        for name in attributes:
            delattr(tensor, name)
    for tensor, (data, flag, grad, kind, role, attributes) in zip(pair, reversed(kept), strict=True):
        with no_grad():
            tensor.data = data
        tensor.requires_grad = flag
        tensor.grad = grad
        tensor.__class__, tensor._role = kind, role
        vars(tensor).update(attributes)
