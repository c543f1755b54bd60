"""Changes of the program that may keep an operation away from its pole, and those that look as if they did.

Whether one helps is known only where the program is run with it: many a mask after the operation does not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from .. import finfo
from .edits import ATOMS, Written
from .nonfinite import kept_out
from .trace import Finding, Fix

NUDGE = {True: ("1e-12", "1e-6", "0.999999"), False: ("1e-4", "0.01", "0.99")}
"""What is nearly 0, a step that is seen beside 1, and what is nearly 1: among numbers of seven digits or more, and of fewer."""
LIBRARIES = {"pullback", "torch"}


class Bound(NamedTuple):
    """What is written after an operand to keep it where an operation has no pole, and the condition under which it is there."""

    text: str
    condition: str


BOUNDS = {
    "above 0": Bound(".clamp(min={tiny})", "{} > 0"),
    "between -1 and 1": Bound(".clamp(-{close}, {close})", "{}.abs() < 1"),
    "above -1": Bound(".clamp(min=-{close})", "{} > -1"),
    "above 1": Bound(".clamp(min=1 + {step})", "{} > 1"),
    "between 0 and 1": Bound(".clamp({step}, 1 - {step})", "({} - 0.5).abs() < 0.5"),
}
"""By the words in which a pole says where its operand is to be kept."""


def mends(finding: Finding) -> Iterator[Fix]:
    """Changes that keep the operation away from where NaN or inf began in it, the likeliest first; a mask after it last."""
    place, step, pole = finding.place, finding.step, kept_out(finding)
    if place is None or step is None or place.column is None or pole is None:
        return
    written = Written(place.file)
    whole = written.at(place, ast.Call) or written.at(place, ast.BinOp)
    operand = None if whole is None else _operand(whole, step.op or "", _libraries(written))
    if whole is None or operand is None:
        return
    dtype = step.outputs[0].dtype
    tiny, beside, close = NUDGE[bool(finfo(dtype).eps < 1e-6)]
    library = next(iter(_libraries(written)), None)
    text = written.segment(operand)
    bare = text if isinstance(operand, ATOMS) else f"({text})"
    whose = "divisor" if pole.subject == "divisor" else f"{pole.subject} of {step.op}"
    why = f"Line {place.line}: the {whose} is kept {pole.keep}"
    bound = BOUNDS.get(pole.keep)
    if bound is not None:
        yield Fix(f"{why}.", [written.appended(operand, bound.text.format(tiny=tiny, step=beside, close=close))])
    elif library is not None:
        other = 1 if whose == "divisor" else tiny
        yield Fix(
            f"{why}: where it is 0 it is {other}.",
            [written.replaced(operand, f"{library}.where({bare} == 0, {other}, {text})")],
        )
        yield Fix(f"{why}: it is at least {tiny}.", [written.appended(operand, f".clamp(min={tiny})")])
    if library is not None:
        condition = ("{} != 0" if bound is None else bound.condition).format(bare)
        masked = f"{library}.where({condition}, {written.segment(whole)}, 0)"
        mask = f"Line {place.line}: a mask after {step.op}, whose slope is multiplied by 0 there."
        yield Fix(mask, [written.replaced(whole, masked)], guess=True)


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
