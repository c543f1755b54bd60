"""Conversion of nested sequences to arrays, with torch's rules for shape and dtype.

The shape is determined from the first elements. A tensor in the position of a number must have one element; in the
position of a row it is that row. The dtype is the promotion of all elements' dtypes; Python floats count as the default
dtype.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import dtypes as _dtypes
from .._core.package import package
from .._core.primitives import Carrier
from .._core.shapes import Shape, Size, parse_sizes
from .._core.sites import warn
from .._tape.cuts import escape

if TYPE_CHECKING:
    from .._core.dtypes import NumpyType
    from .._core.typing import Sizes, Tensor


Array = np.ndarray[Any, np.dtype[Any]]

_SEQUENCES = (list, tuple, range)
_NUMBERS = frozenset({bool, int, float, complex})
_SCALAR, _INDEX = (
    "only one element tensors can be converted to Python scalars",
    "only integer tensors of a single element can be converted to an index",
)


def is_nested(data: object) -> bool:
    """True if data are a sequence of numbers or of sequences."""
    return isinstance(data, _SEQUENCES)


def sizes_of_old(data: tuple[Any, ...], size: Sizes | None = None) -> Shape | None:
    """The sizes passed to one of torch's old constructors: one by one, as a `Size`, or by name; None for elements.

    Any other tuple contains elements, like a list.

    Raises
    ------
    TypeError
        If the only argument is a number that is not a valid size.
    RuntimeError
        If a size is negative.
    """
    given = data[0] if len(data) == 1 else None
    if isinstance(given, bool | float | complex | dict | None) and len(data) == 1:
        raise TypeError(f"new(): data must be a sequence (got {type(given).__name__})")
    if size is None and len(data) == 1 and not isinstance(given, Size | int | np.integer):
        return None
    sizes = parse_sizes((size,) if size is not None else data) if size is not None or data else (0,)
    if any(length < 0 for length in sizes):
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(sizes)}: {list(sizes)}")
    return sizes


def read(data: object, target: NumpyType | None) -> tuple[Array, NumpyType]:
    """An array of the elements of nested sequences, and their dtype by torch's rules.

    `target` is the dtype they will be converted to, if one was requested: tensors of other kinds are not converted to
    integers.

    Raises
    ------
    ValueError
        If rows have different lengths, a tensor in the position of a number does not have one element, or there is a
        string.
    TypeError
        If a row is missing, or is in the position of a number.
    RuntimeError
        If an element is not a number.
    """
    kinds: set[type | NumpyType] = set()
    lengths = _lengths(data)
    values = _read(data, lengths, 0, kinds, target)
    return numbers(values, kinds, target), _promoted(kinds)


def numbers(values: object, kinds: set[type | NumpyType], target: NumpyType | None) -> Array:
    """An array of parsed numbers; Python integers that need more than 63 bits are only accepted for uint64 and floats.

    NumPy would convert them to floats if mixed with others, and lose digits.
    """
    array = np.array(values)
    if array.dtype.kind in "bi" or not kinds or kinds - {bool, int}:
        if array.dtype.kind == "O":
            raise RuntimeError(
                "Could not infer dtype of int: a tensor holds 64-bit integers at most, and one is larger"
            )
        return array
    if target is not None and target.kind in "fcb":
        return np.array(values, np.float64)
    if target != np.uint64:
        wanted = "int64" if target is None else target
        raise ValueError(
            f"Overflow when unpacking long long: a number does not fit {wanted}; dtype={package}.uint64 holds more"
        )
    exact = np.array(values, object)
    if np.any(exact < 0):
        raise OverflowError(f"can't convert negative int to unsigned: {exact.min()} for uint64")
    if np.any(exact >= 1 << 64):
        raise OverflowError(f"int too big to convert: {exact.max()} for uint64")
    return exact.astype(np.uint64)


def _lengths(data: Any) -> tuple[int, ...]:
    """The shape of nested sequences, determined from the first elements."""
    lengths: list[int] = []
    while isinstance(data, _SEQUENCES):
        lengths.append(len(data))
        if not data:
            break
        data = data[0]
    is_array = hasattr(data, "__array__") and not isinstance(data, Carrier)  # NumPy's, or a column of a data frame
    return (*lengths, *np.shape(data)) if is_array else tuple(lengths)


def _read(
    data: object, lengths: tuple[int, ...], depth: int, kinds: set[type | NumpyType], target: NumpyType | None
) -> object:
    """The data at one depth in a form that NumPy accepts; adds the types and dtypes of the numbers to `kinds`."""
    if isinstance(data, _SEQUENCES):
        _check_length(data, len(data), lengths, depth)
        types = {*map(type, data)}
        if depth + 1 == len(lengths) and types <= _NUMBERS:
            kinds |= types
            return data
        return [_read(item, lengths, depth + 1, kinds, target) for item in data]
    if isinstance(data, Carrier):
        kinds.add(data._dtype)
        return _of_tensor(data, lengths, depth, target)
    if isinstance(data, np.ndarray | np.generic):
        kinds.add(data.dtype)
        return _of_array(data, lengths, depth)
    if isinstance(data, str | bytes):
        raise ValueError(f"too many dimensions '{type(data).__name__}': a tensor holds numbers, not {data!r}")
    if not isinstance(data, int | float | complex):
        return _of_other(data, lengths, depth, kinds)
    if depth < len(lengths):
        raise TypeError(
            f"not a sequence: {data!r} is at a position where other rows are sequences of length {lengths[depth]} at dim {depth}"
        )
    kinds.add(next(kind for kind in (bool, int, float, complex) if isinstance(data, kind)))
    return data


def _check_length(data: object, length: int, lengths: tuple[int, ...], depth: int) -> None:
    """Refuse a row whose length differs from the first, and a sequence where the first element is a number."""
    if depth == len(lengths):
        raise TypeError(
            f"'{type(data).__name__}' object cannot be interpreted as an integer: it is at dim {depth}, where the first "
            "element is a number"
        )
    if length != lengths[depth]:
        raise ValueError(
            f"expected sequence of length {lengths[depth]} at dim {depth} (got {length}): the rows of a tensor have one "
            "length"
        )


def _of_tensor(data: Tensor, lengths: tuple[int, ...], depth: int, target: NumpyType | None) -> Array:
    """The elements of a tensor among the data, as one number or a row."""
    if data._followed:
        escape("item", data, "tensor()")
        warn(
            "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
            f"Consider using tensor.detach() first. To keep the gradient, join tensors with {package}.stack."
        )
    array: Array = data._concrete("tensor")
    axes = len(lengths) - depth
    rest, inner = lengths[depth:], math.prod(array.shape[axes:])
    if array.ndim < axes:
        raise TypeError(f"not a sequence: a tensor of shape {tuple(array.shape)} is where rows have shape {rest}")
    for at, (length, wanted) in enumerate(zip(array.shape, rest, strict=False), depth):
        if length != wanted:
            raise ValueError(f"expected sequence of length {wanted} at dim {at} (got {length}): it is a tensor")
    whole = array.dtype.kind in "iub" if target is None else target.kind in "iub"
    if inner != 1 or (whole and array.dtype.kind not in "iub"):
        raise (TypeError if whole else ValueError)(
            f"{_INDEX if whole else _SCALAR}: there is a tensor of shape {tuple(data.shape)} and dtype {data.dtype} among the "
            "data; join tensors with stack or cat"
        )
    return array.reshape(rest)


def _of_array(data: Array | np.generic, lengths: tuple[int, ...], depth: int) -> Array | np.generic:
    """A NumPy array or number among the data; refused if others at its depth have another shape."""
    for at, length in enumerate(data.shape, depth):
        _check_length(data, length, lengths, at)
    if depth + data.ndim < len(lengths):
        raise TypeError(
            f"not a sequence: an array of shape {data.shape} is at a position where others have shape {lengths[depth:]}"
        )
    return data


def _of_other(data: object, lengths: tuple[int, ...], depth: int, kinds: set[type | NumpyType]) -> Array | np.generic:
    """An object that NumPy may convert to a number; refused if it cannot."""
    array = np.asarray(data)
    if array.dtype.kind not in "buifc":
        name = type(data).__name__
        raise RuntimeError(f"Could not infer dtype of {name}: a tensor holds numbers, not a {name}")
    kinds.add(array.dtype)
    return _of_array(array, lengths, depth)


def _promoted(kinds: set[type | NumpyType]) -> NumpyType:
    """The promoted dtype of several Python types and NumPy dtypes."""
    known: dict[type | NumpyType, NumpyType] = {
        bool: np.dtype(np.bool_),
        int: np.dtype(np.int64),
        float: _dtypes.default_numpy(),
        complex: _dtypes.default_complex().numpy,
    }
    dtypes = [np.dtype(known.get(kind, kind)) for kind in kinds] or [_dtypes.default_numpy()]
    return functools.reduce(lambda a, b: _dtypes.promote_types(a, b).numpy, dtypes)
