"""torch.distributions.utils: helpers for writing families of distributions."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import enable_grad, randn
from ...distributions.distribution import broadcast_all as broadcast_all, clamped as clamp_probs, summed
from ...extend import restoring
from ...nn import functional

euler_constant = float(np.euler_gamma)


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Any:
    """Standard normal numbers."""
    return randn(shape, dtype=dtype, device=device)


def _sum_rightmost(value: Any, dim: int) -> Any:
    """The sum over a number of last axes."""
    return summed(value, dim)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """The logarithms of probabilities, or with `is_binary` the log-odds."""
    inner = clamp_probs(probs)
    return inner.log() - (-inner).log1p() if is_binary else inner.log()


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """The probabilities with given logarithms, or with `is_binary` log-odds."""
    return logits.sigmoid() if is_binary else functional.softmax(logits, -1)


class lazy_property:
    """A property that is computed on first access and then stored."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    @restoring
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with enable_grad():  # recorded, because it is stored for later uses
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value
