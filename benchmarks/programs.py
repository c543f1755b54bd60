"""Times programs that know nothing of pullback: by NumPy alone, and inside `numpy_programs`, with and without a gradient.

The programs are those of tests/interop: functions of public packages, as far as they are installed, and some of our own.
Printed besides: what it costs to enter and leave a block, and an operation through the namespace of the array API beside
the method. A ratio is to plain NumPy's time.

    python benchmarks/programs.py [--quick]
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import sys
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from processes import FULL, QUICK, Effort, Program, in_turns

import pullback
from pullback import array_api

sys.path.append(str(Path(__file__).parent.parent / "tests"))

from interop import outcomes, programs

OWN = [
    programs.Program("interop.theirs.arrays", "m.heat(u, k)", {"u": np.linspace(0.0, 1.0, 4), "k": 0.1}),
    programs.Program("interop.theirs.arrays", "m.rotation(t)", {"t": 0.3}),
    programs.Program("interop.theirs.arrays", "m.outputs(x)", {"x": np.array([1.2, 2.2, 1.9])}),
]


def inside(program: programs.Program, gradient: bool) -> Any:
    """The program's result on tensors, and its gradient if it is wanted, inside a block that is entered already."""
    given = {name: pullback.tensor(np.asarray(v, float), requires_grad=gradient) for name, v in program.inputs.items()}
    total = outcomes.weighed(outcomes.result(program, given)).real
    return pullback.autograd.grad(total, list(given.values()), allow_unused=True) if gradient else total


def times(program: programs.Program, effort: Effort) -> tuple[float, float, float]:
    """Seconds: of plain NumPy, of the value, and of the value with its gradient."""
    (plain,) = in_turns({"": Program(lambda _: outcomes.number(program, program.inputs))}, effort).values()
    with pullback.numpy_programs(*program.packages):
        ways = {
            str(each): Program(functools.partial(lambda each, _: inside(program, each), each)) for each in (False, True)
        }
        found = in_turns(ways, effort)
    return median(plain), median(found["False"]), median(found["True"])


def main() -> None:
    """Print one line for each program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    effort = QUICK if parser.parse_args().quick else FULL
    for program in [*OWN, *programs.PROGRAMS]:
        if program.refused or importlib.util.find_spec(program.package) is None:
            continue
        plain, value, gradient = times(program, effort)
        row = f"{plain * 1e6:9.1f} us, value {value / plain:6.1f}, with gradient {gradient / plain:6.1f}"
        print(f"{f'{program.module} {program.call}'[:70]:70} {row}", flush=True)
    for packages in (("interop",), ("interop", "scipy")):
        block = pullback.numpy_programs(*packages)
        (seconds,) = in_turns(
            {"": Program(lambda _, block=block: block.__enter__().__exit__(None, None, None))}, effort
        ).values()  # type: ignore[misc]
        print(f"a block of {' and '.join(packages)}: {median(seconds) * 1e6:.1f} us")
    for size in (1, 100, 10_000):
        x, y = (pullback.ones(size, dtype=pullback.float64, requires_grad=True) for _ in range(2))
        for name, method, function in NAMES:
            ways = {
                "method": Program(functools.partial(lambda call, *given: call(*given), method, x, y)),
                "namespace": Program(functools.partial(lambda call, *given: call(*given), function, x, y)),
            }
            own, through = (median(seconds) for seconds in in_turns(ways, effort).values())
            row = f"{own * 1e6:6.2f} us, through the namespace {through / own:.2f}"
            print(f"{name} of {size} numbers, the method: {row}", flush=True)


NAMES = [
    ("multiply", lambda x, y, _: x * y, lambda x, y, _: array_api.multiply(x, y)),
    ("sin", lambda x, y, _: x.sin(), lambda x, y, _: array_api.sin(x)),
    ("sum", lambda x, y, _: x.sum(), lambda x, y, _: array_api.sum(x)),
]


if __name__ == "__main__":
    main()
