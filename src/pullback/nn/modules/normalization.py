"""Normalization of each sample separately: over its last axes, groups of channels, or neighboring channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import functional as F, init
from ..parameter import Parameter, allocate, check_sizes
from .declared import Computed, declared
from .module import Module

if TYPE_CHECKING:
    from ..._core.typing import Device, DType, Tensor


class Scaled(Module):
    """The common base of normalizations: a weight that starts at 1 and a bias that starts at 0, or none."""

    weight: Parameter | None
    bias: Parameter | None

    def _scale(
        self, sizes: tuple[int, ...], weight: bool, bias: bool, device: Device | None, dtype: DType | None
    ) -> None:
        """Create the weight and the bias, if requested."""
        self.register_parameter("weight", allocate(*sizes, device=device, dtype=dtype) if weight else None)
        self.register_parameter("bias", allocate(*sizes, device=device, dtype=dtype) if bias else None)

    def reset_parameters(self) -> None:
        """Reset the weight to 1, and the bias to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


def _sizes(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    return (int(normalized_shape),) if isinstance(normalized_shape, int | np.integer) else tuple(normalized_shape)


class LayerNorm(Scaled):
    """The input with mean 0 and variance 1 over its last axes, of sizes `normalized_shape`, times a weight plus a bias.

    Ba, Kiros and Hinton, Layer normalization, 2016.

    Parameters
    ----------
    normalized_shape
        The lengths of the last axes, over which is normalized.
    eps
        A small number added to the variance.
    elementwise_affine
        Multiply by a weight and add a bias, which are learned.
    bias
        Add a bias, which is learned.
    device
        Where the parameters lie; there is only the CPU.
    dtype
        The dtype of the parameters; None for the default.

    >>> import pullback
    >>> pullback.nn.LayerNorm(2, elementwise_affine=False)(pullback.tensor([[1.0, 3.0]]))
    tensor([[-1.0000,  1.0000]])
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        check_sizes(self, normalized_shape=normalized_shape)
        self.normalized_shape = _sizes(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self._scale(self.normalized_shape, elementwise_affine, elementwise_affine and bias, device, dtype)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        settings = f"eps={self.eps}, elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        return f"{self.normalized_shape}, {settings}"


class GroupNorm(Scaled):
    """The input with mean 0 and variance 1 over each of some groups of channels, times a weight plus a bias.

    Wu and He, Group normalization, 2018.

    Parameters
    ----------
    num_groups
        The number of groups of channels.
    num_channels
        The number of channels.
    eps
        A small number added to the variance.
    affine
        Multiply by a weight and add a bias, which are learned.
    device
        Where the parameters lie; there is only the CPU.
    dtype
        The dtype of the parameters; None for the default.
    bias
        Add a bias, which is learned.

    >>> import pullback
    >>> pullback.nn.GroupNorm(3, 6)(pullback.randn(20, 6, 10, 10)).shape
    pullback.Size([20, 6, 10, 10])
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Device | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        check_sizes(self, 1, num_groups=num_groups)
        check_sizes(self, num_channels=num_channels)
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self._scale((num_channels,), affine, affine and bias, device, dtype)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        settings = f"eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"
        return f"{self.num_groups}, {self.num_channels}, {settings}"


class RMSNorm(Module):
    """The input divided by its root mean square over its last axes, times a weight.

    `eps` is the dtype's when left out. Zhang and Sennrich, Root mean square layer normalization, 2019.

    Parameters
    ----------
    normalized_shape
        The lengths of the last axes, over which is normalized.
    eps
        A small number added to the mean square; None for the machine epsilon of the dtype.
    elementwise_affine
        Multiply by a weight and add a bias, which are learned.
    device
        Where the parameters lie; there is only the CPU.
    dtype
        The dtype of the parameters; None for the default.

    >>> import pullback
    >>> pullback.nn.RMSNorm(2)(pullback.tensor([[1.0, 7.0]])).detach()
    tensor([[0.2000, 1.4000]])
    """

    weight: Parameter | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        check_sizes(self, normalized_shape=normalized_shape)
        self.normalized_shape = _sizes(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        weight = allocate(*self.normalized_shape, device=device, dtype=dtype) if elementwise_affine else None
        self.register_parameter("weight", weight)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset the weight to 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input: Tensor) -> Tensor:
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


@declared(F.local_response_norm, "{size}, alpha={alpha}, beta={beta}, k={k}")
class LocalResponseNorm(Computed):
    """The input divided by a power of the mean square of neighboring channels.

    Krizhevsky, Sutskever and Hinton, ImageNet classification with deep convolutional neural networks, 2012.

    Parameters
    ----------
    size
        The number of neighboring channels.
    alpha
        The factor of their mean square.
    beta
        The exponent.
    k
        What is added to it.

    >>> from pullback import nn, ones
    >>> nn.LocalResponseNorm(2, alpha=2.0, beta=1.0)(ones(1, 2, 1)).flatten()  # 1 / (1 + 2 / 2), 1 / (1 + 2)
    tensor([0.5000, 0.3333])
    """

    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0
