"""NumPy's functions of places, diagonals and spectra on tensors: NumPy's values, and the gradients of finite differences."""

import numpy as np
import pytest

import pullback

RNG = np.random.default_rng(3)
A, V = RNG.standard_normal((3, 4)), RNG.standard_normal(5)
C, CUBE, THREE = A + 1j * RNG.standard_normal((3, 4)), RNG.standard_normal((3, 2, 3)), RNG.standard_normal(3)
STEP = 1e-6


def written(write):
    """A function that writes to a copy of its first argument and returns the copy."""

    def function(a, *values):
        copy = a * 1
        write(copy, *values)
        return copy

    return function


CALLS = [
    *((lambda a, k=k: np.take(a, k), A) for k in ([0, -1, 3], [[0, -1]], np.array(2))),
    (lambda a: np.take(a, [[0, -1]], axis=1), A),
    (lambda a: np.take(a, 1, axis=0), A),
    (lambda a: np.compress([True, False, True], a, axis=1), A),
    (lambda a: np.compress([True, False, True], a), A),
    (lambda a: np.extract(A > 0, a), A),
    (lambda a: np.take_along_axis(a, np.argsort(A, 1), 1), A),
    (lambda a: np.take_along_axis(a, np.array([[0], [-1], [2]]), axis=1), A),
    (lambda a: np.take_along_axis(a, np.array([3, 4]), None), A),
    (written(lambda a, v: np.put_along_axis(a, np.array([[0], [1], [-1]]), v.reshape(3, 1), 1)), A, THREE),
    (written(lambda a, v: np.put_along_axis(a, np.array([0, 1, 5]), v, None)), A, THREE),
    *((written(lambda a, v, k=k: np.put(a, k, v)), A, THREE) for k in ([0, -1, 3], [0, -1, 3, 5], [0, -1])),
    *(
        (lambda a, f=f, k=k: f(a, k), a)
        for f in (np.diag, np.diagflat, np.tril, np.triu)
        for k in (-1, 0, 2)
        for a in (A, V)
    ),
    *((lambda a, k=k: np.diagonal(a, k, 1, 0), A) for k in (-1, 0, 2)),
    (lambda a: np.trace(a, 1), A),
    (lambda a: np.trace(a, axis1=0, axis2=2), CUBE),
    *(
        (lambda a, f=f, options=options: f(a, **options), a)
        for f in (np.fft.fft, np.fft.ifft, np.fft.hfft, np.fft.irfft, np.fft.rfft, np.fft.ihfft)
        for options in ({}, {"n": 5, "axis": 0, "norm": "ortho"})
        for a in ((A,) if f in (np.fft.rfft, np.fft.ihfft) else (A, C))
    ),
    *(
        (lambda a, f=f, options=options: f(a, **options), A)
        for name in ("fft", "ifft", "rfft", "irfft")
        for f in (getattr(np.fft, f"{name}n"), getattr(np.fft, f"{name}2"))
        for options in ({}, {"s": (4, 6), "axes": (0, 1), "norm": "forward"})
    ),
    *((lambda a, f=f, axes=axes: f(a, axes), A) for f in (np.fft.fftshift, np.fft.ifftshift) for axes in (None, 1)),
]


def numbers(shape, dtype, rng):
    """Random numbers, complex ones where asked for."""
    real = rng.standard_normal(shape)
    return np.asarray(real + 1j * rng.standard_normal(shape) if dtype.kind == "c" else real)


@pytest.mark.parametrize("call", CALLS, ids=range(len(CALLS)))
def test_values_are_those_of_numpy_and_gradients_those_of_differences(call):
    function, *arrays = call
    leaves = [pullback.from_numpy(array.copy()).requires_grad_() for array in arrays]
    expected, result = np.asarray(function(*arrays)), function(*leaves)
    np.testing.assert_allclose(result.detach().numpy(), expected, rtol=1e-12, atol=1e-12)
    rng = np.random.default_rng(5)
    cotangent = numbers(expected.shape, expected.dtype, rng)
    pulled = pullback.autograd.grad(result, leaves, pullback.from_numpy(cotangent))
    directions = [numbers(array.shape, array.dtype, rng) for array in arrays]
    ahead, behind = (
        function(*(a + step * d for a, d in zip(arrays, directions, strict=True))) for step in (STEP, -STEP)
    )
    slope = np.sum(np.conj(cotangent) * (ahead - behind)).real / (2 * STEP)
    found = sum(np.sum(np.conj(p.numpy()) * d).real for p, d in zip(pulled, directions, strict=True))
    np.testing.assert_allclose(found, slope, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "call",
    [
        lambda a, t: np.put(a, [0], t),
        lambda a, t: np.put_along_axis(a, np.array([0]), t, 0),
    ],
)
def test_an_array_cannot_hold_a_history(call):
    with pytest.raises(TypeError, match="which cannot hold a history"):
        call(np.zeros(3), pullback.ones(1, requires_grad=True))


def test_a_place_outside_is_refused():
    with pytest.raises(IndexError, match="out of bounds"):
        np.put(pullback.zeros(3), [3], 1.0)
    with pytest.raises(IndexError, match="out of bounds"):
        np.take(pullback.zeros(3), [3])


@pytest.mark.parametrize("shape", [(7, 5), (4, 7, 3), (2, 3, 7)])
@pytest.mark.parametrize("narrow", [False, True])
def test_expanded_indices_are_as_good_as_copies_of_them(shape, narrow):
    axis = shape.index(7)
    rng = np.random.default_rng(0)
    view = [1] * len(shape)
    view[axis] = 9
    others = [n - 1 if narrow else n for n in shape]
    others[axis] = 9
    expanded = pullback.tensor(rng.integers(0, 7, 9)).reshape(view).expand(others)
    x = pullback.tensor(rng.standard_normal(shape), requires_grad=True)
    source = pullback.tensor(rng.standard_normal(others), requires_grad=True)

    def results(places):
        taken, added = x.gather(axis, places), x.scatter_add(axis, places, source)
        slopes = pullback.autograd.grad((taken * taken).sum() + (added**3).sum(), (x, source))
        return [value.detach().numpy() for value in (taken, added, *slopes)]

    for one, other in zip(results(expanded), results(expanded.contiguous()), strict=True):
        np.testing.assert_array_equal(one, other)
