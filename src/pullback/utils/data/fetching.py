"""Fetching of batches, in the loader's process or in a worker: samples are loaded, then collated.

The current position is written to a record of two numbers, the task and the index in its batch, so that an error names
its sample, even if the process ends without raising one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, MutableSequence
from typing import Any

# The indices of a record's cells; the last cell is set by the loader to ask a worker to stop.
TASK, PLACE, STOP = range(3)
# Positions that are not an index in a batch.
WHOLE_BATCH, COLLATING, STARTING = -1, -2, -3


Collate = Callable[[Any], Any]
"""What makes a batch of a list of samples."""


class ExhaustedError(Exception):
    """Raised when a stream has no more batches."""


class StoppedError(Exception):
    """Raised when the loader asks its workers to stop."""


class Fetcher:
    """Creates batches from the samples of a data set.

    The `indices` of a batch are its samples' indices, or a single index if the loader does not form batches; for a
    stream they are a list of None, one for each sample.
    """

    def __init__(self, dataset: Any, stream: bool, batched: bool, collate: Collate, drop_last: bool) -> None:
        self.dataset = dataset
        self.stream: Iterator[object] | None = iter(dataset) if stream else None
        self.batched = batched
        self.collate = collate
        self.drop_last = drop_last
        self.taken = 0

    def fetch(self, indices: Any, record: MutableSequence[int]) -> object:
        """The batch for some indices."""
        stream = self.stream
        samples = self._by_index(indices, record) if stream is None else self._from_stream(stream, indices, record)
        record[PLACE] = COLLATING
        return self.collate(samples)

    def _from_stream(self, stream: Iterator[object], indices: Any, record: MutableSequence[int]) -> object:
        samples = []
        for _ in indices if self.batched else (None,):
            self._at(self.taken, record)
            try:
                samples.append(next(stream))
            except StopIteration:
                break
            self.taken += 1
        if not samples or (self.drop_last and self.batched and len(samples) < len(indices)):
            raise ExhaustedError
        return samples if self.batched else samples[0]

    def _by_index(self, indices: Any, record: MutableSequence[int]) -> object:
        if self.batched and callable(getattr(self.dataset, "__getitems__", None)):
            self._at(WHOLE_BATCH, record)
            return self.dataset.__getitems__(indices)
        samples = []
        for place, index in enumerate(indices if self.batched else (indices,)):
            self._at(place, record)
            samples.append(self.dataset[index])
        return samples if self.batched else samples[0]

    def _at(self, place: int, record: MutableSequence[int]) -> None:
        record[PLACE] = place
        if record[STOP]:
            raise StoppedError


def doing(place: int, indices: object, dataset: object, stream: bool) -> str:
    """A description of the current position in a batch."""
    kind = type(dataset).__name__
    if place == STARTING:
        return "starting"
    if stream:
        return "collating a batch" if place == COLLATING else f"loading sample {place} of the stream {kind}"
    batch = list(itertools.islice(indices, 10)) if isinstance(indices, (list, tuple)) else [indices]
    if 0 <= place < len(indices if isinstance(indices, (list, tuple)) else batch):
        sample = indices[place] if isinstance(indices, (list, tuple)) else indices
        return f"loading sample {sample!r} of {kind}"
    shown = ", ".join(map(repr, batch)) + (", ..." if len(batch) == 10 else "")
    return f"{'collating' if place == COLLATING else 'loading'} the samples {shown} of {kind}"
