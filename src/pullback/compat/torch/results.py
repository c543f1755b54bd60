"""torch.return_types: the kinds of named results, under the names of the functions that return them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .facade import source

_OF_CLASSES = {
    "reductions.Extremes": "max min",
    "reductions.LeastAndLargest": "aminmax",
    "sorting.Selection": "cummax cummin kthvalue median mode nanmedian sort topk",
    "functions.Frexp": "frexp",
    "statistics.Histogram": "histogram histogramdd",
    "linear_algebra.GeqrfResult": "geqrf",
    "linear_algebra.SingularResult": "svd",
    "linear_algebra.TriangularSolveResult": "triangular_solve",
    "decompositions.CholeskyResult": "linalg_cholesky_ex",
    "decompositions.EigResult": "linalg_eig linalg_eigh",
    "decompositions.LDLFactorResult": "linalg_ldl_factor",
    "decompositions.LDLFactorExResult": "linalg_ldl_factor_ex",
    "decompositions.LUResult": "linalg_lu lu_unpack",
    "decompositions.LUFactorResult": "linalg_lu_factor",
    "decompositions.LUFactorExResult": "linalg_lu_factor_ex",
    "decompositions.QRResult": "linalg_qr qr",
    "decompositions.SlogdetResult": "linalg_slogdet slogdet",
    "decompositions.SVDResult": "linalg_svd",
    "equations.InverseResult": "linalg_inv_ex",
    "equations.LeastSquaresResult": "linalg_lstsq",
    "equations.SolveResult": "linalg_solve_ex",
}
"""The classes of results, with the functions that return them. Functions of one class are not told apart by `isinstance`."""

_PLACES = {name: place for place, names in _OF_CLASSES.items() for name in names.split()}


class Kind(type):
    """A kind of result: it is called with a sequence, as in torch, and the results of functions are instances of it."""

    made: Any

    def __call__(cls, values: Iterable[Any]) -> Any:
        """The result that consists of these values."""
        return cls.made(*values)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.made)


def __getattr__(name: str) -> Kind:
    if name not in _PLACES:
        raise AttributeError(name)
    module, _, kind = _PLACES[name].partition(".")
    made = source(f"pullback.vocabulary.{module}:{kind}")
    return Kind(name, (), {"made": made, "__module__": "torch.return_types"})


def __dir__() -> list[str]:
    return sorted(_PLACES)
