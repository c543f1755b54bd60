"""Derivatives of functions of nested arrays: vector-Jacobian products, Jacobian-vector products, and Jacobians.

A function's arguments are flattened to leaves, which become boxed tensors of a transform; the transform does the rest.
autograd's gradient of a complex function is the conjugate of torch's: cotangents are conjugated before the pullback,
and its results after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import Tensor, enable_grad, ops
from ..._core.modes import under
from ...autograd import grad
from ...extend import restoring, warn
from ...func.forward import Forward
from ...func.levels import Level, inner
from ...func.rows import of_units
from ...interpreters import constant, entered_last
from ...observe import node, value
from ...utils.trees import Structure, flatten, paths, unflatten
from .boxes import Box, seen

if TYPE_CHECKING:
    from ..._core.typing import Array, Function, Value


class Ground(enable_grad):
    """The outermost trace: its values are tensors on the default tape, whose passes are the fastest."""

    def variable(self, tensor: Tensor) -> Tensor:
        """A leaf with a tensor's value: the tensor itself, if it was made for this."""
        return (tensor if node(tensor) is None else tensor.detach()).requires_grad_()

    def holds(self, value: object) -> bool:
        """True if a value is tracked on this tape."""
        return isinstance(value, Tensor) and not value.level and node(value) is not None

    def pulled(
        self, outputs: Sequence[Tensor], cotangents: Sequence[Tensor], variables: Sequence[Tensor]
    ) -> list[Tensor]:
        """The cotangents of the variables: the pullback of those of the outputs."""
        if not outputs:
            return [constant(np.zeros(tuple(v.shape), v.dtype.numpy)) for v in variables]
        recorded = any(map(self.holds, cotangents))  # in another outermost trace, which shares the tape
        found = grad(outputs, variables, cotangents, retain_graph=True, create_graph=recorded, allow_unused=True)
        return [
            constant(np.zeros(tuple(v.shape), v.dtype.numpy) if g is None else g)
            for g, v in zip(found, variables, strict=True)
        ]


class Further(Level):
    """A trace nested in another one, with its own level."""

    def pulled(
        self, outputs: Sequence[Tensor], cotangents: Sequence[Tensor], variables: Sequence[Tensor]
    ) -> list[Tensor]:
        """The cotangents of the variables: the pullback of those of the outputs."""
        return self.pull(outputs, self.fitted(outputs, cotangents), variables, retain_graph=True)


active: ContextVar[tuple[TracedRun, ...]] = ContextVar("pullback.active", default=())
"""The active runs, the outermost first."""


def leaf_tensor(value: object, name: str = "the argument") -> Tensor:
    """An array or number as a tensor with respect to which to differentiate."""
    if isinstance(value, Box):
        return value.tensor
    if not isinstance(value, (np.ndarray, np.generic, int, float, complex)) or isinstance(value, bool):
        raise TypeError(f"Can't differentiate w.r.t. type {type(value)}: it is {name}")
    array = np.asarray(value)
    if array.dtype.kind not in "iufc" or array.dtype.itemsize > (16 if array.dtype.kind == "c" else 8):
        raise TypeError(f"Can't differentiate w.r.t. an array of dtype {array.dtype}: it is {name}")
    return constant(array.astype(np.float64) if array.dtype.kind in "iu" else array)


def leaf_tensors(tree: object, name: str = "x") -> tuple[list[Tensor], Structure]:
    """The leaves of an argument as tensors, and its tree structure."""
    leaves, structure = flatten(tree)
    return [leaf_tensor(leaf, path) for leaf, path in zip(leaves, paths(structure, name), strict=True)], structure


def conjugate(value: Tensor) -> Tensor:
    """The conjugate of a carrier; the carrier itself if it is real."""
    return ops.conj(value) if value.is_complex() else value


def given_back(value: object) -> Any:
    """A result for the caller: an array with its own memory, which may be written to."""
    found = seen(value)
    owned = not isinstance(found, np.ndarray) or (found.flags.writeable and found.base is None)
    return found if owned else found.copy()


class TracedRun:
    """One run of a function on its own trace: its inputs and outputs.

    `by_hand` is True if a primitive with a user-defined derivative was called, which accepts one cotangent at a time.
    """

    def __init__(self, function: Function, x: object) -> None:
        leaves, self.nesting = leaf_tensors(x)
        self.by_hand = False
        around = active.get()
        self.trace: Any = Further() if around or entered_last() is not None else Ground()
        result = under(active, (*around, self), self._run, function, leaves)
        self.outputs, self.structure = flatten(result)
        if not any(map(self.depends, self.outputs)):
            warn("Output seems independent of input.")

    @restoring
    def _run(self, function: Function, leaves: list[Tensor]) -> Any:
        with self.trace:
            self.variables = [self.trace.variable(leaf) for leaf in leaves]
            return function(unflatten(self.nesting, list(map(seen, self.variables))))

    def depends(self, output: object) -> bool:
        """True if an output depends on the traced inputs."""
        return isinstance(output, Box) and self.trace.holds(output.tensor)

    def value(self) -> Any:
        """The function's result, outside the level."""
        return unflatten(self.structure, [out._value if self.depends(out) else out for out in self.outputs])

    def pull(self, tree: object) -> Any:
        """The pullback of a cotangent, nested like the value."""
        leaves, structure = flatten(tree)
        if structure != self.structure:
            raise TypeError(
                f"a cotangent nests as the function's value does: as {self.structure}, and this nests as {structure}"
            )
        pairs = [pair for pair in zip(self.outputs, leaves, strict=True) if self.depends(pair[0])]
        start = [self._fitted(output, g) for output, g in pairs]
        pulled = self.trace.pulled([output.tensor for output, _ in pairs], start, self.variables)
        return unflatten(self.nesting, [given_back(conjugate(g)) for g in pulled])

    def _fitted(self, output: Box, g: object) -> Tensor:
        """The cotangent of an output: any that broadcasts to its shape, as in autograd; of a real output the real part."""
        tensor = conjugate(g.tensor if isinstance(g, Box) else constant(np.asarray(g)))
        if tensor.is_complex() and not output.tensor.is_complex():
            tensor = ops.real(tensor)
        shape = tuple(output.tensor.shape)
        if tuple(tensor.shape) != shape:
            if [n for n in tensor.shape if n != 1] == [n for n in shape if n != 1]:
                return constant(ops.reshape(tensor, shape=shape))
            tensor = constant(tensor).expand(shape)
        return tensor

    def rows(self) -> list[Array]:
        """For each leaf of the argument, the Jacobian of the single output, flattened along the first axis."""
        (output,) = self.outputs
        count = int(np.size(output)) if not isinstance(output, Box) else output.size
        if not self.depends(output) or not count:
            return [np.zeros((count, *v.shape), v.dtype.numpy) for v in self.variables]

        def pull(g: Tensor) -> list[Tensor]:
            return self.trace.pulled([output.tensor], [g], self.variables)

        if not self.by_hand and not output.tensor.is_complex():
            return [given_back(conjugate(g)) for g in of_units(pull, output.tensor) if g is not None]
        units = np.eye(count, dtype=output.tensor.dtype.numpy).reshape(-1, *output.shape)
        columns = zip(*[pull(constant(unit)) for unit in units], strict=True)
        return [given_back(conjugate(constant(ops.stack(*column, axis=0)))) for column in columns]


def make_vjp(function: Function, x: object) -> tuple[Function, Any]:
    """The pullback of a function at x, and its value there.

    >>> from pullback.compat.autograd.tracing import make_vjp
    >>> pull, value = make_vjp(lambda x: x * x, 3.0)
    >>> float(pull(1.0)), float(value)
    (6.0, 9.0)
    """
    traced = TracedRun(function, x)
    return traced.pull, traced.value()


def make_jvp(function: Function, x: object) -> Function:
    """The pushforward of a function at x: a function from a tangent to the value and its tangent.

    >>> from pullback.compat.autograd.tracing import make_jvp
    >>> tuple(map(float, make_jvp(lambda x: x * x, 3.0)(1.0)))
    (9.0, 6.0)
    """

    def push(tangent: object) -> tuple[Any, Any]:
        """The value, and its derivative in the direction of a tangent."""
        leaves, nesting = leaf_tensors(x)
        moves, given = leaf_tensors(tangent, "the tangent")
        if given != nesting:
            raise TypeError(f"a tangent nests as the argument does: as {nesting}, and this nests as {given}")
        with Forward() as forward:
            duals = [forward.dual(inner(a), _tangent(a, b)) for a, b in zip(leaves, moves, strict=True)]
            outputs, structure = flatten(function(unflatten(nesting, list(map(seen, duals)))))
        found = [_change(forward, output) for output in outputs]
        values, changes = zip(*found, strict=True) if found else ((), ())
        return unflatten(structure, values), unflatten(structure, changes)

    return push


def _tangent(leaf: Tensor, move: Tensor) -> Value:
    if tuple(move.shape) != tuple(leaf.shape):
        move = constant(move).expand(tuple(leaf.shape))
    if move.dtype != leaf.dtype:
        move = constant(ops.astype(move, dtype=leaf.dtype.numpy, source=move.dtype.numpy))
    return inner(move)


def _change(forward: Forward, output: object) -> tuple[Any, Any]:
    """An output and its tangent."""
    if not isinstance(output, Box) or not forward.holds(output.tensor):
        return output, np.zeros_like(output) if not isinstance(output, Box) else seen(np.zeros(output.shape))
    tensor = output.tensor
    return seen(value(tensor)), given_back(tensor.tangent)
