"""Losses: each a function of nn.functional with its settings.

`reduction` is 'mean', 'sum' or 'none'; `size_average` and `reduce` are torch's deprecated arguments for it. A weight
for each class is a buffer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, InitVar
from typing import TYPE_CHECKING, Any

from ...vocabulary.losses import chosen
from .. import functional as F
from .declared import Compared, Several, declared, settings
from .distance import PairwiseDistance
from .linear import Linear

if TYPE_CHECKING:
    from ..._core.typing import Device, DType, Tensor


class _Loss(Several):
    """The common base of losses: torch's deprecated reduction arguments, and tensors among the settings as buffers."""

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__()
        old = size_average is not None or reduce is not None
        self.reduction = chosen(size_average, reduce, reduction) if old else reduction

    def __post_init__(self, size_average: bool | None = None, reduce: bool | None = None) -> None:
        tensors = {name: self.__dict__.pop(name) for name in ("weight", "pos_weight") if name in self.__dict__}
        _Loss.__init__(self, size_average, reduce, self.reduction)
        for name, tensor in tensors.items():
            self.register_buffer(name, tensor)


@settings
class _ReducedLoss(_Loss, Compared):
    """A loss whose first settings are those of the reduction."""

    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


@settings
class _MarginLoss(_Loss):
    """A loss whose settings are a margin and those of the reduction."""

    margin: float = 0.0
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


class _WeightedLoss(_Loss, Compared):
    """A loss with a weight for each class."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


@declared(F.l1_loss, shows="")
class L1Loss(_ReducedLoss):
    """The absolute differences of input and target.

    Parameters
    ----------
    size_average, reduce
        torch's old form of `reduction`.
    reduction
        "mean" or "sum" of the losses, or "none" for each.

    >>> import pullback
    >>> pullback.nn.L1Loss()(pullback.tensor([1.0, 5.0]), pullback.tensor([2.0, 2.0]))
    tensor(2.)
    """


@declared(F.mse_loss, shows="")
class MSELoss(_ReducedLoss):
    """The squared differences of input and target.

    Arguments as for `L1Loss`.

    >>> import pullback
    >>> pullback.nn.MSELoss()(pullback.tensor([1.0, 2.0]), pullback.tensor([1.0, 4.0]))
    tensor(2.)
    """


@declared(F.smooth_l1_loss, shows="")
class SmoothL1Loss(_ReducedLoss):
    """Squared differences where they are below beta, absolute ones above, joined smoothly.

    Arguments as for `L1Loss`.

    Parameters
    ----------
    beta
        The difference from which on it is linear.

    >>> import pullback
    >>> pullback.nn.SmoothL1Loss(reduction="none")(pullback.tensor([0.5, 4.0]), pullback.zeros(2))
    tensor([0.1250, 3.5000])
    """

    beta: float = 1.0


@declared(F.huber_loss, shows="")
class HuberLoss(_Loss, Compared):
    """Half the squared differences where they are below delta, delta times absolute ones above.

    Parameters
    ----------
    reduction
        "mean" or "sum" of the losses, or "none" for each.
    delta
        The difference from which on it is linear.

    >>> import pullback
    >>> pullback.nn.HuberLoss(reduction="none")(pullback.tensor([0.5, 4.0]), pullback.zeros(2))
    tensor([0.1250, 3.5000])
    """

    reduction: str = "mean"
    delta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.delta, (float, int)):
            raise TypeError(f"delta must be a float or int, got: {type(self.delta)}")


@declared(F.nll_loss, shows="")
class NLLLoss(_WeightedLoss):
    """Minus the log-probability of the target class, from log-probabilities (N, C, ...) or (C,).

    Parameters
    ----------
    weight
        A weight for each class.
    size_average, reduce
        torch's old form of `reduction`.
    ignore_index
        The target that counts for nothing.
    reduction
        "mean" or "sum" of the losses, or "none" for each.

    >>> import pullback
    >>> pullback.nn.NLLLoss()(pullback.tensor([[0.25, 0.75]]).log(), pullback.tensor([0]))  # log(4)
    tensor(1.3863)
    """

    weight: Tensor | None = None
    size_average: InitVar[bool | None] = None
    ignore_index: int = -100
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


@declared(F.cross_entropy, shows="")
class CrossEntropyLoss(_WeightedLoss):
    """The cross-entropy of target classes, or target probabilities, and scores (N, C, ...) or (C,).

    Arguments as for `NLLLoss`.

    Parameters
    ----------
    label_smoothing
        The share of a target's weight that is spread over all classes.

    >>> import pullback
    >>> pullback.nn.CrossEntropyLoss()(pullback.zeros(1, 2), pullback.tensor([1]))
    tensor(0.6931)
    """

    weight: Tensor | None = None
    size_average: InitVar[bool | None] = None
    ignore_index: int = -100
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"
    label_smoothing: float = 0.0


class LinearCrossEntropyLoss(_WeightedLoss):
    """A linear layer, `linear`, and the cross-entropy of its scores.

    With `out_features=(d1, ...)` each input gives scores (num_classes, d1, ...).

    Arguments as for `CrossEntropyLoss`.

    Parameters
    ----------
    in_features
        The length of the input's last axis.
    num_classes, out_features
        The number of classes, and the lengths of further axes of the scores.
    bias
        Add a bias, which is learned.
    device
        Where the parameters lie; there is only the CPU.
    dtype
        The dtype of the parameters; None for the default.
    options
        Accepted: tells torch how to save memory.

    >>> import pullback
    >>> loss = pullback.nn.LinearCrossEntropyLoss(3, 10)
    >>> loss(pullback.ones(2, 3), pullback.tensor([0, 9])).shape, loss.linear.weight.shape
    (pullback.Size([]), pullback.Size([10, 3]))
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Device | None = None,
        dtype: DType | None = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: object | None = None,
    ) -> None:
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.linear = Linear(in_features, math.prod(out_features, start=num_classes), bias, device, dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        shape = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*shape, self.linear.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(shape),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        own = ("reduction", "ignore_index", "label_smoothing", "options")
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, out_features={self.out_features}, "
            f"bias={self.linear.bias is not None}, " + ", ".join(f"{name}={getattr(self, name)}" for name in own)
        )


@declared(F.binary_cross_entropy, shows="")
class BCELoss(_WeightedLoss):
    """The binary cross entropy of probabilities and targets from 0 to 1.

    Arguments as for `NLLLoss`.

    Parameters
    ----------
    weight
        A weight for each element.

    >>> import pullback
    >>> pullback.nn.BCELoss()(pullback.tensor([0.5, 1.0]), pullback.tensor([1.0, 1.0]))  # log(2) / 2
    tensor(0.3466)
    """

    weight: Tensor | None = None
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


@declared(F.binary_cross_entropy_with_logits, shows="")
class BCEWithLogitsLoss(_Loss, Compared):
    """The binary cross entropy of the sigmoid of scores and targets from 0 to 1, exact for large scores.

    Parameters
    ----------
    weight
        A weight for each element.
    size_average, reduce
        torch's old form of `reduction`.
    reduction
        "mean" or "sum" of the losses, or "none" for each.
    pos_weight
        A weight for positive examples of each class.

    >>> from pullback import nn, tensor
    >>> nn.BCEWithLogitsLoss()(tensor([0.0, 100.0]), tensor([1.0, 1.0]))  # log(2) / 2
    tensor(0.3466)
    """

    weight: Tensor | None = None
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"
    pos_weight: Tensor | None = None


@declared(F.kl_div, shows="")
class KLDivLoss(_ReducedLoss):
    """The elementwise Kullback-Leibler divergence of log-probabilities from a target; use 'batchmean' for its mean.

    Arguments as for `L1Loss`.

    Parameters
    ----------
    log_target
        The target holds logarithms.

    >>> from pullback import nn, tensor
    >>> nn.KLDivLoss(reduction="batchmean")(tensor([[0.5, 0.5]]).log(), tensor([[1.0, 0.0]]))  # log(2)
    tensor(0.6931)
    """

    log_target: bool = False


@declared(F.poisson_nll_loss, shows="")
class PoissonNLLLoss(_Loss, Compared):
    """Minus the log-likelihood of counts under Poisson distributions with the input, or its exponential, as mean.

    Parameters
    ----------
    log_input
        The input holds logarithms of rates.
    full
        Add the terms that do not depend on the input.
    size_average, reduce
        torch's old form of `reduction`.
    eps
        A small number, so that no logarithm or root of zero is taken.
    reduction
        "mean" or "sum" of the losses, or "none" for each.

    >>> import pullback
    >>> pullback.nn.PoissonNLLLoss()(pullback.tensor([0.0]), pullback.tensor([3.0]))  # exp(0) - 3 * 0
    tensor(1.)
    """

    log_input: bool = True
    full: bool = False
    size_average: InitVar[bool | None] = None
    eps: float = 1e-8
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


@declared(F.gaussian_nll_loss, shows="")
class GaussianNLLLoss(_Loss):
    """Minus the log-likelihood of targets under normal distributions of given means and variances.

    Parameters
    ----------
    full
        Add the terms that do not depend on the input.
    eps
        A small number, so that no logarithm or root of zero is taken.
    reduction
        "mean" or "sum" of the losses, or "none" for each.

    >>> from pullback import nn, tensor
    >>> nn.GaussianNLLLoss()(tensor([1.0]), tensor([3.0]), tensor([4.0]))  # (log(4) + 2**2 / 4) / 2
    tensor(1.1931)
    """

    _: KW_ONLY
    full: bool = False
    eps: float = 1e-6
    reduction: str = "mean"


@declared(F.hinge_embedding_loss, shows="")
class HingeEmbeddingLoss(_MarginLoss, Compared):
    """The input where the target is 1, and margin - input, at least 0, where it is -1.

    Parameters
    ----------
    margin
        By how much what is right has to exceed what is wrong.
    size_average, reduce
        torch's old form of `reduction`.
    reduction
        "mean" or "sum" of the losses, or "none" for each.

    >>> from pullback import nn, tensor
    >>> nn.HingeEmbeddingLoss(reduction="none")(tensor([0.25, 0.25]), tensor([1.0, -1.0]))
    tensor([0.2500, 0.7500])
    """

    margin: float = 1.0


@declared(F.margin_ranking_loss, shows="")
class MarginRankingLoss(_MarginLoss):
    """max(0, margin - target * (input1 - input2)): target 1 means that input1 should be larger, -1 input2.

    Arguments as for `HingeEmbeddingLoss`.

    >>> from pullback import nn, ones, tensor
    >>> nn.MarginRankingLoss(reduction="none")(tensor([3.0, 1.0]), tensor([1.0, 3.0]), ones(2))
    tensor([0., 2.])
    """


@declared(F.multilabel_margin_loss, shows="")
class MultiLabelMarginLoss(_ReducedLoss):
    """The multi-class, multi-label hinge loss of scores; the target lists the correct classes.

    Arguments as for `L1Loss`.

    >>> from pullback import nn, tensor
    >>> nn.MultiLabelMarginLoss()(tensor([2.0, 1.5, 0.0]), tensor([0, -1, -1]))  # (1 - 2 + 1.5) / 3
    tensor(0.1667)
    """


@declared(F.multilabel_soft_margin_loss, shows="")
class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The binary cross entropy of scores for classes, averaged over them.

    Arguments as for `NLLLoss`.

    >>> from pullback import nn, tensor
    >>> nn.MultiLabelSoftMarginLoss()(tensor([[100.0, 0.0]]), tensor([[1.0, 0.0]]))  # log(2) / 2
    tensor(0.3466)
    """

    weight: Tensor | None = None
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


@declared(F.multi_margin_loss, shows="")
class MultiMarginLoss(_WeightedLoss):
    """The multi-class hinge loss of scores with one correct class.

    Arguments as for `NLLLoss`.

    Parameters
    ----------
    p
        The exponent of what is missing: 1 or 2.
    margin
        By how much what is right has to exceed what is wrong.

    >>> from pullback import nn, tensor
    >>> nn.MultiMarginLoss()(tensor([[2.0, 1.5, 0.0]]), tensor([0]))  # (1 - 2 + 1.5) / 3
    tensor(0.1667)
    """

    p: int = 1
    margin: float = 1.0
    weight: Tensor | None = None
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"

    def __post_init__(self, size_average: bool | None = None, reduce: bool | None = None) -> None:
        super().__post_init__(size_average, reduce)
        if self.p not in {1, 2}:
            raise ValueError(f"only p == 1 and p == 2 supported: got {self.p}")
        if self.weight is not None and self.weight.ndim != 1:
            raise ValueError(
                f"MultiMarginLoss: expected weight to be None or 1D tensor, got {self.weight.ndim}D instead"
            )


@declared(F.soft_margin_loss, shows="")
class SoftMarginLoss(_ReducedLoss):
    """log(1 + exp(-target * input)) for targets 1 and -1.

    Arguments as for `L1Loss`.

    >>> import pullback
    >>> pullback.nn.SoftMarginLoss()(pullback.tensor([0.0, 100.0]), pullback.tensor([1.0, 1.0]))  # log(2) / 2
    tensor(0.3466)
    """


@declared(F.cosine_embedding_loss, shows="")
class CosineEmbeddingLoss(_MarginLoss):
    """1 - cosine of two vectors where the target is 1, max(0, cosine - margin) where it is -1.

    Arguments as for `HingeEmbeddingLoss`.

    >>> from pullback import nn, tensor
    >>> nn.CosineEmbeddingLoss()(tensor([[1.0, 0.0]]), tensor([[0.0, 5.0]]), tensor([1.0]))
    tensor(1.)
    """


def _check_margin(loss: Any) -> None:
    if loss.margin <= 0:
        raise ValueError(f"{type(loss).__name__}: expected margin to be greater than 0, got {loss.margin} instead")


@declared(F.triplet_margin_loss, shows="")
class TripletMarginLoss(_Loss):
    """max(0, margin + distance of anchor and positive - distance of anchor and negative).

    Parameters
    ----------
    margin
        By how much what is right has to exceed what is wrong.
    p
        The exponent of the norm.
    eps
        A small number, so that no logarithm or root of zero is taken.
    swap
        Take the smaller of the distances of the negative example to the other two.
    size_average, reduce
        torch's old form of `reduction`.
    reduction
        "mean" or "sum" of the losses, or "none" for each.

    >>> from pullback import nn, tensor
    >>> nn.TripletMarginLoss()(tensor([[0.0]]), tensor([[2.0]]), tensor([[1.5]]))  # 1 + 2 - 1.5
    tensor(1.5000)
    """

    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"

    def __post_init__(self, size_average: bool | None = None, reduce: bool | None = None) -> None:
        super().__post_init__(size_average, reduce)
        _check_margin(self)


class TripletMarginWithDistanceLoss(_Loss):
    """The triplet margin loss with a custom distance, a function of two tensors or a module.

    Parameters
    ----------
    distance_function
        The function of two tensors that measures; None for the Euclidean distance.
    margin
        By how much what is right has to exceed what is wrong.
    swap
        Take the smaller of the distances of the negative example to the other two.
    reduction
        "mean" or "sum" of the losses, or "none" for each.

    >>> import pullback
    >>> loss = pullback.nn.TripletMarginWithDistanceLoss(distance_function=pullback.nn.PairwiseDistance(p=1))
    >>> loss(pullback.tensor([[0.0]]), pullback.tensor([[2.0]]), pullback.tensor([[1.5]]))  # 1 + 2 - 1.5
    tensor(1.5000)
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.margin = margin
        self.swap = swap
        _check_margin(self)

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


@declared(F.ctc_loss, shows="")
class CTCLoss(_Loss):
    """Minus the log-probability of label sequences, summed over all ways to align them with longer inputs.

    Parameters
    ----------
    blank
        The number of the blank.
    reduction
        "mean" or "sum" of the losses, or "none" for each.
    zero_infinity
        Take infinite losses, of targets that are too long, as zero.

    >>> from pullback import nn, tensor, zeros
    >>> scores = zeros(3, 1, 4).log_softmax(2)  # 3 steps, one sequence, 4 classes of which 0 is blank
    >>> nn.CTCLoss()(scores, tensor([[1]]), tensor([3]), tensor([1]))  # 6 of the 4**3 paths are label 1
    tensor(2.3671)
    """

    blank: int = 0
    reduction: str = "mean"
    zero_infinity: bool = False
