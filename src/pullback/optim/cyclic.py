"""Schedules that rise and fall, momentum the opposite way: Smith, Cyclical learning rates, 2017, and One cycle, 2018."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict

from .._core.errors import require_state
from .optimizer import Group, Optimizer
from .schedule import LRScheduler, PerGroup, is_whole, per_group, require_optimizer, set_option

if TYPE_CHECKING:
    from .._core.typing import Tensor


class _WithMomentum(LRScheduler):
    """A schedule that moves momentum too: that of SGD, or the first beta of Adam."""

    cycle_momentum: bool
    use_beta1: bool

    def _begin_momentum(
        self, base: PerGroup[float], most: PerGroup[float], last_epoch: int
    ) -> tuple[list[float], list[float]]:
        """The bounds of momentum for each group, which is put at the upper one in the beginning."""
        optimizer = self.optimizer
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError(
                "optimizer must support momentum or beta1 with `cycle_momentum` option enabled: "
                f"{type(optimizer).__name__} has neither; pass cycle_momentum=False"
            )
        self.use_beta1 = "betas" in optimizer.defaults
        lows, highs = per_group("base_momentum", optimizer, base), per_group("max_momentum", optimizer, most)
        if last_epoch == -1:
            for group, low, high in zip(optimizer.param_groups, lows, highs, strict=True):
                self._set_momentum(group, high)
                group["max_momentum"], group["base_momentum"] = high, low
        return lows, highs

    def _set_momentum(self, group: Group, momentum: float | Tensor) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(_WithMomentum):
    """The rate up from `base_lr` to `max_lr` and down again, over and over.

    `mode` is "triangular", "triangular2" (half as high in each cycle) or "exp_range" (lower by `gamma` in each step), or
    `scale_fn` says how high, of the cycle or of the iterations (`scale_mode`).

    Parameters
    ----------
    optimizer
        The optimizer whose rates are set.
    base_lr
        The lowest rate, or one for each group.
    max_lr
        The highest rate, or one for each group.
    step_size_up
        The number of steps upwards.
    step_size_down
        The number of steps downwards; None for as many.
    mode
        How the amplitude changes: "triangular", "triangular2" (halved in each cycle) or "exp_range" (by
        `gamma` in each step).
    gamma
        The factor of "exp_range".
    scale_fn
        A function that gives the amplitude, in the place of `mode`.
    scale_mode
        What `scale_fn` is a function of: "cycle" or "iterations".
    cycle_momentum
        Move the momentum, too, against the rate.
    base_momentum
        The momentum where the rate is highest.
    max_momentum
        The momentum where the rate is lowest.
    last_epoch
        The number of the last step that has been made; -1 begins.

    Raises
    ------
    ValueError
        If the mode is unknown, if lists do not have one value for each group, or if there is no momentum to cycle.

    >>> import pullback
    >>> optimizer = pullback.optim.SGD([pullback.ones(1, requires_grad=True)], momentum=0.9)
    >>> schedule = pullback.optim.lr_scheduler.CyclicLR(optimizer, base_lr=1.0, max_lr=2.0, step_size_up=2)
    >>> optimizer.step()
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [1.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: PerGroup[float],
        max_lr: PerGroup[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[int], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        require_optimizer(optimizer)
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(f"mode is invalid and scale_fn is None: mode is {mode!r}")
        self.optimizer = optimizer
        base_lrs = per_group("base_lr", optimizer, base_lr)
        self.max_lrs = per_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups, strict=True):
                set_option(group, "lr", lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._begin_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: int) -> float:
        """How high a cycle goes, or an iteration."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "exp_range":
            return float(self.gamma**x)
        return 1.0 if self.mode == "triangular" else 1 / 2.0 ** (x - 1)

    def _rates(self) -> list[float | Tensor]:
        """The rates for the current epoch; also sets the momentum."""
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        place = 1.0 + self.last_epoch / self.total_size - cycle
        height = place / self.step_ratio if place <= self.step_ratio else (place - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            bounds = zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True)
            for group, low, high in bounds:
                self._set_momentum(group, high - (high - low) * height * scale)
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        return [low + (high - low) * height * scale for low, high in pairs]

    def state_dict(self) -> dict[str, Any]:
        """The state of the schedule, with the attributes of `scale_fn` if it is an object."""
        function = self._scale_fn_custom
        kept = None if function is None or isinstance(function, types.FunctionType) else vars(function).copy()
        return {**super().state_dict(), "_scale_fn_custom": kept}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state that `state_dict` returned; `scale_fn` itself stays."""
        require_state(state_dict)
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "_scale_fn_custom"})
        if state_dict["_scale_fn_custom"] is not None:
            vars(self._scale_fn_custom).update(state_dict["_scale_fn_custom"])


class OneCycleLR(_WithMomentum):
    """The rate up to `max_lr` and down to almost nothing, once, in `total_steps` steps, or `epochs * steps_per_epoch`.

    Smith and Topin, Super-convergence: very fast training of neural networks using large learning rates, 2018.

    Parameters
    ----------
    optimizer
        The optimizer whose rates are set.
    max_lr
        The highest rate, or one for each group.
    total_steps
        The number of steps; None for `epochs` times `steps_per_epoch`.
    epochs
        The number of passes over the data.
    steps_per_epoch
        The number of steps in each.
    pct_start
        The share of the steps in which the rate rises.
    anneal_strategy
        The shape of rise and fall: "cos" or "linear".
    cycle_momentum
        Move the momentum, too, against the rate.
    base_momentum
        The momentum where the rate is highest.
    max_momentum
        The momentum where the rate is lowest.
    div_factor
        The highest rate divided by the first.
    final_div_factor
        The first rate divided by the last.
    three_phase
        Fall as long as it rose, and then further to the last rate.
    last_epoch
        The number of the last step that has been made; -1 begins.

    Raises
    ------
    ValueError
        If the number of steps is missing or not positive, for an unknown strategy, and from `step` beyond the last.

    >>> import pullback
    >>> optimizer = pullback.optim.SGD([pullback.ones(1, requires_grad=True)], momentum=0.9)
    >>> schedule = pullback.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10)
    >>> [round(lr, 6) for lr in schedule.get_last_lr()]
    [0.04]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: PerGroup[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: PerGroup[float] = 0.85,
        max_momentum: PerGroup[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        require_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _total_steps(total_steps, epochs, steps_per_epoch)
        if not _is_share(pct_start):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        rates = per_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, most in zip(optimizer.param_groups, rates, strict=True):
                group["initial_lr"] = most / div_factor
                group["max_lr"] = most
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._begin_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[float | Tensor]:
        """The rates for the current epoch; also sets the momentum."""
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        start = 0.0
        phase = self._schedule_phases[-1]
        for each in self._schedule_phases[:-1]:
            if step <= each["end_step"]:
                phase = each
                break
            start = each["end_step"]
        share = (step - start) / (phase["end_step"] - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                ends = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, self._between(*ends, share))
        return rates

    def _between(self, start: float | Tensor, end: float | Tensor, share: float) -> float | Tensor:
        """The value at a fraction of the way from one value to another."""
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)
        return (end - start) * share + start


def _total_steps(total: int | None, epochs: int | None, each: int | None) -> int:
    """The number of steps, given as such or as epochs times steps per epoch."""
    if total is None and (epochs is None or each is None):
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    given = {"epochs": epochs, "steps_per_epoch": each} if total is None else {"total_steps": total}
    for name, value in given.items():
        if not is_whole(value, 1):
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return math.prod(value for value in given.values() if value is not None)


def _is_share(value: object) -> bool:
    """Whether a value is a float from 0 to 1."""
    return isinstance(value, float) and 0 <= value <= 1


class Phase(TypedDict):
    """A phase of a cycle: where it ends, and the options between which rate and momentum move."""

    end_step: float
    start_lr: str
    end_lr: str
    start_momentum: str
    end_momentum: str


def _phases(total: int, share: float, three: bool) -> list[Phase]:
    """The phases of a cycle: where each ends, and the options between which rate and momentum move."""
    ends = [float(share * total) - 1, *([float(2 * share * total) - 2] if three else []), total - 1]
    rates = ["initial_lr", "max_lr", *(["initial_lr"] if three else []), "min_lr"]
    momenta = ["max_momentum", "base_momentum", "max_momentum", *(["max_momentum"] if three else [])]
    return [
        {
            "end_step": end, "start_lr": rates[i], "end_lr": rates[i + 1],
            "start_momentum": momenta[i], "end_momentum": momenta[i + 1],
        }
        for i, end in enumerate(ends)
    ]  # fmt: skip
