"""Single elementwise operations on large arrays, eager: machine code for one chunk, run over all of them by threads.

NumPy computes them in one thread, and several functions one element at a time. The code is made when an operation meets
large arrays for the second time; it depends on dtypes and metadata, and on no shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._blocks import BLOCK, get_num_threads, pieces
from ..._core import Primitive
from ..program import Array, Equation, Program, Value
from .executable import Executable
from .repeating import drive, driver

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
            drive(self.entry, table, stop - start, list(enumerate(strides)), [])

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
