"""The backward pass from several tensors at once."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from .._tape import backward as _backward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Tensor
    from .._tape.seeds import GradientEdge


def backward(
    tensors: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Tensor | Sequence[Tensor | None] | None = None,
    inputs: Tensor | GradientEdge | Sequence[Tensor | GradientEdge] | None = None,
) -> None:
    """Accumulate into `.grad` the sum of the gradients of several outputs.

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
