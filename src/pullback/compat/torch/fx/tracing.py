"""Tracer: the graph of a function or a module, from one call of it with proxies."""

from __future__ import annotations

import functools
import inspect
import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from .... import Tensor
from ....extend import warn
from ....nn.modules.container import Sequential
from ....nn.modules.module import Module
from ....nn.parameter import Parameter
from ..top import _assert
from .capture import tracing, wrap as wrap
from .graph import Graph
from .graph_module import GraphModule
from .proxy import ParameterProxy, Proxy, TraceError, TracerBase

if TYPE_CHECKING:
    from ...._core.typing import Function, Returned


class _Placeholder:
    """torch.fx.PH: stands for an input in the containers of `concrete_args`."""

    def __repr__(self) -> str:
        return "PH"


PH = _Placeholder()


def _assert_is_none(value: object, msg: str) -> None:
    assert value is None, msg  # what graphs check of arguments that were fixed


class Tracer(TracerBase):
    """Records the graph of a function or a module; subclasses choose which modules are single steps of it.

    >>> from pullback import nn
    >>> from pullback.compat.torch.fx.tracing import Tracer
    >>> print(Tracer().trace(nn.Sequential(nn.Linear(2, 3), nn.ReLU())))
    graph():
        %input_1 : [num_users=1] = placeholder[target=input]
        %_0 : [num_users=1] = call_module[target=0](args = (%input_1,), kwargs = {})
        %_1 : [num_users=1] = call_module[target=1](args = (%_0,), kwargs = {})
        return _1
    """

    _autowrap_search: tuple[Any, ...] = ()  # for the traces of others: see `patches`
    _autowrap_function_ids: frozenset[int] = frozenset()

    def __init__(
        self,
        autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        self.autowrap_modules, self.autowrap_functions = autowrap_modules, autowrap_functions
        self.param_shapes_constant = param_shapes_constant
        self._scope: dict[str, Any] = {}
        self.root: Any = None
        self.parameter_proxy_cache: dict[str, Proxy] = {}

    # What subclasses override

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """True for a module whose call is one step of the graph: by default the layers of pullback, not containers."""
        ours = str(m.__module__).startswith(("pullback.nn", "torch.nn"))
        return ours and not isinstance(m, Sequential)

    def path_of_module(self, mod: Module) -> str:
        """The path of a module in the traced one; NameError if it is not there."""
        name = _name_of(mod, self.root.named_modules())
        if name is None:
            raise NameError("module is not installed as a submodule")
        return name

    def call_module(
        self, m: Module, forward: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object]
    ) -> Any:
        """What a call of a module gives: the proxy of one step, or what its `forward` records."""
        path = self.path_of_module(m)
        if self.is_leaf_module(m, path):
            return self.create_proxy("call_module", path, args, kwargs)
        return forward(*args, **kwargs)

    def getattr(self, attr: str, attr_val: object, parameter_proxy_cache: dict[str, Proxy]) -> object:
        """What fetching an attribute of a module gives: for a parameter, a proxy of it."""
        if isinstance(attr_val, Parameter):
            members = self.root.named_parameters()
        elif self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            members = self.root.named_buffers()
        else:
            return attr_val
        name = _name_of(attr_val, members)
        if name is None:
            return attr_val
        if name not in parameter_proxy_cache:
            shaped = isinstance(attr_val, Parameter) and self.param_shapes_constant
            made = (lambda node: ParameterProxy(self, node, name, attr_val)) if shaped else None
            parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {}, proxy_factory_fn=made)
        return parameter_proxy_cache[name]

    def create_arg(self, a: object) -> Any:
        """A value as an argument of a node: a tensor is an attribute of the module, and becomes one if it is not."""
        if isinstance(a, Parameter):
            name = _name_of(a, self.root.named_parameters())
            if name is None:
                raise NameError("parameter is not a member of this module")
            return self.create_node("get_attr", name, (), {})
        if isinstance(a, Tensor):
            name = _name_of(a, self.root.named_buffers()) or self.tensor_attrs.get(a)
            if name is None:
                names = (f"_tensor_constant{index}" for index in itertools.count())
                name = self.tensor_attrs[a] = next(each for each in names if not hasattr(self.root, each))
                setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple(map(self.create_arg, a)), {})
        if isinstance(a, Module):
            return self.create_node("get_attr", self.path_of_module(a), (), {})
        return super().create_arg(a)

    # Tracing

    def trace(self, root: Module | Function, concrete_args: Mapping[str, object] | None = None) -> Graph:
        """The graph of a module or a function; `concrete_args` fixes inputs to values, which the graph checks.

        Raises
        ------
        TraceError
            If what is called depends on values.
        """
        function = type(root).forward if isinstance(root, Module) else root
        self.root = root if isinstance(root, Module) else Module()
        self.graph = graph = Graph(tracer_cls=type(self))
        self.parameter_proxy_cache = {}
        self.tensor_attrs = {
            value: f"{path}.{name}" if path else name
            for path, module in self.root.named_modules()
            for name, value in vars(module).items()
            if isinstance(value, Tensor)
        }
        self._scope = getattr(inspect.unwrap(function), "__globals__", {})
        called, args = self.create_args_for_root(function, isinstance(root, Module), concrete_args)
        with tracing(self):
            result = self.create_arg(called(*args))
        kind = _kind(inspect.signature(function).return_annotation)
        self.create_node("output", "output", (result,), {}, type_expr=kind)
        return graph

    def create_args_for_root(
        self, root_fn: Function, is_module: bool, concrete_args: Mapping[str, object] | None = None
    ) -> tuple[Function, list[object]]:
        """A function, and the proxies with which it is to be called."""
        args: list[Any] = [self.root] if is_module else []
        named: dict[str, Any] = {}
        fixed, starred = 0, False
        for each in list(inspect.signature(root_fn).parameters.values())[is_module:]:
            stars = "*" * ((each.kind is each.VAR_POSITIONAL) + 2 * (each.kind is each.VAR_KEYWORD))
            starred = starred or bool(stars)
            if concrete_args and each.name in concrete_args:
                fixed += 1
                value = self._fixed(each.name, f"{each.name}_{fixed}", concrete_args[each.name])
            else:
                default = () if each.default is each.empty else (each.default,)
                kind = None if stars else _kind(each.annotation)
                value = self.create_proxy("placeholder", f"{stars}{each.name}", default, {}, type_expr=kind)
            if each.kind is each.KEYWORD_ONLY:
                named[each.name] = value
            else:
                args.append(value)
        if not starred:
            return functools.partial(root_fn, **named) if named else root_fn, args
        if not isinstance(root_fn, FunctionType) or hasattr(root_fn, "__wrapped__"):
            raise TraceError(f"{root_fn} has *args or **kwargs and is wrapped: trace the function inside")
        count = root_fn.__code__.co_argcount
        return _without_stars(root_fn), [*args[:count], *named.values(), *args[count:]]

    def _fixed(self, name: str, placeholder: str, value: Returned) -> Returned:
        """The value to which an input is fixed, which the graph checks where it can."""
        if value is PH or (isinstance(value, (tuple, list, dict)) and "PH" in repr(value)):
            raise NotImplementedError("torch.fx.PH is not in pullback: trace a function that builds the containers")
        proxy = self.create_proxy("placeholder", placeholder, (), {})
        text = f"{name} has been specialized to have value {value} but got another value"
        if value is None:
            self.create_proxy("call_function", _assert_is_none, (proxy, text), {})
        elif type(value) in (bool, int, float, str):
            self.create_proxy("call_function", _assert, (proxy == value, text), {})
        else:
            warn(
                f"Was not able to add assertion to guarantee correct input {name} to specialized function. It is up to "
                "the user to make sure that your inputs match the inputs you specialized the function with."
            )
        return value


def _name_of(value: object, members: Iterable[tuple[str, object]]) -> str | None:
    """The name of a member of a module; None if it is not there."""
    return next((name for name, member in members if member is value), None)


def _without_stars(function: FunctionType) -> FunctionType:
    """A function whose `*args` and `**kwargs` are parameters as others: each is given one proxy."""
    code: CodeType = function.__code__
    stars = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    count = code.co_argcount + code.co_kwonlyargcount + stars.bit_count()
    code = code.replace(co_flags=code.co_flags ^ stars, co_argcount=count, co_kwonlyargcount=0, co_posonlyargcount=0)
    return FunctionType(code, function.__globals__, function.__name__, None, function.__closure__)


def _kind(annotation: object) -> object:
    """The type that an annotation names; None for no annotation, and for text."""
    return None if annotation is inspect.Parameter.empty or isinstance(annotation, str) else annotation


def symbolic_trace(root: Module | Function, concrete_args: Mapping[str, object] | None = None) -> GraphModule:
    """A module whose `forward` is the graph of a module or a function, as code that can be read and changed.

    >>> from pullback.compat.torch.fx.tracing import symbolic_trace
    >>> traced = symbolic_trace(lambda x, y: (x + y) * 2)
    >>> print(traced.code.strip())
    def forward(self, x, y):
        add = x + y;  x = y = None
        mul = add * 2;  add = None
        return mul
    >>> traced(1, 2)
    6
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else getattr(root, "__name__", type(root).__name__)
    return GraphModule(tracer.root, graph, name)
