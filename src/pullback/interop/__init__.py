"""Other libraries on tensors: what one call sets up for them."""

from .._core.lazy import index as _index

__getattr__, __dir__, __all__ = _index(globals(), {}, "arrays einops scipy")
