"""Node: one step of a graph; and the lists and dictionaries that its arguments are made of."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from .. import redirecting
from . import naming

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...._core.typing import Function
    from .graph import Graph


Target: TypeAlias = Callable[..., Any] | str
"""What a node calls or fetches: a function, or a name."""

Argument: TypeAlias = Any  # what a node may be given: nodes, numbers, texts, and containers of them
OPS = ("placeholder", "get_attr", "call_function", "call_module", "call_method", "output", "root")
IMPURE: set[Any] = {operator.setitem, operator.delitem, next, print}
IMPURE |= {
    getattr(operator, f"i{name}") for name in "add sub mul truediv floordiv mod pow lshift rshift and or xor".split()
}
"""Functions with effects besides their results, which `eliminate_dead_code` keeps."""
_DRAWN = (
    "rand randn randint randperm normal bernoulli multinomial poisson manual_seed seed _assert set_grad_enabled".split()
)


def has_side_effect(function: Function) -> Function:
    """The function itself, whose calls `eliminate_dead_code` keeps from now on."""
    IMPURE.add(function)
    return function


def _frozen(self: object, *args: object, **options: object) -> NoReturn:
    raise TypeError(
        f"{type(self).__name__!r} object does not support mutation. If you are attempting to modify the kwargs or args "
        "of a torch.fx.Node object,\ninstead create a new copy of it and assign the copy to the node:\n\n"
        "    new_args = ...  # copy and mutate args\n    node.args = new_args\n"
    )


class immutable_list(list[Any]):
    """A list among the arguments of a node, which cannot be changed: the graph would not know of it."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = append = clear = extend = insert = pop = remove = _frozen
    reverse = sort = _frozen

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return (immutable_list, (tuple(self),))


class immutable_dict(dict[Any, Any]):
    """A dictionary among the arguments of a node, which cannot be changed: the graph would not know of it."""

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _frozen

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return (immutable_dict, (tuple(self.items()),))


immutable_collections = SimpleNamespace(immutable_list=immutable_list, immutable_dict=immutable_dict)


def map_aggregate(a: object, fn: Callable[[Any], Any]) -> Any:
    """Arguments of a node with a function applied to each value in their tuples, lists, dictionaries and slices.

    >>> from pullback.compat.torch.fx.node import map_aggregate
    >>> map_aggregate((1, [2, {"a": 3}]), lambda value: 10 * value)
    (10, [20, {'a': 30}])
    """
    if isinstance(a, tuple):
        values = [map_aggregate(each, fn) for each in a]
        return type(a)(*values) if hasattr(a, "_fields") else tuple(values)
    if isinstance(a, list):
        return immutable_list([map_aggregate(each, fn) for each in a])
    if isinstance(a, dict):
        return immutable_dict({key: map_aggregate(each, fn) for key, each in a.items()})
    if isinstance(a, slice):
        return slice(*(map_aggregate(each, fn) for each in (a.start, a.stop, a.step)))
    return fn(a)


def map_arg(a: object, fn: Callable[[Any], Any]) -> Any:
    """Arguments of a node with a function applied to each Node in them."""
    return map_aggregate(a, lambda value: fn(value) if isinstance(value, Node) else value)


def shown(value: object) -> str:
    """An argument as text, nodes with a percent sign."""
    if isinstance(value, Node):
        return f"%{value.name}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(map(shown, value))
        alone = isinstance(value, tuple) and len(value) == 1
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * alone})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {shown(each)}" for key, each in value.items()) + "}"
    return str(value)


class Node:
    """One step of a graph: an input, a constant, a call, or the output.

    `op` says which: "placeholder", "get_attr", "call_function", "call_module", "call_method" or "output"; `target` is
    what is called or fetched. `args` and `kwargs` have the nodes whose values it takes in their places, `users` those
    that take its own.

    >>> from pullback.compat.torch.fx.graph import Graph
    >>> graph = Graph()
    >>> x = graph.placeholder("x")
    >>> y = graph.call_method("neg", (x,))
    >>> y.op, y.target, y.args, list(x.users)
    ('call_method', 'neg', (x,), [neg])
    """

    target: Any  # a function, or a name: `op` says which

    def __init__(
        self,
        graph: Graph,
        name: str,
        op: str,
        target: Target,
        args: Iterable[object],
        kwargs: Mapping[str, object],
        return_type: object = None,
    ) -> None:
        if op not in OPS:
            raise ValueError(f"a node is one of {', '.join(OPS[:-1])}, not {op!r}")
        if callable(target) != (op == "call_function"):
            wanted = "Callable" if op == "call_function" else "str"
            raise ValueError(f"the target of {op} {name} is {target!r}, but a {wanted} is expected")
        self.graph, self.name, self.op, self.target, self.type = graph, name, op, target, return_type
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self.next = self.prev = self
        self._erased = False
        self._inputs: dict[Node, None] = {}
        self._set(args, kwargs)

    def __repr__(self) -> str:
        return self.name

    def __lt__(self, other: Node) -> bool:
        """True if this node comes before another one in its graph."""
        return next(node for node in (*self.graph.nodes, self) if node is self or node is other) is self is not other

    def __gt__(self, other: Node) -> bool:
        return other < self

    # Arguments

    def _set(self, args: Iterable[object], kwargs: Mapping[str, object]) -> None:
        for node in self._inputs:
            node.users.pop(self)
        self._inputs = {}

        def used(value: object) -> object:
            if isinstance(value, Node):
                self._inputs[value] = value.users[self] = None
            return value

        self._args = map_aggregate(tuple(args), used)
        self._kwargs = map_aggregate(dict(kwargs), used)

    args = property(lambda self: self._args, lambda self, args: self._set(args, self._kwargs))
    """The positional arguments; assign a new tuple to change them."""
    kwargs = property(lambda self: self._kwargs, lambda self, kwargs: self._set(self._args, kwargs))
    """The arguments by name; assign a new dictionary to change them."""

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes whose values this one takes, each once."""
        return [*self._inputs]

    def update_arg(self, idx: int, arg: object) -> None:
        """Replace a positional argument."""
        self.args = (*self._args[:idx], arg, *self._args[idx + 1 :])

    def insert_arg(self, idx: int, arg: object) -> None:
        """Insert a positional argument before that at an index."""
        if not 0 <= idx <= len(self._args):
            raise IndexError(f"{self.name} has {len(self._args)} arguments: nothing can be inserted at {idx}")
        self.args = (*self._args[:idx], arg, *self._args[idx:])

    def update_kwarg(self, key: str, arg: object) -> None:
        """Replace an argument by name."""
        self.kwargs = {**self._kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Take the value of another node wherever this one takes that of `old_input`."""

        def other(value: object) -> object:
            return new_input if value is old_input else value

        self._set(map_aggregate(self._args, other), map_aggregate(self._kwargs, other))

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] = lambda user: True,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Let the users of this node take the value of another one; the list of those that `delete_user_cb` admits."""
        if propagate_meta:
            replace_with.meta.update(self.meta)
        changed = [user for user in self.users if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    # Places

    def _unlink(self) -> None:
        self.prev.next, self.next.prev = self.next, self.prev

    def prepend(self, x: Node) -> None:
        """Move or insert a node of the same graph before this one."""
        if x.graph is not self.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if x is not self:
            x._unlink()
            x.prev, x.next = self.prev, self
            self.prev.next = self.prev = x

    def append(self, x: Node) -> None:
        """Move or insert a node of the same graph after this one."""
        if x is not self:
            self.next.prepend(x)

    # What it is

    stack_trace = property(
        lambda self: self.meta.get("stack_trace"), lambda self, text: self.meta.update(stack_trace=text)
    )
    """The lines of the program at which it was recorded, if its tracer keeps them."""

    def is_impure(self) -> bool:
        """True if it does more than give a value: inputs, the output, random numbers, assertions, and writes in place."""
        if self.op in {"placeholder", "output"}:
            return True
        if self.op == "call_module":
            module = self.graph.owning_module
            return module is not None and bool(getattr(module.get_submodule(self.target), "_is_impure", False))
        if self.op == "get_attr" or getattr(self.target, "__module__", None) == "_operator":
            return self.target in IMPURE
        name = str(getattr(self.target, "__name__", self.target))
        writes = (name.endswith("_") and name[0] != "_") or self._kwargs.get("inplace") or "out" in self._kwargs
        return (
            bool(writes) or (name in _DRAWN and redirecting.path_of(self.target) is not None) or self.target in IMPURE
        )

    def format_node(
        self, placeholder_names: list[str] | None = None, maybe_return_typename: object = None
    ) -> str | None:
        """The node as a line of text; None for an output whose type goes into `maybe_return_typename`."""
        start = f"%{self.name} : {f'{naming.type_text(self.type)} ' if self.type else ''}[num_users={len(self.users)}]"
        if self.op == "placeholder":
            if placeholder_names is not None:
                placeholder_names.append(str(self.target))
            default = f"(default={self._args[0]})" if self._args else ""
            return f"{start} = placeholder[target={self.target}]{default}"
        if self.op == "get_attr":
            return f"{start} = get_attr[target={self.target}]"
        if self.op == "output":
            return f"return {self._args[0]}"
        target = self.target if isinstance(self.target, str) else naming.shown_name(self.target)
        return f"{start} = {self.op}[target={target}](args = {shown(self._args)}, kwargs = {shown(self._kwargs)})"
