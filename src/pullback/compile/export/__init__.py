"""Export: a compiled function as a folder with one C99 file, which needs no library and allocates nothing."""

from __future__ import annotations

from .errors import ExportError
from .exporting import export, one

__all__ = ["ExportError", "export", "one"]
