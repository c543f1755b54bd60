"""torch.autograd's surface: backward, grad, and the objects of the graph."""

from __future__ import annotations

import warnings
from typing import Any

from .._core.lazy import later
from .._core.modes import enable_grad as enable_grad
from .._core.modes import inference_mode as inference_mode
from .._core.modes import no_grad as no_grad
from .._core.modes import set_grad_enabled as set_grad_enabled
from .._core.primitives import Carrier
from .._tape import backward as _backward
from .._tape.backward import grad as grad
from .._tensor.tensor import Tensor
from . import graph as graph

_MODULES = ("anomaly_mode", "forward_ad", "function", "functional")
_LATER = {
    "Function": "function",
    "AnomalyError": "anomaly_mode",
    "detect_anomaly": "anomaly_mode",
    "is_anomaly_enabled": "anomaly_mode",
    "set_detect_anomaly": "anomaly_mode",
    "gradcheck": "checks",
    "gradgradcheck": "checks",
}


def __getattr__(name: str) -> Any:
    return later(globals(), name, _LATER, _MODULES)


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Accumulate into `.grad` the sum of what several outputs pull back.

    `grad_tensors` holds one gradient per tensor, or None for a one-element tensor; `grad_variables` is its old name.

    Raises
    ------
    RuntimeError
        As `Tensor.backward` does, or if both names of `grad_tensors` are used.

    >>> import pullback
    >>> x = pullback.tensor(2.0, requires_grad=True)
    >>> pullback.autograd.backward([x * x, 3 * x])
    >>> x.grad
    tensor(7.)
    """
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only "
                "use `grad_tensors`."
            )
        grad_tensors = grad_variables
    _backward.backward(tensors, grad_tensors, retain_graph=retain_graph, create_graph=create_graph, inputs=inputs)


class _VariableType(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableType):
    """torch's old name for a tensor that takes part in automatic differentiation.

    `Variable(t, requires_grad=True)` is a tensor on the memory of t; every tensor is an instance.

    >>> import pullback
    >>> x = pullback.autograd.Variable(pullback.FloatTensor([[2, 1]]), requires_grad=True)
    >>> x
    tensor([[2., 1.]], requires_grad=True)
    """

    def __new__(cls, data: Any, requires_grad: bool = False, volatile: Any = None) -> Any:  # noqa: D102
        if not isinstance(data, Carrier):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}: use pullback.tensor")
        if volatile is not None:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with pullback.no_grad():` instead.",
                UserWarning,
                stacklevel=2,
            )
        made: Any = data.detach()
        made._cut = None
        made.requires_grad = requires_grad
        return made


def variable(*args: Any, **options: Any) -> None:
    """torch's oldest name, which raises.

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
    raise RuntimeError("pullback.autograd.variable(...) is deprecated, use pullback.tensor(...) instead")
