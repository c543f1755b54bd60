"""Linear maps: Identity, Linear and Bilinear."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .. import functional as F, init
from ..parameter import Parameter, allocate, check_sizes
from .module import Module

if TYPE_CHECKING:
    from ..._core.typing import Device, DType, Tensor


class Identity(Module):
    """A module that returns its input; it accepts any arguments, to replace any module.

    >>> import pullback
    >>> pullback.nn.Identity(54, any_argument=True)(pullback.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    """x @ weight.T + bias, over the last axis of x.

    `weight` has shape (out_features, in_features), `bias` (out_features,); both start uniformly distributed between
    -1 / sqrt(in_features) and 1 / sqrt(in_features). With `bias=False` there is none.

    Parameters
    ----------
    in_features
        The length of the input's last axis.
    out_features
        The length of the result's last axis.
    bias
        Add a bias, which is learned.
    device
        Where the parameters lie; there is only the CPU.
    dtype
        The dtype of the parameters; None for the default.

    >>> import pullback
    >>> from pullback import nn
    >>> layer = nn.Linear(20, 30)
    >>> layer(pullback.randn(128, 20)).shape
    pullback.Size([128, 30])
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        check_sizes(self, in_features=in_features, out_features=out_features)
        self.in_features = in_features
        self.out_features = out_features
        self.weight = allocate(out_features, in_features, device=device, dtype=dtype)
        self.register_parameter("bias", allocate(out_features, device=device, dtype=dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset to new random weights."""
        evenly(self.weight, self.bias, fan_in=self.in_features)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


def evenly(*parameters: Tensor | None, fan_in: int) -> None:
    """Fill parameters uniformly within 1 / sqrt(fan_in): torch's initialization of linear maps and convolutions."""
    bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0.0
    for parameter in parameters:
        if parameter is not None:
            init.uniform_(parameter, -bound, bound)


class Bilinear(Module):
    """x1 @ weight[k] @ x2 + bias[k] for each output k, over the last axes of x1 and x2.

    `weight` has shape (out_features, in1_features, in2_features).

    Parameters
    ----------
    in1_features
        The length of the first input's last axis.
    in2_features
        The length of the second input's last axis.
    out_features
        The length of the result's last axis.
    bias
        Add a bias, which is learned.
    device
        Where the parameters lie; there is only the CPU.
    dtype
        The dtype of the parameters; None for the default.

    >>> import pullback
    >>> layer = pullback.nn.Bilinear(2, 3, 4)
    >>> layer(pullback.randn(5, 2), pullback.randn(5, 3)).shape
    pullback.Size([5, 4])
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        check_sizes(self, in1_features=in1_features, in2_features=in2_features, out_features=out_features)
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got (in1_features={in1_features})")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = allocate(out_features, in1_features, in2_features, device=device, dtype=dtype)
        self.register_parameter("bias", allocate(out_features, device=device, dtype=dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset to new random weights."""
        evenly(self.weight, self.bias, fan_in=self.in1_features)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        sizes = f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}"
        return f"{sizes}, bias={self.bias is not None}"
