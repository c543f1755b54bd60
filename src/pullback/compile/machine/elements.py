"""The table of elementwise primitives with their code, in LLVM or C.

An entry is a function of IR values (see `mathematics.lanes`) and of the primitive's parameters. For NaN, infinities, signed zeros
and ties it gives what NumPy gives.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import scalars
from ..mathematics.arithmetic import cast, maximum, minimum, plus, times, truth
from ..mathematics.lanes import REALS, IRValue

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


def call(name: str, *ir_values: IRValue) -> IRValue:
    """A mathematical function by the name of NumPy's ufunc."""
    return ir_values[0].ctx.function(name, *ir_values)


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
    if name == "astype" and output == np.uint32:  # NumPy's results for reals that do not fit depend on where they lie
        return inputs[0].kind != "f"
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
