"""Branches and loops beside torch's higher-order operators: the same values, gradients and refusals."""

import numpy as np
import pytest

import pullback

torch = pytest.importorskip("torch")
from torch._higher_order_ops import scan as torch_scan, while_loop as torch_while_loop  # noqa: E402

LIBRARIES = [
    (pullback, pullback.while_loop, pullback.scan),
    (torch, torch_while_loop, torch_scan),
]

# torch compiles what it is given, and warns of its own innards while it does.
pytestmark = pytest.mark.filterwarnings("ignore")


def same(ours, theirs):
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-12)


@pytest.mark.parametrize("start", [0.5, 2.0])
def test_cond(start):
    found = []
    for lib, _, _ in LIBRARIES:
        x = lib.tensor([start, 1.0], dtype=lib.float64, requires_grad=True)
        y = lib.cond(x.sum() > 2, lambda x, p: x.log() * p["a"], lambda x, p: x.sin() - p["a"], (x, {"a": x * 2}))
        y.sum().backward()
        found.append((y, x.grad))
    for ours, theirs in zip(*found, strict=True):
        same(ours, theirs)


def test_while_loop():
    found = []
    for lib, while_loop, _ in LIBRARIES:
        x = lib.tensor([1.0, 3.0], dtype=lib.float64)
        count = lib.tensor(0)
        found.append(
            while_loop(lambda n, s: s["x"].sum() < 50, lambda n, s: (n + 1, {"x": s["x"] * 1.5}), (count, {"x": x}))
        )
    (ours, state), (theirs, torchs) = found
    assert ours.item() == theirs.item()
    same(state["x"], torchs["x"])


@pytest.mark.parametrize("options", [{}, {"reverse": True}, {"dim": 1}, {"dim": 1, "reverse": True}])
def test_scan(options):
    def step(c, x):
        c = (c * x).sin() + x
        return c, {"a": c * 2, "b": c.sum()}

    found = []
    for lib, _, scan in LIBRARIES:
        xs = lib.linspace(0.1, 2.0, 9, dtype=lib.float64).reshape(3, 3).requires_grad_()
        init = lib.ones(3, dtype=lib.float64, requires_grad=True)
        last, ys = scan(step, init, xs, **options)
        (last.sum() + (ys["a"] ** 2).sum() + ys["b"].prod()).backward()
        found.append((last, ys["a"], ys["b"], xs.grad, init.grad))
    for ours, theirs in zip(*found, strict=True):
        same(ours, theirs)


@pytest.mark.parametrize(
    "call",
    [
        lambda lib, while_loop, scan: lib.cond(lib.ones(2) > 0, abs, abs, (lib.ones(1),)),
        lambda lib, while_loop, scan: lib.cond(lib.tensor(True), abs, 3, (lib.ones(1),)),
        lambda lib, while_loop, scan: lib.cond(lib.tensor(True), abs, abs, lib.ones(1)),
        lambda lib, while_loop, scan: scan(3, lib.ones(1), lib.ones(2)),
        lambda lib, while_loop, scan: scan(lambda c, x: (c, x), lib.ones(1), lib.ones(2), reverse=1),
        lambda lib, while_loop, scan: scan(lambda c, x: (c, x), "a", lib.ones(2)),
    ],
)
def test_refused_alike(call):
    words = []
    for library in LIBRARIES:
        with pytest.raises(RuntimeError) as caught:
            call(*library)
        words.append(str(caught.value).replace(".", " ").split()[:4])
    assert words[0] == words[1]
