"""Reading and writing through ints, slices, Ellipsis, None, and boolean and integer arrays."""

from __future__ import annotations

import itertools
import operator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .. import ops
from .._core import dtypes, errors, xp as _xp
from .._core.lazy import provider
from .._core.modes import mode
from .._core.primitives import Carrier
from .._core.shapes import Shape
from .._core.sites import warn
from .._core.values import concrete, data, require_operand
from .._tape.memory import protect
from .._tape.views import (
    Steps,
    begun,
    check_writable,
    counting,
    enlist,
    overlaps,
    rebase,
    rebase_region,
    steps,
    unrecorded,
    view,
    write,
)
from .promotion import cast, category, held

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Array, Tensor

Index = tuple[Any, ...]
WHOLE: Index = (Ellipsis,)
BOUNDS = {int, type(None)}
"""The types of the bounds of a plain slice."""


def _entries(index: object) -> Index:
    """An index as a tuple; a list that cannot be an array counts as a tuple."""
    if isinstance(index, tuple):
        return index
    return tuple(index) if isinstance(index, list) and not _is_array(index) else (index,)


def _is_array(entries: list[Any]) -> bool:
    """True if a list consists of numbers or equally nested lists, an array in NumPy; torch treats others as tuples."""
    if any(entry is None or entry is Ellipsis or isinstance(entry, (slice, Carrier)) for entry in entries):
        return False
    nested = any(isinstance(entry, (list, tuple, range, np.ndarray)) for entry in entries)
    try:
        return not nested or np.asarray(entries).dtype != object
    except (ValueError, TypeError):  # of different lengths, or containing slices
        return False


def _entry(entry: Any) -> Any:
    """One entry of an index: metadata unchanged, data as an array or tensor of integers or bools."""
    if entry is None or entry is Ellipsis or isinstance(entry, slice):
        return _plain_slice(entry) if isinstance(entry, slice) else entry
    if isinstance(entry, (bool, np.bool_)):
        return np.asarray(entry)
    if isinstance(entry, (int, np.integer)):
        return int(entry)
    if isinstance(entry, (list, tuple, range)):
        entry = np.asarray(entry) if len(entry) else np.zeros(0, np.int64)
    elif hasattr(type(entry), "__array__") and not isinstance(
        entry, (Carrier, np.ndarray, np.generic)
    ):  # a table's column
        entry = np.asarray(entry)
    if isinstance(entry, (Carrier, np.ndarray)):
        entry = _as_mask(entry)
        kind = category(entry)[0].kind
        if kind in "iu":
            plain = data(entry)
            return int(concrete(entry, "index")) if entry.ndim == 0 and isinstance(plain, np.ndarray) else entry
        if kind == "b":
            return entry
        raise IndexError(
            f"tensors used as indices must be long, int, byte or bool tensors: this one has dtype {entry.dtype}"
        )
    if isinstance(entry, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(entry).__name__}': a tensor has no names for its parts")
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
        f"(got {type(entry).__name__}): convert numbers with int(i), tensors with i.long()"
    )


def _as_mask(entry: Any) -> Any:
    """A uint8 tensor as a bool mask, as in torch; other tensors, and NumPy arrays of uint8, unchanged."""
    if not isinstance(entry, Carrier) or entry._dtype != np.uint8:
        return entry
    warn(
        "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead: it is a mask, as "
        "x[index.bool()]. Write x[index.long()] for integers."
    )
    return ops.not_equal(entry, np.zeros((), np.uint8))


def _plain_slice(entry: slice) -> slice:
    """A slice whose bounds are plain ints, so that it does not refer to tensors."""

    def bound(value: Any) -> Any:
        if value is None or type(value) is int:
            return value
        try:
            return operator.index(value)
        except TypeError:
            raise TypeError(
                f"slice indices must be integers or None or have an __index__ method: got {type(value).__name__}"
            ) from None

    return slice(bound(entry.start), bound(entry.stop), bound(entry.step))


def split_index(tensor: Tensor, index: Any) -> tuple[Index, list[Any]]:
    """An index split into metadata and arrays: each `_xp.array` in the metadata refers to the next array."""
    spec: list[Any] = []
    arrays: list[Any] = []
    axes = 0
    for given in _entries(index):
        entry = _entry(given)
        if isinstance(entry, (Carrier, np.ndarray)):
            spec.append(_xp.array)
            arrays.append(entry)
            axes += _consumed(entry)
        else:
            spec.append(entry)
            axes += entry is not None and entry is not Ellipsis
    if axes > tensor.ndim:
        if tensor.ndim == 0:
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a 0-dim tensor to a number"
            )
        raise IndexError(
            f"too many indices for tensor of dimension {tensor.ndim}: the index has {axes}, the tensor the shape {tuple(tensor.shape)}"
        )
    dots = [i for i, entry in enumerate(spec) if entry is Ellipsis]
    if len(dots) > 1:
        spec = _of_one_ellipsis(spec, dots[0], tensor.ndim - axes)
    _check_bounds(tuple(tensor.shape), spec, arrays, axes)
    if not arrays and not dots:
        spec.append(Ellipsis)  # so that NumPy returns a view of a single element, not a scalar
    return tuple(spec), arrays


def _of_one_ellipsis(spec: list[Any], place: int, skipped: int) -> list[Any]:
    """An index without ellipses after the first: in torch each covers the same number of axes, which exist once."""
    rest = itertools.dropwhile(lambda entry: entry is not Ellipsis, spec[place + 1 :])
    if skipped and any(entry is not Ellipsis for entry in rest):
        raise IndexError(
            "too many indices for tensor: the index has two ellipses (...). The first one stands for all axes that are not "
            f"indexed, here {skipped}, and none are left for the second: write one"
        )
    return [entry for i, entry in enumerate(spec) if i == place or entry is not Ellipsis]


def _consumed(array: Any) -> int:
    """The number of axes that an array in an index covers."""
    return array.ndim if category(array)[0].kind == "b" else 1


def _check_bounds(shape: tuple[int, ...], spec: list[Any], arrays: list[Any], axes: int) -> None:
    """Raise torch's error for an index that is out of bounds."""
    rest = iter(arrays)
    axis = 0
    for position, entry in enumerate(spec):
        if entry is Ellipsis:
            axis += len(shape) - axes
        elif type(entry) is int:
            if not -shape[axis] <= entry < shape[axis]:
                raise IndexError(errors.out_of_bounds(entry, axis, shape[axis]))
            axis += 1
        elif entry is _xp.array:
            array = next(rest)
            width = _consumed(array)
            masked = shape[axis : axis + width]
            if category(array)[0].kind == "b" and tuple(array.shape) != masked and not _is_empty(array, masked):
                raise IndexError(
                    f"The shape of the mask {list(array.shape)} at index {position} does not match the shape of the "
                    f"indexed tensor {list(shape)} at index {axis}"
                )
            axis += width
        elif entry is not None:
            axis += 1


def _is_empty(mask: Any, shape: Shape) -> bool:
    """True if a mask has axes of length 0, and otherwise a shape's lengths: the array API standard accepts it."""
    return dtypes.get_promotion() == "standard" and all(
        own in (0, size) for own, size in zip(mask.shape, shape, strict=True)
    )


def _selected(tensor: Tensor, spec: Index, arrays: list[Any]) -> tuple[Tensor, Index]:
    """The tensor with the ints of an advanced index applied first, as in torch, and the remaining index."""
    if not arrays or not any(type(entry) is int for entry in spec):
        return tensor, spec
    first = tuple(
        entry if type(entry) is int or entry is Ellipsis else slice(None)
        for entry, width in _widths(spec, arrays)
        for _ in range(width)
    )
    if Ellipsis not in first:
        first += (Ellipsis,)  # so that the remainder is a writable view even of a single element
    return view(ops.getitem, tensor, index=first), tuple(entry for entry in spec if type(entry) is not int)


def _widths(spec: Index, arrays: list[Any]) -> list[tuple[Any, int]]:
    """Each entry of an index with the number of axes it covers."""
    rest = iter(arrays)
    return [(entry, _consumed(next(rest)) if entry is _xp.array else int(entry is not None)) for entry in spec]


def getitem(tensor: Tensor, index: Any) -> Tensor:
    """tensor[index]: a view for ints, slices, None and Ellipsis, a copy for arrays; steps may be negative."""
    shape = tuple(tensor.shape)  # of which an entry is read without a call
    if (plain := _plain(shape, index)) is not None:
        return view(ops.getitem, tensor, index=plain)
    spec, arrays = _split(tensor, shape, index)
    if not arrays:
        return view(ops.getitem, tensor, index=spec)
    tensor, spec = _selected(tensor, spec, arrays)
    try:
        return ops.index(tensor, *arrays, spec=spec)
    except IndexError as error:
        raise IndexError(f"{_in_torch_words(error)} (the tensor has shape {tuple(tensor.shape)})") from None


def _split(tensor: Tensor, shape: tuple[int, ...], index: Any) -> tuple[Index, list[Any]]:
    """As `split_index`, in less time for one mask, and for nothing but places, a tensor, array or list of them for each axis."""
    if type(index) is list and {*map(type, index)} == {int}:
        index = np.asarray(index)
    several = index if type(index) is tuple else (index,)
    if 0 < len(several) <= len(shape) and all(map(_are_places, several)):
        return (_xp.array,) * len(several), [*several]
    if _is_mask(index, shape):
        return (_xp.array,), [index]
    return split_index(tensor, index)


def _are_places(index: Any) -> bool:
    """True for a tensor or an array of signed integers with axes."""
    if type(index) is np.ndarray:
        return bool(index.dtype.kind == "i" and index.ndim)
    return isinstance(index, Carrier) and index._dtype.kind == "i" and index.ndim > 0


def _is_mask(index: Any, shape: tuple[int, ...]) -> bool:
    """True for a tensor or an array of bools with the axes of a tensor, or with the first of them."""
    if type(index) is not np.ndarray and not isinstance(index, Carrier):
        return False
    own = tuple(index.shape)
    kind = (index._dtype if isinstance(index, Carrier) else index.dtype).kind
    return bool(kind == "b" and own and own == shape[: len(own)])


def _plain(shape: tuple[int, ...], index: Any) -> Index | None:
    """A normalized index of ints within bounds, slices of ints, None and one ellipsis; None for any other index."""
    if type(index) is int:
        return (index, ...) if shape and -shape[0] <= index < shape[0] else None
    entries = index if type(index) is tuple else (index,)
    axis, dotted = 0, False
    for place, entry in enumerate(entries):
        if entry is None:
            continue
        if entry is Ellipsis and not dotted:
            dotted = True
            axis = max(axis, len(shape) - sum([later is not None for later in entries[place + 1 :]]))
            continue
        if axis >= len(shape):
            return None
        if type(entry) is int:
            if not -shape[axis] <= entry < shape[axis]:
                return None
        elif (
            type(entry) is not slice
            or type(entry.start) not in BOUNDS
            or type(entry.stop) not in BOUNDS
            or type(entry.step) not in BOUNDS
        ):
            return None
        axis += 1
    return entries if dotted else (*entries, ...)


def _in_torch_words(error: IndexError) -> str:
    text = str(error).replace("for axis", "for dimension")
    return text.replace("shape mismatch: indexing arrays", "shape mismatch: indexing tensors")


def setitem(tensor: Tensor, index: Any, value: Any) -> None:
    """tensor[index] = value: the memory is written, and the history is rebased."""
    shape = tuple(tensor.shape)
    plain = _plain(shape, index)
    spec, arrays = _split(tensor, shape, index) if plain is None else (plain, [])
    if (
        arrays
        and overlaps(tensor)
        and provider("fills of shared memory").is_filled("x[...] = value", tensor, (index, value), {})
    ):
        return
    check_writable(tensor, "x[...] = value", region=None if arrays else spec, value=value)
    tensor, spec = _selected(tensor, spec, arrays)
    value = _fitting(tensor, value, arrays)
    for given in (value, *arrays):
        if getattr(given, "level", 0) > tensor.level:
            enlist(tensor, given, "x[...] = value")
    if tensor.level or not isinstance(tensor._array, np.ndarray):
        if not arrays and tensor._base is not None and spec != WHOLE:
            setitem(view(ops.getitem, tensor, index=spec), WHOLE, value)  # the surrounding elements are not involved
            return
        write(tensor, _written_copy(tensor, value, spec, arrays), "x[...] = value")
        return
    place = (
        _xp.place([array._array if isinstance(array, Carrier) else array for array in arrays], spec) if arrays else spec
    )
    if value.ndim or arrays:
        value = _trimmed(value, np.shape(_found(tensor, tensor._array, place)))
    source = value._array if isinstance(value, Carrier) else value
    protect(tensor)
    writes: Steps = [(operator.setitem, tensor._array, place, source), counting(tensor)]
    if not arrays:
        base = tensor if tensor._base is None else tensor._base
        rebase_region(base, value, (*steps(tensor._path), (ops.getitem, {"index": spec})), writes)
        return
    edges = [arg._node if isinstance(arg, Carrier) else None for arg in (tensor, value)]
    current = mode.get()
    if any(edges) and current.grad:
        args = (tensor, value, *arrays)
        edges += [None] * len(arrays)
        conjugated = tensor._dtype.kind == "c"
        spec_of = {"spec": spec}
        writes = begun(writes)
        made = tensor.interpreter.record(ops.index_put, args, edges, tensor._array, spec_of, conjugated=conjugated)
        rebase(tensor, made, writes)
        return
    unrecorded(tensor, writes)
    if current.watcher is not None:
        current.watcher.wrote(tensor, False, None)


def _fitting(tensor: Tensor, value: Any, arrays: list[Any]) -> Any:
    """The value to write, in the dtype of the target: converted as by `copy_`, also complex numbers."""
    source, strength = category(value)
    if strength == "scalar":
        return held(value, tensor._dtype)
    if arrays and source.kind == "c" and tensor._dtype.kind != "c":
        raise RuntimeError(f"value cannot be converted to type {tensor.dtype} without overflow: it is complex")
    return cast(value, tensor._dtype)


def delitem(tensor: Tensor, index: Any) -> NoReturn:
    """del tensor[index] raises TypeError: elements of a tensor cannot be deleted."""
    raise TypeError("Tensor does not support deleting items: pick those that stay, as in x[kept]")


def _found(tensor: Tensor, array: Any, place: Index) -> Any:
    """The element at an index, which may raise."""
    try:
        return array[place]
    except IndexError as error:
        raise IndexError(f"{_in_torch_words(error)} (the tensor has shape {tuple(tensor.shape)})") from None


def _trimmed(value: Any, shape: tuple[int, ...]) -> Any:
    """The value without extra leading axes of length 1; raises if it does not broadcast to the target."""
    have, want = list(value.shape), list(shape)
    while have and have[0] == 1 and len(have) > len(want):
        have = have[1:]
    for axis in range(1, len(have) + 1):
        if axis > len(want) or have[-axis] not in (1, want[-axis]):
            size = want[-axis] if axis <= len(want) else 1
            raise RuntimeError(
                f"shape mismatch: The expanded size of the tensor ({size}) must match the existing size ({have[-axis]}) "
                f"at non-singleton dimension {max(len(want) - axis, 0)}.  Target sizes: {want}.  "
                f"Tensor sizes: {list(value.shape)}"
            )
    if len(have) == len(value.shape):
        return value
    return ops.reshape(value, shape=tuple(have))


def _written_copy(tensor: Tensor, value: Any, spec: Index, arrays: list[Any]) -> Tensor:
    """The tensor after the write, as a new value: for carriers whose memory cannot be written."""
    if (chosen := _chosen(tensor, value, spec, arrays)) is not None:
        return ops.where(*chosen, tensor)
    value = _trimmed(value, _region(tensor, spec, arrays))
    if arrays:
        return ops.index_put(tensor, value, *arrays, spec=spec)
    return ops.overwrite(tensor, value, path=((ops.getitem, {"index": spec}),))


def _chosen(tensor: Tensor, value: Any, spec: Index, arrays: list[Any]) -> tuple[Any, Any] | None:
    """If the index is a single mask: the mask and the value, with the axes of the tensor; else None.

    So the shapes do not depend on the mask, which may differ between the examples of a batch. The value must not have
    one element for each selected element, since their number is known only with the mask.
    """
    if len(arrays) != 1 or category(arrays[0])[0].kind != "b" or not arrays[0].ndim:
        return None
    if any(entry is not _xp.array and entry is not Ellipsis and entry != slice(None) for entry in spec):
        return None
    mask = arrays[0]
    shape, width = tuple(value.shape), mask.ndim
    others = tensor.ndim - width - sum(type(entry) is slice for entry in spec)
    before = sum(others if entry is Ellipsis else 1 for entry in spec[: spec.index(_xp.array)])
    after = tensor.ndim - width - before
    if len(shape) > after:
        split = len(shape) - after
        if shape[split - 1] != 1:
            return None
        value = ops.reshape(value, shape=(*shape[: split - 1], *(1,) * width, *shape[split:]))
    return ops.reshape(mask, shape=(*(1,) * before, *mask.shape, *(1,) * after)), value


def index_put(
    input: Tensor, indices: Sequence[Tensor | Array], values: Tensor | Array, accumulate: bool = False
) -> Tensor:
    """A copy with values written, or added, at an index: a tuple with an integer or bool tensor for each axis.

    Parameters
    ----------
    indices
        An index for each axis; None for all of one.
    values
        What is written, which broadcasts.

    >>> import pullback
    >>> pullback.zeros(3).index_put((pullback.tensor([0, 0]),), pullback.tensor(1.0), accumulate=True)
    tensor([2., 0., 0.])
    """
    if not isinstance(indices, (tuple, list)):
        raise TypeError(
            f"index_put(): argument 'indices' (position 1) must be tuple of Tensors, not {type(indices).__name__}"
        )
    for place, entry in enumerate(indices):
        if not isinstance(entry, (Carrier, np.ndarray)):
            raise TypeError(f"expected Tensor as element {place} in argument 0, but got {type(entry).__name__}")
    require_operand("index_put", "values", values, 3)
    indices = tuple(map(_as_mask, indices))
    split_index(input, indices)
    if category(values)[0] != input._dtype:
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {input.dtype} for the destination and "
            f"{values.dtype} for the source."
        )
    spec = (_xp.array,) * len(indices)
    if input.level and (chosen := _chosen(input, values, spec, list(indices))) is not None:
        mask, value = chosen
        return ops.where(mask, ops.add(input, value) if accumulate else value, input)
    region = _region(input, spec, indices)
    shape = tuple(values.shape)
    if len(shape) > len(region) or any(
        have not in (1, want) for have, want in zip(shape[::-1], region[::-1], strict=False)
    ):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(shape)} cannot be broadcast to indexing result of shape "
            f"{list(region)}"
        )
    if accumulate:
        spread = ops.broadcast_to(values, shape=region)
        return ops.add(input, ops.index_add(spread, *indices, spec=spec, shape=tuple(input.shape)))
    return ops.index_put(input, values, *indices, spec=spec)


def _region(tensor: Tensor, spec: Index, arrays: Sequence[Any]) -> tuple[int, ...]:
    """The shape of what an index selects, which depends on the shapes of integer arrays and on the values of masks."""

    def standing_for(array: Any) -> Any:
        if category(array)[0].kind == "b":
            return concrete(array, "index_put_")
        known = data(array)
        return known if isinstance(known, np.ndarray) else np.zeros(tuple(array.shape), np.intp)

    place = _xp.place(list(map(standing_for, arrays)), spec)
    return np.shape(_found(tensor, np.broadcast_to(np.False_, tuple(tensor.shape)), place))
