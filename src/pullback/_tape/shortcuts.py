"""The short way: operations on plain tensors, recorded without dispatch.

`Tape.process` reads from a primitive what to keep, and for whom, at every call. Here that is read once and written
down as the source of a function with the primitive's own inputs: past `bind` for every primitive, and, for the hottest
methods of a tensor, past promotion too. Such a function does exactly what the general way would do, or hands over to
it: for another level, hooks on saved values, a value that was cut off, several outputs. This is the one place that may
look like C. `tests/tape/test_shortcuts.py` holds the two ways together.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from sys import _getframe
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from .._core import machine
from .._core.bfloat import BFloatArray
from .._core.modes import NO_GRAD, RECORD, mode, quiet
from .._core.primitives import Function, Primitive, bind
from .._core.sites import generated, outside, user_frame
from .cuts import withdraw
from .memory import cell_of, cell_with, keep_array, protect, share, written
from .node import count, make, new, node_class
from .recording import why_cut

ndarray = np.ndarray
FLOAT, DOUBLE, BOOL = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.bool_)


class Metadata(NamedTuple):
    """How metadata arrives: as which parameters, and what of it is handed on to the general way."""

    parameters: str = ""
    handed: str = ""
    known: dict[str, Any] | None = {}  # noqa: RUF012  # never written
    """Some of which torch's name of the node follows, or None where it is found at each call."""
    typed: bool = True
    """Whether all operands are known to have one floating dtype."""


ANY, NONE = Metadata("**params", "**params", None, typed=False), Metadata(typed=False)
MORE = "*arguments, **options"
WHOLE = Metadata(MORE, "", {"axis": (), "keepdims": False})
AXES = tuple([tuple(range(ndim)) for ndim in range(65)])  # NumPy's arrays have up to 64
MISSING = object()

SCOPE: dict[str, Any] = {
    "AXES": AXES, "BOOL": BOOL, "DOUBLE": DOUBLE, "FLOAT": FLOAT, "NO_GRAD": NO_GRAD, "RECORD": RECORD, "array_of": np.array,
    "asarray": np.asarray, "frame_at": _getframe, "cell_of": cell_of, "cell_with": cell_with, "count": count,
    "mode": mode, "ndarray": ndarray, "new": new, "node_class": node_class, "outside": outside, "quiet": quiet,
    "keep_array": keep_array, "share": share, "user_frame": user_frame, "MISSING": MISSING, "why_cut": why_cut, "BOXED": (tuple, BFloatArray),
}  # fmt: skip

ANY_NAMES = 0x08  # the flag of code that takes any names: `inspect` has it, which need not be imported for it

# The names in the functions written below.
LOCALS = {
    "arguments", "code", "current", "large", "dtype", "excess", "frame", "lost", "node", "observer", "options", "out",
    "params", "result", "tensor", "tracked",
}  # fmt: skip


def past_bind(cls: type[Any], primitive: Primitive) -> Function:
    """The short way of a primitive, for plain tensors of class `cls` and plain arrays."""

    def general(*args: Any, **params: Any) -> Any:
        return bind(primitive, args, params)

    if primitive.variadic:
        return general if primitive.outputs > 1 else _of_many(cls, primitive, general)
    names = primitive.inputs
    metadata = ANY if _has_metadata(primitive) else NONE
    others = _array if len(names) > 1 else _nothing
    unpack = [line for name in names for line in (*_tensor(name), *others(name), *_else(names, metadata.handed))]
    if len(names) > 1:  # a level above computes on what it has unboxed
        unpack.append(f"if {' and '.join(f'{name} is {name}_array' for name in names)}:")
        unpack.append(f"    return quiet.copy().run(forward, {', '.join(names)}, {metadata.handed})")
    hindrances = [f"type({name}_array) is not ndarray" for name in names]
    signature = [*names, *filter(None, [metadata.parameters])]
    return _written(cls, primitive, general, names, unpack, hindrances, metadata, signature)


def _of_many(cls: type[Any], primitive: Primitive, general: Function) -> Function:
    """The short way of a primitive that takes any number of arrays: past `bind`."""
    forward, finish, keep, title = primitive.forward, cls.interpreter.finish, cls.interpreter._keep, primitive.title

    def recorded(*operands: Any, **params: Any) -> Any:
        arrays: list[Any] = []
        edges: list[Any] = []
        lost = plain = False
        for operand in operands:
            if type(operand) is cls and type(operand._array) is ndarray:
                arrays.append(operand._array)
                edges.append(operand._node)
                plain, lost = True, lost or operand._cut is not None
            elif type(operand) is ndarray:
                arrays.append(operand)
                edges.append(None)
            else:
                return general(*operands, **params)
        if not plain:  # a level above computes on what it has unboxed
            return quiet.copy().run(forward, *arrays, **params)
        current, tracked = mode.get(), any(edges)
        if (current is not RECORD and (current is not NO_GRAD or tracked)) or (lost and not tracked):
            return general(*operands, **params)
        result = quiet.copy().run(forward, *arrays, **params)
        if type(result) is not ndarray or (tracked and result.dtype.kind != "f"):
            return finish(primitive, operands, edges, result, params, tracked)
        tensor = new(cls)
        tensor._array = result
        tensor._cell = tensor._node = None
        if result.base is not None or id(result) in map(id, arrays):  # as `share` asks
            share(operands, tensor)
        if tracked:
            kind = node_class(primitive, title if isinstance(title, str) else title(**params))
            node = tensor._node = make(kind, tuple(edges), (), params, result.shape)
            if primitive.saved:
                node.saved = keep(node, operands, tensor)
        return tensor

    return functools.update_wrapper(recorded, general)


def _has_metadata(primitive: Primitive) -> bool:
    """Whether a primitive takes more than arrays, as far as can be told: to hand nothing on is quicker than no names."""
    for function in (primitive.forward, primitive.joint, *primitive.rules):
        code: CodeType | None = getattr(function, "__code__", None)
        if code is not None:
            names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
            if {*names} - {"needs"} or code.co_flags & ANY_NAMES:
                return True
            if function is primitive.forward and code.co_argcount != len(primitive.inputs):
                return True
        elif function is not None and type(function) is not np.ufunc:
            return True
    return callable(primitive.title)


def method(
    cls: type[Any],
    primitive: Primitive,
    general: Function,
    *,
    ndim: int | None = None,
    number: str | None = None,
    whole: bool = False,
    out: bool = False,
    numbers: bool = False,
) -> Function:
    """The short way of a tensor's method, for plain tensors of one floating dtype and Python numbers.

    With `ndim`, for tensors of so many axes only. `number` is the metadata that the method takes as its last argument.
    With `whole`, that of a reduction, of all elements only. With `out`, that of a function of the package, which takes
    `out=`: one of the options, where it has any. With `numbers`, that of an operator whose other operand is a number.
    """
    names = _parameters(general)[: len(primitive.inputs)]
    first, *rest = names
    metadata = WHOLE if whole else Metadata() if number is None else Metadata(number, number)
    operands = [f"{name}=MISSING" for name in names] if out else names
    out = out and not whole
    all_given = ", ".join(filter(None, [number, EXCESS_OR_OUT]))
    unpack = [f"if out is not None or {EXCESS} is not ...:", f"    {_call(names, all_given)}"] if out else []
    if whole:
        unpack += ["if arguments or options:", f"    {_call(names, WHOLE.parameters)}"]
    unpack += _floating(first, _call(names, number))
    for name in rest:
        unpack += [
            *([] if numbers else _tensor(name)),
            *_number(name, "if" if numbers else "elif"),
            *_else(names, number),
        ]
    if number is not None:
        unpack += [
            f"if (type({number}) is not int or {number} >> 31 not in (0, -1)) and type({number}) is not float:",
            f"    {_call(names, number)}",
            f"params = {{{number!r}: {number}}}",
        ]
    if whole:
        given = ", 'given': False" if "given" in unwrapped(primitive.forward).__code__.co_varnames else ""
        unpack.append(f"params = {{'axis': AXES[{first}_array.ndim], 'keepdims': False{given}}}")
    hindrances = [f"{name}_array.dtype is not dtype" for name in rest]
    hindrances += [f"{name}_array.ndim != {ndim}" for name in names if ndim is not None]
    parameters = [f"{metadata.parameters}=MISSING" if out and number else metadata.parameters]
    signature = [*operands, *filter(None, parameters), *([f"{EXCESS}=...", "out=None"] if out else [])]
    return _written(cls, primitive, general, names, unpack, hindrances, metadata, signature)


class Plainly(NamedTuple):
    """What a function is for a call that gives it nothing but tensors of one floating dtype."""

    primitive: Primitive
    metadata: dict[str, Any]
    ndim: int | None = None
    """The number of axes that these must have, where it matters."""
    masked: bool = False
    """Whether the first is a mask of bools."""


PRIMITIVES: dict[Function, Plainly] = {}


def is_primitive(
    primitive: Primitive, *, ndim: int | None = None, masked: bool = False, **metadata: Any
) -> Callable[[Function], Function]:
    """A decorator for a function that, given nothing but tensors of one floating dtype, is a primitive and no more."""

    def marked(function: Function) -> Function:
        PRIMITIVES[function] = Plainly(primitive, metadata, ndim, masked)
        return function

    return marked


def short(cls: type[Any], general: Function) -> Function:
    """What users get of a function: the short way, if it `is_primitive`, for plain tensors alone; else itself."""
    if unwrapped(general) not in PRIMITIVES:
        return general
    primitive, given, ndim, masked = PRIMITIVES[unwrapped(general)]
    names = primitive.inputs
    first, *rest = names[masked:]
    unpack = [
        f"if arguments or options or {' or '.join(f'{name} is MISSING' for name in names)}:",
        f"    return as_given(general, ({', '.join(names)},), arguments, options)",
        *_floating(first, _call(names)),
    ]
    for name in (*names[:masked], *rest):
        unpack += [*_tensor(name), *_else(names)]
    if given:
        unpack.append(f"params = {given!r}")
    hindrances = [f"{name}_array.dtype is not dtype" for name in rest]
    hindrances += [f"{name}_array.dtype is not BOOL" for name in names[:masked]]
    hindrances += [f"{name}_array.ndim != {ndim}" for name in names if ndim is not None]
    metadata = Metadata(MORE, "", given) if given else Metadata()
    signature = [*(f"{name}=MISSING" for name in names), "/", MORE]
    return _written(cls, primitive, general, names, unpack, hindrances, metadata, signature)


def as_given(function: Function, operands: Sequence[Any], arguments: Sequence[Any], options: dict[str, Any]) -> Any:
    """A call as it was made: operands may be missing, or among the options, by the names that the function has."""
    return function(*[value for value in operands if value is not MISSING], *arguments, **options)


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
# it shows its results. `names` are those of the operands. A keyword-only `out` would cost 30 ns a call; before it stands a
# place that no argument may take, so that none becomes `out` by its position.

EXCESS = "excess"
EXCESS_OR_OUT = f"*(() if {EXCESS} is ... else ({EXCESS},)), out=out"


def _written(
    cls: type[Any],
    primitive: Primitive,
    general: Function,
    names: Sequence[str],
    unpack: list[str],
    hindrances: list[str],
    metadata: Metadata,
    signature: Sequence[str],
) -> Function:
    """The function whose operands are unpacked so, and which hands over to `general` where there is a hindrance.

    It is written when it is first called outside of a recording, and the one for observers when one looks on: compiling
    all of them would cost the import 20 ms.
    """

    def write() -> Function:
        if taken := {*scope, *LOCALS} & {*names}:
            raise TypeError(f"an input of {primitive.name} cannot be called {taken}: see LOCALS in _tape.shortcuts")
        if isinstance(primitive.title, str) or metadata.known is not None:
            scope["kind"] = node_class(primitive, primitive.node_name(metadata.known or {}))
        lines = [
            *unpack,
            *_cleared(names, hindrances, metadata),
            *_computed(primitive, names, metadata, observed=False),
        ]
        record = _compiled(scope, f"{primitive.name}, recorded", signature, lines)
        scope["observed"] = observed
        function.__defaults__ = record.__defaults__  # first: another thread calls it as soon as it has its code
        function.__code__ = record.__code__
        return function

    def observed(*given: Any) -> Any:
        lines = _computed(primitive, names, metadata, observed=True)
        scope["observed"] = _compiled(scope, f"{primitive.name}, observed", _passed(names, metadata), lines)
        return scope["observed"](*given)

    scope = {**SCOPE, "Tensor": cls, "primitive": primitive, "title": primitive.title, "forward": primitive.forward}
    scope["large"] = _by_machine_code(primitive)
    scope |= {"as_given": as_given, "general": general, "finish": cls.interpreter.finish}
    function = FunctionType(_unwritten.__code__, scope)
    function.__kwdefaults__ = {"_general": general, "_write": write}
    return functools.update_wrapper(function, general)


def _unwritten(*args: Any, _general: Function, _write: Callable[[], Function], **params: Any) -> Any:
    """The first call of a function: write it, which replaces this code by its own, and call it.

    What is recorded is left to `_general`: a function that is compiled calls few primitives often enough.
    """
    return (_write() if mode.get().alone is None else _general)(*args, **params)


def _compiled(scope: dict[str, Any], title: str, parameters: Sequence[str], lines: Sequence[str]) -> Function:
    """A function of some text, which tracebacks can show."""
    source = "\n".join([f"def written({', '.join(parameters)}):", *(f"    {line}" for line in lines)])
    written: Function = generated(title, source, scope, "written")
    return written


def _passed(names: Sequence[str], metadata: Metadata) -> list[str]:
    """What the first function hands over to the second: all that it has found out."""
    operands = [local for name in names for local in (name, f"{name}_array", f"{name}_edge")]
    number = [metadata.handed] if metadata.handed.isidentifier() else []
    return ["current", "tracked", *operands, *number, *(["params"] if metadata.parameters else [])]


def _call(names: Sequence[str], handed: str | None = None, function: str = "general") -> str:
    return f"return {function}({', '.join([*names, *filter(None, [handed])])})"


def _tensor(name: str) -> list[str]:
    return [f"if type({name}) is Tensor:", f"    {name}_array, {name}_edge = {name}._array, {name}._node"]


def _floating(name: str, handed_over: str) -> list[str]:
    """The first operand, whose dtype the others must have."""
    return [
        f"if type({name}) is not Tensor:",
        f"    {handed_over}",
        f"{name}_array, {name}_edge = {name}._array, {name}._node",
        f"dtype = {name}_array.dtype",
        "if dtype is not FLOAT and dtype is not DOUBLE:",
        f"    {handed_over}",
    ]


def _array(name: str) -> list[str]:
    return [f"elif type({name}) is ndarray:", f"    {name}_array, {name}_edge = {name}, None"]


def _nothing(_: str) -> list[str]:
    return []


def _number(name: str, word: str) -> list[str]:
    return [
        f"{word} type({name}) is float or type({name}) is int:",
        f"    {name}_array, {name}_edge = quiet.copy().run(array_of, {name}, dtype), None",
    ]


def _else(names: Sequence[str], handed: str | None = None) -> list[str]:
    return ["else:", f"    {_call(names, handed)}"]


def _cleared(names: Sequence[str], hindrances: list[str], metadata: Metadata) -> list[str]:
    """The lines that hand over to others: where operands, or the mode, are out of the ordinary."""
    cut = " or ".join(f"(type({name}) is Tensor and {name}._cut is not None)" for name in names)
    return [
        *([f"if {' or '.join(hindrances)}:", f"    {_call(names, metadata.handed)}"] if hindrances else []),
        f"tracked = {' or '.join(f'{name}_edge is not None' for name in names)}",
        "current = mode.get()",
        "lost = False",
        "if current is not RECORD or not tracked:",
        f"    lost = tracked or {cut}",
        "    if current is not RECORD and current is not NO_GRAD:",
        "        if current.observer is None or (lost and not tracked):",
        f"            {_call(names, metadata.handed)}",
        f"        {_call(_passed(names, metadata), None, 'observed')}",
    ]


def _by_machine_code(primitive: Primitive) -> Function:
    """The forward function of a primitive for large arrays."""
    by = machine.way(primitive)

    def large(*arrays: Any, **params: Any) -> Any:
        made = by(*arrays, **params)
        return quiet.copy().run(primitive.forward, *arrays, **params) if made is None else made

    return large


def _computed(primitive: Primitive, names: Sequence[str], metadata: Metadata, *, observed: bool) -> list[str]:
    """The lines that compute the result and box it."""
    edges, arrays = ("".join(f"{name}_{what}, " for name in names) for what in ("edge", "array"))
    params, given = ("params", "**params") if metadata.parameters else ("{}", "")
    finish = f"finish(primitive, ({', '.join(names)},), ({edges}), result, {params}, tracked)"
    finished, unseen = [f"return {finish}"], "primitive not in observer.unseen"
    computed = f"{'observer' if observed else 'quiet'}.copy().run(forward, {arrays}{given})"
    if primitive.kind in ("elementwise", "zero") and machine.installed():
        large = f"{names[0]}_array.size >= {machine.worth(primitive.forward)}"
        computed = f"large({arrays}{given}) if {large} else {computed}"
        unseen += f" or {large}"  # machine code tells of no flags
    shown = [f"if {unseen}:", f"    observer.sees(primitive, {params}, ({arrays}), tensor)", "return tensor"]
    if observed:
        finished = [f"tensor = {finish}", *shown]
    lines = ["observer = current.observer"] if observed else []
    lines += [
        "try:",
        f"    result = {computed}",
        "except ValueError:",  # shapes that do not fit: the general way says so properly, after the exception is over
        "    result = MISSING",
        "if type(result) is not ndarray:",
        *("    if result is MISSING:", f"        {_call(names, metadata.handed)}"),
        "    if type(result) in BOXED:",
        *(f"        {line}" for line in finished),
        "    result = asarray(result)",
    ]
    others = [] if observed else ["lost"]  # results that the general way boxes
    if primitive.differentiable and (observed or not metadata.typed):  # `kind` takes 0.1 us
        others.append("tracked and not (result.dtype is FLOAT or result.dtype is DOUBLE or result.dtype.kind == 'f')")
    elif primitive.differentiable and type(primitive.forward) is not np.ufunc:  # those keep a floating dtype
        others.append("tracked and result.dtype is not dtype")
    fixed = isinstance(primitive.title, str) or metadata.known is not None
    kind = "kind" if fixed else "node_class(primitive, title(**params))"
    known = names[:1] if metadata.typed else ()  # to be tensors
    saved = "".join(f"{_kept(primitive, names, saved, known)}, " for saved in primitive.saved)
    node = _noded(kind, edges, saved, "params or None" if given else "None", depth=2 if observed else 1)
    cut = [f"tensor._cut = why_cut(primitive, ({', '.join(names)},), result, True, current)"]
    return [
        *lines,
        *([f"if {' or '.join(others)}:", *(f"    {line}" for line in finished)] if others else []),
        "tensor = new(Tensor)",
        "tensor._array = result",
        f"tensor._cell = {_own(primitive, names)}",
        "node = None",
        "if tracked:",
        *(f"    {line}" for line in (node if primitive.differentiable else cut)),
        "tensor._node = node",
        *_joined(primitive, names),
        *(shown if observed else ["return tensor"]),
    ]


def _joined(primitive: Primitive, names: Sequence[str]) -> list[str]:
    """The lines for a result that may lie in memory of an operand, as `share` asks; NumPy's ufuncs give memory of its own."""
    if type(primitive.forward) is np.ufunc:
        return []
    lies = " or ".join(["result.base is not None", *(f"result is {name}_array" for name in names)])
    return [f"if {lies}:", f"    share(({', '.join(names)},), tensor)"]


def _noded(kind: str, edges: str, saved: str, params: str, depth: int) -> list[str]:
    """The lines that leave a node: what `make` does, without the call. The caller is so many frames up."""
    return [
        f"node = new({kind})",
        f"node.edges = ({edges})",
        f"node.saved = ({saved})",
        f"node.params = {params}",
        "node.shape = result.shape",
        "node.seq = next(count)",
        "node.hooks = None",
        f"frame = frame_at({depth})",
        "code = frame.f_code",
        "if code.co_filename not in outside:",
        "    frame = user_frame(frame)",
        "    code = frame.f_code",
        "node.code = code",
        "node.offset = frame.f_lasti",
    ]


def _kept(primitive: Primitive, names: Sequence[str], saved: str, tensors: Sequence[str]) -> str:
    """The expression for the cell of a saved value, or for None where no tracked operand's rule names it."""
    if saved == "y":
        return "tensor._cell"
    name = names[primitive.inputs.index(saved)]
    cell = f"{name}._cell or cell_of({name})"
    if name not in tensors:
        cell = f"({cell}) if type({name}) is Tensor else keep_array({name}_array)"
    return f"(({cell}) if {_named(primitive, names, saved)} else None)"


def _own(primitive: Primitive, names: Sequence[str]) -> str:
    """The expression for the cell of the result."""
    return f"cell_with(result) if {_named(primitive, names, 'y')} else None" if "y" in primitive.saved else "None"


def _named(primitive: Primitive, names: Sequence[str], saved: str) -> str:
    """The condition on which a rule of a tracked operand names a value."""
    users = primitive.users(saved)
    if users is None or len(names) == 1:
        return "tracked"
    return " or ".join(f"{names[i]}_edge is not None" for i in users)


def in_place(cls: type[Any], primitive: Primitive, general: Function) -> Function:
    """The short way of an in-place method that is not recorded: computed straight into the memory."""
    forward, scales = primitive.forward, primitive.name in {"add", "subtract"}

    def operand(other: Any, dtype: np.dtype[Any], options: dict[str, Any]) -> Any:
        """The second operand as an array of a dtype, times `alpha`; None for others, which the general way knows."""
        if type(other) is float:
            return None if options else quiet.copy().run(np.array, other, dtype)
        if type(other) is not cls or other._array.dtype is not dtype:
            return None
        if not options:
            return other._array
        alpha = options.get("alpha")
        if type(alpha) is not float or len(options) > 1 or not scales:
            return None
        return quiet.copy().run(_scaled, other._array, alpha, dtype)

    @functools.wraps(general)
    def method(self: Any, other: Any, *rest: Any, **options: Any) -> Any:
        x = None if rest else _straight(cls, self, other)
        if x is None or (y := operand(other, x.dtype, options)) is None:
            return general(self, other, *rest, **options)
        protect(self)
        fits = True
        try:
            quiet.copy().run(forward, x, y, x)
        except ValueError:  # nothing has been written: the general way says why, after the exception is over
            fits = False
        if not fits:
            return general(self, other, **options)
        _note(self, other)
        return self

    return method


def _scaled(x: Any, factor: float, dtype: np.dtype[Any]) -> Any:
    return np.multiply(x, np.array(factor, dtype))


def _straight(cls: type[Any], target: Any, other: Any) -> Any:
    """The memory of a plain tensor, if what is written there needs no record; None where the general way is to see to it."""
    if type(target) is not cls or target._inference:
        return None
    if (current := mode.get()) is not NO_GRAD:
        if current is not RECORD or target._node is not None or target._cut is not None or target._base is not None:
            return None
        if type(other) is cls and other._node is not None:
            return None
    x = target._array
    dtype = x.dtype
    if (dtype is not FLOAT and dtype is not DOUBLE) or not x.flags.carray:  # read-only, or in one place more than once
        return None
    return x


def _note(target: Any, other: Any) -> None:
    """Count a write; where it brings back what was cut off from the target itself, nothing was lost."""
    written(target)
    if type(other) is type(target) and other._cut is not None:
        withdraw(other._cut, target)


def computed(cls: type[Any], compute: Function, tensors: int, general: Function) -> Function:
    """The short way of an in-place method of so many other tensors, alike, and of numbers, where nothing is recorded.

    `compute` gives the new elements of the first array, or writes them there and returns it; None, with nothing written,
    for what the general way is to see to.
    """
    known = {*inspect.signature(compute).parameters}

    @functools.wraps(general)
    def method(self: Any, *args: Any, **options: Any) -> Any:
        x = _straight(cls, self, None)
        if x is None or len(args) < tensors or (options and not options.keys() <= known):
            return general(self, *args, **options)
        arrays, numbers = [x], args[tensors:]
        for other in args[:tensors]:
            if not _alike(cls, x, other):
                return general(self, *args, **options)
            arrays.append(other._array)
        for number in (*numbers, *options.values()) if options else numbers:
            if type(number) not in NUMBERS:
                return general(self, *args, **options)
        protect(self)
        result = quiet.copy().run(compute, *arrays, *numbers, **options)
        if result is None:
            return general(self, *args, **options)
        if result is not x:
            x[...] = result
        written(self)
        return self

    return method


NUMBERS = {int, float, type(None)}


def _alike(cls: type[Any], x: Any, other: Any) -> bool:
    """True for a plain tensor of the shape and dtype of an array, whose history is not asked for."""
    if type(other) is not cls or other._array.dtype is not x.dtype or other._array.shape != x.shape:
        return False
    return other._cut is None and (other._node is None or mode.get() is NO_GRAD)


def copying(cls: type[Any], general: Function) -> Function:
    """The short way of `copy_` from a tensor of the same shape and dtype, where nothing is recorded."""

    @functools.wraps(general)
    def method(self: Any, other: Any, *rest: Any, **options: Any) -> Any:
        x = _straight(cls, self, other) if type(other) is cls else None
        if x is None or other._array.dtype is not x.dtype or other._array.shape != x.shape:
            return general(self, other, *rest, **options)
        protect(self)
        x[...] = other._array
        _note(self, other)
        return self

    return method


def zeroing(cls: type[Any], general: Function) -> Function:
    """The short way of `zero_`, where nothing is recorded."""

    @functools.wraps(general)
    def method(self: Any) -> Any:
        x = _straight(cls, self, None)
        if x is None:
            return general(self)
        protect(self)
        x.fill(0)
        written(self)
        return self

    return method
