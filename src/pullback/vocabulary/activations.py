"""Activation functions, by torch's names; `inplace=True` and the names that end in _ write to their input."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core import dtypes, errors
from .._core.bfloat import finfo
from .._core.primitives import Carrier
from .._core.shapes import normalize_axis
from .._core.sites import named, warn
from .._core.values import require_tensor
from .._numerics import random
from .._tape.shortcuts import is_primitive
from .._tape.views import write
from . import arithmetic, reductions, shapes
from .promotion import cast, held

if TYPE_CHECKING:
    from .._core.typing import DType, Tensor

# Klambauer and others, "Self-Normalizing Neural Networks", 2017: their alpha and lambda.
SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def of_kind(name: str, input: Tensor, kinds: str = "f") -> Tensor:
    """The input of a function that is defined only for some kinds of dtypes."""
    if not isinstance(input, Carrier):
        raise errors.no_tensor(name, "input", 1, input)
    if input._dtype.kind not in kinds:
        raise NotImplementedError(f'"{name}" not implemented for {input._type_name!r}: convert first, x.float()')
    return input


def _placed(name: str, input: Tensor, result: Tensor, inplace: bool) -> Tensor:
    """The result, or with `inplace` the input to which it has been written."""
    return write(input, result, f"{name}_") if inplace else result


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    """The in-place form of an activation function, whose name ends in _."""

    def written(input: Tensor, *args: Any, **options: Any) -> Tensor:
        return function(input, *args, **options, inplace=True)

    given = inspect.signature(function)
    kept = [each for each in given.parameters.values() if each.name != "inplace"]
    vars(written)["__signature__"] = given.replace(parameters=kept)
    name = f"{function.__name__}_"
    text = f"In place: {function.__doc__}".replace(f".{function.__name__}(", f".{name}(")
    return named(name, written, text)


@is_primitive(ops.relu)
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(input, 0), elementwise; its slope at 0 is 0.

    >>> import pullback
    >>> pullback.nn.functional.relu(pullback.tensor([-1.0, 0.0, 2.0]))
    tensor([0., 0., 2.])
    """
    return _placed("relu", input, arithmetic.relu(input), inplace)


@is_primitive(ops.leaky_relu, slope=0.01)
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """The input above 0, `negative_slope` times the input elsewhere; arguments as for `nn.LeakyReLU`.

    >>> import pullback
    >>> pullback.nn.functional.leaky_relu(pullback.tensor([-2.0, 3.0]), 0.1)
    tensor([-0.2000,  3.0000])
    """
    result = ops.leaky_relu(of_kind("leaky_relu", input), slope=negative_slope)
    return _placed("leaky_relu", input, result, inplace)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """The input above 0, elsewhere weight times it; a weight for all elements or for each channel (axis 1).

    Parameters
    ----------
    weight
        The slope below 0: one number, or one for each channel.

    >>> import pullback
    >>> pullback.prelu(pullback.tensor([-2.0, 3.0]), pullback.tensor([0.5]))
    tensor([-1.,  3.])
    """
    of_kind("prelu", input)
    require_tensor("prelu", "weight", weight, 2)
    if weight._dtype != input._dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {input.dtype} and {weight.dtype}")
    if weight.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}, shape "
            f"{tuple(weight.shape)}"
        )
    if weight.numel() != 1 and input.ndim == 0:
        raise RuntimeError("Not allow zero-dim input tensor: prelu with several weights needs an axis of channels")
    channels = input.shape[1] if input.ndim > 1 else 1
    if weight.numel() not in (1, channels):
        raise RuntimeError(
            f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {weight.numel()} and "
            f"channel size = {channels}."
        )
    shape = (weight.numel(),) + (1,) * (input.ndim - 2) if input.ndim else ()
    return ops.prelu(input, ops.reshape(weight, shape=shape))


@is_primitive(ops.elu, alpha=1.0, scale=1.0, input_scale=1.0)
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """The input above 0, alpha * (exp(input) - 1) elsewhere; arguments as for `nn.ELU`.

    >>> import pullback
    >>> pullback.nn.functional.elu(pullback.tensor([-1.0, 2.0]))  # exp(-1) - 1
    tensor([-0.6321,  2.0000])
    """
    result = ops.elu(of_kind("elu", input), alpha=alpha, scale=1.0, input_scale=1.0)
    return _placed("elu", input, result, inplace)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """The input above 0, alpha * (exp(input / alpha) - 1) elsewhere; arguments as for `nn.CELU`.

    >>> import pullback
    >>> pullback.nn.functional.celu(pullback.tensor([-2.0, 3.0]), alpha=2.0)  # 2 * (exp(-1) - 1)
    tensor([-1.2642,  3.0000])
    """
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU: use relu")
    result = ops.elu(of_kind("celu", input), alpha=alpha, scale=1.0, input_scale=1 / alpha)
    return _placed("celu", input, result, inplace)


@is_primitive(ops.elu, alpha=SELU_ALPHA, scale=SELU_SCALE, input_scale=1.0)
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """The elu that preserves mean 0 and variance 1 from layer to layer.

    >>> import pullback
    >>> pullback.nn.functional.selu(pullback.tensor([-1.0, 0.0, 1.0]))
    tensor([-1.1113,  0.0000,  1.0507])
    """
    result = ops.elu(of_kind("selu", input), alpha=SELU_ALPHA, scale=SELU_SCALE, input_scale=1.0)
    return _placed("selu", input, result, inplace)


def rrelu(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """A leaky relu whose slope is random for each element while training, and otherwise the mean of its bounds.

    Arguments as for `nn.RReLU`.

    >>> import pullback
    >>> pullback.nn.functional.rrelu(pullback.tensor([-24.0, 1.0]))  # the mean of 1 / 8 and 1 / 3 is 11 / 48
    tensor([-5.5000,  1.0000])
    """
    of_kind("rrelu", input)
    lower, upper = float(lower), float(upper)
    for name, bound in (("lower", lower), ("upper", upper)):
        if not math.isfinite(bound):
            raise RuntimeError(f"rrelu: {name} bound must be finite, got {bound}")
    if lower > upper:
        raise RuntimeError(f"Lower bound should be less than or equal to the upper bound, not {lower} > {upper}")
    first, _, width = (held(bound, input._dtype)[()] for bound in (lower, upper, upper - lower))
    if training:
        result = ops.prelu(input, random.uniform(tuple(input.shape), input._dtype) * width + first)
    else:
        result = ops.leaky_relu(input, slope=(lower + upper) / 2)
    return _placed("rrelu", input, result, inplace)


@is_primitive(ops.hardtanh, lower=-1.0, upper=1.0)
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """The input limited to [min_val, max_val]; its slope at the bounds is 0; arguments as for `nn.Hardtanh`.

    >>> import pullback
    >>> pullback.nn.functional.hardtanh(pullback.tensor([-3.0, 0.5, 3.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if of_kind("hardtanh", input, "fiu")._dtype.kind == "u" and (min_val < 0 or max_val < 0):
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return _placed("hardtanh", input, ops.hardtanh(input, lower=min_val, upper=max_val), inplace)


@is_primitive(ops.hardtanh, lower=0, upper=6)
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """The input limited to [0, 6].

    >>> import pullback
    >>> pullback.nn.functional.relu6(pullback.tensor([-1.0, 5.0, 8.0]))
    tensor([0., 5., 6.])
    """
    return _placed("relu6", input, ops.hardtanh(of_kind("relu6", input, "fiu"), lower=0, upper=6), inplace)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """The input above the threshold, the value elsewhere; arguments as for `nn.Threshold`.

    >>> import pullback
    >>> pullback.nn.functional.threshold(pullback.tensor([0.5, 2.0]), 1.0, -7.0)
    tensor([-7.,  2.])
    """
    result = ops.threshold(of_kind("threshold", input, "fiu"), bound=threshold, value=value)
    return _placed("threshold", input, result, inplace)


@is_primitive(ops.hardsigmoid)
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """input / 6 + 1 / 2, limited to [0, 1].

    >>> import pullback
    >>> pullback.nn.functional.hardsigmoid(pullback.tensor([-3.0, 0.0, 1.5]))
    tensor([0.0000, 0.5000, 0.7500])
    """
    return _placed("hardsigmoid", input, ops.hardsigmoid(of_kind("hardsigmoid", input)), inplace)


@is_primitive(ops.hardswish)
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * hardsigmoid(input).

    >>> import pullback
    >>> pullback.nn.functional.hardswish(pullback.tensor([-1.0, 1.5, 4.0]))
    tensor([-0.3333,  1.1250,  4.0000])
    """
    return _placed("hardswish", input, ops.hardswish(of_kind("hardswish", input)), inplace)


@is_primitive(ops.silu)
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """input * sigmoid(input).

    >>> import pullback
    >>> pullback.nn.functional.silu(pullback.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.2689,  0.0000,  0.7311])
    """
    return _placed("silu", input, ops.silu(of_kind("silu", input, "fc")), inplace)


@is_primitive(ops.mish)
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * tanh(softplus(input)).

    >>> import pullback
    >>> pullback.nn.functional.mish(pullback.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.3034,  0.0000,  0.8651])
    """
    return _placed("mish", input, ops.mish(of_kind("mish", input)), inplace)


elu_, celu_, selu_, rrelu_ = _in_place(elu), _in_place(celu), _in_place(selu), _in_place(rrelu)
relu_, leaky_relu_ = _in_place(relu), _in_place(leaky_relu)
hardtanh_, threshold_ = _in_place(hardtanh), _in_place(threshold)


@is_primitive(ops.gelu)
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """The input times the probability that a standard normal variable lies below it; arguments as for `nn.GELU`.

    With approximate='tanh', by a formula that needs no error function.

    >>> import pullback
    >>> pullback.nn.functional.gelu(pullback.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.1587,  0.0000,  0.8413])
    """
    of_kind("gelu", input)
    if approximate == "none":
        return ops.gelu(input)
    if approximate == "tanh":
        return ops.gelu_by_tanh(input)
    raise RuntimeError(f"approximate argument must be either none or tanh, not {approximate!r}")


@is_primitive(ops.softplus, beta=1.0, threshold=20)
def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """log(1 + exp(beta * input)) / beta; the input itself where beta * input is above the threshold.

    Arguments as for `nn.Softplus`.

    >>> import pullback
    >>> pullback.nn.functional.softplus(pullback.tensor([-1.0, 0.0, 30.0]))
    tensor([ 0.3133,  0.6931, 30.0000])
    """
    return ops.softplus(of_kind("softplus", input), beta=float(beta), threshold=threshold)


@is_primitive(ops.logsigmoid)
def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(input)), without overflow.

    >>> import pullback
    >>> pullback.nn.functional.logsigmoid(pullback.tensor([-1000.0, 0.0]))
    tensor([-1.0000e+03, -6.9315e-01])
    """
    return ops.logsigmoid(of_kind("logsigmoid", input))


def softsign(input: Tensor) -> Tensor:
    """input / (1 + abs(input)).

    >>> import pullback
    >>> pullback.nn.functional.softsign(pullback.tensor([-1.0, 0.0, 3.0]))
    tensor([-0.5000,  0.0000,  0.7500])
    """
    require_tensor("softsign", "input", input)
    return ops.softsign(input) if input._dtype.kind == "f" else input / (arithmetic.abs(input) + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """input - tanh(input).

    >>> import pullback
    >>> pullback.nn.functional.tanhshrink(pullback.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.2384,  0.0000,  0.2384])
    """
    require_tensor("tanhshrink", "input", input)
    return ops.tanhshrink(input) if input._dtype.kind == "f" else input - arithmetic.tanh(input)


@is_primitive(ops.hardshrink, bound=0.5)
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """0 within `lambd` of 0, the input elsewhere; arguments as for `nn.Hardshrink`.

    >>> import pullback
    >>> pullback.nn.functional.hardshrink(pullback.tensor([-1.0, 0.3, 2.0]))
    tensor([-1.,  0.,  2.])
    """
    return ops.hardshrink(of_kind("hardshrink", input), bound=lambd)


@is_primitive(ops.softshrink, bound=0.5)
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """The input moved towards 0 by `lambd`, and 0 within that of 0; arguments as for `nn.Softshrink`.

    >>> import pullback
    >>> pullback.nn.functional.softshrink(pullback.tensor([-1.0, 0.3, 2.0]))
    tensor([-0.5000,  0.0000,  1.5000])
    """
    if not lambd >= 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    return ops.softshrink(of_kind("softshrink", input), bound=lambd)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of an axis times the sigmoid of its second half.

    >>> import pullback
    >>> pullback.nn.functional.glu(pullback.tensor([1.0, 2.0, 0.0, 100.0]))
    tensor([0.5000, 2.0000])
    """
    require_tensor("glu", "input", input)
    if input.ndim == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors: it halves an axis")
    length = input.shape[normalize_axis(dim, input.ndim)]
    if length % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {length}")
    first, second = shapes.split(of_kind("glu", input), length // 2, dim) if length else (input, input)
    return first * arithmetic.sigmoid(second)


def _softmax_dim(name: str, ndim: int) -> int:
    """The default dim that torch once used for the softmax."""
    warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.")
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None) -> Tensor:
    """exp(input) divided by its sum along a dim.

    >>> import pullback
    >>> pullback.nn.functional.softmax(pullback.tensor([1.0, 1.0, 1000.0]), dim=0)
    tensor([0., 0., 1.])
    >>> pullback.nn.functional.softmax(pullback.zeros(2, 4), dim=1)
    tensor([[0.2500, 0.2500, 0.2500, 0.2500],
            [0.2500, 0.2500, 0.2500, 0.2500]])
    """
    require_tensor("softmax", "input", input)
    return reductions.softmax(input, _softmax_dim("softmax", input.ndim) if dim is None else dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None) -> Tensor:
    """The logarithm of softmax along a dim, without overflow.

    >>> import pullback
    >>> pullback.nn.functional.log_softmax(pullback.tensor([0.0, 1000.0]), dim=0)
    tensor([-1000.,     0.])
    """
    require_tensor("log_softmax", "input", input)
    return reductions.log_softmax(input, _softmax_dim("log_softmax", input.ndim) if dim is None else dim, dtype=dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None) -> Tensor:
    """The softmax of -input.

    >>> import pullback
    >>> pullback.nn.functional.softmin(pullback.tensor([0.0, 1000.0]), dim=0)
    tensor([1., 0.])
    """
    require_tensor("softmin", "input", input)
    negated = -input if dtype is None else -cast(input, dtypes.as_dtype(dtype).numpy)
    return reductions.softmax(negated, _softmax_dim("softmin", negated.ndim) if dim is None else dim)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A sample from the Gumbel-softmax distribution: logits plus noise, through a softmax of temperature tau.

    Parameters
    ----------
    logits
        Logarithms of probabilities, which need not add up to 1.
    tau
        The temperature: the smaller, the closer are samples to one-hot.
    hard
        Return one-hot samples, with the gradient of the soft ones.
    eps
        Accepted, and changes nothing.

    >>> import pullback
    >>> pullback.nn.functional.gumbel_softmax(pullback.zeros(5, 3), hard=True).sum(dim=1)
    tensor([1., 1., 1., 1., 1.])
    """
    of_kind("gumbel_softmax", logits)
    kind = logits._dtype

    least = finfo(kind).tiny
    gumbel = random.Elementwise(
        "gumbel", "random", kind, lambda xp, x: -xp.log(-xp.log(xp.maximum(x, xp.constant(least, kind))))
    )
    noise = random.sampled(gumbel, tuple(logits.shape))
    soft = reductions.softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    axis = normalize_axis(dim, soft.ndim)
    place = ops.argmax(soft, axis=axis, keepdims=True)
    one_hot = ops.put_along_axis(np.ones(place.shape, soft._dtype), place, axis=axis, shape=tuple(soft.shape))
    return one_hot - soft.detach() + soft
