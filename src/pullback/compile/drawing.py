"""Random numbers in a program: an operation that has an effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._numerics.random import source

if TYPE_CHECKING:
    from .._core.typing import Array
    from .._numerics.random import Draw as Sampler, Source


class Draw:
    """A primitive that draws random numbers: it has an effect, and is neither merged with another nor left out."""

    name = "draw"
    kind = "effect"
    title = "DrawBackward"
    differentiable = False
    rules = ()
    outputs = 1
    view = False
    definition = None
    commutes = False
    cost = 8

    def __init__(self, draw: Sampler, shape: tuple[int, ...], generator: Source) -> None:
        self.draw, self.shape, self.generator = draw, shape, generator

    def forward(self, *parameters: Array, distribution: str = "") -> Array:
        """Numbers from the generator; `distribution` is the name of what draws them, for who reads the program."""
        return np.asarray(self.draw(source(self.generator), self.shape, *parameters))
