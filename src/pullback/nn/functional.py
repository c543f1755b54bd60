"""Functions of layers and losses, by torch's names; the table in `_tensor.surface` says where they are defined.

What parameters mean where a function does not say otherwise:

Parameters
----------
input
    The tensor to compute with.
bias
    What is added at the end; None for nothing.
dim, axis
    The axis along which is computed.
dtype
    The dtype to compute in; None for that of the input.
training
    True in training, False in evaluation.
inplace
    Write the result to the input, and return that.
out
    A tensor to write the result to, which is returned.
target
    What is wanted of the input.
reduction
    "mean" or "sum" of the losses, or "none" for each.
size_average, reduce
    torch's old form of `reduction`.
"""

from .._tensor import functions as _functions

__getattr__, __dir__, __all__ = _functions.namespace(globals())
