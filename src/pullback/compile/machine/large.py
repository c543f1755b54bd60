"""Elementwise operations on large arrays, and their derivative rules, outside of compile: one loop each, in threads.

NumPy uses one thread, computes some functions one element at a time, and needs a pass for each operation of a rule. Here the
operation is recorded as a program and compiled to one loop of any length, once it has processed enough elements. The code
depends on dtypes and parameters, not on shapes. A built-in function checks the operands, allocates the result and runs
the loop, in threads if it is long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ... import Tensor, ops
from ..._core.machine import FEW, budget
from ..._core.modes import NO_GRAD, mode
from ..._core.namespaces import of_users
from ...extend import Primitive
from ...observe import value as inside
from .. import cpython
from ..keys import of_entry
from ..passes import simplify
from ..program import Array, Program
from ..recorder import Recorder
from ..refusals import CaptureError, RefusedError
from . import callables, library, native, pool
from .callables import CONTIGUOUS, ROW, FunctionBody
from .elements import KINDS
from .linking import LinkedModule
from .lowering import lowered
from .streaming import PART, StreamWriter, streams

if TYPE_CHECKING:
    from ..._core.typing import Params
    from ..._tape.recording import Tape

WORDS = "share some inputs model number".split()
"""The words of a block: the function that shares parts, that of some parts, the number of operands, the first of them that
has axes, and the number of the result's dtype. Two more for each operand: its dtype, and whether it has axes."""
TABLE = 3
"""Words of the table before the addresses of operands: elements, parts, and the address of the result."""
SEVERAL = 4
"""The number of parts above which threads share them."""


def _write(module: LinkedModule) -> None:
    """Write the function for all kernels; it returns None for operands that the kernel was not made for."""
    fits = callables.fits(module)
    body = FunctionBody(module, "large", 3, public=True)
    own, arguments, count = body.parameters
    block = body.field(own, "data")
    share, some, inputs, model, number = (body.word(block, place) for place in range(len(WORDS)))

    body.result_object_if(count != inputs)
    first = body.word(arguments, model)
    body.result_object_if(body.field(first, "type") != body.link("ndarray"))
    nd, dims, elements = body.field(first, "nd"), body.field(first, "dims"), body.variable(1)
    with body.loop(0, nd) as axis:
        body.put(elements, 0, body.word(elements) * body.word(dims, axis))
    size = body.word(elements)
    body.result_object_if(size < FEW)
    table, row = body.table(inputs + TABLE), body.table(len(ROW))
    body.put(row, ROW.index("dims"), dims)
    body.put(row, ROW.index("flags"), CONTIGUOUS)
    with body.loop(0, inputs) as place:
        given, operand = body.word(arguments, place), place * 2 + len(WORDS)
        body.put(row, ROW.index("dtype"), body.word(block, operand))
        body.put(row, ROW.index("nd"), (body.word(block, operand + 1) == 0).select(0, nd))
        body.result_object_if(body.call(fits, given, row) == 0)
        body.put(table, place + TABLE, body.field(given, "data"))
    out = body.new_array(nd, dims, number)
    body.result_if(out == 0)
    parts = (size >> (PART.bit_length() - 1)).at_least(1)
    for slot, word in enumerate((size, parts, body.field(out, "data"))):
        body.put(table, slot, word)
    with body.without_lock(), body.either(parts < SEVERAL) as (few, many):
        with few:
            body.call(some, table, 0, parts)
        with many:
            body.call(share, some, table, parts)
    body.result(out)


@native.once
def _method() -> Any:
    """The built-in function of all kernels; None where the layout of objects is not known."""
    return callables.method("large", "Compute an operation on large arrays.", _write)


Function = Callable[..., Any]


SAMPLE, OTHER = (3,), (5, 7)
"""Shapes of the recorded operands; the loop takes any length, if it is the same for both."""


def _recorded(
    function: Function, arrays: Sequence[Array], *, whole: bool, sample: tuple[int, ...] = SAMPLE
) -> Program | None:
    """A function of tensors, recorded for arrays of these dtypes; None unless it is elementwise.

    `whole` keeps the recorded operations as they are, without simplification.
    """
    tape: Tape = Tensor.interpreter
    recorder, before = Recorder(), mode.get()
    try:
        mode.set(NO_GRAD)
        with recorder:
            given = [
                tape.wrap(recorder.input(np.ones(sample if array.ndim else (), array.dtype)), None) for array in arrays
            ]
            values = [recorder.value_of(inside(function(*given)))]
    except (CaptureError, RefusedError, IndexError, ValueError):  # the last two: of axes that the sample does not have
        return None
    finally:
        mode.set(before)
    program = recorder.program(values, ())
    program = lowered(program if whole else simplify(program))
    known = all(value.dtype in KINDS for value in program.inputs)
    return program if values[0].shape == sample and known and streams(program) else None


def _text(program: Program | None) -> str:
    """A program for arrays of the other sample, as if it were for those of the first."""
    return str(program).replace(str([*OTHER]), str([*SAMPLE])).replace(str(OTHER), str(SAMPLE))


def _compiled(
    known: str, function: Function, arrays: Sequence[Array], *, whole: bool, custom: bool = False
) -> Function | None:
    """A function as a built-in one, which returns None for operands of other dtypes or shapes."""
    method, program = _method(), _recorded(function, arrays, whole=whole)
    if method is None or program is None:
        return None
    if custom and str(program) != _text(_recorded(function, arrays, whole=whole, sample=OTHER)):
        return None  # it depends on the shape
    operands = [(value.dtype, bool(value.shape)) for value in program.inputs]
    out = program.outputs[0].dtype
    code = native.Code(native.kept(f"{known}: {program}", StreamWriter(program).write))
    code.fill(library.addresses(code.names))
    _held.append(code)
    first = [axes for _, axes in operands].index(True)
    words = [pool.address("share"), code.address("some"), len(operands), first, out.num]
    words += [word for dtype, axes in operands for word in (id(np.dtype(dtype.type)), int(axes))]
    return cpython.builtin(method, np.array(words, np.int64))


_functions: dict[Any, Function | None] = {}
_held: list[native.Code] = []


def _unknown(entry: object) -> NoReturn:
    raise TypeError(f"metadata that cannot be compared: {entry!r}")


def function(
    primitive: Primitive, place: int | None, arrays: Sequence[Array], params: Params, elements: int
) -> Function | None:
    """The machine code of an operation, or of its rule for one input, after it has processed `elements` more; None before
    there is any.
    """
    try:
        key = (primitive, place, of_entry(params, _unknown), *[(array.dtype, array.ndim == 0) for array in arrays])
        if key in _functions:
            return _functions[key]
    except TypeError:  # metadata that cannot be looked up
        return None
    if not all(type(array) is np.ndarray for array in arrays) or not budget.due(budget.of_operations, key, elements):
        return None
    known = f"large {primitive.name} {place} {params}"
    rule: Any = primitive if place is None else primitive.rules[place]
    custom = primitive.of_user
    of = partial(rule, **params) if place is None else partial(rule, of_users[ops] if custom else ops, **params)
    made = _functions[key] = _compiled(known, of, arrays, whole=place is None, custom=custom)
    return made
