"""Changes of the program that may keep an operation away from its pole, and those that look as if they did.

Whether one helps is known only where the program is run with it: many a mask after the operation does not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from .edits import ATOMS, Written
from .trace import Finding, Fix

NEAR, CLOSE = "1e-12", 0.999999
"""What is nearly 0, and nearly 1 among numbers of seven digits."""
DIVIDES = {"div", "reciprocal", "remainder", "fmod"}
LIBRARIES = {"pullback", "torch"}


class Guard(NamedTuple):
    """What is written after an operand to keep it away from a pole, why, and the condition under which it is."""

    text: str
    why: str
    condition: str


POSITIVE = Guard(f".clamp(min={NEAR})", f"{{}} gets nothing below {NEAR}.", "{} > 0")
INSIDE = Guard(f".clamp({-CLOSE}, {CLOSE})", f"{{}} gets nothing outside of {-CLOSE} to {CLOSE}.", "{}.abs() < 1")
GUARDS = {
    **dict.fromkeys(("sqrt", "rsqrt", "log", "log2", "log10", "pow", "digamma", "lgamma", "hypot", "xlogy"), POSITIVE),
    **dict.fromkeys(("acos", "asin", "atanh", "erfinv"), INSIDE),
    "log1p": Guard(f".clamp(min={-CLOSE})", f"{{}} gets nothing below {-CLOSE}.", "{} > -1"),
    "acosh": Guard(".clamp(min=1.000001)", "{} gets nothing below 1.000001.", "{} > 1"),
    "logit": Guard(
        f".clamp(1e-6, {CLOSE})", f"{{}} gets nothing outside of 1e-6 to {CLOSE}.", "({} - 0.5).abs() < 0.5"
    ),
}
"""By the operation; where it divides, no bound keeps it from 0 on both sides."""


def mends(finding: Finding) -> Iterator[Fix]:
    """Changes that keep the operation away from where NaN or inf began in it, the likeliest first; a mask after it last."""
    place, step = finding.place, finding.step
    if place is None or step is None or place.column is None or step.op not in GUARDS.keys() | DIVIDES:
        return
    written = Written(place.file)
    whole = written.at(place, ast.Call) or written.at(place, ast.BinOp)
    operand = None if whole is None else _operand(whole, step.op or "", _libraries(written))
    if whole is None or operand is None:
        return
    library = next(iter(_libraries(written)), None)
    at, text = f"Line {place.line}: ", written.segment(operand)
    bare = text if isinstance(operand, ATOMS) else f"({text})"
    guard = GUARDS.get(step.op or "")
    if guard is not None:
        yield Fix(at + guard.why.format(step.op), [written.appended(operand, guard.text)])
    elif library is not None:
        instead = f"{library}.where({bare} == 0, 1, {text})"
        yield Fix(f"{at}where the divisor is 0 it is 1.", [written.replaced(operand, instead)])
        yield Fix(f"{at}the divisor is at least {NEAR}.", [written.appended(operand, POSITIVE.text)])
    if library is not None:
        condition = ("{} != 0" if guard is None else guard.condition).format(bare)
        masked = f"{library}.where({condition}, {written.segment(whole)}, 0)"
        yield Fix(
            f"{at}a mask after {step.op}, whose slope is multiplied by 0 there.",
            [written.replaced(whole, masked)],
            guess=True,
        )


def _operand(whole: ast.expr, op: str, libraries: list[str]) -> ast.expr | None:
    """The operand that is at the pole, as it is written."""
    if isinstance(whole, ast.BinOp):
        wanted = {"div": ast.Div, "pow": ast.Pow}.get(op)
        if wanted is None or not isinstance(whole.op, wanted):
            return None
        return whole.right if op == "div" else whole.left
    if not isinstance(whole, ast.Call):
        return None
    function = whole.func
    name = (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )
    owned = isinstance(function, ast.Attribute) and ast.unparse(function.value) not in libraries
    given = [function.value, *whole.args] if isinstance(function, ast.Attribute) and owned else [*whole.args]
    place = 1 if op in {"div", "xlogy"} else 0
    names = {"div": {"div", "divide", "true_divide"}}.get(op, {op})
    return given[place] if name in names and place < len(given) and not isinstance(given[place], ast.Starred) else None


def _libraries(written: Written) -> list[str]:
    """The names that a file has for this package, or for torch, whose place it takes."""
    imports = (node for node in ast.walk(written.text.tree) if isinstance(node, ast.Import))
    return [name.asname or name.name for node in imports for name in node.names if name.name in LIBRARIES]
