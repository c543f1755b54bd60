"""Random constructors: tensors of a given shape, and samples with tensors as parameters, whose gradients are zero."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core import dtypes, xp as _xp
from .._core.placement import accept
from .._core.primitives import Carrier
from .._core.shapes import Shape, broadcast_shapes
from .._core.values import require_tensor
from .._numerics import random
from ..vocabulary.promotion import cast, common
from .creation import alike, chosen_dtype, made, public, sizes_of
from .tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.dtypes import NumpyType
    from .._core.typing import Array, DType, Generator, Sizes


def _drawn(name: str, draw: Callable[[Shape, NumpyType, Generator | None], Array], text: str) -> Callable[..., Tensor]:
    def function(
        *sizes: int | Sequence[int],
        size: Sizes | None = None,
        generator: Generator | None = None,
        dtype: DType | None = None,
        requires_grad: bool = False,
        **placement: object,
    ) -> Tensor:
        if placement:
            accept(name, placement)
        kind = chosen_dtype(dtype)
        if kind.kind not in "fc":
            raise NotImplementedError(
                f"random numbers are real or complex: {dtypes.from_numpy(kind)} is neither; use randint"
            )
        return made(draw(sizes_of(name, sizes, size), kind, generator), requires_grad)

    return public(name, function, text)


rand = _drawn(
    "rand",
    random.uniform,
    """Numbers drawn evenly from [0, 1).

    >>> import pullback
    >>> pullback.rand(2, 2).shape
    pullback.Size([2, 2])
    """,
)
randn = _drawn(
    "randn",
    random.normal,
    """Numbers drawn from the normal distribution with mean 0 and variance 1.

    >>> import pullback
    >>> pullback.randn(3).dtype
    pullback.float32
    """,
)
rand_like = alike("rand_like", rand, "Numbers drawn evenly from [0, 1)")
randn_like = alike("randn_like", randn, "Normally distributed numbers")


def randint(
    low: int = 0,
    high: Sizes | None = None,
    size: Sizes | None = None,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    requires_grad: bool = False,
    **placement: object,
) -> Tensor:
    """Random integers, uniform in [low, high); `randint(high, size)` starts at 0.

    Parameters
    ----------
    low
        The least number.
    high
        The bound, which is not drawn.

    >>> import pullback
    >>> pullback.randint(0, 5, (2,)).dtype
    pullback.int64
    """
    accept("randint", placement)
    bounds: tuple[Any, Any] = (0, low) if size is None or high is None else (low, high)
    try:
        least, beyond = map(operator.index, bounds)
    except TypeError:
        raise TypeError("randint(): low and high must be ints, not {!r} and {!r}".format(*bounds)) from None
    if beyond <= least:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={least} >= to={beyond}")
    shape = sizes_of("randint", (high if size is None else size,))
    kind = np.int64 if dtype is None else chosen_dtype(dtype)

    long = np.dtype(np.int64)
    draw = random.Elementwise(
        "uniform_integers",
        "integers",
        long,
        lambda xp, x: xp.astype(x, dtype=kind, source=long),
        bounds=(least, beyond),
    )
    return made(random.sampled(draw, shape, generator=generator), requires_grad)


def randint_like(input: Tensor, low: int = 0, high: int | None = None, **options: Any) -> Tensor:
    """Random integers, uniform in [low, high), with the shape and dtype of another tensor; arguments as for `randint`.

    >>> import pullback
    >>> pullback.randint_like(pullback.ones(2), 5).shape
    pullback.Size([2])
    """
    require_tensor("randint_like", "input", input)
    low, high = (0, low) if high is None else (low, high)
    return randint(low, high, tuple(input.shape), **{"dtype": input.dtype, **options})


def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    requires_grad: bool = False,
    **placement: object,
) -> Tensor:
    """A random permutation of the integers from 0 to n - 1.

    Parameters
    ----------
    n
        How many numbers.

    >>> import pullback
    >>> sorted(pullback.randperm(4).tolist())
    [0, 1, 2, 3]
    """
    accept("randperm", placement)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    kind = np.int64 if dtype is None else chosen_dtype(dtype)

    def permutation(rng: np.random.Generator, shape: Shape) -> Array:
        if len(shape) == 1:
            return rng.permutation(n).astype(kind, copy=False)
        return rng.permuted(np.broadcast_to(np.arange(n, dtype=kind), shape), axis=-1)

    return made(random.sampled(permutation, (n,), generator=generator), requires_grad)


def _floating(name: str, tensor: Tensor) -> Tensor:
    require_tensor(name, "input", tensor)
    if tensor._dtype.kind != "f":
        raise NotImplementedError(f'"{name}" not implemented for {tensor._type_name!r}: convert first, x.float()')
    return tensor


def normal(
    mean: float | Tensor = 0.0,
    std: float | Tensor = 1.0,
    size: Sizes | None = None,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    requires_grad: bool = False,
    **placement: object,
) -> Tensor:
    """Normally distributed numbers: of a given size, or one for each element of a tensor of means or deviations.

    Parameters
    ----------
    mean
        The means: a tensor or a number.
    std
        The standard deviations.

    >>> import pullback
    >>> pullback.normal(0.0, pullback.ones(3)).shape, pullback.normal(2, 3, (2, 2)).shape
    (pullback.Size([3]), pullback.Size([2, 2]))
    """
    accept("normal", placement)
    tensors = [value for value in (mean, std) if isinstance(value, Carrier)]
    if isinstance(std, Carrier) and std._dtype.kind == "c":
        raise RuntimeError("normal expects standard deviation to be non-complex")
    if not isinstance(std, Carrier) and std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    if not tensors:
        if size is None:
            raise TypeError("normal() missing 1 required positional argument: 'size', required if both are numbers")
        kind = chosen_dtype(dtype)
        noise = random.normal(sizes_of("normal", (size,)), kind, generator)
        return made(noise * kind.type(std) + kind.type(mean), requires_grad)
    if size is not None or dtype is not None:
        raise TypeError("normal() takes its size and dtype from its tensor arguments: leave size and dtype out")
    kind = common(*tensors)
    if kind.kind not in "fc":
        raise NotImplementedError(f'"normal_kernel_cpu" not implemented for {tensors[0]._type_name!r}: convert first')
    operands = cast(mean, kind), cast(std, kind)
    shape = tuple(broadcast_shapes(*(operand.shape for operand in operands)))
    values = random.sampled(_normal_of(kind), shape, *operands, generator=generator)
    parameters = [value for value in operands if isinstance(value, Carrier)]
    return ops.drawn(values, *parameters, label="NormalBackward0")


def _normal_of(kind: NumpyType) -> random.Elementwise:
    """Normal numbers by their means and deviations."""
    return random.Elementwise(
        "normal",
        "standard_normal",
        kind,
        lambda xp, x, mean, std: x * std + mean,
        allowed=(
            lambda xp, mean, std: xp.logical_not((xp.real(std) if kind.kind == "c" else std) < 0),
            lambda mean, std: (
                f"normal expects all elements of std >= 0.0: the smallest is {np.real(std).min(initial=0)}"
            ),
        ),
    )


def bernoulli(input: Tensor, p: float | None = None, *, generator: Generator | None = None) -> Tensor:
    """1 with the probability given by each element, or with probability p, else 0.

    Parameters
    ----------
    p
        The probability of 1, in the place of the input.

    >>> import pullback
    >>> pullback.bernoulli(pullback.tensor([0.0, 1.0]))
    tensor([0., 1.])
    """
    chances = _floating("bernoulli_tensor_cpu_p_", input) if p is None else np.asarray(p)
    kind = input._dtype

    draw = random.chance(
        "bernoulli", lambda p: "Expected p_in >= 0 && p_in <= 1 to be true, but got false: p is a probability"
    ).then("bernoulli", lambda xp, x: xp.astype(x, dtype=kind, source=np.dtype(bool)))
    values = random.sampled(draw, tuple(input.shape), chances, generator=generator)
    return ops.drawn(values, input, label="BernoulliBackward0")


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Samples of Poisson distributions, with each element as the rate.

    >>> import pullback
    >>> pullback.poisson(pullback.zeros(2))
    tensor([0., 0.])
    """
    kind = _floating("poisson_cpu", input)._dtype
    draw = random.Elementwise(
        "poisson",
        "poisson",
        kind,
        lambda xp, x, rates: xp.astype(x, dtype=kind, source=np.dtype(np.int64)),
        allowed=(lambda xp, rates: rates >= 0, lambda rates: "invalid Poisson rate, expected rate to be non-negative"),
    )
    values = random.sampled(draw, tuple(input.shape), input, generator=generator)
    return ops.drawn(values, input, label="PoissonBackward0")


def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """Samples of binomial distributions: the number of successes in `count` trials with probability `prob`.

    Parameters
    ----------
    count
        How often it is tried.
    prob
        The probability of each success.

    >>> import pullback
    >>> pullback.binomial(pullback.tensor([3.0, 5.0]), pullback.tensor([0.0, 1.0]))
    tensor([0., 5.])
    """

    def binomial(rng: np.random.Generator, shape: Shape, trials: Array, chances: Array) -> Array:
        if not (np.all(chances >= 0) and np.all(chances <= 1) and np.all(trials >= 0)):
            raise RuntimeError("binomial expects count >= 0 and probabilities between 0 and 1")
        return np.asarray(rng.binomial(trials.astype(np.int64), chances, shape)).astype(chances.dtype)

    shape = broadcast_shapes(*(tuple(_floating("binomial_cpu", value).shape) for value in (count, prob)))
    values = random.sampled(binomial, shape, count, prob, generator=generator)
    return ops.drawn(values, prob, label="BinomialBackward0")


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """Indices drawn from each row of weights, with probabilities proportional to the weights.

    Without replacement, no index is drawn twice.

    Parameters
    ----------
    num_samples
        How many are drawn from each row.
    replacement
        One may be drawn again.

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

    def multinomial(rng: np.random.Generator, shape: Shape, weights: Array) -> Array:
        wide = np.broadcast_to(weights, (*shape[:-1], weights.shape[-1])).astype(np.float64)
        rows = wide.reshape(math.prod(shape[:-1]), weights.shape[-1])
        if not np.all(np.isfinite(rows) & (rows >= 0)):
            raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
        totals = rows.sum(axis=1, keepdims=True)
        if not np.all(totals > 0):
            raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
        found = _with_replacement(rows / totals, shape[-1], rng) if replacement else _race(rows, shape[-1], rng)
        return _xp.in_order(_xp.long(found).reshape(shape))

    return made(random.sampled(multinomial, (*input.shape[:-1], num_samples), input, generator=generator), False)


def _with_replacement(chances: Array, count: int, rng: np.random.Generator) -> Array:
    """Independent draws: uniform numbers located in the cumulative sums, where row i is shifted by i."""
    rows, length = chances.shape
    raised = np.arange(rows)[:, None]
    sums = np.minimum(np.cumsum(chances, axis=1), 1.0) + raised
    found = np.searchsorted(sums.reshape(-1), (rng.random((rows, count)) + raised).reshape(-1), side="right")
    places = found.reshape(rows, count) - raised * length
    last = length - 1 - np.argmax(chances[:, ::-1] > 0, axis=1)
    return np.minimum(places, last[:, None])


def _race(weights: Array, count: int, rng: np.random.Generator) -> Array:
    """Draws without replacement: the order of exponential arrival times whose rates are the weights.

    Indices of weight 0 come last; as in torch, they are drawn once no others are left.
    """
    with np.errstate(divide="ignore"):
        arrivals = rng.standard_exponential(weights.shape) / weights
    return np.argsort(arrivals, axis=1)[:, :count]
