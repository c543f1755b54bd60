"""Signal processing, by torch's names."""

from __future__ import annotations

from . import windows as windows
