"""autograd's modules by autograd's names, each assembled from modules of this package; and their import finder."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import matrices, namespaces, scipy_functions

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec


_CALCULUS = ("tracing", "spaces", "primitives", "boxes", "operators", "recording")

# The modules of this package that define the names of each of autograd's modules.
GATHERED: dict[str, Sequence[str]] = {
    "autograd": ("operators", "primitives", "containers"),
    "autograd.builtins": ("containers", "primitives"),
    "autograd.core": _CALCULUS,
    "autograd.differential_operators": ("operators", "primitives"),
    "autograd.extend": _CALCULUS,
    "autograd.misc": ("flattening", "recording"),
    "autograd.misc.fixed_points": ("fixed_points",),
    "autograd.misc.flatten": ("flattening",),
    "autograd.misc.optimizers": ("optimizers",),
    "autograd.misc.tracers": ("recording",),
    "autograd.numpy.numpy_boxes": ("boxes",),
    "autograd.numpy.numpy_vjps": ("broadcasting", "namespaces"),
    "autograd.numpy.numpy_vspaces": ("spaces",),
    "autograd.scipy": (),
    "autograd.scipy.integrate": ("integration",),
    "autograd.scipy.signal": ("convolution",),
    "autograd.test_util": ("checks", "spaces", "tracing", "operators"),
    "autograd.tracer": _CALCULUS,
    "autograd.util": ("checks",),
    "autograd.wrap_util": ("operators",),
}

NAMESPACES: dict[str, types.ModuleType] = {
    "autograd.numpy": namespaces.NUMPY,
    "autograd.numpy.fft": namespaces.FFT,
    "autograd.numpy.linalg": namespaces.LINALG,
    "autograd.numpy.numpy_wrapper": namespaces.NUMPY,
    "autograd.numpy.random": namespaces.RANDOM,
    "autograd.scipy.linalg": matrices.LINALG,
    "autograd.scipy.misc": scipy_functions.SPECIAL,
    "autograd.scipy.special": scipy_functions.SPECIAL,
    "autograd.scipy.stats": scipy_functions.STATS,
    **{f"autograd.scipy.stats.{name}": module for name, module in scipy_functions.DISTRIBUTIONS.items()},
}


class Gathered(types.ModuleType):
    """A module of autograd, with names from modules of this package, and its submodules."""

    def __init__(self, name: str, homes: Sequence[str]) -> None:
        super().__init__(name, f"pullback's stand-in for {name}.")
        self.__path__: list[str] = []
        self._homes = homes

    def __getattr__(self, name: str) -> Any:
        if (found := self._own(name)) is not None:
            vars(self)[name] = found
            return found
        below = f"{self.__name__}.{name}"
        if below in GATHERED or below in NAMESPACES:
            return module(below)
        raise AttributeError(
            f"{self.__name__}.{name} is not in pullback, which is autograd here: see its page on programs for HIPS autograd"
        )

    def __setattr__(self, name: str, value: object) -> None:
        if not isinstance(value, types.ModuleType) or self._own(name) is None:  # autograd.misc.flatten is the function
            super().__setattr__(name, value)

    def _own(self, name: str) -> Any:
        """The object of a name in the modules of this package."""
        if not name.startswith("__"):
            for home in vars(self)["_homes"]:
                found = vars(importlib.import_module(f"{__package__}.{home}"))
                if name in found:
                    return found[name]
        return None

    def __dir__(self) -> list[str]:
        homes = [importlib.import_module(f"{__package__}.{home}") for home in self._homes]
        return sorted({name for home in homes for name in vars(home) if not name.startswith("_")})


_modules: dict[str, types.ModuleType] = dict(NAMESPACES)


def module(name: str) -> types.ModuleType:
    """The stand-in for one of autograd's modules.

    >>> from pullback.compat.autograd.facade import module
    >>> float(module("autograd.numpy").cos(0.0))
    1.0
    """
    if name not in _modules:
        _modules[name] = Gathered(name, GATHERED[name])
    return _modules[name]


class AutogradFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The import finder for the stand-ins."""

    @classmethod
    def find_spec(cls, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The spec of a module of autograd; None for all others."""
        if fullname.partition(".")[0] != "autograd":
            return None
        if fullname not in GATHERED and fullname not in NAMESPACES:
            raise ModuleNotFoundError(
                f"{fullname} is not in pullback, which stands in for autograd here", name=fullname
            )
        return importlib.machinery.ModuleSpec(fullname, cls(), is_package=True)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        """The stand-in."""
        return module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Does nothing: the stand-in is complete."""


def install() -> None:
    """Make `import autograd` import pullback, in this process. A second call has no effect; `uninstall` undoes it.

    Raises
    ------
    RuntimeError
        If the real autograd has been imported: its boxes and pullback's would be mixed up.

    >>> from pullback.compat import autograd
    >>> autograd.install()
    >>> import autograd.numpy as np
    >>> from autograd import grad
    >>> float(grad(lambda x: np.sin(x) * x)(0.0))
    0.0
    >>> from pullback.compat.autograd import uninstall
    >>> uninstall()
    """
    if isinstance(sys.modules.get("autograd"), Gathered):
        return
    if "autograd" in sys.modules:
        raise RuntimeError(
            "autograd is already imported, and pullback cannot stand in for it in this process: call install() before the "
            "first `import autograd`"
        )
    sys.meta_path.insert(0, AutogradFinder)
    importlib.import_module("autograd")


def uninstall() -> None:
    """Undo `install`: `import autograd` imports the real one again, if it is installed.

    Modules that imported autograd in between keep the objects they imported.
    """
    if AutogradFinder in sys.meta_path:
        sys.meta_path.remove(AutogradFinder)
    for name in [*GATHERED, *NAMESPACES]:
        if sys.modules.get(name) is _modules.get(name, Ellipsis):
            del sys.modules[name]
