"""The call that records a function gives what later calls give; and what becomes of compiled functions in copies."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import pullback
from pullback import autograd, func, nn

# The same bits

BITS = {
    "softmax": lambda x: (x.exp().sin() / x.tanh()).cumsum(0).softmax(0) * x.sum(),
    "sum of squares": lambda x: (x * x).sum() / x.std(),
    "gradient": func.grad(lambda x: (x.tanh() * x.exp()).logsumexp(0)),
    "norm": lambda x: nn.functional.layer_norm(x, x.shape).pow(3).mean(),
    "loop": lambda x: pullback.scan(lambda c, _: (c.sin() * 1.1, c.sum()), x, length=5),
    "random": lambda x: (x + pullback.randn(x.shape)).exp().sum() * nn.functional.dropout(x).sum(),
}


@pytest.mark.parametrize("size", [3, 100, 5000, 70_000])
@pytest.mark.parametrize("name", BITS)
def test_the_first_call_has_the_bits_of_later_ones(name, size):
    x = pullback.tensor(np.random.default_rng(size).standard_normal(size).astype(np.float32))
    compiled, found = pullback.compile(BITS[name]), []
    for _ in range(3):
        pullback.manual_seed(3)
        leaves = compiled(x)
        leaves = leaves if isinstance(leaves, tuple) else (leaves,)
        found.append([leaf.numpy().tobytes() for leaf in leaves])
    assert found[0] == found[1] == found[2]


def trained(optimizer, steps):
    pullback.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.BatchNorm1d(16), nn.Linear(16, 3))
    moves = optimizer(model.parameters())

    @pullback.compile
    def step(x, y):
        moves.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        moves.step()
        return loss.detach()

    x, y = pullback.randn(32, 8), pullback.randint(0, 3, (32,))
    state, found = None, []
    for i in range(steps):
        if i == 3:
            state = copy.deepcopy((model.state_dict(), moves.state_dict()))
        found.append(step(x, y).item())
    return model, moves, state, found, (x, y)


@pytest.mark.parametrize("optimizer", [pullback.optim.SGD, pullback.optim.AdamW], ids=lambda kind: kind.__name__)
def test_a_training_that_is_recorded_again_goes_on_in_the_same_bits(optimizer):
    model, moves, state, expected, (x, y) = trained(lambda p: optimizer(p, lr=0.01), 8)
    model.load_state_dict(state[0])
    moves.load_state_dict(state[1])

    @pullback.compile
    def step(x, y):
        moves.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        moves.step()
        return loss.detach()

    assert [step(x, y).item() for _ in range(5)] == expected[3:]


def test_hooks_and_versions_count_once():
    x, seen = pullback.ones(3, requires_grad=True), []
    buffer = pullback.zeros(3)

    @pullback.compile
    def function():
        buffer.add_(x.detach())
        return (x * buffer).sum()

    for i in range(3):
        version = buffer._version
        function()
        seen.append(buffer._version - version)
        assert buffer.tolist() == [i + 1.0] * 3
    assert seen == [1, 1, 1]


# Higher derivatives of what is compiled


def penalty(model, x):
    (g,) = autograd.grad(model(x).sum(), x, create_graph=True)
    model.zero_grad()
    ((g**2).sum() + g.sum() ** 3).backward()
    return [g.tolist(), *[None if p.grad is None else p.grad.tolist() for p in model.parameters()]]


def test_create_graph_goes_through_compiled_modules():
    pullback.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    compiled = pullback.compile(model)
    for scale in (1.0, 2.0, 3.0):
        x = pullback.tensor([[1.0, scale]], requires_grad=True)
        expected = penalty(model, x)
        for found, each in zip(penalty(compiled, x), expected, strict=True):
            assert (found is None) == (each is None)
            if each is not None:
                np.testing.assert_allclose(found, each, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: (a * b).sin().sum(),
        lambda a, b: (a.detach() * b**2).sum() + a.sum() ** 2,
        lambda a, b: (a**2, (b**3).sum())[1] + a.prod(),
    ],
)
def test_third_derivatives_of_arguments_with_a_history(function):
    def derivatives(function):
        x = pullback.tensor([0.5, 2.0], requires_grad=True)
        a = x**2
        b, found = a * 3, []
        value = function(a, b)
        for _ in range(3):
            (value,) = autograd.grad(value.sum(), x, create_graph=True)
            found.append(value.tolist())
        return found

    compiled = pullback.compile(function)
    for _ in range(3):
        np.testing.assert_allclose(derivatives(compiled), derivatives(function), rtol=1e-4)


@pytest.mark.parametrize(
    "model", [nn.Sequential(nn.Linear(2, 2), nn.Dropout()), nn.BatchNorm1d(2)], ids=["drawn", "written"]
)
def test_create_graph_through_what_cannot_run_twice_is_refused_at_every_call(model):
    compiled = pullback.compile(model)
    for _ in range(3):
        x = pullback.ones(3, 2, requires_grad=True)
        with pytest.raises(RuntimeError, match="has no derivative here"):
            autograd.grad(compiled(x).sum(), x, create_graph=True)


# Branches under transforms

TRANSFORMS = {
    "grad": lambda p, x: func.grad(lambda x: pullback.cond(p, lambda x: (x**2).sum(), lambda x: (x**3).sum(), (x,)))(x),
    "vmap": lambda p, x: func.vmap(lambda x: pullback.cond(p, lambda x: x**2, lambda x: x**3, (x,)))(x),
    "jvp": lambda p, x: func.jvp(lambda x: pullback.cond(p, lambda x: x**2, lambda x: x**3, (x,)), (x,), (x,)),
    "second": lambda p, x: func.hessian(
        lambda x: pullback.cond(p, lambda x: (x**2).sum(), lambda x: (x**3).sum(), (x,))
    )(x),
    "computed": lambda p, x: func.grad(
        lambda x: pullback.cond(x.sum() > 4, lambda x: (p * x**2).sum(), lambda x: (x**3).sum(), (x,))
    )(x),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_branches_under_transforms(name):
    function = TRANSFORMS[name]
    compiled = pullback.compile(function)
    for choice, scale in ((True, 1.0), (False, 1.0), (True, 2.0), (False, 3.0)):
        x = pullback.tensor([1.0, 2.0]) * scale
        expected, found = (f(pullback.tensor(choice), x) for f in (function, compiled))
        for one, other in zip(*[r if isinstance(r, tuple) else (r,) for r in (found, expected)], strict=True):
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6)
    assert sum(count for count, _ in compiled.report().records) == 1


# Copies


@pullback.compile
def doubled(x):
    return x * 2


def squared(x):
    return x**2


def test_functions_that_have_been_called_pickle():
    x = pullback.arange(3.0)
    doubled(x)
    assert pickle.loads(pickle.dumps(doubled)) is doubled
    assert copy.deepcopy(doubled) is doubled
    compiled = pullback.compile(squared, fullgraph=True)
    compiled(x), compiled(x)
    for other in (pickle.loads(pickle.dumps(compiled)), copy.deepcopy(compiled), copy.copy(compiled)):
        assert other is not compiled
        assert other.fullgraph
        assert other(x).tolist() == [0.0, 1.0, 4.0]
        assert len(other.report().records) == 1


def test_modules_that_have_been_called_pickle_and_copy():
    pullback.manual_seed(0)
    model, x = pullback.compile(nn.Linear(2, 2)), pullback.ones(2)
    expected = model(x).tolist()
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert other(x).tolist() == expected
        with pullback.no_grad():
            other.weight.zero_()
        assert other(x).tolist() == other.bias.tolist()
        assert model(x).tolist() == expected


def test_holders_of_compiled_functions_copy():
    class Trainer:
        def __init__(self):
            self.scale = 2.0
            self.step = pullback.compile(self.plain)

        def plain(self, x):
            return x * self.scale

    trainer = Trainer()
    trainer.step(pullback.ones(2))
    other = copy.deepcopy(trainer)
    other.scale = 3.0
    assert other.step(pullback.ones(2)).tolist() == [3.0, 3.0]
    assert trainer.step(pullback.ones(2)).tolist() == [2.0, 2.0]


def test_tensors_with_a_history_refuse_deepcopy():
    """As in torch, which refuses views of leaves, too, and pickles what refuses to be copied as a leaf."""
    x = pullback.ones(2, requires_grad=True)
    model = nn.Linear(2, 2)
    model.kept = x * 2
    for each in (x * 2, x.view(2), [x, {"a": x.sum()}], model):
        with pytest.raises(RuntimeError, match="graph leaves"):
            copy.deepcopy(each)
    for each in (x, x.detach(), x.detach().view(2), nn.Parameter(pullback.ones(2)), pullback.ones(2) * 2):
        assert copy.deepcopy(each).requires_grad == each.requires_grad
    loaded = pickle.loads(pickle.dumps(x * 2))
    assert loaded.is_leaf
    assert loaded.requires_grad


@pytest.mark.parametrize("dtype", [pullback.float32, pullback.float64])
@pytest.mark.parametrize("after", [lambda loss: 3 * loss, lambda loss: loss * loss, lambda loss: (loss + 1).log() / 2])
def test_a_result_without_axes_goes_on_outside(after, dtype):
    """The gradient that comes back is a scalar of NumPy."""
    x = pullback.tensor([1.0, 2.0, 3.0], dtype=dtype, requires_grad=True)
    compiled = pullback.compile(lambda x: (x * x).sum())
    expected = autograd.grad(after((x * x).sum()), x)[0].numpy()
    for _ in range(3):
        np.testing.assert_allclose(autograd.grad(after(compiled(x)), x)[0].numpy(), expected, rtol=1e-6)


# In a process that has done nothing before

FRESH = """
import numpy as np, pullback
def f(x, w):
    value = ((x * w).sin() / w.exp() + pullback.tanh(x)).mean() ** 3
    return value, *pullback.autograd.grad(value, (x, w), create_graph=True)
x, w = (pullback.tensor(np.linspace(*ends, 10), requires_grad=True) for ends in ((0.5, 2), (1.5, -1)))
if COMPILED:
    pullback.compile(f)(x, w)
for _ in range(2):
    found = f(x, w)
    print([each.tolist() for each in found], [type(each.grad_fn).__name__ for each in found])
try:
    f(x, w.float()[:3])
except RuntimeError as error:
    print(error)
"""


def test_eager_operations_are_the_same_after_a_function_is_recorded():
    """The short ways of operations are written when they are called, but not while a function is recorded."""
    texts = [
        subprocess.run(
            [sys.executable, "-c", FRESH.replace("COMPILED", flag)], capture_output=True, text=True, check=True
        ).stdout
        for flag in ("True", "False")
    ]
    assert texts[0] == texts[1]
    assert "must match" in texts[0] or "broadcast" in texts[0]


LAYOUTS = {
    "transposed": lambda x: x.t(),
    "reversed": lambda x: x.flip(0),
    "rows apart": lambda x: pullback.cat([x, x + 1], 1)[:, :3],
    "one row": lambda x: x[:1].expand(3, 3),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("options", [{}, {"fuse": False}], ids=["fused", "not fused"])
def test_another_layout_of_the_same_shape_after_the_first_calls(layout, options):
    def function(x):
        return x * 2 + pullback.arange(9.0).reshape(3, 3)

    first, compiled = pullback.ones(3, 3), pullback.compile(function, **options)
    for _ in range(3):
        compiled(first)
    other = LAYOUTS[layout](pullback.arange(9.0).reshape(3, 3))
    assert other.shape == first.shape
    np.testing.assert_array_equal(compiled(other), function(other))
