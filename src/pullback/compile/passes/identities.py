"""Identities of arithmetic that hold to the last bit for all numbers: NaN, infinities, signed zeros, subnormals.

`x + 0.0` is not one of them, since -0.0 + 0.0 is 0.0, but `x + -0.0` is. The sign of a NaN is of no account.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..program import Equation, Value
from .building import Builder
from .rules import Rules

if TYPE_CHECKING:
    from ..._core.typing import NumpyType

exact = Rules()


def stands(build: Builder, value: Value, equation: Equation) -> bool:
    """Whether a value can stand for the output of an operation that has copied it."""
    output = equation.output
    return value.shape == output.shape and value.dtype == output.dtype and build.dense(value)


def is_number(build: Builder, value: Value, number: float) -> bool:
    """Whether all elements are this number, which is told from that with another sign, zeros included."""
    known = build.number(value)
    return known is not None and known == number and bool(np.signbit(known)) == (math.copysign(1, number) < 0)


def is_real(value: Value) -> bool:
    """Whether the elements are real numbers of floating point."""
    return value.dtype.kind == "f"


def _like(value: Value, output: Value) -> bool:
    return value.shape == output.shape and value.dtype == output.dtype


@exact("rsub")
def _turned(build: Builder, e: Equation) -> Value:
    a, b = e.inputs
    return build.subtract(b, a)


@exact("multiply")
def _by_one(build: Builder, e: Equation) -> Value | None:
    for a, b in (e.inputs, e.inputs[::-1]):
        known = build.number(b)
        if known is not None and known in (1, -1):  # of complex numbers 1 + 0j times inf is no inf
            if known == 1 and a.dtype.kind in "fiu" and stands(build, a, e):
                return a
            if known == -1 and is_real(a) and _like(a, e.output):
                return build.negative(a)
    return None


@exact("divide")
def _by_power_of_two(build: Builder, e: Equation) -> Value | None:
    """A quotient by a power of two is the product with its reciprocal, unless that is subnormal or infinite."""
    a, b = e.inputs
    known = build.number(b)
    if known is None or not (is_real(a) and _like(a, e.output) and b.dtype == a.dtype):
        return None
    if math.frexp(abs(known))[0] != 0.5 or not math.isfinite(known):
        return None
    info = np.finfo(a.dtype)
    inverse = 1 / float(known)
    if float(info.tiny) <= abs(inverse) <= float(info.max):
        return build.multiply(a, build.scalar(inverse, a.dtype))
    return None


@exact("add")
def _plus(build: Builder, e: Equation) -> Value | None:
    for a, b in (e.inputs, e.inputs[::-1]):
        if is_real(a) and is_number(build, b, -0.0) and stands(build, a, e):
            return a
        if (negated := build.maker(b, "negative")) and is_real(a):
            return build.subtract(a, negated.inputs[0])
    return None


@exact("subtract")
def _minus(build: Builder, e: Equation) -> Value | None:
    a, b = e.inputs
    if not is_real(a):
        return None
    if is_number(build, b, 0.0) and stands(build, a, e):
        return a
    if is_number(build, a, -0.0) and _like(b, e.output):
        return build.negative(b)
    negated = build.maker(b, "negative")
    return build.add(a, negated.inputs[0]) if negated else None


@exact("negative")
def _negated(build: Builder, e: Equation) -> Value | None:
    (x,) = e.inputs
    if (negated := build.maker(x, "negative")) and stands(build, negated.inputs[0], e):
        return negated.inputs[0]
    if (product := build.maker(x, "multiply")) and is_real(x):
        a, b = product.inputs
        known = build.number(b)
        return build.multiply(a, build.constant(np.asarray(-known))) if known is not None and _like(a, x) else None
    return None


@exact("multiply", "divide")
def _signs(build: Builder, e: Equation) -> Value | None:
    """Two signs cancel, and one goes into a constant."""
    a, b = e.inputs
    left, right = build.maker(a, "negative"), build.maker(b, "negative")
    if not is_real(a) or not (left or right):
        return None
    name = e.primitive.name
    if left and right:
        return build.op(name, left.inputs[0], right.inputs[0])
    if left and (known := build.number(b)) is not None and _like(a, e.output):
        return build.op(name, left.inputs[0], build.constant(np.asarray(-known)))
    if right and (known := build.number(a)) is not None and _like(b, e.output):
        return build.op(name, build.constant(np.asarray(-known)), right.inputs[0])
    return None


@exact("abs", "square")
def _even(build: Builder, e: Equation) -> Value | None:
    negated = build.maker(e.inputs[0], "negative")
    return build.op(e.primitive.name, negated.inputs[0]) if negated else None


@exact("abs", "relu", "floor", "ceil", "rint", "trunc", "sign")
def _once(build: Builder, e: Equation) -> Value | None:
    """What is done once is done."""
    (x,) = e.inputs
    return x if build.maker(x, e.primitive.name) and stands(build, x, e) else None


@exact("maximum", "minimum", "logical_and", "logical_or")
def _of_itself(build: Builder, e: Equation) -> Value | None:
    a, b = e.inputs
    return a if a is b and stands(build, a, e) else None


@exact("where")
def _chosen(build: Builder, e: Equation) -> Value | None:
    condition, a, b = e.inputs
    if a is b and build.plain(a) and stands(build, a, e):
        return a
    known = build.number(condition)
    chosen = None if known is None else a if known else b
    return chosen if chosen is not None and build.plain(chosen) and stands(build, chosen, e) else None


@exact("select")
def _selected(build: Builder, e: Equation) -> Value | None:
    condition, x = e.inputs
    known = build.number(condition)
    return x if known is not None and known != 0 and build.plain(x) and stands(build, x, e) else None


OPPOSITES = {"equal": "not_equal", "not_equal": "equal"}
"""A comparison that holds where the other does not; of `less` there is none, because of NaN."""


@exact("logical_not")
def _opposite(build: Builder, e: Equation) -> Value | None:
    made = build.makers.get(e.inputs[0])
    if made is None:
        return None
    if made.primitive.name in OPPOSITES:
        return build.op(OPPOSITES[made.primitive.name], *made.inputs)
    if made.primitive.name == "logical_not" and stands(build, made.inputs[0], e):
        return made.inputs[0]
    return None


@exact("logical_and", "logical_or")
def _decided(build: Builder, e: Equation) -> Value | None:
    """True and x, False or x."""
    neutral = e.primitive.name == "logical_and"
    for a, b in (e.inputs, e.inputs[::-1]):
        known = build.number(b)
        if known is not None and bool(known) == neutral and stands(build, a, e):
            return a
    return None


@exact("power")
def _first_power(build: Builder, e: Equation) -> Value | None:
    (x,) = e.inputs
    return x if e.params["exponent"] == 1 and stands(build, x, e) else None


@exact("clip")
def _clip_without_bounds(build: Builder, e: Equation) -> Value | None:
    return e.inputs[0] if e.params["lower"] is None and e.params["upper"] is None else None


@exact("clone")
def _copy(build: Builder, e: Equation) -> Value | None:
    """Values do not change, so none needs a copy."""
    (x,) = e.inputs
    ordered = e.params.get("order", "K") == "K" or build.plain(x)
    return x if ordered and stands(build, x, e) else None


@exact("tied")
def _tie(build: Builder, e: Equation) -> Value:
    return e.inputs[0]


MANTISSA = {"f": {2: 11, 4: 24, 8: 53}}
"""The whole numbers that a float of so many bytes holds, in bits."""


def keeps_all(source: NumpyType, dtype: NumpyType) -> bool:
    """Whether every number of one dtype is one of another."""
    if source == dtype:
        return True
    if source.kind in "iu" and dtype.kind == "f":
        return source.itemsize * 8 <= MANTISSA["f"].get(dtype.itemsize, 0)
    if source.kind in "iu" and dtype.kind == "c":
        return keeps_all(source, np.empty(0, dtype).real.dtype)
    return np.can_cast(source, dtype, "safe")


@exact("astype")
def _cast(build: Builder, e: Equation) -> Value | None:
    (x,) = e.inputs
    target = e.output.dtype
    if x.dtype == target:
        return x if stands(build, x, e) else None
    inner = build.maker(x, "astype")
    if inner and keeps_all(inner.inputs[0].dtype, x.dtype):
        source = inner.inputs[0]
        if source.dtype == target:
            return source if stands(build, source, e) else None
        return build.astype(source, dtype=target, source=source.dtype)
    return None


@exact("zeros_like")
def _zeros(build: Builder, e: Equation) -> Value | None:
    if not build.plain(e.inputs[0]):
        return None
    return build.broadcast_to(build.scalar(0, e.output.dtype), shape=e.output.shape)
