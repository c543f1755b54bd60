"""Implicit functions: derivatives of what a solver returns, by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeGuard, cast

import numpy as np

from .. import ops
from .._core.primitives import Carrier
from .._core.trees import Structure, flatten, mapped, unflatten
from .._tape.cuts import strictly
from .._tensor.tensor import Tensor
from ..interpreters import constant
from ..ops.lapack import LinAlgError
from ..vocabulary.complexes import view_as_complex, view_as_real
from ..vocabulary.equations import solve
from ..vocabulary.shapes import cat, reshape
from .custom_rules import custom_jvp
from .forward import jvp
from .jacobians import jacfwd
from .levels import tensors
from .replaying import cutting, replayed

if TYPE_CHECKING:
    from .._core.dtypes import NumpyType
    from .._core.typing import Array, Given

    Params = tuple[object, ...]

FLAT = 1e-14
"""How small the smallest singular value of the matrix of an equation may be, over the largest."""
TOLERANCE = 0.01
"""How large a step of Newton's method from a solution may be, over 1 plus the largest number of the solution."""


def implicit(condition: Callable[..., Any], solver: Callable[Given, object]) -> Callable[Given, Any]:
    """A solver as a differentiable function of its parameters: of y(*params) where condition(y, *params) is 0.

    For a root the condition is the equation, for a fixed point of g it is g(y, *params) - y, for a minimum the gradient by y of
    what is minimized. Its derivative follows from the theorem: the condition's Jacobian by y, times y's derivative, is minus the
    condition's derivative by the parameters. So the steps of the solver are not recorded, and any solver will do. A derivative of
    any order, in forward or reverse mode, solves one dense linear system of the size of y.

    Parameters
    ----------
    condition
        A function of the solution and of the parameters, which returns as many numbers as the solution has. What it is to be
        differentiated by is a parameter.
    solver
        A function of the parameters, trees of tensors without derivatives, that returns the solution: a tree of tensors, arrays or
        numbers.

    Raises
    ------
    TypeError
        If the solver returns something else.
    ValueError
        If the condition does not return as many numbers as the solution has, or a step by Newton's method from what the solver
        returned is not small: it is no solution.
    LinAlgError
        If the condition's Jacobian is singular: the solution is not a function of the parameters there.

    Source: Blondel et al., "Efficient and modular implicit differentiation", 2022.

    >>> import pullback
    >>> from scipy.optimize import brentq
    >>> root = pullback.func.implicit(lambda y, a: y**3 + y - a, lambda a: brentq(lambda y: y**3 + y - a, -9.0, 9.0))
    >>> a = pullback.tensor(2.0, dtype=pullback.float64, requires_grad=True)
    >>> root(a).backward()  # 1 / (3 * y**2 + 1) with y = 1
    >>> a.grad
    tensor(0.2500, dtype=pullback.float64)
    """

    @wraps(solver)
    def implied(*params: object) -> object:
        return _solution(condition, solver)(*params)

    return cast("Callable[Given, Any]", implied)


def _solution(condition: Callable[..., Any], solver: Callable[..., object]) -> custom_jvp:
    """What one call computes: the next may find another solution, as what the solver reads may change."""
    known = _Known(solver)

    @custom_jvp
    def solution(*params: object) -> object:
        return known(params)

    @solution.defjvp
    def pushed(primals: Params, tangents: Params) -> tuple[object, object]:
        y = solution(*primals)
        unknowns, nested = flatten(y)
        return y, unflatten(nested, _tangents(condition, unknowns, nested, primals, tangents))

    return solution


def _tangents(
    condition: Callable[..., Any], unknowns: Sequence[Tensor], nested: Structure, primals: Params, tangents: Params
) -> list[Tensor]:
    """The tangents of a solution's leaves."""
    leaves, structure = flatten(primals)
    moving = [(place, tangent) for place, tangent in enumerate(flatten(tangents)[0]) if tangent is not None]

    def asked(flat: Tensor, *moved: Tensor) -> list[Tensor]:
        given = list(leaves)
        for (place, _), value in zip(moving, moved, strict=True):
            given[place] = value
        return flatten(condition(unflatten(nested, _like(flat, unknowns)), *unflatten(structure, given)))[0]

    def remaining(flat: Tensor, *moved: Tensor) -> Tensor:
        """What the condition gives, which is 0 at the solution."""
        return _flat(cutting(asked)(flat, *moved))

    y = _flat(unknowns)
    moved = tuple([leaves[place] for place, _ in moving])
    rest, shift = jvp(partial(remaining, y), moved, tuple([tangent for _, tangent in moving]))
    if rest.shape != y.shape:
        raise ValueError(
            f"implicit: the solution has {y.numel()} numbers, and the condition returns {rest.numel()}: give as many "
            "equations as unknowns"
        )
    slope = jacfwd(remaining)(y, *moved)
    _require_small(-solve(slope, rest), y)
    return _like(-solve(slope, shift), unknowns)


def attached(name: str, condition: Callable[[Tensor], Any], solution: Array) -> Tensor:
    """A solution that a solver has found, with derivatives of any order by whatever tensors its condition reads.

    What the condition does at the solution is written down: so the tensors are known, and the condition need not run again.
    """
    y = constant(np.asarray(solution))
    with strictly(name):
        again, outside, rest = replayed(condition, y)

    def remaining(flat: Tensor, *read: Tensor) -> Tensor:
        return _flat([again(*_like(flat, [y]), *read)])

    slope = _numbers(jacfwd(remaining)(_flat([y]), *map(constant, map(_numbers, outside))))
    _require_one(name, slope)
    _require_small(constant(-np.linalg.solve(slope, _numbers(_flat([constant(_numbers(rest))])))), y)
    return cast("Tensor", _solution(again, lambda *_: y.clone())(*outside)) if outside else y


def _numbers(value: object) -> Array:
    """The numbers of what a condition gives, or of a tensor that it reads."""
    return np.asarray(_concrete(value))


def _require_one(name: str, slope: Array) -> None:
    """Refuse an equation that other points solve, too, as far as numbers tell: its slope is zero in a direction."""
    if not slope.size or not np.isfinite(slope).all():
        return
    sizes, rows = np.linalg.svd(slope)[1:]
    if sizes[-1] <= FLAT * sizes[0]:
        direction = np.array2string(rows[-1] / rows[-1][np.argmax(np.abs(rows[-1]))], precision=3, threshold=6)
        raise LinAlgError(
            f"{name}: the solution is not the only one around: it can move by any multiple of {direction} and stays one, so it "
            "has no derivative. Remove the parameter that is not determined, or add a term that determines it, such as "
            "1e-6 * (y**2).sum()"
        )


class _Known:
    """A solver that does not solve again for the parameters that it had last, as the rule of a derivative asks it to."""

    def __init__(self, solver: Callable[..., object]) -> None:
        self.solver = solver
        self.last: tuple[list[object], Structure, object] | None = None

    def __call__(self, params: Params) -> object:
        leaves, structure = flatten(params)
        known = self.last
        if known is not None and known[1] == structure and all(map(_same, known[0], leaves)):
            return _copied(known[2])
        kept = [leaf.clone() if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        found, nested = flatten(self.solver(*params))
        dtypes = [leaf._dtype for leaf in leaves if isinstance(leaf, Tensor) and leaf._dtype.kind == "f"]
        numbers = np.result_type(*dtypes) if dtypes else np.dtype(np.float64)
        y = unflatten(nested, [_unknown(x, numbers) for x in found])
        if all(map(_is_plain, (*flatten(y)[0], *filter(_is_tensor, kept)))):
            self.last = kept, structure, _copied(y)
        return y


def _unknown(found: object, numbers: NumpyType) -> Tensor:
    """A part of a solution as a tensor; one of Python's numbers, and integers, in the dtype of the parameters."""
    if not isinstance(found, (Tensor, np.ndarray, np.generic, int, float, complex)):
        raise TypeError(
            f"implicit: the solver returned an object of type {type(found).__name__}, and a solution is made of tensors, arrays and numbers. "
            "Return the numbers themselves, such as the x of a result of scipy.optimize"
        )
    y: Tensor = tensors(np.asarray(found, numbers) if isinstance(found, (int, float)) else found)
    return y if y._dtype.kind in "fc" else ops.astype(y, dtype=numbers, source=y._dtype)


def _copied(y: object) -> object:
    """A solution that may be written to."""
    return mapped(Tensor.clone, y)


def _is_tensor(leaf: object) -> TypeGuard[Tensor]:
    return isinstance(leaf, Tensor)


def _is_plain(leaf: object) -> TypeGuard[Tensor]:
    """True for a tensor of no transform."""
    return type(leaf) is Tensor and isinstance(leaf._array, np.ndarray)


def _same(known: object, given: object) -> bool:
    """True if two leaves are the same, tensors bit by bit."""
    if not (_is_plain(known) and _is_plain(given)):
        return known is given
    mine, theirs = known._array, given._array
    return mine.dtype == theirs.dtype and mine.shape == theirs.shape and mine.tobytes() == theirs.tobytes()


def _flat(leaves: Sequence[Tensor]) -> Tensor:
    """All real numbers of the leaves; those of complex ones are their real and imaginary parts."""
    return cat([reshape(view_as_real(leaf) if leaf.is_complex() else leaf, (-1,)) for leaf in leaves])


def _like(flat: Tensor, leaves: Sequence[Tensor]) -> list[Tensor]:
    """The parts of a vector, each in the shape of a leaf."""
    sizes = [leaf.numel() * (1 + leaf.is_complex()) for leaf in leaves]
    parts = [flat[end - size : end] for size, end in zip(sizes, np.cumsum(sizes), strict=True)]
    return [
        view_as_complex(reshape(part, (*leaf.shape, 2))) if leaf.is_complex() else reshape(part, leaf.shape)
        for part, leaf in zip(parts, leaves, strict=True)
    ]


def _require_small(step: Tensor, y: Tensor) -> None:
    """Refuse what is no solution: a step of Newton's method from a solution is about 0."""
    moves, values = _concrete(step), _concrete(y)
    if moves is None or values is None or not moves.size:
        return
    place = np.unravel_index(np.argmax(np.abs(moves)), moves.shape)
    number = int(place[-1]) if place else 0
    if not np.abs(moves[place]) <= TOLERANCE * (1 + np.abs(values).max()):
        raise ValueError(
            f"implicit: what the solver returned is no solution of the condition: a step of Newton's method would change number "
            f"{number} by {moves[place]:.3g}. Give the solver a smaller tolerance, compute in float64 (differences of float32 may "
            "all be 0), or check the condition"
        )


def _concrete(value: object) -> Array | None:
    """The numbers of a tensor, beneath all transforms; None while they are not known."""
    while isinstance(value, Carrier):
        value = value._array
    return value if isinstance(value, np.ndarray) else None
