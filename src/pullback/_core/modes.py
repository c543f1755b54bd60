"""The state of a thread: what is recorded, which transforms are entered, and how NumPy reports floating-point errors.

What several modules ask is here; the state of one task is in the module of that task, as are the options for printing, the
default dtype, random generators and caches. A mode is an immutable value in a context variable, so leaving a block restores
exactly the mode before it, for each thread and each asyncio task. The default mode is a single object, `RECORD`, so that the
hot path needs only one identity test.
"""

from __future__ import annotations

import contextvars
import functools
import importlib
import itertools
from collections import deque
from collections.abc import Callable
from operator import call
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np

if TYPE_CHECKING:
    from .primitives import Primitive
    from .typing import Tensor, Tensors


Function = TypeVar("Function", bound=Callable[..., Any])
Result = TypeVar("Result")


class Mode(NamedTuple):
    """How operations are processed: whether they are recorded, and which hooks see saved values, computations and new tensors."""

    grad: bool = True
    inference: bool = False
    enabled: bool = False
    """Whether recording was switched on in inference mode, which records nothing all the same."""
    pack: Callable[[Any], Any] | None = None
    unpack: Callable[[Any], Any] | None = None
    hooks_refused: str | None = None
    compute: Callable[..., Any] | None = None
    created: Callable[[Any], None] | None = None
    watcher: Any = None
    """An object notified of what operations do not show: `wrote(tensor, recorded, value)` after a write, `looked(tensor)` at a look, `begins` and `ends` of a pass."""
    observer: Any = None
    """The watcher, if the mode does nothing but let it look at results: then the fast paths of operations can stay in use."""
    escapes_refused: str = ""
    """What refuses conversions that would lose a gradient, such as "no_escapes"; "" where they are allowed."""
    strong_zeros: bool = False
    programs: frozenset[str] = frozenset()
    """The packages whose NumPy makes tensors."""
    alone: Callable[..., Any] | None = None
    """Does work in which users' code has no part, if the primitives that it is about are pullback's: `alone(primitives, work, *args)`."""
    copied: Callable[[Any], None] | None = None
    """Told of each cell whose value a write has copied."""
    early_stop: bool | None = None
    debugging: bool | None = None
    """What all checkpoints are told, in place of their own arguments."""


RECORD = Mode()
NO_GRAD = Mode(grad=False)
mode: contextvars.ContextVar[Mode] = contextvars.ContextVar("pullback.mode", default=RECORD)
running: contextvars.ContextVar[Any] = contextvars.ContextVar("pullback.pass", default=None)
innermost: contextvars.ContextVar[Any] = contextvars.ContextVar("pullback.innermost", default=None)
asking: contextvars.ContextVar[FrameType | None] = contextvars.ContextVar("pullback.asking", default=None)
losses: contextvars.ContextVar[list[Any] | None] = contextvars.ContextVar("pullback.losses", default=None)
refusals: contextvars.ContextVar[list[Exception] | None] = contextvars.ContextVar("pullback.refusals", default=None)
dual: contextvars.ContextVar[Any] = contextvars.ContextVar("pullback.dual", default=None)
state_asked: contextvars.ContextVar[Callable[[], object] | None] = contextvars.ContextVar(
    "pullback.state_asked", default=None
)
"""What is called when a program reads or sets the state of a generator: a record of it could not do that again."""
entered = itertools.count(1)  # numbers the blocks of interpreters in the order in which they are entered


# Entering and leaving
#
# The handler of a signal, such as Ctrl-C, may raise an exception wherever Python looks for signals: where a function begins,
# after a call, where a loop goes back. It may come before the first instruction of an `__exit__`, which then leaves nothing.
# So functions that enter anything are `restoring`: after an exception they leave what their `with` statements could not.
# They do so in one call of a function written in C, in which Python looks for no signal. Only the `with` statement of a
# program itself has nobody around it.

_STATE: tuple[contextvars.ContextVar[Any], ...] = (
    mode,
    innermost,
    running,
    asking,
    losses,
    refusals,
    dual,
    state_asked,
)
_ASK, _SET = tuple(each.get for each in _STATE), tuple(each.set for each in _STATE)


def like(function: Function) -> Callable[[Callable[..., Any]], Function]:
    """`functools.wraps`, whose result has the type of what is wrapped, too."""
    wrap: Callable[[Any], Any] = functools.wraps(function)
    return wrap


def restoring(function: Function) -> Function:
    """A function that leaves the thread in the modes, transforms and passes in which it was before, wherever an exception comes."""

    @like(function)
    def wrapped(*args: Any, **options: Any) -> Any:
        before = [*map(call, _ASK)]
        try:
            return function(*args, **options)
        except BaseException:
            deque(map(call, _SET, before), 0)
            raise

    return wrapped


def under(variable: contextvars.ContextVar[Any], value: Any, function: Callable[..., Result], *args: Any) -> Result:
    """The result of a function that is called while a context variable has another value, wherever an exception comes."""
    before = variable.get()
    try:
        try:
            variable.set(value)
            return function(*args)
        finally:
            variable.set(before)
    except BaseException:  # it may have come before the line above
        variable.set(before)
        raise


def set_all(values: dict[contextvars.ContextVar[Any], Any]) -> None:
    """Give context variables values, without looking for a signal in between."""
    deque(map(contextvars.ContextVar.set, values, values.values()), 0)


class ValuesBlock:
    """A block in which context variables have other values; it nests."""

    def __init__(self) -> None:
        self._around: list[dict[Any, Any]] = []

    def _values(self) -> dict[Any, Any]:
        """The values that context variables have inside the block."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        values, depth = self._values(), len(self._around)
        before = {each: each.get() for each in values}
        try:
            self._around.append(before)
            set_all(values)
            return self  # noqa: TRY300  # a return can be interrupted, too
        except BaseException:  # the handler of a signal may raise it after the change
            set_all(before)
            del self._around[depth:]
            raise

    def __exit__(self, *exc: object) -> None:
        try:
            set_all(self._around[-1])
        finally:  # if that was interrupted
            set_all(self._around.pop())


def changed(current: Mode | None = None, /, **fields: Any) -> Mode:
    """A mode, by default that in force, with some fields changed; the default mode is always the same object."""
    current = current or mode.get()
    if fields.keys() == {"grad"}:  # the most frequent changes need no new object
        if current is RECORD or current is NO_GRAD:
            return RECORD if fields["grad"] else NO_GRAD
        if current is WITHIN or current is WITHIN_NO_GRAD:
            return WITHIN if fields["grad"] else WITHIN_NO_GRAD
    new = current._replace(**fields)
    observer = _observer(new)
    if observer is not new.observer:
        new = new._replace(observer=observer)
    return RECORD if new == RECORD else NO_GRAD if new == NO_GRAD else new


def _observer(new: Mode) -> Any:
    """What a mode lets look at results, if it does nothing else and records as the default mode does; otherwise None."""
    if not new.grad or new.pack is not None:
        return None
    if new.compute is None:
        return (
            new.created if type(new.created) is _Creation and new.created.before is None and not new.inference else None
        )
    looks = new.compute == getattr(new.watcher, "compute", None) and new.watcher.alone and new.created is None
    return new.watcher if looks else None


def is_grad_enabled() -> bool:
    """Whether operations on tensors that require grad are recorded in this thread.

    >>> import pullback
    >>> pullback.is_grad_enabled()
    True
    """
    current = mode.get()
    return current.grad or current.enabled


def _switched(enabled: bool) -> dict[str, object]:
    """The fields of a mode in which recording is switched on or off."""
    return {"grad": False, "enabled": enabled} if mode.get().inference else {"grad": enabled}


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside `inference_mode`.

    >>> import pullback
    >>> pullback.is_inference_mode_enabled()
    False
    """
    return mode.get().inference


class ModeBlock:
    """A change of mode: a context manager that nests, and a decorator of functions and generators."""

    def __init__(self) -> None:
        self._around: list[Mode] = []

    def _fields(self) -> dict[str, object]:
        raise NotImplementedError

    def _fresh(self) -> ModeBlock:
        return type(self)()

    def __enter__(self) -> Self:
        before, depth = mode.get(), len(self._around)
        try:
            self._around.append(before)
            mode.set(changed(**self._fields()))
            return self  # noqa: TRY300  # a return can be interrupted, too
        except BaseException:  # the handler of a signal may raise it after the change
            mode.set(before)
            del self._around[depth:]
            raise

    def __exit__(self, *exc: object) -> None:
        try:
            mode.set(self._around[-1])
        finally:  # if that was interrupted
            mode.set(self._around.pop())
        if self._left is not None:
            self._left(exc[0])

    _left: Callable[[object], None] | None = None
    """What is done after the mode has been left, with the type of the exception, if there was one.

    A subclass defines it instead of `__exit__`, which would be open to an interruption before its first instruction.
    """

    def __call__(self, function: Function) -> Function:
        if isinstance(function, type):
            raise TypeError(
                f"{type(self).__name__} cannot decorate the class {function.__name__}: decorate its methods, "
                "or use it as a context manager"
            )
        if importlib.import_module("inspect").isgeneratorfunction(function):  # 10 ms, if NumPy has not imported it
            return _wrap_generator(self, function)

        @restoring
        @like(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self._fresh():
                return function(*args, **kwargs)

        return wrapped


def _wrap_generator(block: ModeBlock, function: Function) -> Function:
    """A generator function whose body runs inside the block, while its caller, between two items, does not."""

    @block
    def inside(step: Callable[[], object]) -> object:
        return step()

    @like(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        step: Callable[[], object] = functools.partial(next, generator)
        while True:
            try:
                item = inside(step)
            except StopIteration as stop:
                return stop.value
            try:
                sent = yield item
            except GeneratorExit:
                inside(generator.close)
                raise
            except BaseException as error:  # noqa: BLE001  # handed to the wrapped generator, as `yield from` does
                step = functools.partial(generator.throw, error)
            else:
                step = functools.partial(generator.send, sent)

    return wrapped


class _Switch(ModeBlock):
    """A change of mode without options, which decorates functions with and without parentheses."""

    _field: str
    _value: object = True

    def _fields(self) -> dict[str, object]:
        return {self._field: self._value}

    def __new__(cls, function: Function | None = None) -> Any:
        block = super().__new__(cls)
        if function is None:
            return block
        cls.__init__(block)
        return block(function)

    def __init__(self, function: None = None) -> None:
        super().__init__()


class no_grad(_Switch):
    """A block in which nothing is recorded: results do not require grad and are leaves.

    Works as `with no_grad():`, as a decorator with and without parentheses, and on generator functions. Tensors
    created inside with ``requires_grad=True`` still require grad. The mode belongs to the thread.

    >>> import pullback
    >>> w = pullback.ones(2, requires_grad=True)
    >>> with pullback.no_grad():
    ...     print((w * 2).requires_grad)
    False
    """

    def _fields(self) -> dict[str, object]:
        return _switched(False)


class enable_grad(_Switch):
    """A block in which operations are recorded, also inside `no_grad`, though not inside `inference_mode`.

    >>> import pullback
    >>> w = pullback.ones(2, requires_grad=True)
    >>> with pullback.no_grad(), pullback.enable_grad():
    ...     print((w * 2).requires_grad)
    True
    """

    def _fields(self) -> dict[str, object]:
        return _switched(True)


class no_escapes(_Switch):
    """A block in which a conversion that would lose a gradient is an error, which names the value, the line and the fix.

    Outside, `float(t)`, `int(t)`, `complex(t)`, `math.sin(t)` and `a[0] = t` for an array `a` warn and go on with a plain
    number, and `t.item()`, `t.tolist()` and `pickle.dumps(t)` do so without a word. Inside, each of them is a RuntimeError
    for a tensor whose derivative is recorded, with functions of SciPy that ask for arrays, as always. What says that no
    gradient is wanted stays allowed: `detach()`, `data`, `numpy(force=True)`, and everything under `no_grad`. So do
    comparisons, `bool(t)`, printing, and results of step functions, as in `int(t.floor())`: no derivative is lost. The mode belongs to the thread. Works
    as a decorator, too.

    >>> import math
    >>> import pullback
    >>> x = pullback.tensor(2.0, requires_grad=True)
    >>> with pullback.no_escapes():
    ...     y = math.sin(x * 3)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    RuntimeError: no_escapes: math.sin at ... takes, by conversion to a number, the values of a float32 tensor of shape () made by mul ...
    """

    _field, _value = "escapes_refused", "no_escapes"


class strong_zeros(_Switch):
    """A block whose backward passes keep a zero gradient zero, also where the derivative is infinite or NaN.

    The branch of `where` that is not selected has gradient zero, and 0 times an infinite derivative is NaN: so
    `where(x > 0, sqrt(x), 0)` has a NaN gradient at 0, in torch too. Inside the block such products are zero: of
    elementwise operations and products each term, of operations along an axis each row, of all others only the whole. A
    gradient that is not zero, and all values, are what they are outside. What counts is where the pass runs, not the
    computation; for second derivatives both passes have to run inside. Tangents of `jvp` are treated alike. Works as a
    decorator, too.

    >>> import pullback
    >>> x = pullback.tensor([0.0, 4.0], requires_grad=True)
    >>> with pullback.strong_zeros():
    ...     pullback.where(x > 0, x.sqrt(), 0.0).sum().backward()
    >>> x.grad
    tensor([0.0000, 0.2500])
    """

    _field = "strong_zeros"


def _require_bool(name: str, argument: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(
            f"{name}(): argument '{argument}' (position 1) must be bool, not {type(value).__name__}: pass True or False"
        )
    return value


class set_grad_enabled(ModeBlock):
    """Recording switched on or off: at once when called, until the end of the block when used with `with`.

    Parameters
    ----------
    enabled
        Whether operations are recorded.

    >>> import pullback
    >>> with pullback.set_grad_enabled(False):
    ...     pullback.is_grad_enabled()
    False

    Raises
    ------
    TypeError
        If `enabled` is not a bool.
    """

    def __init__(self, enabled: bool) -> None:
        super().__init__()
        self._enabled = _require_bool("set_grad_enabled", "enabled", enabled)
        self._before: Mode | None = mode.get()
        try:
            mode.set(changed(**_switched(enabled)))
        except BaseException:
            mode.set(self._before)
            raise

    def _fields(self) -> dict[str, object]:
        return _switched(self._enabled)

    def _fresh(self) -> ModeBlock:
        block = ModeBlock.__new__(type(self))
        ModeBlock.__init__(block)
        block.__dict__.update(_enabled=self._enabled, _before=None)
        return block

    def __enter__(self) -> Self:
        if self._before is not None:
            mode.set(self._before)
            self._before = None
        return super().__enter__()

    def __call__(self, function: Function) -> Function:
        if self._before is not None:
            mode.set(self._before)
            self._before = None
        return super().__call__(function)


class inference_mode(ModeBlock):
    """A block in which nothing is recorded and whose tensors can never take part in a recording.

    `inference_mode(False)` inside such a block turns it off again. Usable as a decorator.

    Parameters
    ----------
    mode
        False turns it off; a function is decorated.

    >>> import pullback
    >>> with pullback.inference_mode():
    ...     t = pullback.ones(2) * 2
    >>> t.is_inference()
    True
    """

    def __new__(cls, mode: object = True) -> Any:
        block = super().__new__(cls)
        if isinstance(mode, bool) or not callable(mode):
            return block
        cls.__init__(block)
        return block(mode)

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self._enabled = _require_bool("inference_mode", "mode", mode)

    def _fields(self) -> dict[str, object]:
        return {"inference": self._enabled, "grad": not self._enabled, "enabled": False}

    def _fresh(self) -> ModeBlock:
        return type(self)(self._enabled)


class FieldBlock(ModeBlock):
    """A context manager that sets any fields of the mode."""

    def __init__(self, **fields: Any) -> None:
        super().__init__()
        self._values = fields

    def _fields(self) -> dict[str, object]:
        return self._values

    def _fresh(self) -> ModeBlock:
        return type(self)(**self._values)


class _Errstate:
    """A replacement for `contextvars.Context` on NumPy 1, whose error state belongs to the thread: it is set, then restored.

    `np.errstate` does the same, and takes four times as long.
    """

    def __init__(self, states: dict[str, Any], told: Callable[[str, int], None] | None) -> None:
        numpy: Any = np  # NumPy 2 has these two no longer
        self._get, self._set = numpy.geterrobj, numpy.seterrobj
        with numpy.errstate(call=told, **states):
            self._state = tuple(self._get())

    def copy(self) -> _Errstate:
        """This object: unlike a context, it can be entered while it is entered."""
        return self

    def run(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """The result of a function that is called in this error state."""
        before = self._get()
        self._set([*self._state])  # a new list, since NumPy writes into it
        try:
            return function(*args, **options)
        finally:
            self._set(before)


class Computing:
    """Runs functions with NumPy's floating-point warnings switched off, as torch does: `run(f, *args, **kwargs)`.

    `told(kind, flag)`, if given, is called on overflow, division by zero and invalid operations.

    NumPy 2 keeps its error state in a context variable: to run in a copy of a context that was prepared once costs
    0.05 us, `np.errstate` costs 1.4. It has to be a copy, because a context cannot be entered twice at a time: threads
    share the original, and code that runs inside, such as a `__del__`, may enter again. The hottest callers write
    `quiet.copy().run(...)`.
    """

    def __init__(self, told: Callable[[str, int], None] | None = None) -> None:
        states: dict[str, Any] = {"all": "ignore"}
        if told is not None:
            states = {"divide": "call", "over": "call", "invalid": "call", "under": "ignore"}
        context: Any
        if np.__version__.startswith("1."):
            context = _Errstate(states, told)
        else:
            context = contextvars.Context()
            context.run(np.seterr, **states)
            if told is not None:
                context.run(np.seterrcall, told)
        self.copy = context.copy

    def run(self, function: Callable[..., Result], *args: Any, **options: Any) -> Result:
        """The result of a function that is called without floating-point warnings."""
        result: Result = self.copy().run(function, *args, **options)
        return result


quiet = Computing()


class _Creation:
    """Notes of a new tensor inside which interpreter's block it was made, and looks on with the fast paths of operations."""

    copy = quiet.copy
    unseen = ()

    def __init__(self, before: Callable[[Any], None] | None = None) -> None:
        self.before = before

    def __call__(self, tensor: Tensor) -> None:
        if (interpreter := innermost.get()) is not None:
            tensor._since = getattr(interpreter, "since", 0)
        if self.before is not None:
            self.before(tensor)

    def sees(self, primitive: Primitive, params: object, arrays: object, tensor: Tensors) -> None:
        """As an observer of operations does; see `_tape.observers`."""
        if not isinstance(tensor, tuple):  # whose pieces have been seen
            self(tensor)


def observed() -> bool:
    """True if an observer is told of operations; what records a program is none, and is told of each new tensor, too."""
    now = mode.get()
    return now.compute is not None and (now.created.before if type(now.created) is _Creation else now.created) is None


WITHIN_NO_GRAD = Mode(grad=False, created=_Creation())
WITHIN = Mode(created=WITHIN_NO_GRAD.created, observer=WITHIN_NO_GRAD.created)
"""The mode inside the block of an interpreter that was entered in the default mode."""


def within() -> Mode:
    """The current mode, in which tensors know inside which interpreter's block they were made."""
    current = mode.get()
    if current is RECORD or current is NO_GRAD:
        return WITHIN if current.grad else WITHIN_NO_GRAD
    return current if type(current.created) is _Creation else current._replace(created=_Creation(current.created))
