"""Activations: each a function of nn.functional with its settings."""

from __future__ import annotations

from dataclasses import InitVar
from typing import TYPE_CHECKING

from .. import functional as F, init
from ..parameter import allocate, check_sizes
from .declared import Computed, declared
from .module import Module

if TYPE_CHECKING:
    from ..._core.typing import Device, DType, Tensor


@declared(F.threshold)
class Threshold(Computed):
    """x where it is above a threshold, else a value.

    Parameters
    ----------
    threshold
        What has to be exceeded.
    value
        The result elsewhere.
    inplace
        Write the result to the input.

    >>> import pullback
    >>> pullback.nn.Threshold(1.0, -7.0)(pullback.tensor([0.5, 2.0]))
    tensor([-7.,  2.])
    """

    threshold: float
    value: float
    inplace: bool = False


@declared(F.relu)
class ReLU(Computed):
    """x where it is positive, else 0.

    Parameters
    ----------
    inplace
        Write the result to the input.

    >>> import pullback
    >>> pullback.nn.ReLU()(pullback.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    inplace: bool = False


@declared(F.rrelu)
class RReLU(Computed):
    """A leaky ReLU whose slope is drawn for each element from [lower, upper); their mean in evaluation.

    Parameters
    ----------
    lower
        The least slope below 0.
    upper
        The largest slope below 0.
    inplace
        Write the result to the input.

    >>> import pullback
    >>> pullback.nn.RReLU(0.25, 0.75).eval()(pullback.tensor([-2.0, 3.0]))
    tensor([-1.,  3.])
    """

    lower: float = 1.0 / 8
    upper: float = 1.0 / 3
    inplace: bool = False


@declared(F.hardtanh)
class Hardtanh(Computed):
    """x clamped to the interval between two bounds.

    Parameters
    ----------
    min_val
        The smallest result.
    max_val
        The largest result.
    inplace
        Write the result to the input.
    min_value
        torch's old name of `min_val`.
    max_value
        torch's old name of `max_val`.

    >>> import pullback
    >>> pullback.nn.Hardtanh(-1.0, 2.0)(pullback.tensor([-3.0, 0.5, 3.0]))
    tensor([-1.0000,  0.5000,  2.0000])
    """

    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False
    min_value: InitVar[float | None] = None
    max_value: InitVar[float | None] = None

    def __post_init__(self, min_value: float | None = None, max_value: float | None = None) -> None:
        Module.__init__(self)
        self.min_val = self.min_val if min_value is None else min_value
        self.max_val = self.max_val if max_value is None else max_value
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")


class ReLU6(Hardtanh):
    """x clamped to [0, 6].

    Parameters
    ----------
    inplace
        Write the result to the input.

    >>> import pullback
    >>> pullback.nn.ReLU6()(pullback.tensor([-1.0, 5.0, 8.0]))
    tensor([0., 5., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


@declared(F.sigmoid)
class Sigmoid(Computed):
    """1 / (1 + exp(-x)).

    >>> import pullback
    >>> pullback.nn.Sigmoid()(pullback.zeros(2))
    tensor([0.5000, 0.5000])
    """


@declared(F.hardsigmoid, shows="")
class Hardsigmoid(Computed):
    """A piecewise linear sigmoid: x / 6 + 1 / 2, clamped to [0, 1].

    Parameters
    ----------
    inplace
        Write the result to the input.

    >>> import pullback
    >>> pullback.nn.Hardsigmoid()(pullback.tensor([-4.0, 0.0, 1.5]))
    tensor([0.0000, 0.5000, 0.7500])
    """

    inplace: bool = False


@declared(F.tanh)
class Tanh(Computed):
    """The hyperbolic tangent.

    >>> import pullback
    >>> pullback.nn.Tanh()(pullback.tensor([0.0, 0.5, 100.0]))
    tensor([0.0000, 0.4621, 1.0000])
    """


@declared(F.silu)
class SiLU(Computed):
    """x * sigmoid(x), also called swish.

    Parameters
    ----------
    inplace
        Write the result to the input.

    >>> import pullback
    >>> pullback.nn.SiLU()(pullback.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.2689,  0.0000,  0.7311])
    """

    inplace: bool = False


@declared(F.mish)
class Mish(Computed):
    """x * tanh(softplus(x)).

    Parameters
    ----------
    inplace
        Write the result to the input.

    >>> import pullback
    >>> pullback.nn.Mish()(pullback.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.3034,  0.0000,  0.8651])
    """

    inplace: bool = False


@declared(F.hardswish, shows="")
class Hardswish(Computed):
    """x * hardsigmoid(x).

    Parameters
    ----------
    inplace
        Write the result to the input.

    >>> import pullback
    >>> pullback.nn.Hardswish()(pullback.tensor([-1.0, 1.5, 4.0]))
    tensor([-0.3333,  1.1250,  4.0000])
    """

    inplace: bool = False


@declared(F.elu)
class ELU(Computed):
    """x where it is positive, else alpha * (exp(x) - 1).

    Parameters
    ----------
    alpha
        The limit for large negative numbers is minus this.
    inplace
        Write the result to the input.

    >>> import pullback
    >>> pullback.nn.ELU()(pullback.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    alpha: float = 1.0
    inplace: bool = False


@declared(F.celu)
class CELU(Computed):
    """x where it is positive, else alpha * (exp(x / alpha) - 1).

    Parameters
    ----------
    alpha
        The limit for large negative numbers is minus this.
    inplace
        Write the result to the input.

    >>> import pullback
    >>> pullback.nn.CELU(alpha=2.0)(pullback.tensor([-2.0, 3.0]))
    tensor([-1.2642,  3.0000])
    """

    alpha: float = 1.0
    inplace: bool = False


@declared(F.selu)
class SELU(Computed):
    """A scaled ELU that preserves mean 0 and variance 1 of activations.

    Parameters
    ----------
    inplace
        Write the result to the input.

    >>> import pullback
    >>> pullback.nn.SELU()(pullback.tensor([-1.0, 0.0, 1.0]))
    tensor([-1.1113,  0.0000,  1.0507])
    """

    inplace: bool = False


@declared(F.glu)
class GLU(Computed):
    """The first half along an axis, times the sigmoid of the second.

    Parameters
    ----------
    dim
        The axis.

    >>> import pullback
    >>> pullback.nn.GLU()(pullback.tensor([1.0, 2.0, 0.0, 100.0]))
    tensor([0.5000, 2.0000])
    """

    dim: int = -1


@declared(F.gelu)
class GELU(Computed):
    """x times the probability that a standard normal number is below it; 'tanh' approximates that.

    Parameters
    ----------
    approximate
        "none", or "tanh" for an approximation.

    >>> import pullback
    >>> pullback.nn.GELU()(pullback.tensor([-1.0, 0.0, 3.0]))
    tensor([-0.1587,  0.0000,  2.9960])
    """

    approximate: str = "none"


@declared(F.hardshrink, shows="{lambd}")
class Hardshrink(Computed):
    """x where its magnitude is above lambd, else 0.

    Parameters
    ----------
    lambd
        The bound.

    >>> import pullback
    >>> pullback.nn.Hardshrink(0.5)(pullback.tensor([-1.0, 0.3, 2.0]))
    tensor([-1.,  0.,  2.])
    """

    lambd: float = 0.5


@declared(F.leaky_relu)
class LeakyReLU(Computed):
    """x where it is positive, else negative_slope * x.

    Parameters
    ----------
    negative_slope
        The slope below 0.
    inplace
        Write the result to the input.

    >>> import pullback
    >>> pullback.nn.LeakyReLU(0.1)(pullback.tensor([-2.0, 3.0]))
    tensor([-0.2000,  3.0000])
    """

    negative_slope: float = 0.01
    inplace: bool = False


@declared(F.logsigmoid)
class LogSigmoid(Computed):
    """The logarithm of the sigmoid.

    >>> import pullback
    >>> pullback.nn.LogSigmoid()(pullback.tensor([0.0, 1.0]))
    tensor([-0.6931, -0.3133])
    """


@declared(F.softplus)
class Softplus(Computed):
    """log(1 + exp(beta * x)) / beta, a smooth ReLU; x itself where beta * x is above the threshold.

    Parameters
    ----------
    beta
        What the input is multiplied by.
    threshold
        Where that exceeds this, the result is the input.

    >>> import pullback
    >>> pullback.nn.Softplus()(pullback.tensor([-1.0, 0.0, 30.0]))
    tensor([ 0.3133,  0.6931, 30.0000])
    """

    beta: float = 1.0
    threshold: float = 20.0


@declared(F.softshrink, shows="{lambd}")
class Softshrink(Computed):
    """x moved towards 0 by lambd, and not past it.

    Parameters
    ----------
    lambd
        The bound.

    >>> import pullback
    >>> pullback.nn.Softshrink(0.5)(pullback.tensor([-1.0, 0.3, 2.0]))
    tensor([-0.5000,  0.0000,  1.5000])
    """

    lambd: float = 0.5


@declared(F.softsign)
class Softsign(Computed):
    """x / (1 + |x|).

    >>> import pullback
    >>> pullback.nn.Softsign()(pullback.tensor([-1.0, 0.0, 3.0]))
    tensor([-0.5000,  0.0000,  0.7500])
    """


@declared(F.tanhshrink)
class Tanhshrink(Computed):
    """x - tanh(x).

    >>> import pullback
    >>> pullback.nn.Tanhshrink()(pullback.tensor([0.0, 1.0]))
    tensor([0.0000, 0.2384])
    """


@declared(F.softmin)
class Softmin(Computed):
    """Softmax of -x along an axis.

    Parameters
    ----------
    dim
        The axis.

    >>> import pullback
    >>> pullback.nn.Softmin(dim=0)(pullback.tensor([0.0, 1000.0]))
    tensor([1., 0.])
    """

    dim: int | None = None


@declared(F.softmax)
class Softmax(Computed):
    """exp(x) divided by its sum along an axis.

    Parameters
    ----------
    dim
        The axis.

    >>> import pullback
    >>> pullback.nn.Softmax(dim=1)(pullback.tensor([[0.0, 0.0], [0.0, 1000.0]]))
    tensor([[0.5000, 0.5000],
            [0.0000, 1.0000]])
    """

    dim: int | None = None


@declared(F.log_softmax)
class LogSoftmax(Computed):
    """The logarithm of the softmax along an axis.

    Parameters
    ----------
    dim
        The axis.

    >>> import pullback
    >>> pullback.nn.LogSoftmax(dim=0)(pullback.tensor([0.0, 1000.0]))
    tensor([-1000.,     0.])
    """

    dim: int | None = None


class Softmax2d(Module):
    """The softmax over the channels of images (N, C, H, W) or (C, H, W).

    >>> import pullback
    >>> pullback.nn.Softmax2d()(pullback.zeros(1, 4, 2, 2))[0, :, 0, 0]
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in {3, 4}:
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3)


class PReLU(Module):
    """x where it is positive, else x times a slope that is learned: one for all channels, or one for each.

    Parameters
    ----------
    num_parameters
        The number of slopes: 1, or one for each channel.
    init
        What they begin with.
    device
        Where the parameters lie; there is only the CPU.
    dtype
        The dtype of the parameters; None for the default.

    >>> import pullback
    >>> pullback.nn.PReLU()(pullback.tensor([-1.0, 2.0]))
    tensor([-0.2500,  2.0000], grad_fn=<PreluKernelBackward0>)
    """

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Device | None = None, dtype: DType | None = None
    ) -> None:
        super().__init__()
        check_sizes(self, num_parameters=num_parameters)
        self.num_parameters = num_parameters
        self.init = init
        self.weight = allocate(num_parameters, device=device, dtype=dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset the slopes to their initial value."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"
