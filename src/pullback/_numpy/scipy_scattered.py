"""Scattered points on tensors: radial basis functions, triangles, densities, nearest neighbours and clusters of SciPy's.

SciPy says which points belong together, from their values: that stays the same around where they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.primitives import Function
from .linear_maps import loaded
from .operands import concrete, constants, joined, on_tensors, tensors

if TYPE_CHECKING:
    from .._core.typing import Array, ArrayLike, Tensor, Value

HELD = "_tensors"
"""The attribute of SciPy's objects that keeps the tensors they were made of."""


def _kept(self: Any, *others: Value) -> Any:
    return vars(self).get(HELD) or others


def _squares(first: Value, second: Value) -> Tensor:
    """The squared distances between each of the first points and each of the second ones."""
    a, b = tensors(first, second)
    return on_tensors.sum((a[:, None] - b[None]) ** 2, -1)


def _root(squares: Tensor) -> Tensor:
    """The square root, whose slope at zero is taken to be zero."""
    zero = np.equal(squares, 0)
    return on_tensors.where(zero, 0.0, on_tensors.sqrt(on_tensors.where(zero, 1.0, squares)))


# Of the squared distances
KERNELS: dict[str, Function] = {
    "linear": lambda s: -_root(s),
    "thin_plate_spline": lambda s: s * on_tensors.log(on_tensors.where(np.equal(s, 0), 1.0, s)) / 2,
    "cubic": lambda s: s * _root(s),
    "quintic": lambda s: -s * s * _root(s),
    "multiquadric": lambda s: -on_tensors.sqrt(s + 1),
    "inverse_multiquadric": lambda s: 1 / on_tensors.sqrt(s + 1),
    "inverse_quadratic": lambda s: 1 / (s + 1),
    "gaussian": lambda s: on_tensors.exp(-s),
}


def _radial(real: Function, self: Any, y: Value, d: Value, neighbors: int | None = None, **settings: Any) -> None:
    if neighbors is not None:
        raise TypeError("RBFInterpolator has no derivative here with neighbors=: leave it out")
    real(self, concrete(y), concrete(d), **constants("scipy.interpolate.RBFInterpolator", settings))
    vars(self)[HELD] = tuple(tensors(y, d))


def _radial_at(real: Function, self: Any, x: Value) -> Tensor:
    """The weights of the kernels and of the polynomial solve one linear system."""
    points, values = _kept(self, self.y, self.d.reshape(-1, *self.d_shape))
    points, values, x = tensors(points, values, x)

    def terms(at: Tensor) -> Tensor:
        return on_tensors.prod(at[:, None] ** self.powers, -1)

    def kernel(at: Tensor) -> Tensor:
        return KERNELS[self.kernel](_squares(at, points) * self.epsilon**2)

    low, high = points.shape[0], self.powers.shape[0]
    inner = kernel(points) + np.diag(self.smoothing)
    edge = terms(points)
    matrix = on_tensors.block([[inner, edge], [edge.T, np.zeros((high, high))]])
    flat = values.reshape(low, -1)
    weights = on_tensors.linalg.solve(matrix, on_tensors.concatenate([flat, np.zeros((high, flat.shape[1]))]))
    found = on_tensors.concatenate([kernel(x), terms(x)], 1) @ weights
    return found.reshape(x.shape[0], *values.shape[1:])


def _triangles(real: Function, self: Any, points: Value, values: Value, **settings: Any) -> None:
    if settings.get("rescale"):
        raise TypeError("LinearNDInterpolator has no derivative here with rescale=: scale the points yourself")
    real(self, concrete(points), concrete(values), **constants("scipy.interpolate.LinearNDInterpolator", settings))
    vars(self).update({HELD: tuple(tensors(points, values)), "_outside": settings.get("fill_value", np.nan)})


def _triangles_at(real: Function, self: Any, *xi: Value) -> Tensor:
    """Between the corners of the simplex around each point, by the point's barycentric coordinates there."""
    places = joined(xi[0]) if len(xi) == 1 else on_tensors.stack(on_tensors.broadcast_arrays(*tensors(*xi)), -1)
    points, values = _kept(self, self.tri.points, self.values)
    outside = vars(self).get("_outside", getattr(self, "fill_value", np.nan))
    points, values, places = tensors(points, values, places)
    at = places.reshape(-1, places.shape[-1])
    simplex = self.tri.find_simplex(concrete(at))
    corners = self.tri.simplices[simplex]
    first, last = points[corners[:, :-1]], points[corners[:, -1]]
    edges = on_tensors.swapaxes(first - last[:, None], 1, 2)
    shares = on_tensors.linalg.solve(edges, (at - last)[..., None])[..., 0]
    inner = (...,) + (None,) * (values.ndim - 1)
    ends = values[corners[:, -1]]
    found = ends + on_tensors.sum(shares[inner] * (values[corners[:, :-1]] - ends[:, None]), 1)
    if (simplex < 0).any():
        found = on_tensors.where((simplex < 0)[inner], outside, found)
    return found.reshape(*places.shape[:-1], *values.shape[1:])


def _density(real: Function, self: Any, dataset: Value, **settings: Any) -> None:
    real(self, concrete(dataset), **constants("scipy.stats.gaussian_kde", settings))
    vars(self)[HELD] = (on_tensors.atleast_2d(dataset),)


def _log_density(real: Function, self: Any, points: Value) -> Tensor:
    """A sum of normal densities, whose covariance is that of the data, scaled."""
    (data,) = _kept(self, self.dataset)
    points = on_tensors.atleast_2d(joined(points))
    if points.shape[0] != self.d:
        points = points.reshape(self.d, 1)
    data, points = tensors(data, points)
    middle = (data * self.weights).sum(1, keepdims=True)
    covariance = ((data - middle) * self.weights) @ (data - middle).T / (1 - (self.weights**2).sum())
    factor = on_tensors.linalg.cholesky(covariance * self.factor**2)
    white = [on_tensors.linalg.solve(factor, each).T for each in (points, data)]
    scale = self.d / 2 * np.log(2 * np.pi) + on_tensors.log(on_tensors.diagonal(factor)).sum()
    energy = -_squares(*white) / 2 + np.log(self.weights)
    top = concrete(energy).max(1)
    return on_tensors.log(on_tensors.exp(energy - top[:, None]).sum(1)) + top - scale


def _density_at(real: Function, self: Any, points: Value) -> Tensor:
    return on_tensors.exp(_log_density(real, self, points))


def _tree(real: Function, self: Any, data: Value, *rest: Any, **settings: Any) -> None:
    real(self, concrete(data), *rest, **settings)
    vars(self)[HELD] = tuple(tensors(data))


def _nearest(real: Function, self: Any, x: Value, *rest: Any, p: float = 2.0, **settings: Any) -> tuple[Tensor, Array]:
    (data,) = _kept(self, self.data)
    data, x = tensors(data, x)
    index = real(self, concrete(x), *rest, p=p, **settings)[1]
    missing = np.equal(index, data.shape[0])
    between = data[np.where(missing, 0, index)] - (x if np.ndim(index) < x.ndim else x[..., None, :])
    return on_tensors.where(missing, np.inf, on_tensors.linalg.norm(between, p, -1)), index


def _assigned(obs: Value, code_book: Value) -> tuple[Array, Tensor]:
    """Of each observation the nearest code, and how far it is."""
    obs, codes = tensors(obs, code_book)
    near = loaded("cluster.vq.vq")(concrete(obs), concrete(codes))[0]
    between = obs - codes[near] if obs.ndim > 1 else (obs - codes[near])[:, None]
    return near, _root(on_tensors.sum(between**2, -1))


def _means(obs: Tensor, codes: Array, near: Array) -> Tensor:
    """The mean of the observations of each code; one without any stays where it is."""
    inside = np.equal(near, np.arange(len(codes))[:, None])
    count = inside.sum(1)
    found = (inside / np.maximum(count, 1)[:, None]) @ obs
    return found if count.all() else on_tensors.where(count.reshape(-1, *[1] * (codes.ndim - 1)) > 0, found, codes)


def _clusters(real: Function, name: str, obs: Value, k_or_guess: ArrayLike, **settings: Any) -> tuple[Tensor, Tensor]:
    book, distortion = real(concrete(obs), constants(name, k_or_guess, tracked=True), **constants(name, settings))
    means = _means(tensors(obs)[0], book, loaded("cluster.vq.vq")(concrete(obs), book)[0])
    mean = _assigned(obs, means)[1].mean()
    return means - concrete(means) + book, mean - concrete(mean) + distortion


def _clusters_of_data(real: Function, name: str, data: Value, k: ArrayLike, **settings: Any) -> tuple[Tensor, Array]:
    book, near = real(concrete(data), constants(name, k, tracked=True), **constants(name, settings))
    return _means(tensors(data)[0], book, near), near


SCATTERED: dict[str, Function] = {
    "cluster.vq": _assigned,
    "cluster.vq.kmeans": _clusters,
    "cluster.vq.kmeans2": _clusters_of_data,
}
OBJECTS: dict[str, Function] = {
    "interpolate.RBFInterpolator.__init__": _radial, "interpolate.RBFInterpolator.__call__": _radial_at,
    "interpolate.LinearNDInterpolator.__init__": _triangles, "interpolate.LinearNDInterpolator.__call__": _triangles_at,
    "stats.gaussian_kde.__init__": _density, "stats.gaussian_kde.evaluate": _density_at,
    "stats.gaussian_kde.__call__": _density_at, "stats.gaussian_kde.logpdf": _log_density,
    "spatial.KDTree.__init__": _tree, "spatial.KDTree.query": _nearest,
}  # fmt: skip
"""Methods: a rule gets SciPy's method, the object, and the arguments."""
