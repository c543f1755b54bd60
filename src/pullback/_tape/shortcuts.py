"""The short way: operations on plain tensors, recorded without dispatch.

`Tape.process` reads from a primitive what to keep, and for whom, at every call. Here that is read once and written
down as the source of a function with the primitive's own inputs: past `bind` for every primitive, and, for the hottest
methods of a tensor, past promotion too. Such a function does exactly what the general way would do, or hands over to
it: for another level, hooks on saved values, a value that was cut off, several outputs. How it is written says
`generating`. `tests/tape/test_shortcuts.py` holds the two ways together.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.primitives import Function, Primitive, bind
from .generating import Many, Metadata, Operands, Text, WriteText, call, leaves, writing, written
from .native import operation, recording

if TYPE_CHECKING:
    from .._core.typing import Params, Result, Tensor, Value


ANY, NONE = Metadata("**params", "**params", None, typed=False), Metadata(typed=False)
MORE = "*arguments, **options"
WHOLE = Metadata(MORE, "", {"axis": (), "keepdims": False})

ANY_NAMES = 0x08  # the flag of code that takes any names: `inspect` has it, which need not be imported for it


# A keyword-only `out` would cost 30 ns a call; before it stands a place that no argument may take, so that none becomes `out`
# by its position.
EXCESS = "excess"
EXCESS_OR_OUT = f"*(() if {EXCESS} is ... else ({EXCESS},)), out=out"


def past_bind(cls: type[Tensor], primitive: Primitive) -> Function:
    """The short way of a primitive, for plain tensors of class `cls` and plain arrays."""

    def general(*args: Value, **params: Any) -> Result:
        return bind(primitive, args, params)

    general.__qualname__ = primitive.short_name  # for the errors of calls
    if primitive.variadic:
        return general if primitive.outputs > 1 else recording(primitive, written(cls, general, _of_many(primitive)))
    names = primitive.inputs
    metadata = ANY if _has_metadata(primitive) else NONE
    operands, several = Operands(primitive, names), len(names) > 1
    unpack = []
    for name in names:
        unpack += [
            *_tensor(name),
            *(_array(name) if several else []),
            "else:",
            f"    {call(operands.all, metadata.handed)}",
        ]
    if several:  # a level above computes on what it has unboxed
        unpack.append(f"if {' and '.join(f'{name} is {name}_array' for name in names)}:")
        unpack.append(f"    return quiet.copy().run(forward, {operands.all}, {metadata.handed})")
    hindrances = [f"type({name}_array) is not ndarray" for name in names]
    signature = [*names, *filter(None, [metadata.parameters])]
    return recording(primitive, written(cls, general, Text(operands, signature, unpack, metadata, hindrances)))


def _of_many(primitive: Primitive) -> Text:
    """The text for a primitive that takes any number of arrays: past `bind`."""
    unpack = [
        "arrays, edges = [], []",
        "cut = plain = False",
        "for operand in operands:",
        "    if type(operand) is Tensor and type(operand._array) is ndarray:",
        "        arrays.append(operand._array)",
        "        edges.append(operand._node)",
        "        plain, cut = True, cut or operand._cut is not None",
        "    elif type(operand) is ndarray:",
        "        arrays.append(operand)",
        "        edges.append(None)",
        "    else:",
        "        return general(*operands, **params)",
        "if not plain:",  # a level above computes on what it has unboxed
        "    return quiet.copy().run(forward, *arrays, **params)",
    ]
    return Text(Many(primitive), ["*operands", "**params"], unpack, ANY)


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


class Form(NamedTuple):
    """What a method takes: with `ndim`, tensors of so many axes only."""

    ndim: int | None = None
    number: str | None = None
    """The metadata that is its last argument."""
    whole: bool = False
    """Whether it is a reduction, here of all elements."""
    numbers: bool = False
    """Whether it is an operator whose other operand is a number."""


PLAIN = Form()


def method(
    cls: type[Tensor], primitive: Primitive, general: Function, form: Form = PLAIN, *, out: bool = False
) -> Function:
    """The short way of a tensor's method, for plain tensors of one floating dtype and Python numbers.

    With `out`, that of a function of the package, which takes `out=`: one of the options, where it has any.
    """
    ndim, number, whole, numbers = form
    names = _parameters(general)[: len(primitive.inputs)]
    first, *rest = names
    metadata = WHOLE if whole else Metadata() if number is None else Metadata(number, number)
    operands, general_way = Operands(primitive, names, names[:1]), call(", ".join(names), number)
    given = [f"{name}=MISSING" for name in names] if out else names
    out = out and not whole
    all_given = ", ".join(filter(None, [number, EXCESS_OR_OUT]))
    more = [f"if out is not None or {EXCESS} is not ...:", f"    {call(operands.all, all_given)}"] if out else []
    if whole:
        more += ["if arguments or options:", f"    {call(operands.all, MORE)}"]
    unpack = _floating(first, general_way)
    for name in rest:
        unpack += [*([] if numbers else _tensor(name)), *_number(name, "if" if numbers else "elif")]
        unpack += ["else:", f"    {general_way}"]
    if number is not None:
        unpack += [
            f"if (type({number}) is not int or {number} >> 31 not in (0, -1)) and type({number}) is not float:",
            f"    {general_way}",
            f"params = {{{number!r}: {number}}}",
        ]
    if whole:
        default = ", 'given': False" if "given" in unwrapped(primitive.forward).__code__.co_varnames else ""
        unpack.append(f"params = {{'axis': AXES[{first}_array.ndim], 'keepdims': False{default}}}")
    hindrances = [f"{name}_array.dtype is not dtype" for name in rest]
    hindrances += [f"{name}_array.ndim != {ndim}" for name in names if ndim is not None]
    parameters = [f"{metadata.parameters}=MISSING" if out and number else metadata.parameters]
    signature = [*given, *filter(None, parameters), *([f"{EXCESS}=...", "out=None"] if out else [])]
    native = functools.partial(operation, primitive, ndim=ndim)
    if metadata.parameters:
        native = functools.partial(recording, primitive, known=metadata.known)
    late = bool(metadata.parameters) or numbers
    return written(cls, general, Text(operands, signature, unpack, metadata, hindrances, more, native, late))


class Plainly(NamedTuple):
    """What a function is for a call that gives it nothing but tensors of one floating dtype."""

    primitive: Primitive
    metadata: Params
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


def short(cls: type[Tensor], general: Function) -> Function:
    """What users get of a function: the short way, if it `is_primitive`, for plain tensors alone; else itself."""
    if unwrapped(general) not in PRIMITIVES:
        return general
    primitive, given, ndim, masked = PRIMITIVES[unwrapped(general)]
    names = primitive.inputs
    first, *rest = names[masked:]
    operands = Operands(primitive, names, names[:1])
    more = [
        f"if arguments or options or {' or '.join(f'{name} is MISSING' for name in names)}:",
        f"    return as_given(general, ({operands.all},), arguments, options)",
    ]
    unpack = _floating(first, call(operands.all))
    for name in (*names[:masked], *rest):
        unpack += [*_tensor(name), "else:", f"    {call(operands.all)}"]
    if given:
        unpack.append(f"params = {given!r}")
    hindrances = [f"{name}_array.dtype is not dtype" for name in rest]
    hindrances += [f"{name}_array.dtype is not BOOL" for name in names[:masked]]
    hindrances += [f"{name}_array.ndim != {ndim}" for name in names if ndim is not None]
    metadata = Metadata(MORE, "", given) if given else Metadata()
    signature = [*(f"{name}=MISSING" for name in names), "/", MORE]
    native = functools.partial(operation, primitive, ndim=ndim, numbers=False)
    if given or masked:
        native = functools.partial(recording, primitive, known=given)
    late = bool(given) or masked
    return written(cls, general, Text(operands, signature, unpack, metadata, hindrances, more, native, late))


def _parameters(function: Function) -> tuple[str, ...]:
    """The names of the positional arguments of a function, or of the one that it wraps."""
    code: CodeType = unwrapped(function).__code__
    return code.co_varnames[: code.co_argcount]


def unwrapped(function: Any) -> Any:
    """The function that decorators have wrapped."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


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


def _number(name: str, word: str) -> list[str]:
    return [
        f"{word} type({name}) is float or type({name}) is int:",
        f"    {name}_array, {name}_edge = quiet.copy().run(array_of, {name}, dtype), None",
    ]


def in_place(cls: type[Tensor], primitive: Primitive, general: Function) -> Function:
    """The short way of an in-place method of one other operand, which is broadcast, and of `alpha` where there is one."""
    leave, plain, scaled = leaves(["other"]), "not (rest or options)", []
    if primitive.name in {"add", "subtract"}:
        plain = "not rest and (not options or (len(options) == 1 and type(options.get('alpha')) is float))"
        scaled = ["if options:", "    y = quiet.copy().run(scaled, y, options['alpha'], dtype)"]
    unpack = [
        f"if {plain} and type(other) is Tensor and other._array.dtype is dtype and {_settled('other')}:",
        "    y = other._array",
        "elif type(other) is float and not (rest or options):",
        "    y = quiet.copy().run(array_of, other, dtype)",
        "else:",
        f"    {leave}",
        *scaled,
    ]
    computed = "quiet.copy().run(compute, x, y, x)"
    return writing(cls, general, WriteText(primitive.name, primitive.forward, ["other"], unpack, computed))


def computed(cls: type[Tensor], compute: Function, tensors: int, general: Function) -> Function:
    """The short way of an in-place method of so many other tensors of one shape, and of numbers: see `writes`.

    One that takes no number only moves elements, which raises no flags of floating-point numbers.
    """
    code: CodeType = compute.__code__
    given = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    names, numbers = given[:tensors], given[tensors:]
    leave, arrays = leaves(names), ", ".join(["x", *(f"{name}._array" for name in names)])
    unpack = [line for name in names for line in (f"if {_unlike(name)}:", f"    {leave}")]
    if not numbers:
        unpack += ["if rest or options:", f"    {leave}"]
        return writing(cls, general, WriteText(general.__name__, compute, names, unpack, f"compute({arrays})"))
    most = code.co_argcount - 1 - tensors
    least = most - len(compute.__defaults__ or ())
    unpack += [
        *([f"if len(rest) + len(options) < {least}:", f"    {leave}"] if least else []),
        "if rest or options:",
        f"    if len(rest) > {most} or not options.keys() <= {{*known[len(rest):]}}:",
        f"        {leave}",
        "    for number in (*rest, *options.values()):",
        "        if type(number) not in NUMBERS:",
        f"            {leave}",
    ]
    computed = f"quiet.copy().run(compute, {arrays}, *rest, **options)"
    return writing(cls, general, WriteText(general.__name__, compute, names, unpack, computed, numbers))


def _settled(name: str) -> str:
    """The condition that the history of an operand is not asked for."""
    return f"({name}._node is None or current is NO_GRAD)"


def _unlike(name: str) -> str:
    """The condition that an operand is no plain tensor of the memory's shape and dtype, or has a history that is asked for."""
    unlike = f"{name}._array.dtype is not dtype or {name}._array.shape != x.shape"
    return f"type({name}) is not Tensor or {unlike} or not {_settled(name)}"
