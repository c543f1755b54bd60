"""Rows that are zero by construction, as most of a tangent are: products of matrices leave them out, and weighted sums of those do.

Where zeros are follows from the constants of a program and its linear operations, as far as no other factor is infinite or NaN.
So that is a forecast, which guards check at each call: the rows left out are zeros, and all that they would have been multiplied
by is finite. Where a guard does not hold, the program runs as it was.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..passes.building import Builder, Table
from ..program import Array, Equation, Program, Value

LINEAR = {"linear", "multilinear", "jointly linear"}
VANISHING = {"negative", "sqrt", "abs", "square", "sin", "tan", "sinh", "tanh", "expm1", "log1p", "sign", "conj"}
"""Functions that are zero at zero."""
SPARSE, SAVED = 4, 1 << 14
"""How many times more rows there have to be than may be other than zero, and the multiplications that are saved at least."""
MOST = 1 << 22
"""Elements that are looked at for all the masks of a program, and products that are added up."""


class RowsAmongZeros(NamedTuple):
    """What a value is besides zeros: rows along its last axis, at places among all of its rows."""

    rows: Value
    places: Array


def thinned(program: Program) -> Program:
    """The program without rows that are zero by construction, where there are many of them, and with guards that check it."""
    wide = {e.inputs[0]: e for e in program.equations if e.name == "matmul" and _saves(e)}
    if not wide:
        return program
    masks = possible(program, {*wide})
    places = {e.output: np.flatnonzero(masks[value].any(-1)) for value, e in wide.items() if value in masks}
    places = {value: found for value, found in places.items() if 0 < found.size * SPARSE <= _rows(value)}
    if not places:
        return program
    builder = Thinning(program, places)
    made = builder.rewrite()
    return made.changed(guards=(*made.guards, *[(value, True) for value in builder.guards]))


def _saves(e: Equation) -> bool:
    a, b = e.inputs
    return len(b.shape) == 2 and len(a.shape) >= 2 and e.output.size * a.shape[-1] >= SAVED and a.dtype.kind == "f"


def _rows(value: Value) -> int:
    return math.prod(value.shape[:-1])


# 1. Where zeros are


def possible(program: Program, wanted: set[Value]) -> dict[Value, Array]:
    """For values, and all that they are made of, the elements that may be other than zero; nothing for those of which all may."""
    needed, steps = set(wanted), []
    for e in reversed(program.equations):
        if not needed.isdisjoint(e.outputs):
            needed.update(e.inputs)
            steps.append(e)
    masks = {v: array != 0 for v, array in program.constants.items() if v in needed and v.dtype.kind == "f"}
    left = MOST
    for e in reversed(steps):
        depth = e.inputs[0].shape[-1] if e.primitive.kind == "multilinear" and e.inputs[0].shape else 1
        left -= sum(value.size for value in e.inputs) + depth * sum(value.size for value in e.outputs)
        if left >= 0 and not masks.keys().isdisjoint(e.inputs):
            found = _mask(e, [masks.get(value) for value in e.inputs], [*map(program.constants.get, e.inputs)])
            masks.update({v: mask for v, mask in zip(e.outputs, found, strict=False) if not mask.all()})
    return masks


def _mask(e: Equation, masks: list[Array | None], constants: list[Array | None]) -> tuple[Array, ...]:
    """The masks of what an equation gives; none where nothing is known."""
    name, shape = e.name, e.outputs[0].shape
    if name in {"multiply", "add", "subtract"}:
        one, other = [np.broadcast_to(True if mask is None else mask, shape) for mask in masks]
        return (one & other if name == "multiply" else one | other,)
    if (name == "divide" or name in VANISHING) and masks[0] is not None:
        return (np.broadcast_to(masks[0], shape),)
    if e.primitive.kind not in LINEAR:
        return ()
    given: list[Array] = []
    for value, mask, constant in zip(e.inputs, masks, constants, strict=True):
        if value.dtype.kind == "f":
            given.append(np.ones(value.shape) if mask is None else mask.astype(float))
        elif constant is None:
            return ()
        else:
            given.append(constant)
    made = e.primitive.forward(*given, **e.params)
    return tuple([np.asarray(x) != 0 for x in (made if type(made) is tuple else (made,))])


# 2. What is left out


class Thinning(Builder):
    """A builder that knows which rows of products may be other than zero, and collects what makes sure of it."""

    def __init__(self, program: Program, places: dict[Value, Array]) -> None:
        table: Table = {
            "matmul": (lambda _, e: self._product(e),),
            "multiply": (lambda _, e: self._scaled(e),),
            "sum": (lambda _, e: self._summed(e),),
        }
        super().__init__(program, table, strict=False, fold=False, share=True, inner=lambda body: body)
        self.places = places
        self.parts: dict[Value, RowsAmongZeros] = {}
        self.guards: list[Value] = []

    def require(self, mask: Value) -> None:
        """Require that all elements of a mask are true."""
        self.guards.append(self.all(mask, axis=tuple(range(len(mask.shape))), keepdims=False))

    def spread(self, rows: Value, places: Array, shape: tuple[int, ...]) -> Value:
        """Rows at places among zeros, as a value of a shape whose last axis is that of the rows."""
        flat = self.scatter_rows(rows, self.constant(places), rows=math.prod(shape[:-1]))
        self.parts[flat] = RowsAmongZeros(rows, places)
        return self.reshape(flat, shape=shape)

    def part(self, value: Value) -> RowsAmongZeros | None:
        """The rows that a value consists of, if it has been made of such."""
        while value not in self.parts:
            made = self.maker(value, "reshape")
            if made is None or made.inputs[0].shape[-1:] != value.shape[-1:]:
                return None
            (value,) = made.inputs
        return self.parts[value]

    def taken(self, value: Value, places: Array) -> Value:
        """Rows of a value along its last axis."""
        flat = self.reshape(value, shape=(_rows(value), value.shape[-1]))
        return self.embedding(flat, self.constant(places), padding=None, by_frequency=False)

    def _product(self, e: Equation) -> Value | None:
        places = self.places.get(e.output)
        if places is None:
            return None
        a, b = e.inputs
        rest = np.ones((_rows(a), 1), bool)
        rest[places] = False
        flat = self.reshape(a, shape=(_rows(a), a.shape[-1]))
        self.require(self.logical_or(self.equal(flat, 0), self.logical_not(self.constant(rest))))
        self.require(self.isfinite(b))
        return self.spread(self.matmul(self.taken(a, places), b), places, e.output.shape)

    def _scaled(self, e: Equation) -> Value | None:
        """A product by elements with something smaller, of which the rows are taken that belong to those that are there."""
        for value, other in (e.inputs, e.inputs[::-1]):
            part, shape = self.part(value), e.output.shape
            if part is None or value.shape != shape or other.size * SPARSE > value.size:
                continue
            self.require(self.isfinite(other))
            if _rows(other) == 1:
                factor = self.reshape(other, shape=other.shape[-1:])
            else:
                wide = (*[1] * (len(shape) - len(other.shape)), *other.shape[:-1])
                numbers = np.arange(_rows(other)).reshape(wide)
                factor = self.taken(other, np.broadcast_to(numbers, shape[:-1]).reshape(-1)[part.places])
            return self.spread(self.multiply(part.rows, factor), part.places, shape)
        return None

    def _summed(self, e: Equation) -> Value | None:
        """A sum over any axes but the last: rows are added up where they belong."""
        (value,), axes = e.inputs, [i % len(e.inputs[0].shape) for i in e.params["axis"]]
        part = self.part(value)
        if part is None or len(value.shape) - 1 in axes:
            return None
        kept = [1 if i in axes else size for i, size in enumerate(value.shape[:-1])]
        targets = np.broadcast_to(np.arange(math.prod(kept)).reshape(kept), value.shape[:-1]).reshape(-1)[part.places]
        added = self.scatter_rows(part.rows, self.constant(targets), rows=math.prod(kept))
        return self.reshape(added, shape=e.output.shape)
