"""A stand-in for torch: after `install()`, `import torch` in this process gives a module that is made of pullback.

`torch.nn`, `torch.optim`, `torch.utils.data` and the others are found in the same way. What belongs to a machine with
accelerators (`torch.cuda`, `torch.backends`, `torch.amp`, `torch.jit`, ...) answers as torch does on a CPU. A name that
pullback lacks raises AttributeError, which says so.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ... import Tensor
from ..._core.package import package
from . import facade, overrides

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec


_HOME = Tensor.__module__
_PATH = str(Path(__file__).with_name("path"))
"""A directory with a package `torch` that calls `install`, put on the `sys.path` of spawned processes."""


def install() -> None:
    """Let `import torch` give pullback, in this process and in those that `multiprocessing` starts from now on.

    dtypes and sizes print as torch's (`torch.float32`). Calling it again changes nothing; `uninstall` undoes it.

    Raises
    ------
    RuntimeError
        If the real torch has been imported: its tensors and pullback's would be mixed up.

    Examples
    --------
    Where the real torch has not been imported::

        from pullback.compat.torch import install

        install()
        import torch

        torch.ones(2, dtype=torch.float64)  # tensor([1., 1.], dtype=torch.float64)
    """
    if stands_in():
        return
    if "torch" in sys.modules:
        raise RuntimeError(
            "torch is already imported, and pullback cannot stand in for it in this process: call install() before the "
            "first `import torch`, or start the program with `pullback run`"
        )
    sys.meta_path.insert(0, facade.TorchFinder)
    sys.path.insert(1, _PATH)
    sys.modules["torch"] = facade.made("torch")
    package.name = "torch"
    overrides.start()
    Tensor.__module__ = "torch"  # libraries recognize torch's tensors by the name of their type


def uninstall() -> None:
    """Undo `install`: `import torch` imports the real one again, if it is installed.

    Modules that imported torch in between keep the objects they imported.
    """
    if facade.TorchFinder in sys.meta_path:
        overrides.stop()
        sys.meta_path.remove(facade.TorchFinder)
    if _PATH in sys.path:
        sys.path.remove(_PATH)
    for name, module in list(sys.modules.items()):
        if isinstance(module, facade.Facade):
            del sys.modules[name]
    package.name = "pullback"
    Tensor.__module__ = _HOME


def stands_in() -> bool:
    """True if `import torch` gives pullback in this process."""
    return isinstance(sys.modules.get("torch"), facade.Facade)


class _WhereMissing:
    """The last import finder: what no other finder has found is not installed, so pullback takes its place."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The spec of pullback's torch."""
        if name != "torch":
            return None
        install()
        return facade.TorchFinder.find_spec(name)


@contextlib.contextmanager
def available(*, always: bool = False) -> Iterator[None]:
    """A context in which `import torch` gives pullback where torch is not installed; everywhere with `always`."""
    before = stands_in()
    if always:
        install()
    sys.meta_path.append(_WhereMissing)
    try:
        yield
    finally:
        sys.meta_path.remove(_WhereMissing)
        if stands_in() and not before:
            uninstall()
