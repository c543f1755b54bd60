"""Modules of programs, and what their code calls: functions outside, by addresses in a table.

The table is filled when the code is loaded. Its names stand in the code, so that code from the disk says itself what it
needs.
"""

from __future__ import annotations

from collections import Counter

from llvmlite import ir

from .llvm import BYTE, POINTER, long

TABLE, NAMES = "links", "names"
TABLE_ARGUMENT = "table"
"""The name of the argument that is a table of addresses. The word before such a table is the address of parameters (`templates`)."""
PARAMETERS = -1


class LinkedModule(ir.Module):  # type: ignore[misc]  # llvmlite has no annotations
    """A module with a table of addresses; `uses` counts the functions of mathematics in it."""

    def __init__(self) -> None:
        super().__init__()
        self.links: dict[str, int] = {}
        self.loaded: dict[tuple[ir.Block, str | int], ir.Value] = {}
        self.uses: Counter[str] = Counter()
        self.table = ir.GlobalVariable(self, ir.ArrayType(POINTER, 0), TABLE)

    def finished(self) -> str:
        """The text of the module, with its table and the names of what belongs there."""
        self.table.value_type = ir.ArrayType(POINTER, len(self.links))
        self.table.initializer = ir.Constant(self.table.value_type, None)
        names = bytearray(" ".join(self.links).encode() + b"\0")
        text = ir.GlobalVariable(self, ir.ArrayType(ir.IntType(8), len(names)), NAMES)
        text.global_constant, text.initializer = True, ir.Constant(text.value_type, names)
        return str(self)


def address_of(builder: ir.IRBuilder, name: str, of: ir.Type) -> ir.Value:
    """What the table has under a name, as a pointer of some type; it is read once in a block."""
    module = builder.module
    known = module.loaded.get((builder.block, name))
    if known is None:
        place = long(module.links.setdefault(name, len(module.links)))
        place = builder.gep(module.table, [place], source_etype=POINTER)
        known = module.loaded[builder.block, name] = builder.load(place, typ=of, align=8)
    return known


def linked(builder: ir.IRBuilder, name: str, signature: ir.FunctionType) -> ir.Value:
    """A function of the table."""
    return address_of(builder, name, ir.PointerType(signature))


def address_at(builder: ir.IRBuilder, slot: int, offset: int) -> ir.Value:
    """An address, from a slot of the table that is a function's first argument; a slot is read once in a block."""
    module = builder.module
    known = module.loaded.get((builder.block, slot))
    if known is None:
        place = builder.gep(builder.function.args[0], [long(slot)], source_etype=POINTER)
        known = module.loaded[builder.block, slot] = builder.load(place, typ=POINTER, align=8)
    return builder.gep(known, [long(offset)], source_etype=BYTE) if offset else known
