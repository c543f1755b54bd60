"""The hook for PyInstaller, which makes programs that run without Python: it names what is imported when it is needed."""

from pathlib import Path

_PACKAGE = Path(__file__).parents[2]


def hook_dirs() -> list[str]:
    """The directories with hooks; PyInstaller asks for them by the entry point `pyinstaller40`."""
    return [str(Path(__file__).parent)]


def modules() -> list[str]:
    """The names of all modules of the package: which of them a program needs is known only when it runs.

    >>> from pullback.command.pyinstaller import modules
    >>> {"pullback", "pullback.vocabulary.reductions"} <= {*modules()}
    True
    """
    files = (file.relative_to(_PACKAGE.parent).with_suffix("").parts for file in _PACKAGE.rglob("*.py"))
    names = (parts[:-1] if parts[-1] == "__init__" else parts for parts in files)
    return sorted(".".join(parts) for parts in names if all(map(str.isidentifier, parts)))


def data() -> list[tuple[str, str]]:
    """The files that are read at run time, those of `explain`, and the directory of each."""
    folder = _PACKAGE / "explain"
    files = [folder / "schema.json", folder / "derivations.toml", *(folder / "static").glob("*")]
    return [(str(file), str(file.parent.relative_to(_PACKAGE.parent))) for file in files]
