"""Layers and losses: what the seed programs and a multi-layer perceptron need, in torch's words."""

from __future__ import annotations

from typing import Any

from . import functional as functional


class Sigmoid:
    """The sigmoid as a module: `Sigmoid()(x)` is `x.sigmoid()`.

    >>> import pullback
    >>> pullback.nn.Sigmoid()(pullback.zeros(2))
    tensor([0.5000, 0.5000])
    """

    def __call__(self, input: Any) -> Any:
        """1 / (1 + exp(-input)), elementwise."""
        return input.sigmoid()

    def __repr__(self) -> str:
        return "Sigmoid()"
