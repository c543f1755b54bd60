"""Channels rearranged into pixels and back: Shi and others, Real-time single image super-resolution, 2016."""

from .. import functional as F
from .declared import Computed, declared


@declared(F.pixel_shuffle)
class PixelShuffle(Computed):
    """(N, C * r**2, H, W) to (N, C, H * r, W * r): each r**2 channels become squares of pixels.

    Parameters
    ----------
    upscale_factor
        The factor by which height and width grow.

    >>> import pullback
    >>> pullback.nn.PixelShuffle(2)(pullback.arange(4.0).reshape(1, 4, 1, 1))
    tensor([[[[0., 1.],
              [2., 3.]]]])
    """

    upscale_factor: int


@declared(F.pixel_unshuffle)
class PixelUnshuffle(Computed):
    """(N, C, H * r, W * r) to (N, C * r**2, H, W): squares of pixels become channels.

    Parameters
    ----------
    downscale_factor
        The factor by which height and width shrink.

    >>> import pullback
    >>> pullback.nn.PixelUnshuffle(2)(pullback.ones(1, 1, 4, 6)).shape
    pullback.Size([1, 4, 2, 3])
    """

    downscale_factor: int
