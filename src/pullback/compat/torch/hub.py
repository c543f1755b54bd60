"""torch.hub: models of local folders, and weights of torch's cache. Nothing is downloaded."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse

from .storing import load as _load_file

if TYPE_CHECKING:
    from os import PathLike
    from types import ModuleType

    from ..._core.typing import Function


HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
DEFAULT_CACHE_DIR, ENV_TORCH_HOME, ENV_XDG_CACHE_HOME = "~/.cache", "TORCH_HOME", "XDG_CACHE_HOME"
MODULE_HUBCONF, VAR_DEPENDENCY = "hubconf.py", "dependencies"
_chosen: list[str] = []


def _get_torch_home() -> str:
    """torch's cache: what TORCH_HOME says, or a folder below XDG_CACHE_HOME."""
    below = os.getenv(ENV_XDG_CACHE_HOME, DEFAULT_CACHE_DIR)
    return str(Path(os.getenv(ENV_TORCH_HOME, Path(below) / "torch")).expanduser())


def get_dir() -> str:
    """The folder of models and weights: `hub` in torch's cache, or what `set_dir` chose."""
    return _chosen[-1] if _chosen else str(Path(_get_torch_home()) / "hub")


def set_dir(d: str | PathLike[str]) -> None:
    """Choose the folder of models and weights."""
    _chosen.append(str(Path(d).expanduser()))


def _missing(what: str, where: Path) -> FileNotFoundError:
    return FileNotFoundError(f"pullback downloads nothing: get {what} by other means, and put it at {where}")


def load_state_dict_from_url(
    url: str,
    model_dir: str | PathLike[str] | None = None,
    map_location: object = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = True,
) -> Any:
    """The weights that torch's cache has from an address; FileNotFoundError, which names the place, if it has none."""
    place = Path(model_dir or Path(get_dir()) / "checkpoints") / (file_name or Path(urlparse(url).path).name)
    if not place.exists():
        raise _missing(url, place)
    return _load_file(str(place), map_location, weights_only=weights_only)


def download_url_to_file(url: str, dst: str | PathLike[str], hash_prefix: object = None, progress: bool = True) -> None:
    """Raises FileNotFoundError: nothing is downloaded."""
    raise _missing(url, Path(dst))


def _configuration(repo_or_dir: str | PathLike[str], source: str) -> ModuleType:
    """The module hubconf of a folder, or of the cached checkout of a repository."""
    folder = Path(repo_or_dir).expanduser()
    if source != "local":
        owner, _, branch = str(repo_or_dir).partition(":")
        names = [f"{owner.replace('/', '_')}_{each}" for each in ((branch,) if branch else ("main", "master"))]
        found = [Path(get_dir()) / name for name in names]
        folder = next((each for each in found if each.exists()), found[0])
        if not folder.exists():
            raise _missing(str(repo_or_dir), folder)
    spec = importlib.util.spec_from_file_location(MODULE_HUBCONF.removesuffix(".py"), folder / MODULE_HUBCONF)
    if spec is None or spec.loader is None or not (folder / MODULE_HUBCONF).exists():
        raise FileNotFoundError(f"{folder} has no {MODULE_HUBCONF}")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(folder))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    absent = [name for name in getattr(module, VAR_DEPENDENCY, ()) if importlib.util.find_spec(name) is None]
    if absent:
        raise RuntimeError(f"Missing dependencies: {', '.join(absent)}")
    return module


def _entry(repo: str | PathLike[str], name: str, source: str) -> Function:
    found = getattr(_configuration(repo, source), name, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return found


def load(repo_or_dir: str | PathLike[str], model: str, *args: object, source: str = "github", **kwargs: object) -> Any:
    """The result of a function of a folder's `hubconf.py`; of a repository only if torch's cache has its checkout."""
    for name in ("trust_repo", "force_reload", "verbose", "skip_validation"):
        kwargs.pop(name, None)
    return _entry(repo_or_dir, model, source)(*args, **kwargs)


def list(github: str | PathLike[str], *args: object, source: str = "github", **options: object) -> Any:
    """The names of the functions of a folder's `hubconf.py`."""
    found = vars(_configuration(github, source))
    return [name for name, each in found.items() if callable(each) and not name.startswith("_")]


def help(
    github: str | PathLike[str], model: str, *args: object, source: str = "github", **options: object
) -> str | None:
    """The docstring of a function of a folder's `hubconf.py`."""
    return _entry(github, model, source).__doc__
