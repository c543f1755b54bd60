"""The transforms from unconstrained numbers to a set: `biject_to`, which are bijective, and `transform_to`.

The latter are meant for optimization: they need not be bijective, and exist for more sets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from . import constraints
from .axes import IndependentTransform
from .constraints import Constraint
from .correlations import CorrCholeskyTransform
from .joined import CatTransform, StackTransform
from .transforms import (
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SigmoidTransform,
    SoftmaxTransform,
    StickBreakingTransform,
    Transform,
    identity_transform,
)

Factory = Callable[[Any], Transform]  # of a constraint of the class that it is registered for
F = TypeVar("F", bound=Factory)


class ConstraintRegistry:
    """A map from classes of constraints to functions that return a transform to a given constraint.

    Raises
    ------
    NotImplementedError
        If there is no transform to a set of that class.

    >>> import pullback
    >>> from pullback.distributions import constraints, transform_to
    >>> transform_to(constraints.positive)(pullback.tensor(0.0))
    tensor(1.)
    """

    def __init__(self) -> None:
        self._registry: dict[type, Factory] = {}

    @overload
    def register(self, constraint: Constraint | type[Constraint]) -> Callable[[F], F]: ...
    @overload
    def register(self, constraint: Constraint | type[Constraint], factory: F) -> F: ...
    def register(self, constraint: Constraint | type[Constraint], factory: F | None = None) -> F | Callable[[F], F]:
        """Add a function for the class of a constraint; a decorator when the function is left out.

        Raises
        ------
        TypeError
            If it is not a constraint.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        self._registry[_class_of(constraint)] = factory
        return factory

    def __call__(self, constraint: Constraint) -> Transform:
        """A transform from unconstrained numbers to the set."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


def _class_of(constraint: object) -> type[Constraint]:
    if isinstance(constraint, Constraint):
        return type(constraint)
    if isinstance(constraint, type) and issubclass(constraint, Constraint):
        return constraint
    raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint!r}")


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()


def _from_lower(constraint: constraints._Lower) -> Transform:
    return ComposeTransform([ExpTransform(), AffineTransform(constraint.lower_bound, 1)])


def _from_upper(constraint: constraints._Upper) -> Transform:
    return ComposeTransform([ExpTransform(), AffineTransform(constraint.upper_bound, -1)])


def _between(constraint: constraints._Both) -> Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
        return SigmoidTransform()
    return ComposeTransform([SigmoidTransform(), AffineTransform(low, high - low)])


_SAME: dict[Constraint | type[Constraint], Factory] = {
    constraints.real: lambda constraint: identity_transform,
    constraints.greater_than: _from_lower,
    constraints.greater_than_eq: _from_lower,
    constraints.less_than: _from_upper,
    constraints.interval: _between,
    constraints.half_open_interval: _between,
    constraints.corr_cholesky: lambda constraint: CorrCholeskyTransform(),
}
for _registry in (biject_to, transform_to):
    for _constraint, _factory in _SAME.items():
        _registry.register(_constraint, _factory)

biject_to.register(constraints.simplex, lambda constraint: StickBreakingTransform())
transform_to.register(constraints.simplex, lambda constraint: SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda constraint: LowerCholeskyTransform())
transform_to.register(constraints.positive_definite, lambda constraint: PositiveDefiniteTransform())
transform_to.register(constraints.positive_semidefinite, lambda constraint: PositiveDefiniteTransform())


def _of_parts(registry: ConstraintRegistry) -> None:
    """Register the sets composed of others, whose transforms are composed of the others' transforms."""

    def independent(constraint: constraints._Independent) -> Transform:
        return IndependentTransform(registry(constraint.base_constraint), constraint.reinterpreted_batch_ndims)

    def cat(constraint: constraints._Cat) -> Transform:
        return CatTransform([registry(part) for part in constraint.cseq], constraint.dim, constraint.lengths)

    def stack(constraint: constraints._Stack) -> Transform:
        return StackTransform([registry(part) for part in constraint.cseq], constraint.dim)

    for kind, factory in ((constraints.independent, independent), (constraints.cat, cat), (constraints.stack, stack)):
        registry.register(kind, factory)


_of_parts(biject_to)
_of_parts(transform_to)
