"""torch.distributed: what the processes do together that mpiexec has started; one process alone is a world of one.

`pullback.distributed.ranks` does the work. Objects travel as pickles, between processes of one program.
"""

from __future__ import annotations

import enum
import functools
import importlib.util
import inspect
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ... import Tensor, from_numpy, no_grad
from ...distributed.ranks import Ranks, described, world
from ...extend import restoring
from .inert import no
from .notes import note

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..._core.typing import Array


class ReduceOp(enum.Enum):
    """How the values of two ranks are put together."""

    SUM = "sum"
    AVG = "mean"
    PRODUCT = "product"
    MIN = "min"
    MAX = "max"
    BAND = "and"
    BOR = "or"
    BXOR = "exclusive or"


ReduceOp.RedOpType = ReduceOp  # type: ignore[attr-defined]  # the class of its members, by its older name


class ProcessGroup:
    """Some of the ranks; `members` are their numbers among all."""

    def __init__(self, ranks: Ranks, members: Sequence[int], backend: str) -> None:
        self.ranks, self.members, self.backend = ranks, [*members], backend

    def rank(self) -> int:
        """This process's number in the group; -1 if it is no member."""
        return self.ranks.rank if world().rank in self.members else -1

    def size(self) -> int:
        """The number of members."""
        return len(self.members)

    def place(self, rank: int | None) -> int:
        """The number in the group of a rank among all, by default of the first member."""
        if rank is not None and rank not in self.members:
            raise ValueError(f"Global rank {rank} is not part of group {self.members}")
        return 0 if rank is None else self.members.index(rank)

    def told(self, value: object, *call: str, source: int | None = None) -> list[Any]:
        """The values of all members, or None for those that are not the source."""
        return self.ranks.told(value if source in (None, self.rank()) else None, *call)


class group:
    """The group of all ranks, which is the default."""

    WORLD: ProcessGroup | None = None


class Work:
    """The handle of a call with `async_op=True`, which is done before it returns."""

    def wait(self, timeout: object = None) -> bool:
        """True: it is done."""
        return True

    is_completed = is_success = wait


_all: list[ProcessGroup] = []


def init_process_group(
    backend: str | None = None,
    init_method: object = None,
    timeout: object = None,
    world_size: int = -1,
    rank: int = -1,
    **options: object,
) -> None:
    """Have the processes that mpiexec has started work together; without mpiexec it is this process alone.

    Raises
    ------
    ValueError
        If it has been called before.
    RuntimeError
        If the backend is neither "gloo" nor "mpi", or there are other ranks than the program says.
    """
    if _all:
        raise ValueError("trying to initialize the default process group twice!")
    name = str(backend or "gloo").lower()
    if "gloo" not in name and "mpi" not in name:
        raise RuntimeError(f"Distributed package doesn't have {name.upper()} built in: use 'gloo' or 'mpi'")
    ranks = world()
    for word, given, own in (("WORLD_SIZE", world_size, ranks.size), ("RANK", rank, ranks.rank)):
        asked = given if given >= 0 else int(os.environ.get(word, own))
        if asked != own:
            raise RuntimeError(
                f"init_process_group is told that {word} is {asked}, but this is rank {ranks.rank} of {ranks.size}: start "
                "four processes, for example, with `mpiexec -n 4 pullback run program.py`"
            )
    _all.append(ProcessGroup(ranks, range(ranks.size), "mpi" if name == "mpi" else "gloo"))


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Undo `init_process_group`; a group of some ranks needs nothing."""
    if _found(group) is _all[0]:
        _all.clear()


def is_initialized() -> bool:
    """True after `init_process_group`."""
    return bool(_all)


def is_available() -> bool:
    """True."""
    return True


def is_mpi_available() -> bool:
    """True if mpi4py is installed."""
    return importlib.util.find_spec("mpi4py") is not None


is_gloo_available = is_available
is_nccl_available = is_torchelastic_launched = is_xccl_available = is_ucc_available = no


class Backend(str):
    """The name of a backend, in lower case."""

    __slots__ = ()
    GLOO, MPI, NCCL, UCC, XCCL, UNDEFINED = "gloo", "mpi", "nccl", "ucc", "xccl", "undefined"

    default_device_backend_map: ClassVar = {"cpu": GLOO, "cuda": NCCL, "xpu": XCCL, "mps": GLOO}

    def __new__(cls, name: str) -> Self:
        """A name in lower case; ValueError for what is not text."""
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return super().__new__(cls, name.lower())


class rpc:
    """torch.distributed.rpc: there are no calls of functions in other processes."""

    is_available = staticmethod(no)


def _found(given: ProcessGroup | None) -> ProcessGroup:
    """A group that was given, or that of all ranks."""
    if not _all:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return given or _all[0]


def _get_default_group() -> ProcessGroup:
    """The group of all ranks."""
    return _found(None)


def get_rank(group: ProcessGroup | None = None) -> int:
    """The number of this process in a group, from 0; -1 if it is no member."""
    return _found(group).rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    """The number of processes in a group; -1 if this one is no member."""
    return _found(group).size() if get_rank(group) >= 0 else -1


def get_process_group_ranks(group: ProcessGroup | None = None) -> list[int]:
    """The numbers, among all ranks, of the members of a group."""
    return [*_found(group).members]


def get_global_rank(group: ProcessGroup | None, group_rank: int) -> int:
    """The number, among all ranks, of a member of a group."""
    return get_process_group_ranks(group)[group_rank]


_get_global_rank = get_global_rank


def get_group_rank(group: ProcessGroup | None, global_rank: int) -> int:
    """The number in a group of a rank among all."""
    return _found(group).place(global_rank)


def get_backend(group: ProcessGroup | None = None) -> str:
    """The name of the backend that `init_process_group` was given."""
    return _found(group).backend


def new_group(
    ranks: Iterable[int] | None = None, timeout: object = None, backend: str | None = None, **options: object
) -> ProcessGroup:
    """A group of some ranks; all ranks call it."""
    everyone = _found(None)
    members = everyone.members if ranks is None else sorted(map(everyone.place, ranks))
    return ProcessGroup(everyone.ranks.group(members), members, backend or everyone.backend)


_EVERYONE: Any = None  # the group of all ranks, which `_collective` finds


def _collective(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a group, as one of torch's: by default of all ranks, and of no effect outside of the group."""
    signature = inspect.signature(function)

    @restoring
    @functools.wraps(function)
    def called(*args: object, async_op: bool = False, **options: object) -> Any:
        bound = signature.bind(*args, **options)
        bound.apply_defaults()
        found = bound.arguments["group"] = _found(bound.arguments["group"])
        if found.rank() < 0:
            return note(
                f"rank {world().rank} is not in the group {found.members}: {function.__name__} does nothing here"
            )
        with no_grad():
            result = function(*bound.args, **bound.kwargs)
        return Work() if async_op else result

    return called


def _array(tensor: object) -> Array:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"Invalid function argument. Expected parameter of type torch.Tensor, but got {type(tensor)}")
    return tensor.detach().numpy()


def _write(tensors: Sequence[Tensor] | None, arrays: Sequence[Array]) -> None:
    """Have tensors take over the values of arrays of the same shapes and dtypes."""
    wanted, given = ([*map(described, each)] for each in (map(_array, tensors or ()), arrays))
    if wanted != given:
        raise ValueError(f"there are {', '.join(given)}, but the tensors for them are {', '.join(wanted) or 'missing'}")
    for tensor, array in zip(tensors or (), arrays, strict=True):
        tensor.copy_(from_numpy(np.asarray(array)))


def take(tensors: Sequence[Tensor], source: int, group: ProcessGroup, name: str) -> None:
    """Give tensors the values that they have in one rank."""
    arrays = [*map(_array, tensors)]
    facts = name, f"from rank {source}", *map(described, arrays)
    _write(tensors, group.told(arrays, *facts, source=source)[source])


@_collective
def all_reduce(tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: ProcessGroup = _EVERYONE) -> None:
    """Replace a tensor, in place, by the sum of those of all ranks; all get the same bits."""
    _write([tensor], group.ranks.reduced([_array(tensor)], op.value, "all_reduce"))


@_collective
def reduce(
    tensor: Tensor, dst: int | None = None, op: ReduceOp = ReduceOp.SUM, group: ProcessGroup = _EVERYONE
) -> None:
    """Replace a tensor, in rank `dst`, by the sum of those of all ranks."""
    total = group.ranks.reduced([_array(tensor)], op.value, f"reduce to rank {dst}")
    if group.rank() == group.place(dst):
        _write([tensor], total)


@_collective
def reduce_scatter(
    output: Tensor, input_list: Sequence[Tensor], op: ReduceOp = ReduceOp.SUM, group: ProcessGroup = _EVERYONE
) -> None:
    """Replace a tensor by the sum, over all ranks, of the tensors at this rank's place of a list."""
    _write([output], [group.ranks.reduced([*map(_array, input_list)], op.value, "reduce_scatter")[group.rank()]])


@_collective
def broadcast(tensor: Tensor, src: int | None = None, group: ProcessGroup = _EVERYONE) -> None:
    """Replace a tensor, in place, by that of rank `src`."""
    take([tensor], group.place(src), group, "broadcast")


@_collective
def all_gather(tensor_list: Sequence[Tensor], tensor: Tensor, group: ProcessGroup = _EVERYONE) -> None:
    """Write the tensors of all ranks to those of a list."""
    _write(tensor_list, group.told(_array(tensor), "all_gather", described(_array(tensor))))


@_collective
def gather(
    tensor: Tensor, gather_list: Sequence[Tensor] | None = None, dst: int | None = None, group: ProcessGroup = _EVERYONE
) -> None:
    """Write the tensors of all ranks to those of a list in rank `dst`."""
    found = group.told(_array(tensor), "gather", f"to rank {dst}", described(_array(tensor)))
    if group.rank() == group.place(dst):
        _write(gather_list, found)


@_collective
def scatter(
    tensor: Tensor,
    scatter_list: Sequence[Tensor] | None = None,
    src: int | None = None,
    group: ProcessGroup = _EVERYONE,
) -> None:
    """Replace a tensor by that of a list in rank `src` which stands at this rank's place."""
    parts, source = [*map(_array, scatter_list or ())], group.place(src)
    found = group.told(parts, "scatter", f"from rank {src}", described(_array(tensor)), source=source)[source]
    if len(found) != group.size():
        raise ValueError(f"scatter_list must have a tensor for each of the {group.size()} ranks, but has {len(found)}")
    _write([tensor], [found[group.rank()]])


@_collective
def barrier(group: ProcessGroup = _EVERYONE, device_ids: object = None) -> None:
    """Wait until all ranks have come here."""
    group.told(None, "barrier")


@_collective
def broadcast_object_list(
    object_list: list[object], src: int | None = None, group: ProcessGroup = _EVERYONE, device: object = None
) -> None:
    """Replace the objects of a list by those of rank `src`."""
    source = group.place(src)
    object_list[:] = group.told(object_list, "broadcast_object_list", f"from rank {src}", source=source)[source]


@_collective
def all_gather_object(object_list: list[object], obj: object, group: ProcessGroup = _EVERYONE) -> None:
    """Write the objects of all ranks to a list."""
    object_list[:] = group.told(obj, "all_gather_object")


@_collective
def send(tensor: Tensor, dst: int | None = None, group: ProcessGroup = _EVERYONE, tag: int = 0) -> None:
    """Send a tensor to rank `dst`, which calls `recv`."""
    group.ranks.sent(_array(tensor), group.place(dst), tag)


@_collective
def recv(tensor: Tensor, src: int | None = None, group: ProcessGroup = _EVERYONE, tag: int = 0) -> int:
    """Replace a tensor by that which another rank sends: `src`, or any. Returns the sender."""
    found, source = group.ranks.received(None if src is None else group.place(src), tag)
    _write([tensor], [found])
    return int(group.members[source])
