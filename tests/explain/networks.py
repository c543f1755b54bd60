"""Small networks for `pullback explain`: ten that are right, and ten with one planted mistake each.

`python networks.py NAME` runs one: a few steps of training.
"""

import sys

import pullback as pb
from pullback import nn
from pullback.nn import functional as fn


def train(model, loss, *, lr=1e-2, steps=3, optimizer=None):
    """Some steps of training: `loss` is called for each."""
    optimizer = optimizer or pb.optim.SGD(model.parameters(), lr=lr)
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()


class Attention(nn.Module):
    def __init__(self, width=16, heads=2, *, causal=True):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.heads, self.causal = heads, causal

    def mask(self, length):
        return pb.tril(pb.ones(length, length)) == 0

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            for part in self.c_attn(x).split(width, dim=2)
        )
        att = q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5
        if self.causal:
            att = att.masked_fill(self.mask(length), float("-inf"))
        y = att.softmax(-1) @ v
        return self.c_proj(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width=16, attention=Attention):
        super().__init__()
        self.ln_1, self.attn, self.ln_2 = nn.LayerNorm(width), attention(width), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, tokens=20, width=16, layers=2, length=8, attention=Attention):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(tokens, width), nn.Embedding(length, width)
        self.h = nn.ModuleList([Block(width, attention) for _ in range(layers)])
        self.ln_f, self.lm_head = nn.LayerNorm(width), nn.Linear(width, tokens, bias=False)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(pb.arange(tokens.shape[1]))
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))


def gpt(attention=Attention, layers=2, steps=3):
    model = GPT(attention=attention, layers=layers)
    tokens = pb.randint(0, 20, (4, 9))
    train(
        model, lambda: fn.cross_entropy(model(tokens[:, :-1]).reshape(-1, 20), tokens[:, 1:].reshape(-1)), steps=steps
    )


def bert():
    """Masked tokens only count, and padding is masked with -inf."""
    embed, layer = nn.Embedding(20, 16), nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.0)
    model = nn.ModuleDict({"embed": embed, "layer": layer, "head": nn.Linear(16, 20)})
    tokens = pb.randint(0, 20, (4, 8))
    padding = pb.arange(8).expand(4, 8) >= pb.tensor([[8], [6], [5], [7]])
    targets = tokens.masked_fill(pb.arange(8) % 3 != 0, -100)

    def loss():
        hidden = model["layer"](model["embed"](tokens), src_key_padding_mask=padding)
        return fn.cross_entropy(model["head"](hidden).reshape(-1, 20), targets.reshape(-1), ignore_index=-100)

    train(model, loss)


def lstm():
    model = nn.LSTM(4, 8, batch_first=True)
    head = nn.Linear(8, 2)
    x, y = pb.randn(5, 12, 4), pb.randint(0, 2, (5,))
    parameters = [*model.parameters(), *head.parameters()]
    train(None, lambda: fn.cross_entropy(head(model(x)[0][:, -1]), y), optimizer=pb.optim.Adam(parameters))


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels)
        self.conv2, self.bn2 = nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels)

    def forward(self, x):
        return fn.relu(x + self.bn2(self.conv2(fn.relu(self.bn1(self.conv1(x))))))


def resnet():
    """The biases before BatchNorm have a gradient of zero but for rounding, which is right."""
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), Residual(8), Residual(8),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5),
    )  # fmt: skip
    x, y = pb.randn(4, 3, 8, 8), pb.randint(0, 5, (4,))
    train(model, lambda: fn.cross_entropy(model(x), y))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.middle = nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
        self.up, self.out = nn.ConvTranspose2d(8, 8, 2, stride=2), nn.Conv2d(16, 1, 1)

    def forward(self, x):
        a = fn.relu(self.down(x))
        b = fn.relu(self.middle(fn.max_pool2d(a, 2)))
        return self.out(pb.cat([a, self.up(b)], 1))


def unet():
    """A masked loss: most pixels are not labelled."""
    model = UNet()
    x, y, known = pb.randn(2, 1, 8, 8), (pb.rand(2, 1, 8, 8) > 0.5).float(), (pb.rand(2, 1, 8, 8) > 0.9).float()

    def loss():
        each = fn.binary_cross_entropy_with_logits(model(x), y, reduction="none")
        return (each * known).sum() / known.sum()

    train(model, loss)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.mu, self.logvar = nn.Linear(12, 16), nn.Linear(16, 3), nn.Linear(16, 3)
        self.dec = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 12), nn.Sigmoid())

    def forward(self, x):
        h = fn.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + (0.5 * logvar).exp() * pb.randn_like(mu)
        return self.dec(z), mu, logvar


def vae():
    model = VAE()
    x = pb.rand(16, 12)

    def loss():
        y, mu, logvar = model(x)
        return fn.binary_cross_entropy(y, x, reduction="sum") - 0.5 * (1 + logvar - mu**2 - logvar.exp()).sum()

    train(model, loss, lr=1e-3)


def gan():
    """Each network is trained while the other one gets no gradient."""
    generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
    critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
    by_generator, by_critic = (pb.optim.Adam(net.parameters()) for net in (generator, critic))
    real = pb.randn(8, 2)
    for _ in range(2):
        fake = generator(pb.randn(8, 4))
        by_critic.zero_grad()
        said, seen = critic(real), critic(fake.detach())
        (fn.softplus(-said) + fn.softplus(seen)).mean().backward()
        by_critic.step()
        critic.requires_grad_(False)
        by_generator.zero_grad()
        fn.softplus(-critic(fake)).mean().backward()
        by_generator.step()
        critic.requires_grad_(True)


def pinn():
    """u'' = -u by second derivatives, with u(0) = 0 and u'(0) = 1."""
    model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
    x = pb.linspace(0, 3, 20).reshape(-1, 1).requires_grad_()

    def loss():
        u = model(x)
        (slope,) = pb.autograd.grad(u.sum(), x, create_graph=True)
        (bend,) = pb.autograd.grad(slope.sum(), x, create_graph=True)
        return ((bend + u) ** 2).mean() + u[0, 0] ** 2 + (slope[0, 0] - 1) ** 2

    train(model, loss)


def reinforce():
    """Forbidden actions have the logit -inf, and the baseline is detached."""
    policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
    value = nn.Linear(4, 1)
    both = nn.ModuleDict({"policy": policy, "value": value})
    state, reward = pb.randn(10, 4), pb.randn(10)
    allowed = pb.ones(10, 3, dtype=pb.bool)
    allowed[::2, 2] = False

    def loss():
        logits = policy(state).masked_fill(~allowed, float("-inf"))
        action = logits.softmax(-1).detach().argmax(-1)
        chosen = logits.log_softmax(-1).gather(1, action[:, None])[:, 0]
        baseline = value(state)[:, 0]
        return -(chosen * (reward - baseline.detach())).mean() + fn.mse_loss(baseline, reward)

    train(both, loss)


class GNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 16), nn.Linear(16, 2)

    def forward(self, x, adjacency):
        return self.second(adjacency @ fn.relu(self.first(adjacency @ x)))


def gnn():
    """Graph convolution; only some nodes have a label."""
    model = GNN()
    links = (pb.rand(10, 10) > 0.6).float() + pb.eye(10)
    adjacency = links / links.sum(1, keepdim=True)
    x, labels = pb.randn(10, 6), pb.tensor([0, 1, 0, -100, -100, 1, -100, -100, -100, 0])
    train(model, lambda: fn.cross_entropy(model(x, adjacency), labels, ignore_index=-100))


RIGHT = [gpt, bert, lstm, resnet, unet, vae, gan, pinn, reinforce, gnn]


# Ten planted mistakes


def perceptron(activation=nn.ReLU, layers=3, width=16):
    inner = [part for _ in range(layers) for part in (nn.Linear(width, width), activation())]
    return nn.Sequential(*inner, nn.Linear(width, 4))


def examples(count=32, width=16, classes=4):
    return pb.randn(count, width), pb.randint(0, classes, (count,))


def learning_rate():
    model = perceptron()
    x, y = examples()
    train(model, lambda: fn.cross_entropy(model(x), y), lr=100.0, steps=6)


def dead_units():
    model = perceptron()
    x, y = examples()
    with pb.no_grad():
        model[2].bias -= 10
    train(model, lambda: fn.cross_entropy(model(x), y))


def saturation():
    model = perceptron(nn.Sigmoid)
    x, y = examples()
    with pb.no_grad():
        model[2].weight *= 500
    train(model, lambda: fn.cross_entropy(model(x), y))


class Detached(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.head = nn.Linear(16, 16), nn.Linear(16, 4)

    def forward(self, x):
        hidden = fn.relu(self.encoder(x)).detach()
        return self.head(hidden)


def detached():
    model = Detached()
    x, y = examples()
    train(model, lambda: fn.cross_entropy(model(x), y))


class WrongMask(Attention):
    def mask(self, length):
        return pb.tril(pb.ones(length, length)) == 1


def wrong_mask():
    """The mask is the wrong way round: the last position may look at nothing."""
    gpt(attention=WrongMask)


def exploding():
    step = nn.Linear(16, 16, bias=False)
    x, y = examples()
    with pb.no_grad():
        step.weight *= 4

    def loss():
        h = x
        for _ in range(40):
            h = step(h)
        return fn.cross_entropy(h[:, :4], y)

    train(step, loss, steps=1)


def log_of_zero():
    model = perceptron()
    x, y = examples()

    def loss():
        p = model(50 * x).softmax(-1) * (pb.arange(4) != 3)
        return -p[pb.arange(32), y].log().mean()

    train(model, loss)


class Unused(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.head = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 4)

    def forward(self, x):
        h = fn.relu(self.first(x))
        fn.relu(self.second(h))
        return self.head(h)


def unused():
    model = Unused()
    x, y = examples()
    train(model, lambda: fn.cross_entropy(model(x), y))


def frozen():
    model = perceptron()
    x, y = examples()
    optimizer = pb.optim.SGD(model.parameters(), lr=1e-2)
    model[2].weight.requires_grad_(False)
    train(model, lambda: fn.cross_entropy(model(x), y), optimizer=optimizer)


def double_softmax():
    model = nn.Sequential(perceptron(), nn.Softmax(-1))
    x, y = examples()
    train(model, lambda: fn.cross_entropy(model(x), y))


WRONG = {
    learning_rate: "diverged", dead_units: "dead", saturation: "saturated", detached: "missing", wrong_mask: "nan",
    exploding: "huge", log_of_zero: "nan", unused: "missing", frozen: "missing", double_softmax: "double",
}  # fmt: skip

if __name__ == "__main__":
    pb.manual_seed(0)
    {function.__name__: function for function in (*RIGHT, *WRONG)}[sys.argv[1]]()
