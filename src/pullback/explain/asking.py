"""The entry points: explain a tensor, explain a function, record a program."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from .. import Tensor, as_tensor
from ..observe import Node, ancestors, aside, leading_to, node as node_of, root, value as inside
from . import training
from .arrays import Array, Limits
from .calls import backward_text, finished
from .explanation import Explanation
from .naming import Named, names_in
from .recording import CALLS, Recording, ends_of, failures, grad_of, shortened_tape
from .scopes import program_frame
from .sources import place_of
from .tracing import CallTracer
from .walking import check, jacobians, refused, unit_row, walk

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from ..nn.modules.module import Module
    from ..optim.optimizer import Optimizer


def explain(
    target: object,
    *args: object,
    gradient: object = None,
    inputs: Iterable[Tensor] | Tensor | None = None,
    values: int = 64,
    jacobian: int = 1024,
    max_nodes: int = 20_000,
    lines: bool = True,
    timing: bool = False,
    redact: bool = False,
) -> Explanation:
    """An explanation of what `backward(gradient)` does on a tensor, a list of tensors, or the result of a function.

    For a tensor, its graph is walked as by backward, but nothing is changed: no `.grad` is written, no hook runs, and
    the graph is retained. Intermediate values are known only if a rule or the program has saved them. A function is run
    while recording: `explain(f, x, gradient=v)` calls `f(x)`; arguments that are arrays or lists become leaves.

    `gradient` is the vector v, as for `backward`; for a list of tensors it is a list. `inputs` restricts the
    explanation to paths to these tensors. Of arrays with more than `values` elements only both ends and statistics are
    stored, local Jacobians with more than `jacobian` elements are not computed, and of a longer graph only the newest
    `max_nodes` nodes are shown. `lines=False` skips the lookup of source lines. `timing=True` measures how long each
    operation takes while recorded, several times as long as alone: good for comparing operations, not for the time that
    a program takes. `redact=True` leaves out all values and source code, but not expressions and names, for a report.

    Raises
    ------
    RuntimeError
        If the tensor does not require grad, if the gradient is missing or does not match, or if the graph was freed.
    TypeError
        If the target is neither a tensor nor a function, or the function does not return one or several tensors.

    >>> import pullback
    >>> x = pullback.tensor([1.0, 2.0], requires_grad=True)
    >>> ex = pullback.explain(x**2, gradient=[1.0, 10.0])
    >>> ex.steps[0].node, ex.steps[0].terms[0].J.tolist(), ex.leaf(x).grad
    ('PowBackward0', [[2.0, 0.0], [0.0, 4.0]], array([ 2., 40.], dtype=float32))
    """
    asked = _Asked(gradient, inputs, _limits(values, jacobian, max_nodes, lines, timing, redact), program_frame(2))
    if isinstance(target, Tensor) or (isinstance(target, (list, tuple)) and target):
        if args:
            raise TypeError(
                f"explain() of a tensor takes no further arguments, but was given {len(args)}: use gradient=v"
            )
        return _of_tensors(target, asked, {}, None)
    if not callable(target):
        raise TypeError(
            f"explain() expects a tensor that requires grad, or a function and its arguments, not {type(target).__name__}"
        )
    return _of_function(target, args, asked)


@overload
def record(
    *,
    calls: int = CALLS,
    values: int = 64,
    jacobian: int = 1024,
    max_nodes: int = 20_000,
    lines: bool = True,
    timing: bool = False,
    redact: bool = False,
) -> Recording: ...


@overload
def record(
    model: Module | None,
    optimizer: Optimizer | None = None,
    *,
    every: int = 10,
    file: str | PathLike[str] | None = None,
    progress: bool = False,
) -> training.Training: ...


def record(
    model: Module | None = None,
    optimizer: Optimizer | None = None,
    *,
    every: int | None = None,
    file: str | PathLike[str] | None = None,
    progress: bool = False,
    calls: int = CALLS,
    values: int = 64,
    jacobian: int = 1024,
    max_nodes: int = 20_000,
    lines: bool = True,
    timing: bool = False,
    redact: bool = False,
) -> Recording | training.Training:
    """A block in which all operations are recorded, or, given a model and an optimizer, a training run.

    `with pullback.explain.record() as ex:` is a `Recording`.

    Each backward call in it becomes one of `ex.calls`, and runs as usual; `ex` shows the last. Only the last `calls`
    backward calls are stored. The other options are those of `explain`. An exception in the block is passed on; `ex`
    then has the graph recorded so far.

    `with pullback.explain.record(model, optimizer, every=10) as run:` is a `Training`. It has the loss of each step, what
    went wrong, and of every tenth step the norm of each parameter's gradient, the size of the update relative to the weight,
    and the share of zeros in the gradient. Operations are not recorded, and cost nothing extra. With `file`, each
    recorded step is a line of that file as soon as it is done, which `pullback.explain.read_run` reads. `progress=True`
    prints a line that is kept up to date. Without a model, names are those of the program's variables.

    >>> import pullback
    >>> w = pullback.tensor([1.0, 2.0], requires_grad=True)
    >>> with pullback.explain.record() as ex:
    ...     loss = (w * w).sum()
    ...     loss.backward()
    >>> len(ex.calls), w.grad
    (1, tensor([2., 4.]))
    >>> ex.nodes
    [<w * w: MulBackward0, shape (2,), line 2>, <loss: SumBackward0, shape (), line 2>]
    """
    if any(given is not None for given in (model, optimizer, every, file)):
        return training.begin(model, optimizer, 10 if every is None else every, file, progress)
    if calls < 1:
        raise ValueError(f"record(calls={calls}): at least one call is kept")
    return Recording(_limits(values, jacobian, max_nodes, lines, timing, redact), calls)


def last_error() -> Recording:
    """The last recording that was ended by an exception, with the graph recorded until then.

    Raises
    ------
    RuntimeError
        If there is none.
    """
    if not failures:
        raise RuntimeError("no recording has ended in an exception: run the program inside pullback.explain.record()")
    return failures[0]


def _limits(values: int, jacobian: int, max_nodes: int, lines: bool, timing: bool, redact: bool) -> Limits:
    for name, value in (("values", values), ("jacobian", jacobian), ("max_nodes", max_nodes)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{name} is a number of elements, an int, not {type(value).__name__}")
        if value < 1:
            raise ValueError(f"{name}={value}: expected a positive number")
    return Limits(values, jacobian, max_nodes, lines, timing, redact)


class _Asked(NamedTuple):
    """What an explanation is asked for, and the program's frame that asks."""

    gradient: Any
    inputs: Any
    limits: Limits
    frame: FrameType


def _of_function(function: Callable[..., Any], args: Sequence[object], asked: _Asked) -> Explanation:
    """Run a function while recording, and explain its result."""
    given = [_leaf(arg) for arg in args]
    recording = Recording(asked.limits, base=sys._getframe(0), skip=1)
    with recording:
        result = function(*given)
    names = _argument_names(function, given)
    if not isinstance(result, Tensor) and not (
        isinstance(result, (list, tuple)) and result and all(isinstance(each, Tensor) for each in result)
    ):
        raise TypeError(
            f"explain(): the function {getattr(function, '__name__', function)!s} returned {type(result).__name__}, "
            "expected a tensor, or several in a tuple"
        )
    return _of_tensors(result, asked, names, recording)


def _leaf(arg: object) -> object:
    """An argument as it is passed to the function: numbers that are not a tensor become a leaf."""
    if isinstance(arg, np.ndarray) or (isinstance(arg, list) and arg):
        tensor = as_tensor(arg)
        if tensor.is_floating_point() or tensor.is_complex():
            return tensor.detach().clone().requires_grad_()
        return tensor
    return arg


def _argument_names(function: Callable[..., Any], args: Sequence[object]) -> dict[Node, Named]:
    try:
        bound = inspect.signature(function).bind(*args).arguments
    except (TypeError, ValueError):
        return {}
    pairs: list[tuple[str, Any]] = []
    for name, value in bound.items():
        pairs += [(f"{name}[{i}]", each) for i, each in enumerate(value)] if type(value) is tuple else [(name, value)]
    tensors = [(node_of(value), Named(name, inside(value))) for name, value in pairs if isinstance(value, Tensor)]
    return {made: named for made, named in tensors if made is not None}


def _of_tensors(
    target: Tensor | Sequence[Tensor], asked: _Asked, names: dict[Node, Named], recording: Recording | None
) -> Explanation:
    """Walk back from tensors, and explain each step."""
    gradient, inputs, limits, frame = asked
    tensors = [target] if isinstance(target, Tensor) else list(target)
    for index, tensor in enumerate(tensors):
        root(tensor, tensor, index)  # raises where backward would
        if tensor.level or tensor.interpreter is not Tensor.interpreter:
            raise RuntimeError("explain() inside a transform: explain the function that is transformed, from outside")
    roots = _roots(tensors, gradient, several=isinstance(target, (list, tuple)))
    order = ancestors([node for node, _ in roots])
    needed = None if inputs is None else leading_to(order, _nodes(inputs))
    nodes = [node for node in order if needed is None or node in needed]
    check(nodes)
    records = {} if recording is None else recording._records
    tape, notes = shortened_tape(nodes[::-1], records, {**names_in(frame), **names}, limits)
    for tensor in tensors:
        tape.know(root(tensor, tensor)[0], inside(tensor), "output")
    tracer = CallTracer(tape, roots, ends_of(nodes, needed))
    owner = tensors[0].interpreter
    walk(owner, nodes, roots, needed, tracer)
    with aside():
        built = jacobians(owner, nodes, roots, needed, tracer.ends, limits)
    implicit = [gradient is None] * len(roots)
    text = backward_text(tape, roots, implicit=all(implicit))
    call = finished(tracer.call(text, "explain", place_of((frame.f_code, frame.f_lasti)), implicit), tracer, *built)
    for leaf, node in zip(call.leaves, [n for n in tracer.ends if n in tracer.arrivals], strict=True):
        leaf.grad_before = leaf.grad_after = grad_of(node, limits)

    def rows(index: int) -> Array:
        reason = refused(nodes, roots, limits)
        if reason is not None:
            raise RuntimeError(f"the Jacobian was not computed: {reason}")
        end = [n for n in tracer.ends if n in tracer.arrivals][index]
        empty = np.zeros(math.prod(end.shape))
        parts = [[unit_row(owner, nodes, root, i, needed, [end])[0] for i in range(root[1].size)] for root in roots]
        return np.stack([empty if g is None else g.reshape(-1) for part in parts for g in part])

    scopes = () if recording is None else recording.scopes
    ex = Explanation([call], limits, recorded=recording is not None, scopes=scopes, tensors=tape.traced)
    ex.notes += notes
    ex._start, ex._rows = lambda: roots[0][0], rows
    return ex


def _roots(tensors: Sequence[Tensor], gradient: Any, *, several: bool) -> list[tuple[Node, Array]]:
    """The start of the walk: each tensor's node with its vector."""
    given = list(gradient) if several and gradient is not None else [gradient] * len(tensors)
    if len(given) != len(tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(given)} gradients: pass one gradient per tensor")
    return [root(tensor, v, index) for index, (tensor, v) in enumerate(zip(tensors, given, strict=True))]


def _nodes(inputs: Tensor | Iterable[object]) -> list[Node]:
    """The nodes of the requested inputs."""
    listed = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    if not listed:
        raise RuntimeError("explain(): inputs cannot be empty. Leave it out to show every leaf of the graph")
    for index, each in enumerate(listed):
        if not isinstance(each, Tensor) or node_of(each) is None:
            raise RuntimeError(f"explain(): input {index} does not require grad, so no gradient reaches it")
    return [made for each in listed if isinstance(each, Tensor) and (made := node_of(each)) is not None]
