"""Operations of users: what is checked when they are made and while they run, so that a mistake is named, not computed with.

The checks of each call look at types alone. What needs a look at numbers is done at the first call, and the rest by
`pullback.testing.check_operation`.
"""

from __future__ import annotations

import functools
import inspect
import keyword
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .composing import composed
from .namespaces import ARRAYS, of_users
from .shapes import sum_to_axes
from .sites import generated

if TYPE_CHECKING:
    from .._tape.node import Node
    from .dtypes import NumpyType
    from .primitives import Primitive
    from .typing import Namespace, Result, Saved, Threshold, Value


ndarray = np.ndarray
Function = Callable[..., Any]
NUMBERS = (bool, int, float, complex)
MOST: Threshold = 1 << 20
"""The number of elements up to which the first call looks whether its arguments were written."""


# When it is made


def complete(primitive: Primitive) -> None:
    """Check the functions of a new operation, and give them the namespace of users."""
    given, definition = primitive.forward, primitive.definition
    if definition is not None:
        _require_arguments(primitive, definition, "definition", ("xp",))
    if not primitive.defined:
        _require_arguments(primitive, inspect.unwrap(given), "forward", ())
    _require_same_metadata(primitive, given)
    if not isinstance(given, np.ufunc):  # which cannot go wrong
        function: Any = definition if primitive.defined else given
        steady = _checked(primitive, function)
        primitive.defaults = steady.__kwdefaults__ or {}
        primitive.forward = _tried(primitive, steady)
    if primitive.push is not None:
        push = primitive.push
        primitive.push = lambda xp, *args, **params: push(of_users.get(xp, xp), *args, **params)


def _parameters(function: Any) -> list[inspect.Parameter] | None:
    try:
        return [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):  # a function in C does not show them
        return None


def _require_arguments(primitive: Primitive, function: object, role: str, before: tuple[str, ...]) -> None:
    """Raise unless a function takes as many arrays as the operation has inputs."""
    wanted = len(before) + len(primitive.inputs)
    if isinstance(function, np.ufunc):
        taken, least, most = [f"{function.nin} arrays"], function.nin, function.nin
    else:
        parameters = _parameters(function)
        if parameters is None or any(each.kind is each.VAR_POSITIONAL for each in parameters):
            return
        places = [each for each in parameters if each.kind in {each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD}]
        taken, most = [each.name for each in places], len(places)
        least = sum(each.default is each.empty for each in places)
    if primitive.variadic or least <= wanted <= most:
        if primitive.variadic or not before or not taken or least < 1 or isinstance(function, np.ufunc):
            return
        if taken[0] == "xp":
            return
    expected = ", ".join((*before, *primitive.inputs))
    raise TypeError(
        f"the {role} of {primitive.short_name} takes ({', '.join(taken)}), and is called with ({expected}): an array for each input"
        f"{', after xp' if before else ''}; inputs= names them, and what is not an array is taken by keyword, after a *"
    )


def _require_same_metadata(primitive: Primitive, forward: object) -> None:
    """Raise if forward and definition cannot both be called with the same metadata."""
    if primitive.defined or primitive.definition is None:
        return
    both = _parameters(forward), _parameters(primitive.definition)
    roles = "forward", "definition"
    for (one, other), role in zip((both, both[::-1]), roles, strict=True):
        if one is None or other is None or any(each.kind is each.VAR_KEYWORD for each in other):
            continue
        names = {each.name for each in other}
        for each in one:
            if each.kind is each.KEYWORD_ONLY and each.name not in names:
                raise TypeError(
                    f"{each.name!r} is taken by the {role} of {primitive.short_name} alone: its forward and its definition "
                    "are called with the same keywords"
                )


# While it runs


def _checked(primitive: Primitive, function: Function) -> Function:
    """The forward function of an operation, whose results are looked at: it has the arguments of the given one, by the inputs' names.

    Its source is generated, so that the look costs a tenth of a microsecond.
    """
    parameters = _parameters(function)
    scope = {
        "_function": function,
        "_results": functools.partial(_results, primitive),
        "_ndarray": ndarray,
        "_xp": ARRAYS,
    }
    places = [
        f"*{primitive.inputs[-1]}" if primitive.variadic and name == primitive.inputs[-1] else name
        for name in primitive.inputs
    ]
    signature, passed = [*places], ["_xp", *places] if primitive.defined else [*places]
    metadata = [each for each in parameters or () if each.kind is each.KEYWORD_ONLY]
    signature += ["*"] if metadata and not primitive.variadic else []
    for each in metadata:
        scope[f"_default_{each.name}"] = each.default
        signature.append(each.name if each.default is each.empty else f"{each.name}=_default_{each.name}")
        passed.append(f"{each.name}={each.name}")
    if parameters is None or any(each.kind is each.VAR_KEYWORD for each in parameters):
        signature, passed = [*signature, "**params"], [*passed, "**params"]
    named = primitive.short_name.isidentifier() and not keyword.iskeyword(primitive.short_name)
    name = primitive.short_name if named else "operation"
    several = primitive.outputs > 1 or primitive.variadic or not places
    fresh = ["type(_made) is _ndarray", "_made.base is None", *(f"_made is not {each}" for each in places)]
    fresh += [f'_made.dtype is getattr({each}, "dtype", None)' for each in places[:1]]
    lines = [
        f"def {name}({', '.join(signature)}):",
        f"    _made = _function({', '.join(passed)})",
        f"    return _made if {'False' if several else ' and '.join(fresh)} else _results(_made, ({', '.join(places)},))",
    ]
    return generated(primitive.name, "\n".join(lines), scope, name)


def _tried(primitive: Primitive, steady: Function) -> Function:
    """A forward function for the first calls, after which arguments must be as before, and elementwise results have their shape."""

    def first(*args: Any, **params: Any) -> Result:
        before = [each.copy() if isinstance(each, ndarray) and each.size <= MOST else None for each in args]
        try:
            made = steady(*args, **params)
        finally:
            changed = [i for i, old in enumerate(before) if old is not None and old.tobytes() != args[i].tobytes()]
            for i in changed:
                args[i][...] = before[i]
        if changed:
            name = primitive.inputs[min(changed[0], len(primitive.inputs) - 1)]
            raise ValueError(
                f"{primitive.short_name} wrote to its argument {name!r}, which is the caller's and has its numbers again: write "
                f"{name} = {name} + 1 for {name} += 1, and copy an array before you write to its elements"
            )
        if primitive.kind == "elementwise" and isinstance(made, (ndarray, np.generic)):
            _require_shape(primitive, made.shape, np.broadcast_shapes(*map(np.shape, args)))
        if sum(map(np.size, args)) <= MOST:
            primitive.forward, primitive._way = steady, primitive._first
        return made

    return functools.update_wrapper(first, steady)


def _require_shape(primitive: Primitive, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """Raise if an elementwise result has a shape of its own."""
    if shape != expected:
        raise ValueError(
            f"{primitive.short_name} is elementwise, and returned an array of shape {shape} where its arguments have the "
            f"shape {expected}: extend.general and extend.linear make operations that change shapes"
        )


def _results(primitive: Primitive, made: object, args: Sequence[object]) -> object:
    """What an operation returned, as arrays of its own; raises TypeError for anything else."""
    name, count = primitive.short_name, primitive.outputs
    if made is NotImplemented:
        raise TypeError(
            f"{name} returned NotImplemented: a definition may where there is a forward= to compute the case"
        )
    if type(made) is tuple or (count > 1 and type(made) is list):
        if len(made) == count or (count == 1 and primitive.kind not in {"elementwise", "multilinear", "general"}):
            return tuple([_result(primitive, each, (*args, *made[:i])) for i, each in enumerate(made)])
        raise TypeError(
            f"{name} returned {len(made)} results, and was made with outputs={count}: extend.general takes outputs={len(made)}"
        )
    if count > 1:
        raise TypeError(
            f"{name} returned {_described(made)}, and was made with outputs={count}: return a tuple of {count} arrays"
        )
    return _result(primitive, made, args)


def _result(primitive: Primitive, made: object, args: Sequence[object]) -> object:
    """One result: of the precision of the arguments, and in memory of its own, so that a write to it changes no argument."""
    if isinstance(made, ndarray) and made.dtype.char != "O":
        if made.dtype.char in "dD" and (narrow := _narrow(args)):
            return made.astype(narrow if made.dtype.kind == "f" else np.result_type(narrow, np.complex64))
        shared = any(isinstance(each, ndarray) and np.may_share_memory(made, each) for each in args)
        return made.copy() if shared else made
    if isinstance(made, np.generic) or (
        hasattr(made, "dtype") and hasattr(made, "shape") and not isinstance(made, ndarray)
    ):
        return made
    if isinstance(made, NUMBERS) and not any(isinstance(each, ndarray) for each in args):
        return made
    what = _described(made)
    hint = "its function has no return" if made is None else "make one with xp, such as xp.zeros_like(x) + 3.0 for 3.0"
    if isinstance(made, list):
        hint = (
            "call it with tensors or arrays, not with lists"
            if any(type(each) is list for each in args)
            else "make one by xp.stack"
        )
    raise TypeError(f"{primitive.short_name} returned {what}, not an array: {hint}")


def _narrow(args: Sequence[object]) -> NumpyType | None:
    """The dtype of real numbers that floating arguments have, if it is narrower than double: `where(c, 1.0, 0.5)` has none."""
    found = [each.real.dtype for each in args if isinstance(each, ndarray) and each.dtype.kind in "fc"]
    return np.result_type(*found) if found and all(each.char in "ef" for each in found) else None


def _described(made: object) -> str:
    if made is None:
        return "None"
    if isinstance(made, ndarray):
        return f"an array of {made.dtype} of shape {made.shape}"
    return f"the {type(made).__name__} {made!r}" if isinstance(made, NUMBERS) else f"a {type(made).__name__}"


# On the way back


def pulled(primitive: Primitive) -> Function:
    """The composed rules of an operation, whose results are looked at."""
    pull = composed(primitive)

    def checked(
        xp: Namespace, g: Value, edges: Sequence[Node | None], saved: Sequence[Saved | None], params: Any
    ) -> Sequence[Value | None]:
        made = pull(of_users.get(xp, xp), g, edges, saved, params)
        if len(made) != len(edges):
            raise TypeError(
                f"the joint rule of {primitive.short_name} returned {len(made)} cotangents for {len(edges)} inputs: return one for each"
            )
        for place, edge in enumerate(edges):
            if edge is not None and getattr(made[place], "shape", None) != edge.shape:
                _require_fitting(primitive, made[place], place, edge.shape)
        return made

    return checked


def _require_fitting(primitive: Primitive, r: object, place: int, shape: tuple[int, ...]) -> None:
    """Raise unless the result of a rule fits its input, or is the zero of a rule that may leave it out."""
    if r is None and (primitive.joint is not None or primitive.rules[place] is None):
        return
    name = primitive.inputs[min(place, len(primitive.inputs) - 1)]
    rule = f"the rule of {primitive.short_name} for {name!r}"
    if not hasattr(r, "shape"):
        raise TypeError(
            f"{rule} returned {_described(r)}, not an array: a rule returns the cotangent g of the output times the derivative; "
            "an input without a derivative has None in the place of its rule"
        )
    try:
        sum_to_axes(tuple(r.shape), tuple(shape))
    except RuntimeError:
        raise RuntimeError(
            f"{rule} returned a cotangent of shape {tuple(r.shape)} for an input of shape {tuple(shape)}: it has the shape of "
            "the input, or one to which that broadcasts"
        ) from None
