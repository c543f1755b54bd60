"""Where a pass starts: the edges of the graph, and the cotangent of each output, made of what the user passes.

A gradient is fitted to its output: an output of one element takes a gradient of any shape, each entry of which is pulled
back, and the results are added; axes of length 1 may be missing or extra; any other gradient must have the output's shape.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import ops
from .._core import errors, xp as _xp
from .._core.bfloat import held
from .._core.primitives import Carrier
from .node import Node
from .recording import Tape

if TYPE_CHECKING:
    from .._core.typing import Array, Namespace, Target, Tensor, Value


ndarray = np.ndarray


class GradientEdge(NamedTuple):
    """A place in the graph: a node, and which of its outputs; keeps the graph alive without the tensor.

    >>> import pullback
    >>> x = pullback.tensor(3.0, requires_grad=True)
    >>> y = x * x
    >>> edge = pullback.autograd.graph.get_gradient_edge(x)
    >>> pullback.autograd.grad(y, edge)
    (tensor(6.),)
    """

    node: Node
    output_nr: int
    ownership_token: Node | None = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge into which a tensor's gradient flows.

    Raises
    ------
    RuntimeError
        If the tensor does not require grad.

    >>> import pullback
    >>> x = pullback.ones(2, requires_grad=True)
    >>> pullback.autograd.graph.get_gradient_edge(x * 2).node.name()
    'MulBackward0'
    """
    if tensor._node is None:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients: "
            f"this is a {errors.kind(tensor)}"
        )
    node, index = tensor._node.endpoint
    return GradientEdge(node, index, tensor._node)


def place_of(target: Target) -> Node:
    """The node at which the gradient of a tensor or an edge arrives."""
    if isinstance(target, GradientEdge):
        return target.ownership_token or target.node
    node: Any = target._node
    return node


def cotangent(tape: Tape, output: Target, gradient: object, index: int, create_graph: bool) -> Any:
    """The cotangent of an output: an array, or a tensor with `create_graph`."""
    if gradient is None:
        g = _implicit(output)
        if create_graph:
            return tape.wrap(g, None)
        return (
            g if isinstance(output, GradientEdge) or isinstance(output._array, ndarray) else tape.wrap(g, None)._array
        )
    given = gradient if isinstance(gradient, Carrier) else as_carrier(tape, gradient)
    if isinstance(output, GradientEdge):
        return given if create_graph else _beneath(tape, given)
    held, like = given._array, output._array
    plain = not create_graph and type(held) is ndarray and type(like) is ndarray and given.interpreter is tape
    if plain and held.dtype is like.dtype and held.shape == like.shape:
        return held
    if given._dtype.kind == "c" and output._dtype.kind != "c":
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{index}] has a dtype of {given.dtype} and output[{index}] has a dtype of {output.dtype}."
        )
    return _fitted(tape, given, output, index, create_graph)


def _beneath(tape: Tape, given: Tensor) -> Value:
    """The value inside a carrier of this tape; a carrier of any other tape unchanged, even of the same level."""
    return given._array if given.interpreter is tape else given


def _implicit(output: Target) -> Array:
    """The gradient 1 of a one-element output."""
    if isinstance(output, GradientEdge):
        raise RuntimeError("grad can be implicitly created only for scalar outputs: pass a gradient for an edge")
    array = output._array
    shape = array.shape
    if math.prod(shape) != 1:
        raise errors.missing_gradient(output)
    dtype = output._dtype
    if dtype.kind == "c":
        raise RuntimeError(
            f"grad can be implicitly created only for real scalar outputs but got {output.dtype}: "
            "pass a gradient, or take .abs() first"
        )
    return held(np.array(1, dtype) if shape == () else np.ones(shape, dtype))


def as_carrier(tape: Tape, gradient: object) -> Tensor:
    try:
        array = held(np.array(gradient))
    except ValueError as error:
        raise TypeError(f"gradient must be a tensor, an array, a list or a number: {error}") from None
    if array.dtype.kind not in "buifc":
        raise TypeError(
            "gradient must be a tensor, an array, a list or a number, "
            f"not {type(gradient).__name__} ({str(gradient)[:40]!r})"
        )
    return tape.wrap(array, None)


def _fitted(tape: Tape, given: Tensor, output: Tensor, index: int, create_graph: bool) -> Value:
    """A gradient with the shape and dtype of its output."""
    want = tuple(output.shape)
    have = tuple(given.shape)
    if have != want and math.prod(want) != 1 and [n for n in have if n != 1] != [n for n in want if n != 1]:
        raise errors.gradient_shape(given, output, index)
    g = given if create_graph else _beneath(tape, given)
    xp: Namespace = ops if isinstance(g, Carrier) else _xp
    if given._dtype != output._dtype:
        g = xp.astype(g, dtype=output._dtype, source=given._dtype)
    if have == want:
        return g
    if math.prod(want) == 1 and math.prod(have) != 1:
        g = xp.sum(g, axis=tuple(range(len(have))), keepdims=False)
    return xp.reshape(g, shape=want)
