"""Layouts: how the elements of an array may lie in memory."""

import numpy as np


def strided(x):
    """Every second element of each axis of a larger array."""
    wide = np.zeros([2 * size for size in x.shape], x.dtype)[(slice(None, None, 2),) * x.ndim]
    wide[...] = x
    return wide


def negative(x):
    """From the last element of memory to the first."""
    turned = (slice(None, None, -1),) * x.ndim
    return np.array(x[turned], order="C")[turned]


def transposed(x):
    """The last two axes in the other order; of images, the channels behind the places."""
    if x.ndim < 2:
        return x[::-1].copy()[::-1]
    axes = (1, -1) if x.ndim > 3 else (-2, -1)
    return np.moveaxis(np.array(np.moveaxis(x, *axes), order="C"), *reversed(axes))


def cut(x):
    """A part of a larger array: no gaps within the last axis, gaps between its rows."""
    wide = np.zeros([size + 3 for size in x.shape], x.dtype)[tuple([slice(1, 1 + size) for size in x.shape])]
    wide[...] = x
    return wide


def expanded(axis):
    """The first elements along an axis, repeated without memory of their own."""
    return lambda x: np.broadcast_to(x.take([0], axis), x.shape) if x.shape[axis] else x


LAYOUTS = {
    "C": lambda x: np.array(x, order="C"),
    "Fortran": lambda x: np.array(x, order="F"),
    "transposed": transposed,
    "strided": strided,
    "negative": negative,
    "cut": cut,
    "rows expanded": expanded(0),
    "columns expanded": expanded(-1),
}


def laid_out(x, layout):
    """An array in a layout: its own numbers, except where it is expanded."""
    return LAYOUTS[layout](x) if x.ndim else x


def in_order(x, layout):
    """The numbers that an array has in a layout, one after another."""
    return np.array(laid_out(x, layout), order="C")
