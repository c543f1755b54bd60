"""Single elementwise operations on large arrays, eager: machine code for one chunk, run over all of them by threads.

NumPy computes them in one thread, and several functions one element at a time. The code is made when an operation meets
large arrays for the second time; it depends on dtypes and metadata, and on no shape.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._core import Primitive
from ..program import Array, Equation, Program, Value
from . import native, pool
from .entry import expanded
from .executable import Executable

# The words of a block: the function, how many addresses it is given and how many of those move from one chunk to the
# next, bytes it needs, chunks in all and in a part, the elements of a chunk, where the second begins, and where the last;
# the addresses; and by how many bytes they move for an element.
DRIVER = """
define void @drive(ptr %block, i64 %begin, i64 %end) {
top:
  %run_word = call i64 @word(ptr %block, i64 0)
  %run = inttoptr i64 %run_word to ptr
  %given = call i64 @word(ptr %block, i64 1)
  %moving = call i64 @word(ptr %block, i64 2)
  %bytes = call i64 @word(ptr %block, i64 3)
  %chunks = call i64 @word(ptr %block, i64 4)
  %each = call i64 @word(ptr %block, i64 5)
  %size = call i64 @word(ptr %block, i64 6)
  %second = call i64 @word(ptr %block, i64 7)
  %final = call i64 @word(ptr %block, i64 8)
  %addresses = getelementptr i64, ptr %block, i64 9
  %moves = getelementptr i64, ptr %addresses, i64 %given
  %table = alloca i64, i64 %given, align 16
  %room = alloca i8, i64 %bytes, align 64
  %first = mul i64 %begin, %each
  %asked = mul i64 %end, %each
  %fewer = icmp ult i64 %asked, %chunks
  %last = select i1 %fewer, i64 %asked, i64 %chunks
  %room_word = ptrtoint ptr %room to i64
  br label %fill
fill:
  %m = phi i64 [ 0, %top ], [ %m_next, %filled ]
  %m_more = icmp ult i64 %m, %given
  br i1 %m_more, label %filled, label %ready
filled:
  %address = call i64 @word(ptr %addresses, i64 %m)
  %cell = getelementptr i64, ptr %table, i64 %m
  store i64 %address, ptr %cell
  %m_next = add i64 %m, 1
  br label %fill
ready:
  %room_cell = getelementptr i64, ptr %table, i64 %moving
  store i64 %room_word, ptr %room_cell
  br label %step
step:
  %t = phi i64 [ %first, %ready ], [ %t_next, %call ]
  %more = icmp ult i64 %t, %last
  br i1 %more, label %place, label %over
place:
  %before = sub i64 %t, 1
  %along = mul i64 %before, %size
  %regular = add i64 %along, %second
  %beyond = icmp sgt i64 %regular, %final
  %within = select i1 %beyond, i64 %final, i64 %regular
  %early = icmp slt i64 %within, 0
  %from = select i1 %early, i64 0, i64 %within
  br label %move
move:
  %n = phi i64 [ 0, %place ], [ %n_next, %moved ]
  %n_more = icmp ult i64 %n, %moving
  br i1 %n_more, label %moved, label %call
moved:
  %start = call i64 @word(ptr %addresses, i64 %n)
  %by = call i64 @word(ptr %moves, i64 %n)
  %far = mul i64 %by, %from
  %now = add i64 %start, %far
  %target = getelementptr i64, ptr %table, i64 %n
  store i64 %now, ptr %target
  %n_next = add i64 %n, 1
  br label %move
call:
  %status = call i32 %run(ptr %table)
  %t_next = add i64 %t, 1
  br label %step
over:
  ret void
}
"""


@functools.cache
def driver() -> tuple[Any, int, native.Code]:
    """The function that shares chunks with threads, the address of the one that runs some, and the code that holds it."""
    code = native.Code(native.kept(expanded(DRIVER)), [])
    share = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(pool.address("share"))
    return share, code.address("drive"), code


CHUNK, PART, LINE = 1 << 13, 2, 64
"""Elements that the code computes in one call, calls in what a thread takes, and bytes of a line of the cache."""
_seen: dict[Any, Kernel | None] = {}


class Kernel:
    """The code of an operation on a chunk of each operand; operands without axes are the same for all chunks."""

    def __init__(self, primitive: Primitive, arrays: Sequence[Array], params: dict[str, Any]) -> None:
        small = [array.reshape(-1)[:1] if array.ndim else array for array in arrays]
        self.dtype = np.asarray(primitive.forward(*small, **params)).dtype
        inputs = tuple(Value((CHUNK,) if array.ndim else (), array.dtype) for array in arrays)
        output = Value((CHUNK,), self.dtype)
        program = Program(inputs, (Equation(primitive, inputs, params, (output,)),), (output,))
        self.step = Executable(program, None)
        self.native = not self.step._assembly.opaque
        if self.native:
            memory, constants = self.step._assembly.memory, len(self.step._held)
            self.share, self.drive, _ = driver()  # made here, and not by several threads at once
            self.moves = [array.itemsize if array.ndim else 0 for array in arrays] + [self.dtype.itemsize]
            self.words = [
                self.step._native.address("run"),
                len(self.moves) + 1 + constants,
                len(self.moves),
                memory.arena,
            ]
            self.held = [0, *[constant.ctypes.data for constant in self.step._held]]

    def __call__(self, arrays: Sequence[Array], out: Array) -> None:
        """Compute all elements, in chunks of which all but the first and the last begin at a line of the cache.

        Those two have elements in common with their neighbours.
        """
        head, size = -out.ctypes.data % LINE // out.itemsize, out.size
        chunks = 1 + -(-(size - head) // CHUNK)
        addresses = [array.ctypes.data for array in (*arrays, out)]
        words = (*self.words, chunks, PART, CHUNK, head, size - CHUNK, *addresses, *self.held, *self.moves)
        self.share(self.drive, (ctypes.c_int64 * len(words))(*words), -(-chunks // PART))


def forward(primitive: Primitive, arrays: Sequence[Array], params: dict[str, Any]) -> Any:
    """What the primitive's forward function gives, by machine code where there is some."""
    shape = max((array.shape for array in arrays), key=len)
    plain = all(array.flags.carray if array.shape == shape else not array.ndim for array in arrays)
    if not plain:
        return primitive.forward(*arrays, **params)
    key = (primitive, tuple(params.items()), *[(array.dtype, array.ndim == 0) for array in arrays])
    try:
        kernel = _seen[key]
    except KeyError:
        _seen[key] = None
        return primitive.forward(*arrays, **params)
    except TypeError:  # metadata that cannot be looked up
        return primitive.forward(*arrays, **params)
    if kernel is None:
        kernel = _seen[key] = Kernel(primitive, arrays, params)
    if not kernel.native:
        return primitive.forward(*arrays, **params)
    out = np.empty(shape, kernel.dtype)
    kernel(arrays, out)
    return out
