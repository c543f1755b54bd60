"""Vector spaces of nested arrays: zeros, ones, a basis, and inner products of differentiable values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...utils.trees import flatten, unflatten
from .boxes import Box, seen

if TYPE_CHECKING:
    from ..._core.typing import Array


Function = Callable[..., Any]


class VSpace:
    """The space of values with the same nesting, shapes and dtypes as a given one.

    >>> from pullback.compat.autograd.spaces import vspace
    >>> space = vspace({"a": 1.0, "b": np.zeros(2)})
    >>> space.size, space.ones()["b"]
    (3, array([1., 1.]))
    """

    mappings: ClassVar[dict[type, Function]] = {}

    def __init__(self, value: object) -> None:
        leaves, self.structure = flatten(value)
        self.metas = [
            (np.shape(leaf), leaf.dtype if hasattr(leaf, "dtype") else np.result_type(leaf)) for leaf in leaves
        ]

    @classmethod
    def register(cls, kind: type, maker: Function | None = None) -> None:
        """Register the function that makes the space of another type of values."""
        VSpace.mappings[kind] = maker or cls

    @property
    def shape(self) -> Any:
        """The shape of an array; for nested values the spaces of their leaves, nested."""
        if self.structure.kind is None:
            return self.metas[0][0]
        return self._nested(lambda shape, dtype: vspace(np.zeros(shape, dtype)))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of an array."""
        return self.metas[0][1]

    @property
    def ndim(self) -> int:
        """The number of axes of an array."""
        return len(self.metas[0][0])

    @property
    def iscomplex(self) -> bool:
        """True if any leaf is complex."""
        return any(dtype.kind == "c" for _, dtype in self.metas)

    @property
    def size(self) -> int:
        """The number of real numbers in a value."""
        return sum([math.prod(shape) * (1 + (dtype.kind == "c")) for shape, dtype in self.metas])

    def _nested(self, made: Function) -> Any:
        return unflatten(self.structure, [seen(made(*meta)) for meta in self.metas])

    def zeros(self) -> Any:
        """The value of zeros."""
        return self._nested(np.zeros)

    def ones(self) -> Any:
        """The value of ones; of 1 + 1j where it is complex."""
        return self._nested(lambda shape, dtype: np.full(shape, 1 + 1j if dtype.kind == "c" else 1, dtype))

    def randn(self) -> Any:
        """A value of normal random numbers."""

        def drawn(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
            numbers = np.asarray(np.random.randn(*shape))  # noqa: NPY002  # autograd's tests seed this generator
            return (numbers + 1j * np.random.randn(*shape) if dtype.kind == "c" else numbers).astype(dtype)  # noqa: NPY002

        return self._nested(drawn)

    def standard_basis(self) -> Iterator[Any]:
        """For each element the value with a single one and, if it is complex, the value with a single 1j."""
        for place, (shape, dtype) in enumerate(self.metas):
            for index in np.ndindex(*shape):
                for number in (1, 1j) if dtype.kind == "c" else (1,):
                    leaves = [np.zeros(*meta) for meta in self.metas]
                    leaves[place][index] = number
                    yield unflatten(self.structure, list(map(seen, leaves)))

    def _each(self, function: Function, *values: object) -> list[Any]:
        columns = [flatten(value)[0] for value in values]
        if any(len(column) != len(self.metas) for column in columns):
            raise TypeError(f"values of {self} nest as {self.structure}")
        return [function(*parts) for parts in zip(*columns, strict=True)]

    def add(self, x: object, y: object) -> Any:
        """The sum of two values."""
        return unflatten(self.structure, self._each(lambda a, b: a + b, x, y))

    def mut_add(self, x: object, y: object) -> Any:
        """The sum of two values, the first of which may be None, which means zeros."""
        return self.add(self.zeros() if x is None else x, y)

    _add, _mut_add = add, mut_add

    def scalar_mul(self, x: object, a: object) -> Any:
        """A value times a number."""
        return unflatten(self.structure, self._each(lambda leaf: leaf * a, x))

    def inner_prod(self, x: object, y: object) -> float:
        """The real inner product of two values."""

        def product(a: Array, b: Array) -> float:
            if np.iscomplexobj(a) or np.iscomplexobj(b):
                return np.real(np.dot(np.conj(np.ravel(a)), np.ravel(b)))
            return np.dot(np.ravel(a), np.ravel(b))

        return sum(self._each(product, x, y))

    def covector(self, x: object) -> Any:
        """The value whose real inner product with another equals their pairing: the conjugate."""
        return unflatten(self.structure, self._each(lambda leaf: np.conj(leaf) if np.iscomplexobj(leaf) else leaf, x))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VSpace) and (self.structure, self.metas) == (other.structure, other.metas)

    def __hash__(self) -> int:
        return hash((self.structure, tuple(self.metas)))

    def __repr__(self) -> str:
        return f"VSpace of {self.structure} with {self.metas}"


def vspace(value: object) -> VSpace:
    """The vector space of a value.

    >>> from pullback.compat.autograd.spaces import vspace
    >>> vspace(np.zeros((2, 3))).shape
    (2, 3)
    """
    if type(value) in VSpace.mappings:
        return VSpace.mappings[type(value)](value)
    for leaf in () if type(value) is np.float64 else flatten(value)[0]:
        if not isinstance(leaf, (Box, np.ndarray, np.generic, int, float, complex)) or isinstance(leaf, bool):
            raise TypeError(f"Can't find vector space for value {leaf!r} of type {type(leaf)}")
    return VSpace(value)
