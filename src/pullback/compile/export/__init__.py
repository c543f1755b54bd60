"""Export: a compiled function as a folder with one C99 file, which needs no library and allocates nothing."""

from __future__ import annotations

from .errors import ExportError
from .exporting import export, exported
from .unit import Options

__all__ = ["ExportError", "Options", "export", "exported"]
