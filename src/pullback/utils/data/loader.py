"""DataLoader: batches of a data set, loaded in this process or by worker processes."""

from __future__ import annotations

import itertools
import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.context import BaseContext
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from ..._core.sites import warn
from ..._numerics.random import source
from .collating import default_collate, default_convert
from .datasets import IterableDataset, Samples
from .fetching import COLLATING, PLACE, Collate, ExhaustedError, Fetcher, doing
from .pool import Member, Pool
from .samplers import BatchSampler, RandomSampler, Sampler, SequentialSampler
from .working import Ended, Failure, Job

if TYPE_CHECKING:
    from ..._core.typing import Generator

Sample_co = TypeVar("Sample_co", covariant=True)

_FIXED = {"batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"}


class _Endless(Sampler[None]):
    """The sampler of a stream, which has no indices: an endless sequence of None."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class DataLoader(Generic[Sample_co]):
    """An iterable over the batches of a data set, which starts anew at each iteration.

    `batch_size` samples form a batch (None for single samples); with `drop_last` an incomplete last batch is left out.
    The order is that of the data set, random with `shuffle`, or that of a `sampler` (indices) or a `batch_sampler`
    (lists of indices). `collate_fn` converts a list of samples to a batch.

    With `num_workers`, that many processes load batches, each up to `prefetch_factor` batches ahead; the order of the
    batches is unchanged (with `in_order=False`, they come as they are ready). An exception in a worker is raised here
    with its traceback and sample; errors are also raised if a worker ends, or if a batch takes longer than `timeout`
    seconds. `worker_init_fn(id)` is called in each worker; `persistent_workers` keeps them for the next iteration.
    `multiprocessing_context` sets the start method; unless it is 'fork', all arguments must be picklable, and a script
    must create the loader under `if __name__ == "__main__":`.

    The random order and the workers' seeds come from `generator`, by default the thread's: the order depends only on
    the seed, not on the number of workers. `pin_memory` and `pin_memory_device` have no effect on CPUs, and warn as in
    torch.

    Raises
    ------
    ValueError
        If arguments are out of range or mutually exclusive.
    TypeError
        If `multiprocessing_context` is not a context or the name of a start method.
    RuntimeError
        If a worker ends or takes too long.

    >>> import pullback
    >>> from pullback.utils.data import DataLoader, TensorDataset
    >>> data = TensorDataset(pullback.arange(5), pullback.arange(5) ** 2)
    >>> for x, y in DataLoader(data, batch_size=2):
    ...     print(x, y)
    tensor([0, 1]) tensor([0, 1])
    tensor([2, 3]) tensor([4, 9])
    tensor([4]) tensor([16])
    """

    _initialized = False
    _IterableDataset_len_called: int | None = None
    _pool: Pool | None = None

    def __init__(
        self,
        dataset: Samples[Sample_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[object] | None = None,
        batch_sampler: Iterable[object] | None = None,
        num_workers: int = 0,
        collate_fn: Collate | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], object] | None = None,
        multiprocessing_context: BaseContext | str | None = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset: Any = dataset  # of any length, or none
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self._context = None if multiprocessing_context is None else _context(multiprocessing_context, num_workers)
        self.in_order = in_order
        self.generator = generator
        self._dataset_kind = int(isinstance(dataset, IterableDataset))  # 1 for a stream
        if self._dataset_kind:
            _check_stream(shuffle, sampler, batch_sampler)
        _check_order(batch_size, shuffle, sampler, batch_sampler, drop_last)
        if sampler is None:
            sampler = self._order(bool(shuffle))
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self.persistent_workers = persistent_workers
        self._initialized = True
        _warn_of_workers(num_workers)

    def _order(self, shuffle: bool) -> Sampler[int] | Sampler[None]:
        """The default sampler of a loader."""
        if self._dataset_kind:
            return _Endless()
        return RandomSampler(self.dataset, generator=self.generator) if shuffle else SequentialSampler(self.dataset)

    @property
    def multiprocessing_context(self) -> BaseContext | None:
        """The context of `multiprocessing` that starts the workers; None for the system's default."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: BaseContext | str | None) -> None:
        self._context = None if context is None else _context(context, self.num_workers)

    def __setattr__(self, name: str, value: object) -> None:
        if self._initialized and name in _FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    def __iter__(self) -> Iterator[Any]:
        if self.pin_memory:
            _warn_of_pinning(self.pin_memory_device)
        return FromWorkers(self) if self.num_workers > 0 else Here(self)

    def __len__(self) -> int:
        if not self._dataset_kind:
            return len(self._index_sampler)
        length = len(self.dataset)
        if self.batch_size is not None:
            length = length // self.batch_size if self.drop_last else -(-length // self.batch_size)
        self._IterableDataset_len_called = length
        return length

    @property
    def _auto_collation(self) -> bool:
        """True if samples are put together to batches."""
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        """The order of what is loaded: of batches, or of single samples."""
        return self.sampler if self.batch_sampler is None else self.batch_sampler


class Pass:
    """A pass through the data of a loader, which may be any object with the attributes that are read here."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._dataset, self._dataset_kind = loader.dataset, loader._dataset_kind
        self._auto_collation, self._drop_last = loader._auto_collation, loader.drop_last
        self._collate_fn, self._num_workers, self._timeout = loader.collate_fn, loader.num_workers, loader.timeout
        # Drawn with and without workers, so that the order does not depend on their number.
        self._base_seed = int(source(loader.generator).integers(2**63 - 1))
        self._index_sampler = loader._index_sampler
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0

    def __iter__(self) -> Self:
        return self

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __next__(self) -> Any:
        batch = self._next_data()
        self._num_yielded += 1
        length = self._loader._IterableDataset_len_called
        if length is not None and self._num_yielded > length:
            reason = (
                "For multiprocessing data-loading, this could be caused by not properly configuring the IterableDataset "
                "replica at each worker: each must yield its own part, see get_worker_info"
            )
            warn(
                f"Length of IterableDataset {self._dataset!r} was reported to be {length}(when accessing "
                f"len(dataloader)), but {self._num_yielded} samples have been fetched. "
                f"{reason if self._num_workers else ''}"
            )
        return batch

    def _next_index(self) -> object:
        """The indices of the next batch, or the index of the next sample."""
        return next(self._sampler_iter)

    def _next_data(self) -> Any:
        raise NotImplementedError

    def _job(self) -> Job:
        fetched = self._dataset, bool(self._dataset_kind), self._auto_collation, self._collate_fn, self._drop_last
        return Job(*fetched, self._num_workers, self._base_seed, self._loader.worker_init_fn)


class Here(Pass):
    """A pass whose batches are loaded in this process, on request."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        if self._timeout != 0:
            raise AssertionError(
                "_SingleProcessDataLoaderIter requires timeout == 0: without workers, nothing can be waited for"
            )
        self._fetcher: Fetcher = self._job().fetcher()

    def _next_data(self) -> Any:
        indices = self._next_index()
        record = [0, COLLATING, 0]
        try:
            return self._fetcher.fetch(indices, record)
        except ExhaustedError:
            raise StopIteration from None
        except Exception as error:
            what = doing(record[PLACE], indices, self._dataset, bool(self._dataset_kind))
            if isinstance(error, StopIteration):
                raise RuntimeError(f"the data set raised StopIteration while {what}") from error
            error.add_note(f"DataLoader was {what}")
            raise


class FromWorkers(Pass):
    """A pass whose batches are loaded by workers, ahead of time."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        self._ahead: int = loader.prefetch_factor
        self._pool = self._workers()
        self._epoch = self._pool.begin()
        self._turns = itertools.cycle(self._pool.members)
        self._asked: deque[Member] = deque()
        self._more = True
        for _ in range(self._ahead * self._num_workers):
            self._ask()

    def _workers(self) -> Pool:
        """New workers, unless those of the loader's last pass persist."""
        kept: Pool | None = getattr(self._loader, "_pool", None)
        if kept is not None and kept.stop.alive:
            return kept
        context = getattr(self._loader, "multiprocessing_context", None) or multiprocessing.get_context()
        pool = Pool(context, self._job(), self._timeout)
        if self._loader.persistent_workers:
            self._loader._pool = pool
        return pool

    def _ask(self) -> None:
        """Request one more batch from the next worker whose queue is not full."""
        turns = itertools.islice(self._turns, self._num_workers)
        member = next((each for each in turns if not each.ended and self._asked.count(each) < self._ahead), None)
        if member is None or not self._more:
            return
        try:
            indices = self._next_index()
        except StopIteration:
            self._more = False
            return
        self._pool.ask(member, indices)
        self._asked.append(member)

    def _next_data(self) -> Any:
        if self._pool.epoch != self._epoch:
            raise RuntimeError("this iterator has ended: its DataLoader keeps its workers, and began another iteration")
        while self._asked:
            if not self._pool.stop.alive:
                raise RuntimeError("this iterator has ended: the workers of its DataLoader have been stopped")
            waiting = [self._asked[0]] if self._loader.in_order else list(dict.fromkeys(self._asked))
            member, _, answer = self._pool.listen(waiting)
            self._asked.remove(member)
            member.ended |= isinstance(answer, Ended)
            self._ask()
            if isinstance(answer, Failure):
                raise answer.raised()
            if not isinstance(answer, Ended):
                return answer
        if not self._loader.persistent_workers:
            self._pool.stop()
        raise StopIteration


def _check_workers(num_workers: int, timeout: float, prefetch_factor: int | None, persistent: bool) -> None:
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing. "
            f"It is {num_workers}"
        )
    if timeout < 0:
        raise ValueError(f"timeout option should be non-negative: it is {timeout}")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError(f"prefetch_factor option should be non-negative: it is {prefetch_factor}")
    if prefetch_factor == 0:
        raise AssertionError("prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter")
    if persistent and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_stream(
    shuffle: bool | None, sampler: Iterable[object] | None, batch_sampler: Iterable[object] | None
) -> None:
    """Refuse options that specify the order of a stream's samples."""
    given = {
        "shuffle": shuffle if shuffle not in {None, False} else None,
        "sampler": sampler,
        "batch_sampler": batch_sampler,
    }
    for option, value in given.items():
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {option} option, but got {option}={value}"
            )


def _check_order(
    batch_size: int | None,
    shuffle: bool | None,
    sampler: Iterable[object] | None,
    batch_sampler: Iterable[object] | None,
    drop_last: bool,
) -> None:
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
    if batch_sampler is None and batch_size is None and drop_last:
        raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")


def _context(context: BaseContext | str, num_workers: int) -> BaseContext:
    """A context of multiprocessing from the user's argument."""
    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
            f"num_workers={num_workers}"
        )
    if isinstance(context, str):
        methods = multiprocessing.get_all_start_methods()
        if context not in methods:
            raise ValueError(
                f"multiprocessing_context option should specify a valid start method in {methods!r}, but got "
                f"multiprocessing_context={context!r}"
            )
        return multiprocessing.get_context(context)
    if not isinstance(context, BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string specifying the start method, but "
            f"got multiprocessing_context={context}"
        )
    return context


def _warn_of_workers(num_workers: int) -> None:
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if cpus is not None and num_workers > cpus:
        warn(
            f"This DataLoader will create {num_workers} worker processes in total. Our suggested max number of worker in "
            f"current system is {cpus}, which is smaller than what this DataLoader is going to create. Please be aware "
            "that excessive worker creation might get DataLoader running slow or even freeze, lower the worker number to "
            "avoid potential slowness/freeze if necessary."
        )


def _warn_of_pinning(device: str) -> None:
    if device:
        warn(
            "pin_memory_device is deprecated, the current accelerator will be used as the device,ignore "
            f"pin_memory_device={device!r}."
        )
    warn("'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used.")
