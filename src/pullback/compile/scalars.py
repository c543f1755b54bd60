"""Mathematical functions by NumPy's names, as formulas.

`emit` appends a function to a block. Operands and result are scalars or fixed vectors; there are no calls and no branches
(but in the exact remainders, see below), so that LLVM vectorizes loops over it. Errors are within 2 units in the last place
in float and 4 in double: docs/explanation/accuracy.md has what was measured.

sin, cos, tan and the remainders are right for all numbers, and much quicker where the caller knows that these are
moderate: with `near=True`, when `beyond` is false of every element. `emit_by_case` finds that out vector by vector.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._numerics.formulas import FORMULAS
from .mathematics import arcs, errors, exponentials, logarithms, operations, powers, remainders, trigonometry
from .mathematics.lanes import IRValue


def _widened(formula: Callable[..., IRValue]) -> Callable[..., IRValue]:
    """A formula of doubles for floats as well: computed in double and rounded."""

    def compute(*operands: IRValue) -> IRValue:
        return formula(*(x.to("d") for x in operands)).to(operands[0].kind)

    return compute


def _shared(name: str) -> Callable[..., IRValue]:
    """A formula of doubles that NumPy computes by as well; of floats too, or another one, in double and rounded."""
    formula = FORMULAS[name]

    def compute(x: IRValue, **params: Any) -> IRValue:
        chosen = formula.doubles if x.kind == "d" else formula.singles or formula.doubles
        found: IRValue = chosen(x.to("d"), xp=operations, **params)
        return found.to(x.kind)

    return compute


REAL: dict[str, Callable[..., IRValue]] = {
    "exp": exponentials.exp,
    "exp2": exponentials.exp_two,
    "expm1": exponentials.exp_minus_one,
    "sigmoid": exponentials.sigmoid,
    "tanh": exponentials.tanh,
    "sinh": _widened(exponentials.sinh),
    "cosh": _widened(exponentials.cosh),
    "log": logarithms.log,
    "log2": logarithms.log_two,
    "log10": logarithms.log_ten,
    "log1p": logarithms.log_one_plus,
    "softplus": logarithms.softplus,
    "logsigmoid": logarithms.logsigmoid,
    "logaddexp": _widened(logarithms.logaddexp),
    "arcsinh": _widened(logarithms.arcsinh),
    "arccosh": _widened(logarithms.arccosh),
    "arctanh": _widened(logarithms.arctanh),
    "sin": trigonometry.sin,
    "cos": trigonometry.cos,
    "tan": trigonometry.tan,
    "arcsin": _widened(arcs.arcsin),
    "arccos": _widened(arcs.arccos),
    "arctan": arcs.arctan,
    "arctan2": _widened(arcs.arctan_of_point),
    "power": powers.power,
    "cbrt": powers.cbrt,
    "hypot": powers.hypot,
    "erf": errors.erf,
    "erfc": _shared("erfc"),
    "erfinv": errors.erfinv,
    "lgamma": _shared("lgamma"),
    "digamma": _shared("digamma"),
    "fmod": remainders.fmod,
    "remainder": remainders.remainder,
    "floor_divide": remainders.floor_divide,
}
"""The functions by the names of NumPy's ufuncs, of float32 and float64; the last three are exact."""

polygamma = _shared("polygamma")
"""The n-th derivative of digamma."""
MOST_SLOPES = 16
"""The highest n for which it is written: of higher ones, factors overflow."""

# Operations with a shorter form for moderate operands, and which these are.
MODERATE: dict[str, Callable[..., IRValue]] = {
    **dict.fromkeys(("sin", "cos", "tan"), trigonometry.is_moderate),
    **dict.fromkeys(("fmod", "remainder", "floor_divide"), remainders.is_moderate),
}


def emit(name: str, *ir_values: IRValue, near: bool = False) -> IRValue:
    """The value of an operation, a key of REAL, of floats ("f") or doubles ("d"), appended where their builder is.

    With `near` they are known to lie inside the bound that `beyond` checks.
    """
    return REAL[name](*ir_values, **({"near": True} if near and name in MODERATE else {}))


def beyond(name: str, *ir_values: IRValue) -> IRValue | None:
    """A bool, true where `emit` needs `near=False`; None for operations that know no difference.

    A loop that has or-ed it over a block, and found nothing, was right to use `near=True` there. It is true of NaN and inf.
    """
    return ~MODERATE[name](*ir_values) if name in MODERATE else None


def emit_by_case(name: str, *ir_values: IRValue) -> IRValue:
    """The same value as `emit`, by the shorter form when no lane is `beyond`: a branch, and code for both.

    For vectors, whose lanes can be asked at once; in scalar code the branch would keep a loop from becoming vector code.
    The builder is left in another block.
    """
    far = beyond(name, *ir_values)
    if far is None:
        return emit(name, *ir_values)
    return either(far, lambda near: [emit(name, *ir_values, near=near)])[0]


def either(far: IRValue, values: Callable[[bool], list[IRValue]]) -> list[IRValue]:
    """The values of `values(True)`, or of `values(False)` where a bool is true in any lane: a branch, and code for both.

    The builder is left in another block.
    """
    return far.ctx.either(far, values)
