"""Passes: functions from program to program that leave less to do.

`PASSES` has them by name, in order. Exact ones change no bit of any result; the others, `fuse=True`, may round in another
way, and send NaN and infinities where the program did. Those that go through a program from its beginning are rules of
one sweep of the builder, so that `simplify` goes through it once for all of them; the others come before and after it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from typing import NamedTuple

from ...extend import warn
from ..program import Program, require_program
from .buffers import put_together
from .building import Builder, Table
from .contractions import contracted
from .cumulative import cumulated
from .dead import without_dead_code
from .identities import exact
from .layouts import shapes
from .pieces import side_by_side
from .recurrence import decomposed
from .rolling import rolled
from .rounding import rounded
from .rules import joined
from .twice import run_once


class Pass(NamedTuple):
    """A pass: rules, what the builder is to do besides, or a function, which is applied before the sweep and, if it may find
    more then, `again` after it; called, it is applied on its own.
    """

    name: str
    rules: Table
    exact: bool = True
    fold: bool = False
    share: bool = False
    define: bool = False
    function: Callable[[Program], Program] | None = None
    again: bool = True

    def __call__(self, program: Program) -> Program:
        """The program after this pass alone."""
        return _apply([self], program, strict=self.exact)


PASSES = {
    each.name: each
    for each in (
        Pass("loops run twice", {}, function=run_once),
        Pass("dead code", {}, function=without_dead_code),
        Pass("pieces", {}, exact=False, function=side_by_side),
        Pass("buffers", {}, exact=False, function=put_together, again=False),
        Pass("loops", {}, exact=False, function=rolled, again=False),
        Pass("identities", exact.table),
        Pass("shapes", shapes.table),
        Pass("decompositions", decomposed.table, exact=False, define=True),
        Pass("cumulative loops", cumulated.table, exact=False),
        Pass("rounding identities", rounded.table, exact=False),
        Pass("contractions", contracted.table, exact=False),
        Pass("constant folding", {}, fold=True),
        Pass("common subexpressions", {}, share=True),
    )
}


@functools.lru_cache(maxsize=64)
def _rules(names: tuple[str, ...]) -> Table:
    return joined(*[PASSES[name].rules for name in names])


def _apply(passes: Collection[Pass], program: Program, *, strict: bool) -> Program:
    functions = [(each.function, each.again) for each in passes if each.function is not None]
    for function, _ in functions:
        program = function(program)
    sweeping = [each for each in passes if each.function is None]
    if not sweeping:
        return program
    rules = _rules(tuple([each.name for each in sweeping]))
    fold, share = any(each.fold for each in sweeping), any(each.share for each in sweeping)
    inner = functools.partial(_apply, passes, strict=strict)
    builder = Builder(program, rules, strict=strict, fold=fold, share=share, inner=inner)
    builder.defined = (lambda _: True) if any(each.define for each in sweeping) else None
    program = builder.rewrite()
    for primitive, error in builder.unread:
        if primitive.of_user:
            warn(
                f"compile: {primitive.short_name} is computed as a whole, as its definition cannot be read as a program: {error}"
            )
    for function, again in functions:
        program = function(program) if again else program
    return program


def simplify(program: Program, without: Collection[str] = (), *, fuse: bool = True) -> Program:
    """The program after all passes but those named in `without`; without `fuse`, after the exact ones.

    Raises
    ------
    ValueError
        If there is no pass of a name.
    """
    require_program("simplify", program)
    if unknown := [name for name in without if name not in PASSES]:
        raise ValueError(f"there is no pass {unknown[0]!r}: passes are {', '.join(PASSES)}")
    chosen = [each for each in PASSES.values() if each.name not in without and (fuse or each.exact)]
    return _apply(chosen, program, strict=not fuse)
