"""Packages that take arrays of others, from their releases: values and gradients are those of a formula.

Run where they are installed: scripts/consumers.
"""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pullback

from . import calls

DATA = np.arange(12.0).reshape(3, 4) ** 1.5


def tracked():
    return pullback.tensor(DATA, requires_grad=True)


def slopes(result, x):
    """The gradient of the sum of squares of a result."""
    return pullback.autograd.grad((result * result).sum(), x)[0].numpy()


# xarray


@pytest.fixture
def labelled():
    xarray = pytest.importorskip("xarray")
    x = tracked()
    return x, xarray.DataArray(x, dims=("row", "column"), coords={"row": [10, 20, 30]})


@pytest.mark.parametrize("name", ["sum", "mean", "max", "prod", "std", "var", "min"])
def test_reductions_of_labelled_arrays(labelled, name):
    x, array = labelled
    with pullback.no_escapes():
        result = getattr(array, name)("column")
    expected = getattr(DATA, name)(1)
    np.testing.assert_allclose(result.data.detach().numpy(), expected)
    right = pullback.tensor(DATA, requires_grad=True)
    options = {"correction": 0} if name in {"std", "var"} else {}
    reduced = getattr(right, {"max": "amax", "min": "amin"}.get(name, name))(1, **options)
    np.testing.assert_allclose(slopes(result.data, x), slopes(reduced, right))


def test_arithmetic_selection_and_alignment(labelled):
    x, array = labelled
    with pullback.no_escapes():
        result = (array - array.mean("row")).sel(row=20) * array.isel(row=0)
        total = (result**2).sum().data
    total.backward()
    right = pullback.tensor(DATA, requires_grad=True)
    (((right[1] - right.mean(0)) * right[0]) ** 2).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), right.grad.numpy())


def test_groups_and_datasets(labelled):
    x, array = labelled
    xarray = sys.modules["xarray"]
    with pullback.no_escapes():
        groups = array.groupby(xarray.DataArray([0, 1, 0], dims="row", name="g")).mean().data
        stacked = xarray.Dataset({"a": array, "b": 2 * array}).mean()["b"].data
    np.testing.assert_allclose(groups.detach().numpy(), [DATA[::2].mean(0), DATA[1]])
    np.testing.assert_allclose(stacked.item(), 2 * DATA.mean())
    np.testing.assert_allclose(pullback.autograd.grad(groups.sum(), x)[0].numpy()[:, 0], [0.5, 1, 0.5])


def test_windows_are_refused(labelled):
    """xarray makes them of NumPy's arrays alone."""
    with pytest.raises((AttributeError, TypeError)):
        labelled[1].rolling(column=2).mean()


# array-api-extra, optimagic


def test_functions_beyond_the_standard():
    extra = pytest.importorskip("array_api_extra")
    x = pullback.tensor([0.5, 2.0, -1.0], dtype=pullback.float64, requires_grad=True)
    with pullback.no_escapes():
        parts = [
            extra.cov(pullback.stack([x, x**2])).sum(),
            extra.kron(x, x).sum(),
            extra.sinc(x).sum(),
            extra.one_hot(pullback.tensor([1, 0]), 3).sum() * x.sum(),
            extra.pad(x, 2).sum(),
            extra.create_diagonal(x).sum(),
            extra.apply_where(x > 0, x, lambda a: a.log(), lambda a: a * 0).sum(),
            extra.at(x, 0).multiply(3.0, copy=True).sum(),
        ]
        total = sum(part * (number + 1) for number, part in enumerate(parts))
    total.backward()
    step = 1e-6
    for index in range(3):
        moved = [x.detach().numpy().copy() for _ in range(2)]
        moved[0][index] += step
        moved[1][index] -= step
        difference = (_beyond(moved[0]) - _beyond(moved[1])) / (2 * step)
        np.testing.assert_allclose(x.grad.numpy()[index], difference, rtol=1e-6)


def _beyond(x):
    logs = np.log(np.where(x > 0, x, 1.0)) * (x > 0)
    scaled = x * np.array([3.0, 1, 1])
    terms = [np.cov(np.stack([x, x**2])), np.kron(x, x), np.sinc(x), 2 * x, x, x, logs, scaled]
    return sum(np.sum(term) * (number + 1) for number, term in enumerate(terms))


def test_an_optimizer_with_gradients_of_ours():
    optimagic = pytest.importorskip("optimagic")
    problem = pullback.value_and_grad(lambda p: ((p["a"] - 3) ** 2).sum() + (p["b"] + 1) ** 2)

    def slope(params):
        _value, gradient = problem({name: pullback.tensor(each) for name, each in params.items()})
        return {name: np.asarray(each) for name, each in gradient.items()}

    def value(params):
        return float(((params["a"] - 3) ** 2).sum() + (params["b"] + 1) ** 2)

    start = {"a": np.zeros(2), "b": np.array(0.0)}
    result = optimagic.minimize(value, start, algorithm="scipy_lbfgsb", jac=slope)
    np.testing.assert_allclose(result.params["a"], [3, 3], atol=1e-5)
    np.testing.assert_allclose(result.params["b"], -1, atol=1e-5)


# Tables


def test_columns_of_tables_are_tensors_and_back():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"x": [1.0, 2.0, 3.0], "n": [1, 2, 3]})
    x = pullback.asarray(frame["x"]).requires_grad_()
    y = pullback.asarray(frame["n"].to_numpy())
    (x * x * y).sum().backward()
    assert x.grad.tolist() == [2, 8, 18]
    assert polars.Series("g", x.grad.numpy()).to_list() == [2, 8, 18]
    assert pullback.asarray(frame.to_numpy()).shape == (3, 2)


def test_arrays_of_arrow():
    arrow = pytest.importorskip("pyarrow")
    x = pullback.from_dlpack(arrow.array([1.0, 2.0])).clone().requires_grad_()
    (x**3).sum().backward()
    assert x.grad.tolist() == [3, 12]
    assert arrow.array(x.grad.numpy()).to_pylist() == [3, 12]


# SciPy and scikit-learn


def test_the_page_is_that_of_the_table():
    table = calls.rows()
    kinds = {kind for _, _, kind, _ in table}
    assert kinds <= {*calls.GOOD, "refused"}
    refused = {(module, call) for module, call, kind, _ in table if kind == "refused"}
    assert refused == set(calls.instead())
    found = [page.read_text(encoding="utf-8") for page in calls.PAGES]
    tried = re.search(r"^(SciPy .*)\. Made by", found[0], re.MULTILINE)[1]
    assert found == calls.texts(table, tried)


def tried(*arguments):
    pytest.importorskip("sklearn")
    command = [sys.executable, "-m", "tests.interop.calls", *arguments]
    root = Path(__file__).parents[2]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=root, timeout=600)


def test_what_is_written_instead_of_refused_calls_gives_their_values():
    run = tried("--instead")
    assert run.returncode == 0, run.stdout + run.stderr


def test_calls_are_right_or_refused():
    run = tried()
    assert "wrong\t" not in run.stdout
    assert "worse: " in run.stdout, run.stderr  # the last line: it has not stopped before
    if calls.versions() in calls.PAGES[0].read_text(encoding="utf-8"):
        assert run.returncode == 0, run.stdout + run.stderr
