"""How torch's optimizers group their tensors and choose among implementations, for optimizers that are written like them.

Of each optimizer there is one implementation, whose loop over parameters is what torch calls the single-tensor way.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ... import Tensor, device, set_grad_enabled
from ...extend import restoring

if TYPE_CHECKING:
    from ..._core.typing import Device
    from ...optim.optimizer import Optimizer


TensorListList: TypeAlias = list[list[Tensor | None]]
Indices: TypeAlias = list[int]
ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
Groups: TypeAlias = dict[tuple[device, Any], tuple[TensorListList, Indices]]

_foreach_supported_types = [Tensor]


def _group_tensors_by_device_and_dtype(tensorlistlist: Sequence[Sequence[Any]], with_indices: bool = False) -> Groups:
    """Parallel lists of tensors, divided by the device and the dtype of those in the first list.

    `with_indices` gives each group the places of its tensors in the first list.
    """
    found: Groups = {}
    for place, first in enumerate(tensorlistlist[0]):
        lists, places = found.setdefault((first.device, first.dtype), ([[] for _ in tensorlistlist], []))
        for group, tensors in zip(lists, tensorlistlist, strict=True):
            if tensors:  # a list may be empty: no gradients of one kind
                group.append(tensors[place])
        if with_indices:
            places.append(place)
    return found


def _get_foreach_kernels_supported_devices() -> list[str]:
    """The kinds of devices, but the CPU, for which torch has operations on lists."""
    return ["cuda", "xpu", "mtia", "privateuseone"]


def _get_fused_kernels_supported_devices() -> list[str]:
    """The kinds of devices for which torch has fused steps."""
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """The kinds of devices whose steps can be recorded as a graph of CUDA: none."""
    return []


def _device_has_foreach_support(device: Any) -> bool:
    """True if there are operations on lists for a device: there are, `torch._foreach_...`, for the CPU."""
    return device.type in {*_get_foreach_kernels_supported_devices(), "cpu"}


def _has_foreach_support(tensors: Iterable[Tensor | None], device: Device) -> bool:
    """True if there are operations on lists for tensors of this class on a device."""
    return _device_has_foreach_support(device) and all(
        each is None or type(each) in _foreach_supported_types for each in tensors
    )


def _default_to_fused_or_foreach(
    params: Iterable[Tensor], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Which of two quicker implementations is the default, the fused one or that of lists: on the CPU neither."""
    return False, False


def _use_grad_for_differentiable(func: Callable[..., Any]) -> Callable[..., Any]:
    """A step that is recorded only if the optimizer's option `differentiable` is true."""

    @restoring
    @functools.wraps(func)
    def step(self: Optimizer, *args: object, **kwargs: object) -> Any:
        with set_grad_enabled(bool(self.defaults.get("differentiable"))):
            return func(self, *args, **kwargs)

    return step
