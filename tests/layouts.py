"""Layouts: how the elements of one array may lie in memory, and what an operation gives for arrays that lie so."""

from __future__ import annotations

import numpy as np

import pullback
from pullback.autograd import grad


def strided(x):
    """Every second element of each axis of a larger array."""
    if not x.ndim:
        return x
    wide = np.zeros([2 * size for size in x.shape], x.dtype)[(slice(None, None, 2),) * x.ndim]
    wide[...] = x
    return wide


def negative(x):
    """From the last element of memory to the first."""
    if not x.ndim:
        return x
    turned = (slice(None, None, -1),) * x.ndim
    return np.array(x[turned], order="C")[turned]


def transposed(x):
    """The last two axes, or those around the channels of images, in the other order."""
    axes = (1, -1) if x.ndim > 3 else (-2, -1)
    if x.ndim < 2:
        return strided(x)
    return np.moveaxis(np.array(np.moveaxis(x, *axes), order="C"), *reversed(axes))


def cut(x):
    """A part of a larger array: no gaps within the last axis, gaps between its rows."""
    if not x.ndim:
        return x
    wide = np.zeros([size + 3 for size in x.shape], x.dtype)[tuple([slice(1, 1 + size) for size in x.shape])]
    wide[...] = x
    return wide


def expanded(axis):
    """The first elements along an axis, repeated without memory of their own."""

    def layout(x):
        if not x.ndim or not x.shape[axis]:
            return x
        return np.broadcast_to(x.take([0], axis), x.shape)

    return layout


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


def contiguous(layout):
    """The same numbers as in a layout, one after another."""
    return lambda x: np.array(LAYOUTS[layout](x), order="C")


def pieces(result):
    """The outputs of an operation that can have a derivative."""
    found = result if isinstance(result, (tuple, list)) else [result]
    return [y for y in found if pullback.is_tensor(y) and y._dtype.kind in "fc"]


def noise(shape, dtype, seed):
    """Numbers of a dtype."""
    rng = np.random.default_rng(seed)
    found = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if dtype.kind == "c" else 0)
    return np.asarray(found, dtype)


def tracked(array):
    tensor = pullback.from_numpy(array)
    return tensor.requires_grad_() if array.dtype.kind in "fc" else array


def product(tensors, arrays):
    """The real inner product of tensors with arrays."""
    return sum(pullback.real((t * pullback.from_numpy(a).conj()).sum()) for t, a in zip(tensors, arrays, strict=True))


def results(function, arrays, laid, *, between=False, second=True):
    """What an operation gives for arrays as they lie: its values, what cotangents laid out so pull back to, and what follows
    from the product of that with directions of this layout.

    With `between`, what the operation meets lies so, and is neither a leaf nor what the caller gives.
    """
    args = [tracked(array) for array in arrays]
    leaves = [arg for arg in args if pullback.is_tensor(arg)]
    operands = [arg * 1 if between and pullback.is_tensor(arg) else arg for arg in args]
    outputs = pieces(function(*operands))
    cotangents = [tracked(laid(noise(tuple(y.shape), y._dtype, 1))) for y in outputs]
    ends = [y * 1 for y in outputs] if not between else outputs
    values = [y.detach().numpy() for y in outputs]
    if between:
        ends = [y * c for y, c in zip(outputs, cotangents, strict=True)]
        given = [pullback.ones_like(y) for y in ends]
    else:
        ends, given = outputs, cotangents
    pulled = grad(ends, leaves, given, create_graph=second, materialize_grads=True)
    found = {"value": values, "gradient": [p.detach().numpy() for p in pulled]}
    if second:
        total = product(pulled, [laid(noise(tuple(p.shape), p._dtype, 2)) for p in pulled])
        if total.requires_grad:
            again = grad(total, [*leaves, *cotangents], materialize_grads=True)
            found["second"] = [p.numpy() for p in again]
    return found


def difference(one, other):
    """The largest distance of results, over the largest of their numbers."""
    worst = {}
    for name in other:
        for a, b in zip(one[name], other[name], strict=True):
            if a.shape != b.shape or a.dtype != b.dtype:
                return {name: np.inf}
            a, b = np.atleast_1d(a), np.atleast_1d(b)
            odd = ~np.isfinite(b)
            if (odd != ~np.isfinite(a)).any():
                return {name: np.inf}
            if b.size and not odd.all():
                scale = max(1.0, np.abs(b[~odd]).max())
                worst[name] = max(worst.get(name, 0), np.abs(a[~odd] - b[~odd]).max() / scale)
    return worst
