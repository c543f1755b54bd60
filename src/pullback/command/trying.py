"""Trying fixes: the program runs again with each, in a process of its own that may change nothing but itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..explain.edits import changed
from ..explain.numbers import counted
from ..explain.sources import text_of
from .measuring import MEASURED, Measure
from .trial import Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..explain.sources import Place
    from ..explain.trace import Call, Change, Failure, Fix


SECONDS = 5
"""How long the program may run in one trial."""
BEGINNING = 15
"""How long its process may take to begin, on a machine that is busy."""
IN_ALL = 20.0
"""The number of seconds after which no further fix is tried."""
WANTED = 3
"""The number of fixes that help after which no further one is tried."""
TO_THE_END = "the program then runs to its end"


class Outcome(NamedTuple):
    """How a trial ended, and how often the statement that failed was passed before."""

    ended: str
    detail: str
    passed: int


class Script(NamedTuple):
    """A script with its arguments, and whether pullback stands in for torch everywhere."""

    file: str
    arguments: Sequence[str]
    torch: bool
    folder: str
    """The folder in which the program began."""


def try_fixes(program: Script, failure: Failure, took: float) -> str | None:
    """Run a program with each of the fixes, keep those that help, and say what was done; None if nothing was.

    A fix is tried only where the program, unchanged, fails in such a process as it did before.
    """
    if not failure.fixes or failure.place is None or took > SECONDS:
        return None
    begun = time.monotonic()
    before = _run(program, failure.place, [])
    if before.ended != "raised" or not before.detail.startswith(f"{failure.raised or failure.type}:"):
        return None
    helped: list[Fix] = []
    count = 0
    for fix in failure.fixes:
        if len(helped) == WANTED or time.monotonic() - begun > IN_ALL:
            break
        count += 1
        fix.tried = _told(_run(program, failure.place, fix.changes), before.passed)
        helped += [fix] if fix.tried is not None else []
    failure.fixes = helped
    with_it = "it runs with none of them" if not helped else f"it runs with {len(helped)}"
    return f"the program was run again with {counted(count, 'change')}: {with_it} (--no-try runs nothing again)"


def _told(outcome: Outcome, before: int) -> str | None:
    """What a trial showed; None if it did not help."""
    if outcome.ended == "done":
        return TO_THE_END
    if outcome.passed <= before or outcome.ended == "raised":
        return None
    if outcome.ended == "late":
        return f"the program then passes this line, and was stopped after {SECONDS} s"
    if outcome.ended == "refused":
        return f"the program then passes this line, and was stopped before it {outcome.detail}"
    return None


def try_mends(program: Script, calls: Sequence[Call], took: float) -> str | None:
    """Run a program with each change against the first NaN or inf of its calls, and say what was done; None if nothing was.

    Those that help keep the gradient that they give; of the others, those that still give NaN or inf are kept apart.
    """
    number, finding = next(
        ((n, each) for n, call in enumerate(calls) for each in call.findings if each.fixes), (0, None)
    )
    place = None if finding is None else finding.place
    if finding is None or place is None or took > SECONDS:
        return None
    wanted = number, finding.way[-1].to.name if finding.way else ""
    before = _measure(program, place, [], wanted)
    if before is None or not before.bad:
        return None
    tried: list[tuple[Fix, Measure]] = []
    begun = time.monotonic()
    for fix in finding.fixes:
        found = None if time.monotonic() - begun > IN_ALL else _measure(program, place, fix.changes, wanted)
        if found is not None:
            fix.tried = found.told(before)
            tried.append((fix, found))
    if not tried:
        return None
    unknown = [fix for fix in finding.fixes if fix.tried is None]
    finding.fixes = [*(fix for fix, found in tried if found.helps), *unknown]
    finding.vain = [fix for fix, found in tried if found.bad]
    helped = sum(found.helps for _, found in tried)
    if not helped and not all(fix.guess for fix in finding.vain):
        finding.fix = ""  # it advises what has just been seen not to help
    with_it = "its numbers are finite with none of them" if not helped else f"its numbers are finite with {helped}"
    return f"the program was run again with {counted(len(tried), 'change')}: {with_it} (--no-try runs nothing again)"


def _measure(program: Script, place: Place, changes: Sequence[Change], wanted: tuple[int, str]) -> Measure | None:
    """What a call gives when the program runs with changes; None if it does not come to it."""
    outcome = _run(program, place, changes, *wanted)
    return Measure(**json.loads(outcome.detail)) if outcome.ended == MEASURED else None


def _run(program: Script, place: Place, changes: Sequence[Change], call: int | None = None, leaf: str = "") -> Outcome:
    """Run the program in a process of its own, with changes of its text."""
    files = {program.file, place.file, *(change.place.file for change in changes)}
    texts = {
        file: "\n".join(changed(text_of(file).lines, [each for each in changes if each.place.file == file])) + "\n"
        for file in files
    }
    argv, folder = [program.file, *program.arguments], str(Path(program.folder, program.file).resolve().parent)
    plan = Plan(argv, folder, program.torch, texts, place.file, place.line, SECONDS, call, leaf)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PULLBACK_CACHE": "off"}
    try:
        ran = subprocess.run(
            [sys.executable, "-B", "-P", "-m", "pullback.command.trial"],
            input=json.dumps(plan._asdict()).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS + BEGINNING,
            check=False,
            env=environment,
            cwd=program.folder,
        )
    except (subprocess.TimeoutExpired, OSError) as error:
        return Outcome("failed", str(error), 0)
    *_, last = ran.stdout.splitlines() or [b""]
    if not last:
        return Outcome("failed", f"exit code {ran.returncode}", 0)
    return Outcome(**json.loads(last))
