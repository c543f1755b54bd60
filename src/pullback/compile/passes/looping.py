"""Loops written in the place of repeated equations, with the bits that these had.

What a step hands on to a later one is a carry; what differs from step to step and comes from before is a column, if possible
rows that are there already (of an input, or what an earlier loop has stacked); what is used after the loop is stacked, or
carried to the end.

NumPy adds up elements in the order in which they lie in memory, and what is stacked lies in the order of its axes: a loop is
left unrolled if one of its stacked values did not (see `orders`). Views are never stacked: who uses them outside of the loop
makes them anew of what they are views of.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import ops
from .. import keys
from ..inference import infer
from ..program import ARRAY, Equation, Program, Value
from ..scans import SCAN, Scan
from .orders import Orders, contiguous
from .repeats import OUTSIDE, STEPS, Numbering, Numbers, Repeat

INNER = 64
"""Elements of the largest constant that is part of a step."""
COPIED = 1 << 16
"""Bytes that are copied at most at each call to lay the values of a column side by side."""
PIECES = 6
"""The most pieces that a column is put together of."""
CHECKED = {"take_rows", "embedding", "put_rows", "scatter_rows", "index", "index_add", "index_put", "take_along_axis",
           "put_along_axis", "scatter_add", "solve_triangular"}  # fmt: skip
"""Operations that check their indices: in a loop each step would be a call from Python."""


class UnfitError(Exception):
    """Raised where steps are better not made a loop; `fit` are those that may be, without some at the ends."""

    def __init__(self, fit: tuple[int, int] | None = None) -> None:
        super().__init__()
        self.fit = fit


class Rows(NamedTuple):
    """What a column is given, step by step: rows of a value, from one of them on upwards or downwards."""

    source: Value
    first: int
    step: int
    plain: bool = True

    def ends(self, count: int) -> tuple[int, int]:
        """The lowest and the highest row of so many steps."""
        last = self.first + self.step * (count - 1)
        return min(self.first, last), max(self.first, last)


class Carry(NamedTuple):
    """A value that steps hand on: within the body, before the first step, and after the last."""

    value: Value
    initial: Value
    final: Value


class LoopInMaking:
    """A loop in the making."""

    def __init__(self, repeat: Repeat, place: int) -> None:
        self.repeat, self.place = repeat, place
        self.equations: list[Equation] = []
        self.constants: dict[Value, Any] = {}
        self.made: list[Value] = []
        self.carries: list[Carry] = []
        self.following: list[int | Value] = []
        self.columns: dict[Rows, Value] = {}
        self.shared: dict[Value, Value] = {}
        self.stacks: dict[int, Value] = {}
        self.ends: dict[int, tuple[Value, Value]] = {}
        self.reverse = False
        self.sources: list[Value] = []
        self.known: dict[Any, Value] = {}

    def row(self, step: int) -> int:
        """The row of what a step leaves in a stack."""
        return self.repeat.count - 1 - step if self.reverse else step

    def stack(self, output: int) -> Value:
        """The results of all steps."""
        if output not in self.stacks:
            one = self.made[output]
            self.stacks[output] = Value((self.repeat.count, *one.shape), one.dtype)
        return self.stacks[output]

    def column(self, rows: Rows) -> Value:
        """The row of this step."""
        if rows not in self.columns:
            self.columns[rows] = Value(rows.source.shape[1:], rows.source.dtype)
        return self.columns[rows]

    def end(self, output: int, zeros: Value) -> Value:
        """What the last step makes."""
        if output in self.following:
            return self.carries[self.following.index(output)].final
        if output not in self.ends:
            self.ends[output] = (zeros, self.made[output].like())
        return self.ends[output][1]

    def written(self) -> list[Equation]:
        """The loop, once nobody asks for further results, and what of its stacks is the end of a carry that no step reads."""
        rows: list[Equation] = []
        last = (self.row(self.repeat.count - 1), ...)
        for output, (zeros, final) in self.ends.items():
            if output in self.stacks:
                rows.append(Equation(ops.getitem, (self.stacks[output],), {"index": last}, (final,)))
            else:
                self.carries.append(Carry(final.like(), zeros, final))
                self.following.append(output)
        following = [self.made[each] if isinstance(each, int) else each for each in self.following]
        body = Program(
            (*[carry.value for carry in self.carries], *self.columns.values(), *self.shared.values()),
            tuple(self.equations), (*following, *[self.made[output] for output in self.stacks]), self.constants,
        )  # fmt: skip
        inputs = (*[carry.initial for carry in self.carries], *self.sources, *self.shared)
        outputs = (*[carry.final for carry in self.carries], *self.stacks.values())
        loop = Scan(body, len(self.carries), len(self.columns), self.repeat.count, self.reverse)
        site = next((each.site for each in self.equations if each.site is not None), None)
        return [Equation(SCAN, inputs, {"loop": loop}, outputs, site), *rows]


class Rolling:
    """The program written anew, with loops."""

    def __init__(self, program: Program, numbering: Numbering, found: list[Repeat]) -> None:
        self.program, self.numbering = program, numbering
        self.repeats = {repeat.start: repeat for repeat in found}
        self.constants = dict(program.constants)
        self.equations: list[Equation | LoopInMaking] = []
        self.loops: list[LoopInMaking] = []
        self.home: dict[int, LoopInMaking] = {}  # of each equation
        self.now: dict[int, Value] = {}
        self.known: dict[Any, Value] = {}
        self.orders = Orders(numbering)
        self.kept = self._handed_on(found)
        self.outside = self._used_outside(found)

    def rewrite(self) -> Program:
        """The program in its new form."""
        place = 0
        while place < len(self.program.equations):
            repeat = self.repeats.get(place)
            if repeat is not None and self._tried(repeat):
                place = self.repeats[place].stop
            else:
                self._plainly(place)
                place += 1
        program = self.program
        number, of = self.numbering.number, self.value
        outputs = tuple([of(number[value]) for value in program.outputs])
        writes = tuple([(at, of(number[value])) for at, value in program.writes])
        guards = tuple([(of(number[value]), expected) for value, expected in program.guards])
        equations = []
        for each in self.equations:
            equations += [each] if isinstance(each, Equation) else each.written()
        return Program(program.inputs, tuple(equations), outputs, self.constants, writes, guards)

    def _plainly(self, place: int) -> None:
        """Write an equation as it is."""
        old = self.program.equations[place]
        numbers = self.numbering.inputs(place)
        if (joined := self._joined(old, numbers)) is not None:
            self.now[self.numbering.first_output[place]] = joined
            return
        inputs = tuple([self.value(number) for number in numbers])
        self.equations.append(
            old if inputs == old.inputs else Equation(old.primitive, inputs, old.params, old.outputs, old.site)
        )

    def _joined(self, old: Equation, numbers: list[int]) -> Value | None:
        """The results of steps, put together behind the loop: there they lie so already."""
        if old.name not in {"stack", "concat"} or old.params["axis"] != 0 or len(numbers) < STEPS:
            return None
        if not any(self.numbering.makers[number] in self.home for number in numbers):
            return None
        if len({self.numbering.values[number].shape for number in numbers}) > 1:
            return None
        try:
            rows = self._rows(np.array(numbers), copied=None)
        except UnfitError:
            return None
        source = self._cut(rows, len(numbers))
        if source is not None and old.name == "concat":
            source = self.op(ops.reshape, (source,), {"shape": old.output.shape})
        return source

    def _tried(self, repeat: Repeat) -> bool:
        """Write a loop, if that is of use."""
        before = len(self.equations), self.now.copy(), self.known.copy(), self.constants.copy()
        asked = [(loop, loop.stacks.copy(), loop.ends.copy()) for loop in self.loops]
        try:
            self._loop(repeat)
        except UnfitError as unfit:
            del self.equations[before[0] :]
            _, self.now, self.known, self.constants = before
            for loop, stacks, ends in asked:
                loop.stacks, loop.ends = stacks, ends
            shorter = unfit.fit and repeat.part(*unfit.fit)
            if shorter and shorter.worthwhile:
                self.repeats[shorter.start] = shorter
                self.outside |= self._used_outside([shorter])
                return shorter.start == repeat.start and self._tried(shorter)
            return False
        return True

    # Loops

    def _loop(self, repeat: Repeat) -> None:
        self._check(repeat)
        loop = LoopInMaking(repeat, len(self.equations))
        equations = self.program.equations
        operand = 0
        for place in range(repeat.start, repeat.start + repeat.period):
            old = equations[place]
            width = len(old.inputs)
            columns = [*range(operand, operand + width)]
            operand += width
            if self._counts(repeat, place):
                found = self._indexed(loop, [place + step * repeat.period for step in range(repeat.count)])
                loop.made.append(found)
                continue
            inputs = tuple([self._operand(loop, column) for column in columns])
            outputs = tuple([value.like() for value in old.outputs])
            loop.equations.append(Equation(old.primitive, inputs, old.params, outputs, old.site))
            loop.made += outputs
        if not loop.equations:
            raise UnfitError
        self._turn(loop)
        self.equations.append(loop)
        self.loops.append(loop)
        for place in range(repeat.start, repeat.stop):
            self.home[place] = loop

    def _check(self, repeat: Repeat) -> None:
        """UnfitError: as a loop, these steps would have other bits, or be slower."""
        body = self.program.equations[repeat.start : repeat.start + repeat.period]
        if any(e.name in CHECKED for e in body):
            raise UnfitError
        if not all(self.orders.plain(number) for number in self.outside[repeat.start]):
            raise UnfitError

    def _used_outside(self, found: list[Repeat]) -> dict[int, set[int]]:
        """The values of each loop that are stacked, as those of its second step."""
        numbering = self.numbering
        needed = np.array([numbering.number[value] for value in self.program.needed], np.int64)
        used: dict[int, set[int]] = {}
        for repeat in found:
            first, last = (numbering.first_operand[place] for place in (repeat.start, repeat.stop))
            others = np.concatenate((numbering.operands[:first], numbering.operands[last:], needed))
            others = others[(others >= repeat.base) & (others < repeat.base + repeat.made * (repeat.count - 1))]
            waiting = [
                repeat.base + repeat.made + int(each) for each in np.unique((others - repeat.base) % repeat.made)
            ]
            seen: set[int] = set()
            while waiting:
                number = waiting.pop()
                if self._is_view(numbering.makers[number]):
                    waiting += [each for each in numbering.inputs(numbering.makers[number]) if each >= repeat.base]
                else:
                    seen.add(number)
            used[repeat.start] = seen
        return used

    def _handed_on(self, found: list[Repeat]) -> set[int]:
        """The equations that make views of what an earlier step has made, which may be a view like it."""
        first, kept = self.numbering.first_operand, set[int]()
        for repeat in found:
            for place in range(repeat.start, repeat.start + repeat.period):
                if self._is_view(place, ()) and repeat.distance[first[place] - first[repeat.start]] > 0:
                    kept.update(range(place, repeat.stop, repeat.period))
        return kept

    def _is_view(self, place: int, kept: Collection[int] | None = None) -> bool:
        """Whether an equation makes a view that is made anew where it is used."""
        if place == OUTSIDE or place in (self.kept if kept is None else kept):
            return False
        equation = self.program.equations[place]
        return equation.primitive.view and len(equation.outputs) == len(equation.inputs) == 1

    def _counts(self, repeat: Repeat, place: int) -> bool:
        """Whether an equation takes another part of its operand in each step."""
        old = self.program.equations[place]
        if old.name != "getitem":
            return False
        index = old.params["index"]
        equations, period = self.program.equations, repeat.period
        return any(
            not _same(equations[place + step * period].params["index"], index) for step in range(1, repeat.count)
        )

    def _operand(self, loop: LoopInMaking, column: int) -> Value:
        """An operand of an equation of the step."""
        repeat = loop.repeat
        distance = int(repeat.distance[column])
        numbers = repeat.operands[:, column]
        if distance == OUTSIDE:
            return self._outer(loop, numbers)
        output = int(numbers[-1] - repeat.base - repeat.made * (repeat.count - 1 - distance))
        if not distance:
            return loop.made[output]
        return self._carried(loop, output, [self.value(int(number)) for number in numbers[:distance]])

    def _carried(self, loop: LoopInMaking, output: int, initial: list[Value]) -> Value:
        """What was made as many steps before as there are initial values."""
        key = ("carry", output, *initial)
        if key not in loop.known:
            value = loop.known[key] = initial[0].like()
            place = len(loop.carries)
            loop.carries.append(Carry(value, initial[0], value.like()))
            loop.following.append(output)
            if len(initial) > 1:
                loop.following[place] = self._carried(loop, output, initial[1:])
        return loop.known[key]

    def _outer(self, loop: LoopInMaking, numbers: Numbers) -> Value:
        """What stands before the loop, for each step."""
        key = ("outer", numbers.tobytes())
        if key not in loop.known:
            loop.known[key] = self._outer_anew(loop, numbers)
        return loop.known[key]

    def _outer_anew(self, loop: LoopInMaking, numbers: Numbers) -> Value:
        if (numbers == numbers[0]).all():
            return self._shared(loop, int(numbers[0]))
        if views := self._views(numbers):
            old = self.program.equations[views[0]]
            if not any(self._differ(old, self.program.equations[place]) for place in views):
                seen = self._outer(loop, self._sources(views))
                return self._step(loop, old.primitive, (seen,), old.params, old)
            if old.name == "getitem" and len(set(self._sources(views).tolist())) == 1:
                return self._indexed(loop, views)
        return self._column(loop, self._rows(numbers))

    def _column(self, loop: LoopInMaking, rows: Rows) -> Value:
        """The row of this step; of rows that lie apart each step takes those between, too, which takes no copy."""
        count, apart = loop.repeat.count, abs(rows.step)
        length = rows.source.shape[0]
        if apart == 1 or length < count * apart:
            return loop.column(rows)
        low, _ = rows.ends(count)
        start = min(low - low % apart, length - count * apart)
        source = rows.source
        if length > count * apart:
            source = self.op(ops.getitem, (source,), {"index": (slice(start, start + count * apart, None),)})
        source = self.op(ops.reshape, (source,), {"shape": (count, apart, *source.shape[1:])})
        row = loop.column(Rows(source, 0, 1, rows.plain) if rows.step > 0 else Rows(source, count - 1, -1, rows.plain))
        return self._step(loop, ops.getitem, (row,), {"index": (low - start, ...)}, None)

    def _shared(self, loop: LoopInMaking, number: int) -> Value:
        """What is the same in all steps."""
        value = self.value(number)
        if value not in loop.shared and (constant := self.constants.get(value)) is not None and constant.size <= INNER:
            if value not in loop.known:
                loop.known[value] = value.like()
                loop.constants[loop.known[value]] = constant
            return loop.known[value]
        return loop.shared.setdefault(value, value.like())

    def _step(
        self,
        loop: LoopInMaking,
        primitive: Any,
        inputs: tuple[Value, ...],
        params: dict[str, Any],
        old: Equation | None,
    ) -> Value:
        """The result of one more equation of the step."""
        ((shape, dtype),) = infer(primitive, inputs, params)
        found = Value(shape, dtype)
        loop.equations.append(Equation(primitive, inputs, params, (found,), old.site if old else None))
        return found

    def _turn(self, loop: LoopInMaking) -> None:
        """Have the loop run in the direction of most of its columns, and turn the others."""
        count = loop.repeat.count
        rows = [*loop.columns]
        fixed = {each.step < 0 for each in rows if not each.plain}
        turned = sum([each.source.nbytes * (1 if each.step < 0 else -1) for each in rows]) > 0
        loop.reverse = turned if not fixed else fixed.pop()
        for each in rows:
            source = self._cut(each, count, reverse=loop.reverse)
            if source is None:
                raise UnfitError
            loop.sources.append(source)

    # What stands in different steps at the same place

    def _views(self, numbers: Numbers) -> list[int]:
        """The equations that make views, if all of these are views of one kind."""
        places = [self.numbering.makers[number] for number in numbers.tolist()]
        equations = self.program.equations
        if not all(map(self._is_view, places)):
            return []
        first = equations[places[0]].primitive
        return places if all(equations[place].primitive is first for place in places) else []

    @staticmethod
    def _differ(one: Equation, other: Equation) -> bool:
        return one.params is not other.params and keys.of_metadata(one.params) != keys.of_metadata(other.params)

    def _sources(self, places: list[int]) -> Numbers:
        return np.array([self.numbering.inputs(place)[0] for place in places], np.int64)

    def _indexed(self, loop: LoopInMaking, places: list[int]) -> Value:
        """A part of one value, another one in each step."""
        sources = self._sources(places)
        if (sources != sources[0]).any():
            raise UnfitError
        old = self.program.equations[places[0]]
        x = self.value(int(sources[0]))
        found = _parts(x.shape, [self.program.equations[place].params["index"] for place in places])
        if found is None:
            return self._column(loop, self._gathered(int(sources[0]), places))
        axis, first, step, width, rest = found
        order = [axis, *[i for i in range(len(x.shape)) if i != axis]]
        if width is not None:  # windows along an axis, whose elements come last
            x = self.op(ops.windows, (x,), {"axis": axis, "size": width, "step": 1})
            order = [axis, *range(axis), len(x.shape) - 1, *range(axis + 1, len(x.shape) - 1)]
        plain = order == sorted(order)
        if not plain:
            x = self.op(ops.permute_dims, (x,), {"axes": tuple(order)})
        row = self._column(loop, Rows(x, first, step, plain))
        if all(entry is Ellipsis or entry == slice(None) for entry in rest):
            return row
        return self._step(loop, ops.getitem, (row,), {"index": rest}, old)

    def _gathered(self, number: int, places: list[int]) -> Rows:
        """Parts that are gathered, since they follow no order."""
        old = self.program.equations[places[0]]
        x = self.value(number)
        if x.size > COPIED or old.output.nbytes * len(places) > COPIED:
            raise UnfitError
        if not self.orders.plain(number) or not contiguous(x.shape, old.params["index"]):
            raise UnfitError
        numbers = np.arange(x.size).reshape(x.shape)
        chosen = self._constant([numbers[self.program.equations[place].params["index"]] for place in places])
        flat = self.op(ops.reshape, (x,), {"shape": (x.size,)})
        return Rows(self.op(ops.index, (flat, chosen), {"spec": (ARRAY,)}), 0, 1)

    def _rows(self, numbers: Numbers, copied: int | None = COPIED) -> Rows:
        """Values one after another, as rows of one value."""
        if (found := self._run(numbers)) is not None:
            return found
        values = [self.numbering.values[number] for number in numbers.tolist()]
        constants = [self.program.constants.get(value) for value in values]
        if all(array is not None and array.flags.c_contiguous for array in constants):
            return Rows(self._constant(constants), 0, 1)
        if copied is not None and values[0].nbytes * len(values) > copied:
            raise UnfitError(self._longest(numbers))
        if not all(self.orders.plain(number) for number in numbers.tolist()):
            raise UnfitError
        pieces = self._pieces(numbers)
        if pieces is None:
            shape = (len(values), *values[0].shape)
            given = tuple([self.value(number) for number in numbers.tolist()])
            return Rows(self.op(ops.stack, given, {"axis": 0}, shape), 0, 1)
        back = any((rows := self._run(piece)) is not None and rows.step < 0 for piece in pieces)
        parts = []
        for piece in reversed(pieces) if back else pieces:
            part = self._piece(piece[::-1] if back else piece)
            if part is None:
                raise UnfitError
            parts.append(part)
        sizes = tuple([part.shape[0] for part in parts])
        source = self.op(ops.concat, tuple(parts), {"axis": 0, "sizes": sizes})
        return Rows(source, len(values) - 1, -1) if back else Rows(source, 0, 1)

    def _run(self, numbers: Numbers) -> Rows | None:
        """Values that are rows of one value as they are: what a loop has stacked, or an array that is taken apart."""
        first, second = numbers[:2].tolist() if len(numbers) > 1 else (int(numbers[0]), int(numbers[0]) + 1)
        apart = second - first
        if not apart or (np.diff(numbers) != apart).any() or (maker := self.numbering.maker(first)) is None:
            return None
        place = self.numbering.makers[first]
        loop = self.home.get(place)
        if loop is not None:
            repeat = loop.repeat
            last = int(numbers[-1])
            if not repeat.base <= last < repeat.base + repeat.made * repeat.count or self._is_view(place):
                return None
            several = repeat.several if apart % repeat.made else 1
            step, left = divmod(apart, repeat.made // several)
            if left:
                return None
            begun, output = divmod(first - repeat.base, repeat.made // several)
            source = loop.stack(output) if several == 1 else self._interleaved(loop, output)
            row = loop.repeat.count * several - 1 - begun if loop.reverse else begun
            return Rows(source, row, step * (-1 if loop.reverse else 1))
        if maker.name != "unbind" or self.numbering.makers[int(numbers[-1])] != place:
            return None
        axis = maker.params["axis"] % len(maker.inputs[0].shape)
        x = self.value(self.numbering.inputs(place)[0])
        order = [axis, *[i for i in range(len(x.shape)) if i != axis]]
        if axis:
            x = self.op(ops.permute_dims, (x,), {"axes": tuple(order)})
        return Rows(x, first - self.numbering.first_output[place], apart, not axis)

    def _interleaved(self, loop: LoopInMaking, output: int) -> Value:
        """The results of all steps of what was found, several of which are one step."""
        repeat = loop.repeat
        parts = [loop.stack(output + repeat.made // repeat.several * place) for place in range(repeat.several)]
        one = self.op(ops.stack, tuple(parts[::-1] if loop.reverse else parts), {"axis": 1},
                      (repeat.count, repeat.several, *parts[0].shape[1:]))  # fmt: skip
        return self.op(ops.reshape, (one,), {"shape": (repeat.count * repeat.several, *parts[0].shape[1:])})

    def _longest(self, numbers: Numbers) -> tuple[int, int] | None:
        """From where to where most values are what a loop makes, one after another; None if all are, or none."""
        homes = [None if (loop := self._home(number)) is None else loop.place for number in numbers]
        apart = np.diff(numbers)
        best, start = (0, 0), 0
        for stop in range(1, len(numbers) + 1):
            if homes[start] is None:
                start = stop
            elif stop == len(numbers) or homes[stop] != homes[start] or apart[stop - 1] != apart[start]:
                best = max(best, (start, stop), key=lambda span: span[1] - span[0])
                start = stop
        return best if 1 < best[1] - best[0] < len(numbers) else None

    def _pieces(self, numbers: Numbers) -> list[Numbers] | None:
        """Values cut where they stop to be rows of one value; None if there are many pieces."""
        cuts = [0]
        apart = np.diff(numbers)
        while cuts[-1] < len(numbers):
            start = cuts[-1]
            if len(cuts) > PIECES:
                return None
            stop = start + 1
            if (loop := self._home(numbers[start])) is not None:
                while stop < len(numbers) and apart[stop - 1] == apart[start] and self._home(numbers[stop]) is loop:
                    stop += 1
                if self._run(numbers[start:stop]) is None and self._seen(numbers[start:stop]) is None:
                    stop = start + 1
            cuts.append(stop)
        return [numbers[start:stop] for start, stop in itertools.pairwise(cuts)]

    def _home(self, number: Any) -> LoopInMaking | None:
        """The loop that makes a value."""
        return self.home.get(self.numbering.makers[int(number)])

    def _piece(self, numbers: Numbers) -> Value | None:
        """A few values as rows of one."""
        if len(numbers) == 1:
            return self.op(ops.expand_dims, (self.value(int(numbers[0])),), {"axis": 0})
        rows = self._run(numbers)
        return self._seen(numbers) if rows is None else self._cut(rows, len(numbers))

    def _seen(self, numbers: Numbers) -> Value | None:
        """Views of what a loop has stacked, as one view of the stack, for what is known how."""
        if not (views := self._views(numbers)):
            return None
        old = self.program.equations[views[0]]
        if any(self._differ(old, self.program.equations[place]) for place in views):
            return None
        source = self._piece(self._sources(views))
        params = _along(old, len(numbers))
        return None if source is None or params is None else self.op(old.primitive, (source,), params)

    def _cut(self, rows: Rows, count: int, *, reverse: bool = False) -> Value | None:
        """The rows of so many steps alone, in their order or the other way round; None if they would lie in another way."""
        low, high = rows.ends(count)
        source, step = rows.source, abs(rows.step)
        if (low, high, step) != (0, source.shape[0] - 1, 1):
            index = (slice(low, high + 1, step if step > 1 else None),)
            source = self.op(ops.getitem, (source,), {"index": index})
        if (rows.step < 0) == reverse or count == 1:
            return source
        return self.op(ops.flip, (source,), {"axis": (0,)}) if rows.plain else None

    # Values

    def value(self, number: int) -> Value:
        """What stands for a value of the program as it was."""
        found = self.now.get(number)
        if found is None:
            found = self.now[number] = self._value(number)
        return found

    def _value(self, number: int) -> Value:
        place = self.numbering.makers[number]
        loop = self.home.get(place)
        if loop is None:
            return self.numbering.values[number]
        old = self.program.equations[place]
        if self._is_view(place):
            source = self.value(self.numbering.inputs(place)[0])
            return self.op(old.primitive, (source,), old.params, old.output.shape)
        step, output = divmod(number - loop.repeat.base, loop.repeat.made)
        if step == loop.repeat.count - 1:
            one = self.numbering.values[number]
            return loop.end(output, self._zeros(one))
        shape = self.numbering.values[number].shape
        return self.op(ops.getitem, (loop.stack(output),), {"index": (loop.row(step), ...)}, shape)

    def op(self, primitive: Any, inputs: tuple[Value, ...], params: dict[str, Any], shape: Any = None) -> Value:
        """The result of an equation outside of loops."""
        key = (id(primitive), inputs, keys.of_metadata(params))
        if key not in self.known:
            if shape is None:
                ((shape, _),) = infer(primitive, inputs, params)
            found = self.known[key] = Value(tuple(shape), inputs[0].dtype)
            self.equations.append(Equation(primitive, inputs, params, (found,)))
        return self.known[key]

    def _constant(self, arrays: Sequence[Any]) -> Value:
        array = np.stack(arrays)
        key = ("constant", keys.of_constant(array))
        if key not in self.known:
            self.known[key] = Value(array.shape, array.dtype)
            self.constants[self.known[key]] = array
        return self.known[key]

    def _zeros(self, like: Value) -> Value:
        return self._constant_of(np.zeros(like.shape, like.dtype))

    def _constant_of(self, array: Any) -> Value:
        found = Value(array.shape, array.dtype)
        self.constants[found] = array
        return found


def _same(one: Any, other: Any) -> bool:
    return one is other or keys.of_entry(one) == keys.of_entry(other)


def _parts(shape: tuple[int, ...], indices: list[Any]) -> tuple[int, int, int, int | None, Any] | None:
    """Along which axis parts of an array follow one another, the first place, the step, and the width of a part, if it is a
    slice; and what is then left to index in each. None if they do not follow one another along one axis.
    """
    if any(type(index) is not tuple for index in indices):
        return None
    counting = [
        i for i, entries in enumerate(zip(*indices, strict=True)) if any(not _same(e, entries[0]) for e in entries)
    ]
    if len(counting) != 1:
        return None
    (entry,) = counting
    first = indices[0]
    before = sum([each is not None and each is not Ellipsis for each in first[:entry]])
    axis = before
    if Ellipsis in first[:entry]:
        axis = len(shape) - sum([each is not None for each in first[entry:]])
    whole = [index[entry] for index in indices]
    width: int | None = None
    if type(whole[0]) is int:
        places = [range(shape[axis])[each] for each in whole]
        rest = (*first[:entry], *first[entry + 1 :])
    else:
        spans = [each.indices(shape[axis]) for each in whole]
        places = [span[0] for span in spans]
        lengths = {span[1] - span[0] for span in spans}
        if len(lengths) > 1 or (width := lengths.pop()) < 1:
            return None
        rest = (*first[:entry], slice(None, None, spans[0][2] if spans[0][2] != 1 else None), *first[entry + 1 :])
    step = places[1] - places[0]
    if not step or any(b - a != step for a, b in itertools.pairwise(places)):
        return None
    return axis, places[0], step, width, rest


def _along(old: Equation, count: int) -> dict[str, Any] | None:
    """The metadata of a view of rows, from those of a view of one."""
    params = dict(old.params)
    if old.name == "getitem" and type(params["index"]) is tuple:
        return {"index": (slice(None), *params["index"])}
    if old.name == "reshape":
        return {"shape": (count, *old.output.shape)}
    if old.name == "permute_dims":
        return {"axes": (0, *[axis % len(params["axes"]) + 1 for axis in params["axes"]])}
    return params if old.name == "matrix_transpose" else None
