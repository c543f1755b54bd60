"""Compiled functions on other libraries' arrays: whole programs, their state, and what passes through the host."""

import pickle

import numpy as np
import pytest

import pullback
from pullback import nn, optim
from pullback.compile.engines.libraries import Cupy

from .beside import compared, every_program
from .cupy_arrays import Array, asarray, modules, passages
from .rows import lacking


@pytest.fixture
def cupy(monkeypatch):
    """CuPy's stand-in as an engine."""
    for name, module in modules().items():
        monkeypatch.setitem(__import__("sys").modules, name, module)
    return Cupy()


@every_program
def test_programs_in_the_standards_words(name):
    compared(
        name, pytest.importorskip("array_api_strict", reason="array-api-strict is not installed: no strict arrays")
    )


@every_program
def test_programs_on_arrays_like_those_of_cupy(name, cupy):
    compared(name, cupy)


def test_what_cupy_lacks_of_the_standard(cupy):
    assert lacking(cupy) == {"linalg.eig"}


def network():
    pullback.manual_seed(0)
    module = nn.Linear(3, 2)
    how = optim.SGD(module.parameters(), lr=0.1, momentum=0.9)

    def step(x):
        how.zero_grad()
        loss = (module(x) ** 2).mean()
        loss.backward()
        how.step()
        return loss

    return module, step


X = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)


def test_later_calls_pass_nothing_through_the_host(cupy):
    _, step = network()
    placed = pullback.compile(step).on(cupy)
    x = asarray(X)
    for _ in range(3):
        placed(x)
    passages.there = passages.back = 0
    for _ in range(5):
        assert isinstance(placed(x), Array)
    assert (passages.there, passages.back) == (1 * 5, 0)  # the learning rate


def test_state_stays_on_the_engine_until_it_is_fetched():
    module, step = network()
    for _ in range(4):
        step(pullback.tensor(X))
    expected = module.weight.detach().numpy()
    other, step = network()
    placed = pullback.compile(step).on(np)
    for _ in range(3):
        placed(X)
    assert np.isnan(other.weight.detach().numpy()).all()  # its numbers are elsewhere
    placed(X)
    placed.fetch()
    np.testing.assert_allclose(other.weight.detach().numpy(), expected, rtol=1e-5)


def test_functions_on_one_engine_share_state():
    module, step = network()
    train, evaluate = pullback.compile(step).on(np), pullback.compile(module).on(np)
    for _ in range(3):
        train(X)
        found = evaluate(X)
    train.fetch()
    np.testing.assert_allclose(found, module(pullback.tensor(X)).detach().numpy(), rtol=1e-5)
    module.load_state_dict({name: pullback.ones_like(value) for name, value in module.state_dict().items()})
    np.testing.assert_allclose(evaluate(X), X.sum(1, keepdims=True) + np.ones((1, 2)), rtol=1e-5)


def test_what_is_written_on_the_host_between_calls_is_seen():
    scale = pullback.ones(3)
    placed = pullback.compile(lambda x: x * scale).on(np)
    assert placed(X[0]).tolist() == X[0].tolist()
    scale.fill_(2)
    assert placed(X[0]).tolist() == (2 * X[0]).tolist()


def test_arguments_that_are_written_come_back_beside_the_result():
    def step(x, by):
        x += by
        return x.sum()

    placed = pullback.compile(step).on(np)
    given = np.arange(3.0)
    for _ in range(2):
        total, (after, by) = placed(given, 2.0)
        assert (total, after.tolist(), by) == (9.0, [2.0, 3.0, 4.0], 2.0)
    assert given.tolist() == [0.0, 1.0, 2.0]


def test_trees_of_arguments_and_results():
    placed = pullback.compile(lambda tree, flag: {"sum": tree["a"] + tree["b"][0], "flag": flag}).on(np)
    for _ in range(2):
        result = placed({"a": np.ones(2), "b": (np.arange(2.0),)}, flag="yes")
        assert result["sum"].tolist() == [1, 2]
        assert result["flag"] == "yes"


def test_a_guard_that_does_not_hold_has_the_function_recorded_again():
    def density(x, scale):
        return pullback.distributions.Normal(0.0, scale).log_prob(x)

    placed = pullback.compile(density).on(np)
    x, scale = np.array([0.5, 1.0]), np.array([1.0, 2.0])
    expected = -(x**2) / (2 * scale**2) - np.log(scale) - np.log(2 * np.pi) / 2
    for _ in range(2):
        np.testing.assert_allclose(placed(x, scale), expected)
    with pytest.raises(ValueError, match="scale"):
        placed(x, -scale)
    np.testing.assert_allclose(placed(x, scale), expected)


def test_numbers_are_drawn_as_on_the_host():
    placed = pullback.compile(lambda x: x + pullback.randn(3)).on(np)
    placed(np.zeros(3, np.float32))
    pullback.manual_seed(3)
    found = [placed(np.zeros(3, np.float32)) for _ in range(2)]
    pullback.manual_seed(3)
    assert [each.tolist() for each in found] == [pullback.randn(3).tolist() for _ in range(2)]


def test_other_arrays_are_refused(cupy):
    placed = pullback.compile(lambda x: x * 2).on(cupy)
    with pytest.raises(TypeError, match="a function on cupy takes its arrays, not a ndarray"):
        placed(X)
    with pytest.raises(TypeError, match="a function on cupy takes its arrays, not a Tensor"):
        placed(pullback.tensor(X))


def test_modules_are_placed_too():
    module, _ = network()
    expected = module(pullback.tensor(X)).detach().numpy()
    np.testing.assert_allclose(pullback.compile(module).on(np)(X), expected, rtol=1e-6)


def test_a_function_on_an_engine_is_not_pickled():
    with pytest.raises(TypeError, match="a function on an engine is not pickled"):
        pickle.dumps(pullback.compile(np.sin).on(np))


def test_inside_a_transform_it_computes_on_the_host():
    module, _ = network()
    placed = pullback.compile(module).on(np)
    expected = placed(X)
    again = pullback.func.vmap(lambda x: x * float(placed(X).sum()))(pullback.ones(3))
    np.testing.assert_allclose(again.numpy(), expected.sum(), rtol=1e-5)


def test_the_librarys_own_error_is_raised_as_it_is():
    placed = pullback.compile(pullback.linalg.cholesky).on(np)
    placed(np.eye(2))
    with pytest.raises(np.linalg.LinAlgError):
        placed(-np.eye(2))
