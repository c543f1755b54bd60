"""Loops and branches of a recorded program: each is one equation, whose body is a program of its own.

A body is recorded once, on the values of the first step. What it uses from outside becomes further inputs. Where
gradients are recorded, the way back through one step is recorded with it; the way back through a loop is then a loop
itself, over what the steps have kept, the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import Tensor, ops
from .._core.modes import FieldBlock, innermost, mode
from .._numerics.random import Moment
from .._tape.node import count, leaf
from .._tape.recording import Tape
from .._tape.walk import pull_back
from ..extend import zero
from ..func.control import Runner
from ..observe import AccumulateGrad, ancestors, node as node_of, value as inside
from .costs import flops
from .program import Equation, Program, Value, run
from .recorder import Recorded, Recorder, RefusedError
from .source import compile_source
from .whole import recorded

if TYPE_CHECKING:
    from .._core.primitives import Function, Primitive
    from .._tape.node import Node
    from ..func.control import LoopStep, ScanStep, Side
    from .whole import Back

Array = np.ndarray[Any, np.dtype[Any]]
Leaves = list[Any]


class RecordedBody(NamedTuple):
    """A recorded body: `given` are the values of its arguments, `results` of what it returns.

    `lifted` are values from outside, each with what it is there. `forward` and `backward` are its equations; the way
    back starts from `cotangents`, one for each result or None, and finds `gradients`, one for each argument and each of
    the nodes outside that it reaches, or None.
    """

    given: list[Value]
    results: list[Value]
    lifted: list[tuple[Value, Recorded]]
    constants: dict[Value, Array]
    forward: tuple[Equation, ...]
    backward: tuple[Equation, ...]
    cotangents: list[Value | None]
    gradients: list[Value | None]
    reached: list[tuple[Node, Value]]

    def program(self, inputs: Sequence[Value], equations: Sequence[Equation], outputs: Sequence[Value]) -> Program:
        """A program of some of it."""
        return Program(tuple(inputs), tuple(equations), tuple(outputs), self.constants)

    @property
    def lifted_values(self) -> list[Value]:
        """The inputs from outside."""
        return [value for value, _ in self.lifted]


def recorded_body(around: Recorder, function: Callable[[Leaves], Leaves], samples: Sequence[Array]) -> RecordedBody:
    """The body that a function of leaves is, with the way back if gradients are recorded."""
    recorder = Recorder(around)
    tape: Tape = Tensor.interpreter
    start = next(count)
    with recorder:
        arguments = [tape.wrap(recorder.input(sample), None) for sample in samples]
        given = list(recorder.inputs)
        if mode.get().grad:
            for argument in arguments:
                argument.requires_grad = argument.dtype.numpy.kind == "f"
        moment = Moment.of()
        results = function(arguments)
        moment.restore()  # the steps themselves are still to come
        values = [recorder.value_of(inside(result)) for result in results]
        forward = tuple(recorder.equations)
        back = _way_back(recorder, arguments, results, start)
    if recorder.guards:
        raise RefusedError("a loop or a branch checks its values")
    return RecordedBody(
        given, values, list(recorder.lifted.values()), recorder.constants, forward,
        tuple(recorder.equations[len(forward) :]), *back,
    )  # fmt: skip


def _way_back(
    recorder: Recorder, arguments: Leaves, results: Leaves, start: int
) -> tuple[list[Value | None], list[Value | None], list[tuple[Node, Value]]]:
    """The cotangents of the results, the gradients of the arguments, and those of nodes from before the body."""
    nodes = [*map(node_of, results)]
    own = [node for node in ancestors(nodes) if node.seq > start]
    within, ends = {*own}, {*map(node_of, arguments)}
    cut: dict[Node, AccumulateGrad] = {}
    for node in own:
        for edge in node.edges:
            if edge is not None and edge not in within and edge not in ends and edge not in cut:
                cut[edge] = _stub(edge)
        node.edges = tuple(None if edge is None else cut.get(edge, edge) for edge in node.edges)
    cotangents: list[Any] = [None] * len(results)
    roots = []
    for i, (result, end) in enumerate(zip(results, nodes, strict=True)):
        if end is not None and (end in within or end in ends):
            cotangents[i] = recorder.input(np.ones_like(inside(result).numbers))
            roots.append((end, cotangents[i]))
        elif end is not None:
            raise RefusedError("a loop or a branch returns a tensor from outside that requires grad")
    targets = [*(node for node in map(node_of, arguments) if node is not None), *cut.values()]
    found: dict[Any, Any] = {}
    if roots:
        with FieldBlock(grad=False):
            tape: Tape = Tensor.interpreter
            found = pull_back(tape, roots, targets=targets, retain_graph=True, create_graph=False).found
    values = {node: recorder.value_of(g) for node, g in found.items()}
    return (
        [None if g is None else recorder.value_of(g) for g in cotangents],
        [values.get(node_of(argument)) for argument in arguments],
        [(node, values[stub]) for node, stub in cut.items() if stub in values],
    )


def _stub(node: Node) -> AccumulateGrad:
    """An end of the graph in the place of a node from outside."""
    stub = leaf(Tensor.interpreter.wrap(np.zeros(()), None), np.zeros(()))
    stub.shape, stub.seq = node.shape, node.seq  # its turn comes when the node's would
    return stub


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


# 1. A loop of a known number of steps


class Scan(NamedTuple):
    """How a scan is built: its body's inputs are carries, a slice of each column, and what all steps share."""

    body: Program
    carries: int
    columns: int
    length: int
    reverse: bool


def _scan(*arrays: Array, loop: Scan) -> tuple[Array, ...]:
    results = stepped(compile_source(loop.body), arrays, loop)
    return (*[np.array(carry) for carry in results[: loop.carries]], *results[loop.carries :])


def stepped(step: Callable[..., list[Array]], arrays: Sequence[Array], loop: Scan) -> tuple[Array, ...]:
    """The results of a scan, whose body is a function of arrays."""
    carries = arrays[: loop.carries]
    columns, shared = arrays[loop.carries : loop.carries + loop.columns], arrays[loop.carries + loop.columns :]
    kept: list[Array] = [np.empty((loop.length, *v.shape), v.dtype) for v in loop.body.outputs[loop.carries :]]
    for number in reversed(range(loop.length)) if loop.reverse else range(loop.length):
        results = step(*carries, *[column[number, ...] for column in columns], *shared)
        carries = results[: loop.carries]
        for stack, result in zip(kept, results[loop.carries :], strict=True):
            stack[number] = result
    return (*carries, *kept)


SCAN = zero("scan_loop", forward=_scan, inputs=("*arrays",))
SCAN.outputs = 2


SMALL, DEAR = 256, 16
"""Elements of a step's largest value up to which the way back computes again what is cheap: that costs less than memory;
and the additions for each of its elements from which on a value is dear, and kept."""


class Halves(NamedTuple):
    """A body with a way back: what each step keeps, besides the columns, and the equations of the step and of its way back."""

    kept: list[Value]
    there: tuple[Equation, ...]
    back: tuple[Equation, ...]


def _halves(body: RecordedBody, carries: int) -> Halves:
    """A body cut in two; small steps also compute what is dear on the way back, where that needs no gradient."""
    small = all(value.size <= SMALL for equation in body.forward for value in equation.outputs)
    again = small and not any(equation.primitive.kind == "effect" for equation in body.forward)
    early, late = _parted(body) if again else ([], [*body.backward])
    there = [*body.forward, *early]
    makers = {value: equation for equation in there for value in equation.outputs}
    waiting = [value for equation in late for value in equation.inputs]
    waiting += [value for value in (*body.gradients, *[value for _, value in body.reached]) if value is not None]
    seen: dict[Value, bool] = {}  # whether it is kept
    while waiting:
        value = waiting.pop()
        if value not in seen:
            maker = makers.get(value)
            seen[value] = value in body.given[:carries] if maker is None else not (again and _is_cheap(maker))
            waiting.extend(() if maker is None or seen[value] else maker.inputs)
    redone = [e for e in there if any(value in seen and not seen[value] for value in e.outputs)]
    return Halves([value for value, kept in seen.items() if kept], tuple(there), (*redone, *late))


def _parted(body: RecordedBody) -> tuple[list[Equation], list[Equation]]:
    """The equations of the way back that need no gradient, and the others."""
    early: list[Equation] = []
    late: list[Equation] = []
    moved = {value for value in body.cotangents if value is not None}
    for equation in body.backward:
        (early if moved.isdisjoint(equation.inputs) else late).append(equation)
        moved.update(equation.outputs if late and late[-1] is equation else ())
    return early, late


def _is_cheap(equation: Equation) -> bool:
    """Whether the way back computes it again: then all of its results are."""
    return len(equation.outputs) > 1 or flops(equation) < DEAR * equation.output.size


def _back_of(body: RecordedBody, halves: Halves, carries: int, columns: int, count: int, reverse: bool) -> Back:
    """The way back through a loop, as a function of cotangents, inputs and outputs."""
    kept, equations = halves.kept, [*halves.back]
    moving = [i for i in range(carries) if body.cotangents[i] is not None or body.gradients[i] is not None]
    outputs = [i for i in range(carries, len(body.results)) if body.cotangents[i] is not None]
    constants = dict(body.constants)

    incoming: list[Any] = [body.cotangents[i] or body.given[i].like() for i in moving]
    sums = [value.like() for _, value in body.reached]
    totals = [value.like() for value in sums]
    for before, (_, value), total in zip(sums, body.reached, totals, strict=True):
        equations.append(Equation(ops.add, (before, value), {}, (total,)))
    slices = [i for i in range(carries, carries + columns) if body.gradients[i] is not None]
    inputs: list[Any] = [
        *incoming,
        *sums,
        *[body.cotangents[i] for i in outputs],
        *kept,
        *body.given[carries:],
        *body.lifted_values,
    ]
    results: list[Any] = [*[_or_zero(body.gradients[i], body.given[i], constants) for i in moving], *totals]
    results += [body.gradients[i] for i in slices]
    program = Program(tuple(inputs), tuple(equations), tuple(results), constants)
    state = len(moving) + len(sums)
    loop = Scan(program, state, len(outputs) + len(kept) + columns, count, not reverse)

    def back(g: Sequence[Any], arrays: Sequence[Array]) -> list[Array | None]:
        zeros = [np.zeros(value.shape, value.dtype) for value in sums]
        after = carries + columns + len(body.lifted)
        stacks = arrays[len(arrays) - len(kept) :]
        columns_in = [*[g[i] for i in outputs], *stacks, *arrays[carries : carries + columns]]
        shared = arrays[carries + columns : after]
        found = list(SCAN(*[g[i] for i in moving], *zeros, *columns_in, *shared, loop=loop))
        answer: list[Array | None] = [None] * len(arrays)
        for i, value in zip(moving, found, strict=False):
            answer[i] = value
        for i, value in zip(slices, found[state:], strict=True):
            answer[i] = value
        answer[after : after + len(sums)] = found[len(moving) : state]
        return answer

    return back


# 2. A branch


def _branch(predicate: Array, *arrays: Array, bodies: tuple[Program, Program]) -> tuple[Array, ...]:
    return tuple(np.array(result) for result in run(bodies[0] if predicate.item() else bodies[1], arrays))


BRANCH = zero("branch", forward=_branch, inputs=("*arrays",))
BRANCH.outputs = 2


# 3. A loop until something holds


def _repeat(*arrays: Array, test: Program, body: Program, carries: int, tested: int) -> tuple[Array, ...]:
    """The carries after as many steps as the test holds; the first `tested` of the shared inputs are those of the test."""
    carry, shared = list(arrays[:carries]), arrays[carries:]
    holds, step = compile_source(test), compile_source(body)
    while holds(*carry, *shared[:tested])[0].item():
        carry = step(*carry, *shared[tested:])
    return tuple(map(np.array, carry))


REPEAT = zero("repeat_loop", forward=_repeat, inputs=("*arrays",))
REPEAT.outputs = 2


# 4. The runner


class LoopRecorder(Runner):
    """Writes down loops and branches, where their leaves are recorded; others run step by step."""

    def truths(self, array: Any) -> Any:
        """Where the condition holds in this run, as it then has to in every run."""
        if not isinstance(array, Recorded):
            return super().truths(array)
        found = array.numbers != 0
        same = ops.equal(ops.not_equal(array, np.zeros((), array.form.dtype)), found)
        array.interpreter.guarded(ops.all(same, axis=tuple(range(same.ndim)), keepdims=False))
        return found

    def scan(self, step: ScanStep, carry: Leaves, columns: Leaves, count: int, reverse: bool) -> tuple[Leaves, Leaves]:
        """One equation for all steps."""
        recorder = _plain([*carry, *columns])
        if recorder is None or not count:
            return super().scan(step, carry, columns, count, reverse)
        moving, cut = _present(carry), _present(columns)
        shape: list[Any] = []

        def one(leaves: Leaves) -> Leaves:
            state, outputs = step(_filled(carry, moving, leaves), _filled(columns, cut, leaves[len(moving) :]))
            shape[:] = outputs
            return [leaf for leaf in (*state, *outputs) if leaf is not None]

        given = [*[carry[i] for i in moving], *[columns[i] for i in cut]]
        first = -1 if reverse else 0
        samples = [inside(carry[i]).numbers.copy() for i in moving]
        samples += [np.array(inside(columns[i]).numbers[first]) for i in cut]
        body = recorded_body(recorder, one, samples)
        lifted, _, anchors = _outside([body])
        tracked = mode.get().grad and any(node_of(leaf) is not None for leaf in (*given, *anchors))
        halves = _halves(body, len(moving)) if tracked else Halves([], body.forward, ())
        program = body.program([*body.given, *body.lifted_values], halves.there, [*body.results, *halves.kept])
        found = _untracked(SCAN, *given, *lifted, loop=Scan(program, len(moving), len(cut), count, reverse))
        if tracked:
            back = _back_of(body, halves, len(moving), len(cut), count, reverse)
            results, stacks = found[: len(body.results)], found[len(body.results) :]
            found = recorded((*given, *lifted, *anchors, *stacks), [*map(inside, results)], back)
        left = iter(found[len(moving) : len(body.results)])
        return _filled(carry, moving, found), [None if leaf is None else next(left) for leaf in shape]

    def cond(self, predicate: Tensor, first: Side, second: Side, operands: Leaves) -> Leaves:
        """One equation for both sides."""
        recorder = _plain([predicate, *operands]) if hasattr(predicate, "_array") else None
        if recorder is None:
            return super().cond(_guarded(predicate), first, second, operands)
        present = _present(operands)
        given = [operands[i] for i in present]
        results: list[Any] = []

        def side(function: Side) -> Callable[[Leaves], Leaves]:
            def taken(leaves: Leaves) -> Leaves:
                results[:] = function(_filled(operands, present, leaves))
                return [leaf for leaf in results if leaf is not None]

            return taken

        samples = [inside(leaf).numbers.copy() for leaf in given]
        bodies = [recorded_body(recorder, side(first), samples)]
        bodies.append(recorded_body(recorder, side(second), samples))
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
        if recorder is None:
            return super().while_loop(test, step, carry)
        moving = _present(carry)
        given = [carry[i] for i in moving]
        samples = [inside(leaf).numbers.copy() for leaf in given]

        def one(leaves: Leaves) -> Leaves:
            return [leaf for leaf in step(_filled(carry, moving, leaves)) if leaf is not None]

        def asked(leaves: Leaves) -> Leaves:
            answer = test(_filled(carry, moving, leaves))
            return [answer if hasattr(answer, "_array") else Tensor.interpreter.wrap(np.array(answer), None)]

        tracked = mode.get().grad and any(node_of(leaf) is not None for leaf in given)
        with FieldBlock(grad=False):
            check, body = recorded_body(recorder, asked, samples), recorded_body(recorder, one, samples)
        if tracked:
            raise RefusedError("a while_loop whose number of steps depends on values has no gradient in a program")
        lifted, _, _ = _outside([check, body])
        programs = [
            each.program([*each.given, *each.lifted_values], each.forward, each.results) for each in (check, body)
        ]
        options = {"test": programs[0], "body": programs[1], "carries": len(given), "tested": len(check.lifted)}
        return _filled(carry, moving, _untracked(REPEAT, *given, *lifted, **options))


def _guarded(predicate: Tensor) -> Tensor | bool:
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
        outputs = [_or_zero(body.gradients[i], body.given[i], constants) for i in reached]
        outputs += [_or_zero(at_nodes.get(node), _at(bodies, node), constants) for node in nodes]
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


def _or_zero(value: Value | None, like: Value, constants: dict[Value, Array]) -> Value:
    """A value; for None a new constant of zeros, of the shape and dtype of another."""
    if value is None:
        value = like.like()
        constants[value] = np.zeros(like.shape, like.dtype)
    return value


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
