"""The types of what operations take and give, for annotations.

Only type checkers read them: a module imports them under `if TYPE_CHECKING`, and its annotations are text, by `from
__future__ import annotations`. `Tensor` also stands for the values that take its place inside a transform.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol, TypeAlias

    import numpy as np

    from .._numerics.random import Generator as Generator
    from .._tensor.tensor import Tensor as Tensor
    from .dtypes import dtype
    from .placement import device

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
    Number: TypeAlias = bool | int | float | complex
    TensorLike: TypeAlias = Tensor | Array | np.generic | Number
    DType: TypeAlias = dtype | np.dtype[Any] | type[Any] | str
    Dim: TypeAlias = int | Sequence[int] | None
    Sizes: TypeAlias = int | Sequence[int]
    Device: TypeAlias = device | str | int

    class Namespace(Protocol):
        """The functions of arrays under NumPy's names, by which a formula computes: of arrays, tensors, or a compiler."""

        def __getattr__(self, name: str) -> Callable[..., Any]: ...
