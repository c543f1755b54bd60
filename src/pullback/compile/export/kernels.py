"""Primitives with code of their own: plain loops in C over arrays in memory.

An entry of KERNELS writes the code of an equation. What is in neither table, nor a nest or a product, cannot be exported.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..machine import reducing
from ..machine.elements import KINDS
from ..machine.indices import strides
from ..machine.nests import REDUCTIONS
from ..program import Array, Equation, Value
from .code import Block, Rendered
from .words import STORED, TYPES, literal

if TYPE_CHECKING:
    from .unit import FunctionWriter

Kernel = Callable[["FunctionWriter", Equation], None]


def exportable(equation: Equation) -> bool:
    """Whether an equation that is neither nest nor product has code."""
    if any(value.dtype not in KINDS for value in (*equation.inputs, *equation.outputs)):
        return False
    if not any(value.size for value in equation.outputs):
        return True
    if equation.name in REDUCTIONS and not equation.inputs[0].size:
        return True
    return equation.name in KERNELS and CONDITIONS.get(equation.name, _always)(equation)


def _always(equation: Equation) -> bool:
    return True


def write(writer: FunctionWriter, equation: Equation) -> None:
    """Write the code of an equation."""
    if not any(value.size for value in equation.outputs):
        return
    if equation.name in REDUCTIONS and not equation.inputs[0].size:
        _fill(writer, equation)
        return
    outer, writer.block = writer.block, Block()
    writer.numbered(lambda: KERNELS[equation.name](writer, equation))
    body, writer.block = writer.block, outer
    lines = Rendered(body, TYPES, {"total"}).lines
    given, declared = [], []
    for name, value in parameters(equation):
        if any(re.search(rf"\b{name}\b", line) for line in lines):
            constant = "const " if value in equation.inputs else ""
            declared.append(f"{constant}{STORED[KINDS[value.dtype]]} *{name}")
            given.append(writer.address(value))
    if any("work->" in line for line in lines):
        declared.append(f"{writer.title}_work *work")
        given.append("work")
    checked = any("return" in line for line in lines)
    tail = ["    return 0;"] if checked else []
    name = writer.unit.shared("\n".join([f"({', '.join(declared)})", "{", *lines, *tail, "}", ""]), checked=checked)
    call = f"{name}({', '.join(given)})"
    if not checked:
        writer.block.say(f"{call};")
        return
    with writer.inside("") as block:
        block.say(f"const int failed = {call};")
        block.say("if (failed) return failed;")


def parameters(equation: Equation) -> list[tuple[str, Value]]:
    """The pointers that the code of an equation sees: to operands, a, b and so on, and to results, y and those after it."""
    return [*zip("abcdefgh", equation.inputs, strict=False), *zip("yzuvw", equation.outputs, strict=False)]


def _fill(writer: FunctionWriter, equation: Equation) -> None:
    """A reduction of nothing."""
    out, kind = equation.output, KINDS[equation.output.dtype]
    number = literal(kind, reducing.identity(REDUCTIONS[equation.name], kind))
    with writer.inside(f"for (int i = 0; i < {out.size}; ++i)") as block:
        block.say(f"{writer.element(out, 'i')} = {number};")


def code(writer: FunctionWriter, text: str, **words: object) -> None:
    """Write lines of C, in which words stand for numbers and types: `{n}`."""
    for line in text.strip("\n").splitlines():
        for name, word in words.items():
            line = line.replace("{" + name + "}", str(word))
        writer.block.say(line)


@contextlib.contextmanager
def over(writer: FunctionWriter, shape: tuple[int, ...]) -> Iterator[list[str]]:
    """Loops over the axes of a shape; the indices."""
    names = [writer.fresh("q") for _ in shape]
    with contextlib.ExitStack() as stack:
        for name, size in zip(names, shape, strict=True):
            stack.enter_context(writer.inside(f"for (int {name} = 0; {name} < {size}; ++{name})"))
        yield names


def flat(names: Sequence[str], shape: tuple[int, ...]) -> str:
    """The place of an element in memory."""
    terms = [f"{step} * {name}" for name, step in zip(names, strides(shape), strict=True)]
    return " + ".join(terms) or "0"


def static(writer: FunctionWriter, places: Array, names: Sequence[str]) -> str:
    """Whole numbers that are known for each index: a sum of multiples of the indices, or an element of a table."""
    places = np.ascontiguousarray(places, np.int64)
    first = int(places.flat[0]) if places.size else 0
    steps = [int(np.take(places, 1, axis).flat[0]) - first if size > 1 else 0 for axis, size in enumerate(places.shape)]
    plain = first + sum(
        (np.indices(places.shape)[axis] * step for axis, step in enumerate(steps)), np.zeros((), np.int64)
    )
    if np.array_equal(places, np.broadcast_to(plain, places.shape)):
        terms = [f"{step} * {name}" for name, step in zip(names, steps, strict=True) if step]
        return " + ".join([*terms, *([str(first)] if first or not terms else [])])
    table = writer.unit.constant(places.astype(np.int32))
    return f"{table}[{flat(names, places.shape)}]"


def wrapped(writer: FunctionWriter, index: str, size: int, about: str) -> str:
    """An index counted from the front, in a variable; where it is out of range the function returns."""
    name = writer.fresh("at")
    code(
        writer,
        """
int64_t {name} = (int64_t){index};
if ({name} < 0) {name} += {size};
if ({name} < 0 || {name} >= {size}) return {failure};
""",
        name=name,
        index=index,
        size=size,
        failure=writer.failure(f"{about}: an index out of range"),
    )
    return name


def set_to(writer: FunctionWriter, target: str, kind: str, text: str) -> None:
    """Write an assignment, with the conversion that small types need."""
    writer.block.say(f"{target} = ({STORED[kind]})({text});")


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


KERNELS: dict[str, Kernel] = {"scatter_rows": _scatter_rows}
CONDITIONS: dict[str, Callable[[Equation], bool]] = {}
"""What of an equation has to hold for its code."""
