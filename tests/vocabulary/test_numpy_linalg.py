"""NumPy's linear algebra on tensors: the values NumPy has, the gradients finite differences have."""

# ruff: noqa: PLW0108  # the number of a lambda's parameters says how many arrays a call takes

import numpy as np
import pytest

import pullback
from pullback._numpy import linalg as numpy_linalg

from ..differences import listed, slope

A = np.array([[2.1, -0.4, 0.3], [0.5, 3.2, -0.7], [-0.2, 0.6, 4.4]])
B = np.array([[0.9, 1.4, -0.6], [0.5, -2.1, 1.1], [0.4, 0.1, 1.7]])
STACK = np.stack([A, A @ B, B])


def symmetric(a):
    return a + np.transpose(a)


def definite(a):
    return a @ np.transpose(a)


LINALG = {
    "det": [lambda a: np.linalg.det(a), lambda a: np.linalg.det(STACK * a)],
    "inv": [lambda a: np.linalg.inv(a)],
    "slogdet": [lambda a: np.linalg.slogdet(a)[1]],
    "eig": [lambda a: np.abs(np.linalg.eig(definite(a))[0])],
    "eigvals": [lambda a: np.abs(np.linalg.eigvals(definite(a)))],
    "eigh": [lambda a: np.abs(np.linalg.eigh(symmetric(a), "U")[1]), lambda a: np.linalg.eigh(symmetric(a))[0]],
    "eigvalsh": [lambda a: np.linalg.eigvalsh(symmetric(a))],
    "svd": [
        lambda a: list(map(np.abs, np.linalg.svd(a))),
        lambda a: np.linalg.svd(a, compute_uv=False),
        lambda a: list(map(np.abs, np.linalg.svd(a[:2], full_matrices=False))),
    ],
    "svdvals": [lambda a: np.linalg.svdvals(a)],
    "qr": [lambda a: np.linalg.qr(a), lambda a: np.linalg.qr(a[:, :2], mode="r")],
    "cholesky": [lambda a: np.linalg.cholesky(definite(a))],
    "cond": [lambda a: np.linalg.cond(a), lambda a: np.linalg.cond(a, "fro"), lambda a: np.linalg.cond(a, p=1)],
    "lstsq": [
        lambda a, b: np.linalg.lstsq(a[:, :2], b, rcond=None)[:2],
        lambda a, b: np.linalg.lstsq(a, b[0], rcond=None)[0],
    ],
    "solve": [
        lambda a, b: np.linalg.solve(a, b),
        lambda a, b: np.linalg.solve(a, b[0]),
        lambda a, b: np.linalg.solve(STACK + a, STACK * b),
    ],
    "pinv": [lambda a: np.linalg.pinv(a[:2]), lambda a: np.linalg.pinv(a, 1e-10)],
    "matrix_power": [lambda a: np.linalg.matrix_power(a, 3), lambda a: np.linalg.matrix_power(a, n=-2)],
    "multi_dot": [lambda a, b: np.linalg.multi_dot([a, b[:, :2], b[:2]])],
    "norm": [
        lambda a: np.linalg.norm(a),
        lambda a: np.linalg.norm(a, 2),
        lambda a: np.linalg.norm(a, "nuc"),
        lambda a: np.linalg.norm(a, ord=-np.inf, axis=(0, 1), keepdims=True),
        lambda a: np.linalg.norm(a, 3, axis=1),
        lambda a: np.linalg.norm(STACK * a),
        lambda a: np.linalg.norm(STACK * a, axis=(0, 2)),
        lambda a: np.linalg.norm(STACK * a, axis=np.int64(-1), keepdims=True),
    ],
    "matrix_norm": [
        lambda a: np.linalg.matrix_norm(a, ord=1),
        lambda a: np.linalg.matrix_norm(STACK * a, keepdims=True),
    ],
    "vector_norm": [lambda a: np.linalg.vector_norm(a, axis=0, ord=1), lambda a: np.linalg.vector_norm(a)],
    "tensorinv": [lambda a: np.linalg.tensorinv(a, ind=1)],
    "tensorsolve": [
        lambda a, b: np.linalg.tensorsolve(a, b[0]),
        lambda a, b: np.linalg.tensorsolve(a, b[0], axes=(0,)),
    ],
    "cross": [lambda a, b: np.linalg.cross(a, b, axis=0)],
    "diagonal": [lambda a: np.linalg.diagonal(a, offset=1)],
    "matmul": [lambda a, b: np.linalg.matmul(a, b)],
    "matrix_transpose": [lambda a: np.linalg.matrix_transpose(STACK * a)],
    "outer": [lambda a, b: np.linalg.outer(a[0], b[1])],
    "tensordot": [lambda a, b: np.linalg.tensordot(a, b, axes=1)],
    "trace": [lambda a: np.linalg.trace(a, offset=-1)],
    "vecdot": [lambda a, b: np.linalg.vecdot(a, b, axis=0)],
}
PRODUCTS = {
    "cross": [
        lambda a, b: np.cross(a, b),
        lambda a, b: np.cross(a, b[0], axisc=0),
        lambda a, b: np.cross(a, b, axis=0),
        lambda a, b: np.cross(a, b, 0, 1, 0),
    ],
    "inner": [lambda a, b: np.inner(a, b), lambda a, b: np.inner(2.0, a) + b],
    "kron": [lambda a, b: np.kron(a, b[:2]), lambda a, b: np.kron(a[0], b)],
    "tensordot": [lambda a, b: np.tensordot(a, b), lambda a, b: np.tensordot(a, b, axes=([0], [1]))],
    "vander": [lambda a: np.vander(a[0]), lambda a: np.vander(a[1], 4, increasing=True)],
    "vdot": [lambda a, b: np.vdot(a, b)],
}
UFUNCS = {
    "matvec": [lambda a, b: np.matvec(a, b[0])],
    "vecdot": [lambda a, b: np.vecdot(a, b)],
    "vecmat": [lambda a, b: np.vecmat(a[0], b)],
}
CASES = [
    pytest.param(call, id=f"{name} {place}")
    for module, table in ((np.linalg, LINALG), (np, PRODUCTS | UFUNCS))
    for name, calls in table.items()
    if hasattr(module, name)
    for place, call in enumerate(calls)
]


def test_every_function_is_tried():
    assert sorted(numpy_linalg.PRODUCTS) == sorted(PRODUCTS)
    assert sorted(numpy_linalg.LINALG) == sorted([*LINALG, "matrix_rank"])
    assert {ufunc.__name__ for ufunc in numpy_linalg.UFUNCS} <= UFUNCS.keys()


@pytest.mark.parametrize("function", CASES)
def test_values_and_gradients(function):
    arrays = [A, B][: function.__code__.co_argcount]
    tensors = [pullback.tensor(array, requires_grad=True) for array in arrays]
    expected, results = listed(function(*arrays)), listed(function(*tensors))
    weights = [np.cos(np.arange(np.size(y)) + 1).reshape(np.shape(y)) for y in expected]
    for want, got in zip(expected, results, strict=True):
        assert tuple(got.shape) == np.shape(want)
        np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-11, atol=1e-13)
    pullback.autograd.backward(results, [pullback.tensor(np.asarray(w)) for w in weights])
    for place, tensor in enumerate(tensors):
        np.testing.assert_allclose(tensor.grad.numpy(), slope(function, arrays, weights, place), atol=1e-6, rtol=1e-6)


def test_an_array_may_stand_beside_a_tensor():
    for function in (np.linalg.solve, np.kron, np.inner, np.vdot, np.cross, np.tensordot):
        for pair in ((pullback.tensor(A), B), (A, pullback.tensor(B))):
            np.testing.assert_allclose(function(*pair).numpy(), function(A, B), rtol=1e-12)


def test_a_rank_has_no_gradient():
    x = pullback.tensor(A, requires_grad=True)
    assert np.linalg.matrix_rank(x).item() == 3
    assert np.linalg.matrix_rank(x, tol=3).item() == np.linalg.matrix_rank(A, tol=3)
    assert not np.linalg.matrix_rank(x).requires_grad


def test_what_is_not_computed_is_refused_by_name():
    with pytest.raises(TypeError, match=r"numpy\.linalg\.svd .*hermitian="):
        np.linalg.svd(pullback.tensor(A, requires_grad=True), hermitian=True)
    with pytest.raises(ValueError, match=r"^numpy\.linalg\.norm: axis=\(0, 1, 2\) names 3 axes: one of vectors"):
        np.linalg.norm(pullback.tensor(STACK, requires_grad=True), axis=(0, 1, 2))
