"""Many workers: sums over partitions with their gradients, and functions of chunks, on Dask, processes, threads or MPI."""

from .._core import lazy as _lazy

__getattr__, __dir__, __all__ = _lazy.index(
    globals(), {"chunks": "chunked", "ranks": "all_reduce", "totals": "Total total", "work": "PartitionError"}
)
