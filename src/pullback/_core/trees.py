"""Trees: values nested in tuples, lists, dicts, deques, named tuples and dataclasses, flattened to lists of leaves and rebuilt.

A leaf is any other object, None included. A dict keeps the order of its keys; two structures are equal when they nest the
same containers with the same keys.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

Keys = tuple[Any, ...]
Opened = tuple[Keys, Sequence[Any], Any]


class ContainerKind(NamedTuple):
    """How containers of one class are taken apart and built.

    `open` returns the keys and the children of a container, and what else is needed to build it: its context. `close` builds
    one from its class, keys, children and context. `by_index` is true if a child is written as `tree[key]`, else `tree.key`.
    `batched(context, axis, size)` is there if a context says what shape the children have in common: it returns that of
    children without an axis, or, if a size is given, with one more.
    """

    open: Callable[[Any], Opened]
    close: Callable[[Any, Keys, list[Any], Any], Any]
    by_index: bool = True
    batched: Callable[[Any, int, int | None], Any] | None = None


class Structure(NamedTuple):
    """The structure of a tree: the container's class, its keys, the structure of each child, and what else its class keeps.

    The class of a leaf is None.
    """

    kind: type | None
    keys: Keys = ()
    children: tuple[Structure, ...] = ()
    context: object = None

    def __str__(self) -> str:
        parts = list(map(str, self.children))
        if self.kind is None:
            return "*"
        if self.kind is tuple:
            return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
        if self.kind is list:
            return f"[{', '.join(parts)}]"
        if self.kind in (dict, OrderedDict):
            return f"{{{', '.join(f'{key!r}: {part}' for key, part in zip(self.keys, parts, strict=True))}}}"
        return f"{self.kind.__name__}({', '.join(f'{k}={p}' for k, p in zip(self.keys, parts, strict=True))})"

    def leaf_count(self) -> int:
        """The number of leaves."""
        return 1 if self.kind is None else sum(child.leaf_count() for child in self.children)


LEAF = Structure(None)


def _close_dataclass(kind: type, keys: Keys, values: list[object], _: object) -> object:
    fields = dict(zip(keys, values, strict=True))
    declared = dataclasses.fields(kind)
    made = kind(**{field.name: fields[field.name] for field in declared if field.init})
    for field in declared:
        if not field.init:
            object.__setattr__(made, field.name, fields[field.name])
    return made


def _open_dataclass(tree: Any) -> Opened:
    names = tuple(field.name for field in dataclasses.fields(tree))
    return names, [getattr(tree, name) for name in names], None


_SEQUENCE = ContainerKind(lambda tree: (tuple(range(len(tree))), tree, None), lambda kind, _, values, __: kind(values))
_MAPPING = ContainerKind(
    lambda tree: (tuple(tree), list(tree.values()), None),
    lambda kind, keys, values, _: kind(zip(keys, values, strict=True)),
)
_NAMED = ContainerKind(
    lambda tree: (tuple(tree._fields), tree, None), lambda kind, _, values, __: kind(*values), by_index=False
)
_DATACLASS = ContainerKind(_open_dataclass, _close_dataclass, by_index=False)
_DEFAULTS = ContainerKind(
    lambda tree: (tuple(tree), list(tree.values()), tree.default_factory),
    lambda kind, keys, values, factory: kind(factory, zip(keys, values, strict=True)),
)
_QUEUE = ContainerKind(
    lambda tree: (tuple(range(len(tree))), list(tree), tree.maxlen),
    lambda kind, _, values, length: kind(values, maxlen=length),
)
KINDS: dict[type, ContainerKind] = {
    **dict.fromkeys((tuple, list), _SEQUENCE), **dict.fromkeys((dict, OrderedDict), _MAPPING),
    defaultdict: _DEFAULTS, deque: _QUEUE,
}  # fmt: skip
"""The classes whose instances are containers, besides named tuples and dataclasses; `register` adds to them."""


@functools.lru_cache(maxsize=1024)
def kind_of(kind: type) -> ContainerKind | None:
    """How containers of a class are opened and closed; None if its instances are leaves."""
    if kind in KINDS:
        return KINDS[kind]
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return _NAMED
    return _DATACLASS if dataclasses.is_dataclass(kind) else None


_SHAPED: set[type] = set()
"""The classes whose contexts say what shape the children have in common."""


def with_axes(structure: Structure, axes: Sequence[int | None], size: int | None = None) -> Structure:
    """The structure of a tree whose leaves have lost these axes, None for none, or have gained them, if a size is given."""
    return _with_axes(structure, iter(axes), size)[0] if _SHAPED else structure


def _with_axes(structure: Structure, axes: Iterator[int | None], size: int | None) -> tuple[Structure, set[int | None]]:
    if structure.kind is None:
        return structure, {next(axes)}
    parts = [_with_axes(child, axes, size) for child in structure.children]
    own = {axis for _, below in parts for axis in below}
    how, context = kind_of(structure.kind), structure.context
    if how is not None and how.batched is not None and len(own) == 1 and (axis := next(iter(own))) is not None:
        context = how.batched(context, axis, size)
    return structure._replace(children=tuple(part for part, _ in parts), context=context), own


def register(kind: type, how: ContainerKind | None) -> None:
    """Let instances of a class be containers, in all functions that take trees; with None, no longer."""
    KINDS.pop(kind, None)
    _SHAPED.discard(kind)
    if how is not None:
        KINDS[kind] = how
        if how.batched is not None:
            _SHAPED.add(kind)
    kind_of.cache_clear()


def flatten(tree: object, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], Structure]:
    """The leaves of a tree, in order, and its structure; containers for which `is_leaf` is true are leaves, too."""
    how = kind_of(type(tree))  # type: ignore[arg-type]  # a class is hashable
    if how is None or (is_leaf is not None and is_leaf(tree)):
        return [tree], LEAF
    keys, values, context = how.open(tree)
    leaves: list[Any] = []
    children = []
    for value in values:
        found, structure = flatten(value, is_leaf)
        leaves += found
        children.append(structure)
    return leaves, Structure(type(tree), keys, tuple(children), context)


def unflatten(structure: Structure, leaves: Sequence[object]) -> Any:
    """The tree with a given structure and given leaves: the inverse of `flatten`."""
    return _built(structure, iter(leaves))


def _built(structure: Structure, leaves: Iterator[object]) -> Any:
    kind = structure.kind
    if kind is None:
        return next(leaves)
    values = [_built(child, leaves) for child in structure.children]
    return _known(kind).close(kind, structure.keys, values, structure.context)


def _known(kind: type) -> ContainerKind:
    """How containers of a class that have been opened are closed."""
    how = kind_of(kind)
    if how is None:
        raise TypeError(f"{kind.__name__} is registered as a container no longer")
    return how


def paths(structure: Structure, name: str = "") -> list[str]:
    """The Python expression that selects each leaf, such as `params['layer'][0]`."""
    kind = structure.kind
    if kind is None:
        return [name]
    by_index = _known(kind).by_index
    found = []
    for key, child in zip(structure.keys, structure.children, strict=True):
        found += paths(child, f"{name}[{key!r}]" if by_index else f"{name}.{key}")
    return found


def mapped(function: Callable[[Any], object], tree: object) -> Any:
    """A tree of the same structure, with a function applied to each leaf."""
    leaves, structure = flatten(tree)
    return unflatten(structure, [function(leaf) for leaf in leaves])


def spread(prefix: object, structure: Structure) -> list[Any] | None:
    """The leaves of a prefix tree, each repeated for all leaves of the structure below it; None if it is not a prefix."""
    how = kind_of(type(prefix))  # type: ignore[arg-type]  # as above
    if how is None:
        return [prefix] * structure.leaf_count()
    keys, values, context = how.open(prefix)
    if structure[:2] != (type(prefix), keys) or structure.context != context:
        return None
    found: list[Any] = []
    for value, child in zip(values, structure.children, strict=True):
        below = spread(value, child)
        if below is None:
            return None
        found += below
    return found
