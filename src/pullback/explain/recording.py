"""Recording: all operations in a part of a program, and every backward call in it.

It observes operations, writes and passes of this thread, and what passes through each node, by `pullback.observe`. The
program's behaviour does not change, and outside a recording nothing is observed.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .. import observe
from ..observe import (
    AccumulateGrad,
    BackwardPass,
    Node,
    Site,
    ancestors,
    caller,
    gradient,
    in_words,
    is_internal,
    retains,
)
from .accounts import account
from .arrays import Kept, Limits, kept, plain
from .calls import call_text, finished
from .explanation import Explanation
from .failing import Failed, message_of, origin
from .fixes import fixes
from .naming import Named, name_of, names_in
from .operands import Operands
from .parameters import Losses, Parameters
from .rules import several
from .scopes import Scopes, program_frame
from .sources import Place, place_of
from .trace import Call, Finding, Overwritten
from .tracing import CallTracer, Nodes, Record
from .walking import jacobians

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._core.typing import Array, Tensor


CALLS = 100
"""The number of backward calls that are stored; of more calls, the last ones."""


KEPT = "explain: the tape is kept; pullback.explain.last_error() shows it"
"""The note on an exception that ends a recording."""

failures: deque[Recording] = deque(maxlen=1)
"""The last recording that was ended by an exception."""


class Open:
    """A backward call that is in progress."""

    def __init__(self, backward: BackwardPass, tracer: CallTracer, before: dict[Node, Kept | None]) -> None:
        self.backward, self.tracer, self.before = backward, tracer, before
        self.handles: list[observe.WatchHandle] = []
        self.jacobians: tuple[dict[Node, Any], str | None] = ({}, None)
        self.finish: Callable[[], Call] = lambda: tracer.call("", "backward", None, [False] * len(tracer.roots))

    def watch(self, order: Sequence[Node]) -> None:
        """Look at the nodes, after the program's own hooks; where a node has some, before them, too."""
        for node in order:
            sent = functools.partial(self._sent, node)
            ran = self._ran if observe.hooks(node) else None
            self.handles.append(observe.watch(node, functools.partial(self._arrived, node), sent, ran))

    def _arrived(self, node: Node, cotangents: Sequence[object]) -> None:
        if not self.backward.runs:  # it is a pass over the same nodes from a hook or another thread
            return
        arrays = [plain(g) for g in cotangents]
        with observe.aside():
            self.tracer.arrived(node, arrays if several(node) else arrays[0])

    def _ran(self, results: Sequence[object]) -> None:
        if self.backward.runs:
            self.tracer.given = [plain(result) for result in results]

    def _sent(self, node: Node, results: Sequence[object]) -> None:
        if self.backward.runs:
            self.tracer.sent(node, node.edges, [plain(result) for result in results])

    def release(self) -> None:
        """Look no longer."""
        for handle in self.handles:
            handle.remove()


class _Observed(observe.Observer):
    """The observer of a recording."""

    finds_modules = False  # it looks for scopes by itself

    def __init__(self, recording: Recording) -> None:
        super().__init__()
        self.recording = recording

    def operation(self, seen: observe.Operation) -> None:
        """Record what an operation of the program itself gave, and to what it was applied."""
        self.recording.operands.operation(seen)
        if seen.level == 0:
            for piece in seen.results:
                if observe.node(piece) is not None:
                    self.recording.note(piece, seen.seconds)

    def wrote(self, write: observe.Write) -> None:
        """Record that a tensor was written."""
        self.recording.wrote(write)
        self.recording.operands.wrote(write)

    def looked(self, tensor: Tensor) -> None:
        """Record that the program has asked for numbers."""
        self.recording.operands.looked(tensor, caller())

    def begins(self, backward: BackwardPass) -> None:
        """Prepare for a pass."""
        self.recording.opens(backward)

    def ends(self, backward: BackwardPass) -> None:
        """Explain a pass."""
        self.recording.ended(backward)


class Recording(Explanation):
    """An explained block of a program: `calls` has one explanation for each backward call in it.

    The recording itself shows its last call. It belongs to the thread that enters it.

    >>> import pullback
    >>> w = pullback.tensor([3.0], requires_grad=True)
    >>> with pullback.explain.record() as recording:
    ...     (w * w).sum().backward()
    >>> len(recording.calls)
    1
    """

    def __init__(
        self, limits: Limits, most: int = CALLS, base: FrameType | None = None, skip: int = 0, hint: str = KEPT
    ) -> None:
        super().__init__(deque(maxlen=most), limits, recorded=True)
        self._base, self._skip, self._hint = base, skip, hint
        self._records: weakref.WeakKeyDictionary[Node, Record] = weakref.WeakKeyDictionary()
        self._told: weakref.WeakSet[Node] = weakref.WeakSet()
        self._written: dict[int, tuple[weakref.ref[Any], Site]] = {}
        self._open: Open | None = None
        self._block: _Observed | None = None
        self._parameters, self._losses = Parameters(), Losses()
        self.operands = Operands()
        self.count = 0
        self.kinds: set[str] = set()

    def __enter__(self) -> Self:
        if self._block is not None:
            raise RuntimeError("this recording has been entered already: call pullback.explain.record() for another")
        self._scopes = Scopes(self._base or program_frame(2), skip=self._skip)
        self.scopes = self._scopes.all
        self._block = _Observed(self)
        self._block.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._block is not None
        self._block.__exit__(kind, error, trace)
        try:
            interrupted = self._close()
            if error is None and self.count:
                self._found(self.all_calls[-1], self._parameters.findings(self.all_calls[-1], self.notes))
            if isinstance(error, Exception):
                self._failed(error, interrupted)
                failures.append(self)
                if self._hint:
                    error.add_note(self._hint)
        finally:
            self._scopes.close()

    # Operations

    def note(self, tensor: Tensor, taken: float | None) -> None:
        """Record a new tensor, and in what time it was computed."""
        scope = self._scopes.enter(sys._getframe(1))
        timed = taken if self.limits.timing else None
        node: Any = observe.node(tensor)
        cell = observe.snapshot(tensor)
        self._records[node] = Record(cell, self._scopes.execution, scope, timed, observe.version(tensor))

    def wrote(self, write: observe.Write) -> None:
        """Called when a tensor was written: of a recorded one, the value after that is the one to show."""
        tensor, node = write.tensor, observe.node(write.tensor)
        if tensor.level:
            return
        for each in observe.aliases(tensor):
            self._written[id(each)] = weakref.ref(each, functools.partial(self._gone, id(each))), write.site
        if not write.recorded or node is None or isinstance(node, AccumulateGrad):
            return
        if node not in self._records:
            self.note(tensor, None)
        record = self._records[node]
        record.cell, record.version = observe.snapshot(tensor), observe.version(tensor)

    def _gone(self, key: int, _: object) -> None:
        """Called when a written tensor is freed."""
        self._written.pop(key, None)

    # Passes

    def opens(self, backward: BackwardPass) -> None:
        """Collect what must be known of a pass before anything is freed."""
        if backward.level or (self._open is not None and self._open.backward.runs):
            return
        order, roots, needed = backward.nodes, backward.roots, backward.needed
        self._close()
        nodes = [node for node in order if needed is None or node in needed]
        starts = [(node, plain(g)) for node, g in roots]
        if not nodes or any(v is None for _, v in starts):
            return
        arrays: list[tuple[Node, np.ndarray[Any, Any]]] = [(node, v) for node, v in starts if v is not None]
        caller, place, entry = where()
        tracer = self._tracer(nodes, arrays, needed, caller)
        before = {n: grad_of(n, self.limits) for n in tracer.ends}
        self._open = opened = Open(backward, tracer, before)
        with observe.aside():
            opened.jacobians = jacobians(backward.tape, order, arrays, needed, tracer.ends, self.limits)
        text, implicit = call_text(tracer.tape, arrays, entry, place)
        made = account(self.operands, tracer.tape, [v for _, v in arrays])

        def finish() -> Call:
            call = tracer.call(text, "backward", place, [implicit] * len(arrays))
            call.account = made
            return finished(call, tracer, *opened.jacobians)

        opened.finish = finish
        opened.watch(nodes)

    def _tracer(
        self, nodes: Sequence[Node], roots: Sequence[tuple[Node, Array]], needed: set[Node] | None, caller: FrameType
    ) -> CallTracer:
        tape, notes = shortened_tape(nodes[::-1], self._records, names_in(caller), self.limits)
        self.notes += notes
        self._told.update(nodes)
        if needed is None:
            self._parameters.see(caller, nodes, roots[0][0])
        return CallTracer(tape, roots, ends_of(nodes, needed))

    def ended(self, backward: BackwardPass) -> None:
        """Called when a pass has written its gradients."""
        if self._open is not None and self._open.backward is backward:
            self._close()

    def _close(self) -> Call | None:
        """Create the explanation of the call in progress."""
        opened, self._open = self._open, None
        if opened is None:
            return None
        opened.release()
        call = opened.finish()
        for leaf, node in zip(call.leaves, [n for n in opened.tracer.ends if n in opened.tracer.arrivals], strict=True):
            leaf.grad_before, leaf.grad_after = opened.before[node], grad_of(node, self.limits)
        self.count += 1
        self._found(call, self._losses.see(call))
        self._start = weakref.ref(opened.tracer.roots[0][0])
        self._known = weakref.WeakKeyDictionary(opened.tracer.tape.traced)
        self.all_calls.append(call)
        return call

    def _found(self, call: Call, findings: list[Finding]) -> None:
        """Add findings that need more than one call to know."""
        call.findings += findings
        self.kinds |= {kind for finding in call.findings for kind in finding.kinds}

    # Errors

    def _failed(self, error: Exception, interrupted: Call | None) -> None:
        """Record the program's exception with the graph so far; if it ended a pass, also the step in which it did."""
        failed = origin(error, program_frame(2))
        walked = observe.from_backward(failed.error)
        overwritten = self._overwritten(failed.error, failed.frames)
        self.failure = failure = failed.failure(self._scopes, overwritten, redact=self.limits.redact)
        if failed.error is not error:
            last = Failed(error, program_frame(2)).place
            text = message_of(error).partition("\n")[0]
            where = "" if last is None else f" at {last.where}"
            failure.raised = type(error).__name__
            self.notes.append(f"of it {type(error).__name__} was made{where}: {text}")
        if walked and interrupted is not None and interrupted.steps:
            failure.tensor = interrupted.steps[-1].outputs[0]
        else:
            self.keep_tape(names_in(failed.frames[-1]))
        if not self.all_calls:  # the failure has a page without a graph, too
            self.all_calls.append(Call("no backward call", "backward", None, [], [], [], [], []))
        failure.call = len(self.all_calls) - 1
        failed.show_stages(failure, self._scopes, self.all_calls[-1])
        failure.fixes = fixes(failed, failure, self._scopes, self.all_calls)

    def _overwritten(self, error: BaseException, frames: Sequence[FrameType]) -> Overwritten | None:
        """The tensor that was written although a pass needed its old value, if that is the error."""
        found = getattr(error, "overwritten", None)
        if found is None:
            return None
        node = observe.node(found.tensor)
        traced = None if self._known is None or node is None else self._known.get(node)
        name = traced.name if traced is not None else name_of(found.tensor, frames) or f"a {in_words(found.tensor)}"
        writer = self._written.get(id(found.tensor))
        place = None if writer is None else place_of(writer[1])
        return Overwritten(name, traced, found.expected, found.version, place)

    def keep_unpulled(self, names: dict[Node, Named]) -> None:
        """Add the operations of a program that has called no backward; what others leave is evaluation, or an output not used."""
        if not self.count:
            self.keep_tape(names)

    def keep_tape(self, names: dict[Node, Named]) -> None:
        """Add the operations that no backward call has used as a separate call without backward steps."""
        fresh = [node for node in list(self._records) if node not in self._told]
        if not fresh:
            return
        nodes = ancestors(fresh)
        tape, notes = shortened_tape(nodes[::-1], self._records, names, self.limits)
        self.notes += notes
        tracer = CallTracer(tape, [(nodes[0], np.zeros(()))], [])
        tracer.travelling = 0
        call = finished(tracer.call("no backward call", "backward", None, [True]), tracer, {}, None)
        call.outputs = []
        self.all_calls.append(call)


def where() -> tuple[FrameType, Place | None, FrameType]:
    """The program's frame that called backward, its place, and the library's function that was called."""
    frame = entry = sys._getframe(1)
    while is_internal(frame.f_code.co_filename) and frame.f_back is not None:
        code = frame.f_code
        if code.co_argcount + code.co_kwonlyargcount:  # a function of *args alone stands for another one
            entry = frame
        frame = frame.f_back
    return frame, place_of((frame.f_code, frame.f_lasti)), entry


def ends_of(nodes: Sequence[Node], needed: set[Node] | None) -> list[Node]:
    """The nodes whose gradients are stored: leaves, tensors that retain theirs, and requested inputs."""
    found = []
    for node in reversed(nodes):
        target = needed is not None and needed.isdisjoint(edge for edge in node.edges if edge is not None)
        if isinstance(node, AccumulateGrad) or retains(node) or target:
            found.append(node)
    return found


def shortened_tape(
    nodes: Sequence[Node], records: Mapping[Node, Record], names: dict[Node, Named], limits: Limits
) -> tuple[Nodes, list[str]]:
    """A graph with at most `max_nodes` nodes: of a larger one the newest, with all its leaves."""
    surplus = len(nodes) - limits.max_nodes
    if surplus <= 0:
        return Nodes(nodes, records, names, limits), []
    old = [node for node in nodes[:surplus] if isinstance(node, AccumulateGrad)]
    note = f"{surplus - len(old)} of {len(nodes)} operations, the oldest, are left out: raise max_nodes= to have them"
    return Nodes([*old, *nodes[surplus:]], records, names, limits), [note]


def grad_of(node: Node, limits: Limits) -> Kept | None:
    """The current `.grad` of a leaf."""
    array = plain(gradient(node))
    return None if array is None else kept(array, limits)
