"""Decompositions of what networks are made of: softmax and its losses, normalisations, layers, attention.

Where eager has ways of its own for small and for large arrays, this is the one that holds for all: exponentials are
shifted by the maximum. What a caller has computed before and hands over as `known` is a function of the inputs all the
same, and is computed again.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..program import Equation, Value
from .building import Builder
from .decompositions import DECOMPOSITIONS as DECOMPOSITIONS, decomposed as decomposed, decomposition, decompositions

SINGLE = np.dtype(np.float32)


def widened(function: Callable[..., Value | None]) -> Callable[..., Value | None]:
    """A decomposition that computes halves in single precision, as eager does, and has no use for what is known.

    Operations on nothing are left as they are.
    """

    @functools.wraps(function)
    def wrapped(b: Builder, *values: Value, known: Any = None, **params: Any) -> Value | None:
        dtype = values[0].dtype
        if dtype.kind != "f" or not all(value.size for value in values):
            return None
        if dtype.itemsize >= 4:
            return function(b, *values, **params)
        wide = [b.astype(v, dtype=SINGLE, source=dtype) if v.dtype == dtype else v for v in values]
        found = function(b, *wide, **params)
        return None if found is None else b.astype(found, dtype=dtype, source=SINGLE)

    return wrapped


# 1. Softmax and its kin


def _exponentials(b: Builder, x: Value, axis: int) -> tuple[Value, Value, Value]:
    """x less its maximum along an axis, the exponentials of that, and their sums."""
    shifted = b.subtract(x, b.amax(x, axis=(axis,), keepdims=True))
    powers = b.exp(shifted)
    return shifted, powers, b.sum(powers, axis=(axis,), keepdims=True)


@decomposition("softmax")
@widened
def _softmax(b: Builder, x: Value, *, axis: int) -> Value:
    _, powers, total = _exponentials(b, x, axis)
    return b.multiply(powers, b.reciprocal(total))


@decomposition("log_softmax")
@widened
def _log_softmax(b: Builder, x: Value, *, axis: int) -> Value:
    shifted, _, total = _exponentials(b, x, axis)
    return b.subtract(shifted, b.log(total))


@decomposition("softmax_pullback")
@widened
def _softmax_pullback(b: Builder, given: Value, shares: Value, *, axis: int) -> Value | None:
    if given.shape != shares.shape:
        return None
    part = b.sum(b.multiply(given, shares), axis=(axis,), keepdims=True)
    return b.multiply(b.subtract(given, part), shares)


@decomposition("log_softmax_pullback")
@widened
def _log_softmax_pullback(b: Builder, given: Value, logs: Value, *, axis: int) -> Value | None:
    if given.shape != logs.shape:
        return None
    return b.subtract(given, b.multiply(b.exp(logs), b.sum(given, axis=(axis,), keepdims=True)))


@decomposition("cross_entropy")
@widened
def _cross_entropy(b: Builder, x: Value, indices: Value, *, reduction: str) -> Value | None:
    shifted, _, sums = _exponentials(b, x, 1)
    logs = b.reshape(b.log(sums), shape=x.shape[:1])
    losses = b.subtract(logs, b.take_rows(shifted, indices))
    if reduction == "none":
        return losses
    total = b.sum(losses, axis=(0,), keepdims=False)
    return total if reduction == "sum" else b.divide(total, x.shape[0])


@decomposition("cross_entropy_pullback")
@widened
def _cross_entropy_pullback(b: Builder, given: Value, x: Value, indices: Value, *, reduction: str) -> Value | None:
    _, powers, total = _exponentials(b, x, 1)
    slopes = b.divide(given, x.shape[0]) if reduction == "mean" else given
    column = b.reshape(slopes, shape=(x.shape[0], 1)) if reduction == "none" else slopes
    shares = b.multiply(powers, b.divide(column, total))
    of_rows = b.broadcast_to(slopes, shape=x.shape[:1])
    return b.subtract(shares, b.put_rows(of_rows, indices, shape=x.shape))


# 2. Normalisations


def _count(x: Value, axis: tuple[int, ...]) -> int:
    return max(math.prod([x.shape[i] for i in axis]), 1)


def _mean(b: Builder, x: Value, axis: tuple[int, ...]) -> Value:
    return b.divide(b.sum(x, axis=axis, keepdims=True), _count(x, axis))


def _centred(b: Builder, x: Value, axis: tuple[int, ...], eps: float) -> tuple[Value, Value]:
    """x less its mean, and the reciprocal of its deviation."""
    centred = b.subtract(x, _mean(b, x, axis))
    variance = _mean(b, b.multiply(centred, centred), axis)
    return centred, b.reciprocal(b.sqrt(b.add(variance, eps)))


@decomposition("standardize")
@widened
def _standardize(b: Builder, x: Value, *, axis: tuple[int, ...], eps: float) -> Value:
    centred, scale = _centred(b, x, axis, eps)
    return b.multiply(centred, scale)


@decomposition("standardize_affine")
@widened
def _standardize_affine(b: Builder, x: Value, weight: Value, bias: Value, **params: Any) -> Value:
    return b.add(b.multiply(b.standardize(x, **params), weight), bias)


@decomposition("standardize_pullback")
@widened
def _standardize_pullback(b: Builder, given: Value, x: Value, *, axis: tuple[int, ...], eps: float) -> Value | None:
    if given.shape != x.shape:
        return None
    centred, scale = _centred(b, x, axis, eps)
    along = b.multiply(_mean(b, b.multiply(given, centred), axis), b.multiply(scale, scale))
    rest = b.subtract(b.subtract(given, _mean(b, given, axis)), b.multiply(centred, along))
    return b.multiply(rest, scale)


@decomposition("rms_normalize")
@widened
def _rms_normalize(b: Builder, x: Value, *, axis: tuple[int, ...], eps: float) -> Value:
    mean = _mean(b, b.multiply(x, x), axis)
    return b.multiply(x, b.reciprocal(b.sqrt(b.add(mean, eps))))


# 3. Layers


@decomposition("project", "affine")
def _project(b: Builder, x: Value, weight: Value, *bias: Value) -> Value | None:
    if any(value.dtype != x.dtype for value in (weight, *bias)):
        return None
    flat = b.reshape(x, shape=(math.prod(x.shape[:-1]), x.shape[-1]))
    out = b.matmul(flat, b.permute_dims(weight, axes=(1, 0)))
    if bias:
        out = b.add(out, *bias)
    return b.reshape(out, shape=(*x.shape[:-1], weight.shape[0]))


decompositions(
    scale_and_shift=lambda b, x, scale, shift: (
        b.add(b.multiply(x, scale), shift) if x.dtype == scale.dtype == shift.dtype else None
    ),
    outer=lambda b, x, other: b.multiply(x, other),
    times_transpose=lambda b, x, other: b.matmul(x, b.matrix_transpose(other)),
    transpose_times=lambda b, x, other: b.matmul(b.matrix_transpose(x), other),
    biased=lambda b, x, bias: b.add(x, b.reshape(bias, shape=(bias.size, *[1] * (len(x.shape) - 2)))),
)


def _weights(b: Builder, query: Value, key: Value, mask: Sequence[Value], scale: float) -> Value:
    """How much each query attends to each key."""
    scores = b.matmul(b.multiply(query, scale), b.matrix_transpose(key))
    if mask:
        scores = b.add(scores, *mask)
    return b.softmax(scores, axis=len(scores.shape) - 1)


@decomposition("attention", "masked_attention")
@widened
def _attention(b: Builder, query: Value, key: Value, value: Value, *mask: Value, scale: float) -> Value:
    return b.matmul(_weights(b, query, key, mask, scale), value)


@decomposed("attention_pullback", "masked_attention_pullback")
def _attention_pullback(b: Builder, e: Equation) -> tuple[Value, ...] | None:
    given, query, key, value, *mask = e.inputs
    scale = e.params["scale"]
    if given.dtype.itemsize < 4:
        return None
    weights = _weights(b, query, key, mask, scale)
    to_weights = b.matmul(given, b.matrix_transpose(value))
    slopes = b.softmax_pullback(to_weights, weights, axis=len(weights.shape) - 1)
    to_query = b.multiply(b.matmul(slopes, key), scale)
    to_key = b.matmul(b.matrix_transpose(slopes), b.multiply(query, scale))
    found = to_query, to_key, b.matmul(b.matrix_transpose(weights), given)
    return found if [v.shape for v in found] == [v.shape for v in e.outputs] else None
