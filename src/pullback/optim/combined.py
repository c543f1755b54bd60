"""Several schedules on one optimizer: one after another, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from .._core.errors import require_state
from .optimizer import Optimizer
from .plateau import ReduceLROnPlateau
from .schedule import LRScheduler, set_option, values_of


class _Combined(LRScheduler):
    """A schedule made of others, whose states are saved and loaded with its own."""

    _schedulers: Sequence[LRScheduler]

    def _check(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None) -> None:
        name = type(self).__name__
        for i, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be "
                    f"specified when calling `step`, but got one at index {i} in the given schedulers sequence."
                )
            if optimizer is not scheduler.optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"{type(scheduler).__name__} at index {i} has {scheduler.optimizer}, which is different from "
                    f"{type(optimizer).__name__}."
                )

    def state_dict(self) -> dict[str, Any]:
        """The state of the schedule, and those of its parts."""
        return {**super().state_dict(), "_schedulers": [scheduler.state_dict() for scheduler in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state that `state_dict` returned."""
        require_state(state_dict)
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)


class SequentialLR(_Combined):
    """Schedules one after another: the next one takes over at each milestone.

    Parameters
    ----------
    optimizer
        The optimizer whose rates are set.
    schedulers
        The schedules, in their order.
    milestones
        The numbers of the steps at which the next one takes over.
    last_epoch
        The number of the last step that has been made; -1 begins.

    Raises
    ------
    ValueError
        If there is no schedule, not one milestone less than schedules, or schedules of several optimizers.

    >>> import pullback
    >>> from pullback.optim import lr_scheduler
    >>> optimizer = pullback.optim.SGD([pullback.ones(1, requires_grad=True)], lr=1.0)
    >>> parts = [lr_scheduler.ConstantLR(optimizer, 0.5, 9), lr_scheduler.ExponentialLR(optimizer, 0.9)]
    >>> schedule = lr_scheduler.SequentialLR(optimizer, parts, milestones=[2])
    >>> rates = []
    >>> for _ in range(4):
    ...     rates += schedule.get_last_lr()
    ...     optimizer.step()
    ...     schedule.step()
    >>> rates
    [0.5, 0.5, 1.0, 0.9]
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int], last_epoch: int = -1
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler, but got no scheduler.")
        self._check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone "
                f"points, but got number of schedulers {len(schedulers)} and the number of milestones to be equal to "
                f"{len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        for group in optimizer.param_groups:  # what the schedules did when they were made is undone
            set_option(group, "lr", group["initial_lr"])
        self._undo(schedulers)
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def _undo(self, schedulers: Sequence[LRScheduler]) -> None:
        for scheduler in schedulers:
            if hasattr(scheduler, "_schedulers"):
                self._undo(scheduler._schedulers)
            elif hasattr(scheduler, "last_epoch"):
                scheduler.last_epoch -= 1

    def step(self) -> None:  # type: ignore[override]  # epochs cannot be named here
        """Set the rates of the next epoch."""
        self.last_epoch += 1
        turn = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[turn]
        if turn > 0 and self._milestones[turn - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Combined):
    """Chainable schedules that act all at once: their factors multiply.

    Parameters
    ----------
    schedulers
        The schedules, whose factors are multiplied.
    optimizer
        The optimizer of all of them; None for that of the first.

    Raises
    ------
    ValueError
        If there is no schedule, or schedules of several optimizers.

    >>> from pullback import ones, optim
    >>> optimizer = optim.SGD([ones(1, requires_grad=True)], lr=1.0)
    >>> parts = optim.lr_scheduler.StepLR(optimizer, 2, 0.1), optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    >>> schedule = optim.lr_scheduler.ChainedScheduler(parts)
    >>> for epoch in range(3):
    ...     optimizer.step()
    ...     schedule.step()
    ...     print(schedule.get_last_lr())
    [0.5]
    [0.025]
    [0.0125]
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if len(schedulers) < 1:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler to be chained, but got no scheduler."
            )
        self._check(schedulers, optimizer or getattr(schedulers[0], "optimizer", None))
        self._schedulers = schedulers
        self.optimizer = optimizer or schedulers[0].optimizer
        self._last_lr = values_of(self.optimizer, "lr")

    def step(self) -> None:  # type: ignore[override]  # epochs cannot be named here
        """Set the rates of the next epoch."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = values_of(self.optimizer, "lr")
