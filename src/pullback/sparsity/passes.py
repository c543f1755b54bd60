"""Passes: computation of the entries of a pattern.

A reverse pass multiplies by the transpose: a cotangent that is 1 in all rows of one color gives the sum of these rows.
A forward pass gives a sum of columns. It is a reverse pass over a reverse pass: the pullback is linear in its cotangent
v, and the transpose of this linear map is the Jacobian, computed on the existing graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import as_tensor, enable_grad
from ..autograd import grad
from ..extend import restoring
from ..observe import value
from .coloring import Coloring

if TYPE_CHECKING:
    from .._core.typing import Tensor

Array = np.ndarray[Any, np.dtype[Any]]
Product = Callable[[Array], Array]


def filled(y: Tensor, x: Tensor, rows: Array, columns: Array, coloring: Coloring) -> tuple[Array, int]:
    """The entries of the Jacobian of y with respect to x at given positions, and the number of passes."""
    data = np.zeros(rows.size, value(x).dtype)
    by_columns = coloring.by_columns(rows, columns)
    passes = _fill(data, coloring.rows, rows, columns, ~by_columns, transposed(y, x))
    if by_columns.any():
        passes += _fill(data, coloring.columns, columns, rows, by_columns, forward(y, x))
    return data, passes


def filled_symmetric(g: Tensor, x: Tensor, rows: Array, columns: Array, coloring: Coloring) -> tuple[Array, int]:
    """The entries of the Jacobian of a gradient, each read from the pass of the lesser of its two colors."""
    colors = coloring.rows
    swapped = colors[rows] > colors[columns]
    lines, crossings = np.where(swapped, columns, rows), np.where(swapped, rows, columns)
    data = np.zeros(rows.size, value(x).dtype)
    return data, _fill(data, colors, lines, crossings, np.ones(rows.size, np.bool_), transposed(g, x))


def _fill(data: Array, colors: Array, lines: Array, crossings: Array, chosen: Array, product: Product) -> int:
    """Fill the chosen entries: the product with all lines of a color contains each entry at its crossing."""
    places = np.flatnonzero(chosen)
    own = colors[lines[places]]
    order = np.argsort(own, kind="stable")
    needed, starts = np.unique(own[order], return_index=True)
    for color, found in zip(needed, np.split(places[order], starts[1:]), strict=False):
        data[found] = product(colors == color)[crossings[found]]
    return needed.size


def transposed(y: Tensor, x: Tensor) -> Product:
    """The product of a vector with the Jacobian of y with respect to x: the pullback."""

    def product(v: Array) -> Array:
        if not y.requires_grad:  # the rule returned constant zeros
            return np.zeros(x.numel(), value(x).dtype)
        g = as_tensor(v.astype(value(y).dtype).reshape(y.shape))
        (pulled,) = grad(y, x, g, retain_graph=True, materialize_grads=True)
        found: Array = value(pulled).reshape(-1)
        return found

    return product


@restoring
def forward(y: Tensor, x: Tensor) -> Product:
    """The product of the Jacobian of y with respect to x with a vector: the pushforward."""
    with enable_grad():
        v = as_tensor(np.zeros(y.shape, value(y).dtype)).requires_grad_()
        (pulled,) = grad(y, x, v, create_graph=True)
    return transposed(pulled, v)
