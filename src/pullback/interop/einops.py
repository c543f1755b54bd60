"""einops on tensors: a backend with which its functions take tensors, and gradients pass through."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from .._core.primitives import Carrier
from .._tensor.creation import from_numpy
from ..array_api.creation import arange

if TYPE_CHECKING:
    from .._core.typing import Array, Tensor

__all__ = ["enable"]


_registered: list[type] = []  # einops looks through the subclasses of its own class, which do not keep them alive


class _Backend:
    """What einops asks of a library, by functions of NumPy that take tensors."""

    framework_name = "pullback"
    arange = staticmethod(arange)
    concat = staticmethod(np.concatenate)
    einsum = staticmethod(np.einsum)
    from_numpy = staticmethod(from_numpy)
    stack_on_zeroth_dimension = staticmethod(np.stack)
    tile = staticmethod(np.tile)
    transpose = staticmethod(np.transpose)

    def is_appropriate_type(self, tensor: object) -> bool:
        return isinstance(tensor, Carrier)

    def to_numpy(self, x: Tensor) -> Array:
        return x.numpy(force=True)

    def reduce(self, x: Tensor, operation: str, axes: Iterable[int]) -> Tensor:
        return getattr(np, operation)(x, axis=tuple(axes))

    def add_axis(self, x: Tensor, new_position: int) -> Tensor:
        return x.unsqueeze(new_position)

    def is_float_type(self, x: Tensor) -> bool:
        return bool(x.dtype.is_floating_point)


def enable() -> None:
    """Make functions of einops take tensors, in this process from now on; calling it again changes nothing.

    Raises
    ------
    ImportError
        If einops is not installed.

    Examples
    --------
    At the top of a program::

        import einops
        import pullback
        import pullback.interop.einops

        pullback.interop.einops.enable()
        x = pullback.ones(2, 6, requires_grad=True)
        einops.rearrange(x, "b (h w) -> b h w", h=2).shape  # pullback.Size([2, 2, 3])
    """
    abstract = import_module("einops._backends").AbstractBackend
    if _Backend.framework_name not in {known.framework_name for known in abstract.__subclasses__()}:
        _registered.append(type("PullbackBackend", (_Backend, abstract), {}))
