"""A layer and a subsequent batch normalization fused into one layer, for evaluation."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from ..._tensor.creation import ones, zeros
from ..parameter import Parameter

if TYPE_CHECKING:
    from ..._core.typing import Tensor
    from ..modules.batchnorm import _NormBase
    from ..modules.conv import _ConvNd
    from ..modules.linear import Linear
    from ..modules.module import Module

Convolution = TypeVar("Convolution", bound="_ConvNd")
Layer = TypeVar("Layer", bound="Linear")
Norm: TypeAlias = "tuple[Tensor, Tensor, float, Tensor | None, Tensor | None]"
"""Mean, variance, epsilon, weight and bias of a batch normalization."""


def _require_eval(*modules: Module) -> None:
    if any(module.training for module in modules):
        raise AssertionError("Fusion only for eval! Call .eval() of both modules first")


def _fused(weight: Tensor, bias: Tensor | None, norm: Norm, axis: int) -> tuple[Parameter, Parameter]:
    """The weight and bias of a layer fused with a batch normalization, along an axis of the weight."""
    mean, variance, eps, scale, shift = norm
    bias = zeros(mean.shape, dtype=mean.dtype) if bias is None else bias
    scale = ones(mean.shape, dtype=mean.dtype) if scale is None else scale
    shift = zeros(mean.shape, dtype=mean.dtype) if shift is None else shift
    factor = scale * (variance + eps).rsqrt()
    sizes = [-1 if place == axis else 1 for place in range(weight.ndim)]
    made = (weight * factor.reshape(sizes)).to(weight.dtype)
    moved = ((bias - mean) * factor + shift).to(bias.dtype)
    return Parameter(made.detach(), weight.requires_grad), Parameter(moved.detach(), bias.requires_grad)


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """The weight and bias of a convolution fused with a subsequent batch normalization.

    >>> from pullback import nn, ones, tensor, zeros
    >>> zero, one = zeros(1), ones(1)
    >>> nn.utils.fuse_conv_bn_weights(tensor([[[1.0]]]), zero, zero, tensor([3.0]), 1.0, one, one)[0]  # over sqrt(3 + 1)
    Parameter containing:
    tensor([[[0.5000]]])
    """
    return _fused(conv_w, conv_b, (bn_rm, bn_rv, bn_eps, bn_w, bn_b), int(transpose))


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:
    """The weight and bias of a linear map fused with a subsequent batch normalization.

    >>> from pullback import nn, ones, tensor, zeros
    >>> zero, one = zeros(1), ones(1)
    >>> nn.utils.fuse_linear_bn_weights(tensor([[1.0]]), zero, zero, tensor([3.0]), 1.0, one, one)[0]  # over sqrt(3 + 1)
    Parameter containing:
    tensor([[0.5000]])
    """
    return _fused(linear_w, linear_b, (bn_rm, bn_rv, bn_eps, bn_w, bn_b), 0)


def _normalisation(bn: _NormBase) -> Norm:
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("Cannot fuse a batch normalisation without running_mean and running_var")
    return bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias


def fuse_conv_bn_eval(conv: Convolution, bn: _NormBase, transpose: bool = False) -> Convolution:
    """A convolution that does what another and the batch normalization after it do, both in evaluation.

    Raises
    ------
    AssertionError
        If one of them is in training, or the normalization has no running statistics.

    >>> import pullback
    >>> from pullback import nn
    >>> conv, bn, x = nn.Conv1d(2, 3, 1).eval(), nn.BatchNorm1d(3).eval(), pullback.randn(4, 2, 5)
    >>> pullback.allclose(nn.utils.fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)), atol=1e-6)
    True
    """
    _require_eval(conv, bn)
    fused = deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(conv.weight, conv.bias, *_normalisation(bn), transpose=transpose)
    return fused


def fuse_linear_bn_eval(linear: Layer, bn: _NormBase) -> Layer:
    """A linear map that does what another and the batch normalization after it do, both in evaluation.

    Raises
    ------
    AssertionError
        If one of them is in training, the normalization has no running statistics, or counts other features.

    >>> import pullback
    >>> linear, norm = pullback.nn.Linear(2, 3).eval(), pullback.nn.BatchNorm1d(3).eval()
    >>> fused, x = pullback.nn.utils.fuse_linear_bn_eval(linear, norm), pullback.ones(4, 2)
    >>> pullback.allclose(fused(x), norm(linear(x)), atol=1e-6)
    True
    """
    _require_eval(linear, bn)
    if bn.num_features not in (linear.out_features, 1):
        raise AssertionError(
            f"To fuse, linear.out_features == bn.num_features or bn.num_features == 1: they are {linear.out_features} and "
            f"{bn.num_features}"
        )
    fused = deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(linear.weight, linear.bias, *_normalisation(bn))
    return fused
