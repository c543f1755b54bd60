"""Loops of a known number of steps as one equation, `scan_loop`, and its derivatives.

A scan's metadata are the program of one step. Its way back, its tangents and its batches are scans again, whose steps are
recorded from that program; so a loop stays a loop under every transform, and under transforms of those.
"""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import Tensor, ops
from .._core.modes import FieldBlock, mode
from .._numerics.random import Moment
from .._tape.node import count, leaf
from .._tape.recording import Tape
from .._tape.walk import pull_back_within
from ..extend import general
from ..func import batching_rules
from ..func.arguments import Argument, whole
from ..func.batching import Batch
from ..func.forward import Forward
from ..func.levels import tensor_of
from ..func.pushforwards import dtype_of
from ..interpreters import constant
from ..observe import AccumulateGrad, ancestors, node as node_of, value as inside
from .costs import flops
from .lifting import recording
from .program import Equation, Program, Value
from .recorder import Recorder
from .refusals import RefusedError
from .source import compile_source

if TYPE_CHECKING:
    from .._core.primitives import Primitive
    from .._core.typing import Namespace, Params
    from .._tape.node import Node
    from .whole import Back

Array = np.ndarray[Any, np.dtype[Any]]
Leaves = list[Any]


# 1. Bodies


class RecordedBody(NamedTuple):
    """A recorded body: `given` are the values of its arguments, `results` of what it returns.

    `lifted` are values from outside, each with what it is there. `forward` and `backward` are its equations; the way
    back starts from `cotangents`, one for each result or None, and finds `gradients`, one for each argument and each of
    the nodes outside that it reaches, or None.
    """

    given: list[Value]
    results: list[Value]
    lifted: list[tuple[Value, Any]]
    constants: dict[Value, Array]
    forward: tuple[Equation, ...]
    backward: tuple[Equation, ...]
    cotangents: list[Value | None]
    gradients: list[Value | None]
    reached: list[tuple[Any, Value]]

    def program(self, inputs: Sequence[Value], equations: Sequence[Equation], outputs: Sequence[Value]) -> Program:
        """A program of some of it."""
        return Program(tuple(inputs), tuple(equations), tuple(outputs), self.constants)

    @property
    def lifted_values(self) -> list[Value]:
        """The inputs from outside."""
        return [value for value, _ in self.lifted]


def recorded_body(
    around: Recorder,
    function: Callable[[Leaves], Leaves],
    samples: Sequence[Array],
    tracked: Sequence[bool] | None = None,
) -> RecordedBody:
    """The body that a function of leaves is, with the way back to its floats, or to those `tracked`, if gradients are recorded."""
    recorder = Recorder(around)
    tape: Tape = Tensor.interpreter
    start = next(count)
    with recorder:
        arguments = [tape.wrap(recorder.input(sample), None) for sample in samples]
        given = list(recorder.inputs)
        if mode.get().grad:
            for argument, wanted in zip(arguments, tracked or [True] * len(arguments), strict=True):
                argument.requires_grad = wanted and argument.dtype.numpy.kind == "f"
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
            found = pull_back_within(tape, roots, targets, create_graph=False).found
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


# 2. The equation


class Scan(NamedTuple):
    """How a scan is built: its body's inputs are carries, a slice of each column, and what all steps share."""

    body: Program
    carries: int
    columns: int
    length: int
    reverse: bool

    @property
    def samples(self) -> list[Array]:
        """Numbers for which a step can be computed."""
        return list(map(plain_numbers, self.body.inputs))

    def part(self, place: int) -> int:
        """0 for an input that is a carry, 1 for a column, 2 for one that all steps share."""
        return (place >= self.carries) + (place >= self.carries + self.columns)

    def reached(self, given: Sequence[bool], kinds: str) -> list[bool]:
        """What `reaching` says of the body."""
        return reaching(self.body, given, kinds, self.carries)


def reaching(body: Program, given: Sequence[bool], kinds: str, carries: int) -> list[bool]:
    """Which inputs of a step are of the given ones, or carries to which something of these comes in the end."""
    found = [each and value.dtype.kind in kinds for each, value in zip(given, body.inputs, strict=True)]
    while True:
        more = [*map(operator.or_, found, dependent(body, found, kinds)[:carries]), *found[carries:]]
        if more == found:
            return found
        found = more


def dependent(program: Program, given: Sequence[bool], kinds: str) -> list[bool]:
    """Which outputs depend on the given inputs, through values of some kinds of dtypes."""
    known = {value for value, each in zip(program.inputs, given, strict=True) if each}
    for equation in program.equations:
        if not known.isdisjoint(equation.inputs):
            known.update(value for value in equation.outputs if value.dtype.kind in kinds)
    return [value in known for value in program.outputs]


def plain_numbers(value: Value) -> Array:
    """Numbers of a shape and dtype: valid as indices, and as matrices of a system."""
    if value.dtype.kind != "f":
        return np.zeros(value.shape, value.dtype)
    square = len(value.shape) > 1 and value.shape[-1] == value.shape[-2]
    return np.array(np.broadcast_to(np.eye(value.shape[-1]) if square else 1, value.shape), value.dtype)


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


# 3. The way back


SMALL, LARGE, DEAR = 256, 1 << 23, 16
"""Elements of a step's largest value up to which the way back computes again what is cheap, and bytes that all steps would keep
beyond which it does: that costs less than memory; and the additions for each element from which on a value is dear, and kept."""


class Halves(NamedTuple):
    """A body with a way back: what each step keeps, besides the columns, and the equations of the step and of its way back."""

    kept: list[Value]
    there: tuple[Equation, ...]
    back: tuple[Equation, ...]


def halves_of(body: RecordedBody, loop: Scan) -> Halves:
    """A body cut in two, such that its steps keep little, or are quick."""
    whole = _cut(body, loop.carries, again=False)
    if any(equation.primitive.kind == "effect" for equation in body.forward):
        return whole
    small = all(value.size <= SMALL for equation in body.forward for value in equation.outputs)
    again = small or sum(value.nbytes for value in whole.kept) * loop.length > LARGE
    return _cut(body, loop.carries, again=True) if again else whole


def _cut(body: RecordedBody, carries: int, *, again: bool) -> Halves:
    """A body cut in two; if cheap values are computed again, also what is dear on the way back, where that needs no gradient."""
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


def back_of(body: RecordedBody, halves: Halves, forward: Scan) -> Back:
    """The way back through a loop, as a function of cotangents, inputs and outputs."""
    kept, equations = halves.kept, [*halves.back]
    carries, columns = forward.carries, forward.columns
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
    results: list[Any] = [*[or_zero(body.gradients[i], body.given[i], constants) for i in moving], *totals]
    results += [body.gradients[i] for i in slices]
    program = Program(tuple(inputs), tuple(equations), tuple(results), constants)
    state = len(moving) + len(sums)
    loop = Scan(program, state, len(outputs) + len(kept) + columns, forward.length, not forward.reverse)

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


def or_zero(value: Value | None, like: Value, constants: dict[Value, Array]) -> Value:
    """A value; for None a new constant of zeros, of the shape and dtype of another."""
    if value is None:
        value = like.like()
        constants[value] = np.zeros(like.shape, like.dtype)
    return value


def _pulled(
    xp: Namespace, g: Sequence[Any], arrays: Sequence[Any], *, loop: Scan, needs: Sequence[bool]
) -> list[Any | None]:
    """The gradients of a scan: a scan the other way, over what the steps, done again, have kept."""
    loop, given = _asked(loop, g)
    after = loop.carries + loop.columns
    with FieldBlock(grad=True, pack=None, unpack=None):
        step = functools.partial(evaluated, loop.body)
        body = recorded_body(recording(), step, loop.samples, loop.reached(needs, "f"))
    halves = halves_of(body, loop)
    found = [(i, gradient) for i, gradient in enumerate(body.gradients) if i >= after and gradient is not None]
    shared, sums = [i for i, _ in found], [(body.given[i], gradient) for i, gradient in found]
    body = body._replace(
        given=body.given[:after], lifted=[(value, value) for value in body.given[after:]],
        gradients=body.gradients[:after], reached=sums,
    )  # fmt: skip
    stacks: Sequence[Any] = ()
    if halves.kept:
        program = body.program([*body.given, *body.lifted_values], halves.there, [*body.results, *halves.kept])
        stacks = SCAN(*arrays, loop=loop._replace(body=program))[len(body.results) :]
    back = back_of(body, halves, loop)
    gradients = back(given, [*arrays, *[np.zeros(value.shape, value.dtype) for value, _ in sums], *stacks])
    answer: list[Any | None] = gradients[: len(arrays)]
    for i, total in zip(shared, gradients[len(arrays) :], strict=False):
        answer[i] = total
    return answer


def _asked(loop: Scan, g: Sequence[Any]) -> tuple[Scan, list[Any]]:
    """A scan without the outputs that have no cotangent, and the cotangents; those of carries are zeros instead."""
    outputs = loop.body.outputs
    kept = [i for i, each in enumerate(g) if i < loop.carries or each is not None]
    given = [np.zeros(outputs[i].shape, outputs[i].dtype) if g[i] is None else g[i] for i in kept]
    return loop._replace(body=loop.body.changed(outputs=tuple([outputs[i] for i in kept]))), given


def pushed_step(program: Program, moved: Sequence[bool], ends: Sequence[int], kept: int) -> Callable[[Leaves], Leaves]:
    """A step on a program's inputs and the tangents of those that move: its first results, and the tangents at some ends."""

    def step(leaves: Leaves) -> Leaves:
        with Forward() as forward:
            rest = iter(leaves[len(moved) :])
            pairs = zip(leaves, moved, strict=False)
            given = [forward.dual(inside(x), inside(next(rest)) if each else None) for x, each in pairs]
            results = evaluated(program, given)
            pushed = [(results[i], forward.tangent(results[i])) for i in ends]
            values = [*results[:kept], *[np.zeros(x.shape, dtype_of(x)) if t is None else t for x, t in pushed]]
            return [tensor_of(forward.unbox(value)) for value in values]

    return step


def batched_step(
    size: int, program: Program, moved: Sequence[bool], ends: Sequence[bool]
) -> Callable[[Leaves], Leaves]:
    """A step on all examples of those inputs of a program that move; its results have them at some ends."""

    def step(leaves: Leaves) -> Leaves:
        with Batch(size, "error") as batch:
            given = [batch.box(inside(x), each) for x, each in zip(leaves, moved, strict=True)]
            results = [Argument(batch.unbox(x), getattr(x, "batched", False)) for x in evaluated(program, given)]
            return [tensor_of(whole(size, x) if end else x.value) for x, end in zip(results, ends, strict=True)]

    return step


def _pushed(
    xp: Namespace, primals: Sequence[Any], tangents: Sequence[Any | None], y: Sequence[Any], *, loop: Scan
) -> tuple[Any | None, ...]:
    """The tangents of a scan: a scan that carries them beside the values."""
    moved = loop.reached([tangent is not None for tangent in tangents], "f")
    places = [i for i, each in enumerate(moved) if each]
    ends = [i for i, each in enumerate(dependent(loop.body, moved, "f")) if each]
    count, samples = len(primals), loop.samples
    step = pushed_step(loop.body, moved, ends, loop.carries)
    with FieldBlock(grad=False):
        body = recorded_body(recording(), step, [*samples, *[samples[i] for i in places]])
    rows = [np.zeros(primals[i].shape, dtype_of(primals[i])) if tangents[i] is None else tangents[i] for i in places]
    order = sorted(range(count + len(places)), key=lambda i: loop.part(i if i < count else places[i - count]))
    number = Counter(loop.part(place) for place in places)
    dual = loop._replace(
        body=body.program([body.given[i] for i in order], body.forward, body.results),
        carries=loop.carries + number[0],
        columns=loop.columns + number[1],
    )
    given = [*primals, *rows]
    found = dict(zip(ends, SCAN(*[given[i] for i in order], loop=dual)[loop.carries :], strict=True))
    return tuple([found.get(i) for i in range(len(y))])


def _batched(size: int, primitive: Primitive, args: list[Argument], params: Params) -> tuple[Any, ...]:
    """A scan of all examples of a batch: one whose values have a further axis."""
    loop: Scan = params["loop"]
    moved = loop.reached([arg.batched for arg in args], "buif")
    ends = dependent(loop.body, moved, "buif")
    ends = [end or (i < loop.carries and moved[i]) for i, end in enumerate(ends)]

    step = batched_step(size, loop.body, moved, ends)
    samples = [np.stack([x] * size) if each else x for x, each in zip(loop.samples, moved, strict=True)]
    with FieldBlock(grad=False):
        body = recorded_body(recording(), step, samples)
    given = [whole(size, arg) if each else arg.value for arg, each in zip(args, moved, strict=True)]
    for i in range(loop.carries, loop.carries + loop.columns):
        given[i] = _turned(given[i]) if moved[i] else given[i]
    found = SCAN(*given, loop=loop._replace(body=body.program(body.given, body.forward, body.results)))
    turned = [
        _turned(x) if end and i >= loop.carries else x for i, (x, end) in enumerate(zip(found, ends, strict=True))
    ]
    return tuple([whole(size, Argument(x, end)) for x, end in zip(turned, ends, strict=True)])


def _turned(value: Any) -> Any:
    """A value whose first two axes are exchanged."""
    return ops.permute_dims(value, axes=(1, 0, *range(2, len(value.shape))))


def evaluated(program: Program, leaves: Sequence[Any]) -> Leaves:
    """What a program gives for tensors, operation by operation."""
    held: dict[Value, Any] = dict(zip(program.inputs, leaves, strict=True)) | program.constants
    for equation in program.equations:
        made = equation.primitive(*[held[value] for value in equation.inputs], **equation.params)
        held.update(zip(equation.outputs, made if type(made) is tuple else (made,), strict=True))
    return [constant(held[value]) for value in program.outputs]


SCAN = general("scan_loop", forward=_scan, inputs=("*arrays",), joint=_pulled, push=_pushed, outputs=2, cost=0)
batching_rules.RULES[SCAN.name] = _batched
