"""Programs as they are written for NumPy: new arrays, writes, views, scalars, checks of types."""

import copy
import functools
import math
import numbers
from math import sqrt

import numpy as np
from numpy import ndarray, zeros

GRID = np.linspace(0.0, 1.0, 4)


def heat(u0, k):
    u = np.zeros(6)
    u[1:5] = u0
    for _ in range(3):
        new = u.copy()
        for i in range(1, 5):
            new[i] = u[i] + k * (u[i - 1] - 2 * u[i] + u[i + 1])
        u = new
    return u


def swapped(x):
    x = np.array(x)
    first = x[0]
    x[0] = x[1] * 2
    x[1] = first * 3
    a, b = x[:2]
    x[0] += 5
    return a * b + x[0]


def augmented(x):
    total = x
    total += x**2
    other = total
    total *= x
    return total + other


def methods(x):
    parts = [x.std(), x.max(0), x.var(ddof=1), x.repeat(2).sum(), x.transpose().sum(), x.cumsum()[-1], x.clip(0, 2)[0]]
    matrix = x[:, None] * np.arange(1.0, 3.0)
    parts += [matrix.transpose(0, 1)[2, 1], matrix.max(axis=1)[0], matrix.flatten("F")[2], matrix.sum(), matrix.T[1, 0]]
    flat = matrix.flatten()
    flat[0] = 0.0
    return np.array(parts) + len(x.nonzero()[0]) + flat.sum() + matrix.ravel()[0] + x.size


def in_order(x):
    y = np.asarray(x) * 1.0
    y.sort()
    z = np.empty_like(y)
    z.fill(y[-1])
    return y * np.arange(3.0) + z


def rotation(t):
    turn = np.array([[math.cos(t), -math.sin(t)], [math.sin(t), math.cos(t)]])
    out = np.eye(3)
    out[:2, :2] = [[math.cosh(t), 0.0], [t, 1.0]]
    return turn @ np.array([1.0, t]) + out[0, :2]


def outputs(x):
    out = np.empty(3)
    np.multiply(x, 2.0, out=out)
    out += x[0]
    out[out > 4.0] *= 2
    np.add.at(out, [0, 0], x[1])
    out -= np.full(3, x[0]) + np.r_[x[0], 0.0, x[1]] + np.linalg.norm([x[0], x[1], 2.0])
    back = out[::-1]
    back[0] = x[2] ** 2
    return out + np.vstack([[x[0], x[1], 1.0], out]).sum(0) + np.c_[x, x].sum(1)


def kinds(x):
    assert isinstance(x, np.ndarray) and isinstance(x, ndarray) and not isinstance(x, float)
    y = x[0]
    assert isinstance(y, (int, float)) and isinstance(y, np.floating) and isinstance(y, numbers.Real)
    assert np.isscalar(y) and not isinstance(y, np.ndarray) and not isinstance(y, complex)
    assert x.dtype == np.float64 and x.dtype.kind == "f" and np.issubdtype(x.dtype, np.floating)
    assert x.astype(float).dtype == float and np.zeros(2, x.dtype).dtype.type is not None
    assert float("2.5") == 2.5 and isinstance(2.5, float) and isinstance(np.float64(1), np.float64)
    return zeros(3, dtype=float) + float(y) + np.float64(x[1]) + sqrt(y) + complex(y, x[1]).imag + np.float32(2.0)


def copied(x):
    box = copy.deepcopy({"x": x * 2})
    other = copy.copy(box["x"])
    other[0] = 0.0
    return box["x"] * (np.argmax(x) * 0.1 + math.floor(x[1])) + other


def numbers_of_math(x):
    a, b = x[0], x[1]
    parts = [math.atan2(a, b), math.hypot(a, b), math.pow(a, b), math.log(b, 3.0), math.lgamma(b), math.erf(a)]
    parts += [math.fsum([a, b, 1.0]), math.prod([a, b, b]), math.degrees(a), math.fabs(-b), math.remainder(b, a)]
    return np.array(parts) + (1.0 if math.isfinite(a) else 0.0) + math.copysign(a, -1.0)


def constants(x):
    moved = GRID + 0.0
    return moved * x.sum() + np.interp(x[0], GRID, np.array([1.0, x[1], x[2], 2.0]))


def iterated(x):
    total = 0.0
    for i, value in enumerate(x):
        total += value * i
        while abs(value) > 1.0:
            value /= 2.0  # noqa: PLW2901
        total += value
    return total


def flipped(x):
    y = x * 1.0
    np.flip(y)[0] = 7.0 * x[0]
    np.nan_to_num(y, copy=False)
    z = y.copy()
    np.flipud(z)[1:] += x[1]
    return y + z


def checked(x):
    try:
        first = math.sqrt(x[0] - 10.0)
    except ValueError:
        first = x[0] * 2
    try:
        return first + math.log(x[1] - x[1])
    except ValueError:
        return first * x[1]


@functools.lru_cache
def table(n):
    return np.linspace(0.0, 1.0, n)


def tabled(x):
    return table(3) * x


def vectorized(x):
    return np.vectorize(lambda v: v * v)(x)


def from_function(x):
    return np.frompyfunc(lambda v: v * v, 1, 1)(x)


def converted(x):
    return "%g" % x[0], int(x[1])  # noqa: UP031


def listed(x):
    return x.tolist()


def into(x, out):
    out[0] = x[0]
    return out


def from_buffer(memory):
    values = np.frombuffer(memory)
    values[0] = 3.0
    return values


def made():
    return np.zeros(2), np.arange(3), np.ones(2, bool), np.linspace(0, 1, 3), np.array([1.0, 2.0])


def failing(x):
    raise KeyError(str(np.zeros(2)))


class Holder:
    """A class with state in arrays."""

    def __init__(self, size):
        self.state = np.zeros(size)

    def update(self, x):
        self.state[:] = 0.5 * self.state + x
        return self
