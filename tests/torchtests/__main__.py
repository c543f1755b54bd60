"""Runs torch's own test files under torch and under pullback, and prints how many pass: scripts/torch-tests FOLDER [FILE...]."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

SECONDS = os.environ.get("SECONDS_OF_A_TEST", "2")
PROCESSES = 6  # of a file, each of which goes on after the test that ended the one before


def results(path, folder, under, only=()):
    """How the tests of a file end, by their names."""
    journal, names = folder / "journal", folder / "names"
    journal.unlink(missing_ok=True)
    names.write_text("\n".join(only))
    environment = {**os.environ, "ONLY": str(names) if under else "", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", *under, "-m", "tests.torchtests.worker", path, journal, SECONDS]
    for _ in range(PROCESSES):
        with contextlib.suppress(subprocess.TimeoutExpired):  # the test that hangs is told as a crash
            subprocess.run(command, env=environment, cwd=Path.cwd(), check=False, capture_output=True, timeout=300)
        lines = [json.loads(line) for line in journal.read_text().splitlines()] if journal.exists() else []
        if lines and lines[-1]["kind"] == "end":
            break
    return {line["test"]: line for line in lines if line["kind"] != "end"}


def why(line):
    """The kind of a failure."""
    kind, text = line["kind"], line["text"]
    if kind == "NotImplementedError" or "not in pullback" in text or "is not a dtype of pullback" in text:
        return "missing"
    if kind in {"AttributeError", "ImportError", "ModuleNotFoundError"} or "unexpected keyword" in text:
        return "missing"
    if kind == "AssertionError":
        if "not raised" in text or "not triggered" in text:
            return "nothing raised"
        return "values" if "differ" in text or "not close" in text else "other assertion"
    return {"Late": "time", "crash": "time"}.get(kind, "refused" if kind.endswith("Error") else kind)


def main(folder, *names):
    """Print the table."""
    for path in sorted(Path(folder).resolve().glob("test_*.py")):
        if names and path.stem.removeprefix("test_") not in names:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            theirs = results(path, Path(scratch), [])
            passing = [name for name, line in theirs.items() if line["kind"] == "passed"]
            ours = results(path, Path(scratch), ["-m", "pullback", "run"], passing)
        lines = {name: ours.get(name, {"kind": "missing", "text": "the test was not made"}) for name in passing}
        kinds = Counter(why(line) for line in lines.values() if line["kind"] != "passed")
        passed = sum(line["kind"] == "passed" for line in lines.values())
        told = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        print(f"{path.name:28} {len(passing):5} {passed:5}  {told}", flush=True)
        if "VERBOSE" in os.environ:
            for name, line in lines.items():
                if line["kind"] != "passed":
                    print(f"    {name}: {why(line)}: {line['kind']} {line['text'][:200]!r}")


if __name__ == "__main__":
    main(*sys.argv[1:])
