"""Windows of images as columns (im2col), and their transpose (col2im)."""

from typing import Any

from .. import functional as F
from .declared import declared
from .module import Module


@declared(F.fold)
class Fold(Module):
    """Columns (N, C * window, number of windows) added up to images (N, C, *output_size)."""

    output_size: Any
    kernel_size: Any
    dilation: Any = 1
    padding: Any = 0
    stride: Any = 1


@declared(F.unfold)
class Unfold(Module):
    """The windows of images (N, C, H, W) as columns (N, C * window, number of windows)."""

    kernel_size: Any
    dilation: Any = 1
    padding: Any = 0
    stride: Any = 1
