"""Functions of SciPy's that are linear in one argument, by the matrix that SciPy's own function has: no rule for each."""

from __future__ import annotations

from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.primitives import Carrier, Function
from .._core.shapes import normalize_axis
from .operands import constants, holds_tensor, on_tensors

if TYPE_CHECKING:
    from .._core.typing import Array, Dim, NumpyType, Params, Result, Tensor

LARGEST = 4096
"""The largest number of elements that a matrix is made for: it has at most this many squared."""


def require_small(name: str, count: int) -> None:
    """Refuse what a matrix would be too large for."""
    if count > LARGEST:
        raise ValueError(
            f"{name} on tensors works by the matrix of its map, which would have {count} columns: more than {LARGEST}. "
            "Apply it to parts"
        )


def _checked(name: str, real: Function, matrix: Array, offset: Array, probe: Array) -> None:
    """Refuse a function that is not what its matrix says: a median, or a mode that looks at the values."""
    expected = np.tensordot(probe, matrix, probe.ndim) + offset
    if not np.allclose(real(probe), expected, rtol=1e-5, atol=1e-7 * max(1.0, float(np.abs(expected).max(initial=0)))):
        raise TypeError(f"{name} has no derivative here with these arguments: it is not linear")


def _by_matrix(name: str, of_basis: Function, real: Function, x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The map applied to the last axes of a tensor, those of a shape; `of_basis` applies it to each of many arrays."""
    count = int(np.prod(shape))
    require_small(name, count)
    kind = np.promote_types(x._dtype, np.float64)
    offset = np.asarray(real(np.zeros(shape, kind)))
    matrix = np.asarray(of_basis(np.eye(count, dtype=kind).reshape(count, *shape))) - offset
    matrix = matrix.reshape(*shape, *offset.shape)
    _checked(name, real, matrix, offset, np.random.default_rng(0).normal(size=shape).astype(kind))
    single = x._dtype in (np.float32, np.complex64)
    matrix, offset = (each.astype(_single(each.dtype)) if single else each for each in (matrix, offset))
    x = x if x._dtype == matrix.dtype else on_tensors.multiply(x, np.ones((), matrix.dtype))
    result = on_tensors.tensordot(x, matrix, len(shape))
    return result + offset if offset.any() else result


def _single(dtype: NumpyType) -> type:
    return np.complex64 if dtype.kind == "c" else np.float32


def _operand(name: str, operand: str, given: Params) -> tuple[Tensor, Params]:
    """The tensor in which a function is linear, and the other arguments, as arrays."""
    x, rest = given.pop(operand), constants(name, given)
    if not isinstance(x, Carrier):
        raise TypeError(f"{name} has no derivative here but by {operand}: pass the other arguments as arrays")
    return x, rest


def along(operand: str, axis: str = "axis", default: int = -1) -> Function:
    """The rule of a function that is linear along one axis of an operand. Of several results the last is linear, others constant."""

    def rule(real: Function, name: str, **given: Any) -> Result:
        place = given.pop(axis, default)
        x, rest = _operand(name, operand, given)
        place = normalize_axis(place, x.ndim, name)
        found = real(**{operand: np.zeros(x.shape[place]), axis: -1}, **rest)
        others = found[:-1] if isinstance(found, tuple) else ()

        def last(values: Array) -> Array:
            result = real(**{operand: values, axis: -1}, **rest)
            return np.asarray(result[-1] if isinstance(result, tuple) else result)

        moved = on_tensors.moveaxis(x, place, -1)
        result = _by_matrix(name, last, last, moved, (x.shape[place],))
        if result.ndim == x.ndim:
            result = on_tensors.moveaxis(result, -1, place)
        elif place != x.ndim - 1:
            raise TypeError(f"{name} has no derivative here with {axis}={place}: move the axis to the end")
        return (*others, result) if others else result

    return rule


def of_each_axis(make: Function) -> Function:
    """The rule of a function that is one map after another, along each axis; `make(real, settings)` gives the map of an axis."""

    def rule(real: Function, name: str, input: Tensor, axes: Dim = None, **given: object) -> Tensor:
        settings = constants(name, given)
        places = range(input.ndim) if axes is None else [axes] if isinstance(axes, int) else axes
        for k, place in enumerate(places):
            own = {key: v[k] if isinstance(v, (list, tuple, np.ndarray)) else v for key, v in settings.items()}
            input = make(real, own)(input, place, name)
        return input

    return rule


def one_axis(function: Function, name: str, **settings: Any) -> Function:
    """The map of a function of arrays along its last axis, as `of_each_axis` wants it."""

    def applied(x: Tensor, place: int, _: str) -> Tensor:
        def last(values: Array) -> Array:
            return np.asarray(function(values, **settings))

        moved = on_tensors.moveaxis(x, place, -1)
        return on_tensors.moveaxis(_by_matrix(name, last, last, moved, (x.shape[place],)), -1, place)

    return applied


def whole(operand: str = "input") -> Function:
    """The rule of a function that is linear in all elements of an operand together: for small ones."""

    def rule(real: Function, name: str, **given: object) -> Tensor:
        x, rest = _operand(name, operand, given)

        def one(values: Array) -> Array:
            return np.asarray(real(**{operand: values}, **rest))

        return _by_matrix(name, lambda basis: np.stack([one(each) for each in basis]), one, x, tuple(x.shape))

    return rule


def selected(operand: str = "input", outside: str | None = "cval") -> Function:
    """The rule of a filter that selects elements by their order: applied to the elements' ranks, it tells which."""

    def rule(real: Function, name: str, **given: Any) -> Tensor:
        x = given.pop(operand)
        rest = constants(name, given)
        values = np.append(constants(name, x, tracked=True).ravel(), rest.get(outside, 0.0) if outside else 0.0)
        order = np.argsort(values, kind="stable")
        ranks = np.empty(len(order))
        ranks[order] = np.arange(len(order))
        lowest = ranks[-1]  # of what is outside: 0, which is what filters take without an argument for it
        if outside:
            rest[outside] = 0.0
        chosen = real(**{operand: (ranks[:-1] - lowest).reshape(x.shape)}, **rest)
        index = order[np.rint(chosen + lowest).astype(int)]
        return on_tensors.append(x.ravel(), values[-1:])[index]

    return rule


def loaded(path: str) -> Function:
    """Another function or class of SciPy's, which is imported: one of it was called."""
    return attrgetter(path)(import_module("scipy"))


def tracked(*values: object) -> bool:
    """Whether any of these values is a tensor, or holds one."""
    return any(map(holds_tensor, values))
