"""Linear algebra, by torch's names: of the matrices in the last two axes of a tensor.

>>> import pullback
>>> a = pullback.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True)
>>> sign, size = pullback.linalg.slogdet(a)
>>> size.backward()
>>> a.grad
tensor([[ 0.6000, -0.2000],
        [-0.2000,  0.4000]])
"""

from __future__ import annotations

from typing import Any

from ._core.values import require_tensor
from .ops.lapack import LinAlgError as LinAlgError
from .vocabulary import contractions, diagonals, spell, take_out
from .vocabulary.contractions import vander as vander
from .vocabulary.contractions import vecdot as vecdot
from .vocabulary.decompositions import cholesky as cholesky
from .vocabulary.decompositions import cholesky_ex as cholesky_ex
from .vocabulary.decompositions import det as det
from .vocabulary.decompositions import eig as eig
from .vocabulary.decompositions import eigh as eigh
from .vocabulary.decompositions import eigvals as eigvals
from .vocabulary.decompositions import eigvalsh as eigvalsh
from .vocabulary.decompositions import householder_product as householder_product
from .vocabulary.decompositions import ldl_factor as ldl_factor
from .vocabulary.decompositions import ldl_factor_ex as ldl_factor_ex
from .vocabulary.decompositions import ldl_solve as ldl_solve
from .vocabulary.decompositions import lu as lu
from .vocabulary.decompositions import lu_factor as lu_factor
from .vocabulary.decompositions import lu_factor_ex as lu_factor_ex
from .vocabulary.decompositions import matrix_exp as matrix_exp
from .vocabulary.decompositions import matrix_power as matrix_power
from .vocabulary.decompositions import qr as qr
from .vocabulary.decompositions import slogdet as slogdet
from .vocabulary.decompositions import svd as svd
from .vocabulary.decompositions import svdvals as svdvals
from .vocabulary.equations import inv as inv
from .vocabulary.equations import inv_ex as inv_ex
from .vocabulary.equations import lstsq as lstsq
from .vocabulary.equations import lu_solve as lu_solve
from .vocabulary.equations import pinv as pinv
from .vocabulary.equations import solve as solve
from .vocabulary.equations import solve_ex as solve_ex
from .vocabulary.equations import solve_triangular as solve_triangular
from .vocabulary.equations import tensorinv as tensorinv
from .vocabulary.equations import tensorsolve as tensorsolve
from .vocabulary.norms import cond as cond
from .vocabulary.norms import matrix_norm as matrix_norm
from .vocabulary.norms import matrix_rank as matrix_rank
from .vocabulary.norms import norm as norm
from .vocabulary.norms import vector_norm as vector_norm
from .vocabulary.products import matmul as matmul
from .vocabulary.products import multi_dot as multi_dot


def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """The diagonals of matrices, which two axes span, as the last axis: a view.

    >>> import pullback
    >>> pullback.linalg.diagonal(pullback.arange(4).reshape(2, 2))
    tensor([0, 3])
    """
    require_tensor("linalg_diagonal", "A", A)
    return diagonals.diagonal(A, offset, dim1, dim2)


def cross(input: Any, other: Any, *, dim: int = -1) -> Any:
    """The vector product along an axis of length 3."""
    return contractions.cross(input, other, dim)


spell(
    globals(),
    "cholesky cholesky_ex cond det eig eigh eigvals eigvalsh ldl_factor ldl_factor_ex lstsq matrix_exp matrix_norm "
    "matrix_power matrix_rank norm pinv slogdet solve_triangular tensorinv tensorsolve vector_norm",
)
take_out(globals(), "linalg")
