"""Rules of elementwise operations on large arrays: machine code gives what NumPy gives, rounded no worse."""

from functools import cache

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="machine code is made by llvmlite, which is not installed")

import pullback
from pullback import ops
from pullback._core import machine, xp as _xp
from pullback._core.composing import signature
from pullback._core.modes import quiet
from pullback.compile.machine import large

from ..samples import rows

SIZE = machine.WORTH + 13
# Differences of digamma, and infinite targets times a sigmoid: 0 or not by rounding.
CANCELS = {"beta", "betaln", "binary_cross_entropy_of_logits", "binom", "gammainc_by_shape", "poch"}
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e-42, -1e-42, 1.0, -1.0, 0.5, -0.5, 3.0, -3.0, 25.0, -25.0, 90.0]


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Code is made when an operation is met for the first time."""
    monkeypatch.setattr(machine, "ENOUGH", 0)
    monkeypatch.setattr(machine, "PORTION", 0)


@cache
def cases():
    """Of each primitive, its rows of samples."""
    found = {}
    for name, makers, params in rows():
        primitive = getattr(ops, name)
        real = all(np.asarray(maker(np.random.default_rng(0))).dtype.kind in "bf" for maker in makers)
        if primitive.kind == "elementwise" and primitive.saved and real:
            found.setdefault(name, []).append((primitive, makers, params))
    return found


def rules(primitive, params):
    """The places of the rules that name saved values, with those names, and the metadata that they name."""
    for place, rule in enumerate(primitive.rules):
        if rule is not None and (names := signature(rule)[0]) and not any(name.endswith("_shape") for name in names):
            yield place, names, {key: params[key] for key in signature(rule)[1]}


def told(primitive, names, inputs, params):
    """What a rule is told: the inputs that it names, and the output."""
    y = quiet.run(primitive.forward, *inputs, **params)
    return [np.asarray(y) if name == "y" else inputs[primitive.inputs.index(name)] for name in names]


def by_machine(primitive, place, g, saved, params):
    return quiet.run(machine.way(primitive, place), g, *saved, **params)


def by_numpy(primitive, place, g, saved, params):
    return np.asarray(quiet.run(primitive.rules[place], _xp, g, *saved, **params))


@pytest.mark.parametrize("name", sorted(cases()))
def test_a_rule_is_no_worse_than_in_numpy(name):
    rng = np.random.default_rng(3)
    for primitive, makers, params in cases()[name]:
        inputs = [np.resize(maker(rng), SIZE) for maker in makers]
        inputs = [x if x.dtype.kind == "b" else x.astype(np.float32) for x in inputs]
        g = rng.standard_normal(SIZE).astype(np.float32)
        for place, names, metadata in rules(primitive, params):
            if by_machine(primitive, place, g, [np.ones_like(g)] * len(names), metadata) is None:
                continue
            saved = told(primitive, names, inputs, params)
            found = by_machine(primitive, place, g, saved, metadata)
            exact = [x if x.dtype.kind == "b" else x.astype(np.float64) for x in saved]
            right = by_numpy(primitive, place, g.astype(np.float64), exact, metadata)
            rounded = by_numpy(primitive, place, g, saved, metadata)
            assert (found.shape, found.dtype) == (rounded.shape, rounded.dtype)
            slack = 2 * np.abs(rounded - right).max() + 8 * np.finfo(np.float32).eps * np.abs(right)
            assert (np.abs(found - right) <= slack).all(), (place, metadata)


@pytest.mark.parametrize("name", sorted(cases().keys() - CANCELS))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_rule_sends_special_values_where_numpy_does(name, dtype):
    for primitive, makers, params in cases()[name]:
        grids = np.meshgrid(*[np.array(SPECIAL, dtype)] * (len(makers) + 1))
        g, *inputs = [np.resize(grid.ravel(), max(SIZE, grid.size)) for grid in grids]
        inputs = [
            x != 0 if maker(np.random.default_rng(0)).dtype.kind == "b" else x
            for x, maker in zip(inputs, makers, strict=True)
        ]
        for place, names, metadata in rules(primitive, params):
            if by_machine(primitive, place, g, [np.ones_like(g)] * len(names), metadata) is None:
                continue
            saved = told(primitive, names, inputs, params)
            found = by_machine(primitive, place, g, saved, metadata)
            expected = by_numpy(primitive, place, g, saved, metadata)
            exact = [x if x.dtype.kind == "b" else x.astype(np.float64) for x in saved]
            slope = np.abs(by_numpy(primitive, place, np.ones(g.shape), exact, metadata))
            lost = np.isinf(g) & (slope > 0) & (slope < np.finfo(dtype).tiny * 2**30)  # 0 or not, by how it is rounded
            for where in (np.isnan, np.isposinf, np.isneginf):
                differ = (where(found) != where(expected)) & ~lost
                at = np.flatnonzero(differ)[:3]
                assert not differ.any(), (place, metadata, g[at], [x[at] for x in saved], found[at], expected[at])


def test_a_cotangent_that_is_the_same_everywhere():
    """The one of a sum has no elements of its own in memory."""
    x = pullback.linspace(-3, 3, SIZE).requires_grad_()
    for _ in range(2):
        x.grad = None
        (pullback.nn.functional.silu(x).sum() * 3).backward()
    assert any(key[0].name == "silu" and key[1] == 0 for key in large._functions)
    s = 1 / (1 + np.exp(-x.detach().numpy().astype(np.float64)))
    np.testing.assert_allclose(x.grad.numpy(), 3 * (s + x.detach().numpy() * s * (1 - s)), rtol=1e-5, atol=1e-6)


def test_what_rules_have_no_code_for_goes_to_numpy():
    x = pullback.rand(3, SIZE, dtype=pullback.float64).requires_grad_()
    row = pullback.rand(SIZE, dtype=pullback.float64).requires_grad_()
    for a, b in ((x, row), (x.mT, row[:, None]), (x[:, ::2], row[::2])):
        for _ in range(2):
            x.grad = row.grad = None
            pullback.hypot(a, b).sum().backward()
        h = np.hypot(x.detach().numpy(), row.detach().numpy())
        used = slice(None, None, 2) if a.shape[1] < SIZE and a.shape[0] == 3 else slice(None)
        np.testing.assert_allclose(row.grad.numpy()[used], (row.detach().numpy() / h).sum(0)[used], rtol=1e-12)


def test_second_derivatives_and_transforms_do_without():
    x = pullback.linspace(0.5, 2, SIZE, dtype=pullback.float64).requires_grad_()
    (first,) = pullback.autograd.grad(x.sigmoid().sum(), x, create_graph=True)
    (second,) = pullback.autograd.grad(first.sum(), x)
    s = 1 / (1 + np.exp(-x.detach().numpy()))
    np.testing.assert_allclose(second.numpy(), s * (1 - s) * (1 - 2 * s), rtol=1e-12, atol=1e-15)
    found = pullback.func.vmap(pullback.func.grad(lambda t: t.sigmoid().sum()))(x.detach()[None])
    np.testing.assert_allclose(found[0].numpy(), s * (1 - s), rtol=1e-12)


BROADCAST = {
    "where": lambda x, y, z: pullback.where(z > 0, x, y),
    "lerp": pullback.lerp,
    "multiply": lambda x, y, z: x * z,
    "multiply, all": lambda x, y, z: x * y * z,
    "divide": lambda x, y, z: y / x + x / z,
    "addcmul": lambda x, y, z: pullback.addcmul(x, y, z, value=0.5),
    "addcdiv": lambda x, y, z: pullback.addcdiv(x, y, z + 3, value=0.5),
    "hypot": lambda x, y, z: pullback.hypot(x, y) * z,
    "maximum": lambda x, y, z: pullback.maximum(x, y) + pullback.minimum(x, z),
    "power": lambda x, y, z: (x.abs() + 1) ** y,
    "mean times": lambda x, y, z: x.mean(0, keepdim=True) * y,
    "logarithm": lambda x, y, z: (x.abs() + 1).log() * (y.abs() + 1).log(),
    "clamp": lambda x, y, z: pullback.clamp(x, min=y - 1, max=z + 1),
}


@pytest.mark.parametrize(
    "shapes", [[(90,), (100, 90), (90,)], [(100, 90), (90,), (90,)], [(100, 1), (1, 90), (100, 90)]]
)
@pytest.mark.parametrize("name", BROADCAST)
def test_the_gradient_of_a_sum_reaches_operands_that_were_broadcast(name, shapes, monkeypatch):
    """Every element of the result counts once, also where no saved value has the shape of the result."""
    rng = np.random.default_rng(0)
    operands = [pullback.tensor(rng.standard_normal(shape), requires_grad=True) for shape in shapes]
    with monkeypatch.context() as patch:
        patch.setattr(machine.budget, "chosen", "never")
        expected = pullback.autograd.grad(BROADCAST[name](*operands).sum(), operands, allow_unused=True)
    for how in (lambda y: y.sum(), lambda y: y.mean() * y.numel()):
        found = pullback.autograd.grad(how(BROADCAST[name](*operands)), operands, allow_unused=True)
        for ours, theirs in zip(found, expected, strict=True):
            assert (ours is None) == (theirs is None)
            if ours is not None:
                np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-9)
