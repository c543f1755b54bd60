"""A softmax over very many classes, of which few are frequent.

Grave, Joulin, Cissé, Grangier and Jégou, Efficient softmax approximation for GPUs, 2017.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ..._core.errors import size
from ..._tensor.creation import tensor
from ...vocabulary.arithmetic import where
from ...vocabulary.shapes import cat
from ...vocabulary.sorting import bucketize
from .. import functional as F
from ..parameter import check_sizes
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

if TYPE_CHECKING:
    from ..._core.typing import Device, DType, Tensor


class _ASMoutput(NamedTuple):
    """The log-probability of each target, and the negative mean of these."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log-probabilities of targets among very many classes, sorted by decreasing frequency, and the loss.

    The first `cutoffs[0]` classes are decided in the `head`, together with which cluster the others lie in; each cluster
    has two maps in `tail`, the first to fewer and fewer features: in_features / div_value ** number.

    Parameters
    ----------
    in_features
        The number of features.
    n_classes
        The number of classes.
    cutoffs
        The classes at which clusters begin, the most frequent first.
    div_value
        The factor by which the features of each further cluster are fewer.
    head_bias
        Add a bias to the head.
    device
        Where the parameters lie; there is only the CPU.
    dtype
        The dtype of the parameters; None for the default.

    Raises
    ------
    ValueError
        If the cutoffs are not increasing integers from 1 to n_classes - 1.

    >>> import pullback
    >>> softmax = pullback.nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs=[5, 10])
    >>> output, loss = softmax(pullback.randn(4, 16), pullback.tensor([0, 7, 19, 4]))
    >>> output.shape, loss.shape
    (pullback.Size([4]), pullback.Size([]))
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        check_sizes(self, in_features=in_features, n_classes=n_classes)
        ends = list(cutoffs)
        if not ends:
            raise ValueError("cutoffs should be a sequence of length larger than 0: it is empty")
        if any(int(end) != end for end in ends) or any(low >= high for low, high in pairwise([0, *ends, n_classes])):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                f"value is between 1 and n_classes-1: got {ends} of {n_classes} classes"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*ends, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = ends[0]
        self.n_clusters = len(ends)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for number, (low, high) in enumerate(pairwise(self.cutoffs), 1):
            features = int(in_features // div_value**number)
            inner = Linear(in_features, features, False, device, dtype)
            self.tail.append(Sequential(inner, Linear(features, high - low, False, device, dtype)))

    def reset_parameters(self) -> None:
        """Reset to new random weights."""
        for module in self.modules():
            if isinstance(module, Linear):
                module.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        self._check(input_, target_)
        input, target = input_.reshape(-1, self.in_features), target_.reshape(-1)
        cluster = bucketize(target, tensor(self.cutoffs[:-1]), right=True)  # 0 is the head
        place = where(cluster == 0, target, self.shortlist_size - 1 + cluster)
        output = F.log_softmax(self.head(input), 1).gather(1, place.unsqueeze(1)).squeeze(1)
        for number, tail in enumerate(self.tail):
            rows = (cluster == number + 1).nonzero().squeeze(1)
            if rows.numel():
                inside = (target[rows] - self.cutoffs[number]).unsqueeze(1)
                output = output.index_add(0, rows, F.log_softmax(tail(input[rows]), 1).gather(1, inside).squeeze(1))
        return _ASMoutput(output.reshape(target_.shape), -output.mean())

    def _check(self, input: Tensor, target: Tensor) -> None:
        if target.ndim > 1:
            raise RuntimeError(f"0D or 1D target tensor expected, multi-target not supported: it is {target.ndim}D")
        if target.ndim and input.shape[0] != target.shape[0]:
            raise RuntimeError(
                "Input and target should have the same size in the batch dimension: "
                f"got {tuple(input.shape)} and {tuple(target.shape)}"
            )
        if input.ndim != target.ndim + 1:
            raise RuntimeError(
                f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found inputs with size "
                f"{size(input.shape)}"
            )
        if target.numel() and not ((target >= 0) & (target < self.n_classes)).all():
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found."
            )

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities of all classes: (N, in_features) to (N, n_classes)."""
        head = F.log_softmax(self.head(input), 1)
        short = self.shortlist_size
        tails = [F.log_softmax(tail(input), 1) + head[:, short + i : short + i + 1] for i, tail in enumerate(self.tail)]
        return cat([head[:, :short], *tails], 1)

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row: (N, in_features) to (N)."""
        return self.log_prob(input).argmax(1)
