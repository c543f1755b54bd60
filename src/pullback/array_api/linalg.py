"""Linear algebra by the standard, of the matrices in the last two axes of a tensor, with gradients.

>>> from pullback import array_api as xp
>>> a = xp.asarray([[2.0, 1.0], [1.0, 3.0]]).requires_grad_()
>>> xp.linalg.slogdet(a).logabsdet.backward()
>>> a.grad
tensor([[ 0.6000, -0.2000],
        [-0.2000,  0.4000]], dtype=pullback.float64)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import linalg as _linalg
from .._numpy.linalg import LINALG as _LINALG
from .derived import derived as _derived, described as _described
from .operands import array as _array, together as _together
from .statistics import reduced as _reduced, sum as _sum

if TYPE_CHECKING:
    from .._core.typing import Dim, DType, Tensor, TensorLike

_OF_PRODUCTS = {
    "matmul": "x1 @ x2: matrices, vectors, and batches of them, with broadcasting of the batch axes.",
    "matrix_transpose": "Matrices with rows and columns exchanged.",
    "outer": "All products of an element of one vector with an element of another.",
    "solve": "The X with x1 @ X = x2, where x2 is a vector or holds matrices; LinAlgError for a singular x1.",
    "tensordot": "The sum of products over the last `axes` axes of x1 and the first of x2, or over two lists of axes.",
}
_PAIRS = {*_OF_PRODUCTS, "cross"} - {"matrix_transpose"}
_ALIKE = """
    cholesky cross det diagonal eig eigh eigvals eigvalsh inv matrix_norm matrix_power matrix_rank qr slogdet svd
    svdvals""".split()
_TEXTS = {name: _described(getattr(_linalg, name), f"pullback.linalg.{name}") for name in _ALIKE} | _OF_PRODUCTS
__all__ = [*_TEXTS, "pinv", "trace", "vecdot", "vector_norm"]  # noqa: PLE0604  # strings, of the table
globals().update(
    {name: _derived(__name__, name, _LINALG[name], text, pair=name in _PAIRS) for name, text in _TEXTS.items()}
)


def pinv(x: Tensor, /, *, rtol: TensorLike | None = None) -> Tensor:
    """The pseudoinverse of matrices: singular values up to rtol times the largest count as zero.

    By default `rtol` is max(m, n) * eps, for m rows and n columns; it may be a tensor with one number for each matrix.

    >>> from pullback import array_api as xp
    >>> xp.linalg.pinv(xp.asarray([[3.0], [4.0]]))  # divided by 3**2 + 4**2
    tensor([[0.1200, 0.1600]], dtype=pullback.float64)
    """
    return _linalg.pinv(_array("pinv", x), rtol=rtol)


def vecdot(x1: TensorLike, x2: TensorLike, /, *, axis: int = -1) -> Tensor:
    """The sum of conj(x1) * x2 along an axis, which has one length in both; the other axes broadcast.

    >>> from pullback import array_api as xp
    >>> xp.vecdot(xp.asarray([[1.0, 2.0], [3.0, 4.0]]), xp.asarray([1.0, 10.0]))
    tensor([21., 43.], dtype=pullback.float64)
    """
    x1, x2 = _together("vecdot", x1, x2)
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vecdot: the vectors have lengths {x1.shape[axis]} and {x2.shape[axis]} along axis {axis}")
    return _linalg.vecdot(x1, x2, dim=axis)


def trace(x: Tensor, /, *, offset: int = 0, dtype: DType | None = None) -> Tensor:
    """The sum of the elements on a diagonal of matrices; of integers in int64, or uint64, unless a dtype is given.

    >>> from pullback import array_api as xp
    >>> xp.linalg.trace(xp.asarray([[1, 2], [3, 4]]))
    tensor(5)
    """
    return _sum(_linalg.diagonal(_array("trace", x), offset=offset), axis=-1, dtype=dtype)


def vector_norm(x: Tensor, /, *, axis: Dim = None, keepdims: bool = False, ord: float = 2) -> Tensor:
    """The norm of all elements, or of vectors along axes: the sum of abs(x) ** ord, to the power 1 / ord.

    `ord` inf and -inf are the largest and smallest absolute value; 0 counts the nonzero elements. The slope at 0 is 0.

    >>> from pullback import array_api as xp
    >>> xp.linalg.vector_norm(xp.asarray([[3.0, 4.0], [0.0, 2.0]]), axis=1)
    tensor([5., 2.], dtype=pullback.float64)
    """
    return _reduced(_LINALG["vector_norm"], _array("vector_norm", x), axis, keepdims, ord=ord)
