"""torch.distributed, torch.multiprocessing, torch.nn.parallel: a single process on one device; Python's processes."""

import multiprocessing as processes
from typing import Any

from ...nn.modules.module import Module
from .inert import no


def _refuse(*args: Any, **options: Any) -> Any:
    raise RuntimeError("Distributed package doesn't have it built in: pullback computes in one process")


class distributed:
    """torch.distributed, which is not available."""

    is_available = is_initialized = is_torchelastic_launched = staticmethod(no)
    is_nccl_available = is_gloo_available = is_mpi_available = staticmethod(no)
    init_process_group = destroy_process_group = get_rank = get_world_size = staticmethod(_refuse)
    all_reduce = all_gather = broadcast = barrier = reduce = gather = scatter = new_group = staticmethod(_refuse)


class multiprocessing:
    """torch.multiprocessing: Python's, with `spawn`."""

    @staticmethod
    def spawn(
        fn: Any, args: tuple[Any, ...] = (), nprocs: int = 1, join: bool = True, daemon: bool = False, **options: Any
    ) -> Any:
        """Run `fn(i, *args)` in `nprocs` processes; an exit code other than 0 raises RuntimeError."""
        context = processes.get_context(options.get("start_method", "spawn"))
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


class DataParallel(Module):
    """A module that computes on several devices; there is only one, on which the wrapped module computes."""

    def __init__(self, module: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.dim = dim
        self.module = module
        self.device_ids: list[int] = []

    def forward(self, *args: Any, **options: Any) -> Any:
        """The result of the wrapped module."""
        return self.module(*args, **options)


class DistributedDataParallel(Module):
    """A module that computes in several processes; it raises, since there is only one."""

    def __init__(self, module: Any, *args: Any, **options: Any) -> None:
        super().__init__()
        _refuse()


scatter = gather = _refuse
data_parallel = staticmethod(lambda module, inputs, *args, **options: module(inputs))
