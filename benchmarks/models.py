"""Times training steps of 46 models: pullback, torch, torch.compile, jax.jit and pullback.compile.

Each model is written once, in torch's names, and for JAX in `jax_models.py` where it has what a model needs. Each library trains it in a process of its own; the processes measure in turns, one
waits asleep while another computes. Weights and batches are NumPy's numbers, and the losses of the first steps must be equal.
A step is zero_grad, loss, backward and Adam. The table has the ratios of the medians to torch eager, and for compiled steps to
the better torch and to jax.jit, and those of the peaks of the processes' memory.

    scripts/bench models [--only NAME] [--threads N [N ...]] [--quick] [--without-compile] [--json FILE] [--page FILE]
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import math
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from processes import Process

TURNS, SECONDS, WARM, CHECKED = 5, 0.3, 0.7, 3
TORCH = ("torch", "torch compiled")
Case = Callable[[Any, np.random.Generator], tuple[Any, Callable[[], Any]]]
MODELS: dict[str, Case] = {}


def model(case: Case) -> Case:
    """A model under its name: it returns a module, and a function that gives the loss."""
    MODELS[case.__name__] = case
    return case


def of(torch: Any, array: Any) -> Any:
    """A tensor with these numbers, floats in single precision."""
    array = np.asarray(array)
    return torch.tensor(array.astype(np.float32) if array.dtype.kind == "f" else array)


def classified(torch: Any, rng: Any, net: Any, shape: tuple[int, ...], classes: int = 10) -> tuple[Any, Any]:
    """A network that classifies random inputs of this shape."""
    x, y = of(torch, rng.normal(size=shape)), of(torch, rng.integers(0, classes, shape[0]))
    return net, lambda: torch.nn.functional.cross_entropy(net(x), y)


def regressed(torch: Any, rng: Any, net: Any, shape: tuple[int, ...], to: tuple[int, ...]) -> tuple[Any, Any]:
    """A network from random inputs to random outputs of these shapes."""
    x, y = of(torch, rng.normal(size=shape)), of(torch, rng.normal(size=to))
    return net, lambda: torch.nn.functional.mse_loss(net(x), y)


def module(torch: Any, parts: dict[str, Any], forward: Callable[..., Any]) -> Any:
    """A module of these parts, which computes `forward(self, ...)`."""
    made = type("Net", (torch.nn.Module,), {"forward": forward})()
    for name, part in parts.items():
        setattr(made, name, part)
    return made


def perceptron(torch: Any, *sizes: int, activation: str = "ReLU") -> Any:
    """Linear maps with activations between them."""
    nn = torch.nn
    layers = [nn.Linear(a, b) for a, b in itertools.pairwise(sizes)]
    return nn.Sequential(*[part for layer in layers for part in (layer, getattr(nn, activation)())][:-1])


# Perceptrons


@model
def mlp_small(torch, rng):
    return classified(torch, rng, perceptron(torch, 32, 32, 10), (16, 32))


@model
def mlp_medium(torch, rng):
    return classified(torch, rng, perceptron(torch, 64, 256, 256, 10), (128, 64))


@model
def mlp_large(torch, rng):
    return classified(torch, rng, perceptron(torch, 784, 512, 512, 10), (128, 784))


@model
def logistic_regression(torch, rng):
    return classified(torch, rng, torch.nn.Linear(20, 2), (256, 20), 2)


@model
def autoencoder(torch, rng):
    return regressed(torch, rng, perceptron(torch, 784, 128, 32, 128, 784), (64, 784), (64, 784))


@model
def variational_autoencoder(torch, rng):
    functional = torch.nn.functional
    x, noise = of(torch, rng.random((64, 196))), of(torch, rng.normal(size=(64, 16)))
    parts = {"encode": perceptron(torch, 196, 128, 32), "decode": perceptron(torch, 16, 128, 196)}

    def forward(self, x):
        mean, log_variance = self.encode(x).chunk(2, dim=1)
        seen = self.decode(mean + noise * (0.5 * log_variance).exp())
        divergence = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum(1).mean()
        return functional.binary_cross_entropy_with_logits(seen, x) + divergence

    net = module(torch, parts, forward)
    return net, lambda: net(x)


@model
def mixer(torch, rng):
    nn = torch.nn
    parts = {
        "tokens": perceptron(torch, 49, 64, 49, activation="GELU"),
        "channels": perceptron(torch, 64, 128, 64, activation="GELU"),
    }
    parts |= {"first": nn.LayerNorm(64), "second": nn.LayerNorm(64), "head": nn.Linear(64, 10)}

    def forward(self, x):
        x = x + self.tokens(self.first(x).transpose(1, 2)).transpose(1, 2)
        return self.head((x + self.channels(self.second(x))).mean(1))

    return classified(torch, rng, module(torch, parts, forward), (16, 49, 64))


# Convolutions


def convolutions(torch: Any, norm: Callable[[int], Any]) -> Any:
    """Two convolutions with poolings, and a linear map, for pictures of 28 by 28."""
    nn = torch.nn
    blocks = [(nn.Conv2d(a, b, 3, padding=1), norm(b), nn.ReLU(), nn.MaxPool2d(2)) for a, b in ((1, 16), (16, 32))]
    return nn.Sequential(*blocks[0], *blocks[1], nn.Flatten(), nn.Linear(32 * 49, 10))


@model
def convnet(torch, rng):
    return classified(torch, rng, convolutions(torch, lambda _: torch.nn.Identity()), (32, 1, 28, 28))


@model
def convnet_batch_norm(torch, rng):
    return classified(torch, rng, convolutions(torch, torch.nn.BatchNorm2d), (32, 1, 28, 28))


@model
def convnet_group_norm(torch, rng):
    return classified(torch, rng, convolutions(torch, lambda n: torch.nn.GroupNorm(4, n)), (32, 1, 28, 28))


@model
def residual_network(torch, rng):
    nn = torch.nn

    def block(n):
        same = [(nn.Conv2d(n, n, 3, padding=1, bias=False), nn.BatchNorm2d(n)) for _ in range(2)]
        inner = nn.Sequential(*same[0], nn.ReLU(), *same[1])
        return module(torch, {"inner": inner}, lambda self, x: torch.relu(x + self.inner(x)))

    down = [nn.Conv2d(a, b, 3, stride=2, padding=1) for a, b in ((16, 32), (32, 64))]
    stem = nn.Conv2d(3, 16, 3, padding=1)
    pool = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))
    net = nn.Sequential(stem, block(16), down[0], block(32), down[1], block(64), *pool)
    return classified(torch, rng, net, (16, 3, 32, 32))


@model
def mobile_network(torch, rng):
    nn = torch.nn

    def block(a, b, stride):
        apart = nn.Conv2d(a, a, 3, stride=stride, padding=1, groups=a)
        return (apart, nn.BatchNorm2d(a), nn.ReLU(), nn.Conv2d(a, b, 1), nn.BatchNorm2d(b), nn.ReLU())

    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), *block(16, 32, 2), *block(32, 64, 2), *block(64, 64, 1),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10),
    )  # fmt: skip
    return classified(torch, rng, net, (16, 3, 32, 32))


@model
def u_net(torch, rng):
    nn = torch.nn

    def pair(a, b):
        return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.ReLU(), nn.Conv2d(b, b, 3, padding=1), nn.ReLU())

    parts = {"down": pair(1, 16), "low": pair(16, 32), "up": nn.ConvTranspose2d(32, 16, 2, stride=2)}
    parts |= {"last": pair(32, 16), "head": nn.Conv2d(16, 1, 1)}

    def forward(self, x):
        high = self.down(x)
        low = self.low(torch.nn.functional.max_pool2d(high, 2))
        return self.head(self.last(torch.cat([high, self.up(low)], 1)))

    return regressed(torch, rng, module(torch, parts, forward), (4, 1, 32, 32), (4, 1, 32, 32))


@model
def generator(torch, rng):
    nn = torch.nn
    steps = [nn.ConvTranspose2d(a, b, 4, stride=2, padding=1) for a, b in ((32, 16), (16, 1))]
    first = nn.ConvTranspose2d(16, 32, 7)
    net = nn.Sequential(first, nn.BatchNorm2d(32), nn.ReLU(), steps[0], nn.ReLU(), steps[1], nn.Tanh())
    return regressed(torch, rng, net, (32, 16, 1, 1), (32, 1, 28, 28))


@model
def wavenet(torch, rng):
    nn = torch.nn
    layers = [nn.Conv1d(16, 32, 2, dilation=2**i, padding=2**i) for i in range(5)]
    parts = {"first": nn.Conv1d(1, 16, 1), "layers": nn.ModuleList(layers), "last": nn.Conv1d(16, 1, 1)}

    def forward(self, x):
        x = self.first(x)
        for layer in self.layers:
            value, gate = layer(x)[..., : x.shape[-1]].chunk(2, 1)
            x = x + torch.tanh(value) * torch.sigmoid(gate)
        return self.last(x)

    return regressed(torch, rng, module(torch, parts, forward), (8, 1, 200), (8, 1, 200))


@model
def convolutions_in_space(torch, rng):
    nn = torch.nn
    net = nn.Sequential(nn.Conv3d(1, 8, 3), nn.ReLU(), nn.Conv3d(8, 16, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(5))
    net(of(torch, np.zeros((1, 1, 10, 10, 10))))
    return classified(torch, rng, net, (4, 1, 10, 10, 10), 5)


@model
def upsampling(torch, rng):
    nn = torch.nn
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.Upsample(scale_factor=2, mode="bilinear"),
        nn.ReLU(),
        nn.Conv2d(16, 3, 3, padding=1),
    )
    return regressed(torch, rng, net, (8, 3, 16, 16), (8, 3, 32, 32))


# Recurrent networks


def recurrent(torch: Any, rng: Any, kind: str, **options: Any) -> tuple[Any, Any]:
    """A recurrent network over rows of 20 steps, whose last state is classified."""
    layer = getattr(torch.nn, kind)(16, 64, batch_first=True, **options)
    head = torch.nn.Linear(128 if options.get("bidirectional") else 64, 10)
    net = module(torch, {"layer": layer, "head": head}, lambda self, x: self.head(self.layer(x)[0][:, -1]))
    return classified(torch, rng, net, (32, 20, 16))


@model
def lstm(torch, rng):
    return recurrent(torch, rng, "LSTM")


@model
def lstm_both_ways(torch, rng):
    return recurrent(torch, rng, "LSTM", bidirectional=True)


@model
def gru(torch, rng):
    return recurrent(torch, rng, "GRU")


@model
def recurrent_network(torch, rng):
    return recurrent(torch, rng, "RNN")


@model
def lstm_cells(torch, rng):
    parts = {"cell": torch.nn.LSTMCell(16, 64), "head": torch.nn.Linear(64, 10)}

    def forward(self, x):
        h = c = x.new_zeros(x.shape[0], 64)
        for step in x.unbind(1):
            h, c = self.cell(step, (h, c))
        return self.head(h)

    return classified(torch, rng, module(torch, parts, forward), (32, 20, 16))


# Attention


def attending(torch: Any, width: int, heads: int, *, causal: bool, by_hand: bool) -> Any:
    """Attention of several heads."""
    nn = torch.nn
    parts = {"mix": nn.Linear(width, 3 * width), "out": nn.Linear(width, width)}

    def forward(self, x):
        rows, length, _ = x.shape
        q, k, v = (part.view(rows, length, heads, -1).transpose(1, 2) for part in self.mix(x).chunk(3, -1))
        if by_hand:
            scores = q @ k.transpose(-2, -1) / math.sqrt(width // heads)
            if causal:
                scores = scores.masked_fill(torch.ones(length, length, dtype=torch.bool).triu(1), -math.inf)
            y = torch.softmax(scores, -1) @ v
        else:
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return self.out(y.transpose(1, 2).reshape(rows, length, width))

    return module(torch, parts, forward)


def transformer(
    torch: Any, *, causal: bool, by_hand: bool = False, layers: int = 2, width: int = 64, classes: int = 65
) -> Any:
    """Layers of attention and perceptrons on embedded tokens."""
    nn = torch.nn

    def layer():
        parts = {
            "a": attending(torch, width, 4, causal=causal, by_hand=by_hand),
            "n": nn.LayerNorm(width),
            "m": nn.LayerNorm(width),
        }
        parts["p"] = perceptron(torch, width, 4 * width, width, activation="GELU")
        return module(torch, parts, lambda self, x: (y := x + self.a(self.n(x))) + self.p(self.m(y)))

    stack = nn.Sequential(*[layer() for _ in range(layers)])
    return nn.Sequential(nn.Embedding(65, width), stack, nn.LayerNorm(width), nn.Linear(width, classes))


def of_tokens(torch: Any, rng: Any, net: Any, rows: int = 8, length: int = 32) -> tuple[Any, Any]:
    """The loss of predicting random tokens."""
    x, y = of(torch, rng.integers(0, 65, (rows, length))), of(torch, rng.integers(0, 65, rows * length))
    return net, lambda: torch.nn.functional.cross_entropy(net(x).view(rows * length, 65), y)


@model
def transformer_encoder(torch, rng):
    return of_tokens(torch, rng, transformer(torch, causal=False))


@model
def gpt(torch, rng):
    return of_tokens(torch, rng, transformer(torch, causal=True, layers=4))


@model
def gpt_by_hand(torch, rng):
    return of_tokens(torch, rng, transformer(torch, causal=True, by_hand=True, layers=4))


@model
def gpt_wide(torch, rng):
    return of_tokens(torch, rng, transformer(torch, causal=True, layers=4, width=256), 8, 64)


@model
def attention_by_hand(torch, rng):
    return regressed(torch, rng, attending(torch, 128, 4, causal=False, by_hand=True), (8, 64, 128), (8, 64, 128))


@model
def vision_transformer(torch, rng):
    nn = torch.nn
    encoder = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    parts = {"patches": nn.Conv2d(3, 64, 8, stride=8), "encoder": encoder, "head": nn.Linear(64, 10)}
    net = module(
        torch, parts, lambda self, x: self.head(self.encoder(self.patches(x).flatten(2).transpose(1, 2)).mean(1))
    )
    return classified(torch, rng, net, (16, 3, 32, 32))


# Tables, graphs and words


@model
def embedding_bag(torch, rng):
    nn = torch.nn
    net = nn.Sequential(nn.EmbeddingBag(1000, 32, mode="mean"), nn.Linear(32, 5))
    x, y = of(torch, rng.integers(0, 1000, (64, 12))), of(torch, rng.integers(0, 5, 64))
    return net, lambda: nn.functional.cross_entropy(net(x), y)


@model
def matrix_factorisation(torch, rng):
    parts = {"users": torch.nn.Embedding(500, 16), "items": torch.nn.Embedding(300, 16)}
    u, i, y = (
        of(torch, rng.integers(0, 500, 512)),
        of(torch, rng.integers(0, 300, 512)),
        of(torch, rng.normal(size=512)),
    )
    net = module(torch, parts, lambda self: ((self.users(u) * self.items(i)).sum(1) - y).square().mean())
    return net, net


@model
def graph_network(torch, rng):
    links = rng.random((200, 200)) < 0.05
    spread = of(torch, (links + np.eye(200)) / (links.sum(1, keepdims=True) + 1))
    parts = {"first": torch.nn.Linear(32, 32), "second": torch.nn.Linear(32, 7)}
    net = module(torch, parts, lambda self, x: spread @ self.second(torch.relu(spread @ self.first(x))))
    return classified(torch, rng, net, (200, 32), 7)


@model
def skip_gram(torch, rng):
    functional = torch.nn.functional
    parts = {"words": torch.nn.Embedding(1000, 32), "around": torch.nn.Embedding(1000, 32)}
    word, near, far = (of(torch, rng.integers(0, 1000, shape)) for shape in (256, 256, (256, 5)))

    def forward(self):
        w = self.words(word)
        right = functional.logsigmoid((w * self.around(near)).sum(1))
        wrong = functional.logsigmoid(-torch.einsum("nd,nkd->nk", w, self.around(far)))
        return -(right + wrong.sum(1)).mean()

    net = module(torch, parts, forward)
    return net, net


# Science


@model
def physics_informed(torch, rng):
    net = perceptron(torch, 1, 32, 32, 1, activation="Tanh")
    t = of(torch, rng.random((64, 1)))

    def loss():
        x = t.clone().requires_grad_()
        y = net(x)
        (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        (curve,) = torch.autograd.grad(slope.sum(), x, create_graph=True)
        return (curve + y).square().mean()

    return net, loss


@model
def sines(torch, rng):
    layers = torch.nn.ModuleList([torch.nn.Linear(a, b) for a, b in ((2, 64), (64, 64), (64, 3))])

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = torch.sin(3 * layer(x))
        return self.layers[-1](x)

    return regressed(torch, rng, module(torch, {"layers": layers}, forward), (256, 2), (256, 3))


@model
def neural_differential_equation(torch, rng):
    field = perceptron(torch, 2, 32, 2, activation="Tanh")
    x, y = of(torch, rng.normal(size=(32, 2))), of(torch, rng.normal(size=(32, 2)))

    def loss():
        z, h = x, 0.1
        for _ in range(10):
            a = field(z)
            b = field(z + 0.5 * h * a)
            c = field(z + 0.5 * h * b)
            z = z + h / 6 * (a + 2 * b + 2 * c + field(z + h * c))
        return (z - y).square().mean()

    return field, loss


@model
def mixture_density(torch, rng):
    net = perceptron(torch, 1, 32, 15, activation="Tanh")
    x, y = of(torch, rng.normal(size=(256, 1))), of(torch, rng.normal(size=(256, 1)))

    def loss():
        logits, mean, log_scale = net(x).chunk(3, -1)
        densities = -0.5 * ((y - mean) / log_scale.exp()) ** 2 - log_scale
        return -torch.logsumexp(torch.log_softmax(logits, -1) + densities, -1).mean()

    return net, loss


@model
def gaussian_mixture(torch, rng):
    x = of(torch, rng.normal(size=(1000, 10)))
    parts = {name: torch.nn.Parameter(of(torch, rng.normal(size=(25, 10)))) for name in ("mean", "scale")}

    def forward(self):
        exponents = (((x[:, None] - self.mean) ** 2) * torch.exp(self.scale)).sum(-1)
        return -torch.logsumexp(-0.5 * exponents + 0.5 * self.scale.sum(-1), 1).mean()

    net = module(torch, parts, forward)
    return net, net


@model
def gaussian_process(torch, rng):
    x, y = of(torch, rng.random((100, 2))), of(torch, rng.normal(size=(100, 1)))
    parts = {"logs": torch.nn.Parameter(of(torch, np.zeros(2)))}

    def forward(self):
        scale, noise = self.logs.exp()
        distances = ((x[:, None] - x[None]) ** 2).sum(-1)
        factor = torch.linalg.cholesky(torch.exp(-distances / scale) + (0.1 + noise) * torch.eye(100))
        return 0.5 * (y * torch.cholesky_solve(y, factor)).sum() + factor.diagonal().log().sum()

    net = module(torch, parts, forward)
    return net, net


@model
def kernel_ridge(torch, rng):
    x, y, xs, ys = (of(torch, rng.normal(size=shape)) for shape in ((80, 4), (80, 1), (40, 4), (40, 1)))
    parts = {"log": torch.nn.Parameter(of(torch, np.zeros(())))}

    def forward(self):
        def kernel(a, b):
            return torch.exp(-self.log.exp() * torch.cdist(a, b) ** 2)

        weights = torch.linalg.solve(kernel(x, x) + 0.1 * torch.eye(80), y)
        return (kernel(xs, x) @ weights - ys).square().mean()

    net = module(torch, parts, forward)
    return net, net


@model
def flow(torch, rng):
    halves = torch.nn.ModuleList([perceptron(torch, 2, 32, 4, activation="Tanh") for _ in range(4)])
    x = of(torch, rng.normal(size=(128, 4)))

    def forward(self):
        z, total = x, 0.0
        for net in self.halves:
            a, b = z.chunk(2, 1)
            shift, log_scale = net(a).chunk(2, 1)
            z = torch.cat([(b - shift) * torch.exp(-log_scale), a], 1)
            total = total - log_scale.sum(1)
        return (0.5 * (z**2).sum(1) - total).mean()

    net = module(torch, {"halves": halves}, forward)
    return net, net


# Losses, and learning from rewards


@model
def contrastive(torch, rng):
    net = perceptron(torch, 64, 128, 32)
    a, b = of(torch, rng.normal(size=(64, 64))), of(torch, rng.normal(size=(64, 64)))
    normalize = torch.nn.functional.normalize
    labels = torch.arange(64)
    return net, lambda: torch.nn.functional.cross_entropy(
        normalize(net(a), dim=1) @ normalize(net(b), dim=1).t() / 0.1, labels
    )


@model
def policy_gradient(torch, rng):
    net = perceptron(torch, 4, 64, 2, activation="Tanh")
    states, actions, returns = (
        of(torch, rng.normal(size=(200, 4))),
        of(torch, rng.integers(0, 2, 200)),
        of(torch, rng.normal(size=200)),
    )
    return net, lambda: -(torch.distributions.Categorical(logits=net(states)).log_prob(actions) * returns).mean()


@model
def deep_q(torch, rng):
    net, target = perceptron(torch, 4, 64, 64, 2), perceptron(torch, 4, 64, 64, 2)
    target.requires_grad_(False)
    states, later = of(torch, rng.normal(size=(64, 4))), of(torch, rng.normal(size=(64, 4)))
    actions, rewards = of(torch, rng.integers(0, 2, (64, 1))), of(torch, rng.normal(size=64))

    def loss():
        with torch.no_grad():
            goal = rewards + 0.99 * target(later).max(1)[0]
        return torch.nn.functional.smooth_l1_loss(net(states).gather(1, actions).squeeze(1), goal)

    return module(torch, {"net": net, "target": target}, lambda self: None), loss


@model
def soft_clusters(torch, rng):
    x = of(torch, rng.normal(size=(500, 8)))
    parts = {"centres": torch.nn.Parameter(of(torch, rng.normal(size=(10, 8))))}

    def forward(self):
        distances = torch.cdist(x, self.centres)
        return (torch.softmax(-distances, 1) * distances).sum(1).mean()

    net = module(torch, parts, forward)
    return net, net


@model
def random_field(torch, rng):
    scores, tags = of(torch, rng.normal(size=(30, 16, 8))), of(torch, rng.integers(0, 8, (30, 16)))
    parts = {"moves": torch.nn.Parameter(of(torch, rng.normal(size=(8, 8)) * 0.1))}

    def forward(self):
        alpha = scores[0]
        for step in scores[1:]:
            alpha = torch.logsumexp(alpha[:, :, None] + self.moves, 1) + step
        path = scores.gather(2, tags[..., None]).sum(0).squeeze(1) + self.moves[tags[:-1], tags[1:]].sum(0)
        return (torch.logsumexp(alpha, 1) - path).mean()

    net = module(torch, parts, forward)
    return net, net


@model
def temporal_classification(torch, rng):
    net = torch.nn.Linear(32, 12)
    x, y = of(torch, rng.normal(size=(40, 16, 32))), of(torch, rng.integers(1, 12, (16, 8)))
    sizes = torch.full((16,), 40), torch.full((16,), 8)
    return net, lambda: torch.nn.functional.ctc_loss(torch.log_softmax(net(x), -1), y, *sizes)


# A process


def of_jax() -> Any:
    """The models of JAX; imported where they run, since a child's peak of memory begins with its parent's size."""
    return importlib.import_module("jax_models")


def step_of(library: str, name: str) -> Callable[[], Any]:
    """A training step of a model: pullback, pullback compiled, torch, torch compiled or jax."""
    kind, _, compiled = library.partition(" ")
    if kind == "jax":
        return of_jax().step_of(name)
    torch = importlib.import_module(kind)
    if kind == "torch":
        torch.set_num_threads(int(os.environ["THREADS"]))
    net, loss = MODELS[name](torch, np.random.default_rng(0))
    draw = np.random.default_rng(1)
    for parameter in net.parameters():
        scale = 1 / math.sqrt(parameter.shape[-1]) if parameter.ndim > 1 else 0.1
        with torch.no_grad():
            parameter.copy_(of(torch, draw.normal(size=tuple(parameter.shape)) * scale))
    optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=1e-3)
    if compiled and kind == "torch":
        loss = torch.compile(loss)

    def step() -> Any:
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        return value

    return torch.compile(step) if compiled and kind != "torch" else step


_step: list[Callable[[], Any]] = []
"""The step that this process measures."""


def begin(library: str, name: str) -> dict[str, Any]:
    """Make a model's step in this process: its first losses, and the seconds until they are there; empty if there is no such model."""
    if hasattr(os, "sched_setaffinity"):  # JAX has as many threads as there are processors
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(os.environ["THREADS"])])
    if library == "jax" and name not in of_jax().MODELS:
        return {}
    began = time.perf_counter()
    _step[:] = [step_of(library, name)]
    losses = [float(_step[0]()) for _ in range(CHECKED)]
    start = time.perf_counter() - began
    until = time.perf_counter() + WARM
    while time.perf_counter() < until:  # until code that many calls ask for is compiled
        _step[0]()
    return {"losses": losses, "start": start}


def measure() -> tuple[float, float]:
    """The seconds of a step, and the peak of this process's memory in megabytes."""
    (step,), count = _step, 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            step()
        spent = time.perf_counter() - start
        if spent > SECONDS / 2:
            return spent / count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        count *= 2


def answer(process: Process, function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns in a process, or the error."""
    try:
        return process.call(function, *arguments)
    except Exception as error:  # noqa: BLE001  # the libraries', whichever they raise, and that of a process that has ended
        return {"error": f"{type(error).__name__}: {error}"}


def compared(name: str, libraries: list[str], threads: int, count: int = TURNS) -> dict[str, Any]:
    """The medians of each library for one model, measured in turns; a library that fails, or has other losses, is left out."""
    limits = dict.fromkeys(("THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PULLBACK_NUM_THREADS"), str(threads))
    processes = {library: Process(library, limits) for library in libraries}
    found = {library: answer(process, begin, library, name) for library, process in processes.items()}
    right = found["torch"].get("losses")
    for library, told in found.items():
        if right and "losses" in told and not np.allclose(told["losses"], right, rtol=2e-3):
            found[library] = {"error": f"its losses are {told['losses']}, not {right}"}
    alive = [library for library, told in found.items() if "losses" in told]
    turns = [[answer(processes[library], measure) for library in alive] for _ in range(count)]
    for library, measured in zip(alive, zip(*turns, strict=True), strict=True):
        failed = [each for each in measured if isinstance(each, dict)]
        if failed:
            found[library] = failed[0]
        else:
            seconds, megabytes = zip(*measured, strict=True)
            found[library] |= {"seconds": median(seconds), "megabytes": max(megabytes)}
    for process in processes.values():
        process.end()
    return found


def row(name: str, found: dict[str, Any]) -> str:
    """A line of the table."""
    peers = [found[each]["seconds"] for each in TORCH if "seconds" in found.get(each, {})]
    texts = [f"{found['torch']['seconds'] * 1e6:10.0f}" if peers else "         -"]
    other = [found[each]["seconds"] for each in ("jax",) if "seconds" in found.get(each, {})]
    for library, peer in (("pullback", peers[:1]), ("pullback compiled", peers), ("pullback compiled", other)):
        told = found.get(library, {})
        texts.append(f"{told['seconds'] / min(peer):8.2f}" if "seconds" in told and peer else f"{'-':>8}")
    sizes = [found.get(each, {}).get("megabytes") for each in ("pullback", "torch")]
    texts.append(f"{sizes[0] / sizes[1]:8.2f}" if all(sizes) else f"{'-':>8}")
    errors = [f"{library}: {told['error']}" for library, told in found.items() if "error" in told]
    return f"{name:30} {' '.join(texts)}  {'; '.join(errors)[:150]}"


PAGE = """# Training steps of models

`scripts/bench models --page FILE` wrote this page on {day}: {processor}, torch {torch}, JAX {jax}, NumPy {numpy},
Python {python}, {turns} turns. Each model is written once, in torch's names ([benchmarks/models.py](../../benchmarks/models.py)). Each
library trains it in a process of its own; the processes measure in turns, and one waits asleep while another computes. A step is
zero_grad, loss, backward and Adam; the losses of the first steps are equal. Below 1, pullback is quicker, or takes less memory.

- eager: pullback's time over torch's;
- torch.compile: its time over torch's;
- compiled: that of `pullback.compile` over the quicker of torch and torch.compile;
- of jax.jit: that of `pullback.compile` over jax.jit's, for the models of [benchmarks/jax_models.py](../../benchmarks/jax_models.py);
- memory: the peak of pullback's process over that of torch's, eager.
"""
SECTION = """
## {threads}

{summary}

| model | torch, us | eager | torch.compile | compiled | of jax.jit | memory |
|---|---|---|---|---|---|---|
{rows}
"""


def rated(results: dict[str, Any]) -> list[tuple[str, float, float, str, float, str, float]]:
    """A row for each model: its name, torch's microseconds, and the ratios of the table."""
    table = []
    for name, found in results.items():
        if not all("seconds" in found[library] for library in ("torch", "pullback", "pullback compiled")):
            continue
        base, peer, other = (found.get(each, {}).get("seconds") for each in (*TORCH, "jax"))
        eager, ours = found["pullback"]["seconds"] / base, found["pullback compiled"]["seconds"]
        compiled = ours / min(base, peer or base)
        memory = found["pullback"]["megabytes"] / found["torch"]["megabytes"]
        told, of_jax = f"{peer / base:.2f}" if peer else "", f"{ours / other:.2f}" if other else ""
        table.append((name.replace("_", " "), base * 1e6, eager, told, compiled, of_jax, memory))
    return table


def summary(results: dict[str, Any]) -> str:
    """How many models are as quick as asked, in a sentence."""
    _, _, eagers, _, compileds, jaxes, memories = zip(*rated(results), strict=True)
    quick, compact = sum(ratio <= 1 for ratio in eagers), sum(ratio <= 0.8 for ratio in compileds)
    return (
        f"Of {len(eagers)} models, {quick} are at most 1.0 eager, median {median(eagers):.2f}; {compact} at most 0.8 compiled, "
        f"median {median(compileds):.2f},\nand {sum(float(each) <= 1 for each in jaxes if each)} of {sum(map(bool, jaxes))} at most 1.0 of jax.jit; the greatest memory is {max(memories):.2f}."
    )


def processor() -> tuple[int, str]:
    """How many processors there are, and what they are called."""
    lines = Path("/proc/cpuinfo")
    found = lines.read_text("utf-8").splitlines() if lines.exists() else []
    names = [line.partition(":")[2].strip() for line in found if line.startswith("model name")]
    return len(names), names[0] if names else "an unknown processor"


def page(results: dict[int, dict[str, Any]], turns: int) -> str:
    """The results for each number of threads as a page of the site."""
    cores, named = processor()
    head = PAGE.format(
        day=time.strftime("%Y-%m-%d"), processor=f"{cores} cores of {named}", turns=turns, numpy=np.__version__,
        torch=importlib.import_module("torch").__version__, jax=importlib.import_module("jax").__version__,
        python=sys.version.split()[0],
    )  # fmt: skip
    sections = [
        SECTION.format(
            threads="One thread" if threads == 1 else f"{threads} threads", summary=summary(found),
            rows="\n".join(f"| {n} | {us:.0f} | {e:.2f} | {t} | {c:.2f} | {j} | {m:.2f} |" for n, us, e, t, c, j, m in rated(found)),
        )
        for threads, found in results.items()
    ]  # fmt: skip
    return head + "".join(sections)


def main() -> int:
    """Print the table; 1 if pullback fails or has other losses somewhere."""
    parser = argparse.ArgumentParser(description="Training steps of models, pullback beside torch.")
    parser.add_argument("--only")
    parser.add_argument("--threads", type=int, nargs="+", default=[2], help="a table for each number of threads")
    parser.add_argument("--quick", action="store_true", help="two turns of each: to see that it works, not to quote")
    parser.add_argument(
        "--without-compile", action="store_true", help="without torch.compile, which takes most of the time"
    )
    parser.add_argument("--json")
    parser.add_argument("--page", help="write the table as a page of the site")
    options = parser.parse_args()
    libraries = [
        "torch",
        "pullback",
        "pullback compiled",
        *([] if options.without_compile else ["torch compiled"]),
        "jax",
    ]
    names, turns = [options.only] if options.only else list(MODELS), 2 if options.quick else TURNS
    results: dict[int, dict[str, Any]] = {}
    for threads in options.threads:
        print(
            f"{'model':30} {'torch, us':>10} {'eager':>8} {'compiled':>8} {'of jax':>8} {'memory':>8}   {threads} threads"
        )
        for name in names:
            results.setdefault(threads, {})[name] = compared(name, libraries, threads, turns)
            print(row(name, results[threads][name]), flush=True)
            if options.json:
                Path(options.json).write_text(json.dumps(results, indent=1), encoding="utf-8")
        print(f"\n{summary(results[threads])}\n", flush=True)
    if options.page:
        Path(options.page).write_text(page(results, turns), encoding="utf-8")
    return int(
        any(
            "error" in each[library]
            for table in results.values()
            for each in table.values()
            for library in libraries[1:3]
        )
    )


if __name__ == "__main__":
    sys.exit(main())
