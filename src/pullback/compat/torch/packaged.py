"""What `importlib.metadata` says of torch where pullback stands in for it."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import Distribution
from pathlib import Path
from typing import TYPE_CHECKING

from .version import __version__

if TYPE_CHECKING:
    from os import PathLike


_TEXTS = {
    "METADATA": f"Metadata-Version: 2.1\nName: torch\nVersion: {__version__}\nSummary: pullback, in torch's place\n",
    "top_level.txt": "torch\nfunctorch\n",
}


class _Torch(Distribution):
    """torch, of which there are no files."""

    def read_text(self, filename: str) -> str | None:
        """The text of a file of metadata."""
        return _TEXTS.get(filename)

    def locate_file(self, path: str | PathLike[str]) -> Path:
        """The path, relative to nothing: there are no files."""
        return Path(path)


def found() -> Iterable[Distribution]:
    """torch."""
    return [_Torch()]
