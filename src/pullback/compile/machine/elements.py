"""The table of elementwise primitives with their machine code.

An entry is a function of IR values (see `mathematics.lanes`) and of the primitive's parameters. For NaN, infinities, signed zeros
and ties it gives what NumPy gives.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from llvmlite import ir

from .. import scalars
from ..mathematics import trigonometry
from ..mathematics.arithmetic import cast, maximum, minimum, plus, times, truth
from ..mathematics.lanes import BITS, REALS, TYPES, EmitContext, IRValue, Target
from . import native
from .linking import LinkedModule, linked
from .memory import SIZES

if TYPE_CHECKING:
    from ..._core.typing import NumpyType

KINDS: dict[NumpyType, str] = {
    np.dtype(np.float32): "f",
    np.dtype(np.float64): "d",
    np.dtype(bool): "b1",
    **{np.dtype(f"{letter}{width // 8}"): f"{letter}{width}" for letter in "iu" for width in (8, 16, 32, 64)},
}
"""The kind of IR value for each dtype that machine code supports."""


class Element(NamedTuple):
    """The code of a primitive, its cost in additions, and the dtype to which operands are cast before."""

    function: Callable[..., IRValue]
    cost: int = 1
    operands: str = "result"
    reals: bool = False


ELEMENTS: dict[str, Element] = {}

COSTLY, ALTERNATING = 20, 2
"""The cost above which an operation is computed for ALTERNATING registers at a time, if there are enough elements.

Their instructions are interleaved: those of a single register form a dependency chain.
"""


def _add(operands: str, cost: int, reals: bool = False, **entries: Callable[..., Any]) -> None:
    for name, function in entries.items():
        ELEMENTS[name] = Element(function, cost, operands, reals)


INLINE = 3
"""The number of uses of a mathematical function that are inlined; inlining more would compile slowly."""
REDUCED = "reduced"
"""The name in `library` of the argument reduction of trigonometric functions."""


OF_ANGLE = {"sin": trigonometry.sine, "cos": trigonometry.cosine}
"""Functions of a reduced angle: the sine and the cosine of one angle share the reduction."""


def call(name: str, *ir_values: IRValue) -> IRValue:
    """A mathematical function by the name of NumPy's ufunc: inlined, or a call of the one in `library`."""
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


def rest_of(ctx: EmitContext, kind: str) -> ir.Type:
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


def _power(x: IRValue, *, exponent: float) -> IRValue:
    if exponent == 0:
        return x.like(1)
    if exponent in {0.5, -1, -2}:
        return x.sqrt() if exponent == 0.5 else 1 / x if exponent == -1 else (1 / x) * (1 / x)
    if exponent in {1, 2, 3, 4}:
        square = x * x if exponent > 1 else x
        return square if exponent < 3 else square * x if exponent == 3 else square * square
    return call("power", x, x.like(exponent))


def _sign(x: IRValue) -> IRValue:
    return (x > 0).select(x.like(1), (x < 0).select(x.like(-1), x.like(0)))


def _logical(a: IRValue, b: IRValue, sign: str) -> IRValue:
    a, b = truth(a), truth(b)
    return a & b if sign == "&" else a | b if sign == "|" else a ^ b


# fmt: off
_add("result", 1, add=plus, multiply=times, maximum=maximum, minimum=minimum,
     subtract=lambda a, b: a - b, rsub=lambda a, b: b - a, negative=lambda x: -x,
     abs=lambda x: abs(x) if x.kind in REALS else (x < 0).select(-x, x) if x.kind[0] == "i" else x,
     square=lambda x: x * x, conj=lambda x: x, sign=_sign,
     zeros_like=lambda x: x.like(0), copy=lambda x, value: value, fill=lambda x, value: value,
     bitwise_and=lambda a, b: a & b, bitwise_or=lambda a, b: a | b, bitwise_xor=lambda a, b: a ^ b)
_add("result", 1, True, floor=IRValue.floor, ceil=IRValue.ceil, rint=IRValue.rint, trunc=IRValue.trunc,
     fmax=lambda a, b: ((a >= b) | b.isnan()).select(a, b), fmin=lambda a, b: ((a <= b) | b.isnan()).select(a, b),
     copysign=lambda a, b: a.copysign(b))
_add("result", 4, True, divide=lambda a, b: a / b, reciprocal=lambda x: 1 / x, sqrt=IRValue.sqrt,
     trunc_quotient=lambda a, b: (a / b).trunc())
_add("result", 20, True, power=_power,
     polygamma=lambda x, *, n: scalars.polygamma(x, n=n) if n else call("digamma", x))

_add("common", 1, equal=lambda a, b: a == b, not_equal=lambda a, b: a != b, less=lambda a, b: a < b,
     less_equal=lambda a, b: a <= b, greater=lambda a, b: a > b, greater_equal=lambda a, b: a >= b)
_add("own", 1, logical_not=lambda x: ~truth(x), logical_and=lambda a, b: _logical(a, b, "&"),
     logical_or=lambda a, b: _logical(a, b, "|"), logical_xor=lambda a, b: _logical(a, b, "^"))
_add("own", 1, True, isnan=IRValue.isnan, isinf=lambda x: abs(x) == math.inf, isfinite=lambda x: abs(x) < math.inf,
     signbit=lambda x: x.bits() < 0)
_add("condition", 1, where=lambda condition, a, b: truth(condition).select(a, b))
_add("own", 1, astype=lambda x, *, dtype, source=None: cast(x, KINDS[np.dtype(dtype)]))

# Mathematical functions that are primitives under another name or the same.
for _name, _ufunc in {
    **{name: name for name in "exp expm1 log log1p sin cos tan sinh cosh tanh log2 log10 cbrt hypot".split()},
    **{name: name for name in "exp2 logaddexp erf erfc erfinv lgamma digamma sigmoid fmod remainder".split()},
    **{f"a{name}": f"arc{name}" for name in "sin cos tan sinh cosh tanh tan2".split()},
    "pow": "power",
    "floor_quotient": "floor_divide",
}.items():
    ELEMENTS[_name] = Element(functools.partial(call, _ufunc), 20, "result", reals=True)

NO_BOOLS = {"subtract", "rsub", "negative", "sign", "square"}


def lowers(name: str, inputs: tuple[NumpyType, ...], output: NumpyType, params: dict[str, Any]) -> bool:
    """Whether an elementwise primitive has machine code for these dtypes."""
    element = ELEMENTS.get(name)
    if element is None or output not in KINDS or any(dtype not in KINDS for dtype in inputs):
        return False
    if element.reals:
        return (output if element.operands == "result" else inputs[0]).kind == "f"
    if name == "polygamma" and params["n"] > scalars.MOST_SLOPES:
        return False
    if name == "astype":
        to_whole = inputs[0].kind == "f" and output.kind in "iu"
        return not to_whole or output.str[1:] in {"i4", "i8"}
    return not (output.kind == "b" and name in NO_BOOLS)


def kind_of_operands(name: str, inputs: tuple[NumpyType, ...], output: NumpyType, place: int) -> str:
    """The kind to which an operand is cast before the operation."""
    rule = ELEMENTS[name].operands
    if rule == "own" or (rule == "condition" and place == 0):
        return KINDS[inputs[place]]
    return KINDS[np.result_type(*inputs) if rule == "common" else output]


def apply(name: str, ir_values: list[IRValue], inputs: tuple[NumpyType, ...], output: NumpyType, params: dict[str, Any]) -> IRValue:
    """The result of a primitive for IR values of the dtypes `inputs`."""
    operands = [cast(ir_value, kind_of_operands(name, inputs, output, place)) for place, ir_value in enumerate(ir_values)]
    given = {key: value for key, value in params.items() if key not in {"label", "given"}}
    return cast(ELEMENTS[name].function(*operands, **given), KINDS[output])
