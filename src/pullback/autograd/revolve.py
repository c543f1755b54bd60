"""Loops with a memory-saving backward pass: a few states are stored, and the steps between them are run again.

The gradient of n steps needs the state before each step, in reverse order. With all states stored, no step is run
again; with fewer, states are recomputed from stored ones, and the schedule says which states to store in the meantime.
This schedule is optimal: A. Griewank and A. Walther, "Algorithm 799: Revolve", ACM Transactions on Mathematical
Software 26 (2000), 19-45. It stores states on the way to the last step, and later reuses freed slots on the way from a
stored state to an earlier step.

The loop is one operation on the tape. Each step is recorded on a separate tape, which starts at the step's state and is
dropped after the step. If a step uses a tensor that is not part of the state, the loop has an edge to that tensor, and
accumulates its cotangents.
"""

from __future__ import annotations

import contextvars
import functools
import inspect
import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from .._core import xp as _xp
from .._core.errors import kind, modified
from .._core.modes import FieldBlock, Mode, mode, running, under
from .._core.primitives import Carrier, general, linear
from .._core.sites import caller
from .._core.trees import flatten, paths, unflatten
from .._numerics.random import Moment, sources
from .._tape.memory import version
from .._tape.node import AccumulateGrad, Node, count, hooks_of, leaf
from .._tape.recording import Freed, Tape
from .._tape.views import alias
from .._tape.walk import Pass
from .checkpointing import CheckpointError, Kept

if TYPE_CHECKING:
    from types import ModuleType
    from typing import SupportsIndex, TypeAlias

    from .._core.typing import Array, Tensor

    Cotangent: TypeAlias = Array | Tensor  # in a pass that is recorded, gradients are tensors

T = TypeVar("T")

# 1. The schedule
#
# Given s free slots, one of which holds the state before the first of l steps, and at most r forward runs of any step,
# l can be at most beta(s, r) = (s + r)! / (s! r!): if the next state stored is that after m steps, the steps after it
# have s - 1 slots and r runs, those before it s slots and r - 1 runs. The number of runs is the sum over all steps, at
# best r l - beta(s + 1, r - 1).


def reach(places: int, times: int) -> int:
    """The largest number of steps reversible with `places` stored states and `times` runs per step."""
    return math.comb(places + times, times) if times >= 0 else 0


def least_times(length: int, places: int) -> int:
    """The number of times that some step has to be run before its gradient can be computed."""
    times = 0
    while reach(places, times) < length:
        times += 1
    return times


def least_runs(length: int, places: int) -> int:
    """The least number of step runs needed for the gradient of a loop of a given length, counted from its start.

    That is t = r n - C(s + r, r - 1) for n steps and s stored states, where r is the least number with n <= C(s + r, r)
    (Griewank and Walther 2000). Not counted is the run of each step for its own gradient. So for a loop with all states
    stored t = n - 1, the steps needed to reach the last one. `checkpoint_loop` reaches the last step while it computes
    the result, and still has its graph; it runs steps again t times.

    >>> from pullback.autograd.revolve import least_runs
    >>> least_runs(10_000, 10), least_runs(10, 1), least_runs(10, 10)
    (57624, 45, 9)
    """
    times = least_times(length, places)
    return times * length - reach(places + 1, times - 1)


def next_stored(length: int, places: int) -> int:
    """The number of steps after which to store the next state, for `length` steps and two slots or more."""
    times = least_times(length, places)
    return min(reach(places, times - 1), length - reach(places - 1, times - 1))


# 2. States and steps


class State(NamedTuple):
    """A state between two steps: its leaves, and which of them are tracked as inputs of the next step.

    The first state is the caller's, with its history.
    """

    position: int
    leaves: Sequence[Tensor]
    tracked: Sequence[bool]


class Stored(NamedTuple):
    """A stored state, with the state of the random generators at that point."""

    position: int
    leaves: Sequence[Kept]
    tracked: Sequence[bool]
    moment: Moment

    def state(self) -> State:
        """The state; the random generators are restored too."""
        self.moment.restore()
        leaves = [each.tensor(tracked=not self.position) for each in self.leaves]
        return State(self.position, leaves, self.tracked)


class Taken(NamedTuple):
    """A step that has been run, with its graph."""

    position: int
    leaves: Sequence[Tensor]  # the leaves it returned
    starts: Sequence[Node | None]  # the nodes at which the cotangents of its state arrive
    since: int  # its graph's nodes are newer

    def state(self) -> State:
        """The state after the step, without the graph."""
        tracked = [each._node is not None for each in self.leaves]
        bare = [
            alias(each, each.interpreter.wrap(each._array, None)) if cut else each
            for each, cut in zip(self.leaves, tracked, strict=True)
        ]
        return State(self.position + 1, bare, tracked)

    def graph(self) -> tuple[list[Node], list[Node]]:
        """The nodes of the step, and the older nodes outside it that they lead to."""
        nodes: dict[Node, None] = {}
        outside: dict[Node, None] = {}
        stack = [each._node for each in self.leaves]
        while stack:
            node = stack.pop()
            if node is None or node in nodes or node in outside:
                continue
            if node.seq < self.since:
                outside[node] = None
            else:
                nodes[node] = None
                stack.extend(node.edges)
        return sorted((node for node in nodes if node.edges), key=_age), list(outside)


def _age(node: Node) -> int:
    return -node.seq


_STATE = linear("checkpointed_state", lambda xp, g: g, forward=lambda x: x, title="CheckpointLoopState")
"""The history of a step's input state: a single node, at which its cotangent arrives."""


class Nested(Exception):  # noqa: N818  # not an error: it ends the loop
    """Raised when a loop runs inside a transform that needs to see all its operations."""


UNHOOKED = functools.partial(FieldBlock, pack=None, unpack=None)  # values that a step saves are dropped or used soon


class Loop:
    """The data of a loop's node: stored states, and the means to compute one state from another."""

    def __init__(self, step: Callable[..., Any], x: Any, n: int, slots: int, preserve_rng_state: bool) -> None:
        self.step = step
        self.indexed = _takes_the_index(step)
        self.n = n
        self.slots = slots
        self.sources = sources() if preserve_rng_state else []
        self.start = Moment(self.sources)
        self.context = contextvars.copy_context()
        self.leaves, self.structure = flatten(x)
        for each, path in zip(self.leaves, paths(self.structure, "x"), strict=True):
            if not isinstance(each, Carrier):
                raise TypeError(
                    f"checkpoint_loop(): a state is a tensor, or a tuple, list or dict of tensors; {path} is "
                    f"{'None' if each is None else f'a {type(each).__name__}'}: make it a tensor, or let step close over it"
                )
        self.tape: Tape | None = None
        self.outside: dict[Node, int | None] = {}  # tensors that steps use besides their state; versions of leaves
        self.began = next(count)
        self.last: Taken | None = None
        self.stored: list[Stored] = []

    def whole(self, leaves: Sequence[Tensor]) -> Sequence[Tensor]:
        """The leaves of the result, with the graphs of all steps retained."""
        for position in range(self.n):
            leaves = self.call(leaves, position)
        return leaves

    def call(self, leaves: Sequence[Tensor], position: int) -> list[Tensor]:
        """The leaves that a step returns, which must match its input state."""
        state = unflatten(self.structure, leaves)
        found, structure = flatten(self.step(state, position) if self.indexed else self.step(state))
        if structure != self.structure:
            raise TypeError(
                f"checkpoint_loop(): step {position} returned {structure} for a state {self.structure}, where each * is a "
                "tensor: it must return a state nested in the same way"
            )
        for each, like, path in zip(found, self.leaves, paths(structure, "x"), strict=True):
            if not isinstance(each, Carrier):
                raise TypeError(
                    f"checkpoint_loop(): step {position} returned a {type(each).__name__} for {path}, a tensor"
                )
            if each.shape != like.shape or each._dtype != like._dtype:
                raise RuntimeError(
                    f"checkpoint_loop(): step {position} returned for {path} a {kind(each)}, and was given a {kind(like)}: "
                    "a state keeps its shapes and dtypes"
                )
        return found

    def take(self, state: State) -> Taken:
        """Run a step from a state, on a tape that starts there."""
        since = next(count)
        starts: list[Node | None] = [None] * len(state.leaves)
        if state.position:
            for i, each in enumerate(state.leaves):
                if state.tracked[i]:
                    start = starts[i] = leaf(each, each._array)
                    tape, array = each.interpreter, each._array
                    each._node = tape.record(_STATE, (each,), (start,), array, {}, conjugated=False)._node
        return Taken(state.position, self.call(state.leaves, state.position), starts, since)

    def store(self, state: State, hooks: Mode) -> Stored:
        """A state, stored through the mode's hooks on saved values if it has any."""
        with FieldBlock(pack=hooks.pack, unpack=hooks.unpack):
            kept = [Kept(each) for each in state.leaves]
        return Stored(state.position, kept, state.tracked, Moment(self.sources))

    def reach(self, stored: list[Stored], end: int, hooks: Mode, *, first: bool = False) -> Taken:
        """The last step before `end`, run from the latest stored state; further states are stored on the way."""
        state = stored[-1].state()
        if state.position and state.position == end - 1:
            stored.pop()
        target = state.position
        while state.position < end - 1:
            if state.position == target:
                free = self.slots - len(stored)
                target = target + next_stored(end - target, free + 1) if free else end - 1
            taken = self.take(state)
            if first:
                self.notice(taken)
            state = taken.state()
            del taken
            if state.position == target < end - 1:
                stored.append(self.store(state, hooks))
        return self.take(state)

    def notice(self, taken: Taken) -> None:
        """Record the tensors that a step uses from outside the loop; refuse those that cannot get a gradient."""
        leaves: Sequence[Carrier] = taken.leaves
        for each in leaves:
            if not isinstance(each.interpreter, Tape) or type(each._array) is not np.ndarray:
                raise Nested
            if each._node is not None:
                self.tape = self.tape or each.interpreter
                if each.interpreter is not self.tape:
                    raise Nested
        for node in taken.graph()[1]:
            if node.seq > self.began:
                raise RuntimeError(
                    f"checkpoint_loop(): step {taken.position} uses a tensor that an earlier step has made, but not as "
                    "part of its state, so that its gradient would be lost: make it part of what step returns"
                )
            tensor = _leaf(node)
            self.outside[node] = None if tensor is None else version(tensor)

    def recorded(self) -> Any:
        """The result, with the history of the loop."""
        tracked = [each._node is not None for each in self.leaves]
        hooks = mode.get()
        with UNHOOKED():
            self.stored.append(self.store(State(0, self.leaves, tracked), hooks))
            taken = self.reach(self.stored, self.n, hooks, first=True)
            self.notice(taken)
        self.sources = self.start.moved()
        for each in self.stored:
            each.moment.limit(self.sources)
        results = [*taken.leaves]
        if self.tape is not None:
            self.last = taken
            given = [each._node is not None for each in taken.leaves]
            places = [i for i, wanted in enumerate(given) if wanted]
            arrays = tuple(taken.leaves[i]._array for i in places)
            edges = (None, *self.outside)
            made = self.tape.record(_LOOP, (self,), edges, arrays, {"given": given}, conjugated=False)
            for i, result in zip(places, made, strict=True):
                assert result.grad_fn is not None
                hooks_of(result.grad_fn)  # its steps are the user's code
                results[i] = alias(taken.leaves[i], result)
        return unflatten(self.structure, results)

    def pull(self, xp: ModuleType, cotangents: Sequence[Cotangent | None]) -> list[Cotangent | None]:
        """The pullbacks of the result's cotangents, for all tensors outside the loop."""
        for node, before in self.outside.items():
            tensor = _leaf(node)
            if before is not None and tensor is not None and version(tensor) != before:
                advice = "The steps of a checkpoint_loop use it, and are run again in backward: write to it after that"
                raise modified(tensor, before, version(tensor), advice)
        pending: dict[Node, Cotangent] = {}
        stored = [*self.stored]
        del self.stored[1:]  # a further pass over a retained graph starts with the first state
        walker, context = running.get(None), self.context.copy()
        with Moment(self.sources).again():
            if all(g is None or type(g) is np.ndarray for g in cotangents):
                context.run(self.pull_steps, stored, cotangents, pending, (walker, xp is _xp, mode.get()))
            else:
                since = next(count)
                taken = Taken(0, context.run(self.unhooked, stored[0].state().leaves), (), since)
                self.back(self.part(walker, recorded=True), taken, cotangents, pending)
        return [pending.get(node) for node in self.outside]

    def pull_steps(
        self,
        stored: list[Stored],
        cotangents: Sequence[Cotangent | None],
        pending: dict[Node, Cotangent],
        around: tuple[Pass | None, bool, Mode],
    ) -> None:
        """Pull back through the steps in reverse order."""
        walker, raw, hooks = around
        taken, self.last = self.last, None
        with UNHOOKED():
            for end in range(self.n, 0, -1):
                taken = taken or self.reach(stored, end, hooks)
                cotangents = self.back(self.part(walker, raw=raw), taken, cotangents, pending)
                taken = None

    def unhooked(self, leaves: Sequence[Tensor]) -> Sequence[Tensor]:
        """The leaves of the result, without hooks on saved values."""
        with UNHOOKED():
            return self.whole(leaves)

    def part(self, around: Pass | None, *, raw: bool = False, recorded: bool = False) -> Pass:
        """A pass over a part of the tape, nested in another pass."""
        create_graph = recorded and (around is None or around.create_graph)
        recording = recorded and (around is None or around.recording)
        walker = Pass(self.tape, create_graph, recording, raw, None if recorded else Freed(caller()))  # type: ignore[arg-type]
        walker.targeted = around is not None and around.targeted
        return walker

    def back(
        self, walker: Pass, taken: Taken, cotangents: Sequence[Cotangent | None], pending: dict[Node, Cotangent]
    ) -> list[Cotangent | None]:
        """The cotangents of a step's input state from those of its result; others are added to `pending`."""
        for each, g in zip(taken.leaves, cotangents, strict=True):
            node = each._node
            if node is not None and g is not None:
                pending[node] = pending[node] + g if node in pending else g
        order, outside = taken.graph()
        for node in outside:
            if node not in self.outside:
                raise CheckpointError(
                    f"checkpoint_loop(): step {taken.position} uses another tensor when it is run again than it did at "
                    "first: it must not depend on anything that has changed since"
                )
        under(running, walker, _walked, walker, order, pending)
        return [None if start is None else pending.pop(start, None) for start in taken.starts]


def _walked(walker: Pass, order: list[Node], pending: dict[Node, Cotangent]) -> None:
    with np.errstate(all="ignore"):
        walker.walk(order, pending, frozenset(), None)
    for hook, arrived in walker.waiting.items():
        hook.finish(arrived)


def _leaf(node: Node) -> Tensor | None:
    """The leaf of a node; None if the node is not a leaf, or the leaf no longer exists."""
    return node.tensor() if isinstance(node, AccumulateGrad) else None


def _takes_the_index(step: Callable[..., Any]) -> bool:
    """True if a step takes its index, that is, if it has two positional parameters without a default."""
    try:
        parameters = inspect.signature(step).parameters.values()
    except (TypeError, ValueError):  # builtins may have no signature
        return False
    positional = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
    return sum(each.kind in positional and each.default is each.empty for each in parameters) >= 2


def _pull_loop(xp: ModuleType, g: Sequence[Cotangent], loop: Loop, *, given: Sequence[bool]) -> list[Cotangent | None]:
    rest = iter(g)
    return [None, *loop.pull(xp, [next(rest) if each else None for each in given])]


_LOOP = general(
    "checkpoint_loop",
    forward=lambda loop, *outside: loop,
    inputs=("loop", "*outside"),
    joint=_pull_loop,
    halves="as written",
    title="CheckpointLoopBackward",
    complex="as written",
)


# 3. The public function


def checkpoint_loop(step: Callable[..., T], x: T, n: int, slots: int, *, preserve_rng_state: bool = True) -> T:
    """The state after n steps from x; its backward pass needs memory for `slots` states and the graph of one step.

    `step(x)`, or `step(x, i)` if it has two parameters without defaults, returns the next state. A state is a tensor,
    or a nested tuple, list or dict of tensors; its shapes and dtypes do not change. Gradients reach x and every other
    tensor that the steps use, and are bitwise equal to those of the plain loop.

    In backward, steps are run again by the schedule of Griewank and Walther (2000), which is optimal: `least_runs(n,
    slots)` times in all. 10 000 steps with 10 slots are run again 57 624 times, about 6 times each. With
    `create_graph=True`, or inside a transform, the graphs of all steps are retained instead.

    Parameters
    ----------
    step, x, n
        What gives the next state, the first state, and the number of steps.
    slots
        The number of states that may be stored, including x. Within a block of `saved_tensors_hooks` they are packed.
    preserve_rng_state
        If true, a step that is run again gets its original random numbers: pullback's, and NumPy's global ones.

    Raises
    ------
    TypeError
        If x or step's result is not nested tensors, or n or slots is not an integer.
    ValueError
        If n is negative, or slots less than 1.
    RuntimeError
        If step changes a shape or dtype, or uses a tensor that an earlier step created but did not return as state; in
        backward, if a step uses a leaf that has been written to since.

    >>> import pullback
    >>> decay = pullback.tensor(0.5, requires_grad=True)
    >>> x = pullback.checkpoint_loop(lambda x: x - 0.001 * decay * x, pullback.ones(()), 1000, slots=5)
    >>> x.backward()
    >>> x, decay.grad
    (tensor(0.6065, grad_fn=<CheckpointLoopBackward>), tensor(-0.6068))
    """
    n, slots = _number("n", n, 0), _number("slots", slots, 1)
    loop = Loop(step, x, n, slots, preserve_rng_state)
    if not n:
        return x
    if mode.get().grad:
        try:
            return loop.recorded()
        except Nested:
            loop.start.restore()
    return unflatten(loop.structure, loop.whole(loop.leaves))


def _number(name: str, value: SupportsIndex, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"checkpoint_loop(): {name} must be an int, not {type(value).__name__}: {value!r}") from None
    if number < least:
        raise ValueError(f"checkpoint_loop(): {name} must be at least {least}, got {number}")
    return number
