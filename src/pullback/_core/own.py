"""Operations of users: what is checked when they are made and while they run, so that a mistake is named, not computed with.

The checks of each call look at types alone. What needs a look at numbers is done at the first call, and the rest by
`pullback.testing.check_operation`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import xp as _xp
from .composing import composed
from .keywords import nearest
from .namespaces import ARRAYS, of_users
from .shapes import sum_to_axes

ndarray = np.ndarray
Function = Callable[..., Any]
NUMBERS = (bool, int, float, complex)
MOST = 1 << 20
"""The number of elements up to which the first call looks whether its arguments were written."""


# When it is made


def complete(primitive: Any) -> None:
    """Check the functions of a new operation, and give them the namespace of users."""
    given, definition = primitive.forward, primitive.definition
    if primitive.defined:
        given = functools.partial(definition, ARRAYS)
    if definition is not None:
        _require_arguments(primitive, definition, "definition", ("xp",))
    if not primitive.defined:
        _require_arguments(primitive, inspect.unwrap(given), "forward", ())
    _require_same_metadata(primitive, given)
    primitive.defaults = _defaults(definition if primitive.defined else given)
    if not isinstance(given, np.ufunc):  # which cannot go wrong
        primitive.forward = _checked(primitive, given)
    if primitive.push is not None:
        push = primitive.push
        primitive.push = lambda xp, *args, **params: push(of_users(xp), *args, **params)


def _parameters(function: Any) -> list[inspect.Parameter] | None:
    try:
        return [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):  # a function in C does not show them
        return None


def _defaults(function: Any) -> dict[str, Any]:
    """What the metadata of a function is where it is left out."""
    return {
        each.name: each.default
        for each in _parameters(function) or ()
        if each.kind is each.KEYWORD_ONLY and each.default is not each.empty
    }


def _require_arguments(primitive: Any, function: Any, role: str, before: tuple[str, ...]) -> None:
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
        f"{', after xp' if before else ''}; inputs= names them, and what is no array is taken by keyword, after a *"
    )


def _require_same_metadata(primitive: Any, forward: Any) -> None:
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


def _checked(primitive: Any, forward: Function) -> Function:
    """The forward function of an operation, whose results are looked at."""
    tried = False

    def checked(*args: Any, **params: Any) -> Any:
        nonlocal tried
        try:
            if tried:
                made = forward(*args, **params)
            else:
                made = _tried(primitive, forward, args, params)
                tried = sum(map(np.size, args)) <= MOST
        except TypeError as error:
            raise _misfit(primitive, forward, args, params) or error from None
        if type(made) is ndarray and made.base is None and made is not args[0] and made is not args[-1]:
            if primitive.outputs == 1 and made.dtype.char != "O":
                return made
        return _results(primitive, made, args)

    return functools.update_wrapper(checked, getattr(forward, "func", forward))


def _misfit(primitive: Any, forward: Function, args: Sequence[Any], params: dict[str, Any]) -> TypeError | None:
    """The error for arguments that an operation does not take; None if it takes them."""
    try:
        described = inspect.signature(forward)
        described.bind(*args, **params)
    except ValueError:
        return None
    except TypeError as error:
        names = [each.name for each in described.parameters.values() if each.kind is each.KEYWORD_ONLY]
        unknown = next((key for key in params if key not in names), None)
        meant = nearest(unknown, names) if unknown else None
        what = f"got an unexpected keyword argument {unknown!r}" if unknown else str(error)
        taken = ", ".join((*primitive.inputs, *(f"{name}=" for name in names)))
        hint = f". Did you mean {meant!r}?" if meant else ""
        return TypeError(f"{primitive.short_name}() {what}: it takes {taken}{hint}")
    return None


def _tried(primitive: Any, forward: Function, args: Sequence[Any], params: dict[str, Any]) -> Any:
    """The result of a first call, after which arguments must be as before, and elementwise results have their shape."""
    before = [each.copy() if isinstance(each, ndarray) and each.size <= MOST else None for each in args]
    try:
        made = forward(*args, **params)
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
        expected = np.broadcast_shapes(*map(np.shape, args))
        if made.shape != expected:
            raise ValueError(
                f"{primitive.short_name} is elementwise, and returned an array of shape {made.shape} where its arguments have the "
                f"shape {expected}: extend.general and extend.linear make operations that change shapes"
            )
    return made


def _results(primitive: Any, made: Any, args: Sequence[Any]) -> Any:
    """What an operation returned, as arrays of its own; raises TypeError for anything else."""
    name, count = primitive.short_name, primitive.outputs
    if made is NotImplemented:
        raise TypeError(f"{name} returned NotImplemented: a definition may where there is a forward= to compute the case")
    if type(made) is tuple or (count > 1 and type(made) is list):
        if len(made) == count or (count == 1 and primitive.kind not in {"elementwise", "multilinear", "general"}):
            return tuple([_result(primitive, each, args) for each in made])
        raise TypeError(
            f"{name} returned {len(made)} results, and was made with outputs={count}: extend.general takes outputs={len(made)}"
        )
    if count > 1:
        raise TypeError(f"{name} returned {_described(made)}, and was made with outputs={count}: return a tuple of {count} arrays")
    return _result(primitive, made, args)


def _result(primitive: Any, made: Any, args: Sequence[Any]) -> Any:
    if isinstance(made, ndarray) and made.dtype.char != "O":
        shared = not primitive.view and any(isinstance(each, ndarray) and np.may_share_memory(made, each) for each in args)
        return made.copy() if shared else made
    if isinstance(made, np.generic) or (hasattr(made, "dtype") and hasattr(made, "shape") and not isinstance(made, ndarray)):
        return made
    if isinstance(made, NUMBERS) and not any(isinstance(each, ndarray) for each in args):
        return made
    what = _described(made)
    hint = "its function has no return" if made is None else "make one with xp, such as xp.zeros_like(x) + 3.0 for 3.0"
    if isinstance(made, list):
        hint = "call it with tensors or arrays, not with lists" if any(type(each) is list for each in args) else "make one by xp.stack"
    raise TypeError(f"{primitive.short_name} returned {what}, and not an array: {hint}")


def _described(made: Any) -> str:
    if made is None:
        return "None"
    if isinstance(made, ndarray):
        return f"an array of {made.dtype} of shape {made.shape}"
    return f"the {type(made).__name__} {made!r}" if isinstance(made, NUMBERS) else f"a {type(made).__name__}"


# On the way back


def pulled(primitive: Any) -> Function:
    """The composed rules of an operation, whose results are looked at."""
    pull = composed(primitive)

    def checked(xp: Any, g: Any, edges: Any, saved: Any, params: Any) -> Any:
        made = pull(of_users(xp), g, edges, saved, params)
        if len(made) != len(edges):
            raise TypeError(
                f"the joint rule of {primitive.short_name} returned {len(made)} cotangents for {len(edges)} inputs: return one for each"
            )
        for place, edge in enumerate(edges):
            if edge is not None and getattr(made[place], "shape", None) != getattr(edge, "shape", None):
                _require_fitting(primitive, made[place], place, getattr(edge, "shape", None))
        return made

    return checked


def _require_fitting(primitive: Any, r: Any, place: int, shape: tuple[int, ...] | None) -> None:
    """Raise unless a rule's result fits its input, or is the zero of a rule that may leave it out."""
    name = primitive.inputs[min(place, len(primitive.inputs) - 1)]
    if r is None and (primitive.joint is not None or primitive.rules[place] is None):
        return
    rule = f"the rule of {primitive.short_name} for {name!r}"
    if not hasattr(r, "shape"):
        raise TypeError(
            f"{rule} returned {_described(r)}, and not an array: a rule returns the cotangent g of the output times the derivative; "
            "an input without a derivative has None in the place of its rule"
        )
    if shape is not None:
        try:
            sum_to_axes(tuple(r.shape), tuple(shape))
        except RuntimeError:
            raise RuntimeError(
                f"{rule} returned a cotangent of shape {tuple(r.shape)} for an input of shape {tuple(shape)}: it has the shape of "
                "the input, or one to which that broadcasts"
            ) from None
