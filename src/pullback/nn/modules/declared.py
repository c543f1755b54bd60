"""Modules that are a function with settings: the class declares both, and the methods are generated.

    @declared(functional.elu)
    class ELU(Module):
        alpha: float = 1.0
        inplace: bool = False

`__init__` takes the settings in their order, as a dataclass does, those of a base that has `settings` first;
`__post_init__` may check or convert them. `forward`
takes those arguments of the function that are no settings, and passes the settings by name, with `training` where the
function asks for it. The module prints its settings: `ELU(alpha=1.0)`.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

from ..._core.sites import GENERATED, generated
from ..parameter import check_sizes
from .module import Module

if TYPE_CHECKING:
    from ..._core.typing import Tensor

    class Several(Module):
        """A module whose `forward`, which `declared` makes of a function, gives a tensor: a module as any at run time."""

        def forward(self, *inputs: Any, **options: Any) -> Tensor:
            """The function's tensor."""

    class Computed(Several):
        """One that takes one tensor."""

        def forward(self, input: Tensor) -> Tensor:
            """The function's tensor."""

    class Compared(Several):
        """One that takes what it has, and what it should be."""

        def forward(self, input: Tensor, target: Tensor) -> Tensor:
            """The function's tensor."""

else:
    Several = Computed = Compared = Module

M = TypeVar("M", bound=type[Module])
Setting = TypeVar("Setting", bound=float | None)


@dataclass_transform(eq_default=False)
def settings(cls: M) -> M:
    """A decorator for a base class that declares settings shared by several modules."""
    if not hasattr(cls, "__post_init__"):
        cls.__post_init__ = _begun  # type: ignore[attr-defined]  # a module's first duty
    dataclasses.dataclass(eq=False, repr=False)(cls)
    made = cls.__init__.__code__.replace(co_filename=f"{GENERATED}{cls.__name__}.__init__>")
    cls.__init__.__code__ = made  # else it would be taken for the program's, and a parameter to be made there
    kinds = cls.__init__.__annotations__  # those of settings that are not kept are wrapped
    kinds.update({name: kind[8:-1] for name, kind in kinds.items() if str(kind).startswith("InitVar[")})
    own = cls.__annotations__
    for name in cls.__dict__.keys() & own.keys():
        delattr(cls, name)  # a default on the class would hide a buffer with its name
    cls.__annotations__ = {
        name: kind for name, kind in own.items() if not str(kind).startswith(("InitVar[", "KW_ONLY"))
    }
    return cls


@dataclass_transform(eq_default=False)
def declared(function: Callable[..., Any], shows: str | None = None) -> Callable[[M], M]:
    """A decorator that turns a class into a module computed by a function, with the settings that the class declares.

    `shows` is the format of the printed settings, as for `str.format`; by default all are printed, `inplace` only if
    set.
    """

    def declare(cls: M) -> M:
        settings(cls)
        fields = [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]  # it is one now
        if "forward" not in cls.__dict__:
            cls.forward = _forward(cls, function, fields)
        if cls.extra_repr is Module.extra_repr:
            cls.extra_repr = _settings if shows is None else _chosen(shows)  # type: ignore[assignment, method-assign]
        return cls

    return declare


def _begun(module: Module) -> None:
    """Initialize a module as such, after the generated `__init__` has assigned the settings, of which some are integers."""
    integers = [each.name for each in module.__dataclass_fields__.values() if each.type in {int, "int"}]
    check_sizes(module, -math.inf, **{name: getattr(module, name) for name in integers})
    Module.__init__(module)


def per_axis(value: Setting | Iterable[Setting], count: int) -> tuple[Setting, ...]:
    """A setting for each of several axes, from a single value or one for each.

    >>> per_axis(2, 3), per_axis([1, 2], 2)
    ((2, 2, 2), (1, 2))
    """
    return tuple(value) if isinstance(value, Iterable) else (value,) * count


def _settings(self: Module) -> str:
    """All settings as text; `inplace` only if it is set."""
    shown = [name for name in self.__dataclass_fields__ if name in vars(self)]
    return ", ".join(f"{name}={getattr(self, name)!r}" for name in shown if name != "inplace" or self.inplace)


def _chosen(shows: str) -> Callable[[Any], str]:
    """The text of selected settings."""
    return lambda self: shows.format(**vars(self))


def _forward(cls: type, function: Callable[..., Any], fields: list[str]) -> Any:
    """A method that calls a function with its arguments and the module's settings.

    It is generated as source code, since looking up the settings by name would take longer than some of the functions.
    """
    takes = inspect.signature(function).parameters
    given = [name for name, p in takes.items() if name not in fields and p.default is p.empty and name != "training"]
    passed = [f"{name}=self.{name}" for name in takes if name in fields or name == "training"]
    source = f"def forward(self, {', '.join(given)}):\n    return function({', '.join([*given, *passed])})\n"
    forward = generated(f"{cls.__name__}.forward", source, {"function": function}, "forward")
    forward.__module__ = cls.__module__
    forward.__qualname__ = f"{cls.__qualname__}.forward"
    forward.__doc__ = f"`{function.__name__}` of {' and '.join(given)}, with the settings of the module."
    return forward
