"""Special functions, by torch's names.

Error functions, gamma functions and orthogonal polynomials are computed with NumPy; Bessel and Airy functions and
incomplete integrals need SciPy, the extra `pullback[special]`. All are differentiable, to any order and in every
argument that is a real number.
"""

from ._tensor import functions as _functions

__getattr__, __dir__, __all__ = _functions.namespace(globals())
