"""Layers with weights: linear and bilinear maps, and embeddings, by torch's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core import errors, xp as _xp
from .._core.modes import no_grad, restoring
from .._core.primitives import Carrier
from .._core.values import concrete, data, every, outside, require_tensor, require_tensors
from .._tape.views import write
from . import arithmetic, products, reductions, shapes
from .promotion import cast

if TYPE_CHECKING:
    from .._core.typing import Array, Tensor


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight.T + bias, over the last axis of the input.

    Parameters
    ----------
    weight
        A matrix, (length of the result's last axis, length of the input's).

    >>> import pullback
    >>> pullback.nn.functional.linear(pullback.ones(3), pullback.ones(2, 3), pullback.tensor([0.0, 1.0]))
    tensor([3., 4.])
    """
    if not isinstance(input, Carrier):
        raise errors.no_tensor("linear", "input", 1, input)
    if not isinstance(weight, Carrier):
        raise errors.no_tensor("linear", "weight", 2, weight)
    shape, sizes = tuple(input.shape), tuple(weight.shape)
    fits = len(sizes) == 2 and shape and shape[-1] == sizes[1] and input._dtype == weight._dtype
    if not fits:
        if len(sizes) == 2 and shape and shape[-1] != sizes[1]:
            raise errors.no_layer(shape, sizes)
        if input._dtype != weight._dtype:
            products.matching(input, weight, "linear", "the input and the weight")
        product = products.matmul(input, shapes.t(weight))  # which reports what else does not fit
        return product if bias is None else product + bias
    if bias is None:
        return ops.project(input, weight)
    if not isinstance(bias, Carrier):
        raise errors.no_tensor("linear", "bias", 3, bias)
    if bias._dtype == input._dtype and tuple(bias.shape) == sizes[:1]:
        return ops.affine(input, weight, bias)
    return ops.project(input, weight) + bias


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input1 @ weight[k] @ input2 for each k, plus a bias, over the last axes of the inputs.

    Parameters
    ----------
    input1, input2
        Tensors of the same shape but for the last axis.
    weight
        A matrix for each element of the result's last axis.

    >>> from pullback import bilinear, ones, tensor
    >>> bilinear(tensor([1.0, 2.0]), tensor([3.0, 4.0]), ones(1, 2, 2))  # (1 + 2) * (3 + 4)
    tensor([21.])
    """
    require_tensors("bilinear", input1=input1, input2=input2, weight=weight)
    if tuple(input1.shape[:-1]) != tuple(input2.shape[:-1]):
        raise RuntimeError(
            f"bilinear(): input batch dimensions do not match: got {tuple(input1.shape)} and {tuple(input2.shape)}"
        )
    sizes = (input1.shape[-1], input2.shape[-1])
    if weight.ndim != 3 or tuple(weight.shape[1:]) != sizes:
        raise RuntimeError(
            f"bilinear(): weight of shape {tuple(weight.shape)} does not fit inputs with {sizes[0]} and {sizes[1]} features"
        )
    outputs = weight.shape[0]
    result = products.einsum("...i,kij,...j->...k", input1, weight, input2)
    if bias is None:
        return result
    require_tensor("bilinear", "bias", bias, 4)
    if tuple(bias.shape) != (outputs,):
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {tuple(bias.shape)} but expected {outputs}"
        )
    return result + bias


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """A 1 at the index given by each class number, along a new last axis, and 0 elsewhere.

    Parameters
    ----------
    tensor
        Class numbers, as int64.
    num_classes
        The length of the new axis; -1 for the largest number plus 1.

    >>> import pullback
    >>> pullback.nn.functional.one_hot(pullback.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    require_tensor("one_hot", "tensor", tensor)
    if tensor._dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor: convert it with .long()")
    numbers = every(tensor) if num_classes != -1 else concrete(tensor, "one_hot")
    if numbers.size and numbers.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        if not numbers.size:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        num_classes = int(numbers.max()) + 1
    elif num_classes < 1 and not (numbers.size == 0 and num_classes > 0):
        raise RuntimeError(f"num_classes should be positive, not {num_classes}")
    if numbers.size and numbers.max() >= num_classes:
        raise RuntimeError(
            f"Class values must be smaller than num_classes. {int(numbers.max())} is not smaller than {num_classes}"
        )
    same = ops.equal(ops.expand_dims(tensor.contiguous(), axis=tensor.ndim), np.arange(num_classes))
    return ops.astype(same, dtype=np.dtype(np.int64), source=np.dtype(np.bool_))


def _indices(name: str, input: Tensor, rows: int) -> Any:
    """Row indices as data; raises if one is out of range."""
    if input._dtype.kind not in "iu":
        raise RuntimeError(
            f"Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{input._type_name} instead (while checking arguments for {name}): these are row numbers, convert them with .long()"
        )
    if outside(input, rows) is not None:
        if name == "embedding":
            raise IndexError(f"index out of range in self: the rows are numbered from 0 to {rows - 1}")
        flat = every(input).reshape(-1)
        place = int(((flat < 0) | (flat >= rows)).argmax())
        raise RuntimeError(
            f"Index {place} of input takes value {int(flat[place])} which is not in the valid range [0, {rows})"
        )
    return data(input)


def _padding(name: str, padding_idx: int | None, rows: int) -> int | None:
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        if name == "embedding":
            raise AssertionError(f"Padding_idx must be within num_embeddings: {padding_idx} is not within {rows}")
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, -{rows} through {rows - 1}, but got {padding_idx}"
        )
    return padding_idx % rows


@restoring
def _limit_norms(weight: Tensor, numbers: Array, max_norm: float, norm_type: float) -> None:
    """Scale down, in place, the rows selected by `numbers` whose norm exceeds `max_norm`."""
    with no_grad():
        values = weight.detach()
        named = ops.index_put(np.zeros((weight.shape[0], 1), np.bool_), np.True_, numbers, spec=(_xp.array,))
        norms = reductions.norm(values, norm_type, 1, True)
        factors = arithmetic.where(ops.logical_and(named, norms > max_norm), max_norm / (norms + 1e-7), 1.0)
        write(weight, values * cast(factors, weight._dtype), "embedding_renorm_")


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of `weight` selected by the indices in `input`; arguments as for `nn.Embedding`.

    Parameters
    ----------
    input
        Row numbers.
    weight
        A matrix with a vector in each row.
    padding_idx
        The row that gets no gradient.

    >>> import pullback
    >>> pullback.nn.functional.embedding(pullback.tensor([1, 1]), pullback.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[3., 4.],
            [3., 4.]])
    """
    require_tensors("embedding", input=input, weight=weight)
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D: a vector in each row")
    numbers = _indices("embedding", input, weight.shape[0])
    padding = _padding("embedding", padding_idx, weight.shape[0])
    if max_norm is not None:
        _limit_norms(weight, numbers, max_norm, norm_type)
    return ops.embedding(weight, numbers, padding=padding, by_frequency=scale_grad_by_freq)


def embedding_bag(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None, norm_type: float = 2,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Tensor:  # fmt: skip
    """The sum, mean or maximum of the rows of `weight` selected by each bag of indices; an empty bag gives zeros.

    Arguments as for `nn.EmbeddingBag`.

    Parameters
    ----------
    input
        Row numbers: a matrix with a bag in each row, or one sequence of all bags.
    weight
        A matrix with a vector in each row.
    offsets
        Where bags begin in a sequence, the first at 0.
    per_sample_weights
        A factor for each row number, with mode 'sum'.
    padding_idx
        The row that counts for nothing.

    >>> from pullback import nn, tensor
    >>> nn.functional.embedding_bag(tensor([[0, 2], [1, 1]]), tensor([[1.0], [2.0], [4.0]]), mode="sum")
    tensor([[5.],
            [4.]])
    """
    require_tensors("embedding_bag", input=input, weight=weight)
    _check_mode(mode, input, weight, per_sample_weights)
    numbers = _indices("embedding_bag", input, weight.shape[0]).reshape(-1)
    bags, count = _bags(input, offsets, include_last_offset)
    padding = _padding("embedding_bag", padding_idx, weight.shape[0])
    if max_norm is not None:
        _limit_norms(weight, numbers, max_norm, norm_type)
    dtype = weight._dtype
    if mode == "mean" and dtype.char in "eE":  # halves cannot represent large counts
        weight = cast(weight, np.dtype(np.float32))
    rows = ops.embedding(weight, numbers, padding=padding, by_frequency=scale_grad_by_freq)
    counted = np.ones((numbers.shape[0], 1), np.bool_)
    if padding is not None:
        counted = ops.expand_dims(ops.not_equal(numbers, padding), axis=1)
        rows = ops.select(counted, rows)
    if per_sample_weights is not None:
        rows = rows * shapes.unsqueeze(shapes.reshape(per_sample_weights, -1), 1)
    totals = ops.scatter_rows(rows, bags, rows=count)
    if mode == "sum":
        return totals
    shares = ops.astype(counted, dtype=weight._dtype, source=np.dtype(np.bool_))
    sizes = ops.scatter_rows(shares, bags, rows=count)
    return cast(totals / ops.maximum(sizes, 1), dtype) if mode == "mean" else _largest(rows, bags, counted, sizes)


def _check_mode(mode: str, input: Tensor, weight: Tensor, per_sample_weights: Tensor | None) -> None:
    """Raise for unknown modes, and for weights with a mode or shape that does not allow them."""
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if per_sample_weights is not None:
        if mode != "sum":
            raise NotImplementedError(
                f"embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
                f"(got mode='{mode}'). Please open a feature request on GitHub."
            )
        if tuple(per_sample_weights.shape) != tuple(input.shape):
            raise ValueError(
                f"embedding_bag: If per_sample_weights ({tuple(per_sample_weights.shape)}) is not None, then it must have "
                f"the same shape as the input ({tuple(input.shape)})"
            )
        if per_sample_weights._dtype != weight._dtype:
            raise RuntimeError(
                "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
                f"'per_sample_weights'; but type torch.{weight._type_name}Tensor does not equal "
                f"torch.{per_sample_weights._type_name}Tensor (while checking arguments for embedding_bag)"
            )


def _bags(input: Tensor, offsets: Tensor | None, include_last_offset: bool) -> tuple[Any, int]:
    """The bag of each index, and the number of bags."""
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences"
            )
        return np.repeat(np.arange(input.shape[0]), input.shape[1]), input.shape[0]
    if input.ndim != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}")
    if not isinstance(offsets, Carrier):
        raise ValueError(f"offsets has to be a 1D Tensor but got {type(offsets).__name__}")
    if offsets.ndim != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    starts, length = data(offsets), input.shape[0]
    if starts.shape[0]:
        first, last = every(starts[0]), every(starts[-1])
        if (first != 0).any():
            raise RuntimeError(
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
                f"However, got {int(first)}"
            )
        if (last > length).any():
            raise RuntimeError(
                f"offsets[-1] can not be greater than input's length({length}) but got offsets[-1] of {int(last)}"
            )
    if include_last_offset:
        if not starts.shape[0]:
            raise RuntimeError("include_last_offset: number of offset should be at least 1")
        starts = starts[:-1]
    return ops.subtract(ops.searchsorted(starts, np.arange(length), right=True), 1), starts.shape[0]


def _largest(rows: Any, bags: Any, counted: Any, sizes: Any) -> Any:
    """The largest element of each column in each bag, of those that count; its first occurrence gets the gradient."""
    length, count = rows.shape[0], sizes.shape[0]
    if not length:
        return ops.scatter_rows(rows, bags, rows=count)
    places = ops.subtract(np.arange(length), ops.searchsorted(bags, bags, right=False))
    longest = int(places.max()) + 1 if isinstance(places, np.ndarray) else length  # unknown in a transform
    table = np.full((count, longest, rows.shape[1]), -np.inf, rows._dtype)
    values = ops.where(counted, data(rows.detach()), -np.inf)
    table = ops.index_put(table, values, bags, places, spec=(_xp.array, _xp.array))
    first = ops.minimum(ops.searchsorted(bags, np.arange(count), right=False), length - 1)
    taken = ops.add(ops.argmax(table, axis=1, keepdims=False), ops.expand_dims(first, axis=1))
    return ops.select(ops.greater(sizes, 0), ops.take_along_axis(rows, taken, axis=0))
