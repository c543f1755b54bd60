"""The files around the C file, by their names: a recorded test, a makefile, a wrapper for Python, a README.

A target is a function of the exported functions that gives the text of a file; TARGETS lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..machine.elements import KINDS
from ..program import Array
from .bound import Slot
from .files import WrittenFunction, declared, shown
from .unit import Options, numbers
from .words import STORED, literal

FLAGS = "-std=c99 -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math"
"""Flags under which compilers make vectors of loops and change no bit."""
ULPS, MARGIN, MOST = 64, 16, 1e300
"""Units in the last place of an array's largest element by which results of the recorded test may differ, how often the
distance of results that other orders of rounding give, and at most."""


class Exported(NamedTuple):
    """What the files around a C file are written from."""

    name: str
    functions: list[WrittenFunction]
    options: Options
    size: int


def _array(name: str, slot: Slot, array: Array) -> str:
    kind = KINDS[slot.value.dtype]
    flat = np.ascontiguousarray(array).reshape(-1)
    flat = flat if flat.size else np.zeros(1, flat.dtype)
    return f"static const {STORED[kind]} {name}[{flat.size}] = {{\n{numbers(kind, flat)}\n}};\n"


def distance(one: Array, others: list[Array]) -> float:
    """The largest distance of arrays, in units in the last place of the largest element."""
    if one.dtype.kind != "f" or not one.size:
        return 0.0
    with np.errstate(all="ignore"):
        finite = one[np.isfinite(one)].astype(float)
        largest = float(np.max(np.abs(finite), initial=float(np.finfo(one.dtype).tiny)))
        gaps = [np.abs(np.asarray(other, float) - one) for other in others]
        most = max((float(np.nanmax(np.where(np.isfinite(gap), gap, 0.0))) for gap in gaps), default=0.0)
    return most / (largest * float(np.finfo(one.dtype).eps))


NUMBERS = "#define PB_INF INFINITY\n#define PB_NAN NAN\n"

COMPARED = """
/* The distance of results from what was recorded, in units in the last place of the largest element. */
static double pb_distance(const char *name, const void *found, const void *expected, int count, char kind)
{
    double largest = kind == 'd' ? DBL_MIN : FLT_MIN, most = 0;
    int odd = 0;
    for (int i = 0; i < count; ++i) {
        double f, e;
        switch (kind) {
        case 'd': f = ((const double *)found)[i]; e = ((const double *)expected)[i]; break;
        case 'f': f = (double)((const float *)found)[i]; e = (double)((const float *)expected)[i]; break;
        default: f = (double)((const unsigned char *)found)[i]; e = (double)((const unsigned char *)expected)[i]; break;
        }
        if (isnan(f) || isnan(e)) odd += !(isnan(f) && isnan(e));
        else if (isinf(f) || isinf(e)) odd += f != e;
        else {
            if (fabs(e) > largest) largest = fabs(e);
            if (fabs(f - e) > most) most = fabs(f - e);
        }
    }
    most = most == 0 ? 0 : kind == 'b' ? INFINITY : most / (largest * (kind == 'd' ? DBL_EPSILON : FLT_EPSILON));
    if (odd) most = INFINITY;
    printf("%-24s %g units in the last place\\n", name, most);
    return most;
}
"""


def test(exported: Exported) -> str:
    """A program that runs each function on the recorded inputs, and compares."""
    name = exported.name
    parts = [
        "#include <float.h>",
        "#include <math.h>",
        "#include <stdio.h>",
        "#include <string.h>",
        f'#include "{name}.h"',
        NUMBERS,
    ]
    checks: list[str] = []
    for function in exported.functions:
        arrays, lines = _checked(function, exported.options.static)
        parts += arrays
        checks += lines
    body = "\n".join(f"    {line}" for line in checks)
    gap, compared = (", pb_gap", [COMPARED]) if "pb_gap" in body else ("", [])
    end = '    puts(pb_worst <= 1 ? "passed" : "failed");\n    return !(pb_worst <= 1);'
    main = f"int main(void)\n{{\n    double pb_worst = 0{gap};\n{body}\n{end}\n}}\n"
    return "\n".join([*parts, *compared, main])


def _checked(function: WrittenFunction, static: bool) -> tuple[list[str], list[str]]:
    bound, prefix = function.bound, function.name
    results, after = bound.expected()
    others = bound.rounded_otherwise()
    arrays, lines, given, compared = [], [], [], []
    for slot, array in zip(bound.inputs, after, strict=True):
        if not slot.state:
            assert slot.array is not None
            arrays.append(_array(f"{prefix}_{slot.name}", slot, slot.array))
            kind, size = STORED[KINDS[slot.value.dtype]], max(slot.value.size, 1)
            if slot.written:
                lines.append(f"static {kind} {slot.name}[{size}];")
                lines.append(f"memcpy({slot.name}, {prefix}_{slot.name}, sizeof {slot.name});")
            given.append(slot.name if slot.written else f"{prefix}_{slot.name}")
        if slot.written:
            arrays += [_array(f"{prefix}_{slot.name}_after", slot, array)] if array.size else []
            compared.append((slot, f"state.{slot.name}" if slot.state else slot.name, f"{prefix}_{slot.name}_after"))
    for slot, array in zip(bound.outputs, results, strict=True):
        arrays += [_array(f"{prefix}_{slot.name}_expected", slot, array)] if array.size else []
        lines.append(f"static {STORED[KINDS[slot.value.dtype]]} {slot.name}[{max(slot.value.size, 1)}];")
        given.append(slot.name)
        compared.append((slot, slot.name, f"{prefix}_{slot.name}_expected"))
    if bound.state:
        title = function.unit.prefix
        lines += [f"static {title}_state state;", f"{title}_init(&state);"]
        given.append("&state")
    if function.rooms and not static:
        lines.append(f"static {prefix}_work work;")
        given.append("&work")
    lines.append(f'if ({prefix}({", ".join(given)})) {{ puts("a check failed"); return 1; }}')
    bounds = [min(ULPS + MARGIN * distance(array, others[slot.name]), MOST) for slot, array in [
        *((slot, array) for slot, array in zip(bound.inputs, after, strict=True) if slot.written),
        *zip(bound.outputs, results, strict=True),
    ]]  # fmt: skip
    for (slot, found, expected), allowed in zip(compared, bounds, strict=True):
        if not slot.value.size:
            continue
        kind = KINDS[slot.value.dtype]
        count, letter = (slot.value.size, kind) if kind in "fd" else (slot.value.nbytes, "b")
        lines.append(f"pb_gap = pb_distance(\"{slot.name}\", {found}, {expected}, {count}, '{letter}');")
        lines.append(f"pb_worst = pb_gap / {allowed:.6g} > pb_worst ? pb_gap / {allowed:.6g} : pb_worst;")
    return arrays, ["{", *[f"    {line}" for line in lines], "}"]


def makefile(exported: Exported) -> str:
    """A makefile: the test, a shared library, an object file."""
    name = exported.name
    blas = "-lcblas " if exported.options.products == "cblas" else ""
    fused = " -march=native" if exported.options.fma else ""
    sources = f"{name}.c" + f" {name}_casadi.c" * (exported.options.abi == "casadi")
    symbols = dict.fromkeys(["__heap_base", *[name for each in exported.functions for name in each.symbols]])
    exports = " ".join(f"-Wl,--export={symbol}" for symbol in symbols)
    return f"""# `make test` compiles and runs the recorded test; CFLAGS may say -march=native, but never -ffast-math.
CC ?= cc
CFLAGS ?= {FLAGS}{fused}

all: {name}.o

{name}.o: {name}.c {name}.h
\t$(CC) $(CFLAGS) -c {name}.c

lib{name}.so: {sources} {name}.h
\t$(CC) $(CFLAGS) -fPIC -shared {sources} -o $@ {blas}-lm

# WebAssembly, without C's library; `pip install ziglang` has another compiler: WASM="python -m ziglang cc -target wasm32-freestanding"
WASM ?= clang --target=wasm32

{name}.wasm: {name}.c {name}.h
\t$(WASM) {FLAGS} -msimd128 -mbulk-memory -DPB_FREESTANDING -ffreestanding -nostdlib -s -Wl,--no-entry {exports} {name}.c -o $@

test: test_{name}
\t./test_{name}

test_{name}: test_{name}.c {name}.o
\t$(CC) $(CFLAGS) test_{name}.c {name}.o -o $@ {blas}-lm

clean:
\trm -f {name}.o lib{name}.so {name}.wasm test_{name}

.PHONY: all test clean
"""


WRAPPER = '''"""@NAME@, as pullback has exported it: `make lib@NAME@.so`, then `Library().@FIRST@(...)`."""

import ctypes
import pathlib

import numpy as np

FUNCTIONS = {
@TABLES@
}
"""Of each function its arguments, results, state and work memory: names, dtypes and shapes."""


def struct(rows):
    """Memory as C has it."""
    fields = [(name, dtype, (max(int(np.prod(shape)), 1),)) for name, dtype, shape, _ in rows]
    return np.zeros(1, np.dtype(fields, align=True))


class Function:
    """A function of the library, with the state that all of them share, and work memory of its own."""

    def __init__(self, library, name, state):
        self.name, self.table, self.state = name, FUNCTIONS[name], state
        self.call = getattr(library, name)
        self.call.restype = ctypes.c_int
        self.work = struct(self.table["work"])

    def __call__(self, *given):
        arrays, results = [], []
        if len(given) != len(self.table["arguments"]):
            raise TypeError(f"{self.name} takes {len(self.table['arguments'])} arguments, not {len(given)}")
        for (name, dtype, shape, written), value in zip(self.table["arguments"], given):
            array = np.asarray(value)
            if array.ndim == 0 and array.dtype != dtype and array.dtype.kind == np.dtype(dtype).kind:
                array = array.astype(dtype)
            if array.shape != tuple(shape) or array.dtype != np.dtype(dtype):
                raise ValueError(f"{name} is to be {dtype}{list(shape)}, not {array.dtype}{list(array.shape)}")
            if written and not (array.flags.c_contiguous and array is value):
                raise ValueError(f"{name} is written, so it is to be an array that lies together")
            arrays.append(np.ascontiguousarray(array))
        for name, dtype, shape, _ in self.table["results"]:
            results.append(np.empty(shape, dtype))
        pointers = [*arrays, *results]
        pointers += [self.state] if self.table["state"] else []
        pointers += [self.work] if self.table["work"] else []
        code = self.call(*[ctypes.c_void_p(array.ctypes.data) for array in pointers])
        if code:
            raise ValueError(f"{self.name}: check {code} failed, and the state is as it was")
        return results[0] if len(results) == 1 else tuple(results)


class Library:
    """The compiled library."""

    def __init__(self, path=None):
        self.library = library = ctypes.CDLL(str(path or pathlib.Path(__file__).resolve().parent / "lib@NAME@.so"))
        self.state = struct(next((table["state"] for table in FUNCTIONS.values() if table["state"]), []))
        if self.state.dtype.names:
            library.@NAME@_init.restype = None
            library.@NAME@_init(ctypes.c_void_p(self.state.ctypes.data))
        for name in FUNCTIONS:
            setattr(self, name, Function(library, name, self.state))
'''
SEEDED = '''
    def seed(self, number, generator="generator"):
        """Set a generator of the state as manual_seed does."""
        place = ctypes.c_void_p(self.state[generator].ctypes.data)
        self.library.@NAME@_seed(place, ctypes.c_uint64(number))
'''


def wrapper(exported: Exported) -> str:
    """A module of Python that calls the library: ctypes and NumPy."""
    static = exported.options.static
    tables = ",\n".join(f"    {function.name!r}: {table(function, static)!r}" for function in exported.functions)
    words = {"@TABLES@": tables, "@FIRST@": exported.functions[0].name, "@NAME@": exported.name}
    text = WRAPPER + SEEDED * exported.functions[0].unit.draws
    for word, said in words.items():
        text = text.replace(word, said)
    return text


Row = tuple[str, str, tuple[int, ...], bool]
"""A name, a dtype, a shape, and whether it is written."""


def table(function: WrittenFunction, static: bool) -> dict[str, list[Row]]:
    """What a function takes, gives, and has as memory."""
    bound = function.bound

    def rows(slots: Sequence[Slot]) -> list[Row]:
        return [(slot.name, str(slot.value.dtype), slot.value.shape, slot.written) for slot in slots]

    memory = [] if static else [*function.rooms.items()]
    work: list[Row] = [(name, _dtype(kind), (size,), True) for name, (kind, size) in memory]
    return {
        "arguments": rows(bound.arguments),
        "results": rows(bound.outputs),
        "state": rows(function.unit.state) if bound.state else [],
        "work": work,
    }


def _dtype(kind: str) -> str:
    return next(str(dtype) for dtype, other in KINDS.items() if other == kind)


def _threads(options: Options) -> str:
    if options.static:
        return "One thread may call a function at a time."
    return "Threads may call a function at once, each with a state and work memory of its own."


def _begun(slot: Slot) -> str:
    """What an example gives an argument that no one passes in Python: a learning rate."""
    rate = bool(slot.path) and not slot.state and slot.array is not None
    return f" = {{{literal(KINDS[slot.value.dtype], np.asarray(slot.array).item())}}}" if rate else ""


def example(exported: Exported) -> str:
    """A program that calls each function once."""
    name, static = exported.name, exported.options.static
    lines = [f'#include "{name}.h"', "", "int main(void)", "{", "    int failed = 0;"]
    if exported.functions[0].unit.state:
        lines += [f"    static {name}_state state;", f"    {name}_init(&state);"]
    for function in exported.functions:
        slots = [*function.bound.arguments, *function.bound.outputs]
        inside = [f"static {declared(slot, constant=False)}{_begun(slot)};" for slot in slots]
        given = [slot.name for slot in slots] + ["&state"] * bool(function.bound.state)
        if function.rooms and not static:
            inside.append(f"static {function.name}_work work;")
            given.append("&work")
        inside += ["/* put numbers into the arguments */", f"failed |= {function.name}({', '.join(given)});"]
        lines += ["    {", *[f"        {line}" for line in inside], "    }"]
    return "\n".join([*lines, "    return failed;", "}", ""])


CHECKS = """It returns 0, or the number of a check that fails; the state is then as it was. A check is an index or a label in range, or
what the program was recorded for, in an operation of a line:
"""


def _section(function: WrittenFunction, options: Options) -> list[str]:
    """What a README says of a function."""
    bound = function.bound
    lines = [
        f"## {function.name}",
        "",
        f"```c\n{function.signature(static=options.static)};\n```",
        "",
        "| | dtype and shape | |\n|---|---|---|",
    ]
    lines += [f"| `{s.name}` | {shown(s)} | {s.told}{', written' if s.written else ''} |" for s in bound.arguments]
    where = {
        s.name: f": entries of a matrix, `{function.name}_{s.name}_rows` says where" for s in bound.outputs if s.sparse
    }
    lines += [f"| `{s.name}` | {shown(s)} | result{where.get(s.name, '')} |" for s in bound.outputs]
    lines += [f"| `state->{s.name}` | {shown(s)} | {s.told}{', written' if s.written else ''} |" for s in bound.state]
    held = sum(slot.value.nbytes for slot in function.unit.state) if bound.state else 0
    lines += [
        "",
        f"Work memory: {function.work} bytes; state: {held} bytes.",
    ]
    checks = [f"{number}. {text}" for number, text in enumerate(function.plan.failures, 1)]
    return [*lines, *([CHECKS, *checks] if checks else ["It returns 0: nothing is checked."]), ""]


def readme(exported: Exported) -> str:
    """What the folder holds, how to call it, and what it needs."""
    name, options = exported.name, exported.options
    blas = "-lcblas " if options.products == "cblas" else ""
    needs = "that calls CBLAS" if options.products == "cblas" else "without dependencies"
    memory = "static work memory" if options.static else "no global state"
    seeds = exported.functions[0].unit.draws
    lines = [
        f"# {name}",
        "",
        f"Written by pullback: C99 {needs}, which allocates nothing and has {memory}.",
        "",
    ]
    lines += [
        "| file | what it is |",
        "|---|---|",
        f"| `{name}.h`, `{name}.c` | the functions: {exported.size // 1024 + 1} KB of text |",
        f"| `test_{name}.c` | runs them on the recorded inputs and compares: `make test` |",
        f"| `{name}.py` | calls `lib{name}.so` from Python, by ctypes |",
        f"| `{name}.mjs` | calls `{name}.wasm` from JavaScript: `make {name}.wasm` |",
        f"| `{name}.rs` | calls the functions from Rust |",
        "",
    ]
    for function in exported.functions:
        lines += _section(function, options)
    lines += ["## Example", "", f"```c\n{example(exported)}```", ""]
    lines += [f"`cc {FLAGS} main.c {name}.c -o main {blas}-lm` compiles it as `main.c`.", ""]
    lines += [
        f"Arrays lie in C's order. Results must not overlap what is given. {_threads(options)}",
        "Arguments that the function does not read are left out.",
        *[f"`{name}_seed(state.generator, 7)` sets the generator of random numbers as `manual_seed(7)` does."] * seeds,
        f"Compile with `{FLAGS}`, never with `-ffast-math`, and link with `-lm`.",
        "",
    ]
    return "\n".join(lines)


TARGETS: dict[str, Callable[[Exported], str]] = {
    "test_{name}.c": test,
    "Makefile": makefile,
    "{name}.py": wrapper,
    "README.md": readme,
}
"""The files beside header and source, by name."""
