"""Primitives with code of their own: each is a function of the file, given pointers to its operands and results.

What is in no table, and neither nest nor product, cannot be exported.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..machine.elements import KINDS
from ..program import Equation, Value
from . import algebra, drawing, indexing, integers, ordering, windows
from .code import CodeBlock, Rendered
from .kernels import Kernel
from .words import STORED, TYPES, literal

if TYPE_CHECKING:
    from .unit import FunctionWriter

MODULES = (algebra, drawing, indexing, integers, ordering, windows)
KERNELS: dict[str, Kernel] = {name: kernel for module in MODULES for name, kernel in module.KERNELS.items()}
CONDITIONS: dict[str, Callable[[Equation], bool]] = {
    name: condition for module in MODULES for name, condition in module.CONDITIONS.items()
}
"""What of an equation has to hold for its code."""


def exportable(equation: Equation) -> bool:
    """Whether an equation that is neither nest nor product has code."""
    if any(value.dtype not in KINDS for value in (*equation.inputs, *equation.outputs)):
        return False
    if not any(value.size for value in equation.outputs):
        return True
    if _of_nothing(equation):
        return True
    return equation.name in KERNELS and CONDITIONS.get(equation.name, _always)(equation)


def _always(equation: Equation) -> bool:
    return True


def _of_nothing(equation: Equation) -> bool:
    """Whether all operands are empty, as of a sum of nothing or a product without terms: then results are known."""
    return bool(equation.inputs) and not any(value.size for value in equation.inputs)


def write(writer: FunctionWriter, equation: Equation) -> None:
    """Write the code of an equation."""
    if not any(value.size for value in equation.outputs):
        return
    if _of_nothing(equation):
        _fill(writer, equation)
        return
    outer, writer.block = writer.block, CodeBlock()
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
        block.say(f"const int pb_failed = {call};")
        block.say("if (pb_failed) return pb_failed;")


def parameters(equation: Equation) -> list[tuple[str, Value]]:
    """The pointers that the code of an equation sees: to operands, a, b and so on, and to results, y and those after it."""
    return [*zip("abcdefgh", equation.inputs, strict=False), *zip("yzuvw", equation.outputs, strict=False)]


def _fill(writer: FunctionWriter, equation: Equation) -> None:
    """Results of nothing: one number, or a constant."""
    given = [np.zeros(value.shape, value.dtype) for value in equation.inputs]
    with np.errstate(all="ignore"):
        made: Any = equation.primitive.forward(*given, **equation.params)
    for out, array in zip(equation.outputs, made if type(made) is tuple else (made,), strict=True):
        found = np.broadcast_to(np.asarray(array, out.dtype), out.shape)
        if found.size and not (found == found.flat[0]).all():
            writer.copy(writer.address(out), writer.unit.constant(np.array(found)), out)
            continue
        with writer.inside(f"for (int i = 0; i < {out.size}; ++i)") as block:
            block.say(f"{writer.element(out, 'i')} = {literal(KINDS[out.dtype], found.flat[0].item())};")
