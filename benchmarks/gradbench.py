"""Times GradBench's functions: its C++ tool `manual`, derivatives written by hand, its tools for torch and JAX, and pullback compiled.

Needs a checkout of github.com/gradbench/gradbench, of which nothing is here: C++ is compiled from it, by g++ -O3 -march=native and, if
there is one, by clang++ with -ffast-math -fveclib=libmvec, which asks for its json.hpp (`make -C cpp`, or the package
nlohmann-json3-dev). Our functions are in `gradbench_functions.py`. Each tool runs in a process of its own with one thread, in turns,
and all must give the same numbers. Times are medians of a turn, the least of all turns; the ratio is to the better C++.

    scripts/bench gradbench CHECKOUT [--only MODULE] [--quick] [--json FILE]
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import numpy as np
from processes import Process

COMMON = ["-std=c++17", "-O3", "-march=native", "-Wno-unknown-pragmas"]
COMPILERS = {"g++": COMMON, "clang++": [*COMMON, "-ffast-math", "-fveclib=libmvec"]}
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PULLBACK_NUM_THREADS")
LIBRARIES = ("torch", "jax", "pullback")
CLOSED = {("det", "primal"), ("det", "gradient"), ("ode", "gradient"), ("kmeans", "dir")}
"""Where the C++ has a closed form, which needs no derivative, or the expansion by minors is what is measured."""
ABSENT = "No module named 'gradbench.tools"
"""What Python says where GradBench has no tool for a function."""
MOST, MEAN = 1.3, 0.6
"""What is asked of the ratios, closed forms apart: the largest, and the geometric mean."""
SLOW = 5
"""Seconds of a turn after which a tool has no more of them."""
Answer = tuple[Any, float]


# 1. Tools: each gives what a function gives, as JSON has it, and the seconds of a call


def by_code(program: Path, file: Path, function: str) -> Answer:
    """By a program in C++, which repeats the function for as long as its input says."""
    told = subprocess.run([program, file, function], capture_output=True, text=True, check=True).stdout.splitlines()
    times = [row["nanoseconds"] for row in map(json.loads, told[1:]) if row["name"] == "evaluate"]
    return json.loads(told[0]), median(times) / 1e9


def by_tool(python: str, library: str, module: str, function: str, file: Path) -> Answer:
    """By GradBench's own tool for a library, in a process of its own, where its package comes before this module."""
    if python not in sys.path:
        sys.path.insert(0, python)
    if library == "torch":
        importlib.import_module("torch").set_num_threads(1)
    if library == "jax":  # whose tool does not wait for what it has asked for
        importlib.import_module("jax").config.update("jax_cpu_enable_async_dispatch", False)
    wrapped = getattr(
        importlib.import_module(f"gradbench.tools.{'pytorch' if library == 'torch' else library}.{module}"), function
    )
    given = json.loads(file.read_text(encoding="utf-8"))
    wrapped.wrapped({**given, "min_runs": 1, "min_seconds": 0})
    found = wrapped.wrapped({**given, "min_runs": 1})
    return found["output"], median(row["nanoseconds"] for row in found["timings"]) / 1e9


_made: dict[tuple[int, str], Callable[[], Any]] = {}
"""Our functions, by the number of the case and the name; they stay compiled between turns."""


def by_compile(number: int, function: str, seconds: float) -> Answer:
    """By ours, compiled."""
    if (number, function) not in _made:
        case = importlib.import_module("gradbench_functions").cases()[number]
        _made.update({(number, name): made for name, made in zip(case.names, case.made(case.given), strict=True)})
    made = _made[number, function]
    timed, times = getattr(made, "timed", made), []
    for _ in range(3):
        timed()
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        timed()
        times.append(time.perf_counter() - start)
    return plain(made()), median(times)


def plain(found: Any) -> Any:
    """What a function gives, with lists in the place of tensors."""
    if isinstance(found, dict):
        return {name: plain(each) for name, each in found.items()}
    if isinstance(found, list | tuple):
        return [plain(each) for each in found]
    return found.detach().numpy().tolist() if hasattr(found, "detach") else found


# 2. Turns


def compiled(checkout: Path, module: str, folder: Path) -> dict[str, Path]:
    """The programs of a module in C++, by each compiler that is there."""
    made = {}
    for compiler, flags in COMPILERS.items():
        if shutil.which(compiler) is None:
            continue
        made[compiler] = folder / f"{module}-{compiler}"
        if not made[compiler].exists():
            include = [f"-I{checkout / 'cpp'}", "-I/usr/include/nlohmann"]
            source = checkout / "tools" / "manual" / f"{module}.cpp"
            subprocess.run([compiler, *flags, *include, "-o", made[compiler], source, "-lm"], check=True)
    return made


def numbers(found: Any, like: Any) -> np.ndarray[Any, Any]:
    """All numbers of an answer, of those parts that the answer it is compared with has, too."""
    if isinstance(found, dict):
        parts = [numbers(found[name], like[name]) for name in sorted(like) if name in found]
    elif isinstance(found, list):
        parts = [numbers(each, other) for each, other in zip(found, like, strict=True)]
    else:
        return np.array([found], float)
    return np.concatenate([*parts, np.zeros(0)])


def equal(found: Any, other: Any) -> bool:
    """Whether two tools give the same."""
    a, b = numbers(found, other), numbers(other, found)
    return a.shape == b.shape and np.allclose(a, b, rtol=1e-5, atol=1e-7 * np.abs(b).max(initial=1))


def measured(calls: dict[str, Callable[[], Answer]], turns: int) -> dict[str, float | str]:
    """The least seconds of each tool in turns; of one that fails, or gives something else than the first, what is wrong."""
    found: dict[str, float | str] = {}
    slow: set[str] = set()
    right: Any = None
    for _ in range(turns):
        for name, call in calls.items():
            if isinstance(found.get(name), str) or name in slow:
                continue
            start = time.perf_counter()
            try:
                answer, seconds = call()
            except Exception as error:  # noqa: BLE001  # a tool's, whichever it is
                found[name] = f"{type(error).__name__}: {error}"
                continue
            slow |= {name} if time.perf_counter() - start > SLOW else set()
            right = answer if right is None else right
            before = found.get(name, math.inf)
            found[name] = (
                min(seconds, before) if equal(answer, right) and isinstance(before, float) else "other numbers"
            )
    return found


def tools(
    checkout: Path,
    processes: dict[str, Process],
    programs: dict[str, Path],
    module: str,
    ours: tuple[int, str, float],
    file: Path,
) -> dict[str, Callable[[], Answer]]:
    """What computes a function with each tool; the first says what is right."""
    function, python = ours[1], str(checkout.resolve() / "python" / "gradbench")
    calls: dict[str, Callable[[], Answer]] = {
        name: partial(by_code, program, file, function) for name, program in programs.items()
    }
    calls["pullback"] = partial(processes["pullback"].call, by_compile, *ours)
    for library in ("torch", "jax"):
        calls[library] = partial(processes[library].call, by_tool, python, library, module, function, file)
    return calls


def line(title: str, found: dict[str, float | str], code: list[str]) -> tuple[str, float | None]:
    """A row of the table, and the ratio of ours to the better C++."""
    known = {name: each for name, each in found.items() if isinstance(each, float)}
    best = min([known[name] for name in code if name in known], default=None)
    ratio = known["pullback"] / best if best and "pullback" in known else None
    cells = [f"{known[name] * 1e6:>10.1f}" if name in known else f"{'-':>10}" for name in (*COMPILERS, *LIBRARIES)]
    wrong = [f"{name}: {each}"[:80] for name, each in found.items() if isinstance(each, str) and ABSENT not in each]
    return (
        f"{title:34} {' '.join(cells)} {'-' if ratio is None else f'{ratio:.2f}':>7}  {'; '.join(wrong)}".rstrip(),
        ratio,
    )


def main() -> int:
    """Print the table; 1 if a ratio is larger than what is asked."""
    parser = argparse.ArgumentParser(description="GradBench's functions: C++, torch, JAX and pullback compiled.")
    parser.add_argument("checkout", type=Path, help="a checkout of github.com/gradbench/gradbench")
    parser.add_argument("--only", metavar="MODULE")
    parser.add_argument(
        "--quick", action="store_true", help="one short turn of each: to see that it works, not to quote"
    )
    parser.add_argument("--json", metavar="FILE", type=Path)
    options = parser.parse_args()
    if not (options.checkout / "tools" / "manual").is_dir():
        parser.error(f"{options.checkout} is no checkout of GradBench: it has no tools/manual")
    turns, seconds = (1, 0.05) if options.quick else (3, 0.2)
    limits = {**dict.fromkeys(THREADS, "1"), "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
    processes = {library: Process(library, limits) for library in LIBRARIES}
    print(f"{'us':34} {' '.join(f'{name:>10}' for name in (*COMPILERS, *LIBRARIES))}   ratio")
    rows, ratios = {}, {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, case in enumerate(importlib.import_module("gradbench_functions").cases()):
            if options.only not in (None, case.module):
                continue
            file = folder / "input.json"
            file.write_text(json.dumps({**case.given, "min_runs": 3, "min_seconds": seconds}), encoding="utf-8")
            programs = compiled(options.checkout, case.module, folder)
            for function in case.names:
                calls = tools(options.checkout, processes, programs, case.module, (number, function, seconds), file)
                title = f"{case.module} {case.size}, {function}"
                rows[title] = measured(calls, turns)
                text, ratio = line(title, rows[title], list(programs))
                print(text, flush=True)
                if ratio is not None:
                    ratios[case.module, function, case.size] = ratio
    for process in processes.values():
        process.end()
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    asked = [ratio for (module, function, _), ratio in ratios.items() if (module, function) not in CLOSED]
    mean = geometric_mean(asked) if asked else 0.0
    print(
        f"\nof the better C++, closed forms apart: geometric mean {mean:.2f} (asked {MEAN}), at most "
        f"{max(asked, default=0):.2f} (asked {MOST})"
    )
    return int(max(asked, default=0) > MOST or mean > MEAN)


if __name__ == "__main__":
    sys.exit(main())
