"""Elements at indices that are computed: taken, put, combined."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ... import ops
from ..machine.elements import KINDS
from ..machine.indices import strides
from ..program import ARRAY, Array, Equation, Value
from .kernels import Kernel, code, flat, over, set_to, static, wrapped
from .words import STORED

if TYPE_CHECKING:
    from .unit import FunctionWriter


def _along(writer: FunctionWriter, e: Equation, *, x: int, chosen: int, values: int | None, how: str) -> None:
    """For each element of an index along an axis, take an element of x, or combine one of it with a value."""
    shape = e.inputs[x].shape if x >= 0 else e.output.shape
    axis, indices, kind = e.params["axis"] % len(shape), e.inputs[chosen], KINDS[e.output.dtype]
    if x >= 0 and values is not None:
        writer.copy("y", "abc"[x], e.output)
    elif values is not None:
        writer.block.say(f"memset(y, 0, {e.output.nbytes});")
    with over(writer, indices.shape) as names:
        at = wrapped(writer, f"{'abc'[chosen]}[{flat(names, indices.shape)}]", shape[axis], e.name)
        place = flat([at if i == axis else name for i, name in enumerate(names)], shape)
        if values is None:
            set_to(writer, f"y[{flat(names, indices.shape)}]", kind, f"{'abc'[x]}[{place}]")
            return
        given = e.inputs[values]
        value = f"{'abc'[values]}[{flat(names, given.shape) if given.shape else 0}]"
        _combined(writer, f"y[{place}]", value, kind, how)


def _combined(writer: FunctionWriter, target: str, value: str, kind: str, how: str) -> None:
    if how in {"<", ">"}:
        nan = f" || {value} != {value}" if kind in "fd" else ""
        writer.block.say(f"if ({value} {how} {target}{nan}) {target} = {value};")
    else:
        set_to(writer, target, kind, f"{target} {how} {value}" if how else value)


Places = tuple[Array, list[Array], list[int]]
"""Places for indices of 0, which element of each index stands where, and the axis of each."""


def _spec(e: Equation, shape: tuple[int, ...], count: int) -> Places:
    """Places for indices of 0, which element of each index stands where, and the axis of each."""
    spec = e.params["spec"]
    arrays = e.inputs[-count:]
    axes, axis = [], 0
    for entry in spec:
        if entry is Ellipsis:
            axis = len(shape) - sum(each is not None and each is not Ellipsis for each in spec[spec.index(entry) :]) + 1
            axis -= 1
            continue
        if entry is ARRAY:
            axes.append(axis)
        axis += entry is not None
    zeros = [np.zeros(array.shape, np.int64) for array in arrays]
    numbers = np.arange(int(np.prod(shape))).reshape(shape)
    base = ops.index.forward(numbers, *zeros, spec=spec)
    which = []
    for axis in axes:
        lengths = list(shape)
        for other, each in zip(axes, arrays, strict=True):
            lengths[other] = max(int(np.prod(each.shape)), 1)
        along = np.arange(lengths[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))])
        chosen = [np.arange(int(np.prod(each.shape))).reshape(each.shape) for each in arrays]
        which.append(ops.index.forward(np.broadcast_to(along, lengths), *chosen, spec=spec))
    return base, which, axes


def _indexed(writer: FunctionWriter, e: Equation, x: Value, count: int, names: list[str], spec: Places) -> str:
    """The place of an element in x, in terms of the indices of the result."""
    base, which, axes = spec
    terms = [static(writer, base, names)]
    for number, (axis, table) in enumerate(zip(axes, which, strict=True)):
        letter = "abcdefgh"[len(e.inputs) - count + number]
        at = wrapped(writer, f"{letter}[{static(writer, table, names)}]", x.shape[axis], e.name)
        terms.append(f"{strides(x.shape)[axis]} * {at}")
    return " + ".join(terms)


def _index(writer: FunctionWriter, e: Equation) -> None:
    x, count = e.inputs[0], len(e.inputs) - 1
    spec = _spec(e, x.shape, count)
    with over(writer, e.output.shape) as names:
        place = _indexed(writer, e, x, count, names, spec)
        set_to(writer, f"y[{flat(names, e.output.shape)}]", KINDS[x.dtype], f"a[{place}]")


def _index_add(writer: FunctionWriter, e: Equation) -> None:
    g, count = e.inputs[0], len(e.inputs) - 1
    spec = _spec(e, e.output.shape, count)
    writer.block.say(f"memset(y, 0, {e.output.nbytes});")
    with over(writer, spec[0].shape) as names:
        place = _indexed(writer, e, e.output, count, names, spec)
        _combined(writer, f"y[{place}]", f"a[{_spread(g, spec[0].shape, names)}]", KINDS[g.dtype], "+")


def _spread(value: Value, shape: tuple[int, ...], names: list[str]) -> str:
    """The place of an element of a value that is broadcast to a shape."""
    own = names[len(shape) - len(value.shape) :]
    return flat(["0" if size == 1 else name for name, size in zip(own, value.shape, strict=True)], value.shape)


def _index_put(writer: FunctionWriter, e: Equation) -> None:
    x, value, count = e.inputs[0], e.inputs[1], len(e.inputs) - 2
    spec = _spec(e, x.shape, count)
    writer.copy("y", "a", x)
    with over(writer, spec[0].shape) as names:
        place = _indexed(writer, e, x, count, names, spec)
        set_to(writer, f"y[{place}]", KINDS[x.dtype], f"b[{_spread(value, spec[0].shape, names)}]")


def _of_rows(writer: FunctionWriter, e: Equation) -> None:
    """`gather`, `put` and `accumulate`: of arrays (n, m, places) with an index for each pair of the first two."""
    x, indices = e.inputs
    first, second = x.shape[:2]
    kind, taking = KINDS[x.dtype], e.name == "gather"
    size, each = x.shape[-1] if taking else e.params["size"], indices.shape[-1]
    if not taking:
        writer.block.say(f"memset(y, 0, {e.output.nbytes});")
    shape = (first, second, each)
    with over(writer, shape) as names:
        row, column = f"({names[0]} * {second} + {names[1]})", names[2]
        at = wrapped(writer, f"b[{_spread(indices, shape, names)}]", size, e.name)
        if taking:
            writer.block.say(f"y[{each} * {row} + {column}] = a[{size} * {row} + {at}];")
        else:
            how = "+" if e.name == "accumulate" and not e.params["apart"] else ""
            _combined(writer, f"y[{size} * {row} + {at}]", f"a[{each} * {row} + {column}]", kind, how)


def _whole(e: Equation) -> bool:
    """Whether all indices are whole numbers: how many a mask selects is not known before."""
    arrays = sum(entry is ARRAY for entry in e.params["spec"])
    return bool(arrays) and all(x.dtype.kind in "iu" for x in e.inputs[-arrays:]) and len(e.inputs) <= 8


def _scatter_rows(writer: FunctionWriter, e: Equation) -> None:
    count, columns = e.output.shape
    code(
        writer,
        """
memset(y, 0, {bytes});
for (int i = 0; i < {n}; ++i) {
    int64_t at = (int64_t)b[i];
    if (at < 0) at += {count};
    for (int j = 0; j < {columns}; ++j) y[at * {columns} + j] = ({type})(y[at * {columns} + j] + a[i * {columns} + j]);
}
""",
        bytes=e.output.nbytes,
        n=math.prod(e.inputs[1].shape),
        count=count,
        columns=columns,
        type=STORED[KINDS[e.output.dtype]],
    )


KERNELS: dict[str, Kernel] = {}
CONDITIONS: dict[str, Callable[[Equation], bool]] = {}
COMBINED = {"scatter": "", "scatter_add": "+", "scatter_amax": ">", "scatter_amin": "<", "scatter_prod": "*"}
KERNELS |= {name: functools.partial(_along, x=0, chosen=2, values=1, how=how) for name, how in COMBINED.items()}
KERNELS["take_along_axis"] = functools.partial(_along, x=0, chosen=1, values=None, how="")
KERNELS["put_along_axis"] = functools.partial(_along, x=-1, chosen=1, values=0, how="+")
KERNELS |= {"scatter_rows": _scatter_rows, "index": _index, "index_add": _index_add, "index_put": _index_put}
KERNELS |= dict.fromkeys(("gather", "put", "accumulate"), _of_rows)
CONDITIONS |= dict.fromkeys(("index", "index_add", "index_put"), _whole)
