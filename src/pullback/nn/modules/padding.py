"""Padding at the ends of the last axes, by nn.functional.pad."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from .. import functional as F
from .declared import per_axis
from .module import Module

if TYPE_CHECKING:
    from ..._core.typing import Sizes, Tensor


class _Padding(Module):
    """Padding of some last axes, with widths before and after each, starting with the last axis."""

    _axes: ClassVar[int]
    _mode: ClassVar[str]

    def __init__(self, padding: Sizes) -> None:
        super().__init__()
        self.padding = per_axis(padding, 2 * self._axes)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_Padding):
    """Padding with one value."""

    _mode = "constant"

    def __init__(self, padding: Sizes, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode, self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """Values before and after the last axis: `padding` is a number, or one for each end.

    Parameters
    ----------
    padding
        How much is put at each end: one number, or one for each end, the last axis first.
    value
        What is put there.

    >>> import pullback
    >>> pullback.nn.ConstantPad1d((2, 1), 7.0)(pullback.tensor([[1.0, 2.0]]))
    tensor([[7., 7., 1., 2., 7.]])
    """

    _axes = 1


class ConstantPad2d(_ConstantPadNd):
    """Values around the last two axes: `padding` is a number, or (left, right, top, bottom).

    Parameters
    ----------
    padding
        How much is put at each end: one number, or one for each end, the last axis first.
    value
        What is put there.

    >>> import pullback
    >>> pullback.nn.ConstantPad2d((1, 0, 0, 0), 7.0)(pullback.zeros(1, 2, 2))
    tensor([[[7., 0., 0.],
             [7., 0., 0.]]])
    """

    _axes = 2


class ConstantPad3d(_ConstantPadNd):
    """Values around the last three axes: `padding` is a number, or (left, right, top, bottom, front, back).

    Parameters
    ----------
    padding
        How much is put at each end: one number, or one for each end, the last axis first.
    value
        What is put there.

    >>> import pullback
    >>> pullback.nn.ConstantPad3d((1, 0, 0, 0, 0, 2), 7.0)(pullback.ones(1, 2, 2, 2)).shape
    pullback.Size([1, 4, 2, 3])
    """

    _axes = 3


class _ZeroPadNd(_ConstantPadNd):
    """Padding with zeros."""

    def __init__(self, padding: Sizes) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPadNd, ConstantPad1d):
    """Zeros before and after the last axis.

    Parameters
    ----------
    padding
        How much is put at each end: one number, or one for each end, the last axis first.

    >>> import pullback
    >>> pullback.nn.ZeroPad1d((2, 1))(pullback.tensor([[1.0, 2.0]]))
    tensor([[0., 0., 1., 2., 0.]])
    """


class ZeroPad2d(_ZeroPadNd, ConstantPad2d):
    """Zeros around the last two axes.

    Parameters
    ----------
    padding
        How much is put at each end: one number, or one for each end, the last axis first.

    >>> import pullback
    >>> pullback.nn.ZeroPad2d((1, 0, 0, 0))(pullback.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
    tensor([[[0., 1., 2.],
             [0., 3., 4.]]])
    """


class ZeroPad3d(_ZeroPadNd, ConstantPad3d):
    """Zeros around the last three axes.

    Parameters
    ----------
    padding
        How much is put at each end: one number, or one for each end, the last axis first.

    >>> import pullback
    >>> pullback.nn.ZeroPad3d(1)(pullback.ones(1, 2, 2, 2)).shape
    pullback.Size([1, 4, 4, 4])
    """


class _ReflectionPadNd(_Padding):
    """Padding by reflection at the border, without repeating it."""

    _mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """A reflection before and after the last axis.

    Parameters
    ----------
    padding
        How much is put at each end: one number, or one for each end, the last axis first.

    >>> import pullback
    >>> pullback.nn.ReflectionPad1d(2)(pullback.tensor([[1.0, 2.0, 3.0]]))
    tensor([[3., 2., 1., 2., 3., 2., 1.]])
    """

    _axes = 1


class ReflectionPad2d(_ReflectionPadNd):
    """A reflection around the last two axes.

    Parameters
    ----------
    padding
        How much is put at each end: one number, or one for each end, the last axis first.

    >>> import pullback
    >>> pullback.nn.ReflectionPad2d((1, 0, 0, 0))(pullback.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
    tensor([[[2., 1., 2.],
             [4., 3., 4.]]])
    """

    _axes = 2


class ReflectionPad3d(_ReflectionPadNd):
    """A reflection around the last three axes.

    Parameters
    ----------
    padding
        How much is put at each end: one number, or one for each end, the last axis first.

    >>> import pullback
    >>> pullback.nn.ReflectionPad3d(1)(pullback.ones(1, 2, 2, 2)).shape
    pullback.Size([1, 4, 4, 4])
    """

    _axes = 3


class _ReplicationPadNd(_Padding):
    """Padding by repeating the border."""

    _mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """The border repeated before and after the last axis.

    Parameters
    ----------
    padding
        How much is put at each end: one number, or one for each end, the last axis first.

    >>> import pullback
    >>> pullback.nn.ReplicationPad1d((2, 1))(pullback.tensor([[1.0, 2.0, 3.0]]))
    tensor([[1., 1., 1., 2., 3., 3.]])
    """

    _axes = 1


class ReplicationPad2d(_ReplicationPadNd):
    """The border repeated around the last two axes.

    Parameters
    ----------
    padding
        How much is put at each end: one number, or one for each end, the last axis first.

    >>> import pullback
    >>> pullback.nn.ReplicationPad2d((1, 0, 0, 0))(pullback.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
    tensor([[[1., 1., 2.],
             [3., 3., 4.]]])
    """

    _axes = 2


class ReplicationPad3d(_ReplicationPadNd):
    """The border repeated around the last three axes.

    Parameters
    ----------
    padding
        How much is put at each end: one number, or one for each end, the last axis first.

    >>> import pullback
    >>> pullback.nn.ReplicationPad3d(1)(pullback.ones(1, 2, 2, 2)).shape
    pullback.Size([1, 4, 4, 4])
    """

    _axes = 3


class _CircularPadNd(_Padding):
    """Padding by wrapping around to the other end."""

    _mode = "circular"


class CircularPad1d(_CircularPadNd):
    """Wrapped elements before and after the last axis.

    Parameters
    ----------
    padding
        How much is put at each end: one number, or one for each end, the last axis first.

    >>> import pullback
    >>> pullback.nn.CircularPad1d((2, 1))(pullback.tensor([[1.0, 2.0, 3.0]]))
    tensor([[2., 3., 1., 2., 3., 1.]])
    """

    _axes = 1


class CircularPad2d(_CircularPadNd):
    """Wrapped elements around the last two axes.

    Parameters
    ----------
    padding
        How much is put at each end: one number, or one for each end, the last axis first.

    >>> import pullback
    >>> pullback.nn.CircularPad2d((1, 0, 0, 0))(pullback.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
    tensor([[[2., 1., 2.],
             [4., 3., 4.]]])
    """

    _axes = 2


class CircularPad3d(_CircularPadNd):
    """Wrapped elements around the last three axes.

    Parameters
    ----------
    padding
        How much is put at each end: one number, or one for each end, the last axis first.

    >>> import pullback
    >>> pullback.nn.CircularPad3d(1)(pullback.ones(1, 2, 2, 2)).shape
    pullback.Size([1, 4, 4, 4])
    """

    _axes = 3
