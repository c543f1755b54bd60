"""Programs in torch's words, as text: for the first difference, each with 20 lines at most, and what is planted in them."""

from typing import NamedTuple

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\ntorch.manual_seed(0)\n"

TRAINED = """class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(6, eps=1e-5)
        self.up, self.act, self.down = nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 6)

    def forward(self, x):
        h = self.up(self.norm(x))
        h = self.act(h)
        return x + self.down(h)

class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3

    @staticmethod
    def backward(ctx, g):
        return g * 3

model = nn.Sequential(nn.Linear(4, 6), Block(), nn.Dropout(0.25), Block(), nn.Linear(6, 3))
x, t = torch.randn(8, 4) * 0.2, torch.randint(0, 3, (8,))
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(2):
    opt.zero_grad()
    out = model(x) * 0.5
    out = Scaled.apply(out)
    scaled = out.clamp(-20, 20)
    loss = F.cross_entropy(scaled, t, label_smoothing=0.1)
    loss = loss + 0.01 * sum(p.square().sum() for p in model.parameters())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.5)
    opt.step()
"""


class Planted(NamedTuple):
    """A text of the program, what stands in its place, and the text of the line at which it is to be found."""

    old: str
    new: str
    line: str


OF_MODEL = "out = model(x) * 0.5"
PLANTED = {
    "a constant": Planted("model(x) * 0.5", "model(x) * 0.51", "out = model(x) * 0.51"),
    "the data": Planted("torch.randn(8, 4) * 0.2", "torch.randn(8, 4) * 0.3", "x, t = torch.randn(8, 4) * 0.3"),
    "the seed": Planted("x, t =", "torch.manual_seed(1)\nx, t =", "x, t ="),
    "the order of the data": Planted("out = model(x) * 0.5", "out = model(x.flip(0)) * 0.5", "out = model(x.flip(0))"),
    "a dtype": Planted("model(x) * 0.5", "model(x).double() * 0.5", "model(x).double()"),
    "an eps": Planted("eps=1e-5", "eps=1e-3", "self.norm(x)"),
    "an activation": Planted("nn.GELU()", "nn.GELU('tanh')", "h = self.act(h)"),
    "a bias": Planted(
        "nn.Linear(6, 12),",
        "nn.Linear(6, 12, bias=False),",
        "self.up, self.act, self.down = nn.Linear(6, 12), nn.GELU()",
    ),
    "a dropout": Planted("nn.Dropout(0.25)", "nn.Dropout(0.3)", OF_MODEL),
    "evaluation": Planted("for step", "model.eval()\nfor step", OF_MODEL),
    "a sign in a rule": Planted("return g * 3", "return g * -3", "return g * -3"),
    "a factor in a rule": Planted("return g * 3", "return g * 2", "return g * 2"),
    "a residual": Planted("return x + self.down(h)", "return x - self.down(h)", "return x - self.down(h)"),
    "a missing residual": Planted("return x + self.down(h)", "return self.down(h)", "self.down(h)"),
    "a bound": Planted("clamp(-20, 20)", "clamp(-0.5, 0.5)", "scaled = out.clamp(-0.5, 0.5)"),
    "a reduction": Planted("t, label_smoothing=0.1)", "t, label_smoothing=0.1, reduction='sum')", "reduction='sum'"),
    "a smoothing": Planted("label_smoothing=0.1", "label_smoothing=0.2", "label_smoothing=0.2"),
    "a decay": Planted("0.01 * sum", "0.02 * sum", "0.02 * sum"),
    "a gradient's bound": Planted("model.parameters(), 1.5", "model.parameters(), 0.5", "clip_grad_norm_"),
    "a rate": Planted("lr=0.1", "lr=0.11", "opt.step()"),
    "a momentum": Planted("momentum=0.9", "momentum=0.8", "opt.step()"),
    "a detached part": Planted(
        "return x + self.down(h)", "return x.detach() + self.down(h)", "return x.detach() + self.down(h)"
    ),
    "an accumulated gradient": Planted("    opt.zero_grad()\n", "", "nn.utils.clip_grad_norm_("),
}

HARMLESS = {
    "a line between": ("for step", "unused = torch.ones(3) * 2\nfor step"),
    "a comment": ("for step", "# here it begins\n\nfor step"),
    "a name": ("scaled", "clamped"),
    "two lines in another order": (
        "    out = Scaled.apply(out)\n", "    other = x * 2\n    third = x + 1\n    out = Scaled.apply(out)\n",
    ),
}  # fmt: skip
