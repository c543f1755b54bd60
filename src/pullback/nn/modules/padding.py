"""Padding at the ends of the last axes, by nn.functional.pad."""

from typing import Any, ClassVar

from .. import functional as F
from .declared import per_axis
from .module import Module


class _Padding(Module):
    """Padding of some last axes, with widths before and after each, starting with the last axis."""

    _axes: ClassVar[int]
    _mode: ClassVar[str]

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = per_axis(padding, 2 * self._axes)

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_Padding):
    """Padding with one value."""

    _mode = "constant"

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, self._mode, self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """Values before and after the last axis: `padding` is a number, or one for each end."""

    _axes = 1


class ConstantPad2d(_ConstantPadNd):
    """Values around the last two axes: `padding` is a number, or (left, right, top, bottom).

    >>> import pullback
    >>> pullback.nn.ConstantPad2d((1, 0, 0, 0), 7.0)(pullback.zeros(1, 2, 2))
    tensor([[[7., 0., 0.],
             [7., 0., 0.]]])
    """

    _axes = 2


class ConstantPad3d(_ConstantPadNd):
    """Values around the last three axes: `padding` is a number, or (left, right, top, bottom, front, back)."""

    _axes = 3


class _ZeroPadNd(_ConstantPadNd):
    """Padding with zeros."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPadNd, ConstantPad1d):
    """Zeros before and after the last axis."""


class ZeroPad2d(_ZeroPadNd, ConstantPad2d):
    """Zeros around the last two axes."""


class ZeroPad3d(_ZeroPadNd, ConstantPad3d):
    """Zeros around the last three axes."""


class _ReflectionPadNd(_Padding):
    """Padding by reflection at the border, without repeating it."""

    _mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """A reflection before and after the last axis."""

    _axes = 1


class ReflectionPad2d(_ReflectionPadNd):
    """A reflection around the last two axes."""

    _axes = 2


class ReflectionPad3d(_ReflectionPadNd):
    """A reflection around the last three axes."""

    _axes = 3


class _ReplicationPadNd(_Padding):
    """Padding by repeating the border."""

    _mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """The border repeated before and after the last axis."""

    _axes = 1


class ReplicationPad2d(_ReplicationPadNd):
    """The border repeated around the last two axes."""

    _axes = 2


class ReplicationPad3d(_ReplicationPadNd):
    """The border repeated around the last three axes."""

    _axes = 3


class _CircularPadNd(_Padding):
    """Padding by wrapping around to the other end."""

    _mode = "circular"


class CircularPad1d(_CircularPadNd):
    """Wrapped elements before and after the last axis."""

    _axes = 1


class CircularPad2d(_CircularPadNd):
    """Wrapped elements around the last two axes."""

    _axes = 2


class CircularPad3d(_CircularPadNd):
    """Wrapped elements around the last three axes."""

    _axes = 3
