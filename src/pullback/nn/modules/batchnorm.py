"""Normalization of each channel over the batch: Ioffe and Szegedy, Batch normalization, 2015."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._tensor.creation import ones, tensor, zeros
from .. import functional as F
from ..parameter import check_sizes
from .normalization import Scaled

if TYPE_CHECKING:
    from ..._core.typing import Device, DType, Tensor
    from .module import Module


class _NormBase(Scaled):
    """The common base of normalizations of channels: weight, bias, and running statistics as buffers."""

    _version = 2
    _axes: tuple[int, ...]
    """The allowed numbers of axes of the input."""
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        check_sizes(self, num_features=num_features)
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self._scale((num_features,), affine, affine and bias, device, dtype)
        placed = {"device": device, "dtype": dtype}
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, **placed) if tracked else None)
        self.register_buffer("running_var", ones(num_features, **placed) if tracked else None)
        self.register_buffer("num_batches_tracked", tensor(0, device=device) if tracked else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Reset the statistics: mean 0, variance 1, no batches."""
        for statistic, value in ((self.running_mean, 0), (self.running_var, 1), (self.num_batches_tracked, 0)):
            if statistic is not None:
                statistic.fill_(value)

    def reset_parameters(self) -> None:
        """Reset weight, bias and statistics to their initial values."""
        self.reset_running_stats()
        super().reset_parameters()

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim not in self._axes:
            expected = " or ".join(f"{count}D" for count in self._axes)
            batch = ": it has no batch axis, input.unsqueeze(0) has one" if str(input.ndim + 1) in expected else ""
            raise ValueError(f"expected {expected} input (got {input.ndim}D input){batch}")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *rest: Any
    ) -> None:
        """Load a state; one older than version 2 has no `num_batches_tracked`."""
        if (local_metadata.get("version") or 1) < 2 and self.track_running_stats:
            count = self.num_batches_tracked
            state_dict.setdefault(f"{prefix}num_batches_tracked", tensor(0) if count is None else count)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
    """Normalization over the batch or, in evaluation, with the running statistics."""

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        momentum: float | Tensor = 0.0 if self.momentum is None else self.momentum
        learning = self.training and self.track_running_stats
        if learning and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1.0 / self.num_batches_tracked.double()
        running = self.running_mean, self.running_var
        of_batch = self.training or (running[0] is None and running[1] is None)
        used = running if not self.training or self.track_running_stats else (None, None)
        return F.batch_norm(input, *used, self.weight, self.bias, of_batch, momentum, self.eps)


class BatchNorm1d(_BatchNorm):
    """Each feature of (N, C) or (N, C, L) with mean 0 and variance 1 over the batch, times a weight plus a bias.

    In training the running mean and variance move towards those of the batch, by `momentum` (None: their plain
    average); in evaluation they are used. The running variance is the unbiased one.

    Parameters
    ----------
    num_features
        The number of channels.
    eps
        A small number added to the variance.
    momentum
        The share of each batch in the running statistics; None for their plain average.
    affine
        Multiply by a weight and add a bias, which are learned.
    track_running_stats
        Keep running statistics, which are used in evaluation.
    device
        Where the parameters lie; there is only the CPU.
    dtype
        The dtype of the parameters; None for the default.
    bias
        Add a bias, which is learned.

    >>> import pullback
    >>> norm = pullback.nn.BatchNorm1d(3)
    >>> norm(pullback.randn(20, 3)).shape, norm.num_batches_tracked
    (pullback.Size([20, 3]), tensor(1))
    """

    _axes = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Each channel of (N, C, H, W) with mean 0 and variance 1 over the batch; as `BatchNorm1d`.

    Arguments as for `BatchNorm1d`.

    >>> import pullback
    >>> y = pullback.nn.BatchNorm2d(3)(pullback.arange(48.0).reshape(4, 3, 2, 2))
    >>> y.mean((0, 2, 3)).abs().max() < 1e-5
    tensor(True)
    """

    _axes = (4,)


class BatchNorm3d(_BatchNorm):
    """Each channel of (N, C, D, H, W) with mean 0 and variance 1 over the batch; as `BatchNorm1d`.

    Arguments as for `BatchNorm1d`.

    >>> import pullback
    >>> pullback.nn.BatchNorm3d(2)(pullback.ones(4, 2, 3, 3, 3)).shape
    pullback.Size([4, 2, 3, 3, 3])
    """

    _axes = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalization over several processes, always one here: as `BatchNorm1d`, for any number of axes.

    Arguments as for `BatchNorm1d`.

    Parameters
    ----------
    process_group
        Accepted, and changes nothing.

    >>> from pullback import nn, tensor
    >>> nn.SyncBatchNorm(1)(tensor([[-1.0], [1.0]])).tolist() == nn.BatchNorm1d(1)(tensor([[-1.0], [1.0]])).tolist()
    True
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: object | None = None,
        device: Device | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: object | None = None) -> Module:
        """A module whose batch normalizations are SyncBatchNorm layers with the same parameters and statistics.

        The module itself is changed, unless it is such a layer.

        >>> from pullback import nn
        >>> nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm1d(2)))
        Sequential(
          (0): SyncBatchNorm(2, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
        )
        """
        result = module
        if isinstance(module, _BatchNorm):
            result = SyncBatchNorm(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
            )
            result.train(module.training)
            for name in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked"):
                setattr(result, name, getattr(module, name))
        for name, child in [*module.named_children()]:
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim < 2:
            raise ValueError(f"expected at least 2D input (got {input.ndim}D input)")
