"""torch.utils.dlpack: capsules, which pass a tensor's memory to another library once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ... import from_dlpack as _from_dlpack

if TYPE_CHECKING:
    from ..._core.typing import Device, Tensor


_WRITABLE: dict[str, Any] = {"max_version": (1, 0)} if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else {}
"""The DLPack version requested from NumPy: an older capsule cannot mark memory as writable, and is copied."""


class _Given:
    """A capsule wrapped in an object with `__dlpack__`, as NumPy requires."""

    def __init__(self, capsule: object) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: object) -> object:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # the CPU


def to_dlpack(tensor: Tensor) -> object:
    """A capsule of a tensor's memory, to be consumed by one library.

    >>> import pullback
    >>> from pullback.compat.torch.exchange import from_dlpack, to_dlpack
    >>> from_dlpack(to_dlpack(pullback.ones(2)))
    tensor([1., 1.])
    """
    return tensor.__dlpack__(**_WRITABLE)


def from_dlpack(ext_tensor: Any, *, device: Device | None = None, copy: bool | None = None) -> Tensor:
    """`pullback.from_dlpack`, which also accepts a capsule."""
    given = _Given(ext_tensor) if type(ext_tensor).__name__ == "PyCapsule" else ext_tensor
    return _from_dlpack(given, device=device, copy=copy)
