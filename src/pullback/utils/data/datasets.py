"""Data sets: samples by index or as a stream, and combinations of data sets."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from ..._core.sites import warn
from ..._core.values import require_tensors
from ..._tensor.sampling import randperm
from ..._tensor.tensor import Tensor

if TYPE_CHECKING:
    from ..._core.typing import Generator

Sample = TypeVar("Sample")
Sample_co = TypeVar("Sample_co", covariant=True)
Other = TypeVar("Other")


class Samples(Protocol[Sample_co]):
    """Samples by index: a data set, a list, an array."""

    def __getitem__(self, index: Any, /) -> Sample_co:
        """The sample at an index."""


class Dataset(Generic[Sample_co]):
    """A set of samples by index: subclasses define `__getitem__`, and, for most samplers, `__len__`.

    `__getitems__(indices)`, if a subclass defines it, returns the list of samples of a whole batch. `a + b` is the
    `ConcatDataset` of both. Any object with `__getitem__` and `__len__` can be used as a `Dataset`: a list, an array.

    >>> from pullback.utils.data import Dataset
    >>> class Squares(Dataset):
    ...     def __len__(self):
    ...         return 4
    ...     def __getitem__(self, index):
    ...         return index**2
    >>> (Squares() + Squares())[5]
    1
    """

    def __getitem__(self, index: Any) -> Sample_co:
        raise NotImplementedError(f"Subclasses of Dataset should implement __getitem__. {type(self).__name__} does not")

    def __add__(self, other: Samples[Other]) -> ConcatDataset[Sample_co | Other]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[Sample_co], ABC):
    """A stream of samples: subclasses define `__iter__`.

    Each worker of a `DataLoader` has its own copy: `get_worker_info()` tells it which part of the samples to produce.
    `a + b` is the `ChainDataset` of both.

    >>> from pullback.utils.data import IterableDataset
    >>> class Count(IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(3))
    >>> list(Count() + Count())
    [0, 1, 2, 0, 1, 2]
    """

    @abstractmethod
    def __iter__(self) -> Iterator[Sample_co]: ...

    def __add__(  # type: ignore[override]  # a stream is no data set of known length
        self, other: Dataset[Other]
    ) -> ChainDataset[Sample_co | Other]:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """A data set of tuples: the entries of several tensors at the same index.

    Raises
    ------
    AssertionError
        If the tensors have different lengths.

    >>> import pullback
    >>> from pullback.utils.data import TensorDataset
    >>> TensorDataset(pullback.tensor([1.0, 2.0]), pullback.tensor([0, 1]))[1]
    (tensor(2.), tensor(1))
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        require_tensors("TensorDataset", **{f"tensors[{place}]": each for place, each in enumerate(tensors)})
        sizes = [tensor.size(0) for tensor in tensors]
        if len(set(sizes)) > 1:
            raise AssertionError(f"Size mismatch between tensors: their first axes have the sizes {sizes}")
        self.tensors = tensors

    def __getitem__(self, index: int | slice | Sequence[int] | Tensor) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        size: int = self.tensors[0].size(0)
        return size


class StackDataset(Dataset[Any]):
    """Samples of several data sets at the same index as tuples; as dicts if the data sets are passed by name.

    Raises
    ------
    ValueError
        If the data sets differ in length, if only some are passed by name, or if there are none.

    >>> from pullback.utils.data import StackDataset
    >>> StackDataset(image=[5, 6], label=["a", "b"])[1]
    {'image': 6, 'label': 'b'}
    """

    datasets: tuple[Samples[object], ...] | dict[str, Samples[object]]

    def __init__(self, *args: Samples[object], **kwargs: Samples[object]) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, but both "
                "types are given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        sizes = [len(dataset) for dataset in self._members()]
        if len(set(sizes)) > 1:
            raise ValueError(f"Size mismatch between datasets: they have {sizes} samples")
        self._length = sizes[0]

    def _members(self) -> list[Any]:
        return list(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets)

    def _joined(self, values: Iterable[object]) -> Any:
        return dict(zip(self.datasets, values, strict=True)) if isinstance(self.datasets, dict) else tuple(values)

    def __getitem__(self, index: object) -> Any:
        return self._joined([dataset[index] for dataset in self._members()])

    def __getitems__(self, indices: Sequence[object]) -> list[Any]:
        """The samples at several indices."""
        columns = [_several(dataset, indices) for dataset in self._members()]
        for column in columns:
            if len(column) != len(indices):
                raise ValueError(
                    f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(column)}: __getitems__ "
                    "gives one sample for each index"
                )
        return [self._joined(row) for row in zip(*columns, strict=True)]

    def __len__(self) -> int:
        return self._length


def _several(dataset: Samples[Sample], indices: Sequence[object]) -> Sequence[Sample]:
    """The samples at several indices, with a single call if the data set supports it."""
    several = getattr(dataset, "__getitems__", None)
    if callable(several):
        return several(indices)
    return [dataset[index] for index in indices]


class ConcatDataset(Dataset[Sample_co]):
    """The concatenation of several data sets.

    Raises
    ------
    AssertionError
        If there are none, or if one is an `IterableDataset`.

    >>> from pullback.utils.data import ConcatDataset
    >>> both = ConcatDataset(["ab", "cde"])
    >>> len(both), both[2], both[-1]
    (5, 'c', 'e')
    """

    datasets: list[Any]
    cumulative_sizes: list[int]

    def __init__(self, datasets: Iterable[Samples[Sample_co]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset: ChainDataset does")
        self.cumulative_sizes = list(itertools.accumulate(len(dataset) for dataset in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Sample_co:
        size = len(self)
        if index < -size:
            raise ValueError(f"absolute value of index should not exceed dataset length, which is {size}: got {index}")
        if index >= size:
            raise IndexError(f"index {index} is out of range for a ConcatDataset of {size} samples")
        index %= size
        member = bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[member - 1] if member else 0
        return self.datasets[member][index - before]


class ChainDataset(IterableDataset[Sample_co]):
    """The concatenation of several `IterableDataset`s.

    >>> from pullback.utils.data import ChainDataset, IterableDataset
    >>> class Letters(IterableDataset):
    ...     def __iter__(self):
    ...         return iter("ab")
    >>> list(ChainDataset([Letters(), Letters()]))
    ['a', 'b', 'a', 'b']
    """

    datasets: Iterable[Dataset[Sample_co]]

    def __init__(self, datasets: Iterable[Dataset[Sample_co]]) -> None:
        self.datasets = datasets

    def _streams(self) -> Iterator[IterableDataset[Sample_co]]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError(f"ChainDataset only supports IterableDataset, not {type(dataset).__name__}")
            yield dataset

    def __iter__(self) -> Iterator[Sample_co]:
        for dataset in self._streams():
            yield from dataset

    def __len__(self) -> int:
        streams: Iterator[Any] = self._streams()
        return sum(len(dataset) for dataset in streams)


class Subset(Dataset[Sample_co]):
    """The samples of a data set at given indices.

    >>> from pullback.utils.data import Subset
    >>> part = Subset("abcde", [4, 0])
    >>> len(part), part[0]
    (2, 'e')
    """

    def __init__(self, dataset: Samples[Sample_co], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: int | list[int]) -> Sample_co:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: Sequence[int]) -> Sequence[Sample_co]:
        """The samples at several indices."""
        return _several(self.dataset, [self.indices[index] for index in indices])

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Samples[Sample], lengths: Sequence[float], generator: Generator | None = None
) -> list[Subset[Sample]]:
    """A random partition of a data set into subsets of given lengths.

    Lengths that add up to 1 are fractions, rounded down; the remaining samples go to the first subsets in turn. Random
    numbers come from `generator`, by default the thread's.

    Raises
    ------
    ValueError
        If the lengths do not add up to the length of the data set, or a fraction is not between 0 and 1.

    >>> import pullback
    >>> from pullback.utils.data import random_split
    >>> train, test = random_split(range(10), [0.8, 0.2], generator=pullback.Generator().manual_seed(0))
    >>> len(train), len(test), sorted([*train.indices, *test.indices]) == list(range(10))
    (8, 2, True)
    """
    known: Any = dataset  # of any length, or none
    size = len(known)
    counts = _counts(lengths, size) if math.isclose(sum(lengths), 1) and sum(lengths) <= 1 else list(lengths)
    if sum(counts) != size:
        raise ValueError(
            "Sum of input lengths does not equal the length of the input dataset! "
            f"The lengths {list(lengths)} add up to {sum(counts)}, the dataset has {size} samples"
        )
    order = randperm(size, generator=generator).tolist()
    ends = itertools.accumulate(counts)
    return [Subset(dataset, order[int(end - count) : int(end)]) for end, count in zip(ends, counts, strict=True)]


def _counts(fractions: Sequence[float], size: int) -> list[int]:
    """The numbers of samples for given fractions of a data set."""
    for place, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(f"Fraction at index {place} is not between 0 and 1: {fraction}")
    counts = [math.floor(size * fraction) for fraction in fractions]
    for extra in range(size - sum(counts)):
        counts[extra % len(counts)] += 1
    for place, count in enumerate(counts):
        if count == 0:
            warn(f"Length of split at index {place} is 0. This might result in an empty dataset.")
    return counts
