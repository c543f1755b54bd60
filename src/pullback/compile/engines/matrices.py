"""Lowerings of linear algebra: the standard's own, and what is made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .lowerings import LOWERINGS, lowering

if TYPE_CHECKING:
    from ..._core.typing import NumpyType
    from ..program import Equation
    from .libraries import Engine
    from .lowerings import Foreign


def _adjoint(w: Engine, x: Foreign) -> Foreign:
    x = w.xp.matrix_transpose(x)
    return w.xp.conj(x) if w.kind(x).kind == "c" else x


@lowering("solve_triangular")
def _solve_triangular(
    w: Engine, e: Equation, a: Foreign, b: Foreign, *, upper: bool, unitriangular: bool = False
) -> Foreign:
    size = e.inputs[0].shape[-1]
    kept = np.triu(np.ones((size, size), bool), int(unitriangular))
    a = w.xp.where(w.constant(kept if upper else kept.T), a, w.xp.zeros_like(a))
    return w.xp.linalg.solve(a + w.constant(np.eye(size, dtype=e.output.dtype)) if unitriangular else a, b)


@lowering("cholesky")
def _cholesky(w: Engine, e: Equation, x: Foreign, *, upper: bool = False, operation: str = "") -> Foreign:
    return w.xp.linalg.cholesky(_mirrored(w, e, x, lower=not upper))


def _mirrored(w: Engine, e: Equation, x: Foreign, *, lower: bool) -> Foreign:
    """A Hermitian matrix from one of its triangles, for functions that read the other one."""
    below = w.constant(np.tri(e.inputs[0].shape[-1], dtype=bool))
    return w.xp.where(below if lower else w.xp.matrix_transpose(below), x, _adjoint(w, x))


@lowering("eigh", "eigvalsh")
def _eigh(w: Engine, e: Equation, x: Foreign, *, lower: bool = True, **_: Any) -> tuple[Foreign, ...]:
    values, vectors = w.xp.linalg.eigh(_mirrored(w, e, x, lower=lower))
    return (values, vectors, w.xp.zeros_like(x))[: len(e.outputs)]


@lowering("cofactor")
def _cofactor(w: Engine, e: Equation, x: Foreign) -> Foreign:
    """By singular values: products of all but one, also of singular matrices."""
    u, s, vh = w.xp.linalg.svd(x)
    same = w.constant(np.eye(x.shape[-1], dtype=bool))
    others = w.xp.prod(w.xp.where(same, 1.0, s[..., None, :]), axis=-1)
    turn = w.xp.linalg.det(u) * w.xp.linalg.det(vh)
    adjugate = w.xp.matmul(_adjoint(w, vh) * others[..., None, :], _adjoint(w, u))
    return turn[..., None, None] * w.xp.matrix_transpose(adjugate)


@lowering("pinv")
def _pinv(w: Engine, e: Equation, x: Foreign, least: Foreign, relative: Foreign, *, hermitian: bool) -> Foreign:
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


@lowering("pivot_info", "minor_info")
def _info(w: Engine, e: Equation, x: Foreign, y: Foreign, **_: Any) -> Foreign:
    """0 where a matrix has its inverse or factor, and -1 where it has not: which pivot it was, engines do not say."""
    fine = w.xp.all(w.xp.isfinite(y), axis=(-2, -1))
    return w.astype(fine, e.output.dtype) - 1


@lowering("check_phase")
def _check_phase(w: Engine, e: Equation, g: Foreign, vectors: Foreign, *, real: bool = False, **_: Any) -> Foreign:
    if e.inputs[0].dtype.kind == "c":
        raise w.refusal("of complex vectors")
    return w.constant(np.zeros(()))


@lowering("eig")
def _eig(w: Engine, e: Equation, x: Foreign, *, dtype: NumpyType) -> tuple[Foreign, ...]:
    return tuple(w.xp.linalg.eig(x))


LOWERINGS |= {
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
