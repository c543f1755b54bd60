"""Sums over partitions in this process: values, gradients, products, drivers, forms of partitions."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from tests.distributed.losses import (
    AT,
    LIKE,
    Network,
    branching,
    counted,
    data,
    drawn,
    failing,
    logistic,
    network,
    parts,
    whole,
)

import pullback
from pullback.distributed import PartitionError, Total, chunked, total
from pullback.func import functional_call


def test_value_and_gradient_are_those_of_all_rows():
    value, gradient = total(logistic, parts(), LIKE)(AT)
    expected = whole(**AT)
    assert value == pytest.approx(expected[0], rel=1e-13)
    np.testing.assert_allclose(gradient["w"], expected[1], rtol=1e-11)
    assert gradient["b"] == pytest.approx(expected[2], rel=1e-11)


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 64, 65, 73])
def test_partial_sums_are_added_in_a_tree_of_fan_eight(count):
    values = [0.1 * 3**-n + n % 7 for n in range(count)]
    level = values
    while len(level) > 1:
        groups = [level[i : i + 8] for i in range(0, len(level), 8)]
        level = []
        for group in groups:
            result = group[0]
            for number in group[1:]:
                result = result + number
            level.append(result)
    assert total(lambda p, x: p + x, [(value,) for value in values], 0.0)(0.0) == (level[0], float(count))


def test_the_data_of_single_precision_are_added_in_double():
    value, gradient = total(lambda p, x: p * x, [(np.float32(2**24),), (np.float32(1),)], np.float32(0))(np.float32(1))
    assert value == 2**24 + 1
    assert type(gradient) is np.float32


def test_products_with_the_hessian():
    fit = total(logistic, parts(3), LIKE)
    x, p = fit.vector(AT), np.arange(6.0)
    expected = approx_fprime(x, lambda x: fit.flat(x)[1]) @ p
    np.testing.assert_allclose(fit.hessp(x, p), expected, rtol=1e-5)
    product = fit.hvp(AT, fit.tree(p))
    np.testing.assert_array_equal(fit.vector(product), fit.hessp(x, p))


def test_scipy_is_a_driver():
    fit = total(logistic, parts(), LIKE)
    found = minimize(fit.flat, fit.vector(LIKE), jac=True, method="L-BFGS-B", options={"gtol": 1e-8, "ftol": 0})
    newton = minimize(
        fit.flat, fit.vector(LIKE), jac=True, hessp=fit.hessp, method="trust-krylov", options={"gtol": 1e-8}
    )
    at = fit.tree(found.x)
    assert np.abs(np.append(*whole(**at)[1:])).max() < 1e-4
    np.testing.assert_allclose(newton.x, found.x, atol=1e-5)


@pytest.mark.parametrize("kind", ["SGD", "Adam", "LBFGS"])
def test_optimizers_of_ours_are_drivers(kind):
    """The same steps as with the loss of all rows."""
    rows = [pullback.from_numpy(np.concatenate(each)) for each in zip(*parts(4), strict=True)]
    found = []
    for distributed in (True, False):
        at = {"w": pullback.zeros(5, dtype=pullback.float64), "b": pullback.zeros(1, dtype=pullback.float64)}
        for leaf in at.values():
            leaf.requires_grad_()
        fit = total(logistic, parts(4), at)
        optimizer = getattr(pullback.optim, kind)([*at.values()], lr=0.002)

        def closure(at=at, fit=fit, optimizer=optimizer, distributed=distributed):
            optimizer.zero_grad()
            if distributed:
                return fit.backward(at)
            loss = logistic(at, *rows)
            loss.backward()
            return loss

        for _ in range(3):
            optimizer.step(closure)
        found.append(np.append(at["w"].detach(), at["b"].detach()))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)
    assert np.abs(found[0]).max() > 1e-3


def test_a_module_by_functional_call():
    model = Network()
    parameters = dict(model.named_parameters())
    value, gradient = total(network, parts(3), parameters)(parameters)
    rows = [pullback.from_numpy(np.concatenate(each)).float() for each in zip(*parts(3), strict=True)]
    loss = (functional_call(model, parameters, (rows[0],)) - rows[1]).square().sum()
    loss.backward()
    assert value == pytest.approx(loss.item(), rel=1e-5)
    for name, leaf in parameters.items():
        assert gradient[name].dtype == leaf.dtype
        np.testing.assert_allclose(gradient[name], leaf.grad, rtol=1e-3, atol=1e-5)


def test_mini_batches_are_subsets():
    fit = total(logistic, parts(), LIKE)
    batch = fit.subset([3, 17])
    assert len(batch) == 2
    both, own = batch.flat(fit.vector(AT)), total(logistic, [data(3), data(17)], LIKE).flat(fit.vector(AT))
    assert both[0] == own[0]
    np.testing.assert_array_equal(both[1], own[1])
    with pytest.raises(IndexError):
        fit.subset([20])
    with pytest.raises(ValueError, match="needs a partition"):
        fit.subset([])


def test_metrics_of_each_partition():
    found = total(logistic, parts(4), LIKE).each(counted, AT)
    assert [int(count) for count, _ in found] == [60, 60, 61, 60]
    np.testing.assert_allclose(float(found[2][1]), (data(2)[0] @ AT["w"]).mean())


def test_a_line_for_each_call(capsys):
    fit = total(logistic, parts(4), LIKE)
    fit(AT)
    assert capsys.readouterr().out == ""
    fit.report = print
    value, _ = fit(AT)
    out = capsys.readouterr().out
    assert out.startswith(f"call 2: value {value:.6g}, gradient ")
    assert out.count("\n") == 1


def test_the_same_bits_whatever_was_computed_before():
    """Also for a loss that cannot be compiled: machine code begins for it after some elements, outside of these sums."""
    script = """
import sys
import numpy as np
import pullback
from pullback.distributed import total
for _ in range(int(sys.argv[1])):
    pullback.randn(1 << 18).softmax(0).logsumexp(0)
    pullback.randn(300, 1000).softmax(1)
def loss(p, x):
    z = x * p
    return z.softmax(1).square().sum() + (z.logsumexp(1).sum() if float(z.sum()) < 1e9 else 0)
x = np.random.default_rng(0).normal(size=(300, 1000)).astype(np.float32)
print(total(loss, [(x,), (2 * x,)], np.ones(1000, np.float32)).flat(np.ones(1000))[1].tobytes().hex()[:4000], pullback.get_machine_code())
"""
    runs = [
        subprocess.run([sys.executable, "-W", "ignore", "-c", script, n], capture_output=True, text=True, check=True)
        for n in ("0", "40")
    ]
    assert runs[0].stdout == runs[1].stdout
    assert runs[0].stdout.endswith("auto\n")


# Partitions


def sums(partitions, loss=lambda p, x, y: p * (x.sum() + 10 * y.sum())):
    return total(loss, partitions, 0.0)(1.0)[0]


def test_loaders_are_called_in_each_call():
    calls = []

    def load():
        calls.append(0)
        return np.ones(2), np.ones(3)

    fit = total(lambda p, x, y: p * (x.sum() + y.sum()), [load, load], 0.0)
    assert [fit(1.0)[0], fit(2.0)[0]] == [10, 20]
    assert len(calls) == 4


def test_a_list_of_examples_is_a_batch():
    assert sums([lambda: [(1.0, 2.0), (3.0, 4.0)]]) == 4 + 60


def test_files_by_a_pattern_in_the_order_of_their_numbers(tmp_path):
    for number in (10, 9, 1):
        np.savez(tmp_path / f"part{number}.npz", x=np.full(2, number), y=np.ones(1))
        np.save(tmp_path / f"own{number}.npy", np.full(2, number))
    assert sums(str(tmp_path / "part*.npz")) == 2 * 20 + 30
    fit = total(lambda p, x: p * x.sum(), tmp_path / "own*.npy", 0.0)
    assert [float(x.item()) for x in fit.each(lambda p, x: x[0] * p, 1.0)] == [1, 9, 10]
    (tmp_path / "own1.txt").touch()
    with pytest.raises(ValueError, match="npy, npz, parquet or zarr"):
        total(logistic, str(tmp_path / "*.txt"), LIKE)
    with pytest.raises(ValueError, match="no partitions in"):
        total(logistic, str(tmp_path / "*.npzz"), LIKE)


def test_what_is_no_list_of_partitions_is_refused():
    with pytest.raises(TypeError, match="array_split"):
        total(logistic, np.ones((3, 2)), LIKE)
    with pytest.raises(ValueError, match="no partitions"):
        total(logistic, [], LIKE)
    with pytest.raises(TypeError, match="a Dask client or an executor, not int"):
        total(logistic, parts(1), LIKE, engine=3)


def test_parameters_of_another_form_are_refused():
    fit = total(logistic, parts(1), LIKE)
    for other in ({"w": np.zeros(4), "b": 0.0}, {"b": 0.0, "w": np.zeros(5)}, np.zeros(6)):
        with pytest.raises(ValueError, match="nested and shaped as `like`"):
            fit(other)
    with pytest.raises(TypeError, match="dtype int64"):
        total(logistic, parts(1), {"w": np.zeros(5, np.int64), "b": 0.0})


# Failures


@pytest.mark.filterwarnings("ignore:.*runs as it is, uncompiled:UserWarning")
def test_an_exception_names_partition_and_line():
    fit = total(failing, parts(), LIKE)
    with pytest.raises(
        PartitionError, match=r"partition 5 of 20 on process \d+, in failing, losses.py:\d+: "
    ) as caught:
        fit(AT)
    error = caught.value
    assert (error.number, error.total) == (5, 20)
    assert error.site.startswith("losses.py:")
    assert error.site.endswith('raise ValueError("no such row")  # the line that is named')
    assert "ValueError: no such row" in str(error)
    assert fit.subset([0, 1])(AT)[0] > 0


def test_the_error_of_a_loader():
    def load():
        raise FileNotFoundError("x.npy")

    with pytest.raises(
        PartitionError, match=r"partition 0 of 1 on .* in load, test_totals.py:\d+: .*FileNotFoundError: x.npy"
    ):
        total(logistic, [load], LIKE)(AT)


def test_a_sum_is_what_total_makes():
    assert type(total(logistic, parts(1), LIKE)) is Total


# Chunks


def test_chunks_are_joined_in_order():
    x = np.arange(10.0)
    slopes = chunked(pullback.vmap(pullback.func.grad(lambda x: x**3)), x, chunks=3)
    np.testing.assert_array_equal(slopes, 3 * x**2)
    np.testing.assert_array_equal(chunked(lambda x, y: (x * y).sum(), x, x, chunks=10), x**2)


def test_each_chunk_has_a_generator():
    first, again, other = (chunked(drawn, np.arange(10), chunks=4, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first["x"], again["x"])
    assert (first["x"] != other["x"]).all()
    assert len(np.unique(first["x"])) == 20
    np.testing.assert_array_equal(first["n"], np.arange(10))


def test_chunks_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="same length"):
        chunked(np.add, np.ones(2), np.ones(3), chunks=1)
    with pytest.raises(ValueError, match="same length"):
        chunked(np.exp, 1.0, chunks=1)
    for chunks in (0, 3):
        with pytest.raises(ValueError, match="from 1 to 2"):
            chunked(np.exp, np.ones(2), chunks=chunks)
    with pytest.raises(PartitionError, match="partition 1 of 2"):
        chunked(lambda x: [1 // int(n) for n in x], np.array([2, 0]), chunks=2)


def test_dask_is_not_imported():
    script = "import sys, pullback.distributed as d\nd.total(lambda p, x: p * x, [(1.0,)], 0.0)(1.0)\nprint({'dask', 'distributed', 'cloudpickle'} & {*sys.modules})"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"


@pytest.mark.filterwarnings("ignore:.*runs as it is, uncompiled:UserWarning")
def test_branches_are_run_as_they_are():
    at = {"w": np.full(5, 0.01), "b": 0.01}
    fit = total(branching, parts(3), LIKE)
    value, _ = fit(at)
    expected = 0.0
    for x, y in parts(3):
        z = x @ at["w"] + at["b"]
        expected += (np.tanh(z) * y).sum() if z.sum() > 0 else np.log(np.exp(np.exp(z) * y).sum())
    assert value == pytest.approx(expected, rel=1e-12)


def test_workers_with_other_processors_are_told_once(monkeypatch):
    kinds = itertools.cycle(["one", "another"])
    monkeypatch.setattr("pullback.distributed.work.processor", lambda: next(kinds))
    fit = total(logistic, parts(), LIKE)
    with pytest.warns(UserWarning, match=r"different processors.*\['another', 'one'\]"):
        fit(AT)
    fit(AT)
