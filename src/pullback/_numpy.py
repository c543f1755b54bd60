"""NumPy's own functions on tensors: `np.sin(t)` is recorded like `t.sin()`.

NumPy asks an operand how a ufunc or function is to be computed (`__array_ufunc__`, `__array_function__`). The tables of
`vocabulary.numpy_names` answer with an operation of pullback. A function that is in no table is computed by NumPy on
the values of tensors that are not tracked, and refused by name for the others: no result silently loses its gradient.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _refusals, ops
from ._core import Carrier
from ._promotion import cast
from ._views import write

Function = Callable[..., Any]

# Arguments that say no more than leaving them out does.
UNCHANGING: dict[str, tuple[Any, ...]] = {
    "where": (True,), "order": ("C", "K"), "casting": ("same_kind",), "subok": (True,), "dtype": (None,),
    "initial": (None,), "copy": (None,),
}  # fmt: skip


@functools.cache
def _tables() -> Any:
    """The tables, read when NumPy first asks: they are 3 ms of import time that most programs do not need."""
    return importlib.import_module("pullback.vocabulary.numpy_names")


def array_ufunc(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
    """A ufunc of NumPy, or one of its methods, of which an operand or `out` is a tensor."""
    out, *more = options.pop("out", (None,))
    for value in (*inputs, out, *more):
        if hasattr(type(value), "__array_ufunc__") and not isinstance(value, (Carrier, np.ndarray, np.generic)):
            return NotImplemented
    name = f"numpy.{ufunc.__name__}" if getattr(np, ufunc.__name__, None) is ufunc else ufunc.__name__
    function: Function = ufunc
    tables = _tables()
    translation = tables.UFUNCS.get(ufunc)
    if method != "__call__":
        name, function = f"{name}.{method}", getattr(ufunc, method)
        translation = tables.REDUCTIONS.get(ufunc) if method == "reduce" else None
    inputs = tuple(map(tables.operand, inputs))
    if method == "at" or more or (options.get("where", True) is not True and isinstance(out, Carrier)):
        raise TypeError(f"{name} would write to part of a tensor, or to several: assign to x[index] or x[mask] instead")
    if translation is not None:
        options = _accepted(name, options, _parameters(translation) if method == "reduce" else ())
    return _computed(self, name, function, translation, inputs, options, out)


def array_function(self: Any, function: Function, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of NumPy that has a tensor among its arguments."""
    if not all(issubclass(kind, (Carrier, np.ndarray)) for kind in types):
        return NotImplemented
    name = f"{function.__module__}.{function.__name__}"
    tables = _tables()
    if function in tables.VALUES_ONLY:
        args, kwargs = _values(name, (args, kwargs), of_tracked=True)
        return function(*args, **kwargs)
    options = dict(kwargs)
    out = options.pop("out", None)
    translation = tables.FUNCTIONS.get(function) or tables.BY_NAME.get(name)
    if translation is not None:
        names = _parameters(translation)
        options = _accepted(name, options, names)
        if 0 < translation.__code__.co_argcount < len(args):
            raise TypeError(f"{name} takes {', '.join(names)} on tensors, and was given {len(args)} arguments")
        place = names.index("out") if "out" in names else len(args)
        if place < len(args):
            out, args = args[place], (*args[:place], None, *args[place + 1 :])
    return _computed(self, name, function, translation, args, options, out)


def _parameters(translation: Function) -> tuple[str, ...]:
    code = translation.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _accepted(name: str, options: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The keyword arguments, without those that change nothing; refused if others are unknown here."""
    for key, value in options.items():
        plain = isinstance(value, (str, bool, type(None)))
        if key not in names and not (plain and value in UNCHANGING.get(key, ())):
            raise TypeError(
                f"{name} has no derivative here with {key}=: leave it out, or compute it in steps of your own"
            )
    if options.get("axis") == ():
        raise TypeError(f"{name} over no axis at all, axis=(), changes nothing: leave the call out")
    return {key: value for key, value in options.items() if key in names}


def _computed(
    self: Any,
    name: str,
    function: Function,
    translation: Function | None,
    args: tuple[Any, ...],
    options: dict[str, Any],
    out: Any,
) -> Any:
    """The result by the table's operation, or else by NumPy from the values; written to `out` if there is one."""
    if translation is not None and any(map(_holds_tensor, (*args, *options.values()))):
        result = translation(*args, **options)
    else:
        args, options = _values(name, (args, options))
        if isinstance(out, np.ndarray):
            return function(*args, **options, out=out)
        result = function(*args, **options)
    if out is None:
        return result
    if not isinstance(result, Carrier):
        result = self.interpreter.wrap(np.asarray(result), None)
    if not isinstance(out, Carrier):
        return _written(name, out, result)
    fits = result.shape == out.shape and np.can_cast(result._dtype, out._dtype, "same_kind")
    if fits and result._node is None and out._node is not None:
        result = ops.copy(out, cast(result, out._dtype))  # a constant: the history of what stood there ends
    return write(out, result, name)


def _holds_tensor(value: Any) -> bool:
    return isinstance(value, Carrier) or (isinstance(value, (list, tuple)) and any(map(_holds_tensor, value)))


def _written(name: str, out: np.ndarray[Any, Any], result: Any) -> np.ndarray[Any, Any]:
    """An array that now holds the values of a result which is not tracked."""
    if not _is_plain(result):
        raise TypeError(
            f"{name} would write a tensor that requires grad to a NumPy array, which cannot hold its history. Write "
            "a = a + t instead of a += t, leave out= away, or use t.detach()."
        )
    if out.shape != result._array.shape:
        raise ValueError(f"{name} gives shape {result._array.shape}, which does not fit into out, of shape {out.shape}")
    np.copyto(out, result._array, casting="same_kind")
    return out


def _is_plain(tensor: Any) -> bool:
    """Whether a tensor is no more than an array: not tracked, and of no interpreter."""
    return tensor._node is None and isinstance(tensor._array, np.ndarray)


def _values(name: str, value: Any, *, of_tracked: bool = False) -> Any:
    """Arguments with read-only arrays in the place of tensors; refused where a derivative would be lost."""
    if isinstance(value, Carrier):
        if not (isinstance(value._array, np.ndarray) if of_tracked else _is_plain(value)):
            raise TypeError(
                f"{name} has no derivative here: pullback has no such operation, and its argument is a "
                f"{_refusals.kind(value)} whose gradient would be lost. Compose it from operations that there are, or "
                "pass t.detach().numpy() if the gradient is not wanted."
            )
        array = value._array.view() if of_tracked else value.numpy()
        array.flags.writeable = False
        return array
    if isinstance(value, (list, tuple)):
        return type(value)([_values(name, entry, of_tracked=of_tracked) for entry in value])
    if isinstance(value, dict):
        return {key: _values(name, entry, of_tracked=of_tracked) for key, entry in value.items()}
    return value
