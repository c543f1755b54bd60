"""The names of torch that packages use, read from their wheels, none of which is run: `scripts/programs --names FOLDER`.

It writes docs/appendix/torch-names.md. Of names that torch has not (any more), nothing is said.
"""

import ast
import json
import subprocess
import sys
import zipfile
from collections import defaultdict
from pathlib import Path

from pullback.command.names import Reader, missing
from pullback.compat.torch import facade, install

PAGE = Path(__file__).resolve().parents[2] / "docs" / "appendix" / "torch-names.md"
THERE, RAISES, ABSENT = "there", "raises when it is called", "absent"

HEAD = """# Names of torch that packages use

{packages} packages of PyPI, those of `scripts/programs.txt` among them, were unpacked and read, not run (`scripts/programs --names
FOLDER` reads a folder of wheels and writes this page). They use {names} names of torch 2.13. Under `pullback run`, {there} of them
are there, {raises} can be imported, and raise when they are called, and {absent} are absent. A test compares the tables with
pullback. [What a program of yours uses](../how-to/torch-programs.md) is told by `pullback run --check`.

"""
TABLES = {
    "Private names": "Names with an underscore, in a module or before it, that more than one package uses, with how many do.",
    "Public names that are absent": "Those that more than one package uses; most belong to devices, processes, and compilers.",
}

EXISTING = """
import importlib, json, sys, warnings
warnings.simplefilter("ignore")
def there(path):
    parts = path.split(".")
    found = importlib.import_module(parts[0])
    for number, part in enumerate(parts[1:], 2):
        try:
            found = getattr(found, part) if hasattr(found, part) else importlib.import_module(".".join(parts[:number]))
        except Exception:
            return False
    return True
print(json.dumps([path for path in json.load(sys.stdin) if there(path)]))
"""
"""A program that prints which of some names torch has."""


def read(folder):
    """The names of torch that the wheels of a folder use, each with the packages."""
    found = defaultdict(set)
    for wheel in sorted(Path(folder).glob("*.whl")):
        package = wheel.name.partition("-")[0]
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                text = archive.read(name).decode("utf-8", "replace") if name.endswith(".py") else ""
                if "torch" in text:
                    for path in used(text, name):
                        found[path].add(package)
    return {path: sorted(packages) for path, packages in found.items()}


def used(text, name):
    """The names of torch that a module uses."""
    try:
        reader = Reader(Path(name), "")
        reader.visit(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return set()
    return {use.path for use in reader.uses}


def known(path):
    """The part of a name up to what a module of torch has, and whether that is there."""
    parts = path.split(".")
    for count in range(2, len(parts) + 1):
        name = ".".join(parts[:count])
        why = missing(name)
        if why is not None:
            return name, RAISES if why[1] else ABSENT
        if not isinstance(facade_of(name), facade.Facade):
            return name, THERE
    return path, THERE


def facade_of(path):
    """What a name stands for."""
    found = sys.modules["torch"] if path.startswith("torch") else __import__("functorch")
    for part in path.split(".")[1:]:
        found = getattr(found, part, None)
    return found


def write(uses):
    """Write the page of names with their packages."""
    install()
    names, states = defaultdict(set), {}
    for path, packages in uses.items():
        name, states[name] = known(path)
        names[name].update(packages)
    asked = subprocess.run(
        [sys.executable, "-c", EXISTING], input=json.dumps([*names]), capture_output=True, text=True, check=True
    )
    real = {name for name in json.loads(asked.stdout) if "." in name}
    count = {state: sum(states[name] == state for name in real) for state in (THERE, RAISES, ABSENT)}
    packages = {each for name in real for each in names[name]}
    text = HEAD.format(
        packages=len(packages), names=len(real), there=count[THERE], raises=count[RAISES], absent=count[ABSENT]
    )
    private = {name for name in real if any(part[0] == "_" and part[:2] != "__" for part in name.split("."))}
    shown = private, {name for name in real - private if states[name] == ABSENT}
    for (title, said), chosen in zip(TABLES.items(), shown, strict=True):
        rows = sorted((-len(names[name]), name) for name in chosen if len(names[name]) > 1)
        lines = [f"| `{name}` | {-number} | {states[name]} |" for number, name in rows]
        text += "\n".join([f"## {title}", "", said, "", "| name | packages | |", "|---|---|---|", *lines, "", ""])
    PAGE.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
