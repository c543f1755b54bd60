"""torch's words on the primitives: names, defaults, `dim` and `keepdim`, with NumPy's spellings beside them.

These functions are both the methods of `Tensor` and the functions of the package. Derivative rules never call them. The
table in `_tensor.surface` says which of them are public, and under which names. This module has the wrappers between a
public call and a definition: alternative names of arguments, checks of operands, and `out=`.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from .._core import errors
from .._core.lazy import imported, provider
from .._core.modes import like
from .._core.primitives import Carrier, Function
from .._core.sites import warn
from .._tape.generating import MISSING
from .._tape.shortcuts import unwrapped
from .._tape.views import overlaps

Named = TypeVar("Named", bound=Function)

# Functions of three tensors for which torch once accepted these scalars by position, before the tensors they scale, and
# still does
NUMBERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("addcdiv", "addcmul"), ("value",)),
    **dict.fromkeys(("addbmm", "addmm", "addmv", "addr", "baddbmm"), ("beta", "alpha")),
}


OF_NUMBERS = {"add", "sub", "mul", "div", "floor_divide"}
"""Functions that also take two Python numbers, as in torch; the result is a tensor without axes."""


@functools.cache  # asking for a module takes as long as a short function
def load(module: str, name: str) -> Function:
    """The object that a module of pullback defines under a name."""
    defined: Function = getattr(imported(f"pullback.{module}"), name)
    return defined


SPELLINGS: dict[str, tuple[str, ...]] = {
    "axis": ("dim",),
    "axes": ("dims",),
    "keepdims": ("keepdim",),
    "input": ("A", "L", "tensor", "x"),
    "b": ("B",),
    "input2": ("L", "tau"),
    "sections": ("indices_or_sections",),
    "indices": ("indices_or_sections",),
    "tensor_indices_or_sections": ("indices_or_sections",),
    "element": ("elements",),
    "test_element": ("test_elements",),
}
"""Alternative names of arguments: NumPy's, those of torch's own signatures, and those in torch's documentation."""

NUMPYS = {"axis", "axes", "keepdims"}


def in_both_spellings(function: Named) -> Named:
    """The function, accepting all alternative names of its arguments; unchanged if there are none."""
    code = getattr(unwrapped(function), "__code__", None)
    taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if code else ()
    names = {
        other: found[0]
        for other, ours in SPELLINGS.items()
        if other not in taken
        and (found := [name for name in (taken[:1] if other == "input" else taken) if name in ours])
    }
    return spelled(function, names) if names else function


def spelled(function: Named, names: dict[str, str]) -> Named:
    """A function that accepts other names for its arguments; unchanged if it does so already."""
    if getattr(function, "accepts", None) == names:
        return function

    @like(function)
    def called(*args: Any, **options: Any) -> Any:
        if not options:
            return function(*args)
        if names.keys().isdisjoint(options):
            return function(*args, **options)
        for given in names.keys() & options.keys():
            if names[given] in options:
                whose = "NumPy's " if given in NUMPYS else ""
                raise TypeError(f"{function.__name__}() got both {names[given]!r} and {whose}{given!r}: pass one")
            options[names[given]] = options.pop(given)
        return function(*args, **options)

    called.accepts = names  # type: ignore[attr-defined]
    return called


def spelled_as(**names: str) -> Callable[[Named], Named]:
    """A decorator for functions that accept other names for their arguments."""
    return functools.partial(spelled, names=names)


def in_place_text(function: Function) -> str:
    """The docstring of the in-place form of a function, in which an example of one call is one of the method."""
    name, text = function.__name__, function.__doc__ or ""
    before, _, after = text.partition(f"pullback.{name}(pullback.tensor([")
    given, _, rest = after.partition("])")
    if rest and ("True" in given) == ("True" in rest):  # an operation that gives bools gives numbers in place
        text = f"{before}pullback.tensor([{given}]).{name}_({rest.removeprefix(', ')}"
    return f"In place: {text}"


def fills(method: Named) -> Named:
    """Mark an in-place method that fills with one value, which is also defined for elements that share memory."""

    @like(method)
    def filled(self: Any, *args: Any, **options: Any) -> Any:
        if overlaps(self) and provider("fills of shared memory").is_filled(method.__name__, self, args, options):
            return self
        return method(self, *args, **options)

    return filled


def taking_numbers(function: Named) -> Named:
    """A function that accepts its scalars by position too, as torch does with a warning; unchanged if it has none."""
    names = NUMBERS.get(getattr(function, "__name__", ""), ())
    if not names:
        return function

    @like(function)
    def called(*args: Any, **options: Any) -> Any:
        numbers = [value for value in args if isinstance(value, (int, float, complex))]
        if not 0 < len(numbers) <= len(names) or len(args) != 3 + len(numbers):
            return function(*args, **options)
        warn_of_numbers(function.__name__, names[: len(numbers)])
        tensors = [value for value in args if not isinstance(value, (int, float, complex))]
        return function(*tensors, **dict(zip(names, numbers, strict=False)), **options)

    return called


def warn_of_numbers(name: str, keywords: Sequence[str]) -> None:
    """Issue torch's warning about scalars that were passed by position."""
    spelling = ", ".join(f"{keyword}=..." for keyword in keywords)
    text = (
        f"This overload of {name} is deprecated: it takes numbers before the tensors that they scale. Write {spelling}"
    )
    warn(text)


def later(module: str, name: str) -> Function:
    """A function of a module of pullback, which is imported when the function is called."""

    def called(*args: Any, **options: Any) -> Any:
        return load(module, name)(*args, **options)

    return called


def _named(function: Function, name: str, options: dict[str, Any]) -> Any:
    """An argument that was passed by keyword, removed from the options."""
    if name not in options:
        code = unwrapped(function).__code__
        taken = {*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount], *getattr(function, "accepts", ())}
        if strange := options.keys() - taken:
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument {min(strange)!r}")
        raise TypeError(f"{function.__name__}() missing 1 required positional argument: {name!r}")
    return options.pop(name)


def of_tensor(function: Function, takes_out: bool = False) -> Function:
    """A function whose first argument must be a tensor."""
    code = getattr(unwrapped(function), "__code__", None)
    first = code.co_varnames[0] if code else "input"

    @like(function)
    def checked(input: Any = MISSING, *args: Any, out: Any = None, **options: Any) -> Any:
        if input is MISSING:
            input = _named(function, first, options)
        if not isinstance(input, Carrier):
            raise errors.no_tensor(function.__name__, "input", 1, input)
        if out is not None:
            return written(out, takes_out, function, input, *args, **options)
        return function(input, *args, **options) if options else function(input, *args)

    return checked


def of_pair(function: Function, takes_out: bool = False) -> Function:
    """A function of two operands, both of which must be tensors, or one a tensor and the other an array."""
    first, second = unwrapped(function).__code__.co_varnames[:2]

    @like(function)
    def checked(input: Any = MISSING, other: Any = MISSING, *, out: Any = None, **options: Any) -> Any:
        if input is MISSING:
            input = _named(function, first, options)
        if other is MISSING:
            other = _named(function, second, options)
        if options:
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument {next(iter(options))!r}")
        if not isinstance(input, Carrier) and not (isinstance(input, np.ndarray) and isinstance(other, Carrier)):
            raise errors.no_tensor(function.__name__, "input", 1, input)
        if not isinstance(other, (Carrier, np.ndarray)):
            raise errors.no_tensor(function.__name__, second, 2, other)
        return function(input, other) if out is None else written(out, takes_out, function, input, other)

    return checked


def of_tensors(function: Function, takes_out: bool = False) -> Function:
    """A function of two operands, at least one of which must be a tensor."""
    first, second = unwrapped(function).__code__.co_varnames[:2]

    @like(function)
    def checked(input: Any = MISSING, other: Any = MISSING, *args: Any, out: Any = None, **options: Any) -> Any:
        if input is MISSING:
            input = _named(function, first, options)
        if other is MISSING:
            other = _named(function, second, options)
        if not isinstance(input, Carrier) and not isinstance(other, Carrier):
            if function.__name__ not in OF_NUMBERS or not all(
                isinstance(x, (bool, int, float)) for x in (input, other)
            ):
                raise errors.no_tensor(function.__name__, "input", 1, input)
            input = provider("numbers").tensor(input)
        if out is not None:
            return written(out, takes_out, function, input, other, *args, **options)
        return function(input, other, *args, **options) if options else function(input, other, *args)

    return checked


def taking_out(function: Named) -> Named:
    """A function that takes `out=`."""

    @like(function)
    def public(*args: Any, out: Any = None, **options: Any) -> Any:
        if out is not None:
            return load("vocabulary.outputs", "into")(out, function, args, options)
        return function(*args, **options) if options else function(*args)

    return public


def published(function: Named, module: str, name: str) -> Named:
    """A function with its public name and module, under which pickle looks it up."""
    function.__module__, function.__qualname__ = module, name
    return function


def written(out: Any, takes_out: bool, function: Function, /, *args: Any, **options: Any) -> Any:
    """The result of a function, written to `out`; TypeError if the function does not accept `out`."""
    if not takes_out:
        name = function.__name__
        raise TypeError(f"{name}() got an unexpected keyword argument 'out': write t.copy_({name}(...))")
    return load("vocabulary.outputs", "into")(out, function, args, options)
