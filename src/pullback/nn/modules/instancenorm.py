"""Normalization of each channel of each sample: Ulyanov, Vedaldi and Lempitsky, Instance normalization, 2016."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._core.sites import warn
from .. import functional as F
from .batchnorm import _NormBase

if TYPE_CHECKING:
    from ..._core.typing import Device, DType, Tensor


class _InstanceNorm(_NormBase):
    """Normalization of each channel of each sample."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Device | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        single = input.ndim == self._axes[0]
        place = 0 if single else 1
        if input.shape[place] != self.num_features:
            have = input.shape[place]
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={place} to match num_features ({self.num_features}), but got: {have}."
                )
            warn(
                f"input's size at dim={place} does not match num_features. You can silence this warning by not passing "
                "in num_features, which is not used because affine=False"
            )
        batch = input.unsqueeze(0) if single else input
        parts = self.running_mean, self.running_var, self.weight, self.bias
        of_input = self.training or not self.track_running_stats
        momentum = 0.0 if self.momentum is None else self.momentum
        result = F.instance_norm(batch, *parts, of_input, momentum, self.eps)
        return result.squeeze(0) if single else result

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing: list[str],
        unexpected: list[str],
        errors: list[str],
    ) -> None:
        """Load a state; one from before version 2 may have statistics that are no longer tracked."""
        names = [name for name in ("running_mean", "running_var") if f"{prefix}{name}" in state_dict]
        if local_metadata.get("version") is None and not self.track_running_stats and names:
            kind = type(self).__name__
            listed = " and ".join(f'"{prefix}{name}"' for name in names)
            errors.append(
                f"Unexpected running stats buffer(s) {listed} for {kind} with track_running_stats=False. If state_dict is "
                f"a checkpoint saved before 0.4.0, this may be expected because {kind} does not track running stats by "
                "default since 0.4.0. Please remove these keys from state_dict. If the running stats are actually "
                f"needed, instead set track_running_stats=True in {kind} to enable them."
            )
            for name in names:
                state_dict.pop(f"{prefix}{name}")
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing, unexpected, errors)


class InstanceNorm1d(_InstanceNorm):
    """Each channel of each sample of (N, C, L) or (C, L) with mean 0 and variance 1, times a weight plus a bias.

    Weight, bias and running statistics are optional, by default absent.

    Arguments as for `BatchNorm1d`.

    >>> import pullback
    >>> pullback.nn.InstanceNorm1d(3)(pullback.randn(20, 3, 8)).shape
    pullback.Size([20, 3, 8])
    """

    _axes = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Each channel of each sample of (N, C, H, W) or (C, H, W) with mean 0 and variance 1; as `InstanceNorm1d`.

    Arguments as for `BatchNorm1d`.

    >>> import pullback
    >>> pullback.nn.InstanceNorm2d(2)(pullback.arange(8.0).reshape(1, 2, 2, 2)).mean((2, 3)).abs().max() < 1e-6
    tensor(True)
    """

    _axes = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Each channel of each sample of (N, C, D, H, W) or (C, D, H, W) with mean 0 and variance 1.

    Arguments as for `BatchNorm1d`.

    >>> import pullback
    >>> pullback.nn.InstanceNorm3d(2)(pullback.ones(1, 2, 3, 3, 3)).shape
    pullback.Size([1, 2, 3, 3, 3])
    """

    _axes = (4, 5)
