"""What `export` does: record calls, plan them, refuse what has no code, and write the files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from ..compiled import Compiled
from ..machine.elements import KINDS
from ..machine.fusion import Opaque, Steps
from ..machine.lowering import lowered
from ..program import Equation
from . import casadi, coded, files, languages, loops, surroundings
from .assembly import PlannedSteps
from .bound import Bound, bound, identifier, of_others, together
from .errors import ExportError, missing
from .surroundings import Exported
from .unit import ExportOptions, FunctionWriter, Options, Unit


def export(
    folder: str | os.PathLike[str], functions: Mapping[str, Sequence[Any]], **options: Unpack[ExportOptions]
) -> Path:
    """Write calls of several functions as one C file into a folder, which is returned; what they have in common is there once.

    Tensors that the functions reach by themselves are one state, a struct that all of them are given: after a step of training a
    prediction reads the parameters as they are then.

    Parameters
    ----------
    folder
        Where the files are written.
    functions
        For each name in C a function, compiled or not, and the arguments of its call.
    options
        Those of `Compiled.export`; without a `name` files and state have that of the folder.

    Raises
    ------
    ExportError
        As `Compiled.export`; also if members of the state are parts of one another, or two names in C are the same.
    TypeError
        If `functions` is something else than a dict of functions with their arguments.

    >>> import pullback, tempfile
    >>> def energy(x):
    ...     return (x**2).sum()
    >>> x = pullback.ones(3)
    >>> calls = {"energy": (energy, x), "slope": (pullback.func.grad(energy), x)}
    >>> folder = pullback.export(tempfile.mkdtemp(), calls, name="model")
    >>> sorted(file.name for file in folder.glob("*.h"))
    ['model.h']
    """
    if not _are_calls(functions):
        raise TypeError(
            "export(): functions is a dict that has for each name in C a function and its arguments, {'step': (step, x, y)}"
        )
    calls: dict[str, Call] = {each: (call[0], call[1:], {}) for each, call in functions.items()}
    return exported(folder, calls, Options(**options))


def _are_calls(functions: object) -> bool:
    return isinstance(functions, Mapping) and all(
        isinstance(name, str) and isinstance(call, (tuple, list)) and bool(call) and callable(call[0])
        for name, call in functions.items()
    )


def one(compiled: Compiled, folder: str | os.PathLike[str], given: tuple[Any, Any], options: Sequence[Any]) -> Path:
    """Write the function of one call."""
    chosen = Options(*options)
    title = str(chosen.name or getattr(compiled.function, "__name__", "function"))
    return exported(folder, {title: (compiled, given[0], given[1])}, chosen)


Call = tuple[Any, Sequence[Any], dict[str, Any]]
"""A function, and what it is called with."""


def exported(path: str | os.PathLike[str], calls: Mapping[str, Call], options: Options) -> Path:
    """Write a folder for calls of functions, by their names."""
    options, folder = options.checked(), Path(path)
    title = identifier(str(options.name or ([*calls] if len(calls) == 1 else [folder.resolve().name])[0]), set())
    names = _names(title, calls)
    _check_place(folder)
    if options.abi == "casadi":
        if len(calls) > 1:
            raise ExportError(
                f"{title} cannot be exported for CasADi: it is several functions, so export each by itself"
            )
        (call,) = calls.values()
        found = casadi.externals(_compiled(call[0]), title, *call[1:])
        interface = partial(casadi.source, functions=found)
        return write(folder, title, [each.bound for each in found], options, {"{name}_casadi.c": interface})
    bounds = [bound(_compiled(call[0]), name, *call[1:]) for name, call in zip(names, calls.values(), strict=True)]
    if options.parameters == "embedded":
        written = {slot.key for each in bounds for slot in each.state if slot.written}
        bounds = [each.embedded(written) for each in bounds]
    return write(folder, title, bounds, options)


def _names(title: str, calls: Mapping[str, Call]) -> list[str]:
    """The names of functions in C; none is what the file needs for another."""
    if not calls:
        raise ExportError("there is nothing to export: name functions, each with the arguments of its call")
    names = [identifier(each, set()) for each in calls]
    for name in names:
        others = [other for other in (title, *names) if other != name]
        if names.count(name) > 1 or any(of_others(name, other) for other in others):
            raise ExportError(
                f"{title} cannot be exported: the name {name} is that of another function, or of what the file has for "
                "another: choose another name"
            )
    return names


def _compiled(function: Any) -> Any:
    """A function as a compiled one; of a compiled module what it calls."""
    found = getattr(function, "__dict__", {}).get("_compiled", function)
    return found if isinstance(found, Compiled) else Compiled(found)


def _check_place(folder: Path) -> None:
    """Refuse a folder that nothing can be written to, before the work."""
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists() or each.is_symlink())
    if not there.is_dir():
        raise ExportError(f"nothing can be written to {folder}: {there} is not a folder. Name another, or move it away")
    if not os.access(there, os.W_OK | os.X_OK):
        raise ExportError(f"nothing can be written to {folder}: {there} may not be written to. Name another folder")


def write(
    folder: Path,
    title: str,
    bounds: list[Bound],
    options: Options,
    more: Mapping[str, Callable[[Exported], str]] | None = None,
) -> Path:
    """Write the files of functions that share a C file; `more` are further ones, by their names."""
    unit = Unit(title, options, together(title, bounds))
    functions = [files.WrittenFunction(unit, each, writer(unit, each)) for each in bounds]
    for each in functions:
        _check_sizes(each)
    texts = {
        f"{title}.h": files.header(title, functions, static=options.static),
        f"{title}.c": files.source(title, unit, functions, static=options.static),
    }
    exported = Exported(title, functions, options, sum(map(len, texts.values())))
    targets = surroundings.TARGETS | languages.TARGETS | {**(more or {})}
    texts |= {file.format(name=title): written(exported) for file, written in targets.items()}
    return _placed(folder, texts)


def _check_sizes(function: files.WrittenFunction) -> None:
    """Refuse arrays whose places are no int of C."""
    slots = [(slot.said, slot.value.size) for slot in (*function.bound.inputs, *function.bound.outputs)]
    rooms = [(f"work memory ({name})", size) for name, (_, size) in function.rooms.items()]
    for said, size in (*slots, *rooms):
        if size >= 1 << 31:
            raise ExportError(
                f"{function.name} cannot be exported: {said} has {size:,} elements, and indices in C go to {(1 << 31) - 1:,}"
            )


def _placed(folder: Path, texts: dict[str, str]) -> Path:
    """Write files: all of them, or none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if taken := [file for file in texts if (folder / file).is_dir()]:
            raise ExportError(
                f"nothing is written to {folder}: {taken[0]} is a folder there. Name another, or move it away"
            )
        with tempfile.TemporaryDirectory(dir=folder) as half:
            for file, text in texts.items():
                (Path(half) / file).write_text(text, encoding="utf-8")
            for file in texts:
                os.replace(Path(half) / file, folder / file)
    except OSError as error:
        raise ExportError(f"nothing is written to {folder}: {error.strerror or error}") from error
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
