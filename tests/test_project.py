"""What pyproject.toml and the package say of each other."""

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def assigned(source: str, name: str) -> object:
    """The literal that a module assigns to a name."""
    for statement in ast.parse(source).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                return ast.literal_eval(value)
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value) if target == name:
                return ast.literal_eval(value)
    raise AssertionError(f"{name} is not assigned")


def test_the_package_and_the_project_have_one_version() -> None:
    source = (ROOT / "src/pullback/__init__.py").read_text(encoding="utf-8")
    assert assigned(source, "__version__") == PROJECT["version"]


def test_numpy_is_the_only_dependency() -> None:
    assert PROJECT["dependencies"] == ["numpy>=1.26"]


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "src/pullback/py.typed").read_bytes() == b""
