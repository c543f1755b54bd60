"""The program: what a recorded run is written down as, and when it is a valid one.

A program is a straight line of equations between values, each assigned once. An equation is a primitive of the tables
in `ops`, so that whoever knows the operations knows the language; `primitive.forward` says what it means. Passes take a
program and give a program; `check` is the definition of a valid one, and `run` of what a program computes.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import xp as _xp
from .._core.modes import quiet
from ..observe import Site

if TYPE_CHECKING:
    from .._core.primitives import Primitive
    from .._core.typing import NumpyType

Array = np.ndarray[Any, np.dtype[Any]]

LOOPS = {"scan_loop", "branch", "repeat_loop"}
"""Operations whose metadata hold programs: the bodies of loops, the sides of a branch."""


ARRAY = _xp.array
"""What stands for the next of an equation's arrays in the `spec` of an index, between slices and integers."""


class Value:
    """What an equation gives, or an input: a shape and a dtype. Two values are the same only if they are one object."""

    __slots__ = ("shape", "dtype")

    def __init__(self, shape: tuple[int, ...], dtype: NumpyType) -> None:
        self.shape = shape
        self.dtype = dtype

    @property
    def size(self) -> int:
        """The number of elements."""
        count = 1
        for length in self.shape:
            count *= length
        return count

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.dtype.itemsize

    def like(self) -> Value:
        """Another value of the same shape and dtype."""
        return Value(self.shape, self.dtype)

    def __repr__(self) -> str:
        return f"<{self.dtype}{list(self.shape)}>"


@dataclass(frozen=True, slots=True, eq=False)
class Equation:
    """One operation: `outputs = primitive(*inputs, **params)`.

    `primitive` has a `name`, a `kind` and a `forward` on NumPy arrays; `params` is metadata, never arrays. `site` is the
    user's line that asked for it.
    """

    primitive: Primitive
    inputs: tuple[Value, ...]
    params: dict[str, Any]
    outputs: tuple[Value, ...]
    site: Site | None = None

    @property
    def output(self) -> Value:
        """The only output."""
        (value,) = self.outputs
        return value

    @property
    def name(self) -> str:
        """The primitive's name."""
        return str(self.primitive.name)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Program:
    """Inputs, constants, equations in an order in which they can run, and outputs.

    `writes` are the effects: the memory of an input, by its number, holds a value when the program is done. `guards`
    are values of one element that must be what they were when the program was recorded; where one differs, nothing is
    written, and the program has no result.
    """

    inputs: tuple[Value, ...]
    equations: tuple[Equation, ...]
    outputs: tuple[Value, ...]
    constants: dict[Value, Array] = field(default_factory=dict)
    writes: tuple[tuple[int, Value], ...] = ()
    guards: tuple[tuple[Value, Any], ...] = ()

    def __str__(self) -> str:
        names: dict[Value, str] = {}

        def named(value: Value) -> str:
            return names.setdefault(value, f"v{len(names)}")

        def typed(values: Sequence[Value]) -> str:
            return ", ".join(f"{named(value)}: {value.dtype}{list(value.shape)}" for value in values)

        lines = [f"inputs {typed(self.inputs)}"]
        for value, array in self.constants.items():
            lines.append(f"{typed([value])} = {array.tolist() if array.size < 5 else 'a constant'}")
        for equation in self.equations:
            given = [*map(named, equation.inputs), *[f"{name}={what!r}" for name, what in equation.params.items()]]
            lines.append(f"{typed(equation.outputs)} = {equation.name}({', '.join(given)})")
            for body in bodies(equation.params):
                lines += [f"    {line}" for line in str(body).splitlines()]
        lines += [f"if {named(value)} is not {expected!r}: depart" for value, expected in self.guards]
        lines += [f"write {named(value)} to {named(self.inputs[place])}" for place, value in self.writes]
        return "\n".join([*lines, f"outputs {', '.join(map(named, self.outputs))}"])

    def __repr__(self) -> str:
        return f"<program of {len(self.equations)} equations>"

    def changed(self, **changes: Any) -> Program:
        """The program with some parts exchanged."""
        return replace(self, **changes)

    @property
    def needed(self) -> tuple[Value, ...]:
        """What must be computed: the outputs, what is written, and what is guarded."""
        written = [value for _, value in self.writes]
        return (*self.outputs, *written, *[value for value, _ in self.guards])

    def makers(self) -> dict[Value, Equation]:
        """The equation that makes each value."""
        return {value: equation for equation in self.equations for value in equation.outputs}

    def uses(self) -> dict[Value, int]:
        """How often each value is used: by equations, and as something needed."""
        counts: dict[Value, int] = {}
        for value in self._used():
            counts[value] = counts.get(value, 0) + 1
        return counts

    def _used(self) -> Iterator[Value]:
        for equation in self.equations:
            yield from equation.inputs
        yield from self.needed


def bodies(entry: Any) -> list[Program]:
    """The programs that an equation's metadata hold: bodies of loops, sides of a branch."""
    if isinstance(entry, Program):
        return [entry]
    entries = entry.values() if isinstance(entry, dict) else entry if isinstance(entry, tuple) else ()
    return [program for each in entries for program in bodies(each)]


def sizes_of_labels(equation: str, values: Sequence[Value]) -> dict[str, int]:
    """The length that each label of an einsum stands for: an axis of length 1 is as long as the others of its label."""
    sizes: dict[str, int] = {}
    for term, value in zip(equation.partition("->")[0].split(","), values, strict=True):
        for label, size in zip(term, value.shape, strict=True):
            sizes[label] = size if sizes.get(label, 1) == 1 else sizes[label]
    return sizes


class InvalidError(AssertionError):
    """A program that is not valid: a defect of the pass that made it."""


def require_program(name: str, given: object) -> None:
    """Raises what a function of programs says of something else."""
    if not isinstance(given, Program):
        held = isinstance(getattr(given, "program", None), Program)
        way = f": give it the {type(given).__name__}'s program, `recorded.program`" if held else ""
        raise TypeError(f"{name}: a Program is expected, not {type(given).__name__}{way}")


def check(program: Program) -> Program:
    """The program itself, if it is valid.

    Raises
    ------
    InvalidError
        If a value is used before it is made, or made twice; if a constant has another shape or dtype than its value; if
        the memory of an input is written twice, or with another shape or dtype; if a guard has more than one element.
    """
    known: set[Value] = set()
    require_program("check", program)

    def make(value: Value, by: str) -> None:
        if value in known:
            raise InvalidError(f"{value} is made a second time, by {by}")
        if any(length < 0 for length in value.shape):
            raise InvalidError(f"{value}, made by {by}, has no proper shape")
        known.add(value)

    def use(value: Value, by: str) -> None:
        if value not in known:
            raise InvalidError(f"{value} is used by {by} before it is made")

    for value in program.inputs:
        make(value, "an input")
    for value, array in program.constants.items():
        make(value, "a constant")
        if array.shape != value.shape or array.dtype != value.dtype:
            raise InvalidError(f"{value} is said to be a constant of {array.dtype}{list(array.shape)}")
    for equation in program.equations:
        for value in equation.inputs:
            use(value, equation.name)
        for value in equation.outputs:
            make(value, equation.name)
        for name, given in equation.params.items():
            if isinstance(given, np.ndarray) and given.ndim:
                raise InvalidError(f"{equation.name} has an array as its metadata {name!r}")
    for value in program.needed:
        use(value, "the end of the program")
    written = [place for place, _ in program.writes]
    if len(set(written)) != len(written):
        raise InvalidError("an input is written twice")
    for place, value in program.writes:
        target = program.inputs[place]
        if (target.shape, target.dtype) != (value.shape, value.dtype):
            raise InvalidError(f"input {place}, {target}, is to hold {value}")
    for value, _ in program.guards:
        if value.size != 1:
            raise InvalidError(f"a guard has one element, not {value}")
    return program


def has_effect(equation: Equation) -> bool:
    """Whether an equation has an effect, or a part of one has: it is needed though its results are not."""
    primitive = equation.primitive
    if primitive.name in LOOPS:
        return any(has_effect(part) for body in bodies(equation.params) for part in body.equations)
    return bool(primitive.kind == "effect")


def effectful(equation: Equation) -> bool:
    """Whether an equal equation may give something else: it has an effect, or its numbers are drawn at random."""
    return has_effect(equation) or equation.primitive.name == "drawn"


def unvarying(value: Value, equations: Sequence[Equation], constants: Container[Value]) -> bool:
    """Whether a value is the same in each run of equations, since it follows from constants alone."""
    needed = {value} if value not in constants else set()
    for equation in reversed(equations):
        if not needed.isdisjoint(equation.outputs):
            if effectful(equation):
                return False
            needed.difference_update(equation.outputs)
            needed.update(each for each in equation.inputs if each not in constants)
    return not needed


class DepartedError(Exception):
    """A guard found another value than was recorded: the program is not valid for these inputs.

    `guard` is its number, where that is known, else -1.
    """

    def __init__(self, message: str, guard: int = -1) -> None:
        super().__init__(message)
        self.guard = guard


def run(program: Program, arrays: Sequence[Array], *, each: Callable[..., Any] | None = None) -> list[Array]:
    """What a program computes, equation by equation: the outputs, then the values to be written; nothing is written.

    This is the meaning of a program, which every other way to run one is compared with. `each`, if given, is called as
    `each(equation, inputs)` in the place of the primitive's forward function.
    """
    require_program("run", program)
    if len(arrays) != len(program.inputs):
        raise ValueError(f"run: the program has {len(program.inputs)} inputs, and {len(arrays)} arrays were given")
    held: dict[Value, Array] = dict(zip(program.inputs, arrays, strict=True))
    held |= program.constants
    for equation in program.equations:
        given = [held[value] for value in equation.inputs]
        made = each(equation, given) if each else quiet.run(equation.primitive.forward, *given, **equation.params)
        for value, array in zip(equation.outputs, made if type(made) is tuple else (made,), strict=True):
            held[value] = np.asarray(array)
            if held[value].shape != value.shape or held[value].dtype != value.dtype:
                raise DepartedError(
                    f"{equation.name} gave {held[value].dtype}{list(held[value].shape)}, recorded was {value}"
                )
    for guard, (value, expected) in enumerate(program.guards):
        found = held[value].item()
        if found != expected:
            raise DepartedError(f"{value} is {found}, and was {expected} when the program was recorded", guard)
    return [held[value] for value in (*program.outputs, *[value for _, value in program.writes])]
