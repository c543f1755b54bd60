"""NumPy's spellings on tensors, and attributes that `hasattr` may ask for."""

import copy
import sys
import warnings

import numpy as np
import pytest

import pullback
from pullback.nn.modules.lazy import UninitializedParameter

X = np.array([[1.5, -2.0, 3.0], [4.0, 0.5, -6.0]])


def tensor(requires_grad=False):
    return pullback.tensor(X, requires_grad=requires_grad)


def kinds():
    with pullback.inference_mode():
        inference = pullback.ones(2)
    leaf = tensor(requires_grad=True)
    return {
        "real": tensor(), "integers": pullback.arange(3), "bools": pullback.tensor([True]), "complex": pullback.tensor([1j]),
        "number": pullback.tensor(1.0), "three axes": pullback.ones(2, 3, 4), "empty": pullback.ones(0), "leaf": leaf,
        "computed": leaf * 2, "view": tensor()[0], "inference": inference, "parameter": pullback.nn.Parameter(tensor()),
        "no shape": UninitializedParameter(), "strided": pullback.ones(4, 4)[::2, 1::2],
    }  # fmt: skip


def ask(value):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # .grad of what is no leaf
        for name in dir(value):
            if not name.startswith("_"):
                hasattr(value, name)
    return value * 1


@pytest.mark.parametrize("kind", kinds())
def test_hasattr_never_raises(kind):
    value = kinds()[kind]
    ask(value) if kind != "no shape" else [hasattr(value, name) for name in dir(value)]


def test_hasattr_never_raises_inside_transforms():
    pullback.func.vmap(ask)(pullback.ones(2, 2))
    pullback.func.jvp(ask, (pullback.ones(2),), (pullback.ones(2),))
    pullback.func.grad(lambda x: ask(x).sum())(pullback.ones(2))


def test_absent_attributes_are_errors_of_both_kinds():
    vector = pullback.ones(3)
    assert not hasattr(vector, "mT")
    for error in (RuntimeError, AttributeError):
        with pytest.raises(error, match="only supported on matrices"):
            vector.mT


def test_the_imaginary_part_of_real_numbers_is_zero():
    x = tensor(requires_grad=True)
    assert (x.imag.tolist(), x.imag.dtype) == ([[0.0] * 3] * 2, x.dtype)
    (x.imag + x).sum().backward()
    assert x.grad.tolist() == [[1.0] * 3] * 2
    with pytest.raises((RuntimeError, ValueError)):
        tensor().imag[0] = 1.0
    real = tensor()
    with pytest.raises(RuntimeError, match="non-complex"):
        real.imag = 1.0


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.copy(), lambda x: x.copy(order="F"), lambda x: x.astype("float32"), lambda x: x.astype(np.float64),
        lambda x: x.ravel(order="F"), lambda x: x.ravel(), lambda x: x.std(ddof=2), lambda x: x.var(axis=0, ddof=0),
        lambda x: x.flat[2], lambda x: x.flat[1:5:2], lambda x: x.imag, lambda x: divmod(x, 2.0)[0],
        lambda x: divmod(x, 2.0)[1], lambda x: divmod(7.0, x)[1],
    ],
)  # fmt: skip
def test_values_are_numpys(call):
    got, want = call(tensor()), call(X)
    np.testing.assert_allclose(got.numpy(), want)
    assert got.numpy().dtype == want.dtype


def test_layout_is_numpys():
    for x in (tensor(), tensor().T, tensor()[:, ::2]):
        array = x.numpy()
        assert x.strides == array.strides
        assert (x.flags.c_contiguous, x.flags.f_contiguous, x.flags.writeable) == tuple(
            getattr(array.flags, name) for name in ("c_contiguous", "f_contiguous", "writeable")
        )
    for name in ("kind", "char", "type", "itemsize", "name"):
        assert getattr(pullback.float32, name) == getattr(np.dtype("float32"), name)


def test_gradients_pass():
    x = tensor(requires_grad=True)
    y = x.copy()
    y.flat[1:3] = x[1, 0] * pullback.ones(2, dtype=pullback.float64)
    z = pullback.zeros(2, dtype=pullback.float64)
    z.fill(x[0, 0])
    (y.ravel(order="F").sum() + x.astype("float32").sum() + sum(z) + sum(x.flat)).backward()
    assert x.grad.tolist() == [[1 + 1 + 2 + 1, 2, 2], [1 + 2 + 2, 3, 3]]


def test_spellings_refuse_what_numpy_refuses():
    with pytest.raises(TypeError, match="cannot be cast"):
        tensor().astype("int32", casting="safe")
    with pytest.raises(ValueError, match="'C' or 'F'"):
        tensor().ravel(order="Z")
    with pytest.raises(TypeError, match="both"):
        tensor().std(correction=1, ddof=1)
    assert tensor().fill(1) is None


def test_round_is_pythons():
    assert round(pullback.tensor([1.5, 2.26])).tolist() == [2, 2]
    assert round(tensor() / 7, 2).tolist() == np.round(X / 7, 2).tolist()


def test_what_was_computed_is_not_copied_deeply():
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(tensor(requires_grad=True) * 2)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes have buffers from Python 3.12")
def test_buffers():
    assert memoryview(tensor()).tolist() == X.tolist()
    assert bytes(tensor()) == X.tobytes()
    assert np.asarray(tensor()).tolist() == X.tolist()
    with pytest.raises(RuntimeError, match="requires grad"):
        memoryview(tensor(requires_grad=True))


def test_helpers_of_array_api_compat():
    compat = pytest.importorskip("array_api_compat")
    x = tensor()
    assert compat.array_namespace(x) is pullback.array_api
    assert compat.is_array_api_obj(x)
    assert compat.is_writeable_array(x)
    assert compat.size(x) == 6
