"""torch.multiprocessing, torch.nn.parallel: Python's processes; a single device."""

from __future__ import annotations

import multiprocessing as processes
from typing import TYPE_CHECKING, Any

from ...distributed.launching import launched
from .layers import DataParallel as DataParallel
from .notes import note
from .replicas import DistributedDataParallel as DistributedDataParallel

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess
    from typing import NoReturn

    from ..._core.typing import Function


def _refuse(*args: object, **options: object) -> NoReturn:
    raise RuntimeError("pullback computes on one device: there is nothing to scatter to, and to gather from")


class multiprocessing:
    """torch.multiprocessing: Python's, with `spawn`."""

    @staticmethod
    def spawn(
        fn: Function,
        args: tuple[object, ...] = (),
        nprocs: int = 1,
        join: bool = True,
        daemon: bool = False,
        start_method: str = "spawn",
        **options: object,
    ) -> list[BaseProcess] | None:
        """Run `fn(i, *args)` in `nprocs` processes; an exit code other than 0 raises RuntimeError.

        If mpiexec has started as many, these are the processes: each calls the function once.
        """
        launch = launched()
        if launch is not None and launch.size == nprocs:
            note(
                f"torch.multiprocessing.spawn starts nothing: the {nprocs} processes are those that mpiexec has started"
            )
            fn(launch.rank, *args)
            return None
        context: Any = processes.get_context(start_method)
        started = [context.Process(target=fn, args=(i, *args), daemon=daemon) for i in range(nprocs)]
        for process in started:
            process.start()
        if not join:
            return started
        for process in started:
            process.join()
        failed = [process.exitcode for process in started if process.exitcode]
        if failed:
            raise RuntimeError(f"{len(failed)} of {nprocs} processes failed, the first with exit code {failed[0]}")
        return None

    start_processes = spawn
    set_sharing_strategy = staticmethod(lambda strategy: None)
    get_sharing_strategy = staticmethod(lambda: "file_system")


scatter = gather = _refuse
data_parallel = staticmethod(lambda module, inputs, *args, **options: module(inputs))
