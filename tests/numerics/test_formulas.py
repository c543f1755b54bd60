"""The functions that type checkers hold formulas to are those of both modules that formulas are given."""

import ast
from pathlib import Path

import numpy as np
import pytest

from pullback._numerics import arrays


def _listed() -> dict[str, int]:
    """For each function of `Formulas`, which only type checkers see, how many arguments it takes."""
    tree = ast.parse(Path(arrays.__file__).read_text(encoding="utf-8"))
    kinds = {each.name: each for each in ast.walk(tree) if isinstance(each, ast.ClassDef)}

    def count(function: ast.FunctionDef) -> int:
        return len(function.args.posonlyargs + function.args.args) - 1

    calls = {name: count(kind.body[-1]) for name, kind in kinds.items() if isinstance(kind.body[-1], ast.FunctionDef)}
    found = {}
    for each in kinds["Formulas"].body:
        if isinstance(each, ast.AnnAssign):
            found[each.target.id] = calls[each.annotation.id]
        elif isinstance(each, ast.FunctionDef):
            found[each.name] = count(each)
    return found


def _takes(function: object) -> int:
    return function.nin if isinstance(function, np.ufunc) else function.__code__.co_argcount


@pytest.mark.parametrize("name", _listed())
def test_formulas_have_the_same_functions_of_arrays_and_of_machine_code(name: str) -> None:
    operations = pytest.importorskip("pullback.compile.mathematics.operations", exc_type=ImportError)
    wanted = _listed()[name]
    own = getattr(arrays, name)
    assert own is np.where or _takes(own) == wanted
    # A method of IR values may have options of its own.
    assert getattr(operations, name).__code__.co_argcount - len(getattr(operations, name).__defaults__ or ()) == wanted
