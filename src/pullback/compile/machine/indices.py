"""Affine indices: for operations that only move elements, the position in the input of each element of the output.

An index has, for each axis of a value, an offset and terms: axes of the iteration with their strides. A slice, a transpose, a
broadcast or a window so costs nothing in a loop. A reshape is affine where each axis of the iteration stays within one axis
of the value; where it does not, the axis of the iteration has to be split.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..._core.typing import Index as BasicIndex


Affine = tuple[int, tuple[tuple[int, int], ...]]
Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Flat:
    """A position in a flattened contiguous array."""

    place: Affine


Index = tuple[Affine, ...]
AnyIndex = Index | Flat

NOWHERE: Affine = (0, ())


class Cut(Exception):  # noqa: N818  # a finding, no error
    """Raised where an axis of the iteration has to be split; the inner part has this length."""

    def __init__(self, axis: int, inner: int) -> None:
        super().__init__(axis, inner)
        self.axis, self.inner = axis, inner


class Unaligned(Exception):  # noqa: N818  # a finding, no error
    """Raised where no affine index exists, so that a value has to be stored in memory first."""

    def __init__(self, value: Any = None) -> None:
        super().__init__()
        self.value = value


def shifted(at: Affine, offset: int, step: int = 1) -> Affine:
    """offset + step * at."""
    return offset + step * at[0], tuple([(axis, step * coefficient) for axis, coefficient in at[1]])


def summed(first: Affine, second: Affine) -> Affine:
    """The sum of two affine positions."""
    terms = dict(first[1])
    for axis, coefficient in second[1]:
        terms[axis] = terms.get(axis, 0) + coefficient
    return first[0] + second[0], tuple(sorted((axis, c) for axis, c in terms.items() if c))


def strides(shape: Shape) -> Shape:
    """The strides, in elements, of a C-contiguous array."""
    found, step = [], 1
    for size in reversed(shape):
        found.append(step)
        step *= size
    return tuple(reversed(found))


def contiguous(shape: Shape) -> Affine:
    """The position in a C-contiguous array whose axes are those of the iteration."""
    return 0, tuple([(axis, step) for axis, step in enumerate(strides(shape)) if shape[axis] > 1])


def flat(index: AnyIndex, shape: Shape) -> Affine:
    """The position in the flattened array that an index gives."""
    if isinstance(index, Flat):
        return index.place
    total = NOWHERE
    for at, step in zip(index, strides(shape), strict=True):
        if at != NOWHERE:
            total = summed(total, shifted(at, 0, step))
    return total


def unravelled(place: Affine, shape: Shape, domain: Sequence[int]) -> Index:
    """The index along each axis that a position in the flattened array gives.

    Raises
    ------
    Cut, Unaligned
        If an axis of the iteration crosses the end of an axis of the array.
    """
    offset, terms = place
    steps = strides(shape)
    found: list[dict[int, int]] = [{} for _ in shape]
    for axis, coefficient in terms:
        span = coefficient * domain[axis]
        for k, step in enumerate(steps):
            if shape[k] > 1 and step <= coefficient and coefficient % step == 0 and coefficient < step * shape[k]:
                end = step * shape[k]
                if span > end:
                    inner, rest = divmod(end, coefficient)
                    if rest or domain[axis] % inner:
                        raise Unaligned
                    raise Cut(axis, inner)
                found[k][axis] = coefficient // step
                break
        else:
            raise Unaligned
    index = []
    for k, step in enumerate(steps):
        start = offset // step % shape[k] if shape[k] else 0
        last = start + sum(c * (domain[axis] - 1) for axis, c in found[k].items())
        if last >= max(shape[k], 1):
            raise Unaligned
        index.append((start, tuple(sorted(found[k].items()))))
    return tuple(index)


def whole(shape: Shape, domain: Sequence[int], axes: int) -> Index:
    """The index that runs over a whole value while the first axes of an iteration run over theirs, in order."""
    steps = strides(tuple(domain[:axes]))
    terms = tuple([(axis, steps[axis]) for axis in range(axes) if domain[axis] > 1])
    return unravelled((0, terms), shape, domain)


def uncut(place: Affine, parts: Sequence[Sequence[int]]) -> Affine:
    """A position in terms of split axes, in terms of the unsplit ones.

    Raises
    ------
    Unaligned
        If the stride along an unsplit axis is not constant.
    """
    offset, terms = place
    steps, found, axis = dict(terms), [], 0
    for number, part in enumerate(parts):
        pairs = [(size, steps.get(axis + i, 0)) for i, size in enumerate(part) if size > 1]
        for (_, outer), (size, inner) in itertools.pairwise(pairs):
            if outer != size * inner:
                raise Unaligned
        if pairs and pairs[-1][1]:
            found.append((number, pairs[-1][1]))
        axis += len(part)
    return offset, tuple(found)


def along_axes(index: AnyIndex, shape: Shape, domain: Sequence[int]) -> Index:
    """An index by axes; flat ones are converted."""
    return unravelled(index.place, shape, domain) if isinstance(index, Flat) else index


def broadcast(index: Index, shape: Shape) -> Index:
    """The index of an operand of that shape, which is broadcast."""
    if not shape:
        return ()
    return tuple(
        [NOWHERE if size == 1 else at for at, size in zip(index[len(index) - len(shape) :], shape, strict=True)]
    )


# For each operation that moves elements, the index in its input as a function of that in its output


def _getitem(at: Index, shape: Shape, index: BasicIndex) -> Index:
    entries = list(index) if isinstance(index, tuple) else [index]
    if Ellipsis not in entries:
        entries.append(Ellipsis)
    taken = sum(entry is not None and entry is not Ellipsis for entry in entries)
    places, found = iter(at), []
    for entry in entries:
        if entry is Ellipsis:
            found += [next(places) for _ in range(len(shape) - taken)]
        elif entry is None:
            next(places)
        elif isinstance(entry, slice):
            start, _, step = entry.indices(shape[len(found)])
            found.append(shifted(next(places), start, step))
        else:
            found.append((int(entry) % shape[len(found)], ()))
    return tuple(found)


FLATTENS = {"reshape", "expand_dims", "squeeze", "clone", "tied", "drawn"}
"""Operations that keep the order of all elements."""


def moved(
    name: str, at: AnyIndex, shape: Shape, out: Shape, params: dict[str, Any], domain: Sequence[int], number: int = 0
) -> AnyIndex:
    """The index in the input of an operation that moves elements, from that in its output."""
    if name in FLATTENS and (isinstance(at, Flat) or name == "reshape"):
        place = flat(at, out)
    elif name == "as_strided":
        place = _strided(along_axes(at, out, domain), params)
    else:
        return MOVES[name](along_axes(at, out, domain), shape, params, number)
    try:
        return unravelled(place, shape, domain)
    except Unaligned:
        return Flat(place)


def _without(at: Index, shape: Shape, axis: Any) -> Index:
    axes = {axis % len(shape)} if isinstance(axis, int) else {each % len(shape) for each in axis} if shape else set()
    places = iter(at)
    return tuple([NOWHERE if i in axes else next(places) for i in range(len(shape))])


def _diagonal(at: Index, shape: Shape, axes: tuple[int, int]) -> Index:
    chosen = {axis % len(shape) for axis in axes}
    places = iter(at)
    return tuple([at[-1] if i in chosen else next(places) for i in range(len(shape))])


def _permuted(at: Index, axes: Sequence[int]) -> Index:
    found = [NOWHERE] * len(at)
    for place, axis in enumerate(axes):
        found[axis] = at[place]
    return tuple(found)


def _flipped(at: Index, shape: Shape, axis: Sequence[int] | int) -> Index:
    axes = {axis} if isinstance(axis, int) else set(axis)
    return tuple([shifted(p, shape[i] - 1, -1) if i in axes else p for i, p in enumerate(at)])


def _windows(at: Index, axis: int, step: int) -> Index:
    return tuple([summed(shifted(p, 0, step), at[-1]) if i == axis else p for i, p in enumerate(at[:-1])])


def _split(at: Index, axis: int, start: int) -> Index:
    return tuple([shifted(p, start) if i == axis else p for i, p in enumerate(at)])


def _strided(at: Index, p: dict[str, Any]) -> Affine:
    place: Affine = (p["offset"], ())
    for one, step in zip(at, p["stride"], strict=True):
        place = summed(place, shifted(one, 0, step))
    return place


# (the index of the output, the shape of the input, metadata, the number of the output)
MOVES: dict[str, Callable[[Index, Shape, dict[str, Any], int], Index]] = {
    "broadcast_to": lambda at, s, p, n: broadcast(at, s),
    "permute_dims": lambda at, s, p, n: _permuted(at, p["axes"]),
    "matrix_transpose": lambda at, s, p, n: (*at[:-2], at[-1], at[-2]),
    "expand_dims": lambda at, s, p, n: at[: p["axis"]] + at[p["axis"] + 1 :],
    "squeeze": lambda at, s, p, n: _without(at, s, p["axis"]),
    "getitem": lambda at, s, p, n: _getitem(at, s, p["index"]),
    "flip": lambda at, s, p, n: _flipped(at, s, p["axis"]),
    "diagonal": lambda at, s, p, n: _diagonal(at, s, p["axes"]),
    "windows": lambda at, s, p, n: _windows(at, p["axis"], p["step"]),
    "unbind": lambda at, s, p, n: (*at[: p["axis"]], (n, ()), *at[p["axis"] :]),
    "split": lambda at, s, p, n: _split(at, p["axis"], sum(p["sizes"][:n])),
    "clone": lambda at, s, p, n: at,
    "tied": lambda at, s, p, n: at,
    "drawn": lambda at, s, p, n: at,
}

NAMES = {*MOVES, "reshape", "as_strided"}
"""The operations that move elements."""
