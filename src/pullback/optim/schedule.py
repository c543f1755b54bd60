"""LRScheduler, the base of all schedules, and what they share: rates of groups, and warnings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from weakref import ref

from .._core.errors import require_state
from .._core.modes import like
from .._core.package import package
from .._core.primitives import Carrier
from .._core.sites import warn
from .optimizer import Group, Optimizer

if TYPE_CHECKING:
    from .._core.typing import Tensor

Value = TypeVar("Value")
PerGroup: TypeAlias = Value | list[Value] | tuple[Value, ...]
"""One value for all groups of an optimizer, or one for each."""

_ORDER = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed form "
    "is used instead of the new chainable form, where available."
)


def values_of(optimizer: Optimizer, name: str) -> list[Any]:
    """An option of all groups; tensors are copied."""
    return [_copy(group[name]) for group in optimizer.param_groups]


def per_group(name: str, optimizer: Optimizer, value: PerGroup[Value]) -> list[Value]:
    """An argument for each group, from one for all or a list."""
    count = len(optimizer.param_groups)
    if not isinstance(value, list | tuple):
        return [_copy(value) for _ in range(count)]
    if len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, param_groups "
            f"has {count}."
        )
    return [_copy(each) for each in value]


def _copy(value: Value) -> Value:
    return value.clone() if isinstance(value, Carrier) else value


def set_option(group: Group, name: str, value: float | Tensor) -> None:
    """Set an option of a group: in place if it is a tensor."""
    if isinstance(group[name], Carrier):
        group[name].fill_(value.reshape(()) if isinstance(value, Carrier) else value)
    else:
        group[name] = value


def is_whole(number: object, least: int) -> bool:
    """Whether a value is a whole number, and large enough."""
    return isinstance(number, int) and number >= least


def require_optimizer(optimizer: Optimizer) -> None:
    """Raise a TypeError for anything but an optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(
            f"{type(optimizer).__name__} is not an Optimizer: pass the optimizer itself, such as {package}.optim.SGD(...)"
        )


class LRScheduler:
    """The base of all schedules: subclasses define `get_lr`, the rates for `self.last_epoch`.

    Parameters
    ----------
    optimizer
        The optimizer whose rates are set.
    last_epoch
        The number of the last step that has been made; -1 begins.

    Raises
    ------
    TypeError
        If `optimizer` is no Optimizer.
    KeyError
        If a schedule is resumed, with a `last_epoch`, on groups without an `initial_lr`.

    >>> import pullback
    >>> class Halving(pullback.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [base * 0.5**self.last_epoch for base in self.base_lrs]
    >>> optimizer = pullback.optim.SGD([pullback.ones(1, requires_grad=True)], lr=1.0)
    >>> schedule = Halving(optimizer)
    >>> optimizer.step()
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.5]
    """

    _get_lr_called_within_step = False
    _is_initial = False
    optimizer: Optimizer
    _last_lr: list[float | Tensor]

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        require_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copy(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with "
                    "last_epoch >= 0: load the optimizer's state first, or begin with last_epoch=-1"
                )
        self.base_lrs = values_of(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _watch(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """The state of the schedule: all that it has but the optimizer."""
        return {name: value for name, value in vars(self).items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state that `state_dict` returned."""
        require_state(state_dict)
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[float | Tensor]:
        """The rates that the schedule has set last, one for each group."""
        return self._last_lr

    def get_lr(self) -> list[float | Tensor]:
        """The rates for the current epoch, which `step` sets; `get_last_lr` gives them to others."""
        if not self._get_lr_called_within_step:
            warn("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.")
        return self._rates()

    def _rates(self) -> list[float | Tensor]:
        """The rates for the current epoch."""
        raise NotImplementedError(f"{type(self).__name__} defines no get_lr()")

    def step(self, epoch: int | None = None) -> None:
        """Set the rates of the next epoch, or of `epoch`."""
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warn(EPOCH_DEPRECATION_WARNING)
        self._update_lr(epoch)

    def _check_order(self) -> None:
        """Warn if the rate changes before the optimizer has used the first."""
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            warn(
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. "
                f"Please, make sure to call `optimizer.step()` before `lr_scheduler.step()`. {_ORDER}"
            )
        elif not getattr(self.optimizer, "_opt_called", False):
            warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you "
                "should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to "
                f"do this will result in PyTorch skipping the first value of the learning rate schedule. {_ORDER}"
            )

    def _update_lr(self, epoch: int | None = None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
        self._set_rates(self.get_lr if closed is None else closed)

    def _set_rates(self, rates: Callable[[], list[float | Tensor]]) -> None:
        self._get_lr_called_within_step = True
        try:
            values = rates()
        finally:
            self._get_lr_called_within_step = False
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            set_option(group, "lr", value)
        self._last_lr = values_of(self.optimizer, "lr")

    def _multiplied(self, factor: float | None) -> list[float | Tensor]:
        """The rates times a factor; None leaves them as they are."""
        rates = values_of(self.optimizer, "lr")
        return rates if factor is None else [rate * factor for rate in rates]


def _watch(optimizer: Any) -> None:
    """Make an optimizer record that a step was taken."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    step, known = optimizer.step.__func__, ref(optimizer)

    @like(step)
    def watched(*args: Any, **kwargs: Any) -> Any:
        stepping: Any = known()
        stepping._opt_called = True
        return step(stepping, *args, **kwargs)

    watched._wrapped_by_lr_sched = True  # torch's mark
    optimizer.step = watched
