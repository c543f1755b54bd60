"""Functions of layers and losses, by torch's names; the table in `_tensor.surface` says where they are defined."""

from .._tensor import functions as _functions

__getattr__, __dir__, __all__ = _functions.namespace(globals())
