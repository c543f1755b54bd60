"""What type checkers hold rules to is what primitives are."""

import ast
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pullback import ops
from pullback._core.primitives import Primitive
from pullback._core.xp import RAW
from pullback.ops import namespace

ATTRIBUTES = {
    name: kind for each in namespace.Operations.__mro__ for name, kind in vars(each).get("__annotations__", {}).items()
}
METHODS = {
    name: getattr(namespace.Operations, name)
    for each in namespace.Operations.__mro__[1:]
    for name in vars(each)
    if each.__module__ == namespace.__name__ and not name.startswith("_")
}
OTHERS = {"asarray", "constant", "is_complex", "repeats", "zeros"}  # functions that are no primitives


def _declared(name: str) -> list[inspect.Parameter]:
    function: Any = METHODS.get(name) or getattr(namespace, ATTRIBUTES[name]).__call__
    return list(inspect.signature(function).parameters.values())[1:]


def _metadata(function: Callable[..., Any]) -> dict[str, bool]:
    """The metadata of a primitive, and whether each must be given; nothing of NumPy's own functions."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return {}
    own = {each.name: each.default is each.empty for each in parameters if each.kind is each.KEYWORD_ONLY}
    return {} if "out" in {each.name for each in parameters} else own


@pytest.mark.parametrize("name", sorted({*ATTRIBUTES, *METHODS}))
def test_operations_are_those_of_both_namespaces(name: str) -> None:
    assert callable(getattr(RAW, name))
    found = getattr(ops, name)
    if name in OTHERS:
        assert list(inspect.signature(found).parameters) == [each.name for each in _declared(name)]
        return
    assert isinstance(found, Primitive)
    operands = [each for each in _declared(name) if each.kind is not each.KEYWORD_ONLY]
    assert len(operands) == len(found.inputs)
    assert found.variadic == (operands[-1].kind is inspect.Parameter.VAR_POSITIONAL)
    if name in METHODS:
        assert [each.name for each in operands] == list(found.inputs)
    known = _metadata(found.definition or found.forward)
    given = {each.name: each.default is each.empty for each in _declared(name) if each.kind is each.KEYWORD_ONLY}
    assert {each for each, needed in known.items() if needed} <= given.keys()
    assert not known or given.keys() <= known.keys()


def test_no_operation_is_listed_that_no_rule_uses() -> None:
    used = set()
    for path in Path(ops.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "xp":
                used.add(node.attr)
    assert {*ATTRIBUTES, *METHODS} <= used
