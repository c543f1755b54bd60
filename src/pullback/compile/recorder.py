"""The recorder: a run of a program, written down while it happens.

It is an interpreter that stands beneath the tape, at a level below 0. Tensors hold its values in the place of arrays, so that
the ordinary tape, its rules, hooks and transforms run on top unchanged, and one flat record holds forward, backward
and update alike. A recorded value carries the numbers it has in this run, so the run is a real one.

Recorded values are memory, as arrays are: views of one another, and written in place. The record knows no memory, only
values that are assigned once. So each block of memory here knows the value that it holds now, and a view the way from
its block to it; a write makes a new value of the whole block.
"""

from __future__ import annotations

import math
from _thread import get_ident
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from .. import Size, Tensor, ops
from .._core.bfloat import is_bfloat
from .._core.forks import exchanging
from .._core.modes import changed, innermost, mode, quiet, refusals, state_asked
from .._core.package import package
from .._core.xp import replay
from .._numerics.random import Moment
from .._tape.views import pieces
from ..extend import Primitive
from ..interpreters import Boxed, Interpreter
from ..observe import caller, describe
from .cpython import profile_function, set_profile_function
from .deferred import LARGE, Deferred, begins, foreseen
from .definitions import counted
from .drawing import Draw
from .layouts import apart, laid_out, overlaps
from .numbers import Number
from .parameters import composed, stand_ins
from .program import LOOPS, Equation, Program, Value, determined
from .refusals import (
    RANDOM,
    RefusedError,
    ShownError,
    computed_outside,
    random_state,
    shaped_by_values,
    unanswered,
    unknown,
)

if TYPE_CHECKING:
    from .._core.typing import Array, Index, Number as PythonNumber, NumpyType, Params, TensorLike
    from .._numerics.random import Draw as Sampler, Place, Source
    from .._tape.recording import TapeOperation

ndarray = np.ndarray
LARGEST_CONSTANT = 1 << 24
NUMBERS = (bool, int, float, complex)
BENEATH = -1000
COURTESY = 10.0
"""Seconds that a thread waits for what another one records, which may itself wait for this thread."""
OWN = vars(ops)
SHAPED_BY_VALUES = {"unique", "unique_consecutive"}


# 1. Memory


class MemoryBlock:
    """A block of memory: the array, and the value it holds now.

    `outside` is the caller's own array. It is never written during the run: the first write copies the block, so that a
    run which turns out to be impossible to record leaves nothing behind. A block whose numbers are put off has no array,
    and a `form` instead, an array of its shape and dtype; one that is an `alias` holds numbers from which those follow.
    `chosen` are copies of elements that a tensor has chosen by its number, as in x[i], and `origin` is, for such a copy, the
    block of x: outside of records they are views.
    """

    __slots__ = ("array", "value", "writes", "outside", "form", "alias", "chosen", "origin", "__weakref__")

    def __init__(
        self, array: Array | None, value: Value, outside: Array | None = None, form: Array | None = None
    ) -> None:
        self.array = array
        self.value = value
        self.writes = 0
        self.outside = outside
        self.form = form
        self.alias = False
        self.chosen: tuple[ref[MemoryBlock], ...] = ()
        self.origin: MemoryBlock | None = None

    def writable(self) -> Array:
        """The array, after it has been copied if it is the caller's, or an alias."""
        assert self.array is not None
        if self.array is self.outside or self.alias:
            self.array, self.alias = apart(self.array), False
        return self.array

    @property
    def shaped(self) -> Array:
        """The array, or what stands for it."""
        found = self.form if self.array is None else self.array
        assert found is not None
        return found

    def fill(self, array: Array) -> None:
        """Have the numbers that were put off."""
        self.array, self.form = array, None


class Recorded(Boxed):
    """What a tensor holds while its program is recorded: a way from a block of memory, and the numbers of this run."""

    __slots__ = ("block", "steps", "_held_of", "_view", "_seen", "_source")

    interpreter: Recorder
    _array: Any
    block: MemoryBlock
    steps: tuple[tuple[Primitive, Params], ...]
    _held_of: Array
    _view: Array
    _seen: tuple[int, Value]
    _source: Recorded | None

    @property
    def numbers(self) -> Array:
        """The numbers of this run."""
        if self.block.array is None:
            self.interpreter.deferred.compute()
        return self._seen_in(self.block.shaped)

    @property
    def form(self) -> Array:
        """An array of the shape and dtype of the numbers of this run: they themselves, if they are there."""
        return self._seen_in(self.block.shaped)

    def _seen_in(self, array: Array) -> Array:
        if self._held_of is not array:
            self._view = replay(array, path=self.steps)
            self._held_of = array
        return self._view

    @property
    def shape(self) -> Size:
        """The length of each axis."""
        return Size(self.form.shape)

    @property
    def _dtype(self) -> NumpyType:
        return self.form.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.form.ndim

    def dim(self) -> int:
        """The number of axes."""
        return self.form.ndim

    def assign(self, given: Recorded | Array) -> None:
        """Put new values into the memory."""
        self.interpreter.assign(self, given)

    def snapshot(self) -> Recorded:
        """The value as it is now, whatever is written later."""
        return self.interpreter.hold(self.numbers.copy(), self.interpreter.value_of(self))

    def copy_of(self, value: Any) -> Any:
        """A copy of another value, whose axes lie in memory as those of this one."""
        return laid_out(value, self.form)

    def _shallow_copy(self) -> Recorded:
        return self

    def detach(self) -> Recorded:
        """Itself: the history is the tensor's, above."""
        return self

    data = property(detach)

    def _apart(self, other: object) -> bool:
        return not isinstance(other, Recorded) or other.block is not self.block

    @property
    def flags(self) -> Any:
        """The layout of the numbers of this run, which then has to be that of every run."""
        self.interpreter.layouts_asked = True
        return self.numbers.flags

    @property
    def strides(self) -> tuple[int, ...]:
        """The steps between neighbors, in bytes."""
        self.interpreter.layouts_asked = True
        return self.numbers.strides

    @property
    def base(self) -> Array | None:
        """The block, of a view."""
        return self.block.shaped if self.steps else None

    def __getitem__(self, index: Index) -> Any:
        return Number(self.interpreter, self, weak=False) if index == () else super().__getitem__(index)

    def __setitem__(self, index: Index, value: Number | TensorLike) -> None:
        if not (isinstance(index, tuple) and index == ()):
            raise RefusedError("an array beneath a tensor is written in parts")
        self.assign(value.held_as(self._dtype) if isinstance(value, Number) else np.asarray(value, self._dtype))

    # Questions about the numbers. What pullback itself asks, to check arguments, becomes a guard.

    def _elements(self) -> Any:
        return self

    def _concrete(self, operation: str = "nonzero") -> Array:
        if self.interpreter.here and not self.interpreter.knows(self):
            raise RefusedError((computed_outside if "." in operation else shaped_by_values)(operation))
        return self.settled()

    def __bool__(self) -> bool:
        return bool(self.interpreter.guarded(self))

    def __int__(self) -> int:
        return int(self.interpreter.guarded(self))

    def __float__(self) -> float:
        return float(self.interpreter.guarded(self))

    __index__ = __int__

    def item(self) -> Any:
        """CaptureError where it is recorded."""
        return self._elsewhere("the value of a tensor is needed (by if, item(), int(), float() or bool())").item()

    def tolist(self) -> Any:
        """CaptureError where it is recorded."""
        return self._elsewhere("tolist()").tolist()

    def view(self, *args: Any, **options: Any) -> Any:
        """CaptureError where it is recorded; tensors never ask for it."""
        return self._elsewhere(
            f"the array of a tensor is needed (by numpy(), np.asarray or np.array: {package}.stack makes one of tensors and numbers)"
        ).view(*args, **options)

    # Other threads, which reach a tensor while this one records, and whatever has outlived its recording

    def settled(self) -> Array:
        """The numbers, for other threads: those of the caller's own array, which is written only after the recording."""
        memory, recorder = self.block, self.interpreter
        recorder.ended()
        return self.numbers if memory.outside is None or recorder.here else replay(memory.outside, path=self.steps)

    def numpy(self, *, force: bool = False) -> Array:
        """ShownError where it is recorded: the call runs again as it was written, and shows what it shows."""
        if self.interpreter.here:
            raise ShownError(unanswered("the numbers of a tensor are shown, as by print(),"))
        return self.settled().view()

    def __getattr__(self, name: str) -> Any:
        if name != "__array_interface__" or self.interpreter.here:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.settled().__array_interface__

    def __reduce__(self) -> Any:
        return super().__reduce__() if self.interpreter.here else self.settled().__reduce__()

    def _elsewhere(self, request: str) -> Array:
        """The numbers, for other threads; in that which records a request has no answer."""
        if self.interpreter.here:
            raise unknown(request)
        return self.settled()


# What the tape asks of all that holds values beneath it, by its own names
Recorded._array = vars(Recorded)["numbers"]
Recorded._memory = vars(Recorded)["block"]


# 2. Recording


class Recorder(Interpreter):
    """The interpreter beneath the tape: it computes each operation, and writes it down."""

    carrier = Recorded
    level = BENEATH

    def __init__(self, around: Recorder | None = None, *, patient: bool = False) -> None:
        super().__init__()
        self.deferred, self.patient = Deferred(), patient
        self.given: dict[Value, Array] = {}
        self.watch: Callable[..., Any] | None = (
            None if around is None else around.watch
        )  # the profile function of `Outside`
        self.around_it = around  # the recorder of the program of which this one's is a part: the body of a loop
        if around is not None:
            self.level = around.level + 1
        self.lifted: dict[Value, tuple[Value, Recorded]] = {}
        self.inputs: list[Value] = []
        self.equations: list[Equation] = []
        self.constants: dict[Value, Array] = {}
        self.guards: list[tuple[Value, PythonNumber]] = []
        self.tensors: list[ref[Tensor]] = []
        self.drawn: list[Place] = []
        self.moment: Moment = Moment(()) if around is None else around.moment.now()
        self.numbers: list[ref[Number]] = []
        self.refusals: list[Exception] = [] if around is None else around.refusals
        self.layouts_asked = self.overheard = False
        self._thread = 0
        self._constants: dict[int, tuple[object, Value]] = {}

    def _values(self) -> dict[Any, Any]:
        self._thread = get_ident()
        recording = changed(compute=self._compute, created=self._created, alone=self.alone)
        return {innermost: self, refusals: self.refusals, state_asked: random_state, mode: recording}

    @property
    def here(self) -> bool:
        """True in the thread that records, until it ends."""
        return self.entered and self._thread == get_ident()

    def ended(self) -> bool:
        """True if another thread has recorded until now; the record is not kept if that waits, and this thread cannot."""
        if not self.entered or self.here:
            return False
        if exchanging.acquire(timeout=COURTESY):
            exchanging.release()
        self.overheard = self.entered
        return not self.entered

    # Values

    def hold(self, array: Array, value: Value, outside: Array | None = None) -> Recorded:
        """A recorded value in a block of its own."""
        if is_bfloat(array):
            raise RefusedError("it computes with bfloat16, which no engine has: convert with .float() first")
        return self._handle(MemoryBlock(array, value, outside), (), array)

    def _handle(
        self,
        memory: MemoryBlock,
        steps: tuple[tuple[Primitive, Params], ...],
        view: Array,
        source: Recorded | None = None,
    ) -> Recorded:
        made = object.__new__(Recorded)
        made.block, made.steps, made._source = memory, steps, source
        made._held_of, made._view = memory.shaped, view
        made._seen = (-1, memory.value)
        made._node = made._cell = None
        made.interpreter, made.level = self, self.level
        return made

    def input(self, array: Array) -> Recorded:
        """An array that the program is given anew at each call."""
        value = Value(array.shape, array.dtype)
        self.inputs.append(value)
        self.given[value] = array
        return self.hold(array, value, array)

    def value_of(self, held: Recorded | TensorLike) -> Value:
        """The value that stands for what a recorded value, or a constant, is now."""
        if not isinstance(held, Recorded):
            return self._constant(held)
        if held.interpreter is not self:
            return self._lift(held)
        memory = held.block
        if not held.steps:
            return memory.value
        waiting: list[Recorded] = []
        at: Recorded | None = held
        while at is not None and at.steps and at._seen[0] != memory.writes:
            waiting.append(at)
            at = at._source
        value = at._seen[1] if at is not None and at.steps else memory.value
        for view in reversed(waiting):  # each is a view of the one before
            primitive, params = view.steps[-1]
            value = self.written_down(primitive, (value,), params, view.form)
            if memory.array is None:
                self.deferred.equations.append(self.equations[-1])
            view._seen = (memory.writes, value)
        return value

    def _lift(self, held: Recorded) -> Value:
        """The value, as an input, of what the program around has recorded."""
        around, theirs = self.around_it, held.interpreter
        if not theirs.entered:
            return self._constant(held.numbers)  # made by a recording that has ended
        if around is None or theirs.level > self.level:
            raise RefusedError(f"a value from inside a loop or a branch is used outside of it, at {describe(caller())}")
        outer = around.value_of(held)
        if outer not in self.lifted:
            value = outer.like()
            self.inputs.append(value)
            self.lifted[outer] = value, around.hold(held.numbers, outer)
        return self.lifted[outer][0]

    def _constant(self, given: TensorLike) -> Value:
        array = np.asarray(given)
        if array.dtype.kind not in "buifc":
            raise RefusedError(f"an operation takes a {type(given).__name__}, which is not an array of numbers")
        known = self._constants.get(id(given))
        if known is not None and known[0] is given:
            return known[1]
        if array.nbytes > LARGEST_CONSTANT:
            raise RefusedError(
                f"an array of {array.nbytes} bytes, made without tensors, is part of the program: pass it in"
            )
        value = self._repeated(array) if array.size > 1 else None
        if value is None:
            value = Value(array.shape, array.dtype)
            self.constants[value] = array.copy()
        self._constants[id(given)] = (given, value)
        return value

    def _repeated(self, array: Array) -> Value | None:
        """A constant all of whose elements are one number, as that number; the passes know what to do with it."""
        first = array.reshape(-1)[:1]
        if array.tobytes() != first.tobytes() * array.size:
            return None
        number = Value((), array.dtype)
        self.constants[number] = first.reshape(()).copy()
        return self.written_down(ops.broadcast_to, (number,), {"shape": array.shape}, array)

    # Operations

    def process(self, primitive: Primitive, args: Sequence[Any], params: Params) -> Any:
        """Compute one operation and write it down."""
        if not self.here:
            settled = [arg.settled() if isinstance(arg, Recorded) else arg for arg in args]
            return quiet.copy().run(primitive.forward, *settled, **params)
        return self.alone((primitive,), self._recorded, primitive, args, params)

    def alone(self, primitives: Iterable[Primitive], work: Callable[..., Any], *given: Any) -> Any:
        """Do work in which users' code has no part, unless the primitives are theirs, without the profile function."""
        watch = profile_function()
        if watch is None or watch is not self.watch or not all(OWN.get(each.name) is each for each in primitives):
            return work(*given)
        set_profile_function(None)
        try:
            return work(*given)
        finally:
            set_profile_function(watch)

    def _recorded(self, primitive: Primitive, args: Sequence[Any], params: Params) -> Recorded | tuple[Recorded, ...]:
        """The result of an operation, in the thread that records."""
        masked = primitive.name == "index" and any(arg.dtype == bool and not self.knows(arg) for arg in args[1:])
        if primitive.name in SHAPED_BY_VALUES or masked:
            raise RefusedError(shaped_by_values(primitive.name))
        if any(type(arg) in NUMBERS for arg in args):
            args = _typed(primitive, args)
        if "axis" in params:
            params = counted(primitive, args[0], params)
        made = self._put_off(primitive, args, params)
        if made is not None:
            return made
        if primitive.name in LOOPS and self.moment.moved():
            raise RefusedError(RANDOM)
        arrays = [arg.numbers if isinstance(arg, Recorded) else arg for arg in args]
        result = quiet.copy().run(primitive.forward, *arrays, **params)
        if primitive.name in LOOPS:
            self.moment = self.moment.now()  # its steps may have drawn
        seen = self._views(primitive, args, params, result)
        if seen is not None:
            return seen
        if type(result) is tuple:
            return self._several(primitive, args, params, result)
        result = np.asarray(result)
        values = tuple(map(self.value_of, args))
        held = self.hold(_own(result, arrays), self.written_down(primitive, values, params, result))
        if primitive.name == "index" and isinstance(args[0], Recorded) and not any(map(np.ndim, arrays[1:])):
            held.block.origin = args[0].block
            args[0].block.chosen += (ref(held.block),)
        return held

    def _put_off(
        self, primitive: Primitive, args: Sequence[Any], params: Params
    ) -> Recorded | tuple[Recorded, ...] | None:
        """The result of an operation that is written down and not computed yet; None where it is to be computed now."""
        if not self.patient:
            return None
        long = primitive.kind == "elementwise" and math.prod(map(_size, args)) >= LARGE
        if not (self.deferred.memories or long or primitive.name == "scan_loop"):
            return None
        held = [arg for arg in args if isinstance(arg, Recorded)]
        forms = [arg.form if isinstance(arg, Recorded) else np.asarray(arg) for arg in args]
        waiting = any(arg.block.array is None for arg in held)
        if not (waiting or begins(primitive, forms, params)) or any(arg.interpreter is not self for arg in held):
            return None
        if primitive.view:
            return self._views(primitive, args, params, quiet.copy().run(primitive.forward, *forms, **params))
        kinds = foreseen(primitive, forms, params)
        if kinds is None:
            return None
        inputs, values = tuple(map(self.value_of, args)), tuple([Value(*kind) for kind in kinds])
        for arg, value, form in zip(args, inputs, forms, strict=True):
            if not isinstance(arg, Recorded):
                self.deferred.known[value] = form
            elif arg.block.array is not None:
                self.deferred.known[value], arg.block.alias = form, True
        self.equations.append(Equation(primitive, inputs, params, values, caller()))
        self.deferred.equations.append(self.equations[-1])
        made = tuple(map(self._waiting, values))
        return made if primitive.outputs > 1 else made[0]

    def _waiting(self, value: Value) -> Recorded:
        """A recorded value whose numbers are put off."""
        memory = MemoryBlock(None, value, form=np.empty(value.shape, value.dtype))
        self.deferred.memories.add(memory)
        return self._handle(memory, (), memory.shaped)

    def _several(
        self, primitive: Primitive, args: Sequence[Any], params: Params, result: tuple[Array, ...]
    ) -> tuple[Recorded, ...]:
        values = tuple(Value(np.shape(piece), np.asarray(piece).dtype) for piece in result)
        inputs = tuple(map(self.value_of, args))
        self.equations.append(Equation(primitive, inputs, params, values, caller()))
        return tuple(self.hold(np.array(piece), value) for piece, value in zip(result, values, strict=True))

    def _views(
        self, primitive: Primitive, args: Sequence[Any], params: Params, result: Array | tuple[Array, ...]
    ) -> Recorded | tuple[Recorded, ...] | None:
        """The results as views of the only argument, if they lie in its memory; else None."""
        source, several = args[0] if args else None, type(result) is tuple
        found: tuple[Any, ...] = result if isinstance(result, tuple) else (np.asarray(result),)
        if len(args) != 1 or not isinstance(source, Recorded):
            return None
        shares = [
            np.may_share_memory(source.form, x) if x.size else primitive.view for x in found if isinstance(x, ndarray)
        ]
        if not any(shares):
            return None
        steps = [(primitive, params)]
        if several:
            steps = [(ops.getitem, {"index": index}) for index in pieces(primitive, params, found)]
        made = [
            self._handle(source.block, (*source.steps, step), x, source) for step, x in zip(steps, found, strict=True)
        ]
        return tuple(made) if several else made[0]

    def written_down(self, primitive: Primitive, inputs: tuple[Value, ...], params: Params, result: Array) -> Value:
        """The value of an operation whose result is known."""
        value = Value(result.shape, result.dtype)
        self.equations.append(Equation(primitive, inputs, params, (value,), caller()))
        return value

    def assign(self, target: Recorded, given: Recorded | Array) -> None:
        """Write values, of the target's shape and dtype, into the memory of a recorded value."""
        if not self.here:
            with exchanging:
                np.copyto(target.settled(), given.settled() if isinstance(given, Recorded) else given)
            return
        array = given.numbers if isinstance(given, Recorded) else np.asarray(given)
        view = target.numbers
        if array.shape != view.shape or array.dtype != view.dtype:
            raise RefusedError(
                f"memory of {view.dtype}{list(view.shape)} is written with {array.dtype}{list(array.shape)}"
            )
        value, memory = self.value_of(given), target.block
        if innermost.get() is not target.interpreter:
            raise RefusedError("a loop or a branch changes what lies outside of it")
        if overlaps(view) or overlaps(memory.shaped):
            raise RefusedError("memory that lies in one place more than once is written")
        if memory.origin is not None or any(made() is not None for made in memory.chosen):
            raise RefusedError("a view is written, or what it is a view of, whose place a tensor has chosen")
        array = array.copy() if isinstance(given, Recorded) and not given._apart(target) else array
        if target.steps:
            whole = self.written_down(ops.overwrite, (memory.value, value), {"path": target.steps}, memory.shaped)
        else:
            whole = value
        memory.writable()
        np.copyto(target.numbers, array)
        memory.value = whole
        memory.writes += 1
        target._seen = (memory.writes, value)

    def sampled(self, draw: Sampler, shape: tuple[int, ...], parameters: Sequence[Any], generator: Source) -> Tensor:
        """Random numbers, which are drawn anew at each call."""
        if not self.moment.holds(generator) or self.moment.moved():
            raise RefusedError(RANDOM)
        self.drawn.append(generator)
        sample: Any = Draw(draw, shape, generator)
        described = {"distribution": getattr(draw, "__name__", "").strip("_")}
        given = [p._array if getattr(p, "level", None) == 0 else p for p in parameters]  # or arrays
        made = self.process(sample, given, described)
        self.moment = self.moment.now()
        return Tensor.interpreter.wrap(made, None)

    def knows(self, held: Recorded | TensorLike) -> bool:
        """Whether numbers follow from constants, such as arrays that the function makes."""
        return not isinstance(held, Recorded) or determined(self.value_of(held), self.equations, self.constants)

    def guarded(self, held: Recorded) -> Any:
        """The number in a recorded value of one element; the program will hold only where it is the same."""
        if not self.here:
            return held.settled().item()
        if held.numbers.size != 1:
            raise ValueError("The truth value of an array with more than one element is ambiguous")
        found = held.numbers.item()
        self.guards.append((self.value_of(held), found))
        return found

    # What the tape tells

    def _compute(self, operation: TapeOperation) -> Any:
        primitive, args, params = operation.primitive, operation.args, operation.params
        for arg in args:
            if isinstance(arg, Tensor) and isinstance(arg._array, ndarray) and not isinstance(arg, Recorded):
                raise RefusedError(
                    "a tensor is used that the function reaches in a way which cannot be followed, at "
                    f"{describe(caller())}: pass it as an argument, or keep it in a variable, an attribute or a container "
                    "that the function names"
                )
        if params and (found := stand_ins(params)):
            return composed(primitive, args, params, found)
        if operation.tape.level > 1 or mode.get().pack is not None:  # beneath it may be an interpreter of users
            return _taped(operation)
        return self.alone((primitive,), _taped, operation)

    def _created(self, tensor: Tensor) -> None:
        if isinstance(tensor._array, ndarray):
            tensor._array = self.hold(tensor._array, self._constant(tensor._array))
        self.tensors.append(ref(tensor))

    def program(self, outputs: Sequence[Value], writes: Sequence[tuple[int, Value]]) -> Program:
        """What has been recorded."""
        return Program(
            tuple(self.inputs), tuple(self.equations), tuple(outputs), self.constants, tuple(writes), tuple(self.guards)
        )


def _taped(operation: TapeOperation) -> Any:
    return operation.finished(operation.beneath())


def _typed(primitive: Primitive, args: Sequence[Any]) -> list[Any]:
    """Arguments with Python numbers as arrays, of the dtype that they take beside the others."""
    beside = args[1:] if primitive.name in ("where", "select") else args
    dtypes = [arg.form.dtype if isinstance(arg, Recorded) else arg.dtype for arg in beside if type(arg) not in NUMBERS]
    return [_as_array(arg, dtypes) if type(arg) in NUMBERS else arg for arg in args]


def _as_array(number: PythonNumber, dtypes: list[NumpyType]) -> Array:
    own = np.asarray(number)
    if not dtypes:
        return own
    dtype = np.result_type(*dtypes)
    return own if "biufc".index(own.dtype.kind) > "biufc".index(dtype.kind) else own.astype(dtype)


def _size(arg: Recorded | TensorLike) -> int:
    """The elements of an argument."""
    return (arg._view if isinstance(arg, Recorded) else np.asarray(arg)).size


def _own(result: Array, arrays: Sequence[object]) -> Array:
    """A result in memory of its own."""
    if result.base is not None or not result.flags.writeable or any(result is array for array in arrays):
        return result.copy(order="K")
    return result
