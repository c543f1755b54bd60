"""Type promotion: the operands of an operation converted to one dtype by torch's rules.

Promotion is an explicit cast before the operation, so that rules see one dtype. Python numbers have a lower priority
than 0-d tensors, and those a lower one than tensors with axes; NumPy scalars count as numbers, NumPy arrays as tensors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .. import ops
from .._core import dtypes, errors
from .._core.bfloat import CHAR, SINGLE, bfloat_type, held as as_held, is_bfloat
from .._core.modes import quiet
from .._core.package import package
from .._core.primitives import Carrier, Primitive
from .._core.shapes import in_common

if TYPE_CHECKING:
    from .._core.typing import Tensor

ndarray = np.ndarray
HALVES = {"e", CHAR}
"""The characters of float16 and bfloat16."""
DOUBLES = {"d", "D"}
"""The characters of float64 and complex128."""
_NUMBERS = {
    bool: np.dtype(bool),
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}
_OF_KINDS = {dtype.kind: dtype for dtype in _NUMBERS.values()} | {"u": _NUMBERS[int]}


def category(operand: Any) -> tuple[np.dtype[Any], str]:
    """An operand's dtype, and its priority in promotion: 'dim', 'zero' or 'scalar'."""
    if isinstance(operand, Carrier):
        return operand._dtype, "dim" if operand.ndim else "zero"
    if type(operand) in _NUMBERS:
        return _NUMBERS[type(operand)], "scalar"
    if isinstance(operand, np.generic) and operand.dtype.kind in "buifc":
        return _OF_KINDS[operand.dtype.kind], "scalar"
    if isinstance(operand, np.ndarray) and operand.dtype.kind in "buifc":
        return operand.dtype, "dim" if operand.ndim else "zero"
    if is_bfloat(operand):
        return bfloat_type(), "dim" if operand.ndim else "zero"
    for number in (int, float, complex):
        if isinstance(operand, number):
            return _NUMBERS[number], "scalar"
    if isinstance(operand, np.ndarray):
        raise TypeError(
            f"unsupported operand: an array of dtype {operand.dtype}: a tensor holds numbers{errors.strange(operand)}"
        )
    fix = f"; for a list, use {package}.tensor(list)" if isinstance(operand, (list, tuple)) else ""
    raise TypeError(
        f"unsupported operand of type {type(operand).__name__}: operands are tensors, NumPy arrays and numbers{fix}"
    )


def common(*operands: Any) -> np.dtype[Any]:
    """The dtype in which an operation on these operands is computed."""
    return dtypes.result_dtype([category(operand) for operand in operands])


@overload
def cast(operand: Tensor, dtype: np.dtype[Any]) -> Tensor: ...
@overload
def cast(operand: Any, dtype: np.dtype[Any]) -> Any: ...
def cast(operand: Any, dtype: np.dtype[Any]) -> Any:
    """An operand in a dtype: a recorded cast for a tensor, else an array."""
    if isinstance(operand, Carrier):
        source = operand._dtype
        return operand if source == dtype else ops.astype(operand, dtype=dtype, source=source)
    if type(operand) is float and dtype.char in DOUBLES:  # which hold every number
        return np.array(operand, dtype)
    if hasattr(operand, "within"):  # a recorded number: see compile
        return operand.within(dtype)
    array = np.asarray(operand)
    if array.dtype == dtype:
        return array
    if dtype.char == CHAR:  # a number is rounded where it is used: see `bfloat.rounding`
        return as_held(quiet.run(array.astype, dtype if array.ndim else SINGLE))
    return quiet.run(array.astype, dtype)


CALLED = {"bfloat16": "c10::BFloat16", "float16": "c10::Half", "float32": "float", "float64": "double", "int32": "int"}
"""The names of dtypes in torch's errors that do not end in _t."""


def overflow(value: object, dtype: np.dtype[Any]) -> RuntimeError:
    """The error for a number that a dtype cannot hold."""
    name = CALLED.get(dtype.name, f"{dtype.name}_t")
    return RuntimeError(f"value cannot be converted to type {name} without overflow: {value} for {dtype.name}")


def limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The smallest and the largest number that an integer dtype accepts.

    Unsigned dtypes accept negative numbers down to the negative of their largest one, which wrap around, as in torch.
    """
    own = np.iinfo(dtype)
    return own.min or -own.max, own.max


def held(value: Any, dtype: np.dtype[Any]) -> Any:
    """A number as an array of the dtype of its target; RuntimeError if that cannot hold it."""
    source, number = category(value)[0], np.asarray(value)
    if source.kind == "c" and dtype.kind != "c":
        raise overflow(value, dtype)
    made = quiet.copy().run(number.astype, dtype)
    if dtype.kind == "f":
        lost = np.isinf(made) and not np.isinf(number)
    elif dtype.kind in "iu":
        least, largest = limits(dtype)
        lost = not least <= number.item() <= largest
    else:
        lost = False
    if lost:
        raise overflow(value, dtype)
    return made


def _plain(operand: Any) -> Any:
    """The dtype of a tensor or a numeric array, to be compared by identity; None for other operands."""
    if isinstance(operand, Carrier):
        return operand._dtype
    return operand.dtype if type(operand) is ndarray and operand.dtype.kind in "buifc" else None


WIDER = {pair: np.dtype(kind) for kind, pairs in {"F": ("fF", "Ff"), "D": ("dD", "Dd")}.items() for pair in pairs}
"""Real and complex dtypes of one precision: the complex one, in which both are computed."""


def _agreed(operands: Sequence[Any]) -> Any:
    """The common dtype of operands of one precision, also floating-point or complex ones and Python numbers; else None."""
    dtype, numbers = None, ""
    for operand in operands:
        kind = type(operand)
        if kind is float or kind is int or kind is complex:
            numbers = "c" if kind is complex else numbers or "f"
            continue
        own = _plain(operand)
        if own is None:
            return None
        if dtype is not None and own is not dtype and (own := WIDER.get(own.char + dtype.char)) is None:
            return None
        dtype = own
    if numbers == "c" and dtype is not None and dtype.kind != "c":
        return WIDER.get(dtype.char + dtype.char.upper())
    return dtype if dtype is not None and (dtype.kind in "fc" or not numbers) else None


def together(*operands: Any) -> Sequence[Any]:
    """Operands brought to their common dtype."""
    dtype = _agreed(operands)
    if dtype is None:
        dtype = common(*operands)
    return [cast(operand, dtype) for operand in operands]


def fractional(*operands: Any) -> Sequence[Any]:
    """Operands in their common dtype; integers and bools are converted directly to the default dtype."""
    dtype = _agreed(operands)
    if dtype is None:
        dtype = common(*operands)
    if dtype.kind not in "fc":
        dtype = dtypes.default_numpy()
    return [cast(operand, dtype) for operand in operands]


@overload
def inexact(operand: Tensor) -> Tensor: ...
@overload
def inexact(operand: Any) -> Any: ...
def inexact(operand: Any) -> Any:
    """An operand for a function of real or complex numbers: integers and bools are converted to the default dtype."""
    source = _plain(operand) or category(operand)[0]
    return operand if source.kind in "fc" else cast(operand, dtypes.default_numpy())


def sizes(operand: Tensor, order: float) -> Tensor:
    """The operand of a norm: absolute values of complex numbers, where the norm takes no power that makes these smooth."""
    return ops.abs(operand) if operand._dtype.kind == "c" and order in (1, np.inf, -np.inf) else operand


def once(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator for a function made of several operations: with halves it computes in float32, and rounds its result once."""

    @functools.wraps(function)
    def computed(input: Tensor, *operands: Any, **options: Any) -> Tensor:
        dtype = _plain(input)
        if dtype is None or dtype.char not in HALVES:
            return function(input, *operands, **options)
        given = (input, *operands, *options.values())
        if all(own is None or own is dtype for own in map(_plain, given)):
            wide = [x if _plain(x) is None else cast(x, SINGLE) for x in given]
            named = dict(zip(options, wide[1 + len(operands) :], strict=True))
            return cast(function(*wide[: 1 + len(operands)], **named), dtype)
        return function(input, *operands, **options)

    return computed


def binary(primitive: Primitive, a: Any, b: Any) -> Tensor:
    """A primitive of two operands, promoted; a clear error if their shapes do not broadcast."""
    dtype = _plain(a)
    if dtype is not None and (type(b) is float or type(b) is int) and dtype.kind in "fc":
        b = cast(b, dtype)
    elif dtype is None or _plain(b) is not dtype:
        a, b = together(a, b)
    return broadcast(primitive, a, b)


def broadcast(primitive: Callable[..., Any], *operands: Any) -> Tensor:
    """A primitive of operands of one dtype whose shapes broadcast."""
    try:
        return primitive(*operands)
    except ValueError:
        shapes = [tuple(operand.shape) for operand in operands]
    name = getattr(primitive, "name", "broadcasting")
    functools.reduce(
        lambda a, b: in_common(a, b, name), shapes
    )  # reports those that do not fit, when the exception is over
    return primitive(*operands)
