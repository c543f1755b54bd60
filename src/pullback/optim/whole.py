"""The base of optimizers whose update is not elementwise: it depends on a whole parameter, such as a matrix.

A subclass says what it remembers of a parameter, and of which shape, and how it moves one. It computes with tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .._core.dtypes import default_numpy
from .._core.modes import enable_grad, no_grad, restoring
from .._core.primitives import Carrier
from .._tape.views import check_writable
from .._tensor.creation import zeros
from .optimizer import Group, Loss, Optimizer, State

if TYPE_CHECKING:
    from .._core.typing import DType, Tensor

COUNT = "step"


class Whole(Optimizer):
    """The base of optimizers that update one parameter at a time; subclasses define `remembers` and `move`."""

    def remembers(self, parameter: Tensor) -> dict[str, tuple[int, ...]]:
        """The shape of each tensor that is kept of a parameter; all begin as zeros."""
        raise NotImplementedError(f"{type(self).__name__} defines no remembers()")

    def move(self, group: Group, parameter: Tensor, gradient: Tensor, state: State) -> None:
        """Change a parameter and its state, in place, by a gradient."""
        raise NotImplementedError(f"{type(self).__name__} defines no move()")

    def require(self, group: Group, parameter: Tensor) -> None:
        """Refuse a parameter of a group that cannot be moved."""
        if parameter.is_complex():
            raise RuntimeError(
                f"{type(self).__name__} does not support complex parameters: one of shape {tuple(parameter.shape)} is "
                f"{parameter.dtype}. Give it view_as_real of it, or another optimizer"
            )
        check_writable(parameter, "step")

    @overload
    def step(self, closure: None = None) -> None: ...

    @overload
    def step(self, closure: Callable[[], Loss]) -> Loss: ...

    @restoring
    def step(self, closure: Callable[[], Loss] | None = None) -> Loss | None:
        """Change the parameters once.

        `closure`, if given, computes the loss anew, with its gradients, and returns it; so does `step` then.
        Parameters without a gradient are left alone.

        Raises
        ------
        RuntimeError
            If a parameter is complex. Nothing has changed then.
        """
        loss = None if closure is None else enable_grad()(closure)()
        with no_grad():
            moving = [(group, p, p.grad) for group in self.param_groups for p in group["params"] if p.grad is not None]
            for group, p, _ in moving:
                self.require(group, p)
            for group, p, g in moving:
                state = self.state[p]
                for name, shape in self.remembers(p).items():
                    if not isinstance(state.get(name), Carrier):  # in a state of an older torch the count is a number
                        begun = zeros(shape, dtype=_counting() if name == COUNT else p.dtype)
                        state[name] = begun + state.get(name, 0)
                self.move({**group, "lr": _number(group["lr"])}, p, g, state)
        return loss

    def _fitting(self, parameter: Tensor, value: Any, key: str | None = None) -> Any:
        fitting = super()._fitting(parameter, value, key)
        expected = None if key is None else self.remembers(parameter).get(key)
        if isinstance(fitting, Carrier) and expected is not None and tuple(fitting.shape) != expected:
            raise ValueError(
                f"loaded state dict contains {key!r} of shape {tuple(fitting.shape)} for a parameter of shape "
                f"{tuple(parameter.shape)}, of which {type(self).__name__} remembers {expected}"
            )
        return fitting


def _counting() -> DType:
    """The dtype in which steps are counted: that of double precision if it is the default."""
    default = default_numpy()
    return default if default == np.float64 else np.float32


def _number(rate: float | Tensor) -> float | Tensor:
    """A rate as a number, or as a tensor without axes that is as precise as one."""
    return rate.reshape(()).double() if isinstance(rate, Carrier) else rate


def require(option: bool, text: str, value: object) -> None:
    """Raise a ValueError if a condition on an option does not hold."""
    if not option:
        raise ValueError(f"{text}: {value}")


def require_single(lr: float | Tensor) -> None:
    """Refuse a rate that is a tensor of several elements."""
    if isinstance(lr, Carrier) and lr.numel() != 1:
        raise ValueError(f"Tensor lr must be 1-element: it has shape {tuple(lr.shape)}")


def require_rate(lr: float | Tensor) -> None:
    """Refuse a rate that is negative, or a tensor of several elements."""
    require_single(lr)
    require(bool(lr >= 0), "Learning rate should be >= 0 but is", lr)
