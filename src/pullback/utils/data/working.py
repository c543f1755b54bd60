"""The workers' side of a loader: processes that load batches and send them, or descriptions of errors.

A batch is pickled once. The memory of its larger arrays is sent separately, and received directly into its final
memory. A thread does the sending, so that the next batch is loaded meanwhile.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import pickle
import queue
import random
import signal
import threading
import traceback
from array import array
from collections.abc import Callable, MutableSequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..._core.primitives import Carrier
from ..._numerics.blocks import set_num_threads
from ..._numerics.random import manual_seed
from .collating import default_collate
from .fetching import PLACE, STARTING, STOP, TASK, Collate, ExhaustedError, Fetcher, StoppedError, doing

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from types import NotImplementedType

Piece = bytes | memoryview
_SENT_APART = 1 << 14  # bytes above which an array's memory is sent separately
_LOOK_AROUND = 5.0  # seconds after which a waiting worker checks that its parent is alive


@dataclass(frozen=True)
class WorkerInfo:
    """A `DataLoader` worker's own data: `id` of `num_workers`, its `seed`, and its copy of the `dataset`.

    >>> from pullback.utils.data import WorkerInfo
    >>> WorkerInfo(0, 2, 5, range(3))
    WorkerInfo(id=0, num_workers=2, seed=5, dataset=range(0, 3))
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


_infos: list[WorkerInfo] = []


def get_worker_info() -> WorkerInfo | None:
    """The `WorkerInfo` of the calling worker of a `DataLoader`; None outside workers.

    >>> from pullback.utils.data import get_worker_info
    >>> get_worker_info() is None
    True
    """
    return _infos[-1] if _infos else None


@dataclass
class Job:
    """The data passed to all workers of a loader."""

    dataset: Any
    stream: bool
    batched: bool
    collate: Collate
    drop_last: bool
    num_workers: int
    seed: int
    init: Callable[[int], object] | None

    def fetcher(self) -> Fetcher:
        """A fetcher at the start of the data set."""
        return Fetcher(self.dataset, self.stream, self.batched, self.collate, self.drop_last)


class Request(NamedTuple):
    """A request for a batch: its number, the number of the pass through the data, and the samples' indices."""

    task: int
    epoch: int
    indices: object


class Ended(NamedTuple):
    """The answer of a worker whose stream has ended."""


class _KeyErrorText(str):
    """A string that KeyError displays without quotes and escapes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Failure(NamedTuple):
    """An exception of a worker, with its traceback as text; the loader raises it again."""

    kind: type[Exception]
    text: str

    @classmethod
    def of(cls, error: Exception, worker: int, what: str) -> Failure:
        """The failure of a worker; `what` describes what it was doing."""
        text = (
            f"Caught {type(error).__name__} in DataLoader worker process {worker}. It was {what}.\n"
            f"Original {''.join(traceback.format_exception(error))}"
        )
        return cls(_sendable(type(error)), text)

    def raised(self) -> Exception:
        """The exception, of its original type if that can be created from a message."""
        try:
            return self.kind(_KeyErrorText(self.text) if issubclass(self.kind, KeyError) else self.text)
        except Exception:  # noqa: BLE001  # constructors with other parameters may raise anything
            return RuntimeError(self.text)


def _sendable(kind: type[Exception]) -> type[Exception]:
    """An exception type that can be unpickled elsewhere; not StopIteration, which would end a loop silently."""
    try:
        pickle.dumps(kind)
    except Exception:  # noqa: BLE001  # pickling can fail in many ways
        return RuntimeError
    return RuntimeError if issubclass(kind, (StopIteration, StopAsyncIteration)) else kind


class _Pickler(pickle.Pickler):
    """A pickler of batches that refuses tensors with a history, which would be lost."""

    def reducer_override(self, value: object) -> NotImplementedType:
        if isinstance(value, Carrier) and not value.is_leaf:
            raise RuntimeError(
                "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
                "crossing process boundaries: call detach() on what the data set or collate_fn returns"
            )
        return NotImplemented


def packed(answer: object, fresh: bool) -> list[Piece]:
    """The memory blocks to send for an answer; unless it is `fresh`, its arrays may still be written by others."""
    apart: list[Piece] = []

    def keep_in_line(buffer: pickle.PickleBuffer) -> bool:
        memory = buffer.raw()
        if memory.nbytes < _SENT_APART:
            return True
        apart.append(memory if fresh else bytes(memory))
        return False

    body = io.BytesIO()
    _Pickler(body, 5, buffer_callback=keep_in_line).dump(answer)
    return [body.getbuffer(), *apart]


def send(answers: Connection, pieces: list[Piece]) -> None:
    """Send the blocks of an answer, after their sizes."""
    answers.send_bytes(array("q", [len(piece) for piece in pieces]).tobytes())
    for piece in pieces:
        answers.send_bytes(piece)


def receive(answers: Connection) -> Any:
    """The next answer from a connection."""
    sizes = array("q")
    sizes.frombytes(answers.recv_bytes())
    pieces = [np.empty(size, np.uint8).data for size in sizes]
    for piece in pieces:
        answers.recv_bytes_into(piece)
    return pickle.loads(pieces[0], buffers=pieces[1:])  # noqa: S301  # from our own process


def _sends(answers: Connection, box: queue.SimpleQueue[list[Piece]]) -> None:
    """The sending thread of a worker: it sends the answers in a queue."""
    try:
        while True:
            send(answers, box.get())
    except OSError:
        return  # the loader has closed the connection


def _seed(seed: int) -> None:
    """Seed all random number generators of this process."""
    manual_seed(seed)
    random.seed(seed)
    np.random.seed(np.random.SeedSequence(seed).generate_state(4))  # noqa: NPY002  # the generator that data sets use


def _next_request(requests: Connection, stop: Connection, parent: int) -> Request | None:
    """The next request; None if the loader stops its workers, or has ended."""
    loader = multiprocessing.parent_process()
    ends: list[Connection | int] = [stop, *([loader.sentinel] if loader else [])]
    while True:
        ready = multiprocessing.connection.wait([requests, *ends], _LOOK_AROUND)
        if any(end in ready for end in ends) or os.getppid() != parent:
            return None
        if ready:
            try:
                request: Request = requests.recv()
            except EOFError:
                return None
            return request


class _Worker:
    """A worker, in its own process."""

    def __init__(self, job: Job, number: int, record: MutableSequence[int]) -> None:
        self.job, self.number, self.record = job, number, record
        self.epoch = -1
        self.fetcher: Fetcher | None = None
        self.problem: Failure | None = None

    def start(self) -> None:
        """Seed the process and call the user's `worker_init_fn`."""
        job = self.job
        _infos.append(WorkerInfo(self.number, job.num_workers, job.seed + self.number, job.dataset))
        _seed(job.seed + self.number)
        if job.init is not None:
            try:
                job.init(self.number)
            except Exception as error:  # noqa: BLE001  # raised again by the loader
                self.problem = Failure.of(error, self.number, "running worker_init_fn")

    def answer(self, request: Request) -> object:
        """The batch for a request, the end of the stream, or a failure."""
        if self.problem is not None:
            return self.problem
        self.record[TASK], self.record[PLACE] = request.task, STARTING
        try:
            if self.fetcher is None or (self.epoch != request.epoch and self.job.stream):
                self.fetcher = self.job.fetcher()
            self.epoch = request.epoch
            return self.fetcher.fetch(request.indices, self.record)
        except ExhaustedError:
            return Ended()
        except StoppedError:
            raise
        except Exception as error:  # noqa: BLE001  # raised again by the loader
            return self.failure(error, request)

    def failure(self, error: Exception, request: Request) -> Failure:
        """The failure for an exception, with what this worker is doing."""
        what = doing(self.record[PLACE], request.indices, self.job.dataset, self.job.stream)
        return Failure.of(error, self.number, what)

    def pieces(self, request: Request) -> list[Piece]:
        """The answer to a request, as blocks to send."""
        answer = self.answer(request)
        try:
            return packed((request.task, answer), fresh=self.job.collate is default_collate)
        except Exception as error:  # noqa: BLE001  # a batch that cannot be pickled
            return packed((request.task, self.failure(error, request)), fresh=True)


def work(
    job: Job, number: int, record: MutableSequence[int], requests: Connection, stop: Connection, answers: Connection
) -> None:
    """The main function of a worker process."""
    parent = os.getppid()
    # Ctrl-C reaches the whole process group: the loader's process handles it, and stops its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    set_num_threads(1)
    box: queue.SimpleQueue[list[Piece]] = queue.SimpleQueue()
    threading.Thread(target=_sends, args=(answers, box), daemon=True).start()
    worker = _Worker(job, number, record)
    worker.start()
    try:
        while not record[STOP] and (request := _next_request(requests, stop, parent)) is not None:
            box.put(worker.pieces(request))
    except StoppedError:
        return
