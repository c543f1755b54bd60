"""A C file in the making: what its functions share, and the steps of each as calls of functions for nests and products."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from ..machine.assembly import AssembledStep
from ..machine.elements import KINDS
from ..machine.forms import Form, form
from ..machine.fusion import Loops, MatrixProduct, Steps
from ..machine.indices import strides
from ..machine.likeness import factors
from ..machine.nests import Layout, Root, ScalarNode
from ..machine.ranges import accumulated, partial
from ..mathematics.lanes import Target
from ..program import Array, Value
from ..statements import described
from . import coded, loops, products
from .assembly import PlannedSteps
from .code import CodeBlock, Rendered, remark
from .functions import MathFunctions
from .nests import NestWriter
from .turned import TurnedNestWriter, turns
from .words import STORED, TYPES, CContext, literal

if TYPE_CHECKING:
    from .bound import Slot


APART = 64
"""Multiplications, or elements of a loop nest, from which on a function is no part of the one that calls it."""


class ExportOptions(TypedDict, total=False):
    """The options of `pullback.export`, which are those of `Compiled.export`."""

    name: str | None
    math: str
    fma: bool
    products: str
    work: str
    parameters: str


class Options(NamedTuple):
    """How a file is written."""

    name: str | None = None
    math: str = "own"
    fma: bool = False
    products: str = "loops"
    work: str = "argument"
    parameters: str = "passed"
    abi: str = "plain"

    def checked(self) -> Options:
        """These, if each is one that is known."""
        known = {
            "math": ("own", "libm"),
            "products": ("loops", "cblas"),
            "work": ("argument", "static"),
            "parameters": ("passed", "embedded"),
            "abi": ("plain", "casadi"),
        }
        for option, values in known.items():
            if (given := getattr(self, option)) not in values:
                raise ValueError(f"export: {option}={given!r} is not known: use {' or '.join(map(repr, values))}")
        return self

    @property
    def static(self) -> bool:
        """Whether work memory belongs to the function."""
        return self.work == "static"


class Unit:
    """What the functions of a file share: the state, nests, products, constants, mathematical functions."""

    def __init__(self, prefix: str, options: Options, state: Sequence[Slot] = ()) -> None:
        self.prefix, self.options, self.state = prefix, options, state
        self.functions = MathFunctions(Target(fma=options.fma), own=options.math == "own")
        self.texts: dict[str, str] = {}
        self.heads: dict[str, str] = {}
        self.products: dict[Form, str] = {}
        self.constants: dict[tuple[str, bytes], tuple[str, str]] = {}

    @property
    def draws(self) -> bool:
        """Whether the state has a generator, which the file can seed."""
        return any(slot.generates for slot in self.state)

    @property
    def blas(self) -> bool:
        """Whether larger products are calls of BLAS."""
        return self.options.products == "cblas"

    def shared(self, text: str, kind: str = "static void", *, checked: bool = False) -> str:
        """The name of a function whose text, but for its name, is this; equal ones are one. One that checks returns a code."""
        if text not in self.texts:
            name = f"{self.prefix}_{'checked' if checked else 'loop'}{len(self.texts)}"
            self.texts[text] = name
            self.heads[text] = f"{'static int' if checked else kind} {name}"
        return self.texts[text]

    def constant(self, array: Array) -> str:
        """The name of an array of numbers."""
        kind = KINDS[array.dtype]
        flat = np.ascontiguousarray(array).reshape(-1)
        key = kind, flat.tobytes()
        known = self.constants.get(key)
        if known is None:
            name = f"{self.prefix}_constant{len(self.constants)}"
            text = f"static const {STORED[kind]} {name}[{flat.size}] = {{\n{numbers(kind, flat)}\n}};\n"
            known = self.constants[key] = name, text
        return known[0]


def numbers(kind: str, flat: Array) -> str:
    """The numbers of an array as lines of an initializer."""
    texts = [literal(kind, x) for x in flat.tolist()]
    each = 16 if kind in {"b1", "u8", "i8"} else 8 if kind != "d" else 4
    return ",\n".join("    " + ", ".join(texts[start : start + each]) for start in range(0, len(texts), each))


class FunctionWriter:
    """Writes the steps of one function. `names` are the texts of pointers to inputs and outputs."""

    def __init__(self, unit: Unit, title: str, steps: PlannedSteps, names: dict[Value, str]) -> None:
        self.unit, self.title, self.names = unit, title, dict(names)
        self.taken = {*names.values()}
        self.rooms: dict[str, tuple[str, int]] = {}
        self.plan = steps
        self.block = CodeBlock()
        self.failures: list[str] = []
        self.local: set[str] = set()
        self._count = 0

    def write(self) -> list[str]:
        """The lines of the body."""
        self.steps(self.plan)
        self.block.say("return 0;")
        return Rendered(self.block, TYPES, set()).lines

    # Names

    def fresh(self, letter: str) -> str:
        """A name that is used once in the function."""
        self._count += 1
        name = f"{letter}{self._count}"
        return self.fresh(letter) if name in self.taken else name

    def numbered(self, write: Callable[[], None]) -> None:
        """Write a function of its own, whose names begin anew."""
        before, self._count = self._count, 0
        write()
        self._count = before

    def room(self, name: str, kind: str, size: int) -> str:
        """Work memory of a name, for at least so many numbers."""
        if name in self.local:
            return name
        _, known = self.rooms.get(name, (kind, 0))
        self.rooms[name] = kind, max(known, size)
        return f"work->{name}"

    def words(self) -> CContext:
        """The context of values that are computed here."""
        return CContext(self.block, self.unit.functions, self.unit.functions.target)

    def address(self, key: Any) -> str:
        """The text of the pointer to a value, or to the partial results of a root."""
        known = self.names.get(key)
        if known is not None:
            return known
        if isinstance(key, Value) and key in self.plan.constants:
            return self.unit.constant(self.plan.constants[key])
        for place, value in self.plan.written_in_place.items():
            if value is key:
                return self.address(self.plan.program.inputs[place])
        kind, start = self.plan.found[key]
        text = self.room(f"{self.plan.name or 'w'}{kind}", kind, self.plan.rooms[kind])
        return f"{text} + {start}" if start else text

    def element(self, value: Value, place: str = "0") -> str:
        """The text of an element of a value."""
        text = self.address(value)
        return f"({text})[{place}]" if " " in text else f"{text}[{place}]"

    @contextlib.contextmanager
    def inside(self, *head: Any) -> Iterator[CodeBlock]:
        """A block in which is written."""
        outer = self.block
        self.block = outer.inner(*head)
        try:
            yield self.block
        finally:
            self.block = outer

    # Steps

    def steps(self, plan: PlannedSteps) -> None:
        """Write the steps of a program."""
        outer, self.plan = self.plan, plan
        self._check(-1)
        for number, piece in enumerate(plan.pieces):
            self.block.say(f"/* {self._said(piece)} */")
            self._step(piece)
            self._check(number)
        for place, value in plan.program.writes:
            if place not in plan.written_in_place:
                self.copy(self.address(plan.program.inputs[place]), self.address(value), value)
        self.plan = outer

    def copy(self, target: str, source: str, value: Value) -> None:
        """Write a copy of a value's elements."""
        if value.size:
            self.block.say(f"memcpy({target}, {source}, {value.size} * sizeof({STORED[KINDS[value.dtype]]}));")

    def _step(self, piece: AssembledStep) -> None:
        step = piece.step
        if piece.layout is not None:
            self._nest(piece.layout)
            for root in piece.layout.roots:
                if partial(root, piece.layout, 1):
                    self._nest(self._together(root, piece.layout))
        elif isinstance(step, MatrixProduct):
            self._product(step)
        elif not isinstance(step, Loops):
            offsets = step.offsets if isinstance(step, Steps) else None
            writer = loops.WRITERS.get(step.equation.name)
            if writer is not None:
                writer(self, piece, step.equation, offsets)
            else:
                coded.write(self, step.equation)

    def _said(self, piece: AssembledStep) -> str:
        """The operations of a step, and the lines of the user's program that they come from."""
        step = piece.step
        if isinstance(step, Loops):
            makers = self.plan.planner.makers
            made = [root.value for root in step.nest.roots if root.how]
            equations = [makers[value] for value in (*step.nest.inlined, *made) if value in makers]
            order = {e: number for number, e in enumerate(self.plan.program.equations)}
            equations.sort(key=lambda e: order.get(e, 0))
        else:
            equations = [step.equation]
        names = [*dict.fromkeys(e.name for e in equations)] or ["copy"]
        sites = [*dict.fromkeys(described(e.site)[0].lstrip("# ") for e in equations if e.site)]
        more = f", and {len(sites) - 2} other lines" if len(sites) > 2 else ""
        text = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
        said = f"{text}: {'; '.join(sites[:2])}{more}" if sites else text
        return remark(said)

    def _nest(self, layout: Layout) -> None:
        """A loop nest as a function, whose pointers do not alias; a nest without loops is written here."""
        late = frozenset(self.plan.written_in_place.values())
        if not layout.domain:
            with self.inside("") as block:
                writer = NestWriter(self.unit.functions, block, layout, self._plain, late)
                writer.emit()
                written = writer.written
            lines = Rendered(block, TYPES, written, self.taken).lines
            block.statements = [(line[4:],) for line in lines]
            return
        names: dict[str, str] = {}
        kinds: dict[str, str] = {}

        def address(key: Any) -> str:
            text = self.address(key)
            name = names.setdefault(text, f"p{len(names)}")
            kinds[name] = accumulated(key, layout) if isinstance(key, Root) else KINDS[key.dtype]
            return name

        body = CodeBlock()
        kind = TurnedNestWriter if turns(layout, self.unit.functions) else NestWriter
        writer = kind(self.unit.functions, body, layout, address, late)
        writer.emit()
        lines = Rendered(body, TYPES, writer.written).lines
        read = {text: name for text, name in names.items() if any(re.search(rf"\b{name}\b", line) for line in lines)}
        given = [
            f"{'' if name in writer.written else 'const '}{STORED[kinds[name]]} *PB_RESTRICT {name}"
            for name in read.values()
        ]
        head = "PB_APART void" if math.prod(layout.domain) >= APART else "static void"
        name = self.unit.shared("\n".join([f"({', '.join(given)})", "{", *lines, "}", ""]), head)
        self.block.say(f"{name}({', '.join(read)});")

    def _plain(self, key: Any) -> str:
        """The pointer to a value as what an index can follow."""
        text = self.address(key)
        return f"({text})" if " " in text else text

    def _together(self, root: Root, layout: Layout) -> Layout:
        """The nest that converts partial results to a result."""
        kind = accumulated(root, layout)
        dtype = next(dtype for dtype, other in KINDS.items() if other == kind)
        size = root.value.size
        parts = Value((1, size), dtype)
        self.names[parts] = self.address(root)
        kept, domain = ([0], [size]) if size > 1 else ([], [])
        terms = tuple([(axis, 1) for axis in kept])
        node = ScalarNode("load", dtype, frozenset(kept), (), (parts, (0, terms)), 0)
        params = (("dtype", root.value.dtype),)
        node = ScalarNode("apply", root.value.dtype, node.axes, (node,), ("astype", (dtype,), params), 0)
        return Layout(domain, [Root(root.value, root.value, node=node, at=(0, terms))], 0, len(domain) - 1, 1, [node])

    def _check(self, step: int) -> None:
        """Return the number of a check that fails, after the step that computes it."""
        for _, value, expected in self.plan.guards.get(step, ()):
            known = CContext(CodeBlock(), self.unit.functions, self.unit.functions.target).number(
                KINDS[value.dtype], expected
            )
            text = known.value.parts[0]
            self.block.say(f"if ({self.element(value)} != {text}) return {self.failure(self._checked(value))};")

    def failure(self, about: str) -> int:
        """The number that is returned where a check fails."""
        if about not in self.failures:
            self.failures.append(about)
        return self.failures.index(about) + 1

    def _checked(self, value: Value) -> str:
        """What a check is about: the line of the operation that needs it."""
        makers, waiting, seen = self.plan.program.makers(), [value], {value}
        while waiting:
            maker = makers.get(waiting.pop(0))
            if maker is not None and maker.site is not None:
                return f"{maker.name}: {described(maker.site)[0].lstrip('# ')}"
            fresh = [x for x in (maker.inputs if maker else ()) if x not in seen]
            seen.update(fresh)
            waiting += fresh
        return "indices in range, or a value as it was recorded"

    def _product(self, step: MatrixProduct) -> None:
        """A matrix product as a call of the function for its form, for each batch."""
        how = form(step)
        addresses = [self.address(value) for value in factors(step)]
        size = how.left.rows * how.right.columns
        ends = [how.left.offset, how.right.offset, 0]
        terms: list[list[str]] = [[str(end)] if end else [] for end in ends]
        with contextlib.ExitStack() as stack:
            axes = zip(how.batch, how.left.batch, how.right.batch, strides(how.batch), strict=True)
            for count, left, right, out in axes:
                if count > 1:
                    index = self.fresh("b")
                    stack.enter_context(self.inside(f"for (int {index} = 0; {index} < {count}; ++{index})"))
                    for place, each in enumerate((left, right, out * size)):
                        terms[place] += [f"{each} * {index}"] if each else []
            given = [" + ".join([text, *more]) for text, more in zip(addresses, terms, strict=True)]
            self.block.say(self.product(how.from_start, given))

    def product(self, known: Form, given: list[str]) -> str:
        """The call of the function of a form, which is given its factors and its result."""
        name = self.unit.products.setdefault(known, f"{self.unit.prefix}_product{len(self.unit.products)}")
        if room := products.packed(known, blas=self.unit.blas):
            given = [*given, self.room(f"packed_{known.kind}", known.kind, room)]
        return f"{name}({', '.join(given)});"
