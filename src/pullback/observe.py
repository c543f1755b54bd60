"""Observers: the public interface for looking at a program as it runs, for tracers, profilers and explanations.

An observer only looks: operations compute, and are recorded, as they would without it. To give operations another meaning is
what `pullback.interpreters` is for: an interpreter receives the operations on the values that it has boxed and says what they
give, anywhere; an observer is told of every operation of its block, after it has run. Whoever wants to know which
operations there are observes; whoever wants other results interprets.

There are three kinds of things to see, each with its place here:

- operations, writes and backward passes, by the methods of an `Observer`, in the block that it is entered for;
- gradients on their way through one node, by `watch`; `register_hook` of nodes and tensors may also change them;
- what is there already: `value`, `node`, `gradient` and `version` of a tensor, `ancestors` of nodes, and of a node its
  `primitive`, `title`, `edges`, `params`, `shape`, `seq` and `site`.

Nothing here costs a program anything that does not use it: an observer is a field of the thread's mode, which each
operation asks anyhow.

>>> import pullback
>>> class Names(pullback.observe.Observer):
...     def operation(self, seen):
...         print(seen.name, [tuple(each.shape) for each in seen.results])
>>> x = pullback.ones(2, 3, requires_grad=True)
>>> with Names():
...     y = (x * 2).sum()
multiply [(2, 3)]
sum [()]
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from sys import _getframe
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from ._core.modes import Mode, ModeBlock, changed, mode, quiet, running, under
from ._core.primitives import Carrier, Primitive as Primitive
from ._core.sites import Site as Site, caller, describe as describe, internal, line_of as line_of, user_frame
from ._tape.memory import version as version
from ._tape.node import AccumulateGrad as AccumulateGrad, Hooks, Node as Node, Output as Output, grad_of, hooks_of
from ._tape.recording import Operation as _Computing
from ._tape.walk import Pass, youngest_first
from .nn.modules.calls import Calls

if TYPE_CHECKING:
    from ._core.typing import Tensor, Value
    from ._tape.recording import Tape
    from .nn import Module

__all__ = [
    "AccumulateGrad", "Backward", "Handle", "Node", "Observer", "Operation", "Output", "Primitive", "Site", "Write",
    "ancestors", "describe", "gradient", "is_internal", "line_of", "node", "retains", "running_module", "value", "version",
    "watch",
]  # fmt: skip

_CALL = Calls.__call__.__code__


# 1. Operations


class Operation(NamedTuple):
    """One operation that has run: what an observer's `operation` is called with.

    >>> import pullback
    >>> class Kept(pullback.observe.Observer):
    ...     def operation(self, seen):
    ...         self.last = seen
    >>> x = pullback.tensor([1.0, 2.0], requires_grad=True)
    >>> with Kept() as kept:
    ...     y = x.exp()
    >>> kept.last.name, kept.last.node is y.grad_fn, kept.last.result is y
    ('exp', True, True)
    """

    primitive: Primitive
    """The operation."""
    arguments: tuple[Any, ...]
    """Its operands: tensors, arrays and numbers."""
    params: dict[str, Any]
    """Its metadata, such as `axis`; not to be changed."""
    result: Any
    """What it gave: a tensor, or a tuple of tensors."""
    level: int
    """0 for the program's own tape, more for one of a transform that has been entered, such as `func.grad`."""
    computed: bool
    """Whether numbers were computed here: False where values are those of another level, which is shown by itself."""
    seconds: float
    """How long it took, with what other observers did."""
    site: Site
    """The line of the program that called it; see `describe` and `line_of`."""
    module: Module | None
    """The innermost module whose `forward` is running."""

    @property
    def name(self) -> str:
        """The name of the primitive."""
        return self.primitive.name

    @property
    def results(self) -> tuple[Any, ...]:
        """What it gave as a tuple, of one tensor too."""
        return self.result if type(self.result) is tuple else (self.result,)

    @property
    def node(self) -> Node | None:
        """The node that recorded it; None if it is not recorded."""
        found = next((made for each in self.results if (made := node(each)) is not None), None)
        return found.edges[0] if isinstance(found, Output) else found


class Write(NamedTuple):
    """A tensor was written in place: what an observer's `wrote` is called with."""

    tensor: Tensor
    """The tensor, after the write."""
    recorded: bool
    """Whether its derivative goes on through what was written."""
    site: Site
    """The line of the program that wrote."""


class Backward:
    """One backward pass: what an observer's `begins` and `ends` are called with."""

    def __init__(
        self, walker: Pass, order: Sequence[Node], roots: Sequence[tuple[Node, Value]], needed: set[Node] | None
    ):
        self._walker = walker
        self.site = caller(3)
        """The line of the program that called it."""
        self.nodes = order
        """All nodes below the roots, the youngest first: the order in which they run."""
        self.roots = roots
        """The nodes with which it begins, each with its cotangent."""
        self.needed = needed
        """The nodes on a way to the inputs that are asked for, as in `autograd.grad(y, x)`; None for all."""

    @property
    def tape(self) -> Tape:
        """The interpreter whose record is walked."""
        return self._walker.tape

    @property
    def level(self) -> int:
        """0 for the program's own tape, more for one of a transform."""
        return int(self._walker.tape.level)

    @property
    def runs(self) -> bool:
        """Whether this thread is within this pass, and not in one that a rule or a hook has called."""
        return running.get(None) is self._walker


class Observer(ModeBlock):
    """A block whose operations, writes and backward passes are shown: subclasses define what they want to see.

    The block belongs to the thread that enters it, and observers nest: the inner one is told first. What a method itself
    computes is neither observed nor recorded; an exception that it raises goes to the program. A function made
    by `pullback.compile` runs as it was written inside the block, so that its operations are shown, too. Operations that `vmap`
    and `jvp` do on numbers for which no derivative is recorded, with no tensor that requires grad, are not shown.

    >>> import pullback
    >>> class Passes(pullback.observe.Observer):
    ...     def begins(self, backward):
    ...         print([node.title for node in backward.nodes])
    >>> x = pullback.tensor([1.0, 2.0], requires_grad=True)
    >>> with Passes():
    ...     x.exp().sum().backward()
    ['SumBackward0', 'ExpBackward0', 'AccumulateGrad']
    """

    finds_modules = True
    """False saves the look at the stack that `Operation.module` takes; it is None then."""
    alone = False  # the short ways of operations show less: see `_core.modes`
    _before: Mode

    def operation(self, seen: Operation) -> None:
        """Called after an operation, also of a backward pass with `create_graph`, has run."""

    def wrote(self, write: Write) -> None:
        """Called after a tensor was written in place."""

    def begins(self, backward: Backward) -> None:
        """Called before a backward pass runs, while nothing has been freed."""

    def ends(self, backward: Backward) -> None:
        """Called after a backward pass has written its gradients; not if it has raised."""

    def _fields(self) -> dict[str, Any]:
        if len(self._around) > 1:
            raise RuntimeError("this observer has been entered already: make another one for a block inside its block")
        before = self._before = self._around[-1]
        self._passes: dict[Pass, Backward] = {}
        self._aside = changed(before, grad=False, pack=None, compute=None, watcher=None)
        return {"compute": self._computed, "watcher": _Told(self, before.watcher)}

    def _fresh(self) -> Observer:
        return self

    def _computed(self, computing: _Computing) -> Any:
        start = time.perf_counter()
        out = computing.seen(self._before.compute, quiet.copy)
        seconds = time.perf_counter() - start
        frame = _getframe(1)
        user = user_frame(frame)
        found = running_module(frame) if self.finds_modules else None
        computed = not any(isinstance(each, Carrier) for each in computing.values)
        given = computing.primitive, tuple(computing.args), computing.params, out, computing.tape.level, computed
        seen = Operation(*given, seconds, (user.f_code, user.f_lasti), found)
        under(mode, self._aside, self.operation, seen)
        return out


class _Told:
    """The watcher of a mode in which an observer is active, and the one that was there before."""

    alone = False

    def __init__(self, observer: Observer, before: Any) -> None:
        self.observer, self.before = observer, before

    def wrote(self, tensor: Tensor, recorded: bool) -> None:
        """Tell of a write."""
        if self.before is not None:
            self.before.wrote(tensor, recorded)
        under(mode, self.observer._aside, self.observer.wrote, Write(tensor, recorded, caller()))

    def begins(
        self, walker: Pass, order: Sequence[Node], roots: Sequence[tuple[Node, Value]], needed: set[Node] | None
    ) -> Callable[..., None]:
        """Tell of a pass that begins; the function that walks is the pass's own."""
        walk: Callable[..., None] = walker.walk
        if self.before is not None:
            walk = self.before.begins(walker, order, roots, needed)
        observer = self.observer
        if running.get(None) is None:  # those that are left have raised an exception
            observer._passes.clear()
        observer._passes[walker] = backward = Backward(walker, order, roots, needed)
        under(mode, observer._aside, observer.begins, backward)
        return walk

    def ends(self, walker: Pass) -> None:
        """Tell of a pass that has ended."""
        if self.before is not None:
            self.before.ends(walker)
        backward = self.observer._passes.pop(walker, None)
        if backward is not None:  # it began in the block
            under(mode, self.observer._aside, self.observer.ends, backward)


def running_module(frame: FrameType | None = None) -> Module | None:
    """The innermost module whose `forward` is running in this thread, seen from a frame; None outside of modules.

    >>> import pullback
    >>> pullback.observe.running_module() is None
    True
    """
    frame = frame or _getframe(1)
    while frame is not None:
        if frame.f_code is _CALL:
            found: Module = frame.f_locals["self"]
            return found
        frame = frame.f_back
    return None


def is_internal(filename: str) -> bool:
    """Whether a file, as code objects name it, is one of pullback's own.

    >>> import pullback
    >>> pullback.observe.is_internal(pullback.__file__), pullback.observe.is_internal("train.py")
    (True, False)
    """
    return internal[filename]


# 2. Gradients on their way


class Handle:
    """What `watch` gives: `remove()` ends it, and leaves the node as it was."""

    def __init__(self, watched: Node, handles: Sequence[Any], *, bare: bool) -> None:
        self._node, self._handles, self._bare = watched, handles, bare

    def remove(self) -> None:
        """Watch no longer; a second call does nothing."""
        for each in self._handles:
            each.remove()
        hooks = self._node.hooks
        if self._bare and isinstance(hooks, Hooks) and not (hooks.pre or hooks.post or hooks.tensor or hooks.retained):
            self._node.hooks = None  # a pass over nodes with hooks takes another way


def watch(
    watched: Node, arrived: Callable[[Sequence[Any]], object], sent: Callable[[Sequence[Any]], object] | None = None
) -> Handle:
    """Look at what passes through one node: a handle that ends it.

    Parameters
    ----------
    watched
        A node, of a leaf too: see `node`.
    arrived
        Called with the cotangents of the outputs, as a tuple, after the program's own hooks.
    sent
        Called with the cotangents of the inputs, after the node has run.

    >>> import pullback
    >>> x = pullback.tensor([3.0], requires_grad=True)
    >>> y = x * x
    >>> handle = pullback.observe.watch(y.grad_fn, lambda g: print("arrived", g), lambda g: print("sent", g))
    >>> y.backward()
    arrived (tensor([1.]),)
    sent (tensor([3.]), tensor([3.]))
    >>> handle.remove()
    """
    bare = watched.hooks is None
    hooks = hooks_of(watched)
    if (watched.shape is None and "shapes" in (watched.params or ())) or (hooks.pre and watched.edges):
        handles = [hooks.add("pre", _looking(arrived))]
    else:  # also called where the node does not run
        handles = [hooks.add("tensor", _looking(lambda cotangent: arrived((cotangent,))))]
    if sent is not None and watched.edges and not isinstance(watched, Output):
        handles.append(hooks.add("post", _looking(lambda results, _: sent(results))))
    return Handle(watched, handles, bare=bare)


def _looking(function: Callable[..., object]) -> Callable[..., None]:
    """A hook that changes nothing, whatever its function gives."""

    def hook(*given: object) -> None:
        function(*given)

    return hook


def retains(watched: Node) -> bool:
    """Whether the tensor that a node made keeps its gradient, as `retain_grad` asks.

    >>> import pullback
    >>> y = pullback.ones(2, requires_grad=True) * 2
    >>> y.retain_grad()
    >>> pullback.observe.retains(y.grad_fn)
    True
    """
    return watched.hooks is not None and watched.hooks.retained is not None and watched.hooks.retained() is not None


# 3. What is there


def value(tensor: Tensor) -> Any:
    """What a tensor holds: a NumPy array, its own memory, which must not be written; in a transform, what that has boxed.

    >>> import pullback
    >>> pullback.observe.value(pullback.tensor([1.0, 2.0], requires_grad=True))
    array([1., 2.], dtype=float32)
    """
    return tensor._array


def node(tensor: Tensor) -> Node | None:
    """The node that made a tensor: `grad_fn`, and for a leaf that requires grad its AccumulateGrad; None for others.

    >>> import pullback
    >>> x = pullback.ones(2, requires_grad=True)
    >>> pullback.observe.node(x).title, pullback.observe.node(x * 2).title, pullback.observe.node(x.detach())
    ('AccumulateGrad', 'MulBackward0', None)
    """
    found: Node | None = tensor._node
    return found


def gradient(holder: Tensor | Node) -> Tensor | None:
    """The gradient that a tensor holds, without the warning that `.grad` has for tensors that are no leaves; or a node's tensor.

    >>> import pullback
    >>> x = pullback.ones(2, requires_grad=True)
    >>> (x * 3).sum().backward()
    >>> pullback.observe.gradient(x), pullback.observe.gradient(pullback.observe.node(x))
    (tensor([3., 3.]), tensor([3., 3.]))
    """
    if not isinstance(holder, Node):
        found: Tensor | None = grad_of(holder)
        return found
    if isinstance(holder, AccumulateGrad) and holder.grad is not None:
        return holder.grad  # type: ignore[no-any-return]
    tensor = holder.hooks.retained() if holder.hooks is not None and holder.hooks.retained is not None else None
    return None if tensor is None else tensor._kept_grad


def ancestors(nodes: Iterable[Node | None]) -> list[Node]:
    """Some nodes and all nodes below them, the youngest first: the order in which a backward pass runs them; None is no node.

    >>> import pullback
    >>> y = (pullback.ones(2, requires_grad=True) * 2).sum()
    >>> [each.title for each in pullback.observe.ancestors([y.grad_fn])]
    ['SumBackward0', 'MulBackward0', 'AccumulateGrad']
    """
    return youngest_first([each for each in nodes if each is not None])
