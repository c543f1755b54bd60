"""Passes: computation of the entries of a pattern.

A reverse pass multiplies by the transpose: a cotangent that is 1 in all rows of one colour gives the sum of these rows.
A forward pass gives a sum of columns. It is a reverse pass over a reverse pass: the pullback is linear in its cotangent
v, and the transpose of this linear map is the Jacobian, computed on the existing graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.modes import FieldBlock
from .._tape import backward
from .coloring import Coloring

if TYPE_CHECKING:
    from .._core.typing import Tensor

Array = np.ndarray[Any, np.dtype[Any]]
Product = Callable[[Array], Array]


def filled(y: Tensor, x: Tensor, rows: Array, columns: Array, coloring: Coloring) -> tuple[Array, int]:
    """The entries of the Jacobian of y with respect to x at given positions, and the number of passes."""
    data = np.zeros(rows.size, x._dtype)
    by_columns = coloring.by_columns(rows, columns)
    passes = _fill(data, coloring.rows, rows, columns, ~by_columns, transposed(y, x))
    if by_columns.any():
        passes += _fill(data, coloring.columns, columns, rows, by_columns, forward(y, x))
    return data, passes


def filled_symmetric(g: Tensor, x: Tensor, rows: Array, columns: Array, coloring: Coloring) -> tuple[Array, int]:
    """The entries of the Jacobian of a gradient, each read from the pass of the lesser of its two colours."""
    colors = coloring.rows
    swapped = colors[rows] > colors[columns]
    lines, crossings = np.where(swapped, columns, rows), np.where(swapped, rows, columns)
    data = np.zeros(rows.size, x._dtype)
    return data, _fill(data, colors, lines, crossings, np.ones(rows.size, np.bool_), transposed(g, x))


def _fill(data: Array, colors: Array, lines: Array, crossings: Array, chosen: Array, product: Product) -> int:
    """Fill the chosen entries: the product with all lines of a colour contains each entry at its crossing."""
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
        if y._node is None:  # the rule returned constant zeros
            return np.zeros(x.numel(), x._dtype)
        g = y.interpreter.wrap(v.astype(y._dtype).reshape(y.shape), None)
        pulled: Array = backward.grad(y, x, g, retain_graph=True, materialize_grads=True)[0]._array
        return pulled.reshape(-1)

    return product


def forward(y: Tensor, x: Tensor) -> Product:
    """The product of the Jacobian of y with respect to x with a vector: the pushforward."""
    with FieldBlock(grad=True):
        v = y.interpreter.wrap(np.zeros(y.shape, y._dtype), None).requires_grad_()
        (pulled,) = backward.grad(y, x, v, create_graph=True)
    return transposed(pulled, v)
