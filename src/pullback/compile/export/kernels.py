"""Primitives with code of their own: plain loops in C over arrays in memory.

An entry of KERNELS writes the code of an equation. What is in neither table, nor a nest or a product, cannot be exported.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..machine import reducing
from ..machine.elements import KINDS
from ..machine.nests import REDUCTIONS
from ..program import Equation
from .words import STORED, literal

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
    with writer.inside(""):
        KERNELS[equation.name](writer, equation)


def _fill(writer: FunctionWriter, equation: Equation) -> None:
    """A reduction of nothing."""
    out, kind = equation.output, KINDS[equation.output.dtype]
    number = literal(kind, reducing.identity(REDUCTIONS[equation.name], kind))
    with writer.inside(f"for (int i = 0; i < {out.size}; ++i)") as block:
        block.say(f"{writer.element(out, 'i')} = {number};")


def pointers(writer: FunctionWriter, equation: Equation) -> None:
    """Declare pointers to the operands, a, b and so on, and to the results, y and those after it."""
    for name, value in zip("abcdefgh", equation.inputs, strict=False):
        writer.block.say(f"const {STORED[KINDS[value.dtype]]} *{name} = {writer.address(value)};")
    for name, value in zip("yzuvw", equation.outputs, strict=False):
        writer.block.say(f"{STORED[KINDS[value.dtype]]} *{name} = {writer.address(value)};")


def code(writer: FunctionWriter, text: str, **words: object) -> None:
    """Write lines of C, in which words stand for numbers and types: `{n}`."""
    for line in text.strip("\n").splitlines():
        for name, word in words.items():
            line = line.replace("{" + name + "}", str(word))
        writer.block.say(line)


def _scatter_rows(writer: FunctionWriter, e: Equation) -> None:
    pointers(writer, e)
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
