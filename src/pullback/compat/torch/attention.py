"""torch.nn.attention: the choice of an attention kernel, of which there is only one."""

import contextlib
import enum
from collections.abc import Iterator


class SDPBackend(enum.IntEnum):
    """torch's kernels of attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends: object, set_priority: bool = False) -> Iterator[None]:
    """A context in which attention is computed by certain kernels; it has no effect on results."""
    yield
