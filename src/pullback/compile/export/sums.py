"""Reductions along rows: functions of the file that add the elements of a row to lanes, and those that combine lanes.

Lanes are added up in the order in which machine code does it, which compilers turn into registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..machine import reducing
from ..mathematics.lanes import IRValue
from .code import CodeBlock, Rendered
from .functions import MathFunctions
from .words import STORED, TYPES, CContext


class Lanes(NamedTuple):
    """A reduction of rows: how, of which kind, in how many lanes, and whether sums are compensated."""

    how: str
    kind: str
    across: int
    exact: bool

    @property
    def name(self) -> str:
        """The name of its function."""
        return f"pb_{'exact_' if self.exact else ''}{self.how}_{self.kind}_{self.across}"

    @property
    def size(self) -> int:
        """The numbers that are carried: of an exact sum also what was lost."""
        return self.across * (1 + self.exact)


def begun(functions: MathFunctions, lanes: Lanes, block: CodeBlock, name: str) -> None:
    """Declare what a reduction carries, with the neutral element."""
    block.say(f"{STORED[lanes.kind]} {name}[{lanes.size}];")
    parts = ((0, lanes.across, reducing.identity(lanes.how, lanes.kind)), (lanes.across, lanes.size, 0))
    for start, end, number in parts[: 1 + lanes.exact]:
        loop = block.inner(f"for (int l = {start}; l < {end}; ++l)")
        words = CContext(loop, functions, functions.target)
        loop.say(f"{name}[l] = ", *stored(words.number(lanes.kind, number)), ";")


def stored(value: IRValue) -> Sequence[Any]:
    """A value as an element of memory: the end of a statement, since variables have the types of expressions."""
    kind = value.kind
    return (f"({STORED[kind]})" if kind == "b1" or kind[0] == "i" else "", value.value)


def read(words: CContext, kind: str, text: str, name: str = "") -> IRValue:
    """The value of an element of memory."""
    cast = f"({TYPES[kind]})" if kind[0] == "i" else ""
    return words.value(kind, cast + text, reads=name)


def along(functions: MathFunctions, lanes: Lanes) -> str:
    """The name of the function that adds a row to lanes: `name(lanes, row, count)`."""
    name = f"{lanes.name}_along"
    if name not in functions.texts:
        kind, block = lanes.kind, CodeBlock()
        block.say("int i = 0;")
        block.say(f"{STORED[kind]} own[{lanes.size}];")  # which stay in registers
        block.inner(f"for (int l = 0; l < {lanes.size}; ++l)").say("own[l] = lanes[l];")
        loop = block.inner(f"for (; i + {lanes.across} <= count; i += {lanes.across})")
        _added(functions, lanes, loop.inner(f"for (int l = 0; l < {lanes.across}; ++l)"), "row[i + l]")
        _added(functions, lanes, block.inner("for (int l = 0; i + l < count; ++l)"), "row[i + l]")
        block.inner(f"for (int l = 0; l < {lanes.size}; ++l)").say("lanes[l] = own[l];")
        arguments = f"{STORED[kind]} *PB_RESTRICT lanes, const {STORED[kind]} *PB_RESTRICT row, int count"
        _put(functions, name, f"PB_INLINE void {name}({arguments})", block)
    return name


def _added(functions: MathFunctions, lanes: Lanes, block: CodeBlock, element: str) -> None:
    words, kind = CContext(block, functions, functions.target), lanes.kind
    places = ["own[l]", f"own[l + {lanes.across}]"][: 1 + lanes.exact]
    accumulator = reducing.Accumulator(
        lanes.how, kind, lanes.exact, None, [read(words, kind, place, "own") for place in places]
    )
    accumulator.add(words, read(words, kind, element), None)
    for place, value in zip(places, accumulator.carried, strict=True):
        block.say(f"{place} = ", *stored(value), ";")


def across(functions: MathFunctions, lanes: Lanes) -> str:
    """The name of the function that combines lanes: `name(lanes)`, which changes them."""
    if lanes.name not in functions.texts:
        kind, block = lanes.kind, CodeBlock()
        if lanes.exact:
            total = CContext(
                inner := block.inner(f"for (int l = 0; l < {lanes.across}; ++l)"), functions, functions.target
            )
            carried = [read(total, kind, f"lanes[l{more}]", "lanes") for more in ("", f" + {lanes.across}")]
            found = reducing.Accumulator(lanes.how, kind, True, None, carried).result(total)
            inner.say("lanes[l] = ", *stored(found), ";")
        half = lanes.across // 2
        while half:
            loop = block.inner(f"for (int l = 0; l < {half}; ++l)")
            context = CContext(loop, functions, functions.target)
            both = [read(context, kind, place, "lanes") for place in ("lanes[l]", f"lanes[l + {half}]")]
            loop.say("lanes[l] = ", *stored(reducing.combine(lanes.how, *both)), ";")
            half //= 2
        block.say("return lanes[0];")
        head = f"PB_INLINE {STORED[kind]} {lanes.name}({STORED[kind]} *lanes)"
        _put(functions, lanes.name, head, block)
    return lanes.name


def _put(functions: MathFunctions, name: str, head: str, block: CodeBlock) -> None:
    lines = Rendered(block, TYPES, {"lanes", "own"}).lines
    functions.texts[name] = "\n".join([head, "{", *lines, "}", ""])
