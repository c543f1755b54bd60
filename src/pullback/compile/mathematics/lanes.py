"""Values with Python's operators, in which formulas of this package are written.

An `IRValue` is a value of generated code and the context in which its operators and methods write instructions: LLVM's
(`machine.contexts`) or those of C (`export.builder`). It is a scalar or a vector: constants get as many lanes as the other
operand, so that a formula serves both. No instruction has a fast-math flag: what a formula says is computed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

ORDERED = ("i8", "i16", "i32", "i64")
"""The kinds of signed integers."""
UNSIGNED = ("u8", "u16", "u32", "u64")
WIDTH = {"b1": 1} | {kind: int(kind[1:]) for kind in (*ORDERED, *UNSIGNED)}

SIZES = {"f": 4, "d": 8, "b1": 1} | {kind: width // 8 for kind, width in WIDTH.items() if kind != "b1"}
"""Bytes of an element in memory."""

REALS = ("f", "d")

BITS = {"f": "i32", "d": "i64"}  # the signed integer of the same size
FRACTION = {"f": 23, "d": 52}  # bits of the significand that are stored
REGISTER = 64  # bytes of an AVX-512 register
BIAS = {"f": 127, "d": 1023}
TINY = {"f": 2.0**-126, "d": 2.0**-1022}  # the smallest number that is not subnormal


@dataclasses.dataclass(frozen=True)
class Target:
    """Instructions of the processor.

    `fma` is a fused multiply-add; `scalef` are AVX-512's scalef, getmant and getexp; `masks` are its registers of masks.
    """

    fma: bool
    scalef: bool = False
    masks: bool = False


class Context:
    """What writes the operations of values: a builder, the number of lanes (None for scalars), and the target.

    `branching` says whether formulas may branch; `often`, whether the code runs often enough to inline functions instead of
    calling them.
    """

    def __init__(
        self, builder: Any, target: Target, lanes: int | None, *, branching: bool = False, often: bool = True
    ) -> None:
        self.builder = builder
        self.target, self.lanes, self.branching, self.often = target, lanes, branching, often

    def type(self, kind: str) -> Any:
        """The type of a value of that kind here, as the builder is told it."""
        raise NotImplementedError

    def number(self, kind: str, x: float) -> IRValue:
        """A constant, the same in every lane."""
        raise NotImplementedError

    def is_number(self, x: IRValue) -> bool:
        """Whether a value is known to be a number, as one that is written in the code, and no NaN."""
        return False

    def intrinsic(self, name: str, kind: str, *operands: IRValue) -> IRValue:
        """An operation that processors have, by LLVM's name; operands and result are reals of one kind."""
        raise NotImplementedError

    def lookup(self, name: str, table: Sequence[float], index: IRValue) -> IRValue:
        """An entry of a named table of doubles, at an index in range."""
        raise NotImplementedError

    def function(self, name: str, *operands: IRValue) -> IRValue:
        """A mathematical function by the name of NumPy's ufunc: inlined, or called."""
        raise NotImplementedError

    def either(self, far: IRValue, values: Callable[[bool], list[IRValue]]) -> list[IRValue]:
        """The values of `values(True)`, or of `values(False)` where a bool is true in any lane: a branch, and code for both."""
        raise NotImplementedError

    def apart(self, name: str, formula: Callable[..., IRValue], *operands: IRValue) -> IRValue:
        """A formula of doubles that is a function of its own, called for each lane."""
        raise NotImplementedError

    def repeated(
        self, values: Sequence[IRValue], going: Callable[..., IRValue], step: Callable[..., Sequence[IRValue]]
    ) -> list[IRValue]:
        """What becomes of scalars by a step that is repeated while a bool of them is true: a loop."""
        raise NotImplementedError

    def scaling(self, name: str, *operands: IRValue) -> IRValue:
        """What AVX-512's scalef, getmant or getexp makes of values, where the target has these."""
        raise NotImplementedError

    def shuffled(self, x: IRValue, other: IRValue | None, places: Sequence[int]) -> IRValue:
        """A vector of elements of a vector, or of two, whose elements are counted on."""
        raise NotImplementedError

    def first(self, x: IRValue) -> Any:
        """The first lane of a vector, as what a scalar holds."""
        raise NotImplementedError


class IRValue:
    """A scalar or a vector of one `kind` of TYPES."""

    __hash__ = None  # type: ignore[assignment]  # == is an instruction here

    def __init__(self, ctx: Context, kind: str, value: Any) -> None:
        self.ctx, self.kind, self.value = ctx, kind, value

    def with_value(self, value: Any) -> IRValue:
        """Another value of this kind, with as many lanes."""
        return IRValue(self.ctx, self.kind, value)

    def like(self, other: IRValue | float) -> IRValue:
        """A number as a value of this kind; values are returned as they are."""
        return other if isinstance(other, IRValue) else self.ctx.number(self.kind, other)

    def _make(self, real: str, integer: str, left: IRValue, right: IRValue) -> IRValue:
        instruction = getattr(self.ctx.builder, real if self.kind in REALS else integer)
        return IRValue(self.ctx, self.kind, instruction(left.value, right.value))

    # Arithmetic: IEEE's for reals, modulo the width for integers.

    def __add__(self, other: IRValue | float) -> IRValue:
        return self._make("fadd", "add", self, self.like(other))

    def __radd__(self, other: float) -> IRValue:
        return self.like(other) + self

    def __sub__(self, other: IRValue | float) -> IRValue:
        return self._make("fsub", "sub", self, self.like(other))

    def __rsub__(self, other: float) -> IRValue:
        return self.like(other) - self

    def __mul__(self, other: IRValue | float) -> IRValue:
        return self._make("fmul", "mul", self, self.like(other))

    def __rmul__(self, other: float) -> IRValue:
        return self.like(other) * self

    def __truediv__(self, other: IRValue | float) -> IRValue:
        return self._make("fdiv", "fdiv", self, self.like(other))

    def __rtruediv__(self, other: float) -> IRValue:
        return self.like(other) / self

    def __floordiv__(self, other: IRValue | int) -> IRValue:
        """The quotient of whole numbers that are not negative."""
        return self._make("udiv", "udiv", self, self.like(other))

    def __mod__(self, other: IRValue | int) -> IRValue:
        """The rest of a division of whole numbers that are not negative."""
        return self._make("urem", "urem", self, self.like(other))

    def __neg__(self) -> IRValue:
        builder = self.ctx.builder
        value = builder.fneg(self.value) if self.kind in REALS else builder.neg(self.value)
        return IRValue(self.ctx, self.kind, value)

    def mad(self, factor: IRValue | float, term: IRValue | float) -> IRValue:
        """self * factor + term, rounded once if the processor has fused multiply-add, else twice."""
        if self.ctx.target.fma:
            return self.ctx.intrinsic("fma", self.kind, self, self.like(factor), self.like(term))
        return self * factor + term

    def polynomial(self, coefficients: Sequence[IRValue | float], *, soon: bool = False) -> IRValue:
        """A polynomial of this value by Horner's rule, the constant first.

        `soon` uses Estrin's scheme ("Organization of computer systems", 1960): more operations, but a shorter chain.
        """
        if soon:
            return self._polynomial_by_pairs(coefficients)
        *rest, last = coefficients
        y = self.like(last)
        for coefficient in reversed(rest):
            y = y.mad(self, coefficient)
        return y

    def _polynomial_by_pairs(self, coefficients: Sequence[IRValue | float]) -> IRValue:
        terms, power = [self.like(coefficient) for coefficient in coefficients], self
        while True:
            pairs = [power.mad(odd, even) for even, odd in zip(terms[::2], terms[1::2], strict=False)]
            terms = pairs + terms[len(pairs) * 2 :]
            if len(terms) == 1:
                return terms[0]
            power = power * power

    @property
    def scales(self) -> bool:
        """Whether `scaled_by` and `parted` are available: for whole AVX-512 registers."""
        return self.ctx.target.scalef and not (self.ctx.lanes or 1) * SIZES[self.kind] % REGISTER

    def scaled_by(self, power: IRValue) -> IRValue:
        """This times 2^power, a whole number as a real; rounded once."""
        return self.ctx.scaling("scalef", self, power)

    def parted(self) -> tuple[IRValue, IRValue]:
        """m from 3/4 to 3/2 and k, a whole number as a real, whose m 2^k is this.

        m is NaN below 0; k is -inf of 0 and inf of inf, with an m of 1.
        """
        m, k = self.ctx.scaling("getmant", self), self.ctx.scaling("getexp", self)
        return m, (m < 1).select(k + 1, k)

    def shuffled(self, other: IRValue | None, places: Sequence[int]) -> IRValue:
        """A vector of elements of this vector, or of this one and another, whose elements are counted on."""
        return self.ctx.shuffled(self, other, places)

    # Comparisons: false where a side is NaN, but for !=.

    def _compare(self, sign: str, other: IRValue | float) -> IRValue:
        builder, right = self.ctx.builder, self.like(other)
        if self.kind in REALS:
            unordered = builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered
            return IRValue(self.ctx, "b1", unordered(sign, self.value, right.value))
        compare = builder.icmp_signed if self.kind in ORDERED else builder.icmp_unsigned
        return IRValue(self.ctx, "b1", compare(sign, self.value, right.value))

    def __lt__(self, other: IRValue | float) -> IRValue:
        return self._compare("<", other)

    def __le__(self, other: IRValue | float) -> IRValue:
        return self._compare("<=", other)

    def __gt__(self, other: IRValue | float) -> IRValue:
        return self._compare(">", other)

    def __ge__(self, other: IRValue | float) -> IRValue:
        return self._compare(">=", other)

    def __eq__(self, other: IRValue | float) -> IRValue:  # type: ignore[override]
        return self._compare("==", other)

    def __ne__(self, other: IRValue | float) -> IRValue:  # type: ignore[override]
        return self._compare("!=", other)

    def isnan(self) -> IRValue:
        """Where this is NaN."""
        return IRValue(self.ctx, "b1", self.ctx.builder.fcmp_unordered("uno", self.value, self.value))

    def select(self, chosen: IRValue | float, other: IRValue | float, kind: str = "") -> IRValue:
        """`chosen` where this b1 is true, `other` elsewhere; two numbers need their kind."""
        model = next((ir_value for ir_value in (chosen, other) if isinstance(ir_value, IRValue)), None)
        model = self.ctx.number(kind, 0) if model is None else model
        left, right = model.like(chosen), model.like(other)
        return model.with_value(self.ctx.builder.select(self.value, left.value, right.value))

    # Bits.

    def __and__(self, other: IRValue | int) -> IRValue:
        return self._make("and_", "and_", self, self.like(other))

    def __or__(self, other: IRValue | int) -> IRValue:
        return self._make("or_", "or_", self, self.like(other))

    def __xor__(self, other: IRValue | int) -> IRValue:
        return self._make("xor", "xor", self, self.like(other))

    def __invert__(self) -> IRValue:
        return IRValue(self.ctx, self.kind, self.ctx.builder.not_(self.value))

    def __lshift__(self, count: IRValue | int) -> IRValue:
        return self._make("shl", "shl", self, self.like(count))

    def __rshift__(self, count: IRValue | int) -> IRValue:
        """With copies of the sign for integers that have one."""
        name = "ashr" if self.kind in ORDERED else "lshr"
        return self._make(name, name, self, self.like(count))

    def shifted_right(self, count: IRValue | int) -> IRValue:
        """With zeros for the sign."""
        return self._make("lshr", "lshr", self, self.like(count))

    def bits(self) -> IRValue:
        """A real's bits as an integer."""
        return self._cast("bitcast", BITS[self.kind])

    def real(self) -> IRValue:
        """The real that has an integer's bits."""
        return self._cast("bitcast", {bits: kind for kind, bits in BITS.items()}[self.kind])

    def _cast(self, instruction: str, kind: str) -> IRValue:
        return IRValue(self.ctx, kind, getattr(self.ctx.builder, instruction)(self.value, self.ctx.type(kind)))

    def to(self, kind: str) -> IRValue:
        """The nearest number of another kind, the low bits between integers; reals to integers only where they fit."""
        if kind == self.kind:
            return self
        signed = self.kind in ORDERED
        if self.kind in REALS:
            if kind in REALS:
                return self._cast("fpext" if kind == "d" else "fptrunc", kind)
            return self._cast("fptosi", kind)
        if kind in REALS:
            return self._cast("sitofp" if signed else "uitofp", kind)
        wider = WIDTH[kind] - WIDTH[self.kind]
        if wider == 0:
            return IRValue(self.ctx, kind, self.value)
        return self._cast("trunc" if wider < 0 else "sext" if signed else "zext", kind)

    # Functions that are one instruction.

    def __abs__(self) -> IRValue:
        return self.ctx.intrinsic("fabs", self.kind, self)

    def sqrt(self) -> IRValue:
        """The square root, correctly rounded."""
        return self.ctx.intrinsic("sqrt", self.kind, self)

    def floor(self) -> IRValue:
        """The next whole number below."""
        return self.ctx.intrinsic("floor", self.kind, self)

    def ceil(self) -> IRValue:
        """The next whole number above."""
        return self.ctx.intrinsic("ceil", self.kind, self)

    def trunc(self) -> IRValue:
        """The next whole number towards 0."""
        return self.ctx.intrinsic("trunc", self.kind, self)

    def rint(self) -> IRValue:
        """The nearest whole number, the even one of two."""
        return self.ctx.intrinsic("rint", self.kind, self)

    def copysign(self, sign: IRValue) -> IRValue:
        """This size with the sign of another value."""
        return self.ctx.intrinsic("copysign", self.kind, self, sign)

    # Shorthands.

    def at_most(self, bound: IRValue | float) -> IRValue:
        """The smaller of this and a bound; NaN stays NaN."""
        return (self > bound).select(bound, self)

    def at_least(self, bound: IRValue | float) -> IRValue:
        """The larger of this and a bound; NaN stays NaN."""
        return (self < bound).select(bound, self)

    def whole(self) -> IRValue:
        """A small integer (22 bits of i32, 51 of i64) as the real of its size."""
        kind = {bits: kind for kind, bits in BITS.items()}[self.kind]
        magic = self.ctx.number(kind, 1.5 * 2.0 ** FRACTION[kind])
        return (self + magic.bits()).real() - magic

    def nearest(self, factor: float = 1.0) -> tuple[IRValue, IRValue]:
        """The nearest whole number of this times a factor, if that is small (22 bits in float, 51 in double).

        It is given as real and as integer.

        Adding 1.5 * 2^fraction rounds to whole numbers and leaves the number in the low bits: quicker than conversions,
        which AVX2 lacks for doubles.
        """
        magic = 1.5 * 2.0 ** FRACTION[self.kind]
        shifted = self._and(factor, magic)
        return shifted - magic, shifted.bits() - self.ctx.number(self.kind, magic).bits()

    def _and(self, factor: float, term: float) -> IRValue:
        """About this times a factor, plus a term."""
        return self + term if factor == 1 else self.mad(factor, term)


class FactoredProduct(IRValue):
    """A product with an early and a late factor, so that an approximate use of it can wait for the late one only."""

    def __init__(self, whole: IRValue, late: IRValue, soon: IRValue) -> None:
        super().__init__(whole.ctx, whole.kind, whole.value)
        self._late, self._soon = late, soon

    def _and(self, factor: float, term: float) -> IRValue:
        return self._late.mad(self._soon * factor, term)


class Sum(IRValue):
    """left * right + term, to which an early addend can be added without another dependent operation."""

    def __init__(self, left: IRValue, right: IRValue, term: IRValue) -> None:
        super().__init__(term.ctx, term.kind, left.mad(right, term).value)
        self._product, self._term = (left, right), term

    def plus(self, other: IRValue) -> IRValue:
        """This and a term that is known before."""
        left, right = self._product
        return left.mad(right, self._term + other)


def power_of_two(n: IRValue, kind: str) -> IRValue:
    """2^n as a real, for an integer n of the same size whose power is a normal number."""
    return ((n + BIAS[kind]) << FRACTION[kind]).real()
