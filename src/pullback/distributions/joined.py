"""Transforms of the parts of a value along an axis, each part by its own transform."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .. import cat, stack
from . import constraints
from .distribution import derived
from .transforms import Transform

if TYPE_CHECKING:
    from .._core.typing import Tensor
    from .constraints import Constraint


class _Parts(Transform):
    """The common base of transforms of parts."""

    transforms: list[Transform]

    def __init__(self, tseq: Sequence[Transform], dim: int, cache_size: int) -> None:
        if not all(isinstance(part, Transform) for part in tseq):
            raise TypeError(f"tseq must be transforms, got {[type(part).__name__ for part in tseq]}")
        super().__init__(cache_size)
        self.transforms = [part.with_cache(cache_size) for part in tseq] if cache_size else list(tseq)
        self.dim = dim

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The same transform, with or without a cache of its last argument."""
        made = self._with_cache(cache_size)
        made.transforms = [part.with_cache(cache_size) for part in self.transforms]
        return made

    @derived
    def bijective(self) -> bool:
        """True if all parts are bijective."""
        return all(part.bijective for part in self.transforms)

    _join: Callable[[list[Tensor], int], Tensor]

    def _call(self, x: Tensor) -> Tensor:
        return self._join(self._each(lambda part, piece: part(piece), x), constraints.axis_of(x, self.dim))

    def _inverse(self, y: Tensor) -> Tensor:
        return self._join(self._each(lambda part, piece: part.inv(piece), y), constraints.axis_of(y, self.dim))

    def _split(self, value: Tensor) -> Sequence[Tensor]:
        raise NotImplementedError

    def _each(self, made: Callable[..., Tensor], *values: Tensor) -> list[Tensor]:
        """The results of a function of each transform and its parts of the values."""
        pieces = zip(self.transforms, *map(self._split, values), strict=True)
        return [made(*each) for each in pieces]


class CatTransform(_Parts):
    """Transforms of parts along an axis, of given lengths (by default 1).

    >>> import pullback
    >>> from pullback.distributions.transforms import ExpTransform, identity_transform
    >>> from pullback.distributions import CatTransform
    >>> CatTransform([ExpTransform(), identity_transform], 0, [1, 2])(pullback.zeros(3))
    tensor([1., 0., 0.])
    """

    lengths: list[int]

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise ValueError(f"as many lengths as transforms are needed: {len(self.lengths)}, {len(self.transforms)}")

    @property
    def event_dim(self) -> int:
        """The number of axes that form one value: the maximum over the parts."""
        return max(int(part.event_dim) for part in self.transforms)

    @property
    def length(self) -> int:
        """The total length of the parts."""
        return sum(self.lengths)

    @property
    def domain(self) -> Constraint:
        """The set of arguments."""
        return constraints.cat([part.domain for part in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self) -> Constraint:
        """The set of values."""
        return constraints.cat([part.codomain for part in self.transforms], self.dim, self.lengths)

    def _split(self, value: Tensor) -> Sequence[Tensor]:
        axis = constraints.axis_of(value, self.dim)
        if value.shape[axis] != self.length:
            raise ValueError(
                f"axis {self.dim} is to be {self.length} long, and the value has shape {tuple(value.shape)}"
            )
        return list(value.split(self.lengths, axis))

    _join = staticmethod(cat)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |det dy/dx| at the argument x, whose value is y: of each element, or summed where parts take axes together."""
        most = self.event_dim

        def stretched(part: Transform, piece: Tensor, value: Tensor) -> Tensor:
            found, more = part.log_abs_det_jacobian(piece, value), most - part.event_dim
            return found.sum(tuple(range(-more, 0))) if more else found

        found = self._each(stretched, x, y)
        axis = constraints.axis_of(x, self.dim) - x.ndim + most
        return cat(found, axis) if axis < 0 else functools.reduce(operator.add, found)


class StackTransform(_Parts):
    """Transforms of slices along an axis.

    >>> import pullback
    >>> from pullback.distributions.transforms import ExpTransform, identity_transform
    >>> from pullback.distributions import StackTransform
    >>> StackTransform([ExpTransform(), identity_transform], dim=-1)(pullback.zeros(1, 2))
    tensor([[1., 0.]])
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    @property
    def domain(self) -> Constraint:
        """The set of arguments."""
        return constraints.stack([part.domain for part in self.transforms], self.dim)

    @property
    def codomain(self) -> Constraint:
        """The set of values."""
        return constraints.stack([part.codomain for part in self.transforms], self.dim)

    def _split(self, value: Tensor) -> Sequence[Tensor]:
        axis = constraints.axis_of(value, self.dim)
        if value.shape[axis] != len(self.transforms):
            raise ValueError(
                f"axis {self.dim} is to be {len(self.transforms)} long, and the value has shape {tuple(value.shape)}"
            )
        return list(value.unbind(axis))

    _join = staticmethod(stack)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |det dy/dx| of each slice at the argument x, with the value y."""
        found = self._each(lambda part, piece, value: part.log_abs_det_jacobian(piece, value), x, y)
        return stack(found, constraints.axis_of(x, self.dim))
