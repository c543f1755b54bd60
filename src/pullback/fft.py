"""Discrete Fourier transforms by torch's names, differentiable for real and complex tensors.

The results have the precision of the input: complex64 from float32, complex128 from float64.
"""

from ._tensor import functions as _functions

__getattr__, __dir__, __all__ = _functions.namespace(globals())
