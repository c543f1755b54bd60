"""The public names: none is lost, `dir()` knows them all, and each stands in one place."""

import ast
import builtins
import importlib
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import pullback
import source
from pullback._tensor import surface
from pullback.nn import Module
from pullback.optim import Optimizer

ROOT = Path(__file__).parent.parent

# What users could import on 2026-11-22 (commit 263cecb): modules without an underscore, with their names
RECORDED = Path(__file__).parent / "public_names.txt"

# Modules that moved below their room; their functions are in `pullback` and in these, as they were
MOVED = {
    "pullback.checking": "pullback._tape.checking",
    "pullback.checkpointing": "pullback.autograd.checkpointing",
    "pullback.control": "pullback.func.control",
    "pullback.custom_rules": "pullback.func.custom_rules",
    "pullback.reasons": "pullback._tape.reasons",
    "pullback.revolve": "pullback.autograd.revolve",
    "pullback.selective": "pullback.autograd.selective",
}

# Not meant for users, and gone
DROPPED = {
    "pullback": {name.partition(".")[2] for name in MOVED},
    "pullback.autograd.function": {
        *("BOTH Call Custom Kept NOT_AN_INPUT NOT_RETURNED NO_BACKWARD NO_JVP OLD_FORM ONCE Run Slot".split()),
        *("among beneath edges_of losses places_of record slot".split()),
    },
    "pullback.Tensor": {"_twin"},
    "pullback.autograd.anomaly_mode": {"Birth", "MIXING"},
    "pullback.autograd.checks": {"Array", "Limits"},
    "pullback.checking": {"MEANT"},
    "pullback.checkpointing": {"Call"},
    "pullback.compile.program": {"acts"},
    "pullback.compile.source": {"Source"},
    "pullback.control": {"Step"},
    "pullback.custom_rules": {"Plan"},
    "pullback.distributions": {"INDEX"},
    "pullback.fft": {"Dims", "resized"},
    "pullback.masked": {"Dim"},
    "pullback.nn.grad": {"Convolution"},
    "pullback.nn.modules": {"LATER"},
}


def recorded() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in RECORDED.read_text(encoding="utf-8").splitlines():
        if not line.startswith(" "):
            found[module := line.removesuffix(":")] = []
        else:
            found[module] += line.split()
    return found


@pytest.mark.parametrize("path", recorded())
def test_no_public_name_is_lost(path):
    holder = pullback.Tensor if path == "pullback.Tensor" else importlib.import_module(MOVED.get(path, path))
    names = set(recorded()[path]) - DROPPED.get(path, set())
    assert not {name for name in names if not hasattr(holder, name) and f"{path}.{name}" not in UNLISTED}


# Modules that are attributes once they are imported; `__dir__` of a class lists what its metaclass keeps for itself
UNLISTED = {
    "pullback.compat",
    "pullback.compat.autograd",
    "pullback.compat.torch",
    "pullback.Tensor.__abstractmethods__",
}


@pytest.mark.parametrize(
    "path", ["pullback", "pullback.linalg", "pullback.fft", "pullback.special", "pullback.nn.functional"]
)
def test_a_namespace_lists_all_that_it_has(path):
    holder = importlib.import_module(path)
    places = surface.NAMESPACES[path.removeprefix("pullback.")]
    assert places.keys() <= {*dir(holder)}
    assert not [name for name in dir(holder) if not hasattr(holder, name)], "in a table, and defined nowhere"
    with pytest.raises(AttributeError, match="no attribute 'sofmax'"):
        holder.sofmax


def test_a_name_stands_once_in_the_table():
    """In a module: but three, whose arguments differ between their namespaces."""
    for module, rows in surface.TABLE.items():
        words = [word.partition("=") for names in rows.values() for word in names.split()]
        twice = [name for name, count in Counter(name for name, *_ in words).items() if count > 1]
        assert set(twice) <= {"diagonal", "cross", "polygamma"}, module


def test_one_definition_for_each_form():
    for index in ("pullback", "nn.functional", "linalg", "fft", "special"):
        rows = [
            (name, module)
            for module, rows in surface.TABLE.items()
            for forms, names in rows.items()
            for name in (word.partition("=")[0] for word in names.split())
            if any(surface.BY_FORM[form.partition("+")[0]] is surface.NAMESPACES[index] for form in forms.split())
        ]
        assert not [name for name, count in Counter(name for name, _ in rows).items() if count > 1]


def test_other_names_are_the_same_function():
    assert pullback.absolute is pullback.abs
    assert pullback.concat is pullback.cat is pullback.concatenate
    assert pullback.special.expit is pullback.sigmoid
    assert pullback.Tensor.multiply is not None


def test_a_star_import_leaves_pythons_names_alone():
    """Checked in a process of its own: names that are bound here would not go away."""
    text = """
import builtins
before = dict(vars(builtins))
from pullback import *
x = tensor([1.0, -2.0], requires_grad=True)
assert sum([1, 2]) == 3 and max(1, 2) == 2 and abs(-1) == 1 and type(float("1")) is type(1.0)
assert not [name for name in before if name in globals() and not name.startswith("__")]
relu(x).backward(ones(2))
assert x.grad.tolist() == [1.0, 0.0]
assert nn.Linear and e and linalg.inv
"""
    subprocess.run([sys.executable, "-W", "error", "-c", text], check=True)


def test_dir_has_what_the_star_leaves_out():
    both = {name for name in dir(pullback) if hasattr(builtins, name) and not name.startswith("_")}
    assert {"sum", "max", "abs", "float", "int", "bool", "all", "any", "complex"} <= both
    assert not both & {*pullback.__all__}


# What is loaded by its name in a text alone, by `later` or `load`
BY_TEXT = {"cbrt", "into", "numpy_pad", "sequences"}


def uses(path, nodes):
    """What the code of a module uses of others, as (module, name); "" is a module that is not known from the text."""
    renamed = {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            renamed |= {alias.asname: alias.name for alias in node.names}
            yield from (((node.module or "").rpartition(".")[2], alias.name) for alias in node.names)
    for node in nodes:
        if isinstance(node, ast.Name):
            yield path.stem, node.id
        elif isinstance(node, ast.Attribute):
            base = getattr(node.value, "attr", getattr(node.value, "id", ""))
            yield renamed.get(base, base), node.attr


def test_what_the_vocabulary_defines_is_public_or_used():
    """A function that is forgotten in the table of public names stands nowhere but in its definition."""
    paths = {path: name for name, path in source.PATHS.items() if path.parent.name != "ops"}
    used = {pair for path, name in paths.items() for pair in uses(path, source.nodes(name))}
    known = {
        word.rpartition("=")[2] for rows in surface.TABLE.values() for row in rows.values() for word in row.split()
    }
    unused = {}
    for path in sorted((source.PACKAGE / "vocabulary").glob("[a-z]*.py")):
        own = [
            node.name
            for node in source.tree(paths[path]).body
            if isinstance(node, ast.FunctionDef) and node.name[0] != "_"
        ]
        places = {path.stem} if f"vocabulary.{path.stem}" in surface.TABLE else {path.stem, ""}
        names = [name for name in own if name not in known | BY_TEXT and not used & {(each, name) for each in places}]
        unused |= {f"vocabulary.{path.stem}": names} if names else {}
    assert not unused, f"write these into their rows of src/pullback/_tensor/surface.py, or an underscore: {unused}"


BASES = {"Elementwise", "NonDynamicallyQuantizableLinear", "Optimizer", "Scaled", "Whole"}


@pytest.mark.parametrize(("package", "base"), [("nn.modules", Module), ("optim", Optimizer)])
def test_a_class_is_in_the_index_of_its_package(package, base):
    places = importlib.import_module(f"pullback.{package}").__places__
    for path in sorted((ROOT / "src" / "pullback" / package.replace(".", "/")).glob("[a-z]*.py")):
        for name, value in vars(importlib.import_module(f"pullback.{package}.{path.stem}")).items():
            own = isinstance(value, type) and issubclass(value, base) and value.__module__.endswith(f".{path.stem}")
            listed = name.startswith("_") or name in {*places, *BASES}
            assert not own or listed, f"write {name} into the index of {package}, in its __init__.py"


# New names that the changelog has by others
WITH_OTHERS = {
    "AnomalyError",
    "get_promotion",
    "gradgradcheck",
    "is_anomaly_enabled",
    "set_detect_anomaly",
    "to_device",
}


@pytest.mark.skipif(not (ROOT / "changelog.d").exists(), reason="the fragments are in the repository")
@pytest.mark.parametrize("path", [*surface.NAMESPACES, "Tensor", "autograd", "func", "nn", "optim"])
def test_a_new_name_is_in_the_changelog(path):
    path = path if path == "pullback" else f"pullback.{path}"
    holder = pullback.Tensor if path == "pullback.Tensor" else importlib.import_module(path)
    pages = [ROOT / "CHANGELOG.md", *(ROOT / "changelog.d").glob("*.md")]
    said = {*re.findall(r"\w+", "\n".join(page.read_text(encoding="utf-8") for page in pages))}
    new = {name for name in dir(holder) if not name.startswith("_") and f"{path}.{name}" not in sys.modules}
    new -= {*recorded()[path], *said, *WITH_OTHERS}
    assert not new, f"write a file in changelog.d that names {sorted(new)}"
