"""Engines: what computes partitions on workers, and adds their results up in a fixed order.

An engine prepares partitions (`kept`) and starts work on them (`start`). Nothing else is kept, so nothing is lost with a
worker.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import itertools
import re
import uuid
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import BrokenExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..extend import warn
from .partitions import is_of_dask
from .work import Part, PartitionError, Shipped, added, computed

if TYPE_CHECKING:
    from concurrent.futures import Future

    from .partitions import Executor

T = TypeVar("T")
Gathered = Part | list[Part]
FAN = 8
"""How many neighbors are added up at once, in a tree that depends on the number of partitions alone."""


class Work(NamedTuple):
    """What is computed: a function of given values and each partition's data, the results added up or not."""

    shipped: Shipped
    given: tuple[object, ...]
    summed: bool
    total: int
    partitions: Sequence[tuple[object, int]]
    name: str

    def gathered(self, parts: Iterable[Part]) -> Gathered:
        """The sum of parts, or all of them."""
        return _added_up(parts) if self.summed else list(parts)


def engine(given: Executor | None) -> Here | Dask:
    """The engine for what the user has given: nothing, a client of Dask, or an executor."""
    if given is None:
        return Here()
    if hasattr(given, "scheduler_info"):
        return Dask(given)
    if hasattr(given, "submit"):
        return Pool(given)
    raise TypeError(f"engine must be None, a Dask client or an executor, not {type(given).__name__}")


def _added_up(parts: Iterable[Part]) -> Part:
    """The sum of parts, in a tree of fan 8; only the branches that are not complete are kept."""
    levels: list[list[Part]] = []
    for each in parts:
        part = each
        for depth in itertools.count():
            if depth == len(levels):
                levels.append([])
            levels[depth].append(part)
            if len(levels[depth]) < FAN:
                break
            part, levels[depth] = added(*levels[depth]), []
    rest: list[Part] = []
    for level in levels:
        rest = [added(*level, *rest)] if level or rest else []
    return rest[0]


class Here:
    """This process, one partition after another."""

    workers = 1

    def kept(self, partitions: Sequence[Any]) -> list[object]:
        """The partitions, as they are used from now on."""
        return [Shipped(functools.partial(each.compute, scheduler="synchronous"), "plain") if hasattr(each, "dask") else each
                for each in partitions]  # fmt: skip

    def start(self, work: Work) -> Callable[[], Any]:
        """Begin, and return the function that waits for the results."""
        return lambda: work.gathered(computed(*work[:4], *each) for each in work.partitions)


class Pool(Here):
    """An executor of concurrent.futures, loky or mpi4py."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self.workers = getattr(executor, "_max_workers", 1)

    def start(self, work: Work) -> Callable[[], Any]:
        """Begin, and return the function that waits for the results."""
        jobs: list[Future[Part]] = []
        submit = functools.partial(self.executor.submit, computed, *work[:4])

        def cancel() -> None:
            for job in jobs:
                job.cancel()

        try:
            jobs.extend(itertools.starmap(submit, work.partitions))
        except BaseException:
            cancel()  # those that have been submitted
            raise

        def wait() -> Gathered:
            try:
                return work.gathered(job.result() for job in jobs)
            except BrokenExecutor:
                done = [job.done() and not job.cancelled() and job.exception() is None for job in jobs]
                number, kind = work.partitions[done.index(False)][1], type(self.executor).__name__
                text = f"a process of the {kind} died before partition {number} of {work.total} was done (killed, or out of memory)"
                raise PartitionError(f"{text}: go on with a new executor", number, work.total) from None
            except PartitionError as error:
                raise PartitionError(*error.args) from None  # without the worker's traceback, which quotes the engine
            finally:
                cancel()

        return wait


class Dask:
    """A client of Dask: partitions, parameters and sums are tasks, which the scheduler computes again where they are lost."""

    def __init__(self, client: Any) -> None:
        self.client, self.dask = client, importlib.import_module("dask")

    @property
    def workers(self) -> int:
        """The number of threads of all workers."""
        return sum(self.client.nthreads().values())

    def kept(self, partitions: Sequence[object]) -> list[Any]:
        """The partitions as futures that the scheduler can compute again."""
        tasks: list[Any] = [each if is_of_dask(each) else self._constant(each, "partition") for each in partitions]
        futures = [self.client.compute(each) if hasattr(each, "dask") else each for each in tasks]
        lost = self.client.run_on_scheduler(_scattered, keys=[each.key for each in futures])
        if lost:
            warn(
                f"{lost} of {len(futures)} partitions were scattered: Dask cannot compute them again when their worker is "
                "lost, as it can delayed values and what functions load"
            )
        return futures

    def _constant(self, value: object, name: str) -> Any:
        """A value as a task, which has an origin, where scattered data has none."""
        made = self.dask.delayed(functools.partial(_same, value), pure=False, traverse=False)
        return made(dask_key_name=f"{name}-{uuid.uuid4().hex}")

    def start(self, work: Work) -> Callable[[], Any]:
        """Begin, and return the function that waits for the results."""
        token, name = uuid.uuid4().hex, re.sub(r"\W", "", work.name)
        first = [self._constant(work.shipped, f"{name}_function"), self._constant(work.given, f"{name}_parameters")]
        task, add = (self.dask.delayed(function, pure=False, traverse=False) for function in (computed, added))
        level = [
            task(*first, work.summed, work.total, *each, dask_key_name=f"{name}-{token}-{each[1]}")
            for each in work.partitions
        ]
        while work.summed and len(level) > 1:
            groups = [level[i : i + FAN] for i in range(0, len(level), FAN)]
            level = [add(*each, dask_key_name=f"{name}_sum-{token}-{len(groups)}-{i}") for i, each in enumerate(groups)]
        with self.dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):  # of parameters
            futures = self.client.compute(level, optimize_graph=False)

        def wait() -> Gathered:
            try:
                found = self.client.gather(futures)
            except BaseException as error:  # noqa: BLE001  # also when interrupted
                if self.client.status == "running":
                    self.client.cancel(futures, force=True)
                raise self._told(error, work.total) from None
            return found[0] if work.summed else found

        vars(wait)["future"] = futures[0] if work.summed else futures
        return wait

    def _told(self, error: BaseException, total: int) -> BaseException:
        """An error of Dask in words of partitions, where it is one of workers and data that are lost."""
        number, kind = None, type(error).__name__
        if kind == "PartitionError":
            return PartitionError(*error.args)  # without the worker's traceback
        if kind == "KilledWorker":
            found = re.search(r"-[0-9a-f]{32}-(\d+)$", str(getattr(error, "task", "")))
            number = int(found[1]) if found else None
            what = (
                f"partition {number} of {total}: the workers that computed it died, one after another: it, or one "
                "computed beside it, is too large for their memory, or its code ends the process"
            )
        elif self.client.status != "running" or isinstance(error, OSError):
            what = "the connection to Dask's scheduler is lost: make a new client, and the sum again"
        elif kind in {"CancelledError", "FutureCancelledError"}:
            what = f"some of {total} partitions were cancelled, or were scattered and are lost with their worker: "
            what += "make the sum again, with functions that load them, which Dask can call again"
        else:
            return error
        return PartitionError(what, number, total)


def _same(value: T) -> T:
    return value


async def _scattered(keys: Sequence[str], dask_scheduler: Any) -> int:
    """How many of the keys stand for data, or depend on data, that the scheduler cannot compute."""
    for _ in range(500):  # they reach it by another way than this question
        if all(key in dask_scheduler.tasks for key in keys):
            break
        await asyncio.sleep(0.01)
    tasks = [dask_scheduler.tasks[key] for key in keys if key in dask_scheduler.tasks]
    return sum(any(part.run_spec is None for part in (task, *task.dependencies)) for task in tasks)
