"""torch.distributed: what the processes do together that mpiexec has started; one process alone is a world of one.

The work is done by `pullback.distributed.ranks`. Objects travel as pickles between the ranks of one program.
"""

from __future__ import annotations

import enum
import functools
import importlib.util
import inspect
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._core.modes import no_grad
from ..._core.primitives import Carrier
from ..._tensor.creation import from_numpy
from ...distributed.ranks import Ranks, world
from .inert import no
from .notes import note


class ReduceOp(enum.Enum):
    """How the values of two ranks are put together."""

    SUM = "sum"
    AVG = "mean"
    PRODUCT = "product"
    MIN = "min"
    MAX = "max"


class ProcessGroup:
    """Some of the ranks; `members` are their numbers among all."""

    def __init__(self, ranks: Ranks, members: Sequence[int], backend: str) -> None:
        self.ranks, self.members, self.backend = ranks, [*members], backend
        self.inside = world().rank in self.members

    def rank(self) -> int:
        """This process's number in the group; -1 if it is no member."""
        return self.ranks.rank if self.inside else -1

    def size(self) -> int:
        """The number of members."""
        return len(self.members)

    def place(self, rank: int | None) -> int:
        """The number in the group of a rank among all, by default the first member."""
        if rank is not None and rank not in self.members:
            raise ValueError(f"Global rank {rank} is not part of group {self.members}")
        return 0 if rank is None else self.members.index(rank)


class group:
    """The group of all ranks, which is the default."""

    WORLD: ProcessGroup | None = None


class Work:
    """The handle of a call with `async_op=True`, which is done before it returns."""

    def wait(self, timeout: Any = None) -> bool:
        """True: it is done."""
        return True

    is_completed = is_success = wait


_all: list[ProcessGroup] = []


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
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
    name = "gloo" if backend is None else str(backend).lower()
    if "gloo" not in name and "mpi" not in name:
        raise RuntimeError(f"Distributed package doesn't have {name.upper()} built in: use 'gloo' or 'mpi'")
    ranks = world()
    for word, given, own in (("WORLD_SIZE", world_size, ranks.size), ("RANK", rank, ranks.rank)):
        asked = given if given >= 0 else int(os.environ.get(word, own))
        if asked != own:
            raise RuntimeError(
                f"init_process_group is told that {word} is {asked}, but this is rank {ranks.rank} of {ranks.size} that were "
                f"started: `mpiexec -n {max(asked, 2)} pullback run program.py` starts {max(asked, 2)}"
            )
    _all.append(ProcessGroup(ranks, range(ranks.size), "mpi" if name == "mpi" else "gloo"))


def destroy_process_group(group: Any = None) -> None:
    """Undo `init_process_group`; a group of its own needs nothing."""
    _found(group)
    if group is None or group is _all[0]:
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
is_nccl_available = is_ucc_available = is_xccl_available = is_torchelastic_launched = no


def _found(given: Any) -> ProcessGroup:
    """A group that was given, or that of all ranks."""
    if not _all:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return given if isinstance(given, ProcessGroup) else _all[0]


def get_rank(group: Any = None) -> int:
    """The number of this process in a group, from 0; -1 if it is no member."""
    return _found(group).rank()


def get_world_size(group: Any = None) -> int:
    """The number of processes in a group; -1 if this one is no member."""
    found = _found(group)
    return found.size() if found.inside else -1


def get_backend(group: Any = None) -> str:
    """The name of the backend that `init_process_group` was given."""
    return _found(group).backend


def get_process_group_ranks(group: Any) -> list[int]:
    """The numbers of a group's members among all ranks."""
    return _found(group).members


def new_group(
    ranks: Sequence[int] | None = None, timeout: Any = None, backend: str | None = None, **options: Any
) -> ProcessGroup:
    """A group of some ranks; all ranks call it."""
    everyone = _found(None)
    members = everyone.members if ranks is None else sorted(ranks)
    return ProcessGroup(everyone.ranks.group(members), members, everyone.backend if backend is None else backend)


def _collective(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a group, as one of torch's: by default of all ranks, and of no effect outside of the group."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        bound = signature.bind(*args, **options)
        bound.apply_defaults()
        found = bound.arguments["group"] = _found(bound.arguments["group"])
        if not found.inside:
            note(f"{function.__name__} does nothing in rank {world().rank}, which is not in the group {found.members}")
            return None
        with no_grad():
            result = function(*bound.args, **bound.kwargs)
        return Work() if bound.arguments.get("async_op") else result

    return called


def _array(tensor: Any) -> Any:
    if not isinstance(tensor, Carrier):
        raise TypeError(f"Invalid function argument. Expected parameter of type torch.Tensor, but got {type(tensor)}")
    return np.ascontiguousarray(tensor.detach().numpy()).reshape(tuple(tensor.shape))


def _write(tensors: Sequence[Any], arrays: Sequence[Any]) -> None:
    """Have tensors take over the values of arrays of the same shapes and dtypes."""
    if len(tensors) != len(arrays):
        raise ValueError(f"the list must have one tensor for each of the {len(arrays)} ranks, but has {len(tensors)}")
    for tensor, array in zip(tensors, arrays, strict=True):
        if (tuple(tensor.shape), tensor.dtype) != (array.shape, from_numpy(array).dtype):
            raise ValueError(f"{array.dtype} {array.shape} does not fit a tensor {tensor.dtype} {tuple(tensor.shape)}")
        tensor.copy_(from_numpy(array))


@_collective
def all_reduce(tensor: Any, op: ReduceOp = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> None:
    """Replace a tensor, in place, by the sum of those of all ranks; all get the same bits."""
    _write([tensor], group.ranks.reduced([_array(tensor)], op.value, "all_reduce"))


@_collective
def reduce(tensor: Any, dst: int | None = None, op: ReduceOp = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> None:  # fmt: skip
    """Replace a tensor, in rank `dst`, by the sum of those of all ranks."""
    total = group.ranks.reduced([_array(tensor)], op.value, f"reduce to rank {dst}")
    if group.rank() == group.place(dst):
        _write([tensor], total)


@_collective
def broadcast(tensor: Any, src: int | None = None, group: Any = None, async_op: bool = False) -> None:
    """Replace a tensor, in place, by that of rank `src`."""
    _write([tensor], [group.ranks.broadcast(_array(tensor), group.place(src), "broadcast")])


@_collective
def all_gather(tensor_list: Any, tensor: Any, group: Any = None, async_op: bool = False) -> None:
    """Write the tensors of all ranks to those of a list."""
    _write(tensor_list, group.ranks.gathered(_array(tensor), "all_gather"))


@_collective
def all_gather_into_tensor(output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False) -> None:
    """Write the tensors of all ranks to one, along its first axis."""
    parts = group.ranks.gathered(_array(input_tensor), "all_gather_into_tensor")
    _write([output_tensor], [np.concatenate(parts).reshape(tuple(output_tensor.shape))])


@_collective
def gather(tensor: Any, gather_list: Any = None, dst: int | None = None, group: Any = None, async_op: bool = False) -> None:  # fmt: skip
    """Write the tensors of all ranks to those of a list in rank `dst`."""
    found = group.ranks.gathered(_array(tensor), "gather", group.place(dst))
    if found is not None:
        _write(gather_list or [], found)


@_collective
def scatter(tensor: Any, scatter_list: Any = None, src: int | None = None, group: Any = None, async_op: bool = False) -> None:  # fmt: skip
    """Replace a tensor by that of a list in rank `src` which stands at this rank's place."""
    parts = [*map(_array, scatter_list or [])]
    source = group.place(src)
    if group.rank() == source and len(parts) != group.size():
        raise ValueError(
            f"scatter_list must have one tensor for each of the {group.size()} ranks, but has {len(parts)}"
        )
    _write([tensor], [group.ranks.scattered(parts, source, "scatter")])


@_collective
def reduce_scatter(output: Any, input_list: Any, op: ReduceOp = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> None:  # fmt: skip
    """Replace a tensor by the sum, over all ranks, of the tensors at this rank's place of a list."""
    totals = group.ranks.reduced([*map(_array, input_list)], op.value, "reduce_scatter")
    _write([output], [totals[group.rank()]])


@_collective
def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> None:
    """Wait until all ranks have come here."""
    group.ranks.agree("barrier")


@_collective
def broadcast_object_list(object_list: Any, src: int | None = None, group: Any = None, device: Any = None) -> None:
    """Replace the objects of a list by those of rank `src`."""
    object_list[:] = group.ranks.broadcast([*object_list], group.place(src), "broadcast_object_list")


@_collective
def all_gather_object(object_list: Any, obj: Any, group: Any = None) -> None:
    """Write the objects of all ranks to a list."""
    object_list[:] = group.ranks.gathered([obj], "all_gather_object")
    object_list[:] = [each for (each,) in object_list]


@_collective
def gather_object(obj: Any, object_gather_list: Any = None, dst: int | None = None, group: Any = None) -> None:
    """Write the objects of all ranks to a list in rank `dst`."""
    found = group.ranks.gathered([obj], "gather_object", group.place(dst))
    if found is not None:
        object_gather_list[:] = [each for (each,) in found]


@_collective
def scatter_object_list(scatter_object_output_list: Any, scatter_object_input_list: Any = None, src: int | None = None, group: Any = None) -> None:  # fmt: skip
    """Write the object of a list in rank `src` which stands at this rank's place to the beginning of a list."""
    given = scatter_object_input_list
    scatter_object_output_list[0] = group.ranks.scattered(given, group.place(src), "scatter_object_list")


@_collective
def send(tensor: Any, dst: int | None = None, group: Any = None, tag: int = 0) -> None:
    """Send a tensor to rank `dst`, which calls `recv`."""
    group.ranks.sent(_array(tensor), group.place(dst), tag)


@_collective
def recv(tensor: Any, src: int | None = None, group: Any = None, tag: int = 0) -> int:
    """Replace a tensor by that which another rank sends: `src`, or any. Returns the sender."""
    found, source = group.ranks.received(None if src is None else group.place(src), tag)
    _write([tensor], [found])
    return int(group.members[source])


class _Absent:
    """Names of a module that can be imported, and raise when they are used."""

    def __init__(self, module: str, names: str) -> None:
        self._module, self._names = module, names.split()

    def __getattr__(self, name: str) -> Any:
        if name not in self._names:
            raise AttributeError(name)

        def refuse(cls: Any, *args: Any, **options: Any) -> Any:
            raise NotImplementedError(
                f"{self._module}.{name} is not in pullback: torch.distributed has all_reduce and the like here, and "
                "torch.nn.parallel has DistributedDataParallel"
            )

        made = type(
            name, (), {"__new__": refuse, "__doc__": f"{name}, which is not in pullback.", "__module__": __name__}
        )
        setattr(self, name, made)
        return made


absent = _Absent(
    "torch.distributed",
    "all_to_all all_to_all_single batch_isend_irecv irecv isend monitored_barrier reduce_scatter_tensor P2POp FileStore "
    "HashStore PrefixStore Store TCPStore",
)
absent_classes = _Absent("torch.distributed", "DTensor FullyShardedDataParallel ZeroRedundancyOptimizer")
absent_derivatives = _Absent("torch.distributed.nn", "all_gather all_reduce all_to_all broadcast gather reduce scatter")
