"""autograd.numpy: NumPy's namespace, for arrays and for traced values.

NumPy's functions dispatch to boxes, so almost everything here is NumPy's own. The exceptions are functions for which
NumPy does not dispatch: those that make arrays of lists containing boxes.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .boxes import Box, arrayed, getval, holds_box

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..._core.typing import Array, Sizes


Function = Callable[..., Any]
Meta: TypeAlias = tuple[tuple[int, ...], int, np.dtype[Any], bool]
"""The shape, number of axes and dtype of an array, and whether it is complex."""


class Namespace(types.ModuleType):
    """A module with the names of another, some of which it overrides."""

    def __init__(self, name: str, source: Callable[[], object], own: Mapping[str, object], documentation: str) -> None:
        super().__init__(name, documentation)
        self._source = source
        self._own = own
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name in self._own:
            value = self._own[name]
        elif name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        else:
            value = taking_lists(getattr(self._source(), name))
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*self._own, *dir(self._source())})

    @property
    def __all__(self) -> list[str]:
        return [name for name in dir(self) if not name.startswith("_")]


# Functions of a sequence of arrays: for other functions a list that contains boxes is one array.
SEQUENCES = set(
    "block broadcast_arrays choose column_stack concat concatenate dstack einsum einsum_path hstack ix_ meshgrid "
    "multi_dot piecewise row_stack select stack vstack lexsort result_type".split()
)


JOINS = set("column_stack concat concatenate dstack hstack row_stack stack vstack".split())


def _of_iterables(function: Function) -> Function:
    """A function that joins arrays, for any iterable: the values of a dict, a generator."""

    @functools.wraps(function)
    def call(arrays: Iterable[Array], *args: object, **kwargs: object) -> Any:
        known = isinstance(arrays, (list, tuple, np.ndarray, Box))
        return function(arrays if known else list(arrays), *args, **kwargs)

    return call


def taking_lists(function: Any) -> Any:
    """A function of NumPy that converts lists containing boxes to arrays."""
    plain = isinstance(function, (types.FunctionType, types.BuiltinFunctionType)) or type(function).__name__ == (
        "_ArrayFunctionDispatcher"
    )
    if isinstance(function, type) and issubclass(function, np.integer):
        return type(function.__name__, (function,), {"__new__": lambda _, value=0: function(getval(value))})
    if plain and function.__name__ in JOINS:
        return _of_iterables(function)
    if not plain or function.__name__ in SEQUENCES:
        return function
    dispatched = hasattr(function, "_implementation")

    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> Any:
        given = [opened_list(arg) if isinstance(arg, (list, tuple)) else arg for arg in args]
        if given and type(given[0]) is Box and dispatched:  # NumPy need not find out that it is
            return given[0].__array_function__(function, (), given, kwargs)
        return function(*given, **kwargs)

    return call


def array(object: Any, *args: Any, **kwargs: Any) -> Any:
    """numpy.array, of nested lists that may hold traced values.

    >>> from pullback.compat.autograd import jacobian
    >>> jacobian(lambda x: array([[x, 1.0], [2.0, x**2]]))(3.0)
    array([[1., 0.],
           [0., 6.]])
    """
    if isinstance(object, np.ndarray) and object.dtype == np.dtype("O") and any(map(holds_box, object.flat)):
        return np.reshape(array(list(object.flat), *args, **kwargs), object.shape)
    if not holds_box(object):
        return np.array(object, *args, **kwargs)
    made: Any = object if isinstance(object, Box) else np.stack([_part(part) for part in object])
    dtype = args[0] if args else kwargs.get("dtype")
    made = made if dtype is None else made.astype(dtype)
    return made[(None,) * max(kwargs.get("ndmin", 0) - made.ndim, 0)] if kwargs.get("ndmin") else made


def _part(value: Any) -> Array:
    return array(value) if isinstance(value, (list, tuple)) else arrayed(value)


def asarray(a: Any, *args: Any, **kwargs: Any) -> Any:
    """numpy.asarray, of nested lists that may hold traced values."""
    objects = isinstance(a, np.ndarray) and a.dtype == np.dtype("O")
    return array(a, *args, **kwargs) if objects or holds_box(a) else np.asarray(a, *args, **kwargs)


def converted(function: Function) -> Function:
    """A function that makes an array of a certain kind of something: a box is one of each kind."""

    @functools.wraps(function)
    def call(a: Any, *args: Any, **kwargs: Any) -> Any:
        return array(a, *args[:1]) if holds_box(a) else function(a, *args, **kwargs)

    return call


def full(shape: Sizes, fill_value: Any, *args: Any, **kwargs: Any) -> Array:
    """numpy.full, with a value that may be traced."""
    if not holds_box(fill_value):
        return np.full(shape, fill_value, *args, **kwargs)
    return np.broadcast_to(array(fill_value, *args, **kwargs), shape)


def where(condition: Any, *args: Any, **kwargs: Any) -> Any:
    """numpy.where; for Python numbers and lists it returns numbers and lists, as autograd does.

    >>> where(True, 1, 2)
    1
    """
    if not args and not kwargs:
        return np.where(condition)
    given = [*args, *[kwargs[name] for name in ("x", "y")[len(args) :] if name in kwargs]]
    if len(given) != 2:
        raise ValueError("either both or neither of x and y should be given")
    x, y = given
    if any(isinstance(leaf, (Box, np.ndarray, np.generic)) for leaf in _leaves((condition, x, y))):
        return np.where(opened_list(condition), opened_list(x), opened_list(y))
    return np.where(condition, x, y).tolist()


def _leaves(value: object) -> list[object]:
    return [leaf for part in value for leaf in _leaves(part)] if isinstance(value, (list, tuple)) else [value]


def opened_list(value: Any) -> Any:
    """A list containing boxes as one array; any other value as it is."""
    return array(value) if isinstance(value, (list, tuple)) and holds_box(value) else value


class Joining:
    """r_ and c_: NumPy applies them to indices of the elements, and the result says where each element goes."""

    def __init__(self, joining: Any) -> None:
        self.joining = joining

    def __getitem__(self, key: object) -> Array:
        if not holds_box(key):
            return self.joining[key]
        parts = [opened_list(part) for part in (key if isinstance(key, tuple) else (key,))]
        pieces: list[Any] = []
        labels: list[Any] = []
        count = 0
        for part in parts:
            if isinstance(part, str):
                labels.append(part)
                continue
            piece: Any = (
                self.joining[part] if isinstance(part, slice) else part if holds_box(part) else np.asarray(part)
            )
            labels.append(count + np.arange(np.size(piece)).reshape(np.shape(piece)))
            pieces.append(np.ravel(piece))
            count += np.size(piece)
        return np.concatenate(pieces)[self.joining[tuple(labels)]]


def make_diagonal(D: Array, offset: int = 0, axis1: int = -1, axis2: int = -2) -> Array:
    """Matrices with the last axis of an array as their diagonals.

    >>> make_diagonal(np.array([1.0, 2.0]))
    array([[1., 0.],
           [0., 2.]])
    """
    if (offset, axis1, axis2) != (0, -1, -2):
        raise NotImplementedError("make_diagonal supports offset=0, axis1=-1, axis2=-2 alone")
    return D[..., None] * np.eye(np.shape(D)[-1])


def metadata(A: Array | Box) -> Meta:
    """The shape, number of axes and dtype of an array, and whether it is complex."""
    return np.shape(A), np.ndim(A), A.dtype if isinstance(A, Box) else np.result_type(A), bool(np.iscomplexobj(A))


def astype(A: Array, dtype: type[Any] | str, *args: Any, **kwargs: Any) -> Array:
    """An array in another dtype."""
    return A.astype(dtype, *args, **kwargs)


def result_type(*values: Array | Box) -> np.dtype[Any]:
    """numpy.result_type, of values that may be traced."""
    return np.result_type(*[value.dtype if isinstance(value, Box) else value for value in values])


def vectorize(pyfunc: Function, *args: Any, **kwargs: Any) -> Function:
    """numpy.vectorize, for functions of traced values that return scalars."""
    made = np.vectorize(pyfunc, *args, **kwargs)

    def call(*values: Any) -> Any:
        if not holds_box(values):
            return made(*values)
        spread = np.broadcast_arrays(*values)
        flat = [pyfunc(*each) for each in zip(*map(np.ravel, spread), strict=True)]
        return np.reshape(array(flat), np.shape(spread[0]))

    return call


def _of_triangle(function: Function) -> Function:
    """A function of Hermitian matrices that reads only one triangle, and whose derivative does too."""

    @functools.wraps(function)
    def call(a: Array, UPLO: str = "L") -> Any:
        if not holds_box(a):
            return function(a, UPLO)
        half = np.tril(a) if UPLO.upper() == "L" else np.triu(a)
        mirrored = np.conj(np.swapaxes(half, -1, -2))
        return function(half + mirrored - np.real(half) * np.eye(np.shape(a)[-1]), UPLO)

    return call


LINALG = Namespace(
    "autograd.numpy.linalg",
    lambda: np.linalg,
    {
        "eigh": _of_triangle(np.linalg.eigh),
        "eigvalsh": _of_triangle(np.linalg.eigvalsh),
        "T": lambda a: np.swapaxes(a, -1, -2),
        "_dot": np.matmul,
    },
    "numpy.linalg, for arrays and what is traced.",
)
FFT = Namespace("autograd.numpy.fft", lambda: np.fft, {}, "numpy.fft, for arrays and what is traced.")
RANDOM = Namespace("autograd.numpy.random", lambda: np.random, {}, "numpy.random.")

NUMPY = Namespace(
    "autograd.numpy",
    lambda: np,
    {
        "array": array, "asarray": asarray, "asanyarray": asarray, "ascontiguousarray": asarray,
        **{name: converted(vars(np)[name]) for name in ("asfortranarray", "asarray_chkfinite", "require")},
        "full": full,
        "where": where, "r_": Joining(np.r_), "c_": Joining(np.c_), "make_diagonal": make_diagonal,
        "metadata": metadata, "_astype": astype, "astype": astype, "result_type": result_type, "vectorize": vectorize,
        "linalg": LINALG, "fft": FFT, "random": RANDOM, "__version__": np.__version__,
    },
    "NumPy, for arrays and what is traced.",
)  # fmt: skip
