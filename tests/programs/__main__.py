"""Runs programs written for torch beside torch, and prints how they compare: scripts/programs [--json FILE] [name ...].

Each program runs in a process of its own, first with torch and then with pullback, and prints its numbers, its seconds with those
of its imports, and the peak of its process's memory as a line of JSON; with `--one NAME` it is this process that does so.
`--json FILE` writes all of it to a file. `--suite FOLDER`, the unpacked source distribution of transformers from PyPI, runs
its own tests of three models instead; `--names FOLDER`, of wheels, writes docs/appendix/torch-names.md, and `--write` the rows of
what is run in docs/appendix/torch-packages.md. `--autograd` runs programs for HIPS autograd beside it. What
`pullback run --check` says beforehand of each program is printed beside what happened.
"""

import argparse
import ast
import functools
import importlib
import inspect
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

LONGEST = 900
"""Seconds after which a program is given up."""

KINDS = ("equal", "different", "fails", "torch fails")


def programs():
    """The programs that use packages, by their names."""
    for name in ("frameworks", "layers", "sciences"):
        importlib.import_module(f"{__package__}.{name}")
    return importlib.import_module(f"{__package__}.packages").PROGRAMS


def one(name):
    """Run a program here, and print a line of JSON."""
    began = time.perf_counter()
    import torch

    torch.manual_seed(0)
    try:
        program = programs().get(name) or functools.partial(
            importlib.import_module(f"{__package__}.architectures").run, name
        )
        found = {"numbers": [*map(float, program())]}
    except Exception as error:  # noqa: BLE001  # told in the table
        place = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {error}".partition("\n")[0]
        found = {"error": f"{text[:160]} ({place.filename[-50:]}:{place.lineno})"}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({**found, "seconds": time.perf_counter() - began, "megabytes": peak}), flush=True)


def result(name, under=()):
    """What a program prints in a process of its own."""
    command = [sys.executable, "-W", "ignore", *under, "-m", __package__, "--one", name]
    try:
        done = subprocess.run(
            command, check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        return {"error": f"not done in {LONGEST} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if lines else {"error": f"the process ended with {done.returncode}"}


def predicted(name):
    """What `pullback run --check` says of a program: that it runs, that it stops as it is imported, or what may raise."""
    function = programs().get(name)
    if function is None:  # an architecture
        return "runs"
    (defined,) = ast.parse(inspect.getsource(function)).body
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, f"{name}.py")
        script.write_text("\n".join(["import torch", *map(ast.unparse, defined.body)]), encoding="utf-8")
        command = [sys.executable, "-W", "ignore", "-m", "pullback", "run", "--check", str(script)]
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    last = done.stdout.strip().rpartition("\n")[2]
    found = re.search(r"(\d+) missing, (\d+) as it is imported", last)
    if found is None:
        return "runs" if "all available" in last else f"no answer: {last[:80]}"
    return "stops" if int(found[2]) else f"runs but for {found[1]} names in functions"


def compared(theirs, ours):
    """One of KINDS, and what is to be said."""
    if "error" in theirs:
        return "torch fails", theirs["error"]
    if "error" in ours:
        return "fails", ours["error"]
    pairs = list(zip(theirs["numbers"], ours["numbers"], strict=False))
    off = max(abs(a - b) / max(abs(a), 0.01) for a, b in pairs)
    same = len(theirs["numbers"]) == len(ours["numbers"]) and off < 1e-3
    return (
        "equal" if same else "different",
        f"{off:.0e}, {ratio(theirs, ours, 'seconds')} of torch's time, {ratio(theirs, ours, 'megabytes')} of its memory",
    )


def ratio(theirs, ours, what):
    """Ours over theirs, as text."""
    return f"{ours[what] / theirs[what]:.2f}"


def main(names, file, onto_page=False):
    """Print the table; 1 if a program fails, or gives other numbers."""
    from . import architectures

    counts = dict.fromkeys(KINDS, 0)
    rows, outcomes = {}, Counter()
    for name in names or [*programs(), *architectures.ARCHITECTURES]:
        theirs, ours = result(name), result(name, ["-m", "pullback", "run"])
        kind, text = compared(theirs, ours)
        counts[kind] += 1
        said = predicted(name)
        outcomes[said.partition(" ")[0], kind] += 1
        rows[name] = {"kind": kind, "predicted": said, "torch": theirs, "pullback": ours}
        if onto_page:
            memory = ratio(theirs, ours, "megabytes") if kind in KINDS[:2] else ""
            page = importlib.import_module(f"{__package__}.page")
            page.write({name: (kind, text.partition(",")[0], said, memory)})
        print(f"{name:28} {kind:12} {text}; predicted: {said}", flush=True)
        if file:
            Path(file).write_text(json.dumps(rows, indent=1), encoding="utf-8")
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    print(", ".join(f"said {said}, was {kind}: {count}" for (said, kind), count in outcomes.items()))
    for what in ("seconds", "megabytes"):
        ratios = [row["pullback"][what] / row["torch"][what] for row in rows.values() if row["kind"] == "equal"]
        if ratios:
            print(
                f"{what}, over torch's: median {statistics.median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}"
            )
    return int(counts["different"] + counts["fails"] > 0)


STUBS = {
    "exporters/test_export.py": "class ExportTesterMixin: pass",
    "generation/test_utils.py": "class GenerationTesterMixin: pass",
    "utils/test_configuration_utils.py": "config_common_kwargs = {}",
}
"""What the source distribution of transformers leaves out of its tests, and the tests of models import."""


def suite(folder):
    """Run transformers' own tests of three models on both sides, and print how many of torch's pass; 1 if one does not."""
    tests = Path(folder, "tests")
    shutil.copy(Path(__file__).with_name("suite.py"), tests / "test_three_models.py")
    (tests / "__init__.py").touch()
    for name, text in STUBS.items():
        (tests / name).parent.mkdir(exist_ok=True)
        (tests / name).with_name("__init__.py").touch()
        (tests / name).write_text(text + "\n", encoding="utf-8")
    passed = []
    for under in ([], ["-m", "pullback", "run"]):
        command = [
            sys.executable,
            *under,
            "-m",
            "pytest",
            "-q",
            "-rA",
            "-p",
            "no:cacheprovider",
            "tests/test_three_models.py",
        ]
        environment = {
            **os.environ,
            "HF_HUB_OFFLINE": "1",
            "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "src"),
        }
        done = subprocess.run(command, cwd=folder, env=environment, check=False, stdout=subprocess.PIPE, text=True)
        passed.append({line for line in done.stdout.splitlines() if line.startswith("PASSED tests")})
    missing = sorted(line.rpartition("::")[2] for line in passed[0] - passed[1])
    print(f"of {len(passed[0])} tests that pass with torch, {len(passed[0] & passed[1])} pass with pullback")
    for name, count in Counter(missing).items():
        print(f"{count} {name}")
    return int(bool(missing))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(prog="scripts/programs")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--one", metavar="NAME")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--suite", metavar="FOLDER")
    parser.add_argument("--names", metavar="FOLDER", dest="wheels")
    parser.add_argument("--autograd", action="store_true")
    parser.add_argument("--under", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.autograd:
        hips = importlib.import_module(f"{__package__}.hips")
        sys.exit(hips.one(options.one, options.under) if options.one else hips.main(options.names))
    if options.wheels:
        names = importlib.import_module(f"{__package__}.names")
        sys.exit(names.write(names.read(options.wheels)))
    if options.suite:
        sys.exit(suite(options.suite))
    sys.exit(one(options.one) if options.one else main(options.names, options.json, options.write))
