"""Measures how far the compiled mathematics is from the truth, and writes docs/compiled-accuracy.md.

Floats are compared with double, over every so manieth of all bit patterns (--every 1: all of them, an hour or several);
doubles with long double where that has 64 bits, else with mpmath, as are the functions that NumPy lacks.

    python benchmarks/accuracy.py [--every N] [--doubles N] [--ops REGEX] [--write]
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "tests" / "compile"))

from measuring import TRUE, arguments, distance, loop_of, split, true_values, wider_values  # noqa: E402

from pullback.compile import scalars  # noqa: E402

PAGE = ROOT / "docs" / "compiled-accuracy.md"
CHUNK = 1 << 20
EXTENDED = np.finfo(np.longdouble).nmant >= 63
ONLY_MPMATH = {"erf", "erfc", "erfinv", "lgamma", "digamma"}
POSITIVE = {"lgamma", "digamma"}  # see the notes
PAIRS: dict[str, Callable[..., Any]] = {"power": mpmath.power, "arctan2": mpmath.atan2, "hypot": mpmath.hypot}

HEAD = """# How accurate compiled mathematics is

Written by `benchmarks/accuracy.py`: the largest errors found, in units in the last place of the true value.

Machine code of [`pullback.compile`](compile.md) computes exp, log, sin and the like itself, in straight-line code that
LLVM turns into vector instructions. The bounds are 2 units for float32 and 4 for float64, over the whole range: subnormal
numbers, as arguments and as results, are no exception, and NaN, infinities and zeros, with their signs, are where C99 has
them. What IEEE 754 defines (sums, products, quotients, square roots, remainders, rounding to whole numbers, comparisons,
conversions) is NumPy's, bit for bit. The tests hold all of that: `tests/compile/test_scalars.py`.

"""

NOTES = """
- *near* is the shorter reduction of sin, cos and tan for moderate arguments (up to 8192 in float32, 2^20 in float64), for
  code that has looked whether all its numbers are that small.
- `lgamma` and `digamma` were measured for positive arguments. They have zeros between the negative whole numbers, where
  errors are relative to the larger of 1 and the result. The same holds for `logaddexp`, whose errors are relative to the
  larger of the operands and the result.
- A sample comes near the worst case without meeting it. All floats of the intervals where these functions are worst gave
  1.97 for sigmoid, 1.88 for arctan, 1.49 for expm1, 1.42 for log1p, 1.31 for log2 and 1.51 for sin. In
  float64, 20,000 numbers from 0.6 to 27 gave 3.4 for erfc, far out and without fma.
- Lanes are the numbers in one vector instruction of the inner loop on the machine that measured; nanoseconds per number
  are of one thread on numbers in the cache, and rough.
"""


def floats(every: int) -> Iterator[np.ndarray[Any, Any]]:
    """All bit patterns of float32, or one of so many, in pieces."""
    for start in range(0, 1 << 32, CHUNK * every):
        patterns = np.arange(start, min(start + CHUNK * every, 1 << 32), every, dtype=np.uint64)
        yield patterns.astype(np.uint32).view(np.float32)


def chosen(name: str, x: np.ndarray[Any, Any], dtype: str, near: bool) -> np.ndarray[Any, Any]:
    """The arguments that the measurement is about."""
    if name in POSITIVE:
        x = x[x > 0]
    return x[np.abs(x) <= scalars.trigonometry.NEAR[dtype]] if near else x


def of_floats(name: str, every: int, fma: bool, near: bool) -> float:
    """The largest error of float32."""
    loop, worst = loop_of(name, "f", near=near, fma=fma), 0.0
    for x in floats(every):
        if (x := chosen(name, x, "f", near)).size:
            worst = max(worst, float(distance(loop(x), wider_values(name, x), "f").max()))
    return worst


def of_doubles(name: str, count: int, fma: bool, near: bool) -> float:
    """The largest error of float64."""
    wide = EXTENDED and name not in ONLY_MPMATH
    x = arguments("d", count // 3 if wide else count // 60, np.random.default_rng(7))
    x = chosen(name, x, "d", near)
    truth = wider_values(name, x, np.longdouble) if wide else true_values(name, x)
    return float(distance(loop_of(name, "d", near=near, fma=fma)(x), truth, "d").max())


def pair_operands(name: str, dtype: str, count: int) -> list[np.ndarray[Any, Any]]:
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


def of_pairs(name: str, dtype: str, count: int, fma: bool) -> float:
    """The largest error of an operation of two operands."""
    with np.errstate(over="ignore"):
        operands = pair_operands(name, dtype, count // 10)
    rows = zip(*(x.tolist() for x in operands), strict=True)
    truth = np.array([split(PAIRS[name](mpmath.mpf(a), mpmath.mpf(b))) for a, b in rows])
    return float(distance(loop_of(name, dtype, fma=fma)(*operands), truth, dtype).max())


def speed(name: str, dtype: str, near: bool) -> tuple[int, float]:
    """Lanes of the widest vectors in the loop, and nanoseconds per number."""
    loop = loop_of(name, dtype, near=near)
    lanes = [int(n) for n in re.findall(r"<(\d+) x (?:float|double)>", loop.ir)]
    rng = np.random.default_rng(0)
    operands = [np.abs(rng.standard_normal(16_384)).astype(np.dtype(dtype)) for _ in range(2 if name in PAIRS else 1)]
    times = []
    for _ in range(20):
        start = time.perf_counter()
        loop(*operands)
        times.append(time.perf_counter() - start)
    return max(lanes, default=1), min(times) / 16_384 * 1e9


def row(name: str, near: bool, every: int, doubles: int) -> str:
    """A line of the table."""
    errors = []
    for dtype in "fd":
        for fma in (True, False):
            if name in PAIRS:
                worst = of_pairs(name, dtype, doubles, fma)
            else:
                worst = of_floats(name, every, fma, near) if dtype == "f" else of_doubles(name, doubles, fma, near)
            errors.append(f"{worst:.2f}")
    speeds = [speed(name, dtype, near) for dtype in "fd"]
    lanes, times = "/".join(str(s[0]) for s in speeds), " / ".join(f"{s[1]:.1f}" for s in speeds)
    return f"| {name}{' (near)' if near else ''} | {' | '.join(errors)} | {lanes} | {times} |"


def main() -> None:
    """Measure and print; with --write, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=61, help="one of so many floats")
    parser.add_argument("--doubles", type=int, default=200_000, help="so many doubles, a twentieth with mpmath")
    parser.add_argument("--ops", default=".", help="a pattern for names")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    counted = f"""\
Floats: one of {options.every} bit patterns, {(1 << 32) // options.every:,} in all. Doubles: {options.doubles:,}, a
twentieth of that where only mpmath knows better."""
    lines = [
        counted,
        "",
        "| function | float32 | without fma | float64 | without fma | lanes | ns |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    print(*lines, sep="\n")
    for name in [*TRUE, *PAIRS]:
        for near in (False, True) if name in {"sin", "cos", "tan"} else (False,):
            if re.search(options.ops, name):
                lines.append(row(name, near, options.every, options.doubles))
                print(lines[-1], flush=True)
    if options.write:
        PAGE.write_text(HEAD + "\n".join(lines) + "\n" + NOTES, encoding="utf-8")


if __name__ == "__main__":
    main()
