"""Shapes and dtypes: those of the outputs of an equation, from those of its inputs.

The operations that rules place have a line here, which takes microseconds; it holds for inputs of one dtype for which
the operation is defined without a cast. Others are run once, on arrays of those shapes that hold a single element.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.modes import quiet
from .program import Value, sizes_of_labels

if TYPE_CHECKING:
    from .._core.primitives import Primitive
    from .._core.typing import Params

Kind = tuple[tuple[int, ...], np.dtype[Any]]

BOOL = np.dtype(bool)

SAME = """add subtract rsub multiply divide maximum minimum negative reciprocal square sqrt rsqrt exp expm1 log log1p sin
    cos tan sinh cosh tanh sigmoid relu floor ceil rint trunc sign pow remainder power clip erf""".split()
TRUTH = """equal not_equal less less_equal greater greater_equal isnan isinf isfinite logical_not logical_and logical_or
    logical_xor""".split()
REDUCED = "sum mean amax amin".split()


def infer(primitive: Primitive, values: Sequence[Value], params: Params) -> list[Kind]:
    """The shape and dtype of each output."""
    rule = RULES.get(primitive.name)
    if rule is not None:
        return [rule(*values, **params)]
    arrays = [np.broadcast_to(np.zeros((), value.dtype), value.shape) for value in values]
    made = quiet.run(primitive.forward, *arrays, **params)
    return [(np.shape(array), array.dtype) for array in (made if type(made) is tuple else (made,))]


@functools.lru_cache(maxsize=4096)
def together(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which shapes broadcast."""
    first = shapes[0]
    if all(shape == first or not shape for shape in shapes[1:]):
        return first
    return np.broadcast_shapes(*shapes)


def reduced(shape: tuple[int, ...], axis: Sequence[int], keepdims: bool) -> tuple[int, ...]:
    """A shape whose axes have length 1 or are gone."""
    if keepdims:
        return tuple([1 if i in axis else size for i, size in enumerate(shape)])
    return tuple([size for i, size in enumerate(shape) if i not in axis])


def _same(*values: Value, **params: Any) -> Kind:
    return together(*[value.shape for value in values]), values[0].dtype


def _product(a: Value, b: Value, **params: Any) -> Kind:
    if len(a.shape) == 1 or len(b.shape) == 1:
        return (*a.shape[:-1], *(b.shape[:-2] + b.shape[-1:] if len(b.shape) > 1 else ())), a.dtype
    return (*together(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]), a.dtype


def _einsum(*values: Value, equation: str) -> Kind:
    sizes = sizes_of_labels(equation, values)
    return tuple([sizes[label] for label in equation.partition("->")[2]]), values[0].dtype


def _reduction(x: Value, *, axis: tuple[int, ...], keepdims: bool, **params: Any) -> Kind:
    return reduced(x.shape, axis, keepdims), x.dtype


def _reshape(x: Value, *, shape: tuple[int, ...]) -> Kind:
    if -1 in shape:
        rest = x.size // max(-math.prod(shape), 1)
        shape = tuple([rest if size == -1 else size for size in shape])
    return shape, x.dtype


def _concat(*values: Value, axis: int, sizes: tuple[int, ...]) -> Kind:
    shape = values[0].shape
    return (*shape[:axis], sum(value.shape[axis] for value in values), *shape[axis + 1 :]), values[0].dtype


RULES: dict[str, Callable[..., Kind]] = {
    **dict.fromkeys(SAME, _same),
    **dict.fromkeys(TRUTH, lambda *values: (_same(*values)[0], BOOL)),
    **dict.fromkeys(REDUCED, _reduction),
    "abs": lambda x: (x.shape, x.dtype if x.dtype.kind != "c" else np.empty(0, x.dtype).real.dtype),
    **dict.fromkeys(("where", "select"), lambda *values: (_same(*values)[0], values[1].dtype)),
    "matmul": _product,
    "einsum": _einsum,
    "reshape": _reshape,
    "broadcast_to": lambda x, *, shape: (tuple(shape), x.dtype),
    "permute_dims": lambda x, *, axes, label="": (tuple([x.shape[axis] for axis in axes]), x.dtype),
    "astype": lambda x, *, dtype, source: (x.shape, np.dtype(dtype)),
    "scatter_slice": lambda x, *, shape, index: (tuple(shape), x.dtype),
    "take_rows": lambda x, indices: (indices.shape, x.dtype),
    "put_rows": lambda x, indices, *, shape: (tuple(shape), x.dtype),
    "concat": _concat,
    "overwrite": lambda x, value, *, path, label="": (x.shape, x.dtype),
}
