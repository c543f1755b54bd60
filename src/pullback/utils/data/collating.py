"""Collation of samples to batches: tensors are stacked, containers are traversed."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..._core.dtypes import float64
from ..._core.primitives import Carrier
from ..._tensor.creation import as_tensor, tensor
from ..._tensor.functions import stack

if TYPE_CHECKING:
    from ..._core.typing import Tensor


Key = TypeVar("Key")
Value = TypeVar("Value")


def default_convert(data: Any) -> Any:
    """A sample with its arrays converted to tensors, inside mappings and sequences too.

    >>> import numpy
    >>> from pullback.utils.data import default_convert
    >>> default_convert({"x": numpy.arange(2, dtype="int64"), "name": "a"})
    {'x': tensor([0, 1]), 'name': 'a'}
    """
    if isinstance(data, (np.ndarray, np.generic)) and data.dtype.kind in "buifc":
        return as_tensor(data)
    if isinstance(data, Mapping):
        return _mapping(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple):
        items = [default_convert(item) for item in data]
        return type(data)(*items) if hasattr(data, "_fields") else items
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _sequence(data, [default_convert(item) for item in data])
    return data


def default_collate(batch: Sequence[Any]) -> Any:
    """A batch of samples: tensors, arrays and numbers are stacked along a new first axis.

    Mappings, named tuples and sequences are traversed: a list of pairs becomes a pair of batches. Python floats become
    float64; strings and bytes are unchanged.

    Raises
    ------
    TypeError
        If a sample contains anything else.
    RuntimeError
        If tensors differ in shape, or sequences in length.
    KeyError
        If a mapping lacks a key of the first.

    >>> from pullback.utils.data import default_collate
    >>> default_collate([(1, "a"), (2, "b")])
    [tensor([1, 2]), ('a', 'b')]
    >>> default_collate([{"x": 0.5}, {"x": 1.5}])
    {'x': tensor([0.5000, 1.5000], dtype=pullback.float64)}
    """
    first = batch[0]
    if isinstance(first, Carrier):
        return stack(list(batch))
    if isinstance(first, (str, bytes)):  # includes NumPy's str and bytes
        return batch
    if isinstance(first, (np.ndarray, np.generic)):
        return _arrays(batch)
    if isinstance(first, float):
        return tensor(list(batch), dtype=float64)
    if isinstance(first, int):
        return tensor(list(batch))
    if isinstance(first, Mapping):
        lacking = ((place, key) for place, sample in enumerate(batch) for key in first if key not in sample)
        if (found := next(lacking, None)) is not None:
            raise KeyError(
                f"sample {found[0]} of the batch has no {found[1]!r}, which sample 0 has: give all the same keys"
            )
        return _mapping(first, {key: default_collate([sample[key] for sample in batch]) for key in first})
    if isinstance(first, Sequence):
        return _sequences(batch)
    raise _refusal(type(first))


def _refusal(kind: object) -> TypeError:
    return TypeError(
        f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {kind}. Let the data "
        "set return one of these, or pass a collate_fn of your own"
    )


def _arrays(batch: Sequence[Any]) -> Tensor:
    """Arrays as one tensor: stacked by NumPy, without an intermediate tensor for each."""
    first = batch[0]
    if first.dtype.kind not in "buifc":
        raise _refusal(first.dtype if isinstance(first, np.ndarray) else type(first))
    if all(isinstance(item, (np.ndarray, np.generic)) and item.shape == first.shape for item in batch):
        return as_tensor(np.stack(batch))
    return stack([as_tensor(item) for item in batch])


def _sequences(batch: Sequence[Sequence[object]]) -> Any:
    first = batch[0]
    sizes = [len(sample) for sample in batch]
    if len(set(sizes)) > 1:
        raise RuntimeError(f"each element in list of batch should be of equal size: they have {sizes} entries")
    columns = [default_collate(column) for column in zip(*batch, strict=True)]
    if isinstance(first, tuple):
        return type(first)(*columns) if hasattr(first, "_fields") else columns
    return _sequence(first, columns)


def _mapping(like: Any, values: dict[Key, Value]) -> Mapping[Key, Value]:
    """Values in a mapping of the same type as another, with its other attributes."""
    if isinstance(like, MutableMapping):
        clone = copy(like)
        clone.update(values)
        return clone
    try:
        return type(like)(values)
    except TypeError:
        return values


def _sequence(like: Sequence[object], values: list[Value]) -> Sequence[Value]:
    """Values in a sequence of the same type as another, with its other attributes; a list if that type is immutable."""
    if type(like) is list or not isinstance(like, MutableSequence):
        return values
    try:
        clone = copy(like)
        for place, value in enumerate(values):
            clone[place] = value
    except TypeError:
        return values
    return clone
