"""Random programs in the style of HIPS autograd: NumPy's functions, one after another, on arrays of a few elements.

A program is a list of steps, each of which adds an array to those that are there. Its derivatives by the stand-in are
compared with differences of its values, and with each other: gradient, Jacobian, Hessian, Hessian-vector product, and both
modes. `program` is also what was run beside autograd itself: see docs/appendix/autograd-runs.md.
"""

import warnings

import numpy as np

from pullback.compat import autograd

FEW = 12
STEP = 1e-4
TRACED = autograd.numpy


def bounded(np, x):
    return np.tanh(x / 3) * 2


# Each kind of step draws its details for an array x, and another one y, and returns a function of (np, x, y).

UNARY = (
    "sin cos tanh exp arctan sinh cosh expm1 square abs negative exp2 arcsinh sinc degrees real_if_close nan_to_num"
).split()
POSITIVE = "log sqrt log1p reciprocal log2 log10".split()
BINARY = "add subtract multiply maximum minimum logaddexp arctan2 logaddexp2 fmax fmin".split()


def unary(rng, x, y):
    if rng.random() < 0.3:
        name = str(rng.choice(POSITIVE))
        return lambda np, x, y: getattr(np, name)(1.5 + x * x)
    name = str(rng.choice(UNARY))
    return lambda np, x, y: bounded(np, getattr(np, name)(x))


def binary(rng, x, y):
    name, constant, turned = str(rng.choice(BINARY)), rng.random() < 0.3, rng.random() < 0.5
    other = rng.normal(size=y.shape)
    if name == "arctan2":
        return lambda np, x, y: np.arctan2(x, 2 + (other if constant else y) ** 2)

    def step(np, x, y):
        pair = (x, other if constant else y)
        return bounded(np, getattr(np, name)(*(pair[::-1] if turned else pair)))

    return step


def operators(rng, x, y):
    kind, number = int(rng.integers(8)), float(rng.normal())
    return [
        lambda np, x, y: x / (2 + y * y),
        lambda np, x, y: number - x,
        lambda np, x, y: (1.5 + x * x) ** y,
        lambda np, x, y: (1.5 + x * x) ** number,
        lambda np, x, y: 2.0**x,
        lambda np, x, y: x**2 - y**3 / 9,
        lambda np, x, y: number / (2 + x * x),
        lambda np, x, y: -x % 3.1 + abs(y),
    ][kind]


def axes_of(rng, x):
    kind = rng.integers(4)
    if kind == 0 or not x.ndim:
        return None
    places = rng.permutation(x.ndim)[: int(rng.integers(1, x.ndim + 1))]
    places = [int(place) - (x.ndim if rng.random() < 0.4 else 0) for place in places]
    return places[0] if kind == 1 else tuple(places)


def reduction(rng, x, y):
    name = str(rng.choice("sum mean max min prod var std amax amin".split()))
    axis, keep = axes_of(rng, x), bool(rng.random() < 0.4)
    more = {"ddof": 1} if name in ("var", "std") and x.ndim and min(x.shape) > 1 and rng.random() < 0.3 else {}
    method = rng.random() < 0.3 and name not in ("amax", "amin")

    def step(np, x, y):
        if name == "std":
            x = x + np.arange(x.size).reshape(x.shape)  # not at its kink
        found = (
            getattr(x, name)(axis=axis, keepdims=keep, **more)
            if method
            else getattr(np, name)(x, axis=axis, keepdims=keep, **more)
        )
        return bounded(np, found)

    return step


def running(rng, x, y):
    axis = None if rng.random() < 0.4 or not x.ndim else int(rng.integers(-x.ndim, x.ndim))
    if x.ndim and rng.random() < 0.4 and x.shape[-1] > 1:
        return lambda np, x, y: np.diff(x, axis=-1)
    return lambda np, x, y: bounded(np, np.cumsum(x, axis=axis))


def shaped(rng, x, y):
    order = tuple(map(int, rng.permutation(x.ndim)))
    axis = int(rng.integers(-x.ndim - 1, x.ndim + 1))
    place = int(rng.integers(max(x.ndim, 1)))
    times, shift = int(rng.integers(1, 3)), int(rng.integers(-2, 3))
    of_all = [
        lambda np, x, y: np.reshape(x, -1),
        lambda np, x, y: x.reshape((1, -1)),
        lambda np, x, y: x.ravel(),
        lambda np, x, y: np.transpose(x),
        lambda np, x, y: np.transpose(x, order),
        lambda np, x, y: np.expand_dims(x, axis),
        lambda np, x, y: np.squeeze(x),
        lambda np, x, y: np.tile(x, times),
        lambda np, x, y: np.atleast_2d(x),
        lambda np, x, y: np.broadcast_to(x, (2, *x.shape)),
        lambda np, x, y: np.array([x, y * np.ones(np.shape(x))]) if np.ndim(y) == 0 else x.T,
        lambda np, x, y: np.array([np.sum(x), 1.0, np.mean(y)]),
    ]
    of_some = [
        lambda np, x, y: np.swapaxes(x, place, -1),
        lambda np, x, y: np.moveaxis(x, place, 0),
        lambda np, x, y: np.repeat(x, times, axis=place),
        lambda np, x, y: np.roll(x, shift, axis=place),
        lambda np, x, y: np.rollaxis(x, place),
        lambda np, x, y: np.concatenate([x, 2 * x], axis=place),
        lambda np, x, y: np.stack([x, x * x], axis=place),
        lambda np, x, y: np.append(x, y),
        lambda np, x, y: np.hstack([x.ravel(), y.ravel()]),
        lambda np, x, y: np.vstack([x.ravel(), x.ravel()]),
        lambda np, x, y: np.flipud(x),
        lambda np, x, y: np.array_split(x, 2, axis=place)[0],
        lambda np, x, y: np.pad(x, 1, mode="constant", constant_values=0.3),
        lambda np, x, y: np.sort(x, axis=-1),
        lambda np, x, y: np.partition(x.ravel(), min(1, np.size(x) - 1)),
    ]
    choices = of_all + (of_some if x.ndim else [])
    return choices[int(rng.integers(len(choices)))]


def indexed(rng, x, y):
    if not x.ndim:
        return lambda np, x, y: np.reshape(x, (1,))
    key = []
    for length in x.shape[: int(rng.integers(1, x.ndim + 1))]:
        kind = rng.integers(6)
        if kind == 0:
            key.append(int(rng.integers(-length, length)))
        elif kind == 1:
            key.append(slice(None, None, int(rng.choice([-1, 2]))))
        elif kind == 2:
            key.append(slice(int(rng.integers(length)), None))
        elif kind == 3 and not any(isinstance(each, (list, np.ndarray)) for each in key):
            key.append(rng.integers(-length, length, size=3))
        elif kind == 4 and not any(isinstance(each, (list, np.ndarray)) for each in key):
            key.append(rng.integers(0, length, size=2).tolist())
        else:
            key.append(slice(None))
    if rng.random() < 0.25:
        key.insert(int(rng.integers(len(key) + 1)), None)
    if rng.random() < 0.2:
        key.append(Ellipsis)
    if rng.random() < 0.15:
        mask = rng.random(x.shape) < 0.6
        mask.flat[0] = True
        return lambda np, x, y: x[mask]
    given = key[0] if len(key) == 1 and rng.random() < 0.7 else tuple(key)
    return lambda np, x, y: x[given]


def chosen(rng, x, y):
    bound, low = float(rng.normal()), float(rng.normal() - 1)
    mask = rng.random(x.shape) < 0.5
    return [
        lambda np, x, y: np.where(x > bound, x * x, 3 * x + bound),
        lambda np, x, y: np.where(mask, x, np.sin(x)),
        lambda np, x, y: np.clip(x, low, low + 1.5) + 0.1 * x,
        lambda np, x, y: np.where(mask, bound, x) + 0.1 * x,
        lambda np, x, y: np.select([x > bound, x > low], [x**2, 2 * x], 0.5 * x),
    ][int(rng.integers(5))]


def multiplied(rng, x, y):
    left = rng.normal(size=(2, x.shape[0] if x.ndim else 1))
    kind = int(rng.integers(9))

    def flat(np, x):
        return np.reshape(x, -1)

    def square(np, x):
        v = flat(np, x)
        return np.outer(v, v[::-1]) + np.eye(v.shape[0])

    return [
        lambda np, x, y: bounded(np, np.dot(left, x)) if np.ndim(x) else x * y,
        lambda np, x, y: bounded(np, np.inner(flat(np, x), flat(np, x)[::-1])),
        lambda np, x, y: bounded(np, np.outer(x, y)),
        lambda np, x, y: bounded(np, np.matmul(square(np, x), flat(np, x))),
        lambda np, x, y: bounded(np, np.tensordot(x, x, np.ndim(x))),
        lambda np, x, y: bounded(np, np.einsum("i,j,ij->j", flat(np, x), flat(np, x), square(np, x))),
        lambda np, x, y: bounded(np, np.einsum("...,...->...", x, x)),
        lambda np, x, y: bounded(np, np.kron(flat(np, x), np.array([1.0, -0.5]))),
        lambda np, x, y: bounded(np, square(np, x) @ np.transpose(square(np, y))) if np.size(x) == np.size(y) else x,
    ][kind]


def solved(rng, x, y):
    spread = np.diag(np.arange(1.0, 4.0))
    order = [None, 1, 2, 3][int(rng.integers(4))]
    kind = int(rng.integers(11))

    def matrix(np, x):
        v = np.concatenate([np.reshape(x, -1)] * 9)[:9]
        return 0.3 * np.reshape(np.sin(v * np.arange(1, 10)), (3, 3)) + 2 * spread

    def spd(np, x):
        return np.dot(matrix(np, x), np.transpose(matrix(np, x))) + np.eye(3)

    return [
        lambda np, x, y: np.linalg.inv(matrix(np, x)),
        lambda np, x, y: np.log(np.linalg.det(matrix(np, x))),
        lambda np, x, y: np.linalg.slogdet(matrix(np, x))[1],
        lambda np, x, y: np.linalg.solve(matrix(np, x), matrix(np, y)[0]),
        lambda np, x, y: bounded(np, np.linalg.cholesky(spd(np, x))),
        lambda np, x, y: bounded(np, np.linalg.eigh(spd(np, x))[0] / 9),
        lambda np, x, y: bounded(np, np.linalg.svd(matrix(np, x))[1]),
        lambda np, x, y: np.linalg.norm(matrix(np, x)[0], order),
        lambda np, x, y: bounded(np, np.linalg.norm(matrix(np, x), "fro")),
        lambda np, x, y: np.linalg.pinv(matrix(np, x)),
        lambda np, x, y: np.trace(matrix(np, x)) / 9 + np.diag(matrix(np, x)) / 9 + np.tril(matrix(np, x)) / 9,
    ][kind]


def complexes(rng, x, y):
    kind, number = int(rng.integers(8)), complex(*rng.normal(size=2))

    def made(np, x):
        return x + number * np.cos(x)

    return [
        lambda np, x, y: np.real(np.exp(1j * x) * number),
        lambda np, x, y: np.imag(made(np, x) ** 2) / 3,
        lambda np, x, y: np.abs(made(np, x) + 4j),
        lambda np, x, y: np.angle(made(np, x) + 9),
        lambda np, x, y: np.real(np.conj(made(np, x)) * made(np, x)) / 9,
        lambda np, x, y: bounded(np, np.real(np.fft.fft(np.reshape(x, -1)))),
        lambda np, x, y: bounded(np, np.abs(np.fft.ifft(np.reshape(made(np, x), -1) + 3))),
        lambda np, x, y: np.real(np.sin(made(np, x)) / (made(np, x) + 5j)),
    ][kind]


KINDS = [unary, binary, operators, reduction, running, shaped, indexed, chosen, multiplied, solved, complexes]


def program(rng, count=None):
    """A point, and a function of (np, x) that is smooth near it; its result is an array of a few numbers."""
    x = rng.normal(size=[(), (3,), (2, 2), (2, 3), (1, 3), (4,), (2, 1, 2)][int(rng.integers(7))])
    values, steps = [x], []
    for _ in range(count or int(rng.integers(2, 6))):
        for _ in range(20):
            first = int(rng.integers(len(values))) if rng.random() < 0.3 else len(values) - 1
            second = int(rng.integers(len(values)))
            step = KINDS[int(rng.integers(len(KINDS)))](rng, values[first], values[second])
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    made = np.asarray(step(np, values[first], values[second]))
            except (ValueError, TypeError, IndexError, RuntimeWarning, DeprecationWarning, AttributeError):
                continue  # arrays that do not fit
            if 0 < made.size <= 24 and made.ndim < 5 and made.dtype == float and np.all(np.abs(made) < 1e3):
                values.append(made)
                steps.append((step, first, second))
                break

    def run(np, x):
        known = [x]
        for step, first, second in steps:
            known.append(step(np, known[first], known[second]))
        return known[-1] if steps else 2 * x

    return x, run


def check(rng):
    """Compare the derivatives of one program; returns the number of comparisons."""
    x, run = program(rng)
    weights, direction = rng.normal(size=np.shape(run(np, x))), rng.normal(size=x.shape)

    def function(x):
        return run(TRACED, x)

    def scalar(x):
        return np.sum(weights * function(x))

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Output seems independent of input.")
        jacobian = autograd.jacobian(function)(x)
        gradient = autograd.grad(scalar)(x)
        hessian = autograd.hessian(scalar)(x)
        product = autograd.make_hvp(scalar)(x)[0](direction)
        value, tangent = autograd.make_jvp(function)(x)(direction)
    along = [run(np, x + t * STEP * direction) for t in (-2, -1, 1, 2)]
    slope = (along[0] - 8 * along[1] + 8 * along[2] - along[3]) / (12 * STEP)
    moves = [autograd.grad(scalar)(x + t * STEP * direction) for t in (-1, 1)]
    size = 1 + np.max(np.abs(jacobian), initial=0) + np.max(np.abs(hessian), initial=0)
    for name, got, want, error in [
        ("value", value, run(np, x), 1e-12),
        ("jvp against differences", tangent, slope, 1e-6 * size),
        ("Jacobian against jvp", np.tensordot(jacobian, direction, x.ndim), tangent, 1e-9 * size),
        ("gradient against Jacobian", gradient, np.tensordot(weights, jacobian, np.ndim(weights)), 1e-9 * size),
        ("hvp against Hessian", product, np.tensordot(hessian, direction, x.ndim), 1e-8 * size),
        ("hvp against differences", product, (moves[1] - moves[0]) / (2 * STEP), 1e-4 * size**2),
    ]:
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=error, err_msg=name)
    return 6
