"""The types of what operations take and give, for annotations.

Only type checkers read them: a module imports them under `if TYPE_CHECKING`, and its annotations are text, by `from
__future__ import annotations`. `Tensor` also stands for the values that take its place inside a transform.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol, TypeAlias

    import numpy as np
    import numpy.typing as npt

    from .._numerics.random import Generator as Generator
    from .._tensor.tensor import Tensor as Tensor
    from .dtypes import dtype
    from .placement import device

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
    Number: TypeAlias = bool | int | float | complex
    TensorLike: TypeAlias = Tensor | Array | np.generic | Number
    ArrayLike: TypeAlias = Tensor | npt.ArrayLike
    DType: TypeAlias = dtype | np.dtype[Any] | type[Any] | str
    Device: TypeAlias = device | str
    Dim: TypeAlias = int | Sequence[int] | None
    Sizes: TypeAlias = int | Sequence[int]

    class SupportsDLPack(Protocol):
        """What gives its memory by DLPack: an array of another library, or a tensor."""

        def __dlpack__(self, /, *, stream: None = None) -> Any: ...
