"""torch's top-level layers and losses: the functions of `nn.functional`, with a different order of arguments.

Here `reduction` is a number: 0 for 'none', 1 for 'mean', 2 for 'sum'.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._core.sites import named
from . import alignment, dropout as dropouts, layers, losses, margins, normalization

if TYPE_CHECKING:
    from .._core.typing import Tensor

NUMBERED = ("none", "mean", "sum")


def _named(function: Callable[..., Any], names: str) -> Callable[..., Any]:
    """A function with these names for its arguments, in this order."""
    order = names.split()

    def native(*args: Any, **options: Any) -> Tensor:
        if len(args) > len(order):
            raise TypeError(f"{function.__name__}() takes {len(order)} positional arguments but {len(args)} were given")
        options |= dict(zip(order, args, strict=False))
        options.pop("cudnn_enabled", None)
        if isinstance(number := options.get("reduction"), int):
            if not 0 <= number < len(NUMBERED):
                raise ValueError(f"{number} is not a valid value for reduction: 0 is none, 1 the mean, 2 the sum")
            options["reduction"] = NUMBERED[number]
        return function(**options)

    summary, _, rest = (function.__doc__ or "").partition("\n\n")
    text = f"{summary} Arguments: {', '.join(order)}.\n\n{rest}"
    return named(function.__name__, native, text)


binary_cross_entropy_with_logits = _named(
    losses.binary_cross_entropy_with_logits, "input target weight pos_weight reduction"
)
kl_div = _named(losses.kl_div, "input target reduction log_target")
poisson_nll_loss = _named(losses.poisson_nll_loss, "input target log_input full eps reduction")
ctc_loss = _named(alignment.ctc_loss, "log_probs targets input_lengths target_lengths blank reduction zero_infinity")
cosine_embedding_loss = _named(margins.cosine_embedding_loss, "input1 input2 target margin reduction")
hinge_embedding_loss = _named(margins.hinge_embedding_loss, "input target margin reduction")
margin_ranking_loss = _named(margins.margin_ranking_loss, "input1 input2 target margin reduction")
triplet_margin_loss = _named(margins.triplet_margin_loss, "anchor positive negative margin p eps swap reduction")

batch_norm = _named(
    normalization.batch_norm, "input weight bias running_mean running_var training momentum eps cudnn_enabled"
)
instance_norm = _named(
    normalization.instance_norm, "input weight bias running_mean running_var use_input_stats momentum eps cudnn_enabled"
)
layer_norm = _named(normalization.layer_norm, "input normalized_shape weight bias eps cudnn_enabled")
group_norm = _named(normalization.group_norm, "input num_groups weight bias eps cudnn_enabled")


def embedding(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Tensor:
    """The rows of `weight` selected by the indices; a negative `padding_idx` means none.

    Parameters
    ----------
    weight
        The table, a vector in each row.
    indices
        The rows to take.
    padding_idx
        A row that gets no gradient; negative for none.
    scale_grad_by_freq
        Divide the gradient of a row by how often it was taken.
    sparse
        Accepted as in torch; gradients are dense.

    >>> import pullback
    >>> pullback.embedding(pullback.tensor([[1.0, 2.0], [3.0, 4.0]]), pullback.tensor([1, 1]))
    tensor([[3., 4.],
            [3., 4.]])
    """
    padding = padding_idx if padding_idx >= 0 else None
    return layers.embedding(indices, weight, padding, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)


def _dropping(function: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A kind of dropout and its in-place form, whose last argument is whether to train."""

    def native(input: Tensor, p: float, train: bool) -> Tensor:
        return function(input, p, train)

    def in_place(input: Tensor, p: float, train: bool) -> Tensor:
        return function(input, p, train, True)

    name, text = function.__name__, function.__doc__ or ""
    return named(name, native, text), named(f"{name}_", in_place, f"In place: {text}")


dropout, dropout_ = _dropping(dropouts.dropout)
alpha_dropout, alpha_dropout_ = _dropping(dropouts.alpha_dropout)
feature_dropout, feature_dropout_ = _dropping(dropouts.feature_dropout)
feature_alpha_dropout, feature_alpha_dropout_ = _dropping(dropouts.feature_alpha_dropout)
