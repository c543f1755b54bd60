"""The transform of unconstrained numbers to the Cholesky factor of a correlation matrix.

Lewandowski, Kurowicka and Joe, Generating random correlation matrices based on vines and extended onion method, 2009:
numbers between -1 and 1 are partial correlations, row by row; each is a fraction of the remaining length of its row,
which has norm 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .. import Size, finfo
from ..nn.functional import pad, softplus
from . import constraints
from .transforms import Transform

if TYPE_CHECKING:
    from .._core.shapes import Shape
    from .._core.typing import Tensor


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """A square matrix, lower triangular up to a diagonal, from its elements row by row.

    >>> import pullback
    >>> from pullback.distributions.correlations import vec_to_tril_matrix
    >>> vec_to_tril_matrix(pullback.tensor([1.0]), -1)
    tensor([[0., 0.],
            [1., 0.]])
    """
    count = vec.shape[-1]
    n = round((math.sqrt(1 + 8 * count + 8 * max(diag, 0) * (diag + 1)) - 1) / 2 - diag)
    rows, columns = np.tril_indices(n, diag)
    if len(rows) != count:
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as the lower triangular part of a square "
            "D x D matrix."
        )
    flat = vec.new_zeros((*vec.shape[:-1], n * n))
    places = vec.new_tensor(rows * n + columns, dtype="int64").expand(vec.shape)
    return flat.scatter(-1, places, vec).reshape((*vec.shape[:-1], n, n))


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The elements of a square matrix up to a diagonal, row by row.

    >>> import pullback
    >>> from pullback.distributions.correlations import tril_matrix_to_vec
    >>> tril_matrix_to_vec(pullback.tensor([[1.0, 0.0], [2.0, 3.0]]))
    tensor([1., 2., 3.])
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = np.tril_indices(n, diag)
    return mat[..., rows.tolist(), columns.tolist()]


class CorrCholeskyTransform(Transform):
    """A vector of n (n - 1) / 2 numbers as the Cholesky factor of an n by n correlation matrix.

    >>> import pullback
    >>> from pullback.distributions import CorrCholeskyTransform
    >>> lower = CorrCholeskyTransform()(pullback.tensor([0.5, -1.0, 2.0]))
    >>> (lower @ lower.mT).diagonal().round(decimals=4)
    tensor([1., 1., 1.])
    """

    domain, codomain = constraints.real_vector, constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        eps = float(finfo(x.dtype).eps)
        partial = vec_to_tril_matrix(x.tanh().clamp(min=eps - 1, max=1 - eps), diag=-1)
        left = (1 - partial**2).sqrt().cumprod(-1)
        diagonal = x.new_ones(partial.shape[-1]).diag_embed()
        return (partial + diagonal) * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        left = pad((1 - (y * y).cumsum(-1))[..., :-1], [1, 0], value=1)
        below = tril_matrix_to_vec(y, diag=-1)
        room = tril_matrix_to_vec(left, diag=-1).clamp(min=float(finfo(y.dtype).tiny)).sqrt()
        partial = below / room
        return (partial.log1p() - (-partial).log1p()) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |det dy/dx| at the argument x, with the value y."""
        left = tril_matrix_to_vec(1 - (y * y).cumsum(-1), diag=-2)
        squeezed = x + softplus(-2 * x) - math.log(2)
        return left.log().sum(-1) / 2 - 2 * squeezed.sum(-1)

    def forward_shape(self, shape: Shape) -> Shape:
        """The shape of the value, given that of the argument."""
        count = shape[-1]
        n = round(0.5 + math.sqrt(0.25 + 2 * count))
        if n * (n - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return Size((*shape[:-1], n, n))

    def inverse_shape(self, shape: Shape) -> Shape:
        """The shape of the argument, given that of the value."""
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return Size((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))
