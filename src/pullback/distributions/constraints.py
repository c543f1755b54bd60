"""Which values a parameter or a sample of a distribution may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._functions import all as all_
from .._functions import isnan
from ..linalg import cholesky_ex


class Constraint:
    """A set of values: `check` says, for each one, whether it is in it; its last `event_dim` axes are one value.

    >>> import pullback
    >>> from pullback.distributions import constraints
    >>> constraints.positive, constraints.positive.check(pullback.tensor([1.0, 0.0]))
    (GreaterThan(lower_bound=0.0), tensor([ True, False]))
    """

    def __init__(
        self, text: str, check: Callable[[Any], Any], *, event_dim: int = 0, is_discrete: bool = False, **bounds: Any
    ) -> None:
        self._text, self._check = text, check
        self.event_dim, self.is_discrete = event_dim, is_discrete
        self.__dict__.update(bounds)

    def check(self, value: Any) -> Any:
        """Whether each value is in the set."""
        return self._check(value)

    def __repr__(self) -> str:
        return self._text


def _whole(value: Any) -> Any:
    return value % 1 == 0


def _text(name: str, **bounds: Any) -> str:
    """A constraint as it prints: a bound that is a tensor of several elements by its shape."""
    return f"{name}({', '.join(f'{key}={value}' for key, value in bounds.items())})"


def greater_than(lower_bound: Any) -> Constraint:
    """Numbers above a bound."""
    text = _text("GreaterThan", lower_bound=lower_bound)
    return Constraint(text, lambda value: value > lower_bound, lower_bound=lower_bound)


def greater_than_eq(lower_bound: Any) -> Constraint:
    """Numbers not below a bound."""
    text = _text("GreaterThanEq", lower_bound=lower_bound)
    return Constraint(text, lambda value: value >= lower_bound, lower_bound=lower_bound)


def less_than(upper_bound: Any) -> Constraint:
    """Numbers below a bound."""
    text = _text("LessThan", upper_bound=upper_bound)
    return Constraint(text, lambda value: value < upper_bound, upper_bound=upper_bound)


def interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Numbers between two bounds, both included."""
    bounds = {"lower_bound": lower_bound, "upper_bound": upper_bound}
    return Constraint(
        _text("Interval", **bounds), lambda value: (value >= lower_bound) & (value <= upper_bound), **bounds
    )


def half_open_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Numbers between two bounds, of which the upper one is not included."""
    bounds = {"lower_bound": lower_bound, "upper_bound": upper_bound}
    return Constraint(
        _text("HalfOpenInterval", **bounds), lambda value: (value >= lower_bound) & (value < upper_bound), **bounds
    )


def integer_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Whole numbers between two bounds, both included."""
    bounds = {"lower_bound": lower_bound, "upper_bound": upper_bound}

    def check(value: Any) -> Any:
        return _whole(value) & (value >= lower_bound) & (value <= upper_bound)

    return Constraint(_text("IntegerInterval", **bounds), check, is_discrete=True, **bounds)


def multinomial(upper_bound: Any) -> Constraint:
    """Vectors of whole numbers that are not negative, and together not more than a bound."""

    def check(value: Any) -> Any:
        return all_((value >= 0) & _whole(value), -1) & (value.sum(-1) <= upper_bound)

    return Constraint("Multinomial()", check, event_dim=1, is_discrete=True, upper_bound=upper_bound)


def independent(base: Constraint, reinterpreted_batch_ndims: int) -> Constraint:
    """Values whose last axes are one value of which every part is in another set."""

    def check(value: Any) -> Any:
        found = base.check(value)
        for _ in range(reinterpreted_batch_ndims):
            found = all_(found, -1)
        return found

    return Constraint(
        f"IndependentConstraint({base}, {reinterpreted_batch_ndims})",
        check,
        event_dim=base.event_dim + reinterpreted_batch_ndims,
        is_discrete=base.is_discrete,
    )


def _symmetric(value: Any) -> Any:
    scale = value.detach().abs().amax((-2, -1), True).clamp(min=1e-30)
    return all_((((value - value.mT) / scale).abs() <= 1e-6).flatten(-2), -1)


def _positive_definite(value: Any) -> Any:
    return _symmetric(value) & (cholesky_ex(value.detach()).info == 0)


def _lower_cholesky(value: Any) -> Any:
    lower = all_((value.tril() == value).flatten(-2), -1)
    return lower & all_(value.diagonal(dim1=-2, dim2=-1) > 0, -1)


def _correlation_factor(value: Any) -> Any:
    lengths = value.detach().norm(dim=-1)
    room = 10 * value.shape[-1] * float(np.finfo(value._dtype).eps)
    return _lower_cholesky(value) & all_((lengths - 1).abs() <= room, -1)


dependent = Constraint("Dependent()", lambda value: _refuse())
real = Constraint("Real()", lambda value: ~isnan(value))
positive = greater_than(0.0)
nonnegative = greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
boolean = Constraint("Boolean()", lambda value: (value == 0) | (value == 1), is_discrete=True)
nonnegative_integer = Constraint(
    "IntegerGreaterThan(lower_bound=0)", lambda value: _whole(value) & (value >= 0), is_discrete=True, lower_bound=0
)
real_vector = independent(real, 1)
simplex = Constraint("Simplex()", lambda value: all_(value >= 0, -1) & ((value.sum(-1) - 1).abs() < 1e-6), event_dim=1)
one_hot = Constraint(
    "OneHot()", lambda value: all_(boolean.check(value), -1) & (value.sum(-1) == 1), event_dim=1, is_discrete=True
)
positive_definite = Constraint("PositiveDefinite()", _positive_definite, event_dim=2)
lower_cholesky = Constraint("LowerCholesky()", _lower_cholesky, event_dim=2)
corr_cholesky = Constraint("CorrCholesky()", _correlation_factor, event_dim=2)


def _refuse() -> Any:
    raise ValueError("Cannot determine validity of dependent constraint")
