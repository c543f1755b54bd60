"""torch.library: operators of one's own, with their derivatives, which `torch.ops` finds by name."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ... import Tensor, no_grad
from ...autograd.function import Function
from ...autograd.graph import increment_version
from ...extend import restoring
from ...utils.trees import flatten, unflatten

if TYPE_CHECKING:
    from ...utils.trees import Structure


Kernel: TypeAlias = Callable[..., object]
DeviceTypes: TypeAlias = str | Sequence[str] | None

OPERATORS: dict[str, CustomOpDef] = {}
"""The operators that the program has defined, by their names: `namespace::name`."""
_EXPLICIT = ("CPU", "cpu", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "")
_NAMES = {Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", type(None): "()"}


class _Call:
    """One call of an operator: how its arguments nest, and its result."""

    def __init__(self, operator: CustomOpDef, structure: Structure) -> None:
        self.operator, self.structure = operator, structure
        self.nested: Any = None

    def sorted(self, answer: object) -> list[object]:
        """The gradients of the arguments, as the operator's formula returns them, one for each leaf."""
        positional, named = self.structure.children
        parts = answer if isinstance(answer, tuple) else (answer,)
        if len(parts) != len(positional.children):
            raise RuntimeError(
                f"{self.operator.name}: its formula returned {len(parts)} gradients for {len(positional.children)} inputs"
            )
        found: list[Any] = []
        for part, structure in zip(parts, positional.children, strict=True):
            found += [None] * structure.leaf_count() if part is None else flatten(part)[0]
        return [*found, *[None] * named.leaf_count()]


class _Applied(Function):
    """A call of an operator whose arguments are leaves, so that lists of tensors have gradients, too."""

    @staticmethod
    def forward(ctx: Any, call: _Call, *leaves: object) -> tuple[object, ...]:
        """The operator's result, computed by its kernel."""
        operator, (args, kwargs) = call.operator, unflatten(call.structure, leaves)
        result = operator.computed(args, kwargs)
        found, call.nested = flatten(result)
        ctx.call = call
        if operator.prepare is not None:
            more = {"keyword_only_inputs": kwargs} if kwargs else {}
            operator.prepare(ctx=ctx, inputs=args, output=result, **more)
        return tuple(found)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[object, ...]:
        """The gradients that the operator's formula gives."""
        operator = ctx.call.operator
        if operator.formula is None:
            raise RuntimeError(
                f"Trying to backward through {operator.name} but no autograd formula was registered. Register one with "
                "register_autograd"
            )
        given = unflatten(ctx.call.nested, gradients)
        answer = operator.formula(ctx, *(given if isinstance(given, tuple) else (given,)))
        return (None, *ctx.call.sorted(answer))


class CustomOpDef:
    """An operator of the program's own: a function that is not recorded, and whose derivative is given by another one.

    Created by `custom_op`; called as the function is.
    """

    def __init__(
        self, name: str, function: Callable[..., Any] | None, mutates_args: Iterable[str] = (), schema: str = ""
    ) -> None:
        if name.count("::") != 1:
            raise ValueError(f"custom_op: a name is 'namespace::name', but got {name!r}")
        self.name, self.function, self.mutated, self._schema = name, function, mutates_args, schema
        self.__name__ = name.partition("::")[2]
        self.__doc__ = getattr(function, "__doc__", None)
        self.whole: Callable[..., Any] | None = None
        self.formula: Callable[..., Any] | None = None
        self.prepare: Callable[..., Any] | None = None
        OPERATORS[name] = self

    @restoring
    def computed(self, args: Sequence[object], kwargs: dict[str, object]) -> Any:
        """The result of the kernel, which is not recorded."""
        assert self.function is not None
        with no_grad():
            return self.function(*args, **kwargs)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """The result, with a derivative if one is registered."""
        if self.whole is not None:
            return self.whole(*args, **kwargs)
        if self.function is None:
            raise NotImplementedError(f"{self.name} has no kernel for the CPU: register one with torch.library.impl")
        bound = inspect.signature(self.function).bind(*args, **kwargs)
        bound.apply_defaults()
        if self.mutated:
            return self._written(bound)
        leaves, structure = flatten((bound.args, bound.kwargs))
        call = _Call(self, structure)
        found = _Applied.apply(call, *leaves)
        return unflatten(call.nested, found)

    def _written(self, bound: inspect.BoundArguments) -> Any:
        """The result of a kernel that writes to its arguments."""
        names = [*bound.arguments] if self.mutated == "unknown" else self.mutated
        written = [leaf for name in names for leaf in flatten(bound.arguments[name])[0] if isinstance(leaf, Tensor)]
        if any(tensor.requires_grad for tensor in written):
            raise RuntimeError(
                f"{self.name} writes to a tensor that requires grad, which operators cannot: use x.detach()"
            )
        result = self.computed(bound.args, bound.kwargs)
        for tensor in written:
            increment_version(tensor)
        return result

    def register_autograd(self, backward: Kernel, /, *, setup_context: Kernel | None = None) -> None:
        """Let `backward(ctx, *gradients)` give the gradients of the inputs; `setup_context` saves what it needs."""
        self.formula, self.prepare = backward, setup_context

    def register_kernel(self, device_types: DeviceTypes, fn: Kernel | None = None, /) -> Any:
        """Let a function compute on devices; those of others than the CPU are not used."""
        return self._registered(fn, "function" if device_types in {None, "cpu"} else None)

    def register_fake(self, fn: Kernel, /) -> Any:
        """The function itself: shapes are known from the operator's results."""
        return fn

    def register_vmap(self, func: Kernel | None = None, /) -> Any:
        """The function itself; `vmap` calls the operator with one example after another."""
        return self._registered(func, None)

    def _registered(self, function: Kernel | None, place: str | None) -> Any:
        if function is None:
            return lambda given: self._registered(given, place)
        if place is not None:
            setattr(self, place, function)
        return function

    @property
    def default(self) -> CustomOpDef:
        """The operator: there are no overloads."""
        return self

    def __repr__(self) -> str:
        return f"<CustomOpDef({self.name})>"


def custom_op(
    name: str,
    fn: Kernel | None = None,
    /,
    *,
    mutates_args: Iterable[str] = (),
    device_types: DeviceTypes = None,
    schema: str | None = None,
    tags: object = None,
) -> Any:
    """A decorator by which a function is an operator, named `namespace::name`: it is not recorded.

    >>> import numpy as np
    >>> import pullback
    >>> from pullback.compat.torch.library import custom_op
    >>> @custom_op("mine::sine", mutates_args=())
    ... def sine(x: pullback.Tensor) -> pullback.Tensor:
    ...     return pullback.from_numpy(np.sin(x.numpy()))
    >>> sine.register_autograd(
    ...     lambda ctx, g: g * ctx.saved_tensors[0].cos(),
    ...     setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    ... )
    >>> x = pullback.tensor([0.0, 1.0], requires_grad=True)
    >>> sine(x).sum().backward()
    >>> x.grad
    tensor([1.0000, 0.5403])
    """
    if fn is None:
        return lambda given: custom_op(name, given, mutates_args=mutates_args, device_types=device_types, schema=schema)
    return CustomOpDef(name, fn if device_types in {None, "cpu"} else None, mutates_args, schema or "")


triton_op = custom_op


def _operator(op: str | CustomOpDef) -> CustomOpDef:
    """An operator, given itself or by its name."""
    if isinstance(op, CustomOpDef):
        return op
    found = OPERATORS.get(str(op).removesuffix(".default"))
    if found is None:
        raise RuntimeError(f"there is no operator {op}: torch.library.custom_op and define make one")
    return found


def register_autograd(
    op: str | CustomOpDef, backward: Kernel, /, *, setup_context: Kernel | None = None, lib: object = None
) -> None:
    """Let `backward(ctx, *gradients)` give the gradients of an operator's inputs."""
    _operator(op).register_autograd(backward, setup_context=setup_context)


def register_kernel(
    op: str | CustomOpDef, device_types: DeviceTypes, func: Kernel | None = None, /, *, lib: object = None
) -> Any:
    """Let a function compute an operator on devices."""
    return _operator(op).register_kernel(device_types, func)


def register_fake(
    op: str | CustomOpDef, func: Kernel | None = None, /, *, lib: object = None, allow_override: bool = False
) -> Any:
    """The function itself: shapes are known from results."""
    return func if func is not None else lambda given: given


register_vmap = impl_abstract = register_fake


def define(qualname: str, schema: str, *, lib: object = None, tags: object = ()) -> None:
    """Name an operator, whose kernels `impl` adds."""
    CustomOpDef(qualname, None, (), schema)


def impl(
    qualname: str | CustomOpDef | Library,
    types: str | Iterable[str] = "",
    func: Kernel | str | None = None,
    *,
    lib: object = None,
) -> Any:
    """Let a function compute an operator: not recorded, or recorded if `types` is a kind of autograd's."""
    if isinstance(qualname, Library):  # the older form: a library, a name, a kind
        library, name, kind = qualname, types, func if isinstance(func, str) else ""
        return lambda given: library.impl(name, given, kind)
    if not callable(func):
        return lambda given: impl(qualname, types, given)
    for kind in (types,) if isinstance(types, str) else types:
        _operator(qualname)._registered(func, _place(kind))
    return func


def _place(kind: str) -> str | None:
    """What a kernel of a kind of dispatch computes: the values, the whole with its derivative, or nothing here."""
    if kind in {"CompositeImplicitAutograd", "Autograd", "AutogradCPU", "default"}:
        return "whole"
    return "function" if kind in _EXPLICIT else None


class Library:
    """Operators of a namespace, which are defined and get their kernels one after the other.

    >>> import pullback
    >>> from pullback.compat.torch.library import Library
    >>> library = Library("mine", "FRAGMENT")
    >>> library.define("twice(Tensor x) -> Tensor")
    'twice'
    >>> _ = library.impl("twice", lambda x: 2 * x, "CompositeImplicitAutograd")
    >>> from pullback.compat.torch.operators import ops
    >>> ops.mine.twice(pullback.ones(2))
    tensor([2., 2.])
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def define(self, schema: str, alias_analysis: str = "", *, tags: object = ()) -> str:
        """Name an operator by its schema; the name."""
        name = schema.partition("(")[0].strip()
        if f"{self.ns}::{name}" not in OPERATORS:
            CustomOpDef(f"{self.ns}::{name}", None, (), schema)
        return name

    def impl(self, op_name: object, fn: Kernel, dispatch_key: str = "", **options: object) -> Any:
        """Let a function compute an operator."""
        return impl(f"{self.ns}::{str(op_name).rpartition('::')[2]}", dispatch_key or self.dispatch_key, fn)


def infer_schema(prototype_function: Kernel, /, *, mutates_args: Iterable[str] = (), op_name: str | None = None) -> str:
    """The schema of a function, by its annotations: `(Tensor x, float scale) -> Tensor`."""
    kinds = typing.get_type_hints(prototype_function)
    result = kinds.pop("return", None)
    written = set(mutates_args)
    parts = [f"{_text(kind)}{'(a!)' if name in written else ''} {name}" for name, kind in kinds.items()]
    return f"{op_name or ''}({', '.join(parts)}) -> {_text(result)}"


def _text(kind: object) -> str:
    """An annotation in the words of schemas."""
    parts = [part for part in typing.get_args(kind) if part is not type(None)]
    if typing.get_origin(kind) in {list, Sequence}:
        return f"{_text(parts[0])}[]"
    if typing.get_origin(kind) is tuple:
        return f"({', '.join(map(_text, parts))})"
    if parts:
        return f"{_text(parts[0])}?"
    return next((name for known, name in _NAMES.items() if isinstance(kind, type) and issubclass(kind, known)), "()")
