"""Losses and data that processes import by their names."""

import functools
import os
import time

import numpy as np

import pullback
from pullback import nn
from pullback.nn.functional import softplus


def data(number, rows=60, columns=5):
    """The rows of a partition: those of each third one are more by one."""
    random = np.random.default_rng(number)
    rows += number % 3 == 2
    return random.normal(size=(rows, columns)), np.sign(random.normal(size=rows))


def parts(count=20):
    return [data(number) for number in range(count)]


def late(number):
    time.sleep(0.05)
    return data(number)


def late_parts(count=20):
    """Functions that take some time to load the same data."""
    return [functools.partial(late, number) for number in range(count)]


LIKE = {"w": np.zeros(5), "b": 0.0}
AT = {"w": np.linspace(-0.5, 0.5, 5), "b": 0.3}


def logistic(p, x, y):
    return softplus(-(y * (x @ p["w"] + p["b"]))).sum()


def whole(w, b, count=20):
    """Value and gradient of all partitions by their formulas."""
    x, y = (np.concatenate(each) for each in zip(*parts(count), strict=True))
    z = y * (x @ w + b)
    slope = -y / (1 + np.exp(z))
    return np.logaddexp(0, -z).sum(), slope @ x, slope.sum()


def failing(p, x, y):
    if len(x) == 61 and float(x[0, 0]) == data(5)[0][0, 0]:
        raise ValueError("no such row")  # the line that is named
    return logistic(p, x, y)


def deadly(p, x, y):
    if float(x[0, 0]) == data(5)[0][0, 0]:
        os._exit(9)
    return logistic(p, x, y)


def branching(p, x, y):
    """Is not compiled: it asks for a number."""
    z = x @ p["w"] + p["b"]
    return (z.tanh() * y).sum() if float(z.detach().sum()) > 0 else (z.exp() * y).logsumexp(0)


def counted(p, x, y):
    return len(x), (x @ p["w"]).mean()


def drawn(numbers, generator):
    return {"x": pullback.randn(len(numbers), 2, generator=generator), "n": numbers}


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 1))

    def forward(self, x):
        return self.layers(x)[:, 0]


MODEL = Network()


def network(parameters, x, y):
    output = pullback.func.functional_call(MODEL, parameters, (x.float(),))
    return (output - y.float()).square().sum()


def digest(result):
    """Value and gradient in bytes."""
    value, gradient = result
    leaves = [np.asarray(leaf.detach() if hasattr(leaf, "detach") else leaf) for leaf in gradient.values()]
    return np.float64(value).tobytes() + b"".join(leaf.tobytes() for leaf in leaves)
