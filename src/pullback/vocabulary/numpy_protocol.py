"""NumPy's own functions on tensors: `np.sin(t)` is recorded like `t.sin()`.

NumPy lets an operand compute a ufunc or function itself (`__array_ufunc__`, `__array_function__`). The tables of
`_numpy.names`, and of `_numpy.scipy_names` for SciPy's ufuncs, map it to an operation of pullback. A function that is
in no table is computed by NumPy on the values of tensors that do not require grad, and raises TypeError by name for the
others: no result silently loses its gradient.
"""

import functools
from typing import Any

import numpy as np

from .. import ops
from .._core.lazy import PROVIDERS, imported
from .._core.primitives import Carrier, Function
from .._tape.views import write
from .promotion import cast, category

VARARGS, VARKEYWORDS = 4, 8
"""Flags of code objects, as in `inspect`, without importing it."""
SETTINGS = {int, bool, float, str, type(None)}
"""Types of keyword arguments that say how a function computes."""
KEPT = 512
"""How many functions are remembered with their operations."""

# Arguments with the same meaning as leaving them out.
UNCHANGING: dict[str, tuple[Any, ...]] = {
    "where": (True,), "order": ("C", "K"), "casting": ("same_kind",), "subok": (True, False), "dtype": (None,),
    "initial": (None,), "copy": (None,), "device": (None, "cpu"), "like": (None,), "axes": (None,), "axis": (None,),
    "keepdims": (False,), "writeable": (False, True),
}  # fmt: skip


@functools.cache
def _module(name: str) -> Any:
    """A module of NumPy's functions, imported when NumPy first calls one: most programs do not need it."""
    return imported(f"{PROVIDERS['numpy functions']}.{name}")


def array_ufunc(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
    """A ufunc of NumPy or SciPy, or one of its methods, with a tensor as an operand or `out`."""
    name, translation = _operation(ufunc)
    if not options and method == "__call__" and translation is not None and all(map(_is_usual, inputs)):
        return translation(*inputs)
    outs = options.pop("out", ())
    for value in (*inputs, *outs):
        if hasattr(type(value), "__array_ufunc__") and not isinstance(value, (Carrier, np.ndarray, np.generic)):
            return NotImplemented
    if method == "at":
        return _module("writing").at(f"{name}.at", ufunc, *inputs)
    function: Function = ufunc
    where = options.pop("where", True) if method == "__call__" else True
    if method != "__call__":
        name, function = f"{name}.{method}", getattr(ufunc, method)
        translation = translation and _module("methods").method(ufunc, translation, method)
        if method == "reduceat":
            inputs, options["indices"] = inputs[:1], inputs[1]
    operands = _module("operands")
    inputs = tuple(map(operands.operand, inputs))
    if not any(map(operands.holds_tensor, inputs)):
        translation = None  # only `out` is a tensor: NumPy's result is written to it
    if translation is not None and method in ("__call__", "outer"):
        translation = _in_options(name, ufunc, translation, options)
    if translation is not None:
        options = _accepted(name, options, translation if method in ("reduce", "accumulate", "reduceat") else None)
    if where is not True:
        return _masked(self, name, function, translation, inputs, options, outs, where)
    return _computed(self, name, function, translation, inputs, options, outs)


def _is_usual(value: object) -> bool:
    return isinstance(value, (Carrier, np.ndarray, float, int, np.generic, complex))


@functools.lru_cache(KEPT)
def _operation(ufunc: np.ufunc) -> tuple[str, Function | None]:
    """The qualified name of a ufunc, and the corresponding operation."""
    name = ufunc.__name__
    if getattr(np, name, None) is ufunc:
        return f"numpy.{name}", _module("names").UFUNCS.get(ufunc)
    if (own := _module("scipy_names").name(ufunc)) is not None:
        return f"scipy.special.{own}", _module("scipy_names").FUNCTIONS.get(own)
    return name, None


def _in_options(name: str, ufunc: np.ufunc, translation: Function, options: dict[str, Any]) -> Function:
    """An operation with `dtype`, and with `axes`, `axis` and `keepdims` of generalized ufuncs, applied."""
    if options.get("dtype") is not None:
        translation = _module("methods").in_dtype(name, translation, options.pop("dtype"))
    places = {key: options.pop(key, default) for key, default in (("axes", None), ("axis", None), ("keepdims", False))}
    if ufunc.signature is None:
        options.update(places)
    elif any(value is not None and value is not False for value in places.values()):
        translation = _module("methods").along_axes(ufunc, translation, **places)
    return translation


def array_function(self: Any, function: Function, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A NumPy function with a tensor among its arguments."""
    for kind in types:
        if not issubclass(kind, (Carrier, np.ndarray)):
            return NotImplemented
    name, asked, translation, usual, named = _translated(function)
    if 0 < len(args) <= usual and (
        isinstance(args[0], Carrier) or isinstance(args[-1], Carrier) or isinstance(args[len(args) // 2], Carrier)
    ):
        for key, value in kwargs.items():
            if key not in named or not (type(value) in SETTINGS or (type(value) is tuple and value)):
                break
        else:
            return translation(*args, **kwargs)  # the usual call: nothing to leave out, to refuse or to write to
    if asked is not None:
        return asked(*args, **kwargs)
    if function in _module("names").VALUES_ONLY:
        args, kwargs = _module("operands").constants(name, (args, kwargs), tracked=True)
        return function(*args, **kwargs)
    options = dict(kwargs)
    out = options.pop("out", None)
    if translation is not None:
        options = _accepted(name, options, translation)
        names = _parameters(translation)
        if not _takes_more(translation, VARARGS) and len(args) > translation.__code__.co_argcount:
            raise TypeError(f"{name} takes {', '.join(names)} on tensors, and was given {len(args)} arguments")
        place = names.index("out") if "out" in names else len(args)
        if place < len(args):
            out, args = args[place], (*args[:place], None, *args[place + 1 :])
    return _computed(self, name, function, translation, args, options, () if out is None else (out,))


@functools.lru_cache(KEPT)
def _translated(function: Function) -> tuple[str, Function | None, Any, int, frozenset[str]]:
    """The name of a function, what answers it from shapes, the operation, and the arguments of that but `out`.

    They are the number of those before `out`, which are given by position, and the names of all.
    """
    name, tables = f"{function.__module__}.{function.__name__}", _module("names")
    translation = tables.FUNCTIONS.get(function) or tables.BY_NAME.get(name)
    asked = tables.OF_SHAPES.get(function)
    if translation is None or asked is not None or function in tables.VALUES_ONLY:
        return name, asked, translation, 0, frozenset()
    names, count = _parameters(translation), translation.__code__.co_argcount
    return name, None, translation, names.index("out") if "out" in names[:count] else count, frozenset(names) - {"out"}


def _parameters(translation: Function) -> tuple[str, ...]:
    code = translation.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _takes_more(translation: Function, flag: int) -> bool:
    return bool(translation.__code__.co_flags & flag)


def _accepted(name: str, options: dict[str, Any], translation: Function | None) -> dict[str, Any]:
    """The keyword arguments without those that have no effect; raises if others are not supported."""
    if not options:
        return options
    options = {key: value for key, value in options.items() if value is not np._NoValue}
    names = () if translation is None else _parameters(translation)
    if translation is not None and _takes_more(translation, VARKEYWORDS):
        return options
    for key, value in options.items():
        plain = isinstance(value, (str, bool, type(None)))
        if key not in names and not (plain and value in UNCHANGING.get(key, ())):
            raise TypeError(
                f"{name} has no derivative here with {key}=: leave it out, or compute it in steps of your own"
            )
    if isinstance(axis := options.get("axis"), tuple) and not axis:
        raise TypeError(
            f"{name} has no derivative here over no axis at all, axis=(): name the axes, or None for all of them"
        )
    return {key: value for key, value in options.items() if key in names}


def _computed(
    self: Any,
    name: str,
    function: Function,
    translation: Function | None,
    args: tuple[Any, ...],
    options: dict[str, Any],
    outs: tuple[Any, ...],
) -> Any:
    """The result of the table's operation, or else of NumPy on the values; written to `out` if given."""
    operands = _module("operands")
    if translation is not None and any(map(operands.holds_tensor, (*args, *options.values()))):
        result = translation(*args, **options)
    else:
        why = _module("names").REFUSED.get(name, operands.UNKNOWN)
        args, options = operands.constants(name, (args, options), why=why)
        if outs and all(isinstance(out, np.ndarray) for out in outs):
            return function(*args, **options, out=outs if len(outs) > 1 else outs[0])
        result = function(*args, **options)
    if not outs:
        return result
    results = result if isinstance(result, tuple) else (result,)
    written = [_written(self, name, out, part) for out, part in zip(outs, results, strict=True)]
    return tuple(written) if len(written) > 1 else written[0]


def _written(self: Any, name: str, out: Any, result: Any) -> Any:
    """A result, written to `out` unless that is None."""
    if out is None:
        return result
    if not isinstance(result, Carrier):
        result = self.interpreter.wrap(np.asarray(result), None)
    if not isinstance(out, Carrier):
        return _in_array(name, out, result)
    fits = result.shape == out.shape and np.can_cast(result._dtype, out._dtype, "same_kind")
    if fits and result._node is None and out._node is not None:
        result = ops.copy(out, cast(result, out._dtype))  # a constant: the history of the old values ends
    return write(out, result, name)


def _in_array(name: str, out: np.ndarray[Any, Any], result: Any) -> np.ndarray[Any, Any]:
    """An array overwritten by the values of a result that does not require grad."""
    if not _module("operands").is_plain(result):
        raise TypeError(
            f"{name} would write a tensor that requires grad to a NumPy array, which cannot hold its history. Write "
            "a = a + t instead of a += t, leave out= away, or use t.detach()."
        )
    if out.shape != result._array.shape:
        raise ValueError(f"{name} gives shape {result._array.shape}, which does not fit into out, of shape {out.shape}")
    np.copyto(out, result._array, casting="same_kind")
    return out


def _masked(
    self: Any,
    name: str,
    function: Function,
    translation: Function | None,
    inputs: tuple[Any, ...],
    options: dict[str, Any],
    outs: tuple[Any, ...],
    where: Any,
) -> Any:
    """A ufunc computed where a mask is True, and written there: the rest of `out` is unchanged, with its history."""
    operands = _module("operands")
    if len(outs) == 1 and isinstance(outs[0], np.ndarray):
        inputs, where = operands.constants(name, (inputs, where), why="it would write to a NumPy array")
        return function(*inputs, **options, out=outs[0], where=where)
    if len(outs) != 1:
        raise TypeError(
            f"{name} has no derivative here with where= and without out=, which leaves elements undefined: use "
            "np.where(mask, result, other), or pass out="
        )
    (out,) = outs
    mask = np.broadcast_to(operands.concrete(where), tuple(out.shape))
    chosen = tuple(np.broadcast_to(value, mask.shape)[mask] for value in inputs)
    result = _computed(self, name, function, translation, chosen, options, ())
    if not np.can_cast(category(result)[0], out._dtype, "same_kind"):
        raise TypeError(f"{name} gives {category(result)[0]}, which can't be cast to out, of dtype {out._dtype}")
    out[mask] = result
    return out
