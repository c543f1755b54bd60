"""`explain.digits`: planted cancellations are found at their line, and correct programs have none."""

import linecache

import numpy as np
import pytest

import pullback
from pullback import nn

F = nn.functional

PLANTED = {
    "y = 1 - x.cos()": (1e-3, "x / 2"),
    "y = x.exp() - 1": (1e-5, "expm1"),
    "y = (1 + x).log()": (1e-5, "log1p"),
    "y = (x + 1).sqrt() - x.sqrt()": (3e6, "sqrt(a) + sqrt(b)"),
    "y = 1 - x.sigmoid()": (12.0, "sigmoid(-x)"),
    "y = 1 - x.tanh()": (6.0, "-2 * x"),
    "y = (x + 1).log() - x.log()": (1e5, "log1p"),
    "y = x - x.sin()": (1e-3, "series"),
    "y = ((x + 1) * 0.1).square() - (x * 0.1).square()": (1e6, "subtract first"),
    "y = 1 / x - 1 / (x + 1)": (1e5, "(b - a)"),
    "y = (x + 1) - 1": (1e-6, "float64"),
}
RIGHT = """x.exp().sum() | x.expm1().sum() | x.log1p().sum() | x.sin().square().mean() | (x * 3 + 1).relu().sum() | x.softmax(0).square().sum()
x.log_softmax(0).sum() | x.sigmoid().log().mean() | (x - x.mean()).square().mean() | x.var() | x.std() | x.tanh().prod()
F.layer_norm(x, (24,))[:5].sum() | (F.layer_norm(x, (24,)) ** 3).sum() | x.logsumexp(0) | (x @ x).sqrt() | (x[:, None] * x).sum()
F.softplus(x).sum() | F.gelu(x).sum() | F.silu(x).mean() | x.cumsum(0).square().sum() | x.norm() | (x / x.norm()).sum() | x.abs().sum()
pullback.cat([x, x * 2]).square().sum() | x.reshape(4, 6).t().square().mean() | x.max() + x.min() | pullback.where(x > 0, x, x * 0.1).sum()
F.mse_loss(x, x.detach() + 1) | F.binary_cross_entropy_with_logits(x, (x.detach() > 0).float()) | x.reshape(4, 6).softmax(1).log().mean()
F.cross_entropy(x.reshape(4, 6), pullback.tensor([1, 0, 5, 2])) | nn.LSTM(6, 3)(x.reshape(2, 2, 6))[0].sum()""".replace("\n", " | ").split(" | ")  # fmt: skip


@pytest.mark.parametrize("line", PLANTED)
def test_planted_cancellations_are_found_at_their_line(line):
    start, fix = PLANTED[line]
    source = f"a = x * 1\nx = x + 0\n{line}\nz = y * 3\nz.sum().backward()\n"
    file = f"<planted {line}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    x = pullback.tensor([start, start * 1.3], requires_grad=True)
    with pullback.explain.digits() as found:
        exec(compile(source, file, "exec"), {"x": x})
    assert {each.place.line for each in found.losses} == {3}, str(found)
    (there,) = [each for each in found.losses if each.phase == "forward"]
    assert fix in there.fix
    assert there.left < 5.2 < there.given


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("program", RIGHT)
def test_correct_programs_lose_none(program, seed):
    x = pullback.tensor(np.random.default_rng(seed).standard_normal(24).clip(-0.9), dtype=pullback.float32)
    x.requires_grad_()
    with pullback.explain.digits() as found:
        eval(program).backward()
    assert not found.losses, str(found)
    assert found.steps > 2


def test_what_a_sum_of_both_signs_loses_by_chance_is_not_named():
    with pullback.explain.digits() as found:
        (pullback.tensor([1 / 3, 2 / 7, -0.6173]).exp().log() * 1).mean()
    assert not found.losses, str(found)


def test_what_helps_a_difference_of_quotients_is_said_of_no_other():
    a = pullback.tensor([10.0])
    with pullback.explain.digits() as found:
        (a + a * 0.500013 + a * 0.500013) / 2 - a
    (loss,) = found.losses
    assert "1/a" not in loss.fix


def test_a_rule_of_backward_that_cancels_is_named():
    x = pullback.tensor([2.0, 3.0], requires_grad=True)
    with pullback.explain.digits() as found:
        y = x * 1.0000001
        (y * 1e4 - (y * y * y).sqrt() * 0.0 - x * 1e4).sum().backward()
    assert "backward" in {each.phase for each in found.losses}
    assert all(each.place.line for each in found.losses)


def test_a_model_and_its_gradients_stay_as_they_are():
    pullback.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 3))
    x, target = pullback.randn(20, 8), pullback.randint(0, 3, (20,))
    F.cross_entropy(net(x), target).backward()
    before = [each.grad.numpy().copy() for each in net.parameters()]
    net.zero_grad()
    with pullback.explain.digits() as found:
        F.cross_entropy(net(x), target).backward()
    assert not found.losses
    for each, old in zip(net.parameters(), before, strict=True):
        np.testing.assert_array_equal(each.grad.numpy(), old)
