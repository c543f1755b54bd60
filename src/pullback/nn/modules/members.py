"""The members of a module: parameters, buffers and submodules, registered when assigned, and looked up by name.

Each kind has a dictionary of its own, in the order of registration. A name is in one of them, or an ordinary attribute.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..._core.package import package
from ..._core.primitives import Carrier
from ..._tensor.tensor import Tensor
from ..parameter import Buffer, Parameter

if TYPE_CHECKING:
    from .module import Module

Member = TypeVar("Member", bound=Tensor)
PLACES = ("_parameters", "_buffers", "_modules")
NOUNS = {"_parameters": "parameter", "_buffers": "buffer", "_modules": "module"}

HOOKS = (
    "_backward_pre_hooks", "_backward_hooks", "_forward_hooks", "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called", "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs", "_state_dict_hooks",
    "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
)  # fmt: skip


REGISTRATION: dict[str, dict[int, Callable[[Any, str, Any], Any]]] = {place: OrderedDict() for place in PLACES}
"""Global hooks on registration; a result other than None is registered instead."""


def _admitted(place: str, module: Members, name: str, value: Any) -> Any:
    for hook in REGISTRATION[place].values():
        answer = hook(module, name, value)
        value = value if answer is None else answer
    return value


_FIRST = ": write super().__init__() before self.{} = ..."


def _way_to_module(value: object) -> str:
    """How to make a module of what is given in the place of one, after a colon; an empty string if that is unknown."""
    if isinstance(value, type):
        return f": make one, {value.__name__}()"
    if isinstance(value, (list, tuple)):
        return ": pass layers one by one, nn.Sequential(*layers)"
    return ": use the module of its name, nn.ReLU() for F.relu" if callable(value) else ""


def _update(name: str, value: object) -> str:
    """What to write where a tensor is assigned to a parameter: a change of its numbers, or a new parameter."""
    if not isinstance(value, Carrier):
        return ""
    if value._node is not None or value._cut is not None:
        return f": to change its numbers write with {package}.no_grad(): m.{name}.copy_(value), or m.{name} -= step"
    return f": write m.{name} = {package}.nn.Parameter(value)"


def type_name(value: object) -> str:
    """The qualified name of a value's type, as in torch's errors."""
    if isinstance(value, Carrier):
        return str(value.type())
    cls = type(value)
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


class Members:
    """A module as the owner of parameters, buffers and submodules."""

    _version: int = 1
    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]  # a name may be reserved by None
    _non_persistent_buffers_set: set[str]

    def __init__(self, *args: object, **kwargs: object) -> None:
        name = type(self).__name__
        if kwargs:
            raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'")
        if args:
            raise TypeError(f"{name}.__init__() takes 1 positional argument but {len(args) + 1} were given")
        self._begin()

    def _begin(self) -> None:
        """Initialize without members and hooks."""
        members = self.__dict__
        members["training"] = True
        for place in PLACES:
            members[place] = {}
        members["_non_persistent_buffers_set"] = set()
        members["_is_full_backward_hook"] = None
        for hooks in HOOKS:
            members[hooks] = OrderedDict()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled state; attributes that an older one lacks are empty."""
        self._begin()
        self.__dict__.update(state)

    # Attributes

    def __getattr__(self, name: str) -> Any:
        members = self.__dict__
        for place in PLACES:
            found = members.get(place)
            if found is not None and name in found:
                return found[name]
        kind = type(self).__name__
        fix = "" if "_modules" in members else ": call super().__init__() first in its __init__"
        if not fix and not name.startswith("_") and hasattr(Tensor, name):
            fix = f": tensors have it, and this is a module, which gives one when it is called, {kind}(...)(x)"
            if name in {"device", "dtype"}:
                fix = f": its parameters have one each, next(model.parameters()).{name}"
        raise AttributeError(f"{kind!r} object has no attribute {name!r}{fix}")

    def __setattr__(self, name: str, value: object) -> None:
        members = self.__dict__
        if isinstance(value, Parameter):
            if "_parameters" not in members:
                raise AttributeError(f"cannot assign parameters before Module.__init__() call{_FIRST.format(name)}")
            self._free(name, "_parameters")
            self.register_parameter(name, value)
        elif name in members.get("_parameters", ()):
            self._parameters[name] = self._empty(
                value, f"parameter '{name}' (torch.nn.Parameter or None expected){_update(name, value)}"
            )
        elif isinstance(value, Members):
            if "_modules" not in members:
                raise AttributeError(f"cannot assign module before Module.__init__() call{_FIRST.format(name)}")
            self._free(name, "_modules")
            self._modules[name] = _admitted("_modules", self, name, value)
        elif name in members.get("_modules", ()):
            self._empty(value, f"child module '{name}' (torch.nn.Module or None expected)")
            self._modules[name] = _admitted("_modules", self, name, None)
        elif isinstance(value, Buffer):
            if "_buffers" in members:
                self._free(name, "_buffers")
            self.register_buffer(name, value, getattr(value, "persistent", True))
        elif name in members.get("_buffers", ()):
            if not isinstance(value, Carrier):
                self._empty(value, f"buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)")
            self._buffers[name] = _admitted("_buffers", self, name, value)
        else:
            object.__setattr__(self, name, value)

    @staticmethod
    def _empty(value: object, expected: str) -> None:
        """None, the only value that a registered name accepts besides those of its kind."""
        if value is not None:
            raise TypeError(f"cannot assign '{type_name(value)}' as {expected}")

    def _free(self, name: str, kept: str) -> None:
        """Remove a name from all other kinds of member, and attributes; among its own kind it keeps its position."""
        for place in PLACES:
            if place != kept:
                self.__dict__[place].pop(name, None)
        self.__dict__.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __delattr__(self, name: str) -> None:
        for place in PLACES:
            if name in self.__dict__.get(place, ()):
                del self.__dict__[place][name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = {*dir(type(self)), *self.__dict__, *(name for place in PLACES for name in self.__dict__[place])}
        return sorted(name for name in names if not name[:1].isdigit())

    # Registration

    def _check_name(self, place: str, name: object) -> None:
        noun = NOUNS[place]
        if not isinstance(name, str):
            raise TypeError(f"{noun} name should be a string. Got {type_name(name)}")
        if hasattr(self, name) and name not in self.__dict__[place]:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'{noun} name can\'t contain "."' + (f", got: {name}" if noun == "module" else ""))
        if not name:
            raise KeyError(f'{noun} name can\'t be empty string ""')

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under a name; None reserves the name.

        Raises
        ------
        AttributeError
            Before `Module.__init__`.
        TypeError
            If `param` is not a Parameter, or the name not a string.
        KeyError
            If the name is taken, empty, or has a dot.
        ValueError
            If the parameter is the result of a recorded operation.
        """
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call: call super().__init__() first")
        self._check_name("_parameters", name)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type_name(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To "
                f"express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = None if param is None else _admitted("_parameters", self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is state, but not a parameter; `state_dict` omits those that are not persistent.

        Raises
        ------
        AttributeError
            Before `Module.__init__`.
        TypeError
            If `tensor` is not a tensor, or the name not a string.
        KeyError
            If the name is taken, empty, or has a dot.
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call: call super().__init__() first")
        self._check_name("_buffers", name)
        if tensor is not None and not isinstance(tensor, Carrier):
            raise TypeError(
                f"cannot assign '{type_name(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = _admitted("_buffers", self, name, tensor)
        change = self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add
        change(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a submodule under a name; None reserves the name.

        Raises
        ------
        TypeError
            If `module` is not a module, or the name not a string.
        KeyError
            If the name is taken, empty, or has a dot.
        """
        if module is not None and not isinstance(module, Members):
            raise TypeError(f"{type_name(module)} is not a Module subclass{_way_to_module(module)}")
        self._check_name("_modules", name)
        self._modules[name] = _admitted("_modules", self, name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """`add_module` under another name."""
        self.add_module(name, module)

    # Paths, such as encoder.layers.0.weight

    def get_submodule(self, target: str) -> Module:
        """The submodule at a path, such as 'layers.0'; the module itself for ''.

        Raises
        ------
        AttributeError
            If nothing is at the path, or not a module.
        """
        module: Any = self
        for name in target.split(".") if target else ():
            module = module._member(name, Members, f"`{name}` is not an nn.Module")
        return module

    def _member(self, name: str, kind: type, refusal: str) -> Any:
        if not hasattr(self, name):
            raise AttributeError(f"{type(self).__name__} has no attribute `{name}`")
        found = getattr(self, name)
        if not isinstance(found, kind):
            raise AttributeError(refusal)
        return found

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a path, such as 'layers.0.weight'.

        Raises
        ------
        AttributeError
            If nothing is at the path, or not a parameter.
        """
        path, _, name = target.rpartition(".")
        return self.get_submodule(path)._member(name, Parameter, f"`{name}` is not an nn.Parameter")

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path, such as 'layers.1.running_mean'.

        Raises
        ------
        AttributeError
            If nothing is at the path, or not a buffer.
        """
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        found = owner._member(name, object, "")
        if name not in owner._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Set the submodule at a path; with `strict`, only if there is one already.

        Raises
        ------
        ValueError
            If the path is empty, or `module` is not a module.
        AttributeError
            If the parent is missing, or the object at the path is not a module.
        """
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Members):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if strict or hasattr(owner, name):
            owner._member(name, Members, f"`{name}` is not an nn.Module")
        setattr(owner, name, module)

    # Traversal

    def _named_members(
        self,
        get_members_fn: Callable[[Members], Iterable[tuple[str, Member | None]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Member]]:
        """The members of each module with their paths; each object once, unless `remove_duplicate` is False."""
        seen: set[int] = set()
        walk = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in walk:
            for name, member in get_members_fn(module):
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield f"{path}.{name}" if path else name, member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters with their paths, each once even if it has several; the module's own before the submodules'."""
        yield from self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters of this module and, with `recurse`, of all below it."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers with their paths, each once even if it has several."""
        yield from self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers of this module and, with `recurse`, of all below it."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The direct submodules with their names, each once."""
        seen: set[int] = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self) -> Iterator[Module]:
        """The direct submodules."""
        for _, module in self.named_children():
            yield module

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all below it, with their paths, each once even if it has several."""
        seen = set() if memo is None else memo
        module = cast("Module", self)  # nothing else is made of these parts
        if module in seen:
            return
        if remove_duplicate:
            seen.add(module)
        yield prefix, module
        for name, module in self._modules.items():
            if module is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(seen, path, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """This module and all below it, each once."""
        for _, module in self.named_modules():
            yield module
