"""The mathematical functions that a file needs: each is written once, after those that it calls."""

from __future__ import annotations

from collections.abc import Callable

from .. import scalars
from ..mathematics.lanes import FRACTION, IRValue, Target
from .code import CodeBlock, Expression, Rendered
from .words import STORED, SUFFIX, TYPES, CContext

LIBM = {
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "tanh": "tanh", "sinh": "sinh", "cosh": "cosh", "log": "log",
    "log2": "log2", "log10": "log10", "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin",
    "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "power": "pow", "cbrt": "cbrt", "hypot": "hypot",
    "erf": "erf", "erfc": "erfc", "lgamma": "lgamma", "fmod": "fmod", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh",
}  # fmt: skip
"""Functions that C's library has, by NumPy's names."""


def _rint(x: IRValue) -> IRValue:
    """The nearest whole number, by adding one that has no digits after the point."""
    large = x.like(2.0 ** FRACTION[x.kind])
    size = abs(x)
    return (size < large).select(((size + large) - large).copysign(x), x)


def _floor(x: IRValue) -> IRValue:
    near = _rint(x)
    return (near > x).select(near - 1, near).copysign(x)


def _ceil(x: IRValue) -> IRValue:
    near = _rint(x)
    return (near < x).select(near + 1, near).copysign(x)


def _trunc(x: IRValue) -> IRValue:
    size = abs(x)
    near = _rint(size)
    return (near > size).select(near - 1, near).copysign(x)


ROUNDINGS = {"rint": _rint, "floor": _floor, "ceil": _ceil, "trunc": _trunc}
"""Operations that are calls of C's library on some processors, and so are functions of the file."""


class MathFunctions:
    """The functions and the tables of a file. `own` are formulas of ours; otherwise C's library is called where it can be."""

    def __init__(self, target: Target, *, own: bool = True) -> None:
        self.target, self.own = target, own
        self.texts: dict[str, str] = {}
        self.tables: dict[str, list[float]] = {}
        self._count = 0

    def fresh(self, letter: str) -> str:
        """A name that is used once in a file."""
        self._count += 1
        return f"{letter}{self._count}"

    def processor(self, name: str, kind: str) -> str:
        """The name of the function for an operation of processors."""
        if name in ROUNDINGS and self.own:
            return self.formula(name, kind, 1, ROUNDINGS[name])
        return name + SUFFIX[kind]

    def named(self, name: str, kind: str, count: int, *, near: bool = False) -> str:
        """The name of a mathematical function of so many operands; `near`, where they are moderate."""
        if not self.own and name in LIBM:
            return LIBM[name] + SUFFIX[kind]
        if near:
            return self.formula(f"{name}_near", kind, count, lambda *x: scalars.emit(name, *x, near=True))
        return self.formula(name, kind, count, lambda *x: scalars.emit_by_case(name, *x))

    def beyond(self, name: str, kind: str, count: int) -> str | None:
        """The name of the function that says whether operands are not moderate; None for functions that know no difference."""
        if name not in scalars.MODERATE or (not self.own and name in LIBM):
            return None

        def far(*operands: IRValue) -> IRValue:
            found = scalars.beyond(name, *operands)
            assert found is not None
            return found

        return self.formula(f"{name}_far", kind, count, far)

    def formula(self, name: str, kind: str, count: int, formula: Callable[..., IRValue]) -> str:
        """The name of the function of a formula, which is written if it is not there yet."""
        full = f"pb_{name}_{kind}"
        if full not in self.texts:
            self._write(full, kind, "abc"[:count], formula)
        return full

    def _write(self, full: str, kind: str, operands: str, formula: Callable[..., IRValue]) -> None:
        block = CodeBlock()
        words = CContext(block, self, self.target)
        found = formula(*[IRValue(words, kind, Expression(kind, (name,), number=0)) for name in operands])
        block.say("return ", found.value, ";")
        arguments = ", ".join(f"{STORED[kind]} {name}" for name in operands)
        lines = Rendered(block, TYPES, {f"s{number}" for number in range(self._count + 1)}).lines
        head = f"PB_INLINE {TYPES[found.kind]} {full}({arguments})"
        self.texts[full] = "\n".join([head, "{", *lines, "}", ""])
