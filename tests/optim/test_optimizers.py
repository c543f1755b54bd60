"""Optimizers as their users see them: what torch cannot be asked about, and what it does otherwise."""

import copy
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import pullback
from pullback import nn, optim
from pullback.optim import lr_scheduler, swa_utils
from pullback.optim.elementwise import Elementwise

KINDS = {name: getattr(optim, name) for name in optim.__all__ if isinstance(getattr(optim, name), type)}
ELEMENTWISE = [name for name, kind in KINDS.items() if issubclass(kind, Elementwise)]
OF_ANY_SHAPE = [*ELEMENTWISE, "Adafactor"]


def test_the_package_imports_no_optimizer() -> None:
    program = """
import sys, pullback
print([name for name in sys.modules if name.startswith("pullback.optim")])
pullback.optim.SGD
print([name for name in sys.modules if name.startswith("pullback.optim.ad")])
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines() == ["[]", "[]"]


def test_every_name_is_found_and_documented() -> None:
    for module in (optim, lr_scheduler, swa_utils):
        for name in module.__all__:
            assert getattr(module, name).__doc__, name
            assert name in dir(module)
    with pytest.raises(AttributeError, match="Missing"):
        optim.Missing


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_large_parameters_are_computed_in_pieces(name: str) -> None:
    """The same numbers as one at a time."""
    r = np.random.default_rng(0)
    values, gradients = r.standard_normal((2, 3, 100_003))
    large = pullback.tensor(values, requires_grad=True)
    small = [pullback.tensor(each, requires_grad=True) for each in values[:, ::500]]
    optimizers = [getattr(optim, name)(params) for params in ([large], small)]
    for k in range(3):
        large.grad = pullback.tensor(gradients * (k + 1))
        for p, g in zip(small, gradients[:, ::500], strict=True):
            p.grad = pullback.tensor(g * (k + 1))
        for optimizer in optimizers:
            optimizer.step()
    expected = np.array([p.detach().numpy() for p in small])
    np.testing.assert_allclose(large.detach().numpy()[:, ::500], expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", OF_ANY_SHAPE)
def test_graphs_keep_what_a_step_overwrites(name: str) -> None:
    w = pullback.tensor([1.0, -2.0], requires_grad=True)
    seen = w.numpy(force=True)
    y = (w**3).sum()
    w.grad = pullback.ones(2)
    optimizer = getattr(optim, name)([w], lr=0.5)
    before = w._version
    optimizer.step()
    assert w._version > before
    assert not np.array_equal(w.tolist(), [1.0, -2.0])
    np.testing.assert_array_equal(seen, w.numpy(force=True))
    (slope,) = pullback.autograd.grad(y, w)
    assert slope.tolist() == [3.0, 12.0]


@pytest.mark.parametrize("name", [name for name in ELEMENTWISE if name not in ("AdamW", "Rprop")])
def test_steps_that_are_recorded(name: str) -> None:
    """The slope of what comes out of three steps, by all that went in, is that of finite differences."""

    def after(start, rate):
        p = start * 1
        optimizer = getattr(optim, name)([p], lr=rate, differentiable=True)
        for k in range(3):
            p.grad = (p.detach() * 0 + start) * (k + 1) + 0.3
            optimizer.step()
        return (p * p).sum()

    start = pullback.tensor([0.7, -1.1], dtype="float64", requires_grad=True)
    rate = pullback.tensor(0.1, dtype="float64", requires_grad=True)
    slope, by_rate = pullback.autograd.grad(after(start, rate), [start, rate], allow_unused=True)
    values = np.array([0.7, -1.1])
    for i in range(2):
        shift = np.eye(2)[i] * 1e-6
        high, low = (after(pullback.tensor(values + s), 0.1).item() for s in (shift, -shift))
        assert slope[i].item() == pytest.approx((high - low) / 2e-6, rel=1e-5)
    if name != "ASGD":  # whose rate is kept as a number
        high, low = (after(pullback.tensor(values), 0.1 + s).item() for s in (1e-6, -1e-6))
        assert by_rate.item() == pytest.approx((high - low) / 2e-6, rel=1e-5)


def test_leaves_are_refused_where_steps_are_recorded() -> None:
    w = pullback.ones(2, requires_grad=True)
    optimizer = optim.SGD([w], lr=0.1, momentum=0.9, differentiable=True)
    w.grad = pullback.ones(2)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        optimizer.step()
    assert w.tolist() == [1.0, 1.0] and not optimizer.state


def test_nothing_changes_where_a_parameter_cannot_be_written() -> None:
    array = np.ones(2)
    array.flags.writeable = False
    w, fixed = pullback.ones(2, requires_grad=True), pullback.from_numpy(array).requires_grad_()
    w.grad, fixed.grad = pullback.ones(2), pullback.ones(2, dtype="float64")
    with pytest.raises(ValueError, match="read-only"):
        optim.SGD([w, fixed], lr=0.1).step()
    assert w.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("name", OF_ANY_SHAPE)
def test_layout_and_dtype_stay(name: str) -> None:
    w = pullback.ones(3, 2).t().requires_grad_()
    half = pullback.ones((), dtype="float16", requires_grad=True)
    w.grad, half.grad = pullback.ones(2, 3), pullback.ones((), dtype="float16")
    getattr(optim, name)([w, half]).step()
    assert w.stride() == (1, 2) and w.dtype == pullback.float32
    assert half.dtype == pullback.float16 and half.item() < 1


@pytest.mark.parametrize("name", OF_ANY_SHAPE)
@pytest.mark.parametrize("way", [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))], ids=["copy", "pickle"])
def test_copies_go_on_by_themselves(name: str, way) -> None:
    w = pullback.tensor([1.0, -2.0], requires_grad=True)
    optimizer = getattr(optim, name)([w])

    def step(it):
        (p,) = it.param_groups[0]["params"]
        p.grad = pullback.tensor([0.5, 0.25])
        it.step()
        return p.tolist()

    step(optimizer)
    other = way(optimizer)
    assert step(other) == step(optimizer)
    assert step(other) != w.tolist()


def test_loaded_states_are_copies() -> None:
    w = pullback.ones(2, requires_grad=True)
    w.grad = pullback.ones(2)
    first, second = (optim.Adam([w]) for _ in range(2))
    first.step()
    second.load_state_dict(first.state_dict())
    second.step()
    assert first.state[w]["step"].item() == 1 and second.state[w]["step"].item() == 2
    assert first.state[w]["exp_avg"].tolist() != second.state[w]["exp_avg"].tolist()


def test_states_that_do_not_fit_are_refused() -> None:
    w, v = pullback.ones(2, requires_grad=True), pullback.ones(3, requires_grad=True)
    w.grad = pullback.ones(2)
    first, second = optim.Adam([w]), optim.Adam([v])
    first.step()
    with pytest.raises(ValueError, match=re.escape("'exp_avg' of shape (2,) for a parameter of shape (3,)")):
        second.load_state_dict(first.state_dict())
    assert not second.state


@pytest.mark.parametrize(("name", "key"), [("Adafactor", "row_var"), ("Muon", "momentum_buffer")])
def test_states_of_whole_matrices_are_held_to_their_shapes(name: str, key: str) -> None:
    w, v = pullback.ones(2, 3, requires_grad=True), pullback.ones(3, 2, requires_grad=True)
    w.grad = pullback.ones(2, 3)
    first, second = (getattr(optim, name)([each]) for each in (w, v))
    first.step()
    with pytest.raises(ValueError, match=re.escape(f"'{key}' of shape") + r".* for a parameter of shape \(3, 2\)"):
        second.load_state_dict(first.state_dict())
    assert not second.state


def test_a_matrix_costs_adafactor_its_rows_and_columns() -> None:
    w = pullback.ones(300, 200, requires_grad=True)
    w.grad = pullback.ones(300, 200)
    optimizer = optim.Adafactor([w])
    optimizer.step()
    assert sum(value.numel() for value in optimizer.state[w].values()) == 300 + 200 + 1


@pytest.mark.parametrize("shape", [(40, 90), (90, 40), (64, 64)])
def test_muon_goes_by_matrices_that_are_nearly_orthogonal(shape) -> None:
    """Of the right singular vectors, and with singular values about 1; of any size of the gradient."""
    gradient = np.random.default_rng(0).standard_normal(shape) * 1e-4
    w = pullback.zeros(shape, dtype="float64", requires_grad=True)
    w.grad = pullback.tensor(gradient)
    optim.Muon([w], lr=1.0, adjust_lr_fn="match_rms_adamw").step()
    u, values, v = np.linalg.svd(gradient, full_matrices=False)
    moved = -u.T @ w.numpy(force=True) @ v.T / (0.2 * max(shape) ** 0.5)
    np.testing.assert_allclose(moved[values > 0.1 * values.max()].diagonal(), 1, atol=0.4)
    assert np.abs(moved - np.diag(moved.diagonal())).max() < 0.05


def test_muon_takes_no_vectors() -> None:
    w, b = pullback.ones(2, 2, requires_grad=True), pullback.ones(2, requires_grad=True)
    optimizer = optim.Muon([w])
    with pytest.raises(ValueError, match=r"found a parameter with size: pullback.Size\(\[2\]\)"):
        optimizer.add_param_group({"params": [b]})
    assert len(optimizer.param_groups) == 1


def test_nothing_moves_where_one_parameter_cannot() -> None:
    w, z = pullback.ones(2, requires_grad=True), pullback.ones(2, dtype="complex64", requires_grad=True)
    w.grad, z.grad = pullback.ones(2), pullback.ones(2, dtype="complex64")
    optimizer = optim.Adafactor([w, z])
    with pytest.raises(RuntimeError, match="Adafactor does not support complex parameters"):
        optimizer.step()
    assert w.tolist() == [1.0, 1.0] and not optimizer.state


def test_arrays_may_stand_for_tensors_in_a_state() -> None:
    w = pullback.ones(2, requires_grad=True)
    w.grad = pullback.ones(2)
    optimizer = optim.SGD([w], lr=1.0, momentum=0.5)
    state = optimizer.state_dict()
    state["state"] = {0: {"momentum_buffer": np.array([2.0, 4.0])}}
    optimizer.load_state_dict(state)
    optimizer.step()
    assert w.tolist() == [-1.0, -2.0]


def test_zero_grad() -> None:
    w = pullback.ones(2, requires_grad=True)
    optimizer = optim.SGD([w])
    (w * w).sum().backward()
    g = w.grad
    optimizer.zero_grad(set_to_none=False)
    assert w.grad is g and g.tolist() == [0.0, 0.0]
    optimizer.zero_grad()
    assert w.grad is None


@pytest.mark.parametrize("name", [*OF_ANY_SHAPE, "LBFGS"])
def test_a_model_learns(name: str) -> None:
    pullback.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    x = pullback.randn(64, 2)
    y = x[:, :1] * x[:, 1:]
    rate = {} if name == "LBFGS" else {"lr": 1.0 if name == "Adadelta" else 0.03}
    optimizer = getattr(optim, name)(model.parameters(), **rate)

    def closure():
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        return loss

    first = closure().item()
    for _ in range(150 if name != "LBFGS" else 5):
        loss = optimizer.step(closure)
    assert loss.item() < 0.9 * first


def test_closures_run_with_gradients() -> None:
    w = pullback.ones(2, requires_grad=True)
    optimizer = optim.SGD([w], lr=0.5)

    def closure():
        loss = w.sum()
        loss.backward()
        return loss

    with pullback.no_grad():
        assert optimizer.step(closure).item() == 2.0
    assert w.tolist() == [0.5, 0.5]


def test_an_unknown_line_search() -> None:
    w = pullback.ones(2, requires_grad=True)
    optimizer = optim.LBFGS([w], line_search_fn="golden")
    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        optimizer.step((w * w).sum)
    with pytest.raises(ValueError, match="doesn't support per-parameter options"):
        optim.LBFGS([{"params": [w]}, {"params": [pullback.ones(1)]}])


@pytest.mark.parametrize("name", [*OF_ANY_SHAPE, "SparseAdam"])
def test_counts_of_an_older_state_are_numbers(name: str) -> None:
    def moved(plain: bool) -> list[list[float]]:
        w = pullback.linspace(-1, 1, 6).reshape(2, 3).requires_grad_()
        optimizer = getattr(optim, name)([w], lr=0.1)
        for i in range(4):
            if plain and i == 2:
                state = optimizer.state_dict()
                for kept in state["state"].values():
                    kept.update({k: kept[k].item() for k in ("step", "eta", "mu", "mu_product") if k in kept})
                optimizer.load_state_dict(state)
            w.grad = pullback.linspace(1, 2, 6).reshape(2, 3) * (i + 1)
            optimizer.step()
        return w.tolist()

    assert moved(plain=True) == moved(plain=False)


def test_lbfgs_takes_a_gradient_of_zeros() -> None:
    w = pullback.ones(2, requires_grad=True)
    w.grad = pullback.zeros(2)
    optimizer = optim.LBFGS([w], tolerance_grad=-1.0)
    assert optimizer.step(lambda: pullback.tensor(10.0)) == 10
    assert w.tolist() == [1, 1]


def test_rates_of_several_elements_are_refused_whatever_the_optimizer() -> None:
    w = pullback.ones(2, requires_grad=True)
    for name in ("SGD", "Adam", "Adafactor", "SparseAdam"):
        with pytest.raises(ValueError, match="Tensor lr must be 1-element"):
            getattr(optim, name)([w], lr=pullback.ones(2))


def test_counts_through_which_a_gradient_is_wanted_are_refused() -> None:
    p = pullback.ones(2, dtype=pullback.float64, requires_grad=True)
    moved = p.clone()
    moved.grad = pullback.ones(2, dtype=pullback.float64)
    optimizer = optim.NAdam([moved], differentiable=True)
    start = {"step": pullback.tensor(3.0), "exp_avg": pullback.ones(2), "exp_avg_sq": pullback.ones(2)}
    optimizer.state[moved] = {**start, "mu_product": pullback.tensor(0.5, requires_grad=True)}
    with pytest.raises(RuntimeError, match="mu_product"):
        optimizer.step()
    assert moved.tolist() == [1, 1]


@pytest.mark.parametrize("betas", [(1.0, 0.9), (0.9, 1.0), (-0.1, 0.9)], ids=str)
def test_means_of_all_gradients_have_factors_below_one(betas) -> None:
    w = pullback.ones(2, requires_grad=True)
    for name in ("Adam", "AdamW", "NAdam", "RAdam", "Adamax"):
        with pytest.raises(ValueError, match=r"Invalid beta parameter at index [01]: (1\.0|-0\.1)"):
            getattr(optim, name)([w], betas=betas)
    assert optim.Adam([w], betas=(0.0, 0.0)).param_groups[0]["betas"] == (0.0, 0.0)
