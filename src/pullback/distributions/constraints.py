"""Constraints on the values of parameters and samples of distributions: classes of sets, and named sets."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, overload

from .. import all as all_, cat as joined, finfo, isnan, stack as stacked
from ..extend import holds
from ..linalg import cholesky_ex, eigvalsh

if TYPE_CHECKING:
    from .._core.typing import Tensor

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property",
    "greater_than", "greater_than_eq", "half_open_interval", "independent", "integer_interval", "interval",
    "is_dependent", "less_than", "lower_cholesky", "lower_triangular", "multinomial", "nonnegative",
    "nonnegative_integer", "one_hot", "positive", "positive_definite", "positive_integer", "positive_semidefinite",
    "real", "real_vector", "simplex", "square", "stack", "symmetric", "unit_interval",
]  # fmt: skip


class Constraint:
    """A set of values: the base of all constraints; subclasses define `check`.

    `check` tests each value; the last `event_dim` axes form one value.

    >>> import pullback
    >>> from pullback.distributions import constraints
    >>> constraints.positive, constraints.positive.check(pullback.tensor([1.0, 0.0]))
    (GreaterThan(lower_bound=0.0), tensor([ True, False]))
    """

    is_discrete = False
    event_dim = 0

    def check(self, value: Tensor) -> Tensor:
        """True for each value that is in the set."""
        raise NotImplementedError(f"{type(self).__name__} does not say which values it has: define check")

    def __repr__(self) -> str:
        bounds = ", ".join(f"{name}={value}" for name, value in vars(self).items() if name.endswith("_bound"))
        return f"{type(self).__name__.removeprefix('_')}({bounds})"


class _Dependent(Constraint):
    """A set that depends on the parameters of the distribution, and is not known from the class alone."""

    def __init__(self, *, is_discrete: bool | None = None, event_dim: int | None = None) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def _told(self, name: str, value: int | None) -> int:
        if value is None:
            raise NotImplementedError(f".{name} cannot be determined statically")
        return value

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]  # told by whoever made it, or not at all
        """True if the values are discrete; NotImplementedError if that is not known."""
        return bool(self._told("is_discrete", self._is_discrete))

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        """The number of axes that form one value; NotImplementedError if that is not known."""
        return self._told("event_dim", self._event_dim)

    def __call__(self, *, is_discrete: bool | None = None, event_dim: int | None = None) -> Self:
        """The same set with more information."""
        discrete = self._is_discrete if is_discrete is None else is_discrete
        return type(self)(is_discrete=discrete, event_dim=self._event_dim if event_dim is None else event_dim)

    def check(self, value: Tensor) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


S = TypeVar("S", bound="Constraint | None")
R = TypeVar("R", bound="Constraint | None")


class dependent_property(property, _Dependent, Generic[S]):
    """A property that is a set on an instance, and a dependent constraint on the class.

    >>> from pullback.distributions import constraints
    >>> class Below:
    ...     @constraints.dependent_property(is_discrete=False, event_dim=0)
    ...     def support(self):
    ...         return constraints.less_than(1.0)
    >>> Below.support.event_dim, Below().support
    (0, LessThan(upper_bound=1.0))
    """

    def __init__(
        self, fn: Callable[[Any], S] | None = None, *, is_discrete: bool | None = None, event_dim: int | None = None
    ) -> None:
        property.__init__(self, fn)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    @overload
    def __get__(self, instance: None, owner: type, /) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None, /) -> S: ...
    def __get__(self, instance: object, owner: type | None = None, /) -> Self | S:
        return property.__get__(self, instance, owner)

    def __call__(self, fn: Callable[[Any], R]) -> dependent_property[R]:  # type: ignore[override]  # a decorator that was told more
        """The property of a function."""
        return dependent_property(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


def is_dependent(constraint: Constraint) -> bool:
    """True if a set depends on the parameters of the distribution.

    >>> from pullback.distributions import Uniform, constraints
    >>> constraints.is_dependent(Uniform.support), constraints.is_dependent(constraints.real)
    (True, False)
    """
    return isinstance(constraint, _Dependent)


class _Independent(Constraint):
    """Values whose last axes form one value, all elements of which are in another set.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> constraints.independent(constraints.positive, 1).check(tensor([[1.0, 2.0], [1.0, -2.0]]))
    tensor([ True, False])
    """

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        found = self.base_constraint.check(value)
        if found.ndim < self.reinterpreted_batch_ndims:
            needed = self.base_constraint.event_dim + self.reinterpreted_batch_ndims
            raise ValueError(f"Expected value.dim() >= {needed} but got {value.ndim}")
        for _ in range(self.reinterpreted_batch_ndims):
            found = all_(found, -1)
        return found

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """The support of a mixture of distributions: that of the components, without the mixture's axis.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> both = constraints.MixtureSameFamilyConstraint(constraints.interval(0.0, tensor([1.0, 2.0])))
    >>> both.check(tensor([0.5, 1.5]))
    tensor([ True, False])
    """

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = base_constraint
        self.is_discrete, self.event_dim = base_constraint.is_discrete, base_constraint.event_dim

    def check(self, value: Tensor) -> Tensor:
        """True for each value that is in the set for all components."""
        event = self.event_dim
        found = self.base_constraint.check(value.unsqueeze(-1 - event))
        return all_(found, -1) if found.ndim > value.ndim - event else found

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


class _Boolean(Constraint):
    """The numbers 0 and 1.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> constraints.boolean.check(tensor([0.0, 1.0, 0.5]))
    tensor([ True,  True, False])
    """

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    """Vectors of zeros with a single 1.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> constraints.one_hot.check(tensor([[0.0, 1.0], [1.0, 1.0]]))
    tensor([ True, False])
    """

    is_discrete, event_dim = True, 1

    def check(self, value: Tensor) -> Tensor:
        return all_(boolean.check(value), -1) & (value.sum(-1) == 1)


class _Bounded(Constraint):
    """Numbers with a lower bound, an upper one, or both; each class has its own comparisons with them."""

    compared: ClassVar[tuple[tuple[str, Callable[[Tensor, Tensor | float], Tensor]], ...]] = ()

    def check(self, value: Tensor) -> Tensor:
        kept = [compare(value, getattr(self, name)) for name, compare in self.compared]
        if self.is_discrete and value.is_floating_point():
            kept.append(value % 1 == 0)
        return functools.reduce(operator.and_, kept)


class _Lower(_Bounded):
    def __init__(self, lower_bound: Tensor | float) -> None:
        self.lower_bound = lower_bound


class _Upper(_Bounded):
    def __init__(self, upper_bound: Tensor | float) -> None:
        self.upper_bound = upper_bound


class _Both(_Bounded):
    def __init__(self, lower_bound: Tensor | float, upper_bound: Tensor | float) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound


class _GreaterThan(_Lower):
    """Numbers above a bound.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> constraints.greater_than(1.0).check(tensor([1.0, 2.0]))
    tensor([False,  True])
    """

    compared = (("lower_bound", operator.gt),)


class _GreaterThanEq(_Lower):
    """Numbers greater than or equal to a bound.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> constraints.greater_than_eq(1.0).check(tensor([0.0, 1.0]))
    tensor([False,  True])
    """

    compared = (("lower_bound", operator.ge),)


class _LessThan(_Upper):
    """Numbers below a bound.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> constraints.less_than(1.0).check(tensor([0.0, 1.0]))
    tensor([ True, False])
    """

    compared = (("upper_bound", operator.lt),)


class _Interval(_Both):
    """Numbers in a closed interval.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> constraints.interval(0.0, 1.0).check(tensor([0.5, 1.0, 2.0]))
    tensor([ True,  True, False])
    """

    compared = (("lower_bound", operator.ge), ("upper_bound", operator.le))


class _HalfOpenInterval(_Both):
    """Numbers in a half-open interval, without the upper bound.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> constraints.half_open_interval(0.0, 1.0).check(tensor([0.0, 1.0]))
    tensor([ True, False])
    """

    compared = (("lower_bound", operator.ge), ("upper_bound", operator.lt))


class _IntegerInterval(_Both):
    """Integers in a closed interval.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> constraints.integer_interval(0, 2).check(tensor([2.0, 1.5, 3.0]))
    tensor([ True, False, False])
    """

    is_discrete = True
    compared = (("lower_bound", operator.ge), ("upper_bound", operator.le))


class _IntegerGreaterThan(_Lower):
    """Integers greater than or equal to a bound.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> constraints.positive_integer.check(tensor([0.0, 1.0, 1.5]))
    tensor([False,  True, False])
    """

    is_discrete = True
    compared = (("lower_bound", operator.ge),)


class _Real(Constraint):
    """Numbers, infinite ones too, but not NaN.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> constraints.real.check(tensor([-1.0, float("nan")]))
    tensor([ True, False])
    """

    def check(self, value: Tensor) -> Tensor:
        return ~isnan(value)


class _Simplex(Constraint):
    """Vectors of probabilities: nonnegative numbers whose sum is 1.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> constraints.simplex.check(tensor([[0.25, 0.75], [0.5, 0.75]]))
    tensor([ True, False])
    """

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return all_(value >= 0, -1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Vectors of nonnegative integers whose sum is at most a bound.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> constraints.multinomial(3).check(tensor([[1.0, 2.0], [2.0, 2.0]]))
    tensor([ True, False])
    """

    is_discrete, event_dim = True, 1

    def __init__(self, upper_bound: Tensor | float) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        return all_(nonnegative_integer.check(value), -1) & (value.sum(-1) <= self.upper_bound)

    def __repr__(self) -> str:
        return "Multinomial()"


class _Square(Constraint):
    """Square matrices.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> constraints.square.check(tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor(True)
    """

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return value.new_full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype="bool")


class _LowerTriangular(Constraint):
    """Matrices with zeros above the diagonal.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> constraints.lower_triangular.check(tensor([[1.0, 0.0], [3.0, 4.0]]))
    tensor(True)
    """

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return all_((value.tril() == value).flatten(-2), -1)


class _LowerCholesky(_LowerTriangular):
    """Lower triangular matrices with a positive diagonal.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> constraints.lower_cholesky.check(tensor([[1.0, 0.0], [3.0, -4.0]]))
    tensor(False)
    """

    def check(self, value: Tensor) -> Tensor:
        return super().check(value) & all_(value.diagonal(dim1=-2, dim2=-1) > 0, -1)


class _CorrCholesky(_LowerCholesky):
    """Cholesky factors of correlation matrices: lower triangular, with a positive diagonal and rows of length 1.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> constraints.corr_cholesky.check(tensor([[1.0, 0.0], [0.6, 0.8]]))
    tensor(True)
    """

    def check(self, value: Tensor) -> Tensor:
        lengths = value.detach().norm(dim=-1)
        room = 10 * value.shape[-1] * float(finfo(value.dtype).eps)
        return super().check(value) & all_((lengths - 1).abs() <= room, -1)


class _Symmetric(_Square):
    """Symmetric matrices.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> constraints.symmetric.check(tensor([[1.0, 2.0], [2.0, 1.0]]))
    tensor(True)
    """

    def check(self, value: Tensor) -> Tensor:
        square = super().check(value)
        if value.shape[-2] != value.shape[-1]:
            return square
        scale = value.detach().abs().amax((-2, -1), True).clamp(min=1e-30)
        return all_((((value - value.mT) / scale).abs() <= 1e-6).flatten(-2), -1)


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without negative eigenvalues.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> constraints.positive_semidefinite.check(tensor([[1.0, 1.0], [1.0, 1.0]]))
    tensor(True)
    """

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        if not holds(symmetric):
            return symmetric
        smallest = eigvalsh(value.detach())[..., 0]
        return smallest >= -value.shape[-1] * float(finfo(value.dtype).eps) * value.detach().abs().amax((-2, -1))


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices all of whose eigenvalues are positive.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> constraints.positive_definite.check(tensor([[1.0, 1.0], [1.0, 1.0]]))
    tensor(False)
    """

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        return symmetric & (cholesky_ex(value.detach()).info == 0) if holds(symmetric) else symmetric


def axis_of(value: Tensor, dim: int) -> int:
    """The axis of a value that a dim names; ValueError if there is none."""
    if not -value.ndim <= dim < value.ndim:
        raise ValueError(f"a value of shape {tuple(value.shape)} has no axis {dim}")
    return dim % int(value.ndim)


class _Joined(Constraint):
    """Values whose parts along an axis are each in a set of their own."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        if not all(isinstance(part, Constraint) for part in cseq):
            raise TypeError(f"cseq must be constraints, got {[type(part).__name__ for part in cseq]}")
        self.cseq, self.dim = list(cseq), dim
        self.is_discrete = any(part.is_discrete for part in self.cseq)
        self.event_dim = max(part.event_dim for part in self.cseq)


class _Cat(_Joined):
    """Values whose parts along an axis, of given lengths (by default 1), are each in a set of their own.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> constraints.cat([constraints.positive, constraints.less_than(0.0)]).check(tensor([2.0, 2.0]))
    tensor([ True, False])
    """

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise ValueError(f"as many lengths as constraints are needed: {len(self.lengths)} for {len(self.cseq)}")

    def check(self, value: Tensor) -> Tensor:
        axis = axis_of(value, self.dim)
        pieces = value.split(self.lengths, axis)
        return joined([part.check(piece) for part, piece in zip(self.cseq, pieces, strict=True)], axis)


class _Stack(_Joined):
    """Values whose slices along an axis are each in a set of its own.

    >>> from pullback import tensor
    >>> from pullback.distributions import constraints
    >>> constraints.stack([constraints.positive, constraints.less_than(0.0)]).check(tensor([2.0, 2.0]))
    tensor([ True, False])
    """

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        super().__init__(cseq, dim)
        self.event_dim += dim < 0

    def check(self, value: Tensor) -> Tensor:
        axis = axis_of(value, self.dim)
        slices = value.unbind(axis)
        return stacked([part.check(piece) for part, piece in zip(self.cseq, slices, strict=True)], axis)


greater_than, greater_than_eq, less_than = _GreaterThan, _GreaterThanEq, _LessThan
interval, half_open_interval, integer_interval = _Interval, _HalfOpenInterval, _IntegerInterval
independent, multinomial = _Independent, _Multinomial
cat, stack = _Cat, _Stack

dependent = _Dependent()
real: Constraint = _Real()
boolean: Constraint = _Boolean()
one_hot: Constraint = _OneHot()
simplex: Constraint = _Simplex()
positive: Constraint = greater_than(0.0)
nonnegative: Constraint = greater_than_eq(0.0)
unit_interval: Constraint = interval(0.0, 1.0)
nonnegative_integer: Constraint = _IntegerGreaterThan(0)
positive_integer: Constraint = _IntegerGreaterThan(1)
real_vector: Constraint = independent(real, 1)
square: Constraint = _Square()
symmetric: Constraint = _Symmetric()
lower_triangular: Constraint = _LowerTriangular()
positive_definite: Constraint = _PositiveDefinite()
positive_semidefinite: Constraint = _PositiveSemidefinite()
lower_cholesky: Constraint = _LowerCholesky()
corr_cholesky: Constraint = _CorrCholesky()
