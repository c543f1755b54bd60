"""C's types, literals, and the builder of expressions: what takes the place of LLVM's for the formulas of `mathematics`.

Integers are unsigned inside expressions, as C's signed ones must not overflow; what is signed is converted where that matters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..mathematics.lanes import ORDERED, REALS, WIDTH, Context, IRValue, Target
from .code import CodeBlock, Expression

if TYPE_CHECKING:
    from .functions import MathFunctions

STORED = {"f": "float", "d": "double", "b1": "uint8_t"} | {
    kind: f"{'' if kind in ORDERED else 'u'}int{width}_t" for kind, width in WIDTH.items() if width > 1
}
"""The types of elements in memory, by kind."""
TYPES = STORED | {kind: f"u{STORED[kind]}" for kind in ORDERED} | {"b1": "int"}
"""The types of expressions, by kind: integers are unsigned, and conditions are what C's comparisons give."""
SUFFIX = {"f": "f", "d": ""}
"""What C's names of functions end with."""


def real(kind: str, x: float) -> str:
    """A real as C writes it."""
    if math.isnan(x):
        return "PB_NAN"
    if math.isinf(x):
        return "PB_INF" if x > 0 else "-PB_INF"
    text = str(np.float32(x)) if kind == "f" else repr(float(x))
    return text + ("" if any(sign in text for sign in ".e") else ".0") + SUFFIX[kind]


def whole(kind: str, x: int) -> str:
    """An integer as an unsigned one of as many bits."""
    x %= 1 << WIDTH[kind]
    return f"{x}u" if WIDTH[kind] < 64 else f"UINT64_C({x})"


def literal(kind: str, x: Any) -> str:
    """A number as an element of an array is initialized."""
    if kind in REALS:
        text = real(kind, float(x))
        return f"(float){text}" if kind == "f" and "PB" in text else text
    if kind in ORDERED:
        least = -(1 << (WIDTH[kind] - 1))
        suffix = "ll" if kind == "i64" else ""
        return f"({least + 1}{suffix} - 1)" if int(x) == least else f"{int(x)}{suffix}"
    return whole("u8" if kind == "b1" else kind, int(x))


class ExpressionBuilder:
    """Appends expressions to a block, by the names of LLVM's instructions."""

    def __init__(self, block: CodeBlock) -> None:
        self.block = block

    def made(self, kind: str, *parts: Any, reads: str = "") -> Expression:
        """An expression of a kind."""
        if kind in WIDTH and 1 < WIDTH[kind] < 32:  # C computes these as int
            parts = (f"({TYPES[kind]})", "(", *parts, ")")
        return self.block.define(Expression(kind, parts, reads=reads))

    def _signed(self, a: Expression) -> tuple[Any, ...]:
        width = max(WIDTH[a.kind], 8)
        return f"(int{width}_t)", a

    def __getattr__(self, name: str) -> Callable[..., Expression]:
        sign = SIGNS.get(name)
        if sign is None:
            raise AttributeError(name)
        return lambda a, b: self.made(a.kind, *self._wide(a), f" {sign} ", *self._wide(b))

    @staticmethod
    def _wide(a: Expression) -> tuple[Any, ...]:
        """An operand, widened where C would make it an int."""
        return (a,) if a.kind not in WIDTH or WIDTH[a.kind] in {1, 32, 64} else ("(uint32_t)", a)

    def ashr(self, a: Expression, b: Expression) -> Expression:
        """A shift with copies of the sign."""
        return self.made(a.kind, f"({TYPES[a.kind]})(", *self._signed(a), " >> ", b, ")")

    def fneg(self, a: Expression) -> Expression:
        """A real with the other sign."""
        return self.made(a.kind, "-", a)

    def neg(self, a: Expression) -> Expression:
        """An integer with the other sign, modulo its width."""
        return self.made(a.kind, "0u - ", *self._wide(a))

    def not_(self, a: Expression) -> Expression:
        """All bits inverted."""
        return self.made(a.kind, "!" if a.kind == "b1" else "~", *self._wide(a))

    # Comparisons

    def fcmp_ordered(self, sign: str, a: Expression, b: Expression) -> Expression:
        """A comparison that is false of NaN."""
        return self.made("b1", a, f" {sign} ", b)

    def fcmp_unordered(self, sign: str, a: Expression, b: Expression) -> Expression:
        """Whether reals differ; with "uno" of one number, whether that is NaN."""
        return self.made("b1", a, " != ", b)

    def icmp_unsigned(self, sign: str, a: Expression, b: Expression) -> Expression:
        """A comparison of unsigned integers; compilers warn where one is to be below 0, or is compared with itself."""
        if a is b:
            return self.made("b1", str(int("=" in sign.replace("!=", ""))))
        return self.made("b1", "0") if sign == "<" and b.number == 0 else self.fcmp_ordered(sign, a, b)

    def icmp_signed(self, sign: str, a: Expression, b: Expression) -> Expression:
        """A comparison of signed integers."""
        if a is b or sign in {"==", "!="}:
            return self.icmp_unsigned(sign, a, b)
        return self.made("b1", *self._signed(a), f" {sign} ", *self._signed(b))

    def select(self, condition: Expression, a: Expression, b: Expression) -> Expression:
        """One of two values."""
        return self.made(a.kind, condition, " ? ", a, " : ", b)

    # Conversions, to a kind

    def bitcast(self, a: Expression, kind: str) -> Expression:
        """The same bits."""
        name = f"pb_{'real' if kind in REALS else 'bits'}_{kind if kind in REALS else a.kind}"
        return self.made(kind, f"{name}(", a, ")")

    def uitofp(self, a: Expression, kind: str) -> Expression:
        """The nearest number of another type."""
        return self.made(kind, f"({TYPES[kind]})", a)

    fpext = fptrunc = zext = uitofp

    def trunc(self, a: Expression, kind: str) -> Expression:
        """The low bits."""
        return self.made(kind, "(int)(", a, " & 1u)") if kind == "b1" else self.made(kind, f"({TYPES[kind]})", a)

    def fptosi(self, a: Expression, kind: str) -> Expression:
        """A real that fits, as an integer."""
        return self.made(kind, f"({TYPES[kind]})(int{WIDTH[kind]}_t)", a)

    def sitofp(self, a: Expression, kind: str) -> Expression:
        """A signed integer as a real."""
        return self.made(kind, f"({TYPES[kind]})", *self._signed(a))

    def sext(self, a: Expression, kind: str) -> Expression:
        """A signed integer of more bits."""
        return self.made(kind, f"({TYPES[kind]})(int{WIDTH[kind]}_t)", *self._signed(a))


SIGNS = {
    "fadd": "+", "add": "+", "fsub": "-", "sub": "-", "fmul": "*", "mul": "*", "fdiv": "/", "udiv": "/", "urem": "%",
    "and_": "&", "or_": "|", "xor": "^", "shl": "<<", "lshr": ">>",
}  # fmt: skip


class CContext(Context):
    """The context of values that are C expressions: scalars, for compilers make vectors of loops themselves."""

    def __init__(self, block: CodeBlock, functions: MathFunctions, target: Target) -> None:
        super().__init__(ExpressionBuilder(block), target, None)
        self.functions = functions

    @property
    def block(self) -> CodeBlock:
        """The block that is written to."""
        found: CodeBlock = self.builder.block
        return found

    def type(self, kind: str) -> str:
        """The kind itself, from which the builder knows C's type."""
        return kind

    def number(self, kind: str, x: float) -> IRValue:
        """A constant."""
        text = real(kind, float(x)) if kind in REALS else str(int(x)) if kind == "b1" else whole(kind, int(x))
        if kind == "f" and "PB" in text:
            text = f"((float){text})"
        if kind in WIDTH and 1 < WIDTH[kind] < 32:
            text = f"(({TYPES[kind]}){text})"
        text = f"({text})" if text.startswith("-") else text
        return IRValue(self, kind, Expression(kind, (text,), number=x))

    def is_number(self, x: IRValue) -> bool:
        """Whether a value is known to be a number; then no comparison asks whether it is, which gcc makes no vector code of."""
        return x.value.number is not None and not math.isnan(x.value.number)

    def value(self, kind: str, *parts: Any, reads: str = "") -> IRValue:
        """The value of an expression."""
        return IRValue(self, kind, self.builder.made(kind, *parts, reads=reads))

    def intrinsic(self, name: str, kind: str, *operands: IRValue) -> IRValue:
        """An operation of processors: of C's library, or, where that would be a call, a function of the file."""
        function = self.functions.processor(name, kind)
        return self.called(kind, function, *operands)

    def called(self, kind: str, function: str, *operands: IRValue) -> IRValue:
        """The value of a call."""
        parts: list[Any] = []
        for operand in operands:
            parts += [", ", operand.value]
        return IRValue(self, kind, self.block.define(Expression(kind, (f"{function}(", *parts[1:], ")"))))

    def lookup(self, name: str, table: Sequence[float], index: IRValue) -> IRValue:
        """An entry of a table of the file."""
        self.functions.tables[name] = [*table]
        return self.value("d", f"pb_{name}[", index.value, "]")

    def function(self, name: str, *operands: IRValue) -> IRValue:
        """A call of a mathematical function."""
        return self.called(operands[0].kind, self.functions.named(name, operands[0].kind, len(operands)), *operands)

    def apart(self, name: str, formula: Callable[..., IRValue], *operands: IRValue) -> IRValue:
        """A call of a formula of doubles that is a function of the file."""
        function = self.functions.formula(f"{name}_exact", "d", len(operands), formula)
        return self.called("d", function, *operands)

    def either(self, far: IRValue, values: Callable[[bool], list[IRValue]]) -> list[IRValue]:
        """A branch, in which variables are set."""
        outer = self.block
        place = len(outer.statements)
        sides = []
        for head, near in ((("if (", far.value, ")"), False), (("else",), True)):
            self.builder.block = outer.inner(*head)
            sides.append((self.builder.block, values(near)))
        self.builder.block = outer
        found = []
        for number, value in enumerate(sides[0][1]):
            name = self.functions.fresh("r")
            outer.statements.insert(place, (f"{TYPES[value.kind]} {name};",))
            for block, side in sides:
                block.say(f"{name} = ", side[number].value, ";")
            found.append(IRValue(self, value.kind, outer.define(Expression(value.kind, (name,)))))
        return found

    def repeated(
        self, values: Sequence[IRValue], going: Callable[..., IRValue], step: Callable[..., Sequence[IRValue]]
    ) -> list[IRValue]:
        """A loop, in which variables are set."""
        outer, held = self.block, []
        for value in values:
            name = self.functions.fresh("s")
            outer.say(f"{TYPES[value.kind]} {name} = ", value.value, ";")
            held.append(name)

        def read() -> list[IRValue]:
            return [
                IRValue(self, v.kind, self.block.define(Expression(v.kind, (name,), reads=name)))
                for v, name in zip(values, held, strict=True)
            ]

        self.builder.block = outer.inner("for (;;)")
        self.block.say("if (!(", going(*read()).value, ")) break;")
        made = [(f"{name}_", value) for name, value in zip(held, step(*read()), strict=True)]
        for name, value in made:
            self.block.say(f"const {TYPES[value.kind]} {name} = ", value.value, ";")
        for name, _ in made:
            self.block.say(f"{name[:-1]} = {name};")
        self.builder.block = outer
        return read()
