"""Matrix products as C: sums in the order of the summed axis, as machine code has them."""

from __future__ import annotations

import re
from dataclasses import replace

from ..machine.forms import Form, Matrix
from ..machine.fusion import leading
from ..mathematics.lanes import REALS
from .code import CodeBlock
from .words import STORED

BLAS = 1 << 12
"""Multiplications from which on a product is left to BLAS, if it may be."""
TERMS = 4
"""Rows of the right factor that are added up together."""


APART = 1 << 9
"""Multiplications from which on a product is no part of the function that calls it."""
NARROW, TALL = 8, 16
"""Fewer columns of a result are computed as rows, if there are so many rows and those of the left factor lie side by side."""
GAP = 16
"""Elements between rows of a copy that would otherwise be a power of 2 apart."""


def sums(text: str, *, fma: bool) -> str:
    """The macros for x * y + z that a text uses, by the kind of numbers; whole ones as if they had no sign."""
    found = []
    for kind in sorted(set(re.findall(r"PB_MAD_(\w+)", text))):
        body = (
            "((x) * (y) + (z))"
            if kind in "DF"
            else f"(({STORED[kind.lower()]})((uint64_t)(x) * (uint64_t)(y) + (uint64_t)(z)))"
        )
        body = f"fma{'f' if kind == 'F' else ''}(x, y, z)" if fma and kind in "DF" else body
        found.append(f"#define PB_MAD_{kind}(x, y, z) {body}\n")
    return "".join(found)


def packed(form: Form, *, blas: bool) -> int:
    """The elements of a copy: of the right factor, whose rows do not lie together, or of the result; 0 where none is made."""
    right = form.right
    if across(form, blas=blas):
        return form.left.rows * right.columns
    if by_blas(form, blas=blas) or right.columns == 1 or right.right == 1:
        return 0
    return right.rows * _pitch(form) if form.left.rows >= TERMS else 0


def _pitch(form: Form) -> int:
    """How far rows of the copy are apart: not so that all begin in the same places of a cache."""
    columns = form.right.columns
    return columns + GAP if columns * (4 if form.kind == "f" else 8) % 256 == 0 else columns


def across(form: Form, *, blas: bool) -> Form | None:
    """The form of the turned product, where that is what is computed: of a result with few columns."""
    a, b = form.left, form.right
    narrow = 1 < b.columns < NARROW and a.down == 1 and a.rows >= TALL
    return replace(form, left=_turned(b), right=_turned(a)) if narrow and not by_blas(form, blas=blas) else None


def _turned(m: Matrix) -> Matrix:
    return replace(m, rows=m.columns, columns=m.rows, down=m.right, right=m.down)


def by_blas(form: Form, *, blas: bool) -> bool:
    """Whether a product is a call of BLAS."""
    return blas and form.kind in REALS and form.work >= BLAS


def written(name: str, form: Form, *, blas: bool) -> str:
    """The function of a product: c = a b, of one batch, given where the matrices begin."""
    kind = STORED[form.kind]
    room = f", {kind} *PB_RESTRICT packed" if packed(form, blas=blas) else ""
    apart = "PB_APART" if form.work >= APART else "static"
    head = f"{apart} void {name}(const {kind} *PB_RESTRICT a, const {kind} *PB_RESTRICT b, {kind} *PB_RESTRICT c{room})"
    block = CodeBlock()
    other = across(form, blas=blas)
    if other is not None:
        rows, columns = form.left.rows, form.right.columns
        block.say(f"{name}_turned(b, a, packed);")
        loop = block.inner(f"for (int i = 0; i < {rows}; ++i)")
        loop.inner(f"for (int j = 0; j < {columns}; ++j)").say(f"c[{columns} * i + j] = packed[{rows} * j + i];")
        head = f"{written(f'{name}_turned', other, blas=blas)}\n{head}"
    elif by_blas(form, blas=blas):
        _call(form, block)
    elif form.right.columns == 1 or (form.right.right != 1 and not room):
        _dots(form, block)
    else:
        _rows(form, block)
    return "\n".join([head, "{", *_lines(block, 1), "}", ""])


def _lines(block: CodeBlock, depth: int) -> list[str]:
    found = []
    for statement in block.statements:
        if isinstance(statement, CodeBlock):
            head = "".join(statement.head)
            found += [
                "    " * depth + (f"{head} {{" if head else "{"),
                *_lines(statement, depth + 1),
                "    " * depth + "}",
            ]
        else:
            found.append("    " * depth + "".join(statement))
    return found


def _call(form: Form, block: CodeBlock) -> None:
    left, right = (leading(m.rows, m.columns, m.down, m.right) for m in (form.left, form.right))
    assert left is not None
    assert right is not None
    turned = {111: "CblasNoTrans", 112: "CblasTrans"}
    sizes = f"{form.left.rows}, {form.right.columns}, {form.left.columns}"
    letter, one, zero = ("s", "1.0f", "0.0f") if form.kind == "f" else ("d", "1.0", "0.0")
    block.say(f"cblas_{letter}gemm(CblasRowMajor, {turned[left[0]]}, {turned[right[0]]}, {sizes}, {one},")
    block.say(f"    a, {left[1]}, b, {right[1]}, {zero}, c, {form.right.columns});")


def _times(index: str, step: int) -> str:
    return index if step == 1 else f"{step} * {index}"


def _place(*terms: tuple[str, int, int]) -> str:
    """A sum of indices times steps, of axes longer than 1."""
    return " + ".join(_times(index, step) for index, step, size in terms if size > 1 and step) or "0"


def _dots(form: Form, block: CodeBlock) -> None:
    """Each element by itself; of one row, four at a time, for each sum waits for itself."""
    kind, a, b = STORED[form.kind], form.left, form.right
    loop = block if a.rows == 1 else block.inner(f"for (int i = 0; i < {a.rows}; ++i)")
    n, together = b.columns, TERMS if b.columns >= TERMS else 1
    whole = n // together * together
    for start, end, step in ((0, whole, together), (whole, n, 1)):
        if start == end:
            continue
        inner = loop.inner(f"for (int j = {start}; j < {end}; j += {step})" if step > 1 or end - start > 1 else "")
        column = "j" if step > 1 or end - start > 1 else str(start)
        names = [f"sum{place}" for place in range(step)]
        inner.say(f"{kind} ", ", ".join(f"{name} = 0" for name in names), ";")
        terms = inner.inner(f"for (int k = 0; k < {a.columns}; ++k)")
        terms.say(f"const {kind} x = a[{_place(('i', a.down, a.rows), ('k', a.right, a.columns))}];")
        for place, name in enumerate(names):
            index = f"({column} + {place})" if place else column
            at = _place(("k", b.down, b.rows), (index, b.right, max(b.columns, 1)))
            terms.say(f"{name} = PB_MAD_{form.kind.upper()}(x, b[{at}], {name});")
        for place, name in enumerate(names):
            index = f"{column} + {place}" if place else column
            inner.say(f"c[{_place(('i', n, a.rows))} + {index}] = {name};")


def _rows(form: Form, block: CodeBlock) -> None:
    """Rows of the result as sums of rows of the right factor, which lie together, several at a time."""
    kind, a, b = STORED[form.kind], form.left, form.right
    down = b.down
    if b.right != 1:
        outer = block.inner(
            f"for (int j = 0; j < {b.columns}; ++j)"
        )  # pointers, as gcc would exchange loops over indices
        outer.say(f"const {kind} *from = b + {_times('j', b.right)};")
        outer.say(f"{kind} *to = packed + j;")
        inner = outer.inner(f"for (int k = 0; k < {b.rows}; ++k)")
        inner.say("*to = *from;")
        inner.say(f"from += {b.down};")
        inner.say(f"to += {_pitch(form)};")
        block.say("b = packed;")
        down = _pitch(form)
    pairs = next(rows for rows in (TERMS, 2, 1) if a.rows % rows == 0)
    loop = block if a.rows == 1 else block.inner(f"for (int i = 0; i < {a.rows}; i += {pairs})")
    for row in range(pairs):
        at = _place((f"(i + {row})" if row else "i", b.columns, a.rows))
        loop.say(f"{kind} *PB_RESTRICT c{row} = c + {at};")
    terms = min(TERMS, a.columns)
    whole = a.columns // terms * terms
    _terms(form, loop, pairs, [*range(terms)], down, first=True)
    if whole > terms:
        inner = loop.inner(f"for (int k = {terms}; k < {whole}; k += {terms})")
        _terms(form, inner, pairs, [f"(k + {term})" if term else "k" for term in range(terms)], down)
    if whole < a.columns:
        _terms(form, loop, pairs, [*range(whole, a.columns)], down)


def _terms(
    form: Form, block: CodeBlock, pairs: int, places: list[str] | list[int], down: int, *, first: bool = False
) -> None:
    """Add rows of the right factor, times elements of the left, to rows of the result."""
    kind, a = STORED[form.kind], form.left
    block = block.inner("")
    for row in range(pairs):
        index = f"(i + {row})" if row else "i"
        for number, place in enumerate(places):
            at = f"{_place((index, a.down, a.rows))} + {_times(str(place), a.right)}"
            block.say(f"const {kind} a{row}{number} = a[{at}];")
    inner = block.inner(f"for (int j = 0; j < {form.right.columns}; ++j)")
    for row in range(pairs):
        text = "" if first else f"c{row}[j]"
        for number, place in enumerate(places):
            x = f"b[{_times(str(place), down)} + j]"
            whole = "" if form.kind in REALS else f"PB_MAD_{form.kind.upper()}(a{row}{number}, {x}, 0)"
            product = whole or f"a{row}{number} * {x}"
            text = product if not text else f"PB_MAD_{form.kind.upper()}(a{row}{number}, {x}, {text})"
        inner.say(f"c{row}[j] = {text};")
