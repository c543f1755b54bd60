"""Initial values, written to tensors in place: torch.nn.init by its names and distributions.

Xavier: Glorot and Bengio, Understanding the difficulty of training deep feedforward neural networks, 2010. Kaiming: He,
Zhang, Ren and Sun, Delving deep into rectifiers, 2015. Orthogonal: Saxe, McClelland and Ganguli, Exact solutions to the
nonlinear dynamics of learning in deep linear neural networks, 2013. Sparse: Martens, Deep learning via Hessian-free
optimization, 2010.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .._core.modes import like, no_grad, restoring
from .._core.sites import named, warn
from .._core.values import require_tensor
from .._tensor.tensor import Tensor

if TYPE_CHECKING:
    from .._core.typing import Array, Generator

Initialiser = TypeVar("Initialiser", bound="Callable[..., Tensor]")


def _unrecorded(initialise: Initialiser) -> Initialiser:
    """A decorator for initializers: they write to leaves without being recorded, and return the tensor."""

    @restoring
    @like(initialise)
    def wrapper(tensor: Tensor, *args: Any, **options: Any) -> Tensor:
        require_tensor(initialise.__name__, "tensor", tensor)
        with no_grad():
            initialise(tensor, *args, **options)
        return tensor

    return wrapper


GAINS = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4} | dict.fromkeys(
    "linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d sigmoid".split(), 1.0
)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor for weights before a nonlinearity, with which the variance is preserved through it.

    `param` is the slope of 'leaky_relu' (0.01).

    Raises
    ------
    ValueError
        If the nonlinearity is not known, or its parameter is not a number.

    >>> from pullback import nn
    >>> nn.init.calculate_gain("leaky_relu", 0.0) == 2**0.5
    True
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {slope} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}: known are leaky_relu, {', '.join(GAINS)}")
    return GAINS[nonlinearity]


@_unrecorded
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill a tensor with numbers drawn evenly from [a, b).

    >>> import pullback
    >>> w = pullback.nn.init.uniform_(pullback.empty(3, 5), -1, 1)
    >>> w.abs().max().item() <= 1
    True
    """
    return tensor.uniform_(a, b, generator=generator)


@_unrecorded
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill a tensor with normally distributed numbers.

    >>> import pullback
    >>> pullback.nn.init.normal_(pullback.empty(3), mean=5.0, std=0.0)
    tensor([5., 5., 5.])
    """
    return tensor.normal_(mean, std, generator=generator)


@_unrecorded
def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fill a tensor with normally distributed numbers, all of them between a and b.

    Drawn as the quantiles of evenly distributed probabilities.

    >>> import pullback
    >>> w = pullback.nn.init.trunc_normal_(pullback.empty(100), a=0.0, b=0.5)
    >>> ((w >= 0) & (w <= 0.5)).all().item()
    True
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect."
        )
    low, high = (math.erf((bound - mean) / (std * math.sqrt(2.0))) for bound in (a, b))
    tensor.uniform_(low, high, generator=generator)
    return tensor.erfinv_().mul_(std * math.sqrt(2.0)).add_(mean).clamp_(a, b)


@_unrecorded
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill a tensor with one number.

    >>> import pullback
    >>> pullback.nn.init.constant_(pullback.empty(2), 7.0)
    tensor([7., 7.])
    """
    return tensor.fill_(val)


@_unrecorded
def ones_(tensor: Tensor) -> Tensor:
    """Fill a tensor with ones.

    >>> import pullback
    >>> pullback.nn.init.ones_(pullback.empty(2))
    tensor([1., 1.])
    """
    return tensor.fill_(1.0)


@_unrecorded
def zeros_(tensor: Tensor) -> Tensor:
    """Fill a tensor with zeros.

    >>> import pullback
    >>> pullback.nn.init.zeros_(pullback.empty(2))
    tensor([0., 0.])
    """
    return tensor.zero_()


def _write(tensor: Tensor, values: Array) -> Tensor:
    """Put an array into a tensor."""
    return tensor.copy_(Tensor.interpreter.wrap(values.astype(tensor._dtype, copy=False), None))


@_unrecorded
def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity: a linear layer then passes on what it is given.

    Raises
    ------
    ValueError
        If the tensor has other than 2 axes.

    >>> import pullback
    >>> pullback.nn.init.eye_(pullback.empty(2, 3))
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    if tensor.ndim != 2:
        raise ValueError(f"Only tensors with 2 dimensions are supported: this one has shape {tuple(tensor.shape)}")
    return _write(tensor, np.eye(*tensor.shape))


@_unrecorded
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the weight of a convolution so that each channel is passed on as it is, as far as there are channels.

    Raises
    ------
    ValueError
        If the tensor has not 3, 4 or 5 axes, or its first axis is no multiple of `groups`.

    >>> import pullback
    >>> pullback.nn.init.dirac_(pullback.empty(1, 1, 3))
    tensor([[[0., 1., 0.]]])
    """
    if tensor.ndim not in {3, 4, 5}:
        raise ValueError(
            f"Only tensors with 3, 4, or 5 dimensions are supported: this one has shape {tuple(tensor.shape)}"
        )
    channels, *rest = tensor.shape
    if channels % groups:
        raise ValueError(f"dim 0 must be divisible by groups: {channels} channels, {groups} groups")
    each = channels // groups
    values = np.zeros(tensor.shape)
    centre = tuple(n // 2 for n in rest[1:])
    for i in range(min(each, rest[0])):
        place: tuple[int | slice, ...] = (slice(i, None, each), i, *centre)
        values[place] = 1
    return _write(tensor, values)


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs reach each output of a weight, and how many outputs each input reaches."""
    if tensor.ndim < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions: "
            f"this one has shape {tuple(tensor.shape)}"
        )
    outputs, inputs, *kernel = tensor.shape
    places = math.prod(kernel)
    return inputs * places, outputs * places


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    modes = ["fan_in", "fan_out"]
    if mode.lower() not in modes:
        raise ValueError(f"Mode {mode.lower()} not supported, please use one of {modes}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode.lower())]


def _xavier(tensor: Tensor, gain: float) -> float:
    """The standard deviation that keeps variances alike, forward and backward."""
    return gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))


def _kaiming(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float | None:
    """The standard deviation that keeps variances alike through a nonlinearity; None for a tensor without elements."""
    if 0 in tensor.shape:
        warn("Initializing zero-element tensors is a no-op")
        return None
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


@_unrecorded
def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill a weight evenly, by Glorot's rule: variance 2 * gain ** 2 / (inputs + outputs).

    Raises
    ------
    ValueError
        If the tensor has fewer than 2 axes.

    >>> import pullback
    >>> w = pullback.nn.init.xavier_uniform_(pullback.empty(400, 200))
    >>> w.abs().max() <= (6 / 600) ** 0.5
    tensor(True)
    """
    bound = math.sqrt(3.0) * _xavier(tensor, gain)
    return tensor.uniform_(-bound, bound, generator=generator)


@_unrecorded
def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill a weight with normally distributed numbers, by Glorot's rule.

    Raises
    ------
    ValueError
        If the tensor has fewer than 2 axes.

    >>> import pullback
    >>> w = pullback.nn.init.xavier_normal_(pullback.empty(400, 200))
    >>> abs(w.std() - (2 / 600) ** 0.5) < 0.01
    tensor(True)
    """
    return tensor.normal_(0.0, _xavier(tensor, gain), generator=generator)


@_unrecorded
def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill a weight evenly, by He's rule: variance gain ** 2 / inputs (or outputs, with mode 'fan_out').

    `a` is the slope of the leaky ReLU that follows.

    Raises
    ------
    ValueError
        If the tensor has fewer than 2 axes, or the mode or the nonlinearity is not known.

    >>> import pullback
    >>> w = pullback.nn.init.kaiming_uniform_(pullback.empty(400, 200))
    >>> w.abs().max() <= (6 / 200) ** 0.5
    tensor(True)
    """
    std = _kaiming(tensor, a, mode, nonlinearity)
    if std is not None:
        bound = math.sqrt(3.0) * std
        tensor.uniform_(-bound, bound, generator=generator)
    return tensor


@_unrecorded
def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill a weight with normally distributed numbers, by He's rule.

    Raises
    ------
    ValueError
        If the tensor has fewer than 2 axes, or the mode or the nonlinearity is not known.

    >>> import pullback
    >>> w = pullback.nn.init.kaiming_normal_(pullback.empty(400, 200))
    >>> abs(w.std() - (2 / 200) ** 0.5) < 0.01
    tensor(True)
    """
    std = _kaiming(tensor, a, mode, nonlinearity)
    if std is not None:
        tensor.normal_(0.0, std, generator=generator)
    return tensor


@_unrecorded
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Fill a weight with orthonormal rows or columns, whichever are fewer, times the gain; further axes are flattened.

    Raises
    ------
    ValueError
        If the tensor has fewer than 2 axes.

    >>> import pullback
    >>> w = pullback.nn.init.orthogonal_(pullback.empty(2, 5))
    >>> pullback.allclose(w @ w.T, pullback.eye(2), atol=1e-5)
    True
    """
    if tensor.ndim < 2:
        raise ValueError(f"Only tensors with 2 or more dimensions are supported: got shape {tuple(tensor.shape)}")
    if not tensor.numel():
        return tensor
    rows = tensor.shape[0]
    drawn = tensor.new_empty(rows, tensor.numel() // rows).normal_(0, 1, generator=generator)._array
    tall = drawn.T if drawn.shape[0] < drawn.shape[1] else drawn
    q, r = np.linalg.qr(tall.astype(np.result_type(tall.dtype, np.float32), copy=False))
    q *= np.sign(np.diagonal(r))  # so that all orthogonal matrices are equally likely: Mezzadri, 2007
    q = q.T if tall is not drawn else q
    return _write(tensor, gain * q.reshape(tensor.shape))


@_unrecorded
def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Fill a matrix with normally distributed numbers, and a part of each column with zeros.

    Raises
    ------
    ValueError
        If the tensor has other than 2 axes.

    >>> import pullback
    >>> (pullback.nn.init.sparse_(pullback.empty(10, 3), sparsity=0.3) == 0).sum(dim=0)
    tensor([3, 3, 3])
    """
    if tensor.ndim != 2:
        raise ValueError(f"Only tensors with 2 dimensions are supported: this one has shape {tuple(tensor.shape)}")
    zeros = math.ceil(sparsity * tensor.shape[0])
    tensor.normal_(0, std, generator=generator)
    order = tensor.new_empty(tensor.shape).uniform_(generator=generator)._array.argsort(axis=0)
    values = tensor._array.copy()
    np.put_along_axis(values, order[:zeros], 0, axis=0)
    return _write(tensor, values)


def _old(name: str, initialise: Initialiser) -> Initialiser:
    """torch's old name of an initializer, without the underscore, which warns."""

    @like(initialise)
    def wrapper(*args: Any, **options: Any) -> Tensor:
        warn(f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning)
        return initialise(*args, **options)

    return named(name, wrapper, f"The old name of `{name}_`.")


uniform = _old("uniform", uniform_)
normal = _old("normal", normal_)
constant = _old("constant", constant_)
eye = _old("eye", eye_)
dirac = _old("dirac", dirac_)
xavier_uniform = _old("xavier_uniform", xavier_uniform_)
xavier_normal = _old("xavier_normal", xavier_normal_)
kaiming_uniform = _old("kaiming_uniform", kaiming_uniform_)
kaiming_normal = _old("kaiming_normal", kaiming_normal_)
orthogonal = _old("orthogonal", orthogonal_)
sparse = _old("sparse", sparse_)
