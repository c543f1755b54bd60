"""Small networks that are right, and in which some gradients are zero or missing on purpose."""

import copy

import pullback as pb
from pullback import nn
from pullback.nn import functional as fn

from .networks import GPT, examples, perceptron, train


class LoRA(nn.Module):
    """A frozen layer and a product of two thin factors, of which the second begins as zero."""

    def __init__(self, layer, rank=2):
        super().__init__()
        self.layer = layer.requires_grad_(False)
        self.A = nn.Parameter(pb.randn(rank, layer.in_features) * 0.1)
        self.B = nn.Parameter(pb.zeros(layer.out_features, rank))

    def forward(self, x):
        return self.layer(x) + x @ self.A.T @ self.B.T


def lora():
    model = nn.Sequential(LoRA(nn.Linear(16, 16)), nn.ReLU(), LoRA(nn.Linear(16, 4)))
    x, y = examples()
    train(model, lambda: fn.cross_entropy(model(x), y))


class Gated(nn.Module):
    """adaLN-zero: shift, scale and gate of each block come from a layer that begins as zero."""

    def __init__(self, width=16):
        super().__init__()
        self.norm, self.mlp = nn.LayerNorm(width, elementwise_affine=False), perceptron(layers=1, width=width)
        self.out, self.modulation = nn.Linear(4, width), nn.Sequential(nn.SiLU(), nn.Linear(width, 3 * width))
        for parameter in self.modulation[1].parameters():
            nn.init.zeros_(parameter)

    def forward(self, x, condition):
        shift, scale, gate = self.modulation(condition).chunk(3, dim=-1)
        return x + gate * self.out(self.mlp(self.norm(x) * (1 + scale) + shift))


def gates_of_zero():
    model = nn.ModuleDict({"time": nn.Linear(1, 16), "one": Gated(), "two": Gated(), "head": nn.Linear(16, 4)})
    x, y = examples()
    time = pb.rand(32, 1)

    def loss():
        condition = model["time"](time)
        return fn.cross_entropy(model["head"](model["two"](model["one"](x, condition), condition)), y)

    train(model, loss)


def layers_of_zero():
    """ControlNet and fixup: a convolution, and the last layer of a branch, that begin as zero."""
    branch = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 3, 1))
    nn.init.zeros_(branch[2].weight)
    nn.init.zeros_(branch[2].bias)
    scale, head = nn.Parameter(pb.zeros(1)), nn.Linear(3, 4)
    model = nn.ModuleDict({"branch": branch, "second": nn.Conv2d(3, 3, 3, padding=1), "head": head})
    x, y = pb.randn(8, 3, 6, 6), pb.randint(0, 4, (8,))

    def loss():
        h = x + branch(x)
        h = h + scale * fn.relu(model["second"](h))
        return fn.cross_entropy(head(h.mean((2, 3))), y)

    train(None, loss, optimizer=pb.optim.SGD([*model.parameters(), scale], lr=0.01))


class Experts(nn.Module):
    """Each token goes to one expert; some experts get none."""

    def __init__(self, skip, width=16, experts=4):
        super().__init__()
        self.router, self.skip = nn.Linear(width, experts), skip
        self.experts = nn.ModuleList([perceptron(layers=1, width=width) for _ in range(experts)])

    def forward(self, x):
        scores = self.router(x).softmax(-1)
        best, choice = scores[:, :3].max(-1)
        out = pb.zeros(len(x), 4)
        for number, expert in enumerate(self.experts):
            chosen = (choice == number).nonzero()[:, 0]
            if len(chosen) or not self.skip:
                out = out.index_add(0, chosen, expert(x[chosen]) * best[chosen, None])
        return out


def experts(skip=True):
    model = Experts(skip)
    x, y = examples()
    train(model, lambda: fn.cross_entropy(model(x), y))


def experts_of_empty_batches():
    experts(skip=False)


def experts_by_gate():
    """All experts compute, and the gates of those that were not chosen are zero."""
    router, parts = nn.Linear(16, 4), nn.ModuleList([perceptron(layers=1) for _ in range(4)])
    x, y = examples()
    with pb.no_grad():
        router.bias[3] = -50.0

    def loss():
        scores, choice = router(x).topk(2, -1)
        gates = pb.zeros(32, 4).scatter(-1, choice, scores.softmax(-1))
        return fn.cross_entropy(sum(part(x) * gates[:, i, None] for i, part in enumerate(parts)), y)

    train(nn.ModuleList([router, *parts]), loss)


def tied():
    model = GPT()
    model.lm_head.weight = model.wte.weight
    tokens = pb.randint(0, 20, (4, 9))
    train(model, lambda: fn.cross_entropy(model(tokens[:, :-1]).reshape(-1, 20), tokens[:, 1:].reshape(-1)))


def frozen_backbone():
    """The optimizer holds the frozen layers too, as it often does."""
    model = nn.ModuleDict({"backbone": perceptron(), "head": nn.Linear(4, 4)})
    model["backbone"].requires_grad_(False)
    x, y = examples()
    train(model, lambda: fn.cross_entropy(model["head"](model["backbone"](x)), y))


def frozen_without_gradient():
    model = nn.ModuleDict({"backbone": perceptron(), "head": nn.Linear(4, 4)})
    x, y = examples()

    def loss():
        with pb.no_grad():
            h = model["backbone"](x)
        return fn.cross_entropy(model["head"](h), y)

    train(model, loss, optimizer=pb.optim.SGD(model["head"].parameters(), lr=0.01))


def biases_only():
    model = perceptron()
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name.endswith("bias"))
    x, y = examples()
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    train(None, lambda: fn.cross_entropy(model(x), y), optimizer=pb.optim.SGD(trained, lr=0.01))


def dropout():
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 4), nn.Dropout(0.1))
    x, y = examples()
    train(model, lambda: fn.cross_entropy(model(x), y))


def smoothed():
    """Label smoothing, ignored labels, and a gradient that is clipped."""
    model = perceptron()
    x, y = examples()
    y[::3] = -100
    optimizer = pb.optim.AdamW(model.parameters())
    for _ in range(3):
        optimizer.zero_grad()
        fn.cross_entropy(model(x), y, label_smoothing=0.1, ignore_index=-100).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
        optimizer.step()


class Agent(nn.Module):
    """A network and a moving average of it, which no optimizer holds."""

    def __init__(self):
        super().__init__()
        self.online = perceptron()
        self.target = copy.deepcopy(self.online)

    def follow(self, share=0.01):
        with pb.no_grad():
            for old, new in zip(self.target.parameters(), self.online.parameters(), strict=True):
                old.lerp_(new, share)


def target_network():
    agent = Agent()
    state, after, reward, action = pb.randn(32, 16), pb.randn(32, 16), pb.randn(32), pb.randint(0, 4, (32, 1))
    optimizer = pb.optim.Adam(agent.online.parameters())
    for _ in range(3):
        with pb.no_grad():
            wanted = reward + 0.9 * agent.target(after).max(-1).values
        optimizer.zero_grad()
        fn.smooth_l1_loss(agent.online(state).gather(1, action)[:, 0], wanted).backward()
        optimizer.step()
        agent.follow()


def generator_step():
    """The critic gets gradients from the generator's loss, which nobody uses."""
    generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
    critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
    by_generator, by_critic = (pb.optim.Adam(net.parameters()) for net in (generator, critic))
    for _ in range(2):
        by_generator.zero_grad()
        fn.softplus(-critic(generator(pb.randn(8, 4)))).mean().backward()
        by_generator.step()
        by_critic.zero_grad()
        with pb.no_grad():
            fake = generator(pb.randn(8, 4))
        (fn.softplus(-critic(pb.randn(8, 2))) + fn.softplus(critic(fake))).mean().backward()
        by_critic.step()


def heads_of_several_tasks():
    """Each batch belongs to one task: the heads of others get no gradient."""
    model = nn.ModuleDict({"body": perceptron(), "heads": nn.ModuleList([nn.Linear(4, 3) for _ in range(3)])})
    x, y = examples(classes=3)

    def loss():
        return fn.cross_entropy(model["heads"][0](model["body"](x)), y)

    train(model, loss)


UNUSUAL = [
    lora, gates_of_zero, layers_of_zero, experts, experts_of_empty_batches, experts_by_gate, tied, frozen_backbone,
    frozen_without_gradient, biases_only, dropout, smoothed, target_network, generator_step, heads_of_several_tasks,
]  # fmt: skip
