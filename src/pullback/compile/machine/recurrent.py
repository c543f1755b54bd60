"""Recurrent layers outside of compile: all steps of a layer in one call.

With NumPy a step is a dozen calls, each a pass over memory. Here a step is a matrix product and one elementwise loop.
Sequences are independent, so that a task is some sequences with all their steps: the state stays in the cache, and threads
wait for each other only at the end. Whether this code is used depends on shapes only; results do not depend on the number
of sequences in a task.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ... import get_num_threads
from ...ops.recurrent import Sizes, in_order
from ..mathematics.arithmetic import maximum
from ..mathematics.exponentials import sigmoid, tanh
from ..mathematics.lanes import IRValue
from . import matrices
from .elements import KINDS
from .llvm import host
from .tasks import BoundKernel, TaskEmitter, lanes
from .writing import Array

if TYPE_CHECKING:
    from ..._core.typing import Array as NumpyArray, NumpyType
    from .tasks import Word

FEWEST = 16
"""The fewest sequences in a task: each task reads the whole weight. Each thread has one task."""
SHARED = 1 << 21
"""The number of multiplications above which threads share the work: waking one takes as long as some hundred thousand."""

IRValues = dict[str, Any]

# One element of a step, by the names of arrays: what is read, and what is written. Forwards, `sums` is the product of the
# states with the weight; backwards, `to_h` is that of `pulled`, the cotangents of the sums.


def _rnn(
    activation: Callable[[IRValue], IRValue], slope: Callable[[IRValue], IRValue]
) -> tuple[Callable[..., IRValues], ...]:
    """A step of a layer with one gate, and the step back, by the slope of the activation at its result."""

    def step(x: IRValue, sums: IRValue) -> IRValues:
        state = activation(x + sums)
        return {"h": state, "states": state}

    return step, lambda given, states, to_h: {"pulled": (given + to_h) * slope(states)}


_rnn_tanh, _rnn_tanh_back = _rnn(tanh, lambda state: 1 - state * state)
_rnn_relu, _rnn_relu_back = _rnn(
    lambda total: maximum(total, total.like(0)), lambda state: (state > 0).select(1, 0, state.kind)
)


def _lstm(x: list[IRValue], sums: list[IRValue], c: IRValue) -> IRValues:
    i, f, g, o = ((tanh if gate == 2 else sigmoid)(x[gate] + sums[gate]) for gate in range(4))
    cell = f.mad(c, i * g)
    state = o * tanh(cell)
    return {"h": state, "c": cell, "states": state, "cells": cell, "gates": [i, f, g, o]}


def _lstm_back(
    given: IRValue,
    to_cells: IRValue,
    cells: IRValue,
    before: IRValue,
    gates: list[IRValue],
    to_h: IRValue,
    to_c: IRValue,
) -> IRValues:
    i, f, g, o = gates
    out, squashed = given + to_h, tanh(cells)
    cell = (out * o).mad(1 - squashed * squashed, to_c + to_cells)
    pulled = [cell * (g * i * (1 - i)), cell * (before * f * (1 - f)), cell * (i * (1 - g * g))]
    return {"pulled": [*pulled, out * (squashed * o * (1 - o))], "to_c": cell * f}


def _gru(x: list[IRValue], sums: list[IRValue], bias: list[IRValue], h: IRValue) -> IRValues:
    moved = [a + b for a, b in zip(sums, bias, strict=True)]
    r, z = (sigmoid(x[gate] + moved[gate]) for gate in range(2))
    new = tanh(r.mad(moved[2], x[2]))
    state = (h - new).mad(z, new)
    return {"h": state, "states": state, "gates": [r, z, new], "products": moved[2]}


def _gru_back(
    given: IRValue, gates: list[IRValue], products: IRValue, before: IRValue, to_h: IRValue, kept: IRValue
) -> IRValues:
    r, z, new = gates
    out = given + (to_h + kept)
    of_new = out * (1 - z) * (1 - new * new)
    shares = [of_new * (products * r * (1 - r)), out * ((before - new) * z * (1 - z))]
    return {"pulled": [*shares, of_new * r], "to_x": [*shares, of_new], "kept": out * z}


class CellStep(NamedTuple):
    """The elementwise part of a step: its formula, its number of gates, the arrays it reads and those it only writes."""

    write: Callable[..., IRValues]
    gates: int
    reads: list[str]
    writes: list[str]


# fmt: off
STEPS = {
    "rnn_tanh":      CellStep(_rnn_tanh,      1, ["x", "sums"],               ["h", "states"]),
    "rnn_relu":      CellStep(_rnn_relu,      1, ["x", "sums"],               ["h", "states"]),
    "rnn_tanh_back": CellStep(_rnn_tanh_back, 1, ["given", "states", "to_h"], ["pulled"]),
    "rnn_relu_back": CellStep(_rnn_relu_back, 1, ["given", "states", "to_h"], ["pulled"]),
    "lstm":          CellStep(_lstm, 4, ["x", "sums", "c"], ["h", "states", "cells", "gates"]),
    "lstm_back":     CellStep(_lstm_back, 4, "given to_cells cells before gates to_h to_c".split(), ["pulled"]),
    "gru":           CellStep(_gru, 3, ["x", "sums", "bias", "h"], ["states", "gates", "products"]),
    "gru_back":      CellStep(_gru_back, 3, "given gates products before to_h kept".split(), ["pulled", "to_x"]),
}
# fmt: on


def backwards(name: str) -> bool:
    """Whether a function runs from the last step to the first."""
    return name.endswith("_back")


WIDE = {"x", "sums", "bias", "gates", "pulled", "to_x"}
"""The arrays with adjacent parts for each gate."""
SEQUENCES = {"h", "c", "sums", "to_h", "to_c", "kept"}
"""The arrays with a row for each sequence, updated by steps; most others have one for each row of the input."""
COMMON = "multiply weight panel down right order steps sequences tasks width first".split()
"""The words that all functions are told first. The weight is in panels as wide as `multiply` takes at a time, one after
another, so that no step has to copy them, and `down` is 0; for a single step it is one panel, with its steps along rows and
columns. Of each step `order` has the first row, how many there are, and the same of the step before; what is `before` the
first step of a sequence is in `first`."""


class RecurrentEmitter(TaskEmitter):
    """The functions of STEPS."""

    WORDS: ClassVar = {name: [*COMMON, *step.reads, *step.writes] for name, step in STEPS.items()}

    def unit(self, name: str, task: IRValue) -> None:
        """Run all steps of some sequences."""
        given, back = self.given, backwards(name)
        begin, end = self.part(given.sequences, task, given.tasks)
        with self.loop(0, given.steps) as number:
            turn = given.steps - 1 - number if back else number
            place = turn * 4
            start, size, *before = (self.word(given.order, place + k) for k in range(4))
            stop = size.at_most(end)
            with self.when(begin < stop):
                if not back:
                    self._multiply(name, "h", "sums", begin, begin, stop)
                with self.loop(begin, stop) as sequence:
                    self._row(name, sequence, start, before)
                if back:
                    self._multiply(name, "pulled", "to_h", start + begin, begin, stop)

    def _size(self, name: str, array: str) -> IRValue:
        """The number of elements in a row of an array."""
        return self.given.width * (STEPS[name].gates if array in WIDE else 1)

    def _address(self, name: str, array: str, row: IRValue, base: str = "") -> IRValue:
        """The address of a row of an array."""
        return getattr(self.given, base or array) + self.bytes(self._size(name, array)) * row

    def _multiply(self, name: str, left: str, out: str, row: IRValue, begin: IRValue, stop: IRValue) -> None:
        """Multiply some rows with the weight, panel by panel."""
        given = self.given
        inner, columns, rows = self._size(name, left), self._size(name, out), stop - begin
        a, c = self._address(name, left, row), self._address(name, out, begin)
        with self.loop(0, columns, given.panel) as j:
            size = (columns - j).at_most(given.panel)
            b = given.weight + self.bytes(inner) * j
            addresses = [self.array(address) for address in (a, b, c + self.bytes(j))]
            down = (given.down == 0).select(size, given.down)
            self.call(given.multiply, *addresses, rows, size, inner, inner, 1, down, given.right, columns)

    def _row(self, name: str, sequence: IRValue, start: IRValue, before: list[IRValue]) -> None:
        """Write the loop over a row, register by register; the last one is masked."""
        row, bases = start + sequence, {}
        for array in (*STEPS[name].reads, *STEPS[name].writes):
            if array == "before":
                at = self._address(name, array, before[0] + sequence)
                address = (sequence < before[1]).select(at, self._address(name, array, sequence, "first"))
            elif array == "bias":
                address = self.given.bias
            else:
                address = self._address(name, array, sequence if array in SEQUENCES else row)
            bases[array] = self.array(address)
        for j, mask in self.registers(0, self.given.width):
            self._elements(name, bases, j, mask)

    def _elements(self, name: str, bases: dict[str, Array], j: IRValue, mask: IRValue | None) -> None:
        """Write the elementwise part of a step for one register."""
        step, ir_values = STEPS[name], IRValues()

        def at(array: str, part: int) -> Array:
            return bases[array].at(j + self.given.width * part)

        for array in step.reads:
            found = [at(array, part).some(mask) for part in range(step.gates if array in WIDE else 1)]
            ir_values[array] = found if len(found) > 1 else found[0]
        for array, value in step.write(**ir_values).items():
            for part, ir_value in enumerate(value if isinstance(value, list) else [value]):
                at(array, part).put(ir_value, mask)


class RecurrentPlan:
    """A layer of one kind, forwards or backwards, with the number of rows of each step."""

    def __init__(self, name: str, sizes: Sizes, reverse: bool, width: int, dtype: NumpyType) -> None:
        steps = [(start, stop - start) for start, stop in in_order(sizes, reverse)]
        order = np.array([(*step, *before) for step, before in zip(steps, [(0, 0), *steps], strict=False)], np.int64)
        self.step, self.back, self.width, self.dtype, kind = STEPS[name], backwards(name), width, dtype, KINDS[dtype]
        self.lanes = lanes(kind)
        self.rows, self.sequences = sum(sizes), max(sizes)
        self.shared = self.rows * self.step.gates * width * width >= SHARED
        self.single = len(steps) == 1
        self.arrays = {*self.step.reads, *self.step.writes}
        self.shapes = {name: self._shape(name) for name in (*self.arrays, "first")}
        self.call = BoundKernel(
            RecurrentEmitter, kind, name, multiply=matrices.address(f"multiply_{kind}"), order=order, steps=len(order),
            sequences=self.sequences, width=width,
        )  # fmt: skip

    def _shape(self, name: str) -> tuple[int, ...]:
        """The shape of an array."""
        width = self.width * (self.step.gates if name in WIDE else 1)
        if name == "bias":
            return (width,)
        return self.sequences if name in SEQUENCES or name == "first" else self.rows, width

    def run(self, weight: NumpyArray, arrays: dict[str, NumpyArray]) -> dict[str, NumpyArray] | None:
        """Run all steps; the arrays that are read or written, of which missing ones are allocated.

        None if an array has another shape or dtype.
        """
        shapes, dtype = self.shapes, self.dtype
        fits = all(array.shape == shapes[name] and array.dtype == dtype for name, array in arrays.items())
        if not fits or weight.shape != (self.step.gates * self.width, self.width):
            return None
        found = {
            name: array.copy() if name in SEQUENCES else np.ascontiguousarray(array) for name, array in arrays.items()
        }
        for name in self.arrays.difference(arrays):
            found[name] = (np.zeros if name in SEQUENCES else np.empty)(shapes[name], dtype)
        tasks = max(1, min(self.sequences // FEWEST, get_num_threads())) if self.shared else 1
        self.call(tasks, shared=self.shared, tasks=tasks, **self._of_weight(weight), **found)
        return found

    def _of_weight(self, weight: NumpyArray) -> dict[str, Word]:
        """The words about the weight: a copy in panels, or itself where it is needed once."""
        factor = weight if self.back else weight.T
        if self.single:
            down, right = (self.width, 1) if self.back else (1, self.width)
            return {"weight": np.ascontiguousarray(weight), "panel": factor.shape[1], "down": down, "right": right}
        wide = matrices.VECTORS * self.lanes
        panels = [factor[:, j : j + wide].reshape(-1) for j in range(0, factor.shape[1], wide)]
        return {"weight": np.concatenate(panels), "panel": wide, "down": 0, "right": 1}


@functools.lru_cache(maxsize=64)
def plan(name: str, sizes: Sizes, reverse: bool, width: int, dtype: NumpyType) -> RecurrentPlan | None:
    """The plan of a layer by machine code; None if NumPy is faster or the case is not supported."""
    if dtype not in (np.float32, np.float64) or not host().fma or list(sizes) != sorted(sizes, reverse=True):
        return None
    return RecurrentPlan(name, sizes, reverse, width, dtype)
