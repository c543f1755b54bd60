"""Trees: values nested in tuples, lists, dicts, named tuples and dataclasses, flattened to lists of leaves and rebuilt.

A leaf is any other object, None included. A dict keeps the order of its keys; two structures are equal when they nest the
same containers with the same keys.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, cast


class Structure(NamedTuple):
    """The structure of a tree: the container's class, its keys, and the structure of each child; the class of a leaf is None."""

    kind: type | None
    keys: tuple[Any, ...] = ()
    children: tuple[Structure, ...] = ()

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


Parts = tuple[tuple[Any, ...], Sequence[Any]]


@functools.lru_cache(maxsize=1024)
def _opener(kind: Any) -> Callable[[Any], Parts] | None:
    """The function that returns the keys and the children of a container of this class; None if the class is a leaf."""
    if kind in (dict, OrderedDict):
        return lambda tree: (tuple(tree), list(tree.values()))
    if kind in (tuple, list):
        return lambda tree: (tuple(range(len(tree))), tree)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return lambda tree: (tuple(tree._fields), tree)
    if dataclasses.is_dataclass(kind):
        names = tuple(field.name for field in dataclasses.fields(kind))
        return lambda tree: (names, [getattr(tree, name) for name in names])
    return None


def flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], Structure]:
    """The leaves of a tree, in order, and its structure; containers for which `is_leaf` is true are leaves, too."""
    opened = _opener(type(tree))  # type: ignore[arg-type]  # a class is hashable
    if opened is None or (is_leaf is not None and is_leaf(tree)):
        return [tree], LEAF
    keys, values = opened(tree)
    leaves: list[Any] = []
    children = []
    for value in values:
        found, structure = flatten(value, is_leaf)
        leaves += found
        children.append(structure)
    return leaves, Structure(type(tree), keys, tuple(children))


def unflatten(structure: Structure, leaves: Sequence[Any]) -> Any:
    """The tree with a given structure and given leaves: the inverse of `flatten`."""
    return _built(structure, iter(leaves))


def _built(structure: Structure, leaves: Iterator[Any]) -> Any:
    kind = structure.kind
    if kind is None:
        return next(leaves)
    values = [_built(child, leaves) for child in structure.children]
    if kind in (tuple, list):
        return kind(values)
    if kind in (dict, OrderedDict):
        return kind(zip(structure.keys, values, strict=True))
    if issubclass(kind, tuple):
        return kind(*values)
    fields = dict(zip(structure.keys, values, strict=True))
    declared = dataclasses.fields(cast("Any", kind))
    made = kind(**{field.name: fields[field.name] for field in declared if field.init})
    for field in declared:
        if not field.init:
            object.__setattr__(made, field.name, fields[field.name])
    return made


def paths(structure: Structure, name: str = "") -> list[str]:
    """The Python expression that selects each leaf, such as `params['layer'][0]`."""
    kind = structure.kind
    if kind is None:
        return [name]
    by_index = kind in (tuple, list, dict, OrderedDict)
    found = []
    for key, child in zip(structure.keys, structure.children, strict=True):
        found += paths(child, f"{name}[{key!r}]" if by_index else f"{name}.{key}")
    return found


def mapped(function: Callable[..., Any], tree: Any) -> Any:
    """A tree of the same structure, with a function applied to each leaf."""
    leaves, structure = flatten(tree)
    return unflatten(structure, [function(leaf) for leaf in leaves])


def spread(prefix: Any, structure: Structure) -> list[Any] | None:
    """The leaves of a prefix tree, each repeated for all leaves of the structure below it; None if it is not a prefix."""
    opened = _opener(type(prefix))  # type: ignore[arg-type]  # as above
    if opened is None:
        return [prefix] * structure.leaf_count()
    keys, values = opened(prefix)
    if structure.kind is not type(prefix) or structure.keys != keys:
        return None
    found: list[Any] = []
    for value, child in zip(values, structure.children, strict=True):
        below = spread(value, child)
        if below is None:
            return None
        found += below
    return found
