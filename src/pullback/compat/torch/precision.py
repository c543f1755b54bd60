"""torch.amp: contexts of mixed precision, which change no precision here, and GradScaler."""

from __future__ import annotations

import contextlib
import enum
import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..._core.errors import require_state
from ...extend import warn
from .notes import note

if TYPE_CHECKING:
    from ..._core.typing import Function, Tensor
    from ...optim.optimizer import Optimizer


_ON_CPU = "cpu"


def is_autocast_available(device_type: str) -> bool:
    """True if there is such a device."""
    return device_type == _ON_CPU


class autocast(contextlib.ContextDecorator):
    """A context of mixed precision for a kind of device.

    On the CPU torch computes products in half precision there; pullback keeps full precision, and warns once.
    """

    def __init__(
        self, device_type: str, dtype: object = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device, self.fast_dtype = device_type, dtype
        self._enabled = enabled and is_autocast_available(device_type)
        if self._enabled:
            note("autocast has no effect here: pullback computes in the dtypes that tensors have")
        elif enabled:
            warn(f"User provided device_type of {device_type!r}, but it is not available. Disabling")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class _CudaAutocast(autocast):
    """torch.cuda.amp.autocast, for a device that does not exist."""

    def __init__(self, enabled: bool = True, dtype: object = None, cache_enabled: bool = True) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)


class _CpuAutocast(autocast):
    """torch.cpu.amp.autocast."""

    def __init__(self, enabled: bool = True, dtype: object = None, cache_enabled: bool = True) -> None:
        super().__init__(_ON_CPU, dtype, enabled, cache_enabled)


class OptState(enum.Enum):
    """How far a scaler is with an optimizer's gradients since the last update: a stage, as subclasses keep it."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _refresh_per_optimizer_state() -> dict[str, object]:
    """What subclasses keep of an optimizer since the last update."""
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class GradScaler:
    """Scales losses up, so that float16 gradients do not underflow, and gradients down before a step.

    A step with gradients that are not finite is skipped, and the scale is reduced; after `growth_interval` successful
    steps it is increased. It is disabled for devices that do not exist.

    >>> import pullback
    >>> from pullback.compat.torch.precision import GradScaler
    >>> w = pullback.ones(1, requires_grad=True)
    >>> step = pullback.optim.SGD([w], lr=0.5)
    >>> scaler = GradScaler("cpu", init_scale=4.0)
    >>> scaler.scale(w * 1).backward()
    >>> w.grad
    tensor([4.])
    >>> scaler.step(step)
    >>> scaler.update()
    >>> w
    tensor([0.5000], requires_grad=True)
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled and is_autocast_available(device)
        if enabled and not self._enabled:
            warn(f"torch.{device}.amp.GradScaler is enabled, but {device} is not available. Disabling.")
        if self._enabled and not growth_factor > 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if self._enabled and not backoff_factor < 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._scale, self._growth_factor, self._backoff_factor = float(init_scale), growth_factor, backoff_factor
        self._growth_interval, self._growth_tracker = growth_interval, 0
        self._finite: dict[int, bool] = {}  # of the optimizers whose gradients have been unscaled

    def is_enabled(self) -> bool:
        """True if it scales."""
        return self._enabled

    def get_scale(self) -> float:
        """The factor for losses; 1 if disabled."""
        return self._scale if self._enabled else 1.0

    def scale(self, outputs: Any) -> Any:
        """A tensor, or each of a list or tuple of them, times the scale."""
        if not self._enabled:
            return outputs
        if hasattr(outputs, "__iter__") and not hasattr(outputs, "requires_grad"):
            return type(outputs)(map(self.scale, outputs))
        return outputs * self._scale

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide the gradients of an optimizer's parameters by the scale, for clipping; otherwise `step` does it."""
        if not self._enabled:
            return
        if id(optimizer) in self._finite:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        grads = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        for grad in grads:
            grad.detach().div_(self._scale)
        self._finite[id(optimizer)] = all(bool(np.isfinite(grad.detach().numpy()).all()) for grad in grads)

    def step(self, optimizer: Optimizer, *args: Any, **options: Any) -> Any:
        """The optimizer's step, unless a gradient is not finite."""
        if "closure" in options:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        if not self._enabled:
            return optimizer.step(*args, **options)
        if id(optimizer) not in self._finite:
            self.unscale_(optimizer)
        return optimizer.step(*args, **options) if self._finite[id(optimizer)] else None

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Change the scale according to the steps since the last call, or set it."""
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        elif not self._finite:
            raise AssertionError("No inf checks were recorded prior to update.")
        elif not all(self._finite.values()):
            self._scale, self._growth_tracker = self._scale * self._backoff_factor, 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                self._scale, self._growth_tracker = self._scale * self._growth_factor, 0
        self._finite = {}

    def state_dict(self) -> dict[str, float]:
        """The state needed to resume; empty if disabled."""
        if not self._enabled:
            return {}
        names = ("scale", "growth_factor", "backoff_factor", "growth_interval")
        return {name: getattr(self, f"_{name}") for name in names} | {"_growth_tracker": self._growth_tracker}

    def load_state_dict(self, state_dict: Mapping[str, float]) -> None:
        """Restore a result of `state_dict`."""
        if not self._enabled:
            return
        require_state(state_dict)
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled GradScaler."
            )
        for name, value in state_dict.items():
            setattr(self, f"_{name.lstrip('_')}", value)


def custom_fwd(function: Function | None = None, *, device_type: str = "cuda", cast_inputs: object = None) -> Function:
    """A decorator for the forward of a custom function under autocast: the function is returned unchanged."""
    return functools.partial(custom_fwd, device_type=device_type) if function is None else function


def custom_bwd(function: Function | None = None, *, device_type: str = "cuda") -> Function:
    """A decorator for the backward of a custom function under autocast: the function is returned unchanged."""
    return functools.partial(custom_bwd, device_type=device_type) if function is None else function


class cuda_amp:
    """torch.cuda.amp."""

    autocast = _CudaAutocast
    GradScaler: Callable[..., GradScaler] = staticmethod(lambda *args, **options: GradScaler("cuda", *args, **options))
    custom_fwd, custom_bwd = staticmethod(custom_fwd), staticmethod(custom_bwd)


class cpu_amp:
    """torch.cpu.amp."""

    autocast = _CpuAutocast
    GradScaler: Callable[..., GradScaler] = staticmethod(lambda *args, **options: GradScaler("cpu", *args, **options))
