"""What `xp` is in the rules and definitions of users' operations: the functions of a namespace with arguments as NumPy's.

Primitives have their axes counted from the front, as a tuple where there may be several, and all of their options given.
Who writes an operation need not know that.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import xp as _xp
from .keywords import nearest
from .lazy import provider
from .package import package
from .shapes import infer_shape, normalize_axes, normalize_axis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .primitives import Function
    from .typing import DType, Value


Axes = int | tuple[int, ...] | None


def _rank(x: object) -> int:
    return getattr(x, "ndim", 0)


class ArrayFunctions:
    """The functions that `xp` has in the rules and definitions of an operation.

    Beside those that are written here it has the elementwise ones of NumPy and of the array API standard, by their names
    there: `exp`, `log1p`, `tanh`, `square`, `maximum`, `where` and so on, and more that `pullback` has, such as `erf`.
    Arrays are passed by position. An axis may be counted from the end.

    >>> import numpy
    >>> from pullback._core.namespaces import ARRAYS as xp
    >>> xp.max(numpy.eye(2), axis=-1), xp.sum(numpy.eye(2))
    (array([1., 1.]), np.float64(2.0))
    """

    def __init__(self, functions: Any) -> None:
        self._functions = functions

    def __getattr__(self, name: str) -> Any:
        try:
            found = getattr(self._functions, name)
        except AttributeError:
            known = [each for each in {*dir(type(self)), *_xp.NUMPY} if not each.startswith("_")]
            meant = nearest(name, sorted(known))
            hint = (
                f": did you mean {meant!r}?" if meant else f": help({package}.extend.ArrayFunctions) says what it has"
            )
            raise AttributeError(f"xp has no function {name!r}{hint}") from None
        setattr(self, name, found)
        return found

    def argmax(self, x: Value, axis: int, keepdims: bool = False) -> Value:
        """The index of the largest element along an axis."""
        return self._functions.argmax(x, axis=normalize_axis(axis, _rank(x), "argmax"), keepdims=keepdims)

    def argmin(self, x: Value, axis: int, keepdims: bool = False) -> Value:
        """The index of the smallest element along an axis."""
        return self._functions.argmin(x, axis=normalize_axis(axis, _rank(x), "argmin"), keepdims=keepdims)

    def argsort(self, x: Value, axis: int = -1, descending: bool = False) -> Value:
        """The indices that sort x along an axis."""
        return self._functions.argsort(x, axis=normalize_axis(axis, _rank(x), "argsort"), descending=descending)

    def astype(self, x: Value, dtype: DType, source: object = None) -> Value:
        """x in another dtype."""
        source = getattr(x, "_dtype", x.dtype) if source is None else source
        return self._functions.astype(x, dtype=np.dtype(dtype), source=source)

    def broadcast_to(self, x: Value, shape: tuple[int, ...]) -> Value:
        """x repeated to a shape."""
        return self._functions.broadcast_to(x, shape=tuple(shape))

    def clip(self, x: Value, lower: float | None = None, upper: float | None = None) -> Value:
        """x between two numbers."""
        return self._functions.clip(x, lower=lower, upper=upper)

    def concat(self, *arrays: Value, axis: int = 0, sizes: tuple[int, ...] | None = None) -> Value:
        """Arrays, or a list of them, joined along an axis."""
        several = _listed(arrays)
        place = normalize_axis(axis, _rank(several[0]), "concat")
        sizes = tuple([x.shape[place] for x in several]) if sizes is None else sizes
        return self._functions.concat(*several, axis=place, sizes=sizes)

    def cumprod(self, x: Value, axis: int, exclusive: bool = False) -> Value:
        """Running products along an axis."""
        return self._functions.cumprod(x, axis=normalize_axis(axis, _rank(x), "cumprod"), exclusive=exclusive)

    def diagonal(self, x: Value, axes: tuple[int, int] = (-2, -1)) -> Value:
        """The diagonal of two axes, as the last axis."""
        return self._functions.diagonal(x, axes=normalize_axes(axes, _rank(x), "diagonal"))

    def einsum(self, *arrays: Value | str, equation: str | None = None) -> Value:
        """Sums of products over labeled axes: the equation, then the arrays."""
        first, *rest = arrays
        operands = arrays if equation is not None else rest
        return self._functions.einsum(*operands, equation=first if equation is None else equation)

    def expand_dims(self, x: Value, axis: int | tuple[int, ...]) -> Value:
        """x with new axes of length 1, which are counted in the result."""
        several = (axis,) if isinstance(axis, int) else tuple(axis)
        for place in sorted(normalize_axes(several, _rank(x) + len(several), "expand_dims")):
            x = self._functions.expand_dims(x, axis=place)
        return x

    def flip(self, x: Value, axis: Axes = None) -> Value:
        """x in the opposite order along axes."""
        return self._functions.flip(x, axis=normalize_axes(axis, _rank(x), "flip"))

    def ones_like(self, x: Value) -> Value:
        """Ones with the shape and dtype of x."""
        return self._functions.zeros_like(x) + 1

    def permute_dims(self, x: Value, axes: tuple[int, ...]) -> Value:
        """The axes in another order."""
        return self._functions.permute_dims(x, axes=normalize_axes(axes, _rank(x), "permute_dims"))

    def power(self, x: Value, exponent: float) -> Value:
        """x to a Python number."""
        return self._functions.power(x, exponent=exponent)

    def prod(self, x: Value, axis: Axes = None, keepdims: bool = False) -> Value:
        """The product over axes."""
        for place in sorted(normalize_axes(axis, _rank(x), "prod"), reverse=True):
            x = self._functions.prod(x, axis=place, keepdims=keepdims)
        return x

    def reshape(self, x: Value, shape: int | tuple[int, ...]) -> Value:
        """x in another shape, of which one length may be -1."""
        wanted = (shape,) if isinstance(shape, int) else tuple(shape)
        whole = tuple(infer_shape(wanted, math.prod(x.shape), "reshape")) if -1 in wanted else wanted
        return self._functions.reshape(x, shape=whole)

    def roll(self, x: Value, shifts: int | tuple[int, ...], axes: int | tuple[int, ...]) -> Value:
        """The elements moved along axes, those that leave at one end coming back at the other."""
        several = (shifts,) if isinstance(shifts, int) else tuple(shifts)
        return self._functions.roll(x, shifts=several, axes=normalize_axes(axes, _rank(x), "roll"))

    def split(self, x: Value, sizes: tuple[int, ...], axis: int = 0) -> tuple[Value, ...]:
        """Consecutive pieces of x along an axis."""
        return self._functions.split(x, sizes=tuple(sizes), axis=normalize_axis(axis, _rank(x), "split"))

    def squeeze(self, x: Value, axis: int | tuple[int, ...]) -> Value:
        """x without axes of length 1."""
        axes = normalize_axes(axis, _rank(x), "squeeze")
        if longer := [each for each in axes if x.shape[each] != 1]:
            raise ValueError(
                f"squeeze(): axis {longer[0]} has length {x.shape[longer[0]]}, not 1: its shape is {tuple(x.shape)}"
            )
        return self._functions.reshape(x, shape=tuple([n for each, n in enumerate(x.shape) if each not in axes]))

    def stack(self, *arrays: Value, axis: int = 0) -> Value:
        """Arrays, or a list of them, joined along a new axis."""
        several = _listed(arrays)
        return self._functions.stack(*several, axis=normalize_axis(axis, _rank(several[0]) + 1, "stack"))

    def take_along_axis(self, x: Value, indices: Value, axis: int) -> Value:
        """One element along an axis for each place along the others."""
        return self._functions.take_along_axis(x, indices, axis=normalize_axis(axis, _rank(x), "take_along_axis"))

    def tril(self, x: Value, k: int = 0) -> Value:
        """What is on a diagonal of the last two axes and below it; else 0."""
        return self._functions.tril(x, k=k)

    def triu(self, x: Value, k: int = 0) -> Value:
        """What is on a diagonal of the last two axes and above it; else 0."""
        return self._functions.triu(x, k=k)

    def unbind(self, x: Value, axis: int = 0) -> tuple[Value, ...]:
        """The slices of x along an axis."""
        return self._functions.unbind(x, axis=normalize_axis(axis, _rank(x), "unbind"))

    def vector_norm(self, x: Value, order: float = 2, axis: Axes = None, keepdims: bool = False) -> Value:
        """The norm over axes."""
        axes = normalize_axes(axis, _rank(x), "vector_norm")
        return self._functions.vector_norm(x, order=order, axis=axes, keepdims=keepdims)


def _listed(arrays: tuple[Any, ...]) -> Sequence[Value]:
    return arrays[0] if len(arrays) == 1 and isinstance(arrays[0], (list, tuple)) else arrays


def _reduction(name: str, of: str, text: str) -> Function:
    def method(self: ArrayFunctions, x: Value, axis: Axes = None, keepdims: bool = False) -> Value:
        return getattr(self._functions, of)(x, axis=normalize_axes(axis, _rank(x), name), keepdims=keepdims)

    return _titled(method, name, f"The {text} over axes, or over all.")


def _spread(name: str, text: str) -> Function:
    def method(
        self: ArrayFunctions, x: Value, axis: Axes = None, correction: float = 0, keepdims: bool = False
    ) -> Value:
        axes = normalize_axes(axis, _rank(x), name)
        return getattr(self._functions, name)(x, axis=axes, correction=correction, keepdims=keepdims)

    return _titled(method, name, f"The {text} over axes, or over all.")


def _along(name: str, text: str) -> Function:
    def method(self: ArrayFunctions, x: Value, axis: int) -> Value:
        return getattr(self._functions, name)(x, axis=normalize_axis(axis, _rank(x), name))

    return _titled(method, name, f"{text} along an axis.")


def _titled(method: Function, name: str, text: str) -> Function:
    method.__name__, method.__qualname__, method.__doc__ = name, f"ArrayFunctions.{name}", text
    made: Function = method
    return made


for _name, _of, _text in (
    ("sum", "sum", "sum"), ("mean", "mean", "mean"), ("max", "amax", "largest element"),
    ("min", "amin", "smallest element"), ("amax", "amax", "largest element"), ("amin", "amin", "smallest element"),
    ("logsumexp", "logsumexp", "logarithm of the sum of exponentials"), ("all", "all", "conjunction"),
    ("any", "any", "disjunction"),
):  # fmt: skip
    setattr(ArrayFunctions, _name, _reduction(_name, _of, _text))
for _name, _text in (("var", "variance"), ("std", "standard deviation")):
    setattr(ArrayFunctions, _name, _spread(_name, _text))
for _name, _text in (
    ("cumsum", "Running sums"), ("logcumsumexp", "Logarithms of running sums of exponentials"),
    ("softmax", "The softmax"), ("log_softmax", "The logarithm of the softmax"),
):  # fmt: skip
    setattr(ArrayFunctions, _name, _along(_name, _text))

ARRAYS = ArrayFunctions(_xp)
"""The functions on arrays."""
of_users: dict[Any, Any] = {_xp: ARRAYS, provider("primitives"): ArrayFunctions(provider("primitives"))}
"""The namespaces that users' rules are given for those of pullback's: for arrays, and for tensors."""
