"""Averages of a model's parameters over training steps: plain or exponentially decaying.

Izmailov et al., Averaging weights leads to wider optima and better generalization, 2018.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from .._core.modes import no_grad
from .._core.values import holds
from .._tensor.creation import tensor
from ..nn.modules.batchnorm import _BatchNorm
from ..nn.modules.module import Module
from .optimizer import Optimizer
from .schedule import LRScheduler, PerGroup, is_whole, per_group

if TYPE_CHECKING:
    from .._core.typing import Device, Tensor

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]  # fmt: skip

Average = Callable[[Any, Any, Any], Any]
Averages = Callable[[Any, Any, Any], None]


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """A function that gives the exponential moving average of a parameter, for `AveragedModel(avg_fn=...)`.

    Parameters
    ----------
    decay
        The share that the average keeps at each step.

    >>> import pullback
    >>> pullback.optim.swa_utils.get_ema_avg_fn(0.9)(pullback.tensor(1.0), pullback.tensor(2.0), 7)
    tensor(1.1000)
    """
    _check_decay(decay)

    @no_grad()
    def average(averaged: Tensor, current: Tensor, count: int | Tensor) -> Tensor:
        return decay * averaged + (1 - decay) * current

    return average


def get_swa_avg_fn() -> Average:
    """A function that gives the plain average of a parameter, for `AveragedModel(avg_fn=...)`.

    >>> import pullback
    >>> pullback.optim.swa_utils.get_swa_avg_fn()(pullback.tensor(1.0), pullback.tensor(3.0), 1)
    tensor(2.)
    """

    @no_grad()
    def average(averaged: Tensor, current: Tensor, count: int | Tensor) -> Tensor:
        return averaged + (current - averaged) / (count + 1)

    return average


def _in_place(average: Average) -> Averages:
    """A function that writes the averages of many parameters."""

    @no_grad()
    def write(averaged: Tensor, current: Tensor, count: int | Tensor) -> None:
        for mine, theirs in zip(averaged, current, strict=True):
            mine.copy_(average(mine, theirs, count))

    return write


def get_ema_multi_avg_fn(decay: float = 0.999) -> Averages:
    """A function that writes exponential moving averages, for `AveragedModel(multi_avg_fn=...)`.

    Parameters
    ----------
    decay
        The share that the average keeps at each step.

    >>> import pullback
    >>> average, model = [pullback.tensor([0.0])], [pullback.tensor([1.0])]
    >>> pullback.optim.swa_utils.get_ema_multi_avg_fn(0.75)(average, model, None)
    >>> average
    [tensor([0.2500])]
    """
    return _in_place(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> Averages:
    """A function that writes plain averages, for `AveragedModel(multi_avg_fn=...)`.

    >>> import pullback
    >>> average, model = [pullback.tensor([0.0])], [pullback.tensor([1.0])]
    >>> pullback.optim.swa_utils.get_swa_multi_avg_fn()(average, model, 3)  # three were averaged before
    >>> average
    [tensor([0.2500])]
    """
    return _in_place(get_swa_avg_fn())


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of those it has had at each `update_parameters`.

    With `use_buffers` the buffers are averaged too; otherwise they are copied. The average is the plain one, or what
    `avg_fn(averaged, current, count)` gives for each parameter, or what `multi_avg_fn` writes for all.

    Parameters
    ----------
    model
        The model whose parameters are averaged; it is copied.
    device
        Where the average lies; there is only the CPU.
    avg_fn
        Called with the average, the parameter and how many were averaged; gives the new average. None for the mean.
    multi_avg_fn
        The same for lists of all parameters, which it changes in place.
    use_buffers
        Average buffers, too.

    >>> import pullback
    >>> model = pullback.nn.Linear(1, 1)
    >>> averaged = pullback.optim.swa_utils.AveragedModel(model)
    >>> for weight in [1.0, 2.0, 6.0]:
    ...     _ = pullback.nn.init.constant_(model.weight, weight)
    ...     averaged.update_parameters(model)
    >>> averaged.module.weight.item()
    3.0
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Device | None = None,
        avg_fn: Average | None = None,
        multi_avg_fn: Averages | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged model makes of its input."""
        return self.module(*args, **kwargs)

    @no_grad()
    def update_parameters(self, model: Module) -> None:
        """Take the parameters that a model has now into the averages."""
        mine, theirs = self._averaged(self.module), self._averaged(model)
        if holds(self.n_averaged == 0):
            for average, current in zip(mine, theirs, strict=True):
                average.copy_(current)
        else:
            write = self.multi_avg_fn or _in_place(self.avg_fn or get_swa_avg_fn())
            write(mine, theirs, self.n_averaged)
        if not self.use_buffers:
            for buffer, current in zip(self.module.buffers(), model.buffers(), strict=True):
                buffer.copy_(current)
        self.n_averaged += 1

    def _averaged(self, model: Module) -> list[Tensor]:
        """The tensors of a model that are averaged."""
        buffers = model.buffers() if self.use_buffers else ()
        return [each.detach() for each in itertools.chain(model.parameters(), buffers)]


@no_grad()
def update_bn(
    loader: Iterable[Tensor | list[Any] | tuple[Any, ...]], model: Module, device: Device | None = None
) -> None:
    """Compute the running statistics of all batch normalizations of a model anew, from the batches of a loader.

    A batch is the input, or a list or tuple that begins with it.

    Parameters
    ----------
    loader
        The batches: tensors, or sequences that begin with one.
    model
        The model whose running statistics are computed again.
    device
        Where batches are moved to; None to leave them.

    >>> import pullback
    >>> model = pullback.nn.BatchNorm1d(1)
    >>> pullback.optim.swa_utils.update_bn([pullback.tensor([[1.0], [3.0]])], model)
    >>> model.running_mean
    tensor([2.])
    """
    norms: dict[Any, Any] = {module: module.momentum for module in model.modules() if isinstance(module, _BatchNorm)}
    if not norms:
        return
    was_training = model.training
    model.train()
    for module in norms:
        module.reset_running_stats()
        module.momentum = None
    for batch in loader:
        given = batch[0] if isinstance(batch, list | tuple) else batch
        model(given if device is None else given.to(device))
    for module, momentum in norms.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """The rate from what it is to `swa_lr` in `anneal_epochs` epochs, and constant from then on.

    Parameters
    ----------
    optimizer
        The optimizer.
    swa_lr
        The learning rate that is reached: one, or one for each group.
    anneal_epochs
        In how many epochs.
    anneal_strategy
        "cos" or "linear".
    last_epoch
        The epoch from which to go on; -1 for the start.

    Raises
    ------
    ValueError
        For an unknown `anneal_strategy`, a negative number of epochs, or not as many rates as groups.

    >>> from pullback import ones, optim
    >>> optimizer = optim.SGD([ones(1, requires_grad=True)], lr=1.0)
    >>> schedule = optim.swa_utils.SWALR(optimizer, swa_lr=0.5, anneal_epochs=2, anneal_strategy="linear")
    >>> for epoch in range(3):
    ...     optimizer.step()
    ...     schedule.step()
    ...     print(schedule.get_last_lr())
    [0.75]
    [0.5]
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: PerGroup[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        rates = per_group("swa_lr", optimizer, swa_lr)
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not is_whole(anneal_epochs, 0):
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["swa_lr"] = rate
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[float | Tensor]:
        """The rates for the current epoch: what they were at first is found from what they are."""
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            lr, target = group["lr"], group["swa_lr"]
            first = target if before == 1 else (lr - before * target) / (1 - before)
            rates.append(target * now + first * (1 - now))
        return rates

    def _share(self, step: int) -> float:
        """The fraction of the annealing that is done after some steps."""
        way = max(0, min(1, step / max(1, self.anneal_epochs)))
        return way if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * way)) / 2
