"""The text of functions that record one operation without dispatch, made from one statement of what recording is.

A function has three parts: operands are unpacked, the result is computed unless something stands in the way, and it is boxed,
with a node if an operand is tracked. Where an observer looks on, a second function has the last two parts: it shows its
results. `shortcuts` says which functions there are, and how their operands are unpacked; for what is out of the ordinary
they call the general way. This is the one place that may look like C.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from sys import _getframe
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core import machine
from .._core.bfloat import BFloatArray
from .._core.modes import NO_GRAD, RECORD, mode, quiet
from .._core.primitives import Function, Primitive
from .._core.sites import generated, outside, user_frame
from .cuts import withdraw
from .memory import cell_of, cell_with, followed, keep_array, protect, share, written as noted
from .node import count, new, node_class
from .recording import why_cut

if TYPE_CHECKING:
    from .._core.dtypes import NumpyType
    from .._core.typing import Array, Params, Tensor, Tensors


ndarray = np.ndarray
FLOAT, DOUBLE, BOOL = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.bool_)
AXES = tuple([tuple(range(ndim)) for ndim in range(65)])  # NumPy's arrays have up to 64
MISSING = object()

NUMBERS = {int, float, type(None)}


def as_given(
    function: Function, operands: Sequence[object], arguments: Sequence[object], options: dict[str, object]
) -> Tensors:
    """A call as it was made: operands may be missing, or among the options, by the names that the function has."""
    return function(*[value for value in operands if value is not MISSING], *arguments, **options)


def _scaled(x: Array, factor: float, dtype: NumpyType) -> Array:
    return np.multiply(x, np.array(factor, dtype))


SCOPE: dict[str, Any] = {
    "AXES": AXES, "BOOL": BOOL, "DOUBLE": DOUBLE, "FLOAT": FLOAT, "NO_GRAD": NO_GRAD, "RECORD": RECORD, "array_of": np.array,
    "asarray": np.asarray, "frame_at": _getframe, "cell_of": cell_of, "cell_with": cell_with, "count": count,
    "mode": mode, "ndarray": ndarray, "new": new, "node_class": node_class, "outside": outside, "quiet": quiet,
    "as_given": as_given, "followed": followed, "protect": protect, "noted": noted, "scaled": _scaled, "withdraw": withdraw, "NUMBERS": NUMBERS,
    "keep_array": keep_array, "share": share, "user_frame": user_frame, "MISSING": MISSING, "why_cut": why_cut, "BOXED": (tuple, BFloatArray),
}  # fmt: skip

# The names in the functions written below.
LOCALS = {
    "arguments", "code", "current", "large", "dtype", "excess", "frame", "is_real", "lost", "made", "node", "observer", "options", "out",
    "params", "result", "tensor", "tracked",
}  # fmt: skip


class Metadata(NamedTuple):
    """How metadata arrives: as which parameters, and what of it is handed on to the general way."""

    parameters: str = ""
    handed: str = ""
    known: Params | None = {}  # noqa: RUF012  # never written
    """Some of which torch's name of the node follows, or None where it is found at each call."""
    typed: bool = True
    """Whether all operands are known to have one floating dtype."""


class Operands:
    """How a text names the operands: each has a name, and beside it stand its array and its edge."""

    def __init__(self, primitive: Primitive, names: Sequence[str], tensors: Sequence[str] = ()) -> None:
        """Those called `names`, of which `tensors` are known to be tensors."""
        self.primitive, self.names, self.tensors = primitive, names, tensors
        self.all = ", ".join(names)
        self.edges, self.arrays = ("".join(f"{name}_{what}, " for name in names) for what in ("edge", "array"))
        self.passed = [local for name in names for local in (name, f"{name}_array", f"{name}_edge")]
        self.tracked = " or ".join(f"{name}_edge is not None" for name in names)
        self.cut = " or ".join(f"(type({name}) is Tensor and {name}._cut is not None)" for name in names)
        self.shared = " or ".join(f"result is {name}_array" for name in names)

    def cell(self) -> str:
        """The expression for the cell of the result."""
        return f"cell_with(result) if {self._named('y')} else None" if "y" in self.primitive.saved else "None"

    def saved(self) -> str:
        """The expression for the cells of the saved values."""
        return f"({''.join(f'{self._kept(saved)}, ' for saved in self.primitive.saved)})"

    def _kept(self, saved: str) -> str:
        """The expression for the cell of a saved value, or for None where no tracked operand's rule names it."""
        if saved == "y":
            return "tensor._cell"
        name = self.names[self.primitive.inputs.index(saved)]
        cell = f"{name}._cell or cell_of({name})"
        if name not in self.tensors:
            cell = f"({cell}) if type({name}) is Tensor else keep_array({name}_array)"
        return f"(({cell}) if {self._named(saved)} else None)"

    def _named(self, saved: str) -> str:
        """The condition on which a rule of a tracked operand names a value."""
        users = self.primitive.users(saved)
        if users is None or len(self.names) == 1:
            return "tracked"
        return " or ".join(f"{self.names[i]}_edge is not None" for i in users)


class Many(Operands):
    """Any number of operands: they, their arrays and their edges are three sequences."""

    def __init__(self, primitive: Primitive) -> None:
        super().__init__(primitive, ())
        self.all, self.edges, self.arrays = "*operands", "*edges, ", "*arrays, "
        self.passed = ["operands", "arrays", "edges"]
        self.tracked, self.cut = "any(edges)", "cut"
        self.shared = "id(result) in map(id, arrays)"

    def cell(self) -> str:
        """No cell yet: `saved` makes it."""
        return "None"

    def saved(self) -> str:
        """The cells, as the tape finds them."""
        return "keep(node, operands, tensor)" if self.primitive.saved else "()"


class Text(NamedTuple):
    """What one function says that another does not."""

    operands: Operands
    signature: Sequence[str]
    unpack: Sequence[str]
    metadata: Metadata
    hindrances: Sequence[str] = ()
    """The conditions on which it hands over to the general way."""
    handed: Sequence[str] = ()
    """The lines that hand over calls with more arguments than the operands, before anything is asked of these."""
    native: Callable[[], Function | None] = lambda: None
    """Makes the native form of it, which is asked first: one that is `late` when all has been unpacked and looked at."""
    late: bool = False

    def call(self) -> str:
        """The line that hands over to the general way."""
        return call(self.operands.all, self.metadata.handed)

    def passed(self) -> list[str]:
        """What the first function hands over to the second: all that it has found out."""
        number = [self.metadata.handed] if self.metadata.handed.isidentifier() else []
        return [
            *("current", "tracked"), *self.operands.passed, *number, *(["params"] if self.metadata.parameters else []),
        ]  # fmt: skip


def call(operands: str, handed: str | None = None, function: str = "general") -> str:
    """The line that returns what a function gives."""
    return f"return {function}({', '.join(filter(None, [operands, handed]))})"


def written(cls: type[Tensor], general: Function, text: Text) -> Function:
    """The function of a text for tensors of class `cls`, which hands over to `general` where there is a hindrance.

    The one for observers is written when one looks on.
    """
    primitive, metadata = text.operands.primitive, text.metadata

    def write() -> Function:
        if taken := {*scope, *LOCALS} & {*text.operands.names}:
            raise TypeError(f"an input of {primitive.name} cannot be called {taken}: see LOCALS in _tape.generating")
        if isinstance(primitive.title, str) or metadata.known is not None:
            name = primitive.node_name(metadata.known or {})
            scope["kind"] = node_class(primitive, name)
            scope["turned"] = node_class(primitive, name, primitive.complex != "refused")
        scope["observed"], scope["native"] = observed, text.native()
        lines = [*text.unpack, *_hindered(text)]
        if scope["native"] is not None:
            given = f"{text.operands.all}{', **params' * bool(metadata.parameters)}"
            asked = [f"made = native({given})", "if made is not None:", "    return made"]
            lines = [*lines, *asked] if text.late else [*asked, *lines]
        lines = [*text.handed, *lines, *_cleared(text), *_computed(text, observed=False)]
        return _compiled(scope, f"{primitive.name}, recorded", text.signature, lines)

    def observed(*given: object) -> Tensors:
        lines = _computed(text, observed=True)
        scope["observed"] = _compiled(scope, f"{primitive.name}, observed", text.passed(), lines)
        return scope["observed"](*given)

    scope = {**SCOPE, "Tensor": cls, "primitive": primitive, "title": primitive.title, "forward": primitive.forward}
    scope |= {"large": _by_machine_code(primitive), "general": general}
    scope |= {"finish": cls.interpreter.finish, "keep": cls.interpreter._keep}
    return _later(scope, general, write)


def _later(scope: dict[str, object], general: Function, text: Callable[[], Function]) -> Function:
    """A function that is written when it is first called outside of a recording: to compile all would take the import 20 ms."""

    def write() -> Function:
        made = text()
        function.__defaults__ = made.__defaults__  # first: another thread calls it as soon as it has its code
        function.__code__ = made.__code__
        return function

    function = FunctionType(_unwritten.__code__, scope)
    function.__kwdefaults__ = {"_general": general, "_write": write}
    return functools.update_wrapper(function, general)


def _unwritten(*args: Any, _general: Function, _write: Callable[[], Function], **params: Any) -> Any:
    """The first call of a function: write it, which replaces this code by its own, and call it.

    What is recorded is left to `_general`: a function that is compiled calls few primitives often enough.
    """
    return (_write() if mode.get().alone is None else _general)(*args, **params)


def _compiled(scope: dict[str, object], title: str, parameters: Sequence[str], lines: Sequence[str]) -> Function:
    """A function of some text, which tracebacks can show."""
    source = "\n".join([f"def written({', '.join(parameters)}):", *(f"    {line}" for line in lines)])
    function: Function = generated(title, source, scope, "written")
    return function


_HISTORY = "current is not RECORD or self._node is not None or self._cut is not None or self._base is not None"
"""The condition that a write would have to be recorded."""
_FOLLOWED = "self._storage is not None and followed(self)"
"""The condition that views follow the history of what is written, though the write is not recorded."""


class WriteText(NamedTuple):
    """What one in-place method says that another does not: `x` is the memory that it writes, and `dtype` its dtype."""

    name: str
    compute: Function
    """Gives the new elements, or writes them there and returns the memory; None, with nothing written, for the general way."""
    operands: Sequence[str]
    unpack: Sequence[str]
    computed: str
    """The expression that calls it."""
    known: Sequence[str] = ()
    """The names of its numbers, in their order."""


def leaves(operands: Sequence[str]) -> str:
    """The line that leaves a write to the general way."""
    return f"return as_given(general, (self, {''.join(f'{name}, ' for name in operands)}), rest, options)"


def writing(cls: type[Tensor], general: Function, text: WriteText) -> Function:
    """An in-place method for tensors of class `cls` that computes straight into the memory, where nothing is recorded."""
    leave = leaves(text.operands)

    def write() -> Function:
        lines = [
            "current = mode.get()",
            f"if type(self) is not Tensor or self._inference or ({_FOLLOWED} if current is NO_GRAD else {_HISTORY}):",
            f"    {leave}",
            "x = self._array",
            "dtype = x.dtype",
            "if (dtype is not FLOAT and dtype is not DOUBLE) or not x.flags.carray:",  # read-only, or one element at two places
            f"    {leave}",
            *text.unpack,
            "protect(self)",
            "try:",
            f"    result = {text.computed}",
            "except ValueError:",  # nothing has been written: the general way says why, after the exception is over
            "    result = None",
            "if result is None:",
            f"    {leave}",
            "if result is not x:",
            "    x[...] = result",
            "noted(self)",
            *_withdrawn(text.operands),
            "return self",
        ]
        signature = ["self", *(f"{name}=MISSING" for name in text.operands), "*rest", "**options"]
        return _compiled(scope, f"{text.name}, in place", signature, lines)

    scope = {**SCOPE, "Tensor": cls, "general": general, "compute": text.compute, "known": text.known}
    return _later(scope, general, write)


def _withdrawn(names: Sequence[str]) -> list[str]:
    """The lines that say that nothing was lost, where what was cut off comes back to the tensor itself."""
    return [
        line
        for name in names
        for line in (f"if type({name}) is Tensor and {name}._cut is not None:", f"    withdraw({name}._cut, self)")
    ]


def _hindered(text: Text) -> list[str]:
    """The lines that hand over to the general way where operands are out of the ordinary."""
    return [f"if {' or '.join(text.hindrances)}:", f"    {text.call()}"] if text.hindrances else []


def _cleared(text: Text) -> list[str]:
    """The lines that hand over to others where the mode is out of the ordinary, or something was lost."""
    return [
        f"tracked = {text.operands.tracked}",
        "current = mode.get()",
        "lost = False",
        "if current is not RECORD or not tracked:",
        f"    lost = tracked or {text.operands.cut}",
        "    if current is not RECORD and current is not NO_GRAD:",
        "        if current.observer is None or (lost and not tracked):",
        f"            {text.call()}",
        f"        {call(', '.join(text.passed()), None, 'observed')}",
    ]


def _by_machine_code(primitive: Primitive) -> Function:
    """The forward function of a primitive for large arrays."""
    by = machine.way(primitive)

    def large(*arrays: Array, **params: Any) -> Any:
        made = by(*arrays, **params)
        return quiet.copy().run(primitive.forward, *arrays, **params) if made is None else made

    return large


def _computed(text: Text, *, observed: bool) -> list[str]:
    """The lines that compute the result and box it."""
    operands, metadata, primitive = text.operands, text.metadata, text.operands.primitive
    arrays, whole = operands.arrays, f"({operands.all},)"
    params, given = ("params", "**params") if metadata.parameters else ("{}", "")
    finish = f"finish(primitive, {whole}, ({operands.edges}), result, {params}, tracked)"
    finished, unseen = [f"return {finish}"], "primitive not in observer.unseen"
    computed = f"{'observer' if observed else 'quiet'}.copy().run(forward, {arrays}{given})"
    if primitive.kind in ("elementwise", "zero") and machine.installed():
        large = f"{operands.names[0]}_array.size >= {machine.worth(primitive.forward)}"
        computed = f"large({arrays}{given}) if {large} else {computed}"
        unseen += f" or {large}"  # machine code tells of no flags
    shown = [f"if {unseen}:", f"    observer.sees(primitive, {params}, ({arrays}), tensor)", "return tensor"]
    if observed:
        finished = [f"tensor = {finish}", *shown]
    others = [] if observed else ["lost"]  # results that the general way boxes
    if primitive.differentiable and (observed or not metadata.typed):  # `kind` takes 0.1 us
        others.append("tracked and not is_real" + " and result.dtype.kind != 'c'" * (primitive.complex != "refused"))
    elif primitive.differentiable and type(primitive.forward) is not np.ufunc:  # those keep a floating dtype
        others.append("tracked and result.dtype is not dtype")
    cut = [f"tensor._cut = why_cut(primitive, {whole}, result, True, current)"]
    node = _noded(text, "params or None" if given else "None", depth=2 if observed else 1)
    asked = any("is_real" in other for other in others)
    floating = "result.dtype is FLOAT or result.dtype is DOUBLE or result.dtype.kind == 'f'" if asked else "True"
    return [
        *(["observer = current.observer"] if observed else []),
        "try:",
        f"    result = {computed}",
        "except ValueError:",  # shapes that do not fit: the general way says so properly, after the exception is over
        "    result = MISSING",
        "if type(result) is not ndarray:",
        *("    if result is MISSING:", f"        {text.call()}"),
        "    if type(result) in BOXED:",
        *(f"        {line}" for line in finished),
        "    result = asarray(result)",
        f"is_real = {floating}",
        *([f"if {' or '.join(others)}:", *(f"    {line}" for line in finished)] if others else []),
        "tensor = new(Tensor)",
        "tensor._array = result",
        f"tensor._cell = {operands.cell()}",
        "node = None",
        "if tracked:",
        *(f"    {line}" for line in (node if primitive.differentiable else cut)),
        "tensor._node = node",
        *_joined(operands, whole),
        *(shown if observed else ["return tensor"]),
    ]


def _joined(operands: Operands, whole: str) -> list[str]:
    """The lines for a result that may lie in memory of an operand, as `share` asks; NumPy's ufuncs give memory of its own."""
    if type(operands.primitive.forward) is np.ufunc:
        return []
    return [f"if result.base is not None or {operands.shared}:", f"    share({whole}, tensor)"]


def _noded(text: Text, params: str, depth: int) -> list[str]:
    """The lines that leave a node: what `node.make` does, without the call. The caller is so many frames up."""
    fixed = isinstance(text.operands.primitive.title, str) or text.metadata.known is not None
    return [
        f"node = new({'kind if is_real else turned' if fixed else 'node_class(primitive, title(**params), not is_real)'})",
        f"node.edges = ({text.operands.edges})",
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
        f"node.saved = {text.operands.saved()}",
    ]
