"""A function of nested parameters as a function of one vector, which is what optimizers of other libraries minimize."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core import errors
from .._core.modes import FieldBlock
from .._core.primitives import Carrier, Function
from .._core.trees import Structure, flatten, paths, unflatten
from .._tape import backward, reasons
from .._tape.cuts import strictly
from .._tensor.creation import from_numpy
from .live import hessian, jacobian

if TYPE_CHECKING:
    from .._core.dtypes import NumpyType
    from .._core.typing import Tensor


Array = np.ndarray[Any, np.dtype[Any]]
DOUBLE = np.dtype(np.float64)


class ParameterLeaf(NamedTuple):
    """A leaf of the parameters: its path, shape and dtype, and the function that rebuilds it from an array."""

    path: str
    shape: tuple[int, ...]
    dtype: NumpyType
    made: Function


class Problem(NamedTuple):
    """The result of `flatten_problem`: the function of a vector, the start vector, and the unflattening."""

    fun: FlatFunction
    x0: Array
    unflatten: Function


def flatten_problem(f: Function, params: object, *, allow_nan: bool = False, allow_escapes: bool = False) -> Problem:
    """A function of nested parameters as `fun, x0, unflatten`: a function of one float64 vector, for SciPy's `minimize`.

    `fun(x)` returns the value, a float, and the gradient. `fun.value(x)`, `fun.grad(x)`, `fun.hess(x)` and
    `fun.hessp(x, p)` compute one quantity each; `fun.residuals(x)` and `fun.jacobian(x)` are for least squares, where f
    returns many elements. Further arguments are passed on to f. `x0` is the concatenation of the leaves, and
    `unflatten(x)` nests the entries of a vector as `params` is, each leaf of its original type and dtype.

    Parameters
    ----------
    f
        A function of parameters nested as `params`, each leaf a tensor of the leaf's dtype (float64 for a float), that
        returns a tensor of one element. It must not depend on anything else that changes.
    params
        Tensors, arrays and floats in tuples, lists, dicts, named tuples and dataclasses; None stays None.
    allow_nan, allow_escapes
        Return NaN, and go on where a derivative is lost, rather than raise an error.

    Raises
    ------
    TypeError
        If a leaf is no tensor, array or float of a real floating dtype (its path is named); if f returns no tensor.
    RuntimeError
        If f returns several elements, or depends on no parameter; unless `allow_escapes`, if it turns a parameter into
        a number where a gradient is asked for, as in `math.exp(x)`: the line is named.
    FloatingPointError
        If a value or derivative is NaN (the leaf's path is named), unless `allow_nan`; infinities are returned.

    >>> import pullback
    >>> def loss(params):
    ...     return (params["slope"] * 3 + params["offsets"]).square().sum() + params["slope"] ** 2
    >>> fun, x0, unflatten = pullback.flatten_problem(loss, {"slope": 2.0, "offsets": pullback.zeros(2)})
    >>> x0, fun(x0)
    (array([2., 0., 0.]), (76.0, array([76., 12., 12.])))
    >>> unflatten(x0 + 1)
    {'slope': 3.0, 'offsets': tensor([1., 1.])}

    With SciPy: `minimize(fun, x0, jac=True, hessp=fun.hessp, method="trust-krylov")`.
    """
    if not callable(f):
        raise TypeError(f"flatten_problem(): f must be a function of the parameters, not {_kind(f)}")
    values, structure = flatten(params)
    named = zip(values, paths(structure, "params"), strict=True)
    found = [None if value is None else _leaf(value, path) for value, path in named]
    vectors = [array.astype(DOUBLE).reshape(-1) for _, array in filter(None, found)]
    if not vectors:
        raise ValueError(f"flatten_problem(): there are no parameters in {structure}")
    strict = "" if allow_escapes else "flatten_problem"
    fun = FlatFunction(f, structure, [pair and pair[0] for pair in found], allow_nan, strict)
    return Problem(fun, np.concatenate(vectors), fun.unflatten)


def _leaf(value: object, path: str) -> tuple[ParameterLeaf, Array]:
    """The description of a leaf of the parameters, and its value as an array."""
    if isinstance(value, Carrier):
        if value.level:
            raise NotImplementedError(f"{path} belongs to a transform: call flatten_problem outside of it")
        array = value._array
        made: Function = from_numpy
    elif isinstance(value, (np.ndarray, np.floating)):
        array = np.asarray(value)
        made = np.asarray if isinstance(value, np.ndarray) else value.dtype.type
    elif type(value) is float:
        array, made = np.asarray(value), float
    else:
        fix = "Write 1.0 for 1" if type(value) is int else "Pass what is not to be optimised to f as a further argument"
        raise TypeError(f"{path} is {_kind(value)}: parameters are tensors, arrays and floats. {fix}")
    if array.dtype.kind != "f":
        raise TypeError(
            f"{path} has dtype {array.dtype}: only Tensors of floating point dtype can require gradients. Convert it to "
            "floats if it is to be optimised, else pass it to f as a further argument"
        )
    if np.isnan(array).any():
        raise FloatingPointError(f"{path} is NaN at the start")
    return ParameterLeaf(path, array.shape, array.dtype, made), array


class FlatFunction:
    """A function of nested parameters, called with one vector; created by `flatten_problem`."""

    def __init__(
        self, f: Function, structure: Structure, leaves: list[ParameterLeaf | None], allow_nan: bool, strict: str
    ) -> None:
        self._f = f
        self._strict = strict
        self._structure = structure
        self._leaves = leaves
        self._allow_nan = allow_nan
        self._known = [leaf for leaf in leaves if leaf is not None]
        self._sizes = [math.prod(leaf.shape) for leaf in self._known]
        self._last: tuple[Array, tuple[object, ...], Tensor, Tensor] | None = None

    def __call__(self, x: Array | Tensor, *args: object) -> tuple[float, Array]:
        """The value and the gradient at x."""
        self._last = None
        flat, loss = self._loss(x, args)
        (g,) = backward.grad(loss, flat)
        return self._value(loss, flat), self._checked("gradient", g)

    def value(self, x: Array | Tensor, *args: object) -> float:
        """The value at x."""
        self._last = None
        with FieldBlock(grad=False):
            flat = self._flat(x)
            return self._value(_scalar(self._output(flat, args)), flat)

    def grad(self, x: Array | Tensor, *args: object) -> Array:
        """The gradient at x."""
        return self(x, *args)[1]

    def hess(self, x: Array | Tensor, *args: object) -> Array:
        """The Hessian at x."""
        flat, loss = self._loss(x, args)
        return self._checked("Hessian", hessian(loss, flat))

    def hessp(self, x: Array | Tensor, p: Array | Tensor, *args: object) -> Array:
        """The Hessian at x times p; for several p at one x, f is computed once."""
        flat, g = self._gradient(x, args)
        p = self._vector("p", p)
        if g._node is None:
            return np.zeros(p.size)
        (product,) = backward.grad(g, flat, from_numpy(p), retain_graph=True, materialize_grads=True)
        return self._checked("product with the Hessian", product)

    def residuals(self, x: Array | Tensor, *args: object) -> Array:
        """The elements of f's result at x, as a vector: for `scipy.optimize.least_squares`."""
        self._last = None
        with FieldBlock(grad=False):
            flat = self._flat(x)
            found = _tensor(self._output(flat, args))
        residuals: Array = np.array(found._array, DOUBLE).reshape(-1)
        if not self._allow_nan and np.isnan(residuals).any():
            raise FloatingPointError(f"residual {int(np.isnan(residuals).argmax())} is NaN{self._blame(flat)}")
        return residuals

    def jacobian(self, x: Array | Tensor, *args: object) -> Array:
        """The Jacobian of the residuals at x, one row per residual."""
        flat, output = self._tracked(x, args)
        return self._checked("Jacobian", jacobian(output.reshape(-1), flat))

    def unflatten(self, x: Array | Tensor) -> Any:
        """The entries of a vector nested as the parameters are, each leaf of its original type and dtype."""
        pieces = iter(np.split(self._vector("x", x), np.cumsum(self._sizes)[:-1]))
        made = [leaf and leaf.made(next(pieces).reshape(leaf.shape).astype(leaf.dtype)) for leaf in self._leaves]
        return unflatten(self._structure, made)

    def _vector(self, name: str, x: Array | Tensor) -> Array:
        """The optimizer's vector, checked and copied."""
        vector: Array = np.array(x.detach().numpy() if isinstance(x, Carrier) else x, DOUBLE)
        if vector.shape != (sum(self._sizes),):
            raise ValueError(
                f"{name} has shape {vector.shape}, but the parameters have {sum(self._sizes)} elements: pass a vector laid "
                "out like x0"
            )
        return vector

    def _flat(self, x: Array | Tensor) -> Tensor:
        return from_numpy(self._vector("x", x))

    def _output(self, flat: Tensor, args: tuple[object, ...]) -> object:
        """f's result for the parameters in a flat tensor."""
        pieces = iter(flat.split(self._sizes))
        made = [
            leaf and next(pieces).reshape(leaf.shape).to(from_numpy(np.empty(0, leaf.dtype)).dtype)
            for leaf in self._leaves
        ]
        return self._f(unflatten(self._structure, made), *args)

    def _tracked(self, x: Array | Tensor, args: tuple[object, ...]) -> tuple[Tensor, Tensor]:
        """The vector as a tensor that requires grad, and f's result for it."""
        flat = self._flat(x).requires_grad_()
        with FieldBlock(grad=True), strictly(self._strict):
            output = _tensor(self._output(flat, args))
        if output._node is None:
            raise reasons.no_history(0, output)
        return flat, output

    def _loss(self, x: Array | Tensor, args: tuple[object, ...]) -> tuple[Tensor, Tensor]:
        flat, output = self._tracked(x, args)
        return flat, _scalar(output)

    def _gradient(self, x: Array | Tensor, args: tuple[object, ...]) -> tuple[Tensor, Tensor]:
        """The vector as a tensor, and the gradient there with its graph; cached while nothing changes."""
        last = self._last
        if last is not None and np.array_equal(last[0], x) and list(map(id, last[1])) == list(map(id, args)):
            return last[2:]
        flat, loss = self._loss(x, args)
        with FieldBlock(grad=True):
            (g,) = backward.grad(loss, flat, create_graph=True)
        self._last = flat._array.copy(), args, flat, g
        return flat, g

    def _value(self, loss: Tensor, flat: Tensor) -> float:
        value = float(loss._array.reshape(()))
        if math.isnan(value) and not self._allow_nan:
            raise FloatingPointError(f"the value is NaN{self._blame(flat)}")
        return value

    def _blame(self, flat: Tensor) -> str:
        """A phrase that names the parameters that are NaN or infinite."""
        place = np.flatnonzero(~np.isfinite(flat._array))
        return f": {self._path(int(place[0]))} is {flat._array[place[0]]}" if place.size else " at finite parameters"

    def _checked(self, what: str, found: Tensor) -> Array:
        """A derivative as a new array, refused if it contains NaN."""
        array: Array = np.array(found.detach()._array, DOUBLE)
        if not self._allow_nan and np.isnan(array).any():
            place = int(np.argwhere(np.isnan(array))[0][-1])
            raise FloatingPointError(
                f"the {what} is NaN at {self._path(place)}. Find the operation that made it, or pass allow_nan=True to "
                "leave it to the optimizer"
            )
        return array

    def _path(self, place: int) -> str:
        """The path of the leaf that an entry of the vector belongs to, and the index in it."""
        ends = np.cumsum([0, *self._sizes])
        for leaf, (start, end) in zip(self._known, pairwise(ends.tolist()), strict=True):
            if start <= place < end:
                index = np.unravel_index(place - start, leaf.shape) if leaf.shape else ()
                return leaf.path + (f"[{', '.join(map(str, index))}]" if index else "")
        raise IndexError(place)


def _tensor(output: object) -> Tensor:
    if not isinstance(output, Carrier):
        raise TypeError(f"The function given to flatten_problem must return a Tensor, not {_kind(output)}")
    if output._dtype.kind != "f":
        raise TypeError(
            f"The function given to flatten_problem must return real numbers of floating point, not a {errors.kind(output)}"
        )
    return output


def _scalar(output: object) -> Tensor:
    output = _tensor(output)
    if output.numel() != 1:
        raise RuntimeError(
            "The Tensor returned by the function given to flatten_problem should contain a single element, but it is a "
            f"{errors.kind(output)}: sum it, or use fun.residuals and fun.jacobian for least squares"
        )
    return output


def _kind(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
