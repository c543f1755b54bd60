"""Products with their rounding errors."""

from __future__ import annotations

from ..._numerics import pairs
from .lanes import IRValue


def product(a: IRValue, b: IRValue) -> tuple[IRValue, IRValue]:
    """a * b rounded, and what that lost: exact unless it is subnormal, or (without fma) an operand enormous."""
    if a.ctx.target.fma:
        high = a * b
        return high, a.mad(b, -high)
    return pairs.product(a, b, a.kind)
