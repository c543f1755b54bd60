"""The private names of torch.utils.data: what a loader fetches samples with, by the kind of its data set."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

np_str_obj_array_pattern = re.compile("[SaUO]")
"""Finds, in the text of a NumPy dtype, that arrays hold no numbers."""


class _BaseDatasetFetcher:
    """What makes a batch of the samples at given indices; without `auto_collation`, of one sample."""

    def __init__(
        self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], object], drop_last: bool
    ) -> None:
        self.dataset, self.auto_collation = dataset, auto_collation
        self.collate_fn, self.drop_last = collate_fn, drop_last

    def fetch(self, possibly_batched_index: Any) -> object:
        """The batch at indices, or the sample at one."""
        raise NotImplementedError


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """One that asks the data set for samples by their indices, all at once if it has `__getitems__`."""

    def fetch(self, possibly_batched_index: Any) -> object:
        """The batch at indices, or the sample at one."""
        if not self.auto_collation:
            return self.collate_fn(self.dataset[possibly_batched_index])
        if several := getattr(self.dataset, "__getitems__", None):
            return self.collate_fn(several(possibly_batched_index))
        return self.collate_fn([self.dataset[index] for index in possibly_batched_index])


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """One that takes the next samples, as many as there are indices."""

    def __init__(
        self, dataset: Iterable[Any], auto_collation: bool, collate_fn: Callable[[Any], object], drop_last: bool
    ) -> None:
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.dataset_iter = iter(dataset)
        self.ended = False

    def fetch(self, possibly_batched_index: Sequence[Any]) -> object:
        """The next batch or sample; StopIteration after the last."""
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        batch = [sample for _, sample in zip(possibly_batched_index, self.dataset_iter, strict=False)]
        self.ended = len(batch) < len(possibly_batched_index)
        if not batch or (self.drop_last and self.ended):
            raise StopIteration
        return self.collate_fn(batch)


class _DatasetKind:
    """The kinds of data sets: with indices, and without."""

    Map, Iterable = 0, 1

    @staticmethod
    def create_fetcher(
        kind: int, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], object], drop_last: bool
    ) -> _BaseDatasetFetcher:
        """What fetches from a data set of a kind."""
        made = _MapDatasetFetcher if kind == _DatasetKind.Map else _IterableDatasetFetcher
        return made(dataset, auto_collation, collate_fn, drop_last)
