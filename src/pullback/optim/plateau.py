"""ReduceLROnPlateau: rates that are reduced when a metric stops improving."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._core.sites import warn
from .optimizer import Optimizer, as_float
from .schedule import EPOCH_DEPRECATION_WARNING, LRScheduler, PerGroup, require_optimizer, set_option, values_of

if TYPE_CHECKING:
    from .._core.typing import Tensor


class ReduceLROnPlateau(LRScheduler):
    """The rate times `factor` when a metric has not improved for more than `patience` epochs.

    `step(metrics)` takes the number; what counts as better is said by `mode` ("min" or "max"), `threshold` and
    `threshold_mode` ("rel" or "abs").

    Parameters
    ----------
    optimizer
        The optimizer whose rates are set.
    mode
        "min" if a smaller value is better, "max" if a larger one is.
    factor
        What the rate is multiplied by.
    patience
        How many values that are not better are allowed.
    threshold
        How much better counts as better.
    threshold_mode
        Whether that is a share of the best value, "rel", or a difference, "abs".
    cooldown
        For how many values after a reduction nothing is counted.
    min_lr
        The lowest rate, or one for each group.
    eps
        The least change of a rate that is made.

    Raises
    ------
    ValueError
        If `factor` is not below 1, or a mode is unknown, or there are not as many `min_lr` as groups.

    >>> import pullback
    >>> optimizer = pullback.optim.SGD([pullback.ones(1, requires_grad=True)], lr=1.0)
    >>> schedule = pullback.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
    >>> for loss in [3.0, 2.0, 2.0, 2.0]:
    ...     schedule.step(loss)
    >>> schedule.get_last_lr()
    [0.1]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: PerGroup[float] = 0,
        eps: float = 1e-8,
    ) -> None:
        if not factor < 1.0:
            raise ValueError(f"Factor should be < 1.0. It is {factor}")
        require_optimizer(optimizer)
        if mode not in {"min", "max"}:
            raise ValueError(f"mode {mode} is unknown! It is 'min' or 'max'")
        if threshold_mode not in {"rel", "abs"}:
            raise ValueError(f"threshold mode {threshold_mode} is unknown! It is 'rel' or 'abs'")
        count = len(optimizer.param_groups)
        self.default_min_lr = None if isinstance(min_lr, list | tuple) else min_lr
        self.min_lrs = list(min_lr) if isinstance(min_lr, list | tuple) else [min_lr] * count
        if len(self.min_lrs) != count:
            raise ValueError(f"expected {count} min_lrs, got {len(self.min_lrs)}")
        self.factor = factor
        self.optimizer = optimizer
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = values_of(optimizer, "lr")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self._reset()

    def _reset(self) -> None:
        """Forget the best value, and count epochs from now on."""
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics: float | Tensor, epoch: int | None = None) -> None:  # type: ignore[override]  # this one takes a number
        """Take the metric of an epoch, and reduce the rates if it has not improved for long enough."""
        current = as_float(metrics)
        if epoch is not None:
            warn(EPOCH_DEPRECATION_WARNING)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = values_of(self.optimizer, "lr")

    def _reduce_lr(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                    f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due to a new param group being "
                    "added to the optimizer. Please modify the `min_lrs` field to match the length of the `optimizer` "
                    "param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            old = as_float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                set_option(group, "lr", new)

    @property
    def in_cooldown(self) -> bool:
        """Whether the rates were reduced within the last `cooldown` epochs, in which no epoch counts as bad."""
        return self.cooldown_counter > 0

    def _is_better(self, a: float, best: float) -> bool:
        sign = -1 if self.mode == "min" else 1
        margin = sign * self.threshold
        bound = best * (1.0 + margin) if self.threshold_mode == "rel" else best + margin
        return sign * a > sign * bound
