"""The start of a job of several processes by mpiexec: what the launcher says to each, and what is said when one is lost."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
import warnings
from typing import NamedTuple

LAUNCHERS = (
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),  # MPICH, Intel MPI, Microsoft MPI
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("PMIX_RANK", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"),
)
"""The environment variables by which launchers give a process its rank, the number of ranks, and both on its machine."""
_DEATH_OF_PARENT = 1


class Launch(NamedTuple):
    """The place of this process among those that a launcher has started."""

    rank: int
    size: int
    local_rank: int
    local_size: int


def launched() -> Launch | None:
    """What the launcher says to this process; None if none has started it."""
    for rank, size, *local in LAUNCHERS:
        if rank in os.environ and size in os.environ:
            here = [os.environ.get(name, other) for name, other in zip(local, ("0", "1"), strict=True)]
            return Launch(int(os.environ[rank]), int(os.environ[size]), *map(int, here))
    return None


def announce(launch: Launch) -> None:
    """Set the environment variables from which programs written for torchrun read their rank, where they are not set."""
    told: dict[str, int | str] = {"RANK": launch.rank, "WORLD_SIZE": launch.size, "LOCAL_RANK": launch.local_rank}
    told |= {"LOCAL_WORLD_SIZE": launch.local_size, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": 29500}
    for name, value in told.items():
        os.environ.setdefault(name, str(value))


def watched(launch: Launch) -> int | None:
    """The exit code of a child that goes on with the program, in which None is returned.

    If the child is killed, a sentence says which rank it was; mpiexec ends the others. Only on Linux: elsewhere this
    process itself goes on.
    """
    if sys.platform != "linux":
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of NumPy's threads, which are ready for forks
        parent, child = os.getpid(), os.fork()
    if not child:
        ctypes.CDLL(None).prctl(_DEATH_OF_PARENT, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        return None
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(child, number))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code >= 0:
        return code
    name, where = signal.Signals(-code).name, f"process {child} on {socket.gethostname()}"
    sys.stderr.write(f"rank {launch.rank} of {launch.size} ({where}) was ended by {name}, so the job ends\n")
    return 128 - code
