"""Ranks: the processes that mpiexec has started together, and what all of them do at once. mpi4py carries the data.

Before each such call the ranks tell each other what they are about to do, and all raise an exception if they differ. The
end of a program counts as a call, so that nobody waits for a rank that has ended.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import itertools
import multiprocessing
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .. import Tensor, from_numpy, get_machine_code, set_machine_code
from ..utils.trees import flatten, unflatten
from .launching import launched

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from .._core.typing import Array, Number

T = TypeVar("T")

OPERATIONS = {
    "sum": np.add, "mean": np.add, "product": np.multiply, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
    "or": np.bitwise_or, "exclusive or": np.bitwise_xor,
}  # fmt: skip
"""How the values of two ranks are put together; a mean is divided by the number of ranks afterwards."""
_KINDS = {"sum": "iufc", "mean": "fc", "product": "iufc", "min": "biuf", "max": "biuf"}
_KINDS.update(dict.fromkeys(("and", "or", "exclusive or"), "biu"))
_ENDED = ("the end of its program",)


PATIENCE = 5.0
"""The seconds for which a rank lets another one report what all have found, and end the job."""


class DisagreementError(RuntimeError):
    """What all ranks raise when they do not do the same; `patience` says for how long others report it."""

    def __init__(self, text: str, patience: float) -> None:
        super().__init__(text)
        self.patience = patience


class Alone:
    """A communicator of this process alone, with the methods of mpi4py's that one process needs."""

    rank, size = 0, 1

    def allgather(self, value: T) -> list[T]:
        """The values of all ranks."""
        return [value]

    def Split(self, color: int, key: int) -> Alone:  # noqa: N802  # mpi4py's name
        """A communicator of the ranks that give the same color."""
        return self


class Ranks:
    """The processes of a communicator, and what they do together.

    >>> from pullback.distributed.ranks import world
    >>> world().rank, world().size, world().told("this", "say something")
    (0, 1, ['this'])
    """

    def __init__(self, comm: Any) -> None:
        self.comm, self.rank, self.size = comm, comm.rank, comm.size
        self.ended: set[int] = set()

    def told(self, value: T, *call: str) -> list[T]:
        """The values of all ranks, which also say what they are doing: DisagreementError in all of them if that differs."""
        calls, values = zip(*self.comm.allgather((call, value)), strict=True)
        other = next((rank for rank in range(self.size) if calls[rank] != call), None)
        if other is None:
            return list(values)
        pairs = itertools.zip_longest(call, calls[other], fillvalue="nothing")
        mine, others = next(pair for pair in pairs if pair[0] != pair[1])
        name = "" if mine == call[0] else f" in {call[0]}"
        first = next(rank for rank in range(self.size) if calls[rank] != _ENDED)
        raise DisagreementError(
            f"the ranks do not do the same{name}: {mine} in rank {self.rank} of {self.size}, {others} in rank {other}",
            0 if self.rank == first else PATIENCE,
        )

    def reduced(self, arrays: Sequence[Array], operation: str, name: str) -> list[Array]:
        """The arrays of all ranks, put together element by element, in the order of the ranks: all get the same bits."""
        if operation not in OPERATIONS:
            raise ValueError(f"{name}: the operations are {', '.join(OPERATIONS)}, not {operation!r}")
        for array in arrays:
            if array.dtype.kind not in _KINDS[operation]:
                raise TypeError(f"{name}: there is no {operation} over ranks of {array.dtype} numbers")
        self.told(None, f"{name} ({operation})", *map(described, arrays))
        results: dict[int, Array] = {}
        for kind in dict.fromkeys(array.dtype for array in arrays):
            places = [place for place, array in enumerate(arrays) if array.dtype == kind]
            rest = self._together(np.concatenate([arrays[place].ravel() for place in places]), operation)
            for place in places:
                part, rest = np.split(rest, [arrays[place].size])
                results[place] = part.reshape(arrays[place].shape)
        return [results[place] for place in range(len(arrays))]

    def _together(self, flat: Array, operation: str) -> Array:
        """Each rank puts one part of the vectors of all together, then all get all parts."""
        if self.size == 1:
            return flat
        parts = np.empty((self.size, -(-flat.size // self.size)), flat.dtype)
        whole = np.concatenate([flat, np.zeros(parts.size - flat.size, flat.dtype)])
        self.comm.Alltoall(_bytes(whole), _bytes(parts))
        part = functools.reduce(OPERATIONS[operation], parts)
        self.comm.Allgather(_bytes(part / part.dtype.type(self.size) if operation == "mean" else part), _bytes(whole))
        return whole[: flat.size]

    def sent(self, value: object, target: int, tag: int) -> None:
        """Send a value to another rank, which calls `received`."""
        if target == self.rank:
            raise ValueError("send: destination rank should not be the same as the rank of the current process")
        request = self.comm.isend(value, target, tag)
        self._until(lambda: request.test()[0], "send", [target])

    def received(self, source: int | None, tag: int) -> tuple[Any, int]:
        """A value that another rank sends, and its rank."""
        if source == self.rank or self.size == 1:
            raise ValueError("recv: source rank should not be the same as the rank of the current process")
        mpi = importlib.import_module("mpi4py.MPI")
        place, status = mpi.ANY_SOURCE if source is None else source, mpi.Status()
        senders = [source] if source is not None else [rank for rank in range(self.size) if rank != self.rank]
        message = self._until(lambda: self.comm.improbe(place, tag, status), "recv", senders)
        return message.recv(), status.Get_source()

    def _until(self, done: Callable[[], T | None], name: str, others: list[int]) -> T:
        """What `done` returns as soon as it is true: DisagreementError if the programs of all others have ended before."""
        everywhere = self.comm.group.Translate_ranks(others, world().comm.group)
        polls = 0
        while True:
            ended = world().have_ended(everywhere)  # asked first: what a rank has sent before its end has come then
            if found := done():
                return found
            if ended:
                pair = f"{name} in rank {self.rank} of {self.size}, {_ENDED[0]} in rank {others[0]}"
                raise DisagreementError(f"the ranks do not do the same: {pair}", 0)
            time.sleep(min(polls * 1e-6, 1e-3))
            polls += 1

    def have_ended(self, ranks: Sequence[int]) -> bool:
        """True if the programs of all these ranks have told their end."""
        while (message := self.ends.improbe()) is not None:
            self.ended.add(message.recv())
        return self.ended.issuperset(ranks)

    def group(self, members: Sequence[int]) -> Ranks:
        """Those of the members, if this rank is one; called by all ranks."""
        self.told(None, "new_group", str(members))
        return Ranks(self.comm.Split(int(self.rank in members), self.rank))

    def end_together(self) -> None:
        """From now on, end the job when an exception ends this rank, and let no other rank wait for this one after it."""
        before, self.ends = sys.excepthook, self.comm.Dup()

        def failed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
            time.sleep(error.patience if isinstance(error, DisagreementError) else 0)
            before(kind, error, trace)
            sys.stdout.flush()
            sys.stderr.write(f"rank {self.rank} of {self.size} has failed ({kind.__name__}), so the job ends\n")
            sys.stderr.flush()
            self.comm.Abort(1)

        def ended() -> None:
            others = [rank for rank in range(self.size) if rank != self.rank]
            told = [self.ends.isend(self.rank, rank) for rank in others]  # to those that wait for a message of this one
            while any(call != _ENDED for call, _ in self.comm.allgather((_ENDED, None))):
                pass
            while not self.have_ended(others):
                pass
            for request in told:
                request.wait()

        sys.excepthook = failed
        atexit.register(ended)


def described(array: Array) -> str:
    """The dtype and the shape of an array, which ranks compare."""
    return f"{array.dtype} {array.shape}"


def _bytes(array: Array) -> Array:
    return array.ravel().view(np.uint8)


@functools.cache
def world() -> Ranks:
    """All processes that mpiexec has started together; this one alone, if none has started it.

    Where there are several, eager operations are left to NumPy from now on, if the mode of `set_machine_code` is "auto",
    so that they compute the same bits.

    Raises
    ------
    RuntimeError
        If mpi4py is missing, or belongs to another MPI than the launcher; and in a process that a rank has started.
    """
    launch = launched()
    if launch is None and "mpi4py.MPI" not in sys.modules:
        return Ranks(Alone())
    if multiprocessing.parent_process() is not None:
        raise RuntimeError("this process is not a rank: a rank started it, and mpiexec started the rank")
    try:
        mpi = importlib.import_module("mpi4py.MPI")
    except (ImportError, RuntimeError) as error:
        raise RuntimeError(f"mpi4py does not work here ({error}): pip install 'pullback[mpi]'") from error
    ranks = Ranks(mpi.COMM_WORLD.Dup())
    if launch is not None and launch.size != ranks.size:
        raise RuntimeError(
            f"{launch.size} processes were started, but mpi4py sees {ranks.size}: it belongs to another MPI than mpiexec"
        )
    if ranks.size > 1:
        if get_machine_code() == "auto":
            set_machine_code("never")
        ranks.end_together()
    return ranks


def all_reduce(tree: T, operation: str = "sum", *, comm: Any = None) -> T:
    """The sum, or another combination, of tensors and arrays over all ranks: the processes that mpiexec has started.

    All ranks get the same bits: each element is put together in the order of the ranks. Only what is added up is sent,
    each rank adding up one part. Without mpiexec there is one rank, and mpi4py is not needed.

    Parameters
    ----------
    tree
        Tensors, arrays and numbers, nested in dicts, lists, tuples and dataclasses, with the same shapes in all ranks;
        None stays None.
    operation
        "sum", "mean", "product", "min" or "max".
    comm
        A communicator of mpi4py; by default all processes.

    Raises
    ------
    RuntimeError
        If a tensor requires grad, since there is no derivative; or, in all ranks, if they do not do the same.

    >>> import pullback
    >>> from pullback.distributed import all_reduce
    >>> w = pullback.tensor([1.0, 2.0], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> w.grad = all_reduce(w.grad, "mean")
    >>> w.grad
    tensor([2., 4.])
    """
    leaves, structure = flatten(tree)
    if any(isinstance(leaf, Tensor) and leaf.requires_grad for leaf in leaves):
        raise RuntimeError("all_reduce has no derivative: reduce gradients, or give it tensor.detach()")
    places = [place for place, leaf in enumerate(leaves) if leaf is not None]
    ranks = world() if comm is None else Ranks(comm)
    for place, array in zip(
        places, ranks.reduced([_array(leaves[p]) for p in places], operation, "all_reduce"), strict=True
    ):
        kind = type(leaves[place])
        leaves[place] = array if kind is np.ndarray else from_numpy(array) if issubclass(kind, Tensor) else array.item()
    return unflatten(structure, leaves)


def _array(leaf: Tensor | Array | Number) -> Array:
    return leaf.numpy() if isinstance(leaf, Tensor) else np.asarray(leaf)
