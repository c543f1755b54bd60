"""Recurrent layers outside of compile: all steps of a layer in one call.

With NumPy a step is a dozen calls, each a pass over memory. Here a step is a matrix product and one elementwise loop.
Sequences are independent, so that a task is some sequences with all their steps: the state stays in the cache, and threads
wait for each other only at the end. Whether this code is used depends on shapes only; results do not depend on the number
of sequences in a task.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from llvmlite import ir

from ..._numerics.blocks import get_num_threads
from ...ops.recurrent import Sizes, in_order
from ..mathematics.arithmetic import maximum
from ..mathematics.exponentials import sigmoid, tanh
from ..mathematics.lanes import Desk, Target, Word
from . import matrices
from .elements import KINDS
from .memory import LONG, POINTER, element, first_lanes, load_lanes, long, store_lanes
from .tasks import Call, TaskEmitter, lanes

FEWEST = 16
"""The fewest sequences in a task: each task reads the whole weight. Each thread has one task."""
SHARED = 1 << 21
"""The number of multiplications above which threads share the work: waking one takes as long as some hundred thousand."""

Words = dict[str, Any]

# One element of a step, by the names of arrays: what is read, and what is written. Forwards, `sums` is the product of the
# states with the weight; backwards, `to_h` is that of `pulled`, the cotangents of the sums.


def _rnn_tanh(x: Word, sums: Word) -> Words:
    state = tanh(x + sums)
    return {"h": state, "states": state}


def _rnn_relu(x: Word, sums: Word) -> Words:
    total = x + sums
    state = maximum(total, total.like(0))
    return {"h": state, "states": state}


def _rnn_tanh_back(given: Word, states: Word, to_h: Word) -> Words:
    return {"pulled": (given + to_h) * (1 - states * states)}


def _rnn_relu_back(given: Word, states: Word, to_h: Word) -> Words:
    return {"pulled": (given + to_h) * (states > 0).select(1, 0, states.kind)}


def _lstm(x: list[Word], sums: list[Word], c: Word) -> Words:
    i, f, g, o = ((tanh if gate == 2 else sigmoid)(x[gate] + sums[gate]) for gate in range(4))
    cell = f.mad(c, i * g)
    state = o * tanh(cell)
    return {"h": state, "c": cell, "states": state, "cells": cell, "i": i, "f": f, "g": g, "o": o}


def _lstm_back(
    given: Word, to_cells: Word, cells: Word, before: Word, i: Word, f: Word, g: Word, o: Word, to_h: Word, to_c: Word
) -> Words:  # fmt: skip
    out, squashed = given + to_h, tanh(cells)
    cell = (out * o).mad(1 - squashed * squashed, to_c + to_cells)
    pulled = [cell * (g * i * (1 - i)), cell * (before * f * (1 - f)), cell * (i * (1 - g * g))]
    return {"pulled": [*pulled, out * (squashed * o * (1 - o))], "to_c": cell * f}


def _gru(x: list[Word], sums: list[Word], bias: list[Word], h: Word) -> Words:
    moved = [a + b for a, b in zip(sums, bias, strict=True)]
    r, z = (sigmoid(x[gate] + moved[gate]) for gate in range(2))
    new = tanh(r.mad(moved[2], x[2]))
    state = (h - new).mad(z, new)
    return {"h": state, "states": state, "gates": [r, z, new], "products": moved[2]}


def _gru_back(given: Word, gates: list[Word], products: Word, before: Word, to_h: Word, kept: Word) -> Words:
    r, z, new = gates
    out = given + (to_h + kept)
    of_new = out * (1 - z) * (1 - new * new)
    shares = [of_new * (products * r * (1 - r)), out * ((before - new) * z * (1 - z))]
    return {"pulled": [*shares, of_new * r], "to_x": [*shares, of_new], "kept": out * z}


class Step(NamedTuple):
    """The elementwise part of a step: its formula, its number of gates, the arrays it reads and those it only writes."""

    write: Callable[..., Words]
    gates: int
    reads: list[str]
    writes: list[str]


# fmt: off
STEPS = {
    "rnn_tanh":      Step(_rnn_tanh,      1, ["x", "sums"],               ["h", "states"]),
    "rnn_relu":      Step(_rnn_relu,      1, ["x", "sums"],               ["h", "states"]),
    "rnn_tanh_back": Step(_rnn_tanh_back, 1, ["given", "states", "to_h"], ["pulled"]),
    "rnn_relu_back": Step(_rnn_relu_back, 1, ["given", "states", "to_h"], ["pulled"]),
    "lstm":          Step(_lstm, 4, ["x", "sums", "c"], ["h", "states", "cells", "i", "f", "g", "o"]),
    "lstm_back":     Step(_lstm_back, 4, "given to_cells cells before i f g o to_h to_c".split(), ["pulled"]),
    "gru":           Step(_gru, 3, ["x", "sums", "bias", "h"], ["states", "gates", "products"]),
    "gru_back":      Step(_gru_back, 3, "given gates products before to_h kept".split(), ["pulled", "to_x"]),
}
# fmt: on


def backwards(name: str) -> bool:
    """Whether a function runs from the last step to the first."""
    return name.endswith("_back")


WIDE = {"x", "sums", "bias", "gates", "pulled", "to_x"}
"""The arrays with adjacent parts for each gate."""
SEQUENCES = {"h", "c", "sums", "to_h", "to_c", "kept"}
"""The arrays with a row for each sequence, updated by steps; most others have one for each row of the input."""
COMMON = "multiply weight order steps sequences tasks width first".split()
"""The words that all functions are told first. The weight is in panels as wide as `multiply` takes at a time, one after
another, so that no step has to copy them. Of each step `order` has the first row, how many there are, and the same of
the step before; what is `before` the first step of a sequence is in `first`."""


class RecurrentEmitter(TaskEmitter):
    """The functions of STEPS."""

    WORDS: ClassVar = {name: [*COMMON, *step.reads, *step.writes] for name, step in STEPS.items()}

    def __getattr__(self, name: str) -> Callable[[Any], None]:
        if name not in STEPS:
            raise AttributeError(name)
        return functools.partial(self._task, name)

    def _task(self, name: str, task: Any) -> None:
        """Run all steps of some sequences."""
        builder, given = self.builder, self.given
        begin, end = self.part(given["sequences"], task, given["tasks"])
        back = backwards(name)

        def turn(number: Any) -> None:
            if back:
                number = builder.sub(builder.sub(given["steps"], long(1)), number)
            place = builder.mul(number, long(4))
            start, size, *before = (
                self.word(self.pointer(given["order"]), builder.add(place, long(k))) for k in range(4)
            )
            stop = self.least(size, end)
            with builder.if_then(builder.icmp_signed("<", begin, stop)):
                if not back:
                    self._multiply(name, "h", "sums", begin, begin, stop)
                self.loop(begin, stop, lambda sequence: self._row(name, sequence, start, before))
                if back:
                    self._multiply(name, "pulled", "to_h", builder.add(start, begin), begin, stop)

        self.loop(long(0), given["steps"], turn)

    def _size(self, name: str, array: str) -> Any:
        """The number of elements in a row of an array."""
        parts = STEPS[name].gates if array in WIDE else 1
        return self.builder.mul(self.given["width"], long(parts))

    def _address(self, name: str, array: str, row: Any, base: str = "") -> Any:
        """The address of a row of an array, as a word."""
        return self.sum(self.given[base or array], (self.bytes(self._size(name, array)), row))

    def _multiply(self, name: str, left: str, out: str, row: Any, begin: Any, stop: Any) -> None:
        """Multiply some rows with the weight, panel by panel."""
        builder, wide = self.builder, matrices.VECTORS * self.lanes
        inner, columns, rows = self._size(name, left), self._size(name, out), builder.sub(stop, begin)
        a, c = self._address(name, left, row), self._address(name, out, begin)
        signature = ir.FunctionType(ir.VoidType(), [POINTER] * 3 + [LONG] * 8)
        multiply = builder.inttoptr(self.given["multiply"], ir.PointerType(signature))

        def panel(j: Any) -> None:
            size = self.least(builder.sub(columns, j), long(wide))
            b = self.sum(self.given["weight"], (self.bytes(inner), j))
            addresses = [self.pointer(address) for address in (a, b, builder.add(c, self.bytes(j)))]
            builder.call(multiply, [*addresses, rows, size, inner, inner, long(1), size, long(1), columns])

        self.loop(long(0), columns, panel, wide)

    def _row(self, name: str, sequence: Any, start: Any, before: list[Any]) -> None:
        """Write the loop over a row, register by register; the last one is masked."""
        builder, width = self.builder, self.given["width"]
        row = builder.add(start, sequence)
        bases = {}
        for array in (*STEPS[name].reads, *STEPS[name].writes):
            if array == "before":
                at = self._address(name, array, builder.add(before[0], sequence))
                there = builder.icmp_signed("<", sequence, before[1])
                address = builder.select(there, at, self._address(name, array, sequence, "first"))
            elif array == "bias":
                address = self.given[array]
            else:
                address = self._address(name, array, sequence if array in SEQUENCES else row)
            bases[array] = self.pointer(address)
        whole = builder.and_(width, long(-self.lanes))
        self.loop(long(0), whole, lambda j: self._elements(name, bases, j, None), self.lanes)
        with builder.if_then(builder.icmp_signed("<", whole, width)):
            self._elements(name, bases, whole, first_lanes(builder, builder.sub(width, whole), self.lanes))

    def _elements(self, name: str, bases: dict[str, Any], j: Any, mask: Any) -> None:
        """Write the elementwise part of a step for one register."""
        step, desk = STEPS[name], Desk(self.builder, self.target, self.lanes)

        def at(array: str, part: int) -> Any:
            place = self.sum(j, (self.given["width"], long(part)))
            return element(self.builder, bases[array], self.kind, place)

        words: Words = {}
        for array in step.reads:
            parts = range(step.gates if array in WIDE else 1)
            found = [load_lanes(desk, self.kind, at(array, part), 1, mask) for part in parts]
            words[array] = found if len(found) > 1 else found[0]
        for array, value in step.write(**words).items():
            for part, word in enumerate(value if isinstance(value, list) else [value]):
                store_lanes(word, at(array, part), 1, mask)


class Plan:
    """A layer of one kind, forwards or backwards, with the number of rows of each step."""

    def __init__(self, name: str, sizes: Sizes, reverse: bool, width: int, dtype: np.dtype[Any]) -> None:
        steps = [(start, stop - start) for start, stop in in_order(sizes, reverse)]
        order = np.array([(*step, *before) for step, before in zip(steps, [(0, 0), *steps], strict=False)], np.int64)
        self.step, self.back, self.width, self.dtype, kind = STEPS[name], backwards(name), width, dtype, KINDS[dtype]
        self.lanes = lanes(kind)
        self.rows, self.sequences = sum(sizes), max(sizes)
        self.shared = self.rows * self.step.gates * width * width >= SHARED
        self.call = Call(
            RecurrentEmitter, kind, name, multiply=matrices.address(f"multiply_{kind}"), order=order, steps=len(order),
            sequences=self.sequences, width=width,
        )  # fmt: skip

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of an array."""
        width = self.width * (self.step.gates if name in WIDE else 1)
        if name == "bias":
            return (width,)
        return self.sequences if name in SEQUENCES or name == "first" else self.rows, width

    def run(self, weight: Any, arrays: dict[str, Any]) -> dict[str, Any] | None:
        """Run all steps; the arrays that are read or written, of which missing ones are allocated.

        None if an array has another shape or dtype.
        """
        fits = all(array.shape == self.shape(name) and array.dtype == self.dtype for name, array in arrays.items())
        if not fits or weight.shape != (self.step.gates * self.width, self.width):
            return None
        found = {
            name: array.copy() if name in SEQUENCES else np.ascontiguousarray(array) for name, array in arrays.items()
        }
        for name in {*self.step.reads, *self.step.writes}.difference(arrays):
            found[name] = (np.zeros if name in SEQUENCES else np.empty)(self.shape(name), self.dtype)
        factor, wide = weight if self.back else weight.T, matrices.VECTORS * self.lanes
        panels = [factor[:, j : j + wide].reshape(-1) for j in range(0, factor.shape[1], wide)]
        tasks = max(1, min(self.sequences // FEWEST, get_num_threads())) if self.shared else 1
        self.call(tasks, shared=self.shared, tasks=tasks, weight=np.concatenate(panels), **found)
        return found


@functools.lru_cache(maxsize=64)
def plan(name: str, sizes: Sizes, reverse: bool, width: int, dtype: np.dtype[Any]) -> Plan | None:
    """The plan of a layer by machine code; None if NumPy is faster or the case is not supported."""
    if dtype not in (np.float32, np.float64) or not Target.host().fma or list(sizes) != sorted(sizes, reverse=True):
        return None
    return Plan(name, sizes, reverse, width, dtype)
