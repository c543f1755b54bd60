"""Arithmetic on shapes, as tuples of ints: sizes, axes and broadcasting.

No function here uses an array. Most take the name of the calling operation, with which their error messages begin.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self, SupportsIndex, overload

from .dtypes import qualified
from .package import package
from .sites import caller, describe

if TYPE_CHECKING:
    from .typing import Namespace, Operations, Summed


Shape = tuple[int, ...]


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple of ints whose slices, sums and multiples are sizes again.

    An entry that is no int raises TypeError.

    Parameters
    ----------
    sizes
        The lengths of the axes.

    >>> import pullback
    >>> pullback.Size([2, 3, 4])[1:] + (5,)
    pullback.Size([3, 4, 5])
    """

    __slots__ = ()
    __module__ = "pullback"

    def __new__(cls, sizes: Iterable[SupportsIndex] = (), /) -> Self:
        entries = tuple(sizes)
        for entry in entries:
            if type(entry) is not int:
                entries = tuple([_entry(place, value) for place, value in enumerate(entries)])
                break
        return super().__new__(cls, entries)  # type: ignore[arg-type]  # ints by now

    def numel(self) -> int:
        """The number of elements: the product of the sizes.

        >>> import pullback
        >>> pullback.Size([2, 3]).numel()
        6
        """
        return math.prod(self)

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> int: ...
    @overload
    def __getitem__(self, index: slice, /) -> Size: ...
    def __getitem__(self, index: SupportsIndex | slice, /) -> int | Size:
        found = tuple.__getitem__(self, index)
        return size_of(found) if isinstance(found, tuple) else found

    def __add__(self, other: tuple[Any, ...], /) -> Size:
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: object, /) -> Size:
        return Size(tuple.__add__(other, self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, count: SupportsIndex, /) -> Size:
        return size_of(tuple.__mul__(self, count))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return qualified(f"Size({list(self)})")


def _entry(place: int, value: SupportsIndex) -> int:
    try:
        return int(operator.index(value))
    except TypeError:
        raise TypeError(
            f"{package}.Size() takes an iterable of 'int' (item {place} is {type(value).__name__!r})"
        ) from None


def size_of(shape: Shape) -> Size:
    """A Size of entries that are known to be ints, such as an array's shape; they are not checked."""
    return tuple.__new__(Size, shape)


class CallableInt(int):
    """What `t.size` is: the number of elements, and torch's method as well, which gives the shape or one of its sizes.

    >>> import pullback
    >>> t = pullback.ones(2, 3)
    >>> t.size + 1, t.size(), t.size(-1)
    (7, pullback.Size([2, 3]), 3)
    """

    _shape: Shape

    def __new__(cls, shape: Shape) -> Self:
        self = int.__new__(cls, math.prod(shape))
        self._shape = shape
        return self

    @overload
    def __call__(self, dim: None = None) -> Size: ...
    @overload
    def __call__(self, dim: SupportsIndex) -> int: ...
    def __call__(self, dim: SupportsIndex | None = None) -> int | Size:
        shape = self._shape
        if dim is None:
            return size_of(shape)
        if not shape:
            raise IndexError(f"size(): Dimension specified as {dim} but tensor has no dimensions: its shape is ()")
        if type(dim) is not int or not -len(shape) <= dim < len(shape):
            dim = normalize_axis(dim, len(shape), "size")
        return shape[dim]

    def __getnewargs__(self) -> tuple[Shape]:  # type: ignore[override]  # an int's are the int
        return (self._shape,)


def _begun(operation: str) -> str:
    return f"{operation}(): " if operation else ""


def normalize_axis(dim: SupportsIndex, ndim: int, operation: str = "") -> int:
    """An axis counted from 0, from one that may be counted from the end; 0 and -1 stand for no axis of a 0-d tensor.

    Raises IndexError for an axis that is not there, TypeError for what is no int.

    >>> from pullback._core.shapes import normalize_axis
    >>> normalize_axis(-1, 3), normalize_axis(-1, 0)
    (2, 0)
    """
    place = dim if type(dim) is int else _int(dim)
    if place is None:
        raise TypeError(f"{_begun(operation)}argument 'dim' must be int, not {type(dim).__name__}: {dim!r}")
    if -ndim <= place < ndim:
        return place + ndim if place < 0 else place
    if ndim == 0 and place in (0, -1):
        return 0
    last = max(ndim, 1)
    raise IndexError(
        f"{_begun(operation)}Dimension out of range (expected to be in range of [{-last}, {last - 1}], but got {place})"
        ": dims count from 0, or from -1 at the end"
    )


def _int(value: Any) -> int | None:
    """The value as an int; None for a bool, a float and anything else that is not an integer."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def normalize_axes(dims: SupportsIndex | Iterable[SupportsIndex] | None, ndim: int, operation: str = "") -> Shape:
    """Axes counted from 0, in the order given; None stands for all of them, and a 0-d tensor has none.

    An axis given twice raises RuntimeError; others that cannot be, IndexError and TypeError.

    >>> from pullback._core.shapes import normalize_axes
    >>> normalize_axes((-1, 0), 3), normalize_axes(None, 3)
    ((2, 0), (0, 1, 2))
    """
    if dims is None:
        return tuple(range(ndim))
    if type(dims) is int and 0 <= dims < ndim:
        return (dims,)
    members = _members(dims)
    axes = tuple([normalize_axis(dim, ndim, operation) for dim in ((dims,) if members is None else members)])
    if len(axes) > 1 and len(set(axes)) < len(axes):
        twice = next(axis for axis in axes if axes.count(axis) > 1)
        raise RuntimeError(
            f"{_begun(operation)}dim {twice} appears multiple times in the list of dims {list(members or ())}: "
            "name each axis once, counted from either end"
        )
    return axes if ndim else ()


def _members(value: Any) -> tuple[Any, ...] | None:
    """The entries of a sequence or of a 1-d array; None for any other value."""
    if isinstance(value, tuple | list) or (isinstance(value, Sequence) and not isinstance(value, str | bytes)):
        return tuple(value)
    return tuple(value.tolist()) if getattr(value, "ndim", None) == 1 else None


def parse_sizes(args: tuple[Any, ...], operation: str = "", argument: str = "size") -> Shape:
    """The sizes passed in a call like `f(2, 3)`, `f((2, 3))`, `f([2, 3])` or `f(size)`; an empty tuple for `f()`.

    TypeError for what is no int.

    >>> from pullback._core.shapes import parse_sizes
    >>> parse_sizes((2, 3)), parse_sizes(([2, 3],)), parse_sizes(())
    ((2, 3), (2, 3), ())
    """
    single = len(args) == 1 and type(args[0]) is not int
    members = _members(args[0]) if single else args
    sizes = args if members is None else members
    for size in sizes:
        if type(size) is not int:
            break
    else:
        return sizes
    ints = [_int(size) for size in sizes]
    if None not in ints:
        return tuple([size for size in ints if size is not None])
    begun = f"{_begun(operation)}argument {argument!r}"
    if members is None:
        raise TypeError(f"{begun} (position 1) must be tuple of ints, not {type(args[0]).__name__}")
    place = ints.index(None)
    raise TypeError(
        f'{begun} failed to unpack the object at pos {place + 1} with error "type must be tuple of ints,but got '
        f'{type(sizes[place]).__name__}": {sizes[place]!r} in {sizes}'
    )


def broadcasts_to(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """True if an array of the first shape broadcasts to the second."""
    own = to[len(to) - len(shape) :]
    return len(shape) <= len(to) and all(a in (1, b) for a, b in zip(shape, own, strict=True))


def broadcast_shapes(*shapes: SupportsIndex | Iterable[SupportsIndex]) -> Size:
    """The common shape to which the given shapes broadcast: aligned from the right, sizes are equal or 1.

    Shapes that do not fit raise RuntimeError, negative sizes ValueError.

    >>> import pullback
    >>> pullback.broadcast_shapes((4, 1), (3,))
    pullback.Size([4, 3])
    """
    result: Shape = ()
    for shape in shapes:
        sizes = parse_sizes((shape,), "broadcast_shapes", "shapes")
        if min(sizes, default=0) < 0:
            raise ValueError(f"Attempting to broadcast a dimension with negative length! The shape is {sizes}")
        result = in_common(result, sizes)
    return size_of(result)


def in_common(a: Shape, b: Shape, operation: str = "broadcasting") -> Shape:
    """The common shape to which two shapes broadcast; RuntimeError, which names the operation, if there is none.

    >>> from pullback._core.shapes import in_common
    >>> in_common((4, 1), (3,))
    (4, 3)
    """
    ndim = max(len(a), len(b))
    pairs = list(zip((1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b, strict=True))
    for dim in reversed(range(ndim)):
        left, right = pairs[dim]
        if left != right and 1 not in (left, right):
            raise RuntimeError(
                f"{operation}: shapes {tuple(a)} and {tuple(b)} do not fit at axis {dim - ndim}, {left} against {right}, in "
                f"{describe(caller())}. The size of tensor a ({left}) must match the size of tensor b ({right}) at "
                f"non-singleton dimension {dim}: sizes are aligned from the right, and equal or 1.{_alignment(a, b)}"
            )
    return tuple([right if left == 1 else left for left, right in pairs])


def _alignment(a: Shape, b: Shape) -> str:
    """Advice on how to reshape one of two shapes that do not broadcast, where that is obvious; else an empty string."""
    name, short, tall = ("a", a, b) if len(a) < len(b) else ("b", b, a)
    ways = [
        (f"{name}.reshape{short + (1,) * missing}", short + (1,) * missing, tall)
        for missing in range(1, len(tall) - len(short) + 1)
    ]
    if len(short) > 1:
        ways.append((f"{name}.mT", (*short[:-2], short[-1], short[-2]), tall))
    for text, shape, other in ways:
        if _fits(shape, other):
            return f" {text}, of shape {shape}, fits {other}: together {in_common(shape, other)}."
    return ""


def _fits(a: Shape, b: Shape) -> bool:
    return all(left == right or 1 in (left, right) for left, right in zip(reversed(a), reversed(b), strict=False))


def infer_shape(shape: Shape, numel: int, operation: str = "") -> Shape:
    """A shape for `numel` elements, with a single -1 replaced by the size that follows from the others.

    RuntimeError where there is no such size, or more than one.

    >>> from pullback._core.shapes import infer_shape
    >>> infer_shape((2, -1), 6)
    (2, 3)
    """
    known = 1
    free = None
    for place, size in enumerate(shape):
        if size >= 0:
            known *= size
        elif size != -1:
            raise RuntimeError(
                f"{_begun(operation)}invalid shape dimension {size} at index {place} of shape {list(shape)}: sizes are "
                "not negative, but for one -1, which stands for what is left"
            )
        elif free is not None:
            raise RuntimeError(f"{_begun(operation)}only one dimension can be inferred: {list(shape)} has -1 twice")
        else:
            free = place
    if free is None:
        if known == numel:
            return tuple(shape)
        reason = f"its sizes multiply to {known}"
    elif known and numel % known == 0:
        return (*shape[:free], numel // known, *shape[free + 1 :])
    elif numel == 0:
        raise RuntimeError(
            f"{_begun(operation)}cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified "
            "dimension size -1 can be any value and is ambiguous: write that size"
        )
    else:
        reason = f"no size in the place of -1 makes {known} times it {numel}"
    raise RuntimeError(f"{_begun(operation)}shape '{list(shape)}' is invalid for input of size {numel}: {reason}")


@functools.lru_cache(maxsize=1024)
def expand_shape(shape: Shape, target: Shape, operation: str = "expand") -> Shape:
    """The shape that expand() makes: a target in which -1 keeps a size, and only sizes of 1 change.

    RuntimeError where a target asks for anything else.

    >>> from pullback._core.shapes import expand_shape
    >>> expand_shape((3, 1), (2, -1, 4))
    (2, 3, 4)
    """
    new = len(target) - len(shape)
    if new < 0:
        raise RuntimeError(
            f"{operation}(tensor{{{list(shape)}}}, size={list(target)}): the number of sizes provided ({len(target)}) "
            f"must be greater or equal to the number of dimensions in the tensor ({len(shape)}): give a size for each "
            "dimension, -1 to keep the one it has"
        )
    result = list(target)
    for dim in reversed(range(len(target))):
        size, existing = target[dim], shape[dim - new] if dim >= new else None
        if size == -1 and existing is not None:
            result[dim] = existing
        elif size < 0 or existing not in (None, 1, size):
            raise RuntimeError(
                f"{_begun(operation)}The expanded size of the tensor ({size}) {_not_expanded(dim, size, existing)}  "
                f"Target sizes: {list(target)}.  Tensor sizes: {list(shape)}. Only an axis of size 1 is expanded"
            )
    return tuple(result)


def _not_expanded(dim: int, size: int, existing: int | None) -> str:
    if existing is None:
        return f"isn't allowed in a leading, non-existing dimension {dim}, where there is no size to keep."
    if size < 0:
        return f"isn't allowed in dimension {dim}: the only negative size is -1, to keep the one it has."
    return f"must match the existing size ({existing}) at non-singleton dimension {dim}."


@functools.lru_cache(maxsize=1024)
def sum_to_axes(shape: Shape, target: Shape) -> tuple[Shape, bool]:
    """The axes to sum over to undo a broadcast from a target to a shape, and whether a reshape is needed afterwards.

    Summed over them without keeping them, an array of the shape has the target's elements; where the second is True, it
    does not have the target's shape yet. A target that does not broadcast to the shape raises RuntimeError.

    >>> from pullback._core.shapes import sum_to_axes
    >>> sum_to_axes((5, 2, 3), (3,)), sum_to_axes((2, 3), (2, 1)), sum_to_axes((1, 3), (3,))
    (((0, 1), False), ((1,), True), ((), True))
    """
    new = len(shape) - len(target)
    if new < 0 or any(size not in {1, have} for size, have in zip(target, shape[new:], strict=True)):
        raise RuntimeError(
            f"got {list(shape)} but expected shape compatible with {list(target)}: a gradient has its tensor's shape, "
            "or one to which that broadcasts"
        )
    wanted = (1,) * new + tuple(target)
    axes = tuple([axis for axis, have in enumerate(shape) if have != 1 and have != wanted[axis]])
    left = tuple([have for axis, have in enumerate(shape) if axis not in axes])
    return axes, left != tuple(target)


def sum_to(xp: Namespace | Operations, g: Summed, shape: tuple[int, ...]) -> Summed:
    """A cotangent summed over the axes along which its input was broadcast."""
    axes, unshaped = sum_to_axes(g.shape, shape)
    summed: Any = g
    if axes:
        summed = xp.sum(summed, axis=axes, keepdims=False)
    return xp.reshape(summed, shape=shape) if unshaped else summed
