"""Graphs of programs, as torch.fx prints them: one script of ten programs, run by torch and by `pullback run`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

SOURCE = Path(__file__).parents[2] / "src"

SCRIPT = """
import json, math, operator, sys
from collections import namedtuple
import torch, torch.fx as fx, torch.nn as nn, torch.nn.functional as F
from torch.nn.functional import softmax

PROGRAMS = {}
Pair = namedtuple("Pair", "first second")


def program(*args, **options):
    def kept(kind):
        PROGRAMS[kind.__name__] = (kind, args, options)
        return kind
    return kept


@fx.wrap
def outside(x, by=2):
    return x * by


fx.wrap("len")


@program((2, 3))
class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.ReLU(), nn.Linear(4, 2)))
        self.scale = nn.Parameter(torch.ones(2))
        self.register_buffer("shift", torch.ones(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.body(x) * self.scale
        return softmax(self.shift + h - h.mean(dim=-1, keepdim=True), dim=-1) if False else self.shift + h


@program((1, 1, 6, 6))
class Convolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2)
        self.head = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 3)])

    def forward(self, x):
        x = F.relu(self.norm(self.conv(x)))
        x = F.max_pool2d(x, 2).mean((2, 3))
        for layer in self.head:
            x = layer(x)
        return torch.flatten(x, 1)


@program((2, 4, 8))
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 8)
        self.act, self.drop = F.gelu, nn.Dropout(0.1)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        b, t, c = x.size()
        q, k = q.view(b, t, 2, c // 2).transpose(1, 2), k.view(b, t, 2, c // 2).transpose(1, 2)
        weights = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(c))
        weights = weights.masked_fill(weights > 1e4, float("-inf"))
        mixed = torch.matmul(weights, v.view(b, t, 2, c // 2).transpose(1, 2))
        return x + self.drop(self.act(self.out(mixed.transpose(1, 2).contiguous().view(b, t, c))))


@program((3,), (3,))
def operators(x, y):
    z = (x + 1, 2 - x, x * y, 7 / x, x // 2, x % 3, 2**x, x**2, -x, +x, abs(x), x == 2, x != y, 1 < x, x <= 2, x >= y)
    w = ((x > 0) & (y > 0) | (x < 1)) ^ ~(y > 1)
    x += y
    x *= 2
    return {"z": z, "w": [w, x @ y]}


@program((3, 4))
def indexing(x):
    a = x[0], x[:, 1:], x[..., None], x[::2, -1], x[x > 0]
    return a, x.shape, x.shape[0], x.size(-1), x.dim(), x.T, x.dtype


@program((2, 2), (2, 2))
def joined(x, y):
    s = torch.stack([x, y], dim=0)
    c = torch.cat((x, y), 1)
    w = torch.where(x > y, x, torch.zeros_like(y))
    return torch.clamp(s.sum(dim=(1, 2)), min=0.0, max=1.0), c.permute(1, 0), torch.max(w), torch.add(input=x, other=y, alpha=2)


@program((4,))
def wrapped(x):
    return outside(x, by=len(x)) + math.floor(x.size(0) / 3) + outside(x)


@program((2, 3))
def constants(x):
    return torch.tensor([1.0, 2.0, 3.0]) * x + x.to(torch.float64, copy=True), Pair(x, [1, None, "text", 2.5]), True


def names(sum, for_=1, *more, **others):
    input = sum + for_
    return input * more[0], others["list"]


PROGRAMS["names"] = (names, (), {})


@program((3,), concrete_args={"flag": True})
def fixed(x, flag):
    return F.dropout(x, p=0.3, training=False) if flag else x


def told(value):
    return value if isinstance(value, str) else f"{value.__module__}.{value.__name__}"


found = {}
for name, (kind, shapes, options) in PROGRAMS.items():
    model = kind() if isinstance(kind, type) else kind
    traced = fx.symbolic_trace(model, **options)
    nodes = [[n.op, n.name, len(n.users), str(n.args), str(n.kwargs), [str(i) for i in n.all_input_nodes]] for n in traced.graph.nodes]
    again = fx.symbolic_trace(traced).code if not options and name != "names" else ""
    same = fx.Transformer(traced).transform().code
    same = "\\n".join(line for line in same.splitlines() if line and ".wrap(" not in line)  # which torch forgets
    found[name] = [str(traced.graph), traced.code, nodes, again, same, str(traced)]
print(json.dumps(found))
"""
NAMES = "Dense Convolution Attention operators indexing joined wrapped constants names fixed".split()

# Where torch calls a function of C++ under another name than the public one, and where its signature has more
INNER = {"torch._C._nn.": "torch.nn.functional."}


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What the script prints, here and under torch."""
    path = tmp_path_factory.mktemp("fx") / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    results = []
    for command in ([sys.executable, "-m", "pullback", "run", str(path)], [sys.executable, str(path)]):
        result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=300)
        assert result.returncode == 0, result.stderr
        text = result.stdout.splitlines()[-1]
        for theirs, ours in INNER.items():
            text = text.replace(theirs, ours)
        results.append(json.loads(text))
    return results


@pytest.mark.parametrize("name", NAMES)
def test_graphs_are_printed_as_by_torch(printed, name):
    ours, theirs = (result[name] for result in printed)
    for mine, expected in zip(ours, theirs, strict=True):
        assert mine == expected
    assert set(printed[0]) == set(NAMES)
