"""Collation of samples to batches: tensors are stacked, containers are traversed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..._core.dtypes import float64
from ..._tensor.creation import as_tensor, tensor
from ..._tensor.functions import stack
from ..._tensor.tensor import Tensor

if TYPE_CHECKING:
    from typing import TypeAlias

    Collations: TypeAlias = dict[type | tuple[type, ...], Callable[..., object]]
    """What makes a batch of samples, by their class."""


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
    return collate(batch, collate_fn_map=default_collate_fn_map)


def collate(batch: Sequence[Any], *, collate_fn_map: Collations | None = None) -> Any:
    """A batch of samples by a dictionary of functions, whose keys are classes, or tuples of them.

    That of the first sample's class, or else the first whose key it is an instance of, is called with the batch and
    `collate_fn_map`. Mappings and sequences without one are traversed.

    >>> from pullback.utils.data.collating import collate, default_collate_fn_map
    >>> collate([{"x": 1j}, {"x": 2j}], collate_fn_map={complex: lambda batch, collate_fn_map: sum(batch), **default_collate_fn_map})
    {'x': 3j}
    """
    first = batch[0]
    functions = collate_fn_map or {}
    function = functions.get(type(first)) or next(
        (each for kind, each in functions.items() if isinstance(first, kind)), None
    )
    if function is not None:
        return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        lacking = ((place, key) for place, sample in enumerate(batch) for key in first if key not in sample)
        if (found := next(lacking, None)) is not None:
            raise KeyError(
                f"sample {found[0]} of the batch has no {found[1]!r}, which sample 0 has: give all the same keys"
            )
        columns = {key: [sample[key] for sample in batch] for key in first}
        return _mapping(first, {key: collate(each, collate_fn_map=collate_fn_map) for key, each in columns.items()})
    if isinstance(first, Sequence):
        return _sequences(batch, collate_fn_map)
    raise _refusal(type(first))


def _refusal(kind: object) -> TypeError:
    return TypeError(
        f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {kind}. Let the data "
        "set return one of these, or pass a collate_fn of your own"
    )


def collate_tensor_fn(batch: Sequence[Tensor], **_: object) -> Tensor:
    """Tensors, stacked."""
    return stack(list(batch))


def collate_str_fn(batch: Sequence[str | bytes], **_: object) -> Sequence[str | bytes]:
    """Texts and bytes as they are."""
    return batch


def collate_numpy_array_fn(batch: Sequence[Any], **_: object) -> Tensor:
    """Arrays as one tensor: stacked by NumPy, without an intermediate tensor for each."""
    first = batch[0]
    if first.dtype.kind not in "buifc":
        raise _refusal(first.dtype if isinstance(first, np.ndarray) else type(first))
    if all(isinstance(item, (np.ndarray, np.generic)) and item.shape == first.shape for item in batch):
        return as_tensor(np.stack(batch))
    return stack([as_tensor(item) for item in batch])


def collate_float_fn(batch: Sequence[float], **_: object) -> Tensor:
    """Numbers as a tensor of float64."""
    return tensor(list(batch), dtype=float64)


def collate_int_fn(batch: Sequence[int], **_: object) -> Tensor:
    """Numbers as a tensor of int64, or of bool."""
    return tensor(list(batch))


default_collate_fn_map: Collations = {
    Tensor: collate_tensor_fn,
    (str, bytes): collate_str_fn,  # those of NumPy, too
    np.ndarray: collate_numpy_array_fn,
    np.generic: collate_numpy_array_fn,
    float: collate_float_fn,
    int: collate_int_fn,
}
"""What `default_collate` does with a class of samples: a program may add its own."""


def _sequences(batch: Sequence[Sequence[object]], collate_fn_map: Collations | None) -> Any:
    first = batch[0]
    sizes = [len(sample) for sample in batch]
    if len(set(sizes)) > 1:
        raise RuntimeError(f"each element in list of batch should be of equal size: they have {sizes} entries")
    columns = [collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch, strict=True)]
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
