"""The types of what operations take and give, for annotations.

Only type checkers read them: a module imports them under `if TYPE_CHECKING`, and its annotations are text, by `from
__future__ import annotations`. `Tensor` also stands for the values that take its place inside a transform.

In `ops`, functions that compute with NumPy take and give `Array`, by which the scalars that NumPy makes of arrays without
axes are meant as well. Rules and definitions take and give `Tensor`: they use its methods and operators, and the functions
of `xp`, which are `Operations`, and are run on arrays too. What both call takes and gives `Same`. Metadata have types of
their own. The formulas of `_numerics`, which are of arrays and of IR values, take and give `Numeric`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import EllipsisType
    from typing import Any, ParamSpec, Protocol, TypeAlias, TypedDict, TypeVar

    import numpy as np
    import numpy.typing as npt

    from .._numerics.random import Generator as Generator
    from .._tape.seeds import GradientEdge
    from .._tensor.attributes import Attributes
    from .._tensor.tensor import Tensor as Tensor
    from ..compile.mathematics.lanes import IRValue
    from ..ops.namespace import Operations as Operations
    from .dtypes import NumpyType as NumpyType, dtype
    from .placement import device, memory_format
    from .primitives import Function as Function, Primitive as Primitive
    from .xp import _Marker

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
    Number: TypeAlias = bool | int | float | complex
    TensorLike: TypeAlias = Tensor | Array | np.generic | Number
    ArrayLike: TypeAlias = Tensor | npt.ArrayLike
    DType: TypeAlias = dtype | np.dtype[Any] | type[Any] | str
    Dim: TypeAlias = int | Sequence[int] | None
    Sizes: TypeAlias = int | Sequence[int]
    Device: TypeAlias = device | str | int
    Tensors: TypeAlias = Tensor | tuple[Tensor, ...]
    Target: TypeAlias = Tensor | GradientEdge
    Targets: TypeAlias = Target | Iterable[Target]
    MemoryFormat: TypeAlias = memory_format
    Threshold: TypeAlias = int
    """A size from which on, or up to which, something is computed in another way: tests run at both sides, or lower it."""
    Params: TypeAlias = dict[str, Any]

    Value: TypeAlias = Tensor | Array
    """What functions of tensors and arrays alike are given."""
    Result: TypeAlias = Value | tuple[Value, ...]
    Same = TypeVar("Same", Tensor, Array)
    """What is either all tensors or all arrays."""
    Numeric = TypeVar("Numeric", Array, IRValue)
    """What is either all arrays or all values in machine code."""
    Converted = TypeVar("Converted", bound=complex)
    Given = ParamSpec("Given")
    Returned = TypeVar("Returned")
    Aliased = TypeVar("Aliased", bound=Attributes)
    Summed = TypeVar("Summed", bound=Value)
    Index: TypeAlias = int | slice | EllipsisType | tuple[int | slice | EllipsisType | None, ...] | None
    """A basic index."""
    Entry: TypeAlias = int | slice | EllipsisType | _Marker | None
    """An entry of an advanced index, in which a marker stands for each array."""
    Path: TypeAlias = Sequence[tuple[Primitive, dict[str, Any]]]
    """A chain of views: primitives with their metadata."""

    class Shaped(Protocol):
        """What has a shape and NumPy's dtype: an array, or a value of a program."""

        @property
        def shape(self) -> tuple[int, ...]: ...
        @property
        def dtype(self) -> NumpyType: ...

    class OfComplex(TypedDict):
        """What happens to rules for complex inputs, as an option of several primitives."""

        complex: str

    class Namespace(Protocol):
        """The functions of arrays under NumPy's names, by which a formula computes: of arrays, tensors, or a compiler."""

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

    class SupportsDLPack(Protocol):
        """What gives its memory by DLPack: an array of another library, or a tensor."""

        def __dlpack__(self, /, *, stream: None = None) -> Any: ...
