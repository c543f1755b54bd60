"""Those of the models of `models.py` that JAX writes with what it has itself: each by its parameters' shapes and its loss.

The shapes stand in the order of torch's `parameters()`, so that the same numbers are drawn for them. Layers with running
statistics, and operations that JAX does not have, are left out. A step is jitted as a whole.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
from jax import lax, numpy as jnp
from jax.nn import gelu, log_sigmoid, log_softmax, relu, sigmoid, softmax
from jax.scipy.linalg import cho_solve
from jax.scipy.special import logsumexp

Shapes = list[tuple[int, ...]]
Loss = Callable[[Sequence[Any]], Any]
MODELS: dict[str, Callable[[np.random.Generator], tuple[Shapes, Loss]]] = {}
exact_gelu = partial(gelu, approximate=False)


def model(case: Callable[[np.random.Generator], tuple[Shapes, Loss]]) -> Callable[..., Any]:
    """A model under its name."""
    MODELS[case.__name__] = case
    return case


def of(array: Any) -> Any:
    """An array with these numbers, floats in single precision."""
    array = np.asarray(array)
    return jnp.asarray(array.astype(np.float32) if array.dtype.kind == "f" else array)


def cross_entropy(logits: Any, labels: Any) -> Any:
    """The mean over all rows."""
    return -jnp.take_along_axis(log_softmax(logits, -1), labels[..., None], -1).mean()


def classified(rng: Any, shapes: Shapes, net: Any, shape: tuple[int, ...], classes: int = 10) -> tuple[Shapes, Loss]:
    """A network that classifies random inputs of this shape."""
    x, y = of(rng.normal(size=shape)), of(rng.integers(0, classes, shape[0]))
    return shapes, lambda p: cross_entropy(net(p, x), y)


def regressed(rng: Any, shapes: Shapes, net: Any, shape: tuple[int, ...], to: tuple[int, ...]) -> tuple[Shapes, Loss]:
    """A network from random inputs to random outputs of these shapes."""
    x, y = of(rng.normal(size=shape)), of(rng.normal(size=to))
    return shapes, lambda p: jnp.square(net(p, x) - y).mean()


def linear_shapes(*sizes: int) -> Shapes:
    """Weight and bias of each linear map."""
    return [shape for a, b in itertools.pairwise(sizes) for shape in ((b, a), (b,))]


def perceptron(p: Sequence[Any], x: Any, activation: Callable[[Any], Any] = relu) -> Any:
    """Linear maps with activations between them."""
    for place in range(0, len(p), 2):
        x = (activation(x) if place else x) @ p[place].T + p[place + 1]
    return x


def layer_norm(p: Sequence[Any], x: Any) -> Any:
    """Over the last axis, with weight and bias."""
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5) * p[0] + p[1]


def convolution(p: Sequence[Any], x: Any, padding: int = 0, dilation: int = 1, stride: int = 1) -> Any:
    """With weight and bias, channels in front."""
    axes = x.ndim - 2
    y = lax.conv_general_dilated(
        x, p[0], (stride,) * axes, [(padding, padding)] * axes, rhs_dilation=(dilation,) * axes
    )
    return y + p[1].reshape(-1, *[1] * axes)


# Perceptrons


@model
def mlp_small(rng):
    return classified(rng, linear_shapes(32, 32, 10), perceptron, (16, 32))


@model
def mlp_medium(rng):
    return classified(rng, linear_shapes(64, 256, 256, 10), perceptron, (128, 64))


@model
def mlp_large(rng):
    return classified(rng, linear_shapes(784, 512, 512, 10), perceptron, (128, 784))


@model
def logistic_regression(rng):
    return classified(rng, linear_shapes(20, 2), perceptron, (256, 20), 2)


@model
def autoencoder(rng):
    return regressed(rng, linear_shapes(784, 128, 32, 128, 784), perceptron, (64, 784), (64, 784))


@model
def variational_autoencoder(rng):
    x, noise = of(rng.random((64, 196))), of(rng.normal(size=(64, 16)))

    def loss(p):
        mean, log_variance = jnp.split(perceptron(p[:4], x), 2, 1)
        seen = perceptron(p[4:], mean + noise * jnp.exp(0.5 * log_variance))
        divergence = -0.5 * (1 + log_variance - mean**2 - jnp.exp(log_variance)).sum(1).mean()
        return -(x * log_sigmoid(seen) + (1 - x) * log_sigmoid(-seen)).mean() + divergence

    return linear_shapes(196, 128, 32) + linear_shapes(16, 128, 196), loss


@model
def mixer(rng):
    def net(p, x):
        turned = layer_norm(p[8:10], x).swapaxes(1, 2)
        x = x + perceptron(p[:4], turned, exact_gelu).swapaxes(1, 2)
        return perceptron(p[12:], (x + perceptron(p[4:8], layer_norm(p[10:12], x), exact_gelu)).mean(1))

    shapes = linear_shapes(49, 64, 49) + linear_shapes(64, 128, 64) + [(64,)] * 4 + linear_shapes(64, 10)
    return classified(rng, shapes, net, (16, 49, 64))


# Convolutions


@model
def convnet(rng):
    def net(p, x):
        for place in (0, 2):
            x = relu(convolution(p[place : place + 2], x, padding=1))
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        return perceptron(p[4:], x.reshape(len(x), -1))

    shapes = [(16, 1, 3, 3), (16,), (32, 16, 3, 3), (32,), *linear_shapes(32 * 49, 10)]
    return classified(rng, shapes, net, (32, 1, 28, 28))


@model
def wavenet(rng):
    def net(p, x):
        x = convolution(p[:2], x)
        for layer in range(5):
            y = convolution(p[2 + 2 * layer : 4 + 2 * layer], x, padding=2**layer, dilation=2**layer)
            value, gate = jnp.split(y[..., : x.shape[-1]], 2, 1)
            x = x + jnp.tanh(value) * sigmoid(gate)
        return convolution(p[12:], x)

    shapes = [(16, 1, 1), (16,), *[(32, 16, 2), (32,)] * 5, (1, 16, 1), (1,)]
    return regressed(rng, shapes, net, (8, 1, 200), (8, 1, 200))


@model
def convolutions_in_space(rng):
    def net(p, x):
        x = relu(convolution(p[2:4], relu(convolution(p[:2], x))))
        return perceptron(p[4:], x.reshape(len(x), -1))

    shapes = [(8, 1, 3, 3, 3), (8,), (16, 8, 3, 3, 3), (16,), *linear_shapes(16 * 216, 5)]
    return classified(rng, shapes, net, (4, 1, 10, 10, 10), 5)


@model
def upsampling(rng):
    def net(p, x):
        y = convolution(p[:2], x, padding=1)
        return convolution(p[2:], relu(jax.image.resize(y, (8, 16, 32, 32), "bilinear")), padding=1)

    return regressed(rng, [(16, 3, 3, 3), (16,), (3, 16, 3, 3), (3,)], net, (8, 3, 16, 16), (8, 3, 32, 32))


# Recurrent networks


def recurrent(rng: Any, gates: int, cell: Callable[..., Any]) -> tuple[Shapes, Loss]:
    """A recurrent network over rows of 20 steps, whose last state is classified."""

    def net(p, x):
        def step(state, row):
            state = cell(state, row @ p[0].T + p[2], state[0] @ p[1].T + p[3])
            return state, None

        start = jnp.zeros((len(x), 64), np.float32)
        (h, _), _ = lax.scan(step, (start, start), x.swapaxes(0, 1))
        return perceptron(p[4:], h)

    rows = 64 * gates
    shapes = [(rows, 16), (rows, 64), (rows,), (rows,), *linear_shapes(64, 10)]
    return classified(rng, shapes, net, (32, 20, 16))


def long_cell(state, of_input, of_state):
    """A step of an LSTM."""
    i, f, g, o = jnp.split(of_input + of_state, 4, 1)
    c = sigmoid(f) * state[1] + sigmoid(i) * jnp.tanh(g)
    return sigmoid(o) * jnp.tanh(c), c


@model
def lstm(rng):
    return recurrent(rng, 4, long_cell)


@model
def lstm_cells(rng):
    return recurrent(rng, 4, long_cell)


@model
def gru(rng):
    def cell(state, of_input, of_state):
        (a, b, c), (d, e, f) = jnp.split(of_input, 3, 1), jnp.split(of_state, 3, 1)
        z, n = sigmoid(b + e), jnp.tanh(c + sigmoid(a + d) * f)
        return (1 - z) * n + z * state[0], state[1]

    return recurrent(rng, 3, cell)


@model
def recurrent_network(rng):
    return recurrent(rng, 1, lambda state, a, b: (jnp.tanh(a + b), state[1]))


# Attention


def attention(p: Sequence[Any], x: Any, heads: int, *, causal: bool) -> Any:
    """Attention of several heads."""
    rows, length, width = x.shape
    parts = jnp.split(perceptron(p[:2], x), 3, -1)
    q, k, v = (part.reshape(rows, length, heads, -1).swapaxes(1, 2) for part in parts)
    scores = q @ k.swapaxes(-2, -1) / math.sqrt(width // heads)
    if causal:
        scores = jnp.where(np.triu(np.ones((length, length), bool), 1), -jnp.inf, scores)
    y = softmax(scores, -1) @ v
    return perceptron(p[2:4], y.swapaxes(1, 2).reshape(rows, length, width))


def transformer(
    rng: Any, *, causal: bool, layers: int = 2, width: int = 64, rows: int = 8, length: int = 32
) -> tuple[Shapes, Loss]:
    """Layers of attention and perceptrons on embedded tokens, which predict random tokens."""
    x, y = of(rng.integers(0, 65, (rows, length))), of(rng.integers(0, 65, rows * length))
    layer = [*linear_shapes(width, 3 * width), *linear_shapes(width, width), *[(width,)] * 4]
    layer += linear_shapes(width, 4 * width, width)
    each = len(layer)

    def loss(p):
        z = p[0][x]
        for begin in range(1, 1 + layers * each, each):
            q = p[begin : begin + each]
            z = z + attention(q[:4], layer_norm(q[4:6], z), 4, causal=causal)
            z = z + perceptron(q[8:], layer_norm(q[6:8], z), exact_gelu)
        return cross_entropy(perceptron(p[-2:], layer_norm(p[-4:-2], z)).reshape(rows * length, 65), y)

    return [(65, width), *layer * layers, (width,), (width,), *linear_shapes(width, 65)], loss


@model
def transformer_encoder(rng):
    return transformer(rng, causal=False)


@model
def gpt(rng):
    return transformer(rng, causal=True, layers=4)


@model
def gpt_by_hand(rng):
    return transformer(rng, causal=True, layers=4)


@model
def gpt_wide(rng):
    return transformer(rng, causal=True, layers=4, width=256, length=64)


@model
def attention_by_hand(rng):
    shapes = linear_shapes(128, 384) + linear_shapes(128, 128)
    return regressed(rng, shapes, partial(attention, heads=4, causal=False), (8, 64, 128), (8, 64, 128))


@model
def vision_transformer(rng):
    def net(p, x):
        z = convolution(p[:2], x, stride=8)
        z = z.reshape(*z.shape[:2], -1).swapaxes(1, 2)
        z = layer_norm(p[10:12], z + attention(p[2:6], z, 4, causal=False))
        z = layer_norm(p[12:14], z + perceptron(p[6:10], z))
        return perceptron(p[14:], z.mean(1))

    shapes = [(64, 3, 8, 8), (64,), *linear_shapes(64, 192), *linear_shapes(64, 64), *linear_shapes(64, 128, 64)]
    return classified(rng, [*shapes, *[(64,)] * 4, *linear_shapes(64, 10)], net, (16, 3, 32, 32))


# Tables, graphs and words


@model
def embedding_bag(rng):
    x, y = of(rng.integers(0, 1000, (64, 12))), of(rng.integers(0, 5, 64))
    return [(1000, 32), *linear_shapes(32, 5)], lambda p: cross_entropy(perceptron(p[1:], p[0][x].mean(1)), y)


@model
def matrix_factorisation(rng):
    u, i, y = of(rng.integers(0, 500, 512)), of(rng.integers(0, 300, 512)), of(rng.normal(size=512))
    return [(500, 16), (300, 16)], lambda p: jnp.square((p[0][u] * p[1][i]).sum(1) - y).mean()


@model
def graph_network(rng):
    links = rng.random((200, 200)) < 0.05
    spread = of((links + np.eye(200)) / (links.sum(1, keepdims=True) + 1))

    def net(p, x):
        return spread @ perceptron(p[2:], relu(spread @ perceptron(p[:2], x)))

    return classified(rng, linear_shapes(32, 32, 7), net, (200, 32), 7)


@model
def skip_gram(rng):
    word, near, far = (of(rng.integers(0, 1000, shape)) for shape in (256, 256, (256, 5)))

    def loss(p):
        w = p[0][word]
        right = log_sigmoid((w * p[1][near]).sum(1))
        wrong = log_sigmoid(-jnp.einsum("nd,nkd->nk", w, p[1][far]))
        return -(right + wrong.sum(1)).mean()

    return [(1000, 32), (1000, 32)], loss


# Science


@model
def physics_informed(rng):
    t = of(rng.random((64, 1)))

    def loss(p):
        def slope(x):
            return jax.grad(lambda x: perceptron(p, x, jnp.tanh).sum())(x)

        curve = jax.grad(lambda x: slope(x).sum())(t)
        return jnp.square(curve + perceptron(p, t, jnp.tanh)).mean()

    return linear_shapes(1, 32, 32, 1), loss


@model
def sines(rng):
    def net(p, x):
        for place in (0, 2):
            x = jnp.sin(3 * perceptron(p[place : place + 2], x))
        return perceptron(p[4:], x)

    return regressed(rng, linear_shapes(2, 64, 64, 3), net, (256, 2), (256, 3))


@model
def neural_differential_equation(rng):
    x, y = of(rng.normal(size=(32, 2))), of(rng.normal(size=(32, 2)))

    def loss(p):
        field, z, h = partial(perceptron, p, activation=jnp.tanh), x, 0.1
        for _ in range(10):
            a = field(z)
            b = field(z + 0.5 * h * a)
            c = field(z + 0.5 * h * b)
            z = z + h / 6 * (a + 2 * b + 2 * c + field(z + h * c))
        return jnp.square(z - y).mean()

    return linear_shapes(2, 32, 2), loss


@model
def mixture_density(rng):
    x, y = of(rng.normal(size=(256, 1))), of(rng.normal(size=(256, 1)))

    def loss(p):
        logits, mean, log_scale = jnp.split(perceptron(p, x, jnp.tanh), 3, -1)
        densities = -0.5 * ((y - mean) / jnp.exp(log_scale)) ** 2 - log_scale
        return -logsumexp(log_softmax(logits, -1) + densities, -1).mean()

    return linear_shapes(1, 32, 15), loss


@model
def gaussian_mixture(rng):
    x = of(rng.normal(size=(1000, 10)))
    rng.normal(size=(2, 25, 10))

    def loss(p):
        exponents = (((x[:, None] - p[0]) ** 2) * jnp.exp(p[1])).sum(-1)
        return -logsumexp(-0.5 * exponents + 0.5 * p[1].sum(-1), 1).mean()

    return [(25, 10), (25, 10)], loss


@model
def gaussian_process(rng):
    x, y = of(rng.random((100, 2))), of(rng.normal(size=(100, 1)))

    def loss(p):
        scale, noise = jnp.exp(p[0])
        distances = ((x[:, None] - x[None]) ** 2).sum(-1)
        factor = jnp.linalg.cholesky(jnp.exp(-distances / scale) + (0.1 + noise) * jnp.eye(100))
        return 0.5 * (y * cho_solve((factor, True), y)).sum() + jnp.log(jnp.diagonal(factor)).sum()

    return [(2,)], loss


@model
def flow(rng):
    x = of(rng.normal(size=(128, 4)))

    def loss(p):
        z, total = x, 0.0
        for place in range(0, 16, 4):
            a, b = jnp.split(z, 2, 1)
            shift, log_scale = jnp.split(perceptron(p[place : place + 4], a, jnp.tanh), 2, 1)
            z = jnp.concatenate([(b - shift) * jnp.exp(-log_scale), a], 1)
            total = total - log_scale.sum(1)
        return (0.5 * (z**2).sum(1) - total).mean()

    return linear_shapes(2, 32, 4) * 4, loss


# Losses, and learning from rewards


@model
def contrastive(rng):
    a, b = of(rng.normal(size=(64, 64))), of(rng.normal(size=(64, 64)))

    def loss(p):
        u, v = (y / jnp.linalg.norm(y, axis=1, keepdims=True) for y in (perceptron(p, a), perceptron(p, b)))
        return cross_entropy(u @ v.T / 0.1, jnp.arange(64))

    return linear_shapes(64, 128, 32), loss


@model
def policy_gradient(rng):
    states, actions, returns = of(rng.normal(size=(200, 4))), of(rng.integers(0, 2, 200)), of(rng.normal(size=200))

    def loss(p):
        logs = log_softmax(perceptron(p, states, jnp.tanh), -1)
        return -(jnp.take_along_axis(logs, actions[:, None], 1)[:, 0] * returns).mean()

    return linear_shapes(4, 64, 2), loss


@model
def deep_q(rng):
    states, later = of(rng.normal(size=(64, 4))), of(rng.normal(size=(64, 4)))
    actions, rewards = of(rng.integers(0, 2, (64, 1))), of(rng.normal(size=64))

    def loss(p):
        goal = lax.stop_gradient(rewards + 0.99 * perceptron(p[6:], later).max(1))
        off = jnp.abs(jnp.take_along_axis(perceptron(p[:6], states), actions, 1)[:, 0] - goal)
        return jnp.where(off < 1, 0.5 * off**2, off - 0.5).mean()

    return linear_shapes(4, 64, 64, 2) * 2, loss


@model
def soft_clusters(rng):
    x = of(rng.normal(size=(500, 8)))
    rng.normal(size=(10, 8))

    def loss(p):
        distances = jnp.sqrt(jnp.square(x[:, None] - p[0]).sum(-1))
        return (softmax(-distances, 1) * distances).sum(1).mean()

    return [(10, 8)], loss


@model
def random_field(rng):
    scores, tags = of(rng.normal(size=(30, 16, 8))), of(rng.integers(0, 8, (30, 16)))
    rng.normal(size=(8, 8))

    def loss(p):
        def step(alpha, row):
            return logsumexp(alpha[:, :, None] + p[0], 1) + row, None

        alpha, _ = lax.scan(step, scores[0], scores[1:])
        path = jnp.take_along_axis(scores, tags[..., None], 2).sum(0)[:, 0] + p[0][tags[:-1], tags[1:]].sum(0)
        return (logsumexp(alpha, 1) - path).mean()

    return [(8, 8)], loss


def step_of(name: str) -> Callable[[], Any]:
    """A training step: the loss, its gradient and Adam, as one jitted function."""
    shapes, loss = MODELS[name](np.random.default_rng(0))
    draw = np.random.default_rng(1)
    scales = (1 / math.sqrt(shape[-1]) if len(shape) > 1 else 0.1 for shape in shapes)
    parameters = [of(draw.normal(size=shape) * scale) for shape, scale in zip(shapes, scales, strict=True)]
    zeros = [jnp.zeros_like(p) for p in parameters]

    @jax.jit
    def adam(count: Any, parameters: Any, means: Any, squares: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(parameters)
        means = [0.9 * m + 0.1 * g for m, g in zip(means, gradients, strict=True)]
        squares = [0.999 * s + 0.001 * g * g for s, g in zip(squares, gradients, strict=True)]
        rate, root = 1e-3 / (1 - 0.9**count), jnp.sqrt(1 - 0.999**count)
        moved = [p - rate * m / (jnp.sqrt(s) / root + 1e-8) for p, m, s in zip(parameters, means, squares, strict=True)]
        return value, count + 1, moved, means, squares

    state = (jnp.float32(1), parameters, zeros, zeros)

    def step() -> Any:
        nonlocal state
        value, *state = jax.block_until_ready(adam(*state))
        return value

    return step
