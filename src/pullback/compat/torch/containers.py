"""torch.utils._pytree: nested containers flattened and unflattened."""

from collections.abc import Callable, Sequence
from typing import Any

from ..._core import trees

TreeSpec = trees.Structure


def tree_flatten(tree: Any) -> tuple[list[Any], TreeSpec]:
    """The leaves of nested containers, and their tree structure.

    >>> from pullback.compat.torch.containers import tree_flatten, tree_unflatten
    >>> leaves, nesting = tree_flatten({"a": [1, 2], "b": 3})
    >>> leaves, tree_unflatten([10, 20, 30], nesting)
    ([1, 2, 3], {'a': [10, 20], 'b': 30})
    """
    return trees.flatten(tree)


def tree_unflatten(leaves: Sequence[Any], treespec: TreeSpec) -> Any:
    """The containers of a tree structure, with given leaves."""
    return trees.unflatten(treespec, leaves)


def tree_leaves(tree: Any) -> list[Any]:
    """The leaves of nested containers."""
    return trees.flatten(tree)[0]


def tree_map(function: Callable[..., Any], tree: Any, *rest: Any) -> Any:
    """The containers with a function applied to each leaf, and to the corresponding leaves of other containers."""
    leaves, structure = trees.flatten(tree)
    others = [tree_leaves(other) for other in rest]
    return trees.unflatten(structure, [function(*each) for each in zip(leaves, *others, strict=True)])


def tree_map_only(kind: Any, function: Callable[[Any], Any], tree: Any) -> Any:
    """The containers with a function applied to each leaf of a type."""
    return trees.mapped(lambda leaf: function(leaf) if isinstance(leaf, kind) else leaf, tree)
