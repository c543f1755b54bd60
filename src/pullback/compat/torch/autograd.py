"""The functions of torch.autograd that are not about derivatives."""

import contextlib
from collections.abc import Sequence

from ... import Tensor, zeros
from .inert import does_nothing
from .profiling import kineto_available as kineto_available


def is_multithreading_enabled() -> bool:
    """False: a backward pass runs in the thread that called it."""
    return False


def _is_checkpoint_valid() -> bool:
    """True: a pass may compute again what a checkpoint has not kept."""
    return True


def _profiler_enabled() -> bool:
    """False: the profiler is Python's."""
    return False


_disable_profiler = does_nothing


def set_multithreading_enabled(mode: object) -> contextlib.AbstractContextManager[None]:
    """A context in which backward passes may run in several threads; it has no effect."""
    return contextlib.nullcontext()


def _construct_standard_basis_for(tensors: Sequence[Tensor], tensor_numels: Sequence[int]) -> tuple[Tensor, ...]:
    """The unit vectors of a space, a row for each, divided into columns for tensors with so many elements."""
    size, parts, before = sum(tensor_numels), [], 0
    for tensor, count in zip(tensors, tensor_numels, strict=True):
        part = zeros(size, count, dtype=tensor.dtype)
        part.diagonal(-before).fill_(1)
        parts.append(part)
        before += count
    return tuple(parts)
