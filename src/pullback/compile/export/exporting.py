"""What `export` does: record calls, plan them, refuse what has no code, and write the files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ..machine.elements import KINDS
from ..machine.fusion import Opaque, Steps
from ..machine.lowering import lowered
from ..program import Equation
from . import casadi, coded, files, languages, loops, surroundings
from .assembly import PlannedSteps
from .bound import Bound, bound, identifier
from .errors import ExportError, missing
from .surroundings import Exported
from .unit import FunctionWriter, Options, Unit


def export(
    compiled: Any, path: str | os.PathLike[str], args: Sequence[Any], kwargs: dict[str, Any], options: dict[str, Any]
) -> Path:
    """Write a folder for one call of a function."""
    chosen = Options(**options).checked()
    title = identifier(str(chosen.name or getattr(compiled.function, "__name__", "function")), set())
    if chosen.abi == "plain":
        return write(Path(path), title, [bound(compiled, title, args, kwargs)], chosen)
    found = casadi.externals(compiled, title, args, kwargs)
    interface = partial(casadi.source, functions=found)
    return write(Path(path), title, [each.bound for each in found], chosen, {"{name}_casadi.c": interface})


def write(
    folder: Path,
    title: str,
    bounds: list[Bound],
    options: Options,
    more: dict[str, Callable[[Exported], str]] | None = None,
) -> Path:
    """Write the files of functions that share a C file; `more` are further ones, by their names."""
    unit = Unit(title, options)
    functions = [files.WrittenFunction(unit, each, writer(unit, each)) for each in bounds]
    texts = {
        f"{title}.h": files.header(title, functions, static=options.static),
        f"{title}.c": files.source(title, unit, functions, static=options.static),
    }
    exported = Exported(title, functions, options, sum(map(len, texts.values())))
    targets = surroundings.TARGETS | languages.TARGETS | (more or {})
    texts |= {file.format(name=title): written(exported) for file, written in targets.items()}
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        (folder / file).write_text(text, encoding="utf-8")
    return folder


def writer(unit: Unit, function: Bound) -> FunctionWriter:
    """The writer of a function, if all of it has code."""
    odd = [slot for slot in (*function.inputs, *function.outputs) if slot.value.dtype not in KINDS]
    if odd:
        raise ExportError(f"{function.name} cannot be exported: {odd[0].said} is {odd[0].value.dtype}, which C lacks")
    plan = PlannedSteps(lowered(function.program))
    if without := [*_without_code(plan)]:
        raise missing(function.name, without)
    names = {}
    for slot, value in zip(function.inputs, plan.program.inputs, strict=True):
        names[value] = f"state->{slot.name}" if slot.state else slot.name
    for slot, value in zip(function.outputs, plan.program.outputs, strict=True):
        names[value] = slot.name
    return FunctionWriter(unit, function.name, plan, names)


def _without_code(plan: PlannedSteps) -> Sequence[Equation]:
    """The equations of a plan, and of the bodies of its loops, that have no code."""
    found: list[Equation] = []
    for piece in plan.pieces:
        step = piece.step
        if isinstance(step, Opaque | Steps) and step.equation.name in loops.WRITERS:
            for body in plan.inner[piece]:
                found += _without_code(body)
        elif isinstance(step, Opaque) and not coded.exportable(step.equation):
            found.append(step.equation)
    return found
