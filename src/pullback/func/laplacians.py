"""The Laplacian: Taylor mode of order 2 in all directions at once, of which the second order is only kept as a sum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core.bfloat import held
from .._core.primitives import Primitive
from .._core.trees import Structure, flatten, unflatten
from .diagonal import DiagonalTensor, Rows
from .forward import applied, is_moving, require_primals
from .jacobians import Numbers, identity
from .levels import chosen, compiled_around, inner, output_leaves, require_real, tensor_of
from .taylor import Series, Taylor, derivative, is_linear_in

if TYPE_CHECKING:
    from .._core.typing import Given, Params, Result, Tensor, Value


class Apart(BaseException):
    """Raised where a sum over the directions is not enough, before anything is written to the arguments."""


class Collapsed(Taylor):
    """Taylor mode of order 2, whose coefficients of order 1 are batches, one example for each direction.

    What two such coefficients give is of order 2, in which results are linear: their sum over the directions is enough.
    """

    pushes = False

    def __init__(self, directions: Rows) -> None:
        super().__init__(2)
        self.directions = directions

    def computed(self, primitive: Primitive, values: Sequence[Value], params: Params) -> Result:
        """The operation on values; where it multiplies those of the directions, the sum over these."""
        directions = self.directions
        found = primitive(*values, **params)
        batched = [directions.holds(value) and value.batched and value.dtype.is_floating_point for value in values]
        if primitive.kind == "zero":
            if any(batched) and is_moving(found):
                raise Apart  # what is chosen for a direction is of no order
            return found
        if sum(batched) < 2 or is_linear_in(primitive, tuple(batched)):
            return found
        return tuple(map(self._sum, found)) if type(found) is tuple else self._sum(found)

    @staticmethod
    def _sum(batch: DiagonalTensor) -> Value:
        if batch.axis is not None:  # the entries of a diagonal batch are of one direction each
            return batch._array
        return ops.sum(batch._array, axis=(0,), keepdims=False)


@compiled_around
def laplacian(f: Callable[Given, Any], argnums: Numbers = 0) -> Callable[Given, Any]:
    """The function that computes the Laplacian of f: the sum of its second derivatives by each element of an argument.

    The result nests as f's outputs do, and has their shapes. It takes one pass, in which only the first derivatives are computed
    for each element; a Hessian is not formed. For the Laplacian at each of many points, map it: `vmap(laplacian(f))(points)`.

    Parameters
    ----------
    f
        A function of real tensors that returns real tensors.
    argnums
        The number of the argument to differentiate by, or several in a tuple, whose elements are all summed over.

    Source: Li et al., "A computational framework for neural network-based variational Monte Carlo with Forward Laplacian", 2024;
    Dangel et al., "Collapsing Taylor Mode Automatic Differentiation", 2025.

    >>> import pullback
    >>> pullback.func.laplacian(lambda x: (x**3).sum())(pullback.tensor([1.0, 2.0]))
    tensor(18.)
    """

    @wraps(f)
    def summed(*args: Any, **kwargs: Any) -> Any:
        places, taken = chosen(argnums, args)
        leaves, structure = flatten(tuple([taken[place] for place in places]))
        require_primals(leaves, structure, "input")
        require_real(leaves, structure, "laplacian", "input")

        def call(boxed: list[Tensor]) -> tuple[tuple[list[Tensor], Structure], object]:
            given = list(taken)
            for place, tree in zip(places, unflatten(structure, boxed), strict=True):
                given[place] = tree
            outputs, nested = output_leaves(f(*given, **kwargs), "laplacian(f)")
            require_real(outputs, nested, "laplacian", "output")
            return (outputs, nested), None

        found, nested = _summed(call, leaves)
        return unflatten(nested, found)

    return summed


def _summed(call: Callable[..., Any], leaves: Sequence[Tensor]) -> tuple[list[Tensor], Structure]:
    """The Laplacian of each output of a call, and the structure of the outputs."""
    with Rows(sum(leaf.numel() for leaf in leaves), "same") as directions:
        units = _units(directions, leaves)

        def second(taylor: Taylor, call: Callable[..., Any]) -> tuple[list[Value], Structure]:
            """The second derivatives of the outputs."""
            starts = [Series([inner(leaf), unit, None]) for leaf, unit in zip(leaves, units, strict=True)]
            boxes = partial(map, taylor.moving, map(inner, leaves), starts)
            (outputs, nested), _, _ = applied(taylor, boxes, call, leaves, leaves)
            return [inner(derivative(taylor, output, 2)) for output in outputs], nested

        collapsed = Collapsed(directions)

        def checked(boxed: list[Tensor]) -> object:
            (outputs, _), _ = answer = call(boxed)
            seconds = [output.series[2] for output in outputs if collapsed.holds(output) and output.series is not None]
            if any(directions.holds(value) and value.batched for value in seconds):
                raise Apart
            return answer

        try:
            found, nested = second(collapsed, checked)
        except Apart:
            found, nested = second(Taylor(2), call)
            found = [ops.sum(directions.rows(value), axis=(0,), keepdims=False) for value in found]
        return [tensor_of(directions.unbox(value)) for value in found], nested


def _units(directions: Rows, leaves: Sequence[Tensor]) -> list[Tensor]:
    """The unit vectors of the space of all elements; those of a single axis as a diagonal."""
    if len(leaves) == 1 and leaves[0].ndim == 1:
        return [directions.box(held(np.ones(leaves[0].numel(), leaves[0]._dtype)), axis=0)]
    return [directions.box(inner(units)) for units in identity(leaves)]
