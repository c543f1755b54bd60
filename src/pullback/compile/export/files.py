"""The text of the files: header, source, recorded test, makefile and README."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ..machine.elements import KINDS
from . import drawing, products
from .bound import Bound, Slot
from .code import remark
from .unit import FunctionWriter, Unit, numbers
from .words import STORED

if TYPE_CHECKING:
    from ...sparsity.matrices import Plan

PORTABLE = """#ifdef __FAST_MATH__
#error "compile without -ffast-math: the formulas of this file need IEEE arithmetic"
#endif
#include <float.h>
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0
#error "floats are to be computed in their own precision: for 32-bit x86, compile with -msse2 -mfpmath=sse"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF /* gcc with -std=c99 contracts nothing */
#endif
#if defined(PB_FREESTANDING) /* no C library: what gcc and clang have themselves */
#include <stddef.h>
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define sqrt __builtin_sqrt
#define sqrtf __builtin_sqrtf
#define fabs __builtin_fabs
#define fabsf __builtin_fabsf
#define copysign __builtin_copysign
#define copysignf __builtin_copysignf
#define memcpy __builtin_memcpy
#define memset __builtin_memset
#else
#include <math.h>
#include <string.h>
#endif

#define PB_INF INFINITY
#define PB_NAN NAN
#if defined(__GNUC__) && !defined(__OPTIMIZE_SIZE__)
#define PB_INLINE static inline __attribute__((always_inline, unused))
#define PB_APART static __attribute__((noinline)) /* within others, compilers forget that pointers are apart */
#elif defined(__GNUC__)
#define PB_INLINE static __attribute__((unused))
#else
#define PB_INLINE static inline
#endif
#if !defined(PB_APART)
#define PB_APART static
#endif
"""

HELPERS = {
    "pb_bits_f": "PB_INLINE uint32_t pb_bits_f(float x) { uint32_t n; memcpy(&n, &x, 4); return n; }",
    "pb_bits_d": "PB_INLINE uint64_t pb_bits_d(double x) { uint64_t n; memcpy(&n, &x, 8); return n; }",
    "pb_real_f": "PB_INLINE float pb_real_f(uint32_t n) { float x; memcpy(&x, &n, 4); return x; }",
    "pb_real_d": "PB_INLINE double pb_real_d(uint64_t n) { double x; memcpy(&x, &n, 8); return x; }",
}


def shown(slot: Slot) -> str:
    """The dtype and the shape of a slot."""
    return f"{slot.value.dtype}{list(slot.value.shape)}"


def declared(slot: Slot, *, constant: bool) -> str:
    """A slot as an argument or a member."""
    return f"{'const ' if constant else ''}{STORED[KINDS[slot.value.dtype]]} {slot.name}[{max(slot.value.size, 1)}]"


class WrittenFunction:
    """The text of one function, and what it needs."""

    def __init__(self, unit: Unit, bound: Bound, plan: FunctionWriter) -> None:
        self.unit, self.bound, self.plan = unit, bound, plan
        self.lines = plan.write()
        self.rooms = plan.rooms

    @property
    def name(self) -> str:
        """Its name."""
        return self.bound.name

    @property
    def symbols(self) -> list[str]:
        """The names of C that a caller needs."""
        prefix = self.unit.prefix
        return [self.name, *[f"{prefix}_init"] * bool(self.bound.state), *[f"{prefix}_seed"] * self.unit.draws]

    @property
    def work(self) -> int:
        """The bytes of its work memory."""
        return sum(np.dtype(_dtype(kind)).itemsize * size for kind, size in self.rooms.values())

    def signature(self, *, static: bool) -> str:
        """Its head in C."""
        arguments = [declared(slot, constant=not slot.written) for slot in self.bound.arguments]
        arguments += [declared(slot, constant=False) for slot in self.bound.outputs]
        if self.bound.state:
            arguments.append(f"{self.unit.prefix}_state *PB_RESTRICT state")
        if self.rooms and not static:
            arguments.append(f"{self.name}_work *PB_RESTRICT work")
        return f"int {self.name}({', '.join(arguments) or 'void'})"

    def memory(self) -> str:
        """Its work memory as a struct."""
        arrays = [f"    {STORED[kind]} {name}[{size}];" for name, (kind, size) in self.rooms.items()]
        return _struct(f"{self.name}_work", arrays) if arrays else ""

    def text(self, *, static: bool) -> str:
        """The function."""
        lines = [self.signature(static=static), "{"]
        if static and self.rooms:
            lines += [f"    static {self.name}_work own;", f"    {self.name}_work *const work = &own;"]
        used = "\n".join(line for line in self.lines if not line.lstrip().startswith("/*"))
        every = [*[slot.name for slot in (*self.bound.arguments, *self.bound.outputs)]]
        every += ["state"] if self.bound.state else []
        every += ["work"] if self.rooms and not static else []
        lines += [f"    (void){name};" for name in every if not _mentions(used, name)]
        return "\n".join([*lines, *self.lines, "}", ""])

    @property
    def sparse(self) -> list[tuple[str, Plan]]:
        """The results that are entries of sparse matrices: what their tables are called, and where the entries are."""
        found = [(f"{self.name}_{slot.name}", slot.sparse) for slot in self.bound.outputs]
        return [(title, plan) for title, plan in found if plan is not None and plan.rows.size]

    def patterns(self) -> str:
        """Where the entries of sparse results are."""
        return "".join(
            f"const int32_t {title}_{what}[{len(places)}] = {{\n{numbers('i32', places)}\n}};\n"
            for title, plan in self.sparse
            for what, places in (("rows", plan.rows), ("columns", plan.cols))
        )


def initialization(unit: Unit) -> str:
    """The function that gives the state what it held when the functions were exported."""
    if not unit.state:
        return ""
    lines = [f"void {unit.prefix}_init({unit.prefix}_state *state)", "{"]
    for slot in unit.state:
        kind, flat = KINDS[slot.value.dtype], np.ascontiguousarray(slot.array).reshape(-1)
        if not flat.size:
            continue
        same = flat.size > 4 and len({x.tobytes() for x in flat}) == 1
        if same and not flat[0].tobytes().strip(b"\0"):
            lines.append(f"    memset(state->{slot.name}, 0, sizeof state->{slot.name});")
            continue
        lines.append(
            f"    {{\n    static const {STORED[kind]} values[{flat.size}] = {{\n{numbers(kind, flat)}\n    }};"
        )
        lines.append(f"    memcpy(state->{slot.name}, values, sizeof values);\n    }}")
    return "\n".join([*lines, "}", ""])


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", text) is not None


def _dtype(kind: str) -> str:
    return {"f": "f4", "d": "f8", "b1": "?"}.get(kind) or f"{kind[0]}{int(kind[1:]) // 8}"


def _struct(name: str, members: list[str]) -> str:
    return "\n".join(["typedef struct {", *members, f"}} {name};", ""])


def header(name: str, functions: list[WrittenFunction], *, static: bool) -> str:
    """The header."""
    guard = f"{name.upper()}_H"
    lines = [f"#ifndef {guard}", f"#define {guard}", "", "#include <stdint.h>", ""]
    lines += ["#ifdef __cplusplus", 'extern "C" {', "#define PB_RESTRICT", "#elif !defined(PB_RESTRICT)"]
    lines += [
        "#if defined(_MSC_VER)",
        "#define PB_RESTRICT __restrict",
        "#else",
        "#define PB_RESTRICT restrict",
        "#endif",
    ]
    lines += ["#endif", ""]
    unit = functions[0].unit
    if unit.state:
        members = [
            f"    {declared(slot, constant=False)}; /* {remark(slot.told)}: {shown(slot)} */" for slot in unit.state
        ]
        lines += [_struct(f"{name}_state", members)]
    for function in functions:
        lines += [function.memory()] if function.rooms and not static else []
        told = [f"   {slot.name}: {shown(slot)}" + _role(slot) for slot in function.bound.arguments]
        told += [f"   {slot.name}: {shown(slot)}, a result" for slot in function.bound.outputs]
        lines += ["/* Returns 0, or the number of the check that failed; the state is then as it was.", *told, "*/"]
        lines += [f"{function.signature(static=static)};", ""]
        for full, plan in function.sparse:
            rows, columns, count = *plan.shape, len(plan.rows)
            lines += [f"/* Where the entries are in a matrix of {rows} rows and {columns} columns, row after row. */"]
            lines += [f"#define {full}_entries {count}"]
            lines += [f"extern const int32_t {full}_{what}[{count}];" for what in ("rows", "columns")] + [""]
    if unit.state:
        lines += ["/* Gives the state what it held when this was exported. */"]
        lines += [f"void {name}_init({name}_state *state);", ""]
    lines += [drawing.seeding_head(name), ""] if unit.draws else []
    return "\n".join([*lines, "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""])


def _role(slot: Slot) -> str:
    said = "" if slot.told == slot.name else f" ({remark(slot.told)})"
    return f"{said}, which is written" if slot.written else said


def source(name: str, unit: Unit, functions: list[WrittenFunction], *, static: bool) -> str:
    """The C file."""
    bodies = "\n".join(function.text(static=static) for function in functions)
    made = "\n".join(products.written(title, form, blas=unit.blas) for form, title in unit.products.items())
    nests = "\n".join(f"{head}{text}" for text, head in unit.heads.items())
    formulas = "\n".join(unit.functions.texts.values())
    tables = "".join(
        f"static const double pb_{title}[{len(table)}] = {{\n{numbers('d', np.array(table))}\n}};\n"
        for title, table in unit.functions.tables.items()
    )
    used = f"{formulas}\n{made}\n{nests}\n{bodies}"
    helpers = "".join(f"{text}\n" for title, text in HELPERS.items() if f"{title}(" in used)
    mad = products.sums(used, fma=unit.options.fma)
    blas = "#include <cblas.h>\n" if "cblas_" in made else ""
    constants = "\n".join(text for _, text in unit.constants.values())
    parts = [
        f'/* Written by pullback from a recorded function: C99, no allocation, no global state. */\n#include "{name}.h"\n',
        PORTABLE + blas + mad + helpers,
        tables,
        constants,
        formulas,
        made,
        "\n".join(function.memory() for function in functions) if static else "",
        nests,
        "".join(function.patterns() for function in functions),
        bodies,
        initialization(unit),
        drawing.seeding(name) if unit.draws else "",
    ]
    return "\n".join(part for part in parts if part)
