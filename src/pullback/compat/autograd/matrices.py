"""autograd.scipy.linalg: functions of matrices that NumPy does not have."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import Tensor
from ...interpreters import constant
from ...linalg import matrix_exp, solve_triangular as _solve_triangular
from .boxes import Box, holds_box, seen
from .namespaces import Namespace
from .primitives import defjvp_argnums, defvjp, defvjp_argnum, primitive
from .scipy_functions import either

if TYPE_CHECKING:
    from ..._core.typing import Array, Function


def _linalg() -> Any:
    return importlib.import_module("scipy.linalg")


@primitive
def sqrtm(A: Array, *args: object, **kwargs: object) -> Array:
    """The square root of a matrix; its derivative solves a Sylvester equation (Higham, 2008, chapter 6).

    >>> from pullback.compat.autograd import jacobian, numpy as np
    >>> jacobian(sqrtm)(np.array([[4.0]]))[0, 0]
    array([[0.25]])
    """
    return _linalg().sqrtm(A, *args, **kwargs)


defvjp(sqrtm, lambda ans, A, *_, **__: lambda g: solve_sylvester(np.transpose(ans), np.transpose(ans), g))
defjvp_argnums(sqrtm, lambda argnums, tangents, ans, args, kwargs: solve_sylvester(ans, ans, tangents[0]))


@primitive
def solve_sylvester(a: Array, b: Array, q: Array) -> Array:
    """The X of a X + X b = q."""
    return _linalg().solve_sylvester(a, b, q)


def _sylvester_pulled(argnum: int, ans: Array, args: Sequence[Array], kwargs: object) -> Function:
    a, b, _ = args

    def pull(g: Array) -> Array:
        y = solve_sylvester(np.transpose(a), np.transpose(b), g)
        if argnum == 2:
            return y
        return -np.dot(y, np.transpose(ans)) if argnum == 0 else -np.dot(np.transpose(ans), y)

    return pull


def _sylvester_pushed(
    argnums: Sequence[int], tangents: Sequence[Array], ans: Array, args: Sequence[Array], kwargs: object
) -> Array:
    moves = dict(zip(argnums, tangents, strict=True))
    change: Any = moves.get(2, 0.0)
    if 0 in moves:
        change = change - np.dot(moves[0], ans)
    if 1 in moves:
        change = change - np.dot(ans, moves[1])
    return solve_sylvester(args[0], args[1], change)


defvjp_argnum(solve_sylvester, _sylvester_pulled)
defjvp_argnums(solve_sylvester, _sylvester_pushed)


def solve_triangular(
    a: Array, b: Array, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False, **options: object
) -> Array:
    """The x of a x = b for a triangular a, of which one triangle is read; `trans` transposes it.

    >>> from pullback.compat.autograd import grad, numpy as np
    >>> a = np.array([[2.0, 0.0], [1.0, 4.0]])
    >>> grad(lambda b: solve_triangular(a, b, lower=True).sum())(np.array([1.0, 1.0]))
    array([0.375, 0.25 ])
    """
    if not holds_box((a, b)):
        return _linalg().solve_triangular(a, b, trans=trans, lower=lower, unit_diagonal=unit_diagonal, **options)
    turned = {0: 0, 1: 1, 2: 2, "N": 0, "T": 1, "C": 2}[trans]
    matrix, right = (_tensor(value) for value in (a, b))
    if turned:
        matrix = matrix.mT if turned == 1 else matrix.mH
    flat = right.ndim == 1
    x = _solve_triangular(
        matrix, right[:, None] if flat else right, upper=lower is bool(turned), unitriangular=unit_diagonal
    )
    return seen(x[:, 0] if flat else x)


def _tensor(value: object) -> Tensor:
    tensor = value.tensor if isinstance(value, Box) else constant(np.asarray(value))
    assert isinstance(tensor, Tensor)
    return tensor


@primitive
def solve_banded(l_and_u: tuple[int, int], ab: Array, b: Array, **options: object) -> Array:
    """The x of a x = b for a banded matrix given by its diagonals: `ab[u + i - j, j]` is `a[i, j]`."""
    return _linalg().solve_banded(l_and_u, ab, b, **options)


def _shifted(row: Array, places: int) -> Array:
    """A vector, or rows of a matrix, shifted by `places` elements, and filled with zeros."""
    gone = np.zeros_like(row[: abs(places)])
    if not places:
        return row
    return np.concatenate([gone, row[:-places]]) if places > 0 else np.concatenate([row[-places:], gone])


def _banded_pulled(argnum: int, ans: Array, args: Sequence[Any], kwargs: object) -> Function:
    (below, above), ab, _ = args
    turned = np.stack([_shifted(ab[above - offset], -offset) for offset in range(-below, above + 1)])

    def pull(g: Array) -> Array:
        y = solve_banded((above, below), turned, g)
        if argnum == 2:
            return y
        products = [-_shifted(y, offset) * ans for offset in range(above, -below - 1, -1)]
        stacked = np.stack(products)
        return np.sum(stacked, axis=-1) if np.ndim(ans) > 1 else stacked

    return pull


defvjp_argnum(solve_banded, _banded_pulled)


def cholesky(a: Array, lower: bool = False) -> Array:
    """The triangular factor of a symmetric positive definite matrix, the upper one by default."""
    factor = np.linalg.cholesky(a)
    return factor if lower else np.conj(np.swapaxes(factor, -1, -2))


def expm(A: Array) -> Array:
    """The exponential of a matrix."""
    return seen(matrix_exp(_tensor(A)))


def block_diag(*arrays: Array) -> Array:
    """A matrix with other matrices on its diagonal, and zeros beside them."""
    matrices = [np.atleast_2d(each) for each in arrays]
    columns = [np.shape(each)[1] for each in matrices]
    rows = [
        np.pad(each, ((0, 0), (sum(columns[:place]), sum(columns[place + 1 :])))) for place, each in enumerate(matrices)
    ]
    return np.concatenate(rows, axis=0)


LINALG = Namespace(
    "autograd.scipy.linalg",
    _linalg,
    {"sqrtm": sqrtm, "solve_sylvester": solve_sylvester, "solve_triangular": solve_triangular, "solve_banded": solve_banded}
    | {
        name: either(formula, functools.partial(lambda name: getattr(_linalg(), name), name))
        for name, formula in {
            "block_diag": block_diag, "cholesky": cholesky, "det": np.linalg.det, "expm": expm, "inv": np.linalg.inv,
            "norm": np.linalg.norm, "pinv": np.linalg.pinv, "solve": np.linalg.solve,
        }.items()
    },
    "scipy.linalg, for arrays and what is traced.",
)  # fmt: skip
