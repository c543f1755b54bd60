"""Steps of optimizers outside of compile: the formula of a parameter and its state as one loop, in place, in threads.

NumPy needs a pass over memory for each operation of a formula. Here the formula is recorded as a program once it has processed
enough elements, and compiled to a loop that reads each element of the parameter, its gradient and its state once, and
writes them once, with the operations and the bits of NumPy. The numbers that the formula closes over, which change from step to
step, are operands of the loop.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Iterator, Sequence
from types import CellType, CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import Tensor, ops
from ..._core.machine import budget
from ..._core.modes import NO_GRAD, mode
from ..mathematics.lanes import SIZES
from ..program import Array, Program
from ..recorder import Recorder
from ..refusals import CaptureError, RefusedError
from . import elements, library, native, pool
from .elements import KINDS
from .linking import LinkedModule
from .lowering import lowered
from .streaming import COOL, SPREAD, applied
from .writing import Writer

if TYPE_CHECKING:
    from ..._core.typing import NumpyType
    from ..._tape.recording import Tape
    from ..mathematics.lanes import IRValue
    from ..program import Equation
    from .writing import Array as Address

Formula = Callable[..., None]
TASK = 1 << 13
"""The number of elements in a task."""
SEVERAL = 4
"""The number of tasks from which on threads share them."""
FIXED = {type(None), bool, str, CodeType}
NUMBERS = {int, float}
OURS = f"{__name__.partition('.')[0]}.optim."
SAMPLE = (3,)
COPIES = "clone", SPREAD


class UpdateWriter(Writer):
    """Writes the loop of a program that changes some of its inputs in place: a function of the table and of a range of tasks."""

    def __init__(self, program: Program, places: Sequence[int], kind: str) -> None:
        super().__init__(None, kind, min(native.width(), COOL) // SIZES[kind])
        self.program, self.places, self.module = program, places, LinkedModule()

    def write(self) -> str:
        """The text of the module."""
        own = self.begin(self.module, "some", ["table"], ["begin", "end"], "i64")
        size, tasks = (own.table.at(place).one() for place in range(2))
        inputs = [self.array(own.table.at(place + 2).one()) for place in range(len(self.program.inputs))]
        numbers = [None if value.shape else base for value, base in zip(self.program.inputs, inputs, strict=True)]
        spread = [base and base.spread() for base in numbers]
        single = [base and base.one() for base in numbers]
        with self.loop(own.begin, own.end) as task:
            begin, end = self.part(size, task, tasks)
            whole = begin + (end - begin) // self.lanes * self.lanes
            with self.loop(begin, whole, self.lanes) as at:
                self._apply(
                    [known or base.at(at).some() for base, known in zip(inputs, spread, strict=True)], inputs, at
                )
            with self.loop(whole, end) as at:
                self._apply(
                    [known or base.at(at).one() for base, known in zip(inputs, single, strict=True)], inputs, at
                )
        self.end()
        return self.module.finished()

    def _apply(self, given: list[IRValue], inputs: list[Address], at: IRValue) -> None:
        ctx = given[0].ctx
        ir_values = dict(zip(self.program.inputs, given, strict=True))
        ir_values |= {
            value: ctx.number(KINDS[value.dtype], array.item()) for value, array in self.program.constants.items()
        }
        for equation in self.program.equations:
            operands = [ir_values[value] for value in equation.inputs]
            ir_values[equation.output] = operands[0] if equation.name in COPIES else applied(equation, operands)
        for place, value in zip(self.places, self.program.outputs, strict=True):
            inputs[place].at(at).put(ir_values[value])


def _numbers(formula: Formula) -> Iterator[Any]:
    """What a formula, and the functions that it calls, close over, in order; functions as their code.

    Those that are not ours stand for themselves: they may read what is not among these.
    """
    yield formula.__code__ if str(formula.__module__).startswith(OURS) else formula
    for cell in formula.__closure__ or ():
        value = cell.cell_contents
        if isinstance(value, FunctionType):
            yield from _numbers(value)
        else:
            yield value


def _with_numbers(formula: Any, numbers: Iterator[Any]) -> Any:
    """The formula with other numbers in place of those that it closes over."""
    cells = []
    for cell in formula.__closure__ or ():
        value = cell.cell_contents
        if isinstance(value, FunctionType):
            value = _with_numbers(value, numbers)
        elif type(value) in NUMBERS:
            value = next(numbers)
        cells.append(CellType(value))
    return FunctionType(formula.__code__, formula.__globals__, formula.__name__, formula.__defaults__, tuple(cells))


def _recorded(formula: Formula, dtype: NumpyType, count: int, several: int) -> tuple[Program, list[int]] | None:
    """A formula of `count` arrays, recorded with `several` numbers, and which arrays it changes.

    None unless it is elementwise, and computes no other numbers.
    """
    tape: Tape = Tensor.interpreter
    recorder, before = Recorder(), mode.get()
    try:
        mode.set(NO_GRAD)
        with recorder:
            held = [recorder.input(np.ones(SAMPLE, dtype)) for _ in range(count)]
            numbers = [tape.wrap(recorder.input(np.ones((), dtype)), None) for _ in range(several)]
            _with_numbers(formula, iter(numbers))(ops, *[tape.wrap(each, None) for each in held])
            places = [place for place, each in enumerate(held) if each.block.value is not recorder.inputs[place]]
            outputs = [held[place].block.value for place in places]
    except (CaptureError, RefusedError, IndexError, ValueError, TypeError):
        return None
    finally:
        mode.set(before)
    program = lowered(recorder.program(outputs, ()))
    fits = not program.guards and len(program.inputs) == count + several
    return (program, places) if fits and all(map(_lowers, program.equations)) else None


def _lowers(equation: Equation) -> bool:
    if equation.name in COPIES:
        return True
    dtypes = tuple([value.dtype for value in equation.inputs])
    with_axes = any(value.shape for value in equation.inputs) and equation.output.shape == SAMPLE
    return with_axes and elements.lowers(equation.name, dtypes, equation.output.dtype, equation.params)


class Update:
    """A formula as machine code."""

    def __init__(self, program: Program, places: Sequence[int], dtype: NumpyType) -> None:
        known = f"update {dtype} {places} {program}"
        self.code = native.Code(native.kept(known, UpdateWriter(program, places, KINDS[dtype]).write))
        self.code.fill(library.addresses(self.code.names))
        of = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        self.address = self.code.address("some")
        self.alone = of(self.address)
        self.share = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(pool.address("share"))

    def __call__(self, arrays: Sequence[Array], numbers: Array) -> None:
        """Change the arrays, in threads if they are large."""
        size, first = arrays[0].size, native.data(numbers)
        tasks = max(1, size // TASK)
        places = range(first, first + numbers.nbytes, numbers.itemsize)
        table = array("q", [size, tasks, *map(native.data, arrays), *places])
        address = table.buffer_info()[0]
        if tasks < SEVERAL:
            self.alone(address, 0, tasks)
        else:
            self.share(self.address, address, tasks)


_updates: dict[Any, Update | None] = {}


def carried_out(formula: Formula, arrays: Sequence[Array]) -> bool:
    """Whether a formula has been carried out, on C-contiguous arrays of one dtype, by machine code."""
    dtype = arrays[0].dtype
    kept = vars(formula).get("update")  # of this step, for other parameters
    if kept is not None and kept[:2] == (dtype, len(arrays)):
        kept[2](arrays, kept[3])
        return True
    found = [*_numbers(formula)]
    if not {*map(type, found)} <= FIXED | NUMBERS:  # NumPy's scalars, for one, would promote
        return False
    numbers = [value for value in found if type(value) in NUMBERS]
    key = (dtype, len(arrays), *[float if type(value) in NUMBERS else value for value in found])
    if key not in _updates:
        if not budget.due(budget.of_updates, key, arrays[0].size):
            return False
        recorded = _recorded(formula, dtype, len(arrays), len(numbers))
        _updates[key] = None if recorded is None else Update(*recorded, dtype)
    update = _updates[key]
    if update is None:
        return False
    vars(formula)["update"] = dtype, len(arrays), update, np.array(numbers, dtype)
    return carried_out(formula, arrays)
