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

import importlib
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from sys import _getframe
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ._core.errors import kind as in_words, operation_of as operation_of
from ._core.keywords import require_spelt
from ._core.modes import FieldBlock, Mode, ModeBlock, changed, mode, quiet, running, under
from ._core.primitives import Carrier, Primitive as Primitive
from ._core.sites import (
    Site as Site,
    caller as caller,
    describe as describe,
    internal,
    line_of as line_of,
    user_frame as user_frame,
    variables_of as variables_of,
)
from ._core.tracebacks import entries as entries, of_library
from ._tape.backward import check_output
from ._tape.diagnosis import Pole as Pole, pole_of as pole_of
from ._tape.faults import MASKS, begins as begins, fault as fault
from ._tape.memory import Cell as Snapshot, cell_of, version as version
from ._tape.node import (
    SAVED_NAMES as SAVED_NAMES,
    AccumulateGrad as AccumulateGrad,
    Hooks,
    Node as Node,
    Output as OutputNode,
    grad_of,
    hooks_of,
)
from ._tape.recording import TapeOperation
from ._tape.replaying import Again, apply_rule as apply_rule
from ._tape.seeds import cotangent
from ._tape.walk import Pass, restrict, youngest_first
from ._tensor.calling import called_function as called_function, uncalled_function as uncalled_function
from .nn.modules.calls import running_module as running_module
from .nn.modules.hooks import BackwardHooks

if TYPE_CHECKING:
    from types import TracebackType

    from ._core.typing import Target, Tensor, Value
    from ._tape.reasons import Reason
    from ._tape.recording import Tape
    from .nn import Module

__all__ = [
    "SAVED_NAMES", "AccumulateGrad", "BackwardPass", "Node", "Observer", "Operation", "OutputNode", "Pole",
    "Primitive", "SavedValue", "Site", "Snapshot", "WatchHandle", "Write", "aliases", "ancestors", "apply_rule",
    "aside", "begins", "called_function", "caller", "describe", "entries", "fault", "freed", "from_backward",
    "gradient", "hooks", "in_words", "is_internal", "is_of_program", "leading_to", "line_of", "masks", "node",
    "operation_of", "pole_of", "replay", "retains", "root", "running_module", "saved", "snapshot",
    "uncalled_function", "unreached", "user_frame", "value", "variables_of", "version", "watch",
]  # fmt: skip

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
        return found.edges[0] if isinstance(found, OutputNode) else found


class Write(NamedTuple):
    """A tensor was written in place: what an observer's `wrote` is called with."""

    tensor: Tensor
    """The tensor, after the write."""
    recorded: bool
    """Whether its derivative goes on through what was written."""
    site: Site
    """The line of the program that wrote."""
    value: Value | None = None
    """What was written, to the tensor or to a part of it; None if that is not known."""


class BackwardPass:
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

    The block belongs to the thread that enters it, and observers nest: the outer one is told first. What a method itself
    computes is neither observed nor recorded; an exception that it raises goes to the program. A function made
    by `pullback.compile` runs as it was written inside the block, so that its operations are shown, too. Not operations, and so
    not shown, are tensors made from nothing, as by `zeros` and `randn`, and the gradients that `backward` computes, as long
    as it records nothing: `watch` shows these. A misspelt method is refused.

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
    _around = cast("list[Mode]", cached_property(lambda _: []))  # if a subclass's `__init__` does not call this one's

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        require_spelt(cls, Observer, ("operation", "wrote", "looked", "begins", "ends"))

    def operation(self, seen: Operation) -> None:
        """Called after an operation, also of a backward pass with `create_graph`, has run."""

    def wrote(self, write: Write) -> None:
        """Called after a tensor was written in place."""

    def looked(self, tensor: Tensor) -> None:
        """Called when the program asks a tensor for its numbers, as by `item`, `if` and `numpy`; printing does not count."""

    def begins(self, backward: BackwardPass) -> None:
        """Called before a backward pass runs, while nothing has been freed."""

    def ends(self, backward: BackwardPass) -> None:
        """Called after a backward pass, when its gradients are written; not if it has raised, see the block's `__exit__`."""

    def _fields(self) -> dict[str, Any]:
        if len(self._around) > 1:
            raise RuntimeError(
                "this observer has been entered already: make another one for a block inside its block or another thread"
            )
        before = self._before = self._around[-1]
        self._passes: dict[Pass, BackwardPass] = {}
        self._aside = changed(before, grad=False, pack=None, compute=None, watcher=None)
        return {"compute": self._computed, "watcher": _Told(self, before.watcher)}

    def _fresh(self) -> Observer:
        return self

    def _computed(self, computing: TapeOperation) -> Any:
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

    def wrote(self, tensor: Tensor, recorded: bool, value: Value | None) -> None:
        """Tell of a write."""
        if self.before is not None:
            self.before.wrote(tensor, recorded, value)
        under(mode, self.observer._aside, self.observer.wrote, Write(tensor, recorded, caller(), value))

    def looked(self, tensor: Tensor) -> None:
        """Tell of a look at numbers."""
        if self.before is not None:
            self.before.looked(tensor)
        under(mode, self.observer._aside, self.observer.looked, tensor)

    def begins(
        self, walker: Pass, order: Sequence[Node], roots: Sequence[tuple[Node, Value]], needed: set[Node] | None
    ) -> Callable[..., None]:
        """Tell of a pass that begins; the function that walks is the pass's own."""
        walk = walker.walk if self.before is None else self.before.begins(walker, order, roots, needed)
        observer = self.observer
        if running.get(None) is None:  # those that are left have raised an exception
            observer._passes.clear()
        observer._passes[walker] = backward = BackwardPass(walker, order, roots, needed)
        under(mode, observer._aside, observer.begins, backward)
        return walk

    def ends(self, walker: Pass) -> None:
        """Tell of a pass that has ended."""
        if self.before is not None:
            self.before.ends(walker)
        backward = self.observer._passes.pop(walker, None)
        if backward is not None:  # it began in the block
            under(mode, self.observer._aside, self.observer.ends, backward)


def is_internal(filename: str) -> bool:
    """Whether a file, as code objects name it, is one of pullback's own.

    >>> import pullback
    >>> pullback.observe.is_internal(pullback.__file__), pullback.observe.is_internal("train.py")
    (True, False)
    """
    return internal[filename]


def is_of_program(entry: TracebackType) -> bool:
    """Whether an entry of a traceback is of the program itself: not of pullback, of Python's own modules, or of NumPy.

    >>> import json, pullback
    >>> try:
    ...     json.loads("")
    ... except ValueError as error:
    ...     pullback.observe.is_of_program(error.__traceback__.tb_next)
    False
    """
    return not of_library(entry)


def masks(operation: str) -> bool:
    """Whether an operation puts numbers of the program's own into a result or leaves some out: infinities there are meant.

    >>> import pullback
    >>> pullback.observe.masks("where"), pullback.observe.masks("exp")
    (True, False)
    """
    return operation in MASKS


def aside() -> ModeBlock:
    """A block in which operations are neither recorded nor shown to observers, and no hook keeps what rules need.

    >>> import pullback
    >>> with pullback.observe.aside():
    ...     print(pullback.is_grad_enabled())
    False
    """
    return FieldBlock(grad=False, pack=None, unpack=None, compute=None, watcher=None)


# 2. Gradients on their way


class WatchHandle:
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
    watched: Node,
    arrived: Callable[[Sequence[Any]], object],
    sent: Callable[[Sequence[Any]], object] | None = None,
    ran: Callable[[Sequence[Any]], object] | None = None,
) -> WatchHandle:
    """Look at what passes through one node: a handle that ends it.

    Parameters
    ----------
    watched
        A node, of a leaf too: see `node`.
    arrived
        Called with the cotangents of the outputs, as a tuple, after the program's own hooks.
    sent
        Called with the cotangents of the inputs, after the node has run, and after the program's own hooks.
    ran
        Called with them before these hooks.

    >>> import pullback
    >>> x = pullback.tensor([3.0], requires_grad=True)
    >>> y = x * x
    >>> handle = pullback.observe.watch(y.grad_fn, lambda g: print("arrived", g), lambda g: print("sent", g))
    >>> y.backward()
    arrived (tensor([1.]),)
    sent (tensor([3.]), tensor([3.]))
    >>> handle.remove()
    """
    if not isinstance(watched, Node):
        raise TypeError(
            f"watch: a node is expected, not {type(watched).__name__}: `observe.node(tensor)` is that of a tensor, None "
            "of one that does not require grad"
        )
    bare = watched.hooks is None
    hooks = hooks_of(watched)
    if (watched.shape is None and "shapes" in (watched.params or ())) or (hooks.pre and watched.edges):
        handles = [hooks.add("pre", _looking(arrived))]
    else:  # also called where the node does not run
        handles = [hooks.add("tensor", _looking(lambda cotangent: arrived((cotangent,))))]
    if sent is not None and watched.edges and not isinstance(watched, OutputNode):
        handles.append(hooks.add("post", _looking(lambda results, _: sent(results))))
    if ran is not None and watched.edges and not isinstance(watched, OutputNode):
        handles.append(hooks.add("post", _looking(lambda results, _: ran(results))))
        hooks.post.insert(0, hooks.post.pop())
    return WatchHandle(watched, handles, bare=bare)


def hooks(watched: Node) -> list[Callable[..., Any]]:
    """The program's own functions that may change a gradient at a node: hooks of its tensor, of the node, and of a module there.

    >>> import pullback
    >>> x = pullback.ones(2, requires_grad=True)
    >>> handle = x.register_hook(abs)
    >>> pullback.observe.hooks(pullback.observe.node(x))
    [<built-in function abs>]
    """
    found: list[Callable[..., Any]] = []
    registered = watched.hooks
    for (hook,) in [] if registered is None else [*registered.tensor, *registered.pre, *registered.post]:
        code = getattr(hook, "__code__", None)
        if isinstance(module := getattr(hook, "__self__", None), BackwardHooks):
            found += module.hooks if hook == module._after else module.pre_hooks
        elif not (isinstance(hook, partial) or (code is not None and internal[code.co_filename])):
            found.append(hook)
    return found


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

    What a transform has boxed may be a tensor of another one, or of the program: take its value until it is not a tensor.

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
    return tensor._node


def aliases(tensor: Tensor) -> list[Tensor]:
    """The tensors that are known to share memory with a tensor, itself among them: a write to one is a write to all.

    >>> import pullback
    >>> x = pullback.zeros(3)
    >>> y = x[1:]
    >>> sorted(tuple(each.shape) for each in pullback.observe.aliases(y))
    [(2,), (3,)]
    """
    return [tensor] if tensor._storage is None else tensor._storage.tensors()


def gradient(holder: Tensor | Node) -> Tensor | None:
    """The gradient that a tensor holds, without the warning that `.grad` has for tensors that are not leaves; or a node's tensor.

    >>> import pullback
    >>> x = pullback.ones(2, requires_grad=True)
    >>> (x * 3).sum().backward()
    >>> pullback.observe.gradient(x), pullback.observe.gradient(pullback.observe.node(x))
    (tensor([3., 3.]), tensor([3., 3.]))
    """
    if not isinstance(holder, Node):
        return grad_of(holder)
    if isinstance(holder, AccumulateGrad) and holder.grad is not None:
        return holder.grad
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


def leading_to(nodes: Sequence[Node], targets: Iterable[Node]) -> set[Node]:
    """Of some nodes, the youngest first, those that are targets or lead to one.

    >>> import pullback
    >>> from pullback.observe import ancestors, leading_to, node
    >>> a, b = pullback.ones(2, requires_grad=True), pullback.ones(2, requires_grad=True)
    >>> found = leading_to(ancestors([node(a * 2 + b.exp())]), [node(a)])
    >>> sorted(each.title for each in found)
    ['AccumulateGrad', 'AddBackward0', 'MulBackward0']
    """
    return restrict([*nodes], frozenset(targets))


class SavedValue(NamedTuple):
    """A value that a node's rule needs: what `saved` gives."""

    name: str
    """Its name in the rule; `SAVED_NAMES` has torch's, as `_saved_self`."""
    source: int | None
    """The place of the operand that it is; None for a result."""
    value: Any
    """The array, or a tensor of a lower level; None where no derivative needs it, or a hook keeps it."""
    packed: bool
    """Whether a hook of `saved_tensors_hooks` keeps it."""


def saved(watched: Node) -> list[SavedValue] | None:
    """The values that a node's rule needs; None if a backward pass has freed them.

    >>> import pullback
    >>> y = pullback.tensor([2.0], requires_grad=True).square()
    >>> [(each.name, each.value) for each in pullback.observe.saved(y.grad_fn)]
    [('x', array([2.], dtype=float32))]
    """
    if type(watched.saved) is not tuple:
        return None
    found = []
    for cell, (name, source) in zip(watched.saved, watched.primitive.kept(len(watched.edges)), strict=False):
        packed = cell is not None and type(cell) is not Snapshot
        found.append(SavedValue(name, source, None if packed or cell is None else cell.array, packed))
    return found


def freed(watched: Node) -> Exception | None:
    """The error of a pass over a node whose values have been freed; None if it can run.

    >>> import pullback
    >>> y = pullback.ones(2, requires_grad=True).exp().sum()
    >>> y.backward()
    >>> type(pullback.observe.freed(y.grad_fn.next_functions[0][0]))
    <class 'RuntimeError'>
    """
    if type(watched.saved) is tuple:
        return None
    error: Exception = watched.saved.error(watched)
    return error


def snapshot(tensor: Tensor) -> Snapshot | None:
    """The value that a tensor has now, as `.array`: a later write in place leaves it as it is. None in inference mode.

    It costs nothing: memory is copied when it is written, if somebody still holds the old value.

    >>> import pullback
    >>> x = pullback.zeros(2)
    >>> before = pullback.observe.snapshot(x)
    >>> x.add_(1)
    tensor([1., 1.])
    >>> before.array
    array([0., 0.], dtype=float32)
    """
    return tensor._cell or (None if tensor._inference else cell_of(tensor))


def unreached(tensor: Tensor, outputs: Sequence[Target], called: str = "x") -> Reason | None:
    """Why no gradient of some outputs reaches a tensor, `called` so there, as far as the tape knows; None if one does.

    >>> import pullback
    >>> x, z = pullback.ones(2, requires_grad=True), pullback.ones(2, requires_grad=True)
    >>> y = (x * z.detach()).sum()
    >>> pullback.observe.unreached(x, [y]), pullback.observe.unreached(z, [y]).cause
    (None, 'detach')
    """
    reasons = importlib.import_module("pullback._tape.reasons")  # imported only on use
    found = reasons.cut_between(reasons.Asked(tensor, outputs, called))
    return None if found is None else cast("Reason", found.sentence(""))


# 4. Rules, run again


def root(tensor: Tensor, gradient: Any = None, index: int = 0) -> tuple[Node, Any]:
    """The node and the cotangent with which a backward pass from a tensor begins; raises what that would raise.

    >>> import pullback
    >>> made, g = pullback.observe.root(pullback.ones(2, requires_grad=True).sum())
    >>> made.title, float(g)
    ('SumBackward0', 1.0)
    """
    check_output(index, tensor)
    return tensor._node, cotangent(tensor.interpreter, tensor, gradient, index, create_graph=False)  # type: ignore[return-value]  # checked above


def replay(
    tape: Any,
    nodes: Iterable[Node],
    roots: Iterable[tuple[Node, Any]],
    needed: set[Node] | None,
    arrived: Callable[[Node, Any], object],
    sent: Callable[[Node, tuple[Node | None, ...], list[Any]], object],
) -> dict[Node, Any]:
    """A backward pass on arrays that changes nothing: no hook runs, nothing is freed, no `.grad` is written.

    Parameters
    ----------
    tape
        The interpreter that has recorded the nodes, `tensor.interpreter`.
    nodes, roots, needed
        What to run, in order, and from where, as a `BackwardPass` has them.
    arrived
        Called with a node and its cotangent, or a list of several.
    sent
        Called with a node, those of its edges that are followed, and the cotangents of its inputs.

    Returns
    -------
    dict
        The cotangents that have arrived at leaves.

    >>> import pullback
    >>> from pullback.observe import ancestors, replay, root
    >>> y = (pullback.tensor([1.0, 2.0], requires_grad=True) ** 2).sum()
    >>> start = root(y)
    >>> found = replay(y.interpreter, ancestors([start[0]]), [start], None, lambda *_: None, lambda *_: None)
    >>> [g.tolist() for g in found.values()]
    [[2.0, 4.0]]
    """
    again = Again(nodes, needed, arrived, sent)
    for each, v in roots:
        again.add((each,), (v,))
    under(running, Pass(tape, False, False, True, None), again.walk)  # the program's own rules may query it
    return again.ends


def from_backward(error: BaseException) -> bool:
    """Whether an exception has come out of a backward pass.

    >>> import pullback
    >>> x = pullback.ones(2, requires_grad=True)
    >>> y = x * 2
    >>> handle = y.register_hook(lambda g: 1 / 0)
    >>> try:
    ...     y.sum().backward()
    ... except ZeroDivisionError as error:
    ...     pullback.observe.from_backward(error)
    True
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code is not Pass.walk.__code__:
        trace = trace.tb_next
    return trace is not None
