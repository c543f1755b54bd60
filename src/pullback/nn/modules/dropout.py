"""Dropout: parts of the input set to zero at random in training; no effect in evaluation.

Srivastava, Hinton, Krizhevsky, Sutskever and Salakhutdinov, Dropout: a simple way to prevent neural networks from
overfitting, 2014. Alpha dropout: Klambauer, Unterthiner, Mayr and Hochreiter, Self-normalizing neural networks, 2017.
"""

from .. import functional as F
from .declared import Computed, declared, settings
from .module import Module

SHOWS = "p={p}, inplace={inplace}"


@settings
class _DropoutNd(Computed):
    """The settings of all kinds of dropout, and their check."""

    p: float = 0.5
    inplace: bool = False

    def __post_init__(self) -> None:
        Module.__init__(self)
        if not 0 <= self.p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {self.p}")


@declared(F.dropout, SHOWS)
class Dropout(_DropoutNd):
    """Each element set to zero with probability p, the others divided by 1 - p.

    Parameters
    ----------
    p
        The probability of each element, or channel, to be dropped.
    inplace
        Write the result to the input.

    >>> import pullback
    >>> pullback.nn.Dropout(0.5).eval()(pullback.ones(2))
    tensor([1., 1.])
    """


@declared(F.dropout1d, SHOWS)
class Dropout1d(_DropoutNd):
    """Each channel of (N, C, L) or (C, L) set to zero with probability p, the others divided by 1 - p.

    Parameters
    ----------
    p
        The probability of each element, or channel, to be dropped.
    inplace
        Write the result to the input.

    >>> import pullback
    >>> pullback.nn.Dropout1d(0.5)(pullback.ones(2, 3, 5)).unique(dim=2).shape  # one value for each channel
    pullback.Size([2, 3, 1])
    """


@declared(F.dropout2d, SHOWS)
class Dropout2d(_DropoutNd):
    """Each channel of (N, C, H, W) set to zero with probability p, the others divided by 1 - p.

    Parameters
    ----------
    p
        The probability of each element, or channel, to be dropped.
    inplace
        Write the result to the input.

    >>> from pullback import nn, ones
    >>> nn.Dropout2d(0.5)(ones(2, 3, 5, 5)).flatten(2).unique(dim=2).shape  # one value for each channel
    pullback.Size([2, 3, 1])
    """


@declared(F.dropout3d, SHOWS)
class Dropout3d(_DropoutNd):
    """Each channel of (N, C, D, H, W) set to zero with probability p, the others divided by 1 - p.

    Parameters
    ----------
    p
        The probability of each element, or channel, to be dropped.
    inplace
        Write the result to the input.

    >>> import pullback
    >>> pullback.nn.Dropout3d(0.5).eval()(pullback.ones(1, 2, 3, 3, 3)).sum()
    tensor(54.)
    """


@declared(F.alpha_dropout, SHOWS)
class AlphaDropout(_DropoutNd):
    """Dropout for SELU: elements are set to its least value, and mean and variance are preserved.

    Parameters
    ----------
    p
        The probability of each element, or channel, to be dropped.
    inplace
        Write the result to the input.

    >>> import pullback
    >>> pullback.nn.AlphaDropout(0.5).eval()(pullback.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """


@declared(F.feature_alpha_dropout, SHOWS)
class FeatureAlphaDropout(_DropoutNd):
    """Alpha dropout of whole channels.

    Parameters
    ----------
    p
        The probability of each element, or channel, to be dropped.
    inplace
        Write the result to the input.

    >>> from pullback import nn, ones
    >>> nn.FeatureAlphaDropout(0.5)(ones(2, 3, 5)).unique(dim=2).shape  # one value for each channel
    pullback.Size([2, 3, 1])
    """
