"""torch.ops: the operators that programs have defined by torch.library, and pullback's functions as `torch.ops.aten`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import pullback

from .library import OPERATORS, CustomOpDef

if TYPE_CHECKING:
    from typing import NoReturn

    from ..._core.typing import Function


class _Namespace:
    """The operators of a namespace."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> CustomOpDef:
        found = OPERATORS.get(f"{self._name}::{name}")
        if found is None:
            raise AttributeError(f"'_OpNamespace' '{self._name}' object has no attribute '{name}'")
        return found


class _Overloads:
    """A function of pullback under the name of an operator, each of whose overloads it is."""

    def __init__(self, function: Function) -> None:
        self._function = function

    def __call__(self, *args: object, **options: object) -> Any:
        return self._function(*args, **options)

    def __getattr__(self, name: str) -> Self:
        if name.startswith("_"):
            raise AttributeError(name)
        return self


class _Lacking:
    """An operator of torch that pullback does not have: programs may name it, as the key of a table."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *args: object, **options: object) -> NoReturn:
        raise NotImplementedError(f"torch.ops.aten.{self._name} is not in pullback")


class _Aten(_Namespace):
    """torch's own operators, as far as pullback has functions or methods of their names."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(pullback, name, None) or getattr(pullback.Tensor, name, None)
        setattr(self, name, _Overloads(found if callable(found) else _Lacking(name)))
        return getattr(self, name)


class _Operators:
    """All namespaces."""

    def __init__(self) -> None:
        self.loaded_libraries: set[str] = set()
        self.aten = _Aten("aten")

    def __getattr__(self, name: str) -> _Namespace:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Namespace(name)

    @staticmethod
    def load_library(path: object) -> None:
        """Raises: operators compiled from C++ need torch itself."""
        raise OSError(f"{path}: operators compiled for torch cannot be loaded by pullback")


ops = _Operators()
