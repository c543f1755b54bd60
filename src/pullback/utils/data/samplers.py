"""Samplers: orders of the indices of a data set."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from ..._core.dtypes import float64
from ..._tensor.creation import as_tensor
from ..._tensor.sampling import multinomial, randint, randperm

if TYPE_CHECKING:
    from ..._core.typing import Generator

Index = TypeVar("Index")
Index_co = TypeVar("Index_co", covariant=True)

# The number of random indices drawn at a time: a sampler of a billion samples must not draw them all first.
_CHUNK = 4096


def _positive(count: object) -> bool:
    return isinstance(count, int) and not isinstance(count, bool) and count > 0


class Sampler(Generic[Index_co]):
    """An order of indices: subclasses define `__iter__`, and `__len__` if the loader's length is to be known.

    >>> from pullback.utils.data import DataLoader, Sampler
    >>> class Backwards(Sampler):
    ...     def __init__(self, data):
    ...         self.data = data
    ...     def __iter__(self):
    ...         return iter(range(len(self.data) - 1, -1, -1))
    >>> list(DataLoader("abc", sampler=Backwards("abc"), batch_size=None))
    ['c', 'b', 'a']
    """

    def __iter__(self) -> Iterator[Index_co]:
        raise NotImplementedError(f"Subclasses of Sampler should implement __iter__. {type(self).__name__} does not")


class SequentialSampler(Sampler[int]):
    """All indices of a data set, from the first to the last.

    >>> from pullback.utils.data import SequentialSampler
    >>> list(SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """The indices of a data set in random order, or independent random indices with `replacement`.

    There are `num_samples` indices, by default as many as the data set has; if more are requested without replacement,
    several permutations follow one another. Random numbers come from `generator`, by default the thread's.

    Raises
    ------
    TypeError
        If `replacement` is not a bool.
    ValueError
        If `num_samples` is not a positive int.

    >>> import pullback
    >>> from pullback.utils.data import RandomSampler
    >>> sorted(RandomSampler("abc"))
    [0, 1, 2]
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not _positive(self.num_samples):
            reason = "" if self._num_samples is not None else ": the data set is empty"
            raise ValueError(
                f"num_samples should be a positive integer value, but got num_samples={self.num_samples}{reason}"
            )

    @property
    def num_samples(self) -> int:
        """The number of indices."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        size = len(self.data_source)
        if self.replacement:
            for start in range(0, self.num_samples, _CHUNK):
                count = min(_CHUNK, self.num_samples - start)
                yield from randint(size, (count,), generator=self.generator).tolist()
        else:
            orders = (randperm(size, generator=self.generator).tolist() for _ in itertools.repeat(None))
            yield from itertools.islice(itertools.chain.from_iterable(orders), self.num_samples)

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Given indices in random order.

    >>> from pullback.utils.data import SubsetRandomSampler
    >>> sorted(SubsetRandomSampler([7, 3]))
    [3, 7]
    """

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for place in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[place]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Random indices with probabilities proportional to weights, which need not add up to 1.

    Raises
    ------
    ValueError
        If the weights are not a sequence of numbers, `num_samples` not a positive int, or `replacement` not a bool.

    >>> from pullback.utils.data import WeightedRandomSampler
    >>> list(WeightedRandomSampler([0.0, 0.5, 0.0], 3))
    [1, 1, 1]
    """

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator: Generator | None = None
    ) -> None:
        if not _positive(num_samples):
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = as_tensor(weights, dtype=float64)
        if self.weights.ndim != 1:
            shape = tuple(self.weights.shape)
            raise ValueError(f"weights should be a 1d sequence but given weights have shape {shape}")
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        yield from drawn.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[Index]]):
    """Lists of `batch_size` indices of a sampler; the last may be shorter, and is left out with `drop_last`.

    Raises
    ------
    ValueError
        If `batch_size` is not a positive int or `drop_last` not a bool.

    >>> from pullback.utils.data import BatchSampler
    >>> list(BatchSampler(range(5), 2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[Index], batch_size: int, drop_last: bool) -> None:
        if not _positive(batch_size):
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[Index]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        size = len(self.sampler)  # type: ignore[arg-type]  # without a length, the sampler raises an error
        return size // self.batch_size if self.drop_last else -(-size // self.batch_size)


def _shuffled(count: int, seed: int) -> list[int]:
    """The order of torch's `randperm` for a generator of a seed: Fisher and Yates's, by 32-bit numbers of a Mersenne Twister."""
    drawn = np.random.RandomState(seed % 2**32).randint(0, 2**32, max(count - 1, 0), np.uint32)
    order = list(range(count))
    for place, number in enumerate(drawn.tolist()):
        other = place + number % (count - place)
        order[place], order[other] = order[other], order[place]
    return order


class DistributedSampler(Sampler[int]):
    """Every `num_replicas`-th index of a data set, starting at `rank`: the share of one of several processes.

    The order is shuffled by a seed and the epoch, which `set_epoch` sets: the same order as torch's. So that all processes
    have equally many indices, the first indices are repeated at the end, or with `drop_last` the last are left out.

    Raises
    ------
    ValueError
        If `num_replicas` or `rank` is left out (there is no process group to query), or if `rank` is out of range.

    >>> from pullback.utils.data import DistributedSampler
    >>> [list(DistributedSampler("abcde", num_replicas=2, rank=rank, shuffle=False)) for rank in (0, 1)]
    [[0, 2, 4], [1, 3, 0]]
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            raise ValueError("Default process group has not been initialized: give num_replicas and rank")
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0
        whole, rest = divmod(len(dataset), num_replicas)
        self.num_samples = whole + (rest > 0 and not drop_last)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        order: Sequence[int] = range(count)
        if self.shuffle:
            order = _shuffled(count, self.seed + self.epoch)
        wanted = itertools.islice(itertools.cycle(order), self.rank, self.total_size, self.num_replicas)
        return iter([*wanted])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch, so that each epoch has another order."""
        self.epoch = epoch
