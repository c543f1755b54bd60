"""torch.distributions.utils: what families of distributions are written with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._core.modes import enable_grad
from ..._tensor import sampling
from ...distributions.distribution import broadcast_all as broadcast_all
from ...distributions.distribution import clamped as clamp_probs
from ...distributions.distribution import summed
from ...nn import functional

euler_constant = float(np.euler_gamma)


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Any:
    """Standard normal numbers."""
    return sampling.randn(shape, dtype=dtype, device=device)


def _sum_rightmost(value: Any, dim: int) -> Any:
    """The sum over the last axes, as many as are given."""
    return summed(value, dim)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """The logarithms of probabilities, of their odds if they are those of one of two events."""
    inner = clamp_probs(probs)
    return inner.log() - (-inner).log1p() if is_binary else inner.log()


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """The probabilities whose logarithms, or those of whose odds, are given."""
    return logits.sigmoid() if is_binary else functional.softmax(logits, -1)


class lazy_property:
    """A property that is computed when it is first asked for, and kept."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with enable_grad():  # it is kept, also for later, whatever holds now
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value
