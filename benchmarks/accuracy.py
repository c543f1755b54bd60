"""Measures how far the compiled mathematics is from the truth, and writes docs/explanation/accuracy.md.

Floats are compared with double, over every so manieth of all bit patterns (--every 1: all of them, a minute or several for
each function); doubles with long double where that has 64 bits, else with mpmath, as are the functions that NumPy lacks.
What is known is kept in files, one for each function, and not measured again: a run may be interrupted, and several may
share a directory.

    python benchmarks/accuracy.py [--every N] [--doubles N] [--ops REGEX] [--kept DIRECTORY] [--write]
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "tests" / "compile"))

from measuring import TRUE, Loop, arguments, distance, loop_of, split, true_values, wider, wider_values  # noqa: E402

from pullback.compile import scalars  # noqa: E402
from pullback.compile.machine.contexts import EmitContext  # noqa: E402
from pullback.compile.machine.llvm import host  # noqa: E402
from pullback.compile.mathematics.lanes import IRValue  # noqa: E402

PAGE = ROOT / "docs" / "explanation" / "accuracy.md"
CHUNK = 1 << 16  # whose arrays stay in the cache
ALL = 1 << 32
EXTENDED = np.finfo(np.longdouble).nmant >= 63
ONLY_MPMATH = {"erf", "erfc", "erfinv", "lgamma", "digamma"}
POSITIVE = {"lgamma", "digamma"}  # see the notes
NEAR = {"sin", "cos", "tan"}
PAIRS: dict[str, Callable[..., Any]] = {"power": mpmath.power, "arctan2": mpmath.atan2, "hypot": mpmath.hypot}

HEAD = """# How accurate compiled mathematics is

This page is written by `benchmarks/accuracy.py`. It lists the largest errors that were found, in units in the last
place (ulp) of the exact value.

The machine code of [`pullback.compile`](../how-to/compile.md) computes exp, log, sin and the like by formulas of its own,
without branches, which LLVM turns into vector instructions. The error is at most 2 ulp for float32 and 4 ulp for
float64, over the whole range, including subnormal arguments and results. NaN, infinities and zeros, with their signs,
are those of C99. Operations that IEEE 754 defines (sums, products, quotients, square roots, remainders, rounding to
integers, comparisons, conversions) equal NumPy's, bit for bit. `tests/compile/test_scalars.py` tests all of this.

"""

NOTES = """
- *near* is the shorter reduction of sin, cos and tan for moderate arguments (up to 8192 in float32, 2^20 in float64),
  for code that has checked that all its arguments are in this range.
- `lgamma` and `digamma` were measured for positive arguments. They have zeros between the negative integers, where
  errors are relative to the larger of 1 and the result. The errors of `logaddexp` are relative to the larger of the
  operands and the result.
- A sample comes near the worst case without reaching it. All 4,294,967,296 float32 values, with fma and without, gave
  at most 1.02 for exp, 1.23 for exp2, 1.49 for expm1, 1.97 for sigmoid, 1.56 for tanh, 1.07 for log, 1.31 for log2,
  1.19 for log10, 1.59 for log1p, 1.86 for softplus and logsigmoid, 1.58 for sin, 1.56 for cos (near: 1.79 and 1.80),
  1.88 for arctan and 1.35 for erf. The other functions of one argument were not run on all values; they are computed
  in float64. In float64, 20,000 arguments from 0.6 to 27 gave 3.4 for erfc, for large arguments and without fma.
  `lgamma` of the float32 values right above 1 has an error of up to 1.3.
- For few elements, as in a loop of small steps, sine and cosine are one polynomial, which takes less time and more
  operations. All moderate float32 values gave at most 1.54 and 1.55 there, 1.79 and 1.82 without fma.
- Lanes are the elements in one vector instruction of the inner loop on the machine that measured. Nanoseconds per
  element are for one thread on data in the cache, and approximate.
"""


Floats = np.ndarray[Any, Any]


def floats(every: int) -> Iterator[Floats]:
    """All bit patterns of float32, or one of so many, in pieces."""
    for start in range(0, ALL, CHUNK * every):
        patterns = np.arange(start, min(start + CHUNK * every, ALL), every, dtype=np.uint64)
        yield patterns.astype(np.uint32).view(np.float32)


def units_of_floats(builder: Any, y: Any, truth: Any) -> Any:
    """How far a float is from a double, as `measuring.distance` has it, in machine code."""
    ctx = EmitContext(builder, host(), None)
    y, truth = IRValue(ctx, "f", y), IRValue(ctx, "d", truth)
    found, inf = y.to("d"), ctx.number("d", np.inf)
    infinite = abs(found) == inf
    bounded = infinite.select(ctx.number("d", 2.0**128).copysign(found), found)
    unit = ((truth.bits() & 0x7FF0000000000000).real() * 2.0**-23).at_least(2.0**-149)
    units = abs(bounded - truth) / unit
    beyond = infinite & (abs(truth) >= 2.0**128) & ((found > 0) & (truth > 0) | (found < 0) & (truth < 0))
    right = (y.isnan() & truth.isnan()) | (found == truth) | beyond
    return right.select(0, (y.isnan() | units.isnan()).select(inf, units)).value


def chosen(name: str, x: Floats, dtype: str, *, near: bool) -> Floats:
    """The arguments that the measurement is about."""
    if name in POSITIVE:
        x = x[x > 0]
    return x[np.abs(x) <= scalars.trigonometry.NEAR[dtype]] if near else x


def of_floats(name: str, every: int) -> dict[bool, list[float]]:
    """The largest errors of float32, with and without fma, of the whole function and near 0."""
    compare, forms = Loop(units_of_floats, ["f", "d"], "d"), [False, True] if name in NEAR else [False]
    loops = {near: [loop_of(name, "f", near=near, fma=fma) for fma in (True, False)] for near in forms}
    worst = {near: [0.0, 0.0] for near in forms}
    for patterns in floats(every):
        for near in forms:
            x = chosen(name, patterns, "f", near=near)
            if x.size:
                truth = wider(name, x, np.float64)
                found = [float(compare(loop(x), truth).max()) for loop in loops[near]]
                worst[near] = [max(pair) for pair in zip(worst[near], found, strict=True)]
    return worst


def of_doubles(name: str, count: int, *, near: bool) -> list[float]:
    """The largest errors of float64, with and without fma."""
    wide = EXTENDED and name not in ONLY_MPMATH
    x = arguments("d", count // 3 if wide else count // 60, np.random.default_rng(7))
    x = chosen(name, x, "d", near=near)
    truth = wider_values(name, x, np.longdouble) if wide else true_values(name, x)
    loops = [loop_of(name, "d", near=near, fma=fma) for fma in (True, False)]
    return [float(distance(loop(x), truth, "d").max()) for loop in loops]


def pair_operands(name: str, dtype: str, count: int) -> list[Floats]:
    """Operands over the whole range; for powers, such that most results are finite."""
    rng = np.random.default_rng(11)
    real = np.float32 if dtype == "f" else np.float64
    size = float(np.log(np.finfo(real).max))
    x = np.exp(rng.uniform(-size, size, count)).astype(real)
    if name != "power":
        y = (x * np.exp(rng.uniform(-30, 30, count))).astype(real)
        return [np.clip(y, None, np.finfo(real).max), x * rng.choice([-1, 1], count).astype(real)]
    x[::2] = 1 + rng.choice([-1, 1], x[::2].size) * np.exp2(rng.uniform(-22, -1, x[::2].size))
    x = x[x != 1]
    return [x, (rng.uniform(-1.2, 1, x.size) * size / np.log(x.astype(float))).astype(real)]


def of_pairs(name: str, dtype: str, count: int) -> list[float]:
    """The largest errors of an operation of two operands, with and without fma."""
    with np.errstate(over="ignore"):
        operands = pair_operands(name, dtype, count // 10)
    rows = zip(*(x.tolist() for x in operands), strict=True)
    truth = np.array([split(PAIRS[name](mpmath.mpf(a), mpmath.mpf(b))) for a, b in rows])
    loops = [loop_of(name, dtype, fma=fma) for fma in (True, False)]
    return [float(distance(loop(*operands), truth, dtype).max()) for loop in loops]


def speed(name: str, dtype: str, *, near: bool) -> tuple[int, float]:
    """Lanes of the widest vectors in the loop, and nanoseconds per number."""
    loop = loop_of(name, dtype, near=near)
    lanes = [int(n) for n in re.findall(r"<(\d+) x (?:float|double)>", loop.ir)]
    rng = np.random.default_rng(0)
    operands = [np.abs(rng.standard_normal(16_384)).astype(np.dtype(dtype)) for _ in range(2 if name in PAIRS else 1)]
    times = []
    for _ in range(200):
        start = time.perf_counter()
        loop(*operands)
        times.append(time.perf_counter() - start)
    return max(lanes, default=1), min(times) / 16_384 * 1e9


def errors(name: str, every: int, doubles: int) -> list[list[float]]:
    """The largest errors: of floats and of doubles, each with and without fma; a second row is near 0."""
    if name in PAIRS:
        return [of_pairs(name, "f", doubles) + of_pairs(name, "d", doubles)]
    single = of_floats(name, every)
    return [found + of_doubles(name, doubles, near=near) for near, found in single.items()]


def known(name: str, every: int, doubles: int, kept: Path | None) -> tuple[int, list[list[float]]]:
    """One of how many floats was measured, and the errors: from the file of the function, if it knows as much."""
    file = kept / f"{name}.json" if kept else None
    if file and file.exists():
        told = json.loads(file.read_text(encoding="utf-8"))
        if told["every"] <= every and told["doubles"] >= doubles:
            return told["every"], told["errors"]
    found = errors(name, every, doubles)
    if file:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"every": every, "doubles": doubles, "errors": found}) + "\n", encoding="utf-8")
    return every, found


def lines_of(name: str, found: list[list[float]]) -> list[str]:
    """The lines of the table for a function."""
    lines = []
    for near, row in enumerate(found):
        speeds = [speed(name, dtype, near=bool(near)) for dtype in "fd"]
        lanes, times = "/".join(str(s[0]) for s in speeds), " / ".join(f"{s[1]:.1f}" for s in speeds)
        cells = [f"{name}{' (near)' if near else ''}", *[f"{worst:.2f}" for worst in row], lanes, times]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def counted(every: dict[str, int], doubles: int) -> list[str]:
    """What was measured, in words."""
    whole = [name for name, one in every.items() if one == 1 and name not in PAIRS]
    rest = max([one for name, one in every.items() if one > 1 and name not in PAIRS], default=0)
    parts = [f"all {ALL:,} bit patterns for {', '.join(whole)}"] if whole else []
    parts += [f"one of {rest} bit patterns{' for the others' if whole else ''}, {ALL // rest:,} in all"] if rest else []
    text = f"float32: {'; '.join(parts)}. float64: {doubles:,}, a twentieth of that where only mpmath knows better, and pairs."
    return textwrap.wrap(text, 120)


def main() -> None:
    """Measure and print; with --write, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=61, help="one of so many floats")
    parser.add_argument("--doubles", type=int, default=200_000, help="so many doubles, a twentieth with mpmath")
    parser.add_argument("--ops", default=".", help="a pattern for names")
    parser.add_argument("--kept", type=Path, help="where what was measured is kept, and looked up")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    table = [
        "| function | float32 | without fma | float64 | without fma | lanes | ns |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    print(*table, sep="\n")
    every: dict[str, int] = {}
    for name in [*TRUE, *PAIRS]:
        if re.search(options.ops, name):
            every[name], found = known(name, options.every, options.doubles, options.kept)
            table += (lines := lines_of(name, found))
            print(*lines, sep="\n", flush=True)
    text = counted(every, options.doubles)
    print("", *text, sep="\n")
    if options.write:
        PAGE.write_text(HEAD + "\n".join([*text, "", *table]) + "\n" + NOTES, encoding="utf-8")


if __name__ == "__main__":
    main()
