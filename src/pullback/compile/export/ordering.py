"""Orders and running values along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..machine.elements import KINDS
from ..mathematics.arithmetic import plus, times
from ..mathematics.lanes import REALS, IRValue
from ..program import Equation
from .kernels import Kernel, code
from .sums import read, stored
from .words import STORED

if TYPE_CHECKING:
    from .unit import FunctionWriter

SORT = """
/* The stable order of numbers, NaN last: bottom-up merges of places. */
static void {name}(const {type} *x, int count, int step, int64_t *order, int64_t *room)
{
    for (int i = 0; i < count; ++i) order[i] = i;
    for (int width = 1; width < count; width *= 2) {
        for (int start = 0; start < count; start += 2 * width) {
            const int middle = start + width < count ? start + width : count;
            const int end = start + 2 * width < count ? start + 2 * width : count;
            int left = start, right = middle;
            for (int k = start; k < end; ++k) {
                int later = left >= middle;
                if (!later && right < end) {
                    const {type} a = x[order[left] * step], b = x[order[right] * step];
                    later = {later};
                }
                room[k] = later ? order[right++] : order[left++];
            }
        }
        memcpy(order, room, (size_t)count * sizeof *order);
    }
}
"""


def _lines(e: Equation) -> tuple[int, int, int]:
    """The number of elements along the axis, how far apart they are, and how many lines there are."""
    shape, axis = e.inputs[0].shape, e.params.get("axis", -1)
    axis = axis % len(shape) if shape else 0
    size = shape[axis] if shape else 1
    step = 1
    for length in shape[axis + 1 :]:
        step *= length
    return size, step, e.inputs[0].size // size


def sorting(writer: FunctionWriter, kind: str) -> str:
    """The name of the function that sorts."""
    name = f"pb_order_{kind}"
    text = SORT.replace("{later}", "b < a || (a != a && b == b)" if kind in REALS else "b < a")
    writer.unit.functions.texts.setdefault(name, text.replace("{name}", name).replace("{type}", STORED[kind]))
    return name


def _order(writer: FunctionWriter, e: Equation) -> None:
    """Places in the order of their elements: all, some at one end, or one."""
    size, step, lines = _lines(e)
    order, room = (writer.room(name, "i64", size) for name in ("order", "order_room"))
    count = e.params.get("k", size) if e.name == "argtop" else size if e.name == "argsort" else 1
    falling = e.params.get("descending") or e.params.get("largest")
    kind = KINDS[e.inputs[0].dtype]
    pick = f"{order}[{size - 1} - i]" if falling else f"{order}[i]"
    if e.name == "argkth":
        pick = f"{order}[{e.params['k']}]"
    if e.name == "argmedian":
        pick = f"{order}[k]"
    words = {"size": size, "step": step, "lines": lines, "order": order, "room": room, "count": count, "pick": pick}
    words |= {"sort": sorting(writer, kind), "skip": int(bool(e.params.get("skip")))}
    code(writer, "for (int line = 0; line < {lines}; ++line) {", **words)
    code(writer, "    const int first = line / {step} * {size} * {step} + line % {step};", **words)
    code(writer, "    {sort}(a + first, {size}, {step}, {order}, {room});", **words)
    if falling:  # equal elements stay in order: each run of them is turned round
        code(writer, TURNED, **words)
    if e.name == "argmedian":
        code(writer, MEDIAN, **words)
    code(writer, "    for (int i = 0; i < {count}; ++i)", **words)
    code(writer, "        y[line / {step} * {count} * {step} + i * {step} + line % {step}] = {pick};", **words)
    code(writer, "}")


def _median(writer: FunctionWriter, e: Equation) -> None:
    """The lower median over the last axes."""
    x = e.inputs[0]
    size = x.size // e.output.size
    order, room = (writer.room(name, "i64", size) for name in ("order", "order_room"))
    words = {"size": size, "step": 1, "order": order, "room": room, "sort": sorting(writer, KINDS[x.dtype])}
    words |= {"count": e.output.size, "skip": int(bool(e.params.get("skip")))}
    code(writer, "for (int line = 0; line < {count}; ++line) {", **words)
    code(writer, "    const int first = line * {size};", **words)
    code(writer, "    {sort}(a + first, {size}, 1, {order}, {room});", **words)
    code(writer, MEDIAN, **words)
    code(writer, "    y[line] = a[first + {order}[k]];", **words)
    code(writer, "}")


def _others(writer: FunctionWriter, e: Equation) -> None:
    """For each element the product of all others along the axis."""
    size, step, lines = _lines(e)
    code(
        writer,
        """
for (int line = 0; line < {lines}; ++line) {
    const int first = line / {step} * {size} * {step} + line % {step};
    for (int i = 0; i < {size}; ++i) {
        {type} total = 1;
        for (int k = 0; k < {size}; ++k) if (k != i) total *= a[first + k * {step}];
        y[first + i * {step}] = ({own})total;
    }
}
""",
        lines=lines,
        size=size,
        step=step,
        type=STORED[_carried(e)],
        own=STORED[KINDS[e.output.dtype]],
    )


TURNED = """
    for (int i = 0; i < {size};) {
        int end = i + 1;
        while (end < {size} && (a[first + {order}[end] * {step}] == a[first + {order}[i] * {step}]
               || a[first + {order}[i] * {step}] != a[first + {order}[i] * {step}])) ++end;
        for (int k = i; k < end; ++k) {room}[i + end - 1 - k] = {order}[k];
        i = end;
    }
    memcpy({order}, {room}, sizeof(int64_t) * {size});
"""
MEDIAN = """
    int valid = 0;
    for (int i = 0; i < {size}; ++i) valid += a[first + i * {step}] == a[first + i * {step}];
    int k = valid > 0 ? (valid - 1) / 2 : 0;
    if (!{skip} && valid < {size}) k = valid;
"""


def _searched(writer: FunctionWriter, e: Equation) -> None:
    """Where values would be inserted into sorted ones."""
    ordered, values = e.inputs
    size = ordered.shape[-1]
    rows = "0" if len(ordered.shape) == 1 else f"i / {values.shape[-1]} * {size}"
    sign, last = (
        (">", "line[middle] != line[middle] && b[i] == b[i]")
        if e.params["right"]
        else (">=", "line[middle] != line[middle]")
    )
    nan = [f"({last})"] if len(ordered.shape) == 1 else []  # as NumPy's own search has it; that of rows compares alone
    code(
        writer,
        """
for (int i = 0; i < {count}; ++i) {
    const {type} *line = a + {rows};
    int low = 0, high = {size};
    while (low < high) {
        const int middle = (low + high) / 2;
        if ({test}) high = middle;
        else low = middle + 1;
    }
    y[i] = low;
}
""",
        count=values.size,
        rows=rows,
        size=size,
        type=STORED[KINDS[ordered.dtype]],
        test=" || ".join([f"line[middle] {sign} b[i]", *nan]),
    )


def _carried(e: Equation) -> str:
    """The kind of what is carried from element to element: doubles for floats, as in `_core.xp.running`."""
    kind = KINDS[e.output.dtype]
    return "d" if kind in REALS else kind


def _running(writer: FunctionWriter, e: Equation, combine: Callable[[IRValue, IRValue], IRValue]) -> None:
    """What elements up to each one are combined to; `exclusive`, before each one."""
    size, step, lines = _lines(e)
    kind, before = _carried(e), bool(e.params.get("exclusive"))
    own = f"({STORED[KINDS[e.output.dtype]]})total;"
    writer.block.say(f"for (int line = 0; line < {lines}; ++line) {{")
    writer.block.say(f"const int first = line / {step} * {size * step} + line % {step};")
    start = "1" if before else "a[first]"
    writer.block.say(f"{STORED[kind]} total = {start};")
    if not before:
        writer.block.say(f"y[first] = {own}")
    with writer.inside(f"for (int i = {0 if before else 1}; i < {size}; ++i)"):
        if before:
            writer.block.say(f"y[first + i * {step}] = {own}")
        words = writer.words()
        found = stored(combine(read(words, kind, "total"), read(words, kind, f"a[first + i * {step}]")))
        writer.block.say("total = ", *found, ";")
        if not before:
            writer.block.say(f"y[first + i * {step}] = {own}")
    writer.block.say("}")


def _whole_axis(e: Equation) -> bool:
    return isinstance(e.params.get("axis", -1), int) and bool(e.inputs[0].size)


KERNELS: dict[str, Kernel] = {}
CONDITIONS: dict[str, Callable[[Equation], bool]] = {}
KERNELS |= dict.fromkeys(("argsort", "argkth", "argtop", "argmedian"), _order)
CONDITIONS |= dict.fromkeys(("argsort", "argkth", "argtop", "argmedian"), _whole_axis)
KERNELS |= {"median": _median, "product_of_others": _others}
CONDITIONS["product_of_others"] = lambda e: _whole_axis(e) and e.output.dtype.kind == "f"
CONDITIONS["median"] = lambda e: bool(e.inputs[0].size and e.output.size)
KERNELS["searchsorted"] = _searched
CONDITIONS["searchsorted"] = lambda e: e.inputs[0].dtype == e.inputs[1].dtype and bool(e.inputs[0].size)
KERNELS["cumsum"] = lambda w, e: _running(w, e, plus)
KERNELS["cumprod"] = lambda w, e: _running(w, e, times)
KERNELS["logcumsumexp"] = lambda w, e: _running(w, e, lambda a, b: a.ctx.function("logaddexp", a, b))
