"""Derivatives of existing tensors: Jacobians, Hessians, per-example gradients, and all three orders in one run.

A tensor's graph is walked backwards for all rows of its Jacobian at once. If the inputs have fewer elements than the
outputs, it is walked for all columns instead: the pullback is linear in its cotangent, and the pullback of the pullback
is the pushforward.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core import errors
from .._core.modes import enable_grad, restoring
from .._core.primitives import Carrier, Function
from .._core.trees import flatten, paths, unflatten
from .._tape import backward
from .._tape.walk import youngest_first
from ..vocabulary.shapes import cat
from .levels import Level, tensor_of
from .rows import of_some_units, of_units

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from .._core.typing import Targets, Tensor


MEMORY = 1 << 28  # bytes available to the rows of one chunk


class Plan(NamedTuple):
    """How a Jacobian was computed: 'reverse' or 'forward', the number of rows or columns, and how many at once."""

    mode: str
    passes: int
    chunk_size: int


def jacobian(
    y: Tensor,
    x: Tensor | Iterable[Tensor],
    *,
    mode: str | None = None,
    chunk_size: int | None = None,
    memory: int = MEMORY,
    create_graph: bool = False,
    allow_unused: bool = False,
    plan: bool = False,
) -> Any:
    """The Jacobian of y with respect to x, of y's shape followed by x's; for several x a tuple. y's graph is retained.

    Parameters
    ----------
    y, x
        What is differentiated, and with respect to what.
    mode
        'reverse' (one pass per element of y) or 'forward' (one per element of x; hooks are assumed to be linear). By
        default the mode with fewer passes, and 'reverse' if there are hooks.
    chunk_size, memory
        How many rows or columns are computed at once; by default as many as fit into `memory` bytes.
    create_graph
        Record the computation, for further derivatives.
    allow_unused
        Return zeros for an x that y does not depend on, instead of raising an error.
    plan
        Return (result, Plan), where the plan says how the result was computed.

    Raises
    ------
    RuntimeError
        If y or an x is not tracked, or y does not depend on an x (the error says why); if y is complex.
    ValueError
        If mode or chunk_size is invalid, or mode is 'forward' and an x is complex.

    >>> import pullback
    >>> x = pullback.tensor([1.0, 2.0], requires_grad=True)
    >>> pullback.jacobian(x * x.sum(), x)
    tensor([[4., 1.],
            [2., 5.]])
    """
    inputs = [x] if isinstance(x, Carrier) else list(x)
    backward.check_inputs(inputs, False, None)
    backward.check_output(0, y)
    chosen = _plan(y, inputs, mode, chunk_size, memory)
    way = _by_columns if chosen.mode == "forward" else _by_rows
    found = way(y, inputs, chosen.chunk_size, create_graph, allow_unused)
    answer = found[0] if isinstance(x, Carrier) else tuple(found)
    return (answer, chosen) if plan else answer


def _plan(y: Tensor, inputs: Sequence[Tensor], mode: str | None, chunk_size: int | None, memory: int) -> Plan:
    if mode not in (None, "reverse", "forward"):
        raise ValueError(f"jacobian: mode is 'reverse', 'forward' or None, not {mode!r}")
    if chunk_size is not None and (type(chunk_size) is not int or chunk_size < 1):
        raise ValueError(f"jacobian: chunk_size is a positive int, not {chunk_size!r}")
    if y.is_complex():
        raise RuntimeError(
            f"jacobian: grad can be implicitly created only for real scalar outputs but got {y.dtype}: a complex Jacobian "
            "is two real ones, those of y.real and of y.imag"
        )
    rows, columns = y.numel(), sum(x.numel() for x in inputs)
    assert y._node is not None  # which has been checked
    nodes = youngest_first([y._node])
    turned = any(x.is_complex() for x in inputs)
    if mode is None:  # a column costs about as much as two rows
        fewer = 2 * columns < rows and not turned and all(node.hooks is None for node in nodes)
        mode = "forward" if fewer else "reverse"
    if mode == "forward" and turned:
        raise ValueError("jacobian: mode is 'reverse' where an input is complex: its gradient has two real parts")
    passes = columns if mode == "forward" else rows
    if chunk_size is None:
        widest = max((math.prod(node.shape) for node in nodes if node.shape is not None), default=1)
        chunk_size = max(1, memory // max(1, 4 * widest * y._dtype.itemsize))
    return Plan(mode, passes, max(1, min(chunk_size, passes)))


def _by_rows(
    y: Tensor, inputs: Sequence[Tensor], chunk_size: int, create_graph: bool, allow_unused: bool
) -> list[Tensor]:
    def pull(g: Tensor) -> Sequence[Tensor | None]:
        return _pulled(y, inputs, g, create_graph, allow_unused)

    rows = _chunked(pull, y, chunk_size) if y.numel() else [None] * len(inputs)
    return [_filled(row, (*y.shape, *x.shape), x) for row, x in zip(rows, inputs, strict=True)]


@restoring
def _by_columns(
    y: Tensor, inputs: Sequence[Tensor], chunk_size: int, create_graph: bool, allow_unused: bool
) -> list[Tensor]:
    with Level() as level:
        g = level.variable(tensor_of(np.zeros(tuple(y.shape), y._dtype)))
        pulled = _pulled(y, inputs, g, create_graph, allow_unused)
    found = []
    for x, back in zip(inputs, pulled, strict=True):

        def push(tangent: Tensor, back: Tensor = back) -> list[Tensor]:
            return level.pull([back], [tangent], [g], retain_graph=True)

        known = level.holds(back) and back._node is not None and back.numel()
        (columns,) = _chunked(push, back, chunk_size) if known else [None]
        if columns is not None:
            columns = columns.reshape(*x.shape, *y.shape).movedim(
                tuple(range(x.ndim)), tuple(range(y.ndim, y.ndim + x.ndim))
            )
        found.append(_filled(columns, (*y.shape, *x.shape), x))
    return found


def _pulled(y: Tensor, inputs: Sequence[Tensor], g: Tensor, create_graph: bool, allow_unused: bool) -> Any:
    return backward.grad(
        y, inputs, grad_outputs=g, retain_graph=True, create_graph=create_graph, allow_unused=allow_unused
    )


def _chunked(pull: Function, y: Tensor, chunk_size: int) -> list[Tensor | None]:
    """The pullbacks of all unit vectors of y, `chunk_size` at a time."""
    count = y.numel()
    if chunk_size >= count:
        return of_units(pull, y)
    parts = [of_some_units(pull, y, start, min(start + chunk_size, count)) for start in range(0, count, chunk_size)]
    return [None if column[0] is None else cat(column) for column in zip(*parts, strict=True)]


def _filled(rows: Tensor | None, shape: tuple[int, ...], like: Tensor) -> Tensor:
    """Rows reshaped to the Jacobian's shape; zeros for None."""
    if rows is None:
        return tensor_of(np.zeros(shape, like._dtype))
    return rows.reshape(shape)


def hessian(
    loss: Tensor,
    x: Tensor | Iterable[Tensor],
    *,
    chunk_size: int | None = None,
    memory: int = MEMORY,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> Any:
    """The second derivatives of a one-element tensor with respect to tensors that it was computed from.

    For a single tensor x the result has x's shape twice; for a tuple or list it is a tuple of tuples, entry [i][j] with
    the shapes of x[i] and x[j]. Other arguments are those of `jacobian`. An x on which the loss depends linearly has second
    derivatives zero; one on which it does not depend is refused.

    Parameters
    ----------
    loss
        The tensor with one element.
    x
        A tensor, or several.

    >>> import pullback
    >>> x = pullback.tensor([1.0, 2.0], requires_grad=True)
    >>> pullback.hessian(x.prod() + x[0], x)
    tensor([[0., 1.],
            [1., 0.]])

    Raises
    ------
    RuntimeError
        As `jacobian` does, and if the loss has more than one element.
    """
    inputs = [x] if isinstance(x, Carrier) else list(x)
    backward.check_output(0, loss)
    if loss.numel() != 1:
        raise RuntimeError(
            f"hessian: the loss has one element, but this is a {errors.kind(loss)}. Take .sum() or .mean() of it, or "
            "jacobian of each of its gradients"
        )
    gradients = backward.grad(loss, inputs, create_graph=True, allow_unused=allow_unused)
    options = {"chunk_size": chunk_size, "memory": memory, "create_graph": create_graph}
    found = tuple(second(g, a, inputs, **options) for g, a in zip(gradients, inputs, strict=True))
    return found[0][0] if isinstance(x, Carrier) else found


def second(g: Tensor | None, a: Tensor, inputs: Sequence[Tensor], **options: Any) -> tuple[Tensor, ...]:
    """The Jacobians of the gradient of `a`, or of any other tensor of that shape; zeros where it is constant."""
    if g is None or not g.requires_grad:
        return tuple(tensor_of(np.zeros((*a.shape, *x.shape), x._dtype)) for x in inputs)
    return jacobian(g, tuple(inputs), mode="reverse", allow_unused=True, **options)


def grad(
    outputs: Targets,
    inputs: Tensor | Iterable[Tensor] | dict[Hashable, Tensor],
    grad_outputs: object = None,
    *,
    batched: bool = False,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
) -> Any:
    """The gradients of outputs with respect to inputs, as in `autograd.grad`; if `batched`, of each output element.

    With `batched=True` outputs is one tensor, for example the losses of a batch, and each gradient gets the axes of
    outputs in front. One pass computes all gradients; where the examples do not mix, it costs little more than the
    gradient of their sum.

    Parameters
    ----------
    outputs, inputs, grad_outputs
        What to differentiate, by what (a dict for a dict of gradients), and a cotangent for each output.
    batched
        Differentiate each element of outputs, rather than their sum with the weights `grad_outputs`.
    retain_graph, create_graph
        Keep what the graph has saved for a further pass; record the pass itself, for derivatives of higher order.

    Raises
    ------
    RuntimeError
        As `autograd.grad` does.
    TypeError
        If `batched` is combined with `grad_outputs`, or with several outputs.

    >>> import pullback
    >>> w = pullback.tensor([1.0, 2.0], requires_grad=True)
    >>> losses = (pullback.tensor([[1.0, 0.0], [2.0, 1.0]]) * w).sum(1) ** 2
    >>> pullback.grad(losses, [w], batched=True)
    (tensor([[ 2.,  0.],
            [16.,  8.]]),)
    """
    if not batched:
        return backward.grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused=allow_unused)
    if grad_outputs is not None:
        raise TypeError("grad: batched=True takes the gradient of each element of outputs: leave grad_outputs out")
    if not isinstance(outputs, Carrier):
        raise TypeError(
            f"grad: with batched=True outputs is one tensor, not {type(outputs).__name__}: join several with stack"
        )
    given = [inputs] if isinstance(inputs, Carrier) else list(inputs.values() if isinstance(inputs, dict) else inputs)
    found = jacobian(outputs, given, mode="reverse", create_graph=create_graph, allow_unused=bool(allow_unused))
    return dict(zip(inputs, found, strict=True)) if isinstance(inputs, dict) else found


@restoring
def value_grad_hessian(f: Function, *params: object) -> tuple[Any, Any, Any]:
    """The value of a scalar function, its gradient and its second derivatives, from one run of the function.

    `params` are tensors, or trees of them. The gradient has the structure of `params` (a tuple for several), the second
    derivatives that structure nested in itself. None of the results is tracked.

    Parameters
    ----------
    f
        The function, which returns a tensor of one element.

    >>> import pullback
    >>> value, gradient, second = pullback.value_grad_hessian(lambda x: (x**3).sum(), pullback.tensor([1.0, 2.0]))
    >>> value, gradient
    (tensor(9.), tensor([ 3., 12.]))
    >>> second
    tensor([[ 6.,  0.],
            [ 0., 12.]])

    Raises
    ------
    RuntimeError
        If f does not return a one-element tensor, or does not depend on its arguments.
    TypeError
        If an argument is not a tensor.
    """
    tree = params[0] if len(params) == 1 else params
    leaves, structure = flatten(tree)
    for leaf, path in zip(leaves, paths(structure, "params"), strict=True):
        if not isinstance(leaf, Carrier):
            raise TypeError(f"value_grad_hessian: {path} must be a Tensor, not {type(leaf).__name__}")
    variables = [leaf.detach().requires_grad_() for leaf in leaves]
    given = unflatten(structure, variables)
    with enable_grad():
        value = f(given) if len(params) == 1 else f(*given)
    if not isinstance(value, Carrier) or value.numel() != 1:
        raise RuntimeError(
            "value_grad_hessian: f must return a tensor of one element, not "
            f"{errors.kind(value) if isinstance(value, Carrier) else type(value).__name__}"
        )
    gradients = backward.grad(value, variables, create_graph=True)
    rows = [unflatten(structure, second(g, a, variables)) for g, a in zip(gradients, variables, strict=True)]
    return value.detach(), unflatten(structure, [g.detach() for g in gradients]), unflatten(structure, rows)
