"""Pooling over one, two and three axes: windows reduced to their maximum, mean or norm.

`kernel_size`, `stride` (by default the kernel's size), `padding` and `dilation` are integers, or one for each axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from .. import functional as F
from ..parameter import check_sizes
from .declared import Computed, declared, per_axis, settings
from .module import Module

if TYPE_CHECKING:
    from ..._core.typing import Sizes, Tensor

MAX = "kernel_size={kernel_size}, stride={stride}, padding={padding}, dilation={dilation}, ceil_mode={ceil_mode}"
MEAN = "kernel_size={kernel_size}, stride={stride}, padding={padding}"
NORM = "norm_type={norm_type}, kernel_size={kernel_size}, stride={stride}, ceil_mode={ceil_mode}"


class _Strided(Module):
    """The base of poolings whose stride is by default the kernel size."""

    kernel_size: Sizes
    stride: Sizes | None

    def __post_init__(self) -> None:
        Module.__init__(self)
        if self.stride is None:
            self.stride = self.kernel_size


@settings
class _MaxPoolNd(_Strided):
    """The maximum of each window."""

    kernel_size: Sizes
    stride: Sizes | None = None
    padding: Sizes = 0
    dilation: Sizes = 1
    return_indices: bool = False
    ceil_mode: bool = False


@declared(F.max_pool1d, MAX)
class MaxPool1d(_MaxPoolNd):
    """The maximum of each window of (N, C, L) or (C, L); with `return_indices`, also its index.

    Parameters
    ----------
    kernel_size
        The lengths of the window, one for all axes or one for each.
    stride
        The steps of the window, one for all axes or one for each; None for its lengths.
    padding
        How much is put at both ends of each axis, which counts as minus infinity.
    dilation
        The distances of elements within the window.
    return_indices
        Return where the elements were, too, as numbers in the flattened last axes, which `MaxUnpool` needs.
    ceil_mode
        Round the number of windows up, so that the last one may reach over the end.

    >>> import pullback
    >>> pullback.nn.MaxPool1d(2)(pullback.tensor([[1.0, 5.0, 3.0, 4.0]]))
    tensor([[5., 4.]])
    """


@declared(F.max_pool2d, MAX)
class MaxPool2d(_MaxPoolNd):
    """The maximum of each window of (N, C, H, W) or (C, H, W); with `return_indices`, also its index.

    Arguments as for `MaxPool1d`.

    >>> import pullback
    >>> pullback.nn.MaxPool2d(2)(pullback.arange(8.0).reshape(1, 2, 4))
    tensor([[[5., 7.]]])
    """


@declared(F.max_pool3d, MAX)
class MaxPool3d(_MaxPoolNd):
    """The maximum of each window of (N, C, D, H, W) or (C, D, H, W); with `return_indices`, also its index.

    Arguments as for `MaxPool1d`.

    >>> import pullback
    >>> pullback.nn.MaxPool3d(2)(pullback.arange(8.0).reshape(1, 2, 2, 2))
    tensor([[[[7.]]]])
    """


@settings
class _MaxUnpoolNd(_Strided):
    """Maxima written back to their original positions."""

    _axes: ClassVar[int]
    kernel_size: Sizes
    stride: Sizes | None = None
    padding: Sizes = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("kernel_size", "stride", "padding"):
            setattr(self, name, per_axis(getattr(self, name), self._axes))


def _unpooling(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The forward of an unpooling module: the size of the output is an argument of the call."""

    def forward(self: _MaxUnpoolNd, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        return function(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    return forward


@declared(F.max_unpool1d, MEAN)
class MaxUnpool1d(_MaxUnpoolNd):
    """Maxima of `MaxPool1d` at their original positions, zeros elsewhere.

    Parameters
    ----------
    kernel_size
        The lengths of the window, one for all axes or one for each.
    stride
        The steps of the window, one for all axes or one for each; None for its lengths.
    padding
        What the padding was.

    >>> import pullback
    >>> values, places = pullback.nn.MaxPool1d(2, return_indices=True)(pullback.tensor([[1.0, 3.0, 4.0, 2.0]]))
    >>> pullback.nn.MaxUnpool1d(2)(values, places)
    tensor([[0., 3., 4., 0.]])
    """

    _axes = 1
    forward = _unpooling(F.max_unpool1d)


@declared(F.max_unpool2d, MEAN)
class MaxUnpool2d(_MaxUnpoolNd):
    """Maxima of `MaxPool2d` at their original positions, zeros elsewhere.

    Arguments as for `MaxUnpool1d`.

    >>> from pullback import nn, tensor
    >>> values, places = nn.MaxPool2d(2, return_indices=True)(tensor([[[1.0, 3.0], [2.0, 0.0]]]))
    >>> nn.MaxUnpool2d(2)(values, places)
    tensor([[[0., 3.],
             [0., 0.]]])
    """

    _axes = 2
    forward = _unpooling(F.max_unpool2d)


@declared(F.max_unpool3d, MEAN)
class MaxUnpool3d(_MaxUnpoolNd):
    """Maxima of `MaxPool3d` at their original positions, zeros elsewhere.

    Arguments as for `MaxUnpool1d`.

    >>> import pullback
    >>> values, places = pullback.nn.MaxPool3d(2, return_indices=True)(pullback.ones(1, 4, 4, 4))
    >>> pullback.nn.MaxUnpool3d(2)(values, places).sum()
    tensor(8.)
    """

    _axes = 3
    forward = _unpooling(F.max_unpool3d)


@settings
class _AvgPoolNd(_Strided, Computed):
    """The mean of each window."""

    kernel_size: Sizes
    stride: Sizes | None = None
    padding: Sizes = 0
    ceil_mode: bool = False
    count_include_pad: bool = True


@declared(F.avg_pool1d, MEAN)
class AvgPool1d(_AvgPoolNd):
    """The mean of each window of (N, C, L) or (C, L).

    Arguments as for `MaxPool1d`.

    Parameters
    ----------
    padding
        How many zeros are put at both ends of each axis.
    count_include_pad
        Count zeros of the padding in the mean.

    >>> import pullback
    >>> pullback.nn.AvgPool1d(2)(pullback.tensor([[1.0, 3.0, 5.0, 7.0]]))
    tensor([[2., 6.]])
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("kernel_size", "stride", "padding"):
            setattr(self, name, per_axis(getattr(self, name), 1))


@declared(F.avg_pool2d, MEAN)
class AvgPool2d(_AvgPoolNd):
    """The mean of each window of (N, C, H, W) or (C, H, W).

    Arguments as for `AvgPool1d`.

    Parameters
    ----------
    divisor_override
        What sums are divided by; None for the number of elements.

    >>> import pullback
    >>> pullback.nn.AvgPool2d(2)(pullback.arange(8.0).reshape(1, 2, 4))
    tensor([[[2.5000, 4.5000]]])
    """

    divisor_override: int | None = None


@declared(F.avg_pool3d, MEAN)
class AvgPool3d(_AvgPoolNd):
    """The mean of each window of (N, C, D, H, W) or (C, D, H, W).

    Arguments as for `AvgPool2d`.

    >>> import pullback
    >>> pullback.nn.AvgPool3d(2)(pullback.ones(1, 2, 4, 4, 4)).shape
    pullback.Size([1, 2, 2, 2, 2])
    """

    divisor_override: int | None = None


@settings
class _LPPoolNd(Computed):
    """The norm of each window."""

    norm_type: float
    kernel_size: Sizes
    stride: Sizes | None = None
    ceil_mode: bool = False


@declared(F.lp_pool1d, NORM)
class LPPool1d(_LPPoolNd):
    """The norm of each window of (N, C, L) or (C, L).

    Parameters
    ----------
    norm_type
        The exponent of the norm.
    kernel_size
        The lengths of the window, one for all axes or one for each.
    stride
        The steps of the window, one for all axes or one for each; None for its lengths.
    ceil_mode
        Round the number of windows up, so that the last one may reach over the end.

    >>> import pullback
    >>> pullback.nn.LPPool1d(2, 2)(pullback.tensor([[3.0, 4.0, 0.0, 1.0]]))
    tensor([[5., 1.]])
    """


@declared(F.lp_pool2d, NORM)
class LPPool2d(_LPPoolNd):
    """The norm of each window of (N, C, H, W) or (C, H, W).

    Arguments as for `LPPool1d`.

    >>> import pullback
    >>> pullback.nn.LPPool2d(1, 2)(pullback.tensor([[[3.0, 4.0], [0.0, 1.0]]]))
    tensor([[[8.]]])
    """


@declared(F.lp_pool3d, NORM)
class LPPool3d(_LPPoolNd):
    """The norm of each window of (N, C, D, H, W) or (C, D, H, W).

    Arguments as for `LPPool1d`.

    >>> import pullback
    >>> pullback.nn.LPPool3d(1, 2)(pullback.ones(1, 2, 2, 2))
    tensor([[[[8.]]]])
    """


@settings
class _AdaptiveMaxPoolNd(Module):
    """The maxima of windows chosen to give an output of a given size."""

    output_size: int | Sequence[int | None] | None
    return_indices: bool = False


@settings
class _AdaptiveAvgPoolNd(Computed):
    """The means of windows chosen to give an output of a given size."""

    output_size: int | Sequence[int | None] | None


SIZE = "output_size={output_size}"


@declared(F.adaptive_max_pool1d, SIZE)
class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The maxima of windows of (N, C, L), one for each element of an output of the given size.

    Parameters
    ----------
    output_size
        The lengths of the result, one for all axes or one for each; None leaves an axis as it is.
    return_indices
        Return where the elements were, too, as numbers in the flattened last axes.

    >>> import pullback
    >>> pullback.nn.AdaptiveMaxPool1d(2)(pullback.tensor([[1.0, 4.0, 2.0, 3.0]]))
    tensor([[4., 3.]])
    """


@declared(F.adaptive_max_pool2d, SIZE)
class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The maxima of windows of (N, C, H, W), for an output of the given size; None keeps the size of an axis.

    Parameters
    ----------
    output_size
        The lengths of the result, one for all axes or one for each; None leaves an axis as it is.
    return_indices
        Return where the elements were, too, as numbers in the flattened last axes.

    >>> import pullback
    >>> pullback.nn.AdaptiveMaxPool2d((1, 2))(pullback.arange(8.0).reshape(1, 2, 4))
    tensor([[[5., 7.]]])
    """


@declared(F.adaptive_max_pool3d, SIZE)
class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The maxima of windows of (N, C, D, H, W), for an output of the given size; None keeps the size of an axis.

    Parameters
    ----------
    output_size
        The lengths of the result, one for all axes or one for each; None leaves an axis as it is.
    return_indices
        Return where the elements were, too, as numbers in the flattened last axes.

    >>> import pullback
    >>> pullback.nn.AdaptiveMaxPool3d((2, None, 1))(pullback.ones(1, 2, 4, 6, 8)).shape
    pullback.Size([1, 2, 2, 6, 1])
    """


@declared(F.adaptive_avg_pool1d, SIZE)
class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The means of windows of (N, C, L), one for each element of an output of the given size.

    Parameters
    ----------
    output_size
        The lengths of the result, one for all axes or one for each; None leaves an axis as it is.

    >>> import pullback
    >>> pullback.nn.AdaptiveAvgPool1d(2)(pullback.tensor([[1.0, 3.0, 5.0, 7.0]]))
    tensor([[2., 6.]])
    """


@declared(F.adaptive_avg_pool2d, SIZE)
class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The means of windows of (N, C, H, W), for an output of the given size; None keeps the size of an axis.

    Parameters
    ----------
    output_size
        The lengths of the result, one for all axes or one for each; None leaves an axis as it is.

    >>> import pullback
    >>> pullback.nn.AdaptiveAvgPool2d((1, 2))(pullback.arange(8.0).reshape(1, 2, 4))
    tensor([[[2.5000, 4.5000]]])
    """


@declared(F.adaptive_avg_pool3d, SIZE)
class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The means of windows of (N, C, D, H, W), for an output of the given size; None keeps the size of an axis.

    Parameters
    ----------
    output_size
        The lengths of the result, one for all axes or one for each; None leaves an axis as it is.

    >>> import pullback
    >>> pullback.nn.AdaptiveAvgPool3d((2, None, 1))(pullback.ones(1, 2, 4, 6, 8)).shape
    pullback.Size([1, 2, 2, 6, 1])
    """


@settings
class _FractionalMaxPool(Module):
    """The maxima of windows at random positions: Graham, Fractional max-pooling, 2014."""

    _axes: ClassVar[int]
    kernel_size: Sizes
    output_size: int | Sequence[int | None] | None = None
    output_ratio: float | Sequence[float] | None = None
    return_indices: bool = False
    _random_samples: Tensor | None = None

    def __post_init__(self) -> None:
        given = self.__dict__.pop("_random_samples")
        Module.__init__(self)
        self.register_buffer("_random_samples", given)
        check_sizes(self, 1, kernel_size=self.kernel_size)
        name = type(self).__name__
        if self.output_size is None and self.output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if self.output_size is not None and self.output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified: both are given")
        for setting in ("kernel_size", "output_size", "output_ratio"):
            value = getattr(self, setting)
            setattr(self, setting, None if value is None else per_axis(value, self._axes))
        if self.output_ratio is not None and not all(
            0 < ratio < 1 for ratio in per_axis(self.output_ratio, self._axes)
        ):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {self.output_ratio})")


@declared(F.fractional_max_pool2d, shows="")
class FractionalMaxPool2d(_FractionalMaxPool):
    """The maxima of windows of images at random positions, for an output of the given size or ratio.

    Parameters
    ----------
    kernel_size
        The lengths of the window, one for all axes or one for each.
    output_size
        The lengths of the result, one for all axes or one for each; None leaves an axis as it is.
    output_ratio
        The lengths of the result as shares of those of the input, in the place of `output_size`.
    return_indices
        Return where the elements were, too, as numbers in the flattened last axes.

    >>> import pullback
    >>> pullback.nn.FractionalMaxPool2d(2, output_size=3)(pullback.ones(1, 5, 5)).shape
    pullback.Size([1, 3, 3])
    """

    _axes = 2


@declared(F.fractional_max_pool3d, shows="")
class FractionalMaxPool3d(_FractionalMaxPool):
    """The maxima of windows of volumes at random positions, for an output of the given size or ratio.

    Arguments as for `FractionalMaxPool2d`.

    >>> import pullback
    >>> pullback.nn.FractionalMaxPool3d(2, output_ratio=0.6)(pullback.ones(1, 5, 5, 5)).shape
    pullback.Size([1, 3, 3, 3])
    """

    _axes = 3
