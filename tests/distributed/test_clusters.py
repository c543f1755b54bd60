"""Sums on a Dask cluster of real processes, some of which are killed. Run by scripts/test-cluster."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tests.distributed.losses import (
    AT,
    LIKE,
    MODEL,
    branching,
    counted,
    data,
    deadly,
    digest,
    drawn,
    failing,
    late,
    late_parts,
    logistic,
    network,
    parts,
)

import pullback
from pullback import nn
from pullback.distributed import PartitionError, chunked, total

distributed = pytest.importorskip("distributed", reason="without Dask: scripts/test-cluster has it")
dask = pytest.importorskip("dask")

pytestmark = [
    pytest.mark.filterwarnings("default"),  # Dask's own are not ours to fail at
    pytest.mark.filterwarnings("ignore:.*of work pay:UserWarning"),
]
REFERENCE = digest(total(logistic, parts(), LIKE)(AT))
ROOT = Path(__file__).parents[2]


def cluster(workers=2, **options):
    settings = {"threads_per_worker": 1, "dashboard_address": None, "memory_limit": 0, **options}
    return distributed.LocalCluster(n_workers=workers, **settings)


@pytest.fixture(scope="module")
def client():
    with cluster() as made, distributed.Client(made) as found:
        yield found


def pids(client):
    return list(client.run(os.getpid).values())


def idle(client, seconds=20):
    """Wait until no worker computes and the scheduler has no task of a sum."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        names = client.run_on_scheduler(lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks])
        if not any(client.processing().values()) and not any("_gradient" in name for name in names):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_same_bits_for_any_number_of_workers(workers):
    with cluster(workers) as made, distributed.Client(made) as client:
        for partitions in (
            parts(),
            [lambda n=n: data(n) for n in range(20)],
            [dask.delayed(data)(n) for n in range(20)],
        ):
            fit = total(logistic, partitions, LIKE, engine=client)
            assert [digest(fit(AT)) for _ in range(2)] == [REFERENCE] * 2
        here = total(logistic, parts(), LIKE)
        x = fit.vector(AT)
        np.testing.assert_array_equal(fit.hessp(x, x), here.hessp(x, x))
        assert fit.each(counted, AT) == here.each(counted, AT)
        assert digest(fit.subset([7, 3])(AT)) == digest(here.subset([7, 3])(AT))
        found = [chunked(drawn, np.arange(30), chunks=7, seed=5, engine=engine)["x"] for engine in (None, client)]
        np.testing.assert_array_equal(*found)


def test_the_same_bits_of_networks_and_of_what_is_not_compiled(client):
    parameters = dict(MODEL.named_parameters())
    found = total(network, parts(9), parameters, engine=client)(parameters)
    assert digest(found) == digest(total(network, parts(9), parameters)(parameters))
    at = {"w": np.full(5, 0.01), "b": 0.01}
    assert digest(total(branching, parts(9), LIKE, engine=client)(at)) == digest(total(branching, parts(9), LIKE)(at))


def test_collections(client):
    array, bag = pytest.importorskip("dask.array"), pytest.importorskip("dask.bag")
    x, y = (np.concatenate(each) for each in zip(*parts(), strict=True))
    chunks = [slice(i, i + 300) for i in range(0, len(x), 300)]
    expected = digest(total(logistic, [(x[each], y[each]) for each in chunks], LIKE)(AT))
    blocks = array.from_array(x, chunks=(300, 5)), array.from_array(y, chunks=300)
    assert digest(total(logistic, blocks, LIKE, engine=client)(AT)) == expected
    assert digest(total(logistic, blocks, LIKE)(AT)) == expected
    rows = bag.from_sequence(list(zip(x[:300], y[:300].tolist(), strict=True)), npartitions=3)
    assert digest(total(logistic, rows, LIKE, engine=client)(AT)) == digest(
        total(logistic, [(x[i : i + 100], y[i : i + 100]) for i in (0, 100, 200)], LIKE)(AT)
    )
    with pytest.raises(ValueError, match=r"cut differently, .*\(300, .*\(200, "):
        total(logistic, (blocks[0], array.from_array(y, chunks=200)), LIKE, engine=client)
    with pytest.raises(ValueError, match=r"other axes than the first: .*x.rechunk"):
        total(logistic, array.from_array(x, chunks=(300, 2)), LIKE, engine=client)


def test_training_steps_on_arrays_of_dask():
    array = pytest.importorskip("dask.array")

    def trained(prepare, x):
        pullback.manual_seed(0)
        module = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 1))
        optimizer = pullback.optim.Adam(module.parameters(), lr=0.1)

        def step(x):
            optimizer.zero_grad()
            loss = module(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        function = prepare(step)
        return [function(x) for _ in range(8)], function, module

    rows = data(0)[0].astype(np.float32)
    expected, _, module = trained(lambda step: step, pullback.tensor(rows))
    found, placed, other = trained(
        lambda step: pullback.compile(step).on("dask"), array.from_array(rows, chunks=(20, 5))
    )
    assert max(len(dict(each.dask)) for each in found) <= 8  # no call holds the tasks of those before it
    np.testing.assert_allclose(dask.compute(*found), [each.item() for each in expected], rtol=1e-5)
    placed.fetch()
    np.testing.assert_allclose(
        other[0].weight.detach().numpy(), module[0].weight.detach().numpy(), rtol=1e-4, atol=1e-6
    )
    lazy = pullback.compile(lambda x: x.exp().sum()).on("dask")(array.from_array(rows, chunks=(20, 5)))
    assert len(dict(lazy.dask)) > 1  # without state nothing is computed before it is asked for


def test_tables_and_stores(client, tmp_path):
    pandas, frames = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")

    def loss(p, columns):
        return (columns["a"] * p - columns["b"]).square().sum()

    table = pandas.DataFrame({"a": np.arange(10.0), "b": np.ones(10)})
    rows = frames.from_pandas(table, npartitions=3)
    assert total(loss, rows, 0.0, engine=client)(2.0)[0] == ((2 * np.arange(10.0) - 1) ** 2).sum()
    pytest.importorskip("pyarrow")
    table[:4].to_parquet(tmp_path / "part0.parquet")
    table[4:].to_parquet(tmp_path / "part1.parquet")
    assert total(loss, tmp_path / "*.parquet", 0.0, engine=client)(2.0)[0] == ((2 * np.arange(10.0) - 1) ** 2).sum()
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(tmp_path / "rows.zarr", mode="w")
    for name, values in (("a", np.arange(10.0)), ("b", np.ones(10))):
        group.create_array(name, shape=values.shape, chunks=(4,), dtype=values.dtype)[:] = values
    fit = total(lambda p, a, b: (a * p - b).square().sum(), str(tmp_path / "rows.zarr"), 0.0, engine=client)
    assert len(fit) == 3
    assert fit(2.0)[0] == ((2 * np.arange(10.0) - 1) ** 2).sum()


def test_progress_by_names(client, capsys):
    fit = total(logistic, late_parts(6), LIKE, engine=client)
    pending = fit.start(AT)
    wanted = {"logistic_gradient", "logistic_gradient_parameters", "logistic_gradient_function"}
    names, end = set(), time.monotonic() + 20
    while not wanted <= names and time.monotonic() < end:  # tasks reach the scheduler by another way than this question
        names = {*client.run_on_scheduler(lambda dask_scheduler: [*dask_scheduler.task_prefixes])}
    assert wanted <= names
    distributed.progress(pending.future, notebook=False)
    pending.result()
    assert "100% Completed" in capsys.readouterr().out


def test_a_large_closure_is_told(client):
    table = np.ones(300_000)

    def loss(p, x, y):
        return logistic(p, x, y) + 0 * table[0]

    with pytest.warns(UserWarning, match=r"loss closes over 2.4 MB \(`table` has 2.4 MB\), which every worker is sent"):
        total(loss, parts(3), LIKE, engine=client)(AT)


# What is lost


@pytest.mark.parametrize("moment", [0.0, 0.1, 0.25, 0.4])
def test_a_worker_is_killed(moment):
    with cluster() as made, distributed.Client(made) as client:
        fit = total(logistic, late_parts(), LIKE, engine=client)
        victim = pids(client)[0]
        pending = fit.start(AT)
        time.sleep(moment)
        os.kill(victim, signal.SIGKILL)
        assert digest(pending.result()) == REFERENCE
        assert digest(fit(AT)) == REFERENCE


def test_all_workers_are_killed():
    with cluster() as made, distributed.Client(made) as client:
        fit = total(logistic, [dask.delayed(late)(n) for n in range(20)], LIKE, engine=client)
        fit(AT)
        pending = fit.start(AT)
        time.sleep(0.2)
        for pid in pids(client):
            os.kill(pid, signal.SIGKILL)
        assert digest(pending.result()) == REFERENCE


def test_a_partition_that_kills_its_workers():
    """Another that is computed beside it each time may be named: Dask counts the deaths of a task's workers."""
    with cluster() as made, distributed.Client(made) as client:
        with pytest.raises(PartitionError, match=r"partition \d+ of 20: the workers that computed it died") as caught:
            total(deadly, parts(), LIKE, engine=client)(AT)
        assert caught.value.total == 20
        client.wait_for_workers(2, timeout=30)
        assert digest(total(logistic, parts(), LIKE, engine=client)(AT)) == REFERENCE


def test_a_partition_that_is_too_large():
    def load():
        kept = [np.ones(1 << 23)]  # 64 MB, again and again
        while True:
            kept.append(np.ones(1 << 23))
            time.sleep(0.03)

    settings = {"distributed.scheduler.allowed-failures": 0, "distributed.worker.memory.pause": False}
    with dask.config.set(settings), cluster(1, memory_limit="500MB") as made, distributed.Client(made) as client:
        with pytest.raises(PartitionError, match=r"partition 0 of 1: .* died, .*too large for their memory"):
            total(logistic, [load], LIKE, engine=client)(AT)  # beside another one, Dask may name that
        client.wait_for_workers(1, timeout=30)
        assert digest(total(logistic, parts(), LIKE, engine=client)(AT)) == REFERENCE


def test_an_exception_names_partition_worker_and_line(client):
    with pytest.raises(
        PartitionError, match=r"partition 5 of 20 on worker \d \(tcp://.*\), in failing, losses.py:\d+: "
    ) as caught:
        total(failing, parts(), LIKE, engine=client)(AT)
    error = caught.value
    assert (error.number, error.total) == (5, 20)
    assert error.site.endswith('raise ValueError("no such row")  # the line that is named')
    assert error.__cause__ is None
    assert len(str(error).splitlines()) <= 12
    assert idle(client)
    assert digest(total(logistic, parts(), LIKE, engine=client)(AT)) == REFERENCE


def test_an_uncaught_error_has_twelve_lines_at_most(client):
    script = f"""
    import distributed
    from pullback.distributed import total
    from tests.distributed.losses import *
    client = distributed.Client({client.scheduler.address!r})
    total(failing, parts(), LIKE, engine=client)(AT)
    """
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert run.returncode == 1
    told = run.stderr[run.stderr.index("Traceback") :]
    assert len(told.splitlines()) <= 12, told
    assert "partition 5 of 20 on worker" in told


def test_an_interruption_leaves_nothing_running(client):
    fit = total(logistic, late_parts(100), LIKE, engine=client)
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        fit(AT)
    timer.join()
    assert time.monotonic() - began < 4  # all hundred take 2.5 s of two workers, and more
    assert idle(client)
    assert digest(total(logistic, parts(), LIKE, engine=client)(AT)) == REFERENCE


def test_the_scheduler_is_lost():
    with subprocess.Popen(
        [sys.executable, "-c", SCHEDULER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            address = process.stdout.readline().strip()
            with distributed.Client(address, timeout=20) as client:
                fit = total(logistic, late_parts(100), LIKE, engine=client)
                pending = fit.start(AT)
                time.sleep(0.3)
                os.kill(process.pid, signal.SIGKILL)
                with (
                    dask.config.set({"distributed.comm.timeouts.connect": "2s"}),
                    pytest.raises(
                        PartitionError, match="the connection to Dask's scheduler is lost: make a new client"
                    ),
                ):
                    pending.result()
        finally:
            os.killpg(process.pid, signal.SIGKILL)


SCHEDULER = """
import asyncio
from distributed import Nanny, Scheduler, Worker

async def main():
    async with Scheduler(port=0, dashboard_address=None) as scheduler, Worker(scheduler.address, nthreads=1):
        print(scheduler.address, flush=True)
        await asyncio.sleep(120)

asyncio.run(main())
"""


def test_scattered_data_are_told_and_what_is_lost_too():
    with cluster() as made, distributed.Client(made) as client:
        scattered = [client.scatter(part) for part in parts(6)]
        with pytest.warns(UserWarning, match="6 of 6 partitions were scattered: Dask cannot compute them again"):
            fit = total(logistic, scattered, LIKE, engine=client)
        assert digest(fit(AT)) == digest(total(logistic, parts(6), LIKE)(AT))
        for pid in pids(client):
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(
            PartitionError, match=r"some of 6 partitions were cancelled, or were scattered and are lost"
        ):
            fit(AT)


def test_a_slow_worker_changes_nothing(client):
    pid = pids(client)[0]

    def stopped():
        for _ in range(4):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.3)
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.1)

    with ThreadPoolExecutor(1) as thread:
        job = thread.submit(stopped)
        assert digest(total(logistic, late_parts(), LIKE, engine=client)(AT)) == REFERENCE
        job.result()


def test_nothing_is_kept_of_sums_that_are_gone(client):
    fit = total(logistic, parts(), LIKE, engine=client)
    fit(AT)
    keys = {future.key for future in fit.partitions}
    del fit
    gc.collect()
    assert idle(client)
    left, end = keys, time.monotonic() + 20
    while left and time.monotonic() < end:
        left = keys & {*client.run_on_scheduler(lambda dask_scheduler: [*dask_scheduler.tasks])}
    assert not left


# Other executors


def test_loky():
    loky = pytest.importorskip("loky")
    executor = loky.get_reusable_executor(max_workers=2)
    assert digest(total(logistic, parts(), LIKE, engine=executor)(AT)) == REFERENCE
    with pytest.raises(PartitionError, match="died before partition"):
        total(deadly, parts(), LIKE, engine=executor)(AT)
    executor = loky.get_reusable_executor(max_workers=2)
    assert digest(total(lambda p, x, y: logistic(p, x, y) * 1, parts(), LIKE, engine=executor)(AT))
    executor.shutdown(kill_workers=True)


@pytest.mark.parametrize("ranks", [2, 3])
def test_mpi(ranks, tmp_path):
    pytest.importorskip("mpi4py")
    launcher = Path(sys.executable).with_name("mpiexec")
    script = tmp_path / "job.py"
    script.write_text(
        textwrap.dedent("""
        from mpi4py.futures import MPIPoolExecutor
        from pullback.distributed import total
        from tests.distributed.losses import *
        if __name__ == "__main__":
            with MPIPoolExecutor() as executor:
                fit = total(logistic, parts(), LIKE, engine=executor)
                print(digest(fit(AT)).hex())
    """)
    )
    command = [launcher, "-n", str(ranks), sys.executable, "-W", "ignore", "-m", "mpi4py.futures", script]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(Path(pullback.__file__).parents[1])])}
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment, timeout=120)
    assert run.stdout.strip() == REFERENCE.hex(), run.stderr
