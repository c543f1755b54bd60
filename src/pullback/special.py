"""Special functions, by torch's names.

Those of the error function, of the gamma function and of orthogonal polynomials are computed with NumPy; Bessel's and
Airy's functions and the incomplete integrals need SciPy, the extra `pullback[special]`. All are differentiable, to any
order and in every argument that is a real number.
"""

from ._tensor import functions as _functions

__getattr__, __dir__, __all__ = _functions.namespace(globals())
