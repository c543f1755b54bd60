"""Thresholds: the sizes from which on, or up to which, an operation is computed in another way.

`SIZES` has those of operations that are computed at once, each with a value at which a few elements are many. Tests run at
both sides of them.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import pkgutil
import sys
from pathlib import Path

import pytest

import pullback

SIZES = {
    "_core.machine": {"SHORTEST": 2, "FEW": 1, "WORTH": 1, "LARGE": 1, "MOVED": 1, "FACTOR": 1},
    "_core.xp": {"LONG": 3, "BLOCK": 2, "SMALL": 2},
    "_numerics.blocks": {"BLOCK": 64},
    "_numerics.gamma_functions": {"FEW": 2},
    "_numerics.incomplete_functions": {"BLOCK": 2},
    "ops.convolution": {"FEW": 1, "WORTH": 1},
    "ops.exponentials": {"LARGE": 1, "LONGEST": 4},
    "ops.heads": {"HEADS": 64, "PIECE": 64},
    "ops.indexing": {"SMALL": 1},
    "ops.lapack": {"BLOCK": 1},
    "ops.normalization": {"FEW": 1, "LONGEST": 8, "MERGED": 1, "SHORTEST": 2},
    "ops.pooling": {"WORTH": 1},
    "ops.recurrent": {"WORTH": 1},
    "optim.elementwise": {"LARGE": 2},
}


def _aliases():
    """For each module, the names that it imports from a module of `SIZES`: as (module, name, name there)."""
    root = Path(pullback.__file__).parent
    for path in root.rglob("*.py"):
        inside = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                for module, names in SIZES.items():
                    if module.endswith(node.module):
                        for alias in node.names:
                            if alias.name in names:
                                yield inside, alias.asname or alias.name, module, alias.name


@contextlib.contextmanager
def lowered():
    """A block in which a few elements are many: for the operations that are computed at once."""
    with pytest.MonkeyPatch.context() as patch:
        for module, names in SIZES.items():
            for name, value in names.items():
                patch.setattr(importlib.import_module(f"pullback.{module}"), name, value)
        for module, name, owner, of in _aliases():
            patch.setattr(importlib.import_module(f"pullback.{module}"), name, SIZES[owner][of])
        machine = importlib.import_module("pullback._core.machine")
        patch.setattr(machine, "WORTH_OF", dict.fromkeys(machine.WORTH_OF, 1))
        _forget()
        yield
    _forget()


def _forget():
    """Forget the plans that depend on thresholds."""
    for module, values in [(name, vars(module)) for name, module in sys.modules.items()]:
        for name, value in values.items():
            if module.startswith(("pullback.ops.", "pullback._core.xp")) or name == "plan":
                getattr(value, "cache_clear", int)()
