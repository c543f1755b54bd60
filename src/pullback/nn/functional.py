"""Functions of layers and losses, by torch's names; the table in `_tensor.surface` says where they are defined.

What parameters mean where a function does not say otherwise; other arguments as for `pullback`:

Parameters
----------
target
    What is wanted of the input.
reduction
    "mean" or "sum" of the losses, or "none" for each.
size_average, reduce
    torch's old form of `reduction`.
"""

from .._tensor import functions as _functions

__getattr__, __dir__, __all__ = _functions.namespace(globals())
