"""Idioms of NumPy programs mean the same on tensors inside numpy_programs, and their gradients are those of differences."""

import sys
import types
import warnings

import numpy as np
import pytest

import pullback

from .idioms import EXPRESSIONS, STATEMENTS

X = np.array([[1.2, 0.4, 2.2], [0.7, 1.9, 0.3]])
THEIRS = "an_idiom"
pytestmark = pytest.mark.skipif(np.__version__ < "2.", reason="NumPy 1 has not all of these functions")


def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value.detach().numpy() if isinstance(value, pullback.Tensor) else value


def same(a, b):
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, (np.ndarray, np.generic, int, float, complex)):
        a, b = np.asarray(a), np.asarray(b)
        return a.shape == b.shape and a.dtype.kind == b.dtype.kind and np.allclose(a, b, 1e-12, 1e-14, equal_nan=True)
    return a == b


def in_a_module(body):
    module = types.ModuleType(THEIRS)
    exec(f"import numpy as np, math\ndef function(x):\n    {body}", vars(module))
    return module


def weighed(value):
    return (value * np.cos(np.arange(1.0, np.size(plain(value)) + 1)).reshape(tuple(value.shape))).sum()


def slopes(function):
    found = np.zeros_like(X)
    for index in np.ndindex(X.shape):
        moved = [X.copy(), X.copy()]
        moved[0][index] += 1e-6
        moved[1][index] -= 1e-6
        found[index] = (weighed(function(moved[0])) - weighed(function(moved[1]))) / 2e-6
    return found


@pytest.mark.parametrize("body", [*(f"return {each}" for each in EXPRESSIONS), *STATEMENTS])
def test_an_idiom(body, monkeypatch):
    function = (module := in_a_module(body.replace("\n", "\n    "))).function
    monkeypatch.setitem(sys.modules, THEIRS, module)
    x = pullback.tensor(X, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of NumPy
        expected = function(X.copy())
        with pullback.numpy_programs(THEIRS):
            found = function(x)
        assert same(plain(expected), plain(found)), (expected, found)
        if (
            isinstance(expected, (np.ndarray, np.floating))
            and np.asarray(expected).dtype.kind == "f"
            and "32" not in body
        ):
            gradient = np.zeros_like(X)
            if isinstance(found, pullback.Tensor) and found.requires_grad:
                (gradient,) = pullback.autograd.grad(weighed(found), x, allow_unused=True, materialize_grads=True)
            np.testing.assert_allclose(np.asarray(gradient), slopes(function), rtol=1e-5, atol=1e-6)
