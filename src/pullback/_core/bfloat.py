"""bfloat16: arrays of the dtype that the package ml_dtypes adds to NumPy; they compute in float32 and round results once.

NumPy stores such numbers, but knows them as raw bytes (kind 'V'), and adds many of them in their own precision. So a tensor of
this dtype holds a `BFloatArray`, whose dtype is a `BFloatType`, of kind 'f'. All shortcuts are for plain arrays and leave it
to `bind`, which computes the whole primitive in float32; for the rest, NumPy asks the array itself.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy import ndarray

if TYPE_CHECKING:
    from .dtypes import NumpyType
    from .primitives import Function, Primitive
    from .typing import Array, Params, Value


SINGLE = np.dtype(np.float32)
CHAR: str = "E"
"""NumPy's character for the dtype."""
MISSING = "bfloat16 is stored by the package ml_dtypes, which is not installed: pip install ml_dtypes, or use float32"
_true_dtype: Callable[[Array], NumpyType] = vars(ndarray)["dtype"].__get__
SCALED = {"multiply", "divide", "lerp", "xlogy"}
"""Primitives that use a number beside a tensor as it is, as in torch; for others it is rounded first."""
MOVING = {
    np.broadcast_to, np.copyto, np.empty_like, np.expand_dims, np.full_like, np.may_share_memory, np.moveaxis, np.ndim,
    np.ones_like, np.ravel, np.reshape, np.shape, np.shares_memory, np.size, np.squeeze, np.swapaxes, np.transpose, np.zeros_like,
    np.lib.stride_tricks.as_strided, np.concatenate, np.stack, np.copy,
}  # fmt: skip
"""Functions of NumPy that compute nothing."""


class BFloatType:
    """The dtype bfloat16 as other modules see it: as one of NumPy's, of floating kind; `np.dtype` of it is that of ml_dtypes."""

    kind, char, name, itemsize, isnative = "f", CHAR, "bfloat16", 2, True

    def __init__(self, dtype: NumpyType) -> None:
        self.dtype = self.__numpy_dtype__ = dtype
        self.type = dtype.type

    def newbyteorder(self, order: str = "S") -> Self:
        """This dtype: arrays of it have the machine's byte order."""
        return self

    def __eq__(self, other: object) -> bool:
        return self is other or self.dtype == getattr(other, "__numpy_dtype__", other)

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return repr(self.dtype)

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Callable[[], NumpyType], tuple[()]]:
        return bfloat_type, ()


KNOWN: list[Any] = []
"""The dtype, once it has been needed: until then no array can have it."""


@functools.cache
def bfloat_type() -> NumpyType:
    """The dtype of bfloat16 arrays; ImportError without ml_dtypes."""
    try:
        package = importlib.import_module("ml_dtypes")
    except ImportError as error:
        raise ImportError(MISSING, name="ml_dtypes") from error
    KNOWN.append(BFloatType(np.dtype(package.bfloat16)))
    return cast("np.dtype[Any]", KNOWN[0])


@functools.cache
def _limits() -> SimpleNamespace:
    largest, least = (2 - 2**-7) * 2.0**127, 2.0**-126
    return SimpleNamespace(
        bits=16,
        nmant=7,
        precision=2,
        eps=2**-7,
        max=largest,
        min=-largest,
        tiny=least,
        smallest_normal=least,
        dtype=bfloat_type(),
    )


def finfo(dtype: Any) -> np.finfo[Any] | SimpleNamespace:
    """`numpy.finfo`, which also knows bfloat16."""
    return _limits() if isinstance(dtype, BFloatType) else np.finfo(dtype)


class BFloatArray(ndarray[Any, Any]):
    """An array of bfloat16 numbers. Sums, products and all else are computed in float32, and rounded once."""

    @property
    def dtype(self) -> NumpyType:
        """The dtype, with the kind of a floating one."""
        own = _true_dtype(self)
        return bfloat_type() if own.char == CHAR else own

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = (), **options: Any) -> Any:
        wide = [widened(x) for x in inputs]
        if method == "at":
            ufunc.at(*wide)
            return np.copyto(inputs[0], wide[0], casting="unsafe")
        result = getattr(ufunc, method)(*wide, **_widened_options(options))
        if not out:
            return narrowed(result) if _stays(inputs, options) else result
        for target, piece in zip(out, result if ufunc.nout > 1 else (result,), strict=True):
            np.copyto(target, piece, casting="unsafe")
        return out if ufunc.nout > 1 else out[0]

    def __array_function__(self, function: Function, types: object, args: Any, options: Any) -> Any:
        if function in MOVING:
            return held(function(*_plain(args), **{key: _plain(value) for key, value in options.items()}))
        result = function(*_each(widened, args), **_widened_options(options))
        return narrowed(result) if _stays(args, options) else result

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        """A copy in another dtype."""
        return held(_plain(self).astype(dtype, *args, **options))

    def view(self, *args: Any, **options: Any) -> Any:
        """The same memory, as an array of another dtype or class if one is given."""
        plain = ndarray.view(self, ndarray)
        return plain.view(*args, **options) if args or options else ndarray.view(self)

    def item(self, *args: Any) -> Any:
        """An element as a Python number."""
        return widened(self).item(*args)

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return widened(self).tolist()

    def __repr__(self) -> str:
        return repr(_plain(self))

    def __str__(self) -> str:
        return str(_plain(self))


def _method(name: str) -> Function:
    def method(self: BFloatArray, *args: Any, **options: Any) -> Any:
        return narrowed(getattr(widened(self), name)(*_each(widened, args), **_widened_options(options)))

    method.__name__ = name
    method.__doc__ = f"`numpy.ndarray.{name}`, computed in float32."
    return method


for _name in (
    "all any argmax argmin argpartition argsort clip conj conjugate cumprod cumsum dot max mean min nonzero "
    "prod round searchsorted std sum trace var"
).split():
    setattr(BFloatArray, _name, _method(_name))


def is_bfloat(x: object) -> bool:
    """True for arrays and NumPy scalars of bfloat16."""
    if isinstance(x, ndarray):
        return _true_dtype(x).char == CHAR
    return isinstance(x, np.generic) and x.dtype.char == CHAR


def dtype_of(x: object) -> NumpyType:
    """The dtype of an array or of what becomes one, that of bfloat16 with its floating kind."""
    own: NumpyType = np.asarray(x).dtype
    return bfloat_type() if own.char == CHAR else own


def _plain(x: Any) -> Any:
    if type(x) in (list, tuple):
        return _each(_plain, x)
    return ndarray.view(x, ndarray) if isinstance(x, BFloatArray) else x


def widened(x: Any) -> Any:
    """An array of bfloat16 as one of float32; everything else as it is."""
    if type(x) in (list, tuple):
        return _each(widened, x)
    return np.asarray(_plain(x)).astype(SINGLE) if is_bfloat(x) else x


def narrowed(x: Any) -> Any:
    """A float32 result, or those among several, rounded to bfloat16; everything else as it is."""
    if isinstance(x, (list, tuple)):
        return _each(narrowed, x)
    single = isinstance(x, float) or (isinstance(x, (ndarray, np.generic)) and x.dtype == SINGLE)
    return held(np.asarray(x).astype(bfloat_type())) if single else x


def held(x: Any) -> Any:
    """A plain array of the numbers of ml_dtypes, or each of several, as a BFloatArray with the same memory."""
    if isinstance(x, (list, tuple)):
        return _each(held, x)
    if type(x) is not BFloatArray and is_bfloat(x):
        return np.asarray(x).view(BFloatArray)
    return x


def _each(convert: Callable[[Any], Any], values: Sequence[Any]) -> Any:
    found = [convert(value) for value in values]
    return found if isinstance(values, list) else tuple(found)


def _widened_options(options: Params) -> Params:
    return {key: SINGLE if isinstance(value, BFloatType) else widened(value) for key, value in options.items()}


def _stays(args: Sequence[object], options: Params) -> bool:
    """True if results are of bfloat16: by the dtype that is asked for, or else that of the arguments."""
    wanted = options.get("dtype")
    return _only(args) if wanted is None else isinstance(wanted, BFloatType)


def _only(values: Sequence[object]) -> bool:
    """True if the first array of floating numbers among some values is one of bfloat16."""
    for value in values:
        if isinstance(value, (list, tuple)) and any(isinstance(each, ndarray) for each in value):
            return _only(value)
        if is_bfloat(value):
            return True
        if isinstance(value, (ndarray, np.generic)) and value.dtype.kind in "fc" and value.ndim:
            return False
    return False


def _is_number(x: object) -> bool:
    """True for an array with the number that a program has written beside a tensor: kept in float32 until it is known for what."""
    return isinstance(x, float) or (type(x) is ndarray and not x.ndim)


def forward(primitive: Primitive, values: Sequence[Value]) -> Function:
    """The function that computes a primitive for these arrays and numbers."""
    return rounding(primitive) if BFloatArray in map(type, values) else primitive.forward


def rounding(primitive: Primitive) -> Function:
    """The forward function of a primitive for arguments of which some are arrays of bfloat16."""
    return lambda *args, **params: _compute(primitive, args, params)


def _compute(primitive: Primitive, args: Sequence[Value], params: Params) -> Array:
    if primitive.view or primitive.name == "clone":  # nothing is computed
        return held(primitive.forward(*_each(_plain, args), **params))
    if primitive.name not in SCALED:
        args = [narrowed(arg) if _is_number(arg) else arg for arg in args]
    result = primitive.forward(*_each(widened, args), **_widened_options(params))
    return narrowed(result) if _stays(args, params) else result
