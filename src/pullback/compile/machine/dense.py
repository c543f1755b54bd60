"""Matrix products outside of compile, on processors with registers of 256 bits or more: a built-in function for each dtype.

It reads sizes and strides from the arrays, allocates the result and lets threads compute parts of it. The parts have the
sizes that `products` gives them; results depend neither on these nor on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ..._numerics.blas import single as single
from .. import cpython
from ..mathematics.lanes import SIZES, IRValue
from . import callables, matrices, native, pool
from .callables import ALIGNED as ALIGNED_FLAG, WRITABLE, FunctionBody
from .elements import KINDS
from .forms import ALIGNED, BAND, PARTS, SPLIT
from .linking import LinkedModule
from .tasks import TaskEmitter, functions
from .writing import Array

if TYPE_CHECKING:
    from llvmlite import ir

    from ..._core.typing import Array as NumpyArray, NumpyType

SIZED = "rows columns inner a_down a_right b_down b_right c_down".split()
WORDS = [*"a b c".split(), *SIZED, "size", "multiply"]
BATCH = "a_over a_along b_over b_along c_over c_along length pairs tasks".split()
"""The steps of the two axes of a batch, the length of the second, the number of pairs, and that of tasks."""
PAIRS = [*"a b c".split(), *SIZED, "multiply", *BATCH]


class DenseEmitter(TaskEmitter):
    """The functions that multiply some rows of the left factor, some columns of the right one, or some of a batch of pairs."""

    WORDS: ClassVar = {"by_rows": WORDS, "by_columns": WORDS, "by_pairs": PAIRS}
    UNITS: ClassVar = {"by_pairs": "pairs"}

    def by_rows(self, task: IRValue) -> None:
        """A block of rows of the result."""
        given, (start, rows) = self.given, self._range(task, self.given.rows)
        a, b, c = self._bases()
        self._multiply(a.at(start * given.a_down), b, c.at(start * given.c_down), rows, given.columns)

    def by_columns(self, task: IRValue) -> None:
        """A block of columns of the result."""
        given, (start, columns) = self.given, self._range(task, self.given.columns)
        a, b, c = self._bases()
        self._multiply(a, b.at(start * given.b_right), c.at(start), given.rows, columns)

    def by_pairs(self, pair: IRValue) -> None:
        """One product of a batch of two axes, the second of some length."""
        given, (a, b, c) = self.given, self._bases()
        i, j = pair // self.given.length, pair % self.given.length
        a, b = a.at(i * given.a_over + j * given.a_along), b.at(i * given.b_over + j * given.b_along)
        self._multiply(a, b, c.at(i * given.c_over + j * given.c_along), given.rows, given.columns)

    def _bases(self) -> list[Array]:
        return [self.array(address) for address in (self.given.a, self.given.b, self.given.c)]

    def _range(self, task: IRValue, total: IRValue) -> tuple[IRValue, IRValue]:
        start = task * self.given.size
        return start, (total - start).at_most(self.given.size)

    def _multiply(self, a: Array, b: Array, c: Array, rows: IRValue, columns: IRValue) -> None:
        steps = [getattr(self.given, name) for name in SIZED[2:]]
        self.call(self.given.multiply, a, b, c, rows, columns, *steps)


MOST_TASKS, SHARED, LEAST_BATCH, TINY = 8, 1 << 18, 1 << 13, 1 << 9
"""How many tasks a batch is divided into; the multiplications from which on it is, and from which on our code is quicker;
those of a pair up to which NumPy is, where rows of the right factor are contiguous."""
LEAST, FEWEST = 1 << 16, 8
"""Multiplications from which on our code is quicker than BLAS, and the fewest rows and columns for which it is."""


def _is_factor(module: LinkedModule, size: int) -> ir.Function:
    """The function that says whether an object is an aligned array of a dtype and of some axes, with steps of whole elements."""
    body = FunctionBody(module, "is_factor", 3)
    thing, dtype, nd = body.parameters
    body.result_if(body.field(thing, "type") != body.link("ndarray"))
    body.result_if((body.field(thing, "flags") & ALIGNED_FLAG) == 0)
    body.result_if((body.field(thing, "descr") != dtype) | (body.field(thing, "nd") != nd))
    steps = body.field(thing, "strides")
    with body.loop(0, nd) as axis:
        body.result_if((body.word(steps, axis) & (size - 1)) != 0)
    return body.result(1)


def _listed(body: FunctionBody, *words: IRValue | int) -> IRValue:
    """The address of words, which are there until the function returns."""
    address = body.table(len(words))
    for place, word in enumerate(words):
        body.put(address, place, word)
    return address


def _write(module: LinkedModule, size: int) -> None:
    """Write the function that multiplies two matrices of elements of some bytes; it returns None where BLAS is to."""
    is_factor = _is_factor(module, size)
    body = FunctionBody(module, "product", 3, public=True)
    own, arguments, count = body.parameters
    block = body.field(own, "data")
    share, by_rows, by_columns, multiply, dtype, number = (body.word(block, place) for place in range(6))

    body.result_object_if(count != 2)
    factors = [body.word(arguments, place) for place in range(2)]
    for factor in factors:
        body.result_object_if(body.call(is_factor, factor, dtype, 2) == 0)
    dims = [body.field(factor, "dims") for factor in factors]
    (rows, inner), (terms, columns) = ([body.word(lengths, axis) for axis in range(2)] for lengths in dims)
    work = rows * columns * inner
    body.result_object_if((inner != terms) | (work < LEAST) | (rows < FEWEST) | (columns < FEWEST))
    out = body.new_array(2, _listed(body, rows, columns), number)
    body.result_if(out == 0)
    total, whole = (rows < columns).select(columns, rows), work < SPLIT
    steps = [body.word(body.field(x, "strides"), axis) >> (size.bit_length() - 1) for x in factors for axis in range(2)]
    addresses = [body.field(x, "data") for x in (*factors, out)]
    part = whole.select(total, _part(total))
    table = _listed(body, *addresses, rows, columns, inner, *steps, columns, part, multiply)
    function = (rows < columns).select(by_columns, by_rows)
    with body.without_lock(), body.either(whole) as (alone, together):
        with alone:
            body.call(function, table, 0, 1)
        with together:
            body.call(share, function, table, (total + part - 1) // part)
    body.result(out)


def _part(total: IRValue) -> IRValue:
    """How many rows or columns a thread takes at a time, as `products` cuts them."""
    pairs = ((total + BAND) // (2 * BAND)).at_least(1).at_most(PARTS // 2)
    unit = pairs * (2 * ALIGNED)
    return (total + unit - 1) // unit * ALIGNED


class Batch(NamedTuple):
    """Matrices in a batch of two axes: the lengths and the steps of all four, of which the first is 1 where there are three."""

    lengths: list[IRValue]
    steps: list[IRValue]

    def named(self, name: str) -> dict[str, IRValue]:
        """The steps by their names among the words of a table."""
        return {f"{name}_{step}": word for step, word in zip("over along down right".split(), self.steps, strict=True)}

    @staticmethod
    def of(body: FunctionBody, thing: IRValue, nd: IRValue, size: int) -> Batch:
        """An array's, of three or four axes."""
        found = []
        for name in ("dims", "strides"):
            words = body.field(thing, name)
            own = [body.word(words, nd - back) for back in (3, 2, 1)]
            found.append([(nd == 4).select(body.word(words), 1), *own])
        lengths, steps = found
        return Batch(
            lengths,
            [(n == 1).select(0, step >> (size.bit_length() - 1)) for n, step in zip(lengths, steps, strict=True)],
        )


def _is_result(module: LinkedModule, size: int, is_factor: ir.Function) -> ir.Function:
    """The function that says whether a batch of products of some shape can be written to an object."""
    body = FunctionBody(module, "is_result", 4)
    thing, dtype, nd, shape = body.parameters
    body.result_if(body.call(is_factor, thing, dtype, nd) == 0)
    batch = Batch.of(body, thing, nd, size)
    body.result_if((batch.steps[3] != 1) | ((body.field(thing, "flags") & WRITABLE) == 0))
    for place, length in enumerate(batch.lengths):
        body.result_if(body.word(shape, place) != length)
    return body.result(1)


def _write_batched(module: LinkedModule, size: int) -> None:
    """Write the function that multiplies two batches of matrices, into a third array if there is one that shares no memory
    with them; it returns None where NumPy is to.
    """
    is_factor = _is_factor(module, size)
    is_result = _is_result(module, size, is_factor)
    body = FunctionBody(module, "batched", 3, public=True)
    own, arguments, count = body.parameters
    block = body.field(own, "data")
    share, by_pairs, multiply, dtype, number = (body.word(block, place) for place in range(5))

    body.result_object_if((count < 2) | (count > 3))
    factors = [body.word(arguments, place) for place in range(2)]
    body.result_object_if(body.field(factors[0], "type") != body.link("ndarray"))
    nd = body.field(factors[0], "nd")
    body.result_object_if((nd < 3) | (nd > 4))
    for factor in factors:
        body.result_object_if(body.call(is_factor, factor, dtype, nd) == 0)
    a, b = (Batch.of(body, factor, nd, size) for factor in factors)
    for n, m in zip(a.lengths[:2], b.lengths[:2], strict=True):
        body.result_object_if((n != m) & (n != 1) & (m != 1))
    over, length = ((n == 1).select(m, n) for n, m in zip(a.lengths[:2], b.lengths[:2], strict=True))
    (rows, inner), (terms, columns), pairs = a.lengths[2:], b.lengths[2:], over * length
    work = pairs * rows * columns * inner
    body.result_object_if((inner != terms) | (work < LEAST_BATCH) | (columns < 2))
    body.result_object_if((rows * columns * inner <= TINY) & (b.steps[3] == 1))
    result = body.variable(0)
    shape = _listed(body, over, length, rows, columns)
    with body.either(count == 3) as (given, new):
        with given:
            out = body.word(arguments, 2)
            body.result_object_if(body.call(is_result, out, dtype, nd, shape) == 0)
            body.call("Py_IncRef", out)
            body.put(result, 0, out)
        with new:
            body.put(result, 0, body.new_array(nd, shape + (4 - nd) * 8, number))
            body.result_if(body.word(result) == 0)
    out = body.word(result)
    c = Batch.of(body, out, nd, size)
    words = {"rows": rows, "columns": columns, "inner": inner, "multiply": multiply, "length": length, "pairs": pairs}
    words["tasks"] = (work < SHARED).select(1, pairs.at_most(MOST_TASKS))
    for name, x, memory in zip("abc", (a, b, c), (*factors, out), strict=True):
        words |= {name: body.field(memory, "data"), **x.named(name)}
    table = _listed(body, *[words[name] for name in PAIRS])
    with body.without_lock():
        body.call(share, by_pairs, table, words["tasks"])
    body.result(out)


@native.once
def _method(name: str, size: int) -> Any:
    write, doc = {
        "product": (_write, "Multiply two matrices."),
        "batched": (_write_batched, "Multiply two batches of matrices."),
    }[name]
    return callables.method(name, doc, partial(write, size=size), size)


def _function(name: str, parts: list[str], dtype: NumpyType) -> Callable[..., NumpyArray | None] | None:
    """A built-in function of products, and the functions of its parts; None for a dtype that is not supported."""
    if dtype.char not in "fd" or not native.multiplies():
        return None
    kind = KINDS[dtype]
    method = _method(name, SIZES[kind])
    if method is None:
        return None
    found = functions(DenseEmitter, kind).addresses
    words = [pool.address("share"), *[found[part] for part in parts], matrices.address(f"multiply_{kind}")]
    return cpython.builtin(method, np.array([*words, id(dtype), dtype.num], np.int64))


@native.once
def product(dtype: NumpyType) -> Callable[[NumpyArray, NumpyArray], NumpyArray | None] | None:
    """The built-in function that multiplies matrices of a dtype, or returns None where BLAS is faster; None if unsupported."""
    return _function("product", ["by_rows", "by_columns"], dtype)


@native.once
def batched(dtype: NumpyType) -> Callable[..., NumpyArray | None] | None:
    """The built-in function that multiplies batches of matrices, of one axis or two, or returns None where NumPy is to.

    A third array gets the result, if it shares no memory with the factors and its rows are contiguous.
    """
    return _function("batched", ["by_pairs"], dtype)
