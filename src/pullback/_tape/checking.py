"""`check()`: a block that warns of code that is legal but probably a mistake.

Two things: a broadcast that grows both operands and is reduced afterwards, (N, 1) with (N,), and copies that were made
because a value was overwritten that a graph had kept.
"""

from __future__ import annotations

import functools
import sys
import warnings
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.errors import operation_name, operation_of
from .._core.modes import Mode, ModeBlock, mode
from .._core.primitives import Primitive
from .._core.sites import Site, caller, depth, describe, internal, pairing
from .memory import Cell
from .node import Node
from .observers import ResultObserver, passing, pieces

if TYPE_CHECKING:
    from .._core.typing import Array, Params, Tensors, Value


Shape = tuple[int, ...]


class CheckWarning(UserWarning):
    """The warning of `pullback.check()` about a broadcast that expanded both operands and was then reduced."""


class Broadcast(NamedTuple):
    """An operation that broadcast both operands, and the operation that reduced its result."""

    operation: str
    site: str
    shapes: tuple[Shape, Shape]
    result: Shape
    reduced_by: str
    reduced_at: str

    def __str__(self) -> str:
        first, second = self.shapes
        return (
            f"{self.operation} at {self.site} made shape {self.result} of {first} and {second}: both operands were expanded, and "
            f"{self.reduced_by} at {self.reduced_at} reduces the result. If the elements correspond one to one, give "
            f"both the same shape first, with squeeze, unsqueeze or reshape; if all pairs are meant, say so with "
            f"x.expand{self.result}"
        )


class Copy(NamedTuple):
    """A copy of a saved value, made because its memory was written."""

    shape: Shape
    nbytes: int
    saved_by: str
    saved_at: str | None
    written_at: str

    def __str__(self) -> str:
        where = "" if self.saved_at is None else f" at {self.saved_at}"
        return (
            f"{self.nbytes} bytes of shape {self.shape}, kept by {self.saved_by}{where}, were copied when they were "
            f"overwritten at {self.written_at}"
        )


# 1. Broadcasts
#
# The result of a broadcast is remembered by its array, with the axes along which each operand was expanded, and passed on to
# results of the same shape. When axes of both operands have been reduced, elements have been combined by accident, perhaps.


class Grown(NamedTuple):
    """For an array that results from a broadcast: the expanded axes of each operand, None after one of them was reduced."""

    operation: str
    site: Site
    shapes: tuple[Shape, Shape]
    result: Shape
    axes: tuple[frozenset[int] | None, frozenset[int] | None]

    @property
    def moved(self) -> bool:
        """True if elements have been rearranged since, so that the expanded axes are no longer known."""
        return self.axes[0] == self.axes[1]

    def over(self, axes: frozenset[int]) -> Grown:
        """The same after a permutation of the axes."""
        return self._replace(axes=(axes, axes))

    def along(self, reduced: set[int], ndim: int, *, kept: bool) -> Grown:
        """The same after a reduction over some axes of an array with `ndim` axes."""
        left = [axis for axis in range(ndim) if kept or axis not in reduced]
        places = {axis: place for place, axis in enumerate(left)}

        def after(side: frozenset[int] | None) -> frozenset[int] | None:
            return None if side is None or side & reduced else frozenset(places[axis] for axis in side)

        return self._replace(axes=(after(self.axes[0]), after(self.axes[1])))


class _Growth(ResultObserver):
    """An observer that looks for broadcasts, and knows which operation has saved which value."""

    def __init__(self, before: Mode, found: list[Broadcast]) -> None:
        super().__init__(before)
        self.found = found
        self.grown: dict[int, tuple[weakref.ref[Array], Grown]] = {}
        self.savers: weakref.WeakKeyDictionary[Cell, tuple[str, Site]] = weakref.WeakKeyDictionary()

    def sees(self, primitive: Primitive, params: Params, values: Sequence[Value], out: Tensors) -> None:
        """Look at the shapes of inputs and results, and at the saved values."""
        if passing():
            return
        for piece in pieces(out):
            if piece._node is not None:
                self._kept(piece._node)
        if len(pieces(out)) != 1:
            return
        array = pieces(out)[0]._array
        operands = [value for value in values if isinstance(value, np.ndarray)]
        marked = [entry[1] for value in operands if (entry := self.grown.get(id(value))) is not None]
        if marked:
            source = next(value for value in operands if id(value) in self.grown)
            self._follow(primitive, params, source, marked[0], array)
        elif primitive.kind in {"elementwise", "zero"}:
            self._compare(primitive, params, operands, array)

    def _kept(self, node: Node) -> None:
        if isinstance(node.saved, tuple):
            for cell in node.saved:
                if isinstance(cell, Cell):
                    self.savers[cell] = operation_of(node), node.site

    def _mark(self, array: Array, grown: Grown) -> None:
        key = id(array)
        self.grown[key] = weakref.ref(array, functools.partial(self._gone, key)), grown

    def _gone(self, key: int, _: object) -> None:
        self.grown.pop(key, None)

    def _compare(self, primitive: Primitive, params: Params, operands: Sequence[Array], array: Array) -> None:
        """Remember a result that is larger than either of two operands."""
        several = [value for value in operands if value.size > 1]
        if len(several) != 2 or any(array.size <= value.size for value in several) or _meant():
            return
        first, second = (value.shape for value in several)
        axes = _grew(first, array.shape), _grew(second, array.shape)
        name = operation_name(primitive, params)
        self._mark(array, Grown(name, caller(), (first, second), array.shape, axes))

    def _follow(self, primitive: Primitive, params: Params, source: Array, grown: Grown, array: Array) -> None:
        """Pass the record on to a result of the same shape, or to one that is reduced over some axes."""
        if array.shape == source.shape:
            self._mark(array, grown)
            return
        if array.size >= source.size:  # only a reduction of everything can be told from here
            self._mark(array, grown.over(frozenset(range(array.ndim))))
            return
        if "axis" not in params:
            return
        axis = params["axis"]
        reduced = {
            place % source.ndim for place in np.atleast_1d(range(source.ndim) if axis is None else axis).tolist()
        }
        if grown.moved and len(reduced) < source.ndim:
            return
        grown = grown.along(reduced, source.ndim, kept=array.ndim == source.ndim)
        if grown.axes == (None, None):
            name = operation_name(primitive, params)
            self._tell(
                Broadcast(grown.operation, describe(grown.site), grown.shapes, grown.result, name, describe(caller()))
            )
        else:
            self._mark(array, grown)

    def _tell(self, broadcast: Broadcast) -> None:
        self.found.append(broadcast)
        warnings.warn(str(broadcast), CheckWarning, stacklevel=depth())


def _meant() -> bool:
    """True if the broadcast is made by a function that says so of itself, by `of_pairs`."""
    frame = sys._getframe(2)
    while internal[frame.f_code.co_filename] and frame.f_back is not None:
        if frame.f_code in pairing:
            return True
        frame = frame.f_back
    return False


def _grew(shape: Shape, result: Shape) -> frozenset[int]:
    """The axes of a result along which an operand was broadcast."""
    full = (1,) * (len(result) - len(shape)) + shape
    return frozenset(axis for axis, (have, want) in enumerate(zip(full, result, strict=True)) if have < want)


# 2. The block


class check(ModeBlock):
    """A block that warns of broadcasts that are probably mistakes, and lists the copies that writes have cost.

    A warning, `CheckWarning`, is given when an operation makes both its operands grow, as (N, 1) and (N,) become (N, N),
    and the result is then reduced along what grew of both: a loss like that trains, on the wrong thing. It names the
    shapes and both lines. What is meant says so by `expand`, or keeps the axes apart.

    A value that a graph has kept is copied when its memory is written, so that the gradient stays right. `copies` lists
    these copies: size, the operation that had kept the value, the line that wrote. Printing the block shows both lists.

    Works as `with check() as found:` and as a decorator.

    >>> import warnings
    >>> import pullback
    >>> x = pullback.ones(3, requires_grad=True)
    >>> with pullback.check() as found, warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     error = ((x - pullback.ones(3, 1)) ** 2).mean()
    >>> len(caught), found.broadcasts[0].shapes, found.broadcasts[0].reduced_by
    (1, ((3,), (3, 1)), 'mean')
    >>> with pullback.check() as found:
    ...     h = x * 2
    ...     y = h.exp()
    ...     part = y[:1]
    ...     part.zero_()
    tensor([0.], grad_fn=<AsStridedBackward0>)
    >>> [(copy.shape, copy.saved_by) for copy in found.copies]
    [((3,), 'exp')]
    """

    def __init__(self) -> None:
        super().__init__()
        self.broadcasts: list[Broadcast] = []
        self.copies: list[Copy] = []
        self._observers: list[_Growth] = []

    def _fields(self) -> dict[str, Any]:
        self._observers.append(_Growth(mode.get(), self.broadcasts))
        return {**self._observers[-1].fields(), "copied": self._copied}

    def _left(self, error: object) -> None:
        self._observers.pop()

    def _copied(self, cell: Cell) -> None:
        """Record a copy that has just been made of a saved value."""
        known = next((observer.savers[cell] for observer in self._observers if cell in observer.savers), None)
        name, site = ("an operation outside the block", None) if known is None else known
        saved_at = None if site is None else describe(site)
        self.copies.append(Copy(cell.array.shape, cell.array.nbytes, name, saved_at, describe(caller())))

    def __str__(self) -> str:
        lines = [str(entry) for entry in (*self.broadcasts, *self.copies)]
        return "\n".join(lines) or "nothing found"

    def __repr__(self) -> str:
        return f"<check: {len(self.broadcasts)} broadcasts, {len(self.copies)} copies>"
