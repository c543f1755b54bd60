"""Modules that hold others, or parameters: Sequential, lists and dictionaries."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, Sized, ValuesView
from itertools import chain, groupby
from typing import Any, NoReturn, Protocol, Self, SupportsIndex, TypeAlias, TypeVar, overload

from ..._core.primitives import Carrier
from ..._tensor.tensor import Tensor
from ..parameter import Parameter
from .members import type_name
from .module import Module, indented

Value = TypeVar("Value")
Held_co = TypeVar("Held_co", covariant=True)


class Items(Protocol[Held_co]):
    """Values by name: a dictionary, or a module that is like one."""

    def items(self) -> Iterable[tuple[str, Held_co]]:
        """The names with their values."""


Named: TypeAlias = Items[Value] | Iterable[tuple[str, Value]]
"""Values by name, as `dict` takes them."""


def _place(index: SupportsIndex, container: Sized) -> int:
    """A nonnegative index of a container."""
    place, length = operator.index(index), len(container)
    if not -length <= place < length:
        raise IndexError(f"index {place} is out of range for a {type(container).__name__} of length {length}")
    return place % length


class _Numbered(Module):
    """Modules in a sequence: the list methods that Sequential and ModuleList share."""

    def _renumber(self, modules: Iterable[Module]) -> None:
        """Replace the modules by these, numbered from 0."""
        self._modules = {str(place): module for place, module in enumerate(modules)}

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, list(self._modules)[_place(idx, self)], module)

    def __delitem__(self, idx: int | slice) -> None:
        modules = list(self)
        del modules[idx if isinstance(idx, slice) else _place(idx, self)]
        self._renumber(modules)

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"{type(self).__name__}.extend should be called with an iterable, but got {type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Add a module before the one at an index."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}, got {type_name(module)}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}, of {len(self)} modules")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    @overload
    def __getitem__(self, idx: int) -> Module: ...

    @overload
    def __getitem__(self, idx: slice) -> Self: ...

    def __getitem__(self, idx: int | slice) -> Module | Self:
        return self._part(idx) if isinstance(idx, slice) else self._item(idx)

    def _item(self, idx: int) -> Module:
        """The module at an index."""
        return list(self)[_place(idx, self)]

    def _part(self, places: slice) -> Self:
        """The modules at the indices of a slice."""
        return type(self)(list(self)[places])

    @overload
    def pop(self, key: int) -> Module: ...

    @overload
    def pop(self, key: slice) -> Self: ...

    def pop(self, key: int | slice) -> Module | Self:
        """Remove and return the module at an index."""
        module = self[key]
        del self[key]
        return module


class Sequential(_Numbered):
    """Modules called one after another, each with the result of the previous one.

    Constructed from modules, or from an OrderedDict of named modules. Indexing gives a module, slicing a Sequential.

    Parameters
    ----------
    arg
        Modules one by one, or an ordered dict of them.

    >>> import pullback
    >>> from pullback import nn
    >>> net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    >>> net(pullback.ones(5, 4)).shape
    pullback.Size([5, 2])
    >>> net[:2]
    Sequential(
      (0): Linear(in_features=4, out_features=3, bias=True)
      (1): ReLU()
    )
    """

    @overload
    def __init__(self, *args: Module) -> None: ...

    @overload
    def __init__(self, arg: OrderedDict[str, Module], /) -> None: ...

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            self.extend(args)

    def forward(self, input: Tensor) -> Tensor:
        for module in self._modules.values():
            input = module(input)
        return input

    def _part(self, places: slice) -> Self:
        return type(self)(OrderedDict(list(self._modules.items())[places]))

    def _other(self, other: object) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return other

    def __add__(self, other: Sequential) -> Sequential:
        return Sequential(*self, *self._other(other))

    def __iadd__(self, other: Sequential) -> Self:
        return self.extend(self._other(other))

    def _factor(self, other: object) -> int:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        return other

    def __mul__(self, other: int) -> Sequential:
        return Sequential(*list(self) * self._factor(other))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Self:
        return self.extend(list(self) * (self._factor(other) - 1))


class ModuleList(_Numbered):
    """A list of modules, which are registered.

    Parameters
    ----------
    modules
        The modules.

    >>> from pullback import nn
    >>> nn.ModuleList(nn.Linear(2, 2) for _ in range(3))
    ModuleList(
      (0-2): 3 x Linear(in_features=2, out_features=2, bias=True)
    )
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _item(self, idx: int) -> Module:
        return self._modules[str(_place(idx, self))]

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __repr__(self) -> str:
        lines = []
        for text, run in groupby(enumerate(map(repr, self)), key=operator.itemgetter(1)):
            places = [place for place, _ in run]
            alone = len(places) == 1
            head = f"({places[0]}): " if alone else f"({places[0]}-{places[-1]}): {len(places)} x "
            lines.append(indented(head + text))
        return f"{self._get_name()}(" + ("\n  " + "\n  ".join(lines) + "\n" if lines else "") + ")"


def _pairs(kind: str, values: Named[Value], expected: str) -> Iterator[tuple[str, Value]]:
    """The keys and values of a mapping, or of an iterable of pairs."""
    if not isinstance(values, Iterable):
        raise TypeError(
            f"{expected}.update should be called with an iterable of key/value pairs, but got {type(values).__name__}"
        )
    if hasattr(values, "items"):
        yield from values.items()
        return
    for place, pair in enumerate(values):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{kind} update sequence element #{place} should be Iterable; is{type(pair).__name__}")
        found: Any = tuple(pair)
        if len(found) != 2:
            raise ValueError(f"{kind} update sequence element #{place} has length {len(found)}; 2 is required")
        yield found


class ModuleDict(Module):
    """A dictionary of modules, which are registered, in the order in which they were added.

    Parameters
    ----------
    modules
        The modules by their names.

    >>> from pullback import nn
    >>> branches = nn.ModuleDict({"smooth": nn.GELU(), "sharp": nn.ReLU()})
    >>> branches["sharp"]
    ReLU()
    """

    def __init__(self, modules: Named[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Remove and return the module under a key."""
        return self._modules.pop(key)

    def keys(self) -> KeysView[str]:
        """The keys."""
        return self._modules.keys()

    def items(self) -> ItemsView[str, Module]:
        """The keys with their modules."""
        return self._modules.items()

    def values(self) -> ValuesView[Module]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Named[Module]) -> None:
        """Add the modules of a mapping, or of an iterable of pairs of key and module."""
        for key, module in _pairs("ModuleDict", modules, "ModuleDict"):
            self[key] = module


def _registered(value: Any) -> Any:
    """A value as it is stored: a tensor becomes a parameter."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _described(key: object, value: Any, dtype: str) -> str:
    if not isinstance(value, Carrier):
        return f"  ({key}): Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"  ({key}): {kind} containing: [{dtype} of size {'x'.join(map(str, value.shape))}]"


class ParameterList(Module):
    """A list of parameters, which are registered; tensors become parameters, any other value is stored unchanged.

    Parameters
    ----------
    values
        The parameters, and other values.

    >>> import pullback
    >>> from pullback import nn
    >>> nn.ParameterList([pullback.ones(2, 3), pullback.ones(2)])
    ParameterList(
        (0): Parameter containing: [pullback.float32 of size 2x3]
        (1): Parameter containing: [pullback.float32 of size 2]
    )
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    @overload
    def __getitem__(self, idx: int) -> Any: ...

    @overload
    def __getitem__(self, idx: slice) -> Self: ...

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return type(self)([self[place] for place in range(len(self))[idx]])
        return getattr(self, str(_place(idx, self)))

    def __setitem__(self, idx: int, param: object) -> None:
        setattr(self, str(_place(idx, self)), _registered(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Module]:
        return iter([self[place] for place in range(len(self))])

    def __iadd__(self, parameters: Iterable[Any]) -> Self:
        return self.extend(parameters)

    def append(self, value: object) -> Self:
        """Add a parameter at the end."""
        setattr(self, str(self._size), _registered(value))
        self._size += 1
        return self

    def extend(self, values: object) -> Self:
        """Add parameters at the end.

        Raises
        ------
        TypeError
            If `values` is a single tensor, or not iterable.
        """
        if not isinstance(values, Iterable) or isinstance(values, Carrier):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(_described(place, value, str(getattr(value, "dtype", ""))) for place, value in enumerate(self))

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise RuntimeError("ParameterList should not be called. Call the module that has it, or index it")


class ParameterDict(Module):
    """A dictionary of parameters, which are registered; tensors become parameters, other values are stored as they are.

    Parameters
    ----------
    parameters
        The parameters, and other values, by their names.

    >>> import pullback
    >>> from pullback import nn
    >>> params = nn.ParameterDict({"scale": pullback.ones(2)})
    >>> params["shift"] = pullback.zeros(2)
    >>> list(params.keys())
    ['scale', 'shift']
    """

    def __init__(self, parameters: Named[Any] | None = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {key!r}")  # torch's type
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string (type is "
                f"'{type(key).__name__}')."
            )
        setattr(self, key, _registered(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """Another dictionary of the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def setdefault(self, key: str, default: object | None = None) -> Any:
        """The parameter under a key, after setting it to `default` if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Remove all parameters."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Remove and return the parameter under a key."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove and return the last key with its parameter."""
        if not self._keys:
            raise KeyError("popitem(): dictionary is empty")
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def get(self, key: str, default: object | None = None) -> Any:
        """The parameter under a key, or `default`."""
        return getattr(self, key) if key in self._keys else default

    def fromkeys(self, keys: Iterable[str], default: object | None = None) -> ParameterDict:
        """A dictionary with one value under every key."""
        return ParameterDict((key, default) for key in keys)

    def keys(self) -> KeysView[str]:
        """The keys."""
        return self._keys.keys()

    def items(self) -> list[tuple[str, Any]]:
        """The keys with their parameters."""
        return [(key, self[key]) for key in self._keys]

    def values(self) -> list[Any]:
        """The parameters."""
        return [self[key] for key in self._keys]

    def update(self, parameters: Named[Any]) -> None:
        """Add the parameters of a mapping, or of an iterable of pairs; those of a plain mapping in the order of keys."""
        pairs = _pairs("ParameterDict", parameters, "ParametersDict")
        ordered = isinstance(parameters, OrderedDict) or not isinstance(parameters, Mapping)
        for key, value in pairs if ordered else sorted(pairs, key=operator.itemgetter(0)):
            self[key] = value

    def __or__(self, other: Named[Any]) -> ParameterDict:
        copy = self.copy()
        copy.update(other)
        return copy

    def __ror__(self, other: Named[Any]) -> ParameterDict:
        copy = ParameterDict(other)
        copy.update(self)
        return copy

    def __ior__(self, other: Named[Any]) -> Self:
        self.update(other)
        return self

    def extra_repr(self) -> str:
        return "\n".join(_described(key, value, type_name(value)) for key, value in self.items())

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise RuntimeError("ParameterDict should not be called. Call the module that has it, or index it")
