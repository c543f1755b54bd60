"""The context of LLVM's values: how their operations are written, and how mathematical functions are called.

A function is inlined where code runs often; otherwise the one in `library` is called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from .. import scalars
from ..mathematics import trigonometry
from ..mathematics.lanes import BITS, REALS, REGISTER, SIZES, Context, IRValue, Target
from . import native
from .linking import LinkedModule, linked
from .llvm import TYPES, constant, declared, table as entries

ROUNDING = 4
"""AVX-512's code for rounding to nearest."""
PARTED = 0b1111
"""Its code for significands from 3/4 to 3/2, NaN below 0."""


class EmitContext(Context):
    """The context of LLVM's values."""

    def type(self, kind: str) -> ir.Type:
        """The LLVM type of a value of that kind here."""
        return TYPES[kind] if self.lanes is None else ir.VectorType(TYPES[kind], self.lanes)

    def number(self, kind: str, x: float) -> IRValue:
        """A constant, the same in every lane."""
        if kind in REALS:
            x = float(x)
        elif kind != "b1":
            x = int(x)
        return IRValue(self, kind, constant(kind, x.hex() if kind in REALS else x, self.lanes))

    def intrinsic(self, name: str, kind: str, *operands: IRValue) -> IRValue:
        """LLVM's intrinsic of that name, whose operands and result are reals of one kind."""
        letters = {"f": "f32", "d": "f64"}[kind]
        full = f"llvm.{name}.{letters}" if self.lanes is None else f"llvm.{name}.v{self.lanes}{letters}"
        of = self.type(kind)
        function = declared(self.builder.module, full, ir.FunctionType(of, [of] * len(operands)))
        return IRValue(self, kind, self.builder.call(function, [operand.value for operand in operands]))

    def lookup(self, name: str, table: Sequence[float], index: IRValue) -> IRValue:
        """An entry of a named table of doubles, at an index in range."""
        array = entries(self.builder.module, f"pullback.{name}", table)
        if self.lanes is None:
            return IRValue(self, "d", self._entry(array, index.value))
        return self._by_lanes(lambda at: self._entry(array, at), index)

    def _entry(self, array: ir.Value, index: ir.Value) -> ir.Value:
        address = self.builder.gep(array, [ir.Constant(TYPES["i64"], 0), index], inbounds=True)
        return self.builder.load(address)

    def _by_lanes(self, one: Callable[..., ir.Value], *operands: IRValue) -> IRValue:
        """A vector of doubles, each computed from one lane of the operands."""
        found, builder = ir.Constant(self.type("d"), ir.Undefined), self.builder
        for lane in range(self.lanes or 1):
            at = ir.Constant(TYPES["i32"], lane)
            made = one(*[builder.extract_element(x.value, at) for x in operands])
            found = builder.insert_element(found, made, at)
        return IRValue(self, "d", found)

    def function(self, name: str, *operands: IRValue) -> IRValue:
        """A mathematical function by the name of NumPy's ufunc: inlined, or a call of the one in `library`."""
        return _function(name, operands)

    def either(self, far: IRValue, values: Callable[[bool], list[IRValue]]) -> list[IRValue]:
        """The values of `values(True)`, or of `values(False)` where a bool is true in any lane; in another block then."""
        builder, condition = self.builder, far.value
        if self.lanes is not None:
            lanes = ir.IntType(self.lanes)
            condition = builder.icmp_unsigned("!=", builder.bitcast(condition, lanes), ir.Constant(lanes, 0))
        found = []
        with builder.if_else(condition, likely=False) as branches:
            for branch, near in zip(branches, (False, True), strict=True):
                with branch:
                    made = values(near)
                    found.append((made, builder.block))
        chosen = [ir_value.with_value(builder.phi(ir_value.value.type)) for ir_value in found[0][0]]
        for made, block in found:
            for ir_value, value in zip(chosen, made, strict=True):
                ir_value.value.add_incoming(value.value, block)
        return chosen

    def apart(self, name: str, formula: Callable[..., IRValue], *operands: IRValue) -> IRValue:
        """A formula of doubles that is a function of its own, called for each lane."""
        module, double = self.builder.module, TYPES["d"]
        function = declared(module, f"pullback.{name}", ir.FunctionType(double, [double] * len(operands)))
        if function.is_declaration:
            function.linkage = "internal"
            for attribute in ("nounwind", "noinline"):
                function.attributes.add(attribute)
            ctx = EmitContext(ir.IRBuilder(function.append_basic_block()), Target(fma=False), None)
            ctx.builder.ret(formula(*[IRValue(ctx, "d", value) for value in function.args]).value)
        if self.lanes is None:
            return IRValue(self, "d", self.builder.call(function, [x.value for x in operands]))
        return self._by_lanes(lambda *given: self.builder.call(function, given), *operands)

    def repeated(
        self, values: Sequence[IRValue], going: Callable[..., IRValue], step: Callable[..., Sequence[IRValue]]
    ) -> list[IRValue]:
        """What becomes of scalars by a step that is repeated while a bool of them is true; in another block then."""
        builder = self.builder
        before, (head, body, after) = builder.block, [builder.append_basic_block() for _ in range(3)]
        builder.branch(head)
        builder.position_at_end(head)
        held = [x.with_value(builder.phi(x.value.type)) for x in values]
        builder.cbranch(going(*held).value, body, after)
        builder.position_at_end(body)
        for phi, start, then in zip(held, values, step(*held), strict=True):
            phi.value.add_incoming(start.value, before)
            phi.value.add_incoming(then.value, builder.block)
        builder.branch(head)
        builder.position_at_end(after)
        return held

    def scaling(self, name: str, *operands: IRValue) -> IRValue:
        """What an instruction of AVX-512 makes of values, one register after another."""
        builder, kind = self.builder, operands[0].kind
        lanes = REGISTER // SIZES[kind]
        of, mask, mode = ir.VectorType(TYPES[kind], lanes), ir.IntType(max(8, lanes)), ir.IntType(32)
        full, parts = f"llvm.x86.avx512.mask.{name}.p{'s' if kind == 'f' else 'd'}.512", []
        for start in range(0, self.lanes or 0, lanes):
            own, *others = [self.shuffled(x, None, range(start, start + lanes)).value for x in operands]
            others = [ir.IntType(32)(PARTED)] if name == "getmant" else others
            arguments = [own, *others, own, mask(-1), mode(ROUNDING)]
            function = declared(builder.module, full, ir.FunctionType(of, [x.type for x in arguments]))
            parts.append(builder.call(function, arguments))
        while len(parts) > 1:
            parts = [_joined(builder, *pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
        return IRValue(self, kind, parts[0])

    def shuffled(self, x: IRValue, other: IRValue | None, places: Sequence[int]) -> IRValue:
        """A vector of elements of a vector, or of two, whose elements are counted on."""
        second = ir.Constant(x.value.type, ir.Undefined) if other is None else other.value
        order = ir.Constant(ir.VectorType(ir.IntType(32), len(places)), [*places])
        ctx = EmitContext(self.builder, self.target, len(places))
        return IRValue(ctx, x.kind, self.builder.shuffle_vector(x.value, second, order))

    def first(self, x: IRValue) -> ir.Value:
        """The first lane, as a scalar."""
        return self.builder.extract_element(x.value, ir.IntType(32)(0))


def _joined(builder: ir.IRBuilder, left: ir.Value, right: ir.Value) -> ir.Value:
    """The lanes of two vectors, one after the other."""
    count = 2 * left.type.count
    return builder.shuffle_vector(left, right, ir.Constant(ir.VectorType(ir.IntType(32), count), list(range(count))))


INLINE = 3
"""The number of uses of a mathematical function that are inlined; inlining more would compile slowly."""
REDUCED = "reduced"
"""The name in `library` of the argument reduction of trigonometric functions."""


OF_ANGLE = {"sin": trigonometry.sine, "cos": trigonometry.cosine}
"""Functions of a reduced angle: the sine and the cosine of one angle share the reduction."""


def _function(name: str, ir_values: Sequence[IRValue]) -> IRValue:
    """A mathematical function: inlined, or a call of the one in `library`."""
    ctx, kind, module = ir_values[0].ctx, ir_values[0].kind, ir_values[0].ctx.builder.module
    if not isinstance(module, LinkedModule):
        return written(name, ir_values)
    key = _key(name, ir_values)
    module.uses[key] += 1
    if (
        ctx.often
        and module.uses[key] <= INLINE
        and (ctx.branching or (ctx.lanes is not None and (name in OF_ANGLE or name not in scalars.MODERATE)))
    ):
        return written(name, ir_values)
    return IRValue(ctx, kind, _called(key, ir_values, ctx.type(kind)))


def _key(name: str, ir_values: Sequence[IRValue]) -> str:
    return f"{name}.{ir_values[0].kind}{ir_values[0].ctx.lanes or ''}.{len(ir_values)}"


def _called(key: str, ir_values: Sequence[IRValue], result: ir.Type) -> ir.Value:
    """A call of a function of `library`."""
    ctx, given = ir_values[0].ctx, [ir_value.value for ir_value in ir_values]
    return ctx.builder.call(linked(ctx.builder, key, ir.FunctionType(result, [value.type for value in given])), given)


def written(name: str, ir_values: Sequence[IRValue]) -> IRValue:
    """A mathematical function inlined; if branches are allowed, large angles are reduced in a branch of their own."""
    if name in OF_ANGLE:
        return OF_ANGLE[name](ir_values[0], _reduced(ir_values[0]))
    return (scalars.emit_by_case if ir_values[0].ctx.branching else scalars.emit)(name, *ir_values)


def _reduced(x: IRValue) -> trigonometry.Rest:
    """The reduction of an angle, computed once in a builder's code."""
    known: dict[int, tuple[ir.Value, trigonometry.Rest]] = x.ctx.builder.__dict__.setdefault("reduced", {})
    found = known.get(id(x.value))
    if found is None:
        found = x.value, trigonometry.Rest(*(reduction(x) if x.ctx.branching else _by_call(x)))
        if isinstance(x.value, ir.Instruction):  # what else there is may be written before and after a loop
            known[id(x.value)] = found
    return found[1]


def rest_of(ctx: Context, kind: str) -> ir.Type:
    """The LLVM type of a reduced angle."""
    return ir.LiteralStructType([ctx.type(part) for part in (kind, kind, BITS[kind])])


def _by_call(x: IRValue) -> list[IRValue]:
    """The reduction of an angle, by the function in `library` that is valid for all angles."""
    rest = _called(_key(REDUCED, [x]), [x], rest_of(x.ctx, x.kind))
    kinds = enumerate((x.kind, x.kind, BITS[x.kind]))
    return [IRValue(x.ctx, kind, x.ctx.builder.extract_value(rest, place)) for place, kind in kinds]


def reduction(x: IRValue) -> list[IRValue]:
    """The reduction of an angle; the short one if all lanes are moderate."""

    def ir_values(near: bool) -> list[IRValue]:
        if not near and isinstance(x.ctx.builder.module, LinkedModule):
            return _by_call(x)
        several = (x.ctx.lanes or 1) * SIZES[x.kind] > native.width()  # registers, which code for many elements takes
        return [*trigonometry.reduced(x, near=near)] if near or several else _lane_by_lane(x)

    return scalars.either(~trigonometry.is_moderate(x), ir_values)


def _lane_by_lane(x: IRValue) -> list[IRValue]:
    """The reduction of large angles, of one after the other: vectors of 64-bit integers take long to compile."""
    ctx, builder, place = x.ctx, x.ctx.builder, ir.IntType(32)
    function = _far(builder.module, ctx.target, x.kind)
    begun, loop, done = builder.block, builder.append_basic_block(), builder.append_basic_block()
    builder.branch(loop)
    builder.position_at_end(loop)
    lane, *vectors = phis = [builder.phi(of) for of in (place, ctx.type(x.kind), ctx.type(BITS[x.kind]))]
    rest = builder.call(function, [x.value if ctx.lanes is None else builder.extract_element(x.value, lane)])
    parts = [builder.extract_value(rest, part) for part in range(2)]
    if ctx.lanes is not None:
        parts = [builder.insert_element(vector, part, lane) for vector, part in zip(vectors, parts, strict=True)]
    following = builder.add(lane, place(1))
    for phi, value in zip(phis, (following, *parts), strict=True):
        phi.add_incoming(phi.type(0 if phi is lane else ir.Undefined), begun)
        phi.add_incoming(value, loop)
    builder.cbranch(builder.icmp_unsigned("<", following, place(ctx.lanes or 1)), loop, done)
    builder.position_at_end(done)
    return [x.with_value(parts[0]), x.with_value(parts[0]), IRValue(ctx, BITS[x.kind], parts[1])]


def _far(module: ir.Module, target: Target, kind: str) -> ir.Function:
    """The function of a module that reduces one large angle."""
    name, real, whole = f"far.{kind}", TYPES[kind], TYPES[BITS[kind]]
    if (known := module.globals.get(name)) is not None:
        return known
    result = ir.LiteralStructType([real, whole])
    function = ir.Function(module, ir.FunctionType(result, [real]), name)
    function.linkage = "internal"
    builder = ir.IRBuilder(function.append_basic_block())
    r, _, n = trigonometry.reduced(IRValue(EmitContext(builder, target, None), kind, function.args[0]))
    returned(builder, result, (r, n))
    return function


def returned(builder: ir.IRBuilder, of: ir.Type, ir_values: Sequence[IRValue]) -> None:
    """Return several IR values from a function."""
    found = ir.Constant(of, ir.Undefined)
    for place, ir_value in enumerate(ir_values):
        found = builder.insert_value(found, ir_value.value, place)
    builder.ret(found)
