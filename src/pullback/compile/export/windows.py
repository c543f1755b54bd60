"""Convolutions and windows, and linear operations whose coefficients are known before: sums of few elements each."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..machine.elements import KINDS
from ..machine.forms import Form, Matrix
from ..mathematics.lanes import REALS
from ..program import Array, Equation
from .kernels import Kernel, code, flat, over, set_to
from .words import STORED

if TYPE_CHECKING:
    from .unit import FunctionWriter

MOST = 1 << 22
"""Elements of a matrix up to which the coefficients of a linear operation are found."""


def _convolution(writer: FunctionWriter, e: Equation, *, image: str, weight: str, result: str) -> None:
    """A convolution or one of its gradients: for each image the product with a matrix of its windows, one row for each tap.

    The gradient of weights has the matrix turned; that of images is such a matrix, whose elements are added up.
    """
    values = dict(zip("aby", (*e.inputs, e.output), strict=True))
    window, kind = e.params["window"], KINDS[e.output.dtype]
    images, weights, results = (values[letter].shape for letter in (image, weight, result))
    groups, outputs = window.groups, weights[0] // window.groups
    taps, places = math.prod(weights[1:]), math.prod(results[2:])
    steps = (1, taps) if weight == "y" else (places, 1)
    columns = writer.room(f"columns_{kind}", kind, taps * places)
    starts = {
        image: flat(["n", "g", "0"], (images[0], groups, weights[1] * math.prod(images[2:]))),
        weight: f"{outputs * taps} * g",
        result: flat(["n", "g", "0"], (images[0], groups, outputs * places)),
    }
    one, two, out = (f"{letter} + {starts[letter]}" for letter in "aby")
    if result != "y":
        writer.block.say(f"memset(y, 0, {e.output.nbytes});")
    with writer.inside(f"for (int n = 0; n < {images[0]}; ++n)"), writer.inside(f"for (int g = 0; g < {groups}; ++g)"):
        if image == "y":
            left, right = Matrix(taps, outputs, 1, taps, 0, ()), Matrix(outputs, places, places, 1, 0, ())
            writer.block.say(writer.product(Form(kind, (), left, right), [two, one, columns]))
        elif any(window.padding):
            writer.block.say(f"memset({columns}, 0, {taps * places} * sizeof({STORED[kind]}));")
        _windows(writer, e, (images, weights, results), (columns, steps), f"{image}[{starts[image]}")
        if result == "y":
            left, right = Matrix(outputs, taps, taps, 1, 0, ()), Matrix(taps, places, places, 1, 0, ())
            writer.block.say(writer.product(Form(kind, (), left, right), [two, columns, out]))
        elif weight == "y":
            sums = writer.room(f"sums_{kind}", kind, outputs * taps)
            left, right = Matrix(outputs, places, places, 1, 0, ()), Matrix(places, taps, taps, 1, 0, ())
            writer.block.say(writer.product(Form(kind, (), left, right), [two, columns, sums]))
            writer.block.say(f"for (int i = 0; i < {outputs * taps}; ++i) y[{starts[weight]} + i] += {sums}[i];")


def _windows(
    writer: FunctionWriter, e: Equation, shapes: Any, columns: tuple[str, tuple[int, int]], image: str
) -> None:
    """Copies between an image and the matrix of its windows: the elements of windows that are inside."""
    (images, weights, results), (name, steps), window = shapes, columns, e.params["window"]
    *outer, last = range(len(weights) - 2)
    with over(writer, weights[1:]) as (channel, *taps):
        starts = [f"{window.dilation[axis]} * {tap} - {window.padding[axis]}" for axis, tap in enumerate(taps)]
        words = {"stride": window.stride[last], "image": images[2 + last], "result": results[2 + last]}
        code(writer, ENDS, start=starts[last], **words)
        with over(writer, results[2:-1]) as places:
            inside = [writer.fresh("at") for _ in outer]
            for axis in outer:
                writer.block.say(f"const int {inside[axis]} = {window.stride[axis]} * {places[axis]} + {starts[axis]};")
                writer.block.say(f"if ({inside[axis]} < 0 || {inside[axis]} >= {images[2 + axis]}) continue;")
            row, place = flat([channel, *taps], weights[1:]), flat([*places, "q"], results[2:])
            at = flat([channel, *inside, f"(start + {window.stride[last]} * q)"], (weights[1], *images[2:]))
            pair = f"{name}[{steps[0]} * ({row}) + {steps[1]} * ({place})]", f"{image} + {at}]"
            sign = " += " if image.startswith("y") else " = "
            text = sign.join(reversed(pair) if image.startswith("y") else pair)
            writer.block.say(f"for (int q = first; q < end; ++q) {text};")


ENDS = """
const int start = {start}, left = {image} - 1 - start;
const int first = start < 0 ? ({stride} - 1 - start) / {stride} : 0;
const int end = left < 0 ? 0 : left / {stride} + 1 < {result} ? left / {stride} + 1 : {result};
"""
"""Where in a row of results windows have their element inside the image."""


def _max_pool(writer: FunctionWriter, e: Equation) -> None:
    """The largest element of each window, and NaN where there is one; or the place of it; or what belongs there."""
    window, kernel = e.params["window"], e.params["kernel"]
    x = e.inputs[1] if e.name == "max_spread" else e.inputs[0]
    lengths = e.params["lengths"] if e.name == "max_pool" else e.inputs[-1].shape[2:]
    kind, size = STORED[KINDS[x.dtype]], x.shape[2:]
    letter = "b" if e.name == "max_spread" else "a"
    if e.name == "max_spread":
        writer.block.say(f"memset(y, 0, {e.output.nbytes});")
    with over(writer, (*x.shape[:2], *lengths)) as names:
        first, second, *places = names
        best, where = writer.fresh("best"), writer.fresh("where")
        writer.block.say(f"{kind} {best} = 0; int {where} = -1;")
        with over(writer, kernel) as taps:
            inside = [writer.fresh("at") for _ in size]
            for axis, at in enumerate(inside):
                moved = f"{window.stride[axis]} * {places[axis]} + {window.dilation[axis]} * {taps[axis]}"
                writer.block.say(f"const int {at} = {moved} - {window.padding[axis]};")
                writer.block.say(f"if ({at} < 0 || {at} >= {size[axis]}) continue;")
            place = flat(inside, size)
            element = f"{letter}[{flat([first, second, *inside], x.shape)}]"
            writer.block.say(f"const int place = {place};")
            nan = f" || {element} != {element}" if x.dtype.kind == "f" else ""
            writer.block.say(f"if ({where} < 0 || {element} > {best}{nan}) {{ {best} = {element}; {where} = place; }}")
        target = flat([first, second, *places], (*x.shape[:2], *lengths))
        if e.name == "max_pool":
            writer.block.say(f"y[{target}] = {best};")
        elif e.name == "max_places":
            writer.block.say(f"y[{target}] = {where};")
        else:
            plane = flat([first, second, "0"], (*x.shape[:2], math.prod(size)))
            writer.block.say(f"y[{plane} + {where}] += a[{target}];")


def _coefficients(e: Equation) -> tuple[Array, Array, Array]:
    """The matrix of a linear operation as rows: where each begins, the columns, and the coefficients."""
    (x,) = e.inputs
    rows = []
    for number in range(x.size):
        one = np.zeros(x.size, x.dtype)
        one[number] = 1
        rows.append(np.asarray(e.primitive.forward(one.reshape(x.shape), **e.params)).reshape(-1))
    matrix = np.array(rows).T
    places = [np.flatnonzero(row) for row in matrix]
    starts = np.cumsum([0, *map(len, places)])
    columns = np.concatenate(places) if places else np.zeros(0, int)
    return starts.astype(np.int32), columns.astype(np.int32), matrix[matrix != 0]


def _known(writer: FunctionWriter, e: Equation) -> None:
    starts, columns, numbers = _coefficients(e)
    kind = KINDS[e.output.dtype]
    if not len(columns):
        writer.block.say(f"memset(y, 0, {e.output.nbytes});")
        return
    name = writer.unit.constant(starts)
    factor = "" if np.all(numbers == 1) else f"{writer.unit.constant(numbers)}[k] * "
    code(
        writer,
        """
for (int i = 0; i < {size}; ++i) {
    {type} total = {start};
    for (int k = {starts}[i]; k < {starts}[i + 1]; ++k) total = ({type})(total + {factor}a[{columns}[k]]);
    y[i] = total;
}
""",
        size=e.output.size,
        type=STORED[kind],
        start=f"{name}[i] < {name}[i + 1] ? ({STORED[kind]})-0.0 : 0" if np.diff(starts).max() == 1 else 0,  # of copies
        starts=name,
        columns=writer.unit.constant(columns),
        factor=factor,
    )


def _einsum(writer: FunctionWriter, e: Equation) -> None:
    """A sum of products over labeled axes."""
    terms, out = e.params["equation"].split("->")
    sizes: dict[str, int] = {}
    for term, value in zip(terms.split(","), e.inputs, strict=True):
        for label, size in zip(term, value.shape, strict=True):
            sizes[label] = size if sizes.get(label, 1) == 1 else sizes[label]
    inner = [label for label in sizes if label not in out]
    kind = KINDS[e.output.dtype]
    with over(writer, tuple(sizes[label] for label in out)) as names:
        total, start = writer.fresh("total"), "0" if inner or kind not in REALS else "-0.0"
        writer.block.say(f"{STORED[kind]} {total} = {start};")
        index = dict(zip(out, names, strict=True))
        with over(writer, tuple(sizes[label] for label in inner)) as more:
            index |= dict(zip(inner, more, strict=True))
            factors = []
            for letter, term, value in zip("abcdefgh", terms.split(","), e.inputs, strict=False):
                own = ["0" if size == 1 else index[label] for label, size in zip(term, value.shape, strict=True)]
                factors.append(f"{letter}[{flat(own, value.shape)}]")
            set_to(writer, total, kind, f"{total} + {' * '.join(factors)}")
        writer.block.say(f"y[{flat(names, e.output.shape)}] = {total};")


KERNELS: dict[str, Kernel] = {}
CONDITIONS: dict[str, Callable[[Equation], bool]] = {}
KERNELS["convolve"] = functools.partial(_convolution, image="a", weight="b", result="y")
KERNELS["convolve_transpose"] = functools.partial(_convolution, image="y", weight="b", result="a")
KERNELS["convolve_weight"] = functools.partial(_convolution, image="a", weight="y", result="b")
KERNELS |= dict.fromkeys(("max_pool", "max_places", "max_spread"), _max_pool)
KERNELS |= {"einsum": _einsum}
LINEAR = (
    "window_mean window_spread window_overlay window_columns fold_windows add_strided resample pad take repeat "
    "as_strided split scatter_slice scatter_diagonal"
)
"""Linear operations of one array whose coefficients metadata decide."""
for _name in LINEAR.split():
    KERNELS[_name] = _known
    CONDITIONS[_name] = lambda e: (
        len(e.inputs) == len(e.outputs) == 1 and e.output.dtype.kind == "f" and e.inputs[0].size * e.output.size <= MOST
    )
CONDITIONS["einsum"] = lambda e: len(e.inputs) <= 8
