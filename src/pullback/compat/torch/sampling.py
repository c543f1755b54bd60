"""The names of torch.utils.data that depend on the process group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...utils.data import samplers
from .collectives import get_rank, get_world_size

if TYPE_CHECKING:
    from collections.abc import Sized


class DistributedSampler(samplers.DistributedSampler):
    """The share of a data set for this rank; `num_replicas` and `rank` are by default those of the process group."""

    def __init__(
        self, dataset: Sized, num_replicas: int | None = None, rank: int | None = None, *args: Any, **options: Any
    ) -> None:
        size = get_world_size() if num_replicas is None else num_replicas
        super().__init__(dataset, size, get_rank() if rank is None else rank, *args, **options)
