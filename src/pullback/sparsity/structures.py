"""The effect of each linear operation on patterns: which operand elements each element of its result depends on.

Backward rules are linear in the cotangent, so this is all that is needed of their operations. The structure of data
movement is determined by running the operation on element numbers; that of scattered sums by running the operation's
rule, its transpose, on the result's element numbers. Other operations mix elements along axes. If a function here
returns None, `tracing` uses the operation's rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from ..extend import Primitive, xp as _xp
from ..interpreters import pull
from .patterns import Array, Pattern, Shape, empty, gathered, united

if TYPE_CHECKING:
    from .._core.dtypes import NumpyType

Params = dict[str, Any]
Value = Pattern | Array  # an operand: what is pulled back, or data
Structure = Callable[[Primitive, Sequence[Any], Params, bool], Any]

# 1. Elementwise
#
# The sets of the operands are united. A factor that is data does not change a set, whatever its value, nor does a mask;
# with `local`, factors of zero and masks do.

IGNORED = {"copy": 0, "fill": 0, "attached": 1, "tied": 1}  # operands that only determine the result's shape or history


def elementwise(primitive: Primitive, values: Sequence[Value], params: Params, local: bool) -> Pattern:
    """The pattern of an elementwise result: each element depends on the operand elements at the same index."""
    shape = np.broadcast_shapes(*map(np.shape, values))
    dtype = _dtype(primitive, values, params)
    parts = []
    for place, value in enumerate(values):
        if isinstance(value, Pattern) and IGNORED.get(primitive.name) != place:
            parts.append((value, _passing(primitive.name, values, place) if local else None))
    if not parts or primitive.name == "zeros_like":
        return empty(_width(values), shape, dtype)
    first = parts[0][0]
    if all(v.members is first.members and v.shape == shape and mask is None for v, mask in parts):
        return first.like(shape, dtype)
    sources = [_numbers(v.shape, shape) if m is None else np.where(m, _numbers(v.shape, shape), -1) for v, m in parts]
    if len(parts) == 1:
        return gathered(first, sources[0], dtype)
    targets = np.arange(math.prod(shape))
    return united([(v, s.reshape(-1), targets) for (v, _), s in zip(parts, sources, strict=True)], shape, dtype)


def _width(values: Sequence[Value]) -> int:
    return next(value.width for value in values if isinstance(value, Pattern))


def _dtype(primitive: Primitive, values: Sequence[Value], params: Params) -> NumpyType:
    """The dtype of an elementwise result, determined on single elements."""
    probes = [np.ones(1, v.dtype) if hasattr(v, "dtype") else v for v in values]
    return np.asarray(primitive.forward(*probes, **params)).dtype


def _passing(name: str, values: Sequence[Value], place: int) -> Array | None:
    """True where an operand is not multiplied by zero and not masked out; None for everywhere."""
    if name == "multiply":
        other = values[1 - place]
        return None if isinstance(other, Pattern) else np.not_equal(other, 0)
    mask_place, taken = {"where": (0, 1), "select": (0, 1), "masked_fill": (1, 2)}.get(name, (None, None))
    if mask_place is None or isinstance(values[mask_place], Pattern):
        return None
    mask = np.not_equal(values[mask_place], 0)
    return mask if place == taken else ~mask


def _numbers(shape: Shape, target: Shape) -> Array:
    """The element numbers of a shape, broadcast to another shape."""
    return np.broadcast_to(np.arange(math.prod(shape)).reshape(shape), target)


def biased(primitive: Primitive, values: Sequence[Any], params: Params, local: bool) -> Pattern:
    """The pattern of images plus a number for each channel."""
    x, bias = values
    shape = (-1, *[1] * (np.ndim(x) - 2))
    column = bias.like((bias.size, *shape[1:]), bias.dtype) if isinstance(bias, Pattern) else bias.reshape(shape)
    return elementwise(ops.add, (x, column), {}, local)


# 2. Data movement
#
# Each element of a result is an element of an operand, or zero. Element numbers are floats, since the data beside them
# are; for complex patterns both parts are the number.


def moved(primitive: Primitive, values: Sequence[Value], params: Params, local: bool) -> Pattern | tuple[Pattern, ...]:
    """The pattern of a result whose elements are moved from the operands."""
    given = []
    patterns: list[Pattern] = []
    for value in values:
        if isinstance(value, Pattern):
            first = sum(pattern.size for pattern in patterns) + 1
            numbers = np.arange(first, first + value.size, dtype=np.float64).reshape(value.shape)
            given.append(numbers * (1 + 1j) if value.dtype.kind == "c" else numbers)
            patterns.append(value)
        else:
            given.append(np.zeros(np.shape(value)) if np.asarray(value).dtype.kind in "fc" else value)
    whole = patterns[0] if len(patterns) == 1 else _joined(patterns)
    return _each(primitive.forward(*given, **params), lambda piece: _placed(whole, piece))


def _joined(patterns: Sequence[Pattern]) -> Pattern:
    """The elements of several patterns as one pattern, concatenated."""
    offsets = np.cumsum([0, *(len(pattern.members) for pattern in patterns)])
    starts = [pattern.starts[:-1] + offset for pattern, offset in zip(patterns, offsets[:-1], strict=True)]
    members = np.concatenate([pattern.members for pattern in patterns])
    shape = (sum(pattern.size for pattern in patterns),)
    dtype = np.result_type(*(pattern.dtype for pattern in patterns))
    return Pattern(np.concatenate([*starts, offsets[-1:]]), members, patterns[0].width, shape, dtype)


def _placed(pattern: Pattern, numbers: Array) -> Pattern:
    """The elements of a pattern at given element numbers, counted from 1; 0 means none."""
    numbers = np.asarray(numbers)
    kind = numbers.dtype.kind
    single = np.zeros((), pattern.dtype).real.dtype
    sources = numbers.real.astype(np.int64) - 1
    if kind != "c":
        return gathered(pattern, sources, single)
    dtype = np.result_type(single, np.complex64)
    others = numbers.imag.astype(np.int64) - 1
    if np.array_equal(sources, others):
        return gathered(pattern, sources, dtype)
    targets = np.arange(sources.size)
    parts = [(pattern, part.reshape(-1), targets) for part in (sources, others)]
    return united(parts, numbers.shape, dtype)


# 3. Scatters
#
# Each element of an operand is added to an element of the result: the transpose of data movement.


def scattered(primitive: Primitive, values: Sequence[Value], params: Params, local: bool) -> Pattern:
    """The pattern of a result to which elements are added."""
    given = [np.zeros(value.shape) if isinstance(value, Pattern) else value for value in values]
    out = np.asarray(primitive.forward(*given, **params))
    numbers = np.arange(1, out.size + 1, dtype=np.float64).reshape(out.shape)
    places = pull(primitive, _xp, numbers, given, out, params, [isinstance(value, Pattern) for value in values])
    patterns = [
        (v, np.broadcast_to(place, v.shape).reshape(-1).astype(np.int64) - 1)
        for v, place in zip(values, places, strict=False)
        if isinstance(v, Pattern)
    ]
    dtype = np.result_type(*(v.dtype for v, _ in patterns))
    return united([(v, np.arange(v.size), targets) for v, targets in patterns], out.shape, dtype)


def mean(primitive: Primitive, values: Sequence[Value], params: Params, local: bool) -> Pattern:
    """The pattern of a mean, which is that of a sum."""
    return scattered(ops.sum, values, {"axis": params["axis"], "keepdims": params["keepdims"]}, local)


# 4. Along axes
#
# An axis of a result depends on one axis of an operand: pairs of a target index in the new axis and a source index in
# the old one. An operation along several axes is handled one axis after another.


def along(pattern: Pattern, axis: int, targets: Array, sources: Array, length: int) -> Pattern:
    """The pattern in which index `targets[k]` of a new axis depends on index `sources[k]` of the old one, for all k."""
    axis %= pattern.ndim
    before, behind = math.prod(pattern.shape[:axis]), math.prod(pattern.shape[axis + 1 :])
    rows, columns = np.arange(before)[:, None, None], np.arange(behind)
    given = (rows * pattern.shape[axis] + np.asarray(sources)[:, None]) * behind + columns
    made = (rows * length + np.asarray(targets)[:, None]) * behind + columns
    shape = (*pattern.shape[:axis], length, *pattern.shape[axis + 1 :])
    return united([(pattern, given.reshape(-1), made.reshape(-1))], shape, pattern.dtype)


def mixed(pattern: Pattern, axis: int, length: int) -> Pattern:
    """The pattern in which every index of a new axis depends on every index of the old one."""
    axis %= pattern.ndim
    size = pattern.shape[axis]
    if size != 1:
        pattern = along(pattern, axis, np.zeros(size, np.int64), np.arange(size), 1)
    shape = (*pattern.shape[:axis], length, *pattern.shape[axis + 1 :])
    return pattern if length == 1 else gathered(pattern, _numbers(pattern.shape, shape), pattern.dtype)


def accumulated(pattern: Pattern, axis: int, *, backwards: bool = False) -> Pattern:
    """The pattern in which every index depends on itself and all before it, or after it; computed by doubling."""
    axis %= pattern.ndim
    size = pattern.shape[axis]
    numbers = np.arange(pattern.size).reshape(pattern.shape)
    place = np.arange(size).reshape((-1, *[1] * (pattern.ndim - axis - 1)))
    stride = math.prod(pattern.shape[axis + 1 :])
    step = 1
    while step < size:
        there = place + step < size if backwards else place >= step
        others = np.where(there, numbers + (stride if backwards else -stride) * step, -1)
        both = [(pattern, part.reshape(-1), numbers.reshape(-1)) for part in (numbers, others)]
        pattern = united(both, pattern.shape, pattern.dtype)
        step *= 2
    return pattern


def spread(pattern: Pattern, shape: Shape) -> Pattern:
    """A pattern broadcast to a shape."""
    return pattern if pattern.shape == shape else gathered(pattern, _numbers(pattern.shape, shape), pattern.dtype)


def _one(values: Sequence[Value]) -> int | None:
    """The index of the only operand that is a pattern."""
    places = [place for place, value in enumerate(values) if isinstance(value, Pattern)]
    return places[0] if len(places) == 1 else None


# 5. Products


def matmul(primitive: Primitive, values: Sequence[Any], params: Params, local: bool) -> Pattern | None:
    """The pattern of a matrix product: each row with each column; with `local`, nonzero entries only."""
    place = _one(values)
    if place is None:
        return None
    pattern, data = values[place], np.asarray(values[1 - place])
    left = place == 0
    vector = pattern.ndim == 1
    if vector:
        pattern = pattern.like((1, pattern.size) if left else (pattern.size, 1))
    table = data[:, None] if left and data.ndim == 1 else data[None] if data.ndim == 1 else data
    table = table if left else table.swapaxes(-1, -2)  # (..., summed axis, result axis)
    axis = pattern.ndim - 1 if left else pattern.ndim - 2
    if local:
        there = np.any(table != 0, axis=tuple(range(table.ndim - 2)))
        sources, targets = np.nonzero(there)
        product = along(pattern, axis, targets, sources, table.shape[-1])
    else:
        product = mixed(pattern, axis, table.shape[-1])
    product = spread(product, np.broadcast_shapes(product.shape[:-2], table.shape[:-2]) + product.shape[-2:])
    dropped = {-2 if left else -1} if vector else set()
    dropped |= {-1 if left else -2} if data.ndim == 1 else set()
    return product.like(tuple(n for i, n in enumerate(product.shape, -product.ndim) if i not in dropped))


def _transposed(value: Value) -> Value | tuple[Pattern, ...]:
    return moved(ops.matrix_transpose, (value,), {}, False) if isinstance(value, Pattern) else np.transpose(value)


def einsum(primitive: Primitive, values: Sequence[Any], params: Params, local: bool) -> Pattern | None:
    """The pattern of an einsum: sums over labels missing in the result, repetition along new ones."""
    place = _one(values)
    if place is None:
        return None
    terms, result = params["equation"].split("->")
    operands = terms.split(",")
    sizes: dict[str, int] = {}
    for labels, value in zip(operands, values, strict=True):
        for label, size in zip(labels, np.shape(value), strict=True):
            sizes[label] = size if sizes.get(label, 1) == 1 else sizes[label]
    pattern, labels = values[place], operands[place]
    for axis, label in enumerate(labels):
        if label not in result:
            pattern = mixed(pattern, axis, 1)
    numbers = np.arange(pattern.size).reshape(pattern.shape)
    order = [labels.index(label) for label in result if label in labels]
    rest = [axis for axis in range(len(labels)) if axis not in order]
    kept = numbers.transpose(order + rest).reshape([pattern.shape[axis] for axis in order])
    kept = kept[tuple(slice(None) if label in labels else None for label in result)]
    return gathered(pattern, np.broadcast_to(kept, [sizes[label] for label in result]), pattern.dtype)


def solved(primitive: Primitive, values: Sequence[Any], params: Params, local: bool) -> Pattern | None:
    """The pattern of a linear solve: each column separately; for a triangular system, cumulative from one end."""
    if _one(values) != 1:
        return None
    a, b = values
    if b.ndim < a.ndim:
        b = b.like((*[1] * (a.ndim - b.ndim), *b.shape))
    if primitive.name == "solve_triangular":
        b = accumulated(b, -2, backwards=params["upper"])
    else:
        b = mixed(b, -2, a.shape[-1])
    return spread(b, np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + b.shape[-2:])


# 6. Windows


def _met(size: int, length: int, kernel: int, window: Any, i: int) -> tuple[Array, Array, Array]:
    """For each kernel index along axis i and each window position: the position, the kernel index, the image index."""
    place, tap = (part.reshape(-1) for part in np.indices((length, kernel)))
    element = place * window.stride[i] - window.padding[i] + tap * window.dilation[i]
    inside = (element >= 0) & (element < size)
    return place[inside], tap[inside], element[inside]


def convolve(primitive: Primitive, values: Sequence[Any], params: Params, local: bool) -> Pattern | None:
    """The pattern of a convolution: images depend on their windows, the weight on all that contributes to a channel."""
    x, weight = values
    window = params["window"]
    kernel, groups = np.shape(weight)[2:], window.groups
    lengths = window.lengths(np.shape(x)[2:], kernel)
    shape = (np.shape(x)[0], np.shape(weight)[0], *lengths)
    if _one(values) == 0:
        for i, length in enumerate(lengths):
            place, _, element = _met(x.shape[i + 2], length, kernel[i], window, i)
            x = along(x, i + 2, place, element, length)
        return _channels(x, groups, shape)
    if _one(values) == 1:
        return spread(_summed(weight, 1).like((shape[1], *[1] * len(kernel))), shape)
    return None


def convolve_transpose(primitive: Primitive, values: Sequence[Any], params: Params, local: bool) -> Pattern | None:
    """The pattern of a transposed convolution."""
    product, weight = values
    window, size = params["window"], tuple(params["size"])
    kernel, groups = np.shape(weight)[2:], window.groups
    channels = np.shape(weight)[1]
    shape = (np.shape(product)[0], channels * groups, *size)
    if _one(values) == 0:
        for i, length in enumerate(np.shape(product)[2:]):
            place, _, element = _met(size[i], length, kernel[i], window, i)
            product = along(product, i + 2, element, place, size[i])
        return _channels(product, groups, shape)
    if _one(values) == 1:
        lines = _summed(weight, 2).like((groups, np.shape(weight)[0] // groups, channels))
        return spread(mixed(lines, 1, 1).like((shape[1], *[1] * len(size))), shape)
    return None


def convolve_weight(primitive: Primitive, values: Sequence[Any], params: Params, local: bool) -> Pattern | None:
    """The pattern of a convolution's weight gradient."""
    x, product = values
    window, kernel = params["window"], tuple(params["kernel"])
    groups, results = window.groups, np.shape(product)[1]
    channels = np.shape(x)[1] // groups
    if _one(values) == 0:
        for i, taps in enumerate(kernel):
            _, tap, element = _met(x.shape[i + 2], np.shape(product)[i + 2], taps, window, i)
            x = along(x, i + 2, tap, element, taps)
        rows = mixed(x, 0, 1).like((groups, 1, channels, *kernel))
        return spread(rows, (groups, results // groups, channels, *kernel)).like((results, channels, *kernel))
    if _one(values) == 1:
        rows = _summed(mixed(product, 0, 1), 2).like((results, 1, *[1] * len(kernel)))
        return spread(rows, (results, channels, *kernel))
    return None


def _channels(x: Pattern, groups: int, shape: Shape) -> Pattern:
    """Images with other channels, each of which depends on all old channels of its group."""
    apart = x.like((x.shape[0], groups, x.shape[1] // groups, *shape[2:]))
    return mixed(apart, 2, shape[1] // groups).like(shape)


def _summed(pattern: Pattern, first: int) -> Pattern:
    """A pattern summed over the axes from `first` on, which remain with length 1."""
    for axis in range(first, pattern.ndim):
        pattern = mixed(pattern, axis, 1)
    return pattern


def window_mean(primitive: Primitive, values: Sequence[Any], params: Params, local: bool) -> Pattern:
    """The pattern of means over windows, and of their transpose."""
    x: Pattern = values[0]
    window, transposed = params["window"], primitive.name == "window_spread"
    lengths = params["size"] if transposed else params["lengths"]
    for i, (length, taps) in enumerate(zip(lengths, params["kernel"], strict=True)):
        size, count = (length, x.shape[i + 2]) if transposed else (x.shape[i + 2], length)
        place, _, element = _met(size, count, taps, window, i)
        targets, sources = (element, place) if transposed else (place, element)
        x = along(x, i + 2, targets, sources, length)
    return x


# 7. Other axes, and full dependence


def transformed(primitive: Primitive, values: Sequence[Any], params: Params, local: bool) -> Pattern:
    """The pattern of Fourier transforms: every frequency depends on every element along the axes."""
    pattern: Pattern = values[0]
    single = np.zeros((), pattern.dtype).real.dtype
    axes: tuple[int, ...] = params["axes"] if "axes" in params else (params["axis"],)
    for axis in axes:
        size = pattern.shape[axis]
        pattern = mixed(pattern, axis, {"rfft": size // 2 + 1, "irfft": params.get("n")}.get(primitive.name) or size)
    return pattern.like(pattern.shape, single if primitive.name == "irfft" else np.result_type(single, np.complex64))


def resampled(primitive: Primitive, values: Sequence[Any], params: Params, local: bool) -> Pattern:
    """The pattern of resampling: sums of a few elements each."""
    taps = params["taps"]
    return along(values[0], params["axis"], taps.rows, taps.columns, taps.length)


def along_axis(primitive: Primitive, values: Sequence[Value], params: Params, local: bool) -> Pattern:
    """The pattern in which every element depends on all along an axis, or along several."""
    axes = params["axis"] if isinstance(params["axis"], tuple) else (params["axis"],)
    parts = list(values)
    for axis in axes:
        parts = [mixed(part, axis, part.shape[axis]) if isinstance(part, Pattern) else part for part in parts]
    return elementwise(ops.add, parts, {}, local)


def of_matrices(primitive: Primitive, values: Sequence[Any], params: Params, local: bool) -> Pattern:
    """The pattern in which each matrix of a stack depends on all of its own elements."""
    (x,) = values
    return spread(_summed(x, x.ndim - 2), x.shape)


def probes(values: Sequence[Value]) -> list[Array]:
    """Arbitrary values in place of patterns, to determine shapes, dtypes and comparisons."""
    rng = np.random.default_rng(0)
    return [rng.uniform(1, 2, v.shape).astype(v.dtype) if isinstance(v, Pattern) else v for v in values]


def dense(values: Sequence[Value], out: Any) -> Pattern | tuple[Pattern, ...]:
    """The conservative pattern: every element of a result like `out` depends on every element of the operands."""
    rows = [(v, np.arange(v.size), np.zeros(v.size, np.int64)) for v in values if isinstance(v, Pattern)]
    all_of_it = united(rows, (1,), rows[0][0].dtype)
    return _each(out, lambda piece: gathered(all_of_it, np.zeros(np.shape(piece), np.int64), piece.dtype))


def unreached(values: Sequence[Value], out: Any) -> Pattern | tuple[Pattern, ...]:
    """The pattern of a result like `out` that does not depend linearly on the operands."""
    return _each(out, lambda piece: empty(_width(values), np.shape(piece), np.asarray(piece).dtype))


def _each(out: Any, function: Callable[[Any], Pattern]) -> Pattern | tuple[Pattern, ...]:
    """A function of a result, or of each of several."""
    return tuple(map(function, out)) if isinstance(out, tuple) else function(out)


# 8. The table

STRUCTURES: dict[str, Structure] = {
    **dict.fromkeys(
        (
            "reshape broadcast_to permute_dims matrix_transpose expand_dims squeeze flip roll tile windows as_strided "
            "getitem scatter_slice index take_along_axis select_along take_rows put_rows diagonal scatter_diagonal unbind "
            "split clone replay real imag view_as_real view_as_complex tril triu window_columns gather embedding concat "
            "stack overwrite index_put scatter put"
        ).split(),
        moved,
    ),
    **dict.fromkeys(
        (
            "sum total index_add put_along_axis add_strided fold_windows scatter_rows scatter_add accumulate "
            "window_overlay"
        ).split(),
        scattered,
    ),
    **dict.fromkeys("astype ldexp tied masked_fill scale_and_shift outer".split(), elementwise),
    **dict.fromkeys("fft rfft irfft".split(), transformed),
    **dict.fromkeys("solve solve_triangular".split(), solved),
    **dict.fromkeys("window_mean window_spread".split(), window_mean),
    "mean": mean,
    "biased": biased,
    "cumsum": lambda primitive, values, params, local: accumulated(values[0], params["axis"]),
    "matmul": matmul,
    "times_transpose": lambda primitive, pair, *rest: matmul(primitive, (pair[0], _transposed(pair[1])), *rest),
    "transpose_times": lambda primitive, pair, *rest: matmul(primitive, (_transposed(pair[0]), pair[1]), *rest),
    "einsum": einsum,
    "convolve": convolve,
    "convolve_transpose": convolve_transpose,
    "convolve_weight": convolve_weight,
    "resample": resampled,
    "matrix_exp": of_matrices,
    **dict.fromkeys("softmax_pullback log_softmax_pullback standardize_pullback".split(), along_axis),
}


def structure(primitive: Primitive) -> Structure | None:
    """The effect of an operation on patterns; None if only its rule determines it."""
    return STRUCTURES.get(primitive.name) or (elementwise if primitive.kind == "elementwise" else None)
