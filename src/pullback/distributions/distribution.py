"""Distribution: the common base, by torch's names: shapes, samples, log-probabilities, and checks.

A distribution has a batch of independent parameters, of `batch_shape`, and values of `event_shape`; samples have the
shape `sample_shape + batch_shape + event_shape`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from operator import attrgetter, mul
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, overload

import numpy as np

from .. import Size, Tensor, broadcast_tensors, enable_grad, finfo, get_default_dtype, no_grad, rand, scalar_tensor
from ..autograd import grad
from ..extend import holds, restoring
from ..observe import value as held
from .constraints import Constraint, is_dependent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.shapes import Shape
    from .._core.typing import DType


T = TypeVar("T")


def broadcast_all(*values: Tensor | float) -> tuple[Tensor, ...]:
    """Tensors and numbers as tensors of one shape; numbers take the dtype of the first tensor, or the default one."""
    first = next((value for value in values if isinstance(value, Tensor)), None)
    dtype = get_default_dtype() if first is None else first.dtype
    for value in values:
        if not isinstance(value, (Tensor, int, float)):
            raise ValueError(
                "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__."
            )
    tensors: list[Tensor] = [
        value if isinstance(value, Tensor) else scalar_tensor(value, dtype=dtype) for value in values
    ]
    return tuple(broadcast_tensors(*tensors))


class derived(Generic[T]):  # a decorator, as `property`
    """A parameter of a distribution that follows from those given; an instance that was given it has it as an attribute."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function, self.__doc__ = function, function.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: object, owner: type | None = None) -> Self | T:
        if instance is None:
            return self
        given = vars(instance).get(self.function.__name__)  # asked for by super(), in a property of the same name
        return self.function(instance) if given is None else given


class Distribution:
    """A probability distribution with a batch of parameters; subclasses define sampling and log-probabilities.

    `has_rsample` is True if samples can be differentiated by the parameters. `validate_args` checks parameters and
    values, by default True.

    >>> import pullback
    >>> normal = pullback.distributions.Normal(pullback.zeros(3), 1.0)
    >>> isinstance(normal, pullback.distributions.Distribution), normal.batch_shape, normal.sample((5,)).shape
    (True, pullback.Size([3]), pullback.Size([5, 3]))
    """

    has_rsample = False
    has_enumerate_support = False
    arg_constraints: ClassVar[dict[str, Constraint]] = {}
    _validate_args = True

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set the default of `validate_args`."""
        if value not in {True, False}:
            raise ValueError(f"validate_args is True or False, not {value!r}")
        Distribution._validate_args = value

    def __init__(
        self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = (), validate_args: bool | None = None
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    def _check_parameters(self) -> None:
        for name, constraint in self.arg_constraints.items():
            if name not in self.__dict__ or is_dependent(constraint):
                continue
            value = getattr(self, name)
            valid = constraint.check(value)
            if not holds(valid):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{_text(value)}"
                )

    def _given(self) -> Mapping[str, Tensor]:
        """The parameters with which the distribution was constructed."""
        return {name: self.__dict__[name] for name in self.arg_constraints if name in self.__dict__}

    def _shown(self) -> Mapping[str, Tensor]:
        """The parameters that are printed."""
        return self._given()

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Self:
        """The same distribution with its parameters broadcast to another batch shape."""
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        batch = Size(batch_shape)
        for name, value in self._given().items():
            event = value.ndim - len(self._batch_shape)
            made.__dict__[name] = value.expand(batch + value.shape[value.ndim - event :])
        made._batch_shape = batch
        return made

    def _get_checked_instance(self, cls: type, _instance: Self | None = None) -> Self:
        """The given instance, or an empty one, to be filled by the `expand` of a user's subclass."""
        if _instance is None and type(self).__init__ != cls.__init__:  # type: ignore[misc]  # which one is asked
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also define "
                "a custom .expand() method."
            )
        return type(self).__new__(type(self)) if _instance is None else _instance

    @property
    def batch_shape(self) -> Size:
        """The shape of the batch of parameters."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one value."""
        return self._event_shape

    @derived
    def support(self) -> Constraint | None:
        """The set of possible values, None if it is not known: values are then not checked."""
        return None

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError(f"{type(self).__name__} has no mean")

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        raise NotImplementedError(f"{type(self).__name__} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError(f"{type(self).__name__} has no variance")

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    @restoring
    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples, which cannot be differentiated."""
        with no_grad():
            return self.rsample(sample_shape).detach()

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples, as differentiable functions of the parameters."""
        raise NotImplementedError(f"{type(self).__name__} has no samples that can be differentiated: use sample()")

    def sample_n(self, n: int) -> Tensor:
        """`sample((n,))`, under its deprecated name."""
        return self.sample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """The log-probability, or log-density, of a value."""
        self._validate_sample(value)
        return self._log_prob(value)

    def _log_prob(self, value: Tensor) -> Tensor:
        """`log_prob` of a checked value."""
        raise NotImplementedError(f"{type(self).__name__} has no log_prob")

    def cdf(self, value: Tensor) -> Tensor:
        """The cumulative distribution function."""
        self._validate_sample(value)
        return self._cdf(value)

    def _cdf(self, value: Tensor) -> Tensor:
        """`cdf` of a checked value."""
        raise NotImplementedError(f"{type(self).__name__} has no cdf")

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile for a probability: the inverse of `cdf`."""
        raise NotImplementedError(f"{type(self).__name__} has no icdf")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values, along a new first axis."""
        raise NotImplementedError(f"{type(self).__name__} has no finite set of values to enumerate")

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        raise NotImplementedError(f"{type(self).__name__} has no entropy")

    def perplexity(self) -> Tensor:
        """exp(entropy)."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Sequence[int] = ()) -> Size:
        if isinstance(sample_shape, int):
            raise TypeError(f"sample_shape must be a tuple, ({sample_shape},) for {sample_shape} samples, not an int")
        return Size(sample_shape) + self._batch_shape + self._event_shape

    def _validate_sample(self, value: Tensor) -> None:
        """Raise for a value outside the support."""
        if not self._validate_args:
            return
        if not isinstance(value, Tensor):
            raise ValueError(f"The value argument to log_prob must be a Tensor, not {type(value).__name__}")
        event = len(self._event_shape)
        if event > value.ndim or value.shape[value.ndim - event :] != self._event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.shape} vs {self._event_shape}."
            )
        expected = self._batch_shape + self._event_shape
        for mine, theirs in zip(reversed(value.shape), reversed(expected), strict=False):
            if mine != 1 and theirs not in {1, mine}:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {value.shape} vs {expected}."
                )
        if self.support is not None and not holds(self.support.check(value)):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the support "
                f"({self.support!r}) of the distribution {self!r}, but found invalid values:\n{_text(value)}"
            )

    def __repr__(self) -> str:
        given = ", ".join(
            f"{name}: {_text(value) if value.numel() == 1 else value.shape}" for name, value in self._shown().items()
        )
        return f"{type(self).__name__}({given})"


class ExponentialFamily(Distribution):
    """A family whose density is exp(<t, s(x)> - A(t)) times a function of x alone, with natural parameters t.

    A subclass that has `_natural_params`, and `_log_normalizer(*natural_params)` for A, has an entropy and the divergence
    of two members. F. Nielsen and R. Nock, Entropies and cross-entropies of exponential families (2010).

    >>> import pullback
    >>> isinstance(pullback.distributions.Gamma(2.0, 1.0), pullback.distributions.ExponentialFamily)
    True
    """

    _mean_carrier_measure: Tensor | float = 0

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError(f"{type(self).__name__} has no natural parameters")

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} has no normalizer of natural parameters")

    @restoring
    def _expected(self) -> tuple[tuple[Tensor, ...], Tensor, tuple[Tensor, ...]]:
        """The natural parameters, A of them, and its gradient, which is the mean of s(x)."""
        with enable_grad():
            given = tuple(
                each if each.requires_grad else each.detach().requires_grad_() for each in self._natural_params
            )
            normalizer = self._log_normalizer(*given)
            return given, normalizer, grad(normalizer.sum(), given, create_graph=True)

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        given, normalizer, means = self._expected()
        dot = sum(each.reshape(*self._batch_shape, -1).sum(-1) for each in map(mul, given, means))
        return normalizer - dot - self._mean_carrier_measure


class alias(property):  # called as a function
    """A property with the value of another attribute, a tensor, given by a dotted path such as `base_dist.loc`."""

    def __init__(self, path: str, meaning: str) -> None:
        super().__init__(attrgetter(path), doc=meaning)

    @overload
    def __get__(self, instance: None, owner: type, /) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None, /) -> Tensor: ...
    def __get__(self, instance: object, owner: type | None = None, /) -> Self | Tensor:
        return super().__get__(instance, owner)


def clamped(probs: Tensor) -> Tensor:
    """Probabilities clamped to exclude 0 and 1, by their dtype's precision, so that their logarithms are finite."""
    eps = float(finfo(probs.dtype).eps)
    return probs.clamp(min=eps, max=1 - eps)


def drawn_evenly(shape: Shape, dtype: DType) -> Tensor:
    """Uniform samples from the open interval (0, 1)."""
    return clamped(rand(shape, dtype=dtype))


def _text(value: Tensor) -> str:
    """A parameter or a value as text: a single value as a number, if it is known."""
    elements = held(value)
    known = isinstance(elements, np.ndarray) and elements.size == 1 and not value.ndim
    return format(elements.item()) if known else str(value)


def summed(value: Tensor, axes: int) -> Tensor:
    """The sum over a number of last axes."""
    return value.sum(tuple(range(-axes, 0))) if axes else value


LOG_ROOT_TAU = math.log(2 * math.pi) / 2
"""The logarithm of the square root of 2 pi."""

EULER = 0.57721566490153286
"""The Euler-Mascheroni constant."""
