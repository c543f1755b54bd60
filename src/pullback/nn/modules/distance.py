"""Distances between vectors."""

from .. import functional as F
from .declared import Several, declared


@declared(F.pairwise_distance, shows="")
class PairwiseDistance(Several):
    """The p-norm of x1 - x2 over the last axis.

    Parameters
    ----------
    p
        The exponent of the norm.
    eps
        A small number added to each difference.
    keepdim
        Keep the last axis, with length 1.

    >>> import pullback
    >>> pullback.nn.PairwiseDistance()(pullback.tensor([[0.0, 0.0]]), pullback.tensor([[3.0, 4.0]]))
    tensor([5.0000])
    """

    p: float = 2.0
    eps: float = 1e-6
    keepdim: bool = False


@declared(F.cosine_similarity, shows="")
class CosineSimilarity(Several):
    """The cosine of the angle between x1 and x2 along an axis.

    Parameters
    ----------
    dim
        The axis.
    eps
        A small number added to what is divided by.

    >>> import pullback
    >>> pullback.nn.CosineSimilarity()(pullback.tensor([[1.0, 0.0]]), pullback.tensor([[1.0, 1.0]]))
    tensor([0.7071])
    """

    dim: int = 1
    eps: float = 1e-8
