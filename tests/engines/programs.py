"""Whole programs for engines: a function that makes a step, and the batches that it is called with.

Each step is a training step with its backward pass and optimizer, or a function of its arguments alone; results are
compared with the same step on the host, in double precision.
"""

import math

import numpy as np

import pullback
from pullback import cond, func, nn, optim, scan, while_loop

PROGRAMS = {}
RNG = np.random.default_rng


def program(make):
    PROGRAMS[make.__name__] = make
    return make


def trained(module, optimizer, loss):
    """The training step of a module, and its parameters."""

    def step(*batch):
        optimizer.zero_grad()
        value = loss(module, *batch)
        value.backward()
        optimizer.step()
        return value

    return step


def batches(make, count=3):
    rng = RNG(7)
    return [make(rng) for _ in range(count)]


def classified(width, classes, rows=6):
    return batches(lambda rng: (rng.standard_normal((rows, width)), rng.integers(0, classes, rows)))


@program
def mlp():
    module = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3))
    how = optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    return trained(module, how, lambda m, x, y: nn.functional.cross_entropy(m(x), y)), classified(5, 3)


@program
def activations():
    module = nn.Sequential(nn.Linear(5, 8), nn.GELU(approximate="tanh"), nn.Linear(8, 8), nn.SiLU(), nn.Linear(8, 8), nn.ELU(),
                           nn.Linear(8, 8), nn.Softplus(), nn.Linear(8, 3), nn.LogSoftmax(dim=1))  # fmt: skip
    how = optim.AdamW(module.parameters(), lr=0.01)
    return trained(module, how, lambda m, x, y: nn.functional.nll_loss(m(x), y)), classified(5, 3)


@program
def convnet():
    module = nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 4, 3, stride=2, groups=2),
                           nn.BatchNorm2d(4), nn.Tanh(), nn.Flatten(), nn.Linear(4, 3))  # fmt: skip
    how = optim.Adam(module.parameters(), lr=0.01)
    data = batches(lambda rng: (rng.standard_normal((4, 2, 8, 8)), rng.integers(0, 3, 4)))
    return trained(module, how, lambda m, x, y: nn.functional.cross_entropy(m(x), y)), data


@program
def autoencoder():
    module = nn.Sequential(nn.Conv1d(1, 3, 3, stride=2, padding=1), nn.LeakyReLU(), nn.AvgPool1d(2),
                           nn.ConvTranspose1d(3, 2, 4, stride=2, padding=1), nn.Sigmoid(), nn.Upsample(scale_factor=2),
                           nn.Conv1d(2, 1, 1))  # fmt: skip
    how = optim.RMSprop(module.parameters(), lr=0.01)
    return trained(module, how, lambda m, x: nn.functional.mse_loss(m(x), x)), batches(
        lambda rng: (rng.standard_normal((3, 1, 8)),)
    )


@program
def lstm():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.head = nn.LSTM(3, 5, batch_first=True), nn.Linear(5, 1)

        def forward(self, x):
            return self.head(self.layer(x)[0][:, -1])

    module = Model()
    how = optim.Adam(module.parameters(), lr=0.01)
    data = batches(lambda rng: (rng.standard_normal((4, 6, 3)), rng.standard_normal((4, 1))))
    return trained(module, how, lambda m, x, y: nn.functional.mse_loss(m(x), y)), data


@program
def gru():
    module = nn.GRU(3, 4, bidirectional=True)
    how = optim.SGD(module.parameters(), lr=0.05)
    data = batches(lambda rng: (rng.standard_normal((5, 2, 3)),))
    return trained(module, how, lambda m, x: (m(x)[0] ** 2).mean()), data


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.into, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.more = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(approximate="tanh"), nn.Linear(2 * width, width))

    def forward(self, x):
        rows, length, width = x.shape
        parts = self.into(self.first(x)).chunk(3, dim=-1)
        q, k, v = (part.view(rows, length, self.heads, -1).transpose(1, 2) for part in parts)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(rows, length, width))
        return x + self.more(self.second(x))


@program
def gpt():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.places = nn.Embedding(11, 8), nn.Embedding(6, 8)
            self.blocks, self.norm = nn.Sequential(Block(8, 2), Block(8, 2)), nn.LayerNorm(8)

        def forward(self, tokens):
            x = self.tokens(tokens) + self.places(pullback.arange(tokens.shape[1]))
            return self.norm(self.blocks(x)) @ self.tokens.weight.T

    module = Model()
    how = optim.AdamW(module.parameters(), lr=0.01)
    data = batches(lambda rng: (rng.integers(0, 11, (2, 6)), rng.integers(0, 11, (2, 6))))
    return trained(module, how, lambda m, x, y: nn.functional.cross_entropy(m(x).reshape(-1, 11), y.reshape(-1))), data


@program
def pinn():
    module = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))
    how = optim.Adam(module.parameters(), lr=0.01)

    def loss(m, x):
        x = x.clone().requires_grad_()
        u = m(x)
        (slope,) = pullback.autograd.grad(u.sum(), x, create_graph=True)
        (bend,) = pullback.autograd.grad(slope.sum(), x, create_graph=True)
        return ((bend + math.pi**2 * pullback.sin(math.pi * x)) ** 2).mean() + (m(x * 0) ** 2).mean()

    return trained(module, how, loss), batches(lambda rng: (rng.uniform(0, 1, (7, 1)),))


@program
def gaussian_process():
    logs = pullback.zeros(3, dtype=pullback.float64, requires_grad=True)
    how = optim.Adam([logs], lr=0.05)

    def step(x, y):
        how.zero_grad()
        scale, length, noise = logs.exp()
        distance = (x[:, None] - x) ** 2
        covariance = scale * pullback.exp(-distance / (2 * length**2)) + noise * pullback.eye(len(x), dtype=x.dtype)
        factor = pullback.linalg.cholesky(covariance)
        white = pullback.linalg.solve_triangular(factor, y[:, None], upper=False)
        loss = (white**2).sum() / 2 + factor.diagonal().log().sum()
        loss.backward()
        how.step()
        return loss

    return step, batches(lambda rng: (np.linspace(0, 2, 7), rng.standard_normal(7)))


@program
def mixture():
    rng = RNG(1)
    means = pullback.tensor(rng.standard_normal((3, 2)), requires_grad=True)
    scales = pullback.zeros(3, 2, dtype=pullback.float64, requires_grad=True)
    weights = pullback.zeros(3, dtype=pullback.float64, requires_grad=True)
    how = optim.SGD([means, scales, weights], lr=0.01)

    def step(x):
        how.zero_grad()
        z = (x[:, None] - means) * pullback.exp(-scales)
        logs = -(z**2).sum(-1) / 2 - scales.sum(-1) + pullback.log_softmax(weights, 0)
        loss = -pullback.logsumexp(logs, 1).mean()
        loss.backward()
        how.step()
        return loss

    return step, batches(lambda rng: (rng.standard_normal((9, 2)),))


@program
def neural_ode():
    module = nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 2))
    how = optim.Adam(module.parameters(), lr=0.01)

    def loss(m, x, target):
        def step(y, _):
            first = m(y)
            second = m(y + 0.05 * first)
            return y + 0.1 * second, y

        last, path = scan(step, x, pullback.arange(5.0))
        return ((last - target) ** 2).mean() + path.sum() / 100

    return trained(module, how, loss), batches(lambda rng: (rng.standard_normal((3, 2)), rng.standard_normal((3, 2))))


@program
def reversed_scan():
    def step(x, decay):
        return func.grad(lambda d: scan(lambda c, row: (c * d + row, c.sin()), x[0] * 0, x, reverse=True)[1].sum())(
            decay
        )

    return step, batches(lambda rng: (rng.standard_normal((6, 3)), rng.uniform(0.1, 0.9, 3)))


@program
def branch():
    def step(x):
        def loss(x):
            return cond(x.sum() > 0, lambda v: (v**2).sum(), lambda v: v.exp().sum(), (x,))

        return loss(x), func.grad(loss)(x)

    return step, [(np.array([1.0, 2.0]),), (np.array([-1.0, -2.0]),), (np.array([0.5, 1.0]),)]


@program
def newton_by_while():
    def step(x):
        def better(y):
            return y - (y * y - x) / (2 * y)

        return while_loop(lambda y: ((y * y - x).abs() > 1e-12).any(), better, x + 1.0)

    return step, batches(lambda rng: (rng.uniform(1, 9, 4),))


@program
def ctc():
    module = nn.Linear(4, 5)
    how = optim.SGD(module.parameters(), lr=0.05)

    def loss(m, x, targets):
        logs = nn.functional.log_softmax(m(x), -1)
        return nn.functional.ctc_loss(logs, targets, (7, 7), (3, 3))

    data = batches(lambda rng: (rng.standard_normal((7, 2, 4)), rng.integers(1, 5, (2, 3))))
    return trained(module, how, loss), data


@program
def in_place():
    def step(x, y):
        x[1:] += y
        x[0] = 3.0
        z = x.clone()
        z[:, ::2] *= 2
        return (z * y.sum()).sin().sum()

    return step, batches(lambda rng: (rng.standard_normal((3, 4)), rng.standard_normal((2, 4))))


def complexes(rng, *shape):
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


@program
def parts_of_complex_numbers():
    def changed(z):
        z = z * 1
        z.real.mul_(2)
        z.imag[0] = 7
        pullback.view_as_real(z)[..., 1].mul_(3)
        z.imag.diagonal().fill_(5)
        z.unsqueeze(0).imag[0, 0, 1] = 4
        z.real += z.imag
        z.t().imag[1:].mul_(z.real.t()[1:])
        z.conj().mul_(2 - 1j)
        z.conj().imag[1, 2] = -3
        pullback.view_as_real(z).flip(-1)[1, :, 0] += 1
        z.real[z.imag > 2] = 0.5
        return z

    def step(z, pairs, x):
        made = pullback.complex(x, 2 * x)
        made.imag[0, 1] = 7
        pullback.view_as_complex(pairs).mul_(2j)
        pullback.view_as_complex(pairs)[0] = 2 + 3j
        z.imag.add_(1)
        slopes = func.grad(lambda z: (changed(z).abs() ** 2).sum())(z)
        return changed(z), slopes, made.real + 10 * made.imag

    return step, batches(lambda rng: (complexes(rng, 2, 3), rng.standard_normal((4, 2)), rng.standard_normal((2, 2))))


@program
def parts_of_few_complex_numbers():
    def step(z, none, one):
        for each in (z, none, one):
            each.imag.mul_(2)
            pullback.view_as_real(each)[..., 0] = 3
        z.real[0] = math.inf
        z.imag[0] = -math.inf
        return z.conj(), none.real, one.imag

    return step, batches(lambda rng: (complexes(rng, 2), complexes(rng, 0, 3), complexes(rng)))


@program
def writes_of_single_elements():
    def step(x, one):
        v, n = x * 1, one * 1
        v.view(-1)[0] = 5
        v.flatten()[1] = 2
        v[0, 1:].view(-1)[0] = 3
        v.view(-1)[2].mul_(v.view(-1)[-1])
        n.view(1)[0] = 3
        total = x.sum()
        total.view(-1)[0] += 1
        v[0].sum().fill_(2)
        return v, n, total

    return step, batches(lambda rng: (rng.standard_normal((2, 3)), rng.standard_normal(())))


@program
def indexing():
    def step(table, places, mask):
        def loss(t):
            picked = t[places]
            added = pullback.zeros(5, 3, dtype=t.dtype).index_add(0, places, picked.sin())
            return (pullback.where(mask, added, added**2)).sum() + t.sort(dim=0).values.cumsum(0)[-2].sum()

        return func.grad(loss)(table)

    return step, batches(
        lambda rng: (rng.standard_normal((5, 3)), rng.integers(0, 5, 6), rng.standard_normal((5, 3)) > 0)
    )


@program
def spectrum():
    def step(x):
        return func.grad(
            lambda x: (pullback.fft.rfft(x).abs() ** 2)[..., :3].sum() + pullback.fft.fft(x).real.sin().sum()
        )(x)

    return step, batches(lambda rng: (rng.standard_normal((2, 8)),))


@program
def linear_algebra():
    def step(a, b):
        def loss(a):
            square = a @ a.T + 3 * pullback.eye(3, dtype=a.dtype)
            values = pullback.linalg.eigvalsh(square)
            return pullback.linalg.solve(square, b).sum() + pullback.linalg.slogdet(square)[1] + values.log().sum()

        return loss(a), func.grad(loss)(a)

    return step, batches(lambda rng: (rng.standard_normal((3, 4)), rng.standard_normal((3, 2))))


@program
def dropout():
    module = nn.Sequential(nn.Linear(5, 16), nn.Dropout(0.5), nn.Linear(16, 3))
    how = optim.SGD(module.parameters(), lr=0.1)
    return trained(module, how, lambda m, x, y: nn.functional.cross_entropy(m(x), y)), classified(5, 3)


@program
def reparametrised():
    module = nn.Linear(4, 4)
    how = optim.Adam(module.parameters(), lr=0.01)

    def loss(m, x):
        mean, spread = m(x).chunk(2, dim=1)
        z = mean + spread.exp() * pullback.randn(mean.shape, dtype=mean.dtype)
        return ((z - x[:, :2]) ** 2).sum() + pullback.distributions.kl_divergence(
            pullback.distributions.Normal(mean, spread.exp()),
            pullback.distributions.Normal(pullback.zeros_like(mean), pullback.ones_like(mean)),
        ).sum()

    return trained(module, how, loss), batches(lambda rng: (rng.standard_normal((3, 4)),))


@program
def hessians():
    def step(x):
        def rosenbrock(x):
            return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

        return func.hessian(rosenbrock)(x), func.vmap(func.grad(rosenbrock))(x[None] + pullback.arange(3.0)[:, None])

    return step, batches(lambda rng: (rng.standard_normal(5),))
