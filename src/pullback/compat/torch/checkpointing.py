"""The names of torch.utils.checkpoint that are not public: the random state of devices, and the function of older programs.

Reversible layers keep the state of each device beside that of the CPU; there are no devices, so there is no such state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...autograd.checkpointing import checkpoint
from .accelerators import cuda

if TYPE_CHECKING:
    from ..._core.typing import Tensor


def get_device_states(*args: object) -> tuple[list[int], list[Tensor]]:
    """The devices of tensors other than the CPU, and the random states of these: none."""
    return [], []


def set_device_states(devices: Sequence[int], states: Sequence[Tensor], *, device_type: str | None = None) -> None:
    """Set the random states of devices; AssertionError if there are any, since there is only the CPU."""
    for _ in zip(devices, states, strict=False):
        cuda.set_rng_state()


class CheckpointFunction:
    """A checkpoint by the interface of a custom function: `apply(function, preserve_rng_state, *args)`."""

    @staticmethod
    def apply(run_function: Callable[..., Any], preserve_rng_state: bool, *args: object) -> Any:
        """The function's result, whose intermediate values are computed again by backward."""
        return checkpoint(run_function, *args, use_reentrant=False, preserve_rng_state=preserve_rng_state)
