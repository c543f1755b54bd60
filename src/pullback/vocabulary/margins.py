"""Distances, and losses with margins between scores or distances, by torch's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .. import ops
from .._core import xp as _xp
from .._core.shapes import broadcast_shapes, normalize_axis
from .._core.values import data, every, outside, require_operand, require_tensor, require_tensors
from . import arithmetic, reductions
from .losses import REDUCTIONS, chosen, reduced
from .padding import pad
from .promotion import together

if TYPE_CHECKING:
    from .._core.typing import Tensor

# Distances


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last axis; arguments as for `nn.PairwiseDistance`.

    Parameters
    ----------
    x1, x2
        Tensors with a vector along the last axis.

    >>> import pullback
    >>> pullback.pairwise_distance(pullback.tensor([[3.0, 4.0]]), pullback.zeros(1, 2))
    tensor([5.0000])
    """
    require_tensors("pairwise_distance", x1=x1, x2=x2)
    difference = x1 - x2 + eps
    return reductions.norm(difference, p, difference.ndim - 1 if difference.ndim else None, keepdim)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along a dim; norms below eps are replaced by eps.

    Parameters
    ----------
    x1, x2
        Tensors whose shapes broadcast.
    eps
        The least norm that is divided by.

    >>> import pullback
    >>> pullback.cosine_similarity(pullback.tensor([1.0, 0.0]), pullback.tensor([1.0, 1.0]), dim=0)
    tensor(0.7071)
    """
    require_tensors("cosine_similarity", x1=x1, x2=x2)
    a, b = together(x1, x2)
    if a._dtype.kind not in "fc":
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {a._type_name}: convert first, x.float()"
        )
    shape = tuple(broadcast_shapes(tuple(a.shape), tuple(b.shape)))
    if tuple(a.shape) != tuple(b.shape):
        a, b = (ops.broadcast_to(x, shape=shape) for x in (a, b))
    axis = normalize_axis(dim, len(shape))
    axes = (axis,) if shape else ()
    lengths = []
    for x in (a, b):
        length = reductions.norm(x, 2, axes or None, True)
        lengths.append(length + arithmetic.relu(eps - length.detach()))
    return ops.sum((a / lengths[0]) * (b / lengths[1]), axis=axes, keepdims=False)


def pdist(input: Tensor, p: float = 2) -> Tensor:
    """The p-norm distances between the rows of a matrix, each pair once.

    Parameters
    ----------
    input
        A matrix with a point in each row.
    p
        The exponent of the norm.

    >>> import pullback
    >>> pullback.pdist(pullback.tensor([[0.0], [3.0], [7.0]]))
    tensor([3., 7., 4.])
    """
    require_tensor("pdist", "input", input)
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if p < 0:
        raise RuntimeError(f"pdist only supports non-negative p values, not {p}")
    first, second = np.triu_indices(input.shape[0], 1)
    if input.shape[1] == 0 or not first.size:
        return reductions.sum(input[first] - input[second], 1)
    return reductions.norm(input[first] - input[second], p, 1)


# Margins between scores


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, margin - target * (input1 - input2)), where target 1 ranks input1 higher, and -1 input2.

    Arguments as for `nn.MarginRankingLoss`.

    Parameters
    ----------
    input1, input2
        The scores that are compared.

    >>> from pullback import nn, ones, tensor
    >>> nn.functional.margin_ranking_loss(tensor([3.0, 1.0]), tensor([1.0, 3.0]), ones(2), reduction="none")
    tensor([0., 2.])
    """
    require_tensors("margin_ranking_loss", input1=input1, input2=input2, target=target)
    reduction = chosen(size_average, reduce, reduction)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{tuple(input1.shape)}, input2: {tuple(input2.shape)}, target: {tuple(target.shape)}"
        )
    return reduced(arithmetic.clamp(-target * (input1 - input2) + margin * 1.0, min=0), reduction)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The input where the target is 1, max(0, margin - input) where it is -1; arguments as for `nn.HingeEmbeddingLoss`.

    >>> from pullback import nn, tensor
    >>> nn.functional.hinge_embedding_loss(tensor([0.25, 0.25]), tensor([1.0, -1.0]), reduction="none")
    tensor([0.2500, 0.7500])
    """
    require_tensors("hinge_embedding_loss", input=input, target=target)
    reduction = chosen(size_average, reduce, reduction)
    far = arithmetic.where(target != 1, arithmetic.clamp(margin - input, min=0), 0)
    near = arithmetic.where(target != -1, input, 0)
    return reduced(far + near, reduction)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """For vectors along the last axis, 1 - cosine where the target is 1, max(0, cosine - margin) where it is -1.

    Arguments as for `nn.CosineEmbeddingLoss`.

    Parameters
    ----------
    input1, input2
        Two vectors, or a batch of pairs.

    >>> from pullback import nn, tensor
    >>> nn.functional.cosine_embedding_loss(tensor([[1.0, 0.0]]), tensor([[0.0, 5.0]]), tensor([1.0]))
    tensor(1.)
    """
    require_tensors("cosine_embedding_loss", input1=input1, input2=input2, target=target)
    reduction = chosen(size_average, reduce, reduction)
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if not input1.ndim == input2.ndim == target.ndim + 1:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found inputs with sizes "
            f"{tuple(input1.shape)} and {tuple(input2.shape)}."
        )
    axis = target.ndim
    directions = [x / reductions.norm(pad(x, (0, 1), value=1e-6), 2, axis, True) for x in (input1, input2)]
    cosine = reductions.sum(directions[0] * directions[1], axis)
    near = arithmetic.where(target == 1, 1 - cosine, 0)
    far = arithmetic.where(target == -1, arithmetic.clamp(cosine - margin, min=0), 0)
    return reduced(near + far, reduction)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over the last axis of the negative log-probability of labels, from scores.

    Arguments as for `nn.MultiLabelSoftMarginLoss`.

    >>> from pullback import nn, tensor
    >>> nn.functional.multilabel_soft_margin_loss(tensor([[100.0, 0.0]]), tensor([[1.0, 0.0]]))  # log(2) / 2
    tensor(0.3466)
    """
    require_tensors("multilabel_soft_margin_loss", input=input, target=target)
    reduction = chosen(size_average, reduce, reduction)
    broadcast_shapes(tuple(input.shape), tuple(target.shape))
    losses = -(target * ops.logsigmoid(input) + (1 - target) * ops.logsigmoid(-input))
    losses = losses if weight is None else losses * weight
    return reduced(reductions.sum(losses, input.ndim - 1) / input.shape[-1], reduction)


def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """log(1 + exp(-target * input)), for targets 1 and -1.

    >>> from pullback import nn, tensor
    >>> nn.functional.soft_margin_loss(tensor([0.0, 100.0]), tensor([1.0, 1.0]))  # log(2) / 2
    tensor(0.3466)
    """
    require_tensors("soft_margin_loss", input=input, target=target)
    reduction = chosen(size_average, reduce, reduction)
    return reduced(-ops.logsigmoid(target * input), reduction, "SoftMarginLossBackward0")


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean of max(0, margin - score of the target class + score) ** p over the other classes.

    Arguments as for `nn.MultiMarginLoss`.

    >>> from pullback import nn, tensor
    >>> nn.functional.multi_margin_loss(tensor([[2.0, 1.5, 0.0]]), tensor([0]))  # max(0, 1 - 2 + 1.5) / 3
    tensor(0.1667)
    """
    require_tensors("multi_margin_loss", input=input, target=target)
    reduction = chosen(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    rows = _samples("multi_margin_loss", input)
    count, classes = rows.shape
    if weight is not None:
        require_operand("multi_margin_loss", "weight", weight, 5)
    if weight is not None and weight.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got {list(weight.shape)}")
    if target.ndim > 1 or target.numel() != count:
        raise RuntimeError(
            f"multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch "
            f"size): inconsistent target size. Expected target size [{count}], but got {list(target.shape)}. Input has "
            f"shape {list(input.shape)}."
        )
    numbers = ops.reshape(data(target), shape=(count,))
    if outside(numbers, classes) is not None:
        raise RuntimeError(f"target out of range: there are {classes} classes")
    own = ops.reshape(ops.take_rows(rows, numbers), shape=(count, 1))
    shares = 1 - ops.put_rows(np.ones(count, rows._dtype), numbers, shape=(count, classes))
    if weight is not None:
        shares = shares * ops.expand_dims(ops.index(weight, numbers, spec=(_xp.array,)), axis=1)
    excess = ops.relu(rows - own + margin)
    losses = reductions.sum((excess if p == 1 else ops.square(excess)) * shares, 1) / classes
    if input.ndim < 2 and reduction == "none":
        losses = ops.reshape(losses, shape=tuple(target.shape))
    return reduced(losses, reduction, "MultiMarginLossBackward0")


def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """The sum of max(0, 1 - score of a label + score of another class) over classes: labels end at the first -1.

    Arguments as for `nn.MultiLabelMarginLoss`.

    >>> from pullback import nn, tensor
    >>> nn.functional.multilabel_margin_loss(tensor([2.0, 1.5, 0.0]), tensor([0, -1, -1]))  # (0.5 + 0) / 3
    tensor(0.1667)
    """
    require_tensors("multilabel_margin_loss", input=input, target=target)
    reduction = chosen(size_average, reduce, reduction)
    rows = _samples("multilabel_margin_loss", input)
    classes = rows.shape[1]
    if tuple(target.shape) != tuple(input.shape):
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}")
    found = every(target)
    if found.size and not -1 <= found.min() <= found.max() < classes:
        raise RuntimeError(f"argument #2 'target' is out of range: there are {classes} classes, and -1 ends the labels")
    labels = ops.reshape(data(target), shape=tuple(rows.shape))
    closing = ops.less(labels, 0)
    ended = ops.cumsum(ops.astype(closing, dtype=np.dtype(np.int64), source=np.dtype(np.bool_)), axis=1)
    labelled = ops.expand_dims(ops.equal(ended, 0), axis=2)
    numbers = ops.where(closing, 0, labels)
    named = ops.logical_and(labelled, ops.equal(ops.expand_dims(numbers, axis=2), np.arange(classes)))
    others = ops.logical_not(ops.any(named, axis=(1,), keepdims=True))
    own = ops.expand_dims(ops.take_along_axis(rows, numbers, axis=1), axis=2)
    excess = ops.relu(1 - own + ops.expand_dims(rows, axis=1))
    pairs = ops.select(ops.logical_and(labelled, others), excess)
    losses = reductions.sum(pairs, (1, 2)) / max(classes, 1)
    single = input.ndim < 2 and reduction == "none"
    return reduced(losses[0] if single else losses, reduction, "MultilabelMarginLossBackward0")


def _samples(name: str, input: Tensor) -> Tensor:
    """Scores as a matrix with one row for each sample."""
    if input.ndim > 2 or 0 in input.shape[1:] or (input.ndim == 1 and not input.numel()):
        raise RuntimeError(
            f"{name}: Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}"
        )
    if input._dtype.kind != "f":
        raise NotImplementedError(f'"{name}" not implemented for {input._type_name!r}: convert first, x.float()')
    return input if input.ndim == 2 else ops.reshape(input, shape=(1, input.numel()))


# Margins between distances


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, margin + distance to the positive - distance to the negative), with p-norm distances.

    Arguments as for `nn.TripletMarginLoss`.

    Parameters
    ----------
    anchor
        What is compared with the other two.
    positive
        What should be near.
    negative
        What should be far.

    >>> from pullback import nn, tensor
    >>> nn.functional.triplet_margin_loss(tensor([[0.0]]), tensor([[2.0]]), tensor([[1.5]]))  # 1 + 2 - 1.5
    tensor(1.5000)
    """
    reduction = chosen(size_average, reduce, reduction)

    def distance(a: Tensor, b: Tensor) -> Tensor:
        return pairwise_distance(a, b, p, eps)

    return _triplet("triplet_margin_loss", anchor, positive, negative, distance, margin, swap, reduction)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with any function of two tensors as the distance.

    Arguments as for `triplet_margin_loss` and `nn.TripletMarginWithDistanceLoss`.

    >>> from pullback import nn, tensor
    >>> a, p, n = tensor([[0.0]]), tensor([[2.0]]), tensor([[1.5]])
    >>> distance = lambda a, b: (a - b).abs().sum(-1)
    >>> nn.functional.triplet_margin_with_distance_loss(a, p, n, distance_function=distance)
    tensor(1.5000)
    """
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction: use 'mean', 'sum' or 'none'")
    distance = distance_function or pairwise_distance
    return _triplet("triplet_margin_with_distance_loss", anchor, positive, negative, distance, margin, swap, reduction)


def _triplet(
    name: str,
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    distance: Callable[[Tensor, Tensor], Tensor],
    margin: float,
    swap: bool,
    reduction: str,
) -> Tensor:
    require_tensors(name, anchor=anchor, positive=positive, negative=negative)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = arithmetic.minimum(far, distance(positive, negative))
    return reduced(arithmetic.clamp(near - far + margin, min=0), reduction)
