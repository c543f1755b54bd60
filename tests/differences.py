"""NumPy functions on arrays and on tensors: the same values, and the gradients of finite differences."""

import numpy as np

import pullback


def slope(function, arrays, weights, place, step=1e-6):
    """The gradient of the weighted sum of a function's results with respect to one array, from differences."""
    found = np.zeros_like(arrays[place])
    for index in np.ndindex(found.shape):
        ends = []
        for sign in (1, -1):
            moved = [array.copy() for array in arrays]
            moved[place][index] += sign * step
            ends.append(sum(np.sum(w * y) for w, y in zip(weights, listed(function(*moved)), strict=True)))
        found[index] = (ends[0] - ends[1]) / (2 * step)
    return found


def listed(result):
    return list(result) if isinstance(result, (list, tuple)) else [result]


def check(function, *arrays):
    """One text for arrays and for tensors: the same values, and the gradients of differences."""
    tensors = [pullback.tensor(array, requires_grad=True) for array in arrays]
    expected, results = listed(function(*arrays)), listed(function(*tensors))
    weights = [np.cos(np.arange(np.size(y)) + 1).reshape(np.shape(y)) for y in expected]
    for want, got in zip(expected, results, strict=True):
        assert isinstance(got, pullback.Tensor)
        assert got.requires_grad
        assert (got.shape, got.detach().numpy().dtype) == (np.shape(want), np.asarray(want).dtype)
        np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-12)
    pullback.autograd.backward(results, [pullback.tensor(np.asarray(w)) for w in weights])
    for place, tensor in enumerate(tensors):
        np.testing.assert_allclose(tensor.grad.numpy(), slope(function, arrays, weights, place), atol=1e-7, rtol=1e-6)
