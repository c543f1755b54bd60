"""Accumulators of reductions, in vector registers.

Floats are summed in double precision. Sums of doubles are compensated by Knuth's two-sum, so that they are as accurate as in
twice the precision.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..mathematics.arithmetic import cast, maximum, minimum, plus, times
from ..mathematics.lanes import REALS, Context, IRValue
from .elements import KINDS

if TYPE_CHECKING:
    from ..._core.typing import NumpyType

LONG_SUM = 256
"""The number of doubles up to which a sum is not compensated."""


def kind_of(how: str, operand: NumpyType, result: NumpyType) -> str:
    """The kind in which a reduction accumulates."""
    if how in {"and", "or"}:
        return "b1"
    if how in {"sum", "prod"}:
        kind = KINDS[result]
        return "d" if kind in REALS else kind
    return KINDS[operand]


def identity(how: str, kind: str) -> float:
    """The neutral element of a reduction."""
    if kind == "b1" or how not in {"maximum", "minimum"}:
        return 0 if how in {"sum", "or", "maximum"} else 1
    if kind in REALS:
        return -math.inf if how == "maximum" else math.inf
    info = np.iinfo(f"{kind[0]}{int(kind[1:]) // 8}")
    return int(info.min if how == "maximum" else info.max)


# Of equal numbers the first stays, and only the one that comes is asked whether it is NaN.
COMBINED: dict[str, Callable[[IRValue, IRValue], IRValue]] = {
    "sum": plus,
    "prod": times,
    "maximum": lambda a, b: maximum(b, a),
    "minimum": lambda a, b: minimum(b, a),
    "and": operator.and_,
    "or": operator.or_,
}


def combine(how: str, a: IRValue, b: IRValue) -> IRValue:
    """The combination of two results."""
    return COMBINED[how](a, b)


@dataclass(slots=True, eq=False)
class Accumulator:
    """The state of a reduction: values that loops carry."""

    how: str
    kind: str
    exact: bool
    lanes: int | None
    carried: list[IRValue]

    @staticmethod
    def begun(ctx: Context, how: str, kind: str, *, exact: bool) -> Accumulator:
        """An accumulator with the neutral element."""
        numbers = [identity(how, kind), *([0] if exact else [])]
        return Accumulator(how, kind, exact, ctx.lanes, [ctx.number(kind, number) for number in numbers])

    def add(self, ctx: Context, ir_value: IRValue, mask: Any) -> None:
        """Accumulate an IR value, where the mask is on."""
        ir_value = cast(ir_value, self.kind)
        if mask is not None:
            neutral = ctx.number(self.kind, identity(self.how, self.kind))
            ir_value = IRValue(ctx, "b1", mask).select(ir_value, neutral)
        old = self._held(0, ctx)
        if not self.exact:
            self.carried = [combine(self.how, old, ir_value)]
            return
        total = old + ir_value
        part = total - old
        lost = (old - (total - part)) + (ir_value - part)
        self.carried = [total, self._held(1, ctx) + lost]

    def _held(self, place: int, ctx: Context) -> IRValue:
        return IRValue(ctx, self.kind, self.carried[place].value)

    def result(self, ctx: Context) -> IRValue:
        """The result; where a sum overflowed, without the compensation, which is NaN."""
        total = self._held(0, ctx)
        if not self.exact:
            return total
        lost = self._held(1, ctx)
        return (abs(lost) < math.inf).select(total + lost, total)


def across(how: str, ir_value: IRValue, scalar: Context) -> IRValue:
    """The reduction of all lanes of an IR value, pairwise."""
    lanes = ir_value.ctx.lanes or 1
    while lanes > 1:
        lanes //= 2
        ir_value = combine(how, *[ir_value.shuffled(None, range(start, start + lanes)) for start in (0, lanes)])
    return IRValue(scalar, ir_value.kind, ir_value.ctx.first(ir_value))
