"""NumPy's joins, pieces and rearrangements on tensors: the values NumPy has, the gradients finite differences have."""

# ruff: noqa: PLW0108  # the number of a lambda's parameters says how many arrays a call takes

import numpy as np
import pytest

import pullback
from pullback._numpy.shapes import FUNCTIONS

from ..differences import listed

A = np.array([[0.3, -0.7, 1.9], [-1.2, 0.8, 2.3]])
B = np.array([[0.9, 1.4, -0.6], [0.5, -2.1, 1.1]])

windows = np.lib.stride_tricks.sliding_window_view

OF_ONE = {
    "roll": [
        lambda a: np.roll(a, 1),
        lambda a: np.roll(a, (1, 2), axis=(0, 1)),
        lambda a: np.roll(a, 1, axis=(0, 1)),
        lambda a: np.roll(a, (1, 1), axis=-1),
    ],
    "rot90": [lambda a: np.rot90(a), lambda a: np.rot90(a, 3, (1, 0))],
    "tile": [lambda a: np.tile(a, 2), lambda a: np.tile(a, (2, 1, 2))],
    "repeat": [lambda a: np.repeat(a, 2), lambda a: np.repeat(a, [1, 2, 0], axis=1)],
    "resize": [lambda a: np.resize(a, (3, 4)), lambda a: np.resize(a, 4)],
    "pad": [
        lambda a: np.pad(a, 1),
        lambda a: np.pad(a, 1, constant_values=3.0),
        lambda a: np.pad(a, ((1, 0), (0, 2)), mode="edge"),
    ],
    "hsplit": [lambda a: np.hsplit(a, 3), lambda a: np.hsplit(a, [1])],
    "vsplit": [lambda a: np.vsplit(a, 2)],
    "dsplit": [lambda a: np.dsplit(a[None], [1, 2])],
    "atleast_1d": [lambda a: np.atleast_1d(a), lambda a: np.atleast_1d(a[0, 0], a)],
    "atleast_2d": [lambda a: np.atleast_2d(a[0])],
    "atleast_3d": [lambda a: np.atleast_3d(a), lambda a: np.atleast_3d(a[0])],
    "meshgrid": [
        lambda a: np.meshgrid(a[0], a[1]),
        lambda a: np.meshgrid(a[0], a[1], indexing="ij"),
        lambda a: np.meshgrid(a[0], a[1], sparse=True),
    ],
    "rollaxis": [lambda a: np.rollaxis(a, 1), lambda a: np.rollaxis(a[None], 0, 3)],
    "sliding_window_view": [lambda a: windows(a, 2, 1), lambda a: windows(a, (2, 2))],
    "matrix_transpose": [lambda a: np.matrix_transpose(a), lambda a: np.linalg.matrix_transpose(a)],
    "unstack": [lambda a: np.unstack(a), lambda a: np.unstack(a, axis=1)],
}
OF_TWO = {
    "append": [lambda a, b: np.append(a, b), lambda a, b: np.append(a, b, axis=1)],
    "dstack": [lambda a, b: np.dstack([a, b])],
    "column_stack": [lambda a, b: np.column_stack([a[0], b[0]]), lambda a, b: np.column_stack((a, b))],
    "broadcast_arrays": [lambda a, b: np.broadcast_arrays(a, b[:1])],
}
IN_THIS_NUMPY = {function.__name__ for function in FUNCTIONS}
CALLS = [(name, call) for table in (OF_ONE, OF_TWO) for name in table if name in IN_THIS_NUMPY for call in table[name]]


@pytest.mark.parametrize(("name", "call"), CALLS, ids=[name for name, _ in CALLS])
def test_values_and_gradients(name, call):
    """These functions move elements: a gradient is the sum of the weights at all places that an element has gone to."""
    arrays = (A, B)[: call.__code__.co_argcount]
    tensors = [pullback.tensor(array, requires_grad=True) for array in arrays]
    expected, results = call(*arrays), call(*tensors)
    assert type(expected) in (type(results), np.ndarray)
    weights = [np.cos(np.arange(np.size(y)) + 1).reshape(np.shape(y)) for y in listed(expected)]
    for want, got in zip(listed(expected), listed(results), strict=True):
        assert isinstance(got, pullback.Tensor)
        np.testing.assert_array_equal(got.detach().numpy(), want)
    pullback.autograd.backward(listed(results), [pullback.tensor(weight) for weight in weights])
    for array, tensor in zip(arrays, tensors, strict=True):
        places = [
            [np.where(y == value, w, 0).sum() for value in array.flat]
            for y, w in zip(listed(expected), weights, strict=True)
        ]
        np.testing.assert_allclose(tensor.grad.numpy().reshape(-1), np.sum(places, axis=0), rtol=1e-12, atol=1e-12)


def test_every_function_is_called():
    assert OF_ONE.keys() | OF_TWO.keys() >= IN_THIS_NUMPY


def test_arrays_and_lists_stand_beside_tensors():
    t = pullback.tensor(A, requires_grad=True)
    np.testing.assert_array_equal(np.append(t, [1.0, 2.0]).detach().numpy(), np.append(A, [1.0, 2.0]))
    np.testing.assert_array_equal(np.dstack([t, B]).detach().numpy(), np.dstack([A, B]))
