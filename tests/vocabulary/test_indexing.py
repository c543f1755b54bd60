"""Indices with an ellipsis: what they stand for, beside NumPy, and what is out of bounds, in torch's words."""

import numpy as np
import pytest

import pullback

ELLIPSES = [
    (..., 0), (..., -1), (0, ...), (0, ..., 1), (..., None), (None, ..., 2), (..., None, 1), (1, None, ..., None, 2), (...,),
    (..., slice(1, None)), (slice(None), ..., 1, None), (..., 4, 2), (4, ..., 2), (None, ..., None), (..., 0, slice(None)),
]  # fmt: skip


@pytest.mark.parametrize("index", ELLIPSES, ids=repr)
def test_an_ellipsis_stands_for_the_axes_that_are_left(index):
    values = np.arange(15.0).reshape(5, 3)
    x = pullback.tensor(values, requires_grad=True)
    part = x[index]
    np.testing.assert_array_equal(part.detach().numpy(), values[index])
    part.sum().backward()
    wanted = np.zeros_like(values)
    wanted[index] = 1
    np.testing.assert_array_equal(x.grad.numpy(), wanted)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ((..., 4), "index 4 is out of bounds for dimension 1 with size 3"),
        ((5, ...), "index 5 is out of bounds for dimension 0 with size 5"),
        ((..., -6, 0), "index -6 is out of bounds for dimension 0 with size 5"),
        ((..., 0, 0, 0), "too many indices for tensor of dimension 2"),
        ((0, 0, ..., 0), "too many indices for tensor of dimension 2"),
    ],
)
def test_what_is_out_of_bounds_beside_an_ellipsis(index, message):
    with pytest.raises(IndexError, match=message):
        pullback.zeros(5, 3)[index]
