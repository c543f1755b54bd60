"""Dropout: elements or channels that are zeroed at random while training, by torch's names."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core.sites import warn
from .._core.values import require_tensor, untracked
from .._numerics import random
from .._tape.views import write
from . import shapes

if TYPE_CHECKING:
    from .._core.typing import Tensor

SATURATION = 1.7580993408473766  # the negative of the limit of selu at minus infinity


def _check(name: str, input: Tensor, p: float) -> None:
    require_tensor(name, "input", input)
    if not 0 <= untracked(name, p) <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _kept(shape: tuple[int, ...], p: float, factor: float, dtype: np.dtype[Any]) -> Tensor:
    """A random mask: `factor` for the elements that are kept, 0 elsewhere."""
    single = np.dtype(np.float32)
    draw = random.Elementwise(
        "scaled_bernoulli",
        "random",
        single,
        lambda xp, x: xp.where(x >= xp.constant(p, single), xp.constant(factor, dtype), xp.constant(0, dtype)),
    )
    return random.sampled(draw, shape)


def _dropped(name: str, input: Tensor, p: float, training: bool, inplace: bool, shape: tuple[int, ...]) -> Tensor:
    """The input with random elements zeroed, the same along axes of length 1 in `shape`, and the others scaled up."""
    if not training or p == 0 or input.numel() == 0:
        return input
    scale = 0 if p == 1 else 1 / (1 - p)
    result = ops.multiply(input, _kept(shape, p, scale, input._dtype))
    return write(input, result, name) if inplace else result


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """While training, zeros with probability p; the other elements are divided by 1 - p; arguments as for `nn.Dropout`.

    >>> import pullback
    >>> pullback.nn.functional.dropout(pullback.ones(2), p=0.5, training=False)
    tensor([1., 1.])
    """
    _check("dropout", input, p)
    return _dropped("dropout_", input, p, training, inplace, tuple(input.shape))


def _channels(input: Tensor) -> tuple[int, ...]:
    if input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input: samples and channels")
    return (*input.shape[:2], *(1 for _ in input.shape[2:]))


def _of_channels(name: str, input: Tensor, p: float, training: bool, inplace: bool, batched: bool) -> Tensor:
    """Dropout of whole channels, for a batch of samples or a single one."""
    whole = input if batched else shapes.unsqueeze(input, 0)
    result = _dropped(name, whole, p, training, inplace, _channels(whole))
    return result if batched else shapes.squeeze(result, 0)


def feature_dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels (axis 1); arguments as for `nn.Dropout`.

    >>> import pullback
    >>> pullback.feature_dropout(pullback.ones(1, 2, 3), 0.5, False)
    tensor([[[1., 1., 1.],
             [1., 1., 1.]]])
    """
    _check("feature_dropout", input, p)
    return _of_channels("feature_dropout_", input, p, training, inplace, True)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, L) or (C, L); arguments as for `nn.Dropout`.

    >>> import pullback
    >>> pullback.nn.functional.dropout1d(pullback.ones(2, 3, 5)).unique(dim=2).shape  # one value for each channel
    pullback.Size([2, 3, 1])
    """
    _check("dropout1d", input, p)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that dropout1d exists to "
            "provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch "
            "dimension (i.e. 2D or 3D inputs)."
        )
    return _of_channels("dropout1d_", input, p, training, inplace, input.ndim == 3)


def _of_axes(count: int, input: Tensor, p: float, training: bool, inplace: bool, batched: bool) -> Tensor:
    """`dropout2d` and `dropout3d`, by their number of spatial axes."""
    name = f"dropout{count}d"
    _check(name, input, p)
    if input.ndim not in (count + 1, count + 2):
        warn(
            f"{name}: Received a {input.ndim}-D input to {name}, which is deprecated: it is for inputs with {count} spatial "
            "dimensions, a channel dimension, and an optional batch dimension."
        )
    return _of_channels(f"{name}_", input, p, training, inplace, batched)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, H, W); arguments as for `nn.Dropout`.

    >>> import pullback
    >>> pullback.nn.functional.dropout2d(pullback.ones(2, 3, 4, 5)).flatten(2).unique(dim=2).shape  # one value for each channel
    pullback.Size([2, 3, 1])
    """
    return _of_axes(2, input, p, training, inplace, batched=True)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W); arguments as for `nn.Dropout`.

    >>> import pullback
    >>> pullback.nn.functional.dropout3d(pullback.ones(1, 2, 3, 3, 3), p=1.0).sum()
    tensor(0.)
    """
    return _of_axes(3, input, p, training, inplace, batched=getattr(input, "ndim", 0) != 4)


def _alpha(name: str, input: Tensor, p: float, training: bool, inplace: bool, shape: tuple[int, ...]) -> Tensor:
    """Dropout to the saturation value of selu, shifted and scaled such that mean and variance are preserved."""
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        return _dropped(name, input, p, training, inplace, shape)
    scale = 1 / math.sqrt((SATURATION**2 * p + 1) * (1 - p))
    number = input._dtype.type
    kept = _kept(shape, p, 1, input._dtype)
    shift = (kept - number(1 - p)) * number(SATURATION * scale)
    result = ops.multiply(input, kept * number(scale)) + shift
    return write(input, result, name) if inplace else result


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that preserves the mean and variance of the outputs of selu; arguments as for `nn.Dropout`.

    >>> import pullback
    >>> pullback.nn.functional.alpha_dropout(pullback.tensor([1.0, 2.0]), training=False)
    tensor([1., 2.])
    """
    _check("alpha_dropout", input, p)
    return _alpha("alpha_dropout_", input, p, training, inplace, tuple(input.shape))


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """`alpha_dropout` of whole channels; arguments as for `nn.Dropout`.

    >>> import pullback
    >>> pullback.nn.functional.feature_alpha_dropout(pullback.ones(2, 3, 5), training=True).unique(dim=2).shape  # one value for each channel
    pullback.Size([2, 3, 1])
    """
    _check("feature_alpha_dropout", input, p)
    return _alpha("feature_alpha_dropout_", input, p, training, inplace, _channels(input) if training else ())
