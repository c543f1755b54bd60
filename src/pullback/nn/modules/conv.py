"""Convolutions and transposed convolutions over one, two and three axes.

Weights and biases start uniformly distributed between -b and b, where 1 / b**2 is the number of inputs of each output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from .. import functional as F
from ..init import _calculate_fan_in_and_fan_out
from ..parameter import Parameter, allocate, check_sizes
from .declared import per_axis
from .linear import evenly
from .module import Module

if TYPE_CHECKING:
    from ..._core.typing import Device, DType, Sizes, Tensor

PADDING_MODES = ("zeros", "reflect", "replicate", "circular")
PADDINGS = ("same", "valid")


class _ConvNd(Module):
    """The common base of all convolutions: their settings and weights."""

    _axes: ClassVar[int]
    _function: ClassVar[Callable[..., Tensor]]
    padding: Any  # a size for each axis, or a name
    weight: Parameter
    bias: Parameter | None
    transposed: ClassVar[bool] = False

    def _set(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes,
        padding: Sizes | str,
        dilation: Sizes,
        output_padding: Sizes,
        groups: int,
        padding_mode: str,
    ) -> None:
        """Set the settings, one for each axis."""
        check_sizes(self, in_channels=in_channels, out_channels=out_channels, kernel_size=kernel_size, groups=groups)
        check_sizes(self, 1, stride=stride, dilation=dilation)
        check_sizes(self, padding=() if isinstance(padding, str) else padding, output_padding=output_padding)
        if groups <= 0:
            raise ValueError(f"groups must be a positive integer: got {groups}")
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ValueError(f"{name} must be divisible by groups: got {channels} and {groups}")
        if isinstance(padding, str):
            if padding not in PADDINGS:
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {', '.join(PADDINGS)}")
            if padding == "same" and any(step != 1 for step in per_axis(stride, self._axes)):
                raise ValueError(f"padding='same' is not supported for strided convolutions: stride is {stride}")
        if padding_mode not in PADDING_MODES:
            raise ValueError(f"padding_mode must be one of {set(PADDING_MODES)}, but got padding_mode='{padding_mode}'")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = per_axis(kernel_size, self._axes)
        self.stride = per_axis(stride, self._axes)
        self.padding = padding if isinstance(padding, str) else per_axis(padding, self._axes)
        self.dilation = per_axis(dilation, self._axes)
        self.output_padding = per_axis(output_padding, self._axes)
        self.groups = groups
        self.padding_mode = padding_mode

    def _weight_shape(self) -> tuple[int, ...]:
        """The shape of the weight: channels, those of one group, and the sizes of the kernel."""
        ends = (self.in_channels, self.out_channels) if self.transposed else (self.out_channels, self.in_channels)
        return (ends[0], ends[1] // self.groups, *self.kernel_size)

    def _weigh(self, bias: bool, device: Device | None, dtype: DType | None) -> None:
        """Create the weights."""
        self.weight = allocate(*self._weight_shape(), device=device, dtype=dtype)
        self.register_parameter("bias", allocate(self.out_channels, device=device, dtype=dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset to new random weights."""
        evenly(self.weight, self.bias, fan_in=_calculate_fan_in_and_fan_out(self.weight)[0])

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        for name, usual in (("padding", 0), ("dilation", 1), ("output_padding", 0)):
            value = getattr(self, name)
            if value != (usual,) * len(value):
                text += f", {name}={value}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


class _Convolution(_ConvNd):
    """A convolution over the number of axes of its class."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes | str = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self._set(in_channels, out_channels, kernel_size, stride, padding, dilation, 0, groups, padding_mode)
        self._reversed_padding_repeated_twice = self._margins()
        self._weigh(bias, device, dtype)

    def _margins(self) -> list[int]:
        """The padding before and after each axis, the last axis first, as `nn.functional.pad` takes it."""
        if self.padding == "valid":
            return [0] * (2 * self._axes)
        if self.padding == "same":
            totals = [step * (size - 1) for step, size in zip(self.dilation, self.kernel_size, strict=True)]
            return [part for total in reversed(totals) for part in (total // 2, total - total // 2)]
        return [size for size in reversed(self.padding) for _ in range(2)]

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = 0
        return type(self)._function(input, weight, bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_Convolution):
    """A convolution of (N, C, L), or of one sample without N, with kernels that are learned.

    Parameters
    ----------
    in_channels
        The number of channels of the input.
    out_channels
        The number of channels of the result.
    kernel_size, stride, dilation
        An integer, or one for each axis.
    padding
        The same, or 'valid' (none) or 'same' (the output is as long as the input).
    groups
        The number of groups of channels, each of which has its own kernels.
    bias
        Whether to add a constant to each output channel.
    padding_mode
        'zeros', 'reflect', 'replicate' or 'circular'.
    device
        Where the parameters lie; there is only the CPU.
    dtype
        The dtype of the parameters; None for the default.

    Raises
    ------
    ValueError
        If the channels are not divisible by the groups, or a padding is unknown.

    >>> import pullback
    >>> pullback.nn.Conv1d(16, 33, 3, stride=2)(pullback.randn(20, 16, 50)).shape
    pullback.Size([20, 33, 24])
    """

    _axes = 1
    _function = staticmethod(F.conv1d)


class Conv2d(_Convolution):
    """A convolution of images (N, C, H, W), or of one, with kernels that are learned; arguments as for `Conv1d`.

    >>> import pullback
    >>> conv = pullback.nn.Conv2d(3, 8, kernel_size=3, padding=1)
    >>> conv(pullback.randn(5, 3, 16, 16)).shape
    pullback.Size([5, 8, 16, 16])
    """

    _axes = 2
    _function = staticmethod(F.conv2d)


class Conv3d(_Convolution):
    """A convolution of (N, C, D, H, W), or of one sample, with kernels that are learned; arguments as for `Conv1d`.

    >>> import pullback
    >>> layer = pullback.nn.Conv3d(2, 4, kernel_size=3, padding=1)
    >>> layer(pullback.ones(1, 2, 5, 5, 5)).shape, layer.weight.shape
    (pullback.Size([1, 4, 5, 5, 5]), pullback.Size([4, 2, 3, 3, 3]))
    """

    _axes = 3
    _function = staticmethod(F.conv3d)


class _ConvTransposeNd(_ConvNd):
    """The transpose of a convolution: its vector-Jacobian product."""

    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        self._set(
            in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding, groups, padding_mode
        )
        self._weigh(bias, device, dtype)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        added = self.output_padding if output_size is None else self._output_padding(input, list(output_size))
        return type(self)._function(
            input, self.weight, self.bias, self.stride, self.padding, added, self.groups, self.dilation
        )

    def _output_padding(self, input: Tensor, output_size: list[int]) -> list[int]:
        """The padding at the end of each axis with which the output has the requested size."""
        axes = self._axes
        before = 2 if input.ndim == axes + 2 else 1
        if len(output_size) == before + axes:
            output_size = output_size[before:]
        if len(output_size) != axes:
            raise ValueError(
                f"ConvTranspose{axes}D: for {input.ndim}D input, output_size must have {axes} or {before + axes} elements "
                f"(got {len(output_size)})"
            )
        settings = zip(input.shape[before:], self.stride, self.padding, self.dilation, self.kernel_size, strict=True)
        least = [(n - 1) * step - 2 * pad + gap * (size - 1) + 1 for n, step, pad, gap, size in settings]
        most = [size + step - 1 for size, step in zip(least, self.stride, strict=True)]
        if any(not low <= size <= high for low, size, high in zip(least, output_size, most, strict=True)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {least} to {most} (for an input "
                f"of {tuple(input.shape[before:])})"
            )
        return [size - low for size, low in zip(output_size, least, strict=True)]


class ConvTranspose1d(_ConvTransposeNd):
    """The transpose of a convolution of (N, C, L): longer outputs from shorter inputs.

    `output_padding`, or `output_size` in the call, chooses among the lengths that a strided convolution maps to the
    input's; the other arguments are those of `Conv1d`.

    Parameters
    ----------
    padding
        How much is left out at both ends of each axis of the result.
    output_padding
        How much longer the result is at one end: several lengths would give the same input.

    >>> import pullback
    >>> pullback.nn.ConvTranspose1d(4, 2, 3, stride=2)(pullback.randn(5, 4, 10)).shape
    pullback.Size([5, 2, 21])
    """

    _axes = 1
    _function = staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTransposeNd):
    """The transpose of a convolution of images (N, C, H, W); arguments as for `ConvTranspose1d`.

    >>> import pullback
    >>> pullback.nn.ConvTranspose2d(3, 6, kernel_size=2, stride=2)(pullback.ones(1, 3, 4, 4)).shape
    pullback.Size([1, 6, 8, 8])
    """

    _axes = 2
    _function = staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTransposeNd):
    """The transpose of a convolution of (N, C, D, H, W); arguments as for `ConvTranspose1d`.

    >>> import pullback
    >>> pullback.nn.ConvTranspose3d(3, 6, kernel_size=2, stride=2)(pullback.ones(1, 3, 4, 4, 4)).shape
    pullback.Size([1, 6, 8, 8, 8])
    """

    _axes = 3
    _function = staticmethod(F.conv_transpose3d)
