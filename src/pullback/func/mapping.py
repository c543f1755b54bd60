"""vmap: a function of one example, on a batch of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .._core import Carrier
from .._trees import Structure, flatten, mapped, paths, spread, unflatten
from ..vocabulary.shapes import cat
from .batching import Batch
from .levels import inner, tensor_of

Function = Callable[..., Any]


def vmap(
    f: Function,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Function:
    """The function that applies f to each example of a batch, all of them at once.

    Parameters
    ----------
    f
        A function of single examples: it sees tensors without the axis of the batch.
    in_dims
        Which axis of each argument counts the examples; None for an argument that they share. An int for all, or nested
        as the arguments are.
    out_dims
        Where that axis goes in the results, in the same form.
    randomness
        What happens to random numbers drawn inside: 'error', 'same' for all examples, or 'different'.
    chunk_size
        The number of examples that are computed at once; all of them if left out.

    Raises
    ------
    ValueError
        If the arguments' batches differ in size, or in_dims and out_dims do not fit what they are for.
    RuntimeError
        If f decides by the value of an example, with `if` or `.item()`.

    >>> import pullback
    >>> from pullback.func import grad, vmap
    >>> vmap(grad(lambda x: x**2))(pullback.tensor([1.0, 2.0, 3.0]))
    tensor([2., 4., 6.])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size <= 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(f)
    def batched(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = flatten(args)
        dims = _input_dims(f, in_dims, leaves, structure)
        size = _batch_size(leaves, dims, structure, kwargs)
        moved = [leaf if dim is None else leaf.movedim(dim, 0) for leaf, dim in zip(leaves, dims, strict=True)]
        run = functools.partial(_run, f, structure, dims, kwargs, out_dims)
        if chunk_size is None or chunk_size >= size:
            return run(moved, size)
        return _joined(run, moved, dims, size, chunk_size, out_dims)

    return batched


def _run(
    f: Function,
    structure: Structure,
    dims: Sequence[Any],
    kwargs: dict[str, Any],
    out_dims: Any,
    leaves: Sequence[Any],
    size: int,
) -> Any:
    """f on all examples at once."""
    with Batch(size) as batch:
        given = [leaf if dim is None else batch.box(inner(leaf)) for leaf, dim in zip(leaves, dims, strict=True)]
        keywords = {
            key: mapped(lambda x: batch.box(inner(x.movedim(0, 0))) if isinstance(x, Carrier) else x, value)
            for key, value in kwargs.items()
        }
        outputs = f(*unflatten(structure, given), **keywords)
        results, nested = flatten(outputs)
        places = _output_dims(f, out_dims, results, nested)
        return unflatten(nested, [_placed(batch, y, place) for y, place in zip(results, places, strict=True)])


def _placed(batch: Batch, y: Any, place: int | None) -> Any:
    """A result with the axis of the batch in its place."""
    own = batch.holds(y)
    value = tensor_of(y._array) if own else y
    if place is None:
        if own and y.batched:
            raise ValueError("vmap: out_dims is None for an output that differs between the examples")
        return value
    if not own or not y.batched:
        value = value.expand(batch.size, *value.shape)
    return value if place == 0 else value.movedim(0, place)


def _joined(
    run: Function, leaves: Sequence[Any], dims: Sequence[Any], size: int, chunk_size: int, out_dims: Any
) -> Any:
    """The results of one chunk of examples after the other."""
    parts = []
    for start in range(0, size, chunk_size):
        stop = min(start + chunk_size, size)
        chunk = [leaf if dim is None else leaf[start:stop] for leaf, dim in zip(leaves, dims, strict=True)]
        parts.append(flatten(run(chunk, stop - start)))
    structure = parts[0][1]
    places = spread(out_dims, structure) or []
    columns = zip(*(leaves for leaves, _ in parts), strict=True)
    return unflatten(
        structure,
        [column[0] if dim is None else cat(column, dim) for column, dim in zip(columns, places, strict=True)],
    )


def _input_dims(f: Function, in_dims: Any, leaves: Sequence[Any], structure: Structure) -> list[Any]:
    """The axis of the batch of each leaf of the arguments, counted from 0; None for what the examples share."""
    where = f"vmap({_name(f)}, in_dims={in_dims}, ...)(<inputs>):"
    if not isinstance(in_dims, (int, tuple)) or isinstance(in_dims, bool):
        raise ValueError(
            f"{where} expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: "
            f"{type(in_dims)}."
        )
    if not leaves:
        raise ValueError(
            f"vmap({_name(f)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    dims = spread(in_dims, structure)
    if dims is None:
        raise ValueError(
            f"{where} in_dims is not compatible with the structure of inputs. in_dims has structure "
            f"{flatten(in_dims)[1]} but inputs has structure {structure}."
        )
    return [
        _input_dim(where, leaf, dim, path)
        for leaf, dim, path in zip(leaves, dims, paths(structure, "args"), strict=True)
    ]


def _input_dim(where: str, leaf: Any, dim: Any, path: str) -> int | None:
    if dim is None:
        return None
    if not isinstance(dim, int) or isinstance(dim, bool):
        raise ValueError(f"{where} Got in_dim={dim} for {path}: an in_dim must be either an integer dimension or None.")
    if not isinstance(leaf, Carrier):
        raise ValueError(
            f"{where} Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over non-Tensor "
            f"arguments, please use None as the respective in_dim: it is {path}"
        )
    if not -leaf.ndim <= dim < leaf.ndim:
        raise ValueError(
            f"{where} Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {leaf.ndim} so expected "
            f"in_dim to satisfy -{leaf.ndim} <= in_dim < {leaf.ndim}: it is {path}, of shape {tuple(leaf.shape)}"
        )
    return dim % leaf.ndim


def _batch_size(leaves: Sequence[Any], dims: Sequence[Any], structure: Structure, kwargs: dict[str, Any]) -> int:
    """The number of examples, the same in all arguments."""
    found = {
        path: leaf.shape[dim]
        for leaf, dim, path in zip(leaves, dims, paths(structure, "args"), strict=True)
        if dim is not None
    }
    for name, value in kwargs.items():
        values, nested = flatten(value)
        found |= {
            path: leaf.shape[0]
            for leaf, path in zip(values, paths(nested, name), strict=True)
            if isinstance(leaf, Carrier) and leaf.ndim
        }
    sizes = list(found.values())
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over: every in_dim is None")
    if len(set(sizes)) > 1:
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped "
            f"dimension: {', '.join(f'{path} has {size}' for path, size in found.items())}"
        )
    return int(sizes[0])


def _output_dims(f: Function, out_dims: Any, results: Sequence[Any], nested: Structure) -> list[Any]:
    """Where the axis of the batch goes in each result."""
    places = spread(out_dims, nested)
    if places is None:
        raise ValueError(
            f"vmap({_name(f)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of "
            f"outputs. out_dims has structure {flatten(out_dims)[1]} but outputs has structure {nested}."
        )
    for y, place in zip(results, places, strict=True):
        if not isinstance(y, Carrier) and place is not None:
            raise ValueError(
                f"vmap({_name(f)}, ...): `{_name(f)}` must only return Tensors, got type {type(y)}. Did you mean to set "
                "out_dims= to None for output?"
            )
        if place is not None and (not isinstance(place, int) or not -y.ndim - 1 <= place <= y.ndim):
            raise ValueError(
                f"vmap({_name(f)}, ..., out_dims={out_dims}): {place} is no axis of an output with {y.ndim}"
            )
    return places


def _name(f: Function) -> str:
    return getattr(f, "__name__", repr(f))
