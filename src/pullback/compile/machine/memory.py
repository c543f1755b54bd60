"""Loads and stores of one element or of a register of them, with or without a mask."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from ..mathematics.lanes import SIZES, Context, IRValue
from .contexts import EmitContext
from .llvm import BYTE, LONG, POINTER, TYPES, declared, long

NEAR = 4
"""Elements between lanes up to which registers of adjacent elements are loaded and shuffled, or stored."""


def stored_type(kind: str) -> ir.Type:
    """The type of an element in memory: a bool is a byte there."""
    return BYTE if kind == "b1" else TYPES[kind]


def _suffix(kind: str, lanes: int) -> str:
    of = stored_type(kind)
    letters = {"f": "f32", "d": "f64"}.get(kind) or f"i{of.width}"
    return f"v{lanes}{letters}"


def _from_memory(ctx: Context, kind: str, value: ir.Value) -> IRValue:
    if kind != "b1":
        return IRValue(ctx, kind, value)
    return IRValue(ctx, "u8", value) != 0


def _to_memory(ir_value: IRValue) -> ir.Value:
    return ir_value.to("u8").value if ir_value.kind == "b1" else ir_value.value


def lane_numbers(lanes: int) -> ir.Constant:
    """0, 1, 2, ... as a vector."""
    return ir.Constant(ir.VectorType(LONG, lanes), list(range(lanes)))


def first_lanes(builder: ir.IRBuilder, count: ir.Value, lanes: int) -> ir.Value:
    """A mask of the first `count` lanes."""
    return builder.icmp_signed("<", lane_numbers(lanes), splat(builder, count, lanes))


def splat(builder: ir.IRBuilder, value: ir.Value, lanes: int) -> ir.Value:
    """A scalar in all lanes."""
    of = ir.VectorType(value.type, lanes)
    zero = ir.IntType(32)(0)
    first = builder.insert_element(ir.Constant(of, ir.Undefined), value, zero)
    return builder.shuffle_vector(
        first, ir.Constant(of, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
    )


def element(builder: ir.IRBuilder, base: ir.Value, kind: str, place: ir.Value) -> ir.Value:
    """The address of an element."""
    if isinstance(place, ir.Constant) and place.constant == 0:
        return base
    return builder.gep(base, [place], source_etype=stored_type(kind))


def load(ctx: Context, kind: str, address: ir.Value) -> IRValue:
    """Load one element."""
    return _from_memory(ctx, kind, ctx.builder.load(address, typ=stored_type(kind), align=SIZES[kind]))


def load_spread(ctx: Context, kind: str, address: ir.Value) -> IRValue:
    """Load one element into all lanes."""
    one = load(EmitContext(ctx.builder, ctx.target, None), kind, address)
    return IRValue(ctx, kind, splat(ctx.builder, one.value, ctx.lanes or 1))


def store(ir_value: IRValue, address: ir.Value) -> None:
    """Store one element."""
    ir_value.ctx.builder.store(_to_memory(ir_value), address, align=SIZES[ir_value.kind])


def _addresses(ctx: Context, kind: str, address: ir.Value, step: int) -> ir.Value:
    lanes = ctx.lanes or 1
    numbers = ir.Constant(ir.VectorType(LONG, lanes), [step * lane for lane in range(lanes)])
    found = ctx.builder.gep(address, [numbers], source_etype=stored_type(kind))
    found.type = ir.VectorType(POINTER, lanes)  # llvmlite does not infer it
    return found


def load_lanes(ctx: Context, kind: str, address: ir.Value, step: int, mask: ir.Value | None) -> IRValue:
    """Load one element for each lane, `step` apart; any number where the mask is off."""
    lanes, builder = ctx.lanes or 1, ctx.builder
    of = ir.VectorType(stored_type(kind), lanes)
    if step == 1 and mask is None:
        return _from_memory(ctx, kind, builder.load(address, typ=of, align=SIZES[kind]))
    if _is_near(kind, step, mask):
        return _load_near(ctx, kind, address, step, lanes if mask is None else _count(mask))
    return _masked_load(ctx, kind, address if step == 1 else _addresses(ctx, kind, address, step), mask)


def _is_near(kind: str, step: int, mask: ir.Value | None) -> bool:
    """Whether lanes lie so near to each other that registers of adjacent elements hold them, known when compiling."""
    return 1 < step <= NEAR and SIZES[kind] >= 4 and (mask is None or isinstance(mask, ir.Constant))


def _count(mask: ir.Constant) -> int:
    """The number of lanes of a constant mask, which are the first."""
    return sum(bit.constant for bit in mask.constant)


def _first(lanes: int, count: int) -> ir.Constant:
    return ir.Constant(ir.VectorType(ir.IntType(1), lanes), [int(lane < count) for lane in range(lanes)])


def _shuffled(builder: ir.IRBuilder, one: ir.Value, other: ir.Value, places: Sequence[int]) -> ir.Value:
    return builder.shuffle_vector(one, other, ir.Constant(ir.VectorType(ir.IntType(32), len(places)), [*places]))


def _load_near(ctx: Context, kind: str, address: ir.Value, step: int, count: int) -> IRValue:
    """Load the first lanes, `step` apart, from registers of adjacent elements; nothing behind the last one is read.

    The other lanes are copies of the first: of lanes known to be 0, LLVM takes 0 / 0 for 0, and leaves out the mask of a sum.
    """
    lanes, builder = ctx.lanes or 1, ctx.builder
    of, span = ir.VectorType(stored_type(kind), lanes), step * (count - 1) + 1
    found: ir.Value | None = None
    for start in range(0, span, lanes):
        end = min(start + lanes, span)
        if end < start + lanes and count == lanes:  # the last register overlaps with the one before
            first = end - lanes
            part = builder.load(element(builder, address, kind, long(first)), typ=of, align=SIZES[kind])
        else:
            first = start
            place = element(builder, address, kind, long(first))
            part = _masked(ctx, kind, of, [place], _first(lanes, end - start), [ir.Constant(of, None)])
        within = [start <= step * lane < end and lane < count for lane in range(lanes)]
        others = range(lanes) if start else [lanes] * lanes
        places = [
            lanes + step * lane - first if inside else other
            for lane, (inside, other) in enumerate(zip(within, others, strict=True))
        ]
        found = _shuffled(builder, found or part, part, places)
    return IRValue(ctx, kind, found)


def _store_near(ir_value: IRValue, address: ir.Value, step: int, count: int) -> None:
    """Store the first lanes, `step` apart, as registers of adjacent elements with masks."""
    ctx, kind = ir_value.ctx, ir_value.kind
    lanes, builder = ctx.lanes or 1, ctx.builder
    for start in range(0, step * (count - 1) + 1, lanes):
        lane_at = {step * lane - start: lane for lane in range(count) if start <= step * lane < start + lanes}
        part = _shuffled(builder, ir_value.value, ir_value.value, [lane_at.get(place, 0) for place in range(lanes)])
        mask = ir.Constant(ir.VectorType(ir.IntType(1), lanes), [int(place in lane_at) for place in range(lanes)])
        _masked(ctx, kind, ir.VoidType(), [part, element(builder, address, kind, long(start))], mask, [])


def load_places(ctx: Context, kind: str, base: ir.Value, places: ir.Value, mask: ir.Value | None) -> IRValue:
    """Load one element for each lane, from a vector of indices."""
    pointers = ctx.builder.gep(base, [places], source_etype=stored_type(kind))
    pointers.type = ir.VectorType(POINTER, ctx.lanes)  # llvmlite does not see it
    return _masked_load(ctx, kind, pointers, mask)


def _masked_load(ctx: Context, kind: str, pointers: ir.Value, mask: ir.Value | None) -> IRValue:
    """Load lanes from adjacent places, or from one place each, where the mask is on.

    The others are 0, or 1 beside those gathered: see `_load_near`, of which a gather of one lane may be another case.
    """
    lanes = ctx.lanes or 1
    of = ir.VectorType(stored_type(kind), lanes)
    other = ir.Constant(of, None if isinstance(pointers.type, ir.PointerType) else [1] * lanes)
    return _from_memory(ctx, kind, _masked(ctx, kind, of, [pointers], mask, [other]))


def _masked(
    ctx: Context, kind: str, of: ir.Type, given: list[ir.Value], mask: ir.Value | None, other: list[ir.Value]
) -> ir.Value:
    """Call an intrinsic that loads or stores the lanes where a mask is on; the last of `given` are the addresses.

    What a load gives the other lanes is `other`, which is empty for a store.
    """
    lanes, builder = ctx.lanes or 1, ctx.builder
    single = isinstance(given[-1].type, ir.PointerType)
    name = ("load" if single else "gather") if other else ("store" if single else "scatter")
    on = ir.Constant(ir.VectorType(ir.IntType(1), lanes), [1] * lanes) if mask is None else mask
    suffix = ".p0" if single else f".v{lanes}p0"
    arguments = [*given, ir.IntType(32)(SIZES[kind]), on, *other]
    signature = ir.FunctionType(of, [argument.type for argument in arguments])
    function = declared(builder.module, f"llvm.masked.{name}.{_suffix(kind, lanes)}{suffix}", signature)
    return builder.call(function, arguments)


def store_lanes(ir_value: IRValue, address: ir.Value, step: int, mask: ir.Value | None) -> None:
    """Store one element of each lane, `step` apart, where the mask is on."""
    ctx, kind, value = ir_value.ctx, ir_value.kind, _to_memory(ir_value)
    if step == 1 and mask is None:
        ctx.builder.store(value, address, align=SIZES[kind])
        return
    if step == 1 and isinstance(mask, ir.Constant) and not ctx.target.masks:
        _store_first(ctx.builder, value, address, kind, _count(mask))
        return
    if _is_near(kind, step, mask) and ctx.target.masks:
        _store_near(ir_value, address, step, ctx.lanes or 1 if mask is None else _count(mask))
        return
    pointers = address if step == 1 else _addresses(ctx, kind, address, step)
    _masked(ctx, kind, ir.VoidType(), [value, pointers], mask, [])


def _store_first(builder: ir.IRBuilder, value: ir.Value, address: ir.Value, kind: str, count: int) -> None:
    """Store the first lanes in parts of 1, 2, 4 ... lanes: AMD's AVX2 takes a dozen cycles for a store with a mask."""
    nothing, start = ir.Constant(value.type, ir.Undefined), 0
    while start < count:
        size = 1 << ((count - start).bit_length() - 1)
        places = ir.Constant(ir.VectorType(ir.IntType(32), size), list(range(start, start + size)))
        part = builder.shuffle_vector(value, nothing, places)
        builder.store(part, element(builder, address, kind, long(start)), align=SIZES[kind])
        start += size
