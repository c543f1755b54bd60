"""Channels interleaved between groups: Zhang, Zhou, Lin and Sun, ShuffleNet, 2018."""

from .. import functional as F
from .declared import Computed, declared


@declared(F.channel_shuffle)
class ChannelShuffle(Computed):
    """Channels in a new order: the first of each group, the second of each, and so on.

    Parameters
    ----------
    groups
        The number of groups.

    >>> import pullback
    >>> pullback.nn.ChannelShuffle(2)(pullback.arange(4).reshape(1, 4, 1, 1)).flatten()
    tensor([0, 2, 1, 3])
    """

    groups: int
