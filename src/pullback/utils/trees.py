"""Trees: values nested in tuples, lists, dicts, deques, named tuples and dataclasses, taken apart and put together.

A leaf is any other object, None included. All functions of pullback that take nested values, as those of `func` do, take these.

>>> import pullback
>>> from pullback.utils.trees import flatten, paths, unflatten
>>> leaves, structure = flatten({"layer": [1, 2], "scale": 3})
>>> leaves
[1, 2, 3]
>>> paths(structure, "params")
["params['layer'][0]", "params['layer'][1]", "params['scale']"]
>>> unflatten(structure, [10, 20, 30])
{'layer': [10, 20], 'scale': 30}
"""

from __future__ import annotations

from .._core.trees import (
    KINDS,
    LEAF as LEAF,
    ContainerKind as ContainerKind,
    Structure as Structure,
    flatten as flatten,
    kind_of as kind_of,
    mapped as mapped,
    paths as paths,
    register as register,
    spread as spread,
    unflatten as unflatten,
)

__all__ = [
    "LEAF",
    "ContainerKind",
    "Structure",
    "flatten",
    "kind_of",
    "kinds",
    "mapped",
    "paths",
    "register",
    "spread",
    "unflatten",
]


def kinds() -> tuple[type, ...]:
    """The classes whose instances are containers: Python's own, and those that `register` has added.

    Named tuples and dataclasses are containers, too.

    >>> from pullback.utils.trees import kinds
    >>> list in kinds(), set in kinds()
    (True, False)
    """
    return tuple(KINDS)
