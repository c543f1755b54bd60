"""Making tensors at random: of a shape, and with parameters that are tensors, which get gradients of zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _dtypes, _random, _refusals, ops
from ._core import Carrier
from ._creation import alike, chosen_dtype, made, named, sizes_of
from ._placement import accept
from ._promotion import cast, common
from ._shapes import broadcast_shapes
from ._tensor import Tensor
from .vocabulary import taking_out


def _drawn(name: str, draw: Callable[..., Any], text: str) -> Callable[..., Any]:
    def function(
        *sizes: Any,
        size: Any = None,
        generator: Any = None,
        dtype: Any = None,
        requires_grad: bool = False,
        **placement: Any,
    ) -> Tensor:
        if placement:
            accept(name, placement)
        kind = chosen_dtype(dtype)
        if kind.kind not in "fc":
            raise NotImplementedError(
                f"random numbers are real or complex: {_dtypes.from_numpy(kind)} is neither; use randint"
            )
        return made(draw(sizes_of(name, sizes, size), kind, generator), requires_grad)

    function.__doc__ = text
    return taking_out(named(name, function))


rand = _drawn(
    "rand",
    _random.uniform,
    """Numbers drawn evenly from [0, 1).

    >>> import pullback
    >>> pullback.rand(2, 2).shape
    pullback.Size([2, 2])
    """,
)
randn = _drawn(
    "randn",
    _random.normal,
    """Numbers drawn from the normal distribution with mean 0 and variance 1.

    >>> import pullback
    >>> pullback.randn(3).dtype
    pullback.float32
    """,
)
rand_like = alike("rand_like", rand, "Numbers drawn evenly from [0, 1)")
randn_like = alike("randn_like", randn, "Normally distributed numbers")


@taking_out
def randint(
    low: Any = 0,
    high: Any = None,
    size: Any = None,
    *,
    generator: Any = None,
    dtype: Any = None,
    requires_grad: bool = False,
    **placement: Any,
) -> Tensor:
    """Whole numbers drawn evenly from [low, high); `randint(high, size)` starts at 0.

    >>> import pullback
    >>> pullback.randint(0, 5, (2,)).dtype
    pullback.int64
    """
    accept("randint", placement)
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    if high <= low:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    drawn = _random.source(generator).integers(low, high, sizes_of("randint", (size,)))
    return made(np.asarray(drawn).astype(np.int64 if dtype is None else chosen_dtype(dtype)), requires_grad)


def randint_like(input: Any, low: int, high: int | None = None, **options: Any) -> Tensor:
    """Whole numbers drawn evenly from [low, high), in the shape and dtype of another tensor.

    >>> import pullback
    >>> pullback.randint_like(pullback.ones(2), 5).shape
    pullback.Size([2])
    """
    if not isinstance(input, Carrier):
        raise _refusals.no_tensor("randint_like", "input", 1, input)
    low, high = (0, low) if high is None else (low, high)
    return randint(low, high, tuple(input.shape), **{"dtype": input.dtype, **options})


def randperm(
    n: int, *, generator: Any = None, dtype: Any = None, requires_grad: bool = False, **placement: Any
) -> Tensor:
    """The whole numbers from 0 to less than n in an order drawn at random.

    >>> import pullback
    >>> sorted(pullback.randperm(4).tolist())
    [0, 1, 2, 3]
    """
    accept("randperm", placement)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    order = _random.source(generator).permutation(n)
    return made(order.astype(np.int64 if dtype is None else chosen_dtype(dtype), copy=False), requires_grad)


def _floating(name: str, tensor: Any) -> Any:
    if not isinstance(tensor, Carrier):
        raise _refusals.no_tensor(name, "input", 1, tensor)
    if tensor._dtype.kind != "f":
        raise NotImplementedError(f'"{name}" not implemented for {tensor._type_name!r}: convert first, x.float()')
    return tensor


def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Any = None,
    dtype: Any = None,
    requires_grad: bool = False,
    **placement: Any,
) -> Any:
    """Normally distributed numbers: of a size, or one for each mean and standard deviation of a tensor.

    >>> import pullback
    >>> pullback.normal(0.0, pullback.ones(3)).shape, pullback.normal(2, 3, (2, 2)).shape
    (pullback.Size([3]), pullback.Size([2, 2]))
    """
    accept("normal", placement)
    tensors = [value for value in (mean, std) if isinstance(value, Carrier)]
    smallest = std._array.min(initial=0) if isinstance(std, Carrier) and std._dtype.kind != "c" else std
    if isinstance(std, Carrier) and std._dtype.kind == "c":
        raise RuntimeError("normal expects standard deviation to be non-complex")
    if smallest < 0:
        what = "all elements of std >= 0.0" if isinstance(std, Carrier) else f"std >= 0.0, but found std {std}"
        raise RuntimeError(f"normal expects {what}: the smallest is {smallest}")
    if not tensors:
        if size is None:
            raise TypeError("normal() missing 1 required positional argument: 'size', which numbers alone do not have")
        kind = chosen_dtype(dtype)
        noise = _random.normal(sizes_of("normal", (size,)), kind, generator)
        return made((noise * kind.type(std) + kind.type(mean)).astype(kind, copy=False), requires_grad)
    if size is not None or dtype is not None:
        raise TypeError("normal() takes its size and dtype from tensors: leave size and dtype out")
    kind = common(*tensors)
    if kind.kind not in "fc":
        raise NotImplementedError(f'"normal_kernel_cpu" not implemented for {tensors[0]._type_name!r}: convert first')
    mean, std = cast(mean, kind), cast(std, kind)
    noise = _random.normal(tuple(broadcast_shapes(mean.shape, std.shape)), kind, generator)
    place, scale = (value._array if isinstance(value, Carrier) else value for value in (mean, std))
    parameters = [value for value in (mean, std) if isinstance(value, Carrier)]
    return ops.drawn(np.asarray(noise * scale + place), *parameters, label="NormalBackward0")


def bernoulli(input: Any, p: Any = None, *, generator: Any = None) -> Any:
    """1 with the probability that each element gives, or with probability p, else 0.

    >>> import pullback
    >>> pullback.bernoulli(pullback.tensor([0.0, 1.0]))
    tensor([0., 1.])
    """
    chances = _floating("bernoulli_tensor_cpu_p_", input)._array if p is None else np.asarray(p)
    if not (np.all(chances >= 0) and np.all(chances <= 1)):
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false: p is a probability")
    values = _random.source(generator).random(tuple(input.shape)) < chances
    return ops.drawn(np.asarray(values).astype(input._dtype), input, label="BernoulliBackward0")


def poisson(input: Any, generator: Any = None) -> Any:
    """Counts of events, for each element the rate of them.

    >>> import pullback
    >>> pullback.poisson(pullback.zeros(2))
    tensor([0., 0.])
    """
    rates = _floating("poisson_cpu", input)._array
    if not np.all(rates >= 0):
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    values = _random.source(generator).poisson(rates)
    return ops.drawn(np.asarray(values).astype(input._dtype), input, label="PoissonBackward0")


def binomial(count: Any, prob: Any, generator: Any = None) -> Any:
    """How many of so many trials succeed, each with a probability.

    >>> import pullback
    >>> pullback.binomial(pullback.tensor([3.0, 5.0]), pullback.tensor([0.0, 1.0]))
    tensor([0., 5.])
    """
    trials, chances = (_floating("binomial_cpu", value)._array for value in (count, prob))
    if not (np.all(chances >= 0) and np.all(chances <= 1) and np.all(trials >= 0)):
        raise RuntimeError("binomial expects count >= 0 and probabilities between 0 and 1")
    values = _random.source(generator).binomial(trials.astype(np.int64), chances)
    return ops.drawn(np.asarray(values).astype(prob._dtype), cast(prob, prob._dtype), label="BinomialBackward0")


def multinomial(input: Any, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Any:
    """Places drawn at random from each row of weights, each with a probability in proportion to its weight.

    Without replacement, no place is drawn twice.

    >>> import pullback
    >>> pullback.multinomial(pullback.tensor([0.0, 3.0, 0.0]), 2, replacement=True)
    tensor([1, 1])
    """
    if input.ndim not in (1, 2):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim, not {input.ndim}")
    if input._dtype.kind != "f":
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {input._type_name}")
    if num_samples <= 0:
        raise RuntimeError(f"cannot sample n_sample <= 0 samples: num_samples is {num_samples}")
    if not replacement and num_samples > input.shape[-1]:
        raise RuntimeError(
            f"cannot sample n_sample > prob_dist.size(-1) samples without replacement: {num_samples} of {input.shape[-1]}"
        )
    weights = np.atleast_2d(input._array).astype(np.float64)
    if not np.all(np.isfinite(weights) & (weights >= 0)):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    totals = weights.sum(axis=1, keepdims=True)
    if not np.all(totals > 0):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    rng = _random.source(generator)
    places = _with_replacement(weights / totals, num_samples, rng) if replacement else _race(weights, num_samples, rng)
    return input.interpreter.wrap(places.reshape(*input.shape[:-1], num_samples), None)


def _with_replacement(chances: Any, count: int, rng: np.random.Generator) -> Any:
    """Where uniform numbers fall between the cumulative sums, those of each row raised by its number."""
    rows, length = chances.shape
    raised = np.arange(rows)[:, None]
    sums = np.minimum(np.cumsum(chances, axis=1), 1.0) + raised
    found = np.searchsorted(sums.reshape(-1), (rng.random((rows, count)) + raised).reshape(-1), side="right")
    places = found.reshape(rows, count) - raised * length
    last = length - 1 - np.argmax(chances[:, ::-1] > 0, axis=1)
    return np.minimum(places, last[:, None])


def _race(weights: Any, count: int, rng: np.random.Generator) -> Any:
    """The first to arrive, when each place takes a time drawn from the exponential distribution of its weight.

    Places of weight 0 come last; they are drawn, as torch draws them, when there are no others left.
    """
    with np.errstate(divide="ignore"):
        arrivals = rng.standard_exponential(weights.shape) / weights
    return np.argsort(arrivals, axis=1)[:, :count]
