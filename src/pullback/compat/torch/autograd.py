"""The functions of torch.autograd that are not about derivatives."""

import contextlib

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
