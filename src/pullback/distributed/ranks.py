"""Ranks: the processes that mpiexec has started together, and what all of them do at once. mpi4py carries the data.

Before each such call the ranks tell each other what they are about to do, and all raise an exception if they differ. The
end of a program counts as a call, so that nobody waits for a rank that has ended.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import itertools
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._core import machine
from .._core.primitives import Carrier
from .._core.trees import flatten, unflatten
from .._tensor.creation import from_numpy
from .launching import launched

OPERATIONS = {"sum": np.add, "mean": np.add, "product": np.multiply, "min": np.minimum, "max": np.maximum}
"""How the values of two ranks are put together; a mean is divided by the number of ranks afterwards."""
_KINDS = {"sum": "iufc", "mean": "fc", "product": "iufc", "min": "biuf", "max": "biuf"}
_ENDED = ("the end of its program",)


class Alone:
    """A communicator of this process alone, with the methods of mpi4py's that are used here."""

    rank, size = 0, 1

    def allgather(self, value: Any) -> list[Any]:
        """The values of all ranks."""
        return [value]

    def gather(self, value: Any, root: int) -> list[Any] | None:
        """The values of all ranks, in rank `root`."""
        return [value]

    def bcast(self, value: Any, root: int) -> Any:
        """The value of rank `root`."""
        return value

    def scatter(self, values: Any, root: int) -> Any:
        """This rank's of the values that rank `root` has."""
        return values[0]

    def Split(self, color: int, key: int) -> Alone:  # noqa: N802  # mpi4py's name
        """A communicator of the ranks that give the same color."""
        return self

    def Alltoall(self, sent: Any, received: Any) -> None:  # noqa: N802
        """A part of each rank's array for each rank."""
        received[:] = sent

    Allgather = Alltoall


class Ranks:
    """The processes of a communicator, and what they do together.

    >>> from pullback.distributed.ranks import world
    >>> world().rank, world().size, world().gathered("here", "all_gather")
    (0, 1, ['here'])
    """

    def __init__(self, comm: Any) -> None:
        self.comm, self.rank, self.size = comm, comm.rank, comm.size

    def agree(self, *call: str) -> None:
        """Have all ranks say what they are about to do: a name, and more words; RuntimeError in all if they differ."""
        calls = self.comm.allgather(call)
        other = next((rank for rank in range(self.size) if calls[rank] != call), None)
        if other is not None:
            pairs = itertools.zip_longest(call, calls[other], fillvalue="nothing")
            mine, others = next(pair for pair in pairs if pair[0] != pair[1])
            name = "" if mine == call[0] else f" in {call[0]}"
            raise RuntimeError(
                f"the ranks do not do the same{name}: {mine} in rank {self.rank} of {self.size}, {others} in rank {other}"
            )

    def reduced(self, arrays: Sequence[Any], operation: str, name: str) -> list[Any]:
        """The arrays of all ranks, put together element by element, in the order of the ranks: all get the same bits."""
        if operation not in OPERATIONS:
            raise ValueError(f"{name}: the operations are {', '.join(OPERATIONS)}, not {operation!r}")
        for array in arrays:
            if array.dtype.kind not in _KINDS[operation]:
                raise TypeError(f"{name}: there is no {operation} over ranks of {array.dtype} numbers")
        self.agree(f"{name} ({operation})", *map(described, arrays))
        results = [*arrays]
        for kind in dict.fromkeys(array.dtype for array in arrays):
            places = [place for place, array in enumerate(arrays) if array.dtype == kind]
            whole = self._together(np.concatenate([arrays[place].ravel() for place in places]), operation)
            for place, part in zip(
                places, np.split(whole, np.cumsum([arrays[p].size for p in places])[:-1]), strict=True
            ):
                results[place] = part.reshape(arrays[place].shape)
        return results

    def _together(self, flat: Any, operation: str) -> Any:
        """Each rank puts one part of the vectors of all together, then all get all parts."""
        parts = np.zeros((self.size, -(-flat.size // self.size)), flat.dtype)
        sent = parts.copy()
        sent.reshape(-1)[: flat.size] = flat
        self.comm.Alltoall(_bytes(sent), _bytes(parts))
        part = functools.reduce(OPERATIONS[operation], parts)
        part = part / part.dtype.type(self.size) if operation == "mean" else part
        self.comm.Allgather(_bytes(part), _bytes(sent))
        return sent.reshape(-1)[: flat.size]

    def broadcast(self, value: Any, source: int, name: str) -> Any:
        """The value that one rank has."""
        self.agree(name, f"from rank {source}", described(value))
        return self.comm.bcast(value, source)

    def gathered(self, value: Any, name: str, target: int | None = None) -> Any:
        """The values of all ranks in a list: in all ranks, or in one, None in the others."""
        self.agree(name, f"to rank {target}", described(value))
        return self.comm.allgather(value) if target is None else self.comm.gather(value, target)

    def scattered(self, values: Any, source: int, name: str) -> Any:
        """This rank's of the values that one rank has."""
        self.agree(name, f"from rank {source}")
        return self.comm.scatter(values, source)

    def sent(self, value: Any, target: int, tag: int) -> None:
        """Send a value to another rank, which calls `received`."""
        if target == self.rank:
            raise ValueError("send: destination rank should not be the same as the rank of the current process")
        self.comm.send(value, target, tag)

    def received(self, source: int | None, tag: int) -> tuple[Any, int]:
        """A value that another rank sends, and its rank."""
        if source == self.rank or self.size == 1:
            raise ValueError("recv: source rank should not be the same as the rank of the current process")
        mpi = importlib.import_module("mpi4py.MPI")
        status = mpi.Status()
        value = self.comm.recv(None, mpi.ANY_SOURCE if source is None else source, tag, status)
        return value, status.Get_source()

    def group(self, members: Sequence[int]) -> Ranks:
        """Those of the members, if this rank is one; called by all ranks."""
        self.agree("new_group", str([*members]))
        inside = self.rank in members
        return Ranks(self.comm.Split(int(inside), members.index(self.rank) if inside else self.rank))

    def end_together(self) -> None:
        """From now on, end the job when an exception ends this rank, and let no other rank wait for this one after it."""
        before = sys.excepthook

        def failed(kind: Any, error: Any, trace: Any) -> None:
            before(kind, error, trace)
            sys.stdout.flush()
            sys.stderr.write(f"rank {self.rank} of {self.size} has failed ({kind.__name__}), so the job ends\n")
            sys.stderr.flush()
            self.comm.Abort(1)

        def ended() -> None:
            while any(call != _ENDED for call in self.comm.allgather(_ENDED)):
                pass

        sys.excepthook = failed
        atexit.register(ended)


def described(value: Any) -> str:
    """A value in words that ranks compare: the dtype and the shape of an array; anything else may differ."""
    return f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else "an object"


def _bytes(array: Any) -> Any:
    return array.reshape(-1).view(np.uint8)


@functools.cache
def world() -> Ranks:
    """All processes that mpiexec has started together; this one alone, if none has started it.

    Where there are several, eager operations are left to NumPy from now on, if the mode of `set_machine_code` is "auto",
    so that they compute the same bits.

    Raises
    ------
    RuntimeError
        If mpi4py is missing, or belongs to another MPI than the launcher.
    """
    launch = launched()
    if launch is None and "mpi4py.MPI" not in sys.modules:
        return Ranks(Alone())
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
        if machine.automatic():
            machine.set_machine_code("never")
        ranks.end_together()
    return ranks


def all_reduce(tree: Any, operation: str = "sum", *, comm: Any = None) -> Any:
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
    places = [place for place, leaf in enumerate(leaves) if leaf is not None]
    if any(isinstance(leaf, Carrier) and leaf.requires_grad for leaf in leaves):
        raise RuntimeError("all_reduce has no derivative: reduce gradients, or give it tensor.detach()")
    arrays = [
        leaf.numpy() if isinstance(leaf, Carrier) else np.asarray(leaf) for leaf in map(leaves.__getitem__, places)
    ]
    ranks = world() if comm is None else Ranks(comm)
    for place, array in zip(places, ranks.reduced(arrays, operation, "all_reduce"), strict=True):
        kind = type(leaves[place])
        leaves[place] = (
            array if kind is np.ndarray else array[()] if issubclass(kind, np.generic) else _like(kind, array)
        )
    return unflatten(structure, leaves)


def _like(kind: Any, array: Any) -> Any:
    """An array as a tensor, or as a number."""
    return from_numpy(array) if issubclass(kind, Carrier) else array.item()
