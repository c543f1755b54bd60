"""The short way: operations on plain tensors, recorded without dispatch.

`Tape.process` reads from a primitive what to keep, and for whom, at every call. Here that is read once and written
down as the source of a function with the primitive's own inputs: past `bind` for every primitive, and, for the hottest
methods of a tensor, past promotion too. Such a function does exactly what the general way would do, or hands over to
it: for another level, hooks on saved values, a value that was cut off, several outputs. This is the one place that may
look like C. `tests/test_eager.py` holds the two ways together.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from ._core import Primitive, bind
from ._memory import Cell, cell_of, protect, written
from ._modes import NO_GRAD, RECORD, mode, quiet
from ._node import make, new, node_class
from ._sites import GENERATED, remember

FLOAT, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
Function = Callable[..., Any]

SCOPE: dict[str, Any] = {
    "Cell": Cell, "DOUBLE": DOUBLE, "FLOAT": FLOAT, "NO_GRAD": NO_GRAD, "RECORD": RECORD, "array_of": np.array,
    "asarray": np.asarray, "cell_of": cell_of, "make": make, "mode": mode, "ndarray": np.ndarray, "new": new,
    "node_class": node_class, "quiet": quiet,
}  # fmt: skip

# The names in the functions written below.
LOCALS = {"current", "large", "dtype", "excess", "observer", "out", "params", "result", "tensor", "tracked"}


def past_bind(cls: type[Any], primitive: Primitive) -> Function:
    """The short way of a primitive, for plain tensors of class `cls` and plain arrays."""

    def general(*args: Any, **params: Any) -> Any:
        return bind(primitive, args, params)

    if primitive.variadic:
        return general
    names = primitive.inputs
    others = _array if len(names) > 1 else _nothing
    unpack = [line for name in names for line in (*_tensor(name), *others(name), *_else(names, "**params"))]
    if len(names) > 1:  # a level above computes on what it has unboxed
        unpack.append(f"if {' and '.join(f'{name} is {name}_array' for name in names)}:")
        unpack.append(f"    return quiet.copy().run(forward, {', '.join(names)}, **params)")
    hindrances = [f"type({name}_array) is not ndarray" for name in names]
    return _written(cls, primitive, general, names, unpack, hindrances, "**params")


def method(
    cls: type[Any],
    primitive: Primitive,
    general: Function,
    *,
    ndim: int | None = None,
    number: str | None = None,
    out: bool = False,
) -> Function:
    """The short way of a tensor's method, for plain tensors of one floating dtype and Python numbers.

    With `ndim`, for tensors of so many axes only. `number` is the metadata that the method takes as its last argument.
    With `out`, that of a function of the package, which takes `out=`.
    """
    names = _parameters(general)[: len(primitive.inputs)]
    first, *rest = names
    unpack = [f"if out is not None or {EXCESS} is not None:", f"    {_call(names, EXCESS_OR_OUT)}"] if out else []
    unpack += [
        f"if type({first}) is not Tensor or (dtype := {first}._array.dtype) is not FLOAT and dtype is not DOUBLE:",
        f"    {_call(names, number)}",
        f"{first}_array, {first}_edge = {first}._array, {first}._node",
    ]
    for name in rest:
        unpack += [*_tensor(name), *_number(name), *_else(names, number)]
    if number is not None:
        unpack += [
            f"if type({number}) is not int and type({number}) is not float:",
            f"    {_call(names, number)}",
            f"params = {{{number!r}: {number}}}",
        ]
    hindrances = [f"{name}_array.dtype is not dtype" for name in rest]
    hindrances += [f"{name}_array.ndim != {ndim}" for name in names if ndim is not None]
    return _written(cls, primitive, general, names, unpack, hindrances, number, out=out)


def _parameters(function: Function) -> tuple[str, ...]:
    """The names of the positional arguments of a function, or of the one that it wraps."""
    code: CodeType = unwrapped(function).__code__
    return code.co_varnames[: code.co_argcount]


def unwrapped(function: Any) -> Any:
    """The function that decorators have wrapped."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


# The text
#
# A function has three parts: operands are unpacked, the result is computed unless something stands in the way, and it
# is boxed, with a node if an operand is tracked. Where an observer looks on, a second function has the last two parts:
# it shows its results. `names` are those of the operands. `last` is how metadata arrives: "**params", one number's name,
# or None. A keyword-only `out` would cost 30 ns a call; before it stands a place that no argument may take, so that none
# becomes `out` by its position.

EXCESS = "excess"
EXCESS_OR_OUT = f"*(() if {EXCESS} is None else ({EXCESS},)), out=out"


def _written(
    cls: type[Any],
    primitive: Primitive,
    general: Function,
    names: Sequence[str],
    unpack: list[str],
    hindrances: list[str],
    last: str | None,
    *,
    out: bool = False,
) -> Function:
    """The function whose operands are unpacked so, and which hands over to `general` where there is a hindrance.

    It is written when it is first called, and the one for observers when one looks on: compiling all of them would cost
    the import 20 ms.
    """

    def write() -> None:
        if taken := {*scope, *LOCALS} & {*names}:
            raise TypeError(f"an input of {primitive.name} cannot be called {taken}: see _eager")
        if isinstance(primitive.title, str) or last is None:
            scope["kind"] = node_class(primitive, primitive.node_name({}))
        optional = [f"{name}=None" for name in (EXCESS, "out") if out]
        lines = [*unpack, *_cleared(names, hindrances, last), *_computed(primitive, names, last, observed=False)]
        record = _compiled(scope, f"{primitive.name}, recorded", [*names, *filter(None, [last]), *optional], lines)
        function.__code__, function.__defaults__ = record.__code__, record.__defaults__
        scope["observed"] = observed

    def observed(*given: Any) -> Any:
        lines = _computed(primitive, names, last, observed=True)
        scope["observed"] = _compiled(scope, f"{primitive.name}, observed", _passed(names, last), lines)
        return scope["observed"](*given)

    scope = {**SCOPE, "Tensor": cls, "primitive": primitive, "title": primitive.title, "forward": primitive.forward}
    scope["large"] = _by_machine_code(primitive)
    scope |= {"general": general, "finish": cls.interpreter.finish, "write": write}
    function = FunctionType(_unwritten.__code__, scope)
    scope["function"] = function
    return functools.update_wrapper(function, general)


def _unwritten(*args: Any, **params: Any) -> Any:
    """What a function does before it is written; the names are those of its scope."""
    write()  # type: ignore[name-defined]  # noqa: F821
    return function(*args, **params)  # noqa: F821  # type: ignore[name-defined]


def _compiled(scope: dict[str, Any], title: str, parameters: Sequence[str], lines: Sequence[str]) -> Function:
    """A function of some text, which tracebacks can show."""
    source = "\n".join([f"def written({', '.join(parameters)}):", *(f"    {line}" for line in lines)])
    filename = f"{GENERATED}{title}>"
    remember(filename, source)
    exec(compile(source, filename, "exec"), scope)  # noqa: S102  # our own text, of names `Primitive` has accepted
    return scope.pop("written")  # type: ignore[no-any-return]  # what exec defined


def _passed(names: Sequence[str], last: str | None) -> list[str]:
    """What the first function hands over to the second: all that it has found out."""
    operands = [local for name in names for local in (name, f"{name}_array", f"{name}_edge")]
    metadata = [] if last is None else ["params"] if last == "**params" else [last, "params"]
    return ["current", "tracked", *operands, *metadata]


def _call(names: Sequence[str], last: str | None, function: str = "general") -> str:
    return f"return {function}({', '.join([*names, *filter(None, [last])])})"


def _tensor(name: str) -> list[str]:
    return [
        f"if type({name}) is Tensor:",
        f"    {name}_array, {name}_edge = {name}._array, {name}._node",
    ]


def _array(name: str) -> list[str]:
    return [f"elif type({name}) is ndarray:", f"    {name}_array, {name}_edge = {name}, None"]


def _nothing(_: str) -> list[str]:
    return []


def _number(name: str) -> list[str]:
    return [
        f"elif type({name}) is float or type({name}) is int:",
        f"    {name}_array, {name}_edge = quiet.copy().run(array_of, {name}, dtype), None",
    ]


def _else(names: Sequence[str], last: str | None) -> list[str]:
    return ["else:", f"    {_call(names, last)}"]


def _cleared(names: Sequence[str], hindrances: list[str], last: str | None) -> list[str]:
    """The lines that hand over to others: where operands, or the mode, are out of the ordinary."""
    cut = " or ".join(f"(type({name}) is Tensor and {name}._cut is not None)" for name in names)
    return [
        *([f"if {' or '.join(hindrances)}:", f"    {_call(names, last)}"] if hindrances else []),
        f"tracked = {' or '.join(f'{name}_edge is not None' for name in names)}",
        "current = mode.get()",
        f"if (current is not RECORD and (tracked or current is not NO_GRAD)) or (not tracked and ({cut})):",
        f"    if current.observer is None or (not tracked and ({cut})):",
        f"        {_call(names, last)}",
        f"    {_call(_passed(names, last), None, 'observed')}",
    ]


LARGE = 1 << 19
"""Elements from which on an elementwise operation is worth a way over machine code, where there is some."""


@functools.cache
def _compiles() -> bool:
    """Whether there is machine code for single operations: if llvmlite is installed."""
    return importlib.import_module("importlib.util").find_spec("llvmlite") is not None


def _by_machine_code(primitive: Primitive) -> Function:
    """The forward function of a primitive for large arrays."""

    def large(*arrays: Any, **params: Any) -> Any:
        return importlib.import_module("pullback.compile.machine.large").forward(primitive, arrays, params)

    return large


def _computed(primitive: Primitive, names: Sequence[str], last: str | None, *, observed: bool) -> list[str]:
    """The lines that compute the result and box it."""
    edges, arrays = ("".join(f"{name}_{what}, " for name in names) for what in ("edge", "array"))
    params = "params" if last else "{}"
    finish = f"finish(primitive, ({', '.join(names)},), ({edges}), result, {params}, tracked)"
    finished, forward, unseen = [f"return {finish}"], "forward", "primitive not in observer.unseen"
    if primitive.kind in ("elementwise", "zero") and _compiles():
        forward = f"forward if {names[0]}_array.size < {LARGE} else large"
        unseen += f" or {names[0]}_array.size >= {LARGE}"  # machine code tells of no flags
    shown = [f"if {unseen}:", f"    observer.sees(primitive, {params}, ({arrays}), tensor)", "return tensor"]
    if observed:
        finished = [f"tensor = {finish}", *shown]
    lines = [
        *(["observer = current.observer"] if observed else []),
        "try:",
        f"    result = {'observer' if observed else 'quiet'}.copy().run({forward}, {arrays}{'**params' if last else ''})",
        "except ValueError:",  # shapes that do not fit: the general way says so properly
        f"    {_call(names, last)}",
        "if type(result) is not ndarray:",
        "    if type(result) is tuple:",
        *(f"        {line}" for line in finished),
        "    result = asarray(result)",
    ]
    recorded = "result.dtype.kind == 'f'" if primitive.differentiable else "False"
    kind = "kind" if isinstance(primitive.title, str) or last is None else "node_class(primitive, title(**params))"
    saved = "".join(f"{_kept(primitive, names, saved)}, " for saved in primitive.saved)
    node = f"make({kind}, ({edges}), ({saved}), {'params or None' if last else None}, result.shape)"
    return [
        *lines,
        f"if tracked and not ({recorded}):",
        *(f"    {line}" for line in finished),
        "tensor = new(Tensor)",
        "tensor._array = result",
        "tensor._cell = None",
        f"tensor._node = {node} if tracked else None" if primitive.differentiable else "tensor._node = None",
        *(shown if observed else ["return tensor"]),
    ]


def _kept(primitive: Primitive, names: Sequence[str], saved: str) -> str:
    """The expression for the cell of a saved value, or for None where no tracked operand's rule names it."""
    if saved == "y":
        cell = "tensor._cell or cell_of(tensor)"
    else:
        name = names[primitive.inputs.index(saved)]
        cell = f"({name}._cell or cell_of({name})) if type({name}) is Tensor else Cell({name}_array)"
    users = primitive.users(saved)
    if users is None or len(names) == 1:
        return f"({cell})"
    return f"(({cell}) if {' or '.join(f'{names[i]}_edge is not None' for i in users)} else None)"


def in_place(cls: type[Any], primitive: Primitive, general: Function) -> Function:
    """The short way of an in-place method that is not recorded: computed straight into the memory."""
    forward = primitive.forward

    @functools.wraps(general)
    def method(self: Any, other: Any, **options: Any) -> Any:
        if mode.get() is not NO_GRAD or type(self) is not cls or type(other) is not cls or options:
            return general(self, other, **options)
        x = self._array
        y = other._array
        dtype = x.dtype
        if (
            y.dtype is not dtype
            or y.shape != x.shape
            or (dtype is not FLOAT and dtype is not DOUBLE)
            or not x.flags.carray  # may be read-only, or lie in one place more than once
            or self._inference
        ):
            return general(self, other)
        protect(self)
        quiet.copy().run(forward, x, y, x)
        written(self)
        return self

    return method
