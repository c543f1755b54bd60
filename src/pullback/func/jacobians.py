"""Jacobians and Hessians of functions: jacrev, jacfwd and hessian."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.modes import restoring
from .._core.trees import Structure, flatten, mapped, unflatten
from .._tensor.tensor import Tensor
from .forward import jvp, require_primals
from .levels import Level, chosen, compiled_around, output_leaves, require_numbers, require_real
from .mapping import vmap
from .reverse import regrouped, split, tracked
from .rows import of_units

if TYPE_CHECKING:
    from .._core.typing import Given


Numbers = int | tuple[int, ...]


@compiled_around
def jacrev(
    f: Callable[Given, Any], argnums: Numbers = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Callable[Given, Any]:
    """The function that computes the Jacobian of f in reverse mode, with all rows at once.

    The result nests as f's outputs do, and each part of it as the argument does (a tuple of arguments for a tuple of
    `argnums`). A Jacobian has the shape of the output followed by that of the input. Reverse mode is cheapest where
    there are fewer outputs than inputs. `chunk_size` limits how many rows are computed at once; `has_aux` is as for
    `grad`.

    Parameters
    ----------
    f
        A function of tensors that returns tensors.
    argnums
        The number of the argument to differentiate by, or several in a tuple.
    has_aux
        The function returns a pair: its result, and something that is passed on as it is.
    chunk_size
        How many rows or columns are computed at a time; None for all.

    >>> import pullback
    >>> pullback.func.jacrev(lambda x: x * x)(pullback.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"jacrev: `chunk_size` should be greater than 0. (got {chunk_size})")

    @restoring
    @functools.wraps(f)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        places, taken = chosen(argnums, args)
        with Level() as level:
            given, variables, structures = tracked(level, taken, places)
            require_real(*_inputs(taken, places), "jacrev", "input")
            outputs, aux = split(f(*given, **kwargs), has_aux, "vjp(f, *primals)")
            leaves, nested = output_leaves(outputs, "vjp(f, *primals)")
            require_numbers(leaves, nested)
            require_real(leaves, nested, "jacrev", "output")
        rows = _rows(level, leaves, variables, chunk_size)
        parts = _parts(rows, leaves, variables, structures, isinstance(argnums, int))
        answer = unflatten(nested, parts)
        return (answer, mapped(level.lowered, aux)) if has_aux else answer

    return jacobian


def _inputs(args: Sequence[object], places: Sequence[int]) -> tuple[list[Tensor], Structure]:
    """The leaves of the arguments to differentiate, and their structure; refused unless real or complex."""
    leaves, structure = flatten(tuple(args[place] for place in places))
    require_primals(leaves, structure, "input")
    return leaves, structure


def _rows(level: Level, outputs: Sequence[Tensor], variables: Sequence[Tensor], chunk_size: int | None) -> list[Any]:
    """For each variable, the pullbacks of the unit vectors of all outputs, along a first axis."""

    def pull(*cotangents: Tensor) -> tuple[Tensor, ...]:
        return tuple(level.pull(outputs, cotangents, variables, retain_graph=True))

    if len(outputs) == 1 and chunk_size is None and outputs[0].numel():
        return of_units(pull, outputs[0])
    return list(vmap(pull, chunk_size=chunk_size)(*identity(outputs)))


def identity(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The unit vectors of the product space of several tensors: for each tensor its parts, along a first axis."""
    total = sum(math.prod(tensor.shape) for tensor in tensors)
    basis = []
    for tensor, place in _pieces(tensors):
        units = np.eye(total, place.stop - place.start, -place.start, dtype=tensor._dtype)
        basis.append(Tensor.interpreter.wrap(units.reshape(total, *tensor.shape), None))
    return basis


def _parts(
    rows: Sequence[Tensor],
    outputs: Sequence[Tensor],
    variables: Sequence[Tensor],
    structures: Sequence[Structure],
    single: bool,
) -> list[Any]:
    """For each output its Jacobians, nested as the arguments are."""
    parts = []
    for output, place in _pieces(outputs):
        pairs = zip(rows, variables, strict=True)
        own = [row[place].reshape(*output.shape, *variable.shape) for row, variable in pairs]
        grouped = regrouped(own, structures)
        parts.append(grouped[0] if single else tuple(grouped))
    return parts


def _pieces(tensors: Sequence[Tensor]) -> list[tuple[Tensor, slice]]:
    """Tensors, each with its place on an axis along which their elements follow one another."""
    ends = itertools.accumulate(math.prod(tensor.shape) for tensor in tensors)
    return [(tensor, slice(end - math.prod(tensor.shape), end)) for tensor, end in zip(tensors, ends, strict=True)]


def _with_leaves(
    f: Callable[..., Any],
    taken: Sequence[Any],
    places: Sequence[int],
    structures: Sequence[Any],
    kwargs: dict[str, Any],
    *leaves: Tensor,
) -> Any:
    """The result of f with other leaves of the arguments at some places."""
    given = list(taken)
    for place, part in zip(places, regrouped(leaves, structures), strict=True):
        given[place] = part
    return f(*given, **kwargs)


@compiled_around
def jacfwd(
    f: Callable[Given, Any],
    argnums: Numbers = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
    chunk_size: int | None = None,
) -> Callable[Given, Any]:
    """The function that computes the Jacobian of f in forward mode, with all columns at once.

    Otherwise like `jacrev`. Forward mode is cheapest where there are fewer inputs than outputs; nothing is recorded.

    Parameters
    ----------
    f
        A function of tensors that returns tensors.
    argnums, has_aux
        As for `jacrev`.
    randomness
        What random numbers do inside: "error", "same" or "different", as for `vmap`.
    chunk_size
        How many rows or columns are computed at a time; None for all.

    >>> import pullback
    >>> pullback.func.jacfwd(lambda x: x * x)(pullback.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    @functools.wraps(f)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        places, taken = chosen(argnums, args)
        trees = [flatten(taken[place]) for place in places]
        leaves, structures = [leaf for found, _ in trees for leaf in found], [structure for _, structure in trees]
        kept: list[Any] = []
        require_real(*_inputs(taken, places), "jacfwd", "input")

        def push(*tangents: Tensor) -> Any:
            call = functools.partial(_with_leaves, f, taken, places, structures, kwargs)
            result = jvp(call, tuple(leaves), tangents, has_aux=has_aux)
            require_real(*flatten(result[0]), "jacfwd", "output")
            kept[:] = [result[0], *result[2:]]
            return result[1]

        basis = identity(leaves)
        columns, nested = flatten(vmap(push, out_dims=-1, randomness=randomness, chunk_size=chunk_size)(*basis))
        answer = unflatten(nested, _columns(columns, leaves, structures, isinstance(argnums, int)))
        return (answer, kept[1]) if has_aux else answer

    return jacobian


def _columns(
    columns: Sequence[Tensor], inputs: Sequence[Tensor], structures: Sequence[Structure], single: bool
) -> list[Any]:
    """For each output its Jacobians, nested as the arguments are; `columns` have the inputs along the last axis."""
    parts = []
    for column in columns:
        own = [column[..., place].reshape(*column.shape[:-1], *x.shape) for x, place in _pieces(inputs)]
        grouped = regrouped(own, structures)
        parts.append(grouped[0] if single else tuple(grouped))
    return parts


@compiled_around
def hessian(f: Callable[Given, Any], argnums: Numbers = 0) -> Callable[Given, Any]:
    """The function that computes the second derivatives of f, as jacfwd of jacrev.

    The result nests as the Jacobian of a Jacobian does. For a scalar function of one tensor, its shape is the tensor's
    twice.

    Parameters
    ----------
    f
        A function that returns a tensor.
    argnums
        The number of the argument to differentiate by, or several in a tuple.

    >>> import pullback
    >>> pullback.func.hessian(lambda x: (x**3).sum())(pullback.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(f, argnums), argnums)
