"""Losses: measures of the difference between predictions and targets, by torch's names.

`reduction` is 'mean', 'sum' or 'none'; `size_average` and `reduce` are torch's deprecated arguments for it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core import errors, xp as _xp
from .._core.modes import quiet
from .._core.primitives import Carrier
from .._core.sites import warn
from .._core.values import data, every, followed, outside, require_operand, require_tensor, require_tensors, shared
from ..ops.exponentials import known_losses
from . import arithmetic, products, reductions, shapes
from .promotion import cast, together

if TYPE_CHECKING:
    from .._core.typing import Array, Tensor

REDUCTIONS = ("mean", "sum", "none")


def chosen(size_average: object, reduce: object, reduction: str) -> str:
    """The reduction that three arguments specify."""
    if size_average is not None or reduce is not None:
        if isinstance(size_average, Carrier) or isinstance(reduce, Carrier):
            raise TypeError(f"size_average and reduce are flags, not tensors: {errors.truth_wanted()}")
        averaged, reduced_ = (flag is None or flag for flag in (size_average, reduce))
        reduction = "none" if not reduced_ else "mean" if averaged else "sum"
        warn(f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.")
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction: use 'mean', 'sum' or 'none'")
    return reduction


def reduced(losses: Tensor, reduction: str, label: str = "") -> Tensor:
    """The mean or the sum of losses, or the losses themselves; the mean's node has torch's name for the loss."""
    if reduction == "none":
        return losses
    axes = tuple(range(losses.ndim))
    if reduction == "sum":
        return ops.sum(losses, axis=axes, keepdims=False, given=False)
    return ops.mean(losses, axis=axes, keepdims=False, label=label)


# Classes


def _rows(input: Tensor) -> Tensor:
    """Scores with the axis of the classes last and all others flattened."""
    if input.ndim == 2:
        return input
    if input.ndim > 2:
        input = ops.permute_dims(input, axes=(0, *range(2, input.ndim), 1))
    return ops.reshape(input, shape=(math.prod(input.shape[:-1]), input.shape[-1]))


def _check_classes(input: Tensor, target: Tensor) -> None:
    """Raise for class indices that do not fit the scores."""
    sizes, have = tuple(input.shape), list(target.shape)
    if len(sizes) == 2 and have == [sizes[0]] and target._dtype.kind in "iu":
        return
    want = [*sizes[:1], *sizes[2:]] if len(sizes) > 1 else []
    if input.ndim == 0:
        raise ValueError("Expected 1 or more dimensions (got 0): scores have an axis of classes")
    if input.ndim == 1 and have not in ([], [1]):
        raise ValueError(
            f"For 1D input, 1D target must have size 1, but got target size: {have[0]}{errors.way_of_classes(input, target)}"
        )
    if input.ndim > 1 and have[:1] != want[:1]:
        raise ValueError(
            f"Expected input batch_size ({want[0]}) to match target batch_size ({have[0] if have else 0}): scores have "
            f"shape (N, C, ...), here {tuple(input.shape)}, and targets (N, ...), here {tuple(have)}{errors.way_of_classes(input, target)}"
        )
    if input.ndim == 2 and len(have) > 1:
        raise RuntimeError(
            f"0D or 1D target tensor expected, multi-target not supported: the target has shape {tuple(have)}"
            f"{errors.way_of_classes(input, target)}"
        )
    if input.ndim > 2 and have != want:
        raise RuntimeError(
            f"Expected target size {want}, got {have}: size mismatch (got input: {list(input.shape)}, target: {have})"
            f"{errors.way_of_classes(input, target)}"
        )
    if target._dtype.kind not in "iu":
        raise RuntimeError(
            f"the target is {target._type_name}, and class indices are integers: use target.long(). expected target dtype "
            f"to be Long or Byte, but got {target._type_name}: expected scalar type Long"
        )


def _check_weight(name: str, weight: Tensor | None, classes: int) -> Tensor | Array | None:
    """The weights of classes as an array, which has no derivative, as in torch."""
    if weight is None:
        return None
    require_tensor(name, "weight", weight, 5 if name == "huber_loss" else 6)
    if tuple(weight.shape) != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
            f"shape: {list(weight.shape)}"
        )
    if followed(weight):
        raise RuntimeError(
            f"The function '{name}' is not differentiable with respect to argument 'weight'. This input cannot have "
            "requires_grad True, or a tangent."
        )
    return data(weight)


def _class_numbers(target: Tensor, ignore_index: int, classes: int) -> tuple[Any, Any]:
    """Class indices, flattened, with 0 in place of ignored ones, and a mask of the others: None if none is ignored, for arrays."""
    known = shared(target)
    if known is not None and (ignore_index < 0 or not (known == ignore_index).any()):
        numbers = known.reshape(-1).astype(np.int64)
        if not numbers.size or np.maximum.reduce(numbers.view(np.uint64)) < classes:  # negative ones are large there
            return numbers, None
    given = ops.reshape(data(target), shape=(target.numel(),))
    given = ops.astype(given, dtype=np.dtype(np.int64), source=target._dtype)
    valid = ops.not_equal(given, ignore_index)
    numbers = ops.where(valid, given, 0)
    if (found := outside(numbers, classes)) is not None:
        raise IndexError(f"Target {found} is out of bounds: there are {classes} classes, 0 to {classes - 1}")
    return numbers, valid


def _unless_ignored(valid: Tensor | Array | None, values: Any) -> Any:
    """Values of rows, with zeros for those that are ignored: not 0 * inf, where an ignored score is inf."""
    return values if valid is None else ops.where(valid, values, 0)


def _shares(numbers: Any, valid: Tensor | Array | None, weight: Tensor | Array | None, dtype: np.dtype[Any]) -> Any:
    """The weight of each row: that of its class, or zero if it is ignored."""
    if weight is not None:
        return _unless_ignored(valid, cast(ops.index(weight, numbers, spec=(_xp.array,)), dtype))
    if valid is None:
        return _xp.ones(len(numbers), dtype)
    return ops.astype(valid, dtype=dtype, source=np.dtype(np.bool_))


def _picked(
    log_probabilities: Tensor, target: Tensor, weight: Tensor | Array | None, ignore_index: int, reduction: str
) -> Tensor:
    """The negative log-probabilities of the target classes, weighted and reduced; some targets may be ignored."""
    rows = _rows(log_probabilities)
    numbers, valid = _class_numbers(target, ignore_index, rows.shape[-1])
    weights = _shares(numbers, valid, weight, rows._dtype)
    losses = _unless_ignored(valid, ops.weighed_nll(rows, numbers, weights))
    if reduction == "none":
        return ops.reshape(losses, shape=tuple(target.shape))
    if reduction == "sum" or (valid is None and weight is None):
        return reduced(losses, reduction, "NllLossBackward0")
    return _averaged(reduced(losses, "sum"), valid, weights)


def _averaged(total: Tensor, valid: Tensor | Array | None, weights: Tensor | Array) -> Tensor:
    """A sum divided by the sum of weights; NaN if all rows are ignored, with a gradient of zero for these."""
    there = valid is None or every(valid).any()
    return total / ops.sum(weights, axis=(0,), keepdims=False) if there else total + np.nan


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log-probability of the target classes, from log-probabilities of shape (C), (N, C) or (N, C, ...).

    The mean is the sum of losses divided by that of the weights of their classes. Arguments as for `nn.NLLLoss`.

    >>> import pullback
    >>> scores = pullback.tensor([[0.0, 0.0], [3.0, 0.0]]).log_softmax(1)
    >>> pullback.nn.functional.nll_loss(scores, pullback.tensor([1, -100]))
    tensor(0.6931)
    """
    require_tensors("nll_loss", input=input, target=target)
    reduction = chosen(size_average, reduce, reduction)
    _check_classes(input, target)
    if input._dtype.kind != "f":
        raise NotImplementedError(f'"nll_loss" not implemented for {input._type_name!r}: convert first, x.float()')
    classes = input.shape[min(input.ndim - 1, 1)]
    return _picked(input, target, _check_weight("nll_loss_forward", weight, classes), ignore_index, reduction)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The negative log-probability of the target classes, from unnormalized scores of shape (C), (N, C) or (N, C, ...).

    `target` holds class indices, or probabilities in the shape of the scores. Arguments as for `nn.CrossEntropyLoss`.

    Raises
    ------
    ValueError
        If the shapes of scores and targets do not fit.
    IndexError
        If a target is not a class index.

    >>> import pullback
    >>> scores = pullback.zeros(2, 4)
    >>> pullback.nn.functional.cross_entropy(scores, pullback.tensor([0, 3]))
    tensor(1.3863)
    """
    if not isinstance(input, Carrier):
        raise errors.no_tensor("cross_entropy", "input", 1, input)
    if not isinstance(target, Carrier):
        raise errors.no_tensor("cross_entropy", "target", 2, target)
    if size_average is not None or reduce is not None or reduction not in REDUCTIONS:
        reduction = chosen(size_average, reduce, reduction)
    if weight is None and not label_smoothing:
        scores, classes = shared(input), shared(target)
        if scores is None or classes is None:
            if _are_classes(input.shape, input._dtype, target.shape, target._dtype, every(target), ignore_index):
                return ops.cross_entropy(input, target, reduction=reduction, known=None)
        elif _are_classes(scores.shape, scores.dtype, classes.shape, classes.dtype, classes, ignore_index):
            known = quiet.copy().run(known_losses, scores, classes)
            return ops.cross_entropy(input, target, reduction=reduction, known=known)
    return _cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing)


def _are_classes(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    target_shape: tuple[int, ...],
    target_dtype: np.dtype[Any],
    classes: Any,
    ignore_index: int,
) -> bool:
    """True if scores are real, of shape (N, C), and targets are N class indices, none of which is ignored."""
    if len(shape) != 2 or target_shape != (shape[0],) or dtype.kind != "f" or target_dtype.kind != "i":
        return False
    if not shape[0] * shape[1]:
        return False
    if outside(classes, shape[1]) is not None:
        return False
    return ignore_index < 0 or not (classes == ignore_index).any()


def _cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str, label_smoothing: float
) -> Tensor:
    """Cross-entropy for any kind of targets."""
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    axis = min(input.ndim - 1, 1)
    if input.ndim and tuple(input.shape) == tuple(target.shape):
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _of_probabilities(reductions.log_softmax(input, axis), target, weight, reduction, label_smoothing)
    _check_classes(input, target)
    kept = ops.expand_dims(ops.not_equal(target, ignore_index), axis=axis)
    logs = reductions.log_softmax(ops.select(kept, input), axis)  # what is ignored may be infinite or NaN
    count = input.shape[axis]
    weights = _check_weight("nll_loss_forward", weight, count)
    loss = _picked(logs, target, weights, ignore_index, reduction)
    if not label_smoothing:
        return loss
    numbers, valid = _class_numbers(target, ignore_index, count)
    rows = _rows(logs) if weights is None else _rows(logs) * weights
    spread = _unless_ignored(valid, -ops.sum(rows, axis=(1,), keepdims=False))
    if reduction == "none":
        spread = ops.reshape(spread, shape=tuple(target.shape))
    else:
        spread = reduced(spread, "sum")
        if reduction == "mean":
            spread = _averaged(spread, valid, _shares(numbers, valid, weights, rows._dtype))
    return loss * (1 - label_smoothing) + spread * (label_smoothing / count)


def _of_probabilities(
    logs: Tensor, target: Tensor, weight: Tensor | None, reduction: str, label_smoothing: float
) -> Tensor:
    """Cross-entropy from the probabilities of classes."""
    if target._dtype.kind not in "fc":
        raise RuntimeError(
            f"Expected floating point type for target with class probabilities, got {target._type_name}: it has the shape "
            "of the scores. If it is one-hot, use target.argmax(1), or target.float()"
        )
    axis = min(logs.ndim - 1, 1)
    count = logs.shape[axis]
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / count
    products_ = logs * target
    if weight is not None:
        require_tensors("cross_entropy", input=logs, target=target, weight=weight)
        if tuple(weight.shape) != (count,):
            raise RuntimeError(
                "cross_entropy: weight tensor should be defined either for all or no classes: there are "
                f"{count}, and weight has shape {tuple(weight.shape)}"
            )
        products_ = products_ * ops.reshape(weight, shape=(count,) + (1,) * max(logs.ndim - 2, 0))
    if reduction == "none":
        return -ops.sum(products_, axis=(axis,), keepdims=False)
    total = -reduced(products_, "sum")
    return total if reduction == "sum" else total / (logs.numel() / count if count else math.nan)


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: object = None,
) -> Tensor:
    """The cross-entropy of scores that are linear in the input: `input @ linear_weight.T + linear_bias`.

    Arguments as for `cross_entropy`.

    Parameters
    ----------
    linear_weight
        The factors: (classes, features), or (classes, *lengths, features).
    linear_bias
        What is added to the scores; None for nothing.
    options
        Accepted: tells torch how to save memory.

    >>> from pullback import nn, ones, tensor, zeros
    >>> nn.functional.linear_cross_entropy(ones(2, 3), zeros(4, 3), tensor([0, 1]))  # log(4)
    tensor(1.3863)
    """
    _check_scores(input, linear_weight, target, linear_bias)
    outputs, features = tuple(linear_weight.shape[:-1]), input.shape[-1]
    shape = (*input.shape[:-1], *outputs)
    if tuple(target.shape) == shape and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    flat = ops.reshape(linear_weight, shape=(math.prod(outputs), features))
    scores = ops.reshape(products.matmul(input, shapes.t(flat)), shape=shape)
    scores = scores if linear_bias is None else scores + linear_bias
    ignored = -100 if ignore_index is None else ignore_index
    return cross_entropy(scores, target, weight, None, ignored, None, reduction, label_smoothing)


def _check_scores(input: Tensor, linear_weight: Tensor, target: Tensor, linear_bias: Tensor | None) -> None:
    """Raise unless the input can be multiplied by the weight, and a bias be added."""
    require_tensors("linear_cross_entropy", input=input, linear_weight=linear_weight, target=target)
    if input.ndim not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.ndim}")
    if linear_weight.ndim < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.ndim}")
    features = input.shape[-1]
    if linear_weight.shape[-1] != features:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), "
            f"got {features} and {linear_weight.shape[-1]}, respectively"
        )
    outputs = tuple(linear_weight.shape[:-1])
    if linear_bias is not None:
        require_operand("linear_cross_entropy", "linear_bias", linear_bias, 4)
        if tuple(linear_bias.shape) != outputs:
            raise RuntimeError(f"expected linear_bias shape {outputs}, got {tuple(linear_bias.shape)}")
    if len(outputs) > 1 and input.ndim == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires batched input, "
            f"(N, {features}), got unbatched input with shape {tuple(input.shape)}"
        )


# Differences


def _difference(name: str, input: Tensor, target: Tensor) -> Tensor:
    """input - target, with a warning if they have different shapes."""
    require_tensors(name, input=input, target=target)
    if input.shape != target.shape:
        warn(
            f"Using a target size ({errors.size(target.shape)}) that is different to the input size "
            f"({errors.size(input.shape)}). This will likely lead to incorrect results due to broadcasting. Please "
            "ensure they have the same size."
        )
    return input - target


def _weighed(name: str, losses: Tensor, input: Tensor, weight: Tensor | None, reduction: str, label: str) -> Tensor:
    """Losses reduced with optional weights: the mean is divided by the sum of the weights."""
    if weight is None:
        return reduced(losses, reduction, label)
    losses = _times(name, losses, input, weight, 6)
    return reduced(losses, "sum") / reductions.sum(weight) if reduction == "mean" else reduced(losses, reduction)


def _times(name: str, losses: Tensor, input: Tensor, weight: Tensor, position: int) -> Tensor:
    """Losses times weights, which are an argument in some position."""
    require_tensor(name, "weight", weight, position)
    if tuple(weight.shape) != tuple(input.shape):
        raise ValueError("Weights and input must have the same size.")
    return losses * weight


def _floating(name: str, losses: Tensor) -> None:
    if losses._dtype.kind not in "fc":
        raise NotImplementedError(f'"{name}_cpu" not implemented for {losses._type_name!r}: convert first, x.float()')


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The squared difference of two tensors.

    Parameters
    ----------
    weight
        A weight for each element; the mean is divided by their sum.

    >>> import pullback
    >>> pullback.nn.functional.mse_loss(pullback.tensor([1.0, 3.0]), pullback.tensor([1.0, 1.0]))
    tensor(2.)
    """
    difference = _difference("mse_loss", input, target)
    _floating("mse", difference)
    reduction = chosen(size_average, reduce, reduction)
    return _weighed("mse_loss", ops.square(difference), input, weight, reduction, "MseLossBackward0")


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The absolute difference of two tensors; arguments as for `mse_loss`.

    >>> import pullback
    >>> pullback.nn.functional.l1_loss(pullback.tensor([1.0, 5.0]), pullback.tensor([2.0, 2.0]))
    tensor(2.)
    """
    difference = _difference("l1_loss", input, target)
    reduction = chosen(size_average, reduce, reduction)
    losses = arithmetic.abs(difference)
    if losses._dtype.kind not in "fc" and reduction == "mean":
        return reductions.mean(losses)
    return _weighed("l1_loss", losses, input, weight, reduction, "MeanBackward0")


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """The squared difference, halved and divided by beta, below beta; else the absolute one less beta / 2; arguments as for `nn.SmoothL1Loss`.

    >>> import pullback
    >>> pullback.nn.functional.smooth_l1_loss(pullback.tensor([0.5, 4.0]), pullback.zeros(2), reduction="none")
    tensor([0.1250, 3.5000])
    """
    difference = _difference("smooth_l1_loss", input, target)
    reduction = chosen(size_average, reduce, reduction)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return reduced(arithmetic.abs(difference), reduction, "MeanBackward0")
    _floating("smooth_l1", difference)
    losses = ops.huber(difference, delta=beta)
    return reduced(losses if beta == 1 else losses / beta, reduction, "SmoothL1LossBackward0")


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """Half the squared difference where it is below delta; else delta times the absolute one less delta / 2.

    Arguments as for `nn.HuberLoss`.

    Parameters
    ----------
    weight
        A weight for each element; the mean is divided by the number of elements.

    >>> import pullback
    >>> pullback.nn.functional.huber_loss(pullback.tensor([0.5, 4.0]), pullback.zeros(2), reduction="none")
    tensor([0.1250, 3.5000])
    """
    difference = _difference("huber_loss", input, target)
    reduction = chosen(None, None, reduction)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    _floating("huber", difference)
    losses = ops.huber(difference, delta=delta)
    if weight is None:
        return reduced(losses, reduction, "HuberLossBackward0")
    return reduced(_times("huber_loss", losses, input, weight, 5), reduction)  # torch's mean is over all elements


# Probabilities


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log-probability of targets in [0, 1], from probabilities (logarithms at least -100); arguments as for `nn.BCELoss`.

    >>> from pullback import nn, tensor
    >>> nn.functional.binary_cross_entropy(tensor([0.5, 1.0]), tensor([1.0, 1.0]))  # log(2) / 2
    tensor(0.3466)
    """
    require_tensors("binary_cross_entropy", input=input, target=target)
    reduction = chosen(size_average, reduce, reduction)
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(
            f"Using a target size ({errors.size(target.shape)}) that is different to the input size "
            f"({errors.size(input.shape)}) is deprecated. Please ensure they have the same size: "
            "a missing last axis is made by target.unsqueeze(-1)"
        )
    if input._dtype != target._dtype:
        if input._dtype.kind != "f" and target._dtype.kind == "f":
            fix = "the probabilities come first, then the target: here they are swapped"
        else:
            fix = "convert the target, target.to(input.dtype)"
        raise RuntimeError(f"Found dtype {target._type_name} but expected {input._type_name}: {fix}")
    values = every(input)
    if not ((values >= 0) & (values <= 1)).all():
        raise RuntimeError(
            "all elements of input should be between 0 and 1: for scores use binary_cross_entropy_with_logits"
        )
    losses = ops.binary_cross_entropy(input, target)
    if weight is not None:
        require_operand("binary_cross_entropy", "weight", weight, 3)
    return reduced(losses if weight is None else losses * weight, reduction, "BinaryCrossEntropyBackward0")


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """The negative log-probability of targets in [0, 1], from scores whose sigmoid is the probability.

    Arguments as for `nn.BCEWithLogitsLoss`.

    >>> import pullback
    >>> pullback.nn.functional.binary_cross_entropy_with_logits(pullback.zeros(2), pullback.tensor([0.0, 1.0]))
    tensor(0.6931)
    """
    require_tensors("binary_cross_entropy_with_logits", input=input, target=target)
    reduction = chosen(size_average, reduce, reduction)
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(
            f"Target size ({errors.size(target.shape)}) must be the same as input size ({errors.size(input.shape)})"
        )
    x, target = together(input, target)
    if weight is not None:
        require_operand("binary_cross_entropy_with_logits", "weight", weight, 3)
    if pos_weight is None:
        losses = ops.binary_cross_entropy_of_logits(x, target)
    else:
        require_operand("binary_cross_entropy_with_logits", "pos_weight", pos_weight, 4)
        losses = (target - 1) * ops.logsigmoid(-x) - pos_weight * target * ops.logsigmoid(x)
    return reduced(losses if weight is None else losses * weight, reduction, "BinaryCrossEntropyWithLogitsBackward0")


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """The Kullback-Leibler divergence target * (log(target) - input), where input is a log-probability.

    reduction='batchmean' divides the sum by the length of the first axis, which is the mathematical definition.
    Arguments as for `nn.KLDivLoss`.

    >>> from pullback import nn, tensor
    >>> nn.functional.kl_div(tensor([0.5, 0.5]).log(), tensor([0.5, 0.5]), reduction="sum")
    tensor(0.)
    """
    require_tensors("kl_div", input=input, target=target)
    if reduction == "mean" and size_average is None and reduce is None:
        warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides "
            "only by the batch size, and aligns with the KL div math definition."
        )
    by_batch = reduction == "batchmean" and size_average is None and reduce is None
    reduction = "sum" if by_batch else chosen(size_average, reduce, reduction)
    if input._dtype.kind not in "fc" or target._dtype.kind not in "fc":
        raise RuntimeError("kl_div: Integral inputs not supported.")
    x, target = together(input, target)
    losses = arithmetic.exp(target) * (target - x) if log_target else ops.xlogy(target, target) - target * x
    loss = reduced(losses, reduction)
    return loss / input.shape[0] if by_batch and input.ndim else loss


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log-probability of counts, from the rate of their Poisson distribution or its logarithm.

    `full` adds Stirling's approximation of the term of counts alone. Arguments as for `nn.PoissonNLLLoss`.

    >>> from pullback import nn, tensor
    >>> nn.functional.poisson_nll_loss(tensor([0.0]), tensor([3.0]))  # exp(0) - 3 * 0
    tensor(1.)
    """
    require_tensors("poisson_nll_loss", input=input, target=target)
    reduction = chosen(size_average, reduce, reduction)
    losses = arithmetic.exp(input) - target * input if log_input else input - target * arithmetic.log(input + eps)
    if full:
        stirling = target * arithmetic.log(target) - target + arithmetic.log(target * (2 * math.pi)) * 0.5
        losses = losses + arithmetic.where(target <= 1, 0, stirling)
    return reduced(losses, reduction)


def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Tensor | float, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """The negative log-probability of targets under normal distributions with means `input` and variances `var`.

    Variances below eps are replaced by it, and have the gradient there. Arguments as for `nn.GaussianNLLLoss`.

    Parameters
    ----------
    var
        The variances: one for all, one for each element, or one for each row (the last axis).

    >>> from pullback import nn, tensor
    >>> nn.functional.gaussian_nll_loss(tensor([1.0]), tensor([3.0]), tensor([4.0]))  # (log(4) + 2**2 / 4) / 2
    tensor(1.1931)
    """
    require_tensors("gaussian_nll_loss", input=input, target=target)
    var = _variances(input, var)
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not valid: use 'mean', 'sum' or 'none'")
    var = var + arithmetic.relu(eps - var.detach())
    losses = (arithmetic.log(var) + arithmetic.square(input - target) / var) * 0.5
    return reduced(losses + 0.5 * math.log(2 * math.pi) if full else losses, reduction)


def _variances(input: Tensor, var: Tensor | float) -> Tensor:
    """The variances, checked and reshaped to broadcast against the means."""
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        return ops.fill(input.detach(), cast(var, input._dtype))
    require_tensor("gaussian_nll_loss", "var", var, 3)
    if (every(var) < 0).any():
        raise ValueError("var has negative entry/entries")
    have, want = tuple(var.shape), tuple(input.shape)
    if have == want:
        return var
    if have == want[:-1]:
        return shapes.unsqueeze(var, -1)
    different = [two for one, two in zip(want, have, strict=False) if one != two]
    if len(have) != len(want) or sum(different) != 1:
        raise ValueError(f"var is of incorrect size: {have} for an input of shape {want}")
    return var
