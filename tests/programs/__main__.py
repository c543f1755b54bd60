"""Runs programs written for torch beside torch, and prints how they compare: scripts/programs [--one] [name ...].

With `--one` the programs run in this process, on what `import torch` gives, and print their numbers as JSON: so each side of a
comparison is a process of its own.
"""

import json
import subprocess
import sys
import time
import traceback
import warnings

KINDS = ("equal", "different", "fails", "torch fails")


def each(names):
    """Run programs here, and print a line of JSON for each."""
    import torch

    from . import architectures, packages

    programs = {**packages.PROGRAMS, **dict.fromkeys(architectures.ARCHITECTURES)}
    for name in names or programs:
        torch.manual_seed(0)
        began = time.perf_counter()
        try:
            found = programs[name]() if programs[name] else architectures.run(name)
        except Exception as error:  # noqa: BLE001  # told in the table
            place = traceback.extract_tb(error.__traceback__)[-1]
            text = f"{type(error).__name__}: {error}".partition("\n")[0]
            print(
                json.dumps({"name": name, "error": f"{text[:160]} ({place.filename[-50:]}:{place.lineno})"}), flush=True
            )
        else:
            seconds = time.perf_counter() - began
            print(json.dumps({"name": name, "numbers": [*map(float, found)], "seconds": seconds}), flush=True)


def results(under, names):
    """What programs print, by their names."""
    command = [sys.executable, "-W", "ignore", *under, "-m", "tests.programs", "--one", *names]
    lines = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return {
        line["name"]: line for line in map(json.loads, filter(lambda text: text.startswith("{"), lines.splitlines()))
    }


def compared(theirs, ours):
    """One of KINDS, and what is to be said."""
    if theirs is None or "error" in theirs:
        return "torch fails", (theirs or {}).get("error", "")
    if ours is None or "error" in ours:
        return "fails", (ours or {}).get("error", "the process ended")
    pairs = list(zip(theirs["numbers"], ours["numbers"], strict=False))
    off = max(abs(a - b) / max(abs(a), 0.01) for a, b in pairs)
    same = len(theirs["numbers"]) == len(ours["numbers"]) and off < 1e-3
    return "equal" if same else "different", f"{off:.0e}, {ours['seconds'] / theirs['seconds']:.2f} of torch's time"


def main(names):
    """Print the table; 1 if a program fails, or gives other numbers."""
    theirs, ours = results([], names), results(["-m", "pullback", "run"], names)
    counts = dict.fromkeys(KINDS, 0)
    for name in {**theirs, **ours}:
        kind, text = compared(theirs.get(name), ours.get(name))
        counts[kind] += 1
        print(f"{name:28} {kind:12} {text}")
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return int(counts["different"] + counts["fails"] > 0)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["--one"]:
        each(sys.argv[2:])
    else:
        sys.exit(main(sys.argv[1:]))
