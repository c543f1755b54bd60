"""Larger and smaller images: nn.functional.interpolate as modules."""

from __future__ import annotations

from collections.abc import Sequence

from .. import functional as F
from .declared import Computed, declared
from .module import Module


@declared(F.interpolate)
class Upsample(Computed):
    """The input (N, C, ...) interpolated to a size, or scaled by a factor.

    `mode` is 'nearest', 'linear', 'bilinear', 'bicubic', 'trilinear', 'area' or 'nearest-exact'.

    Parameters
    ----------
    size
        The lengths of the result.
    scale_factor
        The factor by which lengths grow, in the place of `size`.
    mode
        How values between are found, as for `functional.interpolate`.
    align_corners
        Whether the outermost elements stay where they are.
    recompute_scale_factor
        Compute the factor again from the lengths.

    >>> import pullback
    >>> pullback.nn.Upsample(scale_factor=2)(pullback.tensor([[[1.0, 2.0]]]))
    tensor([[[1., 1., 2., 2.]]])
    """

    size: int | Sequence[int] | None = None
    scale_factor: float | tuple[float, ...] | None = None
    mode: str = "nearest"
    align_corners: bool | None = None
    recompute_scale_factor: bool | None = None

    def __post_init__(self) -> None:
        Module.__init__(self)
        self.name = type(self).__name__
        if isinstance(self.scale_factor, tuple):
            self.scale_factor = tuple(map(float, self.scale_factor))
        else:
            self.scale_factor = float(self.scale_factor) if self.scale_factor else None

    def extra_repr(self) -> str:
        chosen = f"size={self.size!r}" if self.scale_factor is None else f"scale_factor={self.scale_factor!r}"
        return f"{chosen}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Images at another size, each pixel the nearest one of the input.

    Parameters
    ----------
    size
        The lengths of the result.
    scale_factor
        The factor by which lengths grow, in the place of `size`.

    >>> import pullback
    >>> pullback.nn.UpsamplingNearest2d(scale_factor=2)(pullback.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[1., 1., 2., 2.],
              [1., 1., 2., 2.]]]])
    """

    def __init__(
        self, size: int | Sequence[int] | None = None, scale_factor: float | tuple[float, ...] | None = None
    ) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """Images at another size, each pixel interpolated from four of the input; corners are aligned.

    Parameters
    ----------
    size
        The lengths of the result.
    scale_factor
        The factor by which lengths grow, in the place of `size`.

    >>> import pullback
    >>> pullback.nn.UpsamplingBilinear2d(size=(1, 3))(pullback.tensor([[[[0.0, 2.0]]]]))
    tensor([[[[0., 1., 2.]]]])
    """

    def __init__(
        self, size: int | Sequence[int] | None = None, scale_factor: float | tuple[float, ...] | None = None
    ) -> None:
        super().__init__(size, scale_factor, "bilinear", align_corners=True)
