"""Matrix products outside of compile, on processors with 512-bit registers: a built-in function for each dtype.

It reads sizes and strides from the arrays, allocates the result and lets threads compute parts of it. The parts have the
sizes that `products` gives them; results depend neither on these nor on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..._numerics.blas import single as single
from ..mathematics.lanes import Word
from . import callables, matrices, native, pool
from .callables import ALIGNED as ALIGNED_FLAG, Body
from .elements import KINDS
from .linking import Module
from .memory import SIZES
from .products import ALIGNED, BAND, PARTS, SPLIT
from .tasks import TaskEmitter, functions
from .writing import Array

SIZED = "rows columns inner a_down a_right b_down b_right c_down".split()
WORDS = [*"a b c".split(), *SIZED, "size", "multiply"]


class DenseEmitter(TaskEmitter):
    """The functions that multiply some rows of the left factor, or some columns of the right one."""

    WORDS: ClassVar = {"by_rows": WORDS, "by_columns": WORDS}

    def by_rows(self, task: Word) -> None:
        """A block of rows of the result."""
        given, (start, rows) = self.given, self._range(task, self.given.rows)
        a, b, c = self._bases()
        self._multiply(a.at(start * given.a_down), b, c.at(start * given.c_down), rows, given.columns)

    def by_columns(self, task: Word) -> None:
        """A block of columns of the result."""
        given, (start, columns) = self.given, self._range(task, self.given.columns)
        a, b, c = self._bases()
        self._multiply(a, b.at(start * given.b_right), c.at(start), given.rows, columns)

    def _bases(self) -> list[Array]:
        return [self.array(address) for address in (self.given.a, self.given.b, self.given.c)]

    def _range(self, task: Word, total: Word) -> tuple[Word, Word]:
        start = task * self.given.size
        return start, (total - start).at_most(self.given.size)

    def _multiply(self, a: Array, b: Array, c: Array, rows: Word, columns: Word) -> None:
        steps = [getattr(self.given, name) for name in SIZED[2:]]
        self.call(self.given.multiply, a, b, c, rows, columns, *steps)


LEAST, FEWEST = 1 << 16, 8
"""Multiplications from which on our code is quicker than BLAS, and the fewest rows and columns for which it is."""


def _is_factor(module: Module, size: int) -> Any:
    """The function that says whether an object is an aligned matrix of a dtype, with steps of whole elements."""
    body = Body(module, "is_factor", 2)
    thing, dtype = body.parameters
    body.result_if(body.field(thing, "type") != body.link("ndarray"))
    body.result_if((body.field(thing, "flags") & ALIGNED_FLAG) == 0)
    body.result_if((body.field(thing, "descr") != dtype) | (body.field(thing, "nd") != 2))
    steps = body.field(thing, "strides")
    return body.result((((body.word(steps, 0) | body.word(steps, 1)) & (size - 1)) == 0).select(1, 0, "i64"))


def _write(module: Module, size: int) -> None:
    """Write the function that multiplies two matrices of elements of some bytes; it returns None where BLAS is to."""
    is_factor = _is_factor(module, size)
    body = Body(module, "product", 3, public=True)
    own, arguments, count = body.parameters
    block = body.field(own, "data")
    share, by_rows, by_columns, multiply, dtype, number = (body.word(block, place) for place in range(6))

    body.result_object_if(count != 2)
    factors = [body.word(arguments, place) for place in range(2)]
    for factor in factors:
        body.result_object_if(body.call(is_factor, factor, dtype) == 0)
    dims = [body.field(factor, "dims") for factor in factors]
    (rows, inner), (terms, columns) = ([body.word(lengths, axis) for axis in range(2)] for lengths in dims)
    work = rows * columns * inner
    body.result_object_if((inner != terms) | (work < LEAST) | (rows < FEWEST) | (columns < FEWEST))
    shape = body.table(2)
    for axis, length in enumerate((rows, columns)):
        body.put(shape, axis, length)
    out = body.new_array(2, shape, number)
    body.result_if(out == 0)
    table, total, whole = body.table(len(WORDS)), (rows < columns).select(columns, rows), work < SPLIT
    steps = [body.word(body.field(x, "strides"), axis) >> (size.bit_length() - 1) for x in factors for axis in range(2)]
    addresses = [body.field(x, "data") for x in (*factors, out)]
    part = whole.select(total, _part(total))
    for place, word in enumerate((*addresses, rows, columns, inner, *steps, columns, part, multiply)):
        body.put(table, place, word)
    function = (rows < columns).select(by_columns, by_rows)
    with body.without_lock(), body.either(whole) as (alone, together):
        with alone:
            body.call(function, table, 0, 1)
        with together:
            body.call(share, function, table, (total + part - 1) // part)
    body.result(out)


def _part(total: Word) -> Word:
    """How many rows or columns a thread takes at a time, as `products` cuts them."""
    pairs = ((total + BAND) // (2 * BAND)).at_least(1).at_most(PARTS // 2)
    unit = pairs * (2 * ALIGNED)
    return (total + unit - 1) // unit * ALIGNED


@native.once
def _method(size: int) -> Any:
    return callables.method("product", "Multiply two matrices.", partial(_write, size=size), size)


@native.once
def product(dtype: np.dtype[Any]) -> Callable[[Any, Any], Any] | None:
    """The built-in function that multiplies matrices of a dtype, or returns None where BLAS is faster; None if unsupported."""
    if dtype.char not in "fd" or not native.wide():
        return None
    kind = KINDS[dtype]
    method = _method(SIZES[kind])
    if method is None:
        return None
    found = functions(DenseEmitter, kind).addresses
    words = [pool.address("share"), found["by_rows"], found["by_columns"], matrices.address(f"multiply_{kind}")]
    return native.builtin(method, np.array([*words, id(dtype), dtype.num], np.int64))
