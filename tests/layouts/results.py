"""What an operation gives for arrays of some layout: values, gradients, and derivatives of these."""

import numpy as np

import pullback
from pullback.autograd import grad


def pieces(result):
    """The outputs of an operation that can have a derivative."""
    found = result if isinstance(result, (tuple, list)) else [result]
    return [y for y in found if pullback.is_tensor(y) and y._dtype.kind in "fc"]


def noise(like, seed):
    """Numbers of the shape and the dtype of a tensor."""
    rng, shape = np.random.default_rng(seed), tuple(like.shape)
    found = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if like._dtype.kind == "c" else 0)
    return np.asarray(found, like._dtype)


def tracked(array):
    """A tensor that requires grad, of floats; other arrays as they are."""
    return pullback.from_numpy(array).requires_grad_() if array.dtype.kind in "fc" else array


def product(tensors, arrays):
    """The real inner product of tensors with arrays."""
    pairs = zip(tensors, arrays, strict=True)
    return sum(pullback.real((tensor * pullback.from_numpy(array).conj()).sum()) for tensor, array in pairs)


def results(function, arrays, laid, *, between):
    """Values, what cotangents pull back to, and the derivatives of the product of that with directions.

    Cotangents and directions are laid out by a function. With `between`, what the operation and its rule meet are results
    of other operations, which have these layouts, and no leaves.
    """
    args = [tracked(array) for array in arrays]
    leaves = [arg for arg in args if pullback.is_tensor(arg)]
    ends = outputs = pieces(
        function(*([arg * 1 if pullback.is_tensor(arg) else arg for arg in args] if between else args))
    )
    given = cotangents = [tracked(laid(noise(y, 1))) for y in outputs]
    if between:
        ends = [y * c for y, c in zip(outputs, cotangents, strict=True)]
        given = [pullback.ones_like(y) for y in ends]
    pulled = grad(ends, leaves, given, create_graph=True, materialize_grads=True)
    found = {"value": outputs, "gradient": pulled}
    total = product(pulled, [laid(noise(p, 2)) for p in pulled])
    if total.requires_grad:
        found["second"] = grad(total, [*leaves, *cotangents], materialize_grads=True)
    return {name: [y.detach().resolve_conj().numpy() for y in several] for name, several in found.items()}


def differences(function, arrays, laid, step):
    """The derivative along a direction as `results` has it, and as values before and behind have it."""
    leaves = [pullback.from_numpy(array) for array in arrays]
    ways = [noise(leaf, 3) for leaf in leaves]

    def value(by):
        with pullback.no_grad():
            outputs = pieces(
                function(*[leaf + by * pullback.from_numpy(way) for leaf, way in zip(leaves, ways, strict=True)])
            )
            return product(outputs, [laid(noise(y, 1)) for y in outputs]).item()

    found = results(function, arrays, laid, between=False)["gradient"]
    slope = sum(np.sum(np.conj(p) * way).real for p, way in zip(found, ways, strict=True))
    near, far = value(step) - value(-step), value(2 * step) - value(-2 * step)
    return slope, (8 * near - far) / (12 * step)


def distance(one, other):
    """For each kind of results the largest difference, over the largest of their numbers; infinite where forms differ."""
    worst = dict.fromkeys(other, 0.0)
    for name, arrays in other.items():
        for a, b in zip(one.get(name, []), arrays, strict=True):
            if (a.shape, a.dtype) != (b.shape, b.dtype) or not np.array_equal(np.isfinite(a), np.isfinite(b)):
                worst[name] = np.inf
            elif (there := np.isfinite(b)).any():
                scale = max(1.0, np.abs(b[there]).max())
                worst[name] = max(worst[name], float(np.abs(a[there] - b[there]).max() / scale))
    return worst
