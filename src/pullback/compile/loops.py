"""Loops and branches of a recorded program: each is one equation, whose body is a program of its own.

A body is recorded once, on the values of the first step. What it uses from outside becomes further inputs. Where
gradients are recorded, the way back through one step is recorded with it; the way back through a loop is then a loop
itself, over what the steps have kept, the other way round.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import Tensor
from .._core.modes import FieldBlock, innermost, mode
from .._numerics.random import Moment
from .._tape.recording import Tape
from ..func.control import Runner
from ..observe import node as node_of, value as inside
from .branches import BRANCH, NO_WAY_BACK, REPEAT
from .lifting import lifted_body, recording, sample
from .program import Equation, Program, Value
from .recorder import Recorded, Recorder
from .refusals import RefusedError
from .scans import SCAN, Halves, RecordedBody, Scan, back_of, halves_of, or_zero, recorded_body
from .state import State, seeded
from .whole import recorded

if TYPE_CHECKING:
    from .._core.primitives import Function, Primitive
    from .._tape.node import Node
    from ..func.control import LoopStep, ScanStep, Side
    from .whole import Back

Array = np.ndarray[Any, np.dtype[Any]]
Leaves = list[Any]


def _plain(leaves: Sequence[Tensor | None]) -> Recorder | None:
    """The recorder, if all leaves are tensors of the program that it records."""
    recorder = innermost.get()
    if not isinstance(recorder, Recorder):
        return None
    fit = all(item is None or (not item.level and isinstance(inside(item), Recorded)) for item in leaves)
    return recorder if fit else None


def _outside(bodies: Sequence[RecordedBody]) -> tuple[list[Tensor], list[Node], list[Tensor]]:
    """What bodies use from outside, as tensors; the nodes they reach, and tensors that stand for those."""
    tape: Tape = Tensor.interpreter
    lifted = [tape.wrap(held, None) for body in bodies for _, held in body.lifted]
    nodes = list(dict.fromkeys(node for body in bodies for node, _ in body.reached))
    anchors = []
    for node in nodes:
        value = next(value for body in bodies for other, value in body.reached if other is node)
        anchor = tape.wrap(np.zeros(value.shape, value.dtype), None)
        anchor._node = node
        anchors.append(anchor)
    return lifted, nodes, anchors


def _untracked(primitive: Primitive, *tensors: Tensor, **params: Any) -> tuple[Tensor, ...]:
    """The results of an operation that is not recorded on the tape."""
    with FieldBlock(grad=False):
        results: tuple[Any, ...] = primitive(*tensors, **params)
    return results


class _ChangedError(RefusedError):
    """A body changes Python values, as each step would for itself, or may do so."""


@contextlib.contextmanager
def _unchanging(*functions: Callable[..., Any]) -> Iterator[None]:
    """Hold all that functions reach while they are recorded; _ChangedError if it has changed, which is undone."""
    state = State(functions)
    if state.unknown:
        raise _ChangedError(f"in a loop or a branch, {state.unknown}")
    moment = Moment.of(state.generators)
    try:
        yield
    finally:
        if changed := not state.same() or state.drew() or not all(map(seeded, moment.moved())):
            state.restore()
            moment.restore()
    if changed:
        raise _ChangedError("a loop or a branch changes Python values, as a counter or a list")


# 1. Loops of a known number of steps

NOTHING = Program((), (), ())


def _plain_scan(
    step: Callable[..., Any], one: Callable[[Leaves], Leaves], given: Leaves, loop: Scan, recorder: Recorder
) -> Sequence[Tensor] | None:
    """The results of a loop of plain tensors, whose way back is recorded with its body; None where it runs step by step."""
    samples = [inside(leaf).numbers.copy() for leaf in given]
    for i in range(loop.carries, len(given)):
        samples[i] = samples[i][-1 if loop.reverse else 0, ...]
    before = len(recorder.refusals)
    try:
        with _unchanging(step):
            body = recorded_body(recorder, one, samples)
    except _ChangedError:
        del recorder.refusals[before:]
        return None
    lifted, _, anchors = _outside([body])
    tracked = mode.get().grad and any(node_of(leaf) is not None for leaf in (*given, *anchors))
    halves = halves_of(body, loop) if tracked else Halves([], body.forward, ())
    program = body.program([*body.given, *body.lifted_values], halves.there, [*body.results, *halves.kept])
    found = _untracked(SCAN, *given, *lifted, loop=loop._replace(body=program))
    if not tracked:
        return found
    back = back_of(body, halves, loop)
    results, stacks = found[: len(body.results)], found[len(body.results) :]
    return recorded((*given, *lifted, *anchors, *stacks), [*map(inside, results)], back)


def _lifted_scan(
    step: Callable[..., Any], one: Callable[[Leaves], Leaves], given: Leaves, loop: Scan
) -> Sequence[Tensor] | None:
    """The results of a loop inside transforms, as one operation for all of them; None where it has to run step by step."""

    def made() -> Sequence[Tensor]:
        samples = [sample(leaf) for leaf in given]
        for i in range(loop.carries, len(given)):
            samples[i] = samples[i][-1 if loop.reverse else 0]
        with _unchanging(step):
            program, inputs = lifted_body(one, given, samples)
        return SCAN(*inputs, loop=loop._replace(body=program))

    return _lifted(made)


def _lifted(made: Callable[[], Sequence[Tensor]]) -> Sequence[Tensor] | None:
    """The results of one operation for all transforms; None where it cannot be made."""
    refusals: list[Exception] = []
    try:
        refusals = recording().refusals
        before = len(refusals)
        return made()
    except Exception:  # noqa: BLE001  # whatever it is, the steps say it better
        del refusals[before:]
        return None


def _lifted_pair(
    functions: Sequence[Callable[[Leaves], Leaves]], of: Sequence[Callable[..., Any]], given: Leaves
) -> tuple[list[Program], list[Leaves]]:
    """The programs of two functions of leaves, and what each uses besides."""
    with _unchanging(*of):
        found = [lifted_body(each, given, [sample(leaf) for leaf in given]) for each in functions]
    return [program for program, _ in found], [inputs[len(given) :] for _, inputs in found]


def _lifted_branch(
    predicate: Tensor,
    functions: Sequence[Callable[[Leaves], Leaves]],
    sides: Sequence[Side],
    given: Leaves,
    results: Leaves,
) -> Sequence[Tensor]:
    """The results of a branch inside transforms, as one operation for all of them."""
    programs, lifted = _lifted_pair(functions, [side.function for side in sides], given)
    first, second = programs
    sides[0].agree(sides[1], results)
    count, others = len(given), [[value.like() for value in program.inputs[len(given) :]] for program in programs]
    bodies = (
        first.changed(inputs=(*first.inputs, *others[1])),
        second.changed(inputs=(*second.inputs[:count], *others[0], *second.inputs[count:])),
    )
    found: Sequence[Tensor] = BRANCH(predicate, *given, *lifted[0], *lifted[1], bodies=bodies)
    return found


def _lifted_repeat(
    functions: Sequence[Callable[[Leaves], Leaves]], of: Sequence[Callable[..., Any]], given: Leaves
) -> Sequence[Tensor]:
    """The results of a loop until something holds inside transforms, as one operation; RefusedError if it needs a way back."""
    (test, body), (asked, used) = _lifted_pair(functions, of, given)
    if mode.get().grad and any(leaf.requires_grad for leaf in (*given, *asked, *used) if isinstance(leaf, Tensor)):
        raise RefusedError(NO_WAY_BACK)
    found: Sequence[Tensor] = REPEAT(*given, *asked, *used, test=test, body=body, carries=len(given), tested=len(asked))
    return found


# 2. The runner


class LoopRecorder(Runner):
    """Writes down loops and branches, where their leaves are recorded; others run step by step."""

    def scan(self, step: ScanStep, carry: Leaves, columns: Leaves, count: int, reverse: bool) -> tuple[Leaves, Leaves]:
        """One equation for all steps."""
        recorder = _plain([*carry, *columns])
        moving, cut = _present(carry), _present(columns)
        shape: list[Any] = []

        def one(leaves: Leaves) -> Leaves:
            state, outputs = step(_filled(carry, moving, leaves), _filled(columns, cut, leaves[len(moving) :]))
            shape[:] = outputs
            return [leaf for leaf in (*state, *outputs) if leaf is not None]

        given = [*[carry[i] for i in moving], *[columns[i] for i in cut]]
        kind = Scan(NOTHING, len(moving), len(cut), count, reverse)
        found: Sequence[Any] | None = None
        if recorder is None and count:
            found = _lifted_scan(step.function, one, given, kind)
        elif recorder is not None and count:
            found = _plain_scan(step.function, one, given, kind, recorder)
        if found is None:
            return super().scan(step, carry, columns, count, reverse)
        left = iter(found[len(moving) :])
        return _filled(carry, moving, found), [None if leaf is None else next(left) for leaf in shape]

    def cond(self, predicate: Any, first: Side, second: Side, operands: Leaves) -> Leaves:
        """One equation for both sides."""
        recorder = _plain([predicate, *operands]) if hasattr(predicate, "_array") else None
        present = _present(operands)
        given = [operands[i] for i in present]
        results: list[Any] = []

        def side(function: Side) -> Callable[[Leaves], Leaves]:
            def taken(leaves: Leaves) -> Leaves:
                results[:] = function(_filled(operands, present, leaves))
                return [leaf for leaf in results if leaf is not None]

            return taken

        if recorder is None:
            made = functools.partial(
                _lifted_branch, predicate, [side(first), side(second)], [first, second], given, results
            )
            found = _lifted(made) if isinstance(predicate, Tensor) else None
            if found is None:
                return super().cond(_guarded(predicate), first, second, operands)
            left = iter(found)
            return [None if leaf is None else next(left) for leaf in results]
        samples = [inside(leaf).numbers.copy() for leaf in given]
        with _unchanging(first.function, second.function):
            bodies = [recorded_body(recorder, side(each), samples) for each in (first, second)]
        first.agree(second, results)
        lifted, nodes, anchors = _outside(bodies)
        programs = tuple(_alone(body, bodies, body.forward, [], body.results) for body in bodies)
        found = _untracked(BRANCH, predicate, *given, *lifted, bodies=programs)
        if mode.get().grad and any(node_of(leaf) is not None for leaf in (*given, *anchors)):
            back = _branch_way(bodies, nodes, len(given))
            found = recorded((predicate, *given, *lifted, *anchors), [*map(inside, found)], back)
        left = iter(found)
        return [None if leaf is None else next(left) for leaf in results]

    def while_loop(self, test: Function, step: LoopStep, carry: Leaves) -> Leaves:
        """One equation for all steps, which has no way back."""
        recorder = _plain(carry)
        moving = _present(carry)
        given = [carry[i] for i in moving]

        def one(leaves: Leaves) -> Leaves:
            return [leaf for leaf in step(_filled(carry, moving, leaves)) if leaf is not None]

        def asked(leaves: Leaves) -> Leaves:
            answer = test(_filled(carry, moving, leaves))
            return [answer if hasattr(answer, "_array") else Tensor.interpreter.wrap(np.array(answer), None)]

        if recorder is None:
            found = _lifted(lambda: _lifted_repeat([asked, one], [test, step.function], given))
            if found is None:
                return super().while_loop(lambda leaves: _guarded(test(leaves)), step, carry)
            return _filled(carry, moving, found)
        samples = [inside(leaf).numbers.copy() for leaf in given]
        with _unchanging(test, step.function):
            with FieldBlock(grad=False):
                check = recorded_body(recorder, asked, samples)
            body = recorded_body(recorder, one, samples, [False] * len(given))
        if mode.get().grad and (body.reached or any(node_of(leaf) is not None for leaf in given)):
            raise RefusedError(NO_WAY_BACK)
        lifted, _, _ = _outside([check, body])
        programs = [
            each.program([*each.given, *each.lifted_values], each.forward, each.results) for each in (check, body)
        ]
        options = {"test": programs[0], "body": programs[1], "carries": len(given), "tested": len(check.lifted)}
        return _filled(carry, moving, _untracked(REPEAT, *given, *lifted, **options))


def _guarded(predicate: Any) -> Any:
    """A predicate of the program beside operands of a transform, as a bool that the record then depends on."""
    held: Any = predicate
    while isinstance(held, Tensor) and isinstance(held.interpreter, Tape):
        held = inside(held)
    return bool(held) if isinstance(held, Recorded) else predicate


def _alone(
    body: RecordedBody,
    bodies: list[RecordedBody],
    equations: Sequence[Equation],
    more: Sequence[Value],
    outputs: Sequence[Value],
) -> Program:
    """A program of one side of a branch, which is given what both take from outside."""
    inputs: list[Value] = [*body.given]
    for other in bodies:
        inputs += body.lifted_values if other is body else [value.like() for value in other.lifted_values]
    return body.program([*inputs, *more], equations, outputs)


def _branch_way(bodies: list[RecordedBody], nodes: list[Node], count: int) -> Back:
    """The way back through a branch, as a function of cotangents and inputs: the side that was taken, once more."""
    shapes = bodies[0].results
    tracked = [i for i in range(len(shapes)) if any(body.cotangents[i] is not None for body in bodies)]
    reached = [i for i in range(count) if any(body.gradients[i] is not None for body in bodies)]
    programs = []
    for body in bodies:
        constants = dict(body.constants)
        cotangents = [body.cotangents[i] or shapes[i].like() for i in tracked]
        at_nodes = dict(body.reached)
        outputs = [or_zero(body.gradients[i], body.given[i], constants) for i in reached]
        outputs += [or_zero(at_nodes.get(node), _at(bodies, node), constants) for node in nodes]
        equations = [*body.forward, *body.backward]
        programs.append(_alone(body, bodies, equations, cotangents, outputs).changed(constants=constants))

    def back(g: Sequence[Any], arrays: Sequence[Array]) -> list[Array | None]:
        given = arrays[: len(arrays) - len(nodes)] if nodes else arrays
        found = list(BRANCH(*given, *[g[i] for i in tracked], bodies=tuple(programs)))
        answer: list[Array | None] = [None] * len(arrays)
        for i, value in zip(reached, found, strict=False):
            answer[i + 1] = value
        if nodes:
            answer[len(arrays) - len(nodes) :] = found[len(reached) :]
        return answer

    return back


def _at(bodies: list[RecordedBody], node: Node) -> Value:
    return next(value for body in bodies for other, value in body.reached if other is node)


def _present(leaves: Leaves) -> list[int]:
    """The places of the leaves that are tensors."""
    return [i for i, leaf in enumerate(leaves) if leaf is not None]


def _filled(leaves: Leaves, places: list[int], values: Sequence[Tensor]) -> Leaves:
    """Leaves with values in the places that hold tensors."""
    filled = list(leaves)
    for place, value in zip(places, values, strict=False):
        filled[place] = value
    return filled
