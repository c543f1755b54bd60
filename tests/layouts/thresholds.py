"""Thresholds: the sizes from which on, or up to which, something is computed in another way.

`test_thresholds.py` holds that each is in this list.
"""

import ast
import functools
import importlib
import sys
from pathlib import Path

import pullback

ROOMS = ("_core", "_numerics", "_tape", "_tensor", "ops", "vocabulary", "nn", "optim", "func", "compile.machine")
"""What computes at once; programs that are compiled have tests of their own."""
ROOT = Path(pullback.__file__).parent

# Those of operations that are computed at once, each with a value at which a few elements are many.
SIZES = {
    "_core.machine": {
        "SHORTEST": 2,
        "FEW": 1,
        "WORTH": 1,
        "LARGE": 1,
        "MOVED": 1,
        "FACTOR": 1,
        "BATCHED": 1,
        "ALIGNED": 1,
        "SHORT_COLUMNS": 1,
        "INNER": 64,
    },
    "_core.contraction": {"LEAST": 1},
    "_core.own": {"MOST": 1},
    "_core.xp": {"LONG": 3, "BLOCK": 2, "SMALL": 2, "SHORT": 3, "NARROW": 1, "FLAT": 1, "VECTORS": 1},
    "_numerics.arrays": {"FEW": 2},
    "_numerics.blocks": {"BLOCK": 64},
    "_numerics.incomplete_functions": {"BLOCK": 2},
    "ops.convolution": {"FEW": 1, "WORTH": 1},
    "ops.exponentials": {"FEW": 1, "LARGE": 1, "LONGEST": 4},
    "ops.dot_product_attention": {"HEADS": 64, "PIECE": 64},
    "ops.indexing": {"SMALL": 1},
    "ops.lapack": {"BLOCK": 1, "FEWEST": 1},
    "ops.normalization": {"FEW": 1, "LONGEST": 8, "MERGED": 1, "SHORTEST": 2},
    "ops.pooling": {"WORTH": 1, "BYTES": 2, "SHORT": 1},
    "ops.recurrent": {"WORTH": 1},
    "optim.elementwise": {"LARGE": 2},
    "vocabulary.contractions": {"FEW": 1},
    "compile.machine.alignment": {"SHARED": 8},
    "compile.machine.depthwise": {"TASK": 8},
    "compile.machine.moving": {"SHORTEST": 1, "TASK": 8, "SEVERAL": 1},
    "compile.machine.pooling": {"TASK": 8, "SEVERAL": 1},
    "compile.machine.rows": {"TASK": 8, "SEVERAL": 1},
    "compile.machine.totals": {"TASK": 8, "SEVERAL": 2},
}

# Elements of arrays at both sides of them, for what runs with the thresholds as they are.
AROUND = [40, 120, 300, 1_200, 2_500, 5_000, 9_000, 20_000, 40_000, 80_000, 140_000, 300_000, 600_000]


def modules():
    """The modules that compute, by name, as syntax trees."""
    for path in sorted(ROOT.rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if name.startswith(ROOMS):
            yield name, ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def places():
    """Where each threshold of `SIZES` stands: in its module, and in those that import it by name."""
    found = [(module, name, value) for module, names in SIZES.items() for name, value in names.items()]
    for module, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for owner, sizes in SIZES.items():
                    names = [
                        alias
                        for alias in node.names
                        if owner.endswith(f".{node.module}".lstrip(".")) and alias.name in sizes
                    ]
                    found += [(module, alias.asname or alias.name, sizes[alias.name]) for alias in names]
    return found


def lower():
    """From now on a few elements are many, in this process."""
    for module, name, value in places():
        if module.startswith("compile") and not importlib.import_module("pullback._core.machine").installed():
            continue
        loaded = importlib.import_module(f"pullback.{module}")
        assert isinstance(getattr(loaded, name), int)
        setattr(loaded, name, value)
    machine = importlib.import_module("pullback._core.machine")
    machine.WORTH_OF = dict.fromkeys(machine.WORTH_OF, 1)
    for module, values in [(name, vars(module)) for name, module in sys.modules.items()]:
        for name, value in values.items():  # plans depend on thresholds
            if module.startswith(("pullback.ops.", "pullback._core.xp")) or name == "plan":
                getattr(value, "cache_clear", int)()
