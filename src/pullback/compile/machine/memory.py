"""Loads and stores of one element or of a register of them, with or without a mask; loops over integers, parts of a range."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from ..mathematics.lanes import TYPES, Desk, Word, declared

LONG, POINTER, BYTE = ir.IntType(64), ir.PointerType(), ir.IntType(8)
SIZES = {"f": 4, "d": 8, "b1": 1} | {f"{letter}{width}": width // 8 for letter in "iu" for width in (8, 16, 32, 64)}


def long(number: int) -> Any:
    """A constant of 64 bits."""
    return ir.Constant(LONG, number)


def stored_type(kind: str) -> Any:
    """The type of an element in memory: a bool is a byte there."""
    return BYTE if kind == "b1" else TYPES[kind]


def _suffix(kind: str, lanes: int) -> str:
    of = stored_type(kind)
    letters = {"f": "f32", "d": "f64"}.get(kind) or f"i{of.width}"
    return f"v{lanes}{letters}"


def _from_memory(desk: Desk, kind: str, value: Any) -> Word:
    if kind != "b1":
        return Word(desk, kind, value)
    return Word(desk, "u8", value) != 0


def _to_memory(word: Word) -> Any:
    return word.to("u8").value if word.kind == "b1" else word.value


def lane_numbers(lanes: int) -> Any:
    """0, 1, 2, ... as a vector."""
    return ir.Constant(ir.VectorType(LONG, lanes), list(range(lanes)))


def first_lanes(builder: Any, count: Any, lanes: int) -> Any:
    """A mask of the first `count` lanes."""
    return builder.icmp_signed("<", lane_numbers(lanes), splat(builder, count, lanes))


def splat(builder: Any, value: Any, lanes: int) -> Any:
    """A scalar in all lanes."""
    of = ir.VectorType(value.type, lanes)
    zero = ir.IntType(32)(0)
    first = builder.insert_element(ir.Constant(of, ir.Undefined), value, zero)
    return builder.shuffle_vector(
        first, ir.Constant(of, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
    )


def element(builder: Any, base: Any, kind: str, place: Any) -> Any:
    """The address of an element."""
    return builder.gep(base, [place], source_etype=stored_type(kind))


def load(desk: Desk, kind: str, address: Any) -> Word:
    """Load one element."""
    return _from_memory(desk, kind, desk.builder.load(address, typ=stored_type(kind), align=SIZES[kind]))


def load_spread(desk: Desk, kind: str, address: Any) -> Word:
    """Load one element into all lanes."""
    one = load(Desk(desk.builder, desk.target, None), kind, address)
    return Word(desk, kind, splat(desk.builder, one.value, desk.lanes or 1))


def store(word: Word, address: Any) -> None:
    """Store one element."""
    word.desk.builder.store(_to_memory(word), address, align=SIZES[word.kind])


def _addresses(desk: Desk, kind: str, address: Any, step: int) -> Any:
    lanes = desk.lanes or 1
    numbers = ir.Constant(ir.VectorType(LONG, lanes), [step * lane for lane in range(lanes)])
    found = desk.builder.gep(address, [numbers], source_etype=stored_type(kind))
    found.type = ir.VectorType(POINTER, lanes)  # llvmlite does not infer it
    return found


def load_lanes(desk: Desk, kind: str, address: Any, step: int, mask: Any) -> Word:
    """Load one element for each lane, `step` apart; zeros where the mask is off."""
    lanes, builder = desk.lanes or 1, desk.builder
    of = ir.VectorType(stored_type(kind), lanes)
    if step == 1 and mask is None:
        return _from_memory(desk, kind, builder.load(address, typ=of, align=SIZES[kind]))
    return _masked_load(desk, kind, address if step == 1 else _addresses(desk, kind, address, step), mask)


def load_places(desk: Desk, kind: str, base: Any, places: Any, mask: Any) -> Word:
    """Load one element for each lane, from a vector of indices."""
    pointers = desk.builder.gep(base, [places], source_etype=stored_type(kind))
    pointers.type = ir.VectorType(POINTER, desk.lanes)  # llvmlite does not see it
    return _masked_load(desk, kind, pointers, mask)


def _masked_load(desk: Desk, kind: str, pointers: Any, mask: Any) -> Word:
    lanes, builder = desk.lanes or 1, desk.builder
    of, bits = ir.VectorType(stored_type(kind), lanes), ir.VectorType(ir.IntType(1), lanes)
    on = ir.Constant(bits, [1] * lanes) if mask is None else mask
    single = isinstance(pointers.type, ir.PointerType)
    name, suffix = ("load", ".p0") if single else ("gather", f".v{lanes}p0")
    signature = ir.FunctionType(of, [pointers.type, ir.IntType(32), bits, of])
    function = declared(builder.module, f"llvm.masked.{name}.{_suffix(kind, lanes)}{suffix}", signature)
    found = builder.call(function, [pointers, ir.IntType(32)(SIZES[kind]), on, ir.Constant(of, None)])
    return _from_memory(desk, kind, found)


def store_lanes(word: Word, address: Any, step: int, mask: Any) -> None:
    """Store one element of each lane, `step` apart, where the mask is on."""
    desk, kind = word.desk, word.kind
    lanes, builder, value = desk.lanes or 1, desk.builder, _to_memory(word)
    if step == 1 and mask is None:
        builder.store(value, address, align=SIZES[kind])
        return
    name = "store" if step == 1 else "scatter"
    pointers = address if step == 1 else _addresses(desk, kind, address, step)
    bits = ir.VectorType(ir.IntType(1), lanes)
    on = ir.Constant(bits, [1] * lanes) if mask is None else mask
    suffix = ".p0" if step == 1 else f".v{lanes}p0"
    signature = ir.FunctionType(ir.VoidType(), [value.type, pointers.type, ir.IntType(32), bits])
    function = declared(builder.module, f"llvm.masked.{name}.{_suffix(kind, lanes)}{suffix}", signature)
    builder.call(function, [value, pointers, ir.IntType(32)(SIZES[kind]), on])


def count_up(
    builder: Any, begin: Any, end: Any, inside: Callable[[Any], None], step: int = 1, carried: list[Any] | None = None
) -> None:
    """A loop over integers; `carried` values are replaced in place by those of the next iteration."""
    function, before = builder.function, builder.block
    carried = [] if carried is None else carried
    head, body, after = (function.append_basic_block() for _ in range(3))
    builder.branch(head)
    builder.position_at_end(head)
    index, *phis = (builder.phi(value.type) for value in (begin, *carried))
    for phi, value in zip((index, *phis), (begin, *carried), strict=True):
        phi.add_incoming(value, before)
    builder.cbranch(builder.icmp_signed("<", index, end), body, after)
    builder.position_at_end(body)
    carried[:] = phis
    inside(index)
    for phi, value in zip((index, *phis), (builder.add(index, long(step)), *carried), strict=True):
        phi.add_incoming(value, builder.block)
    carried[:] = phis
    builder.branch(head)
    builder.position_at_end(after)


def least(builder: Any, a: Any, b: Any) -> Any:
    """The smaller of two integers."""
    return builder.select(builder.icmp_signed("<", a, b), a, b)


def part(builder: Any, total: Any, number: Any, count: Any) -> tuple[Any, Any]:
    """The bounds of part `number` of `count` nearly equal parts of 0 to `total`."""
    after = builder.add(number, long(1))
    return builder.udiv(builder.mul(total, number), count), builder.udiv(builder.mul(total, after), count)


def begun(module: Any, name: str, pointers: Sequence[str], numbers: Sequence[str]) -> tuple[Any, dict[str, Any]]:
    """The builder of a new function without a result, and its arguments by name."""
    signature = ir.FunctionType(ir.VoidType(), [POINTER] * len(pointers) + [LONG] * len(numbers))
    function = ir.Function(module, signature, name)
    builder = ir.IRBuilder(function.append_basic_block())
    return builder, dict(zip((*pointers, *numbers), function.args, strict=True))


def on_stack(builder: Any, of: Any, count: int, align: int | None = None) -> Any:
    """The address of stack memory for `count` elements of a type."""
    with builder.goto_entry_block():
        made = builder.alloca(ir.ArrayType(of, count))
        made.align = align
    return builder.inttoptr(builder.ptrtoint(made, LONG), POINTER)  # llvmlite gives it a type of its own


def word_of(builder: Any, table: Any, place: Any) -> Any:
    """A word of a table."""
    return builder.load(builder.gep(table, [place], source_etype=LONG), typ=LONG, align=8)


def _size(size: Any) -> Any:
    return long(size) if isinstance(size, int) else size


def copy_bytes(builder: Any, target: Any, source: Any, size: Any) -> None:
    """Copy `size` bytes."""
    signature = ir.FunctionType(ir.VoidType(), [POINTER, POINTER, LONG, ir.IntType(1)])
    function = declared(builder.module, "llvm.memcpy.p0.p0.i64", signature)
    builder.call(function, [target, source, _size(size), ir.IntType(1)(0)])


def fill_with_zeros(builder: Any, target: Any, size: Any) -> None:
    """Set `size` bytes to zero."""
    signature = ir.FunctionType(ir.VoidType(), [POINTER, BYTE, LONG, ir.IntType(1)])
    function = declared(builder.module, "llvm.memset.p0.i64", signature)
    builder.call(function, [target, BYTE(0), _size(size), ir.IntType(1)(0)])
