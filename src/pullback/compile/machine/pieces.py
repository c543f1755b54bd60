"""Pieces: operations whose result is assembled from several parts, and where these are stored."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import ops
from ..program import Equation, Value
from .indices import Affine, AnyIndex, Cut, Flat, Index, Unaligned, flat, moved, shifted, whole

if TYPE_CHECKING:
    from ..._core.typing import Path


# 1. What operations are assembled from


def _at(shape: tuple[int, ...], move: Callable[[Index], Index]) -> Callable[[Index, list[int]], Affine]:
    return lambda index, domain: flat(move(index), shape)


def _moved_along(at: Index, *, axis: int, start: int) -> Index:
    return tuple([shifted(place, start) if i == axis else place for i, place in enumerate(at)])


def _on_new_axis(at: Index, *, axis: int, number: int) -> Index:
    return (*at[:axis], (number, ()), *at[axis:])


Pieces = Iterator[tuple[Value | tuple[Value, tuple[int, ...]] | None, Any]]
"""Values, of which one may be broadcast to a shape, and where their elements go; None stands for zeros."""


def _concat(e: Equation) -> Pieces:
    axis, start = e.params["axis"], 0
    for x in e.inputs:
        if x.size:
            yield x, _at(e.output.shape, partial(_moved_along, axis=axis, start=start))
        start += x.shape[axis]


def _stack(e: Equation) -> Pieces:
    axis = e.params["axis"]
    for number, x in enumerate(e.inputs):
        yield x, _at(e.output.shape, partial(_on_new_axis, axis=axis, number=number))


def _moved(e: Equation, x: Value, path: Path) -> Pieces:
    """A value indexed by a chain of views."""
    shapes, probe = [], np.broadcast_to(np.empty((), e.output.dtype), e.output.shape)
    for primitive, params in path:
        shapes.append(probe.shape)
        probe = primitive.forward(probe, **params)
    shapes.append(probe.shape)

    def place(index: Index, domain: list[int]) -> Affine:
        at: AnyIndex = index
        for number in reversed(range(len(path))):
            primitive, params = path[number]
            at = moved(primitive.name, at, shapes[number], shapes[number + 1], params, domain)
        return flat(at, e.output.shape)

    if 0 not in probe.shape:
        yield (x, probe.shape), place


def _overwrite(e: Equation) -> Pieces:
    x, value = e.inputs
    yield x, None
    yield from _moved(e, value, e.params["path"])


def _scattered(e: Equation) -> Pieces:
    yield None, None
    if e.primitive.name == "scatter_slice":
        yield from _moved(e, e.inputs[0], [(ops.getitem, {"index": e.params["index"]})])
    else:
        yield from _moved(e, e.inputs[0], [(ops.diagonal, {"axes": e.params["axes"]})])


PIECES: dict[str, Callable[[Equation], Pieces]] = {
    "concat": _concat,
    "stack": _stack,
    "scatter_slice": _scattered,
    "scatter_diagonal": _scattered,
    "overwrite": _overwrite,
}


def are_regular(equation: Equation) -> bool:
    """Whether the positions of all parts can be expressed as indices."""
    try:
        for source, place in PIECES[equation.name](equation):
            if source is not None and place is not None:
                shape = source[1] if isinstance(source, tuple) else source.shape
                place(whole(shape, shape, len(shape)), list(shape))
    except (Unaligned, KeyError):
        return False
    except Cut:
        pass
    return True


# 2. As what pieces are read


Turned = Callable[[Any], Any]
"""What gives the places of pieces in the value as which they are read, from those in their own."""
TURNS = {"permute_dims", "reshape"}
TURNED_NEAR = 4
"""Elements between neighbours of a piece, up to which pieces are stored as they are read."""


def _back(e: Equation) -> tuple[dict[str, Any], tuple[int, ...], tuple[int, ...]]:
    """The metadata of the view that takes back one of `TURNS`, and the shapes before and after it."""
    axes = tuple(np.argsort(e.params["axes"]).tolist()) if e.name == "permute_dims" else ()
    return {"axes": axes, "shape": e.inputs[0].shape}, e.output.shape, e.inputs[0].shape


def _turned(path: list[Any], place: Any) -> Callable[[Index, list[int]], Affine]:
    """The place in what views make of a value, from that in it; the views are taken back, with shapes before and after."""

    def found(index: Index, domain: list[int]) -> Affine:
        at: AnyIndex = index if place is None else Flat(place(index, domain))
        for name, params, before, after in path:
            at = moved(name, at, before, after, params, domain)
        return flat(at, path[-1][2])

    return found


def _are_near(equation: Equation, turned: Turned) -> bool:
    """Whether the last axis of each piece has near elements at its places."""
    try:
        for source, place in PIECES[equation.name](equation):
            if source is None or isinstance(source, tuple) or not source.shape:
                return False
            at = dict(turned(place)(whole(source.shape, source.shape, len(source.shape)), [*source.shape])[1])
            if not 0 < at.get(len(source.shape) - 1, 0) <= TURNED_NEAR:
                return False
    except (Unaligned, Cut, KeyError):
        return False
    return True


def read_as(
    equation: Equation, users: dict[Value, list[Equation]], wanted: Collection[Value]
) -> tuple[Value, list[Equation]]:
    """The value as which pieces are read, if their only readers are views of as many elements; and these.

    There they are stored, if their elements then lie near to each other, as those of windows side by side do in an image.
    """
    out, path = equation.output, []
    while out not in wanted and len(found := users.get(out, [])) == 1 and found[0].name in TURNS:
        path.append(found[0])
        out = found[0].output
    moves = any(e.name == "permute_dims" for e in path)
    return (out, path) if moves and _are_near(equation, turned_by(equation, path)) else (equation.output, [])


def turned_by(equation: Equation, path: list[Equation]) -> Turned:
    """What gives the places of pieces in the value that views make of theirs."""
    if not path:
        return lambda place: place
    return partial(_turned, [(e.name, *_back(e)) for e in path])
