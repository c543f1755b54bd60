"""scipy.spatial.distance and scipy.interpolate on tensors, where they are compiled."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from .._core.primitives import Function
from .._tensor.tensor import Tensor
from .linear_maps import loaded, tracked
from .operands import concrete, constants, on_tensors, tensors
from .scipy_scattered import HELD, OBJECTS
from .scipy_solvers import attached

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol, TypeAlias

    from .._core.typing import Array, ArrayLike, Params, Value

    Extrapolate: TypeAlias = bool | str | None

    class Interpolant(Protocol):
        """What the rules of methods read and set of SciPy's objects: piecewise polynomials, splines and grids."""

        axis: int
        k: int
        extrapolate: Extrapolate
        grid: Sequence[Array]
        method: str
        bounds_error: bool
        fill_value: float | None


KNOTS = (
    "SciPy's splines have no derivative by their knots, and np.interp has, as has a spline of tensor operations, such as that of the "
    "page docs/how-to/splines.md"
)
ROOT = 1e-8
"""How small a piecewise polynomial is at a root, over its largest coefficient: at a jump over the number it is not."""


def _length(difference: Tensor, w: ArrayLike | None = None) -> Tensor:
    return on_tensors.linalg.norm(difference if w is None else difference * on_tensors.sqrt(w), axis=-1)


def _angle(u: Tensor, v: Tensor) -> Tensor:
    """1 - the cosine of the angle between vectors."""
    return 1 - on_tensors.sum(u * v, -1) / on_tensors.sqrt(on_tensors.sum(u * u, -1) * on_tensors.sum(v * v, -1))


def _centered(u: Tensor) -> Tensor:
    return u - on_tensors.mean(u, -1, keepdims=True)


def _canberra(u: Tensor, v: Tensor) -> Tensor:
    size = on_tensors.abs(u) + on_tensors.abs(v)
    return on_tensors.sum(on_tensors.abs(u - v) / on_tensors.where(np.equal(size, 0), 1.0, size), -1)


# Of arrays of vectors, along their last axis
METRICS: dict[str, Function] = {
    "euclidean": lambda u, v: _length(u - v),
    "sqeuclidean": lambda u, v: on_tensors.sum((u - v) ** 2, -1),
    "cityblock": lambda u, v: on_tensors.sum(on_tensors.abs(u - v), -1),
    "chebyshev": lambda u, v: on_tensors.max(on_tensors.abs(u - v), -1),
    "minkowski": lambda u, v, p=2: on_tensors.linalg.norm(u - v, p, -1),
    "cosine": _angle,
    "correlation": lambda u, v: _angle(_centered(u), _centered(v)),
    "canberra": _canberra,
    "braycurtis": lambda u, v: on_tensors.sum(on_tensors.abs(u - v), -1) / on_tensors.sum(on_tensors.abs(u + v), -1),
}


def _metric(name: str, metric: object, given: Params) -> Function:
    own = METRICS.get(metric) if isinstance(metric, str) else None
    if own is None or (given and metric != "minkowski"):
        raise TypeError(
            f"{name} has no derivative here with metric={metric!r} and {given}: these have, {', '.join(METRICS)}"
        )
    return functools.partial(own, **given)


def _between(name: str, XA: Tensor, XB: Tensor, metric: str = "euclidean", **given: object) -> Tensor:
    first, second = tensors(XA, XB)
    return _metric(name, metric, given)(first[:, None], second[None])


def _among(name: str, X: Tensor, metric: str = "euclidean", **given: object) -> Tensor:
    first, second = np.triu_indices(X.shape[0], 1)
    return _metric(name, metric, given)(X[first], X[second])


def _square(X: Tensor, force: str = "no") -> Tensor:
    """A vector of distances as a matrix, or back."""
    count = X.shape[0]
    if X.ndim == 2 and force != "tomatrix":
        return X[np.triu_indices(count, 1)]
    size = round((1 + (1 + 8 * count) ** 0.5) / 2)
    if size * (size - 1) != 2 * count:
        raise ValueError(f"squareform: {count} are not the distances among some number of points")
    place = np.full((size, size), count)
    place[np.triu_indices(size, 1)] = np.arange(count)
    return on_tensors.append(X, np.zeros(1))[np.minimum(place, place.T)]


def _hausdorff(u: Tensor, v: Tensor) -> tuple[Tensor, int, int]:
    nearest = _between("scipy.spatial.distance.directed_hausdorff", u, v)
    values = constants("places", nearest, tracked=True)
    row = int(values.min(1).argmax())
    column = int(values[row].argmin())
    return nearest[row, column], row, column


def _own_metric(name: str) -> Function:
    """A function of two vectors."""
    return lambda u, v: METRICS[name](*tensors(u, v))


def _interpolating(
    real: Function, x: Tensor, y: Tensor, k: int = 3, t: ArrayLike | None = None, bc_type: object = None, axis: int = 0
) -> object:
    """A spline through points: its coefficients are linear in the values."""
    moved = on_tensors.moveaxis(y, axis, 0)
    fixed = constants("scipy.interpolate.make_interp_spline", (x, t, bc_type), why=KNOTS)
    of_basis = real(fixed[0], np.eye(moved.shape[0]), k, fixed[1], fixed[2])
    coefficients = on_tensors.tensordot(of_basis.c, moved, 1)
    return type(of_basis)(of_basis.t, on_tensors.moveaxis(coefficients, 0, axis), k, axis=axis)


POINTS: dict[str, Function] = {
    "spatial.distance.cdist": _between,
    "spatial.distance.pdist": _among,
    "spatial.distance.squareform": _square,
    "spatial.distance.directed_hausdorff": _hausdorff,
    **{f"spatial.distance.{name}": _own_metric(name) for name in METRICS if name != "minkowski"},
    "spatial.distance.minkowski": lambda u, v, p=2: METRICS["minkowski"](*tensors(u, v), p),
    "interpolate.make_interp_spline": _interpolating,
}


def _evaluated(c: Tensor, breaks: Array, x: Tensor, nu: int, extrapolate: Extrapolate, axis: int) -> Tensor:
    """A piecewise polynomial, or a derivative of it, at points: both its coefficients and these may be tensors."""
    breaks = constants("scipy.interpolate.PPoly", breaks, why=KNOTS)
    if (np.diff(breaks) <= 0).any():
        raise TypeError("scipy.interpolate.PPoly has no derivative here unless its breakpoints increase")
    c, x = tensors(c, x)
    at = x
    if extrapolate == "periodic":
        at = breaks[0] + (x - breaks[0]) % (breaks[-1] - breaks[0])
    values = constants("places", at, tracked=True)
    place = np.clip(np.searchsorted(breaks, values, "right") - 1, 0, len(breaks) - 2)
    inner = (...,) + (None,) * (c.ndim - 2)
    step = (at - breaks[place])[inner]
    order = c.shape[0]
    result: Any = 0.0
    for row in range(order - nu):
        power = order - 1 - row
        result = result * step + c[row][place] * float(np.prod(np.arange(power - nu + 1, power + 1)))
    result = result + 0 * step
    if extrapolate in (False, None) and extrapolate is not None:
        outside = (values < breaks[0]) | (values > breaks[-1])
        result = on_tensors.where(outside[inner], np.nan, result)
    return on_tensors.moveaxis(result, range(x.ndim), range(axis, axis + x.ndim))


def _owner(self: Interpolant, name: str) -> tuple[Interpolant, str]:
    """What holds an attribute, and its name there: a property would make an array of a tensor."""
    holder: Interpolant = getattr(self, "_delegate_to", self)  # from SciPy 1.18 on
    return holder, f"_{name}" if hasattr(holder, f"_{name}") else name


def _set(self: Interpolant, name: str, value: Value) -> None:
    setattr(*_owner(self, name), value)


def _get(self: Interpolant, name: str) -> Any:
    return getattr(*_owner(self, name), None)


def _piecewise(
    real: Function, self: Interpolant, c: Tensor, x: Tensor, extrapolate: Extrapolate = None, axis: int = 0
) -> None:
    breaks = constants("scipy.interpolate.PPoly", x, why=KNOTS)
    real(self, np.zeros(tuple(c.shape)), breaks, extrapolate, axis)
    _set(self, "c", on_tensors.moveaxis(c, (axis, axis + 1), (0, 1)))


def _piecewise_at(real: Function, self: Interpolant, x: Tensor, nu: int = 0, extrapolate: Extrapolate = None) -> Tensor:
    given = self.extrapolate if extrapolate is None else extrapolate
    return _evaluated(_get(self, "c"), _get(self, "x"), x, nu, given, self.axis)


def _piecewise_integral(
    real: Function, self: Interpolant, a: Tensor, b: Tensor, extrapolate: Extrapolate = None
) -> Tensor:
    """The integral between two limits, which may be tensors: the antiderivative at both."""
    given = self.extrapolate if extrapolate is None else extrapolate
    if given == "periodic":
        raise TypeError("scipy.interpolate.PPoly.integrate has no derivative here with extrapolate='periodic'")
    breaks = constants("scipy.interpolate.PPoly", _get(self, "x"), why=KNOTS)
    (c,) = tensors(_get(self, "c"))
    powers, inner = np.arange(c.shape[0], 0, -1), (...,) + (None,) * (c.ndim - 2)
    terms = c / powers.reshape(-1, *[1] * (c.ndim - 1))
    pieces = (terms * (np.diff(breaks) ** powers[:, None])[inner]).sum(0)
    before = on_tensors.cumsum(pieces, 0) - pieces
    whole = on_tensors.concatenate([terms, before[None]])
    upper, lower = (_evaluated(whole, breaks, limit, 0, given, self.axis) for limit in (b, a))
    return upper - lower


def _piecewise_roots(
    real: Function, self: Interpolant, y: ArrayLike = 0.0, discontinuity: bool = True, extrapolate: Extrapolate = None
) -> Any:
    """Where a piecewise polynomial is y: simple roots move with the coefficients and y, jumps over y stay at their breakpoints."""
    name, given = "scipy.interpolate.PPoly.solve", self.extrapolate if extrapolate is None else extrapolate
    breaks, (c,) = constants("scipy.interpolate.PPoly", _get(self, "x"), why=KNOTS), tensors(_get(self, "c"))
    if c.ndim > 2:
        raise TypeError(
            f"{name} has no derivative here of several polynomials, as c of shape {tuple(c.shape)} holds: solve each by itself"
        )
    plain = loaded("interpolate.PPoly")(concrete(c).copy(), breaks)
    places = plain.solve(float(concrete(y)), discontinuity, given)
    moving = abs(plain(places) - concrete(y)) <= ROOT * (1 + abs(plain.c).max())
    found = attached(name, lambda x: _evaluated(c, breaks, x, 0, given, 0) - y, places[moving])
    if moving.all():
        return found
    order = np.argsort(np.concatenate([np.flatnonzero(moving), np.flatnonzero(~moving)]))
    return on_tensors.concatenate([found, places[~moving]])[order]


def _cubic(
    real: Function,
    self: Interpolant,
    x: Tensor,
    y: Tensor,
    axis: int = 0,
    bc_type: object = "not-a-knot",
    extrapolate: Extrapolate = None,
) -> None:
    """A cubic spline, linear in its values; boundary conditions of tensors are refused."""
    moved = on_tensors.moveaxis(y, axis, 0)
    fixed, bounds = constants("scipy.interpolate.CubicSpline", (x, bc_type), why=KNOTS)
    count, place = moved.shape[0], axis % moved.ndim
    sides = [side if isinstance(side, str) else (side[0], np.zeros(count)) for side in bounds]
    basis = np.eye(count)
    if bounds == "periodic":
        basis[-1] = basis[0]
    real(self, fixed, np.zeros(tuple(y.shape)), axis, bounds, extrapolate)
    offset = np.asarray(_get(self, "c"))
    real(self, fixed, basis, 0, bounds if isinstance(bounds, str) else sides, extrapolate)
    coefficients = on_tensors.tensordot(np.asarray(_get(self, "c")), moved, 1)
    self.axis = place
    _set(self, "c", coefficients + offset)


def _spline(
    real: Function, self: Interpolant, t: ArrayLike, c: Tensor, k: int, extrapolate: Extrapolate = True, axis: int = 0
) -> None:
    real(self, constants("scipy.interpolate.BSpline", t, why=KNOTS), np.zeros(tuple(c.shape)), k, extrapolate, axis)
    _set(self, "c", on_tensors.moveaxis(c, axis, 0))


def _spline_at(real: Function, self: Interpolant, x: Tensor, nu: int = 0, extrapolate: Extrapolate = None) -> Tensor:
    knots, c = np.asarray(_get(self, "t")), tensors(_get(self, "c"))[0]
    count = len(knots) - self.k - 1
    pieces, spans = _pieces(knots, self.k, count)
    given = self.extrapolate if extrapolate is None else extrapolate
    return _evaluated(on_tensors.tensordot(pieces, c[:count], 1), spans, x, nu, given, self.axis)


def _pieces(knots: Array, k: int, count: int) -> tuple[Array, Array]:
    """The polynomials of each basis spline between the knots, by their Taylor expansions there."""
    inner = knots[k : count + 1]
    starts = inner[:-1][np.diff(inner) > 0]
    basis = loaded("interpolate.BSpline")(knots, np.eye(count), k)
    rows = [basis(starts, nu) / float(np.prod(np.arange(1, nu + 1))) for nu in range(k, -1, -1)]
    return np.stack(rows), np.append(starts, inner[-1])


def _require_linear(method: str) -> None:
    if method != "linear":
        raise TypeError(f"RegularGridInterpolator has no derivative here with method={method!r}: 'linear' has")


def _grid(
    real: Function,
    self: Interpolant,
    points: Sequence[ArrayLike],
    values: Tensor,
    method: str = "linear",
    *rest: object,
    **more: object,
) -> None:
    _require_linear(method)
    real(
        self,
        constants("scipy.interpolate.RegularGridInterpolator", points),
        np.zeros(tuple(values.shape)),
        method,
        *rest,
        **more,
    )
    falling: Sequence[int] = getattr(self, "_descending_dimensions", ())  # which SciPy has turned in its grid
    _set(self, "values", on_tensors.flip(values, falling) if len(falling) else values)


def _grid_at(real: Function, self: Interpolant, xi: ArrayLike, method: str | None = None) -> Tensor:
    """Linear between the nearest points of the grid: at each of its corners, a value and a weight."""
    _require_linear(method or self.method)
    xi, values = tensors(xi, _get(self, "values"))
    at = constants("places", xi, tracked=True)
    outside = np.zeros(at.shape[:-1], bool)
    weights, places = [], []
    for axis, points in enumerate(map(np.asarray, self.grid)):
        outside |= (at[..., axis] < points[0]) | (at[..., axis] > points[-1])
        place = np.clip(np.searchsorted(points, at[..., axis], "right") - 1, 0, len(points) - 2)
        share = (xi[..., axis] - points[place]) / np.diff(points)[place]
        weights.append((1 - share, share))
        places.append(place)
    if self.bounds_error and outside.any():
        raise ValueError("One of the requested xi is out of bounds")
    inner = (...,) + (None,) * (values.ndim - len(self.grid))
    result: Any = 0.0
    for corner in np.ndindex((2,) * len(self.grid)):
        weight = functools.reduce(lambda a, b: a * b, [w[side] for w, side in zip(weights, corner, strict=True)])
        result = result + weight[inner] * values[tuple(p + side for p, side in zip(places, corner, strict=True))]
    if self.fill_value is None or not outside.any():
        return result
    return on_tensors.where(outside[inner], self.fill_value, result)


def _all_tensors(real: Function, self: Interpolant, *args: object, **options: object) -> None:
    """Arrays as tensors, too: SciPy has formulas for the slopes, in which it mixes none."""
    wrap = Tensor.interpreter.wrap
    real(
        self, *[wrap(np.asarray(arg), None) if isinstance(arg, (list, np.ndarray)) else arg for arg in args], **options
    )


def _dense(_: Function, self: Any, t: Tensor) -> Tensor:
    """The solution of DOP853 between two steps, by Horner's rule in x and 1 - x."""
    x = (t - self.t_old) / self.h
    at = x[:, None] if x.ndim else x
    result = 0.0
    for number, coefficient in enumerate(reversed(self.F)):
        result = (result + coefficient) * (1 - at if number % 2 else at)
    return (result + self.y_old).T


METHODS: dict[str, Function] = {
    "integrate.Dop853DenseOutput._call_impl": _dense,
    **OBJECTS,
    **{
        f"interpolate.{name}.__init__": _all_tensors
        for name in ("PchipInterpolator", "Akima1DInterpolator", "CubicHermiteSpline")
    },
    "interpolate.PPoly.__init__": _piecewise,
    "interpolate.PPoly.__call__": _piecewise_at,
    "interpolate.PPoly.integrate": _piecewise_integral,
    "interpolate.PPoly.solve": _piecewise_roots,
    "interpolate.CubicSpline.__init__": _cubic,
    "interpolate.BSpline.__init__": _spline,
    "interpolate.BSpline.__call__": _spline_at,
    "interpolate.RegularGridInterpolator.__init__": _grid,
    "interpolate.RegularGridInterpolator.__call__": _grid_at,
}
"""Methods that take tensors, or have them in their object: each gets the method that it stands for, and its arguments."""


def method(name: str, real: Function) -> Function:
    """A method of SciPy's that takes tensors, too."""
    rule, made = METHODS[name], name.endswith("__init__")

    def of_tensors(self: Interpolant, *args: object, **options: object) -> object:
        held = () if made else (*[_get(self, word) for word in ("c", "values", "F")], getattr(self, HELD, None))
        return (functools.partial(rule, real) if tracked(*args, *options.values(), *held) else real)(
            self, *args, **options
        )

    return of_tensors
