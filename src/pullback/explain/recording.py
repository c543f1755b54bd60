"""Recording: all operations in a part of a program, and every backward call in it.

Three general hooks of the library are used: `compute` and `watcher` of the mode, which observe operations, writes and
passes of this thread, and hooks on nodes, which observe the gradients of a pass. The program's behaviour does not
change, and outside a recording nothing is observed.
"""

from __future__ import annotations

import functools
import sys
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._core import errors
from .._core.modes import FieldBlock, mode, quiet, running
from .._core.sites import Site, caller, internal
from .._tape.memory import cell_of, cell_with, version
from .._tape.node import AccumulateGrad, Hooks, Node, Output, hooks_of
from .._tape.recording import Operation
from .._tape.walk import Pass, youngest_first
from .arrays import Kept, Limits, kept, plain
from .calls import call_text, finished
from .explanation import Explanation
from .naming import Named, name_of, names_in
from .parameters import Losses, Parameters
from .rules import raw, several
from .scopes import Scopes, program_frame
from .sources import Place, place_of
from .trace import Call, Failure, Finding, Overwritten
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

    def __init__(self, walker: Pass, tracer: CallTracer, before: dict[Node, Kept | None]) -> None:
        self.walker, self.tracer, self.before = walker, tracer, before
        self.handles: list[Any] = []
        self.bare: list[Node] = []
        self.jacobians: tuple[dict[Node, Any], str | None] = ({}, None)
        self.finish: Callable[[], Call] = lambda: tracer.call("", "backward", None, [False] * len(tracer.roots))

    def watch(self, order: Sequence[Node]) -> None:
        """Register hooks on the nodes; they run after the program's own hooks."""
        for node in order:
            if node.hooks is None:
                self.bare.append(node)
            hooks = hooks_of(node)
            if several(node) or (hooks.pre and node.edges):
                self.handles.append(hooks.add("pre", functools.partial(self._arrived, node)))
            else:  # also called where the node does not run
                self.handles.append(hooks.add("tensor", functools.partial(self._reached, node)))
            if node.edges and not isinstance(node, Output):
                self.handles.append(hooks.add("post", functools.partial(self._sent, node)))

    @property
    def runs(self) -> bool:
        """True if this call is the one running, and not a pass over the same nodes from a hook or another thread."""
        return running.get(None) is self.walker

    def _arrived(self, node: Node, cotangents: Sequence[object]) -> None:
        if not self.runs:
            return
        arrays = [plain(g) for g in cotangents]
        with raw():
            self.tracer.arrived(node, arrays if several(node) else arrays[0])

    def _reached(self, node: Node, cotangent: object) -> None:
        self._arrived(node, (cotangent,))

    def _sent(self, node: Node, results: Sequence[object], cotangents: Sequence[object]) -> None:
        if self.runs:
            self.tracer.sent(node, node.edges, [plain(result) for result in results])

    def release(self) -> None:
        """Remove the hooks without a trace."""
        for handle in self.handles:
            handle.remove()
        for node in self.bare:
            hooks = node.hooks
            if isinstance(hooks, Hooks) and not (hooks.pre or hooks.post or hooks.tensor or hooks.retained):
                node.hooks = None


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
        self._block: FieldBlock | None = None
        self._before: Any = None
        self._parameters, self._losses = Parameters(), Losses()
        self.count = 0
        self.kinds: set[str] = set()

    def __enter__(self) -> Self:
        if self._block is not None:
            raise RuntimeError("this recording has been entered already: call pullback.explain.record() for another")
        self._scopes = Scopes(self._base or program_frame(2), skip=self._skip)
        self.scopes = self._scopes.all
        self._before = mode.get()
        self._block = FieldBlock(compute=self._computed, watcher=self)
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

    def _computed(self, operation: Operation) -> Any:
        """Compute an operation as usual, and record its result."""
        start = time.perf_counter()
        out = operation.seen(self._before.compute, quiet.copy)
        taken = time.perf_counter() - start
        if operation.tape.level == 0:
            for piece in out if type(out) is tuple else (out,):
                if piece._node is not None:
                    self._note(piece, taken)
        return out

    def _note(self, tensor: Tensor, taken: float | None) -> None:
        scope = self._scopes.enter(sys._getframe(1))
        cell = tensor._cell or (None if tensor._inference else cell_of(tensor))
        timed = taken if self.limits.timing else None
        assert tensor._node is not None
        self._records[tensor._node] = Record(cell, self._scopes.execution, scope, timed, version(tensor))

    def wrote(self, tensor: Tensor, recorded: bool) -> None:
        """Called when a tensor is written: a recorded value is copied, since it may be written again."""
        if self._before.watcher is not None:
            self._before.watcher.wrote(tensor, recorded)
        if tensor.level:
            return
        site = caller()
        for each in (tensor,) if tensor._storage is None else tensor._storage.tensors():
            gone = functools.partial(self._gone, id(each))
            self._written[id(each)] = weakref.ref(each, gone), site
        if not recorded or tensor._node is None or isinstance(tensor._node, AccumulateGrad):
            return
        record = self._records.get(tensor._node)
        if record is None:
            self._note(tensor, None)
            record = self._records[tensor._node]
        array = plain(tensor)
        record.cell = None if array is None else cell_with(array.copy())
        record.version = version(tensor)

    def _gone(self, key: int, _: object) -> None:
        """Called when a written tensor is freed."""
        self._written.pop(key, None)

    # Passes

    def begins(
        self, walker: Pass, order: Sequence[Node], roots: Sequence[tuple[Node, object]], needed: set[Node] | None
    ) -> Any:
        """Called at the start of a pass: register hooks on its nodes. Returns the function that walks, unchanged."""
        before = self._before.watcher
        walk = walker.walk if before is None else before.begins(walker, order, roots, needed)
        self._opens(walker, order, roots, needed)
        return walk

    def _opens(
        self, walker: Pass, order: Sequence[Node], roots: Sequence[tuple[Node, object]], needed: set[Node] | None
    ) -> None:
        """Collect what must be known of a pass before anything is freed."""
        if walker.tape.level or (self._open is not None and running.get(None) is self._open.walker):
            return
        self._close()
        nodes = [node for node in order if needed is None or node in needed]
        starts = [(node, plain(g)) for node, g in roots]
        if not nodes or any(v is None for _, v in starts):
            return
        arrays: list[tuple[Node, np.ndarray[Any, Any]]] = [(node, v) for node, v in starts if v is not None]
        caller, place, entry = where()
        tracer = self._tracer(nodes, arrays, needed, caller)
        before = {n: grad_of(n, self.limits) for n in tracer.ends}
        self._open = opened = Open(walker, tracer, before)
        with raw():
            opened.jacobians = jacobians(walker.tape, order, arrays, needed, tracer.ends, self.limits)
        text, implicit = call_text(tracer.tape, arrays, entry, place)

        def finish() -> Call:
            call = tracer.call(text, "backward", place, [implicit] * len(arrays))
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

    def ends(self, walker: Pass) -> None:
        """Called when a pass has written its gradients."""
        if self._before.watcher is not None:
            self._before.watcher.ends(walker)
        if self._open is not None and self._open.walker is walker:
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
        self.kinds |= {finding.kind for finding in call.findings}

    # Errors

    def _failed(self, error: Exception, interrupted: Call | None) -> None:
        """Record the program's exception with the graph so far; if it ended a pass, also the step in which it did."""
        place, frames, walked = None, [program_frame(2)], False
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            walked = walked or code is Pass.walk.__code__
            if not internal[code.co_filename]:
                frames.append(trace.tb_frame)
                place = place_of((code, trace.tb_lasti)) or Place(code.co_filename, trace.tb_lineno, None, None, None)
            trace = trace.tb_next
        self.failure = failure = Failure(type(error).__name__, str(error), place)
        failure.overwritten = self._overwritten(error, frames)
        if walked and interrupted is not None and interrupted.steps:
            failure.tensor = interrupted.steps[-1].outputs[0]
            failure.call = len(self.all_calls) - 1
            return
        self.keep_tape(names_in(frames[-1]))
        if self.all_calls:
            failure.call = len(self.all_calls) - 1
            tensors = self.all_calls[-1].tensors
            failure.tensor = tensors[-1] if tensors and not self.all_calls[-1].outputs else None

    def _overwritten(self, error: Exception, frames: Sequence[FrameType]) -> Overwritten | None:
        """The tensor that was written although a pass needed its old value, if that is the error."""
        found = getattr(error, "overwritten", None)
        if not isinstance(found, errors.Overwritten):
            return None
        node = found.tensor._node
        traced = None if self._known is None or node is None else self._known.get(node)
        name = traced.name if traced is not None else name_of(found.tensor, frames) or f"a {errors.kind(found.tensor)}"
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
        nodes = youngest_first(fresh)
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
    while internal[frame.f_code.co_filename] and frame.f_back is not None:
        code = frame.f_code
        if code.co_argcount + code.co_kwonlyargcount:  # a function of *args alone stands for another one
            entry = frame
        frame = frame.f_back
    return frame, place_of((frame.f_code, frame.f_lasti)), entry


def ends_of(nodes: Sequence[Node], needed: set[Node] | None) -> list[Node]:
    """The nodes whose gradients are stored: leaves, tensors that retain theirs, and requested inputs."""
    found = []
    for node in reversed(nodes):
        retained = node.hooks is not None and node.hooks.retained is not None and node.hooks.retained() is not None
        target = needed is not None and needed.isdisjoint(edge for edge in node.edges if edge is not None)
        if isinstance(node, AccumulateGrad) or retained or target:
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
    grad = node.grad if isinstance(node, AccumulateGrad) else None
    if grad is None and node.hooks is not None and node.hooks.retained is not None:
        tensor = node.hooks.retained()
        grad = None if tensor is None else tensor._kept_grad
    array = plain(grad)
    return None if array is None else kept(array, limits)
