"""scipy.linalg on tensors, with SciPy's parameters: `scipy_rules` has them in its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._core.primitives import Function
from ..vocabulary import load
from .linear_maps import require_small
from .operands import constants, on_tensors, tensors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Array, ArrayLike, Tensor, Tensors, Value

GENERAL = (None, "gen", "general")
SYMMETRIC = ("sym", "her", "pos", "symmetric", "hermitian", "positive definite")


def _det(a: Tensor) -> Tensor:
    return on_tensors.linalg.det(a)


def _eigvals(a: Tensor) -> Tensor:
    return on_tensors.linalg.eigvals(a)


def _adjoint(a: Value) -> Tensor:
    return on_tensors.conj(on_tensors.swapaxes(a, -1, -2))


def _mirrored(a: Tensor, lower: bool) -> Tensor:
    """The hermitian matrix of which one triangle is given, as LAPACK reads it."""
    half = on_tensors.tril(a, -1) if lower else on_tensors.triu(a, 1)
    diagonal = on_tensors.real(a) * np.eye(a.shape[-1])
    return half + _adjoint(half) + diagonal


def _structured(name: str, a: Tensor, assume_a: str | None, lower: bool) -> Tensor:
    if assume_a in GENERAL:
        return a
    if assume_a in SYMMETRIC:
        return _mirrored(a, lower)
    raise TypeError(f"{name} has no derivative here with assume_a={assume_a!r}: leave it out")


def _solve(
    name: str, a: Tensor, b: Tensor, lower: bool = False, assume_a: str | None = None, transposed: bool = False
) -> Tensor:
    a = _structured(name, a, assume_a, lower)
    return on_tensors.linalg.solve(on_tensors.swapaxes(a, -1, -2) if transposed else a, b)


def _inv(name: str, a: Tensor, assume_a: str | None = None, lower: bool = False) -> Tensor:
    return on_tensors.linalg.inv(_structured(name, a, assume_a, lower))


def _cholesky(a: Tensor, lower: bool = False) -> Tensor:
    factor = on_tensors.linalg.cholesky(_mirrored(a, lower))
    return factor if lower else _adjoint(factor)


def _triangular(a: Tensor, b: Tensor, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False) -> Tensor:
    a, b = tensors(a, b)
    if trans in (1, "T", 2, "C"):
        a, lower = _adjoint(a) if trans in (2, "C") else on_tensors.swapaxes(a, -1, -2), not lower
    kind = np.result_type(a._dtype, b._dtype, np.float64 if a._dtype.kind in "iub" else a._dtype)
    a, b = (each.to(kind) for each in (a, b))
    column = b[..., None] if b.ndim == 1 else b
    found = load("linalg", "solve_triangular")(a, column, upper=not lower, unitriangular=unit_diagonal)
    return found[..., 0] if b.ndim == 1 else found


def _cho_solve(c_and_lower: tuple[Tensor, bool], b: Tensor) -> Tensor:
    factor, lower = c_and_lower
    first, last = (0, 2) if lower else (2, 0)
    return _triangular(factor, _triangular(factor, b, first, lower), last, lower)


def _lu_factor(a: Tensor) -> tuple[Tensor, Array]:
    factors, pivots = load("linalg", "lu_factor")(a)
    return factors, pivots.numpy() - 1  # LAPACK counts from one


def _lu_solve(lu_and_piv: tuple[Tensor, Array], b: Tensor, trans: int = 0) -> Tensor:
    factors, pivots = lu_and_piv
    order = np.arange(factors.shape[-1])
    for row, pivot in enumerate(constants("scipy.linalg.lu_solve", pivots)):
        order[[row, pivot]] = order[[pivot, row]]
    if not trans:
        return _triangular(factors, _triangular(factors, tensors(b, factors)[0][order], 0, True, True))
    return _triangular(factors, _triangular(factors, b, trans), trans, True, True)[np.argsort(order)]


def _lu(a: Tensor, permute_l: bool = False) -> tuple[Tensor, ...]:
    swaps, lower, upper = load("linalg", "lu")(a)
    return (swaps @ lower, upper) if permute_l else (swaps, lower, upper)


def _qr(name: str, a: Tensor, mode: str = "full") -> tuple[Tensor, ...]:
    if mode not in ("full", "economic", "r"):
        raise TypeError(f"{name} has no derivative here with mode={mode!r}: 'full' and 'economic' have")
    factors = on_tensors.linalg.qr(a, "reduced" if mode == "economic" else "complete")
    return (factors[1],) if mode == "r" else tuple(factors)


def _completed(columns: Tensor, basis: Value) -> Tensor:
    """Columns orthogonal to those given, as near as can be to those of a basis, which has them for the present values."""
    near = on_tensors.subtract(basis, columns @ (_adjoint(columns) @ basis))
    return near @ (3 * np.eye(basis.shape[-1]) - _adjoint(near) @ near) / 2


def _svd(a: Tensor, full_matrices: bool = True, compute_uv: bool = True) -> Tensors:
    if not compute_uv:
        return on_tensors.linalg.svd(a, compute_uv=False)
    u, s, vh = on_tensors.linalg.svd(a, full_matrices=False)
    if full_matrices and a.shape[-1] != a.shape[-2]:
        left, _, right = np.linalg.svd(constants("scipy.linalg.svd", a, tracked=True))
        v = _adjoint(vh)
        more = (_completed(u, left[..., s.shape[-1] :]), _completed(v, _adjoint(right)[..., s.shape[-1] :]))
        found = [on_tensors.concatenate(pair, -1) for pair in zip((u, v), more, strict=True)]
        return found[0], s, _adjoint(found[1])
    return u, s, vh


def _eigh(a: Tensor, lower: bool = True, eigvals_only: bool = False) -> Tensors:
    a = _mirrored(a, lower)
    return on_tensors.linalg.eigvalsh(a) if eigvals_only else tuple(on_tensors.linalg.eigh(a))


def _lstsq(a: Tensor, b: Tensor, cond: float | None = None) -> tuple[Tensor, Value, int, Tensor]:
    a, b = tensors(a, b)
    values = on_tensors.linalg.svd(a, compute_uv=False)
    smallest = np.finfo(values._dtype).eps if cond is None else cond
    rank = int((constants("rank", values, tracked=True) > smallest * constants("rank", values, tracked=True)[0]).sum())
    x = on_tensors.linalg.pinv(a, smallest) @ b
    over = rank == a.shape[1] < a.shape[0]
    misfit = b - a @ x
    residues = on_tensors.sum(on_tensors.abs(misfit) ** 2, 0) if over else np.empty(0)
    return x, residues, rank, values


def _polar(a: Tensor, side: str = "right") -> tuple[Tensor, Tensor]:
    u, s, vh = on_tensors.linalg.svd(a, full_matrices=False)
    left, right = u, _adjoint(vh)
    if side == "right":
        return u @ vh, (right * s[..., None, :]) @ vh
    return u @ vh, (left * s[..., None, :]) @ _adjoint(u)


def _rank(sizes: Array, A: Tensor, rcond: float | None) -> int:
    bound = sizes.max(initial=0) * (np.finfo(sizes.dtype).eps * max(A.shape) if rcond is None else rcond)
    return int((sizes > bound).sum())


def _orth(A: Tensor, rcond: float | None = None) -> Tensor:
    u, s, _ = on_tensors.linalg.svd(A, full_matrices=False)
    return u[:, : _rank(constants("scipy.linalg.orth", s, tracked=True), A, rcond)]


def _null_space(A: Tensor, rcond: float | None = None) -> Tensor:
    """The complement of the rows. Which basis of it is left to SciPy: its derivative is orthogonal to it."""
    _, sizes, rows = np.linalg.svd(constants("scipy.linalg.null_space", A, tracked=True))
    rank = _rank(sizes, A, rcond)
    return _completed(_adjoint(on_tensors.linalg.svd(A, full_matrices=False)[2][:rank]), _adjoint(rows)[:, rank:])


def _placed(index: Array, *parts: ArrayLike) -> Tensor:
    """A matrix whose elements are those of vectors, at these places of all of them together."""
    return on_tensors.concatenate([on_tensors.ravel(part) for part in tensors(*parts)])[index]


def _toeplitz(c: Tensor, r: Tensor | None = None) -> Tensor:
    first = on_tensors.conj(c) if r is None else r
    down = np.arange(c.shape[0])[:, None] - np.arange(first.shape[0])
    return _placed(np.where(down >= 0, down, c.shape[0] - down - 1), c, first[1:])


def _hankel(c: Tensor, r: Tensor | None = None) -> Tensor:
    last = np.zeros(c.shape[0]) if r is None else r
    return _placed(np.arange(c.shape[0])[:, None] + np.arange(last.shape[0]), c, last[1:])


def _circulant(c: Tensor) -> Tensor:
    places = np.arange(c.shape[-1])
    return c[..., (places[:, None] - places) % len(places)]


def _solve_circulant(c: Tensor, b: Tensor) -> Tensor:
    if np.ndim(c) != 1:
        raise TypeError("scipy.linalg.solve_circulant has no derivative here but for one column c: call it for each")
    return on_tensors.linalg.solve(_circulant(c), b)


def _solve_toeplitz(c_or_cr: Tensors, b: Tensor) -> Tensor:
    return on_tensors.linalg.solve(_toeplitz(*c_or_cr) if isinstance(c_or_cr, tuple) else _toeplitz(c_or_cr), b)


def _solve_banded(l_and_u: Sequence[int], ab: Tensor, b: Tensor) -> Tensor:
    below, above = l_and_u
    row, column = np.indices((ab.shape[1], ab.shape[1]))
    inside = (row - column <= below) & (column - row <= above)
    band = np.where(inside, above + row - column, 0)
    return on_tensors.linalg.solve(on_tensors.where(inside, tensors(ab, b)[0][band, column], 0.0), b)


def _implicit(condition: Function) -> Function:
    """A solver's matrix as the function of its parameters that a condition makes it, in real numbers."""

    def rule(real: Function, name: str, **given: ArrayLike) -> Tensor:
        def solver(*parameters: Tensor) -> Array:
            found = np.asarray(real(*[each.detach().numpy() for each in parameters]))
            require_small(name, found.size)
            if found.dtype.kind == "c" and found.imag.any():
                raise TypeError(f"{name} has no derivative here where its result is complex")
            return found.real

        return load("func", "implicit")(condition, solver)(*tensors(*given.values()))

    return rule


def _sylvester(a: Tensor, b: Tensor, q: Tensor) -> Tensor:
    a, b, q = tensors(a, b, q)
    require_small("scipy.linalg.solve_sylvester", a.shape[0] * b.shape[0])
    whole = on_tensors.kron(a, np.eye(b.shape[0])) + on_tensors.kron(np.eye(a.shape[0]), b.T)
    return on_tensors.linalg.solve(whole, q.reshape(-1)).reshape(a.shape[0], b.shape[0])


def _exponential(A: Tensor) -> Tensor:
    return load("linalg", "matrix_exp")(A)


def _riccati(x: Tensor, a: Tensor, b: Tensor, q: Tensor, r: Tensor, discrete: bool) -> Tensor:
    if discrete:
        gain = on_tensors.linalg.solve(r + b.T @ x @ b, b.T @ x @ a)
        return a.T @ x @ a - x - a.T @ x @ b @ gain + q
    return a.T @ x + x @ a - x @ b @ on_tensors.linalg.solve(r, b.T @ x) + q


def _trigonometric(part: str) -> Function:
    return lambda A: getattr(_exponential(A * 1j), part)


# fmt: off
OWN: dict[str, Function] = {
    "solve": _solve, "inv": _inv, "det": _det, "lstsq": _lstsq, "solve_triangular": _triangular,
    "pinv": lambda a, rtol=None: on_tensors.linalg.pinv(a, max(a.shape) * np.finfo(a._dtype).eps if rtol is None else rtol),
    "cholesky": _cholesky, "cho_factor": lambda a, lower=False: (_cholesky(a, lower), lower), "cho_solve": _cho_solve,
    "lu_factor": _lu_factor, "lu_solve": _lu_solve, "lu": _lu, "qr": _qr,
    "svd": _svd, "svdvals": lambda a: on_tensors.linalg.svd(a, compute_uv=False),
    "eigh": _eigh, "eigvalsh": lambda a, lower=True: _eigh(a, lower, True), "eigvals": _eigvals,
    "norm": lambda a, ord=None, axis=None, keepdims=False: on_tensors.linalg.norm(a, ord, axis, keepdims),
    "polar": _polar, "orth": _orth, "null_space": _null_space,
    "toeplitz": _toeplitz, "hankel": _hankel, "circulant": _circulant,
    "solve_toeplitz": _solve_toeplitz, "solve_circulant": _solve_circulant, "solve_banded": _solve_banded,
    "expm": _exponential, "cosm": _trigonometric("real"), "sinm": _trigonometric("imag"),
    "sqrtm": _implicit(lambda y, A: y @ y - A), "logm": _implicit(lambda y, A: _exponential(y) - A),
    "solve_sylvester": _sylvester, "solve_continuous_lyapunov": lambda a, q: _sylvester(a, _adjoint(a), q),
    "solve_discrete_are": _implicit(lambda x, a, b, q, r: _riccati(x, a, b, q, r, True)),
    "solve_continuous_are": _implicit(lambda x, a, b, q, r: _riccati(x, a, b, q, r, False)),
}
# fmt: on
MATRICES = {f"linalg.{name}": rule for name, rule in OWN.items()}
