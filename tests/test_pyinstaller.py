"""The hook for PyInstaller: it names all modules that pullback imports when they are needed, and the files it reads."""

import importlib
import runpy
from pathlib import Path

import pullback
from pullback.command.pyinstaller import hook_dirs
from source import PATHS, imports

HOOK = runpy.run_path(str(Path(hook_dirs()[0], "hook-pullback.py")))
PACKAGE = Path(pullback.__file__).parent


def test_modules_that_are_imported_lazily_are_named():
    named = {name.removeprefix("pullback.") for name in HOOK["hiddenimports"]}
    lazy = {other for name in PATHS for other, _, is_lazy in imports(name) if is_lazy}
    assert len(lazy) > 20
    assert not {other.removesuffix(".__init__") for other in lazy} - named - {"__init__"}
    for package in ("", "nn.", "optim.", "distributions."):
        module = importlib.import_module(f"pullback.{package}".rstrip("."))
        assert {f"{package}{place}" for place in module.__places__.values()} <= named


def test_every_module_is_named_and_nothing_else():
    expected = {"pullback" if name == "__init__" else f"pullback.{name}" for name in PATHS}
    assert {name for name in HOOK["hiddenimports"] if ".path" not in name} == {
        name.removesuffix(".__init__") for name in expected if "hook-" not in name and ".path" not in name
    }


def test_files_that_are_read_are_named():
    found = {Path(source).relative_to(PACKAGE).as_posix(): folder for source, folder in HOOK["datas"]}
    assert found["explain/schema.json"] == str(Path("pullback/explain"))
    there = {file.relative_to(PACKAGE).as_posix() for file in PACKAGE.rglob("*") if file.is_file()}
    assert set(found) == {file for file in there if not file.endswith((".py", ".pyc", ".pyi", "py.typed"))}
