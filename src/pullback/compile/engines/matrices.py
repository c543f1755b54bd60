"""Words of linear algebra: the standard's own, and what is made of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .words import WORDS, word


def _adjoint(w: Any, x: Any) -> Any:
    x = w.xp.matrix_transpose(x)
    return w.xp.conj(x) if w.kind(x).kind == "c" else x


@word("solve_triangular")
def _solve_triangular(w: Any, e: Any, a: Any, b: Any, *, upper: bool, unitriangular: bool = False) -> Any:
    size = e.inputs[0].shape[-1]
    kept = np.triu(np.ones((size, size), bool), int(unitriangular))
    a = w.xp.where(w.constant(kept if upper else kept.T), a, w.xp.zeros_like(a))
    return w.xp.linalg.solve(a + w.constant(np.eye(size, dtype=e.output.dtype)) if unitriangular else a, b)


@word("cholesky")
def _cholesky(w: Any, e: Any, x: Any, *, upper: bool = False, operation: str = "") -> Any:
    return w.xp.linalg.cholesky(_mirrored(w, e, x, lower=not upper))


def _mirrored(w: Any, e: Any, x: Any, *, lower: bool) -> Any:
    """A Hermitian matrix from one of its triangles, for functions that read the other one."""
    below = w.constant(np.tri(e.inputs[0].shape[-1], dtype=bool))
    return w.xp.where(below if lower else w.xp.matrix_transpose(below), x, _adjoint(w, x))


@word("eigh", "eigvalsh")
def _eigh(w: Any, e: Any, x: Any, *, lower: bool = True, **_: Any) -> Any:
    values, vectors = w.xp.linalg.eigh(_mirrored(w, e, x, lower=lower))
    return (values, vectors, w.xp.zeros_like(x))[: len(e.outputs)]


@word("cofactor")
def _cofactor(w: Any, e: Any, x: Any) -> Any:
    """By singular values: products of all but one, also of singular matrices."""
    u, s, vh = w.xp.linalg.svd(x)
    same = w.constant(np.eye(x.shape[-1], dtype=bool))
    others = w.xp.prod(w.xp.where(same, 1.0, s[..., None, :]), axis=-1)
    turn = w.xp.linalg.det(u) * w.xp.linalg.det(vh)
    adjugate = w.xp.matmul(_adjoint(w, vh) * others[..., None, :], _adjoint(w, u))
    return turn[..., None, None] * w.xp.matrix_transpose(adjugate)


@word("cofactor_slope")
def _cofactor_slope(w: Any, e: Any, given: Any, x: Any) -> Any:
    """By singular values: products of all but two."""
    u, s, vh = w.xp.linalg.svd(x)
    turned = w.xp.matmul(_adjoint(w, u), w.xp.matmul(w.astype(given, e.output.dtype), _adjoint(w, vh)))
    same = np.eye(x.shape[-1], dtype=bool)
    rest = w.xp.prod(w.xp.where(w.constant(same[:, None] | same), 1.0, s[..., None, None, :]), axis=-1)
    own = w.xp.sum(w.xp.where(w.constant(same), turned, w.xp.zeros_like(turned)), axis=-1)
    diagonal = w.xp.sum(w.xp.where(w.constant(same), 0.0, rest) * own[..., None, :], axis=-1)
    slope = w.xp.where(w.constant(same), diagonal[..., None], -rest * w.xp.matrix_transpose(turned))
    turn = w.xp.linalg.det(u) * w.xp.linalg.det(vh)
    sides = [w.xp.matrix_transpose(_adjoint(w, each)) for each in (u, vh)]
    return turn[..., None, None] * w.xp.matmul(sides[0], w.xp.matmul(slope, sides[1]))


@word("pinv")
def _pinv(w: Any, e: Any, x: Any, least: Any, relative: Any, *, hermitian: bool) -> Any:
    if hermitian:
        values, u = w.xp.linalg.eigh(x)
        vh = _adjoint(w, u)
    else:
        u, values, vh = w.xp.linalg.svd(x, full_matrices=False)
    size = w.xp.abs(values)
    least, relative = (w.astype(each, w.kind(size)) for each in (least, relative))
    bound = w.xp.maximum(least[..., None], relative[..., None] * w.xp.max(size, axis=-1, keepdims=True))
    inverse = w.xp.where(size > bound, 1 / values, w.xp.zeros_like(values))
    return w.xp.matmul(_adjoint(w, vh) * inverse[..., None, :], _adjoint(w, u))


TERMS, HALVINGS = 18, 64


@word("matrix_exp")
def _matrix_exp(w: Any, e: Any, x: Any) -> Any:
    """Taylor's series of a matrix halved until its norm is below 1/2, and squared as often again."""
    xp, identity = w.xp, w.constant(np.eye(e.inputs[0].shape[-1], dtype=e.output.dtype))
    if not e.inputs[0].size:
        return x
    norm = xp.max(xp.sum(xp.abs(x), axis=-1), axis=-1)[..., None, None]
    count = xp.ceil(xp.log2(xp.where(norm > 0.5, norm, 0.5))) + 1
    x = x / xp.pow(w.constant(np.asarray(2, w.part(e.output.dtype))), count)
    total = identity + xp.zeros_like(x)
    for k in range(TERMS, 0, -1):
        total = identity + xp.matmul(x, total) / k
    for k in range(HALVINGS):
        total = xp.where(count > k, xp.matmul(total, total), total)
    return total


@word("pivot_info", "minor_info")
def _info(w: Any, e: Any, x: Any, y: Any, **_: Any) -> Any:
    """0 where a matrix has its inverse or factor, and -1 where it has not: which pivot it was, engines do not say."""
    fine = w.xp.all(w.xp.isfinite(y), axis=(-2, -1))
    return w.astype(fine, e.output.dtype) - 1


@word("check_phase")
def _check_phase(w: Any, e: Any, g: Any, vectors: Any, *, real: bool = False, **_: Any) -> Any:
    if e.inputs[0].dtype.kind == "c":
        raise w.refusal("of complex vectors")
    return w.constant(np.zeros(()))


@word("permutation")
def _permutation(w: Any, e: Any, pivots: Any, x: Any) -> Any:
    """The identity with rows exchanged, one exchange after another."""
    size, xp = e.inputs[1].shape[-2], w.xp
    count = w.constant(np.arange(size))
    rows = count + w.astype(pivots[..., :1] * 0, np.dtype(np.int64))
    for j in range(e.inputs[0].shape[-1]):
        chosen = w.astype(pivots[..., j : j + 1] - 1, np.dtype(np.int64))
        there = xp.sum(xp.where(count == chosen, rows, 0), axis=-1, keepdims=True)
        here = rows[..., j : j + 1]
        rows = xp.where(count == j, there, xp.where(count == chosen, here, rows))
    return w.astype(count[:, None] == rows[..., None, :], e.output.dtype)


@word("eig")
def _eig(w: Any, e: Any, x: Any, *, dtype: Any) -> Any:
    return tuple(w.xp.linalg.eig(x))


WORDS |= {
    "outer": lambda w, e, a, b: a * b,
    "times_transpose": lambda w, e, a, b: w.xp.matmul(a, w.xp.matrix_transpose(b)),
    "transpose_times": lambda w, e, a, b: w.xp.matmul(w.xp.matrix_transpose(a), b),
    "inv": lambda w, e, x, **_: w.xp.linalg.inv(x),
    "solve": lambda w, e, a, b, **_: w.xp.linalg.solve(
        a, w.xp.reshape(b, (*[1] * (len(a.shape) - len(b.shape)), *b.shape))
    ),
    "det": lambda w, e, x: w.xp.linalg.det(x),
    "slogdet": lambda w, e, x: tuple(w.xp.linalg.slogdet(x)),
    "svd": lambda w, e, x, *, full: tuple(w.xp.linalg.svd(x, full_matrices=full)),
    "svdvals": lambda w, e, x: (
        *w.xp.linalg.svd(x, full_matrices=False), w.xp.zeros(e.outputs[3].shape, dtype=x.dtype)
    ),
    "spectral_gradient": lambda w, e, given, x, values, left, right, *_, hermitian: w.xp.matmul(
        left * given[..., None, :], right
    ),
    "qr": lambda w, e, x, *, mode: tuple(w.xp.linalg.qr(x, mode=mode)),
}  # fmt: skip
