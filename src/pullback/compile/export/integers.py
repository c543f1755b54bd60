"""Whole numbers whose arithmetic C lacks or leaves undefined: quotients, remainders, shifts and powers, as NumPy has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..machine.elements import KINDS
from ..machine.indices import strides
from ..mathematics.lanes import ORDERED, REALS, WIDTH
from ..program import Equation, Value
from .kernels import Kernel, over, set_to

if TYPE_CHECKING:
    from .unit import FunctionWriter

SIGNED = {
    "floor_divide": """
    if (b == 0) return 0;
    if (b == -1) return ({type})(0u - ({unsigned})a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
""",
    "trunc_quotient": """
    if (b == 0) return 0;
    return b == -1 ? ({type})(0u - ({unsigned})a) : a / b;
""",
    "remainder": """
    if (b == 0 || b == -1) return 0;
    return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
""",
    "fmod": """
    return b == 0 || b == -1 ? 0 : a % b;
""",
    "right_shift": """
    return a >> (b < 0 || b >= {width} ? {width} - 1 : b);
""",
}
UNSIGNED = {
    "floor_divide": """
    return b == 0 ? 0 : a / b;
""",
    "remainder": """
    return b == 0 ? 0 : a % b;
""",
    "right_shift": """
    return b < {width} ? a >> b : 0;
""",
}
UNSIGNED |= {"trunc_quotient": UNSIGNED["floor_divide"], "fmod": UNSIGNED["remainder"]}
EITHER = {
    "left_shift": """
    return ({unsigned})b < {width} ? ({type})(({unsigned})a << b) : 0;
""",
    "pow": """
    {unsigned} result = 1, base = ({unsigned})a;
    for (; b > 0; b /= 2) {
        if (b % 2) result *= base;
        base *= base;
    }
    return ({type})result;
""",
    "gcd": """
    {unsigned} x = a < 1 ? 0u - ({unsigned})a : ({unsigned})a, y = b < 1 ? 0u - ({unsigned})b : ({unsigned})b;
    while (y) {
        const {unsigned} rest = x % y;
        x = y;
        y = rest;
    }
    return ({type})x;
""",
}
"""What functions of two whole numbers return, of signed ones, of others, and of both."""
SAME = {"power": "pow", "floor_quotient": "floor_divide"}
"""Primitives that are another one for whole numbers."""


def _function(writer: FunctionWriter, name: str, kind: str) -> str:
    """The name of the function of the file; small numbers are computed as C computes them, in 32 bits."""
    signed, wide = kind in ORDERED, 64 if WIDTH[kind] == 64 else 32
    kept = kind if "shift" in name else f"{'i' if signed else 'u'}{wide}"
    full = f"pb_{name}_{kept}"
    body = EITHER.get(name) or (SIGNED if signed else UNSIGNED)[name]
    kinds = {"type": f"{'' if signed else 'u'}int{wide}_t", "unsigned": f"uint{wide}_t", "width": str(WIDTH[kept])}
    text = "PB_INLINE {type} {full}({type} a, {type} b)\n{" + body + "}\n"
    for word, said in (kinds | {"full": full}).items():
        text = text.replace("{" + word + "}", said)
    writer.unit.functions.texts.setdefault(full, text)
    return full


def _place(value: Value, shape: tuple[int, ...], names: list[str]) -> str:
    """The place in an operand that is broadcast to a shape."""
    kept = names[len(shape) - len(value.shape) :]
    terms = zip(kept, strides(value.shape), value.shape, strict=True)
    return " + ".join([f"{step} * {name}" for name, step, size in terms if size > 1]) or "0"


def _written(writer: FunctionWriter, e: Equation) -> None:
    """An operation of whole numbers, element by element."""
    kind, shape = KINDS[e.output.dtype], e.output.shape
    exponent = e.params.get("exponent")
    name = SAME.get(e.name, e.name)
    function = writer.unit.functions.named(name, kind, 2) if kind in REALS else _function(writer, name, kind)
    with over(writer, shape) as names:
        given = [f"{letter}[{_place(value, shape, names)}]" for letter, value in zip("ab", e.inputs, strict=False)]
        if e.name == "pow" and kind in ORDERED:
            about = "pow: a whole number to a negative power"
            writer.block.say(f"if ({given[1]} < 0) return {writer.failure(about)};")
        given += [] if exponent is None else [str(int(exponent))]
        at = _place(e.output, shape, names)
        set_to(writer, f"y[{at}]", kind, f"{function}({', '.join(given)})")


def _whole(e: Equation) -> bool:
    """Whether all is of one kind of whole numbers."""
    exponent = e.params.get("exponent", 0)
    kinds = {value.dtype for value in (*e.inputs, e.output)}
    if e.name == "floor_divide" and e.output.dtype.kind == "f":  # whose remainder is a nest's
        return len(kinds) == 1
    return len(kinds) == 1 and e.output.dtype.kind in "iu" and exponent == int(exponent) and exponent >= 0


KERNELS: dict[str, Kernel] = dict.fromkeys((*SIGNED, *EITHER, *SAME), _written)
CONDITIONS: dict[str, Callable[[Equation], bool]] = dict.fromkeys(KERNELS, _whole)
