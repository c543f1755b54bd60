"""Modules: the LLVM code of a program.

All steps are one function of the table of addresses, because each function costs LLVM a millisecond; if some steps run in
Python, the steps between those are. Steps that threads share are functions, too. Single loops that differ only in their length
and in addresses, such as the updates of all parameters, share their code, and so do other nests that differ only in addresses,
such as the steps of a loop in Python, if there are several. Of a long program, steps that share their code are rows of tables
(`sequences`), and the others functions of some dozens.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Sequence

from llvmlite import ir

from ..program import Value
from .assembly import AssembledStep, Assembly, Stage
from .clocks import Clock
from .elements import KINDS
from .forms import Form, form
from .fusion import MatrixProduct, Own, Steps
from .likeness import Likeness, factors, is_single, of_nest, of_product
from .linking import TABLE_ARGUMENT, LinkedModule, address_at, linked
from .llvm import LONG, POINTER, long
from .loops import Emitter
from .nests import Layout, Root, ScalarNode
from .products import ProductEmitter
from .ranges import accumulated, partial
from .registers import LoopEmitter
from .repeating import RepeatEmitter
from .scattering import ScatterEmitter
from .sequences import LEAST, StepCall, write_sequence, write_table
from .solving import SolutionEmitter
from .writing import Writer

STATUS = ir.IntType(32)
ALIKE = 4
"""The number of nests of several loops from which on they share code: inlined, each is a little quicker."""
PART = 48
"""The number of steps that are a function, where there are many: LLVM's time grows faster than the size of a function."""


class ModuleWriter:
    """Writes the code of a program."""

    def __init__(self, assembly: Assembly, *, clock: Clock | None = None) -> None:
        self.assembly, self.prefix, self.clock = assembly, "", clock
        self.module = LinkedModule()
        self.late = frozenset(assembly.written_in_place.values())
        self.likenesses = {piece: self._likeness(piece) for piece in assembly.pieces}
        self.alike = Counter(like.key for like in self.likenesses.values() if like.key is not None)
        self.shared: dict[Hashable, ir.Function] = {}

    def _likeness(self, piece: AssembledStep) -> Likeness:
        if isinstance(piece.step, MatrixProduct):
            return of_product(piece.step)
        return of_nest(piece.layout, piece.count, self.late) if piece.layout else Likeness(None)

    def _inside(self, piece: AssembledStep, body: Assembly) -> ModuleWriter:
        """The writer of a loop's body, in the same module."""
        inner = ModuleWriter(body)
        inner.module, inner.prefix = self.module, f"{self.prefix}{piece.name}_"
        return inner

    def write(self) -> str:
        """The text of the module."""
        for stage in self.assembly.stages:
            self.run(stage)
        return self.module.finished()

    # Steps

    def _piece(self, builder: ir.IRBuilder, piece: AssembledStep) -> None:
        """Write the code of a step."""
        if isinstance(piece.step, MatrixProduct):
            self._product(builder, piece, piece.step)
        elif isinstance(piece.step, Steps):
            self._loop(builder, piece, piece.step)
        elif isinstance(piece.step, Own):
            equation = piece.step.equation
            addresses = [self._address(builder, x) for x in (*equation.inputs, equation.output)]
            emitter = SolutionEmitter if equation.name == "solve_triangular" else ScatterEmitter
            emitter(builder, equation).emit(*addresses)
        elif piece.layout is not None:
            self._nest(builder, piece, piece.layout)

    def _loop(self, builder: ir.IRBuilder, piece: AssembledStep, step: Steps) -> None:
        """Write a loop of the program: in registers, or as calls of a function for its body."""
        equation, inputs = step.equation, []
        for value, elements in zip(equation.inputs, step.offsets, strict=True):
            slot, offset = self.assembly.place(value)
            inputs.append(address_at(builder, slot, offset + elements * value.dtype.itemsize))
        outputs = [self._address(builder, value) for value in equation.outputs]
        if piece.body is None:
            LoopEmitter(builder, equation, inputs, outputs).emit()
        else:
            function = self._inside(piece, piece.body)
            constants = [self._address(builder, value) for value in piece.body.constants]
            room = self._address(builder, piece)
            one = function.run(*piece.body.stages)
            RepeatEmitter(builder, equation, piece.body, one, room).emit(inputs, outputs, constants)

    def _product(self, builder: ir.IRBuilder, piece: AssembledStep, step: MatrixProduct) -> None:
        """Write a matrix product; if threads share it, its function is written once for each form."""
        how, values = form(step), factors(step)
        if not how.shared:
            ProductEmitter(builder, how, [self._address(builder, value) for value in values]).emit()
            return
        function = self.shared.get(how)
        if function is None:
            some = self._begun(f"shared_{len(self.shared)}", [POINTER, LONG, LONG])
            ProductEmitter(some, how, [address_at(some, place, 0) for place in range(3)]).emit_parts(
                *some.function.args[1:]
            )
            some.ret_void()
            function = self.shared[how] = some.function
        self._share(
            builder,
            how.sharing,
            function,
            self._table(builder, Likeness(how, values, (0, 0, 0))),
            piece.count if piece.threaded else 1,
        )

    @staticmethod
    def _share(builder: ir.IRBuilder, how: str, function: ir.Function, table: ir.Value, count: int) -> None:
        """Write a call that lets threads share a function's chunks."""
        share = linked(builder, how, ir.FunctionType(ir.VoidType(), [POINTER, POINTER, LONG]))
        builder.call(share, [builder.bitcast(function, POINTER), table, long(count)])

    def _nest(self, builder: ir.IRBuilder, piece: AssembledStep, layout: Layout) -> None:
        """Write a loop nest: one range or several chunks, and the code that combines results of chunks."""
        function, like = self._range(piece, layout)
        table = self._table(builder, like)
        first = long(layout.domain[0] if layout.domain else 1)
        if function is None:
            self._emit(builder, layout)
        elif piece.count == 1:
            builder.call(function, [table, long(0), first, long(0)])
        elif not piece.threaded:
            self._chunks(builder, function, table, 0, piece.count, piece)
        else:
            some = self._begun(f"{piece.name}_chunks", [POINTER, LONG, LONG])
            begin, end = some.function.args[1:]
            self._chunks(some, function, some.function.args[0], begin, end, piece)
            some.ret_void()
            self._share(builder, "share", some.function, table, piece.count)
        for root in layout.roots:
            if partial(root, layout, piece.count):
                self._emit(builder, self._together(root, layout, piece.count))

    def _emit(self, builder: ir.IRBuilder, layout: Layout, count: int = 1) -> None:
        Emitter(builder, layout, self.assembly.place, self.late, count=count).emit()

    def _range(self, piece: AssembledStep, layout: Layout) -> tuple[ir.Function | None, Likeness | None]:
        """The function of a loop over a range, None if inlined; and the addresses that it takes, None for the whole table."""
        key, values, starts = like = self.likenesses[piece]
        arguments, single = [POINTER, LONG, LONG, LONG], is_single(layout)
        if not self._shares(piece):
            if piece.count == 1:
                return None, None
            builder = self._begun(f"{piece.name}_range", arguments)
            self._emit(builder, layout, piece.count)
            builder.ret_void()
            return builder.function, None
        function = self.shared.get(key)
        if function is None:
            numbers: dict[Hashable, tuple[int, int]] = {
                value: (number, -starts[number]) for number, value in enumerate(values)
            }
            builder = self._begun(f"shared_{len(self.shared)}", arguments)
            Emitter(builder, layout, numbers.__getitem__, self.late, count=piece.count, any_length=single).emit()
            builder.ret_void()
            function = self.shared[key] = builder.function
        return function, like

    @staticmethod
    def _chunks(
        builder: ir.IRBuilder,
        function: ir.Function,
        table: ir.Value,
        begin: ir.Value,
        end: ir.Value,
        piece: AssembledStep,
    ) -> None:
        """Write a loop over chunks."""
        assert piece.layout is not None
        write = Writer(builder)
        with write.loop(write.number(begin), write.number(end)) as number:
            start = number * piece.chunk
            stop = (start + piece.chunk).at_most(piece.layout.domain[0])
            write.call(function, write.array(table), start, stop, number)

    def _table(self, builder: ir.IRBuilder, like: Likeness | None) -> ir.Value:
        """The table of addresses that a function gets: the program's, or one on the stack."""
        if like is None:
            return builder.function.args[0]
        table = write_table(builder, len(like.values))
        for number, place in enumerate(self._places(like)):
            builder.store(address_at(builder, *place), table.at(number).value, align=8)
        return table.value

    def _places(self, like: Likeness) -> list[tuple[int, int]]:
        """The slots and offsets of the addresses that shared code takes."""
        places = map(self.assembly.place, like.values)
        return [(slot, offset + start) for (slot, offset), start in zip(places, like.starts, strict=True)]

    def _together(self, root: Root, layout: Layout, count: int) -> Layout:
        """The layout of the nest that combines results of chunks."""
        kind = accumulated(root, layout)
        dtype = next(dtype for dtype, other in KINDS.items() if other == kind)
        size = root.value.size
        parts = Value((count, size), dtype)
        places = self.assembly.memory.places
        places[parts] = places[root]
        kept, domain = ([0], [size]) if size > 1 else ([], [])
        terms = tuple([(axis, 1) for axis in kept])
        if count == 1:
            node = ScalarNode("load", dtype, frozenset(kept), (), (parts, (0, terms)), 0)
            params = (("dtype", root.value.dtype),)
            node = ScalarNode("apply", root.value.dtype, node.axes, (node,), ("astype", (dtype,), params), 0)
            final = Root(root.value, root.value, node=node, at=(0, terms))
            return Layout(domain, [final], 0, len(domain) - 1, 1, [node])
        axis = len(domain)
        part = ScalarNode("load", dtype, frozenset([*kept, axis]), (), (parts, (0, (*terms, (axis, size)))), 0)
        node = ScalarNode("reduce", root.value.dtype, frozenset(kept), (part,), (root.how, frozenset([axis])), 1)
        final = Root(root.value, parts, root.how, node=node, at=(0, terms), reduced=frozenset([axis]))
        return Layout([*domain, count], [final], 0, 0, 1, [part, node])

    # Guards, writes and entry points

    def _check(self, builder: ir.IRBuilder, step: int) -> None:
        """Return from the program's function if a guard that is known after a step fails."""
        for number, value, expected in self.assembly.guards.get(step, ()):
            ir_value = Writer(builder, KINDS[value.dtype]).array(self._address(builder, value)).one()
            good, bad = builder.function.append_basic_block(), builder.function.append_basic_block()
            builder.cbranch((ir_value == expected).value, good, bad)
            ir.IRBuilder(bad).ret(STATUS(number + 1))
            builder.position_at_end(good)

    def _end(self, builder: ir.IRBuilder) -> None:
        """Copy to inputs what was not computed in their memory."""
        write = Writer(builder)
        for place, value in self.assembly.program.writes:
            if place not in self.assembly.written_in_place:
                source = write.array(self._address(builder, value))
                write.copy(write.array(address_at(builder, place, 0)), source, value.nbytes)

    def run(self, stage: Stage) -> ir.Function:
        """The function of a stage, which is the whole program if no step runs in Python."""
        builder = self._begun(stage.name, [POINTER], STATUS)
        self._check(builder, stage.before)
        self._mark(builder, stage.before)
        (self._steps if len(stage.steps) <= 2 * PART else self._long)(builder, stage.steps)
        if stage is self.assembly.stages[-1]:
            self._end(builder)
        builder.ret(STATUS(0))
        return builder.function

    def _long(self, builder: ir.IRBuilder, steps: Sequence[int]) -> None:
        """Write many steps: sequences of those that share their code, and parts with the others."""
        others: list[int] = []
        for row, group in itertools.groupby(steps, self._repeats):
            numbers = [*group]
            if not row or len(numbers) < LEAST:
                others += numbers
                continue
            self._parts(builder, others)
            others = []
            write_sequence(builder, [self._call(self.assembly.pieces[number]) for number in numbers])
        self._parts(builder, others)

    def _shares(self, piece: AssembledStep) -> bool:
        """Whether a step shares its code with others."""
        key, single = self.likenesses[piece].key, piece.layout is not None and is_single(piece.layout)
        return key is not None and self.alike[key] >= (2 if single else ALIKE)

    def _repeats(self, number: int) -> bool:
        """Whether a step can be a row of a sequence: it shares its code, is not cut, and nothing is checked or timed after it."""
        piece = self.assembly.pieces[number]
        return self.clock is None and piece.count == 1 and number not in self.assembly.guards and self._shares(piece)

    def _call(self, piece: AssembledStep) -> StepCall:
        """A step that shares its code, as a call."""
        like = self.likenesses[piece]
        if piece.layout is None:
            return StepCall(self._multiplying(like.key), self._places(like), 0)
        function, _ = self._range(piece, piece.layout)
        return StepCall(function, self._places(like), piece.layout.domain[0])

    def _multiplying(self, how: Form) -> ir.Function:
        """The function of products of a form."""
        function = self.shared.get(how)
        if function is None:
            builder = self._begun(f"shared_{len(self.shared)}", [POINTER, LONG, LONG, LONG])
            ProductEmitter(builder, how, [address_at(builder, place, 0) for place in range(3)]).emit()
            builder.ret_void()
            function = self.shared[how] = builder.function
        return function

    def _parts(self, builder: ir.IRBuilder, numbers: list[int]) -> None:
        """Write functions for steps, and calls of them."""
        for start in range(0, len(numbers), PART):
            self._part(builder, numbers[start : start + PART])

    def _part(self, builder: ir.IRBuilder, numbers: Sequence[int]) -> None:
        """Write a function for some steps, and a call of it."""
        own = self._begun(f"part_{numbers[0]}", [POINTER], STATUS)
        self._steps(own, numbers)
        own.ret(STATUS(0))
        status = builder.call(own.function, [builder.function.args[0]])
        if any(number in self.assembly.guards for number in numbers):
            with builder.if_then(builder.icmp_signed("!=", status, STATUS(0))):
                builder.ret(status)

    def _steps(self, builder: ir.IRBuilder, numbers: Sequence[int]) -> None:
        """Write steps, and the checks of guards that are known after each."""
        for number in numbers:
            self._piece(builder, self.assembly.pieces[number])
            self._mark(builder, number)
            self._check(builder, number)

    def _mark(self, builder: ir.IRBuilder, number: int) -> None:
        """Write down the time after a step, where that is asked for."""
        if self.clock is not None:
            self.clock.emit(builder, number)

    def _address(self, builder: ir.IRBuilder, key: Hashable) -> ir.Value:
        """The address of a value, or of the partial results of a root."""
        return address_at(builder, *self.assembly.place(key))

    def _begun(self, name: str, arguments: list[ir.Type], result: ir.Type | None = None) -> ir.IRBuilder:
        """A builder of a function that can be called from outside."""
        function = ir.Function(self.module, ir.FunctionType(result or ir.VoidType(), arguments), self.prefix + name)
        function.args[0].name = TABLE_ARGUMENT
        return ir.IRBuilder(function.append_basic_block())
