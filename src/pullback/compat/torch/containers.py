"""torch.utils._pytree: nested containers flattened and unflattened, and classes registered as containers."""

from __future__ import annotations

import collections
import dataclasses
import functools
import json
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from ...utils import trees

PyTree: TypeAlias = Any
Context: TypeAlias = Any
FlattenFunc: TypeAlias = Callable[[Any], tuple[list[Any], Any]]
UnflattenFunc: TypeAlias = Callable[[Iterable[Any], Any], Any]
FlattenWithKeysFunc: TypeAlias = Callable[[Any], tuple[list[tuple[Any, Any]], Any]]
FlattenFn, UnflattenFn, FlattenWithKeysFn = FlattenFunc, UnflattenFunc, FlattenWithKeysFunc
Leaf = Callable[[Any], bool] | None


class TreeSpec:
    """The structure of nested containers: the class and the context of the outermost one, and its children's structures.

    >>> from pullback.compat.torch.containers import tree_structure
    >>> spec = tree_structure({"a": (1, 2), "b": 3})
    >>> spec.type, spec.context, spec.num_leaves, spec.children_specs[1].is_leaf()
    (<class 'dict'>, ['a', 'b'], 3, True)
    """

    def __init__(self, structure: trees.Structure = trees.LEAF) -> None:
        self.structure = structure

    @property
    def type(self) -> Any:
        """The class of the outermost container; None for a leaf."""
        return self.structure.kind

    @property
    def context(self) -> Context:
        """What else is needed to build the container: the keys of a dict, the class of a named tuple."""
        kind, keys, _, context = self.structure
        if kind in (dict, OrderedDict):
            return [*keys]
        if kind is defaultdict:
            return [context, [*keys]]
        return kind if kind is not None and hasattr(kind, "_fields") else context

    @property
    def children_specs(self) -> list[TreeSpec]:
        """The structures of the children."""
        return [TreeSpec(child) for child in self.structure.children]

    children = children_specs

    @property
    def num_children(self) -> int:
        """The number of children."""
        return len(self.structure.children)

    @property
    def num_leaves(self) -> int:
        """The number of leaves."""
        return self.structure.leaf_count()

    @property
    def num_nodes(self) -> int:
        """The number of containers and leaves."""
        return 1 + sum(child.num_nodes for child in self.children_specs)

    def is_leaf(self) -> bool:
        """True for the structure of a leaf."""
        return self.structure.kind is None

    def unflatten(self, leaves: Iterable[object]) -> PyTree:
        """The containers, with given leaves."""
        return tree_unflatten(leaves, self)

    def flatten_up_to(self, tree: object) -> list[Any]:
        """What a tree has in the places of this structure's leaves."""
        if self.is_leaf():
            return [tree]
        how = trees.kind_of(self.type)
        same = how is not None and type(tree) is self.type
        keys, values, context = how.open(tree) if how is not None and same else ((), (), None)
        if not same or (keys, context) != (self.structure.keys, self.structure.context):
            raise ValueError(f"expected {self}, but got a {type(tree).__name__} that nests differently")
        parts = zip(self.children_specs, values, strict=True)
        return [leaf for spec, part in parts for leaf in spec.flatten_up_to(part)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeSpec) and self.structure == other.structure

    def __hash__(self) -> int:
        return hash((self.type, self.num_leaves))

    def __repr__(self) -> str:
        return f"TreeSpec({self.structure})"


def LeafSpec() -> TreeSpec:  # noqa: N802  # torch's name, of a class
    """The structure of a leaf."""
    return TreeSpec()


treespec_leaf = LeafSpec


def _alone(tree: object) -> bool:
    """Whether a value is a leaf for torch, though other functions of pullback look into it."""
    return dataclasses.is_dataclass(tree) and type(tree) not in trees.kinds()


def _leaves(is_leaf: Leaf) -> Callable[[Any], bool]:
    return _alone if is_leaf is None else lambda tree: _alone(tree) or is_leaf(tree)


def tree_flatten(tree: object, is_leaf: Leaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of nested containers, and their structure.

    >>> from pullback.compat.torch.containers import tree_flatten, tree_unflatten
    >>> leaves, nesting = tree_flatten({"a": [1, 2], "b": 3})
    >>> leaves, tree_unflatten([10, 20, 30], nesting)
    ([1, 2, 3], {'a': [10, 20], 'b': 30})
    """
    leaves, structure = trees.flatten(tree, _leaves(is_leaf))
    return leaves, TreeSpec(structure)


def tree_unflatten(leaves: Iterable[object], treespec: TreeSpec) -> PyTree:
    """The containers of a structure, with given leaves; ValueError if these are too many or too few."""
    given = [*leaves]
    if len(given) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(given)} but the spec refers to a pytree that "
            f"holds {treespec.num_leaves} items ({treespec})."
        )
    return trees.unflatten(treespec.structure, given)


def tree_leaves(tree: object, is_leaf: Leaf = None) -> list[Any]:
    """The leaves of nested containers."""
    return tree_flatten(tree, is_leaf)[0]


def tree_iter(tree: object, is_leaf: Leaf = None) -> Iterator[Any]:
    """The leaves of nested containers, one after the other."""
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree: object, is_leaf: Leaf = None) -> TreeSpec:
    """The structure of nested containers."""
    return tree_flatten(tree, is_leaf)[1]


def tree_is_leaf(tree: object, is_leaf: Leaf = None) -> bool:
    """True if a value is no container."""
    return tree_structure(tree, is_leaf).is_leaf()


_is_leaf = tree_is_leaf


def tree_map(func: Callable[..., Any], tree: object, *rests: object, is_leaf: Leaf = None) -> PyTree:
    """The containers with a function applied to each leaf, and to what other trees have in its place."""
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves, *(spec.flatten_up_to(rest) for rest in rests)]
    return spec.unflatten(map(func, *columns))


def tree_map_(func: Callable[..., Any], tree: object, *rests: object, is_leaf: Leaf = None) -> PyTree:
    """The tree itself, after a function was called with each leaf."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def map_only(
    kinds: type | tuple[type, ...] | Callable[[Any], bool],
) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """A decorator by which a function changes what is of a class, of one of several, or satisfies a predicate."""
    chosen = kinds if callable(kinds) and not isinstance(kinds, type) else lambda leaf: isinstance(leaf, kinds)
    return lambda func: functools.wraps(func)(lambda leaf: func(leaf) if chosen(leaf) else leaf)


def tree_map_only(
    kinds: type | tuple[type, ...] | Callable[[Any], bool],
    func: Callable[[Any], Any],
    tree: object,
    is_leaf: Leaf = None,
) -> PyTree:
    """The containers with a function applied to each leaf of a type, or that satisfies a predicate."""
    return tree_map(map_only(kinds)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    kinds: type | tuple[type, ...] | Callable[[Any], bool],
    func: Callable[[Any], Any],
    tree: object,
    is_leaf: Leaf = None,
) -> PyTree:
    """The tree itself, after a function was called with each leaf of a type."""
    return tree_map_(map_only(kinds)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: object, is_leaf: Leaf = None) -> bool:
    """True if a predicate holds for all leaves."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: object, is_leaf: Leaf = None) -> bool:
    """True if a predicate holds for a leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all_only(
    kinds: type | tuple[type, ...], pred: Callable[[Any], bool], tree: object, is_leaf: Leaf = None
) -> bool:
    """True if a predicate holds for all leaves of a type."""
    return all(pred(leaf) for leaf in tree_leaves(tree, is_leaf) if isinstance(leaf, kinds))


def tree_any_only(
    kinds: type | tuple[type, ...], pred: Callable[[Any], bool], tree: object, is_leaf: Leaf = None
) -> bool:
    """True if a predicate holds for a leaf of a type."""
    return any(pred(leaf) for leaf in tree_leaves(tree, is_leaf) if isinstance(leaf, kinds))


def arg_tree_leaves(*args: object, **kwargs: object) -> list[Any]:
    """The leaves of the arguments of a call."""
    return tree_leaves((args, kwargs))


def _broadcast_to_and_flatten(tree: object, treespec: TreeSpec, is_leaf: Leaf = None) -> list[object] | None:
    """The leaves of a prefix tree, each repeated for all leaves of the structure below it; None if it is not a prefix."""
    return trees.spread(tree, treespec.structure)


# Keys


class SequenceKey(NamedTuple):
    """The place of a child of a sequence."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Sequence[Any]) -> Any:
        """The child."""
        return sequence[self.idx]


class MappingKey(NamedTuple):
    """The place of a child of a dict."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Mapping[object, Any]) -> Any:
        """The child."""
        return mapping[self.key]


class GetAttrKey(NamedTuple):
    """The place of a child that is an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: object) -> Any:
        """The child."""
        return getattr(obj, self.name)


KeyEntry: TypeAlias = SequenceKey | MappingKey | GetAttrKey
KeyPath: TypeAlias = tuple[Any, ...]


def _paths(spec: TreeSpec, tree: object) -> Iterator[KeyPath]:
    """The path to each leaf."""
    if spec.is_leaf():
        yield ()
        return
    node = SUPPORTED_NODES.get(spec.type)
    if node is not None and node.flatten_with_keys_fn is not None:
        keys: Sequence[Any] = [key for key, _ in node.flatten_with_keys_fn(tree)[0]]
    elif isinstance(tree, Mapping):
        keys = [*map(MappingKey, spec.structure.keys)]
    else:
        keys = [GetAttrKey(key) if isinstance(key, str) else SequenceKey(key) for key in spec.structure.keys]
    how = trees.kind_of(spec.type)
    values = how.open(tree)[1] if how else ()
    for key, child, value in zip(keys, spec.children_specs, values, strict=True):
        yield from ((key, *rest) for rest in _paths(child, value))


def tree_flatten_with_path(tree: object, is_leaf: Leaf = None) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """The leaves of nested containers with the path to each, and their structure.

    >>> from pullback.compat.torch.containers import keystr, tree_leaves_with_path
    >>> [(keystr(path), leaf) for path, leaf in tree_leaves_with_path({"a": [1, 2]})]
    [("['a'][0]", 1), ("['a'][1]", 2)]
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    return list(zip(_paths(spec, tree), leaves, strict=True)), spec


def tree_leaves_with_path(tree: object, is_leaf: Leaf = None) -> list[tuple[KeyPath, Any]]:
    """The leaves of nested containers with the path to each."""
    return tree_flatten_with_path(tree, is_leaf)[0]


def tree_map_with_path(func: Callable[..., Any], tree: object, *rests: object, is_leaf: Leaf = None) -> PyTree:
    """The containers with a function applied to the path to each leaf, the leaf, and what other trees have in its place."""
    found, spec = tree_flatten_with_path(tree, is_leaf)
    columns = [[path for path, _ in found], [leaf for _, leaf in found], *map(spec.flatten_up_to, rests)]
    return spec.unflatten(map(func, *columns))


def keystr(kp: KeyPath) -> str:
    """A path as Python's expression."""
    return "".join(map(str, kp))


def key_get(obj: object, kp: KeyPath) -> Any:
    """What a tree has at a path."""
    return functools.reduce(lambda found, key: key.get(found), kp, obj)


# Classes


class NodeDef(NamedTuple):
    """How containers of a class are flattened and unflattened."""

    type: Any
    flatten_fn: FlattenFunc
    unflatten_fn: UnflattenFunc
    flatten_with_keys_fn: FlattenWithKeysFunc | None = None


_dumped: dict[str, tuple[type, Callable[[Any], Any] | None, Callable[[Any], Any] | None]] = {}


def _of_known(kind: type[Any]) -> NodeDef:
    """The definition of a class that Python or pullback has."""

    def flatten(tree: object) -> tuple[list[object], Context]:
        leaves, structure = trees.flatten(tree, lambda part: part is not tree)
        return leaves, TreeSpec(structure).context

    def unflatten(values: Iterable[object], context: Any) -> Any:
        if kind is defaultdict:
            return defaultdict(context[0], zip(context[1], values, strict=True))
        return kind(zip(context, values, strict=True)) if issubclass(kind, dict) else kind(values)

    def with_keys(tree: object) -> tuple[list[tuple[Any, Any]], Context]:
        values, context = flatten(tree)
        fields = getattr(context, "_fields", None)  # of a named tuple
        if fields is not None:
            keys: Iterable[Any] = map(GetAttrKey, fields)
        elif issubclass(kind, dict):
            keys = map(MappingKey, context[1] if kind is defaultdict else context)
        else:
            keys = map(SequenceKey, range(len(values)))
        return list(zip(keys, values, strict=True)), context

    return NodeDef(kind, flatten, unflatten, with_keys)


SUPPORTED_NODES: dict[Any, NodeDef] = {kind: _of_known(kind) for kind in trees.kinds()}
BUILTIN_TYPES = frozenset(SUPPORTED_NODES)
_dict_flatten, _dict_unflatten, _dict_flatten_with_keys = _of_known(dict)[1:]
_ordereddict_flatten, _ordereddict_unflatten, _ordereddict_flatten_with_keys = _of_known(OrderedDict)[1:]
_defaultdict_flatten, _defaultdict_unflatten, _defaultdict_flatten_with_keys = _of_known(defaultdict)[1:]
_list_flatten, _list_unflatten, _list_flatten_with_keys = _of_known(list)[1:]
_tuple_flatten, _tuple_unflatten, _tuple_flatten_with_keys = _of_known(tuple)[1:]
_deque_flatten, _deque_unflatten, _deque_flatten_with_keys = _of_known(collections.deque)[1:]
_namedtuple_flatten, _, _namedtuple_flatten_with_keys = _of_known(tuple)[1:]  # whose context is the class


def _resized(context: Context, axis: int, size: int | None) -> Context:
    """The context of a class that keeps the sizes of a batch, as tensordict's do, without an axis or with one more."""
    if not isinstance(context, dict) or "batch_size" not in context:
        return context
    sizes = [*context["batch_size"]]
    sizes[axis : axis + (size is None)] = [] if size is None else [size]
    return {**context, "batch_size": type(context["batch_size"])(sizes), "names": None}


def register_pytree_node(
    cls: type,
    flatten_fn: FlattenFunc,
    unflatten_fn: UnflattenFunc,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Any], Any] | None = None,
    from_dumpable_context: Callable[[Any], Any] | None = None,
    flatten_with_keys_fn: FlattenWithKeysFunc | None = None,
) -> None:
    """Let instances of a class be containers, here and in `torch.func`, `torch.compile` and the others that take trees.

    Raises
    ------
    ValueError
        If the class is registered already.

    >>> from pullback.compat.torch import containers
    >>> class Pair:
    ...     def __init__(self, *parts):
    ...         self.parts = parts
    >>> containers.register_pytree_node(Pair, lambda p: ([*p.parts], None), lambda parts, _: Pair(*parts))
    >>> containers.tree_map(lambda x: 2 * x, Pair(1, [2, 3])).parts
    (2, [4, 6])
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node. Overwriting the previous registration.")

    def opened(tree: object) -> tuple[tuple[Any, ...], Sequence[Any], Any]:
        children, context = flatten_fn(tree)
        return tuple(range(len(children))), children, context

    def closed(kind: type, keys: tuple[Any, ...], values: list[Any], context: Context) -> object:
        return unflatten_fn(values, context)

    batched = _resized if hasattr(cls, "_add_batch_dim") else None
    trees.register(cls, trees.ContainerKind(opened, closed, batched=batched))
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
    name = serialized_type_name or f"{cls.__module__}.{cls.__qualname__}"
    _dumped[name] = (cls, to_dumpable_context, from_dumpable_context)


_register_pytree_node = register_pytree_node


def _deregister_pytree_node(cls: type) -> None:
    """Let instances of a class be leaves again."""
    del SUPPORTED_NODES[cls]
    trees.register(cls, None)


def register_dataclass(
    cls: type, *, field_names: Sequence[str] | None = None, drop_field_names: Sequence[str] = (), **options: Any
) -> None:
    """Let instances of a dataclass be containers, whose children are those fields that are not dropped."""
    names = [field.name for field in dataclasses.fields(cls)] if field_names is None else [*field_names]
    names = [name for name in names if name not in drop_field_names]

    def flatten(tree: object) -> tuple[list[Any], Any]:
        return [getattr(tree, name) for name in names], names

    def with_keys(tree: object) -> tuple[list[tuple[Any, Any]], Any]:
        return [(GetAttrKey(name), getattr(tree, name)) for name in names], names

    register_pytree_node(
        cls,
        flatten,
        lambda values, context: cls(**dict(zip(context, values, strict=True))),
        flatten_with_keys_fn=with_keys,
        **options,
    )


def register_constant(cls: type) -> None:
    """Let instances of a class be containers without children, which must be equal where structures are."""
    register_pytree_node(cls, lambda tree: ([], tree), lambda _, context: context)


def is_namedtuple_class(cls: object) -> bool:
    """True for a class of named tuples."""
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")


def is_namedtuple(obj: object) -> bool:
    """True for a named tuple, or a class of them."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_namedtuple_instance(obj: object) -> bool:
    """True for a named tuple."""
    return is_namedtuple_class(type(obj))


def _namedtuple_unflatten(values: Iterable[object], context: Callable[..., Any]) -> Any:
    """The named tuple of a class with given children."""
    return context(*values)


def _get_node_type(tree: object) -> Callable[..., Any]:
    """The class of a container, by which it is found in `SUPPORTED_NODES`; `namedtuple` for named tuples."""
    return collections.namedtuple if is_namedtuple_instance(tree) else type(tree)  # noqa: PYI024  # the key of torch's table


# Text


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """A structure as JSON.

    Raises
    ------
    NotImplementedError
        If a class has no name under which it was registered, or a context has no text.

    >>> from pullback.compat.torch.containers import tree_structure, treespec_dumps, treespec_loads
    >>> spec = tree_structure([1, {"a": (2, 3)}])
    >>> treespec_loads(treespec_dumps(spec)) == spec
    True
    """
    return json.dumps([1, _dumpable(treespec.structure)])


_NAMES = {f"{kind.__module__}.{kind.__qualname__}": kind for kind in (tuple, list, dict, OrderedDict)}


def _dumpable(structure: trees.Structure) -> dict[str, object] | None:
    kind, keys, children, context = structure
    if kind is None:
        return None
    names = [*_NAMES.items(), *((name, cls) for name, (cls, _, __) in _dumped.items())]
    name = next((name for name, cls in names if cls is kind), None)
    if name is None:
        raise NotImplementedError(f"{kind} has no name to be written by: register it with register_pytree_node")
    to_text = _dumped[name][1] if name in _dumped else None
    return {
        "type": name,
        "keys": keys,
        "context": to_text(context) if to_text else context,
        "children": [*map(_dumpable, children)],
    }


def treespec_loads(serialized: str) -> TreeSpec:
    """The structure that `treespec_dumps` has written."""
    return TreeSpec(_loaded(json.loads(serialized)[1]))


def _loaded(node: dict[str, Any] | None) -> trees.Structure:
    if node is None:
        return trees.LEAF
    kind, _, from_text = _dumped.get(node["type"]) or (_NAMES[node["type"]], None, None)
    context = from_text(node["context"]) if from_text else node["context"]
    return trees.Structure(kind, tuple(node["keys"]), tuple(map(_loaded, node["children"])), context)


def treespec_pprint(treespec: TreeSpec) -> str:
    """A structure as text, with a star for each leaf."""
    return str(treespec.structure)
