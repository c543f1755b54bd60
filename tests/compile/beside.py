"""What the tests of recorded functions share: a compiled function without fusion, and results that are the same."""

import numpy as np

import pullback
from pullback.compile import Compiled


def same(left, right):
    """Two results, equal to the bit."""
    if isinstance(left, tuple | list):
        assert len(left) == len(right)
        for a, b in zip(left, right, strict=True):
            same(a, b)
    elif left is None:
        assert right is None
    elif isinstance(left, pullback.Tensor):
        assert (left.dtype, left.shape, left.requires_grad) == (right.dtype, right.shape, right.requires_grad)
        np.testing.assert_array_equal(left.detach().numpy(), right.detach().numpy())
    else:
        assert left == right


def plain(function):
    """A compiled function without machine code and fusion, which agrees to the bit."""
    return Compiled(function, fuse=False)


def follows(function, changes):
    """Assert that a compiled function goes along with changes of what it reads."""
    compiled = plain(function)
    x = pullback.arange(3.0)
    for change in (lambda: None, lambda: None, *changes):
        change()
        for _ in range(2):
            same(function(x), compiled(x))
