"""Bodies of loops inside transforms, recorded once for all levels.

A body runs on values of an interpreter of its own, above all transforms. So each operation on what the loop hands to it
arrives here, and is written down without derivatives or batches; what else it uses, of whatever level, becomes an input of
the body. The loop is then one operation on all of these, which each transform has a rule for. What would mean something else
to a transform than to the program, such as `detach`, is refused: such a loop runs step by step.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .. import Tensor
from .._core.modes import innermost, mode, under
from ..extend import Primitive
from ..func.batching import Batch
from ..func.forward import Forward
from ..func.levels import Level
from ..interpreters import Boxed, Interpreter
from ..observe import value as inside, version
from .parameters import stand_ins
from .program import Program
from .recorder import Recorded, Recorder
from .refusals import RefusedError

if TYPE_CHECKING:
    from .._core.typing import Array, Generator, Params, Result, Value
    from .._numerics.random import Draw

Leaves = list[Any]


STEPS = "the steps of a loop have to be seen"
"""Why a body is not written down. It is read by nobody: the loop inside its transforms then runs step by step."""


def recording() -> Recorder:
    """The recorder of the program, or of the body, that this thread records, beneath the transforms that it is in."""
    around: Any = innermost.get()
    while not isinstance(around, Recorder):
        if isinstance(around, Lifting):
            around = around.recorder
        elif isinstance(around, Level | Forward) or (isinstance(around, Batch) and around.past is None):
            around = around.around
        else:
            raise RefusedError("a loop is inside of something that sees each step")
    return around


class LiftedTensor(Boxed):
    """A value of a body."""

    __slots__ = ()

    def _cut_off(self, reason: str) -> NoReturn:
        raise RefusedError(STEPS)

    @property
    def requires_grad(self) -> bool:
        """Refused: it is not known yet."""
        raise RefusedError(STEPS)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        raise RefusedError(STEPS)


class Lifting(Interpreter):
    """The interpreter of a body: it writes down what is done with its values, and takes up what is used besides."""

    carrier = LiftedTensor

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder
        self.lifted: dict[int, tuple[Tensor, int, Recorded]] = {}
        self._grad = mode.get().grad

    def process(self, primitive: Primitive, args: Sequence[Value], params: Params) -> Result:
        """Write an operation down."""
        now = mode.get()
        if not self.entered or type(primitive) is not Primitive or now.grad is not self._grad or now.strong_zeros:
            raise RefusedError(STEPS)
        if stand_ins(params) or primitive.kind == "effect":
            raise RefusedError(STEPS)
        return self.box(primitive(*map(self.value_of, args), **params))

    def value_of(self, value: Value) -> Value:
        """A value as one of the body: what is from elsewhere becomes an input."""
        if self.holds(value):
            return inside(value)
        if not isinstance(value, Tensor):
            return value
        if id(value) not in self.lifted:
            self.lifted[id(value)] = value, version(value), self.recorder.input(sample(value))
        return self.lifted[id(value)][2]

    def adopt(self, made: Tensor) -> Tensor:
        """A tensor of the body, so that values of it can be written there."""
        return self.box(self.value_of(made))

    def sampled(self, draw: Draw, shape: Any, parameters: Sequence[Value], generator: Generator | None) -> Tensor:
        """Refused: each level may draw in its own way."""
        raise RefusedError(STEPS)


def sample(value: Any) -> Array:
    """Numbers of the shape and dtype of a value, where possible its own in this run: of one example, if it has many."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, Recorded):
        return np.ones_like(value.form) if value.block.array is None else value.numbers
    found = sample(inside(value))
    if not getattr(value, "batched", False):
        return found
    return found[0] if len(found) else np.ones(found.shape[1:], found.dtype)


def lifted_body(
    function: Callable[[Leaves], Leaves], leaves: Sequence[Any], samples: Sequence[Array]
) -> tuple[Program, Leaves]:
    """The program that a function of leaves is, and what its inputs are outside: leaves, and what it uses besides."""
    recorder, around = Recorder(recording()), innermost.get()
    before = mode.get()

    def run(given: Sequence[Recorded]) -> tuple[Leaves, Leaves]:
        with Lifting(recorder) as lifting:
            results = [lifting.value_of(result) for result in function([lifting.box(each) for each in given])]
            lifted = [(tensor, version(tensor) != then) for tensor, then, _ in lifting.lifted.values()]
        if any(changed for _, changed in lifted):
            raise RefusedError(STEPS)
        return results, [tensor for tensor, _ in lifted]

    with recorder:
        given = [recorder.input(each) for each in samples]
        results, lifted = under(
            innermost, around, functools.partial(under, mode, before, functools.partial(run, given))
        )
        values = [recorder.value_of(result) for result in results]
    program = Program(tuple(recorder.inputs), tuple(recorder.equations), tuple(values), recorder.constants)
    complex_numbers = any(value.dtype.kind == "c" for value in (*program.inputs, *program.outputs))
    if recorder.guards or recorder.lifted or complex_numbers:
        raise RefusedError(STEPS)
    return program, [*leaves, *lifted]
