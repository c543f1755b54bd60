"""`backward` and `grad`: from the user's arguments to a pass over the tape, and from its outcome to the results.

Everything is checked and prepared before the pass starts.
"""

from __future__ import annotations

import importlib
import warnings
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core import errors
from .._core.lazy import provider
from .._core.primitives import Carrier
from .._core.sites import caller
from .cuts import Cut
from .node import AccumulateGrad, Node, hooks_of, tape_of
from .recording import Tape
from .seeds import GradientEdge, as_carrier, cotangent, place_of
from .walk import Pass, commit, pull_back

if TYPE_CHECKING:
    from types import ModuleType

    from .._core.typing import Target, Targets, Tensor, Value
    from .._tensor.attributes import Attributes


ndarray = np.ndarray


def _reasons() -> ModuleType:
    """The module that finds out why a gradient is missing, imported when an error needs it."""
    return importlib.import_module("pullback._tape.reasons")


def check_output(index: int, output: object) -> None:
    if not isinstance(output, (Carrier, GradientEdge)):
        raise TypeError(
            f"Expected output to be a torch.Tensor: output {index} is a {type(output).__name__}. "
            "backward and grad start from tensors"
        )
    if isinstance(output, Carrier) and output._node is None:
        raise _reasons().no_history(index, output)


def _roots(outputs: Sequence[Target], gradients: Sequence[object], create_graph: bool) -> tuple[Any, list[Any]]:
    """The outermost tape of the outputs, None without outputs, and each output's node with its cotangent."""
    tape: Any = None
    places = []
    for index, output in enumerate(outputs):
        if isinstance(output, Carrier) and output._node is not None:
            own, place = output.interpreter, output._node
        else:
            check_output(index, output)
            own, place = tape_of(output.node), place_of(output)
        if tape is None or own.level > tape.level:
            tape = own
        places.append(place)
    if len(gradients) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(gradients)} gradients: pass one gradient per tensor")
    roots = []
    for index, place in enumerate(places):
        roots.append((place, cotangent(tape, outputs[index], gradients[index], index, create_graph)))
    return tape, roots


def _listed(name: str, function: str, values: object, *, single: tuple[type, ...]) -> list[Any]:
    """The user's argument, one object or several, as a list; of a dict, its values."""
    if type(values) is list or type(values) is tuple:
        return list(values)
    if isinstance(values, single):
        return [values]
    if type(values) is dict:
        return list(values.values())
    if isinstance(values, Mapping):
        raise TypeError(
            f"`{name}` argument to `{function}()` must be a dict, not {type(values).__name__}. "
            "Other Mapping types are not supported."
        )
    if not isinstance(values, Iterable):
        raise TypeError(
            f"{type(values).__name__!r} object is not iterable: {name} of {function}() must be tensors, not {values!r}"
        )
    return list(values)


def backward(
    tensors: Targets,
    gradients: object = None,
    *,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Targets | None = None,
) -> None:
    """Pull the cotangents of some tensors back, and accumulate the results into `.grad`."""
    keep_graph = create_graph if retain_graph is None else retain_graph
    if gradients is None and inputs is None and isinstance(tensors, Carrier) and tensors._node is not None:
        tape = tensors.interpreter
        roots = [(tensors._node, cotangent(tape, tensors, None, 0, create_graph))]
        _write(pull_back(tape, roots, retain_graph=keep_graph, create_graph=create_graph), roots, create_graph)
        return
    outputs = _listed("tensors", "backward", tensors, single=(Carrier, GradientEdge))
    if not outputs:
        return
    given = _gradients(gradients, outputs, tensors)
    targets = None
    if inputs is not None:
        targets = _listed("inputs", "backward", inputs, single=(Carrier, GradientEdge))
        if not targets:
            raise RuntimeError(
                "`inputs` argument to `backward()` cannot be empty. Leave it out to reach every leaf of the graph."
            )
        for index, target in enumerate(targets):
            if not isinstance(target, (Carrier, GradientEdge)):
                raise TypeError(
                    f"backward(): inputs are Tensors or GradientEdges, but number {index} is a {type(target).__name__}"
                )
            if isinstance(target, Carrier) and target._node is None:
                raise RuntimeError(
                    "can't retain_grad on Tensor that has requires_grad=False: an input of backward() is a "
                    f"{errors.kind(target)} that is not tracked"
                )
    tape, roots = _roots(outputs, given, create_graph)
    if targets is None:
        _write(pull_back(tape, roots, retain_graph=keep_graph, create_graph=create_graph), roots, create_graph)
        return
    places = [place_of(target) for target in targets]
    outcome = pull_back(tape, roots, targets=places, retain_graph=keep_graph, create_graph=create_graph)
    for target, place in zip(targets, places, strict=True):
        if isinstance(target, Carrier) and not isinstance(place, AccumulateGrad) and place in outcome.found:
            outcome.retained.append((target, outcome.found[place]))
    outcome.leaves = [(leaf, g) for leaf, g in outcome.leaves if leaf in places]
    _write(outcome, roots, create_graph)
    for target in targets:
        if isinstance(target, Carrier) and not target.is_leaf:
            retain_grad(target)


def _write(outcome: Pass, roots: Sequence[tuple[Node, Value]], create_graph: bool) -> None:
    """Write what a pass has found into `.grad`."""
    commit(outcome, roots)
    if create_graph and not outcome.foreign:
        _note_constants([leaf.grad for leaf, _ in outcome.leaves], ())


def _note_constants(gradients: Sequence[Tensor | None], others: Sequence[object]) -> None:
    """Say of gradients that have no history in spite of `create_graph` why they have none; not of others, as the user's own."""
    for g in gradients:
        if g is None or g.requires_grad or any(g is each for each in others):
            continue
        if g._cut is None:
            g._cut = Cut("linear", caller())


def _gradients(gradients: Any, outputs: Sequence[Target], tensors: object) -> list[Any]:
    """One gradient, or None, for each output; a single output may be given numbers as they are."""
    if isinstance(gradients, Carrier):
        return [gradients]
    if gradients is None:
        return [None] * len(outputs)
    if isinstance(tensors, (Carrier, GradientEdge)) and not (
        isinstance(gradients, (list, tuple)) and len(gradients) == 1 and isinstance(gradients[0], (Carrier, type(None)))
    ):
        return [gradients]
    if isinstance(gradients, (np.ndarray, int, float, complex)):
        return [gradients]
    return list(gradients)


def grad(
    outputs: Targets,
    inputs: Targets | dict[Any, Tensor],
    grad_outputs: object = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """The gradients of outputs with respect to inputs, as a tuple (a dict for a dict of inputs).

    What `grad_outputs` pull back to, summed over the outputs; ones for one-element outputs when left out. `.grad` is
    not touched. `retain_graph` defaults to `create_graph`. With `is_grads_batched` the first axis of `grad_outputs`
    counts cotangents, and the results gain that axis: `grad_outputs=eye(n)` gives a Jacobian.

    Raises
    ------
    RuntimeError
        If an output or input is not tracked, if an input is unused (unless `allow_unused` or `materialize_grads`), if
        a gradient does not fit its output, or if the graph has been freed.
    ValueError
        If `materialize_grads=True` is combined with `allow_unused=False`.

    >>> import pullback
    >>> x = pullback.tensor([1.0, 2.0], requires_grad=True)
    >>> y = 3 * x**2
    >>> pullback.autograd.grad(y, x, grad_outputs=pullback.tensor([1.0, 10.0]))
    (tensor([  6., 120.]),)
    """
    if not only_inputs:
        _warn_of_only_inputs()
    results = _listed("outputs", "grad", outputs, single=(Carrier, GradientEdge))
    targets = _listed("inputs", "grad", inputs, single=(Carrier, GradientEdge))
    for output in results:
        if isinstance(output, Carrier) and not isinstance(
            output.interpreter, Tape
        ):  # a transform's tensor: its interpreter computes gradients itself
            options = {"retain_graph": retain_graph, "create_graph": create_graph, "allow_unused": allow_unused}
            given = _gradients(grad_outputs, results, outputs)
            return output.interpreter.grad(results, targets, given, **options)
    places = check_inputs(targets, materialize_grads, allow_unused)
    given = _gradients(grad_outputs, results, outputs)
    keep_graph = create_graph if retain_graph is None else retain_graph
    once = _batched if is_grads_batched and results else _grad_once
    answers = once(results, targets, places, given, keep_graph, create_graph, allow_unused or materialize_grads)
    if materialize_grads:
        _fill(targets, answers, (given[0].shape[0],) if is_grads_batched and given else (), create_graph)
    return dict(zip(inputs, answers, strict=True)) if isinstance(inputs, dict) else tuple(answers)


def _warn_of_only_inputs() -> None:
    warnings.warn(
        "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other parts "
        "of the graph, please use backward().",
        FutureWarning,
        stacklevel=3,
    )


def check_inputs(targets: Sequence[object], materialize: bool, allow_unused: bool | None) -> list[Node]:
    """The nodes at which the gradients of inputs arrive."""
    if materialize and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if not targets:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty: pass the tensors to differentiate by")
    places = []
    for index, target in enumerate(targets):
        if isinstance(target, Carrier):
            if target._node is None:
                raise _reasons().no_input(index, target)
            places.append(target._node)
            continue
        if not isinstance(target, GradientEdge):
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(target).__name__}")
        if materialize:
            raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
        places.append(place_of(target))
    return places


def _grad_once(
    outputs: Sequence[Target],
    targets: Sequence[Target],
    places: Sequence[Node],
    gradients: Sequence[object],
    retain_graph: bool,
    create_graph: bool,
    allow_unused: bool | None,
) -> list[Tensor | None]:
    """The gradient for each target, in its dtype; None if the outputs do not depend on it."""
    tape, roots = _roots(outputs, gradients, create_graph)
    outcome = pull_back(
        tape_of(places[0]) if tape is None else tape,  # without outputs, that of an input
        roots,
        targets=places,
        refuse_unused=None if allow_unused else lambda index: _reasons().unused(index, targets[index], outputs),
        retain_graph=retain_graph,
        create_graph=create_graph,
    )
    if outcome.retained or outcome.watcher is not None:
        outcome.leaves = []
        commit(outcome, roots)
    found = outcome.found
    answers: list[Tensor | None] = []
    for target, place in zip(targets, places):  # noqa: B905  # `strict` would take 0.2 us
        g = found.get(place)
        if g is not None:
            if not (isinstance(g, Carrier) and tape.sees(g)):
                g = tape.wrap(g, None)
            if isinstance(g._array, ndarray) and not g._array.flags.c_contiguous:
                g = _laid_out(g, target)
            if isinstance(target, Carrier) and g._array.dtype is not target._array.dtype and g._dtype != target._dtype:
                g = ops.astype(g, dtype=target._dtype, source=g._dtype)
        elif not allow_unused:
            raise _reasons().unused(len(answers), target, outputs)
        answers.append(g)
    if create_graph and not outcome.foreign:
        _note_constants(answers, gradients)
    return answers


def _laid_out(g: Tensor, target: Target) -> Tensor:
    """A gradient made C-contiguous if its target is, so that `.view(-1)` works; a broadcast gradient stays as it is."""
    if 0 in g._array.strides or not isinstance(target, Carrier) or not target.is_contiguous():
        return g
    return ops.clone(g, order="C")


def _batched(
    outputs: Sequence[Target],
    targets: Sequence[Target],
    places: Sequence[Node],
    gradients: Sequence[Any],
    *options: Any,
) -> list[Tensor | None]:
    """What `_grad_once` gives for all cotangents along the first axis of the gradients, in one pass."""
    for index, output in enumerate(outputs):
        check_output(index, output)
    roots = [*map(place_of, outputs)]
    gradients = [
        g if g is None or isinstance(g, Carrier) else as_carrier(tape_of(root), g)
        for g, root in zip(gradients, roots, strict=True)
    ]
    sizes = set()
    for index, (gradient, root) in enumerate(zip(gradients, roots, strict=True)):
        if gradient is None:
            raise RuntimeError(
                "with is_grads_batched=True grad_outputs holds a batch of gradients for each output, but that for output "
                f"{index} is None"
            )
        if gradient.ndim == 0:
            raise IndexError(
                "invalid index of a 0-dim tensor: with is_grads_batched=True the first axis of grad_outputs is the batch"
            )
        if root.shape is not None and tuple(gradient.shape[1:]) != root.shape:
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
                "dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding "
                f"output, but a mismatch was detected: grad_output[{index}] has a shape of "
                f"{errors.size(gradient.shape)} and output[{index}] has a shape of {errors.size(root.shape)}."
            )
        sizes.add(gradient.shape[0])
    if len(sizes) != 1:
        raise RuntimeError(f"grad_outputs have different batch sizes: {sorted(sizes)}")

    def once(*rows: Tensor) -> list[Tensor | None]:
        return _grad_once(outputs, targets, places, rows, *options)

    answers: list[Tensor | None] = provider("batches of cotangents").together(once, gradients, sizes.pop())
    return answers


def _fill(targets: Sequence[Tensor], answers: list[Tensor | None], batch: tuple[int, ...], create_graph: bool) -> None:
    """Replace the missing gradients of unused inputs by zeros, which are leaves that require grad with `create_graph`, as torch's."""
    for index, (target, answer) in enumerate(zip(targets, answers, strict=True)):
        if answer is None:
            zeros = target.interpreter.wrap(np.zeros((*batch, *target.shape), target._dtype), None)
            answers[index] = zeros.requires_grad_() if create_graph else zeros


def retain_grad(tensor: Attributes) -> None:
    """Make passes store the gradient of a non-leaf tensor in its `.grad`."""
    if not tensor.requires_grad:
        raise RuntimeError(f"can't retain_grad on Tensor that has requires_grad=False: this is a {errors.kind(tensor)}")
    if tensor._node is not None and tensor.grad_fn is not None:
        hooks_of(tensor._node).retained = weakref.ref(tensor)
