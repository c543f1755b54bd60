"""Tensors that tests begin with."""

import pullback


def leaf(*values, dtype=None):
    """A vector that requires grad."""
    return pullback.tensor(list(values), dtype=dtype, requires_grad=True)


def double_leaf(*values, dtype=pullback.float64):
    """The same, of double precision unless it is said otherwise."""
    return leaf(*values, dtype=dtype)
