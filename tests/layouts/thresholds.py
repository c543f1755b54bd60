"""Thresholds: the sizes from which on, or up to which, something is computed in another way.

The source declares them, `NAME: Threshold = ...`; `test_thresholds.py` holds that each with which a size is compared is.
"""

import ast
import functools
import importlib
import sys
from pathlib import Path

import pullback

ROOT = Path(pullback.__file__).parent
# Those at which another number than 1 makes a few elements many, or that are no numbers of elements: None stays.
LOWERED = {
    "_core.machine": {"BUSY": None, "INNER": 64, "LONGEST": None, "SHORTEST": 2, "SPREAD": None, "STEP": None},
    "_core.xp": {"BLOCK": 2, "LONG": 3, "SHORT": 3, "SMALL": 2},
    "_numerics.arrays": {"FEW": 2},
    "_numerics.blocks": {"BLOCK": 64},
    "_numerics.incomplete_functions": {"BLOCK": 2},
    "_tape.cuts": {"REACH": None},
    "ops.convolution": {"ADDITION": None, "TABLE": None},
    "ops.dot_product_attention": {"HEADS": 64, "PIECE": 64},
    "ops.exponentials": {"LONGEST": 4},
    "ops.indexing": {"LARGEST_MASK": None},
    "ops.normalization": {"LONGEST": 8, "SHORTEST": 2},
    "ops.pooling": {"BYTES": 2},
    "ops.recurrent": {"STEP": None},
    "optim.elementwise": {"LARGE": 2},
    "vocabulary.special": {"MOST_TERMS": None},
    **{f"compile.machine.{name}": {"TASK": 8} for name in ("depthwise", "moving", "pooling", "rows")},
    "compile.machine.alignment": {"SHARED": 8},
    "compile.machine.totals": {"SEVERAL": 2, "TASK": 8},
}

# Elements of arrays at both sides of them, for what runs with the thresholds as they are.
AROUND = [40, 120, 300, 1_200, 2_500, 5_000, 9_000, 20_000, 40_000, 80_000, 140_000, 300_000, 600_000]


@functools.cache
def modules():
    """All modules as syntax trees, by name."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


@functools.cache
def declared():
    """The thresholds of each module that has some."""
    found = {}
    for name, tree in modules().items():
        for node in tree.body:
            if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "Threshold":
                found.setdefault(name, []).append(node.target.id)
    return found


@functools.cache
def places():
    """Where each threshold stands, in its module and in those that import it by name, with its lower value."""
    found = []
    for owner, names in declared().items():
        values = {name: LOWERED.get(owner, {}).get(name, 1) for name in names}
        found += [(owner, name, value) for name, value in values.items()]
        for module, tree in modules().items():
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and node.module and owner.endswith(f".{node.module}".lstrip(".")):
                    given = [
                        (alias.asname or alias.name, values[alias.name]) for alias in node.names if alias.name in values
                    ]
                    found += [(module, name, value) for name, value in given]
    return [each for each in found if each[2] is not None]


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
