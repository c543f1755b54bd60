"""NumPy's linear algebra on tensors, with NumPy's parameters, by operations of `linalg`.

`names` registers it. The modules it uses are imported on first call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core.primitives import Carrier, Function
from ..vocabulary import load, products, shapes
from ..vocabulary.promotion import inexact, together
from .operands import concrete, tensors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import ArrayLike, Dim, Tensor

VECTORS_BY_SHAPE = np.lib.NumpyVersion(np.__version__) < "2.0.0"  # how solve distinguishes vectors from matrices


def _operands(*values: ArrayLike) -> list[Tensor]:
    """Values as tensors of their promoted dtype."""
    return tensors(*together(*[value if isinstance(value, Carrier) else np.asarray(value) for value in values]))


def _linalg(name: str, *values: ArrayLike, **options: Any) -> Any:
    """A function of torch.linalg applied to operands of one real or complex dtype."""
    return load("linalg", name)(*map(inexact, _operands(*values)), **options)


def _of_one(name: str) -> Function:
    return lambda a: _linalg(name, a)


def _solve(a: ArrayLike, b: ArrayLike) -> Tensor:
    a, b = _operands(a, b)
    if b.ndim > 1 and not (VECTORS_BY_SHAPE and b.ndim == a.ndim - 1):
        b = shapes.reshape(b, (1,) * (a.ndim - b.ndim) + tuple(b.shape))
    return load("linalg", "solve")(inexact(a), inexact(b))


def _svd(a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    return _linalg("svd", a, full_matrices=full_matrices) if compute_uv else _linalg("svdvals", a)


def _qr(a: ArrayLike, mode: str = "reduced") -> Any:
    factors = _linalg("qr", a, mode=mode)
    return factors.R if mode == "r" else factors


def _rank(
    A: ArrayLike, tol: ArrayLike | None = None, hermitian: bool = False, *, rtol: ArrayLike | None = None
) -> Tensor:
    return _linalg(
        "matrix_rank", A, hermitian=hermitian, atol=tol, rtol=0.0 if rtol is None and tol is not None else rtol
    )


def _power(a: Tensor, n: int) -> Tensor:
    """A power of a matrix; NumPy computes that of an integer or boolean matrix, with the same dtype."""
    if a._dtype.kind in "biu":
        return tensors(np.linalg.matrix_power(concrete(a), n), a)[0]
    return _linalg("matrix_power", a, n=n)


def _cross(
    a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Tensor:
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = (shapes.movedim(each, place, -1) for each, place in zip(_operands(a, b), (axisa, axisb), strict=True))
    ndim = max(a.ndim, b.ndim)
    a, b = (shapes.reshape(each, (1,) * (ndim - each.ndim) + tuple(each.shape)) for each in (a, b))
    return shapes.movedim(load("vocabulary.contractions", "cross")(a, b, -1), -1, axisc)


def _vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    powers = load("linalg", "vander")(x, N)
    return powers if increasing else shapes.flip(powers, 1)


def _tensordot(a: ArrayLike, b: ArrayLike, axes: int | Sequence[int] = 2) -> Tensor:
    return load("vocabulary.contractions", "tensordot")(*_operands(a, b), axes)


def product(a: ArrayLike, b: ArrayLike) -> Tensor:
    """NumPy's matmul, with tensors converted to their promoted dtype."""
    both = isinstance(a, Carrier) and isinstance(b, Carrier)
    return products.matmul(*(together(a, b) if both else (a, b)))


def _matvec(a: Tensor, x: Tensor) -> Tensor:
    return shapes.squeeze(products.matmul(a, shapes.unsqueeze(x, -1)), -1)


def _vecmat(x: Tensor, a: Tensor) -> Tensor:
    return _matvec(shapes.matrix_transpose(a), ops.conj(x))


def _norm(x: Tensor, ord: float | str | None = None, axis: Dim = None, keepdims: bool = False) -> Tensor:
    if axis is None and ord is None:
        return load("linalg", "vector_norm")(inexact(x), 2, None, keepdims)
    if isinstance(axis, (tuple, list)) and len(axis) > 2:
        raise ValueError(f"numpy.linalg.norm: axis={axis!r} names {len(axis)} axes: one of vectors, or two of matrices")
    return load("linalg", "norm")(inexact(x), ord, axis, keepdims)


# Functions of numpy.linalg, including those of newer versions
# fmt: off
LINALG: dict[str, Function] = {
    **{name: _of_one(name) for name in ("det", "eig", "eigvals", "inv", "slogdet")},
    "cholesky": lambda a, /, *, upper=False: _linalg("cholesky", a, upper=upper),
    "cond": lambda x, p=None: _linalg("cond", x, p=p),
    "cross": lambda x1, x2, /, *, axis=-1: _cross(x1, x2, axis=axis),
    "diagonal": lambda x, /, *, offset=0: load("linalg", "diagonal")(x, offset=offset),
    "eigh": lambda a, UPLO="L": _linalg("eigh", a, UPLO=UPLO),
    "eigvalsh": lambda a, UPLO="L": _linalg("eigvalsh", a, UPLO=UPLO),
    "lstsq": lambda a, b, rcond=None: _linalg("lstsq", a, b, rcond=rcond, driver="gelsd"),
    "matmul": lambda x1, x2, /: product(x1, x2),
    "matrix_norm": lambda x, /, *, keepdims=False, ord="fro": _norm(x, ord, (-2, -1), keepdims),
    "matrix_power": _power,
    "matrix_rank": _rank,
    "matrix_transpose": lambda x, /: shapes.matrix_transpose(x),
    "multi_dot": lambda arrays, out=None: products.multi_dot(_operands(*arrays)),
    "norm": _norm,
    "outer": lambda x1, x2, /: products.outer(x1, x2),
    "pinv": lambda a, rcond=None, hermitian=False, *, rtol=None: _linalg(
        "pinv", a, hermitian=hermitian, rtol=(1e-15 if rcond is None else rcond) if rtol is None else rtol),
    "qr": _qr,
    "solve": _solve,
    "svd": _svd,
    "svdvals": lambda x, /: _linalg("svdvals", x),
    "tensordot": lambda x1, x2, /, *, axes=2: _tensordot(x1, x2, axes),
    "tensorinv": lambda a, ind=2: _linalg("tensorinv", a, ind=ind),
    "tensorsolve": lambda a, b, axes=None: _linalg("tensorsolve", a, b, dims=axes),
    "trace": lambda x, /, *, offset=0, dtype=None: np.sum(load("linalg", "diagonal")(x, offset=offset), -1, dtype=dtype),
    "vecdot": lambda x1, x2, /, *, axis=-1: load("linalg", "vecdot")(*_operands(x1, x2), dim=axis),
    "vector_norm": lambda x, /, *, axis=None, keepdims=False, ord=2: load("linalg", "vector_norm")(
        inexact(x), ord, axis, keepdims),
}

# Functions of numpy
PRODUCTS: dict[str, Function] = {
    "cross": _cross,
    "inner": lambda a, b: load("vocabulary.contractions", "inner")(*_operands(a, b)),
    "kron": lambda a, b: load("vocabulary.contractions", "kron")(*_operands(a, b)),
    "tensordot": _tensordot,
    "vander": _vander,
    "vdot": lambda a, b: products.vdot(*(shapes.reshape(x, -1) for x in _operands(a, b))),
}
# fmt: on

UFUNCS: dict[Any, Function] = {
    vars(np)[name]: function
    for name, function in {
        "matvec": lambda x1, x2: _matvec(*_operands(x1, x2)),
        "vecdot": lambda x1, x2: load("linalg", "vecdot")(*_operands(x1, x2)),
        "vecmat": lambda x1, x2: _vecmat(*_operands(x1, x2)),
    }.items()
    if name in vars(np)
}
FUNCTIONS: dict[Function, Function] = {
    vars(module)[name]: function
    for module, table in ((np, PRODUCTS), (np.linalg, LINALG))
    for name, function in table.items()
    if name in vars(module)
}
