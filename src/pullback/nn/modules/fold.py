"""Windows of images as columns (im2col), and their transpose (col2im)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import functional as F
from .declared import Computed, declared

if TYPE_CHECKING:
    from ..._core.typing import Sizes


@declared(F.fold)
class Fold(Computed):
    """Columns (N, C * window, number of windows) added up to images (N, C, *output_size).

    Parameters
    ----------
    output_size
        The lengths of the image.
    kernel_size
        The lengths of the window, one for all axes or one for each.
    dilation
        The distances of elements within the window.
    padding
        How many zeros are put at both ends of each axis.
    stride
        The steps of the window, one for all axes or one for each.

    >>> import pullback
    >>> fold = pullback.nn.Fold(output_size=(1, 3), kernel_size=(1, 2))
    >>> fold(pullback.ones(1, 2, 2))  # the middle is in both windows
    tensor([[[[1., 2., 1.]]]])
    """

    output_size: Sizes
    kernel_size: Sizes
    dilation: Sizes = 1
    padding: Sizes = 0
    stride: Sizes = 1


@declared(F.unfold)
class Unfold(Computed):
    """The windows of images (N, C, H, W) as columns (N, C * window, number of windows).

    Parameters
    ----------
    kernel_size
        The lengths of the window, one for all axes or one for each.
    dilation
        The distances of elements within the window.
    padding
        How many zeros are put at both ends of each axis.
    stride
        The steps of the window, one for all axes or one for each.

    >>> import pullback
    >>> pullback.nn.Unfold(kernel_size=(1, 2))(pullback.tensor([[[[1.0, 2.0, 3.0]]]]))
    tensor([[[1., 2.],
             [2., 3.]]])
    """

    kernel_size: Sizes
    dilation: Sizes = 1
    padding: Sizes = 0
    stride: Sizes = 1
