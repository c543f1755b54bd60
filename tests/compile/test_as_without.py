"""Compiled functions mean what they mean without compile: writes after use, memory, random state, exchanged names."""

import warnings

import numpy as np
import pytest

import pullback
from pullback import nn, ops
from pullback.compile import Compiled

F = nn.functional
X = pullback.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0], [2.0, 1.0, 3.0]], dtype=pullback.float64)


def written_after(operation):
    """The gradient of an operation, whose operand is written afterwards."""

    def function(x):
        leaf = x.detach().requires_grad_()
        c = leaf * 1
        d = operation(c)
        c.mul_(3)
        return pullback.autograd.grad(d.sum(), leaf)[0]

    return function


@pytest.mark.parametrize("fuse", [True, False])
def test_a_write_after_use_leaves_gradients(fuse):
    ones = np.ones((3, 3))
    x = X.numpy()
    cases = {
        "inner": (lambda c: pullback.inner(c, c), 2 * ones * x.sum(0)),
        "kron": (lambda c: pullback.kron(c, c), 2 * ones * x.sum()),
        "tensordot": (lambda c: pullback.tensordot(c, c, dims=2), 2 * x),
        "prelu": (lambda c: F.prelu(-c, c[0]), None),
    }
    for name, (operation, given) in cases.items():
        function = written_after(operation)
        expected = function(X).numpy() if given is None else given
        compiled = Compiled(function, fuse=fuse)
        for _ in range(2):
            np.testing.assert_allclose(compiled(X).numpy(), expected, err_msg=name)


@pytest.mark.parametrize("fuse", [True, False])
def test_results_share_memory_where_they_do_without(fuse):
    def function(x):
        y = x * 2
        return y, y[0], y.detach(), y.neg().neg(), x.T * 2, y[:, 0]

    compiled = Compiled(function, fuse=fuse)
    for _ in range(3):
        y, row, alias, apart, turned, column = compiled(X)
        row[0] = 100.0
        assert y[0, 0] == alias[0, 0] == column[0] == 100.0
        assert apart[0, 0] == 2.0
        assert (turned.stride(), column.stride()) == ((1, 3), (3,))


@pytest.mark.parametrize("fuse", [True, False])
def test_two_results_share_their_memory_and_one_alone_takes_no_more_than_its_own(fuse):
    def both(x):
        y = x.exp()
        return y.detach(), y

    compiled, alone = Compiled(both, fuse=fuse), Compiled(lambda x: x.exp()[1], fuse=fuse)
    for x in (X, X, X.clone().requires_grad_()):
        one, other = compiled(x)
        one[0, 0] = 100.0
        assert other[0, 0] == 100.0
        row = alone(x)
        assert row.untyped_storage().nbytes() == row.numel() * row.element_size()


def test_gradients_survive_writes_to_results():
    def function(x):
        y = x.exp()
        return y, y * y

    compiled = Compiled(function)
    for _ in range(3):
        x = pullback.tensor([0.0, 1.0], requires_grad=True)
        y, square = compiled(x)
        y[0] = 7.0
        square.sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp([0.0, 2.0]), rtol=1e-6)


def test_random_state_is_read_and_set_at_each_call():
    generator = pullback.Generator().manual_seed(5)
    start = generator.get_state()

    def restored(x):
        generator.set_state(start)
        return x + pullback.rand(3, generator=generator)

    def made(x):
        return x + pullback.rand(3, generator=pullback.Generator().manual_seed(3))

    for function in (restored, made):
        compiled = Compiled(function)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            results = [compiled(pullback.zeros(3)) for _ in range(3)]
        assert all(pullback.equal(result, results[0]) for result in results)


@pytest.mark.parametrize(
    ("owner", "name"), [(F, "relu"), (nn.Linear, "forward"), (pullback.Tensor, "relu"), (nn.Module, "__call__"), (pullback, "exp")]
)  # fmt: skip
def test_exchanged_names_are_noticed(owner, name, monkeypatch):
    linear = nn.Linear(3, 3, dtype=pullback.float64)

    def function(x):
        return F.relu(x) + linear(x).detach() + x.relu() + pullback.exp(x / 9)

    compiled = Compiled(function, fuse=False)
    before = compiled(X), compiled(X)
    monkeypatch.setattr(owner, name, lambda *args: args[-1] * 7)
    for _ in range(2):
        np.testing.assert_allclose(compiled(X).numpy(), function(X).numpy())
    monkeypatch.undo()
    np.testing.assert_allclose(compiled(X).numpy(), before[0].numpy())


def test_special_values():
    x = pullback.tensor([-1e-300, -1e-160, -5e-324], dtype=pullback.float64)
    np.testing.assert_allclose(Compiled(pullback.lgamma)(x).numpy(), -np.log(-x.numpy()), rtol=1e-14)
    slope = Compiled(pullback.func.grad(lambda x: pullback.logsumexp(x, 0)))
    np.testing.assert_array_equal(slope(pullback.tensor([1e4, np.inf])).numpy(), [0.0, np.nan])


def test_views_written_on_an_engine():
    def function(x):
        y = x[1:]
        y.mul_(2)
        return y

    result, (after,) = Compiled(function).on(np)(np.arange(4.0))
    np.testing.assert_array_equal(result, [2.0, 4.0, 6.0])
    np.testing.assert_array_equal(after, [0.0, 2.0, 4.0, 6.0])


def test_rates_of_all_optimizers_are_inputs():
    for kind in (pullback.optim.Rprop, pullback.optim.ASGD):
        w = nn.Parameter(pullback.ones(3))
        optimizer = kind([w], lr=0.1)

        def step():
            optimizer.zero_grad()  # noqa: B023  # called here
            (w * w).sum().backward()  # noqa: B023
            optimizer.step()  # noqa: B023

        compiled = Compiled(step, fuse=False)
        for number in range(12):
            optimizer.param_groups[0]["lr"] = 0.1 / (number + 1)
            compiled()
        assert len(compiled.report().records) <= 2


def test_primitives_say_whether_they_give_views():
    from tests.samples import rows

    rng = np.random.default_rng(0)
    for name, makers, params in rows():
        primitive = getattr(ops, name)
        arrays = [np.asarray(make(rng)) for make in makers]
        with np.errstate(all="ignore"):
            made = primitive.forward(*arrays, **params)
        pieces = made if isinstance(made, tuple) else (made,)
        assert primitive.view or not any(np.shares_memory(piece, x) for piece in pieces for x in arrays), name
