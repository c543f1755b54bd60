"""The page of programs: for each, what was predicted and what happened, docs/appendix/torch-packages.md.

`scripts/programs --write [NAME ...]` runs programs and replaces their rows; a test holds the versions to scripts/programs.txt.
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "appendix" / "torch-packages.md"
ROW = re.compile(r"^\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \| (.*?) \|$", re.MULTILINE)
IMPORTED = {"sklearn": "scikit-learn", "laplace": "laplace-torch", "ignite": "pytorch-ignite", "ot": "POT"}
"""Packages that are imported by another name than they are installed by; underscores and hyphens do not count."""

HEAD = """# Packages written for torch, predicted and run

Each row is a program of [tests/programs](../../tests/programs/), run with torch 2.13.0 and, under `pullback run`, with pullback, on the same
weights and data. `scripts/programs --write NAME ...` runs programs and writes their rows; a test holds the versions of packages to
`scripts/programs.txt`. *Predicted* is what `pullback run --check` said before: that a program runs, or stops as it is imported, or
how many names are missing in functions of the packages, most of which it does not call. *Happened* is `equal` where all numbers
differ by less than 1e-3 of themselves, or 1e-5; the greatest difference follows. Memory is the peak of the process,
over torch's. {counts}

| program | packages | predicted | happened | memory |
|---|---|---|---|---|
"""


def pinned():
    """The versions of scripts/programs.txt, by the names of packages."""
    lines = (ROOT / "scripts" / "programs.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and line[0] != "#"]
    return {name.lower().replace("_", "-"): f"{name} {version}" for name, version in pairs}


def functions():
    """The syntax trees of all programs, by their names."""
    found = {}
    for module in sorted(Path(__file__).parent.glob("*.py")):
        for node in ast.parse(module.read_text(encoding="utf-8")).body:
            marks = getattr(node, "decorator_list", ())
            if module.name != "hips.py" and any(getattr(mark, "id", "") == "program" for mark in marks):
                found[node.name] = node
    return found


def packages(function):
    """The packages that a program imports, with the versions of scripts/programs.txt."""
    versions, names = pinned(), []
    for node in ast.walk(function):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module)
    tops = (name.partition(".")[0] for name in names)
    known = (versions.get(IMPORTED.get(top, top).lower().replace("_", "-")) for top in tops)
    return ", ".join(dict.fromkeys(filter(None, known)))


def rows():
    """The rows of the page, by the names of programs."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    return {found[0]: found[1:] for found in ROW.findall(text)}


def write(results):
    """Replace the rows of programs by what running them has given, as `__main__` collects it."""
    known, programs = rows(), functions()
    for name, (kind, text, said, memory) in results.items():
        if name in programs:
            known[name] = (packages(programs[name]), said, f"{kind}, {text}", memory)
    kept = {name: known[name] for name in sorted(known) if name in programs}
    kinds = [row[2].partition(",")[0] for row in kept.values()]
    foreseen = sum(row[1].startswith("runs") == row[2].startswith("equal") for row in kept.values())
    counts = f"{len(kept)} programs: {', '.join(f'{kinds.count(kind)} {kind}' for kind in dict.fromkeys(kinds))}; {foreseen} were foreseen."
    lines = [f"| `{name}` | {' | '.join(row)} |" for name, row in kept.items()]
    PAGE.write_text(HEAD.format(counts=counts) + "\n".join(lines) + "\n", encoding="utf-8")
