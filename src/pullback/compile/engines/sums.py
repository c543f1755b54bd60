"""Lowerings of reductions, running sums, orders and Fourier transforms."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops.alignment import IMPOSSIBLE
from .lowerings import LOWERINGS, Lowering, lowering, missing, part
from .moving import along, picked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..program import Equation
    from .libraries import Engine
    from .lowerings import Foreign


def _axes(axis: Sequence[int] | int | None) -> tuple[int, ...] | int | None:
    return axis if axis is None or isinstance(axis, int) else tuple(axis)


def _reduced(name: str) -> Lowering:
    """A reduction; over no axes, the elements themselves."""

    def reduction(
        w: Engine, e: Equation, x: Foreign, *, axis: Sequence[int] | int | None = None, keepdims: bool = False
    ) -> Foreign:
        if axis == ():
            return x
        more = {"dtype": w.dtype(e.output.dtype)} if name in {"sum", "prod"} else {}
        return getattr(w.xp, name)(x, axis=_axes(axis), keepdims=keepdims, **more)

    return reduction


def _mean(w: Engine, e: Equation, x: Foreign, *, axis: tuple[int, ...], keepdims: bool) -> Foreign:
    if e.output.dtype.itemsize < 4:
        x = w.astype(x, np.dtype(np.float32))
    total = x if axis == () else w.xp.sum(x, axis=_axes(axis), keepdims=keepdims)
    return total / math.prod([x.shape[i] for i in axis])


@lowering("var", "std")
def _variance(
    w: Engine, e: Equation, x: Foreign, *, axis: tuple[int, ...], correction: float, keepdims: bool
) -> Foreign:
    if e.inputs[0].dtype.itemsize < 4:
        x = w.astype(x, np.dtype(np.float32))
    size = w.xp.abs(x - _mean(w, e, x, axis=axis, keepdims=True))
    count = math.prod([x.shape[i] for i in axis]) - correction
    divisor = w.constant(np.asarray(max(count, 0), w.kind(size)))
    if e.name == "std":
        return (_scaled_norm(w, size, 2, axis, keepdims) if axis else size) / w.xp.sqrt(divisor)
    return (w.xp.sum(size * size, axis=_axes(axis), keepdims=keepdims) if axis else size * size) / divisor


def _scaled_norm(w: Engine, size: Foreign, order: float, axes: Sequence[int] | None, keepdims: bool) -> Foreign:
    """The norm of absolute values, divided by the largest first: no power is out of range."""
    xp, axis = w.xp, _axes(axes)
    top = (xp.max if order > 0 else xp.min)(size, axis=axis, keepdims=True)
    unit = xp.where(xp.isfinite(top) & (top > 0), top, xp.ones_like(top))
    size = size / unit
    if order == 2:
        root = xp.sqrt(xp.sum(size * size, axis=axis, keepdims=keepdims))
    else:
        powers = [w.constant(np.asarray(power, w.kind(size))) for power in (order, 1 / order)]
        root = xp.pow(xp.sum(xp.pow(size, powers[0]), axis=axis, keepdims=keepdims), powers[1])
    return root * (unit if keepdims else xp.reshape(unit, root.shape))


@lowering("vector_norm")
def _norm(w: Engine, e: Equation, x: Foreign, *, order: float, axis: tuple[int, ...], keepdims: bool) -> Foreign:
    xp, size, how = w.xp, w.xp.abs(x), {"axis": _axes(axis), "keepdims": keepdims}
    if not axis:
        return w.astype(x != 0, e.output.dtype) if order == 0 else size
    if abs(order) == math.inf:
        return xp.max(size, **how) if order > 0 else xp.min(size, **how)
    if order in {0, 1}:
        return xp.sum(size if order else w.astype(x != 0, e.output.dtype), **how)
    return _scaled_norm(w, size, order, axis, keepdims)


@lowering("logsumexp")
def _logsumexp(w: Engine, e: Equation, x: Foreign, *, axis: Sequence[int], keepdims: bool) -> Foreign:
    xp, axes = w.xp, tuple(axis)
    if not e.inputs[0].size:
        return xp.log(xp.sum(xp.exp(x), axis=axes, keepdims=keepdims))
    return xp.reshape(_log_of_sum(w, x, axes, real=e.output.dtype.kind != "c"), e.output.shape)


def _log_of_sum(w: Engine, x: Foreign, axis: tuple[int, ...] | int, *, real: bool = True) -> Foreign:
    """The logarithm of the sum of exponentials along axes, which are kept with length 1."""
    top = w.xp.max(x if real else w.xp.real(x), axis=axis, keepdims=True)
    shift = w.xp.where(w.xp.isfinite(top), top, w.xp.zeros_like(top))
    return w.xp.log(w.xp.sum(w.xp.exp(x - shift), axis=axis, keepdims=True)) + shift


def running(w: Engine, function: Callable[[Foreign, Foreign], Foreign], x: Foreign, axis: int, first: float) -> Foreign:
    """What a function of two numbers accumulates along an axis, by doubling, from its neutral element on."""
    length, step = x.shape[axis], 1
    while step < length:
        edge = w.xp.full((*x.shape[:axis], step, *x.shape[axis + 1 :]), first, dtype=x.dtype)
        x = function(x, w.xp.concat([edge, part(x, axis, 0, length - step)], axis=axis))
        step *= 2
    return x


@lowering("cumprod")
def _cumprod(w: Engine, e: Equation, x: Foreign, *, axis: int, exclusive: bool) -> Foreign:
    if exclusive:
        edge = w.xp.ones((*x.shape[:axis], 1, *x.shape[axis + 1 :]), dtype=x.dtype)
        x = w.xp.concat([edge, part(x, axis, 0, max(x.shape[axis] - 1, 0))], axis=axis)
        x = x if e.output.shape[axis] else part(x, axis, 0, 0)
    return w.xp.cumulative_prod(x, axis=axis)


@lowering("product_of_others")
def _product_of_others(w: Engine, e: Equation, x: Foreign, *, axis: int) -> Foreign:
    behind = w.xp.flip(_cumprod(w, e, w.xp.flip(x, axis=axis), axis=axis, exclusive=True), axis=axis)
    return _cumprod(w, e, x, axis=axis, exclusive=True) * behind


@lowering("logcumsumexp")
def _logcumsumexp(w: Engine, e: Equation, x: Foreign, *, axis: int) -> Foreign:
    return running(w, lambda a, b: LOWERINGS["logaddexp"](w, e, a, b), x, axis, -math.inf)


@lowering("arglast")
def _arglast(w: Engine, e: Equation, x: Foreign, *, axis: int, largest: bool) -> Foreign:
    xp, function = w.xp, w.xp.maximum if largest else w.xp.minimum
    kind = w.kind(x)
    bounds = (-math.inf, math.inf) if kind.kind == "f" else (np.iinfo(kind).min, np.iinfo(kind).max)
    extreme = running(w, function, x, axis, bounds[0 if largest else 1])
    count = _counted(w, x, axis)
    found = xp.where((x == extreme) | missing(x), count, xp.zeros_like(count))
    return running(w, xp.maximum, found, axis, 0)


def _counted(w: Engine, x: Foreign, axis: int) -> Foreign:
    form = [-1 if i == axis % len(x.shape) else 1 for i in range(len(x.shape))]
    return w.constant(np.arange(x.shape[axis]).reshape(form))


def order(w: Engine, x: Foreign, axis: int, *, descending: bool = False) -> Foreign:
    """The places that sort x along an axis, stable for equal elements; NaN counts as the largest."""
    if not descending:
        return w.xp.argsort(x, axis=axis, stable=True)
    found = w.xp.argsort(w.xp.flip(x, axis=axis), axis=axis, stable=True)
    return x.shape[axis] - 1 - w.xp.flip(found, axis=axis)


def _argtop(w: Engine, e: Equation, x: Foreign, *, axis: int, k: int, largest: bool) -> Foreign:
    return part(order(w, x, axis, descending=largest), axis, 0, k)


@lowering("argmedian", "median")
def _median(
    w: Engine, e: Equation, x: Foreign, *, axis: tuple[int, ...] | int, skip: bool, keepdims: bool = False
) -> Foreign:
    """The lower median: of the valid numbers if NaNs are skipped; else of all, or the first NaN if there is one."""
    if not isinstance(axis, int):
        rest = e.inputs[0].shape[: len(x.shape) - len(axis)]
        x, axis = w.xp.reshape(x, (*rest, math.prod(x.shape[len(rest) :]))), len(rest)
    size, absent = x.shape[axis], w.astype(missing(x), np.dtype(np.int64))
    valid = size - w.xp.sum(absent, axis=axis, keepdims=True)
    middle = w.xp.where(valid > 0, valid - 1, valid) // 2
    if not skip:
        middle = w.xp.where(valid < size, valid, middle)
    places = order(w, x, axis)
    if e.name == "argmedian":
        return w.xp.take_along_axis(places, middle, axis=axis)
    return w.xp.reshape(
        w.xp.take_along_axis(x, w.xp.take_along_axis(places, middle, axis=axis), axis=axis), e.output.shape
    )


@lowering("searchsorted")
def _searchsorted(w: Engine, e: Equation, ordered: Foreign, values: Foreign, *, right: bool) -> Foreign:
    """How many of the ordered numbers come before: of all, since there is no function for rows; NaN is the last."""
    first, other = ordered[..., None, :], values[..., None]
    behind = first > other if right else first >= other
    before = ~missing(first) & (~behind if right else ~behind | missing(other))
    return w.xp.sum(w.astype(before, np.dtype(np.int64)), axis=-1)


@lowering("fft", "rfft", "irfft")
def _fft(
    w: Engine,
    e: Equation,
    x: Foreign,
    *,
    scale: float,
    axes: tuple[int, ...] = (),
    inverse: bool = False,
    axis: int = 0,
    n: int = 0,
) -> Foreign:
    if e.name == "rfft":
        return w.xp.fft.rfft(x, axis=axis) * scale
    if e.name == "irfft":
        return w.xp.fft.irfft(x, n=n, axis=axis) * (scale * n)
    if not axes:
        return x * scale
    count = math.prod([x.shape[i] for i in axes])
    return w.xp.fft.ifftn(x, axes=axes) * (scale * count) if inverse else w.xp.fft.fftn(x, axes=axes) * scale


def _before(w: Engine, x: Foreign, places: int, edge: float) -> Foreign:
    """The elements so many places to the right along the last axis, with copies of a number in front."""
    kept = max(x.shape[-1] - places, 0)
    front = w.xp.full((*x.shape[:-1], x.shape[-1] - kept), edge, dtype=x.dtype)
    return w.xp.concat([front, x[..., :kept]], axis=-1)


@lowering("ctc")
def _ctc(
    w: Engine,
    e: Equation,
    logs: Foreign,
    states: Foreign,
    skips: Foreign,
    start: Foreign,
    ends: Foreign,
    wanted: Foreign,
    *,
    whole: bool,
    **_: Any,
) -> tuple[Foreign, ...]:
    skips, start, ends = (w.astype(value, e.outputs[0].dtype) for value in (skips, start, ends))
    *lead, steps, count, size = e.outputs[1].shape
    if not steps:
        return w.xp.max(ends, axis=-1), w.xp.zeros(e.outputs[1].shape, dtype=ends.dtype)
    places = w.xp.broadcast_to(w.xp.reshape(states, (*lead, 1, count, size)), e.outputs[1].shape)
    emissions = picked(w, logs, along(w, places, e.inputs[0].shape, len(lead) + 2))
    emissions = w.xp.where(emissions < IMPOSSIBLE, w.xp.full_like(emissions, IMPOSSIBLE), emissions)
    found = [emissions[..., 0, :, :] + start]
    for step in range(1, steps):
        one, two = (_before(w, found[-1], places, IMPOSSIBLE) for places in (1, 2))
        ways = w.xp.stack([found[-1], one, two + skips], axis=0)
        found.append(emissions[..., step, :, :] + _log_of_sum(w, ways, 0)[0, ...])
    reached = w.xp.stack(found, axis=-3)
    last = w.xp.broadcast_to(w.xp.reshape((wanted - 1) % steps, (*lead, 1, count, 1)), (*lead, 1, count, size))
    final = picked(w, reached, along(w, last, e.outputs[1].shape, len(lead)))
    final = found[-1] if whole else w.xp.reshape(final, (*lead, count, size))
    return _log_of_sum(w, final + ends, -1)[..., 0], reached


@lowering("lattice")
def _lattice(
    w: Engine, e: Equation, stay: Foreign, one: Foreign, two: Foreign, given: Foreign, *, reverse: bool
) -> Foreign:
    steps = given.shape[-3]
    order = range(steps)[::-1] if reverse else range(steps)
    found: dict[int, Foreign] = {}
    for step in order:
        total, last = given[..., step, :, :], found.get(step + 1 if reverse else step - 1)
        for places, ways in enumerate((stay, one, two)):
            if last is None:
                break
            share = ways[..., step if reverse else step - 1, :, :]
            if reverse:
                term = w.xp.flip(_before(w, w.xp.flip(share * last, axis=-1), places, 0.0), axis=-1)
            else:
                term = share * _before(w, last, places, 0.0)
            total = total + term
        found[step] = total
    return w.xp.stack([found[step] for step in range(steps)], axis=-3) if steps else given


@lowering("einsum")
def _einsum(w: Engine, e: Equation, *arrays: Foreign, equation: str) -> Foreign:
    """Products over all labels and their sums, for libraries that have no function for it."""
    terms, _, result = equation.partition("->")
    labels = result + "".join(sorted({*terms} - {*result, ","}))
    factors = []
    for term, x in zip(terms.split(","), arrays, strict=True):
        inner = sorted(range(len(term)), key=lambda i: labels.index(term[i]))
        form = tuple(x.shape[term.index(label)] if label in term else 1 for label in labels)
        factors.append(w.xp.reshape(w.xp.permute_dims(x, tuple(inner)), form))
    product = functools.reduce(operator.mul, factors)
    axes = tuple(range(len(result), len(labels)))
    return w.xp.sum(product, axis=axes) if axes else product


def _ordered(w: Engine, x: Foreign) -> Foreign:
    """Truth values as numbers, which all libraries compare."""
    return w.astype(x, np.dtype(np.int8)) if w.kind(x).kind == "b" else x


LOWERINGS |= {
    "sum": _reduced("sum"),
    "total": lambda w, e, x, *, axis: _reduced("sum")(w, e, x, axis=axis, keepdims=True),
    "mean": _mean,
    "prod": _reduced("prod"),
    **dict.fromkeys(("amax", "largest"), _reduced("max")),
    **dict.fromkeys(("amin", "smallest"), _reduced("min")),
    "all": _reduced("all"),
    "any": _reduced("any"),
    "argmax": lambda w, e, x, **params: _reduced("argmax")(w, e, _ordered(w, x), **params),
    "argmin": lambda w, e, x, **params: _reduced("argmin")(w, e, _ordered(w, x), **params),
    "cumsum": lambda w, e, x, *, axis: w.xp.cumulative_sum(x, axis=axis, dtype=w.dtype(e.output.dtype)),
    "argsort": lambda w, e, x, *, axis, descending: order(w, x, axis, descending=descending),
    "argtop": _argtop,
    "argkth": lambda w, e, x, *, axis, k: part(order(w, x, axis), axis, k, k + 1),
}  # fmt: skip
