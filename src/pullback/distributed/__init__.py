"""Many workers: sums over partitions with their gradients, and functions of chunks, on Dask, processes, threads or MPI."""

from .chunks import chunked
from .totals import Total, total
from .work import PartitionError

__all__ = ["PartitionError", "Total", "chunked", "total"]
