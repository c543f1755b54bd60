"""What a program that knows nothing of tensors sees in place of NumPy: the same names, whose new arrays are tensors.

A facade stands in the globals of modules, which all threads share. In a thread that is not inside a block for the
program, it does exactly what it stands for.
"""

from __future__ import annotations

import cmath
import functools
import math
import numbers
import operator
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core.modes import mode
from .._core.primitives import Carrier, Function
from .._core.shapes import normalize_axes
from .._tensor.creation import made
from ..vocabulary.promotion import cast
from . import names, scipy_names, scipy_rules
from .operands import holds_tensor, joined, on_tensors, operand

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .._core.typing import Array, ArrayLike, Dim, DType, Sizes, Tensor, TensorLike

MODULES = {"numpy", "numpy.linalg", "numpy.fft", "numpy.lib.scimath", "math", "cmath", "numbers", "builtins"}
TYPES: set[type] = {float, complex, numbers.Number, numbers.Complex, numbers.Real, np.ndarray}
TYPES |= {np.generic, np.number, np.inexact, np.floating, np.complexfloating, np.integer, np.int64, np.bool_}
TYPES |= {np.float32, np.float64, np.complex64, np.complex128}
FUNCTIONS = (FunctionType, BuiltinFunctionType, np.ufunc, type(np.sum))
SCIPY = {"scipy", *(f"scipy.{rule.rpartition('.')[0]}" for rule in (*scipy_rules.RULES, *scipy_rules.SOLVERS))}
"""Modules whose functions are looked up for rules, where a program has imported the module."""
JOINS: dict[Function, int] = {
    vars(np)[name]: 1
    for name in ("concatenate stack vstack hstack dstack column_stack select choose piecewise".split())
}
JOINS |= {np.linalg.multi_dot: 1, np.block: 99}
"""Functions of sequences of arrays, for which a list of tensors is not one array, and the depth of these sequences."""
VIEWS = {
    vars(np)[name]
    for name in """reshape ravel transpose swapaxes moveaxis rollaxis squeeze expand_dims atleast_1d atleast_2d atleast_3d
        diagonal real imag broadcast_to asarray asanyarray ascontiguousarray asfortranarray require real_if_close
        flip flipud fliplr rot90 trim_zeros""".split()
}
"""Functions whose result may share memory with what they are given."""
LIFTED = {np.dtype(name) for name in ("float32", "float64", "complex64", "complex128")}


IF_NEEDED: object = getattr(vars(np).get("_CopyMode"), "IF_NEEDED", None)
"""What SciPy passes for `copy`."""


def array(
    object: Any,
    dtype: DType | None = None,
    *,
    copy: bool | None = True,
    order: Any = None,
    subok: bool = False,
    ndmin: int = 0,
) -> Tensor | Array:
    """np.array of what holds tensors, which are joined: the result is a tensor, and a copy unless `copy` is False."""
    whole: Any = joined(object)
    if not isinstance(whole, Carrier):
        return np.array(object, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin)
    result: Any = whole if dtype is None else cast(whole, np.dtype(dtype))
    while result.ndim < ndmin:
        result = result[None]
    return result.clone() if result is object and copy not in (None, False, IF_NEEDED) else result


def _as_array(
    a: Any, dtype: DType | None = None, order: object = None, *, copy: bool | None = None, **rest: object
) -> Tensor | Array:
    if isinstance(a, np.ndarray) and dtype is None and not copy:
        return a
    return array(a, dtype, copy=copy)


def _full(
    shape: Sizes, fill_value: ArrayLike, dtype: DType | None = None, order: Any = None, **rest: Any
) -> Tensor | Array:
    if not isinstance(fill_value, Carrier):
        return np.full(shape, fill_value, dtype, order or "C", **rest)
    return np.full_like(fill_value, fill_value, dtype, shape=shape)


def _is_scalar(element: object) -> bool:
    return np.isscalar(element) or (isinstance(element, Carrier) and not element.ndim)


def _flip(m: Tensor, axis: Dim = None) -> Tensor:
    """np.flip, whose result is a view, as NumPy's is."""
    axes = range(m.ndim) if axis is None else normalize_axes(axis, m.ndim, "flip")
    return m[tuple(slice(None, None, -1) if place in axes else slice(None) for place in range(m.ndim))]


def _rotate(m: Tensor, k: int = 1, axes: Sequence[int] = (0, 1)) -> Tensor:
    """np.rot90, whose result is a view, too."""
    first, second = normalize_axes(axes, m.ndim, "rot90")
    if k % 2 == 0:
        return _flip(m, (first, second)) if k % 4 else m[...]
    turned = on_tensors.swapaxes(m, first, second)
    return _flip(turned, first if k % 4 == 1 else second)


OWN: dict[Function, Function] = {
    np.array: array,
    np.rot90: _rotate,
    np.full: _full,
    np.isscalar: _is_scalar,
    np.flip: _flip,
}
OWN |= {np.flipud: functools.partial(_flip, axis=0), np.fliplr: functools.partial(_flip, axis=1)}
OWN |= dict.fromkeys((np.asarray, np.asanyarray, np.ascontiguousarray, np.asarray_chkfinite, np.require), _as_array)

RENAMED = {"fabs": "abs", "pow": "power", "phase": "angle"}
RENAMED |= {f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")}
SAME = (
    "sin cos tan sinh cosh tanh exp exp2 expm1 log10 log2 log1p sqrt cbrt degrees radians hypot copysign fmod".split()
)
SPECIAL = {"gamma": "gamma", "lgamma": "gammaln", "erf": "erf", "erfc": "erfc"}
VALUES = "floor ceil trunc isnan isinf isfinite isclose".split()
"""Functions of `math` whose derivative is zero: computed from the values."""


def _log(x: TensorLike, base: TensorLike | None = None) -> Any:
    return np.log(x) if base is None else np.log(x) / np.log(base)


def _math() -> None:
    own: dict[str, Function] = {name: vars(np)[name] for name in SAME}
    own |= {name: vars(np)[other] for name, other in RENAMED.items()}
    own |= {name: scipy_names.FUNCTIONS[other] for name, other in SPECIAL.items()}
    own["remainder"] = lambda x, y: x - y * np.rint(x / y)
    own |= {"log": _log, "fsum": sum, "prod": functools.partial(functools.reduce, operator.mul)}
    for name in own.keys() & vars(math).keys():
        OWN[vars(math)[name]] = functools.partial(_of_numbers, vars(math)[name], own[name])
    OWN.update({vars(math)[name]: functools.partial(_of_values, vars(math)[name]) for name in VALUES})
    for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "sinh", "cosh", "tanh", "phase"):
        OWN[vars(cmath)[name]] = functools.partial(_of_complex, own[name])


def _of_numbers(function: Function, own: Function, *args: Any, **options: Any) -> Any:
    """A function of `math`: where the result is not finite, the function itself says whether that is an error."""
    result = own(*args, **options)
    values = result._elements() if isinstance(result, Carrier) else None
    if isinstance(values, np.ndarray) and values.size == 1 and not np.isfinite(values).all():
        _of_values(function, *args, **options)
    return result


def _of_values(function: Function, *args: Any, **options: Any) -> Any:
    return function(*[arg.detach().item() if isinstance(arg, Carrier) else arg for arg in args], **options)


def _of_complex(function: Function, x: Tensor) -> Any:
    return function(x + 0j)


_math()


def lifted(result: Any, given: Iterable[object]) -> Any:
    """A new array of floats as a tensor; views of what was given, integers and numbers as they are."""
    if type(result) in (tuple, list):
        return type(result)(lifted(part, given) for part in result)
    if type(result) is not np.ndarray or result.dtype not in LIFTED or not result.flags.writeable:
        return result
    owner: Any = result
    while isinstance(owner, np.ndarray):
        owner = owner.base
    if owner is not None:
        return result  # the memory of a buffer or a file
    if any(isinstance(value, np.ndarray) and np.may_share_memory(value, result) for value in _flat(given)):
        return result
    return made(result, False)


def _flat(values: Iterable[object]) -> list[object]:
    return [leaf for value in values for leaf in (_flat(value) if isinstance(value, (list, tuple)) else [value])]


@functools.cache
def belongs(module: str, programs: frozenset[str]) -> bool:
    """Whether a module is part of one of these packages."""
    return any(module == name or module.startswith(f"{name}.") for name in programs)


class Stand:
    """What stands for an object of NumPy's, with its attributes."""

    def __init__(self, real: Any, module: str) -> None:
        self.real, self.module = real, module

    @property
    def active(self) -> bool:
        """Whether this thread is inside a block for the module in which it stands."""
        programs = mode.get().programs
        return bool(programs) and belongs(self.module, programs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def __eq__(self, other: object) -> bool:
        return bool(self.real == (other.real if isinstance(other, Stand) else other))

    def __hash__(self) -> int:
        return hash(self.real)

    def __repr__(self) -> str:
        return repr(self.real)


class Called(Stand):
    """A function of NumPy's, or of `math`."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        args = tuple([arg.real if isinstance(arg, Stand) else arg for arg in args])
        options = {key: value.real if isinstance(value, Stand) else value for key, value in options.items()}
        if not self.active:
            return self.real(*args, **options)
        own, given = OWN.get(self.real), (*args, *options.values())
        always = getattr(own, "func", None) is scipy_rules.solved
        if own is not None and (always or any(map(holds_tensor, given))):
            return own(*args, **options)
        if any(map(_is_list, given)):
            depth = JOINS.get(self.real, 0)
            args = tuple([_listed(arg, depth) for arg in args])
            options = {key: _listed(value, depth) for key, value in options.items()}
        result = lifted(self.real(*args, **options), given)
        if isinstance(result, Carrier) and self.real not in VIEWS and "out" not in options:
            shared = result._base is not None or (args and result is args[0])
            return ops.clone(result) if shared else result
        return result


def _is_list(value: object) -> bool:
    """Whether a value is a list that holds tensors of floats: those of integers may be a shape."""
    return isinstance(value, (list, tuple)) and any(
        _is_list(one) or (isinstance(one, Carrier) and one._dtype.kind in "fc") for one in value
    )


def _listed(value: Any, depth: int) -> object:
    """A list of tensors as one, or as a list of such."""
    if not _is_list(value):
        return value
    return [_listed(one, depth - 1) for one in value] if depth else joined(value)


class Indexed(Stand):
    """np.r_ and np.c_."""

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if not (self.active and any(map(holds_tensor, parts))):
            return lifted(self.real[key], parts) if self.active else self.real[key]
        if any(isinstance(part, str) for part in parts):
            raise TypeError("np.r_ and np.c_ take no text beside tensors: use np.concatenate or np.stack")
        pieces = [np.r_[part] if isinstance(part, slice) else joined(part) for part in parts]
        if self.real is np.c_:
            return np.column_stack(pieces)
        return np.concatenate([np.atleast_1d(operand(piece)) for piece in pieces])


class Kind(Stand):
    """A type: tensors are instances of what NumPy would have in their place, a scalar type where there is no axis."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        if not (self.active and any(map(holds_tensor, args))) or self.real is np.ndarray:
            return self.real(*args, **options)
        if len(args) == 2 and self.real is complex:
            return args[0] + 1j * args[1]
        value: Any = array(args[0], self.real, copy=False)
        if value.numel() != 1 and self.real in (float, complex):
            raise TypeError(f"only one element can be converted to a Python number, not shape {tuple(value.shape)}")
        return value.reshape(()).clone() if value.numel() == 1 else value

    def __instancecheck__(self, instance: object) -> bool:
        if isinstance(instance, Carrier) and self.active:
            return issubclass(np.ndarray if instance.ndim else instance._dtype.type, self.real)
        return isinstance(instance, self.real)

    def __subclasscheck__(self, cls: type) -> bool:
        cls = cls.real if isinstance(cls, Stand) else cls
        return issubclass(np.ndarray if self.active and issubclass(cls, Carrier) else cls, self.real)

    def __eq__(self, other: object) -> bool:
        tensor = isinstance(other, type) and issubclass(other, Carrier) and self.active
        return (self.real is np.ndarray) if tensor else super().__eq__(other)

    __hash__ = Stand.__hash__

    def __getattr__(self, name: str) -> Any:
        if name == "dtype" and self.real is not np.ndarray:
            return np.dtype(self.real)
        return getattr(self.real, name)

    def __or__(self, other: object) -> Any:
        return self.real | (other.real if isinstance(other, Stand) else other)

    __ror__ = __or__

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type]:
        return (self.real,)


class Facade(ModuleType):
    """A module of NumPy's, or `math`, whose names are looked up when they are first asked for."""

    def __init__(self, real: ModuleType, replaced: Callable[[object], object]) -> None:
        super().__init__(real.__name__, real.__doc__)
        vars(self).update(_real=real, _replaced=replaced)

    def __getattr__(self, name: str) -> Any:
        value = vars(self)[name] = self._replaced(getattr(self._real, name))
        return value

    def __dir__(self) -> list[str]:
        return dir(self._real)


@functools.cache
def facade(module: str) -> Callable[[object], object]:
    """The function that gives what stands for an object in the globals of a module: most stay what they are."""
    stands: dict[int, object] = {}

    def stand(value: Any) -> object:
        if isinstance(value, ModuleType):
            known = value.__name__ in MODULES or (value.__name__ in SCIPY and not module.startswith("scipy"))
            return Facade(value, replaced) if known else value
        if isinstance(value, type):
            return Kind(value, module) if value in TYPES else value
        if value is np.r_ or value is np.c_:
            return Indexed(value, module)
        own = scipy_rules.own(value)
        if own is not None:
            OWN[value] = own
        return Called(value, module) if own is not None or _known(value) else value

    def replaced(value: object) -> object:
        if not (isinstance(value, (ModuleType, type, *FUNCTIONS, type(np.r_), type(np.c_))) or scipy_rules.own(value)):
            return value
        found = stands.get(id(value))
        if found is None:
            found = stand(value)
            if found is not value:
                stands[id(value)] = found
        return found

    return replaced


def _known(value: object) -> bool:
    """Whether a function is one of NumPy's or of `math`."""
    if isinstance(value, np.ufunc):
        return getattr(np, value.__name__, None) is value
    module = getattr(value, "__module__", None) or ""
    return module in MODULES - {"builtins"} or value in names.FUNCTIONS
