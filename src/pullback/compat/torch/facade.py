"""The modules that `import torch` finds: each has names from modules of pullback, which are imported on access.

`places` lists them; a module that is not listed there, `torch.a.b`, has the names of `pullback.a.b`.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable, Iterable, Sequence
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from .places import ABSENT, HOLLOW, NAMED, PLACES

if TYPE_CHECKING:
    from importlib.metadata import Distribution, DistributionFinder


_MISSING = object()
_KEPT: Any = vars(ModuleType)["__dict__"]
WHERE = "https://github.com/pullback-autograd/pullback/tree/main/docs/reference lists what there is"


def lacking(path: str) -> str:
    """The error message for a missing name, with the reason, if there is one for it or for its module."""
    place = path
    while place and place not in ABSENT:
        place = place.rpartition(".")[0]
    return f"{path} is not in pullback: {ABSENT.get(place, WHERE)}"


class Unusable(type):
    """A class of names that torch has and pullback lacks: programs may import them, and derive from them.

    Their attributes are such names, too. Calling one raises RuntimeError, which says what is missing, and why; as a decorator
    it gives a function that does so.
    """

    path: str

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return unusable(f"{cls.path}.{name}")

    def __call__(cls, *args: object, **options: object) -> Any:
        """Raises RuntimeError, or gives a function that does so, if the only argument is one."""
        if len(args) == 1 and isinstance(args[0], FunctionType) and not options:
            return functools.wraps(args[0])(lambda *_, **__: cls())
        raise RuntimeError(lacking(cls.path))


def unusable(path: str) -> Unusable:
    """The class in the place of a name that pullback lacks."""
    module, _, name = path.rpartition(".")
    return Unusable(name, (), {"__module__": module, "__doc__": f"{path}, which pullback lacks.", "path": path})


class Facade(ModuleType):
    """A module under another name, with the names of its sources, of which earlier ones take precedence."""

    def __init__(self, name: str, sources: Iterable[object]) -> None:
        super().__init__(name, f"{name}, as pullback has it.")
        self._sources = tuple(sources)

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]  # what a module has, when it is asked for
        """All names with what they stand for: programs go through those of `torch.distributions`."""
        for name in dir(self):
            getattr(self, name, None)
        kept: dict[str, Any] = _KEPT.__get__(self)
        return kept

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and f"{self.__name__}.{name}" not in {"torch.__version__", "torch.__config__"}:
            if name == "__all__":
                listed: list[Any] = [getattr(source, "__all__", None) for source in self._sources]
                told = [] if None in listed else [each for names in listed for each in names or ()]
                return told or [each for each in dir(self) if not each.startswith("_")]
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        path = f"{self.__name__}.{name}"
        found = self._find(name)
        if (path in PLACES or path in HOLLOW) and _places(path) is not None and not isinstance(found, FunctionType):
            found = importlib.import_module(path)  # a function precedes the module of its name, as in torch
        if found is _MISSING:
            raise AttributeError(lacking(path), name=name, obj=self)
        setattr(self, name, found)
        for tell in WATCHERS:
            tell(self.__name__, found)
        return found

    def __setattr__(self, name: str, value: object) -> None:
        """Importing a submodule sets an attribute here, unless a function has its name."""
        if not (isinstance(value, Facade) and isinstance(self._find(name), FunctionType)):
            super().__setattr__(name, value)

    def _find(self, name: str) -> Any:
        """The attribute of the first source that has it; modules of pullback only as modules of torch."""
        for source in self._sources:
            found = getattr(source, name, _MISSING)
            if isinstance(found, ModuleType) and found.__name__.startswith("pullback."):
                path = f"{self.__name__}.{name}"
                found = importlib.import_module(path) if _places(path) is not None else _MISSING
            if found is not _MISSING:
                return found
        if name in NAMED.get(self.__name__, "").split() or (_hollow(self.__name__) and not name.startswith("__")):
            return unusable(f"{self.__name__}.{name}")
        return _MISSING

    def __dir__(self) -> list[str]:
        names = {name for source in self._sources for name in dir(source) if not name.startswith("__")}
        names = {name for name in names if self._find(name) is not _MISSING}
        prefix = f"{self.__name__}."
        below = {path.removeprefix(prefix) for path in PLACES if path.startswith(prefix) and _places(path) is not None}
        return sorted(names | {name for name in below if "." not in name} | {*_KEPT.__get__(self)})


WATCHERS: list[Callable[[str, Any], None]] = []
"""Functions that are told what a module of torch, by its name, has been asked for the first time: see `fx.capture`."""


def kept(module: Facade) -> list[Any]:
    """What a module of torch has been asked for until now."""
    return list(_KEPT.__get__(module).values())


def source(place: str) -> object:
    """A module by its dotted path, or the attribute named after a colon."""
    module, _, name = place.partition(":")
    found = importlib.import_module(module)
    return getattr(found, name) if name else found


def _installed(place: str) -> bool:
    """True if the package of an external module is installed."""
    package = place.partition(".")[0]
    return package == "pullback" or importlib.util.find_spec(package) is not None


def _hollow(name: str) -> bool:
    """True for a module, or one below it, whose names are all such that they raise when they are called."""
    return any(name == each or name.startswith(f"{each}.") for each in HOLLOW)


def _places(name: str) -> Sequence[str] | None:
    """The sources of a module of torch; None if there is no such module."""
    if name in PLACES:
        places = PLACES[name].split()
        return places if all(map(_installed, places)) else None
    if _hollow(name):
        return []
    ours = "pullback" + name.removeprefix("torch")
    if any(part.startswith("_") for part in name.split(".")) or name in ABSENT:
        return None
    try:
        return [ours] if importlib.util.find_spec(ours) else None
    except ModuleNotFoundError:  # its parent is not a package
        return None


def made(name: str) -> ModuleType:
    """The stand-in for an existing module of torch that is not yet in `sys.modules`."""
    spec = TorchFinder.find_spec(name)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    TorchFinder.exec_module(module)
    return module


class TorchFinder:
    """The import finder for torch and its modules, ahead of all other finders."""

    @classmethod
    def find_spec(cls, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The spec of a module of torch; ModuleNotFoundError for one that pullback does not have."""
        if name.partition(".")[0] not in {"torch", "functorch"}:
            return None
        if _places(name) is None:
            raise ModuleNotFoundError(lacking(name), name=name)
        return ModuleSpec(name, cls, origin="pullback", is_package=True)  # type: ignore[arg-type]  # the class is one

    @staticmethod
    def find_distributions(context: DistributionFinder.Context) -> Iterable[Distribution]:
        """What `importlib.metadata` says of torch: its version, and its modules."""
        if context.name not in {None, "torch"}:
            return []
        found: Iterable[Any] = importlib.import_module("pullback.compat.torch.packaged").found()
        return found

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        """The stand-in, with its sources imported."""
        return Facade(spec.name, map(source, _places(spec.name) or ()))

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Does nothing: names are looked up on access."""
