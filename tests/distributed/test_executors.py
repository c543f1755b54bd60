"""Sums on executors: the same bits as in one process, and what is said of processes that die."""

import functools
import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from tests.distributed.losses import (
    AT,
    LIKE,
    Network,
    branching,
    counted,
    data,
    deadly,
    digest,
    drawn,
    failing,
    late_parts,
    logistic,
    network,
    parts,
)

from pullback.distributed import PartitionError, chunked, total

pytestmark = pytest.mark.filterwarnings("ignore:.*of work pay:UserWarning")  # these are small on purpose
REFERENCE = digest(total(logistic, parts(), LIKE)(AT))


def processes(workers=2):
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


@pytest.fixture(scope="module")
def pool():
    with processes() as found:
        yield found


@pytest.fixture(params=["threads", "processes"])
def executor(request, pool):
    if request.param == "processes":
        yield pool
    else:
        with ThreadPoolExecutor(3) as found:
            yield found


def test_the_same_bits_as_in_one_process(executor):
    fit, here = total(logistic, parts(), LIKE, engine=executor), total(logistic, parts(), LIKE)
    for _ in range(3):
        assert digest(fit(AT)) == REFERENCE
    x = fit.vector(AT)
    np.testing.assert_array_equal(fit.hessp(x, x), here.hessp(x, x))
    assert fit.each(counted, AT) == here.each(counted, AT)
    assert digest(fit.subset([5, 2])(AT)) == digest(here.subset([5, 2])(AT))


@pytest.mark.filterwarnings("ignore:.*runs as it is, uncompiled:UserWarning")
def test_the_same_bits_of_what_is_not_compiled_and_of_networks(executor):
    at = {"w": np.full(5, 0.01), "b": 0.01}
    assert digest(total(branching, parts(9), LIKE, engine=executor)(at)) == digest(total(branching, parts(9), LIKE)(at))
    parameters = dict(Network().named_parameters())
    found = total(network, parts(9), parameters, engine=executor)(parameters)
    assert digest(found) == digest(total(network, parts(9), parameters)(parameters))


def test_the_same_chunks(executor):
    here, there = (chunked(drawn, np.arange(30), chunks=7, seed=5, engine=engine) for engine in (None, executor))
    np.testing.assert_array_equal(here["x"], there["x"])
    np.testing.assert_array_equal(here["n"], there["n"])


@pytest.mark.filterwarnings("ignore:.*runs as it is, uncompiled:UserWarning")
def test_an_exception_names_partition_and_line(executor):
    with pytest.raises(
        PartitionError, match=r"partition 5 of 20 on process \d+, in failing, losses.py:\d+: "
    ) as caught:
        total(failing, parts(), LIKE, engine=executor)(AT)
    assert caught.value.number == 5
    assert caught.value.__cause__ is None  # the traceback of the worker
    assert len(str(caught.value).splitlines()) <= 12
    assert digest(total(logistic, parts(), LIKE, engine=executor)(AT)) == REFERENCE


def test_what_cannot_be_pickled_is_told(pool):
    lock = threading.Lock()
    with pytest.raises(RuntimeError, match=r"<locals>.loss cannot be sent to workers \(.*\): pip install cloudpickle"):

        def loss(p, x, y):
            return lock and logistic(p, x, y)

        total(loss, parts(2), LIKE, engine=pool)(AT)


def test_other_versions_are_refused(pool):
    fit = total(logistic, parts(2), LIKE, engine=pool)
    fit._shipped["gradient"].expected["NumPy"] = "1.0"
    with pytest.raises(PartitionError, match=r"other versions than this worker: NumPy 1.0 there"):
        fit(AT)


def test_small_partitions_are_told_once():
    with processes() as executor:
        fit = total(logistic, parts(), LIKE, engine=executor)
        with pytest.warns(
            UserWarning, match=r"20 partitions took .* ms each, .*: this process alone takes .*at least 50 ms"
        ) as told:
            [fit(AT) for _ in range(30)]  # in the first ones, processes start and compile
    assert len(told) == 1


def test_a_partition_that_kills_its_process():
    with (
        processes() as executor,
        pytest.raises(PartitionError, match=r"a process of the ProcessPoolExecutor died before partition \d+ of 20"),
    ):
        total(deadly, parts(), LIKE, engine=executor)(AT)
    with processes() as executor:
        assert digest(total(logistic, parts(), LIKE, engine=executor)(AT)) == REFERENCE


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="a system without SIGKILL")
def test_a_process_that_is_killed():
    with processes() as executor:
        fit = total(logistic, late_parts(), LIKE, engine=executor)
        pending = fit.start(AT)
        while not executor._processes:
            time.sleep(0.01)
        os.kill(next(iter(executor._processes)), signal.SIGKILL)
        with pytest.raises(PartitionError, match=r"died before partition .* go on with a new executor"):
            pending.result()


def test_an_interruption_leaves_nothing_to_be_done():
    """SIGINT while the sum is waited for: what has not begun is cancelled, and the executor goes on."""
    with processes(1) as executor:
        total(logistic, parts(1), LIKE, engine=executor)(AT)  # the process is there
        fit = total(logistic, late_parts(80), LIKE, engine=executor)
        pending = fit.start(AT)
        timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            pending.result()
        timer.join()
        assert digest(total(logistic, parts(), LIKE, engine=executor)(AT)) == REFERENCE
    assert fit.calls == 0


def test_an_interruption_while_partitions_are_submitted_leaves_nothing_to_be_done():
    submitted, begun, gate = [], [], threading.Event()

    class Interrupted(ThreadPoolExecutor):
        def submit(self, *args):
            if len(submitted) == 5:
                signal.raise_signal(signal.SIGINT)
            submitted.append(super().submit(*args))
            return submitted[-1]

    def loaded(number):
        begun.append(number)
        gate.wait()
        return data(number)

    with Interrupted(1) as executor:
        fit = total(logistic, [functools.partial(loaded, number) for number in range(9)], LIKE, engine=executor)
        with pytest.raises(KeyboardInterrupt):
            fit(AT)
        gate.set()
    assert len(submitted) == 5
    assert len(begun) <= 1  # the one that its thread had taken
    assert sum(job.cancelled() for job in submitted) >= 4
