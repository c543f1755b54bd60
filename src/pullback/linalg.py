"""Linear algebra, by torch's names: of the matrices in the last two axes of a tensor.

>>> import pullback
>>> a = pullback.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True)
>>> sign, size = pullback.linalg.slogdet(a)
>>> size.backward()
>>> a.grad
tensor([[ 0.6000, -0.2000],
        [-0.2000,  0.4000]])
"""

from ._tensor import functions as _functions

__getattr__, __dir__, __all__ = _functions.namespace(globals())
