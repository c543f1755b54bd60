"""torch.utils's modules checkpoint and data, and trees of values."""

from .._core import lazy as _lazy

__getattr__, __dir__, __all__ = _lazy.index(globals(), {}, "checkpoint data trees")
