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

from ..._blocks import BLOCK, get_num_threads, pieces
from ..._core import Primitive
from ..program import Array, Equation, Program, Value
from . import native
from .executable import Executable

DRIVER = """
define i32 @drive(ptr %run, ptr %table, i64 %count, ptr %moves, i64 %moving) {
top:
  br label %step
step:
  %t = phi i64 [ 0, %top ], [ %t_next, %next ]
  %more = icmp ult i64 %t, %count
  br i1 %more, label %call, label %done
call:
  %status = call i32 %run(ptr %table)
  %well = icmp eq i32 %status, 0
  br i1 %well, label %move, label %failed
move:
  %m = phi i64 [ 0, %call ], [ %m_next, %moved ]
  %m_more = icmp ult i64 %m, %moving
  br i1 %m_more, label %moved, label %next
moved:
  %by_at = getelementptr i64, ptr %moves, i64 %m
  %by = load i64, ptr %by_at
  %cell = getelementptr i64, ptr %table, i64 %m
  %old = load i64, ptr %cell
  %new = add i64 %old, %by
  store i64 %new, ptr %cell
  %m_next = add i64 %m, 1
  br label %move
next:
  %t_next = add i64 %t, 1
  br label %step
failed:
  ret i32 %status
done:
  ret i32 0
}
"""


@functools.cache
def driver() -> Any:
    """The function that runs a step again and again, and the code that holds it."""
    code = native.Code(native.kept(DRIVER), [])
    words = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64]
    return ctypes.CFUNCTYPE(ctypes.c_int, *words)(code.address("drive")), code


def drive(entry: int, table: Array, count: int, moves: list[int]) -> int:
    """Run a step so often; after each, the first addresses in its table move by so many bytes."""
    words = np.array(moves, np.int64)
    found: int = driver()[0](entry, table.ctypes.data, count, words.ctypes.data, len(moves))
    return found


CHUNK = 1 << 13
_seen: dict[Any, Kernel | None] = {}


class Kernel:
    """The code of an operation on a chunk of each operand; operands without axes are the same for all chunks."""

    def __init__(self, primitive: Primitive, arrays: Sequence[Array], params: dict[str, Any], dtype: Any) -> None:
        inputs = tuple(Value((CHUNK,) if array.ndim else (), array.dtype) for array in arrays)
        output = Value((CHUNK,), dtype)
        program = Program(inputs, (Equation(primitive, inputs, params, (output,)),), (output,))
        self.step = Executable(program, None)
        self.native = not self.step._assembly.opaque
        if self.native:
            driver()  # made here, and not by several threads at once
            self.entry = self.step._native.address("run")
            self.slots = self.step._assembly.memory.slots
            self.arena = self.step._assembly.memory.arena

    def __call__(self, arrays: Sequence[Array], out: Array) -> int:
        """Compute all whole chunks, and say how many elements those are."""
        count = out.size // CHUNK
        operands = [*arrays, out]
        addresses = [int(array.ctypes.data) for array in operands]
        strides = [CHUNK * array.itemsize if array.ndim else 0 for array in operands]
        held = [constant.ctypes.data for constant in self.step._held]

        parts = min(get_num_threads(), count)

        def part(first: int, after: int) -> None:
            start, stop = count * first // parts, count * after // parts
            table = np.zeros(self.slots + 1, np.int64)
            arena = np.empty(self.arena + 64, np.uint8)
            begin = [address + start * stride for address, stride in zip(addresses, strides, strict=True)]
            words = [*begin, arena.ctypes.data + -arena.ctypes.data % 64, *held]
            table[: len(words)] = words
            drive(self.entry, table, stop - start, strides)

        pieces(part, parts, BLOCK)  # one for each thread
        return count * CHUNK


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
    small = [array.reshape(-1)[:1] if array.ndim else array for array in arrays]
    dtype = np.asarray(primitive.forward(*small, **params)).dtype
    if kernel is None:
        kernel = _seen[key] = Kernel(primitive, arrays, params, dtype)
    if not kernel.native:
        return primitive.forward(*arrays, **params)
    out = np.empty(shape, dtype)
    done = kernel(arrays, out)
    if done < out.size:
        rest = [array.reshape(-1)[done:] if array.ndim else array for array in arrays]
        out.reshape(-1)[done:] = primitive.forward(*rest, **params)
    return out
