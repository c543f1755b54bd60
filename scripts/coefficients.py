"""Fits the polynomials of mathematical functions and writes the modules `coefficients` that hold them. Needs mpmath.

Those of exp, sin and the like are in `pullback.compile.mathematics`, for machine code; those of the error and gamma
functions in `pullback._numerics`, for NumPy and machine code.

Each is the minimax polynomial of a smooth function on an interval under a weight, found by E. Ya. Remez's exchange
("Sur le calcul effectif des polynomes d'approximation de Tschebyscheff", Comptes rendus 199 (1934), pages 337-340), in
60 digits; its coefficients are then rounded. The weight makes the error relative to what the formula computes.
"""

import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath as mp

mp.mp.dps = 60

Function = Callable[[mp.mpf], mp.mpf]

PACKAGE = Path(__file__).parent.parent / "src" / "pullback"


def minimax(f: Function, degree: int, low: mp.mpf, high: mp.mpf, weight: Function) -> tuple[list[mp.mpf], mp.mpf]:
    """The coefficients, the constant first, of the polynomial that makes max |weight * (f - P)| least; and that error."""
    middle, half = (low + high) / 2, (high - low) / 2
    count = 24 * (degree + 2)
    grid = [low, *(middle - half * mp.cos(mp.pi * (k + mp.mpf(1) / 2) / count) for k in range(count)), high]
    values, weights = [f(x) for x in grid], [weight(x) for x in grid]
    nodes = [middle - half * mp.cos(mp.pi * k / (degree + 1)) for k in range(degree + 2)]
    best: tuple[list[mp.mpf], mp.mpf] = [], mp.inf
    for _ in range(14):
        scaled = _levelled(f, weight, nodes, middle, half)
        errors = [
            w * (y - mp.polyval(scaled[::-1], (x - middle) / half))
            for x, y, w in zip(grid, values, weights, strict=True)
        ]
        level = max(map(abs, errors))
        if level < best[1]:
            best = scaled, level
        peaks = _alternating(errors, degree + 2)
        if len(peaks) < degree + 2:
            break
        moved = [_vertex(grid, errors, i) for i in peaks]
        if max(abs(a - b) for a, b in zip(moved, nodes, strict=True)) < half * mp.mpf(10) ** -6:
            break
        nodes = moved
    return _unscaled(best[0], middle, half), best[1]


def _levelled(f: Function, weight: Function, nodes: list[mp.mpf], middle: mp.mpf, half: mp.mpf) -> list[mp.mpf]:
    """The polynomial in (x - middle) / half whose weighted errors at the nodes are equal with alternating signs."""
    size = len(nodes)
    rows, right = mp.matrix(size, size), mp.matrix(size, 1)
    for i, x in enumerate(nodes):
        for j in range(size - 1):
            rows[i, j] = ((x - middle) / half) ** j
        rows[i, size - 1] = (-1) ** i / weight(x)
        right[i] = f(x)
    return list(mp.lu_solve(rows, right))[:-1]


def _alternating(errors: list[mp.mpf], count: int) -> list[int]:
    """Where the error is largest between its changes of sign, the `count` best neighbours of those."""
    peaks: list[int] = []
    for i, error in enumerate(errors):
        if peaks and (errors[peaks[-1]] >= 0) == (error >= 0):
            if abs(error) > abs(errors[peaks[-1]]):
                peaks[-1] = i
        else:
            peaks.append(i)
    while len(peaks) > count:
        peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
    return peaks


def _vertex(grid: list[mp.mpf], errors: list[mp.mpf], i: int) -> mp.mpf:
    """The place of the extremum near a point of the grid, by the parabola through it and its neighbours."""
    if not 0 < i < len(grid) - 1:
        return grid[i]
    (a, b, c), (p, q, r) = grid[i - 1 : i + 2], errors[i - 1 : i + 2]
    divisor = 2 * ((b - a) * (q - r) - (b - c) * (q - p))
    x = b if divisor == 0 else b - ((b - a) ** 2 * (q - r) - (b - c) ** 2 * (q - p)) / divisor
    return x if a <= x <= c else b


def _unscaled(scaled: list[mp.mpf], middle: mp.mpf, half: mp.mpf) -> list[mp.mpf]:
    out = [mp.mpf(0)] * len(scaled)
    for j, coefficient in enumerate(scaled):
        for k in range(j + 1):
            out[k] += coefficient / half**j * mp.binomial(j, k) * (-middle) ** (j - k)
    return out


def near_zero(f: Function, value: mp.mpf | float | str) -> Function:
    """f with its limit at 0."""
    return lambda x: f(x) if abs(x) > mp.mpf(10) ** -12 else mp.mpf(value)


def of_square(f: Function, value: mp.mpf | float | str) -> Function:
    """f(sqrt(z)) as a function of z, with its limit at 0."""
    return near_zero(lambda z: f(mp.sqrt(z)), value)


def n(text: str | float) -> mp.mpf:
    return mp.mpf(text)


LN = mp.log(2)
HALF_STEP = LN / 2 * n("1.001")
BELOW, ABOVE = n("1.0005") * (mp.sqrt(n(1) / 2) - 1), n("1.0005") * (mp.sqrt(2) - 1)
OCTANT = (mp.pi / 4) ** 2 * n("1.002")


def scaled_erfc(u: mp.mpf) -> mp.mpf:
    """exp(x^2) erfc(x) (x + 3), where u = (x - 3) / (x + 3): smooth from far left to infinity."""
    x = 3 * (1 + u) / (1 - u)
    return mp.erfc(x) * mp.exp(x * x) * (x + 3)


def u_of(x: float | str) -> mp.mpf:
    return (n(x) - 3) / (n(x) + 3)


def lgamma_part(z: mp.mpf) -> mp.mpf:
    if abs(z) < mp.mpf(10) ** -15:
        return 1 - mp.euler
    return mp.euler if abs(z + 1) < mp.mpf(10) ** -15 else mp.loggamma(2 + z) / (z * (z + 1))


ROOT = mp.findroot(mp.digamma, n("1.4616"))


def stirling(x: mp.mpf) -> mp.mpf:
    """What Stirling's formula lacks of lgamma."""
    return mp.loggamma(x) - ((x - n(1) / 2) * mp.log(x) - x + mp.log(2 * mp.pi) / 2)


# Name, what it is, function, weight, interval, degree for float and for double (None: not needed).
ERF = (
    "ERF", "erf(x) / x - 1 by x^2", of_square(lambda x: mp.erf(x) / x - 1, 2 / mp.sqrt(mp.pi) - 1),
    lambda z: mp.sqrt(z) / mp.erf(mp.sqrt(z)) if z > 0 else n("0.8862"), (n(0), n(1)),
)  # fmt: skip
ELEMENTARY_FITS = [
    ("EXP", "(exp(r) - 1 - r) / r^2", near_zero(lambda r: (mp.expm1(r) - r) / r**2, 0.5),
     lambda r: r * r / mp.exp(r), (-HALF_STEP, HALF_STEP), 4, 10),
    ("EXP_MINUS_ONE", "the same, relative to exp(r) - 1", near_zero(lambda r: (mp.expm1(r) - r) / r**2, 0.5),
     lambda r: r, (-HALF_STEP, HALF_STEP), 5, 10),
    ("EXP_TWO", "(2^r - 1) / r", near_zero(lambda r: (2**r - 1) / r, LN),
     lambda r: r / 2**r, (n("-0.5005"), n("0.5005")), 5, 11),
    ("TANH", "(tanh(x) - x) / x^3 by x^2", of_square(lambda x: (mp.tanh(x) - x) / x**3, n(-1) / 3),
     lambda z: z, (n(0), n("0.3026")), 3, 11),
    ("SINH", "(sinh(x) - x) / x^3 by x^2", of_square(lambda x: (mp.sinh(x) - x) / x**3, n(1) / 6),
     lambda z: z, (n(0), n("1.01")), None, 7),
    ("LOG", "(log(1 + f) - f) / f^2", near_zero(lambda f: (mp.log1p(f) - f) / f**2, n(-1) / 2),
     lambda f: f, (BELOW, n("0.5005")), 8, None),
    ("LOG_TWO", "(log2(1 + f) - f log2(e)) / f^2", near_zero(lambda f: (mp.log1p(f) - f) / LN / f**2, -1 / LN / 2),
     lambda f: f, (BELOW, ABOVE), 8, None),
    ("LOG_TEN", "(log10(1 + f) - f log10(e)) / f^2",
     near_zero(lambda f: (mp.log1p(f) - f) / mp.log(10) / f**2, -1 / mp.log(10) / 2),
     lambda f: f, (BELOW, ABOVE), 8, None),
    ("ARTANH", "(2 artanh(s) - 2 s) / s^3 by s^2", of_square(lambda s: (2 * mp.atanh(s) - 2 * s) / s**3, n(2) / 3),
     lambda z: z, (n(0), n("0.2002") ** 2), None, 7),
    ("ARTANH_TAIL", "(2 artanh(s) - 2 s - 2 s^3 / 3) / s^5 by s^2",
     of_square(lambda s: (2 * mp.atanh(s) - 2 * s - 2 * s**3 / 3) / s**5, n(2) / 5),
     lambda z: z * z, (n(0), n("0.062") ** 2), None, 4),
    ("ARTANH_SHORT", "the first again, for floats", of_square(lambda s: (2 * mp.atanh(s) - 2 * s) / s**3, n(2) / 3),
     lambda z: z, (n(0), n("0.1717") ** 2), None, 3),
    ("EXP_TWO_SHORT", "(2^r - 1) / r again, for floats", near_zero(lambda r: (2**r - 1) / r, LN),
     lambda r: r / 2**r, (n("-0.5005"), n("0.5005")), None, 5),
    ("CBRT", "cbrt(m)", mp.cbrt, lambda m: 1 / mp.cbrt(m), (1 + BELOW, 1 + ABOVE), None, 5),
    ("SIN", "(sin(r) - r) / r^3 by r^2", of_square(lambda r: (mp.sin(r) - r) / r**3, n(-1) / 6),
     lambda z: z, (n(0), OCTANT), 2, 5),
    ("COS", "(cos(r) - 1 + r^2 / 2) / r^4 by r^2", of_square(lambda r: (mp.cos(r) - 1 + r * r / 2) / r**4, n(1) / 24),
     lambda z: z * z, (n(0), OCTANT), 2, 5),
    ("TAN", "(tan(r) - r) / r^3 by r^2", of_square(lambda r: (mp.tan(r) - r) / r**3, n(1) / 3),
     lambda z: z, (n(0), OCTANT), 6, 13),
    ("ARCTAN", "(arctan(t) - t) / t^3 by t^2, t to tan(pi / 8)",
     of_square(lambda t: (mp.atan(t) - t) / t**3, n(-1) / 3), lambda z: z, (n(0), n("0.1717")), 4, 10),
    ("ARCSIN", "(arcsin(x) - x) / x^3 by x^2", of_square(lambda x: (mp.asin(x) - x) / x**3, n(1) / 6),
     lambda z: z, (n(0), n("0.25")), None, 12),
    (*ERF, 6, None),
    ("LOG_ERFC", "log(erfc(x)) for x from 1 to 4", lambda x: mp.log(mp.erfc(x)),
     lambda x: mp.erfc(x) + n(2) ** -27, (n(1), n(4)), 6, None),
]  # fmt: skip
SPECIAL_FITS = [
    (*ERF, None, 12),
    ("ERFC", "exp(x^2) erfc(x) (x + 3) by (x - 3) / (x + 3), x from 0.6 to 28", scaled_erfc,
     lambda u: 1 / scaled_erfc(u), (u_of("0.59"), u_of(28)), None, 20),
    ("SIN_PI", "sin(pi r) / r by r^2, r to 1 / 2", of_square(lambda r: mp.sin(mp.pi * r) / r, mp.pi),
     lambda z: 1 / of_square(lambda r: mp.sin(mp.pi * r) / r, mp.pi)(z), (n(0), n("0.2505")), None, 8),
    ("LGAMMA", "lgamma(2 + z) / (z (z + 1))", lgamma_part, lambda z: 1 / lgamma_part(z), (n("-1.001"), n("0.501")),
     None, 26),
    ("STIRLING", "(lgamma(x) - (x - 1/2) log(x) + x - log(2 pi) / 2) x by 1 / x^2, from 10",
     of_square(lambda r: stirling(1 / r) / r, n(1) / 12), lambda w: n(12), (n(0), n("0.01")), None, 6),
    ("DIGAMMA", "digamma(2 + z) / (2 + z - the root), z from -1 to 0",
     lambda z: mp.digamma(2 + z) / (2 + z - ROOT), lambda z: (2 + z - ROOT) / mp.digamma(2 + z),
     (n(-1), n(0)), None, 21),
    ("DIGAMMA_SERIES", "(log(x) - 1 / 2x - digamma(x)) x^2 by 1 / x^2, from 6",
     of_square(lambda r: (-mp.log(r) - r / 2 - mp.digamma(1 / r)) / r**2, n(1) / 12),
     lambda w: n(12), (n(0), 1 / n(36)), None, 8),
]  # fmt: skip


def bits(x: mp.mpf, count: int) -> mp.mpf:
    """The first bits of a number."""
    scale = mp.mpf(2) ** (count - 1 - mp.floor(mp.log(abs(x), 2)))
    return mp.floor(x * scale) / scale


def rounded(x: mp.mpf, kind: str) -> float:
    """The nearest number of that kind."""
    return struct.unpack("<f", struct.pack("<f", float(x)))[0] if kind == "f" else float(x)


def tuple_of(numbers: list[mp.mpf], kind: str) -> str:
    out = []
    for x in numbers:
        value = rounded(x, kind)
        short = next(text for text in (f"{value:.{d}g}" for d in range(1, 18)) if rounded(mp.mpf(text), kind) == value)
        out.append(short if set("e.") & set(short) else short + ".0")
    return "(" + ", ".join(out) + ("," if len(out) == 1 else "") + ")"


def parts(x: mp.mpf, kind: str, *counts: int) -> str:
    """A number as a sum: so many bits, then so many of what is left, then the rest rounded."""
    out = []
    for count in counts:
        out.append(bits(x, count))
        x -= out[-1]
    return tuple_of([*out, x], kind)


def digits() -> str:
    """The first 1280 bits of 2 / pi as an integer."""
    with mp.workdps(420):
        return f"0x{int(mp.floor(mp.ldexp(2 / mp.pi, 1280))):0320X}"


# A number in parts, of so many bits and the rest rounded, so that products with whole numbers are exact.
ELEMENTARY_PARTS = [
    ("LN", "log(2)", LN, (15,), (42,)),
    ("LOG_TEN_OF_TWO", "log10(2)", mp.log10(2), (15,), (42,)),
    ("LOG_TWO_OF_E", "log2(e)", 1 / LN, (24,), (53,)),
    ("LOG_TEN_OF_E", "log10(e)", 1 / mp.log(10), (24,), (53,)),
    ("LOG_TWO_OF_E_LESS_ONE", "log2(e) - 1", 1 / LN - 1, (24,), (53,)),
    ("LOG_TEN_OF_E_LESS_HALF", "log10(e) - 1/2", 1 / mp.log(10) - n(1) / 2, (24,), (53,)),
    ("LOG_TWO_BELOW", "log2(51 / 64)", mp.log(mp.mpf(51) / 64) / LN, (24,), (53,)),
    ("LOG_TWO_ABOVE", "log2(5 / 4)", mp.log(mp.mpf(5) / 4) / LN, (24,), (53,)),
    ("TWO_THIRDS", "2 / 3", mp.mpf(2) / 3, (24,), (53,)),
    ("HALF_PI", "pi / 2", mp.pi / 2, (24,), (53,)),
    ("HALF_PI_STEPS", "pi / 2", mp.pi / 2, (11, 11, 11), (33, 33, 33)),
    ("HALF_PI_PARTS", "pi / 2", mp.pi / 2, (24, 24), (53, 53)),
]
SPECIAL_PARTS = [("DIGAMMA_ROOT", "the root of digamma", ROOT, (24,), (53,))]

HEAD = '''"""The numbers in the formulas: written by scripts/coefficients.py, not by hand.

A dict has them for float ("f") and for double ("d"), the constant of a polynomial first.
"""

# fmt: off
'''


def written(fits: list[Any], known: list[Any]) -> list[str]:
    """The lines of a module; says how good each fit is."""
    lines = [HEAD]
    for name, what, f, weight, (low, high), *degrees in fits:
        least = abs(weight(max(abs(low), abs(high)))) * mp.mpf(10) ** -7
        entries, notes = [], []
        for kind, degree in zip("fd", degrees, strict=True):
            if degree is not None:
                found, level = minimax(f, degree, low, high, lambda x, w=weight, e=least: abs(w(x)) + e)
                entries.append(f'    "{kind}": {tuple_of(found, kind)},')
                notes.append(f"2^{float(mp.log(level, 2)):.1f}")
        print(f"{name:16} {what:50} {', '.join(notes)}", file=sys.stderr)
        lines += [f"# {what}; errors {', '.join(notes)} before rounding.", f"{name} = {{", *entries, "}", ""]
    for name, what, x, single, double in known:
        entries = [f'"{kind}": {parts(x, kind, *counts)}' for kind, counts in (("f", single), ("d", double))]
        lines += [f"# {what} in parts.", f"{name} = {{{', '.join(entries)}}}", ""]
    return lines


def main() -> None:
    """Write the modules."""
    elementary = [
        *written(ELEMENTARY_FITS, ELEMENTARY_PARTS),
        "# The first 1280 bits of 2 / pi.",
        f"TWO_BY_PI = {digits()}",
        "",
    ]
    (PACKAGE / "compile" / "mathematics" / "coefficients.py").write_text("\n".join(elementary), encoding="utf-8")
    special = "\n".join(written(SPECIAL_FITS, SPECIAL_PARTS))
    (PACKAGE / "_numerics" / "coefficients.py").write_text(special, encoding="utf-8")


if __name__ == "__main__":
    main()
