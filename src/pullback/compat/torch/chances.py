"""torch.distributions.utils: helpers for writing families of distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import enable_grad, eye, finfo, linalg, randn
from ...distributions.distribution import broadcast_all as broadcast_all, clamped as clamp_probs, summed
from ...distributions.registry import RULES
from ...extend import restoring
from ...nn import functional

if TYPE_CHECKING:
    from ..._core.typing import Device, DType, Sizes, Tensor


_KL_REGISTRY = RULES  # by the classes of two distributions
euler_constant = float(np.euler_gamma)


def _standard_normal(shape: Sizes, dtype: DType, device: Device) -> Tensor:
    """Standard normal numbers."""
    return randn(shape, dtype=dtype, device=device)


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """The sum over a number of last axes."""
    return summed(value, dim)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """The logarithms of probabilities, or with `is_binary` the log-odds."""
    inner = clamp_probs(probs)
    return inner.log() - (-inner).log1p() if is_binary else inner.log()


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """The probabilities with given logarithms, or with `is_binary` log-odds."""
    return logits.sigmoid() if is_binary else functional.softmax(logits, -1)


def _clipped_sigmoid(x: Tensor) -> Tensor:
    """A sigmoid that is neither 0 nor 1, but at least the smallest normal number, and 1 less the gap above 1."""
    limits = finfo(x.dtype)
    return x.sigmoid().clamp(min=limits.tiny, max=1.0 - limits.eps)


def _precision_to_scale_tril(P: Tensor) -> Tensor:
    """The Cholesky factor of the inverse of a precision matrix, without that inverse.

    P = U U' for an upper triangle U, the Cholesky factor of P with reversed axes, reversed again; the inverse of P is
    then the product of the inverse of U' and its transpose.
    """
    lower = linalg.cholesky(P.flip((-2, -1))).flip((-2, -1)).mT
    return linalg.solve_triangular(lower, eye(P.shape[-1], dtype=P.dtype), upper=False)


class lazy_property:
    """A property that is computed on first access and then stored."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    @restoring
    def __get__(self, instance: object, owner: object = None) -> Any:
        if instance is None:
            return self
        with enable_grad():  # recorded, because it is stored for later uses
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value
