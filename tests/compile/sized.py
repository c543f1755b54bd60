"""Programs of many kinds, each at any size: a table of functions, with what makes their arguments."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import pullback
from pullback import func, linalg, nn
from pullback.func import grad
from pullback.nn import functional as F  # noqa: N812

WIDTH = 5


class Sized(NamedTuple):
    """A function maker, since some have state, and a maker of arguments for a size."""

    make: Callable[[], Callable[..., Any]]
    arguments: Callable[[int], tuple[Any, ...]]


def normal(*shape: int) -> pullback.Tensor:
    """Normal numbers, not too large."""
    return pullback.randn(*shape) * 0.5


PROGRAMS: dict[str, Sized] = {}


def sized(arguments: Callable[[int], tuple[Any, ...]]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Put a function without state into the table."""

    def put(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[function.__name__] = Sized(lambda: function, arguments)
        return function

    return put


def trained(arguments: Callable[[int], tuple[Any, ...]]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Put a maker of functions with state into the table."""

    def put(make: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[make.__name__] = Sized(make, arguments)
        return make

    return put


def batch(n: int) -> tuple[Any, ...]:
    """Rows and classes."""
    return normal(n, WIDTH), pullback.randint(0, 3, (n,))


def rows(n: int) -> tuple[Any, ...]:
    """Rows."""
    return (normal(n, WIDTH),)


def vector(n: int) -> tuple[Any, ...]:
    """A vector."""
    return (normal(n),)


def _network() -> nn.Module:
    return nn.Sequential(nn.Linear(WIDTH, 8), nn.Tanh(), nn.Linear(8, 3))


def _step(model: nn.Module, optimizer: Any) -> Callable[..., Any]:
    def step(x: Any, t: Any) -> Any:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), t)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


# Training


@trained(batch)
def sgd_step() -> Any:
    model = _network()
    return _step(model, pullback.optim.SGD(model.parameters(), lr=0.01, momentum=0.9))


@trained(batch)
def adam_step() -> Any:
    model = _network()
    return _step(model, pullback.optim.Adam(model.parameters(), lr=0.01))


@trained(batch)
def dropout_step() -> Any:
    model = nn.Sequential(nn.Linear(WIDTH, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 3))
    return _step(model, pullback.optim.SGD(model.parameters(), lr=0.01))


@trained(rows)
def batch_norm() -> Any:
    layer = nn.BatchNorm1d(WIDTH)
    return lambda x: pullback.autograd.grad(layer(x).square().sum(), [*layer.parameters()])


@trained(lambda n: (normal(n, 7, WIDTH),))
def lstm() -> Any:
    layer = nn.LSTM(WIDTH, 6, batch_first=True)
    return lambda x: pullback.autograd.grad(layer(x)[0].sum(), [*layer.parameters()])


@trained(lambda n: (normal(3, n, WIDTH),))
def gru_length() -> Any:
    layer = nn.GRU(WIDTH, 6, batch_first=True)
    return lambda x: layer(x)[0].detach()


@trained(lambda n: (normal(n, 1, 8, 8), pullback.randint(0, 3, (n,))))
def convolution() -> Any:
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 3))
    return lambda x, t: pullback.autograd.grad(F.cross_entropy(model(x), t), [*model.parameters()])


@trained(lambda n: (normal(2, n // 4, 8),))
def transformer_length() -> Any:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    return lambda x: pullback.autograd.grad(layer(x).square().sum(), [*layer.parameters()])


@trained(lambda n: (normal(n, 4, 8),))
def transformer_batch() -> Any:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    return lambda x: layer(x).detach()


# Functions of a vector


@sized(vector)
def softmax_slope(x: Any) -> Any:
    return grad(lambda x: (x.softmax(0) * x).sum())(x)


@sized(vector)
def logsumexp_slope(x: Any) -> Any:
    return grad(lambda x: x.logsumexp(0))(x)


def _valley(x: Any) -> Any:
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


@sized(vector)
def valley_slope(x: Any) -> Any:
    return grad(_valley)(x)


@sized(vector)
def valley_curvature(x: Any) -> Any:
    return func.jvp(grad(_valley), (x,), (x,))[1]


@sized(vector)
def hessian(x: Any) -> Any:
    return func.hessian(lambda x: (x.sin() * x).sum() ** 2)(x)


@sized(vector)
def moments(x: Any) -> Any:
    return x.mean(), x.var(), x.std()


@sized(vector)
def time_grid(x: Any) -> Any:
    t = pullback.arange(x.shape[0]) / x.shape[0]
    return (x * pullback.sin(2 * math.pi * t)).sum()


@sized(vector)
def trapezoid(x: Any) -> Any:
    return pullback.trapezoid(x, pullback.linspace(0, 1, x.shape[0]))


@sized(vector)
def halves(x: Any) -> Any:
    a, b = x.chunk(2)
    return a * 2, b


@sized(vector)
def sorted_part(x: Any) -> Any:
    return x.sort()[0][:3], x.topk(min(3, x.shape[0]))[0]


@sized(vector)
def recurrence_slope(x: Any) -> Any:
    v = pullback.ones((), requires_grad=True)
    total = pullback.scan(lambda h, t: (h * v + t, h), pullback.zeros(()), x)[1].sum()
    return pullback.autograd.grad(total, v)[0]


@sized(vector)
def branch(x: Any) -> Any:
    return x.exp() * 2 if x.shape[0] > 210 else x.sin() - 1


@sized(vector)
def chosen(x: Any) -> Any:
    return pullback.where(x > 0, x.log1p(), x.exp() - 1).cumsum(0)


@sized(vector)
def in_place(x: Any) -> Any:
    y = x.clone()
    y[1:] += x[:-1]
    y.mul_(0.5).add_(x, alpha=2.0)
    return y, y.sum()


@sized(vector)
def random_numbers(x: Any) -> Any:
    return x + pullback.randn(x.shape[0]), pullback.rand(3)


@sized(lambda n: (normal(n), pullback.randint(0, 4, (n,))))
def summed_at(x: Any, i: Any) -> Any:
    return pullback.zeros(4).index_add(0, i, x)


@sized(lambda n: (normal(n), normal(n)))
def outer(a: Any, b: Any) -> Any:
    return pullback.einsum("i,j->ij", a, b) @ a


# Functions of rows


@sized(lambda n: (normal(n, 3),))
def distances(x: Any) -> Any:
    return grad(lambda x: (1 / (1 + ((x[:, None] - x[None]) ** 2).sum(-1))).sum())(x)


@sized(lambda n: (normal(n // 4, 2), normal(n // 4)))
def gaussian_process(x: Any, y: Any) -> Any:
    def f(x: Any) -> Any:
        k = (-((x[:, None] - x[None]) ** 2).sum(-1)).exp() + 0.5 * pullback.eye(x.shape[0])
        factor = linalg.cholesky(k)
        a = linalg.solve_triangular(factor, y[:, None], upper=False)
        return (a**2).sum() + factor.diagonal().log().sum()

    return grad(f)(x)


@sized(lambda n: (normal(n, WIDTH), normal(n)))
def least_squares(x: Any, y: Any) -> Any:
    return linalg.solve(x.T @ x + pullback.eye(WIDTH), x.T @ y)


@sized(lambda n: (normal(n, WIDTH), normal(n)))
def logistic(x: Any, y: Any) -> Any:
    return grad(lambda w: F.binary_cross_entropy_with_logits(x @ w, (y > 0).float()))(pullback.ones(WIDTH))


@sized(rows)
def normalized(x: Any) -> Any:
    return grad(lambda x: ((x - x.mean(0)) / (x.std(0, correction=0) + 1)).exp().sum())(x)


@sized(rows)
def per_sample(x: Any) -> Any:
    return func.vmap(grad(lambda w, x: (w * x).sum().tanh()), (None, 0))(pullback.ones(WIDTH), x)


@sized(lambda n: (normal(4, n),))
def layer_norm(x: Any) -> Any:
    return grad(lambda x: F.layer_norm(x, (x.shape[-1],)).exp().sum())(x)


@sized(lambda n: (normal(n, WIDTH), pullback.randint(0, 4, (n,))))
def embedding(x: Any, i: Any) -> Any:
    table = (pullback.arange(4.0 * WIDTH).reshape(4, WIDTH) / 7).requires_grad_()
    return pullback.autograd.grad((F.embedding(i, table) * x).sum(), table)[0]


@sized(lambda n: (normal(n, 4),))
def masked_attention(x: Any) -> Any:
    mask = pullback.ones(x.shape[0], x.shape[0]).triu(1).bool()
    return (x @ x.T).masked_fill(mask, -1e9).softmax(-1) @ x


@sized(lambda n: tuple(normal(2, n, 4) for _ in range(3)))
def attention(q: Any, k: Any, v: Any) -> Any:
    return grad(lambda q: F.scaled_dot_product_attention(q, k, v).square().sum())(q)


@sized(lambda n: (normal(2, 3, n),))
def line_convolution(x: Any) -> Any:
    return F.conv1d(x, pullback.ones(2, 3, 3), padding=1)


@sized(lambda n: (normal(n, 9),))
def grid(u: Any) -> Any:
    q = F.pad(u, (1, 1, 1, 1))
    return q[:-2, 1:-1] + q[2:, 1:-1] + q[1:-1, :-2] + q[1:-1, 2:] - 4 * u
