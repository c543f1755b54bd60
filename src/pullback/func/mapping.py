"""vmap: a function of one example, applied to a batch."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.modes import restoring
from .._core.primitives import Carrier, Function
from .._core.trees import Structure, flatten, paths, spread, unflatten, with_axes
from .._numerics.random import Moment
from .._tape.views import steps, view
from ..vocabulary.shapes import cat
from .batched_indexing import has_rules, lifted
from .batching import Batch, Split
from .levels import beside, compiled_around, inner, is_row, rewritten, tensor_of, tensors

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._core.typing import Array, Given, Returned, Tensor
    from .batching import Drawn


ALONE = flatten(0)[1]
"""The structure of a single value that is not nested in a container."""


@compiled_around
def vmap(
    f: Callable[Given, Returned],
    in_dims: int | tuple[object, ...] = 0,
    out_dims: object = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
    on_branch: str = "error",
) -> Callable[Given, Returned]:
    """The function that applies f to each example of a batch, all of them at once.

    Parameters
    ----------
    f
        A function of single examples: it sees tensors without the batch axis. Keyword arguments are shared.
    in_dims
        The batch axis of each argument; None for an argument that the examples share. An int for all, or nested as the
        arguments are.
    out_dims
        The position of the batch axis in the results, in the same form.
    randomness
        How random numbers are drawn inside f: 'error' (refused), 'same' for all examples, or 'different'.
    chunk_size
        The number of examples computed at once; by default all of them.
    on_branch
        What happens at an `if` or a `while` whose condition differs between the examples: 'error', or 'split'. Then f
        is run again from its start for each group of examples that takes the same branches. Side effects of f, such as
        printing, happen once per group.

    Raises
    ------
    ValueError
        If the arguments' batch sizes differ, or in_dims or out_dims do not match the arguments or results.
    RuntimeError
        If f branches on an example's value, with `if` or `.item()`; the error names the line.

    >>> import pullback
    >>> from pullback.func import grad, vmap
    >>> x = pullback.tensor([1.0, 2.0, 3.0])
    >>> vmap(grad(lambda x: x**2))(x)
    tensor([2., 4., 6.])
    >>> vmap(lambda x: x**2 if x > 1.5 else -x, on_branch="split")(x)
    tensor([-1.,  4.,  9.])
    """
    _check(randomness, chunk_size, on_branch)
    asked = _Asked(f, in_dims, out_dims, randomness, chunk_size, on_branch)
    return functools.wraps(f)(lambda *args, **kwargs: _mapped(asked, args, kwargs))


class _Asked(NamedTuple):
    """The arguments of `vmap`."""

    f: Function
    in_dims: object
    out_dims: object
    randomness: str
    chunk_size: int | None
    on_branch: str


def _check(randomness: object, chunk_size: object, on_branch: object) -> None:
    """Refuse invalid options."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if on_branch not in ("error", "split"):
        raise RuntimeError(f"Only allowed values for on_branch are 'error' or 'split'. Got {on_branch}")
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size <= 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")


def _mapped(asked: _Asked, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """The results of one call, computed in chunks if `chunk_size` is given."""
    f, in_dims, out_dims, randomness, chunk_size, on_branch = asked
    leaves, structure = _batches(in_dims, args)
    call = _Call(f, structure, _input_dims(f, in_dims, leaves, structure), kwargs, out_dims, randomness)
    run = _in_parts if on_branch == "split" else _at_once
    size = _batch_size(leaves, call.dims, call.structure)
    moved = [leaf.movedim(dim, 0) if dim else leaf for leaf, dim in zip(leaves, call.dims, strict=True)]
    if chunk_size is None or chunk_size >= size:
        unmoved = {(id(there), dim): leaf for there, dim, leaf in zip(moved, call.dims, leaves, strict=True)}
        return run(call, moved, size).tree(unmoved)
    chunks = [slice(start, min(start + chunk_size, size)) for start in range(0, size, chunk_size)]
    moment = Moment([None])
    parts = []
    for chunk in chunks:
        if randomness == "same":  # shared by the examples of all chunks
            moment.restore()
        parts.append(run(call, call.part(moved, chunk), chunk.stop - chunk.start))
    return _joined(call, parts, "chunks").tree({})


def _batches(in_dims: object, args: tuple[object, ...]) -> tuple[list[Any], Structure]:
    """The leaves of the arguments and their structure; arrays and lists of numbers that have a batch axis are tensors."""
    leaves, structure = flatten(args, is_row)
    if spread(in_dims, structure) is None:  # it says more of a list of numbers than one axis
        leaves, structure = flatten(args)
    pairs = zip(leaves, spread(in_dims, structure) or [None] * len(leaves), strict=True)
    return [
        tensors(leaf) if type(leaf) in (list, np.ndarray) and dim is not None else leaf for leaf, dim in pairs
    ], structure


class _Call(NamedTuple):
    """The parts of a mapped function's call other than its arguments."""

    f: Function
    structure: Structure
    dims: Sequence[int | None]
    kwargs: dict[str, object]
    out_dims: object
    randomness: str

    def part(self, leaves: Sequence[Any], rows: slice | Array) -> list[Any]:
        """The arguments for some of the examples."""
        return [leaf if dim is None else leaf[rows] for leaf, dim in zip(leaves, self.dims, strict=True)]


class _Results(NamedTuple):
    """The results for some examples, with the batch axis first, and the position it is to be moved to."""

    values: list[Any]
    structure: Structure
    places: list[int | None]
    written: Sequence[int] = ()
    """The indices of the arguments that f has written to."""

    def tree(self, unmoved: dict[tuple[int, int | None], Any]) -> Any:
        """The results in the caller's structure; an argument returned in its place is that same argument."""
        pairs = zip(self.values, self.places, strict=True)
        moved = [unmoved.get((id(y), place), y.movedim(0, place) if place else y) for y, place in pairs]
        size = next((y.shape[0] for y, place in zip(self.values, self.places, strict=True) if place is not None), None)
        return unflatten(with_axes(self.structure, self.places, size), moved)


@restoring
def _at_once(call: _Call, leaves: Sequence[Any], size: int, past: list[bool | Drawn] | None = None) -> _Results:
    """f on all examples at once."""
    with Batch(size, call.randomness, past) as batch:
        return _ran(batch, call, leaves)


def _ran(batch: Batch, call: _Call, leaves: Sequence[Any]) -> _Results:
    pairs = zip(leaves, call.dims, strict=True)
    given = [leaf if dim is None else batch.box(inner(leaf)) for leaf, dim in pairs]
    before = [value._array if batch.holds(value) else None for value in given]
    results, nested = flatten(call.f(*unflatten(with_axes(call.structure, call.dims), given), **call.kwargs))
    places = _output_dims(call.f, call.out_dims, results, nested)
    values = [beside(_placed(call.f, batch, y, place), leaves) for y, place in zip(results, places, strict=True)]
    written = [i for i, old in enumerate(before) if old is not None and rewritten(given[i], old)]
    for i in written:
        leaves[i].copy_(tensor_of(given[i]._array))
    arguments = {id(value): leaf for value, leaf in zip(given, leaves, strict=True) if batch.holds(value)}
    values = [_seen(batch, y, arguments, value) for y, value in zip(results, values, strict=True)]
    return _Results(values, nested, places, written)


def _seen(batch: Batch, y: Tensor, arguments: dict[int, Tensor], value: Tensor) -> Tensor:
    """A result outside the batch; a result that is an argument, or a view of one, is that argument or a view of it."""
    base = getattr(y, "_base", None)
    leaf = arguments.get(id(y if base is None else base))
    if leaf is None or not y.batched:
        return value
    path = steps(y._path)
    if not has_rules(path):
        return value
    for primitive, params in lifted(batch.size, path, tuple(y.shape if base is None else base.shape))[0]:
        leaf = view(primitive, leaf, **params)
    return leaf


@restoring
def _in_parts(call: _Call, leaves: Sequence[Any], size: int) -> _Results:
    """f on each group of examples that takes the same branches; the groups are determined by running f."""
    parts: list[_Results] = []
    order: list[Array] = []
    pending: list[tuple[Array, list[bool | Drawn]]] = [(np.arange(size), [])]
    while pending:
        rows, past = pending.pop()
        given = leaves if len(rows) == size else call.part(leaves, rows)
        batch = Batch(len(rows), call.randomness, past)
        try:
            with batch:
                parts.append(_ran(batch, call, given))
            for i in parts[-1].written if given is not leaves else ():
                leaves[i][rows] = given[i]
            order.append(rows)
        except Split as split:
            if split.batch is not batch:
                raise
            for side in (False, True):  # the group pushed last runs first
                own = np.flatnonzero(split.answers == side)
                pending.append((rows[own], [*batch.past_of(own), side]))
    if len(parts) == 1:
        return parts[0]
    joined = _joined(call, parts, "sides of a branch")
    back = np.argsort(np.concatenate(order))
    pairs = zip(joined.values, joined.places, strict=True)
    return joined._replace(values=[y if place is None else y[back] for y, place in pairs])


def _placed(f: Function, batch: Batch, y: Tensor, place: int | None) -> Tensor:
    """A result with the batch axis in front."""
    own = batch.holds(y)
    value = tensor_of(y._array) if own else y
    if place is None:
        if own and y.batched:
            raise ValueError(
                f"vmap({name_of(f)}, ...): `{name_of(f)}` can not return a BatchedTensor when out_dim is None: this output "
                "differs between the examples"
            )
        return value
    return value if own and y.batched else value.expand(batch.size, *value.shape)


def _joined(call: _Call, parts: Sequence[_Results], what: str) -> _Results:
    """The results for several groups of examples, concatenated."""
    first = parts[0]
    for part in parts:
        if part.structure != first.structure:
            raise ValueError(
                f"vmap({name_of(call.f)}, ...): the {what} return different structures, {first.structure} and {part.structure}"
            )
    values = []
    for i, (place, path) in enumerate(zip(first.places, paths(first.structure, "output"), strict=True)):
        column = [part.values[i] for part in parts]
        shapes = sorted({tuple(y.shape[1:]) for y in column}) if place is not None else []
        if len(shapes) > 1:
            raise ValueError(
                f"vmap({name_of(call.f)}, ...): the {what} return different shapes for {path}: "
                f"{' and '.join(map(str, shapes))}"
            )
        if place is None and what != "chunks" and isinstance(column[0], Carrier):
            raise ValueError(
                f"vmap({name_of(call.f)}, ..., out_dims={call.out_dims}): out_dims is None for {path}, which may differ "
                f"between the {what}"
            )
        values.append(column[0] if place is None else cat(column, 0))
    return _Results(values, first.structure, first.places)


def _input_dims(f: Function, in_dims: object, leaves: Sequence[object], structure: Structure) -> list[int | None]:
    """The batch axis of each leaf of the arguments, counted from 0; None for a shared one."""
    if not isinstance(in_dims, (int, tuple)) or isinstance(in_dims, bool):
        raise ValueError(
            f"{_where(f, in_dims)} expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: "
            f"{type(in_dims)}."
        )
    if not leaves:
        raise ValueError(
            f"vmap({name_of(f)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    dims = spread(in_dims, structure)
    if dims is None:
        raise ValueError(
            f"{_where(f, in_dims)} in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{flatten(in_dims)[1]} but inputs has structure {structure}."
        )
    return [
        None if dim is None else _input_dim(f, in_dims, structure, i, leaf, dim)
        for i, (leaf, dim) in enumerate(zip(leaves, dims, strict=True))
    ]


def _where(f: Function, in_dims: object) -> str:
    return f"vmap({name_of(f)}, in_dims={in_dims}, ...)(<inputs>):"


def _input_dim(f: Function, in_dims: object, structure: Structure, number: int, leaf: object, dim: object) -> int:
    if type(dim) is int and isinstance(leaf, Carrier) and -leaf.ndim <= dim < leaf.ndim:
        return int(dim % leaf.ndim)
    where, path = _where(f, in_dims), paths(structure, "args")[number]
    if not isinstance(dim, int) or isinstance(dim, bool):
        raise ValueError(f"{where} Got in_dim={dim} for {path}: an in_dim must be either an integer dimension or None.")
    if not isinstance(leaf, Carrier):
        raise ValueError(
            f"{where} Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over non-Tensor "
            f"arguments, please use None as the respective in_dim: it is {path}"
        )
    raise ValueError(
        f"{where} Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {leaf.ndim} so expected "
        f"in_dim to satisfy -{leaf.ndim} <= in_dim < {leaf.ndim}: it is {path}, of shape {tuple(leaf.shape)}"
    )


def _batch_size(leaves: Sequence[Any], dims: Sequence[int | None], structure: Structure) -> int:
    """The batch size, which must be the same in all arguments."""
    sizes = [leaf.shape[dim] for leaf, dim in zip(leaves, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over: every in_dim is None")
    if len(set(sizes)) > 1:
        mapped = [path for path, dim in zip(paths(structure, "args"), dims, strict=True) if dim is not None]
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped "
            f"dimension: {', '.join(f'{path} has {size}' for path, size in zip(mapped, sizes, strict=True))}"
        )
    return int(sizes[0])


def _output_dims(f: Function, out_dims: object, results: Sequence[object], nested: Structure) -> list[int | None]:
    """The position of the batch axis in each result."""
    for given in flatten(out_dims)[0]:
        if given is not None and (not isinstance(given, int) or isinstance(given, bool)):
            raise ValueError(
                f"vmap({name_of(f)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of ints representing where in the "
                f"outputs the vmapped dimension should appear, got {type(given)}."
            )
    prefix = out_dims[0] if isinstance(out_dims, (tuple, list)) and len(out_dims) == 1 and nested == ALONE else out_dims
    places = spread(prefix, nested)
    if places is None:
        raise ValueError(
            f"vmap({name_of(f)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of `outputs`. out_dims has structure "
            f"{flatten(out_dims)[1]} but outputs has structure {nested}."
        )
    for i, (y, place) in enumerate(zip(results, places, strict=True)):
        if place is None or (isinstance(y, Carrier) and -y.ndim - 1 <= place <= y.ndim):
            continue
        path = paths(nested, "output")[i]
        if not isinstance(y, Carrier):
            raise ValueError(
                f"vmap({name_of(f)}, ...): `{name_of(f)}` must only return Tensors, got type {type(y)}. Did you mean to set "
                f"out_dims= to None for output? It is {path}"
            )
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-y.ndim - 1}, {y.ndim}], but got {place}): out_dims "
            f"of {path}"
        )
    return places


def name_of(f: Function) -> str:
    """A function's name."""
    return getattr(f, "__name__", repr(f))
