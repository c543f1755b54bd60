"""torch.nn.grad: the gradients of a convolution by its input and by its weight, from the gradient of its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .._core.modes import enable_grad, is_grad_enabled, restoring
from .._core.sites import named
from .._tape.backward import grad
from .._tensor.creation import zeros
from . import functional

if TYPE_CHECKING:
    from typing import Protocol

    from .._core.typing import Sizes, Tensor

    class ByInput(Protocol):
        """The gradient of a convolution by its input."""

        def __call__(
            self,
            input_size: Sequence[int],
            weight: Tensor,
            grad_output: Tensor,
            stride: Sizes = 1,
            padding: Sizes | str = 0,
            dilation: Sizes = 1,
            groups: int = 1,
        ) -> Tensor:
            """The gradient, of the size that is given."""

    class ByWeight(Protocol):
        """The gradient of a convolution by its weight."""

        def __call__(
            self,
            input: Tensor,
            weight_size: Sequence[int],
            grad_output: Tensor,
            stride: Sizes = 1,
            padding: Sizes | str = 0,
            dilation: Sizes = 1,
            groups: int = 1,
        ) -> Tensor:
            """The gradient, of the size that is given."""


@restoring
def _pulled(convolution: Callable[[Tensor], Tensor], size: Sequence[int], known: Tensor, grad_output: Tensor) -> Tensor:
    """The gradient by one operand of a convolution, given its size only; recorded if the other inputs are."""
    with enable_grad():
        operand = zeros(tuple(size), dtype=known.dtype, requires_grad=True)
        result = convolution(operand)
    tracked = is_grad_enabled() and (known.requires_grad or grad_output.requires_grad)
    return grad(result, operand, grad_output, create_graph=tracked)[0]


def _by_input(name: str, example: str) -> ByInput:
    def by_input(
        input_size: Sequence[int],
        weight: Tensor,
        grad_output: Tensor,
        stride: Sizes = 1,
        padding: Sizes | str = 0,
        dilation: Sizes = 1,
        groups: int = 1,
    ) -> Tensor:
        convolve = getattr(functional, name)
        return _pulled(
            lambda x: convolve(x, weight, None, stride, padding, dilation, groups), input_size, weight, grad_output
        )

    return named(
        f"{name}_input", by_input, f"The gradient of `{name}` by its input, of which the size is given.{example}"
    )


def _by_weight(name: str, example: str) -> ByWeight:
    def by_weight(
        input: Tensor,
        weight_size: Sequence[int],
        grad_output: Tensor,
        stride: Sizes = 1,
        padding: Sizes | str = 0,
        dilation: Sizes = 1,
        groups: int = 1,
    ) -> Tensor:
        convolve = getattr(functional, name)
        return _pulled(
            lambda w: convolve(input, w, None, stride, padding, dilation, groups), weight_size, input, grad_output
        )

    return named(
        f"{name}_weight", by_weight, f"The gradient of `{name}` by its weight, of which the size is given.{example}"
    )


conv1d_input = _by_input(
    "conv1d",
    """

    >>> import pullback
    >>> weight = pullback.tensor([[[1.0, 2.0]]])
    >>> pullback.nn.grad.conv1d_input((1, 1, 3), weight, pullback.tensor([[[1.0, 10.0]]]))
    tensor([[[ 1., 12., 20.]]])
    """,
)
conv1d_weight = _by_weight(
    "conv1d",
    """

    >>> import pullback
    >>> x = pullback.tensor([[[1.0, 2.0, 3.0]]])
    >>> pullback.nn.grad.conv1d_weight(x, (1, 1, 2), pullback.tensor([[[1.0, 10.0]]]))
    tensor([[[21., 32.]]])
    """,
)
conv2d_input, conv2d_weight = _by_input("conv2d", ""), _by_weight("conv2d", "")
conv3d_input, conv3d_weight = _by_input("conv3d", ""), _by_weight("conv3d", "")
