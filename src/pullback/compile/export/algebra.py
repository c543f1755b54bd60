"""Dense linear algebra of small matrices: factorizations and what is solved by them, for each matrix of a batch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..machine.elements import KINDS
from ..program import Equation
from .kernels import Kernel, code
from .words import STORED, SUFFIX

if TYPE_CHECKING:
    from .unit import FunctionWriter

CHOLESKY = """
/* The lower factor of a positive definite matrix; NaN where it is not. */
static void {name}(const {type} *a, {type} *y, int n, int upper)
{
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) y[i * n + j] = 0;
        for (int j = 0; j <= i; ++j) {
            {type} s = upper ? a[j * n + i] : a[i * n + j];
            for (int k = 0; k < j; ++k) s -= y[i * n + k] * y[j * n + k];
            y[i * n + j] = i == j ? {sqrt}(s) : s / y[j * n + j];
            if (i != j || !(s <= 0)) continue;
            for (int k = 0; k < n * n; ++k) y[k] = ({type})PB_NAN;
            return;
        }
    }
}
"""

FACTORS = """
/* L and U of a matrix in its place, by the largest element of each column; the number of exchanges, and -1 - j for a zero. */
static int {name}({type} *a, int32_t *pivots, int m, int n, int pivot)
{
    int swaps = 0, zero = 0;
    for (int j = 0; j < m && j < n; ++j) {
        int p = j;
        if (pivot)
            for (int i = j + 1; i < m; ++i)
                if ({fabs}(a[i * n + j]) > {fabs}(a[p * n + j])) p = i;
        pivots[j] = p + 1;
        if (p != j) {
            swaps ^= 1;
            for (int k = 0; k < n; ++k) {
                const {type} t = a[j * n + k];
                a[j * n + k] = a[p * n + k];
                a[p * n + k] = t;
            }
        }
        if (a[j * n + j] == 0) {
            if (!zero) zero = j + 1;
            continue;
        }
        for (int i = j + 1; i < m; ++i) {
            const {type} f = a[i * n + j] /= a[j * n + j];
            for (int k = j + 1; k < n; ++k) a[i * n + k] -= f * a[j * n + k];
        }
    }
    return zero ? -zero : swaps;
}
"""

SOLVED = """
/* The solution of a triangular system in the place of its right side. */
static void {name}(const {type} *a, {type} *x, int n, int m, int upper, int unit)
{
    for (int q = 0; q < n; ++q) {
        const int i = upper ? n - 1 - q : q;
        for (int k = upper ? i + 1 : 0; k < (upper ? n : i); ++k)
            for (int j = 0; j < m; ++j) x[i * m + j] -= a[i * n + k] * x[k * m + j];
        if (!unit)
            for (int j = 0; j < m; ++j) x[i * m + j] /= a[i * n + i];
    }
}
"""

JACOBI = """
/* Eigenvalues, in order, and eigenvectors of a symmetric matrix, by Jacobi's rotations. */
static void {name}({type} *a, {type} *w, {type} *v, int n)
{
    {type} largest = 0, scale = 1;
    for (int i = 0; i < n * n; ++i) largest = {fabs}(a[i]) > largest || a[i] != a[i] ? {fabs}(a[i]) : largest;
    if (!(largest - largest == 0)) {
        for (int i = 0; i < n * n; ++i) w[i / n] = v[i] = ({type})PB_NAN;
        return;
    }
    while (largest * scale > {large}) scale /= {large}; /* else squares overflow, or are lost */
    while (largest * scale < 1 / {large} && largest > 0) scale *= {large};
    for (int i = 0; i < n * n; ++i) {
        a[i] *= scale;
        v[i] = i % (n + 1) == 0;
    }
    for (int sweep = 0; sweep < 60; ++sweep) {
        {type} off = 0, all = 0;
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) *(i == j ? &all : &off) += a[i * n + j] * a[i * n + j];
        if (!(off > all * {tiny})) break;
        for (int p = 0; p < n; ++p)
            for (int q = p + 1; q < n; ++q) {
                if (a[p * n + q] == 0) continue;
                const {type} h = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
                const {type} t = (h < 0 ? -1 : 1) / ({fabs}(h) + {sqrt}(h * h + 1));
                const {type} c = 1 / {sqrt}(t * t + 1), s = t * c, r = s / (1 + c), moved = t * a[p * n + q];
                a[p * n + p] -= moved; /* what changes is added, for small rotations round little */
                a[q * n + q] += moved;
                a[p * n + q] = a[q * n + p] = 0;
                for (int k = 0; k < n; ++k) {
                    const {type} x = a[k * n + p], y = a[k * n + q], f = v[k * n + p], g = v[k * n + q];
                    v[k * n + p] = f - s * (g + r * f);
                    v[k * n + q] = g + s * (f - r * g);
                    if (k == p || k == q) continue;
                    a[k * n + p] = a[p * n + k] = x - s * (y + r * x);
                    a[k * n + q] = a[q * n + k] = y + s * (x - r * y);
                }
            }
    }
    for (int i = 0; i < n; ++i) w[i] = a[i * n + i] / scale;
    for (int i = 0; i < n; ++i)
        for (int j = i + 1; j < n; ++j)
            if (w[j] < w[i]) {
                const {type} t = w[i];
                w[i] = w[j];
                w[j] = t;
                for (int k = 0; k < n; ++k) {
                    const {type} u = v[k * n + i];
                    v[k * n + i] = v[k * n + j];
                    v[k * n + j] = u;
                }
            }
}
"""


def routine(writer: FunctionWriter, name: str, text: str, kind: str) -> str:
    """The name of a function of the file."""
    full = f"pb_{name}_{kind}"
    words = {"name": full, "type": STORED[kind], "sqrt": "sqrt" + SUFFIX[kind], "fabs": "fabs" + SUFFIX[kind]}
    words["tiny"], words["large"] = ("1e-34", f"{2.0**200}") if kind == "d" else ("1e-16f", f"{2.0**40}f")
    for key, word in words.items():
        text = text.replace("{" + key + "}", word)
    writer.unit.functions.texts.setdefault(full, text.lstrip("\n"))
    return full


def _cholesky(writer: FunctionWriter, e: Equation) -> None:
    kind, n = KINDS[e.output.dtype], e.output.shape[-1]
    name = routine(writer, "cholesky", CHOLESKY, kind)
    upper = int(bool(e.params.get("upper")))
    with writer.inside(f"for (int i = 0; i < {e.output.size // (n * n)}; ++i)"):
        writer.block.say(f"{name}(a + i * {n * n}, y + i * {n * n}, {n}, {upper});")
        if e.params.get("operation"):
            failure = writer.failure(f"{e.params['operation']}: a matrix that is not positive definite")
            with writer.inside(f"for (int k = i * {n * n}; k < (i + 1) * {n * n}; ++k)"):
                writer.block.say(f"if (!(y[k] - y[k] == 0)) return {failure};")


def _solve_triangular(writer: FunctionWriter, e: Equation) -> None:
    upper, unit = int(e.params["upper"]), int(bool(e.params.get("unitriangular")))
    _each(
        writer,
        e,
        f"{routine(writer, 'triangular', SOLVED, KINDS[e.output.dtype])}(f, z, {{n}}, {{m}}, {upper}, {unit});",
    )


def _each(writer: FunctionWriter, e: Equation, text: str, *, factored: bool = False) -> None:
    """For each pair of a matrix and a right side, which are broadcast: f is the matrix, z the solution in the making."""
    a, b = e.inputs
    n, m, kind = a.shape[-1], e.output.shape[-1], KINDS[e.output.dtype]
    batch = e.output.shape[:-2]
    count = math.prod(batch)
    places = [_batch(value.shape[:-2], batch) for value in (a, b)]
    writer.block.say(f"for (int i = 0; i < {count}; ++i) {{")
    writer.block.say(f"const {STORED[kind]} *f = a + ({places[0]}) * {n * n};")
    writer.block.say(f"{STORED[kind]} *z = y + i * {n * m};")
    if not factored:
        writer.block.say(f"memcpy(z, b + ({places[1]}) * {n * m}, {n * m} * sizeof *z);")
    code(writer, text, n=n, m=m, right=f"b + ({places[1]}) * {n * m}")
    writer.block.say("}")


def _batch(own: tuple[int, ...], batch: tuple[int, ...]) -> str:
    """The number of a matrix among those of an operand, from that among all."""
    terms, step = [], 1
    for axis in reversed(range(len(own))):
        place = axis + len(batch) - len(own)
        if own[axis] > 1:
            terms.append(f"i / {math.prod(batch[place + 1 :])} % {batch[place]} * {step}")
        step *= own[axis]
    return " + ".join(terms) or "0"


def _lu_room(writer: FunctionWriter, kind: str, n: int) -> tuple[str, str, str]:
    factors = writer.room(f"lu_{kind}", kind, n * n)
    return routine(writer, "factors", FACTORS, kind), factors, writer.room("pivots", "i32", n)


def _singular(writer: FunctionWriter, e: Equation) -> str:
    operation = e.params.get("operation")
    return (
        f"if (swaps < 0) return {writer.failure(f'{operation}: a singular matrix')};" if operation else "(void)swaps;"
    )


SOLVE = """
memcpy({lu}, f, {n} * {n} * sizeof *f);
const int swaps = {factor}({lu}, {pivots}, {n}, {n}, 1);
{check}
memcpy(z, {right}, {n} * {m} * sizeof *z);
for (int k = 0; k < {n}; ++k)
    for (int j = 0; j < {m}; ++j) {
        const {type} t = z[k * {m} + j];
        z[k * {m} + j] = z[({pivots}[k] - 1) * {m} + j];
        z[({pivots}[k] - 1) * {m} + j] = t;
    }
{solve}({lu}, z, {n}, {m}, 0, 1);
{solve}({lu}, z, {n}, {m}, 1, 0);
"""


def _solve(writer: FunctionWriter, e: Equation) -> None:
    if e.params.get("triangle"):
        upper = e.params["triangle"] == "upper"
        params = {"upper": upper}
        _solve_triangular(writer, Equation(e.primitive, e.inputs, params, e.outputs))
        return
    _each(writer, e, _solving(writer, e, e.inputs[0].shape[-1]), factored=True)


def _solving(writer: FunctionWriter, e: Equation, n: int) -> str:
    kind = KINDS[e.output.dtype]
    factor, lu, pivots = _lu_room(writer, kind, n)
    words = {"lu": lu, "factor": factor, "pivots": pivots, "check": _singular(writer, e), "type": STORED[kind]}
    words["solve"] = routine(writer, "triangular", SOLVED, kind)
    text = SOLVE
    for key, word in words.items():
        text = text.replace("{" + key + "}", word)
    return text


def _inv(writer: FunctionWriter, e: Equation) -> None:
    n, kind = e.output.shape[-1], KINDS[e.output.dtype]
    one = writer.room(f"identity_{kind}", kind, n * n)
    writer.block.say(f"for (int i = 0; i < {n * n}; ++i) {one}[i] = i % {n + 1} == 0;")
    writer.block.say(f"for (int i = 0; i < {e.output.size // (n * n)}; ++i) {{")
    writer.block.say(f"const {STORED[kind]} *f = a + i * {n * n};")
    writer.block.say(f"{STORED[kind]} *z = y + i * {n * n};")
    code(writer, _solving(writer, e, n), n=n, m=n, right=one)
    writer.block.say("}")


def _determinant(writer: FunctionWriter, e: Equation) -> None:
    """`det`, or the sign and the logarithm of its size."""
    x = e.inputs[0]
    n, kind = x.shape[-1], KINDS[x.dtype]
    factor, lu, pivots = _lu_room(writer, kind, n)
    log = writer.unit.functions.named("log", kind, 1)
    words = {"n": n, "count": x.size // (n * n), "lu": lu, "factor": factor, "pivots": pivots, "type": STORED[kind]}
    words |= {"log": log, "fabs": "fabs" + SUFFIX[kind], "infinity": f"({STORED[kind]})-PB_INF"}
    code(writer, "for (int i = 0; i < {count}; ++i) {", **words)
    code(writer, "memcpy({lu}, a + i * {n} * {n}, {n} * {n} * sizeof *a);", **words)
    code(writer, "const int swaps = {factor}({lu}, {pivots}, {n}, {n}, 1);", **words)
    if e.name == "det":
        code(writer, "{type} total = swaps < 0 ? 0 : swaps ? -1 : 1;", **words)
        code(writer, "for (int k = 0; k < {n}; ++k) total *= {lu}[k * {n} + k];", **words)
        code(writer, "y[i] = total;", **words)
    else:
        code(writer, "{type} sign = swaps < 0 ? 0 : swaps ? -1 : 1, size = swaps < 0 ? {infinity} : 0;", **words)
        code(writer, "for (int k = 0; k < {n} && swaps >= 0; ++k) {", **words)
        code(writer, "    if ({lu}[k * {n} + k] < 0) sign = -sign;", **words)
        code(writer, "    size += {log}({fabs}({lu}[k * {n} + k]));", **words)
        code(writer, "}", **words)
        code(writer, "y[i] = sign;", **words)
        code(writer, "z[i] = size;", **words)
    code(writer, "}", **words)


def _lu_factor(writer: FunctionWriter, e: Equation) -> None:
    out, pivots, _ = e.outputs
    m, n = out.shape[-2:]
    kind, k = KINDS[out.dtype], min(m, n)
    name = routine(writer, "factors", FACTORS, kind)
    writer.block.say(f"memcpy(y, a, {out.size} * sizeof *y);")
    with writer.inside(f"for (int i = 0; i < {out.size // (m * n)}; ++i)"):
        pivot = int(e.params.get("pivot", True))
        writer.block.say(f"const int swaps = {name}(y + i * {m * n}, z + i * {k}, {m}, {n}, {pivot});")
        writer.block.say("u[i] = swaps < 0 ? -swaps : 0;")
    assert KINDS[pivots.dtype] == "i32"


def _permutation(writer: FunctionWriter, e: Equation) -> None:
    """The matrix of the exchanges of rows."""
    pivots, x = e.inputs
    m, k = x.shape[-2], pivots.shape[-1]
    rows = writer.room("rows", "i32", m)
    words = {"m": m, "k": k, "count": e.output.size // (m * m), "rows": rows, "bytes": e.output.nbytes}
    code(
        writer,
        """
memset(y, 0, {bytes});
for (int i = 0; i < {count}; ++i) {
    for (int r = 0; r < {m}; ++r) {rows}[r] = r;
    for (int j = 0; j < {k}; ++j) {
        const int32_t other = a[i * {k} + j] - 1, t = {rows}[j];
        {rows}[j] = {rows}[other];
        {rows}[other] = t;
    }
    for (int r = 0; r < {m}; ++r) y[(i * {m} + {rows}[r]) * {m} + r] = 1;
}
""",
        **words,
    )


def _eigh(writer: FunctionWriter, e: Equation) -> None:
    x = e.inputs[0]
    n, kind = x.shape[-1], KINDS[x.dtype]
    name, room = routine(writer, "jacobi", JACOBI, kind), writer.room(f"lu_{kind}", kind, n * n)
    lower = e.params["lower"]
    words = {"n": n, "room": room, "jacobi": name, "count": x.size // (n * n), "larger": "j > k" if lower else "j < k"}
    code(
        writer,
        """
for (int i = 0; i < {count}; ++i) {
    for (int j = 0; j < {n}; ++j)
        for (int k = 0; k < {n}; ++k)
            {room}[j * {n} + k] = {larger} ? a[(i * {n} + j) * {n} + k] : a[(i * {n} + k) * {n} + j];
    {jacobi}({room}, y + i * {n}, z + i * {n} * {n}, {n});
}
""",
        **words,
    )
    if e.name == "eigvalsh":
        writer.block.say(f"memset(u, 0, {e.outputs[2].nbytes});")


def _matrices(e: Equation) -> bool:
    """Matrices of one dtype of floats."""
    return all(x.dtype == e.inputs[0].dtype and x.dtype.kind == "f" and len(x.shape) >= 2 for x in e.inputs)


def _same_axes(e: Equation) -> bool:
    return _matrices(e) and len(e.output.shape) >= 2


KERNELS: dict[str, Kernel] = {}
CONDITIONS: dict[str, Callable[[Equation], bool]] = {}
KERNELS |= {
    "cholesky": _cholesky, "solve_triangular": _solve_triangular, "solve": _solve, "inv": _inv,
    "det": _determinant, "slogdet": _determinant, "lu_factor": _lu_factor, "permutation": _permutation, "eigh": _eigh,
    "eigvalsh": _eigh,
}  # fmt: skip
CONDITIONS |= dict.fromkeys(("cholesky", "inv", "det", "slogdet", "lu_factor", "eigh", "eigvalsh"), _matrices)
CONDITIONS |= dict.fromkeys(("solve", "solve_triangular"), _same_axes)
