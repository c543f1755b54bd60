"""Proxies: values that stand for those of nodes, and record what is done with them."""

from __future__ import annotations

import dis
import enum
import inspect
import operator
import sys
import traceback
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

from .... import device, dtype, layout, memory_format
from .. import redirecting
from .capture import Recorded, appear, found
from .node import Node

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .... import Size
    from ...._core.typing import Function, Tensor
    from .graph import Graph
    from .node import Target


_CONTROL = "symbolically traced variables cannot be used as inputs to control flow"
_ITERATED = (
    "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or **kwargs "
    "function argument. See the torch.fx docs on pytorch.org for a more detailed explanation of what types of control "
    "flow can be traced, and check out the Proxy docstring for help troubleshooting Proxy iteration errors"
)
BASE_TYPES = (
    str, int, float, bool, complex, type(None), type(...), range, dtype, device, layout, memory_format,
)  # fmt: skip


class TraceError(ValueError):
    """The error for a program of which no graph can be recorded."""


class TracerBase:
    """What records nodes in a graph, and turns values into arguments of nodes."""

    graph: Any = None
    record_stack_traces = False
    proxy_buffer_attributes = False
    check_mutable_operations = False
    """Whether functions that write to a tensor are refused."""

    def create_node(
        self,
        kind: str,
        target: Target,
        args: Iterable[object],
        kwargs: Mapping[str, object],
        name: str | None = None,
        type_expr: object = None,
    ) -> Node:
        """Insert a node; subclasses may refuse some, or note more of them.

        Raises
        ------
        RuntimeError
            For a function that writes, if `check_mutable_operations` is set.
        """
        title = getattr(target, "__name__", str(target))
        writes = (title.endswith("_") and not title.endswith("__")) or (kwargs or {}).get("out") is not None
        if self.check_mutable_operations and kind == "call_function" and writes:
            raise RuntimeError(
                f"Tried to trace mutable operation {title}. FX only supports functional code, so operations that mutate "
                "operands in-place (e.g. via `out` arguments) are not supported"
            )
        node: Node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        return node

    def proxy(self, node: Node) -> Proxy:
        """The proxy of a node."""
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Target,
        args: Iterable[object],
        kwargs: Mapping[str, object],
        name: str | None = None,
        type_expr: object = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:
        """Insert a node of these arguments, in which proxies stand for their nodes; its proxy."""
        node = self.create_node(kind, target, self.create_arg(args), self.create_arg(kwargs), name, type_expr)
        if self.record_stack_traces:
            node.stack_trace = "".join(traceback.format_stack())
        return (proxy_factory_fn or self.proxy)(node)

    def create_arg(self, a: object) -> Any:
        """A value as an argument of a node.

        Raises
        ------
        NotImplementedError
            If it is of a type that arguments cannot have.
        """
        if isinstance(a, (tuple, list)):
            parts = map(self.create_arg, a)
            return list(parts) if isinstance(a, list) else type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
        if isinstance(a, dict):
            if found([*a]) is not None:
                raise RuntimeError(f"Keys for dictionaries used as an argument cannot contain a Node. Got keys: {[*a]}")
            return {key: self.create_arg(value) for key, value in a.items()}
        if isinstance(a, slice):
            return slice(*map(self.create_arg, (a.start, a.stop, a.step)))
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, (*BASE_TYPES, Node, enum.Enum, FunctionType, BuiltinFunctionType, type)):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def to_bool(self, obj: Proxy) -> bool:
        """Raises TraceError: what a condition is depends on numbers, which a graph does not have."""
        raise TraceError(_CONTROL)

    def iter(self, obj: Any) -> Iterator[Proxy]:
        """The elements of a proxy that is unpacked to several names; otherwise raises TraceError."""
        frame: Any = sys._getframe(2)
        for each in dis.get_instructions(frame.f_code):
            if each.offset == frame.f_lasti and each.opname == "UNPACK_SEQUENCE":
                return (obj[index] for index in range(each.arg or 0))
        raise TraceError(_ITERATED)


class GraphAppendingTracer(TracerBase):
    """A tracer that inserts nodes in a graph that is there already."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph


class Proxy(Recorded):
    """A value that stands for that of a node: what is done with it is recorded as further nodes.

    >>> from pullback.compat.torch.fx.graph import Graph
    >>> from pullback.compat.torch.fx.proxy import Proxy
    >>> graph = Graph()
    >>> x = Proxy(graph.placeholder("x"))
    >>> graph.output(((x + 1).relu() * 2).node)
    output
    >>> print(graph.python_code("self").src.strip())
    def forward(self, x):
        add = x + 1;  x = None
        relu = add.relu();  add = None
        mul = relu * 2;  relu = None
        return mul
    """

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node
        self._present = appear()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.node.name})"

    def __getattr__(self, name: str) -> Attribute:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return Attribute(self, name)

    def __call__(self, *args: object, **kwargs: object) -> Proxy:
        """The node of a call of the value."""
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Proxy]:
        return self.tracer.iter(self)

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
            "torch.fx.wrap('len') at module scope"
        )

    def __contains__(self, value: object) -> bool:
        return self.tracer.to_bool(self)

    @classmethod
    def __torch_function__(
        cls,
        orig_method: Function,
        types: object,
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> Proxy:
        """The proxy of a call of a function of torch with proxies among its arguments."""
        proxy: Any = found((args, kwargs))
        return proxy.tracer.create_proxy("call_function", orig_method, *_as_recorded(orig_method, args, kwargs or {}))


def _as_recorded(
    function: Function, args: Any, kwargs: Mapping[str, object]
) -> tuple[Iterable[object], Mapping[str, object]]:
    """The arguments of a call as torch records them: of functions of layers and losses, all, by name if they have defaults."""
    path = redirecting.path_of(function) or ""
    if path == "torch.einsum" and len(args) == 2 and isinstance(args[1], (tuple, list)):
        return (args[0], *args[1]), kwargs
    if not path.startswith("torch.nn.functional.") or function.__name__ in redirecting.NATIVE or path.endswith("_"):
        return args, kwargs
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    needed = [name for name, each in bound.signature.parameters.items() if each.default is each.empty]
    return [bound.arguments.pop(name) for name in needed], bound.arguments


class Attribute(Proxy):
    """An attribute of a proxy: a node of its own only where it is used otherwise than as a method."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None
        self._present = root._present

    @property
    def node(self) -> Node:  # type: ignore[override]  # made when it is needed
        """The node that fetches the attribute."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: object, **kwargs: object) -> Proxy:
        """The node of a call of the method."""
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """The proxy of a parameter, whose shape is known, and part of the graph as numbers."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Tensor) -> None:
        super().__init__(node, tracer)
        self.param, self.name = param, name

    @property
    def shape(self) -> Size:
        """The shape of the parameter."""
        return self.param.shape

    def size(self, *args: int) -> int | Size:
        """The size of the parameter along an axis, or its shape."""
        return self.param.size(*args)

    def dim(self) -> int:
        """The number of axes of the parameter."""
        return int(self.param.dim())

    def numel(self) -> int:
        """The number of elements of the parameter."""
        return int(self.param.numel())

    ndim = property(dim)


def _operator(name: str, *, swapped: bool = False) -> Callable[..., Proxy]:
    """A method that records an operator."""
    target = getattr(operator, name)

    def method(self: Proxy, *others: object) -> Proxy:
        return self.tracer.create_proxy("call_function", target, (*others, self) if swapped else (self, *others), {})

    return method


for _name in "add sub mul matmul floordiv truediv mod pow lshift rshift and_ or_ xor".split():
    setattr(Proxy, f"__{_name.rstrip('_')}__", _operator(_name))
    setattr(Proxy, f"__r{_name.rstrip('_')}__", _operator(_name, swapped=True))
for _name in "getitem eq ne lt le gt ge pos neg invert abs".split():
    setattr(Proxy, f"__{_name}__", _operator(_name))
