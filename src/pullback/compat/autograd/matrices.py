"""autograd.scipy.linalg: functions of matrices that NumPy does not have."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import Tensor
from ...interpreters import constant
from ...linalg import solve_triangular as _solve_triangular
from .boxes import Box, holds_box, seen
from .primitives import defjvp_argnums, defvjp, defvjp_argnum, primitive

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
