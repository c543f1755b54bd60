"""The native core: `pullback-native`, which does in C what the hottest functions of the tape do, or nothing of it is here.

This is the one place where pullback looks for it. A native function stands beside a Python one, of which it does the usual
case; all else it hands over. docs/contribute/native.md leads through it.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import machine, xp
from .._core.primitives import Function, Primitive
from .node import Node, node_class

if TYPE_CHECKING:
    from .._core.typing import Params

VARIABLE = "PULLBACK_NATIVE"
RESULT = -1
"""The place of the result among the values that an operation saves; those of operands are counted from 0."""
EACH = (1 << 64) - 1
"""The bits that say that each operand is meant."""


def _found() -> Any:
    """The core, or None: without one, with PULLBACK_NATIVE=0, and, with a warning, if it is that of another version."""
    wanted = os.environ.get(VARIABLE, "")
    if wanted not in {"", "0", "1"}:
        raise ImportError(f"{VARIABLE}={wanted}: it is 0 for Python alone, 1 for the native core, or not set")
    if wanted == "0":
        return None
    version = sys.modules[__name__.partition(".")[0]].__version__
    try:
        found: Any = importlib.import_module("_pullback_native")
    except ModuleNotFoundError:
        why = f"it is not installed: python -m pip install pullback-native=={version}"
    except ImportError as error:
        why = str(error)
    else:
        if found.__version__ == version and not getattr(found, "taken", False):
            found.taken = True
            return found
        why = "it serves the pullback that this process imported first"
        if found.__version__ != version:
            why = f"pullback is {version}, pullback-native {found.__version__}: python -m pip install pullback-native=={version}"
            if not wanted:
                warnings.warn(
                    f"the native core is not used, since versions differ: {why}", RuntimeWarning, stacklevel=2
                )
    if wanted:
        raise ImportError(f"{VARIABLE}=1 asks for the native core, and {why}; {VARIABLE}=0 goes without")
    return None


core = _found()


class Fields:
    """The attributes of tensors that the core has as fields; it reads them at each view."""

    __slots__ = ()


if not TYPE_CHECKING and core is not None:
    Fields = core.Base


def operation(
    primitive: Primitive,
    function: Function | None = None,
    *,
    ndim: int | None = None,
    numbers: bool = True,
    form: str = "recorded",
) -> Any:
    """The native form of a function of plain tensors of one floating dtype, without metadata; `function` itself without a core.

    Without a function it is asked first, by one that goes on by itself if it gets None. `numbers` says whether the second
    operand may be a Python number. A form other than "recorded" is one that reads arguments in its own way.
    """
    if core is None or primitive.variadic or primitive.outputs > 1:
        return function
    kind = _kind(primitive, {} if form == "recorded" else None)
    return _made(primitive, function, kind, ndim=-1 if ndim is None else ndim, typed=True, numbers=numbers, form=form)


def recording(
    primitive: Primitive, function: Function | None = None, *, known: Params | None = None, form: str = "recorded"
) -> Any:
    """The native form of the function that is called for a primitive, with its metadata; `function` itself without a core.

    `known` is metadata from which the name of the node follows, where that does not differ between calls.
    """
    if core is None or primitive.outputs > 1 or primitive.of_user:
        return function
    kind = _kind(primitive, known)
    return _made(primitive, function, kind, ndim=-1, typed=False, numbers=False, form=form)


def viewing(form: str, function: Function) -> Any:
    """The native form of a function that makes views, or writes through them."""
    options: dict[str, Any] = {"operands": 1, "ndim": -1, "typed": False, "numbers": False, "fresh": False}
    made = core.Operation(function, None, None, large=0, saved=(), form=form, **options)
    return functools.update_wrapper(made, function)


def has_loops(function: Function) -> bool:
    """Whether the core, which calls the inner loop of a ufunc itself, gives the bits that the ufunc gives.

    Each operand is tried with all axes, with the last one and without axes, on numbers of all sorts.
    """
    if type(function) is not np.ufunc or function.nout > 1:
        return False
    for dtype in (np.float32, np.float64):
        kinds = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1.0, 1e30], dtype)
        whole = np.concatenate([np.sin(np.arange(75, dtype=dtype)), kinds, np.negative(kinds[::-1]), kinds]).reshape(
            11, 9
        )
        others = (
            [()] if function.nin == 1 else [(whole.T.copy().reshape(11, 9),), (whole[8],), (whole[0, 1:2].reshape(()),)]
        )
        for other in others:
            for operands in ((whole, *other), (*other, whole)):
                made = core.looped(function, *operands)
                with np.errstate(all="ignore"):
                    if made is None or made.tobytes() != function(*operands).tobytes():
                        return False
    return True


def _kind(primitive: Primitive, known: Params | None) -> type[Node] | Primitive | None:
    """The class of a primitive's nodes; the primitive itself where it follows from metadata that is not known."""
    if not primitive.differentiable:
        return None
    fixed = isinstance(primitive.title, str) or known is not None
    return node_class(primitive, primitive.node_name(known or {})) if fixed else primitive


def _made(primitive: Primitive, function: Function | None, kind: type[Node] | Primitive | None, **options: Any) -> Any:
    names, saved = primitive.inputs, []
    for name in primitive.saved:
        users = primitive.users(name)
        bits = EACH if users is None or len(names) == 1 else sum(1 << user for user in users)
        place = RESULT if name == "y" else names.index(name)
        saved.append((place, bits, place != RESULT and primitive.starred(name) != name))
    forward, large = primitive.forward, sys.maxsize
    if primitive.kind in {"elementwise", "zero"}:
        large = machine.worth(forward)
    if forward is xp.relu and options["typed"] and options["form"] == "recorded":
        forward, large, options["form"] = np.maximum, min(large, xp.VECTORS), "beside zero"
    made = core.Operation(
        function,
        forward,
        kind,
        operands=-1 if primitive.variadic else len(names),
        fresh=type(forward) is np.ufunc,
        large=large,
        saved=tuple(saved),
        **options,
    )
    return made if function is None else functools.update_wrapper(made, function)
