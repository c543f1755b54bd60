"""What the namespace says about itself: dtypes, devices and abilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._core import dtypes, placement
from . import kinds

if TYPE_CHECKING:
    from .._core.typing import Device

MAX_DIMENSIONS = 32 if np.lib.NumpyVersion(np.__version__) < "2.0.0" else 64
STANDARD = [each for each in dtypes.DTYPES if each is not dtypes.float16]


class Inspection:
    """What the namespace offers: see the array API standard."""

    def capabilities(self) -> dict[str, bool | int]:
        """What the standard leaves to a library: masks as indices, shapes that depend on values, and the most axes.

        >>> from pullback import array_api as xp
        >>> xp.__array_namespace_info__().capabilities()
        {'boolean indexing': True, 'data-dependent shapes': True, 'max dimensions': 64}
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": MAX_DIMENSIONS}

    def default_device(self) -> placement.device:
        """The device of new tensors: the CPU."""
        return placement.CPU

    def devices(self) -> tuple[placement.device, ...]:
        """All devices: the CPU."""
        return (placement.CPU,)

    def default_dtypes(self, *, device: Device | None = None) -> dict[str, dtypes.dtype]:
        """The dtypes of new tensors of real and complex numbers and of integers, and of indices."""
        placement.accept("default_dtypes", {"device": device})
        return {
            "real floating": dtypes.float64, "complex floating": dtypes.complex128, "integral": dtypes.int64,
            "indexing": dtypes.int64,
        }  # fmt: skip

    def dtypes(
        self, *, device: Device | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, dtypes.dtype]:
        """The dtypes of the standard, or those of some kinds, by their names.

        >>> from pullback import array_api as xp
        >>> xp.__array_namespace_info__().dtypes(kind="complex floating")
        {'complex64': pullback.complex64, 'complex128': pullback.complex128}
        """
        placement.accept("dtypes", {"device": device})
        return {each.name: each for each in STANDARD if kind is None or kinds.isdtype(each, kind)}


def __array_namespace_info__() -> Inspection:  # noqa: N807  # the standard's name
    """An object that says which dtypes, devices and abilities the namespace has.

    >>> from pullback import array_api as xp
    >>> xp.__array_namespace_info__().default_dtypes()["real floating"]
    pullback.float64
    """
    return Inspection()
