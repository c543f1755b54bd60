"""SciPy and scikit-learn on tensors: set up so that their functions compute with tensors, and gradients pass through.

Functions of both that are written for the Python array API standard find `pullback.array_api` by their arguments, if
they have been told to look. Compiled code takes no tensors: functions that are made of it refuse tensors with gradients.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from types import ModuleType
from typing import Any

from .._core import forks
from . import taking

__all__ = ["enable"]

SWITCH, SETTING = "SCIPY_ARRAY_API", "array_api_dispatch"
READERS = ("scipy._lib._array_api_override", "scipy._lib._array_api")  # where SciPy keeps what it has read; older ones
SETTINGS = "sklearn._config"
PACKAGES = ("scipy.", "sklearn.")

_lock = forks.lock()


def _configure(settings: Any) -> None:
    """Have scikit-learn dispatch, in this thread and in those that have not used it yet."""
    settings._global_config[SETTING] = True
    settings._get_threadlocal_config()[SETTING] = True


def _ready(module: Any) -> None:
    """Have a module that has been imported take tensors: scikit-learn's settings, or one of SciPy's, with its functions."""
    if module.__name__ == SETTINGS:
        _configure(module)
    taking.functions(module)


class _Finder:
    """A finder of `sys.meta_path` that has the modules of both packages take tensors when they have been imported."""

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The specification that the other finders give, with a loader that changes the module that it has loaded."""
        if not name.startswith(PACKAGES):
            return None
        found = (each.find_spec(name, path, target) for each in sys.meta_path if each is not cls)
        spec: Any = next((each for each in found if each is not None), None)
        load = getattr(spec and spec.loader, "exec_module", None)
        if load is None or isinstance(spec.loader, ExtensionFileLoader):
            return spec

        def exec_module(module: ModuleType) -> None:
            load(module)
            _ready(module)

        spec.loader.exec_module = exec_module
        return spec


def enable() -> None:
    """Make functions of SciPy and scikit-learn compute with tensors, in this process from now on.

    Call it before SciPy is imported, which reads once whether it should. scikit-learn is configured when it is imported,
    or at once. Nothing is imported, and calling it again changes nothing.

    Raises
    ------
    RuntimeError
        If SciPy was imported before, without dispatch. Nothing is changed then.

    Examples
    --------
    At the top of a program::

        import pullback
        import pullback.interop.scipy

        pullback.interop.scipy.enable()
        import scipy.special

        x = pullback.tensor([1.0, 2.0], requires_grad=True)
        scipy.special.logsumexp(x).backward()
        print(x.grad)  # tensor([0.2689, 0.7311])
    """
    with _lock:
        reader = next((sys.modules[name] for name in READERS if hasattr(sys.modules.get(name), SWITCH)), None)
        if reader is not None and not getattr(reader, SWITCH):
            raise RuntimeError(
                "interop.scipy.enable: SciPy has already been imported, and reads this setting only on import. Call "
                "pullback.interop.scipy.enable() before anything imports scipy or sklearn, or set the environment "
                f"variable {SWITCH}=1 before Python starts"
            )
        os.environ[SWITCH] = "1"
        if _Finder not in sys.meta_path:
            sys.meta_path.insert(0, _Finder)
            for name, module in list(sys.modules.items()):
                if name.startswith(PACKAGES):
                    _ready(module)
