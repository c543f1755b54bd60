"""Fusion: which values are stored in memory, and which loop nest computes each of them.

A value is stored if it is a result, if a matrix product or an opaque operation reads it, or if it is a reduction. Others are
computed where they are used, unless they are costly and used in several nests: then the first of these stores them. Values are
taken in program order; each joins the last nest that iterates over as many elements, reads some of the same memory, follows
all nests it depends on, and is not full.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import ops
from ..._numerics.blas import Word, routine
from ..program import Equation, Program, Value
from . import indices, pieces
from .elements import ELEMENTS, KINDS, lowers
from .indices import Affine, AnyIndex, Cut, Unaligned, flat, moved, uncut, whole
from .nests import FULL_OF_NUMBERS, GATHERS, REDUCTIONS, Incompatible, Nest, NestFacts, Root
from .pieces import Turned

if TYPE_CHECKING:
    from ..._core.typing import NumpyType
    from ..scans import Scan

FEW = 1 << 12
"""The number of iterations up to which nests without shared memory are fused: the loop costs more than its body."""
MOST_ELEMENTS, MOST_EQUATIONS = 32, 300
"""The largest number of equations of a loop whose state stays in registers."""
CHECKED = {"put_rows", "scatter_rows", "solve_triangular"}
"""Operations whose operands are checked before they run, besides gathers."""
NEAR = 500
"""Of so many equations on single numbers, where there are thousands, one uses the results of another without memory."""
LARGE = 1 << 14
"""The number of iterations from which on it is asked whether a nest of several results is quicker than two."""
NESTS_BACK = 8
DEEPEST = 200
DEAR = 8
AGAIN = 3
"""The cost, in additions, from which on a value that an earlier nest has computed is stored there."""


@dataclass(slots=True, eq=False)
class Loops:
    """A step that is a loop nest."""

    nest: Nest
    roots: dict[Value, Root] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Operand:
    """A factor of a matrix product: a value's memory with an offset and a stride along each axis."""

    value: Value
    shape: tuple[int, ...]
    offset: int
    steps: tuple[int, ...]


@dataclass(slots=True, eq=False)
class MatrixProduct:
    """A step that is a matrix product, possibly batched."""

    equation: Equation
    left: Operand
    right: Operand


@dataclass(slots=True, eq=False)
class Opaque:
    """A step that calls the forward function of an operation."""

    equation: Equation


@dataclass(slots=True, eq=False)
class Steps:
    """A step that is a loop of the program in machine code; the state of `small` ones stays in registers.

    The inputs of the equation are what is in memory; what the loop reads begins at an offset in each, in elements.
    """

    equation: Equation
    small: bool
    offsets: tuple[int, ...]


@dataclass(slots=True, eq=False)
class Own:
    """A step with code of its own: it adds rows at indices, or solves a triangular system."""

    equation: Equation


Step = Loops | MatrixProduct | Steps | Own | Opaque


def leading(rows: int, columns: int, down: int, right: int) -> tuple[int, int] | None:
    """The transposition flag and the leading dimension of a factor with these strides; None if BLAS cannot read it."""
    if (right == 1 or columns == 1) and (down >= columns or rows == 1):
        return Word.PLAIN, max(down, columns, 1)
    if (down == 1 or rows == 1) and (right >= rows or columns == 1):
        return Word.TRANSPOSED, max(right, rows, 1)
    return None


def _readable(value: Value, place: Affine) -> bool:
    """Whether BLAS can read a factor without a copy."""
    steps = dict(place[1])
    shape = value.shape[-2:]
    found = [steps.get(axis, 0) for axis in range(len(value.shape))][-2:]
    if len(shape) == 1:
        return leading(1, shape[0], 0, found[0]) is not None
    return leading(*shape, *found) is not None


def kind(equation: Equation) -> str:
    """How an equation is compiled: move, element, reduce, pieces, product, steps, own or opaque."""
    name = equation.primitive.name
    values = (*equation.inputs, *equation.outputs)
    needed = equation.outputs if name == "concat" else values
    if any(value.size == 0 for value in needed) or any(value.dtype not in KINDS for value in values):
        return "opaque"
    if name in GATHERS:
        x, chosen = equation.inputs
        return "gather" if len(x.shape) == 2 and chosen.dtype.kind in "iu" else "opaque"
    if name in indices.NAMES:
        return "move"
    dtypes = tuple([value.dtype for value in equation.inputs])
    if name in ELEMENTS and lowers(name, dtypes, equation.outputs[0].dtype, equation.params):
        return "element"
    if name in REDUCTIONS:
        return "reduce"
    if name in pieces.PIECES:
        return "pieces" if pieces.are_regular(equation) else "opaque"
    if name == "scatter_rows":
        return "own" if dtypes[1].kind in "iu" and dtypes[0] == equation.output.dtype else "opaque"
    if name == "solve_triangular":
        return "own" if is_solved(equation) else "opaque"
    if name == "scan_loop":
        return "steps" if _is_code(equation.params["loop"]) else "opaque"
    if name == "matmul" and len(set(dtypes)) == 1 and dtypes[0].kind == "f":
        return "product" if routine("sgemm") else "opaque"
    return "opaque"


def is_solved(equation: Equation) -> bool:
    """Whether BLAS solves a triangular system of a program: one matrix, and floats of one dtype."""
    a, b = equation.inputs
    return len(a.shape) == len(b.shape) == 2 and a.dtype == b.dtype and a.dtype.char in "fd" and bool(routine("strsm"))


def _is_code(loop: Scan) -> bool:
    """Whether a loop's body is all machine code and has no checks."""
    return bool(loop.length) and all(
        equation.name not in GATHERS | CHECKED and kind(equation) != "opaque" for equation in loop.body.equations
    )


def _in_registers(loop: Scan) -> bool:
    """Whether a loop's body is small enough to keep its state in registers."""
    body = loop.body
    values = {*body.inputs, *body.constants, *(value for equation in body.equations for value in equation.outputs)}
    return (
        len(body.equations) <= MOST_EQUATIONS
        and all(value.size <= MOST_ELEMENTS for value in values)
        and all(kind(equation) != "steps" for equation in body.equations)
    )


class Planner:
    """Builds the steps of a program in one pass over its equations."""

    def __init__(
        self, program: Program, kinds: dict[Equation, str], wanted: set[Value], keys: dict[Equation, tuple[Any, Any]]
    ) -> None:
        self.keys = keys
        self.program = program
        self.kinds = kinds
        self.steps: list[Step] = []
        self.makers = program.makers()
        self.constants = dict(program.constants)
        self.made: dict[Value, int] = dict.fromkeys((*program.inputs, *program.constants), -1)
        self.ends = wanted.union(self.made)
        self.level: dict[Value, int] = dict(self.made)
        self.depth: dict[Value, int] = {}
        self.leaves: dict[Value, frozenset[Value]] = {v: frozenset([v]) for v in program.inputs}
        self.leaves.update({v: frozenset() if v.size == 1 else frozenset([v]) for v in program.constants})
        self.wanted = wanted
        self.costs: dict[Value, int] = {}
        self.first: dict[Value, int] = {}
        self.storing = False
        self.turned: set[Value] = set()
        self._read: dict[Value, list[Equation]] = {}

    def run(self) -> list[Step]:
        """The steps."""
        for equation in self.program.equations:
            getattr(self, "_" + self.kinds[equation])(equation)
        return self.steps

    # Kinds of equations

    def _element(self, equation: Equation) -> None:
        for value in equation.outputs:
            if value in self.made:
                continue  # pieces were stored as it
            self.level[value] = max([self.level[x] for x in equation.inputs], default=-1)
            self.leaves[value] = frozenset().union(*[self.leaves[x] for x in equation.inputs])
            element = ELEMENTS.get(equation.name)
            own = 0 if element is None else element.cost
            below = [self.costs.get(x, 0) for x in equation.inputs]
            self.costs[value] = own + sum([cost for cost in below if cost < AGAIN])
            self.depth[value] = 1 + max([self.depth.get(x, 0) for x in equation.inputs], default=0)
            if value in self.wanted or self.depth[value] >= DEEPEST:
                self._root(Root(value, value))

    _move = _element
    _gather = _element

    def _reduce(self, equation: Equation) -> None:
        axis = equation.params["axis"]
        (x,) = equation.inputs
        axes = (axis,) if isinstance(axis, int) else tuple(axis) if axis is not None else tuple(range(len(x.shape)))
        self._root(Root(equation.output, x, REDUCTIONS[equation.name], tuple([i % len(x.shape) for i in axes])))

    def _pieces(self, equation: Equation) -> None:
        after = -1
        out, turned = self._read_as(equation)
        for source, place in pieces.PIECES[equation.name](equation):
            given = (self._number(equation.output.dtype), equation.output.shape) if source is None else source
            value = self._spread(*given) if isinstance(given, tuple) else given
            first = self._root(Root(out, value, place=turned(place)), after=after)
            after = first if after < 0 and place is None else after

    def _read_as(self, equation: Equation) -> tuple[Value, Turned]:
        """The value as which pieces are read, if only views do, and where their elements are in it."""
        out, path = pieces.read_as(equation, self._users(), self.wanted)
        for value in (equation.output, *[e.output for e in path]) if path else ():
            self.level[value], self.leaves[value] = len(self.steps), frozenset()
        self.turned |= {out} if path else set()
        return out, pieces.turned_by(equation, path)

    def _users(self) -> dict[Value, list[Equation]]:
        """The equations that read each value."""
        if not self._read:
            for equation in self.program.equations:
                for value in set(equation.inputs):
                    self._read.setdefault(value, []).append(equation)
        return self._read

    def _number(self, dtype: NumpyType) -> Value:
        zero = Value((), dtype)
        self.constants[zero] = np.zeros((), dtype)
        self.made[zero] = self.level[zero] = -1
        self.ends.add(zero)
        self.leaves[zero] = frozenset()
        return zero

    def _spread(self, x: Value, shape: tuple[int, ...]) -> Value:
        """A value broadcast to a shape."""
        if x.shape == shape:
            return x
        out = Value(shape, x.dtype)
        self.makers[out] = Equation(ops.broadcast_to, (x,), {"shape": shape}, (out,))
        self.level[out], self.leaves[out] = self.level[x], self.leaves[x]
        return out

    def _product(self, equation: Equation) -> None:
        left, right = (self._operand(value) for value in equation.inputs)
        self._append(MatrixProduct(equation, left, right), equation.outputs)

    def _operand(self, value: Value) -> Operand:
        base, (offset, terms) = origin(value, self.makers, self.ends)
        steps = [0] * len(value.shape)
        for axis, step in terms:
            steps[axis] = step
        return Operand(base, value.shape, offset, tuple(steps))

    def _opaque(self, equation: Equation) -> None:
        self._append(Opaque(equation), equation.outputs)

    def _steps(self, equation: Equation) -> None:
        parts = [part(value, self.makers, self.ends) for value in equation.inputs]
        inputs = tuple([base for base, _ in parts])
        given = Equation(equation.primitive, inputs, equation.params, equation.outputs, equation.site)
        small = _in_registers(equation.params["loop"])
        self._append(Steps(given, small, tuple([offset for _, offset in parts])), equation.outputs)

    def _own(self, equation: Equation) -> None:
        self._append(Own(equation), equation.outputs)

    def _append(self, step: Step, values: tuple[Value, ...]) -> None:
        self.steps.append(step)
        for value in values:
            self._is_made(value, len(self.steps) - 1)

    def _is_made(self, value: Value, number: int) -> None:
        self.made[value] = self.level[value] = max(number, self.made.get(value, -1))
        self.ends.add(value)
        self.leaves[value] = frozenset([value])
        self.depth[value] = self.costs[value] = 0

    # Nests

    def _root(self, root: Root, after: int = -1) -> int:
        """Put a root into a nest, or begin one; the step's number."""
        lowest = max(self.level[root.source], after + 1, 0)
        back = range(lowest, len(self.steps))[::-1]
        for number in itertools.islice((n for n in back if isinstance(self.steps[n], Loops)), NESTS_BACK):
            if self._joins(number, root):
                self._is_made(root.value, number)
                return number
        step = Loops(None)  # type: ignore[arg-type]  # set at once
        self.steps.append(step)
        number = len(self.steps) - 1
        step.nest = Nest([size for size in root.source.shape if size > 1], self._source(number))
        try:
            self._add(step, root)
        except Incompatible:
            self.steps.pop()
            self.first = {value: first for value, first in self.first.items() if first < number}
            if not self._parted(root.source):
                raise
            return self._root(root, after)
        self._is_made(root.value, number)
        return number

    def _parted(self, value: Value) -> bool:
        """Store the operands of a value that has too many nodes for one nest; whether there were any."""
        inputs = self.makers[value].inputs if value in self.makers and value not in self.made else ()
        left = [x for x in dict.fromkeys(inputs) if x not in self.ends]
        for x in left:
            if x not in self.ends:
                self._root(Root(x, x))
        self.level[value] = max([self.level[x] for x in inputs], default=-1)
        self.leaves[value] = frozenset().union(*[self.leaves[x] for x in inputs])
        return bool(left)

    def _source(self, number: int) -> NestFacts:
        step = self.steps[number]
        assert isinstance(step, Loops)
        return NestFacts(self.makers, self.constants, step.roots.get, partial(self._ready, number), self.keys)

    def _ready(self, number: int, value: Value) -> bool:
        """Whether a value is in memory before a step; a costly one that an earlier nest has computed is stored there."""
        made = self.made.get(value)
        if made is None and self.costs.get(value, 0) >= AGAIN:
            first = self.first.setdefault(value, number)
            if first < number and not self.storing and self._stores(first, value):
                made = first
        return made is not None and made < number

    def _stores(self, number: int, value: Value) -> bool:
        """Whether a nest can store a value that it computes; it then does."""
        step = self.steps[number]
        assert isinstance(step, Loops)
        if math.prod(step.nest.domain) != value.size:
            return False
        self.storing = True
        try:
            if not self._added(step, Root(value, value)):
                return False
        finally:
            self.storing = False
        self._is_made(value, number)
        return True

    def _add(self, step: Loops, root: Root) -> None:
        step.nest.add(root)
        if root.place is None:
            step.roots[root.value] = root

    def _joins(self, number: int, root: Root) -> bool:
        step = self.steps[number]
        assert isinstance(step, Loops)
        nest = step.nest
        places, size = math.prod(nest.domain), root.source.size
        shares = places <= FEW or self.leaves[root.source] & (nest.loaded.keys() | step.roots.keys())
        if size > places or places % size or not shares or nest.full:
            return False
        root.outer = size < places
        return self._added(step, root)

    def _added(self, step: Loops, root: Root) -> bool:
        """Add a root to a nest, if it can be computed there, and not more quickly elsewhere; whether it was."""
        large = math.prod(step.nest.domain) >= LARGE and not root.outer
        undo = step.nest.moment() if large else None
        try:
            self._add(step, root)
        except (Incompatible, Unaligned):
            root.outer = False
            return False
        return undo is None or not self._hinders(step, root, undo)

    def _hinders(self, step: Loops, root: Root, undo: Callable[[], None]) -> bool:
        """Whether a nest takes longer with a root of other axes than both do apart; it then is without it."""
        nest, shape = step.nest, [size for size in root.source.shape if size > 1]
        if len(nest.domain) <= len(shape):
            return False
        together, roots = nest.cost, dict(step.roots)
        undo()
        step.roots.pop(root.value, None)
        facts = nest.source
        alone = Nest(
            shape, replace(facts, inside=lambda value: None, ready=lambda value: value in roots or facts.ready(value))
        )
        try:
            alone.add(replace(root, node=None, consumed=False))
            hinders = together > nest.cost + alone.cost
        except (Incompatible, Unaligned):
            hinders = False
        if not hinders:
            self._add(step, root)
        return hinders


def origin(value: Value, makers: dict[Value, Equation], stop: Any) -> tuple[Value, Affine]:
    """The value that a view reads, and the index in it; a value that is no view reads itself."""
    maker = makers.get(value)
    if value in stop or maker is None or maker.primitive.name not in indices.NAMES:
        return value, indices.contiguous(value.shape)
    parts = [[size] for size in value.shape]  # of each axis: a reshape on the way may cut it
    while True:
        try:
            return _followed(value, parts, makers, stop)
        except Cut as cut:
            axis = cut.axis
            for part in parts:
                if axis < len(part):
                    part[axis : axis + 1] = [part[axis] // cut.inner, cut.inner]
                    break
                axis -= len(part)
        except Unaligned:
            return value, indices.contiguous(value.shape)


def _followed(value: Value, parts: list[list[int]], makers: dict[Value, Equation], stop: Any) -> tuple[Value, Affine]:
    """The value that a view reads, for an iteration whose axes were split, indexed by the unsplit axes."""
    domain = [size for part in parts for size in part]
    index: AnyIndex = whole(value.shape, domain, len(domain))
    one = value
    while one not in stop and one in makers and makers[one].primitive.name in indices.NAMES:
        equation = makers[one]
        x = equation.inputs[0]
        number = equation.outputs.index(one)
        index = moved(equation.primitive.name, index, x.shape, one.shape, equation.params, domain, number)
        one = x
    return one, uncut(flat(index, one.shape), parts)


def _factor(value: Value, makers: dict[Value, Equation], stop: set[Value]) -> Value:
    """What a matrix product reads from memory for one of its factors."""
    base, place = origin(value, makers, stop)
    return base if _readable(value, place) else value


def part(value: Value, makers: dict[Value, Equation], stop: Any) -> tuple[Value, int]:
    """The value of whose memory another is a part without gaps, and where that begins; a value itself, if it is none."""
    base, (offset, terms) = origin(value, makers, stop)
    steps, own = dict(terms), dict(indices.contiguous(value.shape)[1])
    if any(size > 1 and steps.get(axis) != own.get(axis) for axis, size in enumerate(value.shape)):
        return value, 0
    return base, offset


def planned(program: Program) -> tuple[Planner, list[Step]]:
    """The steps of a program, and the planner that found them."""
    kinds = {equation: kind(equation) for equation in program.equations}
    makers = program.makers()
    for equation in _seen_by_guards(program, makers):
        if kinds[equation] != "move" and not (kinds[equation] == "element" and ELEMENTS[equation.name].cost < DEAR):
            kinds[equation] = "opaque"
    wanted = set(program.needed)
    stop = wanted.union(program.inputs, program.constants)
    for equation in program.equations:
        fresh: Sequence[Value] = ()
        if kinds[equation] in ("opaque", "own"):
            fresh = equation.inputs
        elif kinds[equation] == "steps":
            fresh = [
                base if base in stop or kinds[makers[base]] not in ("element", "gather", "move") else value
                for value in equation.inputs
                for base, _ in [part(value, makers, stop)]
            ]
        elif kinds[equation] == "gather":
            fresh = equation.inputs[:1]
        elif kinds[equation] == "product":
            fresh = [_factor(value, makers, stop) for value in equation.inputs]
        wanted.update(fresh)
        stop.update(fresh)
    wanted |= _across(program, kinds)
    sweeps = 0
    keys: dict[Equation, tuple[Any, Any]] = {}
    while True:
        planner = Planner(program, kinds, wanted, keys)
        try:
            steps = planner.run()
        except Unaligned as error:
            equation = makers[error.value]
            unaligned = {error.value, *equation.inputs} - wanted
            wanted |= unaligned
            if not unaligned:
                raise
            continue
        sweeps += 1
        more = _dear(planner, steps) - wanted
        if not more or sweeps > 2:
            return planner, steps
        wanted |= more


def _across(program: Program, kinds: dict[Equation, str]) -> set[Value]:
    """The values of a long program of single numbers that are stored: those that are used far from where they are computed."""
    numbers = [e for e in program.equations if kinds[e] == "element" and e.output.size == 1]
    if len(numbers) < FULL_OF_NUMBERS:
        return set()
    made = {equation.output: place // NEAR for place, equation in enumerate(numbers)}
    return {x for e in numbers for x in e.inputs if made.get(x, made[e.output]) != made[e.output]}


def _seen_by_guards(program: Program, makers: dict[Value, Equation]) -> set[Equation]:
    """The equations that a guard on a recorded float depends on: they have to be computed bit for bit."""
    waiting = [value for value, _ in program.guards if value.dtype.kind == "f"]
    found: set[Equation] = set()
    while waiting:
        maker = makers.get(waiting.pop())
        if maker is not None and maker not in found:
            found.add(maker)
            waiting.extend(maker.inputs)
    return found


def _dear(planner: Planner, steps: list[Step]) -> set[Value]:
    """Costly values that would be computed more than once: in several nests, or for each outer iteration."""
    seen: set[Value] = set()
    again: set[Value] = set()
    found: set[Value] = set()
    for step in steps:
        if not isinstance(step, Loops):
            continue
        places = math.prod(step.nest.domain)
        for value in step.nest.inlined:
            name = planner.makers[value].name
            if value.size * 4 <= places and name in ELEMENTS and ELEMENTS[name].cost >= DEAR:
                found.add(value)
            if value in seen and value not in planner.made:
                again.add(value)
            seen.add(value)
    found |= _ends(planner, again)
    return {value for value in found if value in planner.level and planner.made.get(value, -1) < 0}


def _ends(planner: Planner, again: set[Value]) -> set[Value]:
    """The costly ones among the values that several nests would compute."""
    if not again:
        return again
    costs: dict[Value, int] = {}
    others: set[Value] = set()
    for equation in planner.program.equations:
        own = ELEMENTS[equation.name].cost if equation.name in ELEMENTS else 0
        cost = min(
            DEAR, own + sum(costs.get(value, 0) for value in equation.inputs)
        )  # bounded: a sum over all paths grows exponentially
        costs.update((value, 0 if value in planner.made else cost) for value in equation.outputs)
        if not any(value in again for value in equation.outputs):
            others.update(equation.inputs)
    return {value for value in again & others if costs.get(value, 0) >= DEAR}
