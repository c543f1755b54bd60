"""The builder: a program written anew, equation by equation, each simplified as it is placed.

One sweep does the work of many passes. An equation comes with its inputs already simplified; the rules of its primitive
are asked for a value that is the same; if none has one, it is computed where all its inputs are constants, shared where
the same equation was placed before, and placed. Rules place what they need in the same way. So every rule sees the
simplest form of what stands before it, and no pass is run twice.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import ops
from ..._core.modes import quiet
from .. import keys
from ..definitions import read
from ..inference import infer
from ..program import LOOPS, Array, Equation, Program, Value, effectful

if TYPE_CHECKING:
    from ..._core.primitives import Primitive
    from ..._core.typing import Number, NumpyType, Params
    from ...observe import Site

Rule = Callable[["Builder", Equation], "Value | tuple[Value, ...] | None"]
"""What is the same as the output of an equation, or the outputs; None where the rule has nothing to say."""

Table = dict[str, tuple[Rule, ...]]

FOLDED = 1 << 10
"""Elements of the largest result that is computed in advance, whatever computes it."""

KEPT = 1 << 20
"""The same for a result by elements or by places that is at most twice as large as what it comes from, as cotangents are."""

RESHAPING = {"reshape", "permute_dims", "matrix_transpose", "expand_dims", "squeeze"}
"""Changes of shape that leave no gaps between the elements."""

UNFOLDED = {"broadcast_to", *LOOPS}
"""Operations whose results are not computed in advance: one is a view, the others take time."""


def with_bodies(entry: Any, change: Callable[[Program], Program]) -> Any:
    """Metadata with each program in them changed."""
    if isinstance(entry, Program):
        return change(entry)
    if isinstance(entry, dict):
        return {name: with_bodies(each, change) for name, each in entry.items()}
    if isinstance(entry, tuple):
        changed = [with_bodies(each, change) for each in entry]
        return type(entry)(*changed) if hasattr(entry, "_fields") else tuple(changed)
    return entry


class Builder:
    """A program in the making.

    `strict` holds everything to the last bit. Which sums NumPy rounds how depends on the order of elements in memory, so
    a value may then take the place of another only if it has that order too: see `plain` and `dense`. `defined` says which
    equations are written as the definition of their primitive, and `inner` is what is done to programs within the program.
    """

    defined: Callable[[Equation], bool] | None = None

    def __init__(
        self,
        program: Program,
        rules: Table,
        *,
        strict: bool,
        fold: bool,
        share: bool,
        inner: Callable[[Program], Program],
    ) -> None:
        self.program, self.rules, self.inner = program, rules, inner
        self.strict, self.fold, self.share = strict, fold, share
        self.equations: list[Equation] = []
        self.makers: dict[Value, Equation] = {}
        self.constants: dict[Value, Array] = {}
        self.numbers: dict[Value, Value] = {}
        self.unread: list[tuple[Primitive, Exception]] = []
        self.site: Site | None = None
        self._alike: dict[Hashable, Value] = {}  # constants
        self._known: dict[Hashable, tuple[Value, ...]] = {}
        self._plain: set[Value] = set()
        self._dense: set[Value] = set()
        self._replaced: dict[Value, Value] = {}

    def rewrite(self) -> Program:
        """The program in its new form."""
        replaced = self._replaced
        for value, array in self.program.constants.items():
            if (same := self.constant(array, value)) is not value:
                replaced[value] = same
        for old in self.program.equations:
            equation = old
            if replaced:
                inputs = tuple([replaced.get(value, value) for value in old.inputs])
                if inputs != old.inputs:
                    equation = Equation(old.primitive, inputs, old.params, old.outputs, old.site)
            self.site = equation.site
            if equation.primitive.name in LOOPS:
                params = with_bodies(equation.params, self.inner)
                equation = replace(equation, params=params)  # of simpler bodies
            found = self.place(equation)
            if found is not equation.outputs:
                replaced.update(zip(equation.outputs, found, strict=True))
        ended = Program(self.program.inputs, tuple(self.equations), self.program.outputs, self.constants,
                        self.program.writes, self.program.guards)  # fmt: skip
        return ended if not replaced else with_ends(ended, replaced)

    # What is known of values

    def maker(self, value: Value, name: str) -> Equation | None:
        """The equation that makes a value, if it is one of that name."""
        equation = self.makers.get(value)
        return equation if equation is not None and equation.primitive.name == name else None

    def number(self, value: Value) -> Any:
        """The number that all elements of a value are known to be, a NumPy scalar; else None."""
        single = self.numbers.get(value)
        return None if single is None else self.constants[single][()]

    def plain(self, value: Value) -> bool:
        """Whether a value may stand for one that lies in memory in the order of its axes."""
        return not self.strict or value in self._plain or value.size < 2

    def dense(self, value: Value) -> bool:
        """Whether a value may stand for its copy, which has its order in memory without the gaps."""
        return self.plain(value) or value in self._dense

    def current(self, value: Value) -> Value:
        """What stands for a value of the program as it was."""
        return self._replaced.get(value, value)

    # What can be placed

    def constant(self, array: Array, value: Value | None = None) -> Value:
        """A constant; of two small ones that are equal there is one."""
        key = keys.of_constant(array)
        if self.share and key in self._alike:
            return self._alike[key]
        value = value or Value(array.shape, array.dtype)
        self.constants[value] = array
        self._alike[key] = value
        if array.flags.c_contiguous:
            self._plain.add(value)
        if array.size == 1:
            self.numbers[value] = value if not array.ndim else self.constant(array.reshape(()))
        return value

    def scalar(self, number: Number | np.generic, dtype: NumpyType) -> Value:
        """A number as a constant without axes."""
        return self.constant(quiet.run(np.asarray(number).astype, dtype))

    def op(self, name: str, *operands: Value | Number | np.generic, **params: Any) -> Value:
        """The only output of a new equation; Python numbers take the dtype of the operands."""
        outputs = self.several(name, *operands, **params)
        return outputs[0]

    def several(self, name: str, *operands: Value | Number | np.generic, **params: Any) -> tuple[Value, ...]:
        """The outputs of a new equation."""
        primitive = getattr(ops, name)
        values = tuple([x for x in operands if isinstance(x, Value)])
        if len(values) < len(operands):
            dtype = values[0].dtype
            values = tuple([x if isinstance(x, Value) else self.scalar(x, dtype) for x in operands])
        return self.apply(primitive, values, params)

    def apply(self, primitive: Primitive, values: tuple[Value, ...], params: Params) -> tuple[Value, ...]:
        """The outputs of a new equation of a primitive."""
        outputs = tuple([Value(shape, dtype) for shape, dtype in infer(primitive, values, params)])
        return self.place(Equation(primitive, values, params, outputs, self.site))

    def __getattr__(self, name: str) -> Callable[..., Value]:
        """`build.multiply(a, b)` is `build.op("multiply", a, b)`."""
        if name.startswith("_"):
            raise AttributeError(name)
        return partial(self.op, name)

    def place(self, equation: Equation) -> tuple[Value, ...]:
        """The outputs of an equation, simplified."""
        for rule in self.rules.get(equation.primitive.name, ()):
            found = rule(self, equation)
            if found is not None:
                return found if isinstance(found, tuple) else (found,)
        written = self.defined is not None and equation.primitive.definition is not None and self.defined(equation)
        if written and (parts := read(self, equation)) is not None:
            return parts
        if self.fold and (folded := self._folded(equation)):
            return folded
        if self.share and not effectful(equation):
            return self._shared(equation)
        return self._append(equation)

    def _folded(self, equation: Equation) -> tuple[Value, ...] | None:
        """The outputs as constants, where the inputs are constants, and the outputs small."""
        constants = self.constants
        for value in equation.inputs:
            if value not in constants:
                return None
        if not equation.inputs or equation.primitive.name in UNFOLDED or effectful(equation):
            return None
        size = sum(value.size for value in equation.outputs)
        if size > FOLDED and (
            size > min(KEPT, 2 * sum(value.size for value in equation.inputs)) or not _light(equation)
        ):
            return None
        arrays = [constants[value] for value in equation.inputs]
        try:
            made = quiet.run(equation.primitive.forward, *arrays, **equation.params)
        except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):
            return None  # it is for the one who runs the program to see it
        return tuple([self.constant(np.asarray(array)) for array in (made if type(made) is tuple else (made,))])

    def _shared(self, equation: Equation) -> tuple[Value, ...]:
        inputs = equation.inputs
        if equation.primitive.commutes and inputs[0].dtype.kind != "c" and id(inputs[0]) > id(inputs[1]):
            inputs = (inputs[1], inputs[0])
        key = (id(equation.primitive), inputs, keys.of_metadata(equation.params))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._append(equation)
        return known

    def shared(self, name: str, values: tuple[Value, ...]) -> Value | None:
        """The output of an equation without metadata, if it has been placed before."""
        known = self._known.get((id(getattr(ops, name)), values, keys.of_metadata({})))
        return known[0] if known else None

    def _append(self, equation: Equation) -> tuple[Value, ...]:
        self.equations.append(equation)
        for value in equation.outputs:
            self.makers[value] = equation
        name = equation.primitive.name
        if name in {"broadcast_to", "reshape", "permute_dims"}:
            single = self.numbers.get(equation.inputs[0])
            if single is not None and equation.output.size:
                self.numbers[equation.output] = single
        if self.strict:
            self._lay_out(equation, name)
        return equation.outputs

    def _lay_out(self, equation: Equation, name: str) -> None:
        """Note how the output lies in memory, where that is certain."""
        kind = equation.primitive.kind
        plain = self._plain
        if kind == "elementwise" and name != "clip":
            self._dense.add(equation.output)
            shape = equation.output.shape
            if all(value in plain for value in equation.inputs) and any(v.shape == shape for v in equation.inputs):
                plain.add(equation.output)
        elif name in RESHAPING and equation.inputs[0] in self._dense | plain:
            self._dense.add(equation.output)
            if name not in {"permute_dims", "matrix_transpose"} and equation.inputs[0] in plain:
                plain.add(equation.output)
        elif name == "astype" and equation.inputs[0] in plain:
            plain.add(equation.output)
        elif name in {"sum", "mean", "matmul", "astype"}:
            self._dense.add(equation.output)


def _light(equation: Equation) -> bool:
    """Whether an equation takes no more time than the elements of its inputs and outputs are many."""
    return equation.primitive.kind == "elementwise" or equation.name in {
        "astype",
        "getitem",
        "scatter_slice",
        *RESHAPING,
    }


def with_ends(program: Program, replaced: Mapping[Value, Value]) -> Program:
    """The program, which gives, writes and guards other values in the place of some."""

    def of(values: Iterable[Value]) -> tuple[Value, ...]:
        return tuple([replaced.get(value, value) for value in values])

    return program.changed(
        outputs=of(program.outputs),
        writes=tuple([(place, replaced.get(value, value)) for place, value in program.writes]),
        guards=tuple([(replaced.get(value, value), expected) for value, expected in program.guards]),
    )
