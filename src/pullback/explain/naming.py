"""The program's names for its tensors, and descriptions of nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import Tensor, observe
from ..observe import (
    SAVED_NAMES,
    AccumulateGrad,
    Node,
    OutputNode as Output,
    is_internal,
    operation_of,
    variables_of,
    version,
)
from .arrays import Array, Limits, described, plain, ranged
from .numbers import element, vector
from .sources import Excerpt, shortened, text_of

if TYPE_CHECKING:
    from .._core.typing import Params, Primitive


SEVERAL = (list, tuple)
MOST_ELEMENTS = 100
"""The length above which lists and dictionaries are not searched for tensors."""
UNNAMED = re.compile(r"__|_\d*$|_i+$|_o?h$|Out$|In$")
"""The variables that Python and notebooks set: names that nobody gave."""
COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
"""The names of functions that Python makes of comprehensions, of the first three up to 3.11."""
CALLERS = 3
"""The number of functions of the program, innermost first, whose local variables are searched for names."""


class Named(NamedTuple):
    """The program's name for a tensor, and its value; None if it may have been written since."""

    name: str
    array: Any


def names_in(frame: FrameType | None) -> dict[Node, Named]:
    """The names that a function, its module and its callers have for tensors, by node."""
    found: dict[Node, Named] = {}
    for variables in namespaces(frame):
        _collect(variables, found)
    return found


def namespaces(frame: FrameType | None) -> Iterator[Mapping[str, object]]:
    """The variables of a function and its callers, and of their modules; last those of comprehensions, whose list says more."""
    seen: set[int] = set()
    passing: list[Mapping[str, object]] = []
    for each in _searched(frame):
        variables = variables_of(each)
        if each.f_code.co_name in COMPREHENSIONS:
            passing.append(variables)
            continue
        inside = text_of(each.f_code.co_filename).comprehended(each.f_lineno)  # from 3.12 on they are the function's
        passing.append({name: variables.pop(name) for name in inside if name in variables})
        yield variables
        if id(each.f_globals) not in seen:
            seen.add(id(each.f_globals))
            yield each.f_globals
    yield from passing


def _searched(frame: FrameType | None) -> Iterator[FrameType]:
    """The program's functions among a frame and its callers, of which a few are searched."""
    searched = 0
    while frame is not None and searched < CALLERS:
        if not is_internal(frame.f_code.co_filename):
            searched += 1
            yield frame
        frame = frame.f_back


def variables_in(frame: FrameType | None) -> Iterator[tuple[str, Any]]:
    """The names and values of these variables, without the private ones of modules."""
    for variables in namespaces(frame):
        yield from ((name, value) for name, value in list(variables.items()) if not name.startswith("_"))


def rounds_at(frame: FrameType | None) -> str:
    """What the loops of a program have set, such as a step and its batch, in brackets; empty outside of loops."""
    found: list[str] = []
    for each in reversed([*_searched(frame)]):
        for name in text_of(each.f_code.co_filename).looped(each.f_lineno):
            value = each.f_locals.get(name)
            if isinstance(value, (int, str)) and not UNNAMED.match(name):
                found.append(f"{name} = {shortened(str(value), 40)}")
            held = _held(value) if isinstance(value, (*SEVERAL, dict)) else [(value, "")]
            arrays = [(array, path) for tensor, path in held if (array := plain(tensor)) is not None]
            found += [f"{name}{path}: {described(array)}, {ranged(array)}" for array, path in arrays]
    return f" ({'; '.join(found)})" if found else ""


def name_of(tensor: object, frames: Sequence[FrameType]) -> str | None:
    """The name of a tensor in the innermost of some functions, or its module, that has a variable for it."""
    for frame in reversed(frames):
        for variables in (frame.f_locals, frame.f_globals):
            for name, value in list(variables.items()):
                if value is tensor:
                    return name
    return None


def names_of(variables: Mapping[str, object]) -> dict[Node, Named]:
    """The names of the tensors that these variables hold."""
    found: dict[Node, Named] = {}
    _collect(variables, found)
    return found


def _collect(variables: Mapping[str, object], found: dict[Node, Named]) -> None:
    given = [(name, value) for name, value in list(variables.items()) if not UNNAMED.match(name)]
    for name, value in sorted(given, key=_rank):
        if isinstance(value, Tensor):
            _note(value, name, found)
            continue
        try:
            held = list(_held(value))
        except Exception:  # noqa: BLE001, S112  # an object that cannot be inspected gives no name, which is no error
            continue
        for tensor, path in held:
            _note(tensor, f"{name}{path}", found)


def _rank(pair: tuple[str, Any]) -> int:
    """Modules come first, those that contain others before their parts; then variables, and what holds tensors last."""
    if hasattr(type(pair[1]), "named_parameters"):
        try:
            return -sum(1 for _ in pair[1].parameters())
        except AttributeError:
            return 0  # its __init__ has not come to the end
    return 1 if isinstance(pair[1], Tensor) else 2


def _note(tensor: Any, name: str, found: dict[Node, Named]) -> None:
    node = observe.node(tensor) if isinstance(tensor, Tensor) else None
    if node is not None and not tensor.level:
        found.setdefault(node, Named(name, None if version(tensor) else observe.value(tensor)))


def _held(value: Any) -> Iterator[tuple[Any, str]]:
    """The tensors in a module, a list, a dictionary or an object's attributes, each with the path to it."""
    if hasattr(type(value), "named_parameters"):
        yield from ((tensor, f".{path}") for path, tensor in value.named_parameters())
    elif isinstance(value, SEVERAL) and len(value) <= MOST_ELEMENTS:
        yield from ((item, f"[{i}]") for i, item in enumerate(value) if isinstance(item, Tensor))
    elif type(value) is dict and len(value) <= MOST_ELEMENTS:
        yield from ((item, f"[{key!r}]") for key, item in list(value.items()) if isinstance(item, Tensor))
    elif isinstance(value, (type, ModuleType)):
        return  # a module of the library loads all its parts when its names are asked for
    elif type(getattr(value, "__dict__", None)) is dict:
        for key, item in list(value.__dict__.items())[:MOST_ELEMENTS]:
            if isinstance(item, Tensor):
                yield item, f".{key}"


def operation(node: Node) -> str | None:
    """The name of what made a node; None for a leaf."""
    return None if isinstance(node, AccumulateGrad) else operation_of(node)


def tensor_name(
    node: Node, number: int, excerpt: Excerpt, share: tuple[int, int], known: str | None, module: str
) -> tuple[str, str | None]:
    """A tensor's short name, and the whole expression of which it is the value, if any.

    `share` gives the node's number among the nodes of an expression, and their count: only the last is the expression's
    value.
    """
    op = operation(node)
    which = f"[{node.params}]" if isinstance(node, Output) else ""
    nth, of = share
    if excerpt.written is not None:
        if op == "setitem" or nth == of - 1:
            return known or excerpt.written, excerpt.expr
        return f"{op} in {excerpt.expr}", None
    if nth == of - 1 and excerpt.expr is not None:
        return known or excerpt.assigned or f"{excerpt.expr}{which}", excerpt.expr
    if known is not None:
        return known, None
    if module:
        return f"{module} {op}{which}", None
    if excerpt.expr is not None:
        return f"{op} in {excerpt.expr}{which}", None
    return f"{op}#{number}{which}", None


def leaf_name(number: int, excerpt: Excerpt, known: str | None) -> str:
    """The name of a leaf."""
    if known is not None:
        return known
    if excerpt.expr is not None and excerpt.expr.endswith(".requires_grad_()"):
        return excerpt.expr.removesuffix(".requires_grad_()")
    return excerpt.assigned or f"leaf#{number}"


# Saved values and settings


COMPUTED = {"known"}
"""Parameters that were derived from the inputs: rules would compute the same numbers themselves."""


def settings(node: Node) -> list[tuple[str, str]]:
    """What a node's rules read besides arrays, as name and text: an index, an exponent, the shape of an input."""
    if isinstance(node, (AccumulateGrad, Output)) or node.foreign:
        return []
    if node.title == "CopySlices":
        return [("index", _path(node.params.get("path", ())))]
    found: dict[str, str] = {}
    primitive = node.primitive
    rules = [primitive.joint] if primitive.joint is not None else list(primitive.rules)
    for rule in rules:
        if rule is None:
            continue
        code = rule.__code__
        for name in code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]:
            if isinstance(node.params, dict) and name in node.params and name not in COMPUTED:
                found[name] = setting(node.params[name])
        for name in code.co_varnames[2 : code.co_argcount]:
            if name.endswith("_shape") and name[:-6] in primitive.inputs:
                edge = node.edges[primitive.inputs.index(name[:-6])] if node.edges else None
                if edge is not None:
                    found["shape"] = str(tuple(edge.shape))
    return list(found.items())


def setting(value: Any) -> str:
    """A parameter as short text; an index in Python's notation."""
    if isinstance(value, tuple) and value and value[-1] is Ellipsis:
        value = value[:-1] if len(value) > 2 else value[0]
    text = ", ".join(map(_indexed, value)) if isinstance(value, tuple) and _is_index(value) else _indexed(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _is_index(value: tuple[object, ...]) -> bool:
    return any(isinstance(part, slice) or part is Ellipsis or part is None for part in value)


def _indexed(part: Any) -> str:
    if isinstance(part, slice):
        ends = ["" if end is None else str(end) for end in (part.start, part.stop)]
        return ":".join([*ends, *([] if part.step is None else [str(part.step)])])
    if part is Ellipsis:
        return "..."
    shape = getattr(part, "shape", None)
    return f"{part.dtype} {'x'.join(map(str, shape))}" if shape else str(part)


def _path(path: Sequence[tuple[Primitive, Params]]) -> str:
    return (
        " then ".join(setting(params["index"]) if "index" in params else primitive.name for primitive, params in path)
        or "everything"
    )


def saved_name(name: str) -> str:
    """torch's name for a value that a rule names: `self` for the first input, `other`, `result`."""
    return SAVED_NAMES.get(name, name)


def saved_text(array: Array, limits: Limits) -> str:
    """A saved array as short text."""
    if limits.redact or array.size > min(4, limits.values) or array.ndim > 1:
        return described(array)
    return vector(array) if array.ndim else element(array.item())
