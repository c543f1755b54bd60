"""Channels rearranged into pixels and back: Shi and others, Real-time single image super-resolution, 2016."""

from .. import functional as F
from .declared import declared
from .module import Module


@declared(F.pixel_shuffle)
class PixelShuffle(Module):
    """(N, C * r**2, H, W) to (N, C, H * r, W * r): each r**2 channels become squares of pixels."""

    upscale_factor: int


@declared(F.pixel_unshuffle)
class PixelUnshuffle(Module):
    """(N, C, H * r, W * r) to (N, C * r**2, H, W): squares of pixels become channels."""

    downscale_factor: int
