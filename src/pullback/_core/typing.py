"""The types of what operations take and give, for annotations.

Only type checkers read them: a module imports them under `if TYPE_CHECKING`, and its annotations are text, by `from
__future__ import annotations`. `Tensor` also stands for the values that take its place inside a transform.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, ParamSpec, Protocol, TypeAlias, TypedDict, TypeVar

    import numpy as np

    from .._numerics.random import Generator as Generator
    from .._tape.seeds import GradientEdge
    from .._tensor.attributes import Attributes
    from .._tensor.tensor import Tensor as Tensor
    from .dtypes import dtype
    from .placement import memory_format
    from .primitives import Function

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
    Number: TypeAlias = bool | int | float | complex
    TensorLike: TypeAlias = Tensor | Array | np.generic | Number
    DType: TypeAlias = dtype | np.dtype[Any] | type[Any] | str
    Dim: TypeAlias = int | Sequence[int] | None
    Sizes: TypeAlias = int | Sequence[int]
    Value: TypeAlias = Tensor | Array
    Tensors: TypeAlias = Tensor | tuple[Tensor, ...]
    Target: TypeAlias = Tensor | GradientEdge
    Targets: TypeAlias = Target | Iterable[Target]
    Result: TypeAlias = Value | tuple[Value, ...]
    Params: TypeAlias = dict[str, Any]
    Device: TypeAlias = str | int | None
    MemoryFormat: TypeAlias = memory_format
    Converted = TypeVar("Converted", bound=complex)
    Given = ParamSpec("Given")
    Returned = TypeVar("Returned")
    Aliased = TypeVar("Aliased", bound=Attributes)
    Summed = TypeVar("Summed", bound=Value)

    class Namespace(Protocol):
        """What `xp` is: functions of arrays, or of tensors, by name."""

        def __getattr__(self, name: str) -> Callable[..., Any]: ...

    class Saved(Protocol):
        """Where a graph keeps a value."""

        @property
        def array(self) -> Any: ...

    class Options(TypedDict, total=False):
        """What primitives of most kinds can be given, with the defaults that `Primitive` has."""

        title: str | Callable[..., str] | None
        complex: str
        halves: str
        push: Function | None
        view: bool
        definition: Function | None
        commutes: bool
        cost: int | None
