"""The other run of `pullback explain --against`: a file, or a process with another script, checkout, commit, or torch."""

from __future__ import annotations

import io
import os
import sys
import tarfile
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from .. import __file__ as package
from ..explain.processes import run_program
from ..explain.trails import Trail, read_trail

NO_TORCH = (
    "torch is not installed here: where it is, `pullback explain --under-torch --trail torch.trail ...` records the run, "
    "and --against torch.trail compares it"
)


class OtherRunError(ValueError):
    """Raised if there is no other run to compare with."""


class OtherRun(NamedTuple):
    """The program as the command line has it, with its arguments, and how it is run."""

    program: list[str]
    """A script, or -m and a module, or -c and code."""
    arguments: list[str]
    options: list[str]
    folder: str
    """That in which the command was given."""


def other_run(what: str, run: OtherRun) -> Trail:
    """The trail of the other run.

    Parameters
    ----------
    what
        A trail's file, 'torch', a script, a folder that has the same script, or a commit of its repository.
    run
        The program, and how it is run.

    Raises
    ------
    OtherRunError
        If there is none.
    """
    path = Path(run.folder, what)
    script = Path(run.folder, run.program[0]).resolve() if len(run.program) == 1 else None
    if path.suffix == ".trail":
        try:
            return read_trail(path)
        except (OSError, ValueError) as error:
            raise OtherRunError(str(error)) from None
    if what == "torch":
        if find_spec("torch") is None:
            raise OtherRunError(NO_TORCH)
        options = [each for each in run.options if each != "--torch"]
        return _recorded(run._replace(options=["--under-torch", *options]))
    if path.is_file():
        return _recorded(run._replace(program=[str(path)]))
    if script is None:
        raise OtherRunError(f"--against {what}: only a script can be run from another folder or a commit")
    if path.is_dir():
        return _in_folder(path, script, run)
    with tempfile.TemporaryDirectory(prefix="pullback-") as copy:
        top = _unpacked(what, script, copy)
        return _in_folder(Path(copy), script, run, top)


def _in_folder(checkout: Path, script: Path, run: OtherRun, top: Path | None = None) -> Trail:
    """The run of the same script in another folder, with the pullback that lies in it, if one does."""
    parts = script.parts
    ends = [Path(*parts[n:]) for n in range(1, len(parts))] if top is None else [script.relative_to(top)]
    there = next((found for end in ends if (found := checkout / end).is_file()), None)
    homes = (each for each in (checkout / "src", checkout) if (each / "pullback" / "__init__.py").is_file())
    home = next(homes, None)
    if there is None and home is None:
        raise OtherRunError(f"--against {checkout}: there is no {script.name} in it, and no pullback")
    folder = Path(run.folder).resolve()
    if there is not None and top is not None and folder.is_relative_to(top):
        folder = checkout / folder.relative_to(top)
    elif there is not None and top is None:
        folder = checkout
    return _recorded(run._replace(program=[str(there or script)], folder=str(folder)), home)


def _unpacked(commit: str, script: Path, copy: str) -> Path:
    """The files of a commit in a folder; returns the top folder of the script's repository."""
    refused = OtherRunError(
        f"--against {commit}: neither a file, a folder, 'torch' nor a commit of the script's repository"
    )
    said = []
    for asked in ("--show-toplevel",), ("--verify", "--end-of-options", f"{commit}^{{commit}}"):
        try:
            done = run_program(["git", "-C", str(script.parent), "rev-parse", *asked])
        except OSError:
            raise refused from None
        if done.returncode:
            raise refused
        said.append(done.stdout.decode().strip())
    top, found = said
    packed = run_program(["git", "-C", top, "archive", "--format=tar", found])
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as files:
        files.extractall(copy, filter="data")
    return Path(top).resolve()


def _recorded(run: OtherRun, home: Path | None = None) -> Trail:
    """The trail of a run in a process of its own."""
    paths = [str(home or Path(package).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    with tempfile.TemporaryDirectory(prefix="pullback-") as place:
        file = str(Path(place, "other.trail"))
        command = [
            sys.executable,
            "-m",
            "pullback",
            "explain",
            "--trail",
            file,
            *run.options,
            *run.program,
            *run.arguments,
        ]
        ran = run_program(command, folder=run.folder, environment=environment)
        said = ran.stderr.decode(errors="replace").strip().splitlines()
        if Path(file).exists() and (found := read_trail(file)).entries:
            if ran.returncode:
                print(
                    "pullback explain: the other run did not come to its end:", *said[-3:-1], sep="\n", file=sys.stderr
                )
            return found
        raise OtherRunError(f"nothing was recorded of the other run{f': {said[-1]}' if said else ''}")
