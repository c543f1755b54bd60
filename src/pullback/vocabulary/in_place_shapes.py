"""In-place changes of axes and sizes: `transpose_`, `squeeze_`, `resize_` and others."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._core import errors, placement
from .._core.shapes import parse_sizes
from .._core.sites import named
from .._core.values import require_tensor
from .._tape.memory import written
from .._tape.views import become, remake
from . import in_place_text, rearranging, shapes

if TYPE_CHECKING:
    from .._core.typing import Sizes, Tensor


def _turned(view: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The in-place form of a view function: it replaces the tensor's shape and strides."""
    name = f"{view.__name__}_"

    def method(self: Tensor, *args: Any, **options: Any) -> Tensor:
        return become(self, lambda before: view(before, *args, **options), name)

    return named(name, method, in_place_text(view))


t_ = _turned(shapes.t)
transpose_ = _turned(shapes.transpose)
swapaxes_ = _turned(shapes.swapaxes)
swapdims_ = _turned(shapes.swapdims)
squeeze_ = _turned(shapes.squeeze)
unsqueeze_ = _turned(shapes.unsqueeze)
as_strided_ = _turned(rearranging.as_strided)


def resize_(self: Tensor, *sizes: Sizes, size: Sizes | None = None, memory_format: object = None) -> Tensor:
    """In place: another shape for the elements, in memory order; elements that are added are not initialized.

    If the tensor grows it gets new memory; tensors that shared the old memory keep it.

    >>> import pullback
    >>> pullback.arange(4).resize_(3)
    tensor([0, 1, 2])
    """
    placement.accept("resize_", {"memory_format": memory_format})
    shape = parse_sizes(sizes if size is None else (size,), "resize_")
    if any(length < 0 for length in shape):
        raise RuntimeError(f"Trying to create tensor with negative dimension: {list(shape)}")
    if math.prod(shape) * self.itemsize >= 1 << 63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}")
    if self.requires_grad:
        raise RuntimeError(f"cannot resize variables that require grad: this is a {errors.kind(self)}")
    if shape != tuple(self.shape):
        remake(self, shape)
        written(self)
    return self


def resize_as_(self: Tensor, the_template: Tensor, *, memory_format: object = None) -> Tensor:
    """In place: `resize_` to the shape of another tensor.

    Parameters
    ----------
    the_template
        The tensor whose shape it gets.

    >>> import pullback
    >>> pullback.arange(4).resize_as_(pullback.zeros(3))
    tensor([0, 1, 2])
    """
    require_tensor("resize_as_", "the_template", the_template)
    return resize_(self, tuple(the_template.shape), memory_format=memory_format)
