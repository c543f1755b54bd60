"""Single elementwise operations on large arrays, eager, and their rules: loops for any length, shared by threads.

NumPy computes them in one thread, several functions one element at a time, and a rule in as many passes as it has
operations. Each is recorded as a program, and is one loop. The code is made when an operation meets large arrays for the
second time; it depends on dtypes and metadata, and on no shape. A built-in function looks at the operands, makes the
result, and has the threads do its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ... import ops
from ..._core.machine import ENOUGH, FEW, counts
from ..._core.modes import NO_GRAD, mode
from ..._core.primitives import Primitive
from ..._tensor.tensor import Tensor
from ..passes import simplify
from ..program import Array, Program
from ..recorder import CaptureError, Recorder, RefusedError
from . import library, native, pool, texts
from .lowering import lowered
from .streaming import PART, StreamWriter, streams
from .texts import CONTIGUOUS, FITS

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
  %whole = lshr i64 %size, {part_bits}
  %short = icmp eq i64 %whole, 0
  %parts = select i1 %short, i64 1, i64 %whole
  %enough = icmp uge i64 %size, {least}
  br i1 %enough, label %input, label %other
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
  %few = icmp ult i64 %parts, {several}
  br i1 %few, label %alone, label %together
alone:
  call void %some(ptr %table, i64 0, i64 %parts)
  br label %done
together:
  call void %share(ptr %some, ptr %table, i64 %parts)
  br label %done
done:
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


SEVERAL = 4
"""Parts from which on threads take part."""


@native.once
def _method() -> Any:
    """The built-in function of all kernels; None where there can be none."""
    words = {"flags_wanted": CONTIGUOUS, "part_bits": PART.bit_length() - 1, "least": FEW, "several": SEVERAL}
    return texts.method("large", "Compute an operation on large arrays.", FITS + TEXT, **words)


Function = Callable[..., Any]


SAMPLE = (3,)
"""The shape of what is recorded: what is done to three elements is done to any number."""


def _recorded(function: Function, arrays: Sequence[Array], *, whole: bool) -> Program | None:
    """What a function of tensors does to arrays of such dtypes, the same for each element; `whole` where it is one
    operation, that is done as it is.
    """
    tape: Any = Tensor.interpreter
    recorder, token = Recorder(), mode.set(NO_GRAD)
    try:
        with recorder:
            given = [tape.wrap(recorder.input(np.ones(SAMPLE[: array.ndim], array.dtype)), None) for array in arrays]
            values = [recorder.value_of(function(*given)._array)]
    except (CaptureError, RefusedError, IndexError, ValueError):  # the last two: of axes that the sample does not have
        return None
    finally:
        mode.reset(token)
    program = recorder.program(values, ())
    program = lowered(program if whole else simplify(program))
    return program if values[0].shape == SAMPLE and streams(program) else None


def _compiled(known: str, function: Function, arrays: Sequence[Array], *, whole: bool) -> Function | None:
    """A function of arrays as a built-in one, which gives nothing for operands that it was not made for."""
    method, program = _method(), _recorded(function, arrays, whole=whole)
    if method is None or program is None:
        return None
    operands = [(value.dtype, bool(value.shape)) for value in program.inputs]
    out = program.outputs[0].dtype
    code = native.Code(native.kept(f"{known}: {program}", StreamWriter(program).write))
    code.fill([library.address(name) for name in code.names])
    _held.append(code)
    first = [axes for _, axes in operands].index(True)
    words = [pool.address("share"), code.address("some"), len(operands), first, out.num]
    words += [word for dtype, axes in operands for word in (id(np.dtype(dtype.type)), int(axes))]
    return native.builtin(method, np.array(words, np.int64))  # type: ignore[no-any-return]  # as Python makes it


MOST = 1000
"""Operations, with their dtypes and metadata, for which there is code at most."""
_met: dict[Any, int] = {}
_functions: dict[Any, Function | None] = {}
_held: list[native.Code] = []


def function(
    primitive: Primitive, place: int | None, arrays: Sequence[Any], params: dict[str, Any], elements: int
) -> Function | None:
    """The machine code of an operation, or of its rule for one input, that has met so many more; None if there is none yet."""
    try:
        key = (primitive, place, *params.items(), *[(array.dtype, array.ndim == 0) for array in arrays])
        if key in _functions:
            return _functions[key]
    except TypeError:  # metadata that cannot be looked up
        return None
    if not counts() or not all(type(array) is np.ndarray for array in arrays):
        return None
    met = _met.get(key, 0) + elements
    if len(_met) < MOST:
        _met[key] = met
    if met <= ENOUGH:
        return None
    known = f"large {primitive.name} {place} {params}"
    rule: Any = primitive if place is None else primitive.rules[place]
    of = partial(rule, **params) if place is None else partial(rule, ops, **params)
    made = _functions[key] = _compiled(known, of, arrays, whole=place is None)
    return made
