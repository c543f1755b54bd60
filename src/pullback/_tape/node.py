"""Nodes of the graph, one for each recorded operation, and the hooks on them.

A node knows where cotangents go (`edges`), what its rules need (`saved`, `params`), the shape its own cotangent has,
when it was made (`seq`) and where in the user's code (`code`, `offset`). Edges point at nodes, not tensors: values can
die while the graph lives. A node is made after everything it depends on.
"""

from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Sequence
from sys import _getframe
from types import CodeType
from typing import TYPE_CHECKING, Any, Self

from .._core.halves import pulled_in_bfloat
from .._core.primitives import Primitive
from .._core.sites import Site, outside, user_frame
from .._core.values import require_hook
from .._core.xp import missing

if TYPE_CHECKING:
    from .._core.dtypes import NumpyType
    from .._core.primitives import Function
    from .._core.shapes import Shape
    from .._core.typing import Array, Namespace, Saved, Tensor, Value
    from .._tensor.attributes import Attributes
    from .recording import Tape


count = itertools.count(1)
new = object.__new__


class _Pull:
    """A descriptor that composes a primitive's rules when they are first needed, and replaces itself by the result."""

    def __get__(self, node: Node | None, cls: type[Node]) -> Function:
        pull = cls.primitive.pull
        cls.pull = staticmethod(pull)  # type: ignore[assignment]  # replaces this descriptor
        return pull


class Node:
    """One recorded operation: what `tensor.grad_fn` shows."""

    __slots__ = ("edges", "saved", "params", "shape", "seq", "code", "offset", "hooks", "_metadata", "__weakref__")

    primitive: Primitive
    """The operation; the ends of the graph and the single outputs of a node have none."""
    title = "Node"
    """What the node is called, as torch has it."""
    foreign = False
    """True if its pullback runs the user's code, which may read the mode and the pass; nodes with hooks do, too."""
    edges: tuple[Node | None, ...]
    """For each operand the node that made it; None for a constant. Empty at a leaf."""
    saved: Any
    params: Any
    """The metadata of the operation, as `axis`, in a dict, or None; of a single output of a node its index."""
    shape: Any
    """The shape of the result; None if there are several."""
    seq: int
    """The number of the node: the younger of two has the higher one."""
    code: CodeType
    offset: int
    hooks: Hooks | None
    pull = _Pull()

    def __new__(cls, *args: object) -> Self:
        raise TypeError(f"cannot create '{cls.__name__}' instances: nodes are made by operations on tensors")

    def name(self) -> str:
        """The node's name, as torch spells it."""
        return self.title if self.title[-1].isdigit() else f"torch::autograd::{self.title}"

    @property
    def site(self) -> Site:
        """Where the operation was called."""
        return self.code, self.offset

    @property
    def requires_grad(self) -> bool:
        """Always true: an operation that is not tracked leaves no node."""
        return True

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user's own data on this node."""
        try:
            return self._metadata
        except AttributeError:
            self._metadata: dict[Any, Any] = {}
            return self._metadata

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """For each input that has a derivative, its node and output number; (None, 0) for a constant."""
        return tuple((None, 0) if edge is None else edge.endpoint for edge in self._of_inputs(self.edges))

    def _of_inputs(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """From one value for each edge, those whose input has a derivative."""
        rules = self.primitive.rules
        if not rules:
            return tuple(values)
        return tuple(value for value, rule in zip(values, rules, strict=True) if rule is not None)

    @property
    def endpoint(self) -> tuple[Node, int]:
        """The node and the output number that an edge to this node refers to."""
        return self, 0

    def _sequence_nr(self) -> int:
        return self.seq

    def __call__(self, *cotangents: Tensor) -> Tensor | tuple[Tensor | None, ...] | None:
        """The cotangents of the inputs from those of the outputs: a tensor for one input, else a tuple."""
        count = len(self.params["shapes"]) if "shapes" in (self.params or ()) else 1
        if len(cotangents) != count:
            raise TypeError(
                f"expected {count} arguments, got {len(cotangents)} instead: one for each output of {self.title}"
            )
        for place, g in enumerate(cotangents):
            if not hasattr(g, "interpreter"):
                raise TypeError(f"argument {place} is not a Variable: {self.title} was called with {type(g).__name__}")
        results = self._of_inputs(cotangents[0].interpreter.run(self, cotangents))
        return results[0] if len(results) == 1 else results

    def register_hook(self, hook: Function) -> RemovableHandle:
        """Call `hook(grad_inputs, grad_outputs)` after this node has run; a tuple it returns replaces grad_inputs."""
        require_hook("register_hook", hook, "grad_inputs, grad_outputs")
        return hooks_of(self).add("post", hook)

    def register_prehook(self, hook: Function) -> RemovableHandle:
        """Call `hook(grad_outputs)` before this node runs; a tuple it returns replaces grad_outputs."""
        require_hook("register_prehook", hook, "grad_outputs")
        return hooks_of(self).add("pre", hook)

    def _kept(self, name: str, *, raw: bool) -> Any:
        """The value saved under a name of the rules, or a tuple of values for a variadic name."""
        tape, kept = tape_of(self), self.primitive.kept(len(self.edges))
        found = tuple(tape.kept(self, place, raw=raw) for place, (other, _) in enumerate(kept) if other == name)
        return found[0] if self.primitive.starred(name) == name else found

    def __repr__(self) -> str:
        return f"<{self.title} object at {id(self):#x}>"


SAVED_NAMES = {"x": "self", "a": "self", "b": "other", "y": "result"}


def tape_of(node: Node) -> Tape:
    """The tape on which a node is recorded, found by way of a leaf."""
    while not isinstance(node, AccumulateGrad):
        node = next(edge for edge in node.edges if edge is not None)
    return node.tape


_classes: dict[
    tuple[Primitive, str, bool, bool], type[Node]
] = {}  # beside the cache, whose function two threads may call at the same time


@functools.cache
def node_class(primitive: Primitive, title: str, conjugated: bool = False, *, rounded: bool = False) -> type[Node]:
    """The class of nodes of one primitive under one of torch's names; `conjugated` for complex numbers, `rounded` for bfloat16."""
    members: dict[str, Any] = {"__slots__": (), "primitive": primitive, "title": title, **_shown(primitive)}
    if conjugated and primitive.complex == "refused":
        raise NotImplementedError(f"{primitive.short_name} has no derivative for complex numbers here")
    if conjugated and primitive.complex == "holomorphic":
        members["pull"] = staticmethod(functools.partial(_conjugated_pull, primitive))
    if rounded:
        members["pull"] = staticmethod(functools.partial(pulled_in_bfloat, primitive))
    return _classes.setdefault((primitive, title, conjugated, rounded), type(title, (Node,), members))


def _shown(primitive: Primitive) -> dict[str, property]:
    """Properties `_saved_self`, `_saved_result`, ...: saved values by torch's names; `_raw_saved_...` are their handles.

    Properties, since a `__getattr__` would slow down every look at a node, which are most of what a pass does.
    """
    members: dict[str, property] = {}
    for function in (primitive.forward, primitive.joint, *primitive.rules):
        if (code := getattr(getattr(function, "__wrapped__", function), "__code__", None)) is not None:
            for name in code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]:
                members[f"_saved_{name}"] = property(functools.partial(_metadata, name))
    for name in primitive.saved:
        shown = SAVED_NAMES.get(name, name)
        members[f"_saved_{shown}"] = property(functools.partial(Node._kept, name=name, raw=False))
        members[f"_raw_saved_{shown}"] = property(functools.partial(Node._kept, name=name, raw=True))
    return members


def _metadata(name: str, node: Node) -> Any:
    if node.params is None or name not in node.params:
        raise AttributeError(f"{node.title!r} object has no attribute '_saved_{name}'")
    return node.params[name]


def _conjugated_pull(
    primitive: Primitive,
    xp: Namespace,
    g: Value | list[Value],
    edges: Sequence[Node | None],
    saved: Sequence[Saved | None],
    params: Any,
) -> Sequence[Value | None]:
    """torch's convention for a holomorphic operation: the cotangent is conjugated before and after the rule."""
    g = list(map(xp.conj, g)) if type(g) is list else xp.conj(g)
    return [None if r is None else xp.conj(r) for r in primitive.pull(xp, g, edges, saved, params)]


def make(cls: type[Node], edges: tuple[Node | None, ...], saved: Any, params: Any, shape: Shape | None) -> Any:
    """A new node of a class, with its sequence number and the user's line."""
    node: Any = new(cls)
    node.edges = edges
    node.saved = saved
    node.params = params
    node.shape = shape
    node.seq = next(count)
    node.hooks = None
    frame = _getframe(2)
    code = frame.f_code
    if code.co_filename not in outside:
        frame = user_frame(frame)
        code = frame.f_code
    node.code = code
    node.offset = frame.f_lasti
    return node


class Output(Node):
    """One output of a node with several outputs."""

    __slots__ = ()

    @property
    def endpoint(self) -> tuple[Node, int]:
        """The node with several outputs, and the index of this one."""
        assert self.edges[0] is not None
        return self.edges[0], self.params

    @staticmethod
    def pull(
        xp: Namespace, g: Value, edges: Sequence[Node | None], saved: Sequence[Saved | None], params: Any
    ) -> Sequence[Parts]:
        """The cotangent, labeled with the index of its output."""
        return (Parts({params: g}),)


def outputs(node: Node, shapes: Sequence[tuple[int, ...]]) -> list[Output]:
    """The outputs of a node, each of which receives one cotangent; their line is the node's."""
    node.params = {**node.params, "shapes": shapes}
    edges, code, offset, found = (node,), node.code, node.offset, []
    for index, shape in enumerate(shapes):
        output: Output = new(Output)
        output.edges, output.saved, output.params, output.shape = edges, (), index, shape
        output.seq, output.hooks, output.code, output.offset = next(count), None, code, offset
        found.append(output)
    return found


class Parts(dict[int, Any]):
    """The cotangents of a node with several outputs that have arrived so far, by the index of the output."""

    shape = None

    def __add__(self, other: Parts) -> Parts:
        both = Parts(self)
        for index, g in other.items():
            both[index] = both[index] + g if index in both else g
        return both

    def filled(self, shapes: Sequence[tuple[int, ...]]) -> list[Any]:
        """One cotangent for each output; `missing` ones, which are zeros, for outputs that received none."""
        like = next(iter(self.values()))
        return [self[i] if i in self else missing(shape, like=like) for i, shape in enumerate(shapes)]


class AccumulateGrad(Node):
    """The end of the graph at a leaf: where a gradient is added to `.grad`."""

    __slots__ = ("array", "grad", "grad_dtype", "post", "tape", "tensor")

    title = "AccumulateGrad"
    array: Array
    grad: Tensor | None
    grad_dtype: NumpyType | None
    tensor: weakref.ref[Any]
    post: list[list[Function]]
    tape: Tape

    @property
    def next_functions(self) -> tuple[()]:
        """Always empty: a leaf has no inputs."""
        return ()

    @property
    def variable(self) -> Tensor:
        """The leaf tensor itself; a new handle on it when the program has dropped its own."""
        tensor = self.tensor()
        if tensor is None:
            tensor = self.tape.wrap(self.array, self)
            self.tensor = weakref.ref(tensor)
        return tensor


class Succeeded(AccumulateGrad):
    """What has been the end of the graph at a leaf whose axes were changed in place: gradients go on to the leaf's new node."""

    __slots__ = ()

    primitive = Primitive("succeeded", "linear", lambda x: x, ("x",), (lambda xp, g: g,))

    @property
    def variable(self) -> Tensor:
        """The leaf, with its axes of today."""
        way = self.edges[0]
        assert way is not None
        while way.edges:
            assert way.edges[0] is not None
            way = way.edges[0]
        assert isinstance(way, AccumulateGrad)
        return way.variable


def leaf(tensor: Attributes, array: Array) -> AccumulateGrad:
    """The node that ends the graph at a tensor."""
    node: AccumulateGrad = make(AccumulateGrad, (), (), None, array.shape)
    node.array = array
    node.grad = None
    node.grad_dtype = array.dtype
    node.tensor = weakref.ref(tensor)
    node.post = []
    node.tape = tensor.interpreter
    return node


def leaf_of(tensor: Attributes) -> AccumulateGrad | None:
    """The node that holds the gradient of a leaf, or of a tensor that has been one; None for others."""
    return tensor._node if isinstance(tensor._node, AccumulateGrad) else tensor._leaf


def grad_of(tensor: Attributes) -> Tensor | None:
    """The gradient that a tensor has, without the warning of `.grad`."""
    leaf = leaf_of(tensor)
    return tensor._kept_grad if leaf is None else leaf.grad


class RemovableHandle:
    """The handle returned when a hook is registered: `remove()`, or the end of a `with` block, removes the hook."""

    def __init__(self, hooks: list[list[Function]], hook: Function) -> None:
        self._hooks = hooks
        self._entry = [hook]
        hooks.append(self._entry)

    def remove(self) -> None:
        """Remove the hook; a second call does nothing."""
        for i, entry in enumerate(self._hooks):
            if entry is self._entry:
                del self._hooks[i]
                return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class Hooks:
    """The hooks of a node: on the tensor that it computes, before it runs, after it has run; and the tensor that retains its grad."""

    __slots__ = ("tensor", "pre", "post", "retained")

    def __init__(self) -> None:
        self.tensor: list[Any] = []
        self.pre: list[Any] = []
        self.post: list[Any] = []
        self.retained: weakref.ref[Any] | None = None

    def add(self, kind: str, hook: Function) -> RemovableHandle:
        """Register a hook in one of the lists, and return its handle."""
        return RemovableHandle(getattr(self, kind), hook)

    def before(self, g: Tensor) -> Tensor:
        """A gradient after the tensor hooks."""
        for (hook,) in list(self.tensor):
            g = _replacement(hook, hook(g), g)
        return g

    def run(self, kind: str, values: Sequence[Tensor | None], *rest: object) -> Sequence[Tensor | None]:
        """A tuple of gradients after the hooks on the node."""
        for (hook,) in list(getattr(self, kind)):
            answer = hook(tuple(values), *rest)
            if answer is None:
                continue
            if not isinstance(answer, tuple):
                raise TypeError(
                    f"expected tuple, but hook returned '{type(answer).__name__}': a node hook returns None or a tuple"
                )
            if len(answer) != len(values):
                raise RuntimeError(
                    f"hook '{_hook_name(hook)}' has returned an incorrect number of values "
                    f"(got {len(answer)}, but expected {len(values)})"
                )
            values = answer
        return values


def _hook_name(hook: Function) -> str:
    return getattr(hook, "__name__", repr(hook))


def _replacement(hook: Function, answer: Any, given: Tensor) -> Tensor:
    """The result of a tensor hook, checked to be like the gradient that it was given."""
    if answer is None:
        return given
    if not isinstance(answer, type(given)):
        raise TypeError(
            f"expected Variable, but hook returned '{type(answer).__name__}': the hook {_hook_name(hook)!r} must return "
            "None or a tensor"
        )
    if answer.shape != given.shape:
        raise RuntimeError(
            f"hook '{_hook_name(hook)}' has changed the size of value: it was given a gradient of shape "
            f"{tuple(given.shape)} and returned one of shape {tuple(answer.shape)}"
        )
    if answer.dtype != given.dtype:
        raise RuntimeError(
            f"hook '{_hook_name(hook)}' has changed the type of value (was {given.type()} got {answer.type()})"
        )
    return answer


def hooks_of(node: Node) -> Hooks:
    """The hooks of a node, created at the first call."""
    if node.hooks is None:
        node.hooks = Hooks()
    return node.hooks
