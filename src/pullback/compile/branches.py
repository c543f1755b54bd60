"""Branches, and loops until something holds, as one equation each, with their derivatives and batches.

Their metadata are programs. The way back through a branch, its tangents and its batches are branches again, between programs
that are recorded from those; a loop until something holds has tangents and batches, but no way back.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .._core.modes import FieldBlock
from ..extend import general
from ..func import batching_rules
from ..func.arguments import Argument, whole
from ..func.pushforwards import dtype_of
from .lifting import STEPS, recording
from .program import Program, Value, run
from .refusals import RefusedError
from .scans import (
    batched_step,
    dependent,
    evaluated,
    or_zero,
    plain_numbers,
    pushed_step,
    reaching,
    recorded_body,
)
from .source import compile_source

if TYPE_CHECKING:
    from .._core.primitives import Primitive
    from .._core.typing import Namespace, Params

Array = np.ndarray[Any, np.dtype[Any]]
NO_WAY_BACK = "a while_loop whose number of steps depends on values has no gradient in a program"


# 1. A branch: a predicate, and what both programs are given


def _branch(predicate: Array, *arrays: Array, bodies: tuple[Program, Program]) -> tuple[Array, ...]:
    return tuple(np.array(result) for result in run(bodies[0] if predicate.item() else bodies[1], arrays))


def _pulled(
    xp: Namespace, g: Sequence[Any], arrays: Sequence[Any], *, bodies: tuple[Program, Program], needs: Sequence[bool]
) -> list[Any | None]:
    """The gradients of a branch: those of the side that is taken, of which others are zeros."""
    kept = [i for i, each in enumerate(g) if each is not None]
    wanted = [need and value.dtype.kind == "f" for need, value in zip(needs[1:], bodies[0].inputs, strict=True)]
    sides = []
    for body in bodies:
        step = functools.partial(evaluated, body.changed(outputs=tuple([body.outputs[i] for i in kept])))
        with FieldBlock(grad=True, pack=None, unpack=None):
            made = recorded_body(recording(), step, [*map(plain_numbers, body.inputs)], wanted)
        constants = dict(made.constants)
        cotangents = [each or like.like() for each, like in zip(made.cotangents, made.results, strict=True)]
        outputs = [
            or_zero(found, value, constants)
            for found, value, each in zip(made.gradients, made.given, wanted, strict=True)
            if each
        ]
        equations = (*made.forward, *made.backward)
        sides.append(Program((*made.given, *cotangents), equations, tuple(outputs), constants))
    found = iter(BRANCH(*arrays, *[g[i] for i in kept], bodies=tuple(sides)) if any(wanted) else ())
    return [None, *[next(found) if each else None for each in wanted]]


def _pushed(
    xp: Namespace,
    primals: Sequence[Any],
    tangents: Sequence[Any | None],
    y: Sequence[Any],
    *,
    bodies: tuple[Program, Program],
) -> tuple[Any | None, ...]:
    """The tangents of a branch: those of the side that is taken."""
    moved = [tangent is not None for tangent in tangents[1:]]
    ends = _either(bodies, moved, "f")
    places = [i for i, each in enumerate(ends) if each]
    sides = tuple(_recorded(body, pushed_step(body, moved, places, 0), moved) for body in bodies)
    given = [*primals, *[tangent for tangent in tangents[1:] if tangent is not None]]
    found = dict(zip(places, BRANCH(*given, bodies=sides) if places else (), strict=True))
    return tuple([found.get(i) for i in range(len(y))])


def _batched(size: int, primitive: Primitive, args: list[Argument], params: Params) -> tuple[Any, ...]:
    """A branch of all examples of a batch, which take the same side."""
    bodies, (predicate, *rest) = params["bodies"], args
    if predicate.batched:
        raise RefusedError(STEPS)
    moved = [arg.batched for arg in rest]
    ends = _either(bodies, moved, "buif")
    sides = tuple(_spread(size, body, moved, ends) for body in bodies)
    given = [whole(size, arg) if each else arg.value for arg, each in zip(rest, moved, strict=True)]
    found = BRANCH(predicate.value, *given, bodies=sides)
    return tuple([whole(size, Argument(x, end)) for x, end in zip(found, ends, strict=True)])


def _either(bodies: Sequence[Program], given: Sequence[bool], kinds: str) -> list[bool]:
    """Which outputs depend on the given inputs, in one program or another."""
    return [*map(any, zip(*[dependent(body, given, kinds) for body in bodies], strict=True))]


def _recorded(program: Program, step: Any, moved: Sequence[bool]) -> Program:
    """The program of a step whose leaves are those of a program, and tangents of some of them."""
    samples = [*map(plain_numbers, program.inputs)]
    with FieldBlock(grad=False):
        body = recorded_body(
            recording(), step, [*samples, *[x for x, each in zip(samples, moved, strict=True) if each]]
        )
    return body.program(body.given, body.forward, body.results)


def _spread(size: int, program: Program, moved: Sequence[bool], ends: Sequence[bool]) -> Program:
    """A program of all examples of a batch."""
    samples = [*map(plain_numbers, program.inputs)]
    samples = [np.stack([x] * size) if each else x for x, each in zip(samples, moved, strict=True)]
    with FieldBlock(grad=False):
        body = recorded_body(recording(), batched_step(size, program, moved, ends), samples)
    return body.program(body.given, body.forward, body.results)


BRANCH = general("branch", forward=_branch, inputs=("*arrays",), joint=_pulled, push=_pushed, outputs=2, cost=0)
batching_rules.RULES[BRANCH.name] = _batched


# 2. A loop until something holds: carries, what the test is given besides, and what a step is given besides


def _repeat(*arrays: Array, test: Program, body: Program, carries: int, tested: int) -> tuple[Array, ...]:
    """The carries after as many steps as the test holds; the first `tested` of the shared inputs are those of the test."""
    carry, shared = list(arrays[:carries]), arrays[carries:]
    holds, step = compile_source(test), compile_source(body)
    while holds(*carry, *shared[:tested])[0].item():
        carry = step(*carry, *shared[tested:])
    return tuple(map(np.array, carry))


def _loop(params: Params) -> tuple[Program, Program, int, int]:
    """The test and the body of a loop, how many carries it has, and how many shared inputs are those of the test."""
    test, body, carries, tested = (params[name] for name in ("test", "body", "carries", "tested"))
    return test, body, carries, tested


def _no_way_back(xp: Namespace, g: Sequence[Any], arrays: Sequence[Any], **params: Any) -> NoReturn:
    raise RefusedError(NO_WAY_BACK)


def _pushed_on(
    xp: Namespace,
    primals: Sequence[Any],
    tangents: Sequence[Any | None],
    y: Sequence[Any],
    **params: Any,
) -> tuple[Any | None, ...]:
    """The tangents of a loop: a loop that carries them beside the values."""
    test, body, carries, tested = _loop(params)
    own = [*range(carries), *range(carries + tested, len(primals))]
    moved = reaching(body, [tangents[i] is not None for i in own], "f", carries)
    places, more = [i for i in range(carries) if moved[i]], [i for i in range(carries, len(own)) if moved[i]]
    count = len(places)
    made = _recorded(body, pushed_step(body, moved, places, carries), moved)
    primal, tangent = made.inputs[: len(own)], made.inputs[len(own) :]
    ordered = (*primal[:carries], *tangent[:count], *primal[carries:], *tangent[count:])
    beside = tuple(value.like() for value in tangent[:count])
    rows = [np.zeros(primals[i].shape, dtype_of(primals[i])) if tangents[i] is None else tangents[i] for i in places]
    shared = [*primals[carries:], *[tangents[own[i]] for i in more]]
    found = REPEAT(
        *primals[:carries], *rows, *shared, carries=carries + count, tested=tested, body=made.changed(inputs=ordered),
        test=test.changed(inputs=(*test.inputs[:carries], *beside, *test.inputs[carries:])),
    )  # fmt: skip
    pushed = dict(zip(places, found[carries:], strict=True))
    return tuple([pushed.get(i) for i in range(len(y))])


def _batched_on(size: int, primitive: Primitive, args: list[Argument], params: Params) -> tuple[Any, ...]:
    """A loop of all examples of a batch, which take the same number of steps."""
    test, body, carries, tested = _loop(params)
    given = [arg.batched for arg in args]
    moved = reaching(body, [*given[:carries], *given[carries + tested :]], "buif", carries)
    asked = [*moved[:carries], *given[carries : carries + tested]]
    if dependent(test, asked, "buif")[0]:
        raise RefusedError(STEPS)
    inputs = [Value((size, *v.shape), v.dtype) if each else v for v, each in zip(test.inputs, asked, strict=True)]
    values = [whole(size, arg) if each else arg.value for arg, each in zip(args[:carries], moved, strict=False)]
    values += [whole(size, arg) if arg.batched else arg.value for arg in args[carries:]]
    spread = _spread(size, body, moved, moved[:carries])
    found = REPEAT(*values, test=test.changed(inputs=tuple(inputs)), body=spread, carries=carries, tested=tested)
    return tuple([whole(size, Argument(x, end)) for x, end in zip(found, moved, strict=False)])


REPEAT = general(
    "repeat_loop", forward=_repeat, inputs=("*arrays",), joint=_no_way_back, push=_pushed_on, outputs=2, cost=0
)
batching_rules.RULES[REPEAT.name] = _batched_on
