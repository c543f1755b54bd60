"""Layers, models and losses by torch's names, imported on first access."""

from .._core import lazy as _lazy
from . import modules

__getattr__, __dir__, __all__ = _lazy.index(
    globals(),
    {
        "parameter": "Buffer Parameter",
        "uninitialized": "UninitializedBuffer UninitializedParameter",
        "modules": " ".join(name for names in modules.INDEX.values() for name in names.split()),
    },
    "functional grad init utils",
)
