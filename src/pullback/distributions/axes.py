"""Transforms of what forms one value: more axes, or another shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import Size
from . import constraints
from .distribution import derived, summed
from .transforms import Transform

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.shapes import Shape
    from .._core.typing import Tensor
    from .constraints import Constraint


class IndependentTransform(Transform):
    """Another transform with additional batch axes that become part of one value."""

    base_transform: Transform

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def domain(self) -> Constraint:
        """The set of arguments."""
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @property
    def codomain(self) -> Constraint:
        """The set of values."""
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @derived
    def bijective(self) -> bool:
        """True if the inverse gives the argument back."""
        return self.base_transform.bijective

    @property
    def sign(self) -> Tensor | int:
        """1 if it grows with its argument, -1 if it falls."""
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Tensor:
        if x.ndim < self.domain.event_dim:
            raise ValueError(f"Too few dimensions on input: {x.ndim}, and at least {self.domain.event_dim} are needed")
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        if y.ndim < self.codomain.event_dim:
            raise ValueError(
                f"Too few dimensions on input: {y.ndim}, and at least {self.codomain.event_dim} are needed"
            )
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |det dy/dx| at the argument x, with the value y."""
        return summed(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Shape) -> Shape:
        """The shape of the value, given that of the argument."""
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Shape) -> Shape:
        """The shape of the argument, given that of the value."""
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """The same numbers in another shape: of `in_shape` before, of `out_shape` after.

    Raises
    ------
    ValueError
        If the two have other numbers of elements.

    >>> import pullback
    >>> pullback.distributions.ReshapeTransform((4,), (2, 2))(pullback.ones(5, 4)).shape
    pullback.Size([5, 2, 2])
    """

    bijective = True
    in_shape: Size
    out_shape: Size

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError(f"in_shape, out_shape have different numbers of elements: {in_shape} and {out_shape}")

    @property
    def domain(self) -> Constraint:
        """The set of arguments."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self) -> Constraint:
        """The set of values."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(self.forward_shape(x.shape))

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(self.inverse_shape(y.shape))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Zeros: volumes do not change."""
        return x.new_zeros(x.shape[: x.ndim - len(self.in_shape)])

    def forward_shape(self, shape: Shape) -> Shape:
        """The shape of the value, given that of the argument."""
        return _replaced(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Shape) -> Shape:
        """The shape of the argument, given that of the value."""
        return _replaced(shape, self.out_shape, self.in_shape)


def _replaced(shape: Shape, old: Size, new: Size) -> Size:
    """A shape whose last axes `old` are replaced by `new`."""
    if len(shape) < len(old):
        raise ValueError(f"Too few dimensions on input: the shape {tuple(shape)} does not end with {tuple(old)}")
    cut = len(shape) - len(old)
    if tuple(shape[cut:]) != tuple(old):
        raise ValueError(f"Shape mismatch: expected {tuple(shape[cut:])} but got {tuple(old)}")
    return Size(shape[:cut]) + new
