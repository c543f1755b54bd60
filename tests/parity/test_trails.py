"""`explain --against torch`: 30 programs have no first difference from torch, and what is planted in one is found at its line."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import pullback
from pullback.explain import first_difference, read_trail

if find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

HEAD = """import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(3)
"""
DATA = "x, t = torch.randn(12, 5), torch.randint(0, 3, (12,))\n"
IMAGES = "x, t = torch.randn(6, 2, 8, 8), torch.randint(0, 3, (6,))\n"
WORDS = "x, t = torch.randint(0, 9, (4, 6)), torch.randint(0, 3, (4,))\n"


def trained(optimizer, steps=3):
    return f"""opt = torch.optim.{optimizer}
for step in range({steps}):
    opt.zero_grad()
    loss = F.cross_entropy(model(x), t)
    loss.backward()
    opt.step()
"""


ONCE = "F.cross_entropy(model(x), t).backward()\n"
MLP = DATA + "model = nn.Sequential(nn.Linear(5, 8), nn.{}, nn.Linear(8, 3))\n"
LEAF = "w = torch.randn(6, 5, requires_grad=True)\n"
PROGRAMS = {
    "relu": MLP.format("ReLU()") + trained("SGD(model.parameters(), lr=0.1)"),
    "tanh_momentum": MLP.format("Tanh()") + trained("SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)"),
    "gelu_adam": MLP.format("GELU()") + trained("Adam(model.parameters(), lr=0.01)"),
    "silu_adamw": MLP.format("SiLU()") + trained("AdamW(model.parameters(), lr=0.01)"),
    "elu_rmsprop": MLP.format("ELU()") + trained("RMSprop(model.parameters(), lr=0.01)"),
    "softplus": MLP.format("Softplus()") + trained("SGD(model.parameters(), lr=0.1, weight_decay=0.01)"),
    "dropout": MLP.format("Dropout(0.4)") + trained("SGD(model.parameters(), lr=0.1)"),
    "layer_norm": MLP.format("LayerNorm(8)") + trained("SGD(model.parameters(), lr=0.1)"),
    "batch_norm": MLP.format("BatchNorm1d(8)") + ONCE,
    "rms_norm": MLP.format("RMSNorm(8)") + ONCE,
    "conv": IMAGES + "model = nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 3))\n"
    + trained("SGD(model.parameters(), lr=0.1)"),
    "conv_average": IMAGES + "model = nn.Sequential(nn.Conv2d(2, 4, 3, padding=1, stride=2), nn.GroupNorm(2, 4), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3))\n" + ONCE,
    "transposed": IMAGES + "model = nn.Sequential(nn.ConvTranspose2d(2, 3, 3), nn.Sigmoid(), nn.AvgPool2d(5), nn.Flatten(), nn.Linear(12, 3))\n" + ONCE,
    "embedding": WORDS + "model = nn.Sequential(nn.Embedding(9, 4), nn.Flatten(), nn.Linear(24, 3))\n" + trained("SGD(model.parameters(), lr=0.5)"),
    "lstm": "x, lstm = torch.randn(5, 2, 3), nn.LSTM(3, 4)\nout, (h, c) = lstm(x)\n(out.square().sum() + c.sum()).backward()\n",
    "gru": "x, gru = torch.randn(5, 2, 3), nn.GRU(3, 4)\nout, h = gru(x)\nout.square().mean().backward()\n",
    "attention": "x = torch.randn(2, 5, 8)\nattend = nn.MultiheadAttention(8, 2, batch_first=True)\nout, weights = attend(x, x, x)\nout.square().sum().backward()\n",
    "written_attention": "q, k, v = (torch.randn(2, 4, 6, requires_grad=True) for _ in range(3))\nweights = (q @ k.transpose(1, 2) / 6**0.5).softmax(-1)\nout = weights @ v\n(out * out).sum().backward()\n",
    "encoder": "layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)\ny = layer(torch.randn(2, 5, 8))\ny.square().mean().backward()\n",
    "residual": "class Block(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.norm, self.up, self.down = nn.LayerNorm(5), nn.Linear(5, 9), nn.Linear(9, 5)\n    def forward(self, x):\n        return x + self.down(F.gelu(self.up(self.norm(x))))\n"
    + DATA + "model = nn.Sequential(Block(), Block(), Block(), nn.Linear(5, 3))\n" + trained("SGD(model.parameters(), lr=0.1)", 4),
    "custom": "class Cube(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n        return x**3\n    @staticmethod\n    def backward(ctx, g):\n        (x,) = ctx.saved_tensors\n        return 3 * x * x * g\n" + LEAF + "y = Cube.apply(w * 2)\ny.sum().backward()\n",
    "regression": "x = torch.randn(20, 3)\ny = x @ torch.tensor([1.0, -2.0, 0.5])\nw = torch.zeros(3, requires_grad=True)\nfor _ in range(5):\n    loss = ((x @ w - y) ** 2).mean()\n    (g,) = torch.autograd.grad(loss, w)\n    with torch.no_grad():\n        w -= 0.1 * g\n",
    "reductions": LEAF + "a = w.sum(0) * w.mean(1)[:5] + w.var(0) - w.std(0)\nb = w.max(1).values.sum() + w.logsumexp(1).mean() + w.norm()\n(a.sum() * b).backward()\n",
    "cancelling": LEAF + "centred = w - w.mean()\nz = centred / centred.std()\n(z**3).mean().backward()\n",
    "shapes": LEAF + "a = w.t().reshape(3, 10).permute(1, 0)\nb = torch.cat([a, a * 2], 1).unsqueeze(0).expand(2, 10, 6)\nc = torch.stack([b[0], b[1] + 1]).flip(0)\nc.cumsum(1).square().mean().backward()\n",
    "indices": LEAF + "picked = w[torch.tensor([0, 2, 2])]\nmasked = torch.where(w > 0, w, w * 0.1)\ngathered = w.gather(1, torch.tensor([[0], [1], [2], [3], [4], [0]]))\n(picked.sum() + masked.prod() + gathered.exp().sum()).backward()\n",
    "losses": DATA + "p = x.clone().requires_grad_()\nq = torch.rand(12, 5)\nloss = F.mse_loss(p, q) + F.l1_loss(p, q) + F.smooth_l1_loss(p, q) + F.binary_cross_entropy_with_logits(p, q)\nloss = loss + F.kl_div(p.log_softmax(1), q.softmax(1), reduction='batchmean') + F.nll_loss(p.log_softmax(1), t)\nloss.backward()\n",
    "doubles": "w = torch.randn(6, 5, dtype=torch.float64, requires_grad=True)\ny = torch.linalg.solve(w[:5] @ w[:5].t() + torch.eye(5, dtype=torch.float64), w[5])\ny.sin().sum().backward()\n",
    "einsum": LEAF + "y = torch.einsum('ij,kj->ik', w, w.tanh())\nz = torch.einsum('ii->', y)\n(y.abs().sqrt().sum() + z).backward()\n",
    "written": LEAF + "h = w * 2\nh[1:3] = w[0] ** 2\nh += 1\nh.clamp_(min=0.1)\nh.log().sum().backward()\n",
}  # fmt: skip
PLANTED = {
    "an activation": ("silu_adamw", "nn.SiLU()", "nn.GELU()", "loss = F.cross_entropy(model(x), t)"),
    "an eps": ("residual", "nn.LayerNorm(5)", "nn.LayerNorm(5, eps=1e-3)", "return x + self.down"),
    "a rate": ("relu", "lr=0.1", "lr=0.2", "opt.step()"),
    "a momentum": ("tanh_momentum", "momentum=0.9", "momentum=0.8", "opt.step()"),
    "a rule": ("custom", "return 3 * x * x * g", "return -3 * x * x * g", "y = Cube.apply(w * 2)"),
    "a constant": ("cancelling", "z**3", "z**5", "(z**"),
    "a reduction": ("indices", "gathered.exp().sum()", "gathered.exp().mean()", "gathered.exp()"),
    "a dtype": ("einsum", "w, w.tanh())", "w.double(), w.double().tanh())", "y = torch.einsum"),
    "a bound": ("written", "min=0.1", "min=0.5", "h.clamp_"),
    "an order": ("shapes", "flip(0)", "flip(1)", "c = torch.stack"),
}


def files(folder, programs, engines):
    for name, text in programs.items():
        Path(folder, f"{name}.py").write_text(HEAD + text, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(Path(pullback.__file__).parents[1])}
    for engine in engines:
        script = str(Path(__file__).with_name("trailed.py"))
        subprocess.run([sys.executable, script, str(folder), engine], check=True, env=environment)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("trailed")
    files(found, PROGRAMS, ["pullback", "torch"])
    (found / "planted").mkdir()
    planted = {name: PROGRAMS[program].replace(old, new, 1) for name, (program, old, new, _) in PLANTED.items()}
    files(found / "planted", planted, ["torch"])
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_program_differs_from_torch(name, folder):
    found = first_difference(*(read_trail(folder / f"{name}.{engine}.trail") for engine in ("pullback", "torch")))
    assert not found, str(found)
    assert len(found.agreed) >= 3


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found_at_its_line(name, folder):
    program, _, _, line = PLANTED[name]
    ours, theirs = (
        read_trail(folder / f"{program}.pullback.trail"),
        read_trail(folder / "planted" / f"{name}.torch.trail"),
    )
    for one, other in ((ours, theirs), (theirs, ours)):
        first = first_difference(one, other).first
        assert line in first.entry.code, str(first)
