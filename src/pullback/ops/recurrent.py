"""Recurrent layers: sequences of steps, each computed from its input rows and the states after the previous step.

The rows of all steps are concatenated along the first axis; `sizes` has the number of rows of each step. A step's rows
belong to the first sequences of the batch, so sizes decrease as sequences end. With `reverse` the last step is computed
first, and a sequence starts from its initial state at its end. `x` is the contribution of the inputs, computed for all
steps at once. The outputs include every value that the pullback needs, each with a cotangent of its own, so that second
derivatives are possible.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import machine
from .._core.primitives import general
from .._core.xp import RAW

if TYPE_CHECKING:
    from .._core.typing import Array, Operations, Tensor

Sizes = tuple[int, ...]

WORTH, STEP = 1 << 18, 1 << 14
"""Above this number of multiplications compiled code pays off; the second is the overhead of a step of NumPy calls."""


# Rows and steps


def in_order(sizes: Sizes, reverse: bool) -> list[tuple[int, int]]:
    """The slices of rows of each step, as (start, stop), in the order of computation."""
    ends = list(itertools.accumulate(sizes))
    steps = list(zip([0, *ends], ends, strict=False))
    return steps[::-1] if reverse else steps


def _resized(state: Array, initial: Array, count: int) -> Array:
    """States cut to the number of sequences that go on, or extended by the initial states of those that start."""
    have = len(state)
    if have == count:
        return state
    return state[:count] if have > count else np.concatenate([state, initial[have:count]])


@functools.lru_cache
def _places_before(sizes: Sizes, reverse: bool) -> Array:
    """For each row, the index of the previous state among the initial states followed by the rows."""
    count = max(sizes)
    places = np.empty(sum(sizes), np.int64)
    before = np.arange(count)
    for start, stop in in_order(sizes, reverse):
        places[start:stop] = before[: stop - start]
        before[: stop - start] = np.arange(count + start, count + stop)
    places.flags.writeable = False
    return places


def _before(xp: Operations, initial: Tensor, states: Tensor, sizes: Sizes, reverse: bool) -> Tensor:
    """The previous state of each row."""
    count, rows = initial.shape[0], states.shape[0]
    if rows == count:  # of the only step
        return initial
    if sizes[0] == sizes[-1]:  # all sequences have the same length, so the offset is constant
        others = states[count:, :] if reverse else states[: rows - count, :]
        pieces = (others, initial) if reverse else (initial, others)
        return xp.concat(*pieces, axis=0, sizes=tuple([piece.shape[0] for piece in pieces]))
    joined = xp.concat(initial, states, axis=0, sizes=(initial.shape[0], states.shape[0]))
    return xp.embedding(joined, _places_before(sizes, reverse), padding=None, by_frequency=False)


class _Backwards:
    """A pullback's steps in reverse order, and the state cotangents passed from one step to the next."""

    def __init__(self, xp: Operations, sizes: Sizes, reverse: bool) -> None:
        self.xp, self.sizes = xp, sizes
        self.order = range(len(sizes)) if reverse else range(len(sizes))[::-1]
        self.started: list[list[Tensor]] = []

    def split(self, rows: Tensor) -> tuple[Tensor, ...]:
        """The rows of each step."""
        if len(self.sizes) == 1:
            return (rows,)
        return tuple(self.xp.split(rows, sizes=self.sizes, axis=0))

    def join(self, pieces: Sequence[Tensor]) -> Tensor:
        """The inverse of `split`, for pieces in the order of this pass."""
        rows = pieces if self.order.step > 0 else pieces[::-1]
        if len(rows) == 1:
            return rows[0]
        return self.xp.concat(*rows, axis=0, sizes=self.sizes)

    def passed(self, step: int, *cotangents: Tensor) -> list[Tensor]:
        """Cotangents of the states before a step, resized to those after the previous step, if there is one."""
        have, following = self.sizes[step], step + self.order.step
        if not 0 <= following < len(self.sizes):
            self.started.append([*cotangents])
            return [*cotangents]
        count = self.sizes[following]
        if have > count:
            self.started.append([g[count:, :] for g in cotangents])
            return [g[:count, :] for g in cotangents]
        if have == count:
            return list(cotangents)
        return [
            self.xp.concat(
                g, self.xp.zeros((count - have, g.shape[1]), like=g), axis=0, sizes=(have, count - have)
            )
            for g in cotangents
        ]  # fmt: skip

    def initial(self, place: int) -> Tensor:
        """The cotangent of initial states."""
        pieces = [piece[place] for piece in self.started[::-1]]
        sizes = tuple([piece.shape[0] for piece in pieces])
        return pieces[0] if len(pieces) == 1 else self.xp.concat(*pieces, axis=0, sizes=sizes)


def _given(xp: Operations, g: Tensor) -> Tensor | None:
    """A cotangent, or None if it is all zeros, as those of saved values are in a first derivative."""
    return None if xp is RAW and not g.any() else g


def _to_weight(xp: Operations, g: Tensor, states: Tensor) -> Tensor:
    return xp.matmul(xp.matrix_transpose(g), states)


def _by_machine_code(
    name: str, weight: Array | Tensor, sizes: Sizes, reverse: bool, **arrays: Array | Tensor
) -> dict[str, Any] | None:
    """The outputs of compiled code by name, as a function; None if there is none, or NumPy is as fast."""
    if weight.size * sum(sizes) + STEP * len(sizes) < WORTH or not machine.usable():
        return None
    plan = machine.module("recurrent").plan(name, sizes, reverse, weight.shape[1], weight.dtype)
    return None if plan is None else plan.run(weight, arrays)


# The simple network of Elman, Finding structure in time, 1990


def _rnn_forward(x: Array, h: Array, weight: Array, *, sizes: Sizes, reverse: bool, relu: bool) -> Array:
    found = _by_machine_code("rnn_relu" if relu else "rnn_tanh", weight, sizes, reverse, x=x, h=h)
    if found is not None:
        return found["states"]
    turned, out, state = np.ascontiguousarray(weight.T), np.array(x), h[:0]
    for start, stop in in_order(sizes, reverse):
        row = out[start:stop]
        row += machine.dot(_resized(state, h, stop - start), turned)
        state = np.maximum(row, row.dtype.type(0), out=row) if relu else np.tanh(row, row)
    return out


def _rnn_steps(
    xp: Operations, g: Tensor, y: Tensor, weight: Tensor, *, sizes: Sizes, reverse: bool, relu: bool
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The cotangents of the pre-activations and of the initial states."""
    if xp is RAW:
        name = "rnn_relu_back" if relu else "rnn_tanh_back"
        found = _by_machine_code(name, weight, sizes, reverse, given=g, states=y)
        if found is not None:
            return found["pulled"], found["to_h"]
    steps = _Backwards(xp, sizes, reverse)
    slopes = steps.split(xp.select(y > 0, xp.zeros_like(y) + 1) if relu else 1 - y * y)
    given, pulled = steps.split(g), []
    to_state: Tensor | float = 0.0
    for step in steps.order:
        pulled.append((given[step] + to_state) * slopes[step])
        (to_state,) = steps.passed(step, xp.matmul(pulled[-1], weight))
    return steps.join(pulled), steps.initial(0)


def _rnn(
    xp: Operations, g: Tensor, y: Tensor, h: Tensor, weight: Tensor, *, sizes: Sizes, reverse: bool, relu: bool, needs: Sequence[bool]
) -> tuple[Tensor, Tensor, Tensor | None]:  # fmt: skip
    to_x, to_h = _rnn_steps(xp, g, y, weight, sizes=sizes, reverse=reverse, relu=relu)
    to_weight = _to_weight(xp, to_x, _before(xp, h, y, sizes, reverse)) if needs[2] else None
    return to_x, to_h, to_weight


# Hochreiter and Schmidhuber, Long short-term memory, 1997; with a forget gate, Gers, Schmidhuber and Cummins, 2000


def _lstm_forward(
    x: Array, h: Array, c: Array, weight: Array, projection: Array | None = None, *, sizes: Sizes, reverse: bool
) -> tuple[Array, ...]:
    """The states, the cells and the gates i, f, g, o side by side; the sigmoid 1 / (1 + exp(-a)) is (1 + tanh(a / 2)) / 2."""
    if projection is None and (found := _by_machine_code("lstm", weight, sizes, reverse, x=x, h=h, c=c)) is not None:
        return found["states"], found["cells"], found["gates"]
    rows, width = len(x), c.shape[1]
    scale = np.repeat(np.array([0.5, 0.5, 1, 0.5], x.dtype), width)
    shift = 1 - scale
    sums, turned = np.multiply(x, scale, order="C"), np.ascontiguousarray(weight.T) * scale
    i, f, g, o = (sums[:, k * width : (k + 1) * width] for k in range(4))
    cells, states = np.empty((rows, width), x.dtype), np.empty((rows, h.shape[1]), x.dtype)
    state, cell = h[:0], c[:0]
    for start, stop in in_order(sizes, reverse):
        state, cell = _resized(state, h, stop - start), _resized(cell, c, stop - start)
        row = sums[start:stop]
        row += machine.dot(state, turned)
        np.tanh(row, row)
        row *= scale
        row += shift
        cell = np.multiply(f[start:stop], cell, cells[start:stop])
        cell += i[start:stop] * g[start:stop]
        if projection is None:
            state = np.multiply(o[start:stop], np.tanh(cell), states[start:stop])
        else:
            states[start:stop] = state = machine.dot(o[start:stop] * np.tanh(cell), projection.T)
    return states, cells, sums


def _gates(xp: Operations, gates: Tensor) -> tuple[Tensor, ...]:
    """The gates i, f, g, o of an LSTM, which are side by side."""
    return xp.split(gates, sizes=(gates.shape[1] // 4,) * 4, axis=1)


def _lstm_steps(
    xp: Operations, g: Sequence[Tensor], y: Sequence[Tensor], c: Tensor, weight: Tensor, projection: Tensor | None, *, sizes: Sizes, reverse: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:  # fmt: skip
    """The cotangents of the pre-activations, of initial states and cells, and of the states of all rows."""
    _, cells, gates = y
    extra = _given(xp, g[2])
    if xp is RAW and projection is None and extra is None:
        kept = {"gates": gates, "cells": cells, "before": cells, "first": c}
        found = _by_machine_code("lstm_back", weight, sizes, reverse, given=g[0], to_cells=g[1], **kept)
        if found is not None:
            return found["pulled"], found["to_h"], found["to_c"], None
    steps = _Backwards(xp, sizes, reverse)
    (i, f, new, o), squashed = _gates(xp, gates), xp.tanh(cells)
    if extra is not None:
        direct = (i * (1 - i), f * (1 - f), 1 - new * new, o * (1 - o))
        extra = extra * xp.concat(*direct, axis=1, sizes=(i.shape[1],) * 4)
    slopes = (
        new * i * (1 - i), _before(xp, c, cells, sizes, reverse) * f * (1 - f), i * (1 - new * new),
        squashed * o * (1 - o), o * (1 - squashed * squashed), f, g[0],
    )  # fmt: skip
    to_i, to_f, to_new, to_o, through, forgets, to_states = map(steps.split, slopes)
    extras, to_cells = (None if each is None else steps.split(each) for each in (extra, _given(xp, g[1])))
    pulled, moved = [], []
    to_state: Tensor | float = 0.0
    to_cell: Tensor | float = 0.0
    for step in steps.order:
        out = to_states[step] + to_state
        moved.append(out)
        out = out if projection is None else xp.matmul(out, projection)
        to_cell = out * through[step] + to_cell
        to_cell = to_cell if to_cells is None else to_cell + to_cells[step]
        parts = (to_cell * to_i[step], to_cell * to_f[step], to_cell * to_new[step], out * to_o[step])
        sums = xp.concat(*parts, axis=1, sizes=(cells.shape[1],) * 4)
        pulled.append(sums if extras is None else sums + extras[step])
        to_state, to_cell = steps.passed(step, xp.matmul(pulled[-1], weight), to_cell * forgets[step])
    return steps.join(pulled), steps.initial(0), steps.initial(1), steps.join(moved)


def _lstm_pullback(
    xp: Operations,
    g: Sequence[Tensor],
    y: Sequence[Tensor],
    h: Tensor,
    c: Tensor,
    weight: Tensor,
    projection: Tensor | None,
    sizes: Sizes,
    reverse: bool,
    needs: Sequence[bool],
) -> list[Tensor | None]:
    to_x, to_h, to_c, moved = _lstm_steps(xp, g, y, c, weight, projection, sizes=sizes, reverse=reverse)
    to_weight = _to_weight(xp, to_x, _before(xp, h, y[0], sizes, reverse)) if needs[3] else None
    found = [to_x, to_h, to_c, to_weight]
    if projection is not None and moved is not None:
        found.append(_to_weight(xp, moved, _gates(xp, y[2])[3] * xp.tanh(y[1])) if needs[4] else None)
    return found


def _lstm(
    xp: Operations, g: Sequence[Tensor], y: Sequence[Tensor], h: Tensor, c: Tensor, weight: Tensor, *, sizes: Sizes, reverse: bool, needs: Sequence[bool]
) -> list[Tensor | None]:  # fmt: skip
    return _lstm_pullback(xp, g, y, h, c, weight, None, sizes, reverse, needs)


def _lstm_projected(
    xp: Operations,
    g: Sequence[Tensor],
    y: Sequence[Tensor],
    h: Tensor,
    c: Tensor,
    weight: Tensor,
    projection: Tensor | None,
    *,
    sizes: Sizes,
    reverse: bool,
    needs: Sequence[bool],
) -> list[Tensor | None]:
    return _lstm_pullback(xp, g, y, h, c, weight, projection, sizes, reverse, needs)


# Cho et al., Learning phrase representations using RNN encoder-decoder, 2014; reset gate after the product, as in cuDNN


def _gru_forward(
    x: Array, h: Array, weight: Array, bias: Array, *, sizes: Sizes, reverse: bool
) -> tuple[Array, Array, Array]:
    """The states, the gates r, z, n side by side, and the term that r multiplies."""
    found = _by_machine_code("gru", weight, sizes, reverse, x=x, h=h, bias=bias)
    if found is not None:
        return found["states"], found["gates"], found["products"]
    width = h.shape[1]
    turned, gates = np.ascontiguousarray(weight.T), np.array(x)
    states, products = np.empty((len(x), width), x.dtype), np.empty((len(x), width), x.dtype)
    half, one = x.dtype.type(0.5), x.dtype.type(1)
    state = h[:0]
    for start, stop in in_order(sizes, reverse):
        state = _resized(state, h, stop - start)
        row, shares = gates[start:stop], gates[start:stop, : 2 * width]
        moved = machine.dot(state, turned)
        moved += bias
        products[start:stop] = product = moved[:, 2 * width :]
        shares += moved[:, : 2 * width]
        shares *= half  # 1 / (1 + exp(-a)) is (1 + tanh(a / 2)) / 2
        np.tanh(shares, shares)
        shares += one
        shares *= half
        new = row[:, 2 * width :]
        new += row[:, :width] * product
        np.tanh(new, new)
        state = np.multiply(state - new, row[:, width : 2 * width], states[start:stop])
        state += new
    return states, gates, products


def _gru_steps(
    xp: Operations, g: Sequence[Tensor], y: Sequence[Tensor], h: Tensor, weight: Tensor, before: Tensor, *, sizes: Sizes, reverse: bool
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """The cotangents of the contributions of inputs and states, and of initial states."""
    states, gates, products = y
    extra, extra_product = _given(xp, g[1]), _given(xp, g[2])
    if xp is RAW and extra is None and extra_product is None:
        kept = {"gates": gates, "products": products, "before": states, "first": h}
        found = _by_machine_code("gru_back", weight, sizes, reverse, given=g[0], **kept)
        if found is not None:
            return found["to_x"], found["pulled"], found["to_h"] + found["kept"]
    width = states.shape[1]
    steps = _Backwards(xp, sizes, reverse)
    r, z, n = xp.split(gates, sizes=(width,) * 3, axis=1)
    slopes = ((1 - z) * (1 - n * n), products * r * (1 - r), (before - n) * z * (1 - z), r, z, g[0])
    to_n, to_r, to_z, resets, updates, to_states = map(steps.split, slopes)
    if extra is not None:
        direct = xp.concat(r * (1 - r), z * (1 - z), 1 - n * n, axis=1, sizes=(width,) * 3)
        extras = [xp.split(part, sizes=(width,) * 3, axis=1) for part in steps.split(extra * direct)]
    extra_products = None if extra_product is None else steps.split(extra_product)
    news, pulled = [], []
    to_state: Tensor | float = 0.0
    for step in steps.order:
        out = to_states[step] + to_state
        of_n = out * to_n[step]
        of_n = of_n if extra is None else of_n + extras[step][2]
        of_r, of_z, of_product = of_n * to_r[step], out * to_z[step], of_n * resets[step]
        if extra is not None:
            of_r, of_z = of_r + extras[step][0], of_z + extras[step][1]
        of_product = of_product if extra_products is None else of_product + extra_products[step]
        news.append(of_n)
        pulled.append(xp.concat(of_r, of_z, of_product, axis=1, sizes=(width,) * 3))
        (to_state,) = steps.passed(step, xp.matmul(pulled[-1], weight) + out * updates[step])
    whole = steps.join(pulled)
    to_x = xp.concat(whole[:, : 2 * width], steps.join(news), axis=1, sizes=(2 * width, width))
    return to_x, whole, steps.initial(0)


def _gru(
    xp: Operations, g: Sequence[Tensor], y: Sequence[Tensor], h: Tensor, weight: Tensor, *, sizes: Sizes, reverse: bool, needs: Sequence[bool]
) -> tuple[Tensor | None, ...]:  # fmt: skip
    before = _before(xp, h, y[0], sizes, reverse)
    to_x, pulled, to_h = _gru_steps(xp, g, y, h, weight, before, sizes=sizes, reverse=reverse)
    to_weight = _to_weight(xp, pulled, before) if needs[2] else None
    return to_x, to_h, to_weight, xp.total(pulled, axis=(0,)) if needs[3] else None


# fmt: off
#                          name              pullback
rnn            = general("rnn",            joint=_rnn,            forward=_rnn_forward,  inputs=("x", "h", "weight"))
lstm           = general("lstm",           joint=_lstm,           forward=_lstm_forward, inputs=("x", "h", "c", "weight"),
                         outputs=3)
lstm_projected = general("lstm_projected", joint=_lstm_projected, forward=_lstm_forward,
                         inputs=("x", "h", "c", "weight", "projection"), outputs=3)
gru            = general("gru",            joint=_gru,            forward=_gru_forward,  inputs=("x", "h", "weight", "bias"),
                         outputs=3)
# fmt: on
