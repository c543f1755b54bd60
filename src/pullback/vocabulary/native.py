"""torch's top-level layers and losses: the functions of `nn.functional`, with a different order of arguments.

Here `reduction` is a number: 0 for 'none', 1 for 'mean', 2 for 'sum'.
"""

from collections.abc import Callable
from typing import Any

from . import alignment, dropout as dropouts, layers, losses, margins, normalization

NUMBERED = ("none", "mean", "sum")


def _named(function: Callable[..., Any], names: str) -> Callable[..., Any]:
    """A function with these names for its arguments, in this order."""
    order = names.split()

    def native(*args: Any, **options: Any) -> Any:
        if len(args) > len(order):
            raise TypeError(f"{function.__name__}() takes {len(order)} positional arguments but {len(args)} were given")
        options |= dict(zip(order, args, strict=False))
        options.pop("cudnn_enabled", None)
        if isinstance(number := options.get("reduction"), int):
            if not 0 <= number < len(NUMBERED):
                raise ValueError(f"{number} is not a valid value for reduction: 0 is none, 1 the mean, 2 the sum")
            options["reduction"] = NUMBERED[number]
        return function(**options)

    native.__name__ = native.__qualname__ = function.__name__
    summary, _, rest = (function.__doc__ or "").partition("\n\n")
    native.__doc__ = f"{summary}\n    Arguments: {', '.join(order)}.\n\n{rest}"
    return native


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
    weight: Any, indices: Any, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Any:
    """The rows of `weight` selected by the indices; a negative `padding_idx` means none.

    >>> import pullback
    >>> pullback.embedding(pullback.tensor([[1.0, 2.0], [3.0, 4.0]]), pullback.tensor([1, 1]))
    tensor([[3., 4.],
            [3., 4.]])
    """
    padding = padding_idx if padding_idx >= 0 else None
    return layers.embedding(indices, weight, padding, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)


def dropout(input: Any, p: float, train: bool) -> Any:
    """While training, zeros with probability p; the other elements are divided by 1 - p.

    >>> import pullback
    >>> pullback.dropout(pullback.ones(3), 0.5, False)
    tensor([1., 1., 1.])
    """
    return dropouts.dropout(input, p, train)


def dropout_(input: Any, p: float, train: bool) -> Any:
    """In place: `dropout`.

    >>> import pullback
    >>> pullback.dropout_(pullback.ones(3), 1.0, True)
    tensor([0., 0., 0.])
    """
    return dropouts.dropout(input, p, train, True)


def alpha_dropout(input: Any, p: float, train: bool) -> Any:
    """Dropout that preserves the mean and variance of the outputs of selu."""
    return dropouts.alpha_dropout(input, p, train)


def alpha_dropout_(input: Any, p: float, train: bool) -> Any:
    """In place: `alpha_dropout`.

    >>> import pullback
    >>> pullback.alpha_dropout_(pullback.ones(2), 0.5, False)
    tensor([1., 1.])
    """
    return dropouts.alpha_dropout(input, p, train, True)


def feature_dropout(input: Any, p: float, train: bool) -> Any:
    """Dropout of whole channels (axis 1)."""
    return dropouts.feature_dropout(input, p, train)


def feature_dropout_(input: Any, p: float, train: bool) -> Any:
    """In place: `feature_dropout`.

    >>> import pullback
    >>> pullback.feature_dropout_(pullback.ones(1, 2), 0.5, False)
    tensor([[1., 1.]])
    """
    return dropouts.feature_dropout(input, p, train, True)


def feature_alpha_dropout(input: Any, p: float, train: bool) -> Any:
    """`alpha_dropout` of whole channels (axis 1).

    >>> import pullback
    >>> pullback.feature_alpha_dropout(pullback.ones(1, 2), 0.5, False)
    tensor([[1., 1.]])
    """
    return dropouts.feature_alpha_dropout(input, p, train)


def feature_alpha_dropout_(input: Any, p: float, train: bool) -> Any:
    """In place: `feature_alpha_dropout`.

    >>> import pullback
    >>> pullback.feature_alpha_dropout_(pullback.ones(1, 2), 0.5, False)
    tensor([[1., 1.]])
    """
    return dropouts.feature_alpha_dropout(input, p, train, True)
