"""Identities that hold up to rounding, and to the sign of a zero; NaN and infinities go where they went.

What would make an infinity of a finite number, or the other way round, is none of them: (x * 1e30) * 1e-30 may overflow
where x does not, so such factors are not joined.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..inference import reduced, together
from ..program import Equation, Value
from .building import Builder
from .identities import is_real, stands
from .layouts import SPREADING
from .rules import Rules

rounded = Rules()

SINGLE = """negative reciprocal square sqrt rsqrt abs exp expm1 log log1p sin cos tan sinh cosh tanh sigmoid relu power clip
    floor ceil rint trunc sign isnan isinf isfinite logical_not erf astype""".split()


@rounded("add", "subtract")
def _plus_zero(build: Builder, e: Equation) -> Value | None:
    """x + 0 is x, 0 - x is -x: only the sign of a zero differs."""
    a, b = e.inputs
    if not is_real(a):
        return None
    if build.number(b) == 0 and stands(build, a, e):
        return a
    if build.number(a) == 0 and stands(build, b, e):
        return b if e.primitive.name == "add" else build.negative(b)
    return None


@rounded("negative")
def _difference(build: Builder, e: Equation) -> Value | None:
    """-(a - b) is b - a: where they are equal, a zero of the other sign."""
    made = build.maker(e.inputs[0], "subtract")
    return build.subtract(made.inputs[1], made.inputs[0]) if made and is_real(e.inputs[0]) else None


@rounded("square")
def _square(build: Builder, e: Equation) -> Value | None:
    (x,) = e.inputs
    return build.multiply(x, x) if is_real(x) else None


@rounded("power")
def _powers(build: Builder, e: Equation) -> Value | None:
    """Small powers as products; 0.5 is the root, as NumPy has it, and x ** 0 is 1 for a NaN too."""
    (x,) = e.inputs
    exponent = e.params["exponent"]
    if not is_real(x) or exponent not in {0, 0.5, -1, -2, 2, 3, 4}:
        return None
    if exponent == 0:
        return build.broadcast_to(build.scalar(1, x.dtype), shape=x.shape)
    if exponent == 0.5:
        return build.sqrt(x)
    if exponent < 0:
        inverse = build.reciprocal(x)
        return inverse if exponent == -1 else build.multiply(inverse, inverse)
    square = build.multiply(x, x)
    return {2: square, 3: build.multiply(square, x), 4: build.multiply(square, square)}[int(exponent)]


@rounded("multiply")
def _factors(build: Builder, e: Equation) -> Value | None:
    """(x * c) * d is x * (c * d), if that is a normal number, and x * c does not overflow where the whole does not."""
    a, b = e.inputs
    outer = build.number(b)
    inner = build.maker(a, "multiply")
    if outer is None or inner is None or not is_real(a):
        return None
    first = build.number(inner.inputs[1])
    if first is None or inner.inputs[0].shape != e.output.shape or first.dtype != outer.dtype:
        return None
    product = float(first) * float(outer)
    info = np.finfo(a.dtype)
    harmless = abs(outer) >= 1 or abs(first) <= 1
    if harmless and float(info.tiny) <= abs(product) <= float(info.max):
        return build.multiply(inner.inputs[0], build.scalar(product, a.dtype))
    return None


@rounded("add")
def _twice(build: Builder, e: Equation) -> Value | None:
    """x + x, where it is the double of a multiple, which is another multiple."""
    a, b = e.inputs
    product = build.maker(a, "multiply") if a is b and is_real(a) else None
    return build.multiply(a, 2) if product and product.inputs[1] in build.numbers else None


@rounded("exp")
def _share_of_exponentials(build: Builder, e: Equation) -> Value | None:
    """exp(x - (log(s) + m)), and exp((x - m) - log(s)), where s is a sum of exp(x - m): exp(x - m) / s.

    It is how the slope of logsumexp, and of log_softmax, becomes that of softmax, without exponentials of its own. Where
    s is 0 or NaN, both are NaN; where it is infinite, both are NaN at its infinite terms, and 0 at others.
    """
    made = build.maker(e.inputs[0], "subtract")
    if made is None:
        return None
    x, total = made.inputs
    if reshaped := build.maker(total, "reshape"):
        total = reshaped.inputs[0]
    if log := build.maker(total, "log"):
        return _over_sum(build, e, x, log.inputs[0])
    added = build.maker(total, "add")
    for first, second in () if added is None else (added.inputs, added.inputs[::-1]):
        if log := build.maker(first, "log"):
            shifted = build.shared("subtract", (x, second))
            return None if shifted is None else _over_sum(build, e, shifted, log.inputs[0])
    return None


def _over_sum(build: Builder, e: Equation, shifted: Value, total: Value) -> Value | None:
    """exp(shifted) / total, if that is the sum of it over axes which stay."""
    summed = build.maker(total, "sum")
    powers = build.shared("exp", (shifted,))
    if summed is None or powers is None or summed.inputs[0] is not powers or powers.shape != e.output.shape:
        return None
    kept = build.reshape(total, shape=reduced(powers.shape, summed.params["axis"], keepdims=True))
    return build.multiply(powers, build.reciprocal(kept))


@rounded("sum")
def _of_negative(build: Builder, e: Equation) -> Value | None:
    """The sum of what is negated is negated once."""
    made = build.maker(e.inputs[0], "negative")
    return build.negative(build.sum(made.inputs[0], **e.params)) if made and is_real(e.inputs[0]) else None


@rounded("multiply", "add")
def _number_last(build: Builder, e: Equation) -> Value | None:
    """A number goes to the right, where the other rules look for it."""
    a, b = e.inputs
    if a in build.numbers and b not in build.numbers:
        return build.op(e.primitive.name, b, a)
    return None


@rounded(*SPREADING, *SINGLE, "select")
def _before_spreading(build: Builder, e: Equation) -> Value | None:
    """What is computed of repeated elements is computed once, and repeated."""
    makers = [build.maker(value, "broadcast_to") for value in e.inputs]
    sources = tuple([maker.inputs[0] if maker else value for value, maker in zip(e.inputs, makers, strict=True)])
    if sources == e.inputs or together(*[source.shape for source in sources]) == e.output.shape:
        return None
    if e.output.size == 0:
        return None
    (small,) = build.apply(e.primitive, sources, e.params)
    return build.broadcast_to(small, shape=e.output.shape)


# Reductions
#
# A sum is pushed through what only moves elements, and sums of sums are one: in which order numbers are added is free.
# Of repeated elements it is their number times one of them, which overflows where the sum does; none of them is 0 for NaN
# too, so there must be some.


@rounded("sum", "amax", "amin")
def _reduction(build: Builder, e: Equation) -> Value | None:
    (x,) = e.inputs
    if x.dtype.kind not in "fiu" or (e.primitive.name == "sum" and e.output.dtype != x.dtype):
        return None
    axis: tuple[int, ...] = e.params["axis"]
    if not axis or all(x.shape[i] == 1 for i in axis):
        return build.reshape(x, shape=e.output.shape)
    maker = build.makers.get(x)
    through = _THROUGH.get(maker.primitive.name) if maker is not None else None
    return None if through is None else through(build, e, maker, axis)


def _over(build: Builder, e: Equation, x: Value, axis: tuple[int, ...]) -> Value:
    """The same reduction of x over axes, in the shape that was asked for."""
    small = build.op(e.primitive.name, x, axis=axis, keepdims=False) if axis else x
    return build.reshape(small, shape=e.output.shape)


def _of_reduction(build: Builder, e: Equation, inner: Equation, axis: tuple[int, ...]) -> Value | None:
    if inner.primitive.name != e.primitive.name:
        return None
    (x,) = inner.inputs
    first: tuple[int, ...] = inner.params["axis"]
    left = [i for i in range(len(x.shape)) if inner.params["keepdims"] or i not in first]
    return _over(build, e, x, tuple(sorted({*first, *[left[i] for i in axis]})))


def _of_permuted(build: Builder, e: Equation, inner: Equation, axis: tuple[int, ...]) -> Value:
    (x,) = inner.inputs
    axes: tuple[int, ...] = inner.params["axes"]
    gone = {axes[i] for i in axis}
    small = build.op(e.primitive.name, x, axis=tuple(sorted(gone)), keepdims=True)
    return build.reshape(build.permute_dims(small, axes=axes), shape=e.output.shape)


def _of_repeated(build: Builder, e: Equation, inner: Equation, axis: tuple[int, ...]) -> Value | None:
    (x,) = inner.inputs
    shape = inner.output.shape
    new = len(shape) - len(x.shape)
    repeated = [i for i in axis if i < new or (x.shape[i - new] == 1 and shape[i] != 1)]
    count = math.prod([shape[i] for i in repeated])
    if not repeated or count == 0:
        return None
    rest = tuple([i - new for i in axis if i >= new])
    small = build.op(e.primitive.name, x, axis=rest, keepdims=True) if rest else x
    if e.primitive.name == "sum":
        small = build.multiply(small, count)
    if small.size != e.output.size:  # empty ones, too
        aligned = build.reshape(small, shape=(1,) * new + small.shape)
        small = build.broadcast_to(aligned, shape=reduced(shape, axis, keepdims=True))
    return build.reshape(small, shape=e.output.shape)


def _of_reshaped(build: Builder, e: Equation, inner: Equation, axis: tuple[int, ...]) -> Value | None:
    """Over all axes the shape is of no account; else axes of length 1 may have come or gone."""
    (x,) = inner.inputs
    shape = inner.output.shape
    if all(i in axis or size == 1 for i, size in enumerate(shape)):
        return _over(build, e, x, tuple(range(len(x.shape))))
    places = _same_axes(x.shape, shape)
    return None if places is None else _over(build, e, x, tuple([places[i] for i in axis if i in places]))


def _same_axes(source: tuple[int, ...], shape: tuple[int, ...]) -> dict[int, int] | None:
    """Which axis of the source each axis of a shape is, but for those of length 1; None for other shapes."""
    old = [i for i, size in enumerate(source) if size != 1]
    new = [i for i, size in enumerate(shape) if size != 1]
    if [source[i] for i in old] != [shape[i] for i in new]:
        return None
    return dict(zip(new, old, strict=True))


_THROUGH: dict[str, Any] = {
    "sum": _of_reduction,
    "amax": _of_reduction,
    "amin": _of_reduction,
    "permute_dims": _of_permuted,
    "broadcast_to": _of_repeated,
    "reshape": _of_reshaped,
}

# Pieces


@rounded("split")
def _split_again(build: Builder, e: Equation) -> tuple[Value, ...] | None:
    """The pieces that were joined."""
    joined = build.maker(e.inputs[0], "concat")
    if joined is None or joined.params["axis"] != e.params["axis"]:
        return None
    sizes = tuple([value.shape[e.params["axis"]] for value in joined.inputs])
    return joined.inputs if sizes == tuple(e.params["sizes"]) else None


@rounded("unbind")
def _unbound(build: Builder, e: Equation) -> tuple[Value, ...] | None:
    stacked = build.maker(e.inputs[0], "stack")
    return stacked.inputs if stacked is not None and stacked.params["axis"] == e.params["axis"] else None


@rounded("getitem")
def _taken_back(build: Builder, e: Equation) -> Value | None:
    """What was put at an index is taken from there."""
    (x,) = e.inputs
    put = build.maker(x, "scatter_slice")
    if put is not None and put.params["index"] == e.params["index"] and put.inputs[0].shape == e.output.shape:
        return put.inputs[0]
    written = build.maker(x, "overwrite")
    if written is None or len(path := written.params["path"]) != 1:
        return None
    primitive, params = path[0]
    value = written.inputs[1]
    same = primitive.name == "getitem" and params["index"] == e.params["index"]
    return build.broadcast_to(value, shape=e.output.shape) if same and value.dtype == x.dtype else None
