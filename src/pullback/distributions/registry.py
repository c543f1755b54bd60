"""The formulas of the Kullback-Leibler divergence, by the pair of families; and the divergence itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from .distribution import Distribution

if TYPE_CHECKING:
    from .._core.typing import Tensor

Rule = Callable[[Any, Any], "Tensor"]  # of two distributions, of the families that it is registered for
R = TypeVar("R", bound=Rule)

RULES: dict[tuple[type, type], Rule] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[R], R]:
    """A decorator for the function of two distributions that gives their divergence; subclasses use it, too.

    A class need not be one of distributions, as in torch: what is asked for is found by its type.

    Raises
    ------
    TypeError
        If one of the two is not a class.

    >>> from pullback.distributions import Normal, register_kl
    >>> class Mine(Normal): ...
    >>> @register_kl(Mine, Mine)
    ... def mine(p, q):
    ...     return (p.loc - q.loc).abs()
    """
    for kind in (type_p, type_q):
        if not isinstance(kind, type):
            raise TypeError(f"Expected type_p and type_q to be subclasses of Distribution but got {kind!r}")

    def register(rule: R) -> R:
        RULES[type_p, type_q] = rule
        return rule

    return register


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The mean, over p, of log(p / q).

    Raises
    ------
    NotImplementedError
        If there is no formula for the two families.

    >>> from pullback.distributions import Normal, kl_divergence
    >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)
    """
    for a in type(p).__mro__:
        for b in type(q).__mro__:
            if (a, b) in RULES:
                return RULES[a, b](p, q)
    raise unknown(p, q)


def unknown(p: Distribution, q: Distribution) -> NotImplementedError:
    """The error for two families without a formula."""
    return NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}: register_kl adds one"
    )
