"""A call of a compiled function as a program to export: its arguments, its state, and what it returns."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._core.modes import quiet
from ...sparsity import matrices
from ...utils.trees import LEAF, Structure, flatten
from ..compiled import Compiled
from ..machinery import Machinery
from ..passes import simplify
from ..passes.dead import without_dead_code
from ..program import Array, Equation, Program, Value, run
from ..records import Argument, Exchanged, Gradient, Held, Place, Rate, Record
from ..refusals import RefusedError
from .drawing import packed, with_states
from .errors import ExportError
from .functions import LIBM, ROUNDINGS

if TYPE_CHECKING:
    from ..._core.trees import Structure

MATHEMATICAL = {
    *LIBM.values(), *ROUNDINGS, "sqrt", "fabs", "fma", "copysign", "remainder", "round", "nearbyint", "lrint", "llrint",
    "lround", "llround", "ldexp", "frexp", "modf", "logb", "ilogb", "scalbn", "scalbln", "nan", "nextafter", "nexttoward",
    "fdim", "fmax", "fmin", "remquo", "tgamma", "gamma", "j0", "j1", "jn", "y0", "y1", "yn",
}  # fmt: skip
"""Functions of C's library, each with forms for other precisions that end with f and l."""
RESERVED = MATHEMATICAL | {
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float",
    "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof",
    "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "main", "state", "work",
    "own",
    "alignas", "alignof", "and", "and_eq", "asm", "bitand", "bitor", "bool", "catch", "class", "compl", "concept",
    "consteval", "constexpr", "constinit", "decltype", "delete", "dynamic_cast", "explicit", "export", "false", "friend",
    "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private",
    "protected", "public", "requires", "static_assert", "template", "this", "thread_local", "throw", "true", "try",
    "typeid", "typename", "typeof", "using", "virtual", "wchar_t", "xor", "xor_eq",
    "signbit", "isnan", "isinf",
    "isfinite", "isnormal", "fpclassify", "isgreater", "isgreaterequal", "isless", "islessequal", "islessgreater",
    "isunordered", "drem", "significand", "scalb", "finite", "signgam", "errno", "linux", "unix",
    "abort", "abs", "accept", "atexit", "atof", "atoi", "bind", "bsearch", "calloc", "clock", "close", "connect", "div",
    "exit", "free", "getenv", "index", "kill", "labs", "link", "listen", "malloc", "open", "pipe", "poll", "printf",
    "putc", "putchar", "puts", "qsort", "raise", "rand", "random", "read", "realloc", "recv", "remove", "rename", "rewind",
    "rindex", "scanf", "select", "send", "setbuf", "signal", "sleep", "snprintf", "sprintf", "srand", "sscanf", "stat",
    "stderr", "stdin", "stdout", "system", "tmpfile", "tmpnam", "time", "ungetc", "wait", "write",
    "BUFSIZ", "EOF", "FILE", "I", "INFINITY", "NAN", "NULL", "OVERFLOW", "UNDERFLOW", "DOMAIN", "SING", "PLOSS", "TLOSS",
    "MATH_ERRNO", "MATH_ERREXCEPT", "MAXFLOAT", "DECIMAL_DIG",
}  # fmt: skip
"""Words of C and C++, names that the file uses itself, and names of C's library."""
LIBRARY = re.compile(
    r"pb_|PB_|.*_t$|_[A-Z_]|(FLT|DBL|LDBL|FP|HUGE|SEEK|M)_|U?INT\w*(MAX|MIN|_C)$|(mem(cpy|move|set|cmp|chr)|str(len|chr|str|(n?(cpy|cat|cmp))|to[a-z]+)|f(printf|scanf|puts|gets|open|close|read|write))$"
)
"""What names of macros, types and functions of C's library look like."""


@dataclass(slots=True)
class Slot:
    """An argument, a result or a member of the state: its name in C and in the program, its value, what it held when recorded.

    `place` is the number of an argument among the leaves of the call's arguments, `memory` what a member of the state is
    here: slots of several functions that are one memory are one member. `sparse` says where the entries of a matrix are,
    `path` where a tensor is in modules and optimizers.
    """

    name: str
    said: str
    value: Value
    array: Array | None = None
    state: bool = False
    written: bool = False
    place: int | None = None
    memory: Any = None
    sparse: matrices.Plan | None = None
    path: str = ""

    @property
    def told(self) -> str:
        """What it is called for readers."""
        return self.path or self.said

    @property
    def key(self) -> Hashable:
        """What slots of one memory have in common."""
        if not isinstance(self.memory, np.ndarray):
            return id(self.memory)
        return self.memory.ctypes.data, self.memory.shape, self.memory.strides, self.memory.dtype

    @property
    def generates(self) -> bool:
        """Whether it is the state of a random number generator."""
        return self.memory is not None and not isinstance(self.memory, np.ndarray)


@dataclass(slots=True)
class Bound:
    """A function to be exported.

    `returned` says of each leaf of the result, which has a `structure`, the number of the output, or None and the Python value.
    """

    name: str
    program: Program
    inputs: list[Slot]
    outputs: list[Slot]
    returned: list[tuple[int | None, Any]] = field(default_factory=list)
    structure: Structure = LEAF

    @property
    def arguments(self) -> list[Slot]:
        """What a call is given."""
        return [slot for slot in self.inputs if not slot.state]

    @property
    def state(self) -> list[Slot]:
        """What stays from call to call."""
        return [slot for slot in self.inputs if slot.state]

    def embedded(self, written: Container[Hashable] = ()) -> Bound:
        """The function with its state as constants, but for what is written: here, or under these keys elsewhere."""
        fixed = [slot for slot in self.state if not slot.written and slot.key not in written]
        given = [slot for slot in self.inputs if not any(slot is each for each in fixed)]
        places = {id(slot): number for number, slot in enumerate(given)}
        program = self.program.changed(
            inputs=tuple(slot.value for slot in given),
            constants=self.program.constants | {slot.value: np.asarray(slot.array) for slot in fixed},
            writes=tuple([(places[id(self.inputs[place])], value) for place, value in self.program.writes]),
        )
        return Bound(self.name, program, given, self.outputs)

    def expected(self) -> tuple[list[Array], list[Array]]:
        """What a call with the recorded inputs gives, and what the inputs hold after it."""
        arrays = [np.array(slot.array) for slot in self.inputs]
        results = Machinery(self.program).execute(*arrays)
        return [np.array(result) for result in results[: len(self.outputs)]], arrays

    def rounded_otherwise(self) -> dict[str, list[Array]]:
        """What results, and inputs that are written, are by NumPy, and with all numbers on the way one unit in the last place off."""
        found: dict[str, list[Array]] = {}
        for each, arrays in (
            (None, [slot.array for slot in self.inputs]),
            (_off, [_moved(s.array) for s in self.inputs]),
        ):
            made = run(self.program.changed(guards=()), [np.array(array) for array in arrays], each=each)
            slots = [*self.outputs, *[self.inputs[place] for place, _ in self.program.writes]]
            for slot, array in zip(slots, made, strict=True):
                found.setdefault(slot.name, []).append(array)
        return found


def _off(equation: Equation, given: list[Array]) -> Any:
    """The results of an equation, those that are rounded a unit in the last place off."""
    made = quiet.run(equation.primitive.forward, *given, **equation.params)
    if equation.primitive.view or equation.primitive.kind == "zero":
        return made
    return tuple([_moved(each) for each in made]) if type(made) is tuple else _moved(made)


def _moved(array: Any) -> Array:
    array = np.asarray(array)
    return np.nextafter(array, 2 * array) if array.dtype.kind == "f" else array


def identifier(text: str, taken: set[str], function: str = "") -> str:
    """A name of C that is not taken yet, from a name of Python or a path like `layers[0].weight`, inside a function."""
    plain = re.sub(r"\W+", "_", _latin(text)).strip("_") or "x"
    plain = f"{plain}_" if of_others(plain, function) or plain[0].isdigit() else plain
    plain = f"x{plain}" if plain[0].isdigit() else plain
    found, number = plain, 2
    while found in taken:
        found, number = f"{plain}_{number}", number + 1
    taken.add(found)
    return found


def _latin(text: str) -> str:
    """A text in ASCII, as C's names are: letters without accents, others by the end of their names, as sigma."""
    found = []
    for sign in unicodedata.normalize("NFKD", text):
        name = unicodedata.name(sign, "").lower().split()[-1:]
        found.append(
            sign if sign.isascii() else "_".join(name) if sign.isalpha() else "" if unicodedata.combining(sign) else "_"
        )
    return "".join(found)


def _plans(structure: Structure) -> Iterator[Any]:
    """For each leaf of results the plan of the sparse matrix whose entries it is, or None."""
    if structure.kind is None:
        yield None
    for child in structure.children:
        for plan in _plans(child):
            yield structure.context if structure.kind is matrices.SparseMatrix else plan


def together(title: str, bounds: Sequence[Bound]) -> list[Slot]:
    """The members of the state that functions share, each with its name: what is one memory is one member."""
    members: dict[Hashable, Slot] = {}
    taken: set[str] = set()
    for function in bounds:
        for slot in function.state:
            known = members.get(slot.key)
            if known is None:
                known = members[slot.key] = replace(slot, name=identifier(slot.said, taken, title))
                _check_apart(title, known, [*members.values()][:-1])
            slot.name, known.written = known.name, known.written or slot.written
    return [*members.values()]


def _check_apart(title: str, slot: Slot, others: Sequence[Slot]) -> None:
    """Refuse members of which one is a part of the other, as a struct has each by itself."""
    for other in others:
        arrays = slot.memory, other.memory
        if all(isinstance(each, np.ndarray) for each in arrays) and np.may_share_memory(*arrays):
            raise ExportError(
                f"{title} cannot be exported: {slot.said} and {other.said}, which functions of it reach, are views of one "
                "memory: have each reach the same tensor"
            )


def of_others(name: str, function: str) -> bool:
    """Whether a name belongs to C, to C++ or to what the file has beside a function."""
    if function and re.fullmatch(
        rf"{function}_(state|work|init|seed|(loop|checked|product|constant)\d+|product\d+_turned|out\d*_(rows|columns|entries))",
        name,
    ):
        return True
    return name in RESERVED or (name[-1] in "fl" and name[:-1] in MATHEMATICAL) or LIBRARY.match(name) is not None


def bound(compiled: Any, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Bound:
    """One call of a function as a program to export; the call itself is taken back."""
    function: Callable[..., Any] = compiled.function
    leaves, structure = flatten((tuple(args), kwargs))
    try:
        record, reason = Compiled(function, fullgraph=True).recorded(leaves, structure)
    except RefusedError as refusal:
        record, reason = None, str(refusal)
    if record is None:
        again = ": if the first call creates state, as an optimizer does, call the function once before" if args else ""
        raise ExportError(f"{name} cannot be exported, because {reason}{again}")
    return _Binding(record, leaves, name, getattr(function, "forward", function)).made()


LYING = {"place", "view", "alias", "alias view"}
"""The kinds of leaves of a result that lie in memory of the caller (see `Record`)."""


def _paths(record: Record) -> dict[int, str]:
    """Where tensors of the state are, by their identities: `model.0.weight`, or `exp_avg of model.0.weight` of an optimizer."""
    named = [pair for holder in record.state.holders for pair in holder.named()]
    found: dict[int, str] = {}
    for key, value in named:
        if callable(getattr(type(value), "named_parameters", None)):
            module: Any = value
            for path, tensor in (*module.named_parameters(), *module.named_buffers()):
                found.setdefault(id(tensor), f"{key}.{path}")
    for _, value in named:
        if callable(getattr(type(value), "add_param_group", None)):
            optimizer: Any = value
            for parameter, kept in optimizer.state.items():
                path = found.get(id(parameter), "a parameter")
                found.update({id(tensor): f"{key} of {path}" for key, tensor in kept.items()})
    return found


class _Binding:
    """From a record to what is exported."""

    def __init__(self, record: Record, leaves: list[Any], name: str, function: Callable[..., Any]) -> None:
        self.record, self.leaves, self.name, self.function = record, leaves, name, function
        self.equations = list(record.program.equations)
        self.taken: set[str] = set()
        self.paths = _paths(record)
        for kind, what in record.outputs[: record.leaves]:
            if kind in LYING:
                self._received(self._way(kind, what)[0])

    def _received(self, place: Place) -> None:
        """Have the program take what it returns, though it computes nothing from it."""
        record, array = self.record, np.asarray(place.array(self.leaves))
        if not any(self._is_one(other, place) for other in record.places):
            record.places.append(place)
            inputs = *record.program.inputs, Value(array.shape, array.dtype)
            record.program = record.program.changed(inputs=inputs)

    def _order(self, number: int) -> int:
        """Arguments come in their own order, before what the function reaches by itself."""
        place = self.record.places[number] if number < len(self.record.places) else None
        return place.number if isinstance(place, Argument) else len(self.leaves)

    def made(self) -> Bound:
        """The function."""
        record, program = self.record, self.record.program
        said = record.names(self.function)
        inputs = [self._input(*each) for each in zip(said, record.places, program.inputs, strict=True)]
        results: dict[Value, matrices.Plan | None] = {}
        returned: list[tuple[int | None, Any]] = []
        for (kind, what), plan in zip(record.outputs[: record.leaves], _plans(record.structure), strict=True):
            value = self._value(kind, what)
            if value is not None:
                results[value] = results.get(value) or plan
            returned.append((None, what) if value is None else ([*results].index(value), None))
        writes = [*program.writes]
        for place, number in record.effects:
            if number is None:
                continue
            value = self._value(*record.outputs[number])
            at = self._state_of(place)
            if at is not None and value is not None:
                writes.append((at, self._fitting(value, program.inputs[at], said[at])))
            elif not isinstance(place, Gradient):
                raise ExportError(
                    f"{self.name} cannot be exported: the call puts a new tensor into {self._told(place)}, which held none "
                    "before. Call the function once before the export, so that its state is there"
                )
        changed = program.changed(equations=tuple(self.equations), outputs=tuple(results), writes=tuple(writes))
        drawing, generators = with_states(changed)
        for value, rng in zip(drawing.inputs[len(inputs) :], generators, strict=True):
            inputs.append(Slot("", "generator", value, packed(rng), state=True, memory=rng))
        simple = without_dead_code(simplify(without_dead_code(drawing)))
        made = self._named(simple, inputs, [*results.values()])
        made.returned, made.structure = returned, record.structure
        return made

    def _named(self, program: Program, inputs: list[Slot], results: Sequence[matrices.Plan | None]) -> Bound:
        written = {place for place, _ in program.writes}
        used = {x for e in program.equations for x in e.inputs} | set(program.needed)
        kept: list[Slot] = []
        places: dict[int, int] = {}
        for place in sorted(range(len(inputs)), key=self._order):
            slot, value = inputs[place], program.inputs[place]
            slot.value, slot.written = value, place in written
            if value in used or place in written or not slot.state:
                places[place] = len(kept)
                kept.append(slot)
        for slot in kept:
            slot.name = slot.said if slot.state else identifier(slot.said, self.taken, self.name)
        outputs = []
        for number, (plan, value) in enumerate(zip(results, program.outputs, strict=True)):
            full = f"out{number}" if len(results) > 1 else "out"
            outputs.append(Slot(identifier(full, self.taken), full, value, sparse=plan))
        writes = tuple((places[place], value) for place, value in program.writes)
        return Bound(
            self.name, program.changed(inputs=tuple(slot.value for slot in kept), writes=writes), kept, outputs
        )

    def _input(self, said: str, place: Place, value: Value) -> Slot:
        own = isinstance(place, Argument | Rate)
        number = place.number if isinstance(place, Argument) else None
        array = place.array(self.leaves)
        path = self._path(place)
        return Slot("", said, value, np.array(array), state=not own, place=number, memory=array, path=path)

    def _path(self, place: Place) -> str:
        """Where a tensor of the state is, or what a rate is."""
        if isinstance(place, Rate):
            return f"learning rate, {place.array(self.leaves)} at the export"
        if isinstance(place, Gradient):
            path = self._path(place.of)
            return f"gradient of {path}" if path else ""
        return self.paths.get(id(place.tensor(self.leaves)), "")

    def _value(self, kind: str, what: Any) -> Value | None:
        """The value that a leaf of the result is made of; None for what is no new tensor."""
        program = self.record.program
        if kind == "number":
            return program.outputs[what]
        if kind == "again":
            return self._value(*self.record.outputs[what])
        if kind == "made":
            return self._made(what)
        if kind == "seen":
            return self._seen(self._made(what.start), what.steps)
        if kind in LYING:
            start, steps = self._way(kind, what)
            return self._seen(self._held(start), steps)
        return None

    def _way(self, kind: str, what: Any) -> tuple[Place, tuple[Any, ...]]:
        """The place in whose memory a leaf of the result lies, and the way from there."""
        if kind == "place":
            return what, ()
        if kind == "view":
            return what.start, what.steps
        alias = self.record.aliases_made[what if kind == "alias" else what.start]
        return alias.place, alias.steps if kind == "alias" else (*alias.steps, *what.steps)

    def _held(self, place: Place) -> Value:
        """What a place holds in the end, where that is an input of the program."""
        number = next(i for i, other in enumerate(self.record.places) if self._is_one(other, place))
        program = self.record.program
        return dict(program.writes).get(number, program.inputs[number])

    def _made(self, number: int) -> Value:
        made = self.record.made[number]
        return self._seen(self.record.program.outputs[made.number], made.steps)

    def _seen(self, value: Value, steps: Any) -> Value:
        """A value seen through views, as further equations."""
        for primitive, params in steps:
            form = primitive.forward(np.broadcast_to(np.zeros((), value.dtype), value.shape), **params)
            out = Value(form.shape, value.dtype)
            self.equations.append(Equation(primitive, (value,), params, (out,)))
            value = out
        return value

    def _state_of(self, place: Place) -> int | None:
        """The input that a place is."""
        for number, other in enumerate(self.record.places):
            if isinstance(place, Held):
                same = isinstance(other, Held) and other.holder is place.holder and other.key == place.key
            elif isinstance(place, Gradient):
                same = isinstance(other, Gradient) and self._is_one(other.of, place.of)
            else:
                same = isinstance(place, Exchanged) and self._is_one(other, place.of)
            if same:
                return number
        return None

    def _is_one(self, place: Place, other: Place) -> bool:
        """Whether two places hold one tensor."""
        if place is other or isinstance(place, Rate) or isinstance(other, Rate):
            return place is other
        return place.tensor(self.leaves) is other.tensor(self.leaves)

    def _fitting(self, value: Value, target: Value, said: str) -> Value:
        if (value.shape, value.dtype) != (target.shape, target.dtype):
            raise ExportError(
                f"{self.name} cannot be exported: {said} is {target.dtype}{list(target.shape)}, and the call puts "
                f"{value.dtype}{list(value.shape)} there: memory in C has one size"
            )
        return value

    def _told(self, place: Place) -> str:
        key = getattr(place, "key", None)
        return f"{key!r}" if key is not None else type(place).__name__.lower()
