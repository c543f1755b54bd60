"""Single elementwise operations on large arrays, eager: a loop for any length in machine code, shared by threads.

NumPy computes them in one thread, and several functions one element at a time. The code is made when an operation meets
large arrays for the second time; it depends on dtypes and metadata, and on no shape. A built-in function looks at the
operands, makes the result, and has the threads do its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from ..._core import Primitive
from ..._modes import quiet
from ..mathematics.lanes import Desk, Target, Word, declared
from ..program import Array
from . import elements, library, native, pool, texts
from .elements import KINDS
from .linking import Module
from .memory import BYTE, LONG, POINTER, begun, count_up, element, load_lanes, load_spread, long, store_lanes, word_of
from .texts import CONTIGUOUS, FITS

PART = 1 << 14
"""Elements that a thread takes at a time."""
COOL = 32
"""The bytes of the registers for what is not costly.

Processors run slower while they use the widest; what waits for memory or for divisions gains nothing by them.
"""
AHEAD, LINE = 1 << 11, 64
"""How many bytes before their use operands are asked for, and the bytes of a line of the cache."""

# The block: the function that shares parts, the function of some parts, operands, which of them is the first that has
# axes, the number of the result's dtype; and of each operand its dtype and whether it has axes. The table: elements,
# parts, the address of the result and those of the operands.
TEXT = """
define ptr @large(ptr %self, ptr %args, i64 %count) {{
top:
  %block = call ptr @field(ptr %self, i64 {data})
  %inputs = call i64 @word(ptr %block, i64 2)
  %slots = add i64 %inputs, 3
  %table = alloca i64, i64 %slots, align 16
  %row = alloca [6 x i64], align 16
  %first = call i64 @word(ptr %block, i64 3)
  %model = call ptr @word(ptr %args, i64 %first)
  %kind = call ptr @field(ptr %model, i64 {type})
  %array_type = call ptr @link(ndarray)
  %is_array = icmp eq ptr %kind, %array_type
  %as_many = icmp eq i64 %inputs, %count
  %arrays = and i1 %is_array, %as_many
  br i1 %arrays, label %shape, label %other
shape:
  %nd_short = call i32 @field(ptr %model, i64 {nd})
  %nd = zext i32 %nd_short to i64
  %dims = call ptr @field(ptr %model, i64 {dims})
  br label %length
length:
  %d = phi i64 [ 0, %shape ], [ %d_next, %longer ]
  %size = phi i64 [ 1, %shape ], [ %size_next, %longer ]
  %d_more = icmp ult i64 %d, %nd
  br i1 %d_more, label %longer, label %known
longer:
  %dim = call i64 @word(ptr %dims, i64 %d)
  %size_next = mul i64 %size, %dim
  %d_next = add i64 %d, 1
  br label %length
known:
  call void @put(ptr %row, i64 1, ptr %dims)
  call void @put(ptr %row, i64 5, i64 {flags_wanted})
  %parts = lshr i64 %size, {part_bits}
  %large = icmp ne i64 %parts, 0
  br i1 %large, label %input, label %other
input:
  %i = phi i64 [ 0, %known ], [ %i_next, %taken ]
  %i_more = icmp ult i64 %i, %inputs
  br i1 %i_more, label %take, label %result
take:
  %arg = call ptr @word(ptr %args, i64 %i)
  %twice = mul i64 %i, 2
  %descr_place = add i64 %twice, 5
  %axes_place = add i64 %twice, 6
  %descr = call i64 @word(ptr %block, i64 %descr_place)
  %axes = call i64 @word(ptr %block, i64 %axes_place)
  %none = icmp eq i64 %axes, 0
  %own_nd = select i1 %none, i64 0, i64 %nd
  call void @put(ptr %row, i64 0, i64 %own_nd)
  call void @put(ptr %row, i64 2, i64 %descr)
  %fitting = call i1 @fits(ptr %arg, ptr %row)
  br i1 %fitting, label %taken, label %other
taken:
  %address = call i64 @field(ptr %arg, i64 {data})
  %slot_place = add i64 %i, 3
  call void @put(ptr %table, i64 %slot_place, i64 %address)
  %i_next = add i64 %i, 1
  br label %input
result:
  %number_long = call i64 @word(ptr %block, i64 4)
  %number = trunc i64 %number_long to i32
  %new = call ptr @link(PyArray_New)
  %out = call ptr %new(ptr %array_type, i32 %nd_short, ptr %dims, i32 %number, ptr null, ptr null, i32 0, i32 0, ptr null)
  %no_out = icmp eq ptr %out, null
  br i1 %no_out, label %failed, label %go
go:
  %out_address = call i64 @field(ptr %out, i64 {data})
  call void @put(ptr %table, i64 0, i64 %size)
  call void @put(ptr %table, i64 1, i64 %parts)
  call void @put(ptr %table, i64 2, i64 %out_address)
  %share = call ptr @word(ptr %block, i64 0)
  %some = call ptr @word(ptr %block, i64 1)
  %save = call ptr @link(PyEval_SaveThread)
  %state = call ptr %save()
  call void %share(ptr %some, ptr %table, i64 %parts)
  %restore = call ptr @link(PyEval_RestoreThread)
  call void %restore(ptr %state)
  ret ptr %out
other:
  %nothing = call ptr @link(None)
  %hold = call ptr @link(Py_IncRef)
  call void %hold(ptr %nothing)
  ret ptr %nothing
failed:
  ret ptr null
}}
"""


@native.once
def _method() -> Any:
    """The built-in function of all kernels; None where there can be none."""
    words = {"flags_wanted": CONTIGUOUS, "part_bits": PART.bit_length() - 1}
    return texts.method("large", "Compute an operation on large arrays.", FITS + TEXT, **words)


Operands = Sequence[tuple[np.dtype[Any], bool]]
"""Of each operand, its dtype and whether it has axes."""


class Writer:
    """The code of an operation: a function of the table, for some of all parts.

    Vectors are stored where vectors begin in memory. The first and the last lie where the arrays begin and end: they have
    elements in common with their neighbours.
    """

    def __init__(self, primitive: Primitive, params: dict[str, Any], operands: Operands, out: np.dtype[Any]) -> None:
        self.primitive, self.params, self.operands, self.out = primitive, params, operands, out
        costly = elements.ELEMENTS[primitive.name].cost >= elements.COSTLY
        width = elements.ALTERNATING * native.width() if costly else min(native.width(), COOL)
        self.lanes = width // max(4, out.itemsize, *[dtype.itemsize for dtype, _ in operands])
        self.module = Module()
        self.builder: Any = None
        self.given: dict[str, Any] = {}

    def write(self) -> str:
        """The text of the module."""
        self._begin("vectors")
        bases = [self.builder.inttoptr(self._word(place), POINTER) for place in range(2, len(self.operands) + 3)]
        fixed = [
            self._spread(dtype, base) for (dtype, axes), base in zip(self.operands, bases[1:], strict=True) if not axes
        ]
        count_up(
            self.builder,
            self.given["begin"],
            self.given["end"],
            lambda at: self._vector(at, bases, iter(fixed)),
            step=self.lanes,
        )
        self.builder.ret_void()
        self.builder.function.linkage = "internal"
        self._parts(self.builder.function)
        return self.module.finished()

    def _begin(self, name: str) -> None:
        self.builder, self.given = begun(self.module, name, ["table"], ["begin", "end"])

    def _parts(self, vectors: Any) -> None:
        """Write the function of some parts, which calls that of vectors that begin from a place on, and before another."""
        self._begin("some")
        builder = self.builder
        table, begin, end = self.given.values()
        size, parts, address = [self._word(place) for place in range(3)]
        first, last = builder.icmp_signed("==", begin, long(0)), builder.icmp_signed("==", end, parts)
        bytes_missing = builder.and_(builder.neg(address), long(self.lanes * self.out.itemsize - 1))
        head = builder.lshr(bytes_missing, long(self.out.itemsize.bit_length() - 1))
        final = builder.sub(size, long(self.lanes))
        start, stop = (builder.add(head, builder.mul(part, long(PART))) for part in (begin, end))
        builder.call(vectors, [table, long(0), builder.zext(first, LONG)])
        builder.call(vectors, [table, start, builder.select(last, final, stop)])
        builder.call(vectors, [table, final, builder.select(last, size, final)])
        builder.ret_void()

    def _word(self, place: int) -> Any:
        return word_of(self.builder, self.given["table"], long(place))

    def _spread(self, dtype: np.dtype[Any], address: Any) -> Any:
        """An operand without axes, in all lanes."""
        return load_spread(Desk(self.builder, Target.host(), self.lanes), KINDS[dtype], address).value

    def _vector(self, at: Any, bases: list[Any], fixed: Iterator[Any]) -> None:
        """Write the code for one vector, from a place on."""
        builder = self.builder
        desk, words = Desk(builder, Target.host(), self.lanes, branching=True), []
        for (dtype, axes), base in zip(self.operands, bases[1:], strict=True):
            kind, address = KINDS[dtype], element(builder, base, KINDS[dtype], at)
            for line in range(0, self.lanes * dtype.itemsize if axes else 0, LINE):
                self._ask(builder.gep(address, [long(AHEAD + line)], source_etype=BYTE))
            words.append(load_lanes(desk, kind, address, 1, None) if axes else Word(desk, kind, next(fixed)))
        dtypes = tuple([dtype for dtype, _ in self.operands])
        word = elements.apply(self.primitive.name, words, dtypes, self.out, self.params)
        store_lanes(word, element(builder, bases[0], word.kind, at), 1, None)

    def _ask(self, address: Any) -> None:
        number = ir.IntType(32)
        of = ir.FunctionType(ir.VoidType(), [POINTER, number, number, number])
        prefetch = declared(self.module, "llvm.prefetch.p0", of)
        self.builder.call(prefetch, [address, number(0), number(3), number(1)])


def _compiled(primitive: Primitive, arrays: Sequence[Array], params: dict[str, Any]) -> Function | None:
    """The operation as a built-in function, which gives nothing for operands that it was not made for."""
    small = [array.reshape(-1)[:1] if array.ndim else array for array in arrays]
    out = np.asarray(quiet.run(primitive.forward, *small, **params)).dtype
    operands = [(array.dtype, array.ndim > 0) for array in arrays]
    method = _method()
    if method is None or not elements.lowers(primitive.name, tuple([dtype for dtype, _ in operands]), out, params):
        return None
    known = f"large {primitive.name} {params} {[(dtype.str, axes) for dtype, axes in operands]} {out.str}"
    code = native.Code(native.kept(known, Writer(primitive, params, operands, out).write))
    code.fill([library.address(name) for name in code.names])
    _held.append(code)
    first = [axes for _, axes in operands].index(True)
    words = [pool.address("share"), code.address("some"), len(operands), first, out.num]
    words += [word for dtype, axes in operands for word in (id(np.dtype(dtype.type)), int(axes))]
    return native.builtin(method, np.array(words, np.int64))  # type: ignore[no-any-return]  # as Python makes it


Function = Callable[..., Array | None]
MOST = 1000
"""Operations, with their dtypes and metadata, for which there is code at most."""
_met: set[Any] = set()
_functions: dict[Any, Function | None] = {}
_held: list[native.Code] = []


def _begun(key: Any, primitive: Primitive, arrays: Sequence[Array], params: dict[str, Any]) -> Function | None:
    """The function of an operation that has none yet, if it has been met before."""
    if key not in _met:
        if len(_met) < MOST:
            _met.add(key)
        return None
    made = _functions[key] = _compiled(primitive, arrays, params)
    return made


def forward(primitive: Primitive, arrays: Sequence[Array], params: dict[str, Any]) -> Any:
    """What the primitive's forward function gives, by machine code where there is some."""
    try:
        key = (primitive, *params.items(), *[(array.dtype, array.ndim == 0) for array in arrays])
        function = _functions.get(key)
    except TypeError:  # metadata that cannot be looked up
        function = None
    else:
        if function is None and key not in _functions:
            function = _begun(key, primitive, arrays, params)
    made = None if function is None else function(*arrays)
    return quiet.copy().run(primitive.forward, *arrays, **params) if made is None else made
