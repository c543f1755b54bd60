"""Schedules by a formula of the epoch: functions, factors and cosines.

Most are chainable: the new rate is the old one times a factor, so that several schedules may act on one optimizer. Those
that also have a closed form follow it where an epoch is named.
"""

from __future__ import annotations

import math
import types
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .._core.errors import require_state
from .optimizer import Optimizer
from .schedule import LRScheduler, PerGroup, is_whole, values_of

if TYPE_CHECKING:
    from .._core.typing import Tensor

Factor = Callable[[int], float]

# Functions of the epoch


class _Functions(LRScheduler):
    """A schedule given by functions of the epoch, one for each group."""

    def __init__(self, optimizer: Optimizer, lr_lambda: PerGroup[Factor], last_epoch: int = -1) -> None:
        self.optimizer = optimizer
        count = len(optimizer.param_groups)
        if isinstance(lr_lambda, list | tuple) and len(lr_lambda) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(lr_lambda)}")
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, list | tuple) else [lr_lambda] * count
        for function in self.lr_lambdas:
            if not callable(function):
                raise TypeError(f"lr_lambda should be a function, but got {type(function).__name__}")
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """The state of the schedule, with the attributes of those functions that are objects."""
        kept = [None if isinstance(f, types.FunctionType) else vars(f).copy() for f in self.lr_lambdas]
        return {**super().state_dict(), "lr_lambdas": kept}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state that `state_dict` returned; the functions themselves stay."""
        require_state(state_dict)
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "lr_lambdas"})
        for function, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if attributes is not None:
                vars(function).update(attributes)


class LambdaLR(_Functions):
    """The initial rate times a function of the epoch, or one for each group.

    Parameters
    ----------
    optimizer
        The optimizer whose rates are set.
    lr_lambda
        A function of the number of the step that gives a factor, or a list with one for each group.
    last_epoch
        The number of the last step that has been made; -1 begins.

    >>> import pullback
    >>> optimizer = pullback.optim.SGD([pullback.ones(1, requires_grad=True)], lr=1.0)
    >>> schedule = pullback.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
    >>> optimizer.step()
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.5]
    """

    def _rates(self) -> list[float | Tensor]:
        pairs = zip(self.lr_lambdas, self.base_lrs, strict=True)
        return [base * function(self.last_epoch) for function, base in pairs]


class MultiplicativeLR(_Functions):
    """The previous rate times a function of the epoch, or one for each group.

    Parameters
    ----------
    optimizer
        The optimizer whose rates are set.
    lr_lambda
        A function of the number of the step that gives the next factor of the rate, or a list with one for
        each group.
    last_epoch
        The number of the last step that has been made; -1 begins.

    >>> import pullback
    >>> optimizer = pullback.optim.SGD([pullback.ones(1, requires_grad=True)], lr=1.0)
    >>> schedule = pullback.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
    >>> for epoch in range(3):
    ...     optimizer.step()
    ...     schedule.step()
    ...     print(schedule.get_last_lr())
    [0.5]
    [0.25]
    [0.125]
    """

    def _rates(self) -> list[float | Tensor]:
        if self._is_initial:
            return self._multiplied(None)
        pairs = zip(self.lr_lambdas, self.optimizer.param_groups, strict=True)
        return [group["lr"] * function(self.last_epoch) for function, group in pairs]


# Factors


class StepLR(LRScheduler):
    """The rate times `gamma` every `step_size` epochs.

    Parameters
    ----------
    optimizer
        The optimizer whose rates are set.
    step_size
        The number of steps between two multiplications.
    gamma
        The factor that the rate is multiplied by.
    last_epoch
        The number of the last step that has been made; -1 begins.

    >>> import pullback
    >>> optimizer = pullback.optim.SGD([pullback.ones(1, requires_grad=True)], lr=1.0)
    >>> schedule = pullback.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> for epoch in range(3):
    ...     optimizer.step()
    ...     schedule.step()
    ...     print(schedule.get_last_lr())
    [1.0]
    [0.5]
    [0.5]
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[float | Tensor]:
        changes = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return self._multiplied(self.gamma if changes else None)

    def _get_closed_form_lr(self) -> list[float | Tensor]:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """The rate times `gamma` at each of the milestones.

    Parameters
    ----------
    optimizer
        The optimizer whose rates are set.
    milestones
        The numbers of the steps at which the rate is multiplied, ascending.
    gamma
        The factor that the rate is multiplied by.
    last_epoch
        The number of the last step that has been made; -1 begins.

    >>> import pullback
    >>> optimizer = pullback.optim.SGD([pullback.ones(1, requires_grad=True)], lr=1.0)
    >>> schedule = pullback.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 3], gamma=0.5)
    >>> for epoch in range(3):
    ...     optimizer.step()
    ...     schedule.step()
    ...     print(schedule.get_last_lr())
    [0.5]
    [0.5]
    [0.25]
    """

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        if not isinstance(milestones, Iterable):
            raise TypeError(f"milestones must be a list of steps, such as [30, 80], and not {milestones!r}")
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[float | Tensor]:
        times = self.milestones.get(self.last_epoch)
        return self._multiplied(None if times is None else self.gamma**times)

    def _get_closed_form_lr(self) -> list[float | Tensor]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """The rate times a factor until epoch `total_iters`.

    Parameters
    ----------
    optimizer
        The optimizer whose rates are set.
    factor
        What the rate is multiplied by until then.
    total_iters
        The number of steps until the rate stays as it is.
    last_epoch
        The number of the last step that has been made; -1 begins.

    >>> import pullback
    >>> optimizer = pullback.optim.SGD([pullback.ones(1, requires_grad=True)], lr=1.0)
    >>> schedule = pullback.optim.lr_scheduler.ConstantLR(optimizer, factor=0.25, total_iters=2)
    >>> for epoch in range(3):
    ...     optimizer.step()
    ...     schedule.step()
    ...     print(schedule.get_last_lr())
    [0.25]
    [1.0]
    [1.0]
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError(f"Constant multiplicative factor expected to be between 0 and 1. It is {factor}")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[float | Tensor]:
        if self.last_epoch == 0:
            return self._multiplied(self.factor)
        return self._multiplied(1.0 / self.factor if self.last_epoch == self.total_iters else None)

    def _get_closed_form_lr(self) -> list[float | Tensor]:
        factor = self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)
        return [base * factor for base in self.base_lrs]


class LinearLR(LRScheduler):
    """The rate times a factor that changes linearly from `start_factor` to `end_factor` in `total_iters` epochs.

    Parameters
    ----------
    optimizer
        The optimizer whose rates are set.
    start_factor
        What the rate is multiplied by at first.
    end_factor
        What it is multiplied by in the end.
    total_iters
        The number of steps until the rate stays as it is.
    last_epoch
        The number of the last step that has been made; -1 begins.

    >>> import pullback
    >>> optimizer = pullback.optim.SGD([pullback.ones(1, requires_grad=True)], lr=1.0)
    >>> schedule = pullback.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.25, total_iters=3)
    >>> for epoch in range(3):
    ...     optimizer.step()
    ...     schedule.step()
    ...     print(schedule.get_last_lr())
    [0.5]
    [0.75]
    [1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal to 1. "
                f"It is {start_factor}"
            )
        if not 0 <= end_factor <= 1:
            raise ValueError(f"Ending multiplicative factor expected to be between 0 and 1. It is {end_factor}")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[float | Tensor]:
        if self.last_epoch == 0:
            return self._multiplied(self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._multiplied(None)
        way = self.end_factor - self.start_factor
        return self._multiplied(1.0 + way / (self.total_iters * self.start_factor + (self.last_epoch - 1) * way))

    def _get_closed_form_lr(self) -> list[float | Tensor]:
        done = min(self.total_iters, self.last_epoch)
        factor = self.start_factor + (self.end_factor - self.start_factor) * done / self.total_iters
        return [base * factor for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """The rate times `gamma` every epoch.

    Parameters
    ----------
    optimizer
        The optimizer whose rates are set.
    gamma
        The factor that the rate is multiplied by.
    last_epoch
        The number of the last step that has been made; -1 begins.

    >>> import pullback
    >>> optimizer = pullback.optim.SGD([pullback.ones(1, requires_grad=True)], lr=1.0)
    >>> schedule = pullback.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> for epoch in range(3):
    ...     optimizer.step()
    ...     schedule.step()
    ...     print(schedule.get_last_lr())
    [0.5]
    [0.25]
    [0.125]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[float | Tensor]:
        return self._multiplied(None if self._is_initial else self.gamma)

    def _get_closed_form_lr(self) -> list[float | Tensor]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """The initial rate times (1 - epoch / total_iters) to a power, until it is zero.

    Parameters
    ----------
    optimizer
        The optimizer whose rates are set.
    total_iters
        The number of steps until the rate stays as it is.
    power
        The power of what is left of the steps that the rate is multiplied by.
    last_epoch
        The number of the last step that has been made; -1 begins.

    >>> import pullback
    >>> optimizer = pullback.optim.SGD([pullback.ones(1, requires_grad=True)], lr=1.0)
    >>> schedule = pullback.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=4)
    >>> for epoch in range(3):
    ...     optimizer.step()
    ...     schedule.step()
    ...     print(schedule.get_last_lr())
    [0.75]
    [0.5]
    [0.25]
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[float | Tensor]:
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._multiplied(None)
        now, before = (1.0 - epoch / self.total_iters for epoch in (self.last_epoch, self.last_epoch - 1))
        return self._multiplied((now / before) ** self.power)

    def _get_closed_form_lr(self) -> list[float | Tensor]:
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]


# Cosines: Loshchilov and Hutter, SGDR: stochastic gradient descent with warm restarts, 2017


class CosineAnnealingLR(LRScheduler):
    """The rate on a cosine from the initial one down to `eta_min` in `T_max` epochs, and up again.

    Parameters
    ----------
    optimizer
        The optimizer whose rates are set.
    T_max
        The number of steps from the highest rate to the lowest.
    eta_min
        The lowest rate.
    last_epoch
        The number of the last step that has been made; -1 begins.

    >>> import pullback
    >>> optimizer = pullback.optim.SGD([pullback.ones(1, requires_grad=True)], lr=1.0)
    >>> schedule = pullback.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
    >>> for epoch in range(3):
    ...     optimizer.step()
    ...     schedule.step()
    ...     print(round(schedule.get_last_lr()[0], 3))
    0.5
    0.0
    0.5
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[float | Tensor]:
        epoch, period, least = self.last_epoch, self.T_max, self.eta_min
        if self._is_initial:
            return self._multiplied(None)
        if self._step_count == 1 and epoch > 0:
            return self._get_closed_form_lr()
        rates = values_of(self.optimizer, "lr")
        if (epoch - 1 - period) % (2 * period) == 0:
            rise = (1 - math.cos(math.pi / period)) / 2
            return [rate + (base - least) * rise for base, rate in zip(self.base_lrs, rates, strict=True)]
        factor = (1 + math.cos(math.pi * epoch / period)) / (1 + math.cos(math.pi * (epoch - 1) / period))
        return [factor * (rate - least) + least for rate in rates]

    def _get_closed_form_lr(self) -> list[float | Tensor]:
        height = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """The rate on a cosine from the initial one to `eta_min` in `T_0` epochs, and anew, each time `T_mult` as long.

    Parameters
    ----------
    optimizer
        The optimizer whose rates are set.
    T_0
        The number of steps until the first restart.
    T_mult
        The factor by which that number grows at each restart.
    eta_min
        The lowest rate.
    last_epoch
        The number of the last step that has been made; -1 begins.

    >>> import pullback
    >>> optimizer = pullback.optim.SGD([pullback.ones(1, requires_grad=True)], lr=1.0)
    >>> schedule = pullback.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
    >>> for epoch in range(3):
    ...     optimizer.step()
    ...     schedule.step()
    ...     print(round(schedule.get_last_lr()[0], 3))
    0.5
    1.0
    0.5
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if not is_whole(T_0, 1):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if not is_whole(T_mult, 1):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, float | int):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[float | Tensor]:
        height = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Set the rates of the next epoch, or of `epoch`, which may be fractional."""
        if epoch is None and self.last_epoch >= 0:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            epoch = 0 if epoch is None else epoch
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        self._set_rates(self.get_lr)

    def _go_to(self, epoch: float) -> None:
        """Find the period that contains an epoch."""
        self.T_i, self.T_cur = self.T_0, epoch
        if epoch >= self.T_0 and self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        elif epoch >= self.T_0:
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**n
